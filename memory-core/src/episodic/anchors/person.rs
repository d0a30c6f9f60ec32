//! Persons: the anchors that belong together, and what they are called.

use std::collections::{BTreeMap, BTreeSet};

use super::anchor::{Anchor, track_number};
use super::naming::{NamingEntry, NamingRequest, NamingTarget, ToldName};
use super::{AnchorRow, Anchors, EntityChange};
use crate::AnchorId;
use crate::lesson::SensedVector;
use crate::limits::MAX_PERSON_NAME_BYTES;
use crate::words::fold_name;
use crate::{EventId, Sensed, TimeSpan, Timestamp};

/// A person, recognised by face or voice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// The id of the person's chief anchor; it stays while that anchor does.
    pub id: AnchorId,
    /// The name, as people told it or as events agree on it.
    pub name: Option<String>,
    /// Further names.
    pub aliases: Vec<String>,
    /// Tracks of faces.
    pub faces: u64,
    /// Tracks of voices.
    pub voices: u64,
    /// The anchors that belong together.
    pub anchors: Vec<AnchorId>,
    /// First and last moment.
    pub span: TimeSpan,
}

/// Maximum number of events by which an anchor can be found again.
const MAX_WITNESSES: usize = 8;

impl Anchors {
    /// The chief anchor of the person that an anchor belongs to.
    pub fn root(&self, id: AnchorId) -> AnchorId {
        let mut id = self.resolve(id);
        let mut passed = vec![id];
        while let Some(next) = self.live(id).and_then(|anchor| anchor.told_same.or(anchor.linked)) {
            let next = self.resolve(next);
            if self.live(next).is_none() {
                break;
            }
            if passed.contains(&next) {
                // Anchors that lead to each other: the oldest stands for all.
                return passed.into_iter().min().unwrap_or(id);
            }
            passed.push(next);
            id = next;
        }
        id
    }

    /// The anchors of a person.
    fn members(&self, root: AnchorId) -> Vec<AnchorId> {
        self.means.keys().copied().filter(|id| self.root(*id) == root).collect()
    }

    /// Every person, by id.
    pub fn persons(&self) -> Vec<Person> {
        let mut groups: BTreeMap<AnchorId, Vec<AnchorId>> = BTreeMap::new();
        for id in self.means.keys() {
            groups.entry(self.root(*id)).or_default().push(*id);
        }
        groups.into_iter().map(|(root, members)| self.person_of(root, members)).collect()
    }

    /// One person by the id of its chief anchor.
    pub fn person(&self, root: AnchorId) -> Person {
        self.person_of(root, self.members(root))
    }

    fn person_of(&self, root: AnchorId, members: Vec<AnchorId>) -> Person {
        let anchors: Vec<&Anchor> = members.iter().filter_map(|id| self.live(*id)).collect();
        let tracks = |sensed: Sensed| {
            anchors.iter().filter(|anchor| anchor.sensed == sensed).map(|anchor| u64::from(anchor.count)).sum()
        };
        let name = self.name_among(&members).map(str::to_owned);
        let names = anchors.iter().flat_map(|anchor| anchor.aliases.iter().chain(&anchor.named));
        let mut aliases: BTreeSet<String> = names.map(|name| name.to_string()).collect();
        if let Some(name) = &name {
            let also = self.aliases.iter().filter(|(_, means)| **means == fold_name(name));
            aliases.extend(also.map(|(alias, _)| alias.clone()));
            aliases.remove(name);
        }
        let start = anchors.iter().map(|anchor| anchor.first).min().unwrap_or(0);
        let end = anchors.iter().map(|anchor| anchor.last).max().unwrap_or(start).max(start);
        Person {
            id: root,
            name,
            aliases: aliases.into_iter().collect(),
            faces: tracks(Sensed::Face),
            voices: tracks(Sensed::Voice),
            anchors: members,
            span: TimeSpan::new(Timestamp::from_micros(start), Timestamp::from_micros(end)),
        }
    }

    /// Returns the name of a person.
    pub fn name_of(&self, root: AnchorId) -> Option<&str> {
        self.name_among(&self.members(root))
    }

