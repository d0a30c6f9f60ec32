//! Questions that poses answer: where something was seen last, what is near something, how far apart two things are, how often somebody was at a place.
//!
//! Nothing here answers in a memory without poses.

use std::collections::BTreeSet;
use std::time::Duration;

use super::counts::times_in_words;
use super::places::{capitalised, theme};
use crate::episodic::visited;
use crate::index::{Holding, MappedPlace, SearchQuery};
use crate::language::english::question::{Ask, Occurrence};
use crate::language::english::space::{Spatial, at_place, listed, spatial};
use crate::language::english::syntax::NounPhrase;
use crate::language::english::time::moment;
use crate::recall::candidate::{Candidate, Layer, Signals, Value};
use crate::recall::content::word_similarity;
use crate::recall::likeness::best_phrase_similarity;
use crate::recall::pool::{EventPool, RetrievedEvent, merge};
use crate::recall::question::ROBOT_ENTITY;
use crate::recall::reading::ParsedEvent;
use crate::recall::robot_stays::{MAX_ABSENCE, MAX_AREA_EVENTS, PLACE_RADIUS_M};
use crate::{Event, EventId, Kind, Near, Pose, PoseOf, ReadError, TimeSpan, Timestamp};

/// Below this another thing is meant.
const SAME_THING: f32 = 0.6;
/// Events of a thing that are gone through, the latest ones.
const EVENTS: usize = 200;
/// Events that mention a thing which is an entity, and are about something else.
const MENTIONS: usize = 40;
/// What is "near", metres.
const NEAR: f64 = 2.0;
/// Largest standard deviation of a position that answers a question, metres.
const MOST_SPREAD: f64 = 1.0;
/// Two sightings this far apart are of two spots, metres.
const ONE_SPOT: f64 = 1.0;
/// A bound up to this length is one moment.
const MOMENT: Duration = Duration::from_secs(3 * 3_600);
/// Most things of a list.
const LISTED: usize = 8;

/// The answer that poses give. `told` are the proposals of words and facts: of two, the newer is right.
pub(in crate::recall) fn answer(
    pool: &EventPool<'_>,
    pooled: &[RetrievedEvent],
    told: &[Candidate],
) -> Result<Option<Candidate>, ReadError> {
    if pool.reader.positions().is_none_or(crate::index::PositionIndex::is_empty) {
        return Ok(None);
    }
    let question = pool.question;
    let asked = spatial(&question.asked);
    match (question.ask(), asked) {
        (_, Some(Spatial::Apart(one, other))) => apart(pool, &one, &other),
        (Ask::Place, _) => place(pool, pooled, told),
        (Ask::Times, Some(Spatial::Around { noun, inside })) => visits(pool, &noun, inside),
        (Ask::Thing | Ask::Description | Ask::Action, Some(Spatial::Around { noun, inside })) => {
            around(pool, &noun, inside)
        }
        (Ask::Person, Some(Spatial::Around { noun, inside })) if question.asked.cue.is_none() => {
            persons(pool, &noun, inside)
        }
        _ => Ok(None),
    }
}

/// The pose of an event, if it says where the event was: where the robot was while somebody talked to it says nothing of
/// what was talked about.
pub(in crate::recall) fn of_event(found: &RetrievedEvent) -> Option<&Pose> {
    let event = &found.reading.event;
    let certain = |pose: &&Pose| pose.covariance.is_none_or(|covariance| covariance.spread() <= MOST_SPREAD);
    event.pose.as_ref().filter(|pose| pose.of == PoseOf::Thing || event.kind != Kind::Text).filter(certain)
}

/// Events of a thing with a pose, in order of time.
fn sightings(
    pool: &EventPool<'_>,
    thing: &NounPhrase,
    span: Option<TimeSpan>,
    latest: bool,
) -> Result<Vec<RetrievedEvent>, ReadError> {
    let content = &pool.question.content;
    let mut all = Vec::new();
    let mut mentions = EVENTS;
    if let Some(entity) = pool.entity(thing) {
        let query = Holding { entity: Some(entity), span, latest, limit: EVENTS, ..Holding::default() };
        all = posed(pool, &pool.reader.search().holding(&query))?;
        mentions = MENTIONS;
    }
    let mentioned = pool.events_mentioning(thing, span, latest, mentions, content)?;
    let mut seen: Vec<RetrievedEvent> = merge(all, mentioned)
        .into_iter()
        .filter(|found| of_event(found).is_some() && visited(&found.reading.event).is_none())
        .filter(|found| !found.reading.only_asks() && is_of(thing, found))
        .collect();
    seen.sort_by_key(|found| (found.span().start, found.id()));
    Ok(seen)
}

