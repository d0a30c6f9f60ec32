//! Answers from a series of readings: the extreme one, the higher of two, the trend, and the one at a time.

mod asked;
mod series;

use std::time::Duration;

use self::asked::{AskedReading, Form};
use self::series::{Reading, VALUE_TOLERANCE, readings};
use crate::index::words;
use crate::language::english::letters::capitalised;
use crate::language::english::lexicon::{self, PartOfSpeech};
use crate::language::english::question::Order;
use crate::language::english::time::{say_day, say_moment};
use crate::recall::answerers::compared::ComparedTime;
use crate::recall::answerers::quote::join_list;
use crate::recall::candidate::{Candidate, CandidateValue, Layer, Signals};
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::question::Question;
use crate::{ReadError, TimeSpan, Timestamp};

/// Maximum distance of a reading from the time that it stands for, if none lies within.
const MAX_READING_DISTANCE: Duration = Duration::from_secs(3_600);
/// How long a reading holds before a moment.
const READING_DURATION: Duration = Duration::from_secs(24 * 3_600);
/// How far a trend without a time reaches back.
const TREND_DURATION: Duration = Duration::from_secs(3 * 24 * 3_600);
/// Minimum coverage of a cue by the event that it refers to.
const MIN_CUE_COVERAGE: f32 = 0.5;
/// Minimum coverage of a cue by a reading that tells of it itself.
const MIN_OWN_CUE_COVERAGE: f32 = 0.6;
/// Coverage from which an event tells all of a cue.
const MIN_FULL_CUE_COVERAGE: f32 = 0.9;
/// As [`MIN_OWN_CUE_COVERAGE`], by the only reading of the time that the question names.
const MIN_ONLY_CUE_COVERAGE: f32 = 0.2;
/// Maximum number of readings in one answer.
const MAX_LISTED: usize = 4;

/// Answers a question about readings.
pub(in crate::recall) fn answer(pool: &EventPool<'_>) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let Some(asked) = AskedReading::of(question) else { return Ok(None) };
    match &asked.form {
        Form::ExtremeTime { day } => extreme_time(pool, &asked, *day),
        Form::ExtremeValue => extreme_value(pool, &asked),
        Form::Compare { first, second, than } => compare(pool, &asked, first, second, *than),
        Form::Trend { then, .. } => trend(pool, &asked, *then),
        Form::Then => reading_then(pool, &asked),
        Form::Now => reading_now(pool, &asked),
    }
}

/// Answers on which day, or when, a reading was the highest or lowest.
fn extreme_time(pool: &EventPool<'_>, asked: &AskedReading, day: bool) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let mut all = readings(pool, asked, question.bound(), false)?;
    all.retain(|reading| is_in_part_of_day(asked, reading, question));
    let Some(extreme) = extreme(asked, &all) else { return Ok(None) };
    let mut times: Vec<String> = Vec::new();
    let mut chosen: Vec<&Reading> = Vec::new();
    for reading in all.iter().filter(|reading| (reading.value - extreme.value).abs() < VALUE_TOLERANCE) {
        let words = if day { say_day(reading.at, &question.now) } else { say_moment(reading.at, &question.now) };
        if !times.contains(&words) {
            times.push(words);
            chosen.push(reading);
        }
    }
    let text = format!("{} ({})", capitalised(&join_list(&times)), extreme.shown);
    let value = CandidateValue::Times(chosen.iter().map(|reading| TimeSpan::new(reading.at, reading.at)).collect());
    let reason = format!("the {} of {} readings", extreme_name(asked), all.len());
    candidate(pool, text, value, &chosen, reason)
}

/// Answers with the highest or lowest reading.
fn extreme_value(pool: &EventPool<'_>, asked: &AskedReading) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let all = readings(pool, asked, question.bound(), false)?;
    // Equal readings have an extreme value, but no extreme time.
    let Some(extreme) = extreme(asked, &all).or(all.first()) else { return Ok(None) };
    let value = CandidateValue::Number(extreme.value, extreme.unit.clone());
    let at = say_moment(extreme.at, &question.now);
    let reason = match all.len() {
        1 => format!("the only reading, {at}"),
        count => format!("the {} of {count} readings, {at}", extreme_name(asked)),
    };
    candidate(pool, extreme.shown.clone(), value, &[extreme], reason)
}

