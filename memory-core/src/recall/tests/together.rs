//! What no single event tells: what recurs, what two times compared say, who was not there, what does not work, who is whose child.

use super::home::{Row, home, time};
use crate::recall::answer;
use crate::{Kind, Query};

const NONE: [String; 0] = [];

#[test]
fn what_somebody_does_on_most_days_is_a_habit() {
    let rows: &[Row] = &[
        ("17T06:30:00", 0, Kind::Caption, Some("Tove"), "Tove does her stretches in the yard."),
        ("17T18:10:00", 0, Kind::Caption, Some("Tove"), "Tove mends a net in the barn."),
        ("18T06:40:00", 0, Kind::Caption, Some("Tove"), "Tove does her stretches in the yard."),
        ("18T09:00:00", 0, Kind::Text, Some("Tove"), "The stove is out."),
        ("19T06:35:00", 0, Kind::Caption, Some("Tove"), "Tove does her stretches in the yard."),
        ("19T12:00:00", 0, Kind::Text, Some("Rolf"), "Tove is at the sailmaker, she is late."),
    ];
    let home = home(rows).with_meaning();
    let misses =
        home.misses(&[("What does Tove do every morning?", "stretches"), ("Where does Tove stretch?", "in the yard")]);
    assert_eq!(misses, NONE);
}

