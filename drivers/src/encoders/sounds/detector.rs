//! Sounds with begin and end, found in a stream as it comes in.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use super::{BANDS, HOP, LogMel, PATCH, PATCH_HOP, RATE, SoundClassifier};
use crate::encoders::EncoderError;

/// Difference between the end of one block and the begin of the next above which they do not belong together.
const MAX_JUMP: Duration = Duration::from_millis(40);
/// Part of a patch at each end that is not reported. Patches overlap by half, so their middle halves meet without a gap.
const PATCH_MARGIN: Duration = Duration::from_millis(240);
/// Length of a patch.
const PATCH_LENGTH: Duration = Duration::from_millis(960);
/// Maximum number of patch embeddings that wait for the end of their segment.
const MAX_EMBEDDINGS: usize = 128;

/// A stretch in which one kind of sound is heard.
#[derive(Debug, Clone, PartialEq)]
pub struct SoundInterval {
    /// The class.
    pub label: Arc<str>,
    /// Its number among the model's classes; several may share a name.
    pub class: usize,
    /// Begin, in stream time.
    pub start: Duration,
    /// End, in stream time.
    pub end: Duration,
    /// The highest score of its patches, 0 to 1.
    pub peak: f32,
    /// How many patches it was heard in, those of gaps left out.
    pub patches: u32,
}

/// Finds what is heard in one stream.
pub struct SoundDetector {
    model: Arc<dyn SoundClassifier>,
    mel: LogMel,
    /// Rows that are not behind the next patch yet.
    rows: VecDeque<f32>,
    /// Stream time of the first sample after the last gap, and samples since.
    origin: Duration,
    samples: u64,
    /// Rows since the last gap that were dropped from `rows`.
    behind: u64,
    open: BTreeMap<usize, SoundInterval>,
    closed: Vec<SoundInterval>,
    /// Embeddings of patches of segments that are still open, with the middle of each.
    embeddings: VecDeque<(Duration, Vec<f32>)>,
}

impl SoundDetector {
    /// A detector at the begin of a stream.
    pub fn new(model: Arc<dyn SoundClassifier>) -> Self {
        Self {
            model,
            mel: LogMel::default(),
            rows: VecDeque::new(),
            origin: Duration::ZERO,
            samples: 0,
            behind: 0,
            open: BTreeMap::new(),
            closed: Vec::new(),
            embeddings: VecDeque::new(),
        }
    }

    /// The model that it asks.
    pub fn model(&self) -> &Arc<dyn SoundClassifier> {
        &self.model
    }

    /// Takes a block of 16 kHz samples that begins at `stream`.
    ///
    /// # Errors
    /// If the model fails; that patch is lost and what follows is not.
    pub fn push(&mut self, stream: Duration, samples: &[f32]) -> Result<(), EncoderError> {
        if self.samples == 0 || stream.abs_diff(self.position()) > MAX_JUMP {
            self.restart(stream);
        }
        let rows = &mut self.rows;
        self.mel.push(samples, |row| rows.extend(row));
        self.samples += samples.len() as u64;
        let mut result = Ok(());
        while self.rows.len() >= PATCH * BANDS {
            let step = self.step();
            self.rows.drain(..PATCH_HOP * BANDS);
            self.behind += PATCH_HOP as u64;
            if step.is_err() {
                result = step;
            }
        }
        result
    }

    /// Returns the sounds before `boundary`. A sound across it is cut there and continues behind it.
    pub fn take_until(&mut self, boundary: Duration) -> Vec<SoundInterval> {
        let mut taken = Vec::new();
        self.closed.retain_mut(|interval| {
            if interval.start >= boundary {
                return true;
            }
            let goes_on = interval.end > boundary;
            taken.push(SoundInterval { end: interval.end.min(boundary), ..interval.clone() });
            interval.start = interval.start.max(boundary);
            goes_on
        });
        for interval in self.open.values_mut().filter(|interval| interval.start < boundary) {
            taken.push(SoundInterval { end: interval.end.min(boundary), ..interval.clone() });
            interval.start = boundary;
            interval.end = interval.end.max(boundary);
        }
        taken.retain(|interval| interval.end > interval.start);
        taken.sort_by(|a, b| a.start.cmp(&b.start).then(a.class.cmp(&b.class)));
        taken
    }

