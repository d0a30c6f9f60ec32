use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use memory_core::ports::PerceptionSink;
use memory_core::segment::{Luma, Segment, Segmenter, SegmenterConfig};
use memory_core::{
    Boundary, Kind, Modality, Perceived, PerceivedEvent, Sensed, SensedEmbedding, StreamSpan, Timestamp,
};
use parking_lot::Mutex;

use super::captions::{CaptionLog, CaptionsBehind};
use super::colours::Palette;
use super::events::{Gathered, SPEAKING, WallAnchor, events};
use super::pace::Pace;
use super::scenes::SceneLog;
use super::signal::{PictureSignal, SoundSignal};
use super::sounds::{Heard, heard};
use super::tracks::{ObjectLog, SeenFace, mean};
use super::voices::{VoiceLog, Voices};
use super::words::{SpeechStretch, WordsBehind};
use super::writing::WritingLog;
use crate::capture::{AudioBlock, Frame, MediaConsumer, Subtitle};
use crate::encoders::{
    ALIGNED_SIDE, Encoder, EncoderError, Encoders, Filled, Picture, SoundDetector, SpeechDetector, VectorEncoder,
    aligned, cut_out,
};

use crate::models::Role;

/// Maximum number of subtitles that wait for the end of their segment. A file cannot exhaust the memory by showing everything
/// at once.
const MAX_SUBTITLES: usize = 1024;
/// Interval at which costly encoders see a picture of a scene that does not change.
const MAX_STILL_INTERVAL: Duration = Duration::from_secs(5);
/// Sound around a stretch of speech that is transcribed as well: the first and last sounds of words are faint.
const SPEECH_MARGIN: Duration = Duration::from_millis(400);
/// Maximum length of a subtitle, in bytes; the rest is cut off.
const MAX_SUBTITLE_BYTES: usize = 4096;

/// How one source is perceived.
#[derive(Debug, Clone)]
pub struct PerceiverConfig {
    /// Name of the source in the configuration.
    pub source: String,
    /// Where its segments end. Live sources want [`SegmenterConfig::live`].
    pub segmenter: SegmenterConfig,
    /// Pictures are encoded at most this often, ...
    pub least_interval: Duration,
    /// ... at least this often, and in between whenever the picture shows something new.
    pub most_interval: Duration,
    /// Where the recording is.
    pub media: Media,
    /// How much of all that is looked at now.
    pub pace: Pace,
}

impl PerceiverConfig {
    /// The defaults: pictures are encoded once a second, twice if they change.
    pub fn new(source: impl Into<String>, segmenter: SegmenterConfig) -> Self {
        Self {
            source: source.into(),
            segmenter,
            least_interval: Duration::from_millis(500),
            most_interval: Duration::from_secs(1),
            media: Media::None,
            pace: Pace::default(),
        }
    }
}

/// Where the recording of a source is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Media {
    /// There is none.
    None,
    /// The source is a recording itself.
    Itself(String),
    /// In the archive, by source and session.
    Archive,
}

impl Media {
    /// How the events of a session that began at `start` point to it.
    fn reference(&self, source: &str, start: Timestamp) -> Option<String> {
        match self {
            Self::None => None,
            Self::Itself(uri) => Some(uri.clone()),
            Self::Archive => Some(crate::archive::recording(source, start)),
        }
    }
}

/// Counters of a perceiver: what it processed and what it lost. Shared with health.
#[derive(Debug, Default)]
pub struct PerceptionCounters {
    counts: Mutex<PerceptionCounts>,
}

/// A reading of [`PerceptionCounters`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PerceptionCounts {
    /// Segments that the memory took.
    pub segments: u64,
    /// Events in them.
    pub events: u64,
    /// Pictures that were encoded.
    pub pictures: u64,
    /// What was lost, by reason.
    pub lost: BTreeMap<&'static str, u64>,
    /// The last failure.
    pub last_error: Option<String>,
}

impl PerceptionCounters {
    /// The counts now.
    pub fn read(&self) -> PerceptionCounts {
        self.counts.lock().clone()
    }

    fn lose(&self, reason: &'static str, error: Option<String>) {
        let mut counts = self.counts.lock();
        *counts.lost.entry(reason).or_default() += 1;
        counts.last_error = error.or(counts.last_error.take());
    }
}

/// Turns what one source delivers into closed segments with their events, and hands them on.
pub struct Perceiver {
    config: PerceiverConfig,
    encoders: Encoders,
    sink: Arc<dyn PerceptionSink>,
    counters: Arc<PerceptionCounters>,
    luma: Luma,
    session: Option<CaptureSession>,
    behind: WordsBehind,
    captions: CaptionsBehind,
}

