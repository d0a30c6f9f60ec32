use std::sync::Arc;
use std::time::Duration;

use super::{CONTEXT, RATE, VoiceActivity, VoiceState, VoiceWindow, WINDOW};
use crate::encoders::EncoderError;
use crate::models::ModelEntry;

/// A block that begins this much earlier or later than the one before ended does not belong to it: samples were lost, or
/// the clocks have drifted apart.
const TOLERANCE: Duration = Duration::from_millis(40);

/// Thresholds at which speech begins and ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpeechThresholds {
    /// Speech begins in a window at or above this probability.
    pub speech: f32,
    /// Speech goes on while the probability is not below this.
    pub silence: f32,
    /// Shorter speech is dropped.
    pub min_speech: Duration,
    /// Shorter pauses do not end it.
    pub min_silence: Duration,
    /// Added on both sides.
    pub pad: Duration,
}

impl SpeechThresholds {
    pub(super) fn from_entry(entry: &ModelEntry) -> Result<Self, String> {
        let millis = |name: &str| Ok::<_, String>(Duration::from_secs_f32(entry.parameter(name)?.max(0.0) / 1000.0));
        Ok(Self {
            speech: entry.parameter("speech")?,
            silence: entry.parameter("silence")?,
            min_speech: millis("min_speech_ms")?,
            min_silence: millis("min_silence_ms")?,
            pad: millis("pad_ms")?,
        })
    }
}

/// A stretch in which somebody speaks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpeechInterval {
    /// Begin, in stream time.
    pub start: Duration,
    /// End, in stream time.
    pub end: Duration,
    /// Mean probability of its windows.
    pub probability: f32,
}

/// Finds the stretches of speech in one stream, as it comes in.
pub struct SpeechDetector {
    model: Arc<dyn VoiceActivity>,
    thresholds: SpeechThresholds,
    window: VoiceWindow,
    filled: usize,
    /// Stream time of the first sample after the last gap, and samples since.
    origin: Duration,
    samples: u64,
    open: Option<OpenSpeech>,
    closed: Vec<SpeechInterval>,
}

#[derive(Debug, Clone, Copy)]
struct OpenSpeech {
    start: Duration,
    /// Begin of the pause that may end it.
    pause: Option<Duration>,
    sum: f32,
    windows: u32,
}

impl OpenSpeech {
    fn interval(&self, end: Duration) -> SpeechInterval {
        SpeechInterval { start: self.start, end, probability: self.sum / self.windows.max(1) as f32 }
    }
}

impl SpeechDetector {
    /// A detector at the begin of a stream.
    pub fn new(model: Arc<dyn VoiceActivity>) -> Self {
        let thresholds = model.thresholds();
        let window = VoiceWindow { samples: [0.0; CONTEXT + WINDOW], state: VoiceState::default() };
        let (origin, samples, filled) = (Duration::ZERO, 0, 0);
        Self { model, thresholds, window, filled, origin, samples, open: None, closed: Vec::new() }
    }

    /// Takes a block that begins at `stream`. What is left over after the last whole window waits for the next block.
    ///
    /// # Errors
    /// If the model fails: then the rest of the block is skipped, and the detector goes on after it as after a gap.
    pub fn push(&mut self, stream: Duration, block: &[f32]) -> Result<(), EncoderError> {
        if stream.abs_diff(self.position()) > TOLERANCE {
            self.restart(stream);
        }
        let mut rest = block;
        while !rest.is_empty() {
            let taken = rest.len().min(WINDOW - self.filled);
            let at = CONTEXT + self.filled;
            self.window.samples[at..at + taken].copy_from_slice(&rest[..taken]);
            (self.filled, self.samples) = (self.filled + taken, self.samples + taken as u64);
            rest = &rest[taken..];
            if self.filled == WINDOW
                && let Err(error) = self.step()
            {
                self.restart(stream + span(block.len() as u64));
                return Err(error);
            }
        }
        Ok(())
    }

