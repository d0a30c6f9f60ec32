//! A stand-in for a language model: an OpenAI-compatible server on loopback that plays what a test tells it to.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};

/// Largest request that is read.
const LARGEST: usize = 64 << 20;
/// Connections at once.
const CONNECTIONS: usize = 32;
/// How long a request may take to arrive.
const ARRIVAL: Duration = Duration::from_secs(20);
/// What an endless reply sends at a time, and how often.
const DRIP: (&[u8], Duration) = (&[b' '; 512], Duration::from_millis(5));

/// What the stand-in does with one request.
#[derive(Debug, Clone, PartialEq)]
pub enum Play {
    /// A completion that says this.
    Say(String),
    /// A completion that says this, and why it ended.
    SayAndStop(String, &'static str),
    /// The body of a reply, as it is, with status 200.
    Body(String),
    /// A status other than 200, with a page of the server's own, and what it asks to wait, seconds.
    Status(u16, Option<u64>),
    /// A completion that declines in the protocol's own field.
    Refuse,
    /// The same as another play, after a while.
    Slow(Duration, Box<Play>),
    /// The connection is closed in the middle of the reply.
    Cut,
    /// The connection is closed before a reply.
    HangUp,
    /// A reply that never ends.
    Endless,
    /// A reply that is larger than any ceiling, at once.
    Huge,
    /// No HTTP at all.
    Noise,
}

/// One request, as it arrived.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    /// Path.
    pub path: String,
    /// `Authorization`, if it was sent.
    pub authorization: Option<String>,
    /// Body.
    pub body: Value,
}

impl ModelRequest {
    /// The text of the user's first message.
    pub fn text(&self) -> &str {
        let content = &self.body["messages"][1]["content"];
        content.as_str().or_else(|| content[0]["text"].as_str()).unwrap_or_default()
    }

    /// The data between the marks.
    pub fn data(&self) -> Value {
        let line = self.text().lines().nth(1).unwrap_or_default();
        serde_json::from_str(line).unwrap_or_default()
    }

    /// Name of the schema that was asked for, which is the purpose.
    pub fn purpose(&self) -> &str {
        self.body["response_format"]["json_schema"]["name"].as_str().unwrap_or_default()
    }
}

/// The server. It ends with its owner.
pub struct LanguageModel {
    address: SocketAddr,
    shared: Arc<Shared>,
}

/// What to do with a request: its number, and itself.
type Script = Box<dyn Fn(usize, &ModelRequest) -> Play + Send + Sync>;

struct Shared {
    requests: Mutex<Vec<ModelRequest>>,
    count: AtomicUsize,
    open: AtomicUsize,
    /// Requests that have arrived and are not replied to, and the most of them.
    working: AtomicUsize,
    most: AtomicUsize,
    stopped: AtomicBool,
    stop: (Mutex<bool>, Condvar),
    play: Script,
}

impl LanguageModel {
    /// Starts it; `play` is told the number of the request, from 0, and the request.
    ///
    /// # Errors
    /// If there is no free port.
    pub fn start(play: impl Fn(usize, &ModelRequest) -> Play + Send + Sync + 'static) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").context("no free port")?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            requests: Mutex::default(),
            count: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
            working: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
            stop: (Mutex::new(false), Condvar::new()),
            play: Box::new(play),
        });
        let serving = Arc::clone(&shared);
        std::thread::Builder::new().name("language-model".into()).spawn(move || accept(&listener, &serving))?;
        Ok(Self { address, shared })
    }

    /// One that always does the same.
    ///
    /// # Errors
    /// If there is no free port.
    pub fn always(play: Play) -> Result<Self> {
        Self::start(move |_, _| play.clone())
    }

    /// The base of its addresses.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The most requests that were worked on at once.
    pub fn most_at_once(&self) -> usize {
        self.shared.most.load(Ordering::SeqCst)
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.shared.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for LanguageModel {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        *self.shared.stop.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.shared.stop.1.notify_all();
        // Wakes the listener, which then ends.
        drop(TcpStream::connect_timeout(&self.address, Duration::from_secs(1)));
    }
}

