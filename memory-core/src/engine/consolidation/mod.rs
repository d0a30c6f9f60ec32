//! Consolidation in the background: looks through perceived episodes in order of commit, finds stays, and makes each one episode.
//!
//! What was looked through is kept in memory. The store has a number up to which everything is done, so that a restart goes on
//! from there; whatever is looked at a second time is found as it was left.

mod merging;
mod parting;
mod places;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use redb::ReadTransaction;

use super::handle::Engine;
use super::poses::PoseRow;
use super::shared;
use super::vectors::{open_space, sensed_of};
use crate::centroid::normalise;
use crate::episodic::consolidation::{ConsolidationOptions, PlaceSpace, Sketch, gamma};
use crate::ports::LongWork;
use crate::store::envelope::{self, RecordType};
use crate::store::failure::{Failure, Result, if_sound};
use crate::store::records::{EPISODE, EpisodeBody, EpisodeRow};
use crate::store::tables::{self, EPISODES, META, ReadTables, SPACES, VECTORS};
use crate::{ObserveError, Origin, Sensed};
use places::PlacesBySpace;

/// The number of the last episode up to which everything is done.
const DONE: RecordType = RecordType { table: "meta", tag: 12, version: 1 };
/// Key of the number of the last episode up to which everything is consolidated.
const PROGRESS_KEY: &str = "consolidated";

/// Maximum number of episodes that one call scans.
const MAX_SCANNED_EPISODES: usize = 256;
/// Maximum number of stays that wait to be merged.
const MAX_READY_STAYS: usize = 64;
/// How far, in microseconds, the end of a segment just perceived may lie ahead of the clock.
const MAX_AHEAD_US: i64 = 60_000_000;
/// Maximum number of segments that one transaction merges. It holds the writer's lock for some milliseconds.
const MAX_MERGED_SEGMENTS: usize = 32;

/// A stay that may go on, and the segments of it that are to become one.
struct OpenStay {
    sketch: Sketch,
    segments: Vec<u64>,
    /// Monotonic time of the last look that went on with it.
    last: Duration,
}

/// Progress since the start.
#[derive(Default)]
pub(super) struct ConsolidationProgress {
    options: ConsolidationOptions,
    /// The last episode that was looked at; `None` before the first look.
    looked: Option<u64>,
    /// Open stays by source and session.
    stays: BTreeMap<(String, String), OpenStay>,
    /// Segments that are to become one episode, and stays of one segment, whose place is to be found.
    ready: VecDeque<Vec<u64>>,
    places: PlacesBySpace,
}

impl ConsolidationProgress {
    /// The number up to which nothing waits.
    fn done(&self) -> u64 {
        let waiting = self.stays.values().flat_map(|stay| &stay.segments).chain(self.ready.iter().flatten());
        let first = waiting.min().map(|first| first.saturating_sub(1));
        first.unwrap_or(u64::MAX).min(self.looked.unwrap_or(0))
    }

    /// Stays that one transaction takes.
    fn next_stays(&mut self) -> Vec<Vec<u64>> {
        let mut stays: Vec<Vec<u64>> = Vec::new();
        let mut segments = 0;
        while let Some(stay) = self.ready.front() {
            segments += stay.len();
            if segments > MAX_MERGED_SEGMENTS && !stays.is_empty() {
                break;
            }
            stays.extend(self.ready.pop_front());
        }
        stays
    }

    /// Takes in the next segment of its source and session.
    fn take_in(&mut self, next: Sketch, now: Duration) {
        let key = (next.source.clone(), next.session.clone());
        match self.stays.get_mut(&key) {
            Some(stay) if stay.sketch.takes_in(&next) => {
                stay.sketch.extend(&next, self.options.refined);
                stay.segments.push(next.episode);
                stay.last = now;
                if stay.segments.len() == MAX_MERGED_SEGMENTS {
                    let kept = stay.segments[0];
                    self.ready.push_back(std::mem::replace(&mut stay.segments, vec![kept]));
                }
            }
            _ => {
                let segments = vec![next.episode];
                let before = self.stays.insert(key, OpenStay { sketch: next, segments, last: now });
                self.ready.extend(before.map(|stay| stay.segments));
            }
        }
    }

    /// Whether nothing has gone on with a stay for as long as a segment must be old.
    fn is_over(&self, stay: &OpenStay, now: Duration) -> bool {
        now.saturating_sub(stay.last) >= self.options.after
    }

