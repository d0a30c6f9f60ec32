//! Live sources through real GStreamer pipelines.

mod media;

use std::sync::Arc;
use std::time::Duration;

use drivers::capture::{CameraFormat, SourceKind, SourceSpec, SourceState, plugins_report, probe};
use media::{Call, JumpingClock, NetworkCamera, Peer, await_status, check_contract, start, start_with};

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn pipeline(description: &str) -> SourceSpec {
    SourceSpec {
        backoff_min: ms(10),
        backoff_max: ms(20),
        ..SourceSpec::new("raw", SourceKind::Pipeline { description: description.into() })
    }
}

fn count(calls: &[Call], which: impl Fn(&Call) -> bool) -> usize {
    calls.iter().filter(|call| which(call)).count()
}

fn is_frame(call: &Call) -> bool {
    matches!(call, Call::Frame { .. })
}

fn is_audio(call: &Call) -> bool {
    matches!(call, Call::Audio { .. })
}

fn is_begin(call: &Call) -> bool {
    matches!(call, Call::Begin { .. })
}

#[test]
fn the_test_source_delivers_pictures_and_sound_in_order() {
    let (source, record) = start(SourceSpec::new("cam", SourceKind::Test));
    record.wait("pictures and sound", |calls| count(calls, is_frame) >= 20 && count(calls, is_audio) >= 20);
    let status = source.status();
    assert_eq!((status.state, status.error, status.restarts), (SourceState::Running, None, 0));
    assert!(status.age.unwrap() < Duration::from_secs(5));
    source.stop();
    assert_eq!(source.status().state, SourceState::Ended);
    check_contract(&record.calls());
    assert!(record.begins()[0].0.starts_with("cam-"), "{:?}", record.begins());
}

#[test]
fn pictures_that_nobody_wants_are_skipped_and_not_dropped() {
    let clock = Arc::new(memory_core::SystemClock::new());
    let (source, record) = start_with(SourceSpec::new("cam", SourceKind::Test), ms(400), clock);
    record.wait("three pictures", |calls| count(calls, is_frame) >= 3);
    let status = source.status();
    assert!(status.frames_skipped >= 10, "{status:?}");
    assert!(status.dropped.is_empty(), "{status:?}");
}

#[test]
fn a_slow_consumer_loses_the_oldest_pictures_and_they_are_counted() {
    let (source, record) = start(pipeline(
        "videotestsrc is-live=true ! video/x-raw,width=64,height=48,framerate=100/1 ! appsink name=video",
    ));
    record.gate(true);
    record.wait("a picture", |calls| count(calls, is_frame) == 1);
    await_status(&source, "twenty evictions", |status| status.dropped.get("queue_full") >= Some(&20));
    record.gate(false);
    record.wait("what was left", |calls| count(calls, is_frame) >= 10);
    source.stop();
    check_contract(&record.calls());
    let frames = record.frames();
    assert!(frames[1].0 - frames[0].0 >= ms(200), "the oldest gave way: {:?}", &frames[..3]);
}

#[test]
fn a_source_that_hangs_is_restarted_even_while_its_sound_goes_on() {
    let spec = SourceSpec {
        watchdog: ms(200),
        ..pipeline(
            "videotestsrc is-live=true ! valve drop=true ! appsink name=video \
             audiotestsrc is-live=true ! audioconvert ! audioresample ! appsink name=audio",
        )
    };
    let (source, record) = start(spec);
    let status = await_status(&source, "restarted twice", |status| status.restarts >= 2);
    assert!(status.error.is_none_or(|error| error.contains("picture")));
    let status = await_status(&source, "says why", |status| status.state == SourceState::Backoff);
    assert!(status.error.unwrap().contains("no picture"));
    record.wait("sound of two sessions", |calls| count(calls, is_begin) >= 2);
    source.stop();
    check_contract(&record.calls());
}

#[test]
fn a_live_source_that_ends_begins_a_new_session() {
    let (source, record) = start(pipeline(
        "videotestsrc is-live=true num-buffers=5 ! video/x-raw,width=64,height=48,framerate=50/1 ! appsink name=video",
    ));
    record.wait("three sessions", |calls| count(calls, is_begin) >= 3);
    source.stop();
    let calls = record.calls();
    check_contract(&calls);
    let first_end = calls.iter().position(|call| matches!(call, Call::End(_))).unwrap();
    assert_eq!(count(&calls[..first_end], is_frame), 5, "what came before the end is not lost");
    let begins = record.begins();
    assert!(begins.windows(2).all(|pair| pair[0].0 != pair[1].0 && pair[0].1 < pair[1].1), "{begins:?}");
}

