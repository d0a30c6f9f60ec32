//! The events that a question may be about, and their retrieval: by words and meaning, by named things, and by time.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::Reader;
use super::content::{Content, Coverage};
use super::corrections::CorrectedStatement;
use super::identification::IdentifiedCaptions;
use super::nearest;
use super::question::Question;
use super::reading::ParsedEvent;
use crate::index::{Hit, Holding, SearchQuery};
use crate::language::english::lexicon::{self, PartOfSpeech};
use crate::language::english::syntax::NounPhrase;
use crate::limits::MAX_EVIDENCE;
use crate::{Event, EventId, Kind, Modality, ReadError, TimeSpan};

/// Maximum number of hits of a search by words and meaning.
const MAX_SEARCH_HITS: usize = 64;
/// Maximum length of an entity name, in words.
const MAX_NAME_WORDS: usize = 8;
/// Maximum number of hits that are parsed.
const MAX_PARSED_HITS: usize = 40;
/// Time within which a person can be the antecedent of a pronoun.
const ANTECEDENT_WINDOW: Duration = Duration::from_secs(1_800);
/// Time within which a reply follows.
pub(super) const REPLY_WINDOW: Duration = Duration::from_secs(300);
/// Maximum number of earlier events that are searched for a name, the latest ones.
const MAX_ANTECEDENT_EVENTS: usize = 8;
/// Maximum number of earlier events that are searched for the referent of "it", the latest ones.
const MAX_TOPIC_EVENTS: usize = 3;
/// Maximum number of texts per question whose pronouns are resolved by earlier events.
const MAX_ANTECEDENT_LOOKUPS: usize = 48;
/// Maximum number of events of a named thing that are read.
pub(super) const MAX_THING_EVENTS: usize = 2_000;

/// An event that was retrieved for a question.
#[derive(Debug, Clone)]
pub(super) struct RetrievedEvent {
    pub reading: Arc<ParsedEvent>,
    /// Fused score of the search as a share of the best one. 0 if the event was not found by the search.
    pub score: f32,
    /// Absolute score of the search for the whole question. Comparable between questions.
    pub relevance: f32,
    pub cosine: Option<f32>,
    pub coverage: Coverage,
    /// Fit to the time relation of the question, from 0 to 1. 0 if nothing places the event.
    pub placed: f32,
}

impl RetrievedEvent {
    /// Scores an event for a question. The score of a derived event is multiplied by its probability.
    pub fn new(reading: Arc<ParsedEvent>, score: f32, cosine: Option<f32>, content: &Content) -> Self {
        let coverage = content.coverage(&reading);
        let likely = reading.probability();
        Self {
            reading,
            score: score * likely,
            relevance: 0.0,
            cosine: cosine.map(|cosine| cosine * likely),
            coverage,
            placed: 0.0,
        }
    }

    pub fn id(&self) -> EventId {
        self.reading.event.id
    }

    pub fn span(&self) -> TimeSpan {
        self.reading.event.span
    }

    /// Returns whether the event was said, and not perceived.
    pub fn is_told(&self) -> bool {
        self.reading.event.kind == Kind::Text
    }

    /// Fit to the question by words and meaning, from 0 to about 1.3.
    pub fn fitness(&self) -> f32 {
        let cosine = self.cosine.unwrap_or(0.0).max(0.0);
        self.coverage.of_content + 0.25 * cosine + 0.1 * self.coverage.of_event
    }
}

/// Access to the events for one question.
pub(super) struct EventPool<'a> {
    pub reader: &'a dyn Reader,
    pub question: &'a Question<'a>,
    pub embedding: Option<Vec<f32>>,
    /// Corrected statements. They are no longer retrieved.
    pub taken_back: Vec<CorrectedStatement>,
    /// Captions in which persons of the question are described and not named. They are read with the names.
    pub identified: IdentifiedCaptions,
    readings: RefCell<HashMap<EventId, Arc<ParsedEvent>>>,
    /// Number of texts whose pronouns were resolved.
    antecedent_lookups: Cell<usize>,
}

impl<'a> EventPool<'a> {
    pub fn new(
        reader: &'a dyn Reader,
        question: &'a Question<'a>,
        embedding: Option<Vec<f32>>,
        identified: IdentifiedCaptions,
    ) -> Self {
        Self {
            reader,
            question,
            embedding,
            taken_back: Vec::new(),
            identified,
            readings: RefCell::default(),
            antecedent_lookups: Cell::new(0),
        }
    }

