//! Transcribes the words that are said in an interval: voice activity finds the speech, the recogniser writes it down.
//!
//! In the live pass, a segment waits only briefly for its words, and the role may not have had a model yet. Here the
//! recogniser gets whole stretches of speech, even if they cross the borders of segments.

use std::sync::Arc;
use std::time::{Duration, Instant};

use memory_core::StreamSpan;
use memory_core::reasoning::{Look, LookError, LookOrder, Sighting, SightingKind};

use super::{Looking, fail, refused};
use crate::archive::{ClipError, FrameOptions, sound};
use crate::encoders::{Filled, RATE, SpeechDetector, SpokenWord, VoiceActivity};
use crate::models::Role;
use crate::perception::words::sentences;

/// Sound before and after the interval that is transcribed as well. A sentence may begin before the interval.
const INTERVAL_MARGIN: Duration = Duration::from_secs(2);
/// Sound before and after a stretch of speech that is transcribed as well. The first and last sounds of words are
/// faint.
const SPEECH_MARGIN: Duration = Duration::from_millis(400);
/// Maximum pause within a stretch of speech.
const MAX_PAUSE: Duration = Duration::from_secs(1);
/// Maximum length of a stretch that is joined over pauses: a recogniser takes no more at once.
const MAX_STRETCH: Duration = Duration::from_secs(28);
/// Maximum difference between the end of one block and the start of the next in one run.
const MAX_JUMP: Duration = Duration::from_millis(40);

/// Sound without a gap.
struct SoundRun {
    begin: Duration,
    samples: Vec<f32>,
}

impl SoundRun {
    fn end(&self) -> Duration {
        self.begin + length(self.samples.len())
    }

    fn between(&self, start: Duration, end: Duration) -> &[f32] {
        let place = |at: Duration| {
            let samples = at.saturating_sub(self.begin).as_secs_f64() * f64::from(RATE);
            (samples.round() as usize).min(self.samples.len())
        };
        &self.samples[place(start)..place(end.max(start))]
    }
}

impl Looking {
    /// Transcribes the interval of an order.
    pub(super) fn transcribe(&self, order: &LookOrder<'_>, filled: &Filled, look: &mut Look) -> Result<(), LookError> {
        let Some(recogniser) = &filled.speech_recognition else {
            fail(look, Role::SpeechRecognition, "no model");
            return Ok(());
        };
        let deadline = Instant::now() + order.budget;
        let wide = StreamSpan {
            start: order.stream.start.saturating_sub(INTERVAL_MARGIN),
            end: order.stream.end + INTERVAL_MARGIN,
        };
        let runs = self.runs(order, wide, deadline, look)?;
        for run in &runs {
            let stretches = match &filled.voice_activity {
                Some(model) => speech(run, model, look),
                None => vec![StreamSpan { start: run.begin, end: run.end() }],
            };
            for stretch in stretches {
                if (order.cancelled)() {
                    return Err(LookError::Cancelled);
                }
                if Instant::now() >= deadline {
                    return Ok(());
                }
                let inside = stretch.start < order.stream.end && order.stream.start < stretch.end;
                let samples = run.between(stretch.start, stretch.end);
                if !inside || samples.is_empty() {
                    continue;
                }
                let begin = Instant::now();
                match recogniser.encode(samples) {
                    Ok(words) => look.sightings.extend(
                        sentences(&words)
                            .filter_map(|words| speech_sighting(words, stretch.start))
                            // A sentence belongs to the interval that contains its middle.
                            .filter(|said| {
                                let middle = (said.stream.start + said.stream.end) / 2;
                                (order.stream.start..order.stream.end).contains(&middle)
                            }),
                    ),
                    Err(error) => fail(look, Role::SpeechRecognition, &error.to_string()),
                }
                self.rest(begin.elapsed(), deadline);
            }
        }
        Ok(())
    }

    /// Returns the sound of an interval, in runs without a gap, up to the ceiling.
    fn runs(
        &self,
        order: &LookOrder<'_>,
        wide: StreamSpan,
        deadline: Instant,
        look: &mut Look,
    ) -> Result<Vec<SoundRun>, LookError> {
        let stretches = self.recordings.stretches(order.media, wide);
        let options = FrameOptions {
            short_edge: None,
            ceiling_bytes: order.ceiling_bytes,
            deadline,
            cancelled: &|| (order.cancelled)(),
        };
        let most = order.ceiling_bytes / size_of::<f32>();
        let (mut runs, mut held): (Vec<SoundRun>, usize) = (Vec::new(), 0);
        let decoded = sound(&stretches, options, |at, samples| {
            let samples = &samples[..samples.len().min(most - held)];
            held += samples.len();
            match runs.last_mut().filter(|run| run.end().abs_diff(at) <= MAX_JUMP) {
                Some(run) => run.samples.extend_from_slice(samples),
                None => runs.push(SoundRun { begin: at, samples: samples.to_vec() }),
            }
        });
        look.bytes = look.bytes.max(held * size_of::<f32>());
        match decoded {
            // A recording without sound has no speech.
            Ok(_) | Err(ClipError::Nothing) => Ok(runs),
            Err(error) => Err(refused(error)),
        }
    }
}

/// Returns the stretches of speech in a run, each with a margin.
fn speech(run: &SoundRun, model: &Arc<dyn VoiceActivity>, look: &mut Look) -> Vec<StreamSpan> {
    let mut detector = SpeechDetector::new(Arc::clone(model));
    if let Err(error) = detector.push(run.begin, &run.samples) {
        fail(look, Role::VoiceActivity, &error.to_string());
        return vec![StreamSpan { start: run.begin, end: run.end() }];
    }
    detector.finish();
    let mut joined: Vec<StreamSpan> = Vec::new();
    for interval in detector.take_until(Duration::MAX) {
        match joined.last_mut() {
            Some(last)
                if interval.start.saturating_sub(last.end) < MAX_PAUSE
                    && interval.end.saturating_sub(last.start) < MAX_STRETCH =>
            {
                last.end = interval.end;
            }
            _ => joined.push(StreamSpan { start: interval.start, end: interval.end }),
        }
    }
    let widened = joined.iter().enumerate().map(|(place, span)| {
        // Each neighbour gets half of a pause.
        let before = place.checked_sub(1).map_or(run.begin, |before| (joined[before].end + span.start) / 2);
        let after = joined.get(place + 1).map_or(run.end(), |after| (span.end + after.start) / 2);
        StreamSpan {
            start: span.start.saturating_sub(SPEECH_MARGIN).max(before),
            end: (span.end + SPEECH_MARGIN).min(after),
        }
    });
    widened.collect()
}

/// Returns a sentence with its time; `None` if it has no words.
fn speech_sighting(words: &[SpokenWord], begin: Duration) -> Option<Sighting> {
    let (first, last) = (words.first()?, words.last()?);
    let text = words.iter().map(|word| word.text.trim()).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    let score = words.iter().map(|word| word.confidence).sum::<f32>() / words.len() as f32;
    (!text.is_empty()).then(|| Sighting {
        kind: SightingKind::Speech,
        label: text.clone(),
        text,
        score: score.clamp(0.0, 1.0),
        share: 1.0,
        count: 1,
        colours: Vec::new(),
        stream: StreamSpan { start: begin + first.start, end: begin + last.end.max(first.start) },
        vector: None,
    })
}

fn length(samples: usize) -> Duration {
    Duration::from_secs_f64(samples as f64 / f64::from(RATE))
}
