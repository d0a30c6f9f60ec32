//! Where the robot was: its visits to places that have a name on the map.

use std::time::Duration;

use super::Reader;
use crate::episodic::{VISIT_SOURCE, visited};
use crate::index::{MappedPlace, SearchQuery};
use crate::{Event, EventId, Kind, Near, ReadError, TimeSpan, Timestamp};

/// Visits that are gone through, the latest ones.
const VISITS: usize = 20_000;
/// Events of an area that are gone through, the latest ones.
pub(super) const AREA_EVENTS: usize = 2_000;
/// How far around the spots where a place was named it may reach, metres.
pub(super) const AROUND_PLACE: f64 = 5.0;
/// Who is away for longer comes back anew.
pub(super) const AWAY: Duration = Duration::from_secs(60);
/// Parts of one visit, which was told hour by hour, lie no farther apart.
pub(super) const ONE_VISIT: Duration = Duration::from_secs(2);

/// The attribute that says of a pose of the robot that it is where the robot can get to, and not where it was.
const ROBOT_THERE: &str = "robot_there";

/// Whether an event with a pose of the robot says that it was there: a place can be named from afar.
pub(crate) fn is_presence(event: &Event) -> bool {
    event.attributes.get(ROBOT_THERE) != Some(&crate::Value::Bool(false))
}

/// A stay of the robot at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stay {
    pub span: TimeSpan,
    /// The event that says so.
    pub event: EventId,
    /// Whether it was followed pose by pose, and not only known from what was observed there.
    followed: bool,
}

/// The visits that were told of any place, in order of time.
pub(crate) fn visits(reader: &dyn Reader, span: Option<TimeSpan>) -> Result<Vec<Event>, ReadError> {
    let query = SearchQuery { latest: true, limit: VISITS, ..told_visits(span) };
    let mut found = Vec::new();
    for hit in reader.search().search(&query) {
        found.extend(reader.event(hit.id)?.filter(|event| visited(event).is_some()));
    }
    found.sort_by_key(|event| (event.span.start, event.id));
    Ok(found)
}

fn told_visits(span: Option<TimeSpan>) -> SearchQuery {
    SearchQuery { span, source: Some(VISIT_SOURCE.into()), kinds: vec![Kind::State], ..SearchQuery::default() }
}

/// The circle that holds a place.
pub(super) fn circle(place: &MappedPlace) -> Near {
    Near { frame: place.frame.clone(), x: place.x, y: place.y, radius: place.radius + AROUND_PLACE }
}

/// The stays of the robot at a place, in order of time: the visits that were told, and before the first of them what was
/// observed there without a long break. `visits` are those of every place in `span`.
pub(crate) fn stays_at(
    reader: &dyn Reader,
    place: &MappedPlace,
    visits: &[Event],
    span: Option<TimeSpan>,
) -> Result<Vec<Stay>, ReadError> {
    let (Some(places), Some(positions)) = (reader.places(), reader.positions()) else { return Ok(Vec::new()) };
    let is_visit = |event: &Event| {
        visited(event).is_some_and(|name| is_same(places.current(name, event.span.start), &place.name))
            && event.pose.as_ref().is_none_or(|pose| pose.frame == place.frame)
    };
    let only: std::sync::Arc<[EventId]> = positions.near(&circle(place)).into();
    let mut first: Option<Timestamp> = None;
    let earliest = SearchQuery { only: Some(only.clone()), limit: VISITS, ..told_visits(None) };
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
    let mut all: Vec<Stay> = Vec::new();
    if first.is_none_or(|first| observed.is_some_and(|span| span.start < first)) {
        let query = SearchQuery {
            span: observed,
            only: Some(only),
            latest: true,
            limit: AREA_EVENTS,
            ..SearchQuery::default()
        };
        for hit in reader.search().search(&query) {
            let Some(event) = reader.event(hit.id)?.filter(|event| visited(event).is_none() && is_presence(event))
            else {
                continue;
            };
            let here = event.pose.as_ref().is_some_and(|pose| {
                pose.frame == place.frame && places.place_at(&pose.frame, pose.x, pose.y) == Some(&place.name)
            });
            // What was told in advance is no presence.
            if here && first.is_none_or(|first| event.span.start < first) {
                all.push(Stay { span: event.span, event: event.id, followed: false });
            }
        }
    }
    let told = visits.iter().filter(|event| is_visit(event));
    all.extend(told.map(|event| Stay { span: event.span, event: event.id, followed: true }));
    Ok(joined(all))
}

/// Whether two names are one.
fn is_same(one: &str, other: &str) -> bool {
    one.trim().to_lowercase() == other.trim().to_lowercase()
}

/// The name now of the place that an event says the robot visited.
pub(crate) fn visited_now<'n>(reader: &'n dyn Reader, event: &'n Event) -> Option<&'n str> {
    let name = visited(event)?;
    Some(reader.places().map_or(name, |places| places.current(name, event.span.start)))
}

/// Stays without a long break between them as one.
fn joined(mut all: Vec<Stay>) -> Vec<Stay> {
    all.sort_by_key(|stay| (stay.span.start, stay.event));
    let mut stays: Vec<Stay> = Vec::new();
    for stay in all {
        let goes_on = |last: &&mut Stay| {
            let most = if last.followed && stay.followed { ONE_VISIT } else { AWAY };
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
