//! `engram mcp`.

use std::io::IsTerminal;
use std::sync::Arc;

use memory_core::SystemClock;

use super::{block_on, prepare};
use crate::cli::{GlobalArgs, McpArgs};
use crate::config::Directories;
use crate::exit::{Exit, Failure};
use crate::mcp::{self, BrokerAccess, MemoryAccess, Options};
use crate::opening;

/// Serves one client until it closes stdin.
///
/// # Errors
/// See the exit codes. A broker or an agent that is away is no failure: each call says so and tries again.
pub fn run(args: &McpArgs, global: &GlobalArgs) -> Result<Exit, Failure> {
    let (loaded, _) = prepare(global, true)?;
    let config = &loaded.config;
    if !config.mqtt.enabled {
        let message = "mqtt.enabled is false, so no agent can be asked over MQTT; set it to true, or use mcp.listen";
        return Err(Failure::new(Exit::Config, message));
    }
    if std::io::stdin().is_terminal() {
        print_hint();
    }
    let options = Options { zone: opening::zone(config)?, forget: args.allow_forget };
    let access = BrokerAccess::new(config.mqtt.clone(), opening::robot(config)?, Directories::from_config(config));
    let access = MemoryAccess::Broker(Box::new(access));
    block_on(mcp::serve_stdio(access, Arc::new(SystemClock::new()), options))?;
    Ok(Exit::Ok)
}

#[allow(clippy::print_stderr, reason = "a hint to the person at the terminal, not output")]
fn print_hint() {
    eprintln!("engram mcp: waiting for a client of the Model Context Protocol on stdin (docs/integrations.md)");
}
