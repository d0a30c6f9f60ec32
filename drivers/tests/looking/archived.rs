//! Recordings of the archive, and those that it deleted.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use crate::media::{DEADLINE, chunks};
use drivers::archive::{Archive, ArchiveLimits, Recorder, Recording, RecordingPart};
use drivers::capture::{SourceHandle, SourceKind, SourceSpec};
use drivers::encoders::{Encoders, Filled};
use drivers::looking::{Labels, Looking, Recordings};
use drivers::perception::Pace;
use memory_core::reasoning::{LookError, LookOrder, Tool, Tools};
use memory_core::{StreamSpan, SystemClock};
use parking_lot::Mutex;

use super::{Lamps, ms, order};
use crate::media;

/// Records the test source until it has so many chunks, and returns the recording.
fn recorded(archive: &Arc<Archive>, folder: &Path, source: &str, count: usize) -> Recording {
    let recorder = Recorder::start(Arc::clone(archive), source).unwrap();
    let record = media::Record::default();
    let consumer = media::CallRecorder { record: record.clone(), interval: ms(100) };
    let spec = SourceSpec::new(source, SourceKind::Test);
    let handle =
        SourceHandle::start_with(spec, Box::new(consumer), Arc::new(SystemClock::new()), false, Some(recorder))
            .unwrap();
    let begin = Instant::now();
    while chunks(folder, source).len() < count {
        assert!(begin.elapsed() < DEADLINE);
        std::thread::park_timeout(ms(20));
    }
    handle.stop();
    Recording { source: source.to_owned(), session: record.begins()[0].1 }
}

/// What an archive has of one recording.
struct OfArchive(Arc<Archive>, Recording);

impl Recordings for OfArchive {
    fn stretches(&self, _: &str, stream: StreamSpan) -> Vec<RecordingPart> {
        let found = self.0.showing(&self.1, stream).into_iter().map(|chunk| RecordingPart {
            begin: chunk.name.begin,
            from: stream.start.max(chunk.name.begin),
            to: stream.end.min(chunk.end),
            path: chunk.path,
        });
        found.filter(|stretch| stretch.from < stretch.to).collect()
    }
}

#[test]
fn what_the_budget_deleted_is_gone_and_what_it_left_is_still_seen() {
    let folder = tempfile::tempdir().unwrap();
    let limits = |budget_bytes| ArchiveLimits { budget_bytes, keep_free_bytes: 0, chunk: ms(1000) };
    let archive = Arc::new(Archive::open(folder.path(), limits(1 << 30)).unwrap());
    let recording = recorded(&archive, folder.path(), "cam", 6);
    let sizes: Vec<u64> =
        chunks(folder.path(), "cam").iter().map(|path| std::fs::metadata(path).unwrap().len()).collect();
    // Another start with less room; its next chunk makes the oldest go.
    let budget = sizes.iter().sum::<u64>() * 2 / 3;
    let archive = Arc::new(Archive::open(folder.path(), limits(budget)).unwrap());
    recorded(&archive, folder.path(), "other", 1);
    let left = chunks(folder.path(), "cam").len();
    assert!((1..sizes.len()).contains(&left), "{left} of {} chunks", sizes.len());
    let lamps = Arc::new(Lamps(Mutex::default()));
    let filled = Filled { objects: Some(lamps as _), ..Filled::default() };
    let recordings = Arc::new(OfArchive(archive, recording));
    let tools = Looking::new(Encoders::ready(filled), Labels::default(), recordings, Pace::default());
    let look = |start: u64, end: u64| {
        let stream = StreamSpan { start: ms(start), end: ms(end) };
        tools.look(&LookOrder { stream, ..order(Tool::IntervalLocaliser, &|| false) })
    };
    assert_eq!(look(0, 400), Err(LookError::Gone), "the oldest chunk is deleted");
    let whole = look(0, 5000).unwrap();
    assert!(whole.missing >= ms(900) && whole.pictures > 0, "{whole:?}");
}
