//! Questions to a small memory: a morning in a kitchen, told and seen.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::tz::TimeZone;

use super::*;
use crate::index::signature::quantise;
use crate::index::{CompressedIndex, Document, Index, IndexOptions, Search, is_stop_word, passage, stem, words};
use crate::ports::{PortError, TextEmbedder};
use crate::{
    AbsentRole, Attributes, Episode, EpisodeId, Event, EventId, Kind, ManualClock, Origin, ReadError, StreamSpan, Value,
};

/// φ for tests: a dimension per word, so that equal words are near and some synonyms nearer than nothing.
struct WordVectors;

impl TextEmbedder for WordVectors {
    fn space(&self) -> &str {
        "words"
    }

    fn dimensions(&self) -> usize {
        64
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, PortError> {
        let vector = |text: &&str| {
            let mut vector = vec![0.0_f32; 64];
            for word in words(text).filter(|word| !is_stop_word(word)) {
                let word = stem(if word == "spectacles" { "glasses" } else { &word });
                let place = word.bytes().fold(7_usize, |hash, byte| (hash * 31 + usize::from(byte)) % 64);
                vector[place] += 1.0;
            }
            let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-6);
            vector.iter().map(|x| x / norm).collect()
        };
        Ok(texts.iter().map(vector).collect())
    }
}

struct Broken;

impl TextEmbedder for Broken {
    fn space(&self) -> &str {
        "broken"
    }

    fn dimensions(&self) -> usize {
        64
    }

    fn embed(&self, _: &[&str]) -> Result<Vec<Vec<f32>>, PortError> {
        Err(PortError { role: "text embedding", message: "out of memory".into() })
    }
}

/// A clock that moves by a fixed step whenever it is read.
struct SteppingClock {
    clock: ManualClock,
    step: Duration,
    reads: AtomicU64,
}

impl Clock for SteppingClock {
    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn monotonic(&self) -> Duration {
        self.step * u32::try_from(self.reads.fetch_add(1, Ordering::SeqCst)).unwrap()
    }
}

struct Kitchen {
    events: Vec<Event>,
    index: CompressedIndex,
    search: Arc<dyn Search>,
    gone: BTreeSet<EventId>,
    embedder: Option<Box<dyn TextEmbedder>>,
    absent: Vec<AbsentRole>,
    pending: u64,
    zone: TimeZone,
    clock: SteppingClock,
}

impl Reader for Kitchen {
    fn search(&self) -> &dyn Search {
        &*self.search
    }

    fn event(&self, id: EventId) -> Result<Option<Event>, ReadError> {
        let visible = self.events.iter().find(|event| event.id == id && !self.gone.contains(&id));
        Ok(visible.cloned())
    }

    fn episode(&self, _: EpisodeId) -> Result<Option<Episode>, ReadError> {
        Ok(None)
    }

    fn embedder(&self) -> Option<&dyn TextEmbedder> {
        self.embedder.as_deref()
    }

    fn vector(&self, id: EventId) -> Option<Vec<i16>> {
        let event = self.events.iter().find(|event| event.id == id)?;
        quantise(self.embedder()?.embed(&[&passage(event)]).ok()?.first()?)
    }

    fn absent_roles(&self) -> &[AbsentRole] {
        &self.absent
    }

    fn pending_embeddings(&self) -> u64 {
        self.pending
    }

    fn zone(&self) -> &TimeZone {
        &self.zone
    }

    fn clock(&self) -> &dyn Clock {
        &self.clock
    }
}

fn time(text: &str) -> Timestamp {
    Timestamp::parse(&format!("2026-11-{text}+01:00")).unwrap()
}

/// Begin, source, kind, text, entity, seconds.
type Row = (&'static str, &'static str, Kind, &'static str, Option<&'static str>, u64);

