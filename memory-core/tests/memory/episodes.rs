//! How events are grouped.

use memory_core::{EpisodeFilter, EpisodeId, EventPage, Observation, ObserveOutcome, TimeSpan, Told, Value};
use std::time::Duration;

use crate::support::{Bench, accepted, at, keyed, rejected, segment, told_at, with_session};

fn list(bench: &Bench, filter: &EpisodeFilter) -> Vec<EpisodeId> {
    bench.memory.episodes(filter).unwrap().episodes.into_iter().map(|summary| summary.episode.id).collect()
}

#[test]
fn consecutive_observations_of_a_source_form_an_episode_until_a_minute_passes() {
    let mut bench = Bench::new();
    let (first, opened, _) = accepted(bench.tell(told_at("one", 0)));
    assert!(opened);
    assert_eq!(accepted(bench.tell(told_at("two", 60))).0, first);
    bench.kill();
    let (same, opened, _) = accepted(bench.tell(told_at("three", 120)));
    assert_eq!((same, opened), (first, false), "the open episode is known after a kill");
    assert_ne!(accepted(bench.tell(told_at("four", 181))).0, first);
    let (episode, events) = bench.memory.episode(first).unwrap().unwrap();
    assert_eq!(episode.span, TimeSpan::new(at(0), at(120)));
    assert_eq!(events.len(), 3);
    bench.assert_clean();
}

#[test]
fn the_gap_counts_from_the_end_of_what_was_told() {
    let bench = Bench::new();
    let (first, ..) = accepted(bench.tell(Told { until: Some(at(100)), ..told_at("a long speech", 0) }));
    assert_eq!(accepted(bench.tell(told_at("applause", 160))).0, first);
}

#[test]
fn sources_do_not_mix_and_sessions_join_them() {
    let bench = Bench::new();
    let (asr, ..) = accepted(bench.tell(told_at("one", 0)));
    let other = |text: &str, at| Told { source: "tasks".into(), ..told_at(text, at) };
    assert_ne!(accepted(bench.tell(other("two", 1))).0, asr);
    let (tea, ..) = accepted(bench.tell(with_session(told_at("make tea", 2), "tea-1")));
    assert_ne!(tea, asr);
    assert_eq!(accepted(bench.tell(with_session(other("pour water", 3), "tea-1"))).0, tea);
    assert_ne!(accepted(bench.tell(with_session(other("pour water", 3), "tea-2"))).0, tea);
    assert_eq!(bench.memory.episode(tea).unwrap().unwrap().0.session.as_deref(), Some("tea-1"));
}

#[test]
fn what_is_told_of_a_segment_joins_it() {
    let bench = Bench::new();
    let (episode, opened, _) = accepted(bench.perceive(segment(0, 8, &["a cup"])));
    assert!(opened);
    let (joined, opened, _) = accepted(bench.tell(told_at("hello", 3)));
    assert_eq!((joined, opened), (episode, false));
    let (whole, events) = bench.memory.episode(episode).unwrap().unwrap();
    assert_eq!(whole.span, TimeSpan::new(at(0), at(8)));
    assert_eq!(events.len(), 2);
    let heard = &events[1];
    assert_eq!(heard.stream.unwrap().start, Duration::from_secs(3), "a recording covers it");
    assert_eq!(heard.media.as_deref(), Some("file:///media/0.mkv"));
    bench.assert_clean();
}

#[test]
fn of_two_segments_the_own_source_goes_first_and_then_the_later_one() {
    let bench = Bench::new();
    let (front, ..) = accepted(bench.perceive(segment(0, 8, &[])));
    let mut rear = segment(2, 9, &[]);
    rear.source = "rear".into();
    let (rear, ..) = accepted(bench.perceive(rear));
    assert_eq!(accepted(bench.tell(told_at("x", 3))).0, rear);
    assert_eq!(accepted(bench.tell(Told { source: "camera".into(), ..told_at("y", 3) })).0, front);
    assert_eq!(accepted(bench.tell(told_at("z", 1))).0, front);
}

