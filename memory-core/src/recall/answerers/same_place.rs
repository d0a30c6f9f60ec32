//! Answers whether two things of one kind are in one place: each at its latest told place.

use crate::ReadError;
use crate::language::english::closed::PLACE_PREPOSITIONS;
use crate::language::english::syntax::NounPhrase;
use crate::recall::answerers::places::{reference_certainty, same_place};
use crate::recall::answerers::quote::join_list;
use crate::recall::candidate::{Candidate, CandidateValue, Layer};
use crate::recall::content::word_similarity;
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::reading::{Placement, ThingPlace, arguments};

/// Maximum number of events of the kind that are read.
const MAX_KIND_EVENTS: usize = 200;
/// Maximum number of things of one kind that are told apart.
const MAX_THINGS: usize = 4;
/// Minimum certainty that a place belongs to the thing.
const MIN_PLACE_CERTAINTY: f32 = 0.9;

/// "Are the two lamps in the same room?"
pub(super) fn answer(pool: &EventPool<'_>) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let clause = &question.asked.clause;
    let same = |noun: &NounPhrase| noun.modifiers.iter().any(|word| word == "same" || word == "one");
    let Some(kind) = clause.subject.as_ref().filter(|subject| subject.plural) else { return Ok(None) };
    // "Are both lamps in the cellar?"
    let both = kind.determiner.as_deref() == Some("both") || kind.number.is_some_and(|number| number >= 2.0);
    let there =
        clause.adjuncts.iter().find(|adjunct| both && PLACE_PREPOSITIONS.contains(&adjunct.preposition.as_str()));
    if !clause.adjuncts.iter().any(|adjunct| same(&adjunct.noun)) && there.is_none() {
        return Ok(None);
    }
    let there = there
        .map(|adjunct| adjunct.noun.head.as_str())
        .filter(|_| !clause.adjuncts.iter().any(|adjunct| same(&adjunct.noun)));
    let head =
        NounPhrase { modifiers: Vec::new(), determiner: None, owner: None, of: None, number: None, ..kind.clone() };
    let mut all = pool.events_mentioning(&head, question.hard, true, MAX_KIND_EVENTS, &question.content)?;
    all.retain(|found| !found.reading.only_asks());
    all.sort_by_key(|found| (found.span().start, found.id()));
    let mut things: Vec<NounPhrase> = Vec::new();
    for found in &all {
        let nouns = found.reading.clauses().flat_map(arguments).flat_map(NounPhrase::coordinated);
        for noun in nouns.filter(|noun| !noun.modifiers.is_empty() && !noun.plural) {
            let known = things.iter().any(|thing| thing.modifiers == noun.modifiers);
            if !known && word_similarity(&kind.head, &noun.head) >= MIN_PLACE_CERTAINTY && things.len() < MAX_THINGS {
                things.push(NounPhrase { owner: None, of: None, also: Vec::new(), ..noun.clone() });
            }
        }
    }
    let latest = |thing: &NounPhrase| -> Option<(ThingPlace, RetrievedEvent)> {
        all.iter().rev().find_map(|found| {
            let mut places = found.reading.places().into_iter().filter(|place| place.placement == Placement::At);
            let own =
                places.rfind(|place| reference_certainty(thing, &place.thing, found, &all) >= MIN_PLACE_CERTAINTY)?;
            Some((own, found.clone()))
        })
    };
    let placed: Vec<(NounPhrase, ThingPlace, RetrievedEvent)> =
        things.into_iter().filter_map(|thing| latest(&thing).map(|(place, found)| (thing, place, found))).collect();
    let [(_, first, _), _, ..] = placed.as_slice() else { return Ok(None) };
    let together = placed.iter().all(|(_, place, _)| match there {
        Some(there) => {
            crate::index::words(&place.text).any(|word| word_similarity(there, &word) >= MIN_PLACE_CERTAINTY)
        }
        None => same_place(&place.text, &first.text),
    });
    let yes = together != question.asked.has_negated_verb();
    let told: Vec<String> = placed
        .iter()
        .map(|(thing, place, _)| format!("the {} {} {}", thing.modifiers.join(" "), thing.head, place.text))
        .collect();
    let text = format!("{}: {}.", if yes { "Yes" } else { "No" }, join_list(&told));
    let evidence = placed.into_iter().map(|(.., found)| found).collect();
    let known = question.content.known_share().max(MIN_PLACE_CERTAINTY);
    Ok(Some(Candidate::computed(
        Layer::Episodes,
        text,
        CandidateValue::Truth(yes),
        evidence,
        known,
        "by where each was told to be last".into(),
    )))
}
