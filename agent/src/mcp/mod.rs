//! The memory as tools of the Model Context Protocol (MCP), for language models and the programs around them.
//!
//! `server` answers the protocol, `tools` is the catalogue, `calls` turns a call into requests of the MQTT contract
//! (`docs/mqtt.md`), `digest` makes short results of the replies, and `access` leads to the agent. Nothing here opens
//! the store, so the access rules of the contract hold here too.

mod access;
mod arguments;
mod broker_access;
mod calls;
mod digest;
mod http;
mod lines;
mod resources;
mod server;
mod tools;

use std::sync::Arc;

use jiff::tz::TimeZone;
use memory_core::Clock;

pub use access::{AccessError, MemoryAccess};
pub use broker_access::BrokerAccess;
pub use http::McpServer;

use crate::exit::{Exit, Failure};
use server::MemoryServer;

/// Options of a server.
#[derive(Debug, Clone)]
pub struct Options {
    /// Zone in which times are read and written.
    pub zone: TimeZone,
    /// Whether the tool `forget` is offered.
    pub forget: bool,
}

/// Serves one client on stdin and stdout until it closes stdin.
///
/// # Errors
/// If the client does not speak the protocol.
pub async fn serve_stdio(access: MemoryAccess, clock: Arc<dyn Clock>, options: Options) -> Result<(), Failure> {
    let access = Arc::new(access);
    // The first call should not wait for the broker; a failure is returned to the caller.
    let opening = Arc::clone(&access);
    let opening = tokio::spawn(async move { opening.prepare().await });
    let server = MemoryServer::new(Arc::clone(&access), clock, options);
    let (reader, writer) = rmcp::transport::stdio_pipes();
    let running = Box::pin(rmcp::serve_server(server, lines::LineTransport::new(reader, writer))).await;
    let outcome = match running {
        Ok(running) => running.waiting().await.map(drop).map_err(|error| Failure::new(Exit::Internal, error)),
        // A client that leaves before it has said anything is no failure.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(Failure::new(Exit::Refused, format!("the client does not speak MCP: {error}"))),
    };
    opening.abort();
    access.close().await;
    outcome
}
