//! The whole procedure memory: a fold over actions in order of commit.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::bounds;
use super::lexicon::Lexicon;
use super::rows::RowKey;
use super::sessions::{SessionChoice, Sessions};
use super::traces::Traces;
use super::{Action, Embedding, LogicOptions, Procedure, ProcedureId, Prototype, StepId, normalise};
use crate::ports::ProcedureJudge;
use crate::shared::Shared;
use crate::{EventId, ProcedureChange, ProcedureNews, ProcedureSummary};

/// φ as the logic layer asks for it: one text, in normalised form, to one vector; `None` where there is no φ or no vector
/// yet. Asked once per text that is new to a procedure. The fold is deterministic if φ is.
pub type Phi<'a> = dyn Fn(&str) -> Option<Vec<f32>> + 'a;

/// All procedures, named and found, with the candidates among them.
///
/// ```
/// use memory_core::logic::{Action, LogicOptions, Procedures};
/// use memory_core::{EventId, TimeSpan, Timestamp};
///
/// let mut procedures = Procedures::new(LogicOptions::default());
/// for (number, text) in ["boil water", "add tea", "pour"].into_iter().enumerate() {
///     let at = Timestamp::from_micros(number as i64 * 20_000_000);
///     let mut action = Action::new(EventId(number as u64 + 1), text, TimeSpan::new(at, at));
///     (action.session, action.goal) = (Some("monday".to_owned()), Some("make tea".to_owned()));
///     procedures.observe(&action, &|_| None);
/// }
/// let tea = procedures.by_goal("Make tea").unwrap();
/// assert_eq!((tea.sessions(), tea.steps().len()), (1, 3));
/// ```
#[derive(Clone, Default)]
pub struct Procedures {
    pub(super) options: LogicOptions,
    pub(super) judge: Option<Arc<dyn ProcedureJudge>>,
    /// Clones share the procedures that neither has changed.
    pub(super) procedures: BTreeMap<ProcedureId, Shared<Procedure>>,
    pub(super) by_goal: BTreeMap<String, ProcedureId>,
    pub(super) sessions: Sessions,
    pub(super) lexicon: Lexicon,
    pub(super) traces: Traces,
    /// Sessions without a goal, and how many of them the last regrouping knew.
    pub(super) unnamed: (u32, u32),
    pub(super) dirty: BTreeSet<RowKey>,
}

