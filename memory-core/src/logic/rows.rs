//! The stored form of the procedure memory: small rows, so that one observation rewrites a few of them and not a year.
//!
//! A row's payload is a version byte and postcard; the store's envelope adds magic, length, checksum and maximum. Rows:
//!
//! | row | holds |
//! |---|---|
//! | root | open sessions, counters of the regrouping |
//! | head of a procedure | goal, score, i_goal and i_step with their anchors, names, graph |
//! | step of a procedure | a step with its wordings, attributes and embedding |
//! | run of a procedure | a session: its actions with their events |
//!
//! What can be derived (lookups by text, the lexicon of steps) is not stored. Decoding checks every number that points
//! elsewhere, so that a damaged row is an error and never a panic later on.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::memory::Procedures;
use super::procedure::Wording;
use super::sessions::Sessions;
use super::{Dag, LogicOptions, Procedure, ProcedureId, PrototypeIndex, Run, Step, StepId, normalise};
use crate::EventId;
use crate::shared::Shared;

const VERSION: u8 = 1;

/// Which row: sorts by procedure, then head, steps, runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowKey {
    procedure: u64,
    part: ProcedurePart,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ProcedurePart {
    Head,
    Step(u32),
    Run(u64),
}

/// Why stored rows are no procedure memory.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RowError {
    /// The bytes of a key are none.
    #[error("{0} bytes are no key of a procedure row; rebuild the learnt state from the events")]
    Key(usize),
    /// A row does not decode or contradicts the others.
    #[error("procedure row {key}: {reason}; rebuild the learnt state from the events")]
    Row {
        /// The row's key in words.
        key: String,
        /// What is wrong with the row.
        reason: String,
    },
}

impl RowKey {
    /// The row of what belongs to no procedure.
    pub const ROOT: Self = Self { procedure: 0, part: ProcedurePart::Head };
    /// Length of a key, bytes.
    pub const BYTES: usize = 17;

    pub(super) fn head(id: ProcedureId) -> Self {
        Self { procedure: id.0, part: ProcedurePart::Head }
    }

    pub(super) fn step(id: ProcedureId, step: StepId) -> Self {
        Self { procedure: id.0, part: ProcedurePart::Step(step.0) }
    }

    pub(super) fn run(id: ProcedureId, run: EventId) -> Self {
        Self { procedure: id.0, part: ProcedurePart::Run(run.0) }
    }

    /// Every row of a procedure.
    pub(super) fn all_of(procedure: &Procedure) -> Vec<Self> {
        let steps = (0..procedure.steps.len() as u32).map(|step| Self::step(procedure.id, StepId(step)));
        let runs = procedure.runs.keys().map(|run| Self::run(procedure.id, *run));
        [Self::head(procedure.id)].into_iter().chain(steps).chain(runs).collect()
    }

    /// The procedure that the row belongs to; `None` for the root.
    pub fn procedure(self) -> Option<ProcedureId> {
        (self.procedure != 0).then_some(ProcedureId(self.procedure))
    }

    /// The key's bytes, which sort as the keys do.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let (tag, number) = match self.part {
            ProcedurePart::Head => (0, 0),
            ProcedurePart::Step(step) => (1, u64::from(step)),
            ProcedurePart::Run(run) => (2, run),
        };
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&self.procedure.to_be_bytes());
        bytes[8] = tag;
        bytes[9..].copy_from_slice(&number.to_be_bytes());
        bytes
    }

    /// The key of those bytes.
    ///
    /// # Errors
    /// If they are none.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RowError> {
        let bad = || RowError::Key(bytes.len());
        let whole: &[u8; Self::BYTES] = bytes.try_into().map_err(|_| bad())?;
        let word = |at: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&whole[at..at + 8]);
            u64::from_be_bytes(word)
        };
        let (procedure, number) = (word(0), word(9));
        let part = match whole[8] {
            0 if number == 0 => ProcedurePart::Head,
            1 if procedure != 0 => ProcedurePart::Step(u32::try_from(number).map_err(|_| bad())?),
            2 if procedure != 0 => ProcedurePart::Run(number),
            _ => return Err(bad()),
        };
        Ok(Self { procedure, part })
    }

    fn error(self, reason: impl Into<String>) -> RowError {
        let key = match self.part {
            ProcedurePart::Head if self.procedure == 0 => "root".to_owned(),
            ProcedurePart::Head => format!("p-{}", self.procedure),
            ProcedurePart::Step(step) => format!("p-{}, step {step}", self.procedure),
            ProcedurePart::Run(run) => format!("p-{}, session at ev-{run}", self.procedure),
        };
        RowError::Row { key, reason: reason.into() }
    }
}

