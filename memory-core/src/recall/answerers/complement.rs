//! Answers which of two things something was not done to: "which bike did she not ride?", where two are known and she rode
//! one of them.

use crate::ReadError;
use crate::language::english::letters::capitalised;
use crate::language::english::question::AnswerKind;
use crate::language::english::syntax::{Clause, NounKind, NounPhrase};
use crate::recall::candidate::{Candidate, CandidateValue, Layer};
use crate::recall::clause_selection::relevant_clauses;
use crate::recall::content::word_similarity;
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::reading::arguments;

/// Maximum number of events of the class that are read.
const MAX_CLASS_EVENTS: usize = 200;
/// Minimum similarity of two words for one quality.
const MIN_SAME_QUALITY: f32 = 0.9;
/// Minimum coverage of the question by the event that tells what was done.
const MIN_DEED_COVERAGE: f32 = 0.4;

/// A thing of the class by what tells it apart, with an event that names it.
struct Member {
    qualities: Vec<String>,
    name: String,
    found: RetrievedEvent,
}

/// Answers with the other one of two.
pub(in crate::recall) fn answer(
    pool: &EventPool<'_>,
    found: &[RetrievedEvent],
) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let asked = &question.asked;
    let denied = asked.has_negated_verb() && question.ask() == AnswerKind::Thing;
    let Some(class) = asked.class.as_ref().filter(|class| denied && !class.plural && class.kind == NounKind::Common)
    else {
        return Ok(None);
    };
    let listed = pool.events_mentioning(class, question.hard, true, MAX_CLASS_EVENTS, &question.content)?;
    let mut members: Vec<Member> = Vec::new();
    for event in &listed {
        for noun in event.reading.clauses().flat_map(arguments).flat_map(NounPhrase::coordinated) {
            let one = noun.head == class.head && !noun.plural && !noun.modifiers.is_empty();
            if one && members.iter().all(|known| !is_same(&known.qualities, &noun.modifiers)) {
                members.push(Member {
                    qualities: noun.modifiers.clone(),
                    name: event.reading.phrase_text(noun),
                    found: event.clone(),
                });
            }
        }
    }
    let [one, other] = members.as_slice() else { return Ok(None) };
    // What was done, and to which of the two.
    let tells = |found: &&RetrievedEvent| found.coverage.of_content >= MIN_DEED_COVERAGE && !found.reading.only_asks();
    let Some(deed) = found.iter().find(tells) else { return Ok(None) };
    let happened = |clause: &&Clause| clause.verb.as_ref().is_some_and(|verb| !verb.negated && verb.modal.is_none());
    let clauses = relevant_clauses(question, &deed.reading).into_iter().filter(happened);
    let mut named = clauses.flat_map(arguments).filter(|noun| noun.head == class.head);
    let Some(done) = named.find(|noun| !noun.modifiers.is_empty()) else { return Ok(None) };
    let rest = match (is_same(&one.qualities, &done.modifiers), is_same(&other.qualities, &done.modifiers)) {
        (true, false) => other,
        (false, true) => one,
        _ => return Ok(None),
    };
    Ok(Some(Candidate::computed(
        Layer::Episodes,
        capitalised(&rest.name),
        CandidateValue::Text(rest.name.clone()),
        vec![deed.clone(), rest.found.clone()],
        question.content.known_share(),
        "the other one of two".into(),
    )))
}

/// Returns whether two phrases share a quality.
fn is_same(one: &[String], other: &[String]) -> bool {
    one.iter().any(|one| other.iter().any(|other| word_similarity(one, other) >= MIN_SAME_QUALITY))
}
