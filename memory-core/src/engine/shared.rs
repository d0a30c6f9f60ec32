//! Vectors that several events have: of the same words, and of pictures of one place.
//!
//! ```text
//! vectors (space, event)       components of 16 bits: the event's own
//!                              u8 1, u64 number: it has the shared one of that number
//! vectors (space, 2^63 + n)    u8 kind, u32 how many events have it, then
//!                              kind 0, of the same words: components
//!                              kind 1, of a place: u64 the event that founded it, components, those of that event's picture
//!                              kind 2, of a place whose founder was forgotten: nothing
//! ```
//!
//! # Invariants
//!
//! 1. A shared vector has as many events as it says, and at least one. It goes with the last of them.
//! 2. It has nothing of a picture that was forgotten. What a place is founded on goes with its founder; if another of its
//!    pictures is forgotten, all that it learnt since it was founded goes.
//! 3. The components of an own vector are an even number of bytes, so the two kinds of row cannot be mistaken for each other.

use std::collections::HashMap;

use redb::ReadableTable;

use super::vectors::{components, seal_vector, vector_key};
use crate::EventId;
use crate::sharded::spread_bytes;
use crate::store::envelope;
use crate::store::failure::{Failure, Result, if_sound};
use crate::store::noted::Noted;
use crate::store::records::VECTOR;

/// The key of the first shared vector: no event has such a number.
pub(super) const FIRST: u64 = 1 << 63;
const REFERENCE: u8 = 1;
const OF_WORDS: u8 = 0;
const OF_A_PLACE: u8 = 1;
const FORGOTTEN: u8 = 2;

type SharedTable<'t> = Noted<'t, (u32, u64), &'static [u8]>;

/// A row of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stored {
    Own(Vec<i16>),
    /// The key of a shared vector.
    Shared(u64),
}

/// Reads the row of an event: a vector of its own, or the key of a shared one.
pub(super) fn stored(space: u32, event: u64, dimensions: u32, sealed: &[u8]) -> Result<Stored> {
    let damaged = |detail: String| Failure::damaged(VECTOR.table, format!("({space}, {event})"), detail);
    let payload = envelope::open_bytes(VECTOR, &vector_key(space, event), sealed).map_err(damaged)?;
    match payload {
        [REFERENCE, number @ ..] if number.len() == 8 => {
            let number: [u8; 8] = number.try_into().unwrap_or_default();
            Ok(Stored::Shared(FIRST | u64::from_le_bytes(number)))
        }
        _ if payload.len() == dimensions as usize * 2 => Ok(Stored::Own(components(payload))),
        _ => Err(damaged(format!("{} bytes for {dimensions} components", payload.len()))),
    }
}

/// A vector that several events have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SharedVector {
    /// How many events have it.
    pub count: u32,
    /// Empty if it was forgotten.
    pub vector: Vec<i16>,
    /// The first picture of a place; `None` for a vector of words.
    pub founding: Option<Founding>,
}

/// The first picture of a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Founding {
    pub event: u64,
    pub vector: Vec<i16>,
}

/// Why an event has a shared vector no longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Release {
    /// The event was forgotten.
    Forgotten,
    /// The event is now part of this event, which shows the same.
    PartOf(u64),
}

impl SharedVector {
    /// Opens a shared vector of a space with this number of dimensions.
    pub(super) fn open(space: u32, key: u64, dimensions: u32, sealed: &[u8]) -> Result<Self> {
        let shared = Self::of_any_space(space, key, sealed)?;
        if shared.vector.len() != dimensions as usize && !shared.vector.is_empty() {
            let detail = format!("a shared vector of {} components instead of {dimensions}", shared.vector.len());
            return Err(Failure::damaged(VECTOR.table, format!("({space}, {key})"), detail));
        }
        Ok(shared)
    }

