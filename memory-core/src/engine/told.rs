//! Told observations: identifies duplicates and corrections, and chooses the episode.

use redb::ReadableTable;

use super::admit;
use super::draft::Draft;
use super::poses::{self, PoseRow, said};
use crate::episodic::{self, StreamKey};
use crate::store::failure::{Result, if_sound};
use crate::store::journal::Journal;
use crate::store::records::{Digest, EpisodeBody, EventBody, EventRow, forgotten_key, joined};
use crate::store::tables;
use crate::{EpisodeId, EventId, ObserveOutcome, Origin, Timestamp, Told};

/// Maximum number of corrections of one observation through which a late redelivery is traced.
const MAX_CHAIN: usize = 32;

impl Draft<'_> {
    /// Takes a told observation.
    pub(crate) fn tell(&mut self, told: Told, journal: &Journal) -> Result<ObserveOutcome> {
        let redelivered = told.redelivered;
        let (pose, robot_pose) = (told.pose.clone(), told.robot_pose.clone());
        let body = match admit::admit_told(told, self.moment) {
            Ok(body) => body,
            Err(message) => return Ok(ObserveOutcome::Rejected { message }),
        };
        let pose = match poses::admit(pose, robot_pose) {
            Ok(pose) => pose,
            Err(error) => return Ok(ObserveOutcome::Rejected { message: error.to_string() }),
        };
        let identity = body.identity();
        if let Some(key) = &identity {
            let known = self.tables.identity.get(key.as_slice())?.map(|value| value.value());
            if let Some(known) = known {
                return self.tell_again(known, body, pose, key, redelivered);
            }
            if self.tables.identity.get(forgotten_key(key).as_slice())?.is_some() {
                return Ok(was_forgotten());
            }
        }
        let digest = (!body.has_key()).then(|| body.digest(said(pose.as_ref()).as_ref()));
        if let (true, Some(digest)) = (redelivered, &digest)
            && let Some(of) = match self.changes.unkeyed.get(digest).copied().or_else(|| journal.find(digest)) {
                Some(of) => Some(of),
                None => self.forgotten_lately(digest)?,
            }
        {
            self.changes.duplicates += 1;
            return Ok(ObserveOutcome::Duplicate { of: Some(of) });
        }

        let (episode, opened) = self.place(&body)?;
        let id = self.insert_posed(EventBody { episode, ..body }, pose)?;
        self.head.observations = self.head.observations.saturating_add(1);
        if let Some(key) = &identity {
            self.tables.identity.insert(key.as_slice(), id)?;
        }
        if let Some(digest) = digest {
            self.changes.unkeyed.insert(digest, EventId(id));
        }
        Ok(ObserveOutcome::Accepted { episode: EpisodeId(episode), opened, events: vec![EventId(id)] })
    }

    /// Takes an observation whose key is there already.
    fn tell_again(
        &mut self,
        known: u64,
        body: EventBody,
        pose: Option<PoseRow>,
        key: &[u8],
        redelivered: bool,
    ) -> Result<ObserveOutcome> {
        let old = match if_sound(tables::event_row(&*self.tables.events, known))? {
            Some(Some(EventRow::Live(old))) => old,
            Some(Some(EventRow::Forgotten { .. })) => return Ok(was_forgotten()),
            Some(Some(EventRow::Superseded { .. }) | None) | None => {
                let message = "the stored observation with this `source`, `id` and `at` is damaged; run `engram check`, \
                               and tell it with another `id`";
                return Ok(ObserveOutcome::Rejected { message: message.into() });
            }
        };
        let old_pose = self.pose(known)?;
        if old.content() == body.content() && said(old_pose.as_ref()) == said(pose.as_ref()) {
            self.changes.duplicates += 1;
            return Ok(ObserveOutcome::Duplicate { of: Some(EventId(known)) });
        }
        if redelivered && let Some(of) = self.corrected_before(&old, &body.digest(said(pose.as_ref()).as_ref()))? {
            self.changes.duplicates += 1;
            return Ok(ObserveOutcome::Duplicate { of: Some(of) });
        }

        // The same key means the same moment, so the old event's episode is the right one.
        let episode = old.episode;
        self.extend(episode, &body)?;
        let digest = old.digest(said(old_pose.as_ref()).as_ref());
        let supersedes = old.supersedes;
        // The robot was where it was, whatever is said anew.
        let pose = pose.or(old_pose.filter(|pose| !pose.told));
        let by = self.insert_posed(EventBody { episode, supersedes: Some(known), ..body }, pose)?;
        self.hide_event(known, &old, &EventRow::Superseded { by, supersedes, digest })?;
        self.settle()?;
        self.tables.identity.insert(key, by)?;
        self.head.observations = self.head.observations.saturating_add(1);
        Ok(ObserveOutcome::Corrected { superseded: EventId(known), by: EventId(by), episode: EpisodeId(episode) })
    }

    /// The forgotten event with this content, if it was forgotten in the last minutes: until then its sender may not know that it was
    /// taken in, and the journal of an earlier run is rebuilt without it.
    fn forgotten_lately(&self, digest: &Digest) -> Result<Option<EventId>> {
        let Some(id) = self.tables.identity.get(forgotten_key(digest).as_slice())?.map(|value| value.value()) else {
            return Ok(None);
        };
        let row = if_sound(tables::event_row(&*self.tables.events, id))?.flatten();
        let Some(EventRow::Forgotten { at }) = row else { return Ok(None) };
        let lately = self.was_behind(id)? || Journal::is_recent(Timestamp::from_micros(at), self.now);
        Ok(lately.then_some(EventId(id)))
    }

    /// The superseded version with this content.
    fn corrected_before(&self, newest: &EventBody, digest: &Digest) -> Result<Option<EventId>> {
        let mut older = newest.supersedes;
        for _ in 0..MAX_CHAIN {
            let Some(id) = older else { break };
            match tables::event_row(&*self.tables.events, id)? {
                Some(EventRow::Superseded { digest: found, .. }) if found == *digest => return Ok(Some(EventId(id))),
                Some(EventRow::Superseded { supersedes, .. }) => older = supersedes,
                _ => break,
            }
        }
        Ok(None)
    }

    /// The episode of a told event, and whether it was opened for it.
    fn place(&mut self, body: &EventBody) -> Result<(u64, bool)> {
        if let Some(segment) = self.segment_at(body.start, &body.source)? {
            return Ok((segment, false));
        }
        let stream = StreamKey::from_event(body);
        let key = match &stream {
            StreamKey::Session(name) => joined(&[b"session", name.as_bytes()], &[]),
            StreamKey::Source(name) => joined(&[b"source", name.as_bytes()], &[]),
        };
        let last = self.tables.streams.get(key.as_slice())?.map(|value| value.value());
        if let Some(last) = last
            && let Some(Some(episode)) = if_sound(self.episode(last))?
            && episodic::continues(episode, body)
        {
            self.extend(last, body)?;
            return Ok((last, false));
        }
        let opened = self.open_episode(EpisodeBody {
            origin: Origin::Told,
            start: body.start,
            end: body.end,
            stream: None,
            source: body.source.clone(),
            session: match stream {
                StreamKey::Session(name) => Some(name),
                StreamKey::Source(_) => None,
            },
            boundary: None,
            media: None,
            degraded: Vec::new(),
            events: 0,
        });
        self.tables.streams.insert(key.as_slice(), opened)?;
        Ok((opened, true))
    }

    /// A told episode reaches from its first begin to its last end; a segment keeps its own span.
    fn extend(&mut self, episode: u64, body: &EventBody) -> Result<()> {
        let episode = self.episode_of_event(episode)?;
        if episode.origin == Origin::Told {
            episode.start = episode.start.min(body.start);
            episode.end = episode.end.max(body.end);
        }
        Ok(())
    }

    /// The visible segment that contains a moment: of the same source if there is one, else the one that began last.
    fn segment_at(&self, at: i64, source: &str) -> Result<Option<u64>> {
        let reach = i64::try_from(self.head.longest_segment).unwrap_or(i64::MAX);
        let earliest = at.saturating_sub(reach);
        let mut found = None;
        for entry in self.tables.segment_times.range((earliest, 0)..=(at, u64::MAX))?.rev() {
            let (key, end) = entry?;
            let (_, segment) = key.value();
            if end.value() < at {
                continue;
            }
            match if_sound(self.source_of(segment))?.flatten() {
                Some(own) if own == source => return Ok(Some(segment)),
                Some(_) => found = found.or(Some(segment)),
                None => {}
            }
        }
        Ok(found)
    }
}

/// A sender that repeats its history must not bring back what a person had forgotten.
fn was_forgotten() -> ObserveOutcome {
    let message = "the observation with this `source`, `id` and `at` was forgotten on request and stays forgotten; tell \
                   it with another `id` if it is to be remembered again";
    ObserveOutcome::Rejected { message: message.into() }
}
