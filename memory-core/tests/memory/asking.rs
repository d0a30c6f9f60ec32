//! Questions through the front of the memory: what recall finds is what the store holds at that moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use memory_core::{ForgetRequest, Observation, Query, Route};

use crate::embeddings::LetterCounts;
use crate::support::{Bench, accepted, keyed, segment, told_at};

fn ask(bench: &Bench, question: &str) -> memory_core::Answer {
    bench.memory.ask(&Query { question: question.into(), ..Query::default() }).unwrap()
}

#[test]
fn what_was_accepted_is_found_at_once_and_after_a_kill() {
    let mut bench = Bench::new();
    accepted(bench.tell(keyed("asr-1", "please bring the blue mug", 0)));
    for _ in 0..2 {
        let answer = ask(&bench, "Who wanted the blue mug?");
        assert_eq!(answer.evidence[0].observations, ["asr-1"]);
        assert_eq!(answer.evidence[0].text, "please bring the blue mug");
        bench.kill();
    }
}

#[test]
fn corrected_and_forgotten_events_are_no_evidence() {
    let bench = Bench::new();
    accepted(bench.tell(keyed("a", "the mug is red", 0)));
    bench.tell(keyed("a", "the mug is blue", 0));
    let answer = ask(&bench, "What colour is the mug?");
    assert!(answer.evidence.iter().all(|evidence| evidence.text == "the mug is blue"), "{answer:?}");
    bench.memory.forget(&ForgetRequest::Episodes(vec![answer.evidence[0].episode])).unwrap();
    let answer = ask(&bench, "What colour is the mug?");
    assert_eq!((answer.route, answer.answer), (Route::None, None));
}

#[test]
fn evidence_told_before_its_segment_closed_points_into_the_recording() {
    let bench = Bench::new();
    accepted(bench.tell(told_at("the kettle whistles", 3)));
    accepted(bench.perceive(segment(0, 8, &["a kettle"])));
    let answer = ask(&bench, "when did the kettle whistle?");
    let heard = answer.evidence.iter().find(|evidence| evidence.text == "the kettle whistles").unwrap();
    assert_eq!(heard.media.as_deref(), Some("file:///media/0.mkv"));
    assert_eq!(heard.stream.unwrap().start.as_secs(), 3);
}

#[test]
fn questions_are_answered_while_batches_are_committed() {
    let bench = Bench::new();
    bench.memory.set_text_embedder(Some(LetterCounts::new("letters-1")));
    accepted(bench.tell(keyed("first", "the heron stands in the pond", 0)));
    let done = Arc::new(AtomicBool::new(false));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut asked = 0;
                while !done.load(Ordering::SeqCst) || asked == 0 {
                    let answer = ask(&bench, "where is the heron?");
                    assert!(answer.evidence.iter().any(|evidence| evidence.observations == ["first"]), "{answer:?}");
                    asked += 1;
                }
            });
        }
        for n in 0..50 {
            let batch = (0..20)
                .map(|m| Observation::Told(keyed(&format!("{n}-{m}"), "ducks and geese swim by", n * 100 + m)))
                .collect();
            bench.memory.observe(batch).unwrap();
            bench.memory.embed_pending(20).unwrap();
        }
        done.store(true, Ordering::SeqCst);
    });
    bench.assert_clean();
}
