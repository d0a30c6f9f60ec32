//! Exports every visible observation as it was told or perceived.

use std::collections::{BTreeMap, BTreeSet};

use redb::ReadTransaction;

use super::handle::Engine;
use super::poses::PoseRow;
use super::shared;
use super::vectors::{open_space, sensed_of};
use crate::store::failure::{Failure, Result, if_sound};
use crate::store::records::{EPISODE, EVENT, EpisodeBody, EpisodeRow, EventBody, EventRow, Space};
use crate::store::tables::{self, EPISODES, EVENTS, ReadTables, SPACES};
use crate::{
    Boundary, EventId, Exported, MaintenanceError, Observation, Origin, Perceived, PerceivedEvent, SensedEmbedding,
    StreamSpan, Told,
};

impl Engine {
    pub(crate) fn export(
        &self,
        visit: &mut dyn FnMut(Exported) -> Result<(), MaintenanceError>,
    ) -> Result<(), MaintenanceError> {
        let _alone = self.alone()?;
        let snapshot = self.database.read()?;
        let reader = ExportReader::new(&snapshot)?;
        let mut segments = BTreeSet::new();
        let events = snapshot.open_table(EVENTS).map_err(Failure::from)?;
        for entry in events.range::<u64>(..).map_err(Failure::from)? {
            let (key, value) = entry.map_err(Failure::from)?;
            let id = key.value();
            let row = if_sound(tables::open_numbered(EVENT, id, value.value()))?;
            let Some(EventRow::Live(body)) = row else { continue };
            let exported = match body.origin {
                Origin::Told => if_sound(reader.export_told(id, body))?,
                Origin::Perceived if segments.insert(body.episode) => reader.segment(body.episode)?,
                Origin::Perceived => None,
            };
            exported.map_or(Ok(()), &mut *visit)?;
        }
        let episodes = snapshot.open_table(EPISODES).map_err(Failure::from)?;
        for entry in episodes.range::<u64>(..).map_err(Failure::from)? {
            let (key, value) = entry.map_err(Failure::from)?;
            let id = key.value();
            let row = if_sound(tables::open_numbered(EPISODE, id, value.value()))?;
            let perceived = matches!(row, Some(EpisodeRow::Live(body)) if body.origin == Origin::Perceived);
            if perceived && !segments.contains(&id) {
                reader.segment(id)?.map_or(Ok(()), &mut *visit)?;
            }
        }
        Ok(())
    }
}

struct ExportReader {
    tables: ReadTables,
    /// Spaces of the senses.
    spaces: BTreeMap<u32, Space>,
}

impl ExportReader {
    fn new(snapshot: &ReadTransaction) -> Result<Self> {
        let mut spaces = BTreeMap::new();
        for entry in snapshot.open_table(SPACES)?.range::<u32>(..)? {
            let (key, value) = entry?;
            let space = open_space(key.value(), value.value())?;
            if sensed_of(&space).is_some() {
                spaces.insert(key.value(), space);
            }
        }
        Ok(Self { tables: ReadTables::open(snapshot)?, spaces })
    }

    /// A told event as it was told. Its own time is known, also where its sender did not say it.
    fn export_told(&self, id: u64, body: EventBody) -> Result<Exported> {
        let event = body.into_event(id, None)?;
        let pose = if_sound(self.tables.pose(id))?.flatten();
        let said = pose.as_ref().is_some_and(|pose| pose.told);
        let pose = pose.map(PoseRow::into_pose);
        let (pose, robot_pose) = if said { (pose, None) } else { (None, pose) };
        let told = Told {
            id: event.sender_id,
            kind: event.kind,
            text: event.text,
            at: Some(event.span.start),
            until: (event.span.end != event.span.start).then_some(event.span.end),
            source: event.source,
            entity: event.entity,
            attributes: event.attributes,
            confidence: Some(event.confidence),
            pose,
            robot_pose,
            redelivered: false,
        };
        Ok(Exported { observation: Observation::Told(told), events: vec![EventId(id)] })
    }

    /// A segment with what was perceived in it; what was told meanwhile is told by itself.
    fn segment(&self, id: u64) -> Result<Option<Exported>> {
        let Some((id, body)) = if_sound(self.tables.live_episode(id))?.flatten() else { return Ok(None) };
        let mut events = Vec::new();
        let mut perceived = Vec::new();
        for member in self.tables.members_of(id)? {
            let Some(event) = if_sound(self.tables.live_event(member))?.flatten() else { continue };
            if event.origin == Origin::Perceived
                && let Some(event) = if_sound(self.event(member, event, &body))?
            {
                events.push(EventId(member));
                perceived.push(event);
            }
        }
        let episode = body.to_episode(id, Vec::new());
        let segment = Perceived {
            source: episode.source,
            session: episode.session.unwrap_or_default(),
            start: episode.span.start,
            end: episode.span.end,
            stream: episode.stream.unwrap_or(EMPTY_STREAM_SPAN),
            boundary: body.boundary.unwrap_or(Boundary::End),
            events: perceived,
            media: episode.media,
            degraded: episode.degraded,
        };
        Ok(Some(Exported { observation: Observation::Perceived(segment), events }))
    }

    fn event(&self, id: u64, body: EventBody, episode: &EpisodeBody) -> Result<PerceivedEvent> {
        let event = self.tables.posed(body.into_event(id, Some(episode))?)?;
        let mut embeddings = Vec::new();
        for (number, space) in &self.spaces {
            let Some(sealed) = self.tables.vectors.get((*number, id))? else { continue };
            let vector = shared::open(&self.tables.vectors, *number, id, space.dimensions, sealed.value())?;
            let Some(vector) = vector else { continue };
            let name = space.name.split_once(':').map_or("", |(_, name)| name);
            embeddings.extend(sensed_of(space).map(|sensed| SensedEmbedding {
                sensed,
                space: name.to_owned(),
                vector: vector.into_iter().map(f32::from).collect(),
                sequence: Vec::new(),
            }));
        }
        Ok(PerceivedEvent {
            kind: event.kind,
            modality: event.modality,
            text: event.text,
            start: event.span.start,
            end: event.span.end,
            stream: event.stream.unwrap_or(EMPTY_STREAM_SPAN),
            entity: event.entity,
            attributes: event.attributes,
            confidence: event.confidence,
            pose: event.pose,
            embeddings,
        })
    }
}

const EMPTY_STREAM_SPAN: StreamSpan = StreamSpan { start: std::time::Duration::ZERO, end: std::time::Duration::ZERO };
