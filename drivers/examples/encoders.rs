//! Prints what each encoder costs on this machine: `cargo run --release -p drivers --example encoders [THREADS]`.

#![allow(clippy::print_stdout)] // A bench command talks to a person.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use drivers::encoders::{EncoderOptions, Encoders, Picture, VoiceState, VoiceWindow};
use drivers::models::{Catalogue, InstalledModels};

fn main() -> ExitCode {
    let Ok(catalogue) = Catalogue::load(None) else { return ExitCode::FAILURE };
    let models = InstalledModels::new(catalogue, None, None);
    let mut options = EncoderOptions::default();
    if let Some(threads) = std::env::args().nth(1).and_then(|text| text.parse().ok()) {
        options.threads = threads;
    }
    println!("threads {}, resident before {} MB", options.threads, resident_mb());
    let begin = Instant::now();
    let Ok(encoders) = Encoders::load(models, options) else { return ExitCode::FAILURE };
    encoders.wait_ready();
    println!("loaded in {:.2} s, resident {} MB", begin.elapsed().as_secs_f64(), resident_mb());
    for (role, status) in encoders.status() {
        let how = status.reason.or(status.backend).unwrap_or_default();
        println!("  {role}: {:?}, {} ({how})", status.state, status.model.unwrap_or_default());
    }

    if let Some(voice) = encoders.filled().voice_activity {
        let window = VoiceWindow { samples: [0.01; 576], state: VoiceState::default() };
        measure("voice activity, window of 32 ms", 300, 1, || voice.encode(&window).is_ok());
    }
    if let Some(detector) = encoders.filled().objects {
        for (width, height) in [(640, 360), (1920, 1080)] {
            let rgb: Vec<u8> = (0..width * height * 3).map(|i| (i * 7 % 251) as u8).collect();
            let picture = Picture { width, height, rgb: &rgb };
            measure(&format!("objects, {width}x{height}"), 100, 1, || detector.encode(&picture).is_ok());
        }
    }
    if let Some(embedder) = encoders.text_embedder() {
        measure("text embedding, one question", 100, 1, || {
            embedder.embed(&["Where did Robin leave the blue mug this morning?"]).is_ok()
        });
        let texts: Vec<String> = (0..256)
            .map(|n| format!("Robin put the {n}th box on the shelf next to the window{}", " and left".repeat(n % 12)))
            .collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        measure("text embedding, 256 texts of 14-38 tokens", 4, 256, || embedder.embed(&texts).is_ok());
    }
    println!("resident after {} MB, at most {} MB", resident_mb(), status_mb("VmHWM:"));
    ExitCode::SUCCESS
}

/// Prints median and 95th percentile of `rounds` calls, each of which does `items` things.
fn measure(what: &str, rounds: usize, items: u32, mut call: impl FnMut() -> bool) {
    if !call() {
        println!("{what}: failed");
        return;
    }
    let mut times: Vec<Duration> = (0..rounds)
        .map(|_| {
            let begin = Instant::now();
            call();
            begin.elapsed()
        })
        .collect();
    times.sort_unstable();
    let millis = |at: usize| times[at].as_secs_f64() * 1000.0;
    let (median, late) = (millis(rounds / 2), millis(rounds * 95 / 100));
    let rate = f64::from(items) * 1000.0 / median;
    println!("{what}: median {median:.2} ms, p95 {late:.2} ms, {rate:.0}/s");
}

fn resident_mb() -> u64 {
    status_mb("VmRSS:")
}

fn status_mb(key: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default();
    line.split_whitespace().next().and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) / 1024
}
