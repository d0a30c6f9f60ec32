//! Adds actions to a procedure, and removes them.

use std::collections::BTreeSet;

use super::Procedure;
use crate::centroid::DRIFT_DECAY;
use crate::logic::bounds;
use crate::logic::run::{Record, Role, Run, names_of};
use crate::logic::{Action, Dag, Embedding, Prototype, StepId, normalise};
use crate::{EventId, TimeSpan};

/// Cosine to the index below which an observation does not move it (δ of NS-Mem 4.2.2).
pub(in crate::logic) const MIN_INDEX_COSINE: f32 = 0.5;

/// Changes made by one more action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::logic) struct Growth {
    /// The step it is.
    pub step: StepId,
    /// The session had not done this step before.
    pub first_in_run: bool,
    /// The action was told before and counts once.
    pub repetition: bool,
}

impl Procedure {
    /// Adds a whole session. One without a text is no session: `false`, and nothing changed.
    pub fn add_session(&mut self, session: &str, actions: &[Action]) -> bool {
        let mut actions = actions.iter().filter(|action| !normalise(&action.text).is_empty()).peekable();
        let Some(first) = actions.peek() else { return false };
        let run = first.event;
        self.open(session, run, Some(session.to_owned()));
        for action in actions {
            self.grow(run, &bounds::within(action), None, 1.0);
        }
        true
    }

    /// Opens a session, without an action yet, under the number of its first event. `told`: the session as told.
    pub(in crate::logic) fn open(&mut self, session: &str, run: EventId, told: Option<String>) {
        let (records, echoes, steps) = (Vec::new(), Vec::new(), Vec::new());
        self.runs.insert(run, Run { session: session.to_owned(), told, records, echoes, steps, drawn: true });
    }

    /// One more action of an open session. O(length of the session), independent of how many there are. `phi`: φ of words
    /// that are new here, which mean a step that they are near enough to (`alignment`).
    pub(in crate::logic) fn grow(
        &mut self,
        run: EventId,
        action: &Action,
        phi: Option<Embedding>,
        alignment: f32,
    ) -> Growth {
        let text = action.text.trim().to_owned();
        let step = self.intern_step(run, &text, action, phi, alignment);
        let wording = self.intern_wording(text, action.named.then(|| action.source.clone()), step);
        let record = self.record(wording, action);
        // As it will be taken back: without what found no room.
        let Some(told) = self.runs.get(&run).map(|open| self.action(open, &record)) else {
            return Growth { step, first_in_run: false, repetition: true };
        };
        let Some(open) = self.runs.get_mut(&run) else {
            return Growth { step, first_in_run: false, repetition: true };
        };
        let same = |told: &Record| told.wording == wording && told.start == record.start && told.names == record.names;
        if open.records.iter().any(same) {
            open.echoes.push(record);
            return Growth { step, first_in_run: false, repetition: true };
        }
        let first_in_run = !open.steps.contains(&step);
        let known = &mut self.steps[step.0 as usize];
        known.observe(&told);
        known.sessions += u32::from(first_in_run);
        let at = open.records.partition_point(|told| told.start <= record.start);
        if at == open.records.len() {
            open.records.push(record);
            if open.drawn {
                open.drawn = extend(&mut self.dag, &open.steps, step);
            }
            open.steps.push(step);
        } else {
            // Told late: the run is taken back and goes in again in its true order.
            open.records.insert(at, record);
            if open.drawn {
                self.dag.remove(&open.steps);
            }
            open.steps.insert(at, step);
            open.drawn = self.dag.add(&open.steps);
        }
        self.refine(step);
        Growth { step, first_in_run, repetition: false }
    }

    /// Gives a session back: its actions in order of commit, the procedure as if it had never been, except for the drift
    /// of the index, which the anchor bounds.
    pub(in crate::logic) fn take(&mut self, run: EventId) -> Vec<Action> {
        let Some(run) = self.runs.remove(&run) else { return Vec::new() };
        if run.drawn {
            self.dag.remove(&run.steps);
        }
        for step in run.steps.iter().collect::<BTreeSet<_>>() {
            let step = &mut self.steps[step.0 as usize];
            step.sessions = step.sessions.saturating_sub(1);
        }
        for (record, step) in run.records.iter().zip(&run.steps) {
            let action = self.action(&run, record);
            self.steps[step.0 as usize].retract(&action);
        }
        let mut actions: Vec<_> =
            run.records.iter().chain(&run.echoes).map(|record| self.action(&run, record)).collect();
        actions.sort_by_key(|action| action.event);
        actions
    }

