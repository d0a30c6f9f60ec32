//! One consistent state of the memory, for one question or list.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use super::published::Published;
use super::shared;
use super::vectors;
use crate::episodic::consolidation::PlaceSpace;
use crate::episodic::gist::Line;
use crate::episodic::{MAX_GAP, SUMMARY_EVENTS, summarize};
use crate::index::{PlaceMap, PositionIndex, Search, SearchQuery};
use crate::learning::Learnt;
use crate::ports::{AnswerExtractor, TextEmbedder};
use crate::recall::{LookInside, Reader};
use crate::semantic::Fact;
use crate::store::failure::{Failure, Result, if_sound};
use crate::store::records::{EVENT, EpisodeBody, EventRow};
use crate::store::tables::{self, ENTITY, PLACE, ReadTables};
use crate::words::fold_name;
use crate::{
    AbsentRole, Attributes, Clock, Entity, Episode, EpisodeFilter, EpisodeId, EpisodeListPage, EpisodePage,
    EpisodeSummary, Event, EventId, EventPage, FactFilter, Near, ReadError, Sensed, TimeSpan, Timestamp, Value,
};

/// Default number of episodes on a page.
const DEFAULT_PAGE: usize = 50;
/// Maximum number of episodes on a page.
const MAX_PAGE: usize = 1000;

/// Number of episodes that a list by time reads one by one, latest first, before it uses the time index.
const MAX_SCANNED: usize = 2_000;
/// Number of episodes between two checks of the time budget.
const EPISODES_PER_CHECK: usize = 64;

/// The index as it was published, and the tables as they are now: never older than the index.
pub(crate) struct View {
    pub published: Arc<Published>,
    pub tables: ReadTables,
    pub zone: jiff::tz::TimeZone,
    pub clock: Arc<dyn Clock>,
}

