//! Spoken language: who corrects themselves, names a day by the day on which they speak, or says what a noise was.

use std::sync::Arc;

use super::extraction::Marks;
use super::home::{Row, home};
use crate::Kind;
use crate::ports::AnswerForm;

const NONE: [String; 0] = [];

const ROWS: &[Row] = &[
    ("17T08:00:00", 0, Kind::Text, Some("Rolf"), "I've ordered a new mast and it should be here on Thursday."),
    ("17T09:00:00", 0, Kind::Text, Some("Oda"), "I'd like you on two yellow pills a day from now on, Odin."),
    ("18T08:00:00", 0, Kind::Text, Some("Rolf"), "That's twenty crates up. No, hang on, thirty, I forgot a row."),
    ("18T09:00:00", 0, Kind::Text, Some("Tove"), "The farrier comes tomorrow."),
    ("18T15:00:00", 0, Kind::Text, Some("Tove"), "The mast's turned up a day early!"),
    ("19T09:00:00", 0, Kind::Text, Some("Runa"), "I've brought the copper kettle back, but the spout is leaking."),
    ("19T10:00:00", 0, Kind::Sound, None, "fire alarm"),
    ("19T10:02:00", 0, Kind::Text, Some("Oda"), "Sorry, it's only my pancake, nothing is on fire."),
    ("19T11:00:00", 0, Kind::Caption, None, "The otter lies on the doormat with a ribbon on its tail."),
    ("19T18:00:00", 0, Kind::Text, Some("Oda"), "Rolf, I picked your gloves up by mistake. They're in the trunk."),
    ("19T19:00:00", 0, Kind::Text, Some("Tove"), "The roofer comes on Monday at two."),
];

fn read(question: &str, sentence: &'static str, words: &'static str) -> String {
    let marks = Marks { sentence, words, form: AnswerForm::Words, read: Arc::default() };
    let answer = home(ROWS).with_meaning().with_reader(marks).ask(question);
    format!("{} ({})", answer.answer.unwrap_or_default(), answer.reason)
}

#[test]
fn whoever_corrects_themselves_means_the_later_number() {
    let said = read("How many crates did Rolf stack?", "twenty crates", "twenty");
    assert!(said.starts_with("Thirty ("), "{said}");
}

#[test]
fn a_day_is_named_as_it_is_called_now() {
    let said = read("When did the farrier come?", "farrier", "tomorrow");
    assert!(said.starts_with("On 19 November 2026 ("), "{said}");
}

#[test]
fn where_another_thing_is_does_not_answer() {
    let said = read("Where is the oboe?", "your gloves", "in the trunk");
    assert!(!said.contains("trunk"), "{said}");
}

#[test]
fn a_frequency_is_told_whole() {
    let said = read("How often is Odin supposed to take the pills?", "two yellow pills", "a day");
    assert!(said.starts_with("Two yellow pills a day ("), "{said}");
}

#[test]
fn what_came_is_told_before_what_was_announced() {
    let misses = home(ROWS).with_meaning().misses(&[
        ("Which day did the new mast get here?", "18 November 2026 at 15:00"),
        ("Why did the fire alarm go off?", "it's only my pancake"),
        ("Where is the otter?", "On the doormat"),
        ("Is the copper kettle fixed yet?", "No: Runa: I've brought the copper kettle back"),
        ("When is the roofer coming?", "Monday 23 November at 14:00"),
    ]);
    assert_eq!(misses, NONE);
}
