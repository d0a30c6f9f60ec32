//! The loop with tools that know what every interval shows.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::interval::{Interval, order_by_interval};
use super::*;
use crate::event::{LOOKED, LOOKED_FOR};
use crate::recall::tests::home::{Home, Row, home};
use crate::{Kind, Modality, Route, StreamSpan, Value};

mod controlling;
mod likeness;

const MEDIA: &str = "file:///day.mkv";

/// A morning of which the live pass saw little: what is asked for stands nowhere.
const MORNING: &[Row] = &[
    ("20T08:00:00", 8, Kind::Caption, None, "The scene is mostly white and looks like a kitchen with a table."),
    ("20T08:00:10", 8, Kind::Caption, None, "The scene is mostly green and looks like a garden."),
    ("20T08:00:20", 8, Kind::Caption, None, "The scene is mostly grey and looks like a garage."),
    ("20T08:01:00", 8, Kind::Caption, None, "The scene is mostly brown and looks like a cellar."),
    ("20T08:02:00", 8, Kind::Caption, None, "The scene is mostly blue and looks like a pool."),
];

fn seconds(from: u64, to: u64) -> StreamSpan {
    StreamSpan { start: Duration::from_secs(from), end: Duration::from_secs(to) }
}

fn sighting(label: &str, text: &str, score: f32, stream: StreamSpan) -> Sighting {
    Sighting {
        kind: SightingKind::Object,
        label: label.to_owned(),
        text: text.to_owned(),
        score,
        share: 0.9,
        count: 1,
        colours: Vec::new(),
        stream,
        vector: None,
    }
}

/// Tools that see what is there, if it overlaps the interval.
#[derive(Default)]
struct Truth {
    there: Vec<Sighting>,
    /// Only this tool sees it; all if none.
    only: Option<Tool>,
    gone: bool,
    /// A recogniser of speech is there, and a vision model.
    listens: bool,
    views: bool,
    calls: Mutex<Vec<(Tool, StreamSpan, usize)>>,
}

impl Tools for Truth {
    fn reach(&self, tool: Tool) -> Reach {
        let seen = ["dog", "cat", "cup", "bicycle", "person"].map(|name| (Modality::Visual, name.to_owned()));
        match tool {
            Tool::ClipExplorer => Reach { labels: vec![(Modality::Audio, "Bark".to_owned())], ..Reach::default() },
            Tool::Transcriber if !self.listens => {
                let missing = (SightingKind::Speech, "speech recognition: no model".to_owned());
                Reach { missing: vec![missing], ..Reach::default() }
            }
            Tool::Transcriber => Reach { speech: true, ..Reach::default() },
            Tool::ClipAnalyser => Reach { question: self.views, ..Reach::default() },
            _ => Reach { labels: seen.to_vec(), ..Reach::default() },
        }
    }

    fn look(&self, order: &LookOrder<'_>) -> Result<Look, LookError> {
        self.calls.lock().unwrap().push((order.tool, order.stream, order.ceiling_bytes));
        if self.gone {
            return Err(LookError::Gone);
        }
        let inside = |seen: &&Sighting| {
            seen.stream.start < order.stream.end
                && order.stream.start < seen.stream.end
                && self.only.is_none_or(|only| only == order.tool)
                && match seen.kind {
                    SightingKind::Speech => order.tool == Tool::Transcriber,
                    SightingKind::Description => order.tool == Tool::ClipAnalyser,
                    SightingKind::Sound => order.tool == Tool::ClipExplorer,
                    _ => matches!(order.tool, Tool::IntervalLocaliser | Tool::SceneSnapper),
                }
        };
        let sightings = self.there.iter().filter(inside).cloned().collect();
        Ok(Look { sightings, pictures: order.pictures, bytes: 1000, ..Look::default() })
    }
}

struct One<'a>(&'a Home);

impl Views for One<'_> {
    fn read<T>(&self, read: impl Fn(&dyn Reader) -> Result<T, QueryError>) -> Result<T, QueryError> {
        read(self.0)
    }
}

/// Counts steps, and gives up after some.
struct Patience {
    most: usize,
    begun: AtomicUsize,
}

