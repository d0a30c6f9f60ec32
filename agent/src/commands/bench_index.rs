//! `engram bench index`: size and speed of the compressed index on recombined texts.

use std::path::{Path, PathBuf};

use memory_core::SystemClock;
use memory_core::index::measure::{IndexFigures, IndexPlan, IndexWorkload, SearchTimes, SourceText, measure, picture};
use serde_json::{Value as Json, json};

use crate::cli::IndexBenchArgs;
use crate::config::ModelsConfig;
use crate::exit::{Exit, Failure};
use crate::output::{Output, progress};

/// Number of texts in one call of the encoder.
const BATCH_TEXTS: usize = 64;

/// Measures each requested size and draws the picture.
///
/// # Errors
/// [`Exit::Source`] if the texts cannot be read or the picture cannot be written, [`Exit::Internal`] if the encoder fails.
pub fn run(args: &IndexBenchArgs, config: &ModelsConfig, output: Output) -> Result<Exit, Failure> {
    let (mut told, mut questions) = texts(&args.dir)?;
    let embedded = embed(&mut told, &mut questions, config)?;
    let workload = IndexWorkload::new(told, questions)
        .ok_or_else(|| Failure::new(Exit::Source, format!("{}: no texts and questions in it", args.dir.display())))?;
    if !output.json && !embedded {
        output.text("no text embedding model is installed: words only");
    }
    let mut all = Vec::new();
    for entries in &args.entries {
        let bar = progress(None, "{spinner} {msg}");
        let plan = IndexPlan { entries: *entries, queries: args.queries, scan: !args.no_scan };
        let figures = measure(&workload, plan, &SystemClock::new(), &mut |step| {
            bar.set_message(format!("{entries} entries: {step}"));
            bar.tick();
        });
        bar.finish_and_clear();
        if output.json {
            output.json(&report(&figures));
        } else {
            output.text(figures.table());
        }
        all.push(figures);
    }
    if let Some(path) = &args.picture {
        std::fs::write(path, picture(&all))
            .map_err(|error| Failure::new(Exit::Source, format!("{}: {error}", path.display())))?;
    }
    Ok(Exit::Ok)
}

/// Texts and questions of every folder in `dir`, or of `dir` itself.
fn texts(dir: &Path) -> Result<(Vec<SourceText>, Vec<SourceText>), Failure> {
    let unreadable =
        |path: &Path, error: &dyn std::fmt::Display| Failure::new(Exit::Source, format!("{}: {error}", path.display()));
    let holds = |folder: &PathBuf| folder.join("observations.jsonl").is_file();
    let inside = std::fs::read_dir(dir).map_err(|error| unreadable(dir, &error))?;
    let mut folders: Vec<PathBuf> = inside.filter_map(|entry| Some(entry.ok()?.path())).filter(holds).collect();
    folders.sort();
    if holds(&dir.to_owned()) {
        folders.push(dir.to_owned());
    }
    let (mut told, mut questions) = (Vec::new(), Vec::new());
    for folder in folders {
        let path = folder.join("observations.jsonl");
        for line in std::fs::read_to_string(&path).map_err(|error| unreadable(&path, &error))?.lines() {
            let said: Json = serde_json::from_str(line).map_err(|error| unreadable(&path, &error))?;
            let text = said["text"].as_str().unwrap_or_default().to_owned();
            told.push(SourceText { text, entity: said["entity"].as_str().map(str::to_owned), vector: None });
        }
        let path = folder.join("questions.json");
        let asked = std::fs::read_to_string(&path).map_err(|error| unreadable(&path, &error))?;
        let asked: Json = serde_json::from_str(&asked).map_err(|error| unreadable(&path, &error))?;
        let all = asked["questions"].as_array().into_iter().flatten();
        let texts = all.filter_map(|question| question["question"].as_str());
        questions.extend(texts.map(|text| SourceText { text: text.to_owned(), entity: None, vector: None }));
    }
    Ok((told, questions))
}

/// Gives every text its vector; `false` without a model.
fn embed(told: &mut [SourceText], questions: &mut [SourceText], config: &ModelsConfig) -> Result<bool, Failure> {
    let encoders = crate::senses::encoders::load(config, Some(&[drivers::models::Role::TextEmbedding]))?;
    encoders.wait_ready();
    let Some(embedder) = encoders.text_embedder() else { return Ok(false) };
    for batch in told.chunks_mut(BATCH_TEXTS).chain(questions.chunks_mut(BATCH_TEXTS)) {
        let passages: Vec<String> = batch
            .iter()
            .map(|one| one.entity.as_ref().map_or_else(|| one.text.clone(), |who| format!("{who}: {}", one.text)))
            .collect();
        let texts: Vec<&str> = passages.iter().map(String::as_str).collect();
        let vectors = embedder.embed(&texts).map_err(|error| Failure::new(Exit::Internal, error.to_string()))?;
        batch.iter_mut().zip(vectors).for_each(|(one, vector)| one.vector = Some(vector));
    }
    Ok(true)
}

fn report(figures: &IndexFigures) -> Json {
    let times =
        |times: SearchTimes| json!({"p50_ms": times.p50.as_secs_f64() * 1e3, "p99_ms": times.p99.as_secs_f64() * 1e3});
    let bytes = &figures.bytes;
    json!({
        "entries": figures.entries,
        "appended_tokens_per_s": figures.appended_per_s,
        "signed_per_s": figures.signed_per_s,
        "bytes": {
            "content": bytes.content, "terms": bytes.terms, "postings": bytes.postings,
            "signatures": bytes.signatures, "metadata": bytes.metadata, "vocabulary": bytes.vocabulary,
            "total": bytes.total(),
        },
        "hybrid": times(figures.hybrid), "words": times(figures.words), "exhaustive": times(figures.exhaustive),
        "found_of_exhaustive": figures.found, "scan": figures.scan.map(times),
        "hamming": times(figures.hamming), "read": times(figures.read),
        "together": figures.together.iter().map(|one| json!({
            "sort": one.sort, "queries": one.queries, "rarest": one.rarest, "matches": one.matches, "rank": times(one.rank),
            "postings": times(one.postings), "chosen": times(one.chosen), "by_rank": one.by_rank, "regret": one.regret,
        })).collect::<Vec<Json>>(),
        "snapshot": {
            "bytes": figures.file_bytes, "write_ms": figures.saved.as_secs_f64() * 1e3,
            "read_ms": figures.loaded.as_secs_f64() * 1e3,
        },
    })
}
