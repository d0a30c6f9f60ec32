//! Answers when something was, by the time of its events, and when it will be, by what was told.

mod planned;

use self::planned::{first_planned_time, former_time};
pub(super) use self::planned::{hour_of_day, is_former_time, told_future_time};
use crate::index::{stem, words};
use crate::language::english::letters::capitalised;
use crate::language::english::question::{AnswerKind, Occurrence, Order};
use crate::language::english::syntax::{Clause, NounPhrase};
use crate::language::english::time::{
    Tense, TimeRelation, ToldTime, say_clock_range, say_exact_moment, say_moment, say_period,
};
use crate::recall::candidate::{Candidate, CandidateValue, Layer, Signals};
use crate::recall::clause_selection::{has_other_actor, lacks_asked_deed, lacks_asked_thing};
use crate::recall::content::verb_similarity;
use crate::recall::likeness::{best_phrase_similarity, phrase_similarity};
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::question::Question;
use crate::recall::stance::contradicts_premise;
use crate::{Kind, ReadError, TimeSpan, Timestamp};

/// Rank difference to the best occurrence within which another one counts as the same thing.
const RANK_TOLERANCE: f32 = 0.06;
/// Weight of the search score in the rank of sentences.
const SPEECH_SCORE_WEIGHT: f32 = 0.4;
/// Longest span of a told clock time. Longer ones are parts of a day.
pub(in crate::recall) const MAX_CLOCK_SPAN: std::time::Duration = std::time::Duration::from_secs(3_600);
/// Coverage relative to the best event below which an event is about something else.
const MIN_RELATIVE_COVERAGE: f32 = 0.6;
/// Minimum coverage of the question by an event that reports a rescheduling.
const MIN_RESCHEDULING_COVERAGE: f32 = 0.5;
/// Minimum similarity of two verbs for one deed.
const MIN_VERB_SIMILARITY: f32 = 0.5;
/// Minimum similarity of a thing that arrived to the one in question.
const MIN_ARRIVED_SIMILARITY: f32 = 0.7;
/// Maximum number of occurrences in an answer.
const MAX_OCCURRENCES: usize = 12;

/// Answers with the time that a question asks for.
pub(in crate::recall) fn answer(
    pool: &EventPool<'_>,
    pooled: &[RetrievedEvent],
    cue: Option<&RetrievedEvent>,
) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let asking = question.asked.clause.asking.as_ref().and_then(|asking| asking.preposition.as_deref());
    if (question.tense != Tense::Past || matches!(asking, Some("until" | "till" | "by")))
        && !question.asked.habitual
        && question.query.options.iter().all(|option| !option.contains(" to "))
        && let Some(found) = told_future_time(pool, pooled)?
    {
        return Ok(Some(found));
    }
    if let Some(found) = super::habits::usual_time(pool, pooled) {
        return Ok(Some(found));
    }
    if let Some(found) = former_time(question, pooled) {
        return Ok(Some(found));
    }
    if let Some(found) = first_planned_time(pool, pooled)? {
        return Ok(Some(found));
    }
    let mut meant = occurrences(pool, pooled)?;
    let best = meant.iter().max_by(|a, b| a.coverage.match_score().total_cmp(&b.coverage.match_score()));
    if let Some(found) = super::state_starts::answer(pool, pooled, best)? {
        return Ok(Some(found));
    }
    if let (Some(cue), Some((relation, _))) = (cue, question.searchable_cue()) {
        meant.retain(|found| match relation.order {
            Order::During => found.span().overlaps(cue.span()),
            Order::After => found.span().start >= cue.span().start,
            Order::Before => found.span().start <= cue.span().start,
        });
    }
    meant.retain(|found| may_be_ahead(question, found) && !is_announced(question, found));
    if !meant.is_empty() && tells_nothing_done(question, &meant) {
        return Ok(Some(untold(question, meant)));
    }
    // Skip deeds of other persons.
    let others = |found: &RetrievedEvent| {
        has_other_actor(question, &found.reading) || lacks_asked_thing(question, &found.reading)
    };
    if meant.iter().all(others) {
        return Ok(None);
    }
    meant.retain(|found| !others(found));
    // A time in the question may be the told time, not the time of telling.
    let near = question.boosted_spans();
    let in_time = |found: &RetrievedEvent| {
        let span = referred_time(found, question).unwrap_or(found.span());
        near.iter().any(|(wanted, _)| wanted.overlaps(span))
    };
    super::keep_if_any(&mut meant, in_time);
    if let Some(arrived) = reported_arrival(question, &meant, pooled) {
        // What was announced is likelier by its words, and not what happened.
        let told = candidate_of_times(question, vec![arrived.clone()], arrived, pooled);
        return Ok(Some(Candidate { computed: true, ..told }));
    }
    let chosen = of_occurrence(meant, question.asked.occurrence);
    Ok(chosen.first().cloned().map(|first| candidate_of_times(question, chosen, &first, pooled)))
}

