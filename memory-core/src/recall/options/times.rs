//! Weighs options that are times.

use super::{MIN_SUPPORT, OptionWeights};
use crate::language::english::question::AnswerKind;
use crate::language::english::syntax::parse;
use crate::language::english::time::{Tense, WholeTime};
use crate::recall::answerers::counts::counted_events;
use crate::recall::answerers::order::rests;
use crate::recall::answerers::rank::rank;
use crate::recall::answerers::times::occurrences;
use crate::recall::candidate::{Candidate, CandidateValue};
use crate::recall::clause_selection::lacks_asked_thing;
use crate::recall::content::Content;
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::quantities::{base_units, quantities};
use crate::recall::question::{Question, intersection};
use crate::{ReadError, TimeSpan};

/// Tolerance for the start of a rest before the last movement of the thing.
const REST_TOLERANCE: std::time::Duration = std::time::Duration::from_secs(2);
/// Maximum number of candidates that are compared with each option.
pub(super) const MAX_TIME_CANDIDATES: usize = 24;

/// Weighs options that are times by the times of matching events.
pub(super) fn weigh_by_time(
    pool: &EventPool<'_>,
    pooled: &[RetrievedEvent],
    candidates: &[Candidate],
    options: &[Vec<WholeTime>],
) -> Result<Option<OptionWeights>, ReadError> {
    let question = pool.question;
    // "From when does it stay as it is for more than 100 seconds?" asks for a moment after which it rests so long.
    if let Some((rests, least)) = asked_rests(pool, pooled)? {
        let holds = |at: TimeSpan| {
            rests.iter().any(|rest| {
                rest.start <= at.end.saturating_add(REST_TOLERANCE)
                    && rest.end.since(at.start).as_secs_f64() >= least - 1.0
                    && at.start < rest.end
            })
        };
        let support = options
            .iter()
            .map(|times| times.first().map_or(0.0, |time| if holds(time.span) { 1.0 } else { 0.0 }))
            .collect();
        let evidence = counted_events(pool, pooled)?;
        return Ok(Some(OptionWeights { support, evidence, speaks: Vec::new(), by: "rests" }));
    }
    // Several quoted things, and the same number of times in every option.
    let quotes = &question.asked.quotes;
    if quotes.len() > 1 && options.iter().all(|times| times.len() == quotes.len()) {
        let mut support = vec![0.0; options.len()];
        let mut evidence: Vec<RetrievedEvent> = Vec::new();
        for (place, quote) in quotes.iter().enumerate() {
            let found = nearly_verbatim_events(pool, question.part(quote))?;
            for (option, times) in options.iter().enumerate() {
                let best = found
                    .iter()
                    .map(|found| intersection_over_union(&[times[place].span], &[found.span()]))
                    .fold(0.0, f32::max);
                #[expect(clippy::cast_precision_loss, reason = "a few quotes")]
                let share = best / quotes.len() as f32;
                support[option] += share;
            }
            evidence.extend(found);
        }
        return Ok(Some(OptionWeights { support, evidence, speaks: Vec::new(), by: "times of each" }));
    }
    let told = candidates.iter().find_map(|candidate| match &candidate.value {
        CandidateValue::Times(spans) => Some((spans.clone(), candidate.evidence.clone())),
        _ => None,
    });
    let (spans, evidence) = match told {
        Some((spans, evidence)) if question.ask() == AnswerKind::Time => (spans, evidence),
        _ => {
            let mut found = occurrences(pool, pooled)?;
            found.retain(|found| !lacks_asked_thing(question, &found.reading));
            (found.iter().map(RetrievedEvent::span).collect(), found)
        }
    };
    if spans.is_empty() {
        return Ok(None);
    }
    let mut support: Vec<f32> = options
        .iter()
        .map(|times| {
            let own: Vec<TimeSpan> = times.iter().map(|time| time.span).collect();
            let dates = times.iter().any(|time| time.has_date);
            let clock = times.iter().any(|time| time.has_clock);
            let exact = dates && clock && own[0].end > own[0].start && own[0].end.since(own[0].start).as_secs() < 3_600;
            if own.len() == 1 && !exact {
                let told = spans.iter().map(|span| time_proximity(own[0], *span)).fold(0.0, f32::max);
                return told.max(best_time_proximity(question, pooled, own[0]));
            }
            intersection_over_union(&own, &spans)
        })
        .collect();
    // The best event is at none of these times. Another matching event may be.
    if support.iter().all(|support| *support < MIN_SUPPORT) {
        for (support, times) in support.iter_mut().zip(options) {
            *support = times.iter().map(|time| best_time_proximity(question, pooled, time.span)).fold(0.0, f32::max);
        }
    }
    Ok(Some(OptionWeights { support, evidence, speaks: Vec::new(), by: "times" }))
}

