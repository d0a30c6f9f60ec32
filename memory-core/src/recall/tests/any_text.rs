//! No text stops recall: every question gets an answer or a clear refusal, and every event can be read.

use proptest::prelude::*;

use super::home::{Home, Row, home};
use crate::language::english::question::parse_question;
use crate::language::english::syntax::parse;
use crate::limits::MAX_QUESTION_BYTES;
use crate::recall::answer;
use crate::recall::reading::ParsedEvent;
use crate::{Kind, Query, QueryError, Turn};

const EVENTS: &[Row] = &[
    ("18T19:05:00", 0, Kind::Text, Some("Mira"), "I put the torch in the top drawer."),
    ("20T08:00:08", 8, Kind::Caption, None, "Jonas paints the fence green."),
    ("20T08:00:16", 2, Kind::Sound, None, "The gong sounds."),
    ("20T08:50:00", 0, Kind::Text, Some("Mira"), "The parcel comes on Friday at 14:30 and weighs 4 kg."),
];

/// Words of grammar, time and number in any order, with marks between them.
fn grammar() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "who",
        "what",
        "which",
        "whose",
        "where",
        "when",
        "how",
        "many",
        "much",
        "often",
        "long",
        "is",
        "was",
        "did",
        "does",
        "has",
        "had",
        "been",
        "will",
        "can",
        "the",
        "a",
        "of",
        "or",
        "and",
        "not",
        "no",
        "after",
        "before",
        "right",
        "while",
        "during",
        "as",
        "soon",
        "until",
        "since",
        "by",
        "at",
        "on",
        "in",
        "between",
        "from",
        "to",
        "ago",
        "last",
        "first",
        "next",
        "most",
        "least",
        "longest",
        "else",
        "other",
        "it",
        "she",
        "there",
        "you",
        "my",
        "torch",
        "gong",
        "fence",
        "Mira",
        "yesterday",
        "Friday",
        "8:40",
        "14:30:05",
        "3",
        "2026",
        "two",
        "minutes",
        "kg",
        "usually",
        "these",
        "following",
        "'s",
        "n't",
        ",",
        ",",
        "?",
        ".",
        ":",
        ";",
        "\"",
        "“",
        "”",
        "-",
        "…",
        "(",
    ]);
    let gap = prop::sample::select(vec![" ", " ", " ", "", "\n"]);
    prop::collection::vec((words, gap), 0..40)
        .prop_map(|parts| parts.into_iter().flat_map(|(word, gap)| [word, gap]).collect())
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![grammar(), "\\PC{0,80}", prop::collection::vec(any::<char>(), 0..60).prop_map(String::from_iter)]
}

/// Reads a text in every way that recall does and asks it.
fn ask(home: &Home, text: &str, options: Vec<String>) -> Result<(), TestCaseError> {
    drop(parse_question(text, &[]));
    drop(parse(text, &[]));
    let mut event = home.events[0].clone();
    event.text = text.to_owned();
    let reading = ParsedEvent::parse(event, crate::recall::Reader::zone(home));
    drop((reading.places(), reading.quantities()));
    match answer(&Query { question: text.to_owned(), options, trace: true, ..Query::default() }, home) {
        Ok(answer) => {
            prop_assert!(answer.answer.is_none() || !answer.evidence.is_empty(), "{answer:?}");
            prop_assert!((0.0..=1.0).contains(&answer.confidence), "{answer:?}");
            prop_assert!(answer.evidence.len() <= 5);
            prop_assert!(!answer.reason.is_empty());
        }
        Err(QueryError::Invalid(reason)) => prop_assert!(!reason.is_empty()),
        Err(other) => prop_assert!(false, "{other:?}"),
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn any_question_gets_an_answer_or_a_refusal(text in any_text()) {
        ask(&home(EVENTS), &text, Vec::new())?;
    }

    #[test]
    fn any_options_are_compared(text in grammar(), options in prop::collection::vec(any_text(), 2..4)) {
        ask(&home(EVENTS), &text, options)?;
    }

    #[test]
    fn any_question_goes_on_from_any_other(question in any_text(), before in any_text(), answer in any_text()) {
        for answer in [None, Some(answer)] {
            let turn = Turn { question: before.clone(), answer };
            if let Some(complete) = turn.completed(&question) {
                prop_assert!(complete.len() <= MAX_QUESTION_BYTES, "{complete}");
                prop_assert_ne!(complete, question.clone());
            }
        }
    }

    #[test]
    fn any_event_can_be_asked_about(told in any_text()) {
        let mut home = home(EVENTS);
        for event in &mut home.events {
            event.text.push_str(&told);
        }
        let questions = [
            "Where is the torch?",
            "Is the fence green?",
            "When does the parcel come?",
            "What happened on 20 November?",
            "What did Mira do?",
        ];
        for question in questions {
            ask(&home, question, Vec::new())?;
        }
    }
}

#[test]
fn a_time_phrase_before_a_comma_and_a_clause_is_no_panic() {
    let home = home(EVENTS);
    for question in [
        "Yesterday at 10:30, when did the gong sound?",
        "Between 8:00 and 8:10 on 20 November 2026, after the gong sounded, what was seen?",
        "On Friday, before, when?",
        ", when did it sound",
        ", after",
        "after, what?",
        "when, when, when",
        "of and, which",
        "or",
        "Which was first, or?",
        "\"\"",
    ] {
        ask(&home, question, Vec::new()).unwrap();
    }
}

#[test]
fn eight_kibibytes_are_read_and_more_are_refused() {
    let home = home(EVENTS);
    for piece in
        ["when the gong, ", "who or what and ", "é, ", "((((", "a of a of ", "Mira's Mira's ", "1:1:1 and 2 to 3, "]
    {
        let long = piece.repeat(8 * 1024 / piece.len());
        ask(&home, &long, Vec::new()).unwrap();
    }
    let too_long = "a".repeat(8 * 1024 + 1);
    assert!(matches!(answer(&Query { question: too_long, ..Query::default() }, &home), Err(QueryError::Invalid(_))));
}

/// A target of fuzzing.
#[test]
fn fuzz_questions() {
    let words = [
        "who",
        "what",
        "which",
        "where",
        "when",
        "how many",
        "how long",
        "is",
        "was",
        "did",
        "the",
        "of",
        "or",
        "not",
        "after",
        "before",
        "while",
        "until",
        "since",
        "between",
        "ago",
        "last",
        "first",
        "most",
        "it",
        "you",
        "torch",
        "gong",
        "fence",
        "Mira",
        "yesterday",
        "Friday",
        "14:30",
        "3",
        "two minutes",
        "'s",
        "\"",
        "(",
        "{",
        "\u{202e}",
        "\0",
        "é",
        "東",
        "1e309",
        "-1",
        "a b c d",
        "summarise",
        "today",
        "step",
        "if",
        "why",
    ];
    let home = home(EVENTS);
    fuzzing::fuzz("questions", 400, |random| {
        let text = random.words(&words, 24);
        let options = (0..random.below(4)).map(|_| random.words(&words, 6)).collect();
        ask(&home, &text, options).unwrap();
    });
}
