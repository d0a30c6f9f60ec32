//! What a language model may choose among, and what it may not.

use super::contract::MORNING;
use super::home::{Home, home};
use crate::recall::{Deliberation, VerdictError, deliberate};
use crate::{EventId, Query, Route};

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
