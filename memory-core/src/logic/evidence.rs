//! What the sessions of a procedure say for and against it: whether their order is one order, whether their steps are of one
//! task, and whether they serve the goal that was told.
//!
//! None of the three compares steps with their own mean, which any set of steps is near to.

use std::collections::BTreeMap;

use super::{Embedding, Procedure, StepId};

/// Maximum number of steps compared, the most frequent ones.
const MAX_STEPS: usize = 24;
/// Prior belief in a pair of steps that no session shows.
const PAIR_PRIOR: f64 = 0.25;
const PRIOR_SESSIONS: f64 = 2.0;
/// Average cosine of two steps of one task, by φ.
const MEAN_STEP_COSINE: f64 = 0.3;
/// Minimum share of the smaller of two strands. A task with one odd step is not two tasks.
const MIN_STRAND_SHARE: f64 = 0.25;
/// Maximum number of steps that are tried as the first of a strand.
const MAX_SEEDS: usize = 6;
/// Cosine from which two goals are one goal in other words, and do not compete for its steps.
const SAME_GOAL: f32 = 0.7;
/// Minimum number of different steps that say anything about a told goal: "put the kettle on" is near to little.
const MIN_STEPS: usize = 3;

/// The most frequent steps of a procedure with all that is counted of them.
pub(super) struct ProcedureEvidence<'a> {
    /// The steps, how many sessions do each, and φ of each where there is one.
    steps: Vec<(StepId, f64, Option<&'a Embedding>)>,
    /// `first[a][b]`: the sessions that do both and begin with `a`.
    first: Vec<Vec<f64>>,
    /// `next[a][b]`: how often `b` follows `a` directly.
    next: Vec<Vec<f64>>,
}

/// How near the steps lie to a told goal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GoalLikeness {
    /// The mean cosine of the steps.
    pub mean: f64,
    /// The same of the half that lies farther away: where two tasks are mixed, one of them serves another goal.
    pub low: f64,
    /// How much nearer the steps lie to this goal than to any other told one; `None` where no other is known.
    pub lead: Option<f64>,
}

impl<'a> ProcedureEvidence<'a> {
    /// Counts the sessions, each a sequence of step numbers.
    pub fn count(procedure: &'a Procedure, sequences: &[Vec<u32>]) -> Self {
        let mut sessions: BTreeMap<u32, f64> = BTreeMap::new();
        for sequence in sequences {
            let mut distinct = sequence.clone();
            distinct.sort_unstable();
            distinct.dedup();
            distinct.into_iter().for_each(|step| *sessions.entry(step).or_default() += 1.0);
        }
        let mut frequent: Vec<(u32, f64)> = sessions.into_iter().collect();
        frequent.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        frequent.truncate(MAX_STEPS);
        let place: BTreeMap<u32, usize> = frequent.iter().enumerate().map(|(at, (step, _))| (*step, at)).collect();
        let count = frequent.len();
        let mut evidence = Self {
            steps: frequent
                .into_iter()
                .map(|(step, sessions)| {
                    let embedding = procedure.step(StepId(step)).and_then(|step| step.embedding.as_ref());
                    (StepId(step), sessions, embedding)
                })
                .collect(),
            first: vec![vec![0.0; count]; count],
            next: vec![vec![0.0; count]; count],
        };
        for sequence in sequences {
            let mut steps: Vec<usize> = sequence.iter().filter_map(|step| place.get(step)).copied().collect();
            steps.dedup();
            steps.windows(2).for_each(|pair| evidence.next[pair[0]][pair[1]] += 1.0);
            let mut met: Vec<usize> = Vec::new();
            for step in steps {
                if !met.contains(&step) {
                    met.iter().for_each(|before| evidence.first[*before][step] += 1.0);
                    met.push(step);
                }
            }
        }
        evidence
    }

    /// Whether every step has a place in the space of φ.
    pub fn has_meaning(&self) -> bool {
        !self.steps.is_empty() && self.steps.iter().all(|(_, _, embedding)| embedding.is_some())
    }

