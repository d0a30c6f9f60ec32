//! From pictures and sound to segments.

use std::collections::VecDeque;
use std::time::Duration;

use super::config::SegmenterConfig;
use super::cut::CutDetector;
use super::luma::Luma;
use super::plan::{Candidate, first_boundary, splits};
use super::silence::SilenceDetector;
use crate::Boundary;

/// A closed stretch of stream time. Segments of one session follow each other without gap or overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// First moment.
    pub start: Duration,
    /// Where the next one begins.
    pub end: Duration,
    /// What ended it.
    pub boundary: Boundary,
}

/// What one picture told the segmenter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrameNovelty {
    /// Structural similarity to the picture before, lighting discounted; 1 for the first picture.
    pub ssim: f64,
    /// Whether the picture shows something that the last kept one does not, so that encoding it pays.
    pub keep: bool,
}

/// Where nothing stands out by this share of a cut's threshold, a long segment is split by length alone.
const SALIENT: f64 = 0.5;

/// Finds the segments of one capture session.
///
/// ```
/// use std::time::Duration;
/// use memory_core::segment::{Luma, Segmenter, SegmenterConfig};
///
/// let mut segmenter = Segmenter::new(SegmenterConfig::default());
/// for tenth in 0..200 {
///     let shade = if tenth < 70 { 30 } else { 220 };
///     let texture = (0..160 * 90).map(|i| shade ^ (i * (1 + tenth / 70) % 31) as u8).collect();
///     let picture = Luma::new(160, 90, texture).expect("the length fits");
///     segmenter.push_luma(Duration::from_millis(100 * tenth), &picture);
/// }
/// segmenter.finish(Duration::from_secs(20));
/// let ends: Vec<u64> = std::iter::from_fn(|| segmenter.poll()).map(|segment| segment.end.as_secs()).collect();
/// assert_eq!(ends.last(), Some(&20));
/// ```
#[derive(Debug)]
pub struct Segmenter {
    config: SegmenterConfig,
    cuts: CutDetector,
    silences: SilenceDetector,
    /// The first moment of each stream.
    first: [Option<Duration>; 2],
    /// Begin of the open segment, once the first decision is made.
    start: Option<Duration>,
    /// Every decision up to here is made.
    decided: Duration,
    /// Sorted by time; the flag says that its own moment of decision has passed.
    candidates: Vec<(Candidate, bool)>,
    /// Whether the open segment reached its longest length and was left open for a candidate that will end it.
    overlong: bool,
    /// Time and salience of the pictures of the open segment.
    profile: VecDeque<(Duration, f64)>,
    interval: f64,
    closed: VecDeque<Segment>,
    found: Vec<Candidate>,
}

impl Segmenter {
    /// A segmenter for a session that begins now; values of `config` out of range are brought into it.
    pub fn new(config: SegmenterConfig) -> Self {
        let config = config.normalised();
        Self {
            cuts: CutDetector::new(&config),
            silences: SilenceDetector::new(&config),
            first: [None; 2],
            start: None,
            decided: Duration::ZERO,
            candidates: Vec::new(),
            overlong: false,
            profile: VecDeque::new(),
            interval: 1.0 / config.max_fps,
            closed: VecDeque::new(),
            found: Vec::new(),
            config,
        }
    }

    /// Takes the picture of `at`. Pictures must come in order of time; one that is not later than the last is ignored.
    pub fn push_luma(&mut self, at: Duration, luma: &Luma) -> FrameNovelty {
        self.first[0].get_or_insert(at);
        let before = self.cuts.watermark();
        let seen = self.cuts.push(at, luma, &mut self.found);
        if before.is_none_or(|before| at > before) {
            self.profile.push_back((at, seen.salience));
            self.adapt(1.0 - seen.ssim);
        }
        self.advance();
        FrameNovelty { ssim: seen.ssim, keep: seen.keep }
    }

    /// Takes the block of mono sound (-1 to 1, at the configured rate) that begins at `at`. Blocks must come in order.
    pub fn push_audio(&mut self, at: Duration, samples: &[f32]) {
        self.first[1].get_or_insert(at);
        self.silences.push(at, samples, &mut self.found);
        self.advance();
    }

    /// The next closed segment, if one is ready.
    ///
    /// A segment ends at the first boundary of the heaviest choice of candidates that keeps all lengths, settled
    /// `lookahead` after the boundary. Without a candidate it is split `lookahead` after it reached the longest length.
    /// Whatever is shorter than the shortest length is part of the segment before; only the last segment of a session
    /// may be shorter.
    pub fn poll(&mut self) -> Option<Segment> {
        self.closed.pop_front()
    }

    /// The session ends at `at`: closes everything. Later input is ignored; [`Segmenter::poll`] hands out the rest.
    pub fn finish(&mut self, at: Duration) {
        self.cuts.finish(&mut self.found);
        let end =
            [Some(at), self.cuts.watermark(), self.silences.watermark()].into_iter().flatten().max().unwrap_or(at);
        if self.start.is_none() && self.first == [None, None] {
            self.start = Some(Duration::ZERO);
        }
        self.decide(end);
        let min = self.config.min_length;
        while let Some(start) = self.start {
            let fits = |candidate: &Candidate| candidate.latest + min <= end;
            let rest = self.candidates.iter().map(|(candidate, _)| *candidate).filter(fits);
            let Some((at, candidate)) = first_boundary(start, min, rest) else { break };
            self.close(at, candidate.boundary);
        }
        if self.start.is_some_and(|start| start < end) {
            self.close(end, Boundary::End);
        }
    }

