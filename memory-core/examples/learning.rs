//! What learning costs: memory of many facts, time per event, and what ingest and questions notice of it.
//!
//! `cargo run --release -p memory-core --example learning [FACTS]` (100,000 unless told otherwise).

// A measurement is told on standard output, and its numbers are small.
#![allow(clippy::print_stdout, clippy::cast_precision_loss, clippy::cast_possible_wrap)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use memory_core::store::DirStorage;
use memory_core::{Kind, Memory, MemoryOptions, Observation, Query, SaveIndex, SystemClock, Timestamp, Told};

const BATCH: usize = 64;
const PLACES: [&str; 8] = ["kitchen", "hall", "cellar", "garden", "attic", "garage", "office", "bathroom"];
const THINGS: [&str; 6] = ["mug", "box", "book", "cable", "tool", "bottle"];

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let facts: usize = std::env::args().nth(1).map_or(Ok(100_000), |count| count.parse())?;
    let folder = tempfile::tempdir()?;
    let memory = open(folder.path())?;
    for first in (0..facts).step_by(BATCH) {
        memory.observe((first..(first + BATCH).min(facts)).map(statement).collect())?;
    }
    let before = resident_bytes()?;
    let begin = Instant::now();
    let mut slowest = Duration::ZERO;
    loop {
        let slice = Instant::now();
        let left = memory.learn_pending(256)?;
        slowest = slowest.max(slice.elapsed());
        if !left.has_lessons() {
            break;
        }
    }
    let took = begin.elapsed();
    let taken = resident_bytes()?.saturating_sub(before);
    println!(
        "{} topics of facts from {facts} events: {:.1} MB, {:.1} µs an event, slowest slice of 256 {slowest:.1?}",
        memory.stats().facts,
        taken as f64 / 1e6,
        took.as_secs_f64() * 1e6 / facts as f64,
    );

    let mut one = Vec::new();
    for number in 0..200 {
        memory.observe(vec![statement(facts + number)])?;
        let begin = Instant::now();
        memory.learn_pending(256)?;
        one.push(begin.elapsed());
    }
    println!("one more event: median {:.1?}, p95 {:.1?}", percentile(&mut one, 50), percentile(&mut one, 95));

    let mut asked = Vec::new();
    for number in 0..500 {
        let question =
            format!("Where is the {} {}?", word(number * 97 % facts), THINGS[number * 97 % facts % THINGS.len()]);
        let begin = Instant::now();
        let answer = memory.ask(&Query { question, ..Query::default() })?;
        asked.push(begin.elapsed());
        assert!(answer.answer.is_some(), "{answer:?}");
    }
    println!("a question: median {:.1?}, p95 {:.1?}", percentile(&mut asked, 50), percentile(&mut asked, 95));

    memory.save_index(SaveIndex::Now)?;
    drop(memory);
    let begin = Instant::now();
    let memory = open(folder.path())?;
    println!("opened with the index in its file: {:.2?}", begin.elapsed());
    drop(memory);

    for learning in [false, true, false, true] {
        let (rate, p95) = ingest(learning)?;
        println!(
            "learning {}: {rate:.0} events/s taken in, question p95 {p95:.1?}",
            if learning { "on " } else { "off" }
        );
    }
    Ok(())
}

/// Ingest with questions in between, in a memory of its own.
fn ingest(learning: bool) -> Result<(f64, Duration)> {
    const EVENTS: usize = 20_000;
    let folder = tempfile::tempdir()?;
    let memory = open(folder.path())?;
    let over = Arc::new(AtomicBool::new(false));
    let job = learning.then(|| {
        let (memory, over) = (memory.clone(), Arc::clone(&over));
        std::thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                // As the agent does: slices of about 30 ms, as soon as there is something.
                if !memory.learn_pending(1024).is_ok_and(|left| left.has_lessons()) {
                    std::thread::park_timeout(Duration::from_millis(5));
                }
            }
        })
    });
    let mut asked = Vec::new();
    let mut writing = Duration::ZERO;
    for first in (0..EVENTS).step_by(BATCH) {
        let begin = Instant::now();
        memory.observe((first..first + BATCH).map(statement).collect())?;
        writing += begin.elapsed();
        let begin = Instant::now();
        let question = format!("Where is the {} mug?", word(first));
        memory.ask(&Query { question, ..Query::default() })?;
        asked.push(begin.elapsed());
    }
    over.store(true, Ordering::Relaxed);
    if let Some(job) = job {
        job.join().map_err(|_| "the learning thread panicked")?;
    }
    Ok((EVENTS as f64 / writing.as_secs_f64(), percentile(&mut asked, 95)))
}

fn open(folder: &std::path::Path) -> Result<Memory> {
    let options = MemoryOptions {
        zone: jiff::tz::TimeZone::UTC,
        max_bytes: None,
        cache_bytes: 16 << 20,
        index: Default::default(),
    };
    Ok(Memory::open_in(Arc::new(DirStorage::new(folder)), options, Arc::new(SystemClock::new()))?)
}

/// A thing of its own at one of a few places.
fn statement(number: usize) -> Observation {
    let thing = THINGS[number % THINGS.len()];
    let place = PLACES[number / 7 % PLACES.len()];
    let at = Timestamp::from_micros(1_795_000_000_000_000 + number as i64 * 1_000_000);
    Observation::Told(Told {
        id: Some(number.to_string()),
        kind: Kind::Text,
        text: format!("The {} {thing} is in the {place}.", word(number)),
        at: Some(at),
        source: "asr".into(),
        entity: Some("Anna".into()),
        ..Told::default()
    })
}

/// A word of its own for a number.
fn word(number: usize) -> String {
    let syllables = ["ba", "do", "ki", "lu", "me", "no", "pa", "ri", "su", "ta"];
    number.to_string().bytes().map(|digit| syllables[usize::from(digit - b'0')]).collect()
}

fn percentile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    times[(times.len() - 1) * percent / 100]
}

fn resident_bytes() -> Result<u64> {
    let pages = std::fs::read_to_string("/proc/self/statm")?;
    let resident: u64 = pages.split_whitespace().nth(1).ok_or("no resident pages")?.parse()?;
    Ok(resident * 4096)
}