#[derive(Serialize, Deserialize)]
struct Root {
    sessions: Sessions,
    unnamed: (u32, u32),
}

#[derive(Serialize, Deserialize)]
struct ProceduresHead {
    goal: String,
    named: bool,
    score: Option<f32>,
    reviewed: u32,
    index: PrototypeIndex,
    names: Vec<String>,
    dag: Dag,
}

/// A step with the numbers and texts of its wordings.
#[derive(Serialize, Deserialize)]
struct StepRow {
    step: Step,
    wordings: Vec<(u32, Wording)>,
}

impl Procedures {
    /// The rows that changed since the last call, sorted. Each is to be written as [`row`](Self::row) gives it, or removed
    /// where that gives `None`.
    pub fn changed(&mut self) -> BTreeSet<RowKey> {
        std::mem::take(&mut self.dirty)
    }

    /// Every row there is, sorted.
    pub fn rows(&self) -> BTreeSet<RowKey> {
        let rows = self.procedures.values().flat_map(|procedure| RowKey::all_of(procedure));
        rows.chain([RowKey::ROOT]).collect()
    }

    /// A row's bytes; `None` if there is no such row.
    pub fn row(&self, key: RowKey) -> Option<Vec<u8>> {
        if key == RowKey::ROOT {
            return Some(seal(&Root { sessions: self.sessions.clone(), unnamed: self.unnamed }));
        }
        let procedure = self.procedures.get(&ProcedureId(key.procedure))?;
        match key.part {
            ProcedurePart::Head => Some(seal(&ProceduresHead {
                goal: procedure.goal.clone(),
                named: procedure.named,
                score: procedure.score,
                reviewed: procedure.reviewed,
                index: procedure.index.clone(),
                names: procedure.names.clone(),
                dag: procedure.dag.clone(),
            })),
            ProcedurePart::Step(number) => {
                let step = procedure.steps.get(number as usize)?.clone();
                let wordings = procedure.wordings.iter().enumerate().filter(|(_, wording)| wording.step.0 == number);
                let wordings = wordings.map(|(number, wording)| (number as u32, wording.clone())).collect();
                Some(seal(&StepRow { step, wordings }))
            }
            ProcedurePart::Run(run) => procedure.runs.get(&EventId(run)).map(seal),
        }
    }

