//! Embeds texts with φ for the offline benchmarks: what they lack goes in, a file of vectors comes out.
//!
//! `cargo run --release -p drivers --example embed -- TEXTS VECTORS`: `TEXTS` holds one JSON string a line, as
//! `--missing` of the offline benchmarks writes it; `VECTORS` is made, or gains what it lacks.
//! `… embed -- serve VECTORS`: a line of standard input is a JSON list of texts, the reply the list of their vectors, which
//! `VECTORS` gains.
//! `… embed -- read`: a line of standard input is `{"question", "passages": [{"text", "before", "age"}]}`, the reply the list of
//! what the reader extracts. An age is in seconds.
//! `… embed -- --models FILE …`: with the models of this catalogue instead of those of config/models.toml, to try other weights.

#![allow(clippy::print_stdout)] // A bench command talks to a person.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead, Write};
use std::path::Path;
use std::time::Duration;

use drivers::encoders::{EncoderOptions, Encoders};
use drivers::models::{Catalogue, InstalledModels};
use memory_core::ports::Passage;
use serde_json::{Value, json};

/// Texts embedded at once.
const BATCH: usize = 64;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (own, arguments) = match arguments.as_slice() {
        [option, file, rest @ ..] if option == "--models" => (Some(Path::new(file)), rest),
        rest => (None, rest),
    };
    let catalogue = Catalogue::load(own)?;
    let encoders = Encoders::load(InstalledModels::new(catalogue, None, None), EncoderOptions::default())?;
    encoders.wait_ready();
    let [texts, vectors] = arguments else {
        return match arguments {
            [command] if command == "read" => read(&encoders),
            _ => Err("give the file of texts, or `serve`, and the file of vectors; or `read`".into()),
        };
    };
    let embedder = encoders.text_embedder().ok_or("no model of text embedding is installed: engram doctor")?;
    let mut out = file(Path::new(vectors), embedder.dimensions())?;
    let mut add = |wanted: &[String]| -> Result<Vec<Vec<f32>>, Failure> {
        let mut made = Vec::with_capacity(wanted.len());
        for batch in wanted.chunks(BATCH) {
            let borrowed: Vec<&str> = batch.iter().map(String::as_str).collect();
            let found = embedder.embed(&borrowed)?;
            let mut records = Vec::new();
            for (text, vector) in batch.iter().zip(&found) {
                records.extend(u32::try_from(text.len())?.to_le_bytes());
                records.extend(text.as_bytes());
                records.extend(vector.iter().flat_map(|component| component.to_le_bytes()));
            }
            // One write each, so that several programs may add to one file.
            out.write_all(&records)?;
            made.extend(found);
        }
        Ok(made)
    };
    if texts == "serve" {
        for line in std::io::stdin().lock().lines() {
            let wanted: Vec<String> = serde_json::from_str(&line?)?;
            println!("{}", serde_json::to_string(&add(&wanted)?)?);
        }
        return Ok(());
    }
    let mut seen = HashSet::new();
    let mut wanted: Vec<String> = Vec::new();
    for line in std::fs::read_to_string(texts)?.lines() {
        let text: String = serde_json::from_str(line)?;
        if seen.insert(text.clone()) {
            wanted.push(text);
        }
    }
    add(&wanted)?;
    println!("{} texts embedded", wanted.len());
    Ok(())
}

/// Reads passages until standard input ends.
fn read(encoders: &Encoders) -> Result<(), Failure> {
    let reader = encoders.answer_extractor().ok_or("no model of answer extraction is installed: engram doctor")?;
    for line in std::io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line?)?;
        let passages = request["passages"].as_array().into_iter().flatten();
        let passages: Vec<Passage<'_>> = passages
            .map(|one| Passage {
                text: one["text"].as_str().unwrap_or_default(),
                before: one["before"].as_str().unwrap_or_default(),
                age: Duration::from_secs_f64(one["age"].as_f64().unwrap_or_default()),
            })
            .collect();
        let found = reader.extract(request["question"].as_str().unwrap_or_default(), &passages)?;
        let found: Vec<Value> = found
            .iter()
            .map(|one| {
                let others = one.other_spans.iter().map(
                    |(span, probability)| json!({"start": span.start, "end": span.end, "probability": probability}),
                );
                json!({
                    "relevance": one.relevance, "relevance_alone": one.relevance_alone, "start": one.span.start, "end": one.span.end,
                    "span_probability": one.span_probability, "forms": one.forms,
                    "other_spans": others.collect::<Vec<Value>>(),
                })
            })
            .collect();
        println!("{}", serde_json::to_string(&found)?);
    }
    Ok(())
}

/// The file of vectors, open for adding; a new one begins with how long they are.
fn file(path: &Path, dimensions: usize) -> Result<File, Failure> {
    let mut file = File::options().create(true).append(true).open(path)?;
    if file.metadata()?.len() == 0 {
        file.write_all(&u32::try_from(dimensions)?.to_le_bytes())?;
    }
    Ok(file)
}
