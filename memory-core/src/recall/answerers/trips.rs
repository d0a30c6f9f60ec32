//! Answers what was seen on a trip: between leaving one place and arriving at another.
//!
//! A trip lies between two stays. Stays are the visits that were followed from pose to pose; else what was observed on the map
//! without a long break; without poses, pictures that look alike, or events that name the place.

use std::time::Duration;

use super::poses::{event_subject, is_sighting_of, list_candidate, named_place, place_at_pose, read_subject};
use super::presence::{is_named_now, naming_events, visits_by_pictures};
use crate::episodic::visited;
use crate::index::SearchQuery;
use crate::language::english::letters::capitalised;
use crate::language::english::question::AnswerKind;
use crate::language::english::space::{
    PERCEPTION_VERBS, SpatialQuestion, asks_robot_perception, at_place, join_list, place_name, robot_route,
    spatial_question,
};
use crate::language::english::summary::uncapitalised;
use crate::language::english::syntax::NounPhrase;
use crate::language::english::time::{Tense, say_clock_range};
use crate::recall::candidate::{Candidate, CandidateValue, Layer};
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::question::ROBOT_ENTITY;
use crate::recall::robot_stays::{
    MAX_ABSENCE, MAX_AREA_EVENTS, MAX_VISIT_PART_GAP, current_place_name, reported_visits, shows_presence, stays_at,
};
use crate::{Event, EventId, Kind, PoseOf, ReadError, TimeSpan};

/// Assumed length of a trip whose start is unknown.
const DEFAULT_TRIP: Duration = Duration::from_secs(300);
/// Longest gap between two stays that is one trip.
const MAX_TRIP: Duration = Duration::from_secs(3_600);
/// Maximum number of things, persons or places in an answer.
const MAX_LIST_ITEMS: usize = 8;

/// A stay at a place.
#[derive(Debug, Clone)]
struct TripStay {
    /// `None` if the robot was at no named place.
    place: Option<String>,
    span: TimeSpan,
    /// An event that reports the stay.
    event: EventId,
}

impl TripStay {
    fn is_at(&self, pool: &EventPool<'_>, noun: &NounPhrase) -> bool {
        self.place.as_deref().is_some_and(|place| is_named_now(pool, noun, place, self.span.start))
    }
}

/// The time between two stays.
#[derive(Debug)]
struct Trip {
    from: Option<String>,
    to: Option<String>,
    span: TimeSpan,
}

/// The answer about a trip.
pub(in crate::recall) enum TripAnswer {
    /// The question is not about a trip.
    NotAsked,
    Seen(Candidate),
    /// There was no such trip, or nothing was seen on it.
    Nothing,
}

/// Answers "what did you see on the way to the kitchen?" or "whom did you meet between the hall and the office?".
pub(in crate::recall) fn answer(pool: &EventPool<'_>) -> Result<TripAnswer, ReadError> {
    let question = pool.question;
    let cue = question.asked.cue.is_some() && robot_route(&question.asked).is_none();
    if cue || question.asked.habitual || question.tense == Tense::Future {
        return Ok(TripAnswer::NotAsked);
    }
    let kind = matches!(
        question.ask(),
        AnswerKind::Thing
            | AnswerKind::Description
            | AnswerKind::Action
            | AnswerKind::Person
            | AnswerKind::Truth
            | AnswerKind::Count
            | AnswerKind::Times
    );
    if !(kind || asks_for_places(pool)) || !asks_for_observations(pool) {
        return Ok(TripAnswer::NotAsked);
    }
    let Some(SpatialQuestion::OnTheWay { from, to, either }) = spatial_question(&question.asked) else {
        return Ok(TripAnswer::NotAsked);
    };
    let trip = match (&from, &to) {
        (Some(from), Some(to)) => {
            let forth = trip_between(pool, from, to)?;
            let back = if either { trip_between(pool, to, from)? } else { None };
            forth.into_iter().chain(back).max_by_key(|trip| trip.span.end)
        }
        (None, Some(to)) => trip_to(pool, to)?,
        (Some(from), None) => trip_from(pool, from)?,
        (None, None) => latest_trip(pool)?,
    };
    let seen = trip.map_or(Ok(None), |trip| describe_trip(pool, &trip))?;
    // A memory without places may still contain reports of trips.
    let knows_places = || pool.reader.places().is_some_and(|places| !places.is_empty());
    Ok(match seen {
        Some(seen) => TripAnswer::Seen(seen),
        None if knows_places() => TripAnswer::Nothing,
        None => TripAnswer::NotAsked,
    })
}

