//! Answers that a trained reader marks in the texts that were found (`ports::AnswerExtractor`).
//!
//! The rules of the answerers know what they were written for. The reader has learned from questions in everyday words
//! which sentence answers one, and which of its words. It reads the most relevant events, each with what was said
//! right before it. What it finds is a candidate like any other, and it tells how far the other candidates' events
//! answer the question.

use std::ops::Range;
use std::time::Duration;

use super::answerers::places::capitalised;
use super::answerers::quote::quotation;
use super::calibration;
use super::candidate::{Candidate, CandidateValue, Layer, Signals};
use super::other_people::PeopleAskedAbout;
use super::pool::{EventPool, RetrievedEvent};
use super::question::Question;
use super::reconciling::{CandidateRelation, candidate_relation, is_direct_answer, quotes_event};
use super::retrieval::RetrievedEvents;
use crate::index::SearchQuery;
use crate::language::english::lexicon::{self, Category, PartOfSpeech};
use crate::language::english::question::AnswerKind;
use crate::language::english::syntax::{Clause, NounKind, NounPhrase};
use crate::language::english::time::{Tense, say_moment};
use crate::ports::{AnswerForm, Extraction, Passage};
use crate::query::Effort;
use crate::{Event, EventId, Kind, ReadError, TimeSpan, Timestamp, index};

/// Maximum number of the most relevant events that are read.
const MAX_FOUND_PASSAGES: usize = 16;
/// Maximum number of events of other candidates that are read as well.
const MAX_CANDIDATE_PASSAGES: usize = 4;
/// Time within which the event before a passage belongs to it.
const BEFORE_WINDOW: Duration = Duration::from_secs(600);
/// Log-odds by which a later event may be less relevant and still supersede an earlier one.
const SUPERSEDING_RELEVANCE_GAP: f32 = 2.0;
/// Minimum time limit of a question that is read. One with less is answered by the rules rather than too late.
const MIN_BUDGET: Duration = Duration::from_millis(1_000);
/// Maximum number of candidates that reading proposes.
const MAX_PROPOSED: usize = 2;
/// Maximum number of the most probable events whose marked words a candidate is compared with, besides its own event.
const MAX_COMPARED: usize = 3;
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
    /// Whether a later event answers about as well.
    superseded: bool,
    /// Probability that this event answers the question, among all that were read and none.
    probability: f32,
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

/// Reads the most relevant events and those of the candidates. `None` without a reader, if it fails, if there is no
/// time for it, or if the question has options: these are compared with all events, by weights that were fitted without
/// a reader.
pub(super) fn read_events(
    pool: &EventPool<'_>,
    gathered: &RetrievedEvents,
    candidates: &[Candidate],
    people: &PeopleAskedAbout,
    degraded: &mut Vec<String>,
) -> Result<Option<ReadEvents>, ReadError> {
    let query = pool.question.query;
    let hurried = query.effort == Effort::Fast || query.budget.is_some_and(|budget| budget < MIN_BUDGET);
    let wanted = !hurried && query.options.is_empty();
    let Some(extractor) = pool.reader.extractor().filter(|_| wanted) else { return Ok(None) };
    let mut events = events_to_read(gathered, candidates);
    // A reader does not know that a later statement takes this one back.
    events.retain(|found| pool.taken_back.iter().all(|pair| pair.earlier.id() != found.id()));
    let mut texts = Vec::with_capacity(events.len());
    for found in &events {
        let event = &found.reading.event;
        texts.push((with_speaker(event), text_before(pool, event)?));
    }
    let passages: Vec<Passage<'_>> = texts.iter().map(|(text, before)| Passage { text, before }).collect();
    if passages.is_empty() {
        return Ok(None);
    }
    let extractions = match extractor.extract(pool.question.text, &passages) {
        Ok(extractions) if extractions.len() == passages.len() => extractions,
        Ok(extractions) => {
            degraded.push(format!("answer extraction: {} extractions of {} texts", extractions.len(), passages.len()));
            return Ok(None);
        }
        Err(error) => {
            degraded.push(format!("answer extraction: {}", error.message));
            return Ok(None);
        }
    };
    let starts = events.iter().map(|found| found.span().start);
    let superseded = superseded(pool.question, &starts.zip(&extractions).collect::<Vec<_>>());
    let ranked = extractions.iter().zip(&superseded).zip(0_u16..);
    let odds: Vec<f32> = ranked.map(|((one, superseded), rank)| passage_odds(one, rank, *superseded)).collect();
    let all = 1.0 + odds.iter().sum::<f32>();
    let found = events.into_iter().zip(extractions).zip(&texts).zip(superseded.into_iter().zip(odds));
    let read = found.map(|(((found, extraction), (text, _)), (superseded, odds))| {
        let spoken_from = text.len() - found.reading.event.text.len();
        ReadEvent { found, extraction, spoken_from, superseded, probability: odds / all }
    });
    // If somebody else tells of themselves what is asked, the event does not answer, and speaks against all others.
    let read = read.filter(|read| !people.are_not_in(&read.found.reading.event));
    Ok(Some(ReadEvents { read: read.collect() }))
}