#[test]
fn a_segment_becomes_the_episode_that_was_told_while_it_was_open() {
    let mut bench = Bench::new();
    let (episode, ..) = accepted(bench.tell(told_at("please bring the mug", 3)));
    let (same, opened, events) = accepted(bench.perceive(segment(0, 8, &["a mug"])));
    assert_eq!((same, opened), (episode, false), "the announced id stays");
    for _ in 0..2 {
        let (whole, inside) = bench.memory.episode(episode).unwrap().unwrap();
        assert_eq!(whole.source, "camera");
        assert_eq!(whole.span, TimeSpan::new(at(0), at(8)));
        assert_eq!(inside.len(), 2);
        assert_eq!(inside[1].id, events[0]);
        assert_eq!(inside[0].stream.unwrap().start, Duration::from_secs(3));
        assert_eq!(bench.memory.stats().episodes, 1);
        bench.assert_clean();
        bench.kill();
    }
    // What is told next is another episode: the segment is closed.
    assert_ne!(accepted(bench.tell(told_at("thanks", 10))).0, episode);
}

#[test]
fn several_told_episodes_within_a_segment_merge_into_it_and_are_found_under_their_ids() {
    let mut bench = Bench::new();
    let (first, ..) = accepted(bench.tell(told_at("one", 2)));
    let (second, ..) = accepted(bench.tell(Told { source: "tasks".into(), ..told_at("two", 3) }));
    assert_ne!(first, second);
    assert_eq!(accepted(bench.perceive(segment(0, 8, &[]))).0, first);
    for _ in 0..2 {
        assert_eq!(bench.memory.episode(second).unwrap().unwrap().0.id, first);
        assert!(bench.events().iter().all(|event| event.episode == first));
        assert_eq!(list(&bench, &EpisodeFilter::default()), [first]);
        bench.assert_clean();
        bench.kill();
    }
}

#[test]
fn of_an_episode_that_reaches_beyond_the_segment_only_what_is_inside_moves() {
    let bench = Bench::new();
    let (talk, ..) = accepted(bench.tell(told_at("one", 2)));
    accepted(bench.tell(told_at("two", 4)));
    accepted(bench.tell(told_at("three", 20)));
    let (seen, opened, _) = accepted(bench.perceive(segment(0, 8, &[])));
    assert!(opened && seen != talk);
    let (rest, events) = bench.memory.episode(talk).unwrap().unwrap();
    assert_eq!((rest.span, events.len()), (TimeSpan::new(at(20), at(20)), 1));
    assert_eq!(bench.memory.episode(seen).unwrap().unwrap().1.len(), 2);
    bench.assert_clean();
}

#[test]
fn a_repeated_segment_is_a_duplicate_also_without_events() {
    let mut bench = Bench::new();
    let (_, _, events) = accepted(bench.perceive(segment(0, 8, &["a cup"])));
    accepted(bench.perceive(segment(8, 16, &[])));
    bench.kill();
    assert_eq!(bench.perceive(segment(0, 8, &["a cup"])), ObserveOutcome::Duplicate { of: Some(events[0]) });
    assert!(matches!(bench.perceive(segment(8, 16, &[])), ObserveOutcome::Duplicate { .. }));
    assert_eq!(bench.memory.stats().episodes, 2, "that nothing happened is remembered too");
}

#[test]
fn a_segment_that_ends_before_it_starts_is_refused() {
    let bench = Bench::new();
    let mut backwards = segment(0, 8, &[]);
    (backwards.start, backwards.end) = (backwards.end, backwards.start);
    assert!(rejected(bench.perceive(backwards)).contains("ends"));
}

#[test]
fn an_endless_talker_gets_more_than_one_episode() {
    let bench = Bench::new();
    let batch = (0..4100).map(|second| Observation::Told(told_at("tick", second))).collect();
    let outcomes = bench.memory.observe(batch).unwrap();
    let opened =
        outcomes.iter().filter(|outcome| matches!(outcome, ObserveOutcome::Accepted { opened: true, .. })).count();
    assert_eq!(opened, 2);
    bench.assert_clean();
}

