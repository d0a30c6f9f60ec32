//! What was seen between leaving one place and arriving at another.

use memory_core::{Answer, Kind, Pose, PoseOf, Query, RawPose, Told, Value};

use crate::places::{drive, patrol, pose, scene};
use crate::support::{Bench, accepted, at, told_at};

fn ask(bench: &Bench, question: &str) -> Answer {
    bench.memory.ask(&Query { question: question.into(), top_k: 20, ..Query::default() }).unwrap()
}

fn answered(bench: &Bench, question: &str) -> String {
    let answer = ask(bench, question);
    answer.answer.unwrap_or_else(|| format!("nothing: {}", answer.reason))
}

fn detected(what: &str, pose: Option<Pose>, seconds: i64) -> Told {
    Told {
        kind: Kind::Object,
        entity: Some(what.into()),
        source: "detector".into(),
        robot_pose: pose,
        ..told_at(&format!("a {what}"), seconds)
    }
}

/// From the kitchen to the hall from 100 to 110, and back from 210 to 220; something is seen on each way and at each place.
fn rounds() -> Bench {
    let bench = patrol();
    for (what, x, seconds) in [
        ("kettle", 1.0, 50),
        ("broom", 40.0, 103),
        ("ladder", 40.0, 107),
        ("broom", 40.0, 108),
        ("umbrella", 11.0, 150),
        ("bucket", 40.0, 215),
        ("kettle", 1.0, 250),
    ] {
        accepted(bench.tell(detected(what, Some(pose(x, 1.0)), seconds)));
    }
    bench
}

#[test]
fn a_trip_lies_between_leaving_one_place_and_arriving_at_the_other() {
    let mut bench = rounds();
    for _ in 0..2 {
        for (question, says) in [
            ("What did you see on the way to the hall?", "Broom and ladder"),
            ("What did you see on the way from the kitchen to the hall?", "Broom and ladder"),
            ("What did the robot notice on the way from the kitchen?", "Broom and ladder"),
            ("What did you see from the hall to the kitchen?", "Bucket"),
            ("What did you pass on your way?", "Bucket"),
            ("What did you see between the kitchen and the hall?", "Bucket"),
            ("What was on the way to the hall?", "Broom and ladder"),
            ("What did you see while going from the kitchen to the hall?", "Broom and ladder"),
            ("What did you see when you drove from the kitchen to the hall?", "Broom and ladder"),
            ("Which objects did you see en route to the hall?", "Broom and ladder"),
            ("What did you see on your last trip to the hall?", "Broom and ladder"),
            ("Tell me what you saw on the way to the hall.", "Broom and ladder"),
            ("What did you see on the way back to the kitchen?", "Bucket"),
            ("Did you see a ladder on the way to the hall?", "Yes: ladder."),
            ("Was there a broom on the way to the hall?", "Yes: broom."),
            ("Did you see anything on the way to the hall?", "Yes: broom and ladder."),
        ] {
            assert_eq!(answered(&bench, question), says, "{question}");
        }
        let answer = ask(&bench, "What did you see on the way from the kitchen to the hall?");
        assert_eq!(answer.reason, "on the way from the kitchen to the hall, from 08:01:39 to 08:01:50 today");
        let begins: Vec<_> = answer.evidence[..2].iter().map(|item| item.span.start).collect();
        assert_eq!(begins, [at(103), at(107)]);
        bench.kill();
        bench.clock.set_wall(at(3_600));
    }
}

#[test]
fn a_place_that_was_named_from_afar_was_not_visited_then() {
    let bench = Bench::new();
    let named = |name: &str, x: f64, seconds: i64| {
        let attributes =
            [("place".to_owned(), Value::Text(name.into())), ("robot_there".to_owned(), Value::Bool(false))];
        Told { attributes: attributes.into(), pose: Some(pose(x, 1.0)), ..told_at("A name.", seconds) }
    };
    accepted(bench.tell(named("kitchen", 1.0, 0)));
    accepted(bench.tell(named("hall", 11.0, 1)));
    drive(&bench, &mut memory_core::VisitTracker::default(), 2, &[(1.0, 10), (40.0, 10), (11.0, 10)]);
    accepted(bench.tell(detected("broom", Some(pose(40.0, 1.0)), 16)));
    bench.clock.set_wall(at(3_600));
    assert_eq!(answered(&bench, "What did you see on the way from the kitchen to the hall?"), "Broom");
    assert!(answered(&bench, "How often were you in the hall?").starts_with("Once"));
    let before = answered(&bench, "Where were you at 08:00:01?");
    assert!(!before.contains("hall"), "{before}");
}

#[test]
fn a_time_chooses_the_trip() {
    let bench = rounds();
    // Once more to the hall.
    drive(&bench, &mut memory_core::VisitTracker::default(), 7_200, &[(1.0, 100), (40.0, 10), (11.0, 100)]);
    accepted(bench.tell(detected("parcel", Some(pose(40.0, 1.0)), 7_305)));
    bench.clock.set_wall(at(9_000));
    assert_eq!(answered(&bench, "What did you see on the way to the hall?"), "Parcel");
    let before = answered(&bench, "What did you see on the way to the hall between 8:00 and 9:00?");
    assert_eq!(before, "Broom and ladder");
}

