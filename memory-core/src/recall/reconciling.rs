//! Relations between the answers of two layers, and the confidence that follows (HippoMM 4.3.3, Table A6).
//!
//! All probabilities derive from the calibrated confidence of the candidates. Two that agree are wrong only if both
//! are. Of two that exclude each other at most one is right.

use std::collections::BTreeSet;

use super::candidate::{Candidate, CandidateValue, Layer};
use super::quantities::{Quantity, quantities};
use super::question::Question;
use crate::EventId;
use crate::index::{is_stop_word, stem, words};
use crate::language::english::lexicon::{self, Category, PartOfSpeech};
use crate::language::english::question::AnswerKind;

/// Minimum `fits` signal of a candidate that has the requested kind of answer.
pub(super) const MIN_ANSWER_FIT: f32 = 0.5;
/// Minimum lead in probability of the event of a reader's verdict that is shown instead of another event.
const MIN_VERDICT_MARGIN: f32 = 0.4;
/// Difference below which two numbers are equal.
const NUMBER_TOLERANCE: f64 = 1e-6;

/// Relation of two candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CandidateRelation {
    /// Both say the same; one may say more.
    Agree,
    /// Both answer, and not the same.
    Differ,
    /// At most one of them is right: yes and no, or two numbers of one thing.
    Exclude,
    /// One of them only quotes an event, which does not say what the other one says.
    Unrelated,
}

/// Returns the relation of two candidates for a question.
pub(super) fn candidate_relation(question: &Question<'_>, one: &Candidate, other: &Candidate) -> CandidateRelation {
    match (&one.value, &other.value) {
        (CandidateValue::Truth(a), CandidateValue::Truth(b)) => {
            return if a == b { CandidateRelation::Agree } else { CandidateRelation::Exclude };
        }
        (CandidateValue::Number(a, unit), CandidateValue::Number(b, other)) if unit == other => {
            return if (a - b).abs() < NUMBER_TOLERANCE {
                CandidateRelation::Agree
            } else {
                CandidateRelation::Exclude
            };
        }
        (CandidateValue::Times(a), CandidateValue::Times(b)) => {
            let meet = a.iter().any(|one| b.iter().any(|other| one.overlaps(*other)));
            return if meet { CandidateRelation::Agree } else { CandidateRelation::Differ };
        }
        _ => {}
    }
    let both_answer = [one, other].into_iter().all(|candidate| is_direct_answer(candidate) && !quotes_event(candidate));
    // Two times of one event are equal, however they are worded.
    if question.ask() == AnswerKind::Time
        && both_answer
        && first_event(one).is_some()
        && first_event(one) == first_event(other)
    {
        return CandidateRelation::Agree;
    }
    if let Some(same) = is_same_quantity(question, one, other).filter(|_| both_answer) {
        return if same { CandidateRelation::Agree } else { CandidateRelation::Differ };
    }
    let (own, others) = (answer_stems(question, one), answer_stems(question, other));
    let agree = !own.is_empty() && !others.is_empty() && (own.is_subset(&others) || others.is_subset(&own));
    match (agree, both_answer) {
        (true, _) => CandidateRelation::Agree,
        (false, true) => CandidateRelation::Differ,
        (false, false) => CandidateRelation::Unrelated,
    }
}

/// Returns the quantity that a candidate gives, if the question asks for one.
fn asked_quantity(question: &Question<'_>, candidate: &Candidate) -> Option<Quantity> {
    if !matches!(question.ask(), AnswerKind::Count | AnswerKind::Amount | AnswerKind::Times) {
        return None;
    }
    let all = quantities(&candidate.text);
    let alone = all.len() == 1;
    all.into_iter().next().filter(|first| alone || first.range.start == 0)
}

/// Returns whether two answers give the same quantity, whether in words or digits. `None` where no quantity is asked for
/// or one of them gives none.
fn is_same_quantity(question: &Question<'_>, one: &Candidate, other: &Candidate) -> Option<bool> {
    let (one, other) = (asked_quantity(question, one)?, asked_quantity(question, other)?);
    // "Five minutes" is no number of eggs.
    let class = question.asked.class.as_ref().map(|class| class.head.as_str());
    let is_time = |unit: &str| lexicon::category(unit, PartOfSpeech::Noun) == Some(Category::Time);
    let counts = |unit: &str| class.is_none_or(|class| class == unit || !is_time(unit));
    let units = one.unit == other.unit
        || (one.unit.is_empty() || other.unit.is_empty()) && counts(&one.unit) && counts(&other.unit);
    Some(units && (one.value - other.value).abs() < NUMBER_TOLERANCE)
}