/// Returns the events that report in words what was seen or met on a trip: "On the way to the hall I saw a fox."
pub(in crate::recall) fn told_encounters(found: &[RetrievedEvent]) -> Vec<RetrievedEvent> {
    let tells = |found: &&RetrievedEvent| {
        found.reading.event.kind == Kind::Text
            && found
                .reading
                .lemmas
                .iter()
                .any(|(lemma, _)| lemma == "way" || PERCEPTION_VERBS.contains(&lemma.as_str()))
    };
    found.iter().filter(tells).cloned().collect()
}

/// Returns whether a question asks for the places of a trip: "which places did you pass?"
fn asks_for_places(pool: &EventPool<'_>) -> bool {
    let class = pool.question.asked.class.as_ref();
    class.is_some_and(|class| matches!(class.head.as_str(), "place" | "room" | "location"))
}

/// Returns whether a question asks for what the robot saw, or for what was or happened there. Deeds of other persons
/// are another matter.
fn asks_for_observations(pool: &EventPool<'_>) -> bool {
    let clause = &pool.question.asked.clause;
    let happens = || {
        let whatever = clause.subject.is_none() || pool.question.ask() == AnswerKind::Truth;
        whatever && clause.verb.as_ref().is_some_and(|it| matches!(it.lemma.as_str(), "be" | "happen"))
    };
    asks_robot_perception(clause) || happens()
}

/// Widens a time bound to include trips that ended inside it.
fn widen_bound(bound: Option<TimeSpan>) -> Option<TimeSpan> {
    bound.map(|bound| TimeSpan { start: bound.start.saturating_sub(MAX_TRIP), end: bound.end })
}

/// Returns the name of the place that a noun means and the stays there, in time order. `None` if no place has that
/// name.
fn named_stays(pool: &EventPool<'_>, noun: &NounPhrase) -> Result<Option<(String, Vec<TimeSpan>)>, ReadError> {
    let bound = widen_bound(pool.question.bound());
    let inside = |span: &TimeSpan| bound.is_none_or(|bound| bound.overlaps(*span));
    if let Some(place) = named_place(pool, noun) {
        let visits = reported_visits(pool.reader, bound)?;
        let stays = stays_at(pool.reader, &place, &visits, bound)?;
        return Ok(Some((place.name, stays.into_iter().map(|stay| stay.span).collect())));
    }
    let name = place_name(&pool.question.query.question, noun).unwrap_or_else(|| noun.head.clone());
    if let Some(pictured) = visits_by_pictures(pool, noun)? {
        return Ok(Some((name, pictured.into_iter().map(|(span, _)| span).filter(inside).collect())));
    }
    let mut told: Vec<TimeSpan> = naming_events(pool, noun, bound)?.iter().map(RetrievedEvent::span).collect();
    told.sort_by_key(|span| (span.start, span.end));
    let mut stays: Vec<TimeSpan> = Vec::new();
    for span in told {
        match stays.last_mut().filter(|last| span.start.since(last.end) <= MAX_ABSENCE) {
            Some(last) => last.end = last.end.max(span.end),
            None => stays.push(span),
        }
    }
    Ok((!stays.is_empty()).then_some((name, stays)))
}

/// Returns whether an arrival is in the time in question.
fn is_asked_arrival(pool: &EventPool<'_>, arrival: &TimeSpan) -> bool {
    pool.question.bound().is_none_or(|bound| bound.contains(arrival.start))
}

