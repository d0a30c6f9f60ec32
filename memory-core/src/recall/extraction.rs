//! Answers that a trained reader marks in the texts that were found (`ports::AnswerExtractor`).
//!
//! The rules of the answerers know what they were written for. The reader has learned from questions in everyday words
//! which sentence answers one, and which of its words. It reads the most relevant events, each with what was said
//! right before it. What it finds is a candidate like any other, and it tells how far the other candidates' events
//! answer the question.

mod lists;
mod recurrence;
mod signs;
mod unsuitable;
mod words;

use self::recurrence::days_of_recurrence;
use self::signs::PassageSigns;

use std::time::Duration;

use super::answerers::ongoing;
use super::candidate::{Candidate, CandidateValue, Layer, Signals};
use super::denial::{asks_of_deed_done, only_plans};
use super::other_people::PeopleAskedAbout;
use super::pool::{EventPool, RetrievedEvent};
use super::question::Question;
use super::reconciling::{CandidateRelation, candidate_relation, is_direct_answer, quotes_event};
use super::retrieval::RetrievedEvents;
use crate::index::SearchQuery;
use crate::language::english::question::AnswerKind;
use crate::language::english::time::{Tense, TimeRelation, ToldTime};
use crate::ports::{AnswerExtractor, Extraction, Passage};
use crate::query::Effort;
use crate::{Event, EventId, Kind, ReadError, TimeSpan, Timestamp};

/// Least time before and behind a time in question that still belongs to it.
const MIN_TIME_MARGIN: Duration = Duration::from_secs(1_800);
/// Maximum number of the most relevant events that are read.
const MAX_FOUND_PASSAGES: usize = 24;
/// Maximum number of events of other candidates that are read as well.
const MAX_CANDIDATE_PASSAGES: usize = 4;
/// Time within which the event before a passage belongs to it.
const BEFORE_WINDOW: Duration = Duration::from_secs(600);
/// Minimum time limit of a question that is read. One with less is answered by the rules rather than too late.
const MIN_BUDGET: Duration = Duration::from_millis(1_000);
/// Maximum number of candidates that reading proposes.
const MAX_PROPOSED: usize = 2;
/// Maximum number of the most probable events whose marked words a candidate is compared with, besides its own event.
const MAX_COMPARED: usize = 3;
/// Maximum number of events that were read for each that is prose, where options are weighed with what the reader answers. A
/// film has that much prose between its labels; a log of short actions does not.
const MAX_READ_PER_PROSE: usize = 3;
/// Words for the speaker of a sentence.
const FIRST_PERSON: &[&str] = &["i", "me", "we", "us", "my", "i'll", "i'm", "i've", "i'd"];

/// What the reader found in the events of a question.
pub(super) struct ReadEvents {
    read: Vec<ReadEvent>,
}

/// One event as it was read.
struct ReadEvent {
    found: RetrievedEvent,
    extraction: Extraction,
    /// Where the words of the event begin in the text that was read: behind the speaker.
    spoken_from: usize,
    /// What speaks for it.
    signs: PassageSigns,
    /// Probability that this event answers the question, among all that were read and none.
    probability: f32,
}

/// What the reader answers from one event.
pub(super) struct ReadAnswer<'a> {
    pub found: &'a RetrievedEvent,
    /// Probability that this event answers the question.
    pub probability: f32,
    /// Probability that these are the words, if it does.
    pub certainty: f32,
    pub text: String,
    pub value: CandidateValue,
}

/// What reading says of a candidate, each number from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct ReadSupport {
    /// Whether a reader can judge the candidate: its event is told in sentences, and says the answer by itself. The
    /// reader has not learned from the names and short forms of other events, and knows nothing of their order.
    pub prose: bool,
    /// Probability that the event of the candidate answers the question.
    pub read: f32,
    /// The log-odds of that ([`scaled_log_odds`]).
    pub read_odds: f32,
    /// Probability of the marked words that agree with the candidate, in whichever event: that the event answers, times
    /// that of the words.
    pub extracted: f32,
    /// 1, less the probability of the marked words of its own event if they answer otherwise.
    pub undisputed: f32,
    /// Probability that any of the events that were read answers the question.
    pub answerable: f32,
}

