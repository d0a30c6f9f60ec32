//! Whether there is an answer, and which (HippoMM's adaptive reasoning Γ, deterministic).
//!
//! Candidates that say the same support each other: the one that says more is told, and it is wrong only if all of them are. Of
//! candidates that say different things the better supported one is told. What excludes it lowers its probability, unless what
//! was told last holds; where it is then no longer likelier than not, the memory contradicts itself, and there is no answer.

use super::calibration;
use super::candidate::{Candidate, Layer, Value};
use super::fusion::weight;
use super::pool::merged;
use super::question::Question;
use super::reconciling::{Relation, answers, beside, is_more_detailed, relation, source, together};
use crate::{Intent, TraceStep};

/// Of what excludes each other only something likelier than not is told.
const LIKELIER_THAN_NOT: f32 = 0.5;

/// The answer and why, or why there is none.
pub(super) enum Decision {
    Answered(Candidate),
    None { confidence: f32, reason: String },
}

/// Decides among candidates in order of their weight.
pub(super) fn decide(
    question: &Question<'_>,
    candidates: Vec<Candidate>,
    intent: Intent,
    trace: &mut Vec<TraceStep>,
) -> Decision {
    match question.query.ablation.without_reconciling {
        true => likeliest(candidates, trace),
        false => compared(question, candidates, intent, trace),
    }
}

fn compared(
    question: &Question<'_>,
    mut candidates: Vec<Candidate>,
    intent: Intent,
    trace: &mut Vec<TraceStep>,
) -> Decision {
    // A quotation is no answer where another layer has the very thing that was asked for. It may bear it out.
    let tells = |candidate: &Candidate| answers(candidate) && candidate.confidence >= calibration::ANSWERED;
    let quotations = match candidates.iter().any(tells) {
        true => candidates.extract_if(.., |candidate| !answers(candidate)).collect(),
        false => Vec::new(),
    };
    // Of two layers that disagree about how something is, the one that knows what was told last is right.
    let mut newest_holds = false;
    if let [first, second, ..] = candidates.as_slice()
        && first.layer != second.layer
        && is_state(first)
        && is_state(second)
        && first.value != second.value
    {
        let newer = newest(second) > newest(first)
            && second.confidence >= calibration::ANSWERED
            && second.signals.thing >= first.signals.thing - 0.2;
        newest_holds = newer || newest(first) > newest(second);
        if newer {
            candidates.swap(0, 1);
        }
    }
    if candidates.is_empty() {
        return insufficient(0.0, "nothing in memory speaks of it".into(), trace);
    }
    let chosen = if newest_holds { 0 } else { best_supported(question, &candidates, &quotations, intent) };
    let best = match reconciled(question, candidates, chosen, quotations, newest_holds, trace) {
        Decision::Answered(best) => best,
        none => return none,
    };
    // A name, a place, a number or a time was asked for, and a sentence without one is none.
    if best.signals.fits <= 0.0 && best.confidence >= calibration::ANSWERED {
        return insufficient(0.0, "the nearest memory does not tell what was asked for".into(), trace);
    }
    above_the_bar(best, trace)
}

/// The first of the candidates that the others support most.
fn best_supported(
    question: &Question<'_>,
    candidates: &[Candidate],
    quotations: &[Candidate],
    intent: Intent,
) -> usize {
    let mut best = (0, f32::MIN);
    for (place, candidate) in candidates.iter().enumerate() {
        let agreeing = supporters(question, candidates, quotations, place).map(|other| other.confidence);
        let support = weight(intent, candidate.layer) * together(agreeing.chain([candidate.confidence]));
        if support > best.1 + f32::EPSILON {
            best = (place, support);
        }
    }
    best.0
}

/// The other candidates that agree with one.
fn supporters<'a>(
    question: &'a Question<'a>,
    candidates: &'a [Candidate],
    quotations: &'a [Candidate],
    place: usize,
) -> impl Iterator<Item = &'a Candidate> {
    let others = candidates.iter().enumerate().filter(move |(other, _)| *other != place).map(|(_, other)| other);
    others.chain(quotations).filter(move |other| relation(question, &candidates[place], other) == Relation::Agree)
}

