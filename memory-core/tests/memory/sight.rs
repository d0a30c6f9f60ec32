//! What pictures alone tell: places that are come back to, and scenes that nobody put into words.

use std::sync::Arc;

use memory_core::ports::{PortError, TextEmbedder};
use memory_core::{Answer, Kind, Perceived, Query, Route, Sensed, SensedEmbedding};

use crate::support::{Bench, accepted, segment};

/// A segment whose first event is the scene, with the picture's vector.
fn scene(start: i64, end: i64, texts: &[&str], space: &str, vector: &[f32]) -> Perceived {
    let mut segment = segment(start, end, texts);
    segment.events[0].kind = Kind::Caption;
    segment.events[0].embeddings = vec![SensedEmbedding {
        sensed: Sensed::Picture,
        space: space.into(),
        vector: vector.to_vec(),
        sequence: Vec::new(),
    }];
    segment
}

fn ask(bench: &Bench, question: &str, options: &[&str]) -> Answer {
    let options = options.iter().map(|option| (*option).to_owned()).collect();
    bench.memory.ask(&Query { question: question.into(), options, ..Query::default() }).unwrap()
}

/// Workshop, hall, workshop for longer, hall, workshop: two segments of the middle stay look a little different.
fn rounds(space: &str) -> Bench {
    let bench = Bench::new();
    let (workshop, darker, hall) = ([1.0, 0.0, 0.1], [0.9, 0.3, 0.1], [0.0, 1.0, 0.0]);
    let rows: [(i64, i64, &[&str], [f32; 3]); 6] = [
        (0, 9, &["The scene is mostly grey.", "A lathe is in view."], workshop),
        (9, 16, &["The scene is mostly white."], hall),
        (16, 25, &["The scene is mostly grey.", "A lathe is in view."], workshop),
        (25, 34, &["The scene is mostly black.", "A lathe is in view."], darker),
        (34, 40, &["The scene is mostly white."], hall),
        (40, 49, &["The scene is mostly grey."], workshop),
    ];
    for (start, end, texts, vector) in rows {
        accepted(bench.perceive(scene(start, end, texts, space, &vector)));
    }
    bench
}

#[test]
fn visits_are_counted_by_what_the_place_looks_like() {
    let bench = rounds("mobilenet-v1/avgpool/l2");
    let options = ["two times", "three times", "four times", "once"];
    for question in ["How many times was the place with the lathe visited?", "How many times was the lathe seen?"] {
        let answer = ask(&bench, question, &[]);
        let text = answer.answer.unwrap_or_default();
        assert!(text.starts_with("3 times: "), "{question}: {text}");
        let begins: Vec<u64> =
            answer.evidence.iter().take(3).filter_map(|item| Some(item.stream?.start.as_secs())).collect();
        assert_eq!(begins, [0, 16, 40], "one for each visit, the last by its scene: the lathe was not made out");
        assert_eq!(ask(&bench, question, &options).choice, Some(1), "{question}");
    }
}

#[test]
fn pictures_of_a_space_without_a_measured_threshold_tell_no_places() {
    let bench = rounds("somebody's/space");
    let answer = ask(&bench, "How many times was the lathe seen?", &[]);
    assert!(answer.answer.unwrap_or_default().starts_with("Once: "), "seen within half a minute: one occurrence");
}

#[test]
fn a_place_that_memory_has_no_word_for_is_not_guessed() {
    let bench = rounds("mobilenet-v1/avgpool/l2");
    let question = "How many times was the room with the anvil visited?";
    assert_eq!(ask(&bench, question, &[]).route, Route::None);
}

/// Places "kingfisher" where the picture of one lies.
struct OneSpace;

impl TextEmbedder for OneSpace {
    fn space(&self) -> &str {
        "joint"
    }

    fn dimensions(&self) -> usize {
        2
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, PortError> {
        Ok(texts.iter().map(|text| if text.contains("kingfisher") { vec![0.0, 1.0] } else { vec![1.0, 0.0] }).collect())
    }
}

#[test]
fn a_question_finds_a_picture_that_nobody_put_into_words() {
    let bench = Bench::new();
    for at in 0..12_u8 {
        let vector = if at == 7 { [0.8, 0.6] } else { [1.0, 0.02 * f32::from(at)] };
        let (start, end) = (i64::from(at) * 10, i64::from(at) * 10 + 10);
        accepted(bench.perceive(scene(start, end, &["The scene is mostly green."], "joint", &vector)));
    }
    let first = |bench: &Bench| {
        let answer = ask(bench, "Where was the kingfisher seen?", &[]);
        answer.evidence.first().and_then(|item| item.stream).map(|stream| stream.start.as_secs())
    };
    assert_ne!(first(&bench), Some(70), "by words there is nothing to find it by");
    bench.memory.set_picture_texts(Some(Arc::new(OneSpace)));
    assert_eq!(first(&bench), Some(70));
    bench.memory.set_picture_texts(None);
    assert_ne!(first(&bench), Some(70));
}
