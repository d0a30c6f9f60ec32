//! Who delivers: a network camera, a program with shared memory, a sound server. Each can fail as the real one does.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use gstreamer as gst;
use gstreamer::prelude::*;
use rustix::process::{Pid, Signal, kill_process};

use super::DEADLINE;

fn signal(child: &Child, signal: Signal) {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a child has an id");
    kill_process(pid, signal).expect("the child is there");
}

/// A network camera in a process of its own, so that it can die.
pub struct NetworkCamera {
    child: Child,
    commands: ChildStdin,
    said: BufReader<ChildStdout>,
}

impl NetworkCamera {
    /// `None` where no RTSP server is installed.
    pub fn start(port: u16) -> Option<(Self, u16)> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/media/rtsp_server.py");
        // GStreamer's bindings belong to the system's Python, which need not be the first in the path.
        let mut child = Command::new("/usr/bin/python3")
            .arg(script)
            .arg(port.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let mut camera = Self { commands: child.stdin.take()?, said: BufReader::new(child.stdout.take()?), child };
        let port = camera.line().parse().ok()?;
        Some((camera, port))
    }

    /// The same, with a line where there is none.
    pub fn start_or_say() -> Option<(Self, u16)> {
        let started = Self::start(0);
        if started.is_none() {
            println!("SKIPPED: no GStreamer RTSP server (gir1.2-gst-rtsp-server-1.0, python3-gi)");
        }
        started
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.said.read_line(&mut line).expect("the camera speaks");
        line.trim().to_owned()
    }

    /// Gives it a command and waits until it is obeyed.
    pub fn tell(&mut self, command: &str) {
        writeln!(self.commands, "{command}").expect("the camera listens");
        assert_eq!(self.line(), "done", "{command}");
    }

    /// Stops the whole camera as it is, or lets it go on: the kernel keeps its connections.
    pub fn freeze(&self, frozen: bool) {
        signal(&self.child, if frozen { Signal::STOP } else { Signal::CONT });
    }
}

impl Drop for NetworkCamera {
    fn drop(&mut self) {
        self.child.kill().expect("it can be killed");
        self.child.wait().expect("it was started here");
    }
}

/// Another program that offers its pictures in shared memory.
pub struct Peer(gst::Element);

impl Peer {
    pub const CAPS: &str = "video/x-raw,format=I420,width=64,height=48,framerate=25/1";

    pub fn start(socket: &Path) -> Self {
        gst::init().expect("GStreamer starts");
        let peer = gst::parse::launch(&format!(
            "videotestsrc is-live=true ! {} ! shmsink socket-path={} wait-for-connection=false shm-size=4000000",
            Self::CAPS,
            socket.display()
        ))
        .expect("the peer's pipeline is valid");
        peer.set_state(gst::State::Playing).expect("the peer starts");
        Self(peer)
    }

    /// Nothing is sent any more, or again; who is connected stays so.
    pub fn hold(&self, held: bool) {
        self.0.set_state(if held { gst::State::Paused } else { gst::State::Playing }).expect("the peer obeys");
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.0.set_state(gst::State::Null).expect("the peer stops");
    }
}

/// A sound server of our own, with a microphone that can be unplugged: a null sink with a tone in it.
pub struct Microphone {
    folder: tempfile::TempDir,
    server: Child,
    /// What is heard. It also keeps the null sink awake, which by itself sleeps for two seconds at a time.
    tone: Option<gst::Element>,
}

impl Microphone {
    /// Its name.
    pub const NAME: &str = "mic.monitor";

    /// `None`, with a line, where PulseAudio is not installed.
    pub fn start() -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let server = Self::serve(folder.path());
        if server.is_none() {
            println!("SKIPPED: no PulseAudio (pulseaudio, pulseaudio-utils)");
        }
        let mut microphone = Self { folder, server: server?, tone: None };
        microphone.await_ready();
        microphone.plug();
        Some(microphone)
    }

    fn serve(folder: &Path) -> Option<Child> {
        let socket = folder.join("native");
        // A socket that a killed server left behind.
        drop(std::fs::remove_file(&socket));
        Command::new("pulseaudio")
            .args(["-n", "--daemonize=no", "--use-pid-file=no", "--exit-idle-time=-1", "--disable-shm=yes", "-L"])
            .arg(format!("module-native-protocol-unix auth-anonymous=1 socket={}", socket.display()))
            .env("HOME", folder)
            .env("XDG_RUNTIME_DIR", folder)
            .env("PULSE_RUNTIME_PATH", folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .ok()
    }

    /// Its address, as sources and clients take it.
    pub fn server(&self) -> String {
        format!("unix:{}", self.socket().display())
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("native")
    }

    fn pactl(&self, words: &[&str]) -> bool {
        let done = Command::new("pactl").arg("--server").arg(self.server()).args(words).output();
        done.is_ok_and(|done| done.status.success())
    }

    fn await_ready(&self) {
        let deadline = Instant::now() + DEADLINE;
        while !self.pactl(&["info"]) {
            assert!(Instant::now() < deadline, "the sound server never answers");
        }
    }

    /// The microphone is there.
    pub fn plug(&mut self) {
        assert!(self.pactl(&["load-module", "module-null-sink", "sink_name=mic", "rate=48000"]), "the null sink");
        gst::init().expect("GStreamer starts");
        let tone = gst::parse::launch(&format!(
            "audiotestsrc is-live=true ! audioconvert ! pulsesink server={} device=mic buffer-time=100000 latency-time=20000",
            self.server()
        ));
        let tone = tone.expect("the tone's pipeline is valid");
        tone.set_state(gst::State::Playing).expect("the tone starts");
        self.tone = Some(tone);
    }

    fn silence(&mut self) {
        if let Some(tone) = self.tone.take() {
            tone.set_state(gst::State::Null).expect("the tone stops");
        }
    }

    /// The microphone is gone.
    pub fn unplug(&mut self) {
        self.silence();
        assert!(self.pactl(&["unload-module", "module-null-sink"]), "the null sink goes");
    }

    /// The whole server is gone.
    pub fn kill_server(&mut self) {
        self.server.kill().expect("it can be killed");
        self.server.wait().expect("it was started here");
        self.silence();
    }

    /// And back, with the microphone.
    pub fn restart_server(&mut self) {
        self.server = Self::serve(self.folder.path()).expect("it started before");
        self.await_ready();
        self.plug();
    }

    /// Stops the server as it is, or lets it go on.
    pub fn freeze(&self, frozen: bool) {
        signal(&self.server, if frozen { Signal::STOP } else { Signal::CONT });
    }
}

impl Drop for Microphone {
    fn drop(&mut self) {
        // Frozen or dead already: both end here.
        drop(self.server.kill());
        drop(self.server.wait());
        self.silence();
    }
}
