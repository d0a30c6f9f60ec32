//! "Where is it, where was it?" in a made-up house: 8 rooms, 40 things that people move, a robot that drives for 3 days with
//! noise and is lost at times.
//!
//! `cargo run --release -p memory-core --example house [DAYS] [SEED]`

// A measurement is told on standard output, and its numbers are small.
#![allow(clippy::print_stdout, clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]

mod world;

use std::sync::Arc;
use std::time::Instant;

use memory_core::store::DirStorage;
use memory_core::{ManualClock, Memory, MemoryOptions, Observation, Query};
use world::{Dice, NEVER_SEEN, Score, Size, THINGS, last_before, live, quantile, time};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse::<u32>());
    let days = i64::from(numbers.next().transpose()?.unwrap_or(3));
    let seed = u64::from(numbers.next().transpose()?.unwrap_or(1));
    let house = live(Size { things: THINGS.len(), days, active_s: 12 * 3_600, seed });
    let folder = tempfile::tempdir()?;
    let clock = Arc::new(ManualClock::at(time(house.end)));
    let options = MemoryOptions {
        zone: jiff::tz::TimeZone::UTC,
        max_bytes: None,
        cache_bytes: 64 << 20,
        index: Default::default(),
    };
    let memory = Memory::open_in(Arc::new(DirStorage::new(folder.path())), options, clock)?;
    let begin = Instant::now();
    for batch in house.told.chunks(512) {
        memory.observe(batch.iter().cloned().map(Observation::Told).collect())?;
    }
    while memory.learn_pending(4096)?.has_lessons() {}
    println!(
        "{} observations of {days} days in {:.1?}; lost for {:.1} % of the time",
        house.told.len(),
        begin.elapsed(),
        100.0 * house.lost_s as f64 / (days * 12 * 3_600) as f64
    );
    let ask = |question: String| memory.ask(&Query { question, ..Query::default() });
    let mut took = Vec::new();
    let (mut is, mut was, mut last) = (Score::default(), Score::default(), Score::default());
    let mut dice = Dice::new(seed + 7);
    for (thing, seen) in &house.seen {
        let Some(truth) = seen.last().copied() else { continue };
        let one = Instant::now();
        is.add(&ask(format!("Where is the {thing}?"))?, truth);
        took.push(one.elapsed().as_secs_f64() * 1e3);
        last.add(&ask(format!("Where was the {thing} last seen?"))?, truth);
        for _ in 0..5 {
            let (first, end) = (seen[0].at, house.end);
            let at = first + 60 + dice.below(usize::try_from((end - first - 60).max(1))?) as i64;
            let Some(truth) = last_before(seen, at) else { continue };
            // At noon of a day, as people say it.
            let when =
                time(at).to_jiff().to_zoned(jiff::tz::TimeZone::UTC).strftime("%-d %B %Y at %H:%M:%S").to_string();
            let answer = ask(format!("Where was the {thing} on {when}?"))?;
            was.add(&answer, truth);
        }
    }
    let mut abstained = 0;
    for thing in NEVER_SEEN {
        abstained += usize::from(ask(format!("Where is the {thing}?"))?.answer.is_none());
        abstained += usize::from(ask(format!("Where did you last see the {thing}?"))?.answer.is_none());
    }
    for (name, score) in [("where is X?", &is), ("where was X last seen?", &last), ("where was X at a time?", &was)] {
        println!(
            "{name:24} {:4} asked, {:4} answered: error median {:.2} m, 95 % {:.2} m; right room {:.1} %; within 10 s {:.1} %",
            score.asked,
            score.answered,
            score.median_m(),
            quantile(&score.errors_m, 0.95),
            100.0 * score.room_share(),
            100.0 * score.in_time()
        );
    }
    println!(
        "never seen: {:.1} % abstained of {}",
        50.0 * abstained as f64 / NEVER_SEEN.len() as f64,
        2 * NEVER_SEEN.len()
    );
    println!("time to answer: median {:.1} ms, 95 % {:.1} ms", quantile(&took, 0.5), quantile(&took, 0.95));
    for question in [
        "What is in the kitchen?".to_owned(),
        "How far apart are the mug and the teapot?".to_owned(),
        "How often were you in the garage?".to_owned(),
        "What is near the guitar?".to_owned(),
        "What did you see on the way to the office?".to_owned(),
        "Where is the mug?".to_owned(),
    ] {
        let answer = ask(question.clone())?;
        println!("{question} {} ({})", answer.answer.as_deref().unwrap_or("-"), answer.reason);
    }
    Ok(())
}
