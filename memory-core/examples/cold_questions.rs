//! What a question costs in a large memory whose pages are not in the cache, and what of that is reading rows.
//!
//! ```text
//! cargo run --profile quick -p memory-core --example cold_questions -- write DIR --vectors FILE [--entries N]
//! cargo run --profile quick -p memory-core --example cold_questions -- ask DIR --vectors FILE [--questions N] [--cache-mib N]
//! ```
//!
//! `write` fills a memory with entries recombined from LoCoMo's texts (1,000,000 unless told otherwise), embeds them and saves the
//! index. `ask` opens it with a page cache of 8 MiB and asks LoCoMo's questions end to end, each once with the operating system's cache
//! dropped (`/proc/sys/vm/drop_caches`, as root) and once again at once. Beside that, of the 96 events that a search finds: their rows
//! by `Memory::event`, and their texts from the content matrix alone; and what is like the first of them (`similar_to`).

#![allow(
    missing_docs,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::cast_precision_loss,
    reason = "a program that prints figures"
)]

#[allow(dead_code, reason = "only the file of vectors is used")]
mod offline;

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use memory_core::index::measure::{IndexWorkload, SourceText};
use memory_core::index::{CompressedIndex, Index, IndexOptions, SearchQuery};
use memory_core::ports::{PortError, TextEmbedder};
use memory_core::store::DirStorage;
use memory_core::word_search::{AlikeTo, DEFAULT_LIKENESS, Example, WordQuery};
use memory_core::{EventId, Memory, MemoryOptions, Observation, Query, SaveIndex, SystemClock, Told};
use offline::{VectorFile, shared};

type Failure = Box<dyn std::error::Error>;

const BATCH: u64 = 512;
/// Events whose rows and texts are read: as many as the stored vectors that recall reads for a question.
const READ: usize = 96;

/// φ that knows the entries by the hashes of their passages, and the questions by their words.
struct KnownVectors {
    workload: Arc<IndexWorkload>,
    numbers: Mutex<HashMap<u64, u64>>,
    questions: HashMap<String, Vec<f32>>,
}

impl TextEmbedder for KnownVectors {
    fn space(&self) -> &str {
        "recombined"
    }