/// Returns the latest trip from one place to another without returning to the first.
fn trip_between(pool: &EventPool<'_>, from: &NounPhrase, to: &NounPhrase) -> Result<Option<Trip>, ReadError> {
    let (Some((from, left)), Some((to, reached))) = (named_stays(pool, from)?, named_stays(pool, to)?) else {
        return Ok(None);
    };
    for (at, arrival) in reached.iter().enumerate().rev().filter(|(_, arrival)| is_asked_arrival(pool, arrival)) {
        let Some(departure) = left.iter().rev().find(|stay| stay.end <= arrival.start) else { break };
        let came_back = at.checked_sub(1).is_some_and(|before| reached[before].end > departure.end);
        if !came_back && arrival.start.since(departure.end) <= MAX_TRIP {
            let span = TimeSpan { start: departure.end, end: arrival.start };
            return Ok(Some(Trip { from: Some(from), to: Some(to), span }));
        }
    }
    Ok(None)
}

/// Returns the latest trip to a place, from the stay before.
fn trip_to(pool: &EventPool<'_>, noun: &NounPhrase) -> Result<Option<Trip>, ReadError> {
    let Some((to, reached)) = named_stays(pool, noun)? else { return Ok(None) };
    let Some(arrival) = reached.into_iter().rev().find(|arrival| is_asked_arrival(pool, arrival)) else {
        return Ok(None);
    };
    let end = arrival.start;
    let legs = robot_stays(pool, Some(TimeSpan { start: end.saturating_sub(MAX_TRIP), end }))?;
    let before = legs.iter().rev().filter(|leg| leg.span.end <= end && !leg.is_at(pool, noun));
    let departure = first_real_stay(before);
    let start = departure.map_or(end.saturating_sub(DEFAULT_TRIP), |leg| leg.span.end);
    let from = departure.and_then(|leg| leg.place.clone());
    Ok(Some(Trip { from, to: Some(to), span: TimeSpan { start, end } }))
}

/// Returns the latest trip away from a place, to the next stay.
fn trip_from(pool: &EventPool<'_>, noun: &NounPhrase) -> Result<Option<Trip>, ReadError> {
    let Some((from, left)) = named_stays(pool, noun)? else { return Ok(None) };
    // The robot may be there still.
    for departure in left.into_iter().rev().filter(|stay| pool.question.bound().is_none_or(|it| it.contains(stay.end)))
    {
        let start = departure.end;
        let legs = robot_stays(pool, Some(TimeSpan { start, end: start.saturating_add(MAX_TRIP) }))?;
        let after = legs.iter().filter(|leg| leg.span.start >= start && !leg.is_at(pool, noun));
        if let Some(arrival) = first_real_stay(after) {
            let (to, end) = (arrival.place.clone(), arrival.span.start);
            return Ok(Some(Trip { from: Some(from), to, span: TimeSpan { start, end } }));
        }
    }
    Ok(None)
}

/// Returns the latest trip.
fn latest_trip(pool: &EventPool<'_>) -> Result<Option<Trip>, ReadError> {
    let legs = robot_stays(pool, widen_bound(pool.question.bound()))?;
    let arrival = legs.iter().rposition(|leg| leg.place.is_some() && is_asked_arrival(pool, &leg.span));
    let Some(arrival) = arrival else { return Ok(None) };
    let (before, end) = (&legs[..arrival], legs[arrival].span.start);
    let to = legs[arrival].place.clone();
    let near = |leg: &&TripStay| end.since(leg.span.end) <= MAX_TRIP && leg.place != to;
    let Some(departure) = first_real_stay(before.iter().rev().filter(near)) else { return Ok(None) };
    let span = TimeSpan { start: departure.span.end, end };
    Ok(Some(Trip { from: departure.place.clone(), to, span }))
}

/// Returns the first stay that is longer than a passage, else the first one at a named place.
fn first_real_stay<'l>(legs: impl Iterator<Item = &'l TripStay> + Clone) -> Option<&'l TripStay> {
    let long = |leg: &&TripStay| leg.span.end.since(leg.span.start) >= MAX_ABSENCE;
    legs.clone().find(long).or_else(|| legs.into_iter().find(|leg| leg.place.is_some()))
}

