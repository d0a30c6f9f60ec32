//! What is like an event or an episode.

use std::sync::Arc;

use memory_core::ports::{PortError, TextEmbedder};
use memory_core::word_search::{AlikeTo, Example, WordPage, WordQuery, WordSearchError};
use memory_core::{EpisodeId, EventId, ForgetRequest, Near, Pose, PoseOf, Told};

use crate::support::{Bench, accepted, segment, told_at};

/// A space of 64 directions, in which a text that ends in a number lies at that angle, in degrees.
struct Dials;

impl TextEmbedder for Dials {
    fn space(&self) -> &str {
        "dials"
    }

    fn dimensions(&self) -> usize {
        64
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, PortError> {
        let angle = |text: &&str| text.rsplit(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0.0_f32);
        Ok(texts
            .iter()
            .map(|text| {
                let (sin, cos) = angle(text).to_radians().sin_cos();
                let mut vector = vec![0.0; 64];
                (vector[3], vector[40]) = (cos, sin);
                vector
            })
            .collect())
    }
}

/// Dials at these angles, an hour apart, with their events and episodes.
fn dials(angles: &[i16]) -> (Bench, Vec<(EventId, EpisodeId)>) {
    let bench = Bench::new();
    bench.memory.set_text_embedder(Some(Arc::new(Dials)));
    let told = |(n, angle): (i64, &i16)| {
        let (episode, _, events) = accepted(bench.tell(told_at(&format!("the dial reads {angle}"), -3600 * n)));
        (events[0], episode)
    };
    let ids = (0..).zip(angles).map(told).collect();
    bench.memory.embed_pending(10_000).unwrap();
    (bench, ids)
}

fn like(example: Example, cosine: f32) -> WordQuery {
    WordQuery { similar_to: Some(AlikeTo { example, cosine: Some(cosine) }), limit: 100, ..WordQuery::default() }
}

fn shown(page: &WordPage) -> Vec<(&str, f32)> {
    page.found.iter().map(|found| (found.event.text.as_str(), (found.score * 1_000.0).round() / 1_000.0)).collect()
}

#[test]
fn what_is_like_an_event_comes_in_order_of_its_cosine_and_without_the_event_itself() {
    let (bench, ids) = dials(&[0, 70, 30, 120, 50, 10, 0]);
    let page = bench.memory.search_words(&like(Example::Event(ids[0].0), 0.5)).unwrap();
    let expected = [
        ("the dial reads 0", 1.0),
        ("the dial reads 10", 0.985),
        ("the dial reads 30", 0.866),
        ("the dial reads 50", 0.643),
    ];
    assert_eq!(shown(&page), expected, "70 degrees are less than half as like");
    assert_eq!((page.total, page.plan), (4, None));
    assert_eq!(page.found[0].event.id, ids[6].0, "the other one at 0");
    assert_eq!(page.found[0].snippet.text, "the dial reads 0");
    let few = WordQuery { limit: 1, ..like(Example::Event(ids[0].0), 0.5) };
    let few = bench.memory.search_words(&few).unwrap();
    assert_eq!((few.total, few.found.len()), (4, 1));
    let strict = bench.memory.search_words(&like(Example::Event(ids[0].0), 1.0)).unwrap();
    assert_eq!(shown(&strict), [("the dial reads 0", 1.0)]);
}

#[test]
fn words_fields_and_a_circle_narrow_what_is_alike() {
    let bench = Bench::new();
    bench.memory.set_text_embedder(Some(Arc::new(Dials)));
    let pose =
        |x: f64| Some(Pose { frame: "map".into(), x, y: 0.0, z: 0.0, yaw: 0.0, covariance: None, of: PoseOf::Thing });
    let tell = |text: &str, hour: i64, x: f64| {
        let told = Told { pose: pose(x), ..told_at(text, hour * 3600) };
        accepted(bench.tell(told)).2[0]
    };
    let first = tell("the red dial 0", 0, 0.0);
    tell("the blue dial 10", 1, 0.5);
    tell("the red dial 20", 2, 9.0);
    tell("the red dial 90", 3, 0.0);
    bench.memory.embed_pending(100).unwrap();
    let words = WordQuery::parse("red", &mut |_| unreachable!()).unwrap();
    let red = WordQuery { parts: words.parts, ..like(Example::Event(first), 0.5) };
    let page = bench.memory.search_words(&red).unwrap();
    assert_eq!(shown(&page), [("the red dial 20", 0.94)]);
    assert_eq!(page.words[0].events, 3, "{:?}", page.words);
    assert_eq!(page.found[0].snippet.marked("[", "]"), "the [red] dial 20");
    let near = Some(Near { frame: "map".into(), x: 0.0, y: 0.0, radius: 2.0 });
    let page =
        bench.memory.search_words(&WordQuery { near: near.clone(), ..like(Example::Event(first), 0.5) }).unwrap();
    assert_eq!(shown(&page), [("the blue dial 10", 0.985)]);
    assert_eq!(bench.memory.search_words(&WordQuery { near, ..red }).unwrap().total, 0);
}

#[test]
fn an_episode_is_like_another_by_all_its_events() {
    let bench = Bench::new();
    bench.memory.set_text_embedder(Some(Arc::new(Dials)));
    let seen = |start: i64, texts: &[&str]| accepted(bench.perceive(segment(start, start + 5, texts))).0;
    let both = seen(0, &["lamp 0", "door 90"]);
    seen(1_000, &["lamp 5", "nobody 180"]);
    let alike = seen(2_000, &["lamp 20", "door 80"]);
    seen(3_000, &["floor 200", "wall 250"]);
    bench.memory.embed_pending(100).unwrap();
    let page = bench.memory.search_words(&like(Example::Episode(both), 0.8)).unwrap();
    assert_eq!(page.total, 2, "{:?}", shown(&page));
    assert_eq!(page.found[0].event.episode, alike);
    assert_eq!(shown(&page), [("door 80", 0.962), ("lamp 5", 0.498)], "one of its two events is like nothing there");
}

#[test]
fn nearly_everything_that_an_exact_comparison_finds_is_found() {
    let angles: Vec<i16> = (0..300).map(|n| n * 97 % 360).collect();
    let (bench, ids) = dials(&angles);
    let exact =
        |cosine: f32| angles[1..].iter().filter(|angle| f32::from(**angle).to_radians().cos() >= cosine - 1e-4).count();
    for cosine in [0.3, 0.5, 0.7, 0.9] {
        let page =
            bench.memory.search_words(&WordQuery { limit: 300, ..like(Example::Event(ids[0].0), cosine) }).unwrap();
        assert!(page.found.iter().all(|found| found.score >= cosine - 2e-4));
        assert!(page.found.is_sorted_by(|a, b| a.score >= b.score));
        assert!(
            page.total <= exact(cosine) && page.total * 100 >= exact(cosine) * 95,
            "{cosine}: {} of {}",
            page.total,
            exact(cosine)
        );
    }
}

#[test]
fn forgotten_events_are_neither_found_nor_examples() {
    let (bench, ids) = dials(&[0, 10, 20]);
    bench.memory.forget(&ForgetRequest::Episodes(vec![ids[1].1])).unwrap();
    let page = bench.memory.search_words(&like(Example::Event(ids[0].0), 0.5)).unwrap();
    assert_eq!(shown(&page), [("the dial reads 20", 0.94)]);
    for example in [Example::Event(ids[1].0), Example::Episode(ids[1].1), Example::Event(EventId(999))] {
        let error = bench.memory.search_words(&like(example, 0.5)).unwrap_err();
        assert!(matches!(&error, WordSearchError::UnknownExample(unknown) if *unknown == example), "{error}");
        assert!(error.to_string().contains(&format!("there is no {example}")), "{error}");
    }
}

#[test]
fn what_has_no_embedding_says_so_and_why() {
    let bench = Bench::new();
    let (episode, _, events) = accepted(bench.tell(told_at("the dial reads 0", 0)));
    let said = |example| bench.memory.search_words(&like(example, 0.5)).unwrap_err().to_string();
    let missing = said(Example::Event(events[0]));
    assert!(missing.contains("ev-1 has no embedding") && missing.contains("no model for text embedding"), "{missing}");
    bench.memory.set_text_embedder(Some(Arc::new(Dials)));
    let pending = said(Example::Episode(episode));
    assert!(pending.contains("has no embedding") && pending.contains("made in the background"), "{pending}");
}