/// Returns the extreme reading. Of equal readings none is extreme.
fn extreme<'r>(asked: &AskedReading, all: &'r [Reading]) -> Option<&'r Reading> {
    let by_value = |a: &&Reading, b: &&Reading| a.value.total_cmp(&b.value).then(b.at.cmp(&a.at));
    let (least, most) = (all.iter().min_by(by_value)?, all.iter().max_by(by_value)?);
    (most.value - least.value > VALUE_TOLERANCE).then_some(if asked.more { most } else { least })
}

fn extreme_name(asked: &AskedReading) -> &'static str {
    if asked.more { "highest" } else { "lowest" }
}

/// Answers at which of two times a reading was higher, or whether it was.
fn compare(
    pool: &EventPool<'_>,
    asked: &AskedReading,
    first: &ComparedTime,
    second: &ComparedTime,
    than: bool,
) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let whole = TimeSpan::new(
        first.span.start.min(second.span.start).saturating_sub(MAX_READING_DISTANCE),
        first.span.end.max(second.span.end).saturating_add(MAX_READING_DISTANCE),
    );
    let mut all = readings(pool, asked, Some(whole), false)?;
    all.retain(|reading| is_in_part_of_day(asked, reading, question));
    let (one, other) = (readings_of(&all, first.span), readings_of(&all, second.span));
    let (Some(a), Some(b)) = (mean(&one), mean(&other)) else { return Ok(None) };
    let told = |side: &ComparedTime, all: &[&Reading]| format!("{} {}", side.words.trim(), shown_range(all));
    let evidence: Vec<&Reading> = one.iter().chain(&other).copied().collect();
    let reason = "the readings of the two times";
    let same = (a - b).abs() < VALUE_TOLERANCE;
    if than {
        let yes = !same && (a > b) == asked.more;
        let text = format!("{}: {}, {}.", if yes { "Yes" } else { "No" }, told(first, &one), told(second, &other));
        return candidate(pool, text, CandidateValue::Truth(yes), &evidence, reason.into());
    }
    if same {
        let text = match shown_range(&one) == shown_range(&other) {
            true => format!("The same both times ({})", shown_range(&one)),
            false => format!("The same on average: {}, {}.", told(first, &one), told(second, &other)),
        };
        return candidate(pool, text, CandidateValue::Text("same".into()), &evidence, reason.into());
    }
    let (chosen, own, rest, others) =
        if (a > b) == asked.more { (first, &one, second, &other) } else { (second, &other, first, &one) };
    let text = format!("{}: {}, {}.", capitalised(chosen.words.trim()), shown_range(own), told(rest, others));
    let evidence: Vec<&Reading> = own.iter().chain(others).copied().collect();
    candidate(pool, text, CandidateValue::Text(chosen.words.clone()), &evidence, reason.into())
}

/// Answers which way the readings go.
fn trend(pool: &EventPool<'_>, asked: &AskedReading, then: Option<TimeSpan>) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let Form::Trend { either, word, opposite, .. } = &asked.form else { return Ok(None) };
    let bound = if then.is_some() { question.hard } else { question.bound() };
    let mut all = readings(pool, asked, bound, false)?;
    if let Some(then) = then {
        let before = readings_of(&all, then).first().map(|reading| reading.at);
        let Some(before) = before else { return Ok(None) };
        all.retain(|reading| reading.at >= before);
    } else if bound.is_none()
        && let Some(last) = all.last().map(|reading| reading.at)
    {
        let recent = all.partition_point(|reading| reading.at < last.saturating_sub(TREND_DURATION));
        all.drain(..recent.min(all.len().saturating_sub(2)));
    }
    let [first, .., last] = all.as_slice() else { return Ok(None) };
    let last = at_same_hour(question, first, last, &all);
    let more = last.value - first.value;
    let same = more.abs() < VALUE_TOLERANCE;
    let as_asked = !same && (more > 0.0) == asked.more;
    let values = match same {
        true => format!("{} both times", last.shown),
        false => format!("from {} to {}", number_alone(first, last), last.shown),
    };
    let head = match (*either, same, as_asked) {
        (true, true, _) => "Neither".to_owned(),
        (true, _, true) => capitalised(word),
        (true, ..) => capitalised(opposite.as_deref().unwrap_or_default()),
        (false, _, yes) => if yes { "Yes" } else { "No" }.to_owned(),
    };
    let value = if *either { CandidateValue::Text(head.clone()) } else { CandidateValue::Truth(as_asked) };
    let reason = format!("the first and the last of {} readings", all.len());
    candidate(pool, format!("{head}: {values}."), value, &[last, first], reason)
}

