//! Any sequence of observations, corrections, repetitions, segments, forgetting and kills leaves what a naive model says.

use std::collections::{BTreeMap, BTreeSet};

use memory_core::{EpisodeId, ForgetRequest, Observation, ObserveOutcome, TimeSpan, Told};
use proptest::prelude::*;

use crate::support::{Bench, at, segment, told, with_session};

const SOURCES: [&str; 2] = ["asr", "tasks"];
const NAMES: [&str; 3] = ["Anna", "Ben", "anna"];
const TEXTS: [&str; 3] = ["hello", "good day", "bye"];

#[derive(Debug, Clone)]
enum MemoryOperation {
    Tell {
        source: usize,
        id: Option<u8>,
        at: i64,
        text: usize,
        entity: Option<usize>,
        session: bool,
        redelivered: bool,
    },
    Perceive {
        start: i64,
        length: i64,
        events: usize,
    },
    ForgetEntity(usize),
    ForgetSpan(i64, i64),
    ForgetEpisode(u64),
    Kill,
}

fn steps() -> impl Strategy<Value = Vec<MemoryOperation>> {
    let tell = (
        0..2_usize,
        prop::option::of(0..3_u8),
        0..300_i64,
        0..3_usize,
        prop::option::of(0..3_usize),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(source, id, at, text, entity, session, redelivered)| MemoryOperation::Tell {
            source,
            id,
            // Coarse, so that keys meet again.
            at: at / 10 * 10,
            text,
            entity,
            session,
            redelivered,
        });
    let perceive = (0..30_i64, 5..11_i64, 0..3_usize).prop_map(|(slot, length, events)| MemoryOperation::Perceive {
        start: slot * 11,
        length,
        events,
    });
    let step = prop_oneof![
        12 => tell,
        4 => perceive,
        1 => (0..3_usize).prop_map(MemoryOperation::ForgetEntity),
        // The clock stands at 0. What was forgotten up to now is cut out of segments that come later, which has tests of its own.
        1 => (1..300_i64, 0..40_i64).prop_map(|(start, length)| MemoryOperation::ForgetSpan(start, start + length)),
        1 => (1..12_u64).prop_map(MemoryOperation::ForgetEpisode),
        1 => Just(MemoryOperation::Kill),
    ];
    prop::collection::vec(step, 1..40)
}

#[derive(Debug, Clone, PartialEq)]
struct ModelEvent {
    episode: u64,
    at: i64,
    end: i64,
    text: String,
    entity: Option<String>,
    told: bool,
}

#[derive(Debug, Clone, PartialEq)]
struct ModelEpisode {
    segment: Option<(i64, i64)>,
}

#[derive(Debug, Clone)]
enum KnownEvent {
    Live(u64),
    Forgotten,
}

/// What a sender said under one key: text, entity, whether in a session.
type KeyedText = (String, Option<String>, bool);

/// The memory as the contract describes it, without a thought for speed.
#[derive(Default)]
struct NaiveMemory {
    events: BTreeMap<u64, ModelEvent>,
    episodes: BTreeMap<u64, ModelEpisode>,
    merged: BTreeMap<u64, u64>,
    keys: BTreeMap<(usize, u8, i64), KnownEvent>,
    /// Every content that a key has had, oldest first.
    versions: BTreeMap<(usize, u8, i64), Vec<KeyedText>>,
    /// Told without an id: everything that was said.
    unkeyed: BTreeSet<(usize, i64, String, Option<String>, bool)>,
    streams: BTreeMap<String, u64>,
    segments: BTreeSet<(i64, i64)>,
    last_event: u64,
    last_episode: u64,
}

#[derive(Debug, PartialEq)]
enum Expected {
    Accepted { episode: u64, opened: bool },
    Duplicate,
    Corrected { episode: u64 },
    Rejected,
}

