//! Who a described person probably is: whoever speaks of the deeds that they are seen to do.
//!
//! "A young man in a grey apron takes a wrench out of his bag", and five minutes later Ivo says "I've got the wrench". Every
//! caption that describes the person in these words votes for the persons who tell of what it shows: by the words and the
//! meaning that both share, and by how near in time they are. Seen again, the description alone names the person.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use super::description::{PersonDescription, descriptions};
use super::tellers::{ShownWord, ShownWords, Votes, is_denied, key_of, speaks, tellers};
use crate::index::{self, SearchQuery};
use crate::language::english::gender::{Gender, gender, pronoun_gender};
use crate::language::english::lexicon::{self, PartOfSpeech};
use crate::language::english::syntax::{NounKind, NounPhrase};
use crate::language::english::tag::Tag;
use crate::language::english::token::tokenise;
use crate::recall::Reader;
use crate::recall::nearest;
use crate::recall::question::intersection;
use crate::recall::reading::{ParsedEvent, arguments, is_person, name_phrase};
use crate::{EventId, Kind, ReadError, TimeSpan};

/// Times within which somebody speaks of what they do, did or will do, with the share of a vote: just now, in the same
/// hour, in the same part of the day, within a day. Nothing counts beyond.
const SHARES: &[(Duration, f32)] = &[
    (JUST_NOW, 1.0),
    (Duration::from_secs(3_600), 0.85),
    (Duration::from_secs(3 * 3_600), 0.6),
    (Duration::from_secs(24 * 3_600), 0.35),
];
/// Time within which who speaks is near.
const JUST_NOW: Duration = Duration::from_secs(15 * 60);
/// Vote for who speaks within [`JUST_NOW`] of a caption, whatever they say.
const PRESENCE_VOTE: f32 = 0.2;
/// The same if nobody else does.
const LONE_PRESENCE_VOTE: f32 = 0.45;
/// Vote for the one person who is recognised while a caption shows one.
const RECOGNISED_VOTE: f32 = 1.0;
/// Time around a caption within which a person is recognised in it.
const RECOGNITION_MARGIN: Duration = Duration::from_secs(10);
/// The cosine in φ's space from which a text means what a caption shows, and from which it means exactly that.
const MEANING: std::ops::Range<f32> = 0.2..0.6;
/// Vote for who says exactly what a caption shows, in whatever words.
const MEANING_VOTE: f32 = 0.6;
/// Vote for who says of themselves all that a description says.
const LOOK_VOTE: f32 = 1.2;
/// The fewest words of a description that somebody says of themselves: many things are red.
const MIN_LOOK_WORDS: usize = 2;
/// Weight of a synonym as a share of the word's.
const SYNONYM_SHARE: f32 = 0.9;
/// The most votes of one caption for a person.
const MAX_VOTE: f32 = 1.5;
/// The fewest votes for the person who is meant.
pub(super) const MIN_VOTES: f32 = 0.6;
/// A word is as rare as in a memory of at least so many events: a small one holds few by chance.
const MIN_DOCUMENTS: usize = 1_000;
/// Maximum number of captions with the same description that vote.
const MAX_CAPTIONS: usize = 6;
/// Maximum number of captions that vote, per question.
const MAX_VOTING_CAPTIONS: usize = 32;
/// Time within which somebody is described in the same words.
const SAME_CLOTHES: Duration = Duration::from_secs(7 * 24 * 3_600);
/// Maximum number of texts before a caption, and after it, that are compared with it.
const MAX_TEXTS: usize = 16;
/// Maximum number of texts that are searched for the gender of a person.
const MAX_GENDER_TEXTS: usize = 12;

/// Finds out who described persons are, within one view of the memory.
pub(super) struct PersonVotes<'a> {
    reader: &'a dyn Reader,
    readings: RefCell<HashMap<EventId, Arc<ParsedEvent>>>,
    genders: RefCell<HashMap<String, Option<Gender>>>,
    /// Bounds of the request. Nothing outside of them says who somebody is.
    within: Option<TimeSpan>,
    captions_left: Cell<usize>,
}

impl<'a> PersonVotes<'a> {
    pub fn new(reader: &'a dyn Reader, within: Option<TimeSpan>) -> Self {
        Self {
            reader,
            within,
            readings: RefCell::default(),
            genders: RefCell::default(),
            captions_left: Cell::new(MAX_VOTING_CAPTIONS),
        }
    }

