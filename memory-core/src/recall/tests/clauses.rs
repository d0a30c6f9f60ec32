//! Which clause of an event answers, whose doing it is, what numbers add up to, how long a state lasted.

use super::home::{Row, home};
use crate::Kind;

const NONE: [String; 0] = [];

#[test]
fn who_did_something_is_told_by_the_clause_that_tells_of_it() {
    let rows: &[Row] = &[
        ("18T12:00:00", 0, Kind::Text, Some("Tove"), "I baked a loaf and Rolf had leftover dumplings."),
        ("18T13:00:00", 0, Kind::Text, Some("Ivo"), "The parade is put off because the juggler has a stiff neck."),
        ("18T14:00:00", 0, Kind::Text, Some("Ivo"), "The ladder fell over. No one was injured."),
        ("18T15:00:00", 0, Kind::Text, Some("Rolf"), "Which drawer are the batteries in?"),
        ("18T15:01:00", 0, Kind::Text, Some("Tove"), "The batteries are in the top drawer."),
    ];
    let home = home(rows).with_meaning();
    let misses = home.misses(&[
        ("Who had dumplings?", "Rolf"),
        ("Who has a stiff neck?", "juggler"),
        ("Was anybody injured?", "No"),
        ("Who asked about the batteries?", "Rolf"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn a_name_is_explained_by_what_it_is_said_to_be() {
    let rows: &[Row] =
        &[("18T12:00:00", 0, Kind::Text, Some("Tove"), "The fencers come at six. Their instructor is Mr Halvorsen.")];
    assert_eq!(home(rows).with_meaning().misses(&[("Who is Mr Halvorsen?", "instructor")]), NONE);
}

#[test]
fn a_place_in_another_clause_is_no_answer() {
    let rows: &[Row] = &[
        ("18T09:00:00", 0, Kind::Text, Some("Tove"), "Two heaters are in the attic, the third one is in the garage."),
        ("18T10:00:00", 0, Kind::Text, Some("Ivo"), "Smoking is prohibited in the barn, but in the yard it is fine."),
    ];
    let home = home(rows).with_meaning();
    let misses = home.misses(&[
        ("Where is the third heater?", "garage"),
        ("Where is smoking prohibited?", "barn"),
        ("Is smoking allowed in the barn?", "No"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn two_things_are_placed_with_one_verb_but_an_apposition_is_no_second_thing() {
    let rows: &[Row] = &[
        ("18T09:00:00", 0, Kind::Text, Some("Tove"), "The rake is in the shed, the hose under the stairs."),
        ("18T10:00:00", 0, Kind::Text, Some("Ivo"), "I put the whistle on the shelf and the compass in the drawer."),
        ("18T11:00:00", 0, Kind::Text, Some("Oda"), "Rolf went to Vik, a small village in the north."),
    ];
    let home = home(rows).with_meaning();
    let misses = home.misses(&[
        ("Where is the rake?", "In the shed"),
        ("Where is the hose?", "Under the stairs"),
        ("Where is the whistle?", "On the shelf"),
        ("Where is the compass?", "In the drawer"),
        ("Where did Rolf go?", "north"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn only_there_and_not_here_says_no() {
    let rows: &[Row] =
        &[("18T09:00:00", 0, Kind::Text, Some("Tove"), "The puppy may only sleep on the doormat, not on the sofa.")];
    let misses = home(rows)
        .with_meaning()
        .misses(&[("May the puppy sleep on the sofa?", "No"), ("May the puppy sleep on the doormat?", "Yes")]);
    assert_eq!(misses, NONE);
}

#[test]
fn told_numbers_are_added_and_compared() {
    let rows: &[Row] = &[
        ("19T18:00:00", 0, Kind::Text, Some("Tove"), "35 guests today, half of them with children."),
        ("19T19:00:00", 0, Kind::Text, Some("Ivo"), "A group of twelve cyclists comes at nine."),
        ("20T07:00:00", 0, Kind::Text, Some("Tove"), "48 guests today."),
    ];
    let home = home(rows).with_meaning();
    let misses = home.misses(&[
        ("How many guests came yesterday?", "35"),
        ("How many guests came today?", "48"),
        ("How many guests came altogether?", "83"),
        ("How many more guests came today than yesterday?", "13 more"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn what_somebody_else_did_has_no_time_for_the_one_who_is_asked_about() {
    let rows: &[Row] = &[
        ("18T09:00:00", 0, Kind::Action, Some("Tove"), "Tove waters the ferns."),
        ("18T10:00:00", 0, Kind::Text, Some("Ivo"), "Runa is my tenant."),
    ];
    let home = home(rows).with_meaning();
    assert_eq!(home.misses(&[("When did Tove water the ferns?", "09:00")]), NONE);
    let asked = home.ask("When did Runa water the ferns?");
    assert_eq!(asked.answer, None, "{asked:?}");
}

#[test]
fn a_told_time_is_the_time_of_what_came_then() {
    let rows: &[Row] = &[
        ("18T08:00:00", 0, Kind::Text, Some("Tove"), "The plasterer starts at half past nine."),
        ("19T08:00:00", 0, Kind::Text, Some("Tove"), "Rolf is away until the 27th."),
        ("19T08:30:00", 0, Kind::Text, Some("Ivo"), "The chimney sweep comes on Sunday morning."),
    ];
    let home = home(rows).with_meaning();
    let misses = home.misses(&[
        ("When did the plasterer start?", "09:30"),
        ("Until when is Rolf away?", "27"),
        ("When does the chimney sweep come?", "morning"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn a_state_lasted_from_its_begin_to_its_end() {
    let rows: &[Row] = &[
        ("18T09:10:00", 0, Kind::Text, Some("Tove"), "The shredder is jammed."),
        ("18T09:50:00", 0, Kind::Text, Some("Ivo"), "I cleaned it, the shredder works again."),
        ("19T07:00:00", 0, Kind::State, None, "The gate is open."),
    ];
    let home = home(rows).with_meaning();
    let misses = home.misses(&[("How long was the shredder jammed?", "40 minutes")]);
    assert_eq!(misses, NONE);
    let asked = home.ask("How long has the gate been open?");
    assert!(asked.answer.as_deref().is_some_and(|text| text.contains("so far, since")), "{asked:?}");
}

#[test]
fn before_or_after_is_answered_by_the_two_times() {
    let rows: &[Row] = &[
        ("18T09:00:00", 0, Kind::Action, Some("Tove"), "Tove locks the greenhouse."),
        ("18T10:00:00", 0, Kind::Caption, None, "A roofer unloads slates."),
    ];
    let misses = home(rows)
        .with_meaning()
        .misses(&[("Did a roofer unload slates before or after the greenhouse was locked?", "After")]);
    assert_eq!(misses, NONE);
}

#[test]
fn what_a_clause_leaves_out_is_taken_from_the_one_before() {
    let rows: &[Row] = &[
        ("18T09:00:00", 0, Kind::Text, Some("Tove"), "Ivo waters the first bed, Rolf the second and I weed the third."),
        (
            "18T10:00:00",
            0,
            Kind::Text,
            Some("Ivo"),
            "The full canister is in the cellar; the empty one is on the porch.",
        ),
        ("18T11:00:00", 0, Kind::Text, Some("Rolf"), "On the way I met two paper boys and one postwoman."),
    ];
    let home = home(rows).with_meaning();
    let misses = home.misses(&[
        ("Who waters the second bed?", "Rolf"),
        ("Who weeds the third bed?", "Tove"),
        ("Where is the empty canister?", "porch"),
        ("How many paper boys did Rolf meet?", "2"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn what_was_wrong_is_not_that_all_is_well() {
    let rows: &[Row] = &[
        ("18T09:00:00", 0, Kind::Text, Some("Tove"), "The lathe is making a terrible squeak."),
        ("18T10:00:00", 0, Kind::Text, Some("Ivo"), "The lathe works again."),
    ];
    assert_eq!(home(rows).with_meaning().misses(&[("What was wrong with the lathe?", "squeak")]), NONE);
}

#[test]
fn what_was_told_in_the_morning_of_the_night_was_in_the_night() {
    let rows: &[Row] = &[("20T07:30:00", 0, Kind::Text, Some("Tove"), "It hailed last night.")];
    assert_eq!(home(rows).with_meaning().misses(&[("Did it hail last night?", "Yes")]), NONE);
}

#[test]
fn an_amount_a_sum_and_a_price_are_those_of_their_clause() {
    let rows: &[Row] = &[
        ("19T09:00:00", 0, Kind::Text, Some("Tove"), "I am nine and my stepbrother Rolf is twelve."),
        ("19T10:00:00", 0, Kind::Text, Some("Ivo"), "I picked three melons, Rolf picked two."),
        ("19T11:00:00", 0, Kind::Text, Some("Ivo"), "I ordered sixty nails and four hinges, together 23 euros."),
        ("19T12:00:00", 0, Kind::Text, Some("Rolf"), "When I was five, I swallowed a button."),
    ];
    let home = home(rows).with_meaning();
    let misses = home.misses(&[
        ("How old is Rolf?", "twelve"),
        ("How many melons were picked altogether?", "5"),
        ("How much did the nails and hinges cost?", "23 euros"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn what_was_moved_is_then_when_it_was_moved_to() {
    let rows: &[Row] = &[(
        "20T08:00:00",
        0,
        Kind::Text,
        Some("Tove"),
        "The assembly has been moved from Saturday to next Tuesday at eight.",
    )];
    assert_eq!(home(rows).with_meaning().misses(&[("When is the assembly?", "Tuesday")]), NONE);
}

#[test]
fn what_is_missing_has_not_arrived() {
    let rows: &[Row] =
        &[("20T08:00:00", 0, Kind::Text, Some("Tove"), "The nails came, but the hinges are still missing.")];
    assert_eq!(home(rows).with_meaning().misses(&[("Have the hinges arrived?", "No")]), NONE);
}

#[test]
fn a_name_that_is_a_word_besides_is_a_person() {
    let rows: &[Row] = &[
        ("20T07:00:00", 0, Kind::Text, Some("Tove"), "Iris rowed and Rolf steered."),
        ("20T08:00:00", 0, Kind::Text, Some("Tove"), "The tortoise is called Biro."),
    ];
    let misses = home(rows).with_meaning().misses(&[("Who rowed?", "Iris"), ("Who is Biro?", "tortoise")]);
    assert_eq!(misses, NONE);
}
