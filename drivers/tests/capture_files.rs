//! Recordings through real GStreamer pipelines.

mod media;

use std::sync::Arc;
use std::time::Duration;

use drivers::capture::{SourceKind, SourceSpec, SourceState, Speed, Subtitles};
use media::{AUDIO, Call, VIDEO, check_contract, clip, make, muxer, play, start, start_with};
use memory_core::{ManualClock, Timestamp};

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// White for 0.2 s and a tone for 0.2 s, both at 2 s and at 5 s of 7 s. The sound is stored as it is: an AAC encoder without
/// an edit list would put its own delay of 1024 samples before it.
fn flash_and_beep(folder: &std::path::Path, name: &str) -> std::path::PathBuf {
    let path = folder.join(name);
    let mut description = format!(
        "{} name=mux ! filesink location={} concat name=v ! {VIDEO} ! queue ! mux. concat name=a ! audio/x-raw,format=S16LE,rate=16000,channels=1 ! queue ! mux. ",
        muxer(name),
        path.display()
    );
    for (tenths, on) in [(20, false), (2, true), (28, false), (2, true), (18, false)] {
        let (pattern, wave) = if on { ("white", "sine") } else { ("black", "silence") };
        let frames = tenths * 25 / 10;
        description += &format!(
            "videotestsrc pattern={pattern} num-buffers={frames} ! video/x-raw,format=I420,width=320,height=180,framerate=25/1 ! v. \
             audiotestsrc wave={wave} samplesperbuffer=1600 num-buffers={tenths} ! audio/x-raw,format=S16LE,rate=16000,channels=1 ! a. "
        );
    }
    make(&description);
    path
}

#[test]
fn flash_and_beep_stay_together_within_40_ms() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["clip.mov", "clip.mkv"] {
        let (status, record) = play(SourceSpec::file("film", flash_and_beep(folder.path(), name)));
        assert_eq!(status.state, SourceState::Ended, "{status:?}");
        let mut flashes = Vec::new();
        let mut bright = false;
        for (stream, mean) in record.frames() {
            if mean > 128 && !bright {
                flashes.push(stream);
            }
            bright = mean > 128;
        }
        let mut beeps = Vec::new();
        let mut quiet = 8_000;
        for call in record.calls() {
            let Call::Audio { stream, samples, .. } = call else { continue };
            for (i, sample) in samples.iter().enumerate() {
                if sample.abs() > 0.2 {
                    if quiet >= 8_000 {
                        beeps.push(stream + Duration::from_nanos(i as u64 * 62_500));
                    }
                    quiet = 0;
                }
                quiet += 1;
            }
        }
        assert_eq!((flashes.len(), beeps.len()), (2, 2), "{name}: {flashes:?} {beeps:?}");
        for (flash, beep) in flashes.iter().zip(&beeps) {
            assert!(flash.abs_diff(*beep) <= ms(40), "{name}: flash {flash:?}, beep {beep:?}");
        }
        assert!(flashes[0].abs_diff(ms(2000)) <= ms(40), "{name}: {flashes:?}");
    }
}

#[test]
fn a_clip_with_pictures_only_and_one_with_sound_only() {
    let folder = tempfile::tempdir().unwrap();
    let (status, record) = play(SourceSpec::file("film", clip(folder.path(), "silent.mp4", 3, true, false)));
    assert_eq!((status.state, status.error), (SourceState::Ended, None));
    assert_eq!((record.frames().len(), record.samples()), (75, 0));
    assert_eq!(record.ends(), [Duration::from_secs(3)]);

    let (status, record) = play(SourceSpec::file("talk", clip(folder.path(), "talk.mkv", 3, false, true)));
    assert_eq!((status.state, status.error), (SourceState::Ended, None));
    assert_eq!(record.frames().len(), 0);
    assert!(record.samples().abs_diff(48_000) < 3_200, "{}", record.samples());
}

