//! Delivers media to the consumer, and keeps the guarantees of [`MediaConsumer`].

use std::sync::atomic::Ordering;
use std::time::Duration;

use memory_core::Timestamp;

use super::status::{Loss, SourceShared, SourceState};
use super::{AudioBlock, Frame, MediaConsumer, Subtitle};

/// The consumer of one source, with the capture session that is open.
pub(super) struct Delivery<'a> {
    consumer: &'a mut dyn MediaConsumer,
    shared: &'a SourceShared,
    open: Option<Timestamp>,
    /// Begin of what was handed over last: nothing earlier may follow.
    reached: Duration,
    /// End of all that was handed over.
    position: Duration,
    /// End of the sound that was handed over.
    heard: Duration,
}

impl<'a> Delivery<'a> {
    pub(super) fn new(consumer: &'a mut dyn MediaConsumer, shared: &'a SourceShared) -> Self {
        Self { consumer, shared, open: None, reached: Duration::ZERO, position: Duration::ZERO, heard: Duration::ZERO }
    }

    /// Whether a session is open.
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// End of all that was handed over in this session.
    pub(super) fn position(&self) -> Duration {
        self.position
    }

    /// End of the sound that was handed over in this session.
    pub(super) fn heard(&self) -> Duration {
        self.heard
    }

    /// Begin of what was handed over last.
    pub(super) fn reached(&self) -> Duration {
        self.reached
    }

    /// Begins a session whose stream time 0 is `start`; what follows begins at `from`.
    pub(super) fn begin(&mut self, session: &str, start: Timestamp, from: Duration) {
        self.end();
        self.shared.session(session);
        self.shared.enter(SourceState::Running, None);
        tracing::info!(source = %self.shared.name, session, start = %start, "capture session begins");
        self.consumer.begin(session, start);
        self.open = Some(start);
        self.reached = from;
        self.position = from;
        self.heard = from;
    }

    /// Hands over a picture; says how long to wait for the next, or nothing if it came too late to be handed over.
    pub(super) fn frame(&mut self, stream: Duration, width: u32, height: u32, rgb: &[u8]) -> Option<Duration> {
        let start = self.in_order(stream)?;
        let wall = start.saturating_add(stream);
        self.consumer.frame(Frame { stream, wall, width, height, rgb });
        self.shared.frames.fetch_add(1, Ordering::Relaxed);
        self.advance(stream, stream);
        Some(self.consumer.frame_interval())
    }

    /// How often a picture is wanted before the first one was handed over.
    pub(super) fn frame_interval(&self) -> Duration {
        self.consumer.frame_interval()
    }

    /// Hands over a block of sound at 16 kHz.
    pub(super) fn audio(&mut self, stream: Duration, samples: &[f32]) {
        if samples.is_empty() {
            return;
        }
        let Some(start) = self.in_order(stream) else { return };
        let wall = start.saturating_add(stream);
        self.consumer.audio(AudioBlock { stream, wall, samples });
        let length = Duration::from_micros(samples.len() as u64 * 125 / 2);
        self.shared.audio_micros.fetch_add(u64::try_from(length.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
        self.heard = stream + length;
        self.advance(stream, stream + length);
    }

    /// Hands over a subtitle.
    pub(super) fn subtitle(&mut self, start: Duration, end: Duration, text: String) {
        let Some(session_start) = self.in_order(start) else { return };
        self.consumer.subtitle(Subtitle { start, end, wall: session_start.saturating_add(start), text });
        self.shared.subtitles.fetch_add(1, Ordering::Relaxed);
        self.advance(start, start);
    }

    /// The media go on until `end` at least, whether or not they were handed over.
    pub(super) fn lasts_until(&mut self, end: Duration) {
        if self.is_open() {
            self.advance(self.reached, end);
        }
    }

    /// Ends the session, if one is open.
    pub(super) fn end(&mut self) {
        if self.open.take().is_some() {
            tracing::info!(source = %self.shared.name, seconds = self.position.as_secs_f64(), "capture session ends");
            self.consumer.end(self.position);
        }
    }

    fn in_order(&self, stream: Duration) -> Option<Timestamp> {
        let start = self.open?;
        if stream < self.reached {
            self.shared.count(Loss::Late);
            return None;
        }
        Some(start)
    }

    fn advance(&mut self, begin: Duration, end: Duration) {
        self.reached = self.reached.max(begin);
        self.position = self.position.max(end);
        let micros = u64::try_from(self.position.as_micros()).unwrap_or(u64::MAX);
        self.shared.position_micros.store(micros, Ordering::Relaxed);
    }
}

/// Which pictures are wanted: one every interval, on a schedule, so that the mean rate is the wanted one although
/// pictures come at a rate of their own.
#[derive(Debug, Default)]
pub(super) struct FrameGate {
    due: Option<Duration>,
}

/// Tolerance for the jitter of time stamps: a picture that comes this much early is on time.
pub(super) const MAX_EARLY: Duration = Duration::from_millis(4);

impl FrameGate {
    /// Whether the picture of `stream` is wanted.
    pub(super) fn wants(&self, stream: Duration) -> bool {
        self.due.is_none_or(|due| stream + MAX_EARLY >= due)
    }

    /// The picture of `stream` was handed over; the next is wanted after `interval`.
    pub(super) fn handed(&mut self, stream: Duration, interval: Duration) {
        let on_schedule = self.due.filter(|due| stream < *due + interval);
        self.due = Some(on_schedule.unwrap_or(stream) + interval);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_rate_is_the_wanted_one_at_any_rate_of_arrival() {
        for (fps, wanted) in [(25, 10), (30, 10), (25, 1), (10, 10), (24, 7)] {
            let mut gate = FrameGate::default();
            let interval = Duration::from_secs(1) / wanted;
            let mut handed = 0;
            for n in 0..fps * 20 {
                let stream = Duration::from_secs(1) * n / fps;
                if gate.wants(stream) {
                    gate.handed(stream, interval);
                    handed += 1;
                }
            }
            let expected = 20 * wanted;
            assert!((expected - 1..=expected + 1).contains(&handed), "{fps} fps, {wanted} wanted: {handed}");
        }
    }

    #[test]
    fn a_gap_is_not_made_up_for_by_a_burst() {
        let mut gate = FrameGate::default();
        gate.handed(Duration::ZERO, Duration::from_millis(100));
        let after = Duration::from_secs(10);
        assert!(gate.wants(after));
        gate.handed(after, Duration::from_millis(100));
        assert!(!gate.wants(after + Duration::from_millis(40)));
    }
}
