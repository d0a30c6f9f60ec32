//! Resolves "he", "she" and "it" to the last fitting mention within the source.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::text::Noun;
use crate::language::english::gender::{gender, pronoun_gender};
use crate::{Event, EventId};

/// Maximum age of a mention, in microseconds.
const MAX_AGE_US: i64 = 5 * 60 * 1_000_000;
/// Maximum number of mentions kept for a source.
const MAX_MENTIONS: usize = 8;
/// Maximum number of sources. Beyond it, the one that was silent longest is evicted.
const MAX_SOURCES: usize = 32;

/// A person or thing that an event named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mention {
    pub event: EventId,
    /// When, microseconds.
    pub at: i64,
    pub noun: Noun,
    pub person: bool,
}

/// Latest mentions of a source, each noun once.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Mentions {
    latest: Vec<Mention>,
    /// The last event with a pronoun that could mean something else if an earlier mention had never been made: then another
    /// mention would be in `latest` that is not there now.
    unsettled: EventId,
}

/// The last mentions of every source.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct MentionContext {
    sources: BTreeMap<String, Mentions>,
    /// The last event that took the place of a source.
    displaced: EventId,
}

/// The first version of [`MentionContext`], which did not note what is unsettled.
#[derive(Serialize, Deserialize)]
pub(crate) struct Context1 {
    sources: BTreeMap<String, Vec<Mention>>,
}

impl Context1 {
    /// The context after events up to `last`, any of which may have left something unsettled.
    pub fn up_to(self, last: EventId) -> MentionContext {
        let sources = self.sources.into_iter().map(|(source, latest)| (source, Mentions { latest, unsettled: last }));
        MentionContext { sources: sources.collect(), displaced: last }
    }
}

#[cfg(test)]
impl From<MentionContext> for Context1 {
    fn from(context: MentionContext) -> Self {
        Self { sources: context.sources.into_iter().map(|(source, mentions)| (source, mentions.latest)).collect() }
    }
}

impl MentionContext {
    /// Remembers a mention. What is mentioned again is the last one again.
    pub fn mention(&mut self, source: &str, mention: Mention) {
        if !self.sources.contains_key(source) && self.sources.len() == MAX_SOURCES {
            let latest = |mentions: &Mentions| mentions.latest.last().map(|mention| mention.event);
            let silent = self.sources.iter().min_by_key(|(_, mentions)| latest(mentions)).map(|(name, _)| name.clone());
            silent.and_then(|name| self.sources.remove(&name));
            self.displaced = mention.event;
        }
        let mentions = &mut self.sources.entry(source.to_owned()).or_default().latest;
        mentions.retain(|known| known.noun.key != mention.noun.key);
        mentions.push(mention);
        if mentions.len() > MAX_MENTIONS {
            mentions.remove(0);
        }
    }

    /// Resolves a pronoun of `event`, said in its source by `speaker`.
    pub fn resolve(&mut self, pronoun: &str, event: &Event, speaker: Option<&Noun>) -> Option<&Mention> {
        let person = match pronoun {
            "he" | "him" | "his" | "she" | "her" | "hers" => true,
            "it" | "its" | "they" | "them" | "their" => false,
            _ => return None,
        };
        let asked = pronoun_gender(pronoun);
        let at = event.span.start.as_micros();
        let fits = |mention: &Mention| {
            let called = mention.noun.shown.split_whitespace().find_map(gender);
            mention.person == person
                && (!person || called.is_none() || called == asked)
                && speaker.is_none_or(|speaker| speaker.key != mention.noun.key)
        };
        let Mentions { latest, unsettled } = self.sources.get_mut(&event.source)?;
        // Without a mention that is too far away, an earlier one of the same noun would be there, which may be nearer.
        let mut is_settled = true;
        for mention in latest.iter().rev().filter(|mention| fits(mention)) {
            if at.abs_diff(mention.at) <= MAX_AGE_US.unsigned_abs() {
                if !is_settled {
                    *unsettled = event.id;
                }
                return Some(mention);
            }
            is_settled = false;
        }
        // Without any of so many, one more would be there.
        if !is_settled || latest.len() == MAX_MENTIONS {
            *unsettled = event.id;
        }
        None
    }

    /// Takes back what hidden events mentioned. `first` is the first one of every source, `None` where the source is not
    /// known. Returns whether the mentions are then those that would be there if the events had never been, and every pronoun
    /// that was read means what it would have meant, unless it meant one of theirs.
    pub fn withdraw(&mut self, hidden: &[EventId], first: &BTreeMap<Option<String>, EventId>) -> bool {
        let mut exact = first.iter().all(|(source, first)| {
            let mut concerned =
                self.sources.iter().filter(|(name, _)| source.as_ref().is_none_or(|source| source == *name));
            self.displaced < *first && concerned.all(|(_, mentions)| mentions.unsettled < *first)
        });
        self.sources.retain(|_, mentions| {
            let known = mentions.latest.len();
            mentions.latest.retain(|mention| hidden.binary_search(&mention.event).is_err());
            exact &= mentions.latest.len() == known;
            !mentions.latest.is_empty()
        });
        exact
    }
}
