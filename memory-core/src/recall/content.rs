//! What a question or an option speaks of: weighted words, and how much of them an event holds, in other words too.

mod frame;

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;

use self::frame::{ENDINGS, FRAME, LIGHT};
use super::reading::{Reading, is_content};
use crate::index::{Search, TermId, term_of};
use crate::language::english::lexicon::{self, Category, Memo, PartOfSpeech};
use crate::language::english::syntax::{NounPhrase, VerbGroup, parse};
use crate::language::english::tag::{Tag, Word};
use crate::{Kind, Origin};

/// Most words of an event that are compared.
const MOST_WORDS: usize = 400;
/// Most words of a question that are compared with an event's.
const MOST_ITEMS: usize = 40;
/// Below this two words are not alike.
const ALIKE: f32 = 0.5;
/// Weight of a verb beside a noun: people choose verbs more freely.
const VERB: f32 = 0.7;
/// Weight of a verb of little meaning ("take", "put", "go").
const LIGHT_VERB: f32 = 0.3;
/// Share of its weight that the class of what is asked for keeps.
const CLASS: f32 = 0.2;
/// How well a thing of the kind that a noun of the question names suits it: a piano is an instrument.
const OF_KIND: f32 = 0.85;
/// How well what an encoder calls by the name of its kind suits the name of a thing.
const BY_LABEL: f32 = 0.7;
/// Words of the sentences in which what was noticed is kept, and no names of it.
const OF_SENSES: &[&str] = &["view", "scene", "picture", "sound", "noise", "middle", "left", "right"];
/// From here a word of an event means what one of the question does, so that memory knows of it.
const SAME_MEANING: f32 = 0.7;
/// How well a verb with another particle suits.
const OTHER_PARTICLE: f32 = 0.3;
/// Weight of a general noun before a name or a known noun that no memory holds: "the ingredient salt", "recipe X".
const CLASS_NOUN: f32 = 0.15;

/// A word of a question with its weight.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub lemma: String,
    pub tag: Tag,
    pub weight: f32,
    /// How many documents hold it.
    pub documents: u32,
    /// Whether it is a verb of little meaning.
    pub light: bool,
    /// A name that means the same.
    pub other: Option<String>,
    /// The verb with its particle: "turn off".
    pub phrasal: Option<String>,
    /// Its weight where only its being known counts.
    pub own: f32,
    /// Whether it names a kind of things, so that what is of that kind is meant, too.
    pub kind: bool,
}

/// The words that count.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub items: Vec<Item>,
    alike: RefCell<HashMap<String, Vec<f32>>>,
    /// For each item how well any event that was found holds it; empty until they are found.
    met: RefCell<Vec<f32>>,
}

/// How much of a content an event holds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Coverage {
    /// Of the content, by weight.
    pub of_content: f32,
    /// Of the event's own words.
    pub of_event: f32,
    /// How many of the event's own words speak of something else.
    pub others: f32,
}

impl Coverage {
    /// How nearly the content and the event say the same: a thing and its preparation are told apart by one word.
    pub fn whole(self) -> f32 {
        self.of_content + 0.3 * self.of_event - 0.04 * self.others.min(4.0)
    }
}

