//! What has to be bought, as it was told last.

use super::home::{Row, home};
use crate::Kind;

const NONE: [String; 0] = [];

const TOLD: &[Row] = &[
    ("16T07:00:00", 0, Kind::Text, Some("Tove"), "We need rice, flour and soap."),
    ("16T17:00:00", 0, Kind::Text, Some("Rolf"), "They had no flour. I got everything else."),
    ("17T08:00:00", 0, Kind::Text, Some("Tove"), "We've run out of honey."),
    ("17T08:05:00", 0, Kind::Text, Some("Tove"), "Rolf, please buy a new bucket."),
    ("17T08:10:00", 0, Kind::Text, Some("Tove"), "Someone should get some string."),
    ("18T08:00:00", 0, Kind::Text, Some("Rolf"), "There is no vinegar left."),
    ("18T09:00:00", 0, Kind::Text, Some("Oda"), "The soap is finished."),
    ("18T10:00:00", 0, Kind::Text, Some("Oda"), "Runa needs six benches. She had no gloves."),
    ("18T10:05:00", 0, Kind::Text, Some("Oda"), "There is no school tomorrow, and we need a break."),
    ("19T16:00:00", 0, Kind::Text, Some("Rolf"), "I bought honey and a bucket."),
];

#[test]
fn what_is_needed_is_what_has_not_been_brought_since() {
    let home = home(TOLD).with_meaning();
    for question in [
        "What do we need to buy?",
        "What do we still need?",
        "What should I get from the shop?",
        "What are we out of?",
        "What have we run out of?",
    ] {
        let answer = home.ask(question);
        let needed = Some("Flour, string, vinegar and soap");
        assert_eq!(answer.answer.as_deref(), needed, "{question}: {}", answer.reason);
    }
}

#[test]
fn a_thing_is_needed_until_somebody_brings_it() {
    let home = home(TOLD).with_meaning();
    let misses = home.misses(&[
        ("Do we still need flour?", "Yes: Rolf: They had no flour"),
        ("Do we need honey?", "No: Rolf: I bought honey"),
        ("Are we out of vinegar?", "Yes: Rolf: There is no vinegar"),
        ("Do I need to buy a bucket?", "No: Rolf: I bought honey and a bucket"),
        ("Do we have any honey?", "Yes: Rolf: I bought honey"),
        ("Is there any vinegar left?", "No: Rolf: There is no vinegar"),
    ]);
    assert_eq!(misses, NONE);
    let rest = &[("16T17:00:00", 0, Kind::Text, Some("Rolf"), "They had no flour. I got everything else.")];
    let answer = self::home(rest).with_meaning().ask("What do we need to buy?");
    assert_eq!(answer.answer.as_deref(), Some("Flour"), "{}", answer.reason);
    let all = &[TOLD[2], ("19T16:00:00", 0, Kind::Text, Some("Rolf"), "I bought honey.")];
    let answer = self::home(all).with_meaning().ask("What do we need to buy?");
    assert_eq!(answer.answer.as_deref(), Some("Nothing any more: Rolf: I bought honey."), "{}", answer.reason);
}

#[test]
fn what_had_run_out_and_was_fetched_is_there() {
    let rows: &[Row] = &[
        ("18T08:00:00", 0, Kind::Text, Some("Rolf"), "We're out of salt, Tove, could you get some?"),
        ("19T08:00:00", 0, Kind::Text, Some("Tove"), "I got two bags of salt as well."),
    ];
    let misses = home(&rows[..1]).with_meaning().misses(&[("Is there any salt in the house?", "No: Rolf: We're out")]);
    assert!(misses.is_empty(), "{misses:?}");
    let misses = home(rows).with_meaning().misses(&[("Is there any salt in the house?", "Yes: Tove: I got two")]);
    assert!(misses.is_empty(), "{misses:?}");
}