    /// Returns the names of the persons whom a caption may describe, with the votes for each, the most first. `others` are
    /// other captions with the same description.
    ///
    /// # Errors
    /// If the store could not be read.
    pub fn persons(
        &self,
        caption: &ParsedEvent,
        described: &PersonDescription,
        others: &[Arc<ParsedEvent>],
    ) -> Result<Vec<(String, f32)>, ReadError> {
        let mut votes = self.votes_of(caption, described)?;
        for other in others {
            add_votes(&mut votes, self.votes_of(other, described)?);
        }
        if votes.values().all(|(_, vote)| *vote < MIN_VOTES) {
            add_votes(&mut votes, self.votes_by_look(described)?);
        }
        let mut ranked: Vec<(String, f32)> = Vec::new();
        for (key, (name, vote)) in votes {
            let (seen, known) = (gender(&described.head), self.gender(&key, &name)?);
            let fits = seen.is_none() || known.is_none() || seen == known;
            ranked.extend(fits.then_some((name, vote)));
        }
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        Ok(ranked)
    }

    /// Returns other captions that describe a person in the same words.
    ///
    /// # Errors
    /// If the store could not be read.
    pub fn captions_of(
        &self,
        described: &PersonDescription,
        caption: &ParsedEvent,
    ) -> Result<Vec<Arc<ParsedEvent>>, ReadError> {
        if described.is_anybody() {
            return Ok(Vec::new());
        }
        // People change their clothes.
        let span = Some(widened(caption.event.span, SAME_CLOTHES));
        let text = described.text.clone();
        let mut others =
            self.find(Kind::Caption, SearchQuery { text, span, limit: MAX_CAPTIONS, ..SearchQuery::default() })?;
        others.retain(|other| {
            other.event.id != caption.event.id
                && other.event.entity.is_none()
                && descriptions(other).iter().any(|own| own.is_of_same_person(described))
        });
        Ok(others)
    }

    /// Returns the events of a kind that a query finds within the bounds of the request, parsed.
    fn find(&self, kind: Kind, query: SearchQuery) -> Result<Vec<Arc<ParsedEvent>>, ReadError> {
        let span = match (query.span, self.within) {
            (Some(span), Some(within)) => match intersection(span, within) {
                Some(both) => Some(both),
                None => return Ok(Vec::new()),
            },
            (span, within) => span.or(within),
        };
        let query = SearchQuery { span, kinds: vec![kind], ..query };
        self.read(self.reader.search().search(&query).into_iter().map(|hit| hit.id))
    }

    fn read(&self, ids: impl Iterator<Item = EventId>) -> Result<Vec<Arc<ParsedEvent>>, ReadError> {
        let mut found = Vec::new();
        for id in ids {
            let known = self.readings.borrow().get(&id).cloned();
            if let Some(known) = known {
                found.push(known);
            } else if let Some(event) = self.reader.event(id)? {
                let reading = Arc::new(ParsedEvent::parse(event, self.reader.zone()));
                self.readings.borrow_mut().insert(id, Arc::clone(&reading));
                found.push(reading);
            }
        }
        Ok(found)
    }

    /// Returns for whom one caption votes.
    fn votes_of(&self, caption: &ParsedEvent, described: &PersonDescription) -> Result<Votes, ReadError> {
        if self.captions_left.get() == 0 {
            return Ok(Votes::new());
        }
        self.captions_left.set(self.captions_left.get() - 1);
        let shown = self.words_beside_persons(caption);
        let mut votes = Votes::new();
        let vector = self.vector(caption);
        // "The lady's radio hums": who speaks of a lady is somebody else.
        let is_other = |noun: &NounPhrase| noun.kind == NounKind::Common && noun.head == described.head;
        let speaks_of = |text: &ParsedEvent| {
            let nouns = || text.clauses().flat_map(arguments);
            nouns().any(is_other) || nouns().filter_map(|noun| noun.owner.as_deref()).any(is_other)
        };
        let texts = self.texts_around(caption)?;
        for text in texts.iter().filter(|text| !speaks_of(text)) {
            let between = distance(caption.event.span, text.event.span);
            let Some((_, share)) = SHARES.iter().find(|(reach, _)| between <= *reach) else { continue };
            let cosine = vector.as_ref().zip(self.reader.vector(text.event.id));
            let cosine = cosine.and_then(|(shown, told)| nearest::cosine(shown, &told)).unwrap_or_default();
            let meaning = ((cosine - MEANING.start) / (MEANING.end - MEANING.start)).clamp(0.0, 1.0) * MEANING_VOTE;
            for (key, (name, told)) in tellers(text, &shown, meaning) {
                let entry = votes.entry(key).or_insert((name, 0.0));
                entry.1 = entry.1.max(told * share);
            }
        }
        if let Some(name) = self.recognised(caption)? {
            votes.entry(key_of(&name)).or_insert((name, 0.0)).1 += RECOGNISED_VOTE;
        }
        let near = texts.iter().filter(|text| distance(caption.event.span, text.event.span) <= JUST_NOW);
        let speakers = persons_of(near);
        let vote = if speakers.len() == 1 { LONE_PRESENCE_VOTE } else { PRESENCE_VOTE };
        for name in speakers {
            votes.entry(key_of(name)).or_insert((name.clone(), 0.0)).1 += vote;
        }
        votes.values_mut().for_each(|(_, vote)| *vote = vote.min(MAX_VOTE));
        Ok(votes)
    }