    /// The memory of those rows, in any order.
    ///
    /// # Errors
    /// If a row does not decode, is missing, or points to what is not there.
    pub fn from_rows<B: AsRef<[u8]>>(
        options: LogicOptions,
        rows: impl IntoIterator<Item = (RowKey, B)>,
    ) -> Result<Self, RowError> {
        let mut memory = Self::new(options);
        let mut steps: BTreeMap<(u64, u32), StepRow> = BTreeMap::new();
        let mut runs: Vec<(RowKey, Run)> = Vec::new();
        for (key, bytes) in rows {
            let bytes = bytes.as_ref();
            match key.part {
                ProcedurePart::Head if key == RowKey::ROOT => {
                    let root: Root = open(key, bytes)?;
                    (memory.sessions, memory.unnamed) = (root.sessions, root.unnamed);
                }
                ProcedurePart::Head => {
                    let head: ProceduresHead = open(key, bytes)?;
                    let id = ProcedureId(key.procedure);
                    let mut procedure = Procedure::new(id, head.goal, head.named);
                    (procedure.score, procedure.reviewed) = (head.score, head.reviewed);
                    (procedure.index, procedure.dag) = (head.index, head.dag);
                    for name in head.names {
                        procedure.add_name(name);
                    }
                    memory.procedures.insert(id, Shared::new(procedure));
                }
                ProcedurePart::Step(step) => {
                    steps.insert((key.procedure, step), open(key, bytes)?);
                }
                ProcedurePart::Run(_) => runs.push((key, open(key, bytes)?)),
            }
        }
        let mut wordings: BTreeMap<(u64, u32), Wording> = BTreeMap::new();
        for ((id, number), row) in steps {
            let key = RowKey::step(ProcedureId(id), StepId(number));
            let Some(procedure) = memory.procedures.get_mut(&ProcedureId(id)).map(Shared::change) else {
                return Err(key.error("its procedure is missing"));
            };
            if number as usize != procedure.steps.len() {
                return Err(key.error("the step before it is missing"));
            }
            if row.wordings.iter().any(|(_, wording)| wording.step != StepId(number)) {
                return Err(key.error("it has a wording of another step"));
            }
            procedure.by_key.extend(row.step.wordings.iter().map(|text| (text.clone(), StepId(number))));
            procedure.steps.push(row.step);
            wordings.extend(row.wordings.into_iter().map(|(at, wording)| ((id, at), wording)));
        }
        for ((id, number), wording) in wordings {
            let Some(procedure) = memory.procedures.get_mut(&ProcedureId(id)).map(Shared::change) else { continue };
            if number as usize != procedure.wordings.len() {
                return Err(
                    RowKey::head(ProcedureId(id)).error(format!("wording {} is missing", procedure.wordings.len()))
                );
            }
            procedure.by_wording.insert(wording.text.clone(), number);
            procedure.wordings.push(wording);
        }
        for (key, run) in runs {
            let Some(procedure) = memory.procedures.get_mut(&ProcedureId(key.procedure)).map(Shared::change) else {
                return Err(key.error("its procedure is missing"));
            };
            let ProcedurePart::Run(event) = key.part else { continue };
            procedure.restore_run(EventId(event), run).map_err(|reason| key.error(reason))?;
        }
        for (id, procedure) in &memory.procedures {
            procedure.check().map_err(|reason| RowKey::head(*id).error(reason))?;
            if procedure.named {
                memory.by_goal.insert(normalise(&procedure.goal), *id);
            }
            for step in procedure.steps.iter().filter(|step| step.sessions > 0) {
                memory.lexicon.add(step.key(), *id, step.sessions);
            }
            memory.lexicon.sessions += procedure.runs.len() as u32;
            for run in procedure.runs.values() {
                for record in run.records.iter().chain(&run.echoes) {
                    memory.traces.add(record.event, *id);
                }
            }
        }
        let there = |run: EventId, id: ProcedureId| {
            memory.procedures.get(&id).is_some_and(|procedure| procedure.runs.contains_key(&run))
        };
        if !memory.sessions.all(there) {
            return Err(RowKey::ROOT.error("an open session is missing"));
        }
        Ok(memory)
    }
}

impl Procedure {
    fn restore_run(&mut self, event: EventId, run: Run) -> Result<(), String> {
        let names = self.names.len() as u32;
        let known = |record: &super::run::Record| {
            (record.wording as usize) < self.wordings.len()
                && record.source < names
                && record.goal.is_none_or(|goal| goal < names)
                && record.names.iter().all(|(_, name)| *name < names)
        };
        if run.records.len() != run.steps.len() || !run.records.iter().chain(&run.echoes).all(known) {
            return Err("it names what its procedure does not have".to_owned());
        }
        if !run.steps.iter().all(|step| (step.0 as usize) < self.steps.len()) {
            return Err("it has a step that its procedure does not have".to_owned());
        }
        self.runs.insert(event, run);
        Ok(())
    }

    /// Whether graph and sessions belong together.
    fn check(&self) -> Result<(), String> {
        for run in self.runs.values().filter(|run| run.drawn) {
            if self.dag.path(&run.steps).is_none() {
                return Err(format!("session `{}` is no path of its graph", run.session()));
            }
        }
        Ok(())
    }
}

fn seal<T: Serialize>(value: &T) -> Vec<u8> {
    let mut bytes = vec![VERSION];
    bytes.extend(postcard::to_stdvec(value).expect("rows serialise to memory"));
    bytes
}

fn open<T: for<'de> Deserialize<'de>>(key: RowKey, bytes: &[u8]) -> Result<T, RowError> {
    match bytes.split_first() {
        Some((&VERSION, payload)) => match postcard::take_from_bytes(payload) {
            Ok((value, [])) => Ok(value),
            Ok((_, rest)) => Err(key.error(format!("{} bytes are left over", rest.len()))),
            Err(error) => Err(key.error(format!("it does not decode: {error}"))),
        },
        Some((version, _)) => Err(key.error(format!("version {version} is not known, only {VERSION}"))),
        None => Err(key.error("it is empty")),
    }
}
