//! Similarity of two noun phrases as names of one thing: "the other one" is another thing.

use super::content::word_similarity;
use super::reading::{ParsedEvent, name_phrase};
use crate::language::english::lexicon;
use crate::language::english::syntax::{Adjunct, Clause, NounKind, NounPhrase};

/// Similarity of the heads below which two noun phrases name different things.
const MIN_HEAD_SIMILARITY: f32 = 0.6;
/// Factor for a modifier of the question that the event does not state.
const MISSING_MODIFIER_FACTOR: f32 = 0.85;
/// Factor for a modifier that the event contradicts.
const CONFLICTING_MODIFIER_FACTOR: f32 = 0.25;
/// Factor for a thing that is told to be somebody else's.
const OTHER_OWNER_FACTOR: f32 = 0.4;

/// Minimum similarity of two phrases for things of one kind, whosever they are.
const MIN_OWNED_SIMILARITY: f32 = 0.8;
/// Greatest similarity of somebody else's thing to the one in question, as a share of that without owners.
const OTHER_OWNER_SHARE: f32 = 0.5;

/// Similarity of a noun phrase of an event to one of the question, from 0 to 1.
pub(super) fn phrase_similarity(asked: &NounPhrase, told: &NounPhrase, reading: &ParsedEvent) -> f32 {
    let direct = single_phrase_similarity(asked, told, reading);
    // "The jam" is in "a jar of jam"; "the jar" is the same jar.
    let of = told.of.as_deref().map_or(0.0, |of| 0.85 * single_phrase_similarity(asked, of, reading));
    let beside = told.also.iter().map(|also| 0.95 * single_phrase_similarity(asked, also, reading)).fold(0.0, f32::max);
    direct.max(of).max(beside)
}

fn single_phrase_similarity(asked: &NounPhrase, told: &NounPhrase, reading: &ParsedEvent) -> f32 {
    if told.is_pronoun() || asked.is_pronoun() {
        return 0.0;
    }
    // "The grey one": any head will do.
    let wild = matches!(asked.head.as_str(), "one" | "ones");
    let mut head = if wild { 0.8 } else { word_similarity(&asked.head, &told.head) };
    // A name may be next to its noun: "his dog Rex" matches "Rex" and "the dog".
    if head < MIN_HEAD_SIMILARITY {
        let named = told.modifiers.iter().map(|word| word_similarity(&asked.head, word)).fold(0.0, f32::max);
        let as_head = asked.kind == NounKind::Name || told.kind == NounKind::Name;
        head = head.max(if as_head { 0.95 * named } else { 0.0 });
    }
    if head < MIN_HEAD_SIMILARITY {
        return 0.0;
    }
    let mut told_words: Vec<String> = told.modifiers.clone();
    told_words.push(told.head.clone());
    if let Some(owner) = &told.owner {
        match reading.resolve(owner) {
            Some(owner) => told_words.extend(owner.lemmas().into_iter().map(str::to_owned)),
            None => told_words.push(owner.head.clone()),
        }
    }
    told_words.extend(told.of.iter().flat_map(|of| of.lemmas()).map(str::to_owned));
    let tells_apart = !asked.modifiers.is_empty() || asked.of.is_some();
    let purpose = if tells_apart { reading.clauses().find_map(|clause| attached(told, clause)) } else { None };
    told_words.extend(purpose.into_iter().flat_map(NounPhrase::lemmas).map(str::to_owned));
    let mut value = head;
    // "Grandpa" and his name are one owner.
    let owners: Vec<Vec<&str>> = asked
        .owner
        .iter()
        .filter(|owner| !owner.is_pronoun())
        .flat_map(|owner| owner.coordinated().map(lemmas_without_title))
        .collect();
    let of = asked.of.iter().flat_map(|of| of.lemmas());
    for word in asked.modifiers.iter().map(String::as_str).chain(of) {
        let best = told_words.iter().map(|other| word_similarity(word, other)).fold(0.0, f32::max);
        // "The red one" is told by nothing but its colour.
        if best < MIN_HEAD_SIMILARITY && wild {
            return 0.0;
        }
        if best < MIN_HEAD_SIMILARITY {
            let other = told.modifiers.iter().any(|other| are_exclusive(word, other));
            value *= if other { CONFLICTING_MODIFIER_FACTOR } else { MISSING_MODIFIER_FACTOR };
        }
    }
    // A thing may be told without its owner, whose title is no other owner.
    let is_missing = |word: &&str| {
        told_words.iter().map(|other| word_similarity(word, other)).fold(0.0, f32::max) < MIN_HEAD_SIMILARITY
    };
    if !owners.is_empty() && owners.iter().all(|owner| owner.iter().any(is_missing)) {
        let speaker = reading.event.entity.as_deref().map(name_phrase);
        let is_speaker = |owner: &Vec<&str>| {
            speaker.as_ref().is_some_and(|speaker| owner.iter().all(|word| speaker.lemmas().contains(word)))
        };
        let by_owner = owners.iter().any(is_speaker);
        if !by_owner && is_of_another(asked, told, reading) {
            return OTHER_OWNER_FACTOR * value;
        }
        value *= if by_owner { 0.97 } else { 0.9 };
    }
    // A more specific phrase may name another thing of the kind.
    let asked_words: Vec<&str> = asked.lemmas();
    let extra = told
        .modifiers
        .iter()
        .filter(|word| !asked_words.iter().any(|asked| word_similarity(asked, word) >= MIN_HEAD_SIMILARITY));
    for word in extra {
        let numbered = word.chars().all(|c| c.is_ascii_digit());
        value *= if numbered { 0.7 } else { 0.97 };
    }
    value
}

