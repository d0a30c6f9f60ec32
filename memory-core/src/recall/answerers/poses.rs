//! Answers from poses: where something was seen last, what is near something, how far apart two things are, how often
//! somebody was at a place.
//!
//! Nothing here answers in a memory without poses.

mod areas;

use std::time::Duration;

use self::areas::{MapArea, events_in, map_area, persons_at, things_in_area};
pub(super) use self::areas::{named_place, names_place};
use super::counts::times_in_words;
use super::places::located_phrase;
use crate::episodic::visited;
use crate::index::{Holding, MappedPlace};
use crate::language::english::letters::capitalised;
use crate::language::english::question::{AnswerKind, Occurrence};
use crate::language::english::space::{SpatialQuestion, at_place, join_list, spatial_question};
use crate::language::english::syntax::NounPhrase;
use crate::language::english::time::say_moment;
use crate::recall::candidate::{Candidate, CandidateValue, Layer, Signals};
use crate::recall::likeness::best_phrase_similarity;
use crate::recall::pool::{EventPool, RetrievedEvent, merge};
use crate::recall::reading::ParsedEvent;
use crate::recall::robot_stays::{MAX_ABSENCE, MAX_AREA_EVENTS};
use crate::{Event, EventId, Kind, Near, Pose, PoseOf, ReadError, TimeSpan, Timestamp};

/// Similarity below which a phrase names another thing.
const MIN_THING_SIMILARITY: f32 = 0.6;
/// Maximum number of events of a thing that are read, the latest ones.
const MAX_THING_EVENTS: usize = 200;
/// Maximum number of events about something else that mention the thing.
const MAX_MENTIONS: usize = 40;
/// Radius of "near", in metres.
const NEAR_RADIUS_M: f64 = 2.0;
/// Maximum standard deviation of a position in an answer, in metres.
const MAX_POSITION_DEVIATION_M: f64 = 1.0;
/// Maximum distance of two sightings at one spot, in metres.
const MAX_SPOT_DISTANCE_M: f64 = 1.0;
/// Longest time bound that means one moment.
const MAX_MOMENT: Duration = Duration::from_secs(3 * 3_600);
/// Maximum number of items of a list.
const MAX_LIST_ITEMS: usize = 8;

/// Answers from poses. `told` are the candidates from words and facts. The newer one is right.
pub(in crate::recall) fn answer(
    pool: &EventPool<'_>,
    pooled: &[RetrievedEvent],
    told: &[Candidate],
) -> Result<Option<Candidate>, ReadError> {
    if pool.reader.positions().is_none_or(crate::index::PositionIndex::is_empty) {
        return Ok(None);
    }
    let question = pool.question;
    let asked = spatial_question(&question.asked);
    match (question.ask(), asked) {
        (_, Some(SpatialQuestion::Apart(one, other))) => distance_between(pool, &one, &other),
        (AnswerKind::Place, _) => latest_location(pool, pooled, told),
        (AnswerKind::Times, Some(SpatialQuestion::Around { noun, inside })) => count_visits(pool, &noun, inside),
        (
            AnswerKind::Thing | AnswerKind::Description | AnswerKind::Action,
            Some(SpatialQuestion::Around { noun, inside }),
        ) => things_in_area(pool, &noun, inside),
        (AnswerKind::Person, Some(SpatialQuestion::Around { noun, inside })) if question.asked.cue.is_none() => {
            persons_at(pool, &noun, inside)
        }
        _ => Ok(None),
    }
}

/// Returns the pose of an event, if it is the position of the event. The position of the robot during a conversation
/// says nothing about the topic.
pub(in crate::recall) fn event_pose(found: &RetrievedEvent) -> Option<&Pose> {
    let event = &found.reading.event;
    let certain =
        |pose: &&Pose| pose.covariance.is_none_or(|covariance| covariance.spread() <= MAX_POSITION_DEVIATION_M);
    event.pose.as_ref().filter(|pose| pose.of == PoseOf::Thing || event.kind != Kind::Text).filter(certain)
}

