//! Told times: future times, and plans before they were changed.

use super::{
    MAX_CLOCK_SPAN, MIN_RELATIVE_COVERAGE, MIN_RESCHEDULING_COVERAGE, asks_clock_time, rank_margin, sentence_with_time,
    verb_is_denied,
};
use crate::index::words;
use crate::language::english::closed::is_one_of;
use crate::language::english::correction::self_correction;
use crate::language::english::letters::capitalised;
use crate::language::english::question::Occurrence;
use crate::language::english::states::{COMING_VERBS, LEAVING_VERBS};
use crate::language::english::syntax::{Clause, NounKind, NounPhrase};
use crate::language::english::time::{Tense, TimeRelation, ToldTime, say_moment, say_period};
use crate::recall::answerers::parts::MIN_PERSON_SIMILARITY;
use crate::recall::answerers::quote::quotation;
use crate::recall::candidate::{Candidate, CandidateValue, Layer, Signals};
use crate::recall::content::word_similarity;
use crate::recall::corrections::correction_in;
use crate::recall::likeness::{best_phrase_similarity, phrase_similarity};
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::question::Question;
use crate::recall::reading::ParsedEvent;
use crate::{Kind, ReadError, TimeSpan, Timestamp};

/// Coverage relative to the best statement from which on a later one speaks of the same appointment.
const MIN_LATER_COVERAGE: f32 = 0.55;
/// The same for a statement that reports a rescheduling and names the thing by its head.
const MIN_RESCHEDULED_COVERAGE: f32 = 0.3;

/// Length of a day. A longer time is a stay.
const DAY: std::time::Duration = std::time::Duration::from_secs(86_400);

/// Minimum similarity of two verbs for one deed.
const MIN_DEED_SIMILARITY: f32 = 0.9;

/// Returns whether a question asks for the plan before a rescheduling: "when was it to be at first?", "when was it
/// going to be?".
pub(super) fn asks_first_plan(question: &Question<'_>) -> bool {
    let first = question.asked.occurrence == Some(Occurrence::First);
    question.asks_former_plan() && (first || !question.has_time_bound())
}

/// Answers with the planned time before the first rescheduling.
pub(super) fn first_planned_time(
    pool: &EventPool<'_>,
    pooled: &[RetrievedEvent],
) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    if !asks_first_plan(question) {
        return Ok(None);
    }
    let mut all: Vec<RetrievedEvent> = pooled.to_vec();
    if let Some(thing) = question.named.first() {
        all = crate::recall::pool::merge(all, pool.events_about(thing, question.hard, false, 100, &question.content)?);
    }
    let ahead = |found: &RetrievedEvent, time: &ToldTime| {
        time.relation == TimeRelation::At && (time.has_clock || time.has_date) && time.span.end >= found.span().start
    };
    let best = all.iter().map(|found| found.coverage.of_content).fold(0.0, f32::max);
    let suits = |found: &&RetrievedEvent| {
        found.reading.event.kind == Kind::Text
            && found.coverage.of_content >= MIN_RESCHEDULING_COVERAGE.max(MIN_RELATIVE_COVERAGE * best)
            && found.reading.times.iter().any(|time| ahead(found, time))
            && !words(&found.reading.event.text).any(|word| word == "instead")
    };
    let Some(found) = all.iter().filter(suits).min_by_key(|found| (found.span().start, found.id())) else {
        return Ok(None);
    };
    let date = found.reading.times.iter().find(|time| ahead(found, time) && time.has_date);
    let clock = found.reading.times.iter().find(|time| ahead(found, time) && time.has_clock);
    let Some(span) = date.or(clock).map(|time| time.span) else { return Ok(None) };
    // "Tomorrow at ten" may be told in two phrases.
    let text = match (date, clock) {
        (Some(date), Some(clock)) if date.range == clock.range => say_moment(span.start, &question.now),
        (Some(date), Some(clock)) => say_moment(hour_of_day(date.span, clock.span, question).start, &question.now),
        (None, Some(clock)) => say_moment(clock.span.start, &question.now),
        _ => say_period(span, &question.now),
    };
    let thing = question.named.first().map_or(0.5, |thing| best_phrase_similarity(thing, &found.reading));
    Ok(Some(Candidate {
        layer: Layer::Episodes,
        text: capitalised(&text),
        value: CandidateValue::Times(vec![span]),
        signals: Signals {
            coverage: found.coverage.of_content,
            cosine: found.cosine.unwrap_or(0.0),
            margin: 1.0,
            fits: 1.0,
            thing,
            known: question.content.known_share(),
        },
        evidence: vec![found.clone()],
        confidence: 0.0,
        computed: false,
        reason: "the time that was planned at first".into(),
    }))
}

