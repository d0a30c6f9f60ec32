//! What speaks for an event that was read, beside how the reader rates its text: its place among the others.

use std::sync::Arc;

use super::extraction::Marks;
use super::home::{Row, home};
use crate::ports::AnswerForm;
use crate::recall::answer;
use crate::{Kind, Query};

/// Returns a sign of the events with these texts, where the reader finds `relevant` in what it reads. `probability` is
/// that of the event.
fn sign(name: &str, rows: &[Row], relevant: &'static str, question: &str, texts: &[&str]) -> Vec<f32> {
    let marks = Marks { sentence: relevant, words: relevant, form: AnswerForm::Words, read: Arc::default() };
    let memory = home(rows).with_meaning().with_reader(marks);
    let answer = answer(&Query { question: question.into(), trace: true, ..Query::default() }, &memory).unwrap();
    let of = |text: &&str| {
        let mut read = answer.trace.iter().filter(|step| step.step == "passage");
        let detail = &read.find(|step| step.detail.contains(*text)).unwrap().detail;
        let (_, behind) = detail.split_once(&format!("{name}: ")).unwrap();
        behind.split([',', ' ']).next().unwrap().parse().unwrap()
    };
    texts.iter().map(of).collect()
}

#[test]
fn a_later_event_that_answers_supersedes_an_earlier_one_where_a_present_state_is_asked_for() {
    let rows: &[Row] = &[
        ("19T08:00:00", 0, Kind::Text, Some("Oda"), "The pegs live in the blue tin."),
        ("19T10:00:00", 0, Kind::Caption, None, "Piotr tips all the pegs into a wicker basket."),
    ];
    let superseded = |question| sign("superseded", rows, "pegs", question, &["blue tin", "wicker basket"]);
    // -ln of the probability that an event with log-odds of 5 does not answer.
    let surely = 5.0_f32.exp().ln_1p();
    for now in [
        "Where are the pegs?",
        "Which basket are the pegs in?",
        "Have you seen the pegs?",
        "The pegs that he took, where would I find them?",
    ] {
        assert_eq!(superseded(now), [surely, 0.0], "{now}");
    }
    assert_eq!(superseded("Where were the pegs at first?"), [0.0, 0.0]);
    assert_eq!(superseded("Why did he take the pegs?"), [0.0, 0.0]);
}

#[test]
fn of_events_that_answer_as_well_the_later_one_is_likelier_where_a_present_state_is_asked_for() {
    let rows: &[Row] = &[
        ("18T08:00:00", 0, Kind::Text, Some("Oda"), "The pegs are three."),
        ("19T10:00:00", 0, Kind::Text, Some("Oda"), "The pegs are seven."),
    ];
    let probabilities = |question| sign("probability", rows, "pegs", question, &["three", "seven"]);
    let is = probabilities("How many pegs are there?");
    let was = probabilities("How many pegs were there?");
    assert!(is[1] / is[0] > 1.2 * (was[1] / was[0]), "{is:?} {was:?}");
}

#[test]
fn the_first_and_the_last_of_several_states_are_told_apart() {
    let rows: &[Row] = &[
        ("18T08:00:00", 0, Kind::Text, Some("Oda"), "The pegs cost three marks."),
        ("19T10:00:00", 0, Kind::Text, Some("Oda"), "The pegs cost seven marks."),
    ];
    let stages = |question| sign("stage", rows, "pegs", question, &["three", "seven"]);
    assert_eq!(stages("What did the pegs cost at first?"), [1.0, 0.0]);
    assert_eq!(stages("What did the pegs cost in the end?"), [0.0, 1.0]);
    assert_eq!(stages("What did the pegs cost?"), [0.0, 0.0]);
    // How a thing is asks for its last state.
    let rows: &[Row] = &[
        ("18T08:00:00", 0, Kind::Text, Some("Oda"), "The mangle is stuck."),
        ("19T10:00:00", 0, Kind::Text, Some("Oda"), "The mangle turns again."),
    ];
    assert_eq!(sign("stage", rows, "mangle", "How is the mangle?", &["stuck", "turns"]), [0.0, 1.0]);
}

#[test]
fn what_recurs_at_its_hour_is_a_habit() {
    let rows: &[Row] = &[
        ("17T09:00:00", 0, Kind::Caption, None, "Oda waters the seedlings with the green can."),
        ("18T09:20:00", 0, Kind::Caption, None, "Oda waters the seedlings by the window."),
        ("18T16:00:00", 0, Kind::Caption, None, "Oda waters the seedlings with the hose."),
        ("19T09:10:00", 0, Kind::Caption, None, "Oda gives the seedlings water with the green can."),
        ("19T09:15:00", 0, Kind::Caption, None, "Oda scrubs a flower pot."),
    ];
    let texts = ["waters the seedlings with the green", "by the window", "hose", "flower pot"];
    let recurring = |question| sign("recurring", rows, "seedlings", question, &texts);
    assert_eq!(recurring("What does Oda usually water?"), [2.0, 2.0, 0.0, 0.0]);
    assert_eq!(recurring("What did Oda water?"), [0.0; 4]);
}
