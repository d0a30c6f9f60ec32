//! The circuit breaker: an endpoint that fails again and again is left alone for a while.

use std::time::Duration;

/// Number of failures in a row after which the circuit opens.
const MAX_FAILURES: u32 = 3;
/// How long the circuit stays open at first. The time doubles with every failed trial.
const OPEN_MIN: Duration = Duration::from_secs(30);
/// Maximum time that the circuit stays open.
const OPEN_MAX: Duration = Duration::from_secs(600);

/// Counts failures. Times are monotonic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Breaker {
    failures: u32,
    pause: Option<Duration>,
    /// Time until which no request is let through.
    until: Option<Duration>,
}

impl Breaker {
    /// How long the endpoint is still left alone; `None` lets the request through. After the pause one request is a trial,
    /// because an endpoint serves one at a time.
    pub fn left(&self, now: Duration) -> Option<Duration> {
        self.until.map(|until| until.saturating_sub(now)).filter(|left| !left.is_zero())
    }

    /// A request succeeded.
    pub fn succeeded(&mut self) {
        *self = Self::default();
    }

    /// A request failed.
    pub fn failed(&mut self, now: Duration) {
        self.failures = self.failures.saturating_add(1);
        if self.failures >= MAX_FAILURES {
            let pause = self.pause.map_or(OPEN_MIN, |pause| (pause * 2).min(OPEN_MAX));
            self.pause = Some(pause);
            self.wait(now, pause);
        }
    }

    /// The endpoint is left alone for `wait`, within reason: the server asks for it.
    pub fn wait(&mut self, now: Duration, wait: Duration) {
        let until = now + wait.min(OPEN_MAX);
        self.until = Some(self.until.map_or(until, |known| known.max(until)));
    }

    /// `closed`, `open`, or `trial` after the pause.
    pub fn state(&self, now: Duration) -> &'static str {
        match (self.until, self.left(now)) {
            (None, _) => "closed",
            (Some(_), Some(_)) => "open",
            (Some(_), None) => "trial",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn three_failures_open_it_and_each_failed_trial_doubles_the_pause_up_to_a_ceiling() {
        let mut breaker = Breaker::default();
        breaker.failed(at(0));
        breaker.failed(at(1));
        assert_eq!((breaker.left(at(1)), breaker.state(at(1))), (None, "closed"));
        breaker.failed(at(2));
        assert_eq!((breaker.left(at(2)), breaker.state(at(2))), (Some(at(30)), "open"));
        assert_eq!((breaker.left(at(32)), breaker.state(at(32))), (None, "trial"));
        let mut now = 32;
        for pause in [60, 120, 240, 480, 600, 600] {
            breaker.failed(at(now));
            assert_eq!(breaker.left(at(now)), Some(at(pause)));
            now += pause;
        }
        breaker.succeeded();
        assert_eq!(breaker, Breaker::default());
    }

    #[test]
    fn a_server_that_names_a_pause_gets_it_within_reason() {
        let mut breaker = Breaker::default();
        breaker.wait(at(0), at(7));
        assert_eq!(breaker.left(at(0)), Some(at(7)));
        breaker.wait(at(7), at(1_000_000));
        assert_eq!(breaker.left(at(7)), Some(at(600)));
    }
}
