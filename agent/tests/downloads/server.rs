//! A web server of this process that answers well or badly, as each address is told to.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How an address answers.
#[derive(Clone)]
pub enum Manner {
    /// At once, and ranges when it is asked for them.
    Well,
    /// Somewhere else.
    Elsewhere(String),
    /// A twentieth at a time.
    Slowly,
    /// The first time only this many bytes.
    CutOnce(usize),
    /// The first time only this many bytes, and always from the beginning.
    CutOnceAndWithoutRanges(usize),
    /// After the rest of this folder's disk has been filled.
    FillingTheDisk(PathBuf),
}

/// What was asked for: the target of the request, and where from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub target: String,
    pub from: Option<usize>,
}

#[derive(Default)]
struct Shelf {
    files: BTreeMap<String, (Vec<u8>, Manner)>,
    requests: Vec<Request>,
}

/// Serves until the test ends; its threads end with the process.
#[derive(Clone)]
pub struct Server {
    address: SocketAddr,
    shelf: Arc<Mutex<Shelf>>,
}

impl Server {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self { address: listener.local_addr().unwrap(), shelf: Arc::default() };
        let serving = server.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let serving = serving.clone();
                // A client that goes away early is no fault of the test.
                std::thread::spawn(move || drop(serving.answer(stream)));
            }
        });
        server
    }

    /// The address of `path`, which begins with the machine that it stands in for.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    pub fn put(&self, path: &str, body: &[u8], manner: Manner) {
        self.shelf.lock().unwrap().files.insert(path.to_owned(), (body.to_vec(), manner));
    }

    pub fn requests(&self) -> Vec<Request> {
        self.shelf.lock().unwrap().requests.clone()
    }

    fn answer(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let mut reader = BufReader::new(stream.try_clone()?);
        let mut first = String::new();
        reader.read_line(&mut first)?;
        let target = first.split(' ').nth(1).unwrap_or_default().to_owned();
        let mut from = None;
        for line in reader.by_ref().lines() {
            let line = line?.to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            from = line.strip_prefix("range: bytes=").and_then(|r| r.trim_end_matches('-').parse().ok()).or(from);
        }
        // A client that has this as its proxy sends the whole address.
        let path = target.strip_prefix("http://").unwrap_or_else(|| target.trim_start_matches('/')).to_owned();
        let (found, again) = {
            let mut shelf = self.shelf.lock().unwrap();
            let again = shelf.requests.iter().any(|request| request.target == target);
            shelf.requests.push(Request { target, from });
            (shelf.files.get(&path).cloned(), again)
        };
        let Some((body, manner)) = found else {
            return stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        };
        if let Manner::Elsewhere(to) = &manner {
            let head =
                format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            return stream.write_all(head.as_bytes());
        }
        let ranges = !matches!(manner, Manner::CutOnceAndWithoutRanges(_));
        let begin = from.filter(|_| ranges).unwrap_or(0).min(body.len());
        let mut head = "HTTP/1.1 ".to_owned();
        if begin > 0 {
            let last = body.len() - 1;
            write!(head, "206 Partial Content\r\nContent-Range: bytes {begin}-{last}/{}\r\n", body.len()).unwrap();
        } else {
            head.push_str("200 OK\r\n");
        }
        write!(head, "Content-Length: {}\r\nConnection: close\r\n\r\n", body.len() - begin).unwrap();
        stream.write_all(head.as_bytes())?;
        let rest = &body[begin..];
        match manner {
            Manner::CutOnce(most) | Manner::CutOnceAndWithoutRanges(most) if !again => {
                stream.write_all(&rest[..most.min(rest.len())])
            }
            Manner::Slowly => rest.chunks(body.len().div_ceil(20)).try_for_each(|chunk| {
                stream.write_all(chunk)?;
                stream.flush()?;
                std::thread::park_timeout(Duration::from_millis(30));
                Ok(())
            }),
            Manner::FillingTheDisk(folder) => {
                let mut filler = std::fs::File::create(folder.join("filler"))?;
                for block in [1 << 20, 4096, 1] {
                    let zeros = vec![0; block];
                    while filler.write_all(&zeros).is_ok() {}
                }
                stream.write_all(rest)
            }
            _ => stream.write_all(rest),
        }
    }
}
