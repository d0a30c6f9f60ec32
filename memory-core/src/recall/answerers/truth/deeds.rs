//! Answers whether something happened: by the event that reports or denies it best.

use super::{MIN_YES_COVERAGE, verdict_candidate, with_full_certainty};
use crate::index::words;
use crate::language::english::closed::is_one_of;
use crate::language::english::states::{StateScale, same_state, state_of_word};
use crate::language::english::syntax::{Clause, NounPhrase};
use crate::language::english::time::Tense;
use crate::recall::candidate::Candidate;
use crate::recall::clause_selection::{
    has_other_actor, is_done_by_another, lacks_anybody, lacks_asked_deed, relevant_clauses,
};
use crate::recall::content::verb_similarity;
use crate::recall::denial::{
    asks_of_deed_done, denies, denies_existence, omits_asked_deed, only_plans, states_other_colour,
};
use crate::recall::likeness::best_phrase_similarity;
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::question::Question;
use crate::recall::stance::{asked_predicate, is_intransitive, is_nobody};
use crate::{Kind, ReadError};

/// Minimum similarity of two verbs for one deed.
const MIN_DEED_SIMILARITY: f32 = 0.9;
/// Minimum similarity of an event to a thing whose existence is asked about.
const MIN_EXISTENCE_SIMILARITY: f32 = 0.5;

