//! Cameras and microphones that die, hang, change and return: what is perceived of it, what is recorded, and what is said.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // Tests fail by panicking, and say what they measured.

mod media;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use drivers::archive::{Archive, ArchiveLimits, Recorder};
use drivers::capture::{SourceHandle, SourceKind, SourceSpec, SourceState, SourceStatus};
use media::{Call, Microphone, NetworkCamera, Peer, Record, await_status, check_contract, chunks, played};
use memory_core::{Clock, SystemClock, TimeSpan, Timestamp};

/// What returns is perceived again within this time: the product's bar, which a machine at rest meets in half of it.
const RECOVERY: Duration = Duration::from_secs(5);
/// Between a moment and its picture: the jitter buffer, and the clock of another process.
const SLACK: Duration = Duration::from_millis(500);

fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

/// A source that is perceived and recorded.
struct Watched {
    source: SourceHandle,
    record: Record,
    archive: Arc<Archive>,
    folder: tempfile::TempDir,
    clock: Arc<SystemClock>,
}

impl Watched {
    fn start(spec: SourceSpec) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let limits = ArchiveLimits { budget_bytes: 1 << 30, keep_free_bytes: 0, chunk: secs(2) };
        let archive = Arc::new(Archive::open(folder.path(), limits).unwrap());
        let recorder = Recorder::start(Arc::clone(&archive), &spec.name).unwrap();
        let record = Record::default();
        let consumer = media::CallRecorder { record: record.clone(), interval: Duration::from_millis(100) };
        let clock = Arc::new(SystemClock::new());
        let source =
            SourceHandle::start_with(spec, Box::new(consumer), Arc::clone(&clock) as _, false, Some(recorder)).unwrap();
        Self { source, record, archive, folder, clock }
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn status(&self, what: &str, holds: impl Fn(&SourceStatus) -> bool) -> SourceStatus {
        await_status(&self.source, what, holds)
    }

    /// Waits for a picture, or sound, of a moment after `back`; says how long after.
    fn seen_again(&self, back: Timestamp) -> Duration {
        let mut first = None;
        self.record.wait("anything after the return", |calls| {
            first = calls.iter().filter_map(wall).find(|wall| *wall > back);
            first.is_some()
        });
        let took = first.unwrap().since(back);
        println!("seen again {:.2} s after its return", took.as_secs_f64());
        assert!(took < RECOVERY, "{took:?}");
        took
    }

    /// Stops it. Nothing was perceived or recorded from `gone` to `back`, and no part of what was perceived spans that.
    fn gap(self, gone: Timestamp, back: Timestamp) {
        self.source.stop();
        let calls = self.record.calls();
        check_contract(&calls);
        let (from, until) = (gone.saturating_add(SLACK), back);
        assert!(from < until, "a gap too short to be judged");
        let inside = |at: Timestamp| at > from && at < until;
        assert!(!calls.iter().filter_map(wall).any(inside), "something was perceived while nothing was there");
        let mut start = None;
        let mut begun = None;
        for call in &calls {
            match call {
                Call::Begin { start: of, .. } => (start, begun) = (Some(*of), None),
                Call::End(stream) => {
                    let end = start.unwrap().saturating_add(*stream);
                    assert!(
                        !begun.is_some_and(|begun| begun < from && end > until),
                        "{begun:?} to {end:?} spans the gap"
                    );
                }
                other => begun = begun.or(wall(other)),
            }
        }
        let span = TimeSpan::new(from, until);
        assert_eq!(self.archive.covering(None, span), vec![], "recorded in the gap {span:?}");
        let recorded = std::fs::read_dir(self.folder.path()).unwrap().flatten();
        let names: Vec<String> = recorded.map(|entry| entry.file_name().into_string().unwrap()).collect();
        for path in names.iter().flat_map(|name| chunks(self.folder.path(), name)) {
            let shown: Vec<Duration> = match self.source.status().frames {
                0 => media::heard(&path),
                _ => played(&path).0.into_iter().map(|(at, _)| at).collect(),
            };
            let still = shown.windows(2).find(|pair| pair[1] - pair[0] > SLACK);
            assert_eq!(still, None, "{} has seconds that nobody perceived", path.display());
        }
    }
}

fn wall(call: &Call) -> Option<Timestamp> {
    match call {
        Call::Frame { wall, .. } | Call::Audio { wall, .. } => Some(*wall),
        _ => None,
    }
}

fn frames(calls: &[Call]) -> usize {
    calls.iter().filter(|call| matches!(call, Call::Frame { .. })).count()
}

fn sounds(calls: &[Call]) -> usize {
    calls.iter().filter(|call| matches!(call, Call::Audio { .. })).count()
}

/// H.264 and Opus over RTSP, with the limits of the product.
fn network(port: u16) -> SourceSpec {
    let url = format!("rtsp://127.0.0.1:{port}/opus");
    SourceSpec::new("gate", SourceKind::Rtsp { url, latency: Duration::from_millis(100) })
}

