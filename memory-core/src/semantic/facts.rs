//! All topics with their claims.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::claim::{Attribute, Claim, Conclusion, TopicKey};
use super::fact::{self, Fact};
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
    fn add(&mut self, claim: Claim, shown: &str) {
        let entry = (claim, Box::from(shown));
        let Err(place) = self.claims.binary_search(&entry) else { return };
        // Most topics have one claim; the four that a vector begins with would be most of what a fact takes.
        if self.claims.len() == self.claims.capacity() {
            self.claims.reserve_exact(1 + self.claims.len() / 2);
        }
        self.claims.insert(place, entry);
        if self.claims.len() > MAX_CLAIMS {
            self.claims.remove(0);
            self.truncated = true;
        }
    }

    /// Returns the subject as the latest claim shows it.
    pub fn shown(&self) -> &str {
        self.claims.last().map_or("", |(_, shown)| shown)
    }

    pub fn claims(&self) -> impl Iterator<Item = &Claim> {
        self.claims.iter().map(|(claim, _)| claim)
    }
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
    /// Topics were restored, and `by_event` does not know of them yet: only who changes something needs it, and opening a
    /// memory should not wait for it.
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
        Arc::make_mut(topic).add(conclusion.claim, &conclusion.subject.shown);
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
                !unsettled && !is_hidden(claim.event)
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

    /// Brings `by_event` up to what was restored. O(facts), once.
    pub fn refer_all(&mut self) {
        if !std::mem::take(&mut self.unreferred) {
            return;
        }
        for (key, topic) in self.topics.clone().iter() {
            let events: BTreeSet<EventId> =
                topic.claims().flat_map(|claim| [Some(claim.event), claim.context]).flatten().collect();
            for event in events {
                self.refer(event, key);
            }
        }
    }
}
