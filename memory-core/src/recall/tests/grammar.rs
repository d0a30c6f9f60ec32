//! What a question takes for granted: states, denials, who spoke, what comes first, where a thing was before.

use super::home::{Row, home};
use crate::{Kind, Route};

const NONE: [String; 0] = [];

#[test]
fn a_state_answers_in_whatever_words_it_is_told() {
    let rows: &[Row] = &[
        ("18T09:00:00", 0, Kind::Text, Some("Tove"), "The boiler doesn't light any more."),
        ("18T09:10:00", 0, Kind::Text, Some("Tove"), "The heater doesn't hum any more."),
        ("18T10:00:00", 0, Kind::State, Some("Ivo"), "Ivo has a fever of 39 degrees."),
        ("19T08:00:00", 0, Kind::Text, Some("Rolf"), "Boilers I can't repair, sorry."),
        ("19T09:00:00", 0, Kind::Text, Some("Tove"), "36.6. The fever's gone, Ivo, off you go."),
    ];
    let misses = home(rows).with_meaning().misses(&[
        ("Does the boiler work now?", "No"),
        ("Does the heater work?", "No"),
        ("Is Ivo still running a temperature?", "No"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn the_opposite_of_what_is_asked_for_is_no_occurrence_of_it() {
    let rows: &[Row] = &[
        ("19T08:00:00", 0, Kind::Action, Some("Tove"), "Tove opens the greenhouse."),
        ("19T17:00:00", 0, Kind::Action, Some("Tove"), "Tove closes the greenhouse."),
    ];
    let misses = home(rows)
        .misses(&[("When was the greenhouse opened?", "08:00"), ("When was the greenhouse closed?", "17:00")]);
    assert_eq!(misses, NONE);
}

#[test]
fn who_goes_without_is_who_did_not() {
    let text = "Lunch: pancakes. Tove takes the one without honey; Ivo and Jonas eat the rest.";
    let rows: &[Row] = &[("19T12:00:00", 0, Kind::Caption, None, text)];
    let home = home(rows).with_meaning();
    assert_eq!(home.misses(&[("Who did not have any honey at lunch?", "Tove")]), NONE);
    let chosen = home.choose("Who did not have any honey at lunch?", &["Ivo", "Tove", "Jonas"]);
    assert_eq!(chosen.choice, Some(1), "{chosen:?}");
}

#[test]
fn whose_turn_it_is_to_do_something_is_who_does_it() {
    let rows: &[Row] = &[
        ("17T07:00:00", 0, Kind::Action, Some("Jonas"), "Jonas feeds the tortoise in the hall."),
        ("18T07:05:00", 0, Kind::Action, Some("Jonas"), "Jonas feeds the tortoise."),
        ("19T06:55:00", 0, Kind::Action, Some("Jonas"), "Jonas feeds the tortoise with seeds."),
        ("19T12:00:00", 0, Kind::Caption, None, "A meal stands on the table."),
    ];
    let home = home(rows).with_meaning();
    assert_eq!(home.misses(&[("Whose turn is it to feed the tortoise?", "Jonas")]), NONE);
    // One of the options names an event instead of a time.
    let options = ["around noon", "shortly before seven in the morning", "after the meal"];
    let chosen = home.choose("What time of day does Jonas feed the tortoise?", &options);
    assert_eq!(chosen.choice, Some(1), "{chosen:?}");
}

#[test]
fn what_is_still_to_come_is_ordered_by_when_it_is_to_be() {
    let rows: &[Row] = &[
        ("18T10:00:00", 0, Kind::Text, Some("Tove"), "My flight leaves on Sunday at ten."),
        ("18T11:00:00", 0, Kind::Text, Some("Ivo"), "I have the hearing test on Saturday."),
    ];
    let home = home(rows);
    assert_eq!(home.misses(&[("Which comes first, the flight or the hearing test?", "The hearing test")]), NONE);
}

#[test]
fn who_comes_on_a_day_is_told_by_who_tells_of_that_day() {
    let rows: &[Row] = &[
        ("18T10:00:00", 0, Kind::Caption, Some("Ivo"), "Ivo comes home."),
        ("18T18:00:00", 0, Kind::Text, Some("Tove"), "My guest Rolf visits us on Saturday."),
        (
            "19T18:00:00",
            0,
            Kind::Text,
            Some("Tove"),
            "Rolf can't make it on Saturday, he'll be here on Sunday instead.",
        ),
    ];
    let home = home(rows).with_meaning();
    let misses = home.misses(&[
        ("Who is coming to us on Sunday?", "Rolf"),
        // Moved is the day alone: whose guest it is was told before.
        ("Whose guest visits us?", "Tove"),
        ("When does Rolf visit us?", "22 November"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn where_a_thing_was_before_it_was_moved_is_told_by_the_move() {
    let rows: &[Row] =
        &[("18T10:00:00", 0, Kind::Action, Some("Ivo"), "Ivo carries the crate from the shed up to the loft.")];
    let misses = home(rows).misses(&[("Before it went up to the loft, where was the crate kept?", "shed")]);
    assert_eq!(misses, NONE);
}

#[test]
fn what_somebody_said_is_told_by_them_or_of_them() {
    let mut rows: Vec<Row> = vec![
        ("18T10:00:00", 0, Kind::Caption, Some("Ivo"), "Ivo trims the hedge."),
        ("18T10:05:00", 0, Kind::Text, Some("Tove"), "The hedge is in the way of the hedge cutter."),
    ];
    let unsaid = home(&rows).with_meaning().ask("What did the gardener say about the hedge?");
    assert_eq!((unsaid.route, &unsaid.answer), (Route::None, &None), "{unsaid:?}");
    rows.push(("18T11:00:00", 0, Kind::Text, Some("gardener"), "The hedge needs water."));
    let home = home(&rows).with_meaning();
    assert_eq!(home.misses(&[("What did the gardener say about the hedge?", "needs water")]), NONE);
}

#[test]
fn of_what_was_never_there_none_are_counted() {
    let rows: &[Row] = &[
        ("18T10:00:00", 0, Kind::Text, Some("Ivo"), "I fell off the ladder and needed a rest."),
        ("18T10:05:00", 0, Kind::Caption, Some("Ivo"), "Ivo picks three plums."),
    ];
    let home = home(rows).with_meaning();
    let none = home.ask("How many medals did Ivo need after he fell off the ladder?");
    assert_eq!((none.route, &none.answer), (Route::None, &None), "{none:?}");
    assert_eq!(home.misses(&[("How many plums did Ivo pick?", "3")]), NONE);
}

#[test]
fn a_night_begins_with_the_evening() {
    let rows: &[Row] = &[
        ("17T12:30:00", 0, Kind::Caption, None, "A bowl of rice stands on the table."),
        ("17T18:40:00", 0, Kind::Caption, None, "A pan of goulash stands on the table."),
        ("18T18:40:00", 0, Kind::Caption, None, "A plate of ravioli stands on the table."),
    ];
    let home = home(rows).with_meaning();
    let chosen = home.choose("Which meal was on the table on Tuesday night?", &["rice", "ravioli", "goulash"]);
    assert_eq!(chosen.choice, Some(2), "{chosen:?}");
}

#[test]
fn the_first_time_that_something_happened_places_a_question() {
    let rows: &[Row] = &[
        ("20T08:10:00", 6, Kind::Caption, None, "Hands fold paper boats on a tray."),
        ("20T08:10:02", 3, Kind::Text, None, "The harbour froze in the winter."),
        ("20T08:30:00", 6, Kind::Caption, None, "Hands fold paper boats on a tray."),
        ("20T08:30:02", 3, Kind::Text, None, "In spring the ships came back."),
    ];
    let misses = home(rows).with_meaning().misses(&[
        ("The first time hands folded the boats, what was being read aloud?", "harbour froze"),
        ("What was being read aloud the last time hands folded the boats?", "ships came back"),
        ("When was the first time hands folded boats?", "08:10"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn what_a_label_says_is_read_and_not_heard() {
    let rows: &[Row] = &[
        ("20T08:10:00", 6, Kind::Caption, None, "A jar with a label: GOOSEBERRIES 2025."),
        ("20T08:10:30", 3, Kind::Text, None, "That jar needs a new label, doesn't it?"),
    ];
    let home = home(rows).with_meaning();
    let answer = home.ask("What did the label on the jar say?");
    assert_eq!(answer.modality, crate::QuestionModality::Visual, "{answer:?}");
    assert_eq!(home.misses(&[("What did the label on the jar say?", "GOOSEBERRIES")]), NONE);
}

#[test]
fn what_was_wrong_with_the_picture_is_told_with_its_times() {
    let rows: &[Row] = &[
        ("20T08:10:00", 3, Kind::State, None, "The picture is black: the camera sees nothing."),
        ("20T08:20:00", 3, Kind::State, None, "The picture is disturbed: there is noise in it."),
        ("20T08:25:00", 3, Kind::Sound, None, "There is no sound at all."),
        ("20T08:30:00", 3, Kind::State, None, "The picture is black: the camera sees nothing."),
        ("20T08:40:00", 3, Kind::Caption, None, "A kettle stands on the stove."),
    ];
    let mut home = home(rows);
    for (event, signal) in home.events.iter_mut().zip(["black", "noise", "silent", "black"]) {
        event.attributes.insert("signal".into(), crate::Value::Text(signal.into()));
    }
    let home = home.with_meaning();
    let answer = home.ask("Was there any trouble with your camera?");
    let said = answer.answer.clone().unwrap_or_default();
    assert!(
        said.starts_with("Yes: The picture is black") && said.contains("08:30") && said.contains("08:20"),
        "{answer:?}"
    );
    assert!(!said.contains("no sound"), "{answer:?}");
    assert_eq!(home.misses(&[("In what way did the sound fail?", "no sound")]), NONE);
    let other = home.ask("Was there any trouble with the kettle?").answer.unwrap_or_default();
    assert!(!other.contains("black"), "{other}");
}

#[test]
fn a_workshop_is_told_about_in_everyday_words() {
    let rows: &[Row] = &[
        ("17T08:00:00", 0, Kind::Text, Some("Tove"), "The crane is charging in bay three, so use the hand cart today."),
        ("17T09:00:00", 0, Kind::Text, Some("Tove"), "The plumber comes at eleven on Saturday to see the boiler."),
        (
            "17T14:00:00",
            0,
            Kind::Text,
            Some("Tove"),
            "We are out of glue. I have ordered twenty tubes, they arrive tomorrow.",
        ),
        (
            "18T10:30:00",
            0,
            Kind::Text,
            Some("Tove"),
            "The plumber cannot come on Saturday. He will be here on Sunday at nine instead.",
        ),
        ("18T15:00:00", 3, Kind::Sound, None, "A klaxon blares."),
        ("18T15:01:00", 0, Kind::Text, Some("Ivo"), "That klaxon was just dust in the smoke detector."),
        ("18T15:10:00", 0, Kind::Text, Some("Ivo"), "My niece Runa starts school in spring."),
        ("18T15:20:00", 0, Kind::Text, Some("Ivo"), "Rolf called in sick."),
    ];
    let home = home(rows).with_meaning();
    let misses = home.misses(&[
        ("Where is the crane?", "In bay three"),
        ("When does the plumber come?", "22 November"),
        ("Did Tove order anything?", "Yes"),
        ("Why did the klaxon blare?", "dust"),
        ("Who is Runa?", "Ivo's niece"),
    ]);
    assert_eq!(misses, NONE);
    for question in ["Is the hand cart broken?", "What did Rolf say about the glue?"] {
        let none = home.ask(question);
        assert_eq!((none.route, &none.answer), (Route::None, &None), "{none:?}");
    }
}

#[test]
fn each_sentence_tells_its_own_time_and_whose_somebody_is() {
    let rows: &[Row] = &[
        (
            "19T08:00:00",
            0,
            Kind::Text,
            Some("Rolf"),
            "My left foot hurts today. My aunt Runa visits me on Sunday afternoon.",
        ),
        ("19T09:00:00", 0, Kind::Text, Some("Tove"), "Rolf must not have any aspirin."),
    ];
    let misses = home(rows).with_meaning().misses(&[
        ("When does Runa visit?", "22 November"),
        ("Who is Rolf's aunt?", "Runa"),
        ("Is Rolf allowed to have aspirin?", "No"),
    ]);
    assert_eq!(misses, NONE);
}
