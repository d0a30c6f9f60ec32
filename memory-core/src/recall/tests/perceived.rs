//! What was noticed and is asked for in other words: by its kind, by the moment, by what the sentence before names.

use super::home::{Row, home, time};
use crate::Kind;
use crate::recall::{Query, answer};

const NONE: [String; 0] = [];

#[test]
fn a_thing_answers_for_its_kind_and_a_word_for_the_kind_of_another_one_does_not() {
    let rows: &[Row] = &[
        ("20T08:00:00", 5, Kind::Caption, None, "A lemonade stand is next to the fountain."),
        ("20T08:10:00", 5, Kind::Sound, None, "An oboe plays."),
        ("20T08:20:00", 5, Kind::Caption, None, "A girl pours cider into a mug."),
    ];
    let home = home(rows).with_meaning();
    let misses = home.misses(&[
        ("Was there an instrument to be heard, and which one?", "oboe"),
        ("Which drink did somebody pour?", "Cider"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn the_sentence_before_says_who_is_asked_about() {
    let rows: &[Row] = &[
        ("20T08:00:00", 5, Kind::Caption, None, "A boy on the bridge holds a paper kite."),
        ("20T08:10:00", 5, Kind::Caption, None, "A postwoman at the gate holds a basket."),
        ("20T08:20:00", 5, Kind::Caption, None, "A gardener holds a rake."),
    ];
    let home = home(rows).with_meaning();
    let misses = home.misses(&[
        ("A boy was on the bridge. What did he hold?", "kite"),
        ("There was a postwoman at the gate. What did she hold?", "basket"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn only_the_moment_that_is_asked_for_speaks_for_an_option() {
    let rows: &[Row] = &[
        ("20T08:00:00", 20, Kind::Caption, None, "A woman in a straw hat hangs up the washing."),
        ("20T08:05:00", 20, Kind::Caption, None, "A man with a beard sweeps the yard."),
        ("20T08:05:08", 4, Kind::Sound, None, "A bell rings."),
        ("20T08:10:00", 20, Kind::Caption, None, "A woman in a straw hat waters the beans."),
    ];
    let home = home(rows).with_meaning();
    let options = ["a woman was hanging up washing", "a man was sweeping", "beans were watered"];
    let answer = home.choose("When the bell rang, what was going on?", &options);
    assert_eq!(answer.choice, Some(1), "{answer:?}");
}

#[test]
fn a_fault_that_was_told_is_one_of_the_camera() {
    let rows: &[Row] = &[
        ("20T08:00:00", 5, Kind::Caption, None, "A cart stands in the yard."),
        ("20T08:01:00", 2, Kind::State, None, "The picture freezes for two seconds."),
        ("20T08:02:00", 2, Kind::State, None, "The door of the shed is open."),
    ];
    let home = home(rows).with_meaning();
    assert_eq!(home.misses(&[("Did your camera have any trouble?", "freezes")]), NONE);
    let answer = home.ask("Did your camera have any trouble?");
    assert!(answer.answer.as_deref().is_some_and(|text| !text.contains("shed")), "{answer:?}");
}

#[test]
fn of_things_that_never_came_the_others_are_compared() {
    let rows: &[Row] = &[
        ("20T08:00:00", 5, Kind::Object, None, "A wheelbarrow is in view."),
        ("20T08:10:00", 5, Kind::Object, None, "A ladder is in view."),
    ];
    let home = home(rows).with_meaning();
    let options = ["the ladder", "the tractor", "the wheelbarrow"];
    let answer = home.choose("The ladder, the tractor, the wheelbarrow: which of them came first?", &options);
    assert_eq!(answer.choice, Some(2), "{answer:?}");
}

#[test]
fn the_first_and_the_last_of_a_kind_are_found_by_their_order() {
    let rows: &[Row] = &[
        ("20T08:00:00", 0, Kind::Text, Some("Piotr"), "Mind the step."),
        ("20T08:01:00", 5, Kind::Caption, None, "A woman in a blue coat stacks crates."),
        ("20T08:02:00", 2, Kind::Sound, None, "A bell rings."),
        ("20T08:03:00", 5, Kind::Caption, None, "A heron stands on the roof."),
        ("20T08:04:00", 5, Kind::Caption, None, "A boy chases a hen over the meadow."),
        ("20T08:04:30", 5, Kind::Object, None, "kite; letter: from a lawyer"),
        ("20T08:05:00", 2, Kind::Sound, None, "Rain drums on glass."),
        ("20T08:06:00", 0, Kind::Text, Some("Oda"), "We close now."),
        ("20T08:07:00", 0, Kind::Text, Some("Piotr"), "I wish you a good night."),
    ];
    let home = home(rows).with_meaning();
    let misses = home.misses(&[
        ("Who spoke last?", "Piotr"),
        ("What did Piotr say first?", "Mind the step"),
        ("What was the last thing that Oda said?", "We close now"),
        ("What was the first animal that you saw?", "heron"),
        ("What was the last animal you saw?", "hen"),
        ("Various animals went by. Which came first?", "heron"),
        ("There were several animals. Which came last?", "hen"),
        ("I saw two animals. Which came last?", "hen"),
        ("Who was the last person you saw?", "boy"),
        ("Who was the last person you had beside you?", "boy"),
        ("What was the last sound you heard?", "Rain"),
        ("What happened first?", "Mind the step"),
        ("What happened last?", "good night"),
    ]);
    assert_eq!(misses, NONE);
    let swept = home.ask("Who was the last person to sweep the yard?");
    assert!(!swept.reason.contains("of its kind"), "nobody swept: {}", swept.reason);
}

#[test]
fn a_recording_without_a_capture_session_is_what_the_request_asks_about() {
    let rows: &[Row] = &[
        ("20T08:00:30", 0, Kind::Sound, None, "A chime rings."),
        ("20T08:02:05", 0, Kind::Sound, None, "A drill hums."),
        ("20T08:03:40", 0, Kind::Sound, None, "A kettle boils."),
    ];
    let home = home(rows).with_meaning();
    let ask = |question: &str| {
        let (since, until) = (Some(time("20T08:00:00")), Some(time("20T08:04:00")));
        let query = Query { question: question.into(), since, until, top_k: 3, ..Query::default() };
        answer(&query, &home).unwrap().answer.unwrap_or_default()
    };
    assert!(ask("What could be heard about two minutes into the recording?").contains("drill"));
    // Another time is no answer, also where it suits the other words better.
    assert!(!ask("Which boiling sound could be heard about two minutes into the recording?").contains("kettle"));
    assert!(ask("What could be heard in the first minute of the recording?").contains("chime"));
    assert!(ask("What could be heard near the end of the recording?").contains("kettle"));
}

#[test]
fn a_class_that_is_narrowed_is_not_answered_with_all_of_its_members() {
    let rows: &[Row] = &[
        ("20T08:00:00", 5, Kind::Sound, None, "A murmur of voices."),
        ("20T08:02:00", 5, Kind::Sound, None, "A roar of water."),
    ];
    let home = home(rows).with_meaning();
    let all = home.ask("Which sounds could be heard?");
    assert!(all.reason.contains("everything of the class"), "{}", all.reason);
    let narrowed = [
        "Which kitchen sounds could be heard?",
        "Which sound of a printer could be heard?",
        "Were there any kitchen sounds?",
    ];
    for narrowed in narrowed {
        let answer = home.ask(narrowed);
        assert!(!answer.reason.contains("everything of the class"), "{narrowed} {}", answer.reason);
    }
}

#[test]
fn the_last_words_of_a_person_are_found_and_shown_whatever_others_said_since() {
    let row = |second: u32, who: &'static str, text: &'static str| -> Row {
        (format!("20T08:{:02}:{:02}", second / 60, second % 60).leak(), 0, Kind::Text, Some(who), text)
    };
    let oda = [row(0, "Oda", "The last thing that I said was a riddle."), row(1, "Oda", "We close in an hour.")];
    let others = (2..700).map(|second| row(second, "Piotr", "Mind the step."));
    let rows: Vec<Row> = oda.into_iter().chain(others).collect();
    let answer = home(&rows).with_meaning().ask("What was the last thing that Oda said?");
    assert_eq!(answer.answer.as_deref(), Some("Oda: We close in an hour."), "{}", answer.reason);
    assert!(answer.evidence[0].text.contains("We close"), "{:?}", answer.evidence[0]);
}

/// A quay in the morning.
const QUAY: &[Row] = &[
    ("20T08:00:00", 5, Kind::Caption, None, "A heron stands on the quay."),
    ("20T08:05:00", 5, Kind::Object, None, "hedgehog: in the leaves; plastic flamingo; lamp: red"),
    ("20T08:10:00", 0, Kind::Text, Some("Liv"), "Good morning. Mind the ropes."),
    ("20T08:12:00", 5, Kind::Sound, None, "A chain rattles."),
    ("20T08:15:00", 5, Kind::Caption, None, "A baker in a white smock carries a bronze otter past a moped."),
    ("20T08:20:00", 5, Kind::Caption, None, "Two porters unload a lorry while the baker waits."),
    ("20T08:22:00", 5, Kind::Sound, None, "A whistle blows twice."),
    ("20T08:25:00", 5, Kind::Caption, None, "A fisherman's hut is locked, and the porters sit on it."),
];

#[test]
fn all_members_of_a_class_are_listed_however_the_list_is_asked_for() {
    let home = home(QUAY).with_meaning();
    for question in [
        "Which animals did you see?",
        "What animals have you come across?",
        "Which animals were to be seen?",
        "List the animals.",
        "Could you please list the animals that you saw?",
        "Give me a list of the animals you met.",
        "Give me a round-up of the animals you noticed.",
    ] {
        let answer = home.ask(question);
        assert_eq!(answer.answer.as_deref(), Some("Hedgehog and heron"), "{question}: {answer:?}");
    }
    let vehicles = home.ask("Can you give me an overview of the vehicles you saw?");
    assert_eq!(vehicles.answer.as_deref(), Some("Lorry and moped"), "{vehicles:?}");
    // What another one had is told by single events.
    let had = home.ask("Which vehicles did they have?");
    assert!(had.confidence < vehicles.confidence, "{had:?}");
    // A deed is no perception, and one event may tell who did it.
    let waits = home.ask("Which people waited?");
    assert!(!waits.answer.unwrap_or_default().contains("porters"));
}

#[test]
fn everybody_who_was_there_is_listed_with_those_known_by_name_first() {
    let home = home(QUAY).with_meaning();
    for question in
        ["Who was there?", "Whom did you meet?", "Which people did you see?", "Can you tell me who was around?"]
    {
        let answer = home.ask(question);
        let everybody = "Liv, a baker in a white smock and two porters";
        assert_eq!(answer.answer.as_deref(), Some(everybody), "{question}: {answer:?}");
        assert!(answer.evidence.iter().any(|found| found.text.contains("Two porters")), "{answer:?}");
    }
    assert_eq!(home.ask("Whom did you hear?").answer.as_deref(), Some("Liv"));
}

#[test]
fn kinds_and_persons_that_were_there_are_counted_and_named() {
    let home = home(QUAY).with_meaning();
    let misses = home.misses(&[
        ("How many people did you see?", "4: Liv, a baker in a white smock and two porters"),
        ("How many people were there?", "4: Liv"),
        ("How many different animals did you see?", "2: hedgehog and heron"),
        ("How many kinds of vehicles were there?", "2: lorry and moped"),
        ("Which noises were there?", "A chain rattles; A whistle blows twice"),
    ]);
    assert_eq!(misses, NONE);
    // How many of a kind there are is not how many kinds.
    let horns = home.ask("How many vehicles did you see?").answer.unwrap_or_default();
    assert!(!horns.contains("moped"), "{horns}");
}

#[test]
fn what_was_seen_or_heard_is_summed_up_of_today_where_no_time_is_named() {
    let home = home(QUAY).with_meaning();
    let ask = |question: &str, day: &str| {
        let now = Some(time(&format!("{day}T18:00:00")));
        answer(&Query { question: question.into(), now, ..Query::default() }, &home).unwrap()
    };
    let seen = ask("What did you see?", "20");
    assert_eq!(seen.route, crate::Route::Gist, "{seen:?}");
    assert!(seen.answer.unwrap_or_default().contains("heron"));
    assert_ne!(ask("What did you see?", "23").route, crate::Route::Gist);
}

#[test]
fn what_nobody_does_says_of_nobody_that_they_did_something() {
    let answer = |sound: &'static str, question: &str| {
        let rows: &[Row] = &[
            ("20T08:00:00", 5, Kind::Sound, None, sound),
            ("20T08:20:00", 5, Kind::Caption, None, "A heron stands on the quay."),
        ];
        home(rows).with_meaning().ask(question).answer.unwrap_or_default()
    };
    let came = "Did anybody come to the gate?";
    assert!(!answer("The gate slams in the wind.", came).starts_with("Yes"));
    assert!(answer("Somebody comes to the gate.", came).starts_with("Yes"));
    assert!(answer("A sailor rattles the gate.", came).starts_with("Yes"));
    assert!(answer("A knock at the gate.", "Did anybody knock at the gate?").starts_with("Yes"));
}

#[test]
fn who_said_the_most_is_counted_in_words() {
    let rows: &[Row] = &[
        ("20T08:00:00", 0, Kind::Text, Some("Liv"), "No."),
        ("20T08:01:00", 0, Kind::Text, Some("Ivo"), "Then let us wait until the tide is in and the ropes are dry."),
        ("20T08:02:00", 0, Kind::Text, Some("Liv"), "Fine."),
        ("20T08:03:00", 0, Kind::Text, Some("Ane"), "I can go ahead and look."),
    ];
    let home = home(rows).with_meaning();
    let misses =
        home.misses(&[("Who spoke the most?", "Ivo"), ("Who talked most?", "Ivo"), ("Who has said the least?", "Liv")]);
    assert_eq!(misses, NONE);
    assert!(home.ask("Who spoke the most?").reason.contains("the most of all"));
}

#[test]
fn a_greeting_is_no_question() {
    let home = home(QUAY).with_meaning();
    let hello = home.ask("Ahoy!");
    assert_eq!(hello.answer, None, "{hello:?}");
    assert!(hello.reason.contains("no question"), "{}", hello.reason);
}

#[test]
fn a_request_to_describe_is_not_answered_with_yes() {
    let home = home(QUAY).with_meaning();
    for question in ["Can you describe the heron?", "Would you please describe the heron?", "Describe the heron."] {
        let answer = home.ask(question).answer.unwrap_or_default();
        assert!(answer.contains("on the quay") && !answer.starts_with("Yes"), "{question}: {answer}");
    }
}
