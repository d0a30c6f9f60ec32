//! Decides whether there is an answer, and which one (HippoMM's adaptive reasoning Γ, deterministic).
//!
//! Candidates that agree support each other. The more detailed one is the answer, or the words of a quotation that
//! answer if the reader is sure of them, and it is wrong only if all of them are. Of candidates that differ, the better
//! supported one is the answer. A candidate that excludes it lowers its confidence, unless the answer is the latest
//! statement. If both are likely and the confidence then falls below one half, the memory contradicts itself, and there
//! is no answer.

use super::calibration;
use super::candidate::{Candidate, CandidateValue, Layer};
use super::extraction::ReadEvents;
use super::fusion::layer_weight;
use super::pool::merge;
use super::question::Question;
use super::reconciling::{
    CandidateRelation, candidate_relation, confidence_given_exclusion, confidence_of_agreeing, is_direct_answer,
    is_extract, layer_description, shown_instead,
};
use crate::language::english::question::Stage;
use crate::language::english::time::Tense;
use crate::{Intent, TraceStep};

/// Minimum confidence of two candidates that contradict each other, and of one in spite of the other.
const MIN_CONTRADICTED_CONFIDENCE: f32 = 0.5;

/// The chosen answer, or the reason why there is none.
pub(super) enum AnswerDecision {
    Answered(Candidate),
    None { confidence: f32, reason: String },
}

/// Chooses the answer among candidates in the order of their weight. There is none if it is not likely enough: the
/// candidate, or with a reader that the memory answers the question at all.
pub(super) fn decide(
    question: &Question<'_>,
    candidates: Vec<Candidate>,
    intent: Intent,
    read: Option<&ReadEvents>,
    trace: &mut Vec<TraceStep>,
) -> AnswerDecision {
    if asks_nothing_known(question) {
        return decline_as_insufficient(0.0, "this is no question, and memory knows no word of it".into(), trace);
    }
    let best = match question.query.ablation.without_reconciling {
        true => most_confident(candidates, trace),
        false => compare_candidates(question, candidates, intent, trace),
    };
    match best {
        AnswerDecision::Answered(best) => answer_if_likely(question, best, read, trace),
        none => none,
    }
}

fn compare_candidates(
    question: &Question<'_>,
    mut candidates: Vec<Candidate>,
    intent: Intent,
    trace: &mut Vec<TraceStep>,
) -> AnswerDecision {
    // A direct answer of another layer goes before a quotation, which may support it.
    let tells = |candidate: &Candidate| is_direct_answer(candidate) && candidate.confidence >= calibration::ANSWERED;
    let quotations = match candidates.iter().any(tells) {
        true => candidates.extract_if(.., |candidate| !is_direct_answer(candidate)).collect(),
        false => Vec::new(),
    };
    // If two layers disagree about a state, the one with the latest statement is right.
    let mut newest_holds = false;
    if let [first, second, ..] = candidates.as_slice()
        && first.layer != second.layer
        && is_state(first)
        && is_state(second)
        && first.value != second.value
    {
        let newer = newest_evidence_time(second) > newest_evidence_time(first)
            && second.confidence >= calibration::ANSWERED
            && second.signals.thing >= first.signals.thing - 0.2;
        newest_holds = newer || newest_evidence_time(first) > newest_evidence_time(second);
        if newer {
            candidates.swap(0, 1);
        }
    }
    if candidates.is_empty() {
        return decline_as_insufficient(0.0, "nothing in memory speaks of it".into(), trace);
    }
    let chosen = if newest_holds { 0 } else { best_supported(question, &candidates, &quotations, intent) };
    reconcile(question, candidates, chosen, quotations, newest_holds, trace)
}

/// Returns the first of the candidates that most others support.
fn best_supported(
    question: &Question<'_>,
    candidates: &[Candidate],
    quotations: &[Candidate],
    intent: Intent,
) -> usize {
    let mut best = (0, f32::MIN);
    for (place, candidate) in candidates.iter().enumerate() {
        let agreeing = supporting_candidates(question, candidates, quotations, place);
        let support =
            layer_weight(question.ask(), intent, candidate) * confidence_of_agreeing(agreeing.chain([candidate]));
        if support > best.1 + f32::EPSILON {
            best = (place, support);
        }
    }
    best.0
}

/// Returns the other candidates that agree with one.
fn supporting_candidates<'a>(
    question: &'a Question<'a>,
    candidates: &'a [Candidate],
    quotations: &'a [Candidate],
    place: usize,
) -> impl Iterator<Item = &'a Candidate> {
    let others = candidates.iter().enumerate().filter(move |(other, _)| *other != place).map(|(_, other)| other);
    others
        .chain(quotations)
        .filter(move |other| candidate_relation(question, &candidates[place], other) == CandidateRelation::Agree)
}

