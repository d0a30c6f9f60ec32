//! The visits of the robot to named places.

use std::time::Duration;

use super::Reader;
use crate::episodic::{VISIT_SOURCE, visited};
use crate::index::{MappedPlace, SearchQuery};
use crate::{Event, EventId, Kind, Near, ReadError, TimeSpan, Timestamp};

/// Maximum number of visits that are read, the latest ones.
const MAX_VISITS: usize = 20_000;
/// Maximum number of events of an area that are read, the latest ones.
pub(super) const MAX_AREA_EVENTS: usize = 2_000;
/// Radius of a place around the positions where it was named, in metres.
pub(super) const PLACE_RADIUS_M: f64 = 5.0;
/// Longest absence within one stay.
pub(super) const MAX_ABSENCE: Duration = Duration::from_secs(60);
/// Longest gap between the parts of one visit that was reported hour by hour.
pub(super) const MAX_VISIT_PART_GAP: Duration = Duration::from_secs(2);

/// Attribute of an event whose robot pose is a position that the robot can reach, and not where it was.
const ROBOT_THERE_ATTRIBUTE: &str = "robot_there";

/// Returns whether the robot pose of an event says that the robot was there. A place can be named from afar.
pub(crate) fn shows_presence(event: &Event) -> bool {
    event.attributes.get(ROBOT_THERE_ATTRIBUTE) != Some(&crate::Value::Bool(false))
}

/// A stay of the robot at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RobotStay {
    pub span: TimeSpan,
    /// The event that reports the stay.
    pub event: EventId,
    /// Whether the stay was tracked pose by pose, and not inferred from observations.
    followed: bool,
}

/// Returns the reported visits to all places, in time order.
pub(crate) fn reported_visits(reader: &dyn Reader, span: Option<TimeSpan>) -> Result<Vec<Event>, ReadError> {
    let query = SearchQuery { latest: true, limit: MAX_VISITS, ..visit_query(span) };
    let mut found = Vec::new();
    for hit in reader.search().search(&query) {
        found.extend(reader.event(hit.id)?.filter(|event| visited(event).is_some()));
    }
    found.sort_by_key(|event| (event.span.start, event.id));
    Ok(found)
}

fn visit_query(span: Option<TimeSpan>) -> SearchQuery {
    SearchQuery { span, source: Some(VISIT_SOURCE.into()), kinds: vec![Kind::State], ..SearchQuery::default() }
}

/// Returns the circle of a place.
pub(super) fn place_circle(place: &MappedPlace) -> Near {
    Near { frame: place.frame.clone(), x: place.x, y: place.y, radius: place.radius + PLACE_RADIUS_M }
}

/// Returns the stays of the robot at a place, in time order: the reported visits, and before the first of them the
/// observations there without a long gap. `visits` are the visits to all places in `span`.
pub(crate) fn stays_at(
    reader: &dyn Reader,
    place: &MappedPlace,
    visits: &[Event],
    span: Option<TimeSpan>,
) -> Result<Vec<RobotStay>, ReadError> {
    let (Some(places), Some(positions)) = (reader.places(), reader.positions()) else { return Ok(Vec::new()) };
    let is_visit = |event: &Event| {
        visited(event).is_some_and(|name| is_same_name(places.current(name, event.span.start), &place.name))
            && event.pose.as_ref().is_none_or(|pose| pose.frame == place.frame)
    };
    let only: std::sync::Arc<[EventId]> = positions.near(&place_circle(place)).into();
    let mut first: Option<Timestamp> = None;
    let earliest = SearchQuery { only: Some(only.clone()), limit: MAX_VISITS, ..visit_query(None) };
    for hit in reader.search().search(&earliest) {
        if let Some(event) = reader.event(hit.id)?.filter(|event| is_visit(event)) {
            first = Some(event.span.start);
            break;
        }
    }
    let observed = match (first, span) {
        (None, span) => span,
        (Some(first), span) => {
            let start = span.map_or(Timestamp::from_micros(i64::MIN), |span| span.start);
            let end = span.map_or(first, |span| span.end.min(first));
            Some(TimeSpan { start, end: end.max(start) })
        }
    };
    let mut all: Vec<RobotStay> = Vec::new();
    if first.is_none_or(|first| observed.is_some_and(|span| span.start < first)) {
        let query = SearchQuery {
            span: observed,
            only: Some(only),
            latest: true,
            limit: MAX_AREA_EVENTS,
            ..SearchQuery::default()
        };
        for hit in reader.search().search(&query) {
            let Some(event) = reader.event(hit.id)?.filter(|event| visited(event).is_none() && shows_presence(event))
            else {
                continue;
            };
            let here = event.pose.as_ref().is_some_and(|pose| {
                pose.frame == place.frame && places.place_at(&pose.frame, pose.x, pose.y) == Some(&place.name)
            });
            // An announcement is no presence.
            if here && first.is_none_or(|first| event.span.start < first) {
                all.push(RobotStay { span: event.span, event: event.id, followed: false });
            }
        }
    }
    let told = visits.iter().filter(|event| is_visit(event));
    all.extend(told.map(|event| RobotStay { span: event.span, event: event.id, followed: true }));
    Ok(join_stays(all))
}

/// Returns whether two names are one.
fn is_same_name(one: &str, other: &str) -> bool {
    one.trim().to_lowercase() == other.trim().to_lowercase()
}

/// Returns the current name of the place that an event reports as visited.
pub(crate) fn current_place_name<'n>(reader: &'n dyn Reader, event: &'n Event) -> Option<&'n str> {
    let name = visited(event)?;
    Some(reader.places().map_or(name, |places| places.current(name, event.span.start)))
}

/// Joins stays without a long gap between them.
fn join_stays(mut all: Vec<RobotStay>) -> Vec<RobotStay> {
    all.sort_by_key(|stay| (stay.span.start, stay.event));
    let mut stays: Vec<RobotStay> = Vec::new();
    for stay in all {
        let goes_on = |last: &&mut RobotStay| {
            let most = if last.followed && stay.followed { MAX_VISIT_PART_GAP } else { MAX_ABSENCE };
            stay.span.start.since(last.span.end) <= most
        };
        match stays.last_mut().filter(goes_on) {
            Some(last) => {
                last.span.end = last.span.end.max(stay.span.end);
                last.followed = stay.followed;
            }
            None => stays.push(stay),
        }
    }
    stays
}
