//! `[memory.consolidation]`. The comments here are the descriptions in `engram config schema`.

use std::time::Duration;

use memory_core::ConsolidationOptions;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[memory.consolidation]`: perceived segments that show one place without a break become one episode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ConsolidationConfig {
    /// Whether it is done. Without it, the memory of a robot that stands still grows as fast as that of one that walks.
    pub enabled: bool,
    /// How old a segment must be, and how long nothing may go on with a stay until it is over, seconds.
    #[schemars(range(min = 0, max = 86_400))]
    pub after_s: u64,
}

impl ConsolidationConfig {
    /// The options of the memory.
    pub fn options(&self) -> ConsolidationOptions {
        let after = Duration::from_secs(self.after_s);
        ConsolidationOptions { enabled: self.enabled, after, ..ConsolidationOptions::default() }
    }
}

impl Default for ConsolidationConfig {
    fn default() -> Self {
        let ConsolidationOptions { enabled, after, .. } = ConsolidationOptions::default();
        Self { enabled, after_s: after.as_secs() }
    }
}