    fn dimensions(&self) -> usize {
        self.workload.dimensions()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, PortError> {
        let unknown = |text: &str| PortError { role: "text embedding", message: format!("nothing is known of {text}") };
        let numbers = self.numbers.lock().map_err(|_| unknown("anything"))?;
        let vector = |text: &&str| {
            let entry = || self.workload.vector(*numbers.get(&hash(text))?);
            let other = || Some(vec![(self.workload.dimensions() as f32).sqrt().recip(); self.workload.dimensions()]);
            self.questions.get(*text).cloned().or_else(entry).or_else(other).ok_or_else(|| unknown(text))
        };
        texts.iter().map(vector).collect()
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Texts, questions and their vectors.
fn known(vectors: &VectorFile) -> Result<KnownVectors, Failure> {
    let (mut told, mut asked, mut questions) = (Vec::new(), Vec::new(), HashMap::new());
    let mut folders: Vec<_> = std::fs::read_dir(shared().join("bench/locomo/dev"))?.collect::<Result<Vec<_>, _>>()?;
    folders.sort_by_key(std::fs::DirEntry::path);
    for folder in folders {
        for line in std::fs::read_to_string(folder.path().join("observations.jsonl"))?.lines() {
            let said: serde_json::Value = serde_json::from_str(line)?;
            let text = said["text"].as_str().unwrap_or_default().to_owned();
            let entity = said["entity"].as_str().map(str::to_owned);
            let passage = entity.as_ref().map_or_else(|| text.clone(), |entity| format!("{entity}: {text}"));
            let vector = vectors.embed(&[passage.as_str()])?.pop().filter(|vector| vector.iter().any(|x| *x != 0.0));
            told.extend(vector.map(|vector| SourceText { text, entity, vector: Some(vector) }));
        }
        let file: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(folder.path().join("questions.json"))?)?;
        for question in file["questions"].as_array().into_iter().flatten() {
            let text = question["question"].as_str().unwrap_or_default().to_owned();
            let Some(vector) = vectors.embed(&[text.as_str()])?.pop() else { continue };
            questions.insert(text.clone(), vector.clone());
            asked.push(SourceText { text, entity: None, vector: Some(vector) });
        }
    }
    let workload = IndexWorkload::new(told, asked).ok_or("no texts with vectors")?;
    Ok(KnownVectors { workload: Arc::new(workload), numbers: Mutex::default(), questions })
}

fn open(dir: &Path, cache_mib: usize) -> Result<Memory, Failure> {
    let options = MemoryOptions {
        zone: jiff::tz::TimeZone::UTC,
        max_bytes: None,
        cache_bytes: cache_mib << 20,
        index: IndexOptions::default(),
    };
    Ok(Memory::open_in(Arc::new(DirStorage::new(dir)), options, Arc::new(SystemClock::new()))?)
}

fn write(dir: &Path, known: KnownVectors, entries: u64) -> Result<(), Failure> {
    let known = Arc::new(known);
    let memory = open(dir, 256)?;
    memory.set_text_embedder(Some(Arc::<KnownVectors>::clone(&known)));
    let begin = Instant::now();
    for first in (0..entries).step_by(usize::try_from(BATCH)?) {
        let mut batch = Vec::new();
        for number in first..entries.min(first + BATCH) {
            let entry = known.workload.entry(number);
            let passage = entry.entity.iter().fold(entry.text.clone(), |text, entity| format!("{entity}: {text}"));
            known.numbers.lock().map_err(|_| "poisoned")?.insert(hash(&passage), number);
            batch.push(Observation::Told(Told {
                id: Some(format!("said-{number}")),
                text: entry.text,
                at: Some(entry.span.start),
                until: Some(entry.span.end),
                source: entry.source,
                entity: entry.entity,
                ..Told::default()
            }));
        }
        memory.observe(batch)?;
        while memory.embed_pending(usize::try_from(BATCH)?)?.embeddings > 0 {}
        if first % (BATCH * 100) == 0 {
            eprintln!("{first} entries in {:.0} s", begin.elapsed().as_secs_f64());
        }
    }
    let saved = memory.save_index(SaveIndex::Now)?.ok_or("the index was not saved")?;
    println!(
        "{} events, index of {} MiB, store of {} MiB",
        saved.events,
        saved.bytes >> 20,
        memory.stats().disk_bytes >> 20
    );
    Ok(())
}

/// Nothing of any file stays in memory.
fn drop_caches() -> Result<(), Failure> {
    Ok(std::fs::write("/proc/sys/vm/drop_caches", "3")?)
}

/// Bytes that this process has read from disks so far.
fn read_bytes() -> u64 {
    let io = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
    io.lines().find_map(|line| line.strip_prefix("read_bytes: ")?.parse().ok()).unwrap_or(0)
}

/// Times and bytes of one kind of work.
#[derive(Default)]
struct Spent {
    times: Vec<Duration>,
    bytes: u64,
}

impl Spent {
    fn measure<T>(&mut self, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
        let (begin, before) = (Instant::now(), read_bytes());
        let done = work()?;
        self.times.push(begin.elapsed());
        self.bytes += read_bytes() - before;
        Ok(done)
    }

    fn line(&mut self, name: &str) -> String {
        self.times.sort_unstable();
        let at =
            |share: usize| self.times[(self.times.len() * share / 100).min(self.times.len() - 1)].as_secs_f64() * 1e3;
        let kib = self.bytes / 1024 / u64::try_from(self.times.len()).unwrap_or(1);
        format!("{name:<52} p50 {:8.2} ms  p95 {:8.2} ms  {kib:6} KiB read from disk", at(50), at(95))
    }
}

fn index_of(dir: &Path) -> Result<CompressedIndex, Failure> {
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "snapshot") {
            let bytes = std::fs::read(&path)?;
            let at = bytes.windows(4).position(|tag| tag == b"IXHD").ok_or("no index in the file")?;
            return Ok(CompressedIndex::read_snapshot_bytes(IndexOptions::default(), &bytes[at..])?);
        }
    }
    Err("no saved index".into())
}