/// Returns the events of a thing with a pose, in time order.
fn sightings(
    pool: &EventPool<'_>,
    thing: &NounPhrase,
    span: Option<TimeSpan>,
    latest: bool,
) -> Result<Vec<RetrievedEvent>, ReadError> {
    let content = &pool.question.content;
    let mut all = Vec::new();
    let mut mentions = MAX_THING_EVENTS;
    if let Some(entity) = pool.entity(thing) {
        let query = Holding { entity: Some(entity), span, latest, limit: MAX_THING_EVENTS, ..Holding::default() };
        all = events_with_pose(pool, &pool.reader.search().holding(&query))?;
        mentions = MAX_MENTIONS;
    }
    let mentioned = pool.events_mentioning(thing, span, latest, mentions, content)?;
    let mut seen: Vec<RetrievedEvent> = merge(all, mentioned)
        .into_iter()
        .filter(|found| event_pose(found).is_some() && visited(&found.reading.event).is_none())
        .filter(|found| !found.reading.only_asks() && is_sighting_of(thing, found))
        .collect();
    seen.sort_by_key(|found| (found.span().start, found.id()));
    Ok(seen)
}

/// Returns where to drive for an answered place: to the pose of the evidence, else to the named place of the answer.
pub(in crate::recall) fn destination(pool: &EventPool<'_>, first: &RetrievedEvent, answer: &str) -> Option<Pose> {
    if let Some(pose) = super::presence::current_robot_pose(pool) {
        return Some(pose.clone());
    }
    let robot = || first.reading.event.pose.clone().filter(|_| super::presence::asks_for_robot(pool.question));
    event_pose(first).cloned().or_else(robot).or_else(|| {
        let said: Vec<String> = crate::index::words(answer).collect();
        let in_answer = |name: &str| {
            let own: Vec<String> = crate::index::words(name).collect();
            !own.is_empty() && said.windows(own.len()).any(|window| window == own)
        };
        let map = pool.reader.places()?;
        let places = map.places();
        let named = places.iter().filter(|place| in_answer(&place.name));
        // An older fact contains the old name.
        let old = || {
            let (_, new) = map.names().old_names().find(|(old, _)| in_answer(old))?;
            places.iter().find(|place| place.name.eq_ignore_ascii_case(new))
        };
        named.max_by_key(|place| (place.name.len(), place.named)).or_else(old).cloned().map(place_pose)
    })
}

/// Returns the centre of the positions where a place was named. The robot was there, so it can get there.
fn place_pose(place: MappedPlace) -> Pose {
    let MappedPlace { frame, x, y, .. } = place;
    Pose { frame, x, y, z: 0.0, yaw: 0.0, covariance: None, of: PoseOf::Robot }
}

/// Returns the events that have a pose, in the given order.
pub(super) fn events_with_pose(pool: &EventPool<'_>, ids: &[EventId]) -> Result<Vec<RetrievedEvent>, ReadError> {
    let mut found = Vec::new();
    for id in ids {
        let Some(event) = pool.reader.event(*id)?.filter(|event| event.pose.is_some()) else { continue };
        found.push(read_subject(pool, event));
    }
    Ok(found)
}

/// Reads an event as far as needed to know its subject. Parses only events without an entity.
pub(super) fn read_subject(pool: &EventPool<'_>, event: Event) -> RetrievedEvent {
    let named = event.kind != Kind::Text && (event.entity.is_some() || event.kind == Kind::Object);
    let reading = if named { ParsedEvent::unparsed(event).into() } else { pool.reading(event) };
    let coverage = pool.question.content.coverage(&reading);
    RetrievedEvent { reading, score: 0.0, relevance: 0.0, cosine: None, coverage, placed: 0.0 }
}