    /// How long to wait for the next picture: short while things change, long while nothing does.
    pub fn frame_interval(&self) -> Duration {
        Duration::from_secs_f64(self.interval)
    }

    /// Rises at once and falls by and by, since what moved a moment ago is likely to move again.
    fn adapt(&mut self, novelty: f64) {
        let (slow, fast) = (1.0 / self.config.min_fps, 1.0 / self.config.max_fps);
        let activity = ((novelty - STILL) / (LIVELY - STILL)).clamp(0.0, 1.0);
        let wanted = slow * (fast / slow).powf(activity);
        self.interval = wanted.min(self.interval * 1.2).clamp(fast, slow);
    }

    /// Up to where both streams are known. A stream that lags more than `max_skew` is not waited for.
    fn horizon(&self) -> Duration {
        let marks = [self.cuts.watermark(), self.silences.watermark()].map(Option::unwrap_or_default);
        let ahead = marks[0].max(marks[1]);
        let floor = self.first.iter().flatten().min().copied().unwrap_or_default();
        let current =
            marks.into_iter().map(|mark| mark.max(floor)).filter(|mark| *mark + self.config.max_skew >= ahead);
        current.min().unwrap_or(ahead)
    }

    fn advance(&mut self) {
        let horizon = self.horizon();
        self.decide(horizon);
    }

    /// Makes every decision that falls due up to `horizon`, in order of the time at which it falls due, so that it does
    /// not matter in how many steps the horizon got there.
    fn decide(&mut self, horizon: Duration) {
        for candidate in self.found.drain(..) {
            let place = self
                .candidates
                .partition_point(|(other, _)| (other.time, other.ready) <= (candidate.time, candidate.ready));
            self.candidates.insert(place, (candidate, false));
        }
        let earliest = self.first.iter().flatten().min().copied();
        if self.start.is_none() && earliest.is_some_and(|earliest| horizon > earliest) {
            self.start = earliest;
        }
        let SegmenterConfig { min_length: min, max_length: max, lookahead, split_window, .. } = self.config;
        while let Some(start) = self.start {
            self.candidates.retain(|(candidate, _)| candidate.latest >= start + min);
            let due = |candidate: &Candidate| candidate.ready.max(candidate.latest + lookahead);
            let next = self.candidates.iter().filter(|(_, passed)| !passed).map(|(candidate, _)| due(candidate)).min();
            let full = (!self.overlong).then_some(start + max + lookahead);
            let Some(now) = next.into_iter().chain(full).min().map(|at| at.max(self.decided)) else { break };
            if now > horizon {
                break;
            }
            self.decided = now;
            for (candidate, passed) in &mut self.candidates {
                *passed |= due(candidate) <= now;
            }
            let known =
                self.candidates.iter().map(|(candidate, _)| *candidate).filter(|candidate| candidate.ready <= now);
            match first_boundary(start, min, known) {
                Some((at, candidate)) if due(&candidate) <= now => self.close(at, candidate.boundary),
                // It ends the segment in a moment; where to split is then known better than now.
                Some(_) => self.overlong |= full.is_some_and(|full| full <= now),
                None if full.is_some_and(|full| full <= now) => {
                    let low = start + max.saturating_sub(split_window).max(min);
                    let at = self.salient(low, start + max).unwrap_or(start + max);
                    self.close(at, Boundary::Length);
                }
                None => {}
            }
        }
    }

    /// Ends the open segment at `at`, split if it is too long.
    fn close(&mut self, at: Duration, boundary: Boundary) {
        let Some(mut start) = self.start else { return };
        let SegmenterConfig { min_length: min, max_length: max, .. } = self.config;
        for split in splits(start, at, min, max, |low, high| self.salient(low, high)) {
            self.closed.push_back(Segment { start, end: split, boundary: Boundary::Length });
            start = split;
        }
        self.closed.push_back(Segment { start, end: at, boundary });
        self.start = Some(at);
        self.overlong = false;
        while self.profile.front().is_some_and(|(time, _)| *time <= at) {
            self.profile.pop_front();
        }
    }

    /// The most salient moment of a closed range, if one stands out; the first of equals.
    fn salient(&self, low: Duration, high: Duration) -> Option<Duration> {
        let mut best: Option<(Duration, f64)> = None;
        for &(at, salience) in &self.profile {
            if at >= low && at <= high && salience > best.map_or(SALIENT, |(_, best)| best) {
                best = Some((at, salience));
            }
        }
        best.map(|(at, _)| at)
    }
}

/// Dissimilarity between pictures up to which a scene counts as still.
const STILL: f64 = 0.02;
/// Dissimilarity at which pictures are wanted at the highest rate.
const LIVELY: f64 = 0.2;