    /// The embeddings of the patches before `boundary`, with the middle of each.
    pub fn take_embeddings(&mut self, boundary: Duration) -> Vec<(Duration, Vec<f32>)> {
        let inside = self.embeddings.partition_point(|(at, _)| *at < boundary);
        self.embeddings.drain(..inside).collect()
    }

    /// Closes what is open: the stream ended, or broke off.
    pub fn finish(&mut self) {
        self.closed.extend(std::mem::take(&mut self.open).into_values());
    }

    /// Stream time of the next sample.
    fn position(&self) -> Duration {
        self.origin + Duration::from_nanos(self.samples * (1_000_000_000 / u64::from(RATE)))
    }

    fn restart(&mut self, stream: Duration) {
        self.finish();
        self.mel.restart();
        self.rows.clear();
        (self.origin, self.samples, self.behind) = (stream, 0, 0);
    }

    fn step(&mut self) -> Result<(), EncoderError> {
        let patch: &[f32] = &self.rows.make_contiguous()[..PATCH * BANDS];
        let scores = self.model.encode(patch)?;
        let begin = self.origin + Duration::from_millis(self.behind * (HOP as u64 * 1000 / u64::from(RATE)));
        let thresholds = self.model.thresholds();
        // What is heard from the very begin on began there.
        let start = if self.behind == 0 { begin } else { begin + PATCH_MARGIN };
        let end = begin + PATCH_LENGTH - PATCH_MARGIN;
        for (class, score) in scores.classes.into_iter().enumerate().filter(|(_, score)| *score >= thresholds.keep) {
            if let Some(interval) = self.open.get_mut(&class) {
                interval.end = end;
                interval.peak = interval.peak.max(score);
                interval.patches += 1;
            } else if score >= thresholds.begin {
                let label = Arc::clone(&self.model.labels()[class]);
                self.open.insert(class, SoundInterval { label, class, start, end, peak: score, patches: 1 });
            }
        }
        let ended = |interval: &SoundInterval| end.saturating_sub(interval.end) > thresholds.gap;
        let over: Vec<usize> =
            self.open.iter().filter(|(_, interval)| ended(interval)).map(|(class, _)| *class).collect();
        self.closed.extend(over.iter().filter_map(|class| self.open.remove(class)));
        if let Some(embedding) = scores.embedding {
            if self.embeddings.len() >= MAX_EMBEDDINGS {
                self.embeddings.pop_front();
            }
            self.embeddings.push_back((begin + PATCH_LENGTH / 2, embedding));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{SoundScores, SoundThresholds};
    use super::*;
    use crate::encoders::Encoder;

    /// Hears a bell where it is loud in a low band, a horn in a high one, and fails on both.
    struct Bells(Vec<Arc<str>>);

    impl Encoder<[f32], SoundScores> for Bells {
        fn model(&self) -> &str {
            "bells"
        }

        fn encode(&self, patch: &[f32]) -> Result<SoundScores, EncoderError> {
            let mean = |band: usize| {
                let sum: f32 = patch.iter().skip(band).step_by(BANDS).map(|value| value.exp()).sum();
                (sum / PATCH as f32 / 10.0).clamp(0.0, 1.0)
            };
            let (low, high) = (mean(4), mean(61));
            if low >= 0.5 && high >= 0.5 {
                return Err(EncoderError::input("bells", "too much"));
            }
            Ok(SoundScores { classes: vec![low, 0.0, high], embedding: Some(vec![1.0, 0.0]) })
        }
    }

    impl SoundClassifier for Bells {
        fn labels(&self) -> &[Arc<str>] {
            &self.0
        }

        fn thresholds(&self) -> SoundThresholds {
            SoundThresholds { tell: 0.5, begin: 0.5, keep: 0.3, gap: Duration::from_millis(500) }
        }

        fn space(&self) -> &str {
            "bells"
        }
    }

    fn detector() -> SoundDetector {
        SoundDetector::new(Arc::new(Bells(["bell", "hum", "horn"].map(Arc::from).to_vec())))
    }

    /// Seconds of a tone of `hertz`, 0 for silence.
    fn sound(hertz: f32, seconds: f32) -> Vec<f32> {
        (0..(seconds * 16000.0) as usize)
            .map(|at| (at as f32 * hertz / 16000.0 * std::f32::consts::TAU).sin())
            .collect()
    }

    const BELL: f32 = 250.0;
    const HORN: f32 = 6700.0;

    fn push(detector: &mut SoundDetector, at: f64, samples: &[f32]) -> f64 {
        for (n, block) in (0_u32..).zip(samples.chunks(320)) {
            detector.push(Duration::from_secs_f64(at + f64::from(n) * 0.02), block).unwrap();
        }
        at + samples.len() as f64 / 16000.0
    }

    fn told(intervals: &[SoundInterval]) -> Vec<(&str, f64, f64)> {
        let tenth = |at: Duration| (at.as_secs_f64() * 10.0).round() / 10.0;
        intervals.iter().map(|interval| (&*interval.label, tenth(interval.start), tenth(interval.end))).collect()
    }

    #[test]
    fn a_sound_has_a_begin_and_an_end() {
        let mut detector = detector();
        let mut at = 0.0;
        for samples in [sound(0.0, 4.0), sound(BELL, 3.0), sound(0.0, 3.0), sound(HORN, 2.0), sound(0.0, 3.0)] {
            at = push(&mut detector, at, &samples);
        }
        let found = detector.take_until(Duration::from_secs_f64(at));
        let spans = told(&found);
        assert_eq!(spans.iter().map(|span| span.0).collect::<Vec<_>>(), ["bell", "horn"], "{spans:?}");
        for ((_, start, end), (from, to)) in spans.iter().zip([(4.0, 7.0), (10.0, 12.0)]) {
            assert!((start - from).abs() <= 0.7 && (end - to).abs() <= 0.5, "{spans:?}");
        }
        assert_eq!((found[0].class, found[1].class), (0, 2));
        assert!(detector.take_until(Duration::MAX).is_empty());
        assert!(detector.take_embeddings(Duration::MAX).len() > 20);
    }

    #[test]
    fn a_sound_across_a_boundary_is_cut_there_and_goes_on_behind_it() {
        let mut detector = detector();
        let at = push(&mut detector, 0.0, &sound(BELL, 8.0));
        assert_eq!(told(&detector.take_until(Duration::from_secs(5))), [("bell", 0.0, 5.0)]);
        push(&mut detector, at, &sound(0.0, 3.0));
        let rest = detector.take_until(Duration::from_secs(11));
        assert_eq!(rest.len(), 1);
        assert_eq!(rest[0].start, Duration::from_secs(5));
    }

    #[test]
    fn a_gap_in_the_stream_ends_a_sound() {
        let mut detector = detector();
        push(&mut detector, 0.0, &sound(BELL, 3.0));
        push(&mut detector, 60.0, &sound(BELL, 3.0));
        detector.finish();
        let spans = detector.take_until(Duration::MAX);
        assert_eq!(spans.len(), 2);
        assert!(spans[0].end < Duration::from_secs(4) && spans[1].start >= Duration::from_secs(60));
    }

    #[test]
    fn silence_holds_nothing_and_grows_nothing() {
        let mut detector = detector();
        let silence = vec![0.0; 16000];
        for second in 0..300_u64 {
            detector.push(Duration::from_secs(second), &silence).unwrap();
        }
        assert!(detector.open.is_empty() && detector.closed.is_empty());
        assert!(detector.rows.len() < 2 * PATCH * BANDS && detector.embeddings.len() <= MAX_EMBEDDINGS);
    }

    #[test]
    fn a_model_that_fails_loses_the_patch_and_no_more() {
        let mut detector = detector();
        let both: Vec<f32> = sound(BELL, 2.0).iter().zip(sound(HORN, 2.0)).map(|(a, b)| a + b).collect();
        let mut failed = 0;
        for (n, block) in (0_u32..).zip(both.chunks(320)) {
            failed += u32::from(detector.push(Duration::from_millis(20) * n, block).is_err());
        }
        assert!(failed > 0);
        // The first patch behind it still holds a part of it.
        for (n, block) in (0_u32..).zip(sound(BELL, 4.0).chunks(320)) {
            drop(detector.push(Duration::from_secs(2) + Duration::from_millis(20) * n, block));
        }
        push(&mut detector, 6.0, &sound(0.0, 3.0));
        assert!(told(&detector.take_until(Duration::MAX)).iter().any(|span| span.0 == "bell" && span.2 > 5.0));
    }
}
