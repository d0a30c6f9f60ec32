//! Places that the memory knows by their pictures, and intervals without a place.
//!
//! The views of a place are the pictures from the times when it had its name: somebody said the name there, an
//! observation named it, or the robot's pose lay there. A tool compares the pictures of an interval with them.

use std::collections::BTreeMap;

use crate::centroid::{dot, normalise};
use crate::index::SearchQuery;
use crate::language::english::space::at_place;
use crate::recall::Reader;
use crate::words::fold_name;
use crate::{Event, EventId, Kind, Modality, Origin, PoseOf, ReadError, Sensed, StreamSpan, TimeSpan, Value};

use super::finding::KnownEvents;
use super::interval::Interval;
use super::tools::{KnownPlace, Reach};

/// Maximum number of scenes per naming of a place.
const MAX_SCENES: usize = 8;
/// Maximum number of views of a place.
const MAX_VIEWS: usize = 16;
/// Cosine from which two views count as the same.
const SAME_VIEW: f32 = 0.98;
/// Maximum number of events of an interval that are read.
const MAX_EVENTS: usize = 200;
/// Share of the pairs of pictures of one place whose cosine reaches γ. The γ of a space is chosen for it
/// (`tests/score-places`; for the measurements see docs/benchmarks.md).
const SAME_PLACE_SHARE: f32 = 0.85;
/// As [`SAME_PLACE_SHARE`], for pictures of two places.
const OTHER_PLACE_SHARE: f32 = 0.02;

/// Knowledge of places for one question.
#[derive(Debug, Default)]
pub(super) struct Places {
    known: Vec<KnownPlace>,
    /// Number of different names.
    names: usize,
    /// Times with a place in the memory, by interval.
    placed: Vec<Vec<TimeSpan>>,
}

impl Places {
    /// Reads the places with views in one of `spaces`.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn read(spaces: &[&str], intervals: &[Interval], reader: &dyn Reader) -> Result<Self, ReadError> {
        let mut known = Vec::new();
        let mut scenes: Option<PlaceScenes> = None;
        for place in reader.place_spaces().iter().filter(|place| spaces.contains(&place.space.as_str())) {
            let scenes = match &mut scenes {
                Some(scenes) => scenes,
                none => none.insert(PlaceScenes::read(reader)?),
            };
            known.extend(scenes.known_places(&place.space, place.gamma, reader));
        }
        if known.is_empty() {
            return Ok(Self::default());
        }
        let placed = intervals.iter().map(|interval| placed_spans(interval, reader)).collect::<Result<_, _>>()?;
        let mut names: Vec<String> = known.iter().map(|place: &KnownPlace| fold_name(&place.name)).collect();
        names.sort_unstable();
        names.dedup();
        Ok(Self { known, names: names.len(), placed })
    }

    pub fn known(&self) -> &[KnownPlace] {
        &self.known
    }

    /// Adds the names of the known places to the labels of a tool, if it tells places apart.
    pub fn add_names(&self, reach: &mut Reach) {
        let space = reach.places.clone();
        let own = self.known.iter().filter(|place| Some(&place.space) == space.as_ref());
        reach.labels.extend(own.map(|place| (Modality::Visual, place.name.clone())));
    }

    /// Returns the share of each interval without a place in the memory. Empty if the memory knows no place by its
    /// pictures.
    pub fn placeless_shares(&self, intervals: &[Interval]) -> Vec<f32> {
        let share = |(interval, placed): (&Interval, &Vec<TimeSpan>)| {
            1.0 - covered_seconds(interval.span(), placed) / interval.length().as_secs_f32().max(f32::EPSILON)
        };
        intervals.iter().zip(&self.placed).map(share).collect()
    }

    /// Returns whether the memory has a place for most of a part of an interval.
    pub fn has_place(&self, number: usize, interval: &Interval, stream: StreamSpan) -> bool {
        let span = TimeSpan { start: interval.wall_clock_at(stream.start), end: interval.wall_clock_at(stream.end) };
        let placed = self.placed.get(number).map_or(&[][..], Vec::as_slice);
        covered_seconds(span, placed) * 2.0 > span.end.since(span.start).as_secs_f32()
    }

    /// Returns the probability that pictures show a place if their cosine to it reaches γ. They may show any of the
    /// known places, or none.
    #[expect(clippy::cast_precision_loss, reason = "a number of places")]
    pub fn probability(&self) -> f32 {
        let others = self.names as f32;
        SAME_PLACE_SHARE / (SAME_PLACE_SHARE + others * OTHER_PLACE_SHARE)
    }
}

/// Returns the sentence of a derived event: the robot, or a thing that it sees, is at a place.
pub(super) fn sentence(thing: &str, name: &str) -> String {
    format!("The {thing} is {}.", at_place(name))
}

