use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use memory_core::ports::PerceptionSink;
use memory_core::segment::{Luma, Segment, Segmenter, SegmenterConfig};
use memory_core::{Boundary, Modality, Perceived, StreamSpan, Timestamp};
use parking_lot::Mutex;

use super::events::{WallAnchor, events};
use super::objects::ObjectLog;
use super::signal::{PictureSignal, SoundSignal};
use crate::capture::{AudioBlock, Frame, MediaConsumer, Subtitle};
use crate::encoders::{EncoderError, Encoders, Picture, SpeechDetector};
use crate::models::Role;

/// Subtitles that may wait for the end of their segment. A file cannot fill the memory by showing everything at once.
const SUBTITLES: usize = 1024;
/// Bytes of a subtitle that are kept.
const SUBTITLE_BYTES: usize = 4096;

/// How one source is perceived.
#[derive(Debug, Clone)]
pub struct PerceiverConfig {
    /// Name of the source in the configuration.
    pub source: String,
    /// Where its segments end. Live sources want [`SegmenterConfig::live`].
    pub segmenter: SegmenterConfig,
    /// Objects are looked for at most this often, ...
    pub least_interval: Duration,
    /// ... at least this often, and in between whenever the picture shows something new.
    pub most_interval: Duration,
    /// Where the recording is, if the source is one (a file).
    pub media: Option<String>,
}

impl PerceiverConfig {
    /// The defaults: pictures are encoded once a second, twice if they change.
    pub fn new(source: impl Into<String>, segmenter: SegmenterConfig) -> Self {
        Self {
            source: source.into(),
            segmenter,
            least_interval: Duration::from_millis(500),
            most_interval: Duration::from_secs(1),
            media: None,
        }
    }
}

/// What a perceiver did and what it lost, since it was made. Shared with whoever shows it.
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
    /// Pictures that were searched for objects.
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
    session: Option<Session>,
}

/// One capture session.
struct Session {
    name: String,
    anchor: WallAnchor,
    segmenter: Segmenter,
    objects: ObjectLog,
    /// When a picture was last searched for objects.
    looked: Option<Duration>,
    speech: Option<SpeechDetector>,
    picture_signal: PictureSignal,
    sound_signal: SoundSignal,
    /// Of segments that are still open, in order of `start`.
    subtitles: Vec<Subtitle>,
    /// When subtitles were shown; speech during them is told by them.
    shown: Vec<StreamSpan>,
    senses: Vec<Modality>,
    /// What failed since the last segment was handed on.
    failures: BTreeMap<Role, String>,
    /// End of the last segment that was handed on.
    closed: Duration,
}

impl Perceiver {
    /// A perceiver that waits for its first session. Encoders that become ready later are used from then on.
    pub fn new(config: PerceiverConfig, encoders: Encoders, sink: Arc<dyn PerceptionSink>) -> Self {
        Self { config, encoders, sink, counters: Arc::default(), luma: Luma::default(), session: None }
    }

    /// Its counters, for `health`.
    pub fn counters(&self) -> Arc<PerceptionCounters> {
        Arc::clone(&self.counters)
    }

    fn look(&mut self, frame: &Frame<'_>, new: bool) {
        let Some(session) = &mut self.session else { return };
        let since = session.looked.map(|looked| frame.stream.saturating_sub(looked));
        let due = since
            .is_none_or(|since| since >= self.config.most_interval || (new && since >= self.config.least_interval));
        if !due {
            return;
        }
        let Some(detector) = self.encoders.object_detector() else { return };
        session.looked = Some(frame.stream);
        let picture = Picture { width: frame.width, height: frame.height, rgb: frame.rgb };
        match detector.encode(&picture) {
            Ok(detections) => {
                session.objects.push(frame.stream, &detections);
                self.counters.counts.lock().pictures += 1;
            }
            Err(error) => self.fail(Role::Objects, "picture not encoded", &error),
        }
    }

    fn listen(&mut self, block: &AudioBlock<'_>) {
        let Some(session) = &mut self.session else { return };
        if session.speech.is_none() {
            session.speech = self.encoders.voice_activity().map(SpeechDetector::new);
        }
        let Some(detector) = &mut session.speech else { return };
        if let Err(error) = detector.push(block.stream, block.samples) {
            self.fail(Role::VoiceActivity, "sound not encoded", &error);
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
    }

    /// Hands `segment` on, with the subtitles that start before `subtitles_until`.
    fn hand_on(&mut self, segment: &Segment, subtitles_until: Duration) {
        let Some(session) = &mut self.session else { return };
        let perceived = session.perceive(segment, subtitles_until, &self.config, &self.encoders);
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

impl Session {
    fn new(name: &str, start: Timestamp, config: &SegmenterConfig) -> Self {
        Self {
            name: name.to_owned(),
            anchor: WallAnchor { stream: Duration::ZERO, wall: start },
            segmenter: Segmenter::new(config.clone()),
            objects: ObjectLog::default(),
            looked: None,
            speech: None,
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

    fn perceive(
        &mut self,
        segment: &Segment,
        subtitles_until: Duration,
        config: &PerceiverConfig,
        encoders: &Encoders,
    ) -> Perceived {
        let objects = self.objects.take(segment);
        let speech = self.speech.as_mut().map(|speech| speech.take_until(segment.end)).unwrap_or_default();
        let inside = self.subtitles.partition_point(|subtitle| subtitle.start < subtitles_until);
        let subtitles = self.subtitles.drain(..inside).collect();
        let mut signal = self.picture_signal.take(segment);
        signal.extend(self.sound_signal.take(segment));
        let events = events(self.anchor, segment, objects, &speech, subtitles, &self.shown, signal);
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
            media: config.media.clone(),
            degraded,
        }
    }
}

impl MediaConsumer for Perceiver {
    fn begin(&mut self, session: &str, start: Timestamp) {
        // A session that was not ended is not lost.
        if let Some(open) = &self.session {
            let reached = open.anchor.stream;
            self.end(reached);
        }
        self.session = Some(Session::new(session, start, &self.config.segmenter));
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
        subtitle.text.truncate(subtitle.text.floor_char_boundary(SUBTITLE_BYTES.min(subtitle.text.len())));
        if subtitle.text.is_empty() || session.subtitles.contains(&subtitle) {
            return;
        }
        if session.subtitles.len() >= SUBTITLES || session.shown.len() >= SUBTITLES {
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
        self.session = None;
    }

    fn frame_interval(&self) -> Duration {
        self.session.as_ref().map_or(Duration::from_millis(100), |session| session.segmenter.frame_interval())
    }
}
