//! Things are compared by what is told of each.

use super::home::{Row, home};
use crate::Kind;

const NONE: [String; 0] = [];

#[test]
fn two_things_are_compared_by_a_question_about_each() {
    let rows: &[Row] = &[
        ("18T10:00:00", 0, Kind::Text, Some("Tove"), "Ilse is nine years old."),
        ("18T10:10:00", 0, Kind::Text, Some("Tove"), "Our Bo is four years old."),
        ("18T10:20:00", 0, Kind::Text, Some("Jonas"), "The regatta is on Saturday at ten."),
        ("18T10:30:00", 0, Kind::Text, Some("Ivo"), "The flea market is on Friday at noon."),
    ];
    let misses = home(rows).misses(&[
        ("Who is older, Ilse or Bo?", "Ilse"),
        ("Who's the younger one, Ilse or Bo?", "Bo: "),
        ("Is Ilse older than Bo?", "Yes"),
        ("What comes first, the regatta or the flea market?", "The flea market"),
        ("Which is later, the regatta or the flea market?", "The regatta"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn the_answer_to_a_comparison_chooses_the_option_that_names_it_first() {
    let rows: &[Row] = &[
        ("18T10:00:00", 0, Kind::Text, Some("Tove"), "Ilse is nine years old."),
        ("18T10:10:00", 0, Kind::Text, Some("Tove"), "Our Bo is four years old."),
        ("18T10:20:00", 0, Kind::Text, Some("Jonas"), "The regatta is on Saturday at ten."),
        ("18T10:30:00", 0, Kind::Text, Some("Ivo"), "The flea market is on Friday at noon."),
    ];
    let memory = home(rows);
    let choose = |question: &str, options: [&str; 3]| memory.choose(question, &options).choice;
    let ages = ["Bo, five years older than Ilse", "Both the same", "Ilse, by five years"];
    assert_eq!(choose("Who is older, Ilse or Bo?", ages), Some(2));
    let events =
        ["The regatta", "The flea market, a day before the regatta", "The regatta, a day before the flea market"];
    assert_eq!(choose("What comes first, the regatta or the flea market?", events), Some(1));
}

#[test]
fn a_thing_is_found_by_what_the_question_names_before_it_asks() {
    let rows: &[Row] = &[
        ("18T10:00:00", 0, Kind::Caption, None, "A tin bucket stands under the window in the hall."),
        ("18T10:10:00", 0, Kind::Caption, None, "Jonas hangs the cellar key on the hook by the stove."),
        ("18T10:20:00", 0, Kind::Caption, None, "Tove gives Ivo the spare key to the boat."),
        ("18T10:30:00", 0, Kind::Caption, None, "Box 7 is at the foot of the stairs."),
        ("18T10:40:00", 0, Kind::Caption, None, "Box 5 is in the attic."),
    ];
    let misses = home(rows).misses(&[
        ("That tin bucket, where is it standing?", "under the window"),
        ("Where do I find the key for the cellar?", "hook"),
        ("Box number seven, where is it now?", "stairs"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn the_condition_of_a_thing_is_the_one_that_was_told_last() {
    let rows: &[Row] = &[
        ("18T10:00:00", 0, Kind::Text, Some("Tove"), "The bilge pump is broken, it does not start."),
        ("18T12:00:00", 0, Kind::Action, None, "Jonas puts a new seal into the bilge pump."),
        ("18T12:10:00", 0, Kind::State, None, "The bilge pump works again."),
        ("18T13:00:00", 0, Kind::Caption, None, "Ivo walks past the bilge pump."),
    ];
    let cases = [
        ("What state is the bilge pump in?", "works again"),
        ("What about the bilge pump?", "works again"),
        ("How is the bilge pump now?", "works again"),
    ];
    assert_eq!(home(rows).misses(&cases), NONE);
    // What an event tells of something else is no condition of the thing that it mentions.
    let other = ("18T14:00:00", 0, Kind::Caption, None, "Ivo pulls a broken oar out from behind the bilge pump.");
    assert_eq!(home(&[rows, &[other]].concat()).misses(&cases[1..]), NONE);
}

#[test]
fn a_story_is_of_what_it_is_named_after() {
    let rows: &[Row] = &[
        ("18T08:00:00", 0, Kind::State, None, "The bilge pump does not start."),
        ("18T09:00:00", 0, Kind::Action, None, "Ivo sweeps the deck."),
        ("18T10:00:00", 0, Kind::Action, None, "Tove unscrews the bilge pump."),
        ("18T11:00:00", 0, Kind::Caption, None, "A heron stands on the jetty."),
        ("18T12:00:00", 0, Kind::State, None, "The bilge pump works again."),
    ];
    for question in ["Give me the whole bilge pump story.", "Tell me the whole story of the bilge pump."] {
        let told = home(rows).ask(question).answer.unwrap_or_default();
        assert!(told.contains("does not start") && told.contains("works again"), "{question}: {told}");
        assert!(!told.contains("deck") && !told.contains("heron"), "{question}: {told}");
    }
}

#[test]
fn of_two_things_the_one_that_is_left_is_meant_where_a_deed_is_denied() {
    let rows: &[Row] = &[
        ("18T10:00:00", 0, Kind::Caption, None, "The red sledge stands in the barn."),
        ("18T10:10:00", 0, Kind::Caption, None, "The green sledge stands beside the barn."),
        ("18T11:00:00", 0, Kind::Text, Some("Tove"), "I lent Ivo the green sledge."),
    ];
    let question = "Which sledge did Tove not lend to Ivo?";
    assert_eq!(home(rows).misses(&[(question, "The red sledge")]), NONE);
    // What was denied is the answer, and not what is left beside it.
    let denied = ("18T11:00:00", 0, Kind::Text, Some("Tove"), "I didn't lend Ivo the green sledge.");
    let answer = home(&[rows[0], rows[1], denied]).ask(question).answer.unwrap_or_default();
    assert!(!answer.contains("red"), "{answer}");
}

#[test]
fn what_was_given_to_somebody_is_with_them() {
    let rows: &[Row] =
        &[("18T10:00:00", 0, Kind::Action, None, "Tove lifts the long ladder off its hooks and gives it to Ivo.")];
    assert_eq!(home(rows).misses(&[("Where is the long ladder now?", "With Ivo")]), NONE);
}

#[test]
fn what_is_asked_altogether_is_added_up() {
    let rows: &[Row] = &[
        ("18T10:00:00", 0, Kind::Action, None, "Tove gathers nineteen apples."),
        ("19T10:00:00", 0, Kind::Action, None, "Tove gathers sixteen apples with the ladder."),
        ("19T11:00:00", 0, Kind::Action, None, "Ivo eats two plums."),
    ];
    assert_eq!(home(rows).misses(&[("How many apples did Tove gather on all days together?", "35")]), NONE);
}
