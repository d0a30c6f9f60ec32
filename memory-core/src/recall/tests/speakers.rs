//! What somebody says in words that lean on what was said or done before, and what is only planned, denied or done without somebody.

use super::home::{Row, home};
use crate::Kind;

const NONE: [String; 0] = [];

#[test]
fn who_is_meant_by_he_was_named_before() {
    let rows: &[Row] = &[
        ("17T09:00:00", 0, Kind::Text, Some("Oda"), "My nephew Stellan arrives on Sunday."),
        ("17T09:10:00", 0, Kind::Text, Some("Oda"), "He will sleep in the attic."),
        ("17T10:00:00", 0, Kind::Text, Some("Rolf"), "May I go to Ivo's? He is my best friend, he plays the harp."),
        ("17T11:00:00", 0, Kind::Text, Some("Rolf"), "I left my anorak at Ivo's."),
    ];
    let home = home(rows).with_meaning();
    let misses = home.misses(&[
        ("Where will Stellan sleep?", "attic"),
        ("Who plays the harp?", "Ivo"),
        ("Where is Rolf's anorak?", "Ivo"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn who_is_greeted_is_not_who_acts() {
    let rows: &[Row] = &[("17T09:00:00", 0, Kind::Text, Some("Rolf"), "Morning, Oda! I mended the lantern.")];
    assert_eq!(home(rows).with_meaning().misses(&[("Who mended the lantern?", "Rolf")]), NONE);
}

#[test]
fn a_denial_a_plan_or_a_deed_without_somebody_is_no_yes() {
    let rows: &[Row] = &[
        ("17T08:00:00", 0, Kind::Text, Some("Tove"), "I do not like rye bread."),
        ("17T08:30:00", 0, Kind::Text, Some("Rolf"), "I do not eat herring, it makes me sick."),
        ("17T09:00:00", 0, Kind::Caption, Some("Oda"), "Oda goes sailing without the dog Bo."),
        ("17T10:00:00", 0, Kind::Text, Some("Ivo"), "My headache is gone."),
        ("17T11:00:00", 0, Kind::Text, Some("Stellan"), "I move out next month."),
    ];
    let home = home(rows).with_meaning();
    let misses = home.misses(&[
        ("Does Tove like rye bread?", "No"),
        ("Does Rolf like herring?", "No"),
        ("Did Bo go sailing with Oda?", "No"),
        ("Does Ivo still have a headache?", "No"),
    ]);
    assert_eq!(misses, NONE);
    let said = home.ask("Is Stellan gone?");
    assert!(!said.answer.is_some_and(|answer| answer.starts_with("Yes")));
}

#[test]
fn animals_are_known_by_what_they_are_and_by_name() {
    let rows: &[Row] = &[
        ("17T09:00:00", 0, Kind::Caption, Some("Oda"), "Oda combs the donkey Balder."),
        ("17T10:00:00", 0, Kind::Caption, Some("Rolf"), "Rolf finds Balder behind the mill."),
        ("17T11:00:00", 0, Kind::Caption, None, "A herald hands Tove a crate."),
    ];
    let home = home(rows).with_meaning();
    let misses = home.misses(&[("Who found the donkey?", "Rolf"), ("What time did the herald come?", "11:00")]);
    assert_eq!(misses, NONE);
}

#[test]
fn amounts_of_two_things_or_times_are_compared() {
    let rows: &[Row] = &[
        ("16T08:00:00", 0, Kind::Action, Some("Oda"), "Oda measures her blood sugar: 6.2."),
        ("17T08:00:00", 0, Kind::Action, Some("Oda"), "Oda measures her blood sugar: 7.1."),
        ("17T09:00:00", 0, Kind::Text, Some("Rolf"), "The new rudder was ninety euros."),
        ("17T10:00:00", 0, Kind::Text, Some("Tove"), "Thirty euros for a lantern!"),
        ("17T11:00:00", 0, Kind::Text, Some("Tove"), "The calf weighs forty kilos already."),
        ("17T12:00:00", 0, Kind::Text, Some("Tove"), "I go to the sauna once or twice a month."),
    ];
    let home = home(rows).with_meaning();
    let misses = home.misses(&[
        ("Which cost more, the rudder or the lantern?", "udder"),
        ("Which was cheaper, the rudder or the lantern?", "antern"),
        ("How heavy is the calf?", "orty"),
        ("How often does Tove go to the sauna?", "nce or twice a month"),
    ]);
    assert_eq!(misses, NONE);
}
#[test]
fn a_request_is_no_deed_and_a_correction_takes_back_only_what_it_tells_anew() {
    let rows: &[Row] = &[
        (
            "16T11:00:00",
            0,
            Kind::Text,
            Some("Oda"),
            "I bought three tickets for the circus on Saturday, eighteen euros each.",
        ),
        ("16T12:00:00", 0, Kind::Text, Some("Oda"), "Actually, the circus is on Sunday, I misread the tickets."),
        ("17T10:00:00", 0, Kind::Text, Some("Tove"), "Can one of you take out the ashes? I am away."),
        ("17T10:10:00", 0, Kind::Caption, Some("Rolf"), "Rolf carries the ashes downstairs."),
        ("17T14:00:00", 0, Kind::Text, Some("Stellan"), "I have found a berth! I move out on Monday."),
        (
            "17T15:00:00",
            0,
            Kind::Text,
            Some("Tove"),
            "The sweep cannot make it on Wednesday, he comes on Friday at eight.",
        ),
        ("17T16:00:00", 0, Kind::Text, Some("Rolf"), "My regatta was moved, it is at eleven on Thursday."),
    ];
    let home = home(rows).with_meaning();
    let misses = home.misses(&[
        ("How many circus tickets did Oda buy?", "3"),
        ("Who took out the ashes?", "Rolf"),
        ("When is Stellan moving out?", "23 November"),
        ("When was the sweep supposed to come at first?", "18 November"),
    ]);
    assert_eq!(misses, NONE);
    let said = home.ask("Has Rolf won his regatta?");
    assert!(!said.answer.is_some_and(|answer| answer.starts_with("Yes")));
}

#[test]
fn what_is_out_of_service_and_in_service_again_works() {
    let rows: &[Row] = &[
        ("17T09:00:00", 0, Kind::State, Some("winch"), "The winch is out of service."),
        ("17T12:00:00", 0, Kind::State, Some("winch"), "The winch is in service again."),
        ("17T13:00:00", 0, Kind::State, Some("crane"), "The crane is out of order."),
        ("17T14:00:00", 0, Kind::Action, Some("robot"), "I dust the model ship in the corridor."),
        ("17T14:20:00", 0, Kind::Action, Some("robot"), "I have finished dusting."),
        ("17T15:00:00", 0, Kind::Caption, Some("Oda"), "Oda practises the lute in her room."),
        ("17T16:00:00", 0, Kind::Text, Some("Ivo"), "May I borrow the sextant? I bring it back tomorrow."),
        ("17T16:30:00", 0, Kind::Text, Some("Ivo"), "Here is your sextant back, Oda."),
    ];
    let home = home(rows).with_meaning();
    let misses = home.misses(&[
        ("Is the winch working?", "Yes"),
        ("Can one use the winch again?", "Yes"),
        ("Does the crane work?", "No"),
        ("What did you dust?", "model ship"),
        ("Which instrument does Oda play?", "lute"),
        ("Has Ivo returned the sextant?", "Yes"),
    ]);
    assert_eq!(misses, NONE);
}
