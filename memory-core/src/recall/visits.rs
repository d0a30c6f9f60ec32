//! Places as clusters of similar scenes, and the visits to them.

use std::time::Duration;

use super::Reader;
use super::pool::{EventPool, RetrievedEvent};
use crate::centroid::dot;
use crate::episodic::consolidation::PlaceSpace;
use crate::index::SearchQuery;
use crate::{Event, EventId, Kind, Origin, ReadError, Sensed, TimeSpan};

/// Maximum number of scenes that are compared, the latest ones.
const MAX_CLUSTERED_SCENES: usize = 4_000;
/// Longest gap between two scenes of one visit.
const MAX_VISIT_GAP: Duration = Duration::from_secs(60);
/// Share of a visit that a match must fill to belong to the place and not to a moment in it.
const MIN_PLACE_SHARE: f32 = 0.5;

impl EventPool<'_> {
    /// Returns the visits to the place that a question counts. Returns `None` if the matched events (`seen`) were told,
    /// or show no place.
    pub(super) fn counted_visits(&self, seen: &[&RetrievedEvent]) -> Result<Option<Vec<ShownVisit>>, ReadError> {
        let perceived = |found: &&&RetrievedEvent| {
            found.reading.event.origin == Origin::Perceived && found.reading.event.kind != Kind::Text
        };
        let seen: Vec<&RetrievedEvent> = seen.iter().filter(perceived).copied().collect();
        let whole = self
            .question
            .asked
            .words
            .iter()
            .any(|word| matches!(word.lemma.as_str(), "place" | "room" | "location" | "visit" | "spot"));
        if seen.is_empty() {
            return Ok(None);
        }
        let Some(places) = ScenePlaces::load(self.reader, self.question.bound())? else { return Ok(None) };
        Ok(places.visits_of(&seen, whole))
    }
}

/// One perceived segment.
pub(super) struct Scene {
    pub event: Event,
    place: usize,
}

/// The scenes of a time span in order, each assigned to a place.
pub(super) struct ScenePlaces {
    scenes: Vec<Scene>,
    count: usize,
}

/// A visit to a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Visit {
    pub span: TimeSpan,
    /// Index of its longest scene.
    longest: usize,
}

impl ScenePlaces {
    /// Loads and clusters the scenes of `span`, or of the whole memory. Returns `None` if no pictures can be compared.
    pub fn load(reader: &dyn Reader, span: Option<TimeSpan>) -> Result<Option<Self>, ReadError> {
        let query = SearchQuery {
            span,
            kinds: vec![Kind::Caption],
            latest: true,
            limit: MAX_CLUSTERED_SCENES,
            ..SearchQuery::default()
        };
        let ids: Vec<EventId> = reader.search().search(&query).into_iter().map(|hit| hit.id).collect();
        for PlaceSpace { space, gamma } in reader.place_spaces() {
            let vectors = reader.sensed_vectors(&ids, Sensed::Picture, space);
            let mut scenes: Vec<(Event, Vec<f32>)> = Vec::new();
            for (id, vector) in ids.iter().zip(vectors) {
                let Some(vector) = vector.and_then(|vector| unit_vector(&vector)) else { continue };
                // Skip what was forgotten since the snapshot.
                let event = reader.event(*id)?.filter(|event| event.origin == Origin::Perceived);
                scenes.extend(event.map(|event| (event, vector)));
            }
            if !scenes.is_empty() {
                return Ok(Some(Self::cluster(scenes, *gamma)));
            }
        }
        Ok(None)
    }

    /// Assigns each scene to the place with the most similar mean, or starts a new place.
    fn cluster(mut scenes: Vec<(Event, Vec<f32>)>, same: f32) -> Self {
        scenes.sort_by(|(a, _), (b, _)| (&a.source, a.span.start, a.id).cmp(&(&b.source, b.span.start, b.id)));
        let mut means: Vec<Vec<f32>> = Vec::new();
        let scenes: Vec<Scene> = scenes
            .into_iter()
            .map(|(event, vector)| {
                let mut best: Option<(usize, f32)> = None;
                for (place, mean) in means.iter().enumerate() {
                    let alike = dot(mean, &vector) / dot(mean, mean).sqrt();
                    if alike >= same && best.is_none_or(|(_, most)| alike > most) {
                        best = Some((place, alike));
                    }
                }
                let place = match best {
                    Some((place, _)) => {
                        means[place].iter_mut().zip(&vector).for_each(|(sum, number)| *sum += number);
                        place
                    }
                    None => {
                        means.push(vector);
                        means.len() - 1
                    }
                };
                Scene { event, place }
            })
            .collect();
        Self { scenes, count: means.len() }
    }

