//! Visits of the robot to places that have a name, made from its poses.
//!
//! Poses come many times a second and are not stored. A visit is one told observation from the arrival to the departure, so
//! it is found, summarised, exported and forgotten as every other. It is told at the arrival and told again, as a
//! correction, while it lasts. One that goes on into the next hour goes on as another observation, so that each hour has its
//! places, and forgetting one hour leaves the others.

use std::time::Duration;

use crate::language::english::space::at_place;
use crate::{Attributes, Event, Kind, Pose, PoseOf, TimeSpan, Timestamp, Told, Value};

/// Source of the events that record visits.
pub const VISIT_SOURCE: &str = "places";
/// Attribute that marks a visit.
const VISIT_ATTRIBUTE: &str = "visit";
/// Minimum length of a visit. A shorter one only crosses the edge of the place.
const MIN_VISIT: Duration = Duration::from_secs(3);
/// Absence up to which a robot that returns counts as never gone.
const MAX_ABSENCE: Duration = Duration::from_secs(10);
/// Time without a pose after which the position counts as unknown.
const POSE_TIMEOUT: Duration = Duration::from_secs(60);
/// Interval at which an ongoing visit is stored again: what a power cut can lose of it.
const UPDATE_INTERVAL: Duration = Duration::from_secs(300);
/// Longest part of a visit, in microseconds. Parts end with the hour.
const PART_US: i64 = 3_600_000_000;

/// Follows the robot from place to place.
#[derive(Debug, Default)]
pub struct VisitTracker {
    visit: Option<CurrentVisit>,
    /// Another place than that of the visit, and since when the robot is there without a break.
    arriving: Option<(String, Timestamp)>,
    last: Option<Timestamp>,
}

#[derive(Debug)]
struct CurrentVisit {
    place: String,
    span: TimeSpan,
    /// Pose of the robot on arrival.
    pose: Pose,
    /// The end as it was told last.
    told: Timestamp,
}

impl VisitTracker {
    /// Takes in that the robot is at a pose, and which place that is. Returns what is to be told: nothing, an arrival, a
    /// departure, or both.
    pub fn moved(&mut self, at: Timestamp, pose: &Pose, place: Option<&str>) -> Vec<Told> {
        let mut told = Vec::new();
        let silent = self.last.is_some_and(|last| at < last || at.since(last) > POSE_TIMEOUT);
        if silent {
            told.extend(self.end());
        }
        self.last = Some(at);
        let here = self.visit.as_ref().is_some_and(|visit| place == Some(visit.place.as_str()));
        if here {
            self.arriving = None;
        } else if self.arriving.as_ref().map(|(name, _)| name.as_str()) != place {
            self.arriving = place.map(|name| (name.to_owned(), at));
        }
        if let Some(visit) = &mut self.visit {
            if here {
                let hour = Timestamp::from_micros(at.as_micros() - at.as_micros().rem_euclid(PART_US));
                if visit.span.start < hour {
                    visit.span.end = hour;
                    told.push(visit.tell());
                    (visit.span.start, visit.told) = (hour, hour);
                }
                visit.span.end = at;
                if at.since(visit.told) >= UPDATE_INTERVAL {
                    told.push(visit.tell());
                }
            } else if at.since(visit.span.end) >= MAX_ABSENCE {
                told.extend(self.depart());
            }
        }
        if let Some((_, since)) = self.arriving.as_ref().filter(|(_, since)| at.since(*since) >= MIN_VISIT) {
            let since = *since;
            told.extend(self.depart());
            if let Some((place, _)) = self.arriving.take() {
                let pose = Pose { of: PoseOf::Robot, ..pose.clone() };
                let mut visit = CurrentVisit { place, span: TimeSpan::new(since, at), pose, told: since };
                told.push(visit.tell());
                self.visit = Some(visit);
            }
        }
        told
    }

    /// Ends the visit, because nothing more will be known of it. Returns what is to be told.
    pub fn end(&mut self) -> Option<Told> {
        self.arriving = None;
        self.last = None;
        self.depart()
    }

    /// Begins anew, because what was told of the visit was forgotten.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    fn depart(&mut self) -> Option<Told> {
        let mut visit = self.visit.take()?;
        (visit.told < visit.span.end).then(|| visit.tell())
    }
}

impl CurrentVisit {
    fn tell(&mut self) -> Told {
        self.told = self.span.end;
        let attributes = [
            ("derived".to_owned(), Value::Bool(true)),
            ("place".to_owned(), Value::Text(self.place.clone())),
            (VISIT_ATTRIBUTE.to_owned(), Value::Bool(true)),
        ];
        Told {
            id: Some(VISIT_ATTRIBUTE.into()),
            kind: Kind::State,
            text: format!("The robot was {}.", at_place(&self.place)),
            at: Some(self.span.start),
            until: Some(self.span.end),
            source: VISIT_SOURCE.into(),
            attributes: Attributes::from_iter(attributes),
            robot_pose: Some(self.pose.clone()),
            ..Told::default()
        }
    }
}

