//! Answers what came first or next: the order of events of one kind.

use std::ops::Range;

use crate::language::english::letters::capitalised;
use crate::language::english::question::{AnswerKind, Occurrence, Order};
use crate::language::english::syntax::{NounPhrase, parse};
use crate::language::english::time::{Tense, say_moment};
use crate::recall::answerers::counts::times_in_words;
use crate::recall::candidate::{Candidate, CandidateValue, Layer};
use crate::recall::content::{Content, ContentItem, word_similarity};
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::question::Question;
use crate::recall::reading::ParsedEvent;
use crate::{ReadError, TimeSpan};

/// Minimum coverage of one half of the question by an event.
const MIN_HALF_COVERAGE: f32 = 0.5;
/// Maximum difference to the best match of an event that one half may mean.
const MAX_HALF_DIFFERENCE: f32 = 0.1;
/// Minimum coverage of the counted thing by an event.
const MIN_COUNTED_COVERAGE: f32 = 0.6;

/// Answers which of the named alternatives came first or last.
pub(in crate::recall) fn first_of_alternatives(pool: &EventPool<'_>) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let words: Vec<&str> = question.asked.words.iter().map(|word| word.text.as_str()).collect();
    let first = matches!(question.asked.occurrence, Some(Occurrence::First))
        || words.iter().any(|word| matches!(*word, "earlier" | "sooner" | "first" | "earliest"));
    let last = matches!(question.asked.occurrence, Some(Occurrence::Last))
        || words.iter().any(|word| matches!(*word, "later" | "latest"));
    if question.asked.alternatives.len() > 1
        && question.asked.scale.as_ref().is_some_and(|scale| scale.comparative && scale.scale_noun == "often")
    {
        return more_often(pool);
    }
    if question.asked.alternatives.len() < 2 || !(first || last) {
        return Ok(None);
    }
    let mut found: Vec<(String, RetrievedEvent)> = Vec::new();
    for range in &question.asked.alternatives {
        let text = question.part(range);
        let Some(noun) = main_noun(text) else { continue };
        let noun = shifted_phrase(&noun, range.start);
        let name = pool.entity(&noun);
        let events = pool.events_about(&noun, question.bound(), !first, 50, &question.content)?;
        let mut told = events.into_iter().filter(|found| !found.reading.only_asks());
        // A future event may have been rescheduled: its latest time holds.
        let ahead = |found: &RetrievedEvent| found.reading.times.iter().any(|time| time.span.start > found.span().end);
        let event = match question.tense {
            Tense::Past => told.next(),
            _ => {
                let all: Vec<RetrievedEvent> = told.collect();
                let last = all.iter().filter(|found| ahead(found)).max_by_key(|found| (found.span().start, found.id()));
                last.or(all.first()).cloned()
            }
        };
        // An alternative that never happened is not the first. With one left, there is nothing to compare.
        let Some(event) = event else { continue };
        found.push((name.unwrap_or_else(|| without_article(question.part(&noun.range))), event));
    }
    if found.len() < 2 {
        return Ok(None);
    }
    // Future events are ordered by their told times.
    let ahead = question.tense != Tense::Past;
    let at = |found: &RetrievedEvent| {
        let told = found.reading.times.iter().filter(|time| ahead && time.span.start > found.span().end);
        told.map(|time| time.span.start).min().unwrap_or(found.span().start)
    };
    let order = |found: &(String, RetrievedEvent)| (at(&found.1), found.1.id());
    let chosen = if last && !first {
        found.iter().max_by_key(|one| order(one))
    } else {
        found.iter().min_by_key(|one| order(one))
    };
    let Some((name, event)) = chosen.cloned() else { return Ok(None) };
    let mut evidence = vec![event.clone()];
    evidence.extend(found.into_iter().map(|(_, found)| found).filter(|found| found.id() != event.id()));
    Ok(Some(Candidate::computed(
        Layer::Episodes,
        capitalised(&with_article(&name)),
        CandidateValue::Text(name),
        evidence,
        question.content.known_share(),
        "by the order of their first events".into(),
    )))
}

