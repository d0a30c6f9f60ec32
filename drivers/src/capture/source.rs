//! A running source: its thread, its restarts and its handle.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use memory_core::{Clock, Timestamp};
use parking_lot::Mutex;

use super::MediaConsumer;
use super::delivery::Delivery;
use super::file::{self, Played};
use super::live::{self, Lived, Queues};
use super::spec::{SourceKind, SourceSpec};
use super::status::{SourceShared, SourceState, SourceStatus};
use crate::archive::Recorder;
use crate::pipeline;
use crate::pipeline::CaptureError;

/// Length of a session that counts as healthy. The backoff starts anew after it.
const HEALTHY_AFTER: Duration = Duration::from_secs(10);

/// A source that runs on threads of its own. Dropping the handle stops it.
pub struct SourceHandle {
    shared: Arc<SourceShared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl SourceHandle {
    /// Starts a source that feeds `consumer` from one thread.
    ///
    /// What goes wrong with the source itself, now or later, is told by [`SourceHandle::status`].
    ///
    /// # Errors
    /// If GStreamer or the thread does not start.
    pub fn start(
        spec: SourceSpec,
        consumer: Box<dyn MediaConsumer>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, CaptureError> {
        Self::start_with(spec, consumer, clock, false, None)
    }

    /// The same for a source that must not look or listen before it is [resumed](SourceHandle::resume): nothing is
    /// opened until then.
    ///
    /// # Errors
    /// As for [`SourceHandle::start`].
    pub fn start_paused(
        spec: SourceSpec,
        consumer: Box<dyn MediaConsumer>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, CaptureError> {
        Self::start_with(spec, consumer, clock, true, None)
    }

    /// The same for a source that may be recorded; a file never is, it is its own recording.
    ///
    /// # Errors
    /// As for [`SourceHandle::start`].
    pub fn start_with(
        spec: SourceSpec,
        mut consumer: Box<dyn MediaConsumer>,
        clock: Arc<dyn Clock>,
        paused: bool,
        recorder: Option<Recorder>,
    ) -> Result<Self, CaptureError> {
        pipeline::init()?;
        let shared = Arc::new(SourceShared::new(&spec.name, spec.kind.name(), clock));
        shared.wish_pause(paused);
        let worker = Arc::clone(&shared);
        // Linux shows 15 bytes of a thread's name.
        let thread = std::thread::Builder::new()
            .name(format!("src-{}", spec.name.replace('\0', "")))
            .spawn(move || {
                let guard = PanicGuard(&worker);
                work(&spec, &mut *consumer, &worker, recorder.as_ref());
                std::mem::forget(guard);
            })
            .map_err(|error| CaptureError::Thread {
                source_name: shared.name.clone(),
                reason: format!("does not start: {error}"),
            })?;
        Ok(Self { shared, thread: Mutex::new(Some(thread)) })
    }

    /// How it is.
    pub fn status(&self) -> SourceStatus {
        self.shared.status()
    }

    /// Whether its thread died of a fault of the program, so that a new handle may have more luck.
    pub fn has_panicked(&self) -> bool {
        self.shared.panicked.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// Stops recording: a live source is closed and its device freed, a file stands still. The open session ends.
    pub fn pause(&self) {
        self.shared.wish_pause(true);
    }

    /// Goes on after [`SourceHandle::pause`]: a live source with a new session, a file where it stood.
    pub fn resume(&self) {
        self.shared.wish_pause(false);
    }

    /// Stops the source, hands what is queued to the consumer, ends the session and waits until all of that is done.
    pub fn stop(&self) {
        self.shared.wish_stop();
        if let Some(thread) = self.thread.lock().take()
            && thread.join().is_err()
        {
            tracing::error!(source = %self.shared.name, "the thread of a source panicked");
        }
    }

    /// Waits until a file is done, or the source failed for good; `false` if neither happened within `time`. With no
    /// `time` it waits as long as it takes.
    pub fn wait_ended(&self, time: Option<Duration>) -> bool {
        self.shared.wait_ended(time)
    }
}

impl Drop for SourceHandle {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Says in the status that the thread died, should it panic.
struct PanicGuard<'a>(&'a SourceShared);

impl Drop for PanicGuard<'_> {
    fn drop(&mut self) {
        let error = CaptureError::Thread {
            source_name: self.0.name.clone(),
            reason: "panicked; this is a fault of Engram, please report it with the log".into(),
        };
        self.0.panicked.store(true, std::sync::atomic::Ordering::Relaxed);
        self.0.enter(SourceState::Failed, Some(error.to_string()));
    }
}

/// How one attempt ended.
enum Attempt {
    Stopped,
    Paused,
    Finished { start: Timestamp, length: Duration },
}

fn work(spec: &SourceSpec, consumer: &mut dyn MediaConsumer, shared: &Arc<SourceShared>, recorder: Option<&Recorder>) {
    let mut delivery = Delivery::new(consumer, shared);
    let queues = spec.is_live().then(|| Arc::new(Queues::new()));
    let mut failures = 0_u32;
    let (mut retrying, mut said) = (false, String::new());
    let mut next_start = None;
    loop {
        if shared.stop_wanted() {
            break;
        }
        if shared.pause_wanted() {
            shared.enter(SourceState::Paused, None);
            shared.wait_resumed();
            retrying = false;
            continue;
        }
        // One that fails again and again is in trouble all the while, and not in turns.
        if !retrying {
            shared.enter(SourceState::Starting, None);
        }
        let began = shared.clock().monotonic();
        let attempt = match (&spec.kind, &queues) {
            (SourceKind::File(file), _) => {
                file::play(spec, file, next_start, shared, &mut delivery).map(|played| match played {
                    Played::Stopped => Attempt::Stopped,
                    Played::Finished { start, length } => Attempt::Finished { start, length },
                })
            }
            (_, Some(queues)) => live::record(spec, shared, queues, &mut delivery, recorder).map(|lived| match lived {
                Lived::Stopped => Attempt::Stopped,
                Lived::Paused => Attempt::Paused,
            }),
            (_, None) => unreachable!("every live source has its queues"),
        };
        let delivered = delivery.is_open();
        delivery.end();
        let error = match attempt {
            Ok(Attempt::Stopped) => break,
            Ok(Attempt::Paused) => continue,
            Ok(Attempt::Finished { start, length }) => {
                if matches!(&spec.kind, SourceKind::File(file) if file.repeat) && !length.is_zero() {
                    next_start = Some(start.saturating_add(length));
                    continue;
                }
                break;
            }
            Err(error) => error,
        };
        if !spec.is_live() || error.is_permanent() {
            tracing::error!(source = %spec.name, %error, "a source failed for good");
            let partly = matches!(error, CaptureError::Truncated { .. });
            shared.enter(if partly { SourceState::Ended } else { SourceState::Failed }, Some(error.to_string()));
            return;
        }
        if delivered && shared.clock().monotonic().saturating_sub(began) >= HEALTHY_AFTER {
            failures = 0;
        }
        let delay = backoff(spec, failures);
        failures = failures.saturating_add(1);
        let error = error.to_string();
        // The same again, and again: said ever more rarely, since a camera may be away for days.
        if error != said || failures.is_power_of_two() {
            tracing::warn!(source = %spec.name, error, failures, retry_s = delay.as_secs_f64(), "a source failed and is restarted");
        }
        said.clone_from(&error);
        shared.enter(SourceState::Backoff, Some(error));
        retrying = true;
        shared.wait(delay, || false);
        shared.restarted();
    }
    shared.enter(SourceState::Ended, None);
}

/// Doubles with every failure in a row. Without jitter: one machine's cameras do not storm anything.
fn backoff(spec: &SourceSpec, failures: u32) -> Duration {
    spec.backoff_min.saturating_mul(1_u32.checked_shl(failures).unwrap_or(u32::MAX)).min(spec.backoff_max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_from_half_a_second_to_two() {
        let spec = SourceSpec::new("cam", SourceKind::Test);
        let waits: Vec<f64> = (0..5).map(|failures| backoff(&spec, failures).as_secs_f64()).collect();
        assert_eq!(waits, [0.5, 1.0, 2.0, 2.0, 2.0]);
        assert_eq!(backoff(&spec, u32::MAX), spec.backoff_max);
    }
}