/// Returns the odds that an event answers, given its rank in the search. Those of "no event answers" are 1.
fn passage_odds(extraction: &Extraction, rank: u16, superseded: bool) -> f32 {
    let weights = calibration::passage_weights();
    let relevance = extraction.relevance.clamp(-20.0, 20.0);
    let rank = f32::from(rank + 1).ln();
    let superseded = if superseded { weights.superseded } else { 0.0 };
    (weights.offset + weights.relevance * relevance - weights.rank * rank - superseded).exp()
}

/// Says of each event, given when it began, whether a later one answers about as well, where the question asks how
/// things are. The latest statement about a state holds.
fn superseded(question: &Question<'_>, read: &[(Timestamp, &Extraction)]) -> Vec<bool> {
    let of_state = match question.ask() {
        AnswerKind::Place | AnswerKind::Amount | AnswerKind::Count | AnswerKind::Person => {
            question.tense == Tense::Present
        }
        AnswerKind::Truth => question.tense != Tense::Future,
        _ => false,
    };
    let later = |start: Timestamp, relevance: f32| {
        read.iter().any(|(other, extraction)| {
            *other > start && extraction.relevance > (relevance - SUPERSEDING_RELEVANCE_GAP).max(0.0)
        })
    };
    read.iter().map(|(start, extraction)| of_state && later(*start, extraction.relevance)).collect()
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
        let prose = !candidate.computed
            && first.is_some_and(|first| matches!(first.reading.event.kind, Kind::Text | Kind::Caption));
        let answerable = self.read.iter().map(|read| read.probability).sum();
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
                "Passage {{ relevance: {:.4}, superseded: {}, probability: {:.4} }} {id}: {}",
                read.extraction.relevance,
                u8::from(read.superseded),
                read.probability,
                event.text
            )
        })
    }

    /// Probability that an event answers the question; 0 if it was not read.
    pub fn probability(&self, event: EventId) -> f32 {
        self.read.iter().find(|read| read.found.id() == event).map_or(0.0, |read| read.probability)
    }

    /// Returns the most probable answers of the reader. Answers that a candidate gives already are left out; a quotation
    /// of the event does not say which of its words answer.
    pub fn propose(&self, question: &Question<'_>, candidates: &[Candidate]) -> Vec<Candidate> {
        let known = question.content.known_share();
        let proposed = self.most_probable().take(MAX_PROPOSED).map(|read| self.candidate(question, read, known));
        let direct = |candidate: &&Candidate| is_direct_answer(candidate) && !quotes_event(candidate);
        proposed
            .filter(|own| {
                let mut direct = candidates.iter().filter(direct);
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
            thing: 1.0 / (1.0 + (-read.extraction.relevance).exp()),
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

impl ReadEvent {
    /// Returns the answer in words and as a value, and the probability that these are the words.
    fn answer(&self, question: &Question<'_>) -> (String, CandidateValue, f32) {
        let event = &self.found.reading.event;
        let quoted = || quotation(&self.found, question);
        let words = |text: String, certainty: f32| (text.clone(), CandidateValue::Text(text), certainty);
        let probability = |form: AnswerForm| self.extraction.form_probability(form);
        if question.ask() == AnswerKind::Truth {
            let (yes, no) = (probability(AnswerForm::Yes), probability(AnswerForm::No));
            let others = [AnswerForm::Words, AnswerForm::Time, AnswerForm::Speaker, AnswerForm::Implied];
            if others.into_iter().all(|other| yes + no >= probability(other)) {
                let word = if yes >= no { "Yes" } else { "No" };
                let text = format!("{word}: {}", quoted());
                return (text, CandidateValue::Truth(yes >= no), yes.max(no) / (yes + no));
            }
        }
        let form = self.extraction.form();
        match form {
            AnswerForm::Time => {
                let text = capitalised(&say_moment(event.span.start, &question.now));
                (text, CandidateValue::Times(vec![event.span]), probability(form))
            }
            AnswerForm::Speaker if event.entity.is_some() => {
                words(event.entity.clone().unwrap_or_default(), probability(form))
            }
            AnswerForm::Yes | AnswerForm::No | AnswerForm::Speaker | AnswerForm::Implied => words(quoted(), 0.5),
            AnswerForm::Words => match self.marked_words(question) {
                Some(own) if FIRST_PERSON.contains(&own.to_lowercase().as_str()) && event.entity.is_some() => {
                    words(event.entity.clone().unwrap_or_default(), self.extraction.span_probability)
                }
                Some(marked) if self.counts_something_else(question, marked) => words(self.attributed(marked), 0.0),
                Some(marked) => words(self.attributed(marked), self.extraction.span_probability),
                None => words(quoted(), 0.5),
            },
        }
    }

    /// Returns whether marked words count things where persons or animals are counted, or the other way round: boxes are
    /// no number of people.
    fn counts_something_else(&self, question: &Question<'_>, marked: &str) -> bool {
        let Some(class) = question.asked.class.as_ref().filter(|_| question.ask() == AnswerKind::Count) else {
            return false;
        };
        let living = |noun: &NounPhrase| {
            let category = lexicon::category(&noun.head, PartOfSpeech::Noun);
            category.map(|category| matches!(category, Category::Person | Category::Animal | Category::Group))
        };
        let start = self.found.reading.event.text.find(marked).unwrap_or_default();
        let mut nouns = self.found.reading.clauses().flat_map(Clause::nouns);
        let counted = nouns.find(|noun| {
            noun.kind == NounKind::Common && start <= noun.range.start && noun.range.end <= start + marked.len()
        });
        counted.is_some_and(
            |counted| matches!((living(class), living(counted)), (Some(asked), Some(told)) if asked != told),
        )
    }

    /// Returns words of the event as an answer. Who "I" is must be said.
    fn attributed(&self, marked: &str) -> String {
        let speaks_of_speaker = index::words(marked).any(|word| FIRST_PERSON.contains(&word.as_str()));
        let words = capitalised(marked);
        match self.found.reading.event.entity.as_deref().filter(|_| speaks_of_speaker) {
            Some(speaker) => format!("{speaker}: {words}"),
            None => words,
        }
    }

    /// Returns the marked words of the event, without marks at their ends. `None` if the speaker is marked, or nothing.
    fn marked_words(&self, question: &Question<'_>) -> Option<&str> {
        let Range { start, end } = self.extraction.span.clone();
        let event = &self.found.reading.event;
        if start < self.spoken_from {
            return event.entity.as_deref().filter(|_| end <= self.spoken_from);
        }
        let marked = start - self.spoken_from..end.checked_sub(self.spoken_from)?;
        let marked = event.text.get(self.with_whole_phrases(marked, question))?;
        let marked = marked.trim_matches(|c: char| c.is_whitespace() || matches!(c, ',' | '.' | ';' | ':' | '!' | '?'));
        (!marked.is_empty()).then_some(marked)
    }

    /// Extends words to the noun phrases and the time phrases that they begin or end in: "half past two" to "Friday at
    /// half past two", "beard" to "a plaited beard". Not over words of the question, which asks for what is beside them.
    fn with_whole_phrases(&self, marked: Range<usize>, question: &Question<'_>) -> Range<usize> {
        let reading = &self.found.reading;
        let asked: Vec<String> = index::words(question.text).map(|word| index::stem(&word)).collect();
        let is_new = |range: Range<usize>| {
            let added = reading.event.text.get(range).unwrap_or_default();
            index::words(added).all(|word| index::is_stop_word(&word) || !asked.contains(&index::stem(&word)))
        };
        let phrases = reading.clauses().flat_map(Clause::nouns).map(|noun| noun.range.clone());
        let mut whole = marked.clone();
        for phrase in phrases.chain(reading.times.iter().map(|time| time.range.clone())) {
            if phrase.start < marked.start && marked.start < phrase.end && is_new(phrase.start..marked.start) {
                whole.start = whole.start.min(phrase.start);
            }
            if phrase.start < marked.end && marked.end < phrase.end && is_new(marked.end..phrase.end) {
                whole.end = whole.end.max(phrase.end);
            }
        }
        whole
    }
}