impl NaiveMemory {
    fn members(&self, episode: u64) -> Vec<&ModelEvent> {
        self.events.values().filter(|event| event.episode == episode).collect()
    }

    fn span(&self, episode: u64) -> (i64, i64) {
        if let Some(segment) = self.episodes[&episode].segment {
            return segment;
        }
        let members = self.members(episode);
        (members.iter().map(|event| event.at).min().unwrap(), members.iter().map(|event| event.end).max().unwrap())
    }

    fn add(&mut self, event: ModelEvent) -> u64 {
        self.last_event += 1;
        self.events.insert(self.last_event, event);
        self.last_event
    }

    fn open(&mut self, segment: Option<(i64, i64)>) -> u64 {
        self.last_episode += 1;
        self.episodes.insert(self.last_episode, ModelEpisode { segment });
        self.last_episode
    }

    #[allow(clippy::too_many_arguments, reason = "the fields of one step")]
    fn tell(
        &mut self,
        source: usize,
        id: Option<u8>,
        at: i64,
        text: &str,
        entity: Option<&str>,
        session: bool,
        redelivered: bool,
    ) -> Expected {
        let said = (text.to_owned(), entity.map(str::to_owned), session);
        if let Some(key) = id.map(|id| (source, id, at)) {
            match self.keys.get(&key).cloned() {
                Some(KnownEvent::Forgotten) => return Expected::Rejected,
                Some(KnownEvent::Live(old)) => {
                    let versions = self.versions.get_mut(&key).unwrap();
                    if versions.last() == Some(&said) || (redelivered && versions.contains(&said)) {
                        return Expected::Duplicate;
                    }
                    versions.push(said);
                    let episode = self.events.remove(&old).unwrap().episode;
                    let by = self.add(ModelEvent {
                        episode,
                        at,
                        end: at,
                        text: text.into(),
                        entity: entity.map(Into::into),
                        told: true,
                    });
                    self.keys.insert(key, KnownEvent::Live(by));
                    return Expected::Corrected { episode };
                }
                None => {}
            }
        } else {
            let content = (source, at, said.0.clone(), said.1.clone(), session);
            if redelivered && self.unkeyed.contains(&content) {
                return Expected::Duplicate;
            }
            self.unkeyed.insert(content);
        }

        let containing = self.episodes.iter().filter_map(|(id, episode)| {
            let (start, end) = episode.segment?;
            (start <= at && at <= end).then_some((start, *id))
        });
        let stream = if session { "session".to_owned() } else { SOURCES[source].to_owned() };
        let (episode, opened) = if let Some((_, segment)) = containing.max() {
            (segment, false)
        } else {
            let last = self.streams.get(&stream).copied().filter(|last| {
                self.episodes.get(last).is_some_and(|episode| episode.segment.is_none()) && {
                    let (start, end) = self.span(*last);
                    at - end <= 60 && start - at <= 60
                }
            });
            match last {
                Some(last) => (last, false),
                None => {
                    let opened = self.open(None);
                    self.streams.insert(stream, opened);
                    (opened, true)
                }
            }
        };
        let event = self.add(ModelEvent {
            episode,
            at,
            end: at,
            text: text.into(),
            entity: entity.map(Into::into),
            told: true,
        });
        if let Some(id) = id {
            self.keys.insert((source, id, at), KnownEvent::Live(event));
            self.versions.insert((source, id, at), vec![said]);
        }
        Expected::Accepted { episode, opened }
    }