impl Procedures {
    /// An empty memory.
    pub fn new(options: LogicOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// The same with a language model, or another judge, in verification.
    #[must_use]
    pub fn with_judge(mut self, judge: Box<dyn ProcedureJudge>) -> Self {
        self.judge = Some(Arc::from(judge));
        self
    }

    /// Whether [`changed`](Self::changed) has rows to give.
    pub fn has_changed(&self) -> bool {
        !self.dirty.is_empty()
    }

    /// The options.
    pub fn options(&self) -> &LogicOptions {
        &self.options
    }

    /// Whether that is the judge in verification.
    pub(crate) fn is_judged_by(&self, judge: Option<&Arc<dyn ProcedureJudge>>) -> bool {
        match (&self.judge, judge) {
            (Some(own), Some(other)) => Arc::ptr_eq(own, other),
            (own, other) => own.is_none() && other.is_none(),
        }
    }

    /// Sets or removes the judge in verification.
    pub(crate) fn set_judge(&mut self, judge: Option<Arc<dyn ProcedureJudge>>) {
        self.judge = judge;
    }

    /// Goes by other options from now on.
    pub(crate) fn set_options(&mut self, options: LogicOptions) {
        self.options = options;
    }

    /// Every established procedure, by id. Candidates are left out, and here as below what holds something of an event that
    /// was [withdrawn](Self::conceal) and is not folded anew yet.
    pub fn iter(&self) -> impl Iterator<Item = &Procedure> {
        self.shown().filter(|procedure| procedure.is_established())
    }

    fn shown(&self) -> impl Iterator<Item = &Procedure> {
        let shown = self.procedures.values().filter(|procedure| !self.traces.is_concealed(procedure.id));
        shown.map(|procedure| &**procedure)
    }

    /// Every group of sessions that verification has not let pass (yet), told goals among them: the candidate pool, by id.
    pub fn candidates(&self) -> impl Iterator<Item = &Procedure> {
        self.shown().filter(|procedure| !procedure.is_established())
    }

    /// The procedure of that id, established or not.
    pub fn get(&self, id: ProcedureId) -> Option<&Procedure> {
        let shown = self.procedures.get(&id).filter(|_| !self.traces.is_concealed(id));
        shown.map(|procedure| &**procedure)
    }

    /// The established procedure of that goal; case, spaces and final punctuation do not matter.
    pub fn by_goal(&self, goal: &str) -> Option<&Procedure> {
        let goal = normalise(&bounds::name(goal));
        let named = self.by_goal.get(&goal).and_then(|id| self.get(*id));
        named.or_else(|| self.iter().find(|procedure| normalise(procedure.goal()) == goal))
    }

    /// Returns the changes of the established procedures since `before`, by id. What the two share is not compared.
    pub(crate) fn news_since(&self, before: &Self) -> Vec<ProcedureNews> {
        let ids: BTreeSet<ProcedureId> = self.procedures.keys().chain(before.procedures.keys()).copied().collect();
        let mut news = Vec::new();
        for id in ids {
            let (old, new) = (before.procedures.get(&id), self.procedures.get(&id));
            // What holds something of a hidden event is no news; it is told of when it was folded anew.
            if new.is_some() && self.traces.is_concealed(id) {
                continue;
            }
            let concealed = before.traces.is_concealed(id);
            if let (Some(old), Some(new)) = (old, new)
                && old.is_same(new)
                && !concealed
            {
                continue;
            }
            let shown = |procedure: Option<&Shared<Procedure>>| {
                procedure
                    .filter(|procedure| procedure.is_established())
                    .map(|procedure| ProcedureSummary::of(procedure))
            };
            let (was, is) = (shown(old), shown(new));
            let same_graph = || old.map(|old| old.dag()) == new.map(|new| new.dag());
            let change = match (&was, &is) {
                (None, Some(_)) => ProcedureChange::New,
                (Some(_), None) => ProcedureChange::End,
                (Some(was), Some(is)) if concealed || was != is || !same_graph() => ProcedureChange::Update,
                _ => continue,
            };
            news.push(ProcedureNews { id, change, now: is });
        }
        news
    }

    /// Number of sessions.
    pub fn sessions(&self) -> u32 {
        self.lexicon.sessions
    }

    /// Takes in one action; the procedure or candidate it now belongs to, `None` for an action without words.
    ///
    /// Actions come in order of commit. Cost: O(steps of the session) for a transition that is known, O(d) for the index,
    /// and a look at the procedures that share a step where no goal was told.
    pub fn observe(&mut self, action: &Action, phi: &Phi<'_>) -> Option<ProcedureId> {
        if normalise(&action.text).is_empty() {
            return None;
        }
        let action = &*bounds::within(action);
        let goal = action.goal.as_deref().filter(|goal| !normalise(goal).is_empty());
        self.dirty.insert(RowKey::ROOT);
        let (run, name, mut id) = match self.sessions.place(action, &self.options) {
            SessionChoice::Open(session) => {
                let mut id = session.procedure;
                if let (Some(goal), None) = (goal, &session.goal) {
                    let to = self.named(goal, action.event, phi);
                    self.transfer(session.run, id, to, phi);
                    self.sessions.moved(session.run, to, Some(normalise(goal)));
                    self.unnamed.0 = self.unnamed.0.saturating_sub(1);
                    id = to;
                }
                (session.run, None, id)
            }
            SessionChoice::New { name, part } => {
                let id = match goal {
                    Some(goal) => self.named(goal, action.event, phi),
                    None => self.found(action.event),
                };
                self.sessions.open(action, part, id);
                self.lexicon.sessions += 1;
                self.unnamed.0 += u32::from(goal.is_none());
                (action.event, Some(name), id)
            }
        };
        self.put(id, run, name.as_deref(), action, phi);
        let goalless =
            self.procedures.get(&id).and_then(|found| found.runs.get(&run)).is_some_and(|run| !run.has_goal());
        if goalless {
            id = self.settle(run, id, phi);
            if name.is_some() {
                self.regroup_if_due(phi);
                id = self.sessions.procedure_of(run).unwrap_or(id);
            }
        } else {
            self.review(id, phi);
        }
        Some(id)
    }

    /// Takes actions back, as if their events had never been: the state is that of a fold over the others. `false` if none
    /// of the events is known. O(all actions): forgetting is rare, and an exact answer is worth a replay.
    pub fn withdraw(&mut self, events: &BTreeSet<EventId>, phi: &Phi<'_>) -> bool {
        let mut actions: Vec<_> = self.procedures.values().flat_map(|procedure| procedure.actions()).collect();
        let before = actions.len();
        actions.retain(|action| !events.contains(&action.event));
        if actions.len() == before {
            return false;
        }
        actions.sort_by_key(|action| action.event);
        let mut embeddings: BTreeMap<String, Embedding> = BTreeMap::new();
        for procedure in self.procedures.values_mut().map(Shared::change) {
            let goal = procedure.index.goal.as_ref().map(|goal| (normalise(&procedure.goal), goal.anchor().clone()));
            embeddings.extend(goal);
            for step in &mut procedure.steps {
                if let Some(embedding) = step.embedding.take() {
                    embeddings.insert(step.key().to_owned(), embedding);
                }
            }
        }
        let known = |text: &str| match embeddings.get(text) {
            Some(embedding) => Some(embedding.components().collect()),
            None => phi(text),
        };
        let mut dirty = std::mem::take(&mut self.dirty);
        for procedure in self.procedures.values() {
            dirty.extend(RowKey::all_of(procedure));
        }
        let fresh = Self { judge: self.judge.take(), ..Self::new(self.options.clone()) };
        *self = fresh;
        for action in &actions {
            self.observe(action, &known);
        }
        self.dirty.extend(dirty);
        self.dirty.insert(RowKey::ROOT);
        true
    }

    /// Conceals what holds something of hidden events, at once; a [new fold](Self::events_after) over the other events takes it
    /// out. O(events): the transaction that hides them waits for it.
    pub(crate) fn conceal(&mut self, events: impl IntoIterator<Item = EventId>) {
        events.into_iter().for_each(|event| self.traces.withdraw(event));
    }

    /// Whether something of an event is held.
    pub(crate) fn holds(&self, event: EventId) -> bool {
        self.traces.holds(event)
    }

    /// The hidden events of which something is still held.
    pub(crate) fn withdrawn(&self) -> &BTreeSet<EventId> {
        self.traces.withdrawn()
    }

    /// The events after `after` of which something is held, ascending: what a new fold reads.
    pub(crate) fn events_after(&self, after: EventId) -> Vec<EventId> {
        self.traces.events_after(after)
    }

    /// Creates an empty memory with the same options and judge.
    pub(crate) fn begin_again(&self) -> Self {
        Self { judge: self.judge.clone(), ..Self::new(self.options.clone()) }
    }

    /// The vector that a text in normalised form has here, as φ gave it.
    pub(crate) fn vector_of(&self, text: &str) -> Option<Vec<f32>> {
        let told = self.by_goal.get(text).and_then(|id| self.procedures.get(id)?.index.goal.as_ref());
        let told = told.map(|goal| goal.anchor());
        let step = || {
            self.lexicon.procedures(text).find_map(|id| {
                let procedure = self.procedures.get(&id)?;
                let step = procedure.by_key.get(text).and_then(|step| procedure.step(*step))?;
                step.embedding.as_ref().filter(|_| step.key() == text)
            })
        };
        told.or_else(step).map(|embedding| embedding.components().collect())
    }

    /// Takes the place of `old` after a new fold: shares what came out the same, and returns the rows to be written, and
    /// those to be removed.
    pub(crate) fn replace(&mut self, old: &Self) -> BTreeSet<RowKey> {
        let mut rows: BTreeSet<RowKey> = old.dirty.clone();
        self.dirty.clear();
        for (id, before) in &old.procedures {
            match self.procedures.get_mut(id) {
                Some(new) if **new == **before => *new = before.clone(),
                _ => rows.extend(RowKey::all_of(before)),
            }
        }
        for (id, new) in &self.procedures {
            if old.procedures.get(id).is_none_or(|before| !before.is_same(new)) {
                rows.extend(RowKey::all_of(new));
            }
        }
        rows.insert(RowKey::ROOT);
        rows
    }

    /// The procedure of a told goal, founded at `event` if it is new.
    fn named(&mut self, goal: &str, event: EventId, phi: &Phi<'_>) -> ProcedureId {
        let key = normalise(goal);
        if let Some(id) = self.by_goal.get(&key) {
            return *id;
        }
        let id = ProcedureId(event.0);
        let mut procedure = Procedure::new(id, goal.trim(), true);
        procedure.index.goal = phi(&key).and_then(|vector| Embedding::from_vector(&vector)).map(Prototype::new);
        self.by_goal.insert(key, id);
        self.procedures.insert(id, Shared::new(procedure));
        self.dirty.insert(RowKey::head(id));
        id
    }

    /// A candidate of its own, founded at `event`.
    pub(super) fn found(&mut self, event: EventId) -> ProcedureId {
        let id = ProcedureId(event.0);
        self.procedures.entry(id).or_insert_with(|| Shared::new(Procedure::new(id, "", false)));
        self.dirty.insert(RowKey::head(id));
        id
    }

    /// Puts an action into a run of a procedure; `name`: the run is new.
    fn put(&mut self, id: ProcedureId, run: EventId, name: Option<&str>, action: &Action, phi: &Phi<'_>) {
        let Some(procedure) = self.procedures.get_mut(&id).map(Shared::change) else { return };
        let embedding = match procedure.find_step(&action.text) {
            Some(_) => None,
            None => phi(&normalise(&action.text)).and_then(|vector| Embedding::from_vector(&vector)),
        };
        if let Some(name) = name {
            procedure.open(name, run, action.session.clone());
        }
        let growth = procedure.grow(run, action, embedding, self.options.alignment);
        self.traces.add(action.event, id);
        let step = &procedure.steps[growth.step.0 as usize];
        self.lexicon.add(step.key(), id, u32::from(growth.first_in_run));
        self.dirty.extend([RowKey::head(id), RowKey::step(id, growth.step), RowKey::run(id, run)]);
        if step.wordings.len() > 1 && !growth.first_in_run && !growth.repetition {
            self.part_wordings(id, run, phi);
        }
    }

    /// Moves a run to another procedure. A candidate that nobody does any more is gone.
    pub(super) fn transfer(&mut self, run: EventId, from: ProcedureId, to: ProcedureId, phi: &Phi<'_>) {
        if from == to {
            return;
        }
        let Some(procedure) = self.procedures.get_mut(&from).map(Shared::change) else { return };
        let Some(taken) = procedure.runs.get(&run) else { return };
        let (name, told) = (taken.session.clone(), taken.told.clone());
        let steps: BTreeSet<StepId> = taken.steps.iter().copied().collect();
        let actions = procedure.take(run);
        for action in &actions {
            self.traces.remove(action.event, from);
        }
        self.traces.moved(from, to);
        for step in &steps {
            let step = &procedure.steps[step.0 as usize];
            self.lexicon.remove(step.key(), from, step.sessions == 0);
        }
        self.dirty.extend(steps.iter().map(|step| RowKey::step(from, *step)));
        self.dirty.extend([RowKey::head(from), RowKey::run(from, run)]);
        if procedure.runs.is_empty() && !procedure.named {
            self.dirty.extend(RowKey::all_of(procedure));
            self.procedures.remove(&from);
        }
        if let Some(procedure) = self.procedures.get_mut(&to).map(Shared::change) {
            procedure.open(&name, run, told);
        }
        for action in &actions {
            self.put(to, run, None, action, phi);
        }
        self.sessions.moved(run, to, None);
    }
}