    /// The speech before `end`, oldest first. What goes on beyond `end` is cut there; its rest comes with a later call.
    pub fn take_until(&mut self, end: Duration) -> Vec<SpeechInterval> {
        let mut taken = Vec::new();
        let mut kept = Vec::new();
        for interval in self.closed.drain(..) {
            if interval.start < end {
                taken.push(SpeechInterval { end: interval.end.min(end), ..interval });
            }
            if interval.end > end {
                kept.push(SpeechInterval { start: interval.start.max(end), ..interval });
            }
        }
        self.closed = kept;
        if let Some(open) = &mut self.open {
            let cut = open.pause.map_or(end, |pause| pause.min(end));
            if cut.saturating_sub(open.start) >= self.thresholds.min_speech {
                taken.push(open.interval(cut));
                open.start = end;
            }
        }
        taken
    }

    /// Closes what is open: the stream ended, or broke off.
    pub fn finish(&mut self) {
        if let Some(open) = self.open.take() {
            // Of a window that is not whole, or that the model did not take, nothing is known.
            let heard = self.position().saturating_sub(span(self.filled as u64));
            self.close(&open, open.pause.unwrap_or(heard));
        }
    }

    /// Stream time of the next sample.
    fn position(&self) -> Duration {
        self.origin + span(self.samples)
    }

    fn restart(&mut self, stream: Duration) {
        self.finish();
        self.window = VoiceWindow { samples: [0.0; CONTEXT + WINDOW], state: VoiceState::default() };
        (self.filled, self.origin, self.samples) = (0, stream, 0);
    }

    fn step(&mut self) -> Result<(), EncoderError> {
        let step = self.model.encode(&self.window)?;
        self.window.state = step.state;
        self.window.samples.copy_within(WINDOW.., 0);
        self.filled = 0;
        let end = self.position();
        let start = end.saturating_sub(span(WINDOW as u64));
        let probability = step.probability;
        match &mut self.open {
            None if probability >= self.thresholds.speech => {
                let padded = start.saturating_sub(self.thresholds.pad).max(self.origin);
                let start = self.closed.last().map_or(padded, |before| padded.max(before.end));
                self.open = Some(OpenSpeech { start, pause: None, sum: probability, windows: 1 });
            }
            None => {}
            Some(open) => {
                if probability >= self.thresholds.silence {
                    open.pause = open.pause.filter(|_| probability < self.thresholds.speech);
                    (open.sum, open.windows) = (open.sum + probability, open.windows + 1);
                }
                if probability < self.thresholds.silence || open.pause.is_some() {
                    let pause = *open.pause.get_or_insert(start);
                    if end.saturating_sub(pause) >= self.thresholds.min_silence {
                        let open = *open;
                        self.open = None;
                        self.close(&open, pause);
                    }
                }
            }
        }
        Ok(())
    }

    fn close(&mut self, open: &OpenSpeech, end: Duration) {
        if end.saturating_sub(open.start) >= self.thresholds.min_speech {
            let padded = (end + self.thresholds.pad).min(self.position());
            self.closed.push(open.interval(padded));
        }
    }
}