    /// How far the sessions agree on the order of their steps: 1 if always, 0 if no more than chance. Over the pairs of
    /// steps, (2p − 1)² with p the share of sessions that begin with the one, estimated without bias: two sessions
    /// that agree by chance do not pass for certainty.
    pub fn order(&self) -> f64 {
        let (mut agreed, mut met) = (0.0, 0.0);
        for a in 0..self.steps.len() {
            for b in a + 1..self.steps.len() {
                let (one, other) = (self.first[a][b], self.first[b][a]);
                if one + other >= 2.0 {
                    agreed += agreement(one, other);
                    met += one + other;
                }
            }
        }
        (agreed + PRIOR_SESSIONS * PAIR_PRIOR) / (met + PRIOR_SESSIONS)
    }

    /// How closely the steps hang together where they do so least: the weakest of the cuts that part them in two strands.
    /// What links two steps is that they follow each other in one order, and, with φ, that they are alike. Where two tasks
    /// were done in turns the cut between them finds steps that follow each other in any order and have little in common.
    pub fn unity(&self) -> f64 {
        let meaning = self.has_meaning();
        let usual = PAIR_PRIOR + if meaning { MEAN_STEP_COSINE } else { 0.0 };
        let count = self.steps.len();
        if count < 3 {
            return usual;
        }
        let total: f64 = self.steps.iter().map(|(_, sessions, _)| sessions).sum();
        let weights: Vec<f64> = self.steps.iter().map(|(_, sessions, _)| sessions / total).collect();
        let likeness = self.likeness();
        let (mut links, mut met) = (vec![vec![0.0; count]; count], vec![vec![0.0; count]; count]);
        for a in 0..count {
            for b in 0..count {
                let (one, other) = (self.next[a][b], self.next[b][a]);
                met[a][b] = one + other;
                let agreed = if one + other >= 2.0 { agreement(one, other) } else { 0.0 };
                let alike = if meaning { likeness[a][b] } else { 0.0 };
                links[a][b] = agreed + met[a][b].min(1.0) * PAIR_PRIOR + met[a][b] * alike;
            }
        }
        let cuts = Cuts { weights, likeness: meaning.then_some(likeness), links, met };
        (0..count.min(MAX_SEEDS)).filter_map(|seed| cuts.weakest_from(seed)).reduce(f64::min).unwrap_or(usual)
    }

    /// The cosines between the steps; 0 where φ is missing.
    fn likeness(&self) -> Vec<Vec<f64>> {
        let cosine = |a: Option<&Embedding>, b: Option<&Embedding>| a?.cosine(b?).map(f64::from);
        let row = |a: &Option<&Embedding>| -> Vec<f64> {
            self.steps.iter().map(|(_, _, b)| cosine(*a, *b).unwrap_or(0.0)).collect()
        };
        self.steps.iter().map(|(_, _, a)| row(a)).collect()
    }

    /// How near the steps lie to a goal, and how much nearer than to `others`; `None` without φ and of too few steps.
    pub fn goal<'b>(&self, goal: &Embedding, others: impl Iterator<Item = &'b Embedding>) -> Option<GoalLikeness> {
        if self.steps.len() < MIN_STEPS || !self.has_meaning() {
            return None;
        }
        let total: f64 = self.steps.iter().map(|(_, sessions, _)| sessions).sum();
        let mut cosines: Vec<(f64, f64)> = Vec::with_capacity(self.steps.len());
        for (_, sessions, embedding) in &self.steps {
            cosines.push((f64::from(embedding.as_ref()?.cosine(goal)?), *sessions));
        }
        let mean = cosines.iter().map(|(cosine, sessions)| cosine * sessions).sum::<f64>() / total;
        cosines.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut low, mut taken) = (0.0, 0.0);
        for (cosine, sessions) in cosines {
            let share = sessions.min(total / 2.0 - taken);
            low += cosine * share;
            taken += share;
        }
        // The mean cosine to any goal is the cosine to the steps' mean times the length of that mean.
        let centre = Embedding::weighted(self.steps.iter().filter_map(|(_, n, embedding)| Some(((*embedding)?, *n))))?;
        let likeness = self.likeness();
        let mut square = 0.0;
        for ((_, a, _), row) in self.steps.iter().zip(&likeness) {
            square += self.steps.iter().zip(row).map(|((_, b, _), cosine)| a * b * cosine).sum::<f64>();
        }
        let length = square.max(0.0).sqrt() / total;
        let competing = others.filter(|other| other.cosine(goal).is_some_and(|cosine| cosine < SAME_GOAL));
        let nearest = competing.filter_map(|other| centre.cosine(other)).reduce(f32::max);
        Some(GoalLikeness { mean, low: low / taken, lead: nearest.map(|nearest| mean - f64::from(nearest) * length) })
    }
}

