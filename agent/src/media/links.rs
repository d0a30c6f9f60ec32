//! Where a moment can be looked at: a file or an address, and the second in it.

use std::path::PathBuf;
use std::time::Duration;

use drivers::archive::Recording;
use memory_core::StreamSpan;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::Recordings;
use super::server::token;
use crate::config::MediaServerConfig;

/// Looks up recordings. Without those of an installation every address is given out as it is.
#[derive(Debug, Clone, Default)]
pub struct MediaLinks {
    recordings: Option<Recordings>,
    /// Prefix of an address, and the query that opens it, where recordings are served.
    served: Option<(String, String)>,
}

/// A recording and the second at which the moment begins in it.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordingLink {
    /// `file://…` or `http(s)://…`.
    pub uri: String,
    /// Seconds into it.
    pub start_s: f64,
}

impl MediaLinks {
    /// Links to `recordings`: addresses where a server is on, files otherwise.
    pub fn new(recordings: Recordings, server: &MediaServerConfig) -> Self {
        let served = server.enabled.then(|| {
            let host = || gethostname::gethostname().to_string_lossy().into_owned();
            let url = server.url.clone().unwrap_or_else(|| format!("http://{}:{}", host(), server.listen.port()));
            let query = match token(server) {
                Ok(token) if server.token_in_links => format!("?token={}", escaped(&token)),
                _ => String::new(),
            };
            (url.trim_end_matches('/').to_owned(), query)
        });
        Self { recordings: Some(recordings), served }
    }

    /// The recordings that are linked to.
    pub fn recordings(&self) -> Option<&Recordings> {
        self.recordings.as_ref()
    }

    /// The file that shows a moment, and the second in it; `None` if nothing recorded it, or the recording is gone.
    pub fn file(&self, media: &str, moment: Duration) -> Option<(PathBuf, Duration)> {
        let recordings = self.recordings.as_ref()?;
        match Recording::parse(media) {
            Some(recording) => {
                let instant = StreamSpan { start: moment, end: moment + Duration::from_millis(1) };
                recordings.archive.locate(&recording, instant).map(|found| (found.path, found.offset))
            }
            // A file from elsewhere, or from nowhere, was named by somebody else or is gone.
            None => recordings.places.file_of(media).map(|(path, _)| (path, moment)),
        }
    }

    /// Returns the address at which the begin of `stream` can be seen; `None` if nothing recorded it, or the recording is gone.
    pub fn link(&self, media: Option<&str>, stream: Option<StreamSpan>) -> Option<RecordingLink> {
        let (media, stream) = (media?, stream?);
        let Some(recording) = Recording::parse(media) else {
            if let Some(recordings) = &self.recordings {
                // What is elsewhere, or nowhere, was named by somebody else or is gone.
                recordings.places.file_of(media)?;
            }
            return Some(RecordingLink { uri: media.to_owned(), start_s: seconds(stream.start) });
        };
        let found = self.recordings.as_ref()?.archive.locate(&recording, stream)?;
        let start_s = seconds(found.offset);
        let uri = match &self.served {
            // A media fragment: players begin there.
            Some((url, query)) => {
                format!("{url}/media/{}/{}{query}#t={start_s}", escaped(&found.source), found.name)
            }
            None => {
                let path = std::path::absolute(&found.path).unwrap_or(found.path);
                format!("file://{}", path.display())
            }
        };
        Some(RecordingLink { uri, start_s })
    }
}

fn seconds(at: std::time::Duration) -> f64 {
    (at.as_secs_f64() * 1e3).round() / 1e3
}

/// Everything but what an address may hold as it is (RFC 3986, unreserved).
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

fn escaped(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED).to_string()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_file_is_its_own_recording_and_what_is_not_recorded_has_none() {
        let links = MediaLinks::default();
        let stream = StreamSpan { start: Duration::from_millis(2500), end: Duration::from_secs(4) };
        let link = links.link(Some("file:///a/b.mp4"), Some(stream)).unwrap();
        assert_eq!(link, RecordingLink { uri: "file:///a/b.mp4".into(), start_s: 2.5 });
        assert_eq!(links.link(Some("archive:eye/5"), Some(stream)), None);
        assert_eq!(links.link(None, Some(stream)), None);
        assert_eq!(links.link(Some("file:///a/b.mp4"), None), None);
    }

    #[test]
    fn a_file_outside_the_known_places_is_not_shown() {
        let folder = tempfile::tempdir().unwrap();
        let config = crate::config::Config { data_dir: Some(folder.path().join("data")), ..Default::default() };
        let links = MediaLinks::new(Recordings::open(&config).unwrap(), &config.recording.server);
        let stream = StreamSpan { start: Duration::ZERO, end: Duration::from_secs(4) };
        std::fs::create_dir_all(folder.path().join("data/imported")).unwrap();
        for (name, known) in [("data/imported/film.mkv", true), ("secret", false)] {
            let path = folder.path().join(name);
            std::fs::write(&path, "x").unwrap();
            let found = links.link(Some(&format!("file://{}", path.display())), Some(stream));
            assert_eq!(found.is_some(), known, "{name}");
        }
        for media in ["http://elsewhere/film.mkv", "file:///etc/passwd", "archive:eye/5", "film.mkv"] {
            assert_eq!(links.link(Some(media), Some(stream)), None, "{media}");
        }
    }

    #[test]
    fn names_are_escaped_in_addresses() {
        assert_eq!(escaped("Küche 1/a?b"), "K%C3%BCche%201%2Fa%3Fb");
    }
}
