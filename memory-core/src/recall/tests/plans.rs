//! What is planned, and what became of something: answers that are told from several events.

use super::home::{Row, home};
use crate::{Kind, Route};

const NONE: [String; 0] = [];

const ANNOUNCED: &[Row] = &[
    ("17T09:00:00", 0, Kind::Text, Some("Oda"), "Good morning! Stellan comes on Sunday with little Balder."),
    ("17T10:00:00", 0, Kind::Text, Some("Rolf"), "The boat gets its new mast on Saturday at ten."),
    ("17T10:05:00", 0, Kind::Text, Some("Tove"), "Fencing practice is on Saturday evening."),
    ("17T10:06:00", 0, Kind::Text, Some("Tove"), "Ivo came on Sunday, that was nice."),
    ("18T09:00:00", 0, Kind::Text, Some("Rolf"), "The mast has been put off, they do it on Monday at two."),
    ("18T10:00:00", 0, Kind::Text, Some("Tove"), "Fencing practice on Saturday is off."),
    ("18T11:00:00", 0, Kind::Text, Some("Oda"), "Does the coach leave on Sunday?"),
];

#[test]
fn plans_are_told_in_the_order_of_their_times_as_they_were_changed_last() {
    let home = home(ANNOUNCED).with_meaning();
    let plans = "On Sunday 22 November: Oda: Stellan comes on Sunday with little Balder. \
                 On Monday 23 November at 14:00: Rolf: The mast has been put off, they do it on Monday at two.";
    for question in ["What have we got coming up?", "What is planned for the next days?", "Is anything planned?"] {
        let answer = home.ask(question);
        assert_eq!(answer.answer.as_deref(), Some(plans), "{question}: {}", answer.reason);
    }
}

#[test]
fn plans_are_those_of_the_day_and_the_person_that_a_question_names() {
    let home = home(ANNOUNCED).with_meaning();
    let sunday = "On Sunday 22 November: Oda: Stellan comes on Sunday with little Balder.";
    for question in ["What's on on Sunday?", "What is happening on Sunday?", "What does Stellan have planned?"] {
        let answer = home.ask(question);
        assert_eq!(answer.answer.as_deref(), Some(sunday), "{question}: {}", answer.reason);
    }
    // An hour alone is told on the same day.
    let today: &[Row] = &[
        ("20T07:00:00", 0, Kind::Text, Some("Rolf"), "The roofer comes at five."),
        ("20T07:05:00", 0, Kind::Text, Some("Oda"), "Stellan comes on Sunday."),
    ];
    let answer = self::home(today).with_meaning().ask("What's planned for today?").answer.unwrap_or_default();
    assert!(answer.contains("Today at 17:00") && !answer.contains("Stellan"), "{answer}");
    let none = home.ask("What is planned for Saturday?");
    assert!(!none.answer.unwrap_or_default().contains("mast on Saturday"), "{}", none.reason);
}

#[test]
fn what_was_called_off_has_no_time_and_what_somebody_has_got_lies_ahead() {
    let home = home(ANNOUNCED).with_meaning();
    let misses = home.misses(&[
        ("When is fencing practice?", "is off"),
        ("What's on on Saturday?", "Nothing any more"),
        ("What have we got on Monday?", "Monday 23 November at 14:00"),
        ("What has Stellan got on Sunday?", "On Sunday 22 November: Oda: Stellan comes"),
    ]);
    assert_eq!(misses, NONE);
    let route = home.ask("What is coming up?").route;
    assert_eq!(route, Route::Detailed, "told from events, and not from a summary");
}

