//! The generations of the store's file, and the manifest that names the current one.
//!
//! ```text
//! memory.redb       generation 0, of a store that was never compacted
//! memory-3.redb     generation 3
//! index-3.snapshot  its index as it was saved
//! manifest          names the present generation; missing while it is 0
//! manifest.new      a manifest that is not whole yet
//! ```
//!
//! The manifest, all numbers little-endian:
//!
//! ```text
//! offset  size  field
//!      0     8  magic "ENGRMANI"
//!      8     4  version, 1
//!     12     4  length of what follows up to the checksum, 8
//!     16     8  generation
//!     24     4  CRC-32 of bytes 0 to 23
//! ```
//!
//! A generation is named by the manifest only when it is whole and synced, and another one is removed only when the
//! manifest that does not name it is durable. So whatever a crash leaves, the generation to use is there, and every other
//! file may go.

use std::io::{self, Read};

use super::storage::{FILE_NAME, Storage, TEMPORARY, replace};
use crate::OpenError;

const MANIFEST: &str = "manifest";
const MAGIC: &[u8; 8] = b"ENGRMANI";
const VERSION: u32 = 1;
const LENGTH: usize = 28;

/// Number of a generation: every compaction and every restoring makes the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Generation(pub u64);

impl Generation {
    /// Name of the file in which the index of this generation is saved.
    pub(crate) fn index_file_name(self) -> String {
        format!("index-{}.snapshot", self.0)
    }

    /// The generation whose index a file of this name holds.
    pub(crate) fn of_index_file(name: &str) -> Option<Self> {
        let generation = Self(name.strip_prefix("index-")?.strip_suffix(".snapshot")?.parse().ok()?);
        // `index-03.snapshot` is not ours.
        (generation.index_file_name() == name).then_some(generation)
    }

    /// Name of its file.
    pub(crate) fn file_name(self) -> String {
        match self.0 {
            0 => FILE_NAME.to_owned(),
            number => format!("memory-{number}.redb"),
        }
    }

    fn of_file(name: &str) -> Option<Self> {
        if name == FILE_NAME {
            return Some(Self(0));
        }
        let number: u64 = name.strip_prefix("memory-")?.strip_suffix(".redb")?.parse().ok()?;
        // `memory-03.redb` is not ours.
        (number > 0 && Self(number).file_name() == name).then_some(Self(number))
    }

    pub(crate) fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// Whether a file of this name says that there is a store.
pub(crate) fn is_part_of_a_store(name: &str) -> bool {
    name == MANIFEST || Generation::of_file(name).is_some()
}

/// The generation to open, and whether it must be made.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Present {
    pub generation: Generation,
    /// There is no store yet.
    pub new: bool,
    /// The manifest is missing or damaged, and there is only one generation that it can have named.
    pub manifest_lost: bool,
}

/// Finds out which generation is the present one.
pub(crate) fn present(storage: &dyn Storage) -> Result<Present, OpenError> {
    let io_error = |source| OpenError::Io { path: storage.path(), source };
    let names = storage.names().map_err(io_error)?;
    let there: Vec<Generation> = names.iter().filter_map(|name| Generation::of_file(name)).collect();
    let found = |generation, manifest_lost| Present { generation, new: false, manifest_lost };
    let damaged = |detail: String| OpenError::Damaged { path: storage.path().join(MANIFEST), detail };

    let told = match read(storage) {
        Ok(told) => told,
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            return match there[..] {
                [only] => Ok(found(only, true)),
                _ => Err(damaged(format!("{error}, and {} generations of the store are there", there.len()))),
            };
        }
        Err(error) => return Err(io_error(error)),
    };
    match (told, &there[..]) {
        (Some(generation), _) if there.contains(&generation) => Ok(found(generation, false)),
        (Some(generation), _) => Err(damaged(format!("it names {}, which is not there", generation.file_name()))),
        // Without a manifest there was never a second generation that is whole.
        (None, _) if there.contains(&Generation(0)) => Ok(found(Generation(0), false)),
        (None, []) => Ok(Present { generation: Generation(0), new: true, manifest_lost: false }),
        (None, [only]) => Ok(found(*only, true)),
        (None, _) => Err(damaged(format!("it is missing, and {} generations of the store are there", there.len()))),
    }
}

/// Makes a generation the present one. Its file must be whole and synced. Which one a manifest names is certain again only
/// once [`Storage::sync`] has returned; before, another generation must not be removed, and this one not be written to.
pub(crate) fn make_current(storage: &dyn Storage, generation: Generation) -> io::Result<()> {
    replace(storage, MANIFEST, &encode(generation))
}

