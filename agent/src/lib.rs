//! The program `engram`: wiring, MQTT, commands and supervision.
//!
//! `config` → `daemon` wires `service` (the memory behind queues and worker threads), `mqtt` (the MQTT interface), the
//! sources of `drivers`, `health` and `metrics`.

#![warn(missing_docs)]

pub mod build_info;
pub mod ceilings;
pub mod cli;
pub(crate) mod command_name;
pub mod commands;
pub mod config;
pub mod daemon;
mod endpoint_address;
pub mod exit;
pub mod health;
mod http;
mod json;
pub mod llm;
pub mod logging;
pub mod looking;
pub mod mcp;
pub mod media;
pub mod metrics;
#[cfg(test)]
mod monitoring_tests;
pub mod mqtt;
pub mod opening;
pub mod operator;
pub mod output;
pub mod senses;
pub mod service;
pub mod thermal;
pub mod topics;
pub mod upkeep;
pub mod watchdog;
pub mod when;
