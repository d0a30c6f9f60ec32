//! Persons whom captions describe and what was said names.

use super::home::{Row, home, time};
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

/// Who mended the net, where a man is seen with what Tove speaks of.
fn who_mended_the_net(told: &'static str) -> String {
    let rows: &[Row] = &[
        ("17T09:00:00", 0, Kind::Text, Some("Rolf"), told),
        ("17T09:30:00", 0, Kind::Caption, None, "A man with a grey beard plays the accordion in the barn."),
        (
            "17T09:31:00",
            0,
            Kind::Text,
            Some("Tove"),
            "This accordion is out of tune, I'll play another one in the barn.",
        ),
        ("18T09:30:00", 0, Kind::Caption, None, "The man with the grey beard mends a net on the jetty."),
    ];
    home(rows).with_meaning().ask("Who mended the net?").answer.unwrap_or_default()
}

#[test]
fn who_is_called_she_is_no_man() {
    assert!(who_mended_the_net("Tove is back at last, and he looks well.").contains("probably Tove"));
    let she = who_mended_the_net("Tove is back at last, and she looks well.");
    assert!(!she.contains("Tove"), "{she}");
}

#[test]
fn who_is_recognised_in_a_picture_is_known_by_the_look_afterwards() {
    let rows: &[Row] = &[
        ("17T09:00:00", 4, Kind::Entity, Some("Rolf"), "Rolf."),
        ("17T09:00:02", 5, Kind::Caption, None, "A tall man in a leather waistcoat opens the gate."),
        (
            "18T08:00:00",
            0,
            Kind::Caption,
            None,
            "The tall man in the leather waistcoat carries a crate into the cellar.",
        ),
    ];
    let misses = home(rows).with_meaning().misses(&[("Who carried the crate into the cellar?", "probably Rolf")]);
    assert_eq!(misses, NONE);
}

#[test]
fn who_tells_of_their_own_look_is_known_by_it() {
    let rows: &[Row] = &[
        ("17T09:00:00", 0, Kind::Text, Some("Runa"), "I've dyed my hair purple."),
        ("17T09:05:00", 0, Kind::Text, Some("Oda"), "I'm painting the gate purple."),
        ("19T08:00:00", 0, Kind::Caption, None, "A girl with purple hair climbs the ladder."),
    ];
    let misses = home(rows).with_meaning().misses(&[("Who climbed the ladder?", "probably Runa")]);
    assert_eq!(misses, NONE);
}

#[test]
fn what_was_told_outside_of_the_bounds_of_a_request_identifies_nobody() {
    let home = home(WORKSHOP).with_meaning();
    let since = |since: Option<&str>| {
        let question = "Who carried the quinces into the cellar?".into();
        let query = Query { question, since: since.map(time), ..Query::default() };
        deliberate(&query, &home, false).unwrap().answer.answer.unwrap_or_default()
    };
    assert!(since(None).contains("probably Rolf"));
    let later = since(Some("18T00:00:00"));
    assert!(later.contains("tall man") && !later.contains("Rolf"), "{later}");
}

#[test]
fn a_question_for_clothes_is_answered_by_the_description() {
    let rows: &[Row] = &[
        (
            "17T09:00:00",
            0,
            Kind::Caption,
            None,
            "A man with a plaited beard and a checked jersey screws a hook to the wall.",
        ),
        ("17T09:05:00", 0, Kind::Text, Some("Rolf"), "I've screwed the hook to the wall."),
    ];
    let misses = home(rows).with_meaning().misses(&[("What kind of jersey did Rolf wear?", "checked")]);
    assert_eq!(misses, NONE);
}

#[test]
fn a_language_model_reads_whom_a_caption_probably_shows() {
    let query = Query { question: "What did Rolf carry into the cellar?".into(), ..Query::default() };
    let found = deliberate(&query, &home(WORKSHOP).with_meaning(), true).unwrap();
    let annotated = "The tall man in the leather waistcoat (probably Rolf) carries a crate of quinces into the cellar.";
    assert!(found.passages.iter().any(|passage| passage.text == annotated), "{:?}", found.passages);
    assert!(found.answer.evidence.iter().all(|item| !item.text.contains("probably")), "{:?}", found.answer.evidence);
}
