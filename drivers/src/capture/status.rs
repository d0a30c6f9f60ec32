//! The status of a source.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use memory_core::Clock;
use parking_lot::{Condvar, Mutex};

/// State of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SourceState {
    /// Being opened; nothing has come yet.
    Starting,
    /// Delivering.
    Running,
    /// Stopped on request, for instance for privacy.
    Paused,
    /// Failed, and is tried again and again; until it delivers.
    Backoff,
    /// The file is done, or the source was stopped.
    Ended,
    /// Failed for good: somebody must act.
    Failed,
}

impl SourceState {
    /// The name in `health`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Backoff => "backoff",
            Self::Ended => "ended",
            Self::Failed => "failed",
        }
    }
}

/// A source at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceStatus {
    /// Name in the configuration.
    pub name: String,
    /// Kind in the configuration.
    pub kind: &'static str,
    /// State of the source.
    pub state: SourceState,
    /// Last error, and what to do. Cleared when the source delivers again.
    pub error: Option<String>,
    /// The capture session that is open or was last.
    pub session: Option<String>,
    /// Time since the last picture came (the last sound, where there are no pictures).
    pub age: Option<Duration>,
    /// Time since its thread last showed that it is not stuck, which it does in backoff and while it is paused too; `None`
    /// once it has nothing to do any more.
    pub silence: Option<Duration>,
    /// Pictures that came in a second, of late; not all of them are wanted.
    pub fps: f64,
    /// Pictures handed to the consumer in a second, of late.
    pub sampled_fps: f64,
    /// How often it was restarted.
    pub restarts: u64,
    /// How often it stood still and went on by itself.
    pub gaps: u64,
    /// Losses by reason: `queue_full`, `audio_queue_full`, `late`, `decode_error`, `subtitle_beyond_end`.
    pub dropped: BTreeMap<&'static str, u64>,
    /// Pictures handed to the consumer.
    pub frames: u64,
    /// Pictures that nobody wanted, by the consumer's frame interval. No loss.
    pub frames_skipped: u64,
    /// Sound handed to the consumer.
    pub audio: Duration,
    /// Subtitles handed to the consumer.
    pub subtitles: u64,
    /// How far the session has come, in stream time.
    pub position: Duration,
}

/// Interval at which a waiting thread shows that it is not stuck.
const TICK: Duration = Duration::from_secs(1);

/// Reasons for a loss.
#[derive(Debug, Clone, Copy)]
pub(super) enum Loss {
    QueueFull,
    AudioQueueFull,
    Late,
    DecodeError,
    SubtitleBeyondEnd,
}

impl Loss {
    const ALL: [(Self, &'static str); 5] = [
        (Self::QueueFull, "queue_full"),
        (Self::AudioQueueFull, "audio_queue_full"),
        (Self::Late, "late"),
        (Self::DecodeError, "decode_error"),
        (Self::SubtitleBeyondEnd, "subtitle_beyond_end"),
    ];
}

#[derive(Debug)]
struct TrackedStatus {
    state: SourceState,
    error: Option<String>,
    session: Option<String>,
    rate: Rate,
    sampled: Rate,
}

/// Counts over stretches of about a second.
#[derive(Debug, Default)]
struct Rate {
    since: Duration,
    count: u64,
    fps: f64,
}

impl Rate {
    fn measure(&mut self, now: Duration, count: u64) {
        let elapsed = now.saturating_sub(self.since);
        if elapsed >= Duration::from_secs(1) {
            self.fps = count.saturating_sub(self.count) as f64 / elapsed.as_secs_f64();
            (self.since, self.count) = (now, count);
        }
    }
}

/// Shared by the worker, the streaming threads of the pipeline and the readers of the status.
pub(super) struct SourceShared {
    pub(super) name: String,
    pub(super) kind: &'static str,
    clock: std::sync::Arc<dyn Clock>,
    told: Mutex<TrackedStatus>,
    stop: AtomicBool,
    pause: AtomicBool,
    /// Notified when a wish, the state or a queue changes.
    changed: Condvar,
    arrived_video: AtomicU64,
    /// Monotonic microseconds plus one; 0 is never.
    last_video: AtomicU64,
    last_audio: AtomicU64,
    /// When the worker ticked, as above.
    ticked: AtomicU64,
    expects_video: AtomicBool,
    restarts: AtomicU64,
    gaps: AtomicU64,
    pub(super) panicked: AtomicBool,
    dropped: [AtomicU64; Loss::ALL.len()],
    pub(super) frames: AtomicU64,
    pub(super) skipped: AtomicU64,
    pub(super) audio_micros: AtomicU64,
    pub(super) subtitles: AtomicU64,
    pub(super) position_micros: AtomicU64,
}

impl SourceShared {
    pub(super) fn new(name: &str, kind: &'static str, clock: std::sync::Arc<dyn Clock>) -> Self {
        let shared = Self {
            name: name.to_owned(),
            kind,
            clock,
            told: Mutex::new(TrackedStatus {
                state: SourceState::Starting,
                error: None,
                session: None,
                rate: Rate::default(),
                sampled: Rate::default(),
            }),
            stop: AtomicBool::new(false),
            pause: AtomicBool::new(false),
            changed: Condvar::new(),
            arrived_video: AtomicU64::new(0),
            last_video: AtomicU64::new(0),
            last_audio: AtomicU64::new(0),
            ticked: AtomicU64::new(0),
            expects_video: AtomicBool::new(true),
            restarts: AtomicU64::new(0),
            gaps: AtomicU64::new(0),
            panicked: AtomicBool::new(false),
            dropped: Default::default(),
            frames: AtomicU64::new(0),
            skipped: AtomicU64::new(0),
            audio_micros: AtomicU64::new(0),
            subtitles: AtomicU64::new(0),
            position_micros: AtomicU64::new(0),
        };
        shared.tick();
        shared
    }

