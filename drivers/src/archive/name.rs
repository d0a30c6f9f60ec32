//! The names of chunks and of recordings.

use std::time::Duration;

use memory_core::Timestamp;

const SCHEME: &str = "archive:";
const SUFFIX: &str = ".mkv";

/// The name of a chunk inside its source's folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChunkName {
    /// Wall-clock time of the session's stream time 0.
    pub session: Timestamp,
    /// Stream time at which it begins, whole milliseconds.
    pub begin: Duration,
}

impl ChunkName {
    /// Reads a file's name; `None` if it is not one of the archive.
    pub fn parse(name: &str) -> Option<Self> {
        let (session, begin) = name.strip_suffix(SUFFIX)?.rsplit_once('-')?;
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(session.strip_prefix('-').unwrap_or(session)) || !digits(begin) {
            return None;
        }
        Some(Self {
            session: Timestamp::from_micros(session.parse().ok()?),
            begin: Duration::from_millis(begin.parse().ok()?),
        })
    }
}

impl std::fmt::Display for ChunkName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}{SUFFIX}", self.session.as_micros(), self.begin.as_millis())
    }
}

/// A session of a source in the archive, as events point to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    /// The source in the configuration.
    pub source: String,
    /// Wall-clock time of stream time 0.
    pub session: Timestamp,
}

impl Recording {
    /// Reads what [`recording`] wrote; `None` for any other place.
    pub fn parse(media: &str) -> Option<Self> {
        let (source, session) = media.strip_prefix(SCHEME)?.rsplit_once('/')?;
        Some(Self { source: source.to_owned(), session: Timestamp::from_micros(session.parse().ok()?) })
    }
}

/// How events point to a session in the archive: which chunk has a moment of it is looked up when somebody asks.
pub fn recording(source: &str, session: Timestamp) -> String {
    format!("{SCHEME}{source}/{}", session.as_micros())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_recording_is_read_as_it_was_written() {
        let session = Timestamp::from_micros(1_763_712_000_000_000);
        let read = Recording::parse(&recording("camera/left", session));
        assert_eq!(read, Some(Recording { source: "camera/left".into(), session }));
        assert_eq!(Recording::parse("file:///a/b.mkv"), None);
        assert_eq!(Recording::parse("archive:camera"), None);
    }

    proptest! {
        #[test]
        fn a_chunk_is_read_as_it_was_written(session: i64, begin: u32) {
            let name = ChunkName { session: Timestamp::from_micros(session), begin: Duration::from_millis(begin.into()) };
            prop_assert_eq!(ChunkName::parse(&name.to_string()), Some(name));
        }

        #[test]
        fn no_name_makes_it_fail(name in ".{0,40}", numbers in "[-0-9.mkv]{0,30}") {
            for name in [name, numbers] {
                if let Some(read) = ChunkName::parse(&name) {
                    prop_assert_eq!(ChunkName::parse(&read.to_string()), Some(read));
                }
            }
        }
    }
}
