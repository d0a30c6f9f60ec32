//! The persons that a caption describes without a name: "a woman in a red coat".

use std::collections::BTreeSet;
use std::ops::Range;

use crate::index::is_stop_word;
use crate::language::english::closed::is_one_of;
use crate::language::english::gender::gender;
use crate::language::english::lexicon::{self, PartOfSpeech};
use crate::language::english::syntax::{Adjunct, Clause, NounKind, NounPhrase};
use crate::language::english::tag::{Tag, lemma};
use crate::language::english::token::{TokenKind, tokenise};
use crate::recall::likeness::is_colour;
use crate::recall::question::Question;
use crate::recall::reading::{ParsedEvent, arguments};

/// Nouns for anybody of an age, beside those that tell the gender.
const OF_AN_AGE: &[&str] = &["adult", "baby", "child", "kid", "person", "teenager", "toddler", "youngster"];
/// Nouns for somebody who is not grown up.
const CHILDREN: &[&str] = &["baby", "boy", "child", "girl", "kid", "lad", "lass", "teenager", "toddler", "youngster"];
/// Nouns that say no more of a grown person than the gender. There may be many of them, as not of girls.
const GROWN: &[&str] = &["adult", "gentleman", "guy", "lady", "man", "person", "woman"];
/// Longest gap in the text between a person and what describes them.
const MAX_GAP: usize = 1;

/// The words for a person in a caption.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PersonDescription {
    /// Byte range of the words in the caption.
    pub range: Range<usize>,
    /// The part of it up to the noun: "the young man".
    pub person: Range<usize>,
    /// The words as they stand there: "the young man in the grey apron".
    pub text: String,
    /// Lemma of the head noun: "man".
    pub head: String,
    /// The words that tell the person from others, in lower case: "young", "grey", "apron".
    pub words: BTreeSet<String>,
}

impl PersonDescription {
    /// Returns whether another caption may describe the same person in these words.
    pub fn is_of_same_person(&self, other: &Self) -> bool {
        self.head == other.head
            && match (self.words.is_empty(), other.words.is_empty()) {
                (true, true) => !is_one_of(&self.head, GROWN),
                (false, false) => self.words.is_subset(&other.words) || other.words.is_subset(&self.words),
                _ => false,
            }
    }

    /// Returns whether nobody can be described in both ways: a man is no girl.
    pub fn excludes(&self, other: &Self) -> bool {
        let genders = (gender(&self.head), gender(&other.head));
        let differ = matches!(genders, (Some(own), Some(other)) if own != other);
        differ || is_one_of(&self.head, CHILDREN) != is_one_of(&other.head, CHILDREN)
    }

    /// Returns whether another description is in the same words, but for the article.
    pub fn says_the_same(&self, other: &Self) -> bool {
        self.head == other.head && self.words == other.words
    }

    /// Returns whether the description tells a part of the look.
    pub fn says(&self, look: Look) -> bool {
        self.words.iter().any(|word| look_of(word) == Some(look))
    }

    /// Returns whether only the event itself tells who is meant: "a man" may be anybody.
    pub fn is_anybody(&self) -> bool {
        self.words.is_empty() && is_one_of(&self.head, GROWN)
    }
}

/// Returns the descriptions of single persons in a caption, in the order of the text.
pub(super) fn descriptions(reading: &ParsedEvent) -> Vec<PersonDescription> {
    let of_clause = |clause| arguments(clause).filter_map(move |noun| description(noun, clause, reading));
    let mut found: Vec<PersonDescription> = reading.clauses().flat_map(of_clause).collect();
    found.sort_by_key(|one| one.range.start);
    found.dedup_by_key(|one| one.range.start);
    found
}

