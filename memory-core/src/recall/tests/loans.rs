//! Who has what was lent, how many are left, how old somebody is, and what somebody is doing.

use super::home::{Row, home};
use crate::Kind;

const NONE: [String; 0] = [];

const LENT: &[Row] = &[
    ("16T08:00:00", 0, Kind::Text, Some("Rolf"), "I lent our big tent to Oda for her trip."),
    ("16T09:00:00", 0, Kind::Text, Some("Rolf"), "I borrowed the small saw from Tove."),
    ("17T10:00:00", 0, Kind::Caption, None, "Runa hangs a coat on the door."),
    ("18T08:00:00", 0, Kind::Caption, None, "Oda hands the big tent to Rolf at the gate."),
    ("18T09:00:00", 0, Kind::Text, Some("Runa"), "I'll lend the sledge to Tove tomorrow."),
];

#[test]
fn what_was_lent_is_with_the_borrower_until_it_is_back() {
    let misses = home(LENT).with_meaning().misses(&[
        ("Who borrowed the tent?", "Oda"),
        ("Who lent Oda the tent?", "Rolf"),
        ("Who has the tent?", "Nobody any more: Oda hands the big tent"),
        ("Have we got the tent back?", "Yes: Oda hands the big tent"),
        ("How long did Oda have the tent?", "2 days, from 16 November 2026 at 08:00 to 18 November 2026 at 08:00"),
        ("Who has the small saw?", "Rolf"),
        ("Is the small saw back?", "No: Rolf: I borrowed"),
        ("How long has Rolf had the small saw?", "so far"),
    ]);
    assert_eq!(misses, NONE);
    // What is lent anew is with the last borrower, whether it was seen to come back or not.
    let anew = [LENT, &[("19T08:00:00", 0, Kind::Text, Some("Rolf"), "I lent the big tent to Runa.")]].concat();
    let again = [&anew[..], &[("19T09:00:00", 0, Kind::Text, Some("Rolf"), "I lent the big tent to Tove.")]].concat();
    for (rows, borrower) in [(&anew, "Runa"), (&again, "Tove")] {
        let misses =
            home(rows).with_meaning().misses(&[("Who has the tent?", borrower), ("Who borrowed the tent?", borrower)]);
        assert_eq!(misses, NONE);
    }
    // Who only will lend something has not.
    let answer = home(LENT).with_meaning().ask("Who borrowed the sledge?");
    assert_ne!(answer.answer.as_deref(), Some("Tove"), "{}", answer.reason);
}

#[test]
fn what_is_left_follows_from_what_came_and_went() {
    let rows: &[Row] = &[
        ("17T08:00:00", 0, Kind::Text, Some("Tove"), "We need twelve lanterns."),
        ("17T10:00:00", 0, Kind::Text, Some("Rolf"), "I bought twelve lanterns."),
        ("17T10:30:00", 0, Kind::Caption, None, "Rolf puts twelve lanterns in the drawer."),
        ("18T18:00:00", 0, Kind::Caption, None, "Oda takes three lanterns out of the drawer."),
        ("18T19:00:00", 0, Kind::Caption, None, "Rolf stacks six boxes of slates on the shelf."),
        ("19T08:00:00", 0, Kind::Caption, None, "Tove takes two boxes of slates off the shelf."),
        ("19T09:00:00", 0, Kind::Caption, None, "Runa screws one of the lanterns into a holder."),
    ];
    let misses = home(rows).with_meaning().misses(&[
        (
            "How many lanterns are left?",
            "8: 12 on 17 November 2026 at 10:00, less 3 on 18 November 2026 at 18:00, less 1 yesterday at 09:00",
        ),
        ("How many boxes of slates are on the shelf now?", "4: 6"),
        ("How many of the lanterns haven't been used yet?", "8: 12"),
    ]);
    assert_eq!(misses, NONE);
    // Where nothing came or went there is nothing to reckon.
    let answer = home(&rows[..3]).with_meaning().ask("How many lanterns are left?");
    assert!(!answer.reason.contains("what came and went"), "{}", answer.reason);
}

