//! Composes a summary in sentences from the lines of a gist.

use jiff::Zoned;
use jiff::tz::TimeZone;

use crate::Timestamp;
use crate::gist_line::{Line, Topic};
use crate::language::english::letters::capitalised;
use crate::language::english::tag::{Tag, tag_words};

/// Longest pause within one stretch of a summary, in microseconds. Each stretch gets its own time.
const MAX_STRETCH_GAP_US: i64 = 30 * 60 * 1_000_000;
/// Minimum length of a summary with times, in microseconds.
const MIN_TIMED_SUMMARY_US: i64 = 60 * 60 * 1_000_000;

/// Composes lines, the most important first, up to a number of words. Returns the text and which lines it contains, or
/// `None` without lines.
pub(crate) fn summarise<'a>(
    mut picked: Vec<&'a Line>,
    budget: usize,
    zone: &TimeZone,
) -> Option<(String, Vec<&'a Line>)> {
    while !picked.is_empty() {
        let text = compose_sentences(&picked, zone);
        if text.split_whitespace().count() <= budget || picked.len() == 1 {
            return Some((text, picked));
        }
        picked.pop();
    }
    None
}

/// Composes sentences in time order. Each stretch starts with its time, then states activities, speech and
/// observations.
fn compose_sentences(lines: &[&Line], zone: &TimeZone) -> String {
    let mut lines = lines.to_vec();
    lines.sort_by_key(|line| (line.span.start, line.sources.first().copied()));
    let stretches = split_stretches(&lines);
    let spans_little = match (stretches.first(), stretches.last()) {
        (Some(first), Some(last)) => {
            stretches.len() == 1
                && stretch_start(last).as_micros() - stretch_start(first).as_micros() < MIN_TIMED_SUMMARY_US
        }
        _ => true,
    };
    // A single day is not named.
    let day_of = |line: &&Line| line.span.start.to_jiff().to_zoned(zone.clone()).date();
    let first = lines.first().map(day_of);
    let mut day_told = first.filter(|first| lines.iter().all(|line| day_of(line) == *first));
    let mut told: Vec<String> = Vec::new();
    for stretch in stretches {
        let mut text =
            if spans_little { String::new() } else { format!("{}: ", stretch_time(&stretch, zone, &mut day_told)) };
        text.push_str(&stretch_sentences(&stretch));
        told.push(text);
    }
    told.join(" ")
}

fn stretch_start(stretch: &[&Line]) -> Timestamp {
    stretch.first().map(|line| line.span.start).unwrap_or_default()
}

/// Splits lines into stretches without a long pause.
fn split_stretches<'a>(lines: &[&'a Line]) -> Vec<Vec<&'a Line>> {
    let mut stretches: Vec<Vec<&Line>> = Vec::new();
    let mut until = i64::MIN;
    for line in lines {
        let start = line.span.start.as_micros();
        // A line that came again hours later ends there; it does not bridge the time between.
        let end = if line.times == 1 { line.span.end.as_micros() } else { start };
        match stretches.last_mut() {
            Some(stretch) if start <= until.saturating_add(MAX_STRETCH_GAP_US) => stretch.push(line),
            _ => stretches.push(vec![line]),
        }
        until = until.max(end);
    }
    stretches
}

/// Returns the time of a stretch: "08:05 to 08:40", with the day if it differs from that of the stretch before.
fn stretch_time(stretch: &[&Line], zone: &TimeZone, day_told: &mut Option<jiff::civil::Date>) -> String {
    let local = |time: Timestamp| time.to_jiff().to_zoned(zone.clone());
    let start = local(stretch_start(stretch));
    let last = stretch.iter().map(|line| if line.times == 1 { line.span.end } else { line.span.start }).max();
    let end = local(last.unwrap_or_default());
    let clock = |time: &Zoned| time.strftime("%H:%M").to_string();
    let mut text = String::new();
    if *day_told != Some(start.date()) {
        text = format!("{}, ", start.strftime("%-d %B"));
    }
    *day_told = Some(start.date());
    text.push_str(&clock(&start));
    if clock(&end) != clock(&start) {
        text.push_str(" to ");
        text.push_str(&clock(&end));
    }
    text
}

fn stretch_sentences(stretch: &[&Line]) -> String {
    let of = |topics: &[Topic]| -> Vec<&Line> {
        stretch.iter().copied().filter(|line| topics.contains(&line.topic)).collect()
    };
    let mut told: Vec<String> = Vec::new();
    let doings: Vec<String> = of(&[Topic::Scene, Topic::Action, Topic::State])
        .into_iter()
        .map(|line| with_count(&with_speaker(line), line))
        .collect();
    let mut doings = doings.into_iter();
    told.extend(doings.next().map(|first| {
        std::iter::once(first).chain(doings.map(|text| uncapitalised(&text))).collect::<Vec<_>>().join("; ")
    }));
    let goals: Vec<String> = of(&[Topic::Task]).into_iter().map(|line| with_count(&line.text, line)).collect();
    told.extend((!goals.is_empty()).then(|| format!("Tasks: {}", goals.join(", "))));
    for line in of(&[Topic::Speech]) {
        let words = &line.text;
        let said = match &line.entity {
            Some(name) => format!("{name} said \"{words}\""),
            None => words.clone(),
        };
        told.push(with_count(&said, line));
    }
    let names = |topic: Topic| of(&[topic]).into_iter().map(|line| with_count(&line.text, line)).collect::<Vec<_>>();
    let headings =
        [(Topic::Place, "Places"), (Topic::Entity, "Seen"), (Topic::Sound, "Heard"), (Topic::Object, "In view")];
    for (topic, heading) in headings {
        let names = names(topic);
        if !names.is_empty() {
            told.push(format!("{heading}: {}", names.join(", ")));
        }
    }
    let ended = |text: String| {
        let closed = text.ends_with(['.', '!', '?', '…']);
        let capital = capitalised(&text);
        if closed { capital } else { format!("{capital}.") }
    };
    told.into_iter().map(ended).collect::<Vec<_>>().join(" ")
}

/// Returns a line with its speaker ("Anna: chop the onions"), unless the text names the speaker.
fn with_speaker(line: &Line) -> String {
    match &line.entity {
        Some(name) if !line.text.to_lowercase().contains(&name.to_lowercase()) => format!("{name}: {}", line.text),
        _ => line.text.clone(),
    }
}

fn with_count(text: &str, line: &Line) -> String {
    match line.times {
        0 | 1 => text.to_owned(),
        2 => format!("{text} (twice)"),
        times => format!("{text} ({times} times)"),
    }
}

/// Returns a text with a lower-case first letter, unless the word is a name.
pub(crate) fn uncapitalised(text: &str) -> String {
    let is_name = tag_words(text, &[], &[]).first().is_none_or(|word| word.tag == Tag::Name || word.text.len() < 2);
    let mut characters = text.chars();
    match characters.next() {
        Some(first) if !is_name && characters.as_str().chars().next().is_some_and(char::is_lowercase) => {
            first.to_lowercase().chain(characters).collect()
        }
        _ => text.to_owned(),
    }
}
