//! Compares two times: "was it warmer at noon or in the evening?", "did she play longer on Monday than on Tuesday?".

use std::collections::BTreeMap;
use std::time::Duration;

use crate::language::english::letters::capitalised;
use crate::language::english::question::{AnswerKind, Comparison};
use crate::language::english::time::{say_day, say_length, time_phrases};
use crate::recall::answerers::amounts::has_unit_class_of;
use crate::recall::answerers::order::main_noun;
use crate::recall::answerers::quote::join_list;
use crate::recall::candidate::{Candidate, CandidateValue, Layer, Signals};
use crate::recall::content::word_similarity;
use crate::recall::corrections::stated_quantities;
use crate::recall::likeness::best_phrase_similarity;
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::quantities::Quantity;
use crate::recall::question::Question;
use crate::{Kind, ReadError, TimeSpan};

/// Maximum number of events that are read for each of the two times.
const MAX_SIDE_EVENTS: usize = 200;
/// Minimum coverage of the question by an event whose duration is compared.
const MIN_EVENT_COVERAGE: f32 = 0.5;
/// Minimum similarity of an event to the thing whose value is compared.
const MIN_THING_SIMILARITY: f32 = 0.6;
/// Maximum distance of a measured value from the named time.
const MAX_READING_DISTANCE: Duration = Duration::from_secs(3_600);

/// One of the two times, with its words.
pub(super) struct ComparedTime {
    pub words: String,
    pub span: TimeSpan,
}

/// Answers at which time something was more, longer or more often, or whether it was.
pub(in crate::recall) fn answer(pool: &EventPool<'_>) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let Some(scale) = question.asked.scale.as_ref().filter(|scale| scale.comparative) else { return Ok(None) };
    if matches!(scale.scale_noun.as_str(), "price" | "weight") {
        return compare_things(pool, scale);
    }
    if !matches!(question.ask(), AnswerKind::Truth | AnswerKind::Time | AnswerKind::Thing | AnswerKind::Description) {
        return Ok(None);
    }
    let Some((first, second, than)) = compared_times(question) else { return best_day(pool, scale) };
    let of_side = |side: &ComparedTime| match scale.scale_noun.as_str() {
        "long" => duration_within(pool, side.span),
        "often" => count_within(pool, side.span),
        _ => value_near(pool, side.span),
    };
    let (Some(one), Some(other)) = (of_side(&first)?, of_side(&second)?) else {
        // Neither yes nor no answers which of two times it was.
        let untold = question.ask() == AnswerKind::Truth && !than;
        let none = || Candidate {
            signals: Signals::default(),
            ..comparison_candidate(question, String::new(), CandidateValue::List(Vec::new()), Vec::new())
        };
        return Ok(untold.then(none));
    };
    if one.0.total_cmp(&other.0).is_eq() && !than {
        let text = format!("The same both times ({})", one.1);
        return Ok(Some(comparison_candidate(
            question,
            text,
            CandidateValue::Text("same".into()),
            vec![one.2, other.2],
        )));
    }
    let more = if scale.most { one.0 > other.0 } else { one.0 < other.0 };
    let told = |side: &ComparedTime, value: &str| format!("{} {value}", side.words);
    if than {
        let text =
            format!("{}: {}, {}.", if more { "Yes" } else { "No" }, told(&first, &one.1), told(&second, &other.1));
        return Ok(Some(comparison_candidate(question, text, CandidateValue::Truth(more), vec![one.2, other.2])));
    }
    let ((chosen, own), (rest, others)) =
        if more { ((&first, &one), (&second, &other)) } else { ((&second, &other), (&first, &one)) };
    let text = format!("{}: {}, {}.", capitalised(&chosen.words), own.1, told(rest, &others.1));
    let value = CandidateValue::Text(chosen.words.clone());
    Ok(Some(comparison_candidate(question, text, value, vec![own.2.clone(), others.2.clone()])))
}

fn comparison_candidate(
    question: &Question<'_>,
    text: String,
    value: CandidateValue,
    evidence: Vec<RetrievedEvent>,
) -> Candidate {
    Candidate::computed(
        Layer::Episodes,
        text,
        value,
        evidence,
        question.content.known_share().max(0.6),
        "the two compared".into(),
    )
}

