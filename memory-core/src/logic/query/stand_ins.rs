//! Alternatives to a thing that is not available (NS-Mem, Figure 1): another path, or another thing.

use std::collections::BTreeMap;

use super::constraint::{ConstraintError, Constraints};
use super::paths::{Paths, paths_from};
use super::words::{Part, Phrase, Stems, StepWords};
use crate::logic::{Procedure, StepId};

/// A step done with another thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Swap {
    /// The step.
    pub step: StepId,
    /// The thing that was used instead.
    pub with: String,
    /// Its role in the action.
    pub part: Part,
    /// How often.
    pub seen: u32,
}

/// Replacements for what is blocked.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StandIns {
    /// The steps that need what is blocked, in order of number; empty if none does.
    pub blocked: Vec<StepId>,
    /// Ways on that do without them.
    pub ways: Paths,
    /// Blocked steps that were done with another thing before.
    pub swaps: Vec<Swap>,
}

/// Returns replacements for things, or steps, that are not available, after `done`.
///
/// # Errors
/// If too many things are blocked.
pub fn stand_ins(
    procedure: &Procedure,
    blocked: &[Phrase],
    done: &[StepId],
    max: usize,
) -> Result<StandIns, ConstraintError> {
    let words = StepWords::of(procedure);
    let mut named = vec![false; procedure.steps().len()];
    for phrase in blocked {
        for (step, hit) in words.named_by(phrase).into_iter().enumerate() {
            named[step] |= hit;
        }
    }
    let steps: Vec<StepId> = (0..named.len())
        .map(|step| StepId(step as u32))
        .filter(|step| named[step.0 as usize] && procedure.steps()[step.0 as usize].count > 0 && !done.contains(step))
        .collect();
    let constraints = Constraints { without: blocked.to_vec(), ..Constraints::default() };
    Ok(StandIns {
        ways: paths_from(procedure, &constraints, done, max)?,
        swaps: swaps(procedure, blocked, &steps),
        blocked: steps,
    })
}

/// Returns other things that blocked steps were done with, the most frequent first.
fn swaps(procedure: &Procedure, blocked: &[Phrase], steps: &[StepId]) -> Vec<Swap> {
    let stems = Stems::new();
    let blocked: Vec<_> = blocked.iter().map(|phrase| stems.of(&phrase.text)).collect();
    let is_blocked = |name: &str| {
        let terms = stems.of(name);
        blocked.iter().any(|phrase| !phrase.is_empty() && phrase.iter().all(|term| terms.binary_search(term).is_ok()))
    };
    let mut found = Vec::new();
    for step in steps {
        let Some(attributes) = procedure.step(*step).map(|step| &step.attributes) else { continue };
        for (part, names) in [(Part::Tool, &attributes.tools), (Part::Object, &attributes.objects)] {
            // Only the part that the blocked thing plays: another tool does not stand in for an object.
            if names.keys().any(|name| is_blocked(name)) {
                found.extend(others(names, &is_blocked).map(|(name, seen)| Swap {
                    step: *step,
                    with: name.to_owned(),
                    part,
                    seen,
                }));
            }
        }
    }
    found.sort_by(|a, b| b.seen.cmp(&a.seen).then_with(|| a.step.cmp(&b.step)).then_with(|| a.with.cmp(&b.with)));
    found
}

fn others<'a>(
    names: &'a BTreeMap<String, u32>,
    is_blocked: &'a dyn Fn(&str) -> bool,
) -> impl Iterator<Item = (&'a str, u32)> {
    names.iter().filter(|(name, _)| !is_blocked(name)).map(|(name, seen)| (name.as_str(), *seen))
}
