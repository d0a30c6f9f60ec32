//! Answers how many things are missing of those that were ordered: twenty, if thirty of fifty came.

use crate::language::english::closed::is_one_of;
use crate::language::english::question::AnswerKind;
use crate::language::english::syntax::Clause;
use crate::recall::candidate::{Candidate, CandidateValue, Layer};
use crate::recall::likeness::best_phrase_similarity;
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::quantities::quantities;
use crate::recall::reading::ParsedEvent;
use crate::{Kind, ReadError};

/// Minimum similarity of an event to the things that are missing.
const MIN_THING_SIMILARITY: f32 = 0.5;
/// Verbs for how many there should be.
const ORDERING_VERBS: &[&str] = &["order", "want", "need", "book", "buy", "request", "expect", "require"];
/// Verbs for how many there are.
const DELIVERING_VERBS: &[&str] = &["come", "arrive", "send", "deliver", "get", "receive", "bring"];
/// Words for things that are not there yet.
const MISSING_WORDS: &[&str] = &["miss", "missing", "short", "lack", "outstanding"];

/// Answers from the latest event that tells both numbers. Nothing unless the question asks how many are missing.
pub(in crate::recall) fn answer(
    pool: &EventPool<'_>,
    pooled: &[RetrievedEvent],
) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let says = |words: &[&str]| question.asked.words.iter().any(|word| is_one_of(&word.lemma, words));
    let awaits = says(&["wait", "await"])
        || question
            .asked
            .words
            .windows(2)
            .any(|two| two[0].lemma == "to" && is_one_of(&two[1].lemma, &["come", "arrive"]));
    if question.ask() != AnswerKind::Count || !(says(MISSING_WORDS) || awaits) {
        return Ok(None);
    }
    let told: Vec<(f64, &RetrievedEvent)> =
        pooled.iter().filter_map(|found| Some((shortfall(&found.reading)?, found))).collect();
    let of_class = |found: &RetrievedEvent| {
        let class = question.asked.class.as_ref();
        class.is_some_and(|class| best_phrase_similarity(&class.head_alone(), &found.reading) >= MIN_THING_SIMILARITY)
    };
    let named =
        told.iter().filter(|(_, found)| of_class(found)).max_by_key(|(_, found)| (found.span().start, found.id()));
    // Where nothing else is missing, it is what is asked about, whatever it is called.
    let Some((missing, found)) = named.or(told.first().filter(|_| told.len() == 1)) else { return Ok(None) };
    let text = missing.to_string();
    let value = CandidateValue::Number(*missing, String::new());
    let known = question.content.known_share();
    let reason = "what was ordered less what came".into();
    Ok(Some(Candidate::computed(Layer::Episodes, text, value, vec![(*found).clone()], known, reason)))
}

/// Returns how many fewer things came than an event says were ordered.
fn shortfall(reading: &ParsedEvent) -> Option<f64> {
    let number = |verbs: &[&str]| {
        let does = |clause: &&Clause| {
            clause.verb.as_ref().is_some_and(|verb| is_one_of(&verb.lemma, verbs) && !verb.negated && !verb.future)
        };
        let mut numbers = reading.clauses().filter(does).filter_map(|clause| {
            let told = quantities(reading.text(&clause.range));
            told.first().map(|quantity| quantity.value).filter(|value| value.fract() == 0.0)
        });
        numbers.next()
    };
    let (ordered, came) = (number(ORDERING_VERBS)?, number(DELIVERING_VERBS)?);
    (reading.event.kind == Kind::Text && ordered > came).then_some(ordered - came)
}