/// Returns whether an event with a pose is about a thing: its entity, or the first thing that it names.
pub(super) fn is_sighting_of(thing: &NounPhrase, found: &RetrievedEvent) -> bool {
    match found.reading.entity_phrase() {
        Some(entity) if found.reading.event.kind != Kind::Text => {
            crate::recall::likeness::phrase_similarity(thing, &entity, &found.reading) >= MIN_THING_SIMILARITY
        }
        _ => best_phrase_similarity(thing, &found.reading) >= MIN_THING_SIMILARITY,
    }
}

/// Returns the place that a pose belongs to.
pub(super) fn place_at_pose<'p>(pool: &'p EventPool<'_>, pose: &Pose) -> Option<&'p str> {
    pool.reader.places()?.place_at(&pose.frame, pose.x, pose.y)
}

/// Returns the location of an event in words.
fn location_text(pool: &EventPool<'_>, found: &RetrievedEvent) -> Option<String> {
    let told = found.reading.event.attributes.get("place").and_then(crate::Value::as_text);
    let now = |name: &str| pool.reader.places().map(|places| places.current(name, found.span().start).to_owned());
    let pose = event_pose(found)?;
    let place = told.and_then(now).or_else(|| place_at_pose(pool, pose).map(str::to_owned));
    Some(
        place.map_or_else(
            || format!("at x {:.1} m, y {:.1} m on {}", pose.x, pose.y, pose.frame),
            |place| at_place(&place),
        ),
    )
}

/// Answers where a thing was, by the latest event with a pose, unless words or facts are newer.
fn latest_location(
    pool: &EventPool<'_>,
    pooled: &[RetrievedEvent],
    told: &[Candidate],
) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let Some(thing) = located_phrase(question) else { return Ok(None) };
    if question.asked.habitual || question.asked.cue.is_some() {
        return Ok(None);
    }
    let bound = if question.has_time_bound() { question.bound() } else { question.hard };
    let before = bound.map(|bound| TimeSpan { start: Timestamp::from_micros(i64::MIN), end: bound.end });
    let first = question.asked.occurrence == Some(Occurrence::First);
    let span = if first { bound } else { before };
    let seen = sightings(pool, &thing, span, !first)?;
    let starts = |found: &&RetrievedEvent| found.span().start;
    let chosen = match (question.asked.occurrence, bound) {
        (Some(Occurrence::First), _) => seen.first(),
        (Some(Occurrence::Previous), _) => {
            let last = seen.last();
            seen.iter().rev().find(|found| last.is_some_and(|last| !is_one_spot(found, last)))
        }
        (_, Some(bound)) => {
            // "Ten minutes ago" is a moment, however precisely people tell it.
            let length = bound.end.since(bound.start);
            let at = if length <= MAX_MOMENT { bound.start.saturating_add(length / 2) } else { bound.end };
            seen.iter().rev().find(|found| found.span().start <= at).or(seen.first())
        }
        (_, None) => seen.last(),
    };
    let Some(chosen) = chosen else { return place_on_map(pool, &thing, told) };
    let newest = |candidate: &Candidate| match candidate.layer {
        Layer::Facts => candidate.evidence.iter().map(|found| found.span().start).max(),
        _ => candidate.evidence.first().map(|found| found.span().start),
    };
    let in_words = told.iter().filter(|candidate| candidate.signals.fits >= 0.5).filter_map(newest).max();
    if !first && in_words >= Some(starts(&chosen)) {
        return Ok(None);
    }
    // The words of the answering event count like those of any other event.
    let Some(chosen) = pool.read(&[chosen.id()], &question.content)?.pop() else { return Ok(None) };
    let Some(text) = location_text(pool, &chosen) else { return Ok(None) };
    let stays = spot_stays(&seen);
    let reason = match stays.as_slice() {
        [.., before, last] => {
            let until = say_moment(before.1.end, &question.now);
            let since = say_moment(last.1.start, &question.now);
            let spot = |found: &RetrievedEvent| location_text(pool, found).unwrap_or_default();
            format!("seen {} until {until}, {} since {since}", spot(&seen[before.0]), spot(&seen[last.0]))
        }
        _ => "the only spot where it was seen".to_owned(),
    };
    let mut evidence = vec![chosen.clone()];
    evidence.extend(seen.iter().rev().filter(|found| found.id() != chosen.id()).take(MAX_LIST_ITEMS).cloned());
    evidence.extend(pooled.iter().filter(|found| found.id() != chosen.id()).cloned());
    Ok(Some(Candidate {
        layer: Layer::Episodes,
        text: capitalised(&text),
        value: CandidateValue::Text(text),
        signals: Signals {
            coverage: chosen.coverage.of_content,
            cosine: chosen.cosine.unwrap_or(0.0),
            margin: 1.0,
            fits: 1.0,
            thing: best_phrase_similarity(&thing, &chosen.reading),
            known: question.content.known_share(),
        },
        evidence: merge(evidence, Vec::new()),
        confidence: 0.0,
        computed: false,
        reason,
    }))
}

