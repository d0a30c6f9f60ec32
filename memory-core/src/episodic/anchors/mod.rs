//! Entity anchors (NS-Mem 4.2.1): recognises persons by online clustering of faces and voices.
//!
//! - *Tracks first.* An event's face or voice is one track of one segment, its vector the track's mean.
//! - *Across time* a track joins the anchor of its space with the highest mean cosine to the anchor's tracks (average
//!   linkage), if that is above the space's threshold; otherwise it founds a new anchor. An anchor whose tracks become as
//!   similar to another's merges with it, so that a person whose first tracks were poor does not remain two persons.
//! - *Look-alikes* are separated because one person cannot appear twice at one moment. A track never joins the anchor of
//!   another track that is visible at the same time, and two anchors that appear together in a tenth of their tracks do not merge.
//! - *A face and a voice* link to one person when the face is in view most times that the voice is heard, clearly more often
//!   than any other face, and no other voice is heard with it as often.
//! - *Names* come from events that name who is present, and from people, who have the last word. People also merge and split.
//!
//! The mean is over all tracks, not a moving average, because sums of whole numbers can be undone when an event is forgotten.

mod anchor;
mod naming;
mod person;
mod tracks;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::lesson::{Lesson, SensedVector};
use crate::sharded::Sharded;
use crate::{AnchorId, EventId, Sensed};
use anchor::{Anchor, product, track_number};
pub use naming::NamingRequest;
pub(crate) use naming::{NamingEntry, ToldName};
pub use person::Person;
pub(crate) use tracks::RecentTrack;
use tracks::What;

/// Maximum number of anchors of all spaces. Beyond it, an unnamed anchor with the fewest tracks, seen longest ago, is evicted.
const MAX_ANCHORS: usize = 4096;
/// Maximum number of announcements kept for listeners.
const MAX_NEWS: usize = 256;

/// Default thresholds for anchors of many tracks: of faces, and of voices.
pub(crate) const SAME_PERSON: (f64, f64) = (0.42, 0.48);

/// The mean cosine from which on a track belongs to an anchor of `count` tracks, and two anchors are one (then `count` is that
/// of the larger one).
///
/// For many tracks it lies between pairs of one person (about 0.6 for ArcFace-like faces, 0.65 for ECAPA-like voices) and pairs
/// of look-alikes (0.3 and 0.35). The mean of few says less, and one look-alike among two draws the others after it, so they
/// must be nearer; a person whose first tracks founded two anchors is one again once either has grown. In a narrow space, where
/// even strangers are near each other, there is less room above the threshold, and "nearer" is a share of that.
/// `docs/benchmarks.md` has what that gives.
fn threshold(same: (f64, f64), sensed: Sensed, count: u32) -> f32 {
    #[expect(clippy::cast_possible_truncation, reason = "a cosine")]
    let many = if sensed == Sensed::Voice { same.1 } else { same.0 } as f32;
    #[expect(clippy::cast_precision_loss, reason = "a little less of very little")]
    let few = (0.25 * (1.0 - many)).min(0.12) / count.max(1) as f32;
    many + few
}

/// A row of anchors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum AnchorRow {
    /// A cluster.
    Live(Box<Anchor>),
    /// Its tracks are another's now.
    Merged(AnchorId),
}

/// Something about persons that listeners hear of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntityNews {
    /// The person.
    pub id: AnchorId,
    /// What happened to the person.
    pub change: EntityChange,
    /// Its name, where there is one.
    pub name: Option<String>,
}

/// What happened to a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EntityChange {
    /// A new person was found.
    New,
    /// The name is known now, or another one.
    Named,
    /// A face and a voice, or two anchors, are one person.
    Merged,
    /// A person was split in two.
    Split,
}

/// All anchors. Clones share what neither has changed.
#[derive(Debug, Clone)]
pub(crate) struct Anchors {
    /// See [`threshold`].
    same: (f64, f64),
    rows: Arc<BTreeMap<AnchorId, Arc<AnchorRow>>>,
    /// Means of the live ones, to compare with.
    means: Arc<BTreeMap<AnchorId, Arc<[i16]>>>,
    /// Which anchor a track was given to, by its number.
    tracks: Sharded<u64, AnchorId>,
    recent: Vec<RecentTrack>,
    /// Further names of those whom only names tell: folded name → the folded name that it means.
    aliases: BTreeMap<String, String>,
    changed: BTreeSet<AnchorId>,
    changed_tracks: BTreeSet<u64>,
    news: Vec<EntityNews>,
}

