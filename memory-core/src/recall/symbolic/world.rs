//! What memory says about the things that a procedure needs: in remarks, read word by word, and in the facts that are in force.

use std::collections::{BTreeMap, BTreeSet};

use super::claim::{Claim, claims};
use super::state::{Held, held};
use crate::index::{SearchQuery, TermId};
use crate::logic::Procedure;
use crate::logic::query::{Phrase, Stems, StepWords};
use crate::recall::Reader;
use crate::{Event, Kind, ReadError, Value};

/// Remarks of one kind that are read at most.
const READ: usize = 64;
/// Things whose facts are looked up at most.
const MOST_THINGS: usize = 256;
/// The kinds of events that say how things are.
const REMARKS: [Kind; 3] = [Kind::State, Kind::Text, Kind::Caption];

/// A claim with the event that makes it.
#[derive(Debug, Clone)]
pub(super) struct Told {
    pub thing: String,
    pub event: Event,
    /// The thing's name as sorted terms.
    terms: Vec<TermId>,
}

impl Told {
    /// Whether it is about one of these things.
    pub fn is_of(&self, things: &[String]) -> bool {
        let stems = Stems::new();
        things.iter().any(|thing| {
            let terms = stems.of(thing);
            let held = |part: &[TermId], whole: &[TermId]| part.iter().all(|term| whole.binary_search(term).is_ok());
            held(&terms, &self.terms) || held(&self.terms, &terms)
        })
    }
}

/// What is lacking of what a procedure needs, and what is on offer; the latest word on each thing counts.
#[derive(Debug, Clone, Default)]
pub(super) struct World {
    pub lacking: Vec<Told>,
    pub offers: Vec<Told>,
}

/// Reads what was said about the things of a procedure's steps.
pub(super) fn about(procedure: &Procedure, reader: &dyn Reader) -> Result<World, ReadError> {
    let words = StepWords::of(procedure);
    let stems = Stems::new();
    let mut remarks: Vec<Event> = Vec::new();
    let mut asked: Vec<&str> = Vec::new();
    for step in procedure.steps().iter().filter(|step| step.count > 0) {
        asked.push(&step.text);
        let attributes = &step.attributes;
        asked.extend(attributes.objects.keys().chain(attributes.tools.keys()).map(String::as_str));
    }
    for kind in REMARKS {
        let query = SearchQuery { text: asked.join(" "), kinds: vec![kind], limit: READ, ..SearchQuery::default() };
        for hit in reader.search().search(&query) {
            remarks.extend(reader.event(hit.id)?);
        }
    }
    remarks.sort_by_key(|event| (event.span.start, event.id));
    // The latest word on each thing; offers beside what is lacking.
    let mut said: Vec<(Vec<TermId>, Event, Option<Told>)> = Vec::new();
    let mut offers: BTreeMap<(Vec<TermId>, String), Told> = BTreeMap::new();
    for event in remarks {
        for claim in claims(&sentence(&event)) {
            let (Claim::Lacking(thing) | Claim::Restored(thing) | Claim::Offer(thing)) = &claim;
            let named = match claim {
                Claim::Lacking(_) => Phrase::needed(thing.clone()),
                Claim::Restored(_) | Claim::Offer(_) => Phrase::any(thing.clone()),
            };
            if !words.named_by(&named).contains(&true) {
                continue;
            }
            let terms = stems.of(thing);
            let told = Told { thing: thing.clone(), event: event.clone(), terms: terms.clone() };
            match claim {
                Claim::Lacking(_) => said.push((terms, event.clone(), Some(told))),
                Claim::Restored(_) => said.push((terms, event.clone(), None)),
                Claim::Offer(_) => drop(offers.insert((terms, event.text.clone()), told)),
            }
        }
    }
    for thing in things_of(procedure) {
        for Held { event, useless } in held(thing, reader)? {
            if useless && !words.named_by(&Phrase::needed(thing)).contains(&true) {
                continue;
            }
            let terms = stems.of(thing);
            let told = Told { thing: thing.to_owned(), event: event.clone(), terms: terms.clone() };
            said.push((terms, event, useless.then_some(told)));
        }
    }
    said.sort_by_key(|(_, event, _)| (event.span.start, event.id));
    let state: BTreeMap<Vec<TermId>, Option<Told>> = said.into_iter().map(|(terms, _, told)| (terms, told)).collect();
    let latest_first = |mut all: Vec<Told>| {
        all.sort_by_key(|told| std::cmp::Reverse((told.event.span.start, told.event.id)));
        all
    };
    Ok(World {
        lacking: latest_first(state.into_values().flatten().collect()),
        offers: latest_first(offers.into_values().collect()),
    })
}

/// The things and places of a procedure's steps, each once.
fn things_of(procedure: &Procedure) -> BTreeSet<&str> {
    let steps = procedure.steps().iter().filter(|step| step.count > 0);
    let names = steps.flat_map(|step| {
        let attributes = &step.attributes;
        attributes.objects.keys().chain(attributes.tools.keys()).chain(attributes.places.keys())
    });
    names.map(String::as_str).take(MOST_THINGS).collect()
}

/// An event as a sentence: its text, or, of a state told by attributes, "the bowl is broken".
fn sentence(event: &Event) -> String {
    let about = event.entity.as_deref().filter(|_| event.kind == Kind::State);
    let mut said = event.text.clone();
    if let Some(entity) = about.filter(|entity| !event.text.to_lowercase().contains(&entity.to_lowercase())) {
        said = format!("{entity} is {said}. {entity} {said}");
    }
    for name in ["condition", "state", "status"] {
        if let Some(value) = event.attributes.get(name).and_then(Value::as_text) {
            let thing = about.unwrap_or(&event.text);
            said = format!("{said}. {thing} is {value}");
        }
    }
    said
}
