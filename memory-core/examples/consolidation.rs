//! What consolidation costs in a large memory: a robot that stays in places, each for some segments, and comes back.
//!
//! `cargo run --release -p memory-core --example consolidation [EVENTS] [PLACES] [SEGMENTS A STAY]` (100,000, 200 and 12 unless told
//! otherwise). A segment has four events, and its picture a vector of 1,024 components.

// A measurement is told on standard output, and its numbers are small.
#![allow(clippy::print_stdout, clippy::cast_precision_loss, clippy::cast_possible_truncation)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use fuzzing::Xorshift;
use memory_core::store::DirStorage;
use memory_core::{
    Attributes, Boundary, ConsolidationOptions, Kind, ManualClock, Memory, MemoryOptions, Modality, Observation,
    Perceived, PerceivedEvent, PlaceSpace, Sensed, SensedEmbedding, StreamSpan, Timestamp,
};

const BATCH: usize = 64;
const DIMENSIONS: usize = 1024;
/// 1 January 2026.
const BEGIN: Timestamp = Timestamp::from_micros(1_767_225_600_000_000);
const SEGMENT: Duration = Duration::from_secs(10);

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse::<usize>());
    let mut next = |usual| -> Result<usize> { Ok(numbers.next().transpose()?.unwrap_or(usual).max(1)) };
    let (events, places, stay) = (next(100_000)?, next(200)?, next(12)?);
    let segments = events / 4;
    for enabled in [false, true] {
        let folder = tempfile::tempdir()?;
        let end = BEGIN.saturating_add(SEGMENT * (segments as u32 + 1));
        let options = MemoryOptions {
            zone: jiff::tz::TimeZone::UTC,
            max_bytes: None,
            cache_bytes: 64 << 20,
            index: Default::default(),
        };
        let clock = Arc::new(ManualClock::at(end));
        let memory = Memory::open_in(Arc::new(DirStorage::new(folder.path())), options, clock)?;
        memory.set_place_spaces(vec![PlaceSpace { space: "mobilenet-v1/avgpool/l2".into(), gamma: 0.82 }]);
        memory.set_consolidation(ConsolidationOptions {
            enabled,
            after: Duration::ZERO,
            ..ConsolidationOptions::default()
        });
        let begin = Instant::now();
        for first in (0..segments).step_by(BATCH) {
            let batch = (first..(first + BATCH).min(segments)).map(|number| segment(number, places, stay)).collect();
            memory.observe(batch)?;
        }
        println!("consolidation {enabled}: {segments} segments taken in, in {:.1?}", begin.elapsed());
        let (begin, mut slowest) = (Instant::now(), Duration::ZERO);
        loop {
            let one = Instant::now();
            let left = memory.consolidate_pending(1)?;
            slowest = slowest.max(one.elapsed());
            if left == 0 {
                break;
            }
        }
        if enabled {
            println!(
                "consolidated in {:.1?}, {:.2} ms a segment, the slowest call {slowest:.1?}",
                begin.elapsed(),
                begin.elapsed().as_secs_f64() * 1_000.0 / segments as f64
            );
        }
        memory.compact()?;
        let stats = memory.stats();
        println!(
            "{} events in {} episodes, {:.1} MB after compaction, {:.0} bytes a segment",
            stats.events,
            stats.episodes,
            stats.disk_bytes as f64 / 1e6,
            stats.disk_bytes as f64 / segments as f64
        );
    }
    Ok(())
}

/// Ten seconds of a robot that goes from place to place.
fn segment(number: usize, places: usize, stay: usize) -> Observation {
    let place = number / stay * 7919 % places;
    let start = BEGIN.saturating_add(SEGMENT * number as u32);
    let stream = StreamSpan { start: SEGMENT * number as u32, end: SEGMENT * (number as u32 + 1) };
    let event = |kind: Kind, text: String| PerceivedEvent {
        kind,
        modality: Modality::Visual,
        text,
        start,
        end: start.saturating_add(SEGMENT),
        stream,
        entity: None,
        attributes: Attributes::new(),
        confidence: 0.7,
        embeddings: Vec::new(),
        pose: None,
    };
    let mut scene = event(Kind::Caption, format!("The scene is place {place}."));
    let picture = SensedEmbedding {
        sensed: Sensed::Picture,
        space: "mobilenet-v1/avgpool/l2".into(),
        vector: picture(place, number),
        sequence: Vec::new(),
    };
    scene.embeddings.push(picture);
    let mut events = vec![scene];
    for thing in 0..3 {
        events.push(event(Kind::Object, format!("Thing {} is in view.", (place * 3 + thing) % 80)));
    }
    Observation::Perceived(Perceived {
        source: "eye".into(),
        session: "one".into(),
        start,
        end: start.saturating_add(SEGMENT),
        stream,
        boundary: Boundary::Length,
        events,
        media: Some("archive:eye/one".into()),
        degraded: Vec::new(),
    })
}

/// A vector of a place with a little noise.
fn picture(place: usize, number: usize) -> Vec<f32> {
    let mut look = Xorshift((place as u64 + 1) * 0x9E37_79B9_7F4A_7C15);
    let mut noise = Xorshift((number as u64 + 1) * 0xD1B5_4A32_D192_ED03);
    let component = |random: &mut Xorshift| (random.draw() >> 40) as f32 / (1_u64 << 24) as f32 - 0.5;
    (0..DIMENSIONS).map(|_| component(&mut look) + 0.3 * component(&mut noise)).collect()
}
