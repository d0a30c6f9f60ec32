//! What a segment shows from picture to picture: found by a question and by a picture, kept in a stay, and forgotten with its event.

use std::sync::Arc;
use std::time::Duration;

use memory_core::ports::{PortError, TextEmbedder};
use memory_core::word_search::{AlikeTo, Example, WordPage, WordQuery, WordSearchError};
use memory_core::{
    ConsolidationOptions, EventId, ForgetRequest, Kind, MomentVector, Perceived, PlaceSpace, Query, Sensed,
    SensedEmbedding, TimeSpan,
};

use crate::support::{Bench, accepted, at, segment, told_at};

const SPACE: &str = "joint";

/// A picture of something at an angle; what is 90 degrees apart has nothing in common.
fn picture(degrees: f32) -> Vec<f32> {
    let (sin, cos) = degrees.to_radians().sin_cos();
    vec![cos, sin, 0.0, 0.0]
}

/// A segment of the one recording with a picture every two seconds, at these angles.
fn scene(start: i64, degrees: &[f32]) -> Perceived {
    let end = start + 2 * i64::try_from(degrees.len()).unwrap();
    let mut scene = segment(start, end, &["The scene is mostly green."]);
    scene.media = Some("archive:camera/s1".into());
    let moment = |number: usize| scene.stream.start + Duration::from_secs(2 * number as u64);
    let sequence: Vec<MomentVector> = degrees
        .iter()
        .enumerate()
        .map(|(number, degrees)| MomentVector { at: moment(number), vector: picture(*degrees) })
        .collect();
    let mut vector = vec![0.0; 4];
    for moment in &sequence {
        vector.iter_mut().zip(&moment.vector).for_each(|(sum, component)| *sum += component);
    }
    scene.events[0].kind = Kind::Caption;
    scene.events[0].embeddings =
        vec![SensedEmbedding { sensed: Sensed::Picture, space: SPACE.into(), vector, sequence }];
    scene
}

/// Places "kingfisher" where its picture lies, at 90 degrees, and everything else where nothing is.
struct OneSpace;

impl TextEmbedder for OneSpace {
    fn space(&self) -> &str {
        SPACE
    }

