//! The events that a question may be about: found by words and meaning, by the things it names, and by time.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::Reader;
use super::content::{Content, Coverage};
use super::corrections::TakenBack;
use super::nearest;
use super::question::Question;
use super::reading::Reading;
use crate::index::{Hit, Holding, SearchQuery};
use crate::language::english::lexicon::{self, PartOfSpeech};
use crate::language::english::syntax::NounPhrase;
use crate::limits::MAX_EVIDENCE;
use crate::{Event, EventId, Kind, Modality, ReadError, TimeSpan};

/// Candidates of the search by words and meaning.
const SEARCHED: usize = 64;
/// Longest name that is looked for, in words.
const LONGEST_NAME: usize = 8;
/// Candidates whose grammar is read.
const READ: usize = 40;
/// Whom somebody speaks of is spoken of for so long.
const SPOKEN_OF: Duration = Duration::from_secs(1_800);
/// A reply comes within this.
pub(super) const REPLIED: Duration = Duration::from_secs(300);
/// Events that are looked at for a name, the latest.
const BEFORE: usize = 8;
/// Events that are looked at for what "it" is, the latest.
const TOPICS: usize = 3;
/// Most texts of one question for which it is looked up who or what is meant.
const ANTECEDENTS: usize = 48;
/// Events of a named thing that are gone through at most.
pub(super) const LISTED: usize = 2_000;

/// An event that may be meant.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub reading: Arc<Reading>,
    /// Fused score of the search, as a share of the best one; 0 where it was found otherwise.
    pub score: f32,
    /// The same as the search gave it, for the question as a whole: it can be compared between questions.
    pub relevance: f32,
    pub cosine: Option<f32>,
    pub coverage: Coverage,
    /// How well it lies in time as the question says, 0 to 1; 0 where nothing places it.
    pub placed: f32,
}

impl Found {
    /// An event for a question. What was found by looking again counts as much as it is likely.
    pub fn new(reading: Arc<Reading>, score: f32, cosine: Option<f32>, content: &Content) -> Self {
        let coverage = content.coverage(&reading);
        let likely = reading.likely();
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

    /// How well it suits the question by its words and its meaning, 0 to about 1.3.
    pub fn fitness(&self) -> f32 {
        let cosine = self.cosine.unwrap_or(0.0).max(0.0);
        self.coverage.of_content + 0.25 * cosine + 0.1 * self.coverage.of_event
    }
}

/// What a question is answered from.
pub(super) struct Pool<'a> {
    pub reader: &'a dyn Reader,
    pub question: &'a Question<'a>,
    pub embedding: Option<Vec<f32>>,
    /// What a later statement corrects; it is read no more.
    pub taken_back: Vec<TakenBack>,
    readings: RefCell<HashMap<EventId, Arc<Reading>>>,
    /// Texts for which it was looked up who "he" or what "it" is.
    antecedents: Cell<usize>,
}

impl<'a> Pool<'a> {
    pub fn new(reader: &'a dyn Reader, question: &'a Question<'a>, embedding: Option<Vec<f32>>) -> Self {
        Self {
            reader,
            question,
            embedding,
            taken_back: Vec::new(),
            readings: RefCell::default(),
            antecedents: Cell::new(0),
        }
    }

    /// Events by words and meaning inside a span, best first.
    pub fn search(
        &self,
        text: &str,
        embedding: Option<&Vec<f32>>,
        content: &Content,
        span: Option<TimeSpan>,
        sense: Option<Modality>,
    ) -> Result<Vec<Found>, ReadError> {
        let query = SearchQuery {
            text: text.into(),
            // Where meaning is compared, words that mean the same are found by it.
            alternatives: if embedding.is_some() { Vec::new() } else { self.alternatives(content) },
            embedding: embedding.cloned(),
            span,
            modality: sense,
            near: self.question.near(),
            limit: self.question.query.top_k.clamp(SEARCHED, MAX_EVIDENCE),
            ..SearchQuery::default()
        };
        let hits = nearest::search(self.reader, query);
        self.read_hits(&hits, content)
    }

    /// The grammar of an event, read once for a question.
    pub fn reading(&self, event: Event) -> Arc<Reading> {
        let id = event.id;
        if let Some(known) = self.readings.borrow().get(&id) {
            return Arc::clone(known);
        }
        let reading = Reading::of(event, self.reader.zone());
        let spoken_of = if reading.lacks_antecedent() { self.spoken_of_before(&reading.event) } else { None };
        let reading = match spoken_of {
            Some(person) => reading.with_antecedent(person),
            None => reading,
        };
        let topic = if reading.lacks_topic() { self.topic_before(&reading.event) } else { None };
        let reading = Arc::new(match topic {
            Some(thing) => reading.with_topic(thing),
            None => reading,
        });
        self.readings.borrow_mut().insert(id, Arc::clone(&reading));
        reading
    }

