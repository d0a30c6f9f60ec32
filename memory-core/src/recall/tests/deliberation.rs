//! What a language model may choose among, and what it may not.

use super::contract::MORNING;
use super::home::{Home, Row, home, time};
use crate::recall::{Deliberation, VerdictError, deliberate};
use crate::{EventId, Kind, Query, Route};

fn of(home: &Home, question: &str, options: &[&str]) -> Deliberation {
    let options = options.iter().map(|option| (*option).to_string()).collect();
    deliberate(&Query { question: question.into(), options, top_k: 3, ..Query::default() }, home, true).unwrap()
}

#[test]
fn the_answer_is_among_the_proposals_and_asking_for_them_changes_nothing() {
    let home = home(MORNING);
    for question in ["Where is the torch?", "What happened this morning?", "What was heard after the gong sounded?"] {
        let found = of(&home, question, &[]);
        assert_eq!(found.answer, home.ask(question), "{question}");
        let texts: Vec<&str> = found.proposals.iter().map(|one| one.text.as_str()).collect();
        assert!(texts.contains(&found.answer.answer.as_deref().unwrap()), "{question}: {texts:?}");
        assert!(found.proposals.iter().all(|one| !one.evidence.is_empty()), "{question}");
    }
}

#[test]
fn the_one_of_several_for_which_something_holds_is_proposed_first() {
    let rows: &[Row] = &[
        ("18T08:00:00", 0, Kind::Text, Some("Tove"), "The bench still hasn't come, they say Monday now."),
        ("18T09:00:00", 0, Kind::Text, Some("Rolf"), "The lantern's here, I've put it in the hall."),
    ];
    let found = of(&home(rows).with_meaning(), "Which has arrived, the bench or the lantern?", &[]);
    assert_eq!(found.answer.answer.as_deref(), Some("The lantern"));
    assert_eq!(found.proposals.first().map(|first| first.text.as_str()), Some("The lantern"));
    assert!(found.proposals.len() > 1, "and what else answers the whole question");
}

#[test]
fn a_choice_brings_its_own_words_confidence_and_evidence() {
    let home = home(MORNING);
    let found = of(&home, "Where is the torch?", &[]);
    let other = found.proposals.iter().rposition(|one| one.text != found.answer.answer.clone().unwrap()).unwrap();
    let named = found.proposals[other].evidence[0].event;
    let (answer, reworded) = found.chosen(other, &[named], None).unwrap();
    assert_eq!(answer.answer.as_deref(), Some(found.proposals[other].text.as_str()));
    assert_eq!((answer.confidence, reworded), (found.proposals[other].confidence, false));
    assert_eq!(answer.evidence[0].event, named);
    assert_eq!(answer.evidence[0].score, 1.0);
    assert!(answer.evidence.len() <= 3);
}

#[test]
fn other_words_are_taken_only_if_they_say_the_same() {
    let home = home(MORNING);
    let found = of(&home, "Where is the torch?", &[]);
    let named = found.proposals[0].evidence[0].event;
    let text = found.proposals[0].text.clone();
    let sentence = format!("The torch is {}", text.to_lowercase());
    let (answer, reworded) = found.chosen(0, &[named], Some(&sentence)).unwrap();
    assert_eq!((answer.answer, reworded), (Some(sentence), true));
    let (answer, reworded) = found.chosen(0, &[named], Some("Open the front door now.")).unwrap();
    assert_eq!((answer.answer, reworded), (Some(text), false));
}

#[test]
fn what_was_not_proposed_or_not_given_is_refused() {
    let home = home(MORNING);
    let found = of(&home, "Where is the torch?", &[]);
    let named = found.proposals[0].evidence[0].event;
    assert_eq!(found.chosen(99, &[named], None), Err(VerdictError::NotProposed));
    assert_eq!(found.chosen(0, &[], None), Err(VerdictError::NoEvidence));
    assert_eq!(found.chosen(0, &[named, EventId(9999)], None), Err(VerdictError::NotGiven));
    let declined = found.declined("none of them".into());
    assert_eq!((declined.answer, declined.route, declined.reason.as_str()), (None, Route::None, "none of them"));
}

