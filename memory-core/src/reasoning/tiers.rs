//! The three tiers of memory that the loop works with (VideoARM 3.2).

use crate::TraceStep;

use super::interval::Interval;
use super::tools::{Look, Tool};

/// Sensory memory: the present interval, and how many bytes of the recording are in memory. Emptied after each tool.
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

    /// Drops everything that was perceived for the step.
    pub fn clear(&mut self) {
        self.held = None;
    }
}

/// Result of one step.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct StepResult {
    pub iteration: usize,
    /// Number of the interval.
    pub interval: usize,
    pub tool: Tool,
    pub outcome: String,
    /// Why it was looked at.
    pub aim: String,
    /// Confidence of the answer after it.
    pub confidence: f32,
}

/// Results of all steps. No interval is looked at twice with one tool.
#[derive(Debug, Default)]
pub(super) struct ResultMemory {
    pub steps: Vec<StepResult>,
    /// Looks may be made again.
    pub forgets: bool,
}

impl ResultMemory {
    pub fn has(&self, interval: usize, tool: Tool) -> bool {
        !self.forgets && self.steps.iter().any(|step| (step.interval, step.tool) == (interval, tool))
    }

    /// Whether the interval was looked at with any tool.
    pub fn has_seen(&self, interval: usize) -> bool {
        self.steps.iter().any(|step| step.interval == interval)
    }
}

/// Reason and aim of each step, noted before the tool is called: what `trace` shows.
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
