//! What people say to each other: replies, causes that are found out later, what "it" is, whose something is.

use super::home::{Row, home};
use crate::Kind;

const NONE: [String; 0] = [];

#[test]
fn what_was_replied_answers_who_asks_the_same() {
    let rows: &[Row] = &[
        ("17T09:00:00", 0, Kind::Text, Some("Oda"), "Stellan comes on Sunday with little Balder."),
        ("17T09:01:00", 0, Kind::Text, Some("Rolf"), "What does Balder drink?"),
        ("17T09:02:00", 0, Kind::Text, Some("Oda"), "Only goat's milk."),
        ("17T10:00:00", 0, Kind::Text, Some("Tove"), "Is Ivo the keeper of the mill?"),
        ("17T10:01:00", 0, Kind::Text, Some("Oda"), "No, he keeps the lock."),
    ];
    let home = home(rows).with_meaning();
    let misses = home.misses(&[("What does Balder drink?", "goat"), ("Is Ivo the keeper of the mill?", "No")]);
    assert_eq!(misses, NONE);
}

#[test]
fn a_cause_is_what_was_found_out_later() {
    let rows: &[Row] = &[
        ("17T09:00:00", 0, Kind::Text, Some("Oda"), "The water pump has stopped."),
        ("17T09:30:00", 0, Kind::Caption, Some("Rolf"), "Rolf takes the water pump apart."),
        ("17T09:40:00", 0, Kind::Text, Some("Rolf"), "It was a pebble. It runs again."),
        ("17T11:00:00", 0, Kind::Text, Some("Tove"), "The oven stays cold."),
        ("17T12:00:00", 0, Kind::Caption, Some("Ivo"), "Ivo opens the back of the oven."),
        ("17T12:10:00", 0, Kind::Text, Some("Ivo"), "A cable was burnt. It is fine now."),
    ];
    let home = home(rows).with_meaning();
    let misses = home.misses(&[
        ("Why did the water pump stop?", "pebble"),
        ("What was wrong with the oven?", "cable"),
        ("How come the oven was cold?", "cable"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn it_is_what_was_spoken_of_right_before() {
    let rows: &[Row] = &[
        ("17T09:00:00", 0, Kind::Text, Some("Tove"), "Have you seen my sextant?"),
        ("17T09:01:00", 0, Kind::Text, Some("Oda"), "I have. I will post it on Sunday."),
        ("17T10:00:00", 0, Kind::Caption, Some("Ivo"), "Ivo gives Tove a pair of rust-red gaiters."),
        ("17T11:00:00", 0, Kind::Object, None, "A green kayak lies on the lawn."),
        ("17T11:10:00", 0, Kind::Text, Some("Oda"), "That is Rolf's kayak."),
        ("17T12:00:00", 0, Kind::Text, Some("Rolf"), "I have never once been airsick."),
        ("17T23:00:00", 0, Kind::Text, Some("Ivo"), "Stellan and I will sleep in the barn."),
    ];
    let home = home(rows).with_meaning();
    let misses = home.misses(&[
        ("When will Oda post the sextant?", "22 November"),
        ("What colour are Tove's gaiters?", "rust-red"),
        ("Who does the green kayak belong to?", "Rolf"),
        ("Did Rolf ever get airsick?", "No"),
        ("Where will Ivo sleep?", "barn"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn a_price_or_a_time_of_another_thing_is_none() {
    let rows: &[Row] = &[
        ("17T09:00:00", 0, Kind::Text, Some("Oda"), "The new anvil is ordered, forty euros, and it comes on Friday."),
        ("17T10:00:00", 0, Kind::Caption, Some("Rolf"), "Rolf adds barley to the porridge."),
    ];
    let home = home(rows).with_meaning();
    assert_eq!(home.misses(&[("What did the new anvil cost?", "forty")]), NONE);
    for question in ["What did the winch cost?", "When was turmeric added to the porridge?"] {
        assert_eq!(home.ask(question).answer, None, "{question}");
    }
}

#[test]
fn a_request_to_sum_up_is_not_about_who_is_asked() {
    let rows: &[Row] = &[
        ("17T08:00:00", 0, Kind::State, Some("robot"), "The robot is fully charged."),
        ("17T09:00:00", 0, Kind::Caption, Some("Oda"), "Oda repairs the winch."),
        ("17T10:00:00", 0, Kind::Caption, Some("Rolf"), "Rolf bakes rye bread."),
    ];
    let told = home(rows).ask("Can you sum up Tuesday morning for me?").answer.unwrap_or_default();
    assert!(told.contains("Oda repairs the winch."), "{told}");
}
