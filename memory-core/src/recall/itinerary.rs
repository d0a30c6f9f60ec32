//! The itinerary of a recording: the places that came into view, in order, each from when it came until another did.
//!
//! The places are those that the robot visited on its map; else pictures that look alike; else the settings that captions
//! describe.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::answerers::order::main_noun;
use super::content::word_similarity;
use super::likeness::{best_phrase_similarity, phrase_similarity};
use super::pool::{EventPool, RetrievedEvent};
use super::reading::{ParsedEvent, is_person};
use super::robot_stays::{current_place_name, reported_visits};
use super::visits::ScenePlaces;
use crate::index::SearchQuery;
use crate::language::english::setting::setting_of;
use crate::language::english::space::{named_place, place_name};
use crate::language::english::summary::uncapitalised;
use crate::language::english::syntax::NounPhrase;
use crate::{Event, EventId, Kind, ReadError, TimeSpan, Value};

/// Maximum number of captions that are read, the latest ones.
const MAX_CAPTIONS: usize = 1_000;
/// Maximum number of texts that are looked through for the names of places, the latest ones.
const MAX_TEXTS: usize = 1_000;
/// Maximum number of events that mention a thing.
const MAX_MENTIONS: usize = 100;
/// Longest gap between two scenes of one stay.
const MAX_STAY_GAP: Duration = Duration::from_secs(60);
/// Longest break within one recording, if the memory does not know where its sessions begin.
const MAX_BREAK: Duration = Duration::from_secs(1_800);
/// Minimum similarity of two nouns for one kind of place.
const MIN_KIND_SIMILARITY: f32 = 0.9;
/// Minimum similarity of a place to the one that a question names.
const MIN_NAMED_SIMILARITY: f32 = 0.7;

/// A place of an itinerary.
#[derive(Debug)]
struct ItineraryPlace {
    /// Without an article: "bicycle workshop".
    name: String,
    noun: Option<NounPhrase>,
    /// The event that names or shows it first.
    reading: Arc<ParsedEvent>,
}

impl ItineraryPlace {
    /// A place that has a name.
    fn with_name(name: &str, reading: Arc<ParsedEvent>) -> Self {
        Self { name: name.to_owned(), noun: main_noun(&format!("the {name}")), reading }
    }

    /// A place that only its pictures show: by the class of its scene, its setting, or else the whole caption.
    fn pictured(reading: Arc<ParsedEvent>) -> Self {
        if let Some(class) = reading.event.attributes.get("scene").and_then(Value::as_text).map(str::to_owned) {
            return Self::with_name(&class, reading);
        }
        let setting = setting_of(&reading.sentences).filter(|setting| !setting.uncertain);
        let noun = setting.map(|setting| setting.noun);
        let name = noun.as_ref().and_then(|noun| place_name(&reading.event.text, noun));
        let name = name.unwrap_or_else(|| reading.event.text.trim_end_matches('.').to_owned());
        Self { name, noun, reading }
    }
}

/// A stay at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ItineraryStay {
    /// Which of the places.
    pub place: usize,
    pub span: TimeSpan,
    /// The event that shows the place first.
    pub shown: EventId,
}

/// The stays at the places of a recording, in time order.
#[derive(Debug, Default)]
pub(super) struct Itinerary {
    places: Vec<ItineraryPlace>,
    /// Whether its places are known from captions only.
    described: bool,
    pub stays: Vec<ItineraryStay>,
}

impl Itinerary {
    /// Returns the itinerary of the time that the question is about: its bound, else the latest session, else what was
    /// recorded last without a long break. Empty if no place is known.
    pub fn load(pool: &EventPool<'_>) -> Result<Self, ReadError> {
        let bound = pool.question.bound();
        let session = pool.reader.search().session(bound);
        let span = session.or(bound);
        let mut found = Self::of_visits(pool, span)?;
        if found.stays.is_empty() {
            found = Self::of_pictures(pool, span)?;
            if found.stays.is_empty() {
                found = Self::of_captions(pool, span)?;
            }
            found.name_as_told(pool, span)?;
        }
        if span.is_none() {
            found.keep_last_run();
        }
        Ok(found)
    }

    fn of_visits(pool: &EventPool<'_>, span: Option<TimeSpan>) -> Result<Self, ReadError> {
        let mut found = Self::default();
        for event in reported_visits(pool.reader, span)? {
            let Some(name) = current_place_name(pool.reader, &event).map(str::to_owned) else { continue };
            let known = found.places.iter().position(|place| place.name == name);
            let (span, id) = (event.span, event.id);
            let place = known.unwrap_or_else(|| found.add(ItineraryPlace::with_name(&name, pool.reading(event))));
            found.stay(place, span, id);
        }
        Ok(found)
    }