/// A completion as servers write it, with the tokens that they count.
pub fn completion(said: &str, finish: &str) -> String {
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": "stand-in",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": finish}],
        "usage": {"prompt_tokens": 90, "completion_tokens": 10, "total_tokens": 100},
    })
    .to_string()
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.stopped.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        if shared.open.fetch_add(1, Ordering::SeqCst) >= CONNECTIONS {
            shared.open.fetch_sub(1, Ordering::SeqCst);
            continue;
        }
        let own = Arc::clone(shared);
        let serve = move || {
            // Whoever hangs up in the middle gets no reply.
            drop(serve(stream, &own));
            own.open.fetch_sub(1, Ordering::SeqCst);
        };
        if std::thread::Builder::new().name("language-model".into()).spawn(serve).is_err() {
            shared.open.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

fn serve(mut stream: TcpStream, shared: &Shared) -> Result<()> {
    stream.set_read_timeout(Some(ARRIVAL))?;
    stream.set_write_timeout(Some(ARRIVAL))?;
    stream.set_nodelay(true)?;
    let request = read(&mut stream)?;
    let number = shared.count.fetch_add(1, Ordering::SeqCst);
    shared.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
    let working = shared.working.fetch_add(1, Ordering::SeqCst) + 1;
    shared.most.fetch_max(working, Ordering::SeqCst);
    let mut play = (shared.play)(number, &request);
    while let Play::Slow(time, then) = play {
        play = if stopped_within(shared, time) { Play::HangUp } else { *then };
    }
    // The reply may reach the client before this thread goes on.
    shared.working.fetch_sub(1, Ordering::SeqCst);
    act(&mut stream, play, shared)?;
    drop(stream.shutdown(Shutdown::Both));
    Ok(())
}

fn act(stream: &mut TcpStream, play: Play, shared: &Shared) -> Result<()> {
    let mut send = |status: u16, more: &str, body: &str| {
        let head = format!(
            "HTTP/1.1 {status} Status\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n{more}\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()))
    };
    match play {
        Play::Say(said) => send(200, "", &completion(&said, "stop"))?,
        Play::SayAndStop(said, why) => send(200, "", &completion(&said, why))?,
        Play::Body(body) => send(200, "", &body)?,
        Play::Status(status, wait) => {
            let more = wait.map_or(String::new(), |seconds| format!("Retry-After: {seconds}\r\n"));
            send(status, &more, "<html>an error page</html>")?;
        }
        Play::Refuse => {
            let message = json!({"role": "assistant", "content": null, "refusal": "I will not."});
            let body = json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]});
            send(200, "", &body.to_string())?;
        }
        Play::Cut => {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"choices\": [{\"mess")?;
        }
        Play::HangUp | Play::Slow(..) => {}
        Play::Endless => {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")?;
            while !stopped_within(shared, DRIP.1) {
                stream.write_all(DRIP.0)?;
            }
        }
        Play::Huge => {
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
            for _ in 0..4096 {
                stream.write_all(&[b'x'; 4096])?;
            }
        }
        Play::Noise => stream.write_all(b"SSH-2.0-OpenSSH_9.6\r\n")?,
    }
    Ok(())
}

/// Waits; `true` if the server is to end meanwhile.
fn stopped_within(shared: &Shared, time: Duration) -> bool {
    let (lock, condition) = &shared.stop;
    let guard = lock.lock().unwrap_or_else(PoisonError::into_inner);
    let waited = condition.wait_timeout_while(guard, time, |stopped| !*stopped);
    *waited.unwrap_or_else(PoisonError::into_inner).0
}

fn read(stream: &mut TcpStream) -> Result<ModelRequest> {
    let mut bytes = Vec::new();
    let mut buffer = [0_u8; 16 << 10];
    let head_end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
        let count = stream.read(&mut buffer)?;
        anyhow::ensure!(count > 0 && bytes.len() < LARGEST, "no request");
        bytes.extend_from_slice(&buffer[..count]);
    };
    let head = String::from_utf8_lossy(&bytes[..head_end]).into_owned();
    let header = |name: &str| {
        let found =
            head.lines().filter_map(|line| line.split_once(':')).find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.trim().to_owned())
    };
    let length: usize = header("content-length").context("no length")?.parse()?;
    anyhow::ensure!(length <= LARGEST, "too large");
    while bytes.len() < head_end + length {
        let count = stream.read(&mut buffer)?;
        anyhow::ensure!(count > 0, "the request was cut");
        bytes.extend_from_slice(&buffer[..count]);
    }
    Ok(ModelRequest {
        path: head.split_whitespace().nth(1).unwrap_or_default().to_owned(),
        authorization: header("authorization"),
        body: serde_json::from_slice(&bytes[head_end..head_end + length]).context("the body is no JSON")?,
    })
}