fn sight_and_sound(watched: &Watched) {
    watched.record.wait("pictures and sound", |calls| frames(calls) >= 30 && sounds(calls) >= 50);
}

#[test]
fn a_network_camera_that_dies_returns_with_another_size_and_leaves_a_gap() {
    let Some((camera, port)) = NetworkCamera::start_or_say() else { return };
    let watched = Watched::start(network(port));
    sight_and_sound(&watched);
    drop(camera);
    let gone = watched.now();
    let status = watched.status("in trouble for long", |status| status.restarts >= 3);
    assert_eq!(status.state, SourceState::Backoff);
    assert!(status.error.unwrap().contains("127.0.0.1"));
    let (mut camera, _) = NetworkCamera::start(port).unwrap();
    camera.tell("size 160 120");
    let back = watched.now();
    watched.seen_again(back);
    watched
        .record
        .wait("the other size", |calls| calls.iter().any(|call| matches!(call, Call::Frame { size: (160, 120), .. })));
    let status = watched.status("well again", |status| status.state == SourceState::Running);
    assert_eq!(status.error, None);
    watched.gap(gone, back);
}

#[test]
fn a_network_camera_that_freezes_with_its_connection_open_leaves_a_gap() {
    let Some((camera, port)) = NetworkCamera::start_or_say() else { return };
    let watched = Watched::start(SourceSpec { watchdog: secs(1), ..network(port) });
    sight_and_sound(&watched);
    camera.freeze(true);
    let gone = watched.now();
    let status = watched.status("hung", |status| status.state == SourceState::Backoff);
    assert!(status.error.unwrap().contains("no picture"));
    watched.status("tried again", |status| status.restarts >= 2);
    let back = watched.now();
    camera.freeze(false);
    watched.seen_again(back);
    watched.gap(gone, back);
}

#[test]
fn a_network_camera_that_sends_nothing_to_anybody_is_seen_again_when_it_does() {
    let Some((mut camera, port)) = NetworkCamera::start_or_say() else { return };
    let watched = Watched::start(SourceSpec { watchdog: secs(1), ..network(port) });
    sight_and_sound(&watched);
    camera.tell("hold");
    let gone = watched.now();
    let status = watched.status("hung", |status| status.state == SourceState::Backoff);
    assert!(status.error.unwrap().contains("no picture"));
    let back = watched.now();
    camera.tell("go");
    watched.seen_again(back);
    watched.gap(gone, back);
}

#[test]
fn a_short_standstill_parts_what_is_perceived_without_a_restart() {
    let Some((mut camera, port)) = NetworkCamera::start_or_say() else { return };
    let watched = Watched::start(SourceSpec { watchdog: secs(30), ..network(port) });
    sight_and_sound(&watched);
    camera.tell("hold");
    let gone = watched.now();
    watched.status("still for three seconds", |status| status.age > Some(secs(3)));
    let back = watched.now();
    camera.tell("go");
    watched.seen_again(back);
    let status = watched.source.status();
    assert_eq!((status.restarts, status.gaps, status.state), (0, 1, SourceState::Running));
    let begins = watched.record.begins();
    assert!(begins.len() == 2 && begins[0] == begins[1], "the session goes on: {begins:?}");
    watched.gap(gone, back);
}

#[test]
fn a_camera_that_changes_its_size_is_perceived_and_recorded_on() {
    let Some((mut camera, port)) = NetworkCamera::start_or_say() else { return };
    let watched = Watched::start(network(port));
    sight_and_sound(&watched);
    camera.tell("size 640 480");
    watched.record.wait("the new size", |calls| {
        calls.iter().filter(|call| matches!(call, Call::Frame { size: (640, 480), .. })).count() >= 30
    });
    let status = watched.source.status();
    assert_eq!((status.restarts, status.gaps, status.error), (0, 0, None));
    watched.source.stop();
    check_contract(&watched.record.calls());
    let sizes: Vec<_> = chunks(watched.folder.path(), "gate").iter().map(|path| media::size_of(path)).collect();
    assert!(sizes.contains(&(320, 180)) && sizes.contains(&(640, 480)), "{sizes:?}");
}

#[test]
fn shared_memory_that_stands_still_leaves_a_gap() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("camera.sock");
    let peer = Peer::start(&socket);
    let kind = SourceKind::Shm { socket, caps: Peer::CAPS.into() };
    let watched = Watched::start(SourceSpec { watchdog: secs(1), ..SourceSpec::new("shared", kind) });
    watched.record.wait("pictures", |calls| frames(calls) >= 20);
    peer.hold(true);
    let gone = watched.now();
    let status = watched.status("hung", |status| status.state == SourceState::Backoff);
    assert!(status.error.unwrap().contains("camera.sock"));
    watched.status("tried again", |status| status.restarts >= 1);
    let back = watched.now();
    peer.hold(false);
    watched.seen_again(back);
    watched.gap(gone, back);
}

