//! `engram procedure`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use memory_core::logic::draw::Diagram;

use super::key_value;

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
    /// Its goal, in words that are like it, or its id, for instance p-7.
    #[arg(value_name = "GOAL")]
    pub goal: String,
}

/// What can be asked about procedures.
#[derive(Debug, Clone, Subcommand)]
pub enum ProcedureCommand {
    /// The procedures there are, the most frequent first.
    List {
        /// Only those whose goal shares a word with this.
        like: Option<String>,
        /// How many at most.
        #[arg(long, value_name = "N", default_value_t = 100)]
        max: usize,
    },
    /// One procedure whole: steps, how often one follows another, sessions.
    Get {
        /// The procedure.
        #[command(flatten)]
        which: WhichArgs,
    },
    /// The ways to the goal, the most probable first.
    Paths {
        /// The procedure.
        #[command(flatten)]
        which: WhichArgs,
        /// No step with this: an object, tool, place, person or words of the step; repeat for each.
        #[arg(long, value_name = "THING")]
        without: Vec<String>,
        /// Some step with this; repeat for each.
        #[arg(long, value_name = "THING")]
        with: Vec<String>,
        /// One step before another, for instance `--before wash=cut`; repeat for each.
        #[arg(long, value_name = "STEP=STEP", value_parser = key_value)]
        before: Vec<(String, String)>,
        /// A step that is done already; repeat for each, in order.
        #[arg(long, value_name = "STEP")]
        done: Vec<String>,
        /// Only ways of so many steps at most.
        #[arg(long, value_name = "N")]
        max_steps: Option<usize>,
        /// How many ways at most.
        #[arg(long, value_name = "N", default_value_t = 20)]
        max: usize,
    },
    /// What comes next.
    Next {
        /// The procedure.
        #[command(flatten)]
        which: WhichArgs,
        /// A step that is done; repeat for each, in order.
        #[arg(long, value_name = "STEP")]
        done: Vec<String>,
        /// How many at most.
        #[arg(short, value_name = "N", default_value_t = 5)]
        k: usize,
    },
    /// What is still to be done, and with what.
    Missing {
        /// The procedure.
        #[command(flatten)]
        which: WhichArgs,
        /// A step that is done; repeat for each, in order.
        #[arg(long, value_name = "STEP")]
        done: Vec<String>,
    },
    /// What can stand in for things that are not to be had.
    Alternatives {
        /// The procedure.
        #[command(flatten)]
        which: WhichArgs,
        /// A thing; repeat for each. Without any, what memory says is broken, missing or used up.
        #[arg(long, value_name = "THING")]
        blocked: Vec<String>,
        /// A step that is done; repeat for each, in order.
        #[arg(long, value_name = "STEP")]
        done: Vec<String>,
    },
    /// What a person does, the most frequent first, with the sessions.
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
        /// As a picture, to a file or stdout.
        #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
        svg: Option<PathBuf>,
        /// For Graphviz, to a file or stdout.
        #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
        dot: Option<PathBuf>,
        /// Steps at most: of a larger procedure, its most frequent ways.
        #[arg(long, value_name = "N", default_value_t = Diagram::USUAL_STEPS)]
        max_steps: usize,
    },
}
