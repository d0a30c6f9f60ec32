//! Recordings of live sources, and clips cut out of them, through real GStreamer pipelines.

#![allow(clippy::unwrap_used)] // Tests fail by panicking.

mod media;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use drivers::archive::{Archive, ArchiveLimits, ClipError, ClipPart, Recorder, clip, still};
use drivers::capture::{SourceHandle, SourceKind, SourceSpec};
use media::{DEADLINE, Record, chunks, played};
use memory_core::Clock;
use memory_core::{SystemClock, TimeSpan};

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

const LIMITS: ArchiveLimits =
    ArchiveLimits { budget_bytes: 1 << 30, keep_free_bytes: 0, chunk: Duration::from_secs(2) };

fn wait_for(what: &str, condition: impl Fn() -> bool) {
    let begin = std::time::Instant::now();
    while !condition() {
        assert!(begin.elapsed() < DEADLINE, "{what}");
        std::thread::park_timeout(ms(20));
    }
}

fn record(spec: SourceSpec, archive: &Arc<Archive>) -> (SourceHandle, Record) {
    let recorder = Recorder::start(Arc::clone(archive), &spec.name).unwrap();
    let record = Record::default();
    let consumer = media::CallRecorder { record: record.clone(), interval: ms(100) };
    let clock = Arc::new(SystemClock::new());
    (SourceHandle::start_with(spec, Box::new(consumer), clock, false, Some(recorder)).unwrap(), record)
}

#[test]
fn a_raw_source_is_recorded_in_chunks_that_play_and_a_pause_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Arc::new(Archive::open(folder.path(), LIMITS).unwrap());
    let (source, _record) = record(SourceSpec::new("cam", SourceKind::Test), &archive);
    wait_for("three chunks", || chunks(folder.path(), "cam").len() >= 3);
    source.pause();
    wait_for("a complete last chunk", || {
        archive.status().chunks == chunks(folder.path(), "cam").len()
            && source.status().state == drivers::capture::SourceState::Paused
    });
    let before = chunks(folder.path(), "cam");
    let clock = SystemClock::new();
    let paused_at = clock.now();
    wait_for("most of a second", || clock.now() > paused_at.saturating_add(ms(700)));
    assert_eq!(chunks(folder.path(), "cam"), before, "nothing is recorded while paused");
    source.resume();
    wait_for("another chunk", || chunks(folder.path(), "cam").len() > before.len());
    source.stop();
    for path in &before {
        let (pictures, sound) = played(path);
        // The pause may have come right after the first picture of the last one, and before its first sound.
        let whole = pictures.len() >= 20 && sound;
        let begun = Some(path) == before.last() && !pictures.is_empty();
        assert!(whole || begun, "{}: {} pictures, sound {sound}", path.display(), pictures.len());
    }
    let during_pause = TimeSpan::new(paused_at.saturating_add(ms(100)), paused_at.saturating_add(ms(600)));
    assert_eq!(archive.covering(Some("cam"), during_pause), vec![]);
    let reopened = Archive::open(folder.path(), LIMITS).unwrap();
    assert_eq!(reopened.status().chunks, archive.status().chunks);
}

#[test]
fn the_budget_holds_while_a_source_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let limits = ArchiveLimits { budget_bytes: 1, chunk: ms(500), ..LIMITS };
    let archive = Arc::new(Archive::open(folder.path(), limits).unwrap());
    let (source, _record) = record(SourceSpec::new("cam", SourceKind::Test), &archive);
    let first = || chunks(folder.path(), "cam").first().cloned();
    wait_for("a complete chunk", || archive.status().bytes > 0);
    let oldest = first();
    wait_for("the oldest to give way", || first() != oldest && archive.status().chunks <= 2);
    source.stop();
}

