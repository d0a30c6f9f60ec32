//! Poses: kept with their events, found by place, gone with what is forgotten.

use memory_core::{
    EpisodeFilter, ForgetRequest, Near, Observation, ObserveOutcome, Pose, PoseOf, Query, RawPose, TimeSpan, Told,
};

use crate::support::{Bench, accepted, at, keyed, rejected, segment, told_at};

pub fn pose(x: f64, y: f64) -> Pose {
    RawPose { frame: "map".into(), x, y, yaw: 1.0, covariance: vec![0.01, 0.02, 0.03], ..RawPose::default() }
        .check()
        .unwrap()
}

fn near(x: f64, y: f64, radius: f64) -> Option<Near> {
    Some(Near { frame: "map".into(), x, y, radius })
}

fn seen(what: &str, place: &str, pose: Pose, seconds: i64) -> Told {
    let text = format!("{what} is {place}.");
    Told { pose: Some(pose), entity: None, ..told_at(&text, seconds) }
}

fn ask(bench: &Bench, question: &str, near: Option<Near>) -> memory_core::Answer {
    bench.memory.ask(&Query { question: question.into(), near, ..Query::default() }).unwrap()
}

/// Texts of the events that a list of episodes near a point shows.
fn listed(bench: &Bench, near: Option<Near>) -> Vec<String> {
    let page = bench.memory.episodes(&EpisodeFilter { near, ..EpisodeFilter::default() }).unwrap();
    page.episodes.into_iter().map(|one| one.summary).collect()
}

#[test]
fn a_pose_is_kept_with_its_event_over_kills_compactions_and_backups() {
    let mut bench = Bench::new();
    let robot = Pose { of: PoseOf::Robot, ..pose(5.0, -2.5) };
    accepted(bench.tell(seen("The mug", "on the shelf", pose(2.0, 3.0), 0)));
    accepted(bench.tell(Told { robot_pose: Some(robot.clone()), ..told_at("Anna sings.", 600) }));
    accepted(bench.tell(told_at("It rains.", 1200)));
    let poses = |bench: &Bench| bench.events().into_iter().map(|event| event.pose).collect::<Vec<_>>();
    let expected = [Some(pose(2.0, 3.0)), Some(robot), None];
    for _ in 0..2 {
        assert_eq!(poses(&bench), expected);
        assert_eq!(listed(&bench, near(2.5, 3.0, 1.0)), ["The mug is on the shelf."]);
        bench.assert_clean();
        bench.memory.compact().unwrap();
        assert_eq!(poses(&bench), expected);
        bench.kill();
    }
    let mut file = Vec::new();
    bench.memory.backup(&mut file).unwrap();
    let other = Bench::new();
    other.memory.restore(&mut file.as_slice(), false).unwrap();
    assert_eq!(poses(&other), expected);
    assert_eq!(listed(&other, near(2.5, 3.0, 1.0)), ["The mug is on the shelf."]);
}

#[test]
fn a_question_for_a_place_is_answered_with_a_pose_to_drive_to() {
    let bench = Bench::new();
    accepted(bench.tell(seen("The mug", "on the shelf", pose(2.0, 3.0), 0)));
    accepted(bench.tell(seen("The mug", "on the table", pose(7.0, 1.0), 600)));
    accepted(bench.tell(told_at("The hammer is in the shed.", 700)));
    for question in ["Where is the mug?", "Where did you see the mug?"] {
        let answer = ask(&bench, question, None);
        assert_eq!(answer.answer.as_deref(), Some("On the table"), "{question}");
        assert_eq!(answer.pose, Some(pose(7.0, 1.0)), "{question}");
        assert_eq!(answer.evidence[0].pose, answer.pose);
    }
    let answer = ask(&bench, "Where is the hammer?", None);
    assert_eq!((answer.answer.as_deref(), answer.pose), (Some("In the shed"), None));
    assert_eq!(ask(&bench, "When was the mug on the table?", None).pose, None);
}

