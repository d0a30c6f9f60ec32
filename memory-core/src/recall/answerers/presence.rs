//! Where the robot was, and when, how often and how long it was at a place that has a name. A place is known by the poses at
//! which it was named, else by the pictures that were seen when it was.

use super::counts::times_in_words;
use super::places::{capitalised, theme};
use super::poses::{is_named, named_place, place_of, posed};
use crate::episodic::gist::{Line, Topic, joined};
use crate::episodic::visited;
use crate::index::SearchQuery;
use crate::language::english::question::{Ask, Occurrence, Order};
use crate::language::english::space::{Spatial, at_place, listed, named_place as named_in, place_name, spatial};
use crate::language::english::syntax::NounPhrase;
use crate::language::english::time::{Tense, clock_range, length, moment};
use crate::recall::candidate::{Candidate, Layer, Value};
use crate::recall::pool::{EventPool, RetrievedEvent, merge};
use crate::recall::question::{Question, ROBOT_ENTITY, intersection};
use crate::recall::reading::name_phrase;
use crate::recall::robot_stays::{RobotStay, current_place_name, reported_visits, shows_presence, stays_at};
use crate::recall::visits::ScenePlaces;
use crate::{Event, EventId, Kind, Pose, PoseOf, ReadError, TimeSpan, Timestamp};

use std::time::Duration;

/// A bound up to this length is one moment.
const MOMENT: Duration = Duration::from_secs(3 * 3_600);
/// How far from a moment a pose may be that says where the robot was then, from the nearest on.
const WINDOWS: [Duration; 3] = [Duration::from_secs(5), Duration::from_secs(60), Duration::from_secs(600)];
/// Events that are gone through in such a window.
const WINDOW_EVENTS: usize = 200;
/// Events that name a place and are looked at.
const NAMINGS: usize = 200;
/// Most stays, places or things that an answer lists.
const LISTED: usize = 5;
/// Most items of evidence.
const EVIDENCE: usize = 50;

/// The answer to a question about where the robot was. `told` are the proposals of words and facts: of two, the newer is right.
pub(in crate::recall) fn answer(
    pool: &EventPool<'_>,
    cue: Option<&RetrievedEvent>,
    told: &[Candidate],
) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    if question.asked.habitual || question.tense == Tense::Future {
        return Ok(None);
    }
    match question.ask() {
        Ask::Place if asks_for_itself(question) => whereabouts(pool, cue, told),
        _ if question.asked.cue.is_some() => Ok(None),
        Ask::Time | Ask::Times | Ask::Length if is_itself(question.asked.clause.subject.as_ref()) => {
            let Some(noun) = place_asked(question) else { return Ok(None) };
            match stays(pool, &noun)? {
                Some(stays) if !stays.is_empty() => presence(pool, &stays),
                _ => Ok(None),
            }
        }
        Ask::Thing | Ask::Description | Ask::Action => match spatial(&question.asked) {
            Some(Spatial::Around { noun, inside: true }) if named_place(pool, &noun).is_none() => seen_at(pool, &noun),
            _ => Ok(None),
        },
        _ => Ok(None),
    }
}

/// "Where are you?" "Where was the robot at 3 pm?", and not "Where did you put the mug?".
pub(in crate::recall) fn asks_for_itself(question: &Question<'_>) -> bool {
    let clause = &question.asked.clause;
    clause.subject.is_some() && is_itself(clause.subject.as_ref()) && {
        let doing = clause.verb.as_ref().filter(|verb| !verb.auxiliary_only).map(|verb| verb.lemma.as_str());
        matches!(doing, None | Some("be" | "go" | "stand" | "drive" | "stay" | "wait" | "move" | "come"))
            && theme(question).is_some_and(|theme| theme.head == ROBOT_ENTITY)
    }
}

fn is_itself(subject: Option<&NounPhrase>) -> bool {
    subject.is_none_or(|who| matches!(who.head.as_str(), "you" | "your" | ROBOT_ENTITY))
}

