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
    ("18T08:30:00", 0, Kind::Text, Some("Oda"), "I need sixteen, make that eighteen eggs for the cake."),
    ("18T09:00:00", 0, Kind::Text, Some("Tove"), "The farrier comes tomorrow."),
    ("18T15:00:00", 0, Kind::Text, Some("Tove"), "The mast's turned up a day early!"),
    ("19T09:00:00", 0, Kind::Text, Some("Runa"), "I've brought the copper kettle back, but the spout is leaking."),
    ("19T10:00:00", 0, Kind::Sound, None, "smoke alarm"),
    ("19T10:02:00", 0, Kind::Text, Some("Oda"), "Sorry, it's only my pancake, nothing is burning."),
    ("19T11:00:00", 0, Kind::Caption, None, "The otter lies on the doormat with a ribbon on its tail."),
    ("19T18:00:00", 0, Kind::Text, Some("Oda"), "Rolf, I picked your gloves up by mistake. They're in the trunk."),
    ("19T18:30:00", 0, Kind::Text, Some("Rolf"), "The pump is broken again, it doesn't draw."),
    ("19T18:40:00", 0, Kind::Text, Some("Tove"), "Stellan rang, it'll be Sunday, and only for the one night."),
    ("19T19:00:00", 0, Kind::Text, Some("Tove"), "The roofer comes on Monday at two."),
];

fn read(question: &str, sentence: &'static str, words: &'static str) -> String {
    marked(question, sentence, words, AnswerForm::Words)
}

fn marked(question: &str, sentence: &'static str, words: &'static str, form: AnswerForm) -> String {
    let marks = Marks { sentence, words, form, read: Arc::default() };
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
fn a_single_night_is_no_hour() {
    let answer = home(ROWS).with_meaning().ask("When is Stellan coming?");
    assert_eq!(answer.answer.as_deref(), Some("On Sunday 22 November"), "{}", answer.reason);
}

#[test]
fn where_another_thing_is_does_not_answer() {
    let said = read("Where is the oboe?", "your gloves", "in the trunk");
    assert!(!said.contains("trunk"), "{said}");
}

#[test]
fn a_state_in_its_very_word_goes_before_a_denial_beside_it() {
    let said = marked("Is the pump still broken?", "The pump is broken", "", AnswerForm::No);
    assert!(said.starts_with("Yes: Rolf: The pump is broken again"), "{said}");
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
        ("Why did the smoke alarm go off?", "it's only my pancake"),
        ("Where is the otter?", "On the doormat"),
        ("Is the copper kettle fixed yet?", "No: Runa: I've brought the copper kettle back"),
        ("How many eggs does Oda need?", "18"),
        ("When is the roofer coming?", "Monday 23 November at 14:00"),
    ]);
    assert_eq!(misses, NONE);
}
