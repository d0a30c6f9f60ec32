//! The work that follows the commit.

use std::sync::Arc;

use memory_core::ports::{PortError, TextEmbedder};
use memory_core::{Perceived, Sensed, SensedEmbedding};
use parking_lot::Mutex;

use crate::support::{Bench, accepted, keyed, rejected, segment, told};

/// Unit vectors made from the bytes of a text; remembers what it was asked.
pub struct LetterCounts {
    space: &'static str,
    asked: Mutex<Vec<String>>,
    broken: bool,
}

impl LetterCounts {
    pub fn new(space: &'static str) -> Arc<Self> {
        Arc::new(Self { space, asked: Mutex::new(Vec::new()), broken: false })
    }

    fn take_asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock())
    }
}

impl TextEmbedder for LetterCounts {
    fn space(&self) -> &str {
        self.space
    }

    fn dimensions(&self) -> usize {
        26
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, PortError> {
        if self.broken {
            return Err(PortError { role: "text embedding", message: "the model broke".into() });
        }
        self.asked.lock().extend(texts.iter().map(|text| (*text).to_owned()));
        Ok(texts
            .iter()
            .map(|text| {
                let mut counts = vec![0.01_f32; 26];
                for byte in text.bytes().filter(u8::is_ascii_lowercase) {
                    counts[usize::from(byte - b'a')] += 1.0;
                }
                let norm = counts.iter().map(|count| count * count).sum::<f32>().sqrt();
                counts.into_iter().map(|count| count / norm).collect()
            })
            .collect())
    }
}

#[test]
fn pending_embeddings_survive_a_kill_and_are_made_once() {
    let mut bench = Bench::new();
    for text in ["one", "two", "three"] {
        accepted(bench.tell(told(text)));
    }
    let embedder = LetterCounts::new("letters-1");
    bench.memory.set_text_embedder(Some(embedder.clone()));
    assert_eq!(bench.memory.stats().pending_embeddings, 3);
    assert_eq!(bench.memory.embed_pending(2).unwrap().embeddings, 1);
    assert_eq!(embedder.take_asked(), ["two", "three"], "the newest go first");

    bench.kill();
    bench.memory.set_text_embedder(Some(embedder.clone()));
    assert_eq!(bench.memory.stats().pending_embeddings, 1);
    assert_eq!(bench.memory.embed_pending(100).unwrap().embeddings, 0);
    assert_eq!(embedder.take_asked(), ["one"]);
    bench.assert_clean();
}

#[test]
fn another_space_makes_everything_pending_and_drops_the_old_vectors_once_it_is_complete() {
    let mut bench = Bench::new();
    accepted(bench.tell(told("one")));
    accepted(bench.tell(told("two")));
    bench.memory.set_text_embedder(Some(LetterCounts::new("letters-1")));
    bench.memory.embed_pending(10).unwrap();
    let with_one_space = bench.memory.check().unwrap().records;

    bench.memory.set_text_embedder(Some(LetterCounts::new("letters-2")));
    assert_eq!(bench.memory.stats().pending_embeddings, 2);
    bench.memory.embed_pending(1).unwrap();
    // Halfway there, the old space can still be gone back to.
    bench.memory.set_text_embedder(Some(LetterCounts::new("letters-1")));
    assert_eq!(bench.memory.stats().pending_embeddings, 0);
    bench.memory.set_text_embedder(Some(LetterCounts::new("letters-2")));
    assert_eq!(bench.memory.embed_pending(10).unwrap().embeddings, 0);
    assert_eq!(bench.memory.check().unwrap().records, with_one_space);
    bench.kill();
    bench.memory.set_text_embedder(Some(LetterCounts::new("letters-2")));
    assert_eq!(bench.memory.stats().pending_embeddings, 0);
    bench.assert_clean();
}

#[test]
fn a_corrected_event_is_embedded_again_and_a_forgotten_one_never() {
    let bench = Bench::new();
    let embedder = LetterCounts::new("letters-1");
    bench.memory.set_text_embedder(Some(embedder.clone()));
    accepted(bench.tell(keyed("a", "red", 0)));
    let (other, ..) = accepted(bench.tell(keyed("b", "secret", 3600)));
    bench.memory.embed_pending(1).unwrap();
    bench.tell(keyed("a", "blue", 0));
    bench.memory.forget(&memory_core::ForgetRequest::Episodes(vec![other])).unwrap();
    embedder.take_asked();
    assert_eq!(bench.memory.embed_pending(10).unwrap().embeddings, 0);
    assert_eq!(embedder.take_asked(), ["blue"]);
    bench.assert_clean();
}

#[test]
fn a_model_that_fails_leaves_everything_pending() {
    let bench = Bench::new();
    accepted(bench.tell(told("one")));
    let broken = LetterCounts { space: "letters-1", asked: Mutex::default(), broken: true };
    bench.memory.set_text_embedder(Some(Arc::new(broken)));
    let error = bench.memory.embed_pending(10).unwrap_err();
    assert!(error.to_string().contains("the model broke"), "{error}");
    assert_eq!(bench.memory.stats().pending_embeddings, 1);
    bench.memory.set_text_embedder(Some(LetterCounts::new("letters-1")));
    assert_eq!(bench.memory.embed_pending(10).unwrap().embeddings, 0);
}

#[test]
fn without_an_embedder_everything_is_pending_and_nothing_fails() {
    let bench = Bench::new();
    accepted(bench.tell(told("one")));
    assert_eq!(bench.memory.embed_pending(10).unwrap().embeddings, 1);
}

fn with_face(mut segment: Perceived, vector: &[f32]) -> Perceived {
    segment.events[0].embeddings = vec![SensedEmbedding {
        sensed: Sensed::Face,
        space: "faces-1".into(),
        vector: vector.to_vec(),
        sequence: Vec::new(),
    }];
    segment
}

#[test]
fn vectors_of_the_senses_stay_when_texts_change_their_space_and_go_with_their_event() {
    let bench = Bench::new();
    let (plain, ..) = accepted(bench.perceive(segment(0, 5, &["A person."])));
    let without = bench.memory.check().unwrap().records;
    let (episode, ..) = accepted(bench.perceive(with_face(segment(5, 10, &["A person."]), &[3.0, 4.0])));
    let space_and_vector = 2;
    let with = bench.memory.check().unwrap().records;
    assert_eq!(with, 2 * (without - 3) + 3 + space_and_vector, "`meta` has three records of its own");
    for space in ["letters-1", "letters-2"] {
        bench.memory.set_text_embedder(Some(LetterCounts::new(space)));
        assert_eq!(bench.memory.embed_pending(10).unwrap().embeddings, 0);
    }
    assert_eq!(
        bench.memory.check().unwrap().records,
        with + 4,
        "one space of texts, and the vector that two events share"
    );
    bench.memory.forget(&memory_core::ForgetRequest::Episodes(vec![plain, episode])).unwrap();
    bench.assert_clean();
}

#[test]
fn a_vector_that_is_none_is_refused_with_its_segment() {
    let bench = Bench::new();
    for vector in [vec![], vec![0.0, 0.0], vec![f32::NAN, 1.0], vec![1.0; memory_core::limits::MAX_DIMENSIONS + 1]] {
        let message = rejected(bench.perceive(with_face(segment(0, 5, &["A person."]), &vector)));
        assert!(message.contains("face embedding in faces-1"), "{message}");
    }
    let mut twice = with_face(segment(0, 5, &["A person."]), &[1.0]);
    let again = twice.events[0].embeddings[0].clone();
    twice.events[0].embeddings.push(again);
    assert!(rejected(bench.perceive(twice)).contains("at most one"));
    assert_eq!(bench.memory.stats().events, 0);
}
