//! Pauses between attempts to connect.

use std::time::Duration;

use super::client::EndKind;

/// Doubling pauses between attempts.
#[derive(Debug, Clone)]
pub struct Backoff {
    next: Duration,
    most: Duration,
}

impl Backoff {
    const FIRST: Duration = Duration::from_millis(250);
    /// Pause after a refusal. It does not go away by itself, and frequent attempts only fill the broker's log.
    const REFUSED_PAUSE: Duration = Duration::from_secs(10);

    pub fn new(most: Duration) -> Self {
        Self { next: Self::FIRST.min(most), most }
    }

    /// The pause before the next attempt.
    pub fn pause(&mut self, kind: EndKind) -> Duration {
        let pause = self.next;
        self.next = (self.next * 2).min(self.most);
        match kind {
            EndKind::Refused | EndKind::TakenOver => pause.max(Self::REFUSED_PAUSE.min(self.most)),
            EndKind::Lost | EndKind::Closed | EndKind::Untrusted | EndKind::NoSuchHost => pause,
        }
    }

    /// All is well again.
    pub fn reset(&mut self) {
        self.next = Self::FIRST.min(self.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_ceiling_and_start_over() {
        let mut backoff = Backoff::new(Duration::from_secs(1));
        let pauses: Vec<u128> = (0..4).map(|_| backoff.pause(EndKind::Lost).as_millis()).collect();
        assert_eq!(pauses, [250, 500, 1000, 1000]);
        backoff.reset();
        assert_eq!(backoff.pause(EndKind::Lost).as_millis(), 250);
    }

    #[test]
    fn a_refusal_is_tried_again_slowly() {
        let mut backoff = Backoff::new(Duration::from_secs(60));
        assert_eq!(backoff.pause(EndKind::Refused), Duration::from_secs(10));
    }
}