impl View {
    pub(crate) fn find_event(&self, id: EventId) -> Result<Option<Event>> {
        match self.tables.present_event(id.0)? {
            Some((id, body)) => {
                // Without its episode an event still says what it says.
                let episode = if_sound(self.tables.live_episode(body.episode))?.flatten();
                let event = body.into_event(id, episode.as_ref().map(|(_, episode)| episode))?;
                self.tables.posed(event).map(Some)
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

    /// An episode with a page of its events.
    pub(crate) fn episode_page(&self, id: EpisodeId, page: EventPage) -> Result<Option<EpisodePage>> {
        let Some((id, body)) = self.tables.live_episode(id.0)? else { return Ok(None) };
        let members = self.tables.members_of(id)?;
        let first = page.after.map_or(0, |after| members.partition_point(|member| *member <= after.0));
        let (mut events, mut bytes, mut next) = (Vec::new(), 0_usize, None);
        for &member in &members[first..] {
            let Some(event) = self.events_of(&body, &[member])?.pop() else { continue };
            let size = event.text.len() + weight(&event.attributes);
            if !events.is_empty() && (events.len() >= page.limit || bytes + size > page.bytes) {
                next = events.last().map(|last: &Event| last.id);
                break;
            }
            bytes += size;
            events.push(event);
        }
        let episode = body.to_episode(id, members.into_iter().map(EventId).collect());
        Ok(Some(EpisodePage { episode, events, next }))
    }

    fn events_of(&self, episode: &EpisodeBody, members: &[u64]) -> Result<Vec<Event>> {
        let mut events = Vec::with_capacity(members.len());
        for &member in members {
            let read = || {
                let missing = || Failure::damaged(EVENT.table, member, "`members` names it as visible, and it is not");
                let event = self.tables.live_event(member)?.ok_or_else(missing)?.into_event(member, Some(episode))?;
                self.tables.posed(event)
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
                if let Some(event) = if_sound(body.into_event(id, episode.as_ref().map(|(_, episode)| episode)))? {
                    events.push(self.tables.posed(event)?);
                }
            }
        }
        Ok(events)
    }

    /// Visible events with a pose in a circle after `after`, in order of commit.
    pub(crate) fn list_events_near(&self, near: &Near, after: Option<EventId>, limit: usize) -> Result<Vec<Event>> {
        let ids = self.published.positions.index.near(near);
        let from = ids.partition_point(|id| after.is_some_and(|after| *id <= after));
        let mut events = Vec::new();
        for id in &ids[from..] {
            if events.len() >= limit {
                break;
            }
            events.extend(if_sound(self.find_event(*id))?.flatten());
        }
        Ok(events)
    }

    /// A page of episodes, newest first.
    pub(crate) fn list_episodes(&self, filter: &EpisodeFilter) -> Result<EpisodeListPage> {
        let limit = filter.limit.unwrap_or(DEFAULT_PAGE).clamp(1, MAX_PAGE);
        let before = filter.cursor.map_or(u64::MAX, |cursor| cursor.0);
        let begin = self.clock.monotonic();
        let mut page = EpisodeListPage { episodes: Vec::new(), next: None };
        let mut seen = 0_usize;
        let mut visit = |id: u64| -> Result<bool> {
            seen += 1;
            if seen.is_multiple_of(EPISODES_PER_CHECK) {
                self.check_time(begin, filter.budget)?;
            }
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
                for (number, entry) in self.tables.episodes.range(..before)?.rev().enumerate() {
                    let id = entry?.0.value();
                    // What is far back is looked for by its time, not read one by one.
                    if let Some(span) = filter.span.filter(|_| number == MAX_SCANNED) {
                        for id in self.episodes_in(span)?.into_iter().rev().filter(|other| *other <= id) {
                            if !visit(id)? {
                                break;
                            }
                        }
                        break;
                    }
                    if !visit(id)? {
                        break;
                    }
                }
            }
        }
        Ok(page)
    }

    fn check_time(&self, begin: Duration, budget: Option<Duration>) -> Result<()> {
        match budget {
            Some(budget) if self.clock.monotonic().saturating_sub(begin) >= budget => Err(Failure::Late(budget)),
            _ => Ok(()),
        }
    }

    /// Episodes that may overlap a span: told ones by their events, which are no farther apart than an episode bears, and
    /// segments by their own times.
    fn episodes_in(&self, span: TimeSpan) -> Result<BTreeSet<u64>> {
        let wide = TimeSpan::new(span.start.saturating_sub(MAX_GAP), span.end.saturating_add(MAX_GAP));
        let query = SearchQuery { span: Some(wide), limit: usize::MAX, ..SearchQuery::default() };
        let mut found: BTreeSet<u64> =
            self.published.search.search(&query).into_iter().map(|hit| hit.episode.0).collect();
        let reach = Duration::from_micros(self.published.longest_segment);
        let times = (span.start.saturating_sub(reach).as_micros(), 0)..=(span.end.as_micros(), u64::MAX);
        for entry in self.tables.segment_times.range(times)? {
            found.insert(entry?.0.value().1);
        }
        Ok(found)
    }

    /// Episodes with an event in a circle, ascending.
    fn episodes_near(&self, near: &Near, span: Option<TimeSpan>) -> Vec<u64> {
        let near = self.published.positions.index.near(near);
        let search = &self.published.search;
        let mut found: Vec<u64> = if span.is_none() {
            search.episodes_of(&near).into_iter().map(|episode| episode.0).collect()
        } else {
            let query = SearchQuery { span, only: Some(near.into()), limit: usize::MAX, ..SearchQuery::default() };
            search.search(&query).into_iter().map(|hit| hit.episode.0).collect()
        };
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Facts as a person lists them.
    pub(crate) fn list_facts(&self, filter: &FactFilter) -> Result<Vec<Fact>, ReadError> {
        let begin = self.clock.monotonic();
        let late = || self.check_time(begin, filter.budget).is_err();
        let facts = self.learnt().list_facts(filter, &late);
        facts.map_err(|_| ReadError::Deadline(filter.budget.unwrap_or_default()))
    }

    /// Episodes with the entity, the place and the circle that the filter names, ascending; `None` if it names nothing.
    fn candidates(&self, filter: &EpisodeFilter) -> Result<Option<Vec<u64>>> {
        let facet = |facet: u8, name: &str| -> Result<Vec<u64>> {
            let name = fold_name(name);
            let rows = self.tables.facets.range((facet, name.as_str(), 0)..=(facet, name.as_str(), u64::MAX))?;
            let mut episodes = rows.map(|entry| Ok(entry?.1.value().0)).collect::<Result<Vec<u64>>>()?;
            episodes.sort_unstable();
            episodes.dedup();
            Ok(episodes)
        };
        let of_entity = filter.entity.as_deref().map(|name| facet(ENTITY, name)).transpose()?;
        let at_place = |name: &str| -> Result<Vec<u64>> {
            let mut episodes = facet(PLACE, name)?;
            for other in self.published.positions.places.names().others(name) {
                episodes.extend(facet(PLACE, other)?);
            }
            episodes.sort_unstable();
            episodes.dedup();
            Ok(episodes)
        };
        let at_place = filter.place.as_deref().map(at_place).transpose()?;
        let near = filter.near.as_ref().map(|near| self.episodes_near(near, filter.span));
        let both = |one: Option<Vec<u64>>, other: Option<Vec<u64>>| match (one, other) {
            (Some(mut episodes), Some(other)) => {
                episodes.retain(|id| other.binary_search(id).is_ok());
                Some(episodes)
            }
            (one, other) => one.or(other),
        };
        Ok(both(both(of_entity, at_place), near))
    }

    fn visible(&self, id: u64) -> Result<Option<EpisodeBody>> {
        let found = if_sound(self.tables.live_episode(id))?.flatten();
        Ok(found.filter(|(own, _)| *own == id).map(|(_, body)| body))
    }

    fn summary(&self, id: u64, body: &EpisodeBody) -> Result<EpisodeSummary> {
        let members = self.tables.members_of(id)?;
        let first = self.events_of(body, &members[..members.len().min(SUMMARY_EVENTS)])?;
        let episode = body.to_episode(id, members.into_iter().map(EventId).collect());
        let pose = first.iter().find_map(|event| event.pose.clone());
        Ok(EpisodeSummary { episode, summary: summarize(&first), pose })
    }

    /// Entities by how many events name them.
    pub(crate) fn list_entities(&self, limit: usize) -> Result<Vec<Entity>> {
        struct FoundEntity {
            folded: String,
            first: u64,
            events: u64,
            start: i64,
            end: i64,
        }
        let mut found: Vec<FoundEntity> = Vec::new();
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
                None => found.push(FoundEntity { folded: name.to_owned(), first: event, events: 1, start, end }),
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

/// About how many bytes attributes take when they are written out.
fn weight(attributes: &Attributes) -> usize {
    fn value_bytes(value: &Value) -> usize {
        match value {
            Value::Text(text) => text.len() + 4,
            Value::List(items) => items.iter().map(value_bytes).sum::<usize>() + 4,
            Value::Map(items) => items.iter().map(|(key, value)| key.len() + 4 + value_bytes(value)).sum::<usize>() + 4,
            Value::Null | Value::Bool(_) | Value::Integer(_) | Value::Number(_) => 12,
        }
    }
    attributes.iter().map(|(key, value)| key.len() + 4 + value_bytes(value)).sum()
}

impl Reader for View {
    fn search(&self) -> &dyn Search {
        self.published.search.as_ref()
    }

    fn event(&self, id: EventId) -> Result<Option<Event>, ReadError> {
        // A question is answered from what is sound.
        Ok(if_sound(self.find_event(id))?.flatten())
    }

    fn episode(&self, id: EpisodeId) -> Result<Option<Episode>, ReadError> {
        Ok(if_sound(self.find_episode(id))?.flatten())
    }

    fn embedder(&self) -> Option<&dyn TextEmbedder> {
        self.published.embedder.as_deref()
    }

    fn vector(&self, id: EventId) -> Option<Vec<i16>> {
        let (number, dimensions) = self.published.space?;
        // A damaged vector is told and made again where the space is taken into use; here the signature stands for it.
        let row = self.tables.vectors.get((number, id.0)).ok()??;
        shared::open(&self.tables.vectors, number, id.0, dimensions, row.value()).ok()?
    }

    fn picture_texts(&self) -> Option<&dyn TextEmbedder> {
        self.published.picture_texts.as_deref()
    }

    fn extractor(&self) -> Option<&dyn AnswerExtractor> {
        self.published.extractor.as_deref()
    }

    fn place_spaces(&self) -> &[PlaceSpace] {
        &self.published.place_spaces
    }

    fn sensed_vectors(&self, ids: &[EventId], sensed: Sensed, space: &str) -> Vec<Option<Vec<i16>>> {
        let nothing = || vec![None; ids.len()];
        let Ok(Some((number, dimensions))) = vectors::find_sensed(&self.tables.spaces, sensed, space) else {
            return nothing();
        };
        ids.iter().map(|id| self.sensed_vector(*id, number, dimensions).ok().flatten()).collect()
    }

    fn looks(&self, id: EventId, space: &str, wanted: &[f32]) -> Vec<LookInside> {
        // A damaged record counts as none: the event's own vector stands for it.
        self.looks_inside(id, space, wanted).unwrap_or_default()
    }

    fn positions(&self) -> Option<&PositionIndex> {
        Some(&self.published.positions.index)
    }

    fn places(&self) -> Option<&PlaceMap> {
        Some(&self.published.positions.places)
    }

    fn place_namings(&self) -> Result<Vec<(String, TimeSpan)>, ReadError> {
        Ok(self.namings()?)
    }

    fn lines(&self, span: TimeSpan) -> Result<Vec<Line>, ReadError> {
        // The end of a span is part of it.
        let after = span.end.saturating_add(Duration::from_micros(1));
        Ok(self.lines_of(TimeSpan::new(span.start, after), true)?)
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
