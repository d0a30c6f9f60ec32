//! What the encoders name in single pictures and patches of sound, put together as sightings for the loop of `reasoning`.
//!
//! Unlike the live pass nothing is dropped for being unsure: the loop weighs a score by how often it is right.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use memory_core::reasoning::{Sighting, SightingKind};
use memory_core::segment::Segment;
use memory_core::{Boundary, Sensed, SensedEmbedding, StreamSpan};

use super::colours::Palette;
use super::scenes::Scene;
use super::sentence;
use super::sounds::said;
use super::tracks::{FACE, InView, ObjectLog, PERSON, SeenFace, body, middle};
use super::writing::{in_view, legible};
use crate::encoders::{Certainty, Detection, Face, Picture, ReadText, SceneClasses, overlap};

/// Overlap above which boxes of a tile and of the whole picture are one thing.
const MIN_OVERLAP: f32 = 0.5;
/// Minimum score of a sound that is named.
const MIN_SOUND_SCORE: f32 = 0.1;
/// Half the length of a patch of sound.
const HALF_PATCH: Duration = Duration::from_millis(480);

/// One label.
struct Named {
    score: f32,
    /// When it was found.
    times: Vec<Duration>,
    count: u32,
    palettes: [Palette; 2],
    /// The middle of its surest box.
    place: [f32; 2],
    wide: bool,
    text: Option<String>,
}

/// Everything that was named so far.
#[derive(Default)]
pub(crate) struct Again {
    named: BTreeMap<(SightingKind, Arc<str>), Named>,
    /// Faces, followed over the pictures as live.
    faces: ObjectLog,
    pictures: Vec<Duration>,
    patches: usize,
}

impl Again {
    /// Begins a picture.
    pub fn picture(&mut self, at: Duration) {
        self.pictures.push(at);
    }

    /// Takes the things of a picture.
    pub fn objects(&mut self, at: Duration, picture: &Picture<'_>, detections: &[Detection]) {
        let mut counts: BTreeMap<&Arc<str>, u32> = BTreeMap::new();
        for detection in detections {
            *counts.entry(&detection.label).or_default() += 1;
        }
        for detection in detections {
            let [upper, lower] =
                if &*detection.label == PERSON { body(detection.bounds) } else { [middle(detection.bounds), [0.0; 4]] };
            let named = self.entry(SightingKind::Object, &detection.label, at);
            if detection.score > named.score {
                let [left, top, right, bottom] = detection.bounds;
                named.score = detection.score;
                named.place = [(left + right) / 2.0, (top + bottom) / 2.0];
                named.wide = right - left > 0.6;
            }
            named.count = named.count.max(counts[&detection.label]);
            named.palettes[0].add(&Palette::measure(picture, upper));
            named.palettes[1].add(&Palette::measure(picture, lower));
        }
    }

    /// Takes what a whole picture, or a tile of it, looks like.
    pub fn scene(&mut self, at: Duration, classes: &SceneClasses) {
        for (label, score) in classes.groups.iter().chain(&classes.classes) {
            let named = self.entry(SightingKind::Scene, label, at);
            named.score = named.score.max(*score);
        }
    }

    /// Takes the classes of a patch of sound, by the middle of it.
    pub fn sound(&mut self, middle: Duration, labels: &[Arc<str>], scores: &[f32]) {
        self.patches += 1;
        for (class, score) in scores.iter().enumerate().filter(|(_, score)| **score >= MIN_SOUND_SCORE) {
            let (Some(label), Some(text)) = (labels.get(class), said(labels, class)) else { continue };
            let named = self.entry(SightingKind::Sound, label, middle);
            named.score = named.score.max(*score);
            named.text = Some(text);
        }
    }

    fn entry(&mut self, kind: SightingKind, label: &Arc<str>, at: Duration) -> &mut Named {
        let named = self.named.entry((kind, Arc::clone(label))).or_insert_with(|| Named {
            score: 0.0,
            times: Vec::new(),
            count: 1,
            palettes: [Palette::default(); 2],
            place: [0.5; 2],
            wide: false,
            text: None,
        });
        if named.times.last() != Some(&at) {
            named.times.push(at);
        }
        named
    }

    /// Takes a line of writing.
    pub fn writing(&mut self, at: Duration, read: ReadText) {
        let Some(ReadText { text, confidence }) = legible(read) else { return };
        let label: Arc<str> = Arc::from(text.to_lowercase());
        let named = self.entry(SightingKind::Writing, &label, at);
        if confidence > named.score {
            // As the surest reading has it.
            (named.score, named.text) = (confidence, Some(text));
        }
    }

    /// Takes the faces of a picture, each with its vector if an encoder made one.
    pub fn faces(&mut self, at: Duration, picture: &Picture<'_>, faces: Vec<(Face, Option<Vec<f32>>)>) {
        let seen = faces.into_iter().map(|(face, vector)| SeenFace { face, vector }).collect();
        self.faces.push(at, picture, &[], seen);
    }