fn listening(microphone: &Microphone) -> Watched {
    let (device, server) = (Some(Microphone::NAME.to_owned()), Some(microphone.server()));
    hearing(SourceKind::Pulse { device, server })
}

fn hearing(kind: SourceKind) -> Watched {
    let watched = Watched::start(SourceSpec { watchdog: secs(1), ..SourceSpec::new("ears", kind) });
    watched.record.wait("two seconds of sound", |calls| {
        let samples = calls.iter().map(|call| if let Call::Audio { samples, .. } = call { samples.len() } else { 0 });
        samples.sum::<usize>() >= 32_000
    });
    watched
}

#[test]
fn a_microphone_that_is_unplugged_leaves_a_gap() {
    let Some(mut microphone) = Microphone::start() else { return };
    let watched = listening(&microphone);
    microphone.unplug();
    let gone = watched.now();
    let status = watched.status("in trouble", |status| status.restarts >= 2);
    assert_eq!(status.state, SourceState::Backoff);
    assert!(status.error.unwrap().contains(Microphone::NAME));
    microphone.plug();
    let back = watched.now();
    watched.seen_again(back);
    watched.gap(gone, back);
}

#[test]
fn a_sound_server_that_dies_leaves_a_gap() {
    let Some(mut microphone) = Microphone::start() else { return };
    let watched = listening(&microphone);
    microphone.kill_server();
    let gone = watched.now();
    watched.status("in trouble", |status| status.restarts >= 2);
    microphone.restart_server();
    let back = watched.now();
    watched.seen_again(back);
    watched.gap(gone, back);
}

#[test]
fn a_sound_server_that_hangs_leaves_a_gap() {
    let Some(microphone) = Microphone::start() else { return };
    let watched = listening(&microphone);
    microphone.freeze(true);
    let gone = watched.now();
    let status = watched.status("hung", |status| status.state == SourceState::Backoff);
    assert!(status.error.unwrap().contains("no sound"));
    let back = watched.now();
    microphone.freeze(false);
    watched.seen_again(back);
    watched.gap(gone, back);
}

/// Names ALSA's configuration in a process of its own, for ALSA reads the name from its environment.
const ALSA_CONFIG: &str = "ALSA_CONFIG_PATH";

/// No sound card is needed: the device is ALSA's, and what is behind it is the microphone that can be unplugged.
#[test]
fn a_microphone_of_alsa_that_is_unplugged_leaves_a_gap() {
    let ours = std::env::var_os("ENGRAM_TEST_ALSA").and_then(|_| std::env::var_os(ALSA_CONFIG));
    let Some(config) = ours else {
        let folder = tempfile::tempdir().unwrap();
        let status = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_microphone_of_alsa_that_is_unplugged_leaves_a_gap", "--nocapture"])
            .env("ENGRAM_TEST_ALSA", "1")
            .env(ALSA_CONFIG, folder.path().join("asound.conf"))
            .status();
        return assert!(status.unwrap().success(), "the test in a process of its own failed");
    };
    let Some(mut microphone) = Microphone::start() else { return };
    if !media::has_element("alsasrc") || !Path::new("/usr/share/alsa/alsa.conf").exists() {
        println!("SKIPPED: no ALSA source (gstreamer1.0-alsa, libasound2-plugins)");
        return;
    }
    let device =
        format!("pcm.ears {{ type pulse server \"{}\" device \"{}\" }}", microphone.server(), Microphone::NAME);
    std::fs::write(config, format!("</usr/share/alsa/alsa.conf>\n{device}\n")).unwrap();
    let watched = hearing(SourceKind::Alsa { device: "ears".into() });
    microphone.unplug();
    let gone = watched.now();
    let status = watched.status("in trouble", |status| status.restarts >= 2);
    assert_eq!(status.state, SourceState::Backoff);
    assert!(status.error.unwrap().contains("microphone ears"));
    microphone.plug();
    let back = watched.now();
    watched.seen_again(back);
    watched.gap(gone, back);
}

#[test]
fn a_camera_that_refuses_and_one_whose_name_is_unknown_are_told_apart() {
    // Bound and closed: nobody listens there.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let said = |url: String| {
        let spec = SourceSpec::new("gate", SourceKind::Rtsp { url, latency: Duration::from_millis(100) });
        drivers::capture::probe(&spec, Duration::from_secs(10)).error.unwrap_or_default()
    };
    let refused = said(format!("rtsp://admin:secret@127.0.0.1:{port}/x"));
    assert!(refused.contains("refuses the connection") && !refused.contains("secret"), "{refused}");
    let unknown = said("rtsp://no-such-camera.invalid/x".to_owned());
    assert!(unknown.contains("`no-such-camera.invalid` is not resolved"), "{unknown}");
}