    /// Returns events by words and meaning within a span, best first.
    pub fn search(
        &self,
        text: &str,
        embedding: Option<&Vec<f32>>,
        content: &Content,
        span: Option<TimeSpan>,
        sense: Option<Modality>,
    ) -> Result<Vec<RetrievedEvent>, ReadError> {
        let query = SearchQuery {
            text: text.into(),
            // With an embedding, the search finds synonyms by meaning.
            alternatives: if embedding.is_some() { Vec::new() } else { self.synonyms_of_unknown_words(content) },
            embedding: embedding.cloned(),
            span,
            modality: sense,
            near: self.question.boosted_spans(),
            limit: self.question.query.top_k.clamp(MAX_SEARCH_HITS, MAX_EVIDENCE),
            ..SearchQuery::default()
        };
        let hits = nearest::search(self.reader, query);
        self.read_hits(&hits, content)
    }

    /// Parses an event. Each event is parsed once per question.
    pub fn reading(&self, mut event: Event) -> Arc<ParsedEvent> {
        let id = event.id;
        if let Some(known) = self.readings.borrow().get(&id) {
            return Arc::clone(known);
        }
        if let Some(caption) = self.identified.get(id) {
            event.text.clone_from(&caption.named);
        }
        let reading = ParsedEvent::parse(event, self.reader.zone());
        let spoken_of = if reading.lacks_antecedent() { self.preceding_person(&reading.event) } else { None };
        let reading = match spoken_of {
            Some(person) => reading.with_antecedent(person),
            None => reading,
        };
        let topic = if reading.lacks_topic() { self.preceding_topic(&reading.event) } else { None };
        let reading = Arc::new(match topic {
            Some(thing) => reading.with_topic(thing),
            None => reading,
        });
        self.readings.borrow_mut().insert(id, Arc::clone(&reading));
        reading
    }

    /// Returns the person whom the speaker mentioned or met shortly before: "Ivo lands on Monday. … He sleeps on the
    /// sofa."
    fn preceding_person(&self, said: &Event) -> Option<NounPhrase> {
        self.preceding_readings(said, ANTECEDENT_WINDOW, Vec::new(), MAX_ANTECEDENT_EVENTS).find_map(|before| {
            let event = &before.event;
            let own = event.entity == said.entity;
            let asked = event.kind == Kind::Text && said.span.start.since(event.span.end) <= REPLY_WINDOW;
            (own || asked).then(|| before.only_other_person()).flatten()
        })
    }

    /// Returns the thing that was mentioned directly before: "Did I leave my scarf with you?" – "I'll post it on
    /// Monday."
    fn preceding_topic(&self, said: &Event) -> Option<NounPhrase> {
        let kinds = vec![Kind::Text, Kind::Caption, Kind::Action];
        self.preceding_readings(said, REPLY_WINDOW, kinds, MAX_TOPIC_EVENTS).find_map(|before| before.main_thing())
    }

