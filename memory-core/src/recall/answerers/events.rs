//! Answers from single events: the part of the best event that the question asks for, or its text.

use std::collections::{BTreeMap, HashMap};

use crate::language::english::letters::capitalised;
use crate::language::english::question::{AnswerKind, Occurrence};
use crate::language::english::syntax::Clause;
use crate::recall::answerers::causes::{explaining_clause, faulty_thing};
use crate::recall::answerers::keep_if_any;
use crate::recall::answerers::ongoing;
use crate::recall::answerers::parts::{MAX_LIST_ITEMS, answer_parts, is_one_of_colours, names_role_holder};
use crate::recall::answerers::quote::{join_list, may_contain_answer, quotation, quotation_fit};
use crate::recall::answerers::rank::{rank, refers_to_asked_future};
use crate::recall::answerers::times::rank_margin;
use crate::recall::answerers::utterances::{asked_speaker, asks_all_words, is_said_by, may_be_said_by};
use crate::recall::candidate::{Candidate, CandidateValue, Layer, Signals};
use crate::recall::clause_selection::{has_other_actor, lacks_asked_deed, lacks_asked_thing};
use crate::recall::likeness::{best_phrase_similarity, is_owned_by_another};
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::question::{Question, ROBOT_ENTITY};
use crate::recall::reading::ParsedEvent;
use crate::recall::stance::stance;
use crate::{EventId, Kind, ReadError, TimeSpan};

/// Rank difference to the best event within which another event may contain the answer.
const RANK_TOLERANCE: f32 = 0.12;
/// As [`RANK_TOLERANCE`], for speech.
const SPEECH_RANK_TOLERANCE: f32 = 0.4;
/// As [`RANK_TOLERANCE`], for the actor of a deed, if no closer event contains the answer.
const WIDE_RANK_TOLERANCE: f32 = 0.5;
/// Maximum number of events within [`RANK_TOLERANCE`] that are read.
const MAX_NEAR_EVENTS: usize = 8;
/// Maximum number of events within [`WIDE_RANK_TOLERANCE`] that are read.
const MAX_WIDE_EVENTS: usize = 12;
/// `fits` signal of a quotation that may contain the answer.
const POSSIBLE_ANSWER_FIT: f32 = 0.1;
/// Minimum coverage of a question about a fault by an event that explains it.
const MIN_EXPLANATION_COVERAGE: f32 = 0.8;
/// Minimum similarity of an event to the thing in question.
pub(super) const MIN_THING_SIMILARITY: f32 = 0.7;

/// Minimum similarity of an event to a thing whose colour is told beside that of others.
const MIN_COLOURED_SIMILARITY: f32 = 0.85;