/// n times the unbiased estimate of (2p − 1)², of `one` against `other` in n.
fn agreement(one: f64, other: f64) -> f64 {
    let met = one + other;
    ((one - other).powi(2) - met) / (met - 1.0)
}

/// Result of cutting the steps in two.
struct Cuts {
    /// The share of each step.
    weights: Vec<f64>,
    likeness: Option<Vec<Vec<f64>>>,
    /// Strength of the link of each pair, and how often the two followed each other.
    links: Vec<Vec<f64>>,
    met: Vec<Vec<f64>>,
}

impl Cuts {
    /// The weakest cut that is found from one step on: its strand grows by what is linked with it most, and then single steps
    /// change sides as long as that makes the cut weaker. `None` if no strand from there is large enough.
    fn weakest_from(&self, seed: usize) -> Option<f64> {
        let count = self.weights.len();
        let mut inside = vec![false; count];
        inside[seed] = true;
        let mut share = self.weights[seed];
        while share < 0.5 - 1e-9 {
            let joins = |step: &usize| !inside[*step] && share + self.weights[*step] <= 1.0 - MIN_STRAND_SHARE;
            let best = (0..count).filter(joins).map(|step| (self.pull(step, &inside), step));
            // Of equals the more frequent step.
            let Some((_, next)) = best.reduce(|best, next| if next.0 > best.0 { next } else { best }) else { break };
            inside[next] = true;
            share += self.weights[next];
        }
        let allowed = |share: f64| (MIN_STRAND_SHARE..=1.0 - MIN_STRAND_SHARE).contains(&share);
        if !allowed(share) {
            return None;
        }
        let (mut links, mut met) = (0.0, 0.0);
        for a in (0..count).filter(|a| inside[*a]) {
            for b in (0..count).filter(|b| !inside[*b]) {
                links += self.links[a][b];
                met += self.met[a][b];
            }
        }
        let strength = |links: f64, met: f64| (links + PAIR_PRIOR) / (met + 1.0);
        // Each change makes the cut weaker, so this ends; the bound is for what rounding might do.
        for _ in 0..2 * count {
            let mut best: Option<(f64, usize, f64, f64)> = None;
            for step in 0..count {
                let (mut new_links, mut new_met) = (links, met);
                for other in (0..count).filter(|other| *other != step) {
                    let sign = if inside[other] == inside[step] { 1.0 } else { -1.0 };
                    new_links += sign * self.links[step][other];
                    new_met += sign * self.met[step][other];
                }
                let moved = if inside[step] { share - self.weights[step] } else { share + self.weights[step] };
                let value = strength(new_links, new_met);
                if allowed(moved) && best.is_none_or(|(least, ..)| value < least) {
                    best = Some((value, step, new_links, new_met));
                }
            }
            let Some((value, step, new_links, new_met)) = best else { break };
            if value >= strength(links, met) - 1e-9 {
                break;
            }
            share += if inside[step] { -self.weights[step] } else { self.weights[step] };
            inside[step] = !inside[step];
            (links, met) = (new_links, new_met);
        }
        Some(strength(links, met))
    }

    /// How strongly a step is linked with a strand.
    fn pull(&self, step: usize, inside: &[bool]) -> f64 {
        let members = || (0..inside.len()).filter(|member| inside[*member]);
        let links: f64 = members().map(|member| self.links[step][member]).sum();
        let met: f64 = members().map(|member| self.met[step][member]).sum();
        let alike = self.likeness.as_ref().map_or(0.0, |likeness| {
            members().map(|member| likeness[step][member]).sum::<f64>() / members().count().max(1) as f64
        });
        links / (met + 1.0) + alike
    }
}