fn ask(dir: &Path, known: KnownVectors, questions: usize, cache_mib: usize) -> Result<(), Failure> {
    let mut asked: Vec<(String, Vec<f32>)> =
        known.questions.iter().map(|(text, vector)| (text.clone(), vector.clone())).collect();
    asked.sort_by_key(|(text, _)| hash(text));
    asked.truncate(questions);
    let memory = open(dir, cache_mib)?;
    memory.set_text_embedder(Some(Arc::new(known)));
    let search = index_of(dir)?.snapshot();
    let [mut cold, mut warm, mut searching, mut cold_rows, mut warm_rows, mut texts, mut cold_like, mut warm_like] =
        std::array::from_fn(|_| Spent::default());
    let (mut shown, mut alike) = (0, 0);
    for (question, vector) in &asked {
        let query = || Query { question: question.clone(), ..Query::default() };
        let found = SearchQuery {
            text: question.clone(),
            embedding: Some(vector.clone()),
            limit: READ,
            ..SearchQuery::default()
        };
        let hits: Vec<EventId> =
            searching.measure(|| Ok(search.search(&found).into_iter().map(|hit| hit.id).collect()))?;
        let rows = || -> Result<usize, Failure> {
            let mut length = 0;
            for id in &hits {
                length += memory.event(*id)?.map_or(0, |event| event.text.len());
            }
            Ok(length)
        };
        drop_caches()?;
        let answer = cold.measure(|| Ok(memory.ask(&query())?))?;
        shown += answer.evidence.len();
        warm.measure(|| Ok(memory.ask(&query())?))?;
        drop_caches()?;
        let of_rows = cold_rows.measure(rows)?;
        warm_rows.measure(rows)?;
        let of_texts = texts
            .measure(|| Ok(hits.iter().filter_map(|id| search.text(*id)).map(|text| text.len()).sum::<usize>()))?;
        if of_rows != of_texts {
            return Err(format!("{of_rows} bytes in rows and {of_texts} in the content").into());
        }
        if let Some(first) = hits.first() {
            let similar_to = Some(AlikeTo { example: Example::Event(*first), cosine: Some(DEFAULT_LIKENESS) });
            let like = || WordQuery { similar_to, limit: 10, ..WordQuery::default() };
            drop_caches()?;
            alike += cold_like.measure(|| Ok(memory.search_words(&like())?))?.total;
            warm_like.measure(|| Ok(memory.search_words(&like())?))?;
        }
    }
    memory.set_text_embedder(None);
    let [mut cold_words, mut warm_words] = std::array::from_fn(|_| Spent::default());
    for (question, _) in &asked {
        let query = || Query { question: question.clone(), ..Query::default() };
        drop_caches()?;
        cold_words.measure(|| Ok(memory.ask(&query())?))?;
        warm_words.measure(|| Ok(memory.ask(&query())?))?;
    }
    println!("{} questions, {} items of evidence, page cache of {cache_mib} MiB", asked.len(), shown);
    println!("{}", cold.line("a question, the system's cache dropped"));
    println!("{}", warm.line("the same question again"));
    println!("{}", cold_words.line("without meaning: no vector is read, cache dropped"));
    println!("{}", warm_words.line("the same again"));
    println!("{}", searching.line("its search in the index alone, 96 events"));
    println!("{}", cold_rows.line("the rows of those events, the cache dropped"));
    println!("{}", warm_rows.line("the same rows again"));
    println!("{}", texts.line("their texts from the content matrix"));
    println!("{}", cold_like.line("what is like an event, the cache dropped"));
    println!("{}", warm_like.line("the same again"));
    println!("on average {} events are alike, of the 1,000 nearest", alike / asked.len().max(1));
    Ok(())
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value =
        |name: &str| arguments.iter().position(|argument| argument == name).and_then(|at| arguments.get(at + 1));
    let [what, dir, ..] = arguments.as_slice() else { return Err("write DIR or ask DIR".into()) };
    let known = known(&VectorFile::read(Path::new(value("--vectors").ok_or("--vectors FILE")?))?)?;
    let number = |name: &str, usual: u64| value(name).map_or(Ok(usual), |text| text.parse());
    match what.as_str() {
        "write" => write(Path::new(dir), known, number("--entries", 1_000_000)?),
        "ask" => {
            let (questions, cache) = (number("--questions", 100)?, number("--cache-mib", 8)?);
            ask(Path::new(dir), known, usize::try_from(questions)?, usize::try_from(cache)?)
        }
        other => Err(format!("{other}: write DIR or ask DIR").into()),
    }
}
