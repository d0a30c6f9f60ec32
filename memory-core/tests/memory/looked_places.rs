//! Places that pictures show when a recording is looked at again: of those that memory knows.

use std::sync::Mutex;
use std::time::Duration;

use memory_core::reasoning::{
    KnownPlace, Look, LookError, LookOrder, Reach, Reasoned, ReasoningOptions, Sighting, SightingKind, StepNews, Tool,
    Tools, Watch,
};
use memory_core::{Kind, Observation, Perceived, Query, Route, Sensed, SensedEmbedding, StreamSpan, Told, Value};

use crate::support::{Bench, accepted, at, segment, told_at};

const SPACE: &str = "mobilenet-v1/avgpool/l2";
const KITCHEN: [f32; 3] = [1.0, 0.0, 0.1];
const HALL: [f32; 3] = [0.0, 1.0, 0.0];
const NOWHERE: [f32; 3] = [0.0, 0.1, 1.0];

/// A film whose live pass made vectors of the first pictures only; what later pictures show, only looking tells.
struct Film {
    /// Begin and end in seconds, and the vector of the pictures.
    shows: Vec<(u64, u64, [f32; 3])>,
    bicycle: Option<StreamSpan>,
    space: &'static str,
    /// The places that each look was to compare with.
    offered: Mutex<Vec<Vec<KnownPlace>>>,
}

impl Tools for Film {
    fn reach(&self, tool: Tool) -> Reach {
        match tool {
            Tool::IntervalLocaliser | Tool::SceneSnapper => Reach {
                labels: vec![(memory_core::Modality::Visual, "bicycle".to_owned())],
                places: Some(self.space.to_owned()),
                ..Reach::default()
            },
            _ => Reach::default(),
        }
    }

    fn look(&self, order: &LookOrder<'_>) -> Result<Look, LookError> {
        self.offered.lock().unwrap().push(order.places.to_vec());
        let mut sightings = Vec::new();
        for (start, end, vector) in &self.shows {
            let stream = span(*start, *end);
            let stream =
                StreamSpan { start: stream.start.max(order.stream.start), end: stream.end.min(order.stream.end) };
            let alike = |place: &&KnownPlace| {
                place.views.iter().any(|view| {
                    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
                    view.iter().zip(vector).map(|(a, b)| a * b).sum::<f32>() >= place.gamma * length
                })
            };
            if stream.start < stream.end
                && let Some(place) = order.places.iter().find(alike)
            {
                sightings.push(sighting(SightingKind::Place, &place.name, &place.name, stream));
            }
        }
        let inside = |stream: &StreamSpan| stream.start < order.stream.end && order.stream.start < stream.end;
        let bicycle = self.bicycle.filter(inside);
        sightings
            .extend(bicycle.map(|stream| sighting(SightingKind::Object, "bicycle", "A bicycle is in view.", stream)));
        Ok(Look { sightings, pictures: 30, ..Look::default() })
    }
}

fn span(start: u64, end: u64) -> StreamSpan {
    StreamSpan { start: Duration::from_secs(start), end: Duration::from_secs(end) }
}

fn sighting(kind: SightingKind, label: &str, text: &str, stream: StreamSpan) -> Sighting {
    Sighting {
        kind,
        label: label.to_owned(),
        text: text.to_owned(),
        score: 0.97,
        share: 1.0,
        count: 1,
        colours: Vec::new(),
        stream,
        vector: None,
    }
}

fn film() -> Film {
    let shows = vec![(0, 10, KITCHEN), (20, 30, HALL), (60, 70, KITCHEN), (90, 100, HALL), (120, 130, NOWHERE)];
    Film { shows, bicycle: Some(span(62, 68)), space: SPACE, offered: Mutex::default() }
}

fn scene(start: i64, end: i64, vector: Option<[f32; 3]>) -> Perceived {
    let mut segment = segment(start, end, &["The scene is mostly grey."]);
    segment.events[0].kind = Kind::Caption;
    segment.events[0].embeddings = vector
        .map(|vector| SensedEmbedding {
            sensed: Sensed::Picture,
            space: SPACE.into(),
            vector: vector.to_vec(),
            sequence: Vec::new(),
        })
        .into_iter()
        .collect();
    segment
}

/// The kitchen is named in words and the hall by an observation; of what comes later memory has no place.
fn house() -> Bench {
    let bench = Bench::new();
    for (start, vector) in [(0, Some(KITCHEN)), (20, Some(HALL)), (60, None), (90, None), (120, None)] {
        accepted(bench.perceive(scene(start, start + 10, vector)));
    }
    accepted(bench.tell(told_at("This is the kitchen.", 4)));
    let hall = [("place".to_owned(), Value::Text("hall".into()))];
    accepted(bench.tell(Told { attributes: hall.into(), ..told_at("The door opened.", 25) }));
    bench.clock.set_wall(at(3_600));
    bench
}

struct Quiet;

