//! What was seen on the way: between leaving one place and arriving at another.
//!
//! A trip lies between two stays. Stays are the visits that were followed from pose to pose; else what was observed on the map
//! without a long break; without poses, pictures that look alike, or events that name the place.

use std::time::Duration;

use super::places::capitalised;
use super::poses::{glanced, is_of, list, named_place, place_of, thing_in};
use super::presence::{is_named_now, namings, pictured};
use crate::episodic::visited;
use crate::index::SearchQuery;
use crate::language::english::question::Ask;
use crate::language::english::space::{SEEING, Spatial, at_place, listed, moved, place_name, saw_itself, spatial};
use crate::language::english::syntax::NounPhrase;
use crate::language::english::time::{Tense, clock_range};
use crate::recall::candidate::{Candidate, Layer, Value};
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::question::ROBOT_ENTITY;
use crate::recall::robot_stays::{
    MAX_ABSENCE, MAX_AREA_EVENTS, MAX_VISIT_PART_GAP, current_place_name, reported_visits, shows_presence, stays_at,
};
use crate::{Event, EventId, Kind, PoseOf, ReadError, TimeSpan};

/// A trip that is no longer than this where nothing says when it began.
const USUAL: Duration = Duration::from_secs(300);
/// Two stays that are farther apart have something else between them than one trip.
const LONGEST: Duration = Duration::from_secs(3_600);
/// Most things, persons or places of an answer.
const LISTED: usize = 8;

/// A stay at a place.
#[derive(Debug, Clone)]
struct Leg {
    /// `None` where the robot was at no place that has a name.
    place: Option<String>,
    span: TimeSpan,
    /// An event that says so.
    event: EventId,
}

impl Leg {
    fn is_at(&self, pool: &EventPool<'_>, noun: &NounPhrase) -> bool {
        self.place.as_deref().is_some_and(|place| is_named_now(pool, noun, place, self.span.start))
    }
}

/// Between two stays.
#[derive(Debug)]
struct Trip {
    from: Option<String>,
    to: Option<String>,
    span: TimeSpan,
}

/// What is known of a trip that was asked for.
pub(in crate::recall) enum OnTheWay {
    /// No trip was asked for.
    NotAsked,
    Seen(Candidate),
    /// There was no such trip, or nothing was seen on it.
    Nothing,
}

/// The answer to "What did you see on the way to the kitchen?", "Whom did you meet between the hall and the office?".
pub(in crate::recall) fn answer(pool: &EventPool<'_>) -> Result<OnTheWay, ReadError> {
    let question = pool.question;
    let cue = question.asked.cue.is_some() && moved(&question.asked).is_none();
    if cue || question.asked.habitual || question.tense == Tense::Future {
        return Ok(OnTheWay::NotAsked);
    }
    let kind = matches!(
        question.ask(),
        Ask::Thing | Ask::Description | Ask::Action | Ask::Person | Ask::Truth | Ask::Count | Ask::Times
    );
    if !(kind || asks_for_places(pool)) || !asks_what_was_there(pool) {
        return Ok(OnTheWay::NotAsked);
    }
    let Some(Spatial::OnTheWay { from, to, either }) = spatial(&question.asked) else {
        return Ok(OnTheWay::NotAsked);
    };
    let trip = match (&from, &to) {
        (Some(from), Some(to)) => {
            let forth = between(pool, from, to)?;
            let back = if either { between(pool, to, from)? } else { None };
            forth.into_iter().chain(back).max_by_key(|trip| trip.span.end)
        }
        (None, Some(to)) => to_place(pool, to)?,
        (Some(from), None) => from_place(pool, from)?,
        (None, None) => latest(pool)?,
    };
    let seen = trip.map_or(Ok(None), |trip| seen(pool, &trip))?;
    // A memory that knows no places may still tell of travels.
    let knows_places = || pool.reader.places().is_some_and(|places| !places.is_empty());
    Ok(match seen {
        Some(seen) => OnTheWay::Seen(seen),
        None if knows_places() => OnTheWay::Nothing,
        None => OnTheWay::NotAsked,
    })
}

/// Of some events those that tell in words what was seen or met on a way: "On the way to the hall I saw a fox."
pub(in crate::recall) fn told_of_it(found: &[RetrievedEvent]) -> Vec<RetrievedEvent> {
    let tells = |found: &&RetrievedEvent| {
        found.reading.event.kind == Kind::Text
            && found.reading.lemmas.iter().any(|(lemma, _)| lemma == "way" || SEEING.contains(&lemma.as_str()))
    };
    found.iter().filter(tells).cloned().collect()
}

/// "Which places did you pass?"
fn asks_for_places(pool: &EventPool<'_>) -> bool {
    let class = pool.question.asked.class.as_ref();
    class.is_some_and(|class| matches!(class.head.as_str(), "place" | "room" | "location"))
}

