//! Requests about procedures and their replies: the types of `cmd/procedure`.

use std::time::Duration;

use serde::Serialize;

use crate::logic::query::{Constraints, Part};
use crate::logic::{Procedure, ProcedureId};
use crate::{Fact, ReadError, TimeSpan};

/// Names a procedure. An id takes precedence over a goal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WhichProcedure {
    /// Its id.
    pub id: Option<ProcedureId>,
    /// Its goal, in its own or in similar words.
    pub goal: Option<String>,
}

impl WhichProcedure {
    /// Names the procedure with this goal.
    pub fn of_goal(goal: impl Into<String>) -> Self {
        Self { id: None, goal: Some(goal.into()) }
    }
}

/// How a procedure is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureFormat {
    /// An SVG picture.
    Svg,
    /// Graphviz DOT.
    Dot,
}

/// A symbolic query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProcedureRequest {
    /// Lists procedures.
    List {
        /// Only those whose goal shares a word with this.
        goal_like: Option<String>,
        /// How many at most.
        max: usize,
    },
    /// Returns one whole procedure with its evidence.
    Get(WhichProcedure),
    /// Returns the paths to the goal that meet conditions.
    Paths {
        /// The procedure.
        of: WhichProcedure,
        /// The conditions.
        constraints: Constraints,
        /// Steps that are done already; the paths continue from there.
        done: Vec<String>,
        /// How many at most.
        max: usize,
    },
    /// Predicts the next steps.
    Next {
        /// The procedure.
        of: WhichProcedure,
        /// Steps done, in order, in any words.
        done: Vec<String>,
        /// How many at most.
        k: usize,
    },
    /// Returns the steps that are still to be done, and the things needed for them.
    Missing {
        /// The procedure.
        of: WhichProcedure,
        /// Steps done, in any words.
        done: Vec<String>,
    },
    /// Finds alternatives to things that are not available.
    Alternatives {
        /// The procedure.
        of: WhichProcedure,
        /// Things or steps that are not available. Empty: what the memory knows to be broken, missing or used up.
        blocked: Vec<String>,
        /// Steps done, in order, in any words.
        done: Vec<String>,
        /// Maximum number of paths.
        max: usize,
    },
    /// Returns what a person does.
    Behaviours {
        /// The person's name.
        person: String,
    },
    /// Draws a procedure.
    Show {
        /// The procedure.
        of: WhichProcedure,
        /// The format of the picture.
        format: PictureFormat,
        /// Maximum number of steps; of a larger procedure the most frequent paths are drawn.
        max_steps: usize,
    },
}

/// One session that shows a procedure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionEvidence {
    /// The told session, or a name made of source and time.
    pub session: String,
    /// The senders' own ids of the observations, or `ev-42`, in order.
    pub observations: Vec<String>,
    /// Span from the first to the last action.
    pub span: TimeSpan,
}

/// A procedure in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcedureSummary {
    /// Its id.
    pub id: ProcedureId,
    /// Its goal.
    pub goal: String,
    /// Whether the goal was told, or made from the steps.
    pub named: bool,
    /// Whether it is a candidate: verification does not let it pass (yet).
    pub candidate: bool,
    /// Number of different steps.
    pub steps: usize,
    /// Number of sessions; for one person, only that person's.
    pub sessions: usize,
    /// The sessions; empty in lists.
    pub evidence: Vec<SessionEvidence>,
}

impl ProcedureSummary {
    /// Creates the summary of a procedure for lists.
    pub(crate) fn of(procedure: &Procedure) -> Self {
        Self {
            id: procedure.id(),
            goal: procedure.goal().to_owned(),
            named: procedure.is_named(),
            candidate: !procedure.is_established(),
            steps: procedure.steps().iter().filter(|step| step.count > 0).count(),
            sessions: procedure.sessions(),
            evidence: Vec::new(),
        }
    }
}

/// A step in its context.
#[derive(Debug, Clone, PartialEq)]
pub struct StepDetail {
    /// `start`, `goal`, or `s` and a number: stable while the procedure does not change.
    pub id: String,
    /// The text of the step; also `START` and `GOAL`.
    pub text: String,
    /// The n-th time of this step in a session, from 1.
    pub occurrence: u16,
    /// Number of sessions that contain this step.
    pub count: u32,
    /// Names by their part (object, tool, place, person), with the number of observations that named them.
    pub attributes: Vec<(Part, Vec<(String, u32)>)>,
    /// Average duration, if known.
    pub duration: Option<Duration>,
    /// The share of attempts that succeeded.
    pub success: f64,
    /// The facts in force about its things and places, the heaviest edges first.
    pub facts: Vec<StepFact>,
}

