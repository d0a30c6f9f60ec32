//! Places that have a name: visits to them, questions about them, and forgetting them.

use memory_core::{
    Answer, EpisodeFilter, ForgetRequest, GistFilter, Kind, Level, Modality, Observation, ObserveOutcome,
    PerceivedEvent, Pose, PoseOf, Query, RawPose, Sensed, SensedEmbedding, TimeSpan, Told, Value, VisitTracker,
};

use crate::support::{Bench, accepted, at, segment, told_at};

pub fn pose(x: f64, y: f64) -> Pose {
    let pose = RawPose { frame: "map".into(), x, y, ..RawPose::default() }.check().unwrap();
    Pose { of: PoseOf::Robot, ..pose }
}

fn said(text: &str, pose: Option<Pose>, seconds: i64) -> Told {
    Told { robot_pose: pose, ..told_at(text, seconds) }
}

fn ask(bench: &Bench, question: &str) -> Answer {
    bench.memory.ask(&Query { question: question.into(), ..Query::default() }).unwrap()
}

fn answered(bench: &Bench, question: &str) -> String {
    let answer = ask(bench, question);
    answer.answer.unwrap_or_else(|| format!("nothing: {}", answer.reason))
}

/// A robot that has driven along a way, one pose a second: x and how long, in order.
pub fn drive(bench: &Bench, tracker: &mut VisitTracker, from: i64, way: &[(f64, i64)]) {
    let mut second = from;
    for (x, seconds) in way {
        for _ in 0..*seconds {
            let here = pose(*x, 1.0);
            let place = bench.memory.place_at(&here);
            let told = tracker.moved(at(second), &here, place.as_deref());
            bench.memory.observe(told.into_iter().map(Observation::Told).collect()).unwrap();
            second += 1;
        }
    }
    let told = tracker.end().map(Observation::Told);
    bench.memory.observe(told.into_iter().collect()).unwrap();
}

/// Twice in the kitchen and once in the hall: 0 to 99, 220 to 279; 110 to 209.
pub fn patrol() -> Bench {
    let bench = Bench::new();
    accepted(bench.tell(said("This is the kitchen.", Some(pose(1.0, 1.0)), -600)));
    accepted(bench.tell(said("This is the hall.", Some(pose(11.0, 1.0)), -500)));
    let way = [(1.0, 100), (40.0, 10), (11.0, 100), (40.0, 10), (1.0, 60), (40.0, 20)];
    drive(&bench, &mut VisitTracker::default(), 0, &way);
    bench.clock.set_wall(at(3_600));
    bench
}

#[test]
fn visits_are_counted_timed_and_summed() {
    let mut bench = patrol();
    for _ in 0..2 {
        let often = answered(&bench, "How often were you in the kitchen?");
        // Before the first visit that was followed pose by pose, it was there when it was told the name.
        assert!(often.starts_with("3 times"), "{often}");
        let hall = answered(&bench, "How many times did you visit the hall?");
        assert!(hall.starts_with("Twice"), "{hall}");
        let last = answered(&bench, "When were you last in the kitchen?");
        assert_eq!(last, "From 08:03:40 to 08:04:39 today");
        let left = answered(&bench, "When did you leave the hall?");
        assert!(left.contains("08:03:29"), "{left}");
        let long = answered(&bench, "How long were you in the kitchen?");
        assert_eq!(long, "2 minutes 38 seconds");
        bench.assert_clean();
        bench.kill();
        bench.clock.set_wall(at(3_600));
    }
}

#[test]
fn the_places_of_a_patrol_have_an_order() {
    let bench = patrol();
    for (question, says) in [
        ("Where did your round begin?", "In the kitchen"),
        ("Where did you spend most of the time?", "In the kitchen, 2 minutes 38 seconds in all"),
        ("Which room did you come back to?", "The kitchen"),
        ("Which place came after the hall?", "In the kitchen"),
        ("Where were you before the hall?", "In the kitchen"),
        ("Which rooms did you visit?", "The kitchen and the hall"),
    ] {
        assert_eq!(answered(&bench, question), says, "{question}");
    }
    assert!(answered(&bench, "Did you return to the kitchen several times?").starts_with("Yes"));
    assert!(answered(&bench, "Were you in the hall more than once?").starts_with("No"));
}

#[test]
fn the_robot_knows_where_it_was() {
    let bench = patrol();
    for (question, says, x) in [
        ("Where were you at 08:00:50?", "In the kitchen", 1.0),
        ("Where was the robot at 08:02:30?", "In the hall", 11.0),
        ("Where are you?", "In the kitchen", 1.0),
    ] {
        let answer = ask(&bench, question);
        assert_eq!(answer.answer.as_deref(), Some(says), "{question} {}", answer.reason);
        assert_eq!(answer.pose.map(|pose| pose.x), Some(x), "{question}");
    }
    assert_eq!(answered(&bench, "Where have you been today?"), "In the kitchen and in the hall");
    let unknown = ask(&bench, "Where were you on 3 March 2026 at 10:00:00?");
    assert_eq!(unknown.answer, None, "{}", unknown.reason);
    let named = ask(&bench, "Where is the hall?");
    assert_eq!(named.answer.as_deref(), Some("Hall is at x 11.0 m, y 1.0 m on map"), "{}", named.reason);
    assert_eq!(named.pose.map(|pose| (pose.x, pose.y)), Some((11.0, 1.0)));
}

