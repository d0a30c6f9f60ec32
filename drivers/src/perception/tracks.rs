//! Tracks objects over the pictures of a segment.
//!
//! A detector runs once or twice a second, and sometimes gives one object different names. Boxes of one object are joined by
//! overlap, or by position and size if it moved; the most frequent name counts.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use memory_core::segment::Segment;

use super::colours::Palette;
use crate::encoders::{Certainty, Detection, Face, Picture, overlap};

/// Score that one detection of a face without a body needs among several: patterns on walls pass for faces now and then.
const MIN_FACE_SCORE: f32 = 0.8;
/// Minimum share of its name in a thing's scores. What half of the sightings call something else is not told.
const MIN_NAME_SHARE: f32 = 0.5;
/// Boxes of different names are one thing if they overlap more than this; of one name, more than the second.
const OVERLAP: f32 = 0.5;
const OVERLAP_OF_A_NAME: f32 = 0.15;
/// Maximum speed of a box of the same name, in picture widths per second.
const MAX_SPEED: f32 = 0.35;
/// Maximum ratio of the areas of two boxes of one thing.
const MAX_GROWTH: f32 = 4.0;
/// Maximum time out of sight. A thing that returns later is another one.
const MAX_ABSENCE: Duration = Duration::from_millis(3500);
/// Maximum number of boxes of one picture that are tracked, those with the highest scores.
const MAX_BOXES: usize = 32;
/// Number of things of one name above which they are one event.
const CROWD_SIZE: usize = 3;
/// Minimum move that is reported, as a share of the picture's width.
const MIN_MOVE: f32 = 0.3;

/// One box in one picture.
#[derive(Debug, Clone)]
struct Sighting {
    at: Duration,
    label: Arc<str>,
    score: f32,
    bounds: [f32; 4],
    /// Boxes of the whole thing, or of the upper and the lower body of a person.
    upper: Palette,
    lower: Palette,
    /// The face that looks out of it.
    face: Option<SeenFace>,
}

/// A face, and whose it is as far as an encoder can tell.
#[derive(Debug, Clone)]
pub(super) struct SeenFace {
    pub face: Face,
    pub vector: Option<Vec<f32>>,
}

/// One thing, or a crowd of one kind.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct InView {
    pub label: Arc<str>,
    /// How many at once.
    pub count: usize,
    pub start: Duration,
    pub end: Duration,
    /// The surest score, less where the name is in doubt.
    pub confidence: f32,
    /// Colours of the upper and the lower body of a person, or of the whole thing.
    pub colours: [Vec<&'static str>; 2],
    /// First and last position: the middle of its box, 0 to 1.
    pub place: [[f32; 2]; 2],
    /// Whether it fills most of the picture.
    pub wide: bool,
    /// Whether a face was seen for a good part of the time.
    pub face: bool,
    /// The mean of the face's vectors.
    pub face_vector: Option<Vec<f32>>,
}

impl InView {
    /// How far it went to the right, if that is worth telling.
    pub fn moved(&self) -> Option<f32> {
        let way = self.place[1][0] - self.place[0][0];
        (way.abs() >= MIN_MOVE).then_some(way)
    }
}

/// Detections in the pictures of segments that are still open.
#[derive(Default)]
pub(super) struct ObjectLog {
    pictures: VecDeque<(Duration, Vec<Sighting>)>,
}

impl ObjectLog {
    pub fn push(&mut self, at: Duration, picture: &Picture<'_>, detections: &[Detection], mut faces: Vec<SeenFace>) {
        let sightings = detections.iter().take(MAX_BOXES).map(|detection| {
            let bounds = detection.bounds;
            let person = &*detection.label == PERSON;
            let mine = faces.iter().position(|seen| person && inside(&seen.face.bounds, &bounds));
            let face = mine.map(|at| faces.remove(at));
            let [upper, lower] = if person { body(bounds) } else { [middle(bounds), [0.0; 4]] };
            Sighting {
                at,
                label: Arc::clone(&detection.label),
                score: detection.score,
                bounds,
                upper: Palette::measure(picture, upper),
                lower: Palette::measure(picture, lower),
                face,
            }
        });
        let mut sightings: Vec<Sighting> = sightings.collect();
        // A face without a body is a thing of its own.
        sightings.extend(faces.into_iter().take(MAX_BOXES).map(|seen| Sighting {
            at,
            label: Arc::from(FACE),
            score: seen.face.score,
            bounds: seen.face.bounds,
            upper: Palette::default(),
            lower: Palette::default(),
            face: Some(seen),
        }));
        self.pictures.push_back((at, sightings));
    }

