//! Questions with the answers that people expect.

use super::home::{Row, home};
use crate::{Kind, Route};

const NONE: [String; 0] = [];

#[test]
fn the_latest_place_is_told_and_the_one_before_on_request() {
    let rows: &[Row] = &[
        ("18T10:00:00", 0, Kind::Text, Some("Mira"), "I put the torch in the top drawer."),
        ("18T11:00:00", 0, Kind::Text, Some("Jonas"), "The left glove is on the workbench."),
        ("18T11:05:00", 0, Kind::Text, Some("Jonas"), "The right glove is in the car."),
        ("19T09:00:00", 0, Kind::Text, Some("Jonas"), "I moved the torch to the shelf in the cellar."),
        ("19T12:00:00", 0, Kind::Text, Some("Mira"), "My aunt lives in Tartu."),
        ("20T07:00:00", 0, Kind::Text, Some("Mira"), "Is the torch in the garden?"),
    ];
    let misses = home(rows).misses(&[
        ("Where is the torch?", "shelf in the cellar"),
        ("Where was the torch before?", "top drawer"),
        ("Where is the left glove?", "workbench"),
        ("Where is the right glove?", "in the car"),
        ("Where does Mira's aunt live?", "Tartu"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn yes_and_no_follow_the_latest_state() {
    let rows: &[Row] = &[
        ("18T10:00:00", 0, Kind::State, None, "The printer is broken."),
        ("18T12:00:00", 0, Kind::State, None, "The attic window is open."),
        ("19T09:00:00", 0, Kind::State, None, "The printer works again."),
        ("19T10:00:00", 0, Kind::Text, Some("Jonas"), "I closed the attic window."),
        ("19T11:00:00", 0, Kind::State, None, "The shed is locked."),
        ("19T12:00:00", 0, Kind::Text, Some("Jonas"), "The string of the kite has snapped."),
    ];
    let misses = home(rows).misses(&[
        ("Is the string of the kite all right?", "No"),
        ("Is the printer all right?", "Yes"),
        ("Is the printer broken?", "No"),
        ("Does the printer work?", "Yes"),
        ("Is the attic window open?", "No"),
        ("Is the attic window closed?", "Yes"),
        ("Is the shed locked?", "Yes"),
        ("Is the shed unlocked?", "No"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn what_was_forgotten_was_not_done() {
    let rows: &[Row] = &[
        ("19T09:00:00", 0, Kind::Text, Some("Mira"), "The harpsichord needs a new string."),
        ("19T10:00:00", 0, Kind::Text, Some("Jonas"), "I clean forgot the string for the harpsichord."),
        ("19T11:00:00", 0, Kind::Text, Some("Jonas"), "I forgot to lock the boathouse."),
    ];
    let misses = home(rows).misses(&[
        ("Has Jonas brought the string for the harpsichord?", "No"),
        ("Did Jonas lock the boathouse?", "No"),
        ("Did Jonas forget the string for the harpsichord?", "Yes"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn numbers_are_told_with_their_units() {
    let rows: &[Row] = &[
        ("18T10:00:00", 0, Kind::Text, Some("Mira"), "The crate weighs 4.2 kg."),
        ("18T11:00:00", 0, Kind::Text, Some("Jonas"), "We bought twelve eggs at the market."),
        ("19T11:00:00", 0, Kind::State, None, "The rain barrel is 80 % full."),
        ("19T12:00:00", 0, Kind::Text, Some("Jonas"), "The choir collected three hundred and forty euros."),
    ];
    let misses = home(rows).misses(&[
        ("How much did the choir collect?", "three hundred and forty euros"),
        ("How heavy is the crate?", "4.2 kg"),
        ("How many eggs did we buy?", "12"),
        ("How full is the rain barrel?", "80 %"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn occurrences_are_counted_and_bounded_by_time() {
    let rows: &[Row] = &[
        ("19T10:00:00", 3, Kind::Sound, None, "The gong sounds."),
        ("20T08:10:00", 3, Kind::Sound, None, "The gong sounds."),
        ("20T08:30:00", 3, Kind::Sound, None, "The gong sounds."),
        ("20T08:40:00", 3, Kind::Sound, None, "A dog barks."),
    ];
    let misses = home(rows).misses(&[
        ("How often did the gong sound?", "3 times"),
        ("How many times did the gong sound yesterday?", "Once"),
        ("How often did the gong sound today?", "Twice"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn what_somebody_tells_of_the_past_happened_when_they_say() {
    let rows: &[Row] = &[
        ("02T18:00:00", 0, Kind::Text, Some("Mira"), "I toured the windmill last Friday. The view was great!"),
        ("10T18:00:00", 0, Kind::Text, Some("Jonas"), "Lovely. Yesterday we visited the caves with the children."),
        ("17T18:00:00", 0, Kind::Text, Some("Jonas"), "We rented a caravan on Sunday."),
        ("19T18:00:00", 0, Kind::Text, Some("Mira"), "I sold the caravan last month."),
        ("19T19:00:00", 0, Kind::Text, Some("Jonas"), "The piano tuner was here."),
    ];
    let misses = home(rows).misses(&[
        ("When did Mira tour the windmill?", "On 30 October 2026"),
        ("When did Jonas visit the caves?", "9 November"),
        ("When did we rent the caravan in November?", "15 November"),
        ("When was the piano tuner here?", "19:00"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn the_length_of_a_sentence_is_the_length_of_nothing_that_it_tells() {
    let rows: &[Row] = &[
        ("19T10:00:00", 9, Kind::Text, Some("Mira"), "I have been learning the harp."),
        ("19T10:30:00", 6, Kind::Text, Some("Jonas"), "We have rented the allotment for twelve years now."),
        (
            "19T10:40:00",
            6,
            Kind::Text,
            Some("Mira"),
            "I collect stamps since 2016, and I sold two of them three weeks ago.",
        ),
        ("19T11:00:00", 1_500, Kind::Caption, None, "Jonas mows the lawn."),
    ];
    let home = home(rows);
    let misses = home.misses(&[
        ("How long did Jonas mow the lawn?", "25 minutes"),
        ("How long has Jonas rented the allotment?", "Twelve years"),
        ("How long has Mira collected stamps?", "Since 2016"),
    ]);
    assert_eq!(misses, NONE);
    let harp = home.ask("How long has Mira been learning the harp?");
    assert!(!harp.answer.as_deref().unwrap_or_default().contains("9 seconds"), "{harp:?}");
}

#[test]
fn a_day_is_summarised_however_it_is_named() {
    let rows: &[Row] = &[
        ("18T09:00:00", 60, Kind::Caption, None, "Mira plants two apple trees."),
        ("19T09:00:00", 60, Kind::Caption, None, "Jonas paints the fence."),
    ];
    let misses = home(rows).misses(&[
        ("Summarise 18 November 2026", "Mira plants two apple trees."),
        ("Give me a summary of 19 November.", "Jonas paints the fence."),
        ("Summarise yesterday", "Jonas paints the fence."),
        ("What happened on the 18th?", "Mira plants two apple trees."),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn a_summary_of_several_days_says_which_day_it_was() {
    let rows: &[Row] = &[
        ("17T09:00:00", 60, Kind::Caption, None, "Mira plants two apple trees."),
        ("18T15:00:00", 60, Kind::Caption, None, "Jonas paints the fence."),
    ];
    let told = home(rows).ask("Summarise the last four days").answer.unwrap_or_default();
    assert_eq!(
        told,
        "17 November, 09:00 to 09:01: Mira plants two apple trees. 18 November, 15:00 to 15:01: Jonas paints the fence."
    );
}

#[test]
fn what_is_said_in_a_summary_has_its_speaker_and_ends_as_a_sentence() {
    let rows: &[Row] = &[
        ("19T09:00:00", 0, Kind::Text, Some("Mira"), "The ladder is in the shed."),
        ("19T09:01:00", 60, Kind::Caption, None, "Jonas paints the fence."),
    ];
    let told = home(rows).ask("Summarise yesterday").answer.unwrap_or_default();
    assert_eq!(told, "Jonas paints the fence. Mira said \"The ladder is in the shed\".");
}

#[test]
fn a_time_and_a_sense_are_enough_of_a_question() {
    let rows: &[Row] = &[
        ("20T08:00:10", 5, Kind::Caption, None, "A heron stands in the pond."),
        ("20T08:00:20", 5, Kind::Sound, None, "A whistle is heard."),
        ("20T08:50:00", 5, Kind::Caption, None, "Two girls fly a kite."),
    ];
    let misses = home(rows).misses(&[
        ("What was in view at 08:00?", "A heron stands in the pond."),
        ("What did you see around 08:50?", "Two girls fly a kite."),
        ("What could be heard at 08:00?", "Heard: A whistle is heard."),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn silence_is_evidence_only_where_it_is_asked_for() {
    let rows: &[Row] = &[
        ("20T08:00:00", 30, Kind::Sound, None, "There is no sound at all: the signal is silent."),
        ("20T08:00:10", 5, Kind::Caption, None, "A heron stands in the pond."),
        ("20T08:05:00", 5, Kind::Caption, None, "Two girls fly a kite."),
    ];
    let mut home = home(rows);
    home.events[0].attributes.insert("signal".into(), crate::Value::Text("silent".into()));
    let silence = Some("There is no sound at all: the signal is silent.");
    let told = home.ask("What happened between 07:59 and 08:02?");
    assert_eq!(told.answer.as_deref(), Some("A heron stands in the pond."));
    assert_eq!(told.evidence.last().map(|evidence| evidence.text.as_str()), silence);
    let asked = home.ask("When was the signal silent?");
    assert_eq!(asked.evidence.first().map(|evidence| evidence.text.as_str()), silence);
}

#[test]
fn order_decides_between_alternatives() {
    let rows: &[Row] = &[
        ("20T08:10:00", 6, Kind::Caption, None, "A heron stands by the pond."),
        ("20T08:20:00", 6, Kind::Caption, None, "A fox crosses the lawn."),
        ("20T08:30:00", 6, Kind::Caption, None, "A hedgehog eats from a bowl."),
    ];
    let misses = home(rows).misses(&[
        ("Which came first, the heron or the fox?", "heron"),
        ("Who was seen later, the hedgehog or the fox?", "hedgehog"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn a_cue_places_what_is_asked_for() {
    let rows: &[Row] = &[
        ("20T08:00:10", 2, Kind::Sound, None, "The timer beeps."),
        ("20T08:00:14", 6, Kind::Caption, None, "Jonas takes a cake out of the oven."),
        ("20T08:10:00", 6, Kind::Caption, None, "Mira feeds the tortoise."),
        ("20T08:20:00", 60, Kind::Sound, None, "It is raining."),
        ("20T08:20:20", 6, Kind::Caption, Some("Mira"), "Mira closes the shutters."),
        ("20T08:40:00", 6, Kind::Caption, Some("Jonas"), "Jonas folds the laundry."),
    ];
    let home = home(rows);
    let mut wrong = Vec::new();
    for (question, first) in [
        ("What was seen right after the timer beeped?", "Jonas takes a cake out of the oven."),
        ("When it was raining, what was seen?", "Mira closes the shutters."),
        ("What could be heard while Mira closed the shutters?", "It is raining."),
    ] {
        let answer = home.ask(question);
        let found = answer.evidence.first().map(|item| item.text.clone());
        if found.as_deref() != Some(first) {
            wrong.push(format!("{question} expected {first:?}, found {found:?}, said {:?}", answer.answer));
        }
    }
    wrong.extend(home.misses(&[("When it was raining, who closed the shutters?", "Mira")]));
    assert_eq!(wrong, NONE);
}

#[test]
fn what_one_sense_noticed_at_an_event_of_the_other_is_never_told_by_the_other() {
    let rows: &[Row] = &[
        ("20T08:00:00", 4, Kind::Caption, None, "A goat stands by the trough."),
        ("20T08:00:05", 4, Kind::Object, None, "goat: white; trough: stone"),
        ("20T08:00:20", 3, Kind::Sound, None, "A whistle blows."),
        ("20T08:00:40", 3, Kind::Sound, None, "A window pane breaks."),
        ("20T08:30:00", 3, Kind::Sound, None, "A saw runs."),
        ("20T08:35:00", 4, Kind::Caption, None, "A cart is unloaded."),
    ];
    let home = home(rows).with_meaning();
    let mut wrong = Vec::new();
    for (question, wanted) in [
        // No picture lies within two seconds of the whistle.
        ("What did you see when the whistle blew?", "goat"),
        ("What was in front of you when the whistle blew?", "goat"),
        ("What did you hear while the goat stood by the trough?", "whistle"),
    ] {
        let answer = home.ask(question);
        let found = answer.evidence.first().map_or("", |item| item.text.as_str());
        if !found.contains(wanted) {
            wrong.push(format!("{question} found {found:?}, said {:?}", answer.answer));
        }
    }
    assert_eq!(wrong, NONE);
    let heard = home.ask("Did you hear a goat?");
    assert!(heard.evidence.iter().all(|item| item.kind != Kind::Object), "{heard:?}");
}

#[test]
fn the_first_and_the_last_of_a_class_of_sounds_are_told_apart() {
    let rows: &[Row] = &[
        ("19T08:00:00", 3, Kind::Sound, None, "A donkey brays."),
        ("20T05:20:00", 3, Kind::Sound, None, "A duck quacks."),
        ("20T08:00:00", 3, Kind::Caption, None, "A cat sits on the sill."),
        ("20T08:10:00", 3, Kind::Sound, None, "A drill runs."),
        ("20T08:20:00", 3, Kind::Sound, None, "A horse neighs."),
        ("20T08:30:00", 3, Kind::Sound, None, "It thunders."),
    ];
    let misses = home(rows).misses(&[
        ("Which animal did you hear first today?", "duck"),
        ("Which animal did you hear last?", "horse"),
        ("What was the first sound of the day?", "duck"),
        ("What was the first animal in the morning?", "duck"),
        ("What was the last sound of the morning?", "thunder"),
        ("How many sounds did you hear today?", "4"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn the_time_between_two_events_is_computed() {
    let rows: &[Row] = &[
        ("19T08:00:00", 3, Kind::Sound, None, "The doorbell rings."),
        ("20T08:00:00", 3, Kind::Sound, None, "The doorbell rings."),
        ("20T08:05:00", 0, Kind::Text, Some("Mira"), "I will water the ferns."),
        ("20T08:25:00", 3, Kind::Caption, None, "Mira waters the ferns."),
        ("20T09:10:00", 3, Kind::Caption, None, "Jonas repairs the kite."),
    ];
    let home = home(rows);
    let misses = home.misses(&[
        ("How long after the doorbell rang did Mira water the ferns?", "25 minutes"),
        ("How many minutes before Jonas repaired the kite did Mira water the ferns?", "45 minutes"),
        ("How much time passed between the doorbell and the kite?", "1 hour 10 minutes"),
        ("How long was it from when the doorbell rang until Jonas repaired the kite?", "1 hour 10 minutes"),
    ]);
    assert_eq!(misses, NONE);
    // Hours and places are no events, and nothing rang after the kite was repaired.
    for question in [
        "How long did it take from eight to nine?",
        "How long did it take from the ferns to the kite?",
        "How long after Jonas repaired the kite did the doorbell ring?",
    ] {
        let answer = home.ask(question);
        assert!(!answer.reason.contains("from one event to the other"), "{question}: {answer:?}");
    }
}

#[test]
fn options_are_chosen_by_evidence() {
    let rows: &[Row] = &[
        ("18T10:00:00", 0, Kind::Text, Some("Mira"), "I put the torch in the top drawer."),
        ("19T09:00:00", 0, Kind::Text, Some("Jonas"), "The boiler makes a strange noise."),
        ("20T08:10:00", 3, Kind::Sound, None, "The gong sounds."),
        ("20T08:30:00", 3, Kind::Sound, None, "The gong sounds."),
    ];
    let home = home(rows).with_meaning();
    let mut wrong = Vec::new();
    for (question, options, right) in [
        ("Where is the torch?", ["on the table", "in the car", "in the top drawer", "in bed"], 2),
        ("How often did the gong sound?", ["once", "three times", "twice", "never"], 2),
        ("Who spoke about the boiler?", ["Mira", "Jonas", "a plumber", "nobody"], 1),
    ] {
        let answer = home.choose(question, &options);
        if answer.choice != Some(right)
            || answer.answer.as_deref() != Some(options[right])
            || answer.evidence.is_empty()
        {
            wrong.push(format!("{question} {answer:?}"));
        }
    }
    assert_eq!(wrong, NONE);
}

#[test]
fn what_was_never_there_is_not_answered() {
    let rows: &[Row] = &[
        ("18T10:00:00", 0, Kind::Text, Some("Mira"), "I put the torch in the top drawer."),
        ("19T09:00:00", 0, Kind::Text, Some("Jonas"), "The boiler makes a strange noise."),
    ];
    let home = home(rows);
    for question in ["Where is the trumpet?", "When does the ferry leave?", "Who repaired the tractor?"] {
        let answer = home.ask(question);
        assert_eq!((answer.route, &answer.answer), (Route::None, &None), "{question}: {answer:?}");
        assert!(!answer.reason.is_empty(), "{question}");
    }
    let chosen = home.choose("Which train was delayed?", &["the night train", "the express", "the local", "the ICE"]);
    assert_eq!((chosen.route, chosen.choice), (Route::None, None), "{chosen:?}");
}

#[test]
fn a_question_that_names_nothing_is_not_answered_with_the_only_event_there_is() {
    let home = home(&[("18T10:00:00", 0, Kind::Text, None, "It snows.")]);
    for question in ["Still there?", "Who is there?"] {
        let answer = home.ask(question);
        assert_eq!((answer.route, &answer.answer), (Route::None, &None), "{question}: {answer:?}");
    }
}

#[test]
fn every_answer_says_why_and_its_evidence_names_the_event() {
    let rows: &[Row] = &[("18T10:00:00", 0, Kind::Text, Some("Mira"), "I put the torch in the top drawer.")];
    let answer = home(rows).ask("Where is the torch?");
    assert!(!answer.reason.is_empty(), "{answer:?}");
    let first = &answer.evidence[0];
    assert_eq!(
        (first.event.to_string(), first.kind, first.entity.as_deref()),
        ("ev-1".to_owned(), Kind::Text, Some("Mira"))
    );
    assert_eq!(first.observations, ["told-1"]);
}

#[test]
fn a_place_that_lies_in_another_is_found_there() {
    let rows: &[Row] = &[
        ("18T10:00:00", 0, Kind::State, Some("robot"), "I am parked on the ramp in the workshop."),
        ("19T10:00:00", 0, Kind::Text, Some("Mira"), "The torch is on the shelf in the cellar."),
    ];
    assert_eq!(
        home(rows).misses(&[("Where is the ramp?", "workshop"), ("Where is the torch?", "shelf in the cellar")]),
        NONE
    );
}

#[test]
fn a_sentence_is_no_answer_where_a_name_a_number_or_an_age_was_asked_for() {
    let rows: &[Row] = &[
        ("18T10:00:00", 0, Kind::Text, Some("Mira"), "Professor Lund leaves her old umbrella in the hall."),
        ("18T11:00:00", 0, Kind::Text, Some("Jonas"), "My cousin Ivo is eleven years old."),
    ];
    let home = home(rows);
    for question in ["What is Professor Lund's first name?", "How old is Professor Lund?"] {
        let answer = home.ask(question);
        assert_eq!(
            (answer.answer.as_deref(), answer.route, answer.confidence),
            (None, Route::None, 0.0),
            "{question}: {answer:?}"
        );
        assert!(!answer.evidence.is_empty(), "{question}: the nearest memory is shown");
    }
    assert_eq!(home.misses(&[("How old is Ivo?", "eleven")]), NONE);
}

#[test]
fn what_stands_next_to_a_thing_was_not_brought_to_it() {
    let rows: &[Row] = &[
        ("20T08:00:00", 0, Kind::Text, Some("Leena"), "The scythe hangs in the barn next to the plough."),
        ("20T09:00:00", 0, Kind::Text, Some("Leena"), "The churn is next to the old oven."),
    ];
    let home = home(rows);
    assert_eq!(
        home.misses(&[("Where is the scythe?", "In the barn"), ("Where is the churn?", "Next to the old oven")]),
        [""; 0]
    );
}

#[test]
fn a_measured_value_is_no_number_of_things() {
    let rows: &[Row] = &[("20T08:00:00", 0, Kind::Text, Some("Leena"), "My reading in the barn was 7.4 this morning.")];
    let answer = home(rows).ask("How many readings did Leena give?");
    assert_ne!(answer.answer.as_deref(), Some("7.4"), "{}", answer.reason);
}

#[test]
fn where_a_thing_was_before_it_was_moved_follows_from_the_order() {
    let rows: &[Row] = &[
        ("17T10:00:00", 0, Kind::Text, Some("Mira"), "I put the torch in the drawer under the sink."),
        (
            "18T10:00:00",
            0,
            Kind::Caption,
            None,
            "Jonas takes the torch out of the drawer and puts it in the pocket of his bag.",
        ),
        ("19T09:00:00", 0, Kind::Caption, None, "Jonas pulls the torch out of his bag and leaves it on the table."),
        ("19T10:00:00", 0, Kind::Caption, None, "Mira pushes the trunk from the landing into the attic."),
        ("19T11:00:00", 0, Kind::Caption, None, "Jonas stands on the stepladder. He leans the ladder beside the door."),
    ];
    let misses = home(rows).misses(&[
        ("Where was the torch before it went into the bag?", "the drawer"),
        ("Where was the trunk before Mira moved it?", "The landing"),
        ("Where is the stepladder?", "Beside the door"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn whom_a_question_offers_is_the_answer_if_they_did_it() {
    let rows: &[Row] = &[
        ("18T10:00:00", 0, Kind::Caption, None, "Mira moves the jar to the shelf in the wash house."),
        ("18T11:00:00", 0, Kind::Caption, None, "Jonas sweeps the floor of the wash house."),
        ("18T12:00:00", 0, Kind::Caption, None, "Mira, Jonas and Leena build a raft."),
        ("18T13:00:00", 0, Kind::Text, Some("Leena"), "My mum baked us a cake. My cousin Ruth brought it."),
        (
            "18T14:00:00",
            0,
            Kind::Caption,
            None,
            "A girl stands at the gate with Mira. Jonas holds his brown dog Rufus.",
        ),
    ];
    let misses = home(rows).misses(&[
        ("Who moved the jar into the wash house, Mira or Jonas?", "Mira"),
        ("Who built the raft?", "Mira, Jonas and Leena"),
        ("Who baked the cake?", "Leena's mum"),
        ("Whose dog is Rufus?", "Jonas"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn a_promise_is_no_deed() {
    let rows: &[Row] = &[
        ("18T10:00:00", 0, Kind::Text, Some("Jonas"), "I promise I'll sweep the yard if I get my kite back."),
        ("18T11:00:00", 0, Kind::Text, Some("Mira"), "You were told to be home by nine, so no kite."),
    ];
    let home = home(rows);
    for question in ["Did Jonas sweep the yard?", "Has Jonas got his kite back?"] {
        let answer = home.ask(question).answer.unwrap_or_default();
        assert!(!answer.starts_with("Yes"), "{question} {answer}");
    }
}

#[test]
fn anybodys_deed_answers_whether_anybody_did_one() {
    let rows: &[Row] = &[
        ("20T08:00:00", 0, Kind::Text, Some("Mira"), "I broke the glass jug while I was washing up."),
        ("20T09:00:00", 0, Kind::Caption, None, "Jonas wipes the table."),
    ];
    let misses = home(rows).misses(&[("Did anybody break anything today?", "Yes: Mira: I broke the glass jug")]);
    assert_eq!(misses, NONE);
}