#[test]
fn where_the_robot_is_now_is_where_it_says_it_is() {
    let bench = patrol();
    let now = |question: &str, robot: Pose| {
        let query = Query { question: question.into(), robot: Some(robot), ..Query::default() };
        let answer = bench.memory.ask(&query).unwrap();
        (answer.answer.unwrap_or_default(), answer.pose.map(|pose| pose.x))
    };
    assert_eq!(now("Where are you?", pose(11.5, 1.0)), ("In the hall".into(), Some(11.5)));
    assert_eq!(now("Where are you?", pose(40.0, 1.0)), ("At x 40.0 m, y 1.0 m on map".into(), Some(40.0)));
    assert_eq!(now("Where were you at 08:00:50?", pose(40.0, 1.0)), ("In the kitchen".into(), Some(1.0)));
}

#[test]
fn that_the_robot_was_there_is_not_what_it_saw() {
    let bench = patrol();
    for question in ["What did you see in the kitchen?", "What was in the hall?", "Who was in the kitchen?"] {
        let answer = answered(&bench, question);
        assert!(!answer.contains("robot"), "{question} {answer}");
    }
    let near = ask(&bench, "What is near the hall?");
    assert_eq!(near.answer, None, "its name is not near it");
}

#[test]
fn a_place_in_a_fact_has_its_pose() {
    let bench = patrol();
    accepted(bench.tell(told_at("The mug is in the kitchen.", 600)));
    let mug = ask(&bench, "Where is the mug?");
    assert_eq!(mug.answer.as_deref(), Some("In the kitchen"));
    assert_eq!(mug.pose, Some(pose(1.0, 1.0)));
    accepted(bench.tell(told_at("The rake is in the shed.", 700)));
    assert_eq!(ask(&bench, "Where is the rake?").pose, None, "nobody showed the shed");
}

#[test]
fn the_summary_of_an_hour_names_the_places() {
    let bench = patrol();
    accepted(bench.tell(told_at("The bell rang.", 200)));
    let gists = |bench: &Bench| {
        let filter = GistFilter { level: Level::Hour, span: None, limit: Some(10), budget: None };
        bench.memory.gists(&filter).unwrap()
    };
    while bench.memory.gists_pending(10).unwrap() > 0 {}
    let summary = &gists(&bench)[0].summary;
    assert!(summary.contains("Places: kitchen (twice), hall"), "{summary}");
    let asked = answered(&bench, "What happened today?");
    assert!(asked.contains("kitchen"), "{asked}");
}

#[test]
fn a_visit_is_told_anew_while_it_lasts_and_is_one() {
    let bench = Bench::new();
    accepted(bench.tell(said("This is the kitchen.", Some(pose(1.0, 1.0)), -1)));
    drive(&bench, &mut VisitTracker::default(), 0, &[(1.0, 4_000)]);
    bench.clock.set_wall(at(8_000));
    let visits: Vec<_> = bench.events().into_iter().filter(|event| event.source == "places").collect();
    assert_eq!(visits.len(), 2, "one for each hour of the clock: {visits:?}");
    assert!(answered(&bench, "How often were you in the kitchen?").starts_with("Once"));
    let long = answered(&bench, "How long were you in the kitchen?");
    assert_eq!(long, "1 hour 7 minutes");
    bench.assert_clean();
}

#[test]
fn forgetting_takes_visits_and_names() {
    let mut bench = patrol();
    bench.memory.forget(&ForgetRequest::Span(TimeSpan::new(at(215), at(300)))).unwrap();
    for _ in 0..2 {
        assert!(answered(&bench, "How often were you in the kitchen?").starts_with("Twice"));
        assert_eq!(answered(&bench, "Where are you?"), "In the hall");
        bench.kill();
        bench.clock.set_wall(at(3_600));
    }
    bench.memory.forget(&ForgetRequest::Entity("kitchen".into())).unwrap();
    assert!(!bench.texts().iter().any(|text| text.contains("kitchen")), "{:?}", bench.texts());
    assert_eq!(ask(&bench, "How often were you in the kitchen?").answer, None);
    assert_eq!(bench.memory.place_at(&pose(1.0, 1.0)), None);
    let places = bench.memory.places().unwrap();
    assert_eq!(places.iter().map(|place| place.name.as_str()).collect::<Vec<_>>(), ["hall"]);
    bench.assert_clean();
}

