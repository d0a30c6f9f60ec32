//! Forgetting hides at once, everywhere and for good.

use std::time::Duration;

use memory_core::{EpisodeFilter, ForgetError, ForgetReply, ForgetRequest, ObserveOutcome, TimeSpan, Told};

use crate::support::{Bench, accepted, at, keyed, rejected, segment, told, told_at};

fn about(entity: &str, text: &str, seconds: i64) -> Told {
    Told { entity: Some(entity.into()), ..told_at(text, seconds) }
}

#[test]
fn a_forgotten_episode_is_gone_from_everything_also_after_a_kill() {
    let mut bench = Bench::new();
    let (episode, ..) = accepted(bench.tell(about("Anna", "sings", 0)));
    accepted(bench.tell(about("Ben", "dances", 3600)));
    let reply = bench.memory.forget(&ForgetRequest::Episodes(vec![episode])).unwrap();
    assert_eq!((reply.episodes, reply.events), (1, 1));
    for _ in 0..2 {
        assert_eq!(bench.memory.episode(episode).unwrap(), None);
        assert_eq!(bench.texts(), ["dances"]);
        assert_eq!(bench.memory.episodes(&EpisodeFilter::default()).unwrap().episodes.len(), 1);
        let names: Vec<_> = bench.memory.entities(9).unwrap().into_iter().map(|entity| entity.name).collect();
        assert_eq!(names, ["Ben"]);
        let stats = bench.memory.stats();
        assert_eq!((stats.events, stats.episodes, stats.entities, stats.hidden), (1, 1, 1, 1));
        bench.assert_clean();
        bench.kill();
    }
}

#[test]
fn an_entity_is_forgotten_whatever_its_case_and_the_rest_of_its_episodes_stays() {
    let bench = Bench::new();
    let (talk, ..) = accepted(bench.tell(about("Anna", "hello", 0)));
    accepted(bench.tell(about("Ben", "hello you", 30)));
    accepted(bench.tell(about("anna", "bye", 3600)));
    let reply = bench.memory.forget(&ForgetRequest::Entity("ANNA".into())).unwrap();
    assert_eq!((reply.episodes, reply.events), (1, 2));
    let (episode, events) = bench.memory.episode(talk).unwrap().unwrap();
    assert_eq!(episode.span, TimeSpan::new(at(30), at(30)), "the span says nothing of what is gone");
    assert_eq!(events.len(), 1);
    assert_eq!(bench.memory.entities(9).unwrap().len(), 1);
    bench.assert_clean();
}

#[test]
fn a_span_takes_events_segments_and_their_recordings() {
    let bench = Bench::new();
    let (cut, ..) = accepted(bench.perceive(segment(0, 8, &["a cup"])));
    let (kept, ..) = accepted(bench.perceive(segment(40, 48, &["a hat"])));
    let (empty, ..) = accepted(bench.perceive(segment(8, 16, &[])));
    accepted(bench.tell(told_at("noise", 20)));
    let reply = bench.memory.forget(&ForgetRequest::Span(TimeSpan::new(at(5), at(30)))).unwrap();
    assert_eq!((reply.episodes, reply.events), (3, 2));
    assert_eq!(bench.memory.episode(cut).unwrap(), None);
    assert_eq!(bench.memory.episode(empty).unwrap(), None, "its recording shows the span");
    assert!(bench.memory.episode(kept).unwrap().unwrap().0.media.is_some());
    bench.assert_clean();
}

#[test]
fn the_recording_of_an_episode_is_not_given_out_once_part_of_it_is_forgotten() {
    let bench = Bench::new();
    let (episode, ..) = accepted(bench.perceive(segment(0, 8, &["a cup"])));
    accepted(bench.tell(about("Anna", "hello", 3)));
    bench.memory.forget(&ForgetRequest::Entity("Anna".into())).unwrap();
    let (rest, events) = bench.memory.episode(episode).unwrap().unwrap();
    assert_eq!((rest.media, events[0].media.clone()), (None, None));
    bench.assert_clean();
}

#[test]
fn a_sender_that_repeats_its_history_does_not_bring_back_what_was_forgotten() {
    let mut bench = Bench::new();
    let (episode, ..) = accepted(bench.tell(keyed("a", "secret", 0)));
    accepted(bench.perceive(segment(100, 108, &["a face"])));
    bench.memory.forget(&ForgetRequest::Episodes(vec![episode])).unwrap();
    bench.memory.forget(&ForgetRequest::Span(TimeSpan::new(at(100), at(108)))).unwrap();
    bench.kill();
    assert!(rejected(bench.tell(keyed("a", "secret", 0))).contains("forgotten"));
    assert!(matches!(bench.perceive(segment(100, 108, &["a face"])), ObserveOutcome::Duplicate { .. }));
    assert_eq!(bench.texts(), Vec::<String>::new());
    bench.assert_clean();
}

#[test]
fn a_redelivery_after_a_restart_does_not_bring_back_what_was_forgotten() {
    let mut bench = Bench::new();
    let (_, _, events) = accepted(bench.tell(about("Anna", "secret", 0)));
    bench.memory.forget(&ForgetRequest::Entity("Anna".into())).unwrap();
    bench.kill();
    let again = Told { redelivered: true, ..about("Anna", "secret", 0) };
    assert_eq!(bench.tell(again.clone()), ObserveOutcome::Duplicate { of: Some(events[0]) });
    assert_eq!(bench.texts(), Vec::<String>::new());
    bench.clock.advance(Duration::from_secs(601));
    accepted(bench.tell(again));
    bench.assert_clean();
}

