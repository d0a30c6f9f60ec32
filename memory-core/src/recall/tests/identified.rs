//! Persons whom captions describe and what was said names.

use super::home::{Row, home};
use crate::recall::deliberate;
use crate::{Kind, Query};

const NONE: [String; 0] = [];

const WORKSHOP: &[Row] = &[
    ("17T09:00:00", 0, Kind::Caption, None, "A tall man in a leather waistcoat planes a long oak board."),
    ("17T09:05:00", 0, Kind::Text, Some("Rolf"), "I'm planing the oak board for the new shelf."),
    ("17T11:00:00", 0, Kind::Text, Some("Tove"), "I'll whitewash the stable this morning."),
    ("17T11:20:00", 0, Kind::Caption, None, "A woman with a red shawl whitewashes the stable."),
    ("17T15:00:00", 0, Kind::Caption, None, "A girl with plaits and a boy in a yellow coat pick plums in the orchard."),
    ("17T15:01:00", 0, Kind::Text, Some("Runa"), "I'm picking plums in the orchard!"),
    ("17T15:02:00", 0, Kind::Text, Some("Oda"), "I'm picking plums in the orchard too!"),
    (
        "18T08:00:00",
        0,
        Kind::Caption,
        None,
        "The tall man in the leather waistcoat carries a crate of quinces into the cellar.",
    ),
    ("18T08:30:00", 0, Kind::Caption, None, "The woman with the red shawl rides a grey pony through the gate."),
    ("18T10:00:00", 0, Kind::Caption, None, "A ferryman leaves a letter at the gate."),
];

#[test]
fn who_is_described_is_known_by_what_they_said_of_their_deeds() {
    let misses = home(WORKSHOP).with_meaning().misses(&[
        ("What did Rolf carry into the cellar?", "crate of quinces"),
        ("Where did Rolf carry the quinces?", "cellar"),
        ("When did Tove ride the pony?", "18 November 2026 at 08:30"),
        ("Did Tove ride the pony?", "Yes: The woman with the red shawl rides"),
        ("Who carried the quinces into the cellar?", "probably Rolf"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn captions_are_shown_as_they_were_seen() {
    let answer = home(WORKSHOP).with_meaning().ask("What did Rolf carry into the cellar?");
    assert_eq!(
        answer.evidence[0].text,
        "The tall man in the leather waistcoat carries a crate of quinces into the cellar."
    );
    assert!(answer.reason.ends_with("the tall man in the leather waistcoat is probably Rolf"), "{}", answer.reason);
}

#[test]
fn nobody_is_identified_where_two_speak_of_the_same_deed() {
    let answer = home(WORKSHOP).with_meaning().ask("Who picked plums in the orchard?");
    assert!(!answer.answer.unwrap_or_default().contains("probably"), "{}", answer.reason);
}

#[test]
fn who_is_called_she_is_no_man() {
    let rows: &[Row] = &[
        ("17T09:00:00", 0, Kind::Text, Some("Rolf"), "Tove is back, she brought her accordion."),
        ("17T09:30:00", 0, Kind::Caption, None, "A man with a grey beard plays the accordion in the barn."),
        (
            "17T09:31:00",
            0,
            Kind::Text,
            Some("Tove"),
            "This accordion is out of tune, I'll play the harmonica in the barn.",
        ),
        ("18T09:30:00", 0, Kind::Caption, None, "The man with the grey beard mends a net on the jetty."),
    ];
    let answer = home(rows).with_meaning().ask("Who mended the net?");
    assert!(!answer.answer.unwrap_or_default().contains("Tove"), "{}", answer.reason);
}

#[test]
fn a_language_model_reads_whom_a_caption_probably_shows() {
    let query = Query { question: "What did Rolf carry into the cellar?".into(), ..Query::default() };
    let found = deliberate(&query, &home(WORKSHOP).with_meaning(), true).unwrap();
    let annotated = "The tall man in the leather waistcoat (probably Rolf) carries a crate of quinces into the cellar.";
    assert!(found.passages.iter().any(|passage| passage.text == annotated), "{:?}", found.passages);
    assert!(found.answer.evidence.iter().all(|item| !item.text.contains("probably")), "{:?}", found.answer.evidence);
}

#[test]
fn what_somebody_does_is_not_told_by_a_picture_of_somebody_else() {
    let answer = home(WORKSHOP).with_meaning().ask("What did Tove carry into the cellar?");
    assert!(!answer.answer.unwrap_or_default().contains("quinces"), "{}", answer.reason);
}
