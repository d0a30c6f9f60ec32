//! Tells listeners which episodes began, grew and ended.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use memory_core::{EpisodeId, Observation, ObserveOutcome};
use serde::Serialize;

/// Time without an addition after which an episode of told observations counts as over (docs/memory-format.md, Episodes: at
/// most 60 s apart).
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// Maximum number of streams followed at once. Beyond it, the one that was quiet longest ends early.
const MAX_STREAMS: usize = 256;

/// What happened to an episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EpisodeChange {
    /// The episode began.
    New,
    /// The episode gained events.
    Update,
    /// No more events are expected.
    End,
}

/// The payload of `…/event/episode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EpisodeEvent {
    /// What happened.
    pub change: EpisodeChange,
    /// Which episode.
    pub id: EpisodeId,
}

/// Stream that an observation belongs to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stream {
    source: String,
    session: Option<String>,
    perceived: bool,
}

/// The episodes that may still grow.
#[derive(Default)]
pub struct OpenEpisodes {
    open: BTreeMap<Stream, (EpisodeId, Duration)>,
}

impl OpenEpisodes {
    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// The stream of each observation.
    pub fn streams_of(&self, batch: &[Observation]) -> Vec<Stream> {
        batch
            .iter()
            .map(|observation| match observation {
                Observation::Told(told) => Stream {
                    source: told.source.clone(),
                    session: told.attributes.get("session").and_then(|value| value.as_text()).map(str::to_owned),
                    perceived: false,
                },
                // It changes its episode, and neither opens nor ends one.
                Observation::Looked(_) => Stream { source: String::new(), session: None, perceived: false },
                Observation::Perceived(segment) => {
                    Stream { source: segment.source.clone(), session: Some(segment.session.clone()), perceived: true }
                }
            })
            .collect()
    }

    /// Announces the changes of a commit; one event per episode and kind of change.
    pub fn note(&mut self, streams: &[Stream], outcomes: &[ObserveOutcome], now: Duration) -> Vec<EpisodeEvent> {
        let mut changes: Vec<EpisodeEvent> = Vec::new();
        let mut told: BTreeSet<(EpisodeId, EpisodeChange)> = BTreeSet::new();
        let mut say = |change: EpisodeChange, id: EpisodeId| {
            // An episode that began in this commit needs no update too.
            let known = change == EpisodeChange::Update && told.contains(&(id, EpisodeChange::New));
            if !known && told.insert((id, change)) {
                changes.push(EpisodeEvent { change, id });
            }
        };
        for (stream, outcome) in streams.iter().zip(outcomes) {
            let (episode, opened) = match outcome {
                ObserveOutcome::Accepted { episode, opened, .. } => (*episode, *opened),
                ObserveOutcome::Corrected { episode, .. } => (*episode, false),
                ObserveOutcome::Duplicate { .. } | ObserveOutcome::Rejected { .. } => continue,
            };
            say(if opened { EpisodeChange::New } else { EpisodeChange::Update }, episode);
            if stream.perceived {
                // A segment arrives closed, and ends a told episode that it took in.
                self.open.retain(|_, (id, _)| *id != episode);
                say(EpisodeChange::End, episode);
                continue;
            }
            if opened {
                if let Some((before, _)) = self.open.insert(stream.clone(), (episode, now)) {
                    say(EpisodeChange::End, before);
                }
            } else if let Some((current, last)) = self.open.get_mut(stream)
                && *current == episode
            {
                *last = now;
            }
        }
        while self.open.len() > MAX_STREAMS {
            let quietest = self.open.iter().min_by_key(|(_, (_, last))| *last).map(|(stream, _)| stream.clone());
            if let Some((id, _)) = quietest.and_then(|stream| self.open.remove(&stream)) {
                say(EpisodeChange::End, id);
            }
        }
        changes
    }

    /// Ends the episodes that were quiet for long enough.
    pub fn end_idle(&mut self, now: Duration) -> Vec<EpisodeEvent> {
        let mut ended = Vec::new();
        self.open.retain(|_, (id, last)| {
            let live = now.saturating_sub(*last) < IDLE_TIMEOUT;
            if !live {
                ended.push(EpisodeEvent { change: EpisodeChange::End, id: *id });
            }
            live
        });
        ended
    }

    /// Ends all of them.
    pub fn end_all(&mut self) -> Vec<EpisodeEvent> {
        std::mem::take(&mut self.open)
            .into_values()
            .map(|(id, _)| EpisodeEvent { change: EpisodeChange::End, id })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use memory_core::{EventId, Told};

    use super::*;

    fn told(source: &str) -> Observation {
        Observation::Told(Told { source: source.to_owned(), text: "x".to_owned(), ..Told::default() })
    }

    fn accepted(episode: u64, opened: bool) -> ObserveOutcome {
        ObserveOutcome::Accepted { episode: EpisodeId(episode), opened, events: vec![EventId(1)] }
    }

    fn event(change: EpisodeChange, id: u64) -> EpisodeEvent {
        EpisodeEvent { change, id: EpisodeId(id) }
    }

    #[test]
    fn a_commit_announces_each_episode_once() {
        let mut open = OpenEpisodes::default();
        let streams = open.streams_of(&[told("asr"), told("asr"), told("asr")]);
        let outcomes = [accepted(1, true), accepted(1, false), accepted(1, false)];
        assert_eq!(open.note(&streams, &outcomes, Duration::ZERO), [event(EpisodeChange::New, 1)]);
    }

    #[test]
    fn the_next_episode_of_a_source_ends_the_one_before() {
        let mut open = OpenEpisodes::default();
        let streams = open.streams_of(&[told("asr"), told("asr")]);
        let changes = open.note(&streams, &[accepted(1, true), accepted(2, true)], Duration::ZERO);
        assert_eq!(changes, [event(EpisodeChange::New, 1), event(EpisodeChange::New, 2), event(EpisodeChange::End, 1)]);
    }

    #[test]
    fn an_episode_that_falls_silent_ends_by_itself() {
        let mut open = OpenEpisodes::default();
        let streams = open.streams_of(&[told("asr")]);
        open.note(&streams, &[accepted(1, true)], Duration::ZERO);
        assert_eq!(open.end_idle(Duration::from_secs(59)), []);
        assert_eq!(open.end_idle(Duration::from_secs(60)), [event(EpisodeChange::End, 1)]);
        assert!(open.is_empty());
    }

    #[test]
    fn a_told_episode_that_a_segment_takes_in_ends_once() {
        let mut open = OpenEpisodes::default();
        let streams = open.streams_of(&[told("asr")]);
        open.note(&streams, &[accepted(1, true)], Duration::ZERO);
        let segment = [Stream { source: "camera".to_owned(), session: None, perceived: true }];
        let changes = open.note(&segment, &[accepted(1, false)], Duration::from_secs(5));
        assert_eq!(changes, [event(EpisodeChange::Update, 1), event(EpisodeChange::End, 1)]);
        assert_eq!(open.end_idle(Duration::from_secs(90)), []);
    }

    #[test]
    fn duplicates_and_rejections_announce_nothing() {
        let mut open = OpenEpisodes::default();
        let streams = open.streams_of(&[told("asr"), told("asr")]);
        let outcomes = [
            ObserveOutcome::Duplicate { of: Some(EventId(1)) },
            ObserveOutcome::Rejected { message: "no text".to_owned() },
        ];
        assert_eq!(open.note(&streams, &outcomes, Duration::ZERO), []);
    }
}