/// An edge from a step to a fact about something that the step involves (NS-Mem 4.1).
#[derive(Debug, Clone, PartialEq)]
pub struct StepFact {
    /// What the thing is in the step.
    pub part: Part,
    /// The thing as the step names it; the fact may call it otherwise.
    pub name: String,
    /// How many observations of the step named it.
    pub observations: u32,
    /// The fact.
    pub fact: Fact,
    /// Whether the fact keeps the step from being done: its thing is needed and of no use.
    pub blocks: bool,
}

/// A transition.
#[derive(Debug, Clone, PartialEq)]
pub struct EdgeDetail {
    /// The step it leaves.
    pub from: String,
    /// The step it leads to.
    pub to: String,
    /// Number of sessions that made this transition.
    pub count: u32,
    /// The posterior mean of its probability.
    pub probability: f64,
}

/// A whole procedure.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcedureDetail {
    /// Its summary, with its sessions.
    pub summary: ProcedureSummary,
    /// Its steps in topological order, START first and GOAL last.
    pub steps: Vec<StepDetail>,
    /// Its edges, in the order of the steps.
    pub edges: Vec<EdgeDetail>,
}

/// A path to the goal.
#[derive(Debug, Clone, PartialEq)]
pub struct Way {
    /// The steps, in order.
    pub steps: Vec<String>,
    /// Its probability among all paths.
    pub probability: f64,
    /// Number of sessions that took exactly this path.
    pub seen: u32,
}

/// Paths to the goal, the most probable first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ways {
    /// The paths.
    pub ways: Vec<Way>,
    /// Whether the search was complete, so that these are the best paths.
    pub complete: bool,
    /// Whether they combine transitions that no session made in this context.
    pub guessed: bool,
}

/// A step with its probability.
#[derive(Debug, Clone, PartialEq)]
pub struct LikelyStep {
    /// The step; `GOAL` means that nothing is left to do.
    pub step: String,
    /// Its probability.
    pub probability: f64,
}

/// A remark in the memory about a thing that a procedure needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// The thing.
    pub thing: String,
    /// The original text.
    pub text: String,
    /// The sender's own id of the observation, or `ev-42`.
    pub observation: String,
}

/// A step done with another thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherThing {
    /// The step.
    pub step: String,
    /// The thing that was used instead.
    pub with: String,
    /// Number of times.
    pub seen: u32,
}

/// Alternatives to blocked things.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Alternatives {
    /// The steps that need a blocked thing.
    pub blocked: Vec<String>,
    /// The reasons, if the memory has any.
    pub because: Vec<Remark>,
    /// Paths without the blocked things.
    pub ways: Ways,
    /// Blocked steps that were done with another thing.
    pub others: Vec<OtherThing>,
    /// Places where a blocked thing is available.
    pub offers: Vec<Remark>,
}

/// The answer to a [`ProcedureRequest`].
#[derive(Debug, Clone, PartialEq)]
pub enum ProcedureReply {
    /// Reply to `List`.
    List(Vec<ProcedureSummary>),
    /// Reply to `Get`.
    Procedure(ProcedureDetail),
    /// Reply to `Paths`.
    Paths(Ways),
    /// Reply to `Next`.
    Next(Vec<LikelyStep>),
    /// Reply to `Missing`: the remaining steps in their usual order, and the things that they need.
    Missing {
        /// The steps.
        steps: Vec<LikelyStep>,
        /// The things.
        things: Vec<(Part, String)>,
    },
    /// Reply to `Alternatives`.
    Alternatives(Alternatives),
    /// Reply to `Behaviours`, the most frequent first.
    Behaviours(Vec<ProcedureSummary>),
    /// Reply to `Show`.
    Picture {
        /// Its kind.
        format: PictureFormat,
        /// The picture.
        picture: String,
    },
}

/// Something about a procedure that listeners hear of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcedureNews {
    /// Its id.
    pub id: ProcedureId,
    /// What happened to the procedure.
    pub change: ProcedureChange,
    /// Summary for lists, without its sessions; `None` if the procedure is gone.
    pub now: Option<ProcedureSummary>,
}

/// What happened to a procedure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ProcedureChange {
    /// Its goal was told for the first time, or verification let it pass.
    New,
    /// It was repeated, or its goal, its steps or their order changed.
    Update,
    /// It is no longer a procedure: its sessions were forgotten or belong to another one.
    End,
}

/// Why a request about procedures has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProcedureError {
    /// The request cannot be understood; the text says what to change.
    #[error("{0}")]
    Invalid(String),
    /// There is no such procedure.
    #[error("{0}")]
    Unknown(String),
    /// The store could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
}