/// One capture session.
struct CaptureSession {
    name: String,
    /// Wall-clock time of stream time 0.
    start: Timestamp,
    anchor: WallAnchor,
    segmenter: Segmenter,
    objects: ObjectLog,
    scenes: SceneLog,
    /// When a picture was last encoded.
    looked: Option<Duration>,
    /// When one was last seen by the costly encoders.
    looked_closely: Option<Duration>,
    writing: WritingLog,
    /// Pictures for captions.
    captions: CaptionLog,
    speech: Option<SpeechDetector>,
    sounds: Option<SoundDetector>,
    voices: VoiceLog,
    /// The end of the last segment and where speech was cut that goes on behind it.
    speech_cut: Option<(Duration, Duration)>,
    picture_signal: PictureSignal,
    sound_signal: SoundSignal,
    /// Of segments that are still open, in order of `start`.
    subtitles: Vec<Subtitle>,
    /// When subtitles were shown; speech during them is told by them.
    shown: Vec<StreamSpan>,
    senses: Vec<Modality>,
    /// Failures since the last segment was delivered.
    failures: BTreeMap<Role, String>,
    /// End of the last segment that was handed on.
    closed: Duration,
}

impl Perceiver {
    /// A perceiver that waits for its first session. Encoders that become ready later are used from then on.
    pub fn new(config: PerceiverConfig, encoders: Encoders, sink: Arc<dyn PerceptionSink>) -> Self {
        Self {
            config,
            encoders,
            sink,
            counters: Arc::default(),
            luma: Luma::default(),
            session: None,
            behind: WordsBehind::default(),
            captions: CaptionsBehind::default(),
        }
    }

    /// Its counters, for `health`.
    pub fn counters(&self) -> Arc<PerceptionCounters> {
        Arc::clone(&self.counters)
    }

    fn look(&mut self, frame: &Frame<'_>, new: bool) {
        let Some(session) = &mut self.session else { return };
        let [least, most, still] = [self.config.least_interval, self.config.most_interval, MAX_STILL_INTERVAL]
            .map(|usual| self.config.pace.stretch(usual));
        let since = session.looked.map(|looked| frame.stream.saturating_sub(looked));
        let due = since.is_none_or(|since| since >= most || (new && since >= least));
        if !due {
            return;
        }
        let filled = self.encoders.filled();
        session.looked = Some(frame.stream);
        let picture = Picture { width: frame.width, height: frame.height, rgb: frame.rgb };
        let mut failed = Vec::new();
        let encoded = session.look(frame.stream, &picture, &filled, &mut failed);
        // What is costly sees only what is new, and a still view every few seconds.
        let since = session.looked_closely.map(|looked| frame.stream.saturating_sub(looked));
        if since.is_none_or(|since| since >= still || (new && since >= most)) {
            session.looked_closely = Some(frame.stream);
            session.look_closely(frame.stream, &picture, &filled, &mut failed);
        }
        if encoded {
            self.counters.counts.lock().pictures += 1;
        }
        for (role, error) in failed {
            self.fail(role, "picture not encoded", &error);
        }
    }

    fn listen(&mut self, block: &AudioBlock<'_>) {
        let Some(session) = &mut self.session else { return };
        let filled = self.encoders.filled();
        if filled.voice_embedding.is_some() || filled.speech_recognition.is_some() {
            session.voices.push(block.stream, block.samples);
        }
        if session.speech.is_none() {
            session.speech = filled.voice_activity.map(SpeechDetector::new);
        }
        if session.sounds.is_none() {
            session.sounds = filled.sound_events.map(SoundDetector::new);
        }
        let speech = session.speech.as_mut().map_or(Ok(()), |speech| speech.push(block.stream, block.samples));
        let sounds = session.sounds.as_mut().map_or(Ok(()), |sounds| sounds.push(block.stream, block.samples));
        for (role, result) in [(Role::VoiceActivity, speech), (Role::SoundEvents, sounds)] {
            if let Err(error) = result {
                self.fail(role, "sound not encoded", &error);
            }
        }
    }

    fn fail(&mut self, role: Role, reason: &'static str, error: &EncoderError) {
        let message = error.to_string();
        if let Some(session) = &mut self.session {
            // Once a segment: a camera makes two of these a second.
            if session.failures.insert(role, message.clone()).is_none() {
                tracing::warn!(source = self.config.source, %role, "{message}");
            }
        }
        self.counters.lose(reason, Some(message));
    }

    fn hand_on_closed(&mut self) {
        while let Some(segment) = self.session.as_mut().and_then(|session| session.segmenter.poll()) {
            self.hand_on(&segment, segment.end);
        }
        self.deliver(false);
    }

    /// Hands `segment` on as soon as it has its words, with the subtitles that start before `subtitles_until`.
    fn hand_on(&mut self, segment: &Segment, subtitles_until: Duration) {
        let Some(session) = &mut self.session else { return };
        let perceived = session.perceive(segment, subtitles_until, &self.config, &self.encoders);
        let filled = self.encoders.filled();
        let recogniser = filled.speech_recognition;
        let stretches = if recogniser.is_some() { session.wordless(&perceived) } else { Vec::new() };
        let live = !matches!(self.config.media, Media::Itself(_));
        let caption = filled.captions.zip(session.captions.take(segment));
        let caption = caption.map(|(captioner, picture)| self.captions.begin(captioner, picture, live));
        if let Err(error) = self.behind.push(perceived, stretches, recogniser, caption) {
            tracing::warn!(source = self.config.source, %error, "no thread to recognise speech");
            self.counters.lose("speech not recognised", Some(error.to_string()));
        }
    }

