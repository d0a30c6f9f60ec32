//! Appending to the index and searching it, at 10,000 and 100,000 documents.
//!
//! Texts are drawn from a fixed vocabulary by Zipf's law, so that frequent words are as frequent as in real speech.
//! `cargo bench -p memory-core --bench search`

#![allow(missing_docs, reason = "criterion's macros")]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "drawn numbers"
)]

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use fuzzing::Xorshift;
use memory_core::index::{CompressedIndex, Document, Index, IndexOptions, SearchQuery};
use memory_core::{EpisodeId, EventId, Kind, Modality, TimeSpan, Timestamp};

const DIMENSIONS: usize = 384;
const VOCABULARY: f64 = 20_000.0;

/// Draws texts and vectors.
struct Texts(Xorshift);

impl Texts {
    /// A word whose rank follows Zipf's law.
    fn word(&mut self) -> String {
        format!("w{}x", VOCABULARY.powf(self.0.fraction()) as u64)
    }

    fn text(&mut self, words: usize) -> String {
        (0..words).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }

    fn vector(&mut self) -> Vec<f32> {
        let vector: Vec<f32> = (0..DIMENSIONS).map(|_| self.0.fraction() as f32 - 0.5).collect();
        let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        vector.into_iter().map(|x| x / norm).collect()
    }
}

fn documents(count: u64) -> Vec<Document> {
    let mut texts = Texts(Xorshift(42));
    let document = |id| {
        let start = Timestamp::from_micros(id as i64 * 15_000_000);
        Document {
            id: EventId(id),
            episode: EpisodeId(id / 20),
            kind: Kind::Text,
            modality: Modality::Audio,
            span: TimeSpan::new(start, start.saturating_add(Duration::from_secs(10))),
            stream: None,
            source: "asr".into(),
            entity: Some(["Anna", "Ben", "Clara"][id as usize % 3].into()),
            text: texts.text(18),
        }
    };
    (0..count).map(document).collect()
}

fn built(documents: &[Document], embedded: bool) -> CompressedIndex {
    let mut index = CompressedIndex::new(IndexOptions::default());
    for batch in documents.chunks(64) {
        index.append(batch);
    }
    if embedded {
        let mut texts = Texts(Xorshift(7));
        index.use_space(DIMENSIONS);
        for batch in documents.chunks(1_024) {
            let vectors: Vec<_> = batch
                .iter()
                .map(|one| (one.id, texts.vector().into_iter().map(|x| (x * 32_767.0) as i16).collect()))
                .collect();
            index.embed(&vectors);
        }
    }
    index
}

fn append(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("append");
    group.sample_size(10);
    for count in [10_000, 100_000] {
        let documents = documents(count);
        group.throughput(Throughput::Elements(count));
        for batch in [1, 64] {
            group.bench_function(BenchmarkId::new(format!("batches of {batch}, each published"), count), |bencher| {
                bencher.iter(|| {
                    let mut index = CompressedIndex::new(IndexOptions::default());
                    for batch in documents.chunks(batch) {
                        index.append(batch);
                        black_box(index.snapshot());
                    }
                });
            });
        }
    }
}

fn search(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("search");
    for count in [10_000, 100_000] {
        let documents = documents(count);
        for embedded in [false, true] {
            let snapshot = built(&documents, embedded).snapshot();
            let mut texts = Texts(Xorshift(99));
            let queries: Vec<SearchQuery> = (0..64)
                .map(|_| SearchQuery {
                    text: format!("What did Anna say about {}?", texts.text(5)),
                    embedding: embedded.then(|| texts.vector()),
                    limit: 50,
                    ..SearchQuery::default()
                })
                .collect();
            let name = if embedded { "words and meaning" } else { "words" };
            let mut next = 0;
            group.bench_function(BenchmarkId::new(name, count), |bencher| {
                bencher.iter(|| {
                    next = (next + 1) % queries.len();
                    black_box(snapshot.search(&queries[next]))
                });
            });
        }
    }
}

criterion_group!(benches, append, search);
criterion_main!(benches);