const MORNING: &[Row] = &[
    ("18T19:05:00", "asr", Kind::Text, "I put my keys in the blue bowl by the door.", Some("Anna"), 4),
    ("19T08:30:00", "asr", Kind::Text, "Yesterday I went to the dentist with Tom.", Some("Anna"), 5),
    ("20T08:00:00", "camera", Kind::Object, "A person, a cup and a laptop are in view.", None, 8),
    ("20T08:00:03", "asr", Kind::Text, "Good morning! Is there any coffee left?", Some("Ben"), 3),
    ("20T08:00:08", "camera", Kind::Caption, "A woman pours tea into a red mug.", None, 8),
    ("20T08:00:16", "microphone", Kind::Sound, "The door bell rang.", None, 2),
    ("20T08:00:20", "camera", Kind::Caption, "A courier hands over a parcel.", None, 6),
    ("20T08:10:00", "asr", Kind::Text, "The milk is nearly empty. We should buy some on Friday.", Some("Ben"), 4),
    ("20T08:40:00", "microphone", Kind::Sound, "The door bell rang.", None, 2),
    ("20T08:50:00", "asr", Kind::Text, "My sister Clara lives in Lisbon.", Some("Anna"), 3),
    ("20T08:55:00", "asr", Kind::Text, "I left my reading glasses on the piano.", Some("Anna"), 3),
    ("20T08:58:30", "camera", Kind::Object, "A cat and a chair are in view.", None, 8),
];

fn kitchen() -> Kitchen {
    let session = time("20T08:00:00");
    let events: Vec<Event> = (1_u64..)
        .zip(MORNING)
        .map(|(id, (at, source, kind, text, entity, seconds))| {
            let start = time(at);
            let end = start.saturating_add(Duration::from_secs(*seconds));
            let seen = matches!(*source, "camera" | "microphone");
            Event {
                id: EventId(id),
                episode: EpisodeId(id / 3),
                origin: if seen { Origin::Perceived } else { Origin::Told },
                sender_id: (!seen).then(|| format!("asr-{id}")),
                kind: *kind,
                modality: kind.modality(),
                text: (*text).into(),
                span: TimeSpan::new(start, end),
                stream: seen.then(|| StreamSpan { start: start.since(session), end: end.since(session) }),
                source: (*source).into(),
                entity: entity.map(str::to_string),
                attributes: Attributes::from([("place".into(), Value::Text("kitchen".into()))]),
                confidence: 0.9,
                media: None,
                received: start,
            }
        })
        .collect();
    let mut index = CompressedIndex::new(IndexOptions::default());
    index.append(&events.iter().map(Document::of).collect::<Vec<_>>());
    Kitchen {
        search: index.snapshot(),
        index,
        events,
        gone: BTreeSet::new(),
        embedder: None,
        absent: vec![],
        pending: 0,
        zone: TimeZone::get("Europe/Berlin").unwrap(),
        clock: SteppingClock {
            clock: ManualClock::at(time("20T09:00:00")),
            step: Duration::ZERO,
            reads: AtomicU64::new(0),
        },
    }
}

impl Kitchen {
    fn with_meaning(mut self) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "unit vectors")]
        let vectors: Vec<(EventId, Vec<i16>)> = self
            .events
            .iter()
            .map(|event| {
                let vector = WordVectors.embed(&[&passage(event)]).unwrap().remove(0);
                (event.id, vector.iter().map(|x| (x * 32_767.0) as i16).collect())
            })
            .collect();
        self.index.use_space(64);
        self.index.embed(&vectors);
        self.search = self.index.snapshot();
        self.embedder = Some(Box::new(WordVectors));
        self
    }

    fn forget(mut self, id: u64) -> Self {
        self.index.hide(&[EventId(id)]);
        self.gone.insert(EventId(id));
        self.search = self.index.snapshot();
        self
    }

    fn ask(&self, question: &str) -> Answer {
        answer(&Query { question: question.into(), top_k: 3, ..Query::default() }, self).unwrap()
    }

    fn choose(&self, question: &str, options: &[&str]) -> Answer {
        let options = options.iter().map(|option| (*option).to_string()).collect();
        answer(&Query { question: question.into(), options, top_k: 3, ..Query::default() }, self).unwrap()
    }
}