    /// Returns the parsed events directly before a statement, latest first. Returns nothing once the lookup limit of
    /// the question is reached. Unreadable events are skipped: the caller that needs them reports the error.
    fn preceding_readings<'e>(
        &'e self,
        said: &'e Event,
        within: Duration,
        kinds: Vec<Kind>,
        limit: usize,
    ) -> impl Iterator<Item = Arc<ParsedEvent>> + use<'e, 'a> {
        let looked_up = self.antecedent_lookups.get();
        self.antecedent_lookups.set(looked_up + 1);
        let span = TimeSpan { start: said.span.start.saturating_sub(within), end: said.span.start };
        let query = SearchQuery { span: Some(span), kinds, latest: true, limit, ..SearchQuery::default() };
        let hits = if looked_up < MAX_ANTECEDENT_LOOKUPS { self.reader.search().search(&query) } else { Vec::new() };
        let events = hits.into_iter().filter(|hit| hit.id != said.id);
        let events = events.filter_map(|hit| self.reader.event(hit.id).ok().flatten());
        let before = events.filter(|event| (event.span.start, event.id) < (said.span.start, said.id));
        before.map(|event| {
            let known = self.readings.borrow().get(&event.id).cloned();
            known.unwrap_or_else(|| Arc::new(ParsedEvent::parse(event, self.reader.zone())))
        })
    }

    fn is_taken_back(&self, id: EventId) -> bool {
        self.taken_back.iter().any(|pair| pair.earlier.id() == id)
    }

    fn read_hits(&self, hits: &[Hit], content: &Content) -> Result<Vec<RetrievedEvent>, ReadError> {
        let mut found = Vec::with_capacity(hits.len());
        let top = hits.iter().map(|hit| hit.score).fold(0.0_f32, f32::max).max(f32::MIN_POSITIVE);
        for (rank, hit) in hits.iter().enumerate().filter(|(_, hit)| !self.is_taken_back(hit.id)) {
            // Skip what was forgotten since the snapshot.
            let Some(event) = self.reader.event(hit.id)? else { continue };
            let reading =
                if rank < MAX_PARSED_HITS { self.reading(event) } else { Arc::new(ParsedEvent::unparsed(event)) };
            let one = RetrievedEvent::new(reading, hit.score / top, hit.cosine, content);
            found.push(RetrievedEvent { relevance: one.score * top, ..one });
        }
        Ok(found)
    }

    /// Returns events by their ids, in the given order.
    pub fn read(&self, ids: &[EventId], content: &Content) -> Result<Vec<RetrievedEvent>, ReadError> {
        let mut found = Vec::with_capacity(ids.len());
        for id in ids.iter().filter(|id| !self.is_taken_back(**id)) {
            let Some(event) = self.reader.event(*id)? else { continue };
            let reading = self.reading(event);
            found.push(RetrievedEvent::new(reading, 0.0, None, content));
        }
        Ok(found)
    }

    /// Returns events within a span in time order.
    pub fn events_in_time_order(
        &self,
        span: Option<TimeSpan>,
        sense: Option<Modality>,
        kinds: Vec<Kind>,
        latest: bool,
        limit: usize,
        content: &Content,
    ) -> Result<Vec<RetrievedEvent>, ReadError> {
        let query = SearchQuery { span, modality: sense, kinds, latest, limit, ..SearchQuery::default() };
        let ids: Vec<EventId> = self.reader.search().search(&query).into_iter().map(|hit| hit.id).collect();
        self.read(&ids, content)
    }

    /// Returns the longest known entity name that starts with the words of a noun phrase.
    pub fn entity(&self, noun: &NounPhrase) -> Option<String> {
        if noun.is_pronoun() || noun.range.is_empty() {
            return None;
        }
        let rest = self.question.text.get(noun.range.start..)?;
        let longest = noun.range.len();
        self.entity_name_at(rest, longest)
    }

    /// Returns the longest entity name at the start of a text (articles skipped) with at least `least` bytes.
    pub fn entity_name_at(&self, text: &str, least: usize) -> Option<String> {
        let mut words = word_ranges(text);
        while let Some((from, to)) = words.first().copied()
            && matches!(text[from..to].to_lowercase().as_str(), "the" | "a" | "an" | "my" | "our" | "your")
        {
            words.remove(0);
        }
        let (first, _) = words.first().copied()?;
        let all = words.iter().take(MAX_NAME_WORDS).map(|(_, to)| *to).collect::<Vec<_>>();
        let is_name = |end: &&usize| {
            self.is_entity(text[first..**end].trim_end_matches(|c: char| !c.is_alphanumeric() && c != ')'))
        };
        let end = all.iter().rev().filter(|end| **end + 1 >= least).find(is_name)?;
        Some(text[first..*end].trim_end_matches(|c: char| !c.is_alphanumeric() && c != ')').to_owned())
    }

    /// Returns whether the memory holds an entity of that name.
    pub fn is_entity(&self, name: &str) -> bool {
        !name.is_empty()
            && !self
                .reader
                .search()
                .holding(&Holding { entity: Some(name.to_owned()), limit: 1, ..Holding::default() })
                .is_empty()
    }

    /// Returns whether the memory holds words of somebody of that name.
    pub fn is_speaker(&self, name: &str) -> bool {
        let speech = Holding { entity: Some(name.to_owned()), kinds: vec![Kind::Text], limit: 1, ..Holding::default() };
        !self.reader.search().holding(&speech).is_empty()
    }

    /// Returns what somebody of that name said. Others may have said more since than is looked through otherwise.
    pub fn texts_of_speaker(
        &self,
        name: String,
        span: Option<TimeSpan>,
        latest: bool,
        limit: usize,
        content: &Content,
    ) -> Result<Vec<RetrievedEvent>, ReadError> {
        let kinds = vec![Kind::Text];
        let holding = Holding { entity: Some(name), span, kinds, latest, limit, ..Holding::default() };
        self.read(&self.reader.search().holding(&holding), content)
    }

    /// Returns all events of the entity that a noun phrase names. Without such an entity, returns all events that
    /// contain the words of the phrase.
    pub fn events_about(
        &self,
        noun: &NounPhrase,
        span: Option<TimeSpan>,
        latest: bool,
        limit: usize,
        content: &Content,
    ) -> Result<Vec<RetrievedEvent>, ReadError> {
        if let Some(entity) = self.entity(noun) {
            let ids = self.reader.search().holding(&Holding {
                entity: Some(entity),
                span,
                latest,
                limit,
                ..Holding::default()
            });
            let found = self.with_identified(self.read(&ids, content)?, noun, span, latest, content)?;
            if !found.is_empty() {
                return Ok(found);
            }
        }
        self.events_mentioning(noun, span, latest, limit, content)
    }

    /// Returns all events that contain all words of a noun phrase, or synonyms of them.
    pub fn events_mentioning(
        &self,
        noun: &NounPhrase,
        span: Option<TimeSpan>,
        latest: bool,
        limit: usize,
        content: &Content,
    ) -> Result<Vec<RetrievedEvent>, ReadError> {
        let found = self.read(&self.ids_mentioning(noun, span, latest, limit), content)?;
        self.with_identified(found, noun, span, latest, content)
    }

    /// Adds the captions that describe a person without the name, in the order of time.
    fn with_identified(
        &self,
        found: Vec<RetrievedEvent>,
        noun: &NounPhrase,
        span: Option<TimeSpan>,
        latest: bool,
        content: &Content,
    ) -> Result<Vec<RetrievedEvent>, ReadError> {
        let shown = self.identified.of(noun, span);
        if shown.is_empty() {
            return Ok(found);
        }
        let mut all = merge(found, self.read(&shown, content)?);
        match latest {
            true => all.sort_by_key(|one| std::cmp::Reverse((one.span().end, one.id()))),
            false => all.sort_by_key(|one| (one.span().start, one.id())),
        }
        Ok(all)
    }

    /// Returns the ids of all events that contain all words of a noun phrase, or synonyms of them.
    pub fn ids_mentioning(
        &self,
        noun: &NounPhrase,
        span: Option<TimeSpan>,
        latest: bool,
        limit: usize,
    ) -> Vec<EventId> {
        let search = self.reader.search();
        let mut groups: Vec<Vec<String>> = Vec::new();
        for word in noun.modifiers.iter().chain(std::iter::once(&noun.head)) {
            groups.push(self.known_synonyms(word));
        }
        let of = noun.of.iter().flat_map(|of| of.lemmas()).map(|word| self.known_synonyms(word));
        groups.extend(of);
        let mut ids = search.holding(&Holding { groups: groups.clone(), span, latest, limit, ..Holding::default() });
        // People omit modifiers: search for the head alone.
        if ids.is_empty() && groups.len() > 1 {
            ids = search.holding(&Holding {
                groups: vec![self.known_synonyms(&noun.head)],
                span,
                latest,
                limit,
                ..Holding::default()
            });
        }
        ids
    }

    /// Returns a word and its synonyms that the index holds.
    pub fn known_synonyms(&self, word: &str) -> Vec<String> {
        let mut words = vec![word.to_owned()];
        for part in [PartOfSpeech::Noun, PartOfSpeech::Verb] {
            for synonym in lexicon::synonyms(word, part) {
                if !synonym.contains([' ', '_']) && !words.iter().any(|known| known == synonym) {
                    words.push(synonym.to_owned());
                }
            }
        }
        words.truncate(8);
        words
    }

    /// Returns the known synonyms of words of the question that the index does not hold.
    fn synonyms_of_unknown_words(&self, content: &Content) -> Vec<Vec<String>> {
        let search = self.reader.search();
        let held = |word: &str| search.terms(word).first().is_some_and(|term| term.documents > 0);
        let mut groups = Vec::new();
        for item in content.items.iter().filter(|item| item.documents == 0) {
            let group: Vec<String> =
                self.known_synonyms(&item.lemma).into_iter().skip(1).filter(|word| held(word)).collect();
            if !group.is_empty() {
                groups.push(group);
            }
        }
        groups
    }
}

