//! What was taken back since is no answer to how things are.

use super::home::{Row, home};
use crate::Kind;

const NONE: [String; 0] = [];

const TALK: &[Row] = &[
    ("18T10:00:00", 0, Kind::Text, Some("Tove"), "The garage remote is in the blue vase."),
    ("18T10:10:00", 0, Kind::Text, Some("Jonas"), "The new filter has to be size 12."),
    ("18T10:20:00", 0, Kind::Text, Some("Jonas"), "My welding lesson is on Saturday at ten."),
    ("18T10:30:00", 0, Kind::Text, Some("Tove"), "On Sunday we sail to the island, at eight in the morning."),
    ("18T10:40:00", 0, Kind::Text, Some("Jonas"), "The torch is in the cellar."),
    ("18T11:00:00", 0, Kind::Text, Some("Ivo"), "I left the drill in the attic."),
    ("19T09:00:00", 0, Kind::Text, Some("Tove"), "I was wrong about the garage remote. My brother has it."),
    ("19T09:10:00", 0, Kind::Text, Some("Jonas"), "I measured again: the filter is size 14, not 12."),
    ("19T09:20:00", 0, Kind::Text, Some("Jonas"), "The welding lesson starts an hour later now, at eleven."),
    (
        "19T09:30:00",
        0,
        Kind::Text,
        Some("Tove"),
        "They have called the trip to the island off, so we are not sailing on Sunday.",
    ),
    ("19T09:40:00", 0, Kind::Text, Some("Ivo"), "The drill wasn't in the attic at all. It was under the bench."),
];

#[test]
fn what_a_later_statement_corrects_is_no_answer() {
    let misses = home(TALK).misses(&[
        ("Where is the garage remote?", "brother"),
        ("Which size must the new filter be?", "14"),
        ("Where is the drill?", "under the bench"),
        ("Where is the torch?", "cellar"),
        ("Is the garage remote in the blue vase?", "No"),
        ("Does the welding lesson start at ten?", "No"),
        ("What has changed about the welding lesson?", "an hour later"),
        ("What has become of the trip to the island?", "called the trip to the island off"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn what_was_said_first_is_still_told_and_what_was_taken_back_is_shown_with_its_correction() {
    let home = home(TALK);
    let misses = home.misses(&[("Where was the garage remote before?", "vase")]);
    assert_eq!(misses, NONE);
    let answer = home.ask("Where is the garage remote?");
    let shown: Vec<u64> = answer.evidence.iter().map(|item| item.event.0).collect();
    assert_eq!(shown[..2], [7, 1], "{answer:?}");
}

#[test]
fn nothing_is_taken_back_by_what_only_sounds_like_it() {
    let rows: &[Row] = &[
        ("18T10:00:00", 0, Kind::Text, Some("Tove"), "Jonas plays the oboe in the town band."),
        ("18T10:10:00", 0, Kind::Text, Some("Jonas"), "We won the final of the curling cup last week."),
        ("18T10:20:00", 0, Kind::Text, Some("Ivo"), "The ladder is in the yard."),
        ("19T09:00:00", 0, Kind::Text, Some("Tove"), "I was wrong about the weather. Jonas was right."),
        ("19T09:10:00", 0, Kind::Text, Some("Jonas"), "I didn't reach the final of the other cup."),
        ("19T09:20:00", 0, Kind::Text, Some("Ivo"), "No, I didn't. The ladder is not heavy."),
    ];
    let misses = home(rows).misses(&[
        ("What does Jonas play?", "oboe"),
        ("Where is the ladder?", "yard"),
        ("What did Jonas win?", "curling cup"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn forgetting_a_correction_brings_back_what_it_corrected() {
    let forgotten = home(TALK).forget(7);
    assert_eq!(forgotten.misses(&[("Where is the garage remote?", "blue vase")]), NONE);
}

#[test]
fn speakers_who_correct_themselves_at_once_need_not_name_the_subject_again() {
    let rows: &[Row] = &[
        ("18T10:00:00", 0, Kind::Text, Some("Tove"), "The regatta starts at a quarter past four on Saturday."),
        ("18T10:01:00", 0, Kind::Text, Some("Tove"), "No, hang on, I'm looking at the card now. Quarter to five."),
        ("18T11:00:00", 0, Kind::Text, Some("Ivo"), "The sledge costs twelve euros."),
        ("18T11:01:00", 0, Kind::Text, Some("Jonas"), "No, hang on, the kiosk takes nineteen euros."),
    ];
    let misses = home(rows)
        .misses(&[("When does the regatta start on Saturday?", "16:45"), ("How much does the sledge cost?", "twelve")]);
    assert_eq!(misses, NONE);
}

#[test]
fn a_value_that_its_speaker_denies_later_is_taken_back_without_naming_the_subject_again() {
    let rows: &[Row] = &[
        ("18T10:00:00", 0, Kind::Text, Some("Tove"), "The regatta starts at the old mill on Saturday at six."),
        ("18T10:10:00", 0, Kind::Text, Some("Jonas"), "I'll buy the paddle tomorrow, it's forty-two euros."),
        ("18T10:20:00", 0, Kind::Text, Some("Ivo"), "The niece of the miller comes on Saturday."),
        (
            "18T14:00:00",
            0,
            Kind::Text,
            Some("Tove"),
            "I misread the poster. It's on Sunday, at seven, not on Saturday.",
        ),
        ("19T10:00:00", 0, Kind::Text, Some("Jonas"), "The paddle was thirty-eight euros, not forty-two as I said."),
        ("19T10:10:00", 0, Kind::Text, Some("Ivo"), "As for the eels: not Saturday, the nets are torn. On Sunday."),
    ];
    let misses = home(rows).misses(&[
        ("When does the regatta start?", "22 November"),
        ("How much did the paddle cost in the end?", "thirty-eight"),
        ("When does the niece of the miller come?", "Tomorrow"),
        ("Isn't the regatta on Saturday?", "No"),
    ]);
    assert_eq!(misses, NONE);
}
