//! Detects cuts between pictures (HippoMM Eq. 5).

use std::time::Duration;

use super::config::SegmenterConfig;
use super::luma::Luma;
use super::plan::CutCandidate;
use super::ssim::{SsimWindow, ssim};
use crate::Boundary;

/// Contrast below which a picture has no structure that could be compared under another light.
const MIN_CONTRAST: f64 = 4.0;
/// Time constant of the running distribution, in seconds.
const MEMORY_S: f64 = 4.0;
/// Maximum gap between two pictures that says how the scene moves.
const MAX_GAP: Duration = Duration::from_millis(2_500);
/// Share of a cut's dissimilarity below which the picture from before has returned: it was a flash.
const FLASH_SHARE: f64 = 0.6;

/// Looks at one picture after the other.
#[derive(Debug)]
pub(super) struct CutDetector {
    config: SegmenterConfig,
    last: Option<(Duration, Luma)>,
    kept: Option<(Duration, Luma)>,
    running: Running,
    pending: Option<PendingCut>,
}

/// Running mean and variance of the dissimilarity.
#[derive(Debug, Default, Clone, Copy)]
struct Running {
    mean: f64,
    variance: f64,
    /// Seconds of pictures seen, up to [`MEMORY_S`].
    seconds: f64,
}

/// A cut that the next picture confirms or, when what was before returns, turns into a flash.
#[derive(Debug)]
struct PendingCut {
    before: Luma,
    from: Duration,
    to: Duration,
    novelty: f64,
}

/// Features of one picture.
#[derive(Debug, Clone, Copy)]
pub(super) struct SeenPicture {
    /// Similarity to the picture before, light discounted; 1 for the first.
    pub(super) ssim: f64,
    /// Dissimilarity against what is usual now; 1 at the threshold.
    pub(super) salience: f64,
    /// Whether an encoder should look at it.
    pub(super) keep: bool,
}

impl CutDetector {
    pub(super) fn new(config: &SegmenterConfig) -> Self {
        Self { config: config.clone(), last: None, kept: None, running: Running::default(), pending: None }
    }

    /// Returns the time of the last picture.
    pub(super) fn watermark(&self) -> Option<Duration> {
        self.last.as_ref().map(|(at, _)| *at)
    }

    /// Takes the picture of `at`; one that is not later than the last is ignored.
    pub(super) fn push(&mut self, at: Duration, luma: &Luma, found: &mut Vec<CutCandidate>) -> SeenPicture {
        let Some((before_at, before)) = self.last.take() else {
            self.last = Some((at, luma.clone()));
            self.kept = Some((at, luma.clone()));
            return SeenPicture { ssim: 1.0, salience: 0.0, keep: true };
        };
        if at <= before_at {
            self.last = Some((before_at, before));
            return SeenPicture { ssim: 1.0, salience: 0.0, keep: false };
        }
        self.confirm(at, luma, found);

        let novelty = dissimilarity(&before, luma);
        let threshold = self.threshold();
        let elapsed = at - before_at;
        if novelty > threshold {
            if self.pending.is_none() {
                self.pending = Some(PendingCut { before, from: before_at, to: at, novelty });
            }
        } else if elapsed <= MAX_GAP {
            // Cuts are no part of what is usual, else the second of two would have to be the harder one.
            self.running.push(novelty, elapsed.as_secs_f64());
        }
        let keep = self.keep(at, luma);
        self.last = Some((at, luma.clone()));
        SeenPicture { ssim: 1.0 - novelty, salience: novelty / threshold.max(1e-6), keep }
    }

    /// Settles a cut at the very end of the stream, which no picture confirms.
    pub(super) fn finish(&mut self, found: &mut Vec<CutCandidate>) {
        if let Some(pending) = self.pending.take() {
            found.push(pending.candidate(pending.to));
        }
    }

    fn threshold(&self) -> f64 {
        let Self { config, running, .. } = self;
        let usual = running.mean + config.visual_deviations * running.variance.sqrt();
        usual.clamp(config.visual_floor, config.visual_threshold)
    }

    fn confirm(&mut self, at: Duration, luma: &Luma, found: &mut Vec<CutCandidate>) {
        let Some(pending) = self.pending.take() else { return };
        if dissimilarity(&pending.before, luma) > FLASH_SHARE * pending.novelty {
            found.push(pending.candidate(at));
        }
    }

    fn keep(&mut self, at: Duration, luma: &Luma) -> bool {
        let keep = self.kept.as_ref().is_none_or(|(kept_at, kept)| {
            at - *kept_at >= self.config.keep_interval || dissimilarity(kept, luma) > self.config.keep_novelty
        });
        if keep {
            self.kept = Some((at, luma.clone()));
        }
        keep
    }
}

impl PendingCut {
    fn candidate(&self, ready: Duration) -> CutCandidate {
        CutCandidate {
            earliest: self.from,
            time: self.from + (self.to - self.from) / 2,
            latest: self.to,
            ready,
            weight: self.novelty,
            boundary: Boundary::Visual,
        }
    }
}

impl Running {
    fn push(&mut self, novelty: f64, elapsed: f64) {
        self.seconds = (self.seconds + elapsed).min(MEMORY_S);
        let share = (elapsed / self.seconds.max(1e-3)).min(1.0);
        let delta = novelty - self.mean;
        self.mean += share * delta;
        self.variance = (1.0 - share) * (self.variance + share * delta * delta);
    }
}

/// `1 - SSIM`, of the pictures as they are or under equal light, whichever is smaller.
///
/// Switching a lamp changes brightness and contrast everywhere at once; a cut changes structure. So two pictures that
/// agree once their mean and contrast are made equal are one scene.
fn dissimilarity(a: &Luma, b: &Luma) -> f64 {
    let plain = match ssim(a.plane(), b.plane(), SsimWindow::Uniform7, 255.0) {
        Ok(similarity) => 1.0 - similarity,
        // Another size is another source format: nothing to compare, so everything changed.
        Err(_) => return 1.0,
    };
    let ((mean_a, spread_a), (mean_b, spread_b)) = (a.spread(), b.spread());
    let same_light = (mean_a - mean_b).abs() < 4.0 && (spread_a - spread_b).abs() < 2.0;
    if same_light || spread_a < MIN_CONTRAST || spread_b < MIN_CONTRAST || plain < 0.05 {
        return plain;
    }
    // The flatter picture is brought to the light of the other, so that noise in neither is the yardstick.
    let relit = |luma: &Luma, mean: f64, spread: f64, to_mean: f64, to_spread: f64| {
        let table: [u8; 256] =
            std::array::from_fn(|p| ((p as f64 - mean) / spread * to_spread + to_mean).round().clamp(0.0, 255.0) as u8);
        let pixels = luma.pixels().iter().map(|&p| table[usize::from(p)]).collect();
        Luma::new(luma.width(), luma.height(), pixels).expect("the size is kept")
    };
    let relit_similarity = if spread_a < spread_b {
        let a = relit(a, mean_a, spread_a, mean_b, spread_b);
        ssim(a.plane(), b.plane(), SsimWindow::Uniform7, 255.0)
    } else {
        let b = relit(b, mean_b, spread_b, mean_a, spread_a);
        ssim(a.plane(), b.plane(), SsimWindow::Uniform7, 255.0)
    };
    relit_similarity.map_or(plain, |similarity| plain.min(1.0 - similarity))
}
