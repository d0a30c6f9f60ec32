//! Token buckets.

use std::time::Duration;

/// Rate limit: so much per second on average, and so much at once.
#[derive(Debug)]
pub struct TokenBucket {
    per_second: f64,
    burst: f64,
    tokens: f64,
    /// Monotonic time of the last refill.
    at: Duration,
}

impl TokenBucket {
    /// A full bucket at `now` (monotonic).
    pub fn new(per_second: u32, burst: u32, now: Duration) -> Self {
        let burst = f64::from(burst.max(1));
        Self { per_second: f64::from(per_second.max(1)), burst, tokens: burst, at: now }
    }

    /// Takes one token if there is one.
    pub fn try_take(&mut self, now: Duration) -> bool {
        self.refill(now);
        let there = self.tokens >= 1.0;
        if there {
            self.tokens -= 1.0;
        }
        there
    }

    /// Takes `n` tokens, on credit if need be, and says how long to wait until the debt is paid.
    pub fn take_and_wait(&mut self, n: usize, now: Duration) -> Duration {
        self.refill(now);
        self.tokens -= n as f64;
        if self.tokens >= 0.0 { Duration::ZERO } else { Duration::from_secs_f64(-self.tokens / self.per_second) }
    }

    fn refill(&mut self, now: Duration) {
        let passed = now.saturating_sub(self.at).as_secs_f64();
        self.at = now.max(self.at);
        self.tokens = passed.mul_add(self.per_second, self.tokens).min(self.burst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_passes_and_then_the_average_holds() {
        let mut bucket = TokenBucket::new(10, 3, Duration::ZERO);
        assert_eq!((0..5).filter(|_| bucket.try_take(Duration::ZERO)).count(), 3);
        assert!(!bucket.try_take(Duration::from_millis(50)));
        assert!(bucket.try_take(Duration::from_millis(160)));
    }

    #[test]
    fn a_debt_says_how_long_to_wait() {
        let mut bucket = TokenBucket::new(100, 10, Duration::ZERO);
        assert_eq!(bucket.take_and_wait(10, Duration::ZERO), Duration::ZERO);
        assert_eq!(bucket.take_and_wait(50, Duration::ZERO), Duration::from_millis(500));
        assert_eq!(bucket.take_and_wait(0, Duration::from_millis(500)), Duration::ZERO);
    }
}
