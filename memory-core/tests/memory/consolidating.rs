//! Consolidation and gists on bad days: nothing is lost, and nothing is told twice.

use std::collections::BTreeMap;
use std::time::Duration;

use memory_core::store::MemoryStorage;
use memory_core::{
    ConsolidationOptions, EpisodeFilter, ForgetRequest, Gist, GistFilter, Level, Memory, Observation, Perceived,
    PlaceSpace, Query, Route, Sensed, SensedEmbedding, TimeSpan,
};

use crate::support::{Bench, accepted, at, open, segment};

/// A segment of the one recording of the day.
fn recorded(start: i64, end: i64, texts: &[&str]) -> Perceived {
    Perceived { media: Some("archive:camera/s1".into()), ..segment(start, end, texts) }
}

fn consolidating(memory: &Memory) {
    memory.set_consolidation(ConsolidationOptions {
        enabled: true,
        after: Duration::ZERO,
        ..ConsolidationOptions::default()
    });
}

fn consolidated(memory: &Memory) {
    consolidating(memory);
    while memory.consolidate_pending(1).unwrap() > 0 {}
}

fn finished(memory: &Memory) {
    consolidated(memory);
    while memory.gists_pending(1).unwrap() > 0 {}
}

fn gists(memory: &Memory, level: Level) -> Vec<Gist> {
    memory.gists(&GistFilter { level, span: None, limit: None, budget: None }).unwrap()
}

/// What the hours and days say: how often, how long and when.
fn said(memory: &Memory) -> Vec<String> {
    let told = |gist: Gist| {
        let lines = gist.lines.iter().map(|line| (line.text.clone(), line.times, line.lasted, line.span));
        format!("{:?} {} {:?}", gist.span, gist.summary, lines.collect::<Vec<_>>())
    };
    [Level::Hour, Level::Day].into_iter().flat_map(|level| gists(memory, level)).map(told).collect()
}

/// Seconds that everything in some gists lasted.
fn lasted(gists: &[Gist]) -> u64 {
    gists.iter().flat_map(|gist| &gist.lines).map(|line| line.lasted).sum::<u64>() / 1_000_000
}

/// Seconds of each text, however many events tell of them.
fn seconds(bench: &Bench) -> BTreeMap<String, Vec<(i64, i64)>> {
    let mut spans: BTreeMap<String, Vec<(i64, i64)>> = BTreeMap::new();
    for event in bench.events() {
        let span = (event.span.start.as_micros() / 1_000_000, event.span.end.as_micros() / 1_000_000);
        spans.entry(event.text).or_default().push(span);
    }
    for spans in spans.values_mut() {
        spans.sort_unstable();
        let mut joined: Vec<(i64, i64)> = Vec::new();
        for (start, end) in spans.drain(..) {
            match joined.last_mut().filter(|last| start <= last.1) {
                Some(last) => last.1 = last.1.max(end),
                None => joined.push((start, end)),
            }
        }
        *spans = joined;
    }
    spans
}

fn episodes(bench: &Bench) -> usize {
    let filter = EpisodeFilter { limit: Some(1000), ..EpisodeFilter::default() };
    bench.memory.episodes(&filter).unwrap().episodes.len()
}

fn perceive(bench: &Bench, one: Perceived) {
    accepted(bench.perceive(one));
}

/// Segments of ten seconds, one after the other, from `from` seconds on.
fn stay(bench: &Bench, from: i64, count: i64, texts: &[&str]) {
    for number in 0..count {
        perceive(bench, recorded(from + 10 * number, from + 10 * number + 10, texts));
    }
}

fn later(bench: &Bench) {
    bench.clock.set_wall(at(3 * 86_400));
}

fn asked(bench: &Bench, question: &str) -> (Option<String>, Route, String) {
    let answer = bench.memory.ask(&Query { question: question.into(), ..Query::default() }).unwrap();
    (answer.answer, answer.route, answer.reason)
}