    /// Returns what was in view in `segment` as far as the detector is sure enough of it; its pictures, and any before it, are
    /// dropped.
    pub fn take(&mut self, segment: &Segment, certainty: &Certainty) -> Vec<InView> {
        let inside = self.pictures.partition_point(|(at, _)| *at < segment.end);
        let pictures: Vec<_> = self.pictures.drain(..inside).collect();
        let times: Vec<Duration> = pictures.iter().map(|(at, _)| *at).collect();
        let mut tracks: Vec<ObjectTrack> = Vec::new();
        for (at, sightings) in pictures {
            follow(&mut tracks, at, sightings);
        }
        // Things flicker: without a sure sight they must be seen twice. Of a segment with a single picture nothing can be.
        let stable = |track: &ObjectTrack| {
            let ((label, share), score) = (track.names(), track.score());
            let enough = track.sightings.len() > 1 || times.len() == 1;
            if &*label == FACE {
                return enough && score >= MIN_FACE_SCORE;
            }
            let certain = score >= certainty.sure(&label) || (enough && score >= certainty.steady(&label));
            certain && share >= MIN_NAME_SHARE
        };
        tracks.retain(stable);
        let mut views = Vec::new();
        let mut by_label: BTreeMap<Arc<str>, Vec<ObjectTrack>> = BTreeMap::new();
        for track in tracks {
            by_label.entry(track.label()).or_default().push(track);
        }
        for (label, tracks) in by_label {
            let count = usual_count(&tracks);
            if count > CROWD_SIZE {
                views.push(crowd_event(label, count, &tracks));
                // Whom one could know again is told singly all the same.
                views.extend(tracks.iter().map(ObjectTrack::view).filter(|view| view.face_vector.is_some()));
            } else {
                views.extend(tracks.iter().map(ObjectTrack::view));
            }
        }
        for view in &mut views {
            (view.start, view.end) = widen(view.start, view.end, &times, segment);
        }
        views.sort_by(|a, b| (a.start, a.end).cmp(&(b.start, b.end)).then(a.label.cmp(&b.label)));
        views
    }
}

/// Class name of people in COCO.
pub(super) const PERSON: &str = "person";
/// Name of a face without a body.
pub(super) const FACE: &str = "face";

/// Whether the middle of a face lies in a box.
fn inside(face: &[f32; 4], bounds: &[f32; 4]) -> bool {
    let (x, y) = ((face[0] + face[2]) / 2.0, (face[1] + face[3]) / 2.0);
    (bounds[0]..=bounds[2]).contains(&x) && (bounds[1]..=bounds[3]).contains(&y)
}

/// The part of a box between these shares of its width and height.
fn part([left, top, right, bottom]: [f32; 4], across: [f32; 2], down: [f32; 2]) -> [f32; 4] {
    let (width, height) = (right - left, bottom - top);
    [left + width * across[0], top + height * down[0], left + width * across[1], top + height * down[1]]
}

/// Chest and legs of a person. Where the box is wider than high, no legs are in it.
pub(super) fn body(bounds: [f32; 4]) -> [[f32; 4]; 2] {
    let upright = bounds[3] - bounds[1] > 0.5 || (bounds[3] - bounds[1]) > (bounds[2] - bounds[0]) * 1.2;
    let lower = if upright { part(bounds, [0.34, 0.66], [0.56, 0.82]) } else { [0.0; 4] };
    [part(bounds, [0.32, 0.68], [0.22, 0.48]), lower]
}