/// The chosen candidate with what the others make of it, or why it is none.
fn reconciled(
    question: &Question<'_>,
    mut candidates: Vec<Candidate>,
    chosen: usize,
    quotations: Vec<Candidate>,
    newest_holds: bool,
    trace: &mut Vec<TraceStep>,
) -> Decision {
    let first = candidates.remove(chosen);
    let (mut agreeing, mut others): (Vec<Candidate>, Vec<Candidate>) = (Vec::new(), Vec::new());
    for other in candidates.into_iter().chain(quotations) {
        match relation(question, &first, &other) {
            Relation::Agree => agreeing.push(other),
            Relation::Differ | Relation::Exclude => others.push(other),
            Relation::Unrelated => {}
        }
    }
    let mut best = first;
    if !agreeing.is_empty() {
        let confidence = together(agreeing.iter().chain([&best]).map(|one| one.confidence));
        let detailed = agreeing.iter().position(|other| is_more_detailed(question, other, &best));
        if let Some(place) = detailed {
            std::mem::swap(&mut best, &mut agreeing[place]);
        }
        let with = told(&agreeing);
        note(trace, "agreement", format!("{:?} and {with}: {:.2} to {confidence:.2}", best.text, best.confidence));
        best.reason = format!("{}; {} says the same", best.reason, source(agreeing[0].layer));
        best.confidence = confidence;
        best.evidence = merged(best.evidence, agreeing.into_iter().flat_map(|one| one.evidence).collect());
    }
    for other in others {
        let reason = match relation(question, &best, &other) {
            Relation::Exclude if newest_holds => {
                note(trace, "disagreement", format!("{:?} was told after {:?}", best.text, other.text));
                "what was told before is no longer so".to_owned()
            }
            Relation::Exclude => {
                let confidence = beside(best.confidence, other.confidence);
                let case = if confidence < LIKELIER_THAN_NOT { "contradiction" } else { "disagreement" };
                let odds = format!("{:.2} to {confidence:.2}", best.confidence);
                note(trace, case, format!("{:?} and {}: {odds}", best.text, told(std::slice::from_ref(&other))));
                best.confidence = confidence;
                if confidence < LIKELIER_THAN_NOT {
                    let reason = format!("memory contradicts itself: {:?} and {:?}", best.text, other.text);
                    return Decision::None { confidence, reason };
                }
                format!("{} says otherwise and is less likely", source(other.layer))
            }
            _ => {
                note(trace, "disagreement", format!("{:?} is better supported than {:?}", best.text, other.text));
                format!("better supported than what {} says", source(other.layer))
            }
        };
        best.reason = format!("{}; {reason}", best.reason);
    }
    Decision::Answered(best)
}

fn told(candidates: &[Candidate]) -> String {
    let one = |candidate: &Candidate| {
        format!("{:?} ({} {:.2})", candidate.text, candidate.layer.name(), candidate.confidence)
    };
    candidates.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn note(trace: &mut Vec<TraceStep>, case: &str, detail: String) {
    trace.push(super::gather::step(case, detail));
}

/// The candidate of the greatest probability, compared with nothing.
fn likeliest(candidates: Vec<Candidate>, trace: &mut Vec<TraceStep>) -> Decision {
    let best =
        candidates.into_iter().reduce(|best, other| if other.confidence > best.confidence { other } else { best });
    match best {
        None => insufficient(0.0, "nothing in memory speaks of it".into(), trace),
        Some(best) => above_the_bar(best, trace),
    }
}

fn above_the_bar(best: Candidate, trace: &mut Vec<TraceStep>) -> Decision {
    if best.confidence < calibration::ANSWERED {
        let reason = format!("the nearest memory is too unlike the question ({:.2})", best.confidence);
        return insufficient(best.confidence, reason, trace);
    }
    Decision::Answered(best)
}

fn insufficient(confidence: f32, reason: String, trace: &mut Vec<TraceStep>) -> Decision {
    note(trace, "insufficiency", reason.clone());
    Decision::None { confidence, reason }
}

/// Whether a candidate says how something is, so that the newest holds.
fn is_state(candidate: &Candidate) -> bool {
    matches!(candidate.layer, Layer::Facts | Layer::Episodes) && matches!(candidate.value, Value::Truth(_))
}

fn newest(candidate: &Candidate) -> Option<crate::Timestamp> {
    candidate.evidence.first().map(|found| found.span().start)
}