#[test]
fn a_network_camera_is_recorded_as_it_came() {
    let Some((camera, port)) = media::NetworkCamera::start(0) else {
        println!("skipped: no GStreamer RTSP server (gir1.2-gst-rtsp-server-1.0, python3-gi)");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let archive = Arc::new(Archive::open(folder.path(), LIMITS).unwrap());
    let url = format!("rtsp://127.0.0.1:{port}/camera");
    let (source, record) = record(SourceSpec::new("gate", SourceKind::Rtsp { url, latency: ms(100) }), &archive);
    record.wait("pictures", |calls| calls.len() >= 20);
    wait_for("two chunks", || chunks(folder.path(), "gate").len() >= 2);
    source.stop();
    drop(camera);
    for path in chunks(folder.path(), "gate") {
        let (pictures, _) = played(&path);
        assert!(!pictures.is_empty(), "{}", path.display());
    }
}

/// Twelve seconds at 25 pictures a second, each second of a grey of its own.
fn seconds_told_by_grey(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    let mut description = format!(
        "concat name=c ! x264enc speed-preset=ultrafast key-int-max=50 ! h264parse ! queue ! mux. {} name=mux ! filesink location={} ",
        media::muxer(name),
        path.display()
    );
    for second in 0..12_u32 {
        let grey = 16 + 18 * second;
        let colour = 0xff00_0000_u32 | grey << 16 | grey << 8 | grey;
        description += &format!(
            "videotestsrc num-buffers=25 pattern=solid-color foreground-color={colour} ! video/x-raw,format=I420,width=320,height=180,framerate=25/1 ! c. "
        );
    }
    description += "audiotestsrc samplesperbuffer=1600 num-buffers=120 ! audio/x-raw,rate=16000,channels=1 ! audioconvert ! avenc_aac ! aacparse ! queue ! mux. ";
    media::make(&description);
    path
}

#[test]
fn a_clip_has_exactly_the_seconds_that_were_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let source = seconds_told_by_grey(folder.path(), "day.mp4");
    let whole: Vec<u8> = played(&source).0.into_iter().map(|(_, grey)| grey).collect();
    assert_eq!(whole.len(), 300);
    for name in ["clip.mkv", "clip.mp4"] {
        let out = folder.path().join(name);
        let part = |from, to| ClipPart { path: source.clone(), from: ms(from), to: ms(to) };
        let length = clip(&[part(2_400, 4_000), part(9_000, 9_520)], &out).unwrap();
        assert_eq!(length, ms(2_120));
        let (pictures, sound) = played(&out);
        assert!(sound, "{name} has sound");
        let expected: Vec<u8> = whole[60..100].iter().chain(&whole[225..238]).copied().collect();
        let got: Vec<u8> = pictures.iter().map(|(_, grey)| *grey).collect();
        for (place, (got, expected)) in got.iter().zip(&expected).enumerate() {
            assert!(got.abs_diff(*expected) <= 4, "{name}: picture {place} is {got} and not {expected}");
        }
        assert_eq!(got.len(), expected.len(), "{name}: {pictures:?}");
        let last = pictures.last().unwrap().0 - pictures[0].0;
        assert!(last.abs_diff(ms(2_080)) <= ms(10), "{name}: {last:?}");
    }
}

#[test]
fn a_still_is_the_picture_of_the_second_that_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let source = seconds_told_by_grey(folder.path(), "day.mp4");
    let whole: Vec<u8> = played(&source).0.into_iter().map(|(_, grey)| grey).collect();
    let (width, height) = media::size_of(&source);
    let (width, height) = (u32::try_from(width).unwrap(), u32::try_from(height).unwrap());
    for (at, place) in [(0, 0), (2_400, 60), (9_000, 225)] {
        let picture = still(&source, ms(at), 4_000).unwrap();
        assert_eq!((picture.width, picture.height), (width, height), "it is not made larger");
        let file = folder.path().join("still.jpg");
        std::fs::write(&file, &picture.jpeg).unwrap();
        let grey = played(&file).0[0].1;
        assert!(grey.abs_diff(whole[place]) <= 6, "at {at} ms the picture is {grey} and not {}", whole[place]);
    }
    let small = still(&source, ms(1_000), width / 2).unwrap();
    assert_eq!(small.width, width / 2);
    assert!(small.height.abs_diff(height / 2) <= 1, "nothing is stretched: {} x {}", small.width, small.height);
}

#[test]
fn there_is_no_still_where_nothing_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let talk = media::clip(folder.path(), "talk.mkv", 2, false, true);
    assert!(matches!(still(&talk, ms(500), 640), Err(ClipError::Nothing)));
    let film = media::clip(folder.path(), "film.mkv", 2, true, false);
    assert!(still(&film, ms(60_000), 640).is_err(), "behind the end");
    let text = folder.path().join("no film.mkv");
    std::fs::write(&text, "no film").unwrap();
    assert!(matches!(still(&text, ms(0), 640), Err(ClipError::Unreadable { .. })));
    assert!(matches!(still(&folder.path().join("gone.mkv"), ms(0), 640), Err(ClipError::Unreadable { .. })));
}

#[test]
fn a_clip_that_cannot_be_made_says_why_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let source = media::clip(folder.path(), "short.mkv", 2, true, true);
    let part = ClipPart { path: source, from: ms(0), to: ms(1_000) };
    assert!(matches!(clip(&[], &folder.path().join("a.mkv")), Err(ClipError::Nothing)));
    assert!(matches!(clip(std::slice::from_ref(&part), &folder.path().join("a.avi")), Err(ClipError::Container(_))));
    let missing = ClipPart { path: folder.path().join("gone.mkv"), ..part.clone() };
    assert!(matches!(clip(&[missing], &folder.path().join("a.mkv")), Err(ClipError::Unreadable { .. })));
    let text = folder.path().join("list.mkv");
    std::fs::write(&text, "milk, bread").unwrap();
    let error = clip(&[ClipPart { path: text, ..part.clone() }], &folder.path().join("a.mkv")).unwrap_err();
    assert!(error.to_string().contains("list.mkv"), "{error}");
    assert!(matches!(clip(&[part], &folder.path().join("no/folder/a.mkv")), Err(ClipError::Unwritable { .. })));
    assert!(!folder.path().join("a.mkv").exists());
}
