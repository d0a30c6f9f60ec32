//! "Where is it?" in a made-up house; `examples/house` is the same at full size.

#![allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, dead_code)]

#[path = "../../examples/house/world.rs"]
mod world;

use std::sync::Arc;

use memory_core::store::MemoryStorage;
use memory_core::{ManualClock, Memory, Observation, Query};
use world::{NEVER_SEEN, Score, Size, live, time};

#[test]
fn things_in_a_house_are_found_where_they_were_seen_last() {
    let house = live(Size { things: 12, days: 1, active_s: 3 * 3_600, seed: 3 });
    let clock = Arc::new(ManualClock::at(time(house.end)));
    let memory = Memory::open_in(Arc::new(MemoryStorage::new()), crate::support::options(), clock).unwrap();
    for batch in house.told.chunks(256) {
        memory.observe(batch.iter().cloned().map(Observation::Told).collect()).unwrap();
    }
    let ask = |question: String| memory.ask(&Query { question, ..Query::default() }).unwrap();
    let mut score = Score::default();
    for (thing, seen) in &house.seen {
        score.add(&ask(format!("Where is the {thing}?")), *seen.last().unwrap());
    }
    assert!(score.asked >= 10 && score.answered == score.asked, "{score:?}");
    assert!(score.median_m() <= 0.5 && score.room_share() >= 0.9 && score.in_time() >= 0.9, "{score:?}");
    let known: Vec<&str> =
        NEVER_SEEN.into_iter().filter(|thing| ask(format!("Where is the {thing}?")).answer.is_some()).collect();
    assert!(known.len() <= 1, "never seen, and answered: {known:?}");
}
