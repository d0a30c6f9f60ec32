use std::collections::VecDeque;
use std::time::Duration;

use memory_core::segment::{Luma, Segment, SegmenterConfig};

use super::light::LightMeter;
use super::{Condition, ConditionSpan};

/// Similarity above which two pictures do not disturb each other.
const MAX_DISTURBED_SIMILARITY: f64 = 0.55;
/// Share of the difference between two pictures that changes from pixel to pixel: about 1 for noise, below a third for motion
/// and cuts.
const MIN_GRAIN_SHARE: f64 = 0.6;
/// Standard deviation of the difference from which noise is reported. That of a sensor at night is far smaller.
const MIN_NOISE_DEVIATION: f64 = 10.0;
/// Minimum number of noisy pictures in a row. A cut is one.
const MIN_NOISY_PICTURES: usize = 4;
/// Maximum time between two pictures that are compared for noise.
const MAX_PICTURE_GAP: Duration = Duration::from_millis(500);
/// Interruption up to which flicker is one condition.
const MAX_FLICKER: Duration = Duration::from_secs(1);

/// The condition of the pictures of segments that are still open.
#[derive(Debug)]
pub(in crate::perception) struct PictureSignal {
    light: LightMeter,
    before: Option<(Duration, Luma)>,
    /// Pictures in order of time.
    pictures: VecDeque<PictureSignalSample>,
    /// Pictures further apart say nothing about the time between them.
    gap: Duration,
}

#[derive(Debug, Clone, Copy)]
struct PictureSignalSample {
    at: Duration,
    light: Option<Condition>,
    noisy: bool,
}

impl PictureSignalSample {
    fn shows(&self, condition: Condition) -> bool {
        if condition == Condition::Noise { self.noisy } else { self.light == Some(condition) }
    }
}

/// Pictures of one condition, one after the other.
#[derive(Debug, Clone, Copy)]
struct PictureRun {
    start: Duration,
    end: Duration,
    pictures: usize,
    /// What pictures witness: without pauses in flicker, and without what is assumed where no picture follows.
    length: Duration,
}

impl PictureSignal {
    pub(in crate::perception) fn new(config: &SegmenterConfig) -> Self {
        let gap = Duration::from_secs_f64(2.5 / config.min_fps.clamp(0.1, 2.5));
        Self { light: LightMeter::default(), before: None, pictures: VecDeque::new(), gap }
    }

    /// Takes the picture of `at` and its similarity to the one before.
    pub(in crate::perception) fn push(&mut self, at: Duration, luma: &Luma, ssim: f64) {
        if self.before.as_ref().is_some_and(|(before, _)| *before >= at) {
            return;
        }
        let noisy = self.before.as_ref().is_some_and(|(before_at, before)| {
            at - *before_at <= MAX_PICTURE_GAP && ssim < MAX_DISTURBED_SIMILARITY && is_noise(before, luma)
        });
        if noisy && let Some(before) = self.pictures.back_mut() {
            // Nothing but noise is as unlike noise as this.
            before.noisy = true;
        }
        self.pictures.push_back(PictureSignalSample { at, light: self.light.push(at, luma), noisy });
        self.before = Some((at, luma.clone()));
    }

    /// Returns the conditions of `segment`; pictures that no later segment needs are dropped.
    pub(in crate::perception) fn take(&mut self, segment: &Segment) -> Vec<ConditionSpan> {
        let stretches = [Condition::Black, Condition::Dark, Condition::Noise]
            .into_iter()
            .flat_map(|condition| self.stretches(condition))
            .filter_map(|stretch| stretch.within(segment.start, segment.end))
            .collect();
        // Enough stays to know that something goes on which has lasted long enough.
        let needed = segment.end.saturating_sub(self.gap * 2);
        self.pictures.drain(..self.pictures.partition_point(|seen| seen.at < needed));
        stretches
    }

    fn stretches(&self, condition: Condition) -> Vec<ConditionSpan> {
        let mut runs: Vec<PictureRun> = Vec::new();
        for run in self.runs(condition) {
            match runs.last_mut() {
                Some(last) if run.start.saturating_sub(last.end) < MAX_FLICKER && condition != Condition::Noise => {
                    let (pictures, length) = (last.pictures + run.pictures, last.length + run.length);
                    *last = PictureRun { start: last.start, end: run.end, pictures, length };
                }
                _ => runs.push(run),
            }
        }
        let pictures = if condition == Condition::Noise { MIN_NOISY_PICTURES } else { 2 };
        let lasting = |run: &PictureRun| run.pictures >= pictures && run.length >= condition.shortest();
        let stretch = |PictureRun { start, end, .. }| ConditionSpan { condition, start, end };
        runs.into_iter().filter(lasting).map(stretch).collect()
    }

    fn runs(&self, condition: Condition) -> Vec<PictureRun> {
        let mut runs: Vec<PictureRun> = Vec::new();
        let mut open = false;
        let mut before: Option<Duration> = None;
        for (at, seen) in self.pictures.iter().enumerate() {
            let near = before.is_some_and(|before| seen.at - before <= self.gap);
            if seen.shows(condition) {
                // Between two pictures nobody knows: the middle is the best guess.
                let half = |other: Duration| (seen.at.abs_diff(other) / 2).min(self.gap / 2);
                let (left, right) = (before.map(half), self.pictures.get(at + 1).map(|after| half(after.at)));
                let end = seen.at + right.unwrap_or(self.gap / 2);
                let known = left.unwrap_or_default() + right.unwrap_or_default();
                match runs.last_mut() {
                    Some(run) if open && near => {
                        *run = PictureRun { end, pictures: run.pictures + 1, length: run.length + known, ..*run };
                    }
                    _ => {
                        let start = seen.at.saturating_sub(left.unwrap_or(self.gap / 2));
                        runs.push(PictureRun { start, end, pictures: 1, length: known });
                    }
                }
            }
            open = seen.shows(condition);
            before = Some(seen.at);
        }
        runs
    }
}

fn is_noise(before: &Luma, now: &Luma) -> bool {
    if (before.width(), before.height()) != (now.width(), now.height()) || now.width() < 2 {
        return false;
    }
    let (mut sum, mut squares, mut steps, mut pairs) = (0_i64, 0_i64, 0_i64, 0_i64);
    for (row, before) in now.pixels().chunks(now.width()).zip(before.pixels().chunks(now.width())) {
        let mut left = None;
        for (&pixel, &before) in row.iter().zip(before) {
            let difference = i64::from(pixel) - i64::from(before);
            sum += difference;
            squares += difference * difference;
            if let Some(left) = left.replace(difference) {
                steps += (difference - left) * (difference - left);
                pairs += 1;
            }
        }
    }
    let count = now.pixels().len() as f64;
    let variance = squares as f64 / count - (sum as f64 / count).powi(2);
    // Of independent pixels, neighbours differ by twice the variance.
    variance > MIN_NOISE_DEVIATION * MIN_NOISE_DEVIATION
        && steps as f64 / pairs as f64 > MIN_GRAIN_SHARE * 2.0 * variance
}

#[cfg(test)]
mod tests;
