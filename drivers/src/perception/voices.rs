//! Keeps the speech of a segment until its voice vectors and its words are computed.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use memory_core::segment::Segment;
use memory_core::{Sensed, SensedEmbedding};

use super::tracks::mean;
use crate::encoders::{SpeechInterval, VoiceEmbedder};

const RATE: u64 = 16_000;
/// Number of samples kept: the longest segment, and what the segmenter looks ahead.
const MAX_SAMPLES: usize = 30 * RATE as usize;
/// Difference between the end of one block and the begin of the next above which they do not belong together.
const MAX_JUMP: Duration = Duration::from_millis(40);
/// Maximum length of a stretch that is embedded. More says nothing new.
const MAX_STRETCH: Duration = Duration::from_secs(6);

/// Maximum distance from a boundary to the pause at which speech is cut.
const MAX_CUT_DISTANCE: Duration = Duration::from_millis(800);
/// Minimum length of such a pause, in samples. Shorter ones lie within words.
const MIN_PAUSE_SAMPLES: usize = RATE as usize / 10;

/// The last half minute of one stream's sound.
#[derive(Default)]
pub(super) struct VoiceLog {
    samples: VecDeque<f32>,
    /// Stream time of the first sample that is kept.
    begin: Duration,
}

/// The voices of a segment's speech.
pub(super) struct Voices {
    /// One per stretch between two pauses that is long enough.
    stretches: Vec<(Duration, Duration, Vec<f32>)>,
    space: String,
    same: f32,
    error: Option<String>,
}

impl VoiceLog {
    /// Takes a block of 16 kHz samples that begins at `stream`.
    pub fn push(&mut self, stream: Duration, samples: &[f32]) {
        let expected = self.begin + span(self.samples.len());
        if self.samples.is_empty() || stream.abs_diff(expected) > MAX_JUMP {
            self.samples.clear();
            self.begin = stream;
        }
        self.samples.extend(samples);
        let over = self.samples.len().saturating_sub(MAX_SAMPLES);
        self.samples.drain(..over);
        self.begin += span(over);
    }

    /// The voices in a segment's stretches of speech.
    pub fn during(&mut self, segment: &Segment, speech: &[SpeechInterval], encoder: Arc<dyn VoiceEmbedder>) -> Voices {
        let thresholds = encoder.thresholds();
        let mut voices =
            Voices { stretches: Vec::new(), space: encoder.space().to_owned(), same: thresholds.same, error: None };
        for interval in speech {
            let (start, end) = (interval.start.max(segment.start), interval.end.min(segment.end));
            if end.saturating_sub(start) < thresholds.shortest {
                continue;
            }
            let Some(samples) = self.between(start, end.min(start + MAX_STRETCH)) else { continue };
            match encoder.encode(&samples) {
                Ok(vector) => voices.stretches.push((start, end, vector)),
                Err(error) => voices.error = Some(error.to_string()),
            }
        }
        voices
    }

    /// The middle of the quietest tenth of a second near a time, so that speech is cut between two words; the time itself
    /// where the sound ends there.
    pub fn pause_near(&self, time: Duration) -> Duration {
        let from = time.saturating_sub(MAX_CUT_DISTANCE).max(self.begin);
        if time + MAX_JUMP >= self.begin + span(self.samples.len()) {
            return time;
        }
        let Some(samples) = self.between(from, time + MAX_CUT_DISTANCE) else { return time };
        let squares = |at: usize| samples[at..at + MIN_PAUSE_SAMPLES].iter().map(|sample| sample * sample).sum::<f32>();
        let places = (0..(samples.len() + 1).saturating_sub(MIN_PAUSE_SAMPLES)).step_by(MIN_PAUSE_SAMPLES / 10);
        let quietest = places.min_by(|a, b| squares(*a).total_cmp(&squares(*b)));
        quietest.map_or(time, |at| from + span(at + MIN_PAUSE_SAMPLES / 2))
    }

    /// Stream time of the first sample that is kept.
    pub fn begin(&self) -> Duration {
        self.begin
    }

    /// The sound between two times; `None` where nothing of it is kept.
    pub fn between(&self, start: Duration, end: Duration) -> Option<Vec<f32>> {
        let at = |time: Duration| (time.saturating_sub(self.begin).as_micros() * u128::from(RATE) / 1_000_000) as usize;
        if start < self.begin {
            return None;
        }
        let (from, to) = (at(start), at(end).min(self.samples.len()));
        (from < to).then(|| self.samples.range(from..to).copied().collect())
    }
}

impl Voices {
    /// The voice between two times: the mean of the stretches of which most lies there; `None` where two speakers are.
    pub fn between(&self, start: Duration, end: Duration) -> Option<SensedEmbedding> {
        let inside: Vec<&[f32]> = self
            .stretches
            .iter()
            .filter(|(from, to, _)| (*to).min(end).saturating_sub((*from).max(start)) * 2 > *to - *from)
            .map(|(_, _, vector)| vector.as_slice())
            .collect();
        let one = inside.windows(2).all(|pair| alike(pair[0], pair[1]) >= self.same);
        let vector = mean(&inside).filter(|_| one)?;
        Some(SensedEmbedding { sensed: Sensed::Voice, space: self.space.clone(), vector, sequence: Vec::new() })
    }

