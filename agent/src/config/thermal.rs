//! `[thermal]`. The comments here are the descriptions in `engram config schema`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much is too much.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ThermalLevel {
    /// Everything is done.
    Normal,
    /// Some of it waits.
    Warm,
    /// Most of it waits.
    Hot,
}

impl ThermalLevel {
    /// The name in `health`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Warm => "warm",
            Self::Hot => "hot",
        }
    }
}

/// `[thermal]`: what engram omits while the machine is too hot or too busy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ThermalConfig {
    /// Whether engram does less on a hot machine. Without a thermal zone it never does.
    pub enabled: bool,
    /// Where the kernel shows the thermal zones.
    pub zones_dir: PathBuf,
    /// How often they are read, seconds.
    #[schemars(range(min = 0.05, max = 300.0))]
    pub interval_s: f64,
    /// Temperature of the hottest zone from which the machine counts as warm, °C.
    #[schemars(range(min = 20.0, max = 120.0))]
    pub warm_c: f64,
    /// The same for hot, °C.
    #[schemars(range(min = 20.0, max = 120.0))]
    pub hot_c: f64,
    /// How far the temperature must fall below a level to leave it, °C.
    #[schemars(range(min = 0.0, max = 50.0))]
    pub hysteresis_c: f64,
    /// Load from which the machine counts as warm: programs that want a processor, per processor, in the last minute.
    #[schemars(range(min = 0.1, max = 1000.0))]
    pub warm_load: f64,
    /// The same for hot.
    #[schemars(range(min = 0.1, max = 1000.0))]
    pub hot_load: f64,
    /// How long the machine must stay cooler or less busy, seconds.
    #[schemars(range(min = 0.0, max = 3600.0))]
    pub hold_s: f64,
    /// Share of the pictures of live sources, and of background work, that is done while warm.
    #[schemars(range(min = 0.01, max = 1.0))]
    pub warm_share: f64,
    /// The same while hot.
    #[schemars(range(min = 0.01, max = 1.0))]
    pub hot_share: f64,
}

impl Default for ThermalConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            zones_dir: PathBuf::from("/sys/class/thermal"),
            interval_s: 5.0,
            warm_c: 75.0,
            hot_c: 85.0,
            hysteresis_c: 5.0,
            warm_load: 2.0,
            hot_load: 4.0,
            hold_s: 30.0,
            warm_share: 0.5,
            hot_share: 0.25,
        }
    }
}

impl ThermalConfig {
    /// How much is done at a level.
    pub fn share(&self, level: ThermalLevel) -> f64 {
        match level {
            ThermalLevel::Normal => 1.0,
            ThermalLevel::Warm => self.warm_share,
            ThermalLevel::Hot => self.hot_share,
        }
    }

    /// What is wrong beyond types and ranges: the key below `thermal`, and what to do.
    pub fn problems(&self) -> Vec<(&'static str, String)> {
        let mut problems = Vec::new();
        if self.hot_c < self.warm_c {
            problems.push(("hot_c", "must not be below `thermal.warm_c`".to_owned()));
        }
        if self.hot_load < self.warm_load {
            problems.push(("hot_load", "must not be below `thermal.warm_load`".to_owned()));
        }
        if self.hot_share > self.warm_share {
            problems.push(("hot_share", "must not be above `thermal.warm_share`".to_owned()));
        }
        problems
    }
}