/// Returns whether an event may tell a time that is not past. A past deed does not tell a future time.
fn may_be_ahead(question: &Question<'_>, found: &RetrievedEvent) -> bool {
    let verb = question.asked.clause.verb.as_ref().filter(|_| question.tense != Tense::Past);
    let Some(verb) = verb else { return true };
    // "When is the sale?": when somebody spoke of it is another time.
    if verb.auxiliary_only {
        return verb.lemma != "be" || question.asked.clause.subject.is_none() || !found.is_told();
    }
    // "When may she go back?": what she was seen doing before says nothing of it.
    let allowed = matches!(verb.modal.as_deref(), Some("may" | "can" | "must" | "should"));
    let seen = matches!(found.reading.event.kind, Kind::Caption | Kind::Action);
    let mut told = found.reading.clauses().filter_map(|clause| clause.verb.as_ref());
    !(allowed && seen) && told.any(|told| verb_similarity(verb, told) >= MIN_VERB_SIMILARITY)
}

/// Returns whether a deed in question is announced for later. It has no time yet.
fn is_announced(question: &Question<'_>, found: &RetrievedEvent) -> bool {
    let now = Timestamp::from(question.now.timestamp());
    let mut times = found.reading.times.iter();
    question.tense == Tense::Past
        && found.reading.event.kind == Kind::Text
        && referred_time(found, question).is_none()
        && times.any(|time| time.relation == TimeRelation::At && time.span.start > now)
}

/// Returns the event that reports the arrival in question, where others only announced it: "it should be here on
/// Thursday" does not tell when it came.
fn reported_arrival<'f>(
    question: &Question<'_>,
    announced: &[RetrievedEvent],
    pooled: &'f [RetrievedEvent],
) -> Option<&'f RetrievedEvent> {
    let asked = &question.asked.clause;
    let thing = asked.subject.as_ref()?;
    let arrives = |clause: &Clause, text: &str| {
        let here = || clause.complements.iter().any(|(word, _)| matches!(word.as_str(), "here" | "there" | "in"));
        let verb = clause.verb.as_ref().filter(|verb| !verb.negated && verb.modal.is_none() && !verb.future);
        let comes = verb.is_some_and(|verb| match verb.lemma.as_str() {
            "come" | "arrive" | "deliver" | "land" => true,
            "get" | "be" => here(),
            _ => false,
        });
        comes || clause.turns_up(text)
    };
    let ahead = |found: &RetrievedEvent| {
        referred_time(found, question).is_some_and(|told| told.start > found.span().end)
            || is_announced(question, found)
    };
    let latest = announced.iter().filter(|found| ahead(found)).map(|found| found.span().start).max()?;
    if !arrives(asked, question.text) || !announced.iter().all(ahead) {
        return None;
    }
    let reports = |found: &&RetrievedEvent| {
        let reading = &found.reading;
        let of_thing = |noun: &NounPhrase| {
            reading.resolve(noun).is_some_and(|told| phrase_similarity(thing, &told, reading) >= MIN_ARRIVED_SIMILARITY)
        };
        let mut told = reading.told_clauses();
        found.span().start > latest
            && told.any(|clause| arrives(clause, &reading.event.text) && clause.subject.as_ref().is_some_and(of_thing))
    };
    pooled.iter().filter(reports).min_by_key(|found| (found.span().start, found.id()))
}