impl Default for Anchors {
    fn default() -> Self {
        Self {
            same: SAME_PERSON,
            rows: Arc::default(),
            means: Arc::default(),
            tracks: Sharded::default(),
            recent: Vec::new(),
            aliases: BTreeMap::new(),
            changed: BTreeSet::new(),
            changed_tracks: BTreeSet::new(),
            news: Vec::new(),
        }
    }
}

impl PartialEq for Anchors {
    fn eq(&self, other: &Self) -> bool {
        let same = self.rows == other.rows && self.tracks == other.tracks;
        same && self.recent == other.recent && self.aliases == other.aliases
    }
}

impl Anchors {
    /// Sets what counts as one person from now on, of faces and of voices.
    pub fn set_same_person(&mut self, same: (f64, f64)) {
        self.same = same;
    }

    /// Takes in the faces and the voices of an event; the person who is heard, or else seen.
    pub fn learn(&mut self, lesson: &Lesson) -> Option<AnchorId> {
        let mut whom = None;
        for vector in lesson.vectors.iter().filter(is_identity) {
            let anchor = self.assign(lesson, vector);
            if whom.is_none() || vector.sensed == Sensed::Voice {
                whom = Some(anchor);
            }
        }
        self.learn_name(lesson);
        whom.map(|anchor| self.root(anchor))
    }

    /// Gives a track to the anchor it belongs to.
    fn assign(&mut self, lesson: &Lesson, vector: &SensedVector) -> AnchorId {
        let event = &lesson.event;
        let (start, end) = (event.span.start.as_micros(), event.span.end.as_micros());
        let beside = self.beside(event, vector.sensed);
        let id = match self.nearest(vector, &beside) {
            Some(id) => id,
            None => self.found(event.id, vector),
        };
        self.change(id, |anchor| {
            anchor.add(&vector.vector, start, end);
            beside.iter().for_each(|other| Anchor::meet(&mut anchor.beside, *other));
        });
        for other in beside {
            self.change(other, |anchor| Anchor::meet(&mut anchor.beside, id));
        }
        let track = track_number(event.id, vector.sensed);
        self.tracks.insert(track, id);
        self.changed_tracks.insert(track);
        let id = self.merge_near(id);
        self.meet(event, id, vector.sensed);
        id
    }

    /// The anchor with the highest mean cosine to the vector, the older of equals, if it is high enough.
    fn nearest(&self, vector: &SensedVector, but: &BTreeSet<AnchorId>) -> Option<AnchorId> {
        let mut nearest: Option<(f32, AnchorId, u32)> = None;
        for (id, mean) in self.means.iter() {
            let Some(anchor) = self.live(*id).filter(|anchor| *anchor.space == *vector.space) else { continue };
            if mean.len() != vector.vector.len() || but.contains(id) {
                continue;
            }
            let similarity = product(&vector.vector, mean);
            if nearest.is_none_or(|(best, ..)| similarity > best) {
                nearest = Some((similarity, *id, anchor.count));
            }
        }
        let near = nearest.filter(|(similarity, _, count)| *similarity >= threshold(self.same, vector.sensed, *count));
        near.map(|(_, id, _)| id)
    }

    fn found(&mut self, event: EventId, vector: &SensedVector) -> AnchorId {
        if self.means.len() >= MAX_ANCHORS {
            let live = self.means.keys().filter_map(|id| Some((*id, self.live(*id)?)));
            let slight = live.filter(|(_, anchor)| anchor.named.is_none() && anchor.votes.is_empty());
            let oldest = slight.min_by_key(|(id, anchor)| (anchor.count, anchor.last, *id)).map(|(id, _)| id);
            oldest.into_iter().for_each(|id| self.remove(id));
        }
        let id = self.free_id(event, vector.sensed);
        self.put(id, AnchorRow::Live(Box::new(Anchor::new(vector.sensed, &vector.space, vector.vector.len()))));
        self.tell(id, EntityChange::New);
        id
    }

    /// The id that an event gives; one beyond all events where it is taken, after a split.
    fn free_id(&self, event: EventId, sensed: Sensed) -> AnchorId {
        let mut id = AnchorId::founded_by(event, sensed);
        while self.rows.contains_key(&id) {
            id = AnchorId(id.0 + (1 << 48));
        }
        id
    }

