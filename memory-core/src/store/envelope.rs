//! The envelope around every stored value.
//!
//! ```text
//! offset  size  field
//!      0     1  magic 0xE6
//!      1     1  record type
//!      2     1  version of the payload
//!      3     4  length of the payload, little-endian
//!      7     4  CRC-32 of the key, bytes 0 to 6 and the payload, little-endian
//!     11     …  payload: postcard
//! ```
//!
//! The key is part of the checksum, so a value under the wrong key is found out as surely as a flipped bit.

use serde::Serialize;
use serde::de::DeserializeOwned;

const MAGIC: u8 = 0xE6;
const HEADER: usize = 11;

/// Maximum length of a payload, in bytes. Longer ones are neither written nor read.
pub(crate) const MAX_PAYLOAD: usize = 1 << 20;

/// A type of record: its table, its tag in the envelope and the version that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RecordType {
    pub table: &'static str,
    pub tag: u8,
    pub version: u8,
}

/// Puts a payload into an envelope.
pub(crate) fn seal_bytes(record: RecordType, key: &[u8], payload: &[u8]) -> Vec<u8> {
    debug_assert!(payload.len() <= MAX_PAYLOAD, "admission bounds every record");
    let mut sealed = Vec::with_capacity(HEADER + payload.len());
    sealed.extend_from_slice(&[MAGIC, record.tag, record.version]);
    let length = u32::try_from(payload.len()).expect("payloads are at most 1 MiB");
    sealed.extend_from_slice(&length.to_le_bytes());
    let checksum = checksum(key, &sealed, payload);
    sealed.extend_from_slice(&checksum.to_le_bytes());
    sealed.extend_from_slice(payload);
    sealed
}

/// Takes a payload out of its envelope; the error says what is wrong.
pub(crate) fn open_bytes<'a>(record: RecordType, key: &[u8], sealed: &'a [u8]) -> Result<&'a [u8], String> {
    let Some((header, payload)) = sealed.split_at_checked(HEADER) else {
        return Err(format!("{} bytes are too short for an envelope", sealed.len()));
    };
    if header[0] != MAGIC {
        return Err(format!("magic {:#04x} instead of {MAGIC:#04x}", header[0]));
    }
    if header[1] != record.tag {
        return Err(format!("record type {} instead of {}", header[1], record.tag));
    }
    let length = u32::from_le_bytes([header[3], header[4], header[5], header[6]]) as usize;
    if length != payload.len() || length > MAX_PAYLOAD {
        return Err(format!("length {length} instead of {}", payload.len()));
    }
    let stored = u32::from_le_bytes([header[7], header[8], header[9], header[10]]);
    let found = checksum(key, &header[..7], payload);
    if stored != found {
        return Err(format!("checksum {found:08x} instead of {stored:08x}"));
    }
    if header[2] != record.version {
        return Err(format!("version {} of the record is not known, only {}", header[2], record.version));
    }
    Ok(payload)
}

/// Encodes a value and puts it into an envelope.
pub(crate) fn seal<T: Serialize>(record: RecordType, key: &[u8], value: &T) -> Vec<u8> {
    let payload = postcard::to_stdvec(value).expect("records serialise to memory");
    seal_bytes(record, key, &payload)
}

/// Takes a value out of its envelope and decodes it; the error says what is wrong.
pub(crate) fn open<T: DeserializeOwned>(record: RecordType, key: &[u8], sealed: &[u8]) -> Result<T, String> {
    decode(open_bytes(record, key, sealed)?)
}

/// Decodes a payload that must be used up entirely.
pub(crate) fn decode<T: DeserializeOwned>(payload: &[u8]) -> Result<T, String> {
    match postcard::take_from_bytes(payload) {
        Ok((value, [])) => Ok(value),
        Ok((_, rest)) => Err(format!("{} bytes are left over", rest.len())),
        Err(error) => Err(format!("payload does not decode: {error}")),
    }
}

fn checksum(key: &[u8], header: &[u8], payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(key);
    hasher.update(header);
    hasher.update(payload);
    hasher.finalize()
}
