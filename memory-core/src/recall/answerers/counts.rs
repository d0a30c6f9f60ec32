//! Answers how often something happened, or how many there are: distinct events of one thing within the question's
//! bounds.

use std::collections::BTreeSet;

use crate::language::english::closed::number_word;
use crate::language::english::letters::capitalised;
use crate::language::english::lexicon::{self, Category, PartOfSpeech};
use crate::language::english::question::AnswerKind;
use crate::language::english::syntax::{NounKind, NounPhrase};
use crate::language::english::time::{Tense, say_moment};
use crate::recall::answerers::numbers;
use crate::recall::candidate::{Candidate, CandidateValue, Layer, Signals};
use crate::recall::content::{verb_similarity, word_similarity};
use crate::recall::extraction::is_prose;
use crate::recall::likeness::best_phrase_similarity;
use crate::recall::pool::{EventPool, MAX_THING_EVENTS, RetrievedEvent};
use crate::recall::question::Question;
use crate::recall::reading::{ParsedEvent, arguments, is_person};
use crate::{ReadError, TimeSpan, Timestamp, Value as Attribute};

/// Longest gap between equal events of one occurrence, if they belong to no session.
const MAX_OCCURRENCE_GAP: std::time::Duration = std::time::Duration::from_secs(20);
/// Longest gap between sightings of one continuous presence.
const MAX_SIGHTING_GAP: std::time::Duration = std::time::Duration::from_secs(8);
/// Minimum coverage of the question by an event that states how often.
const MIN_FREQUENCY_COVERAGE: f32 = 0.45;
/// Maximum number of words for counted things with their number: "two small white tablets".
const MAX_COUNTED_WORDS: usize = 4;
/// Minimum similarity of two words with one meaning.
const MIN_WORD_SIMILARITY: f32 = 0.5;

/// Answers with the number that a question asks for.
pub(in crate::recall) fn answer(
    pool: &EventPool<'_>,
    pooled: &[RetrievedEvent],
) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    // "How many books did she bring?": a number that was told with the thing.
    if question.ask() == AnswerKind::Count
        && let Some(class) = &question.asked.class
        && !is_period(&class.head)
        && let Some(found) = numbers::answer(pool, pooled, &class.head)
    {
        return Ok(Some(found));
    }
    if let Some(found) = told_periods(question, pooled) {
        return Ok(Some(found));
    }
    if let Some(found) = told_frequency(question, pooled) {
        return Ok(Some(found));
    }
    let events = counted_events(pool, pooled)?;
    if events.iter().all(|found| !names_counted(question, &found.reading))
        || events.iter().all(|found| names_several(question, &found.reading))
    {
        return Ok(None);
    }
    let Some(first) = events.first().cloned() else { return Ok(None) };
    if question.ask() == AnswerKind::Times && lacks_objects(question, &events) {
        return Ok(None);
    }
    let period = question.asked.class.as_ref().map(|class| class.head.clone()).filter(|head| is_period(head));
    let by_name = question.named.iter().take(3).any(|thing| pool.entity(thing).is_some());
    let groups = distinct_occurrences(&events, question.now.time_zone(), period.as_deref(), by_name);
    let mut count = groups.len();
    let mut groups = groups;
    let mut events = events;
    // Sightings of a place are counted by visits.
    if !by_name
        && period.is_none()
        && question.ask() == AnswerKind::Times
        && let Some(visits) = pool.counted_visits(&events.iter().collect::<Vec<_>>())?
    {
        groups = visits.iter().map(|visit| visit.span).collect();
        count = groups.len();
        let shown: Vec<crate::EventId> = visits.iter().map(|visit| visit.event.id).collect();
        events = crate::recall::pool::merge(pool.read(&shown, &question.content)?, events);
    }
    let begins: Vec<String> = groups.iter().take(5).map(|span| say_moment(span.start, &question.now)).collect();
    let times = question.ask() == AnswerKind::Times && period.is_none();
    // None of several sentences tells how often.
    let computed = times && count > 1 && events.iter().all(|found| is_prose(&found.reading.event));
    let more = if count > 5 { ", …" } else { "" };
    let many = if times { times_in_words(count) } else { count.to_string() };
    let text = format!("{many}: {}{more}.", begins.join(", "));
    let thing =
        question.named.first().map_or(first.coverage.of_content, |thing| best_phrase_similarity(thing, &first.reading));
    #[expect(clippy::cast_precision_loss, reason = "a count of events")]
    let value = CandidateValue::Number(count as f64, String::new());
    Ok(Some(Candidate {
        layer: Layer::Episodes,
        text,
        value,
        signals: Signals {
            coverage: first.coverage.of_content,
            cosine: first.cosine.unwrap_or(0.0),
            margin: 1.0,
            fits: 1.0,
            thing,
            known: question.content.known_share(),
        },
        evidence: order_told_by_relevance(events),
        confidence: 0.0,
        computed,
        reason: format!("{count} separate events"),
    }))
}