    /// Merges an anchor with those whose tracks lie as near to its own as those of one person.
    fn merge_near(&mut self, id: AnchorId) -> AnchorId {
        let mut id = id;
        while let (Some(anchor), Some(own)) = (self.live(id), self.means.get(&id)) {
            let near = self.means.iter().filter(|(other, mean)| {
                let alike = self.live(**other).is_some_and(|one| one.space == anchor.space);
                **other != id && alike && mean.len() == own.len()
            });
            let nearest = near
                .map(|(other, mean)| (product(own, mean), *other))
                .filter(|(similarity, other)| {
                    let count = self.live(*other).map_or(0, |other| other.count).max(anchor.count);
                    *similarity >= threshold(self.same, anchor.sensed, count) && !self.are_apart(id, *other)
                })
                .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
            let Some((_, other)) = nearest else { break };
            let (keep, drop) = (id.min(other), id.max(other));
            self.merge(keep, drop);
            id = keep;
        }
        id
    }

    fn merge(&mut self, keep: AnchorId, drop: AnchorId) {
        let Some(dropped) = self.live(drop).cloned() else { return };
        self.put(drop, AnchorRow::Merged(keep));
        self.change(keep, |anchor| anchor.absorb(dropped));
        self.tell(keep, EntityChange::Merged);
    }

    /// Whether two anchors cannot be of one person.
    fn are_apart(&self, a: AnchorId, b: AnchorId) -> bool {
        let (Some(one), Some(other)) = (self.live(a), self.live(b)) else { return false };
        let met = |anchor: &Anchor, with: AnchorId| -> u32 {
            anchor.beside.iter().filter(|(id, _)| self.resolve(**id) == with).map(|(_, count)| *count).sum()
        };
        let told = |anchor: &Anchor, from: AnchorId| anchor.told_apart.iter().any(|id| self.resolve(*id) == from);
        let met = met(one, b).max(met(other, a));
        // Now and then a tracker loses a face and finds it again while it is still there.
        met > 0 && met * 10 >= one.count.min(other.count) || told(one, b) || told(other, a)
    }

    /// The anchor that an id leads to.
    fn resolve(&self, id: AnchorId) -> AnchorId {
        let mut id = id;
        // An anchor merges only into an older one, so this comes to an end.
        while let Some(AnchorRow::Merged(into)) = self.rows.get(&id).map(|row| &**row) {
            id = *into;
        }
        id
    }

    fn live(&self, id: AnchorId) -> Option<&Anchor> {
        match self.rows.get(&id).map(|row| &**row) {
            Some(AnchorRow::Live(anchor)) => Some(anchor),
            _ => None,
        }
    }

    fn put(&mut self, id: AnchorId, row: AnchorRow) {
        let means = Arc::make_mut(&mut self.means);
        match &row {
            AnchorRow::Live(anchor) => means.insert(id, anchor.mean().into()),
            AnchorRow::Merged(_) => means.remove(&id),
        };
        Arc::make_mut(&mut self.rows).insert(id, Arc::new(row));
        self.changed.insert(id);
    }

    fn change(&mut self, id: AnchorId, change: impl FnOnce(&mut Anchor)) {
        let id = self.resolve(id);
        let Some(anchor) = self.live(id) else { return };
        let mut anchor = anchor.clone();
        change(&mut anchor);
        self.put(id, AnchorRow::Live(Box::new(anchor)));
    }

    fn remove(&mut self, id: AnchorId) {
        Arc::make_mut(&mut self.rows).remove(&id);
        Arc::make_mut(&mut self.means).remove(&id);
        self.recent.retain(|recent| !matches!(recent.what, What::Track(anchor, _) if anchor == id));
        self.changed.insert(id);
    }

    fn tell(&mut self, id: AnchorId, change: EntityChange) {
        let id = self.root(id);
        let news = EntityNews { id, change, name: self.name_of(id).map(str::to_owned) };
        if !self.news.contains(&news) && self.news.len() < MAX_NEWS {
            self.news.push(news);
        }
    }

    /// Takes the announcements since the last call.
    pub fn take_news(&mut self) -> Vec<EntityNews> {
        std::mem::take(&mut self.news)
    }

