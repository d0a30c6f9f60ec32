//! Child processes: what they said, and an end that is never forgotten.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

use crate::until;

/// A running child whose standard output and error are captured; killed when dropped.
#[derive(Debug)]
pub struct Process {
    name: String,
    child: Child,
    said: Arc<OutputLine>,
    readers: Vec<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct OutputLine {
    lines: Mutex<Vec<String>>,
    more: Condvar,
}

impl Process {
    /// Starts `command`; `name` stands in messages.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(name: &str, command: &mut Command) -> Result<Self> {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {name}: {}", command.get_program().display()))?;
        let said = Arc::new(OutputLine::default());
        let stdout = child.stdout.take().expect("stdout is piped");
        let stderr = child.stderr.take().expect("stderr is piped");
        let readers = vec![follow(stdout, Arc::clone(&said)), follow(stderr, Arc::clone(&said))];
        Ok(Self { name: name.to_owned(), child, said, readers })
    }

    /// Everything said so far, both streams, in order of arrival.
    pub fn output(&self) -> String {
        self.said.lines.lock().expect("no reader panics").join("\n")
    }

    /// Waits for a line that contains `text`.
    ///
    /// # Errors
    /// If there is none within `deadline`.
    pub fn wait_for_line(&self, text: &str, deadline: Duration) -> Result<String> {
        let end = Instant::now() + deadline;
        let mut lines = self.said.lines.lock().expect("no reader panics");
        loop {
            if let Some(line) = lines.iter().find(|line| line.contains(text)) {
                return Ok(line.clone());
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                bail!("{} did not say `{text}` within {deadline:?}; it said:\n{}", self.name, lines.join("\n"));
            }
            lines = self.said.more.wait_timeout(lines, left).expect("no reader panics").0;
        }
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether it has ended, and how.
    ///
    /// # Errors
    /// If the system cannot tell.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>> {
        self.child.try_wait().with_context(|| format!("cannot look after {}", self.name))
    }

    /// Sends a signal to this process and no other.
    ///
    /// # Errors
    /// If it is gone.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        let id = i32::try_from(self.child.id()).expect("process ids are positive");
        let id = Pid::from_raw(id).expect("a child's id is not zero");
        kill_process(id, signal).with_context(|| format!("cannot signal {}", self.name))
    }

    /// Waits for the end.
    ///
    /// # Errors
    /// If it still runs after `deadline`.
    pub fn wait(&mut self, deadline: Duration) -> Result<ExitStatus> {
        let name = format!("end of {}", self.name);
        let child = &mut self.child;
        let status = until(&name, deadline, || Ok(child.try_wait()?))
            .with_context(|| format!("it said:\n{}", self.said.lines.lock().expect("no reader panics").join("\n")))?;
        self.drain();
        Ok(status)
    }

    /// Ends it without warning and waits until it is gone.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn kill(&mut self) -> Result<()> {
        self.child.kill().with_context(|| format!("cannot kill {}", self.name))?;
        self.child.wait().with_context(|| format!("cannot wait for {}", self.name))?;
        self.drain();
        Ok(())
    }

    /// Waits until all that was said is read; the streams end with the process.
    fn drain(&mut self) {
        for reader in self.readers.drain(..) {
            reader.join().expect("no reader panics");
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // An error means that it is gone already.
        if matches!(self.child.try_wait(), Ok(None)) {
            self.child.kill().ok();
            self.child.wait().ok();
        }
    }
}

fn follow(stream: impl Read + Send + 'static, said: Arc<OutputLine>) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut stream = BufReader::new(stream);
        let mut line = Vec::new();
        while stream.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            let text = String::from_utf8_lossy(&line).trim_end().to_owned();
            said.lines.lock().expect("no reader panics").push(text);
            said.more.notify_all();
            line.clear();
        }
    })
}

/// How a command ended and what it said.
#[derive(Debug, Clone)]
pub struct Finished {
    /// Exit code; `None` after a signal.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// Runs a command to its end.
///
/// # Errors
/// If it cannot be started or runs longer than `deadline`; then it is killed.
pub fn run_to_end(command: &mut Command, deadline: Duration) -> Result<Finished> {
    let name = command.get_program().display().to_string();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {name}"))?;
    let stdout = collect(child.stdout.take().expect("stdout is piped"));
    let stderr = collect(child.stderr.take().expect("stderr is piped"));
    let ended = until(&format!("end of {name}"), deadline, || Ok(child.try_wait()?));
    if ended.is_err() {
        child.kill().ok();
        child.wait().ok();
    }
    let stdout = stdout.join().expect("no reader panics");
    let stderr = stderr.join().expect("no reader panics");
    let status = ended.with_context(|| format!("it said:\n{stdout}\n{stderr}"))?;
    Ok(Finished { code: status.code(), stdout, stderr })
}

fn collect(mut stream: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // A broken pipe ends the text, as the end of the process does.
        stream.read_to_end(&mut bytes).ok();
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