/// Answers "where is the kitchen?" by position, for a place whose location nobody reported.
fn place_on_map(pool: &EventPool<'_>, thing: &NounPhrase, told: &[Candidate]) -> Result<Option<Candidate>, ReadError> {
    if told.iter().any(|candidate| candidate.signals.fits >= 0.5) {
        return Ok(None);
    }
    let Some(place) = named_place(pool, thing) else { return Ok(None) };
    let mut evidence = super::presence::naming_events(pool, thing, None)?;
    evidence.retain(|found| found.reading.event.pose.is_some());
    if evidence.is_empty() {
        return Ok(None);
    }
    let text = format!("{} is at x {:.1} m, y {:.1} m on {}", place.name, place.x, place.y, place.frame);
    let (reason, known) = (
        format!("named {} on the map", times_in_words(evidence.len()).to_lowercase()),
        pool.question.content.known_share(),
    );
    let value = CandidateValue::Text(text.clone());
    Ok(Some(Candidate::computed(Layer::Episodes, capitalised(&text), value, evidence, known, reason)))
}

fn is_one_spot(one: &RetrievedEvent, other: &RetrievedEvent) -> bool {
    match (event_pose(one), event_pose(other)) {
        (Some(one), Some(other)) => one.distance(other).is_some_and(|distance| distance <= MAX_SPOT_DISTANCE_M),
        _ => false,
    }
}

/// Returns the stays of a thing at one spot, in time order: the index of the first sighting in `seen`, and the time
/// span.
fn spot_stays(seen: &[RetrievedEvent]) -> Vec<(usize, TimeSpan)> {
    let mut stays: Vec<(usize, TimeSpan)> = Vec::new();
    for (at, found) in seen.iter().enumerate() {
        match stays.last_mut().filter(|(first, _)| is_one_spot(&seen[*first], found)) {
            Some((_, span)) => span.end = span.end.max(found.span().end),
            None => stays.push((at, found.span())),
        }
    }
    stays
}

/// Returns the subject of an event with a pose.
fn sighted_thing(found: &RetrievedEvent) -> Option<String> {
    event_pose(found)?;
    event_subject(found)
}

/// Returns the subject of an event at any location.
pub(super) fn event_subject(found: &RetrievedEvent) -> Option<String> {
    let event = &found.reading.event;
    if matches!(event.kind, Kind::Caption | Kind::Sound) || visited(event).is_some() {
        return None;
    }
    // The entity of a text is its speaker, who need not be the subject.
    if let Some(entity) = event.entity.as_ref().filter(|_| event.kind != Kind::Text) {
        return Some(entity.clone());
    }
    if event.kind == Kind::Object {
        return Some(event.text.trim_end_matches('.').to_owned());
    }
    let clause = found.reading.clauses().find(|clause| clause.subject.is_some())?;
    let thing = clause.subject.iter().chain(&clause.objects).find(|noun| !noun.is_pronoun())?;
    Some(found.reading.text(&thing.range).to_owned())
}