    /// Whether two stretches may be of one speaker: they are unless both voices are known and differ.
    pub fn may_be_one(&self, a: (Duration, Duration), b: (Duration, Duration)) -> bool {
        let last = self.stretches.iter().rfind(|(from, to, _)| *from >= a.0 && *to <= a.1);
        let next = self.stretches.iter().find(|(from, to, _)| *from >= b.0 && *to <= b.1);
        match (last, next) {
            (Some((_, _, last)), Some((_, _, next))) => alike(last, next) >= self.same,
            _ => true,
        }
    }

    /// Returns the failure.
    pub fn error(&self) -> Option<String> {
        self.error.clone()
    }
}

fn alike(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn span(samples: usize) -> Duration {
    Duration::from_nanos(samples as u64 * (1_000_000_000 / RATE))
}

#[cfg(test)]
mod tests {
    use memory_core::Boundary;

    use super::*;
    use crate::encoders::{Encoder, EncoderError, VectorEncoder, VoiceThresholds};

    /// Knows two voices by their sign.
    struct VoiceBySign;

    impl Encoder<[f32], Vec<f32>> for VoiceBySign {
        fn model(&self) -> &str {
            "sign"
        }

        fn encode(&self, samples: &[f32]) -> Result<Vec<f32>, EncoderError> {
            Ok(if samples[0] > 0.0 { vec![1.0, 0.0] } else { vec![0.0, 1.0] })
        }
    }

    impl VectorEncoder<[f32]> for VoiceBySign {
        fn space(&self) -> &str {
            "sign"
        }

        fn dimensions(&self) -> usize {
            2
        }
    }

    impl VoiceEmbedder for VoiceBySign {
        fn thresholds(&self) -> VoiceThresholds {
            VoiceThresholds { shortest: Duration::from_secs(1), same: 0.5 }
        }
    }

    fn seconds(at: u64) -> Duration {
        Duration::from_secs(at)
    }

    /// Ten seconds, one voice in the first five and another behind.
    fn voices(speech: &[(u64, u64)]) -> Voices {
        let mut log = VoiceLog::default();
        for second in 0..10 {
            log.push(seconds(second), &vec![if second < 5 { 0.5 } else { -0.5 }; 16_000]);
        }
        let interval =
            |(start, end): &(u64, u64)| SpeechInterval { start: seconds(*start), end: seconds(*end), probability: 1.0 };
        let speech: Vec<SpeechInterval> = speech.iter().map(interval).collect();
        let segment = Segment { start: Duration::ZERO, end: seconds(10), boundary: Boundary::Length };
        log.during(&segment, &speech, Arc::new(VoiceBySign))
    }

    #[test]
    fn a_stretch_has_its_speakers_voice_and_two_speakers_have_none() {
        let voices = voices(&[(1, 3), (6, 8)]);
        assert_eq!(voices.between(seconds(1), seconds(3)).unwrap().vector, [1.0, 0.0]);
        assert_eq!(voices.between(seconds(6), seconds(9)).unwrap().vector, [0.0, 1.0]);
        assert!(voices.between(seconds(0), seconds(10)).is_none(), "two speakers");
        assert!(voices.between(seconds(4), seconds(5)).is_none(), "nobody speaks");
        assert!(!voices.may_be_one((seconds(1), seconds(3)), (seconds(6), seconds(8))));
        assert!(voices.may_be_one((seconds(1), seconds(3)), (seconds(4), seconds(5))), "nothing speaks against it");
    }

    #[test]
    fn speech_is_cut_at_the_pause_that_is_near_and_where_there_is_none_at_the_time_itself() {
        let mut log = VoiceLog::default();
        assert_eq!(log.pause_near(seconds(3)), seconds(3), "nothing is kept");
        let mut samples = vec![0.5; 10 * 16_000];
        samples[3 * 16_000 + 4_800..3 * 16_000 + 8_000].fill(0.01);
        samples[8 * 16_000..].fill(0.0);
        log.push(seconds(10), &samples);
        let cut = log.pause_near(seconds(13));
        assert!((Duration::from_millis(13_300)..Duration::from_millis(13_500)).contains(&cut), "{cut:?}");
        let early = log.pause_near(seconds(10));
        assert!(early >= seconds(10), "{early:?}");
        assert_eq!(log.pause_near(seconds(20)), seconds(20), "the sound ends there");
    }

    #[test]
    fn what_is_longer_ago_than_the_log_and_what_lies_behind_a_gap_is_gone() {
        let mut log = VoiceLog::default();
        let block = vec![0.1; 16_000];
        (0..60).for_each(|second| log.push(seconds(second), &block));
        assert_eq!(log.samples.len(), MAX_SAMPLES);
        assert!(log.between(seconds(5), seconds(7)).is_none());
        assert_eq!(log.between(seconds(58), seconds(70)).map(|samples| samples.len()), Some(32_000));
        log.push(seconds(500), &block);
        assert!(log.between(seconds(58), seconds(60)).is_none());
    }
}