#[test]
fn a_day_is_told_as_it_went_and_news_are_those_of_today() {
    let rows: &[Row] = &[
        ("17T09:00:00", 0, Kind::Caption, Some("Rolf"), "Rolf paints the fence."),
        (
            "17T10:00:00",
            0,
            Kind::Text,
            Some("Rolf"),
            "Hello, Oda. How are you? Everything is fine here. The gate by the orchard sticks whenever it rains for days.",
        ),
        ("20T08:00:00", 0, Kind::Caption, Some("Tove"), "Tove picks the quinces."),
    ];
    let home = home(rows).with_meaning();
    for question in ["How was Rolf's Tuesday?", "How did Rolf's Tuesday go?"] {
        let answer = home.ask(question).answer.unwrap_or_default();
        assert!(answer.contains("fence") && answer.contains("gate by the orchard sticks"), "{question}: {answer}");
        assert!(!answer.contains("Hello") && !answer.contains("quinces"), "{question}: {answer}");
    }
    for question in ["What's new?", "How was your day?", "How did your day go?"] {
        let answer = home.ask(question).answer.unwrap_or_default();
        assert!(answer.contains("quinces") && !answer.contains("fence"), "{question}: {answer}");
    }
    let answer = home.ask("How did Tuesday go?").answer.unwrap_or_default();
    assert!(answer.contains("fence") && !answer.contains("quinces"), "{answer}");
}

#[test]
fn the_reason_says_which_of_several_places_it_is() {
    let rows: &[Row] = &[
        ("17T09:00:00", 0, Kind::Text, Some("Ivo"), "The winch is in the shed."),
        ("18T09:00:00", 0, Kind::Text, Some("Ivo"), "The winch is in the barn."),
    ];
    let home = home(rows).with_meaning();
    for (question, place, which) in [
        ("Where was the winch at first?", "In the shed", "the first of 2"),
        ("Where is the winch?", "In the barn", "the latest of 2"),
    ] {
        let answer = home.ask(question);
        assert_eq!(answer.answer.as_deref(), Some(place), "{question}");
        assert!(answer.reason.starts_with(which), "{question}: {}", answer.reason);
    }
}

#[test]
fn who_comes_at_another_time_is_not_who_is_asked_about() {
    let rows: &[Row] = &[
        ("17T09:00:00", 0, Kind::Text, Some("Oda"), "Stellan comes on Sunday with little Balder."),
        ("17T10:00:00", 0, Kind::Text, Some("Rolf"), "The plumber comes on Monday at two."),
    ];
    let home = home(rows).with_meaning();
    let misses =
        home.misses(&[("Is the plumber coming on Sunday?", "No: On Monday"), ("Is anybody coming on Sunday?", "Yes")]);
    assert_eq!(misses, NONE);
    let other = home.ask("Is the roofer coming on Sunday?").answer.unwrap_or_default();
    assert!(!other.contains("On Monday"), "{other}");
}

#[test]
fn the_story_of_a_thing_is_told_with_the_sentences_about_it() {
    let rows: &[Row] = &[
        ("17T09:00:00", 0, Kind::Text, Some("Oda"), "Come quick! A heron sits on the compost."),
        ("17T09:10:00", 0, Kind::Caption, Some("Rolf"), "Rolf carries the heron to the pond in a basket."),
        ("17T12:00:00", 0, Kind::Text, Some("Tove"), "Your poncho hangs in my hall, Oda. And the heron eats my fish!"),
        ("17T13:00:00", 0, Kind::Text, Some("Ivo"), "I have mended the pump."),
    ];
    let home = home(rows).with_meaning();
    for question in ["What happened with the heron?", "Tell me everything about the heron."] {
        let answer = home.ask(question).answer.unwrap_or_default();
        for part in ["sits on the compost", "to the pond", "eats my fish"] {
            assert!(answer.contains(part), "{question}: {answer}");
        }
        assert!(!answer.contains("pump") && !answer.contains("poncho"), "{question}: {answer}");
    }
}

#[test]
fn a_thing_belongs_to_whom_it_is_said_to_belong() {
    let rows: &[Row] = &[
        ("17T09:00:00", 0, Kind::Text, Some("Rolf"), "The goat is called Runa, she belongs to the ferrymen."),
        ("17T09:10:00", 0, Kind::Text, Some("Oda"), "The kayak on the lawn belongs to me."),
    ];
    let misses = home(rows).with_meaning().misses(&[
        ("Whose goat is it?", "ferrymen"),
        ("Who does the goat belong to?", "ferrymen"),
        ("Who owns the kayak on the lawn?", "Oda"),
    ]);
    assert_eq!(misses, NONE);
}

