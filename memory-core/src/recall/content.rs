//! The content of a question or an option: weighted words, and how much of them an event covers, by synonyms too.

mod frame;
mod similarity;

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;

use self::frame::{FRAME_WORDS, LIGHT_VERBS, MEDIA};
pub(super) use self::similarity::{verb_similarity, word_similarity};
use super::reading::{ParsedEvent, is_content_word};
use crate::index::Search;
use crate::language::english::lexicon::{self, Category, PartOfSpeech};
use crate::language::english::syntax::{NounPhrase, VerbGroup, parse};
use crate::language::english::tag::{Tag, Word};
use crate::{Kind, Origin};

/// Maximum number of words of an event that are compared.
const MAX_EVENT_WORDS: usize = 400;
/// Maximum number of words of a question that are compared with an event.
const MAX_CONTENT_ITEMS: usize = 40;
/// Similarity below which two words do not match.
const MIN_WORD_SIMILARITY: f32 = 0.5;
/// Weight of a verb relative to a noun: people choose verbs more freely.
const VERB_WEIGHT: f32 = 0.7;
/// Weight of a light verb ("take", "put", "go").
const LIGHT_VERB_WEIGHT: f32 = 0.3;
/// Factor on the weight of the class that a question asks for ("which animal …").
const CLASS_WEIGHT_FACTOR: f32 = 0.2;
/// Similarity of a thing to a noun of the question that names its kind: a piano is an instrument.
const HYPONYM_SIMILARITY: f32 = 0.85;
/// Similarity of an encoder's label to a noun of the question, if the label names the kind of the thing.
const LABEL_HYPERNYM_SIMILARITY: f32 = 0.7;
/// Words of the sentences in which perceived events are stored. They name nothing that was perceived.
const CAPTION_WORDS: &[&str] = &["view", "scene", "picture", "sound", "noise", "middle", "left", "right"];
/// Minimum similarity at which a word of an event counts as a synonym of a word of the question.
const MIN_SYNONYM_SIMILARITY: f32 = 0.7;
/// Factor on the similarity of a verb that has another particle.
const OTHER_PARTICLE_FACTOR: f32 = 0.3;
/// Weight of a general noun before a name, or before a known noun that no memory holds: "the ingredient salt", "recipe
/// X".
const CLASS_NOUN_WEIGHT: f32 = 0.15;

/// A word of the content with its weight.
#[derive(Debug, Clone)]
pub(super) struct ContentItem {
    pub lemma: String,
    pub tag: Tag,
    pub weight: f32,
    /// Number of documents that contain the word.
    pub documents: u32,
    /// Whether it is a light verb.
    pub light: bool,
    /// Another word with the same meaning: a name for a role, or a synonym.
    pub alias: Option<String>,
    /// The verb with its particle: "turn off".
    pub phrasal: Option<String>,
    /// Weight of the word in [`Content::known_share`].
    pub known_weight: f32,
    /// Whether the word names a kind of things, so that its hyponyms match too.
    pub is_kind: bool,
}

/// The weighted words of a question or an option.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub items: Vec<ContentItem>,
    alike: RefCell<HashMap<String, Vec<f32>>>,
    /// Best similarity of each item to any retrieved event. Empty before retrieval.
    found_similarity: RefCell<Vec<f32>>,
}

/// How much of a content an event covers.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Coverage {
    /// Covered share of the content, by weight.
    pub of_content: f32,
    /// Covered share of the event's own words.
    pub of_event: f32,
    /// Number of the event's own words that match nothing in the content.
    pub unmatched_words: f32,
}

impl Coverage {
    /// Score of the match of content and event: the covered content, a part of the covered event, and a penalty for
    /// unmatched words. One unmatched word distinguishes a thing from its preparation.
    pub fn match_score(self) -> f32 {
        self.of_content + 0.3 * self.of_event - 0.04 * self.unmatched_words.min(4.0)
    }
}

