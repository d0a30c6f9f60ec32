//! Commands that read the memory: `engram ask`, `search`, `inspect` and `clip`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use memory_core::Near;

use super::values::{near, positive_seconds};

/// `engram ask`.
#[derive(Debug, Clone, Args)]
pub struct AskArgs {
    /// The question, in plain words.
    pub question: String,
    /// An option to choose from; repeat it for each option.
    #[arg(long = "option", value_name = "TEXT")]
    pub options: Vec<String>,
    /// Use only events at or after this: a time, a date, or a duration ago such as 2h.
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Use only events at or before this.
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// The time that "now" means in the question. Default: the clock.
    #[arg(long, value_name = "TIME")]
    pub now: Option<String>,
    /// Use only what happened within a radius of a point, in metres on the map FRAME (`map` if it is left out).
    #[arg(long, value_name = "X,Y,RADIUS[,FRAME]", value_parser = near, allow_hyphen_values = true)]
    pub near: Option<Near>,
    /// Maximum number of evidence items.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub top_k: u16,
    /// Show the reason of the answer and the steps that led to it.
    #[arg(short = 'v', long)]
    pub trace: bool,
    /// How much work the answer is worth: `fast` asks the memory alone, `thorough` looks at the recordings again in any case.
    #[arg(long, value_name = "EFFORT", default_value = "normal", value_parser = ["fast", "normal", "thorough"])]
    pub effort: String,
    /// How long to wait, in seconds. Default: 10, or 60 with `--effort thorough`.
    #[arg(long, value_name = "SECONDS", value_parser = positive_seconds)]
    pub timeout: Option<f64>,
    /// Go on from the last question with the same name, asked within five minutes: "and the cat?", "why?".
    #[arg(long, value_name = "NAME", conflicts_with = "offline")]
    pub conversation: Option<String>,
    /// Open the data directory instead of asking the running agent by MQTT.
    #[arg(long)]
    pub offline: bool,
}

pub(super) const SEARCH_HELP: &str = "\
Every part of a query must be there:
  mug              a word in any of its forms
  \"red mug\"        words next to each other
  -sink            no event with this word; also -\"red mug\"
  mug near/5 sink  at most 5 words apart, in either order
  who:Anna         about this person or thing; who:\"Anna Lee\"
  kind:action      text, caption, sound, object, entity, action or state; again for another kind
  since:2h  until:2026-11-20  since:\"2026-11-20 08:00\"
Small words such as \"the\" count nowhere. Write -- before a query that begins with a minus.";

/// `engram search`.
#[derive(Debug, Clone, Args)]
pub struct SearchArgs {
    /// What to find; see below.
    #[arg(required_unless_present = "like", value_name = "QUERY")]
    pub query: Vec<String>,
    /// Show the best matches first instead of the newest.
    #[arg(long)]
    pub best: bool,
    /// Show what is like this event or episode, such as ev-42 or ep-12, or looks like its picture: picture:ev-42. The most alike come
    /// first. A query beside it narrows that down.
    #[arg(long, value_name = "ID", conflicts_with = "best")]
    pub like: Option<String>,
    /// How like it an event must be: a cosine above 0 and at most 1. Default: 0.5; of a picture, as like as two of one place.
    #[arg(long, value_name = "COSINE", requires = "like")]
    pub likeness: Option<f64>,
    /// Only events within a radius of a point, in metres on the map FRAME (`map` if it is left out).
    #[arg(long, value_name = "X,Y,RADIUS[,FRAME]", value_parser = near, allow_hyphen_values = true)]
    pub near: Option<Near>,
    /// Maximum number of events to show; all are counted.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub limit: u16,
}

