//! Streamable HTTP: `/mcp`, for whoever knows the token.
//!
//! There are no sessions. Every request stands for itself, so that a cut connection or a restart of the program loses
//! nothing, and nothing is kept for a client that went away.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use memory_core::Clock;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::lines::MAX_LINE;
use super::server::MemoryServer;
use super::{Door, Options};
use crate::config::McpConfig;
use crate::http::{self, HttpLimits};
use crate::media::{allowed, read_token};

/// How long a request may take, its body included: who sends it byte by byte takes nobody's place.
const PATIENCE: Duration = Duration::from_secs(30);

/// The server, listening.
pub struct McpServer {
    listener: TcpListener,
    served: Arc<Served>,
}

struct Served {
    service: StreamableHttpService<MemoryServer, NeverSessionManager>,
    token: String,
}

impl McpServer {
    /// Takes the port `listen`.
    ///
    /// # Errors
    /// If the token cannot be used or the port is taken; the message says what to change.
    pub async fn bind(
        config: &McpConfig,
        listen: SocketAddr,
        door: Door,
        clock: Arc<dyn Clock>,
        options: Options,
    ) -> Result<Self, String> {
        let token = read_token("mcp", config.token.as_deref(), config.token_file.as_deref())?;
        let listener = TcpListener::bind(listen)
            .await
            .map_err(|error| format!("cannot listen on {listen}: {error}; set `mcp.listen` to another port"))?;
        let server = MemoryServer::new(Arc::new(door), clock, options);
        let rules = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_max_request_body_bytes(MAX_LINE)
            .with_allowed_hosts(hosts(config, listen))
            .with_allowed_origins(config.origins.clone())
            .enforce_origin_validation();
        let service = StreamableHttpService::new(move || Ok(server.clone()), Arc::default(), rules);
        Ok(Self { listener, served: Arc::new(Served { service, token }) })
    }

    /// Serves until `shutdown`.
    pub async fn serve(self, shutdown: CancellationToken) {
        let router = axum::Router::new().route("/mcp", any(answer)).with_state(self.served);
        http::serve(self.listener, router, HttpLimits::default(), shutdown).await;
    }
}

/// Names under which it is reached. A web page that gave its own name to this address sends another one.
fn hosts(config: &McpConfig, listen: SocketAddr) -> Vec<String> {
    let own = gethostname::gethostname().to_string_lossy().into_owned();
    let mut hosts: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).into();
    hosts.extend([own.clone(), own + ".local"]);
    if !listen.ip().is_unspecified() {
        hosts.push(listen.ip().to_string());
    }
    hosts.extend(config.hosts.iter().cloned());
    hosts
}

async fn answer(State(served): State<Arc<Served>>, request: Request) -> Response {
    // Before anything is looked at: a stranger learns nothing.
    if !allowed(&served.token, request.uri().query(), request.headers()) {
        let how = [(header::WWW_AUTHENTICATE, "Bearer"), (header::CONNECTION, "close")];
        let said = "a token is needed: `Authorization: Bearer …` or ?token=…\n";
        return (StatusCode::UNAUTHORIZED, how, said).into_response();
    }
    match tokio::time::timeout(PATIENCE, served.service.handle(request)).await {
        Ok(response) => response.map(Body::new),
        Err(_elapsed) => (StatusCode::REQUEST_TIMEOUT, [(header::CONNECTION, "close")], "the request took too long\n")
            .into_response(),
    }
}