/// Where to drive to for a place that was asked for: to what the answer rests on, else to the named place that the answer says.
pub(in crate::recall) fn destination(pool: &EventPool<'_>, first: &RetrievedEvent, answer: &str) -> Option<Pose> {
    if let Some(pose) = super::presence::robot_now(pool) {
        return Some(pose.clone());
    }
    let robot = || first.reading.event.pose.clone().filter(|_| super::presence::asks_for_itself(pool.question));
    of_event(first).cloned().or_else(robot).or_else(|| {
        let said: Vec<String> = crate::index::words(answer).collect();
        let in_answer = |name: &str| {
            let own: Vec<String> = crate::index::words(name).collect();
            !own.is_empty() && said.windows(own.len()).any(|window| window == own)
        };
        let map = pool.reader.places()?;
        let places = map.places();
        let named = places.iter().filter(|place| in_answer(&place.name));
        // A fact that was told before says the old name.
        let old = || {
            let (_, new) = map.names().old_names().find(|(old, _)| in_answer(old))?;
            places.iter().find(|place| place.name.eq_ignore_ascii_case(new))
        };
        named.max_by_key(|place| (place.name.len(), place.named)).or_else(old).cloned().map(place_pose)
    })
}

/// The middle of where a place was named. The robot was there, so it can get there.
fn place_pose(place: MappedPlace) -> Pose {
    let MappedPlace { frame, x, y, .. } = place;
    Pose { frame, x, y, z: 0.0, yaw: 0.0, covariance: None, of: PoseOf::Robot }
}

/// The events with a pose among some, in that order.
pub(super) fn posed(pool: &EventPool<'_>, ids: &[EventId]) -> Result<Vec<RetrievedEvent>, ReadError> {
    let mut found = Vec::new();
    for id in ids {
        let Some(event) = pool.reader.event(*id)?.filter(|event| event.pose.is_some()) else { continue };
        found.push(glanced(pool, event));
    }
    Ok(found)
}

/// An event, read as far as needed to say what it is of: the grammar only of those that name nothing otherwise.
pub(super) fn glanced(pool: &EventPool<'_>, event: Event) -> RetrievedEvent {
    let named = event.kind != Kind::Text && (event.entity.is_some() || event.kind == Kind::Object);
    let reading = if named { ParsedEvent::unparsed(event).into() } else { pool.reading(event) };
    let coverage = pool.question.content.coverage(&reading);
    RetrievedEvent { reading, score: 0.0, relevance: 0.0, cosine: None, coverage, placed: 0.0 }
}

/// Whether an event with a pose is of a thing: it is about it, or what it says first is.
pub(super) fn is_of(thing: &NounPhrase, found: &RetrievedEvent) -> bool {
    match found.reading.entity_phrase() {
        Some(entity) if found.reading.event.kind != Kind::Text => {
            crate::recall::likeness::phrase_similarity(thing, &entity, &found.reading) >= SAME_THING
        }
        _ => best_phrase_similarity(thing, &found.reading) >= SAME_THING,
    }
}

/// The place that a pose belongs to.
pub(super) fn place_of<'p>(pool: &'p EventPool<'_>, pose: &Pose) -> Option<&'p str> {
    pool.reader.places()?.place_at(&pose.frame, pose.x, pose.y)
}

/// Where an event was, in words.
fn where_it_was(pool: &EventPool<'_>, found: &RetrievedEvent) -> Option<String> {
    let told = found.reading.event.attributes.get("place").and_then(crate::Value::as_text);
    let now = |name: &str| pool.reader.places().map(|places| places.current(name, found.span().start).to_owned());
    let pose = of_event(found)?;
    let place = told.and_then(now).or_else(|| place_of(pool, pose).map(str::to_owned));
    Some(
        place.map_or_else(
            || format!("at x {:.1} m, y {:.1} m on {}", pose.x, pose.y, pose.frame),
            |place| at_place(&place),
        ),
    )
}

