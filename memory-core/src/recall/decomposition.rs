//! Answers a question that compares by a question about each thing: "who is older, Mira or Leon?" by "how old is Mira?"
//! and "how old is Leon?" (self-ask: Press et al. 2022, section 3). Each runs through the whole chain.

use super::candidate::{Candidate, CandidateValue, Layer, Signals};
use super::pool::{EventPool, RetrievedEvent};
use super::quantities::{Quantity, base_units, quantities};
use super::stopwatch::Stopwatch;
use super::{Weighed, embed_question, fusion, gather, identification, parse, weigh};
use crate::language::english::letters::capitalised;
use crate::language::english::question::{Measure, Measuring, measuring_questions};
use crate::language::english::time::{Tense, whole_times_told};
use crate::{Query, QueryError, TimeSpan};

/// Confidence from which a measured value is compared.
const MIN_MEASURED_CONFIDENCE: f32 = 0.2;

/// The value of one thing, as it was measured.
struct Measured {
    value: f64,
    /// The value in words.
    text: String,
    confidence: f32,
    evidence: Vec<RetrievedEvent>,
}

/// Answers a comparison by the values of the things that are compared. `candidates` are what answers the question as a
/// whole.
pub(super) fn answer(
    pool: &EventPool<'_>,
    candidates: &[Candidate],
    stopwatch: &Stopwatch<'_>,
) -> Result<Option<Candidate>, QueryError> {
    let question = pool.question;
    if question.query.ablation.without_details {
        return Ok(None);
    }
    let Some(measuring) = measuring_questions(&question.asked, question.text, question.tense) else { return Ok(None) };
    // Two times are compared by what happened at each.
    let is_time = |name: &str| whole_times_told(name, &question.now, question.tense).is_some();
    if measuring.things.iter().any(|thing| is_time(&thing.name)) {
        return Ok(None);
    }
    // The order of the events themselves answers which of two came first.
    let names_thing = |candidate: &&Candidate| {
        let text = candidate.text.to_lowercase();
        measuring.things.iter().any(|thing| text.contains(&thing.name.to_lowercase()))
    };
    let ordered = candidates.iter().filter(|candidate| candidate.computed).any(|candidate| names_thing(&candidate));
    if ordered && measuring.measure == Measure::Moment && question.tense == Tense::Past {
        return Ok(None);
    }
    let mut measured = Vec::new();
    for thing in &measuring.things {
        stopwatch.elapsed_within_budget()?;
        let Some(value) = measure(pool, &thing.question, measuring.measure)? else { return Ok(None) };
        measured.push(value);
    }
    Ok(compare(pool, &measuring, measured))
}

/// Asks for the value of one thing.
fn measure(pool: &EventPool<'_>, text: &str, measure: Measure) -> Result<Option<Measured>, QueryError> {
    let asked = pool.question;
    let query = Query { question: text.to_owned(), options: Vec::new(), trace: false, ..asked.query.clone() };
    let reader = pool.reader;
    let question = parse(&query, reader, asked.now.clone(), asked.hard)?;
    let (mut degraded, mut trace) = (Vec::new(), Vec::new());
    let embeddings = embed_question(&question, reader, &mut degraded);
    let identified = identification::identify(reader, &question)?;
    let mut own = EventPool::new(reader, &question, embeddings.question, identified);
    let mut gathered = gather(&mut own, embeddings.cue.as_ref(), &mut trace)?;
    let Weighed { candidates, intent, .. } = weigh(&own, &mut gathered, &mut degraded, &mut trace)?;
    let found = fusion::fuse(candidates, question.ask(), intent).into_iter().find_map(|candidate| {
        let (value, text) = match measure {
            Measure::Moment => {
                let span = moment_of(&candidate, &question.now, question.tense)?;
                // What is yet to come is compared with nothing that is over.
                if asked.tense != Tense::Past && span.end < asked.now.timestamp().into() {
                    return None;
                }
                #[expect(clippy::cast_precision_loss, reason = "microseconds of a date fit in 53 bits")]
                let start = span.start.as_micros() as f64;
                (start, candidate.text.clone())
            }
            Measure::Number => (number_of(&candidate)?, candidate.text.clone()),
        };
        let Candidate { confidence, evidence, .. } = candidate;
        Some(Measured { value, text, confidence, evidence })
    });
    Ok(found.filter(|found| found.confidence >= MIN_MEASURED_CONFIDENCE))
}

