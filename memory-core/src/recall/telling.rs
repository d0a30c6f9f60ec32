//! The clauses of an event that tell what a question asks: "I had bread, and Ivo had soup" tells in its second one who had soup.

use super::question::Question;
use super::reading::{Reading, arguments, is_elliptic, is_person};
use crate::index::{stem, words};
use crate::language::english::syntax::{Clause, NounKind, NounPhrase};

/// From here a word of an event is the name that is asked for.
const NAMED: f32 = 0.5;

/// The clauses that hold most of the question, in order of the text; every clause where none holds more than the others.
pub(super) fn telling<'r>(question: &Question<'_>, reading: &'r Reading) -> Vec<&'r Clause> {
    let wanted: Vec<(String, f32)> =
        question.content.items.iter().map(|item| (stem(&item.lemma), item.weight)).collect();
    let told = reading.sentences.iter().filter(|sentence| !sentence.asks).flat_map(|sentence| &sentence.clauses);
    let held: Vec<(&Clause, f32)> = told
        .map(|clause| {
            let mut stems: Vec<String> = words(reading.text(&clause.range)).map(|word| stem(&word)).collect();
            // "She took the case and put it away": its second clause tells of the case, too.
            let own = clause.subject.iter().chain(arguments(clause));
            let meant = own
                .filter(|noun| noun.is_pronoun() || clause.inherited || is_elliptic(noun))
                .filter_map(|noun| reading.resolve(noun));
            for noun in meant {
                stems.extend(noun.lemmas().into_iter().map(stem));
            }
            (clause, wanted.iter().filter(|(stem, _)| stems.contains(stem)).map(|(_, weight)| weight).sum())
        })
        .collect();
    let most = held.iter().map(|(_, held)| *held).fold(0.0, f32::max);
    held.into_iter().filter(|(_, held)| *held >= most - 1e-3).map(|(clause, _)| clause).collect()
}

/// Whether an event tells what somebody else does than the person whose doing is asked for, who is not named in it.
pub(super) fn is_of_another(question: &Question<'_>, reading: &Reading) -> bool {
    let clause = &question.asked.clause;
    let acts = clause.verb.as_ref().is_some_and(|verb| !verb.auxiliary_only && !verb.passive);
    let Some(actor) = clause.subject.as_ref().filter(|subject| acts && subject.kind == NounKind::Name) else {
        return false;
    };
    // By a name, by the role for which a name stands, or as who speaks.
    let held = question.content.held(reading);
    if question.content.items.iter().zip(held).any(|(item, held)| item.lemma == actor.head && held >= NAMED) {
        return false;
    }
    let is_other = |noun: &NounPhrase| noun.kind == NounKind::Name && is_person(noun);
    let somebody = || telling(question, reading).into_iter().filter_map(|clause| clause.subject.as_ref());
    is_person(actor) && somebody().filter_map(|noun| reading.resolve(noun)).any(|noun| is_other(&noun))
}
