//! Assigns sessions without a told goal to procedures.
//!
//! A session joins the procedure with the most similar steps, by the idf-weighted cosine between its set of steps and the number
//! of sessions that did each step. Below the threshold it founds a candidate. This is leader clustering, which depends on the
//! order of arrival. So each time the number of sessions has grown by a quarter, a round joins similar candidates and lets
//! every session of the window choose again. The cost of a round is amortised over these sessions, and older sessions outside
//! the window stay where they are.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::alignment::Alignment;
use super::memory::Phi;
use super::{Embedding, Procedure, ProcedureId, Procedures};
use crate::EventId;

/// Minimum number of new sessions before a round; a quarter of the sessions so far must be new as well.
const MIN_ROUND_SESSIONS: u32 = 8;

/// Steps of a session by normalised text, and the same in the space of φ.
struct Profile {
    keys: BTreeSet<String>,
    embedding: Option<Embedding>,
    /// The programs whose names for actions it is told in.
    vocabularies: BTreeSet<String>,
}

impl Procedures {
    /// Lets a session choose its procedure again; the one it is in now.
    pub(super) fn settle(&mut self, run: EventId, id: ProcedureId, phi: &Phi<'_>) -> ProcedureId {
        let Some(profile) = self.procedures.get(&id).and_then(|procedure| profile(procedure, run)) else { return id };
        let best = self.nearest(&profile, id, run);
        let to = match best {
            Some(best) => best,
            None if self.procedures.get(&id).is_some_and(|procedure| procedure.runs.len() > 1) => {
                let event = self.unused_id(run, id);
                self.found(event)
            }
            None => id,
        };
        self.transfer(run, id, to, phi);
        for changed in BTreeSet::from([id, to]) {
            self.review(changed, phi);
        }
        to
    }

    /// The nearest procedure of a session that passes the threshold, the session itself not counted.
    fn nearest(&self, profile: &Profile, own: ProcedureId, run: EventId) -> Option<ProcedureId> {
        let near: BTreeSet<ProcedureId> = profile.keys.iter().flat_map(|key| self.lexicon.procedures(key)).collect();
        let mut best: Option<(f64, ProcedureId)> = None;
        for id in near {
            let Some(procedure) = self.procedures.get(&id) else { continue };
            let similarity = self.similarity(profile, procedure, id == own && procedure.runs.contains_key(&run));
            // The procedure it is in wins ties, then the older one: no session moves without a reason.
            let better = match best {
                None => true,
                Some((value, _)) => match similarity.total_cmp(&value) {
                    Ordering::Equal => id == own,
                    order => order == Ordering::Greater,
                },
            };
            if better {
                best = Some((similarity, id));
            }
        }
        if let Some((value, id)) = best.filter(|(value, _)| *value > 0.0) {
            return (value >= self.options.join).then_some(id);
        }
        self.nearest_by_meaning(profile, own)
    }

    /// Of procedures none of whose words the session shares, the nearest by Eq. 3 above the gate δ. Words of one program are
    /// a vocabulary: what it calls by other names is something else, however near it lies.
    fn nearest_by_meaning(&self, profile: &Profile, own: ProcedureId) -> Option<ProcedureId> {
        let query = profile.embedding.as_ref()?;
        let mut best: Option<(f32, ProcedureId)> = None;
        for procedure in self.procedures.values() {
            let alone = procedure.id == own && procedure.runs.len() <= 1;
            let mut sources = procedure.wordings.iter().filter_map(|wording| wording.source.as_ref());
            if alone || sources.any(|source| profile.vocabularies.contains(source)) {
                continue;
            }
            let Some(similarity) = procedure.index.similarity(query) else { continue };
            if similarity > self.options.gate && best.is_none_or(|(value, _)| similarity > value) {
                best = Some((similarity, procedure.id));
            }
        }
        best.map(|(_, id)| id)
    }

