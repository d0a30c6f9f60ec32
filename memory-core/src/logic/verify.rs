//! Verification (NS-Mem 4.2.1, step 3): decides whether the sessions of a group show a procedure, and refuses where they do not.
//!
//! Without a model, three kinds of [evidence](super::evidence) decide, each weighed by how it told true procedures from false
//! ones (shuffled sessions, two tasks in turns, talk with verbs, steps of another goal) on COIN's training tasks:
//!
//! - *order*: how far the sessions agree on the order of their steps;
//! - *unity*: how closely the steps hang together where they do so least;
//! - *goal*: of a told goal, how near its steps lie to it in the space of φ, and how much nearer than to other told goals.
//!
//! The score is the probability that it is a procedure, where one group in four is: above τ, the evidence speaks for it. An
//! action and its undoing ("pick up", "put down") are no procedure whatever the evidence. A told goal is believed until
//! enough was seen that speaks against it, and without φ always. A model, where one is configured, answers for groups that nobody
//! named through [`ProcedureJudge`](crate::ports::ProcedureJudge) instead, and the evidence decides where it fails.

use std::collections::BTreeSet;

use crate::shared::Shared;

use super::evidence::{GoalLikeness, ProcedureEvidence};
use super::memory::Phi;
use super::prefix_span::{Mining, Pattern};
use super::rows::RowKey;
use super::{Embedding, Procedure, ProcedureId, Procedures, Prototype, StepId};

/// τ: a score above it establishes a procedure.
pub const ACCEPT_SCORE: f64 = 0.25;

/// Log-odds of a score of τ.
const ACCEPT_LOG_ODDS: f64 = -1.098_612_288_668_11;
/// Log-odds in favour of a told goal, divided by its sessions. Who names a task knows what it is.
const TOLD_GOAL_BONUS: f64 = 2.0;

/// Log-odds that a told goal must have beyond even ones. The regression weighs both errors alike, and a procedure that is none
/// does more harm than one that is asked for by its exact goal.
const TOLD_GOAL_MARGIN: f64 = 0.6;

/// From this order in so many sessions on it is sure that something is done in one way, and who names it is believed that it is what
/// they say, unless its steps speak strongly against it: "dry the dog's paws" is nearer to feeding the dog than to walking it. Nine in
/// ten such names are taken to be right instead of one in four (log-odds). Two tasks in turns, one of them with a quarter of the steps,
/// come to an order of 0.625: of the pairs of steps those of one task agree, the others by chance.
const MIN_TOLD_ORDER: f64 = 0.7;
const MIN_TOLD_SESSIONS: usize = 3;
/// Order from which two sessions are believed. By chance they agree too often.
const MIN_PAIR_ORDER: f64 = 0.8;
const TOLD_ORDER_BONUS: f64 = 3.3;
/// Steps that lie more than so many times as near to another told goal speak strongly against this one.
const MAX_OTHER_GOAL_RATIO: f64 = 2.0;

/// Log-odds against few sessions, divided by the square of their number. They agree by chance.
const FEW_SESSIONS_PENALTY: f64 = 8.0;
/// Order and unity below which nothing else counts, and how steep that limit is.
const MIN_ORDER: f64 = 0.13;
const MIN_UNITY: f64 = 0.3;
const LIMIT_STEEPNESS: f64 = 25.0;

/// Number of the latest sessions of a procedure that are mined at a time.
const MINED_SESSIONS: usize = 256;

/// Maximum number of steps listed in a goal that is made from steps.
const MAX_LISTED_STEPS: usize = 4;

/// Pairs of words that undo an action if one takes the place of the other.
const INVERSE_WORDS: [(&str, &str); 16] = [
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
    /// How far the sessions agree on the order of their steps.
    pub order: f64,
    /// How closely the steps hang together where they do so least.
    pub unity: f64,
    /// Whether φ took part in that.
    pub meaning: bool,
    /// Number of sessions.
    pub sessions: usize,
    /// How near the steps lie to the goal that was told; `None` if none was, and without φ.
    pub goal: Option<GoalLikeness>,
}