/// Whether it is asked for what the robot saw, or for what was or happened there. What somebody else did is another matter.
fn asks_what_was_there(pool: &EventPool<'_>) -> bool {
    let clause = &pool.question.asked.clause;
    let happens = || {
        let whatever = clause.subject.is_none() || pool.question.ask() == Ask::Truth;
        whatever && clause.verb.as_ref().is_some_and(|it| matches!(it.lemma.as_str(), "be" | "happen"))
    };
    saw_itself(clause) || happens()
}

/// From before the bound of a question, so that a trip which ended inside it is whole.
fn widened(bound: Option<TimeSpan>) -> Option<TimeSpan> {
    bound.map(|bound| TimeSpan { start: bound.start.saturating_sub(LONGEST), end: bound.end })
}

/// The name of the place that a noun means and the stays there, in order of time; `None` where nothing has that name.
fn stays(pool: &EventPool<'_>, noun: &NounPhrase) -> Result<Option<(String, Vec<TimeSpan>)>, ReadError> {
    let bound = widened(pool.question.bound());
    let inside = |span: &TimeSpan| bound.is_none_or(|bound| bound.overlaps(*span));
    if let Some(place) = named_place(pool, noun) {
        let visits = reported_visits(pool.reader, bound)?;
        let stays = stays_at(pool.reader, &place, &visits, bound)?;
        return Ok(Some((place.name, stays.into_iter().map(|stay| stay.span).collect())));
    }
    let name = place_name(&pool.question.query.question, noun).unwrap_or_else(|| noun.head.clone());
    if let Some(pictured) = pictured(pool, noun)? {
        return Ok(Some((name, pictured.into_iter().map(|(span, _)| span).filter(inside).collect())));
    }
    let mut told: Vec<TimeSpan> = namings(pool, noun, bound)?.iter().map(RetrievedEvent::span).collect();
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

/// Whether the arrival is in the time that was asked for.
fn is_asked(pool: &EventPool<'_>, arrival: &TimeSpan) -> bool {
    pool.question.bound().is_none_or(|bound| bound.contains(arrival.start))
}

/// The latest trip from one place to another without coming back to the other in between.
fn between(pool: &EventPool<'_>, from: &NounPhrase, to: &NounPhrase) -> Result<Option<Trip>, ReadError> {
    let (Some((from, left)), Some((to, reached))) = (stays(pool, from)?, stays(pool, to)?) else { return Ok(None) };
    for (at, arrival) in reached.iter().enumerate().rev().filter(|(_, arrival)| is_asked(pool, arrival)) {
        let Some(departure) = left.iter().rev().find(|stay| stay.end <= arrival.start) else { break };
        let came_back = at.checked_sub(1).is_some_and(|before| reached[before].end > departure.end);
        if !came_back && arrival.start.since(departure.end) <= LONGEST {
            let span = TimeSpan { start: departure.end, end: arrival.start };
            return Ok(Some(Trip { from: Some(from), to: Some(to), span }));
        }
    }
    Ok(None)
}

/// The latest trip to a place, from where the robot had stayed before.
fn to_place(pool: &EventPool<'_>, noun: &NounPhrase) -> Result<Option<Trip>, ReadError> {
    let Some((to, reached)) = stays(pool, noun)? else { return Ok(None) };
    let Some(arrival) = reached.into_iter().rev().find(|arrival| is_asked(pool, arrival)) else { return Ok(None) };
    let end = arrival.start;
    let legs = legs(pool, Some(TimeSpan { start: end.saturating_sub(LONGEST), end }))?;
    let before = legs.iter().rev().filter(|leg| leg.span.end <= end && !leg.is_at(pool, noun));
    let departure = stayed(before);
    let start = departure.map_or(end.saturating_sub(USUAL), |leg| leg.span.end);
    let from = departure.and_then(|leg| leg.place.clone());
    Ok(Some(Trip { from, to: Some(to), span: TimeSpan { start, end } }))
}

/// The latest trip away from a place, to where the robot stayed next.
fn from_place(pool: &EventPool<'_>, noun: &NounPhrase) -> Result<Option<Trip>, ReadError> {
    let Some((from, left)) = stays(pool, noun)? else { return Ok(None) };
    // The robot may be there still.
    for departure in left.into_iter().rev().filter(|stay| pool.question.bound().is_none_or(|it| it.contains(stay.end)))
    {
        let start = departure.end;
        let legs = legs(pool, Some(TimeSpan { start, end: start.saturating_add(LONGEST) }))?;
        let after = legs.iter().filter(|leg| leg.span.start >= start && !leg.is_at(pool, noun));
        if let Some(arrival) = stayed(after) {
            let (to, end) = (arrival.place.clone(), arrival.span.start);
            return Ok(Some(Trip { from: Some(from), to, span: TimeSpan { start, end } }));
        }
    }
    Ok(None)
}

/// The latest trip from one stay to another.
fn latest(pool: &EventPool<'_>) -> Result<Option<Trip>, ReadError> {
    let legs = legs(pool, widened(pool.question.bound()))?;
    let arrival = legs.iter().rposition(|leg| leg.place.is_some() && is_asked(pool, &leg.span));
    let Some(arrival) = arrival else { return Ok(None) };
    let (before, end) = (&legs[..arrival], legs[arrival].span.start);
    let to = legs[arrival].place.clone();
    let near = |leg: &&Leg| end.since(leg.span.end) <= LONGEST && leg.place != to;
    let Some(departure) = stayed(before.iter().rev().filter(near)) else { return Ok(None) };
    let span = TimeSpan { start: departure.span.end, end };
    Ok(Some(Trip { from: departure.place.clone(), to, span }))
}

/// The first of some legs that is no mere passage, else the first one that is at a place.
fn stayed<'l>(legs: impl Iterator<Item = &'l Leg> + Clone) -> Option<&'l Leg> {
    let long = |leg: &&Leg| leg.span.end.since(leg.span.start) >= MAX_ABSENCE;
    legs.clone().find(long).or_else(|| legs.into_iter().find(|leg| leg.place.is_some()))
}

