//! Forgetting: the content of events goes in the transaction that hides them.

use std::collections::BTreeSet;

use redb::ReadableTable;

use super::draft::Draft;
use super::failure::{Result, if_sound};
use super::records::{EVENT, EpisodeRow, EventRow, fold};
use super::tables::{self, ENTITY};
use crate::{EpisodeId, ForgetReply, ForgetRequest, TimeSpan};

impl Draft<'_> {
    /// Hides what `request` names.
    pub(crate) fn forget(&mut self, request: &ForgetRequest) -> Result<ForgetReply> {
        let mut episodes = BTreeSet::new();
        let events = match request {
            ForgetRequest::Episodes(ids) => self.events_of_episodes(ids, &mut episodes)?,
            ForgetRequest::Entity(name) => self.events_of_entity(name)?,
            ForgetRequest::Span(span) => {
                self.segments_in(*span, &mut episodes)?;
                self.events_in(*span)?
            }
        };

        let mut reply = ForgetReply::default();
        let at = self.now.as_micros();
        for event in events {
            let Some(body) = if_sound(self.live_event(event))? else { continue };
            if if_sound(self.source_of(body.episode))?.is_none() {
                continue;
            }
            episodes.insert(body.episode);
            self.hide_event(event, &body, &EventRow::Forgotten { at })?;
            reply.events += 1;
        }
        for id in episodes {
            let Some(Some(episode)) = if_sound(self.episode(id))? else { continue };
            // The recording still shows what was forgotten, so nothing leads to it any more.
            episode.media = None;
            if episode.events == 0 {
                self.close_episode(id, &EpisodeRow::Forgotten { at })?;
                reply.episodes += 1;
            } else {
                self.dirty = true;
            }
        }
        self.settle()?;
        Ok(reply)
    }

    fn events_of_episodes(&self, ids: &[EpisodeId], episodes: &mut BTreeSet<u64>) -> Result<BTreeSet<u64>> {
        let mut events = BTreeSet::new();
        for id in ids {
            if let Some((id, _)) = tables::live_episode(&self.tables.episodes, id.0)? {
                episodes.insert(id);
                events.extend(tables::members_of(&self.tables.members, id)?);
            }
        }
        Ok(events)
    }

    fn events_of_entity(&self, name: &str) -> Result<BTreeSet<u64>> {
        let name = fold(name);
        let rows = self.tables.facets.range((ENTITY, name.as_str(), 0)..=(ENTITY, name.as_str(), u64::MAX))?;
        rows.map(|entry| Ok(entry?.0.value().2)).collect()
    }

    /// Every visible event that overlaps the span. Reads all of them: forgetting is rare, and must not miss one whose
    /// record a secondary table has lost.
    fn events_in(&self, span: TimeSpan) -> Result<BTreeSet<u64>> {
        let mut events = BTreeSet::new();
        for entry in self.tables.events.iter()? {
            let (key, value) = entry?;
            let id = key.value();
            match if_sound(tables::open_numbered(EVENT, id, value.value()))? {
                Some(EventRow::Live(body)) if body.span().overlaps(span) => {
                    events.insert(id);
                }
                _ => {}
            }
        }
        Ok(events)
    }

    /// Segments that overlap the span, also those in which nothing happened.
    fn segments_in(&self, span: TimeSpan, episodes: &mut BTreeSet<u64>) -> Result<()> {
        let reach = i64::try_from(self.head.longest_segment).unwrap_or(i64::MAX);
        let earliest = span.start.as_micros().saturating_sub(reach);
        let latest = span.end.as_micros();
        for entry in self.tables.segment_times.range((earliest, 0)..=(latest, u64::MAX))? {
            let (key, end) = entry?;
            if end.value() >= span.start.as_micros() {
                episodes.insert(key.value().1);
            }
        }
        Ok(())
    }
}

/// Whether the request names something.
pub(crate) fn validate(request: &ForgetRequest) -> std::result::Result<(), String> {
    match request {
        ForgetRequest::Episodes(ids) if ids.is_empty() => Err("`episodes` is empty; name at least one".into()),
        ForgetRequest::Entity(name) if name.trim().is_empty() => Err("`entity` is empty; name one".into()),
        ForgetRequest::Span(span) if span.end < span.start => Err("the span ends before it starts".into()),
        _ => Ok(()),
    }
}