/// The middle of a thing, where least of what is behind it shows.
pub(super) fn middle(bounds: [f32; 4]) -> [f32; 4] {
    part(bounds, [0.2, 0.8], [0.2, 0.8])
}

/// One thing over several pictures.
struct ObjectTrack {
    sightings: Vec<Sighting>,
}

impl ObjectTrack {
    fn last(&self) -> &Sighting {
        self.sightings.last().expect("a track begins with a sighting")
    }

    /// The name that most of its score goes to.
    fn label(&self) -> Arc<str> {
        self.names().0
    }

    fn names(&self) -> (Arc<str>, f32) {
        let mut sums: BTreeMap<&Arc<str>, f32> = BTreeMap::new();
        for sighting in &self.sightings {
            *sums.entry(&sighting.label).or_insert(0.0) += sighting.score;
        }
        let total: f32 = sums.values().sum();
        let mut best: Option<(&Arc<str>, f32)> = None;
        for (label, sum) in sums {
            if best.is_none_or(|(_, most)| sum > most) {
                best = Some((label, sum));
            }
        }
        best.map_or((Arc::from(""), 0.0), |(label, sum)| (Arc::clone(label), sum / total.max(f32::EPSILON)))
    }

    /// The surest score under the track's own name.
    fn score(&self) -> f32 {
        let label = self.label();
        self.sightings.iter().filter(|sighting| sighting.label == label).map(|s| s.score).fold(0.0, f32::max)
    }

    /// How well a box continues it; `None` if it does not.
    fn continues(&self, next: &Sighting) -> Option<f32> {
        let last = self.last();
        let gap = next.at.saturating_sub(last.at);
        if gap > MAX_ABSENCE {
            return None;
        }
        let shared = overlap(&last.bounds, &next.bounds);
        let same = self.sightings.iter().any(|sighting| sighting.label == next.label);
        if shared > OVERLAP || (same && shared > OVERLAP_OF_A_NAME) {
            return Some(1.0 + shared);
        }
        let area = |bounds: &[f32; 4]| ((bounds[2] - bounds[0]) * (bounds[3] - bounds[1])).max(f32::EPSILON);
        let growth = area(&last.bounds) / area(&next.bounds);
        if !same || !(1.0 / MAX_GROWTH..=MAX_GROWTH).contains(&growth) {
            return None;
        }
        let expected = self.expected(next.at);
        let found = centre(&next.bounds);
        let away = (expected[0] - found[0]).hypot(expected[1] - found[1]);
        let reach = MAX_SPEED * gap.as_secs_f32().clamp(0.5, 1.5);
        (away <= reach).then(|| 1.0 - away / reach)
    }

    /// Returns its predicted position at a time.
    fn expected(&self, at: Duration) -> [f32; 2] {
        let last = self.last();
        let here = centre(&last.bounds);
        let Some(before) = self.sightings.len().checked_sub(2).map(|n| &self.sightings[n]) else { return here };
        let (passed, ahead) = (last.at.saturating_sub(before.at), at.saturating_sub(last.at));
        if passed.is_zero() {
            return here;
        }
        let factor = (ahead.as_secs_f32() / passed.as_secs_f32()).min(2.0);
        let from = centre(&before.bounds);
        [0, 1].map(|axis| here[axis] + (here[axis] - from[axis]) * factor)
    }

    fn view(&self) -> InView {
        let (label, share) = self.names();
        let (mut upper, mut lower) = (Palette::default(), Palette::default());
        for sighting in &self.sightings {
            upper.add(&sighting.upper);
            lower.add(&sighting.lower);
        }
        let first = &self.sightings[0];
        let mean_width = self.sightings.iter().map(|s| s.bounds[2] - s.bounds[0]).sum::<f32>();
        let faces = self.sightings.iter().filter(|sighting| sighting.face.is_some()).count();
        let vectors: Vec<&[f32]> = self.sightings.iter().filter_map(|s| s.face.as_ref()?.vector.as_deref()).collect();
        InView {
            count: 1,
            start: first.at,
            end: self.last().at,
            confidence: (self.score() * share).clamp(0.0, 1.0),
            colours: [upper.words(), lower.words()],
            place: [centre(&first.bounds), centre(&self.last().bounds)],
            wide: mean_width / self.sightings.len() as f32 > 0.6,
            face: &*label != FACE && faces * 3 >= self.sightings.len(),
            face_vector: mean(&vectors),
            label,
        }
    }
}