fn rendered(question: &str, answer: &Answer) -> String {
    let mut text = format!("{question}\n");
    let said = answer.answer.as_deref().unwrap_or("-");
    let (route, intent, modality) = (answer.route, answer.intent, answer.modality);
    writeln!(text, "  {said}\n  {route:?}, {intent:?}, {modality:?}, confidence {:.2}", answer.confidence).unwrap();
    for item in &answer.evidence {
        writeln!(text, "  * {} {} [{}]", item.span.start, item.text, item.observations.join(", ")).unwrap();
    }
    text
}

#[test]
fn answers_read_well_and_bring_their_evidence() {
    let kitchen = kitchen();
    let questions = [
        "Where are Anna's keys?",
        "Who has a sister in Lisbon?",
        "What did Ben say about the milk?",
        "When did the courier bring the parcel?",
        "When was Anna at the dentist?",
        "How many times did the door bell ring?",
        "What happened yesterday?",
        "What was said just now?",
        "What did you see two minutes ago?",
        "What was seen right after the door bell rang?",
        "What was visible while Ben asked for coffee?",
        "What happened near the beginning of the session?",
        "Which animal did the robot see?",
        "What did the doctor say about the medicine?",
        "How do I make tea without milk?",
        "What does Anna usually drink?",
    ];
    let all: Vec<String> = questions.iter().map(|question| rendered(question, &kitchen.ask(question))).collect();
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn options_are_chosen_by_evidence() {
    let kitchen = kitchen().with_meaning();
    for (question, options, right) in [
        ("Where did Anna leave her reading glasses?", ["on the table", "on the piano", "in the car", "in bed"], 1),
        ("How many times did the door bell ring?", ["once", "three times", "twice", "never"], 2),
        ("What was in view while Ben asked for coffee?", ["a cat", "a dog", "a parcel", "a laptop"], 3),
        ("What did Ben say about the milk?", ["it is nearly empty", "it is sour", "it is warm", "it is new"], 0),
    ] {
        let answer = kitchen.choose(question, &options);
        assert_eq!(answer.choice, Some(right), "{question}: {answer:?}");
        assert_eq!(answer.answer.as_deref(), Some(options[right]));
        assert!(answer.confidence > 0.4, "{question}: {}", answer.confidence);
        assert!(!answer.evidence.is_empty());
    }
}

/// Begin and end in seconds of the session, kind, text, class and count, confidence.
type Sighting = (u64, u64, Kind, &'static str, Option<(&'static str, i64)>, f32);

/// A drive past a farm as perception tells it: few words, doubtful classes, a gap in the signal.
const DRIVE: &[Sighting] = &[
    (0, 4, Kind::Object, "A car is in view.", Some(("car", 1)), 0.7),
    (1, 3, Kind::Text, "We should have turned left.", None, 1.0),
    (20, 30, Kind::Object, "Four cars are in view.", Some(("car", 4)), 0.9),
    (21, 29, Kind::Sound, "Someone is speaking.", None, 0.95),
    (22, 26, Kind::Text, "The air is pure up here.", None, 1.0),
    (40, 49, Kind::Object, "A horse is in view.", Some(("horse", 1)), 0.9),
    (50, 58, Kind::Object, "A giraffe is in view.", Some(("giraffe", 1)), 0.35),
    (59, 60, Kind::Object, "A giraffe is in view.", Some(("giraffe", 1)), 0.4),
    (61, 64, Kind::Text, "My dog and my horse like the radio.", None, 1.0),
    (70, 72, Kind::Caption, "The picture is black.", Some(("black", 0)), 1.0),
    (70, 72, Kind::Sound, "There is no sound at all.", Some(("silent", 0)), 1.0),
    (72, 80, Kind::Object, "A bench is in view.", Some(("bench", 1)), 0.8),
    (90, 99, Kind::Sound, "A bell rings.", None, 0.8),
];

