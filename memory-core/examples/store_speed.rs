//! How fast observations are committed, and how fast a memory opens again: after a clean end and after `kill -9`.
//!
//! ```text
//! cargo run --release -p memory-core --example store_speed -- [EPISODES] [DIR]
//! cargo run --release -p memory-core --example store_speed -- again DIR
//! ```
//!
//! The memory is written by a second process, which is killed in the middle of its work: when one in 32 of the events came
//! after the index was saved, which is as much as a running agent leaves. `again` measures a directory that is there, and
//! writes to it. Every opening is a process of its own.

// A measurement is told on standard output.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use memory_core::ports::{PortError, TextEmbedder};
use memory_core::store::DirStorage;
use memory_core::{Memory, MemoryOptions, Observation, Query, SaveIndex, SystemClock, Timestamp, Told};

const BATCH: u64 = 64;
const DIMENSIONS: usize = 384;

type ObserveOutcome<T = ()> = Result<T, Box<dyn Error>>;

/// Vectors as long as MiniLM's, made from nothing: only their size matters here.
struct VectorNoise;

impl TextEmbedder for VectorNoise {
    fn space(&self) -> &str {
        "noise"
    }

    fn dimensions(&self) -> usize {
        DIMENSIONS
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, PortError> {
        let component = 1.0 / 384.0_f32.sqrt();
        let vector = |text: &&str| {
            text.bytes()
                .cycle()
                .take(DIMENSIONS)
                .map(|byte| if byte & 1 == 0 { component } else { -component })
                .collect()
        };
        Ok(texts.iter().map(vector).collect())
    }
}

fn main() -> ObserveOutcome {
    let mut args = std::env::args().skip(1);
    let first = args.next().unwrap_or_else(|| "100000".into());
    let dir = args.next().map_or_else(
        || std::env::temp_dir().join(format!("engram-store-{}", std::process::id())),
        std::path::PathBuf::from,
    );
    match first.as_str() {
        "write" => write(&dir, args.next().ok_or("write DIR EPISODES")?.parse()?),
        "open" => opened(&dir, &args.next().ok_or("open DIR WHAT")?),
        "again" => measure(&dir, 0),
        episodes => {
            let result = measure(&dir, episodes.parse()?);
            std::fs::remove_dir_all(&dir)?;
            result
        }
    }
}

/// Two events an episode, each episode a minute and a half after the one before.
fn observation(n: u64) -> Observation {
    const WORDS: [&str; 24] = [
        "kitchen", "mug", "charger", "battery", "visitor", "parcel", "window", "plant", "stairs", "lamp", "printer",
        "keys", "blue", "red", "heavy", "broken", "clean", "empty", "warm", "late", "quiet", "bright", "open",
        "locked",
    ];
    let pick = |salt: u64| {
        WORDS[usize::try_from((n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (salt * 5 % 56)) % 24).unwrap_or(0)]
    };
    let text = format!(
        "the {} {} near the {} was {} when {} number {n} passed the {}",
        pick(1),
        pick(2),
        pick(3),
        pick(4),
        pick(5),
        pick(6)
    );
    let seconds = i64::try_from(n / 2 * 90 + n % 2 * 5).unwrap_or(0);
    Observation::Told(Told {
        id: Some(format!("asr-{n:08}")),
        text,
        at: Some(Timestamp::from_micros((1_700_000_000 + seconds) * 1_000_000)),
        source: "asr".into(),
        entity: Some(["Anna", "Ben", "Carla", "Dmitri"][usize::try_from(n % 4).unwrap_or(0)].into()),
        ..Told::default()
    })
}

fn open(dir: &Path) -> ObserveOutcome<Memory> {
    let options = MemoryOptions {
        zone: jiff::tz::TimeZone::UTC,
        max_bytes: None,
        cache_bytes: 64 << 20,
        index: Default::default(),
    };
    Ok(Memory::open_in(Arc::new(DirStorage::new(dir)), options, Arc::new(SystemClock::new()))?)
}

/// Brings the memory to so many episodes, saves its index, writes one in 32 more and goes on until it is killed.
fn write(dir: &Path, episodes: u64) -> ObserveOutcome {
    let memory = open(dir)?;
    memory.set_text_embedder(Some(Arc::new(VectorNoise)));
    let mut n = memory.stats().last_event;
    let begin = n;
    let since = Instant::now();
    while n < episodes * 2 {
        memory.observe((n..n + BATCH).map(observation).collect())?;
        n += BATCH;
    }
    tell_rate("observed", n - begin, since);
    let since = Instant::now();
    let pending = memory.stats().pending_embeddings;
    while memory.embed_pending(512)?.embeddings > 0 {}
    tell_rate("stored vectors", pending, since);
    if let Some(saved) = memory.save_index(SaveIndex::Now)? {
        println!(
            "saved the index of {} events: {} MiB in {:.2} s",
            saved.events,
            saved.bytes >> 20,
            saved.took.as_secs_f64()
        );
    }
    let later = n / 32;
    for end in (0..later).step_by(usize::try_from(BATCH)?) {
        memory.observe((n + end..n + end + BATCH).map(observation).collect())?;
    }
    while memory.embed_pending(512)?.embeddings > 0 {}
    println!("enough");
    loop {
        n += BATCH;
        memory.observe((n + later..n + later + BATCH).map(observation).collect())?;
    }
}

fn tell_rate(what: &str, count: u64, since: Instant) {
    let rate = Duration::from_secs(count).as_secs_f64() / since.elapsed().as_secs_f64();
    println!("{what}: {count} in batches, {rate:.0}/s");
}

/// Opens the memory and asks it something.
fn opened(dir: &Path, what: &str) -> ObserveOutcome {
    let (begin, work) = (Instant::now(), processor_seconds());
    let memory = open(dir)?;
    let opened = begin.elapsed();
    memory.set_text_embedder(Some(Arc::new(VectorNoise)));
    let with_vectors = begin.elapsed();
    let query = Query { question: "Where is the blue mug?".into(), ..Query::default() };
    let evidence = memory.ask(&query)?.evidence.len();
    let (answered, worked) = (begin.elapsed(), processor_seconds() - work);
    let stats = memory.stats();
    println!(
        "{what}: {} events, {} without a vector: open after {:.2} s, with vectors {:.2} s, first answer ({evidence} of evidence) {:.2} s; \
         {worked:.2} s of processor; store {} MiB",
        stats.events,
        stats.pending_embeddings,
        opened.as_secs_f64(),
        with_vectors.as_secs_f64(),
        answered.as_secs_f64(),
        stats.disk_bytes >> 20
    );
    // As a program does that ends.
    memory.save_index(SaveIndex::AtEnd)?;
    Ok(())
}

/// Processor time of this process, which a busy machine does not stretch; zero where the system does not say.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = after_name.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}

fn measure(dir: &Path, episodes: u64) -> ObserveOutcome {
    let program = std::env::current_exe()?;
    let run = |command: &str, argument: &str| {
        let mut process = Command::new(&program);
        process.args([command.as_ref(), dir.as_os_str(), argument.as_ref()]);
        process
    };
    let mut writer = run("write", &episodes.to_string()).stdout(Stdio::piped()).spawn()?;
    let output = writer.stdout.take().ok_or("the writer has no output")?;
    for line in BufReader::new(output).lines() {
        let line = line?;
        if line == "enough" {
            break;
        }
        println!("{line}");
    }
    writer.kill()?;
    writer.wait()?;

    for what in ["after kill -9", "after a clean end", "once more"] {
        run("open", what).status()?;
    }
    let index = std::fs::read_dir(dir)?
        .filter_map(Result::ok)
        .find(|file| file.file_name().to_string_lossy().ends_with(".snapshot"));
    if let Some(index) = index {
        println!("the saved index has {} MiB", index.metadata()?.len() >> 20);
        std::fs::remove_file(index.path())?;
    }
    run("open", "without its index").status()?;
    let memory = open(dir)?;
    let begin = Instant::now();
    let report = memory.check()?;
    println!("checked {} records in {:.2} s: {:?}", report.records, begin.elapsed().as_secs_f64(), report.problems);
    Ok(())
}