/// Returns the words of a person's name without a role or a title before it: "Perpetua" of "Granny Perpetua".
fn lemmas_without_title(owner: &NounPhrase) -> Vec<&str> {
    let is_title = |word: &&str| lexicon::is_a_as(word, "person", lexicon::PartOfSpeech::Noun).is_some();
    let mut lemmas = owner.lemmas();
    if owner.kind == NounKind::Name && lexicon::category(&owner.head, lexicon::PartOfSpeech::Noun).is_none() {
        let last = lemmas.len();
        let titles = lemmas.iter().take_while(|word| is_title(word)).count();
        lemmas.drain(..titles.min(last.saturating_sub(1)));
    }
    lemmas
}

/// Returns what stands right behind a thing and says what it is for: "the key to the cellar".
pub(super) fn attached<'c>(noun: &NounPhrase, clause: &'c Clause) -> Option<&'c NounPhrase> {
    let behind = |adjunct: &&Adjunct| adjunct.range.start == noun.range.end + 1 && noun.range.end > 0;
    let purpose = |adjunct: &&Adjunct| matches!(adjunct.preposition.as_str(), "for" | "to");
    clause.adjuncts.iter().filter(behind).find(purpose).map(|adjunct| &adjunct.noun)
}

/// Returns whether a thing is told to be of a person of another name. Who a role stands for must be known.
fn is_of_another(asked: &NounPhrase, told: &NounPhrase, reading: &ParsedEvent) -> bool {
    let is_name = |owner: &NounPhrase| {
        owner.kind == NounKind::Name && lexicon::category(&owner.head, lexicon::PartOfSpeech::Noun).is_none()
    };
    let own = told.owner.as_deref().and_then(|owner| reading.resolve(owner));
    asked.owner.as_ref().is_some_and(|owner| owner.coordinated().any(is_name)) && own.as_ref().is_some_and(is_name)
}

/// Returns whether one of the things is somebody's, and an event tells of such a thing only as somebody else's.
pub(super) fn is_owned_by_another(things: &[NounPhrase], reading: &ParsedEvent) -> bool {
    let owned = |noun: &&NounPhrase| noun.owner.as_ref().is_some_and(|owner| !owner.is_pronoun());
    things.iter().filter(owned).any(|thing| {
        let alone = best_phrase_similarity(&thing.head_alone(), reading);
        alone >= MIN_OWNED_SIMILARITY && best_phrase_similarity(thing, reading) <= OTHER_OWNER_SHARE * alone
    })
}

/// Returns whether two modifiers cannot both be true: two numbers, two colours, opposites.
fn are_exclusive(a: &str, b: &str) -> bool {
    let number = |word: &str| word.chars().all(|c| c.is_ascii_digit());
    if number(a) && number(b) {
        return a != b;
    }
    let colour = |word: &str| is_colour(word);
    (colour(a) && colour(b) && word_similarity(a, b) < 0.9) || lexicon::are_opposites(a, b)
}

/// Returns whether a word names a colour.
pub(super) fn is_colour(word: &str) -> bool {
    // "Mustard-yellow" is a yellow.
    let word = word.rsplit('-').next().unwrap_or(word);
    matches!(word, "gold" | "golden" | "silver")
        || lexicon::is_a(word, "chromatic color").is_some()
        || lexicon::is_a(word, "achromatic color").is_some()
}

/// Similarity of a noun phrase of the question to an event: the best over the event's phrases and its entity.
pub(super) fn best_phrase_similarity(asked: &NounPhrase, reading: &ParsedEvent) -> f32 {
    let phrases = reading.clauses().flat_map(super::reading::arguments).filter_map(|noun| reading.resolve(noun));
    let entity = reading.entity_phrase();
    phrases.chain(entity).map(|told| phrase_similarity(asked, &told, reading)).fold(0.0, f32::max)
}
