//! What poses cost: opening a large memory in which every event has one, and finding what happened near a point.
//!
//! `cargo run --release -p memory-core --example near [EVENTS]` (1,000,000 unless told otherwise).

// A measurement is told on standard output, and its numbers are small.
#![allow(clippy::print_stdout, clippy::cast_precision_loss)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use memory_core::index::PositionIndex;
use memory_core::store::DirStorage;
use memory_core::{
    EpisodeFilter, EventId, Kind, ManualClock, Memory, MemoryOptions, Near, Observation, Query, RawPose, SaveIndex,
    Timestamp, Told,
};

/// 1 January 2026.
const BEGIN: i64 = 1_767_225_600_000_000;
/// Edge of the square in which the events lie, metres: a large house, or a floor of an office.
const EDGE: f64 = 30.0;
const WHAT: [&str; 12] =
    ["lamp", "mug", "window", "bicycle", "table", "plant", "radio", "blanket", "ladder", "basket", "door", "coat"];

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Spread evenly, and the same every time; two minutes apart, so that each event is an episode of its own.
fn position(number: u64) -> (f64, f64) {
    let part = |by: u64| (number.wrapping_mul(by) >> 11) as f64 / (1_u64 << 53) as f64 * EDGE;
    (part(0x9E37_79B9_7F4A_7C15), part(0xC2B2_AE3D_27D4_EB4F))
}

fn told(number: u64) -> Observation {
    let (x, y) = position(number);
    let what = WHAT[usize::try_from(number % 12).unwrap_or(0)];
    Observation::Told(Told {
        kind: Kind::Object,
        text: format!("a {what}"),
        at: Some(Timestamp::from_micros(BEGIN + i64::try_from(number).unwrap_or(0) * 120_000_000)),
        source: "detector".into(),
        entity: Some(what.into()),
        pose: RawPose { frame: "map".into(), x, y, ..RawPose::default() }.check().ok(),
        ..Told::default()
    })
}

fn main() -> Result<()> {
    let events = std::env::args().nth(1).map_or(Ok(1_000_000), |text| text.parse::<u64>())?;
    let one = Instant::now();
    let mut index = PositionIndex::default();
    for first in (1..=events).step_by(64) {
        index.append((first..(first + 64).min(events + 1)).map(|number| {
            let (x, y) = position(number);
            (EventId(number), "map", x, y)
        }));
    }
    println!("{events} positions in batches of 64: {:.1?}", one.elapsed());
    let circle = |radius| Near { frame: "map".into(), x: 12.0, y: 17.0, radius };
    for radius in [0.5, 1.0, 2.0, 5.0] {
        let (found, took) = best(|| index.near(&circle(radius)).len());
        println!("index alone, {radius} m: {found} events in {took:.2?}");
    }
    let last = EventId(events / 2);
    let one = Instant::now();
    index.hide(&[last]);
    println!("one position hidden: {:.2?}", one.elapsed());

    let folder = tempfile::tempdir()?;
    let end = Timestamp::from_micros(BEGIN + i64::try_from(events)? * 120_000_000 + 1_000_000);
    let clock = Arc::new(ManualClock::at(end));
    let options = || MemoryOptions {
        zone: jiff::tz::TimeZone::UTC,
        max_bytes: None,
        cache_bytes: 64 << 20,
        index: Default::default(),
    };
    let memory = Memory::open_in(Arc::new(DirStorage::new(folder.path())), options(), Arc::clone(&clock) as _)?;
    let one = Instant::now();
    for first in (0..events).step_by(2_048) {
        memory.observe((first..(first + 2_048).min(events)).map(told).collect())?;
    }
    println!("{events} events told in {:.1?}, {} MiB on disk", one.elapsed(), memory.stats().disk_bytes >> 20);
    memory.save_index(SaveIndex::Now)?;
    drop(memory);
    let one = Instant::now();
    let memory = Memory::open_in(Arc::new(DirStorage::new(folder.path())), options(), clock)?;
    println!("opened with its saved index in {:.2?}", one.elapsed());
    for radius in [0.5, 1.0, 2.0, 5.0] {
        let near = || Some(circle(radius));
        let list = EpisodeFilter { near: near(), limit: Some(50), ..EpisodeFilter::default() };
        let (found, listed) = best(|| memory.episodes(&list).map_or(0, |page| page.episodes.len()));
        let query = Query { question: "Where was the mug last seen?".into(), near: near(), ..Query::default() };
        let (_, asked) = best(|| memory.ask(&query).is_ok());
        let events = best(|| memory.events_near(&circle(radius), None, 50).map_or(0, |events| events.len())).1;
        println!(
            "near {radius} m: {found} episodes in {listed:.2?}, 50 events in {events:.2?}, a question in {asked:.2?}"
        );
    }
    let all = EpisodeFilter { limit: Some(50), ..EpisodeFilter::default() };
    println!("the latest 50 episodes without `near`: {:.2?}", best(|| memory.episodes(&all).is_ok()).1);
    let query = Query { question: "Where was the mug last seen?".into(), ..Query::default() };
    println!("the question without `near`: {:.2?}", best(|| memory.ask(&query).is_ok()).1);
    Ok(())
}

/// The best of five, after one that warms up.
fn best<T>(work: impl Fn() -> T) -> (T, Duration) {
    let mut least = Duration::MAX;
    let mut value = work();
    for _ in 0..5 {
        let one = Instant::now();
        value = work();
        least = least.min(one.elapsed());
    }
    (value, least)
}