#[test]
fn a_visit_that_was_forgotten_stays_forgotten_when_it_is_told_again() {
    let bench = Bench::new();
    accepted(bench.tell(said("This is the kitchen.", Some(pose(1.0, 1.0)), -100)));
    let mut tracker = VisitTracker::default();
    let mut told: Vec<Told> = Vec::new();
    for second in 0..10 {
        told.extend(tracker.moved(at(second), &pose(1.0, 1.0), Some("kitchen")));
    }
    accepted(bench.tell(told.remove(0)));
    bench.memory.forget(&ForgetRequest::Span(TimeSpan::new(at(0), at(5)))).unwrap();
    assert!(matches!(bench.tell(tracker.end().unwrap()), ObserveOutcome::Rejected { .. }));
}

#[test]
fn a_visit_draws_no_map_and_teaches_no_fact() {
    let bench = patrol();
    while bench.memory.learn_pending(100).unwrap().has_lessons() {}
    assert_eq!(bench.memory.facts(&memory_core::FactFilter::default()).unwrap(), []);
    bench.memory.forget(&ForgetRequest::Span(TimeSpan::new(at(-600), at(-500)))).unwrap();
    assert_eq!(bench.memory.place_at(&pose(1.0, 1.0)), None, "a visit alone names nothing");
}

#[test]
fn places_are_listed_with_their_visits() {
    let bench = patrol();
    let cellar =
        Told { attributes: [("place".to_owned(), Value::Text("cellar".into()))].into(), ..told_at("It drips.", 900) };
    accepted(bench.tell(cellar));
    let places = bench.memory.places().unwrap();
    let shown: Vec<_> = places
        .iter()
        .map(|place| {
            (place.name.as_str(), place.pose.as_ref().map(|pose| pose.x), place.visits, place.lasted.as_secs())
        })
        .collect();
    // The first kitchen and hall are those of the naming.
    assert_eq!(shown, [("kitchen", Some(1.0), 3, 158), ("hall", Some(11.0), 2, 99), ("cellar", None, 1, 0)]);
    let kitchen = places[0].span.unwrap();
    assert_eq!((kitchen.start, kitchen.end), (at(-600), at(279)));
    let page =
        bench.memory.episodes(&EpisodeFilter { place: Some("hall".into()), ..EpisodeFilter::default() }).unwrap();
    assert_eq!(page.episodes.len(), 1);
}

#[test]
fn who_was_at_a_place_is_who_was_seen_there() {
    let bench = patrol();
    let anna = Told { kind: Kind::Entity, entity: Some("Anna".into()), ..said("Anna", Some(pose(1.5, 1.0)), 50) };
    accepted(bench.tell(anna));
    let ben = Told { kind: Kind::Entity, entity: Some("Ben".into()), ..said("Ben", Some(pose(11.0, 1.0)), 150) };
    accepted(bench.tell(ben));
    assert_eq!(answered(&bench, "Who was in the kitchen?"), "Anna");
    assert_eq!(answered(&bench, "Who was in the hall?"), "Ben");
}

/// A segment of a camera that sees a picture.
pub fn scene(start: i64, end: i64, objects: &[&str], vector: Vec<f32>) -> memory_core::Perceived {
    let mut segment = segment(start, end, objects);
    let caption = PerceivedEvent {
        kind: Kind::Caption,
        modality: Modality::Visual,
        text: "a scene".into(),
        embeddings: vec![SensedEmbedding {
            sensed: Sensed::Picture,
            space: "mobilenet-v1/avgpool/l2".into(),
            vector,
            sequence: Vec::new(),
        }],
        ..segment.events[0].clone()
    };
    segment.events.push(caption);
    segment
}

#[test]
fn without_poses_a_place_is_known_by_its_pictures() {
    let bench = Bench::new();
    let (kitchen, hall) = (vec![1.0, 0.1, 0.0], vec![0.0, 0.1, 1.0]);
    for (start, end, objects, vector) in [
        (0, 100, vec!["a kettle"], &kitchen),
        (110, 200, vec!["an umbrella"], &hall),
        (300, 380, vec!["a pan"], &kitchen),
        (400, 450, vec!["a coat"], &hall),
        (600, 660, vec!["a kettle"], &kitchen),
    ] {
        accepted(bench.perceive(scene(start, end, &objects, vector.clone())));
    }
    accepted(bench.tell(told_at("This is the kitchen.", 330)));
    bench.clock.set_wall(at(3_600));
    let often = answered(&bench, "How often were you in the kitchen?");
    assert!(often.starts_with("3 times"), "{often}");
    assert_eq!(answered(&bench, "When were you last in the kitchen?"), "From 08:10 to 08:11 today");
    assert_eq!(answered(&bench, "How long were you in the kitchen?"), "4 minutes");
    let seen = answered(&bench, "What did you see in the kitchen?");
    assert!(seen.contains("kettle") && seen.contains("pan") && !seen.contains("coat"), "{seen}");
    bench.memory.forget(&ForgetRequest::Span(TimeSpan::new(at(330), at(330)))).unwrap();
    let gone = answered(&bench, "How often were you in the kitchen?");
    assert!(!gone.starts_with("3 times"), "{gone}");
}