/// Where a thing was, by the latest event with a pose, where words and facts say nothing newer.
fn place(pool: &EventPool<'_>, pooled: &[RetrievedEvent], told: &[Candidate]) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let Some(thing) = theme(question) else { return Ok(None) };
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
            let at = if length <= MOMENT { bound.start.saturating_add(length / 2) } else { bound.end };
            seen.iter().rev().find(|found| found.span().start <= at).or(seen.first())
        }
        (_, None) => seen.last(),
    };
    let Some(chosen) = chosen else { return on_the_map(pool, &thing, told) };
    let newest = |candidate: &Candidate| match candidate.layer {
        Layer::Facts => candidate.evidence.iter().map(|found| found.span().start).max(),
        _ => candidate.evidence.first().map(|found| found.span().start),
    };
    let in_words = told.iter().filter(|candidate| candidate.signals.fits >= 0.5).filter_map(newest).max();
    if !first && in_words >= Some(starts(&chosen)) {
        return Ok(None);
    }
    // The words of the answer's own event count as those of any other.
    let Some(chosen) = pool.read(&[chosen.id()], &question.content)?.pop() else { return Ok(None) };
    let Some(text) = where_it_was(pool, &chosen) else { return Ok(None) };
    let stays = stays(&seen);
    let reason = match stays.as_slice() {
        [.., before, last] => {
            let until = moment(before.1.end, &question.now);
            let since = moment(last.1.start, &question.now);
            let spot = |found: &RetrievedEvent| where_it_was(pool, found).unwrap_or_default();
            format!("seen {} until {until}, {} since {since}", spot(&seen[before.0]), spot(&seen[last.0]))
        }
        _ => "the only spot where it was seen".to_owned(),
    };
    let mut evidence = vec![chosen.clone()];
    evidence.extend(seen.iter().rev().filter(|found| found.id() != chosen.id()).take(LISTED).cloned());
    evidence.extend(pooled.iter().filter(|found| found.id() != chosen.id()).cloned());
    Ok(Some(Candidate {
        layer: Layer::Episodes,
        text: capitalised(&text),
        value: Value::Text(text),
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
        reason,
    }))
}

/// "Where is the kitchen?": a place that nobody says the whereabouts of, by its position.
fn on_the_map(pool: &EventPool<'_>, thing: &NounPhrase, told: &[Candidate]) -> Result<Option<Candidate>, ReadError> {
    if told.iter().any(|candidate| candidate.signals.fits >= 0.5) {
        return Ok(None);
    }
    let Some(place) = named_place(pool, thing) else { return Ok(None) };
    let mut evidence = super::presence::namings(pool, thing, None)?;
    evidence.retain(|found| found.reading.event.pose.is_some());
    if evidence.is_empty() {
        return Ok(None);
    }
    let text = format!("{} is at x {:.1} m, y {:.1} m on {}", place.name, place.x, place.y, place.frame);
    let (reason, known) = (
        format!("named {} on the map", times_in_words(evidence.len()).to_lowercase()),
        pool.question.content.known_share(),
    );
    let value = Value::Text(text.clone());
    Ok(Some(Candidate::computed(Layer::Episodes, capitalised(&text), value, evidence, known, reason)))
}

/// "Who was in the kitchen?": persons who were recognised, acted or spoke there.
fn persons(pool: &EventPool<'_>, noun: &NounPhrase, inside: bool) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let Some(area) = area(pool, noun, inside)? else { return Ok(None) };
    let bound = question.bound();
    let now = bound.is_none() && question.tense != crate::language::english::time::Tense::Past;
    let mut there: Vec<(String, RetrievedEvent)> = Vec::new();
    for found in events_in(pool, &area, bound, MAX_AREA_EVENTS)? {
        let event = &found.reading.event;
        let who = event.entity.clone().filter(|_| matches!(event.kind, Kind::Entity | Kind::Action | Kind::Text));
        let Some(who) = who.filter(|who| !who.eq_ignore_ascii_case(ROBOT_ENTITY)) else { continue };
        let known = there.iter().any(|(known, _)| known.eq_ignore_ascii_case(&who));
        if known || now && !is_still_in(pool, &area, &found)? {
            continue;
        }
        there.push((who, found));
        if there.len() == LISTED {
            break;
        }
    }
    Ok(list(pool, there, "who was recognised, acted or spoke there"))
}

fn is_one_spot(one: &RetrievedEvent, other: &RetrievedEvent) -> bool {
    match (of_event(one), of_event(other)) {
        (Some(one), Some(other)) => one.distance(other).is_some_and(|distance| distance <= ONE_SPOT),
        _ => false,
    }
}

/// The spots of a thing in order of time: the first sighting there, by its place in `seen`, and from when to when.
fn stays(seen: &[RetrievedEvent]) -> Vec<(usize, TimeSpan)> {
    let mut stays: Vec<(usize, TimeSpan)> = Vec::new();
    for (at, found) in seen.iter().enumerate() {
        match stays.last_mut().filter(|(first, _)| is_one_spot(&seen[*first], found)) {
            Some((_, span)) => span.end = span.end.max(found.span().end),
            None => stays.push((at, found.span())),
        }
    }
    stays
}