/// The place whose visits a question is about: "in the kitchen", "visit the kitchen", "leave the hall".
fn place_asked(question: &Question<'_>) -> Option<NounPhrase> {
    let clause = &question.asked.clause;
    let moving =
        clause.verb.as_ref().is_some_and(|verb| matches!(verb.lemma.as_str(), "visit" | "enter" | "leave" | "reach"));
    if moving && let Some(object) = clause.objects.iter().find(|object| !object.is_pronoun()) {
        return Some(object.clone());
    }
    let there = clause.verb.as_ref().is_none_or(|verb| {
        verb.auxiliary_only
            || matches!(
                verb.lemma.as_str(),
                "be" | "go" | "come" | "drive" | "stay" | "arrive" | "get" | "spend" | "stand" | "move"
            )
    });
    match spatial(&question.asked).filter(|_| there) {
        Some(Spatial::Around { noun, inside: true }) => Some(noun),
        _ => None,
    }
}

/// The stays at the place that a noun names, within the bounds of the question; `None` where nothing has that name.
fn stays(pool: &EventPool<'_>, noun: &NounPhrase) -> Result<Option<Vec<(TimeSpan, EventId)>>, ReadError> {
    let bound = pool.question.bound();
    let all: Vec<(TimeSpan, EventId)> = match named_place(pool, noun) {
        Some(place) => {
            let visits = reported_visits(pool.reader, bound)?;
            let stays = stays_at(pool.reader, &place, &visits, bound)?;
            stays.into_iter().map(|RobotStay { span, event, .. }| (span, event)).collect()
        }
        None => match pictured(pool, noun)? {
            Some(stays) => stays,
            None => return Ok(None),
        },
    };
    let inside = |(span, event)| match bound {
        Some(bound) => intersection(span, bound).map(|span| (span, event)),
        None => Some((span, event)),
    };
    Ok(Some(all.into_iter().filter_map(inside).collect()))
}

/// The visits to what was seen when a place was named that has no position.
pub(super) fn pictured(pool: &EventPool<'_>, noun: &NounPhrase) -> Result<Option<Vec<(TimeSpan, EventId)>>, ReadError> {
    let spans: Vec<TimeSpan> = namings(pool, noun, None)?.iter().map(RetrievedEvent::span).collect();
    if spans.is_empty() {
        return Ok(None);
    }
    let Some(places) = ScenePlaces::load(pool.reader, None)? else { return Ok(None) };
    let shown = places.visits_at_times(&spans);
    Ok((!shown.is_empty()).then(|| shown.into_iter().map(|shown| (shown.span, shown.event.id)).collect()))
}

/// The latest events that say that they happen at the place that a noun names, also under its other names.
pub(super) fn namings(
    pool: &EventPool<'_>,
    noun: &NounPhrase,
    span: Option<TimeSpan>,
) -> Result<Vec<RetrievedEvent>, ReadError> {
    let content = &pool.question.content;
    let mut found = pool.events_mentioning(noun, span, true, NAMINGS, content)?;
    let asked = place_name(&pool.question.query.question, noun).unwrap_or_else(|| noun.head.clone());
    for other in pool.reader.places().map_or_else(Vec::new, |places| places.names().others(&asked)) {
        found = merge(found, pool.events_mentioning(&name_phrase(other), span, true, NAMINGS, content)?);
    }
    found.retain(|found| names(pool, &found.reading.event, noun));
    Ok(found)
}

/// Whether an event says that it happens at the place that a noun names.
fn names(pool: &EventPool<'_>, event: &Event, noun: &NounPhrase) -> bool {
    if event.attributes.get("derived") == Some(&crate::Value::Bool(true)) {
        return false;
    }
    let told = event.attributes.get("place").and_then(crate::Value::as_text).map(str::to_owned);
    let said = || (event.kind == Kind::Text).then(|| named_in(&event.text)).flatten();
    told.or_else(said).is_some_and(|name| is_named(noun, &name) || is_named_now(pool, noun, &name, event.span.start))
}

