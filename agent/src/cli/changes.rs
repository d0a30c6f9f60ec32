//! Commands that change the memory: `engram observe`, `entity` and `forget`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use memory_core::Pose;

use super::values::{key_value, pose, positive_seconds, zero_to_one};

/// `engram observe`.
#[derive(Debug, Clone, Args)]
pub struct ObserveArgs {
    /// What was observed, in words.
    #[arg(required_unless_present = "file", conflicts_with = "file")]
    pub text: Option<String>,
    /// Kind of the observation.
    #[arg(long, value_name = "KIND", default_value = "text",
        value_parser = ["text", "caption", "sound", "object", "entity", "action", "state"])]
    pub kind: String,
    /// The program that reports it.
    #[arg(long, value_name = "NAME", default_value = "engram-cli")]
    pub source: String,
    /// The person or thing that it is about, or who spoke.
    #[arg(long, value_name = "NAME")]
    pub entity: Option<String>,
    /// When it began: a time, a date, or a duration ago such as 10m. Default: now.
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
    /// When it ended.
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// Your own id for it, returned in evidence.
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,
    /// A free attribute; repeat it for each attribute.
    #[arg(long = "attribute", value_name = "KEY=VALUE", value_parser = key_value)]
    pub attributes: Vec<(String, String)>,
    /// Confidence, 0 to 1.
    #[arg(long, value_name = "0..1", value_parser = zero_to_one)]
    pub confidence: Option<f32>,
    /// Where it was: metres, radians, and the name of the map (`map` if it is left out).
    #[arg(long, value_name = "X,Y[,YAW[,FRAME]]", value_parser = pose, allow_hyphen_values = true)]
    pub pose: Option<Pose>,
    /// File of observations as JSON: one object a line, or one array. `-` reads stdin.
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// How long to wait for each batch, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = positive_seconds)]
    pub timeout: f64,
    /// Open the data directory instead of telling the running agent by MQTT.
    #[arg(long)]
    pub offline: bool,
}

/// `engram entity`.
#[derive(Debug, Clone, Subcommand)]
pub enum EntityCommand {
    /// List persons by face and voice, and names in events.
    List {
        /// Maximum number to list.
        #[arg(long, value_name = "N", default_value_t = 50)]
        limit: usize,
    },
    /// Name a person. With two names, make both mean the same person.
    Name {
        /// An id such as e-12, or a name.
        entity: String,
        /// The name.
        name: String,
    },
    /// Merge other persons into one.
    Merge {
        /// The person who they are: an id or a name.
        entity: String,
        /// Ids or names of the others.
        #[arg(required = true)]
        same: Vec<String>,
    },
    /// Separate a face, a voice or an event from a person.
    Split {
        /// The person to separate it from: an id or a name.
        entity: String,
        /// Ids of anchors such as e-15, or of events such as ev-42.
        #[arg(required = true)]
        others: Vec<String>,
    },
}

/// `engram forget`.
#[derive(Debug, Clone, Args)]
pub struct ForgetArgs {
    /// Every event that names this person or thing, under each of its names, or in which it was recognised.
    #[arg(long, value_name = "NAME", required_unless_present_any = ["episodes", "since"])]
    pub entity: Option<String>,
    /// Whole episodes, such as ep-12.
    #[arg(long = "episode", value_name = "ID", conflicts_with = "entity")]
    pub episodes: Vec<String>,
    /// Everything from this time until `--until`.
    #[arg(long, requires = "until", conflicts_with_all = ["entity", "episodes"], value_name = "TIME")]
    pub since: Option<String>,
    /// The end of the span.
    #[arg(long, requires = "since", value_name = "TIME")]
    pub until: Option<String>,
    /// Work on the store itself; no agent may be using it.
    #[arg(long)]
    pub offline: bool,
    /// Do not ask for confirmation.
    #[arg(long)]
    pub yes: bool,
    /// How long to wait for the agent, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = positive_seconds)]
    pub timeout: f64,
}
