//! New names of places, and places that are known from nothing but words.

use memory_core::{Answer, EpisodeFilter, ForgetRequest, PlaceKnownBy, Query, TimeSpan, Told, Value, VisitTracker};

use crate::places::{drive, patrol, pose};
use crate::support::{Bench, accepted, at, told_at};

fn ask(bench: &Bench, question: &str) -> Answer {
    bench.memory.ask(&Query { question: question.into(), ..Query::default() }).unwrap()
}

fn answered(bench: &Bench, question: &str) -> String {
    let answer = ask(bench, question);
    answer.answer.unwrap_or_else(|| format!("nothing: {}", answer.reason))
}

fn renaming(old: &str, new: &str, seconds: i64) -> Told {
    let attributes = [("place".to_owned(), Value::Text(new.into())), ("renames".to_owned(), Value::Text(old.into()))];
    // It is said somewhere else.
    Told { attributes: attributes.into(), robot_pose: Some(pose(70.0, 1.0)), ..told_at("A new name.", seconds) }
}

fn names(bench: &Bench) -> Vec<(String, PlaceKnownBy, u64)> {
    let places = bench.memory.places().unwrap();
    places.into_iter().map(|place| (place.name, place.known_by, place.visits)).collect()
}

#[test]
fn old_visits_follow_the_new_name_and_the_old_name_still_finds_them() {
    let mut bench = patrol();
    accepted(bench.tell(renaming("Kitchen", "canteen", 400)));
    drive(&bench, &mut VisitTracker::default(), 500, &[(1.0, 60), (40.0, 20)]);
    bench.clock.set_wall(at(3_600));
    for _ in 0..2 {
        assert_eq!(bench.memory.place_at(&pose(1.0, 1.0)).as_deref(), Some("canteen"));
        assert_eq!(names(&bench), [("canteen".into(), PlaceKnownBy::Pose, 4), ("hall".into(), PlaceKnownBy::Pose, 2)]);
        for name in ["canteen", "kitchen"] {
            let often = answered(&bench, &format!("How often were you in the {name}?"));
            assert!(often.starts_with("4 times"), "{name}: {often}");
            let place = EpisodeFilter { place: Some(name.into()), ..EpisodeFilter::default() };
            assert_eq!(bench.memory.episodes(&place).unwrap().episodes.len(), 3, "{name}");
        }
        assert_eq!(answered(&bench, "Where were you at 08:00:50?"), "In the canteen");
        assert_eq!(answered(&bench, "Where have you been today?"), "In the canteen and in the hall");
        let map = ask(&bench, "Where is the canteen?");
        assert_eq!(map.pose.map(|pose| pose.x), Some(1.0), "{:?} {}", map.answer, map.reason);
        bench.assert_clean();
        bench.memory.compact().unwrap();
        bench.kill();
        bench.clock.set_wall(at(3_600));
    }
}

#[test]
fn a_place_is_renamed_in_words() {
    let bench = patrol();
    accepted(bench.tell(told_at("The kitchen is called the canteen now.", 400)));
    assert_eq!(bench.memory.place_at(&pose(1.0, 1.0)).as_deref(), Some("canteen"));
    // What was told before with the old name has the place where it is.
    accepted(bench.tell(told_at("The kettle is in the kitchen.", 300)));
    let kettle = ask(&bench, "Where is the kettle?");
    assert_eq!(kettle.pose.map(|pose| pose.x), Some(1.0), "{:?}", kettle.answer);
}

#[test]
fn the_old_name_is_free_for_another_place() {
    let bench = patrol();
    accepted(bench.tell(renaming("kitchen", "canteen", 400)));
    accepted(bench.tell(Told { robot_pose: Some(pose(70.0, 1.0)), ..told_at("This is the kitchen.", 500) }));
    assert_eq!(bench.memory.place_at(&pose(70.0, 1.0)).as_deref(), Some("kitchen"));
    assert_eq!(bench.memory.place_at(&pose(1.0, 1.0)).as_deref(), Some("canteen"));
    assert!(answered(&bench, "How often were you in the canteen?").starts_with("3 times"));
}

#[test]
fn a_new_name_that_is_forgotten_gives_the_old_one_back() {
    let mut bench = patrol();
    accepted(bench.tell(renaming("kitchen", "canteen", 400)));
    bench.memory.forget(&ForgetRequest::Span(TimeSpan::new(at(400), at(400)))).unwrap();
    for _ in 0..2 {
        assert_eq!(bench.memory.place_at(&pose(1.0, 1.0)).as_deref(), Some("kitchen"));
        assert!(answered(&bench, "How often were you in the kitchen?").starts_with("3 times"));
        bench.assert_clean();
        bench.kill();
        bench.clock.set_wall(at(3_600));
    }
}

#[test]
fn a_backup_takes_the_new_name_along() {
    let bench = patrol();
    accepted(bench.tell(renaming("kitchen", "canteen", 400)));
    let mut file = Vec::new();
    bench.memory.backup(&mut file).unwrap();
    let other = Bench::new();
    other.memory.restore(&mut file.as_slice(), false).unwrap();
    assert_eq!(other.memory.place_at(&pose(1.0, 1.0)).as_deref(), Some("canteen"));
    other.assert_clean();
}

#[test]
fn places_that_somebody_only_spoke_of_are_listed_apart() {
    let mut bench = patrol();
    accepted(bench.tell(told_at("We are in the cellar now.", 600)));
    accepted(bench.tell(told_at("This is the cellar.", 700)));
    accepted(bench.tell(told_at("The rake is in the garage.", 800)));
    accepted(bench.tell(told_at("The rake is on the shelf.", 900)));
    for _ in 0..2 {
        while bench.memory.learn_pending(100).unwrap().has_lessons() {}
        let places = bench.memory.places().unwrap();
        let shown: Vec<_> = places
            .iter()
            .map(|place| (place.name.as_str(), place.known_by.name(), place.named, place.visits, place.pose.is_some()))
            .collect();
        assert_eq!(
            shown,
            [
                ("kitchen", "pose", 1, 3, true),
                ("hall", "pose", 1, 2, true),
                ("cellar", "words", 2, 0, false),
                ("garage", "words", 1, 0, false)
            ]
        );
        assert_eq!(places[2].span.map(|span| (span.start, span.end)), Some((at(600), at(700))));
        bench.assert_clean();
        bench.kill();
        bench.clock.set_wall(at(3_600));
    }
    bench.memory.forget(&ForgetRequest::Span(TimeSpan::new(at(600), at(700)))).unwrap();
    assert!(!names(&bench).iter().any(|(name, ..)| name == "cellar"), "{:?}", names(&bench));
}