#[test]
fn what_is_told_next_does_not_join_what_was_forgotten() {
    let bench = Bench::new();
    let (first, ..) = accepted(bench.tell(told("one")));
    bench.memory.forget(&ForgetRequest::Episodes(vec![first])).unwrap();
    let (second, opened, _) = accepted(bench.tell(told("two")));
    assert!(opened && second != first);
    bench.assert_clean();
}

#[test]
fn nothing_to_forget_is_zero_and_no_request_is_an_error() {
    let bench = Bench::new();
    assert_eq!(bench.memory.forget(&ForgetRequest::Entity("nobody".into())).unwrap(), ForgetReply::default());
    let error = bench.memory.forget(&ForgetRequest::Episodes(Vec::new())).unwrap_err();
    assert!(matches!(error, ForgetError::Invalid(_)), "{error}");
    assert_eq!(bench.memory.stats().seq, 0);
}

#[test]
fn what_names_somebody_in_any_field_is_forgotten_and_what_is_left_in_doubt_is_said() {
    let mut bench = Bench::new();
    let mut with_person = told_at("somebody rings the bell", 3_600);
    with_person.attributes.insert("person".into(), memory_core::Value::Text("Anna".into()));
    for told in [
        about("Anna", "hello", 0),
        told_at("Anna is in the garden.", 20),
        told_at("She went to the hall.", 40),
        with_person,
        about("Ben", "Anna's bag is blue", 7_200),
        keyed("anna-7", "the door opens", 9_000),
        told_at("Annabelle sings", 12_000),
        told_at("the kettle is on", 15_000),
    ] {
        accepted(bench.tell(told));
    }
    while bench.memory.learn_pending(10).unwrap().has_lessons() {}
    let reply = bench.memory.forget(&ForgetRequest::Entity("anna".into())).unwrap();
    assert_eq!(reply.events, 5);
    assert_eq!(bench.texts(), ["She went to the hall.", "Annabelle sings", "the kettle is on"]);
    let doubtful: Vec<u64> = reply.in_doubt.iter().map(|event| event.0).collect();
    assert_eq!((reply.doubtful, doubtful), (2, vec![3, 7]));
    let query = memory_core::Query { question: "Where is Anna?".into(), now: Some(at(20_000)), ..Default::default() };
    for _ in 0..2 {
        let answer = bench.memory.ask(&query).unwrap();
        assert!(answer.evidence.iter().all(|one| !one.text.contains("Anna ")), "{answer:?}");
        while bench.memory.learn_pending(10).unwrap().has_lessons() {}
        bench.assert_clean();
        bench.reopen();
    }
}

#[test]
fn what_was_still_open_when_a_span_was_forgotten_is_cut_when_it_comes() {
    let mut bench = Bench::new();
    bench.clock.set_wall(at(100));
    bench.memory.forget(&ForgetRequest::Span(TimeSpan::new(at(-600), at(600)))).unwrap();
    // One was waiting, one was open, and one came after.
    let waiting = bench.perceive(segment(80, 90, &["a face"]));
    assert!(matches!(waiting, ObserveOutcome::Duplicate { .. }), "{waiting:?}");
    let mut open = segment(95, 110, &["a hand", "a cup"]);
    (open.events[0].start, open.events[0].end) = (at(96), at(98));
    (open.events[1].start, open.events[1].end) = (at(104), at(106));
    let (cut, ..) = accepted(bench.perceive(open.clone()));
    let (after, ..) = accepted(bench.perceive(segment(110, 118, &["a hat"])));
    for _ in 0..2 {
        assert_eq!(bench.texts(), ["a cup", "a hat"]);
        let (episode, _) = bench.memory.episode(cut).unwrap().unwrap();
        assert_eq!((episode.span, episode.media), (TimeSpan::new(at(100), at(110)), None));
        assert!(bench.memory.episode(after).unwrap().unwrap().0.media.is_some());
        let recordings = bench.memory.recordings_to_remove().unwrap();
        assert!(recordings.iter().any(|(_, one)| one.span == TimeSpan::new(at(95), at(100)) && one.media.is_some()));
        assert!(matches!(bench.perceive(open.clone()), ObserveOutcome::Duplicate { .. }));
        assert!(matches!(bench.perceive(segment(80, 90, &["a face"])), ObserveOutcome::Duplicate { .. }));
        bench.assert_clean();
        bench.kill();
    }
}

#[test]
fn a_preview_says_what_would_be_hidden_and_hides_nothing() {
    let bench = Bench::new();
    accepted(bench.tell(about("Anna", "hello", 0)));
    accepted(bench.tell(told_at("Anna sings", 3_600)));
    accepted(bench.tell(told_at("the kettle is on", 7_200)));
    let request = ForgetRequest::Entity("Anna".into());
    let preview = bench.memory.preview_forget(&request).unwrap();
    let shown: Vec<_> = preview.events.iter().map(|event| event.text.as_str()).collect();
    assert_eq!(shown, ["hello", "Anna sings"]);
    assert_eq!(bench.texts().len(), 3);
    assert_eq!(bench.memory.stats().hidden, 0);
    assert_eq!(bench.memory.forget(&request).unwrap(), preview.reply);
    bench.assert_clean();
}