/// Returns the start and end of each word of a text.
fn word_ranges(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut open = None;
    for (at, character) in text.char_indices() {
        match (character.is_whitespace(), open) {
            (false, None) => open = Some(at),
            (true, Some(start)) => {
                found.push((start, at));
                open = None;
            }
            _ => {}
        }
        if found.len() > 16 {
            return found;
        }
    }
    found.extend(open.map(|start| (start, text.len())));
    found
}

/// Merges two lists. The first list comes first. Each event occurs once.
pub(super) fn merge(first: Vec<RetrievedEvent>, second: Vec<RetrievedEvent>) -> Vec<RetrievedEvent> {
    let mut known: HashMap<EventId, usize> = HashMap::new();
    let mut all: Vec<RetrievedEvent> = Vec::with_capacity(first.len() + second.len());
    for one in first.into_iter().chain(second) {
        match known.get(&one.id()) {
            Some(place) => {
                let old = &mut all[*place];
                old.score = old.score.max(one.score);
                old.relevance = old.relevance.max(one.relevance);
                old.cosine = old.cosine.or(one.cosine);
                old.placed = old.placed.max(one.placed);
            }
            None => {
                known.insert(one.id(), all.len());
                all.push(one);
            }
        }
    }
    all
}

impl EventPool<'_> {
    /// Returns the cosine of an event's stored vector to a vector of φ.
    pub fn cosine(&self, vector: &[f32], id: EventId) -> Option<f32> {
        nearest::cosine(vector, &self.reader.vector(id)?)
    }
}