    /// Ends the stays that are over.
    fn end_stays(&mut self, now: Duration) {
        let is_over = |stay: &OpenStay| self.is_over(stay, now);
        let over: Vec<(String, String)> =
            self.stays.iter().filter(|(_, stay)| is_over(stay)).map(|(key, _)| key.clone()).collect();
        for key in over {
            let stay = self.stays.remove(&key);
            self.ready.extend(stay.map(|stay| stay.segments));
        }
    }
}

impl Engine {
    pub(crate) fn set_consolidation(&self, options: ConsolidationOptions) {
        self.consolidation.lock().options = options;
    }

    pub(crate) fn set_place_spaces(&self, mut spaces: Vec<PlaceSpace>) {
        spaces.retain(PlaceSpace::is_usable);
        // Those that are open were compared by another γ.
        self.consolidation.lock().places = PlacesBySpace::default();
        self.publish_place_spaces(spaces.into());
    }

    /// How many stays and episodes are to be looked at; an estimate that is 0 if there are none.
    pub(crate) fn consolidation_due(&self) -> Result<usize> {
        let progress = self.consolidation.lock();
        if !progress.options.enabled {
            return Ok(0);
        }
        let looked = progress.looked.unwrap_or(0);
        let now = self.clock.monotonic();
        let over = progress.stays.values().any(|stay| progress.is_over(stay, now));
        let waiting = progress.ready.len() + usize::from(over);
        Ok(waiting + usize::from(self.next_is_old_enough(looked, &progress)?))
    }

    /// Looks through the next episodes and makes up to `limit` stays one episode each; how many are left.
    pub(crate) fn consolidate_pending(&self, limit: usize) -> Result<usize, ObserveError> {
        if !self.consolidation.lock().options.enabled {
            return Ok(0);
        }
        if self.consolidation.lock().ready.len() < MAX_READY_STAYS {
            self.look_through()?;
        }
        for _ in 0..limit {
            let stays = self.consolidation.lock().next_stays();
            if stays.is_empty() {
                break;
            }
            self.consolidate(stays)?;
            self.step(LongWork::Learning);
        }
        Ok(self.consolidation_due()?)
    }

    fn consolidate(&self, stays: Vec<Vec<u64>>) -> Result<(), ObserveError> {
        self.prepare_learnt();
        let mut progress = self.consolidation.lock();
        // What is taken here waits no more.
        let done = progress.done();
        let refined = progress.options.refined;
        let known = self.place_spaces();
        let places = &mut progress.places;
        let mut writer = self.writer();
        let made = self.transact(&mut writer, true, |draft, _| {
            for stay in &stays {
                match draft.consolidate(stay, refined) {
                    Ok(_) => {}
                    // Nothing was changed yet.
                    Err(failure @ Failure::Damaged { .. }) => {
                        let problem = tables::describe(failure);
                        tracing::warn!(problem, "segments are not made one, because a record of them is damaged");
                        continue;
                    }
                    Err(failure) => return Err(failure),
                }
                if let Some(kept) = stay.first() {
                    draft.place_pictures(*kept, &known, places, refined)?;
                }
            }
            if draft.dirty {
                let sealed = envelope::seal(DONE, PROGRESS_KEY.as_bytes(), &done);
                draft.tables.meta.insert(PROGRESS_KEY, sealed.as_slice())?;
            }
            Ok(())
        });
        drop(writer);
        if let Err(failure) = made {
            // Tried again; nothing is lost meanwhile.
            progress.places = PlacesBySpace::default();
            stays.into_iter().rev().for_each(|stay| progress.ready.push_front(stay));
            return Err(failure.into());
        }
        Ok(())
    }

    /// Whether there is an episode to be looked at.
    fn next_is_old_enough(&self, looked: u64, progress: &ConsolidationProgress) -> Result<bool> {
        let transaction = self.database.read()?;
        let mut next = transaction.open_table(EPISODES)?.range(looked.saturating_add(1)..)?;
        let Some(entry) = next.next() else { return Ok(false) };
        let (key, value) = entry?;
        let row = if_sound(tables::open_numbered(EPISODE, key.value(), value.value()))?;
        Ok(!matches!(row, Some(EpisodeRow::Live(body)) if self.is_too_young(&body, progress.options)))
    }

