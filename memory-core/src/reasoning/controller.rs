//! The port for an external controller that chooses looks in place of the policy.

use std::time::Duration;

use crate::{Evidence, TimeSpan};

use super::tools::Tool;

/// Maximum number of looks that a controller may choose from.
pub(super) const MAX_LOOKS: usize = 12;

/// A look to choose from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PossibleLook {
    /// The tool.
    pub tool: Tool,
    /// Wall-clock span of what it would look at.
    pub span: TimeSpan,
    /// Probability that the answer is there.
    pub probability: f32,
    /// Expected gain by the policy: probability × what the tool can add × 1 / cost.
    pub gain: f32,
}

/// A look that was made.
#[derive(Debug, Clone, PartialEq)]
pub struct PastLook {
    /// The tool.
    pub tool: Tool,
    /// Wall-clock span of what it looked at.
    pub span: TimeSpan,
    /// Why it was chosen.
    pub aim: String,
    /// Findings.
    pub outcome: String,
    /// Confidence of the answer after it, 0 to 1.
    pub confidence: f32,
}

/// Input of a decision, new for each step.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'a> {
    /// The question.
    pub question: &'a str,
    /// Its options.
    pub options: &'a [String],
    /// The answer so far.
    pub answer: Option<&'a str>,
    /// Its confidence, 0 to 1.
    pub confidence: f32,
    /// Evidence of the answer.
    pub evidence: &'a [Evidence],
    /// Looks to choose from, most expected gain first; never empty.
    pub looks: &'a [PossibleLook],
    /// Looks so far.
    pub past: &'a [PastLook],
    /// Remaining time for the question.
    pub left: Duration,
}

/// Decision of a controller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// A look at an index of [`Situation::looks`].
    Look {
        /// The index.
        place: usize,
        /// Reason in a few words.
        aim: String,
    },
    /// Stop looking. Before the first look this is no valid decision.
    Stop,
}

/// Chooses looks in place of the policy. Calls block, and come from one thread at a time.
pub trait Controller: Send + Sync {
    /// Chooses the next look.
    ///
    /// # Errors
    /// Says who failed and why. The policy then chooses this look and every later one of the question, and the answer's `degraded` says so.
    fn choose(&self, situation: &Situation<'_>) -> Result<Decision, String>;
}