impl Watch for Quiet {
    fn step(&self, _: &StepNews) {}
}

fn looked(bench: &Bench, film: &Film, question: &str, options: &[&str]) -> Reasoned {
    let options = options.iter().map(|option| (*option).to_owned()).collect();
    let query = Query { question: question.into(), options, trace: true, ..Query::default() };
    bench.memory.reason(&query, film, &ReasoningOptions::default(), None, &Quiet).unwrap()
}

fn answered(bench: &Bench, question: &str, options: &[&str]) -> (Option<String>, Route) {
    let answer = looked(bench, &film(), question, options).answer;
    (answer.answer, answer.route)
}

#[test]
fn pictures_tell_where_the_robot_was_when_memory_has_no_place() {
    let bench = house();
    for (question, place) in [
        ("Where were you at 08:01:05?", "In the kitchen"),
        ("Where was the robot at 08:01:35?", "In the hall"),
        ("Which room were you in at 08:01:05?", "In the kitchen"),
        ("Were you in the hall at 08:01:35?", "Yes: The robot is in the hall."),
    ] {
        let before = bench.memory.ask(&Query { question: question.into(), ..Query::default() }).unwrap();
        assert_eq!(before.answer, None, "{question}");
        assert_eq!(answered(&bench, question, &[]), (Some(place.to_owned()), Route::Agentic), "{question}");
    }
    let cited = looked(&bench, &film(), "Where were you at 08:01:05?", &[]).answer.evidence;
    assert_eq!(cited[0].stream, Some(span(63, 67)), "two seconds around the moment");
}

#[test]
fn of_options_the_place_is_chosen_that_the_pictures_show() {
    let bench = house();
    let options = ["in the hall", "in the kitchen"];
    assert_eq!(looked(&bench, &film(), "Where were you at 08:01:05?", &options).answer.choice, Some(1));
    assert_eq!(looked(&bench, &film(), "Where were you at 08:01:35?", &options).answer.choice, Some(0));
}

#[test]
fn a_place_that_nobody_named_is_not_guessed() {
    let (bench, film) = (house(), film());
    let reasoned = looked(&bench, &film, "Where were you at 08:02:05?", &[]);
    assert!(reasoned.steps > 0, "{reasoned:?}");
    assert_eq!((reasoned.answer.answer, reasoned.found.len()), (None, 0));
}

#[test]
fn a_thing_is_where_the_pictures_that_show_it_were_taken() {
    let bench = house();
    assert_eq!(answered(&bench, "Where was the bicycle?", &[]), (Some("In the kitchen".into()), Route::Agentic));
    let nowhere = Film { bicycle: Some(span(122, 128)), ..film() };
    let answer = looked(&bench, &nowhere, "Where was the bicycle?", &[]).answer;
    assert!(answer.answer.is_none_or(|text| !text.contains("kitchen") && !text.contains("hall")));
}

#[test]
fn the_second_asking_is_answered_from_memory_and_pictures_name_no_place() {
    let bench = house();
    let question = "Where were you at 08:01:05?";
    let first = film();
    let findings = looked(&bench, &first, question, &[]).findings();
    let written = bench.memory.observe(findings.into_iter().map(Observation::Looked).collect()).unwrap();
    written.into_iter().for_each(|outcome| drop(accepted(outcome)));
    let again = bench.memory.ask(&Query { question: question.into(), ..Query::default() }).unwrap();
    assert_eq!(again.answer.as_deref(), Some("In the kitchen"));
    let second = film();
    looked(&bench, &second, "Where were you at 08:01:35?", &[]);
    let offered = |film: &Film| film.offered.lock().unwrap()[0].clone();
    assert_eq!(offered(&second), offered(&first), "what was derived from pictures is no view of the place");
    assert_eq!(offered(&first).iter().map(|place| place.name.as_str()).collect::<Vec<_>>(), ["hall", "kitchen"]);
}

#[test]
fn pictures_of_another_space_are_compared_with_nothing() {
    let other = Film { space: "somebody's/space", ..film() };
    let reasoned = looked(&house(), &other, "Where were you at 08:01:05?", &[]);
    assert_eq!(reasoned.steps, 0, "{:?}", reasoned.stopped);
}

#[test]
fn a_scene_that_has_two_names_shows_neither_place() {
    let bench = house();
    accepted(bench.tell(told_at("This is the pantry.", 5)));
    let film = film();
    looked(&bench, &film, "Where were you at 08:01:35?", &[]);
    let offered = film.offered.lock().unwrap();
    assert_eq!(offered[0].iter().map(|place| place.name.as_str()).collect::<Vec<_>>(), ["hall"]);
}

#[test]
fn a_question_about_no_place_compares_no_places() {
    let film = film();
    looked(&house(), &film, "What colour was the bicycle?", &[]);
    let offered = film.offered.lock().unwrap();
    assert!(!offered.is_empty() && offered.iter().all(Vec::is_empty), "{offered:?}");
}