fn drive() -> Kitchen {
    let session = time("20T08:30:00");
    let seconds = Duration::from_secs;
    let events: Vec<Event> = (1_u64..)
        .zip(DRIVE)
        .map(|(id, (start, end, kind, text, held, confidence))| {
            let counted = held.filter(|(_, count)| *count > 0).map(|(class, count)| {
                let counts = Value::Map([(class.to_string(), Value::Integer(count))].into());
                [("counts".to_string(), counts), ("objects".to_string(), Value::List(vec![Value::Text(class.into())]))]
            });
            let signal = held.filter(|(_, count)| *count == 0);
            let signal = signal.map(|(state, _)| ("signal".to_string(), Value::Text(state.into())));
            // The begin of the session, told by each event, is off by the rounding of its own times.
            let begin = session.saturating_add(Duration::from_micros(id));
            Event {
                id: EventId(id),
                episode: EpisodeId(id / 3),
                origin: Origin::Perceived,
                sender_id: None,
                kind: *kind,
                modality: kind.modality(),
                text: (*text).into(),
                span: TimeSpan::new(begin.saturating_add(seconds(*start)), begin.saturating_add(seconds(*end))),
                stream: Some(StreamSpan { start: seconds(*start), end: seconds(*end) }),
                source: "drive".into(),
                entity: None,
                attributes: counted.into_iter().flatten().chain(signal).collect(),
                confidence: *confidence,
                media: None,
                received: begin,
            }
        })
        .collect();
    let mut index = CompressedIndex::new(IndexOptions::default());
    index.append(&events.iter().map(Document::of).collect::<Vec<_>>());
    Kitchen { search: index.snapshot(), index, events, ..kitchen() }
}

#[test]
fn of_few_words_and_doubtful_classes_the_event_that_answers_comes_first() {
    let drive = drive();
    for (question, first) in [
        // The sentence, not the sound of it; by the cars seen most firmly, not by the earliest.
        ("Which sentence was spoken while a car was seen on the highway?", "The air is pure up here."),
        ("What was heard while a car drove along the road?", "The air is pure up here."),
        // By class, weighed by all of its sightings.
        ("Which animal did the robot see?", "A horse is in view."),
        ("Which kind of vehicle was seen?", "Four cars are in view."),
        // Seen, not said; heard, not seen.
        ("What kind of animal was seen near the radio?", "A horse is in view."),
        ("Which ring of the bell was heard?", "A bell rings."),
        ("What was seen directly after the black and silent gap?", "A bench is in view."),
        ("In what way did the signal fail?", "The picture is black."),
        // The session is one, whatever its events' rounding.
        ("Which sound was heard near the end of the session?", "A bell rings."),
        ("Which alarm was heard near the end of the session?", "A bell rings."),
        ("What was said in the first ten seconds of the session?", "We should have turned left."),
    ] {
        let answer = drive.ask(question);
        assert_eq!(answer.evidence.first().map(|item| item.text.as_str()), Some(first), "{question}: {answer:#?}");
    }
}

#[test]
fn a_cue_that_was_only_sighted_is_answered_with_doubt() {
    let drive = drive();
    let sure = drive.ask("What was heard while a car was in view?");
    let sighted = drive.ask("What was heard while a driver in a yellow jacket overtook a caravan?");
    let text = |answer: &Answer| answer.evidence.first().map(|item| item.text.clone());
    assert_eq!(text(&sure).as_deref(), Some("The air is pure up here."));
    assert_eq!(text(&sighted), text(&sure));
    assert!(sighted.confidence <= 0.5 && sure.confidence > 0.6, "{sighted:#?} {sure:#?}");
}

