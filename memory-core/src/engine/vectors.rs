//! Embeddings, which are computed in the background.
//!
//! An event is pending until its vector is committed. There is no other record of pending work, so a kill cannot make one
//! inconsistent.
//!
//! Events whose vectors are the same, or stand for the same place, share one: see [`shared`](super::shared).

use std::sync::Arc;

use redb::{ReadTransaction, ReadableTable};

use super::changes;
use super::shared;
use super::writer::Writer;
use crate::ports::TextEmbedder;
use crate::store::envelope;
use crate::store::failure::{Failure, Result};
use crate::store::records::{Change, SPACE, Space, VECTOR};
use crate::store::tables::{self, SPACES, VECTORS, WriteTables};
use crate::{EventId, Sensed};

/// Number of vectors that are passed to the index at once while they are loaded.
const LOAD_CHUNK: usize = 1024;

/// φ, and what the tables call its space.
pub(crate) struct SpaceInUse {
    pub space: Space,
    /// Absent until the first vector of the space is written.
    pub number: Option<u32>,
    pub embedder: Arc<dyn TextEmbedder>,
}

impl SpaceInUse {
    pub(crate) fn new(embedder: Arc<dyn TextEmbedder>) -> Self {
        let dimensions = u32::try_from(embedder.dimensions()).unwrap_or(u32::MAX);
        let space = Space { name: embedder.space().to_owned(), dimensions };
        Self { space, number: None, embedder }
    }
}

/// The space whose signatures an index has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IndexedSpace {
    pub space: Space,
    /// What the tables call it, once it has vectors. A space that was dropped and comes again has another one, or the row that
    /// told of it in `changes`.
    pub number: Option<u32>,
}

impl Writer {
    /// Takes a space into use: its vectors are loaded, and what has none becomes pending. Of an index that has
    /// signatures of it already, only those that it lacks.
    pub(crate) fn use_space(&mut self, mut space: SpaceInUse, transaction: &ReadTransaction) -> Result<()> {
        space.number = find_space(&transaction.open_table(SPACES)?, &space.space)?;
        let indexed = IndexedSpace { space: space.space.clone(), number: space.number };
        // An index that is built meanwhile to take this one's place must hear of everything.
        let known = self.indexed_space.as_ref() == Some(&indexed) && !self.index.is_recording();
        self.pending = self.live.clone();
        let number = space.number;
        let dimensions = space.space.dimensions;
        self.space = Some(space);
        if known {
            self.index.snapshot().for_each_visible(&mut |event, embedded| {
                if embedded {
                    self.pending.remove(event.0);
                }
            });
        } else {
            self.index.use_space(usize::try_from(dimensions).unwrap_or(usize::MAX));
            self.indexed_space = Some(indexed);
        }
        let Some(number) = number else { return Ok(()) };

        let table = transaction.open_table(VECTORS)?;
        if known && self.pending.len().saturating_mul(4) < self.live.len() {
            return self.load_pending(number, dimensions, &table);
        }
        let mut loaded = Vec::with_capacity(LOAD_CHUNK);
        for entry in table.range((number, 0)..(number, shared::FIRST))? {
            let (key, value) = entry?;
            let (_, event) = key.value();
            // Neither hidden nor known already.
            if !self.pending.contains(event) {
                continue;
            }
            let Some(vector) = sound_vector(&table, number, event, dimensions, value.value()) else { continue };
            self.load(event, vector, &mut loaded);
        }
        self.index.embed(&loaded);
        Ok(())
    }

    /// Looks the vectors of pending events up one by one: they are few.
    fn load_pending(
        &mut self,
        number: u32,
        dimensions: u32,
        table: &impl ReadableTable<(u32, u64), &'static [u8]>,
    ) -> Result<()> {
        let mut loaded = Vec::with_capacity(LOAD_CHUNK);
        for event in self.pending.newest(usize::MAX) {
            let Some(value) = table.get((number, event))? else { continue };
            let Some(vector) = sound_vector(table, number, event, dimensions, value.value()) else { continue };
            self.load(event, vector, &mut loaded);
        }
        self.index.embed(&loaded);
        Ok(())
    }

    /// A vector on its way into the index, which takes them by the chunk.
    fn load(&mut self, event: u64, vector: Vec<i16>, chunk: &mut Vec<(EventId, Vec<i16>)>) {
        chunk.push((EventId(event), vector));
        self.pending.remove(event);
        if chunk.len() == LOAD_CHUNK {
            self.index.embed(chunk);
            chunk.clear();
        }
    }

    /// Takes φ away. Its vectors stay in the store.
    pub(crate) fn leave_space(&mut self) {
        self.space = None;
        self.pending = self.live.clone();
    }
}