impl Watch for Patience {
    fn step(&self, news: &StepNews) {
        if news.outcome.is_none() {
            self.begun.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn cancelled(&self) -> bool {
        self.begun.load(Ordering::SeqCst) > self.most
    }
}

fn morning() -> Home {
    let mut home = home(MORNING);
    for event in &mut home.events {
        event.media = Some(MEDIA.to_owned());
    }
    home
}

fn ask_with(home: &Home, question: &str, options: &[&str], tools: &Truth, limits: &ReasoningOptions) -> Reasoned {
    let query = Query {
        question: question.into(),
        options: options.iter().map(|option| (*option).to_owned()).collect(),
        trace: true,
        top_k: 10,
        ..Query::default()
    };
    let watch = Patience { most: usize::MAX, begun: AtomicUsize::new(0) };
    reason(&query, &One(home), &home.clock, tools, limits, None, &watch).unwrap()
}

fn ask(question: &str, tools: &Truth) -> Reasoned {
    ask_with(&morning(), question, &[], tools, &ReasoningOptions::default())
}

fn dog_in_the_garden() -> Truth {
    let dog = sighting("dog", "A brown dog is in view.", 0.95, seconds(11, 17));
    Truth { there: vec![dog], ..Truth::default() }
}

#[test]
fn a_sure_find_that_was_looked_at_closely_ends_the_loop() {
    let sure = sighting("dog", "A brown dog is in view.", 1.0, seconds(11, 17));
    let tools = Truth { there: vec![Sighting { share: 1.0, ..sure }], ..Truth::default() };
    let found = ask("What did the dog in the garden look like?", &tools);
    let unsure = sighting("dog", "A brown dog is in view.", 0.3, seconds(11, 17));
    let tools = Truth { there: vec![Sighting { share: 0.1, ..unsure }], ..Truth::default() };
    let searched = ask("What did the dog in the garden look like?", &tools);
    let seen = |reasoned: &Reasoned| reasoned.found.iter().map(|event| event.confidence).collect::<Vec<_>>();
    assert_eq!(found.stopped, Stopped::Found, "{:?} {:?}", seen(&found), found.answer);
    assert_ne!(searched.stopped, Stopped::Found, "{:?} {:?}", seen(&searched), searched.answer);
    assert!(found.steps < searched.steps, "{} and {} steps", found.steps, searched.steps);
}

#[test]
fn what_the_live_pass_missed_is_found_and_cited_with_its_second() {
    let tools = dog_in_the_garden();
    let Reasoned { answer, found, steps, .. } = ask("What did the dog in the garden look like?", &tools);
    assert_eq!(answer.route, Route::Agentic, "{answer:?}");
    assert!(answer.answer.is_some(), "{answer:?}");
    assert!((1..=10).contains(&steps));
    let cited = answer.evidence.iter().find(|item| item.text.contains("dog")).expect("it is evidence");
    assert_eq!((cited.stream, cited.media.as_deref()), (Some(seconds(11, 17)), Some(MEDIA)));
    assert!(found[0].is_looked() && found[0].confidence < 1.0, "weighed by how often such a score is right");
}

#[test]
fn it_goes_to_another_interval_when_the_first_was_wrong() {
    let bicycle = sighting("bicycle", "A bicycle is in view.", 0.95, seconds(61, 67));
    let tools = Truth { there: vec![bicycle], ..Truth::default() };
    let answer = ask("What did the bicycle in the kitchen look like?", &tools).answer;
    let calls = tools.calls.lock().unwrap();
    let starts: Vec<u64> = calls.iter().map(|(_, stream, _)| stream.start.as_secs()).collect();
    assert!(starts[0] < 30, "the words point to the kitchen: {starts:?}");
    assert!(starts.iter().any(|start| (58..=61).contains(start)), "and what was not seen there, elsewhere: {starts:?}");
    assert!(answer.evidence.iter().any(|item| item.text.contains("bicycle")), "{answer:?}");
    let aims: Vec<&str> =
        answer.trace.iter().filter(|step| step.step == "aim").map(|step| step.detail.as_str()).collect();
    assert!(aims.iter().any(|aim| aim.contains("less likely by now")), "{aims:#?}");
}

#[test]
fn an_option_that_is_seen_is_chosen() {
    let tools = dog_in_the_garden();
    let options = ["a cup", "a dog", "a bicycle"];
    let Reasoned { answer, .. } =
        ask_with(&morning(), "What was there in the garden?", &options, &tools, &ReasoningOptions::default());
    assert_eq!(answer.choice, Some(1), "{answer:?}");
}

#[test]
fn what_is_only_seen_faintly_is_no_answer() {
    let faint = Sighting { share: 0.05, ..sighting("dog", "A dog is in view.", 0.2, seconds(11, 12)) };
    let tools = Truth { there: vec![faint], ..Truth::default() };
    let answer = ask("Which animal was in the garden?", &tools).answer;
    assert!(answer.answer.is_none_or(|text| !text.contains("dog")), "it may be nothing");
}

#[test]
fn the_same_question_gets_the_same_steps_and_the_same_answer() {
    let run = || {
        let tools = dog_in_the_garden();
        let reasoned = ask("Which animal was in the garden?", &tools);
        (reasoned, tools.calls.into_inner().unwrap())
    };
    assert_eq!(run(), run());
}

#[test]
fn nothing_is_looked_at_twice_with_one_tool_and_the_limit_of_steps_holds() {
    for limit in [1, 2, 10] {
        let tools = Truth::default();
        let options = ReasoningOptions { steps: limit, ceiling_bytes: 12_345, ..ReasoningOptions::default() };
        let reasoned = ask_with(&morning(), "Where was the cat?", &[], &tools, &options);
        let mut calls = tools.calls.into_inner().unwrap();
        let count = calls.len();
        assert!(count <= limit && count == reasoned.steps, "{calls:?}");
        assert!(calls.iter().all(|(.., ceiling)| *ceiling == 12_345));
        calls.sort_by_key(|(tool, stream, _)| (*tool, stream.start));
        calls.dedup();
        assert_eq!(calls.len(), count, "each look once");
    }
}

#[test]
fn a_closer_look_finds_what_the_first_one_missed() {
    let cup = sighting("cup", "A small cup is in view.", 0.9, seconds(21, 27));
    let tools = Truth { there: vec![cup], only: Some(Tool::SceneSnapper), ..Truth::default() };
    let answer = ask("What was on the floor of the garage, was it a cup?", &tools).answer;
    assert!(answer.evidence.iter().any(|item| item.text.contains("cup")), "{answer:?}");
}

#[test]
fn a_recording_that_is_gone_is_said_and_the_memory_answers() {
    let tools = Truth { gone: true, ..dog_in_the_garden() };
    let Reasoned { answer, found, .. } = ask("Which animal was in the garden?", &tools);
    assert_eq!(answer.degraded.iter().filter(|line| line.contains("recording is gone")).count(), 1, "{answer:?}");
    assert!(found.is_empty());
}

#[test]
fn what_no_picture_tells_is_not_looked_for() {
    for question in ["What did Mira say about the garden?", "How is tea made?", "What happened today?"] {
        let tools = dog_in_the_garden();
        let reasoned = ask(question, &tools);
        assert_eq!((reasoned.stopped, reasoned.steps), (Stopped::NothingToSee, 0), "{question}");
        assert!(tools.calls.into_inner().unwrap().is_empty(), "{question}");
    }
    let tools = dog_in_the_garden();
    let unknown = ask("Where was the sundial?", &tools);
    assert_eq!(unknown.stopped, Stopped::NothingToSee, "no encoder knows a sundial");
}

fn speech(text: &str, stream: StreamSpan) -> Sighting {
    Sighting { kind: SightingKind::Speech, share: 1.0, ..sighting(text, text, 0.95, stream) }
}

/// A morning on which somebody speaks in the garden and in the cellar; nothing wrote down what.
fn spoken_morning(rows: &[Row]) -> Home {
    let mut all = MORNING.to_vec();
    all.extend([
        ("20T08:00:12", 5, Kind::Sound, None, "Someone is speaking."),
        ("20T08:01:02", 5, Kind::Sound, None, "Someone is speaking."),
    ]);
    all.extend(rows);
    let mut home = home(&all);
    for event in &mut home.events {
        event.media = Some(MEDIA.to_owned());
    }
    home
}

#[test]
fn what_was_said_is_written_down_where_somebody_spoke() {
    let said = speech("The ladder is behind the shed.", seconds(62, 66));
    let tools = Truth { there: vec![said], listens: true, ..Truth::default() };
    let home = spoken_morning(&[]);
    let reasoned = ask_with(&home, "What was said about the ladder?", &[], &tools, &ReasoningOptions::default());
    let Reasoned { answer, found, .. } = reasoned;
    assert_eq!(answer.route, Route::Agentic, "{answer:?}");
    assert!(answer.answer.as_deref().is_some_and(|text| text.contains("behind the shed")), "{answer:?}");
    let (event, calls) = (&found[0], tools.calls.into_inner().unwrap());
    assert_eq!((event.kind, event.modality, event.stream), (Kind::Text, Modality::Audio, Some(seconds(62, 66))));
    for attribute in ["derived", "recognised"] {
        assert_eq!(event.attributes.get(attribute), Some(&Value::Bool(true)), "{attribute}");
    }
    assert!(calls.iter().all(|(tool, ..)| *tool == Tool::Transcriber), "no picture tells it: {calls:?}");
    let before = calls
        .iter()
        .position(|(_, stream, _)| stream.start <= seconds(62, 66).start && stream.end > seconds(62, 66).start);
    assert!(before.is_some_and(|place| place < 2), "speech without words comes first: {calls:?}");
}

#[test]
fn words_that_memory_has_are_not_written_down_again() {
    let said = speech("The ladder is behind the shed.", seconds(62, 66));
    let tools = Truth { there: vec![said], listens: true, ..Truth::default() };
    let known = [("20T08:01:02", 4, Kind::Text, None, "The letter is behind the shed.")];
    let home = spoken_morning(&known);
    let found = ask_with(&home, "What was said about the ladder?", &[], &tools, &ReasoningOptions::default()).found;
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn without_a_recogniser_what_was_said_is_not_looked_for_and_the_answer_says_why() {
    let tools = Truth::default();
    let home = spoken_morning(&[]);
    let reasoned = ask_with(&home, "What was said about the ladder?", &[], &tools, &ReasoningOptions::default());
    assert_eq!((reasoned.stopped, reasoned.steps), (Stopped::NothingToSee, 0));
    let degraded = &reasoned.answer.degraded;
    assert_eq!(degraded.iter().filter(|line| *line == "speech recognition: no model").count(), 1, "{degraded:?}");
    let seen = ask_with(&home, "Which animal was in the garden?", &[], &tools, &ReasoningOptions::default());
    assert!(seen.answer.degraded.iter().all(|line| !line.starts_with("speech")), "{:?}", seen.answer.degraded);
}

#[test]
fn a_vision_model_answers_what_no_encoder_has_a_word_for() {
    let text = "A sundial stands beside the fountain.";
    let seen = Sighting { kind: SightingKind::Description, ..sighting(text, text, 0.9, seconds(11, 14)) };
    let tools = Truth { there: vec![seen], views: true, ..Truth::default() };
    let Reasoned { answer, found, .. } = ask("Where was the sundial?", &tools);
    assert!(answer.answer.as_deref().is_some_and(|text| text.contains("fountain")), "{answer:?}");
    assert_eq!((answer.route, found[0].kind, found[0].stream), (Route::Agentic, Kind::Caption, Some(seconds(11, 14))));
    assert_eq!(found[0].attributes.get(LOOKED), Some(&Value::Text("clip_analyser".into())));
    let tools = Truth { views: true, ..Truth::default() };
    let nothing = ask("Where was the sundial?", &tools);
    assert!(nothing.found.is_empty() && nothing.steps > 0, "it looked and saw nothing");
}

#[test]
fn without_a_recording_nothing_is_looked_at() {
    let tools = dog_in_the_garden();
    let told = home(&[("20T08:00:00", 0, Kind::Text, Some("Mira"), "The dog is in the garden.")]);
    let reasoned = ask_with(&told, "Where is the dog?", &[], &tools, &ReasoningOptions::default());
    assert_eq!(reasoned.steps, 0);
    assert_ne!(reasoned.answer.route, Route::Agentic);
}

#[test]
fn it_ends_when_somebody_gives_up_and_at_the_deadline() {
    let (home, tools) = (morning(), Truth::default());
    let query = Query { question: "Where was the cat?".into(), ..Query::default() };
    let watch = Patience { most: 1, begun: AtomicUsize::new(0) };
    let given_up =
        reason(&query, &One(&home), &home.clock, &tools, &ReasoningOptions::default(), None, &watch).unwrap();
    assert_eq!(given_up.stopped, Stopped::Cancelled);
    assert_eq!(tools.calls.lock().unwrap().len(), 2, "the one under way was the last");
    let none = ReasoningOptions { deadline: Duration::ZERO, ..ReasoningOptions::default() };
    let late = ask_with(&home, "Where was the cat?", &[], &tools, &none);
    assert_eq!((late.stopped, late.steps), (Stopped::Deadline, 0));
}

#[test]
fn a_finding_is_found_by_what_it_shows_and_not_by_the_question_it_was_found_for() {
    let tools = dog_in_the_garden();
    let found = ask("Which animal was in the garden near the bicycle?", &tools).found;
    let text = crate::index::Document::of(&found[0]).text;
    assert!(text.contains("dog") && !text.contains("bicycle") && !text.contains("localiser"), "{text}");
    assert_eq!(found[0].attributes.get("derived"), Some(&Value::Bool(true)), "no fact is learnt from it");
    assert!(found[0].attributes.contains_key(LOOKED_FOR));
}

#[test]
fn only_facts_of_the_senses_are_worth_looking_again() {
    let mut answer = ask("Which animal was in the garden?", &Truth::default()).answer;
    answer.confidence = 0.4;
    assert!(is_worth_looking(&answer, Effort::Normal, 0.5) && !is_worth_looking(&answer, Effort::Normal, 0.3));
    assert!(is_worth_looking(&answer, Effort::Thorough, 0.3) && !is_worth_looking(&answer, Effort::Fast, 0.9));
    answer.intent = crate::Intent::Procedural;
    assert!(!is_worth_looking(&answer, Effort::Thorough, 0.9));
}

#[test]
fn pictures_follow_the_length_of_the_interval() {
    let pictures = |seconds| Tool::IntervalLocaliser.pictures(Duration::from_secs(seconds));
    assert_eq!((pictures(3), pictures(30), pictures(3600)), (30, 60, 150));
}

#[test]
fn evidence_of_an_interval_that_became_likelier_comes_first_and_nothing_else_moves() {
    let (home, tools) = (morning(), Truth::default());
    let known = ask_with(&home, "Which animal was in the garden?", &[], &tools, &ReasoningOptions::default()).answer;
    let evidence = known.evidence;
    assert!(evidence.len() >= 3 && evidence.iter().all(|item| item.stream.is_some()), "{evidence:?}");
    let places: Vec<Interval> = evidence
        .iter()
        .map(|item| Interval {
            media: MEDIA.to_owned(),
            stream: item.stream.unwrap(),
            session: item.span.start,
            probability: 0.1,
        })
        .collect();
    let ordered = |ratio: &dyn Fn(usize) -> f32| {
        let (mut items, ratios) = (evidence.clone(), (0..places.len()).map(ratio).collect::<Vec<_>>());
        order_by_interval(&mut items, &places, &ratios);
        assert!(items.iter().zip(&evidence).all(|(new, old)| new.score == old.score), "the scores stay in their order");
        items.into_iter().map(|item| item.event).collect::<Vec<_>>()
    };
    let before: Vec<_> = evidence.iter().map(|item| item.event).collect();
    assert_eq!(ordered(&|_| 1.0), before);
    assert_eq!(ordered(&|place| if place == 0 { 0.1 } else { 0.9 }), before, "little was seen, which says little");
    let third = ordered(&|place| if place == 2 { 4.0 } else { 0.2 });
    assert_eq!((third[0], third[1], third[2]), (before[2], before[0], before[1]));
}
