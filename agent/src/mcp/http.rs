//! Streamable HTTP: `/mcp`, for clients with the token.
//!
//! There are no sessions. Every request stands for itself, so that a cut connection or a restart of the program loses
//! nothing, and nothing is kept for a client that went away.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use memory_core::Clock;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::lines::MAX_LINE;
use super::server::MemoryServer;
use super::{MemoryAccess, Options};
use crate::config::McpConfig;
use crate::http::{self, HttpLimits};
use crate::media::{allowed, read_token};

/// How long a request may take, its body included: who sends it byte by byte takes nobody's place.
const MAX_REQUEST_TIME: Duration = Duration::from_secs(30);

/// The server, listening.
pub struct McpServer {
    listener: TcpListener,
    served: Arc<ServedMcp>,
}

struct ServedMcp {
    service: StreamableHttpService<MemoryServer, NeverSessionManager>,
    token: String,
    names: Vec<String>,
}

impl McpServer {
    /// Takes the port `listen`.
    ///
    /// # Errors
    /// If the token cannot be used or the port is taken; the message says what to change.
    pub async fn bind(
        config: &McpConfig,
        listen: SocketAddr,
        access: MemoryAccess,
        clock: Arc<dyn Clock>,
        options: Options,
    ) -> Result<Self, String> {
        let token = read_token("mcp", config.token.as_deref(), config.token_file.as_deref())?;
        let listener = TcpListener::bind(listen)
            .await
            .map_err(|error| format!("cannot listen on {listen}: {error}; set `mcp.listen` to another port"))?;
        let server = MemoryServer::new(Arc::new(access), clock, options);
        let rules = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_max_request_body_bytes(MAX_LINE)
            // Checked here, where addresses are known too.
            .disable_allowed_hosts()
            .with_allowed_origins(config.origins.clone())
            .enforce_origin_validation();
        let service = StreamableHttpService::new(move || Ok(server.clone()), Arc::default(), rules);
        Ok(Self { listener, served: Arc::new(ServedMcp { service, token, names: names(config) }) })
    }

    /// Serves until `shutdown`.
    pub async fn serve(self, shutdown: CancellationToken) {
        let router = axum::Router::new().route("/mcp", any(answer)).with_state(self.served);
        http::serve(self.listener, router, HttpLimits::default(), shutdown).await;
    }
}

/// Names under which it is reached.
fn names(config: &McpConfig) -> Vec<String> {
    let own = gethostname::gethostname().to_string_lossy().into_owned();
    let mut names = vec!["localhost".to_owned(), format!("{own}.local"), own];
    names.extend(config.hosts.iter().cloned());
    names
}

/// Whether the client means this machine. A web page that gave its own name to this address (DNS rebinding) sends that name;
/// an address it cannot send.
fn is_known_host(headers: &HeaderMap, names: &[String]) -> bool {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let Some(authority) = host.and_then(|host| host.parse::<Authority>().ok()) else { return false };
    let host = authority.host().trim_start_matches('[').trim_end_matches(']');
    host.parse::<IpAddr>().is_ok() || names.iter().any(|name| name.eq_ignore_ascii_case(host))
}

/// Whether the request comes from a page that this address serves itself. Its host name must be a known one.
fn is_own_origin(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let own = text(header::ORIGIN).and_then(|origin| origin.strip_prefix("http://")).zip(text(header::HOST));
    own.is_some_and(|(origin, host)| origin.eq_ignore_ascii_case(host))
}

async fn answer(State(served): State<Arc<ServedMcp>>, mut request: Request) -> Response {
    // Before anything is looked at: a stranger learns nothing.
    if !allowed(&served.token, request.uri().query(), request.headers()) {
        let how = [(header::WWW_AUTHENTICATE, "Bearer"), (header::CONNECTION, "close")];
        let said = "a token is needed: `Authorization: Bearer …` or ?token=…\n";
        return (StatusCode::UNAUTHORIZED, how, said).into_response();
    }
    if !is_known_host(request.headers(), &served.names) {
        let said = "this host name is not known here; list it in mcp.hosts\n";
        return (StatusCode::FORBIDDEN, [(header::CONNECTION, "close")], said).into_response();
    }
    if is_own_origin(request.headers()) {
        request.headers_mut().remove(header::ORIGIN);
    }
    match tokio::time::timeout(MAX_REQUEST_TIME, served.service.handle(request)).await {
        Ok(response) => response.map(Body::new),
        Err(_elapsed) => (StatusCode::REQUEST_TIMEOUT, [(header::CONNECTION, "close")], "the request took too long\n")
            .into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_own_names_are_known_hosts_and_no_others() {
        let names = names(&McpConfig { hosts: vec!["robot.example.com".to_owned()], ..McpConfig::default() });
        let known = |host: &str| is_known_host(&HeaderMap::from_iter([(header::HOST, host.parse().unwrap())]), &names);
        for host in
            ["localhost", "LOCALHOST:9466", "127.0.0.1:9466", "192.168.1.7", "[::1]:9466", "robot.example.com:80"]
        {
            assert!(known(host), "{host}");
        }
        for host in ["evil.example", "evil.example:9466", "localhost.evil.example", "127.0.0.1.evil.example", ""] {
            assert!(!known(host), "{host}");
        }
        assert!(!is_known_host(&HeaderMap::new(), &names));
    }

    #[test]
    fn only_the_very_address_is_its_own_origin() {
        let own = |origin: &str| {
            let headers = [(header::HOST, "127.0.0.1:9466"), (header::ORIGIN, origin)];
            is_own_origin(&headers.map(|(name, value)| (name, value.parse().unwrap())).into_iter().collect())
        };
        assert!(own("http://127.0.0.1:9466"));
        for origin in
            ["https://127.0.0.1:9466", "http://127.0.0.1", "http://127.0.0.1:80", "http://localhost:9466", "null"]
        {
            assert!(!own(origin), "{origin}");
        }
    }
}