#[test]
fn whom_and_what_it_met_is_told_apart() {
    let bench = rounds();
    let there = Some(pose(40.0, 1.0));
    accepted(bench.tell(Told {
        kind: Kind::Entity,
        entity: Some("Anna".into()),
        robot_pose: there.clone(),
        ..told_at("Anna", 105)
    }));
    accepted(bench.tell(Told { kind: Kind::Sound, robot_pose: there.clone(), ..told_at("a bell", 106) }));
    accepted(bench.tell(Told { robot_pose: there, ..told_at("The trestle broke yesterday.", 106) }));
    assert_eq!(answered(&bench, "Who did you meet on the way to the hall?"), "Anna");
    let heard = answered(&bench, "What did you hear on the way to the hall?");
    assert!(heard.contains("bell"), "{heard}");
    let seen = answered(&bench, "What did you see on the way to the hall?");
    assert!(!seen.contains("trestle") && !seen.contains("bell"), "{seen}: what is said is not seen");
}

#[test]
fn the_places_in_between_are_passed() {
    let bench = patrol();
    drive(&bench, &mut memory_core::VisitTracker::default(), 7_200, &[(30.0, 5)]);
    accepted(bench.tell(Told { robot_pose: Some(pose(30.0, 1.0)), ..told_at("This is the pantry.", 7_300) }));
    let way = [(1.0, 100), (40.0, 5), (30.0, 20), (40.0, 5), (11.0, 100)];
    drive(&bench, &mut memory_core::VisitTracker::default(), 10_000, &way);
    bench.clock.set_wall(at(12_000));
    assert_eq!(answered(&bench, "Which places did you pass on the way from the kitchen to the hall?"), "The pantry");
}

#[test]
fn a_place_or_a_trip_that_never_was_is_on_no_way() {
    let bench = rounds();
    for question in [
        "What did you see on the way to the attic?",
        "What did you see on the way from the kitchen to the attic?",
        "What did you see between the attic and the hall?",
        "What did you see on the way from the attic?",
        // They were in view, elsewhere.
        "Did you see an umbrella on the way to the hall?",
        "How many kettles did you see on the way to the hall?",
    ] {
        assert_eq!(ask(&bench, question).answer, None, "{question} {}", answered(&bench, question));
    }
    // Named, and never visited.
    let pose = RawPose { frame: "map".into(), x: 80.0, y: 1.0, ..RawPose::default() }.check().unwrap();
    let pose = Some(Pose { of: PoseOf::Robot, ..pose });
    accepted(bench.tell(Told { robot_pose: pose, ..told_at("This is the attic.", -20_000) }));
    let from = "What did you see on the way from the attic to the hall?";
    assert_eq!(ask(&bench, from).answer, None, "{}", answered(&bench, from));
}

#[test]
fn nothing_that_was_seen_is_nothing() {
    let bench = patrol();
    let asked = ask(&bench, "What did you see on the way from the kitchen to the hall?");
    assert_eq!(asked.answer, None, "{}", asked.reason);
}

#[test]
fn what_somebody_tells_of_a_way_is_quoted_where_no_trip_is_known() {
    let bench = Bench::new();
    accepted(bench.tell(told_at("On the way to the hall I saw a hedgehog.", 0)));
    bench.clock.set_wall(at(3_600));
    let told = answered(&bench, "What did you see on the way to the hall?");
    assert!(told.contains("hedgehog"), "{told}");
    accepted(bench.tell(told_at("Anna lost her umbrella on the way to the hall.", 60)));
    let lost = answered(&bench, "What happened on the way to the hall?");
    assert!(!lost.starts_with("nothing"), "{lost}: nobody knows where the hall is, and it was told");
}

#[test]
fn without_poses_a_trip_lies_between_visits_known_by_pictures() {
    let bench = Bench::new();
    let (kitchen, passage, hall) = (vec![1.0, 0.1, 0.0], vec![0.0, 1.0, 0.1], vec![0.0, 0.1, 1.0]);
    for (start, end, objects, vector) in [
        (0, 100, vec!["a kettle"], &kitchen),
        (100, 130, vec!["a ladder"], &passage),
        (130, 200, vec!["an umbrella"], &hall),
    ] {
        accepted(bench.perceive(scene(start, end, &objects, vector.clone())));
    }
    accepted(bench.tell(told_at("This is the kitchen.", 30)));
    accepted(bench.tell(told_at("This is the hall.", 150)));
    bench.clock.set_wall(at(3_600));
    assert_eq!(answered(&bench, "What did you see on the way from the kitchen to the hall?"), "A ladder");
    let none = ask(&bench, "What did you see on the way from the hall to the kitchen?");
    assert_eq!(none.answer, None, "{}", none.reason);
    // Pictures have no words for a place, people do.
    assert_eq!(answered(&bench, "Where did your round begin?"), "In the kitchen");
    assert_eq!(answered(&bench, "Where did the round end?"), "In the hall");
    assert!(answered(&bench, "How many places did you see?").starts_with('3'));
}

#[test]
fn without_poses_and_pictures_events_that_name_their_place_are_stays() {
    let bench = Bench::new();
    let told = |what: &str, place: Option<&str>, seconds: i64| {
        let mut told = detected(what, None, seconds);
        told.attributes.extend(place.map(|place| ("place".to_owned(), Value::Text(place.into()))));
        told
    };
    for (what, place, seconds) in [
        ("kettle", Some("kitchen"), 0),
        ("pan", Some("kitchen"), 50),
        ("ladder", None, 80),
        ("bucket", None, 100),
        ("umbrella", Some("hall"), 130),
    ] {
        accepted(bench.tell(told(what, place, seconds)));
    }
    bench.clock.set_wall(at(3_600));
    for question in
        ["What did you see on the way from the kitchen to the hall?", "What did you see on the way to the hall?"]
    {
        assert_eq!(answered(&bench, question), "Ladder and bucket", "{question}");
    }
}
