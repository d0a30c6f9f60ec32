//! Answers where the robot was, and when, how often and how long it was at a named place. A place is known by the poses
//! at which it was named, else by the pictures of that time.

use super::counts::times_in_words;
use super::places::located_phrase;
use super::poses::{events_with_pose, named_place, names_place, place_at_pose};
use crate::episodic::gist::{Line, Topic, joined};
use crate::episodic::visited;
use crate::index::SearchQuery;
use crate::language::english::letters::capitalised;
use crate::language::english::question::{AnswerKind, Occurrence, Order};
use crate::language::english::space::{
    SpatialQuestion, at_place, join_list, named_place as named_in, place_name, spatial_question,
};
use crate::language::english::syntax::NounPhrase;
use crate::language::english::time::{Tense, say_clock_range, say_length, say_moment};
use crate::recall::candidate::{Candidate, CandidateValue, Layer};
use crate::recall::pool::{EventPool, RetrievedEvent, merge};
use crate::recall::question::{Question, ROBOT_ENTITY, intersection};
use crate::recall::reading::name_phrase;
use crate::recall::robot_stays::{RobotStay, current_place_name, reported_visits, shows_presence, stays_at};
use crate::recall::visits::ScenePlaces;
use crate::{Event, EventId, Kind, Pose, PoseOf, ReadError, TimeSpan, Timestamp};

use std::time::Duration;

/// Longest time bound that means one moment.
const MAX_MOMENT: Duration = Duration::from_secs(3 * 3_600);
/// Maximum distances in time of a pose from the moment in question, tried in this order.
const POSE_WINDOWS: [Duration; 3] = [Duration::from_secs(5), Duration::from_secs(60), Duration::from_secs(600)];
/// Maximum number of events that are read in such a window.
const MAX_WINDOW_EVENTS: usize = 200;
/// Maximum number of events that name a place and are read.
const MAX_NAMING_EVENTS: usize = 200;
/// Maximum number of stays, places or things in an answer.
const MAX_LIST_ITEMS: usize = 5;
/// Maximum number of evidence items.
const MAX_PRESENCE_EVIDENCE: usize = 50;

/// Answers a question about where the robot was. `told` are the candidates from words and facts. The newer one is
/// right.
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
        AnswerKind::Place if asks_for_robot(question) => answer_whereabouts(pool, cue, told),
        _ if question.asked.cue.is_some() => Ok(None),
        AnswerKind::Time | AnswerKind::Times | AnswerKind::Length
            if is_robot(question.asked.clause.subject.as_ref()) =>
        {
            let Some(noun) = asked_place(question) else { return Ok(None) };
            match stays_within_bound(pool, &noun)? {
                Some(stays) if !stays.is_empty() => answer_presence(pool, &stays),
                _ => Ok(None),
            }
        }
        AnswerKind::Thing | AnswerKind::Description | AnswerKind::Action => match spatial_question(&question.asked) {
            Some(SpatialQuestion::Around { noun, inside: true }) if named_place(pool, &noun).is_none() => {
                things_seen_at(pool, &noun)
            }
            _ => Ok(None),
        },
        _ => Ok(None),
    }
}

/// Returns whether a question asks for the location of the robot: "where are you?", "where was the robot at 3 pm?", and
/// not "where did you put the mug?".
pub(in crate::recall) fn asks_for_robot(question: &Question<'_>) -> bool {
    let clause = &question.asked.clause;
    clause.subject.is_some() && is_robot(clause.subject.as_ref()) && {
        let doing = clause.verb.as_ref().filter(|verb| !verb.auxiliary_only).map(|verb| verb.lemma.as_str());
        matches!(doing, None | Some("be" | "go" | "stand" | "drive" | "stay" | "wait" | "move" | "come"))
            && located_phrase(question).is_some_and(|theme| theme.head == ROBOT_ENTITY)
    }
}

fn is_robot(subject: Option<&NounPhrase>) -> bool {
    subject.is_none_or(|who| matches!(who.head.as_str(), "you" | "your" | ROBOT_ENTITY))
}