#[test]
fn a_time_that_is_denied_is_no_time_of_a_plan() {
    let rows: &[Row] = &[
        ("17T09:00:00", 0, Kind::Text, Some("Oda"), "Rolf, your hearing test is on Saturday at three."),
        ("18T09:00:00", 0, Kind::Text, Some("Oda"), "The clinic rang, Rolf: not Saturday, Monday at four."),
    ];
    let saturday = home(rows).with_meaning().ask("What's on on Saturday?");
    assert!(!saturday.answer.unwrap_or_default().contains("Saturday 21 November"), "{}", saturday.reason);
}

#[test]
fn who_was_away_asks_about_the_time_and_not_about_the_absence() {
    let rows: &[Row] = &[
        ("17T09:00:00", 0, Kind::Caption, Some("Rolf"), "Rolf paints the fence."),
        ("18T09:00:00", 0, Kind::Caption, Some("Tove"), "Tove picks the quinces."),
    ];
    let answer = home(rows).with_meaning().ask("I was away on Tuesday. What went on here?").answer.unwrap_or_default();
    assert!(answer.contains("fence") && !answer.contains("quinces"), "{answer}");
}

#[test]
fn what_happened_while_somebody_was_out_is_what_lies_between_their_leaving_and_their_return() {
    let rows: &[Row] = &[
        ("17T08:00:00", 0, Kind::Text, Some("Ivo"), "We have run out of flour."),
        ("17T09:00:00", 0, Kind::Caption, None, "Ivo takes the oar off the wall and leaves the house."),
        ("17T10:00:00", 0, Kind::Caption, None, "A heron lands on the roof of the barn."),
        ("17T11:00:00", 0, Kind::Caption, None, "Ivo comes home with a bucket."),
        ("17T12:00:00", 0, Kind::Caption, None, "Rolf sharpens the scythe."),
    ];
    let home = home(rows).with_meaning();
    let answer = home.ask("What happened while Ivo was out?").answer.unwrap_or_default();
    assert!(answer.contains("heron") && !answer.contains("scythe") && !answer.contains("flour"), "{answer}");
    let misses = home.misses(&[("How long was Ivo away?", "2 hours"), ("Was Ivo out on Tuesday?", "Yes")]);
    assert_eq!(misses, NONE);
}

#[test]
fn an_order_has_no_actor_and_a_role_is_held_by_whom_its_owner_names() {
    let rows: &[Row] = &[
        ("17T08:00:00", 0, Kind::Text, Some("Oda"), "The inspector comes on Monday. Sweep the barn before that."),
        ("17T09:00:00", 0, Kind::Text, Some("Rolf"), "My sister Runa arrives on Saturday, she stays a week."),
        ("17T10:00:00", 0, Kind::Text, Some("Tove"), "The green winch has a flat wheel, don't use it."),
    ];
    let home = home(rows).with_meaning();
    assert_ne!(home.ask("Who should sweep the barn?").answer.as_deref(), Some("The inspector"));
    assert_ne!(home.ask("When does Runa leave?").answer.as_deref(), Some("On Saturday 21 November"));
    let misses = home.misses(&[("What is Rolf's sister called?", "Runa"), ("Can I use the green winch?", "No")]);
    assert_eq!(misses, NONE);
}

#[test]
fn how_often_counts_what_was_seen_of_somebody_as_well() {
    let rows: &[Row] = &[
        ("17T09:00:00", 0, Kind::Caption, None, "Ivo rakes the gravel by the gate."),
        ("18T09:00:00", 0, Kind::Text, Some("Ivo"), "The hinge squeaks."),
        ("19T09:00:00", 0, Kind::Caption, None, "Ivo rakes the gravel by the gate."),
    ];
    let home = home(rows).with_meaning();
    for question in ["How often does Ivo rake the gravel?", "How often did Ivo rake the gravel?"] {
        let answer = home.ask(question);
        assert!(answer.answer.as_deref().is_some_and(|text| text.starts_with("Twice")), "{question}: {answer:?}");
    }
}