    /// Returns for whom a description votes by what they say of their own look: "I've dyed my hair purple".
    fn votes_by_look(&self, described: &PersonDescription) -> Result<Votes, ReadError> {
        let looks: BTreeSet<String> = described.words.iter().flat_map(|word| index::words(word)).collect();
        let stems: BTreeSet<String> = looks.iter().map(|word| index::stem(word)).collect();
        let mut votes = Votes::new();
        if stems.len() < MIN_LOOK_WORDS {
            return Ok(votes);
        }
        let text = looks.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
        for text in self.find(Kind::Text, SearchQuery { text, limit: MAX_TEXTS, ..SearchQuery::default() })? {
            let Some(speaker) = text.event.entity.clone() else { continue };
            let own = text.clauses().filter(|clause| clause.subject.as_ref().is_some_and(speaks) && !is_denied(clause));
            let told = own.map(|clause| {
                let told: BTreeSet<String> =
                    index::words(text.text(&clause.range)).map(|word| index::stem(&word)).collect();
                told.intersection(&stems).count()
            });
            let most = told.max().unwrap_or_default();
            if most >= MIN_LOOK_WORDS {
                #[expect(clippy::cast_precision_loss, reason = "a number of words")]
                let share = most as f32 / stems.len() as f32;
                let vote = votes.entry(key_of(&speaker)).or_insert((speaker, 0.0));
                vote.1 = vote.1.max(LOOK_VOTE * share);
            }
        }
        Ok(votes)
    }

    fn vector(&self, caption: &ParsedEvent) -> Option<Vec<f32>> {
        let stored = self.reader.vector(caption.event.id)?;
        Some(stored.into_iter().map(f32::from).collect())
    }

    /// Returns the words of a caption that do not describe persons, each with its weight: rare ones tell most.
    fn words_beside_persons(&self, caption: &ParsedEvent) -> ShownWords {
        let persons = descriptions(caption);
        let describes = |lemma: &str| persons.iter().any(|one| one.head == lemma || one.words.contains(lemma));
        let search = self.reader.search();
        #[expect(clippy::cast_precision_loss, reason = "a number of documents")]
        let all = (search.len().max(MIN_DOCUMENTS) as f32).ln();
        let own = caption.lemmas.iter().take(caption.own_words).filter(|(lemma, _)| !describes(lemma));
        let weights = own.filter_map(|(lemma, tag)| {
            let by_class = match tag {
                Tag::Noun => 1.0,
                Tag::Verb => 0.5,
                Tag::Adjective => 0.4,
                _ => return None,
            };
            let documents = search.terms(lemma).first().map_or(1, |term| term.documents.max(1));
            #[expect(clippy::cast_precision_loss, reason = "a number of documents")]
            let rare = 1.0 - (documents as f32).ln() / all;
            (rare > 0.0).then_some((lemma, *tag, by_class * rare))
        });
        let mut shown = ShownWords::new();
        for (lemma, tag, weight) in weights {
            let part = if tag == Tag::Verb { PartOfSpeech::Verb } else { PartOfSpeech::Noun };
            for synonym in lexicon::synonyms(lemma, part) {
                let word = ShownWord { of: lemma.clone(), weight: weight * SYNONYM_SHARE };
                shown.entry(synonym.to_owned()).or_insert(word);
            }
            shown.insert(lemma.clone(), ShownWord { of: lemma.clone(), weight });
        }
        shown
    }