/// A part of a map that a noun means.
enum Area {
    /// A place that has a name.
    Place(String, Near),
    /// Around a thing.
    Around(Near),
}

impl Area {
    fn circle(&self) -> &Near {
        match self {
            Self::Place(_, near) | Self::Around(near) => near,
        }
    }

    fn has(&self, pool: &EventPool<'_>, pose: &Pose) -> bool {
        match self {
            Self::Place(name, _) => place_of(pool, pose) == Some(name),
            Self::Around(near) => pose.frame == near.frame && near.contains(pose.x, pose.y),
        }
    }
}

/// Whether a noun phrase says the name of a place.
pub(super) fn is_named(noun: &NounPhrase, name: &str) -> bool {
    let own: Vec<String> = crate::index::words(name).filter(|word| !crate::index::is_stop_word(word)).collect();
    let held = |word: &str| own.iter().any(|other| word_similarity(word, other) >= 0.95);
    !own.is_empty()
        && noun.lemmas().iter().all(|word| held(word))
        && own.iter().any(|word| word_similarity(&noun.head, word) >= 0.95)
}

/// The place with the name that a noun phrase says; else the one that had it before.
pub(super) fn named_place(pool: &EventPool<'_>, noun: &NounPhrase) -> Option<MappedPlace> {
    let map = pool.reader.places()?;
    let places = map.places();
    let mut found: Vec<&MappedPlace> = places.iter().filter(|place| is_named(noun, &place.name)).collect();
    // The name that says no more than was asked, and of two maps the one where it was named more often.
    found.sort_by_key(|place| (place.name.len(), std::cmp::Reverse(place.named)));
    let renamed = || {
        let mut old_names = map.names().old_names().filter(|(old, _)| is_named(noun, old));
        old_names.find_map(|(_, new)| places.iter().find(|place| place.name.eq_ignore_ascii_case(new)))
    };
    found.into_iter().next().or_else(renamed).cloned()
}

fn area(pool: &EventPool<'_>, noun: &NounPhrase, inside: bool) -> Result<Option<Area>, ReadError> {
    if let Some(place) = named_place(pool, noun) {
        let (frame, x, y) = (place.frame, place.x, place.y);
        let circle = |radius| Near { frame: frame.clone(), x, y, radius };
        return Ok(Some(match inside {
            true => Area::Place(place.name, circle(place.radius + PLACE_RADIUS_M)),
            false => Area::Around(circle(place.radius + NEAR)),
        }));
    }
    let seen = sightings(pool, noun, None, true)?;
    Ok(seen
        .last()
        .and_then(of_event)
        .map(|pose| Area::Around(Near { frame: pose.frame.clone(), x: pose.x, y: pose.y, radius: NEAR })))
}

/// The latest events in an area, the newest first.
fn events_in(
    pool: &EventPool<'_>,
    area: &Area,
    span: Option<TimeSpan>,
    limit: usize,
) -> Result<Vec<RetrievedEvent>, ReadError> {
    let Some(positions) = pool.reader.positions() else { return Ok(Vec::new()) };
    let only = Some(positions.near(area.circle()).into());
    let query = SearchQuery { span, only, latest: true, limit, ..SearchQuery::default() };
    let ids: Vec<EventId> = pool.reader.search().search(&query).into_iter().map(|hit| hit.id).collect();
    let mut found = posed(pool, &ids)?;
    found.retain(|found| found.reading.event.pose.as_ref().is_some_and(|pose| area.has(pool, pose)));
    Ok(found)
}

/// What an event with a pose is of.
fn thing_of(found: &RetrievedEvent) -> Option<String> {
    of_event(found)?;
    thing_in(found)
}