/// Answers from single events.
pub(in crate::recall) fn answer(
    pool: &EventPool<'_>,
    pooled: &[RetrievedEvent],
) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let mut ranked = events_that_may_answer(question, pooled);
    let ranks: HashMap<EventId, f32> = ranked.iter().map(|found| (found.id(), rank(question, found))).collect();
    let rank = |found: &RetrievedEvent| found.placed + ranks.get(&found.id()).copied().unwrap_or_default();
    ranked.sort_by(|a, b| rank(b).total_cmp(&rank(a)).then(a.id().cmp(&b.id())));
    if let Some(occurrence) = question.asked.occurrence {
        let near = if names_nothing(question) { f32::MAX } else { RANK_TOLERANCE };
        prefer_occurrence(occurrence, &mut ranked, rank, near);
    }
    let Some(best) = ranked.first().copied() else { return Ok(None) };
    let top = rank(best);
    // "The last person" asks of nothing but the time: all that was noticed suits.
    let any = names_nothing(question) && question.asked.occurrence.is_some();
    let suits = |found: &&RetrievedEvent| any || rank(found) >= top - RANK_TOLERANCE;
    let mut near: Vec<&RetrievedEvent> = ranked.iter().copied().filter(suits).take(MAX_NEAR_EVENTS).collect();
    // A person's words are reported by that person, or by others.
    if let Some(speaker) = asked_speaker(question) {
        near.retain(|found| may_be_said_by(speaker, &found.reading));
    }
    let unsaid = near.is_empty();
    let tasks = most_frequent_tasks(question, pooled);
    let computed = tasks.is_some();
    let wider = ranked.iter().copied().filter(|found| {
        // The owner may be stated with another name of the thing: "that is Ivo's lamp".
        (rank(found) >= top - WIDE_RANK_TOLERANCE || question.ask() == AnswerKind::Owner) && !found.reading.only_asks()
    });
    let mut chosen = tasks.or_else(|| parts_of_events(question, &near, wider));
    if let Some((parts, _)) = &mut chosen
        && question.asked.class.as_ref().is_some_and(|class| class.plural)
    {
        add_parts_of_all(question, &near, parts);
    }
    let (text, value, fits, first) = match chosen {
        Some((parts, found)) => (capitalised(&join_list(&parts)), CandidateValue::List(parts), 1.0, found),
        None => {
            // No event contains the answer itself. Among similar matches the search score decides, most of all for
            // speech, which says one thing in many words.
            let said = |found: &&RetrievedEvent| {
                found.reading.event.kind == Kind::Text
                    && rank(found) >= top - SPEECH_RANK_TOLERANCE
                    && !has_other_actor(question, &found.reading)
            };
            let near = if !unsaid && said(&best) { ranked.iter().copied().filter(said).collect() } else { near };
            let best = near.iter().copied().reduce(|a, b| if b.score > a.score { b } else { a }).unwrap_or(best);
            let (text, fits) = quoted(question, best);
            (text.clone(), CandidateValue::Text(text), if unsaid { 0.0 } else { fits }, best)
        }
    };
    // Without a report of the deed, neither its actor nor its reason is known.
    let untold = matches!(question.ask(), AnswerKind::Person | AnswerKind::Reason) && first.placed == 0.0 && !computed;
    let fits = if untold && lacks_asked_deed(question, &first.reading) { 0.0 } else { fits };
    // "What did Ivo say when the gong sounded?": his words at that moment, whatever they are about.
    let said = |found: &RetrievedEvent| {
        asked_speaker(question).is_some_and(|speaker| is_said_by(speaker, &found.reading) == Some(true))
    };
    let said_once = || ranked.iter().filter(|found| said(found)).count() == 1;
    let utterance = asks_all_words(question) && said(first) && (first.placed > 0.0 || said_once());
    let fits = if utterance { 1.0 } else { fits };
    let mut evidence = vec![first.clone()];
    // Further evidence is ordered by the search, which weighs every word of the question.
    let mut rest: Vec<&RetrievedEvent> = ranked.iter().copied().filter(|found| found.id() != first.id()).collect();
    if rest.iter().all(|found| found.placed == 0.0) && question.asked.occurrence.is_none() {
        rest.sort_by(|a, b| b.score.total_cmp(&a.score));
    }
    evidence.extend(rest.into_iter().cloned());
    let thing = question.named.iter().map(|thing| best_phrase_similarity(thing, &first.reading)).fold(0.0, f32::max);
    let of_class = if fits >= 1.0 && !computed { coverage_as_member(question, first) } else { 0.0 };
    Ok(Some(Candidate {
        layer: Layer::Episodes,
        text,
        value,
        signals: Signals {
            coverage: if computed { 1.0 } else { coverage_by_date(question, first).max(of_class) },
            cosine: first.cosine.unwrap_or(0.0),
            // If the question names nothing and has no cue, the best event is arbitrary.
            margin: if question.content.is_empty() && first.placed == 0.0 { 0.0 } else { rank_margin(pooled) },
            fits,
            thing: if computed || orders_robot(question, &first.reading) {
                1.0
            } else if question.named.is_empty() {
                0.5
            } else {
                thing
            },
            known: question.content.known_share().max(of_class),
        },
        evidence,
        confidence: 0.0,
        // "My sister Petra": whose sister she is follows from who speaks. Of several colours, that of the thing stands with it.
        computed: utterance
            || fits >= 1.0
                && (names_role_holder(question, &first.reading)
                    || thing >= MIN_COLOURED_SIMILARITY && is_one_of_colours(question, &first.reading)),
        reason: if utterance {
            "what they said".into()
        } else if fits >= 1.0 {
            "the part of the event that was asked for".into()
        } else {
            "the event nearest to the question".into()
        },
    }))
}

