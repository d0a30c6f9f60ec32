//! Harness of the end-to-end tests: the built program, a private broker, real media.
//!
//! Everything here blocks and nothing sleeps for luck: conditions are awaited with a deadline. A test reads as a person
//! would work: start a [`Broker`], start an [`Agent`] on it, talk to it as a [`Client`], look at what the program said.
//!
//! The program under test is the file named by `ENGRAM_BIN`, else `engram` beside the test executable (`cargo build -p
//! agent` puts it there). `ENGRAM_RUNNER` is a prefix that starts it, for instance an emulator for another processor.

mod agent;
mod broker;
mod camera;
mod certificates;
mod client;
mod deadline;
mod environment;
mod language_model;
mod mcp;
pub mod media;
mod notifications;
mod numbers;
mod process;
pub mod sandbox;
mod small_disk;
mod stage;

pub use agent::{Agent, AgentBuilder};
pub use broker::{Broker, BrokerBuilder};
pub use camera::NetworkCamera;
pub use certificates::{Certificates, ServerCertificate};
pub use client::{Client, Message, Reply};
pub use deadline::{eventually, until};
pub use environment::{engram, engram_command, fixtures_dir, free_port, models_dir, repository, shared, skipped};
pub use language_model::{LanguageModel, ModelRequest, Play, completion};
pub use mcp::{McpClient, read_result};
pub use notifications::Notifications;
pub use numbers::SeededRandom;
pub use process::{Finished, Process, run_to_end};
pub use small_disk::SmallDisk;
pub use stage::{SOON, Stage, evidence_ids};