/// The time that so many samples take.
fn span(samples: u64) -> Duration {
    Duration::from_nanos(samples * (1_000_000_000 / u64::from(RATE)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoders::{Encoder, VoiceStep};

    /// Says that the loudness of a window's first new sample is the probability; fails on a negative one.
    struct Loudness;

    impl Encoder<VoiceWindow, VoiceStep> for Loudness {
        fn model(&self) -> &str {
            "loudness"
        }

        fn encode(&self, window: &VoiceWindow) -> Result<VoiceStep, EncoderError> {
            let probability = window.samples[CONTEXT];
            if probability < 0.0 {
                return Err(EncoderError::output("loudness", "broken"));
            }
            Ok(VoiceStep { probability, state: window.state.clone() })
        }
    }

    impl VoiceActivity for Loudness {
        fn thresholds(&self) -> SpeechThresholds {
            SpeechThresholds {
                speech: 0.5,
                silence: 0.35,
                min_speech: Duration::from_millis(250),
                min_silence: Duration::from_millis(300),
                pad: Duration::ZERO,
            }
        }
    }

    const STEP: Duration = Duration::from_millis(32);

    fn detector() -> SpeechDetector {
        SpeechDetector::new(Arc::new(Loudness))
    }

    /// Pushes `windows` windows of one loudness, in blocks that do not fit the windows, and returns the time after them.
    fn push(detector: &mut SpeechDetector, from: Duration, loudness: f32, windows: u32) -> Duration {
        let samples = vec![loudness; WINDOW * windows as usize];
        let mut at = from;
        for block in samples.chunks(700) {
            detector.push(at, block).unwrap();
            at += span(block.len() as u64);
        }
        from + STEP * windows
    }

    fn spans(intervals: &[SpeechInterval]) -> Vec<(u32, u32)> {
        let steps = |at: Duration| u32::try_from(at.as_millis() / 32).unwrap();
        intervals.iter().map(|interval| (steps(interval.start), steps(interval.end))).collect()
    }

    #[test]
    fn speech_is_found_where_it_is_and_short_pauses_do_not_end_it() {
        let mut detector = detector();
        let mut at = Duration::ZERO;
        for (loudness, windows) in [(0.1, 20), (0.9, 20), (0.1, 5), (0.9, 20), (0.1, 20), (0.9, 20), (0.0, 20)] {
            at = push(&mut detector, at, loudness, windows);
        }
        assert_eq!(spans(&detector.take_until(at)), [(20, 65), (85, 105)]);
        assert!(detector.take_until(at).is_empty());
    }

    #[test]
    fn a_click_is_no_speech() {
        let mut detector = detector();
        let at = push(&mut detector, Duration::ZERO, 0.1, 20);
        let at = push(&mut detector, at, 0.9, 5);
        let at = push(&mut detector, at, 0.1, 20);
        assert!(detector.take_until(at).is_empty());
    }

    #[test]
    fn between_the_thresholds_speech_goes_on_but_does_not_begin() {
        let mut detector = detector();
        let at = push(&mut detector, Duration::ZERO, 0.4, 20);
        let at = push(&mut detector, at, 0.9, 10);
        let at = push(&mut detector, at, 0.4, 20);
        let at = push(&mut detector, at, 0.1, 20);
        assert_eq!(spans(&detector.take_until(at)), [(20, 50)]);
    }

    #[test]
    fn speech_across_a_boundary_is_cut_there_and_goes_on_behind_it() {
        let mut detector = detector();
        let at = push(&mut detector, Duration::ZERO, 0.9, 40);
        assert_eq!(spans(&detector.take_until(STEP * 30)), [(0, 30)]);
        let at = push(&mut detector, at, 0.9, 20);
        let at = push(&mut detector, at, 0.0, 20);
        assert_eq!(spans(&detector.take_until(at)), [(30, 60)]);
    }

    #[test]
    fn a_closed_stretch_across_a_boundary_is_cut_too() {
        let mut detector = detector();
        let at = push(&mut detector, Duration::ZERO, 0.9, 40);
        let at = push(&mut detector, at, 0.0, 20);
        assert_eq!(spans(&detector.take_until(STEP * 25)), [(0, 25)]);
        assert_eq!(spans(&detector.take_until(at)), [(25, 40)]);
    }

    #[test]
    fn a_gap_ends_speech_and_times_go_on_behind_it() {
        let mut detector = detector();
        push(&mut detector, Duration::ZERO, 0.9, 20);
        let at = push(&mut detector, STEP * 100, 0.9, 20);
        detector.finish();
        assert_eq!(spans(&detector.take_until(at)), [(0, 20), (100, 120)]);
    }

    #[test]
    fn a_model_that_fails_loses_the_block_and_no_more() {
        let mut detector = detector();
        let at = push(&mut detector, Duration::ZERO, 0.9, 20);
        detector.push(at, &[-1.0; WINDOW]).unwrap_err();
        let at = push(&mut detector, at + STEP, 0.9, 20);
        detector.finish();
        assert_eq!(spans(&detector.take_until(at)), [(0, 20), (21, 41)]);
    }
}
