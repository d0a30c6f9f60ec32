//! Finds the procedure that a goal in words names.

use std::collections::BTreeMap;

use super::words::Stems;
use crate::index::TermId;
use crate::logic::{Embedding, Procedure, normalise};

/// A procedure that is meant, and how surely.
#[derive(Debug, Clone, Copy)]
pub struct Match<'a> {
    /// The procedure.
    pub procedure: &'a Procedure,
    /// 1 for the goal's own words, less for a part of them.
    pub score: f64,
}

/// Share of its weight that a word keeps if only the steps hold it, not the goal.
const STEP_WORD_WEIGHT: f64 = 0.6;
/// Minimum score of a goal that a question names.
const MIN_GOAL_SCORE: f64 = 0.5;
/// Minimum cosine (Eq. 3) at which meaning alone decides. MiniLM gives paraphrases of a goal 0.6 to 0.9, and other goals of the
/// same kind 0.2 to 0.5.
const MIN_GOAL_COSINE: f32 = 0.6;

/// The goals of the procedures, for looking up what is meant.
pub struct Goals<'a> {
    stems: Stems,
    procedures: Vec<GoalEntry<'a>>,
    /// How many procedures speak of a term.
    spread: BTreeMap<TermId, u32>,
}

struct GoalEntry<'a> {
    procedure: &'a Procedure,
    goal: Vec<TermId>,
    steps: Vec<TermId>,
}

impl<'a> Goals<'a> {
    /// The goals of procedures.
    pub fn of(procedures: impl IntoIterator<Item = &'a Procedure>) -> Self {
        let stems = Stems::new();
        let mut spread: BTreeMap<TermId, u32> = BTreeMap::new();
        let procedures: Vec<GoalEntry<'a>> = procedures
            .into_iter()
            .map(|procedure| {
                let goal = stems.of(procedure.goal());
                let done = procedure.steps().iter().filter(|step| step.count > 0);
                let mut steps: Vec<TermId> = done.flat_map(|step| stems.of(&step.text)).collect();
                steps.sort_unstable();
                steps.dedup();
                let mut all = goal.clone();
                all.extend(&steps);
                all.sort_unstable();
                all.dedup();
                for term in all {
                    *spread.entry(term).or_default() += 1;
                }
                GoalEntry { procedure, goal, steps }
            })
            .collect();
        Self { stems, procedures, spread }
    }

    /// The procedure that a goal means: the one of that goal, else the one that shares most of its words, else, with φ of
    /// the goal, the nearest in meaning (Eq. 3). `None` if none comes near.
    pub fn find(&self, goal: &str, embedding: Option<&Embedding>) -> Option<Match<'a>> {
        self.ranked(goal, embedding).into_iter().next()
    }

    /// Every procedure that a goal may mean, the surest first, ties by the number of sessions.
    pub fn ranked(&self, goal: &str, embedding: Option<&Embedding>) -> Vec<Match<'a>> {
        let asked = normalise(goal);
        let terms = self.stems.of(goal);
        let mut found: Vec<Match<'a>> = Vec::new();
        for entry in &self.procedures {
            let words = if !asked.is_empty() && normalise(entry.procedure.goal()) == asked {
                1.0
            } else {
                // A part of the words is never as sure as all of them.
                0.95 * self.likeness(&terms, entry)
            };
            let cosine = embedding.and_then(|asked| entry.procedure.index().similarity(asked));
            let meaning = cosine.filter(|cosine| *cosine >= MIN_GOAL_COSINE).map_or(0.0, f64::from);
            let score = words.max(0.95 * meaning);
            if score >= MIN_GOAL_SCORE {
                found.push(Match { procedure: entry.procedure, score });
            }
        }
        found.sort_by(|a, b| {
            let sessions = |one: &Match<'_>| one.procedure.runs().len();
            b.score
                .total_cmp(&a.score)
                .then_with(|| sessions(b).cmp(&sessions(a)))
                .then_with(|| a.procedure.id().cmp(&b.procedure.id()))
        });
        found
    }

    /// How much of what is asked the goal (or, for less, its steps) speaks of, and how little else the goal says. Words
    /// that every procedure has weigh little.
    fn likeness(&self, asked: &[TermId], entry: &GoalEntry<'_>) -> f64 {
        let count = self.procedures.len() as f64;
        let weight = |term: &TermId| {
            let spread = self.spread.get(term).copied().map_or(0.5, f64::from);
            (1.0 + count / spread).ln()
        };
        let total: f64 = asked.iter().map(weight).sum();
        if total <= 0.0 {
            return 0.0;
        }
        let held = asked.iter().map(|term| {
            let share = if entry.goal.binary_search(term).is_ok() {
                1.0
            } else if entry.steps.binary_search(term).is_ok() {
                STEP_WORD_WEIGHT
            } else {
                0.0
            };
            share * weight(term)
        });
        let recall = held.sum::<f64>() / total;
        let own: f64 = entry.goal.iter().map(weight).sum();
        let shared: f64 = entry.goal.iter().filter(|term| asked.binary_search(term).is_ok()).map(weight).sum();
        // A goal made of its steps is long by nature: that it says more is no sign against it.
        let precision = if own > 0.0 && entry.procedure.is_named() { shared / own } else { 1.0 };
        recall * (0.6 + 0.4 * precision)
    }
}

/// Procedures whose goal is like `goal_like` (all of them without one), the likest first, then the most frequent.
pub fn list<'a>(procedures: impl IntoIterator<Item = &'a Procedure>, goal_like: Option<&str>) -> Vec<&'a Procedure> {
    let mut all: Vec<&Procedure> = procedures.into_iter().collect();
    all.sort_by(|a, b| b.runs().len().cmp(&a.runs().len()).then_with(|| a.id().cmp(&b.id())));
    let Some(like) = goal_like.map(normalise).filter(|like| !like.is_empty()) else { return all };
    let stems = Stems::new();
    let asked = stems.of(&like);
    let shares = |procedure: &Procedure| {
        let goal = stems.of(procedure.goal());
        normalise(procedure.goal()).contains(&like) || asked.iter().any(|term| goal.binary_search(term).is_ok())
    };
    let mut found: Vec<(usize, &Procedure)> = all
        .into_iter()
        .filter(|procedure| shares(procedure))
        .map(|procedure| {
            let goal = stems.of(procedure.goal());
            (asked.iter().filter(|term| goal.binary_search(term).is_ok()).count(), procedure)
        })
        .collect();
    // Stable: of equals the more frequent stays first.
    found.sort_by_key(|(shared, _)| std::cmp::Reverse(*shared));
    found.into_iter().map(|(_, procedure)| procedure).collect()
}
