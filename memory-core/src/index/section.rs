//! Sections: how parts of the index are written to a file and read back.
//!
//! ```text
//! offset  size  field
//!      0     4  tag, four ASCII letters
//!      4     8  length of the payload, little-endian
//!     12     …  payload
//!      …     4  CRC-32 (IEEE) of everything before it, little-endian
//! ```
//!
//! A reader says which tag it expects and how long the payload can be at most, allocates only as bytes arrive, and believes
//! nothing before the checksum. The reader of the payload still checks every number in it: a checksum finds damage, not
//! malice.

use std::io::{self, Read, Write};

const HEADER: usize = 12;

/// Why a part of the index could not be read back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SectionError {
    /// The source could not be read, or ended early.
    #[error("section {tag}: {source}")]
    Io {
        /// Which section.
        tag: &'static str,
        /// The error of the source.
        source: io::Error,
    },
    /// Another section than the one that must come here.
    #[error("section {expected} was expected, found {found:?}")]
    Tag {
        /// Which section must come here.
        expected: &'static str,
        /// The tag that was found.
        found: String,
    },
    /// A payload beyond what this section can hold.
    #[error("section {tag}: {length} bytes, but at most {most} are possible")]
    Length {
        /// Which section.
        tag: &'static str,
        /// The length it claims.
        length: u64,
        /// The longest possible.
        most: u64,
    },
    /// Bytes changed since they were written.
    #[error("section {tag}: checksum {found:08x} instead of {stored:08x}")]
    Checksum {
        /// Which section.
        tag: &'static str,
        /// The checksum in the file.
        stored: u32,
        /// The checksum of what is there.
        found: u32,
    },
    /// A format that this program does not know.
    #[error("section {tag}: format {found} is not known, only {known}")]
    Version {
        /// Which section.
        tag: &'static str,
        /// The format of the file.
        found: u16,
        /// The newest format that is known.
        known: u16,
    },
    /// The checksum fits, but the content contradicts itself.
    #[error("section {tag}: {reason}")]
    Content {
        /// Which section.
        tag: &'static str,
        /// What is wrong.
        reason: String,
    },
}

impl SectionError {
    /// The content of `tag` contradicts itself.
    pub fn content(tag: &'static str, reason: impl Into<String>) -> Self {
        Self::Content { tag, reason: reason.into() }
    }
}

/// Writes one section. `tag` has four ASCII letters.
pub fn write_section(out: &mut dyn Write, tag: &'static str, payload: &[u8]) -> io::Result<()> {
    let mut header = [0; HEADER];
    header[..4].copy_from_slice(tag.as_bytes());
    header[4..].copy_from_slice(&(payload.len() as u64).to_le_bytes());
    out.write_all(&header)?;
    out.write_all(payload)?;
    out.write_all(&checksum(&header, payload).to_le_bytes())
}

/// Reads the section `tag`, whose payload has at most `most` bytes.
pub fn read_section(input: &mut dyn Read, tag: &'static str, most: u64) -> Result<Vec<u8>, SectionError> {
    let io = |source| SectionError::Io { tag, source };
    let mut header = [0; HEADER];
    input.read_exact(&mut header).map_err(io)?;
    if header[..4] != *tag.as_bytes() {
        return Err(SectionError::Tag { expected: tag, found: String::from_utf8_lossy(&header[..4]).into_owned() });
    }
    let length = u64::from_le_bytes(header[4..].try_into().expect("eight bytes"));
    if length > most {
        return Err(SectionError::Length { tag, length, most });
    }
    let mut payload = Vec::new();
    if (&mut *input).take(length).read_to_end(&mut payload).map_err(io)? as u64 != length {
        return Err(io(io::ErrorKind::UnexpectedEof.into()));
    }
    let mut stored = [0; 4];
    input.read_exact(&mut stored).map_err(io)?;
    let (stored, found) = (u32::from_le_bytes(stored), checksum(&header, &payload));
    if stored != found {
        return Err(SectionError::Checksum { tag, stored, found });
    }
    Ok(payload)
}