/// Answers "which was cheaper, the lamp or the clock?" by the latest told price or weight of each.
fn compare_things(pool: &EventPool<'_>, scale: &Comparison) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let [.., first, second] = question.asked.alternatives.as_slice() else { return Ok(None) };
    let told = |range: &std::ops::Range<usize>| -> Result<Option<(f64, String, String, RetrievedEvent)>, ReadError> {
        let Some(mut noun) = main_noun(question.part(range)) else { return Ok(None) };
        let name = question.part(range).trim().to_owned();
        noun.range = noun.range.start + range.start..noun.range.end + range.start;
        let mut events = pool.events_mentioning(&noun, question.hard, true, MAX_SIDE_EVENTS, &question.content)?;
        events.sort_by_key(|found| std::cmp::Reverse((found.span().start, found.id())));
        // "Nine euros for a brush, can you believe it?" tells the price all the same.
        let amounts = events.into_iter().find_map(|found| {
            let mut all = stated_quantities(&found.reading).into_iter();
            let quantity = all.find(|quantity| has_unit_class_of(&scale.scale_noun, quantity, &found.reading))?;
            let text = found.reading.text(&quantity.range).to_owned();
            Some((quantity.value, text, found))
        });
        Ok(amounts.map(|(value, text, found)| (value, text, name, found)))
    };
    let (Some(one), Some(other)) = (told(first)?, told(second)?) else { return Ok(None) };
    if one.0.total_cmp(&other.0).is_eq() {
        let text = format!("Both the same ({})", one.1);
        return Ok(Some(comparison_candidate(
            question,
            text,
            CandidateValue::Text("same".into()),
            vec![one.3, other.3],
        )));
    }
    let (chosen, rest) = if scale.most == (one.0 > other.0) { (one, other) } else { (other, one) };
    let text = format!("{}: {}, {} {}.", capitalised(&chosen.2), chosen.1, rest.2, rest.1);
    Ok(Some(comparison_candidate(question, text, CandidateValue::Text(chosen.2), vec![chosen.3, rest.3])))
}

/// Answers "on which day did she play longer?" with the day that has the most of it.
fn best_day(pool: &EventPool<'_>, scale: &Comparison) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let day =
        question.asked.class.as_ref().is_some_and(|class| matches!(class.head.as_str(), "day" | "evening" | "night"));
    if !day || !matches!(scale.scale_noun.as_str(), "long" | "often") {
        return Ok(None);
    }
    let zone = question.now.time_zone();
    let mut days: BTreeMap<jiff::civil::Date, Vec<RetrievedEvent>> = BTreeMap::new();
    for found in matching_events(pool, question.bound())? {
        days.entry(found.span().start.to_jiff().to_zoned(zone.clone()).date()).or_default().push(found);
    }
    let lasting = |all: &[RetrievedEvent]| -> Duration {
        all.iter().map(|found| found.span().end.since(found.span().start)).sum()
    };
    let value = |all: &[RetrievedEvent]| {
        if scale.scale_noun == "long" { lasting(all) } else { Duration::from_secs(all.len() as u64) }
    };
    let mut rated: Vec<(Duration, Vec<RetrievedEvent>)> = days.into_values().map(|all| (value(&all), all)).collect();
    rated.sort_by_key(|(value, _)| if scale.most { u64::MAX - value.as_secs() } else { value.as_secs() });
    let [(most, _), (next, _), ..] = rated.as_slice() else { return Ok(None) };
    if most == next || most.max(next).is_zero() {
        return Ok(None);
    }
    let told = |(value, all): &(Duration, Vec<RetrievedEvent>)| {
        let value = if scale.scale_noun == "long" { say_length(*value) } else { format!("{} times", value.as_secs()) };
        let day = all.first().map_or(String::new(), |found| say_day(found.span().start, &question.now));
        format!("{day} {value}")
    };
    let all: Vec<String> = rated.iter().take(2).map(told).collect();
    let day = rated[0].1.first().map_or(String::new(), |found| say_day(found.span().start, &question.now));
    let text = format!("{}: {}.", capitalised(&day), join_list(&all));
    let evidence = rated.into_iter().take(2).filter_map(|(_, all)| all.into_iter().next()).collect();
    Ok(Some(comparison_candidate(question, text, CandidateValue::Text(day), evidence)))
}

