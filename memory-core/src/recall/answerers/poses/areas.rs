//! Parts of a map: named places and the surroundings of things, and what is in them.

use std::collections::BTreeSet;

use super::{
    MAX_LIST_ITEMS, NEAR_RADIUS_M, event_pose, events_with_pose, list_candidate, place_at_pose, sighted_thing,
    sightings,
};
use crate::index::{Holding, MappedPlace, SearchQuery};
use crate::language::english::syntax::NounPhrase;
use crate::recall::candidate::Candidate;
use crate::recall::content::word_similarity;
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::question::ROBOT_ENTITY;
use crate::recall::robot_stays::{MAX_AREA_EVENTS, PLACE_RADIUS_M};
use crate::{EventId, Kind, Near, Pose, ReadError, TimeSpan};

/// Answers "who was in the kitchen?": the persons who were recognised, acted or spoke there.
pub(super) fn persons_at(
    pool: &EventPool<'_>,
    noun: &NounPhrase,
    inside: bool,
) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let Some(area) = map_area(pool, noun, inside)? else { return Ok(None) };
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
        if there.len() == MAX_LIST_ITEMS {
            break;
        }
    }
    Ok(list_candidate(pool, there, "who was recognised, acted or spoke there"))
}

/// A part of a map that a noun means.
pub(super) enum MapArea {
    /// A named place.
    Place(String, Near),
    /// The area around a thing.
    Around(Near),
}

impl MapArea {
    fn circle(&self) -> &Near {
        match self {
            Self::Place(_, near) | Self::Around(near) => near,
        }
    }

    fn contains(&self, pool: &EventPool<'_>, pose: &Pose) -> bool {
        match self {
            Self::Place(name, _) => place_at_pose(pool, pose) == Some(name),
            Self::Around(near) => pose.frame == near.frame && near.contains(pose.x, pose.y),
        }
    }
}

/// Returns whether a noun phrase is the name of a place.
pub(in crate::recall::answerers) fn names_place(noun: &NounPhrase, name: &str) -> bool {
    let own: Vec<String> = crate::index::words(name).filter(|word| !crate::index::is_stop_word(word)).collect();
    let held = |word: &str| own.iter().any(|other| word_similarity(word, other) >= 0.95);
    !own.is_empty()
        && noun.lemmas().iter().all(|word| held(word))
        && own.iter().any(|word| word_similarity(&noun.head, word) >= 0.95)
}

/// Returns the place whose current name a noun phrase says, else the one that had this name before.
pub(in crate::recall::answerers) fn named_place(pool: &EventPool<'_>, noun: &NounPhrase) -> Option<MappedPlace> {
    let map = pool.reader.places()?;
    let places = map.places();
    let mut found: Vec<&MappedPlace> = places.iter().filter(|place| names_place(noun, &place.name)).collect();
    // Prefer the shortest name, then the map on which the place was named more often.
    found.sort_by_key(|place| (place.name.len(), std::cmp::Reverse(place.named)));
    let renamed = || {
        let mut old_names = map.names().old_names().filter(|(old, _)| names_place(noun, old));
        old_names.find_map(|(_, new)| places.iter().find(|place| place.name.eq_ignore_ascii_case(new)))
    };
    found.into_iter().next().or_else(renamed).cloned()
}

pub(super) fn map_area(pool: &EventPool<'_>, noun: &NounPhrase, inside: bool) -> Result<Option<MapArea>, ReadError> {
    if let Some(place) = named_place(pool, noun) {
        let (frame, x, y) = (place.frame, place.x, place.y);
        let circle = |radius| Near { frame: frame.clone(), x, y, radius };
        return Ok(Some(match inside {
            true => MapArea::Place(place.name, circle(place.radius + PLACE_RADIUS_M)),
            false => MapArea::Around(circle(place.radius + NEAR_RADIUS_M)),
        }));
    }
    let seen = sightings(pool, noun, None, true)?;
    Ok(seen
        .last()
        .and_then(event_pose)
        .map(|pose| MapArea::Around(Near { frame: pose.frame.clone(), x: pose.x, y: pose.y, radius: NEAR_RADIUS_M })))
}

/// Returns the latest events in an area, the newest first.
pub(super) fn events_in(
    pool: &EventPool<'_>,
    area: &MapArea,
    span: Option<TimeSpan>,
    limit: usize,
) -> Result<Vec<RetrievedEvent>, ReadError> {
    let Some(positions) = pool.reader.positions() else { return Ok(Vec::new()) };
    let only = Some(positions.near(area.circle()).into());
    let query = SearchQuery { span, only, latest: true, limit, ..SearchQuery::default() };
    let ids: Vec<EventId> = pool.reader.search().search(&query).into_iter().map(|hit| hit.id).collect();
    let mut found = events_with_pose(pool, &ids)?;
    found.retain(|found| found.reading.event.pose.as_ref().is_some_and(|pose| area.contains(pool, pose)));
    Ok(found)
}

/// Answers "what is in the kitchen?" or "what did you see near the door?".
pub(super) fn things_in_area(
    pool: &EventPool<'_>,
    noun: &NounPhrase,
    inside: bool,
) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let Some(area) = map_area(pool, noun, inside)? else { return Ok(None) };
    let bound = question.bound();
    let now = bound.is_none() && question.tense != crate::language::english::time::Tense::Past;
    let own =
        |thing: &str| word_similarity(&noun.head, crate::index::words(thing).last().as_deref().unwrap_or("")) >= 0.95;
    let mut things: Vec<(String, RetrievedEvent)> = Vec::new();
    let mut known: BTreeSet<String> = BTreeSet::new();
    for found in events_in(pool, &area, bound, MAX_AREA_EVENTS)? {
        let Some(thing) = sighted_thing(&found) else { continue };
        if own(&thing) || !known.insert(thing.to_lowercase()) {
            continue;
        }
        // For a question about now, skip things that were seen elsewhere since.
        if now && !is_still_in(pool, &area, &found)? {
            continue;
        }
        things.push((thing, found));
        if things.len() == MAX_LIST_ITEMS {
            break;
        }
    }
    Ok(list_candidate(pool, things, "the latest sightings there"))
}

/// Returns whether the thing of an event in an area was seen nowhere else since.
pub(super) fn is_still_in(pool: &EventPool<'_>, area: &MapArea, found: &RetrievedEvent) -> Result<bool, ReadError> {
    let Some(entity) = found.reading.event.entity.clone() else { return Ok(true) };
    let query = Holding { entity: Some(entity), latest: true, limit: MAX_LIST_ITEMS, ..Holding::default() };
    let ids = pool.reader.search().holding(&query);
    for later in events_with_pose(pool, &ids)? {
        if later.span().start <= found.span().start {
            break;
        }
        if event_pose(&later).is_some_and(|pose| !area.contains(pool, pose)) {
            return Ok(false);
        }
    }
    Ok(true)
}
