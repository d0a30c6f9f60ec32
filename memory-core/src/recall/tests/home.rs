//! A small memory: what a household told and what a camera and a microphone noticed.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use jiff::tz::TimeZone;

use crate::index::signature::quantise;
use crate::index::{CompressedIndex, Document, Index, IndexOptions, Search, is_stop_word, passage, stem, words};
use crate::ports::{AnswerExtractor, PortError, TextEmbedder};
use crate::recall::{Reader, answer};
use crate::{
    AbsentRole, Answer, Attributes, Clock, Episode, EpisodeId, Event, EventId, Kind, ManualClock, Origin, Query,
    ReadError, StreamSpan, TimeSpan, Timestamp,
};

/// φ for tests: a dimension per word, so that equal words are near.
pub(crate) struct WordVectors;

impl TextEmbedder for WordVectors {
    fn space(&self) -> &str {
        "words"
    }

    fn dimensions(&self) -> usize {
        64
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, PortError> {
        let vector = |text: &&str| {
            let mut vector = vec![0.0_f32; 64];
            for word in words(text).filter(|word| !is_stop_word(word)) {
                let place = stem(&word).bytes().fold(7_usize, |hash, byte| (hash * 31 + usize::from(byte)) % 64);
                vector[place] += 1.0;
            }
            let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-6);
            vector.iter().map(|x| x / norm).collect()
        };
        Ok(texts.iter().map(vector).collect())
    }
}

/// φ that fails.
pub(crate) struct Broken;

impl TextEmbedder for Broken {
    fn space(&self) -> &str {
        "broken"
    }

    fn dimensions(&self) -> usize {
        64
    }

    fn embed(&self, _: &[&str]) -> Result<Vec<Vec<f32>>, PortError> {
        Err(PortError { role: "text embedding", message: "out of memory".into() })
    }
}

/// A clock that moves by a fixed step whenever it is read.
pub(crate) struct SteppingClock {
    clock: ManualClock,
    pub step: Duration,
    pub reads: AtomicU64,
}

impl Clock for SteppingClock {
    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn monotonic(&self) -> Duration {
        self.step * u32::try_from(self.reads.fetch_add(1, Ordering::SeqCst)).unwrap()
    }
}

/// The memory of a household.
pub(crate) struct Home {
    pub events: Vec<Event>,
    index: CompressedIndex,
    pub search: Arc<dyn Search>,
    pub gone: BTreeSet<EventId>,
    pub embedder: Option<Box<dyn TextEmbedder>>,
    pub extractor: Option<Box<dyn AnswerExtractor>>,
    pub absent: Vec<AbsentRole>,
    pub pending: u64,
    zone: TimeZone,
    pub clock: SteppingClock,
}

impl Reader for Home {
    fn search(&self) -> &dyn Search {
        &*self.search
    }

    fn event(&self, id: EventId) -> Result<Option<Event>, ReadError> {
        let visible = self.events.iter().find(|event| event.id == id && !self.gone.contains(&id));
        Ok(visible.cloned())
    }

    fn episode(&self, _: EpisodeId) -> Result<Option<Episode>, ReadError> {
        Ok(None)
    }

    fn embedder(&self) -> Option<&dyn TextEmbedder> {
        self.embedder.as_deref()
    }

    fn extractor(&self) -> Option<&dyn AnswerExtractor> {
        self.extractor.as_deref()
    }

    fn vector(&self, id: EventId) -> Option<Vec<i16>> {
        let event = self.events.iter().find(|event| event.id == id)?;
        quantise(self.embedder()?.embed(&[&passage(event)]).ok()?.first()?)
    }

    fn absent_roles(&self) -> &[AbsentRole] {
        &self.absent
    }

    fn pending_embeddings(&self) -> u64 {
        self.pending
    }

    fn zone(&self) -> &TimeZone {
        &self.zone
    }

    fn clock(&self) -> &dyn Clock {
        &self.clock
    }
}

/// A moment of November 2026: "20T09:00:00".
pub(crate) fn time(text: &str) -> Timestamp {
    Timestamp::parse(&format!("2026-11-{text}+01:00")).unwrap()
}

