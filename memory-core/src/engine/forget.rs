//! Forgetting: the transaction that hides events also removes their content.

use std::collections::BTreeSet;

use redb::ReadableTable;

use super::draft::Draft;
use super::forget_search::{ForgetMatches, Meant, Name, has_pronoun};
use super::handle::Engine;
use crate::learning::Learnt;
use crate::store::failure::{Result, if_sound};
use crate::store::journal::Journal;
use crate::store::records::{EpisodeBody, EpisodeRow, EventBody, EventRow, PURGE, Purge, forgotten_key};
use crate::store::tables::{self, ENTITY};
use crate::words::fold_name;
use crate::{ForgetReply, ForgetRequest, ForgottenRecording, Origin, TimeSpan, Timestamp};

/// Maximum number of doubtful events that are listed; all are counted.
const MAX_LISTED_DOUBTS: usize = 100;

impl Engine {
    /// Looks for what `request` means, before the writer's lock is taken: it takes as long as reading every event.
    pub(super) fn look_for(&self, request: &ForgetRequest) -> Result<ForgetMatches> {
        let mut found = ForgetMatches::default();
        let view = self.view()?;
        if let Some(meant) = condition(request, view.learnt()) {
            found.look_through(&view.tables.events, &meant)?;
        }
        Ok(found)
    }
}

/// Returns the condition for an event to be forgotten; `None` if the request lists the events.
fn condition(request: &ForgetRequest, learnt: &Learnt) -> Option<Meant> {
    match request {
        ForgetRequest::Episodes(_) => None,
        ForgetRequest::Span(span) => Some(Meant::Span(*span)),
        ForgetRequest::Entity(name) => {
            let others = learnt.anchors().also_called(name);
            Some(Meant::Names([name].into_iter().chain(&others).map(|name| Name::new(name)).collect()))
        }
    }
}

