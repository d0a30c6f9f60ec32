//! The audio-visual questions answered from subtitles and detected objects, in process and without a video: a quick look at
//! what `tests/score av` measures over MQTT.
//!
//! Subtitles become spoken events, the objects of `baseline_index.json` become one visual event per window.
//! With `--events`, the events are those of a real memory: `engram inspect events --json --limit 1000`.
//! `cargo run --release -p memory-core --example av -- [--vectors FILE [--missing FILE]] [--no-subtitles] [--events FILE]
//! [--rows]`: the texts that the file of vectors lacks go into the file after `--missing`, for `embed` of `drivers`.

#![allow(missing_docs, clippy::print_stdout, reason = "a program that prints a table")]
#![allow(clippy::cast_precision_loss, reason = "counts of questions")]

mod offline;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use memory_core::index::IndexOptions;
use memory_core::{
    Answer, Attributes, EpisodeId, Event, EventId, Kind, Modality, Origin, Query, Route, StreamSpan, TimeSpan,
    Timestamp, Value, recall,
};
use offline::{Offline, VectorFile, shared};

#[derive(serde::Deserialize)]
struct Window {
    start: f64,
    end: f64,
    det: Vec<String>,
}

#[derive(serde::Deserialize)]
struct Index {
    windows: Vec<Window>,
}

#[derive(serde::Deserialize)]
struct AvQuestion {
    id: String,
    category: String,
    question: String,
    windows: Vec<(f64, f64)>,
    options: Vec<String>,
    correct: Option<usize>,
}

#[derive(serde::Deserialize)]
struct Questions {
    questions: Vec<AvQuestion>,
}

fn event(place: usize, start: f64, end: f64, kind: Kind, text: String) -> Event {
    let session = Timestamp::parse("2026-11-20T08:00:00Z").expect("a fixed time");
    let (start, end) = (Duration::from_secs_f64(start), Duration::from_secs_f64(end));
    Event {
        id: EventId(place as u64),
        episode: EpisodeId(0),
        origin: Origin::Perceived,
        sender_id: None,
        kind,
        modality: kind.modality(),
        text,
        span: TimeSpan::new(session.saturating_add(start), session.saturating_add(end)),
        stream: Some(StreamSpan { start, end }),
        source: "clip".into(),
        entity: None,
        attributes: Attributes::new(),
        confidence: 1.0,
        media: None,
        received: session,
        pose: None,
    }
}

#[derive(serde::Deserialize)]
struct Inspected {
    kind: String,
    modality: String,
    text: String,
    confidence: f32,
    stream_start_s: f64,
    stream_end_s: f64,
    attributes: serde_json::Value,
}

#[derive(serde::Deserialize)]
struct Memory {
    events: Vec<Inspected>,
}

fn value(json: &serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(held) => Value::Bool(*held),
        serde_json::Value::Number(held) => {
            held.as_i64().map_or_else(|| Value::Number(held.as_f64().unwrap_or_default()), Value::Integer)
        }
        serde_json::Value::String(held) => Value::Text(held.clone()),
        serde_json::Value::Array(held) => Value::List(held.iter().map(value).collect()),
        serde_json::Value::Object(held) => {
            Value::Map(held.iter().map(|(name, held)| (name.clone(), value(held))).collect())
        }
    }
}

/// The events of a real memory.
fn inspected(path: &str) -> Result<Vec<Event>, Box<dyn std::error::Error>> {
    let memory: Memory = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let real = memory.events.into_iter().enumerate().map(|(place, one)| {
        let named = |kind: &Kind| kind.name() == one.kind;
        let kind = Kind::ALL.into_iter().find(named).ok_or_else(|| format!("`{}` is no kind", one.kind))?;
        let attributes = match value(&one.attributes) {
            Value::Map(attributes) => attributes.into_iter().collect(),
            _ => Attributes::new(),
        };
        let event = event(place, one.stream_start_s, one.stream_end_s, kind, one.text);
        // Something told by the senses may be of either.
        let modality = if one.modality == "audio" { Modality::Audio } else { Modality::Visual };
        Ok(Event { modality, confidence: one.confidence, attributes, ..event })
    });
    real.collect()
}

fn sentence(objects: &[String]) -> String {
    let named: Vec<String> = objects.iter().map(|object| format!("a {object}")).collect();
    let text = match named.as_slice() {
        [] => return String::new(),
        [one] => format!("{one} is in view."),
        [rest @ .., last] => format!("{} and {last} are in view.", rest.join(", ")),
    };
    format!("A{}", &text[1..])
}

fn subtitles(text: &str) -> Vec<(f64, f64, String)> {
    let seconds =
        |time: &str| time.trim().split(':').fold(0.0, |sum, part| sum * 60.0 + part.parse::<f64>().unwrap_or(0.0));
    let mut cues = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some((start, end)) = line.split_once("-->") {
            let words: Vec<&str> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
            cues.push((seconds(start), seconds(end), words.join(" ")));
        }
    }
    cues
}

/// Whether an item overlaps a window by half of the shorter.
fn hits(item: (f64, f64), windows: &[(f64, f64)]) -> bool {
    windows.iter().any(|window| {
        let shared = item.1.min(window.1) - item.0.max(window.0);
        let shorter = (item.1 - item.0).min(window.1 - window.0);
        if shorter <= 0.0 { shared >= 0.0 } else { shared / shorter >= 0.5 }
    })
}

