//! What the tests have in common.

use std::sync::Arc;
use std::time::Duration;

use memory_core::store::{MemoryStorage, Storage};
use memory_core::{
    Boundary, EpisodeId, Event, EventId, Kind, ManualClock, Memory, MemoryOptions, Modality, Observation,
    ObserveOutcome, Perceived, PerceivedEvent, PlaceSpace, StreamSpan, Timestamp, Told, Value,
};

/// A moment that is no special one: 2026-11-20 08:00 UTC.
pub const T0: i64 = 1_795_161_600;

pub fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros((T0 + seconds) * 1_000_000)
}

pub fn options() -> MemoryOptions {
    MemoryOptions { zone: jiff::tz::TimeZone::UTC, max_bytes: None, cache_bytes: 16 << 20, index: Default::default() }
}

/// A memory whose clock and storage the test holds.
pub struct Bench {
    pub memory: Memory,
    pub clock: Arc<ManualClock>,
    pub storage: MemoryStorage,
}

impl Bench {
    pub fn new() -> Self {
        let storage = MemoryStorage::new();
        let clock = Arc::new(ManualClock::at(at(0)));
        Self { memory: open(&storage, &clock), clock, storage }
    }

    /// Closes the memory and opens it again.
    pub fn reopen(&mut self) {
        // The old one is closed when its last clone goes, so a stand-in takes its place first.
        self.memory = open(&MemoryStorage::new(), &self.clock);
        self.memory = open(&self.storage, &self.clock);
    }

    /// Goes on with the bytes as they are now, as after a kill.
    pub fn kill(&mut self) {
        self.storage = MemoryStorage::from_image(self.storage.image());
        self.memory = open(&self.storage, &self.clock);
    }

    pub fn tell(&self, told: Told) -> ObserveOutcome {
        let mut outcomes = self.memory.observe(vec![Observation::Told(told)]).unwrap();
        assert_eq!(outcomes.len(), 1);
        outcomes.remove(0)
    }

    pub fn perceive(&self, segment: Perceived) -> ObserveOutcome {
        self.memory.observe(vec![Observation::Perceived(segment)]).unwrap().remove(0)
    }

    pub fn events(&self) -> Vec<Event> {
        self.memory.events(None, usize::MAX).unwrap()
    }

    pub fn texts(&self) -> Vec<String> {
        self.events().into_iter().map(|event| event.text).collect()
    }

    #[track_caller]
    pub fn assert_clean(&self) {
        assert_eq!(self.memory.check().unwrap().problems, Vec::<String>::new());
    }
}

pub fn open(storage: &MemoryStorage, clock: &Arc<ManualClock>) -> Memory {
    open_on(Arc::new(storage.clone()), clock)
}

pub fn open_on(storage: Arc<dyn Storage>, clock: &Arc<ManualClock>) -> Memory {
    let memory = Memory::open_in(storage, options(), Arc::<ManualClock>::clone(clock)).unwrap();
    memory.set_place_spaces(vec![PlaceSpace { space: "mobilenet-v1/avgpool/l2".into(), gamma: 0.82 }]);
    memory
}

pub fn told(text: &str) -> Told {
    Told { kind: Kind::Text, text: text.into(), source: "asr".into(), ..Told::default() }
}

pub fn told_at(text: &str, seconds: i64) -> Told {
    Told { at: Some(at(seconds)), ..told(text) }
}

pub fn keyed(id: &str, text: &str, seconds: i64) -> Told {
    Told { id: Some(id.into()), ..told_at(text, seconds) }
}

pub fn with_session(told: Told, session: &str) -> Told {
    let mut told = told;
    told.attributes.insert("session".into(), Value::Text(session.into()));
    told
}

/// A segment of the camera with one event per text, from `start` to `end` seconds after `T0`.
pub fn segment(start: i64, end: i64, texts: &[&str]) -> Perceived {
    let stream = |seconds: i64| Duration::from_secs(seconds.unsigned_abs());
    Perceived {
        source: "camera".into(),
        session: "s1".into(),
        start: at(start),
        end: at(end),
        stream: StreamSpan { start: stream(start), end: stream(end) },
        boundary: Boundary::Visual,
        events: texts
            .iter()
            .map(|text| PerceivedEvent {
                kind: Kind::Object,
                modality: Modality::Visual,
                text: (*text).into(),
                start: at(start),
                end: at(end),
                stream: StreamSpan { start: stream(start), end: stream(end) },
                entity: None,
                attributes: Default::default(),
                confidence: 0.8,
                pose: None,
                embeddings: Vec::new(),
            })
            .collect(),
        media: Some(format!("file:///media/{start}.mkv")),
        degraded: vec!["asr: model not installed".into()],
    }
}

#[track_caller]
pub fn accepted(outcome: ObserveOutcome) -> (EpisodeId, bool, Vec<EventId>) {
    match outcome {
        ObserveOutcome::Accepted { episode, opened, events } => (episode, opened, events),
        other => panic!("not accepted: {other:?}"),
    }
}

#[track_caller]
pub fn rejected(outcome: ObserveOutcome) -> String {
    match outcome {
        ObserveOutcome::Rejected { message } => message,
        other => panic!("not rejected: {other:?}"),
    }
}
