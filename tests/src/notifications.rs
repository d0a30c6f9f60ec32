//! The end of systemd's notification socket that systemd has.

use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// Hears what a service tells systemd.
#[derive(Debug)]
pub struct Notifications {
    path: PathBuf,
    socket: UnixDatagram,
    heard: Vec<String>,
}

impl Notifications {
    /// Listens at `path`, for `NOTIFY_SOCKET`.
    ///
    /// # Errors
    /// If the socket cannot be made.
    pub fn listen(path: &Path) -> Result<Self> {
        let socket = UnixDatagram::bind(path).with_context(|| format!("cannot listen at {}", path.display()))?;
        Ok(Self { path: path.to_owned(), socket, heard: Vec::new() })
    }

    /// Where the service is to speak.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Everything heard so far, in order, a line each: `READY=1`, `STATUS=…`, `WATCHDOG=1`.
    pub fn heard(&self) -> &[String] {
        &self.heard
    }

    /// How often a line was heard.
    pub fn count(&self, line: &str) -> usize {
        self.heard.iter().filter(|heard| *heard == line).count()
    }

    /// Listens until what was heard satisfies `wanted`.
    ///
    /// # Errors
    /// If it does not within `deadline`; the error shows what was heard.
    pub fn until(&mut self, what: &str, deadline: Duration, wanted: impl Fn(&Self) -> bool) -> Result<()> {
        let end = Instant::now() + deadline;
        let mut buffer = [0; 4096];
        while !wanted(self) {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                bail!("{what}: not within {deadline:?}; systemd heard:\n{}", self.heard.join("\n"));
            }
            self.socket.set_read_timeout(Some(left))?;
            match self.socket.recv(&mut buffer) {
                Ok(length) => {
                    let text = String::from_utf8_lossy(&buffer[..length]);
                    self.heard.extend(text.lines().map(str::to_owned));
                }
                Err(error) if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {
                }
                Err(error) => return Err(error).context("the notification socket broke"),
            }
        }
        Ok(())
    }
}