/// Returns the best match of an option's time with a matching event: the event lies near it or names it.
fn best_time_proximity(question: &Question<'_>, pooled: &[RetrievedEvent], option: TimeSpan) -> f32 {
    let top = pooled.iter().map(|found| rank(question, found)).fold(0.0, f32::max).max(0.2);
    let values = pooled.iter().take(MAX_TIME_CANDIDATES).map(|found| {
        let told = found.reading.times.iter().map(|time| time_proximity(option, time.span)).fold(0.0, f32::max);
        let happened = time_proximity(option, found.span());
        let at = if question.tense == Tense::Future { told } else { happened.max(0.8 * told) };
        (rank(question, found) / top).clamp(0.0, 1.0).powi(2) * at * 0.9
    });
    values.fold(0.0, f32::max)
}

/// Returns the rests of a thing that are longer than the question requires, if the question asks for rests.
fn asked_rests(pool: &EventPool<'_>, pooled: &[RetrievedEvent]) -> Result<Option<(Vec<TimeSpan>, f64)>, ReadError> {
    let question = pool.question;
    let stays = question
        .asked
        .words
        .iter()
        .any(|word| matches!(word.lemma.as_str(), "remain" | "stay" | "rest" | "lie" | "stand"))
        && question.asked.words.iter().any(|word| {
            matches!(
                word.lemma.as_str(),
                "static" | "still" | "unmoved" | "untouched" | "stationary" | "undisturbed" | "motionless"
            )
        });
    if !stays {
        return Ok(None);
    }
    let least = quantities(question.text).into_iter().find_map(|quantity| match quantity.unit.as_str() {
        unit @ ("second" | "s" | "minute" | "min" | "hour" | "h") => Some(quantity.value * base_units(unit)),
        _ => None,
    });
    let Some(least) = least else { return Ok(None) };
    let events = counted_events(pool, pooled)?;
    let mut found = rests(&events, question.bound());
    found.retain(|rest| rest.end.since(rest.start).as_secs_f64() >= least - 1.0);
    Ok((!found.is_empty()).then_some((found, least)))
}

/// Returns the events that contain a text almost word for word, the best ones only.
fn nearly_verbatim_events(pool: &EventPool<'_>, text: &str) -> Result<Vec<RetrievedEvent>, ReadError> {
    let question = pool.question;
    let (words, _) = parse(text, &[]);
    let whole = 0..text.len();
    let content = Content::from_ranges(&words, std::slice::from_ref(&whole), 1.0, pool.reader.search());
    let mut found = pool.search(text, None, &content, question.bound(), None)?;
    let rank = |found: &RetrievedEvent| found.coverage.match_score();
    let best = found.iter().map(rank).fold(0.0, f32::max);
    found.retain(|found| rank(found) >= best - 0.03);
    Ok(found)
}

/// Returns the intersection of two lists of spans over their union.
fn intersection_over_union(a: &[TimeSpan], b: &[TimeSpan]) -> f32 {
    let seconds = |span: TimeSpan| span.end.since(span.start).as_secs_f32().max(0.5);
    let mut common = 0.0;
    for one in a {
        for other in b {
            if let Some(both) = intersection(*one, *other) {
                common += both.end.since(both.start).as_secs_f32().max(0.25);
            }
        }
    }
    let all =
        a.iter().map(|span| seconds(*span)).sum::<f32>() + b.iter().map(|span| seconds(*span)).sum::<f32>() - common;
    (common / all.max(0.5)).clamp(0.0, 1.0)
}

/// Returns the proximity of the start of an event to an option's time: 1 inside, 0 far away.
fn time_proximity(option: TimeSpan, span: TimeSpan) -> f32 {
    if option.contains(span.start)
        || option.overlaps(span) && option.end > option.start && span.end.since(span.start).as_secs() < 3_600
    {
        return 1.0;
    }
    let gap = if span.start > option.end { span.start.since(option.end) } else { option.start.since(span.start) };
    1.0 / (1.0 + gap.as_secs_f32() / 5.0)
}