impl Content {
    /// The words of some ranges of a question.
    pub fn of(words: &[Word], ranges: &[Range<usize>], weight: f32, search: &dyn Search) -> Self {
        let inside =
            |word: &Word| ranges.iter().any(|range| range.start <= word.range.start && word.range.end <= range.end);
        let chosen: Vec<&Word> = words.iter().filter(|word| is_content(word) && inside(word)).collect();
        let mut items: Vec<Item> = Vec::new();
        for (at, word) in chosen.iter().enumerate() {
            if FRAME.contains(&word.lemma.as_str()) || FRAME.contains(&word.text.as_str()) {
                continue;
            }
            // "In front of you" is wherever the robot looks.
            let behind = words.iter().skip_while(|other| other.range.start <= word.range.start);
            let of_you = word.is("front") && behind.map(|word| word.text.as_str()).take(2).eq(["of", "you"]);
            if of_you {
                continue;
            }
            // "What did he give up?": no more than a part of the verb.
            let light = items.last().is_none_or(|item| item.tag != Tag::Verb || item.light);
            if word.tag == Tag::Adverb && light && matches!(word.text.as_str(), "up" | "through") {
                continue;
            }
            // "Who takes care of the cat?": the care is no thing.
            let support = word.is("care") && items.last().is_some_and(|item| item.lemma == "take");
            if support || items.iter().any(|item| item.lemma == word.lemma) {
                continue;
            }
            // "Won" is left out of the index as a piece of "won't"; "win" is not.
            let statistics = match search.terms(&word.text) {
                terms if terms.is_empty() => search.terms(&word.lemma),
                terms => terms,
            };
            let (documents, idf) = statistics
                .iter()
                .map(|term| (term.documents, term.idf))
                .fold((0, 0.0_f32), |a, b| (a.0.max(b.0), a.1.max(b.1)));
            // "The ingredient salt", "the step Fry the onion": a class before what it names.
            let next = chosen.get(at + 1).filter(|next| next.range.start <= word.range.end + 1);
            let class =
                word.tag == Tag::Noun && !word.capital && next.is_some_and(|next| documents == 0 || next.capital);
            let share = match word.tag {
                _ if class => CLASS_NOUN,
                Tag::Verb if LIGHT.contains(&word.lemma.as_str()) => LIGHT_VERB,
                Tag::Verb => VERB,
                _ => 1.0,
            };
            let weight = weight * share * if idf > 0.0 { idf } else { 1.0 };
            let light = word.tag == Tag::Verb && LIGHT.contains(&word.lemma.as_str());
            items.push(Item {
                lemma: word.lemma.clone(),
                tag: word.tag,
                weight,
                documents,
                light,
                other: None,
                phrasal: None,
                own: weight,
                kind: word.tag == Tag::Noun && !word.capital && !modifies(&chosen, at) && names_things(&word.lemma),
            });
        }
        // A long text is looked for by the words that weigh most.
        if items.len() > MOST_ITEMS {
            items.sort_by(|a, b| b.weight.total_cmp(&a.weight));
            items.truncate(MOST_ITEMS);
        }
        Self { items, ..Self::default() }
    }

    /// Adds the words of another content that are not there yet.
    pub fn extend(&mut self, other: Self) {
        for item in other.items {
            if !self.items.iter().any(|known| known.lemma == item.lemma) {
                self.items.push(item);
            }
        }
        self.alike = RefCell::default();
    }

    /// The class of what is asked for says what the answer is, not which event holds it.
    pub fn weigh_class(&mut self, class: Option<&NounPhrase>) {
        let Some(class) = class else { return };
        for item in self.items.iter_mut().filter(|item| item.lemma == class.head) {
            item.weight *= CLASS;
        }
    }

    /// Takes a verb and its particle for one word.
    pub fn join_particle(&mut self, verb: &VerbGroup) {
        let Some((phrasal, particle)) = verb.phrasal().zip(verb.particle.as_deref()) else { return };
        let Some(item) = self.items.iter_mut().find(|item| item.tag == Tag::Verb && item.lemma == verb.lemma) else {
            return;
        };
        item.phrasal = Some(phrasal);
        self.items.retain(|item| item.lemma != particle);
        self.alike = RefCell::default();
    }

    /// Leaves out words that say what kind of answer is wanted, and nothing of what it is about.
    pub fn leave_out(&mut self, words: &[&str]) {
        self.items.retain(|item| !words.contains(&item.lemma.as_str()));
        self.alike = RefCell::default();
    }

    /// Lets nouns of doing that no memory holds count for little beside what they are about: who tells of a trip says "we drive there".
    pub fn discount_doings(&mut self) {
        if self.items.iter().all(|item| item.documents == 0) {
            return;
        }
        let is_doing = |item: &Item| {
            let category = lexicon::category(&item.lemma, PartOfSpeech::Noun);
            item.tag == Tag::Noun && matches!(category, Some(lexicon::Category::Act | lexicon::Category::Event))
        };
        for item in self.items.iter_mut().filter(|item| item.documents == 0) {
            if is_doing(item) {
                item.weight *= CLASS;
                item.own *= CLASS;
            }
        }
    }