    fn of_pictures(pool: &EventPool<'_>, span: Option<TimeSpan>) -> Result<Self, ReadError> {
        let mut found = Self::default();
        let Some(pictured) = ScenePlaces::load(pool.reader, span)? else { return Ok(found) };
        let mut scenes: Vec<(&Event, usize)> = pictured.scenes().collect();
        scenes.sort_by_key(|(event, _)| (event.span.start, event.id));
        let mut known: BTreeMap<usize, usize> = BTreeMap::new();
        for (event, alike) in scenes {
            let place =
                *known.entry(alike).or_insert_with(|| found.add(ItineraryPlace::pictured(pool.reading(event.clone()))));
            found.stay(place, event.span, event.id);
        }
        found.fill_gaps();
        Ok(found)
    }

    fn of_captions(pool: &EventPool<'_>, span: Option<TimeSpan>) -> Result<Self, ReadError> {
        let mut captions =
            pool.events_in_time_order(span, None, vec![Kind::Caption], true, MAX_CAPTIONS, &pool.question.content)?;
        // What describes the whole scene comes before what happens in it.
        captions.sort_by_key(|found| (found.span().start, Reverse(found.span().end), found.id()));
        let mut found = Self { described: true, ..Self::default() };
        for caption in &captions {
            let here = found.stays.last().filter(|last| caption.span().start.since(last.span.end) <= MAX_STAY_GAP);
            let here = here.map(|last| last.place);
            let Some(place) = found.place_of_caption(caption).or(here) else { continue };
            found.stay(place, caption.span(), caption.id());
        }
        found.fill_gaps();
        Ok(found)
    }

    /// Names places as somebody called them who was there: "This is the smithy."
    fn name_as_told(&mut self, pool: &EventPool<'_>, span: Option<TimeSpan>) -> Result<(), ReadError> {
        let query =
            SearchQuery { span, kinds: vec![Kind::Text], latest: true, limit: MAX_TEXTS, ..SearchQuery::default() };
        for hit in pool.reader.search().search(&query) {
            let Some(event) = pool.reader.event(hit.id)? else { continue };
            let here = self.stays.iter().rfind(|stay| stay.span.contains(event.span.start)).map(|stay| stay.place);
            if let (Some(place), Some(name)) = (here, named_place(&event.text)) {
                self.places[place] = ItineraryPlace::with_name(&name, self.places[place].reading.clone());
            }
        }
        Ok(())
    }

    /// Returns the place that a caption is set in: a known one, or a new one.
    fn place_of_caption(&mut self, caption: &RetrievedEvent) -> Option<usize> {
        let reading = &caption.reading;
        let setting = setting_of(&reading.sentences)?;
        let of_kind = |place: &ItineraryPlace| {
            place
                .noun
                .as_ref()
                .is_some_and(|noun| word_similarity(&noun.head, &setting.noun.head) >= MIN_KIND_SIMILARITY)
        };
        let known: Vec<usize> = (0..self.places.len()).filter(|place| of_kind(&self.places[*place])).collect();
        let own = &setting.noun.modifiers;
        let other = |place: usize| self.places[place].noun.as_ref().map_or(&[][..], |noun| noun.modifiers.as_slice());
        let may_be = |place: &usize| {
            let other = other(*place);
            // "A car deck" is another one than "a deck", and "the car deck" may be the same.
            let says_less = own.is_empty() || !setting.introduced && other.is_empty();
            says_less || other.iter().any(|word| own.contains(word))
        };
        // The one with the fewest other words, of which most is said again.
        let likeness = |place: &usize| {
            let told = &self.places[*place].reading.lemmas;
            let more = other(*place).iter().filter(|word| !own.contains(word)).count();
            (Reverse(more), reading.lemmas.iter().filter(|lemma| told.contains(lemma)).count())
        };
        let same = known.iter().copied().filter(may_be).max_by_key(likeness);
        // "The kitchen" is the one that was shown before.
        let only = known.first().copied().filter(|_| known.len() == 1 && !setting.introduced);
        if let Some(place) = same.or(only) {
            return Some(place);
        }
        let name = place_name(&reading.event.text, &setting.noun).filter(|_| !setting.uncertain)?;
        let name = uncapitalised(&name);
        Some(self.add(ItineraryPlace { name, noun: Some(setting.noun), reading: reading.clone() }))
    }

    fn add(&mut self, place: ItineraryPlace) -> usize {
        self.places.push(place);
        self.places.len() - 1
    }

    /// Adds a scene: it goes on with the stay before, or begins another.
    fn stay(&mut self, place: usize, span: TimeSpan, shown: EventId) {
        let goes_on =
            |last: &&mut ItineraryStay| last.place == place && span.start.since(last.span.end) <= MAX_STAY_GAP;
        match self.stays.last_mut().filter(goes_on) {
            Some(last) => last.span.end = last.span.end.max(span.end),
            None => self.stays.push(ItineraryStay { place, span, shown }),
        }
    }