/// Returns the place whose visits a question is about: "in the kitchen", "visit the kitchen", "leave the hall".
fn asked_place(question: &Question<'_>) -> Option<NounPhrase> {
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
    match spatial_question(&question.asked).filter(|_| there) {
        Some(SpatialQuestion::Around { noun, inside: true }) => Some(noun),
        _ => None,
    }
}

/// Returns the stays at the place that a noun names, within the time bound. `None` if no place has that name.
fn stays_within_bound(pool: &EventPool<'_>, noun: &NounPhrase) -> Result<Option<Vec<(TimeSpan, EventId)>>, ReadError> {
    let bound = pool.question.bound();
    let all: Vec<(TimeSpan, EventId)> = match named_place(pool, noun) {
        Some(place) => {
            let visits = reported_visits(pool.reader, bound)?;
            let stays = stays_at(pool.reader, &place, &visits, bound)?;
            stays.into_iter().map(|RobotStay { span, event, .. }| (span, event)).collect()
        }
        None => match visits_by_pictures(pool, noun)? {
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

/// Returns the visits to a place without a position, by the pictures that were seen when it was named.
pub(super) fn visits_by_pictures(
    pool: &EventPool<'_>,
    noun: &NounPhrase,
) -> Result<Option<Vec<(TimeSpan, EventId)>>, ReadError> {
    let spans: Vec<TimeSpan> = naming_events(pool, noun, None)?.iter().map(RetrievedEvent::span).collect();
    if spans.is_empty() {
        return Ok(None);
    }
    let Some(places) = ScenePlaces::load(pool.reader, None)? else { return Ok(None) };
    let shown = places.visits_at_times(&spans);
    Ok((!shown.is_empty()).then(|| shown.into_iter().map(|shown| (shown.span, shown.event.id)).collect()))
}

/// Returns the latest events that say they happen at the place that a noun names, also by its other names.
pub(super) fn naming_events(
    pool: &EventPool<'_>,
    noun: &NounPhrase,
    span: Option<TimeSpan>,
) -> Result<Vec<RetrievedEvent>, ReadError> {
    let content = &pool.question.content;
    let mut found = pool.events_mentioning(noun, span, true, MAX_NAMING_EVENTS, content)?;
    let asked = place_name(&pool.question.query.question, noun).unwrap_or_else(|| noun.head.clone());
    for other in pool.reader.places().map_or_else(Vec::new, |places| places.names().others(&asked)) {
        found = merge(found, pool.events_mentioning(&name_phrase(other), span, true, MAX_NAMING_EVENTS, content)?);
    }
    found.retain(|found| event_names_place(pool, &found.reading.event, noun));
    Ok(found)
}

/// Returns whether an event says that it happens at the place that a noun names.
fn event_names_place(pool: &EventPool<'_>, event: &Event, noun: &NounPhrase) -> bool {
    if event.attributes.get("derived") == Some(&crate::Value::Bool(true)) {
        return false;
    }
    let told = event.attributes.get("place").and_then(crate::Value::as_text).map(str::to_owned);
    let said = || (event.kind == Kind::Text).then(|| named_in(&event.text)).flatten();
    told.or_else(said).is_some_and(|name| names_place(noun, &name) || is_named_now(pool, noun, &name, event.span.start))
}

/// Returns whether the place with a name at a given time is the one that a noun names by its current name.
pub(super) fn is_named_now(pool: &EventPool<'_>, noun: &NounPhrase, name: &str, at: Timestamp) -> bool {
    let Some(places) = pool.reader.places() else { return false };
    let current = places.current(name, at);
    let old = |(old, new): (&str, &str)| new.eq_ignore_ascii_case(current) && names_place(noun, old);
    names_place(noun, current) || places.names().old_names().any(old)
}

/// Answers when, how often or how long.
fn answer_presence(pool: &EventPool<'_>, stays: &[(TimeSpan, EventId)]) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let lasted: Duration = stays.iter().map(|(span, _)| span.end.since(span.start)).sum();
    let count = stays.len();
    let (text, value, chosen) = match question.ask() {
        AnswerKind::Times => {
            let begins: Vec<String> =
                stays.iter().take(MAX_LIST_ITEMS).map(|(span, _)| say_moment(span.start, &question.now)).collect();
            let more = if count > MAX_LIST_ITEMS { ", …" } else { "" };
            #[expect(clippy::cast_precision_loss, reason = "a count of stays")]
            let value = CandidateValue::Number(count as f64, String::new());
            (format!("{}: {}{more}.", times_in_words(count), begins.join(", ")), value, stays.to_vec())
        }
        AnswerKind::Length => {
            if lasted.is_zero() {
                return Ok(None);
            }
            // "How long were you last there?" is about one of them.
            let chosen = select_occurrence(stays, question.asked.occurrence);
            let lasted: Duration = chosen.iter().map(|(span, _)| span.end.since(span.start)).sum();
            let text = say_length(lasted);
            (capitalised(&text), CandidateValue::Number(lasted.as_secs_f64(), "s".into()), chosen)
        }
        _ => {
            let mut chosen = select_occurrence(stays, question.asked.occurrence);
            let verb = question.asked.clause.verb.as_ref().map_or("be", |verb| verb.lemma.as_str());
            let left = verb == "leave";
            if left && question.asked.occurrence.is_none() {
                chosen = select_occurrence(stays, Some(Occurrence::Last));
            }
            if chosen.len() > MAX_LIST_ITEMS {
                chosen.drain(..chosen.len() - MAX_LIST_ITEMS);
            }
            let words = |span: &TimeSpan| match verb {
                "leave" => say_moment(span.end, &question.now),
                "go" | "come" | "arrive" | "enter" | "reach" | "get" => say_moment(span.start, &question.now),
                _ if span.end.since(span.start) < Duration::from_secs(1) => say_moment(span.start, &question.now),
                _ => say_clock_range(*span, &question.now),
            };
            let text: Vec<String> = chosen.iter().map(|(span, _)| words(span)).collect();
            let spans = chosen.iter().map(|(span, _)| *span).collect();
            (capitalised(&text.join(", ")), CandidateValue::Times(spans), chosen)
        }
    };
    let ids: Vec<EventId> = chosen.iter().rev().take(MAX_PRESENCE_EVIDENCE).map(|(_, event)| *event).collect();
    let evidence = pool.read(&ids, &question.content)?;
    if evidence.is_empty() {
        return Ok(None);
    }
    let reason =
        format!("{count} separate {}, {} in all", if count == 1 { "stay" } else { "stays" }, say_length(lasted));
    Ok(Some(Candidate::computed(Layer::Episodes, text, value, evidence, question.content.known_share(), reason)))
}

fn select_occurrence(stays: &[(TimeSpan, EventId)], occurrence: Option<Occurrence>) -> Vec<(TimeSpan, EventId)> {
    let one = match occurrence {
        None => return stays.to_vec(),
        Some(Occurrence::First) => stays.first(),
        Some(Occurrence::Last) => stays.last(),
        Some(Occurrence::Nth(n)) => n.checked_sub(1).and_then(|place| stays.get(place)),
        Some(Occurrence::Previous) => stays.len().checked_sub(2).and_then(|place| stays.get(place)),
    };
    one.copied().into_iter().collect()
}

/// Answers where the robot is, or was at a moment or during a time span.
fn answer_whereabouts(
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
        (Some(relation), Some(cue), _) if relation.order == Order::During => event_at_moment(pool, cue.span().start)?,
        (Some(_), ..) => None,
        (None, _, Some(bound)) if bound.end.since(bound.start) > MAX_MOMENT => return places_in_order(pool, bound),
        (None, _, Some(bound)) => event_at_moment(pool, bound.start.saturating_add(bound.end.since(bound.start) / 2))?,
        (None, _, None) => {
            let newest = latest_pose_event(pool)?;
            let in_words = told
                .iter()
                .filter(|candidate| candidate.signals.fits >= 0.5)
                .filter_map(|candidate| candidate.evidence.iter().map(|found| found.span().start).max())
                .max();
            // No report is newer than the pose of the robot.
            let is_newer = |found: &RetrievedEvent| in_words.is_none_or(|told| told < found.span().end);
            newest.filter(|found| current_robot_pose(pool).is_some() || is_newer(found))
        }
    };
    let Some(chosen) = chosen else { return Ok(None) };
    let here = current_robot_pose(pool);
    let text = match here {
        Some(pose) => Some(pose_in_words(pool, pose, None)),
        None => robot_location_text(pool, &chosen.reading.event),
    };
    let Some(text) = text else { return Ok(None) };
    let span = chosen.span();
    let reason = match visited(&chosen.reading.event) {
        _ if here.is_some() => "where it is now".to_owned(),
        Some(_) => format!("there {}", say_clock_range(span, &question.now)),
        None => format!("where it was {}", say_moment(span.start, &question.now)),
    };
    let known = question.content.known_share();
    let value = CandidateValue::Text(text.clone());
    Ok(Some(Candidate::computed(Layer::Episodes, capitalised(&text), value, vec![chosen], known, reason)))
}

/// Returns the place or the position of an event with the robot's pose.
fn robot_location_text(pool: &EventPool<'_>, event: &Event) -> Option<String> {
    event.pose.as_ref().map(|pose| pose_in_words(pool, pose, current_place_name(pool.reader, event)))
}

fn pose_in_words(pool: &EventPool<'_>, pose: &Pose, visited: Option<&str>) -> String {
    let place = visited.or_else(|| place_at_pose(pool, pose));
    let position = || format!("at x {:.1} m, y {:.1} m on {}", pose.x, pose.y, pose.frame);
    place.map_or_else(position, at_place)
}

/// Returns the current pose of the robot, if a question asks for now.
pub(in crate::recall) fn current_robot_pose<'q>(pool: &'q EventPool<'_>) -> Option<&'q Pose> {
    let question = pool.question;
    let now = question.tense == Tense::Present
        && question.query.now.is_none()
        && question.asked.cue.is_none()
        && !question.has_time_bound()
        && question.hard.is_none();
    question.query.robot.as_ref().filter(|_| now && asks_for_robot(question))
}

/// Returns whether an event reports the position of the robot, and not only an observation.
fn shows_robot_position(found: &RetrievedEvent) -> bool {
    let event = &found.reading.event;
    event.pose.as_ref().is_some_and(|pose| pose.of == PoseOf::Robot) && shows_presence(event)
}

/// Returns the event that shows where the robot was at a moment: a visit, else the nearest pose in time.
fn event_at_moment(pool: &EventPool<'_>, at: Timestamp) -> Result<Option<RetrievedEvent>, ReadError> {
    let visit = reported_visits(pool.reader, Some(TimeSpan::new(at, at)))?.pop().map(|event| event.id);
    if let Some(visit) = visit {
        return Ok(events_with_pose(pool, &[visit])?.pop());
    }
    for window in POSE_WINDOWS {
        let span = TimeSpan::new(at.saturating_sub(window), at.saturating_add(window));
        let query = SearchQuery { span: Some(span), latest: true, limit: MAX_WINDOW_EVENTS, ..SearchQuery::default() };
        let ids: Vec<EventId> = pool.reader.search().search(&query).into_iter().map(|hit| hit.id).collect();
        let away = |found: &RetrievedEvent| {
            let span = found.span();
            if span.start > at { span.start.since(at) } else { at.since(span.end.min(at)) }
        };
        let found = events_with_pose(pool, &ids)?;
        if let Some(nearest) =
            found.into_iter().min_by_key(|found| (!shows_robot_position(found), away(found), found.id()))
        {
            return Ok(Some(nearest));
        }
    }
    Ok(None)
}

/// Returns the latest event with the robot's pose, else the latest one with any pose.
fn latest_pose_event(pool: &EventPool<'_>) -> Result<Option<RetrievedEvent>, ReadError> {
    let query = SearchQuery { latest: true, limit: MAX_WINDOW_EVENTS, ..SearchQuery::default() };
    let mut ids: Vec<EventId> = pool.reader.search().search(&query).into_iter().map(|hit| hit.id).collect();
    ids.extend(reported_visits(pool.reader, None)?.last().map(|event| event.id));
    let found = events_with_pose(pool, &ids)?;
    Ok(found.into_iter().max_by_key(|found| (shows_robot_position(found), found.span().end, found.id())))
}

/// Answers with the places of a time span, in the order of arrival.
fn places_in_order(pool: &EventPool<'_>, bound: TimeSpan) -> Result<Option<Candidate>, ReadError> {
    let mut all: Vec<EventId> = reported_visits(pool.reader, Some(bound))?.iter().map(|event| event.id).collect();
    if all.is_empty() {
        let query = SearchQuery { span: Some(bound), limit: MAX_NAMING_EVENTS * 10, ..SearchQuery::default() };
        all = pool.reader.search().search(&query).into_iter().map(|hit| hit.id).collect();
    }
    let mut all = events_with_pose(pool, &all)?;
    all.retain(shows_robot_position);
    all.sort_by_key(|found| (found.span().start, found.id()));
    let mut places: Vec<String> = Vec::new();
    let mut evidence: Vec<RetrievedEvent> = Vec::new();
    for found in all {
        let event = &found.reading.event;
        let place =
            current_place_name(pool.reader, event).or_else(|| place_at_pose(pool, event.pose.as_ref()?)).map(at_place);
        let Some(place) = place.filter(|place| !places.contains(place)) else { continue };
        places.push(place);
        evidence.push(found);
    }
    if places.is_empty() {
        return Ok(None);
    }
    let (text, count) = (capitalised(&join_list(&places)), places.len());
    let reason = format!("{count} {} in order of arrival", if count == 1 { "place" } else { "places" });
    let known = pool.question.content.known_share();
    Ok(Some(Candidate::computed(Layer::Episodes, text, CandidateValue::List(places), evidence, known, reason)))
}

/// Answers what was in view at a place that is known by its pictures.
fn things_seen_at(pool: &EventPool<'_>, noun: &NounPhrase) -> Result<Option<Candidate>, ReadError> {
    let Some(stays) = stays_within_bound(pool, noun)? else { return Ok(None) };
    let mut lines: Vec<Line> = Vec::new();
    for (span, _) in stays.iter().rev().take(MAX_PRESENCE_EVIDENCE) {
        let query = SearchQuery {
            span: Some(*span),
            kinds: vec![Kind::Object, Kind::Entity],
            limit: MAX_WINDOW_EVENTS,
            ..SearchQuery::default()
        };
        for hit in pool.reader.search().search(&query) {
            lines.extend(pool.reader.event(hit.id)?.as_ref().and_then(Line::of));
        }
    }
    let mut lines = joined(lines);
    lines.retain(|line| matches!(line.topic, Topic::Object | Topic::Entity));
    lines.sort_by_key(|line| std::cmp::Reverse(line.lasted));
    lines.truncate(MAX_LIST_ITEMS);
    let names: Vec<String> = lines.iter().map(|line| line.text.clone()).collect();
    let ids: Vec<EventId> = lines.iter().filter_map(|line| line.sources.first().copied()).collect();
    let evidence = pool.read(&ids, &pool.question.content)?;
    if evidence.is_empty() {
        return Ok(None);
    }
    let text = capitalised(&join_list(&names));
    let known = pool.question.content.known_share();
    let reason = "in view while the pictures showed that place".to_owned();
    Ok(Some(Candidate::computed(Layer::Episodes, text, CandidateValue::List(names), evidence, known, reason)))
}