/// Returns the two times that "or" or "than" joins.
pub(super) fn compared_times(question: &Question<'_>) -> Option<(ComparedTime, ComparedTime, bool)> {
    let words = &question.asked.words;
    let joint = words.iter().rposition(|word| matches!(word.text.as_str(), "or" | "than"))?;
    let than = words[joint].has_text("than");
    let (before, behind) = (words[joint].range.start, words[joint].range.end);
    let own = |from: usize, to: usize| {
        let mut inside =
            question.phrases.iter().filter(move |phrase| from <= phrase.range.start && phrase.range.end <= to);
        inside.next_back()
    };
    let (one, other) = (own(0, before), own(behind, question.text.len()));
    // "In the morning or at noon on Monday": a part of a day is that of the day that the other one names.
    let zone = question.now.time_zone();
    let day = |span: TimeSpan| span.start.to_jiff().to_zoned(zone.clone()).strftime("%-d %B %Y").to_string();
    let within = |text: &str, date: Option<TimeSpan>| {
        let text = text.trim().trim_end_matches(['?', ',', '.']);
        let dated = date.map_or_else(|| text.to_owned(), |date| format!("{text} on {}", day(date)));
        let found = time_phrases(&dated, &question.now, None, question.tense);
        let spans: Vec<TimeSpan> = found.iter().map(|phrase| phrase.named).collect();
        let shortest = spans.into_iter().min_by_key(|span| span.end.since(span.start))?;
        Some(shortest)
    };
    let last_words = |text: &str| {
        let place = ["in the ", "at ", "on ", "this ", "yesterday", "today"]
            .iter()
            .filter_map(|begin| text.rfind(begin))
            .max()?;
        text.get(place..).map(str::to_owned)
    };
    let dated = |phrase: Option<&crate::language::english::time::TimePhrase>| {
        phrase.filter(|phrase| phrase.has_date).map(|phrase| phrase.named)
    };
    let side = |phrase: Option<&crate::language::english::time::TimePhrase>,
                text: &str,
                date: Option<TimeSpan>|
     -> Option<ComparedTime> {
        match phrase.filter(|phrase| phrase.has_date || date.is_none()) {
            Some(phrase) => Some(ComparedTime { words: question.part(&phrase.range).to_owned(), span: phrase.named }),
            None => {
                let words = match phrase {
                    Some(phrase) => question.part(&phrase.range).to_owned(),
                    None => last_words(text)?,
                };
                Some(ComparedTime { span: within(&words, date)?, words })
            }
        }
    };
    let (before, behind) = (question.text.get(..before)?, question.text.get(behind..)?);
    let first = side(one, before, dated(other))?;
    let second = side(other, behind, dated(one))?;
    (first.span != second.span).then_some((first, second, than))
}

type ComparedValue = Option<(f64, String, RetrievedEvent)>;

/// Returns how long the event in question lasted within a time span.
fn duration_within(pool: &EventPool<'_>, span: TimeSpan) -> Result<ComparedValue, ReadError> {
    let events = matching_events(pool, Some(span))?;
    let total: Duration = events.iter().map(|found| found.span().end.since(found.span().start)).sum();
    let Some(found) = events.into_iter().find(|found| found.span().end > found.span().start) else { return Ok(None) };
    Ok(Some((total.as_secs_f64(), say_length(total), found)))
}

/// Returns how often the event in question happened within a time span.
#[expect(clippy::cast_precision_loss, reason = "a count of events")]
fn count_within(pool: &EventPool<'_>, span: TimeSpan) -> Result<ComparedValue, ReadError> {
    let events = matching_events(pool, Some(span))?;
    let count = events.len();
    Ok(events.into_iter().next().map(|found| (count as f64, format!("{count} times"), found)))
}

