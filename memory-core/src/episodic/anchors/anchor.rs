//! One cluster of faces or of voices.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{AnchorId, EventId, Sensed};

impl AnchorId {
    pub(crate) fn founded_by(event: EventId, sensed: Sensed) -> Self {
        Self(track_number(event, sensed))
    }
}

/// The face or the voice of an event as one number.
pub(crate) fn track_number(event: EventId, sensed: Sensed) -> u64 {
    event.0 * 2 + u64::from(sensed == Sensed::Voice)
}

/// A cluster of tracks that are held to be of one person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Anchor {
    pub sensed: Sensed,
    /// Name of the embedding space, with the sense before it.
    pub space: Box<str>,
    /// The sum of its tracks' vectors: whole numbers, so that a track can be taken back without a trace.
    sum: Vec<i64>,
    /// How many tracks it has.
    pub count: u32,
    /// The time of its first and last track, microseconds.
    pub first: i64,
    pub last: i64,
    /// The name that a person gave it, and others that mean the same.
    pub named: Option<Box<str>>,
    pub aliases: Vec<Box<str>>,
    /// Names that events told for its tracks.
    pub votes: BTreeMap<Box<str>, Vec<EventId>>,
    /// An anchor of the same person: as people told, and as a voice is linked to a face.
    pub told_same: Option<AnchorId>,
    pub linked: Option<AnchorId>,
    /// Anchors that people told to be somebody else.
    pub told_apart: Vec<AnchorId>,
    /// How often an anchor of the same sense was there at the same moment, which one person cannot be.
    pub beside: BTreeMap<AnchorId, u32>,
    /// For a voice: how often which face was in view while it was heard.
    pub faces: BTreeMap<AnchorId, u32>,
}

/// Maximum number of anchors with which one anchor counts meetings; the rarest is evicted.
const MAX_MEETINGS: usize = 64;
/// Maximum number of events kept for each told name.
const MAX_VOTES: usize = 32;
/// Maximum number of names told for one anchor. An anchor is one row, whose length is limited.
const MAX_NAMES: usize = 64;

impl Anchor {
    pub fn new(sensed: Sensed, space: &str, dimensions: usize) -> Self {
        Self {
            sensed,
            space: space.into(),
            sum: vec![0; dimensions],
            count: 0,
            first: i64::MAX,
            last: i64::MIN,
            named: None,
            aliases: Vec::new(),
            votes: BTreeMap::new(),
            told_same: None,
            linked: None,
            told_apart: Vec::new(),
            beside: BTreeMap::new(),
            faces: BTreeMap::new(),
        }
    }

    pub fn add(&mut self, vector: &[i16], start: i64, end: i64) {
        self.sum.iter_mut().zip(vector).for_each(|(sum, component)| *sum += i64::from(*component));
        self.count += 1;
        self.first = self.first.min(start);
        self.last = self.last.max(end);
    }

    /// Takes a track back.
    pub fn take_back(&mut self, vector: &[i16]) {
        self.sum.iter_mut().zip(vector).for_each(|(sum, component)| *sum -= i64::from(*component));
        self.count = self.count.saturating_sub(1);
    }

    /// Takes in another anchor's tracks and what is known of them.
    pub fn absorb(&mut self, other: Self) {
        self.sum.iter_mut().zip(&other.sum).for_each(|(sum, component)| *sum += component);
        self.count += other.count;
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        match (&self.named, other.named) {
            (None, named) => self.named = named,
            (Some(own), Some(named)) if **own != *named => self.aliases.push(named),
            _ => {}
        }
        self.aliases.extend(other.aliases);
        self.aliases.truncate(MAX_NAMES);
        for (name, events) in other.votes {
            events.into_iter().for_each(|event| self.vote(&name, event));
        }
        self.told_same = self.told_same.or(other.told_same);
        self.told_apart.extend(other.told_apart);
        for (id, count) in other.beside {
            *self.beside.entry(id).or_default() += count;
        }
        for (id, count) in other.faces {
            *self.faces.entry(id).or_default() += count;
        }
    }

    /// The mean of its tracks, 1.0 as 32,767. It is shorter than 1 the more its tracks differ, so its product with a unit
    /// vector is the mean cosine between that vector and the tracks (average linkage).
    pub fn mean(&self) -> Vec<i16> {
        let count = i64::from(self.count.max(1));
        // Every component of a track fits 16 bits, so their mean does.
        self.sum.iter().map(|sum| i16::try_from(sum / count).unwrap_or(i16::MAX)).collect()
    }

    pub fn vote(&mut self, name: &str, event: EventId) {
        if self.votes.len() >= MAX_NAMES && !self.votes.contains_key(name) {
            return;
        }
        let events = self.votes.entry(name.into()).or_default();
        if events.len() < MAX_VOTES && !events.contains(&event) {
            events.push(event);
        }
    }

    pub fn meet(meetings: &mut BTreeMap<AnchorId, u32>, id: AnchorId) {
        *meetings.entry(id).or_default() += 1;
        if meetings.len() > MAX_MEETINGS {
            let rarest = meetings.iter().min_by_key(|(_, count)| **count).map(|(id, _)| *id);
            rarest.and_then(|id| meetings.remove(&id));
        }
    }
}

/// The product of two vectors as they are stored, 1.0 for equal unit vectors: whole numbers, equal on every processor.
pub(crate) fn product(a: &[i16], b: &[i16]) -> f32 {
    let sum: i64 = a.iter().zip(b).map(|(a, b)| i64::from(i32::from(*a) * i32::from(*b))).sum();
    #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)]
    let product = (sum as f64 / (f64::from(i16::MAX) * f64::from(i16::MAX))) as f32;
    product
}
