//! Reduces work on a hot or busy machine: fewer pictures of live sources are analysed, and background work pauses more often.
//!
//! A board that gets too hot slows down everything, the robot's control too. Long before that, the [`Governor`] reduces the
//! memory's share of the work. The level rises at once. It falls only after the temperature has been lower by a margin for
//! some time, so that it does not oscillate with its own effect.

mod governor;
mod sensors;

pub use crate::config::ThermalLevel;
pub use governor::Governor;
pub use sensors::{Machine, Reading, Sensors, zones};

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use drivers::perception::Pace;
use memory_core::Clock;

use crate::config::ThermalConfig;
use crate::health::ThermalHealth;

/// Result of a step.
type Tell = Box<dyn Fn(ThermalHealth) + Send>;

/// Watches the sensors on a thread of its own; ends when this is dropped.
pub struct Watch {
    _stop: SyncSender<()>,
}

impl Watch {
    /// Starts to watch; `tell` hears of every reading, the first before this returns.
    ///
    /// # Errors
    /// If no thread can be made.
    pub fn start(
        config: ThermalConfig,
        mut sensors: Box<dyn Sensors>,
        clock: Arc<dyn Clock>,
        pace: Pace,
        tell: Tell,
    ) -> std::io::Result<Self> {
        let (stop, stopped) = sync_channel::<()>(0);
        let interval = Duration::from_secs_f64(config.interval_s);
        let mut control = Control { governor: Governor::new(config.clone()), config, pace };
        let first = control.step(&sensors.read(), clock.monotonic());
        let goes_on = first.state != OFF;
        tell(first);
        std::thread::Builder::new().name("thermal".to_owned()).spawn(move || {
            while goes_on && stopped.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                tell(control.step(&sensors.read(), clock.monotonic()));
            }
        })?;
        Ok(Self { _stop: stop })
    }
}

/// Value that disables the governor.
const OFF: &str = "off";

struct Control {
    config: ThermalConfig,
    governor: Governor,
    pace: Pace,
}

impl Control {
    /// Takes a reading into account and says what came of it.
    fn step(&mut self, reading: &Reading, now: Duration) -> ThermalHealth {
        let off = |reason: String| ThermalHealth {
            state: OFF.to_owned(),
            share: 1.0,
            reason: Some(reason),
            ..Default::default()
        };
        if !self.config.enabled {
            return off("thermal.enabled is false".to_owned());
        }
        if reading.hottest.is_none() && self.governor.level() == ThermalLevel::Normal {
            return off(format!("no thermal zone in {}", self.config.zones_dir.display()));
        }
        let before = self.governor.level();
        let level = self.governor.step(reading, now);
        let share = self.config.share(level);
        self.pace.set(share);
        let (zone, celsius) = reading.hottest.clone().unzip();
        if level != before {
            let (from, to) = (before.name(), level.name());
            let shown =
                (zone.as_deref().unwrap_or("unknown"), celsius.unwrap_or_default(), reading.load.unwrap_or_default());
            if level > before {
                tracing::warn!(
                    from,
                    to,
                    zone = shown.0,
                    celsius = shown.1,
                    load = shown.2,
                    share,
                    "the machine is too hot or too busy: less is looked at"
                );
            } else {
                tracing::info!(
                    from,
                    to,
                    zone = shown.0,
                    celsius = shown.1,
                    load = shown.2,
                    share,
                    "the machine has cooled down"
                );
            }
        }
        ThermalHealth {
            state: level.name().to_owned(),
            zone,
            celsius: celsius.map(f64::round),
            load: reading.load.map(|load| (load * 100.0).round() / 100.0),
            share,
            reason: (level != ThermalLevel::Normal).then(|| {
                format!(
                    "the machine is {}: {:.0} % of the usual pictures and background work",
                    level.name(),
                    share * 100.0
                )
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use memory_core::{ManualClock, Timestamp};
    use parking_lot::Mutex;

    use super::*;

    /// A zone whose temperature the test sets.
    struct Fake(Arc<Mutex<Option<f64>>>);

    impl Sensors for Fake {
        fn read(&mut self) -> Reading {
            Reading { hottest: self.0.lock().map(|celsius| ("cpu".to_owned(), celsius)), load: Some(0.1) }
        }
    }

    #[test]
    fn the_pace_follows_the_heat_and_everybody_hears_of_it() {
        let clock = Arc::new(ManualClock::at(Timestamp::from_micros(0)));
        let celsius = Arc::new(Mutex::new(Some(50.0)));
        let (heard, hears) = sync_channel(64);
        let pace = Pace::default();
        let config = ThermalConfig { interval_s: 0.001, ..ThermalConfig::default() };
        let watch = Watch::start(
            config,
            Box::new(Fake(Arc::clone(&celsius))),
            clock.clone(),
            pace.clone(),
            // A full channel is a test that has heard enough.
            Box::new(move |health| drop(heard.try_send(health))),
        );
        let next = |state: &str| hears.iter().find(|health: &ThermalHealth| health.state == state).unwrap();
        assert_eq!((next("normal").share, pace.share()), (1.0, 1.0));
        *celsius.lock() = Some(90.0);
        let hot = next("hot");
        assert_eq!((hot.share, pace.share(), hot.celsius), (0.25, 0.25, Some(90.0)));
        *celsius.lock() = Some(50.0);
        clock.advance(Duration::from_secs(1));
        assert_eq!(hears.recv().unwrap().state, "hot", "not at once");
        // Whatever it has done meanwhile, after the pause it may fall.
        while pace.share() < 1.0 {
            clock.advance(Duration::from_secs(31));
            hears.recv().unwrap();
        }
        drop(watch);
    }

    #[test]
    fn without_zones_it_is_off_and_says_so() {
        let config = ThermalConfig::default();
        let mut control = Control { governor: Governor::new(config.clone()), config, pace: Pace::default() };
        let health = control.step(&Reading { hottest: None, load: Some(99.0) }, Duration::ZERO);
        assert_eq!((health.state.as_str(), health.share), ("off", 1.0));
        assert!(health.reason.unwrap().contains("/sys/class/thermal"));
    }
}
