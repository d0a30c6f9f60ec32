//! Who a described person probably is: whoever speaks of the deeds that they are seen to do.
//!
//! "A young man in a grey apron takes a wrench out of his bag", and five minutes later Ivo says "I've got the wrench". Every
//! caption that describes the person in these words votes for the persons who tell of what it shows: by the words and the
//! meaning that both share, and by how near in time they are. Seen again, the description alone names the person.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use super::description::{PersonDescription, descriptions};
use crate::index::{self, Holding, SearchQuery};
use crate::language::english::gender::{Gender, gender};
use crate::language::english::lexicon::{self, PartOfSpeech};
use crate::language::english::syntax::{Clause, NounKind, NounPhrase};
use crate::language::english::tag::Tag;
use crate::language::english::token::tokenise;
use crate::recall::Reader;
use crate::recall::nearest;
use crate::recall::reading::{ParsedEvent, arguments, is_person, name_phrase};
use crate::{EventId, Kind, ReadError, TimeSpan};

/// Time within which somebody speaks of what they do just now, with the share of a vote.
const NEAR: (Duration, f32) = (Duration::from_secs(15 * 60), 1.0);
/// The same of what they did or will do within an hour.
const SAME_HOUR: (Duration, f32) = (Duration::from_secs(3_600), 0.85);
/// The same of what they did or will do that part of a day.
const SAME_HOURS: (Duration, f32) = (Duration::from_secs(3 * 3_600), 0.6);
/// The same of what they did or will do within a day. Nothing counts beyond.
const SAME_DAY: (Duration, f32) = (Duration::from_secs(24 * 3_600), 0.35);
/// Vote for who speaks, or is recognised, within [`NEAR`] of a caption, whatever they say.
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
/// Share of a word in what a speaker says neither of themselves nor of anybody else.
const OTHER_CLAUSE_SHARE: f32 = 0.4;
/// The same where the speaker also speaks of themselves: "the handrail's missing, I'll do that tomorrow".
const BESIDE_OWN_CLAUSE_SHARE: f32 = 0.6;
/// The same of what has no verb.
const VERBLESS_SHARE: f32 = 0.7;
/// The most votes of one caption for a person.
const MAX_VOTE: f32 = 1.5;
/// A word is as rare as in a memory of at least so many events: a small one holds few by chance.
const MIN_DOCUMENTS: usize = 1_000;
/// Maximum number of captions with the same description that vote, the latest ones.
const MAX_CAPTIONS: usize = 8;
/// Maximum number of texts that are compared with a caption.
const MAX_TEXTS: usize = 16;
/// Maximum number of texts that are searched for the gender of a person.
const MAX_GENDER_TEXTS: usize = 12;

/// Finds out who described persons are, within one view of the memory.
pub(super) struct PersonVotes<'a> {
    reader: &'a dyn Reader,
    readings: RefCell<HashMap<EventId, Arc<ParsedEvent>>>,
    genders: RefCell<HashMap<String, Option<Gender>>>,
}

/// A word of a caption, or a synonym of one.
struct ShownWord {
    of: String,
    weight: f32,
}

/// What a caption shows, by the words that tell of it.
type ShownWords = BTreeMap<String, ShownWord>;

/// Votes for persons by the head of their name in lower case, with the name as it is written.
type Votes = BTreeMap<String, (String, f32)>;

impl<'a> PersonVotes<'a> {
    pub fn new(reader: &'a dyn Reader) -> Self {
        Self { reader, readings: RefCell::default(), genders: RefCell::default() }
    }

    /// Returns the names of the persons whom a caption may describe, with the votes for each, the most first.
    ///
    /// # Errors
    /// If the store could not be read.
    pub fn persons(
        &self,
        caption: &ParsedEvent,
        described: &PersonDescription,
    ) -> Result<Vec<(String, f32)>, ReadError> {
        let mut votes = self.votes_of(caption, described)?;
        let mut add = |others: Votes| {
            for (key, (name, vote)) in others {
                votes.entry(key).or_insert((name, 0.0)).1 += vote;
            }
        };
        for other in self.captions_of(described, caption)? {
            if descriptions(&other).iter().any(|own| own.is_of_same_person(described)) {
                add(self.votes_of(&other, described)?);
            }
        }
        add(self.votes_by_look(described)?);
        let mut ranked: Vec<(String, f32)> = Vec::new();
        for (key, (name, vote)) in votes {
            let (seen, known) = (gender(&described.head), self.gender(&key, &name)?);
            let fits = seen.is_none() || known.is_none() || seen == known;
            ranked.extend(fits.then_some((name, vote)));
        }
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        Ok(ranked)
    }