    /// The worker is not stuck.
    fn tick(&self) {
        self.ticked.store(self.stamp(), Ordering::Relaxed);
    }

    pub(super) fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    pub(super) fn count(&self, reason: Loss) {
        self.dropped[reason as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn restarted(&self) {
        self.restarts.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn stood_still(&self) {
        self.gaps.fetch_add(1, Ordering::Relaxed);
    }

    /// A new attempt begins: ages count from now, and are those of the media that this attempt has.
    pub(super) fn expect(&self, video: bool) {
        self.expects_video.store(video, Ordering::Relaxed);
    }

    pub(super) fn video_arrived(&self) {
        self.arrived_video.fetch_add(1, Ordering::Relaxed);
        self.last_video.store(self.stamp(), Ordering::Relaxed);
    }

    pub(super) fn audio_arrived(&self) {
        self.last_audio.store(self.stamp(), Ordering::Relaxed);
    }

    fn stamp(&self) -> u64 {
        u64::try_from(self.clock.monotonic().as_micros()).unwrap_or(u64::MAX - 1) + 1
    }

    /// Returns the time of the last picture, or of the last sound.
    pub(super) fn last_arrival(&self, video: bool) -> Option<Duration> {
        let stamp = if video { &self.last_video } else { &self.last_audio }.load(Ordering::Relaxed);
        stamp.checked_sub(1).map(Duration::from_micros)
    }

    pub(super) fn enter(&self, state: SourceState, error: Option<String>) {
        self.tick();
        let mut told = self.told.lock();
        told.state = state;
        if error.is_some() || state == SourceState::Running {
            told.error = error;
        }
        self.changed.notify_all();
    }

    pub(super) fn session(&self, session: &str) {
        self.told.lock().session = Some(session.to_owned());
    }

    /// Brings the measured rates up to date; called by the worker about every 100 ms.
    pub(super) fn measure(&self) {
        self.tick();
        let now = self.clock.monotonic();
        let mut told = self.told.lock();
        told.rate.measure(now, self.arrived_video.load(Ordering::Relaxed));
        told.sampled.measure(now, self.frames.load(Ordering::Relaxed));
    }

    pub(super) fn wish_pause(&self, pause: bool) {
        self.pause.store(pause, Ordering::SeqCst);
        self.notify();
    }

    pub(super) fn wish_stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
        self.notify();
    }

    pub(super) fn stop_wanted(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    pub(super) fn pause_wanted(&self) -> bool {
        self.pause.load(Ordering::SeqCst)
    }

    /// Wakes the threads that wait for a request, the state or a queue.
    pub(super) fn notify(&self) {
        // Taking the lock orders this after the check that a waiter made before it went to sleep.
        drop(self.told.lock());
        self.changed.notify_all();
    }

    /// Waits until `ready` holds, a stop or a pause is wished, or the time is over.
    pub(super) fn wait(&self, time: Duration, mut ready: impl FnMut() -> bool) {
        let deadline = std::time::Instant::now() + time;
        let mut told = self.told.lock();
        while !(self.stop_wanted() || self.pause_wanted() || ready()) {
            self.tick();
            let now = std::time::Instant::now();
            if now >= deadline {
                return;
            }
            self.changed.wait_until(&mut told, deadline.min(now + TICK));
        }
    }

    /// Waits until no pause is wished any more, or a stop is.
    pub(super) fn wait_resumed(&self) {
        let mut told = self.told.lock();
        while self.pause_wanted() && !self.stop_wanted() {
            self.tick();
            self.changed.wait_for(&mut told, TICK);
        }
    }

    /// Waits until the source has ended or failed for good; says whether it has.
    pub(super) fn wait_ended(&self, time: Option<Duration>) -> bool {
        let deadline = time.map(|time| std::time::Instant::now() + time);
        let mut told = self.told.lock();
        while !matches!(told.state, SourceState::Ended | SourceState::Failed) {
            match deadline {
                None => self.changed.wait(&mut told),
                Some(deadline) => {
                    if self.changed.wait_until(&mut told, deadline).timed_out() {
                        return matches!(told.state, SourceState::Ended | SourceState::Failed);
                    }
                }
            }
        }
        true
    }

    pub(super) fn status(&self) -> SourceStatus {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let expects_video = self.expects_video.load(Ordering::Relaxed);
        let now = self.clock.monotonic();
        let told = self.told.lock();
        let over = matches!(told.state, SourceState::Ended | SourceState::Failed);
        let ticked = Duration::from_micros(load(&self.ticked).saturating_sub(1));
        SourceStatus {
            name: self.name.clone(),
            kind: self.kind,
            state: told.state,
            error: told.error.clone(),
            session: told.session.clone(),
            age: self.last_arrival(expects_video).map(|at| now.saturating_sub(at)),
            silence: (!over).then(|| now.saturating_sub(ticked)),
            fps: if told.state == SourceState::Running { told.rate.fps } else { 0.0 },
            sampled_fps: if told.state == SourceState::Running { told.sampled.fps } else { 0.0 },
            restarts: load(&self.restarts),
            gaps: load(&self.gaps),
            dropped: Loss::ALL
                .iter()
                .map(|&(reason, name)| (name, load(&self.dropped[reason as usize])))
                .filter(|(_, count)| *count > 0)
                .collect(),
            frames: load(&self.frames),
            frames_skipped: load(&self.skipped),
            audio: Duration::from_micros(load(&self.audio_micros)),
            subtitles: load(&self.subtitles),
            position: Duration::from_micros(load(&self.position_micros)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use memory_core::{ManualClock, Timestamp};

    use super::*;

    #[test]
    fn a_worker_that_waits_out_a_backoff_or_a_pause_is_not_silent() {
        let clock = Arc::new(ManualClock::at(Timestamp::from_micros(0)));
        let shared = Arc::new(SourceShared::new("cam", "test", clock.clone()));
        let worker = std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                shared.enter(SourceState::Backoff, Some("gone".into()));
                shared.wait(Duration::from_secs(3600), || false);
                shared.enter(SourceState::Paused, None);
                shared.wait_resumed();
                shared.enter(SourceState::Ended, None);
            }
        });
        let ticks = |state: SourceState| {
            let deadline = std::time::Instant::now() + Duration::from_secs(60);
            clock.advance(Duration::from_secs(600));
            while shared.status().state != state || shared.status().silence != Some(Duration::ZERO) {
                assert!(std::time::Instant::now() < deadline, "{:?}", shared.status());
                shared.wait_ended(Some(Duration::from_millis(20)));
            }
        };
        ticks(SourceState::Backoff);
        ticks(SourceState::Backoff);
        shared.wish_pause(true);
        ticks(SourceState::Paused);
        ticks(SourceState::Paused);
        shared.wish_pause(false);
        worker.join().unwrap();
        clock.advance(Duration::from_secs(600));
        assert_eq!(shared.status().silence, None, "it is over and not missed");
    }

    #[test]
    fn a_worker_that_is_stuck_is_silent() {
        let clock = Arc::new(ManualClock::at(Timestamp::from_micros(0)));
        let shared = SourceShared::new("cam", "test", clock.clone());
        shared.enter(SourceState::Running, None);
        clock.advance(Duration::from_secs(70));
        // Pictures that come say nothing about the thread that is to take them.
        shared.video_arrived();
        assert_eq!(shared.status().silence, Some(Duration::from_secs(70)));
    }
}