/// Whether a place that had a name at a time is the one that a noun names, which had other names too.
pub(super) fn is_named_now(pool: &EventPool<'_>, noun: &NounPhrase, name: &str, at: Timestamp) -> bool {
    let Some(places) = pool.reader.places() else { return false };
    let current = places.current(name, at);
    let old = |(old, new): (&str, &str)| new.eq_ignore_ascii_case(current) && is_named(noun, old);
    is_named(noun, current) || places.names().old_names().any(old)
}

/// When, how often or how long.
fn presence(pool: &EventPool<'_>, stays: &[(TimeSpan, EventId)]) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let lasted: Duration = stays.iter().map(|(span, _)| span.end.since(span.start)).sum();
    let count = stays.len();
    let (text, value, chosen) = match question.ask() {
        Ask::Times => {
            let begins: Vec<String> =
                stays.iter().take(LISTED).map(|(span, _)| moment(span.start, &question.now)).collect();
            let more = if count > LISTED { ", …" } else { "" };
            #[expect(clippy::cast_precision_loss, reason = "a count of stays")]
            let value = Value::Number(count as f64, String::new());
            (format!("{}: {}{more}.", times_in_words(count), begins.join(", ")), value, stays.to_vec())
        }
        Ask::Length => {
            if lasted.is_zero() {
                return Ok(None);
            }
            // "How long were you last there?" is about one of them.
            let chosen = one_of(stays, question.asked.occurrence);
            let lasted: Duration = chosen.iter().map(|(span, _)| span.end.since(span.start)).sum();
            let text = length(lasted);
            (capitalised(&text), Value::Number(lasted.as_secs_f64(), "s".into()), chosen)
        }
        _ => {
            let mut chosen = one_of(stays, question.asked.occurrence);
            let verb = question.asked.clause.verb.as_ref().map_or("be", |verb| verb.lemma.as_str());
            let left = verb == "leave";
            if left && question.asked.occurrence.is_none() {
                chosen = one_of(stays, Some(Occurrence::Last));
            }
            if chosen.len() > LISTED {
                chosen.drain(..chosen.len() - LISTED);
            }
            let words = |span: &TimeSpan| match verb {
                "leave" => moment(span.end, &question.now),
                "go" | "come" | "arrive" | "enter" | "reach" | "get" => moment(span.start, &question.now),
                _ if span.end.since(span.start) < Duration::from_secs(1) => moment(span.start, &question.now),
                _ => clock_range(*span, &question.now),
            };
            let text: Vec<String> = chosen.iter().map(|(span, _)| words(span)).collect();
            let spans = chosen.iter().map(|(span, _)| *span).collect();
            (capitalised(&text.join(", ")), Value::Times(spans), chosen)
        }
    };
    let ids: Vec<EventId> = chosen.iter().rev().take(EVIDENCE).map(|(_, event)| *event).collect();
    let evidence = pool.read(&ids, &question.content)?;
    if evidence.is_empty() {
        return Ok(None);
    }
    let reason = format!("{count} separate {}, {} in all", if count == 1 { "stay" } else { "stays" }, length(lasted));
    Ok(Some(Candidate::computed(Layer::Episodes, text, value, evidence, question.content.known_share(), reason)))
}

fn one_of(stays: &[(TimeSpan, EventId)], occurrence: Option<Occurrence>) -> Vec<(TimeSpan, EventId)> {
    let one = match occurrence {
        None => return stays.to_vec(),
        Some(Occurrence::First) => stays.first(),
        Some(Occurrence::Last) => stays.last(),
        Some(Occurrence::Nth(n)) => n.checked_sub(1).and_then(|place| stays.get(place)),
        Some(Occurrence::Previous) => stays.len().checked_sub(2).and_then(|place| stays.get(place)),
    };
    one.copied().into_iter().collect()
}

