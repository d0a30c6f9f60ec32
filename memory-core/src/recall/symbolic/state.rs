//! The current facts about the usability of a thing.
//!
//! A thing is looked up by its identity and not by the words of a remark: "it" is the thing mentioned before, "Tom
//! broke the bowl" means a broken bowl, and a broken couch is no usable sofa.

use std::cmp::Reverse;

use crate::language::english::lexicon::{self, PartOfSpeech};
use crate::learning::Learnt;
use crate::logic::Step;
use crate::logic::query::Part;
use crate::logic::requests::StepFact;
use crate::recall::Reader;
use crate::semantic::{Ask, EdgeRole, Fact, FactQuestion, Noun};
use crate::{Event, FactKind, ReadError};

/// Groups of exclusive states, with those in which a thing is unusable.
const UNUSABLE_STATES: [(&str, &[&str]); 5] = [
    ("working", &["broken", "faulty", "defective"]),
    ("presence", &["missing", "lost", "gone", "unavailable"]),
    ("full", &["empty"]),
    ("clean", &["dirty"]),
    ("charge", &["flat", "discharged"]),
];
/// As [`UNUSABLE_STATES`], for places. A closed cupboard can be opened; a locked room cannot be used.
const UNUSABLE_PLACE_STATES: (&str, &[&str]) = ("locked", &["locked"]);
/// Attribute of a fact about a group of states.
const STATE_ATTRIBUTE: &str = "state";
/// Maximum number of facts of a step.
const MAX_STEP_FACTS: usize = 32;
/// Minimum similarity of two names of one thing in the lexicon: the first sense of both.
const MIN_SYNONYM_SIMILARITY: f32 = 0.9;

/// A state of a thing, with the latest event that reports it.
#[derive(Debug)]
pub(super) struct CurrentState {
    pub event: Event,
    pub useless: bool,
}

/// Returns the other names of a thing: told ones, and synonyms.
pub(super) fn other_names(thing: &str, learnt: Option<&Learnt>) -> Vec<Noun> {
    let told = learnt.zip(Noun::named(thing)).map(|(learnt, subject)| learnt.also_called(&subject));
    let synonyms = lexicon::synonyms(thing, PartOfSpeech::Noun).into_iter();
    let synonyms =
        synonyms.filter(|other| lexicon::similarity(thing, other) >= MIN_SYNONYM_SIMILARITY).filter_map(Noun::named);
    told.into_iter().flatten().chain(synonyms).collect()
}

/// Returns the current states of a thing, at most one of each group.
pub(super) fn current_states(thing: &str, reader: &dyn Reader) -> Result<Vec<CurrentState>, ReadError> {
    let (Some(learnt), Some(subject)) = (reader.learnt(), Noun::named(thing)) else { return Ok(Vec::new()) };
    let called = other_names(thing, Some(learnt));
    let mut found = Vec::new();
    for (group, _) in UNUSABLE_STATES.into_iter().chain([UNUSABLE_PLACE_STATES]) {
        let ask = Ask::State { group, state: String::new() };
        let question = FactQuestion { ask, subject: subject.clone(), past: false, before: false };
        let facts = learnt.facts().answer(&question, None, reader.clock().now(), &called);
        for fact in facts.into_iter().flat_map(|found| found.facts) {
            // Skip hidden events.
            let event = fact.evidence.last().map(|id| reader.event(*id)).transpose()?.flatten();
            found.extend(event.map(|event| CurrentState { event, useless: is_unusable(&fact) }));
        }
    }
    Ok(found)
}

/// Returns whether a fact says that its subject is unusable.
fn is_unusable(fact: &Fact) -> bool {
    let mut states = UNUSABLE_STATES.into_iter().chain([UNUSABLE_PLACE_STATES]).flat_map(|(_, useless)| useless);
    fact.attribute == STATE_ATTRIBUTE && states.any(|state| *state == fact.value)
}

/// Returns the current facts about the things and places of a step, along the edges from the step to them and from
/// those to the facts, heaviest first.
pub(super) fn step_facts(step: &Step, reader: &dyn Reader) -> Result<Vec<StepFact>, ReadError> {
    let Some(learnt) = reader.learnt() else { return Ok(Vec::new()) };
    let mut linked = Vec::new();
    let attributes = &step.attributes;
    let parts =
        [(Part::Object, &attributes.objects), (Part::Tool, &attributes.tools), (Part::Place, &attributes.places)];
    for (part, names) in parts {
        let heaviest = names.values().copied().max().unwrap_or(0);
        for (name, observations) in names {
            let Some(noun) = Noun::named(name) else { continue };
            let called: Vec<Noun> = other_names(name, Some(learnt)).into_iter().chain([noun]).collect();
            for (role, fact) in learnt.facts().involving(&called, &|| true).unwrap_or_default() {
                let holds = fact.until.is_none_or(|until| until > reader.clock().now());
                if role != EdgeRole::Subject || !holds || fact.kind == FactKind::Deed {
                    continue;
                }
                let visible = fact.evidence.last().map(|id| reader.event(*id)).transpose()?.flatten();
                let blocks = is_unusable(&fact) && 2 * observations > heaviest;
                let (name, observations) = (name.clone(), *observations);
                linked.extend(visible.map(|_| StepFact { part, name, observations, fact, blocks }));
            }
        }
    }
    linked.sort_by_key(|linked| Reverse((linked.observations, linked.fact.weight)));
    linked.truncate(MAX_STEP_FACTS);
    Ok(linked)
}