/// Log-odds of a probability between 1 in 10,000 and 9,999 in 10,000, as a number from 0 to 1.
fn scaled_log_odds(probability: f32) -> f32 {
    let odds = |probability: f32| (probability / (1.0 - probability)).ln();
    let least = 1e-4;
    let most = odds(1.0 - least);
    (odds(probability.clamp(least, 1.0 - least)) + most) / (2.0 * most)
}

/// Reads the most relevant events and those of the candidates. `None` without a reader, if it fails, or if there is no
/// time for it.
pub(super) fn read_events(
    pool: &EventPool<'_>,
    gathered: &RetrievedEvents,
    candidates: &[Candidate],
    people: &PeopleAskedAbout,
    degraded: &mut Vec<String>,
) -> Result<Option<ReadEvents>, ReadError> {
    let query = pool.question.query;
    let hurried = query.effort == Effort::Fast || query.budget.is_some_and(|budget| budget < MIN_BUDGET);
    let Some(extractor) = pool.reader.extractor().filter(|_| !hurried) else { return Ok(None) };
    let mut events = events_to_read(gathered, candidates);
    events.retain(|found| !is_planned_otherwise(pool.question, found) && !is_of_other_time(pool.question, found));
    events.retain(|found| !is_mere_plan(pool.question, found) && !is_past_plan(pool.question, found));
    events.retain(|found| !ongoing::is_over(pool.question, found));
    // A reader does not know that a later statement takes this one back.
    events.retain(|found| pool.taken_back.iter().all(|pair| pair.earlier.id() != found.id()));
    let mut texts = Vec::with_capacity(events.len());
    for found in &events {
        let event = &found.reading.event;
        // A correction is understood from what it corrects.
        let corrected = pool.taken_back.iter().find(|pair| pair.later.id() == found.id());
        let before = match corrected {
            Some(pair) => with_speaker(&pair.earlier.reading.event),
            None => text_before(pool, event)?,
        };
        texts.push((with_speaker(event), before));
    }
    let now = Timestamp::from(pool.question.now.timestamp());
    let passages: Vec<Passage<'_>> = events
        .iter()
        .zip(&texts)
        .map(|(found, (text, before))| Passage { text, before, age: now.since(found.span().start) })
        .collect();
    if passages.is_empty() {
        return Ok(None);
    }
    let asked = without_alternatives(pool.question);
    let asked = asked.as_deref().unwrap_or(pool.question.text);
    let Some(mut extractions) = extracted(extractor, asked, &passages, degraded) else { return Ok(None) };
    if let Some(asked) = without_found_cue(pool.question, gathered) {
        let at_cue: Vec<usize> = (0..events.len()).filter(|at| events[*at].placed > 0.0).collect();
        let passages: Vec<Passage<'_>> = at_cue.iter().map(|at| passages[*at]).collect();
        let again = extracted(extractor, &asked, &passages, degraded).unwrap_or_default();
        for (at, again) in at_cue.into_iter().zip(again) {
            if again.relevance > extractions[at].relevance {
                extractions[at] = again;
            }
        }
    }
    let starts = events.iter().map(|found| found.span().start);
    let times: Vec<(Timestamp, f32)> = starts.zip(extractions.iter().map(|one| one.relevance_alone)).collect();
    let recurring = days_of_recurrence(pool.question, &events);
    let ranked = events.iter().zip(&extractions).zip(0_u16..).zip(recurring);
    let signs: Vec<PassageSigns> = ranked
        .map(|(((found, one), rank), days)| PassageSigns::of(pool.question, found, (one, rank, days), &times))
        .collect();
    let all = 1.0 + signs.iter().map(|signs| signs.odds(pool.question)).sum::<f32>();
    let found = events.into_iter().zip(extractions).zip(&texts).zip(signs);
    let read = found.map(|(((found, extraction), (text, _)), signs)| {
        let spoken_from = text.len() - found.reading.event.text.len();
        let probability = signs.odds(pool.question) / all;
        ReadEvent { found, extraction, spoken_from, signs, probability }
    });
    // If somebody else tells of themselves what is asked, the event does not answer, and speaks against all others.
    let read = read.filter(|read| !people.are_not_in(&read.found.reading.event));
    Ok(Some(ReadEvents { read: read.collect() }))
}