    fn dimensions(&self) -> usize {
        4
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, PortError> {
        let place = |text: &&str| if text.contains("kingfisher") { picture(90.0) } else { vec![0.0, 0.0, 0.0, 1.0] };
        Ok(texts.iter().map(place).collect())
    }
}

/// Twelve scenes of a meadow; in the middle of the eighth, from 148 to 152 s, a kingfisher.
fn meadow() -> (Bench, Vec<EventId>) {
    let bench = Bench::new();
    bench.memory.set_picture_texts(Some(Arc::new(OneSpace)));
    bench.memory.set_place_spaces(vec![PlaceSpace { space: SPACE.into(), gamma: 0.9 }]);
    let mut scenes = Vec::new();
    for number in 0..12_u8 {
        let turned = f32::from(number);
        let mut degrees = [turned; 10];
        if number == 7 {
            (degrees[4], degrees[5]) = (88.0, 90.0);
        }
        scenes.push(accepted(bench.perceive(scene(20 * i64::from(number), &degrees))).2[0]);
    }
    (bench, scenes)
}

/// Where the first evidence lies in its recording, in seconds.
fn found(bench: &Bench) -> Option<(u64, u64)> {
    let question = Query { question: "Where was the kingfisher seen?".into(), ..Query::default() };
    let first = bench.memory.ask(&question).unwrap().evidence.into_iter().next()?;
    assert_eq!(first.span.end.since(first.span.start), first.stream?.end - first.stream?.start);
    first.stream.map(|stream| (stream.start.as_secs(), stream.end.as_secs()))
}

fn like(bench: &Bench, event: EventId, cosine: Option<f32>) -> Result<WordPage, WordSearchError> {
    let similar_to = Some(AlikeTo { example: Example::Picture(event), cosine });
    bench.memory.search_words(&WordQuery { similar_to, limit: 100, ..WordQuery::default() })
}

#[test]
fn a_question_finds_the_moment_of_a_segment_that_looks_like_it() {
    let (mut bench, _) = meadow();
    assert_eq!(found(&bench), Some((148, 152)));
    bench.assert_clean();
    bench.memory.compact().unwrap();
    assert_eq!(found(&bench), Some((148, 152)), "after compaction");
    bench.reopen();
    bench.memory.set_picture_texts(Some(Arc::new(OneSpace)));
    assert_eq!(found(&bench), Some((148, 152)), "after a restart");
    bench.assert_clean();
}

#[test]
fn a_still_scene_costs_no_sequence() {
    let records = |degrees: &[f32]| {
        let bench = Bench::new();
        accepted(bench.perceive(scene(0, degrees)));
        bench.memory.check().unwrap().records
    };
    let still = records(&[10.0, 11.0, 10.0, 12.0]);
    assert_eq!(still, records(&[10.0]), "its vector says it all");
    assert_eq!(still + 1, records(&[10.0, 90.0, 10.0]));
}

#[test]
fn a_stay_keeps_the_looks_of_its_segments_and_forgetting_takes_them() {
    let bench = Bench::new();
    bench.memory.set_picture_texts(Some(Arc::new(OneSpace)));
    bench.memory.set_place_spaces(vec![PlaceSpace { space: SPACE.into(), gamma: 0.5 }]);
    for number in 0..12_u8 {
        // Another hour for each but the last three, which are one stay.
        let start = if number < 9 { 3_600 * i64::from(number) } else { 3_600 * 9 + 20 * i64::from(number - 9) };
        let mut degrees = [f32::from(number); 10];
        if number == 10 {
            degrees[4..7].fill(90.0);
        }
        accepted(bench.perceive(scene(start, &degrees)));
    }
    let now = || {
        bench.memory.set_consolidation(ConsolidationOptions {
            enabled: true,
            after: Duration::ZERO,
            ..ConsolidationOptions::default()
        });
        bench.clock.advance(Duration::from_secs(100_000));
        while bench.memory.consolidate_pending(9).unwrap() > 0 {}
    };
    let begin = 3_600 * 9_u64;
    assert_eq!(found(&bench), Some((begin + 28, begin + 34)));
    now();
    assert_eq!(bench.events().len(), 10, "three are one");
    assert_eq!(found(&bench), Some((begin + 28, begin + 34)), "of a minute that is one event");
    bench.assert_clean();

    let middle = TimeSpan::new(at(3_600 * 9 + 25), at(3_600 * 9 + 35));
    bench.memory.forget(&ForgetRequest::Span(middle)).unwrap();
    assert_ne!(found(&bench), Some((begin + 28, begin + 34)));
    bench.assert_clean();
}

#[test]
fn what_looks_like_a_picture_is_found_also_where_only_a_part_of_a_segment_does() {
    let (bench, scenes) = meadow();
    let (_, _, kingfisher) = accepted(bench.perceive(scene(400, &[90.0; 3])));
    let page = like(&bench, kingfisher[0], None).unwrap();
    let begins: Vec<_> =
        page.found.iter().map(|one| (one.event.id, one.event.stream.unwrap().start.as_secs())).collect();
    assert_eq!(begins, [(scenes[7], 148)]);
    assert!((page.found[0].score - 1.0).abs() < 0.1, "{}", page.found[0].score);

    let page = like(&bench, scenes[0], None).unwrap();
    assert_eq!(page.total, 11, "the meadow, and not the kingfisher's own scene");
    assert_eq!(page.found[0].event.id, scenes[1]);
    assert_eq!(
        page.found[0].event.stream.unwrap().end.as_secs(),
        40,
        "a scene that is alike as a whole is shown whole"
    );
    assert!(like(&bench, scenes[0], Some(0.999)).unwrap().total < 4);
}

#[test]
fn what_was_told_has_no_picture_to_be_compared_with() {
    let (bench, scenes) = meadow();
    let (_, _, told) = accepted(bench.tell(told_at("a kingfisher sat there", 9_000)));
    assert!(matches!(like(&bench, told[0], None), Err(WordSearchError::NoPicture(_))));
    assert!(matches!(like(&bench, EventId(999), None), Err(WordSearchError::UnknownExample(_))));
    // An object in view has the picture of its scene.
    let mut seen = scene(500, &[90.0; 3]);
    let thing = memory_core::PerceivedEvent {
        kind: Kind::Object,
        text: "A bird is in view.".into(),
        embeddings: Vec::new(),
        ..seen.events[0].clone()
    };
    seen.events.push(thing);
    let (_, _, events) = accepted(bench.perceive(seen));
    assert_eq!(like(&bench, events[1], None).unwrap().found[0].event.id, scenes[7]);
}