    /// Takes back the tracks of hidden events, which are sorted; `true` if there was nothing to take back.
    pub fn withdraw(&mut self, hidden: &[EventId], vectors: &[(EventId, SensedVector)]) -> bool {
        let mut untouched = true;
        for event in hidden {
            for sensed in [Sensed::Face, Sensed::Voice] {
                let track = track_number(*event, sensed);
                let Some(anchor) = self.tracks.remove(&track) else { continue };
                self.changed_tracks.insert(track);
                untouched = false;
                let anchor = self.resolve(anchor);
                let first = vectors.partition_point(|(of, _)| of < event);
                let own = vectors[first..].iter().take_while(|(of, _)| of == event);
                if let Some((_, vector)) = own.into_iter().find(|(_, vector)| vector.sensed == sensed) {
                    self.change(anchor, |anchor| anchor.take_back(&vector.vector));
                }
                if self.live(anchor).is_some_and(|anchor| anchor.count == 0) {
                    self.remove(anchor);
                }
            }
        }
        let is_hidden = |event: &EventId| hidden.binary_search(event).is_ok();
        let votes = |id: &&AnchorId| self.live(**id).is_some_and(|one| one.votes.values().flatten().any(is_hidden));
        let voted: Vec<AnchorId> = self.means.keys().filter(votes).copied().collect();
        untouched &= voted.is_empty();
        for id in voted {
            self.change(id, |anchor| {
                anchor.votes.values_mut().for_each(|events| events.retain(|event| !is_hidden(event)));
                anchor.votes.retain(|_, events| !events.is_empty());
            });
        }
        let known = self.recent.len();
        self.recent.retain(|recent| !is_hidden(&recent.event));
        untouched && self.recent.len() == known
    }

    /// The events whose faces and voices they are.
    pub fn evidence(&self) -> impl Iterator<Item = EventId> {
        self.tracks.iter().map(|(track, _)| EventId(track / 2))
    }

    /// Anchors and tracks that changed since the last call; nothing stands for one that is gone.
    #[allow(clippy::type_complexity)]
    pub fn take_changed(&mut self) -> (Vec<(AnchorId, Option<Arc<AnchorRow>>)>, Vec<(u64, Option<AnchorId>)>) {
        let anchors = std::mem::take(&mut self.changed);
        let tracks = std::mem::take(&mut self.changed_tracks);
        (
            anchors.into_iter().map(|id| (id, self.rows.get(&id).map(Arc::clone))).collect(),
            tracks.into_iter().map(|track| (track, self.tracks.get(&track).copied())).collect(),
        )
    }

    pub fn rows(&self) -> impl Iterator<Item = (&AnchorId, &AnchorRow)> {
        self.rows.iter().map(|(id, row)| (id, &**row))
    }

    pub fn track_rows(&self) -> impl Iterator<Item = (&u64, &AnchorId)> {
        self.tracks.iter()
    }

    /// Takes back in what was kept; the error says what is wrong with it.
    pub fn restore(&mut self, id: AnchorId, row: AnchorRow) -> Result<(), String> {
        if matches!(row, AnchorRow::Merged(into) if into >= id) {
            return Err(format!("{id} is merged into what is not older"));
        }
        self.put(id, row);
        self.changed.remove(&id);
        Ok(())
    }

    pub fn restore_track(&mut self, track: u64, anchor: AnchorId) {
        self.tracks.insert(track, anchor);
    }

    /// Returns the state that belongs to the cursor: the latest tracks and the aliases.
    pub fn margin(&self) -> Margin {
        Margin { recent: self.recent.clone(), aliases: self.aliases.clone() }
    }

    /// Returns the number of bytes that aliases take.
    pub fn alias_bytes(&self) -> usize {
        self.aliases.iter().map(|(name, meant)| name.len() + meant.len() + naming::ALIAS_OVERHEAD).sum()
    }

    pub fn restore_margin(&mut self, margin: Margin) {
        (self.recent, self.aliases) = (margin.recent, margin.aliases);
    }
}

/// State of the anchors beside their rows.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Margin {
    recent: Vec<RecentTrack>,
    aliases: BTreeMap<String, String>,
}

fn is_identity(vector: &&SensedVector) -> bool {
    matches!(vector.sensed, Sensed::Face | Sensed::Voice)
}
