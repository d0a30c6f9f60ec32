//! From readings to a level, with hysteresis.

use std::time::Duration;

use super::sensors::Reading;
use crate::config::{ThermalConfig, ThermalLevel};

/// Share of a threshold below which the load must fall for a lower level.
const LOAD_MARGIN: f64 = 0.8;

/// Decides on the level. It rises with the first reading above a threshold, and falls once every reading of `hold_s` seconds
/// was below it by a margin.
#[derive(Debug)]
pub struct Governor {
    config: ThermalConfig,
    level: ThermalLevel,
    /// Time since which a lower level is enough, and that level.
    calm: Option<(Duration, ThermalLevel)>,
}

impl Governor {
    /// Begins with everything.
    pub fn new(config: ThermalConfig) -> Self {
        Self { config, level: ThermalLevel::Normal, calm: None }
    }

    /// The level after the last reading.
    pub fn level(&self) -> ThermalLevel {
        self.level
    }

    /// Takes a reading into account. A temperature that cannot be read any more leaves the level where it is.
    pub fn step(&mut self, reading: &Reading, now: Duration) -> ThermalLevel {
        let Some((_, celsius)) = reading.hottest else { return self.level };
        let load = reading.load.unwrap_or(0.0);
        let rising = self.level_at(celsius, load);
        let falling = self.level_at(celsius + self.config.hysteresis_c, load / LOAD_MARGIN);
        if rising > self.level {
            (self.level, self.calm) = (rising, None);
        } else if falling < self.level {
            // The highest that was needed meanwhile.
            let (since, needed) = self.calm.map_or((now, falling), |(since, needed)| (since, needed.max(falling)));
            self.calm = Some((since, needed));
            if now.saturating_sub(since) >= Duration::from_secs_f64(self.config.hold_s) {
                (self.level, self.calm) = (needed, None);
            }
        } else {
            self.calm = None;
        }
        self.level
    }

    fn level_at(&self, celsius: f64, load: f64) -> ThermalLevel {
        let ThermalConfig { warm_c, hot_c, warm_load, hot_load, .. } = self.config;
        if celsius >= hot_c || load >= hot_load {
            ThermalLevel::Hot
        } else if celsius >= warm_c || load >= warm_load {
            ThermalLevel::Warm
        } else {
            ThermalLevel::Normal
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Readings of a temperature and a load, one each ten seconds, and the levels they lead to.
    fn levels(readings: &[(f64, f64)]) -> Vec<&'static str> {
        let mut governor = Governor::new(ThermalConfig::default());
        let step = |(n, &(celsius, load)): (usize, &(f64, f64))| {
            let reading = Reading { hottest: Some(("cpu".to_owned(), celsius)), load: Some(load) };
            governor.step(&reading, Duration::from_secs(10 * n as u64)).name()
        };
        readings.iter().enumerate().map(step).collect()
    }

    #[test]
    fn it_rises_at_once_and_falls_after_half_a_minute() {
        let readings = [(60.0, 0.5), (76.0, 0.5), (86.0, 0.5), (60.0, 0.5), (60.0, 0.5), (60.0, 0.5), (60.0, 0.5)];
        assert_eq!(levels(&readings), ["normal", "warm", "hot", "hot", "hot", "hot", "normal"]);
    }

    #[test]
    fn a_temperature_that_swings_about_a_threshold_changes_nothing() {
        let readings: Vec<(f64, f64)> = (0..40).map(|n| (if n % 2 == 0 { 75.5 } else { 71.0 }, 0.5)).collect();
        assert!(levels(&readings).iter().all(|level| *level == "warm"));
    }

    #[test]
    fn what_was_needed_meanwhile_decides_how_far_it_falls() {
        let readings = [(86.0, 0.5), (60.0, 0.5), (72.0, 0.5), (60.0, 0.5), (60.0, 0.5), (60.0, 0.5)];
        assert_eq!(levels(&readings)[4..], ["warm", "warm"]);
    }

    #[test]
    fn load_counts_as_heat_does() {
        assert_eq!(levels(&[(40.0, 0.5), (40.0, 2.5), (40.0, 5.0), (40.0, 1.9)]), ["normal", "warm", "hot", "hot"]);
        let held: Vec<(f64, f64)> = std::iter::once((40.0, 2.5)).chain((0..9).map(|_| (40.0, 1.7))).collect();
        assert_eq!(levels(&held).last(), Some(&"warm"), "below the threshold, but not by the margin");
    }

    #[test]
    fn a_zone_that_cannot_be_read_any_more_leaves_the_level_as_it_is() {
        let mut governor = Governor::new(ThermalConfig::default());
        let hot = Reading { hottest: Some(("cpu".to_owned(), 90.0)), load: None };
        governor.step(&hot, Duration::ZERO);
        let blind = Reading { hottest: None, load: Some(0.0) };
        assert_eq!(governor.step(&blind, Duration::from_secs(1000)), ThermalLevel::Hot);
    }
}