#[test]
fn a_session_of_one_segment_is_summarised_once_and_stays_as_it_was() {
    let bench = Bench::new();
    perceive(&bench, recorded(0, 10, &["A kite is in view."]));
    let before = bench.events();
    later(&bench);
    finished(&bench.memory);
    assert_eq!(bench.events(), before);
    for level in [Level::Hour, Level::Day] {
        let gists = gists(&bench.memory, level);
        assert_eq!(gists.len(), 1);
        assert_eq!(gists[0].summary.matches("kite").count(), 1, "{}", gists[0].summary);
    }
    bench.assert_clean();
}

#[test]
fn a_day_with_nothing_in_it_has_no_gist_and_is_not_made_up() {
    let bench = Bench::new();
    stay(&bench, 0, 3, &["A kite is in view."]);
    stay(&bench, 2 * 86_400, 3, &["A drum is in view."]);
    later(&bench);
    finished(&bench.memory);
    let days = gists(&bench.memory, Level::Day);
    assert_eq!(days.len(), 2, "{days:?}");
    let empty = TimeSpan::new(at(16 * 3_600), at(40 * 3_600 - 1));
    let none = bench.memory.gists(&GistFilter { level: Level::Hour, span: Some(empty), limit: None, budget: None });
    assert_eq!(none.unwrap(), Vec::new());
    let (answer, route, reason) = asked(&bench, "What happened on 21 November 2026?");
    assert_eq!((answer, route), (None, Route::None), "{reason}");
    assert!(!reason.is_empty());
}

#[test]
fn a_clock_that_jumps_within_an_hour_parts_the_stay_and_nothing_is_lost_or_told_twice() {
    // Back by ten minutes, and forward by ten: the stream goes on, the wall clock was set.
    for jump in [-600, 600] {
        let bench = Bench::new();
        stay(&bench, 1_000, 6, &["A kite is in view."]);
        for number in 6..12 {
            let stream = recorded(1_000 + 10 * number, 1_010 + 10 * number, &["A kite is in view."]);
            let mut one = recorded(1_000 + 10 * number + jump, 1_010 + 10 * number + jump, &["A kite is in view."]);
            one.stream = stream.stream;
            one.events[0].stream = stream.stream;
            perceive(&bench, one);
        }
        let before = seconds(&bench);
        later(&bench);
        finished(&bench.memory);
        assert_eq!(seconds(&bench), before, "jump of {jump}");
        assert!(episodes(&bench) < 12, "each part is a stay: {}", episodes(&bench));
        assert!(episodes(&bench) >= 2, "what lies ten minutes apart is not one stay");
        let hours = gists(&bench.memory, Level::Hour);
        assert_eq!(lasted(&hours), 120, "jump of {jump}: {hours:?}");
        bench.assert_clean();
    }
}

#[test]
fn forgetting_the_middle_of_a_gist_of_a_stay_leaves_the_rest_and_no_word_of_the_middle() {
    let bench = Bench::new();
    stay(&bench, 0, 6, &["A kite is in view."]);
    perceive(&bench, recorded(60, 70, &["A kite is in view.", "A secret is in view."]));
    stay(&bench, 70, 6, &["A kite is in view."]);
    later(&bench);
    finished(&bench.memory);
    let gone = TimeSpan::new(at(62), at(68));
    bench.memory.forget(&ForgetRequest::Span(gone)).unwrap();
    // Before anything is made again, too.
    for _ in 0..2 {
        assert!(!format!("{:?}", said(&bench.memory)).contains("secret"));
        let hours = gists(&bench.memory, Level::Hour);
        assert_eq!(lasted(&hours), 120, "{hours:?}");
        finished(&bench.memory);
    }
    assert!(!format!("{:?}", bench.events()).contains("secret"));
    bench.assert_clean();
}

