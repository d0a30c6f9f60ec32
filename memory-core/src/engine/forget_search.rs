//! Finds the events that a request to forget covers. It reads all events, because forgetting is rare and must not miss an event
//! that a secondary table has lost, or that names somebody only in its text. This happens before the writer's lock is taken;
//! under the lock only newer events are read.

use std::collections::BTreeSet;

use redb::ReadableTable;

use crate::store::failure::{Failure, Result, if_sound};
use crate::store::records::{EVENT, EventBody, EventRow, decode_attributes};
use crate::store::tables;
use crate::words::{fold_name, words};
use crate::{EventId, TimeSpan};

/// Words that may mean somebody whose name was said before.
const PRONOUNS: [&str; 10] = ["he", "him", "his", "she", "her", "hers", "they", "them", "their", "theirs"];

/// Condition for an event to be forgotten.
pub(crate) enum Meant {
    /// The event overlaps the span.
    Span(TimeSpan),
    /// The event names one of these.
    Names(Vec<Name>),
}

/// A name as it is looked for.
pub(crate) struct Name {
    folded: String,
    words: Vec<String>,
}

/// Result of a search for events to forget.
#[derive(Debug, Default)]
pub(crate) struct ForgetMatches {
    /// Events that are meant.
    pub events: BTreeSet<u64>,
    /// Events that hold a longer word that begins with the name.
    pub doubtful: BTreeSet<u64>,
    /// Events whose records do not decode.
    pub damaged: BTreeSet<u64>,
    /// The last event that was looked at.
    pub last: u64,
}

/// How an event stands to a name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum NameMatch {
    No,
    Perhaps,
    Yes,
}

impl Name {
    pub fn new(name: &str) -> Self {
        let folded = fold_name(name);
        Self { words: words(&folded).collect(), folded }
    }

    /// Whether a text names it: its words in a row, the last one perhaps with the `s` of a possessive.
    fn in_text(&self, text: &str) -> NameMatch {
        let text = text.to_lowercase();
        // Most texts do not hold the letters.
        if !text.contains(self.words.first().unwrap_or(&self.folded)) {
            return NameMatch::No;
        }
        let Some((last, first)) = self.words.split_last() else {
            return if text.contains(&self.folded) { NameMatch::Yes } else { NameMatch::No };
        };
        let own: Vec<String> = words(&text).collect();
        let mut best = NameMatch::No;
        for row in own.windows(self.words.len()) {
            let (end, begin) = row.split_last().expect("a name has words");
            if begin != first {
                continue;
            }
            match end.strip_prefix(last.as_str()) {
                Some("" | "s") => return NameMatch::Yes,
                Some(_) => best = NameMatch::Perhaps,
                None => {}
            }
        }
        best
    }

    /// Whether an event names it in any field. A source is a program, and is meant only if it has just that name.
    fn in_event(&self, body: &EventBody) -> Result<NameMatch> {
        if fold_name(&body.source) == self.folded {
            return Ok(NameMatch::Yes);
        }
        let fields = [Some(&body.text), body.entity.as_ref(), body.sender_id.as_ref()];
        let mut found = fields.into_iter().flatten().map(|text| self.in_text(text)).max().unwrap_or(NameMatch::No);
        if found < NameMatch::Yes && body.attributes.is_some() {
            let attributes = decode_attributes(body.attributes.as_deref())
                .map_err(|detail| Failure::damaged(EVENT.table, body.episode, detail))?;
            for (key, value) in &attributes {
                found = found.max(self.in_text(key));
                value.for_each_text(&mut |text| found = found.max(self.in_text(text)));
            }
        }
        Ok(found)
    }
}

impl ForgetMatches {
    /// Looks through the visible events after the last one.
    pub fn look_through(&mut self, events: &impl ReadableTable<u64, &'static [u8]>, meant: &Meant) -> Result<()> {
        for entry in events.range(self.last.saturating_add(1)..)? {
            let (key, value) = entry?;
            let id = key.value();
            self.last = id;
            let row = if_sound(tables::open_numbered(EVENT, id, value.value()))?;
            let naming = match (row, meant) {
                (Some(EventRow::Live(body)), Meant::Span(span)) if body.span().overlaps(*span) => Some(NameMatch::Yes),
                (Some(EventRow::Live(body)), Meant::Names(names)) => {
                    let each = names.iter().map(|name| name.in_event(&body)).collect::<Result<Vec<_>>>();
                    if_sound(each)?.map(|each| each.into_iter().max().unwrap_or(NameMatch::No))
                }
                (Some(_), _) => Some(NameMatch::No),
                (None, _) => None,
            };
            match naming {
                Some(NameMatch::Yes) => self.events.insert(id),
                Some(NameMatch::Perhaps) => self.doubtful.insert(id),
                Some(NameMatch::No) => continue,
                None => self.damaged.insert(id),
            };
        }
        Ok(())
    }

    /// Returns the events in doubt in ascending order, `more` among them, without those hidden now.
    pub fn in_doubt(&self, more: BTreeSet<u64>, hidden: &[EventId]) -> Vec<EventId> {
        let mut doubtful: BTreeSet<EventId> = self.doubtful.iter().copied().chain(more).map(EventId).collect();
        for event in hidden {
            doubtful.remove(event);
        }
        doubtful.into_iter().collect()
    }
}

/// Whether a text speaks of somebody without a name.
pub(crate) fn has_pronoun(text: &str) -> bool {
    words(&text.to_lowercase()).any(|word| PRONOUNS.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_as_words_and_a_longer_word_is_in_doubt() {
        let anna = Name::new(" Anna ");
        for text in ["Anna is here", "that is ANNA's", "ask anna-lena", "Annas Tasse", "(anna)"] {
            assert!(anna.in_text(text) == NameMatch::Yes, "{text}");
        }
        assert!(anna.in_text("Annabelle is here") == NameMatch::Perhaps);
        for text in ["Hanna is here", "an nap", "banana"] {
            assert!(anna.in_text(text) == NameMatch::No, "{text}");
        }
        let two = Name::new("Anna Schmidt");
        assert!(
            two.in_text("I met anna schmidt") == NameMatch::Yes && two.in_text("Anna and Schmidt") == NameMatch::No
        );
        assert!(Name::new("★").in_text("a ★ is seen") == NameMatch::Yes);
    }
}
