//! Computes the facts of one topic from its claims: reinforced, weakened or superseded, each with the interval in which it held.
//!
//! NS-Mem, Algorithm 1, weakens a node whenever another one is dissimilar, and then loses the new one. Here a claim about
//! the same attribute of the same subject either says the same (the fact is reinforced, +1), or denies it (weakened, −1, and
//! gone at 0), or says something else, which supersedes the old fact from then on. Nothing else touches a fact.
//!
//! Values say the same if the words of the one are among the words of the other, or mean the same as one of them: "on the couch"
//! reinforces "on the sofa". Whether two words do is a matter of the lexicon and not of φ, which puts "in the left pocket"
//! nearer to "in the right pocket" than any paraphrase.
//!
//! Facts are a function of their topic's claims, so a claim that is withdrawn leaves no trace, and the order in which events
//! were committed does not matter where their times differ.

use super::claim::{Attribute, Claim, FactKind, Stance};
use super::lookup::same_state;
use super::text::{ARTICLES, tokens};
use crate::index::stem;
use crate::language::english::lexicon;
use crate::{EventId, Timestamp};

/// Time, in microseconds, within which two reports of one deed by one person are one occurrence.
const SAME_OCCURRENCE_US: i64 = 60 * 1_000_000;

/// Something that is held to be so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// Kind of the fact.
    pub kind: FactKind,
    /// Subject as it is shown: "blue mug".
    pub subject: String,
    /// Attribute: "place", "colour", an attribute's name, a verb's stem.
    pub attribute: String,
    /// The value: "in the dishwasher", "red"; of a deed, who did it, or nothing.
    pub value: String,
    /// Place of a deed.
    pub place: Option<String>,
    /// Begin of its validity.
    pub since: Timestamp,
    /// End of its validity; `None` while it holds.
    pub until: Option<Timestamp>,
    /// Time of the latest claim.
    pub last: Timestamp,
    /// How often it was affirmed less how often it was denied; at least 1.
    pub weight: u32,
    /// The events that affirm it, newest last.
    pub evidence: Vec<EventId>,
}

impl Fact {
    /// Whether it held at some time within `[start, end]`.
    pub fn held_within(&self, start: Timestamp, end: Timestamp) -> bool {
        self.since <= end && self.until.is_none_or(|until| until > start)
    }
}

/// An interval under construction.
struct OpenInterval<'a> {
    claims: Vec<&'a Claim>,
    value: &'a str,
    words: Vec<ValueWord>,
    place: Option<&'a str>,
    denials: u32,
    until: Option<i64>,
}

impl OpenInterval<'_> {
    fn since(&self) -> i64 {
        self.claims.first().map_or(0, |claim| claim.from)
    }

    fn fact(&self, kind: FactKind, subject: &str, attribute: &str) -> Fact {
        let affirmed = u32::try_from(self.claims.len()).unwrap_or(u32::MAX);
        Fact {
            kind,
            subject: subject.into(),
            attribute: attribute.into(),
            value: self.value.into(),
            place: self.place.map(str::to_owned),
            since: Timestamp::from_micros(self.since()),
            until: self.until.map(Timestamp::from_micros),
            last: Timestamp::from_micros(self.claims.last().map_or(0, |claim| claim.from)),
            weight: affirmed.saturating_sub(self.denials),
            evidence: self.claims.iter().map(|claim| claim.event).collect(),
        }
    }
}

/// The facts of a topic, in order of time. `claims` are sorted.
pub(crate) fn facts<'a>(subject: &str, attribute: &Attribute, claims: impl Iterator<Item = &'a Claim>) -> Vec<Fact> {
    let intervals = match attribute.kind() {
        FactKind::Deed => occurrences(claims),
        _ => intervals(claims),
    };
    intervals.iter().map(|open| open.fact(attribute.kind(), subject, attribute.name())).collect()
}