    fn of_any_space(space: u32, key: u64, sealed: &[u8]) -> Result<Self> {
        let damaged = |detail: String| Failure::damaged(VECTOR.table, format!("({space}, {key})"), detail);
        let payload = envelope::open_bytes(VECTOR, &vector_key(space, key), sealed).map_err(damaged)?;
        let read = || -> Option<Self> {
            let (kind, rest) = payload.split_first()?;
            let (count, rest) = rest.split_first_chunk()?;
            let count = u32::from_le_bytes(*count);
            match *kind {
                OF_WORDS if rest.len().is_multiple_of(2) => {
                    Some(Self { count, vector: components(rest), founding: None })
                }
                OF_A_PLACE => {
                    let (event, rest) = rest.split_first_chunk()?;
                    let (vector, first) = rest.split_at(rest.len() / 2);
                    let whole = rest.len().is_multiple_of(4);
                    let founding = Founding { event: u64::from_le_bytes(*event), vector: components(first) };
                    whole.then(|| Self { count, vector: components(vector), founding: Some(founding) })
                }
                FORGOTTEN if rest.is_empty() => Some(Self { count, vector: Vec::new(), founding: None }),
                _ => None,
            }
        };
        read().ok_or_else(|| damaged(format!("{} bytes are no shared vector", payload.len())))
    }

    fn seal(&self, space: u32, key: u64) -> Vec<u8> {
        let kind = match &self.founding {
            Some(_) => OF_A_PLACE,
            None if self.vector.is_empty() => FORGOTTEN,
            None => OF_WORDS,
        };
        let mut payload = vec![kind];
        payload.extend(self.count.to_le_bytes());
        payload.extend(self.founding.iter().flat_map(|founding| founding.event.to_le_bytes()));
        let first = self.founding.iter().flat_map(|founding| &founding.vector);
        payload.extend(self.vector.iter().chain(first).flat_map(|component| component.to_le_bytes()));
        envelope::seal_bytes(VECTOR, &vector_key(space, key), &payload)
    }

    /// Lets an event go.
    fn let_go(&mut self, event: u64, why: Release) {
        self.count = self.count.saturating_sub(1);
        let Some(founding) = &mut self.founding else { return };
        match why {
            Release::PartOf(whole) if founding.event == event => founding.event = whole,
            Release::PartOf(_) => {}
            Release::Forgotten if founding.event == event => {
                self.vector.clear();
                self.founding = None;
            }
            Release::Forgotten => self.vector.clone_from(&founding.vector),
        }
    }
}

fn seal_reference(space: u32, event: u64, key: u64) -> Vec<u8> {
    let mut payload = vec![REFERENCE];
    payload.extend((key & !FIRST).to_le_bytes());
    envelope::seal_bytes(VECTOR, &vector_key(space, event), &payload)
}

/// The vector of an event, whether it is its own or shared; `None` where it was forgotten with the picture that it came from.
pub(super) fn open(
    table: &impl ReadableTable<(u32, u64), &'static [u8]>,
    space: u32,
    event: u64,
    dimensions: u32,
    sealed: &[u8],
) -> Result<Option<Vec<i16>>> {
    match stored(space, event, dimensions, sealed)? {
        Stored::Own(vector) => Ok(Some(vector)),
        Stored::Shared(key) => match find(table, space, key, dimensions)? {
            Some(shared) => Ok(Some(shared.vector).filter(|vector| !vector.is_empty())),
            None => Err(Failure::damaged(
                VECTOR.table,
                format!("({space}, {event})"),
                "the vector that it shares is missing",
            )),
        },
    }
}

/// The shared vector of a key, if it is there.
pub(super) fn find(
    table: &impl ReadableTable<(u32, u64), &'static [u8]>,
    space: u32,
    key: u64,
    dimensions: u32,
) -> Result<Option<SharedVector>> {
    table.get((space, key))?.map(|row| SharedVector::open(space, key, dimensions, row.value())).transpose()
}

/// The key of the next shared vector.
pub(super) fn next_key(table: &impl ReadableTable<(u32, u64), &'static [u8]>, space: u32) -> Result<u64> {
    let last = table.range((space, FIRST)..=(space, u64::MAX))?.next_back().transpose()?;
    Ok(last.map_or(FIRST, |(key, _)| key.value().1 + 1))
}

/// Gives an event a shared vector, which counts it, in the place of what it had.
pub(super) fn share(table: &mut SharedTable<'_>, space: u32, event: u64, key: u64, shared: SharedVector) -> Result<()> {
    let shared = SharedVector { count: shared.count.saturating_add(1), ..shared };
    table.insert((space, key), shared.seal(space, key).as_slice())?;
    table.insert((space, event), seal_reference(space, event, key).as_slice())?;
    Ok(())
}