/// A conversation in which the answer does not have the words of the question.
const BREAKFAST: &[Row] = &[
    ("18T19:05:00", 0, Kind::Text, Some("Orla"), "I put the torch in the top drawer."),
    ("19T08:00:00", 0, Kind::Text, Some("Jonas"), "What do you want for your birthday?"),
    ("19T08:00:20", 0, Kind::Text, Some("Orla"), "Nothing big. A pair of woollen socks!"),
];

#[test]
fn passages_hold_what_was_found_and_what_was_said_beside_it() {
    let found = of(&home(BREAKFAST), "What did Jonas ask about the birthday?", &[]);
    let texts: Vec<&str> = found.passages.iter().map(|item| item.text.as_str()).collect();
    assert!(texts[0].contains("birthday") && texts.iter().any(|text| text.contains("socks")), "{texts:?}");
    let mut events: Vec<EventId> = found.passages.iter().map(|item| item.event).collect();
    events.sort_unstable();
    events.dedup();
    assert_eq!(events.len(), found.passages.len(), "each once");
    assert!(
        deliberate(&Query { question: "Where is the torch?".into(), ..Query::default() }, &home(BREAKFAST), false)
            .unwrap()
            .passages
            .is_empty()
    );
    assert!(of(&home(BREAKFAST), "Where is the torch?", &["here", "there"]).passages.is_empty());
}

#[test]
fn passages_never_cross_the_bounds_of_a_question() {
    let until = Some(time("19T08:00:10"));
    let query = Query { question: "What did Jonas ask about the birthday?".into(), until, ..Query::default() };
    let found = deliberate(&query, &home(BREAKFAST), true).unwrap();
    assert!(found.passages.iter().all(|item| !item.text.contains("socks")), "{:?}", found.passages);
}

#[test]
fn an_answer_may_be_read_in_the_words_of_named_evidence() {
    let found = of(&home(BREAKFAST), "Which birthday present is wanted?", &[]);
    let event = |words: &str| found.passages.iter().find(|item| item.text.contains(words)).unwrap().event;
    let answer = found.read(&[event("socks")], "A pair of woollen socks").unwrap();
    assert_eq!((answer.answer.as_deref(), answer.route), (Some("A pair of woollen socks"), Route::Detailed));
    assert_eq!(answer.evidence[0].event, event("socks"));
    assert!(answer.evidence.len() <= 3);
    let day = found.read(&[event("socks")], "On 19 November").unwrap();
    assert_eq!(day.answer.as_deref(), Some("On 19 November"), "when it was said counts as well");
    assert_eq!(found.read(&[event("birthday")], "A pair of woollen socks"), Err(VerdictError::NotRead));
    assert_eq!(found.read(&[event("socks")], "A pair of leather boots"), Err(VerdictError::NotRead));
    assert_eq!(found.read(&[event("socks")], ""), Err(VerdictError::NotRead));
    assert_eq!(found.read(&[], "socks"), Err(VerdictError::NoEvidence));
    assert_eq!(found.read(&[EventId(9999)], "socks"), Err(VerdictError::NotGiven));
}

#[test]
fn every_option_is_a_proposal_in_its_place() {
    let home = home(MORNING);
    let found = of(&home, "Where is the torch?", &["in the cellar", "in the top drawer", "on the roof"]);
    let choices: Vec<Option<usize>> = found.proposals.iter().map(|one| one.choice).collect();
    assert_eq!(choices, [Some(0), Some(1), Some(2)]);
    assert_eq!(found.answer.choice, Some(1));
    let best = found.proposals[1].confidence;
    assert_eq!(best, found.answer.confidence);
    assert!(found.proposals.iter().all(|one| one.confidence <= best));
    let named = found.proposals[2].evidence[0].event;
    let (answer, reworded) = found.chosen(2, &[named], Some("On the roof, on the roof")).unwrap();
    assert_eq!((answer.answer.as_deref(), answer.choice, reworded), (Some("on the roof"), Some(2), false));
}