#[test]
fn what_is_not_wanted_is_not_delivered() {
    let folder = tempfile::tempdir().unwrap();
    let path = clip(folder.path(), "clip.mp4", 2, true, true);
    let (_, record) = play(SourceSpec { audio: false, ..SourceSpec::file("film", &path) });
    assert_eq!((record.frames().len(), record.samples()), (50, 0));
    let (_, record) = play(SourceSpec { video: false, ..SourceSpec::file("film", &path) });
    assert_eq!(record.frames().len(), 0);
    assert!(record.samples() > 28_000);
}

#[test]
fn the_same_file_gives_the_same_calls() {
    let folder = tempfile::tempdir().unwrap();
    let path = clip(folder.path(), "clip.mp4", 4, true, true);
    let mut spec = SourceSpec::file("film", path);
    let SourceKind::File(file) = &mut spec.kind else { unreachable!() };
    file.start_at = Some(Timestamp::parse("2026-11-20T08:00:00Z").unwrap());
    let (_, first) = play(spec.clone());
    let (_, second) = play(spec);
    assert!(first.calls() == second.calls());
    assert_eq!(first.begins()[0].1.to_string(), "2026-11-20T08:00:00+00:00");
}

#[test]
fn only_as_many_pictures_as_are_wanted_are_converted_and_none_counts_as_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let spec = SourceSpec::file("film", clip(folder.path(), "clip.mp4", 4, true, false));
    let (source, record) = start_with(spec, ms(500), Arc::new(memory_core::SystemClock::new()));
    assert!(source.wait_ended(Some(media::DEADLINE)));
    let status = source.status();
    assert_eq!(record.frames().len(), 8);
    assert_eq!((status.frames, status.frames_skipped), (8, 92));
    assert!(status.dropped.is_empty(), "{:?}", status.dropped);
}

#[test]
fn a_consumer_that_stands_still_loses_nothing_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let spec = SourceSpec::file("film", clip(folder.path(), "clip.mp4", 4, true, true));
    let (source, record) = start(spec);
    record.gate(true);
    record.wait("a picture", |calls| calls.iter().any(|call| matches!(call, Call::Frame { .. })));
    record.gate(false);
    assert!(source.wait_ended(Some(media::DEADLINE)));
    source.stop();
    assert_eq!(record.frames().len(), 100);
    assert!(source.status().dropped.is_empty());
    check_contract(&record.calls());
}

#[test]
fn streams_that_start_late_or_end_early_hold_nothing_up() {
    let folder = tempfile::tempdir().unwrap();
    for (name, audio) in [
        ("early.mkv", "audiotestsrc samplesperbuffer=1600 num-buffers=10"),
        ("late.mkv", "audiotestsrc samplesperbuffer=1600 num-buffers=10 timestamp-offset=5000000000"),
        // qtdemux takes a track shorter than a fifth of the film for a preview and leaves it out.
        ("early.mp4", "audiotestsrc samplesperbuffer=1600 num-buffers=30"),
    ] {
        let path = folder.path().join(name);
        make(&format!(
            "{} name=mux ! filesink location={} videotestsrc num-buffers=200 ! {VIDEO} ! queue max-size-time=0 max-size-buffers=0 ! mux. {audio} ! {AUDIO} ! queue ! mux.",
            muxer(name),
            path.display()
        ));
        let (status, record) = play(SourceSpec::file("film", path));
        assert_eq!((status.state, &status.error), (SourceState::Ended, &None), "{name}");
        assert_eq!(record.frames().len(), 200, "{name}");
        let expected = if name.ends_with("mp4") { 48_000 } else { 16_000 };
        assert!(record.samples().abs_diff(expected) < 3_200, "{name}: {}", record.samples());
        let first =
            record.calls().iter().find_map(|c| if let Call::Audio { stream, .. } = c { Some(*stream) } else { None });
        let expected = if name.starts_with("late") { ms(5000) } else { ms(0) };
        assert!(first.unwrap().abs_diff(expected) <= ms(80), "{name}: {first:?}");
    }
}

const CUES: &str =
    "1\n00:00:00,500 --> 00:00:01,500\nThe <i>kettle</i> boils\n\n2\n00:00:02,000 --> 00:00:03,000\nTea & biscuits\n";