/// Returns the moment that a candidate tells.
fn moment_of(candidate: &Candidate, now: &jiff::Zoned, tense: Tense) -> Option<TimeSpan> {
    match &candidate.value {
        CandidateValue::Times(spans) => spans.first().copied(),
        _ => whole_times_told(&candidate.text, now, tense)?.first().map(|time| time.span),
    }
}

/// Returns the number that a candidate tells, in the base unit of its measure.
fn number_of(candidate: &Candidate) -> Option<f64> {
    let told = match &candidate.value {
        CandidateValue::Number(value, unit) => {
            return Some(value * base_units(unit));
        }
        _ => quantities(&candidate.text),
    };
    let Quantity { value, unit, .. } = told.into_iter().next()?;
    Some(value * base_units(&unit))
}

/// Compares the values.
fn compare(pool: &EventPool<'_>, measuring: &Measuring, measured: Vec<Measured>) -> Option<Candidate> {
    let known = pool.question.content.known_share();
    let sure = measured.iter().map(|found| found.confidence).fold(1.0, f32::min);
    let names: Vec<&str> = measuring.things.iter().map(|thing| thing.name.as_str()).collect();
    let told = |at: usize| format!("{} {}", names[at], lower_first(&measured[at].text));
    let more = |a: usize, b: usize| (measured[a].value > measured[b].value) == measuring.most;
    let (text, value, order) = if measured.iter().all(|one| one.value.total_cmp(&measured[0].value).is_eq()) {
        let all: Vec<usize> = (0..measured.len()).collect();
        match measuring.verdict {
            true => (format!("No: both {}.", lower_first(&measured[0].text)), CandidateValue::Truth(false), all),
            false => (
                format!("The same for both: {}", lower_first(&measured[0].text)),
                CandidateValue::Text("the same".into()),
                all,
            ),
        }
    } else if measuring.verdict {
        let yes = more(0, 1);
        let verdict = if yes { "Yes" } else { "No" };
        (format!("{verdict}: {}, {}.", told(0), told(1)), CandidateValue::Truth(yes), vec![0, 1])
    } else {
        let mut order: Vec<usize> = (0..measured.len()).collect();
        order.sort_by(|a, b| {
            let ascending = measured[*a].value.total_cmp(&measured[*b].value);
            if measuring.most { ascending.reverse() } else { ascending }
        });
        let best = order[0];
        let others: Vec<String> = order[1..].iter().map(|at| told(*at)).collect();
        let text =
            format!("{}: {}, {}.", capitalised(names[best]), lower_first(&measured[best].text), others.join(", "));
        (text, CandidateValue::Text(names[best].to_owned()), order)
    };
    let mut evidence: Vec<RetrievedEvent> = Vec::new();
    for found in order.into_iter().filter_map(|at| measured[at].evidence.first()) {
        if evidence.iter().all(|known| known.id() != found.id()) {
            evidence.push(found.clone());
        }
    }
    Some(Candidate {
        layer: Layer::Episodes,
        text,
        value,
        // The answer is as sure as the least sure of the values.
        signals: Signals { coverage: sure, cosine: 0.5, margin: 1.0, fits: 1.0, thing: sure, known },
        evidence,
        confidence: 0.0,
        computed: true,
        reason: "each was asked for, and the answers compared".into(),
    })
}

/// Returns an answer as it stands within a sentence.
fn lower_first(text: &str) -> String {
    let text = text.trim_end_matches('.');
    let begins = ["On ", "At ", "In ", "Today", "Tomorrow", "Yesterday", "From ", "Until "];
    if begins.iter().any(|begin| text.starts_with(begin)) {
        let mut letters = text.chars();
        return letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect());
    }
    text.to_owned()
}