/// `engram clip`.
#[derive(Debug, Clone, Args)]
pub struct ClipArgs {
    /// A whole episode, for instance ep-42.
    #[arg(value_name = "EPISODE", required_unless_present = "since", conflicts_with_all = ["since", "until"])]
    pub episode: Option<String>,
    /// Start of the clip: a time, a date, or a duration ago such as 10m.
    #[arg(long, value_name = "TIME", requires = "until")]
    pub since: Option<String>,
    /// End of the clip.
    #[arg(long, value_name = "TIME", requires = "since")]
    pub until: Option<String>,
    /// The source to use, if several have a recording of this time.
    #[arg(long, value_name = "NAME")]
    pub source: Option<String>,
    /// The clip to write: .mkv or .mp4.
    #[arg(short, long = "output", value_name = "FILE")]
    pub out: PathBuf,
    /// Replace an existing file.
    #[arg(long)]
    pub force: bool,
}

/// `engram inspect`.
#[derive(Debug, Clone, Args)]
pub struct InspectArgs {
    /// What to look at.
    #[command(subcommand)]
    pub what: InspectCommand,
}

/// What `inspect` looks at.
#[derive(Debug, Clone, Subcommand)]
pub enum InspectCommand {
    /// Episodes, newest first; with an id, one whole episode.
    Episodes {
        /// One episode, for instance ep-42.
        id: Option<String>,
        /// Only episodes at or after this time.
        #[arg(long, value_name = "TIME")]
        since: Option<String>,
        /// Only episodes at or before this time.
        #[arg(long, value_name = "TIME")]
        until: Option<String>,
        /// Only episodes with an event about this person or thing.
        #[arg(long, value_name = "NAME")]
        entity: Option<String>,
        /// Only episodes with an event at this place.
        #[arg(long, value_name = "PLACE")]
        place: Option<String>,
        /// Only episodes with an event within a radius of a point, in metres on the map FRAME (`map` if it is left out).
        #[arg(long, value_name = "X,Y,RADIUS[,FRAME]", value_parser = near, allow_hyphen_values = true)]
        near: Option<Near>,
        /// Maximum number to list.
        #[arg(long, value_name = "N", default_value_t = 20)]
        limit: usize,
        /// Continue after this episode.
        #[arg(long, value_name = "EPISODE")]
        cursor: Option<String>,
    },
    /// Single events, in order of commit.
    Events {
        /// Continue after this commit number.
        #[arg(long, value_name = "N")]
        after: Option<u64>,
        /// Only events within a radius of a point, in metres on the map FRAME (`map` if it is left out).
        #[arg(long, value_name = "X,Y,RADIUS[,FRAME]", value_parser = near, allow_hyphen_values = true)]
        near: Option<Near>,
        /// Maximum number to list.
        #[arg(long, value_name = "N", default_value_t = 50)]
        limit: usize,
    },
    /// Persons and things, most frequent first.
    Entities {
        /// Maximum number to list.
        #[arg(long, value_name = "N", default_value_t = 50)]
        limit: usize,
    },
    /// Facts about persons and things.
    Facts {
        /// Only facts about this person or thing.
        subject: Option<String>,
        /// Only facts that involve this person, thing or place, the best confirmed first.
        #[arg(long, value_name = "NAME")]
        about: Option<String>,
        /// Also facts that no longer hold.
        #[arg(long)]
        past: bool,
        /// Maximum number to list.
        #[arg(long, value_name = "N", default_value_t = 50)]
        limit: usize,
    },
    /// Summaries of hours or days, newest first.
    Gists {
        /// How long the summarised stretches are: minute, hour or day.
        #[arg(long, value_name = "LEVEL", default_value = "hour", value_parser = ["minute", "hour", "day"])]
        level: String,
        /// Only what happened at or after this time.
        #[arg(long, value_name = "TIME")]
        since: Option<String>,
        /// Only what happened at or before this time.
        #[arg(long, value_name = "TIME")]
        until: Option<String>,
        /// Maximum number to list.
        #[arg(long, value_name = "N", default_value_t = 24)]
        limit: usize,
    },
    /// Places that have a name, with the robot's visits to them, and those that somebody only spoke of.
    Places {
        /// Maximum number to list.
        #[arg(long, value_name = "N", default_value_t = 50)]
        limit: usize,
    },
    /// Counts and sizes.
    Stats,
}