#[test]
fn lists_are_paged_newest_first_and_filtered() {
    let bench = Bench::new();
    let mut all = Vec::new();
    for hour in 0..7 {
        let mut observation = Told { entity: Some("Anna".into()), ..keyed("x", "walks", hour * 3600) };
        if hour % 2 == 0 {
            observation.attributes.insert("place".into(), Value::Text("Kitchen".into()));
        }
        if hour == 3 {
            observation.entity = Some("Ben".into());
        }
        all.push(accepted(bench.tell(observation)).0);
    }
    all.reverse();

    let mut seen = Vec::new();
    let mut filter = EpisodeFilter { limit: Some(3), ..EpisodeFilter::default() };
    loop {
        let page = bench.memory.episodes(&filter).unwrap();
        assert!(page.episodes.len() <= 3);
        seen.extend(page.episodes.iter().map(|summary| summary.episode.id));
        match page.next {
            Some(next) => filter.cursor = Some(next),
            None => break,
        }
    }
    assert_eq!(seen, all);

    let span = Some(TimeSpan::new(at(2 * 3600), at(4 * 3600)));
    assert_eq!(list(&bench, &EpisodeFilter { span, ..EpisodeFilter::default() }), all[2..5]);
    let entity = Some("ANNA".to_owned());
    assert_eq!(list(&bench, &EpisodeFilter { entity: entity.clone(), ..EpisodeFilter::default() }).len(), 6);
    let place = Some("kitchen".to_owned());
    assert_eq!(list(&bench, &EpisodeFilter { place: place.clone(), ..EpisodeFilter::default() }).len(), 4);
    assert_eq!(list(&bench, &EpisodeFilter { place, entity, span, ..EpisodeFilter::default() }), [all[2], all[4]]);
}

#[test]
fn the_last_full_page_has_no_next() {
    let bench = Bench::new();
    for hour in 0..4 {
        accepted(bench.tell(told_at("x", hour * 3600)));
    }
    let page = bench.memory.episodes(&EpisodeFilter { limit: Some(4), ..EpisodeFilter::default() }).unwrap();
    assert_eq!((page.episodes.len(), page.next), (4, None));
}

#[test]
fn a_list_by_time_finds_what_lies_far_back_and_ends_when_its_time_is_over() {
    let bench = Bench::new();
    bench.clock.set_wall(at(400_000));
    let told: Vec<_> =
        (0..2_600).map(|number| Observation::Told(told_at(&format!("remark {number}"), number * 120))).collect();
    bench.memory.observe(told).unwrap();
    accepted(bench.perceive(segment(60, 68, &[])));
    let span = |from: i64, to: i64| Some(TimeSpan::new(at(from), at(to)));
    let found = |span| {
        let page = bench.memory.episodes(&EpisodeFilter { span, ..EpisodeFilter::default() }).unwrap();
        page.episodes.into_iter().map(|one| one.episode.id.0).collect::<Vec<_>>()
    };
    assert_eq!(found(span(0, 300)), [2_601, 3, 2, 1]);
    assert_eq!(found(span(61, 62)), [2_601]);
    assert_eq!(found(span(-500, -100)), [0; 0]);
    let none = EpisodeFilter { span: span(-500, -100), budget: Some(Duration::ZERO), ..EpisodeFilter::default() };
    assert!(matches!(bench.memory.episodes(&none), Err(memory_core::ReadError::Deadline(_))));
}

#[test]
fn a_large_episode_is_read_in_pages_of_so_many_events_and_bytes() {
    let bench = Bench::new();
    let told: Vec<_> = (0..20).map(|number| Observation::Told(told_at(&"x".repeat(1_000), number))).collect();
    bench.memory.observe(told).unwrap();
    let read = |limit, bytes| {
        let (mut after, mut sizes) = (None, Vec::new());
        loop {
            let page = EventPage { after, limit, bytes };
            let page = bench.memory.episode_page(EpisodeId(1), page).unwrap().unwrap();
            assert_eq!(page.episode.events.len(), 20);
            sizes.push(page.events.len());
            after = page.next;
            if after.is_none() {
                return sizes;
            }
        }
    };
    assert_eq!(read(100, usize::MAX), [20]);
    assert_eq!(read(8, usize::MAX), [8, 8, 4]);
    assert_eq!(read(100, 7_500), [7, 7, 6]);
    assert_eq!(read(100, 10), [1; 20], "one at least");
}
