//! Resolves "he", "she" and "it" to the last fitting mention within the source.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::lexicon::is_woman;
use super::text::Noun;
use crate::EventId;

/// How long a mention is remembered, microseconds.
const REACH: i64 = 5 * 60 * 1_000_000;
/// Mentions that a source keeps.
const MENTIONS: usize = 8;
/// Sources that are kept; beyond it the one that was silent for longest goes.
const SOURCES: usize = 32;

/// Somebody or something that an event named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mention {
    pub event: EventId,
    /// When, microseconds.
    pub at: i64,
    pub noun: Noun,
    pub person: bool,
}

/// The last mentions of every source.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Context {
    sources: BTreeMap<String, Vec<Mention>>,
}

impl Context {
    /// Remembers a mention. What is mentioned again is the last one again.
    pub fn mention(&mut self, source: &str, mention: Mention) {
        if !self.sources.contains_key(source) && self.sources.len() == SOURCES {
            let latest = |mentions: &Vec<Mention>| mentions.last().map(|mention| mention.event);
            let silent = self.sources.iter().min_by_key(|(_, mentions)| latest(mentions)).map(|(name, _)| name.clone());
            silent.and_then(|name| self.sources.remove(&name));
        }
        let mentions = self.sources.entry(source.to_owned()).or_default();
        mentions.retain(|known| known.noun.key != mention.noun.key);
        mentions.push(mention);
        if mentions.len() > MENTIONS {
            mentions.remove(0);
        }
    }

    /// Whom or what a pronoun means, said in `source` at `at` by `speaker`.
    pub fn resolve(&self, pronoun: &str, source: &str, at: i64, speaker: Option<&Noun>) -> Option<&Mention> {
        let (person, woman) = match pronoun {
            "he" | "him" | "his" => (true, Some(false)),
            "she" | "her" | "hers" => (true, Some(true)),
            "it" | "its" | "they" | "them" | "their" => (false, None),
            _ => return None,
        };
        let fits = |mention: &&Mention| {
            let gender = is_woman(&mention.noun.shown);
            mention.person == person
                && (!person || gender.is_none() || gender == woman)
                && at.abs_diff(mention.at) <= REACH.unsigned_abs()
                && speaker.is_none_or(|speaker| speaker.key != mention.noun.key)
        };
        self.sources.get(source)?.iter().rev().find(fits)
    }

    /// Takes back what hidden events mentioned.
    pub fn withdraw(&mut self, hidden: &[EventId]) {
        self.sources.retain(|_, mentions| {
            mentions.retain(|mention| hidden.binary_search(&mention.event).is_err());
            !mentions.is_empty()
        });
    }
}