/// Returns whether all events deny the past deed in question, or none tells of it.
fn tells_nothing_done(question: &Question<'_>, meant: &[RetrievedEvent]) -> bool {
    let verb = question.asked.clause.verb.as_ref().filter(|verb| !verb.auxiliary_only && !verb.negated);
    let denied = |found: &RetrievedEvent| {
        verb.is_some_and(|verb| {
            let told = found.reading.clauses().filter_map(|clause| clause.verb.as_ref());
            let mut alike = told.filter(|told| verb_similarity(verb, told) >= MIN_VERB_SIMILARITY).peekable();
            alike.peek().is_some() && alike.all(|told| told.negated)
        })
    };
    let lacks = |found: &RetrievedEvent| lacks_asked_deed(question, &found.reading);
    question.tense == Tense::Past && (meant.iter().all(denied) || meant.iter().all(lacks))
}

/// Returns the candidate that tells no time.
fn untold(question: &Question<'_>, evidence: Vec<RetrievedEvent>) -> Candidate {
    let signals = Signals { known: question.content.known_share(), ..Signals::default() };
    Candidate {
        layer: Layer::Episodes,
        text: String::new(),
        value: CandidateValue::Times(Vec::new()),
        evidence,
        signals,
        confidence: 0.0,
        computed: false,
        reason: "what is asked about was not told".into(),
    }
}

/// Returns the occurrence that is asked for, or all.
fn of_occurrence(meant: Vec<RetrievedEvent>, occurrence: Option<Occurrence>) -> Vec<RetrievedEvent> {
    let one = match occurrence {
        None => return meant,
        Some(Occurrence::First) => meant.into_iter().min_by_key(|found| (found.span().start, found.id())),
        Some(Occurrence::Last) => meant.into_iter().max_by_key(|found| (found.span().end, found.id())),
        Some(Occurrence::Nth(n)) => meant.into_iter().nth(n - 1),
        Some(Occurrence::Previous) => meant.into_iter().rev().nth(1),
    };
    one.into_iter().collect()
}

/// Returns the times of the chosen events in words. `first` is the first one of them.
fn candidate_of_times(
    question: &Question<'_>,
    chosen: Vec<RetrievedEvent>,
    first: &RetrievedEvent,
    pooled: &[RetrievedEvent],
) -> Candidate {
    let mut times: Vec<(TimeSpan, String)> = Vec::new();
    for found in &chosen {
        let (span, words) = match referred_time(found, question) {
            Some(span) => (span, say_period(span, &question.now)),
            // The length of a sentence is no part of its time.
            None if found.reading.event.kind == Kind::Text => {
                (found.span(), say_moment(found.span().start, &question.now))
            }
            None => (found.span(), span_in_words(found.span(), question)),
        };
        if !times.iter().any(|(_, known)| *known == words) {
            times.push((span, words));
        }
    }
    let text = times.iter().take(MAX_OCCURRENCES).map(|(_, words)| words.as_str()).collect::<Vec<_>>().join(", ");
    let spans: Vec<TimeSpan> = times.into_iter().map(|(span, _)| span).collect();
    let thing =
        question.named.first().map_or(first.coverage.of_content, |thing| best_phrase_similarity(thing, &first.reading));
    // The answer lists them in time order. The evidence starts with the best match.
    let mut evidence = chosen;
    evidence.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.span().start.cmp(&b.span().start)));
    evidence.extend(pooled.iter().filter(|found| !spans.contains(&found.span())).cloned());
    Candidate {
        layer: Layer::Episodes,
        text: capitalised(&text),
        value: CandidateValue::Times(spans),
        signals: Signals {
            coverage: first.coverage.of_content,
            cosine: first.cosine.unwrap_or(0.0),
            margin: rank_margin(pooled),
            fits: 1.0,
            thing,
            known: question.content.known_share(),
        },
        evidence,
        confidence: 0.0,
        computed: false,
        reason: "the time of what happened".into(),
    }
}

