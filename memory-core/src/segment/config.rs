//! Options of the segmenter.

use std::time::Duration;

/// Thresholds and lengths. The defaults are the paper's where it names a value, else those with the best boundary F1 on
/// the project's development recording (`docs/benchmarks.md`).
#[derive(Debug, Clone, PartialEq)]
pub struct SegmenterConfig {
    /// Shortest segment; a shorter one is merged into the one before. 5 s (HippoMM B.1).
    pub min_length: Duration,
    /// Longest segment; a longer one is split. 10 s (HippoMM B.1). At least twice `min_length`.
    pub max_length: Duration,
    /// How long a boundary is thought over before it is settled, up to `min_length`: a stronger one that follows takes
    /// its place. Long lookahead finds the better boundaries, short lookahead hands segments on sooner.
    pub lookahead: Duration,
    /// How far before `max_length` the best place for a split is looked for.
    pub split_window: Duration,
    /// Pictures a second while nothing moves. 1.
    pub min_fps: f64,
    /// Pictures a second while things change. 10.
    pub max_fps: f64,
    /// τ_v: a dissimilarity `1 - SSIM` above this is a cut, whatever the picture did before. 0.65 (HippoMM B.1).
    pub visual_threshold: f64,
    /// Dissimilarity below which nothing is a cut, however quiet the picture was before.
    pub visual_floor: f64,
    /// Between floor and threshold, a cut must stand out from the running mean by this many standard deviations.
    pub visual_deviations: f64,
    /// τ_a in dB: sound whose level is below `-silence_db` dB of full scale is silence. 40 (HippoMM B.1).
    pub silence_db: f64,
    /// Silence ends only when the level rises this many dB above the threshold: one long silence is one boundary.
    pub silence_hysteresis_db: f64,
    /// How long silence must last to count.
    pub min_silence: Duration,
    /// How long sound must have lasted before, for a silence to end something.
    pub min_sound: Duration,
    /// Weight of a fall into silence against a cut of dissimilarity 1 where both suggest the boundary; 0 ignores sound.
    pub silence_weight: f64,
    /// Whether a silence alone ends a segment while there are pictures. Off: a silence is then only where a
    /// segment that grows too long is best split, since speech pauses far more often than places change. Without pictures
    /// it always does.
    pub silence_ends: bool,
    /// A picture this dissimilar from the last one kept is worth an encoder's time.
    pub keep_novelty: f64,
    /// At the latest after this time a picture is kept even if nothing changed.
    pub keep_interval: Duration,
    /// Samples a second of the sound. 16,000.
    pub sample_rate: u32,
    /// A stream this far behind the other one is not waited for: it ended, stalled or never was.
    pub max_skew: Duration,
}

impl Default for SegmenterConfig {
    fn default() -> Self {
        Self {
            min_length: Duration::from_secs(5),
            max_length: Duration::from_secs(10),
            lookahead: Duration::from_secs(5),
            split_window: Duration::from_secs(2),
            min_fps: 1.0,
            max_fps: 10.0,
            visual_threshold: 0.65,
            visual_floor: 0.3,
            visual_deviations: 4.0,
            silence_db: 40.0,
            silence_hysteresis_db: 6.0,
            min_silence: Duration::from_millis(500),
            min_sound: Duration::from_secs(1),
            silence_weight: 0.3,
            silence_ends: false,
            keep_novelty: 0.15,
            keep_interval: Duration::from_secs(2),
            sample_rate: 16_000,
            max_skew: Duration::from_secs(2),
        }
    }
}

impl SegmenterConfig {
    /// For live sources: segments are handed on within a second of their end, at some loss of boundary quality, because
    /// a boundary that is settled at once cannot give way to a better one that follows.
    pub fn live() -> Self {
        Self { lookahead: Duration::ZERO, split_window: Duration::from_millis(500), ..Self::default() }
    }

    /// The paper's rule as it stands: fixed thresholds, a boundary wherever sound or picture pass one.
    pub fn paper() -> Self {
        Self {
            visual_floor: 0.65,
            visual_threshold: 0.65,
            silence_weight: 1.0,
            silence_ends: true,
            min_sound: Duration::ZERO,
            ..Self::default()
        }
    }

    /// The same with every value brought into the range in which the segmenter keeps its promises.
    pub(super) fn normalised(mut self) -> Self {
        let finite = |value: f64, low: f64, high: f64| if value.is_finite() { value.clamp(low, high) } else { low };
        self.min_length = self.min_length.max(Duration::from_millis(100));
        self.max_length = self.max_length.max(self.min_length * 2);
        self.lookahead = self.lookahead.min(self.min_length);
        self.split_window = self.split_window.min(self.max_length - self.min_length);
        self.max_fps = finite(self.max_fps, 0.1, 60.0);
        self.min_fps = finite(self.min_fps, 0.1, self.max_fps);
        self.visual_floor = finite(self.visual_floor, 0.0, 2.0);
        self.visual_threshold = finite(self.visual_threshold, self.visual_floor, 2.0);
        self.visual_deviations = finite(self.visual_deviations, 0.0, 1e3);
        self.silence_weight = finite(self.silence_weight, 0.0, 10.0);
        self.sample_rate = self.sample_rate.max(10);
        self.max_skew = self.max_skew.max(Duration::from_millis(100));
        self
    }
}