#[test]
fn a_paused_camera_is_closed_and_resumes_with_a_new_session() {
    let (source, record) = start(SourceSpec::new("cam", SourceKind::Test));
    record.wait("a picture", |calls| count(calls, is_frame) >= 1);
    source.pause();
    await_status(&source, "paused", |status| status.state == SourceState::Paused);
    let at_pause = record.calls();
    check_contract(&at_pause);
    assert!(matches!(at_pause.last(), Some(Call::End(_))));
    source.resume();
    record.wait("the second session", |calls| count(calls, is_begin) == 2);
    record.wait("more pictures", |calls| count(calls, is_frame) > count(&at_pause, is_frame));
    assert_eq!(source.status().restarts, 0);
    source.stop();
    check_contract(&record.calls());
}

#[test]
fn a_source_that_is_paused_before_it_starts_opens_nothing_until_resumed() {
    let spec = SourceSpec::new("cam", SourceKind::Test);
    let (source, record) = start(spec);
    source.pause();
    await_status(&source, "paused", |status| status.state == SourceState::Paused);
    source.stop();
    check_contract(&record.calls());
}

#[test]
fn a_jump_of_the_wall_clock_shifts_nothing_and_begins_a_session_with_the_right_time() {
    let clock = Arc::new(JumpingClock::new());
    let (source, record) = start_with(SourceSpec::new("cam", SourceKind::Test), Duration::ZERO, clock.clone());
    record.wait("five pictures", |calls| count(calls, is_frame) >= 5);
    clock.set_back(Duration::from_secs(3600));
    record.wait("the second session", |calls| count(calls, is_begin) == 2 && calls.last().is_some_and(is_frame));
    let before = count(&record.calls(), is_frame);
    record.wait("more pictures", |calls| count(calls, is_frame) >= before + 10);
    source.stop();
    assert_eq!(source.status().restarts, 0, "the camera is not touched");
    // Inside each session, wall time is checked against its start for every picture.
    check_contract(&record.calls());
    let starts: Vec<_> = record.begins().into_iter().map(|(_, start)| start).collect();
    let jump = starts[0].since(starts[1]).as_secs_f64();
    assert!((jump - 3600.0).abs() < 1.0, "{starts:?}");
    let frames = record.frames();
    assert!(frames.windows(2).all(|pair| pair[1].0 > pair[0].0 && pair[1].0 - pair[0].0 < Duration::from_secs(5)));
}

#[test]
fn a_peer_that_dies_and_returns_is_picked_up_again() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("camera.sock");
    let spec = SourceSpec {
        backoff_min: ms(20),
        backoff_max: ms(100),
        watchdog: Duration::from_secs(2),
        ..SourceSpec::new(
            "shared",
            SourceKind::Shm {
                socket: socket.clone(),
                caps: "video/x-raw,format=I420,width=64,height=48,framerate=25/1".into(),
            },
        )
    };
    let (source, record) = start(spec);
    let status = await_status(&source, "in backoff while the peer is absent", |status| status.restarts >= 1);
    assert!(status.error.as_ref().is_none_or(|error| error.contains("camera.sock")), "{status:?}");
    let peer = Peer::start(&socket);
    record.wait("pictures", |calls| count(calls, is_frame) >= 5);
    drop(peer);
    record.wait("the end of the session", |calls| matches!(calls.last(), Some(Call::End(_))));
    let peer = Peer::start(&socket);
    record.wait("a second session", |calls| count(calls, is_begin) == 2);
    let before = count(&record.calls(), is_frame);
    record.wait("more pictures", |calls| count(calls, is_frame) > before);
    assert_eq!(source.status().error, None, "what is over is not shown any more");
    source.stop();
    drop(peer);
    check_contract(&record.calls());
}

