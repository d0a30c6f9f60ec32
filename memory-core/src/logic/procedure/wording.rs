//! Wordings and steps: decides which wordings mean one step, and corrects wrong decisions.

use std::collections::{BTreeMap, BTreeSet};

use super::{Procedure, Wording};
use crate::EventId;
use crate::logic::bounds;
use crate::logic::memory::Phi;
use crate::logic::verify::undoes;
use crate::logic::{Action, Dag, Embedding, Step, StepId, normalise};

/// Minimum number of sessions that do one step as two actions before the step is split. One slip is no evidence.
const MIN_SPLIT_SESSIONS: usize = 2;

impl Procedure {
    /// Every text in normalised form as well as told goes to one step.
    pub(super) fn intern_wording(&mut self, text: String, source: Option<String>, step: StepId) -> u32 {
        if let Some(number) = self.by_wording.get(&text) {
            let wording = &mut self.wordings[*number as usize];
            if wording.source.is_none() {
                wording.source = source;
            }
            return *number;
        }
        let key = normalise(&text);
        let alike = |(_, wording): &(usize, &Wording)| wording.step == step && normalise(&wording.text) == key;
        if let Some((known, _)) = self.wordings.iter().enumerate().filter(alike).nth(bounds::SPELLINGS - 1) {
            return known as u32;
        }
        let number = self.wordings.len() as u32;
        self.by_wording.insert(text.clone(), number);
        self.wordings.push(Wording { text, step, source });
        number
    }

    /// The step of an action, a new one if its words are new and no step means the same.
    pub(super) fn intern_step(
        &mut self,
        run: EventId,
        text: &str,
        action: &Action,
        phi: Option<Embedding>,
        least: f32,
    ) -> StepId {
        let key = normalise(text);
        if let Some(step) = self.by_key.get(&key) {
            return *step;
        }
        if let Some(step) = phi.as_ref().and_then(|phi| self.means(run, &key, action, phi, least)) {
            self.alias(step, vec![key]);
            return step;
        }
        let step = StepId(self.steps.len() as u32);
        let wordings = vec![key.clone()];
        self.steps.push(Step { text: text.to_owned(), wordings, embedding: phi, ..Step::default() });
        self.by_key.insert(key, step);
        step
    }

    /// The step that new words mean: the nearest by cosine, from `least` on, that the session has not done, that the words
    /// do not undo, and that the same program does not call by another name.
    fn means(&self, run: EventId, key: &str, action: &Action, phi: &Embedding, least: f32) -> Option<StepId> {
        let done = self.runs.get(&run).map(|run| run.steps.as_slice()).unwrap_or_default();
        let mut best: Option<(f32, StepId)> = None;
        for (number, step) in self.steps.iter().enumerate().filter(|(_, step)| step.count > 0) {
            let id = StepId(number as u32);
            let own = action.named && self.vocabularies(step).contains(action.source.as_str());
            if own || done.contains(&id) || step.wordings.len() >= bounds::WORDINGS || undoes(key, step.key()) {
                continue;
            }
            let cosine = step.embedding.as_ref().and_then(|embedding| embedding.cosine(phi));
            if let Some(cosine) =
                cosine.filter(|cosine| *cosine >= least && best.is_none_or(|(value, _)| *cosine > value))
            {
                best = Some((cosine, id));
            }
        }
        best.map(|(_, id)| id)
    }

    /// The programs that told a step as an action.
    pub(in crate::logic) fn vocabularies(&self, step: &Step) -> BTreeSet<&str> {
        let ids: BTreeSet<StepId> = step.wordings.iter().filter_map(|key| self.by_key.get(key)).copied().collect();
        let wordings = self.wordings.iter().filter(|wording| ids.contains(&wording.step));
        wordings.filter_map(|wording| wording.source.as_deref()).collect()
    }

    /// Adds words for a step; those that mean another one already keep their meaning.
    pub(in crate::logic) fn alias(&mut self, step: StepId, wordings: Vec<String>) {
        for key in wordings {
            let room = self.steps[step.0 as usize].wordings.len() < bounds::WORDINGS;
            if room && !self.by_key.contains_key(&key) {
                self.by_key.insert(key.clone(), step);
                self.steps[step.0 as usize].wordings.push(key);
            }
        }
    }

    /// Parts the wordings of a step that this session and others do as two actions; whether any were.
    pub(in crate::logic) fn part(&mut self, run: EventId, phi: &Phi<'_>) -> bool {
        let Some(open) = self.runs.get(&run) else { return false };
        let suspects: BTreeSet<StepId> =
            open.steps.iter().copied().filter(|id| self.steps[id.0 as usize].wordings.len() > 1).collect();
        let mut parted = false;
        for id in suspects {
            let told: Vec<String> = self.keys_in(run, id).into_iter().collect();
            let both = |a: &String, b: &String| {
                let with = self.runs.keys().filter(|run| {
                    let keys = self.keys_in(**run, id);
                    keys.contains(a) && keys.contains(b)
                });
                with.take(MIN_SPLIT_SESSIONS).count() >= MIN_SPLIT_SESSIONS
            };
            let first = self.steps[id.0 as usize].key().to_owned();
            let keep = told.iter().find(|key| **key == first).or(told.first()).cloned();
            let apart: Vec<String> = told
                .into_iter()
                .filter(|key| keep.as_ref().is_some_and(|keep| key != keep && both(keep, key)))
                .collect();
            for key in apart {
                parted = true;
                self.steps[id.0 as usize].wordings.retain(|wording| *wording != key);
                let step = StepId(self.steps.len() as u32);
                let embedding = phi(&key).and_then(|vector| Embedding::from_vector(&vector));
                let text = self.wordings.iter().map(|wording| &wording.text).find(|text| normalise(text) == key);
                let text = text.cloned().unwrap_or_else(|| key.clone());
                self.steps.push(Step { text, wordings: vec![key.clone()], embedding, ..Step::default() });
                for wording in self.wordings.iter_mut().filter(|wording| normalise(&wording.text) == key) {
                    wording.step = step;
                }
                self.by_key.insert(key, step);
            }
        }
        if parted {
            self.redraw();
        }
        parted
    }

    /// The words in which a session told a step, in normalised form.
    fn keys_in(&self, run: EventId, step: StepId) -> BTreeSet<String> {
        let records = self.runs.get(&run).map(|run| run.records.as_slice()).unwrap_or_default();
        let wordings = records.iter().map(|record| &self.wordings[record.wording as usize]);
        wordings.filter(|wording| wording.step == step).map(|wording| normalise(&wording.text)).collect()
    }

    /// Counts and draws everything anew from the sessions, after steps were parted.
    fn redraw(&mut self) {
        self.dag = Dag::new();
        for step in &mut self.steps {
            let (text, wordings, embedding) =
                (std::mem::take(&mut step.text), std::mem::take(&mut step.wordings), step.embedding.take());
            *step = Step { text, wordings, embedding, ..Step::default() };
        }
        let mut runs = std::mem::take(&mut self.runs);
        for run in runs.values_mut() {
            run.steps = run.records.iter().map(|record| self.wordings[record.wording as usize].step).collect();
            run.drawn = self.dag.add(&run.steps);
            let mut done: BTreeMap<StepId, ()> = BTreeMap::new();
            for (record, id) in run.records.iter().zip(&run.steps) {
                let action = self.action(run, record);
                let step = &mut self.steps[id.0 as usize];
                step.observe(&action);
                step.sessions += u32::from(done.insert(*id, ()).is_none());
            }
        }
        self.runs = runs;
    }
}
