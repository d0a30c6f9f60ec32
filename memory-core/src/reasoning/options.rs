use std::time::Duration;

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
