//! Opens an ONNX Runtime library far enough to know that it is one, for this processor, and new enough.
//!
//! `ort` panics on anything else, so it is not called before this check has passed. Checks that need no foreign code come
//! first: a file that is not a library, or one for another processor, is never passed to the loader.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::encoders::ffi::onnxruntime;

/// The C API that the build asks for: the `api-17` feature of `ort`.
const API_VERSION: u32 = 17;

/// Why a library cannot serve as ONNX Runtime.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LibraryError {
    /// There is no such file, or it cannot be read.
    #[error("{path}: {source}")]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is something else.
    #[error("{path} is not a shared library for Linux")]
    NotALibrary {
        /// Which file.
        path: PathBuf,
    },
    /// The file ends before the library does.
    #[error("{path} is cut short: {bytes} bytes of at least {needed}")]
    CutShort {
        /// Which file.
        path: PathBuf,
        /// How long it is.
        bytes: u64,
        /// How long its own header says it is.
        needed: u64,
    },
    /// The library is for another processor.
    #[error("{path} is built for {found}, this machine is {expected}")]
    WrongArchitecture {
        /// Which file.
        path: PathBuf,
        /// Processor that it is built for.
        found: String,
        /// Processor that it should be built for.
        expected: &'static str,
    },
    /// The system's loader refuses it.
    #[error("{path} cannot be loaded: {message}")]
    Refused {
        /// Which file.
        path: PathBuf,
        /// The message of the loader.
        message: String,
    },
    /// A library, but another one.
    #[error("{path} is not ONNX Runtime: it has no OrtGetApiBase")]
    OtherLibrary {
        /// Which file.
        path: PathBuf,
    },
    /// The library does not tell its version.
    #[error("{path} does not tell its version")]
    NoVersion {
        /// Which file.
        path: PathBuf,
    },
    /// The library is older than Engram needs.
    #[error("{path} is ONNX Runtime {found}, at least {minimum} is needed")]
    TooOld {
        /// Which file.
        path: PathBuf,
        /// Its version.
        found: String,
        /// The oldest that will do.
        minimum: String,
    },
    /// The library passed every check, but its own start-up failed.
    #[error("{path} does not start: {message}")]
    Start {
        /// Which file.
        path: PathBuf,
        /// The message of the library.
        message: String,
    },
    /// The process has loaded another one; there can be only one.
    #[error("{path} cannot be used: this process runs on {loaded} already")]
    AnotherIsLoaded {
        /// Which file.
        path: PathBuf,
        /// The one in use.
        loaded: PathBuf,
    },
}

/// Checks the library and returns its version. The library stays loaded.
pub(super) fn check(path: &Path, minimum: &str) -> Result<String, LibraryError> {
    check_header(path)?;
    let no_version = || LibraryError::NoVersion { path: path.to_path_buf() };
    let told = onnxruntime::ask(path, API_VERSION)?;
    let version = told.version.ok_or_else(no_version)?;
    let found = number(&version).ok_or_else(no_version)?;
    if found < number(minimum).unwrap_or_default() || !told.has_api {
        return Err(LibraryError::TooOld { path: path.to_path_buf(), found: version, minimum: minimum.to_owned() });
    }
    Ok(version)
}

/// `1.31.1` as numbers that compare; suffixes such as `-rc1` are left out.
fn number(version: &str) -> Option<(u32, u32, u32)> {
    let mut parts = version.splitn(3, '.').map(|part| {
        let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u32>().ok()
    });
    Some((parts.next()??, parts.next()??, parts.next().flatten().unwrap_or(0)))
}

const MACHINES: [(u16, &str); 4] = [(62, "x86_64"), (183, "aarch64"), (40, "arm"), (243, "riscv64")];

/// Reads the ELF header: a whole 64-bit little-endian shared object for this processor.
pub(in crate::encoders) fn check_header(path: &Path) -> Result<(), LibraryError> {
    const HEADER: usize = 64;
    const CLASS_64: u8 = 2;
    const LITTLE_ENDIAN: u8 = 1;
    const SHARED_OBJECT: u64 = 3;
    let unreadable = |source| LibraryError::Unreadable { path: path.to_path_buf(), source };
    let not_a_library = || LibraryError::NotALibrary { path: path.to_path_buf() };
    let mut file = File::open(path).map_err(unreadable)?;
    let bytes = file.metadata().map_err(unreadable)?.len();
    let mut header = Vec::with_capacity(HEADER);
    file.by_ref().take(HEADER as u64).read_to_end(&mut header).map_err(unreadable)?;
    if header.len() < HEADER || header[..4] != *b"\x7fELF" || header[5] != LITTLE_ENDIAN {
        return Err(not_a_library());
    }
    let machine = number_at(&header, 18, 2);
    let name = MACHINES.iter().find(|(code, _)| u64::from(*code) == machine).map(|(_, name)| *name);
    let expected = std::env::consts::ARCH;
    if name != Some(expected) || header[4] != CLASS_64 {
        let found = name.map_or_else(|| format!("machine {machine}"), str::to_owned);
        return Err(LibraryError::WrongArchitecture { path: path.to_path_buf(), found, expected });
    }
    if number_at(&header, 16, 2) != SHARED_OBJECT {
        return Err(not_a_library());
    }
    // The loader maps what the program headers name and is killed by the kernel where the file has no such bytes.
    let (table, size, count) = (number_at(&header, 32, 8), number_at(&header, 54, 2), number_at(&header, 56, 2));
    let mut needed = table.saturating_add(size * count);
    let mut entries = Vec::new();
    file.seek(SeekFrom::Start(table)).map_err(unreadable)?;
    file.take(size * count).read_to_end(&mut entries).map_err(unreadable)?;
    for entry in entries.chunks_exact((size as usize).max(1)).filter(|entry| entry.len() >= 56) {
        needed = needed.max(number_at(entry, 8, 8).saturating_add(number_at(entry, 32, 8)));
    }
    if bytes < needed {
        return Err(LibraryError::CutShort { path: path.to_path_buf(), bytes, needed });
    }
    Ok(())
}

/// A little-endian number of `width` bytes inside a slice that is long enough.
fn number_at(bytes: &[u8], at: usize, width: usize) -> u64 {
    bytes[at..at + width].iter().rev().fold(0, |number, byte| (number << 8) | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_by_number_and_not_by_letter() {
        assert!(number("1.9.0") < number("1.17.0"));
        assert!(number("1.31.1") > number("1.17.0"));
        assert_eq!(number("1.20.0-rc1"), Some((1, 20, 0)));
        assert_eq!(number("1.20"), Some((1, 20, 0)));
        assert_eq!(number("unknown"), None);
    }
}
