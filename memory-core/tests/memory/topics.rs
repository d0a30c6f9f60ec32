//! What many sentences have in common.

use std::sync::Arc;

use memory_core::ports::{PortError, TextEmbedder};
use memory_core::{Answer, Query};

use crate::support::{Bench, told_at};

/// Counts words of boats, of weather and of numbers; what has none of them lies apart from all.
struct Fields;

const FIELDS: [&[&str]; 3] = [
    &["boat", "sail", "mast", "keel", "harbour", "sailing"],
    &["rain", "wind", "cloud", "storm", "weather"],
    &["seven", "nine", "sums", "arithmetic"],
];

impl TextEmbedder for Fields {
    fn space(&self) -> &str {
        "fields"
    }

    fn dimensions(&self) -> usize {
        4
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, PortError> {
        let held =
            |text: &str, field: &[&str]| text.split(|c: char| !c.is_alphabetic()).any(|word| field.contains(&word));
        let vector = |text: &&str| {
            let mut vector: Vec<f32> = FIELDS.iter().map(|field| f32::from(u8::from(held(text, field)))).collect();
            vector.push(0.2);
            let length = vector.iter().map(|component| component * component).sum::<f32>().sqrt();
            vector.into_iter().map(|component| component / length).collect()
        };
        Ok(texts.iter().map(vector).collect())
    }
}

fn bench(sentences: &[&str]) -> Bench {
    let bench = Bench::new();
    bench.memory.set_text_embedder(Some(Arc::new(Fields)));
    for (number, sentence) in (0..).zip(sentences) {
        bench.tell(told_at(sentence, 20 * number));
    }
    while bench.memory.embed_pending(100).unwrap().embeddings > 0 {}
    bench
}

fn ask(bench: &Bench, question: &str) -> Answer {
    let options = ["arithmetic and sums", "the weather", "sailing and boats"].map(str::to_owned).to_vec();
    bench.memory.ask(&Query { question: question.into(), options, ..Query::default() }).unwrap()
}

const SENTENCES: [&str; 6] = [
    "The boat needs a coat of paint.",
    "Somebody left a sail in the shed.",
    "Seven and nine were called out.",
    "The mast is longer than the keel.",
    "They rowed out of the harbour at dawn.",
    "It may rain later.",
];

#[test]
fn the_topic_of_what_was_said_is_what_most_of_it_has_in_common() {
    let bench = bench(&SENTENCES);
    for question in [
        "What was the common topic of what was said?",
        "Which theme did they all have?",
        "What was the subject of the talk?",
        "What was everybody talking about?",
        "Those chapters that somebody read: which theme did they share?",
    ] {
        let answer = ask(&bench, question);
        assert_eq!(answer.choice, Some(2), "{question}: {}", answer.reason);
        assert_eq!(answer.reason, "the options were compared by all that was said", "{question}");
        assert!(answer.evidence.iter().take(4).all(|item| !item.text.contains("rain")), "{question}");
    }
}

#[test]
fn two_sentences_have_no_topic_and_another_question_is_for_one_of_them() {
    let few = ask(&bench(&SENTENCES[..2]), "What was the common topic of what was said?");
    assert!(!few.reason.contains("all that was said"), "{}", few.reason);
    let seen = ask(&bench(&SENTENCES), "What was the subject of the picture that you saw?");
    assert!(!seen.reason.contains("all that was said"), "{}", seen.reason);
    for one in ["What was called out?", "What's the matter with the mast?", "What was the subject of the mast?"] {
        let answer = ask(&bench(&SENTENCES), one);
        assert!(!answer.reason.contains("all that was said"), "{one}: {}", answer.reason);
    }
}
