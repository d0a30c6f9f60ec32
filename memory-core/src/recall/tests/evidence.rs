//! In which order the evidence of an answer is shown.

use super::home::{Row, home};
use crate::recall::answer;
use crate::{Kind, Query};

/// The texts of the evidence for a question, of which at most `top_k` items are shown.
fn shown(rows: &[Row], question: &str, top_k: usize) -> Vec<String> {
    let query = Query { question: question.into(), top_k, ..Query::default() };
    let answer = answer(&query, &home(rows).with_meaning()).unwrap();
    answer.evidence.into_iter().map(|item| item.text).collect()
}

/// The place of the first item that holds a word.
fn place(shown: &[String], word: &str) -> Option<usize> {
    shown.iter().position(|text| text.contains(word))
}

const SAIL: &[Row] = &[
    ("16T09:00:00", 0, Kind::Text, Some("Oda"), "What did Rolf sew for the regatta?"),
    ("16T09:01:00", 0, Kind::Text, Some("Rolf"), "I have sewn a red sail for the regatta."),
    ("16T15:00:00", 0, Kind::Text, Some("Tove"), "The harbour is full of boats."),
    ("17T09:00:00", 0, Kind::Text, Some("Ivo"), "Did Rolf sew anything?"),
    ("17T18:00:00", 0, Kind::Text, Some("Rolf"), "The wind was too strong today."),
];

#[test]
fn who_only_asks_comes_behind_who_tells() {
    let shown = shown(SAIL, "What did Rolf sew for the regatta?", 5);
    assert_eq!(place(&shown, "red sail"), Some(0), "{shown:?}");
    assert!(place(&shown, "Did Rolf sew") > Some(0), "{shown:?}");
}

#[test]
fn of_a_state_what_was_told_last_comes_first() {
    let rows: &[Row] = &[
        (
            "16T09:00:00",
            0,
            Kind::Text,
            Some("Oda"),
            "The brass lantern of the old boat is in the cellar, the lantern that Rolf found.",
        ),
        ("16T12:00:00", 0, Kind::Text, Some("Tove"), "Supper is at seven."),
        ("17T09:00:00", 0, Kind::Text, Some("Rolf"), "I put the brass lantern in the barn."),
        ("17T12:00:00", 0, Kind::Text, Some("Oda"), "The geese are loud."),
    ];
    let shown = shown(rows, "Where is the brass lantern?", 5);
    assert_eq!(place(&shown, "in the barn"), Some(0), "{shown:?}");
    assert!(place(&shown, "in the cellar").is_some(), "{shown:?}");
}

#[test]
fn what_the_answer_was_taken_from_is_among_the_first_two_and_never_left_out() {
    let rows: &[Row] = &[
        (
            "14T09:00:00",
            0,
            Kind::Text,
            Some("Tove"),
            "Stellan drives to the quarry with his uncle on Tuesdays, he drives there with the cart.",
        ),
        ("14T09:10:00", 0, Kind::Text, Some("Oda"), "Stellan likes the quarry."),
        ("15T09:00:00", 0, Kind::Text, Some("Rolf"), "I saw Stellan drive the cart to the quarry."),
        ("16T09:00:00", 0, Kind::Text, Some("Oda"), "Stellan took Balder along to the quarry."),
        ("17T09:00:00", 0, Kind::Text, Some("Ivo"), "The quarry is closed."),
    ];
    let home = home(rows).with_meaning();
    for question in ["Who drives to the quarry?", "Where did Stellan take Balder?", "When did Rolf see Stellan?"] {
        let all = home.ask(question);
        let first = |top_k| {
            let query = Query { question: question.into(), top_k, ..Query::default() };
            answer(&query, &home).unwrap().evidence.into_iter().next().map(|item| item.event)
        };
        assert!(all.answer.is_some(), "{question}");
        let nearest: Vec<_> = all.evidence.iter().take(2).map(|item| item.event).collect();
        assert!(first(1).is_some_and(|event| nearest.contains(&event)), "{question}: {nearest:?}");
    }
}
