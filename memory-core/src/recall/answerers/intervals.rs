//! Answers how long it was from one event to another: "how long after the bell did she open?".

use std::ops::Range;
use std::time::Duration;

use super::counts::asks_time_units;
use super::order::events_in_words;
use crate::language::english::closed::is_one_of;
use crate::language::english::letters::capitalised;
use crate::language::english::question::{AnswerKind, Order};
use crate::language::english::tag::{Tag, Word};
use crate::language::english::time::{Tense, TimeRelation, say_length_of};
use crate::recall::candidate::{Candidate, CandidateValue, Layer};
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::question::Question;
use crate::{Kind, ReadError, TimeSpan, Timestamp};

/// Words around a measure of time that name no event: "how much time passed", "how long was it".
const FRAME_WORDS: &[&str] = &[
    "how", "long", "much", "many", "time", "pass", "elapse", "go", "by", "lie", "be", "do", "have", "it", "there",
    "take", "later", "in",
];
/// Longest told time that says when something happened.
const MAX_TOLD_TIME: Duration = Duration::from_secs(3_600);

/// The parts of a question that name two events, and where the second lies in time.
struct AskedInterval {
    first: Range<usize>,
    second: Range<usize>,
    /// How the second event lies to the first. `None` if any order will do.
    order: Option<Order>,
}

/// Answers with the time between the starts of two events: of the nearest pair, the latest of such pairs.
pub(in crate::recall) fn answer(pool: &EventPool<'_>) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let Some(asked) = asked_interval(question) else { return Ok(None) };
    let happened = |range: &Range<usize>| -> Result<Vec<(Timestamp, RetrievedEvent)>, ReadError> {
        let events = events_in_words(pool, range)?.into_iter().filter(|found| !announces(found));
        Ok(events.map(|found| (happened_at(&found), found)).collect())
    };
    let (firsts, seconds) = (happened(&asked.first)?, happened(&asked.second)?);
    let pairs = firsts.iter().flat_map(|first| seconds.iter().map(move |second| (first, second)));
    let fits =
        |((first, _), (second, _)): &(&(Timestamp, RetrievedEvent), &(Timestamp, RetrievedEvent))| match asked.order {
            Some(Order::After) => first < second,
            Some(_) => first > second,
            None => first != second,
        };
    let length = |first: Timestamp, second: Timestamp| second.since(first).max(first.since(second));
    let nearest = pairs
        .filter(fits)
        .min_by_key(|((first, _), (second, _))| (length(*first, *second), std::cmp::Reverse(*second.max(first))));
    let Some(((first, one), (second, other))) = nearest else { return Ok(None) };
    let text = say_length_of(*first.min(second), Some(*first.max(second)), &question.now);
    Ok(Some(Candidate::computed(
        Layer::Episodes,
        capitalised(&text),
        CandidateValue::Number(length(*first, *second).as_secs_f64(), "s".into()),
        vec![other.clone(), one.clone()],
        question.content.known_share(),
        "from one event to the other".into(),
    )))
}

/// Returns when an event happened: at the one time that it tells, else when it was noticed or told.
fn happened_at(found: &RetrievedEvent) -> Timestamp {
    let told = match found.reading.times.as_slice() {
        [told] if told.has_clock && told.relation == TimeRelation::At => Some(told.span),
        _ => None,
    };
    let is_moment = |span: &TimeSpan| span.end.since(span.start) <= MAX_TOLD_TIME && span.start <= found.span().end;
    let told = told.filter(|span| found.reading.event.kind == Kind::Text && is_moment(span));
    told.unwrap_or(found.span()).start
}

/// Returns whether a text only says what is going to happen.
fn announces(found: &RetrievedEvent) -> bool {
    let mut verbs = found.reading.clauses().filter_map(|clause| clause.verb.as_ref()).peekable();
    found.reading.event.kind == Kind::Text
        && verbs.peek().is_some()
        && verbs.all(|verb| verb.future || verb.modal.is_some())
}

/// Returns the two events of "how long after A did B?", "how much time passed between A and B?" or "how long was it from A
/// until B?".
fn asked_interval(question: &Question<'_>) -> Option<AskedInterval> {
    let words: Vec<&Word> = question.asked.words.iter().filter(|word| word.tag != Tag::Mark).collect();
    let of_time = match question.ask() {
        AnswerKind::Length => true,
        AnswerKind::Count => asks_time_units(question),
        AnswerKind::Amount => question.asked.class.as_ref().is_some_and(|class| class.head == "time"),
        _ => false,
    };
    let unit = question.asked.class.as_ref().map(|class| class.head.as_str());
    let frames = |word: &&&Word| FRAME_WORDS.contains(&word.lemma.as_str()) || unit == Some(word.lemma.as_str());
    let at = words.iter().take_while(frames).count();
    let relation = words.get(at).filter(|_| of_time && at > 1 && question.tense == Tense::Past)?;
    let behind = &words[at + 1..];
    let place = |wanted: &[&str]| behind.iter().position(|word| is_one_of(&word.text, wanted));
    let (end_of_first, start_of_second, order) = match relation.text.as_str() {
        "between" => place(&["and"]).map(|and| (and, and + 1, None))?,
        // From one place to another, and from one hour to the next, are no events.
        "from" if behind.iter().any(|word| word.tag == Tag::Verb) => {
            place(&["to", "until", "till"]).map(|to| (to, to + 1, Some(Order::After)))?
        }
        "after" => second_event(behind).map(|(end, start)| (end, start, Some(Order::After)))?,
        "before" => second_event(behind).map(|(end, start)| (end, start, Some(Order::Before)))?,
        _ => return None,
    };
    let range = |part: &[&Word]| Some(part.first()?.range.start..part.last()?.range.end);
    Some(AskedInterval { first: range(&behind[..end_of_first])?, second: range(&behind[start_of_second..])?, order })
}

/// Returns where the first event ends and the second begins behind "after": "the bell (rang) did she open", "the bell was it
/// that she opened".
fn second_event(behind: &[&Word]) -> Option<(usize, usize)> {
    let turned = |at: &usize| {
        let next = behind.get(at + 1);
        *at > 0
            && behind[*at].tag == Tag::Auxiliary
            && next.is_some_and(|word| !matches!(word.tag, Tag::Verb | Tag::Not))
    };
    let at = (0..behind.len()).rfind(turned)?;
    let it = behind[at + 1].has_text("it")
        && behind.get(at + 2).is_some_and(|word| is_one_of(&word.text, &["that", "before", "until", "till"]));
    Some((at, if it { at + 3 } else { at + 1 }))
}