fn centre(bounds: &[f32; 4]) -> [f32; 2] {
    [(bounds[0] + bounds[2]) / 2.0, (bounds[1] + bounds[3]) / 2.0]
}

/// Gives every box of a picture to the track that it continues best, or to a new one.
fn follow(tracks: &mut Vec<ObjectTrack>, at: Duration, sightings: Vec<Sighting>) {
    let mut pairs: Vec<(f32, usize, usize)> = Vec::new();
    for (n, track) in tracks.iter().enumerate().filter(|(_, track)| track.last().at < at) {
        for (m, sighting) in sightings.iter().enumerate() {
            if let Some(fit) = track.continues(sighting) {
                pairs.push((fit, n, m));
            }
        }
    }
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let mut owner: Vec<Option<usize>> = vec![None; sightings.len()];
    let mut taken = vec![false; tracks.len()];
    for (_, track, sighting) in pairs {
        if !taken[track] && owner[sighting].is_none() {
            (taken[track], owner[sighting]) = (true, Some(track));
        }
    }
    for (sighting, owner) in sightings.into_iter().zip(owner) {
        match owner {
            Some(track) => tracks[track].sightings.push(sighting),
            None => tracks.push(ObjectTrack { sightings: vec![sighting] }),
        }
    }
}

/// The median of how many of these were in the pictures that show any. The lower one of two: a thing too few is missed
/// less than a thing too many.
fn usual_count(tracks: &[ObjectTrack]) -> usize {
    let mut by_picture: BTreeMap<Duration, usize> = BTreeMap::new();
    for sighting in tracks.iter().flat_map(|track| &track.sightings) {
        *by_picture.entry(sighting.at).or_default() += 1;
    }
    let mut counts: Vec<usize> = by_picture.into_values().collect();
    counts.sort_unstable();
    counts.get(counts.len().saturating_sub(1) / 2).copied().unwrap_or(0)
}

fn crowd_event(label: Arc<str>, count: usize, tracks: &[ObjectTrack]) -> InView {
    let views: Vec<InView> = tracks.iter().map(ObjectTrack::view).collect();
    let mean = views.iter().map(|view| view.confidence).sum::<f32>() / views.len().max(1) as f32;
    InView {
        label,
        count,
        start: views.iter().map(|view| view.start).min().unwrap_or_default(),
        end: views.iter().map(|view| view.end).max().unwrap_or_default(),
        confidence: mean,
        colours: [Vec::new(), Vec::new()],
        place: [[0.5; 2]; 2],
        wide: true,
        face: false,
        face_vector: None,
    }
}

/// The mean of vectors of one space; `None` of none.
pub(super) fn mean(vectors: &[&[f32]]) -> Option<Vec<f32>> {
    let (first, rest) = vectors.split_first()?;
    let mut sum = first.to_vec();
    for vector in rest {
        sum.iter_mut().zip(*vector).for_each(|(sum, number)| *sum += number);
    }
    sum.iter_mut().for_each(|number| *number /= vectors.len() as f32);
    sum.iter().any(|number| *number != 0.0).then_some(sum)
}

/// Between the picture that first shows a thing and the one before, it came into view: the middle is the best guess.
fn widen(first: Duration, last: Duration, times: &[Duration], segment: &Segment) -> (Duration, Duration) {
    let before = times[..times.partition_point(|at| *at < first)].last();
    let after = times.get(times.partition_point(|at| *at <= last));
    let start = before.map_or(segment.start, |before| (*before + first) / 2);
    let end = after.map_or(segment.end, |after| (last + *after) / 2);
    (start.clamp(segment.start, segment.end), end.clamp(segment.start, segment.end))
}

#[cfg(test)]
mod tests;