/// What an event is of, wherever it was.
pub(super) fn thing_in(found: &RetrievedEvent) -> Option<String> {
    let event = &found.reading.event;
    if matches!(event.kind, Kind::Caption | Kind::Sound) || visited(event).is_some() {
        return None;
    }
    // The entity of a text is who said it, and what was said need not be of that person.
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

/// "What is in the kitchen?" "What did you see near the door?"
fn around(pool: &EventPool<'_>, noun: &NounPhrase, inside: bool) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let Some(area) = area(pool, noun, inside)? else { return Ok(None) };
    let bound = question.bound();
    let now = bound.is_none() && question.tense != crate::language::english::time::Tense::Past;
    let own =
        |thing: &str| word_similarity(&noun.head, crate::index::words(thing).last().as_deref().unwrap_or("")) >= 0.95;
    let mut things: Vec<(String, RetrievedEvent)> = Vec::new();
    let mut known: BTreeSet<String> = BTreeSet::new();
    for found in events_in(pool, &area, bound, MAX_AREA_EVENTS)? {
        let Some(thing) = thing_of(&found) else { continue };
        if own(&thing) || !known.insert(thing.to_lowercase()) {
            continue;
        }
        // Where it is now: what was seen elsewhere since has left.
        if now && !is_still_in(pool, &area, &found)? {
            continue;
        }
        things.push((thing, found));
        if things.len() == LISTED {
            break;
        }
    }
    Ok(list(pool, things, "the latest sightings there"))
}

/// Whether what an event saw in an area was seen nowhere else since.
fn is_still_in(pool: &EventPool<'_>, area: &Area, found: &RetrievedEvent) -> Result<bool, ReadError> {
    let Some(entity) = found.reading.event.entity.clone() else { return Ok(true) };
    let query = Holding { entity: Some(entity), latest: true, limit: LISTED, ..Holding::default() };
    let ids = pool.reader.search().holding(&query);
    for later in posed(pool, &ids)? {
        if later.span().start <= found.span().start {
            break;
        }
        if of_event(&later).is_some_and(|pose| !area.has(pool, pose)) {
            return Ok(false);
        }
    }
    Ok(true)
}

pub(super) fn list(pool: &EventPool<'_>, things: Vec<(String, RetrievedEvent)>, reason: &str) -> Option<Candidate> {
    if things.is_empty() {
        return None;
    }
    let names: Vec<String> = things.iter().map(|(thing, _)| thing.clone()).collect();
    let evidence = things.into_iter().map(|(_, found)| found).collect();
    let text = capitalised(&listed(&names));
    let known = pool.question.content.known_share();
    Some(Candidate::computed(Layer::Episodes, text, Value::List(names), evidence, known, reason.to_owned()))
}

/// How far two things or places are apart.
fn apart(pool: &EventPool<'_>, one: &NounPhrase, other: &NounPhrase) -> Result<Option<Candidate>, ReadError> {
    let mut spots: Vec<(String, f64, f64)> = Vec::new();
    let mut evidence: Vec<RetrievedEvent> = Vec::new();
    for noun in [one, other] {
        let seen = sightings(pool, noun, pool.question.bound(), true)?;
        if let Some((found, pose)) = seen.last().and_then(|found| Some((found, of_event(found)?))) {
            spots.push((pose.frame.clone(), pose.x, pose.y));
            evidence.push(found.clone());
        } else if let Some(place) = named_place(pool, noun) {
            let near = Near { frame: place.frame.clone(), x: place.x, y: place.y, radius: place.radius + NEAR };
            evidence.extend(events_in(pool, &Area::Around(near), None, 1)?);
            spots.push((place.frame, place.x, place.y));
        }
    }
    let [(frame, x, y), (other_frame, other_x, other_y)] = spots.as_slice() else { return Ok(None) };
    if frame != other_frame || evidence.is_empty() {
        return Ok(None);
    }
    let distance = (x - other_x).hypot(y - other_y);
    let (text, value) = (format!("{distance:.1} m"), Value::Number(distance, "m".into()));
    let known = pool.question.content.known_share();
    let reason = "the distance of their latest positions on the map";
    Ok(Some(Candidate::computed(Layer::Episodes, text, value, evidence, known, reason.into())))
}

/// How often somebody was at a place: stays that are a minute apart.
fn visits(pool: &EventPool<'_>, noun: &NounPhrase, inside: bool) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let Some(area) = area(pool, noun, inside)? else { return Ok(None) };
    let subject = question.asked.clause.subject.clone();
    let itself = subject.as_ref().is_none_or(|who| who.is_pronoun() || matches!(who.head.as_str(), "robot"));
    let mut there = events_in(pool, &area, question.bound(), MAX_AREA_EVENTS)?;
    if let Some(who) = subject.filter(|_| !itself) {
        there.retain(|found| of_event(found).is_some() && is_of(&who, found));
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
    let begins: Vec<String> = stays.iter().take(5).map(|(span, _)| moment(span.start, &question.now)).collect();
    let text = format!("{}: {}{}.", times_in_words(count), begins.join(", "), if count > 5 { ", …" } else { "" });
    let evidence: Vec<RetrievedEvent> = stays.into_iter().map(|(_, found)| found).collect();
    #[expect(clippy::cast_precision_loss, reason = "a count of stays")]
    let value = Value::Number(count as f64, String::new());
    let reason = format!("{count} separate stays on the map");
    Ok(Some(Candidate::computed(Layer::Episodes, text, value, evidence, question.content.known_share(), reason)))
}
