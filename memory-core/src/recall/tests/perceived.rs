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