    /// Whether nothing but a class and light words is named.
    pub fn is_light(&self) -> bool {
        self.items.iter().all(|item| item.light || item.weight < 1.0 && item.tag != Tag::Verb)
    }

    /// Adds a name that the question means without saying it.
    pub fn add_name(&mut self, name: &str, search: &dyn Search) {
        let statistics = search.terms(name);
        let (documents, idf) = statistics
            .iter()
            .map(|term| (term.documents, term.idf))
            .fold((0, 0.0_f32), |a, b| (a.0.max(b.0), a.1.max(b.1)));
        if documents > 0 && !self.items.iter().any(|item| item.lemma == name) {
            self.items.push(Item {
                lemma: name.to_owned(),
                tag: Tag::Name,
                weight: idf,
                documents,
                light: false,
                other: None,
                phrasal: None,
                own: idf,
                kind: false,
            });
            self.alike = RefCell::default();
        }
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub fn total(&self) -> f32 {
        self.items.iter().map(|item| item.weight).sum()
    }

    /// The share, by weight, that some memory holds, in other words too once it is known what was found.
    pub fn known(&self) -> f32 {
        let met = self.met.borrow();
        self.share_known(|place| met.get(place).copied().unwrap_or(0.0))
    }

    /// The share, by weight, that some memory holds word for word.
    pub fn known_literally(&self) -> f32 {
        self.share_known(|_| 0.0)
    }

    /// The share that is known, where `otherwise` says how well an item that no memory holds is.
    fn share_known(&self, otherwise: impl Fn(usize) -> f32) -> f32 {
        let total: f32 = self.items.iter().map(|item| item.own).sum();
        let is_known = |(place, item): (usize, &Item)| {
            let known = if item.documents > 0 { 1.0 } else { otherwise(place) };
            known * item.own
        };
        let known: f32 = self.items.iter().enumerate().map(is_known).sum();
        if total > 0.0 { known / total } else { 1.0 }
    }

    /// Notes which words events that were found hold in other words.
    pub fn meet<'r>(&self, found: impl Iterator<Item = &'r Reading>) {
        let mut met = vec![0.0_f32; self.items.len()];
        if self.items.iter().all(|item| item.documents > 0) {
            return;
        }
        for reading in found {
            met.iter_mut().zip(self.held(reading)).for_each(|(best, held)| *best = best.max(held));
        }
        met.iter_mut().filter(|met| **met < SAME_MEANING).for_each(|met| *met = 0.0);
        *self.met.borrow_mut() = met;
    }

    /// How much of it an event holds.
    pub fn coverage(&self, reading: &Reading) -> Coverage {
        let held = self.held(reading);
        let total = self.total();
        let covered: f32 = self.items.iter().zip(&held).map(|(item, held)| item.weight * held).sum();
        let alike = self.alike.borrow();
        let own = &reading.lemmas[..reading.own.min(reading.lemmas.len())];
        let (mut met, mut others) = (0.0, 0.0);
        for (lemma, _) in own {
            let held = alike.get(lemma).map_or(0.0, |row| row.iter().copied().fold(0.0, f32::max));
            met += held;
            others += if held < ALIKE { 1.0 } else { 0.0 };
        }
        #[expect(clippy::cast_precision_loss, reason = "words of a text")]
        let of_event = if own.is_empty() { 0.0 } else { met / own.len() as f32 };
        let of_event = of_event * reading.likely();
        Coverage { of_content: if total > 0.0 { covered / total } else { 0.0 }, of_event, others }
    }

    /// An encoder has one word for what people call by many: whoever is a lady is a person to it.
    fn by_label(&self, reading: &Reading, held: &mut [f32]) {
        let event = &reading.event;
        if event.origin != Origin::Perceived || event.kind == Kind::Text || event.is_looked() {
            return;
        }
        for (best, item) in held.iter_mut().zip(&self.items).filter(|(best, item)| item.kind && **best < BY_LABEL) {
            let labels =
                reading.lemmas.iter().filter(|(lemma, tag)| *tag == Tag::Noun && !OF_SENSES.contains(&lemma.as_str()));
            if labels.into_iter().any(|(label, _)| lexicon::is_kind_of(&item.lemma, label)) {
                *best = BY_LABEL;
            }
        }
    }

