//! All topics with their claims.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::claim::{Attribute, Claim, Conclusion, TopicKey};
use super::edges::{self, EdgeRole, EdgeTable};
use super::fact::{self, Fact};
use super::text::Noun;
use crate::EventId;
use crate::sharded::{Sharded, Spread, spread_bytes};

/// Maximum number of claims of a topic, the latest in time. Older ones are still found as events.
pub(crate) const MAX_CLAIMS: usize = 256;

/// The claims about one attribute of one subject.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub(crate) struct FactTopic {
    /// Sorted by time, then by commit; each with the subject as its event shows it.
    claims: Vec<(Claim, Box<str>)>,
    /// Whether there were more.
    truncated: bool,
}

impl FactTopic {
    /// Takes in a claim; `None` if it is known.
    fn add(&mut self, claim: Claim, shown: &str) -> Option<Added> {
        let entry = (claim, Box::from(shown));
        let place = self.claims.binary_search(&entry).err()?;
        // Most topics have one claim; the four that a vector begins with would be most of what a fact takes.
        if self.claims.len() == self.claims.capacity() {
            self.claims.reserve_exact(1 + self.claims.len() / 2);
        }
        self.claims.insert(place, entry);
        let full = self.claims.len() > MAX_CLAIMS;
        self.truncated |= full;
        Some(Added { evicted: full.then(|| self.claims.remove(0).0) })
    }

    /// Returns the subject as the latest claim shows it.
    pub fn shown(&self) -> &str {
        self.claims.last().map_or("", |(_, shown)| shown)
    }

    pub fn claims(&self) -> impl Iterator<Item = &Claim> {
        self.claims.iter().map(|(claim, _)| claim)
    }
}

/// A new claim of a topic.
struct Added {
    /// The oldest claim, where it had to make room.
    evicted: Option<Claim>,
}

impl Spread for Arc<TopicKey> {
    fn spread(&self) -> u64 {
        spread_bytes(self.head.as_bytes())
    }
}

/// The topics that an event has to do with; nearly always one.
#[derive(Debug, Clone)]
enum EventTopics {
    One(Arc<TopicKey>),
    Several(Arc<[Arc<TopicKey>]>),
}

impl EventTopics {
    fn as_slice(&self) -> &[Arc<TopicKey>] {
        match self {
            Self::One(key) => std::slice::from_ref(key),
            Self::Several(keys) => keys,
        }
    }
}

/// All topics. Clones share what neither has changed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts {
    topics: Sharded<Arc<TopicKey>, Arc<FactTopic>>,
    /// Which topics have a claim that an event made or gave the context of.
    by_event: Sharded<u64, EventTopics>,
    /// Edges to what facts involve besides their subjects.
    edges: EdgeTable,
    /// Topics were restored, and `by_event` and `edges` do not know of them yet: opening a memory should not wait for them.
    unreferred: bool,
    /// Topics that changed since they were last asked for.
    changed: BTreeSet<Arc<TopicKey>>,
}

impl PartialEq for Facts {
    fn eq(&self, other: &Self) -> bool {
        self.topics == other.topics
    }
}

impl Facts {
    /// Takes in what an event says.
    pub fn add(&mut self, conclusion: Conclusion) {
        self.refer_all();
        let key = Arc::new(conclusion.topic());
        let shard = self.topics.shard_mut(key.spread());
        let key = shard.get_key_value(&key).map_or(key, |(known, _)| Arc::clone(known));
        let events = [Some(conclusion.claim.event), conclusion.claim.context];
        let topic = shard.entry(Arc::clone(&key)).or_default();
        let claim = conclusion.claim;
        if let Some(added) = Arc::make_mut(topic).add(claim.clone(), &conclusion.subject.shown) {
            self.edges.add(&key, &claim);
            if let Some(evicted) = added.evicted {
                self.edges.remove(&key, &evicted);
            }
        }
        for event in events.into_iter().flatten() {
            self.refer(event, &key);
        }
        self.changed.insert(key);
    }

