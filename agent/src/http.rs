//! HTTP for a few clients: connections are counted, and one that sends no request is closed.
//!
//! Anybody who reaches a port can open connections before any authentication. Without a limit they would use up the file
//! descriptors of the program.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use parking_lot::Mutex;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Maximum size of a request's head, in bytes.
const MAX_HEAD_BYTES: usize = 16 << 10;
/// Pause after the system refused a connection, for instance because no file descriptor is free.
const ACCEPT_PAUSE: Duration = Duration::from_secs(1);
/// Maximum time for open answers to end after the shutdown.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// Ceilings of a server.
#[derive(Debug, Clone, Copy)]
pub struct HttpLimits {
    /// Connections at once.
    pub connections: usize,
    /// Maximum number of these from one address.
    pub per_address: usize,
    /// How long a request's head may take, also that of the next one on a connection.
    pub head: Duration,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self { connections: 64, per_address: 16, head: Duration::from_secs(10) }
    }
}

/// Serves until `shutdown`.
pub async fn serve(listener: TcpListener, router: axum::Router, limits: HttpLimits, shutdown: CancellationToken) {
    let places = Arc::new(Connections { limits, taken: Mutex::new(BTreeMap::new()) });
    let connections = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            () = shutdown.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            // Without a place it is closed at once.
            Ok((stream, peer)) => {
                if let Some(place) = places.take(peer.ip()) {
                    connections.spawn(connection(stream, router.clone(), limits.head, shutdown.clone(), place));
                }
            }
            Err(error) => {
                tracing::warn!(%error, "a connection cannot be accepted");
                tokio::select! {
                    () = shutdown.cancelled() => break,
                    () = tokio::time::sleep(ACCEPT_PAUSE) => {}
                }
            }
        }
    }
    connections.close();
    // What takes longer is broken off with the program.
    drop(tokio::time::timeout(SHUTDOWN_TIMEOUT, connections.wait()).await);
}

async fn connection(
    stream: TcpStream,
    router: axum::Router,
    head: Duration,
    shutdown: CancellationToken,
    _place: ConnectionPermit,
) {
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(head).max_buf_size(MAX_HEAD_BYTES);
    let served = builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let mut served = std::pin::pin!(served);
    let ended = tokio::select! {
        ended = served.as_mut() => ended,
        () = shutdown.cancelled() => {
            served.as_mut().graceful_shutdown();
            served.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

/// Address of the client.
struct Connections {
    limits: HttpLimits,
    taken: Mutex<BTreeMap<IpAddr, usize>>,
}

/// One connection's; free again when it is dropped.
struct ConnectionPermit {
    places: Arc<Connections>,
    address: IpAddr,
}

impl Connections {
    fn take(self: &Arc<Self>, address: IpAddr) -> Option<ConnectionPermit> {
        let mut taken = self.taken.lock();
        let all: usize = taken.values().sum();
        let own = taken.entry(address).or_default();
        if all >= self.limits.connections || *own >= self.limits.per_address {
            if *own == 0 {
                taken.remove(&address);
            }
            return None;
        }
        *own += 1;
        Some(ConnectionPermit { places: Arc::clone(self), address })
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let mut taken = self.places.taken.lock();
        if let Some(own) = taken.get_mut(&self.address) {
            *own -= 1;
            if *own == 0 {
                taken.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::SocketAddr;

    use axum::routing::get;

    use super::*;

    const WAIT: Duration = Duration::from_secs(20);

    /// A server in a runtime of its own, for as long as `test` runs.
    fn served(limits: HttpLimits, test: impl FnOnce(SocketAddr)) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let shutdown = CancellationToken::new();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let router = axum::Router::new().route("/", get(async || "hello"));
        let server = runtime.spawn(serve(listener, router, limits, shutdown.clone()));
        test(address);
        shutdown.cancel();
        runtime.block_on(async { tokio::time::timeout(WAIT, server).await }).unwrap().unwrap();
    }

    fn connect(address: SocketAddr) -> std::net::TcpStream {
        let stream = std::net::TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(WAIT)).unwrap();
        stream
    }

    /// Reads until the server closes the connection.
    fn rest(mut stream: std::net::TcpStream) -> String {
        let mut text = Vec::new();
        // Closed with words unread, the connection is reset.
        drop(stream.read_to_end(&mut text));
        String::from_utf8_lossy(&text).into_owned()
    }

    fn ask(address: SocketAddr) -> String {
        let mut stream = connect(address);
        // Without a place the server has closed it by then.
        drop(stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
        rest(stream)
    }

    #[test]
    fn who_sends_no_request_is_put_out_and_takes_nobodys_place() {
        let limits = HttpLimits { connections: 4, per_address: 3, head: Duration::from_millis(300) };
        served(limits, |address| {
            let mut silent: Vec<_> = (0..3).map(|_| connect(address)).collect();
            for slow in &mut silent[1..] {
                slow.write_all(b"GET / HTTP/1.1\r\nHost: ").unwrap();
            }
            // All places of the address are taken until the server has had enough.
            for stream in silent {
                assert!(!rest(stream).contains("hello"));
            }
            let begin = std::time::Instant::now();
            while !ask(address).contains("hello") {
                assert!(begin.elapsed() < WAIT, "the places are free again");
            }
        });
    }

    #[test]
    fn beyond_the_ceiling_connections_are_closed_at_once() {
        let limits = HttpLimits { connections: 64, per_address: 2, head: WAIT };
        served(limits, |address| {
            let mut held: Vec<_> = (0..2).map(|_| connect(address)).collect();
            for stream in &mut held {
                // An answer proves that the server has taken the connection.
                stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
                let mut first = [0];
                stream.read_exact(&mut first).unwrap();
            }
            for _ in 0..200 {
                assert_eq!(ask(address), "");
            }
            drop(held);
            let begin = std::time::Instant::now();
            while !ask(address).contains("hello") {
                assert!(begin.elapsed() < WAIT, "the places are free again");
            }
        });
    }
}
