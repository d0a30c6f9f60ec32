//! Turns pictures and sound into segments.

use std::collections::VecDeque;
use std::time::Duration;

use super::config::SegmenterConfig;
use super::cut::CutDetector;
use super::luma::Luma;
use super::plan::{CutCandidate, first_boundary, splits};
use super::silence::SilenceDetector;
use crate::Boundary;

/// A closed stretch of stream time. Segments of one session follow each other without gap or overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// First moment.
    pub start: Duration,
    /// Begin of the next segment.
    pub end: Duration,
    /// Reason for the end.
    pub boundary: Boundary,
}

/// Features of one picture for the segmenter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrameNovelty {
    /// Structural similarity to the picture before, lighting discounted; 1 for the first picture.
    pub ssim: f64,
    /// Whether the picture shows something that the last kept one does not, so that encoding it pays.
    pub keep: bool,
}

/// Share of a cut's threshold below which nothing is salient, and a long segment is split by length alone.
const SALIENT_SHARE: f64 = 0.5;

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
    candidates: Vec<(CutCandidate, bool)>,
    /// Whether the open segment reached its longest length and was left open for a candidate that will end it.
    overlong: bool,
    /// Time and salience of the pictures of the open segment.
    profile: VecDeque<(Duration, f64)>,
    interval: f64,
    closed: VecDeque<Segment>,
    found: Vec<CutCandidate>,
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
            let fits = |candidate: &CutCandidate| candidate.latest + min <= end;
            let rest = self
                .candidates
                .iter()
                .map(|(candidate, _)| *candidate)
                .filter(fits)
                .filter(|candidate| self.ends_by_itself(candidate));
            let Some((at, candidate)) = first_boundary(start, min, rest) else { break };
            self.close(at, candidate.boundary);
        }
        if self.start.is_some_and(|start| start < end) {
            self.close(end, Boundary::End);
        }
    }

    /// How long to wait for the next picture: short while things change, long while nothing does.
    ///
    /// Without lookahead, somebody waits for the segment: then a picture is wanted when the segment reaches its longest
    /// length, because until a picture comes nothing is known of that moment.
    pub fn frame_interval(&self) -> Duration {
        let interval = Duration::from_secs_f64(self.interval);
        let full = self.start.map(|start| start + self.config.max_length);
        match (full, self.cuts.watermark()) {
            (Some(full), Some(last)) if self.config.lookahead.is_zero() && full > last => {
                interval.min((full - last).max(Duration::from_secs_f64(1.0 / self.config.max_fps)))
            }
            _ => interval,
        }
    }

    /// Rises at once and falls by and by, since what moved a moment ago is likely to move again.
    fn adapt(&mut self, novelty: f64) {
        let (slow, fast) = (1.0 / self.config.min_fps, 1.0 / self.config.max_fps);
        let activity = ((novelty - MAX_STILL_NOVELTY) / (LIVELY_NOVELTY - MAX_STILL_NOVELTY)).clamp(0.0, 1.0);
        let wanted = slow * (fast / slow).powf(activity);
        self.interval = wanted.min(self.interval * 1.2).clamp(fast, slow);
    }

    /// Returns the time up to which both streams are known. A stream that lags more than `max_skew` is not waited for.
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
            let due = |candidate: &CutCandidate| candidate.ready.max(candidate.latest + lookahead);
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
            let known = self
                .candidates
                .iter()
                .map(|(candidate, _)| *candidate)
                .filter(|candidate| candidate.ready <= now && self.ends_by_itself(candidate));
            match first_boundary(start, min, known) {
                Some((at, candidate)) if due(&candidate) <= now => self.close(at, candidate.boundary),
                // It ends the segment in a moment; where to split is then known better than now.
                Some(_) => self.overlong |= full.is_some_and(|full| full <= now),
                None if full.is_some_and(|full| full <= now) => {
                    let low = start + max.saturating_sub(split_window).max(min);
                    let (at, boundary) = self.salient(low, start + max).unwrap_or((start + max, Boundary::Length));
                    self.close(at, boundary);
                }
                None => {}
            }
        }
    }

    /// Ends the open segment at `at`, split if it is too long.
    fn close(&mut self, at: Duration, boundary: Boundary) {
        let Some(mut start) = self.start else { return };
        let SegmenterConfig { min_length: min, max_length: max, .. } = self.config;
        for (split, boundary) in splits(start, at, min, max, |low, high| self.salient(low, high)) {
            self.closed.push_back(Segment { start, end: split, boundary });
            start = split;
        }
        self.closed.push_back(Segment { start, end: at, boundary });
        self.start = Some(at);
        self.overlong = false;
        while self.profile.front().is_some_and(|(time, _)| *time <= at) {
            self.profile.pop_front();
        }
    }

    /// Whether a candidate alone ends a segment; see [`SegmenterConfig::silence_ends`].
    fn ends_by_itself(&self, candidate: &CutCandidate) -> bool {
        let near = |at: Duration| at + self.config.max_skew >= candidate.time && at <= candidate.time;
        let always = candidate.boundary == Boundary::Visual || self.config.silence_ends;
        always || !self.profile.iter().any(|(at, _)| near(*at))
    }

    /// The most salient moment of a closed range, if one stands out: a fall into silence, else the picture that differs
    /// most from the one before it.
    fn salient(&self, low: Duration, high: Duration) -> Option<(Duration, Boundary)> {
        let silence = self
            .candidates
            .iter()
            .map(|(candidate, _)| candidate)
            .rfind(|candidate| candidate.boundary == Boundary::Silence && (low..=high).contains(&candidate.time));
        if let Some(silence) = silence {
            return Some((silence.time, Boundary::Silence));
        }
        let mut best: Option<(Duration, f64)> = None;
        for &(at, salience) in &self.profile {
            if at >= low && at <= high && salience > best.map_or(SALIENT_SHARE, |(_, best)| best) {
                best = Some((at, salience));
            }
        }
        best.map(|(at, _)| (at, Boundary::Length))
    }
}