/// Removes every generation but the present one with the index that was saved of it, and what was never finished.
pub(crate) fn remove_others(storage: &dyn Storage, present: Generation) -> io::Result<()> {
    let mut removed = false;
    for name in storage.names()? {
        let of = Generation::of_file(&name).or_else(|| Generation::of_index_file(&name));
        let other = of.is_some_and(|generation| generation != present);
        if other || name.ends_with(TEMPORARY) {
            storage.remove(&name)?;
            removed = true;
        }
    }
    if removed { storage.sync() } else { Ok(()) }
}

fn encode(generation: Generation) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&8_u32.to_le_bytes());
    bytes.extend_from_slice(&generation.0.to_le_bytes());
    bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
    bytes
}

fn read(storage: &dyn Storage) -> io::Result<Option<Generation>> {
    let reader = match storage.reader(MANIFEST) {
        Ok(reader) => reader,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::with_capacity(LENGTH);
    reader.take(LENGTH as u64 + 1).read_to_end(&mut bytes)?;
    decode(&bytes).map(Some).map_err(|detail| io::Error::new(io::ErrorKind::InvalidData, detail))
}

/// The error says what is wrong.
pub(crate) fn decode(bytes: &[u8]) -> Result<Generation, String> {
    let Ok(bytes) = <&[u8; LENGTH]>::try_from(bytes) else {
        return Err(format!("it has not {LENGTH} bytes"));
    };
    let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    if &bytes[..8] != MAGIC {
        return Err("it is no manifest of engram".into());
    }
    if number(24) != crc32fast::hash(&bytes[..24]) {
        return Err("its checksum does not fit".into());
    }
    if (number(8), number(12)) != (VERSION, 8) {
        return Err(format!("it has version {}, and this engram reads {VERSION}", number(8)));
    }
    Ok(Generation(u64::from_le_bytes(bytes[16..24].try_into().expect("eight bytes"))))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::memory_storage::{Image, MemoryStorage};
    use super::*;

    fn with_files(files: &[(&str, &[u8])]) -> MemoryStorage {
        let files = files.iter().map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec())).collect();
        MemoryStorage::from_image(Image { files })
    }

    fn found(files: &[(&str, &[u8])]) -> Result<(u64, bool), String> {
        present(&with_files(files))
            .map(|present| (present.generation.0, present.manifest_lost))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn the_manifest_decides_and_without_one_it_is_the_first_generation() {
        let third = encode(Generation(3));
        assert_eq!(found(&[]), Ok((0, false)));
        assert_eq!(found(&[("memory.redb", b"")]), Ok((0, false)));
        assert_eq!(found(&[("memory.redb", b""), ("memory-1.redb", b"")]), Ok((0, false)), "1 was never finished");
        assert_eq!(
            found(&[("manifest", &third), ("memory-3.redb", b""), ("memory-2.redb", b""), ("memory-4.redb", b"")]),
            Ok((3, false))
        );
    }

    #[test]
    fn a_lost_manifest_is_no_matter_where_one_generation_is_there_and_is_told_where_several_are() {
        assert_eq!(found(&[("memory-3.redb", b"")]), Ok((3, true)));
        assert_eq!(found(&[("manifest", b"noise"), ("memory-3.redb", b"")]), Ok((3, true)));
        assert!(found(&[("memory-3.redb", b""), ("memory-4.redb", b"")]).unwrap_err().contains("missing"));
        let error = found(&[("manifest", b"noise"), ("memory-3.redb", b""), ("memory-4.redb", b"")]).unwrap_err();
        assert!(error.contains("2 generations"), "{error}");
        let error = found(&[("manifest", &encode(Generation(9))), ("memory-3.redb", b"")]).unwrap_err();
        assert!(error.contains("memory-9.redb, which is not there"), "{error}");
    }

    #[test]
    fn only_the_present_generation_and_what_is_not_ours_is_left() {
        let storage = with_files(&[
            ("memory.redb", b""),
            ("memory-1.redb", b""),
            ("memory-2.redb", b""),
            ("manifest.new", b""),
            ("memory-02.redb", b""),
            ("notes", b""),
        ]);
        remove_others(&storage, Generation(1)).unwrap();
        assert_eq!(storage.names().unwrap(), ["memory-02.redb", "memory-1.redb", "notes"]);
    }

    proptest! {
        #[test]
        fn arbitrary_manifests_are_refused_or_read_but_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            prop_assert!(decode(&bytes).is_err());
        }

        #[test]
        fn every_flipped_bit_of_a_manifest_is_found(number in any::<u64>(), at in 0..LENGTH, bit in 0..8_u8) {
            let mut bytes = encode(Generation(number));
            prop_assert_eq!(decode(&bytes), Ok(Generation(number)));
            bytes[at] ^= 1 << bit;
            prop_assert!(decode(&bytes).is_err());
        }
    }
}
