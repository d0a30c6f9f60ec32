use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use memory_core::ports::PerceptionSink;
use memory_core::segment::{Luma, Segment, SegmenterConfig};
use memory_core::{Boundary, Modality, StreamSpan, Timestamp};
use parking_lot::Mutex;

use super::captions::CaptionsBehind;
use super::events::WallAnchor;
use super::pace::Pace;
use super::session::CaptureSession;
use super::words::WordsBehind;
use crate::capture::{AudioBlock, Frame, MediaConsumer, Subtitle};
use crate::encoders::{EncoderError, Encoders, Picture, SoundDetector, SpeechDetector};
use crate::models::Role;

/// Maximum number of subtitles that wait for the end of their segment. A file cannot exhaust the memory by showing everything
/// at once.
const MAX_SUBTITLES: usize = 1024;
/// Interval at which costly encoders see a picture of a scene that does not change.
const MAX_STILL_INTERVAL: Duration = Duration::from_secs(5);
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
    pub(super) fn reference(&self, source: &str, start: Timestamp) -> Option<String> {
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