/// Where the robot was one after the other: the visits that were followed, else what its events tell.
fn legs(pool: &EventPool<'_>, span: Option<TimeSpan>) -> Result<Vec<Leg>, ReadError> {
    let mut legs: Vec<Leg> = Vec::new();
    for event in reported_visits(pool.reader, span)? {
        let place = current_place_name(pool.reader, &event).map(str::to_owned);
        match legs
            .last_mut()
            .filter(|it| it.place == place && event.span.start.since(it.span.end) <= MAX_VISIT_PART_GAP)
        {
            Some(last) => last.span.end = last.span.end.max(event.span.end),
            None => legs.push(Leg { place, span: event.span, event: event.id }),
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
            Some(pose) => place_of(pool, pose).map(str::to_owned),
            None if told.is_some() => told.map(str::to_owned),
            // It says nothing of where it was.
            None => continue,
        };
        match legs.last_mut().filter(|last| last.place == place) {
            Some(last) => last.span.end = last.span.end.max(event.span.end),
            None => legs.push(Leg { place, span: event.span, event: event.id }),
        }
    }
    Ok(legs)
}

/// What is asked for of what happened on a trip, in the order in which it was met.
fn seen(pool: &EventPool<'_>, trip: &Trip) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let asked = &question.asked;
    let reason = described(pool, trip);
    if asks_for_places(pool) {
        return passed(pool, trip, reason);
    }
    // One thing is seen again and again: how many there were nobody has counted.
    if matches!(question.ask(), Ask::Count | Ask::Times) {
        return Ok(None);
    }
    let hears = asked.clause.verb.as_ref().is_some_and(|verb| verb.lemma == "hear");
    let query = SearchQuery { span: Some(trip.span), limit: MAX_AREA_EVENTS, ..SearchQuery::default() };
    let mut all: Vec<RetrievedEvent> = Vec::new();
    for hit in pool.reader.search().search(&query) {
        let Some(event) = pool.reader.event(hit.id)?.filter(|event| is_inside(event, trip.span)) else { continue };
        all.push(glanced(pool, event));
    }
    all.sort_by_key(|found| (found.span().start, found.id()));
    let whole = |found: &RetrievedEvent| Some(found.reading.event.text.trim_end_matches('.').to_owned());
    let of_kind = |found: &RetrievedEvent, kinds: &[Kind]| kinds.contains(&found.reading.event.kind);
    let ways: Vec<Vec<(String, RetrievedEvent)>> = if question.ask() == Ask::Person {
        vec![distinct(&all, person)]
    } else if hears {
        vec![distinct(&all, |found| whole(found).filter(|_| of_kind(found, &[Kind::Sound, Kind::Text])))]
    } else {
        // Where nothing tells things apart, the scenes.
        let scenes = |found: &RetrievedEvent| whole(found).filter(|_| of_kind(found, &[Kind::Caption]));
        vec![distinct(&all, thing), distinct(&all, scenes)]
    };
    if question.ask() == Ask::Truth {
        return Ok(truth(pool, &all, ways.into_iter().next().unwrap_or_default(), &reason));
    }
    let found = ways.into_iter().find(|found| !found.is_empty()).unwrap_or_default();
    Ok(list(pool, found, &reason))
}