    /// Returns the other captions that describe a person in the same words.
    fn captions_of(
        &self,
        described: &PersonDescription,
        caption: &ParsedEvent,
    ) -> Result<Vec<Arc<ParsedEvent>>, ReadError> {
        if described.is_anybody() {
            return Ok(Vec::new());
        }
        let words = std::iter::once(&described.head).chain(&described.words);
        let groups = words.flat_map(|word| index::words(word)).map(|word| vec![word]).collect();
        let kinds = vec![Kind::Caption];
        let holding = Holding { groups, kinds, latest: true, limit: MAX_CAPTIONS, ..Holding::default() };
        let ids = self.reader.search().holding(&holding);
        let others = ids.into_iter().filter(|id| *id != caption.event.id);
        Ok(self.read(others)?.into_iter().filter(|other| other.event.entity.is_none()).collect())
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
        let shown = self.words_beside_persons(caption);
        let mut votes = Votes::new();
        let vector = self.vector(caption);
        // "The lady's radio hums": who speaks of a lady is somebody else.
        let is_other = |noun: &NounPhrase| noun.kind == NounKind::Common && noun.head == described.head;
        let speaks_of = |text: &ParsedEvent| {
            let nouns = || text.clauses().flat_map(arguments);
            nouns().any(is_other) || nouns().filter_map(|noun| noun.owner.as_deref()).any(is_other)
        };
        for text in self.texts_around(caption, &shown)?.into_iter().filter(|text| !speaks_of(text)) {
            let between = distance(caption.event.span, text.event.span);
            let Some((_, share)) =
                [NEAR, SAME_HOUR, SAME_HOURS, SAME_DAY].into_iter().find(|(reach, _)| between <= *reach)
            else {
                continue;
            };
            let cosine = vector.as_ref().zip(self.reader.vector(text.event.id));
            let cosine = cosine.and_then(|(shown, told)| nearest::cosine(shown, &told)).unwrap_or_default();
            let meaning = ((cosine - MEANING.start) / (MEANING.end - MEANING.start)).clamp(0.0, 1.0) * MEANING_VOTE;
            for (key, (name, told)) in tellers(&text, &shown, meaning) {
                let entry = votes.entry(key).or_insert((name, 0.0));
                entry.1 = entry.1.max(told * share);
            }
        }
        let single = descriptions(caption).len() == 1;
        let present = self.present(caption, single)?;
        let lone = present.len() == 1;
        for (name, recognised) in present {
            let entry = votes.entry(key_of(&name)).or_insert((name, 0.0));
            entry.1 += match recognised {
                true => RECOGNISED_VOTE,
                false if lone => LONE_PRESENCE_VOTE,
                false => PRESENCE_VOTE,
            };
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
        let query = SearchQuery {
            text: looks.iter().map(String::as_str).collect::<Vec<_>>().join(" "),
            kinds: vec![Kind::Text],
            limit: MAX_TEXTS,
            ..SearchQuery::default()
        };
        for text in self.read(self.reader.search().search(&query).into_iter().map(|hit| hit.id))? {
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

    /// Returns the texts within a day of a caption that share most with it, and those of the same hours.
    fn texts_around(&self, caption: &ParsedEvent, shown: &ShownWords) -> Result<Vec<Arc<ParsedEvent>>, ReadError> {
        let words: Vec<&str> = shown.keys().map(String::as_str).collect();
        let query = |text: String, reach: Duration| SearchQuery {
            text,
            span: Some(widened(caption.event.span, reach)),
            kinds: vec![Kind::Text],
            limit: MAX_TEXTS,
            ..SearchQuery::default()
        };
        let search = self.reader.search();
        let mut hits = if words.is_empty() { Vec::new() } else { search.search(&query(words.join(" "), SAME_DAY.0)) };
        for hit in search.search(&query(String::new(), SAME_HOURS.0)) {
            if hits.iter().all(|known| known.id != hit.id) {
                hits.push(hit);
            }
        }
        self.read(hits.into_iter().map(|hit| hit.id))
    }

    /// Returns who spoke near a caption, and who was recognised in it, each once.
    fn present(&self, caption: &ParsedEvent, single: bool) -> Result<Vec<(String, bool)>, ReadError> {
        let spans = [(RECOGNITION_MARGIN, Kind::Entity, true), (NEAR.0, Kind::Text, false)];
        let mut present: Vec<(String, bool)> = Vec::new();
        for (margin, kind, seen) in spans {
            let span = Some(widened(caption.event.span, margin));
            let query = SearchQuery { span, kinds: vec![kind], limit: MAX_TEXTS, ..SearchQuery::default() };
            let mut names: Vec<String> = Vec::new();
            for found in self.read(self.reader.search().search(&query).into_iter().map(|hit| hit.id))? {
                let name = found.event.entity.clone().filter(|name| is_person(&name_phrase(name)));
                names.extend(name.filter(|name| !names.contains(name)));
            }
            let recognised = seen && single && names.len() == 1;
            for name in names {
                if present.iter().all(|(known, _)| *known != name) {
                    present.push((name, recognised));
                }
            }
        }
        Ok(present)
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
        let (groups, kinds) = (vec![vec![key.to_owned()]], vec![Kind::Text]);
        let holding = Holding { groups, kinds, latest: true, limit: MAX_GENDER_TEXTS, ..Holding::default() };
        let (mut female, mut male) = (0, 0);
        for text in self.read(self.reader.search().holding(&holding).into_iter())? {
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
    let mut pronouns = tokenise(behind).into_iter().filter_map(|token| gender(&token.text));
    let first = pronouns.next()?;
    pronouns.all(|other| other == first).then_some(first)
}

/// Returns who tells of what a caption shows, by how much of it they tell. `meaning` is the vote for who says the same in
/// other words: for whoever does most of what is told.
fn tellers(text: &ParsedEvent, shown: &ShownWords, meaning: f32) -> Votes {
    let mut told: BTreeMap<String, (String, BTreeMap<&str, f32>)> = BTreeMap::new();
    let mut shares: BTreeMap<String, f32> = BTreeMap::new();
    let mut before: Option<&Clause> = None;
    for clause in text.clauses() {
        let before = before.replace(clause);
        if is_denied(clause) {
            continue;
        }
        let Some((name, share)) = actor(clause, before, text) else { continue };
        let words =
            arguments(clause).flat_map(NounPhrase::lemmas).chain(clause.verb.iter().map(|verb| verb.lemma.as_str()));
        let entry = told.entry(key_of(&name)).or_insert_with(|| (name, BTreeMap::new()));
        for word in words {
            if let Some(word) = shown.get(word) {
                let known = entry.1.entry(word.of.as_str()).or_insert(0.0);
                *known = known.max(word.weight * share);
            }
        }
        let known = shares.entry(key_of(&entry.0)).or_insert(share);
        *known = known.max(share);
    }
    let sum = |words: BTreeMap<&str, f32>| words.into_values().sum::<f32>();
    let votes = told.into_iter().map(|(key, (name, words))| {
        let vote = sum(words) + meaning * shares.get(&key).copied().unwrap_or_default();
        (key, (name, vote))
    });
    votes.filter(|(_, (_, vote))| *vote > 0.0).collect()
}

/// Returns who does what a clause says, with the share of a vote: the speaker, or who is named. What nobody does is said of
/// the speaker's surroundings.
fn actor(clause: &Clause, before: Option<&Clause>, text: &ParsedEvent) -> Option<(String, f32)> {
    let speaker = text.event.entity.clone()?;
    let is_name = |noun: &NounPhrase| noun.kind == NounKind::Name && is_person(noun);
    // "I've asked Ivo to lend us his saw": Ivo lends it.
    let lends =
        clause.verb.as_ref().is_some_and(|verb| verb.infinitive) && (clause.subject.is_none() || clause.inherited);
    let asked = before.filter(|_| lends).and_then(|before| before.objects.last()).filter(|asked| is_name(asked));
    if let Some(asked) = asked {
        return Some((text.phrase_text(asked), 1.0));
    }
    let Some(subject) = &clause.subject else {
        // "I'll start on the stairs, seven steps": what has no verb goes on with what was said.
        let share = match &clause.verb {
            None => VERBLESS_SHARE,
            Some(verb) if verb.infinitive => OTHER_CLAUSE_SHARE,
            Some(_) => 1.0,
        };
        return Some((speaker, share));
    };
    if speaks(subject) {
        return Some((speaker, 1.0));
    }
    if subject.head == "you" {
        return None;
    }
    match text.resolve(subject) {
        Some(person) if is_name(&person) => Some((text.phrase_text(&person), 1.0)),
        Some(person) if is_person(&person) => None,
        _ => {
            let own = text.clauses().any(|other| other.subject.as_ref().is_some_and(speaks));
            Some((speaker, if own { BESIDE_OWN_CLAUSE_SHARE } else { OTHER_CLAUSE_SHARE }))
        }
    }
}

/// Returns whether a subject includes who speaks.
fn speaks(subject: &NounPhrase) -> bool {
    subject.coordinated().any(|own| matches!(own.head.as_str(), "i" | "we" | "me"))
}

/// Returns whether a clause denies what it says: "I didn't sweep", "there's still no staircase".
fn is_denied(clause: &Clause) -> bool {
    let no = |noun: &NounPhrase| noun.determiner.as_deref() == Some("no");
    clause.verb.as_ref().is_some_and(|verb| verb.negated) || arguments(clause).any(no)
}

/// The head of a name in lower case.
fn key_of(name: &str) -> String {
    name_phrase(name).head
}

fn distance(a: TimeSpan, b: TimeSpan) -> Duration {
    if a.end < b.start { b.start.since(a.end) } else { a.start.since(b.end) }
}

fn widened(span: TimeSpan, margin: Duration) -> TimeSpan {
    TimeSpan { start: span.start.saturating_sub(margin), end: span.end.saturating_add(margin) }
}
