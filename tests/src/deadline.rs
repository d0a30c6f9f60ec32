//! Conditions awaited with a deadline.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

/// How often a condition that nobody announces is looked at.
const POLL: Duration = Duration::from_millis(20);

/// Waits until `condition` yields a value.
///
/// # Errors
/// If it has not within `deadline`; the error says what was waited for.
pub fn eventually<T>(what: &str, deadline: Duration, mut condition: impl FnMut() -> Option<T>) -> Result<T> {
    until(what, deadline, || Ok(condition()))
}

/// Waits until `condition` yields a value; an error of the condition ends the wait at once.
///
/// # Errors
/// The condition's own, or that it was not met within `deadline`.
pub fn until<T>(what: &str, deadline: Duration, mut condition: impl FnMut() -> Result<Option<T>>) -> Result<T> {
    let begin = Instant::now();
    loop {
        if let Some(value) = condition()? {
            return Ok(value);
        }
        if begin.elapsed() >= deadline {
            bail!("{what}: not within {deadline:?}");
        }
        pause();
    }
}

// The one place that sleeps: between two looks at a condition that has a deadline.
#[allow(clippy::disallowed_methods)]
fn pause() {
    std::thread::sleep(POLL);
}