/// Answers "did the parcel come before or after the guests left?" by the times of the two events.
pub(in crate::recall) fn before_or_after(pool: &EventPool<'_>) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let words = &question.asked.words;
    let orders = ["before", "after"];
    let split = words.windows(3).position(|three| {
        orders.contains(&three[0].text.as_str()) && three[1].has_text("or") && orders.contains(&three[2].text.as_str())
    });
    let Some(split) = split else { return Ok(None) };
    let first = events_in_words(pool, &(0..words[split].range.start))?.into_iter().next();
    let second = events_in_words(pool, &(words[split + 2].range.end..question.text.len()))?.into_iter().next();
    let (Some(first), Some(second)) = (first, second) else { return Ok(None) };
    let (at, other) = (first.span().start, second.span().start);
    if at == other {
        return Ok(None);
    }
    let word = if at < other { "Before" } else { "After" };
    let told = |found: &RetrievedEvent| {
        format!(
            "{} ({})",
            found.reading.event.text.trim_end_matches('.'),
            say_moment(found.span().start, &question.now)
        )
    };
    Ok(Some(Candidate::computed(
        Layer::Episodes,
        format!("{word}: {}, {}.", told(&first), told(&second)),
        CandidateValue::Text(word.to_owned()),
        vec![first, second],
        question.content.known_share(),
        "by the times of the two".into(),
    )))
}

/// Returns the events that a part of the question names in its words, the best first: all that match nearly as well as it.
pub(super) fn events_in_words(pool: &EventPool<'_>, range: &Range<usize>) -> Result<Vec<RetrievedEvent>, ReadError> {
    let question = pool.question;
    let content = Content::from_ranges(&question.asked.words, std::slice::from_ref(range), 1.0, pool.reader.search());
    let mut found = pool.search(question.part(range), None, &content, question.bound(), None)?;
    found.retain(|found| !found.reading.only_asks() && found.coverage.of_content >= MIN_HALF_COVERAGE);
    found.sort_by(|a, b| b.coverage.match_score().total_cmp(&a.coverage.match_score()));
    let best = found.first().map_or(0.0, |found| found.coverage.match_score());
    found.retain(|found| found.coverage.match_score() >= best - MAX_HALF_DIFFERENCE);
    Ok(found)
}

/// Returns the first noun phrase of a text, with its range in that text.
pub(in crate::recall) fn main_noun(text: &str) -> Option<NounPhrase> {
    let (_, sentences) = parse(text, &[]);
    let clause = sentences.first()?.clauses.first()?.clone();
    clause
        .subject
        .or_else(|| clause.objects.into_iter().next())
        .or_else(|| clause.adjuncts.into_iter().next().map(|adjunct| adjunct.noun))
}

/// Shifts the ranges of a noun phrase from a part of a text to the whole.
fn shifted_phrase(noun: &NounPhrase, by: usize) -> NounPhrase {
    NounPhrase { range: noun.range.start + by..noun.range.end + by, ..noun.clone() }
}

/// Returns a thing with its article. A name, and a thing with an owner, has none.
fn with_article(name: &str) -> String {
    let first = name.split_whitespace().next().unwrap_or_default();
    let named = first.starts_with(char::is_uppercase) || first.ends_with("'s") || first.ends_with("’s");
    if named { name.to_owned() } else { format!("the {name}") }
}

fn without_article(text: &str) -> String {
    let mut words = text.split_whitespace().peekable();
    while words.peek().is_some_and(|word| matches!(word.to_lowercase().as_str(), "the" | "a" | "an")) {
        words.next();
    }
    words.collect::<Vec<_>>().join(" ")
}

/// Answers what came directly after or before something of the same kind: "what was moved next after the cup?".
pub(in crate::recall) fn next_of_kind(pool: &EventPool<'_>) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let Some((relation, cue)) = question.searchable_cue() else { return Ok(None) };
    if relation.order == Order::During
        || !matches!(question.ask(), AnswerKind::Thing | AnswerKind::Next | AnswerKind::Action | AnswerKind::Person)
    {
        return Ok(None);
    }
    let Some(noun) = cue_noun(question) else { return Ok(None) };
    if pool.entity(&noun).is_none() {
        return Ok(None);
    }
    let verb = asked_verb(question);
    let Some(verb) = verb else { return Ok(None) };
    let before = relation.order == Order::Before;
    let does = |reading: &ParsedEvent| {
        reading
            .clauses()
            .filter_map(|clause| clause.verb.as_ref())
            .any(|told| word_similarity(&verb, &told.lemma) >= 0.8)
    };
    let own: Vec<RetrievedEvent> = pool
        .events_about(&noun, question.bound(), before, 500, cue)?
        .into_iter()
        .filter(|found| does(&found.reading))
        .collect();
    let Some(anchor) = own.first().cloned() else { return Ok(None) };
    let at = anchor.span().start;
    let window = if before {
        TimeSpan::new(question.bound().map_or(crate::Timestamp::from_micros(i64::MIN), |bound| bound.start).min(at), at)
    } else {
        TimeSpan::new(at, question.bound().map_or(crate::Timestamp::from_micros(i64::MAX), |bound| bound.end).max(at))
    };
    let kinds = vec![anchor.reading.event.kind];
    let listed = pool.events_in_time_order(Some(window), None, kinds, before, 200, &question.content)?;
    let own_entity = anchor.reading.event.entity.clone();
    let follows = |found: &&RetrievedEvent| {
        let start = found.span().start;
        let placed = if before { start < at } else { start > at || start == at && found.id() > anchor.id() };
        placed && does(&found.reading) && found.reading.event.entity != own_entity
    };
    let mut candidates: Vec<&RetrievedEvent> = listed.iter().filter(follows).collect();
    candidates.sort_by_key(|found| (found.span().start, found.id()));
    let chosen = if before { candidates.last() } else { candidates.first() };
    let Some(found) = chosen else { return Ok(None) };
    let name = found.reading.event.entity.clone().unwrap_or_else(|| found.reading.event.text.clone());
    let evidence = vec![(*found).clone(), anchor.clone()];
    Ok(Some(Candidate::computed(
        Layer::Episodes,
        capitalised(&format!("the {name}")),
        CandidateValue::Text(name),
        evidence,
        question.content.known_share(),
        "the next of its kind in time".into(),
    )))
}

