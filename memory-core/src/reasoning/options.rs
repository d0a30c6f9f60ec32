use std::time::Duration;

/// How much work a question is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Effort {
    /// The memory alone.
    Fast,
    /// The recordings too, if the memory's answer is less likely than the trigger.
    #[default]
    Normal,
    /// The recordings in any case where they can add something.
    Thorough,
}

/// When the loop starts, and when it ends.
#[derive(Debug, Clone, PartialEq)]
pub struct ReasoningOptions {
    /// Confidence below which a question of normal effort starts it.
    pub trigger: f32,
    /// Maximum number of steps (VideoARM's N).
    pub steps: usize,
    /// Maximum time.
    pub deadline: Duration,
    /// Maximum number of bytes of pictures and sound in memory at once.
    pub ceiling_bytes: usize,
}

impl Default for ReasoningOptions {
    fn default() -> Self {
        // With the default models it helps no question that did not ask for it (docs/benchmarks.md).
        Self { trigger: 0.0, steps: 10, deadline: Duration::from_secs(20), ceiling_bytes: 64 << 20 }
    }
}
