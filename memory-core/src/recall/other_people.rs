//! Somebody else's own affairs: "I sold my boat" of Piotr says nothing of Oda's boat.

use super::candidate::{Candidate, Layer};
use super::pool::EventPool;
use crate::language::english::address::tells_of_speaker_only;
use crate::language::english::tag::{Tag, Word};
use crate::{Event, Kind};

/// The people in a question who speak in memory.
pub(super) struct PeopleAskedAbout(Vec<String>);

impl PeopleAskedAbout {
    /// Returns the people that the question of a pool names.
    pub fn of(pool: &EventPool<'_>) -> Self {
        let question = pool.question;
        let is_name = |word: &&Word| word.capital && word.tag == Tag::Name;
        let names = question.asked.words.chunk_by(|one, next| is_name(&one) == is_name(&next));
        let names = names.filter(|run| run.iter().all(|word| is_name(&word)));
        let text = |first: &Word, last: &Word| question.text.get(first.range.start..last.range.end).unwrap_or_default();
        let whole_or_parts = |run: &[Word]| -> Vec<String> {
            let whole = run.first().zip(run.last()).map(|(first, last)| text(first, last));
            match whole.filter(|name| pool.is_speaker(name)) {
                Some(name) => vec![name.to_owned()],
                None => run
                    .iter()
                    .map(|word| text(word, word))
                    .filter(|name| pool.is_speaker(name))
                    .map(str::to_owned)
                    .collect(),
            }
        };
        Self(names.flat_map(whole_or_parts).collect())
    }

    /// Returns whether a speaker tells of themselves only, and is none of these people.
    pub fn are_not_in(&self, event: &Event) -> bool {
        let Some(speaker) = event.entity.as_deref().filter(|_| event.kind == Kind::Text) else { return false };
        let is_other =
            |person: &String| !speaker.eq_ignore_ascii_case(person) && tells_of_speaker_only(&event.text, person);
        !self.0.is_empty() && self.0.iter().all(is_other)
    }

    /// Returns whether a candidate rests on one event, in which another person tells of themselves.
    pub fn are_not_in_evidence_of(&self, candidate: &Candidate) -> bool {
        let first = candidate.evidence.first();
        candidate.layer == Layer::Episodes && first.is_some_and(|found| self.are_not_in(&found.reading.event))
    }
}
