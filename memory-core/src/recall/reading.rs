//! A parsed event: its words, clauses and phrases, the referents of its pronouns, its places and quantities.

mod places;

use std::ops::Range;

use jiff::Zoned;
use jiff::tz::TimeZone;

pub(super) use self::places::{Placement, ThingPlace, can_be_place};
use super::quantities::{Quantity, quantities};
use crate::language::english::closed::{PLACE_PREPOSITIONS, is_one_of, number_word};
use crate::language::english::letters::capitalised;
use crate::language::english::lexicon::{self, Category, PartOfSpeech};
use crate::language::english::syntax::{Clause, NounKind, NounPhrase, Sentence, parse_with};
use crate::language::english::tag::{Tag, Word, lemma};
use crate::language::english::time::{ToldTime, told_times_by_clause};
use crate::language::english::token::{TokenKind, tokenise};
use crate::{Event, Kind};

/// An event with its grammar.
#[derive(Debug, Clone)]
pub(super) struct ParsedEvent {
    pub event: Event,
    pub sentences: Vec<Sentence>,
    /// Lemmas of all words with their tags, including those of the entity and the attributes.
    pub lemmas: Vec<(String, Tag)>,
    /// Number of lemmas that belong to the text itself.
    pub own_words: usize,
    /// Verbs, with their particles if they have any: "turn off", "return".
    pub verbs: Vec<String>,
    /// Time phrases of the text that refer to another time, as told.
    pub times: Vec<ToldTime>,
    /// Referent of "he" or "she" if the text names nobody: the person mentioned before.
    pub antecedent: Option<NounPhrase>,
    /// Referent of "it" if the text names no thing: the thing mentioned before.
    pub topic: Option<NounPhrase>,
}

/// Share of its uses, in 255ths, from which a noun also has another sense.
const MIN_OTHER_SENSE_SHARE: u8 = 26;

impl ParsedEvent {
    pub fn parse(event: Event, zone: &TimeZone) -> Self {
        let told_at = event.span.start.to_jiff().to_zoned(zone.clone());
        let times = told_times_of(&event, &told_at);
        let ranges: Vec<Range<usize>> = times.iter().map(|time| time.range.clone()).collect();
        let (words, sentences) = parse_with(&event.text, &ranges, &entity_names(&event));
        let mut lemmas: Vec<(String, Tag)> =
            words.iter().filter(|word| is_content_word(word)).map(|word| (word.lemma.clone(), word.tag)).collect();
        // The words of a time phrase count too: "Monday", "noon".
        lemmas.extend(words.iter().filter(|word| word.tag == Tag::Time).map(|word| (word.text.clone(), Tag::Time)));
        let own = lemmas.len();
        let groups = sentences.iter().flat_map(|sentence| &sentence.clauses).filter_map(|clause| clause.verb.as_ref());
        let mut verbs: Vec<String> = groups
            .filter(|verb| !verb.auxiliary_only)
            .map(|verb| verb.phrasal().unwrap_or_else(|| verb.lemma.clone()))
            .collect();
        verbs.extend(
            sentences.iter().flat_map(|sentence| &sentence.clauses).any(brings_from_shop).then(|| "buy".into()),
        );
        let mut add = |text: &str| {
            for token in tokenise(text).into_iter().filter(|token| token.kind != TokenKind::Mark) {
                let lemma = lemma(&token.text, Tag::Noun);
                if !lemmas.iter().any(|(known, _)| *known == lemma) {
                    lemmas.push((lemma, Tag::Name));
                }
            }
        };
        if let Some(entity) = &event.entity {
            add(entity);
        }
        for (name, value) in &event.attributes {
            if event.tells(name) {
                value.for_each_text(&mut add);
            }
        }
        Self { event, sentences, lemmas, own_words: own, verbs, times, antecedent: None, topic: None }
    }

    /// Probability that the event happened. Derived events have a probability below 1.
    pub fn probability(&self) -> f32 {
        if self.event.is_looked() { self.event.confidence } else { 1.0 }
    }

    /// Returns the text of a range.
    pub fn text(&self, range: &Range<usize>) -> &str {
        self.event.text.get(range.clone()).unwrap_or_default()
    }

    pub fn clauses(&self) -> impl Iterator<Item = &Clause> {
        self.sentences.iter().flat_map(|sentence| &sentence.clauses)
    }

    /// Returns the clauses of the sentences that ask nothing.
    pub fn told_clauses(&self) -> impl Iterator<Item = &Clause> {
        self.sentences.iter().filter(|sentence| !sentence.asks).flat_map(|sentence| &sentence.clauses)
    }