/// Returns whether a candidate has the requested kind of answer and is no mere quotation. The `fits` of what a reader
/// marks says how sure it is of the boundaries.
pub(super) fn is_direct_answer(candidate: &Candidate) -> bool {
    candidate.layer == Layer::Read && !quotes_event(candidate) || candidate.signals.fits >= MIN_ANSWER_FIT
}

/// Returns whether `other`, which agrees, says everything that `one` says and more, and is no quotation of an event.
fn is_more_detailed(question: &Question<'_>, other: &Candidate, one: &Candidate) -> bool {
    let in_words = |candidate: &Candidate| matches!(candidate.value, CandidateValue::Text(_) | CandidateValue::List(_));
    let (more, less) = (answer_stems(question, other), answer_stems(question, one));
    let more = more.len() > less.len() && less.is_subset(&more);
    more && is_direct_answer(other) && in_words(other) && in_words(one) && !quotes_event(other)
}

/// Returns whether the candidate is the whole text of an event. What was computed from several is no quotation of one,
/// though it may list or choose whole texts.
pub(super) fn quotes_event(candidate: &Candidate) -> bool {
    let whole = |text: &str| candidate.text.contains(text.trim_end_matches('.'));
    !candidate.computed && candidate.evidence.first().is_some_and(|found| whole(&found.reading.event.text))
}

/// Returns whether `one` is a quotation, and `other` the words of the same event that answer.
pub(super) fn is_extract(other: &Candidate, one: &Candidate) -> bool {
    other.layer == Layer::Read
        && is_direct_answer(other)
        && !quotes_event(other)
        && quotes_event(one)
        && first_event(one) == first_event(other)
}

/// Returns which of the candidates that agree with the best one is shown in its stead, if any. The more detailed one is,
/// or the words of a quotation that answer: an answer is short where memory has its words. Words that the reader is not
/// sure of are likelier wrong than right, and the quotation around them is shown.
pub(super) fn shown_instead(question: &Question<'_>, best: &Candidate, agreeing: &[Candidate]) -> Option<usize> {
    let is_sure = |extract: &Candidate| extract.signals.fits >= MIN_ANSWER_FIT;
    let place = |wanted: &dyn Fn(&Candidate) -> bool| agreeing.iter().position(wanted);
    // "Nine crates" says more than 9.
    let has_unit =
        |candidate: &Candidate| asked_quantity(question, candidate).is_some_and(|told| !told.unit.is_empty());
    let in_words = |other: &Candidate| {
        let bare = matches!(best.value, CandidateValue::Number(..)) && !best.computed && !has_unit(best);
        bare && other.layer == Layer::Read && is_sure(other) && has_unit(other)
    };
    // Of two events with one verdict, the one that is by far the likeliest to tell of it.
    let shows_verdict = |other: &Candidate| {
        let truth = |candidate: &Candidate| matches!(candidate.value, CandidateValue::Truth(_));
        truth(best)
            && !best.computed
            && is_read_verdict(other)
            && !is_read_verdict(best)
            && other.signals.margin >= MIN_VERDICT_MARGIN
            && first_event(other) != first_event(best)
    };
    place(&|other| is_more_detailed(question, other, best))
        .or_else(|| place(&shows_verdict))
        .or_else(|| place(&in_words))
        .or_else(|| place(&|other| is_extract(other, best) && is_sure(other)))
        .or_else(|| place(&|other| is_extract(best, other) && !is_sure(best)))
}

/// Returns whether a direct answer agrees with an option.
pub(super) fn supports_option(question: &Question<'_>, candidate: &Candidate, option: &str) -> bool {
    let meant = stems_beyond(question, option);
    let truth = || match &candidate.value {
        CandidateValue::Truth(yes) => option.to_lowercase().starts_with(if *yes { "yes" } else { "no" }),
        _ => false,
    };
    let in_words = || !meant.is_empty() && meant.is_subset(&answer_stems(question, candidate));
    is_direct_answer(candidate) && (truth() || in_words())
}