/// Answers for how many nights or days something lasted: "for three nights".
fn told_periods(question: &Question<'_>, pooled: &[RetrievedEvent]) -> Option<Candidate> {
    let class =
        question.asked.class.as_ref().filter(|class| question.ask() == AnswerKind::Count && is_period(&class.head))?;
    if question.has_time_bound() {
        return None;
    }
    let told =
        pooled.iter().filter(|found| found.coverage.of_content >= MIN_FREQUENCY_COVERAGE && !found.reading.only_asks());
    let (quantity, found) = told
        .filter(|found| {
            question.named.iter().all(|thing| {
                best_phrase_similarity(thing, &found.reading) >= MIN_WORD_SIMILARITY || thing.head == class.head
            })
        })
        .find_map(|found| {
            let mut all = found.reading.quantities().into_iter();
            all.find(|quantity| quantity.unit == class.head).map(|quantity| (quantity, found))
        })?;
    let text = found.reading.text(&quantity.range).to_owned();
    Some(Candidate {
        layer: Layer::Episodes,
        text: capitalised(&text),
        value: CandidateValue::Number(quantity.value, quantity.unit),
        signals: Signals {
            coverage: found.coverage.of_content,
            cosine: found.cosine.unwrap_or(0.0),
            margin: 1.0,
            fits: 1.0,
            thing: 1.0,
            known: question.content.known_share(),
        },
        evidence: vec![found.clone()],
        confidence: 0.0,
        computed: false,
        reason: "as many as were told".into(),
    })
}

/// Answers how often something is done or is to be done: "three times a day".
fn told_frequency(question: &Question<'_>, pooled: &[RetrievedEvent]) -> Option<Candidate> {
    if question.ask() != AnswerKind::Times || question.tense == Tense::Past || question.has_time_bound() {
        return None;
    }
    let mut told =
        pooled.iter().filter(|found| found.coverage.of_content >= MIN_FREQUENCY_COVERAGE && !found.reading.only_asks());
    let (text, found) = told.find_map(|found| frequency_in(&found.reading.event.text).map(|text| (text, found)))?;
    Some(Candidate {
        layer: Layer::Episodes,
        text: capitalised(&text),
        value: CandidateValue::Text(text),
        signals: Signals {
            coverage: found.coverage.of_content,
            cosine: found.cosine.unwrap_or(0.0),
            margin: 1.0,
            fits: 1.0,
            thing: 1.0,
            known: question.content.known_share(),
        },
        evidence: vec![found.clone()],
        confidence: 0.0,
        computed: false,
        reason: "as often as was told".into(),
    })
}

/// Returns the first frequency in a text: "three times a day", "once or twice a year", "every Tuesday".
pub(in crate::recall) fn frequency_in(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let bare = |at: usize| -> String {
        words.get(at).map_or("", |word| word.trim_matches(|c: char| !c.is_alphanumeric())).to_lowercase()
    };
    let is_period = |word: &str| {
        ["time_period", "day_of_the_week", "time_unit"]
            .iter()
            .any(|class| lexicon::is_a_as(word, class, PartOfSpeech::Noun).is_some())
            || word == "day"
    };
    (0..words.len()).find_map(|each| {
        let unit = (1..=2).find(|behind| is_period(&bare(each + behind)))?;
        let end = each + unit;
        let mut start = each;
        match bare(each).as_str() {
            "a" | "an" | "per" => {
                if unit != 1 || each == 0 {
                    return None;
                }
                if !matches!(bare(each - 1).as_str(), "once" | "twice" | "times") {
                    return counted_before(&words[..each]).map(|from| words[from..=end].join(" ")).map(trimmed);
                }
                // "Once or twice", "a few times", "three to four times".
                let counts = |word: &str| {
                    matches!(word, "once" | "twice" | "times" | "or" | "to" | "a" | "few" | "several" | "couple" | "of")
                        || number_word(word).is_some()
                        || word.parse::<f64>().is_ok()
                };
                while start > 0 && counts(&bare(start - 1)) {
                    start -= 1;
                }
            }
            "every" => {}
            _ => return None,
        }
        Some(trimmed(words[start..=end].join(" ")))
    })
}