    /// Returns the clause that begins at a byte of the text.
    pub fn clause_at(&self, start: usize) -> Option<&Clause> {
        self.clauses().find(|clause| clause.range.start == start)
    }

    /// Returns whether every sentence is a question.
    pub fn only_asks(&self) -> bool {
        !self.sentences.is_empty() && self.sentences.iter().all(|sentence| sentence.asks)
    }

    /// Returns the name of the speaker or actor.
    pub fn entity_phrase(&self) -> Option<NounPhrase> {
        self.event.entity.as_deref().map(name_phrase)
    }

    /// Returns whether the text says "he" or "she" and names nobody.
    pub fn lacks_antecedent(&self) -> bool {
        let mut nouns = self.clauses().flat_map(|clause| clause.subject.iter().chain(&clause.objects));
        self.event.kind == Kind::Text
            && self.event.entity.is_some()
            && nouns.any(|noun| {
                matches!(noun.head.as_str(), "he" | "she" | "him" | "her")
                    && noun.is_pronoun()
                    && self.resolve(noun).is_none()
            })
    }

    /// Returns whether the text acts on "it" or "them" and names no thing.
    pub fn lacks_topic(&self) -> bool {
        let anaphor = |noun: &NounPhrase| {
            noun.is_pronoun() && matches!(noun.head.as_str(), "it" | "them" | "they") && self.resolve(noun).is_none()
        };
        let told = self.told_clauses();
        let mut clauses = told.filter(|clause| clause.verb.is_some());
        self.event.kind == Kind::Text
            && clauses.any(|clause| {
                // "It is late", "it rains": nothing is meant.
                let is = clause.verb.as_ref().is_some_and(|verb| verb.lemma == "be" && verb.auxiliary_only);
                let placed =
                    clause.adjuncts.iter().any(|adjunct| PLACE_PREPOSITIONS.contains(&adjunct.preposition.as_str()));
                clause.objects.iter().any(anaphor) || clause.subject.as_ref().is_some_and(anaphor) && is && placed
            })
    }

    /// Returns the thing that a text is about: the object of its first clause with one, else the subject.
    pub fn main_thing(&self) -> Option<NounPhrase> {
        let thing = |noun: &&NounPhrase| {
            noun.kind == NounKind::Common
                && !noun.is_pronoun()
                && !is_person(noun)
                && !matches!(
                    lexicon::category(&noun.head, PartOfSpeech::Noun),
                    None | Some(Category::Time | Category::Quantity | Category::Act | Category::Attribute)
                )
        };
        let objects = self.clauses().flat_map(|clause| &clause.objects).flat_map(NounPhrase::coordinated);
        let subjects = self.clauses().filter_map(|clause| clause.subject.as_ref());
        let found = objects.chain(subjects).find(thing)?;
        // Its range refers to another text.
        Some(NounPhrase { range: 0..0, of: None, owner: None, also: Vec::new(), ..found.clone() })
    }

    /// Sets the referent of "it".
    pub fn with_topic(mut self, thing: NounPhrase) -> Self {
        for word in thing.modifiers.iter().chain([&thing.head]) {
            if !self.lemmas.iter().any(|(known, _)| known == word) {
                self.lemmas.push((word.clone(), Tag::Noun));
            }
        }
        self.topic = Some(thing);
        self
    }

    /// Returns the one person other than the speaker or actor whom an event names.
    pub fn only_other_person(&self) -> Option<NounPhrase> {
        let own = self.entity_phrase();
        let other = |noun: &&NounPhrase| {
            noun.kind == NounKind::Name
                && is_person(noun)
                && own.as_ref().is_none_or(|own| own.head != noun.head && !own.modifiers.contains(&noun.head))
        };
        let mut named = self.clauses().flat_map(arguments).flat_map(NounPhrase::coordinated).filter(other);
        let first = named.next()?;
        named.all(|noun| noun.head == first.head).then(|| name_phrase(&capitalised(&first.head)))
    }

    /// Sets the referent of "he" or "she".
    pub fn with_antecedent(mut self, person: NounPhrase) -> Self {
        if !self.lemmas.iter().any(|(known, _)| *known == person.head) {
            self.lemmas.push((person.head.clone(), Tag::Name));
        }
        self.antecedent = Some(person);
        self
    }

