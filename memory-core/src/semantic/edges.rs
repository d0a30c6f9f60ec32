//! Weighted edges from facts to the entities that they involve (NS-Mem 4.1, the semantic layer).
//!
//! A fact "the mug is in the kitchen" has an edge to the mug and one to the kitchen; "Tom washed the mug" has one to the mug
//! and one to Tom. All edges of a fact have its weight: how many claims affirm it, less how many deny it. So a claim that
//! says the same reinforces the edges by 1 (Algorithm 1), one that denies weakens them, and one that is forgotten takes its
//! share away.
//!
//! The edge to the subject is the topic's key itself. The others are kept in a table from entity to subject, so that the facts
//! that involve an entity are found without reading all facts. The table follows from the claims and is not stored.

use super::claim::{Attribute, Claim, Stance, TopicKey};
use super::text::{Noun, SentenceWord, noun_words, tokens};
use crate::language::english::closed::PLACE_PREPOSITIONS;
use crate::sharded::{Sharded, Spread, spread_bytes};

/// Words before the noun of a place besides those that place it: "on top of the shelf", "from Mara", "next to the sink".
const BESIDES: &[&str] = &["next", "front", "of", "top", "from", "with", "within"];

/// What an entity is in a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EdgeRole {
    /// The fact is about it.
    Subject,
    /// It is the value: the place of a thing, or what somebody has.
    Value,
    /// It did what the fact tells.
    Actor,
    /// The deed was done there.
    Place,
}

/// The entities that a value and the place of a deed name, with their roles.
pub(super) fn entities(
    attribute: &Attribute,
    value: &str,
    place: Option<&str>,
) -> impl Iterator<Item = (EdgeRole, Noun)> {
    let own = match attribute {
        Attribute::Place | Attribute::Relation(..) => noun_in(value).map(|noun| (EdgeRole::Value, noun)),
        // "Owner: Tom" names somebody; "battery: 80 %" names nobody.
        Attribute::Named(_) => Noun::named(value).filter(|noun| noun.name).map(|noun| (EdgeRole::Value, noun)),
        Attribute::Deed(_) => Noun::named(value).map(|noun| (EdgeRole::Actor, noun)),
        Attribute::Colour | Attribute::State(_) => None,
    };
    own.into_iter().chain(place.and_then(noun_in).map(|noun| (EdgeRole::Place, noun)))
}

/// The noun that a value is about: "kitchen" of "in the kitchen".
fn noun_in(value: &str) -> Option<Noun> {
    let tokens: Vec<SentenceWord> = tokens(&value.replace('_', " "));
    let from = tokens.iter().position(|token| !token.is_one_of(PLACE_PREPOSITIONS) && !token.is_one_of(BESIDES))?;
    let (words, _) = noun_words(&tokens, from);
    Noun::from_words(&words, None)
}

/// An edge between two entities, by the stems under which they are looked up: the one that facts involve, and their subject.
/// Stems are hashed; whoever follows an edge compares the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct EdgeKey {
    entity: u32,
    subject: u32,
}

impl Spread for EdgeKey {
    fn spread(&self) -> u64 {
        // By both: half of the facts of a house may involve its kitchen, and a change copies a shard.
        u64::from(self.entity ^ self.subject.rotate_left(16))
    }
}

/// The low half of the hash by which topics are spread, so that it tells the shard of a subject's topics.
pub(super) fn hashed(head: &str) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "the low half")]
    let low = spread_bytes(head.as_bytes()) as u32;
    low
}

/// The edges of all facts but those to their subjects. Clones share what neither has changed.
#[derive(Debug, Clone, Default)]
pub(super) struct EdgeTable {
    /// How many claims affirm a fact of the subject that involves the entity; never 0.
    affirmed: Sharded<EdgeKey, u32>,
}

impl EdgeTable {
    /// Takes in the edges of a claim.
    pub fn add(&mut self, key: &TopicKey, claim: &Claim) {
        for edge in edges(key, claim) {
            let affirmed = self.affirmed.shard_mut(edge.spread()).entry(edge).or_default();
            *affirmed = affirmed.saturating_add(1);
        }
    }

    /// Takes back what [`add`](Self::add) did.
    pub fn remove(&mut self, key: &TopicKey, claim: &Claim) {
        for edge in edges(key, claim) {
            match self.affirmed.get(&edge) {
                None => {}
                Some(0 | 1) => drop(self.affirmed.remove(&edge)),
                Some(more) => self.affirmed.insert(edge, more - 1),
            }
        }
    }

    /// The hashed heads of the subjects of facts that involve an entity with this head, ascending.
    pub fn subjects(&self, entity: &str) -> Vec<u32> {
        let entity = hashed(entity);
        let all = EdgeKey { entity, subject: 0 }..=EdgeKey { entity, subject: u32::MAX };
        let found = self.affirmed.shards().flat_map(|shard| shard.range(all.clone()));
        let mut subjects: Vec<u32> = found.map(|(edge, _)| edge.subject).collect();
        subjects.sort_unstable();
        subjects
    }

    /// How many edges there are.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.affirmed.len()
    }
}

/// The edges of a claim. One that denies, or ends, a fact leads nowhere new.
fn edges(key: &TopicKey, claim: &Claim) -> impl Iterator<Item = EdgeKey> {
    let affirms = claim.stance == Stance::Affirms;
    let nouns = affirms.then(|| entities(&key.attribute, &claim.value, claim.place.as_deref()));
    let subject = hashed(&key.head);
    nouns.into_iter().flatten().map(move |(_, noun)| EdgeKey { entity: hashed(&noun.head), subject })
}