/// Returns the thing that the cue names.
fn cue_noun(question: &Question<'_>) -> Option<NounPhrase> {
    let cue = question.asked.cue.as_ref()?;
    let text = question.part(&cue.range);
    let skip = text.find(char::is_whitespace)? + 1;
    let rest = text.get(skip..)?;
    let (_, sentences) = parse(rest, &time_ranges_in(question, cue.range.start + skip, cue.range.end));
    for clause in &sentences.first()?.clauses {
        let noun =
            clause.objects.first().or(clause.subject.as_ref()).or(clause.adjuncts.first().map(|adjunct| &adjunct.noun));
        if let Some(noun) = noun.filter(|noun| !noun.is_pronoun()) {
            return Some(shifted_phrase(noun, cue.range.start + skip));
        }
    }
    None
}

/// Returns the time phrases in a part of the question, as ranges of that part.
fn time_ranges_in(question: &Question<'_>, from: usize, to: usize) -> Vec<Range<usize>> {
    let inside = question.phrases.iter().filter(|phrase| phrase.range.start >= from && phrase.range.end <= to);
    inside.map(|phrase| phrase.range.start - from..phrase.range.end - from).collect()
}

/// Returns the verb of the question, or that of the cue if the question only asks what came next.
fn asked_verb(question: &Question<'_>) -> Option<String> {
    let only_happens = |lemma: &str| matches!(lemma, "come" | "follow" | "happen");
    let verb = question.asked.clause.verb.as_ref().filter(|verb| !verb.auxiliary_only && !only_happens(&verb.lemma));
    verb.map(|verb| verb.lemma.clone()).or_else(|| {
        let cue = question.asked.cue.as_ref()?;
        let inside = question
            .asked
            .words
            .iter()
            .filter(|word| word.range.start >= cue.range.start && word.range.end <= cue.range.end);
        inside.filter(|word| word.tag == crate::language::english::tag::Tag::Verb).map(|word| word.lemma.clone()).next()
    })
}

/// Returns the gaps between the events of a thing, in which it stayed as it was, in time order. With a bound, includes
/// the gap after the last event.
pub(in crate::recall) fn rests(events: &[RetrievedEvent], bound: Option<TimeSpan>) -> Vec<TimeSpan> {
    let mut spans: Vec<TimeSpan> = events.iter().map(RetrievedEvent::span).collect();
    spans.sort_by_key(|span| (span.start, span.end));
    let mut found = Vec::new();
    for pair in spans.windows(2) {
        found.push(TimeSpan::new(pair[0].end, pair[1].start.max(pair[0].end)));
    }
    if let (Some(last), Some(bound)) = (spans.last(), bound) {
        found.push(TimeSpan::new(last.end, bound.end.max(last.end)));
    }
    found
}

/// Returns the items of an option that is an ordered list: "a, then b, then c".
pub(in crate::recall) fn ordered_items(option: &str) -> Option<Vec<String>> {
    let lower = option.to_lowercase();
    if !lower.contains("then ") {
        return None;
    }
    let items: Vec<String> = option
        .split(", then ")
        .flat_map(|part| part.split(" then "))
        .map(|part| part.trim().trim_matches(',').to_owned())
        .filter(|part| !part.is_empty())
        .collect();
    (items.len() > 1).then_some(items)
}

