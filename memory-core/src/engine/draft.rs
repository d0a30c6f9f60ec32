//! A write transaction before its commit: the changes of the tables, and the changes that the state in memory needs afterwards.

use std::collections::{BTreeMap, BTreeSet};

use redb::ReadableTable;

use super::admit::SpaceVector;
use super::changes;
use super::poses::PoseRow;
use super::shared::{self, Release};
use super::vectors;
use super::wall::CommitTime;
use crate::index::{Document, Rename};
use crate::learning::{Learnt, Withdrawal};
use crate::semantic::is_read;
use crate::store::envelope;
use crate::store::failure::{Failure, Result, if_sound};
use crate::store::records::{
    BEHIND, CONTINUED, Digest, EPISODE, EVENT, EpisodeBody, EpisodeRow, EventBody, EventRow, Head,
};
use crate::store::tables::{self, ENTITY, PLACE, WriteTables};
use crate::words::fold_name;
use crate::{EpisodeId, EventId, Origin, Timestamp};

/// Changes in memory that follow a committed transaction.
#[derive(Default)]
pub(crate) struct Changes {
    /// New documents in order of ids.
    pub appended: Vec<Document>,
    /// The poses of those that have one.
    pub posed: Vec<(EventId, PoseRow)>,
    /// The poses of those that were hidden.
    pub unposed: Vec<(EventId, PoseRow)>,
    /// New names of places.
    pub renamed: Vec<Rename>,
    /// Events whose renames were taken back.
    pub unrenamed: Vec<EventId>,
    /// Documents that changed their episode, in order of the moves.
    pub moved: Vec<(EventId, EpisodeId)>,
    /// Documents that are not to be seen any more.
    pub hidden: Vec<EventId>,
    /// Hashes of their entities' names.
    pub hidden_entities: Vec<u64>,
    /// The first of them of every source that facts may be read from; `None` where the source is not known.
    pub first_hidden: BTreeMap<Option<String>, EventId>,
    /// Folded entity names and by how much their counts of visible events change.
    pub entities: BTreeMap<String, i64>,
    /// Told observations that only their content identifies.
    pub unkeyed: BTreeMap<Digest, EventId>,
    /// Repetitions that were dropped.
    pub duplicates: u64,
}

impl Changes {
    /// Notes an event that is hidden, of which facts may have been read.
    pub fn note_first(&mut self, source: Option<String>, event: EventId) {
        let first = self.first_hidden.entry(source).or_insert(event);
        *first = event.min(*first);
    }
}

/// Shared by everything that writes: events come, go and change their episode here and nowhere else.
pub(crate) struct Draft<'t> {
    pub tables: WriteTables<'t>,
    pub head: Head,
    pub changes: Changes,
    pub now: Timestamp,
    pub moment: CommitTime,
    /// Whether anything must be committed.
    pub dirty: bool,
    /// Visible episodes that this transaction has touched, written once at its end.
    episodes: BTreeMap<u64, EpisodeBody>,
    /// Told episodes that lost an event at one of their ends.
    pub(super) shrunk: BTreeSet<u64>,
    /// Numbers of the embedding spaces.
    spaces: Vec<u32>,
    /// Space, event and sealed vector of what was hidden: what was learnt from it is to be taken back.
    pub hidden_vectors: Vec<(u32, u64, Vec<u8>)>,
    /// Names that are to be forgotten.
    pub forgotten_names: Vec<String>,
    /// Begins of the hours in which an event came or went, and whether one went whose time is not known.
    pub(super) hours: BTreeSet<i64>,
    pub(super) unknown_hours: bool,
}

/// Result of a transaction before its commit.
#[expect(clippy::large_enum_variant, reason = "it is made once a transaction, and taken apart at once")]
pub(crate) enum Drafted<T> {
    /// The tables changed: they are to be committed.
    Changed {
        value: T,
        head: Head,
        changes: Changes,
        /// What remains learnt after a withdrawal.
        learnt: Option<(Learnt, Withdrawal)>,
    },
    /// There is nothing to commit.
    Unchanged {
        /// `None` if it could not be done yet.
        value: Option<T>,
        duplicates: u64,
    },
}

impl<'t> Draft<'t> {
    pub(crate) fn new(tables: WriteTables<'t>, moment: CommitTime) -> Result<Self> {
        let head = tables::head(&*tables.meta)?;
        let spaces = tables.spaces.iter()?.map(|entry| Ok(entry?.0.value())).collect::<Result<_>>()?;
        Ok(Self {
            tables,
            head,
            changes: Changes::default(),
            now: moment.now,
            moment,
            dirty: false,
            episodes: BTreeMap::new(),
            shrunk: BTreeSet::new(),
            spaces,
            hidden_vectors: Vec::new(),
            forgotten_names: Vec::new(),
            hours: BTreeSet::new(),
            unknown_hours: false,
        })
    }

