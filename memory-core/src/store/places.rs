//! The places that have a name, as a person lists them.

use std::collections::BTreeMap;
use std::time::Duration;

use super::failure::{Result, if_sound};
use super::tables::PLACE;
use super::view::View;
use crate::recall::robot_stays::{stays_at, visits};
use crate::{Place, Pose, PoseOf, ReadError, TimeSpan, Timestamp};

/// Events of a place without a position that lie farther apart belong to two visits.
const AWAY: i64 = 60_000_000;

impl View {
    /// Every place that has a name: those on the map, then those that only events name.
    pub(crate) fn list_places(&self) -> std::result::Result<Vec<Place>, ReadError> {
        let visits = visits(self, None)?;
        let mut found: Vec<Place> = Vec::new();
        for place in self.published.positions.places.places() {
            let stays = stays_at(self, &place, &visits, None)?;
            let span = stays.first().zip(stays.last()).map(|(first, _)| TimeSpan {
                start: first.span.start,
                end: stays.iter().map(|stay| stay.span.end).max().unwrap_or(first.span.end),
            });
            found.push(Place {
                pose: Some(Pose {
                    frame: place.frame,
                    x: place.x,
                    y: place.y,
                    z: 0.0,
                    yaw: 0.0,
                    covariance: None,
                    of: PoseOf::Robot,
                }),
                name: place.name,
                radius: place.radius,
                named: place.named,
                visits: stays.len() as u64,
                lasted: stays.iter().map(|stay| stay.span.end.since(stay.span.start)).sum(),
                span,
            });
        }
        for place in self.told_places()? {
            if !found.iter().any(|known| known.name.to_lowercase() == place.name.to_lowercase()) {
                found.push(place);
            }
        }
        found.sort_by(|a, b| b.visits.cmp(&a.visits).then_with(|| a.name.cmp(&b.name)));
        found.sort_by_key(|place| place.pose.is_none());
        Ok(found)
    }

    /// The places that events name in their attribute, wherever they are.
    fn told_places(&self) -> Result<Vec<Place>> {
        struct Told {
            first: u64,
            spans: Vec<(i64, i64)>,
        }
        let mut told: BTreeMap<String, Told> = BTreeMap::new();
        for entry in self.tables.facets.range((PLACE, "", 0)..(PLACE + 1, "", 0))? {
            let (key, value) = entry?;
            let (_, name, event) = key.value();
            let (_, start, end) = value.value();
            match told.get_mut(name) {
                Some(known) => known.spans.push((start, end)),
                None => drop(told.insert(name.to_owned(), Told { first: event, spans: vec![(start, end)] })),
            }
        }
        let mut places = Vec::new();
        for (folded, Told { first, mut spans }) in told {
            spans.sort_unstable();
            let mut visits: Vec<(i64, i64)> = Vec::new();
            for (start, end) in &spans {
                match visits.last_mut().filter(|last| start.saturating_sub(last.1) <= AWAY) {
                    Some(last) => last.1 = last.1.max(*end),
                    None => visits.push((*start, *end)),
                }
            }
            let event = if_sound(self.find_event(crate::EventId(first)))?.flatten();
            let name =
                event.and_then(|event| event.attributes.get("place")?.as_text().map(|name| name.trim().to_owned()));
            let moment = Timestamp::from_micros;
            places.push(Place {
                name: name.unwrap_or(folded),
                pose: None,
                radius: 0.0,
                named: spans.len() as u64,
                visits: visits.len() as u64,
                lasted: visits.iter().map(|(start, end)| moment(*end).since(moment(*start))).sum::<Duration>(),
                span: visits
                    .first()
                    .zip(visits.iter().map(|(_, end)| *end).max())
                    .map(|(first, end)| TimeSpan { start: moment(first.0), end: moment(end) }),
            });
        }
        Ok(places)
    }
}
