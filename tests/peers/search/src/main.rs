//! Engram's index beside an HNSW graph over the vectors (`usearch`, f32, M = 16) and BM25 (`tantivy`), on the same entries.
//!
//! `cargo run --release -p peers-search -- CONVERSATIONS VECTORS [entries, default 100,000] [--no-hnsw]`
//!
//! `CONVERSATIONS` is a folder of LoCoMo's conversations, `VECTORS` what `embed` of `drivers` made of their texts. Entries of 20 tokens and questions
//! of five terms are recombined from them, as `engram bench index` does. Times are processor time of one thread, bytes are what
//! each says of itself. Ranking is measured on the conversations themselves.

mod bm25;
mod texts;

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use memory_core::EventId;
use memory_core::index::measure::{SourceText, IndexWorkload};
use memory_core::index::signature::quantise;
use memory_core::index::{CompressedIndex, Document, Index as _, IndexOptions, SearchQuery};
use texts::{Conversation, Vectors, conversations};

pub type Failure = Box<dyn std::error::Error>;

const DEPTHS: [usize; 3] = [1, 10, 50];
const QUERIES: usize = 200;

fn processor_time() -> Duration {
    let spent = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(spent.tv_sec.unsigned_abs(), u32::try_from(spent.tv_nsec).unwrap_or(0))
}

/// p50 and p99 of one call for each query, in milliseconds.
fn times(queries: &[SearchQuery], mut call: impl FnMut(&SearchQuery)) -> (f64, f64) {
    queries.iter().take(3).for_each(&mut call);
    let timed = |query| {
        let begin = processor_time();
        call(query);
        (processor_time() - begin).as_secs_f64() * 1e3
    };
    let mut took: Vec<f64> = queries.iter().map(timed).collect();
    took.sort_by(f64::total_cmp);
    (took[took.len() / 2], took[took.len() * 99 / 100])
}

fn row(name: &str, entries: u64, bytes: usize, (p50, p99): (f64, f64)) {
    println!("{name:44} {:>9.1} {p50:>9.3} {p99:>9.3}", bytes as f64 / entries as f64);
}

fn build(documents: &[Document], vectors: &[(EventId, Vec<i16>)]) -> CompressedIndex {
    let mut index = CompressedIndex::new(IndexOptions::default());
    documents.chunks(1_024).for_each(|batch| index.append(batch));
    if let Some((_, first)) = vectors.first() {
        index.use_space(first.len());
        vectors.chunks(1_024).for_each(|batch| index.embed(batch));
    }
    index
}

fn speed(workload: &IndexWorkload, entries: u64, with_hnsw: bool) -> Result<(), Failure> {
    let queries = workload.queries(QUERIES, 50);
    println!("{entries} entries{:34} {:>9} {:>9} {:>9}", "", "bytes", "p50 ms", "p99 ms");
    let documents: Vec<Document> = (0..entries).map(|number| workload.entry(number)).collect();
    let stored: Vec<(EventId, Vec<i16>)> =
        (0..entries).filter_map(|number| Some((EventId(number + 1), workload.stored_vector(number)?))).collect();
    let index = build(&documents, &stored);
    drop(stored);
    let search = index.snapshot();
    let hybrid = times(&queries, |query| drop(black_box(search.search(query))));
    row("Engram, words and meaning", entries, index.bytes().total(), hybrid);
    let words = times(&queries, |query| {
        drop(black_box(search.search(&SearchQuery { embedding: None, ..query.clone() })));
    });
    row("Engram, words", entries, index.bytes().total(), words);
    let bm25 = bm25::Bm25::build(&documents)?;
    let found = times(&queries, |query| {
        black_box(bm25.search(&query.text, 50).map_or(0, |found| found.len()));
    });
    row("tantivy, BM25", entries, bm25.bytes()?, found);
    println!("  words and meaning over tantivy {:.2}, words over tantivy {:.2}", hybrid.0 / found.0, words.0 / found.0);
    if !with_hnsw {
        return Ok(());
    }
    let options = usearch::IndexOptions {
        dimensions: workload.dimensions(),
        metric: usearch::MetricKind::Cos,
        quantization: usearch::ScalarKind::F32,
        connectivity: 16,
        ..usearch::IndexOptions::default()
    };
    let hnsw = usearch::Index::new(&options)?;
    hnsw.reserve(usize::try_from(entries)?)?;
    for number in 0..entries {
        if let Some(vector) = workload.vector(number) {
            hnsw.add(number, &vector)?;
        }
    }
    let found = times(&queries, |query| {
        let question = query.embedding.as_deref().unwrap_or_default();
        black_box(hnsw.search(question, 50).map_or(0, |found| found.keys.len()));
    });
    row("usearch, HNSW, vectors in it", entries, hnsw.memory_usage(), found);
    let share = hnsw.memory_usage() as f64 / index.bytes().total() as f64;
    println!("  HNSW with vectors takes {share:.1} times the bytes");
    Ok(())
}