    /// Returns the name that people gave first; otherwise the name that the events agree on.
    fn name_among(&self, members: &[AnchorId]) -> Option<&str> {
        let anchors = || members.iter().filter_map(|id| self.live(*id));
        if let Some(named) = anchors().find_map(|anchor| anchor.named.as_deref()) {
            return Some(named);
        }
        let mut votes: BTreeMap<&str, usize> = BTreeMap::new();
        for (name, events) in anchors().flat_map(|anchor| &anchor.votes) {
            *votes.entry(name).or_default() += events.len();
        }
        let all: usize = votes.values().sum();
        let (name, most) = votes.into_iter().max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(a.0)))?;
        (most >= 2 && most * 3 > all * 2).then_some(name)
    }

    /// Returns the person that an id or a name refers to.
    pub fn find(&self, entity: &str) -> Option<AnchorId> {
        if let Ok(id) = entity.trim().parse::<AnchorId>() {
            let id = self.resolve(id);
            return self.live(id).map(|_| self.root(id));
        }
        let folded = fold_name(entity);
        let meant = self.aliases.get(&folded).unwrap_or(&folded);
        let called = |name: &String| fold_name(name) == folded || fold_name(name) == *meant;
        let person = self.persons().into_iter().find(|person| person.name.iter().chain(&person.aliases).any(called));
        person.map(|person| person.id)
    }

    /// All else that means the same as a name or an id: names, aliases and ids.
    pub fn also_called(&self, name: &str) -> Vec<String> {
        let folded = fold_name(name);
        let mut names: BTreeSet<String> = BTreeSet::new();
        if let Some(root) = self.find(name) {
            let person = self.person(root);
            names.extend(person.name.into_iter().chain(person.aliases));
            names.extend(self.rows.keys().filter(|id| self.root(**id) == root).map(AnchorId::to_string));
        }
        let meant = self.aliases.get(&folded).unwrap_or(&folded);
        names.extend(self.aliases.iter().filter(|(_, means)| *means == meant).map(|(alias, _)| alias.clone()));
        names.insert(meant.clone());
        names.retain(|other| fold_name(other) != folded);
        names.into_iter().collect()
    }

    /// The events in which a person is seen or heard.
    pub fn events_of(&self, root: AnchorId) -> BTreeSet<EventId> {
        let members: BTreeSet<AnchorId> = self.members(root).into_iter().collect();
        let tracks = self.tracks.iter().filter(|(_, anchor)| members.contains(&self.resolve(**anchor)));
        tracks.map(|(track, _)| EventId(track / 2)).collect()
    }

    /// The persons who are seen or heard in an event.
    pub fn of_event(&self, event: EventId) -> BTreeSet<AnchorId> {
        let tracks = [Sensed::Face, Sensed::Voice].map(|sensed| track_number(event, sensed));
        tracks.iter().filter_map(|track| self.tracks.get(track)).map(|anchor| self.root(*anchor)).collect()
    }

    /// Whether a naming still has somebody to be about.
    pub fn can_do(&self, naming: &NamingEntry) -> bool {
        match &naming.told {
            ToldName::Name { whom, .. } | ToldName::Split { whom, .. } => self.aim(whom).is_some(),
            ToldName::Same { whom, other } | ToldName::Apart { whom, other } => {
                self.aim(whom).is_some() && self.aim(other).is_some()
            }
            ToldName::Alias { .. } => true,
        }
    }

    fn target(&self, anchor: AnchorId) -> NamingTarget {
        let tracks = self.tracks.iter().filter(|(_, of)| self.resolve(**of) == anchor);
        let mut witnesses: Vec<EventId> = tracks.map(|(track, _)| EventId(track / 2)).collect();
        witnesses.sort_unstable();
        witnesses.truncate(MAX_WITNESSES);
        NamingTarget { anchor, witnesses }
    }

    /// The anchor that a target means now.
    fn aim(&self, target: &NamingTarget) -> Option<AnchorId> {
        let own = self.resolve(target.anchor);
        if self.live(own).is_some() {
            return Some(own);
        }
        let sensed = if target.anchor.0 % 2 == 1 { Sensed::Voice } else { Sensed::Face };
        let found = target.witnesses.iter().find_map(|event| self.tracks.get(&track_number(*event, sensed)));
        found.map(|anchor| self.resolve(*anchor)).filter(|anchor| self.live(*anchor).is_some())
    }

    /// Resolves a request into a change, and the person it is about; the error says what to change. Nothing is changed yet.
    pub fn read(&self, request: &NamingRequest) -> Result<Vec<ToldName>, String> {
        match request {
            NamingRequest::Name { entity, name } => {
                let name = checked_name(name)?;
                Ok(vec![match self.known(entity)? {
                    Some(root) => ToldName::Name { whom: self.target(root), name },
                    // Somebody who is only spoken of: both names mean the same from now on.
                    None => ToldName::Alias { name, other: checked_name(entity)? },
                }])
            }
            NamingRequest::Merge { entity, same } => {
                let told: Result<Vec<ToldName>, String> =
                    same.iter().map(|other| self.read_merge(entity, other)).collect();
                if same.is_empty() { Err("`merge` is empty; name at least one".into()) } else { told }
            }
            NamingRequest::Split { entity, others } => self.read_split(entity, others),
        }
    }

    /// Resolves the name in a request: a person, or nobody who is seen or heard. An id must exist.
    fn known(&self, entity: &str) -> Result<Option<AnchorId>, String> {
        match self.find(entity) {
            None if entity.trim().parse::<AnchorId>().is_ok() => {
                Err(format!("there is no entity {entity:?}; `engram entity list` names those there are"))
            }
            found => Ok(found),
        }
    }

    fn read_merge(&self, entity: &str, other: &str) -> Result<ToldName, String> {
        Ok(match (self.known(entity)?, self.known(other)?) {
            (Some(a), Some(b)) if a == b => return Err(format!("{entity} and {other} are one already")),
            (Some(a), Some(b)) => ToldName::Same { whom: self.target(a), other: self.target(b) },
            (Some(one), None) => self.call(one, other)?,
            (None, Some(one)) => self.call(one, entity)?,
            (None, None) => ToldName::Alias { name: checked_name(entity)?, other: checked_name(other)? },
        })
    }

    /// Gives a person a name, or a further one.
    fn call(&self, root: AnchorId, name: &str) -> Result<ToldName, String> {
        let name = checked_name(name)?;
        Ok(match self.name_of(root) {
            Some(known) => ToldName::Alias { name: known.to_owned(), other: name },
            None => ToldName::Name { whom: self.target(root), name },
        })
    }

    fn read_split(&self, entity: &str, others: &[String]) -> Result<Vec<ToldName>, String> {
        let unknown = || format!("there is no entity {entity:?} with a face or a voice; see `engram entity list`");
        let root = self.known(entity)?.ok_or_else(unknown)?;
        let members = self.members(root);
        let own = self.events_of(root);
        let mut told = Vec::new();
        let mut events = Vec::new();
        for other in others {
            if let Some(event) = other.strip_prefix("ev-").and_then(|number| number.parse().ok()).map(EventId) {
                if !own.contains(&event) {
                    return Err(format!("{entity} is neither seen nor heard in {other}"));
                }
                events.push(event);
                continue;
            }
            let id = other.parse::<AnchorId>().map(|id| self.resolve(id)).map_err(|_| {
                format!("{other:?} is neither an anchor such as \"e-15\" nor an event such as \"ev-42\"")
            })?;
            let rest = members.iter().copied().find(|member| *member != id);
            match rest.filter(|_| members.contains(&id)) {
                Some(rest) => told.push(ToldName::Apart { whom: self.target(rest), other: self.target(id) }),
                None => {
                    let known: Vec<String> = members.iter().map(AnchorId::to_string).collect();
                    return Err(format!("{other} is no further anchor of {entity}, which has {}", known.join(", ")));
                }
            }
        }
        if !events.is_empty() {
            told.push(ToldName::Split { whom: self.target(root), events });
        }
        if told.is_empty() { Err("`split` is empty; name at least one".into()) } else { Ok(told) }
    }

    /// Does what was told; what has lost its target does nothing. `vectors` are those of the naming's events.
    pub fn apply(&mut self, naming: &NamingEntry, vectors: &[(EventId, SensedVector)]) {
        match &naming.told {
            ToldName::Name { whom, name } => {
                let Some(root) = self.aim(whom).map(|anchor| self.root(anchor)) else { return };
                for member in self.members(root) {
                    self.change(member, |anchor| anchor.named = None);
                }
                self.change(root, |anchor| anchor.named = Some(name.as_str().into()));
                self.tell(root, EntityChange::Named);
            }
            ToldName::Alias { name, other } => {
                let meant = self.aliases.get(&fold_name(name)).cloned().unwrap_or_else(|| fold_name(name));
                if meant != fold_name(other) {
                    self.aliases.insert(fold_name(other), meant);
                }
            }
            ToldName::Same { whom, other } => {
                let (Some(a), Some(b)) = (self.aim(whom), self.aim(other)) else { return };
                let (a, b) = (self.root(a), self.root(b));
                if a != b {
                    self.change(b, |anchor| {
                        anchor.told_same = Some(a);
                        anchor.told_apart.clear();
                    });
                    self.tell(a, EntityChange::Merged);
                }
            }
            ToldName::Apart { whom, other } => {
                let (Some(a), Some(b)) = (self.aim(whom), self.aim(other)) else { return };
                for (one, from) in [(a, b), (b, a)] {
                    self.change(one, |anchor| {
                        anchor.told_apart.push(from);
                        anchor.told_same = anchor.told_same.filter(|same| *same != from);
                        anchor.linked = anchor.linked.filter(|linked| *linked != from);
                    });
                }
                self.tell(b, EntityChange::Split);
            }
            ToldName::Split { whom, events } => {
                if let Some(from) = self.aim(whom) {
                    self.split(self.root(from), events, vectors);
                }
            }
        }
    }

    /// Founds an anchor of the tracks of some events, apart from those that they were given to.
    fn split(&mut self, root: AnchorId, events: &[EventId], vectors: &[(EventId, SensedVector)]) {
        let members = self.members(root);
        for sensed in [Sensed::Face, Sensed::Voice] {
            let mut founded: Option<AnchorId> = None;
            for (event, vector) in vectors.iter().filter(|(of, vector)| events.contains(of) && vector.sensed == sensed)
            {
                let track = track_number(*event, sensed);
                let Some(from) = self.tracks.get(&track).map(|anchor| self.resolve(*anchor)) else { continue };
                let Some((start, end)) = self.live(from).map(|anchor| (anchor.first, anchor.last)) else { continue };
                if !members.contains(&from) {
                    continue;
                }
                let id = match founded {
                    Some(id) => id,
                    None => {
                        let id = self.free_id(*event, sensed);
                        let mut anchor = Anchor::new(sensed, &vector.space, vector.vector.len());
                        anchor.told_apart.push(from);
                        self.put(id, AnchorRow::Live(Box::new(anchor)));
                        self.change(from, |anchor| anchor.told_apart.push(id));
                        *founded.insert(id)
                    }
                };
                self.change(from, |anchor| anchor.take_back(&vector.vector));
                self.change(id, |anchor| anchor.add(&vector.vector, start, end));
                self.tracks.insert(track, id);
                self.changed_tracks.insert(track);
                if self.live(from).is_some_and(|anchor| anchor.count == 0) {
                    self.remove(from);
                }
            }
            founded.into_iter().for_each(|id| self.tell(id, EntityChange::Split));
        }
    }

    /// Takes back names that are to be forgotten.
    pub fn forget_names(&mut self, folded: &[String]) {
        let known = |name: &str| folded.contains(&fold_name(name));
        self.aliases.retain(|alias, means| !known(alias) && !folded.contains(means));
        let ids: Vec<AnchorId> = self.means.keys().copied().collect();
        for id in ids {
            let has = self.live(id).is_some_and(|anchor| {
                let names = anchor.named.iter().chain(&anchor.aliases).chain(anchor.votes.keys());
                names.into_iter().any(|name| known(name))
            });
            if has {
                self.change(id, |anchor| {
                    anchor.named = anchor.named.take().filter(|name| !known(name));
                    anchor.aliases.retain(|name| !known(name));
                    anchor.votes.retain(|name, _| !known(name));
                });
            }
        }
    }
}

fn checked_name(name: &str) -> Result<String, String> {
    let name = name.trim();
    if name.is_empty() || name.len() > MAX_PERSON_NAME_BYTES {
        return Err(format!("the name has {} bytes; it takes 1 to {MAX_PERSON_NAME_BYTES}", name.len()));
    }
    match name.chars().find(|&c| matches!(c, '+' | '#' | '/') || c.is_control()) {
        Some(c) => {
            Err(format!("the name has the character {c:?}; names are without `+`, `#`, `/` and control characters"))
        }
        None => Ok(name.to_owned()),
    }
}
