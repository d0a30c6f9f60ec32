//! The learned state as rows: a part, a key, and a payload for the store's envelope.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::EventId;

/// Parts of what is learnt. The numbers are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum LearntPart {
    /// The cursor and what goes with it: one row.
    Head = 0,
    /// Topics of facts.
    Topic = 1,
    /// Faces and voices that are held to be of one person.
    Anchor = 2,
    /// Which anchor a face or a voice was given to.
    Track = 3,
    /// Namings of persons.
    Naming = 4,
    /// Procedures, in rows of their own making.
    Procedure = 5,
    /// Hidden events of which procedures still hold something, by id; under [`REPLACING`] that rows of procedures are being
    /// replaced.
    Withdrawn = 6,
}

/// Key in [`LearntPart::Withdrawn`] that belongs to no event.
pub(crate) const REPLACING: EventId = EventId(0);

impl LearntPart {
    pub const ALL: [Self; 7] =
        [Self::Head, Self::Topic, Self::Anchor, Self::Track, Self::Naming, Self::Procedure, Self::Withdrawn];

    pub const fn number(self) -> u8 {
        self as u8
    }

    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.number() == number)
    }
}

/// A row to be written, or to be removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LearntRow {
    pub part: LearntPart,
    pub key: Vec<u8>,
    /// `None`: there is no such row any more.
    pub payload: Option<Vec<u8>>,
}

impl LearntRow {
    pub fn new<K: Serialize, V: Serialize>(part: LearntPart, key: &K, value: Option<&V>) -> Self {
        Self { part, key: encode(key), payload: value.map(encode) }
    }
}

pub(crate) fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    postcard::to_stdvec(value).expect("what is learnt serialises to memory")
}

/// Reads a value that must use up all the bytes.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Ok(value),
        Ok((_, rest)) => Err(format!("{} bytes are left over", rest.len())),
        Err(error) => Err(format!("it does not decode: {error}")),
    }
}
