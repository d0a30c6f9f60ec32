//! What is told beside an event and not by it: what was done next, what it was due to, what was put right since, who helped.

use super::home::{Row, home};
use crate::Kind;

const NONE: [String; 0] = [];

#[test]
fn what_the_same_person_did_next_is_told_by_single_events() {
    let rows: &[Row] = &[
        ("17T16:00:00", 0, Kind::Action, Some("Tove"), "Tove rinses the brushes."),
        ("17T16:05:00", 0, Kind::Action, Some("Rolf"), "Rolf sweeps the yard."),
        ("17T16:08:00", 0, Kind::Action, Some("Tove"), "Tove hangs up her overall."),
        ("18T16:00:00", 0, Kind::Action, Some("Tove"), "Tove rinses the brushes."),
        ("18T16:09:00", 0, Kind::Action, Some("Tove"), "Tove hangs up her overall."),
        ("18T16:30:00", 0, Kind::Action, Some("Tove"), "Tove bolts the gate."),
    ];
    let misses = home(rows).with_meaning().misses(&[
        ("What did Tove do right after rinsing the brushes?", "overall"),
        ("I've rinsed the brushes. What next?", "overall"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn a_trouble_is_over_once_somebody_has_mended_it() {
    let rows: &[Row] = &[
        ("17T09:00:00", 0, Kind::Text, Some("Tove"), "The barn lantern smokes, the wick is worn."),
        ("17T10:00:00", 0, Kind::Caption, Some("Rolf"), "Rolf replaces the wick in the barn."),
        ("17T11:00:00", 0, Kind::Text, Some("Tove"), "The oil press makes a rattling noise."),
        ("17T12:00:00", 0, Kind::Text, Some("Tove"), "The gutter drips."),
        ("17T13:00:00", 0, Kind::Caption, Some("Rolf"), "Rolf tightens the gutter."),
        ("18T08:00:00", 0, Kind::Text, Some("Tove"), "The gutter drips again."),
    ];
    let misses = home(rows).with_meaning().misses(&[
        ("Does the barn lantern still smoke?", "No"),
        ("Does the oil press still make a noise?", "Yes"),
        ("Is the gutter still dripping?", "Yes"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn what_is_said_beside_a_deed_is_its_reason() {
    let rows: &[Row] = &[
        ("17T09:00:00", 0, Kind::Caption, Some("Rolf"), "Rolf hands Ivo the jar of plums."),
        ("17T09:01:00", 0, Kind::Text, Some("Rolf"), "Take them. I can't eat plums, they upset me."),
        ("17T15:00:00", 0, Kind::Text, Some("Ivo"), "The sun is out."),
    ];
    assert_eq!(home(rows).with_meaning().misses(&[("Why did Rolf hand Ivo the plums?", "can't eat plums")]), NONE);
}

#[test]
fn who_is_related_to_whom_is_told_of_the_two() {
    let rows: &[Row] = &[
        ("17T09:00:00", 0, Kind::Text, Some("Ivo"), "Tove and Rolf are cousins, you know."),
        ("17T10:00:00", 0, Kind::Text, Some("Tove"), "Rolf, pass me the ladder."),
    ];
    assert_eq!(home(rows).with_meaning().misses(&[("How are Tove and Rolf related?", "cousins")]), NONE);
}

#[test]
fn who_lifts_the_robot_off_what_it_was_stuck_on_freed_it() {
    let rows: &[Row] = &[
        ("17T09:00:00", 0, Kind::State, Some("robot"), "The robot is stuck on the door mat."),
        ("17T09:04:00", 0, Kind::Caption, Some("Tove"), "Tove waters the saplings."),
        ("17T09:06:00", 0, Kind::Caption, Some("Ivo"), "Ivo lifts the robot off the door mat."),
    ];
    assert_eq!(home(rows).with_meaning().misses(&[("Who freed you from the mat?", "Ivo")]), NONE);
}

#[test]
fn what_would_have_been_noticed_and_was_not_did_not_happen() {
    let rows: &[Row] = &[
        ("17T09:00:00", 0, Kind::Text, Some("Tove"), "The chimney sweep is coming on Thursday."),
        ("17T10:00:00", 0, Kind::Caption, Some("Rolf"), "Rolf rakes the leaves in the yard."),
    ];
    let home = home(rows).with_meaning();
    assert_eq!(
        home.misses(&[("Did Tove rake the yard?", "No"), ("Did the chimney sweep come on 17 November?", "No")]),
        NONE
    );
    assert_eq!(home.ask("Has anybody seen the walrus?").answer, None);
}

#[test]
fn what_was_planned_at_first_is_told_by_the_first_plan() {
    let rows: &[Row] = &[
        ("16T09:00:00", 0, Kind::Text, Some("Tove"), "The regatta is on Friday."),
        ("17T09:00:00", 0, Kind::Text, Some("Tove"), "There is a storm coming. The regatta is on Sunday instead."),
        (
            "17T10:00:00",
            0,
            Kind::Text,
            Some("Rolf"),
            "The tiler rang: he cannot make it on Thursday, he comes on Saturday.",
        ),
    ];
    let misses = home(rows).with_meaning().misses(&[
        ("When was the regatta supposed to be at first?", "Today"),
        ("When was the tiler supposed to come at first?", "19 November"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn a_price_is_asked_for_in_many_words() {
    let rows: &[Row] = &[
        ("17T09:00:00", 0, Kind::Text, Some("Rolf"), "My new saddle was four pounds twenty at the market."),
        ("17T10:00:00", 0, Kind::Text, Some("Tove"), "The repair of the roof came to ninety euros."),
    ];
    let misses = home(rows).with_meaning().misses(&[
        ("What did Rolf pay for his saddle?", "four pounds twenty"),
        ("What did the repair of the roof come to?", "ninety"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn of_what_events_do_not_speak_they_are_not_so_many() {
    let rows: &[Row] = &[
        ("17T09:00:00", 0, Kind::Text, Some("Tove"), "Mind the rungs, they are wet."),
        ("17T10:00:00", 0, Kind::Action, Some("Rolf"), "Rolf climbs up to the dovecote."),
        ("17T15:00:00", 0, Kind::Action, Some("Rolf"), "Rolf climbs up to the dovecote."),
        ("18T09:00:00", 0, Kind::Action, Some("Rolf"), "Rolf nails a board to the fence."),
        ("18T10:00:00", 0, Kind::Action, Some("Rolf"), "Rolf nails a board to the fence."),
    ];
    let home = home(rows);
    let rungs = home.ask("How many rungs go up to the dovecote?");
    assert!(!rungs.reason.contains("separate events"), "{:?}: {}", rungs.answer, rungs.reason);
    let boards = home.ask("How many boards did Rolf nail to the fence?");
    assert!(boards.answer.as_deref().is_some_and(|answer| answer.starts_with("2: ")), "{:?}", boards.answer);
}
