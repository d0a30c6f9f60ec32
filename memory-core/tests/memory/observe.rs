//! Identity, corrections, redeliveries, refusals.

use std::time::Duration;

use memory_core::{Observation, ObserveOutcome, Timestamp, Told, Value};

use crate::support::{Bench, accepted, at, keyed, rejected, told, told_at};

#[test]
fn what_was_accepted_is_there_after_a_kill() {
    let mut bench = Bench::new();
    accepted(bench.tell(told("please bring the blue mug")));
    bench.kill();
    assert_eq!(bench.texts(), ["please bring the blue mug"]);
    bench.assert_clean();
}

#[test]
fn an_observation_is_given_back_whole() {
    let mut bench = Bench::new();
    let mut observation = Told {
        until: Some(at(12)),
        entity: Some("Anna".into()),
        confidence: Some(0.25),
        ..keyed("asr-1", "bring the mug", 10)
    };
    observation.attributes.insert("place".into(), Value::Text("kitchen".into()));
    observation
        .attributes
        .insert("count".into(), Value::List(vec![Value::Integer(3), Value::Number(0.1), Value::Null]));
    accepted(bench.tell(observation.clone()));
    bench.reopen();
    let event = bench.events().remove(0);
    assert_eq!(event.sender_id.as_deref(), Some("asr-1"));
    assert_eq!((event.span.start, event.span.end), (at(10), at(12)));
    assert_eq!(event.entity.as_deref(), Some("Anna"));
    assert_eq!(event.attributes, observation.attributes);
    assert!((event.confidence - 0.25).abs() < f32::EPSILON);
    assert_eq!(event.received, at(0));
    assert_eq!((event.stream, event.media), (None, None));
}

#[test]
fn the_same_key_with_the_same_content_is_a_duplicate_also_after_a_kill() {
    let mut bench = Bench::new();
    let (_, _, events) = accepted(bench.tell(keyed("a", "door bell", 0)));
    assert_eq!(bench.tell(keyed("a", "door bell", 0)), ObserveOutcome::Duplicate { of: Some(events[0]) });
    bench.kill();
    assert_eq!(bench.tell(keyed("a", "door bell", 0)), ObserveOutcome::Duplicate { of: Some(events[0]) });
    assert_eq!(bench.memory.stats().events, 1);
    assert_eq!(bench.memory.stats().duplicates, 1, "duplicates are counted since the start");
}

#[test]
fn the_same_id_at_another_time_or_of_another_source_is_another_observation() {
    let bench = Bench::new();
    accepted(bench.tell(keyed("a", "door bell", 0)));
    accepted(bench.tell(keyed("a", "door bell", 1)));
    accepted(bench.tell(Told { source: "doorman".into(), ..keyed("a", "door bell", 0) }));
    assert_eq!(bench.events().len(), 3);
}

#[test]
fn a_correction_takes_the_place_of_the_old_content() {
    let mut bench = Bench::new();
    let (episode, _, old) = accepted(bench.tell(keyed("a", "the mug is red", 0)));
    let corrected = bench.tell(keyed("a", "the mug is blue", 0));
    let ObserveOutcome::Corrected { superseded, by, episode: same } = corrected else { panic!("{corrected:?}") };
    assert_eq!((superseded, same), (old[0], episode));
    for _ in 0..2 {
        assert_eq!(bench.texts(), ["the mug is blue"]);
        assert_eq!(bench.memory.episode(episode).unwrap().unwrap().0.events, [by]);
        assert_eq!(bench.memory.stats().hidden, 1);
        bench.assert_clean();
        bench.kill();
    }
}

#[test]
fn the_content_of_a_corrected_observation_is_not_kept() {
    let bench = Bench::new();
    accepted(bench.tell(keyed("a", "a secret that was told by mistake", 0)));
    bench.tell(keyed("a", "nothing of note", 0));
    assert_eq!(bench.memory.episodes(&Default::default()).unwrap().episodes[0].summary, "nothing of note");
}

#[test]
fn a_late_redelivery_of_corrected_content_does_not_undo_the_correction() {
    let bench = Bench::new();
    let (_, _, first) = accepted(bench.tell(keyed("a", "one", 0)));
    bench.tell(keyed("a", "two", 0));
    bench.tell(keyed("a", "three", 0));
    let late = Told { redelivered: true, ..keyed("a", "one", 0) };
    assert_eq!(bench.tell(late), ObserveOutcome::Duplicate { of: Some(first[0]) });
    assert_eq!(bench.texts(), ["three"]);
    // On purpose, it goes back.
    assert!(matches!(bench.tell(keyed("a", "one", 0)), ObserveOutcome::Corrected { .. }));
    assert_eq!(bench.texts(), ["one"]);
}