/// Where the robot is, or was at a moment or during a stretch of time.
fn whereabouts(
    pool: &EventPool<'_>,
    cue: Option<&RetrievedEvent>,
    told: &[Candidate],
) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    if pool.reader.positions().is_none_or(crate::index::PositionIndex::is_empty) {
        return Ok(None);
    }
    let bound = if question.has_time_bound() { question.bound() } else { question.hard };
    let chosen = match (&question.asked.cue, cue, bound) {
        (Some(relation), Some(cue), _) if relation.order == Order::During => at_moment(pool, cue.span().start)?,
        (Some(_), ..) => None,
        (None, _, Some(bound)) if bound.end.since(bound.start) > MOMENT => return course(pool, bound),
        (None, _, Some(bound)) => at_moment(pool, bound.start.saturating_add(bound.end.since(bound.start) / 2))?,
        (None, _, None) => {
            let newest = latest(pool)?;
            let in_words = told
                .iter()
                .filter(|candidate| candidate.signals.fits >= 0.5)
                .filter_map(|candidate| candidate.evidence.iter().map(|found| found.span().start).max())
                .max();
            // Nothing that was told is newer than where the robot says it is.
            let is_newer = |found: &RetrievedEvent| in_words.is_none_or(|told| told < found.span().end);
            newest.filter(|found| robot_now(pool).is_some() || is_newer(found))
        }
    };
    let Some(chosen) = chosen else { return Ok(None) };
    let here = robot_now(pool);
    let text = match here {
        Some(pose) => Some(in_words(pool, pose, None)),
        None => robot_was(pool, &chosen.reading.event),
    };
    let Some(text) = text else { return Ok(None) };
    let span = chosen.span();
    let reason = match visited(&chosen.reading.event) {
        _ if here.is_some() => "where it is now".to_owned(),
        Some(_) => format!("there {}", clock_range(span, &question.now)),
        None => format!("where it was {}", moment(span.start, &question.now)),
    };
    let known = question.content.known_share();
    let value = Value::Text(text.clone());
    Ok(Some(Candidate::computed(Layer::Episodes, capitalised(&text), value, vec![chosen], known, reason)))
}

/// The place or the position of an event that has the robot's pose.
fn robot_was(pool: &EventPool<'_>, event: &Event) -> Option<String> {
    event.pose.as_ref().map(|pose| in_words(pool, pose, current_place_name(pool.reader, event)))
}

fn in_words(pool: &EventPool<'_>, pose: &Pose, visited: Option<&str>) -> String {
    let place = visited.or_else(|| place_of(pool, pose));
    let position = || format!("at x {:.1} m, y {:.1} m on {}", pose.x, pose.y, pose.frame);
    place.map_or_else(position, at_place)
}

/// Where the robot is, where a question asks for now.
pub(in crate::recall) fn robot_now<'q>(pool: &'q EventPool<'_>) -> Option<&'q Pose> {
    let question = pool.question;
    let now = question.tense == Tense::Present
        && question.query.now.is_none()
        && question.asked.cue.is_none()
        && !question.has_time_bound()
        && question.hard.is_none();
    question.query.robot.as_ref().filter(|_| now && asks_for_itself(question))
}

/// Whether an event says where the robot was, and not only what it saw.
fn is_of_robot(found: &RetrievedEvent) -> bool {
    let event = &found.reading.event;
    event.pose.as_ref().is_some_and(|pose| pose.of == PoseOf::Robot) && shows_presence(event)
}

/// What says where the robot was at a moment: a visit, else what was nearest in time.
fn at_moment(pool: &EventPool<'_>, at: Timestamp) -> Result<Option<RetrievedEvent>, ReadError> {
    let visit = reported_visits(pool.reader, Some(TimeSpan::new(at, at)))?.pop().map(|event| event.id);
    if let Some(visit) = visit {
        return Ok(posed(pool, &[visit])?.pop());
    }
    for window in WINDOWS {
        let span = TimeSpan::new(at.saturating_sub(window), at.saturating_add(window));
        let query = SearchQuery { span: Some(span), latest: true, limit: WINDOW_EVENTS, ..SearchQuery::default() };
        let ids: Vec<EventId> = pool.reader.search().search(&query).into_iter().map(|hit| hit.id).collect();
        let away = |found: &RetrievedEvent| {
            let span = found.span();
            if span.start > at { span.start.since(at) } else { at.since(span.end.min(at)) }
        };
        let found = posed(pool, &ids)?;
        if let Some(nearest) = found.into_iter().min_by_key(|found| (!is_of_robot(found), away(found), found.id())) {
            return Ok(Some(nearest));
        }
    }
    Ok(None)
}

