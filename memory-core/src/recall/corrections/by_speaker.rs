//! Statements that their own speaker corrects without naming the subject again.

use std::ops::Range;
use std::time::Duration;

use super::{CorrectedStatement, correction_in, is_correctable};
use crate::index::{Holding, SearchQuery, is_stop_word, words};
use crate::language::english::correction::{begins_self_correction, may_correct};
use crate::language::english::question::AnswerKind;
use crate::language::english::tag::Tag;
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::reading::ParsedEvent;
use crate::{Kind, ReadError, TimeSpan};

/// Time within which speakers correct themselves without naming the subject again.
const AT_ONCE: Duration = Duration::from_secs(600);
/// Maximum number of statements whose speakers may have corrected themselves, the best ones.
const MAX_CORRECTED_BY_SPEAKER: usize = 8;
/// Minimum coverage of the question by a statement that its speaker corrected, relative to the best one.
const MIN_RELATIVE_COVERAGE: f32 = 0.6;
/// Time within which speakers deny a value that they told, without naming the subject again.
const DENIED_LATER: Duration = Duration::from_secs(3 * 24 * 3_600);
/// Maximum number of texts of a speaker that name a value again which are looked through for a denial of it.
const MAX_LATER_TEXTS: usize = 16;
/// Maximum number of texts after a statement that are looked through for its correction.
const MAX_NEXT_TEXTS: usize = 4;

/// Returns what was said of the subject and corrected by its speaker without naming that again: right after ("It is at six."
/// "No, hang on: at seven."), or later by denying the very value that was said ("not six: at seven").
pub(super) fn corrected_by_speaker(
    pool: &EventPool<'_>,
    found: &[RetrievedEvent],
) -> Result<Vec<CorrectedStatement>, ReadError> {
    let mut pairs = Vec::new();
    let mut told: Vec<&RetrievedEvent> = found.iter().filter(|one| one.is_told() && is_correctable(one)).collect();
    told.retain(|one| !one.reading.times.is_empty() || !one.reading.quantities().is_empty());
    told.sort_by(|a, b| b.fitness().total_cmp(&a.fitness()).then(a.id().cmp(&b.id())));
    // Whatever else the speakers corrected is not asked.
    let best = told.iter().map(|one| one.coverage.of_content).fold(0.0, f32::max);
    told.retain(|one| one.coverage.of_content >= MIN_RELATIVE_COVERAGE * best);
    for earlier in told.into_iter().take(MAX_CORRECTED_BY_SPEAKER) {
        let later = match corrected_at_once(pool, earlier)? {
            Some(later) => Some(later),
            None => denied_later(pool, earlier)?,
        };
        pairs.extend(later.map(|later| CorrectedStatement { earlier: earlier.clone(), later }));
    }
    Ok(pairs)
}

/// Returns the statement with which a speaker corrects another one right after it.
fn corrected_at_once(pool: &EventPool<'_>, earlier: &RetrievedEvent) -> Result<Option<RetrievedEvent>, ReadError> {
    let end = earlier.span().end;
    let soon = TimeSpan { start: end, end: end.saturating_add(AT_ONCE) };
    let query =
        SearchQuery { span: Some(soon), kinds: vec![Kind::Text], limit: MAX_NEXT_TEXTS, ..SearchQuery::default() };
    for hit in pool.reader.search().search(&query).into_iter().filter(|hit| hit.id != earlier.id()) {
        let Some(event) = pool.reader.event(hit.id)? else { continue };
        let known = pool.question.bound().is_none_or(|bound| event.span.start <= bound.end);
        if known && event.entity == earlier.reading.event.entity && begins_self_correction(&event.text) {
            let own = pool.read(&[hit.id], &pool.question.content)?.into_iter().next();
            return Ok(own.filter(|later| restates(&earlier.reading, &later.reading)));
        }
    }
    Ok(None)
}

