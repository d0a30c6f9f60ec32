//! One capture session: what is known of it until its segments are handed on.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use memory_core::segment::{Segment, Segmenter, SegmenterConfig};
use memory_core::{Kind, Modality, Perceived, PerceivedEvent, Sensed, SensedEmbedding, StreamSpan, Timestamp};

use super::captions::CaptionLog;
use super::colours::Palette;
use super::events::{Gathered, SPEAKING, WallAnchor, events};
use super::perceiver::PerceiverConfig;
use super::scenes::SceneLog;
use super::signal::{PictureSignal, SoundSignal};
use super::sounds::{Heard, heard};
use super::tracks::{ObjectLog, SeenFace, mean};
use super::voices::{VoiceLog, Voices};
use super::words::SpeechStretch;
use super::writing::WritingLog;
use crate::capture::Subtitle;
use crate::encoders::{
    ALIGNED_SIDE, Encoder, EncoderError, Encoders, Filled, Picture, SoundDetector, SpeechDetector, VectorEncoder,
    aligned, cut_out,
};
use crate::models::Role;

/// Sound around a stretch of speech that is transcribed as well: the first and last sounds of words are faint.
const SPEECH_MARGIN: Duration = Duration::from_millis(400);

/// What is known of one capture session until its segments are handed on.
pub(super) struct CaptureSession {
    name: String,
    /// Wall-clock time of stream time 0.
    start: Timestamp,
    pub(super) anchor: WallAnchor,
    pub(super) segmenter: Segmenter,
    objects: ObjectLog,
    scenes: SceneLog,
    /// When a picture was last encoded.
    pub(super) looked: Option<Duration>,
    /// When one was last seen by the costly encoders.
    pub(super) looked_closely: Option<Duration>,
    writing: WritingLog,
    /// Pictures for captions.
    pub(super) captions: CaptionLog,
    pub(super) speech: Option<SpeechDetector>,
    pub(super) sounds: Option<SoundDetector>,
    pub(super) voices: VoiceLog,
    /// The end of the last segment and where speech was cut that goes on behind it.
    speech_cut: Option<(Duration, Duration)>,
    pub(super) picture_signal: PictureSignal,
    pub(super) sound_signal: SoundSignal,
    /// Of segments that are still open, in order of `start`.
    pub(super) subtitles: Vec<Subtitle>,
    /// When subtitles were shown; speech during them is told by them.
    pub(super) shown: Vec<StreamSpan>,
    senses: Vec<Modality>,
    /// Failures since the last segment was delivered.
    pub(super) failures: BTreeMap<Role, String>,
    /// End of the last segment that was handed on.
    pub(super) closed: Duration,
}

impl CaptureSession {
    pub(super) fn new(name: &str, start: Timestamp, config: &SegmenterConfig) -> Self {
        Self {
            name: name.to_owned(),
            start,
            anchor: WallAnchor { stream: Duration::ZERO, wall: start },
            segmenter: Segmenter::new(config.clone()),
            objects: ObjectLog::default(),
            scenes: SceneLog::default(),
            looked: None,
            looked_closely: None,
            writing: WritingLog::default(),
            captions: CaptionLog::default(),
            speech: None,
            sounds: None,
            voices: VoiceLog::default(),
            speech_cut: None,
            picture_signal: PictureSignal::new(config),
            sound_signal: SoundSignal::default(),
            subtitles: Vec::new(),
            shown: Vec::new(),
            senses: Vec::new(),
            failures: BTreeMap::new(),
            closed: Duration::ZERO,
        }
    }

    pub(super) fn sense(&mut self, modality: Modality) {
        if !self.senses.contains(&modality) {
            self.senses.push(modality);
        }
    }

    /// Encodes a picture with everything there is; `true` if any encoder took it.
    pub(super) fn look(
        &mut self,
        at: Duration,
        picture: &Picture<'_>,
        filled: &Filled,
        failed: &mut Vec<(Role, EncoderError)>,
    ) -> bool {
        let mut taken = false;
        macro_rules! encode {
            ($role:expr, $encoder:expr) => {
                $encoder.as_ref().and_then(|encoder| match encoder.encode(picture) {
                    Ok(output) => {
                        taken = true;
                        Some(output)
                    }
                    Err(error) => {
                        failed.push(($role, error));
                        None
                    }
                })
            };
        }
        let objects = encode!(Role::Objects, filled.objects);
        let faces = encode!(Role::Faces, filled.faces);
        let classes = encode!(Role::SceneClasses, filled.scene_classes);
        let vector = encode!(Role::ImageEmbedding, filled.image_embedding);
        if objects.is_some() || faces.is_some() {
            let mut seen = Vec::new();
            for face in faces.unwrap_or_default() {
                let vector = filled.face_embedding.as_ref().and_then(|encoder| {
                    let rgb = aligned(picture, &face)?;
                    match encoder.encode(&Picture { width: ALIGNED_SIDE, height: ALIGNED_SIDE, rgb: &rgb }) {
                        Ok(vector) => Some(vector),
                        Err(error) => {
                            failed.push((Role::FaceEmbedding, error));
                            None
                        }
                    }
                });
                seen.push(SeenFace { face, vector });
            }
            self.objects.push(at, picture, &objects.unwrap_or_default(), seen);
        }
        if classes.is_some() || vector.is_some() {
            self.scenes.push(at, Palette::measure(picture, [0.0, 0.0, 1.0, 1.0]), classes, vector);
        }
        taken
    }

