//! Requests about procedures and their answers: `cmd/procedure` of the contract, typed.

use std::time::Duration;

use serde::Serialize;

use crate::logic::query::{Constraints, Part};
use crate::logic::{Procedure, ProcedureId};
use crate::{ReadError, TimeSpan};

/// Which procedure is meant. An id wins over a goal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WhichProcedure {
    /// Its id.
    pub id: Option<ProcedureId>,
    /// Its goal: in its own words, or in words that are like them.
    pub goal: Option<String>,
}

impl WhichProcedure {
    /// The procedure of a goal.
    pub fn of_goal(goal: impl Into<String>) -> Self {
        Self { id: None, goal: Some(goal.into()) }
    }
}

/// How a procedure is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureFormat {
    /// A picture that stands on its own.
    Svg,
    /// For Graphviz.
    Dot,
}

/// A symbolic query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProcedureRequest {
    /// Which procedures there are.
    List {
        /// Only those whose goal shares a word with this.
        goal_like: Option<String>,
        /// How many at most.
        max: usize,
    },
    /// One procedure whole, with its evidence.
    Get(WhichProcedure),
    /// The ways to the goal that fulfil conditions.
    Paths {
        /// The procedure.
        of: WhichProcedure,
        /// The conditions.
        constraints: Constraints,
        /// What was done already: the ways on from there.
        done: Vec<String>,
        /// How many at most.
        max: usize,
    },
    /// What comes next.
    Next {
        /// The procedure.
        of: WhichProcedure,
        /// What was done, in order, in any words.
        done: Vec<String>,
        /// How many at most.
        k: usize,
    },
    /// What is still to be done, and with what.
    Missing {
        /// The procedure.
        of: WhichProcedure,
        /// What was done, in any words.
        done: Vec<String>,
    },
    /// What can stand in for things that are not to be had.
    Alternatives {
        /// The procedure.
        of: WhichProcedure,
        /// Things, or steps. Empty: what memory says is broken, missing or used up.
        blocked: Vec<String>,
        /// What was done, in order, in any words.
        done: Vec<String>,
        /// How many ways at most.
        max: usize,
    },
    /// What a person does.
    Behaviours {
        /// The person's name.
        person: String,
    },
    /// A picture of a procedure.
    Show {
        /// The procedure.
        of: WhichProcedure,
        /// Of which kind.
        format: PictureFormat,
        /// How many steps it shows at most: the most frequent ways.
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
    /// From the first to the last.
    pub span: TimeSpan,
}

/// A procedure in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcedureSummary {
    /// Its id.
    pub id: ProcedureId,
    /// Its goal.
    pub goal: String,
    /// Whether somebody told the goal.
    pub named: bool,
    /// How many different steps it has.
    pub steps: usize,
    /// How many sessions show it; of a person's, the person's.
    pub sessions: usize,
    /// The sessions; of lists, none.
    pub evidence: Vec<SessionEvidence>,
}

impl ProcedureSummary {
    /// What a list tells of a procedure.
    pub(crate) fn of(procedure: &Procedure) -> Self {
        Self {
            id: procedure.id(),
            goal: procedure.goal().to_owned(),
            named: procedure.is_named(),
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
    /// What is done; `START` and `GOAL`.
    pub text: String,
    /// Which time in a session this is: 1 for the first.
    pub occurrence: u16,
    /// How many sessions came through.
    pub count: u32,
    /// Names by the part they play, with how many observations named them.
    pub attributes: Vec<(Part, Vec<(String, u32)>)>,
    /// How long it takes on average, where that is known.
    pub duration: Option<Duration>,
    /// The share of attempts that succeeded.
    pub success: f64,
}

/// A transition.
#[derive(Debug, Clone, PartialEq)]
pub struct EdgeDetail {
    /// The step it leaves.
    pub from: String,
    /// The step it leads to.
    pub to: String,
    /// How many sessions made it.
    pub count: u32,
    /// The posterior mean of its probability.
    pub probability: f64,
}

/// A procedure whole.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcedureDetail {
    /// What a list tells of it, with its sessions.
    pub summary: ProcedureSummary,
    /// Its steps in an order in which no edge leads back, START first and GOAL last.
    pub steps: Vec<StepDetail>,
    /// Its edges, in the order of the steps.
    pub edges: Vec<EdgeDetail>,
}

/// A way to the goal.
#[derive(Debug, Clone, PartialEq)]
pub struct Way {
    /// What is done, in order.
    pub steps: Vec<String>,
    /// How probable it is among all ways.
    pub probability: f64,
    /// How many sessions did just this.
    pub seen: u32,
}

/// Ways to the goal, the most probable first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ways {
    /// The ways.
    pub ways: Vec<Way>,
    /// Whether these are the best there are.
    pub complete: bool,
    /// Whether they are put together from pieces that nobody did in this context.
    pub guessed: bool,
}

/// A step with its probability.
#[derive(Debug, Clone, PartialEq)]
pub struct LikelyStep {
    /// What is done; `GOAL`: nothing more.
    pub step: String,
    /// How probable it is.
    pub probability: f64,
}

/// Something that memory says about a thing that a procedure needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// The thing.
    pub thing: String,
    /// What was said, in its own words.
    pub text: String,
    /// The sender's own id of the observation, or `ev-42`.
    pub observation: String,
}

/// A step done with another thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherThing {
    /// The step.
    pub step: String,
    /// What it was done with, or to, instead.
    pub with: String,
    /// How often.
    pub seen: u32,
}

/// What can stand in for what is blocked.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Alternatives {
    /// The steps that need what is blocked.
    pub blocked: Vec<String>,
    /// Why, where memory says so.
    pub because: Vec<Remark>,
    /// Ways on that do without.
    pub ways: Ways,
    /// Blocked steps that were done with another thing.
    pub others: Vec<OtherThing>,
    /// Where what is blocked is to be had.
    pub offers: Vec<Remark>,
}

/// The answer to a [`ProcedureRequest`].
#[derive(Debug, Clone, PartialEq)]
pub enum ProcedureReply {
    /// To `List`.
    List(Vec<ProcedureSummary>),
    /// To `Get`.
    Procedure(ProcedureDetail),
    /// To `Paths`.
    Paths(Ways),
    /// To `Next`.
    Next(Vec<LikelyStep>),
    /// To `Missing`: steps in the order in which they are done, and the things that they need.
    Missing {
        /// The steps.
        steps: Vec<LikelyStep>,
        /// The things.
        things: Vec<(Part, String)>,
    },
    /// To `Alternatives`.
    Alternatives(Alternatives),
    /// To `Behaviours`, the most frequent first.
    Behaviours(Vec<ProcedureSummary>),
    /// To `Show`.
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
    /// What became of it.
    pub change: ProcedureChange,
    /// What a list tells of it, without its sessions; `None` of one that is no more.
    pub now: Option<ProcedureSummary>,
}

/// What became of a procedure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ProcedureChange {
    /// Its goal was told for the first time, or verification let it pass.
    New,
    /// It was done again, or its goal, its steps or their order changed.
    Update,
    /// It is no procedure any more: what showed it was forgotten or turned out to be another one.
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
