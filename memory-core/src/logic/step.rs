//! A step of a procedure: one action under all its wordings.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Action, ActionOutcome, Beta, Embedding, normalise};

/// A step's number within its procedure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StepId(pub u32);

/// Attributes of a step, A(v) of the paper: names with how many observations named them, sorted by name.
///
/// Names are in the normalised form of [`normalise`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StepAttributes {
    /// Things the step is done to.
    pub objects: BTreeMap<String, u32>,
    /// Things it is done with.
    pub tools: BTreeMap<String, u32>,
    /// Places where it is done.
    pub places: BTreeMap<String, u32>,
    /// Persons who do it.
    pub persons: BTreeMap<String, u32>,
}

/// A step of a procedure.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Step {
    /// The words it was first told in, as told.
    pub text: String,
    /// Every wording in normalised form, the first one first. Wordings other than the first came by fusion.
    pub wordings: Vec<String>,
    /// Objects, tools, places and persons.
    pub attributes: StepAttributes,
    /// How often it was done.
    pub count: u32,
    /// Number of sessions in which it was done.
    pub sessions: u32,
    /// Whether it succeeds.
    pub success: Beta,
    /// φ of its text, where there is a φ.
    pub embedding: Option<Embedding>,
    /// Sum of the durations that are known, and of how many.
    pub(super) lasted: (Duration, u32),
}

impl Step {
    /// The normalised text that identifies the step.
    pub fn key(&self) -> &str {
        self.wordings.first().map_or("", String::as_str)
    }

    /// The mean duration, if any observation had one.
    pub fn duration(&self) -> Option<Duration> {
        (self.lasted.1 > 0).then(|| self.lasted.0 / self.lasted.1)
    }

    /// Counts one observation of the step.
    pub(super) fn observe(&mut self, action: &Action) {
        self.count = self.count.saturating_add(1);
        self.success.observe(action.outcome == ActionOutcome::Done);
        let lasted = action.span.end.since(action.span.start);
        if !lasted.is_zero() {
            self.lasted = (self.lasted.0.saturating_add(lasted), self.lasted.1.saturating_add(1));
        }
        self.for_each_name(action, |names, name| *names.entry(name).or_default() += 1);
    }

    /// Takes one observation back.
    pub(super) fn retract(&mut self, action: &Action) {
        self.count = self.count.saturating_sub(1);
        self.success.retract(action.outcome == ActionOutcome::Done);
        let lasted = action.span.end.since(action.span.start);
        if !lasted.is_zero() {
            self.lasted = (self.lasted.0.saturating_sub(lasted), self.lasted.1.saturating_sub(1));
        }
        self.for_each_name(action, |names, name| {
            if let Some(count) = names.get_mut(&name) {
                *count = count.saturating_sub(1);
                if *count == 0 {
                    names.remove(&name);
                }
            }
        });
    }

    fn for_each_name(&mut self, action: &Action, mut change: impl FnMut(&mut BTreeMap<String, u32>, String)) {
        let attributes = &mut self.attributes;
        let groups = [
            (&mut attributes.objects, action.objects.as_slice()),
            (&mut attributes.tools, action.tools.as_slice()),
            (&mut attributes.places, action.places.as_slice()),
            (&mut attributes.persons, action.person.as_slice()),
        ];
        for (names, told) in groups {
            for name in told {
                let name = normalise(name);
                if !name.is_empty() {
                    change(names, name);
                }
            }
        }
    }
}