    /// Returns the texts within a day of a caption that are nearest before and after it.
    fn texts_around(&self, caption: &ParsedEvent) -> Result<Vec<Arc<ParsedEvent>>, ReadError> {
        let TimeSpan { start, end } = caption.event.span;
        let Some((reach, _)) = SHARES.last() else { return Ok(Vec::new()) };
        let before = TimeSpan { start: start.saturating_sub(*reach), end: start };
        let after = TimeSpan { start: end, end: end.saturating_add(*reach) };
        let list = |span: TimeSpan, latest: bool| {
            let span = Some(span);
            self.find(Kind::Text, SearchQuery { span, latest, limit: MAX_TEXTS, ..SearchQuery::default() })
        };
        let mut texts = list(before, true)?;
        for after in list(after, false)? {
            if texts.iter().all(|known| known.event.id != after.event.id) {
                texts.push(after);
            }
        }
        Ok(texts)
    }

    /// Returns the name of the one person who is recognised while a caption shows one.
    fn recognised(&self, caption: &ParsedEvent) -> Result<Option<String>, ReadError> {
        if descriptions(caption).len() != 1 {
            return Ok(None);
        }
        let span = Some(widened(caption.event.span, RECOGNITION_MARGIN));
        let seen = self.find(Kind::Entity, SearchQuery { span, limit: MAX_TEXTS, ..SearchQuery::default() })?;
        let names = persons_of(seen.iter());
        Ok(names.first().filter(|_| names.len() == 1).map(|name| (*name).clone()))
    }

    /// Returns the gender of a person, by the title of their name and the pronouns that others use for them.
    fn gender(&self, key: &str, name: &str) -> Result<Option<Gender>, ReadError> {
        if let Some(known) = self.genders.borrow().get(key) {
            return Ok(*known);
        }
        let titled = name.split_whitespace().find_map(gender);
        let known = match titled {
            Some(titled) => Some(titled),
            None => self.gender_told(key)?,
        };
        self.genders.borrow_mut().insert(key.to_owned(), known);
        Ok(known)
    }

    fn gender_told(&self, key: &str) -> Result<Option<Gender>, ReadError> {
        let query = SearchQuery { text: key.into(), limit: MAX_GENDER_TEXTS, ..SearchQuery::default() };
        let (mut female, mut male) = (0, 0);
        for text in self.find(Kind::Text, query)? {
            match gender_in(key, &text) {
                Some(Gender::Female) => female += 1,
                Some(Gender::Male) => male += 1,
                None => {}
            }
        }
        Ok(match (female, male) {
            (0, 0) => None,
            _ if female > 2 * male => Some(Gender::Female),
            _ if male > 2 * female => Some(Gender::Male),
            _ => None,
        })
    }
}

/// Returns the gender of a person by the title or the only kind of pronoun behind their name in a text that speaks of
/// nobody else: "Ivo's asleep, he worked all night".
fn gender_in(key: &str, text: &ParsedEvent) -> Option<Gender> {
    let nouns = || text.clauses().flat_map(arguments);
    let named = nouns().find(|noun| noun.kind == NounKind::Name && noun.head == key)?;
    if let Some(titled) = named.modifiers.iter().find_map(|title| gender(title)) {
        return Some(titled);
    }
    let other = |noun: &NounPhrase| !noun.is_pronoun() && is_person(noun) && noun.head != key;
    if nouns().any(other) {
        return None;
    }
    let behind = text.event.text.get(named.range.end..)?;
    let mut pronouns = tokenise(behind).into_iter().filter_map(|token| pronoun_gender(&token.text));
    let first = pronouns.next()?;
    pronouns.all(|other| other == first).then_some(first)
}

fn add_votes(votes: &mut Votes, others: Votes) {
    for (key, (name, vote)) in others {
        votes.entry(key).or_insert((name, 0.0)).1 += vote;
    }
}

/// Returns the names of the persons who speak or are recognised in some events.
fn persons_of<'e>(events: impl Iterator<Item = &'e Arc<ParsedEvent>>) -> BTreeSet<&'e String> {
    events.filter_map(|found| found.event.entity.as_ref()).filter(|name| is_person(&name_phrase(name))).collect()
}

fn distance(a: TimeSpan, b: TimeSpan) -> Duration {
    if a.end < b.start { b.start.since(a.end) } else { a.start.since(b.end) }
}

fn widened(span: TimeSpan, margin: Duration) -> TimeSpan {
    TimeSpan { start: span.start.saturating_sub(margin), end: span.end.saturating_add(margin) }
}
