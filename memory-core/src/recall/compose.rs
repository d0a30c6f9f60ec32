//! Answers made from the evidence's own words.

use jiff::Zoned;

use super::classify::Form;
use super::question::{Content, Question, terms_of};
use super::relation::Order;
use super::retrieve::{Found, Retrieval, Way};
use crate::language::english::time::{Tense, moment, period, time_phrases};
use crate::{Event, Kind, TimeSpan, Timestamp};

/// Events closer than this are one occurrence.
const ONE_OCCURRENCE: std::time::Duration = std::time::Duration::from_secs(30);

/// Most events that one sentence lists.
const LISTED: usize = 5;

/// The answer in words; the retrieval is not empty.
pub(super) fn compose(question: &Question, retrieval: &Retrieval, now: &Zoned) -> Option<String> {
    let best = retrieval.found.first()?;
    let text = match (&retrieval.way, question.form) {
        (_, Form::Count) => {
            let times = counted(retrieval);
            format!("{}: {}.", count_in_words(times.len()), list(times.iter().map(|at| moment(*at, now))))
        }
        (Way::Listing, _) => listing(&retrieval.found, now),
        (Way::Relation { cue, order, placed, .. }, _) => {
            let placed = retrieval.found.iter().filter(|one| placed.contains(&one.event.id));
            relation(placed, cue, *order, now)
        }
        (Way::Search, Form::When) => when(question, &best.event, now),
        (Way::Search, _) => quote(&best.event, best_sentence(&best.event.text, &question.content)),
    };
    Some(text)
}

/// What was said, with who said it.
fn quote(event: &Event, sentence: &str) -> String {
    let sentence = closed(sentence);
    match &event.entity {
        Some(entity) if event.kind == Kind::Text => format!("{entity}: {sentence}"),
        Some(entity) if !event.text.contains(entity.as_str()) => format!("{entity}: {sentence}"),
        _ => sentence,
    }
}

fn closed(sentence: &str) -> String {
    let sentence = sentence.trim();
    if sentence.ends_with(['.', '!', '?', '…', '"', '”']) { sentence.into() } else { format!("{sentence}.") }
}

/// The sentence that holds most of the question's content; a question answers nothing, so it counts for less.
fn best_sentence<'a>(text: &'a str, content: &Content) -> &'a str {
    let sentences = sentences(text);
    let value = |sentence: &str| {
        let coverage = content.coverage(&terms_of(sentence));
        if sentence.ends_with('?') { 0.5 * coverage } else { coverage }
    };
    let mut best = (0.0, text.trim());
    for sentence in sentences {
        let value = value(sentence);
        if value > best.0 {
            best = (value, sentence);
        }
    }
    // Two short sentences make more sense together than one alone.
    if text.len() <= 120 { text.trim() } else { best.1 }
}

fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut from = 0;
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let ends = matches!(character, '.' | '!' | '?' | '\n')
            && characters.peek().is_none_or(|(_, next)| next.is_whitespace());
        if ends {
            sentences.push(text[from..at + character.len_utf8()].trim());
            from = at + character.len_utf8();
        }
    }
    sentences.push(text[from..].trim());
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

/// When it was; where the evidence itself says when ("yesterday"), that.
fn when(question: &Question, event: &Event, now: &Zoned) -> String {
    let sentence = best_sentence(&event.text, &question.content);
    let told_at = event.span.start.to_jiff().to_zoned(now.time_zone().clone());
    let told = time_phrases(sentence, &told_at, None, Tense::Past)
        .into_iter()
        .filter(|phrase| event.kind == Kind::Text && phrase.bounds)
        .find_map(|phrase| phrase.spans.first().map(|(span, _)| *span))
        .filter(|span| !span.contains(event.span.start) || span.end.since(span.start).as_secs() <= 86_400);
    match told {
        Some(span) => {
            let told_at = moment(event.span.start, now);
            format!("{} (told {}): {}", capitalised(&period(span, now)), told_at, quote(event, sentence))
        }
        None => format!("{}: {}", capitalised(&moment(event.span.start, now)), quote(event, sentence)),
    }
}

fn listing(found: &[Found], now: &Zoned) -> String {
    let mut chosen: Vec<&Found> = Vec::new();
    for one in found {
        if !chosen.iter().any(|other| other.event.text == one.event.text) {
            chosen.push(one);
        }
    }
    chosen.truncate(LISTED);
    chosen.sort_by_key(|one| (one.event.span.start, one.event.id));
    let lines = chosen.iter().map(|one| {
        format!("{}: {}", capitalised(&moment(one.event.span.start, now)), quote(&one.event, &one.event.text))
    });
    lines.collect::<Vec<_>>().join(" ")
}

fn relation<'a>(placed: impl Iterator<Item = &'a Found>, cue: &Event, order: Order, now: &Zoned) -> String {
    let mut texts: Vec<String> = Vec::new();
    for one in placed {
        let text = quote(&one.event, &one.event.text);
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts.truncate(if order == Order::During { 3 } else { 1 });
    let relation = match order {
        Order::During => "while",
        Order::After => "after",
        Order::Before => "before",
    };
    let text = cue.text.trim().trim_end_matches('.');
    let cue_told = match (&cue.entity, cue.kind) {
        (Some(entity), Kind::Text) => format!("{entity} said “{text}”"),
        (None, Kind::Text) => format!("somebody said “{text}”"),
        _ => format!("“{text}”"),
    };
    format!("{} That was {}, {relation} {cue_told}.", texts.join(" "), moment(cue.span.start, now))
}

/// The begins of what a question for a number counts, in order of time.
pub(super) fn counted(retrieval: &Retrieval) -> Vec<Timestamp> {
    let known = retrieval.counted.as_ref().map(|counted| counted.begins.clone());
    known.unwrap_or_else(|| occurrences(&retrieval.found))
}

/// The begins of separate occurrences among candidates that hold as much of the question as the best, in order of time.
fn occurrences(found: &[Found]) -> Vec<Timestamp> {
    let most = found.iter().fold(0.0_f32, |most, one| most.max(one.coverage));
    let mut spans: Vec<TimeSpan> =
        found.iter().filter(|one| one.coverage >= 0.9 * most).map(|one| one.event.span).collect();
    spans.sort_by_key(|span| (span.start, span.end));
    let mut begins = Vec::new();
    let mut end: Option<Timestamp> = None;
    for span in spans {
        if end.is_none_or(|end| span.start.since(end) > ONE_OCCURRENCE) {
            begins.push(span.start);
        }
        end = Some(end.map_or(span.end, |end| end.max(span.end)));
    }
    begins
}

fn count_in_words(count: usize) -> String {
    match count {
        1 => "Once".into(),
        2 => "Twice".into(),
        count => format!("{count} times"),
    }
}

fn list(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    match items.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}