#[test]
fn a_kill_at_any_step_between_merging_and_summarising_ends_in_the_same_memory() {
    let bench = Bench::new();
    stay(&bench, 0, 8, &["A kite is in view.", "A bench is in view."]);
    stay(&bench, 4_000, 8, &["A drum is in view."]);
    later(&bench);
    let untouched = seconds(&bench);
    let killed = |image: &MemoryStorage| {
        let mut after = Bench::new();
        after.storage = MemoryStorage::from_image(image.image());
        after.clock.set_wall(at(3 * 86_400));
        after.memory = open(&after.storage, &after.clock);
        finished(&after.memory);
        after.assert_clean();
        after
    };
    let whole = killed(&bench.storage);
    let (expected, episodes_left) = (said(&whole.memory), episodes(&whole));
    assert!(episodes_left < 16 && expected.len() == 3, "{episodes_left} {expected:?}");
    consolidating(&bench.memory);
    let mut steps = 0;
    loop {
        let left = bench.memory.consolidate_pending(1).unwrap() + bench.memory.gists_pending(1).unwrap();
        let after = killed(&bench.storage);
        assert_eq!((said(&after.memory), episodes(&after)), (expected.clone(), episodes_left), "step {steps}");
        assert_eq!(seconds(&after), untouched, "step {steps}");
        steps += 1;
        if left == 0 {
            break;
        }
    }
    assert!(steps > 2, "the loop has steps to be killed between: {steps}");
}

/// A segment that shows a picture at so many degrees.
fn shown(number: i64, degrees: f32) -> Perceived {
    let mut one = recorded(10 * number, 10 * number + 10, &["A room is in view."]);
    let vector = vec![degrees.to_radians().cos(), degrees.to_radians().sin()];
    one.events[0].embeddings.push(SensedEmbedding {
        sensed: Sensed::Picture,
        space: "pictures".into(),
        vector,
        sequence: Vec::new(),
    });
    one
}

#[test]
fn what_shows_one_place_is_said_by_the_space_of_its_pictures() {
    // The cosine of 20 degrees is 0.94.
    for (gamma, left) in [(0.9, 1), (0.97, 2)] {
        let bench = Bench::new();
        bench.memory.set_place_spaces(vec![PlaceSpace { space: "pictures".into(), gamma }]);
        let observed = [0.0, 20.0].into_iter().zip(0..).map(|(degrees, number)| shown(number, degrees));
        bench.memory.observe(observed.map(Observation::Perceived).collect()).unwrap();
        later(&bench);
        consolidated(&bench.memory);
        assert_eq!(episodes(&bench), left, "{gamma}");
    }
    // Words alone tell it where the space is not known, or γ is none.
    for spaces in [Vec::new(), vec![PlaceSpace { space: "pictures".into(), gamma: 1.5 }]] {
        let bench = Bench::new();
        bench.memory.set_place_spaces(spaces);
        let observed = [0.0, 90.0].into_iter().zip(0..).map(|(degrees, number)| shown(number, degrees));
        bench.memory.observe(observed.map(Observation::Perceived).collect()).unwrap();
        later(&bench);
        consolidated(&bench.memory);
        assert_eq!(episodes(&bench), 1);
    }
}

#[test]
fn a_stay_follows_what_it_takes_in_unless_a_measurement_holds_it() {
    // Both ends are as like as 0.85 to the begin; the second one is not to what has been seen for most of the time.
    let ways = [0.0, 30.0, 30.0, 30.0, 30.0, 30.0, 30.0, 30.0, 30.0, -30.0_f32];
    for (refined, left) in [(true, 2), (false, 1)] {
        let bench = Bench::new();
        bench.memory.set_place_spaces(vec![PlaceSpace { space: "pictures".into(), gamma: 0.85 }]);
        bench.memory.set_consolidation(ConsolidationOptions { enabled: true, after: Duration::ZERO, refined });
        for (degrees, number) in ways.into_iter().zip(0..) {
            perceive(&bench, shown(number, degrees));
        }
        later(&bench);
        while bench.memory.consolidate_pending(4).unwrap() > 0 {}
        assert_eq!(episodes(&bench), left, "refined: {refined}");
    }
}