/// Returns the last statement in which a speaker denies a time or a number of another one, and states one instead.
fn denied_later(pool: &EventPool<'_>, earlier: &RetrievedEvent) -> Result<Option<RetrievedEvent>, ReadError> {
    let Some(speaker) = earlier.reading.event.entity.clone() else { return Ok(None) };
    let reading = &earlier.reading;
    let times = || words_within(reading, reading.times.iter().map(|time| time.range.clone()));
    let numbers = || words_within(reading, reading.quantities().into_iter().map(|quantity| quantity.range));
    // What was wrong with another value is not asked.
    let values = match pool.question.ask() {
        AnswerKind::Time | AnswerKind::Length => times(),
        AnswerKind::Count | AnswerKind::Amount | AnswerKind::Times => numbers(),
        AnswerKind::Truth => {
            let asked: Vec<String> = words(pool.question.text).collect();
            times().into_iter().chain(numbers()).filter(|word| asked.contains(word)).collect()
        }
        _ => return Ok(None),
    };
    if values.is_empty() {
        return Ok(None);
    }
    let end = earlier.span().end;
    let until = pool.question.bound().map(|bound| bound.end);
    let until = until.unwrap_or(end.saturating_add(DENIED_LATER)).min(end.saturating_add(DENIED_LATER));
    let said = Holding {
        entity: Some(speaker),
        groups: vec![values.clone()],
        kinds: vec![Kind::Text],
        span: Some(TimeSpan { start: end, end: until.max(end) }),
        limit: MAX_LATER_TEXTS,
        ..Holding::default()
    };
    let mut last = None;
    for id in pool.reader.search().holding(&said).into_iter().filter(|id| *id != earlier.id()) {
        let Some(event) = pool.reader.event(id)? else { continue };
        if event.span.start < end || !may_correct(&event.text) {
            continue;
        }
        for later in pool.read(&[id], &pool.question.content)? {
            let denied = correction_in(&later.reading).map(|correction| correction.denied).unwrap_or_default();
            let denies = denied.iter().any(|denial| {
                let value = denial.words.iter().flat_map(|word| words(word)).any(|word| values.contains(&word));
                value && (share_noun(reading, &later.reading) || has_pronoun_subject(&later.reading, &denial.sentence))
            });
            if denies && restates(reading, &later.reading) {
                last = Some(later);
            }
        }
    }
    Ok(last)
}

/// Returns whether a later statement states a time or a number, as an earlier one does.
fn restates(earlier: &ParsedEvent, later: &ParsedEvent) -> bool {
    let times = !earlier.times.is_empty() && !later.times.is_empty();
    times || !earlier.quantities().is_empty() && !later.quantities().is_empty()
}

/// Returns the words of some parts of a statement. "Not one" denies no number.
fn words_within(reading: &ParsedEvent, ranges: impl Iterator<Item = Range<usize>>) -> Vec<String> {
    let all = ranges.flat_map(|range| words(reading.text(&range)).collect::<Vec<_>>());
    all.filter(|word| !is_stop_word(word) && word != "one").collect()
}

/// Returns whether a sentence is about something that was named before: "it is on Friday, not on Thursday".
fn has_pronoun_subject(reading: &ParsedEvent, sentence: &Range<usize>) -> bool {
    let inside = |range: &Range<usize>| sentence.start <= range.start && range.end <= sentence.end;
    let subjects =
        reading.clauses().filter(|clause| inside(&clause.range)).filter_map(|clause| clause.subject.as_ref());
    subjects.map(|subject| subject.head.as_str()).any(|head| matches!(head, "it" | "he" | "she" | "they"))
}

/// Returns whether two statements name the same kind of thing.
fn share_noun(one: &ParsedEvent, other: &ParsedEvent) -> bool {
    let nouns = |reading: &ParsedEvent| -> Vec<String> {
        let own = &reading.lemmas[..reading.own_words.min(reading.lemmas.len())];
        own.iter().filter(|(_, tag)| *tag == Tag::Noun).map(|(lemma, _)| lemma.clone()).collect()
    };
    let known = nouns(one);
    nouns(other).iter().any(|noun| known.contains(noun))
}