/// Returns events about where the things of the question are: a thing that is seen while the pictures show a place is
/// there. `asked` returns whether the question asks for a label.
pub(super) fn thing_places(found: &[Event], known: &KnownEvents, asked: impl Fn(&str) -> bool) -> Vec<Event> {
    let is_stay = |event: &&Event| event.attributes.contains_key("place") && !event.attributes.contains_key("objects");
    let things = || found.iter().filter(|event| event.kind == Kind::Object).chain(known.objects());
    let mut there: Vec<Event> = Vec::new();
    for stay in found.iter().filter(is_stay) {
        let Some(name) = stay.attributes.get("place").and_then(Value::as_text) else { continue };
        for thing in things().filter(|thing| thing.media == stay.media) {
            let Some(label) = first_label(thing).filter(|label| asked(label)) else { continue };
            let both = stay
                .stream
                .zip(thing.stream)
                .map(|(stay, thing)| StreamSpan { start: stay.start.max(thing.start), end: stay.end.min(thing.end) });
            let Some(stream) = both.filter(|both| both.start < both.end) else { continue };
            let begin = stay.stream.map_or(stream.start, |stay| stay.start);
            let wall = |at: std::time::Duration| stay.span.start.saturating_add(at.saturating_sub(begin));
            let mut attributes = stay.attributes.clone();
            attributes.insert("objects".to_owned(), Value::List(vec![Value::Text(label.to_owned())]));
            there.push(Event {
                text: sentence(label, name),
                span: TimeSpan { start: wall(stream.start), end: wall(stream.end) },
                stream: Some(stream),
                attributes,
                confidence: stay.confidence * thing.confidence,
                ..stay.clone()
            });
        }
    }
    there
}

fn first_label(thing: &Event) -> Option<&str> {
    match thing.attributes.get("objects")? {
        Value::List(labels) => labels.first()?.as_text(),
        _ => None,
    }
}

/// The names of places, each with the scenes that were seen there.
struct PlaceScenes(Vec<(String, Vec<EventId>)>);

impl PlaceScenes {
    fn read(reader: &dyn Reader) -> Result<Self, ReadError> {
        let mut names: BTreeMap<String, (String, Vec<EventId>)> = BTreeMap::new();
        let mut of_scene: BTreeMap<EventId, Option<String>> = BTreeMap::new();
        for (name, span) in reader.place_namings()? {
            let query = SearchQuery {
                span: Some(span),
                kinds: vec![Kind::Caption],
                latest: true,
                limit: MAX_SCENES,
                ..SearchQuery::default()
            };
            let folded = fold_name(&name);
            for hit in reader.search().search(&query) {
                let scene = of_scene.entry(hit.id).or_insert_with(|| Some(folded.clone()));
                // On the way from the kitchen to the hall both are named. It is not known which one a picture shows.
                if scene.as_ref().is_some_and(|known| *known != folded) {
                    *scene = None;
                }
                names.entry(folded.clone()).or_insert_with(|| (name.clone(), Vec::new())).1.push(hit.id);
            }
        }
        for (folded, (_, scenes)) in &mut names {
            scenes.sort_unstable();
            scenes.dedup();
            scenes.retain(|scene| of_scene.get(scene).is_some_and(|known| known.as_ref() == Some(folded)));
        }
        Ok(Self(names.into_values().collect()))
    }

    fn known_places(&self, space: &str, gamma: f32, reader: &dyn Reader) -> Vec<KnownPlace> {
        let place = |(name, scenes): &(String, Vec<EventId>)| {
            let mut views: Vec<Vec<f32>> = Vec::new();
            for vector in reader.sensed_vectors(scenes, Sensed::Picture, space).into_iter().rev().flatten() {
                let mut view: Vec<f32> = vector.into_iter().map(f32::from).collect();
                normalise(&mut view);
                if views.len() < MAX_VIEWS && views.iter().all(|known| dot(known, &view) < SAME_VIEW) {
                    views.push(view);
                }
            }
            let known = KnownPlace { name: name.clone(), space: space.to_owned(), gamma, views };
            (!known.views.is_empty()).then_some(known)
        };
        self.0.iter().filter_map(place).collect()
    }
}

/// Returns the times within an interval for which the memory has a place: told, observed, or by the robot's pose.
fn placed_spans(interval: &Interval, reader: &dyn Reader) -> Result<Vec<TimeSpan>, ReadError> {
    let query = SearchQuery { span: Some(interval.span()), limit: MAX_EVENTS, ..SearchQuery::default() };
    let mut placed = Vec::new();
    for hit in reader.search().search(&query) {
        placed.extend(reader.event(hit.id)?.filter(|event| has_place(event, reader)).map(|event| event.span));
    }
    placed.sort_by_key(|span| (span.start, span.end));
    Ok(placed)
}

fn has_place(event: &Event, reader: &dyn Reader) -> bool {
    let told = event.attributes.get("place").and_then(Value::as_text).is_some();
    let posed = || {
        let pose = event.pose.as_ref().filter(|pose| pose.of == PoseOf::Robot && event.origin == Origin::Perceived);
        pose.zip(reader.places()).is_some_and(|(pose, map)| map.place_at(&pose.frame, pose.x, pose.y).is_some())
    };
    told || posed()
}

/// Returns how many seconds of a span are covered by others, which are sorted by their start.
fn covered_seconds(whole: TimeSpan, spans: &[TimeSpan]) -> f32 {
    let (mut sum, mut until) = (0.0, whole.start);
    for span in spans {
        let (from, to) = (span.start.max(until), span.end.min(whole.end));
        if to > from {
            sum += to.since(from).as_secs_f32();
            until = to;
        }
    }
    sum
}
