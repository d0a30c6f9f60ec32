//! How fast texts become tokens in the wavelet matrix, and how many bytes they take.
//!
//! `cargo run --release -p memory-core --example content -- DIR [entries]`
//!
//! `DIR` holds folders with `observations.jsonl` (`bench/locomo/dev`). Entries of about 20 tokens are cut from their texts at
//! drawn places (the same in every run), 1,000,000 by default; a snapshot follows every 64 of them.

#![allow(clippy::print_stdout, clippy::cast_precision_loss, reason = "a table for people")]

use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use fuzzing::Xorshift;
use memory_core::index::content::ContentStore;
use memory_core::index::matrix::WaveletMatrix;

/// Words that make about 20 tokens.
const WORDS: usize = 17;

/// The texts of all observations, in order of their folders.
fn texts(root: &Path) -> Result<String, Box<dyn Error>> {
    let mut folders: Vec<_> =
        std::fs::read_dir(root)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    folders.sort();
    let mut all = String::new();
    for folder in folders {
        for line in std::fs::read_to_string(folder.join("observations.jsonl"))?.lines() {
            let observation: serde_json::Value = serde_json::from_str(line)?;
            all.push_str(observation["text"].as_str().unwrap_or_default());
            all.push(' ');
        }
    }
    Ok(all)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let root = arguments.next().ok_or("the folder of the observations is missing")?;
    let entries = arguments.next().map_or(Ok(1_000_000), |count| count.parse())?;
    let all = texts(Path::new(&root))?;
    let words: Vec<&str> = all.split(' ').filter(|word| !word.is_empty()).collect();
    let room = words.len().checked_sub(WORDS).filter(|room| *room > 0).ok_or("too few words")?;

    let (mut store, mut random, mut text_bytes) = (ContentStore::new(), Xorshift(77_777), 0);
    let start = Instant::now();
    for entry in 0..entries {
        let begin = random.below(room);
        let text = words[begin..begin + WORDS].join(" ");
        text_bytes += text.len();
        store.append(&text)?;
        if entry % 64 == 0 {
            black_box(store.snapshot());
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    let view = store.snapshot();
    let tokens = view.tokens();
    let per_entry = |bytes: usize| bytes as f64 / entries as f64;
    println!(
        "{entries} entries, {} tokens ({:.1} an entry), σ {}",
        tokens.len(),
        per_entry(tokens.len()),
        tokens.sigma()
    );
    println!("append: {:.0} tokens/s", tokens.len() as f64 / seconds);
    let least = tokens.len() as f64 * f64::from(tokens.levels()) / 8.0;
    println!("matrix: {:.3} × n·⌈log₂σ⌉ bits", tokens.bytes() as f64 / least);
    println!(
        "bytes an entry: {:.1} of text; {:.1} in memory ({:.1} matrix), {:.1} of the writer's own",
        per_entry(text_bytes),
        per_entry(view.bytes()),
        per_entry(tokens.bytes()),
        per_entry(store.writer_bytes())
    );

    let start = Instant::now();
    let mut file = Vec::new();
    view.encode(&mut file)?;
    let written = start.elapsed();
    let start = Instant::now();
    black_box(ContentStore::decode(&mut file.as_slice())?);
    println!(
        "file: {:.1} bytes an entry, written in {written:.2?}, read in {:.2?}",
        per_entry(file.len()),
        start.elapsed()
    );

    const READ: usize = 20_000;
    let start = Instant::now();
    for _ in 0..READ {
        black_box(view.text(random.below(entries))?);
    }
    println!("text of an entry: {:.1} µs", start.elapsed().as_secs_f64() * 1e6 / READ as f64);

    drop((store, view, file));
    println!("\nmatrix alone, 20,000,000 symbols by Zipf's law: × n·⌈log₂σ⌉ bits, symbols/s");
    for bits in [13, 14, 15, 16, 18] {
        let sigma = 1_u32 << bits;
        let mut matrix = WaveletMatrix::new(sigma)?;
        let start = Instant::now();
        for _ in 0..20_000_000 {
            let uniform = random.below(1 << 53) as f64 / (1_u64 << 53) as f64;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to σ")]
            matrix.append(f64::from(sigma).powf(uniform) as u32 - 1)?;
        }
        let speed = matrix.len() as f64 / start.elapsed().as_secs_f64();
        let least = matrix.len() as f64 * f64::from(bits) / 8.0;
        println!("σ = {sigma}: {:.3}, {speed:.0}", matrix.view().bytes() as f64 / least);
    }
    Ok(())
}