/// Returns the reading of the last day that was taken at nearly the same hour as the first one: noon is warmer than the
/// morning on any day.
fn at_same_hour<'r>(question: &Question<'_>, first: &Reading, last: &'r Reading, all: &'r [Reading]) -> &'r Reading {
    let zoned = |reading: &Reading| reading.at.to_jiff().to_zoned(question.now.time_zone().clone());
    let day = zoned(last).date();
    let second = |reading: &Reading| {
        let at = zoned(reading);
        i32::from(at.hour()) * 3_600 + i32::from(at.minute()) * 60 + i32::from(at.second())
    };
    let of_day = all.iter().filter(|reading| zoned(reading).date() == day);
    let nearest = of_day.min_by_key(|reading| (second(reading) - second(first)).abs());
    nearest.filter(|_| zoned(first).date() != day).unwrap_or(last)
}

/// Answers with the reading at the time or event that the question names.
fn reading_then(pool: &EventPool<'_>, asked: &AskedReading) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let bound = question.bound();
    let wide = bound.map(|bound| TimeSpan {
        start: bound.start.saturating_sub(READING_DURATION),
        end: bound.end.saturating_add(MAX_READING_DISTANCE),
    });
    let all = readings(pool, asked, wide, false)?;
    if all.is_empty() {
        return Ok(None);
    }
    let chosen: Vec<&Reading> = match question.asked.cue.is_some() {
        true => reading_at_cue(pool, asked, &all)?.into_iter().collect(),
        false => match bound {
            Some(bound) => readings_at(&all, bound),
            None => Vec::new(),
        },
    };
    let Some(first) = chosen.first() else { return Ok(None) };
    if chosen.len() > MAX_LISTED {
        return Ok(None);
    }
    let at = say_moment(first.at, &question.now);
    let (text, reason) = match chosen.as_slice() {
        [one] => (one.shown.clone(), format!("the reading {at}")),
        several => {
            let told = |reading: &&Reading| format!("{} {}", reading.shown, say_moment(reading.at, &question.now));
            (join_list(&several.iter().map(told).collect::<Vec<_>>()), "the readings of that time".to_owned())
        }
    };
    candidate(pool, text, CandidateValue::Number(first.value, first.unit.clone()), &chosen, reason)
}

/// Answers with the latest reading.
fn reading_now(pool: &EventPool<'_>, asked: &AskedReading) -> Result<Option<Candidate>, ReadError> {
    let all = readings(pool, asked, pool.question.hard, false)?;
    let Some(last) = all.last() else { return Ok(None) };
    let value = CandidateValue::Number(last.value, last.unit.clone());
    let reason = format!("the latest reading, {}", say_moment(last.at, &pool.question.now));
    candidate(pool, last.shown.clone(), value, &[last], reason)
}

/// Returns the readings within a span. For a moment without one, returns the nearest, or the latest before it.
fn readings_at(all: &[Reading], span: TimeSpan) -> Vec<&Reading> {
    let near = readings_of(all, span);
    if !near.is_empty() {
        return near;
    }
    let holds = |reading: &&Reading| reading.at < span.start && span.start.since(reading.at) <= READING_DURATION;
    let moment = span.end.since(span.start) <= MAX_READING_DISTANCE;
    all.iter().rfind(holds).filter(|_| moment).into_iter().collect()
}

