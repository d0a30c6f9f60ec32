//! Perceived segments.

use std::collections::BTreeMap;

use redb::ReadableTable;

use super::admit;
use super::draft::Draft;
use super::forgotten_spans::Left;
use super::poses;
use crate::store::failure::{Result, if_sound};
use crate::store::records::{EpisodeBody, EpisodeRow, EventBody, forgotten_key, joined, stream_micros};
use crate::store::tables;
use crate::{EpisodeId, EventId, ObserveOutcome, Origin, Perceived};

impl Draft<'_> {
    /// Takes a closed segment. It opens an episode, or becomes one that was told while it was still open.
    pub(crate) fn perceive(&mut self, segment: Perceived) -> Result<ObserveOutcome> {
        if let Err(message) = admit::segment(&segment) {
            return Ok(ObserveOutcome::Rejected { message });
        }
        let stream = stream_micros(segment.stream);
        let key = joined(
            &[segment.source.as_bytes(), segment.session.as_bytes()],
            &[stream.0.cast_signed(), stream.1.cast_signed()],
        );
        let known = self.tables.segments.get(key.as_slice())?.map(|value| value.value());
        if let Some(known) = known {
            self.changes.duplicates += 1;
            let first = tables::members_of(&*self.tables.members, known)?.first().copied().unwrap_or(0);
            return Ok(ObserveOutcome::Duplicate { of: Some(EventId(first)) });
        }
        // Forgotten segments stay forgotten.
        if self.tables.segments.get(forgotten_key(&key).as_slice())?.is_some() {
            self.changes.duplicates += 1;
            return Ok(ObserveOutcome::Duplicate { of: None });
        }
        let segment = match self.cut(segment)? {
            Left::All(segment) => segment,
            Left::Part(segment, recording) => {
                self.purge(&[recording])?;
                segment
            }
            Left::Nothing(recording) => {
                self.purge(&[recording])?;
                self.forget_segment(&key)?;
                self.changes.duplicates += 1;
                return Ok(ObserveOutcome::Duplicate { of: None });
            }
        };
        let mut bodies = Vec::with_capacity(segment.events.len());
        let source = segment.source;
        for mut event in segment.events {
            let pose = match poses::admit(None, event.pose.take()) {
                Ok(pose) => pose,
                Err(error) => return Ok(ObserveOutcome::Rejected { message: error.to_string() }),
            };
            match admit::perceived(event, &source, self.now) {
                Ok(body) => bodies.push((body, pose)),
                Err(message) => return Ok(ObserveOutcome::Rejected { message }),
            }
        }

        let (start, end) = (segment.start.as_micros(), segment.end.as_micros());
        let episode = EpisodeBody {
            origin: Origin::Perceived,
            start,
            end,
            stream: Some(stream),
            source,
            session: Some(segment.session),
            boundary: Some(segment.boundary),
            media: segment.media,
            degraded: segment.degraded,
            events: 0,
        };
        let (id, opened) = self.open_segment(episode)?;
        self.tables.segments.insert(key.as_slice(), id)?;
        self.tables.segment_times.insert((start, id), end)?;
        self.head.longest_segment = self.head.longest_segment.max(end.abs_diff(start));
        self.head.observations = self.head.observations.saturating_add(1);

        let mut events = Vec::with_capacity(bodies.len());
        for ((body, vectors), pose) in bodies {
            let event = self.insert_posed(EventBody { episode: id, ..body }, pose)?;
            self.put_vectors(event, &vectors)?;
            events.push(EventId(event));
        }
        Ok(ObserveOutcome::Accepted { episode: EpisodeId(id), opened, events })
    }

    /// Opens the segment's episode and takes in what was told in its span.
    ///
    /// An episode that was told entirely within the segment becomes the segment's own: it keeps its id, which may have
    /// been announced. Of several the oldest does, and the others merge into it. Of an episode that reaches beyond the
    /// segment only the events inside move.
    fn open_segment(&mut self, segment: EpisodeBody) -> Result<(u64, bool)> {
        let mut told: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for entry in self.tables.told_times.range((segment.start, 0)..=(segment.end, u64::MAX))? {
            let (key, episode) = entry?;
            let (event, episode) = (key.value().1, episode.value());
            if if_sound(self.live_event(event))?.is_some() && if_sound(self.source_of(episode))?.flatten().is_some() {
                told.entry(episode).or_default().push(event);
            }
        }
        let mut adopted = None;
        for (&episode, events) in &told {
            if self.episode_of_event(episode)?.events as usize == events.len() {
                adopted = Some(episode);
                break;
            }
        }
        let id = match adopted {
            Some(id) => {
                let events = told.remove(&id).unwrap_or_default();
                *self.episode_of_event(id)? =
                    EpisodeBody { events: u32::try_from(events.len()).unwrap_or(u32::MAX), ..segment };
                for event in events {
                    let begin = self.live_event(event)?.start;
                    self.tables.told_times.remove((begin, event))?;
                }
                self.dirty = true;
                id
            }
            None => self.open_episode(segment),
        };
        for (episode, events) in told {
            for event in events {
                self.move_event(event, id)?;
            }
            if self.episode_of_event(episode)?.events == 0 {
                self.close_episode(episode, &EpisodeRow::Merged { into: id })?;
            }
        }
        self.settle()?;
        Ok((id, adopted.is_none()))
    }

    /// The source that opened a visible episode.
    pub(super) fn source_of(&self, episode: u64) -> Result<Option<String>> {
        if let Some(body) = self.touched(episode) {
            return Ok(Some(body.source.clone()));
        }
        Ok(match tables::episode_row(&*self.tables.episodes, episode)? {
            Some(EpisodeRow::Live(body)) => Some(body.source),
            _ => None,
        })
    }
}