/// Returns the stems of a candidate that do not occur in the question.
fn answer_stems(question: &Question<'_>, candidate: &Candidate) -> BTreeSet<String> {
    stems_beyond(question, &candidate.text)
}

fn stems_beyond(question: &Question<'_>, text: &str) -> BTreeSet<String> {
    let stems = |text: &str| -> BTreeSet<String> {
        words(text).filter(|word| !is_stop_word(word)).map(|word| stem(&word)).collect()
    };
    // The persons that a question offers can be its answer, although it names them.
    let mut asked = question.text.to_owned();
    for range in question.asked.alternatives.iter().filter(|_| question.ask() == AnswerKind::Person) {
        if asked.get(range.clone()).is_some() {
            asked.replace_range(range.clone(), &" ".repeat(range.len()));
        }
    }
    let asked = stems(&asked);
    stems(text).difference(&asked).cloned().collect()
}

/// Probability that at least one of several agreeing candidates is right. What a reader marks in the event of another
/// candidate is right or wrong together with it, and so are its verdicts on one question: they rest on the wording of
/// the question as much as on the events.
pub(super) fn confidence_of_agreeing<'a>(agreeing: impl Iterator<Item = &'a Candidate>) -> f32 {
    let mut independent: Vec<(&Candidate, f32)> = Vec::new();
    for candidate in agreeing {
        let depends_on = |other: &Candidate| {
            let read = candidate.layer == Layer::Read || other.layer == Layer::Read;
            let of_one_event = first_event(candidate).is_some() && first_event(candidate) == first_event(other);
            read && of_one_event || is_read_verdict(candidate) && is_read_verdict(other)
        };
        match independent.iter_mut().find(|(other, _)| depends_on(other)) {
            Some((_, confidence)) => *confidence = confidence.max(candidate.confidence),
            None => independent.push((candidate, candidate.confidence)),
        }
    }
    confidence_of_any(independent.into_iter().map(|(_, confidence)| confidence))
}

/// Returns whether a candidate is a reader's yes or no.
fn is_read_verdict(candidate: &Candidate) -> bool {
    candidate.layer == Layer::Read && matches!(candidate.value, CandidateValue::Truth(_))
}

fn first_event(candidate: &Candidate) -> Option<EventId> {
    candidate.evidence.first().map(super::pool::RetrievedEvent::id)
}

/// Probability that at least one of several independent answers is right.
fn confidence_of_any(confidences: impl Iterator<Item = f32>) -> f32 {
    1.0 - confidences.map(|confidence| 1.0 - confidence).product::<f32>()
}

/// Probability of an answer given another one that excludes it: both cannot be right.
pub(super) fn confidence_given_exclusion(confidence: f32, excluded: f32) -> f32 {
    let (own, other) = (confidence * (1.0 - excluded), excluded * (1.0 - confidence));
    let neither = (1.0 - confidence) * (1.0 - excluded);
    let all = own + other + neither;
    if all > 0.0 { own / all } else { 0.5 }
}

/// Name of a layer in the reason of an answer.
pub(super) fn layer_description(layer: Layer) -> &'static str {
    match layer {
        Layer::Episodes => "a single event",
        Layer::Facts => "a fact that was learnt",
        Layer::Procedures => "a procedure",
        Layer::Gists => "a summary",
        Layer::CrossModal => "an event at that time",
        Layer::Read => "the reading of a text",
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
        assert!(near(confidence_of_any([0.6].into_iter()), 0.6));
        assert!(near(confidence_of_any([0.6, 0.5].into_iter()), 0.8));
        assert!(near(confidence_of_any([0.6, 0.0].into_iter()), 0.6));
    }

    #[test]
    fn of_two_that_exclude_each_other_at_most_one_is_right() {
        assert!(near(confidence_given_exclusion(0.7, 0.0), 0.7));
        assert!(near(confidence_given_exclusion(0.5, 0.5), 1.0 / 3.0));
        for (one, other) in [(0.9, 0.2), (0.6, 0.6), (0.99, 0.98)] {
            let (first, second) = (confidence_given_exclusion(one, other), confidence_given_exclusion(other, one));
            assert!(first <= one && second <= other && first + second <= 1.0, "{one} {other}");
        }
        assert!(near(confidence_given_exclusion(1.0, 1.0), 0.5));
    }
}