/// Returns a time in words: with its day if that is not today, with seconds if the occurrence is short.
fn span_in_words(span: TimeSpan, question: &Question<'_>) -> String {
    let seconds = span.start.as_micros() % 60_000_000 != 0 || span.end != span.start;
    let long = span.end.since(span.start).as_secs() > 3 * 3_600;
    if long {
        return say_period(span, &question.now);
    }
    match seconds {
        true if span.end.since(span.start).as_secs() >= 1 => say_clock_range(span, &question.now),
        true => say_exact_moment(span.start, &question.now),
        false => say_moment(span.start, &question.now),
    }
}

/// Returns the time that the best matching sentence refers to: "last Friday". `None` if it refers to no earlier time.
fn referred_time(found: &RetrievedEvent, question: &Question<'_>) -> Option<TimeSpan> {
    let reading = &found.reading;
    if reading.event.kind != Kind::Text || question.tense != Tense::Past {
        return None;
    }
    let wanted: Vec<(String, f32)> =
        question.content.items.iter().map(|item| (stem(&item.lemma), item.weight)).collect();
    let suits = |range: &std::ops::Range<usize>| -> f32 {
        let held: Vec<String> = words(reading.text(range)).map(|word| stem(&word)).collect();
        wanted.iter().filter(|(stem, _)| held.contains(stem)).map(|(_, weight)| weight).sum()
    };
    let sentences = reading.sentences.iter().map(|sentence| (suits(&sentence.range), sentence));
    let (suited, best) = sentences.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.range.start.cmp(&a.1.range.start)))?;
    let asks_clock = asks_clock_time(question);
    let now = Timestamp::from(question.now.timestamp());
    // "It comes at 9:30": a clock time of that day; "in the morning" says less than the moment of telling.
    let is_exact = |time: &ToldTime| time.has_clock && time.span.end.since(time.span.start) <= MAX_CLOCK_SPAN;
    let mut told = reading.times.iter().filter(|time| {
        best.range.start <= time.range.start
            && time.range.end <= best.range.end
            && time.span.start < now
            && time.relation == TimeRelation::At
            && if asks_clock { time.has_clock } else { time.has_date || is_exact(time) }
    });
    told.next().filter(|_| suited > 0.0).map(|time| time.span)
}

/// Returns whether a clock time is asked for, maybe beside a day: "which day is it, and at what time?".
fn asks_clock_time(question: &Question<'_>) -> bool {
    let class = question.asked.class.as_ref();
    let words = &question.asked.words;
    class.is_some_and(|class| matches!(class.head.as_str(), "time" | "hour"))
        || words.windows(2).any(|two| two[0].has_text("what") && two[1].has_text("time"))
}

