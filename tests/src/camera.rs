//! A network camera that can die: GStreamer's RTSP server in a process of its own.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};

use crate::{repository, skipped};

/// H.264 and Opus from 127.0.0.1; killed when dropped.
#[derive(Debug)]
pub struct NetworkCamera {
    child: Child,
    port: u16,
}

impl NetworkCamera {
    /// Starts it on `port`, 0 for a free one. `None`, with a line, where no RTSP server is installed.
    ///
    /// # Errors
    /// If Python is absent.
    pub fn start(port: u16) -> Result<Option<Self>> {
        // GStreamer's bindings belong to the system's Python, which need not be the first in the path.
        let mut child = Command::new("/usr/bin/python3")
            .arg(repository().join("drivers/tests/media/rtsp_server.py"))
            .arg(port.to_string())
            // It ends with this, so it never outlives the test.
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start /usr/bin/python3")?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("stdout is piped")?).read_line(&mut line)?;
        match line.trim().parse() {
            Ok(port) => Ok(Some(Self { child, port })),
            Err(_) => {
                child.wait()?;
                skipped("no GStreamer RTSP server (gir1.2-gst-rtsp-server-1.0, python3-gi)");
                Ok(None)
            }
        }
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Where it shows.
    pub fn url(&self) -> String {
        format!("rtsp://127.0.0.1:{}/opus", self.port)
    }
}

impl Drop for NetworkCamera {
    fn drop(&mut self) {
        // Errors mean that it is gone already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
