use super::*;
use crate::{Attributes, EpisodeId, Event, EventId, Kind, Modality, Origin, TimeSpan, Timestamp, Value};

/// 2026-11-20 08:00 UTC, in seconds.
const T0: i64 = 1_795_161_600;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros((T0 + seconds) * 1_000_000)
}

fn event(id: u64, seconds: i64, kind: Kind, entity: Option<&str>, text: &str) -> Event {
    Event {
        id: EventId(id),
        episode: EpisodeId(1),
        origin: Origin::Told,
        sender_id: None,
        kind,
        modality: Modality::Audio,
        text: text.into(),
        span: TimeSpan::new(at(seconds), at(seconds)),
        stream: None,
        source: "asr".into(),
        entity: entity.map(str::to_owned),
        attributes: Attributes::new(),
        confidence: 1.0,
        media: None,
        received: at(seconds),
        pose: None,
    }
}

pub(super) fn said(id: u64, seconds: i64, who: &str, text: &str) -> Event {
    event(id, seconds, Kind::Text, Some(who), text)
}

#[derive(Default)]
pub(super) struct Mind {
    pub facts: Facts,
    context: MentionContext,
}

impl Mind {
    pub fn from_events(events: &[Event]) -> Self {
        let mut mind = Self::default();
        events.iter().for_each(|event| mind.learn(event));
        mind
    }

    pub fn learn(&mut self, event: &Event) {
        for conclusion in conclusions(event, None, &mut self.context) {
            self.facts.add(conclusion);
        }
    }

    /// Values that answer a question an hour after `T0`.
    fn ask(&self, question: &str) -> Vec<String> {
        self.ask_within(question, None)
    }

    fn ask_within(&self, question: &str, bound: Option<TimeSpan>) -> Vec<String> {
        let Some(asked) = FactQuestion::of(question) else { panic!("no question for facts: {question}") };
        let found = self.facts.answer(&asked, bound, at(3600), &[]);
        found.map_or_else(Vec::new, |found| found.facts.into_iter().map(|fact| fact.value).collect())
    }

    fn all(&self) -> Vec<(String, String, String)> {
        let all = self.facts.all().into_iter().flat_map(|(key, topic)| Facts::in_topic(key, topic));
        all.map(|fact| (fact.subject, fact.attribute, fact.value)).collect()
    }
}

#[test]
fn simple_statements_are_read() {
    for (text, question, value) in [
        ("I put the blue mug in the dishwasher.", "Where is the blue mug?", "in the dishwasher"),
        ("The keys are on the table in the hall.", "Where are my keys?", "on the table in the hall"),
        ("The mug's on the shelf.", "where's the mug", "on the shelf"),
        ("I left my phone in the car yesterday.", "Where did I leave my phone?", "in the car"),
        ("Anna went to the kitchen.", "Where is Anna?", "in the kitchen"),
        ("There is a parcel behind the door.", "Where is the parcel?", "behind the door"),
        ("The parcel was put in the cellar by Anna.", "Where is the parcel now?", "in the cellar"),
        ("Jack took the hammer.", "Where is the hammer?", "with Jack"),
        ("The blue mug stands on the kitchen table.", "Where is the blue mug?", "on the kitchen table"),
        ("The mug is red.", "What colour is the mug?", "red"),
        ("The car is dark blue now.", "What color is the car?", "dark blue"),
        ("Anna's birthday is the fourth of May.", "What is Anna's birthday?", "the fourth of May"),
        ("My favourite tea is Darjeeling.", "What is Tom's favourite tea?", "Darjeeling"),
        ("The door is locked.", "Is the door locked?", "locked"),
        ("Anna closed the window.", "Is the window open?", "closed"),
        ("Anna watered the plants.", "Who watered the plants last?", "Anna"),
        ("The plants were watered by Anna.", "Who was the last to water the plants?", "Anna"),
        ("Anna lives in Berlin.", "Where does Anna live?", "in Berlin"),
        ("Anna likes green tea.", "What does Anna like?", "green tea"),
        ("I took the mug and put it on the shelf.", "Where is the mug?", "on the shelf"),
        ("He didn't put the cup away, but the mug is on the shelf.", "Where is the mug?", "on the shelf"),
    ] {
        let mind = Mind::from_events(&[said(1, 0, "Tom", text)]);
        assert_eq!(mind.ask(question), [value], "{text} — {question} — {:?}", mind.all());
    }
}

#[test]
fn what_is_no_statement_is_no_fact() {
    for text in [
        "Where is the blue mug?",
        "Put the mug in the dishwasher.",
        "I will put the mug in the dishwasher.",
        "If the mug is in the dishwasher, it is clean.",
        "Maybe the mug is in the kitchen.",
        "I think the mug is in the kitchen.",
        "Could you put the mug on the table?",
        "What a day!",
        "",
        "...",
        "is is is was",
        "the the the",
    ] {
        let mind = Mind::from_events(&[said(1, 0, "Tom", text)]);
        assert_eq!(mind.all(), [], "{text}");
    }
}

