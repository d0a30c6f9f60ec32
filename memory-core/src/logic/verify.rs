//! Verification (NS-Mem 4.2.1, step 3): decides whether a frequent pattern is a procedure.
//!
//! Without a model, a score of four parts decides, each from 0 to 1:
//!
//! - *support*: the share of sessions with the pattern, as a posterior mean that starts at one half with one doubt, so
//!   that two sessions of two say less than forty of forty;
//! - *cohesion*: how closely and how surely its steps follow each other where sessions have them;
//! - *goal*: how near its steps lie to the goal, and without a told goal to each other, in the space of φ;
//! - *triviality*: one step, or an action and its undoing ("pick up", "put down"), is no procedure whatever its support.
//!
//! The score is triviality times the mean of the others; the goal is left out where there is no φ. A model, where one is
//! configured, answers through [`ProcedureJudge`](crate::ports::ProcedureJudge) instead, and the evidence decides where it fails.

use std::collections::BTreeSet;

use crate::shared::Shared;

use super::memory::Phi;
use super::prefix_span::{Mining, Pattern};
use super::rows::RowKey;
use super::{Embedding, Procedure, ProcedureId, Procedures, Prototype, StepId};

/// How many of a procedure's latest sessions are mined at a time.
const WINDOW: usize = 256;

/// More steps than this are not listed in a goal made from steps.
const LISTED: usize = 4;

/// Words that, put in the place of one another, undo an action.
const INVERSE: [(&str, &str); 16] = [
    ("up", "down"),
    ("on", "off"),
    ("in", "out"),
    ("open", "close"),
    ("open", "shut"),
    ("start", "stop"),
    ("enter", "leave"),
    ("take", "put"),
    ("take", "return"),
    ("pick", "put"),
    ("pick", "place"),
    ("grab", "release"),
    ("lock", "unlock"),
    ("plug", "unplug"),
    ("insert", "remove"),
    ("fasten", "loosen"),
];

/// The parts of a verification and what they come to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verification {
    /// Posterior mean of the share of sessions with the pattern.
    pub support: f64,
    /// How closely and surely its steps follow each other.
    pub cohesion: f64,
    /// How near its steps lie to the goal or to each other; `None` without φ.
    pub goal: Option<f64>,
    /// 0 for a pattern that cannot be a procedure, else 1.
    pub triviality: f64,
}

impl Verification {
    /// What is compared with τ.
    pub fn score(&self) -> f64 {
        let parts = [Some(self.support), Some(self.cohesion), self.goal];
        let known: Vec<f64> = parts.into_iter().flatten().collect();
        self.triviality * known.iter().sum::<f64>() / known.len() as f64
    }
}

impl Procedure {
    /// The closed patterns of the latest sessions, at `support` of them and at least `minimum`.
    pub fn patterns(&self, support: f64, minimum: usize) -> Vec<Pattern> {
        let sequences = self.sequences();
        let least = ((support * sequences.len() as f64).ceil() as usize).max(minimum).max(1);
        let mining = Mining { min_support: least as u32, min_length: 2, ..Mining::default() };
        mining.mine(&sequences).patterns
    }

    /// Verifies a pattern of step numbers by the evidence.
    pub fn verify(&self, pattern: &Pattern) -> Verification {
        let sequences = self.sequences();
        let distinct: BTreeSet<u32> = pattern.items.iter().copied().collect();
        let text = |item: &u32| self.step(StepId(*item)).map_or("", |step| step.key());
        let trivial = match distinct.iter().collect::<Vec<_>>()[..] {
            [] | [_] => true,
            [one, other] => undoes(text(one), text(other)),
            _ => false,
        };
        Verification {
            support: (f64::from(pattern.support) + 0.5) / (sequences.len() as f64 + 1.5),
            cohesion: cohesion(&pattern.items, &sequences),
            goal: self.nearness(&distinct),
            triviality: if trivial { 0.0 } else { 1.0 },
        }
    }

    fn sequences(&self) -> Vec<Vec<u32>> {
        let latest = self.runs.values().rev().take(WINDOW);
        latest.map(|run| run.steps.iter().map(|step| step.0).collect()).collect()
    }

    fn nearness(&self, steps: &BTreeSet<u32>) -> Option<f64> {
        let embedding = |step: &u32| self.step(StepId(*step)).and_then(|step| step.embedding.as_ref());
        let embeddings: Vec<&Embedding> = steps.iter().filter_map(embedding).collect();
        let centre = match &self.index.goal {
            Some(goal) if self.named => goal.vector().clone(),
            _ => Embedding::mean(embeddings.iter().copied())?,
        };
        let cosines: Vec<f64> = embeddings.iter().filter_map(|e| e.cosine(&centre)).map(f64::from).collect();
        (!cosines.is_empty()).then(|| (cosines.iter().sum::<f64>() / cosines.len() as f64).max(0.0))
    }
}

