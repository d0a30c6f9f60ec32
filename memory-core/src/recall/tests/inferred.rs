//! Answers that follow from what was done: who broke it, how many are missing, which of two it is, and two answers at once.

use super::home::{Row, home};
use crate::Kind;

const NONE: [String; 0] = [];

const ROWS: &[Row] = &[
    ("16T08:00:00", 0, Kind::Text, Some("Tove"), "We ordered forty slates, and only twelve came."),
    (
        "16T09:00:00",
        0,
        Kind::Text,
        Some("Oda"),
        "That was Gudrun's blue jug. I knocked it off the shelf with my rucksack.",
    ),
    ("16T12:00:00", 0, Kind::Text, Some("Gudrun"), "I've glued my jug together again."),
    ("17T08:00:00", 0, Kind::Text, Some("Gudrun"), "My log book's in the chest behind the stove."),
    ("17T09:00:00", 0, Kind::Caption, None, "Rolf ties a yellow ribbon around a white drum."),
    ("17T10:00:00", 0, Kind::Text, Some("Rolf"), "Skadi the old husky has hurt her left ankle."),
    ("18T08:00:00", 0, Kind::Text, Some("Gudrun"), "My log book's upstairs in my desk now."),
    ("18T09:00:00", 0, Kind::Caption, None, "Oda hangs a wet coat on the line."),
    ("18T10:00:00", 0, Kind::Text, Some("Tove"), "Who's left the hatch open again? I've shut it now."),
    ("18T11:00:00", 0, Kind::Text, Some("Rolf"), "I carried the ladder into the barn because of the storm."),
    (
        "18T12:00:00",
        0,
        Kind::Text,
        Some("Tove"),
        "The glazier was meant to come today, but he's put it off till Monday.",
    ),
    ("18T13:00:00", 0, Kind::Text, Some("Rolf"), "Tove hid the key to the boat house in the kettle."),
];

#[test]
fn whoever_knocked_a_thing_off_the_shelf_broke_it() {
    let misses =
        home(ROWS).with_meaning().misses(&[("Who broke the jug?", "Oda"), ("Who smashed it, the blue jug?", "Oda")]);
    assert_eq!(misses, NONE);
}

#[test]
fn what_was_ordered_and_did_not_come_is_missing() {
    let misses = home(ROWS)
        .with_meaning()
        .misses(&[("How many slates are missing?", "28"), ("How many slates are we still waiting for?", "28")]);
    assert_eq!(misses, NONE);
}

#[test]
fn a_question_of_two_words_is_answered_with_the_one_that_is_told() {
    let misses = home(ROWS).with_meaning().misses(&[
        ("Skadi, cat or dog?", "dog"),
        ("Left ankle or right ankle?", "Left ankle"),
        ("Left ankle or right?", "Left ankle"),
        ("What colour is the ribbon?", "Yellow"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn a_thing_is_where_whoever_owns_it_says_by_any_name_and_was_elsewhere_before() {
    let misses = home(ROWS).with_meaning().misses(&[
        ("Where is Granny Gudrun's log book?", "In Gudrun's desk"),
        ("Where was the log book before that?", "In the chest behind the stove"),
        ("Where is the key to the boat house?", "In the kettle"),
        ("Where's the ladder?", "In the barn"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn whoever_was_meant_to_come_and_put_it_off_has_not_come() {
    let answer = home(ROWS).with_meaning().ask("Has the glazier been yet?");
    assert!(!answer.answer.clone().unwrap_or_default().starts_with("Yes"), "{answer:?}");
}

#[test]
fn two_questions_at_once_are_both_answered() {
    let home = home(ROWS).with_meaning();
    let answer = home.ask("Who carried the ladder, and where is it?");
    assert_eq!(answer.answer.as_deref(), Some("Rolf; In the barn"), "{}", answer.reason);
    assert!(answer.reason.starts_with("two questions"), "{}", answer.reason);
    // Each is evidence once.
    let events: std::collections::BTreeSet<_> = answer.evidence.iter().map(|item| item.event).collect();
    assert_eq!(events.len(), answer.evidence.len());
    // If one of them has no answer, the question is asked as a whole.
    let whole = home.ask("Who carried the ladder, and how much did it cost?");
    assert!(!whole.reason.starts_with("two questions"), "{}", whole.reason);
}

#[test]
fn what_is_offered_without_a_question_word_is_chosen_from() {
    let misses = home(ROWS).with_meaning().misses(&[
        ("Did Rolf tie the ribbon in the morning or the evening?", "in the morning"),
        ("Was it the hatch or the barn door that Tove shut?", "the hatch"),
    ]);
    assert_eq!(misses, NONE);
}
