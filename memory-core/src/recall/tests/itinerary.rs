//! Questions about the places of a recording as a whole, from captions alone.

use super::home::{Home, Row, home};
use crate::Kind;

const NONE: [String; 0] = [];

/// Smithy, yard, smithy, loft, smithy: ten seconds each but for the loft, which has forty.
fn tour() -> Home {
    let rows: &[Row] = &[
        ("20T08:00:00", 10, Kind::Caption, None, "A narrow smithy with an anvil."),
        ("20T08:00:02", 5, Kind::Caption, None, "The smith puts the iron into the fire."),
        ("20T08:00:10", 10, Kind::Caption, None, "A yard with stacked crates, seen from the door."),
        ("20T08:00:12", 5, Kind::Caption, None, "A boy watches from the wall."),
        ("20T08:00:20", 10, Kind::Caption, None, "In the smithy two women shape nails."),
        ("20T08:00:30", 40, Kind::Caption, None, "A loft with sacks of flour."),
        ("20T08:00:50", 5, Kind::Caption, None, "A moth circles the lamp."),
        ("20T08:01:10", 10, Kind::Caption, None, "The smithy again, swept and empty."),
    ];
    home(rows)
}

#[test]
fn the_places_of_a_recording_are_told_by_their_order_and_their_time() {
    let misses = tour().misses(&[
        ("Where did your tour begin?", "smithy"),
        ("Where did the recording start and where did it end?", "In the narrow smithy"),
        ("Which place did you see last?", "smithy"),
        ("Where did you spend most of the time?", "In the loft, 40 seconds in all"),
        ("Which place did you come back to?", "The narrow smithy"),
        ("How many different places did you visit?", "3"),
        ("Which place came after the yard?", "smithy"),
        ("Which place came between the yard and the loft?", "The narrow smithy"),
        ("How often did you visit the smithy?", "3 times"),
        ("Did you visit the loft more than once?", "No: once"),
        ("Which places did you visit?", "The narrow smithy, the yard and the loft"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn a_question_about_what_happened_at_a_place_is_none_about_the_places() {
    let home = tour();
    for question in [
        "Where did the smith go first?",
        "Where did you see the moth?",
        "Where did the women shape the nails?",
        "How often did she go to the smithy?",
        "Did he come back to the smithy several times?",
    ] {
        let answer = home.ask(question);
        let of_visits = ["the first place", "the last place", "the visits to it"];
        assert!(!of_visits.contains(&answer.reason.as_str()), "{question} {answer:?}");
    }
}

#[test]
fn another_place_of_the_same_kind_is_another_place() {
    let rows: &[Row] = &[
        ("20T08:00:00", 10, Kind::Caption, None, "The deck of a barge with plastic seats."),
        ("20T08:00:10", 10, Kind::Caption, None, "A cabin with two bunks."),
        ("20T08:00:20", 10, Kind::Caption, None, "A car deck with wagons in two rows."),
        ("20T08:00:30", 10, Kind::Caption, None, "The deck with the plastic seats at dusk."),
    ];
    let misses = home(rows).misses(&[
        ("How many places did you see?", "3"),
        ("How often did you see the car deck?", "Once"),
        ("Which place did you return to?", "The deck of a barge"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn a_question_about_one_of_several_visits_is_about_its_time_only() {
    let rows: &[Row] = &[
        ("20T08:00:00", 10, Kind::Caption, None, "A weaving mill with a wooden loom."),
        ("20T08:00:02", 5, Kind::Caption, None, "A woman in a red gown ties a thread."),
        ("20T08:00:10", 10, Kind::Caption, None, "A yard with stacked crates."),
        ("20T08:00:20", 10, Kind::Caption, None, "The weaving mill again, at night."),
        ("20T08:00:22", 5, Kind::Caption, None, "A man in a green coat ties a thread."),
    ];
    let misses = home(rows).with_meaning().misses(&[
        ("Who tied a thread on the first visit to the mill?", "A woman"),
        ("Who tied a thread on the second visit to the mill?", "A man"),
        ("When you came back to the weaving mill, who tied a thread?", "A man"),
        ("Who tied a thread in the mill the first time it was shown?", "A woman"),
        ("How many visits did you pay to the loom?", "Twice"),
    ]);
    assert_eq!(misses, NONE);
}
