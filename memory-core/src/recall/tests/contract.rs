//! What holds for every question: bounds, forgetting, budgets, refusals, and what is said to be missing.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::home::{Broken, Home, Row, home, time};
use crate::index::{CompressedIndex, Index, IndexOptions};
use crate::recall::answer;
use crate::{AbsentRole, EventId, Kind, Modality, Query, QueryError, Route};

pub(super) const MORNING: &[Row] = &[
    ("18T19:05:00", 0, Kind::Text, Some("Mira"), "I put the torch in the top drawer."),
    ("20T08:00:00", 8, Kind::Object, None, "A ladder and a bucket are in view."),
    ("20T08:00:08", 8, Kind::Caption, None, "Jonas paints the fence green."),
    ("20T08:00:16", 2, Kind::Sound, None, "The gong sounds."),
    ("20T08:40:00", 2, Kind::Sound, None, "The gong sounds."),
    ("20T08:50:00", 0, Kind::Text, Some("Mira"), "My cousin Leena lives in Turku."),
];

fn ask(question: &str) -> Query {
    Query { question: question.into(), ..Query::default() }
}

#[test]
fn what_was_forgotten_never_appears() {
    let question = "Who has a cousin in Turku?";
    assert!(format!("{:?}", home(MORNING).ask(question).evidence).contains("Turku"));
    let forgot = home(MORNING).forget(6);
    for question in [question, "What was said ten minutes ago?", "What happened today?", "Where does Leena live?"] {
        assert!(!format!("{:?}", forgot.ask(question)).contains("Turku"), "{question}");
    }
    let mut raced = home(MORNING);
    raced.gone.insert(EventId(6));
    assert!(!format!("{:?}", raced.ask(question)).contains("Turku"), "forgotten after the snapshot");
}

#[test]
fn since_and_until_are_never_crossed() {
    let home = home(MORNING);
    let gong = |since, until| {
        let query = Query { since, until, ..ask("When did the gong sound?") };
        answer(&query, &home).unwrap().evidence
    };
    let noon = time("20T08:30:00");
    assert!(!gong(Some(noon), None).is_empty());
    assert!(gong(Some(noon), None).iter().all(|item| item.span.end >= noon));
    assert!(gong(None, Some(noon)).iter().all(|item| item.span.start <= noon));
    assert!(gong(Some(time("21T08:30:00")), None).is_empty());
    let swapped = Query { since: Some(noon), until: Some(time("20T08:00:00")), ..ask("What happened?") };
    assert!(matches!(answer(&swapped, &home), Err(QueryError::Invalid(text)) if text.contains("swap")));
}

#[test]
fn now_may_be_told_with_the_question() {
    let query = Query { now: Some(time("19T12:00:00")), ..ask("What did Mira say yesterday evening?") };
    let answer = answer(&query, &home(MORNING)).unwrap();
    assert!(answer.evidence.first().is_some_and(|item| item.text.contains("top drawer")), "{answer:?}");
    assert!(answer.evidence.iter().all(|item| item.span.start < time("19T00:00:00")), "{answer:?}");
}

#[test]
fn a_failing_embedder_costs_meaning_and_not_the_answer() {
    let mut home = home(MORNING).with_meaning();
    home.embedder = Some(Box::new(Broken));
    let answer = home.ask("Where is the torch?");
    assert!(answer.answer.is_some_and(|text| text.contains("top drawer")));
    assert_eq!(answer.degraded, ["text embedding: out of memory"]);
}

#[test]
fn a_spent_budget_ends_the_question() {
    let mut home = home(MORNING);
    home.clock.step = Duration::from_millis(10);
    let query =
        |milliseconds| Query { budget: Some(Duration::from_millis(milliseconds)), ..ask("Where is the torch?") };
    assert!(matches!(answer(&query(15), &home), Err(QueryError::Deadline(_))));
    home.clock.reads.store(0, Ordering::SeqCst);
    let answer = answer(&query(1_000), &home).unwrap();
    assert_eq!(answer.elapsed.total, answer.elapsed.classify + answer.elapsed.retrieve + answer.elapsed.reason);
    assert!(answer.elapsed.total > Duration::ZERO);
}