/// Returns the reading at the event that the cue names: the one that tells of it itself, or the one nearest in time.
fn reading_at_cue<'r>(
    pool: &EventPool<'_>,
    asked: &AskedReading,
    all: &'r [Reading],
) -> Result<Option<&'r Reading>, ReadError> {
    let question = pool.question;
    let Some((relation, content)) = question.searchable_cue() else { return Ok(None) };
    let bound = question.bound();
    let within = |at: Timestamp| bound.is_none_or(|bound| bound.contains(at));
    if relation.order == Order::During {
        let ids: Vec<_> = all.iter().filter(|reading| within(reading.at)).map(|reading| reading.event).collect();
        let told = pool.read(&ids, content)?;
        let best = told.iter().map(|found| found.coverage.of_content).fold(0.0, f32::max);
        let own = told.iter().rfind(|found| found.coverage.of_content >= best);
        let only = question.has_time_bound() && told.len() == 1;
        let least = if only { MIN_ONLY_CUE_COVERAGE } else { MIN_OWN_CUE_COVERAGE };
        if let Some(own) = own.filter(|_| best >= least) {
            return Ok(all.iter().find(|reading| reading.event == own.id()));
        }
    }
    let text = question.part(&relation.range);
    let step = change_of_cue(question, text).and_then(|up| only_step(all, up));
    let mut cues = pool.search(text, None, content, bound, None)?;
    // "Before he filled it": of the thing that was measured.
    let about = |found: &RetrievedEvent| {
        let held = |word: &asked::AskedWord| found.reading.lemmas.iter().any(|(lemma, _)| *lemma == word.lemma);
        if asked.words.iter().any(held) { 0.2 } else { 0.0 }
    };
    cues.retain(|found| {
        found.coverage.of_content >= MIN_CUE_COVERAGE
            && !found.reading.only_asks()
            && !all.iter().any(|reading| reading.event == found.id() && relation.order != Order::During)
    });
    let value = |found: &RetrievedEvent| found.coverage.of_content + about(found);
    let best = cues.iter().map(value).fold(0.0, f32::max);
    cues.retain(|found| value(found) >= best - f32::EPSILON);
    // The readings themselves show when the value was changed, if no event tells it in full.
    if let Some((before, after)) = step
        && cues.iter().all(|found| found.coverage.of_content < MIN_FULL_CUE_COVERAGE)
    {
        match relation.order {
            Order::Before => return Ok(Some(before)),
            Order::After => return Ok(Some(after)),
            Order::During => {}
        }
    }
    let Some(cue) = cues.iter().max_by_key(|found| (found.span().start, found.id())).map(RetrievedEvent::span) else {
        return Ok(None);
    };
    let before = || all.iter().rfind(|reading| reading.at < cue.start);
    Ok(match relation.order {
        Order::Before => before(),
        Order::After => all.iter().find(|reading| reading.at >= cue.end),
        Order::During => {
            let away = |at: Timestamp| if at > cue.start { at.since(cue.start) } else { cue.start.since(at) };
            let nearest = all.iter().min_by_key(|reading| away(reading.at));
            nearest
                .filter(|reading| away(reading.at) <= MAX_READING_DISTANCE)
                .or_else(|| before().filter(|reading| cue.start.since(reading.at) <= READING_DURATION))
        }
    })
}

/// Returns whether a cue says that the value was raised (`true`) or lowered: "before she turned it down".
fn change_of_cue(question: &Question<'_>, cue: &str) -> Option<bool> {
    let lemma = |word: &str| lexicon::lemma(word, PartOfSpeech::Verb).unwrap_or_default();
    let words: Vec<String> = words(cue).collect();
    let has = |all: &[&str]| words.iter().any(|word| all.contains(&word.as_str()) || all.contains(&lemma(word)));
    let named = || question.named.iter().any(|noun| words.contains(&noun.head));
    let of_it = has(&["it", "them"]) || named();
    match (has(&["up", "raise", "fill", "refill"]), has(&["down", "lower", "reduce", "drain", "empty"])) {
        (true, false) if of_it => Some(true),
        (false, true) if of_it => Some(false),
        _ => None,
    }
}

