//! The frame around backups: files that are written once, from their begin to their end, and read
//! back only if all of it is there.
//!
//! ```text
//! size  field
//!    8  magic: which kind of file
//!    4  version
//!    4  length of the header, at most 64 KiB
//!    …  header
//!    4  CRC-32 of everything before
//!       frames, each:
//!    4    length, 1 to 256 KiB
//!    4    CRC-32 of the number of the frame (u64) and its bytes
//!    …    bytes
//!       end:
//!    4    0
//!    8    number of frames
//!    8    bytes in all frames
//!    4    CRC-32 of the two
//! ```
//!
//! Numbers are little-endian. A frame is given out only after its checksum was found right, so a reader decodes nothing
//! that was damaged on the way; a file that was cut off has no end.

use std::io::{self, Read, Write};

/// Maximum length of a header, in bytes.
const MAX_HEADER_BYTES: usize = 64 << 10;
/// Maximum length of a frame, in bytes.
const MAX_FRAME_BYTES: usize = 256 << 10;

/// A kind of file, with the version that is written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FileKind {
    pub magic: &'static [u8; 8],
    pub version: u32,
    /// Name in messages.
    pub name: &'static str,
}

/// Writes the frames.
pub(crate) struct ContainerWriter<'w> {
    out: &'w mut dyn Write,
    frame: Vec<u8>,
    frames: u64,
    bytes: u64,
}

impl<'w> ContainerWriter<'w> {
    pub(crate) fn begin(kind: FileKind, header: &[u8], out: &'w mut dyn Write) -> io::Result<Self> {
        assert!(header.len() <= MAX_HEADER_BYTES, "headers are short");
        let mut begin = kind.magic.to_vec();
        begin.extend_from_slice(&kind.version.to_le_bytes());
        begin.extend_from_slice(&u32::try_from(header.len()).expect("at most 64 KiB").to_le_bytes());
        begin.extend_from_slice(header);
        begin.extend_from_slice(&crc32fast::hash(&begin).to_le_bytes());
        out.write_all(&begin)?;
        Ok(Self { out, frame: Vec::with_capacity(MAX_FRAME_BYTES), frames: 0, bytes: 0 })
    }

    /// Writes the end. Without it the file counts as cut off.
    pub(crate) fn finish(mut self) -> io::Result<u64> {
        self.write_frame()?;
        let mut end = 0_u32.to_le_bytes().to_vec();
        end.extend_from_slice(&self.frames.to_le_bytes());
        end.extend_from_slice(&self.bytes.to_le_bytes());
        end.extend_from_slice(&crc32fast::hash(&end[4..]).to_le_bytes());
        self.out.write_all(&end)?;
        self.out.flush()?;
        Ok(self.bytes)
    }

    fn write_frame(&mut self) -> io::Result<()> {
        if self.frame.is_empty() {
            return Ok(());
        }
        let length = u32::try_from(self.frame.len()).expect("at most 256 KiB");
        self.out.write_all(&length.to_le_bytes())?;
        self.out.write_all(&checksum(self.frames, &self.frame).to_le_bytes())?;
        self.out.write_all(&self.frame)?;
        self.frames += 1;
        self.bytes += u64::from(length);
        self.frame.clear();
        Ok(())
    }
}

impl Write for ContainerWriter<'_> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let taken = data.len().min(MAX_FRAME_BYTES - self.frame.len());
        self.frame.extend_from_slice(&data[..taken]);
        if self.frame.len() == MAX_FRAME_BYTES {
            self.write_frame()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads the frames. What is wrong is told as [`io::ErrorKind::InvalidData`].
pub(crate) struct ContainerReader<'r> {
    kind: FileKind,
    input: &'r mut dyn Read,
    frame: Vec<u8>,
    at: usize,
    frames: u64,
    bytes: u64,
    ended: bool,
}