    /// Lets every stay last until the next begins, where no long gap lies between: not every moment is described.
    fn fill_gaps(&mut self) {
        for at in 1..self.stays.len() {
            let next = self.stays[at].span.start;
            let last = &mut self.stays[at - 1].span;
            if next.since(last.end) <= MAX_STAY_GAP {
                last.end = last.end.max(next);
            }
        }
    }

    fn keep_last_run(&mut self) {
        let breaks = |pair: &[ItineraryStay]| pair[1].span.start.since(pair[0].span.end) > MAX_BREAK;
        if let Some(last) = self.stays.windows(2).rposition(breaks) {
            self.stays.drain(..=last);
        }
    }

    /// Returns whether the places are known from captions only.
    pub fn is_described(&self) -> bool {
        self.described
    }

    /// Returns the name of a place, without an article.
    pub fn name(&self, place: usize) -> &str {
        &self.places[place].name
    }

    /// Returns the visited places in the order of their first stays.
    pub fn visited(&self) -> Vec<usize> {
        let mut places: Vec<usize> = Vec::new();
        for stay in &self.stays {
            if !places.contains(&stay.place) {
                places.push(stay.place);
            }
        }
        places
    }

    /// Returns the stays at a place.
    pub fn stays_at(&self, place: usize) -> impl Iterator<Item = &ItineraryStay> {
        self.stays.iter().filter(move |stay| stay.place == place)
    }

    /// Returns how long the place was in view in all.
    pub fn time_at(&self, place: usize) -> Duration {
        self.stays_at(place).map(|stay| stay.span.end.since(stay.span.start)).sum()
    }

    /// Returns the place that a noun phrase of the question names.
    pub fn named(&self, asked: &NounPhrase) -> Option<usize> {
        let similarity = |place: usize| {
            let ItineraryPlace { noun, reading, .. } = &self.places[place];
            noun.as_ref().map_or(0.0, |noun| phrase_similarity(asked, noun, reading))
        };
        let mut places: Vec<(usize, f32)> =
            self.visited().into_iter().map(|place| (place, similarity(place))).collect();
        places.sort_by(|a, b| b.1.total_cmp(&a.1));
        places.first().filter(|(_, best)| *best >= MIN_NAMED_SIMILARITY).map(|(place, _)| *place)
    }

    /// Returns the place at which a thing of the question was seen most often.
    pub fn showing(&self, pool: &EventPool<'_>, thing: &NounPhrase) -> Result<Option<usize>, ReadError> {
        let (Some(first), Some(last)) = (self.stays.first(), self.stays.last()) else { return Ok(None) };
        if is_person(thing) {
            return Ok(None);
        }
        let span = Some(TimeSpan::new(first.span.start, last.span.end));
        let mut seen = pool.events_mentioning(thing, span, false, MAX_MENTIONS, &pool.question.content)?;
        seen.retain(|found| {
            !matches!(found.reading.event.kind, Kind::Text | Kind::Sound)
                && best_phrase_similarity(thing, &found.reading) >= MIN_NAMED_SIMILARITY
        });
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        for found in seen {
            let start = found.span().start;
            // At the end of one stay another begins.
            if let Some(stay) = self.stays.iter().rfind(|stay| stay.span.contains(start)) {
                *counts.entry(stay.place).or_default() += 1;
            }
        }
        Ok(counts.into_iter().max_by_key(|(place, count)| (*count, Reverse(*place))).map(|(place, _)| place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;

    fn stays(starts: &[i64]) -> Itinerary {
        let at = |second: i64| Timestamp::from_micros(second * 1_000_000);
        let stay = |(place, start): (usize, &i64)| ItineraryStay {
            place,
            span: TimeSpan::new(at(*start), at(start + 10)),
            shown: EventId(place as u64),
        };
        Itinerary { stays: starts.iter().enumerate().map(stay).collect(), ..Itinerary::default() }
    }

    #[test]
    fn a_stay_lasts_until_the_next_unless_a_long_gap_lies_between() {
        let mut itinerary = stays(&[0, 40, 200]);
        itinerary.fill_gaps();
        let lengths: Vec<u64> =
            itinerary.stays.iter().map(|stay| stay.span.end.since(stay.span.start).as_secs()).collect();
        assert_eq!(lengths, [40, 10, 10]);
    }

    #[test]
    fn after_a_long_break_another_recording_begins() {
        let mut itinerary = stays(&[0, 10, 4_000, 4_010, 4_020]);
        itinerary.keep_last_run();
        let places: Vec<usize> = itinerary.visited();
        assert_eq!(places, [2, 3, 4]);
    }
}
