//! Words that a reader marks and that cannot answer, by what they are said of.

use std::sync::Arc;

use super::extraction::Marks;
use super::home::{Home, Row, home};
use crate::Kind;
use crate::ports::AnswerForm;

const ROWS: &[Row] = &[
    ("18T08:00:00", 0, Kind::Text, Some("Rolf"), "Our neighbour Odin turns six on Monday."),
    ("18T09:00:00", 0, Kind::Caption, None, "Rolf leans his sledge against the fence."),
    ("18T10:00:00", 0, Kind::Text, Some("Tove"), "Lunch is soup instead of the roast goose."),
    ("18T10:30:00", 0, Kind::Text, Some("Tove"), "Rolf should bring the rope, not the stool."),
    ("18T11:00:00", 0, Kind::Caption, None, "Runa opens two of the crates in the barn."),
    ("18T12:00:00", 0, Kind::Caption, None, "Runa drops her shawl on the stairs."),
    ("18T13:00:00", 0, Kind::Caption, None, "Tove carries a drum out of the barn."),
    ("18T14:00:00", 0, Kind::Text, Some("Tove"), "I'll nail a new plank on the gate tomorrow."),
    ("18T15:00:00", 0, Kind::Text, Some("Tove"), "Rolf works then, so I'll carry the drum."),
    ("19T07:00:00", 0, Kind::Caption, None, "Runa collects eleven acorns in a basket."),
    ("19T08:00:00", 0, Kind::Caption, None, "Runa lifts the kettle off the shelf and puts it in the chest."),
];

fn read(sentence: &'static str, words: &'static str, form: AnswerForm) -> Home {
    home(ROWS).with_meaning().with_reader(Marks { sentence, words, form, read: Arc::default() })
}

#[test]
fn what_is_told_of_somebody_else_or_of_their_thing_does_not_answer() {
    for (question, sentence, words) in [
        ("When is Gudrun's birthday?", "turns six", "on Monday"),
        ("Where is Gudrun's sledge?", "leans his sledge", "against the fence"),
        ("Where did Tove go?", "carries a drum", "the barn"),
        ("How many acorns did Runa collect this morning?", "collects eleven", "eleven"),
    ] {
        let answer = read(sentence, words, AnswerForm::Words).ask(question);
        let said = answer.answer.unwrap_or_default().to_lowercase();
        assert!(!said.contains(words), "{question} {said}: {}", answer.reason);
    }
}

#[test]
fn whoever_moves_a_thing_need_not_own_it() {
    let answer = read("lifts the kettle", "Runa", AnswerForm::Words).ask("Who moved Gudrun's kettle?");
    assert_eq!(answer.answer.as_deref(), Some("Runa"), "{}", answer.reason);
}

#[test]
fn whoever_says_that_they_do_it_does_it_whomever_else_they_name() {
    let answer = read("so I'll carry the drum", "Rolf", AnswerForm::Words).ask("Who is carrying the drum?");
    assert_eq!(answer.answer.as_deref(), Some("Tove"), "{}", answer.reason);
}

#[test]
fn the_former_plan_is_what_was_taken_back() {
    let memory = read("Lunch is soup", "soup", AnswerForm::Words);
    assert_eq!(memory.ask("What was lunch going to be?").answer.as_deref(), Some("The roast goose"));
    assert_eq!(memory.ask("What is lunch?").answer.as_deref(), Some("Soup"));
    // What is only denied was never planned.
    let memory = read("bring the rope", "the rope", AnswerForm::Words);
    assert_eq!(memory.ask("What was Rolf supposed to bring?").answer.as_deref(), Some("The rope"));
}

#[test]
fn a_verdict_needs_an_event_that_shows_the_thing() {
    for (question, sentence) in [
        ("Has Runa got her drum?", "drops her shawl"),
        ("Have all the crates been opened?", "two of the crates"),
        ("Did Tove mend the gate?", "nail a new plank"),
    ] {
        let answer = read(sentence, "", AnswerForm::Yes).ask(question);
        let said = answer.answer.unwrap_or_default();
        assert!(!said.starts_with("Yes"), "{question} {said}: {}", answer.reason);
    }
}

#[test]
fn whether_there_is_anything_asks_what_it_is() {
    let memory = read("Lunch is soup", "soup", AnswerForm::Words);
    let answer = memory.ask("Is there anything we have for lunch?");
    assert_eq!(answer.answer.as_deref(), Some("Soup"), "{}", answer.reason);
}
