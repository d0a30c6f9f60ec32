//! Wordings of questions about steps, over a household of its own: tea, a flat tyre, plants, the scooter, the washing.

use super::tests::Kitchen;
use crate::Route;

/// A household of its own.
fn household() -> Kitchen {
    let mut home = Kitchen::empty();
    let tea = [
        ("boil water", "kettle"),
        ("put tea leaves into the pot", "spoon"),
        ("pour the water over the leaves", ""),
        ("let it steep", ""),
    ];
    for (name, begin, person) in
        [("t1", "16T16:00:00", "Anna"), ("t2", "17T16:05:00", "Anna"), ("t3", "18T16:10:00", "Ben")]
    {
        home.session(name, begin, person, Some("make tea"), &tea);
    }
    for (name, begin) in [("w1", "16T07:00:00"), ("w2", "17T07:06:00"), ("w3", "18T07:02:00")] {
        home.session(
            name,
            begin,
            "Oskar",
            Some("water the plants"),
            &[
                ("Oskar fills the can at the tap.", ""),
                ("Oskar waters the ferns.", ""),
                ("Oskar wipes the sill with a sponge.", ""),
                ("Oskar empties the saucers.", ""),
            ],
        );
    }
    let tyre = [
        ("loosen the wheel nuts", "wrench"),
        ("lift the car", "jack"),
        ("take off the flat wheel", ""),
        ("mount the spare wheel", ""),
        ("tighten the nuts", "wrench"),
    ];
    home.session("c1", "10T10:00:00", "Mia", Some("change a tyre"), &tyre);
    home.session("c2", "15T11:00:00", "Ben", Some("change a tyre"), &tyre);
    let scooter = [
        ("Mia carries the scooter inside.", ""),
        ("Mia plugs in the charger.", ""),
        ("Mia waits for the green lamp.", ""),
        ("Mia unplugs the charger.", ""),
    ];
    home.session("s1", "16T19:00:00", "Mia", Some("charge the scooter"), &scooter);
    home.session("s2", "18T19:20:00", "Mia", Some("charge the scooter"), &scooter);
    let washing = [
        ("collect the dirty clothes", ""),
        ("fill the drum", ""),
        ("measure the powder", "cup"),
        ("press the button", ""),
        ("peg out the shirts", ""),
    ];
    home.session("l1", "14T09:00:00", "Ben", Some("do the washing"), &washing);
    home.session("l2", "17T09:10:00", "Ben", Some("do the washing"), &washing);
    home
}

fn says(home: &Kitchen, question: &str, words: &[&str]) {
    let answer = home.ask(question);
    let text = answer.answer.clone().unwrap_or_default();
    let lower = text.to_lowercase();
    assert_eq!(answer.route, Route::Symbolic, "{question}: {answer:?}");
    for word in words {
        assert!(lower.contains(word), "{question}: {text} lacks {word}");
    }
    assert!(!answer.evidence.is_empty(), "{question}");
}

#[test]
fn what_comes_next_after_what_was_said_to_be_done() {
    let home = household();
    for (question, word) in [
        ("The water has boiled. What comes next?", "tea leaves"),
        ("The leaves are in the pot. What now?", "pour the water"),
        ("Making tea: the water is boiling. What next?", "tea leaves"),
        ("The ferns are watered. What has to be done?", "wipe the sill"),
        ("I've wiped the sill. What do I have to do now?", "empty the saucers"),
        ("The wheel nuts are loose. What's next?", "lift the car"),
        ("The car is lifted, what now?", "take off the flat wheel"),
        ("Tyre: the spare wheel is mounted. What then?", "tighten the nuts"),
        ("The scooter is inside now. What needs to be done next?", "plug in the charger"),
        ("Washing: the powder is measured. What now?", "press the button"),
        ("What do I do after filling the drum?", "measure the powder"),
        ("Which step comes after lifting the car?", "take off"),
        ("What happens after the charger is plugged in?", "green lamp"),
    ] {
        says(&home, question, &[word]);
    }
}

#[test]
fn the_first_and_the_last_step() {
    let home = household();
    for (question, word) in [
        ("What's the first thing to do when making tea?", "boil water"),
        ("What is the very first step to change a tyre?", "loosen"),
        ("What do I do first to water the plants?", "fill the can"),
        ("What comes first when charging the scooter?", "carry the scooter"),
        ("What should you start with when doing the washing?", "collect"),
        ("What is the last step of changing a tyre?", "tighten"),
        ("What's the final thing to do when charging the scooter?", "unplug"),
        ("What comes last in the washing?", "peg out"),
        ("Which step is the last one when watering the plants?", "saucers"),
    ] {
        says(&home, question, &[word]);
    }
}

#[test]
fn what_comes_before_a_step() {
    let home = household();
    for (question, word) in [
        ("What do you do before lifting the car?", "loosen the wheel nuts"),
        ("What has to be done before mounting the spare wheel?", "take off the flat wheel"),
        ("Which step comes right before pressing the button?", "measure the powder"),
        ("What comes before wiping the sill?", "water the ferns"),
        ("What must be done before unplugging the charger?", "green lamp"),
        ("What should I do before pouring the water over the leaves?", "tea leaves"),
    ] {
        says(&home, question, &[word]);
    }
}