    fn refer(&mut self, event: EventId, key: &Arc<TopicKey>) {
        let topics = match self.by_event.get(&event.0) {
            None => EventTopics::One(Arc::clone(key)),
            Some(known) if known.as_slice().contains(key) => return,
            Some(known) => EventTopics::Several(known.as_slice().iter().chain([key]).map(Arc::clone).collect()),
        };
        self.by_event.insert(event.0, topics);
    }

    /// Takes back what hidden events said; `true` if what is left is what would have been learnt without them.
    pub fn withdraw(&mut self, hidden: &[EventId]) -> bool {
        self.refer_all();
        let mut exact = true;
        let mut affected: BTreeSet<Arc<TopicKey>> = BTreeSet::new();
        for event in hidden {
            let topics = self.by_event.remove(&event.0);
            affected.extend(topics.iter().flat_map(|topics| topics.as_slice().iter().map(Arc::clone)));
        }
        let is_hidden = |event: EventId| hidden.binary_search(&event).is_ok();
        for key in affected {
            let shard = self.topics.shard_mut(key.spread());
            let Some(topic) = shard.get_mut(&key) else { continue };
            let topic = Arc::make_mut(topic);
            // Claims that an older one made room for are not kept anywhere.
            exact &= !topic.truncated;
            topic.claims.retain(|(claim, _)| {
                // Who "he" is must be read again where the event that told it is gone.
                let unsettled = claim.context.is_some_and(is_hidden);
                exact &= !unsettled || is_hidden(claim.event);
                let kept = !unsettled && !is_hidden(claim.event);
                if !kept {
                    self.edges.remove(&key, claim);
                }
                kept
            });
            if topic.claims.is_empty() {
                shard.remove(&key);
            }
            self.changed.insert(key);
        }
        exact
    }

    /// Topics whose subject is looked up by `head`.
    pub fn topics(&self, head: &str) -> impl Iterator<Item = (&TopicKey, &FactTopic)> {
        let shard = self.topics.shard(spread_bytes(head.as_bytes()));
        let first = TopicKey { head: head.into(), subject: "".into(), attribute: Attribute::Place };
        let head = first.head.clone();
        shard
            .range(Arc::new(first)..)
            .take_while(move |(key, _)| key.head == head)
            .map(|(key, topic)| (&**key, &**topic))
    }

    /// The facts that involve an entity in any role, by the edges that lead to it: the heaviest first, then the latest.
    /// `called`: what the entity is called. `None` if `go_on`, which is asked before each topic, says so.
    pub fn involving(&self, called: &[Noun], go_on: &dyn Fn() -> bool) -> Option<Vec<(EdgeRole, Fact)>> {
        let mut found: BTreeMap<&TopicKey, Vec<(EdgeRole, Fact)>> = BTreeMap::new();
        for noun in called {
            for (key, topic) in self.topics(&noun.head) {
                if noun.key.split(' ').all(|word| key.subject.split(' ').any(|own| own == word)) {
                    let facts = Self::in_topic(key, topic).into_iter().map(|fact| (EdgeRole::Subject, fact));
                    found.insert(key, facts.collect());
                }
            }
        }
        // Right after a restart the table of edges is not there yet, and every topic is looked at.
        let edges = (!self.unreferred).then_some(&self.edges);
        let subjects = edges.map(|edges| called.iter().flat_map(|noun| edges.subjects(&noun.head)).collect());
        for (key, topic) in self.topics_of(subjects.as_ref()) {
            if found.contains_key(key) {
                continue;
            }
            if !go_on() {
                return None;
            }
            let role = |fact: &Fact| {
                let mut named = edges::entities(&key.attribute, &fact.value, fact.place.as_deref());
                let own = named.find(|(_, other)| called.iter().any(|noun| noun.is_named_by(other)));
                own.map(|(role, _)| role)
            };
            let facts = Self::in_topic(key, topic).into_iter().filter_map(|fact| Some((role(&fact)?, fact)));
            found.insert(key, facts.collect());
        }
        let mut facts: Vec<(EdgeRole, Fact)> = found.into_values().flatten().collect();
        // The sort is stable, and topics come in their order.
        facts.sort_by_key(|(_, fact)| Reverse((fact.weight, fact.last)));
        Some(facts)
    }

