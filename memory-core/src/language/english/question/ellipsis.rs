//! Completes a question of one word by the sentence before it: "The dog wore something. What?"

use crate::language::english::syntax::{Clause, NounPhrase, Sentence};

/// Returns the completed clause and the start of its sentence.
pub(super) fn complete_from_previous(asking: &Clause, sentences: &[Sentence], place: usize) -> Option<(Clause, usize)> {
    let alone = asking.verb.is_none()
        && asking.subject.is_none()
        && asking.objects.is_empty()
        && asking.adjuncts.is_empty()
        && asking.complements.is_empty();
    // "How?" may ask for the way of it as well as for what it is like.
    let word = asking.asking.as_ref().filter(|asking| alone && asking.word != "how")?;
    let before = sentences.get(place.checked_sub(1)?).filter(|before| !before.asks)?;
    let mut clause = before.clauses.iter().find(|clause| clause.verb.is_some() && clause.link.is_none()).cloned()?;
    clause.subject = clause.subject.filter(|subject| !is_placeholder(subject));
    clause.objects.retain(|object| !is_placeholder(object));
    clause.adjuncts.retain(|adjunct| !is_placeholder(&adjunct.noun));
    clause.asking = Some(word.clone());
    Some((clause, before.range.start))
}

/// Returns whether a phrase is a placeholder for the answer.
fn is_placeholder(noun: &NounPhrase) -> bool {
    matches!(noun.head.as_str(), "something" | "somebody" | "someone" | "somewhere" | "sometime")
}