/// Returns an hour of a day, which were told apart. A part of a day keeps its length.
pub(in crate::recall::answerers) fn hour_of_day(day: TimeSpan, hour: TimeSpan, question: &Question<'_>) -> TimeSpan {
    let zone = question.now.time_zone();
    let zoned = |at: Timestamp| at.to_jiff().to_zoned(zone.clone());
    let at = zoned(day.start).date().to_datetime(zoned(hour.start).time()).to_zoned(zone.clone());
    let at = at.map_or(day.start, |at| Timestamp::from(at.timestamp()));
    let length = hour.end.since(hour.start);
    TimeSpan::new(at, if length > MAX_CLOCK_SPAN { at.saturating_add(length) } else { at })
}

/// Answers with the former time in "from Friday to Saturday" or "on Saturday instead of Friday".
pub(super) fn former_time(question: &Question<'_>, pooled: &[RetrievedEvent]) -> Option<Candidate> {
    let first = question.asked.occurrence == Some(Occurrence::First) && question.tense == Tense::Past;
    if !first && !asks_first_plan(question) {
        return None;
    }
    let replaced = |found: &RetrievedEvent, time: &ToldTime| {
        let before = found.reading.event.text.get(..time.range.start).unwrap_or_default().trim_end();
        ["instead of", "rather than", "instead of on"].iter().any(|words| before.ends_with(words))
    };
    let told = pooled.iter().filter(|found| {
        found.reading.event.kind == Kind::Text && found.coverage.of_content >= MIN_RESCHEDULING_COVERAGE
    });
    let (time, found) = told.max_by(|a, b| a.fitness().total_cmp(&b.fitness())).and_then(|found| {
        let mut times = found.reading.times.iter();
        // "He cannot come on Monday, he comes on Friday."
        let called_off = |time: &ToldTime| {
            verb_is_denied(&found.reading, time)
                && found.reading.times.iter().any(|other| other.range.start > time.range.start)
        };
        let left = |time: &&ToldTime| is_former_time(found, time) || replaced(found, time) || called_off(time);
        times.find(left).map(|time| (time.span, found))
    })?;
    Some(Candidate {
        layer: Layer::Episodes,
        text: capitalised(&say_period(time, &question.now)),
        value: CandidateValue::Times(vec![time]),
        signals: Signals {
            coverage: found.coverage.of_content,
            cosine: found.cosine.unwrap_or(0.0),
            margin: 1.0,
            fits: 1.0,
            thing: question.named.first().map_or(0.5, |thing| best_phrase_similarity(thing, &found.reading)),
            known: question.content.known_share(),
        },
        evidence: vec![found.clone()],
        confidence: 0.0,
        computed: false,
        reason: "the time from which it was moved".into(),
    })
}

/// Returns whether the words right behind a time call it off, and another one is told after it: "Friday is off, come on
/// Monday".
fn is_called_off(reading: &ParsedEvent, time: &ToldTime) -> bool {
    let behind = reading.event.text.get(time.range.end..).unwrap_or_default();
    let mut behind = words(behind).skip_while(|word| is_one_of(word, &["s", "is", "was", "has", "been", "now"]));
    let off = behind.next().is_some_and(|word| is_one_of(&word, &["off", "cancelled", "canceled"]));
    off && reading.times.iter().any(|other| other.range.start > time.range.end)
}

/// Returns whether a time is the former time of a rescheduling: "from Friday to Saturday".
pub(in crate::recall::answerers) fn is_former_time(found: &RetrievedEvent, time: &ToldTime) -> bool {
    let reading = &found.reading;
    let behind = |time: &ToldTime, word: &str| {
        let before = reading.event.text.get(..time.range.start).unwrap_or_default().trim_end();
        before.split(' ').next_back() == Some(word) || reading.text(&time.range).starts_with(word)
    };
    reports_rescheduling(reading)
        && behind(time, "from")
        && reading.times.iter().any(|other| other.range.start > time.range.start && behind(other, "to"))
}

