//! How far an answer and an option say the same.

use super::sole_number;
use crate::language::english::question::AnswerKind;
use crate::language::english::syntax::parse;
use crate::language::english::tag::Tag;
use crate::language::english::time::{Tense, WholeTime, times_a_day, whole_times_told};
use crate::recall::answerers::times::MAX_CLOCK_SPAN;
use crate::recall::candidate::CandidateValue;
use crate::recall::content::Content;
use crate::recall::quantities::quantities;
use crate::recall::question::Question;
use crate::recall::reading::is_content_word;
use crate::{TimeSpan, Timestamp};

/// Maximum distance, in minutes, of an option from the usual time that it is.
const MAX_MINUTES_APART: i32 = 20;

/// How far an answer, given as its text and value, and an option say the same, from 0 to 1: as yes or no, as numbers, as
/// times, else the share of the option's words.
pub(super) fn agreement(
    question: &Question<'_>,
    (text, value): (&str, &CandidateValue),
    option: &str,
    content: &Content,
) -> f32 {
    let is = |same: bool| f32::from(u8::from(same));
    if let CandidateValue::Truth(yes) = value {
        return is(option.to_lowercase().starts_with(if *yes { "yes" } else { "no" }));
    }
    if question.ask() == AnswerKind::Times
        && let (Some(own), Some(told)) = (times_a_day(option), times_a_day(text))
    {
        return is((own - told).abs() < f64::EPSILON);
    }
    let told = quantities(text);
    if let Some((own, unit)) = sole_number(option).filter(|_| !told.is_empty()) {
        let same_unit = |told: &str| unit.is_empty() || told.is_empty() || unit == told;
        return is(told.iter().any(|told| (own - told.value).abs() < 1e-6 && same_unit(&told.unit)));
    }
    let times = |text: &str| whole_times_told(text, &question.now, question.tense);
    let told: Option<Vec<TimeSpan>> = match value {
        CandidateValue::Times(spans) => Some(spans.clone()),
        _ => times(text).map(|times| times.into_iter().map(|time| time.span).collect()),
    };
    if let (Some(own), Some(told)) = (times(option), told) {
        let usual = question.tense != Tense::Past && told.len() > 1;
        let agrees = |own: &WholeTime, told: &TimeSpan| {
            told.overlaps(own.span) || usual && is_same_hour(question, own.span, *told)
        };
        return is(own.iter().any(|own| told.iter().any(|told| agrees(own, told))));
    }
    let said = match value {
        CandidateValue::List(items) => items.join(", "),
        _ => text.to_owned(),
    };
    if said.trim().eq_ignore_ascii_case(option.trim()) { 1.0 } else { content.share_of_lemmas(&lemmas_of(&said)) }
}

/// Whether two times begin at about the same hour on the clock, of whichever day and half of it.
fn is_same_hour(question: &Question<'_>, one: TimeSpan, other: TimeSpan) -> bool {
    let minute = |at: Timestamp| {
        let at = at.to_jiff().to_zoned(question.now.time_zone().clone());
        i32::from(at.hour()) % 12 * 60 + i32::from(at.minute())
    };
    let apart = (minute(one.start) - minute(other.start)).abs();
    one.end.since(one.start) <= MAX_CLOCK_SPAN && apart.min(12 * 60 - apart) <= MAX_MINUTES_APART
}

/// Returns the words of a text that carry content, with their tags.
fn lemmas_of(text: &str) -> Vec<(String, Tag)> {
    let (words, _) = parse(text, &[]);
    words.iter().filter(|word| is_content_word(word)).map(|word| (word.lemma.clone(), word.tag)).collect()
}