#[test]
fn a_told_state_and_an_action_are_read_with_their_entity_and_attributes() {
    let mut battery = event(1, 0, Kind::State, Some("robot"), "Battery at 80 %");
    battery.attributes.insert("battery_level".into(), Value::Integer(80));
    battery.attributes.insert("place".into(), Value::Text("charging station".into()));
    let wash = event(2, 1, Kind::Action, Some("Anna"), "wash the bowl");
    let mind = Mind::from_events(&[battery, wash]);
    assert_eq!(mind.ask("What is the battery level of the robot?"), ["80"]);
    assert_eq!(mind.ask("Where is the robot?"), ["in the charging station"]);
    assert_eq!(mind.ask("Who washed the bowl?"), ["Anna"]);
    assert_eq!(mind.ask("Is the bowl clean?"), ["clean"]);
}

#[test]
fn a_new_value_supersedes_the_old_one_which_is_still_known_of_its_time() {
    let mind = Mind::from_events(&[
        said(1, 0, "Tom", "The mug is in the kitchen."),
        said(2, 600, "Tom", "I put the mug in the dishwasher."),
    ]);
    assert_eq!(mind.ask("Where is the mug?"), ["in the dishwasher"]);
    assert_eq!(mind.ask("Where was the mug before?"), ["in the kitchen"]);
    assert_eq!(mind.ask_within("Where was the mug?", Some(TimeSpan::new(at(60), at(120)))), ["in the kitchen"]);
}

#[test]
fn a_repeated_fact_is_reinforced_and_never_deletes_itself() {
    let mut mind = Mind::default();
    for n in 0..1000 {
        mind.learn(&said(n + 1, i64::try_from(n).unwrap(), "Tom", "The mug is red."));
    }
    let (key, topic) = mind.facts.all().into_iter().next().unwrap();
    let facts = Facts::in_topic(key, topic);
    assert_eq!(facts.len(), 1);
    assert_eq!(facts[0].weight as usize, super::facts::MAX_CLAIMS);
    assert_eq!(mind.ask("What colour is the mug?"), ["red"]);
}

#[test]
fn a_paraphrase_reinforces_a_fact_and_another_value_supersedes_it() {
    let facts = |texts: &[&str]| -> Vec<(String, u32)> {
        let told = texts.iter().enumerate();
        let told: Vec<Event> = told.map(|(n, text)| said(n as u64 + 1, 60 * n as i64, "Tom", text)).collect();
        let mind = Mind::from_events(&told);
        let all = mind.facts.all().into_iter().flat_map(|(key, topic)| Facts::in_topic(key, topic));
        all.map(|fact| (fact.value, fact.weight)).collect()
    };
    for (texts, value) in [
        (["The cat is on the sofa.", "The cat is on the couch."], "on the sofa"),
        (["The bag is on the rug.", "The bag is on the carpet."], "on the rug"),
        (["The mug is grey.", "The mug is gray."], "grey"),
        (["The door is closed.", "The door is shut."], "closed"),
        (["The kettle is broken.", "The kettle is faulty."], "broken"),
    ] {
        assert_eq!(facts(&texts), [(value.to_owned(), 2)], "{texts:?}");
    }
    for texts in [
        ["The mug is red.", "The mug is blue."],
        ["The cat is in the kitchen.", "The cat is in the bathroom."],
        ["The key is in the left pocket.", "The key is in the right pocket."],
        ["The milk is in the fridge.", "The milk is in the freezer."],
        ["The tea is hot.", "The tea is cold."],
        ["The cat is on the shelf.", "The cat is on the desk."],
    ] {
        assert_eq!(facts(&texts).len(), 2, "{texts:?}");
    }
}

#[test]
fn an_unrelated_fact_about_the_same_person_does_no_harm() {
    let mut mind = Mind::from_events(&[said(1, 0, "Tom", "Anna is in the kitchen.")]);
    let before = mind.all();
    mind.learn(&said(2, 1, "Tom", "Anna likes chess."));
    mind.learn(&said(3, 2, "Tom", "Anna's sister is Clara."));
    let after = mind.all();
    assert!(before.iter().all(|fact| after.contains(fact)));
    assert_eq!(after.len(), before.len() + 2);
}

#[test]
fn a_denied_fact_is_weakened_and_gone_at_zero() {
    let mut mind = Mind::from_events(&[said(1, 0, "Tom", "The mug is red."), said(2, 1, "Tom", "The mug is red.")]);
    mind.learn(&said(3, 2, "Tom", "The mug is not blue."));
    assert_eq!(mind.ask("What colour is the mug?"), ["red"]);
    mind.learn(&said(4, 3, "Anna", "The mug isn't red."));
    assert_eq!(mind.ask("What colour is the mug?"), ["red"]);
    mind.learn(&said(5, 4, "Anna", "The mug is not red."));
    assert_eq!(mind.ask("What colour is the mug?"), [] as [&str; 0]);
}