    fn perceive(&mut self, start: i64, end: i64, events: usize) -> Expected {
        if !self.segments.insert((start, end)) {
            return Expected::Duplicate;
        }
        let inside: BTreeSet<u64> = self
            .events
            .iter()
            .filter(|(_, event)| event.told && self.episodes[&event.episode].segment.is_none())
            .filter(|(_, event)| start <= event.at && event.at <= end)
            .map(|(id, _)| *id)
            .collect();
        let touched: BTreeSet<u64> = inside.iter().map(|id| self.events[id].episode).collect();
        let whole =
            |episode: &u64| self.events.iter().all(|(id, event)| event.episode != *episode || inside.contains(id));
        let adopted = touched.iter().copied().find(whole);
        let id = match adopted {
            Some(id) => {
                self.episodes.get_mut(&id).unwrap().segment = Some((start, end));
                id
            }
            None => self.open(Some((start, end))),
        };
        for event in inside {
            self.events.get_mut(&event).unwrap().episode = id;
        }
        for episode in touched {
            if self.members(episode).is_empty() {
                self.episodes.remove(&episode);
                self.merged.insert(episode, id);
            }
        }
        for text in &TEXTS[..events] {
            self.add(ModelEvent { episode: id, at: start, end, text: (*text).into(), entity: None, told: false });
        }
        Expected::Accepted { episode: id, opened: adopted.is_none() }
    }

    fn forget(&mut self, events: BTreeSet<u64>, segments: BTreeSet<u64>) -> (u64, u64) {
        let mut episodes = segments;
        for event in &events {
            episodes.insert(self.events.remove(event).unwrap().episode);
        }
        for known in self.keys.values_mut() {
            if matches!(known, KnownEvent::Live(event) if events.contains(event)) {
                *known = KnownEvent::Forgotten;
            }
        }
        let gone: Vec<u64> = episodes.into_iter().filter(|episode| self.members(*episode).is_empty()).collect();
        for episode in &gone {
            self.episodes.remove(episode);
        }
        (gone.len() as u64, events.len() as u64)
    }

    fn events_where(&self, matches: impl Fn(&ModelEvent) -> bool) -> BTreeSet<u64> {
        self.events.iter().filter(|(_, event)| matches(event)).map(|(id, _)| *id).collect()
    }
}

fn expected(outcome: &ObserveOutcome) -> Expected {
    match outcome {
        ObserveOutcome::Accepted { episode, opened, .. } => Expected::Accepted { episode: episode.0, opened: *opened },
        ObserveOutcome::Duplicate { .. } => Expected::Duplicate,
        ObserveOutcome::Corrected { episode, .. } => Expected::Corrected { episode: episode.0 },
        ObserveOutcome::Rejected { .. } => Expected::Rejected,
    }
}

fn observation(step: &MemoryOperation) -> Option<Observation> {
    match step {
        MemoryOperation::Tell { source, id, at: seconds, text, entity, session, redelivered } => {
            let told = Told {
                id: id.map(|id| format!("id-{id}")),
                at: Some(at(*seconds)),
                source: SOURCES[*source].into(),
                entity: entity.map(|entity| NAMES[entity].into()),
                redelivered: *redelivered,
                ..told(TEXTS[*text])
            };
            Some(Observation::Told(if *session { with_session(told, "session") } else { told }))
        }
        MemoryOperation::Perceive { start, length, events } => {
            Some(Observation::Perceived(segment(*start, start + length, &TEXTS[..*events])))
        }
        _ => None,
    }
}

