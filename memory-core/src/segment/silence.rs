//! Detects the beginning of silence (HippoMM Eq. 6).

use std::time::Duration;

use super::config::SegmenterConfig;
use super::plan::CutCandidate;
use crate::Boundary;

/// Level of a stretch of sound in dB of full scale: `20·log10(RMS)`, 0 for a full square wave, about -3 for a full sine,
/// [`f64::NEG_INFINITY`] for digital silence and for no samples at all. Eq. 6's `d_a` is the negative of it.
pub fn level_db(samples: &[f32]) -> f64 {
    let squares: f64 = samples.iter().map(|&s| f64::from(s) * f64::from(s)).sum();
    10.0 * (squares / samples.len().max(1) as f64).log10()
}

/// Length of the windows whose level is measured.
const WINDOW: Duration = Duration::from_millis(100);
/// Jump of the time stamps above which sound counts as interrupted.
const MAX_JUMP: Duration = Duration::from_millis(60);

/// Watches the level of the sound, in windows that do not depend on how it arrives in blocks.
#[derive(Debug)]
pub(super) struct SilenceDetector {
    window_samples: usize,
    sample_rate: u32,
    threshold: f64,
    exit: f64,
    min_silence: Duration,
    min_sound: Duration,
    weight: f64,
    /// Samples of the window that is not full yet.
    open: Vec<f32>,
    /// Start of the open window is `anchor` plus this many samples.
    counted: u64,
    anchor: Option<Duration>,
    watermark: Option<Duration>,
    state: SilenceState,
}

#[derive(Debug, Clone, Copy)]
enum SilenceState {
    /// Sound for so long.
    Sound(Duration),
    /// Below the threshold since, with so much sound before.
    Falling { since: Duration, sound: Duration },
    /// Silent; whether it was told or was not worth telling, this silence is over only when sound returns.
    Silent,
}

impl SilenceDetector {
    pub(super) fn new(config: &SegmenterConfig) -> Self {
        let window_samples = (config.sample_rate as usize / 10).max(1);
        Self {
            window_samples,
            sample_rate: config.sample_rate,
            threshold: -config.silence_db,
            exit: -config.silence_db + config.silence_hysteresis_db.max(0.0),
            min_silence: config.min_silence,
            min_sound: config.min_sound,
            weight: config.silence_weight,
            open: Vec::with_capacity(window_samples),
            counted: 0,
            anchor: None,
            watermark: None,
            state: SilenceState::Silent,
        }
    }

    /// The end of the last window that was measured.
    pub(super) fn watermark(&self) -> Option<Duration> {
        self.watermark
    }