    /// Of whom somebody spoke shortly before, or with whom they did something: "Ivo lands on Monday. … He sleeps on the sofa."
    fn spoken_of_before(&self, said: &Event) -> Option<NounPhrase> {
        self.before(said, SPOKEN_OF, Vec::new(), BEFORE).find_map(|before| {
            let event = &before.event;
            let own = event.entity == said.entity;
            let asked = event.kind == Kind::Text && said.span.start.since(event.span.end) <= REPLIED;
            (own || asked).then(|| before.person_named()).flatten()
        })
    }

    /// What was spoken of right before: "Did I leave my scarf with you?" – "I'll post it on Monday."
    fn topic_before(&self, said: &Event) -> Option<NounPhrase> {
        let kinds = vec![Kind::Text, Kind::Caption, Kind::Action];
        self.before(said, REPLIED, kinds, TOPICS).find_map(|before| before.thing_spoken_of())
    }

    /// The grammar of what came right before something that was said, the latest first; nothing once that was looked up for many
    /// texts. What cannot be read tells nothing; who needs it says so.
    fn before<'e>(
        &'e self,
        said: &'e Event,
        within: Duration,
        kinds: Vec<Kind>,
        limit: usize,
    ) -> impl Iterator<Item = Arc<Reading>> + use<'e, 'a> {
        let looked_up = self.antecedents.get();
        self.antecedents.set(looked_up + 1);
        let span = TimeSpan { start: said.span.start.saturating_sub(within), end: said.span.start };
        let query = SearchQuery { span: Some(span), kinds, latest: true, limit, ..SearchQuery::default() };
        let hits = if looked_up < ANTECEDENTS { self.reader.search().search(&query) } else { Vec::new() };
        let events = hits.into_iter().filter(|hit| hit.id != said.id);
        let events = events.filter_map(|hit| self.reader.event(hit.id).ok().flatten());
        let before = events.filter(|event| (event.span.start, event.id) < (said.span.start, said.id));
        before.map(|event| {
            let known = self.readings.borrow().get(&event.id).cloned();
            known.unwrap_or_else(|| Arc::new(Reading::of(event, self.reader.zone())))
        })
    }

    fn is_taken_back(&self, id: EventId) -> bool {
        self.taken_back.iter().any(|pair| pair.earlier.id() == id)
    }

    fn read_hits(&self, hits: &[Hit], content: &Content) -> Result<Vec<Found>, ReadError> {
        let mut found = Vec::with_capacity(hits.len());
        let top = hits.iter().map(|hit| hit.score).fold(0.0_f32, f32::max).max(f32::MIN_POSITIVE);
        for (rank, hit) in hits.iter().enumerate().filter(|(_, hit)| !self.is_taken_back(hit.id)) {
            // Forgotten since the snapshot: passed over.
            let Some(event) = self.reader.event(hit.id)? else { continue };
            let reading = if rank < READ { self.reading(event) } else { Arc::new(Reading::unread(event)) };
            let one = Found::new(reading, hit.score / top, hit.cosine, content);
            found.push(Found { relevance: one.score * top, ..one });
        }
        Ok(found)
    }

    /// Events by their ids, in that order.
    pub fn read(&self, ids: &[EventId], content: &Content) -> Result<Vec<Found>, ReadError> {
        let mut found = Vec::with_capacity(ids.len());
        for id in ids.iter().filter(|id| !self.is_taken_back(**id)) {
            let Some(event) = self.reader.event(*id)? else { continue };
            let reading = self.reading(event);
            found.push(Found::new(reading, 0.0, None, content));
        }
        Ok(found)
    }

    /// Events in a span in order of time.
    pub fn listing(
        &self,
        span: Option<TimeSpan>,
        sense: Option<Modality>,
        kinds: Vec<Kind>,
        latest: bool,
        limit: usize,
        content: &Content,
    ) -> Result<Vec<Found>, ReadError> {
        let query = SearchQuery { span, modality: sense, kinds, latest, limit, ..SearchQuery::default() };
        let ids: Vec<EventId> = self.reader.search().search(&query).into_iter().map(|hit| hit.id).collect();
        self.read(&ids, content)
    }

    /// The name of the entity that a noun phrase names word for word, if memory holds one: the longest name that begins
    /// with the phrase.
    pub fn entity(&self, noun: &NounPhrase) -> Option<String> {
        if noun.is_pronoun() || noun.range.is_empty() {
            return None;
        }
        let rest = self.question.text.get(noun.range.start..)?;
        let longest = noun.range.len();
        self.name_at(rest, longest)
    }

    /// The longest name of an entity at the begin of a text, articles left out, that is at least as long as a noun
    /// phrase of `least` bytes.
    pub fn name_at(&self, text: &str, least: usize) -> Option<String> {
        let mut words = words_in(text);
        while let Some((from, to)) = words.first().copied()
            && matches!(text[from..to].to_lowercase().as_str(), "the" | "a" | "an" | "my" | "our" | "your")
        {
            words.remove(0);
        }
        let (first, _) = words.first().copied()?;
        let all = words.iter().take(LONGEST_NAME).map(|(_, to)| *to).collect::<Vec<_>>();
        let is_name = |end: &&usize| {
            self.is_entity(text[first..**end].trim_end_matches(|c: char| !c.is_alphanumeric() && c != ')'))
        };
        let end = all.iter().rev().filter(|end| **end + 1 >= least).find(is_name)?;
        Some(text[first..*end].trim_end_matches(|c: char| !c.is_alphanumeric() && c != ')').to_owned())
    }

    /// Whether memory holds an entity of that name.
    pub fn is_entity(&self, name: &str) -> bool {
        !name.is_empty()
            && !self
                .reader
                .search()
                .holding(&Holding { entity: Some(name.to_owned()), limit: 1, ..Holding::default() })
                .is_empty()
    }

    /// Every event of the entity that a noun phrase names word for word; where it names none, every event that holds
    /// its words.
    pub fn about(
        &self,
        noun: &NounPhrase,
        span: Option<TimeSpan>,
        latest: bool,
        limit: usize,
        content: &Content,
    ) -> Result<Vec<Found>, ReadError> {
        if let Some(entity) = self.entity(noun) {
            let ids = self.reader.search().holding(&Holding {
                entity: Some(entity),
                span,
                latest,
                limit,
                ..Holding::default()
            });
            let found = self.read(&ids, content)?;
            if !found.is_empty() {
                return Ok(found);
            }
        }
        self.mentions(noun, span, latest, limit, content)
    }

    /// Every event that holds all words of a noun phrase, or words that mean the same.
    pub fn mentions(
        &self,
        noun: &NounPhrase,
        span: Option<TimeSpan>,
        latest: bool,
        limit: usize,
        content: &Content,
    ) -> Result<Vec<Found>, ReadError> {
        self.read(&self.mentioned(noun, span, latest, limit), content)
    }

    /// The ids of what [`Self::mentions`] reads.
    pub fn mentioned(&self, noun: &NounPhrase, span: Option<TimeSpan>, latest: bool, limit: usize) -> Vec<EventId> {
        let search = self.reader.search();
        let mut groups: Vec<Vec<String>> = Vec::new();
        for word in noun.modifiers.iter().chain(std::iter::once(&noun.head)) {
            groups.push(self.words_for(word));
        }
        let of = noun.of.iter().flat_map(|of| of.lemmas()).map(|word| self.words_for(word));
        groups.extend(of);
        let mut ids = search.holding(&Holding { groups: groups.clone(), span, latest, limit, ..Holding::default() });
        // People leave words away: the head alone.
        if ids.is_empty() && groups.len() > 1 {
            ids = search.holding(&Holding {
                groups: vec![self.words_for(&noun.head)],
                span,
                latest,
                limit,
                ..Holding::default()
            });
        }
        ids
    }

    /// A word and those that mean the same and that memory holds.
    fn words_for(&self, word: &str) -> Vec<String> {
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

    /// For words of the question that no memory holds, the words that it holds instead.
    fn alternatives(&self, content: &Content) -> Vec<Vec<String>> {
        let search = self.reader.search();
        let held = |word: &str| search.terms(word).first().is_some_and(|term| term.documents > 0);
        let mut groups = Vec::new();
        for item in content.items.iter().filter(|item| item.documents == 0) {
            let group: Vec<String> =
                self.words_for(&item.lemma).into_iter().skip(1).filter(|word| held(word)).collect();
            if !group.is_empty() {
                groups.push(group);
            }
        }
        groups
    }
}

/// Where the words of a text begin and end.
fn words_in(text: &str) -> Vec<(usize, usize)> {
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

/// Puts the better of two lists first, each event once.
pub(super) fn merged(first: Vec<Found>, second: Vec<Found>) -> Vec<Found> {
    let mut known: HashMap<EventId, usize> = HashMap::new();
    let mut all: Vec<Found> = Vec::with_capacity(first.len() + second.len());
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

impl Pool<'_> {
    /// How near an event's stored vector is to a vector of φ.
    pub fn cosine(&self, vector: &[f32], id: EventId) -> Option<f32> {
        nearest::cosine(vector, &self.reader.vector(id)?)
    }
}
