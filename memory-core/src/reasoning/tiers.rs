//! The three tiers of memory of the loop (VideoARM 3.2).

use crate::TraceStep;

use super::interval::Interval;
use super::tools::{Look, Tool};

/// Sensory memory: the current interval, and the number of bytes of the recording in memory. Cleared after each tool
/// call.
#[derive(Debug, Default)]
pub(super) struct SensoryMemory {
    pub ceiling_bytes: usize,
    pub most_bytes: usize,
    pub held: Option<usize>,
}

impl SensoryMemory {
    pub fn hold(&mut self, look: &Look) {
        self.most_bytes = self.most_bytes.max(look.bytes);
        self.held = Some(look.bytes);
    }

    /// Drops everything that was perceived in the step.
    pub fn clear(&mut self) {
        self.held = None;
    }
}

/// Result of one step.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct StepResult {
    pub iteration: usize,
    /// Index of the interval.
    pub interval: usize,
    pub tool: Tool,
    pub outcome: String,
    /// Reason for the look.
    pub aim: String,
    /// Confidence of the answer after it.
    pub confidence: f32,
}

/// Results of all steps. A tool looks at an interval at most once.
#[derive(Debug, Default)]
pub(super) struct ResultMemory {
    pub steps: Vec<StepResult>,
    /// Whether looks may be repeated.
    pub forgets: bool,
}

impl ResultMemory {
    pub fn has(&self, interval: usize, tool: Tool) -> bool {
        !self.forgets && self.steps.iter().any(|step| (step.interval, step.tool) == (interval, tool))
    }

    /// Returns whether any tool looked at the interval.
    pub fn has_seen(&self, interval: usize) -> bool {
        self.steps.iter().any(|step| step.interval == interval)
    }
}

/// Reason and aim of each step, recorded before the tool call. Shown in `trace`.
#[derive(Debug, Default)]
pub(super) struct WorkingMemory {
    notes: Vec<TraceStep>,
}

impl WorkingMemory {
    pub fn note(&mut self, step: &str, detail: String) {
        self.notes.push(TraceStep { step: step.to_owned(), detail });
    }

    pub fn aim(&mut self, tool: Tool, interval: &Interval, number: usize, gain: f32, aim: &str) {
        self.note(
            "aim",
            format!(
                "{} on interval {number} ({:.1} s to {:.1} s, probability {:.2}, expected gain {gain:.3}): {aim}",
                tool.name(),
                interval.stream.start.as_secs_f64(),
                interval.stream.end.as_secs_f64(),
                interval.probability,
            ),
        );
    }

    pub fn into_trace(self) -> Vec<TraceStep> {
        self.notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_perceived_for_a_step_is_gone_after_it() {
        let mut sensory = SensoryMemory::default();
        sensory.hold(&Look { bytes: 700, ..Look::default() });
        assert_eq!(sensory.held, Some(700));
        sensory.clear();
        assert_eq!((sensory.held, sensory.most_bytes), (None, 700));
    }
}
