//! The share of the usual work that is done when the machine cannot do all of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The full share, in the unit of [`Pace`].
const FULL_SHARE: u32 = 1000;
/// Minimum share, so that no source ever stops.
const MIN_SHARE: u32 = 10;

/// A share of the usual rate, 0.01 to 1. Clones share it.
#[derive(Debug, Clone)]
pub struct Pace(Arc<AtomicU32>);

impl Default for Pace {
    /// The usual rate.
    fn default() -> Self {
        Self(Arc::new(AtomicU32::new(FULL_SHARE)))
    }
}

impl PartialEq for Pace {
    fn eq(&self, other: &Self) -> bool {
        self.permille() == other.permille()
    }
}

impl Pace {
    /// Sets the share for everybody who has a clone.
    pub fn set(&self, share: f64) {
        self.0.store(((share * f64::from(FULL_SHARE)) as u32).clamp(MIN_SHARE, FULL_SHARE), Ordering::Relaxed);
    }

    /// The share.
    pub fn share(&self) -> f64 {
        f64::from(self.permille()) / f64::from(FULL_SHARE)
    }

    /// An interval between two pieces of work at this pace.
    pub fn stretch(&self, usual: Duration) -> Duration {
        match self.permille() {
            FULL_SHARE => usual,
            share => usual * FULL_SHARE / share,
        }
    }

    /// How long to rest after work that took `took`, so that work takes its share of the time.
    pub fn rest(&self, took: Duration) -> Duration {
        self.stretch(took).saturating_sub(took)
    }

    fn permille(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_stretches_intervals_and_rests() {
        let pace = Pace::default();
        let second = Duration::from_secs(1);
        assert_eq!((pace.stretch(second), pace.rest(second)), (second, Duration::ZERO));
        pace.clone().set(0.25);
        assert_eq!((pace.stretch(second), pace.rest(second)), (4 * second, 3 * second));
        pace.set(0.0);
        assert_eq!(pace.share(), 0.01, "nothing ever stops");
        pace.set(7.0);
        assert_eq!(pace.share(), 1.0);
    }
}