/// Returns whether an event tells only of other times to come than the one in question: who comes on Monday does not come
/// on Sunday.
fn is_planned_otherwise(question: &Question<'_>, found: &RetrievedEvent) -> bool {
    let asks_what = matches!(question.ask(), AnswerKind::Person | AnswerKind::Thing | AnswerKind::Action);
    let wanted: Vec<TimeSpan> = question.boosted_spans().into_iter().map(|(span, _)| span).collect();
    let now = Timestamp::from(question.now.timestamp());
    if !asks_what || wanted.is_empty() || wanted.iter().any(|span| span.start <= now) {
        return false;
    }
    let told = found.span().start;
    let mut times = found.reading.times.iter().filter(|time| time.has_date).peekable();
    let other = |time: &ToldTime| {
        time.relation == TimeRelation::At
            && time.span.start > told
            && !wanted.iter().any(|span| time.span.overlaps(*span))
    };
    times.peek().is_some() && times.all(other)
}

/// Returns whether an event is of another time than the past one in question, and tells of no other: what was seen on
/// Saturday says nothing of Sunday morning. Who speaks later may tell of it without naming the time.
fn is_of_other_time(question: &Question<'_>, found: &RetrievedEvent) -> bool {
    let bound = question.bound().filter(|_| question.has_time_bound() && question.tense == Tense::Past);
    // What is somewhere, or is so, was so before.
    let deed = question.asked.clause.verb.as_ref().is_some_and(|verb| match question.ask() {
        AnswerKind::Place => verb.lemma == "go",
        _ => !verb.auxiliary_only && !verb.passive,
    });
    let Some(bound) = bound.filter(|_| deed && question.asked.cue.is_none()) else { return false };
    let margin = (bound.end.since(bound.start) / 4).max(MIN_TIME_MARGIN);
    let near = TimeSpan::new(bound.start.saturating_sub(margin), bound.end.saturating_add(margin));
    let later = found.is_told() && found.span().start > bound.end;
    let tells = |time: &ToldTime| time.span.overlaps(bound);
    !found.span().overlaps(near) && !later && !found.reading.times.iter().any(tells)
}

/// Returns whether an event only plans what a question asks to have been done: who promises to sweep has not swept.
fn is_mere_plan(question: &Question<'_>, found: &RetrievedEvent) -> bool {
    // A plan for the time in question, or for another, may be all that is known of it.
    question.ask() == AnswerKind::Truth
        && !question.has_time_bound()
        && asks_of_deed_done(question)
        && only_plans(question, &found.reading)
}

/// Returns whether an event tells only of times that are over, where a question asks when something will be.
fn is_past_plan(question: &Question<'_>, found: &RetrievedEvent) -> bool {
    let now = Timestamp::from(question.now.timestamp());
    let times = &found.reading.times;
    question.ask() == AnswerKind::Time
        && question.tense == Tense::Future
        && !question.asked.habitual
        && !times.is_empty()
        && times.iter().all(|time| time.has_date && time.span.end < now)
}