#[test]
fn a_network_camera_that_dies_and_returns_is_picked_up_again() {
    let Some((camera, port)) = NetworkCamera::start(0) else {
        println!("skipped: no GStreamer RTSP server (gir1.2-gst-rtsp-server-1.0, python3-gi)");
        return;
    };
    let url = format!("rtsp://127.0.0.1:{port}/camera");
    let spec = SourceSpec {
        backoff_min: ms(50),
        backoff_max: ms(200),
        watchdog: Duration::from_secs(3),
        ..SourceSpec::new("gate", SourceKind::Rtsp { url, latency: ms(100) })
    };
    let (source, record) = start(spec);
    record.wait("pictures and sound", |calls| count(calls, is_frame) >= 10 && count(calls, is_audio) >= 10);
    drop(camera);
    record.wait("the end of the session", |calls| matches!(calls.last(), Some(Call::End(_))));
    let status = await_status(&source, "in trouble", |status| status.error.is_some());
    assert!(status.error.unwrap().contains("127.0.0.1"));
    let camera = NetworkCamera::start(port).expect("it started before");
    record.wait("a second session", |calls| count(calls, is_begin) >= 2 && calls.last().is_some_and(is_frame));
    source.stop();
    drop(camera);
    check_contract(&record.calls());
}

#[test]
fn elements_named_video_and_audio_get_what_they_lack() {
    let (source, record) = start(pipeline(
        "videotestsrc is-live=true ! video/x-raw,format=YUY2,width=1280,height=720,framerate=25/1 ! identity name=video \
         audiotestsrc is-live=true ! audio/x-raw,rate=44100,channels=2 ! identity name=audio",
    ));
    record.wait("pictures and sound", |calls| count(calls, is_frame) >= 3 && count(calls, is_audio) >= 3);
    source.stop();
    assert!(record.calls().iter().all(|call| !matches!(call, Call::Frame { size, .. } if *size != (640, 360))));
}

#[test]
fn a_pipeline_that_cannot_work_is_refused_with_advice() {
    for (description, word) in [
        ("videotestsrc ! nosuchelement ! appsink name=video", "gst-launch-1.0"),
        ("videotestsrc ! fakesink", "appsink name=video"),
        ("videotestsrc ! fakesink name=video", "free source pad"),
    ] {
        let (source, _) = start(pipeline(description));
        let status = await_status(&source, "failed", |status| status.state == SourceState::Failed);
        let error = status.error.unwrap();
        assert!(error.contains("raw") && error.contains(word), "{error}");
    }
}

#[test]
fn a_camera_that_is_not_there_is_named_and_tried_again() {
    let kind = SourceKind::V4l2 { device: "/dev/video-that-is-not".into(), format: CameraFormat::default() };
    let (source, _) = start(SourceSpec { backoff_min: ms(10), backoff_max: ms(10), ..SourceSpec::new("cam", kind) });
    let status =
        await_status(&source, "tried again", |status| status.restarts >= 2 && status.state == SourceState::Backoff);
    assert!(status.error.unwrap().contains("/dev/video-that-is-not"));
}

#[test]
fn a_missing_plugin_is_named_with_its_package() {
    let report = plugins_report().unwrap();
    assert!(report.iter().any(|element| element.element == "appsink" && element.present));
    let argus = report.iter().find(|element| element.element == "nvarguscamerasrc").unwrap();
    if argus.present {
        println!("skipped: this is a Jetson");
        return;
    }
    let kind = SourceKind::Argus { sensor: 0, format: CameraFormat::default() };
    let (source, _) = start(SourceSpec::new("cam", kind));
    let status = await_status(&source, "failed", |status| status.state == SourceState::Failed);
    let error = status.error.unwrap();
    assert!(error.contains("nvarguscamerasrc") && error.contains("JetPack") && error.contains("v4l2"), "{error}");
}

#[test]
fn a_probe_tells_what_came_or_why_nothing_did() {
    let report = probe(&SourceSpec::new("cam", SourceKind::Test), media::DEADLINE);
    assert!(report.delivers() && report.error.is_none(), "{report:?}");
    assert_eq!(report.picture, Some((640, 360)));
    assert!(report.first_sound.is_some() && report.sound_level_db.is_some());

    let report = probe(&SourceSpec::file("film", "/nowhere/film.mp4"), media::DEADLINE);
    assert!(!report.delivers());
    assert!(report.error.unwrap().contains("/nowhere/film.mp4"));

    let report = probe(&pipeline("videotestsrc is-live=true ! valve drop=true ! appsink name=video"), ms(300));
    assert!(!report.delivers());
    assert!(report.error.unwrap().contains("nothing came within 0.3 s"));
}