#[test]
fn a_redelivery_without_an_id_is_known_by_its_content_for_ten_minutes() {
    let bench = Bench::new();
    let (_, _, events) = accepted(bench.tell(told("hello")));
    bench.clock.advance(Duration::from_secs(599));
    let again = Told { redelivered: true, ..told("hello") };
    assert_eq!(bench.tell(again.clone()), ObserveOutcome::Duplicate { of: Some(events[0]) });
    accepted(bench.tell(Told { redelivered: true, ..told("hullo") }));
    bench.clock.advance(Duration::from_secs(2));
    accepted(bench.tell(again));
}

#[test]
fn the_journal_of_redeliveries_survives_a_kill() {
    let mut bench = Bench::new();
    let (_, _, events) = accepted(bench.tell(told("hello")));
    let (_, _, young) = accepted(bench.tell(told("good day")));
    bench.kill();
    assert_eq!(
        bench.tell(Told { redelivered: true, ..told("hello") }),
        ObserveOutcome::Duplicate { of: Some(events[0]) }
    );
    bench.clock.advance(Duration::from_secs(700));
    bench.kill();
    accepted(bench.tell(Told { redelivered: true, ..told("good day") }));
    assert!(bench.events().iter().any(|event| event.id == young[0]));
}

#[test]
fn a_redelivery_with_an_id_but_without_a_time_is_a_duplicate() {
    let bench = Bench::new();
    let first = Told { id: Some("a".into()), ..told("hello") };
    let (_, _, events) = accepted(bench.tell(first.clone()));
    bench.clock.advance(Duration::from_secs(3));
    assert_eq!(bench.tell(Told { redelivered: true, ..first }), ObserveOutcome::Duplicate { of: Some(events[0]) });
}

#[test]
fn without_id_and_without_redelivery_the_same_words_are_said_twice() {
    let bench = Bench::new();
    accepted(bench.tell(told("knock")));
    accepted(bench.tell(told("knock")));
    assert_eq!(bench.texts(), ["knock", "knock"]);
}

#[test]
fn repetitions_within_one_batch_are_found() {
    let bench = Bench::new();
    let batch = vec![
        Observation::Told(keyed("a", "one", 0)),
        Observation::Told(keyed("a", "one", 0)),
        Observation::Told(told("two")),
        Observation::Told(Told { redelivered: true, ..told("two") }),
        Observation::Told(keyed("a", "won", 0)),
        Observation::Told(told("")),
    ];
    let outcomes = bench.memory.observe(batch).unwrap();
    assert!(matches!(outcomes[1], ObserveOutcome::Duplicate { .. }), "{outcomes:?}");
    assert!(matches!(outcomes[3], ObserveOutcome::Duplicate { .. }), "{outcomes:?}");
    assert!(matches!(outcomes[4], ObserveOutcome::Corrected { .. }), "{outcomes:?}");
    assert!(matches!(outcomes[5], ObserveOutcome::Rejected { .. }), "{outcomes:?}");
    assert_eq!(bench.texts(), ["two", "won"]);
    bench.assert_clean();
}

#[test]
fn a_batch_of_repetitions_is_no_commit() {
    let bench = Bench::new();
    accepted(bench.tell(keyed("a", "one", 0)));
    let seq = bench.memory.stats().seq;
    bench.tell(keyed("a", "one", 0));
    assert_eq!(bench.memory.stats().seq, seq);
    bench.tell(keyed("b", "two", 0));
    assert_eq!(bench.memory.stats().seq, seq + 1);
}

#[test]
fn any_past_is_accepted_and_the_far_future_is_refused_with_advice() {
    let bench = Bench::new();
    accepted(bench.tell(Told { at: Some(Timestamp::parse("1970-01-01T00:00:00Z").unwrap()), ..told("moon") }));
    accepted(bench.tell(Told { at: Some(Timestamp::parse("1869-01-01T00:00:00Z").unwrap()), ..told("canal") }));
    accepted(bench.tell(told_at("tomorrow", 24 * 3600)));
    let message =
        rejected(bench.tell(Told { at: Some(Timestamp::parse("2100-01-01T00:00:00Z").unwrap()), ..told("x") }));
    assert!(message.contains("24 h") && message.contains("clock"), "{message}");
    bench.assert_clean();
}