#[test]
fn a_question_about_a_part_of_the_map_uses_what_happened_there() {
    let bench = Bench::new();
    accepted(bench.tell(seen("The mug", "on the shelf", pose(2.0, 3.0), 0)));
    accepted(bench.tell(seen("The mug", "on the table", pose(7.0, 1.0), 600)));
    let answer = ask(&bench, "Where was the mug?", near(2.0, 2.0, 2.0));
    assert_eq!(answer.answer.as_deref(), Some("On the shelf"));
    assert!(answer.evidence.iter().all(|one| one.pose == Some(pose(2.0, 3.0))), "{:?}", answer.evidence);
    let other_map = Some(Near { frame: "cellar".into(), x: 2.0, y: 2.0, radius: 50.0 });
    let nothing = ask(&bench, "Where was the mug?", other_map);
    assert_eq!((nothing.answer, nothing.evidence.len()), (None, 0));
    for wrong in [near(f64::NAN, 0.0, 1.0), near(0.0, 0.0, 0.0), near(0.0, 0.0, f64::INFINITY), near(1e7, 0.0, 1.0)] {
        let query = Query { question: "Where was the mug?".into(), near: wrong.clone(), ..Query::default() };
        let error = bench.memory.ask(&query).unwrap_err().to_string();
        assert!(error.contains("`near."), "{wrong:?}: {error}");
    }
}

#[test]
fn a_pose_that_is_none_rejects_its_own_observation_only() {
    let bench = Bench::new();
    let wrong = Pose { x: f64::NAN, ..pose(0.0, 0.0) };
    let far = Pose { y: 2e6, ..pose(0.0, 0.0) };
    let nowhere = Pose { frame: String::new(), ..pose(0.0, 0.0) };
    let batch: Vec<Observation> = [Some(wrong), Some(far), Some(nowhere), None]
        .into_iter()
        .map(|pose| Observation::Told(Told { pose, ..told_at("a mug", 0) }))
        .collect();
    let outcomes = bench.memory.observe(batch).unwrap();
    for (outcome, says) in outcomes[..3].iter().zip(["`pose.x`", "`pose.y`", "`pose.frame`"]) {
        assert!(rejected(outcome.clone()).contains(says), "{outcome:?}");
    }
    assert!(matches!(outcomes[3], ObserveOutcome::Accepted { .. }));
    assert_eq!(bench.events().len(), 1);
}

#[test]
fn another_pose_is_a_correction_and_where_the_robot_was_is_none() {
    let bench = Bench::new();
    let told = |pose: Option<Pose>, robot_pose: Option<Pose>| Told { pose, robot_pose, ..keyed("a", "a mug", 0) };
    let robot = || Some(Pose { of: PoseOf::Robot, ..pose(9.0, 9.0) });
    accepted(bench.tell(told(Some(pose(1.0, 1.0)), None)));
    assert!(matches!(bench.tell(told(Some(pose(1.0, 1.0)), robot())), ObserveOutcome::Duplicate { .. }));
    assert!(matches!(bench.tell(told(Some(pose(4.0, 1.0)), None)), ObserveOutcome::Corrected { .. }));
    assert_eq!(listed(&bench, near(1.0, 1.0, 1.0)), Vec::<String>::new());
    assert_eq!(listed(&bench, near(4.0, 1.0, 1.0)), ["a mug"]);
    let late = Told { redelivered: true, ..told(Some(pose(1.0, 1.0)), None) };
    assert!(matches!(bench.tell(late), ObserveOutcome::Duplicate { .. }), "a late redelivery undoes no correction");

    let second = |text: &str, robot_pose| Told { robot_pose, ..keyed("b", text, 60) };
    accepted(bench.tell(second("a cup", robot())));
    assert!(matches!(bench.tell(second("a cup", None)), ObserveOutcome::Duplicate { .. }));
    assert!(matches!(bench.tell(second("a red cup", None)), ObserveOutcome::Corrected { .. }));
    assert_eq!(bench.events().last().unwrap().pose, robot(), "the robot was where it was");
    bench.assert_clean();
}