    /// Returns the referent of a noun phrase: itself, or the antecedent of a pronoun.
    pub fn resolve(&self, noun: &NounPhrase) -> Option<NounPhrase> {
        if !noun.is_pronoun() {
            let at = noun.range.start;
            let named = || self.preceding_thing(at, true).or_else(|| self.preceding_thing(at, false));
            let Some(named) = is_elliptic(noun).then(named).flatten() else { return Some(noun.clone()) };
            let mut modifiers = noun.modifiers.clone();
            modifiers.extend(is_ordinal(&noun.head).then(|| noun.head.clone()));
            return Some(NounPhrase { head: named.head, kind: named.kind, of: named.of, modifiers, ..noun.clone() });
        }
        match noun.head.as_str() {
            "i" | "me" | "myself" | "we" | "us" | "mine" | "my" | "our" => self.entity_phrase(),
            "he" | "she" | "him" | "his" | "her" | "himself" | "herself" => self
                .preceding_person(noun)
                .cloned()
                .or_else(|| self.antecedent.clone())
                .or_else(|| self.entity_phrase().filter(|_| self.event.kind != Kind::Text)),
            "somebody" | "someone" | "nobody" | "everybody" | "everyone" => Some(noun.clone()),
            "it" | "its" | "itself" | "this" | "that" => {
                self.preceding_thing(noun.range.start, false).or_else(|| self.topic.clone())
            }
            "they" | "them" | "these" | "those" | "both" | "all" | "themselves" => self
                .preceding_thing(noun.range.start, true)
                .or_else(|| self.preceding_thing(noun.range.start, false))
                .or_else(|| self.topic.clone().filter(|topic| topic.plural)),
            _ => None,
        }
    }

    /// Returns the person named last before "he" or "she".
    fn preceding_person(&self, pronoun: &NounPhrase) -> Option<&NounPhrase> {
        let before = self.phrases_before(pronoun.range.start).into_iter().rev();
        // "Ben missed his coach, he comes later": who has a coach is meant, and not the coach.
        let person = before.filter(|known| !self.is_predicate(known)).find(|known| {
            let owner = known.owner.as_ref().map(|owner| owner.head.as_str());
            is_person(known) && !owner.is_some_and(|owner| matches!(owner, "he" | "his" | "him" | "she" | "her"))
        });
        let from = person.map_or(0, |person| person.range.end);
        self.preceding_owner(from..pronoun.range.start).or(person)
    }

    /// Returns whose thing was named last in a part of the text, where only those who speak did anything: "we need candles
    /// for Ida's cake, she …".
    fn preceding_owner(&self, part: Range<usize>) -> Option<&NounPhrase> {
        let inside = |noun: &NounPhrase| part.start <= noun.range.start && noun.range.end <= part.end;
        let of_speakers = |clause: &&Clause| {
            let subject = clause.subject.as_ref();
            subject.is_none_or(|subject| matches!(subject.head.as_str(), "i" | "we")) && !clause.inherited
        };
        let told = self.clauses().filter(|clause| inside_range(&part, &clause.range)).filter(of_speakers);
        let owners = told.flat_map(arguments).filter(|noun| inside(noun)).filter_map(|noun| noun.owner.as_deref());
        owners.filter(|owner| !owner.is_pronoun() && is_person(owner)).last()
    }

    /// Returns the noun phrases that end before a position of the text, in order: of each clause its subject, objects
    /// and adjuncts.
    fn phrases_before(&self, at: usize) -> Vec<&NounPhrase> {
        let mut found: Vec<&NounPhrase> = self
            .clauses()
            .flat_map(arguments)
            .filter(|noun| {
                noun.range.end <= at && !noun.is_pronoun() && !matches!(noun.head.as_str(), "way" | "moment" | "time")
            })
            .collect();
        found.sort_by_key(|noun| noun.range.start);
        found
    }

    /// Returns whether a noun phrase only describes a pronoun: in "he is my friend, he plays" the second "he" does not
    /// refer to "friend".
    fn is_predicate(&self, noun: &NounPhrase) -> bool {
        self.clauses().any(|clause| {
            let is = clause.verb.as_ref().is_some_and(|verb| verb.lemma == "be" && verb.auxiliary_only);
            let he = |subject: &NounPhrase| matches!(subject.head.as_str(), "he" | "she" | "i" | "you");
            is && noun.kind == NounKind::Common
                && clause.subject.as_ref().is_some_and(he)
                && clause.objects.iter().any(|object| object.range == noun.range)
        })
    }

