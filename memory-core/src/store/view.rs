//! One consistent state of the memory, for one question or list.

use std::sync::Arc;

use super::failure::{Failure, Result, if_sound};
use super::published::Published;
use super::records::{EVENT, EpisodeBody, EventRow, fold};
use super::tables::{self, ENTITY, PLACE, ReadTables};
use super::vectors;
use crate::episodic::{SUMMARY_EVENTS, summarize};
use crate::index::Search;
use crate::learning::Learnt;
use crate::ports::TextEmbedder;
use crate::recall::Reader;
use crate::{
    AbsentRole, Clock, Entity, Episode, EpisodeFilter, EpisodeId, EpisodeSummary, Event, EventId, Page, ReadError,
    Sensed, TimeSpan, Timestamp,
};

/// Episodes of a page where the filter says nothing.
const DEFAULT_PAGE: usize = 50;
/// Most episodes of a page.
const MAX_PAGE: usize = 1000;

/// The index as it was published, and the tables as they are now: never older than the index.
pub(crate) struct View {
    pub published: Arc<Published>,
    pub tables: ReadTables,
    pub zone: jiff::tz::TimeZone,
    pub clock: Arc<dyn Clock>,
}

impl View {
    pub(crate) fn find_event(&self, id: EventId) -> Result<Option<Event>> {
        match self.tables.live_event(id.0)? {
            Some(body) => {
                let episode = self.tables.live_episode(body.episode)?;
                body.into_event(id.0, episode.as_ref().map(|(_, episode)| episode)).map(Some)
            }
            None => Ok(None),
        }
    }

    pub(crate) fn find_episode(&self, id: EpisodeId) -> Result<Option<Episode>> {
        match self.tables.live_episode(id.0)? {
            Some((id, body)) => {
                let events = self.tables.members_of(id)?.into_iter().map(EventId).collect();
                Ok(Some(body.to_episode(id, events)))
            }
            None => Ok(None),
        }
    }

    /// An episode with its events.
    pub(crate) fn whole_episode(&self, id: EpisodeId) -> Result<Option<(Episode, Vec<Event>)>> {
        let Some((id, body)) = self.tables.live_episode(id.0)? else { return Ok(None) };
        let members = self.tables.members_of(id)?;
        let events = self.events_of(&body, &members)?;
        Ok(Some((body.to_episode(id, members.into_iter().map(EventId).collect()), events)))
    }

    fn events_of(&self, episode: &EpisodeBody, members: &[u64]) -> Result<Vec<Event>> {
        let mut events = Vec::with_capacity(members.len());
        for &member in members {
            let read = || {
                let missing = || Failure::damaged(EVENT.table, member, "`members` names it as visible, and it is not");
                self.tables.live_event(member)?.ok_or_else(missing)?.into_event(member, Some(episode))
            };
            events.extend(if_sound(read())?);
        }
        Ok(events)
    }

    /// Visible events after `after`, in order of commit.
    pub(crate) fn list_events(&self, after: Option<EventId>, limit: usize) -> Result<Vec<Event>> {
        let from = after.map_or(0, |after| after.0.saturating_add(1));
        let mut events = Vec::new();
        for entry in self.tables.events.range(from..)? {
            if events.len() >= limit {
                break;
            }
            let (key, value) = entry?;
            let id = key.value();
            if let Some(EventRow::Live(body)) = if_sound(tables::open_numbered(EVENT, id, value.value()))? {
                let episode = if_sound(self.tables.live_episode(body.episode))?.flatten();
                events.extend(if_sound(body.into_event(id, episode.as_ref().map(|(_, episode)| episode)))?);
            }
        }
        Ok(events)
    }

    /// A page of episodes, newest first.
    pub(crate) fn list_episodes(&self, filter: &EpisodeFilter) -> Result<Page> {
        let limit = if filter.limit == 0 { DEFAULT_PAGE } else { filter.limit.min(MAX_PAGE) };
        let before = filter.cursor.map_or(u64::MAX, |cursor| cursor.0);
        let mut page = Page { episodes: Vec::new(), next: None };
        let mut visit = |id: u64| -> Result<bool> {
            let Some(body) = self.visible(id)? else { return Ok(true) };
            if filter.span.is_some_and(|span| !span.overlaps(body.span())) {
                return Ok(true);
            }
            if page.episodes.len() == limit {
                page.next = page.episodes.last().map(|last: &EpisodeSummary| last.episode.id);
                return Ok(false);
            }
            page.episodes.push(self.summary(id, &body)?);
            Ok(true)
        };

        match self.candidates(filter)? {
            Some(candidates) => {
                for id in candidates.into_iter().rev().filter(|id| *id < before) {
                    if !visit(id)? {
                        break;
                    }
                }
            }
            None => {
                for entry in self.tables.episodes.range(..before)?.rev() {
                    if !visit(entry?.0.value())? {
                        break;
                    }
                }
            }
        }
        Ok(page)
    }

