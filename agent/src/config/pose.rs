//! `[pose]`. The comments here are the descriptions in `engram config schema`.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which poses are used, and for what.
#[derive(Debug, Clone, PartialEq)]
pub struct PoseOptions {
    /// The only frame whose poses are used; any if there is none.
    pub frame: Option<String>,
    /// The pose of a moment is at most this old.
    pub max_age: Duration,
    /// Largest standard deviation of a position that is used, metres.
    pub max_spread: f64,
    /// Largest standard deviation of a heading that is used, radians.
    pub max_heading: f64,
    /// No robot in a house drives so fast: between two such poses it was located anew. Metres a second.
    pub max_speed: f64,
    /// Poses that are read a second.
    pub max_per_s: u32,
    /// Whether visits to places that have a name are remembered.
    pub visits: bool,
}

impl Default for PoseOptions {
    fn default() -> Self {
        Self {
            frame: None,
            max_age: Duration::from_secs(1),
            max_spread: 1.0,
            max_heading: 0.8,
            max_speed: 10.0,
            max_per_s: 100,
            visits: true,
        }
    }
}

/// `[pose]`: where the robot is, as `…/pose` says it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PoseConfig {
    /// The only map whose poses are used. Default: whichever the robot names.
    #[schemars(length(min = 1, max = 128))]
    pub frame: Option<String>,
    /// How old the nearest pose may be where an observation gets it, seconds.
    #[schemars(range(min = 0.05, max = 60.0))]
    pub max_age_s: f64,
    /// Largest standard deviation of a position that is used, metres.
    #[schemars(range(min = 0.01, max = 100.0))]
    pub max_spread_m: f64,
    /// Largest standard deviation of a heading that is used, radians.
    #[schemars(range(min = 0.01, max = 3.2))]
    pub max_heading_rad: f64,
    /// Between two poses that lie farther apart than this speed allows, metres a second, the robot was located anew.
    #[schemars(range(min = 0.1, max = 1000.0))]
    pub max_speed_m_s: f64,
    /// Poses a second that are read; more are dropped.
    #[schemars(range(min = 1, max = 10_000))]
    pub max_per_s: u32,
    /// Whether visits to places that have a name are remembered.
    pub visits: bool,
}

impl PoseConfig {
    /// The options of the service.
    pub fn options(&self) -> PoseOptions {
        PoseOptions {
            frame: self.frame.clone(),
            max_age: Duration::from_secs_f64(self.max_age_s),
            max_spread: self.max_spread_m,
            max_heading: self.max_heading_rad,
            max_speed: self.max_speed_m_s,
            max_per_s: self.max_per_s,
            visits: self.visits,
        }
    }
}

impl Default for PoseConfig {
    fn default() -> Self {
        let PoseOptions { frame, max_age, max_spread, max_heading, max_speed, max_per_s, visits } =
            PoseOptions::default();
        Self {
            frame,
            max_age_s: max_age.as_secs_f64(),
            max_spread_m: max_spread,
            max_heading_rad: max_heading,
            max_speed_m_s: max_speed,
            max_per_s,
            visits,
        }
    }
}