impl Content {
    /// Collects the content words of some ranges of a question.
    pub fn from_ranges(words: &[Word], ranges: &[Range<usize>], weight: f32, search: &dyn Search) -> Self {
        let inside =
            |word: &Word| ranges.iter().any(|range| range.start <= word.range.start && word.range.end <= range.end);
        let chosen: Vec<&Word> = words.iter().filter(|word| is_content_word(word) && inside(word)).collect();
        let mut items: Vec<ContentItem> = Vec::new();
        let frames =
            |word: &Word| FRAME_WORDS.contains(&word.lemma.as_str()) || FRAME_WORDS.contains(&word.text.as_str());
        // "What was the film about?" means a film that was told of, unless it can only mean the recording.
        let bare = chosen.iter().all(|word| frames(word));
        let is_told = |word: &Word| {
            bare && MEDIA.contains(&word.lemma.as_str())
                && search.terms(&word.lemma).iter().any(|term| term.documents > 0)
        };
        for (at, word) in chosen.iter().enumerate() {
            if frames(word) && !is_told(word) {
                continue;
            }
            // "In front of you" is wherever the robot looks.
            let behind = words.iter().skip_while(|other| other.range.start <= word.range.start);
            let of_you = word.has_text("front") && behind.map(|word| word.text.as_str()).take(2).eq(["of", "you"]);
            // "The rest of the rice" is rice.
            let of_rest = word.has_text("rest")
                && words.iter().any(|of| of.has_text("of") && of.range.start == word.range.end + 1);
            if of_you || of_rest {
                continue;
            }
            // "What did he give up?": no more than a part of the verb.
            let light = items.last().is_none_or(|item| item.tag != Tag::Verb || item.light);
            if word.tag == Tag::Adverb && light && matches!(word.text.as_str(), "up" | "through") {
                continue;
            }
            // "Who takes care of the cat?": the care is no thing.
            let support = word.has_text("care") && items.last().is_some_and(|item| item.lemma == "take");
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
                _ if class => CLASS_NOUN_WEIGHT,
                Tag::Verb if LIGHT_VERBS.contains(&word.lemma.as_str()) => LIGHT_VERB_WEIGHT,
                Tag::Verb => VERB_WEIGHT,
                _ => 1.0,
            };
            let weight = weight * share * if idf > 0.0 { idf } else { 1.0 };
            let light = word.tag == Tag::Verb && LIGHT_VERBS.contains(&word.lemma.as_str());
            items.push(ContentItem {
                lemma: word.lemma.clone(),
                tag: word.tag,
                weight,
                documents,
                light,
                alias: None,
                phrasal: None,
                known_weight: weight,
                is_kind: word.tag == Tag::Noun
                    && !word.capital
                    && !modifies_next_noun(&chosen, at)
                    && names_things(&word.lemma),
            });
        }
        // A long text is reduced to its words of greatest weight.
        if items.len() > MAX_CONTENT_ITEMS {
            items.sort_by(|a, b| b.weight.total_cmp(&a.weight));
            items.truncate(MAX_CONTENT_ITEMS);
        }
        Self { items, ..Self::default() }
    }

    /// Adds the items of another content that are missing here.
    pub fn extend(&mut self, other: Self) {
        for item in other.items {
            if !self.items.iter().any(|known| known.lemma == item.lemma) {
                self.items.push(item);
            }
        }
        self.alike = RefCell::default();
    }

    /// Reduces the weight of the class that the question asks for: the class describes the answer, not the event that
    /// holds it.
    pub fn discount_class(&mut self, class: Option<&NounPhrase>) {
        let Some(class) = class else { return };
        for item in self.items.iter_mut().filter(|item| item.lemma == class.head) {
            item.weight *= CLASS_WEIGHT_FACTOR;
        }
    }

    /// Reduces the weight of the names that a question offers as answers. The event that answers holds only one of them.
    pub fn discount_alternatives(&mut self, words: &[&str]) {
        for item in self.items.iter_mut().filter(|item| words.contains(&item.lemma.as_str())) {
            item.weight *= CLASS_WEIGHT_FACTOR;
        }
    }

    /// Merges a verb and its particle into one item.
    pub fn join_particle(&mut self, verb: &VerbGroup) {
        let Some((phrasal, particle)) = verb.phrasal().zip(verb.particle.as_deref()) else { return };
        let Some(item) = self.items.iter_mut().find(|item| item.tag == Tag::Verb && item.lemma == verb.lemma) else {
            return;
        };
        item.phrasal = Some(phrasal);
        self.items.retain(|item| item.lemma != particle);
        self.alike = RefCell::default();
    }

    /// Removes words that only describe the kind of answer.
    pub fn remove_words(&mut self, words: &[&str]) {
        self.items.retain(|item| !words.contains(&item.lemma.as_str()));
        self.alike = RefCell::default();
    }

    /// Reduces the weight of nouns for deeds that no memory holds: a speaker describes a trip as "we drive there".
    pub fn discount_unknown_deeds(&mut self) {
        if self.items.iter().all(|item| item.documents == 0) {
            return;
        }
        let is_doing = |item: &ContentItem| {
            let category = lexicon::category(&item.lemma, PartOfSpeech::Noun);
            item.tag == Tag::Noun && matches!(category, Some(lexicon::Category::Act | lexicon::Category::Event))
        };
        for item in self.items.iter_mut().filter(|item| item.documents == 0) {
            if is_doing(item) {
                item.weight *= CLASS_WEIGHT_FACTOR;
                item.known_weight *= CLASS_WEIGHT_FACTOR;
            }
        }
    }

    /// Returns whether the content consists of a class and light verbs only.
    pub fn has_only_light_words(&self) -> bool {
        self.items.iter().all(|item| item.light || item.weight < 1.0 && item.tag != Tag::Verb)
    }

    /// Adds a name that the question implies but does not contain.
    pub fn add_name(&mut self, name: &str, search: &dyn Search) {
        let statistics = search.terms(name);
        let (documents, idf) = statistics
            .iter()
            .map(|term| (term.documents, term.idf))
            .fold((0, 0.0_f32), |a, b| (a.0.max(b.0), a.1.max(b.1)));
        if documents > 0 && !self.items.iter().any(|item| item.lemma == name) {
            self.items.push(ContentItem {
                lemma: name.to_owned(),
                tag: Tag::Name,
                weight: idf,
                documents,
                light: false,
                alias: None,
                phrasal: None,
                known_weight: idf,
                is_kind: false,
            });
            self.alike = RefCell::default();
        }
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub fn total_weight(&self) -> f32 {
        self.items.iter().map(|item| item.weight).sum()
    }

    /// Share of the content, by weight, that the memory holds. Counts synonyms once [`Content::note_found`] was called.
    pub fn known_share(&self) -> f32 {
        let met = self.found_similarity.borrow();
        self.known_share_with(|place| met.get(place).copied().unwrap_or(0.0))
    }

    /// Share of the content, by weight, that the memory holds word for word.
    pub fn literally_known_share(&self) -> f32 {
        self.known_share_with(|_| 0.0)
    }

    /// Known share, where `otherwise` returns how well an item that no document contains is known.
    fn known_share_with(&self, otherwise: impl Fn(usize) -> f32) -> f32 {
        let total: f32 = self.items.iter().map(|item| item.known_weight).sum();
        let is_known = |(place, item): (usize, &ContentItem)| {
            let known = if item.documents > 0 { 1.0 } else { otherwise(place) };
            known * item.known_weight
        };
        let known: f32 = self.items.iter().enumerate().map(is_known).sum();
        if total > 0.0 { known / total } else { 1.0 }
    }

    /// Records which words the retrieved events contain as synonyms.
    pub fn note_found<'r>(&self, found: impl Iterator<Item = &'r ParsedEvent>) {
        let mut met = vec![0.0_f32; self.items.len()];
        if self.items.iter().all(|item| item.documents > 0) {
            return;
        }
        for reading in found {
            met.iter_mut().zip(self.item_similarities(reading)).for_each(|(best, held)| *best = best.max(held));
        }
        met.iter_mut().filter(|met| **met < MIN_SYNONYM_SIMILARITY).for_each(|met| *met = 0.0);
        *self.found_similarity.borrow_mut() = met;
    }

    /// Returns how much of the content an event covers.
    pub fn coverage(&self, reading: &ParsedEvent) -> Coverage {
        let held = self.item_similarities(reading);
        let total = self.total_weight();
        let covered: f32 = self.items.iter().zip(&held).map(|(item, held)| item.weight * held).sum();
        let alike = self.alike.borrow();
        let own = &reading.lemmas[..reading.own_words.min(reading.lemmas.len())];
        let (mut met, mut others) = (0.0, 0.0);
        for (lemma, _) in own {
            let held = alike.get(lemma).map_or(0.0, |row| row.iter().copied().fold(0.0, f32::max));
            met += held;
            others += if held < MIN_WORD_SIMILARITY { 1.0 } else { 0.0 };
        }
        #[expect(clippy::cast_precision_loss, reason = "words of a text")]
        let of_event = if own.is_empty() { 0.0 } else { met / own.len() as f32 };
        let of_event = of_event * reading.probability();
        Coverage { of_content: if total > 0.0 { covered / total } else { 0.0 }, of_event, unmatched_words: others }
    }

    /// Raises the similarity of items that an encoder's label covers. An encoder has one label for many words: it
    /// labels a lady as a person.
    fn raise_by_labels(&self, reading: &ParsedEvent, held: &mut [f32]) {
        let event = &reading.event;
        if event.origin != Origin::Perceived || event.kind == Kind::Text || event.is_looked() {
            return;
        }
        for (best, item) in
            held.iter_mut().zip(&self.items).filter(|(best, item)| item.is_kind && **best < LABEL_HYPERNYM_SIMILARITY)
        {
            let labels = reading
                .lemmas
                .iter()
                .filter(|(lemma, tag)| *tag == Tag::Noun && !CAPTION_WORDS.contains(&lemma.as_str()));
            if labels.into_iter().any(|(label, _)| lexicon::is_kind_of(&item.lemma, label)) {
                *best = LABEL_HYPERNYM_SIMILARITY;
            }
        }
    }

    /// Returns the similarity of each item to an event, from 0 to 1.
    pub fn item_similarities(&self, reading: &ParsedEvent) -> Vec<f32> {
        let mut held = vec![0.0_f32; self.items.len()];
        let mut alike = self.alike.borrow_mut();
        for (lemma, _) in reading.lemmas.iter().take(MAX_EVENT_WORDS) {
            if !alike.contains_key(lemma) {
                let row = self
                    .items
                    .iter()
                    .map(|item| {
                        let other = item.alias.as_deref() == Some(lemma.as_str());
                        let kind = item.is_kind && lexicon::is_kind_of(lemma, &item.lemma);
                        let least = if other {
                            1.0
                        } else if kind {
                            HYPONYM_SIMILARITY
                        } else {
                            0.0
                        };
                        word_similarity(&item.lemma, lemma).max(least)
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
                *best = told.map(|verb| word_similarity(&item.lemma, verb)).fold(*best, f32::max);
                continue;
            };
            let told = reading.verbs.iter().map(|verb| word_similarity(phrasal, verb)).fold(0.0, f32::max);
            // "Turn on" is not "turn off".
            let lemma = |verb: &str| verb.split_once(' ').map(|(lemma, _)| lemma.to_owned());
            let other = reading.verbs.iter().any(|verb| lemma(verb).as_deref() == Some(item.lemma.as_str()));
            *best = if told == 0.0 && other { *best * OTHER_PARTICLE_FACTOR } else { best.max(told) };
        }
        self.raise_by_labels(reading, &mut held);
        let likely = reading.probability();
        if likely < 1.0 {
            held.iter_mut().for_each(|held| *held *= likely);
        }
        held
    }
}

/// Returns whether a noun is directly before another noun and modifies it: a carrot is no kind of vegetable soup.
fn modifies_next_noun(chosen: &[&Word], at: usize) -> bool {
    let next = chosen.get(at + 1).filter(|next| next.range.start <= chosen[at].range.end + 1);
    next.is_some_and(|next| matches!(next.tag, Tag::Noun | Tag::Name))
}

/// Returns whether a noun commonly names things, living or not, and no measure, time or quality.
fn names_things(noun: &str) -> bool {
    let category = lexicon::category(noun, PartOfSpeech::Noun);
    category.is_some_and(|category| {
        !matches!(
            category,
            Category::Quantity | Category::Time | Category::Attribute | Category::Relation | Category::Cognition
        )
    })
}

impl Content {
    /// Share of the content, by weight, that some lemmas cover.
    pub fn share_of_lemmas(&self, lemmas: &[(String, Tag)]) -> f32 {
        let total = self.total_weight();
        if total <= 0.0 {
            return 0.0;
        }
        let held = self.items.iter().map(|item| {
            item.weight * lemmas.iter().map(|(lemma, _)| word_similarity(&item.lemma, lemma)).fold(0.0, f32::max)
        });
        held.sum::<f32>() / total
    }
}

impl Content {
    /// Reduces the weight of words that no memory holds. Encoders have fewer words than people.
    pub fn discount_unknown(&mut self, share: f32) {
        for item in self.items.iter_mut().filter(|item| item.documents == 0) {
            item.weight *= share;
        }
    }

    /// Returns the items whose lemmas occur in a text.
    pub fn restricted_to(&self, text: &str) -> Self {
        let (words, _) = parse(text, &[]);
        let has = |item: &&ContentItem| words.iter().any(|word| word.lemma == item.lemma);
        Self { items: self.items.iter().filter(has).cloned().collect(), ..Self::default() }
    }

    /// Multiplies the weight of the selected words.
    pub fn discount(&mut self, share: f32, which: impl Fn(&str) -> bool) {
        for item in self.items.iter_mut().filter(|item| which(&item.lemma)) {
            item.weight *= share;
        }
    }

    /// Covered share of the content, by weight, for given similarities of the items.
    pub fn covered_share(&self, held: &[f32]) -> f32 {
        let total = self.total_weight();
        let covered: f32 = self.items.iter().zip(held).map(|(item, held)| item.weight * held).sum();
        if total > 0.0 { covered / total } else { 0.0 }
    }
}

impl Content {
    /// Registers a synonym of a word of the question, if the memory holds the synonym.
    pub fn add_synonym(&mut self, word: &str, other: &str, search: &dyn Search) {
        let documents = search.terms(other).first().map_or(0, |term| term.documents);
        if let Some(item) =
            self.items.iter_mut().find(|item| item.lemma == word && item.tag == Tag::Noun && documents > 0)
        {
            item.alias = Some(other.to_owned());
            item.documents = item.documents.max(documents);
            self.alike = RefCell::default();
        }
    }

    /// Registers a name as an alias of the role by which the question calls a person. Either matches.
    pub fn add_alias(&mut self, name: &str, named: &[NounPhrase], search: &dyn Search) {
        let roles: Vec<&str> = named
            .iter()
            .flat_map(|noun| std::iter::once(noun).chain(noun.owner.as_deref()))
            .map(|noun| noun.head.as_str())
            .collect();
        if let Some(item) = self.items.iter_mut().find(|item| {
            roles.contains(&item.lemma.as_str())
                && item.alias.is_none()
                && (super::reading::is_person(&super::reading::name_phrase(&item.lemma))
                    || super::reading::can_be_animal(&item.lemma))
        }) {
            item.alias = Some(name.to_owned());
            item.documents = item.documents.max(search.terms(name).first().map_or(0, |term| term.documents));
            self.alike = RefCell::default();
        }
    }
}