fn trimmed(text: String) -> String {
    text.trim_end_matches(|c: char| !c.is_alphanumeric()).to_owned()
}

/// Returns where a number of things begins that words end with: "I take | two green pills", before "a day".
fn counted_before(words: &[&str]) -> Option<usize> {
    let is_word = |word: &&&str| word.chars().all(char::is_alphanumeric);
    let things = words.iter().rev().take_while(is_word).take(MAX_COUNTED_WORDS);
    let number = |word: &str| number_word(&word.to_lowercase()).is_some() || word.parse::<f64>().is_ok();
    let behind = things.enumerate().find(|(_, word)| number(word)).map(|(behind, _)| behind)?;
    let plural = words.last().is_some_and(|last| last.ends_with('s'));
    (behind > 0 && (plural || behind == 1)).then(|| words.len() - 1 - behind)
}

/// Orders told events by their relevance. Perceived events stay in time order.
fn order_told_by_relevance(mut events: Vec<RetrievedEvent>) -> Vec<RetrievedEvent> {
    if events.iter().all(|found| found.reading.event.kind == crate::Kind::Text) {
        events.sort_by(|a, b| b.score.total_cmp(&a.score));
    }
    events
}

/// Returns whether an event can report one of the counted things: it names one, does what the word means ("how many
/// moves?"), or a person acts in it where people are counted.
pub(super) fn names_counted(question: &Question<'_>, reading: &ParsedEvent) -> bool {
    let counted =
        question.asked.class.as_ref().filter(|class| question.ask() == AnswerKind::Count && !is_period(&class.head));
    let Some(head) = counted.map(|class| class.head.as_str()) else { return true };
    let is_one = |lemma: &str| {
        word_similarity(head, lemma) >= MIN_WORD_SIMILARITY
            || lexicon::is_a_as(lemma, head, PartOfSpeech::Noun).is_some()
    };
    let acts =
        || lexicon::category(head, PartOfSpeech::Noun) == Some(Category::Person) && reading.event.entity.is_some();
    reading.lemmas.iter().any(|(lemma, _)| is_one(lemma)) || acts()
}

/// Returns whether an event names several of the counted things without their number: "she puts the passports away".
fn names_several(question: &Question<'_>, reading: &ParsedEvent) -> bool {
    let Some(class) = question.asked.class.as_ref().filter(|_| question.ask() == AnswerKind::Count) else {
        return false;
    };
    let own = reading
        .clauses()
        .flat_map(arguments)
        .filter(|noun| word_similarity(&class.head, &noun.head) >= MIN_WORD_SIMILARITY);
    let mut own = own.peekable();
    own.peek().is_some() && own.all(|noun| noun.plural && noun.number.is_none())
}

/// Returns the events to count: those of the named thing, selected by the verb if they differ.
pub(in crate::recall) fn counted_events(
    pool: &EventPool<'_>,
    pooled: &[RetrievedEvent],
) -> Result<Vec<RetrievedEvent>, ReadError> {
    let question = pool.question;
    let bound = question.bound();
    let mut events: Vec<RetrievedEvent> = Vec::new();
    let mut by_name = false;
    for thing in question.named.iter().take(3) {
        if pool.entity(thing).is_some() {
            events = pool.events_about(thing, bound, false, MAX_THING_EVENTS, &question.content)?;
            // A camera tells what somebody does in words alone.
            if is_person(thing) {
                let mut told = pool.events_mentioning(thing, bound, false, MAX_THING_EVENTS, &question.content)?;
                told.retain(|found| found.reading.event.entity.is_none());
                events = crate::recall::pool::merge(events, told);
            }
            by_name = true;
            break;
        }
    }
    if !by_name {
        if let Some(thing) = question.named.first() {
            events = pool.events_about(thing, bound, false, MAX_THING_EVENTS, &question.content)?;
        }
        events = crate::recall::pool::merge(events, pooled.to_vec());
    }
    events.retain(|found| !found.reading.only_asks());
    let rank = |found: &RetrievedEvent| found.coverage.of_content;
    let best = events.iter().map(rank).fold(0.0, f32::max);
    let seen = events.iter().any(|found| found.reading.event.kind == crate::Kind::Caption);
    let least = if by_name {
        best - 0.3
    } else if seen {
        (0.7 * best).max(0.35)
    } else {
        (best - 0.1).max(0.45)
    };
    events.retain(|found| rank(found) >= least);
    // Of several deeds, the one most similar to the verb is counted.
    if by_name && let Some(verb) = question.asked.clause.verb.as_ref().filter(|verb| !verb.auxiliary_only) {
        let near = |found: &RetrievedEvent| {
            let told = found.reading.clauses().filter_map(|clause| clause.verb.as_ref());
            told.map(|told| verb_similarity(verb, told)).fold(0.0, f32::max)
        };
        let most = events.iter().map(near).fold(0.0, f32::max);
        if most >= 0.6 {
            events.retain(|found| near(found) >= most - 0.05);
        }
    }
    events.sort_by_key(|found| (found.span().start, found.id()));
    Ok(events)
}

