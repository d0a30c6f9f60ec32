//! The places that have a name, as a person lists them.

use std::collections::BTreeMap;
use std::time::Duration;

use super::view::View;
use crate::episodic::visited;
use crate::language::english::space::spoken_place;
use crate::recall::robot_stays::{reported_visits, shows_presence, stays_at};
use crate::store::failure::{Result, if_sound};
use crate::store::tables::PLACE;
use crate::words::fold_name;
use crate::{FactFilter, FactKind, Place, PlaceKnownBy, Pose, PoseOf, ReadError, TimeSpan, Timestamp};

/// Maximum number of facts that are scanned.
const MAX_FACTS: usize = 20_000;
/// Maximum number of namings that are read of one place, the latest ones.
const MAX_NAMINGS: usize = 32;
/// Maximum number of namings that are read of all places, at least one of each.
const MAX_ALL_NAMINGS: usize = 512;
/// Longest gap, in microseconds, between events of one visit to a place without a position.
const MAX_VISIT_GAP_US: i64 = 60_000_000;

impl View {
    /// Every place that has a name: those on the map, then those that only events name.
    pub(crate) fn list_places(&self) -> std::result::Result<Vec<Place>, ReadError> {
        let visits = reported_visits(self, None)?;
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
                known_by: PlaceKnownBy::Pose,
                radius: place.radius,
                named: place.named,
                visits: stays.len() as u64,
                lasted: stays.iter().map(|stay| stay.span.end.since(stay.span.start)).sum(),
                span,
            });
        }
        let told = self.told_places()?.into_iter().chain(self.spoken_places()?);
        for place in told {
            if !found.iter().any(|known| known.name.to_lowercase() == place.name.to_lowercase()) {
                found.push(place);
            }
        }
        found.sort_by(|a, b| b.visits.cmp(&a.visits).then_with(|| a.name.cmp(&b.name)));
        found.sort_by_key(|place| (place.pose.is_none(), place.known_by == PlaceKnownBy::Words));
        Ok(found)
    }

    /// The places that are known from nothing but words: where somebody says to be, and where something is said to be.
    fn spoken_places(&self) -> std::result::Result<Vec<Place>, ReadError> {
        let map = &self.published.positions.places;
        let mut spoken: BTreeMap<String, (String, u64, TimeSpan)> = BTreeMap::new();
        let mut tell = |name: &str, times: u64, span: TimeSpan| {
            let name = map.current(name, span.start);
            let known = spoken.entry(fold_name(name)).or_insert_with(|| (name.to_owned(), 0, span));
            known.1 += times;
            known.2 = TimeSpan { start: known.2.start.min(span.start), end: known.2.end.max(span.end) };
        };
        for (name, span) in self.tables.spoken_names()? {
            tell(&name, 1, span);
        }
        // People say the same few places over and over.
        let mut names: BTreeMap<String, Option<String>> = BTreeMap::new();
        for fact in self.list_facts(&FactFilter { past: true, limit: Some(MAX_FACTS), ..FactFilter::default() })? {
            let place = if fact.kind == FactKind::Place { Some(&fact.value) } else { fact.place.as_ref() };
            let Some(place) = place else { continue };
            if let Some(name) = names.entry(place.clone()).or_insert_with(|| spoken_place(place)) {
                tell(name, fact.evidence.len().max(1) as u64, TimeSpan { start: fact.since, end: fact.last });
            }
        }
        let place = |(name, named, span)| Place {
            name,
            known_by: PlaceKnownBy::Words,
            pose: None,
            radius: 0.0,
            named,
            visits: 0,
            lasted: Duration::ZERO,
            span: Some(span),
        };
        Ok(spoken.into_values().map(place).collect())
    }

    /// Returns the latest times at which a place was named on the spot, each with its present name: said there,
    /// observed there, or known from poses. An event that was derived from pictures names no place.
    pub(super) fn namings(&self) -> Result<Vec<(String, TimeSpan)>> {
        let map = &self.published.positions.places;
        let mut events: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for entry in self.tables.facets.range((PLACE, "", 0)..(PLACE + 1, "", 0))? {
            let (key, _) = entry?;
            let (_, name, event) = key.value();
            events.entry(name.to_owned()).or_default().push(event);
        }
        let mut namings: Vec<(String, TimeSpan)> = Vec::new();
        let each = (MAX_ALL_NAMINGS / events.len().max(1)).clamp(1, MAX_NAMINGS);
        for event in events.values().flat_map(|events| events.iter().rev().take(each)) {
            let Some(event) = if_sound(self.find_event(crate::EventId(*event)))?.flatten() else { continue };
            let derived = event.attributes.get("derived") == Some(&crate::Value::Bool(true));
            if derived && visited(&event).is_none() || !shows_presence(&event) {
                continue;
            }
            let name = event.attributes.get("place").and_then(crate::Value::as_text).unwrap_or_default();
            namings.push((map.current(name, event.span.start).to_owned(), event.span));
        }
        let spoken = self.tables.spoken_names()?;
        namings.extend(spoken.into_iter().map(|(name, span)| (map.current(&name, span.start).to_owned(), span)));
        Ok(namings)
    }

    /// The places that events name in their attribute, wherever they are.
    fn told_places(&self) -> Result<Vec<Place>> {
        struct ToldVisits {
            first: u64,
            spans: Vec<(i64, i64)>,
        }
        let mut told: BTreeMap<String, ToldVisits> = BTreeMap::new();
        let map = &self.published.positions.places;
        let mut renamed: BTreeMap<String, String> = BTreeMap::new();
        for entry in self.tables.facets.range((PLACE, "", 0)..(PLACE + 1, "", 0))? {
            let (key, value) = entry?;
            let (_, name, event) = key.value();
            let (_, start, end) = value.value();
            let current = map.current(name, Timestamp::from_micros(start));
            let folded = fold_name(current);
            if folded != name {
                renamed.entry(folded.clone()).or_insert_with(|| current.to_owned());
            }
            match told.get_mut(&folded) {
                Some(known) => known.spans.push((start, end)),
                None => drop(told.insert(folded, ToldVisits { first: event, spans: vec![(start, end)] })),
            }
        }
        let mut places = Vec::new();
        for (folded, ToldVisits { first, mut spans }) in told {
            spans.sort_unstable();
            let mut visits: Vec<(i64, i64)> = Vec::new();
            for (start, end) in &spans {
                match visits.last_mut().filter(|last| start.saturating_sub(last.1) <= MAX_VISIT_GAP_US) {
                    Some(last) => last.1 = last.1.max(*end),
                    None => visits.push((*start, *end)),
                }
            }
            let event = if_sound(self.find_event(crate::EventId(first)))?.flatten();
            let name =
                event.and_then(|event| event.attributes.get("place")?.as_text().map(|name| name.trim().to_owned()));
            let moment = Timestamp::from_micros;
            places.push(Place {
                name: renamed.remove(&folded).or(name).unwrap_or(folded),
                known_by: PlaceKnownBy::Events,
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