    /// Every action it holds, in no particular order.
    pub(in crate::logic) fn actions(&self) -> impl Iterator<Item = Action> + '_ {
        self.runs.values().flat_map(|run| run.records.iter().chain(&run.echoes).map(|record| self.action(run, record)))
    }

    pub(super) fn action(&self, run: &Run, record: &Record) -> Action {
        let wording = &self.wordings[record.wording as usize];
        let span = TimeSpan::new(record.start, record.start.saturating_add(record.lasted));
        let mut action = Action::new(record.event, wording.text.as_str(), span);
        action.source.clone_from(&self.names[record.source as usize]);
        action.session.clone_from(&run.told);
        action.goal = record.goal.map(|goal| self.names[goal as usize].clone());
        action.outcome = record.outcome;
        action.named = record.named;
        for (role, name) in &record.names {
            let name = self.names[*name as usize].clone();
            match role {
                Role::Person => action.person = Some(name),
                Role::Object => action.objects.push(name),
                Role::Tool => action.tools.push(name),
                Role::Place => action.places.push(name),
            }
        }
        action
    }

    fn record(&mut self, wording: u32, action: &Action) -> Record {
        let things = |role| !matches!(role, Role::Person);
        let names =
            names_of(action).filter_map(|(role, name)| Some((role, self.intern_name(name, things(role))?))).collect();
        // A full table has the procedure's first source.
        let source = self.intern_name(&action.source, false).unwrap_or(0);
        let goal = action.goal.as_deref().and_then(|goal| self.intern_name(goal, false));
        Record {
            source,
            goal,
            event: action.event,
            wording,
            start: action.span.start,
            lasted: action.span.end.since(action.span.start),
            outcome: action.outcome,
            named: action.named,
            names,
        }
    }

    /// The number of a name; `None` if it is new and the procedure has no room for it.
    fn intern_name(&mut self, name: &str, of_thing: bool) -> Option<u32> {
        if let Some(number) = self.by_name.get(name) {
            return Some(*number);
        }
        let most = if of_thing { bounds::NAMES_OF_THINGS } else { bounds::ALL_NAMES };
        if self.name_bytes + name.len() + bounds::NAME_OVERHEAD > most {
            return None;
        }
        Some(self.add_name(name.to_owned()))
    }

    /// Gives a name the next number.
    pub(in crate::logic) fn add_name(&mut self, name: String) -> u32 {
        let number = self.names.len() as u32;
        self.name_bytes += name.len() + bounds::NAME_OVERHEAD;
        self.by_name.insert(name.clone(), number);
        self.names.push(name);
        number
    }

    /// Moves i_step by one observed step that comes near enough. The founding session makes the anchor: the mean over its
    /// steps. Later sessions follow Eq. 1 such that a whole session of mean length keeps β of the index; with β per action,
    /// one session of ten steps would replace two thirds of it by its last few. i_goal stays φ of the goal: docs/decisions.md
    /// has what it loses if steps move it.
    fn refine(&mut self, step: StepId) {
        let Some(observed) = &self.steps[step.0 as usize].embedding else { return };
        if self.runs.len() <= 1 || self.index.step.is_none() {
            let founding = self.runs.values().next().map_or(&[][..], |run| run.steps.as_slice());
            let embeddings = founding.iter().filter_map(|step| self.steps[step.0 as usize].embedding.as_ref());
            self.index.step = Embedding::mean(embeddings).map(Prototype::new);
            return;
        }
        let Some(prototype) = &mut self.index.step else { return };
        if prototype.vector().cosine(observed).is_some_and(|cosine| cosine >= MIN_INDEX_COSINE) {
            let actions: u32 = self.steps.iter().map(|step| step.count).sum();
            let length = (f64::from(actions) / self.runs.len() as f64).max(1.0);
            prototype.refine(observed, DRIFT_DECAY.powf(1.0 / length as f32));
        }
    }
}

/// Makes a run longer in the graph; a run that the full graph refuses is taken out of it altogether, so that no path
/// stops short of where the run went.
fn extend(dag: &mut Dag, steps: &[StepId], step: StepId) -> bool {
    let last = if steps.is_empty() { None } else { dag.path(steps).and_then(|path| path.last().copied()) };
    let occurrence = 1 + steps.iter().filter(|done| **done == step).count();
    let extended = dag.extend(last, step, u16::try_from(occurrence).unwrap_or(u16::MAX)).is_some();
    if !extended {
        dag.remove(steps);
    }
    extended
}
