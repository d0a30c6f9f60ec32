//! Measures how long it takes to find a second of an archive and to decode pictures from there:
//! `cargo run --release -p drivers --example frames ARCHIVE SOURCE SESSION_US AT_S [LENGTH_S] [PICTURES]`.

#![allow(clippy::print_stdout, clippy::print_stderr)] // A bench command talks to a person.

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use drivers::archive::{Archive, ArchiveLimits, FrameOptions, Recording, RecordingPart, pictures};
use memory_core::{StreamSpan, Timestamp};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, otherwise: i64| arguments.get(at).and_then(|text| text.parse().ok()).unwrap_or(otherwise);
    let (Some(folder), Some(source)) = (arguments.first(), arguments.get(1)) else {
        eprintln!("frames ARCHIVE SOURCE SESSION_US AT_S [LENGTH_S] [PICTURES]");
        return ExitCode::from(2);
    };
    let recording = Recording { source: source.clone(), session: Timestamp::from_micros(number(2, 0)) };
    let (at, length, count) = (number(3, 0).unsigned_abs(), number(4, 10).unsigned_abs(), number(5, 30).unsigned_abs());
    let limits = ArchiveLimits { budget_bytes: u64::MAX, keep_free_bytes: 0, chunk: Duration::from_secs(10) };
    let opened = Instant::now();
    let Ok(archive) = Archive::open(Path::new(folder), limits) else { return ExitCode::FAILURE };
    println!("archive of {} chunks opened in {:.3} s", archive.status().chunks, opened.elapsed().as_secs_f64());
    for short_edge in [None, Some(256)] {
        for _ in 0..5 {
            let begin = Instant::now();
            let span = StreamSpan { start: Duration::from_secs(at), end: Duration::from_secs(at + length) };
            let stretches: Vec<RecordingPart> = archive
                .showing(&recording, span)
                .into_iter()
                .map(|chunk| RecordingPart {
                    begin: chunk.name.begin,
                    from: span.start.max(chunk.name.begin),
                    to: span.end.min(chunk.end),
                    path: chunk.path,
                })
                .collect();
            let times: Vec<Duration> = (0..count)
                .map(|n| span.start + Duration::from_millis(1000 * length * (2 * n + 1) / (2 * count)))
                .collect();
            let options = FrameOptions {
                short_edge,
                ceiling_bytes: 64 << 20,
                deadline: begin + Duration::from_secs(60),
                cancelled: &|| false,
            };
            match pictures(&stretches, &times, options, |_, _| {}) {
                Ok(decoded) => println!(
                    "{} of {count} pictures from {} chunks in {:.3} s, {} KiB at most, short edge {short_edge:?}",
                    decoded.count,
                    stretches.len(),
                    begin.elapsed().as_secs_f64(),
                    decoded.bytes >> 10
                ),
                Err(error) => eprintln!("{error}"),
            }
        }
    }
    ExitCode::SUCCESS
}