#[test]
fn a_subtitle_stream_inside_the_file_is_read_in_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let (text, path) = (folder.path().join("words.txt"), folder.path().join("film.mkv"));
    std::fs::write(&text, CUES).unwrap();
    make(&format!(
        "matroskamux name=mux ! filesink location={} filesrc location={} ! subparse ! queue ! mux. \
         videotestsrc num-buffers=100 ! {VIDEO} ! queue ! mux. audiotestsrc samplesperbuffer=1600 num-buffers=40 ! {AUDIO} ! queue ! mux.",
        path.display(),
        text.display()
    ));
    let (status, record) = play(SourceSpec::file("film", &path));
    assert_eq!((status.state, &status.error), (SourceState::Ended, &None));
    let found: Vec<_> = record.subtitles().into_iter().map(|s| (s.start, s.end, s.text)).collect();
    assert_eq!(
        found,
        [(ms(500), ms(1500), "The kettle boils".to_owned()), (ms(2000), ms(3000), "Tea & biscuits".to_owned())]
    );
    assert_eq!(record.frames().len(), 100);

    let mut off = SourceSpec::file("film", &path);
    let SourceKind::File(file) = &mut off.kind else { unreachable!() };
    file.subtitles = Subtitles::Off;
    assert!(play(off).1.subtitles().is_empty());
}

#[test]
fn subtitles_beside_the_file_are_used_and_those_after_its_end_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = clip(folder.path(), "film.mp4", 4, true, false);
    let late = "\n3\n00:01:00,000 --> 00:01:01,000\nToo late\n";
    std::fs::write(folder.path().join("film.srt"), format!("{CUES}{late}")).unwrap();
    let (status, record) = play(SourceSpec::file("film", &path));
    assert_eq!(record.subtitles().len(), 2);
    assert_eq!(status.dropped.get("subtitle_beyond_end"), Some(&1));
    let subtitle = &record.subtitles()[0];
    assert_eq!(subtitle.wall, record.begins()[0].1.saturating_add(ms(500)));

    let mut named = SourceSpec::file("film", &path);
    let SourceKind::File(file) = &mut named.kind else { unreachable!() };
    file.subtitles = Subtitles::Path(folder.path().join("missing.vtt"));
    let (status, record) = play(named);
    assert_eq!(status.state, SourceState::Failed);
    assert!(status.error.unwrap().contains("missing.vtt"));
    assert!(record.calls().is_empty());
}

#[test]
fn what_is_no_recording_is_refused_by_name_with_advice() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("notes.mp4");
    std::fs::write(&text, "these are notes, not a film\n".repeat(100)).unwrap();
    let noise = folder.path().join("noise.mkv");
    std::fs::write(&noise, (0..20_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect::<Vec<_>>())
        .unwrap();
    let empty = folder.path().join("empty.mp4");
    std::fs::write(&empty, "").unwrap();
    let missing = folder.path().join("missing.mp4");
    for (path, word) in
        [(&text, "video or sound file"), (&noise, "video or sound file"), (&empty, "empty"), (&missing, "path")]
    {
        let (status, record) = play(SourceSpec::file("film", path));
        let error = status.error.clone().unwrap_or_default();
        assert_eq!(status.state, SourceState::Failed, "{error}");
        assert!(error.contains(path.to_str().unwrap()) && error.contains(word), "{error}");
        assert!(record.calls().is_empty());
    }
    let (status, _) = play(SourceSpec::file("film", folder.path()));
    assert!(status.error.unwrap().contains("folder"));
}

