//! One more observation into a memory of 1,000 procedures, mining, and reading a memory back.
//!
//! `cargo bench -p memory-core --bench procedures`

#![allow(missing_docs, reason = "criterion's macros")]
#![allow(clippy::cast_possible_wrap, reason = "small numbers")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use memory_core::logic::{Action, LogicOptions, Mining, Output, Procedures};
use memory_core::{EventId, TimeSpan, Timestamp};

const PROCEDURES: u64 = 1_000;
const STEPS: u64 = 12;

/// The action of a session at a step: the session's procedure leaves a step out now and then.
fn action(session: u64, step: u64, told: bool) -> Action {
    let task = session % PROCEDURES;
    let at = Timestamp::from_micros((session * 900 + step * 15) as i64 * 1_000_000);
    let text = format!("do thing {} of task {task}", step * 7 % STEPS);
    let mut action = Action::new(EventId(session * STEPS + step + 1), text, TimeSpan::new(at, at));
    action.session = Some(format!("session {session}"));
    action.person = Some(format!("person {}", task % 50));
    action.goal = told.then(|| format!("task {task}"));
    action
}

fn memory() -> Procedures {
    let mut procedures = Procedures::new(LogicOptions::default());
    for session in 0..10 * PROCEDURES {
        for step in (0..STEPS).filter(|step| !(session / PROCEDURES + step).is_multiple_of(9)) {
            procedures.observe(&action(session, step, true), &|_| None);
        }
    }
    procedures
}

fn observe(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("observe into 1,000 procedures");
    for (name, told) in [("with a goal", true), ("without a goal", false)] {
        let mut procedures = memory();
        let mut next = 10 * PROCEDURES * STEPS;
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                next += 1;
                black_box(procedures.observe(&action(next / STEPS, next % STEPS, told), &|_| None))
            });
        });
    }
    group.finish();
}

fn mine(criterion: &mut Criterion) {
    // 200 sessions of a habit with steps left out and others in between.
    let sequences: Vec<Vec<u32>> = (0..200_u32)
        .map(|session| {
            (0..16).filter(|step| (session * 31 + step * 17) % 5 != 0).map(|step| (step + session % 3) % 16).collect()
        })
        .collect();
    let mut group = criterion.benchmark_group("mine 200 sessions");
    for (name, output) in [("closed", Output::Closed), ("all", Output::All)] {
        let mining = Mining { min_support: 40, output, ..Mining::default() };
        group.bench_function(name, |bencher| bencher.iter(|| black_box(mining.mine(&sequences))));
    }
    group.finish();
}

fn read(criterion: &mut Criterion) {
    let memory = memory();
    let rows: Vec<_> = memory.rows().into_iter().filter_map(|key| Some((key, memory.row(key)?))).collect();
    criterion.bench_function("read 1,000 procedures of 10,000 sessions", |bencher| {
        bencher.iter(|| black_box(Procedures::from_rows(LogicOptions::default(), rows.iter().map(|(k, r)| (*k, r)))));
    });
}

criterion_group!(benches, observe, mine, read);
criterion_main!(benches);