    /// Writes what was kept back. Afterwards the transaction can be committed.
    pub(crate) fn finish(mut self) -> Result<(Head, Changes)> {
        self.head.seq += 1;
        for (id, body) in std::mem::take(&mut self.episodes) {
            self.tables.put_episode(id, &EpisodeRow::Live(body))?;
        }
        self.touch_gists()?;
        self.tables.put_head(&self.head)?;
        if let (true, Some(first), Some(last)) =
            (self.moment.behind, self.changes.appended.first(), self.changes.appended.last())
        {
            let mut behind = tables::behind(&*self.tables.meta)?;
            behind.extend(first.id.0, last.id.0);
            self.tables.meta.insert("behind", envelope::seal(BEHIND, b"behind", &behind).as_slice())?;
        }
        changes::note(&mut self.tables.changes, &self.changes)?;
        Ok((self.head, self.changes))
    }

    /// Whether an event was told while the clock was behind, lately.
    pub(super) fn was_behind(&self, event: u64) -> Result<bool> {
        Ok(tables::behind(&*self.tables.meta)?.has(event))
    }

    /// A visible episode, to be changed; `None` if it is merged, forgotten or unknown.
    pub(crate) fn episode(&mut self, id: u64) -> Result<Option<&mut EpisodeBody>> {
        use std::collections::btree_map::Entry;
        match self.episodes.entry(id) {
            Entry::Occupied(entry) => Ok(Some(entry.into_mut())),
            Entry::Vacant(entry) => match tables::episode_row(&*self.tables.episodes, id)? {
                Some(EpisodeRow::Live(body)) => Ok(Some(entry.insert(body))),
                _ => Ok(None),
            },
        }
    }

    /// A visible episode that this transaction has touched.
    pub(crate) fn touched(&self, id: u64) -> Option<&EpisodeBody> {
        self.episodes.get(&id)
    }

    /// The episode of a visible event.
    pub(crate) fn episode_of_event(&mut self, id: u64) -> Result<&mut EpisodeBody> {
        self.episode(id)?.ok_or_else(|| Failure::damaged(EPISODE.table, id, "its events are visible, and it is not"))
    }

    /// Opens an episode.
    pub(crate) fn open_episode(&mut self, body: EpisodeBody) -> u64 {
        self.head.last_episode += 1;
        self.head.episodes = self.head.episodes.saturating_add(1);
        self.episodes.insert(self.head.last_episode, body);
        self.dirty = true;
        self.head.last_episode
    }

    /// Takes an episode without events out of sight.
    pub(crate) fn close_episode(&mut self, id: u64, row: &EpisodeRow) -> Result<()> {
        if let Some(body) = self.episode(id)?.cloned() {
            self.tables.segment_times.remove((body.start, id))?;
            self.episodes.remove(&id);
            self.head.episodes = self.head.episodes.saturating_sub(1);
        }
        self.dirty = true;
        self.tables.put_episode(id, row)
    }

    /// Adds a visible event to its episode, which must be open.
    pub(crate) fn insert_event(&mut self, body: EventBody) -> Result<u64> {
        self.head.last_event += 1;
        self.head.events = self.head.events.saturating_add(1);
        self.dirty = true;
        let id = self.head.last_event;
        self.note_hour(body.start);
        let episode = self.episode_of_event(body.episode)?;
        episode.events = episode.events.saturating_add(1);
        self.link(id, &body)?;
        let episode = self.episode_of_event(body.episode)?.clone();
        self.changes.appended.push(Document::of(&body.clone().into_event(id, Some(&episode))?));
        if let Some(entity) = &body.entity {
            *self.changes.entities.entry(fold_name(entity)).or_default() += 1;
        }
        self.tables.put_event(id, &EventRow::Live(body))?;
        Ok(id)
    }

    /// Numbers of the embedding spaces.
    pub(super) fn spaces(&self) -> &[u32] {
        &self.spaces
    }

    /// Keeps what the senses' encoders made of a visible event.
    pub(crate) fn put_vectors(&mut self, id: u64, vectors: &[SpaceVector]) -> Result<()> {
        for SpaceVector { space, vector, sequence } in vectors {
            let number = vectors::number_of(&mut self.tables, space)?;
            if !self.spaces.contains(&number) {
                self.spaces.push(number);
            }
            self.tables.vectors.insert((number, id), vectors::seal_vector(number, id, vector).as_slice())?;
            self.put_sequence(number, id, sequence)?;
        }
        Ok(())
    }

    /// Takes a visible event out of sight. Its episode may be left without events, which the caller must see to.
    pub(crate) fn hide_event(&mut self, id: u64, body: &EventBody, row: &EventRow) -> Result<()> {
        self.unlink(id, body)?;
        self.note_hour(body.start);
        self.hide_row(id, row)?;
        self.changes.hidden.push(EventId(id));
        self.changes.hidden_entities.push(changes::entity_hash(body.entity.as_deref()));
        if is_read(body.origin, body.kind) {
            self.changes.note_first(Some(body.source.clone()), EventId(id));
        }
        if let Some(entity) = &body.entity {
            *self.changes.entities.entry(fold_name(entity)).or_default() -= 1;
        }
        self.leave(body)
    }