    /// For each item how well an event holds it, 0 to 1.
    pub fn held(&self, reading: &Reading) -> Vec<f32> {
        let mut held = vec![0.0_f32; self.items.len()];
        let mut alike = self.alike.borrow_mut();
        for (lemma, _) in reading.lemmas.iter().take(MOST_WORDS) {
            if !alike.contains_key(lemma) {
                let row = self
                    .items
                    .iter()
                    .map(|item| {
                        let other = item.other.as_deref() == Some(lemma.as_str());
                        let kind = item.kind && lexicon::is_kind_of(lemma, &item.lemma);
                        let least = if other {
                            1.0
                        } else if kind {
                            OF_KIND
                        } else {
                            0.0
                        };
                        word_likeness(&item.lemma, lemma).max(least)
                    })
                    .collect();
                alike.insert(lemma.clone(), row);
            }
            for (best, likeness) in held.iter_mut().zip(&alike[lemma]) {
                *best = best.max(*likeness);
            }
        }
        for (best, item) in held.iter_mut().zip(&self.items) {
            let Some(phrasal) = &item.phrasal else {
                // "Came back" for "return"; "came from the shop with it" for "buy".
                let other = |verb: &String| verb.contains(' ') || verb == "buy";
                let told = reading.verbs.iter().filter(|verb| item.tag == Tag::Verb && other(verb));
                *best = told.map(|verb| word_likeness(&item.lemma, verb)).fold(*best, f32::max);
                continue;
            };
            let told = reading.verbs.iter().map(|verb| word_likeness(phrasal, verb)).fold(0.0, f32::max);
            // "Turn on" is not "turn off".
            let lemma = |verb: &str| verb.split_once(' ').map(|(lemma, _)| lemma.to_owned());
            let other = reading.verbs.iter().any(|verb| lemma(verb).as_deref() == Some(item.lemma.as_str()));
            *best = if told == 0.0 && other { *best * OTHER_PARTICLE } else { best.max(told) };
        }
        self.by_label(reading, &mut held);
        let likely = reading.likely();
        if likely < 1.0 {
            held.iter_mut().for_each(|held| *held *= likely);
        }
        held
    }
}

/// Whether a noun stands right before another one, which it says the kind of: a carrot is no kind of vegetable soup.
fn modifies(chosen: &[&Word], at: usize) -> bool {
    let next = chosen.get(at + 1).filter(|next| next.range.start <= chosen[at].range.end + 1);
    next.is_some_and(|next| matches!(next.tag, Tag::Noun | Tag::Name))
}

/// Whether a noun commonly means things, living or not, and no measure, time or quality of them.
fn names_things(noun: &str) -> bool {
    let category = lexicon::category(noun, PartOfSpeech::Noun);
    category.is_some_and(|category| {
        !matches!(
            category,
            Category::Quantity | Category::Time | Category::Attribute | Category::Relation | Category::Cognition
        )
    })
}

/// Words whose stems are kept, by thread.
const STEMS: usize = 16_384;

thread_local! {
    static KNOWN: RefCell<Memo<Box<str>, TermId>> = RefCell::new(Memo::new(STEMS));
}

/// The stem of a word as a number.
fn stemmed(word: &str) -> TermId {
    KNOWN.with_borrow_mut(|known| known.get(word, || term_of(word)))
}

/// How alike two words are, 0 to 1: the same word, the same stem, or near in meaning as the lexicon knows it.
pub(super) fn word_likeness(a: &str, b: &str) -> f32 {
    if a == b {
        return 1.0;
    }
    let digits = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    if digits(a) || digits(b) {
        return 0.0;
    }
    if a.len() > 2 && b.len() > 2 && stemmed(a) == stemmed(b) {
        return 0.97;
    }
    // "prep" for "preparation", "fridge" is in the lexicon: a short form of at least four letters.
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    // A doorbell has to do with a door, but is a bell.
    if short.len() >= 4 && long.len() >= short.len() + 4 && long.starts_with(short) {
        let rest = &long[short.len()..];
        let compound = lexicon::category(rest, PartOfSpeech::Noun).is_some();
        return if compound { 0.6 } else { 0.75 };
    }
    // "dentist" and "dental": one root with two endings.
    let root = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    if root >= 4
        && let (Some(one), Some(other)) = (a.get(root..), b.get(root..))
        && ENDINGS.contains(&one)
        && ENDINGS.contains(&other)
    {
        return 0.7;
    }
    let likeness = lexicon::similarity(a, b);
    if likeness >= ALIKE { likeness } else { 0.0 }
}

