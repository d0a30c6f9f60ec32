//! How long a correction, and forgetting one observation, keep others from the store, with procedures of many actions.
//!
//! ```text
//! cargo run --release -p memory-core --example correction -- [ACTIONS] [EVENTS] [ROUNDS]
//! ```
//!
//! Told are `EVENTS` observations, `ACTIONS` of them actions with session and goal; all are learnt. Then actions are told
//! again with other words, one at a time, and single ones are forgotten: first alone, where a call holds the writer's lock for
//! nearly all of the time that it takes, then while a second thread tells something new without a pause and a third one
//! learns. The longest call of the second thread is about the longest that anything has held the lock.

// A measurement is told on standard output.
#![allow(clippy::print_stdout, clippy::cast_possible_wrap)]
#![allow(clippy::disallowed_methods, reason = "a load has its pauses")]

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use memory_core::store::DirStorage;
use memory_core::{
    ForgetRequest, Kind, Memory, MemoryOptions, Observation, ObserveOutcome, SystemClock, Timestamp, Told, Value,
};

const BATCH: u64 = 512;
const SLICE: usize = 4096;
const PROCEDURES: u64 = 300;
const STEPS: u64 = 12;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1).map(|arg| arg.parse::<u64>());
    let mut next = |usual| args.next().unwrap_or(Ok(usual));
    let (actions, events, rounds) = (next(150_000)?, next(1_000_000)?, next(20)?);
    let dir = std::env::temp_dir().join(format!("engram-correction-{}", std::process::id()));
    std::fs::create_dir(&dir)?;
    let outcome = measure(&dir, actions, events.max(actions), rounds);
    std::fs::remove_dir_all(&dir)?;
    outcome
}

fn measure(dir: &std::path::Path, actions: u64, events: u64, rounds: u64) -> Result<(), Box<dyn Error>> {
    let options = MemoryOptions {
        zone: jiff::tz::TimeZone::UTC,
        max_bytes: None,
        cache_bytes: 64 << 20,
        index: Default::default(),
    };
    let memory = Memory::open_in(Arc::new(DirStorage::new(dir)), options, Arc::new(SystemClock::new()))?;
    let begin = Instant::now();
    let all: Vec<u64> = (0..events).collect();
    for batch in all.chunks(usize::try_from(BATCH)?) {
        let told = |number: &u64| match number * actions / events != (number + 1) * actions / events {
            true => action(number * actions / events, "do"),
            false => remark(*number),
        };
        memory.observe(batch.iter().map(|number| Observation::Told(told(number))).collect())?;
    }
    println!("{events} events told in {:.0?}", begin.elapsed());
    let begin = Instant::now();
    learn(&memory)?;
    println!("learnt in {:.0?}", begin.elapsed());
    // One durable commit after them, as in a running agent.
    memory.observe(vec![Observation::Told(remark(events))])?;
    learn(&memory)?;

    let mut plain = Vec::new();
    for number in 0..rounds {
        let begin = Instant::now();
        memory.observe(vec![Observation::Told(remark(2 * events + number))])?;
        plain.push(begin.elapsed());
    }
    tell("alone: a new observation", plain);
    let (corrected, forgotten) = correct(&memory, actions, rounds, 0)?;
    tell("alone: a correction", corrected);
    tell("alone: forgetting the episode of one action", forgotten);
    learn(&memory)?;

    let done = AtomicBool::new(false);
    std::thread::scope(|scope| -> Result<(), Box<dyn Error>> {
        let others = scope.spawn(|| beside(&memory, events, &done));
        let learner = scope.spawn(|| {
            while !done.load(Ordering::Acquire) {
                if !memory.learn_pending(SLICE).is_ok_and(|left| left.has_lessons()) {
                    std::thread::sleep(Duration::from_millis(10));
                }
            }
        });
        let (corrected, forgotten) = correct(&memory, actions, rounds, 1)?;
        let begin = Instant::now();
        while memory.stats().relearning && begin.elapsed() < Duration::from_secs(900) {
            std::thread::sleep(Duration::from_millis(50));
        }
        println!("folded anew {:.1?} after the last one", begin.elapsed());
        done.store(true, Ordering::Release);
        learner.join().map_err(|_| "the learner failed")?;
        let others = others.join().map_err(|_| "the other sender failed")?;
        tell("beside others: a correction", corrected);
        tell("beside others: forgetting the episode of one action", forgotten);
        tell("beside others: a new observation", others);
        Ok(())
    })
}

/// How long corrections took, and forgetting what was corrected. `turn`: others each time.
fn correct(
    memory: &Memory,
    actions: u64,
    rounds: u64,
    turn: u64,
) -> Result<(Vec<Duration>, Vec<Duration>), Box<dyn Error>> {
    let (mut corrected, mut forgotten) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let number = (2 * round + 1) * actions / (2 * rounds) + 3 * STEPS * turn;
        let begin = Instant::now();
        let outcome = memory.observe(vec![Observation::Told(action(number, "try"))])?.remove(0);
        corrected.push(begin.elapsed());
        let ObserveOutcome::Corrected { episode, .. } = outcome else { return Err("it was no correction".into()) };
        let begin = Instant::now();
        memory.forget(&ForgetRequest::Episodes(vec![episode]))?;
        forgotten.push(begin.elapsed());
    }
    Ok((corrected, forgotten))
}

fn learn(memory: &Memory) -> Result<(), Box<dyn Error>> {
    while memory.learn_pending(SLICE)?.has_lessons() {}
    Ok(())
}

/// Tells something new without a pause; how long each call took.
fn beside(memory: &Memory, first: u64, done: &AtomicBool) -> Vec<Duration> {
    let mut took = Vec::new();
    let mut number = first + 1;
    while !done.load(Ordering::Acquire) {
        let begin = Instant::now();
        if memory.observe(vec![Observation::Told(remark(number))]).is_err() {
            break;
        }
        took.push(begin.elapsed());
        number += 1;
        std::thread::sleep(Duration::from_millis(2));
    }
    took
}

fn tell(what: &str, mut took: Vec<Duration>) {
    took.sort_unstable();
    let at = |share: f64| took.get(((took.len() - 1) as f64 * share) as usize).copied().unwrap_or_default();
    println!("{what}: {} calls, median {:.1?}, p95 {:.1?}, longest {:.1?}", took.len(), at(0.5), at(0.95), at(1.0));
}

/// One action of a session of twelve: the same number corrects it.
fn action(number: u64, verb: &str) -> Told {
    let (session, step) = (number / STEPS, number % STEPS);
    let task = session % PROCEDURES;
    let mut told = Told {
        id: Some(format!("a{number}")),
        at: Some(moment(session * 900 + step * 15)),
        kind: Kind::Action,
        text: format!("{verb} thing {} of task {task}", (step + session / PROCEDURES % 3) * 7 % STEPS),
        source: "tasks".into(),
        entity: Some(format!("person {}", task % 50)),
        ..Told::default()
    };
    told.attributes.insert("session".into(), Value::Text(format!("session {session}")));
    told.attributes.insert("task".into(), Value::Text(format!("task {task}")));
    told
}

fn remark(number: u64) -> Told {
    Told {
        id: Some(format!("r{number}")),
        at: Some(moment(number * 17)),
        kind: Kind::Object,
        text: format!("box {} beside shelf {}", number % 9_973, number % 211),
        source: "camera".into(),
        ..Told::default()
    }
}

fn moment(seconds: u64) -> Timestamp {
    Timestamp::from_micros((1_760_000_000 + seconds as i64) * 1_000_000)
}