    /// Whether a segment is to be looked at later. What is farther ahead of the clock than a segment can be waits for nothing.
    fn is_too_young(&self, body: &EpisodeBody, options: ConsolidationOptions) -> bool {
        let now = self.now();
        let old_enough = now.saturating_sub(options.after).as_micros();
        body.origin == Origin::Perceived
            && body.end > old_enough
            && body.end <= now.as_micros().saturating_add(MAX_AHEAD_US)
    }

    /// Looks through the next episodes that are old enough.
    fn look_through(&self) -> Result<()> {
        let transaction = self.database.read()?;
        let mut progress = self.consolidation.lock();
        let looked = match progress.looked {
            Some(looked) => looked,
            None => stored(&transaction)?,
        };
        progress.looked = Some(looked);
        let now = self.clock.monotonic();
        let read = Sketches::open(&transaction, &self.place_spaces())?;
        let mut came_to_the_end = true;
        for entry in transaction.open_table(EPISODES)?.range(looked.saturating_add(1)..)?.take(MAX_SCANNED_EPISODES) {
            let (key, value) = entry?;
            let id = key.value();
            let row = if_sound(tables::open_numbered(EPISODE, id, value.value()))?;
            if let Some(EpisodeRow::Live(body)) = row {
                if self.is_too_young(&body, progress.options) {
                    break;
                }
                if body.origin == Origin::Perceived
                    && let Some(sketch) = if_sound(read.sketch(id, body))?.flatten()
                {
                    progress.take_in(sketch, now);
                }
            }
            progress.looked = Some(id);
            came_to_the_end = false;
        }
        if came_to_the_end {
            progress.end_stays(now);
        }
        Ok(())
    }
}

fn stored(transaction: &ReadTransaction) -> Result<u64> {
    let meta = transaction.open_table(META)?;
    let Some(row) = meta.get(PROGRESS_KEY)? else { return Ok(0) };
    let done = envelope::open(DONE, PROGRESS_KEY.as_bytes(), row.value());
    Ok(if_sound(done.map_err(|detail| Failure::damaged(DONE.table, PROGRESS_KEY, detail)))?.unwrap_or(0))
}

/// Reads what consolidation compares.
struct Sketches<'t> {
    tables: ReadTables,
    transaction: &'t ReadTransaction,
    /// Spaces of pictures in which places can be told apart: number, dimensions and γ.
    spaces: Vec<(u32, u32, f32)>,
}

impl<'t> Sketches<'t> {
    fn open(transaction: &'t ReadTransaction, known: &[PlaceSpace]) -> Result<Self> {
        let mut spaces = Vec::new();
        for entry in redb::ReadableTable::iter(&transaction.open_table(SPACES)?)? {
            let (key, value) = entry?;
            let Some(space) = if_sound(open_space(key.value(), value.value()))? else { continue };
            if sensed_of(&space) == Some(Sensed::Picture)
                && let Some((_, name)) = space.name.split_once(':')
            {
                spaces.extend(gamma(known, name).map(|gamma| (key.value(), space.dimensions, gamma)));
            }
        }
        Ok(Self { tables: ReadTables::open(transaction)?, transaction, spaces })
    }

    /// `None` for a segment without stream times, which no other can follow.
    fn sketch(&self, id: u64, body: EpisodeBody) -> Result<Option<Sketch>> {
        let Some(stream) = body.stream else { return Ok(None) };
        let vectors = self.transaction.open_table(VECTORS)?;
        let (mut picture, mut pose, mut texts) = (None, None, Vec::new());
        for member in self.tables.members_of(id)? {
            let Some(event) = self.tables.live_event(member)? else { continue };
            if event.origin != Origin::Perceived {
                continue;
            }
            for (space, dimensions, gamma) in &self.spaces {
                if picture.is_none()
                    && let Some(sealed) = vectors.get((*space, member))?
                    && let Some(vector) = shared::open(&vectors, *space, member, *dimensions, sealed.value())?
                {
                    let mut vector: Vec<f32> = vector.into_iter().map(f32::from).collect();
                    normalise(&mut vector);
                    picture = Some((vector, *gamma));
                }
            }
            if pose.is_none() {
                pose = self.tables.pose(member)?.map(PoseRow::into_pose);
            }
            texts.push(event.text);
        }
        texts.sort_unstable();
        let anchor = picture.as_ref().map(|(vector, _)| vector.clone());
        Ok(Some(Sketch {
            episode: id,
            start: body.start,
            end: body.end,
            stream,
            source: body.source,
            session: body.session.unwrap_or_default(),
            media: body.media,
            picture,
            anchor,
            pose,
            texts,
        }))
    }
}
