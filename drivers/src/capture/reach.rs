//! Why a network camera cannot be reached. GStreamer says the same, "could not open resource", of every case.

use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::mpsc;
use std::time::Duration;

/// Maximum time to resolve a name.
const RESOLVE_TIMEOUT: Duration = Duration::from_secs(3);
/// Maximum time for the camera to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(1500);
/// Default ports of `rtsp://` and of `rtsps://`.
const DEFAULT_PORTS: (u16, u16) = (554, 322);

/// Why nobody can be connected to at the address of `url`, and what to do; `None` if somebody can, so that the fault is another.
pub(super) fn why_not(url: &str) -> Option<String> {
    let (host, port) = place(url)?;
    let addresses = match resolve(&host, port) {
        Ok(addresses) => addresses,
        Err(reason) => {
            return Some(format!(
                "the name `{host}` is not resolved ({reason}); check its spelling, or write the camera's address"
            ));
        }
    };
    let mut last = None;
    for address in addresses.into_iter().take(2) {
        match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
            Ok(_) => return None,
            Err(error) => last = Some(unreachable(address, &error)),
        }
    }
    last
}

/// Returns the message for a failed connection.
fn unreachable(address: SocketAddr, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => {
            format!("{address} refuses the connection; is RTSP switched on in the camera, and is the port right?")
        }
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => format!(
            "{address} does not answer; is the camera on, and does no firewall stand between? The address may be wrong"
        ),
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => {
            format!("{address} cannot be reached from this machine ({error}); is it connected to the camera's network?")
        }
        _ => format!("{address} cannot be connected to: {error}"),
    }
}

/// Host and port of a URL; `None` if it has none.
fn place(url: &str) -> Option<(String, u16)> {
    let (scheme, rest) = url.split_once("://")?;
    let usual = if scheme.eq_ignore_ascii_case("rtsps") { DEFAULT_PORTS.1 } else { DEFAULT_PORTS.0 };
    let authority = rest.split(['/', '?']).next()?;
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let (host, port) = match authority.strip_prefix('[') {
        // An IPv6 address.
        Some(rest) => {
            let (host, rest) = rest.split_once(']')?;
            (host, rest.strip_prefix(':'))
        }
        None => match authority.rsplit_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    };
    let port = port.map_or(Some(usual), |port| port.parse().ok())?;
    (!host.is_empty()).then(|| (host.to_owned(), port))
}

/// Resolves a name. The system's resolver knows no deadline, so it runs on a thread that ends by itself.
fn resolve(host: &str, port: u16) -> Result<Vec<SocketAddr>, String> {
    let (tell, told) = mpsc::sync_channel(1);
    let name = host.to_owned();
    let asked = std::thread::Builder::new().name("engram-resolve".to_owned()).spawn(move || {
        let found = (name.as_str(), port).to_socket_addrs().map(Iterator::collect::<Vec<_>>);
        // Nobody may wait any more.
        drop(tell.send(found));
    });
    asked.map_err(|error| error.to_string())?;
    match told.recv_timeout(RESOLVE_TIMEOUT) {
        Ok(Ok(addresses)) if addresses.is_empty() => Err("it has no address".to_owned()),
        Ok(found) => found.map_err(|error| error.to_string()),
        Err(_) => Err(format!("no answer within {} s", RESOLVE_TIMEOUT.as_secs())),
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn host_and_port_are_read_from_any_address() {
        let is = |url: &str, host: &str, port: u16| assert_eq!(place(url), Some((host.to_owned(), port)), "{url}");
        is("rtsp://cam.local/1", "cam.local", 554);
        is("rtsps://cam.local/1", "cam.local", 322);
        is("rtsp://admin:s3cr@t@cam.local:8554/a@b", "cam.local", 8554);
        is("rtsp://[fe80::1]:554/x", "fe80::1", 554);
        is("rtsp://10.0.0.9?x", "10.0.0.9", 554);
        for url in ["cam.local", "rtsp://", "rtsp://cam:port/"] {
            assert_eq!(place(url), None, "{url}");
        }
    }

    #[test]
    fn refused_unreachable_and_not_resolved_are_told_apart() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert_eq!(why_not(&format!("rtsp://127.0.0.1:{port}/x")), None, "somebody listens");
        drop(listener);
        let refused = why_not(&format!("rtsp://user:secret@127.0.0.1:{port}/x")).unwrap();
        assert!(refused.contains("refuses the connection") && !refused.contains("secret"), "{refused}");
        let unknown = why_not("rtsp://no-such-camera.invalid/x").unwrap();
        assert!(unknown.contains("`no-such-camera.invalid` is not resolved"), "{unknown}");
        let address = SocketAddr::from(([10, 0, 0, 9], 554));
        for (kind, words) in [
            (io::ErrorKind::TimedOut, "does not answer"),
            (io::ErrorKind::HostUnreachable, "cannot be reached"),
            (io::ErrorKind::NetworkUnreachable, "cannot be reached"),
        ] {
            assert!(unreachable(address, &kind.into()).contains(words), "{kind}");
        }
    }
}