    /// The idf-weighted cosine between what a session did and what the sessions of a procedure do; `inside`: the session
    /// is one of them and does not count.
    fn similarity(&self, profile: &Profile, procedure: &Procedure, inside: bool) -> f64 {
        let (mut dot, mut norm, mut own) = (0.0, 0.0, 0.0);
        let shared: BTreeSet<_> = profile.keys.iter().filter_map(|key| procedure.by_key.get(key)).collect();
        for (number, step) in procedure.steps.iter().enumerate() {
            let shares = shared.contains(&super::StepId(number as u32));
            let count = f64::from(step.sessions.saturating_sub(u32::from(inside && shares)));
            if count > 0.0 {
                let idf = self.lexicon.idf(step.key());
                norm += (count * idf).powi(2);
                if shares {
                    dot += count * idf * idf;
                }
            }
        }
        for key in &profile.keys {
            own += self.lexicon.idf(key).powi(2);
        }
        if dot == 0.0 { 0.0 } else { dot / (norm * own).sqrt() }
    }

    /// Regroups if the sessions without a goal have grown enough since the last time.
    pub(super) fn regroup_if_due(&mut self, phi: &Phi<'_>) {
        let (now, then) = self.unnamed;
        if now.saturating_sub(then) >= MIN_ROUND_SESSIONS.max(then / 4) {
            self.unnamed.1 = now;
            self.regroup(phi);
        }
    }

    /// Joins candidates that have grown alike, and lets the sessions of the window choose again.
    fn regroup(&mut self, phi: &Phi<'_>) {
        for (_, one, other) in self.alike() {
            let (Some(a), Some(b)) = (self.procedures.get(&one), self.procedures.get(&other)) else { continue };
            if self.likeness(a, b) >= self.options.merge {
                // A told goal takes in what nobody named; of two without, the older one stays.
                let (into, from) = if b.named { (other, one) } else { (one, other) };
                let (Some(a), Some(b)) = (self.procedures.get(&into), self.procedures.get(&from)) else { continue };
                let alignment = Alignment::between(a, b, self.options.alignment);
                self.pool(into, from, &alignment, phi);
            }
        }
        for (into, from) in self.alike_in_meaning() {
            // A pair whose steps do not align is not one procedure, however near the two lie as wholes.
            drop(self.fuse(into, from, phi));
        }
        let mut runs: Vec<(EventId, ProcedureId)> = Vec::new();
        for procedure in self.procedures.values() {
            let goalless = procedure.runs.iter().filter(|(_, run)| !run.has_goal());
            runs.extend(goalless.map(|(run, _)| (*run, procedure.id)));
        }
        runs.sort_unstable();
        let outside = runs.len().saturating_sub(self.options.window);
        let mut changed = BTreeSet::new();
        let mut sessions = runs.split_off(outside);
        for (from, strangers) in self.strangers(&sessions) {
            let Some(first) = strangers.first() else { continue };
            let event = self.unused_id(*first, from);
            let to = self.found(event);
            for session in sessions.iter_mut().filter(|(run, _)| strangers.binary_search(run).is_ok()) {
                self.transfer(session.0, from, to, phi);
                session.1 = to;
            }
            changed.extend([from, to]);
        }
        for (run, id) in sessions {
            let Some(profile) = self.procedures.get(&id).and_then(|procedure| profile(procedure, run)) else {
                continue;
            };
            let alone = self.procedures.get(&id).is_none_or(|procedure| procedure.runs.len() <= 1);
            let to = match self.nearest(&profile, id, run) {
                Some(to) => to,
                None if alone => id,
                None => {
                    let event = self.unused_id(run, id);
                    self.found(event)
                }
            };
            if to != id {
                self.transfer(run, id, to, phi);
                changed.extend([id, to]);
            }
        }
        for id in changed {
            self.review(id, phi);
        }
    }

