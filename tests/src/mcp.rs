//! `engram mcp` as a client starts it: JSON-RPC, a line each, over its stdin and stdout.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::{engram_command, until};

/// Lines that wait to be read by the test.
const LINES: usize = 100_000;

/// A client and the program that it started; killed when dropped.
#[derive(Debug)]
pub struct McpClient {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    /// Replies to other requests than the one that was waited for.
    kept: Vec<Value>,
    next: u64,
}

impl McpClient {
    /// Starts `engram mcp` with a configuration and more words; says nothing yet.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn spawn(config: &Path, words: &[&str]) -> Result<Self> {
        let mut command = engram_command()?;
        command.arg("mcp").arg("--config").arg(config).args(words);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start engram mcp")?;
        let stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let (say, lines) = sync_channel(LINES);
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let message = serde_json::from_str(&line).unwrap_or_else(|_| json!({"not JSON": line}));
                if say.send(message).is_err() {
                    break;
                }
            }
        });
        let stdin = child.stdin.take();
        Ok(Self { child, stdin, lines, kept: Vec::new(), next: 0 })
    }

    /// Starts it and shakes hands.
    ///
    /// # Errors
    /// If it does not answer as the protocol wants.
    pub fn start(config: &Path, words: &[&str]) -> Result<Self> {
        let mut client = Self::spawn(config, words)?;
        client.initialize()?;
        Ok(client)
    }

    /// Shakes hands; returns what the server says of itself.
    ///
    /// # Errors
    /// If it does not answer.
    pub fn initialize(&mut self) -> Result<Value> {
        let reply = self.request(
            "initialize",
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}),
        )?;
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string())?;
        Ok(reply["result"].clone())
    }

    /// Writes one line as it is.
    ///
    /// # Errors
    /// If the program has closed its end.
    pub fn send(&mut self, line: &str) -> Result<()> {
        let stdin = self.stdin.as_mut().context("stdin is closed")?;
        stdin
            .write_all([line, "\n"].concat().as_bytes())
            .and_then(|()| stdin.flush())
            .context("engram mcp does not read")
    }

    /// Writes a request and returns its id.
    ///
    /// # Errors
    /// If the program has closed its end.
    pub fn request_later(&mut self, method: &str, params: Value) -> Result<u64> {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string())?;
        Ok(id)
    }

    /// Waits for the message with this id; null for an error that belongs to no request.
    ///
    /// # Errors
    /// If it does not come.
    pub fn reply(&mut self, id: &Value, deadline: Duration) -> Result<Value> {
        if let Some(place) = self.kept.iter().position(|message| message["id"] == *id) {
            return Ok(self.kept.swap_remove(place));
        }
        let end = Instant::now() + deadline;
        loop {
            match self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(message) if message["id"] == *id => return Ok(message),
                Ok(message) => self.kept.push(message),
                Err(RecvTimeoutError::Timeout) => bail!("no reply to {id} within {deadline:?}"),
                Err(RecvTimeoutError::Disconnected) => bail!("engram mcp ended before it replied to {id}"),
            }
        }
    }

    /// Sends a request and waits for its reply, an error included.
    ///
    /// # Errors
    /// If none comes.
    pub fn request(&mut self, method: &str, params: Value) -> Result<Value> {
        let id = self.request_later(method, params)?;
        self.reply(&id.into(), crate::SOON)
    }

    /// Calls a tool. Returns whether it failed, and its result as JSON.
    ///
    /// # Errors
    /// If the call is no call, or no reply comes.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Result<(bool, Value)> {
        let reply = self.request("tools/call", json!({"name": tool, "arguments": arguments}))?;
        ensure!(reply["error"].is_null(), "{tool}: {reply}");
        read_result(&reply["result"])
    }

    /// Calls a tool that works; returns its result.
    ///
    /// # Errors
    /// If it fails.
    pub fn result(&mut self, tool: &str, arguments: Value) -> Result<Value> {
        let (failed, body) = self.call(tool, arguments)?;
        ensure!(!failed, "{tool}: {body}");
        Ok(body)
    }

    /// Resident memory of the program, MiB.
    ///
    /// # Errors
    /// If it has ended.
    pub fn resident_mib(&self) -> Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).context("it has ended")?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
        let kib: u64 = line.trim().trim_end_matches(" kB").parse().context("VmRSS is no number")?;
        Ok(kib / 1024)
    }

    /// Closes stdin and waits for the end of the program; returns its exit code.
    ///
    /// # Errors
    /// If it goes on.
    pub fn close(mut self) -> Result<Option<i32>> {
        self.stdin = None;
        let child = &mut self.child;
        let status = until("end of engram mcp", crate::SOON, || Ok(child.try_wait()?))?;
        Ok(status.code())
    }
}

/// The text of a tool's result as JSON, and whether the tool failed.
///
/// # Errors
/// If there is none.
pub fn read_result(result: &Value) -> Result<(bool, Value)> {
    let content = result["content"].as_array().with_context(|| format!("no content in {result}"))?;
    let text =
        content.iter().find_map(|block| block["text"].as_str()).with_context(|| format!("no text in {result}"))?;
    let body = serde_json::from_str(text).with_context(|| format!("not JSON: {text}"))?;
    Ok((result["isError"] == true, body))
}

impl Drop for McpClient {
    fn drop(&mut self) {
        // An error means that it is gone already.
        if matches!(self.child.try_wait(), Ok(None)) {
            self.child.kill().ok();
            self.child.wait().ok();
        }
    }
}