#[test]
fn what_was_once_so_was_so_although_it_is_over() {
    let rows: &[Row] = &[
        ("17T09:00:00", 0, Kind::Text, Some("Oda"), "Runa is ill, she stays in bed."),
        ("19T09:00:00", 0, Kind::Text, Some("Oda"), "Runa is well again."),
        ("19T10:00:00", 0, Kind::Text, Some("Oda"), "Make the shelf in larch instead of beech."),
        ("19T11:00:00", 0, Kind::Text, Some("Oda"), "The kite in the shed is for Stellan."),
        ("19T11:30:00", 0, Kind::Text, Some("Rolf"), "The postcard on the bench is from Tove."),
        ("19T12:00:00", 0, Kind::Text, Some("Ivo"), "I have a headache."),
        ("19T18:00:00", 0, Kind::Text, Some("Ivo"), "I feel better now."),
    ];
    let home = home(rows).with_meaning();
    let misses = home.misses(&[
        ("Was Runa ill?", "Yes: Oda: Runa is ill"),
        ("Is Runa ill?", "No"),
        ("Did Ivo have a headache?", "Yes: Ivo: I have a headache"),
        ("Does Ivo have a headache?", "No: Ivo: I feel better"),
        ("What wood does Oda want the shelf in?", "larch"),
        ("Who is the kite for?", "Stellan"),
        ("Who is the postcard from?", "Tove"),
    ]);
    assert_eq!(misses, NONE);
    let wood = home.ask("What wood does Oda want the shelf in?").answer.unwrap_or_default();
    assert!(!wood.starts_with("Beech") && !wood.ends_with("and beech"), "{wood}");
}

#[test]
fn a_stay_begins_when_somebody_comes_and_ends_when_they_leave() {
    let rows: &[Row] = &[
        ("17T09:00:00", 0, Kind::Text, Some("Rolf"), "My aunt is coming to stay from the 26th until the 3rd."),
        ("17T10:00:00", 0, Kind::Text, Some("Oda"), "Supper with the Lindqvists is at seven on Sunday."),
        ("18T10:00:00", 0, Kind::Text, Some("Oda"), "The Lindqvists have cancelled."),
    ];
    let home = home(rows).with_meaning();
    let misses = home.misses(&[
        ("When does Rolf's aunt come?", "On Thursday 26 November"),
        ("When does Rolf's aunt leave?", "On Thursday 3 December"),
        ("When is supper with the Lindqvists?", "The Lindqvists have cancelled"),
    ]);
    assert_eq!(misses, NONE);
    let next = home.ask("What is planned for next week?").answer.unwrap_or_default();
    assert!(next.contains("aunt") && !next.contains("Supper"), "{next}");
}

#[test]
fn what_is_called_out_does_nothing() {
    let rows: &[Row] = &[
        ("17T09:00:00", 0, Kind::Text, Some("Tove"), "Oh no, I dropped the green jug."),
        ("17T10:00:00", 0, Kind::Text, Some("Rolf"), "Oda, I need the ladle."),
    ];
    let home = home(rows).with_meaning();
    let misses = home.misses(&[("Who dropped the jug?", "Tove"), ("Who needs the ladle?", "Rolf")]);
    assert_eq!(misses, NONE);
    let jug = home.ask("What happened to the green jug?").answer.unwrap_or_default();
    assert_eq!(jug, "Tove said \"Oh no, I dropped the green jug\".");
}

#[test]
fn whoever_will_not_come_until_a_day_comes_then() {
    let rows: &[Row] = &[
        ("18T08:00:00", 0, Kind::Text, Some("Oda"), "I'm off to my aunt's tonight, back on Sunday."),
        (
            "19T08:00:00",
            0,
            Kind::Text,
            Some("Rolf"),
            "Oda rang, the trains are on strike, so she won't be back till Tuesday.",
        ),
        (
            "19T09:00:00",
            0,
            Kind::Text,
            Some("Rolf"),
            "The bricks are stuck in the harbour, they won't get here before Wednesday.",
        ),
    ];
    let misses = home(rows).with_meaning().misses(&[
        ("When do we expect Oda back?", "On Tuesday 24 November"),
        ("When will the bricks get here?", "Not before Wednesday 25 November"),
    ]);
    assert_eq!(misses, NONE);
}