    fn preceding_thing(&self, at: usize, plural: bool) -> Option<NounPhrase> {
        let mut things: Vec<&NounPhrase> = self
            .phrases_before(at)
            .into_iter()
            // "Thanks a million" names nothing.
            .filter(|noun| {
                !is_person(noun)
                    && number_word(&noun.head).is_none()
                    && (!plural || noun.plural || !noun.also.is_empty())
            })
            .collect();
        // "The woman next door has it": what a clause does is not done to its own subject.
        let own = self.clauses().find(|clause| clause.range.start <= at && at < clause.range.end);
        let verb = own.and_then(|clause| clause.verb.as_ref().map(|verb| (clause.range.start, verb.range.start)));
        if let Some((start, verb)) = verb.filter(|(_, verb)| *verb < at) {
            let other = |noun: &&NounPhrase| noun.range.end <= start || noun.range.start >= verb;
            if things.iter().any(&other) {
                things.retain(other);
            }
        }
        // Objects, then subjects, are more likely referents than phrases of place.
        let main = things.iter().rev().find(|noun| {
            self.clauses().any(|clause| {
                clause.objects.iter().any(|it| it.range == noun.range)
                    || clause.subject.as_ref().is_some_and(|it| it.range == noun.range)
            })
        });
        main.or(things.last()).map(|noun| (*noun).clone()).or_else(|| {
            (self.event.kind == Kind::Object || self.event.kind == Kind::State).then(|| self.entity_phrase()).flatten()
        })
    }

    /// Returns the words of a noun phrase with its modifiers.
    pub fn phrase_text(&self, noun: &NounPhrase) -> String {
        // The range of an antecedent refers to another text.
        if noun.range.is_empty() {
            let words: Vec<&str> = noun.modifiers.iter().chain([&noun.head]).map(String::as_str).collect();
            return words.join(" ");
        }
        self.text(&noun.range).to_owned()
    }

    /// Returns words of a text for those who did not hear who spoke: "my sister", said by Ada, is "Ada's sister".
    pub fn in_third_person(&self, words: &str) -> String {
        let speaker = self.event.entity.as_deref().filter(|_| self.event.kind == Kind::Text);
        let Some(speaker) = speaker else { return words.to_owned() };
        let parts: Vec<String> = words
            .split(' ')
            .map(|word| if word.eq_ignore_ascii_case("my") { format!("{speaker}'s") } else { word.to_owned() })
            .collect();
        parts.join(" ")
    }

    /// Returns the quantities of the text.
    pub fn quantities(&self) -> Vec<Quantity> {
        quantities(&self.event.text)
    }
}