fn description(noun: &NounPhrase, clause: &Clause, reading: &ParsedEvent) -> Option<PersonDescription> {
    let person = gender(&noun.head).is_some() || is_one_of(&noun.head, OF_AN_AGE);
    let one = noun.number.is_none_or(|number| number == 1.0) && !noun.plural && noun.also.is_empty();
    // A "delivery man" is told by what he does, not by how he looks, and lives elsewhere.
    let looks = |word: &String| word.contains('-') || lexicon::parts_of_speech(word).can_be(PartOfSpeech::Adjective);
    let own = noun.kind == NounKind::Common
        && noun.determiner.is_some()
        && noun.owner.is_none()
        && noun.of.is_none()
        && !noun.range.is_empty();
    if !person || !one || !own || !noun.modifiers.iter().all(looks) {
        return None;
    }
    let end = description_after(noun, clause, reading).map_or(noun.range.end, end_of);
    let range = noun.range.start..end;
    let tokens = tokenise(reading.text(&range)).into_iter().filter(|token| token.kind != TokenKind::Mark);
    let words =
        tokens.map(|token| token.text).filter(|word| !is_stop_word(word) && lemma(word, Tag::Noun) != noun.head);
    let words = words.collect();
    let text = reading.text(&range).to_owned();
    Some(PersonDescription { range, person: noun.range.clone(), text, head: noun.head.clone(), words })
}

/// Returns what follows a person and describes them: "in a red coat".
fn description_after<'c>(noun: &NounPhrase, clause: &'c Clause, reading: &ParsedEvent) -> Option<&'c Adjunct> {
    let follows = |start: usize| start >= noun.range.end && start - noun.range.end <= MAX_GAP;
    let describes = |word: &str, worn: &NounPhrase| match word {
        "with" => true,
        // "A man in the garden" may be anybody.
        "in" => is_worn(worn, reading),
        _ => false,
    };
    clause.adjuncts.iter().find(|adjunct| {
        follows(adjunct.range.start) && adjunct.noun.coordinated().all(|worn| describes(&adjunct.preposition, worn))
    })
}

/// Returns where an adjunct ends, with all that is coordinated in it: "with red hair and a straw hat".
fn end_of(adjunct: &Adjunct) -> usize {
    adjunct.noun.coordinated().map(|noun| noun.range.end).fold(adjunct.range.end, usize::max)
}

/// Returns whether a thing may be worn. Dictionaries do not know all garments.
fn is_worn(noun: &NounPhrase, reading: &ParsedEvent) -> bool {
    // Glasses are no glass.
    let plural = reading.text(&noun.range).rsplit(' ').next().unwrap_or_default().to_lowercase();
    let covers = |word: &str| is_a(word, "covering") && !is_a(word, "structure");
    let unknown = lexicon::category(&noun.head, PartOfSpeech::Noun).is_none() && noun.kind == NounKind::Common;
    [noun.head.as_str(), &plural].into_iter().any(|word| look_of(word).is_some() || covers(word))
        || is_colour(&noun.head)
        || unknown
}

fn is_a(word: &str, class: &str) -> bool {
    lexicon::is_a_as(word, class, PartOfSpeech::Noun).is_some()
}

/// A part of how somebody looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    Clothes,
    Hair,
}

fn look_of(word: &str) -> Option<Look> {
    match word {
        _ if is_a(word, "hair") => Some(Look::Hair),
        _ if ["clothing", "footwear", "optical_instrument"].iter().any(|class| is_a(word, class)) => {
            Some(Look::Clothes)
        }
        _ => None,
    }
}

/// Returns which part of somebody's look a question asks for: "what coat does Ivo wear?", "what colour is Ivo's hair?".
pub(super) fn look_asked(question: &Question<'_>) -> Option<Look> {
    let asked = &question.asked;
    let class = asked.class.as_ref().map(|class| class.head.as_str());
    let wears = asked.clause.verb.as_ref().is_some_and(|verb| verb.lemma == "wear");
    match class {
        Some("colour" | "color") => question.named.iter().find_map(|noun| look_of(&noun.head)),
        _ => class.and_then(look_of).or(wears.then_some(Look::Clothes)),
    }
}

/// Returns the words for a person with what follows and describes them: "a woman in a red coat".
pub(in crate::recall) fn with_description(noun: &NounPhrase, clause: &Clause, reading: &ParsedEvent) -> String {
    let end = description_after(noun, clause, reading).map_or(noun.range.end, end_of);
    reading.text(&(noun.range.start..end)).to_owned()
}