/// Returns whether no event names what the deed in question is done to: who is seen in the garden takes no tablets.
fn lacks_objects(question: &Question<'_>, events: &[RetrievedEvent]) -> bool {
    let habit = question.tense == Tense::Present && question.asked.clause.subject.as_ref().is_some_and(is_person);
    if !habit {
        return false;
    }
    let objects = || question.asked.clause.objects.iter().filter(|object| object.kind == NounKind::Common);
    let names = |object: &NounPhrase, found: &RetrievedEvent| {
        best_phrase_similarity(&object.head_alone(), &found.reading) >= MIN_WORD_SIMILARITY
            || found.reading.lemmas.iter().any(|(lemma, _)| word_similarity(&object.head, lemma) >= MIN_WORD_SIMILARITY)
    };
    objects().next().is_some() && objects().all(|object| events.iter().all(|found| !names(object, found)))
}

/// Returns the distinct occurrences among events in time order. Events of one session are one occurrence, and so are
/// equal ones that touch.
fn distinct_occurrences(
    events: &[RetrievedEvent],
    zone: &jiff::tz::TimeZone,
    period: Option<&str>,
    by_name: bool,
) -> Vec<TimeSpan> {
    let mut groups: Vec<TimeSpan> = Vec::new();
    let mut keys: BTreeSet<String> = BTreeSet::new();
    for found in events {
        let span = found.span();
        let key = match period {
            Some(_) => Some(date_text(span.start, zone)),
            None => found.reading.event.attributes.get("session").and_then(Attribute::as_text).map(str::to_owned),
        };
        if let Some(key) = key {
            if keys.insert(key) {
                groups.push(span);
            }
            continue;
        }
        // Tracked movements are reported one by one, each with its end. Events without length may be duplicates.
        // A sighting continues from one picture to the next.
        let seen = (!by_name || found.reading.event.entity.is_none())
            && matches!(
                found.reading.event.kind,
                crate::Kind::Caption | crate::Kind::Object | crate::Kind::Entity | crate::Kind::Sound
            );
        let goes_on = seen && groups.last().is_some_and(|last| span.start.since(last.end) <= MAX_SIGHTING_GAP);
        let again = goes_on
            || span.start == span.end
                && groups
                    .last()
                    .is_some_and(|last| span.start.since(last.end) <= MAX_OCCURRENCE_GAP && last.start == last.end);
        match groups.last_mut().filter(|_| again) {
            Some(last) => last.end = last.end.max(span.end),
            None => groups.push(span),
        }
    }
    groups
}

fn date_text(at: Timestamp, zone: &jiff::tz::TimeZone) -> String {
    at.to_jiff().to_zoned(zone.clone()).date().to_string()
}

/// Returns whether units of time are counted and not events: "how many weeks passed?".
pub(super) fn asks_time_units(question: &Question<'_>) -> bool {
    question.asked.class.as_ref().is_some_and(|class| {
        !is_period(&class.head) && lexicon::is_a_as(&class.head, "time_unit", PartOfSpeech::Noun).is_some()
    })
}

fn is_period(head: &str) -> bool {
    matches!(head, "day" | "evening" | "morning" | "night" | "afternoon" | "weekday")
}

pub(super) fn times_in_words(count: usize) -> String {
    match count {
        0 => "Never".into(),
        1 => "Once".into(),
        2 => "Twice".into(),
        count => format!("{count} times"),
    }
}