/// Returns the readings before and after the only step upwards or downwards.
fn only_step(all: &[Reading], up: bool) -> Option<(&Reading, &Reading)> {
    let differs = |pair: &&[Reading]| {
        let more = pair[1].value - pair[0].value;
        more.abs() > VALUE_TOLERANCE && (more > 0.0) == up
    };
    let mut steps = all.windows(2).filter(differs);
    let step = steps.next()?;
    steps.next().is_none().then_some((&step[0], &step[1]))
}

/// Returns the readings within a span; if there is none, the one nearest to it within an hour.
fn readings_of(all: &[Reading], span: TimeSpan) -> Vec<&Reading> {
    let inside: Vec<&Reading> = all.iter().filter(|reading| span.contains(reading.at)).collect();
    if !inside.is_empty() {
        return inside;
    }
    let away = |reading: &&Reading| {
        if reading.at < span.start { span.start.since(reading.at) } else { reading.at.since(span.end) }
    };
    let day = span.end.since(span.start) > READING_DURATION / 2;
    let nearest = all.iter().min_by_key(away).filter(|reading| away(reading) <= MAX_READING_DISTANCE);
    nearest.filter(|_| !day).into_iter().collect()
}

fn is_in_part_of_day(asked: &AskedReading, reading: &Reading, question: &Question<'_>) -> bool {
    let Some((from, to)) = asked.part_of_day else { return true };
    let at = reading.at.to_jiff().to_zoned(question.now.time_zone().clone());
    let second = i32::from(at.hour()) * 3_600 + i32::from(at.minute()) * 60;
    (from..to).contains(&second) || (from..to).contains(&(second + 24 * 3_600))
}

fn mean(all: &[&Reading]) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "a few readings")]
    let count = all.len() as f64;
    (!all.is_empty()).then(|| all.iter().map(|reading| reading.value).sum::<f64>() / count)
}

/// Returns readings in words: "18 degrees", "18 to 21 degrees".
fn shown_range(all: &[&Reading]) -> String {
    let least = all.iter().min_by(|a, b| a.value.total_cmp(&b.value));
    let most = all.iter().max_by(|a, b| a.value.total_cmp(&b.value));
    match (least, most) {
        (Some(least), Some(most)) if most.value - least.value > VALUE_TOLERANCE => {
            format!("{} to {}", number_alone(least, most), most.shown)
        }
        (Some(one), _) => one.shown.clone(),
        _ => String::new(),
    }
}

/// Returns a reading without its unit, if the next one repeats it.
fn number_alone(reading: &Reading, next: &Reading) -> String {
    let number = reading.shown.split_once(' ').filter(|_| reading.unit == next.unit).map(|(number, _)| number);
    number.filter(|number| number.starts_with(|c: char| c.is_ascii_digit())).unwrap_or(&reading.shown).to_owned()
}

/// Returns the answer with its readings as evidence.
fn candidate(
    pool: &EventPool<'_>,
    text: String,
    value: CandidateValue,
    chosen: &[&Reading],
    reason: String,
) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let ids: Vec<_> = chosen.iter().map(|reading| reading.event).collect();
    let score = chosen.iter().map(|reading| reading.score).fold(1.0, f32::min).clamp(0.0, 1.0);
    let evidence = pool.read(&ids, &question.content)?;
    if evidence.is_empty() {
        return Ok(None);
    }
    // The words of degree are in no reading, but they are known.
    let known = question.content.known_share().max(score);
    let signals = Signals { coverage: score, cosine: 0.5, margin: 1.0, fits: 1.0, thing: score, known };
    Ok(Some(Candidate {
        layer: Layer::Episodes,
        text,
        value,
        signals,
        evidence,
        confidence: 0.0,
        computed: true,
        reason,
    }))
}