#[test]
fn a_question_that_is_none_is_refused_with_what_to_change() {
    let home = home(MORNING);
    let refused = |query: Query| match answer(&query, &home) {
        Err(QueryError::Invalid(text)) => text,
        other => panic!("{other:?}"),
    };
    assert!(refused(ask("")).contains("empty"));
    assert!(refused(ask(" ?! ")).contains("empty"));
    assert!(refused(ask(&"why ".repeat(4_000))).contains("16000 bytes"));
    assert!(refused(Query { options: vec!["a".into(), " ".into()], ..ask("Which?") }).contains("option 1"));
    assert!(refused(Query { options: vec!["a".into(); 100], ..ask("Which?") }).contains("100 options"));
}

#[test]
fn the_trace_is_told_only_when_asked_for() {
    let home = home(MORNING);
    let query = Query { trace: true, ..ask("What was heard after the gong sounded?") };
    assert!(home.ask(&query.question).trace.is_empty());
    let steps: Vec<String> = answer(&query, &home).unwrap().trace.into_iter().map(|step| step.step).collect();
    assert!(steps.contains(&"question".to_string()) && steps.contains(&"cue".to_string()), "{steps:?}");
}

#[test]
fn an_empty_memory_says_so() {
    let mut home = home(MORNING);
    home.search = CompressedIndex::new(IndexOptions::default()).snapshot();
    for question in [
        "Where is the torch?",
        "What happened today?",
        "What was heard after the gong?",
        "What happened?",
        "Is it broken?",
    ] {
        let answer = home.ask(question);
        assert_eq!((answer.route, answer.answer, answer.evidence), (Route::None, None, vec![]), "{question}");
        assert!(!answer.reason.is_empty(), "{question}");
    }
}

#[test]
fn the_same_question_gets_the_same_answer() {
    let home = home(MORNING).with_meaning();
    for question in ["Where is the torch?", "What was visible when the gong sounded?", "What happened this morning?"] {
        assert_eq!(home.ask(question), home.ask(question), "{question}");
    }
}

fn with_absent_roles() -> Home {
    let role = |role: &str, modality| AbsentRole { role: role.into(), reason: "model not installed".into(), modality };
    let mut home = home(MORNING);
    home.absent = vec![
        role("sound events", Some(Modality::Audio)),
        role("speech recognition", Some(Modality::Audio)),
        role("captions", Some(Modality::Visual)),
        role("faces", Some(Modality::Visual)),
        role("text embedding", None),
    ];
    home
}

#[test]
fn what_is_missing_is_named_where_it_matters() {
    let home = with_absent_roles();
    let named = |home: &Home, question: &str| -> Vec<String> {
        let degraded = home.ask(question).degraded;
        degraded.into_iter().map(|line| line.trim_end_matches(": model not installed").to_owned()).collect()
    };
    assert_eq!(named(&home, "Where is the torch?"), ["text embedding"], "what was told needs no senses");
    assert_eq!(named(&home, "Which colour was seen on the fence?"), ["captions", "text embedding"]);
    assert_eq!(named(&home, "Which sound was heard at 8:40?"), ["sound events", "text embedding"]);
    assert_eq!(named(&home, "Who was seen painting the fence?"), ["captions", "faces", "text embedding"]);
    assert_eq!(
        named(&home, "Which trumpet was heard?"),
        ["sound events", "text embedding"],
        "a sense may be why there is no answer"
    );
    let mut home = super::home::home(MORNING).with_meaning();
    home.pending = 4;
    assert_eq!(named(&home, "Where is the torch?"), ["text embedding: pending for 4 events"]);
}

#[test]
fn a_question_in_another_language_is_searched_by_its_words_and_says_so() {
    let rows: &[Row] = &[("18T19:05:00", 0, Kind::Text, Some("Mira"), "Die Taschenlampe liegt in der Schublade.")];
    let answer = home(rows).ask("Wo liegt die Taschenlampe?");
    assert!(answer.evidence.first().is_some_and(|item| item.text.contains("Schublade")), "{answer:?}");
    assert_eq!(answer.degraded, ["language: the question does not look English; searched by words and meaning only"]);
    assert!(home(rows).ask("Where is the torch?").degraded.is_empty());
}
