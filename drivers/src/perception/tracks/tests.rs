use memory_core::Boundary;

use super::*;
use crate::models::{Catalogue, Role};

const BOX: [f32; 4] = [0.4, 0.2, 0.6, 0.8];

fn seconds(at: f64) -> Duration {
    Duration::from_secs_f64(at)
}

/// Name, score and box.
type Row = (&'static str, f32, [f32; 4]);

fn log(pictures: &[(f64, &[Row])]) -> ObjectLog {
    let rgb = [200_u8, 20, 30].repeat(64 * 36);
    let picture = Picture { width: 64, height: 36, rgb: &rgb };
    let mut log = ObjectLog::default();
    for (at, things) in pictures {
        let detections: Vec<_> = things
            .iter()
            .map(|(label, score, bounds)| Detection { label: Arc::from(*label), score: *score, bounds: *bounds })
            .collect();
        log.push(seconds(*at), &picture, &detections, Vec::new());
    }
    log
}

fn segment(start: f64, end: f64) -> Segment {
    Segment { start: seconds(start), end: seconds(end), boundary: Boundary::Visual }
}

fn told(found: &[InView]) -> Vec<(&str, usize, f64, f64)> {
    found.iter().map(|v| (&*v.label, v.count, v.start.as_secs_f64(), v.end.as_secs_f64())).collect()
}

fn at(x: f32) -> [f32; 4] {
    [x - 0.1, 0.2, x + 0.1, 0.8]
}

#[test]
fn every_thing_has_an_event_of_its_own_for_as_long_as_it_is_there() {
    let mut log = log(&[
        (0.0, &[("person", 0.7, at(0.2))]),
        (1.0, &[("person", 0.7, at(0.2))]),
        (2.0, &[("person", 0.7, at(0.25)), ("dog", 0.7, at(0.8))]),
        (3.0, &[("person", 0.7, at(0.2)), ("dog", 0.6, at(0.8))]),
    ]);
    let found = log.take(&segment(0.0, 4.0), &Certainty::default());
    assert_eq!(told(&found), [("person", 1, 0.0, 4.0), ("dog", 1, 1.5, 4.0)]);
    assert!((found[1].confidence - 0.7).abs() < 1e-6);
    assert_eq!(found[1].colours[0], ["red"]);
}

#[test]
fn a_flicker_is_not_told_but_a_sure_sight_is() {
    let unsure = [("vase", 0.6, BOX)];
    let mut log =
        log(&[(0.0, &unsure), (0.5, &[("toaster", 0.7, at(0.1))]), (1.5, &[("dog", 0.85, at(0.9))]), (2.5, &unsure)]);
    assert_eq!(told(&log.take(&segment(0.0, 3.0), &Certainty::default())), [("dog", 1, 1.0, 2.0)]);
}

#[test]
fn a_thing_that_is_called_by_two_names_is_one_by_the_name_that_it_mostly_has() {
    let mut log = log(&[(0.0, &[("cat", 0.7, BOX)]), (1.0, &[("dog", 0.9, BOX)]), (2.0, &[("dog", 0.8, BOX)])]);
    let found = log.take(&segment(0.0, 3.0), &Certainty::default());
    assert_eq!(told(&found), [("dog", 1, 0.0, 3.0)]);
    assert!((found[0].confidence - 0.9 * 1.7 / 2.4).abs() < 1e-6, "less sure of the name");
}

#[test]
fn a_thing_that_half_of_its_sightings_call_something_else_is_not_told() {
    let mut log = log(&[(0.0, &[("cat", 0.7, BOX)]), (1.0, &[("dog", 0.7, BOX)]), (2.0, &[("bear", 0.9, BOX)])]);
    assert!(log.take(&segment(0.0, 3.0), &Certainty::default()).is_empty());
}

#[test]
fn a_class_that_needs_more_is_told_only_with_more() {
    let mut entry = Catalogue::load(None).unwrap().model(Role::Objects).unwrap().clone();
    entry.labels = vec!["person".to_owned(), "kite".to_owned()];
    entry.boxes = vec![100_000, 100];
    let certainty = Certainty::from_entry(&entry).unwrap();
    for (score, names) in [(0.75, vec!["person"]), (0.95, vec!["kite", "person"])] {
        let things = [("kite", score, at(0.2)), ("person", score, at(0.8))];
        let mut log = log(&[(0.0, &things), (1.0, &things)]);
        let found = log.take(&segment(0.0, 2.0), &certainty);
        assert_eq!(found.iter().map(|view| &*view.label).collect::<Vec<_>>(), names);
    }
}

#[test]
fn a_moving_thing_is_followed_and_two_that_pass_each_other_are_two() {
    let pictures: Vec<(f64, Vec<Row>)> = (0..5)
        .map(|n| {
            let way = f32::from(n as u8) * 0.15;
            let low = |x: f32| [x - 0.1, 0.6, x + 0.1, 0.9];
            (f64::from(n) * 0.5, vec![("car", 0.9, low(0.2 + way)), ("car", 0.9, [0.75 - way, 0.1, 0.95 - way, 0.4])])
        })
        .collect();
    let rows: Vec<(f64, &[Row])> = pictures.iter().map(|(at, row)| (*at, row.as_slice())).collect();
    let found = log(&rows).take(&segment(0.0, 3.0), &Certainty::default());
    assert_eq!(found.len(), 2, "{found:?}");
    let ways: Vec<f32> = found.iter().filter_map(InView::moved).collect();
    assert!(ways.iter().any(|way| *way > 0.5) && ways.iter().any(|way| *way < -0.5), "{ways:?}");
}

#[test]
fn many_things_of_one_kind_are_told_as_one() {
    let cars: Vec<Row> = [0.1, 0.3, 0.5, 0.7, 0.9].map(|x| ("car", 0.9, at(x))).to_vec();
    let mut log = log(&[(0.5, &cars), (1.5, &cars), (2.5, &cars[..4])]);
    assert_eq!(told(&log.take(&segment(0.0, 3.0), &Certainty::default())), [("car", 5, 0.0, 3.0)]);
}

#[test]
fn a_face_belongs_to_the_person_it_looks_out_of_and_is_one_thing_without() {
    let rgb = [200_u8, 20, 30].repeat(64 * 36);
    let picture = Picture { width: 64, height: 36, rgb: &rgb };
    let person = Detection { label: Arc::from("person"), score: 0.9, bounds: BOX };
    let face = |x: f32, vector: Vec<f32>| SeenFace {
        face: Face { score: 0.9, bounds: [x - 0.02, 0.22, x + 0.02, 0.3], landmarks: [[0.0; 2]; 5] },
        vector: Some(vector),
    };
    let mut log = ObjectLog::default();
    for at in [0.5, 1.5] {
        let faces = vec![face(0.5, vec![at as f32, 1.0]), face(0.9, vec![7.0, 7.0])];
        log.push(seconds(at), &picture, std::slice::from_ref(&person), faces);
    }
    let found = log.take(&segment(0.0, 2.0), &Certainty::default());
    assert_eq!(told(&found), [("face", 1, 0.0, 2.0), ("person", 1, 0.0, 2.0)]);
    assert!(found[1].face && !found[0].face);
    assert_eq!(found[1].face_vector, Some(vec![1.0, 1.0]), "the mean");
}

#[test]
fn pictures_of_the_next_segment_wait_for_it() {
    let (cat, dog) = ([("cat", 0.7, BOX)], [("dog", 0.7, BOX)]);
    let mut log = log(&[(0.5, &cat), (1.5, &cat), (5.0, &dog), (5.5, &dog)]);
    assert_eq!(told(&log.take(&segment(0.0, 5.0), &Certainty::default())), [("cat", 1, 0.0, 5.0)]);
    assert_eq!(told(&log.take(&segment(5.0, 6.0), &Certainty::default())), [("dog", 1, 5.0, 6.0)]);
    assert!(log.take(&segment(6.0, 7.0), &Certainty::default()).is_empty());
}

#[test]
fn a_segment_with_one_picture_tells_what_is_fairly_sure() {
    let mut log = log(&[(0.5, &[("cat", 0.7, BOX), ("vase", 0.6, at(0.9))])]);
    assert_eq!(told(&log.take(&segment(0.0, 1.0), &Certainty::default())), [("cat", 1, 0.0, 1.0)]);
}
