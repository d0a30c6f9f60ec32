//! How the answers of two layers stand to each other, and how likely that makes the one that is told (HippoMM 4.3.3, Table A6).
//!
//! Every probability here comes from the calibrated ones of the candidates. Two that agree are wrong only if both are; of two
//! that exclude each other at most one is right.

use std::collections::BTreeSet;

use super::candidate::{Candidate, Layer, Value};
use super::question::Question;
use crate::index::{is_stop_word, stem, words};
use crate::language::english::question::Ask;

/// A candidate that has the kind of answer that was asked for fits at least so well.
pub(super) const ANSWERS: f32 = 0.5;
/// Numbers that differ by less are the same.
const SAME_NUMBER: f64 = 1e-6;

/// How a candidate stands to another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    /// Both say the same; one may say more.
    Agree,
    /// Both answer, and not the same.
    Differ,
    /// At most one of them is right: yes and no, or two numbers of one thing.
    Exclude,
    /// One of them only quotes an event, which does not say what the other one says.
    Unrelated,
}

/// Compares two candidates for a question.
pub(super) fn relation(question: &Question<'_>, one: &Candidate, other: &Candidate) -> Relation {
    match (&one.value, &other.value) {
        (Value::Truth(a), Value::Truth(b)) => return if a == b { Relation::Agree } else { Relation::Exclude },
        (Value::Number(a, unit), Value::Number(b, other)) if unit == other => {
            return if (a - b).abs() < SAME_NUMBER { Relation::Agree } else { Relation::Exclude };
        }
        (Value::Times(a), Value::Times(b)) => {
            let meet = a.iter().any(|one| b.iter().any(|other| one.overlaps(*other)));
            return if meet { Relation::Agree } else { Relation::Differ };
        }
        _ => {}
    }
    let both_answer = [one, other].into_iter().all(|candidate| answers(candidate) && !quotes(candidate));
    // The time of one event is one time, however it is told.
    let first = |candidate: &Candidate| candidate.evidence.first().map(super::pool::Found::id);
    if question.ask() == Ask::Time && both_answer && first(one).is_some() && first(one) == first(other) {
        return Relation::Agree;
    }
    let (own, others) = (said(question, one), said(question, other));
    let agree = !own.is_empty() && !others.is_empty() && (own.is_subset(&others) || others.is_subset(&own));
    match (agree, both_answer) {
        (true, _) => Relation::Agree,
        (false, true) => Relation::Differ,
        (false, false) => Relation::Unrelated,
    }
}

/// Whether it has the kind of answer that was asked for, and does not only quote.
pub(super) fn answers(candidate: &Candidate) -> bool {
    candidate.signals.fits >= ANSWERS
}

/// Whether `other`, which agrees, says all that `one` says and more, and is no event as it stands: the sentence is in the evidence.
pub(super) fn is_more_detailed(question: &Question<'_>, other: &Candidate, one: &Candidate) -> bool {
    let in_words = |candidate: &Candidate| matches!(candidate.value, Value::Text(_) | Value::List(_));
    let (more, less) = (said(question, other), said(question, one));
    let more = more.len() > less.len() && less.is_subset(&more);
    more && answers(other) && in_words(other) && in_words(one) && !quotes(other)
}

/// Whether it is the whole text of an event.
fn quotes(candidate: &Candidate) -> bool {
    let whole = |text: &str| candidate.text.contains(text.trim_end_matches('.'));
    candidate.evidence.first().is_some_and(|found| whole(&found.reading.event.text))
}

/// Whether a candidate that answers says what an option says.
pub(super) fn bears_out(question: &Question<'_>, candidate: &Candidate, option: &str) -> bool {
    let meant = stems_beyond(question, option);
    let truth = || match &candidate.value {
        Value::Truth(yes) => option.to_lowercase().starts_with(if *yes { "yes" } else { "no" }),
        _ => false,
    };
    let in_words = || !meant.is_empty() && meant.is_subset(&said(question, candidate));
    answers(candidate) && (truth() || in_words())
}

/// The stems of what a candidate says beyond the question.
fn said(question: &Question<'_>, candidate: &Candidate) -> BTreeSet<String> {
    stems_beyond(question, &candidate.text)
}

fn stems_beyond(question: &Question<'_>, text: &str) -> BTreeSet<String> {
    let stems = |text: &str| -> BTreeSet<String> {
        words(text).filter(|word| !is_stop_word(word)).map(|word| stem(&word)).collect()
    };
    let asked = stems(question.text);
    stems(text).difference(&asked).cloned().collect()
}

/// The probability that at least one of several is right: that of the answer on which they agree.
pub(super) fn together(confidences: impl Iterator<Item = f32>) -> f32 {
    1.0 - confidences.map(|confidence| 1.0 - confidence).product::<f32>()
}

/// The probability of an answer beside one that excludes it: the odds of both being right are none.
pub(super) fn beside(confidence: f32, excluded: f32) -> f32 {
    let (own, other) = (confidence * (1.0 - excluded), excluded * (1.0 - confidence));
    let neither = (1.0 - confidence) * (1.0 - excluded);
    let all = own + other + neither;
    if all > 0.0 { own / all } else { 0.5 }
}

/// What a layer is called in the reason of an answer.
pub(super) fn source(layer: Layer) -> &'static str {
    match layer {
        Layer::Episodes => "a single event",
        Layer::Facts => "a fact that was learnt",
        Layer::Procedures => "a procedure",
        Layer::Gists => "a summary",
        Layer::CrossModal => "an event at that time",
        Layer::Options => "an option",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f32, b: f32) -> bool {
        (a - b).abs() < 1e-6
    }

    #[test]
    fn what_agrees_is_wrong_only_if_all_of_it_is() {
        assert!(near(together([0.6].into_iter()), 0.6));
        assert!(near(together([0.6, 0.5].into_iter()), 0.8));
        assert!(near(together([0.6, 0.0].into_iter()), 0.6));
    }

    #[test]
    fn of_two_that_exclude_each_other_at_most_one_is_right() {
        assert!(near(beside(0.7, 0.0), 0.7));
        assert!(near(beside(0.5, 0.5), 1.0 / 3.0));
        for (one, other) in [(0.9, 0.2), (0.6, 0.6), (0.99, 0.98)] {
            let (first, second) = (beside(one, other), beside(other, one));
            assert!(first <= one && second <= other && first + second <= 1.0, "{one} {other}");
        }
        assert!(near(beside(1.0, 1.0), 0.5));
    }
}
