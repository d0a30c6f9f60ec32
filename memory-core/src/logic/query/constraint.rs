//! Conditions on a path to a goal (C of NS-Mem 4.3.3), as a state machine that reads the path step by step.

use super::words::{Phrase, StepWords};
use crate::logic::{Procedure, StepId};

/// Conditions of a path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Constraints {
    /// Holds at every step (Eq. 5): no step that is named by any of these.
    pub without: Vec<Phrase>,
    /// Holds at some step: each of these names at least one.
    pub with: Vec<Phrase>,
    /// Pairs: a step of the first comes, and none of the second comes before it, and one comes after.
    pub before: Vec<(Phrase, Phrase)>,
    /// Maximum number of steps.
    pub max_steps: Option<usize>,
}

/// Why conditions cannot be searched for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConstraintError {
    /// There are more conditions than a path can keep track of.
    #[error("{found} conditions of the kind `{kind}`, and {most} are allowed: ask with fewer")]
    TooMany {
        /// `with`, or `before` and `after`.
        kind: &'static str,
        /// How many there are.
        found: usize,
        /// How many may be.
        most: usize,
    },
    /// Their combinations are too many for a procedure of this size.
    #[error("too many conditions at once for a procedure of {nodes} steps: ask with fewer `with`, `before` or `after`")]
    TooComplex {
        /// Steps in their contexts.
        nodes: usize,
    },
}

/// Maximum number of phrases of `with`, and of pairs.
const MAX_CONSTRAINTS: usize = 12;

/// How far a path has come in fulfilling its conditions: a bit per `with`, two bits per pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct ConstraintProgress(u64);

/// Constraints, resolved to the steps of one procedure.
pub(super) struct Conditions {
    banned: Vec<bool>,
    with: Vec<Vec<bool>>,
    pairs: Vec<(Vec<bool>, Vec<bool>)>,
    max_steps: Option<usize>,
}

impl Conditions {
    pub fn resolve(constraints: &Constraints, procedure: &Procedure) -> Result<Self, ConstraintError> {
        for (kind, found) in [("with", constraints.with.len()), ("before", constraints.before.len())] {
            if found > MAX_CONSTRAINTS {
                return Err(ConstraintError::TooMany { kind, found, most: MAX_CONSTRAINTS });
            }
        }
        let words = StepWords::of(procedure);
        let mut banned = vec![false; procedure.steps().len()];
        for phrase in &constraints.without {
            for (step, named) in words.named_by(phrase).into_iter().enumerate() {
                banned[step] |= named;
            }
        }
        Ok(Self {
            banned,
            with: constraints.with.iter().map(|phrase| words.named_by(phrase)).collect(),
            pairs: constraints
                .before
                .iter()
                .map(|(first, second)| (words.named_by(first), words.named_by(second)))
                .collect(),
            max_steps: constraints.max_steps,
        })
    }

    /// Whether a step may not be on the path.
    pub fn bans(&self, step: StepId) -> bool {
        self.banned.get(step.0 as usize).copied().unwrap_or(false)
    }

    pub fn max_steps(&self) -> usize {
        self.max_steps.unwrap_or(usize::MAX)
    }

    /// One more step; `None` if no path that goes on like this can fulfil the conditions.
    pub fn enter(&self, progress: ConstraintProgress, step: StepId) -> Option<ConstraintProgress> {
        let at = step.0 as usize;
        if self.bans(step) {
            return None;
        }
        let mut bits = progress.0;
        for (number, named) in self.with.iter().enumerate() {
            bits |= u64::from(named[at]) << number;
        }
        for (number, (first, second)) in self.pairs.iter().enumerate() {
            let place = MAX_CONSTRAINTS + 2 * number;
            match (bits >> place) & 0b11 {
                0 if first[at] => bits |= 0b01 << place,
                0 if second[at] => return None,
                0b01 if second[at] => bits |= 0b10 << place,
                _ => {}
            }
        }
        Some(ConstraintProgress(bits))
    }

    /// Whether a path may end like this.
    pub fn accepts(&self, progress: ConstraintProgress) -> bool {
        let with = (1_u64 << self.with.len()) - 1;
        let pairs = (0..self.pairs.len()).all(|number| (progress.0 >> (MAX_CONSTRAINTS + 2 * number)) & 0b11 == 0b11);
        progress.0 & with == with && pairs
    }

    /// Whether a whole path fulfils them.
    pub fn hold(&self, steps: &[StepId]) -> bool {
        let end = steps.iter().try_fold(ConstraintProgress::default(), |progress, step| self.enter(progress, *step));
        steps.len() <= self.max_steps() && end.is_some_and(|end| self.accepts(end))
    }
}