impl Procedures {
    /// Verifies a procedure that nobody named, when it is new or has grown by a quarter since the last time: what passes τ
    /// is established and gets a goal made from its steps, and what no longer passes is a candidate again.
    pub(super) fn review(&mut self, id: ProcedureId, phi: &Phi<'_>) {
        let Some(procedure) = self.procedures.get(&id).filter(|procedure| !procedure.named) else { return };
        let sessions = procedure.runs.len();
        let actions: u32 = procedure.steps.iter().map(|step| step.count).sum();
        let known = procedure.reviewed;
        if actions >= known && actions < (known + known / 4).max(known + 1) {
            return;
        }
        let mut best: Option<(f64, Pattern)> = None;
        if sessions >= self.options.min_sessions {
            for pattern in procedure.patterns(self.options.support, self.options.min_sessions) {
                let score = procedure.verify(&pattern).score() * pattern.items.len() as f64;
                if best.as_ref().is_none_or(|(value, _)| score > *value) {
                    best = Some((score, pattern));
                }
            }
        }
        let verdict = best.map(|(_, pattern)| (self.judgement(procedure, &pattern), pattern));
        let verdict = verdict.filter(|(score, _)| *score > self.options.tau);
        let goal = verdict.as_ref().map(|(_, pattern)| goal_of(procedure, pattern));
        let Some(procedure) = self.procedures.get_mut(&id).map(Shared::change) else { return };
        procedure.reviewed = actions;
        procedure.score = verdict.map(|(score, _)| score as f32);
        if let Some(goal) = goal.filter(|goal| *goal != procedure.goal) {
            procedure.index.goal =
                phi(&super::normalise(&goal)).and_then(|vector| Embedding::from_vector(&vector)).map(Prototype::new);
            procedure.goal = goal;
        }
        self.dirty.insert(RowKey::head(id));
    }

    fn judgement(&self, procedure: &Procedure, pattern: &Pattern) -> f64 {
        let evidence = procedure.verify(pattern);
        let text = |item: &u32| procedure.step(StepId(*item)).map_or("", |step| step.text.as_str());
        let steps: Vec<&str> = pattern.items.iter().map(text).collect();
        let context = || -> Vec<String> {
            let line = |run: &super::Run| run.steps.iter().map(|step| text(&step.0)).collect::<Vec<_>>().join(", ");
            procedure.runs.values().rev().take(3).map(line).collect()
        };
        // What undoes itself needs no model to be refused.
        match &self.judge {
            Some(judge) if evidence.triviality > 0.0 => judge
                .judge(&steps, &context())
                .map_or_else(|_| evidence.score(), |score| f64::from(score.clamp(0.0, 1.0))),
            _ => evidence.score(),
        }
    }
}

/// A goal made from steps, as they are told: the first ones and the last.
fn goal_of(procedure: &Procedure, pattern: &Pattern) -> String {
    let mut steps: Vec<&str> =
        pattern.items.iter().filter_map(|item| procedure.step(StepId(*item))).map(|step| step.text.as_str()).collect();
    steps.dedup();
    let last = steps.pop().unwrap_or_default();
    let shown = steps.len().min(LISTED - 1);
    let dots = if steps.len() > shown { ", …" } else { "" };
    if shown == 0 { last.to_owned() } else { format!("{}{dots}, {last}", steps[..shown].join(", ")) }
}

/// For each pair of steps that follow each other in the pattern: over the sessions that have both, how often they come in
/// this order, divided by the distance; the mean over the pairs.
fn cohesion(items: &[u32], sequences: &[Vec<u32>]) -> f64 {
    let mut total = 0.0;
    for pair in items.windows(2) {
        let (mut met, mut sum) = (0.0_f64, 0.0);
        for sequence in sequences {
            let Some(first) = sequence.iter().position(|item| *item == pair[0]) else { continue };
            if !sequence.contains(&pair[1]) {
                continue;
            }
            met += 1.0;
            if let Some(distance) = sequence[first + 1..].iter().position(|item| *item == pair[1]) {
                sum += 1.0 / (1.0 + distance as f64);
            }
        }
        total += sum / met.max(1.0);
    }
    total / (items.len().max(2) - 1) as f64
}

/// Whether two actions differ by what undoes the one with the other, and by little else.
pub(super) fn undoes(one: &str, other: &str) -> bool {
    let (a, b): (BTreeSet<&str>, BTreeSet<&str>) = (one.split(' ').collect(), other.split(' ').collect());
    let (only_a, only_b): (Vec<_>, Vec<_>) = (a.difference(&b).collect(), b.difference(&a).collect());
    let undone = |x: &str, y: &str| {
        INVERSE.iter().any(|(up, down)| (x == *up && y == *down) || (x == *down && y == *up))
            || x.strip_prefix("un").is_some_and(|stem| stem == y)
            || y.strip_prefix("un").is_some_and(|stem| stem == x)
    };
    let words = |action: &'_ str| action.replace(['-', '_'], " ");
    if only_a.len() <= 2 && only_b.len() <= 2 && only_a.iter().any(|x| only_b.iter().any(|y| undone(x, y))) {
        return true;
    }
    let (first, second) = (words(one), words(other));
    (first.as_str(), second.as_str()) != (one, other) && undoes(&first, &second)
}

#[cfg(test)]
mod tests {
    use super::undoes;

    #[test]
    fn an_action_and_its_undoing_are_known() {
        for (one, other) in [
            ("pick up the cup", "put down the cup"),
            ("pick_up", "put_down"),
            ("turn on the light", "turn off the light"),
            ("lock the door", "unlock the door"),
            ("open fridge", "close fridge"),
        ] {
            assert!(undoes(one, other) && undoes(other, one), "{one} / {other}");
        }
        for (one, other) in
            [("boil water", "pour water"), ("cut the apple", "eat the apple"), ("turn on the tap", "wash hands")]
        {
            assert!(!undoes(one, other), "{one} / {other}");
        }
    }
}