/// How alike two verbs are, with their particles: "switch off" and "turn off", "come back" and "return".
pub(super) fn verb_likeness(a: &VerbGroup, b: &VerbGroup) -> f32 {
    let whole = |verb: &VerbGroup| verb.phrasal().unwrap_or_else(|| verb.lemma.clone());
    let plain = word_likeness(&a.lemma, &b.lemma);
    if a.particle.is_none() && b.particle.is_none() { plain } else { plain.max(word_likeness(&whole(a), &whole(b))) }
}

impl Content {
    /// The share that some words hold.
    pub fn share_in(&self, lemmas: &[(String, Tag)]) -> f32 {
        let total = self.total();
        if total <= 0.0 {
            return 0.0;
        }
        let held = self.items.iter().map(|item| {
            item.weight * lemmas.iter().map(|(lemma, _)| word_likeness(&item.lemma, lemma)).fold(0.0, f32::max)
        });
        held.sum::<f32>() / total
    }
}

impl Content {
    /// Lets words that no memory holds count for less: senses have fewer words than people.
    pub fn discount_unknown(&mut self, share: f32) {
        for item in self.items.iter_mut().filter(|item| item.documents == 0) {
            item.weight *= share;
        }
    }

    /// Those of its words that a text has.
    pub fn within(&self, text: &str) -> Self {
        let (words, _) = parse(text, &[]);
        let has = |item: &&Item| words.iter().any(|word| word.lemma == item.lemma);
        Self { items: self.items.iter().filter(has).cloned().collect(), ..Self::default() }
    }

    /// Lets some words count for less.
    pub fn discount(&mut self, share: f32, which: impl Fn(&str) -> bool) {
        for item in self.items.iter_mut().filter(|item| which(&item.lemma)) {
            item.weight *= share;
        }
    }

    /// The share that several events hold together, each item by the one that holds it best.
    pub fn covered_by(&self, held: &[f32]) -> f32 {
        let total = self.total();
        let covered: f32 = self.items.iter().zip(held).map(|(item, held)| item.weight * held).sum();
        if total > 0.0 { covered / total } else { 0.0 }
    }
}

impl Content {
    /// Lets another word stand for a word of the question, where memory holds the other one.
    pub fn add_other(&mut self, word: &str, other: &str, search: &dyn Search) {
        let documents = search.terms(other).first().map_or(0, |term| term.documents);
        if let Some(item) =
            self.items.iter_mut().find(|item| item.lemma == word && item.tag == Tag::Noun && documents > 0)
        {
            item.other = Some(other.to_owned());
            item.documents = item.documents.max(documents);
            self.alike = RefCell::default();
        }
    }

    /// Lets a name stand for the role by which the question calls a person: either counts as the other.
    pub fn add_alias(&mut self, name: &str, named: &[NounPhrase], search: &dyn Search) {
        let roles: Vec<&str> = named
            .iter()
            .flat_map(|noun| std::iter::once(noun).chain(noun.owner.as_deref()))
            .map(|noun| noun.head.as_str())
            .collect();
        if let Some(item) = self.items.iter_mut().find(|item| {
            roles.contains(&item.lemma.as_str())
                && item.other.is_none()
                && (super::reading::is_person(&super::reading::name_phrase(&item.lemma))
                    || super::reading::can_be_animal(&item.lemma))
        }) {
            item.other = Some(name.to_owned());
            item.documents = item.documents.max(search.terms(name).first().map_or(0, |term| term.documents));
            self.alike = RefCell::default();
        }
    }
}