fn ranking(conversations: &[Conversation], vectors: &Vectors) -> Result<(), Failure> {
    let names = ["Engram, words and meaning", "Engram, words", "tantivy, BM25, who and what"];
    let mut sums = [[0.0; DEPTHS.len()]; 3];
    let mut count = 0;
    for conversation in conversations {
        let documents: Vec<Document> = conversation.said.iter().map(|said| said.document.clone()).collect();
        let stored: Vec<(EventId, Vec<i16>)> = conversation
            .said
            .iter()
            .filter_map(|said| Some((said.document.id, quantise(vectors.get(&said.passage)?)?)))
            .collect();
        if stored.len() < documents.len() {
            println!("{} of {} texts have no vector", documents.len() - stored.len(), documents.len());
        }
        let search = build(&documents, &stored).snapshot();
        let bm25 = bm25::Bm25::build(&documents)?;
        for asked in conversation.asked.iter().filter(|asked| !asked.evidence.is_empty()) {
            let query = SearchQuery {
                text: asked.question.clone(),
                embedding: vectors.get(&asked.question).cloned(),
                limit: 50,
                ..SearchQuery::default()
            };
            let of = |query: &SearchQuery| search.search(query).iter().map(|hit| hit.id.0).collect::<Vec<u64>>();
            let found =
                [of(&query), of(&SearchQuery { embedding: None, ..query.clone() }), bm25.search(&asked.question, 50)?];
            count += 1;
            for (sums, found) in sums.iter_mut().zip(&found) {
                let ids: Vec<&String> =
                    found.iter().map(|id| &conversation.said[usize::try_from(id - 1).expect("a place")].id).collect();
                for (sum, depth) in sums.iter_mut().zip(DEPTHS) {
                    let held = asked.evidence.iter().filter(|gold| ids.iter().take(depth).any(|id| id == gold));
                    *sum += held.count() as f64 / asked.evidence.len() as f64;
                }
            }
        }
    }
    println!("{count} questions{:34} {:>8} {:>8} {:>8}", "", "R@1", "R@10", "R@50");
    for (name, sums) in names.iter().zip(sums) {
        println!("{name:48} {}", sums.map(|sum| format!("{:>8.3}", sum / f64::from(count))).join(" "));
    }
    Ok(())
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, file, ..] = arguments.as_slice() else {
        return Err("give the folder of conversations and the file of vectors".into());
    };
    let entries = arguments.get(2).and_then(|count| count.parse().ok()).unwrap_or(100_000);
    let (conversations, vectors) = (conversations(Path::new(folder))?, Vectors::read(Path::new(file))?);
    ranking(&conversations, &vectors)?;
    let all = || conversations.iter().flat_map(|conversation| &conversation.said);
    let told = all().filter_map(|said| {
        let (text, entity) = (said.document.text.clone(), said.document.entity.clone());
        Some(SourceText { text, entity, vector: Some(vectors.get(&said.passage)?.clone()) })
    });
    let asked = conversations.iter().flat_map(|conversation| &conversation.asked).filter_map(|asked| {
        let vector = vectors.get(&asked.question)?.clone();
        Some(SourceText { text: asked.question.clone(), entity: None, vector: Some(vector) })
    });
    let workload = IndexWorkload::new(told.collect(), asked.collect()).ok_or("no texts with vectors")?;
    speed(&workload, entries, !arguments.iter().any(|argument| argument == "--no-hnsw"))
}