impl Verification {
    /// Computes the score that is compared with τ. The weights are those of a logistic regression, see docs/benchmarks.md.
    pub fn score(&self) -> f64 {
        let sessions = self.sessions.max(1) as f64;
        let evidence = match self.goal {
            Some(told @ GoalLikeness { mean, low, lead }) => {
                let goal = match lead {
                    Some(lead) => 4.8 * self.unity + 7.6 * low + 10.7 * lead - 3.45,
                    None => 2.5 * self.unity + 6.4 * low + 8.6 * mean - 4.9,
                };
                goal - TOLD_GOAL_MARGIN
                    + TOLD_GOAL_BONUS / sessions
                    + if self.is_believed(told) { TOLD_ORDER_BONUS } else { 0.0 }
            }
            None => {
                let (together, least) = match self.meaning {
                    true => (4.0 * self.order + 8.1 * self.unity - 4.75, MIN_UNITY),
                    false => (4.4 * self.order + 6.2 * self.unity - 1.6, 0.0),
                };
                // However alike the steps are, what is done in any order is no procedure, and what is done in one order
                // may be two.
                let ordered = LIMIT_STEEPNESS * (self.order - MIN_ORDER);
                let united = LIMIT_STEEPNESS * (self.unity - least);
                (together - FEW_SESSIONS_PENALTY / (sessions * sessions)).min(ordered).min(united)
            }
        };
        1.0 / (1.0 + (-(evidence + ACCEPT_LOG_ODDS)).exp())
    }

    /// Whether the sessions are in one order, and their steps not those of another told goal.
    fn is_believed(&self, told: GoalLikeness) -> bool {
        let other = told.lead.map(|lead| told.mean - lead);
        let of_another = other.is_some_and(|other| other > MAX_OTHER_GOAL_RATIO * told.mean.max(0.0));
        let orderly = match self.sessions {
            0 | 1 => false,
            2 => self.order >= MIN_PAIR_ORDER,
            MIN_TOLD_SESSIONS.. => self.order >= MIN_TOLD_ORDER,
        };
        orderly && !of_another
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

    /// Verifies by the evidence of the latest sessions. `others`: the goals that were told of other procedures.
    pub fn verify<'a>(&self, others: impl Iterator<Item = &'a Embedding>) -> Verification {
        let sequences = self.sequences();
        let evidence = ProcedureEvidence::count(self, &sequences);
        let goal = self.index.goal.as_ref().filter(|_| self.named);
        Verification {
            order: evidence.order(),
            unity: evidence.unity(),
            meaning: evidence.has_meaning(),
            sessions: self.runs.len(),
            goal: goal.and_then(|goal| evidence.goal(goal.anchor(), others)),
        }
    }

    /// The pattern that shows best what the sessions do, if any is more than an action and its undoing: supported by many,
    /// its steps close to each other, and long.
    fn best_pattern(&self, support: f64, minimum: usize) -> Option<Pattern> {
        let sequences = self.sequences();
        let mut best: Option<(f64, Pattern)> = None;
        for pattern in self.patterns(support, minimum).into_iter().filter(|pattern| !self.is_trivial(pattern)) {
            let share = (f64::from(pattern.support) + 0.5) / (sequences.len() as f64 + 1.5);
            let value = (share + cohesion(&pattern.items, &sequences)) * pattern.items.len() as f64;
            if best.as_ref().is_none_or(|(most, _)| value > *most) {
                best = Some((value, pattern));
            }
        }
        best.map(|(_, pattern)| pattern)
    }

    fn is_trivial(&self, pattern: &Pattern) -> bool {
        let distinct: BTreeSet<u32> = pattern.items.iter().copied().collect();
        let text = |item: &u32| self.step(StepId(*item)).map_or("", |step| step.key());
        match distinct.iter().collect::<Vec<_>>()[..] {
            [] | [_] => true,
            [one, other] => undoes(text(one), text(other)),
            _ => false,
        }
    }

    fn sequences(&self) -> Vec<Vec<u32>> {
        let latest = self.runs.values().rev().take(MINED_SESSIONS);
        latest.map(|run| run.steps.iter().map(|step| step.0).collect()).collect()
    }
}