/// Returns whether an event reports that something takes place at another time than planned. The words decide, because
/// "the lesson's put off" may also be read as somebody's put.
fn reports_rescheduling(reading: &ParsedEvent) -> bool {
    let puts_off = words(&reading.event.text).any(|word| matches!(word.as_str(), "off" | "back" | "forward"));
    reading.lemmas.iter().any(|(lemma, _)| match lemma.as_str() {
        "move" | "postpone" | "shift" | "reschedule" | "change" | "delay" => true,
        "put" | "push" | "bring" => puts_off,
        _ => false,
    })
}

/// Returns whether an event names the thing of a question by its head alone: "the lesson" for "my piano lesson".
fn names_head(question: &Question<'_>, reading: &ParsedEvent) -> bool {
    let Some(thing) = question.named.first() else { return false };
    reading.lemmas.iter().any(|(lemma, _)| *lemma == thing.head)
}

/// Returns whether a time stands with the deed in question: "I have a course on Monday, so I come on Tuesday".
fn is_time_of_deed(question: &Question<'_>, reading: &ParsedEvent, time: &ToldTime) -> bool {
    let Some(asked) = question.asked.clause.verb.as_ref().filter(|verb| !verb.auxiliary_only) else { return false };
    let verbs = reading.clauses().filter_map(|clause| clause.verb.as_ref());
    let before = verbs.filter(|verb| verb.range.start < time.range.start);
    let own = before.max_by_key(|verb| verb.range.start);
    // "When does she get here?": whoever gets somewhere comes.
    let clause = &question.asked.clause;
    let comes = |verb: &str, clause: &Clause| {
        let there =
            clause.complements.iter().any(|(word, _)| is_one_of(word, &["here", "there", "home", "back", "in"]));
        is_one_of(verb, COMING_VERBS) || verb == "get" && there
    };
    own.is_some_and(|told| {
        let alike = word_similarity(&asked.lemma, &told.lemma) >= MIN_DEED_SIMILARITY;
        !told.negated && (alike || comes(&asked.lemma, clause) && is_one_of(&told.lemma, COMING_VERBS))
    })
}

/// Returns whether an event tells that somebody comes, and not when they leave, or the other way round.
fn tells_opposite_move(question: &Question<'_>, reading: &ParsedEvent) -> bool {
    let Some(asked) = question.asked.clause.verb.as_ref() else { return false };
    let tells = |verbs: &[&str]| reading.verbs.iter().any(|verb| is_one_of(verb, verbs));
    // "She comes from the 3rd until the 5th" tells both.
    let stays = reading.times.iter().any(|time| time.has_date && !time.has_clock && is_stay(time.span));
    match asked.lemma.as_str() {
        verb if is_one_of(verb, COMING_VERBS) => tells(LEAVING_VERBS) && !tells(COMING_VERBS),
        verb if is_one_of(verb, LEAVING_VERBS) => tells(COMING_VERBS) && !tells(LEAVING_VERBS) && !stays,
        _ => false,
    }
}

/// Returns whether a time is longer than a day.
fn is_stay(span: TimeSpan) -> bool {
    span.end.since(span.start) > DAY
}

/// Returns the first day of a stay for when somebody comes, and the last one for when they leave.
fn day_of_move(question: &Question<'_>, stay: TimeSpan) -> TimeSpan {
    let verb = question.asked.clause.verb.as_ref().map_or("", |verb| verb.lemma.as_str());
    if is_stay(stay) && is_one_of(verb, COMING_VERBS) {
        TimeSpan::new(stay.start, stay.start.saturating_add(DAY).saturating_sub(std::time::Duration::from_millis(1)))
    } else if is_stay(stay) && is_one_of(verb, LEAVING_VERBS) {
        TimeSpan::new(stay.end.saturating_sub(DAY).saturating_add(std::time::Duration::from_millis(1)), stay.end)
    } else {
        stay
    }
}