/// Returns what the reader finds in the passages. `None` if it fails.
fn extracted(
    extractor: &dyn AnswerExtractor,
    question: &str,
    passages: &[Passage<'_>],
    degraded: &mut Vec<String>,
) -> Option<Vec<Extraction>> {
    match extractor.extract(question, passages) {
        Ok(extractions) if extractions.len() == passages.len() => return Some(extractions),
        Ok(extractions) => {
            degraded.push(format!("answer extraction: {} extractions of {} texts", extractions.len(), passages.len()));
        }
        Err(error) => degraded.push(format!("answer extraction: {}", error.message)),
    }
    None
}

/// Returns a question for a person without those whom it offers at its end: no text tells of both.
fn without_alternatives(question: &Question<'_>) -> Option<String> {
    let first = question.asked.alternatives.first().filter(|_| question.ask() == AnswerKind::Person)?;
    let asks = question.text.get(..first.start)?.trim_end().strip_suffix(',')?;
    Some(format!("{asks}?"))
}

/// Returns the question without the event that places it in time, if that event was found: of those at its time, no text
/// has to tell of it.
fn without_found_cue(question: &Question<'_>, gathered: &RetrievedEvents) -> Option<String> {
    gathered.cue.as_ref().filter(|_| gathered.placed)?;
    let main = question.part(&question.asked.main).trim_matches(|c: char| !c.is_alphanumeric());
    (!main.is_empty()).then(|| format!("{main}?"))
}

/// Returns the most relevant events, then the first events of the candidates.
fn events_to_read(gathered: &RetrievedEvents, candidates: &[Candidate]) -> Vec<RetrievedEvent> {
    let mut found: Vec<&RetrievedEvent> = gathered.found.iter().collect();
    found.sort_by(|a, b| (b.relevance + b.placed).total_cmp(&(a.relevance + a.placed)));
    let mut events: Vec<RetrievedEvent> = found.into_iter().take(MAX_FOUND_PASSAGES).cloned().collect();
    let firsts = candidates.iter().filter_map(|candidate| candidate.evidence.first());
    for first in firsts.take(MAX_CANDIDATE_PASSAGES) {
        if events.iter().all(|known| known.id() != first.id()) {
            events.push(first.clone());
        }
    }
    events
}

/// Returns whether an event is told in sentences.
pub(super) fn is_prose(event: &Event) -> bool {
    matches!(event.kind, Kind::Text | Kind::Caption)
}

/// Returns the text of an event. Speech begins with its speaker.
fn with_speaker(event: &Event) -> String {
    match &event.entity {
        Some(speaker) if event.kind == Kind::Text => format!("{speaker}: {}", event.text),
        _ => event.text.clone(),
    }
}

/// Returns the text of the event right before another one, or nothing if that was long ago.
fn text_before(pool: &EventPool<'_>, event: &Event) -> Result<String, ReadError> {
    let start = event.span.start;
    let span = TimeSpan { start: start.saturating_sub(BEFORE_WINDOW), end: start };
    // What was said right before only helps to understand the event, so the time bounds of the question do not hold.
    let query = SearchQuery { span: Some(span), latest: true, limit: 3, ..SearchQuery::default() };
    for hit in pool.reader.search().search(&query) {
        if hit.id == event.id {
            continue;
        }
        let Some(before) = pool.reader.event(hit.id)? else { continue };
        if (before.span.start, before.id) < (start, event.id) {
            return Ok(with_speaker(&before));
        }
    }
    Ok(String::new())
}

impl ReadEvents {
    /// Returns what reading says of a candidate.
    pub fn support(&self, question: &Question<'_>, candidate: &Candidate) -> ReadSupport {
        let first = candidate.evidence.first();
        let prose = !candidate.computed && first.is_some_and(|first| is_prose(&first.reading.event));
        let answerable = self.answerable();
        let own = first.and_then(|first| self.read.iter().find(|read| read.found.id() == first.id()));
        let Some(own) = own else {
            return ReadSupport { prose, answerable, undisputed: 1.0, ..ReadSupport::default() };
        };
        let (mut extracted, mut undisputed) = (0.0_f32, 1.0);
        for read in self.most_probable().take(MAX_COMPARED).chain([own]) {
            let marked = self.candidate(question, read, candidate.signals.known);
            let probability = read.probability * marked.signals.fits;
            match candidate_relation(question, &marked, candidate) {
                CandidateRelation::Agree => extracted = extracted.max(probability),
                CandidateRelation::Differ | CandidateRelation::Exclude if read.found.id() == own.found.id() => {
                    undisputed = 1.0 - probability;
                }
                _ => {}
            }
        }
        let read = own.probability;
        ReadSupport { prose, read, read_odds: scaled_log_odds(read), extracted, undisputed, answerable }
    }

    /// Describes what was read for the trace, an event a line.
    pub fn describe(&self) -> impl Iterator<Item = String> {
        self.read.iter().map(|read| {
            let event = &read.found.reading.event;
            let id = event.sender_id.clone().unwrap_or_else(|| event.id.to_string());
            format!(
                "Passage {{ probability: {:.4}, {} }} {id}: {}",
                read.probability,
                format!("{:?}", read.signs).trim_start_matches("PassageSigns { ").trim_end_matches(" }"),
                event.text
            )
        })
    }

    /// Probability that an event answers the question; 0 if it was not read.
    pub fn probability(&self, event: EventId) -> f32 {
        self.read.iter().find(|read| read.found.id() == event).map_or(0.0, |read| read.probability)
    }

    /// Returns what the reader answers from each event.
    pub fn answers(&self, question: &Question<'_>) -> Vec<ReadAnswer<'_>> {
        let answers = self.read.iter().map(|read| {
            let (text, value, certainty) = read.answer(question);
            ReadAnswer { found: &read.found, probability: read.probability, certainty, text, value }
        });
        answers.collect()
    }

    /// Returns whether enough of the events are told in sentences ([`MAX_READ_PER_PROSE`]). Of others the reader knows little.
    pub fn has_prose(&self) -> bool {
        let prose = self.read.iter().filter(|read| is_prose(&read.found.reading.event)).count();
        MAX_READ_PER_PROSE * prose >= self.read.len().max(1)
    }

    /// Probability that any of the events answers the question.
    pub fn answerable(&self) -> f32 {
        self.read.iter().map(|read| read.probability).sum()
    }

    /// Returns the most probable answers of the reader. Answers that a candidate gives already are left out; a quotation
    /// of the event does not say which of its words answer.
    pub fn propose(&self, question: &Question<'_>, candidates: &[Candidate]) -> Vec<Candidate> {
        // What follows from several events stands in none of them.
        if candidates.iter().any(|candidate| candidate.computed) {
            return Vec::new();
        }
        let known = question.content.known_share();
        let best = self.most_probable().take(MAX_PROPOSED).map(|read| self.candidate(question, read, known));
        // Of two events with one verdict, the more probable one shows it.
        let mut verdicts: Vec<CandidateValue> = Vec::new();
        let best = best.filter(|own| {
            let again = matches!(own.value, CandidateValue::Truth(_)) && verdicts.contains(&own.value);
            verdicts.push(own.value.clone());
            !again
        });
        let proposed = self.list(question, known).into_iter().chain(best).take(MAX_PROPOSED);
        // A verdict is shown with the event that tells it best.
        let direct = |candidate: &&Candidate| {
            is_direct_answer(candidate)
                && !quotes_event(candidate)
                && !matches!(candidate.value, CandidateValue::Truth(_))
        };
        proposed
            .filter(|own| {
                // A list says more than one thing of it.
                if matches!(own.value, CandidateValue::List(_)) {
                    return true;
                }
                // The words around a number say what was counted.
                let mut direct = candidates
                    .iter()
                    .filter(direct)
                    .filter(|other| !matches!(other.value, CandidateValue::Number(..)) || other.computed);
                !direct.any(|other| candidate_relation(question, own, other) == CandidateRelation::Agree)
            })
            .collect()
    }

    /// Returns the events in the order of their probability.
    fn most_probable(&self) -> impl Iterator<Item = &ReadEvent> {
        let mut read: Vec<&ReadEvent> = self.read.iter().collect();
        read.sort_by(|a, b| b.probability.total_cmp(&a.probability));
        read.into_iter()
    }

    /// Returns the answer that the reader finds in one event.
    fn candidate(&self, question: &Question<'_>, read: &ReadEvent, known: f32) -> Candidate {
        let (text, value, certainty) = read.answer(question);
        let next = self.read.iter().filter(|other| other.found.id() != read.found.id());
        let next = next.map(|other| other.probability).fold(0.0, f32::max);
        // As everywhere, but that `fits` is how certain the words are, and `thing` how relevant the text is by itself.
        let signals = Signals {
            coverage: read.found.coverage.of_content,
            cosine: read.found.cosine.unwrap_or(0.0),
            margin: (read.probability - next).clamp(0.0, 1.0),
            fits: certainty,
            thing: 1.0 / (1.0 + (-read.extraction.relevance_alone).exp()),
            known,
        };
        Candidate {
            layer: Layer::Read,
            text,
            value,
            evidence: vec![read.found.clone()],
            signals,
            confidence: 0.0,
            computed: false,
            reason: "words that answer the question".to_owned(),
        }
    }
}