    /// Encodes a picture with what takes long.
    pub(super) fn look_closely(
        &mut self,
        at: Duration,
        picture: &Picture<'_>,
        filled: &Filled,
        failed: &mut Vec<(Role, EncoderError)>,
    ) {
        if filled.captions.is_some() {
            self.captions.push(at, picture);
        }
        if let Some(encoder) = &filled.joint {
            match encoder.encode(picture) {
                Ok(vector) => self.scenes.push_joint(at, vector),
                Err(error) => failed.push((Role::JointImageText, error)),
            }
        }
        let (Some(detector), Some(reader)) = (&filled.text_detection, &filled.text_recognition) else { return };
        let lines = detector.encode(picture).unwrap_or_else(|error| {
            failed.push((Role::TextDetection, error));
            Vec::new()
        });
        for line in lines {
            let Some((width, height, rgb)) = cut_out(picture, line.bounds) else { continue };
            match reader.encode(&Picture { width, height, rgb: &rgb }) {
                Ok(read) => self.writing.push(at, read),
                Err(error) => failed.push((Role::TextRecognition, error)),
            }
        }
    }

    /// The sound of the speech that a segment tells of without its words, a little more than that on either side. Speech
    /// that goes on in the next segment is cut at a pause near the border, so that no word is halved.
    pub(super) fn wordless(&mut self, perceived: &Perceived) -> Vec<SpeechStretch> {
        let speech = |event: &PerceivedEvent| event.kind == Kind::Sound && event.text == SPEAKING;
        let told = perceived.events.iter().enumerate().filter(|(_, event)| speech(event));
        let spans: Vec<(usize, StreamSpan)> = told.map(|(at, event)| (at, event.stream)).collect();
        let segment = perceived.stream;
        let cut_before = self.speech_cut.take().filter(|(border, _)| *border == segment.start);
        let mut stretches = Vec::new();
        for (place, (event, span)) in spans.iter().enumerate() {
            // Half of a pause belongs to either side.
            let last = place.checked_sub(1).map_or(Duration::ZERO, |before| (spans[before].1.end + span.start) / 2);
            let next = spans.get(place + 1).map_or(Duration::MAX, |(_, after)| (span.end + after.start) / 2);
            let begin = match cut_before {
                Some((_, cut)) if span.start <= segment.start => cut,
                _ => span.start.saturating_sub(SPEECH_MARGIN).max(last).max(self.voices.begin()),
            };
            let end = if span.end >= segment.end {
                let cut = self.voices.pause_near(segment.end);
                self.speech_cut = Some((segment.end, cut));
                cut
            } else {
                (span.end + SPEECH_MARGIN).min(next)
            };
            if let Some(samples) = self.voices.between(begin, end) {
                stretches.push(SpeechStretch { event: *event, begin, samples });
            }
        }
        stretches
    }

    pub(super) fn perceive(
        &mut self,
        segment: &Segment,
        subtitles_until: Duration,
        config: &PerceiverConfig,
        encoders: &Encoders,
    ) -> Perceived {
        let speech = self.speech.as_mut().map(|speech| speech.take_until(segment.end));
        let filled = encoders.filled();
        let inside = self.subtitles.partition_point(|subtitle| subtitle.start < subtitles_until);
        let gathered = Gathered {
            objects: self
                .objects
                .take(segment, &filled.objects.as_ref().map(|one| one.certainty()).unwrap_or_default()),
            scene: self.scenes.take(segment),
            writing: self.writing.take(segment),
            sounds: self
                .sounds
                .as_mut()
                .map(|sounds| take_sounds(sounds, segment, speech.is_none()))
                .unwrap_or_default(),
            speech: speech.unwrap_or_default(),
            subtitles: self.subtitles.drain(..inside).collect(),
            signal: self.picture_signal.take(segment).into_iter().chain(self.sound_signal.take(segment)).collect(),
            face_space: filled.face_embedding.as_ref().map(|encoder| encoder.space().to_owned()),
            picture_space: filled.image_embedding.map(|encoder| encoder.space().to_owned()),
            joint_space: filled.joint.map(|encoder| encoder.space().to_owned()),
        };
        let voices = filled.voice_embedding.map(|encoder| self.voices.during(segment, &gathered.speech, encoder));
        if let Some(error) = voices.as_ref().and_then(Voices::error) {
            self.failures.insert(Role::VoiceEmbedding, error);
        }
        let events = events(self.anchor, segment, gathered, &self.shown, voices.as_ref());
        self.shown.retain(|span| span.end > segment.end);
        self.closed = segment.end;
        let mut degraded = encoders.degraded(&self.senses);
        degraded.extend(std::mem::take(&mut self.failures).iter().map(|(role, error)| format!("{role}: {error}")));
        Perceived {
            source: config.source.clone(),
            session: self.name.clone(),
            start: self.anchor.wall(segment.start),
            end: self.anchor.wall(segment.end),
            stream: StreamSpan { start: segment.start, end: segment.end },
            boundary: segment.boundary,
            events,
            media: config.media.reference(&config.source, self.start),
            degraded,
        }
    }
}

/// The sounds of a segment, each with the mean of the vectors of its time.
fn take_sounds(
    sounds: &mut SoundDetector,
    segment: &Segment,
    with_speech: bool,
) -> Vec<(Heard, Option<SensedEmbedding>)> {
    let intervals = sounds.take_until(segment.end);
    let vectors = sounds.take_embeddings(segment.end);
    let model = Arc::clone(sounds.model());
    let embedded = |heard: Heard| {
        let during = vectors.iter().filter(|(at, _)| (heard.start..=heard.end).contains(at));
        let during: Vec<&[f32]> = during.map(|(_, vector)| vector.as_slice()).collect();
        let embedding = mean(&during).map(|vector| SensedEmbedding {
            sensed: Sensed::Sound,
            space: model.space().to_owned(),
            vector,
            sequence: Vec::new(),
        });
        (heard, embedding)
    };
    heard(&*model, segment, &intervals, with_speech).into_iter().map(embedded).collect()
}