/// Answers yes by what happened, and no by what was told not to happen. For a state, only an event that names one
/// counts.
pub(super) fn verdict_by_deeds(
    pool: &EventPool<'_>,
    pooled: &[RetrievedEvent],
) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let clause = &question.asked.clause;
    let is = clause.verb.as_ref().is_some_and(|verb| verb.auxiliary_only || verb.passive) && is_intransitive(clause);
    let verb = clause.verb.as_ref().map(|verb| verb.lemma.clone()).unwrap_or_default();
    // "Must not" also means "is not allowed".
    let named = |word: &String| state_of_word(word).is_none_or(|(scale, _)| scale != StateScale::Allowed);
    let state = asked_predicate(clause, question).filter(|_| is).filter(named);
    let names = |found: &RetrievedEvent| {
        let mut told = found.reading.lemmas.iter();
        state.as_ref().is_none_or(|state| told.any(|(lemma, _)| same_state(state, lemma).is_some()))
    };
    let planned = |found: &RetrievedEvent| asks_of_deed_done(question) && only_plans(question, &found.reading);
    // "Was there any salt in it?" is not answered by what it is in.
    let existing = clause.subject.as_ref().filter(|subject| {
        subject.determiner.as_deref() == Some("any") && clause.verb.as_ref().is_some_and(|verb| verb.lemma == "be")
    });
    let holds = |found: &RetrievedEvent| {
        existing.is_none_or(|thing| best_phrase_similarity(thing, &found.reading) >= MIN_EXISTENCE_SIMILARITY)
    };
    // "Has she got it back?" is not answered by who has got it.
    let is_back = |found: &RetrievedEvent| {
        !clause.has_back() || words(&found.reading.event.text).any(|word| word == "back" || word.starts_with("return"))
    };
    // "Has it been put in?" is not answered by what is put aside for it.
    let particle = clause.verb.as_ref().and_then(|verb| verb.particle.as_deref());
    let with_other_particle = |found: &RetrievedEvent| {
        let Some(particle) = particle else { return false };
        let has = |told: &&Clause| told.verb.as_ref().is_some_and(|told| told.lemma == verb);
        let is_same = |told: &Clause| {
            told.verb.as_ref().is_some_and(|told| told.particle.as_deref() == Some(particle))
                || told.complements.iter().any(|(word, _)| word == particle)
        };
        let mut told = found.reading.clauses().filter(has).peekable();
        told.peek().is_some() && !told.any(is_same)
    };
    let tells = |found: &&RetrievedEvent| {
        is_back(found)
            && !with_other_particle(found)
            && !found.reading.only_asks()
            && holds(found)
            && names(found)
            && !planned(found)
            && (!lacks_asked_deed(question, &found.reading) || omits_asked_deed(&found.reading, &verb, clause))
            && !lacks_anybody(question, &found.reading)
            && !has_other_actor(question, &found.reading)
            && !is_done_by_another(question, &found.reading)
    };
    let mut ranked: Vec<&RetrievedEvent> = pooled.iter().filter(tells).collect();
    ranked.sort_by(|a, b| b.fitness().total_cmp(&a.fitness()).then(b.span().start.cmp(&a.span().start)));
    let Some(best) = ranked.first() else { return Ok(None) };
    if best.coverage.of_content < MIN_YES_COVERAGE {
        return Ok(None);
    }
    // Among similar matches the newest holds.
    let near = ranked.iter().filter(|found| {
        found.fitness() >= best.fitness() - 0.15 && found.coverage.of_content >= MIN_YES_COVERAGE - 0.1
    });
    let Some(newest) = near.max_by_key(|found| (denies(&found.reading, &verb, clause), found.span().start, found.id()))
    else {
        return Ok(None);
    };
    let latest = ranked.iter().filter(|found| found.coverage.of_content >= MIN_YES_COVERAGE - 0.1);
    let latest = latest.max_by_key(|found| (found.span().start, found.id()));
    let without = latest.filter(|found| denies_existence(&found.reading, &verb, clause));
    let newest = without.unwrap_or(newest);
    // "I never posted it", for "has it gone off?".
    let never = |found: &RetrievedEvent| {
        let told = relevant_clauses(question, &found.reading);
        let never = |clause: &&Clause| {
            let verb = clause.verb.as_ref().filter(|verb| verb.negated && !verb.auxiliary_only && verb.modal.is_none());
            verb.is_some() && !clause.subject.as_ref().is_some_and(is_nobody)
        };
        found.reading.event.kind == Kind::Text && !told.is_empty() && told.iter().all(never)
    };
    // "It leaks", for "is it mended?".
    let opposite = |found: &RetrievedEvent| {
        let reading = &found.reading;
        let told =
            state.iter().flat_map(|state| reading.lemmas.iter().filter_map(|(lemma, _)| same_state(state, lemma)));
        let mut told = told.peekable();
        let negated = reading.clauses().filter_map(|clause| clause.verb.as_ref()).any(|verb| verb.negated);
        told.peek().is_some() && told.all(|same| !same) && !negated
    };
    let denied = without.is_some()
        || never(newest)
        || opposite(newest)
        || denies(&newest.reading, &verb, clause)
        || states_other_colour(&newest.reading, clause);
    let chosen = if denied { newest } else { best };
    let yes = denied == question.asked.has_negated_verb();
    let mut said = verdict_candidate(pool, chosen, yes, pooled, "what was told of it");
    if !denied && asks_of_anything(question) && does_asked_deed(question, chosen) {
        said = with_full_certainty(said);
        said.computed = true;
    }
    Ok(Some(said))
}

/// Returns whether a question asks for a deed of anybody to anything: "did anybody break anything?".
fn asks_of_anything(question: &Question<'_>) -> bool {
    let clause = &question.asked.clause;
    let any = |noun: &NounPhrase| {
        is_one_of(&noun.head, &["anybody", "anyone", "anything", "somebody", "someone", "something"])
    };
    let acts = clause.verb.as_ref().is_some_and(|verb| !verb.auxiliary_only && verb.modal.is_none());
    acts && question.tense == Tense::Past
        && !clause.objects.is_empty()
        && clause.adjuncts.is_empty()
        && clause.subject.iter().chain(&clause.objects).all(any)
}

/// Returns whether an event tells that the deed in question was done.
fn does_asked_deed(question: &Question<'_>, found: &RetrievedEvent) -> bool {
    let seen = found.reading.event.kind != Kind::Text;
    question.asked.clause.verb.as_ref().is_some_and(|verb| {
        found.reading.clauses().filter_map(|clause| clause.verb.as_ref()).any(|told| {
            !told.negated
                && !told.future
                && told.modal.is_none()
                && (told.past || told.perfect || seen)
                && verb_similarity(verb, told) >= MIN_DEED_SIMILARITY
        })
    })
}