    /// Takes the block that begins at `at`.
    pub(super) fn push(&mut self, at: Duration, samples: &[f32], found: &mut Vec<CutCandidate>) {
        let expected = self.anchor.map(|anchor| anchor + self.length(self.counted + self.open.len() as u64));
        if expected.is_none_or(|expected| expected.abs_diff(at) > MAX_JUMP) {
            // Lost sound is not silence: the open window is forgotten and measuring begins anew.
            self.anchor = Some(at);
            self.counted = 0;
            self.open.clear();
            self.watermark = Some(self.watermark.unwrap_or_default().max(at));
        }
        let mut rest = samples;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(self.window_samples - self.open.len()));
            self.open.extend_from_slice(now);
            rest = later;
            if self.open.len() == self.window_samples {
                let level = level_db(&self.open);
                self.open.clear();
                self.close_window(level, found);
            }
        }
    }

    fn length(&self, samples: u64) -> Duration {
        Duration::from_nanos(samples.saturating_mul(1_000_000_000) / u64::from(self.sample_rate))
    }

    fn close_window(&mut self, level: f64, found: &mut Vec<CutCandidate>) {
        let anchor = self.anchor.unwrap_or_default();
        let start = anchor + self.length(self.counted);
        self.counted += self.window_samples as u64;
        let end = anchor + self.length(self.counted);
        self.watermark = Some(self.watermark.unwrap_or_default().max(end));

        self.state = match self.state {
            SilenceState::Sound(length) if level < self.threshold => {
                SilenceState::Falling { since: start, sound: length }
            }
            SilenceState::Sound(length) => SilenceState::Sound(length + WINDOW),
            SilenceState::Falling { sound, .. } if level >= self.threshold => SilenceState::Sound(sound + WINDOW),
            SilenceState::Falling { since, sound } if end.saturating_sub(since) >= self.min_silence => {
                if sound >= self.min_sound && self.weight > 0.0 {
                    found.push(CutCandidate {
                        earliest: since,
                        time: since,
                        latest: since,
                        ready: end,
                        weight: self.weight,
                        boundary: Boundary::Silence,
                    });
                }
                SilenceState::Silent
            }
            falling @ SilenceState::Falling { .. } => falling,
            SilenceState::Silent if level >= self.exit => SilenceState::Sound(WINDOW),
            SilenceState::Silent => SilenceState::Silent,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tone(seconds: f64, amplitude: f32) -> Vec<f32> {
        (0..(seconds * 16_000.0) as usize).map(|i| amplitude * (i as f32 * 0.2).sin()).collect()
    }

    fn silences(parts: &[(f64, f32)], block: usize) -> Vec<Duration> {
        let sound: Vec<f32> = parts.iter().flat_map(|&(seconds, amplitude)| tone(seconds, amplitude)).collect();
        let mut detector = SilenceDetector::new(&SegmenterConfig::default());
        let mut found = Vec::new();
        for (i, samples) in sound.chunks(block).enumerate() {
            detector.push(Duration::from_nanos((i * block) as u64 * 62_500), samples, &mut found);
        }
        found.into_iter().map(|candidate| candidate.time).collect()
    }

    #[test]
    fn the_level_of_a_sine_and_of_nothing() {
        assert!((level_db(&tone(1.0, 1.0)) + 3.01).abs() < 0.05);
        assert!((level_db(&tone(1.0, 0.01)) + 43.01).abs() < 0.05);
        assert_eq!(level_db(&[0.0; 100]), f64::NEG_INFINITY);
        assert_eq!(level_db(&[]), f64::NEG_INFINITY);
    }

    #[test]
    fn one_long_silence_is_one_boundary_where_it_begins() {
        assert_eq!(silences(&[(3.0, 0.5), (8.0, 0.0), (2.0, 0.5)], 1024), [Duration::from_secs(3)]);
    }

    #[test]
    fn a_level_that_hovers_at_the_threshold_is_one_silence() {
        // -41 dB and -38 dB in turn: under the threshold, then over it but within the hysteresis.
        let mut parts = vec![(2.0, 0.5), (1.0, 0.0)];
        parts.extend([(0.6, 0.0126), (0.6, 0.0178)].repeat(6));
        assert_eq!(silences(&parts, 800).len(), 1);
    }

    #[test]
    fn a_short_pause_and_a_silence_after_a_click_are_no_boundary() {
        assert!(silences(&[(3.0, 0.5), (0.3, 0.0), (3.0, 0.5)], 500).is_empty());
        assert!(silences(&[(3.0, 0.0), (0.2, 0.5), (3.0, 0.0)], 500).is_empty());
    }

    #[test]
    fn how_sound_arrives_in_blocks_does_not_matter() {
        let parts = [(2.05, 0.5), (1.3, 0.0), (4.0, 0.3), (2.0, 0.001)];
        let expected = silences(&parts, 16_000);
        assert_eq!(expected.len(), 2);
        for block in [1, 7, 160, 1024, 50_000] {
            assert_eq!(silences(&parts, block), expected, "blocks of {block}");
        }
    }

    #[test]
    fn lost_sound_is_not_silence() {
        let mut detector = SilenceDetector::new(&SegmenterConfig::default());
        let mut found = Vec::new();
        detector.push(Duration::ZERO, &tone(2.0, 0.5), &mut found);
        detector.push(Duration::from_secs(9), &tone(2.0, 0.5), &mut found);
        assert!(found.is_empty());
        assert_eq!(detector.watermark(), Some(Duration::from_secs(11)));
    }
}
