//! `[reasoning]`. The comments here are the descriptions in `engram config schema`.

use std::time::Duration;

use memory_core::reasoning::ReasoningOptions;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[reasoning]`: looking at recordings again where the memory alone is unsure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReasoningConfig {
    /// Whether engram looks at recordings again at all.
    pub enabled: bool,
    /// Confidence of the memory's answer below which a question of normal effort looks again.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub trigger: f32,
    /// Maximum number of looks at one question.
    #[schemars(range(min = 1, max = 50))]
    pub steps: usize,
    /// Maximum time of one question, seconds; the question's own deadline ends it earlier.
    #[schemars(range(min = 0.5, max = 600.0))]
    pub deadline_s: f64,
    /// Maximum memory of the pictures and the sound that are looked at, MiB.
    #[schemars(range(min = 4, max = 4096))]
    pub max_mib: usize,
    /// Who chooses the next look: `policy`, by expected gain and without a model, or `model`, a language model behind the endpoint that
    /// serves `controller`; where that fails the policy goes on.
    pub controller: ControllerKind,
    /// Whether what was found is remembered, so that the second asking is fast. Switch it off for replays that must not depend on
    /// what was asked.
    pub write_back: bool,
}

/// Who chooses the next look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ControllerKind {
    /// The deterministic policy.
    #[default]
    Policy,
    /// A language model.
    Model,
}

impl Default for ReasoningConfig {
    fn default() -> Self {
        let options = ReasoningOptions::default();
        Self {
            enabled: true,
            trigger: options.trigger,
            steps: options.steps,
            deadline_s: options.deadline.as_secs_f64(),
            max_mib: options.ceiling_bytes >> 20,
            controller: ControllerKind::default(),
            write_back: true,
        }
    }
}

impl ReasoningConfig {
    /// The options of the loop.
    pub fn options(&self) -> ReasoningOptions {
        ReasoningOptions {
            trigger: self.trigger,
            steps: self.steps,
            deadline: Duration::from_secs_f64(self.deadline_s),
            ceiling_bytes: self.max_mib << 20,
            ..ReasoningOptions::default()
        }
    }
}