/// Returns the matching events within a time span, or the latest ones.
fn matching_events(pool: &EventPool<'_>, span: Option<TimeSpan>) -> Result<Vec<RetrievedEvent>, ReadError> {
    let question = pool.question;
    let mut all =
        pool.events_in_time_order(span, None, Vec::new(), span.is_none(), MAX_SIDE_EVENTS, &question.content)?;
    all.retain(|found| !found.reading.only_asks() && found.reading.event.kind != Kind::Text);
    let most = all.iter().map(|found| found.coverage.of_content).fold(0.0, f32::max);
    all.retain(|found| {
        found.coverage.of_content >= MIN_EVENT_COVERAGE.min(most).max(0.3) && found.coverage.of_content >= most - 0.1
    });
    Ok(all)
}

/// Returns the told value of the thing nearest to a time.
fn value_near(pool: &EventPool<'_>, span: TimeSpan) -> Result<ComparedValue, ReadError> {
    let question = pool.question;
    let Some(thing) = question.asked.clause.subject.as_ref().or(question.named.first()) else { return Ok(None) };
    let middle = span.start.saturating_add(span.end.since(span.start) / 2);
    let wide = TimeSpan {
        start: span.start.saturating_sub(MAX_READING_DISTANCE),
        end: span.end.saturating_add(MAX_READING_DISTANCE),
    };
    let mut rated: Vec<(u8, Duration, f64, String, RetrievedEvent)> = Vec::new();
    for found in pool.events_in_time_order(Some(wide), None, Vec::new(), false, MAX_SIDE_EVENTS, &question.content)? {
        if found.reading.only_asks() {
            continue;
        }
        let of_thing = best_phrase_similarity(thing, &found.reading) >= MIN_THING_SIMILARITY;
        let owner = thing
            .owner
            .as_deref()
            .is_some_and(|owner| best_phrase_similarity(owner, &found.reading) >= MIN_THING_SIMILARITY);
        for quantity in found.reading.quantities() {
            let own = can_measure(&thing.head, &quantity) || of_thing && is_value_of(&thing.head, &found, &quantity);
            let rank = match (own, of_thing, owner) {
                (true, true, _) => 0,
                (true, _, true) => 1,
                (true, false, false) => 2,
                (false, true, _) if quantity.unit == "%" => 3,
                _ => continue,
            };
            let inside = span.contains(found.span().start);
            let at = found.span().start;
            let away = if at > middle { at.since(middle) } else { middle.since(at) };
            let text = found.reading.text(&quantity.range).to_owned();
            rated.push((rank + if inside { 0 } else { 4 }, away, quantity.value, text, found.clone()));
        }
    }
    rated.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.cmp(&b.1)).then(a.4.id().cmp(&b.4.id())));
    Ok(rated.into_iter().next().map(|(_, _, value, text, found)| (value, text, found)))
}

/// Returns whether a number directly follows what it is the value of: "blood sugar: 6.1", "the pressure is 2.1".
fn is_value_of(head: &str, found: &RetrievedEvent, quantity: &Quantity) -> bool {
    let before = found.reading.event.text.get(..quantity.range.start).unwrap_or_default();
    let before = before.trim_end().trim_end_matches(':').trim_end();
    let mut words = before.rsplit(' ').skip_while(|word| matches!(*word, "is" | "was" | "of" | "at" | "now" | "by"));
    words.next().is_some_and(|word| word_similarity(head, &word.to_lowercase()) >= 0.9)
}

/// Returns whether a number can be a value of what a word names.
fn can_measure(head: &str, quantity: &Quantity) -> bool {
    let degrees = matches!(quantity.unit.as_str(), "degree" | "°" | "c" | "°c" | "celsius");
    let plain = quantity.unit.is_empty() || quantity.unit == "now" || quantity.unit == "again";
    match head {
        // What a person's temperature is told as has a decimal and no unit.
        "temperature" | "fever" => {
            degrees || plain && (34.0..43.0).contains(&quantity.value) && quantity.value.fract() != 0.0
        }
        "battery" | "charge" => quantity.unit == "%",
        _ => {
            word_similarity(head, &quantity.unit) >= 0.9
                || quantity.measured.split(' ').any(|word| word_similarity(head, word) >= 0.9)
        }
    }
}