/// "Did you see a ladder on the way?": yes with what was seen. That it was not seen does not say that it was not there.
fn truth(
    pool: &EventPool<'_>,
    all: &[RetrievedEvent],
    mut seen: Vec<(String, RetrievedEvent)>,
    reason: &str,
) -> Option<Candidate> {
    let clause = &pool.question.asked.clause;
    let nouns = || clause.objects.iter().chain(clause.subject.as_ref().filter(|_| !saw_itself(clause)));
    let anything = |noun: &NounPhrase| {
        noun.is_pronoun()
            || matches!(noun.head.as_str(), "anything" | "something" | "anyone" | "anybody" | "somebody" | "thing")
    };
    if let Some(noun) = nouns().find(|noun| noun.head != "there" && !anything(noun)) {
        seen = distinct(all, |found| thing(found).or_else(|| person(found)).filter(|_| is_of(noun, found)));
    }
    let mut candidate = list(pool, seen, reason)?;
    candidate.text = format!("Yes: {}.", uncapitalised(&candidate.text));
    candidate.value = Value::Truth(true);
    Some(candidate)
}

/// In the middle of a sentence; names keep their capitals.
fn uncapitalised(text: &str) -> String {
    let mut letters = text.chars();
    let name = text.split(' ').next().is_some_and(|word| word.chars().skip(1).any(char::is_uppercase));
    match letters.next().filter(|_| !name) {
        Some(first) => first.to_lowercase().chain(letters).collect(),
        None => text.to_owned(),
    }
}

/// Whether the middle of an event lies on the trip: a segment that begins at its end is of the stay.
fn is_inside(event: &Event, trip: TimeSpan) -> bool {
    let middle = event.span.start.saturating_add(event.span.end.since(event.span.start) / 2);
    trip.start < middle && middle < trip.end && visited(event).is_none()
}

/// What an event is of. What was said there is no thing that was seen, unless it has the pose of a thing.
fn thing(found: &RetrievedEvent) -> Option<String> {
    let event = &found.reading.event;
    let spoken = event.kind == Kind::Text && event.pose.as_ref().is_none_or(|pose| pose.of == PoseOf::Robot);
    thing_in(found).filter(|_| !spoken)
}

/// Who was recognised, acted or spoke.
fn person(found: &RetrievedEvent) -> Option<String> {
    let event = &found.reading.event;
    let who = event.entity.clone().filter(|_| matches!(event.kind, Kind::Entity | Kind::Action | Kind::Text));
    who.filter(|who| !who.eq_ignore_ascii_case(ROBOT_ENTITY))
}

/// The first event of each.
fn distinct(all: &[RetrievedEvent], name: impl Fn(&RetrievedEvent) -> Option<String>) -> Vec<(String, RetrievedEvent)> {
    let mut named: Vec<(String, RetrievedEvent)> = Vec::new();
    for found in all {
        let Some(name) = name(found).filter(|name| !name.is_empty()) else { continue };
        if named.len() < LISTED && !named.iter().any(|(known, _)| known.eq_ignore_ascii_case(&name)) {
            named.push((name, found.clone()));
        }
    }
    named
}

/// The places in between.
fn passed(pool: &EventPool<'_>, trip: &Trip, reason: String) -> Result<Option<Candidate>, ReadError> {
    let mut places: Vec<String> = Vec::new();
    let mut ids: Vec<EventId> = Vec::new();
    for leg in legs(pool, Some(trip.span))? {
        let inside = leg.span.start >= trip.span.start && leg.span.end <= trip.span.end;
        let Some(place) = leg.place.filter(|_| inside) else { continue };
        if places.len() < LISTED && !places.contains(&place) {
            places.push(place);
            ids.push(leg.event);
        }
    }
    let evidence = pool.read(&ids, &pool.question.content)?;
    if evidence.is_empty() {
        return Ok(None);
    }
    let text = capitalised(&listed(&places.iter().map(|place| the(place)).collect::<Vec<_>>()));
    let known = pool.question.content.known_share();
    Ok(Some(Candidate::computed(Layer::Episodes, text, Value::List(places), evidence, known, reason)))
}

fn described(pool: &EventPool<'_>, trip: &Trip) -> String {
    let from = trip.from.as_deref().map_or_else(String::new, |place| format!(" from {}", the(place)));
    let to = trip.to.as_deref().map_or_else(String::new, |place| format!(" to {}", the(place)));
    format!("on the way{from}{to}, {}", clock_range(trip.span, &pool.question.now))
}

/// A place with its article: "the kitchen", "Lab 3".
fn the(name: &str) -> String {
    let place = at_place(name);
    place.strip_prefix("in ").or_else(|| place.strip_prefix("at ")).unwrap_or(&place).to_owned()
}
