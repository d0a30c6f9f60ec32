//! What an event shows from picture to picture: the sequence of embeddings E_i of a segment (HippoMM 4.2.2), as signatures.
//!
//! ```text
//! sequences (space, event)   u16 bits of a signature; for each look: u64 stream time of its first picture in µs, the signature
//! ```
//!
//! Pictures that follow each other and are alike are one *look*, which has the signature of the first of them. An event that shows
//! one look has no row, because its vector says it all. So a still scene costs nothing, and an event from before there were rows
//! is like one with a single look.

use redb::{ReadTransaction, ReadableTable};

use super::draft::Draft;
use super::vectors::vector_key;
use crate::index::signature::{Planes, SignatureOptions, WORD_BITS, radius};
use crate::store::envelope::{self, RecordType};
use crate::store::failure::{Failure, Result, if_sound};
use crate::store::tables::{self, SEQUENCES};

pub(super) const SEQUENCE: RecordType = RecordType { table: "sequences", tag: 15, version: 1 };

/// Least cosine of two pictures that are one look. What is nearer, two signatures of 512 bits hardly tell apart from noise.
const SAME_LOOK: f32 = 0.9;
/// Maximum number of looks of an event. Of more, those are dropped that are most like the look before them.
const MAX_LOOKS: usize = 64;

/// A run of pictures that are alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Look {
    /// Stream time of its first picture, microseconds.
    pub from: u64,
    pub signature: Box<[u64]>,
}

/// The looks of an event in order of time; none or one where its vector says it all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sequence {
    looks: Vec<Look>,
}

/// The planes of the signatures of a space.
pub(super) fn planes(dimensions: usize) -> Planes {
    Planes::new(SignatureOptions::default(), dimensions)
}

impl Sequence {
    /// Appends a picture, whose look may be the one before it.
    pub(super) fn push(&mut self, look: Look) {
        let bits = look.signature.len() * WORD_BITS;
        match self.looks.last() {
            Some(last) if distance(last, &look) <= radius(SAME_LOOK, 0.0, bits) => {}
            _ => self.looks.push(look),
        }
        while self.looks.len() > MAX_LOOKS {
            let step = |at: &usize| distance(&self.looks[at - 1], &self.looks[*at]);
            let least = (1..self.looks.len()).min_by_key(step).unwrap_or(1);
            self.looks.remove(least);
        }
    }

    pub(super) fn looks(&self) -> &[Look] {
        &self.looks
    }

    fn seal(&self, space: u32, event: u64) -> Vec<u8> {
        let words = self.looks.first().map_or(0, |look| look.signature.len());
        let bits = u16::try_from(words * WORD_BITS).expect("at most 1,024 bits");
        let mut payload = bits.to_le_bytes().to_vec();
        for look in &self.looks {
            payload.extend(look.from.to_le_bytes());
            payload.extend(look.signature.iter().flat_map(|word| word.to_le_bytes()));
        }
        envelope::seal_bytes(SEQUENCE, &vector_key(space, event), &payload)
    }

    pub(super) fn open(space: u32, event: u64, sealed: &[u8]) -> Result<Self> {
        let damaged = |detail: String| Failure::damaged(SEQUENCE.table, format!("({space}, {event})"), detail);
        let payload = envelope::open_bytes(SEQUENCE, &vector_key(space, event), sealed).map_err(damaged)?;
        let read = || -> Option<Vec<Look>> {
            let (bits, rows) = payload.split_first_chunk()?;
            let bits = usize::from(u16::from_le_bytes(*bits));
            let length = 8 + bits / 8;
            let sound = bits == SignatureOptions::default().bits() && rows.len().is_multiple_of(length);
            let number = |bytes: &[u8]| bytes.try_into().map(u64::from_le_bytes).ok();
            let look = |row: &[u8]| {
                let signature = row[8..].chunks_exact(8).map(number).collect::<Option<_>>()?;
                Some(Look { from: number(&row[..8])?, signature })
            };
            sound.then(|| rows.chunks_exact(length).map(look).collect()).flatten()
        };
        let looks = read().ok_or_else(|| damaged(format!("{} bytes are no sequence", payload.len())))?;
        Ok(Self { looks })
    }
}

fn distance(one: &Look, other: &Look) -> usize {
    one.signature.iter().zip(&other.signature).map(|(a, b)| (a ^ b).count_ones() as usize).sum()
}

impl Draft<'_> {
    /// Keeps the looks of a visible event, if its vector does not say it all.
    pub(super) fn put_sequence(&mut self, space: u32, event: u64, sequence: &Sequence) -> Result<()> {
        if sequence.looks.len() > 1 {
            self.tables.sequences.insert((space, event), sequence.seal(space, event).as_slice())?;
        }
        Ok(())
    }

    /// The looks of an event. A damaged row counts as none.
    pub(super) fn sequence(&self, space: u32, event: u64) -> Result<Sequence> {
        Ok(if_sound(row(&*self.tables.sequences, space, event))?.flatten().unwrap_or_default())
    }
}

/// The looks of an event; `None` where its vector says it all.
pub(super) fn row(
    table: &impl ReadableTable<(u32, u64), &'static [u8]>,
    space: u32,
    event: u64,
) -> Result<Option<Sequence>> {
    table.get((space, event))?.map(|row| Sequence::open(space, event, row.value())).transpose()
}

/// Checks that every row decodes and belongs to a visible event; how many rows there are.
pub(super) fn check(
    transaction: &ReadTransaction,
    is_visible: &dyn Fn(u64) -> bool,
    problem: &mut dyn FnMut(String),
) -> Result<u64> {
    let Some(table) = tables::optional(transaction, SEQUENCES)? else { return Ok(0) };
    let mut records = 0;
    for entry in table.iter()? {
        let (key, value) = entry?;
        let (space, event) = key.value();
        records += 1;
        if let Err(failure) = Sequence::open(space, event, value.value()) {
            problem(tables::describe(failure));
        }
        if !is_visible(event) {
            problem(format!("record ({space}, {event}) of sequences: the event is not visible"));
        }
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(from: u64, degrees: f32) -> Look {
        let turned = [degrees.to_radians().cos(), degrees.to_radians().sin(), 0.3];
        let vector = crate::index::signature::quantise(&turned).unwrap();
        Look { from, signature: planes(3).signature(&vector).unwrap() }
    }

    fn sequence(degrees: impl IntoIterator<Item = f32>) -> Sequence {
        let mut sequence = Sequence::default();
        (0..).zip(degrees).for_each(|(from, degrees)| sequence.push(look(from, degrees)));
        sequence
    }

    #[test]
    fn pictures_that_are_alike_are_one_look_from_the_first_of_them() {
        let begins = |sequence: &Sequence| sequence.looks().iter().map(|look| look.from).collect::<Vec<_>>();
        assert_eq!(begins(&sequence([0.0, 3.0, 5.0, 90.0, 92.0, 0.0])), [0, 3, 5]);
        assert_eq!(begins(&sequence([0.0; 40])), [0]);
    }

    #[test]
    fn a_sequence_is_read_as_it_was_written_and_bounded() {
        let long = sequence((0..500_u16).map(|at| f32::from(at % 2) * 90.0 + f32::from(at) / 4.0));
        assert_eq!(long.looks().len(), MAX_LOOKS);
        assert_eq!(Sequence::open(3, 7, &long.seal(3, 7)).unwrap(), long);
        assert!(Sequence::open(3, 8, &long.seal(3, 7)).is_err(), "another event's");
        assert!(Sequence::open(3, 7, &long.seal(3, 7)[..90]).is_err());
    }
}