/// Returns whether somebody in question calls something off later, and says no other thing: "the Tamms have cancelled".
fn cancels_later(question: &Question<'_>, announced: &RetrievedEvent, other: &RetrievedEvent) -> bool {
    let reading = &other.reading;
    let whole = correction_in(reading).is_some_and(|change| change.called_off && !change.moved);
    let mut names = question.named.iter().filter(|noun| noun.kind == NounKind::Name);
    let cancels = |clause: &Clause, name: &NounPhrase| {
        clause.verb.as_ref().is_some_and(|verb| verb.lemma == "cancel" && !verb.negated)
            && clause.objects.is_empty()
            && clause.subject.as_ref().is_some_and(|who| phrase_similarity(name, who, reading) >= MIN_PERSON_SIMILARITY)
    };
    other.span().start > announced.span().start
        && whole
        && names.any(|name| reading.clauses().any(|clause| cancels(clause, name)))
}

/// Answers with a told future time. The latest statement about a thing holds.
pub(in crate::recall::answerers) fn told_future_time(
    pool: &EventPool<'_>,
    pooled: &[RetrievedEvent],
) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let mut all: Vec<RetrievedEvent> = pooled.to_vec();
    if let Some(thing) = question.named.first() {
        all = crate::recall::pool::merge(all, pool.events_about(thing, question.hard, true, 100, &question.content)?);
    }
    let useful = |found: &RetrievedEvent| {
        matches!(found.reading.event.kind, Kind::Text | Kind::State | Kind::Caption)
            && found.reading.times.iter().any(|time| {
                time.span.end >= found.span().start
                    && (time.has_clock || time.has_date)
                    && !verb_is_denied(&found.reading, time)
            })
            && !tells_opposite_move(question, &found.reading)
    };
    let best = all.iter().filter(|found| useful(found)).map(|found| found.coverage.of_content).fold(0.0, f32::max);
    if best < 0.3 {
        return Ok(None);
    }
    // The latest statement about the thing holds, if it matches about as well.
    let matches = |found: &RetrievedEvent| {
        let rescheduled = reports_rescheduling(&found.reading) && names_head(question, &found.reading);
        let least = if rescheduled { MIN_RESCHEDULED_COVERAGE } else { MIN_LATER_COVERAGE };
        found.coverage.of_content >= least * best
    };
    let mut meant: Vec<&RetrievedEvent> = all.iter().filter(|found| useful(found) && matches(found)).collect();
    meant.sort_by_key(|found| std::cmp::Reverse((found.span().start, found.id())));
    let Some(newest) = meant.first() else { return Ok(None) };
    // "When is the practice?" of one that was called off.
    let change = correction_in(&newest.reading);
    let own = change.is_some_and(|change| change.called_off && !change.moved) && names_head(question, &newest.reading);
    let cancelled = if own { Some(*newest) } else { all.iter().find(|other| cancels_later(question, newest, other)) };
    if let Some(newest) = cancelled {
        let text = quotation(newest, question);
        let known = question.content.known_share();
        let (layer, value) = (Layer::Episodes, CandidateValue::Text(text.clone()));
        let reason = "it was called off".into();
        return Ok(Some(Candidate::computed(layer, text, value, vec![newest.clone()], known, reason)));
    }
    // "Until when?" asks for the end that is told.
    let asking = question.asked.clause.asking.as_ref().and_then(|asking| asking.preposition.as_deref());
    let told_as = |relation: TimeRelation| {
        let mut times = meant.iter().flat_map(|found| &found.reading.times);
        times.any(|time| time.relation == relation).then_some(relation)
    };
    let bounding = match asking {
        Some("until" | "till" | "by") => told_as(TimeRelation::Until),
        Some("since" | "from") => told_as(TimeRelation::Since),
        _ => None,
    };
    let asks_clock = asks_clock_time(question);
    let mut date: Option<ToldTime> = None;
    let mut clock: Option<ToldTime> = None;
    // The day of an hour is told of the same thing.
    let names_thing = |found: &RetrievedEvent| {
        let thing = question.named.first();
        thing.is_none_or(|thing| best_phrase_similarity(thing, &found.reading) >= MIN_PERSON_SIMILARITY)
    };
    for found in &meant {
        if (date.is_some() || clock.is_some()) && !names_thing(found) {
            continue;
        }
        // Who corrects themselves means the last time.
        let corrected = self_correction(&found.reading.event.text, &found.reading.sentences);
        let is_corrected = |time: &&ToldTime| corrected.is_none_or(|from| time.range.start >= from);
        let mut times: Vec<&ToldTime> = found.reading.times.iter().filter(is_corrected).collect();
        if times.is_empty() {
            times = found.reading.times.iter().collect();
        } else if corrected.is_some() {
            times.reverse();
        }
        let own = |time: &&ToldTime| is_time_of_deed(question, &found.reading, time);
        if corrected.is_none() && times.iter().any(own) {
            times.retain(own);
        }
        let sentence = if corrected.is_some() { None } else { sentence_with_time(question, found) };
        for time in times {
            let elsewhere = sentence.as_ref().is_some_and(|it| time.range.start < it.start || it.end < time.range.end);
            if elsewhere
                || is_former_time(found, time)
                || is_called_off(&found.reading, time)
                || bounding.is_some_and(|asked| time.relation != asked)
                || time.span.end < found.span().start
                || verb_is_denied(&found.reading, time)
            {
                continue;
            }
            if time.has_date && date.is_none() {
                date = Some(time.clone());
                if time.has_clock && clock.is_none() {
                    clock = Some(time.clone());
                }
            } else if time.has_clock && clock.is_none() {
                clock = Some(time.clone());
            }
        }
        // An event that is moved to another day keeps its hour.
        if date.is_some() && (clock.is_some() || !asks_clock) {
            break;
        }
    }
    // "On Friday instead, at the same hour": what was put off told the hour.
    let is_exact = |clock: &ToldTime| clock.span.end.since(clock.span.start) <= MAX_CLOCK_SPAN;
    if asks_clock && !clock.as_ref().is_some_and(is_exact) {
        let put_off = pool.taken_back.iter().filter(|pair| meant.iter().any(|found| found.id() == pair.later.id()));
        let mut hours = put_off.flat_map(|pair| &pair.earlier.reading.times).filter(|time| time.has_clock);
        clock = hours.find(|time| is_exact(time)).cloned().or(clock);
    }
    // "It begins at six, not at five": what was corrected told the day.
    if date.is_none() {
        let corrected = pool.taken_back.iter().filter(|pair| pair.later.id() == newest.id());
        let mut days = corrected.flat_map(|pair| &pair.earlier.reading.times);
        date = days.find(|time| time.has_date && time.span.end >= newest.span().start).cloned();
    }
    let span = match (&date, &clock) {
        (Some(date), Some(clock)) if date.range != clock.range || !date.has_clock => {
            hour_of_day(date.span, clock.span, question)
        }
        (Some(date), _) => date.span,
        (None, Some(clock)) => clock.span,
        (None, None) => return Ok(None),
    };
    let span = day_of_move(question, span);
    // A day, or a part of one: "on Friday in the morning".
    let whole = span.end.since(span.start) > MAX_CLOCK_SPAN || clock.is_none();
    let text = if whole { say_period(span, &question.now) } else { say_moment(span.start, &question.now) };
    // "They won't be here before Monday."
    let before = date.as_ref().is_some_and(|date| date.relation == TimeRelation::Before);
    let text = if before { format!("not before {}", text.trim_start_matches("on ")) } else { text };
    let thing = question.named.first().map_or(0.5, |thing| best_phrase_similarity(thing, &newest.reading));
    let newest = (*newest).clone();
    let mut evidence = vec![newest.clone()];
    evidence.extend(meant.iter().skip(1).map(|found| (*found).clone()));
    evidence.extend(
        pooled
            .iter()
            .filter(|found| !evidence.iter().any(|known| known.id() == found.id()))
            .cloned()
            .collect::<Vec<_>>(),
    );
    Ok(Some(Candidate {
        layer: Layer::Episodes,
        text: capitalised(&text),
        value: CandidateValue::Times(vec![span]),
        signals: Signals {
            coverage: newest.coverage.of_content,
            cosine: newest.cosine.unwrap_or(0.0),
            margin: rank_margin(pooled),
            fits: 1.0,
            thing,
            known: question.content.known_share(),
        },
        evidence,
        confidence: 0.0,
        computed: false,
        reason: "what was told last of that time".into(),
    }))
}