/// Finds the begin of the first section `tag` at or after `from`, from section to section; only lengths are read.
pub(super) fn section_start(bytes: &[u8], from: usize, tag: &'static str) -> Option<usize> {
    let mut at = from;
    loop {
        let header = bytes.get(at..)?.first_chunk::<HEADER>()?;
        if header[..4] == *tag.as_bytes() {
            return Some(at);
        }
        let length = u64::from_le_bytes(header[4..].try_into().expect("eight bytes"));
        at = at.checked_add(HEADER + 4)?.checked_add(usize::try_from(length).ok()?)?;
    }
}

fn checksum(header: &[u8], payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(header);
    hasher.update(payload);
    hasher.finalize()
}

/// The numbers of a payload, read one after the other.
#[derive(Debug)]
pub struct Fields<'a> {
    tag: &'static str,
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    /// The payload of section `tag`.
    pub fn new(tag: &'static str, payload: &'a [u8]) -> Self {
        Self { tag, rest: payload }
    }

    /// The next `count` bytes.
    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8], SectionError> {
        let (bytes, rest) = self
            .rest
            .split_at_checked(count)
            .ok_or_else(|| SectionError::content(self.tag, format!("{count} more bytes were expected")))?;
        self.rest = rest;
        Ok(bytes)
    }

    /// The next number.
    pub fn u16(&mut self) -> Result<u16, SectionError> {
        Ok(u16::from_le_bytes(self.bytes(2)?.try_into().expect("two bytes")))
    }

    /// The next number.
    pub fn u32(&mut self) -> Result<u32, SectionError> {
        Ok(u32::from_le_bytes(self.bytes(4)?.try_into().expect("four bytes")))
    }

    /// The next number.
    pub fn u64(&mut self) -> Result<u64, SectionError> {
        Ok(u64::from_le_bytes(self.bytes(8)?.try_into().expect("eight bytes")))
    }

    /// The next number, of 64 bits in the file, as a length.
    pub fn length(&mut self) -> Result<usize, SectionError> {
        let length = self.u64()?;
        usize::try_from(length).map_err(|_| SectionError::content(self.tag, format!("length {length} is too great")))
    }

    /// Checks that nothing is left.
    pub fn finish(self) -> Result<(), SectionError> {
        if self.rest.is_empty() {
            return Ok(());
        }
        Err(SectionError::content(self.tag, format!("{} bytes are left over", self.rest.len())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written() -> Vec<u8> {
        let mut file = Vec::new();
        write_section(&mut file, "TEST", b"payload").unwrap();
        file
    }

    fn read(file: &[u8], most: u64) -> Result<Vec<u8>, SectionError> {
        read_section(&mut &*file, "TEST", most)
    }

    #[test]
    fn a_section_is_read_back() {
        assert_eq!(read(&written(), 7).unwrap(), b"payload");
        assert_eq!(written().len(), 12 + 7 + 4);
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_found() {
        let file = written();
        for bit in 0..file.len() * 8 {
            let mut damaged = file.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(read(&damaged, 100).is_err(), "bit {bit}");
        }
        for length in 0..file.len() {
            assert!(read(&file[..length], 100).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn another_tag_and_a_payload_beyond_the_maximum_are_refused() {
        assert!(matches!(read(&written(), 6), Err(SectionError::Length { length: 7, most: 6, .. })));
        let error = read_section(&mut &*written(), "REST", 100).unwrap_err();
        assert_eq!(error.to_string(), "section REST was expected, found \"TEST\"");
    }

    #[test]
    fn an_enormous_claimed_length_allocates_nothing() {
        let mut file = written();
        file[4..12].copy_from_slice(&(1_u64 << 60).to_le_bytes());
        assert!(matches!(read(&file, u64::MAX), Err(SectionError::Io { .. })));
    }

    #[test]
    fn fields_end_where_the_payload_ends() {
        let mut fields = Fields::new("TEST", &[1, 0, 2, 0, 0, 0, 9]);
        assert_eq!((fields.u16().unwrap(), fields.u32().unwrap()), (1, 2));
        assert!(fields.u64().is_err());
        assert!(fields.finish().is_err());
    }
}