/// Returns the chosen candidate with its confidence adjusted by the other candidates, or the reason why there is no
/// answer.
fn reconcile(
    question: &Question<'_>,
    mut candidates: Vec<Candidate>,
    chosen: usize,
    quotations: Vec<Candidate>,
    newest_holds: bool,
    trace: &mut Vec<TraceStep>,
) -> AnswerDecision {
    let first = candidates.remove(chosen);
    let (mut agreeing, mut others): (Vec<Candidate>, Vec<Candidate>) = (Vec::new(), Vec::new());
    for other in candidates.into_iter().chain(quotations) {
        match candidate_relation(question, &first, &other) {
            CandidateRelation::Agree => agreeing.push(other),
            CandidateRelation::Differ | CandidateRelation::Exclude => others.push(other),
            CandidateRelation::Unrelated => {}
        }
    }
    let mut best = first;
    if !agreeing.is_empty() {
        if let Some(place) = shown_instead(question, &best, &agreeing) {
            std::mem::swap(&mut best, &mut agreeing[place]);
            // The words are right if the sentence is the right one and they are the right ones of it.
            if is_extract(&best, &agreeing[place]) {
                best.confidence = best.confidence.max(agreeing[place].confidence * best.signals.fits);
            }
        }
        let before = best.confidence;
        // That a sentence holds the answer does not say that these of its words are it.
        let supporting = agreeing.iter().filter(|other| !is_extract(&best, other));
        best.confidence = confidence_of_agreeing(supporting.chain([&best]));
        let with = describe_candidates(&agreeing);
        add_trace_step(
            trace,
            "agreement",
            format!("{:?} and {with}: {before:.2} to {:.2}", best.text, best.confidence),
        );
        best.reason = format!("{}; {} says the same", best.reason, layer_description(agreeing[0].layer));
        best.evidence = merge(best.evidence, agreeing.into_iter().flat_map(|one| one.evidence).collect());
    }
    for other in others {
        let reason = match candidate_relation(question, &best, &other) {
            CandidateRelation::Exclude if newest_holds || is_newer_state(question, &best, &other) => {
                add_trace_step(trace, "disagreement", format!("{:?} was told after {:?}", best.text, other.text));
                "what was told before is no longer so".to_owned()
            }
            CandidateRelation::Exclude => {
                let confidence = confidence_given_exclusion(best.confidence, other.confidence);
                let both_likely = best.confidence.min(other.confidence) >= MIN_CONTRADICTED_CONFIDENCE;
                let contradiction = both_likely && confidence < MIN_CONTRADICTED_CONFIDENCE;
                let case = if contradiction { "contradiction" } else { "disagreement" };
                let odds = format!("{:.2} to {confidence:.2}", best.confidence);
                add_trace_step(
                    trace,
                    case,
                    format!("{:?} and {}: {odds}", best.text, describe_candidates(std::slice::from_ref(&other))),
                );
                best.confidence = confidence;
                if contradiction {
                    let reason = format!("memory contradicts itself: {:?} and {:?}", best.text, other.text);
                    return AnswerDecision::None { confidence, reason };
                }
                format!("{} says otherwise and is less likely", layer_description(other.layer))
            }
            _ => {
                add_trace_step(
                    trace,
                    "disagreement",
                    format!("{:?} is better supported than {:?}", best.text, other.text),
                );
                // The reader always marks something. That other words are likelier says nothing of a layer's answer.
                if other.layer == Layer::Read {
                    continue;
                }
                format!("better supported than what {} says", layer_description(other.layer))
            }
        };
        best.reason = format!("{}; {reason}", best.reason);
    }
    AnswerDecision::Answered(best)
}