/// Begin, seconds, kind, whom or what it is about, text. What has seconds was perceived.
pub(crate) type Row = (&'static str, u64, Kind, Option<&'static str>, &'static str);

/// A memory of these events at nine o'clock on 20 November 2026.
pub(crate) fn home(rows: &[Row]) -> Home {
    let session = time("20T08:00:00");
    let events: Vec<Event> = (1_u64..)
        .zip(rows)
        .map(|(id, (at, seconds, kind, entity, text))| {
            let start = time(at);
            let end = start.saturating_add(Duration::from_secs(*seconds));
            let perceived = *seconds > 0;
            Event {
                id: EventId(id),
                episode: EpisodeId(id / 3 + 1),
                origin: if perceived { Origin::Perceived } else { Origin::Told },
                sender_id: (!perceived).then(|| format!("told-{id}")),
                kind: *kind,
                modality: kind.modality(),
                text: (*text).into(),
                span: TimeSpan::new(start, end),
                stream: perceived.then(|| StreamSpan { start: start.since(session), end: end.since(session) }),
                source: if perceived { "camera".into() } else { "asr".into() },
                entity: entity.map(str::to_string),
                attributes: Attributes::new(),
                confidence: 0.9,
                media: None,
                received: start,
                pose: None,
            }
        })
        .collect();
    let mut index = CompressedIndex::new(IndexOptions::default());
    index.append(&events.iter().map(Document::of).collect::<Vec<_>>());
    Home {
        search: index.snapshot(),
        index,
        events,
        gone: BTreeSet::new(),
        embedder: None,
        extractor: None,
        absent: vec![],
        pending: 0,
        zone: TimeZone::get("Europe/Berlin").unwrap(),
        clock: SteppingClock {
            clock: ManualClock::at(time("20T09:00:00")),
            step: Duration::ZERO,
            reads: AtomicU64::new(0),
        },
    }
}

impl Home {
    /// With an embedding for each event.
    pub fn with_meaning(mut self) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "unit vectors")]
        let vectors: Vec<(EventId, Vec<i16>)> = self
            .events
            .iter()
            .map(|event| {
                let vector = WordVectors.embed(&[&passage(event)]).unwrap().remove(0);
                (event.id, vector.iter().map(|x| (x * 32_767.0) as i16).collect())
            })
            .collect();
        self.index.use_space(64);
        self.index.embed(&vectors);
        self.search = self.index.snapshot();
        self.embedder = Some(Box::new(WordVectors));
        self
    }

    pub fn with_reader(mut self, reader: impl AnswerExtractor + 'static) -> Self {
        self.extractor = Some(Box::new(reader));
        self
    }

    pub fn forget(mut self, id: u64) -> Self {
        self.index.hide(&[EventId(id)]);
        self.gone.insert(EventId(id));
        self.search = self.index.snapshot();
        self
    }

    pub fn ask(&self, question: &str) -> Answer {
        answer(&Query { question: question.into(), top_k: 3, ..Query::default() }, self).unwrap()
    }

    pub fn choose(&self, question: &str, options: &[&str]) -> Answer {
        let options = options.iter().map(|option| (*option).to_string()).collect();
        answer(&Query { question: question.into(), options, top_k: 3, ..Query::default() }, self).unwrap()
    }

    /// The questions whose answers lack a text, with what was answered instead.
    pub fn misses(&self, cases: &[(&str, &str)]) -> Vec<String> {
        let mut misses = Vec::new();
        for (question, expected) in cases {
            let answer = self.ask(question);
            let said = answer.answer.clone().unwrap_or_else(|| "-".into());
            if !said.to_lowercase().contains(&expected.to_lowercase()) {
                let found: Vec<&str> = answer.evidence.iter().map(|item| item.text.as_str()).collect();
                misses.push(format!(
                    "{question} expected {expected:?}, said {said:?} ({:.2}, {}), from {found:?}",
                    answer.confidence, answer.reason
                ));
            }
        }
        misses
    }
}
