use std::time::Duration;

use super::tools::Tool;

/// Conditions for the loop to start and to end.
#[derive(Debug, Clone, PartialEq)]
pub struct ReasoningOptions {
    /// Confidence below which a question of normal effort starts the loop.
    pub trigger: f32,
    /// Maximum number of steps (VideoARM's N).
    pub steps: usize,
    /// Maximum time.
    pub deadline: Duration,
    /// Maximum number of bytes of pictures and sound in memory at once.
    pub ceiling_bytes: usize,
    /// Parts left out, for measurements.
    pub ablation: LoopAblation,
}

/// Parts that the loop leaves out, to measure their gain. Only measurements set it: `docs/benchmarks.md`, "Looking again:
/// parts".
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LoopAblation {
    /// Tools that are not used.
    pub without_tools: Vec<Tool>,
    /// Without narrowing of attention (VideoARM's long-term perception pool): every interval keeps its probability.
    pub without_focus: bool,
    /// Without result memory: looks may be repeated, and what was not seen stays as likely to be seen.
    pub without_results: bool,
    /// Fixed number of pictures of each interval for the localiser, instead of one that depends on its length.
    pub localiser_pictures: Option<usize>,
}

impl ReasoningOptions {
    /// Returns the number of pictures that a tool takes of an interval.
    pub(super) fn pictures(&self, tool: Tool, length: Duration) -> usize {
        match (tool, self.ablation.localiser_pictures) {
            (Tool::IntervalLocaliser, Some(count)) => count,
            _ => tool.pictures(length),
        }
    }
}

impl Default for ReasoningOptions {
    fn default() -> Self {
        // With the default models it helps no question that did not ask for it (docs/benchmarks.md).
        Self {
            trigger: 0.0,
            steps: 10,
            deadline: Duration::from_secs(20),
            ceiling_bytes: 64 << 20,
            ablation: LoopAblation::default(),
        }
    }
}