#[test]
fn what_memory_does_not_hold_is_not_chosen_with_confidence() {
    let kitchen = kitchen();
    let answer =
        kitchen.choose("Which train was delayed?", &["the night train", "the express", "the local", "the ICE"]);
    assert!(answer.choice.is_none() && answer.confidence < 0.3, "{answer:?}");
    assert_eq!(answer.route, Route::None);
}

#[test]
fn meaning_finds_other_words() {
    let words_only = kitchen().ask("Where are Anna's spectacles?");
    let with_meaning = kitchen().with_meaning().ask("Where are Anna's spectacles?");
    assert!(with_meaning.evidence[0].text.contains("piano"), "{with_meaning:?}");
    assert!(with_meaning.confidence >= words_only.confidence);
}

#[test]
fn what_was_forgotten_never_appears() {
    let question = "Who has a sister in Lisbon?";
    assert!(kitchen().ask(question).answer.unwrap().contains("Lisbon"));
    let kitchen = kitchen().forget(10);
    for question in [question, "What was said ten minutes ago?", "What happened today?", "Where does Clara live?"] {
        let answer = kitchen.ask(question);
        assert!(
            !format!("{answer:?}").contains("Lisbon, ") && !format!("{:?}", answer.evidence).contains("Clara"),
            "{answer:?}"
        );
    }
}

#[test]
fn a_record_forgotten_after_the_snapshot_is_passed_over() {
    let mut kitchen = kitchen();
    kitchen.gone.insert(EventId(10));
    let answer = kitchen.ask("Who has a sister in Lisbon?");
    assert!(answer.evidence.iter().all(|item| !item.text.contains("Lisbon")), "{answer:?}");
}

#[test]
fn since_and_until_are_never_crossed() {
    let kitchen = kitchen();
    let bell = |since, until| {
        let query = Query { question: "When did the door bell ring?".into(), since, until, ..Query::default() };
        answer(&query, &kitchen).unwrap().evidence
    };
    assert!(bell(Some(time("20T08:30:00")), None).iter().all(|item| item.span.end >= time("20T08:30:00")));
    assert!(bell(None, Some(time("20T08:30:00"))).iter().all(|item| item.span.start <= time("20T08:30:00")));
    assert!(bell(Some(time("21T08:30:00")), None).is_empty());
    let swapped = Query {
        question: "What happened?".into(),
        since: Some(time("20T08:30:00")),
        until: Some(time("20T08:00:00")),
        ..Query::default()
    };
    assert!(matches!(answer(&swapped, &kitchen), Err(QueryError::Invalid(text)) if text.contains("swap")));
}

#[test]
fn now_may_be_told_with_the_question() {
    let kitchen = kitchen();
    let query = Query {
        question: "What did Anna say yesterday evening?".into(),
        now: Some(time("19T12:00:00")),
        ..Query::default()
    };
    let answer = answer(&query, &kitchen).unwrap();
    assert!(answer.answer.as_deref().unwrap().contains("blue bowl"), "{answer:?}");
    assert!(answer.evidence.iter().all(|item| item.span.start < time("19T00:00:00")));
}

#[test]
fn what_is_missing_is_named_where_it_matters() {
    let mut kitchen = kitchen();
    let role = |role: &str, modality| AbsentRole { role: role.into(), reason: "model not installed".into(), modality };
    kitchen.absent = vec![
        role("sound events", Some(Modality::Audio)),
        role("captions", Some(Modality::Visual)),
        role("text embedding", None),
    ];
    kitchen.pending = 4;
    let of = |question: &str| kitchen.ask(question).degraded;
    let (sound, captions) = ("sound events: model not installed", "captions: model not installed");
    let always = ["text embedding: model not installed", "text embedding: pending for 4 events"];
    assert_eq!(of("What colour was the mug?"), [&[captions][..], &always].concat());
    assert_eq!(of("What was heard?"), [&[sound][..], &always].concat());
    assert_eq!(of("Where are my keys?"), [&[sound, captions][..], &always].concat());
}