/// A vector; one that is damaged is told, stays pending and is embedded again, which repairs it.
fn sound_vector(
    table: &impl ReadableTable<(u32, u64), &'static [u8]>,
    space: u32,
    event: u64,
    dimensions: u32,
    sealed: &[u8],
) -> Option<Vec<i16>> {
    match shared::open(table, space, event, dimensions, sealed) {
        Ok(vector) => vector,
        Err(failure) => {
            tracing::warn!(problem = tables::describe(failure), "a stored embedding is damaged; it is made again");
            None
        }
    }
}

/// The number of a space.
fn find_space(table: &impl ReadableTable<u32, &'static [u8]>, wanted: &Space) -> Result<Option<u32>> {
    for entry in table.iter()? {
        let (key, value) = entry?;
        if open_space(key.value(), value.value())? == *wanted {
            return Ok(Some(key.value()));
        }
    }
    Ok(None)
}

/// The number and the dimensions of a space of the senses; `None` if nothing was ever perceived in it.
pub(crate) fn find_sensed(
    table: &impl ReadableTable<u32, &'static [u8]>,
    sensed: Sensed,
    name: &str,
) -> Result<Option<(u32, u32)>> {
    let wanted = sensed_space(sensed, name);
    for entry in table.iter()? {
        let (key, value) = entry?;
        let space = open_space(key.value(), value.value())?;
        if space.name == wanted {
            return Ok(Some((key.value(), space.dimensions)));
        }
    }
    Ok(None)
}

/// The number of a space, which it is given with its first vector.
pub(crate) fn number_of(tables: &mut WriteTables<'_>, space: &Space) -> Result<u32> {
    if let Some(number) = find_space(&*tables.spaces, space)? {
        return Ok(number);
    }
    let number = tables.spaces.last()?.map_or(1, |(key, _)| key.value() + 1);
    tables.spaces.insert(number, envelope::seal(SPACE, &number.to_le_bytes(), space).as_slice())?;
    Ok(number)
}

/// Drops the vectors of every space of texts but `keep`: φ can make them again. Those of the senses stay.
pub(crate) fn drop_others(tables: &mut WriteTables<'_>, keep: u32) -> Result<()> {
    let mut others = Vec::new();
    for entry in tables.spaces.iter()? {
        let (key, value) = entry?;
        let number = key.value();
        if number != keep && sensed_of(&open_space(number, value.value())?).is_none() {
            others.push(number);
        }
    }
    if others.is_empty() {
        return Ok(());
    }
    for &other in &others {
        tables.vectors.remove_range((other, 0)..=(other, u64::MAX))?;
        tables.spaces.remove(other)?;
    }
    changes::push(&mut tables.changes, &Change::Dropped { spaces: others })?;
    Ok(())
}

/// Returns the name of a space of the senses in the tables: `face:NAME`.
pub(crate) fn sensed_space(sensed: Sensed, name: &str) -> String {
    format!("{}:{name}", sensed.name())
}

/// Returns what the vectors of a space describe; `None` for texts.
pub(crate) fn sensed_of(space: &Space) -> Option<Sensed> {
    let (sense, _) = space.name.split_once(':')?;
    Sensed::ALL.into_iter().find(|sensed| sensed.name() == sense)
}

pub(crate) fn open_space(number: u32, sealed: &[u8]) -> Result<Space> {
    envelope::open(SPACE, &number.to_le_bytes(), sealed).map_err(|detail| Failure::damaged(SPACE.table, number, detail))
}

/// A unit vector as 16-bit integers: 1.0 is 32,767.
pub(crate) fn quantize(vector: &[f32]) -> Vec<i16> {
    // Rounded before it is cut down to 16 bits, and clamped, so nothing is lost to wrapping.
    #[allow(clippy::cast_possible_truncation)]
    vector.iter().map(|component| (component.clamp(-1.0, 1.0) * f32::from(i16::MAX)).round() as i16).collect()
}

pub(crate) fn seal_vector(space: u32, event: u64, vector: &[i16]) -> Vec<u8> {
    let payload: Vec<u8> = vector.iter().flat_map(|component| component.to_le_bytes()).collect();
    envelope::seal_bytes(VECTOR, &vector_key(space, event), &payload)
}

/// The components of a vector.
pub(super) fn components(payload: &[u8]) -> Vec<i16> {
    payload.chunks_exact(2).map(|bytes| i16::from_le_bytes([bytes[0], bytes[1]])).collect()
}

pub(super) fn vector_key(space: u32, event: u64) -> [u8; 12] {
    let mut key = [0; 12];
    key[..4].copy_from_slice(&space.to_le_bytes());
    key[4..].copy_from_slice(&event.to_le_bytes());
    key
}
