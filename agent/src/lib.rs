//! The program `engram`: wiring, MQTT, commands and supervision.
//!
//! `config` → `run` wires `service` (the memory behind queues and worker threads), `mqtt` (the front door), the sources
//! of `drivers`, `health` and `metrics`.

pub mod commands;
pub mod config;
pub mod health;
pub mod mqtt;
pub mod service;
