//! Durations, told or observed.

use std::time::Duration;

use super::{GOOD_COVERAGE, amount_signals};
use crate::language::english::letters::capitalised;
use crate::language::english::lexicon::{self, PartOfSpeech};
use crate::language::english::tag::{Tag, lemma};
use crate::language::english::time::{TimeRelation, ToldTime, say_length, say_period};
use crate::recall::answerers::counts::counted_events;
use crate::recall::candidate::{Candidate, CandidateValue, Layer};
use crate::recall::pool::{EventPool, RetrievedEvent, merge};
use crate::recall::question::Question;
use crate::recall::reading::ParsedEvent;
use crate::{Kind, ReadError};

/// Minimum coverage of the question by an event that states the duration.
pub(super) const MIN_DURATION_COVERAGE: f32 = 0.5;

/// Coverage relative to the best event from which another event may state the duration.
pub(super) const DURATION_COVERAGE_RATIO: f32 = 0.75;

/// Answers with a told duration: "for three years", "since 2016".
pub(super) fn told_duration(question: &Question<'_>, pooled: &[RetrievedEvent]) -> Option<Candidate> {
    let mut told: Vec<&RetrievedEvent> = pooled
        .iter()
        .filter(|found| found.reading.event.kind == Kind::Text && !found.reading.only_asks())
        .filter(|found| found.coverage.of_content >= MIN_DURATION_COVERAGE)
        .collect();
    told.sort_by(|a, b| b.fitness().total_cmp(&a.fitness()).then(a.id().cmp(&b.id())));
    let top = told.first()?.fitness();
    let (found, text) =
        told.into_iter().filter(|found| found.fitness() >= DURATION_COVERAGE_RATIO * top).find_map(|found| {
            let since = |time: &ToldTime| {
                (time.relation == TimeRelation::Since)
                    .then(|| format!("since {}", without_preposition(&say_period(time.span, &question.now))))
            };
            let text = duration_in(&found.reading).or_else(|| found.reading.times.iter().find_map(since))?;
            Some((found, text))
        })?;
    Some(Candidate {
        layer: Layer::Episodes,
        text: capitalised(&text),
        value: CandidateValue::Text(text),
        signals: amount_signals(question, found, pooled),
        evidence: vec![found.clone()],
        confidence: 0.0,
        computed: false,
        reason: "as long as was told of it".into(),
    })
}

/// Returns the first duration in a text. Skips how long ago and how often.
pub(super) fn duration_in(reading: &ParsedEvent) -> Option<String> {
    let text = &reading.event.text;
    let beside = |words: &str, from_end: bool| {
        let mut words = words.split_whitespace();
        let word = if from_end { words.next_back() } else { words.next() };
        word.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()).unwrap_or_default()
    };
    reading
        .quantities()
        .into_iter()
        .filter(|quantity| {
            let unit = lemma(&quantity.unit, Tag::Noun);
            lexicon::is_a_as(&unit, "time_unit", PartOfSpeech::Noun).is_some()
        })
        .filter(|quantity| !matches!(beside(&text[quantity.range.end..], false).as_str(), "ago" | "later" | "old"))
        .find(|quantity| !matches!(beside(&text[..quantity.range.start], true).as_str(), "every" | "in" | "within"))
        .map(|quantity| text[quantity.range].to_owned())
}

/// Returns a time without its preposition.
pub(super) fn without_preposition(time: &str) -> &str {
    time.strip_prefix("in ").or_else(|| time.strip_prefix("on ")).unwrap_or(time)
}

/// Answers how long something lasted: a told duration, or the span of the event.
pub(in crate::recall::answerers) fn answer_duration(
    pool: &EventPool<'_>,
    pooled: &[RetrievedEvent],
) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    if let Some(told) = told_duration(question, pooled) {
        return Ok(Some(told));
    }
    if let Some(lasted) = super::super::state_durations::answer(pool, pooled)? {
        return Ok(Some(lasted));
    }
    // Others may report a person's deed: good matches count, whoever the speaker is.
    let suits = pooled.iter().filter(|found| found.coverage.of_content >= GOOD_COVERAGE).cloned();
    let events = merge(counted_events(pool, pooled)?, suits.collect());
    // The length of a sentence is not the duration of its topic.
    let is_talk = question
        .asked
        .clause
        .verb
        .as_ref()
        .is_some_and(|verb| lexicon::is_a_as(&verb.lemma, "talk", PartOfSpeech::Verb).is_some());
    let lasting: Vec<&RetrievedEvent> = events
        .iter()
        .filter(|found| found.span().end > found.span().start && (is_talk || found.reading.event.kind != Kind::Text))
        .collect();
    let Some(found) =
        lasting.iter().max_by(|a, b| a.fitness().total_cmp(&b.fitness()).then(a.span().start.cmp(&b.span().start)))
    else {
        return Ok(None);
    };
    let total: Duration = found.span().end.since(found.span().start);
    Ok(Some(Candidate {
        layer: Layer::Episodes,
        text: say_length(total),
        value: CandidateValue::Number(total.as_secs_f64(), "s".into()),
        signals: amount_signals(question, found, pooled),
        evidence: vec![(**found).clone()],
        confidence: 0.0,
        computed: false,
        reason: "from its begin to its end".into(),
    }))
}