    /// Episodes with the entity and the place that the filter names, ascending; `None` if it names neither.
    fn candidates(&self, filter: &EpisodeFilter) -> Result<Option<Vec<u64>>> {
        let facet = |facet: u8, name: &str| -> Result<Vec<u64>> {
            let name = fold(name);
            let rows = self.tables.facets.range((facet, name.as_str(), 0)..=(facet, name.as_str(), u64::MAX))?;
            let mut episodes = rows.map(|entry| Ok(entry?.1.value().0)).collect::<Result<Vec<u64>>>()?;
            episodes.sort_unstable();
            episodes.dedup();
            Ok(episodes)
        };
        let of_entity = filter.entity.as_deref().map(|name| facet(ENTITY, name)).transpose()?;
        let at_place = filter.place.as_deref().map(|name| facet(PLACE, name)).transpose()?;
        Ok(match (of_entity, at_place) {
            (Some(mut episodes), Some(other)) => {
                episodes.retain(|id| other.binary_search(id).is_ok());
                Some(episodes)
            }
            (one, other) => one.or(other),
        })
    }

    fn visible(&self, id: u64) -> Result<Option<EpisodeBody>> {
        let found = if_sound(self.tables.live_episode(id))?.flatten();
        Ok(found.filter(|(own, _)| *own == id).map(|(_, body)| body))
    }

    fn summary(&self, id: u64, body: &EpisodeBody) -> Result<EpisodeSummary> {
        let members = self.tables.members_of(id)?;
        let first = self.events_of(body, &members[..members.len().min(SUMMARY_EVENTS)])?;
        let episode = body.to_episode(id, members.into_iter().map(EventId).collect());
        Ok(EpisodeSummary { episode, summary: summarize(&first) })
    }

    /// Entities by how many events name them.
    pub(crate) fn list_entities(&self, limit: usize) -> Result<Vec<Entity>> {
        struct Found {
            folded: String,
            first: u64,
            events: u64,
            start: i64,
            end: i64,
        }
        let mut found: Vec<Found> = Vec::new();
        for entry in self.tables.facets.range((ENTITY, "", 0)..(ENTITY + 1, "", 0))? {
            let (key, value) = entry?;
            let (_, name, event) = key.value();
            let (_, start, end) = value.value();
            match found.last_mut().filter(|entity| entity.folded == name) {
                Some(entity) => {
                    entity.events += 1;
                    entity.start = entity.start.min(start);
                    entity.end = entity.end.max(end);
                }
                None => found.push(Found { folded: name.to_owned(), first: event, events: 1, start, end }),
            }
        }
        // Rows come in order of names, and the sort is stable: ties stay in that order.
        found.sort_by_key(|entity| std::cmp::Reverse(entity.events));
        found.truncate(limit);
        found
            .into_iter()
            .map(|entity| {
                let told = if_sound(self.tables.live_event(entity.first))?.flatten().and_then(|body| body.entity);
                let name = told.unwrap_or(entity.folded);
                let span = TimeSpan::new(Timestamp::from_micros(entity.start), Timestamp::from_micros(entity.end));
                Ok(Entity { name, events: entity.events, span })
            })
            .collect()
    }
}

impl Reader for View {
    fn search(&self) -> &dyn Search {
        self.published.search.as_ref()
    }

    fn event(&self, id: EventId) -> Result<Option<Event>, ReadError> {
        Ok(self.find_event(id)?)
    }

    fn episode(&self, id: EpisodeId) -> Result<Option<Episode>, ReadError> {
        Ok(self.find_episode(id)?)
    }

    fn embedder(&self) -> Option<&dyn TextEmbedder> {
        self.published.embedder.as_deref()
    }

    fn vector(&self, id: EventId) -> Option<Vec<i16>> {
        let (number, dimensions) = self.published.space?;
        // A damaged vector is told and made again where the space is taken into use; here the signature stands for it.
        let row = self.tables.vectors.get((number, id.0)).ok()??;
        vectors::open_vector(number, id.0, dimensions, row.value()).ok()
    }

    fn picture_texts(&self) -> Option<&dyn TextEmbedder> {
        self.published.picture_texts.as_deref()
    }

    fn sensed_vectors(&self, ids: &[EventId], sensed: Sensed, space: &str) -> Vec<Option<Vec<i16>>> {
        let nothing = || vec![None; ids.len()];
        let Ok(Some((number, dimensions))) = vectors::find_sensed(&self.tables.spaces, sensed, space) else {
            return nothing();
        };
        let vector = |id: &EventId| {
            let row = self.tables.vectors.get((number, id.0)).ok()??;
            vectors::open_vector(number, id.0, dimensions, row.value()).ok()
        };
        ids.iter().map(vector).collect()
    }

    fn absent_roles(&self) -> &[AbsentRole] {
        &self.published.absent
    }

    fn pending_embeddings(&self) -> u64 {
        self.published.stats.pending_embeddings
    }

    fn pending_lessons(&self) -> u64 {
        self.published.stats.pending_lessons
    }

    fn learnt(&self) -> Option<&Learnt> {
        Some(&self.published.learnt)
    }

    fn zone(&self) -> &jiff::tz::TimeZone {
        &self.zone
    }

    fn clock(&self) -> &dyn Clock {
        self.clock.as_ref()
    }
}
