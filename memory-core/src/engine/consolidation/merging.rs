//! The transaction that makes one episode of the segments of a stay.

use std::collections::{BTreeMap, BTreeSet};

use redb::ReadableTable;

use crate::centroid::{follow, normalise};
use crate::engine::draft::Draft;
use crate::engine::sequences::{self, Look, Sequence};
use crate::engine::shared;
use crate::engine::vectors::{open_space, quantize, seal_vector, sensed_of};
use crate::episodic::consolidation::{Joined, joined, may_go_on};
use crate::store::failure::{Result, if_sound};
use crate::store::records::{CONTINUED, EpisodeRow, EventBody, EventRow};
use crate::store::tables;
use crate::{Origin, Sensed};

/// A vector of the senses: its space, and what it is.
type SensedRow = (u32, Sensed, Vec<i16>);

impl Draft<'_> {
    /// Makes one episode of perceived ones, whose numbers come in order of time. The first one keeps its number, and the others
    /// lead to it. `refined`: the vectors of what goes on follow. `false`, and nothing is done, if one of them is not there any more.
    pub(in crate::engine) fn consolidate(&mut self, stay: &[u64], refined: bool) -> Result<bool> {
        let mut bodies = Vec::with_capacity(stay.len());
        for id in stay {
            match self.episode(*id)? {
                Some(body) if body.origin == Origin::Perceived => bodies.push(body.clone()),
                _ => return Ok(false),
            }
        }
        let (Some(kept), Some(last)) = (stay.first().copied(), bodies.last().cloned()) else { return Ok(false) };
        if stay.len() < 2 {
            return Ok(false);
        }

        let mut members: Vec<(u64, EventBody)> = Vec::new();
        for id in stay {
            for member in tables::members_of(&*self.tables.members, *id)? {
                members.push((member, self.live_event(member)?));
            }
        }
        let mut sensed: BTreeMap<u64, Vec<SensedRow>> = BTreeMap::new();
        for (id, _) in &members {
            sensed.insert(*id, self.sensed_rows(*id)?);
        }
        let is_track =
            |id: &u64| sensed[id].iter().any(|(_, sensed, _)| matches!(sensed, Sensed::Face | Sensed::Voice));
        let going_on: Vec<(u64, EventBody)> =
            members.iter().filter(|(id, body)| may_go_on(body, is_track(id))).cloned().collect();
        let groups = joined(going_on);
        let hidden: BTreeSet<u64> = groups.iter().flat_map(|group| group.events.iter().copied()).collect();

        let by_id: BTreeMap<u64, EventBody> = members.into_iter().collect();
        for Joined { events, body } in groups {
            let pose = events.first().map(|first| self.pose(*first)).transpose()?.flatten();
            let whole = self.insert_posed(EventBody { episode: kept, ..body }, pose)?;
            self.put_mean(whole, &events, &sensed, refined)?;
            self.put_looks(whole, &events, &sensed, &by_id)?;
            let row = EventRow::Superseded { by: whole, supersedes: None, digest: CONTINUED };
            for event in events {
                self.hide_event(event, &by_id[&event], &row)?;
            }
        }
        for (id, _) in by_id.iter().filter(|(id, body)| !hidden.contains(id) && body.episode != kept) {
            self.move_event(*id, kept)?;
        }

        let end = bodies.iter().map(|body| body.end).max().unwrap_or(last.end);
        for (id, body) in stay.iter().zip(&bodies).skip(1) {
            // So that they stay known.
            for (key, _) in self.segments_of(body)? {
                self.tables.segments.insert(key.as_slice(), kept)?;
            }
            self.close_episode(*id, &EpisodeRow::Merged { into: kept })?;
        }
        let degraded: BTreeSet<String> = bodies.into_iter().flat_map(|body| body.degraded).collect();
        let body = self.episode_of_event(kept)?;
        body.end = end;
        body.boundary = last.boundary;
        body.degraded = degraded.into_iter().collect();
        if let (Some(own), Some(last)) = (&mut body.stream, last.stream) {
            own.1 = own.1.max(last.1);
        }
        let start = body.start;
        self.tables.segment_times.insert((start, kept), end)?;
        self.head.longest_segment = self.head.longest_segment.max(end.abs_diff(start));
        Ok(true)
    }

    /// Reads the embeddings of the senses of an event. A damaged vector counts as none.
    pub(super) fn sensed_rows(&self, event: u64) -> Result<Vec<SensedRow>> {
        let mut rows = Vec::new();
        for number in self.spaces() {
            let Some(space) = self.tables.spaces.get(*number)? else { continue };
            let Some(space) = if_sound(open_space(*number, space.value()))? else { continue };
            let Some(sensed) = sensed_of(&space) else { continue };
            let Some(sealed) = self.tables.vectors.get((*number, event))? else { continue };
            let vector =
                if_sound(shared::open(&*self.tables.vectors, *number, event, space.dimensions, sealed.value()))?
                    .flatten();
            rows.extend(vector.map(|vector| (*number, sensed, vector)));
        }
        Ok(rows)
    }

    /// Gives an event the vectors of the events that it is made of: each space's moving average, in order of time.
    fn put_mean(
        &mut self,
        whole: u64,
        parts: &[u64],
        sensed: &BTreeMap<u64, Vec<SensedRow>>,
        refined: bool,
    ) -> Result<()> {
        // With the first vector, which bounds how far the average drifts.
        let mut means: BTreeMap<u32, (Vec<f32>, Vec<f32>)> = BTreeMap::new();
        for (number, _, vector) in parts.iter().filter_map(|part| sensed.get(part)).flatten() {
            let mut vector: Vec<f32> = vector.iter().map(|component| f32::from(*component)).collect();
            normalise(&mut vector);
            match means.get_mut(number) {
                Some((mean, first)) if refined => follow(mean, first, &vector),
                Some(_) => {}
                None => drop(means.insert(*number, (vector.clone(), vector))),
            }
        }
        for (number, (mean, _)) in means {
            self.tables.vectors.insert((number, whole), seal_vector(number, whole, &quantize(&mean)).as_slice())?;
        }
        Ok(())
    }

    /// Gives an event the looks of the pictures of the events that it is made of. A part that shows one look has it in its vector.
    fn put_looks(
        &mut self,
        whole: u64,
        parts: &[u64],
        sensed: &BTreeMap<u64, Vec<SensedRow>>,
        bodies: &BTreeMap<u64, EventBody>,
    ) -> Result<()> {
        let mut sequences: BTreeMap<u32, Sequence> = BTreeMap::new();
        for part in parts {
            let Some((from, _)) = bodies.get(part).and_then(|body| body.stream) else { continue };
            let pictures = sensed.get(part).into_iter().flatten().filter(|(_, kind, _)| *kind == Sensed::Picture);
            for (number, _, vector) in pictures {
                let own = self.sequence(*number, *part)?;
                let sequence = sequences.entry(*number).or_default();
                own.looks().iter().for_each(|look| sequence.push(look.clone()));
                if own.looks().is_empty() {
                    let signature = sequences::planes(vector.len()).signature(vector);
                    signature.into_iter().for_each(|signature| sequence.push(Look { from, signature }));
                }
            }
        }
        for (number, sequence) in sequences {
            self.put_sequence(number, whole, &sequence)?;
        }
        Ok(())
    }
}