    /// Pairs of procedures alike enough to be one, the most alike first; two told goals are never one.
    fn alike(&self) -> Vec<(f64, ProcedureId, ProcedureId)> {
        let mut pairs = BTreeSet::new();
        for procedure in self.procedures.values().filter(|procedure| !procedure.named) {
            for step in procedure.steps.iter().filter(|step| step.sessions > 0) {
                let others = self.lexicon.procedures(step.key()).filter(|id| *id != procedure.id);
                pairs.extend(others.map(|other| (procedure.id.min(other), procedure.id.max(other))));
            }
        }
        let mut alike = Vec::new();
        for (one, other) in pairs {
            let (Some(a), Some(b)) = (self.procedures.get(&one), self.procedures.get(&other)) else { continue };
            let likeness = self.likeness(a, b);
            if likeness >= self.options.merge && !(a.named && b.named) {
                alike.push((likeness, one, other));
            }
        }
        alike.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| (a.1, a.2).cmp(&(b.1, b.2))));
        alike
    }

    /// The idf-weighted cosine between what the sessions of two procedures do.
    fn likeness(&self, a: &Procedure, b: &Procedure) -> f64 {
        let weights = |procedure: &Procedure| -> BTreeMap<String, f64> {
            let steps = procedure.steps.iter().filter(|step| step.sessions > 0);
            steps.map(|step| (step.key().to_owned(), f64::from(step.sessions) * self.lexicon.idf(step.key()))).collect()
        };
        let (a, b) = (weights(a), weights(b));
        let norm = |weights: &BTreeMap<String, f64>| weights.values().map(|w| w * w).sum::<f64>().sqrt();
        let dot: f64 = a.iter().filter_map(|(key, weight)| Some(weight * b.get(key)?)).sum();
        if dot == 0.0 { 0.0 } else { dot / (norm(&a) * norm(&b)) }
    }

    /// Pairs of procedures, the second without a told goal, whose steps lie as near as two wordings of one step.
    fn alike_in_meaning(&self) -> Vec<(ProcedureId, ProcedureId)> {
        let indexed = |procedure: &&Procedure| procedure.runs.len() >= self.options.min_sessions;
        let step = |procedure: &Procedure| procedure.index.step.as_ref().map(|step| step.vector().clone());
        let known: Vec<_> = self
            .procedures
            .values()
            .map(|procedure| &**procedure)
            .filter(indexed)
            .filter_map(|one| Some((one, step(one)?)))
            .collect();
        let mut pairs = Vec::new();
        for (at, (one, a)) in known.iter().enumerate() {
            for (other, b) in &known[at + 1..] {
                if !(one.named && other.named) && a.cosine(b).is_some_and(|cosine| cosine >= self.options.alignment) {
                    pairs.push(if other.named { (other.id, one.id) } else { (one.id, other.id) });
                }
            }
        }
        pairs
    }

    /// A number for a procedure that a session founds: that of one of its events, which no other procedure has.
    fn unused_id(&self, run: EventId, id: ProcedureId) -> EventId {
        let events = self.procedures.get(&id).and_then(|procedure| procedure.runs.get(&run));
        let mut events: Vec<_> = events.map(|run| run.events().collect()).unwrap_or_default();
        events.sort_unstable();
        let unused = events.into_iter().rev().find(|event| !self.procedures.contains_key(&ProcedureId(event.0)));
        unused.unwrap_or(run)
    }
}

fn profile(procedure: &Procedure, run: EventId) -> Option<Profile> {
    let run = procedure.runs.get(&run)?;
    let told = run.records.iter().filter(|record| record.named);
    let steps: BTreeSet<_> = run.steps.iter().collect();
    let steps: Vec<_> = steps.into_iter().filter_map(|step| procedure.step(*step)).collect();
    Some(Profile {
        keys: steps.iter().map(|step| step.key().to_owned()).collect(),
        vocabularies: told.map(|record| procedure.names[record.source as usize].clone()).collect(),
        embedding: Embedding::mean(steps.iter().filter_map(|step| step.embedding.as_ref())),
    })
}