fn inside_range(outer: &Range<usize>, inner: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// Returns whether a noun phrase is a pronoun for a thing that was named before.
pub(super) fn is_anaphor(noun: &NounPhrase) -> bool {
    noun.is_pronoun() && matches!(noun.head.as_str(), "it" | "they" | "them" | "those" | "these" | "that" | "this")
}

/// Returns the noun phrases of a clause.
pub(super) fn arguments(clause: &Clause) -> impl Iterator<Item = &NounPhrase> {
    let adjuncts = clause.adjuncts.iter().map(|adjunct| &adjunct.noun);
    clause
        .subject
        .iter()
        .filter(|_| !clause.inherited)
        .chain(&clause.objects)
        .chain(adjuncts)
        .flat_map(NounPhrase::coordinated)
}

/// Returns whether a noun phrase omits a noun that was named before: "two lamps are on, the third one is off", "Ben
/// took the first bus and I the second".
pub(super) fn is_elliptic(noun: &NounPhrase) -> bool {
    let one = matches!(noun.head.as_str(), "one" | "ones") && !noun.modifiers.is_empty();
    one || noun.determiner.is_some() && noun.modifiers.is_empty() && is_ordinal(&noun.head)
}

fn is_ordinal(word: &str) -> bool {
    const ORDINALS: &[&str] = &[
        "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "other", "last",
    ];
    is_one_of(word, ORDINALS)
}

/// Returns whether a noun phrase names a person or an acting animal.
pub(super) fn is_person(noun: &NounPhrase) -> bool {
    match noun.kind {
        // "Shelf B3".
        NounKind::Name if noun.head.contains(|c: char| c.is_ascii_digit()) => false,
        // Many names are also common words: Rose, Pia, Iris, Grace, Dawn, John, Bill.
        NounKind::Name => lexicon::category(&noun.head, PartOfSpeech::Noun).is_none_or(|category| {
            matches!(category, Category::Person | Category::Animal)
                || noun.determiner.is_none()
                    && matches!(
                        category,
                        Category::Act
                            | Category::Artifact
                            | Category::Body
                            | Category::Feeling
                            | Category::NaturalObject
                            | Category::Plant
                            | Category::Possession
                            | Category::Phenomenon
                            | Category::Substance
                            | Category::State
                    )
        }),
        NounKind::Pronoun => matches!(
            noun.head.as_str(),
            "i" | "you"
                | "he"
                | "she"
                | "we"
                | "me"
                | "him"
                | "her"
                | "us"
                | "somebody"
                | "someone"
                | "everybody"
                | "everyone"
                | "nobody"
        ),
        // "My mum" is no flower.
        NounKind::Common => {
            lexicon::category(&noun.head, PartOfSpeech::Noun) == Some(Category::Person)
                || noun.owner.is_some() && lexicon::is_a_as(&noun.head, "parent", PartOfSpeech::Noun).is_some()
        }
        NounKind::Number => false,
    }
}

/// Returns whether a word often means an animal.
pub(super) fn can_be_animal(word: &str) -> bool {
    let mut all = lexicon::categories(word, PartOfSpeech::Noun).into_iter();
    all.any(|(category, share)| category == Category::Animal && share >= MIN_OTHER_SENSE_SHARE)
}

/// Returns a name as a noun phrase.
pub(super) fn name_phrase(name: &str) -> NounPhrase {
    let words: Vec<String> = tokenise(name)
        .into_iter()
        .filter(|token| token.kind != TokenKind::Mark)
        .map(|token| lemma(&token.text, Tag::Noun))
        .collect();
    let (head, modifiers) = match words.split_last() {
        Some((head, modifiers)) => (head.clone(), modifiers.to_vec()),
        None => (name.to_lowercase(), Vec::new()),
    };
    let capital = name.chars().next().is_some_and(char::is_uppercase);
    NounPhrase {
        range: 0..0,
        head,
        modifiers,
        determiner: None,
        owner: None,
        number: None,
        kind: if capital { NounKind::Name } else { NounKind::Common },
        plural: false,
        of: None,
        also: Vec::new(),
    }
}

/// Returns whether a word has content: no punctuation, article, auxiliary or the like.
pub(super) fn is_content_word(word: &Word) -> bool {
    matches!(word.tag, Tag::Noun | Tag::Name | Tag::Adjective | Tag::Verb | Tag::Number)
        || word.tag == Tag::Adverb
            && !matches!(
                word.text.as_str(),
                "now"
                    | "then"
                    | "again"
                    | "still"
                    | "just"
                    | "also"
                    | "too"
                    | "very"
                    | "there"
                    | "here"
                    | "yet"
                    | "so"
                    | "not"
            )
        || word.tag == Tag::Preposition
            && matches!(word.text.as_str(), "outside" | "inside" | "under" | "behind" | "without")
}

/// Returns whether somebody comes from a shop with something, and so has bought it.
fn brings_from_shop(clause: &Clause) -> bool {
    let verb = clause.verb.as_ref().map_or("", |verb| verb.lemma.as_str());
    let shop = |noun: &NounPhrase| {
        noun.head == "market" || lexicon::is_a_as(&noun.head, "mercantile_establishment", PartOfSpeech::Noun).is_some()
    };
    let from = clause.adjuncts.iter().any(|adjunct| adjunct.preposition.ends_with("from") && shop(&adjunct.noun));
    let with = clause.adjuncts.iter().any(|adjunct| adjunct.preposition == "with");
    from && (matches!(verb, "come" | "return") && with || matches!(verb, "bring" | "get") && !clause.objects.is_empty())
}

/// Returns the words of the event's entity that are written as a name.
fn entity_names(event: &Event) -> Vec<String> {
    let words = event.entity.iter().flat_map(|entity| entity.split_whitespace());
    words.filter(|word| word.starts_with(char::is_uppercase)).map(str::to_lowercase).collect()
}

/// Returns the times that a text refers to. An event that was observed live refers to no other time.
fn told_times_of(event: &Event, told_at: &Zoned) -> Vec<ToldTime> {
    if !event.text.chars().any(|c| c.is_ascii_digit()) && event.kind != Kind::Text && event.kind != Kind::State {
        return Vec::new();
    }
    told_times_by_clause(&event.text, told_at)
}

impl ParsedEvent {
    /// Returns an event without its grammar: only its words count.
    pub fn unparsed(event: Event) -> Self {
        let lemmas = crate::index::words(&event.text)
            .filter(|word| !crate::index::is_stop_word(word))
            .map(|word| (word, Tag::Noun))
            .collect::<Vec<_>>();
        Self {
            own_words: lemmas.len(),
            lemmas,
            sentences: Vec::new(),
            times: Vec::new(),
            verbs: Vec::new(),
            event,
            antecedent: None,
            topic: None,
        }
    }
}