/// Computes the intervals of an attribute with one value at a time.
fn intervals<'a>(claims: impl Iterator<Item = &'a Claim>) -> Vec<OpenInterval<'a>> {
    let mut done: Vec<OpenInterval<'a>> = Vec::new();
    let mut current: Option<OpenInterval<'a>> = None;
    for claim in claims {
        // What was told to end is over before anything later is looked at.
        if current.as_ref().is_some_and(|open| open.until.is_some_and(|until| until < claim.from)) {
            done.extend(current.take());
        }
        let words = value_words(&claim.value);
        let same = current.as_ref().is_some_and(|open| says_the_same(&open.words, &words));
        match (claim.stance, current.as_mut().filter(|_| same)) {
            (Stance::Affirms, Some(open)) => {
                open.claims.push(claim);
                if words.len() > open.words.len() {
                    (open.value, open.words) = (&claim.value, words);
                }
                open.until = claim.until.or(open.until.filter(|until| *until > claim.from));
            }
            (Stance::Affirms, None) => {
                if let Some(mut old) = current.take() {
                    old.until = Some(claim.from);
                    done.push(old);
                }
                current = Some(OpenInterval {
                    claims: vec![claim],
                    value: &claim.value,
                    words,
                    place: claim.place.as_deref(),
                    denials: 0,
                    until: claim.until,
                });
            }
            (Stance::Ends, Some(open)) => {
                open.until = Some(claim.from);
                done.extend(current.take());
            }
            (Stance::Denies, Some(open)) => {
                open.denials += 1;
                if open.denials as usize >= open.claims.len() {
                    current = None;
                }
            }
            // Nobody said that it was so.
            (Stance::Ends | Stance::Denies, None) => {}
        }
    }
    done.extend(current);
    // Of two that began at one moment the later told one holds.
    done.retain(|open| open.until.is_none_or(|until| until > open.since()));
    done
}

/// Every occurrence for itself; two that are told of one moment by one person are one.
fn occurrences<'a>(claims: impl Iterator<Item = &'a Claim>) -> Vec<OpenInterval<'a>> {
    let mut found: Vec<OpenInterval<'a>> = Vec::new();
    for claim in claims.filter(|claim| claim.stance == Stance::Affirms) {
        let same = found.iter_mut().rev().find(|open| {
            let last = open.claims.last().map_or(i64::MIN, |claim| claim.from);
            open.value == &*claim.value && claim.from.saturating_sub(last) <= SAME_OCCURRENCE_US
        });
        match same {
            Some(open) => open.claims.push(claim),
            None => found.push(OpenInterval {
                claims: vec![claim],
                value: &claim.value,
                words: Vec::new(),
                place: claim.place.as_deref(),
                denials: 0,
                until: Some(claim.until.unwrap_or(claim.from)),
            }),
        }
    }
    found
}

/// A word of a value.
struct ValueWord {
    text: String,
    stem: String,
}

impl ValueWord {
    fn means(&self, other: &Self) -> bool {
        self.stem == other.stem
            || same_state(&self.text, &other.text)
            || lexicon::similarity(&self.text, &other.text) >= SAME_MEANING
    }
}

/// τ_pos: the similarity from which two words mean the same. Synonyms in one of their first two senses reach it.
const SAME_MEANING: f32 = 0.8;

/// The words of a value that tell it from others: "in the kitchen" and "the kitchen" are one place.
fn value_words(value: &str) -> Vec<ValueWord> {
    /// Prepositions that do not distinguish values: "in the kitchen" and "the kitchen" are one place.
    const IGNORED_PREPOSITIONS: &[&str] = &["in", "on", "at", "into", "onto", "to", "inside", "within"];
    let mut words = tokens(&value.replace('_', " "));
    words.retain(|word| !word.is_one_of(ARTICLES) && !word.is_one_of(IGNORED_PREPOSITIONS));
    words.into_iter().map(|word| ValueWord { stem: stem(&word.lower), text: word.lower }).collect()
}

/// Whether one value only says in other words, or more precisely, what the other says.
fn says_the_same(a: &[ValueWord], b: &[ValueWord]) -> bool {
    let (few, many) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if few.is_empty() {
        return many.is_empty();
    }
    few.iter().all(|word| many.iter().any(|other| word.means(other)))
}
