//! Decoding pictures and sound of an interval.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::media::{DEADLINE, chunks};
use drivers::archive::{
    Archive, ArchiveLimits, ClipError, FrameOptions, Recorder, Recording, RecordingPart, pictures, sound,
};
use drivers::capture::{SourceHandle, SourceKind, SourceSpec};
use memory_core::{StreamSpan, SystemClock};

use super::{lighter, ms, options, seen, whole};
use crate::media;

#[test]
fn each_moment_shows_its_own_picture_whether_it_is_sought_or_on_the_way() {
    let folder = tempfile::tempdir().unwrap();
    for (name, keys) in [("a.mkv", 25), ("b.mp4", 250)] {
        let path = lighter(folder.path(), name, 12, keys);
        let stretches = whole(&path, Duration::ZERO, ms(12_000));
        let dense: Vec<Duration> = (0..12).map(|second| ms(1000 * second + 500)).collect();
        let found = seen(&stretches, &dense);
        assert_eq!(found.iter().map(|(second, _)| *second).collect::<Vec<_>>(), (0..12).collect::<Vec<_>>(), "{name}");
        assert!(found.iter().zip(&dense).all(|((_, at), time)| at.abs_diff(*time) <= ms(45)), "{found:?}");
        let sparse = seen(&stretches, &[ms(500), ms(5500), ms(10_500)]);
        assert_eq!(sparse.iter().map(|(second, _)| *second).collect::<Vec<_>>(), [0, 5, 10], "{name}");
    }
}

#[test]
fn pictures_keep_to_their_short_edge_and_to_the_ceiling() {
    let folder = tempfile::tempdir().unwrap();
    let path = lighter(folder.path(), "a.mkv", 2, 25);
    let size = |options: FrameOptions<'_>| {
        let mut size = (0, 0);
        let stretches = whole(&path, Duration::ZERO, ms(2000));
        pictures(&stretches, &[ms(500)], options, |_, picture| size = (picture.width, picture.height)).unwrap();
        size
    };
    assert_eq!(size(options()), (320, 180));
    assert_eq!(size(FrameOptions { short_edge: Some(90), ..options() }), (160, 90));
    assert_eq!(size(FrameOptions { short_edge: Some(900), ..options() }), (320, 180), "never larger");
    let (width, height) = size(FrameOptions { ceiling_bytes: 100_000, ..options() });
    assert!(width * height * 6 <= 104_000, "{width}x{height}");
}

#[test]
fn the_sound_of_an_interval_is_heard_and_nothing_beyond_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = lighter(folder.path(), "a.mkv", 6, 25);
    let (mut first, mut samples) = (None, 0);
    let stretches = whole(&path, ms(2000), ms(4000));
    sound(&stretches, options(), |at, block| {
        first.get_or_insert(at);
        samples += block.len();
    })
    .unwrap();
    assert!(first.unwrap().abs_diff(ms(2000)) <= ms(150), "{first:?}");
    assert!((28_000..=36_000).contains(&samples), "{samples} samples of two seconds");
}

#[test]
fn a_chunk_that_a_kill_cut_short_shows_what_there_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = lighter(folder.path(), "a.mkv", 8, 25);
    let bytes = std::fs::read(&path).unwrap();
    let cut = folder.path().join("cut.mkv");
    std::fs::write(&cut, &bytes[..bytes.len() * 6 / 10]).unwrap();
    let stretches = whole(&cut, Duration::ZERO, ms(8000));
    let found = seen(&stretches, &[ms(500), ms(1500), ms(2500), ms(7500)]);
    assert_eq!(found.iter().take(3).map(|(second, _)| *second).collect::<Vec<_>>(), [0, 1, 2], "{found:?}");
    assert!(found.iter().all(|(second, at)| at.as_secs() == *second), "none shows another second: {found:?}");
}

#[test]
fn what_is_no_recording_is_an_error_and_what_is_gone_is_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let garbage = folder.path().join("garbage.mkv");
    std::fs::write(&garbage, b"no recording").unwrap();
    let outcome = |path: &Path| pictures(&whole(path, Duration::ZERO, ms(1000)), &[ms(500)], options(), |_, _| {});
    assert!(matches!(outcome(&garbage), Err(ClipError::Unreadable { .. })));
    assert!(matches!(outcome(&folder.path().join("gone.mkv")), Err(ClipError::Nothing)));
    let path = lighter(folder.path(), "a.mkv", 1, 25);
    let mut both = whole(&garbage, Duration::ZERO, ms(500));
    both.push(RecordingPart { path, begin: ms(500), from: ms(500), to: ms(1500) });
    assert_eq!(seen(&both, &[ms(200), ms(1000)]).len(), 1, "what is there is shown beside what is not");
}

#[test]
fn chunks_that_are_written_are_read_by_two_at_once_across_their_borders() {
    let folder = tempfile::tempdir().unwrap();
    let limits = ArchiveLimits { budget_bytes: 1 << 30, keep_free_bytes: 0, chunk: ms(1000) };
    let archive = Arc::new(Archive::open(folder.path(), limits).unwrap());
    let recorder = Recorder::start(Arc::clone(&archive), "cam").unwrap();
    let record = media::Record::default();
    let consumer = media::CallRecorder { record: record.clone(), interval: ms(100) };
    let spec = SourceSpec::new("cam", SourceKind::Test);
    let source =
        SourceHandle::start_with(spec, Box::new(consumer), Arc::new(SystemClock::new()), false, Some(recorder))
            .unwrap();
    let begin = Instant::now();
    while chunks(folder.path(), "cam").len() < 4 {
        assert!(begin.elapsed() < DEADLINE);
        std::thread::park_timeout(ms(20));
    }
    let session = record.begins()[0].1;
    let recording = Recording { source: "cam".to_owned(), session };
    let span = StreamSpan { start: ms(200), end: ms(60_000) };
    let stretches: Vec<RecordingPart> = archive
        .showing(&recording, span)
        .into_iter()
        .map(|chunk| RecordingPart { begin: chunk.name.begin, from: chunk.name.begin, to: chunk.end, path: chunk.path })
        .filter(|stretch| stretch.from < stretch.to)
        .collect();
    assert!(stretches.len() >= 3, "{stretches:?}");
    let last = stretches.last().unwrap().to;
    let times: Vec<Duration> = (1..last.as_millis() as u64 / 250).map(|n| ms(250 * n)).collect();
    let read = || {
        let mut at = Vec::new();
        pictures(&stretches, &times, options(), |time, _| at.push(time)).unwrap();
        at
    };
    let (one, other) = std::thread::scope(|scope| {
        let (one, other) = (scope.spawn(read), scope.spawn(read));
        (one.join().unwrap(), other.join().unwrap())
    });
    source.stop();
    assert!(one.len() + 5 >= times.len(), "{} of {} moments", one.len(), times.len());
    assert!(one.windows(2).all(|pair| pair[0] <= pair[1]), "in order of time across the chunks");
    assert!(one.len().abs_diff(other.len()) <= 2, "both see it: {} and {}", one.len(), other.len());
}