impl<'r> ContainerReader<'r> {
    /// Reads the header.
    pub(crate) fn begin(kind: FileKind, input: &'r mut dyn Read) -> io::Result<(Vec<u8>, Self)> {
        let mut reader = Self { kind, input, frame: Vec::new(), at: 0, frames: 0, bytes: 0, ended: false };
        let mut begin = vec![0; 16];
        let foreign = || invalid(format!("this is no {} of engram", kind.name));
        match reader.input.read_exact(&mut begin) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Err(foreign()),
            other => other?,
        }
        if begin[..8] != kind.magic[..] {
            return Err(foreign());
        }
        let number = |at: usize| u32::from_le_bytes(begin[at..at + 4].try_into().expect("four bytes"));
        let (version, length) = (number(8), number(12) as usize);
        if length > MAX_HEADER_BYTES {
            return Err(reader.damaged("its header is too long"));
        }
        begin.resize(16 + length, 0);
        reader.fill(&mut begin[16..])?;
        let stored = reader.number()?;
        if stored != crc32fast::hash(&begin) {
            return Err(reader.damaged("the checksum of its header does not fit"));
        }
        if version != kind.version {
            let message = format!("the {} has version {version}, and this engram reads {}", kind.name, kind.version);
            return Err(invalid(message));
        }
        Ok((begin.split_off(16), reader))
    }

    /// Reads the end, which must be there and come next, and says how many bytes there were.
    pub(crate) fn finish(mut self) -> io::Result<u64> {
        if self.at == self.frame.len() && !self.ended {
            self.next_frame()?;
        }
        if self.ended { Ok(self.bytes) } else { Err(self.damaged("it goes on after its end")) }
    }

    fn next_frame(&mut self) -> io::Result<()> {
        let length = self.number()? as usize;
        if length == 0 {
            let mut end = [0; 16];
            self.fill(&mut end)?;
            let counted = [self.frames.to_le_bytes(), self.bytes.to_le_bytes()].concat();
            if self.number()? != crc32fast::hash(&end) || end[..] != counted[..] {
                return Err(self.damaged("its end does not fit"));
            }
            self.ended = true;
            return Ok(());
        }
        if length > MAX_FRAME_BYTES {
            return Err(self.damaged("a frame is too long"));
        }
        let stored = self.number()?;
        let mut frame = std::mem::take(&mut self.frame);
        frame.resize(length, 0);
        self.fill(&mut frame)?;
        if checksum(self.frames, &frame) != stored {
            return Err(self.damaged(&format!("the checksum of frame {} does not fit", self.frames)));
        }
        (self.frame, self.at) = (frame, 0);
        self.frames += 1;
        self.bytes += length as u64;
        Ok(())
    }

    fn number(&mut self) -> io::Result<u32> {
        let mut bytes = [0; 4];
        self.fill(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn fill(&mut self, into: &mut [u8]) -> io::Result<()> {
        match self.input.read_exact(into) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(self.damaged("it was cut off")),
            other => other,
        }
    }

    fn damaged(&self, what: &str) -> io::Error {
        invalid(format!("the {} is damaged: {what}", self.kind.name))
    }
}

impl Read for ContainerReader<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.at == self.frame.len() {
            if self.ended {
                return Ok(0);
            }
            self.frame.clear();
            self.at = 0;
            self.next_frame()?;
        }
        let taken = out.len().min(self.frame.len() - self.at);
        out[..taken].copy_from_slice(&self.frame[self.at..self.at + taken]);
        self.at += taken;
        Ok(taken)
    }
}

fn checksum(number: u64, bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&number.to_le_bytes());
    hasher.update(bytes);
    hasher.finalize()
}

pub(crate) fn invalid(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KIND: FileKind = FileKind { magic: b"ENGRTEST", version: 3, name: "test file" };

    fn write(header: &[u8], bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut writer = ContainerWriter::begin(KIND, header, &mut out).unwrap();
        writer.write_all(bytes).unwrap();
        writer.finish().unwrap();
        out
    }

    fn read(file: &[u8]) -> io::Result<(Vec<u8>, Vec<u8>)> {
        let mut input = file;
        let (header, mut reader) = ContainerReader::begin(KIND, &mut input)?;
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes)?;
        reader.finish()?;
        Ok((header, bytes))
    }

    #[test]
    fn long_and_empty_contents_come_back() {
        for length in [0, 1, MAX_FRAME_BYTES - 1, MAX_FRAME_BYTES, MAX_FRAME_BYTES + 1, 3 * MAX_FRAME_BYTES] {
            let bytes: Vec<u8> = (0..length).map(|at| (at % 251).to_le_bytes()[0]).collect();
            assert_eq!(read(&write(b"head", &bytes)).unwrap(), (b"head".to_vec(), bytes), "{length} bytes");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let whole = write(b"head", b"content");
        let says = |file: &[u8]| read(file).unwrap_err().to_string();
        assert_eq!(says(b"a shopping list that is long enough"), "this is no test file of engram");
        assert_eq!(says(b""), "this is no test file of engram");
        assert!(says(&whole[..whole.len() - 1]).contains("cut off"));
        let mut newer = whole.clone();
        newer[8] = 9;
        let checksum = crc32fast::hash(&newer[..20]);
        newer[20..24].copy_from_slice(&checksum.to_le_bytes());
        assert!(says(&newer).contains("version 9"), "{}", says(&newer));
    }

    proptest! {
        #[test]
        fn every_cut_and_every_flipped_bit_is_found(
            bytes in prop::collection::vec(any::<u8>(), 0..300),
            at in any::<prop::sample::Index>(),
            bit in 0..8_u8,
        ) {
            let whole = write(b"h", &bytes);
            let at = at.index(whole.len());
            prop_assert!(read(&whole[..at]).is_err());
            let mut flipped = whole;
            flipped[at] ^= 1 << bit;
            prop_assert!(read(&flipped).is_err());
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            prop_assert!(read(&bytes).is_err());
            let mut begun = write(b"h", b"");
            begun.truncate(begun.len() - 24);
            begun.extend_from_slice(&bytes);
            drop(read(&begun));
        }
    }
}