#[test]
fn what_makes_no_sense_is_refused_and_says_why() {
    let bench = Bench::new();
    let cases: Vec<(Told, &str)> = vec![
        (told("  \n"), "empty"),
        (told(&"x".repeat(64 * 1024 + 1)), "65536"),
        (Told { until: Some(at(-1)), ..told_at("x", 0) }, "before"),
        (Told { source: "a/b".into(), ..told("x") }, "source"),
        (Told { entity: Some("An#na".into()), ..told("x") }, "entity"),
        (Told { entity: Some("An\u{7}na".into()), ..told("x") }, "control"),
        (Told { confidence: Some(1.5), ..told("x") }, "confidence"),
        (Told { confidence: Some(f32::NAN), ..told("x") }, "confidence"),
        (Told { id: Some("i".repeat(2000)), ..told("x") }, "id"),
        (Told { attributes: [("deep".into(), deep(40))].into(), ..told("x") }, "nested"),
        (Told { attributes: [("n".into(), Value::Number(f64::NAN))].into(), ..told("x") }, "finite"),
        (Told { attributes: [("long".into(), Value::Text("y".repeat(70_000)))].into(), ..told("x") }, "attributes"),
    ];
    for (told, says) in cases {
        let message = rejected(bench.tell(told));
        assert!(message.contains(says), "{message:?} does not say {says:?}");
    }
    assert_eq!(bench.memory.stats().seq, 0);
}

fn deep(levels: usize) -> Value {
    (0..levels).fold(Value::Null, |value, _| Value::List(vec![value]))
}

#[test]
fn a_wall_clock_set_back_an_hour_harms_nothing() {
    let mut bench = Bench::new();
    let (_, _, first) = accepted(bench.tell(told("before")));
    bench.clock.set_wall(at(-3600));
    let again = Told { redelivered: true, ..told("before") };
    assert_eq!(bench.tell(again.clone()), ObserveOutcome::Duplicate { of: Some(first[0]) });
    let (_, _, second) = accepted(bench.tell(told("after")));
    assert!(second[0] > first[0], "order is by commit");
    assert_eq!(bench.texts(), ["before", "after"]);
    bench.kill();
    assert_eq!(bench.tell(again), ObserveOutcome::Duplicate { of: Some(first[0]) });
    let page = bench.memory.episodes(&Default::default()).unwrap();
    assert_eq!(page.episodes[0].summary, "after", "newest is by commit");
    bench.assert_clean();
}

#[test]
fn ids_are_never_used_twice() {
    let mut bench = Bench::new();
    let (episode, _, first) = accepted(bench.tell(told("one")));
    bench.memory.forget(&memory_core::ForgetRequest::Episodes(vec![episode])).unwrap();
    bench.kill();
    let (next, _, second) = accepted(bench.tell(told("two")));
    assert!(next > episode && second[0] > first[0]);
}

#[test]
fn a_clock_in_the_past_loses_no_observation_and_says_so() {
    let mut bench = Bench::new();
    bench.clock.set_wall(Timestamp::from_micros(0));
    bench.reopen();
    accepted(bench.tell(told_at("the mug is on the table", 0)));
    accepted(bench.tell(keyed("a", "the door is open", 3_600)));
    let unplaced = accepted(bench.tell(told("somebody speaks"))).2[0];
    let unplaced = bench.events().into_iter().find(|event| event.id == unplaced).unwrap();
    assert!(unplaced.span.start >= at(-3 * 366 * 24 * 3_600), "what cannot be is not written down");
    assert!(bench.memory.stats().clock_behind.is_some());
    // Then the network tells the time.
    bench.clock.set_wall(at(7_200));
    assert_eq!(bench.memory.stats().clock_behind, None);
    let again = Told { redelivered: true, ..told_at("the mug is on the table", 0) };
    assert!(matches!(bench.tell(again.clone()), ObserveOutcome::Duplicate { .. }));
    bench.kill();
    assert!(matches!(bench.tell(again), ObserveOutcome::Duplicate { .. }), "nothing is held twice");
    let far = told_at("the future", 7_200 + 2 * 24 * 3_600);
    assert!(rejected(bench.tell(far)).contains("24 h"));
    bench.assert_clean();
}