/// The latest event with the robot's pose, else the latest one with any.
fn latest(pool: &EventPool<'_>) -> Result<Option<RetrievedEvent>, ReadError> {
    let query = SearchQuery { latest: true, limit: WINDOW_EVENTS, ..SearchQuery::default() };
    let mut ids: Vec<EventId> = pool.reader.search().search(&query).into_iter().map(|hit| hit.id).collect();
    ids.extend(reported_visits(pool.reader, None)?.last().map(|event| event.id));
    let found = posed(pool, &ids)?;
    Ok(found.into_iter().max_by_key(|found| (is_of_robot(found), found.span().end, found.id())))
}

/// The places of a stretch of time, in the order in which the robot came to them.
fn course(pool: &EventPool<'_>, bound: TimeSpan) -> Result<Option<Candidate>, ReadError> {
    let mut all: Vec<EventId> = reported_visits(pool.reader, Some(bound))?.iter().map(|event| event.id).collect();
    if all.is_empty() {
        let query = SearchQuery { span: Some(bound), limit: NAMINGS * 10, ..SearchQuery::default() };
        all = pool.reader.search().search(&query).into_iter().map(|hit| hit.id).collect();
    }
    let mut all = posed(pool, &all)?;
    all.retain(is_of_robot);
    all.sort_by_key(|found| (found.span().start, found.id()));
    let mut places: Vec<String> = Vec::new();
    let mut evidence: Vec<RetrievedEvent> = Vec::new();
    for found in all {
        let event = &found.reading.event;
        let place =
            current_place_name(pool.reader, event).or_else(|| place_of(pool, event.pose.as_ref()?)).map(at_place);
        let Some(place) = place.filter(|place| !places.contains(place)) else { continue };
        places.push(place);
        evidence.push(found);
    }
    if places.is_empty() {
        return Ok(None);
    }
    let (text, count) = (capitalised(&listed(&places)), places.len());
    let reason = format!("{count} {} in order of arrival", if count == 1 { "place" } else { "places" });
    let known = pool.question.content.known_share();
    Ok(Some(Candidate::computed(Layer::Episodes, text, Value::List(places), evidence, known, reason)))
}

/// What was in view at a place that is known by its pictures.
fn seen_at(pool: &EventPool<'_>, noun: &NounPhrase) -> Result<Option<Candidate>, ReadError> {
    let Some(stays) = stays(pool, noun)? else { return Ok(None) };
    let mut lines: Vec<Line> = Vec::new();
    for (span, _) in stays.iter().rev().take(EVIDENCE) {
        let query = SearchQuery {
            span: Some(*span),
            kinds: vec![Kind::Object, Kind::Entity],
            limit: WINDOW_EVENTS,
            ..SearchQuery::default()
        };
        for hit in pool.reader.search().search(&query) {
            lines.extend(pool.reader.event(hit.id)?.as_ref().and_then(Line::of));
        }
    }
    let mut lines = joined(lines);
    lines.retain(|line| matches!(line.topic, Topic::Object | Topic::Entity));
    lines.sort_by_key(|line| std::cmp::Reverse(line.lasted));
    lines.truncate(LISTED);
    let names: Vec<String> = lines.iter().map(|line| line.text.clone()).collect();
    let ids: Vec<EventId> = lines.iter().filter_map(|line| line.sources.first().copied()).collect();
    let evidence = pool.read(&ids, &pool.question.content)?;
    if evidence.is_empty() {
        return Ok(None);
    }
    let text = capitalised(&listed(&names));
    let known = pool.question.content.known_share();
    let reason = "in view while the pictures showed that place".to_owned();
    Ok(Some(Candidate::computed(Layer::Episodes, text, Value::List(names), evidence, known, reason)))
}