/// Maximum dissimilarity between pictures of a still scene.
const MAX_STILL_NOVELTY: f64 = 0.02;
/// Dissimilarity from which pictures are wanted at the highest rate.
const LIVELY_NOVELTY: f64 = 0.2;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// A textured picture; another `scene` has another texture, `light` is its brightness in percent.
    fn picture(scene: u64, light: u64) -> Luma {
        let pixels = (0..64 * 36_u64)
            .map(|i| {
                let cell = (i % 64) / 4 + 100 * (i / 256) + 10_000 * scene;
                let noise = cell.wrapping_add(7).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31);
                let noise = noise.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 56;
                u8::try_from(noise * light / 100).unwrap_or(u8::MAX)
            })
            .collect();
        Luma::new(64, 36, pixels).unwrap()
    }

    fn sound(from: u64, length: u64, loud: bool) -> Vec<f32> {
        let amplitude = if loud { 0.3 } else { 0.0 };
        (from * 16..(from + length) * 16).map(|i| amplitude * (i as f32 * 0.3).sin()).collect()
    }

    /// What a stream is made of: (milliseconds, scene or loudness) after one another.
    type Parts = Vec<(u64, u64)>;

    fn at(parts: &Parts, ms: u64) -> Option<u64> {
        let mut end = 0;
        parts
            .iter()
            .find(|(length, _)| {
                end += length;
                ms < end
            })
            .map(|(_, value)| *value)
    }

    /// Feeds the streams in steps of 100 ms; `ahead` says by how many steps the sound runs ahead of the pictures.
    fn run(config: SegmenterConfig, video: &Parts, audio: &Parts, ahead: impl Fn(u64) -> u64) -> Vec<Segment> {
        let mut segmenter = Segmenter::new(config);
        let length = |parts: &Parts| parts.iter().map(|(length, _)| length).sum::<u64>();
        let end = length(video).max(length(audio));
        let mut segments = Vec::new();
        let (mut heard, mut due) = (0, 0);
        for step in 0..end.div_ceil(100) + 10 {
            let until = (step + ahead(step)) * 100;
            while heard < until {
                if let Some(loud) = at(audio, heard) {
                    segmenter.push_audio(MS * heard as u32, &sound(heard, 100, loud > 0));
                }
                heard += 100;
            }
            let now = step * 100;
            if now >= due
                && let Some(scene) = at(video, now)
            {
                segmenter.push_luma(MS * now as u32, &picture(scene / 1000, 100 - scene % 1000));
                due = now + segmenter.frame_interval().as_millis() as u64;
            }
            segments.extend(std::iter::from_fn(|| segmenter.poll()));
        }
        segmenter.finish(MS * end as u32);
        segments.extend(std::iter::from_fn(|| segmenter.poll()));
        segments
    }

    fn ends(segments: &[Segment], boundary: Boundary) -> Vec<f64> {
        segments.iter().filter(|s| s.boundary == boundary).map(|s| s.end.as_secs_f64()).collect()
    }

    #[test]
    fn a_change_of_scene_ends_a_segment_where_it_happens() {
        let segments =
            run(SegmenterConfig::default(), &vec![(7_000, 1_000), (6_500, 2_000), (8_000, 3_000)], &vec![], |_| 0);
        let found = ends(&segments, Boundary::Visual);
        assert_eq!(found.len(), 2, "{segments:?}");
        assert!((found[0] - 7.0).abs() <= 0.5 && (found[1] - 13.5).abs() <= 0.5, "{found:?}");
    }

    #[test]
    fn a_lamp_that_is_dimmed_is_no_change_of_scene() {
        let segments =
            run(SegmenterConfig::default(), &vec![(7_000, 1_000), (8_000, 1_060), (7_000, 1_000)], &vec![], |_| 0);
        assert_eq!(ends(&segments, Boundary::Visual), [0.0; 0], "{segments:?}");
    }

    #[test]
    fn a_flash_is_no_change_of_scene() {
        let segments =
            run(SegmenterConfig::default(), &vec![(7_000, 1_000), (100, 9_000), (8_000, 1_000)], &vec![], |_| 0);
        assert_eq!(ends(&segments, Boundary::Visual), [0.0; 0], "{segments:?}");
    }

    #[test]
    fn without_pictures_a_silence_ends_a_segment_once() {
        let segments = run(SegmenterConfig::default(), &vec![], &vec![(6_000, 1), (9_000, 0), (7_000, 1)], |_| 0);
        assert_eq!(ends(&segments, Boundary::Silence), [6.0], "{segments:?}");
    }

    #[test]
    fn with_pictures_a_long_segment_is_split_in_its_pause() {
        let segments =
            run(SegmenterConfig::default(), &vec![(16_000, 1_000)], &vec![(9_000, 1), (2_000, 0), (5_000, 1)], |_| 0);
        assert_eq!(ends(&segments, Boundary::Silence), [9.0], "{segments:?}");
    }

    #[test]
    fn nothing_at_all_is_one_stretch_of_nothing() {
        let mut segmenter = Segmenter::new(SegmenterConfig::default());
        segmenter.finish(Duration::from_secs(4));
        let only = Segment { start: Duration::ZERO, end: Duration::from_secs(4), boundary: Boundary::End };
        assert_eq!(segmenter.poll(), Some(only));
        assert_eq!(segmenter.poll(), None);
        let mut segmenter = Segmenter::new(SegmenterConfig::default());
        segmenter.finish(Duration::ZERO);
        assert_eq!(segmenter.poll(), None);
    }

    #[test]
    fn a_stream_that_stops_is_not_waited_for() {
        let mut segmenter = Segmenter::new(SegmenterConfig::live());
        segmenter.push_audio(Duration::ZERO, &sound(0, 500, true));
        for tenth in 0..130 {
            segmenter.push_luma(MS * 100 * tenth, &picture(1, 100));
        }
        assert!(segmenter.poll().is_some(), "thirteen seconds of pictures hold a segment of ten");
    }

    #[test]
    fn the_rate_rises_with_movement_and_falls_in_stillness() {
        let mut segmenter = Segmenter::new(SegmenterConfig::default());
        for n in 0..40 {
            segmenter.push_luma(MS * 500 * n, &picture(1, 100));
        }
        assert_eq!(segmenter.frame_interval(), Duration::from_secs(1));
        segmenter.push_luma(MS * 21_000, &picture(2, 100));
        assert_eq!(segmenter.frame_interval(), Duration::from_millis(100));
    }

    #[test]
    fn a_live_segment_is_handed_on_within_a_second_of_its_end() {
        let mut segmenter = Segmenter::new(SegmenterConfig::live());
        for ms in (0..120_000).step_by(100) {
            segmenter.push_audio(MS * ms, &sound(u64::from(ms), 100, true));
            segmenter.push_luma(MS * ms, &picture(u64::from(ms) / 13_000, 100));
            while let Some(segment) = segmenter.poll() {
                assert!(MS * (ms + 100) <= segment.end + Duration::from_secs(1), "at {ms} ms: {segment:?}");
            }
        }
    }

    #[test]
    fn a_live_segment_of_a_still_room_is_handed_on_within_a_second_too() {
        let mut segmenter = Segmenter::new(SegmenterConfig::live());
        let (mut due, mut pictures, mut segments) = (0, 0, 0);
        for ms in (0..120_000).step_by(40) {
            segmenter.push_audio(MS * ms, &sound(u64::from(ms), 40, true));
            if ms >= due {
                segmenter.push_luma(MS * ms, &picture(1, 100));
                due = ms + u32::try_from(segmenter.frame_interval().as_millis()).unwrap();
                pictures += 1;
            }
            while let Some(segment) = segmenter.poll() {
                assert!(MS * ms <= segment.end + MS * 700, "at {ms} ms: {segment:?}");
                segments += 1;
            }
        }
        assert!(segments >= 11, "{segments}");
        assert!(pictures < 200, "{pictures} pictures of a room where nothing happens");
    }

    fn parts(values: std::ops::Range<u64>) -> impl Strategy<Value = Parts> {
        proptest::collection::vec(((1_u64..120).prop_map(|tenths| tenths * 100), values), 0..8)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn segments_tile_the_stream_and_keep_the_lengths(
            video in parts(1..4), audio in parts(0..2), live in any::<bool>(),
        ) {
            let video: Parts = video.into_iter().map(|(length, scene)| (length, scene * 1_000)).collect();
            let config = if live { SegmenterConfig::live() } else { SegmenterConfig::default() };
            let segments = run(config.clone(), &video, &audio, |_| 0);
            let length = |parts: &Parts| parts.iter().map(|(length, _)| length).sum::<u64>();
            let end = MS * length(&video).max(length(&audio)) as u32;
            let mut from = Duration::ZERO;
            for (i, segment) in segments.iter().enumerate() {
                prop_assert_eq!(segment.start, from);
                let length = segment.end - segment.start;
                prop_assert!(length <= config.max_length, "{:?}", segments);
                // With lookahead even the last one is long enough, unless all of it is too short.
                let last = i + 1 == segments.len();
                let may_be_short = last && (live || i == 0);
                prop_assert!(length >= config.min_length || may_be_short, "{:?}", segments);
                from = segment.end;
            }
            prop_assert_eq!(from, end);
        }

        #[test]
        fn how_sound_and_pictures_interleave_does_not_matter(
            // With a still scene's second between pictures, a lead of 0.9 s stays below `max_skew`; beyond it nobody waits.
            video in parts(1..4), audio in parts(0..2), leads in proptest::collection::vec(0_u64..10, 40),
        ) {
            let video: Parts = video.into_iter().map(|(length, scene)| (length, scene * 1_000)).collect();
            let together = run(SegmenterConfig::default(), &video, &audio, |_| 0);
            let apart = run(SegmenterConfig::default(), &video, &audio, |step| leads[step as usize % leads.len()]);
            prop_assert_eq!(together, apart);
        }
    }
}