/// Returns the stays of the robot in order: the tracked visits, else those that its events show.
fn robot_stays(pool: &EventPool<'_>, span: Option<TimeSpan>) -> Result<Vec<TripStay>, ReadError> {
    let mut legs: Vec<TripStay> = Vec::new();
    for event in reported_visits(pool.reader, span)? {
        let place = current_place_name(pool.reader, &event).map(str::to_owned);
        match legs
            .last_mut()
            .filter(|it| it.place == place && event.span.start.since(it.span.end) <= MAX_VISIT_PART_GAP)
        {
            Some(last) => last.span.end = last.span.end.max(event.span.end),
            None => legs.push(TripStay { place, span: event.span, event: event.id }),
        }
    }
    if !legs.is_empty() {
        return Ok(legs);
    }
    let query = SearchQuery { span, latest: true, limit: MAX_AREA_EVENTS, ..SearchQuery::default() };
    let mut events: Vec<Event> = Vec::new();
    for hit in pool.reader.search().search(&query) {
        events.extend(pool.reader.event(hit.id)?.filter(shows_presence));
    }
    events.sort_by_key(|event| (event.span.start, event.id));
    for event in events {
        let told = event.attributes.get("place").and_then(crate::Value::as_text);
        let place = match &event.pose {
            Some(pose) => place_at_pose(pool, pose).map(str::to_owned),
            None if told.is_some() => told.map(str::to_owned),
            // The event does not say where the robot was.
            None => continue,
        };
        match legs.last_mut().filter(|last| last.place == place) {
            Some(last) => last.span.end = last.span.end.max(event.span.end),
            None => legs.push(TripStay { place, span: event.span, event: event.id }),
        }
    }
    Ok(legs)
}

/// Answers with the requested observations on a trip, in time order.
fn describe_trip(pool: &EventPool<'_>, trip: &Trip) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let asked = &question.asked;
    let reason = trip_in_words(pool, trip);
    if asks_for_places(pool) {
        return passed_places(pool, trip, reason);
    }
    // One thing is seen repeatedly, so sightings are no count.
    if matches!(question.ask(), AnswerKind::Count | AnswerKind::Times) {
        return Ok(None);
    }
    let hears = asked.clause.verb.as_ref().is_some_and(|verb| verb.lemma == "hear");
    let query = SearchQuery { span: Some(trip.span), limit: MAX_AREA_EVENTS, ..SearchQuery::default() };
    let mut all: Vec<RetrievedEvent> = Vec::new();
    for hit in pool.reader.search().search(&query) {
        let Some(event) = pool.reader.event(hit.id)?.filter(|event| is_on_trip(event, trip.span)) else { continue };
        all.push(read_subject(pool, event));
    }
    all.sort_by_key(|found| (found.span().start, found.id()));
    let whole = |found: &RetrievedEvent| Some(found.reading.event.text.trim_end_matches('.').to_owned());
    let of_kind = |found: &RetrievedEvent, kinds: &[Kind]| kinds.contains(&found.reading.event.kind);
    let ways: Vec<Vec<(String, RetrievedEvent)>> = if question.ask() == AnswerKind::Person {
        vec![first_of_each(&all, sighted_person)]
    } else if hears {
        vec![first_of_each(&all, |found| whole(found).filter(|_| of_kind(found, &[Kind::Sound, Kind::Text])))]
    } else {
        // Without distinct things, answer with the scenes.
        let scenes = |found: &RetrievedEvent| whole(found).filter(|_| of_kind(found, &[Kind::Caption]));
        vec![first_of_each(&all, sighted_thing), first_of_each(&all, scenes)]
    };
    if question.ask() == AnswerKind::Truth {
        return Ok(verify_seen(pool, &all, ways.into_iter().next().unwrap_or_default(), &reason));
    }
    let found = ways.into_iter().find(|found| !found.is_empty()).unwrap_or_default();
    Ok(list_candidate(pool, found, &reason))
}