fn check(bench: &Bench, model: &NaiveMemory) {
    let found: BTreeMap<u64, ModelEvent> = bench
        .events()
        .into_iter()
        .map(|event| {
            let seconds = |at: memory_core::Timestamp| (at.as_micros() / 1_000_000) - crate::support::T0;
            let told = event.origin == memory_core::Origin::Told;
            let (at, end) = (seconds(event.span.start), seconds(event.span.end));
            (event.id.0, ModelEvent { episode: event.episode.0, at, end, text: event.text, entity: event.entity, told })
        })
        .collect();
    assert_eq!(found, model.events);
    let listed: BTreeSet<u64> = bench
        .memory
        .episodes(&memory_core::EpisodeFilter { limit: Some(1000), ..Default::default() })
        .unwrap()
        .episodes
        .into_iter()
        .map(|summary| {
            let (start, end) = model.span(summary.episode.id.0);
            assert_eq!(summary.episode.span, TimeSpan::new(at(start), at(end)), "{}", summary.episode.id);
            summary.episode.id.0
        })
        .collect();
    assert_eq!(listed, model.episodes.keys().copied().collect());
    let names: BTreeSet<String> =
        model.events.values().filter_map(|event| Some(event.entity.as_ref()?.to_lowercase())).collect();
    let stats = bench.memory.stats();
    assert_eq!(
        (stats.events, stats.episodes, stats.entities),
        (found.len() as u64, listed.len() as u64, names.len() as u64)
    );
    bench.assert_clean();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn the_memory_agrees_with_a_naive_model(steps in steps()) {
        let mut bench = Bench::new();
        let mut model = NaiveMemory::default();
        for step in &steps {
            match step {
                MemoryOperation::Tell { source, id, at, text, entity, session, redelivered } => {
                    let entity = entity.map(|entity| NAMES[entity]);
                    let says = model.tell(*source, *id, *at, TEXTS[*text], entity, *session, *redelivered);
                    let outcome = bench.memory.observe(vec![observation(step).unwrap()]).unwrap().remove(0);
                    prop_assert_eq!(expected(&outcome), says, "{:?}", step);
                }
                MemoryOperation::Perceive { start, length, events } => {
                    let says = model.perceive(*start, start + length, *events);
                    let outcome = bench.memory.observe(vec![observation(step).unwrap()]).unwrap().remove(0);
                    prop_assert_eq!(expected(&outcome), says, "{:?}", step);
                }
                MemoryOperation::ForgetEntity(name) => {
                    let name = NAMES[*name].to_lowercase();
                    let events = model.events_where(|event| event.entity.as_deref().is_some_and(|entity| entity.to_lowercase() == name));
                    let says = model.forget(events, BTreeSet::new());
                    let reply = bench.memory.forget(&ForgetRequest::Entity(name)).unwrap();
                    prop_assert_eq!((reply.episodes, reply.events), says);
                }
                MemoryOperation::ForgetSpan(start, end) => {
                    let events = model.events_where(|event| event.at <= *end && *start <= event.end);
                    let overlapping = |segment: (i64, i64)| segment.0 <= *end && *start <= segment.1;
                    let segments = model.episodes.iter().filter(|(_, episode)| episode.segment.is_some_and(overlapping));
                    let segments = segments.map(|(id, _)| *id).collect();
                    let says = model.forget(events, segments);
                    let reply = bench.memory.forget(&ForgetRequest::Span(TimeSpan::new(at(*start), at(*end)))).unwrap();
                    prop_assert_eq!((reply.episodes, reply.events), says);
                }
                MemoryOperation::ForgetEpisode(id) => {
                    let id = model.merged.get(id).copied().unwrap_or(*id);
                    let events = model.events_where(|event| event.episode == id);
                    let there = model.episodes.contains_key(&id);
                    let says = model.forget(events, there.then_some(id).into_iter().collect());
                    let reply = bench.memory.forget(&ForgetRequest::Episodes(vec![EpisodeId(id)])).unwrap();
                    prop_assert_eq!((reply.episodes, reply.events), says);
                }
                MemoryOperation::Kill => bench.kill(),
            }
        }
        check(&bench, &model);
        bench.kill();
        check(&bench, &model);
    }

    #[test]
    fn one_batch_leaves_what_single_observations_leave(steps in steps()) {
        let observations: Vec<_> = steps.iter().filter_map(observation).collect();
        let single = Bench::new();
        let singly: Vec<_> = observations
            .iter()
            .map(|observation| single.memory.observe(vec![observation.clone()]).unwrap().remove(0))
            .collect();
        let batched = Bench::new();
        prop_assert_eq!(batched.memory.observe(observations).unwrap(), singly);
        prop_assert_eq!(batched.events(), single.events());
        batched.assert_clean();
    }
}
