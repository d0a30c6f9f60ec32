//! What was there at the same time: faces beside faces, faces while a voice was heard, names while somebody was there.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::anchor::{Anchor, track_number};
use super::{Anchors, EntityChange};
use crate::AnchorId;
use crate::lesson::Lesson;
use crate::{Event, EventId, Kind, Origin, Sensed};

/// Maximum number of tracks whose times are compared.
const MAX_RECENT: usize = 64;
/// Maximum age of these tracks, in microseconds. A segment closes seconds after what was told meanwhile.
const MAX_AGE_US: i64 = 120 * 1_000_000;
/// Minimum number of times that a face is in view while a voice is heard, before they can belong to one person.
const MIN_MEETINGS: u32 = 3;

/// A track, or a told name, and when it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RecentTrack {
    pub event: EventId,
    start: i64,
    end: i64,
    source: String,
    pub what: What,
}

/// What was detected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum What {
    Track(AnchorId, Sensed),
    /// A person of this name was seen or heard.
    Name(String, Sensed),
}

impl RecentTrack {
    fn overlaps(&self, event: &Event) -> bool {
        self.start <= event.span.end.as_micros() && event.span.start.as_micros() <= self.end
    }

    /// The same, for longer than a moment: tracks that only touch follow each other.
    fn is_beside(&self, event: &Event) -> bool {
        self.start < event.span.end.as_micros() && event.span.start.as_micros() < self.end
    }
}

impl Anchors {
    /// Anchors with tracks at the same moment in the same source: this one is none of them.
    pub(super) fn beside(&self, event: &Event, sensed: Sensed) -> BTreeSet<AnchorId> {
        let tracks = self.recent.iter().filter(|recent| recent.source == event.source && recent.is_beside(event));
        let anchors = tracks.filter_map(|recent| match recent.what {
            What::Track(anchor, of) if of == sensed && recent.event != event.id => Some(self.resolve(anchor)),
            _ => None,
        });
        anchors.collect()
    }

    /// Anchors of a sense with tracks while an event was.
    fn there(&self, event: &Event, sensed: Sensed) -> BTreeSet<AnchorId> {
        let tracks = self.recent.iter().filter(|recent| recent.overlaps(event));
        let anchors = tracks.filter_map(|recent| match recent.what {
            What::Track(anchor, of) if of == sensed => Some(self.resolve(anchor)),
            _ => None,
        });
        anchors.collect()
    }

    /// Notes a track: which voice was heard with which face in view, and who was named meanwhile.
    pub(super) fn meet(&mut self, event: &Event, anchor: AnchorId, sensed: Sensed) {
        match sensed {
            Sensed::Voice => {
                self.there(event, Sensed::Face).into_iter().for_each(|face| self.meet_face(anchor, face));
            }
            _ => self.there(event, Sensed::Voice).into_iter().for_each(|voice| self.meet_face(voice, anchor)),
        }
        // A name belongs to somebody only where nobody else of the kind is there.
        let alone = self.there(event, sensed).into_iter().all(|other| other == anchor);
        let names: Vec<(String, EventId)> = self
            .recent
            .iter()
            .filter(|recent| alone && recent.overlaps(event))
            .filter_map(|recent| match &recent.what {
                What::Name(name, of) if *of == sensed => Some((name.clone(), recent.event)),
                _ => None,
            })
            .collect();
        for (name, told_by) in names {
            self.vote(anchor, &name, told_by);
        }
        self.remember(event, What::Track(anchor, sensed));
    }

    /// The name that an event tells: of its own track, or of the only one that is there meanwhile.
    pub(super) fn learn_name(&mut self, lesson: &Lesson) {
        let event = &lesson.event;
        let Some(name) = event.entity.as_deref() else { return };
        let own: Vec<AnchorId> = [Sensed::Face, Sensed::Voice]
            .into_iter()
            .filter_map(|sensed| self.tracks.get(&track_number(event.id, sensed)).copied())
            .collect();
        let sensed = match event.kind {
            Kind::Entity => Sensed::Face,
            Kind::Text => Sensed::Voice,
            _ => return,
        };
        if own.is_empty() && event.origin == Origin::Told {
            let there: Vec<AnchorId> = self.there(event, sensed).into_iter().collect();
            if let [anchor] = there.as_slice() {
                self.vote(*anchor, name, event.id);
            }
            self.remember(event, What::Name(name.to_owned(), sensed));
        }
        for anchor in own {
            self.vote(anchor, name, event.id);
        }
    }

    fn vote(&mut self, anchor: AnchorId, name: &str, event: EventId) {
        let before = self.name_of(self.root(anchor)).map(str::to_owned);
        self.change(anchor, |anchor| anchor.vote(name, event));
        if self.name_of(self.root(anchor)) != before.as_deref() {
            self.tell(anchor, EntityChange::Named);
        }
    }

    fn remember(&mut self, event: &Event, what: What) {
        let (start, end) = (event.span.start.as_micros(), event.span.end.as_micros());
        self.recent.retain(|recent| start.saturating_sub(recent.end) <= MAX_AGE_US);
        if self.recent.len() == MAX_RECENT {
            self.recent.remove(0);
        }
        self.recent.push(RecentTrack { event: event.id, start, end, source: event.source.clone(), what });
    }

    /// Counts a face that is in view while a voice is heard, and links or parts them.
    fn meet_face(&mut self, voice: AnchorId, face: AnchorId) {
        self.change(voice, |anchor| Anchor::meet(&mut anchor.faces, face));
        let before = self.live(voice).and_then(|anchor| anchor.linked);
        let after = self.fitting_face(voice);
        if before != after {
            self.change(voice, |anchor| anchor.linked = after);
            if after.is_some() {
                self.tell(voice, EntityChange::Merged);
            }
        }
    }

    /// The face that a voice belongs to, if one clearly is.
    fn fitting_face(&self, voice: AnchorId) -> Option<AnchorId> {
        let anchor = self.live(voice)?;
        let counts = self.faces_of(anchor);
        let (most, face) = *counts.first()?;
        let second = counts.get(1).map_or(0, |(count, _)| *count);
        let often = most >= MIN_MEETINGS && most * 10 >= anchor.count * 6;
        let clearly = second * 10 <= most * 7;
        let apart = anchor.told_apart.iter().any(|id| self.resolve(*id) == face);
        let others = self.means.keys().filter(|other| **other != voice).filter_map(|other| self.live(*other));
        let heard_more = others
            .filter(|other| other.sensed == Sensed::Voice)
            .any(|other| self.faces_of(other).iter().any(|(count, own)| *own == face && *count >= most));
        (often && clearly && !apart && !heard_more && self.live(face).is_some()).then_some(face)
    }

    /// How often which face was in view with a voice, most often first.
    fn faces_of(&self, voice: &Anchor) -> Vec<(u32, AnchorId)> {
        let mut counts: Vec<(u32, AnchorId)> = Vec::new();
        for (face, count) in &voice.faces {
            let face = self.resolve(*face);
            match counts.iter_mut().find(|(_, known)| *known == face) {
                Some((sum, _)) => *sum += count,
                None => counts.push((*count, face)),
            }
        }
        counts.sort_unstable_by(|a, b| b.cmp(a));
        counts
    }
}