/// Answers "did you see a ladder on the way?": yes with what was seen. A missing observation is no "no".
fn verify_seen(
    pool: &EventPool<'_>,
    all: &[RetrievedEvent],
    mut seen: Vec<(String, RetrievedEvent)>,
    reason: &str,
) -> Option<Candidate> {
    let clause = &pool.question.asked.clause;
    let nouns = || clause.objects.iter().chain(clause.subject.as_ref().filter(|_| !asks_robot_perception(clause)));
    let anything = |noun: &NounPhrase| {
        noun.is_pronoun()
            || matches!(noun.head.as_str(), "anything" | "something" | "anyone" | "anybody" | "somebody" | "thing")
    };
    if let Some(noun) = nouns().find(|noun| noun.head != "there" && !anything(noun)) {
        seen = first_of_each(all, |found| {
            sighted_thing(found).or_else(|| sighted_person(found)).filter(|_| is_sighting_of(noun, found))
        });
    }
    let mut candidate = list_candidate(pool, seen, reason)?;
    candidate.text = format!("Yes: {}.", uncapitalised(&candidate.text));
    candidate.value = CandidateValue::Truth(true);
    Some(candidate)
}

/// Returns whether the middle of an event lies on the trip. A segment that starts at its end belongs to the stay.
fn is_on_trip(event: &Event, trip: TimeSpan) -> bool {
    let middle = event.span.start.saturating_add(event.span.end.since(event.span.start) / 2);
    trip.start < middle && middle < trip.end && visited(event).is_none()
}

/// Returns the subject of an event. Speech has none, unless it has the pose of a thing.
fn sighted_thing(found: &RetrievedEvent) -> Option<String> {
    let event = &found.reading.event;
    let spoken = event.kind == Kind::Text && event.pose.as_ref().is_none_or(|pose| pose.of == PoseOf::Robot);
    event_subject(found).filter(|_| !spoken)
}

/// Returns the person who was recognised, acted or spoke.
fn sighted_person(found: &RetrievedEvent) -> Option<String> {
    let event = &found.reading.event;
    let who = event.entity.clone().filter(|_| matches!(event.kind, Kind::Entity | Kind::Action | Kind::Text));
    who.filter(|who| !who.eq_ignore_ascii_case(ROBOT_ENTITY))
}

/// Returns the first event of each name.
fn first_of_each(
    all: &[RetrievedEvent],
    name: impl Fn(&RetrievedEvent) -> Option<String>,
) -> Vec<(String, RetrievedEvent)> {
    let mut named: Vec<(String, RetrievedEvent)> = Vec::new();
    for found in all {
        let Some(name) = name(found).filter(|name| !name.is_empty()) else { continue };
        if named.len() < MAX_LIST_ITEMS && !named.iter().any(|(known, _)| known.eq_ignore_ascii_case(&name)) {
            named.push((name, found.clone()));
        }
    }
    named
}

/// Answers with the places between the two stays.
fn passed_places(pool: &EventPool<'_>, trip: &Trip, reason: String) -> Result<Option<Candidate>, ReadError> {
    let mut places: Vec<String> = Vec::new();
    let mut ids: Vec<EventId> = Vec::new();
    for leg in robot_stays(pool, Some(trip.span))? {
        let inside = leg.span.start >= trip.span.start && leg.span.end <= trip.span.end;
        let Some(place) = leg.place.filter(|_| inside) else { continue };
        if places.len() < MAX_LIST_ITEMS && !places.contains(&place) {
            places.push(place);
            ids.push(leg.event);
        }
    }
    let evidence = pool.read(&ids, &pool.question.content)?;
    if evidence.is_empty() {
        return Ok(None);
    }
    let text = capitalised(&join_list(&places.iter().map(|place| with_article(place)).collect::<Vec<_>>()));
    let known = pool.question.content.known_share();
    Ok(Some(Candidate::computed(Layer::Episodes, text, CandidateValue::List(places), evidence, known, reason)))
}

fn trip_in_words(pool: &EventPool<'_>, trip: &Trip) -> String {
    let from = trip.from.as_deref().map_or_else(String::new, |place| format!(" from {}", with_article(place)));
    let to = trip.to.as_deref().map_or_else(String::new, |place| format!(" to {}", with_article(place)));
    format!("on the way{from}{to}, {}", say_clock_range(trip.span, &pool.question.now))
}

/// Returns a place with its article: "the kitchen", "Lab 3".
fn with_article(name: &str) -> String {
    let place = at_place(name);
    place.strip_prefix("in ").or_else(|| place.strip_prefix("at ")).unwrap_or(&place).to_owned()
}
