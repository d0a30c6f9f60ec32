//! Tells a gap in a stream from the usual pause between two of its pictures or blocks of sound.

use std::time::Duration;

/// Minimum length of a gap. Shorter pauses belong to the stream: networks and USB stutter.
pub(crate) const MIN_GAP: Duration = Duration::from_secs(2);
/// How many times the usual pause a gap lasts. A camera that shows a picture every five seconds has none.
const MIN_GAP_FACTOR: u32 = 5;
/// A new pause counts for one part in so many of the usual one.
const SMOOTHING: u32 = 8;

/// Looks at everything that arrives in one stream, wanted or not.
#[derive(Debug, Default)]
pub(crate) struct Holes {
    begin: Option<Duration>,
    end: Duration,
    usual: Option<Duration>,
}

impl Holes {
    /// Something that begins at `begin` and lasts `length` has come. After a hole: where the stream broke off.
    pub(crate) fn arrived(&mut self, begin: Duration, length: Duration) -> Option<Duration> {
        let (before, broken_off) = (self.begin, self.end);
        // What two tracks bring need not come in order of time.
        self.begin = Some(before.map_or(begin, |before| before.max(begin)));
        self.end = broken_off.max(begin + length);
        let pause = begin.saturating_sub(before?);
        let hole = begin.saturating_sub(broken_off);
        match self.usual {
            Some(usual) if hole > MIN_GAP && hole > MIN_GAP_FACTOR * usual => return Some(broken_off),
            Some(usual) => self.usual = Some(usual * (SMOOTHING - 1) / SMOOTHING + pause / SMOOTHING),
            None => self.usual = Some(pause),
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn a_stream_that_stands_still_has_a_hole_where_it_broke_off() {
        let mut holes = Holes::default();
        for n in 0..50 {
            assert_eq!(holes.arrived(ms(40 * n), ms(0)), None);
        }
        assert_eq!(holes.arrived(ms(1960 + 1900), ms(0)), None, "a hiccup");
        assert_eq!(holes.arrived(ms(10_000), ms(0)), Some(ms(3860)));
        assert_eq!(holes.arrived(ms(10_040), ms(0)), None);
    }

    #[test]
    fn blocks_of_sound_reach_to_their_end() {
        let mut holes = Holes::default();
        for n in 0..10 {
            assert_eq!(holes.arrived(ms(1000 * n), ms(1000)), None);
        }
        assert_eq!(holes.arrived(ms(16_500), ms(1000)), Some(ms(10_000)));
    }

    #[test]
    fn a_slow_camera_has_no_holes() {
        let mut holes = Holes::default();
        for n in 0..20 {
            assert_eq!(holes.arrived(ms(5000 * n), ms(0)), None);
        }
        assert_eq!(holes.arrived(ms(5000 * 30), ms(0)), Some(ms(5000 * 19)));
    }
}
