//! The parent's side of a builder.

use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::work::{ChildMessage, LINE_PREFIX, Request};
use super::{BuilderCommand, TensorRtError};

/// Interval at which a build in progress is reported.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// Maximum length of the child's error output that is kept, in characters.
const MAX_ERROR_CHARS: usize = 600;

/// How far a build is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildStage {
    /// `waiting`, `parsing`, `building`, `writing` or `running`.
    pub stage: String,
    /// How much of it is done, where the library tells: TensorRT from 10 on, while it builds. It builds in phases, and each counts anew.
    pub percent: Option<u8>,
    /// Time since it began.
    pub elapsed: Duration,
}

impl fmt::Display for BuildStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.stage)?;
        self.percent.map_or(Ok(()), |percent| write!(f, ", {percent} %"))
    }
}

/// Runs the builder on a request. `progress` is called at every stage and every second; it runs on this thread.
///
/// # Errors
/// What the builder says, or how it ended.
pub(super) fn run(
    command: &BuilderCommand,
    request: &Request,
    patience: Duration,
    progress: &mut dyn FnMut(&BuildStage),
) -> Result<(), TensorRtError> {
    let failed = |message: String| TensorRtError::BuildFailed { message };
    let begin = Instant::now();
    let text = serde_json::to_string(request).map_err(|error| failed(error.to_string()))?;
    let mut child = Command::new(&command.program)
        .args(&command.arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| failed(format!("the builder {} does not start: {error}", command.program.display())))?;
    let (sender, said) = sync_channel(16);
    let reader = follow(child.stdout.take().expect("piped"), sender);
    let complaints = last_words(child.stderr.take().expect("piped"));
    // A child that ends before it has read everything says why by how it ends.
    drop(child.stdin.take().expect("piped").write_all(text.as_bytes()));

    let (mut stage, mut percent) = ("waiting".to_owned(), None);
    let mut outcome = None;
    let end = loop {
        let elapsed = begin.elapsed();
        let Some(left) = patience.checked_sub(elapsed) else { break End::TooLong };
        match said.recv_timeout(left.min(HEARTBEAT)) {
            Ok(ChildMessage::Stage(next)) => (stage, percent) = (next, None),
            Ok(ChildMessage::Percent(done)) => percent = Some(done),
            Ok(ChildMessage::Done) => outcome = Some(Ok(())),
            Ok(ChildMessage::Failed(error)) => outcome = Some(Err(error)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break End::Closed,
        }
        progress(&BuildStage { stage: stage.clone(), percent, elapsed: begin.elapsed() });
    };
    let status = ended(&mut child, matches!(end, End::TooLong));
    drop(reader.join());
    let complaints = complaints.join().unwrap_or_default();
    if let End::TooLong = end {
        let message = format!("stopped after {patience:?} at {stage}: models.tensorrt.patience_min gives it longer");
        return Err(failed(message));
    }
    outcome.unwrap_or_else(|| Err(crashed(command, status, &stage, &complaints)))
}

enum End {
    /// Its standard output was closed: it ended, or is about to.
    Closed,
    TooLong,
}

fn ended(child: &mut Child, kill: bool) -> std::io::Result<ExitStatus> {
    if kill {
        child.kill()?;
    }
    child.wait()
}

fn follow(stdout: ChildStdout, sender: SyncSender<ChildMessage>) -> JoinHandle<()> {
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            let Some((_, json)) = line.split_once(LINE_PREFIX) else { continue };
            if let Ok(said) = serde_json::from_str(json)
                && sender.send(said).is_err()
            {
                break;
            }
        }
    })
}

fn last_words(mut stderr: ChildStderr) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        let mut block = [0; 4096];
        while let Ok(read @ 1..) = stderr.read(&mut block) {
            kept.extend_from_slice(&block[..read]);
            let surplus = kept.len().saturating_sub(MAX_ERROR_CHARS);
            kept.drain(..surplus);
        }
        String::from_utf8_lossy(&kept).trim().replace('\n', "; ")
    })
}

/// A builder that ended without a word. It is named: where it cannot be started, the system may say so by how it ends.
fn crashed(
    command: &BuilderCommand,
    status: std::io::Result<ExitStatus>,
    stage: &str,
    complaints: &str,
) -> TensorRtError {
    const KILL: i32 = 9;
    let program = command.program.display();
    let said = if complaints.is_empty() { String::new() } else { format!("; it said: {complaints}") };
    match status {
        Ok(status) if status.signal() == Some(KILL) => TensorRtError::OutOfMemory {
            message: format!("the builder was killed while {stage}, most probably for memory{said}"),
        },
        Ok(status) => TensorRtError::BuildFailed {
            message: format!("the builder {program} ended with {status} while {stage}{said}"),
        },
        Err(error) => TensorRtError::BuildFailed { message: format!("the builder cannot be waited for: {error}") },
    }
}
