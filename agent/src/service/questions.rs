//! Knows whether anybody is asking, so that background work can stay out of the way.

use std::sync::Arc;
use std::time::Duration;

use memory_core::Clock;
use parking_lot::{Condvar, Mutex};

/// Questions in flight, waiting ones included.
pub struct Questions {
    clock: Arc<dyn Clock>,
    state: Mutex<QuestionsState>,
    changed: Condvar,
}

#[derive(Default)]
struct QuestionsState {
    in_flight: usize,
    last_end: Option<Duration>,
}

/// One question, from its arrival to its answer.
pub struct Question {
    questions: Arc<Questions>,
}

impl Questions {
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, state: Mutex::default(), changed: Condvar::new() }
    }

    pub fn begin(self: &Arc<Self>) -> Question {
        self.state.lock().in_flight += 1;
        Question { questions: Arc::clone(self) }
    }

    /// Waits until nobody has asked for `quiet`, but no longer than `patience`; whether it has become quiet.
    pub fn wait_for_quiet(&self, quiet: Duration, patience: Duration) -> bool {
        let give_up = std::time::Instant::now() + patience;
        let mut state = self.state.lock();
        loop {
            let rest = if state.in_flight > 0 {
                patience
            } else {
                match state.last_end {
                    Some(end) => quiet.saturating_sub(self.clock.monotonic().saturating_sub(end)),
                    None => Duration::ZERO,
                }
            };
            let now = std::time::Instant::now();
            if rest.is_zero() || now >= give_up {
                return rest.is_zero();
            }
            self.changed.wait_until(&mut state, give_up.min(now + rest));
        }
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        let mut state = self.questions.state.lock();
        state.in_flight -= 1;
        state.last_end = Some(self.questions.clock.monotonic());
        drop(state);
        self.questions.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use memory_core::SystemClock;

    use super::*;

    #[test]
    fn background_work_waits_for_the_last_question_and_then_some() {
        let questions = Arc::new(Questions::new(Arc::new(SystemClock::new())));
        let question = questions.begin();
        let begin = std::time::Instant::now();
        let asker = std::thread::spawn(move || {
            std::thread::park_timeout(Duration::from_millis(30));
            drop(question);
        });
        assert!(questions.wait_for_quiet(Duration::from_millis(20), Duration::from_secs(10)));
        let waited = begin.elapsed();
        asker.join().unwrap();
        assert!(waited >= Duration::from_millis(20), "{waited:?}");
        assert!(waited < Duration::from_secs(9), "{waited:?}");
    }

    #[test]
    fn questions_without_end_do_not_starve_background_work() {
        let questions = Arc::new(Questions::new(Arc::new(SystemClock::new())));
        let _question = questions.begin();
        assert!(!questions.wait_for_quiet(Duration::from_millis(20), Duration::from_millis(50)));
    }
}