    /// Returns all scenes, each with its place, in order of time for each source.
    pub fn scenes(&self) -> impl Iterator<Item = (&Event, usize)> {
        self.scenes.iter().map(|scene| (&scene.event, scene.place))
    }

    /// The stays at a place, in order of time for each source.
    pub fn visits(&self, place: usize) -> Vec<Visit> {
        let mut visits: Vec<Visit> = Vec::new();
        let mut last: Option<&Scene> = None;
        for (at, scene) in self.scenes.iter().enumerate() {
            if scene.place == place {
                let span = scene.event.span;
                let stays = last.is_some_and(|last| {
                    last.place == place
                        && last.event.source == scene.event.source
                        && span.start.since(last.event.span.end) <= MAX_VISIT_GAP
                });
                match visits.last_mut().filter(|_| stays) {
                    Some(visit) => {
                        visit.span.end = visit.span.end.max(span.end);
                        if span_length(span) > span_length(self.scenes[visit.longest].event.span) {
                            visit.longest = at;
                        }
                    }
                    None => visits.push(Visit { span, longest: at }),
                }
            }
            last = Some(scene);
        }
        visits
    }

    /// Returns the visits to the places that were shown at some times, in time order, each with its longest scene.
    pub fn visits_at_times(&self, times: &[TimeSpan]) -> Vec<ShownVisit> {
        let shown: std::collections::BTreeSet<usize> = times.iter().filter_map(|span| self.place_at(*span)).collect();
        let mut visits: Vec<Visit> = shown.into_iter().flat_map(|place| self.visits(place)).collect();
        visits.sort_by_key(|visit| (visit.span.start, visit.longest));
        visits.into_iter().map(|visit| self.with_best_event(visit, &[])).collect()
    }

    /// The visits to the place that candidates are of, with what shows each: the best candidate in it, else its longest
    /// scene. `None` if they are of moments and not of places; with `whole`, they are asked for as a place.
    pub fn visits_of(&self, candidates: &[&RetrievedEvent], whole: bool) -> Option<Vec<ShownVisit>> {
        let mut weights = vec![0.0_f32; self.count];
        for candidate in candidates {
            if let Some(place) = self.place_at(candidate.span()) {
                weights[place] += candidate.coverage.of_content * as_seconds(span_length(candidate.span()));
            }
        }
        let place = (0..self.count)
            .filter(|place| weights[*place] > 0.0)
            .max_by(|a, b| weights[*a].total_cmp(&weights[*b]).then(b.cmp(a)))?;
        let visits = self.visits(place);
        let inside = |visit: &Visit| {
            let mut spans: Vec<TimeSpan> =
                candidates.iter().map(|one| one.span()).filter(|span| span.overlaps(visit.span)).collect();
            spans.sort_by_key(|span| (span.start, span.end));
            covered_share(visit.span, &spans)
        };
        let fills = visits.iter().map(inside).fold(0.0, f32::max);
        if !whole && fills < MIN_PLACE_SHARE {
            return None;
        }
        Some(visits.into_iter().map(|visit| self.with_best_event(visit, candidates)).collect())
    }

    fn with_best_event(&self, visit: Visit, candidates: &[&RetrievedEvent]) -> ShownVisit {
        let inside = candidates.iter().filter(|one| visit.span.contains(one.span().start));
        let best =
            inside.max_by(|a, b| a.coverage.of_content.total_cmp(&b.coverage.of_content).then(b.id().cmp(&a.id())));
        let event = best.map_or(&self.scenes[visit.longest].event, |best| &best.reading.event);
        ShownVisit { span: visit.span, event: event.clone() }
    }

    /// Returns the place of the scene that shares most of a span.
    fn place_at(&self, span: TimeSpan) -> Option<usize> {
        let shared = |scene: &Scene| {
            let (start, end) = (scene.event.span.start.max(span.start), scene.event.span.end.min(span.end));
            end.since(start)
        };
        let over = self.scenes.iter().filter(|scene| scene.event.span.overlaps(span));
        over.max_by_key(|scene| (shared(scene), std::cmp::Reverse(scene.event.id))).map(|scene| scene.place)
    }
}

