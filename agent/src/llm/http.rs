//! HTTP to an endpoint: one connection per request, encrypted where the address says so, and ceilings on everything that
//! comes back.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::client::conn::http1;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue, RETRY_AFTER};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;

use super::LlmError;
pub use crate::endpoint_address::EndpointAddress;

/// Maximum size of a reply, in bytes.
pub const MAX_REPLY_BYTES: usize = 256 << 10;

/// A client of one endpoint.
pub struct HttpClient {
    address: EndpointAddress,
    token: Option<HeaderValue>,
    tls: Option<TlsConnector>,
}

/// A response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpReply {
    pub status: u16,
    /// Delay that the server asks for.
    pub retry_after: Option<Duration>,
    pub body: Bytes,
}

impl HttpClient {
    /// A client that sends `token`, and trusts the system's authorities or those in `ca_file`.
    ///
    /// # Errors
    /// Returns what cannot be used, with the path.
    pub fn new(address: EndpointAddress, token: Option<&str>, ca_file: Option<&Path>) -> Result<Self, String> {
        let token = token.map(|token| {
            let mut value = HeaderValue::try_from(format!("Bearer {token}"))
                .map_err(|_| "the token has characters that no header can carry".to_owned())?;
            value.set_sensitive(true);
            Ok::<_, String>(value)
        });
        let tls = address.tls.then(|| trusting(ca_file)).transpose()?;
        Ok(Self { address, token: token.transpose()?, tls })
    }

    /// Returns the address of the server.
    pub fn address(&self) -> &EndpointAddress {
        &self.address
    }

    /// Posts a body and reads the reply, up to its ceiling. The caller limits the time; a call that is dropped closes the
    /// connection.
    ///
    /// # Errors
    /// `Unreachable` or `TooLarge`.
    pub async fn post(&self, body: Bytes) -> Result<HttpReply, LlmError> {
        let unreachable = |error: &dyn std::fmt::Display| LlmError::Unreachable(error.to_string());
        let place = (self.address.host.as_str(), self.address.port);
        let stream = TcpStream::connect(place).await.map_err(|error| unreachable(&error))?;
        match &self.tls {
            None => self.exchange(stream, body).await,
            Some(connector) => {
                let name = ServerName::try_from(self.address.host.clone()).map_err(|error| unreachable(&error))?;
                let stream = connector.connect(name, stream).await.map_err(|error| unreachable(&error))?;
                self.exchange(stream, body).await
            }
        }
    }

    async fn exchange<S>(&self, stream: S, body: Bytes) -> Result<HttpReply, LlmError>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let unreachable = |error: hyper::Error| LlmError::Unreachable(broken(&error).to_owned());
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(unreachable)?;
        // Ends with this call, whether it is answered or dropped.
        let mut tasks = JoinSet::new();
        tasks.spawn(connection);
        let mut request = Request::builder()
            .method(Method::POST)
            .uri(&self.address.path)
            .header(HOST, self.address.authority())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json");
        if let Some(token) = &self.token {
            request = request.header(AUTHORIZATION, token);
        }
        let request = request.body(Full::new(body)).map_err(|error| LlmError::Unreachable(error.to_string()))?;
        let reply = sender.send_request(request).await.map_err(unreachable)?;
        let (head, body) = reply.into_parts();
        let seconds = head.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let body = Limited::new(body, MAX_REPLY_BYTES).collect().await.map_err(|error| {
            match error.downcast_ref::<LengthLimitError>() {
                Some(_) => LlmError::TooLarge(MAX_REPLY_BYTES),
                None => LlmError::Unreachable("the connection was cut".to_owned()),
            }
        })?;
        Ok(HttpReply {
            status: head.status.as_u16(),
            retry_after: seconds.map(Duration::from_secs),
            body: body.to_bytes(),
        })
    }
}

fn broken(error: &hyper::Error) -> &'static str {
    if error.is_parse() { "it does not speak HTTP/1.1" } else { "the connection was cut" }
}

fn trusting(ca_file: Option<&Path>) -> Result<TlsConnector, String> {
    let mut roots = RootCertStore::empty();
    match ca_file {
        Some(file) => {
            let text = std::fs::read(file).map_err(|error| format!("{} cannot be read: {error}", file.display()))?;
            for authority in CertificateDer::pem_slice_iter(&text) {
                let added = authority
                    .map_err(|error| error.to_string())
                    .and_then(|authority| roots.add(authority).map_err(|error| error.to_string()));
                added.map_err(|error| format!("{}: {error}", file.display()))?;
            }
        }
        None => {
            let (_, _) = roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    if roots.is_empty() {
        return Err("no certificate of an authority is there; install ca-certificates or name one in `ca_file`".into());
    }
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_is_read_with_its_port_and_its_path() {
        for (url, authority, path, tls, here) in [
            ("http://127.0.0.1:8080/v1", "127.0.0.1:8080", "/v1/chat/completions", false, true),
            ("http://localhost/v1/", "localhost:80", "/v1/chat/completions", false, true),
            ("https://api.example.com/v1/chat/completions", "api.example.com:443", "/v1/chat/completions", true, false),
            ("http://[::1]:11434", "[::1]:11434", "/chat/completions", false, true),
            ("http://10.0.0.7:8000/openai", "10.0.0.7:8000", "/openai/chat/completions", false, false),
        ] {
            let address = EndpointAddress::parse(url).unwrap();
            assert_eq!((address.authority().as_str(), address.path.as_str()), (authority, path), "{url}");
            assert_eq!((address.tls, address.is_here()), (tls, here), "{url}");
        }
    }

    #[test]
    fn an_encrypted_endpoint_needs_authorities_that_can_be_read() {
        let address = EndpointAddress::parse("https://api.example.com/v1").unwrap();
        let nowhere = HttpClient::new(address.clone(), None, Some(Path::new("/nowhere/ca.pem"))).err().unwrap();
        assert!(nowhere.contains("/nowhere/ca.pem"), "{nowhere}");
        let token = HttpClient::new(address, Some("a\nb"), None).err().unwrap();
        assert!(token.contains("header"), "{token}");
    }
}