#[test]
fn the_usual_time_of_a_deed_is_that_of_most_days() {
    let rows: &[Row] = &[
        ("17T15:00:00", 0, Kind::Caption, Some("Rolf"), "Rolf drinks a mug of soup on the quay."),
        ("18T15:10:00", 0, Kind::Caption, Some("Rolf"), "Rolf drinks his soup on the quay."),
        ("18T07:00:00", 0, Kind::Caption, Some("Tove"), "Tove drinks a mug of soup in the kitchen."),
        ("19T14:55:00", 0, Kind::Caption, Some("Rolf"), "Rolf drinks soup on the quay in the rain."),
    ];
    let home = home(rows).with_meaning();
    let misses = home.misses(&[
        ("What time does Rolf usually drink his soup?", "About 15:00"),
        ("When does Rolf have his soup?", "About 15:00"),
        // Once is no habit.
        ("When did Tove drink soup?", "07:00"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn who_reacts_when_addressed_by_a_role_has_that_role() {
    let rows: &[Row] = &[
        ("17T08:00:00", 0, Kind::Text, Some("Tove"), "Uncle, will you mend my kite?"),
        ("17T08:02:00", 0, Kind::Caption, Some("Rolf"), "Rolf mends the kite with tape."),
        ("17T09:00:00", 0, Kind::Text, Some("Ivo"), "Come and look, Uncle!"),
        ("17T09:01:00", 0, Kind::Text, Some("Rolf"), "In a moment."),
        ("17T12:00:00", 0, Kind::Caption, Some("Rolf"), "Rolf puts his pipe on the mantelpiece."),
        ("17T13:00:00", 0, Kind::Caption, Some("Ivo"), "Ivo puts his pipe into the tool box."),
    ];
    let misses = home(rows).with_meaning().misses(&[
        ("Where is Rolf's pipe?", "mantelpiece"),
        ("Where is Uncle's pipe?", "mantelpiece"),
        ("Where is Ivo's pipe?", "tool box"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn how_somebody_spent_a_day_is_a_summary() {
    let rows: &[Row] = &[
        ("17T08:00:00", 0, Kind::Caption, Some("Tove"), "Tove tars the hull of the dinghy."),
        ("17T11:00:00", 0, Kind::Caption, Some("Tove"), "Tove pickles beetroot."),
        ("17T12:00:00", 0, Kind::Caption, Some("Rolf"), "Rolf repairs a lamp."),
        ("18T10:00:00", 0, Kind::Caption, Some("Tove"), "Tove sleeps in the hammock."),
    ];
    let home = home(rows).with_meaning();
    for question in
        ["What did Tove get up to on Tuesday?", "How did Tove spend Tuesday?", "Give me a summary of Tove's Tuesday."]
    {
        let answer = home.ask(question);
        let said = answer.answer.unwrap_or_default();
        assert!(said.contains("hull") && said.contains("beetroot"), "{question} {said} ({})", answer.reason);
        assert!(!said.contains("lamp") && !said.contains("hammock"), "{question} {said}");
    }
}

#[test]
fn what_was_told_later_than_the_time_of_asking_does_not_count() {
    let rows: &[Row] = &[
        ("18T08:00:00", 0, Kind::Caption, Some("Tove"), "Tove hangs the oilskin on the nail by the door."),
        ("19T08:00:00", 0, Kind::Caption, Some("Tove"), "Tove puts the oilskin into the sea chest."),
    ];
    let home = home(rows).with_meaning();
    let at = |now: &str| {
        let question = "Where is the oilskin?".into();
        answer(&Query { question, now: Some(time(now)), ..Query::default() }, &home).unwrap().answer.unwrap_or_default()
    };
    assert!(at("18T12:00:00").contains("nail"), "{}", at("18T12:00:00"));
    assert!(at("19T12:00:00").contains("sea chest"), "{}", at("19T12:00:00"));
}

#[test]
fn two_times_are_compared() {
    let rows: &[Row] = &[
        ("17T16:00:00", 1_800, Kind::Action, Some("Rolf"), "Rolf polishes the tuba."),
        ("19T16:00:00", 3_000, Kind::Action, Some("Rolf"), "Rolf polishes the tuba."),
        ("18T09:00:00", 0, Kind::State, Some("robot"), "Battery at 41 %."),
        ("19T15:00:00", 0, Kind::State, Some("robot"), "Battery at 63 %."),
    ];
    let home = home(rows).with_meaning();
    let misses = home.misses(&[
        ("Did Rolf polish longer on 17 November or on 19 November?", "on 19 November"),
        ("Did Rolf polish longer on 17 November than on 19 November?", "No"),
        ("When was your battery lower, on 18 November at 9:00 or on 19 November at 15:00?", "on 18 November"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn who_is_usually_there_and_is_not_named_was_missing() {
    let rows: &[Row] = &[
        ("17T19:00:00", 0, Kind::Caption, None, "Rehearsal: Tove, Rolf, Ivo and Oda are on the stage."),
        ("18T19:00:00", 0, Kind::Caption, None, "Rehearsal: Tove, Rolf and Oda are on the stage."),
        ("19T19:00:00", 0, Kind::Caption, None, "Rehearsal: Tove and Ivo are on the stage. Oda waits in the car."),
    ];
    let home = home(rows).with_meaning();
    let misses = home.misses(&[
        ("Who was not on the stage on 18 November?", "Ivo"),
        ("Who was missing at the rehearsal on 18 November?", "Ivo"),
        ("Who was missing at the rehearsal on 19 November?", "Oda"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn what_does_not_work_is_what_was_told_so_last() {
    let rows: &[Row] = &[
        ("17T09:00:00", 0, Kind::Text, Some("Rolf"), "The winch is jammed."),
        ("17T10:00:00", 0, Kind::State, Some("pump"), "The pump is broken."),
        ("18T09:00:00", 0, Kind::Text, Some("Tove"), "The winch works again."),
        ("18T10:00:00", 0, Kind::Text, Some("Tove"), "I could not do anything about the compass."),
    ];
    let misses = home(rows).with_meaning().misses(&[
        ("What is still out of order?", "pump and the compass"),
        ("What hasn't been repaired yet?", "pump and the compass"),
        ("Does the compass work?", "No"),
        ("Does the winch work?", "Yes"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn who_calls_somebody_mother_is_her_child() {
    let rows: &[Row] = &[
        ("17T09:00:00", 0, Kind::Text, Some("Oda"), "Where did I leave my shawl?"),
        ("17T09:01:00", 0, Kind::Text, Some("Rolf"), "On the bench, Mother."),
        ("17T12:00:00", 0, Kind::Text, Some("Ivo"), "It smells of tar."),
    ];
    let misses = home(rows).with_meaning().misses(&[("Who is Oda's son?", "Rolf"), ("Who is Rolf's mother?", "Oda")]);
    assert_eq!(misses, NONE);
}

#[test]
fn when_a_state_began_and_when_somebody_came_back_is_told_by_what_they_did_then() {
    let rows: &[Row] = &[
        ("17T08:00:00", 0, Kind::Text, Some("Ivo"), "My throat is sore."),
        ("17T10:30:00", 0, Kind::Caption, Some("Tove"), "Tove rows to the lighthouse."),
        ("17T13:20:00", 0, Kind::Text, Some("Tove"), "The lantern keeper sends his regards."),
        ("18T07:00:00", 0, Kind::Text, Some("Rolf"), "The plumber, Ms Aune, comes this afternoon for the tap."),
        (
            "18T15:10:00",
            0,
            Kind::Caption,
            Some("Ms Aune"),
            "Ms Aune fits a new washer with a wrench and seals it with a gasket.",
        ),
    ];
    let misses = home(rows).with_meaning().misses(&[
        ("When did Ivo fall ill?", "17 November 2026 at 08:00"),
        ("When did Tove come back from the lighthouse?", "17 November 2026 at 13:20"),
        ("At what time did the plumber come for the tap?", "18 November 2026 at 15:10"),
        ("What is Ms Aune by profession?", "plumber"),
        ("Which tools did Ms Aune use?", "wrench"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn the_thing_that_was_called_by_its_name_before_is_meant_by_its_noun() {
    let rows: &[Row] = &[
        ("17T08:00:00", 0, Kind::Text, Some("Ivo"), "The red dinghy is in the boathouse."),
        ("17T08:10:00", 0, Kind::Text, Some("Ivo"), "The green dinghy is on the trailer."),
        ("18T08:00:00", 0, Kind::Text, Some("Tove"), "I left the green dinghy at the jetty."),
        ("18T09:00:00", 0, Kind::Text, Some("Tove"), "Rolf says the dinghy is on the beach."),
    ];
    let misses = home(rows)
        .with_meaning()
        .misses(&[("Where is the green dinghy?", "beach"), ("Where is the red dinghy?", "boathouse")]);
    assert_eq!(misses, NONE);
}

#[test]
fn what_nobody_told_of_is_not_answered_by_what_happens_to_be_near() {
    let rows: &[Row] = &[
        ("17T08:00:00", 0, Kind::Caption, None, "Ivo is at the jetty."),
        ("17T09:00:00", 0, Kind::Text, Some("Tove"), "I bought four lemons and a sack of coal."),
    ];
    let home = home(rows).with_meaning();
    for question in ["Where does Ivo live?", "How much did the lemons cost?"] {
        assert_eq!(home.ask(question).answer, None, "{question}");
    }
}

#[test]
fn it_in_a_reply_is_what_was_spoken_of() {
    let rows: &[Row] = &[
        ("17T08:00:00", 0, Kind::Text, Some("Ivo"), "I cannot find the oil can."),
        ("17T08:02:00", 0, Kind::Text, Some("Tove"), "I put it on the top rung because of the goats."),
        ("18T08:00:00", 0, Kind::Text, Some("Rolf"), "Who has my gloves?"),
        ("18T08:01:00", 0, Kind::Text, Some("Tove"), "They are on the bench."),
    ];
    let misses = home(rows)
        .with_meaning()
        .misses(&[("Where is the oil can?", "top rung"), ("Where are Rolf's gloves?", "on the bench")]);
    assert_eq!(misses, NONE);
}

#[test]
fn who_has_pain_is_ill_and_whose_knee_is_all_right_is_not() {
    let rows: &[Row] = &[("17T08:00:00", 0, Kind::Text, Some("Ivo"), "My tooth hurts terribly.")];
    assert_eq!(home(rows).with_meaning().misses(&[("Does Ivo have a toothache?", "Yes")]), NONE);
    let rows: &[Row] = &[
        ("17T08:00:00", 0, Kind::Text, Some("Ivo"), "My tooth hurts terribly."),
        ("18T08:00:00", 0, Kind::Text, Some("Ivo"), "My tooth is all right again."),
    ];
    assert_eq!(home(rows).with_meaning().misses(&[("Does Ivo still have a toothache?", "No")]), NONE);
}

#[test]
fn a_corrected_number_is_the_one_that_holds() {
    let rows: &[Row] = &[
        ("17T08:00:00", 0, Kind::Text, Some("Oda"), "I have outgrown my waders, I need size 38."),
        ("18T08:00:00", 0, Kind::Text, Some("Tove"), "Correction, Oda needs 39, I measured her feet."),
        (
            "18T09:00:00",
            0,
            Kind::Text,
            Some("Rolf"),
            "He says drops for the nose, three times a day. It cost 12 euros.",
        ),
        ("18T10:00:00", 0, Kind::Text, Some("Rolf"), "The nose drops cost 9 euros."),
    ];
    let misses = home(rows)
        .with_meaning()
        .misses(&[("What size waders does Oda need?", "39"), ("How much were the nose drops?", "9 euros")]);
    assert_eq!(misses, NONE);
}

#[test]
fn it_after_a_deed_is_what_was_dealt_with() {
    let rows: &[Row] = &[
        ("17T08:00:00", 0, Kind::Text, Some("Ivo"), "The bellows are torn, they no longer blow."),
        ("17T10:00:00", 0, Kind::Caption, Some("Mr Aas"), "Mr Aas glues the bellows with a patch of leather."),
        ("17T10:20:00", 0, Kind::Text, Some("Mr Aas"), "A seam had come undone. It is fine now."),
        ("18T07:30:00", 0, Kind::Action, Some("Oda"), "Oda takes her tablets."),
        ("18T09:00:00", 0, Kind::Text, Some("Tove"), "Oda's tablets are in the tackle box."),
    ];
    let misses = home(rows)
        .with_meaning()
        .misses(&[("Are the bellows still broken?", "No"), ("Where are Oda's tablets?", "tackle box")]);
    assert_eq!(misses, NONE);
}

#[test]
fn the_verb_of_a_question_stands_behind_its_adverb() {
    let rows: &[Row] = &[
        ("17T08:00:00", 0, Kind::Text, Some("Tove"), "The watering system drips."),
        ("18T08:00:00", 0, Kind::Text, Some("Tove"), "The watering system does not drip any more."),
        ("18T09:00:00", 0, Kind::Text, Some("Rolf"), "The beacon is dead."),
        ("18T11:00:00", 0, Kind::Text, Some("Rolf"), "The beacon works again, a mouse had gnawed through the wire."),
        ("18T12:00:00", 0, Kind::Caption, Some("Ivo"), "Ivo lifts the lantern off the hook and puts it on the shelf."),
    ];
    let misses = home(rows).with_meaning().misses(&[
        ("Does the watering system still drip?", "No"),
        ("Why was the beacon dead?", "mouse"),
        ("Where had the lantern been?", "hook"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn a_verb_means_what_it_means_with_its_particle() {
    let rows: &[Row] = &[
        ("17T20:00:00", 0, Kind::Caption, Some("Rolf"), "Rolf turns on the lamps in the barn."),
        ("17T22:00:00", 0, Kind::Caption, Some("Tove"), "Tove turns off the lamps in the barn."),
        ("18T09:00:00", 0, Kind::Text, Some("Oda"), "Ivo has come back."),
    ];
    let home = home(rows).with_meaning();
    let misses = home.misses(&[
        ("Who switched the lamps off?", "Tove"),
        ("Who switched on the lamps?", "Rolf"),
        ("Who has returned?", "Ivo"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn who_left_by_whatever_means_is_no_longer_here() {
    let rows: &[Row] = &[
        ("18T09:10:00", 0, Kind::Caption, Some("Rolf"), "Rolf mends the fence."),
        ("18T11:20:00", 0, Kind::Caption, Some("Rolf"), "Rolf pushes his bicycle out of the yard."),
        ("18T12:00:00", 0, Kind::Text, Some("Tove"), "Rolf has forgotten his gloves."),
    ];
    let home = home(rows).with_meaning();
    let misses = home.misses(&[("When did Rolf leave?", "at 11:20"), ("Is Rolf still here?", "No")]);
    assert_eq!(misses, NONE);
}

#[test]
fn what_harms_somebody_is_not_for_them() {
    let rows: &[Row] = &[
        ("17T09:00:00", 0, Kind::Text, Some("Tove"), "Mussels are poison for my son Ivo."),
        ("17T09:05:00", 0, Kind::Text, Some("Oda"), "I am allergic to sesame."),
        ("17T12:00:00", 0, Kind::Caption, Some("Ivo"), "Ivo eats a pear."),
    ];
    let home = home(rows).with_meaning();
    let misses = home.misses(&[
        ("What must Ivo not eat?", "Mussels"),
        ("Can Ivo eat mussels?", "No"),
        ("Can Oda eat sesame?", "No"),
        ("What is Tove's son called?", "Ivo"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn a_number_that_is_corrected_in_one_breath_is_the_later_one() {
    let rows: &[Row] = &[
        ("17T09:00:00", 0, Kind::Text, Some("Rolf"), "The sails are 30 euros each."),
        ("18T09:00:00", 0, Kind::Text, Some("Rolf"), "I said 30 euros for a sail. That was wrong, it is 36."),
        ("18T10:00:00", 0, Kind::Text, Some("Tove"), "I paid the boatyard for four nights."),
        ("18T11:00:00", 0, Kind::Text, Some("Oda"), "No band practice tonight, the piper has a cold."),
    ];
    let home = home(rows).with_meaning();
    let misses = home.misses(&[("How much is a sail?", "36"), ("How many nights did Tove pay for?", "Four nights")]);
    assert_eq!(misses, NONE);
}

#[test]
fn what_takes_place_no_more_is_answered_with_no() {
    let rows: &[Row] = &[
        ("17T09:00:00", 0, Kind::Text, Some("Tove"), "The rehearsal has been put on Friday at six."),
        ("18T11:00:00", 0, Kind::Text, Some("Tove"), "The rehearsal is cancelled, the barn is wet."),
        ("18T12:00:00", 0, Kind::Text, Some("Oda"), "My coach has moved the meeting from Monday to Saturday."),
    ];
    let home = home(rows).with_meaning();
    let misses =
        home.misses(&[("Is the rehearsal on?", "No"), ("When was the meeting going to be originally?", "Monday")]);
    assert_eq!(misses, NONE);
}

#[test]
fn the_last_time_is_the_one_since_which_it_was_not_done() {
    let rows: &[Row] = &[
        ("18T09:00:00", 0, Kind::Text, Some("Oda"), "The hinges have not been oiled since 3 November."),
        ("18T10:00:00", 0, Kind::Text, Some("Rolf"), "The hinges squeak."),
    ];
    let misses = home(rows).with_meaning().misses(&[("When were the hinges last oiled?", "3 November")]);
    assert_eq!(misses, NONE);
}

#[test]
fn who_is_named_at_a_meal_was_there() {
    let rows: &[Row] = &[
        ("17T19:00:00", 0, Kind::Caption, Some("Tove"), "Dinner: Tove serves rice to Rolf, Ivo and Oda."),
        (
            "18T19:00:00",
            0,
            Kind::Caption,
            Some("Tove"),
            "Dinner: Tove serves rice to Rolf and Oda. Ivo rests in the hammock.",
        ),
        ("18T20:00:00", 0, Kind::Text, Some("Oda"), "Rolf is ill, he has a cold."),
    ];
    let home = home(rows).with_meaning();
    let misses = home.misses(&[
        ("Was Rolf at dinner on 18 November?", "Yes"),
        ("Was Ivo at dinner on 18 November?", "No"),
        ("Who did not sit at the table on 18 November?", "Ivo"),
        ("Who is ill?", "Rolf"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn of_two_persons_that_a_question_offers_one_is_the_answer() {
    let rows: &[Row] = &[
        ("17T09:00:00", 0, Kind::Caption, Some("Rolf"), "Rolf paints the mast."),
        ("17T11:00:00", 0, Kind::Caption, Some("Tove"), "Tove mends the sail."),
        ("17T12:00:00", 0, Kind::Text, Some("Oda"), "Our sailmaker, Mrs Sund, comes on Friday."),
        ("17T13:00:00", 0, Kind::Text, Some("Oda"), "Aunt Berit is here. She is my sister."),
    ];
    let home = home(rows).with_meaning();
    let misses = home.misses(&[
        ("Was it Rolf or Tove who mended the sail?", "Tove"),
        ("Who is Mrs Sund?", "sailmaker"),
        ("Who is Berit?", "Oda's sister"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn what_is_told_without_a_verb_or_of_somebody_else_is_no_yes() {
    let rows: &[Row] = &[
        ("18T09:00:00", 0, Kind::Text, Some("Oda"), "No rehearsal tomorrow, the barn is locked."),
        ("18T10:00:00", 0, Kind::Text, Some("Tove"), "Rolf has a cold, I had to light the stove myself."),
        ("18T11:00:00", 0, Kind::Text, Some("Rolf"), "We need two hundred nails for the roof."),
        ("18T12:00:00", 0, Kind::Text, Some("Ivo"), "My name is Ivo. I am fourteen."),
        ("18T12:30:00", 0, Kind::Text, Some("Tove"), "Milk is bad for Rolf."),
    ];
    let home = home(rows).with_meaning();
    let misses = home.misses(&[
        ("Is there a rehearsal tomorrow?", "No"),
        ("How many nails do we need?", "200"),
        ("How old is Ivo?", "ourteen"),
        ("Does Rolf drink milk?", "No"),
    ]);
    assert_eq!(misses, NONE);
    let said = home.ask("Did Rolf light the stove?");
    assert!(!said.answer.is_some_and(|answer| answer.starts_with("Yes")));
}

#[test]
fn the_robot_stopped_for_what_it_told_of_itself_meanwhile() {
    let rows: &[Row] = &[
        ("18T09:00:00", 1_500, Kind::Action, Some("robot"), "I sweep the barn."),
        ("18T09:10:00", 0, Kind::State, Some("robot"), "My brush is tangled in a rope."),
        ("18T11:00:00", 0, Kind::State, Some("robot"), "I am at my station."),
        ("18T12:00:00", 0, Kind::Caption, Some("Rolf"), "Rolf arrives, out of breath."),
        ("18T12:10:00", 0, Kind::Text, Some("Ivo"), "I am the new sailmaker. My sister Berit turns thirty on Friday."),
    ];
    let home = home(rows).with_meaning();
    let misses = home.misses(&[
        ("Why did you stop sweeping?", "tangled"),
        ("When did Rolf arrive?", "at 12:00"),
        ("Who is Ivo?", "sailmaker"),
        ("How old will Berit be?", "hirty"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn what_somebody_did_is_told_also_where_the_question_calls_them_by_a_role() {
    let rows: &[Row] = &[
        ("17T09:00:00", 5, Kind::Caption, Some("Hagen"), "Mr Hagen the plumber comes to the door."),
        ("17T10:00:00", 5, Kind::Caption, Some("Hagen"), "Hagen mends the pipe under the sink."),
        ("17T11:00:00", 5, Kind::Caption, Some("Tove"), "Tove paints the gate green."),
        ("18T11:00:00", 5, Kind::Caption, Some("Hagen"), "Hagen feeds the goats."),
    ];
    let home = home(rows);
    for question in ["What did the plumber do on Tuesday?", "What did Hagen do on Tuesday?"] {
        let answer = home.ask(question).answer.unwrap_or_default();
        assert!(answer.contains("mends the pipe") && !answer.contains("gate") && !answer.contains("goats"), "{answer}");
    }
}