/// Returns the events that match the question, in time order.
pub(in crate::recall) fn occurrences(
    pool: &EventPool<'_>,
    pooled: &[RetrievedEvent],
) -> Result<Vec<RetrievedEvent>, ReadError> {
    let question = pool.question;
    let mut all: Vec<RetrievedEvent> = pooled.to_vec();
    let needs_order =
        question.asked.occurrence.is_some() || matches!(question.ask(), AnswerKind::Times | AnswerKind::Count);
    if needs_order && let Some(thing) = question.named.first() {
        let latest = question.asked.occurrence != Some(Occurrence::First);
        let listed = pool.events_about(thing, question.bound(), latest, 500, &question.content)?;
        // If an entity has that very name, other events do not count.
        let by_name = pool.entity(thing).is_some() && !listed.is_empty();
        all = if by_name { listed } else { crate::recall::pool::merge(listed, all) };
    }
    // Sentences differ in many words: among similar matches the search score decides.
    let by_search = |found: &RetrievedEvent| {
        if found.reading.event.kind == Kind::Text { SPEECH_SCORE_WEIGHT * found.score } else { 0.0 }
    };
    let rank = |found: &RetrievedEvent| found.coverage.match_score() + by_search(found);
    // "When was it opened?" asks for no closing.
    if all.iter().any(|found| !contradicts_premise(question, &found.reading)) {
        all.retain(|found| !contradicts_premise(question, &found.reading));
    }
    let best = all.iter().map(rank).fold(0.0, f32::max);
    all.retain(|found| rank(found) >= best - RANK_TOLERANCE && found.coverage.of_content > 0.3);
    all.sort_by_key(|found| (found.span().start, found.id()));
    all.dedup_by_key(|found| found.id());
    Ok(all)
}

/// Returns the lead of the best event over the next one that reports something else.
pub(in crate::recall) fn rank_margin(pooled: &[RetrievedEvent]) -> f32 {
    let mut ranks: Vec<f32> = pooled.iter().map(RetrievedEvent::fitness).collect();
    ranks.sort_by(|a, b| b.total_cmp(a));
    match ranks.as_slice() {
        [first, second, ..] if *first > 0.0 => (1.0 - second / first).clamp(0.0, 1.0),
        [_] => 1.0,
        _ => 0.0,
    }
}

/// Returns whether the verb before a position of the text is denied: "she cannot come tomorrow".
///
/// "She won't come until Friday" does not deny Friday.
pub(super) fn verb_is_denied(reading: &crate::recall::reading::ParsedEvent, time: &ToldTime) -> bool {
    if matches!(time.relation, TimeRelation::Until | TimeRelation::Before) {
        return false;
    }
    let at = time.range.start;
    let verbs = reading.clauses().filter_map(|clause| clause.verb.as_ref()).filter(|verb| verb.range.start < at);
    let is_negated = |at: usize| {
        let before = reading.event.text.get(..at).unwrap_or_default().trim_end().to_lowercase();
        before.strip_suffix("not").is_some_and(|rest| !rest.ends_with(char::is_alphanumeric))
    };
    // "Not Friday, Monday": what is denied is the time, and not what was done.
    let another = || reading.times.iter().any(|time| time.range.start < at && is_negated(time.range.start));
    is_negated(at) || !another() && verbs.max_by_key(|verb| verb.range.start).is_some_and(|verb| verb.negated)
}

/// Returns the sentence of an event that covers most of the question, if it contains a time and no other sentence
/// covers as much.
fn sentence_with_time(question: &Question<'_>, found: &RetrievedEvent) -> Option<std::ops::Range<usize>> {
    let reading = &found.reading;
    let wanted: Vec<(String, f32)> =
        question.content.items.iter().map(|item| (stem(&item.lemma), item.weight)).collect();
    let suits = |range: &std::ops::Range<usize>| -> f32 {
        let held: Vec<String> = words(reading.text(range)).map(|word| stem(&word)).collect();
        wanted.iter().filter(|(stem, _)| held.contains(stem)).map(|(_, weight)| weight).sum()
    };
    let mut rated: Vec<(f32, &std::ops::Range<usize>)> =
        reading.sentences.iter().map(|sentence| (suits(&sentence.range), &sentence.range)).collect();
    rated.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (best, range) = rated.first().copied()?;
    let alone = rated.get(1).is_none_or(|(second, _)| *second < best);
    let tells = reading.times.iter().any(|time| {
        range.start <= time.range.start
            && time.range.end <= range.end
            && (time.has_clock || !asks_clock_time(question))
            && !verb_is_denied(reading, time)
    });
    (alone && tells).then(|| range.clone())
}