    /// Hands on the segments that have their words, in order; with `all`, every segment.
    fn deliver(&mut self, all: bool) {
        while let Some(perceived) = self.behind.pop(all) {
            let count = perceived.events.len() as u64;
            match self.sink.perceived(perceived) {
                Ok(_) => {
                    let mut counts = self.counters.counts.lock();
                    counts.segments += 1;
                    counts.events += count;
                }
                Err(error) => {
                    tracing::error!(source = self.config.source, %error, "a segment was lost");
                    self.counters.lose("segment not taken", Some(error.to_string()));
                }
            }
        }
    }
}

impl CaptureSession {
    fn new(name: &str, start: Timestamp, config: &SegmenterConfig) -> Self {
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

    fn sense(&mut self, modality: Modality) {
        if !self.senses.contains(&modality) {
            self.senses.push(modality);
        }
    }

    /// Encodes a picture with everything there is; `true` if any encoder took it.
    fn look(
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
    fn look_closely(
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
    fn wordless(&mut self, perceived: &Perceived) -> Vec<SpeechStretch> {
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

    fn perceive(
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

impl MediaConsumer for Perceiver {
    fn begin(&mut self, session: &str, start: Timestamp) {
        // A session that was not ended is not lost.
        if let Some(open) = &self.session {
            let reached = open.anchor.stream;
            self.end(reached);
        }
        self.session = Some(CaptureSession::new(session, start, &self.config.segmenter));
    }

    fn frame(&mut self, frame: Frame<'_>) {
        let Some(session) = &mut self.session else { return };
        if !self.luma.assign_rgb(frame.width, frame.height, frame.rgb) {
            self.counters.lose("picture of a wrong size", None);
            return;
        }
        session.anchor = WallAnchor { stream: frame.stream, wall: frame.wall };
        session.sense(Modality::Visual);
        let novelty = session.segmenter.push_luma(frame.stream, &self.luma);
        session.picture_signal.push(frame.stream, &self.luma, novelty.ssim);
        self.look(&frame, novelty.keep);
        self.hand_on_closed();
    }

    fn audio(&mut self, block: AudioBlock<'_>) {
        let Some(session) = &mut self.session else { return };
        session.anchor = WallAnchor { stream: block.stream, wall: block.wall };
        session.sense(Modality::Audio);
        session.segmenter.push_audio(block.stream, block.samples);
        session.sound_signal.push(block.stream, block.samples);
        self.listen(&block);
        self.hand_on_closed();
    }

    fn subtitle(&mut self, mut subtitle: Subtitle) {
        let Some(session) = &mut self.session else { return };
        subtitle.text = subtitle.text.split_whitespace().collect::<Vec<_>>().join(" ");
        subtitle.text.truncate(subtitle.text.floor_char_boundary(MAX_SUBTITLE_BYTES.min(subtitle.text.len())));
        if subtitle.text.is_empty() || session.subtitles.contains(&subtitle) {
            return;
        }
        if session.subtitles.len() >= MAX_SUBTITLES || session.shown.len() >= MAX_SUBTITLES {
            self.counters.lose("subtitle beyond the limit", None);
            return;
        }
        let place = session.subtitles.partition_point(|other| other.start <= subtitle.start);
        let place_shown = session.shown.partition_point(|other| other.start <= subtitle.start);
        session.shown.insert(place_shown, StreamSpan { start: subtitle.start, end: subtitle.end });
        session.subtitles.insert(place, subtitle);
    }

    fn end(&mut self, stream: Duration) {
        let Some(session) = &mut self.session else { return };
        session.segmenter.finish(stream);
        if let Some(speech) = &mut session.speech {
            speech.finish();
        }
        if let Some(sounds) = &mut session.sounds {
            sounds.finish();
        }
        let mut segments: Vec<Segment> = std::iter::from_fn(|| session.segmenter.poll()).collect();
        if segments.is_empty()
            && let (Some(first), Some(last)) = (session.subtitles.first(), session.subtitles.last())
        {
            // Subtitles behind the last segment, or of a stream that has nothing else.
            let start = first.start.max(session.closed);
            segments.push(Segment { start, end: last.end.max(start), boundary: Boundary::End });
        }
        for (at, segment) in segments.iter().enumerate() {
            let last = at + 1 == segments.len();
            self.hand_on(segment, if last { Duration::MAX } else { segment.end });
        }
        self.deliver(true);
        self.session = None;
    }

    fn frame_interval(&self) -> Duration {
        let usual =
            self.session.as_ref().map_or(Duration::from_millis(100), |session| session.segmenter.frame_interval());
        self.config.pace.stretch(usual)
    }
}
