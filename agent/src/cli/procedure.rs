//! `engram procedure`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use memory_core::logic::draw::Diagram;

use super::values::key_value;

/// `engram procedure`.
#[derive(Debug, Clone, Args)]
pub struct ProcedureArgs {
    /// What to ask.
    #[command(subcommand)]
    pub query: ProcedureCommand,
}

/// Which procedure a query is about.
#[derive(Debug, Clone, Args)]
pub struct WhichArgs {
    /// The goal in similar words, or the id of the procedure, for instance p-7.
    #[arg(value_name = "GOAL")]
    pub goal: String,
}

/// What can be asked about procedures.
#[derive(Debug, Clone, Subcommand)]
pub enum ProcedureCommand {
    /// List procedures, the most frequent first.
    List {
        /// Only those whose goal shares a word with this.
        like: Option<String>,
        /// Maximum number to list.
        #[arg(long, value_name = "N", default_value_t = 100)]
        max: usize,
    },
    /// Show one procedure: its steps, how often each follows another, and its sessions.
    Get {
        /// The procedure.
        #[command(flatten)]
        which: WhichArgs,
    },
    /// List the paths to the goal, the most probable first.
    Paths {
        /// The procedure.
        #[command(flatten)]
        which: WhichArgs,
        /// No step may have this: an object, tool, place, person, or words of the step; repeat it for each.
        #[arg(long, value_name = "THING")]
        without: Vec<String>,
        /// Some step must have this; repeat it for each.
        #[arg(long, value_name = "THING")]
        with: Vec<String>,
        /// One step must come before another, for instance `--before wash=cut`; repeat it for each pair.
        #[arg(long, value_name = "STEP=STEP", value_parser = key_value)]
        before: Vec<(String, String)>,
        /// A step that is done already; repeat it for each step, in order.
        #[arg(long, value_name = "STEP")]
        done: Vec<String>,
        /// Only paths with at most this many steps.
        #[arg(long, value_name = "N")]
        max_steps: Option<usize>,
        /// Maximum number of paths.
        #[arg(long, value_name = "N", default_value_t = 20)]
        max: usize,
    },
    /// Predict the next steps.
    Next {
        /// The procedure.
        #[command(flatten)]
        which: WhichArgs,
        /// A step that is done; repeat it for each step, in order.
        #[arg(long, value_name = "STEP")]
        done: Vec<String>,
        /// Maximum number to list.
        #[arg(short, value_name = "N", default_value_t = 5)]
        k: usize,
    },
    /// List the steps that are still to be done, and the things needed for them.
    Missing {
        /// The procedure.
        #[command(flatten)]
        which: WhichArgs,
        /// A step that is done; repeat it for each step, in order.
        #[arg(long, value_name = "STEP")]
        done: Vec<String>,
    },
    /// Find alternatives to things that are not available.
    Alternatives {
        /// The procedure.
        #[command(flatten)]
        which: WhichArgs,
        /// A thing that is not available; repeat it for each. Default: what the memory knows to be broken, missing or used up.
        #[arg(long, value_name = "THING")]
        blocked: Vec<String>,
        /// A step that is done; repeat it for each step, in order.
        #[arg(long, value_name = "STEP")]
        done: Vec<String>,
    },
    /// List what a person does, the most frequent first, with the sessions.
    Behaviours {
        /// The person's name.
        person: String,
    },
    /// Draw a procedure with its probabilities.
    #[command(group = clap::ArgGroup::new("format").required(true).args(["svg", "dot"]))]
    Show {
        /// The procedure.
        #[command(flatten)]
        which: WhichArgs,
        /// Write an SVG picture, to a file or stdout.
        #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
        svg: Option<PathBuf>,
        /// Write Graphviz DOT, to a file or stdout.
        #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
        dot: Option<PathBuf>,
        /// Maximum number of steps. Of a larger procedure, the most frequent paths are drawn.
        #[arg(long, value_name = "N", default_value_t = Diagram::USUAL_STEPS)]
        max_steps: usize,
    },
}