#[test]
fn what_a_step_is_done_with() {
    let home = household();
    for (question, word) in [
        ("What do we wipe the sill with?", "a sponge"),
        ("What do you lift the car with?", "jack"),
        ("What is used to loosen the nuts?", "wrench"),
        ("With what do I measure the powder?", "cup"),
        ("What do you use to boil water?", "kettle"),
        ("Which tool do I use to tighten the nuts?", "wrench"),
    ] {
        says(&home, question, &[word]);
    }
}

#[test]
fn how_many_steps_there_are_and_how_long_they_take() {
    let home = household();
    for (question, word) in [
        ("How many steps does it take to change a tyre?", "five steps"),
        ("How many steps are there to charging the scooter?", "four steps"),
        ("In how many steps do I make tea?", "four steps"),
        ("How long does it usually take to make tea?", "3"),
        ("How long does changing a tyre take?", "4"),
    ] {
        says(&home, question, &[word]);
    }
}

#[test]
fn which_steps_there_are() {
    let home = household();
    for (question, words) in [
        ("Which steps are there to making tea?", vec!["boil water", "steep"]),
        ("I've never done it: how do I change a tyre?", vec!["lift the car", "tighten"]),
        ("What are the single steps of watering the plants?", vec!["fill the can", "ferns"]),
        ("Can you tell me how to charge the scooter?", vec!["plug in", "unplug"]),
        ("Walk me through the washing.", vec!["drum", "peg out"]),
        ("How is the washing done?", vec!["powder", "button"]),
        ("How does Oskar water the plants?", vec!["can", "sill"]),
        ("I don't know how to change a tyre.", vec!["lift the car", "tighten"]),
        ("How can I irrigate the plants?", vec!["fill the can", "ferns"]),
    ] {
        says(&home, question, &words);
    }
}

#[test]
fn who_usually_does_it_and_when() {
    let home = household();
    for (question, word) in [
        ("Who usually waters the plants?", "oskar (3 sessions)"),
        ("Whose job is it to charge the scooter?", "mia"),
        ("Who does the washing?", "ben"),
        ("Who normally makes tea?", "anna (2 of 3 sessions)"),
        ("Who is responsible for the plants?", "oskar"),
        ("Whose task is charging the scooter?", "mia"),
        ("Who waters the ferns?", "oskar"),
        ("At what time does Oskar usually water the plants?", "07:02 in the morning"),
        ("What time of day do the plants get watered?", "in the morning"),
        ("When does Mia usually charge the scooter?", "in the evening"),
        ("What does Oskar usually do at seven in the morning?", "water the plants"),
    ] {
        says(&home, question, &[word]);
    }
}

/// What no procedure is about stays with the other layers.
#[test]
fn what_no_procedure_is_about_is_left_alone() {
    let home = household();
    for question in [
        "The parcel is here. What now?",
        "What do we open the safe with?",
        "Who usually feeds the cat?",
        "How long does it take to build a boat?",
        "What do I do before the concert?",
        "Which steps are there to baking bread?",
        "What is Anna playing with?",
        "Who left the window open?",
        "When does the train leave?",
    ] {
        assert_ne!(home.ask(question).route, Route::Symbolic, "{question}");
    }
}

/// Steps that are told with who does them are given as commands.
#[test]
fn answers_tell_what_to_do_and_not_who_did_it() {
    let answer = household().ask("How do I water the plants?").answer.unwrap();
    assert_eq!(
        answer,
        "Fill the can at the tap, then water the ferns, then wipe the sill with a sponge, then empty the saucers (3 sessions)."
    );
}

/// The event that answers comes first, of the newest session.
#[test]
fn the_step_that_answers_is_the_first_evidence() {
    let home = household();
    let answer = home.ask("The ferns are watered. What now?");
    assert!(answer.evidence[0].text.contains("sill"), "{answer:?}");
    assert!(answer.evidence[0].span.start > answer.evidence[1].span.start, "{answer:?}");
}

/// An option is compared with the step that answers.
#[test]
fn options_are_compared_with_the_step_that_answers() {
    let home = household();
    let options = ["peg out the shirts", "press the button", "fill the drum", "collect the clothes"];
    let query = crate::Query {
        question: "Washing: the powder is measured. What now?".to_owned(),
        options: options.map(str::to_owned).to_vec(),
        ..crate::Query::default()
    };
    assert_eq!(crate::recall::answer(&query, &home).unwrap().choice, Some(1));
}

#[test]
fn how_something_was_done_once_is_told_by_the_steps_of_that_session() {
    let mut home = Kitchen::empty();
    let attributes = [("session", "pump"), ("task", "clean the pump")];
    for (begin, text) in [
        ("18T10:00:00", "Tove loosens the four screws."),
        ("18T10:05:00", "Tove lifts the lid off."),
        ("18T10:10:00", "Tove rinses the filter under the tap."),
    ] {
        home.tell(crate::Kind::Action, super::tests::at(begin), Some("Tove"), text, &attributes);
    }
    for question in ["How did Tove clean the pump?", "How did Tove clean the pump, one step after the other?"] {
        let answer = home.ask(question).answer.unwrap_or_default();
        assert_eq!(
            answer, "Tove loosens the four screws, then lifts the lid off, then rinses the filter under the tap.",
            "{question}"
        );
    }
    // Somebody else has not done it.
    let answer = home.ask("How did Ivo clean the pump?").answer.unwrap_or_default();
    assert!(!answer.contains("then lifts"), "{answer}");
}
