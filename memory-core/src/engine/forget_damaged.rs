//! Forgetting damaged records: a record that does not decode still contains words that must be removed. Its rows in other
//! tables are searched one by one, which is slow and rare.

use std::collections::BTreeSet;

use redb::ReadableTable;

use super::changes::entity_hash;
use super::draft::Draft;
use crate::store::failure::{Failure, Result, if_sound};
use crate::store::records::{EpisodeBody, EpisodeRow, EventRow, forgotten_key};
use crate::store::tables::{self, ENTITY};
use crate::{EventId, Origin, TimeSpan};

impl Draft<'_> {
    /// Puts together anew what can be known of an episode whose record is damaged: its events, and when it was.
    pub(super) fn heal_episode(&mut self, id: u64) -> Result<()> {
        match self.episode(id) {
            Err(Failure::Damaged { .. }) => {}
            Err(failure) => return Err(failure),
            Ok(_) => return Ok(()),
        }
        let mut segment = None;
        for entry in self.tables.segment_times.iter()? {
            let (key, end) = entry?;
            if key.value().1 == id {
                segment = Some((key.value().0, end.value()));
            }
        }
        let members = tables::members_of(&*self.tables.members, id)?;
        let (mut start, mut end) = segment.unwrap_or((i64::MAX, i64::MIN));
        let mut source = String::new();
        for member in &members {
            let Some(body) = if_sound(self.live_event(*member))? else { continue };
            if segment.is_none() {
                (start, end) = (start.min(body.start), end.max(body.end));
            }
            if source.is_empty() || body.origin == Origin::Perceived {
                source = body.source;
            }
        }
        if start > end {
            let now = self.now.as_micros();
            (start, end) = (now, now);
        }
        tracing::warn!(episode = id, "the record of an episode is damaged; it is put together anew from its events");
        self.put_together(
            id,
            EpisodeBody {
                origin: if segment.is_some() { Origin::Perceived } else { Origin::Told },
                start,
                end,
                stream: None,
                source,
                session: None,
                boundary: None,
                media: None,
                degraded: Vec::new(),
                events: u32::try_from(members.len()).unwrap_or(u32::MAX),
            },
        );
        Ok(())
    }

    /// The visible episode of a number, which may have been taken in by another one.
    pub(super) fn present_episode(&mut self, id: u64) -> Result<Option<u64>> {
        self.heal_episode(id)?;
        if self.touched(id).is_some() {
            return Ok(Some(id));
        }
        let Some(EpisodeRow::Merged { into }) = tables::episode_row(&*self.tables.episodes, id)? else {
            return Ok(None);
        };
        self.heal_episode(into)?;
        Ok(self.touched(into).is_some().then_some(into))
    }

    /// The keys of a segment.
    pub(super) fn keys_of_segment(&self, id: u64) -> Result<Vec<Vec<u8>>> {
        let mut keys = Vec::new();
        for entry in self.tables.segments.iter()? {
            let (key, episode) = entry?;
            if episode.value() == id {
                keys.push(key.value().to_vec());
            }
        }
        Ok(keys)
    }

    /// The episode of a visible event whose record is damaged.
    fn episode_of_damaged(&self, event: u64) -> Result<Option<u64>> {
        for entry in self.tables.members.iter()? {
            let (episode, member) = entry?.0.value();
            if member == event {
                return Ok(Some(episode));
            }
        }
        Ok(None)
    }

    /// Returns the damaged visible events whose episodes overlap a span.
    pub(super) fn damaged_in(&mut self, span: TimeSpan, damaged: &BTreeSet<u64>) -> Result<Vec<u64>> {
        let mut found = Vec::new();
        for event in damaged {
            let Some(episode) = self.episode_of_damaged(*event)? else { continue };
            self.heal_episode(episode)?;
            if self.episode(episode)?.is_some_and(|episode| episode.span().overlaps(span)) {
                found.push(*event);
            }
        }
        Ok(found)
    }

    /// Hides a visible event whose record is damaged; its episode, if it was visible.
    pub(super) fn hide_damaged(&mut self, event: u64, at: i64) -> Result<Option<u64>> {
        let Some(episode) = self.episode_of_damaged(event)? else { return Ok(None) };
        self.heal_episode(episode)?;
        self.tables.members.remove((episode, event))?;
        let mut facets = Vec::new();
        for entry in self.tables.facets.iter()? {
            let key = entry?.0;
            let (facet, name, of) = key.value();
            if of == event {
                facets.push((facet, name.to_owned()));
            }
        }
        let mut entity = None;
        for (facet, name) in facets {
            self.tables.facets.remove((facet, name.as_str(), event))?;
            if facet == ENTITY {
                *self.changes.entities.entry(name.clone()).or_default() -= 1;
                entity = Some(name);
            }
        }
        let mut begins = Vec::new();
        for entry in self.tables.told_times.iter()? {
            let (begin, of) = entry?.0.value();
            if of == event {
                begins.push(begin);
            }
        }
        for begin in begins {
            self.tables.told_times.remove((begin, event))?;
        }
        let mut keys = Vec::new();
        for entry in self.tables.identity.iter()? {
            let (key, of) = entry?;
            if of.value() == event {
                keys.push(key.value().to_vec());
            }
        }
        for key in keys {
            self.tables.identity.remove(key.as_slice())?;
            self.tables.identity.insert(forgotten_key(&key).as_slice(), event)?;
        }
        self.unknown_hours = true;
        self.hide_row(event, &EventRow::Forgotten { at })?;
        self.changes.hidden.push(EventId(event));
        self.changes.note_first(None, EventId(event));
        self.changes.hidden_entities.push(entity_hash(entity.as_deref()));
        if let Some(body) = self.episode(episode)? {
            body.events = body.events.saturating_sub(1);
            self.shrunk.insert(episode);
        }
        Ok(Some(episode))
    }
}
