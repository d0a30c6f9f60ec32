//! What the memory says about the things that a procedure needs: remarks, read by patterns, and current facts.

use std::collections::{BTreeMap, BTreeSet};

use super::claim::{ThingClaim, extract_claims};
use super::state::{CurrentState, current_states};
use crate::index::{SearchQuery, TermId};
use crate::logic::Procedure;
use crate::logic::query::{Phrase, Stems, StepWords};
use crate::recall::Reader;
use crate::{Event, Kind, ReadError, Value};

/// Maximum number of remarks of one kind that are read.
const MAX_REMARKS: usize = 64;
/// Maximum number of things whose facts are looked up.
const MAX_THINGS: usize = 256;
/// Kinds of events that report states.
const REMARK_KINDS: [Kind; 3] = [Kind::State, Kind::Text, Kind::Caption];

/// A claim with the event that makes it.
#[derive(Debug, Clone)]
pub(super) struct ToldClaim {
    pub thing: String,
    pub event: Event,
    /// The name of the thing as sorted terms.
    terms: Vec<TermId>,
}

impl ToldClaim {
    /// Returns whether the claim is about one of these things.
    pub fn is_about(&self, things: &[String]) -> bool {
        let stems = Stems::new();
        things.iter().any(|thing| {
            let terms = stems.of(thing);
            let held = |part: &[TermId], whole: &[TermId]| part.iter().all(|term| whole.binary_search(term).is_ok());
            held(&terms, &self.terms) || held(&self.terms, &terms)
        })
    }
}

/// What is unavailable of the things that a procedure needs, and what is on offer. The latest report on each thing
/// counts.
#[derive(Debug, Clone, Default)]
pub(super) struct ThingReports {
    pub lacking: Vec<ToldClaim>,
    pub offers: Vec<ToldClaim>,
}

/// Reads the reports about the things of a procedure's steps.
pub(super) fn read_reports(procedure: &Procedure, reader: &dyn Reader) -> Result<ThingReports, ReadError> {
    let words = StepWords::of(procedure);
    let stems = Stems::new();
    let mut remarks: Vec<Event> = Vec::new();
    let mut asked: Vec<&str> = Vec::new();
    for step in procedure.steps().iter().filter(|step| step.count > 0) {
        asked.push(&step.text);
        let attributes = &step.attributes;
        asked.extend(attributes.objects.keys().chain(attributes.tools.keys()).map(String::as_str));
    }
    for kind in REMARK_KINDS {
        let query =
            SearchQuery { text: asked.join(" "), kinds: vec![kind], limit: MAX_REMARKS, ..SearchQuery::default() };
        for hit in reader.search().search(&query) {
            remarks.extend(reader.event(hit.id)?);
        }
    }
    remarks.sort_by_key(|event| (event.span.start, event.id));
    // The latest report on each thing. Offers are kept separately.
    let mut said: Vec<(Vec<TermId>, Event, Option<ToldClaim>)> = Vec::new();
    let mut offers: BTreeMap<(Vec<TermId>, String), ToldClaim> = BTreeMap::new();
    for event in remarks {
        for claim in extract_claims(&event_sentence(&event)) {
            let (ThingClaim::Lacking(thing) | ThingClaim::Restored(thing) | ThingClaim::Offer(thing)) = &claim;
            let named = match claim {
                ThingClaim::Lacking(_) => Phrase::needed(thing.clone()),
                ThingClaim::Restored(_) | ThingClaim::Offer(_) => Phrase::any(thing.clone()),
            };
            if !words.named_by(&named).contains(&true) {
                continue;
            }
            let terms = stems.of(thing);
            let told = ToldClaim { thing: thing.clone(), event: event.clone(), terms: terms.clone() };
            match claim {
                ThingClaim::Lacking(_) => said.push((terms, event.clone(), Some(told))),
                ThingClaim::Restored(_) => said.push((terms, event.clone(), None)),
                ThingClaim::Offer(_) => drop(offers.insert((terms, event.text.clone()), told)),
            }
        }
    }
    for thing in step_things(procedure) {
        for CurrentState { event, useless } in current_states(thing, reader)? {
            if useless && !words.named_by(&Phrase::needed(thing)).contains(&true) {
                continue;
            }
            let terms = stems.of(thing);
            let told = ToldClaim { thing: thing.to_owned(), event: event.clone(), terms: terms.clone() };
            said.push((terms, event, useless.then_some(told)));
        }
    }
    said.sort_by_key(|(_, event, _)| (event.span.start, event.id));
    let state: BTreeMap<Vec<TermId>, Option<ToldClaim>> =
        said.into_iter().map(|(terms, _, told)| (terms, told)).collect();
    let latest_first = |mut all: Vec<ToldClaim>| {
        all.sort_by_key(|told| std::cmp::Reverse((told.event.span.start, told.event.id)));
        all
    };
    Ok(ThingReports {
        lacking: latest_first(state.into_values().flatten().collect()),
        offers: latest_first(offers.into_values().collect()),
    })
}

/// Returns the things and places of a procedure's steps, without duplicates.
fn step_things(procedure: &Procedure) -> BTreeSet<&str> {
    let steps = procedure.steps().iter().filter(|step| step.count > 0);
    let names = steps.flat_map(|step| {
        let attributes = &step.attributes;
        attributes.objects.keys().chain(attributes.tools.keys()).chain(attributes.places.keys())
    });
    names.map(String::as_str).take(MAX_THINGS).collect()
}

/// Returns an event as a sentence: its text, or, for a state told by attributes, "the bowl is broken".
fn event_sentence(event: &Event) -> String {
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