#[test]
fn a_truncated_recording_gives_what_it_has_and_says_where_it_breaks_off() {
    let folder = tempfile::tempdir().unwrap();
    let whole = clip(folder.path(), "whole.mp4", 10, true, true);
    let bytes = std::fs::read(&whole).unwrap();
    let cut = folder.path().join("cut.mp4");
    std::fs::write(&cut, &bytes[..bytes.len() / 2]).unwrap();
    let (status, record) = play(SourceSpec::file("film", &cut));
    let error = status.error.clone().unwrap_or_default();
    assert_eq!(status.state, SourceState::Ended, "{error}");
    assert!(error.contains("cut.mp4") && error.contains("breaks off"), "{error}");
    let frames = record.frames().len();
    assert!((60..240).contains(&frames), "{frames} of 250");
    assert_eq!(record.ends().len(), 1);

    // Without its index at the end, nothing can be decoded.
    let path = folder.path().join("plain.mp4");
    make(&format!("videotestsrc num-buffers=100 ! {VIDEO} ! mp4mux ! filesink location={}", path.display()));
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let (status, record) = play(SourceSpec::file("film", &path));
    assert_eq!(status.state, SourceState::Failed);
    assert!(status.error.unwrap().contains("plain.mp4"));
    assert!(record.calls().is_empty());

    // Any cut at all: an answer, never a panic or a hang.
    for part in [1, 7, 40, 400, 4_000, bytes.len() - 10] {
        std::fs::write(&path, &bytes[..part]).unwrap();
        let (status, _) = play(SourceSpec::file("film", &path));
        assert!(status.error.is_some(), "{part} bytes: {status:?}");
    }
}

#[test]
fn at_real_speed_the_clock_sets_the_pace() {
    let folder = tempfile::tempdir().unwrap();
    let mut spec = SourceSpec::file("film", clip(folder.path(), "clip.mp4", 4, true, false));
    let SourceKind::File(file) = &mut spec.kind else { unreachable!() };
    file.speed = Speed::Real;
    let clock = Arc::new(ManualClock::at(Timestamp::from_micros(0)));
    let (source, record) = start_with(spec, Duration::ZERO, clock.clone());
    record.wait("the first picture", |calls| calls.len() >= 2);
    assert_eq!(record.frames().len(), 1);
    clock.advance(ms(1000));
    record.wait("a second of pictures", |calls| calls.len() > 26);
    assert_eq!(record.frames().len(), 26);
    clock.advance(ms(10_000));
    assert!(source.wait_ended(Some(media::DEADLINE)));
    assert_eq!(record.frames().len(), 100);
}

#[test]
fn a_file_that_is_paused_ends_its_segment_and_goes_on_where_it_stood() {
    let folder = tempfile::tempdir().unwrap();
    let mut spec = SourceSpec::file("film", clip(folder.path(), "clip.mp4", 4, true, false));
    let SourceKind::File(file) = &mut spec.kind else { unreachable!() };
    (file.speed, file.start_at) = (Speed::Real, Some(Timestamp::from_micros(0)));
    let clock = Arc::new(ManualClock::at(Timestamp::from_micros(5_000_000)));
    let (source, record) = start_with(spec, Duration::ZERO, clock.clone());
    record.wait("the first picture", |calls| calls.len() >= 2);
    clock.advance(ms(1000));
    record.wait("a second of pictures", |calls| calls.len() > 26);
    source.pause();
    record.wait("the end of the part", |calls| matches!(calls.last(), Some(Call::End(_))));
    media::await_status(&source, "paused", |status| status.state == SourceState::Paused);
    clock.advance(Duration::from_secs(3600));
    source.resume();
    record.wait("the second begin", |calls| calls.iter().filter(|c| matches!(c, Call::Begin { .. })).count() == 2);
    clock.advance(ms(10_000));
    assert!(source.wait_ended(Some(media::DEADLINE)));
    check_contract(&record.calls());
    let frames = record.frames();
    assert_eq!(frames.len(), 100, "nothing is lost or doubled");
    assert!(frames.windows(2).all(|pair| pair[1].0 > pair[0].0));
    assert_eq!(record.begins()[0], record.begins()[1]);
    assert_eq!(record.ends().len(), 2);
}

#[test]
fn a_file_that_is_repeated_follows_itself_in_time() {
    let folder = tempfile::tempdir().unwrap();
    let mut spec = SourceSpec::file("film", clip(folder.path(), "clip.mp4", 2, true, false));
    let SourceKind::File(file) = &mut spec.kind else { unreachable!() };
    (file.repeat, file.start_at) = (true, Some(Timestamp::from_micros(0)));
    let (source, record) = start(spec);
    record.wait("the third round", |calls| calls.iter().filter(|c| matches!(c, Call::Begin { .. })).count() >= 3);
    source.stop();
    check_contract(&record.calls());
    let starts: Vec<i64> = record.begins().iter().take(3).map(|(_, start)| start.as_micros()).collect();
    assert_eq!(starts, [0, 2_000_000, 4_000_000]);
}