#[test]
fn what_recurs_is_two_intervals() {
    let mind = Mind::from_events(&[
        said(1, 0, "Tom", "The mug is in the kitchen."),
        said(2, 100, "Tom", "The mug is no longer in the kitchen."),
        said(3, 200, "Tom", "The mug is in the kitchen."),
        said(4, 300, "Tom", "The mug is in the garden."),
        said(5, 400, "Tom", "The mug is in the kitchen."),
    ]);
    let (key, topic) = mind.facts.all().into_iter().next().unwrap();
    let facts: Vec<_> =
        Facts::in_topic(key, topic).into_iter().map(|fact| (fact.value, fact.since, fact.until)).collect();
    assert_eq!(
        facts,
        [
            ("in the kitchen".to_owned(), at(0), Some(at(100))),
            ("in the kitchen".to_owned(), at(200), Some(at(300))),
            ("in the garden".to_owned(), at(300), Some(at(400))),
            ("in the kitchen".to_owned(), at(400), None),
        ]
    );
}

#[test]
fn a_late_claim_about_an_earlier_time_does_not_bring_the_old_value_back() {
    let mind = Mind::from_events(&[
        said(1, 600, "Tom", "The mug is in the dishwasher."),
        said(2, 0, "Tom", "The mug is in the kitchen."),
    ]);
    assert_eq!(mind.ask("Where is the mug?"), ["in the dishwasher"]);
    assert_eq!(mind.ask("Where was the mug before?"), ["in the kitchen"]);
}

#[test]
fn withdrawing_leaves_what_would_have_been_learnt_without() {
    let events = [
        said(1, 0, "Tom", "The mug is in the kitchen."),
        said(2, 100, "Anna", "The blue mug is in the dishwasher."),
        said(3, 200, "Tom", "Anna's mug is broken."),
        said(4, 300, "Anna", "The mug is in the garden. The mug is red."),
    ];
    let mut mind = Mind::from_events(&events);
    assert!(mind.facts.withdraw(&[EventId(2), EventId(4)]));
    let without = Mind::from_events(&[events[0].clone(), events[2].clone()]);
    assert!(mind.facts == without.facts);
    assert_eq!(mind.ask("Where is the mug?"), ["in the kitchen"]);
}

#[test]
fn he_is_the_last_fitting_person_and_it_the_last_thing_of_the_source() {
    let mut mind = Mind::from_events(&[
        said(1, 0, "Clara", "Uncle Tom is in the hall."),
        said(2, 1, "Clara", "Aunt Anna opened the box."),
        said(3, 2, "Clara", "He went to the garden."),
        said(4, 3, "Clara", "It is in the cellar."),
        said(5, 400, "Clara", "She is in the attic."),
    ]);
    assert_eq!(mind.ask("Where is Uncle Tom?"), ["in the garden"]);
    assert_eq!(mind.ask("Where is the box?"), ["in the cellar"]);
    assert_eq!(mind.ask("Where is Aunt Anna?"), [] as [&str; 0], "five minutes are over");
    // Who "he" was is not known any more, so nothing may go back to it.
    assert!(!mind.facts.withdraw(&[EventId(1)]));
    assert_eq!(mind.ask("Where is Uncle Tom?"), [] as [&str; 0]);
    assert!(mind.all().iter().all(|(subject, ..)| subject != "Uncle Tom"));
}

#[test]
fn things_are_told_apart_by_what_names_them() {
    let mind = Mind::from_events(&[
        said(1, 0, "Tom", "The blue mug is in the dishwasher."),
        said(2, 1, "Tom", "The red mug is on the table."),
    ]);
    assert_eq!(mind.ask("Where is the blue mug?"), ["in the dishwasher"]);
    assert_eq!(mind.ask("Where is the green mug?"), [] as [&str; 0]);
    assert_eq!(mind.ask("Where is the mug?"), ["on the table", "in the dishwasher"]);
    let only =
        Mind::from_events(&[said(1, 0, "Tom", "The blue mug is here."), said(2, 1, "Tom", "The mug is on the table.")]);
    assert_eq!(only.ask("Where is the blue mug?"), ["on the table"]);
}

#[test]
fn a_thing_that_somebody_calls_theirs_once_is_the_same_one_later() {
    let mut mind = Mind::from_events(&[
        said(1, 0, "Ben", "My drill is in the shed."),
        said(2, 60, "Ben", "I moved the drill to the attic."),
    ]);
    assert_eq!(mind.ask("Where is the drill?"), ["in the attic"]);
    mind.learn(&said(3, 90, "Anna", "My drill is in the car."));
    assert_eq!(mind.ask("Where is the drill?").len(), 3, "whose drill is meant");
}

#[test]
fn other_questions_are_left_to_search() {
    for question in [
        "What did Anna say about the mug?",
        "Where did Caroline move from four years ago?",
        "What is the weather like?",
        "Who is Anna?",
        "What happened after the bell rang?",
        "When did Melanie paint a sunrise?",
        "How many mugs are there?",
        "",
        "where",
        "who",
        "where is",
        "what colour is the",
    ] {
        assert_eq!(FactQuestion::of(question), None, "{question}");
    }
}