    /// The faces that were followed. `space` is that of their vectors.
    fn followed(faces: &mut ObjectLog, pictures: &[Duration], space: Option<&str>) -> Vec<Sighting> {
        let (Some(first), Some(last)) = (pictures.first(), pictures.last()) else { return Vec::new() };
        let segment = Segment { start: *first, end: *last + Duration::from_micros(1), boundary: Boundary::End };
        let sighting = |view: InView| Sighting {
            kind: SightingKind::Face,
            label: FACE.to_owned(),
            text: sentence::in_view(&view),
            score: view.confidence,
            share: 1.0,
            count: u32::try_from(view.count).unwrap_or(u32::MAX),
            colours: Vec::new(),
            stream: StreamSpan { start: view.start, end: view.end },
            vector: view.face_vector.clone().zip(space).map(|(vector, space)| SensedEmbedding {
                sensed: Sensed::Face,
                space: space.to_owned(),
                vector,
                sequence: Vec::new(),
            }),
        };
        faces.take(&segment, &Certainty::default()).into_iter().map(sighting).collect()
    }

    /// What was named, surest first. `face_space` is that of the vectors of faces.
    pub fn sightings(self, face_space: Option<&str>) -> Vec<Sighting> {
        let Self { named, mut faces, mut pictures, patches } = self;
        pictures.sort_unstable();
        let mut sightings: Vec<Sighting> = named
            .into_iter()
            .filter_map(|((kind, label), named)| {
                let of = if kind == SightingKind::Sound { patches } else { pictures.len() };
                let share = named.times.len() as f32 / of.max(1) as f32;
                let first = *named.times.first()?;
                let last = *named.times.last()?;
                let stream = match kind {
                    SightingKind::Sound => {
                        StreamSpan { start: first.saturating_sub(HALF_PATCH), end: last + HALF_PATCH }
                    }
                    _ => span_around(first, last, &pictures),
                };
                let (text, colours) = describe(kind, &label, &named)?;
                let label = match (kind, &named.text) {
                    (SightingKind::Writing, Some(written)) => written.clone(),
                    _ => label.to_string(),
                };
                Some(Sighting {
                    kind,
                    label,
                    text,
                    score: named.score.clamp(0.0, 1.0),
                    share: share.min(1.0),
                    count: named.count,
                    colours,
                    stream,
                    vector: None,
                })
            })
            .collect();
        sightings.extend(Self::followed(&mut faces, &pictures, face_space));
        sightings.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.label.cmp(&b.label)));
        sightings
    }
}

/// From the middle between the first picture that shows it and the one before, to the same behind the last.
pub(crate) fn span_around(first: Duration, last: Duration, pictures: &[Duration]) -> StreamSpan {
    let before = pictures[..pictures.partition_point(|at| *at < first)].last();
    let after = pictures.get(pictures.partition_point(|at| *at <= last));
    StreamSpan {
        start: before.map_or(first, |before| (*before + first) / 2),
        end: after.map_or(last, |after| (last + *after) / 2),
    }
}

/// The sentence, and the colours.
fn describe(kind: SightingKind, label: &Arc<str>, named: &Named) -> Option<(String, Vec<String>)> {
    match kind {
        SightingKind::Writing => Some((in_view(named.text.as_deref()?), Vec::new())),
        SightingKind::Sound => Some((named.text.clone()?, Vec::new())),
        SightingKind::Object => {
            let view = InView {
                label: Arc::clone(label),
                count: usize::try_from(named.count).unwrap_or(1),
                start: Duration::ZERO,
                end: Duration::ZERO,
                confidence: named.score,
                colours: named.palettes.each_ref().map(Palette::words),
                place: [named.place; 2],
                wide: named.wide,
                face: false,
                face_vector: None,
            };
            let mut colours: Vec<String> = Vec::new();
            for colour in view.colours.iter().flatten() {
                if !colours.iter().any(|known| known == colour) {
                    colours.push((*colour).to_owned());
                }
            }
            Some((sentence::in_view(&view), colours))
        }
        _ => {
            let looks_like = Some((Arc::clone(label), named.score));
            let scene =
                Scene { colours: Vec::new(), looks_like, names: Vec::new(), vectors: Vec::new(), joint: Vec::new() };
            Some((sentence::scene(&scene)?, Vec::new()))
        }
    }
}

/// The detections of a picture and of its tiles, each thing once.
pub(crate) fn merged(mut all: Vec<Detection>) -> Vec<Detection> {
    all.sort_by(|a, b| b.score.total_cmp(&a.score));
    let mut kept: Vec<Detection> = Vec::with_capacity(all.len());
    for detection in all {
        if kept.iter().all(|other| overlap(&other.bounds, &detection.bounds) <= MIN_OVERLAP) {
            kept.push(detection);
        }
    }
    kept
}
