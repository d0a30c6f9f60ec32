//! The facts in force about a thing: whether it is of use.
//!
//! A step's thing is looked up as what it is, not by the words of a remark: "it" is what was spoken of, "Tom broke the bowl" leaves a
//! broken bowl, and a couch that is broken is no sofa to sit on.

use crate::language::english::lexicon::{self, PartOfSpeech};
use crate::recall::Reader;
use crate::semantic::{Ask, FactQuestion, Noun};
use crate::{Event, ReadError};

/// Groups of states that exclude each other, with those in which a thing is of no use.
const USELESS: [(&str, &[&str]); 5] = [
    ("working", &["broken", "faulty", "defective"]),
    ("presence", &["missing", "lost", "gone", "unavailable"]),
    ("full", &["empty"]),
    ("clean", &["dirty"]),
    ("charge", &["flat", "discharged"]),
];
/// The same of places. A closed cupboard can be opened; a locked room is no place to do anything.
const LOCKED: (&str, &[&str]) = ("locked", &["locked"]);
/// The likeness of two names for one thing in the lexicon: the first meaning of both.
const ONE_THING: f32 = 0.9;

/// A state of a thing, with the latest event that says so.
#[derive(Debug)]
pub(super) struct Held {
    pub event: Event,
    pub useless: bool,
}

/// The states of a thing that are in force, of each group at most one.
pub(super) fn held(thing: &str, reader: &dyn Reader) -> Result<Vec<Held>, ReadError> {
    let (Some(learnt), Some(subject)) = (reader.learnt(), Noun::named(thing)) else { return Ok(Vec::new()) };
    let mut called = learnt.also_called(&subject);
    let synonyms = lexicon::synonyms(thing, PartOfSpeech::Noun).into_iter();
    called.extend(synonyms.filter(|other| lexicon::similarity(thing, other) >= ONE_THING).filter_map(Noun::named));
    let mut found = Vec::new();
    for (group, useless) in USELESS.into_iter().chain([LOCKED]) {
        let ask = Ask::State { group, state: String::new() };
        let question = FactQuestion { ask, subject: subject.clone(), past: false, before: false };
        let facts = learnt.facts().answer(&question, None, reader.clock().now(), &called);
        for fact in facts.into_iter().flat_map(|found| found.facts) {
            // What was hidden since is not to be seen.
            let event = fact.evidence.last().map(|id| reader.event(*id)).transpose()?.flatten();
            found.extend(event.map(|event| Held { event, useless: useless.contains(&fact.value.as_str()) }));
        }
    }
    Ok(found)
}
