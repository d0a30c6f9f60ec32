//! What a question takes for granted: states, denials, who spoke, what comes first, where a thing was before.

use super::home::{Row, home};
use crate::language::english::question::parse_question;
use crate::{Kind, Route};

const NONE: [String; 0] = [];

#[test]
fn a_state_answers_in_whatever_words_it_is_told() {
    let rows: &[Row] = &[
        ("18T09:00:00", 0, Kind::Text, Some("Tove"), "The boiler doesn't light any more."),
        ("18T09:10:00", 0, Kind::Text, Some("Tove"), "The heater doesn't hum any more."),
        ("18T10:00:00", 0, Kind::State, Some("Ivo"), "Ivo has a fever of 39 degrees."),
        ("19T08:00:00", 0, Kind::Text, Some("Rolf"), "I cannot repair that boiler."),
        ("19T09:00:00", 0, Kind::Text, Some("Tove"), "Ivo's fever is over since breakfast."),
    ];
    let misses = home(rows).with_meaning().misses(&[
        ("Does the boiler work now?", "No"),
        ("Does the heater work?", "No"),
        ("Does Ivo have a temperature?", "No"),
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
    let text = "Ivo and Jonas drink tea with lemon; Tove drinks hers without lemon.";
    let rows: &[Row] = &[("19T12:00:00", 0, Kind::Caption, None, text)];
    let home = home(rows).with_meaning();
    assert_eq!(home.misses(&[("Who did not take lemon?", "Tove")]), NONE);
    let chosen = home.choose("Who did not take lemon?", &["Ivo", "Tove", "Jonas"]);
    assert_eq!(chosen.choice, Some(1), "{chosen:?}");
}

#[test]
fn whose_turn_it_is_to_do_something_is_who_does_it() {
    let rows: &[Row] = &[
        ("17T19:55:00", 0, Kind::Action, Some("Jonas"), "Jonas winds the clock in the hall."),
        ("18T20:00:00", 0, Kind::Action, Some("Jonas"), "Jonas winds the clock."),
        ("19T19:50:00", 0, Kind::Action, Some("Jonas"), "Jonas winds the clock with a key."),
        ("19T12:00:00", 0, Kind::Caption, None, "The post lies on the mat."),
    ];
    let home = home(rows).with_meaning();
    assert_eq!(home.misses(&[("Whose turn is it to wind the clock?", "Jonas")]), NONE);
    // One of the options names an event instead of a time.
    let options = ["at noon", "around eight in the evening", "when the post comes"];
    let chosen = home.choose("When does Jonas usually wind the clock?", &options);
    assert_eq!(chosen.choice, Some(1), "{chosen:?}");
}

#[test]
fn what_is_still_to_come_is_ordered_by_when_it_is_to_be() {
    let rows: &[Row] = &[
        ("18T10:00:00", 0, Kind::Text, Some("Tove"), "My flight leaves on Sunday at ten."),
        ("18T11:00:00", 0, Kind::Text, Some("Ivo"), "I have the hearing test on Saturday."),
    ];
    let home = home(rows);
    assert_eq!(home.misses(&[("Which is sooner, the flight or the hearing test?", "The hearing test")]), NONE);
}

#[test]
fn who_comes_on_a_day_is_told_by_who_tells_of_that_day() {
    let rows: &[Row] = &[
        ("18T10:00:00", 0, Kind::Caption, Some("Ivo"), "Ivo comes home."),
        ("18T18:00:00", 0, Kind::Text, Some("Tove"), "My guest Rolf arrives on Saturday."),
        ("19T18:00:00", 0, Kind::Text, Some("Tove"), "Rolf has missed his coach, he arrives on Sunday instead."),
    ];
    let home = home(rows).with_meaning();
    let misses = home.misses(&[
        ("Does Rolf arrive on Saturday?", "No"),
        ("Who arrives on Sunday?", "Rolf"),
        // Moved is the day alone: whose guest it is was told before.
        ("Whose guest is Rolf?", "Tove"),
        ("On which day does Rolf arrive?", "22 November"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn where_something_is_now_may_be_asked_in_the_past() {
    let rows: &[Row] = &[
        ("17T08:00:00", 0, Kind::Caption, None, "The cat Minka sleeps on the stove."),
        ("18T10:00:00", 0, Kind::Caption, None, "The brown rucksack hangs on the door."),
        ("18T12:00:00", 0, Kind::Caption, None, "Minka lies on the sofa."),
        ("18T18:00:00", 0, Kind::Action, Some("Tove"), "Tove moves the brown rucksack into the chest."),
    ];
    let misses = home(rows).with_meaning().misses(&[
        ("Where would I find the brown rucksack if I needed it?", "In the chest"),
        ("Have you seen the brown rucksack?", "In the chest"),
        ("Where is the brown rucksack kept?", "In the chest"),
        ("Have you seen the cat?", "sofa"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn a_word_that_no_lexicon_knows_is_the_verb_between_subject_and_object() {
    let asked = parse_question("How does Tove decalk the kettle?", &[]);
    assert_eq!(asked.clause.verb.map(|verb| verb.lemma).as_deref(), Some("decalk"));
    assert_eq!(asked.clause.subject.map(|subject| subject.head).as_deref(), Some("tove"));
}

#[test]
fn where_a_thing_was_before_it_was_moved_is_told_by_the_move() {
    let rows: &[Row] =
        &[("18T10:00:00", 0, Kind::Action, Some("Ivo"), "Ivo drags the drum out of the cellar into the loft.")];
    let misses = home(rows).misses(&[("Where was the drum before Ivo dragged it into the loft?", "cellar")]);
    assert_eq!(misses, NONE);
}

#[test]
fn what_somebody_said_is_told_by_them_or_of_them() {
    let mut rows: Vec<Row> = vec![
        ("18T10:00:00", 0, Kind::Caption, Some("Ivo"), "Ivo trims the hedge."),
        ("18T10:05:00", 0, Kind::Text, Some("Tove"), "The hedge is in the way of the hedge cutter."),
    ];
    let unsaid = home(&rows).with_meaning().ask("What has the gardener told us of the hedge?");
    assert_eq!((unsaid.route, &unsaid.answer), (Route::None, &None), "{unsaid:?}");
    rows.push(("18T11:00:00", 0, Kind::Text, Some("gardener"), "The hedge needs water."));
    let home = home(&rows).with_meaning();
    assert_eq!(home.misses(&[("What has the gardener told us of the hedge?", "needs water")]), NONE);
}

#[test]
fn of_what_was_never_there_none_are_counted() {
    let rows: &[Row] = &[
        ("18T10:00:00", 0, Kind::Text, Some("Ivo"), "I have to tidy my desk."),
        ("18T10:05:00", 0, Kind::Caption, Some("Ivo"), "Ivo picks three plums."),
    ];
    let home = home(rows).with_meaning();
    let none = home.ask("How many trophies are on Ivo's desk?");
    assert_eq!((none.route, &none.answer), (Route::None, &None), "{none:?}");
    assert_eq!(home.misses(&[("How many plums did Ivo pick?", "3")]), NONE);
}

#[test]
fn a_night_begins_with_the_evening() {
    let rows: &[Row] = &[
        ("17T12:30:00", 0, Kind::Caption, None, "Tove cooks rice."),
        ("17T18:40:00", 0, Kind::Caption, None, "Tove cooks goulash."),
        ("18T18:40:00", 0, Kind::Caption, None, "Tove cooks ravioli."),
    ];
    let home = home(rows).with_meaning();
    let chosen = home.choose("What did Tove cook on Tuesday night?", &["rice", "ravioli", "goulash"]);
    assert_eq!(chosen.choice, Some(2), "{chosen:?}");
}

#[test]
fn the_first_time_that_something_happened_places_a_question() {
    let rows: &[Row] = &[
        ("20T08:10:00", 6, Kind::Sound, None, "A gong sounds."),
        ("20T08:10:02", 3, Kind::Caption, None, "A lantern hangs from the roof."),
        ("20T08:30:00", 6, Kind::Sound, None, "A gong sounds."),
        ("20T08:30:02", 3, Kind::Caption, None, "A ladder leans on the wall."),
    ];
    let misses = home(rows).with_meaning().misses(&[
        ("The first time the gong sounded, what could you see?", "lantern"),
        ("What could you see the last time the gong sounded?", "ladder"),
        ("When was the first time the gong sounded?", "08:10"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn what_is_read_out_is_heard() {
    let rows: &[Row] = &[
        ("20T08:10:00", 3, Kind::Caption, None, "Tove sits beside the children with a letter."),
        ("20T08:10:01", 3, Kind::Text, None, "The harbour froze in the winter."),
    ];
    let answer = home(rows).with_meaning().ask("What did Tove read out to the children?");
    assert_eq!(answer.modality, crate::QuestionModality::Audio, "{answer:?}");
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
    assert_eq!(home.misses(&[("Was anything wrong with the sound?", "no sound")]), NONE);
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

#[test]
fn a_thing_was_where_it_was_found_or_taken_from() {
    let rows: &[Row] = &[
        ("18T10:00:00", 3, Kind::Caption, None, "Jonas finds the brass key in the sugar tin and hangs it on the hook."),
        ("18T10:10:00", 3, Kind::Caption, None, "Ivo takes the funnel out of box 3 and sets it on the bench."),
        ("18T10:20:00", 3, Kind::Caption, None, "Tove fetches an oar from rack B2."),
        ("18T10:30:00", 3, Kind::Caption, None, "Tove and Ivo carry the oars from rack B2 over to rack A4."),
        ("18T10:40:00", 3, Kind::Caption, None, "Jonas locks the gate."),
    ];
    let misses = home(rows).misses(&[
        ("Where did the brass key turn up?", "sugar tin"),
        ("Where did Jonas find the brass key?", "sugar tin"),
        ("Where is the brass key?", "hook"),
        ("Where did the funnel turn up?", "Box 3"),
        ("Where is the funnel?", "bench"),
        ("Where were the oars before they were moved?", "rack B2"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn a_time_is_that_of_the_deed_it_stands_with() {
    let rows: &[Row] = &[
        (
            "17T10:00:00",
            0,
            Kind::Text,
            Some("Dr. Falk"),
            "I have a course on Friday, so I'll come to the barn on Saturday.",
        ),
        ("17T11:00:00", 0, Kind::Text, Some("Tove"), "The exam is on Sunday, at half past eight."),
    ];
    let misses = home(rows).misses(&[
        ("When does Dr. Falk come to the barn?", "Tomorrow"),
        ("Which day is the exam, and at what time?", "22 November at 08:30"),
    ]);
    assert_eq!(misses, NONE);
}