#[test]
fn an_age_changes_on_the_day_that_was_told() {
    let rows: &[Row] = &[
        ("19T08:00:00", 0, Kind::Text, Some("Tove"), "Our nephew Odin turns five on Monday."),
        (
            "19T09:00:00",
            0,
            Kind::Text,
            Some("Rolf"),
            "We need a cake for Gudrun's party. She's turning seventy-four on Sunday.",
        ),
    ];
    let misses = home(rows).with_meaning().misses(&[
        ("How old is Odin?", "4, and 5 on Monday 23 November"),
        ("How old will Odin be?", "Five, on Monday 23 November"),
        ("When is Odin's birthday?", "On Monday 23 November"),
        ("When does Odin turn five?", "On Monday 23 November"),
        ("When is Gudrun's birthday?", "On Sunday 22 November"),
        ("How old is Gudrun going to be?", "Seventy-four"),
    ]);
    assert_eq!(misses, NONE);
    // Minutes are no age, and nothing was told of Rolf's.
    let late = [rows, &[("19T10:00:00", 0, Kind::Text, Some("Tove"), "Odin will be nine minutes late.")]].concat();
    let answer = home(&late).with_meaning().ask("How old will Odin be?");
    assert!(answer.answer.as_deref().unwrap_or_default().starts_with("Five"), "{:?}", answer.answer);
    let answer = home(rows).with_meaning().ask("How old is Rolf?");
    assert!(!answer.answer.unwrap_or_default().contains("74"), "{}", answer.reason);
}

#[test]
fn a_visit_lasts_from_the_first_sight_to_the_leaving() {
    let rows: &[Row] = &[
        ("18T10:00:00", 0, Kind::Caption, None, "A painter with a bucket steps into the hall."),
        ("18T11:15:00", 0, Kind::Caption, None, "The painter folds his cloth and leaves the flat."),
        ("18T11:30:00", 0, Kind::Text, Some("Tove"), "The painter finished the ceiling."),
    ];
    let misses = home(rows).with_meaning().misses(&[
        ("How long was the painter here?", "1 hour 15 minutes"),
        ("How long did the painter stay?", "1 hour 15 minutes"),
    ]);
    assert_eq!(misses, NONE);
    // A journey is no visit.
    let answer = home(rows).with_meaning().ask("How long did the painter stay in Riga?");
    assert!(!answer.reason.contains("first seen"), "{}", answer.reason);
}

#[test]
fn what_somebody_is_doing_is_what_they_were_last_seen_to_do() {
    let rows: &[Row] = &[
        ("20T05:00:00", 0, Kind::Caption, None, "Rolf kneads dough at the table."),
        ("20T08:40:00", 0, Kind::Text, Some("Rolf"), "I'm making soup tonight."),
        ("20T08:58:00", 0, Kind::Caption, None, "Rolf sleeps in the hammock while Oda reads a book."),
    ];
    let misses = home(rows).with_meaning().misses(&[
        ("What is Rolf doing?", "Sleeps in the hammock"),
        ("What is Rolf doing at the moment?", "Sleeps in the hammock"),
        ("What is Oda up to?", "Reads a book"),
    ]);
    assert_eq!(misses, NONE);
    // What was seen in the morning says nothing of now.
    let answer = home(&rows[..1]).with_meaning().ask("What is Rolf doing?");
    assert!(!answer.reason.contains("last seen to do"), "{}", answer.reason);
    assert_eq!(answer.answer, None, "{}", answer.reason);
}

#[test]
fn what_was_asked_for_and_carried_off_is_lent_until_the_borrower_says_that_it_is_back() {
    let rows: &[Row] = &[
        ("17T08:00:00", 0, Kind::Text, Some("Oda"), "Rolf, could I borrow your trolley till Wednesday?"),
        ("17T08:10:00", 0, Kind::Caption, None, "A tall woman wheels a trolley through the gate."),
        (
            "17T12:00:00",
            0,
            Kind::Text,
            Some("Tove"),
            "Runa asked for the ice box. I told her she can keep it until Monday.",
        ),
        ("18T09:00:00", 0, Kind::Text, Some("Oda"), "I'm not done with the trolley, can I hang on to it till Sunday?"),
    ];
    let misses = home(rows).with_meaning().misses(&[
        ("Who's got the trolley?", "Oda"),
        ("Has the trolley been returned yet?", "No: Oda"),
        ("When do we get the trolley back?", "Sunday"),
        ("Where's the ice box?", "With Runa"),
        ("Who has the ice box?", "Runa"),
    ]);
    assert_eq!(misses, NONE);
    for (words, back) in [
        ("Tell Rolf I've put the trolley in your shed.", true),
        ("Here's your trolley, many thanks!", true),
        ("I've put a new wheel on the trolley.", false),
    ] {
        let later = [rows, &[("19T09:00:00", 0, Kind::Text, Some("Oda"), words)]].concat();
        let expected = if back { format!("Yes: Oda: {words}") } else { "No: Oda".to_owned() };
        let misses = home(&later).with_meaning().misses(&[("Have we got the trolley back?", expected.as_str())]);
        assert_eq!(misses, NONE);
    }
}