#[test]
fn forgetting_takes_the_pose_too() {
    let mut bench = Bench::new();
    let place = "4242.5";
    accepted(bench.tell(seen("The safe", "behind the picture", pose(4242.5, 1.0), 0)));
    accepted(bench.tell(seen("The mug", "on the table", pose(7.0, 1.0), 600)));
    bench.memory.forget(&ForgetRequest::Span(TimeSpan::new(at(0), at(1)))).unwrap();
    for _ in 0..2 {
        assert_eq!(listed(&bench, near(4242.5, 1.0, 3.0)), Vec::<String>::new(), "{place}");
        assert_eq!(listed(&bench, near(7.0, 1.0, 3.0)).len(), 1);
        bench.assert_clean();
        bench.kill();
    }
    bench.memory.compact().unwrap();
    assert!(!bench.storage.image().contains(&4242.5_f64.to_le_bytes()), "nothing of it is left in the file");
}

#[test]
fn what_is_exported_and_told_again_has_its_pose() {
    let bench = Bench::new();
    let mut seen_there = segment(100, 108, &["a cup"]);
    seen_there.events[0].pose = Some(Pose { of: PoseOf::Robot, ..pose(1.0, 2.0) });
    accepted(bench.tell(seen("The mug", "on the table", pose(7.0, 1.0), 0)));
    accepted(bench.perceive(seen_there));
    let other = Bench::new();
    bench
        .memory
        .export(&mut |exported| {
            other.memory.observe(vec![exported.observation]).unwrap();
            Ok(())
        })
        .unwrap();
    let poses = |bench: &Bench| bench.events().into_iter().map(|event| event.pose).collect::<Vec<_>>();
    assert_eq!(poses(&other), poses(&bench));
    assert!(poses(&other).iter().all(Option::is_some));
}

/// Something that a detector saw.
fn detected(what: &str, pose: Pose, seconds: i64) -> Told {
    Told {
        kind: memory_core::Kind::Object,
        entity: Some(what.into()),
        source: "detector".into(),
        pose: Some(pose),
        ..told_at(&format!("a {what}"), seconds)
    }
}

/// Somebody says where the robot is.
fn named(name: &str, pose: Pose, seconds: i64) -> Told {
    let robot_pose = Some(Pose { of: PoseOf::Robot, ..pose });
    Told { robot_pose, ..told_at(&format!("This is the {name}."), seconds) }
}

/// A kitchen at the origin and a hall ten metres away; a mug that moves from one to the other.
fn two_rooms() -> Bench {
    let bench = Bench::new();
    bench.clock.set_wall(at(10_000));
    for told in [
        named("kitchen", pose(1.0, 1.0), 0),
        named("hall", pose(11.0, 1.0), 60),
        detected("kettle", pose(0.5, 2.0), 600),
        detected("mug", pose(2.0, 1.0), 610),
        detected("umbrella", pose(10.0, 2.0), 700),
        detected("mug", pose(2.1, 1.0), 1_000),
        detected("mug", pose(11.0, 2.5), 1_200),
        detected("kettle", pose(0.5, 2.0), 1_500),
    ] {
        accepted(bench.tell(told));
    }
    bench
}

#[test]
fn a_place_that_somebody_named_is_where_things_are() {
    let bench = two_rooms();
    let mug = ask(&bench, "Where is the mug?", None);
    assert_eq!((mug.answer.as_deref(), mug.pose), (Some("In the hall"), Some(pose(11.0, 2.5))));
    assert!(mug.reason.contains("in the kitchen until") && mug.reason.contains("in the hall since"), "{}", mug.reason);
    let before = ask(&bench, "Where was the mug before?", None);
    assert_eq!(before.answer.as_deref(), Some("In the kitchen"));
    assert_eq!(ask(&bench, "Where is the bassoon?", None).answer, None);
}