/// Takes an event from those that have a shared vector; how many bytes went. A damaged one goes at once: nobody can have it.
pub(super) fn release(table: &mut SharedTable<'_>, space: u32, event: u64, key: u64, why: Release) -> Result<usize> {
    let Some(sealed) = table.get((space, key))?.map(|row| row.value().to_vec()) else { return Ok(0) };
    let mut left = 0;
    if let Some(mut shared) = if_sound(SharedVector::of_any_space(space, key, &sealed))? {
        shared.let_go(event, why);
        if shared.count > 0 {
            let sealed = shared.seal(space, key);
            left = sealed.len();
            table.insert((space, key), sealed.as_slice())?;
        }
    }
    if left == 0 {
        table.remove((space, key))?;
    }
    Ok(sealed.len() - left)
}

/// The key of the shared vector that a row leads to, whatever its space's dimensions are.
pub(super) fn leads_to(space: u32, event: u64, sealed: &[u8]) -> Option<u64> {
    match stored(space, event, 0, sealed) {
        Ok(Stored::Shared(key)) => Some(key),
        _ => None,
    }
}

/// Vectors of texts that were committed lately, by their hashes: what sees the same again says the same of it. It is no more than
/// a hint, and the table decides.
#[derive(Debug, Default)]
pub(super) struct Lately {
    space: u32,
    known: HashMap<u64, KnownVector>,
}

#[derive(Debug, Clone, Copy)]
enum KnownVector {
    Event(u64),
    Shared(u64),
}

/// Maximum number of known vectors.
const MAX_KNOWN: usize = 4096;
/// Maximum number of vectors already shared that are loaded at the start.
const MAX_PRELOADED: usize = 1024;

fn hash(vector: &[i16]) -> u64 {
    let bytes: Vec<u8> = vector.iter().flat_map(|component| component.to_le_bytes()).collect();
    spread_bytes(&bytes)
}

/// The latest shared vectors of a space. A damaged one is left out.
fn known_shared(
    table: &impl ReadableTable<(u32, u64), &'static [u8]>,
    space: u32,
    dimensions: u32,
) -> Result<HashMap<u64, KnownVector>> {
    let mut known = HashMap::new();
    for entry in table.range((space, FIRST)..=(space, u64::MAX))?.rev().take(MAX_PRELOADED) {
        let (key, value) = entry?;
        let key = key.value().1;
        if let Some(shared) = if_sound(SharedVector::open(space, key, dimensions, value.value()))? {
            known.insert(hash(&shared.vector), KnownVector::Shared(key));
        }
    }
    Ok(known)
}

impl Lately {
    /// Writes the vector of an event: as a shared one if another event has the same.
    pub(super) fn put(
        &mut self,
        table: &mut SharedTable<'_>,
        space: u32,
        event: EventId,
        vector: &[i16],
    ) -> Result<()> {
        let dimensions = u32::try_from(vector.len()).unwrap_or(u32::MAX);
        if self.space != space || self.known.len() >= MAX_KNOWN {
            (self.space, self.known) = (space, known_shared(&**table, space, dimensions)?);
        }
        let hash = hash(vector);
        // What it had is taken out of the count: one that was damaged is embedded again.
        let before = table.get((space, event.0))?.and_then(|row| leads_to(space, event.0, row.value()));
        if let Some(key) = before {
            release(table, space, event.0, key, Release::Forgotten)?;
        }
        let known = self
            .known
            .get(&hash)
            .copied()
            .filter(|known| !matches!(known, KnownVector::Event(first) if *first == event.0));
        let own = || SharedVector { count: 0, vector: vector.to_vec(), founding: None };
        let shared = match known {
            Some(KnownVector::Shared(key)) => find(&**table, space, key, dimensions)?
                .filter(|shared| shared.vector == vector)
                .map(|found| (key, found)),
            Some(KnownVector::Event(first)) => {
                let row = table.get((space, first))?.map(|row| row.value().to_vec());
                match row.map(|sealed| stored(space, first, dimensions, &sealed)).transpose()? {
                    Some(Stored::Own(known)) if known == vector => {
                        let key = next_key(&**table, space)?;
                        share(table, space, first, key, own())?;
                        Some((key, SharedVector { count: 1, ..own() }))
                    }
                    _ => None,
                }
            }
            None => None,
        };
        match shared {
            Some((key, shared)) => {
                self.known.insert(hash, KnownVector::Shared(key));
                share(table, space, event.0, key, shared)
            }
            None => {
                self.known.insert(hash, KnownVector::Event(event.0));
                table.insert((space, event.0), seal_vector(space, event.0, vector).as_slice())?;
                Ok(())
            }
        }
    }
}