impl Procedures {
    /// Verifies a procedure when it is new or has grown by a quarter since the last time: what passes τ is established, gets
    /// a goal made from its steps if nobody told one, and what no longer passes is a candidate again.
    pub(super) fn review(&mut self, id: ProcedureId, phi: &Phi<'_>) {
        // Without φ nothing speaks against a told goal.
        let judged = |procedure: &Shared<Procedure>| !procedure.named || procedure.index.goal.is_some();
        let Some(procedure) = self.procedures.get(&id).filter(|procedure| judged(procedure)) else { return };
        let actions: u32 = procedure.steps.iter().map(|step| step.count).sum();
        let known = procedure.reviewed;
        if actions >= known && actions < (known + known / 4).max(known + 1) {
            return;
        }
        let (score, goal) =
            if procedure.named { (self.told_goal_support(procedure), None) } else { self.found_by(procedure) };
        let Some(procedure) = self.procedures.get_mut(&id).map(Shared::change) else { return };
        procedure.reviewed = actions;
        procedure.score = score.map(|score| score as f32);
        if let Some(goal) = goal.filter(|goal| *goal != procedure.goal) {
            procedure.index.goal =
                phi(&super::normalise(&goal)).and_then(|vector| Embedding::from_vector(&vector)).map(Prototype::new);
            procedure.goal = goal;
        }
        self.dirty.insert(RowKey::head(id));
    }

    /// The score of a told goal; `None` where there is nothing to judge it by.
    fn told_goal_support(&self, procedure: &Procedure) -> Option<f64> {
        let others = self.procedures.values().filter(|other| other.named && other.id != procedure.id);
        let evidence = procedure.verify(others.filter_map(|other| Some(other.index.goal.as_ref()?.anchor())));
        evidence.goal.map(|_| evidence.score())
    }

    /// The score above τ of what nobody named, and its goal.
    fn found_by(&self, procedure: &Procedure) -> (Option<f64>, Option<String>) {
        if procedure.runs.len() < self.options.min_sessions {
            return (None, None);
        }
        let pattern = procedure.best_pattern(self.options.support, self.options.min_sessions);
        let verdict = pattern.map(|pattern| (self.judgement(procedure, &pattern), pattern));
        match verdict.filter(|(score, _)| *score > ACCEPT_SCORE) {
            Some((score, pattern)) => (Some(score), Some(goal_of(procedure, &pattern))),
            None => (None, None),
        }
    }

    fn judgement(&self, procedure: &Procedure, pattern: &Pattern) -> f64 {
        let evidence = || procedure.verify(std::iter::empty()).score();
        let Some(judge) = &self.judge else { return evidence() };
        let text = |item: &u32| procedure.step(StepId(*item)).map_or("", |step| step.text.as_str());
        let steps: Vec<&str> = pattern.items.iter().map(text).collect();
        let line = |run: &super::Run| run.steps.iter().map(|step| text(&step.0)).collect::<Vec<_>>().join(", ");
        let context: Vec<String> = procedure.runs.values().rev().take(3).map(line).collect();
        judge.judge(&steps, &context).map_or_else(|_| evidence(), |score| f64::from(score.clamp(0.0, 1.0)))
    }
}

/// A goal made from steps, as they are told: the first ones and the last.
fn goal_of(procedure: &Procedure, pattern: &Pattern) -> String {
    let mut steps: Vec<&str> =
        pattern.items.iter().filter_map(|item| procedure.step(StepId(*item))).map(|step| step.text.as_str()).collect();
    steps.dedup();
    let last = steps.pop().unwrap_or_default();
    let shown = steps.len().min(MAX_LISTED_STEPS - 1);
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
        INVERSE_WORDS.iter().any(|(up, down)| (x == *up && y == *down) || (x == *down && y == *up))
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
    use super::{ACCEPT_SCORE, GoalLikeness, Verification, undoes};

    #[test]
    fn a_name_is_believed_for_what_is_done_in_one_order_unless_its_steps_speak_strongly_against_it() {
        // Two goals about one dog: the steps lie a little nearer to the other one.
        let near = GoalLikeness { mean: 0.21, low: 0.15, lead: Some(-0.15) };
        let told = |order, sessions, goal| {
            Verification { order, unity: 0.25, meaning: true, sessions, goal: Some(goal) }.score() > ACCEPT_SCORE
        };
        assert!(told(0.9, 3, near));
        assert!(told(0.9, 28, near), "as it goes on");
        assert!(told(0.9, 2, near), "two sessions in the same order");
        assert!(!told(0.7, 2, near), "two in nearly the same order may be chance");
        assert!(!told(0.9, 1, near), "one alone");
        assert!(!told(0.3, 3, near), "in any order");
        assert!(!told(0.62, 3, near), "as two tasks in turns may be");
        assert!(!told(0.9, 3, GoalLikeness { lead: Some(-0.23), ..near }), "more than twice as near to another goal");
        assert!(!told(0.9, 3, GoalLikeness { mean: 0.02, low: -0.02, lead: Some(-0.25) }), "steps of something else");
    }

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
