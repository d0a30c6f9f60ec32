//! An index that is to be made otherwise than the one that was saved.

use std::sync::Arc;

use memory_core::index::signature::SignatureOptions;
use memory_core::index::{IndexOptions, Language, TokenSignatureOptions};
use memory_core::ports::{PortError, TextEmbedder};
use memory_core::store::MemoryStorage;
use memory_core::{ManualClock, Memory, MemoryOptions, Observation, Query, SaveIndex, Stats};

use crate::support::{at, options, told_at};

const HOUSES: &str = "Die Häuser stehen am Fluss.";

/// A space of two directions, of which only a text's topic decides.
struct TopicSpace;

impl TextEmbedder for TopicSpace {
    fn space(&self) -> &str {
        "topics"
    }

    fn dimensions(&self) -> usize {
        2
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, PortError> {
        let music = |text: &&str| text.contains("piano") || text.contains("melody");
        Ok(texts.iter().map(|text| if music(text) { vec![1.0, 0.0] } else { vec![0.0, 1.0] }).collect())
    }
}

fn with(index: IndexOptions) -> MemoryOptions {
    MemoryOptions { index, ..options() }
}

fn bits(bits: usize) -> IndexOptions {
    let signature = SignatureOptions::new(bits, SignatureOptions::default().seed).unwrap();
    IndexOptions { signature, ..IndexOptions::default() }
}

fn opened(storage: &MemoryStorage, index: IndexOptions) -> Memory {
    let clock = Arc::new(ManualClock::at(at(0)));
    let memory = Memory::open_in(Arc::new(storage.clone()), with(index), clock).unwrap();
    memory.set_text_embedder(Some(Arc::new(TopicSpace)));
    memory
}

/// What is on the disk and in memory, told apart by nothing but how the index is made.
fn counted(memory: &Memory) -> Stats {
    Stats { disk_bytes: 0, duplicates: 0, ..memory.stats() }
}

/// The texts that a question is answered with, best first.
fn found(memory: &Memory, question: &str) -> Vec<String> {
    let answer = memory.ask(&Query { question: question.into(), ..Query::default() }).unwrap();
    answer.evidence.into_iter().map(|evidence| evidence.text).collect()
}

/// A memory with its index saved; closed.
fn saved(index: IndexOptions) -> (MemoryStorage, Stats) {
    let storage = MemoryStorage::new();
    let memory = opened(&storage, index);
    let texts = ["Anna played the piano.", HOUSES, "The mug is on the table.", "Ben fed the cat."];
    let told: Vec<Observation> = (0..).zip(texts).map(|(n, text)| told(text, n)).collect();
    memory.observe(told).unwrap();
    memory.embed_pending(100).unwrap();
    memory.save_index(SaveIndex::Now).unwrap().unwrap();
    let stats = counted(&memory);
    assert_eq!((stats.events, stats.pending_embeddings), (4, 0));
    (storage, stats)
}

fn told(text: &str, n: i64) -> Observation {
    Observation::Told(told_at(text, n * 3600))
}

#[test]
fn signatures_of_another_length_are_made_from_the_stored_embeddings() {
    let (storage, before) = saved(bits(512));
    for wanted in [64, 1024, 512] {
        let memory = opened(&storage, bits(wanted));
        assert_eq!(counted(&memory), before, "{wanted} bits: nothing is pending, nothing is lost");
        // No word of the question is in memory: the signatures alone find it.
        assert_eq!(found(&memory, "melody")[0], "Anna played the piano.", "{wanted} bits");
        memory.save_index(SaveIndex::Now).unwrap().unwrap();
        assert_eq!(memory.check().unwrap().problems, Vec::<String>::new());
    }
}

#[test]
fn words_are_stemmed_anew_in_another_language_and_back() {
    let (storage, before) = saved(IndexOptions::default());
    let none: [&str; 0] = [];
    assert_eq!(found(&without_meaning(&storage, IndexOptions::default()), "Haus"), none, "no English plural");
    let german = IndexOptions { language: Language::German, ..IndexOptions::default() };
    let memory = without_meaning(&storage, german);
    assert_eq!(found(&memory, "Haus"), [HOUSES]);
    memory.set_text_embedder(Some(Arc::new(TopicSpace)));
    assert_eq!(counted(&memory), before);
    memory.save_index(SaveIndex::Now).unwrap().unwrap();
    drop(memory);
    assert_eq!(found(&without_meaning(&storage, german), "Haus"), [HOUSES], "as it was saved");
    assert_eq!(found(&without_meaning(&storage, IndexOptions::default()), "Haus"), none);
}

fn without_meaning(storage: &MemoryStorage, index: IndexOptions) -> Memory {
    let memory = opened(storage, index);
    memory.set_text_embedder(None);
    memory
}

#[test]
fn what_compaction_makes_anew_is_made_with_the_same_options() {
    let german = IndexOptions { language: Language::German, ..bits(128) };
    let (storage, _) = saved(german);
    let memory = opened(&storage, german);
    memory.compact().unwrap();
    memory.save_index(SaveIndex::Now).unwrap().unwrap();
    memory.set_text_embedder(None);
    assert_eq!(found(&memory, "Haus"), [HOUSES]);
    assert_eq!(memory.check().unwrap().problems, Vec::<String>::new());
}

#[test]
fn token_signatures_need_no_other_file() {
    let (storage, before) = saved(IndexOptions::default());
    let tokens = IndexOptions { token_signatures: Some(TokenSignatureOptions::default()), ..IndexOptions::default() };
    let memory = opened(&storage, tokens);
    assert_eq!(counted(&memory), before);
    // A word alone has the signature of itself; the others are known by their neighbours.
    memory.observe(vec![told("telescope", 9)]).unwrap();
    assert_eq!(found(&memory, "telescope"), ["telescope"]);
    drop(memory);
    assert_eq!(found(&opened(&storage, IndexOptions::default()), "Where is the mug?")[0], "The mug is on the table.");
}