/// Returns the events that may answer: those in the requested time, of the requested day, and of a fault those that
/// explain it.
fn events_that_may_answer<'a>(question: &Question<'_>, pooled: &'a [RetrievedEvent]) -> Vec<&'a RetrievedEvent> {
    let mut events: Vec<&RetrievedEvent> = pooled.iter().filter(|found| !ongoing::is_over(question, found)).collect();
    // Events in the requested time go before mere matches of words. The cue is no answer.
    keep_if_any(&mut events, |found| found.placed > 0.0);
    // Past events do not answer a question about a future day, if an event refers to that day.
    keep_if_any(&mut events, |found| refers_to_asked_future(question, &found.reading) > 0.0);
    if let Some(thing) = faulty_thing(question) {
        let explains = |found: &RetrievedEvent| explaining_clause(&found.reading).is_some();
        let of_thing = |found: &RetrievedEvent| best_phrase_similarity(thing, &found.reading) >= MIN_THING_SIMILARITY;
        // "All is well again" does not name the fault.
        let is_over = |found: &RetrievedEvent| {
            stance("broken", thing, &question.asked.clause, &found.reading) == Some(false) && !explains(found)
        };
        if events.iter().any(|found| !is_over(found) && of_thing(found)) {
            events.retain(|found| !is_over(found));
        }
        keep_if_any(&mut events, |found| explains(found) && of_thing(found));
    }
    events
}

/// Returns the parts of events that the question asks for, and the event of the first one. `wider` are the events that
/// may name an actor in other words.
fn parts_of_events<'a>(
    question: &Question<'_>,
    near: &[&'a RetrievedEvent],
    wider: impl Iterator<Item = &'a RetrievedEvent>,
) -> Option<(Vec<String>, &'a RetrievedEvent)> {
    let with_parts = |found: &'a RetrievedEvent| {
        let parts = answer_parts(question, found);
        (!parts.is_empty()).then_some((parts, found))
    };
    let usual = question.asked.habitual && matches!(question.ask(), AnswerKind::Person | AnswerKind::Thing);
    let usual = if usual { most_common_parts(question, near) } else { None };
    let of_near = || near.iter().find_map(|found| with_parts(found));
    let names_actor = matches!(question.ask(), AnswerKind::Person | AnswerKind::Owner | AnswerKind::Description);
    let of_wider = || match names_actor && !near.is_empty() {
        true => wider.take(MAX_WIDE_EVENTS).find_map(with_parts),
        false => None,
    };
    usual.or_else(of_near).or_else(of_wider)
}

/// Adds the parts of all events to a list.
fn add_parts_of_all(question: &Question<'_>, events: &[&RetrievedEvent], parts: &mut Vec<String>) {
    for part in events.iter().flat_map(|found| answer_parts(question, found)) {
        if !parts.iter().any(|known| known.eq_ignore_ascii_case(&part)) && parts.len() < MAX_LIST_ITEMS {
            parts.push(part);
        }
    }
}

/// Returns an event in its own words, and how far these are of the requested kind.
fn quoted(question: &Question<'_>, found: &RetrievedEvent) -> (String, f32) {
    let possible = if may_contain_answer(question, &found.reading) { POSSIBLE_ANSWER_FIT } else { 0.0 };
    let of_other = has_other_actor(question, &found.reading)
        || lacks_asked_thing(question, &found.reading)
        || is_owned_by_another(&question.named, &found.reading);
    let fits = if of_other { 0.0 } else { quotation_fit(question).max(possible) };
    (quotation(found, question), fits)
}

/// Returns the coverage of the question by an event whose thing is a member of the class in question: a viola covers
/// "instrument".
fn coverage_as_member(question: &Question<'_>, found: &RetrievedEvent) -> f32 {
    let Some(class) = question.asked.class.as_ref().filter(|_| question.ask() == AnswerKind::Thing) else { return 0.0 };
    let mut held = question.content.item_similarities(&found.reading);
    let items = question.content.items.iter().zip(&mut held);
    items.filter(|(item, _)| item.lemma == class.head).for_each(|(_, held)| *held = 1.0);
    question.content.covered_share(&held)
}

/// Returns the coverage of the question by an event. A named future day accounts for half of it.
fn coverage_by_date(question: &Question<'_>, found: &RetrievedEvent) -> f32 {
    let coverage = found.coverage.of_content;
    if orders_robot(question, &found.reading) {
        return 1.0;
    }
    // An explanation covers the fault, whatever its words.
    let explained = faulty_thing(question)
        .is_some_and(|thing| best_phrase_similarity(thing, &found.reading) >= MIN_THING_SIMILARITY);
    if explained && explaining_clause(&found.reading).is_some() {
        return coverage.max(MIN_EXPLANATION_COVERAGE);
    }
    if refers_to_asked_future(question, &found.reading) > 0.0 { f32::midpoint(coverage, 1.0) } else { coverage }
}