#[test]
fn a_failing_embedder_costs_meaning_and_not_the_answer() {
    let mut kitchen = kitchen().with_meaning();
    kitchen.embedder = Some(Box::new(Broken));
    let answer = kitchen.ask("Where are Anna's keys?");
    assert!(answer.answer.unwrap().contains("blue bowl"));
    assert_eq!(answer.degraded, ["text embedding: out of memory"]);
}

#[test]
fn a_spent_budget_ends_the_question() {
    let mut kitchen = kitchen();
    kitchen.clock.step = Duration::from_millis(10);
    let query = |milliseconds| Query {
        question: "Where are my keys?".into(),
        budget: Some(Duration::from_millis(milliseconds)),
        ..Query::default()
    };
    assert!(matches!(answer(&query(15), &kitchen), Err(QueryError::Deadline(_))));
    kitchen.clock.reads.store(0, Ordering::SeqCst);
    let answer = answer(&query(1_000), &kitchen).unwrap();
    assert_eq!(answer.elapsed.total, answer.elapsed.classify + answer.elapsed.retrieve + answer.elapsed.reason);
    assert!(answer.elapsed.total > Duration::ZERO);
}

#[test]
fn a_question_that_is_none_is_refused_with_what_to_change() {
    let kitchen = kitchen();
    let refused = |query: Query| match answer(&query, &kitchen) {
        Err(QueryError::Invalid(text)) => text,
        other => panic!("{other:?}"),
    };
    let ask = |question: &str| Query { question: question.into(), ..Query::default() };
    assert!(refused(ask("")).contains("empty"));
    assert!(refused(ask(" ?! ")).contains("empty"));
    assert!(refused(ask(&"why ".repeat(4_000))).contains("16000 bytes"));
    assert!(refused(Query { options: vec!["a".into(), " ".into()], ..ask("Which?") }).contains("option 1"));
    assert!(refused(Query { options: vec!["a".into(); 100], ..ask("Which?") }).contains("100 options"));
}

#[test]
fn the_trace_is_told_only_when_asked_for() {
    let kitchen = kitchen();
    let query = Query { question: "What was heard after the bell?".into(), trace: true, ..Query::default() };
    assert!(kitchen.ask(&query.question).trace.is_empty());
    let steps: Vec<String> = answer(&query, &kitchen).unwrap().trace.into_iter().map(|step| step.step).collect();
    assert!(steps.contains(&"cue".to_string()) && steps.contains(&"confidence".to_string()), "{steps:?}");
}

#[test]
fn an_empty_memory_says_so() {
    let mut kitchen = kitchen();
    kitchen.search = CompressedIndex::new(IndexOptions::default()).snapshot();
    for question in ["Where are my keys?", "What happened today?", "What was heard after the bell?", "What happened?"] {
        let answer = kitchen.ask(question);
        assert_eq!((answer.route, answer.answer, answer.evidence), (Route::None, None, vec![]), "{question}");
        assert!(answer.confidence < 0.05);
    }
}

#[test]
fn the_same_question_gets_the_same_answer() {
    let kitchen = kitchen().with_meaning();
    for question in ["Where are my keys?", "What was visible while Ben spoke?", "What happened this morning?"] {
        assert_eq!(kitchen.ask(question), kitchen.ask(question));
    }
}

proptest::proptest! {
    #[test]
    fn any_question_gets_an_answer_with_evidence_or_none(question in "[a-zA-Z0-9 ,.?']{1,60}") {
        let kitchen = kitchen();
        if let Ok(answer) = answer(&Query { question, ..Query::default() }, &kitchen) {
            proptest::prop_assert!(answer.answer.is_none() || !answer.evidence.is_empty());
            proptest::prop_assert!((0.0..=1.0).contains(&answer.confidence));
            proptest::prop_assert!(answer.evidence.iter().all(|item| (0.0..=1.0).contains(&item.score)));
            proptest::prop_assert!(answer.evidence.len() <= 5);
        }
    }
}
