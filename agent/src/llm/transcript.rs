//! Transcripts: every request and reply in a file, one JSON object a line, so that a run with a model can be replayed.

use std::collections::{BTreeMap, VecDeque};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::http::HttpReply;
use crate::config::Purpose;

/// Maximum size of a transcript, in bytes.
const MAX_FILE_BYTES: u64 = 256 << 20;
/// Size of a request, in bytes, above which only its digest is written. Requests with pictures exceed it.
const MAX_REQUEST_BYTES: usize = 64 << 10;

#[derive(Serialize, Deserialize)]
struct TranscriptLine {
    purpose: String,
    /// Sum of the request's bytes, by which a replay finds it.
    request_sha256: String,
    #[serde(default)]
    request: Option<serde_json::Value>,
    status: u16,
    reply: String,
}

/// Appends what went over the wire.
pub struct Recorder {
    path: PathBuf,
    file: Mutex<(File, u64)>,
}

impl Recorder {
    /// Opens the file, which only its owner may read.
    ///
    /// # Errors
    /// Says why it cannot be written.
    pub fn open(path: &Path) -> Result<Self, String> {
        let said = |error: std::io::Error| format!("llm.record {} cannot be written: {error}", path.display());
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            options.mode(0o600);
        }
        let file = options.open(path).map_err(said)?;
        let bytes = file.metadata().map_err(said)?.len();
        Ok(Self { path: path.to_owned(), file: Mutex::new((file, bytes)) })
    }

    /// Appends one exchange.
    pub fn note(&self, purpose: Purpose, request: &[u8], reply: &HttpReply) {
        let line = TranscriptLine {
            purpose: purpose.name().to_owned(),
            request_sha256: sum(request),
            request: (request.len() <= MAX_REQUEST_BYTES).then(|| serde_json::from_slice(request).ok()).flatten(),
            status: reply.status,
            reply: String::from_utf8_lossy(&reply.body).into_owned(),
        };
        let Ok(mut text) = serde_json::to_vec(&line) else { return };
        text.push(b'\n');
        let mut file = self.file.lock();
        if file.1 + text.len() as u64 > MAX_FILE_BYTES {
            tracing::warn!(file = %self.path.display(), "the transcript is full; nothing more is recorded");
            return;
        }
        match file.0.write_all(&text) {
            Ok(()) => file.1 += text.len() as u64,
            Err(error) => tracing::warn!(file = %self.path.display(), %error, "the transcript cannot be written"),
        }
    }
}

/// Replies of a transcript, by request.
pub struct Replay {
    replies: Mutex<BTreeMap<String, VecDeque<HttpReply>>>,
}

impl Replay {
    /// Reads a transcript.
    ///
    /// # Errors
    /// Says why it cannot be read, with the line.
    pub fn open(path: &Path) -> Result<Self, String> {
        let said = |error: &dyn std::fmt::Display| format!("llm.replay {} cannot be read: {error}", path.display());
        let file = File::open(path).map_err(|error| said(&error))?;
        let mut replies: BTreeMap<String, VecDeque<HttpReply>> = BTreeMap::new();
        for (number, line) in BufReader::new(file.take(MAX_FILE_BYTES)).lines().enumerate() {
            let line = line.map_err(|error| said(&error))?;
            let line: TranscriptLine = serde_json::from_str(&line)
                .map_err(|_| said(&format!("line {} is not of a transcript", number + 1)))?;
            let reply = HttpReply { status: line.status, retry_after: None, body: Bytes::from(line.reply) };
            replies.entry(line.request_sha256).or_default().push_back(reply);
        }
        Ok(Self { replies: Mutex::new(replies) })
    }

    /// The reply to a request: of several those before the last once each, and the last again and again.
    pub fn reply(&self, request: &[u8]) -> Option<HttpReply> {
        let mut replies = self.replies.lock();
        let known = replies.get_mut(&sum(request))?;
        if known.len() > 1 { known.pop_front() } else { known.front().cloned() }
    }
}

fn sum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_recorded_is_replayed_in_order_and_nothing_else_is() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run.jsonl");
        let recorder = Recorder::open(&path).unwrap();
        let reply = |text: &str| HttpReply { status: 200, retry_after: None, body: Bytes::from(text.to_owned()) };
        for text in ["first", "second"] {
            recorder.note(Purpose::Answers, b"{\"a\":1}", &reply(text));
        }
        let replay = Replay::open(&path).unwrap();
        let said = |request: &[u8]| replay.reply(request).map(|reply| reply.body);
        assert_eq!(said(b"{\"a\":1}"), Some(Bytes::from("first")));
        assert_eq!(said(b"{\"a\":1}"), Some(Bytes::from("second")));
        assert_eq!(said(b"{\"a\":1}"), Some(Bytes::from("second")));
        assert_eq!(said(b"{\"a\":2}"), None);
    }

    #[test]
    fn a_file_that_is_no_transcript_is_named_with_its_line() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run.jsonl");
        std::fs::write(&path, "hello\n").unwrap();
        let error = Replay::open(&path).err().unwrap();
        assert!(error.contains("line 1") && !error.contains("hello"), "{error}");
    }
}