/// Answers in which order things happened: the things of the matching events, by their first times.
pub(in crate::recall) fn sequence(pool: &EventPool<'_>, found: &[RetrievedEvent]) -> Option<Candidate> {
    let question = pool.question;
    let asks = question.asked.words.windows(2).any(|two| two[0].lemma == "order" && two[1].has_text("of"))
        || question.asked.words.iter().any(|word| matches!(word.text.as_str(), "sequence"))
        || question
            .asked
            .words
            .windows(2)
            .any(|two| matches!(two[0].text.as_str(), "what" | "which") && two[1].has_text("order"));
    if !asks {
        return None;
    }
    let verb = question
        .asked
        .words
        .iter()
        .rfind(|word| {
            matches!(word.tag, crate::language::english::tag::Tag::Verb | crate::language::english::tag::Tag::Adjective)
        })?
        .lemma
        .clone();
    let does = |reading: &ParsedEvent| {
        reading
            .clauses()
            .filter_map(|clause| clause.verb.as_ref())
            .any(|told| word_similarity(&verb, &told.lemma) >= 0.9)
    };
    let mut events: Vec<&RetrievedEvent> =
        found.iter().filter(|found| does(&found.reading) && found.reading.event.entity.is_some()).collect();
    events.sort_by_key(|found| (found.span().start, found.id()));
    let mut names: Vec<String> = Vec::new();
    let mut evidence: Vec<RetrievedEvent> = Vec::new();
    for event in events {
        let name = event.reading.event.entity.clone().unwrap_or_default();
        if !names.contains(&name) {
            names.push(name);
            evidence.push(event.clone());
        }
    }
    if names.len() < 2 {
        return None;
    }
    Some(Candidate::computed(
        Layer::Episodes,
        capitalised(&names.join(", then ")),
        CandidateValue::List(names),
        evidence,
        question.content.known_share(),
        "in the order of their first events".into(),
    ))
}

/// Answers which of the alternatives happened more often.
fn more_often(pool: &EventPool<'_>) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let mut counted: Vec<(usize, String, Vec<RetrievedEvent>)> = Vec::new();
    for range in &question.asked.alternatives {
        let Some(noun) = main_noun(question.part(range)) else { continue };
        let noun = shifted_phrase(&noun, range.start);
        let of_both = |item: &ContentItem| {
            !item.light
                && !question
                    .asked
                    .alternatives
                    .iter()
                    .any(|range| question.part(range).to_lowercase().contains(&item.lemma))
        };
        let events = crate::recall::pool::merge(
            pool.events_about(&noun, question.bound(), false, 500, &question.content)?,
            pool.events_mentioning(&noun, question.bound(), false, 500, &question.content)?,
        );
        let fits: Vec<RetrievedEvent> = events
            .into_iter()
            .filter(|found| {
                let held = question.content.item_similarities(&found.reading);
                let both = question.content.items.iter().zip(held).filter(|(item, _)| of_both(item));
                let (all, held) =
                    both.fold((0.0, 0.0), |(all, sum), (item, held)| (all + item.weight, sum + item.weight * held));
                held >= MIN_COUNTED_COVERAGE * all
            })
            .collect();
        let mut sessions: Vec<String> = Vec::new();
        for found in &fits {
            let event = &found.reading.event;
            let key = event
                .attributes
                .get("session")
                .and_then(crate::Value::as_text)
                .map_or_else(|| event.id.to_string(), str::to_owned);
            if !sessions.contains(&key) {
                sessions.push(key);
            }
        }
        counted.push((sessions.len(), question.part(&noun.range).to_owned(), fits));
    }
    let more = question.asked.scale.as_ref().is_none_or(|scale| scale.most);
    counted.sort_by_key(
        |(count, ..)| if more { std::cmp::Reverse(*count) } else { std::cmp::Reverse(usize::MAX - *count) },
    );
    let [(first, name, evidence), (second, other, _), ..] = counted.as_slice() else { return Ok(None) };
    if *first == 0 {
        return Ok(None);
    }
    let (first_times, second_times) = (times_in_words(*first).to_lowercase(), times_in_words(*second).to_lowercase());
    let text = match first == second {
        true => format!("Both equally often ({first_times}): {} and {other}", capitalised(name)),
        false => format!("{} ({first_times}, {other} {second_times})", capitalised(name)),
    };
    Ok(Some(Candidate::computed(
        Layer::Episodes,
        text,
        CandidateValue::Text(name.clone()),
        evidence.clone(),
        question.content.known_share(),
        "by the number of separate times".into(),
    )))
}