fn describe_candidates(candidates: &[Candidate]) -> String {
    let one = |candidate: &Candidate| {
        format!("{:?} ({} {:.2})", candidate.text, candidate.layer.name(), candidate.confidence)
    };
    candidates.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn add_trace_step(trace: &mut Vec<TraceStep>, case: &str, detail: String) {
    trace.push(super::trace::trace_step(case, detail));
}

/// Chooses the candidate of the greatest confidence and compares it with no other.
fn most_confident(candidates: Vec<Candidate>, trace: &mut Vec<TraceStep>) -> AnswerDecision {
    let best =
        candidates.into_iter().reduce(|best, other| if other.confidence > best.confidence { other } else { best });
    match best {
        None => decline_as_insufficient(0.0, "nothing in memory speaks of it".into(), trace),
        Some(best) => AnswerDecision::Answered(best),
    }
}

/// Declines the best candidate if it is too unlikely, or with a reader if the memory is unlikely to answer the question.
fn answer_if_likely(
    question: &Question<'_>,
    best: Candidate,
    read: Option<&ReadEvents>,
    trace: &mut Vec<TraceStep>,
) -> AnswerDecision {
    let answerable = read.map(|read| {
        let support = read.support(question, &best);
        let answerable = calibration::answerable(question, &best, support);
        // A reader knows neither the moment ("when the bell rang") nor the procedures. What is answered rightly is
        // answerable.
        let unread = question.asked.cue.is_some() || best.layer == Layer::Procedures;
        if unread { answerable.max(best.confidence) } else { answerable }
    });
    if let Some(reason) = reason_to_decline(best.confidence, answerable) {
        return decline_as_insufficient(best.confidence, reason, trace);
    }
    if let Some(answerable) = answerable {
        add_trace_step(trace, "answerable", format!("{answerable:.2}"));
    }
    // The question asks for a name, a place, a number or a time. A sentence without one is no answer.
    if best.signals.fits <= 0.0 {
        return decline_as_insufficient(0.0, "the nearest memory does not tell what was asked for".into(), trace);
    }
    AnswerDecision::Answered(best)
}

/// Says why an answer of this confidence is not given, if it is not. `answerable` is the probability that the memory
/// answers the question, which only a reader tells.
fn reason_to_decline(confidence: f32, answerable: Option<f32>) -> Option<String> {
    match answerable {
        None if confidence < calibration::ANSWERED => {
            Some(format!("the nearest memory is too unlike the question ({confidence:.2})"))
        }
        Some(answerable) if answerable < calibration::ANSWERABLE => {
            Some(format!("memory probably does not tell it ({answerable:.2})"))
        }
        Some(_) if confidence < calibration::MIN_CONFIDENCE => {
            Some(format!("no answer is likely enough ({confidence:.2})"))
        }
        _ => None,
    }
}

fn decline_as_insufficient(confidence: f32, reason: String, trace: &mut Vec<TraceStep>) -> AnswerDecision {
    add_trace_step(trace, "insufficiency", reason.clone());
    AnswerDecision::None { confidence, reason }
}

/// Returns whether a text asks nothing and names nothing that memory knows: "Hello!"
fn asks_nothing_known(question: &Question<'_>) -> bool {
    let clause = &question.asked.clause;
    let asks = clause.asking.is_some() || clause.verb.is_some() || question.asked.report.is_some();
    !asks && !question.content.is_empty() && question.content.known_share() <= 0.0
}

/// Returns whether a question asks how something is now, and one verdict was told after the other.
fn is_newer_state(question: &Question<'_>, best: &Candidate, other: &Candidate) -> bool {
    let verdicts = matches!((&best.value, &other.value), (CandidateValue::Truth(_), CandidateValue::Truth(_)));
    let verb = question.asked.clause.verb.as_ref();
    let lasts = verb.is_some_and(|verb| verb.auxiliary_only || verb.progressive)
        || question.stage == Some(Stage::Last)
        || question.asked.words.iter().any(|word| word.has_text("still"));
    let now = question.tense == Tense::Present && !question.has_time_bound();
    verdicts && lasts && now && newest_evidence_time(best) > newest_evidence_time(other)
}

/// Returns whether a candidate states how something is, so that the newest statement holds.
fn is_state(candidate: &Candidate) -> bool {
    matches!(candidate.layer, Layer::Facts | Layer::Episodes) && matches!(candidate.value, CandidateValue::Truth(_))
}

fn newest_evidence_time(candidate: &Candidate) -> Option<crate::Timestamp> {
    candidate.evidence.first().map(|found| found.span().start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_a_reader_an_answer_needs_a_likely_memory_and_a_least_confidence() {
        let declined = |confidence, answerable| reason_to_decline(confidence, answerable).unwrap_or_default();
        assert!(declined(0.9, Some(calibration::ANSWERABLE - 0.01)).contains("does not tell it"));
        assert!(declined(calibration::MIN_CONFIDENCE - 0.01, Some(0.99)).contains("no answer is likely enough"));
        assert_eq!(reason_to_decline(calibration::MIN_CONFIDENCE + 0.01, Some(0.99)), None);
        assert!(declined(calibration::ANSWERED - 0.01, None).contains("too unlike the question"));
        assert_eq!(reason_to_decline(calibration::ANSWERED + 0.01, None), None);
    }
}