/// The place that an event says the robot visited.
pub(crate) fn visited(event: &Event) -> Option<&str> {
    let is_visit = event.source == VISIT_SOURCE && event.attributes.get(VISIT_ATTRIBUTE) == Some(&Value::Bool(true));
    event.attributes.get("place").and_then(Value::as_text).filter(|_| is_visit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RawPose;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(1_795_161_600_000_000 + seconds * 1_000_000)
    }

    /// The visits after a robot was at these places, each second at the next one: name, begin and end.
    fn visits(tracker: &mut VisitTracker, from: i64, places: &[Option<&str>]) -> Vec<(String, i64, i64)> {
        let pose = RawPose { frame: "map".into(), ..RawPose::default() }.check().unwrap();
        let mut told: Vec<Told> = Vec::new();
        for (second, place) in (from..).zip(places) {
            told.extend(tracker.moved(at(second), &pose, *place));
        }
        told.extend(tracker.end());
        let mut visits: Vec<(String, i64, i64)> = Vec::new();
        for told in told {
            let seconds = |time: Option<Timestamp>| (time.unwrap().as_micros() - at(0).as_micros()) / 1_000_000;
            let place = told.attributes.get("place").and_then(Value::as_text).unwrap().to_owned();
            // The same begin is the same visit, told again.
            visits.retain(|(_, start, _)| *start != seconds(told.at));
            visits.push((place, seconds(told.at), seconds(told.until)));
        }
        visits
    }

    const K: Option<&str> = Some("kitchen");
    const H: Option<&str> = Some("hall");

    fn stretch(parts: &[(Option<&'static str>, usize)]) -> Vec<Option<&'static str>> {
        parts.iter().flat_map(|(place, seconds)| std::iter::repeat_n(*place, *seconds)).collect()
    }

    #[test]
    fn a_visit_goes_from_the_arrival_to_the_departure() {
        let way = stretch(&[(None, 5), (K, 20), (None, 15), (H, 30), (K, 10)]);
        let expected = [("kitchen".into(), 5, 24), ("hall".into(), 40, 69), ("kitchen".into(), 70, 79)];
        assert_eq!(visits(&mut VisitTracker::default(), 0, &way), expected);
    }

    #[test]
    fn an_edge_that_is_touched_is_no_visit_and_no_departure() {
        let way = stretch(&[(K, 20), (H, 2), (K, 5), (None, 8), (K, 10), (H, 1), (None, 1), (H, 2), (K, 3)]);
        assert_eq!(visits(&mut VisitTracker::default(), 0, &way), [("kitchen".into(), 0, 51)]);
        // On the border of two places the noise decides which one it is.
        let border: Vec<Option<&str>> = (0..100).map(|second| if second % 3 == 0 { H } else { K }).collect();
        assert_eq!(visits(&mut VisitTracker::default(), 0, &border), Vec::<(String, i64, i64)>::new());
    }

    #[test]
    fn silence_ends_a_visit_where_it_was_last_known() {
        let mut tracker = VisitTracker::default();
        let pose = RawPose { frame: "map".into(), ..RawPose::default() }.check().unwrap();
        for second in 0..=10 {
            tracker.moved(at(second), &pose, K);
        }
        let told = tracker.moved(at(500), &pose, K);
        assert_eq!(told.iter().map(|told| told.until.unwrap()).collect::<Vec<_>>(), [at(10)]);
        assert_eq!(visits(&mut tracker, 501, &stretch(&[(K, 10)])), [("kitchen".into(), 500, 510)]);
    }

    #[test]
    fn a_clock_that_is_set_back_begins_a_new_visit() {
        let mut tracker = VisitTracker::default();
        assert_eq!(visits(&mut tracker, 1_000, &stretch(&[(K, 10)])), [("kitchen".into(), 1_000, 1_009)]);
        assert_eq!(visits(&mut tracker, 0, &stretch(&[(K, 10)])), [("kitchen".into(), 0, 9)]);
    }

    #[test]
    fn a_long_visit_is_told_every_five_minutes() {
        let mut tracker = VisitTracker::default();
        let pose = RawPose { frame: "map".into(), ..RawPose::default() }.check().unwrap();
        let told: usize = (0..3_600).map(|second| tracker.moved(at(second), &pose, K).len()).sum();
        assert_eq!(told, 1 + 11, "an arrival and eleven corrections in an hour");
    }

    #[test]
    fn a_visit_goes_on_in_the_next_hour_as_another_observation() {
        let to_the_hour = 3_600;
        let found = visits(&mut VisitTracker::default(), to_the_hour - 20, &stretch(&[(K, 41)]));
        let expected =
            [("kitchen".into(), to_the_hour - 20, to_the_hour), ("kitchen".into(), to_the_hour, to_the_hour + 20)];
        assert_eq!(found, expected);
    }
}