pub(super) fn list_candidate(
    pool: &EventPool<'_>,
    things: Vec<(String, RetrievedEvent)>,
    reason: &str,
) -> Option<Candidate> {
    if things.is_empty() {
        return None;
    }
    let names: Vec<String> = things.iter().map(|(thing, _)| thing.clone()).collect();
    let evidence = things.into_iter().map(|(_, found)| found).collect();
    let text = capitalised(&join_list(&names));
    let known = pool.question.content.known_share();
    Some(Candidate::computed(Layer::Episodes, text, CandidateValue::List(names), evidence, known, reason.to_owned()))
}

/// Answers how far two things or places are apart.
fn distance_between(
    pool: &EventPool<'_>,
    one: &NounPhrase,
    other: &NounPhrase,
) -> Result<Option<Candidate>, ReadError> {
    let mut spots: Vec<(String, f64, f64)> = Vec::new();
    let mut evidence: Vec<RetrievedEvent> = Vec::new();
    for noun in [one, other] {
        let seen = sightings(pool, noun, pool.question.bound(), true)?;
        if let Some((found, pose)) = seen.last().and_then(|found| Some((found, event_pose(found)?))) {
            spots.push((pose.frame.clone(), pose.x, pose.y));
            evidence.push(found.clone());
        } else if let Some(place) = named_place(pool, noun) {
            let near =
                Near { frame: place.frame.clone(), x: place.x, y: place.y, radius: place.radius + NEAR_RADIUS_M };
            evidence.extend(events_in(pool, &MapArea::Around(near), None, 1)?);
            spots.push((place.frame, place.x, place.y));
        }
    }
    let [(frame, x, y), (other_frame, other_x, other_y)] = spots.as_slice() else { return Ok(None) };
    if frame != other_frame || evidence.is_empty() {
        return Ok(None);
    }
    let distance = (x - other_x).hypot(y - other_y);
    let (text, value) = (format!("{distance:.1} m"), CandidateValue::Number(distance, "m".into()));
    let known = pool.question.content.known_share();
    let reason = "the distance of their latest positions on the map";
    Ok(Some(Candidate::computed(Layer::Episodes, text, value, evidence, known, reason.into())))
}

/// Answers how often somebody was at a place: stays at least a minute apart.
fn count_visits(pool: &EventPool<'_>, noun: &NounPhrase, inside: bool) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let Some(area) = map_area(pool, noun, inside)? else { return Ok(None) };
    let subject = question.asked.clause.subject.clone();
    let itself = subject.as_ref().is_none_or(|who| who.is_pronoun() || matches!(who.head.as_str(), "robot"));
    let mut there = events_in(pool, &area, question.bound(), MAX_AREA_EVENTS)?;
    if let Some(who) = subject.filter(|_| !itself) {
        there.retain(|found| event_pose(found).is_some() && is_sighting_of(&who, found));
    }
    there.sort_by_key(|found| (found.span().start, found.id()));
    let mut stays: Vec<(TimeSpan, RetrievedEvent)> = Vec::new();
    for found in there {
        match stays.last_mut().filter(|(span, _)| found.span().start.since(span.end) <= MAX_ABSENCE) {
            Some((span, _)) => span.end = span.end.max(found.span().end),
            None => stays.push((found.span(), found)),
        }
    }
    if stays.is_empty() {
        return Ok(None);
    }
    let count = stays.len();
    let begins: Vec<String> = stays.iter().take(5).map(|(span, _)| say_moment(span.start, &question.now)).collect();
    let text = format!("{}: {}{}.", times_in_words(count), begins.join(", "), if count > 5 { ", …" } else { "" });
    let evidence: Vec<RetrievedEvent> = stays.into_iter().map(|(_, found)| found).collect();
    #[expect(clippy::cast_precision_loss, reason = "a count of stays")]
    let value = CandidateValue::Number(count as f64, String::new());
    let reason = format!("{count} separate stays on the map");
    Ok(Some(Candidate::computed(Layer::Episodes, text, value, evidence, question.content.known_share(), reason)))
}
