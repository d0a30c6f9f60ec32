//! Tenses.

use super::*;

#[test]
fn what_is_planned_is_told_in_the_future() {
    for text in [
        "Who will water the plants?",
        "She'll be late.",
        "It is going to rain.",
        "The rent is due.",
        "When does the boat leave?",
        "What time does the film start?",
        "What do I have on Monday?",
        "When do we have to be at the airport?",
        "The party is on Saturday.",
        "When is the rehearsal?",
        "The check-up was moved to Thursday.",
        "I booked a table for Friday.",
        "Are you supposed to call him at ten tonight?",
        "The guests arrive in two days.",
        "What have we got planned for Friday?",
    ] {
        assert_eq!(tense_of(text), Tense::Future, "{text}");
    }
}

#[test]
fn what_is_over_is_told_in_the_past() {
    for text in [
        "Who came?",
        "What did he say?",
        "Was the door open?",
        "Has she fed the cat?",
        "The kettle whistled.",
        "Where is the man who called on Monday?",
        "Did he say when she will come?",
        "Who moved the chair on Monday?",
        "Has she got back?",
        "Have you got lost?",
    ] {
        assert_eq!(tense_of(text), Tense::Past, "{text}");
    }
}

#[test]
fn what_holds_now_is_told_in_the_present() {
    for text in [
        "Where is the kettle?",
        "What time is it?",
        "Who has the blue cup?",
        "What do I have in the drawer?",
        "Who comes from Norway?",
        "How much water have you got left?",
        "Who has got the blue cup?",
        "The door isn't locked.",
        "Monday evening",
        "",
    ] {
        assert_eq!(tense_of(text), Tense::Present, "{text}");
    }
}