/// Returns whether an event orders the robot to do what the question asks: "please feed the cat at eight", for "what do
/// you have to do at eight?".
fn orders_robot(question: &Question<'_>, reading: &ParsedEvent) -> bool {
    let itself = question.named.iter().any(|noun| noun.head == ROBOT_ENTITY);
    let orders = |clause: &Clause| {
        let verb = clause.verb.as_ref().filter(|verb| verb.infinitive && !verb.past && verb.modal.is_none());
        verb.is_some_and(|verb| !verb.auxiliary_only && !verb.negated) && clause.subject.is_none()
    };
    let told = reading.event.kind == Kind::Text && reading.event.entity.as_deref() != Some(ROBOT_ENTITY);
    let asked = question.asked.clause.verb.as_ref().is_some_and(|verb| {
        let of_it = || question.asked.clause.objects.iter().any(|object| object.head == "you");
        (verb.passive || of_it()) && matches!(verb.lemma.as_str(), "ask" | "tell" | "order" | "remind" | "instruct")
    });
    let near = question.boosted_spans();
    let in_time = || {
        near.is_empty()
            || reading.times.iter().any(|time| near.iter().any(|(span, _)| is_same_clock_time(time.span, *span)))
    };
    itself
        && told
        && (refers_to_asked_future(question, reading) > 0.0 || asked && in_time())
        && reading.clauses().any(orders)
}

/// Returns whether two spans start at about the same time of day.
fn is_same_clock_time(a: TimeSpan, b: TimeSpan) -> bool {
    let middle = |span: TimeSpan| span.start.saturating_add(span.end.since(span.start) / 2).as_micros() / 60_000_000;
    let apart = (middle(a) - middle(b)).rem_euclid(12 * 60);
    a.overlaps(b) || apart.min(12 * 60 - apart) <= 15
}

/// Returns whether a question restricts nothing but the time: "who was the last person in front of you?".
fn names_nothing(question: &Question<'_>) -> bool {
    question.content.is_empty() && question.asked.cue.is_none()
}

fn prefer_occurrence(
    occurrence: Occurrence,
    ranked: &mut [&RetrievedEvent],
    rank: impl Fn(&RetrievedEvent) -> f32,
    near: f32,
) {
    let top = ranked.first().map_or(0.0, |best| rank(best));
    let strong = |found: &RetrievedEvent| rank(found) >= top - near;
    ranked.sort_by(|a, b| match (strong(a), strong(b)) {
        (true, true) => {
            let time = a.span().start.cmp(&b.span().start);
            if occurrence == Occurrence::Last { time.reverse() } else { time }
        }
        (a, b) => b.cmp(&a),
    });
}

/// Returns the tasks of the events in a time span, the most frequent first, if the question asks for tasks.
fn most_frequent_tasks<'a>(
    question: &Question<'_>,
    pooled: &'a [RetrievedEvent],
) -> Option<(Vec<String>, &'a RetrievedEvent)> {
    let class = question.asked.class.as_ref()?;
    if !matches!(
        class.head.as_str(),
        "recipe" | "task" | "job" | "chore" | "procedure" | "dish" | "programme" | "project"
    ) || question.ask() != AnswerKind::Thing
    {
        return None;
    }
    let bound = question.bound()?;
    let mut counts: Vec<(String, usize, &RetrievedEvent)> = Vec::new();
    for found in pooled.iter().filter(|found| found.span().overlaps(bound)) {
        let Some(task) = found.reading.event.attributes.get("task").and_then(crate::Value::as_text) else { continue };
        match counts.iter_mut().find(|(known, ..)| known == task) {
            Some((_, count, _)) => *count += 1,
            None => counts.push((task.to_owned(), 1, found)),
        }
    }
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let first = counts.first()?.2;
    Some((counts.into_iter().map(|(task, ..)| task).take(MAX_LIST_ITEMS).collect(), first))
}

/// Returns the answer that most of the near events contain.
fn most_common_parts<'a>(
    question: &Question<'_>,
    near: &[&'a RetrievedEvent],
) -> Option<(Vec<String>, &'a RetrievedEvent)> {
    let mut counts: BTreeMap<String, (usize, &RetrievedEvent)> = BTreeMap::new();
    for found in near {
        for part in answer_parts(question, found) {
            counts.entry(part).or_insert((0, found)).0 += 1;
        }
    }
    let (part, (_, found)) =
        counts.into_iter().max_by_key(|(part, (count, _))| (*count, std::cmp::Reverse(part.clone())))?;
    Some((vec![part], found))
}
