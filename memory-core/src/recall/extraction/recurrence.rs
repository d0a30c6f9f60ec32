//! Events that recur: the same was seen or told at about the same hour on another day.

use std::collections::{BTreeSet, HashSet};

use crate::Intent;
use crate::index::{is_stop_word, stem, words};
use crate::recall::pool::RetrievedEvent;
use crate::recall::question::Question;

/// Minimum share of two events' words that they have in common (Jaccard). Habits are told in other words each day.
const MIN_COMMON_WORDS: f32 = 0.3;
/// Maximum difference of the hours of a habit, in minutes.
const MAX_MINUTES_APART: i32 = 60;
/// Maximum number of other days that count.
const MAX_DAYS: usize = 2;
const MINUTES_OF_DAY: i32 = 24 * 60;

/// Returns on how many other days each event recurs, at most [`MAX_DAYS`]; zero if the question asks for no habit.
pub(super) fn days_of_recurrence(question: &Question<'_>, events: &[RetrievedEvent]) -> Vec<u8> {
    if !question.asked.habitual && question.intent != Intent::Character {
        return vec![0; events.len()];
    }
    let zone = question.now.time_zone();
    let told: Vec<Told> = events
        .iter()
        .map(|found| {
            let at = found.span().start.to_jiff().to_zoned(zone.clone());
            let own = words(&found.reading.event.text).filter(|word| !is_stop_word(word));
            Told {
                date: at.date(),
                minute: i32::from(at.hour()) * 60 + i32::from(at.minute()),
                stems: own.map(|word| stem(&word)).collect(),
            }
        })
        .collect();
    let days = told.iter().map(|one| {
        let again = told.iter().filter(|other| one.recurs_as(other)).map(|other| other.date);
        again.collect::<BTreeSet<_>>().len().min(MAX_DAYS)
    });
    days.map(|days| u8::try_from(days).unwrap_or_default()).collect()
}

/// When an event was, and its words.
struct Told {
    date: jiff::civil::Date,
    minute: i32,
    stems: HashSet<String>,
}

impl Told {
    fn recurs_as(&self, other: &Self) -> bool {
        let apart = (self.minute - other.minute).abs();
        let all = self.stems.union(&other.stems).count().max(1);
        #[expect(clippy::cast_precision_loss, reason = "words of a text")]
        let common = self.stems.intersection(&other.stems).count() as f32 / all as f32;
        self.date != other.date && apart.min(MINUTES_OF_DAY - apart) <= MAX_MINUTES_APART && common >= MIN_COMMON_WORDS
    }
}