impl Draft<'_> {
    /// Hides what `request` names. `found`: what [`Engine::look_for`] found a moment ago.
    ///
    /// An entity is also forgotten under its other names, where it was recognised by face or voice, and wherever a text or an
    /// attribute names it.
    pub(crate) fn forget(
        &mut self,
        request: &ForgetRequest,
        learnt: &Learnt,
        mut found: ForgetMatches,
    ) -> Result<ForgetReply> {
        let mut episodes = BTreeSet::new();
        if let Some(meant) = condition(request, learnt) {
            found.look_through(&*self.tables.events, &meant)?;
        }
        let mut events = std::mem::take(&mut found.events);
        match request {
            ForgetRequest::Episodes(ids) => {
                for id in ids {
                    if let Some(id) = self.present_episode(id.0)? {
                        episodes.insert(id);
                        events.extend(tables::members_of(&*self.tables.members, id)?);
                    }
                }
            }
            ForgetRequest::Entity(name) => {
                events.extend(self.events_of_entity(name)?);
                self.forgotten_names.push(name.clone());
                for other in learnt.anchors().also_called(name) {
                    events.extend(self.events_of_entity(&other)?);
                    self.forgotten_names.push(other);
                }
                if let Some(person) = learnt.anchors().find(name) {
                    events.extend(learnt.anchors().events_of(person).into_iter().map(|event| event.0));
                }
            }
            ForgetRequest::Span(span) => {
                self.segments_in(*span, &mut episodes)?;
                events.extend(self.damaged_in(*span, &found.damaged)?);
            }
        }

        self.part_stays(request, &mut events, &mut episodes)?;

        let mut reply = ForgetReply::default();
        let at = self.now.as_micros();
        let by_name = matches!(request, ForgetRequest::Entity(_));
        for event in events {
            let Some(row) = if_sound(tables::event_row(&*self.tables.events, event))? else {
                // What it says is lost, and forgotten all the same.
                if let Some(episode) = self.hide_damaged(event, at)? {
                    episodes.insert(episode);
                    reply.events += 1;
                }
                continue;
            };
            let Some(EventRow::Live(body)) = row else { continue };
            self.heal_episode(body.episode)?;
            episodes.insert(body.episode);
            self.hide_event(event, &body, &EventRow::Forgotten { at })?;
            self.forget_versions(event, &body, at)?;
            reply.events += 1;
        }
        let mut doubtful = BTreeSet::new();
        for id in episodes {
            self.heal_episode(id)?;
            if by_name {
                doubtful.extend(self.with_pronouns(id)?);
            }
            let Some(Some(episode)) = if_sound(self.episode(id))? else { continue };
            // The recording still shows what was forgotten, so nothing leads to it any more, and it must go.
            let media = episode.media.take();
            let recorded = (episode.origin == Origin::Perceived).then(|| ForgottenRecording {
                source: Some(episode.source.clone()),
                span: episode.span(),
                media,
            });
            if episode.events == 0 {
                let body = episode.clone();
                self.close_episode(id, &EpisodeRow::Forgotten { at })?;
                self.forget_keys(id, &body)?;
                reply.episodes += 1;
            } else {
                self.dirty = true;
            }
            reply.recordings.extend(recorded);
        }
        if let ForgetRequest::Span(span) = request {
            self.note_forgotten_span(*span)?;
            // Also what was recorded and never became a segment.
            reply.recordings.push(ForgottenRecording { source: None, span: *span, media: None });
        }
        self.purge(&reply.recordings)?;
        if self.dirty {
            self.head.forgotten_since.get_or_insert(at);
        }
        self.settle()?;
        if by_name {
            doubtful.extend(&found.damaged);
            let doubtful = found.in_doubt(doubtful, &self.changes.hidden);
            reply.doubtful = doubtful.len() as u64;
            reply.in_doubt = doubtful.into_iter().take(MAX_LISTED_DOUBTS).collect();
        }
        Ok(reply)
    }

    /// Parts the stays of which not everything is meant, so that the rest is kept. `events` and `episodes` are then those that are
    /// meant of the parts.
    fn part_stays(
        &mut self,
        request: &ForgetRequest,
        events: &mut BTreeSet<u64>,
        episodes: &mut BTreeSet<u64>,
    ) -> Result<()> {
        match request {
            ForgetRequest::Episodes(_) => {}
            ForgetRequest::Span(span) => {
                for episode in std::mem::take(episodes) {
                    for (_, part) in self.part(episode, *span)? {
                        if self.live_event(part)?.span().overlaps(*span) {
                            events.insert(part);
                        }
                    }
                }
                self.segments_in(*span, episodes)?;
            }
            ForgetRequest::Entity(_) => {
                let mut to_part: Vec<u64> = events.iter().copied().collect();
                while let Some(event) = to_part.pop() {
                    let row = if_sound(tables::event_row(&*self.tables.events, event))?.flatten();
                    let Some(EventRow::Live(body)) = row else { continue };
                    for (whole, part) in self.part(body.episode, body.span())? {
                        if events.contains(&whole) {
                            events.insert(part);
                            to_part.push(part);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Events of a told episode that speak of somebody without a name.
    fn with_pronouns(&self, episode: u64) -> Result<Vec<u64>> {
        let mut found = Vec::new();
        for member in tables::members_of(&*self.tables.members, episode)? {
            let body = if_sound(self.live_event(member))?;
            if body.is_some_and(|body| body.origin == Origin::Told && has_pronoun(&body.text)) {
                found.push(member);
            }
        }
        Ok(found)
    }

    /// Forgets what else is known of a forgotten event: its key, which from now on cannot be read, and the digests of the
    /// versions that it had corrected. Of one without a key that may still be redelivered, what its content is known by takes its place.
    fn forget_versions(&mut self, id: u64, body: &EventBody, at: i64) -> Result<()> {
        if let Some(key) = body.identity() {
            self.tables.identity.remove(key.as_slice())?;
            self.tables.identity.insert(forgotten_key(&key).as_slice(), id)?;
        } else if body.origin == Origin::Told
            && (self.was_behind(id)? || Journal::is_recent(Timestamp::from_micros(body.received), self.now))
        {
            let digest = self.stored_digest(id, body)?;
            self.tables.identity.insert(forgotten_key(&digest).as_slice(), id)?;
        }
        let mut older = body.supersedes;
        while let Some(version) = older {
            let row = if_sound(tables::event_row(&*self.tables.events, version))?.flatten();
            let Some(EventRow::Superseded { supersedes, .. }) = row else { break };
            self.tables.put_event(version, &EventRow::Forgotten { at })?;
            older = supersedes;
        }
        Ok(())
    }

    /// Forgets the names of the session and the source of an episode that is gone.
    fn forget_keys(&mut self, id: u64, body: &EpisodeBody) -> Result<()> {
        if let Some(key) = body.stream_key() {
            let leads_here = self.tables.streams.get(key.as_slice())?.is_some_and(|episode| episode.value() == id);
            if leads_here {
                self.tables.streams.remove(key.as_slice())?;
            }
        }
        match body.segment_key() {
            Some(key) => {
                for (key, _) in self.segments_of(body)? {
                    self.forget_segment(&key)?;
                }
                self.forget_segment(&key)?;
            }
            // Of a segment whose record was damaged only the tables know the key.
            None if body.origin == Origin::Perceived => {
                for key in self.keys_of_segment(id)? {
                    self.forget_segment(&key)?;
                }
            }
            None => {}
        }
        Ok(())
    }

    pub(super) fn forget_segment(&mut self, key: &[u8]) -> Result<()> {
        self.tables.segments.remove(key)?;
        self.tables.segments.insert(forgotten_key(key).as_slice(), 0)?;
        Ok(())
    }

    /// Keeps in mind which recordings must go, until somebody says that they are gone.
    pub(super) fn purge(&mut self, recordings: &[ForgottenRecording]) -> Result<()> {
        let mut number = self.tables.purges.last()?.map_or(0, |(key, _)| key.value());
        for ForgottenRecording { source, span, media } in recordings {
            number += 1;
            let (start, end) = (span.start.as_micros(), span.end.as_micros());
            let purge = Purge { source: source.clone(), start, end, media: media.clone() };
            self.tables.purges.insert(number, tables::seal_numbered(PURGE, number, &purge).as_slice())?;
            self.dirty = true;
        }
        Ok(())
    }

    fn events_of_entity(&self, name: &str) -> Result<BTreeSet<u64>> {
        let name = fold_name(name);
        let rows = self.tables.facets.range((ENTITY, name.as_str(), 0)..=(ENTITY, name.as_str(), u64::MAX))?;
        rows.map(|entry| Ok(entry?.0.value().2)).collect()
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
