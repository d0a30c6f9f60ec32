//! What was found by looking at a recording again: an event of the episode whose recording shows it, and forgotten with it.

use super::admit;
use super::draft::Draft;
use crate::store::failure::{Result, if_sound};
use crate::store::records::EventBody;
use crate::store::tables;
use crate::{EpisodeId, EventId, Looked, ObserveOutcome, TimeSpan};

impl Draft<'_> {
    /// Takes a derived event, unless its episode or its time was forgotten meanwhile.
    pub(crate) fn take_looked(&mut self, looked: Looked) -> Result<ObserveOutcome> {
        let refused = |message: &str| Ok(ObserveOutcome::Rejected { message: message.to_owned() });
        let Looked { episode, event } = looked;
        let live = if_sound(tables::live_episode(&*self.tables.episodes, episode.0))?.flatten();
        let Some((id, source)) = live.map(|(id, body)| (id, body.source)) else {
            return refused("the episode that the recording shows was forgotten");
        };
        if self.is_forgotten(TimeSpan::new(event.start, event.end.max(event.start)))? {
            return refused("that time was forgotten");
        }
        let (found, vectors) = match admit::perceived(event, &source, self.now) {
            Ok(found) => found,
            Err(message) => return Ok(ObserveOutcome::Rejected { message }),
        };
        for member in tables::members_of(&*self.tables.members, id)? {
            let Some(known) = if_sound(self.live_event(member))? else { continue };
            if known.text == found.text && known.start <= found.end && found.start <= known.end {
                self.changes.duplicates += 1;
                return Ok(ObserveOutcome::Duplicate { of: Some(EventId(member)) });
            }
        }
        let event = self.insert_event(EventBody { episode: id, ..found })?;
        self.put_vectors(event, &vectors)?;
        self.head.observations = self.head.observations.saturating_add(1);
        Ok(ObserveOutcome::Accepted { episode: EpisodeId(id), opened: false, events: vec![EventId(event)] })
    }
}
