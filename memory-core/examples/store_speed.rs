//! How fast observations are committed, and how fast a memory opens again: after a clean end and after `kill -9`.
//!
//! ```text
//! cargo run --release -p memory-core --example store_speed -- [EPISODES] [DIR]
//! ```
//!
//! The memory is written by a second process, which is killed in the middle of its work.

// A measurement is told on standard output.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

use memory_core::ports::{PortError, TextEmbedder};
use memory_core::store::DirStorage;
use memory_core::{Memory, MemoryOptions, Observation, SystemClock, Timestamp, Told};

const BATCH: u64 = 64;
const DIMENSIONS: usize = 384;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Vectors as long as MiniLM's, made from nothing: only their size matters here.
struct Noise;

impl TextEmbedder for Noise {
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

fn main() -> Outcome {
    let mut args = std::env::args().skip(1);
    let first = args.next().unwrap_or_else(|| "100000".into());
    if first == "write" {
        let dir = args.next().ok_or("write DIR EPISODES")?;
        return write(Path::new(&dir), args.next().ok_or("write DIR EPISODES")?.parse()?);
    }
    let episodes: u64 = first.parse()?;
    let dir = args
        .next()
        .map_or_else(|| std::env::temp_dir().join(format!("engram-store-{}", std::process::id())), Into::into);
    let result = measure(&dir, episodes);
    std::fs::remove_dir_all(&dir)?;
    result
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

fn open(dir: &Path) -> Outcome<Memory> {
    let options = MemoryOptions { zone: jiff::tz::TimeZone::UTC, max_bytes: None, cache_bytes: 64 << 20 };
    Ok(Memory::open(Arc::new(DirStorage::new(dir)), options, Arc::new(SystemClock::new()))?)
}

/// Writes until it is killed; says when there are enough episodes.
fn write(dir: &Path, episodes: u64) -> Outcome {
    let memory = open(dir)?;
    memory.set_text_embedder(Some(Arc::new(Noise)));
    let begin = Instant::now();
    let mut n = 0;
    while n < episodes * 2 {
        memory.observe((n..n + BATCH).map(observation).collect())?;
        n += BATCH;
    }
    let seconds = begin.elapsed().as_secs_f64();
    println!("observed {n} in batches of {BATCH}: {:.0}/s", f64::from(u32::try_from(n)?) / seconds);
    let begin = Instant::now();
    while memory.embed_pending(512)?.embeddings > 0 {}
    println!("stored {n} vectors: {:.0}/s", f64::from(u32::try_from(n)?) / begin.elapsed().as_secs_f64());
    println!("enough");
    loop {
        memory.observe((n..n + BATCH).map(observation).collect())?;
        n += BATCH;
    }
}

/// Processor time of this process, which a busy machine does not stretch; zero where the system does not say.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = after_name.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}

fn measure(dir: &Path, episodes: u64) -> Outcome {
    let mut writer = Command::new(std::env::current_exe()?)
        .args(["write".as_ref(), dir.as_os_str(), episodes.to_string().as_ref()])
        .stdout(Stdio::piped())
        .spawn()?;
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

    for (what, with_vectors) in [("after kill -9", true), ("after a clean end", true), ("without its vectors", false)] {
        let (begin, work) = (Instant::now(), processor_seconds());
        let memory = open(dir)?;
        let (opened, worked) = (begin.elapsed(), processor_seconds() - work);
        if with_vectors {
            memory.set_text_embedder(Some(Arc::new(Noise)));
        }
        let stats = memory.stats();
        println!(
            "opened {} episodes, {} events {what}: {:.2} s ({worked:.2} s of processor), with vectors {:.2} s ({:.2} s); {} MiB on disk",
            stats.episodes,
            stats.events,
            opened.as_secs_f64(),
            begin.elapsed().as_secs_f64(),
            processor_seconds() - work,
            stats.disk_bytes >> 20
        );
    }
    let memory = open(dir)?;
    let begin = Instant::now();
    let report = memory.check()?;
    println!("checked {} records in {:.2} s: {:?}", report.records, begin.elapsed().as_secs_f64(), report.problems);
    Ok(())
}