    /// The topics of subjects with these hashed heads; all topics where there are none.
    fn topics_of<'a>(
        &'a self,
        subjects: Option<&'a BTreeSet<u32>>,
    ) -> Box<dyn Iterator<Item = (&'a TopicKey, &'a FactTopic)> + 'a> {
        let Some(subjects) = subjects else {
            return Box::new(self.topics.iter().map(|(key, topic)| (&**key, &**topic)));
        };
        let shards = self.topics.shards_of(subjects.iter().map(|subject| u64::from(*subject)));
        let topics = shards.flatten().filter(|(key, _)| subjects.contains(&edges::hashed(&key.head)));
        Box::new(topics.map(|(key, topic)| (&**key, &**topic)))
    }

    /// The facts of a topic.
    pub fn in_topic(key: &TopicKey, topic: &FactTopic) -> Vec<Fact> {
        fact::facts(topic.shown(), &key.attribute, topic.claims())
    }

    /// How many topics there are.
    pub fn len(&self) -> usize {
        self.topics.len()
    }

    /// Returns every topic, sorted and lazily: a caller that stops early does not pay for the rest.
    pub fn sorted(&self) -> impl Iterator<Item = (&TopicKey, &FactTopic)> {
        let mut shards: Vec<_> = self.topics.shards().map(BTreeMap::iter).collect();
        let mut first: BinaryHeap<Reverse<(&TopicKey, usize, &FactTopic)>> = BinaryHeap::new();
        for (at, shard) in shards.iter_mut().enumerate() {
            first.extend(shard.next().map(|(key, topic)| Reverse((&**key, at, &**topic))));
        }
        std::iter::from_fn(move || {
            let Reverse((key, at, topic)) = first.pop()?;
            first.extend(shards[at].next().map(|(key, topic)| Reverse((&**key, at, &**topic))));
            Some((key, topic))
        })
    }

    /// Every topic, sorted.
    pub fn all(&self) -> BTreeMap<&TopicKey, &FactTopic> {
        self.topics.iter().map(|(key, topic)| (&**key, &**topic)).collect()
    }

    /// The topics that changed since the last call, with their rows; no row is for one that is gone.
    pub fn take_changed(&mut self) -> Vec<(Arc<TopicKey>, Option<Arc<FactTopic>>)> {
        let changed = std::mem::take(&mut self.changed);
        changed.into_iter().map(|key| (Arc::clone(&key), self.topics.get(&key).map(Arc::clone))).collect()
    }

    /// Takes back in what was kept.
    pub fn restore(&mut self, key: TopicKey, topic: FactTopic) {
        self.topics.insert(Arc::new(key), Arc::new(topic));
        self.unreferred = true;
    }

    /// Whether [`refer_all`](Self::refer_all) has nothing to do.
    pub fn is_referred(&self) -> bool {
        !self.unreferred
    }

    /// Brings `by_event` and `edges` up to what was restored. O(facts), once.
    pub fn refer_all(&mut self) {
        if !std::mem::take(&mut self.unreferred) {
            return;
        }
        self.edges = EdgeTable::default();
        for (key, topic) in self.topics.clone().iter() {
            let events: BTreeSet<EventId> =
                topic.claims().flat_map(|claim| [Some(claim.event), claim.context]).flatten().collect();
            for event in events {
                self.refer(event, key);
            }
            topic.claims().for_each(|claim| self.edges.add(key, claim));
        }
    }

    /// How many edges lead to what facts involve besides their subjects.
    #[cfg(test)]
    pub fn edges(&self) -> usize {
        self.edges.len()
    }
}