#[test]
fn what_is_at_a_place_is_what_was_not_seen_elsewhere_since() {
    let bench = two_rooms();
    assert_eq!(ask(&bench, "What is in the kitchen?", None).answer.as_deref(), Some("Kettle"));
    assert_eq!(ask(&bench, "What is in the hall?", None).answer.as_deref(), Some("Mug and umbrella"));
    assert_eq!(ask(&bench, "What is near the umbrella?", None).answer.as_deref(), Some("Mug"));
    let speech = Told {
        entity: Some("Anna".into()),
        pose: Some(pose(1.0, 2.0)),
        ..told_at("I leave the old trestle here.", 1_600)
    };
    accepted(bench.tell(speech));
    let there = ask(&bench, "What is in the kitchen?", None).answer.unwrap();
    assert!(there.contains("old trestle") && !there.contains("Anna"), "{there}: who speaks is not what is spoken of");
}

#[test]
fn distances_and_visits_are_computed_on_the_map() {
    let bench = two_rooms();
    let apart = ask(&bench, "How far apart are the mug and the umbrella?", None);
    assert_eq!(apart.answer.as_deref(), Some("1.1 m"), "{}", apart.reason);
    for seconds in [2_000, 2_020, 3_000] {
        let robot_pose = Some(Pose { of: PoseOf::Robot, ..pose(1.0, 1.5) });
        accepted(bench.tell(Told { robot_pose, ..told_at("Anna hums.", seconds) }));
    }
    let visits = ask(&bench, "How often were you in the kitchen?", None);
    // When it was named, 600 to 610, 1000, 1500, 2000 to 2020, and 3000.
    assert!(visits.answer.as_deref().unwrap_or_default().starts_with("6 times"), "{:?}", visits.answer);
}

#[test]
fn what_was_seen_on_the_way_lies_between_two_stays() {
    let bench = Bench::new();
    bench.clock.set_wall(at(10_000));
    for told in [
        named("kitchen", pose(1.0, 1.0), 0),
        named("hall", pose(21.0, 1.0), 60),
        detected("kettle", pose(0.5, 2.0), 600),
        detected("kettle", pose(0.5, 2.0), 700),
        detected("broom", pose(8.0, 1.0), 710),
        detected("ladder", pose(14.0, 1.0), 720),
        detected("umbrella", pose(20.5, 1.0), 730),
    ] {
        accepted(bench.tell(told));
    }
    let answer = ask(&bench, "What did you see on the way to the hall?", None);
    assert_eq!(answer.answer.as_deref(), Some("Broom and ladder"), "{}", answer.reason);
}

#[test]
fn what_words_say_later_is_newer_than_a_pose() {
    let bench = two_rooms();
    accepted(bench.tell(told_at("The mug is in the dishwasher.", 5_000)));
    let answer = ask(&bench, "Where is the mug?", None);
    assert_eq!((answer.answer.as_deref(), answer.pose), (Some("In the dishwasher"), None));
}

#[test]
fn a_forgotten_name_names_no_place_any_more() {
    let mut bench = two_rooms();
    bench.memory.forget(&ForgetRequest::Span(TimeSpan::new(at(60), at(60)))).unwrap();
    for _ in 0..2 {
        let answer = ask(&bench, "Where is the mug?", None).answer.unwrap();
        assert!(!answer.contains("hall"), "{answer}");
        bench.kill();
        bench.clock.set_wall(at(10_000));
    }
}

#[test]
fn a_position_that_is_too_uncertain_answers_nothing() {
    let bench = two_rooms();
    let lost = RawPose { frame: "map".into(), x: 90.0, covariance: vec![9.0, 9.0, 0.1], ..RawPose::default() };
    accepted(bench.tell(detected("mug", lost.check().unwrap(), 2_000)));
    assert_eq!(ask(&bench, "Where is the mug?", None).pose, Some(pose(11.0, 2.5)));
}
