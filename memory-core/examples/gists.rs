//! What gists cost: making them for a large memory, one more hour, and a summary with and without them.
//!
//! `cargo run --release -p memory-core --example gists [EVENTS] [EVENTS AN HOUR]` (100,000 and 500 unless told otherwise).

// A measurement is told on standard output, and its numbers are small.
#![allow(clippy::print_stdout, clippy::cast_precision_loss, clippy::cast_possible_wrap)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use memory_core::store::DirStorage;
use memory_core::{Kind, ManualClock, Memory, MemoryOptions, Observation, Query, Timestamp, Told};

const BATCH: usize = 512;
/// 1 January 2026.
const BEGIN: i64 = 1_767_225_600_000_000;
const HOUR: i64 = 3_600_000_000;

const WHO: [&str; 5] = ["Anna", "Ben", "Carla", "David", "Eva"];
const DOES: [&str; 8] = ["washes", "repairs", "carries", "looks for", "paints", "opens", "cleans", "moves"];
const WHAT: [&str; 12] =
    ["lamp", "mug", "window", "bicycle", "table", "plant", "radio", "blanket", "ladder", "basket", "door", "coat"];
const WHERE: [&str; 7] = ["kitchen", "hall", "cellar", "garden", "attic", "garage", "office"];

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse::<usize>());
    let events = numbers.next().transpose()?.unwrap_or(100_000);
    let an_hour = numbers.next().transpose()?.unwrap_or(500).max(1);
    let folder = tempfile::tempdir()?;
    let clock = Arc::new(ManualClock::at(Timestamp::from_micros(BEGIN + (events / an_hour) as i64 * HOUR + HOUR)));
    let options = MemoryOptions {
        zone: jiff::tz::TimeZone::UTC,
        max_bytes: None,
        cache_bytes: 64 << 20,
        index: Default::default(),
    };
    let memory = Memory::open_in(Arc::new(DirStorage::new(folder.path())), options, Arc::clone(&clock) as _)?;
    let begin = Instant::now();
    for first in (0..events).step_by(BATCH) {
        memory.observe((first..(first + BATCH).min(events)).map(|number| caption(number, an_hour)).collect())?;
    }
    println!("{events} events told in {:.1?}, {an_hour} an hour", begin.elapsed());
    let ask = |question: &str| -> Result<(Duration, usize)> {
        let query = Query { question: question.into(), ..Query::default() };
        let mut took: Vec<Duration> = Vec::new();
        let mut words = 0;
        for _ in 0..5 {
            let begin = Instant::now();
            words = memory.ask(&query)?.answer.map_or(0, |answer| answer.split_whitespace().count());
            took.push(begin.elapsed());
        }
        took.sort_unstable();
        Ok((took[2], words))
    };
    let questions = ["Summarise today.", "Summarise the last week.", "Summarise the last three months."];
    for question in questions {
        let (took, words) = ask(question)?;
        println!("without gists: {question} {took:.1?}, {words} words");
    }
    let bytes = memory.stats().disk_bytes;
    let (begin, mut slowest, mut slices) = (Instant::now(), Duration::ZERO, 0_u32);
    loop {
        let slice = Instant::now();
        let left = memory.gists_pending(1)?;
        slowest = slowest.max(slice.elapsed());
        slices += 1;
        if left == 0 {
            break;
        }
    }
    println!(
        "gists of {} hours made in {:.1?}, {:.2} ms an hour, the slowest call {slowest:.1?}; the file grew by {:.2} MB",
        events / an_hour,
        begin.elapsed(),
        begin.elapsed().as_secs_f64() * 1_000.0 / f64::from(slices.max(1)),
        memory.stats().disk_bytes.saturating_sub(bytes) as f64 / 1e6,
    );
    for question in questions {
        let (took, words) = ask(question)?;
        println!("with gists: {question} {took:.1?}, {words} words");
    }
    let late = caption(events / 2, an_hour);
    let one = Instant::now();
    memory.observe(vec![moved_on(late, events)])?;
    let told = one.elapsed();
    let one = Instant::now();
    while memory.gists_pending(64)? > 0 {}
    println!("one event of an hour long ago: told in {told:.1?}, its hour and day made again in {:.1?}", one.elapsed());
    Ok(())
}

fn caption(number: usize, an_hour: usize) -> Observation {
    let at = BEGIN + (number as i64) * HOUR / an_hour as i64;
    let text = format!(
        "{} {} the {} in the {}",
        WHO[number / 3 % WHO.len()],
        DOES[number / 7 % DOES.len()],
        WHAT[number * 31 % 997 % WHAT.len()],
        WHERE[number / 50 % WHERE.len()]
    );
    Observation::Told(Told {
        id: Some(format!("c{number}")),
        at: Some(Timestamp::from_micros(at)),
        until: Some(Timestamp::from_micros(at + 5_000_000)),
        kind: Kind::Caption,
        text,
        source: "camera".into(),
        ..Told::default()
    })
}

/// The same as a new event.
fn moved_on(observation: Observation, number: usize) -> Observation {
    match observation {
        Observation::Told(told) => Observation::Told(Told { id: Some(format!("c{number}")), ..told }),
        other => other,
    }
}