#[test]
fn without_a_start_the_creation_time_of_the_container_counts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.mp4");
    make(&format!("videotestsrc num-buffers=25 ! {VIDEO} ! mp4mux ! filesink location={}", path.display()));
    // The movie header counts seconds from 1904: 2020-02-02T02:02:02Z.
    let mut bytes = std::fs::read(&path).unwrap();
    let header = bytes.windows(4).position(|w| w == b"mvhd").unwrap();
    let seconds: u32 = 1_580_608_922 + 2_082_844_800;
    match bytes[header + 4] {
        0 => bytes[header + 8..header + 12].copy_from_slice(&seconds.to_be_bytes()),
        _ => bytes[header + 8..header + 16].copy_from_slice(&u64::from(seconds).to_be_bytes()),
    }
    std::fs::write(&path, bytes).unwrap();
    let (_, record) = play(SourceSpec::file("film", &path));
    assert_eq!(record.begins()[0].1.to_string(), "2020-02-02T02:02:02+00:00");
}

#[test]
fn large_pictures_are_scaled_down_and_small_ones_are_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wide.mp4");
    make(&format!(
        "videotestsrc num-buffers=5 ! video/x-raw,format=I420,width=1280,height=720,framerate=25/1 ! x264enc speed-preset=ultrafast ! h264parse ! mp4mux ! filesink location={}",
        path.display()
    ));
    for (max_width, size) in [(640, (640, 360)), (2000, (1280, 720))] {
        let (_, record) = play(SourceSpec { max_width, ..SourceSpec::file("film", &path) });
        assert!(record.calls().iter().all(|c| !matches!(c, Call::Frame { size: s, .. } if *s != size)));
        assert_eq!(record.frames().len(), 5);
    }
}

#[test]
fn pictures_of_odd_sizes_and_formats_are_delivered_whole() {
    let folder = tempfile::tempdir().unwrap();
    for (format, width, height, encoder, name) in [
        ("I420", 97, 61, "jpegenc ! avimux", "odd.avi"),
        ("I420", 16, 1200, "jpegenc ! avimux", "thin.avi"),
        ("Y444_10LE", 321, 241, "x264enc speed-preset=ultrafast ! h264parse ! matroskamux", "deep.mkv"),
        ("GRAY8", 33, 17, "jpegenc ! avimux", "grey.avi"),
    ] {
        let path = folder.path().join(name);
        make(&format!(
            "videotestsrc num-buffers=5 ! video/x-raw,format={format},width={width},height={height},framerate=25/1 ! {encoder} ! filesink location={}",
            path.display()
        ));
        let (status, record) = play(SourceSpec::file("film", &path));
        assert_eq!((status.state, status.error), (SourceState::Ended, None), "{name}");
        assert_eq!(record.frames().len(), 5, "{name}");
        assert!(status.dropped.is_empty(), "{name}: {:?}", status.dropped);
    }
}

#[test]
fn eight_channels_are_heard_as_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("eight.wav");
    make(&format!(
        "audiotestsrc num-buffers=50 samplesperbuffer=960 ! audio/x-raw,format=S16LE,rate=48000,channels=8,channel-mask=(bitmask)0xc3f ! wavenc ! filesink location={}",
        path.display()
    ));
    let (status, record) = play(SourceSpec::file("array", &path));
    assert_eq!((status.state, status.error), (SourceState::Ended, None));
    assert!(record.samples().abs_diff(16_000) < 800, "a second at 16 kHz: {}", record.samples());
    let loudest = record.calls().iter().fold(0.0_f32, |most, call| match call {
        Call::Audio { samples, .. } => samples.iter().fold(most, |most, sample| most.max(sample.abs())),
        _ => most,
    });
    assert!(loudest > 0.05, "none of the channels is lost: {loudest}");
}
