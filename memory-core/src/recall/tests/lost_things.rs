//! Whether what somebody missed was found, by whom, and for which of several things something holds.

use super::home::{Row, home};
use crate::Kind;

const NONE: [String; 0] = [];

const MISSED: &[Row] = &[
    ("17T08:00:00", 0, Kind::Text, Some("Tove"), "I can't find my boots anywhere, the yellow ones."),
    (
        "17T12:00:00",
        0,
        Kind::Caption,
        None,
        "Runa lifts a pair of yellow boots out of the sledge and lays them on the stove.",
    ),
    ("18T08:00:00", 0, Kind::Text, Some("Rolf"), "I've lost my whistle, has anybody seen it?"),
    ("18T09:00:00", 0, Kind::Text, Some("Rolf"), "Still no sign of the whistle."),
    ("18T10:00:00", 0, Kind::Text, Some("Oda"), "My compass has gone missing."),
    ("19T09:00:00", 0, Kind::Text, Some("Oda"), "Found it! It was in the rucksack all the time."),
];

#[test]
fn what_was_missed_is_found_by_whoever_shows_it_or_says_so() {
    let misses = home(MISSED).with_meaning().misses(&[
        ("Did Tove's boots ever turn up?", "Yes: Runa lifts"),
        ("Has anyone found the boots?", "Yes: Runa lifts"),
        ("Are the missing boots still missing?", "No: Runa lifts"),
        ("Who found the boots?", "Runa"),
        ("Has the whistle been found yet?", "No: Rolf: Still no sign"),
        ("Is the whistle still missing?", "Yes: Rolf: Still no sign"),
        ("Did Oda find her compass?", "Yes: Oda: Found it"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn of_what_is_offered_it_is_what_it_holds_for_or_what_is_left() {
    let rows: &[Row] = &[
        ("18T08:00:00", 0, Kind::Text, Some("Tove"), "The bench still hasn't come, they say Monday now."),
        ("18T09:00:00", 0, Kind::Text, Some("Rolf"), "The lantern's here, I've put it in the hall."),
        ("19T10:00:00", 0, Kind::Text, Some("Oda"), "The pump is broken again, it doesn't draw."),
        ("19T13:00:00", 0, Kind::Text, Some("Oda"), "The winch works again, Rolf mended it."),
    ];
    let misses = home(rows).with_meaning().misses(&[
        ("Which has arrived, the bench or the lantern?", "The lantern"),
        ("Which of the two is still broken, the winch or the pump?", "The pump"),
    ]);
    assert_eq!(misses, NONE);
}
