//! The HTTP servers beside MQTT: metrics, recordings, the Model Context Protocol. With `strict` a taken port is an error.

use std::sync::Arc;

use drivers::archive::Archive;
use tokio_util::sync::CancellationToken;

use super::board::Board;
use super::mqtt_interface::MqttInterfaceParts;
use crate::config::Config;
use crate::exit::{Exit, Failure};
use crate::mcp::{self, McpServer};
use crate::media::MediaServer;
use crate::metrics;
use crate::mqtt::LocalAccess;

/// Serves metrics and health, where that is wanted. What keeps it from that is said; the memory goes on.
pub(super) async fn serve_metrics(
    config: &Config,
    strict: bool,
    board: &Arc<Board>,
    exposed: metrics::Exposed,
    shutdown: &CancellationToken,
) -> Result<(), Failure> {
    if !config.metrics.enabled {
        return Ok(());
    }
    match metrics::bind(config.metrics.listen).await {
        Ok(listener) => {
            tracing::info!(address = %config.metrics.listen, "metrics at /metrics, health at /health");
            tokio::spawn(metrics::serve(listener, exposed, shutdown.clone()));
            Ok(())
        }
        Err(message) => go_on_without("metrics", message, strict, board),
    }
}

/// Serves recordings, where that is wanted. What keeps it from that is said; the memory goes on.
pub(super) async fn serve_media(
    config: &Config,
    strict: bool,
    board: &Arc<Board>,
    archive: &Arc<Archive>,
    shutdown: &CancellationToken,
) -> Result<(), Failure> {
    if !config.recording.server.enabled {
        return Ok(());
    }
    match MediaServer::bind(&config.recording.server, Arc::clone(archive)).await {
        Ok(server) => {
            tracing::info!(address = %config.recording.server.listen, "recordings at /media, with the token");
            tokio::spawn(server.serve(shutdown.clone()));
            Ok(())
        }
        Err(message) => go_on_without("media server", message, strict, board),
    }
}

/// Serves the Model Context Protocol, where that is wanted. What keeps it from that is said; the memory goes on.
pub(super) async fn serve_mcp(
    config: &Config,
    strict: bool,
    board: &Arc<Board>,
    parts: &MqttInterfaceParts,
    shutdown: &CancellationToken,
) -> Result<(), Failure> {
    let Some(listen) = config.mcp.listen else { return Ok(()) };
    let options = mcp::Options { zone: parts.zone.clone(), forget: config.mcp.forget };
    let clock = Arc::clone(&parts.clock);
    let server = match LocalAccess::new(parts.interface()) {
        Ok(access) => {
            McpServer::bind(&config.mcp, listen, mcp::MemoryAccess::Agent(Box::new(access)), clock, options).await
        }
        Err(error) => Err(error.to_string()),
    };
    match server {
        Ok(server) => {
            tracing::info!(address = %listen, "MCP at /mcp, with the token");
            tokio::spawn(server.serve(shutdown.clone()));
            Ok(())
        }
        Err(message) => go_on_without("mcp server", message, strict, board),
    }
}

/// Says that a server is missing. With `strict` that is an error.
fn go_on_without(server: &str, message: String, strict: bool, board: &Board) -> Result<(), Failure> {
    if strict {
        return Err(Failure::new(Exit::Config, message));
    }
    tracing::warn!("{message}; continuing without the {server}");
    board.degraded(server, Some(message));
    Ok(())
}