/// A visit with the event that shows it.
#[derive(Debug, Clone)]
pub(super) struct ShownVisit {
    pub span: TimeSpan,
    /// The event that shows the visit best.
    pub event: Event,
}

/// Returns the share of `whole` that `spans` cover. The spans are in order of their starts.
fn covered_share(whole: TimeSpan, spans: &[TimeSpan]) -> f32 {
    let mut sum = Duration::ZERO;
    let mut until = whole.start;
    for span in spans {
        let (from, to) = (span.start.max(until), span.end.min(whole.end));
        if to > from {
            sum += to.since(from);
            until = to;
        }
    }
    as_seconds(sum) / as_seconds(span_length(whole))
}

fn span_length(span: TimeSpan) -> Duration {
    span.end.since(span.start)
}

fn as_seconds(length: Duration) -> f32 {
    length.as_secs_f32().max(0.1)
}

/// Normalises a vector to unit length. Returns `None` for a zero vector.
fn unit_vector(vector: &[i16]) -> Option<Vec<f32>> {
    let vector: Vec<f32> = vector.iter().map(|number| f32::from(*number)).collect();
    let norm = dot(&vector, &vector).sqrt();
    (norm > 0.0).then(|| vector.iter().map(|number| number / norm).collect())
}

#[cfg(test)]
mod tests {
    use super::super::content::Coverage;
    use super::super::reading::ParsedEvent;
    use super::*;
    use crate::{Attributes, EpisodeId, Modality, Timestamp};

    fn at(second: i64) -> Timestamp {
        Timestamp::from_micros(second * 1_000_000)
    }

    fn event(id: u64, kind: Kind, from: i64, until: i64) -> Event {
        Event {
            id: EventId(id),
            episode: EpisodeId(0),
            origin: Origin::Perceived,
            sender_id: None,
            kind,
            modality: Modality::Visual,
            text: String::new(),
            span: TimeSpan::new(at(from), at(until)),
            stream: None,
            source: "camera".into(),
            entity: None,
            attributes: Attributes::new(),
            confidence: 1.0,
            media: None,
            received: at(from),
            pose: None,
        }
    }

    fn found(id: u64, from: i64, until: i64) -> RetrievedEvent {
        let event = event(id, Kind::Object, from, until);
        let coverage = Coverage { of_content: 1.0, of_event: 1.0, unmatched_words: 0.0 };
        RetrievedEvent {
            reading: ParsedEvent::unparsed(event).into(),
            score: 1.0,
            relevance: 0.0,
            cosine: None,
            coverage,
            placed: 0.0,
        }
    }

    /// Kitchen, hall and kitchen again for ten seconds each scene; a while later once more the kitchen.
    fn day() -> ScenePlaces {
        let (kitchen, again, hall) = (vec![1.0, 0.0], vec![0.9, 0.435_89], vec![0.0, 1.0]);
        let rows = [(0, &kitchen), (10, &again), (20, &hall), (30, &again), (40, &kitchen), (500, &kitchen)];
        let scenes = rows
            .iter()
            .zip(0..)
            .map(|((from, vector), id)| (event(id, Kind::Caption, *from, from + 10), (*vector).clone()));
        ScenePlaces::cluster(scenes.collect(), 0.8)
    }

    fn begins(visits: &[Visit]) -> Vec<Timestamp> {
        visits.iter().map(|visit| visit.span.start).collect()
    }

    #[test]
    fn scenes_that_look_alike_are_one_place_and_another_between_them_parts_its_visits() {
        let places = day();
        assert_eq!(places.count, 2);
        assert_eq!(begins(&places.visits(0)), [at(0), at(30), at(500)]);
        assert_eq!(begins(&places.visits(1)), [at(20)]);
    }

    #[test]
    fn what_fills_a_visit_is_of_the_place_and_what_happens_in_it_is_not() {
        let places = day();
        let (stove, shout) = (found(90, 0, 19), found(91, 3, 5));
        assert_eq!(places.visits_of(&[&stove], false).unwrap().len(), 3, "the stove is where it always is");
        assert!(places.visits_of(&[&shout], false).is_none(), "a shout is counted by itself");
        let visits = places.visits_of(&[&shout], true).unwrap();
        assert_eq!(visits.len(), 3, "the place of the shout");
        assert_eq!((visits[0].event.id, visits[1].event.id), (EventId(91), EventId(3)));
    }
}