fn spans(answer: &Answer) -> Vec<(f64, f64)> {
    let stream = answer.evidence.iter().filter_map(|item| item.stream);
    stream.map(|span| (span.start.as_secs_f64(), span.end.as_secs_f64())).collect()
}

#[derive(Default)]
struct HitTally {
    count: usize,
    first: usize,
    fifth: usize,
    right: usize,
    declined_open: usize,
    declined_choice: usize,
    bins: BTreeMap<u32, (usize, f32, usize)>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let flag = |name: &str| arguments.iter().any(|argument| argument == name);
    let after =
        |name: &str| arguments.iter().position(|argument| argument == name).and_then(|at| arguments.get(at + 1));
    let embedder = after("--vectors").map(|path| VectorFile::read(&PathBuf::from(path))).transpose()?.map(Arc::new);

    let folder = shared().join("bench/av/dev");
    let index: Index = serde_json::from_str(&std::fs::read_to_string(folder.join("baseline_index.json"))?)?;
    let mut observed: Vec<(f64, f64, Kind, String)> = index
        .windows
        .iter()
        .filter(|window| !window.det.is_empty())
        .map(|window| (window.start, window.end, Kind::Object, sentence(&window.det)))
        .collect();
    if !flag("--no-subtitles") {
        let cues = subtitles(&std::fs::read_to_string(folder.join("session.vtt"))?);
        observed.extend(cues.into_iter().map(|(start, end, text)| (start, end, Kind::Text, text)));
    }
    observed.sort_by(|a, b| a.1.total_cmp(&b.1));
    let events = observed.into_iter().enumerate();
    let events = events.map(|(place, (start, end, kind, text))| event(place, start, end, kind, text));
    let events = after("--events").map_or_else(|| Ok(events.collect()), |path| inspected(path))?;
    let memory = Offline::new(events, embedder.clone(), IndexOptions::default());

    println!("{} events embedded", memory.embedded());
    let asked: Questions = serde_json::from_str(&std::fs::read_to_string(folder.join("questions.json"))?)?;
    let mut tallies: BTreeMap<&str, HitTally> = BTreeMap::new();
    for one in &asked.questions {
        let query = Query { question: one.question.clone(), trace: true, ..Query::default() };
        let open = recall::answer(&query, &memory)?;
        let chosen = recall::answer(&Query { options: one.options.clone(), ..query }, &memory)?;
        let spans = spans(&open);
        let first = spans.first().is_some_and(|span| hits(*span, &one.windows));
        let right = chosen.choice.is_some() && chosen.choice == one.correct;
        let names: &[&str] =
            if one.windows.is_empty() { &["unanswerable"] } else { &[one.category.as_str(), "~answerable"] };
        for name in names {
            let tally = tallies.entry(name).or_default();
            tally.count += 1;
            tally.first += usize::from(first);
            tally.fifth += usize::from(spans.iter().take(5).any(|span| hits(*span, &one.windows)));
            tally.right += usize::from(right);
            tally.declined_open += usize::from(open.route == Route::None || open.confidence < 0.3);
            tally.declined_choice += usize::from(chosen.choice.is_none() || chosen.confidence < 0.3);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 10")]
            let bin = tally.bins.entry(((chosen.confidence * 10.0) as u32).min(9)).or_default();
            *bin = (bin.0 + 1, bin.1 + chosen.confidence, bin.2 + usize::from(right));
        }
        if flag("--signals") {
            let said = |answer: &Answer| {
                let steps = answer.trace.iter().filter(|step| step.step == "confidence" || step.step == "options");
                steps.map(|step| step.detail.clone()).collect::<Vec<_>>().join(" ")
            };
            println!(
                "SIG\t{}\t{}\t{}\t{}\t{:?}\t{:?}",
                one.id,
                u8::from(!one.windows.is_empty()),
                u8::from(first),
                u8::from(right),
                said(&open),
                said(&chosen)
            );
        }
        if flag("--rows") {
            println!("{} {}", one.id, one.question);
            println!("   hit {first} {:.2} {:?} {:?} {:?}", open.confidence, open.route, open.answer, spans.first());
            let choice = chosen.choice.map(|choice| &one.options[choice]);
            println!("   right {right} {:.2} {choice:?} of {:?}", chosen.confidence, one.options);
            println!(
                "   {:?}",
                chosen.trace.iter().map(|step| format!("{}: {}", step.step, step.detail)).collect::<Vec<_>>()
            );
        }
    }
    if let (Some(embedder), Some(path)) = (embedder, after("--missing")) {
        embedder.write_missing(&PathBuf::from(path))?;
    }
    println!("{:12} {:>3} {:>6} {:>6} {:>6} {:>6} {:>14}", "", "n", "hit@1", "hit@5", "mc", "ece", "declined");
    for (name, tally) in &tallies {
        let share = |count: usize| count as f64 / tally.count as f64;
        let gap = |(count, confidence, right): &(usize, f32, usize)| {
            (f64::from(*confidence) / *count as f64 - *right as f64 / *count as f64).abs() * share(*count)
        };
        println!(
            "{name:12} {:3} {:6.3} {:6.3} {:6.3} {:6.3} {:6.3} {:6.3}",
            tally.count,
            share(tally.first),
            share(tally.fifth),
            share(tally.right),
            tally.bins.values().map(gap).sum::<f64>(),
            share(tally.declined_open),
            share(tally.declined_choice)
        );
    }
    Ok(())
}