    /// Takes the content of a visible event away, with its vectors.
    pub(super) fn hide_row(&mut self, id: u64, row: &EventRow) -> Result<()> {
        self.dirty = true;
        let mut stale = self.remove_vectors(
            id,
            match row {
                EventRow::Superseded { by, digest: CONTINUED, .. } => Release::PartOf(*by),
                _ => Release::Forgotten,
            },
        )?;
        stale += self.remove_pose(id)?;
        stale += self.remove_place(id)?;
        stale += self.tables.put_event(id, row)?;
        self.head.stale_bytes = self.head.stale_bytes.saturating_add(stale as u64);
        self.head.events = self.head.events.saturating_sub(1);
        self.head.hidden = self.head.hidden.saturating_add(1);
        Ok(())
    }

    /// Takes the vectors of an event away, and it from those that have a shared one; how many bytes went.
    pub(super) fn remove_vectors(&mut self, id: u64, why: Release) -> Result<usize> {
        let mut stale = 0;
        let mut released = Vec::new();
        for space in &self.spaces {
            stale += self.tables.sequences.remove((*space, id))?.map_or(0, |row| row.value().len());
            let removed = self.tables.vectors.remove((*space, id))?.map(|vector| vector.value().to_vec());
            let Some(vector) = removed else { continue };
            stale += vector.len();
            match shared::leads_to(*space, id, &vector) {
                // Persons, of whom something was learnt, share none.
                Some(key) => released.push((*space, key)),
                None => self.hidden_vectors.push((*space, id, vector)),
            }
        }
        for (space, key) in released {
            stale += shared::release(&mut self.tables.vectors, space, id, key, why)?;
        }
        Ok(stale)
    }

    /// Has an episode whose record is damaged written anew.
    pub(super) fn put_together(&mut self, id: u64, body: EpisodeBody) {
        self.episodes.insert(id, body);
    }

    /// Moves a visible told event into a segment. Its former episode may be left without events.
    pub(crate) fn move_event(&mut self, id: u64, segment: u64) -> Result<()> {
        let mut body = self.live_event(id)?;
        self.unlink(id, &body)?;
        self.leave(&body)?;
        body.episode = segment;
        let episode = self.episode_of_event(segment)?;
        episode.events = episode.events.saturating_add(1);
        self.link(id, &body)?;
        self.tables.put_event(id, &EventRow::Live(body))?;
        self.changes.moved.push((EventId(id), EpisodeId(segment)));
        Ok(())
    }

    pub(crate) fn live_event(&self, id: u64) -> Result<EventBody> {
        match tables::event_row(&*self.tables.events, id)? {
            Some(EventRow::Live(body)) => Ok(body),
            _ => Err(Failure::damaged(EVENT.table, id, "a table names it as visible, and it is not")),
        }
    }

    /// The rows by which a visible event is found. Told events outside of segments wait for one by their time.
    fn link(&mut self, id: u64, body: &EventBody) -> Result<()> {
        self.tables.members.insert((body.episode, id), ())?;
        let value = (body.episode, body.start, body.end);
        if let Some(entity) = &body.entity {
            self.tables.facets.insert((ENTITY, fold_name(entity).as_str(), id), value)?;
        }
        if let Some(place) = body.place() {
            self.tables.facets.insert((PLACE, place.as_str(), id), value)?;
        }
        if self.episode_of_event(body.episode)?.origin == Origin::Told {
            self.tables.told_times.insert((body.start, id), body.episode)?;
        }
        Ok(())
    }

    fn unlink(&mut self, id: u64, body: &EventBody) -> Result<()> {
        self.tables.members.remove((body.episode, id))?;
        if let Some(entity) = &body.entity {
            self.tables.facets.remove((ENTITY, fold_name(entity).as_str(), id))?;
        }
        if let Some(place) = body.place() {
            self.tables.facets.remove((PLACE, place.as_str(), id))?;
        }
        self.tables.told_times.remove((body.start, id))?;
        Ok(())
    }

    /// Counts an event out of its episode. Its ends may have moved, which `settle` sees to.
    fn leave(&mut self, body: &EventBody) -> Result<()> {
        let episode = self.episode_of_event(body.episode)?;
        // The number is read from the disk: a damaged one must not end the program.
        episode.events = episode.events.saturating_sub(1);
        if episode.origin == Origin::Told && (episode.start == body.start || episode.end == body.end) {
            self.shrunk.insert(body.episode);
        }
        Ok(())
    }

    /// Brings the spans of told episodes that lost events up to date. Called once after every observation or request.
    pub(crate) fn settle(&mut self) -> Result<()> {
        for episode in std::mem::take(&mut self.shrunk) {
            if self.episode(episode)?.is_none_or(|episode| episode.events == 0 || episode.origin != Origin::Told) {
                continue;
            }
            let (mut start, mut end) = (i64::MAX, i64::MIN);
            for member in tables::members_of(&*self.tables.members, episode)? {
                if let Some(member) = if_sound(self.live_event(member))? {
                    start = start.min(member.start);
                    end = end.max(member.end);
                }
            }
            if start <= end {
                let episode = self.episode_of_event(episode)?;
                (episode.start, episode.end) = (start, end);
            }
        }
        Ok(())
    }
}
