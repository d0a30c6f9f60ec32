//! Vectors that several events have: of the same words, and of pictures of one place.
//!
//! ```text
//! vectors (space, event)       components of 16 bits: the event's own
//!                              u8 1, u64 number: it has the shared one of that number
//! vectors (space, 2^63 + n)    u32 how many events have it, components; of a place those of its first picture again
//! ```
//!
//! # Invariants
//!
//! 1. A shared vector has as many events as it says, and at least one. It goes with the last of them.
//! 2. The components of an own vector are an even number of bytes, so the two kinds of row cannot be mistaken for each other.

use std::collections::HashMap;

use redb::ReadableTable;

use super::envelope;
use super::failure::{Failure, Result, if_sound};
use super::noted::Noted;
use super::records::VECTOR;
use super::vectors::{components, seal_vector, vector_key};
use crate::EventId;
use crate::learning::spread_bytes;

/// The key of the first shared vector: no event has such a number.
pub(super) const FIRST: u64 = 1 << 63;
const REFERENCE: u8 = 1;
const COUNT: usize = 4;

type Table<'t> = Noted<'t, (u32, u64), &'static [u8]>;

/// A row of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stored {
    Own(Vec<i16>),
    /// The key of a shared vector.
    Shared(u64),
}

/// What a row of an event says.
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
    pub vector: Vec<i16>,
    /// Of a vector that follows what it stands for: where it began.
    pub anchor: Option<Vec<i16>>,
}

impl SharedVector {
    pub(super) fn open(space: u32, key: u64, dimensions: u32, sealed: &[u8]) -> Result<Self> {
        let damaged = |detail: String| Failure::damaged(VECTOR.table, format!("({space}, {key})"), detail);
        let payload = envelope::open_bytes(VECTOR, &vector_key(space, key), sealed).map_err(damaged)?;
        let length = dimensions as usize * 2;
        match payload.split_first_chunk::<COUNT>() {
            Some((count, rest)) if rest.len() == length || rest.len() == 2 * length => Ok(Self {
                count: u32::from_le_bytes(*count),
                vector: components(&rest[..length]),
                anchor: (rest.len() > length).then(|| components(&rest[length..])),
            }),
            _ => Err(damaged(format!("{} bytes for a shared vector of {dimensions} components", payload.len()))),
        }
    }

    fn seal(&self, space: u32, key: u64) -> Vec<u8> {
        let mut payload = self.count.to_le_bytes().to_vec();
        let components = self.vector.iter().chain(self.anchor.iter().flatten());
        payload.extend(components.flat_map(|component| component.to_le_bytes()));
        envelope::seal_bytes(VECTOR, &vector_key(space, key), &payload)
    }
}

fn seal_reference(space: u32, event: u64, key: u64) -> Vec<u8> {
    let mut payload = vec![REFERENCE];
    payload.extend((key & !FIRST).to_le_bytes());
    envelope::seal_bytes(VECTOR, &vector_key(space, event), &payload)
}

/// The vector of an event, whether it is its own or shared.
pub(super) fn open(
    table: &impl ReadableTable<(u32, u64), &'static [u8]>,
    space: u32,
    event: u64,
    dimensions: u32,
    sealed: &[u8],
) -> Result<Vec<i16>> {
    match stored(space, event, dimensions, sealed)? {
        Stored::Own(vector) => Ok(vector),
        Stored::Shared(key) => match table.get((space, key))? {
            Some(row) => Ok(SharedVector::open(space, key, dimensions, row.value())?.vector),
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
pub(super) fn share(table: &mut Table<'_>, space: u32, event: u64, key: u64, shared: SharedVector) -> Result<()> {
    let shared = SharedVector { count: shared.count.saturating_add(1), ..shared };
    table.insert((space, key), shared.seal(space, key).as_slice())?;
    table.insert((space, event), seal_reference(space, event, key).as_slice())?;
    Ok(())
}

/// Takes one event from those that have a shared vector; how many bytes went. A damaged one goes at once: nobody can have it.
pub(super) fn release(table: &mut Table<'_>, space: u32, key: u64) -> Result<usize> {
    let Some(sealed) = table.get((space, key))?.map(|row| row.value().to_vec()) else { return Ok(0) };
    let payload = envelope::open_bytes(VECTOR, &vector_key(space, key), &sealed).unwrap_or_default();
    match payload.split_first_chunk::<COUNT>().map(|(count, rest)| (u32::from_le_bytes(*count), rest)) {
        Some((count, rest)) if count > 1 => {
            let changed = [&(count - 1).to_le_bytes(), rest].concat();
            let sealed = envelope::seal_bytes(VECTOR, &vector_key(space, key), &changed);
            table.insert((space, key), sealed.as_slice())?;
            Ok(0)
        }
        _ => {
            table.remove((space, key))?;
            Ok(sealed.len())
        }
    }
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
    known: HashMap<u64, Known>,
}

#[derive(Debug, Clone, Copy)]
enum Known {
    Event(u64),
    Shared(u64),
}

/// Most vectors that are known, and of them those that are shared already when it is filled.
const MOST_KNOWN: usize = 4096;
const MOST_SHARED: usize = 1024;

fn hash(vector: &[i16]) -> u64 {
    let bytes: Vec<u8> = vector.iter().flat_map(|component| component.to_le_bytes()).collect();
    spread_bytes(&bytes)
}

/// The latest shared vectors of a space. A damaged one is left out.
fn known_shared(
    table: &impl ReadableTable<(u32, u64), &'static [u8]>,
    space: u32,
    dimensions: u32,
) -> Result<HashMap<u64, Known>> {
    let mut known = HashMap::new();
    for entry in table.range((space, FIRST)..=(space, u64::MAX))?.rev().take(MOST_SHARED) {
        let (key, value) = entry?;
        let key = key.value().1;
        if let Some(shared) = if_sound(SharedVector::open(space, key, dimensions, value.value()))? {
            known.insert(hash(&shared.vector), Known::Shared(key));
        }
    }
    Ok(known)
}

impl Lately {
    /// Writes the vector of an event: as a shared one if another event has the same.
    pub(super) fn put(&mut self, table: &mut Table<'_>, space: u32, event: EventId, vector: &[i16]) -> Result<()> {
        let dimensions = u32::try_from(vector.len()).unwrap_or(u32::MAX);
        if self.space != space || self.known.len() >= MOST_KNOWN {
            (self.space, self.known) = (space, known_shared(&**table, space, dimensions)?);
        }
        let hash = hash(vector);
        // What it had is taken out of the count: one that was damaged is embedded again.
        let before = table.get((space, event.0))?.and_then(|row| leads_to(space, event.0, row.value()));
        if let Some(key) = before {
            release(table, space, key)?;
        }
        let known =
            self.known.get(&hash).copied().filter(|known| !matches!(known, Known::Event(first) if *first == event.0));
        let own = || SharedVector { count: 0, vector: vector.to_vec(), anchor: None };
        let shared = match known {
            Some(Known::Shared(key)) => find(&**table, space, key, dimensions)?
                .filter(|shared| shared.vector == vector)
                .map(|found| (key, found)),
            Some(Known::Event(first)) => {
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
                self.known.insert(hash, Known::Shared(key));
                share(table, space, event.0, key, shared)
            }
            None => {
                self.known.insert(hash, Known::Event(event.0));
                table.insert((space, event.0), seal_vector(space, event.0, vector).as_slice())?;
                Ok(())
            }
        }
    }
}
