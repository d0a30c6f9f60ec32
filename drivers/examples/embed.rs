//! Embeds texts with φ for the offline benchmarks: what they lack goes in, a file of vectors comes out.
//!
//! `cargo run --release -p drivers --example embed -- TEXTS VECTORS`: `TEXTS` holds one JSON string a line, as
//! `--missing` of the offline benchmarks writes it; `VECTORS` is made, or gains what it lacks.

#![allow(clippy::print_stdout)] // A bench command talks to a person.

use std::collections::HashSet;
use std::io::Write;

use drivers::encoders::{EncoderOptions, Encoders};
use drivers::models::{Catalogue, InstalledModels};

/// Texts embedded at once.
const BATCH: usize = 64;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(texts), Some(vectors)) = (arguments.next(), arguments.next()) else {
        return Err("give the file of texts and the file of vectors".into());
    };
    let mut seen = HashSet::new();
    let mut wanted: Vec<String> = Vec::new();
    for line in std::fs::read_to_string(&texts)?.lines() {
        let text: String = serde_json::from_str(line)?;
        if seen.insert(text.clone()) {
            wanted.push(text);
        }
    }
    let encoders = Encoders::load(InstalledModels::new(Catalogue::load(None)?, None, None), EncoderOptions::default())?;
    encoders.wait_ready();
    let embedder = encoders.text_embedder().ok_or("no model of text embedding is installed: engram doctor")?;
    let fresh = !std::path::Path::new(&vectors).exists();
    let mut out = std::io::BufWriter::new(std::fs::OpenOptions::new().create(true).append(true).open(&vectors)?);
    if fresh {
        out.write_all(&u32::try_from(embedder.dimensions())?.to_le_bytes())?;
    }
    for batch in wanted.chunks(BATCH) {
        let borrowed: Vec<&str> = batch.iter().map(String::as_str).collect();
        for (text, vector) in batch.iter().zip(embedder.embed(&borrowed)?) {
            out.write_all(&u32::try_from(text.len())?.to_le_bytes())?;
            out.write_all(text.as_bytes())?;
            for component in vector {
                out.write_all(&component.to_le_bytes())?;
            }
        }
    }
    out.flush()?;
    println!("{} texts embedded", wanted.len());
    Ok(())
}
