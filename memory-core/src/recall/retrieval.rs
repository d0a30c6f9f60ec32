//! Retrieves the events for a question: by words and meaning, by time, or by another event that places them in time.

use std::time::Duration;

use super::answerers::rank::rank;
use super::content::Content;
use super::pool::{EventPool, RetrievedEvent, merge};
use super::question::{Question, UNKNOWN_CUE_WORD_WEIGHT, intersection};
use super::trace::trace_step;
use crate::language::english::question::{AnswerKind, Cue, Occurrence, Order};
use crate::language::english::syntax::{Clause, NounPhrase};
use crate::{Kind, Modality, ReadError, TimeSpan, TraceStep};

/// Margin on both sides of a cue for what happened during it (HippoMM 4.3, δ).
const CUE_MARGIN: Duration = Duration::from_secs(2);
/// As [`CUE_MARGIN`], if nothing of the other sense lies within it.
const SCENE_REACH: Duration = Duration::from_secs(60);
/// Reach of "right after".
const DIRECT_REACH: Duration = Duration::from_secs(60);
/// Reach of "after".
const DEFAULT_REACH: Duration = Duration::from_secs(600);
/// Reaches that are tried in turn if nothing was found closer.
const EXTENDED_REACHES: [Duration; 2] = [Duration::from_secs(3_600), Duration::from_secs(86_400)];
/// Assumed duration of a state that was told at one moment, if no event lies at the moment itself.
const STATE_DURATION: Duration = Duration::from_secs(1_800);
/// Maximum overlap of an event with the event that it follows. Two encoders split a stretch at different times.
const MAX_OVERLAP: Duration = Duration::from_secs(1);
/// Minimum coverage of the cue's content by an event that the cue refers to.
const MIN_CUE_COVERAGE: f32 = 0.34;
/// Cosine from which meaning counts as much as words.
const MIN_COSINE: f32 = 0.5;
/// Factor on the coverage of an event outside the requested time.
const OUT_OF_TIME_FACTOR: f32 = 0.5;
/// Maximum number of candidates that are grouped into scenes.
const MAX_SCENE_CANDIDATES: usize = 64;
/// Share of the scene's coverage that an event receives.
const SCENE_SHARE: f32 = 0.5;
/// How long a speaker keeps talking about a deed.
const TOPIC_WINDOW: Duration = Duration::from_secs(1_800);
/// Maximum number of events in the requested time.
const MAX_EVENTS_IN_TIME: usize = 64;
/// Maximum number of events that are tried as the cue.
const MAX_CUES: usize = 4;

/// The events that were retrieved for a question.
pub(super) struct RetrievedEvents {
    /// Retrieved events, best first.
    pub found: Vec<RetrievedEvent>,
    /// The event that places them in time.
    pub cue: Option<RetrievedEvent>,
    /// Whether they lie in time as the cue requires.
    pub placed: bool,
    /// Coverage of the cue by the event that places them. 1 without a cue.
    pub cue_coverage: f32,
}

/// Retrieves the events for a question. Reports of silence and darkness come last unless the question is about them.
pub(super) fn retrieve(
    pool: &EventPool<'_>,
    cue_embedding: Option<&Vec<f32>>,
    trace: &mut Vec<TraceStep>,
) -> Result<RetrievedEvents, ReadError> {
    let mut gathered = retrieve_candidates(pool, cue_embedding, trace)?;
    let is_beside =
        |found: &RetrievedEvent| found.reading.event.attributes.contains_key("signal") && !matches_question(found);
    gathered.found.sort_by_key(is_beside);
    let cue = gathered.cue.as_ref().map(RetrievedEvent::id);
    gathered.found.retain(|found| cue == Some(found.id()) || is_perceptible(pool.question, found));
    Ok(gathered)
}

/// Returns whether an event can tell what the question asks for: no sound tells what was seen, and the name of a thing
/// that was seen does not tell what was heard. "Did you see it bark?" is answered by both.
fn is_perceptible(question: &Question<'_>, found: &RetrievedEvent) -> bool {
    match (question.sense, found.reading.event.kind) {
        (Some(Modality::Visual), Kind::Sound) => question.ask() == AnswerKind::Truth,
        (Some(Modality::Audio), Kind::Object) => false,
        _ => true,
    }
}

/// Returns whether the event matches the question in words or meaning.
fn matches_question(found: &RetrievedEvent) -> bool {
    found.coverage.of_content >= MIN_CUE_COVERAGE || found.cosine.is_some_and(|cosine| cosine >= MIN_COSINE)
}

fn retrieve_candidates(
    pool: &EventPool<'_>,
    cue_embedding: Option<&Vec<f32>>,
    trace: &mut Vec<TraceStep>,
) -> Result<RetrievedEvents, ReadError> {
    let question = pool.question;
    let searched = search_within_bound(pool, trace)?;
    let implied = implied_cue(question, &searched);
    let relation = match (question.searchable_cue(), &implied) {
        (Some((relation, content)), _) => {
            Some((relation, content, cue_events(pool, relation, content, cue_embedding)?))
        }
        (None, Some((relation, cues))) => Some((relation, &question.content, cues.clone())),
        (None, None) => None,
    };
    let placing = relation.as_ref().and_then(|(.., cues)| cues.first().cloned());
    let coverage_of_cue = |cue: &RetrievedEvent| cue.coverage.of_content.max(cue.cosine.unwrap_or(0.0));
    if let Some((relation, content, cues)) = relation
        && let Some(best) = cues.first()
    {
        trace.push(trace_step("cue", format!("{}: {}", best.reading.event.id, best.reading.event.text)));
        let placed = events_relative_to_cues(pool, relation, content, &cues)?;
        if !placed.is_empty() {
            // A told event may contain both the answer and the cue.
            let whole = searched.iter().find(|found| {
                found.reading.event.kind == Kind::Text
                    && !question.content.is_empty()
                    && found.coverage.of_content >= 0.75
                    && content.coverage(&found.reading).of_content >= 0.6
            });
            let mut found = placed;
            if let Some(whole) = whole {
                found.retain(|one| one.id() != whole.id());
                found.insert(0, RetrievedEvent { placed: 1.0, ..whole.clone() });
            }
            let cue = best.clone();
            let found = merge(found, vec![cue.clone()]);
            let rest = searched.into_iter().map(|one| RetrievedEvent { score: 0.0, ..one }).collect();
            let all = merge(found, rest);
            let cue_coverage = coverage_of_cue(&cue);
            return Ok(RetrievedEvents { found: all, cue: Some(cue), placed: true, cue_coverage });
        }
    }
    let missing = if question.searchable_cue().is_some() { 0.3 } else { 1.0 };
    // The question restricts only the time.
    if let Some(bound) = question.bound().filter(|_| question.has_time_bound() || question.hard.is_some())
        && (question.content.is_empty()
            || (question.content.has_only_light_words() || question.content.known_share() < 0.34)
                && question.has_time_bound())
    {
        let mut listed =
            pool.events_in_time_order(Some(bound), question.sense, Vec::new(), false, 300, &question.content)?;
        listed.sort_by(|a, b| {
            let fit = |found: &RetrievedEvent| {
                intersection_over_union(found.span(), bound)
                    + 0.1 * found.coverage.of_content
                    + kind_bonus(question, found)
            };
            fit(b).total_cmp(&fit(a)).then(a.id().cmp(&b.id()))
        });
        if !listed.is_empty() {
            trace.push(trace_step("time", format!("everything between {} and {}", bound.start, bound.end)));
            return Ok(RetrievedEvents { found: listed, cue: None, placed: true, cue_coverage: missing });
        }
    }
    if question.content.is_empty() && searched.is_empty() {
        let latest =
            pool.events_in_time_order(question.bound(), question.sense, Vec::new(), true, 20, &question.content)?;
        return Ok(RetrievedEvents { found: latest, cue: None, placed: false, cue_coverage: missing });
    }
    trace.push(trace_step("search", format!("{} candidates by words and meaning", searched.len())));
    // Only the event that moved a thing may tell where it was before.
    let moved = placing.filter(|_| question.ask() == AnswerKind::Place);
    let cue_coverage = moved.as_ref().map_or(missing, coverage_of_cue);
    Ok(RetrievedEvents { found: searched, cue: moved, placed: false, cue_coverage })
}

/// Returns the implied cue of a question about one sense that names something from another one: "what was to be heard
/// on the drive?".
fn implied_cue(question: &Question<'_>, searched: &[RetrievedEvent]) -> Option<(Cue, Vec<RetrievedEvent>)> {
    let sense = question.sense?;
    // Encoders have fewer words than people.
    let mut content = question.content.restricted_to(question.text);
    content.discount_unknown(UNKNOWN_CUE_WORD_WEIGHT);
    let shares: Vec<f32> = searched
        .iter()
        .map(|found| found.coverage.of_content.max(content.coverage(&found.reading).of_content))
        .collect();
    let best = shares.iter().copied().fold(0.0, f32::max);
    let of_sense = searched.iter().zip(&shares).filter(|(found, _)| found.reading.event.modality == sense);
    let own = of_sense.map(|(_, share)| *share).fold(0.0, f32::max);
    if best < 0.45 || own > best - 0.25 || question.asked.class.is_none() && sense == Modality::Visual {
        return None;
    }
    let suits =
        |(found, share): &(&RetrievedEvent, &f32)| **share >= best - 0.05 && found.reading.event.modality != sense;
    let mut cues: Vec<RetrievedEvent> =
        searched.iter().zip(&shares).filter(suits).map(|(found, _)| found.clone()).collect();
    cues.truncate(MAX_CUES);
    Some((Cue { order: Order::During, direct: false, range: 0..0 }, cues))
}

/// Searches by words and meaning within the time bound. Events of the requested modality are always candidates.
fn search_within_bound(pool: &EventPool<'_>, trace: &mut Vec<TraceStep>) -> Result<Vec<RetrievedEvent>, ReadError> {
    let question = pool.question;
    let bound =
        if crate::language::english::time::Tense::Future == question.tense { question.hard } else { question.bound() };
    let text = if question.has_time_bound() { question.timeless.as_str() } else { question.text };
    let mut found = pool.search(text, pool.embedding.as_ref(), &question.content, bound, None)?;
    // A time in the question may be the time of telling, or part of a told text. Better matches at other times are
    // found too. A time of the recording ("two minutes into the video") is neither.
    let of_recording = question.phrases.iter().any(|phrase| phrase.bounds && phrase.of_session);
    let may_be_told = question.has_time_bound() && !of_recording && !question.content.is_empty();
    if may_be_told && !found.iter().any(matches_question) {
        let anywhere = pool.search(question.text, pool.embedding.as_ref(), &question.content, question.hard, None)?;
        trace.push(trace_step("time", "nothing that suits within the time: searched without it".into()));
        let outside = anywhere.into_iter().map(|mut one| {
            // "It stormed last night", told in the morning.
            let told = bound.is_some_and(|bound| one.reading.times.iter().any(|time| time.span.overlaps(bound)));
            let share = if told { 1.0 } else { OUT_OF_TIME_FACTOR };
            one.coverage.of_content *= share;
            one.relevance *= share;
            one
        });
        found = merge(found, outside.collect());
        found.sort_by(|a, b| b.fitness().total_cmp(&a.fitness()).then(a.id().cmp(&b.id())));
    }
    if let Some(sense) = question.sense {
        let of_sense = pool.search(text, pool.embedding.as_ref(), &question.content, bound, Some(sense))?;
        found = merge(found, of_sense);
    }
    add_scene_coverage(&mut found, &question.content);
    add_topic_coverage(&mut found, &question.content);
    pool.add_scenes_by_appearance(text, bound, &mut found, trace)?;
    Ok(found)
}

/// Adds the joint coverage of a scene to its events: a scene is described by several events (HippoMM's segments).
fn add_scene_coverage(found: &mut [RetrievedEvent], content: &Content) {
    let seen: Vec<Option<(TimeSpan, Vec<f32>)>> = found
        .iter()
        .take(MAX_SCENE_CANDIDATES)
        .map(|one| {
            let event = &one.reading.event;
            let piece =
                event.kind != Kind::Text && event.span.end > event.span.start && !matches!(event.kind, Kind::Action);
            piece.then(|| (event.span, content.item_similarities(&one.reading)))
        })
        .collect();
    for (place, one) in found.iter_mut().enumerate().take(MAX_SCENE_CANDIDATES) {
        let Some((span, held)) = &seen[place] else { continue };
        let mut together = held.clone();
        for (other, other_held) in seen.iter().flatten() {
            if overlap_most(*span, *other) {
                together.iter_mut().zip(other_held).for_each(|(best, held)| *best = best.max(*held));
            }
        }
        let scene = content.covered_share(&together);
        if scene > one.coverage.of_content {
            one.coverage.of_content = (1.0 - SCENE_SHARE) * one.coverage.of_content + SCENE_SHARE * scene;
        }
    }
}

/// Adds coverage from the preceding deed to a statement about "it": "the belt was torn, it runs again" refers to the
/// machine that the speaker opened.
fn add_topic_coverage(found: &mut [RetrievedEvent], content: &Content) {
    let pool: Vec<RetrievedEvent> = found.iter().take(MAX_SCENE_CANDIDATES).cloned().collect();
    for one in found.iter_mut().take(MAX_SCENE_CANDIDATES).filter(|one| one.reading.event.kind == Kind::Text) {
        let event = &one.reading.event;
        let (Some(speaker), at) = (&event.entity, event.span.start) else { continue };
        let pronoun = |noun: &NounPhrase| matches!(noun.head.as_str(), "it" | "that" | "they");
        let spoken_of = |clause: &Clause| clause.subject.iter().chain(&clause.objects).any(pronoun);
        if !one.reading.clauses().any(spoken_of) {
            continue;
        }
        let deed = pool.iter().filter(|other| {
            let done = matches!(other.reading.event.kind, Kind::Action | Kind::Caption);
            let before = other.span().end <= at && at.since(other.span().end) <= TOPIC_WINDOW;
            done && before && other.reading.event.entity.as_ref() == Some(speaker)
        });
        let Some(deed) = deed.max_by_key(|deed| (deed.span().start, deed.id())) else { continue };
        let mut together = content.item_similarities(&one.reading);
        together
            .iter_mut()
            .zip(content.item_similarities(&deed.reading))
            .for_each(|(best, held)| *best = best.max(held));
        let both = content.covered_share(&together);
        if both > one.coverage.of_content {
            one.coverage.of_content = (1.0 - SCENE_SHARE) * one.coverage.of_content + SCENE_SHARE * both;
        }
    }
}

/// Returns whether two spans share most of the shorter one.
fn overlap_most(a: TimeSpan, b: TimeSpan) -> bool {
    let length = |span: TimeSpan| span.end.since(span.start).as_secs_f32().max(0.1);
    intersection(a, b).is_some_and(|both| length(both) >= 0.5 * length(a).min(length(b)))
}

/// Returns the bonus for an event of the kind that the verb of the question implies.
fn kind_bonus(question: &Question<'_>, found: &RetrievedEvent) -> f32 {
    use crate::language::english::question::AnswerKind;
    match (question.ask(), found.reading.event.kind) {
        (AnswerKind::Action | AnswerKind::Thing, Kind::Action) => 0.2,
        (AnswerKind::Action | AnswerKind::Thing, Kind::Caption) => 0.1,
        _ => 0.0,
    }
}

/// Returns the intersection of two spans over their union.
fn intersection_over_union(a: TimeSpan, b: TimeSpan) -> f32 {
    let length = |span: TimeSpan| span.end.since(span.start).as_secs_f32().max(0.1);
    let Some(both) = intersection(a, b) else { return 0.0 };
    let common = length(both);
    common / (length(a) + length(b) - common).max(0.1)
}

/// Returns the events that a cue may refer to, best first.
fn cue_events(
    pool: &EventPool<'_>,
    relation: &Cue,
    content: &Content,
    embedding: Option<&Vec<f32>>,
) -> Result<Vec<RetrievedEvent>, ReadError> {
    let question = pool.question;
    let text = question.part(&relation.range);
    let mut found = pool.search(text, embedding, content, question.bound(), None)?;
    for one in &mut found {
        one.coverage = content.coverage(&one.reading);
        // These events were found by the cue, not by the question.
        one.relevance = 0.0;
    }
    let value = |found: &RetrievedEvent| found.coverage.of_content + 0.3 * found.cosine.unwrap_or(0.0).max(0.0);
    found.retain(|one| one.coverage.of_content >= MIN_CUE_COVERAGE || one.cosine.is_some_and(|cosine| cosine >= 0.5));
    found.sort_by(|a, b| value(b).total_cmp(&value(a)).then(a.id().cmp(&b.id())));
    let best = found.first().map_or(0.0, value);
    found.retain(|one| value(one) >= best - 0.1);
    match question.asked.occurrence {
        Some(Occurrence::First) => found.sort_by_key(|one| (one.span().start, one.id())),
        Some(Occurrence::Last) => found.sort_by_key(|one| std::cmp::Reverse((one.span().start, one.id()))),
        Some(Occurrence::Nth(n)) => {
            found.sort_by_key(|one| (one.span().start, one.id()));
            found.drain(..(n - 1).min(found.len()));
        }
        _ => {}
    }
    found.truncate(if question.asked.occurrence.is_some() { 1 } else { MAX_CUES });
    Ok(found)
}

/// Returns the events that lie in time relative to the cues as asked, best first.
fn events_relative_to_cues(
    pool: &EventPool<'_>,
    relation: &Cue,
    content: &Content,
    cues: &[RetrievedEvent],
) -> Result<Vec<RetrievedEvent>, ReadError> {
    let near = if relation.direct { DIRECT_REACH } else { DEFAULT_REACH };
    let mut found = Vec::new();
    // In a film, events follow within seconds; deeds of people follow within minutes.
    let near = if relation.order == Order::During { CUE_MARGIN } else { near };
    for reach in std::iter::once(near).chain(EXTENDED_REACHES) {
        found = events_within_reach(pool, relation, content, cues, reach)?;
        if !found.is_empty() || relation.order == Order::During {
            break;
        }
    }
    // Where captions or sounds are sparse, none lies at the very moment: the nearest scene counts.
    if found.is_empty() && relation.order == Order::During && cues.iter().any(|cue| crosses_modality(pool, cue)) {
        found = events_within_reach(pool, relation, content, cues, SCENE_REACH)?;
    }
    // A state that was told in one moment lasts: "when you were locked in" reaches on.
    let states: Vec<RetrievedEvent> =
        cues.iter().filter(|cue| cue.reading.event.kind == Kind::State).cloned().collect();
    if found.is_empty() && relation.order == Order::During && !states.is_empty() {
        let lasting = Cue { order: Order::After, ..relation.clone() };
        found = events_within_reach(pool, &lasting, content, &states, STATE_DURATION)?;
    }
    Ok(found)
}

/// Returns whether a question asks for what one sense noticed at the time of something that the other sense noticed.
fn crosses_modality(pool: &EventPool<'_>, cue: &RetrievedEvent) -> bool {
    let event = &cue.reading.event;
    event.kind != Kind::Text && pool.question.sense.is_some_and(|sense| sense != event.modality)
}

/// As [`events_relative_to_cues`], up to a distance from a cue.
#[expect(clippy::cast_precision_loss, reason = "a few cues")]
fn events_within_reach(
    pool: &EventPool<'_>,
    relation: &Cue,
    content: &Content,
    cues: &[RetrievedEvent],
    reach: Duration,
) -> Result<Vec<RetrievedEvent>, ReadError> {
    let question = pool.question;
    let mut all: Vec<(f32, RetrievedEvent)> = Vec::new();
    for (place, cue) in cues.iter().enumerate() {
        let Some(window) = search_window(relation, cue.span(), question.bound(), reach) else { continue };
        let sense = question.sense.or_else(|| {
            // What was in view during a sound, or the reverse.
            (relation.order == Order::During
                && cue.reading.event.modality == Modality::Audio
                && question.speech.is_none())
            .then_some(Modality::Visual)
        });
        let latest = relation.order == Order::Before;
        let mut listed =
            pool.events_in_time_order(Some(window), sense, Vec::new(), latest, MAX_EVENTS_IN_TIME, &question.content)?;
        if listed.is_empty() && question.sense.is_none() {
            listed = pool.events_in_time_order(
                Some(window),
                None,
                Vec::new(),
                latest,
                MAX_EVENTS_IN_TIME,
                &question.content,
            )?;
        }
        for found in listed {
            if cues.iter().any(|cue| cue.id() == found.id()) || !is_in_order(relation.order, found.span(), cue.span()) {
                continue;
            }
            // A paraphrase of the cue is no answer.
            if relation.range.end > 0 && content.coverage(&found.reading).of_content >= 0.8 {
                continue;
            }
            let value =
                time_proximity(relation.order, found.span(), cue.span()) + rank(question, &found) - 0.1 * place as f32;
            let found = RetrievedEvent {
                placed: (0.4 + 0.6 * time_proximity(relation.order, found.span(), cue.span()))
                    * (1.0 - 0.1 * place as f32),
                ..found
            };
            match all.iter_mut().find(|(_, known)| known.id() == found.id()) {
                Some(known) => known.0 = known.0.max(value),
                None => all.push((value, found)),
            }
        }
    }
    all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.id().cmp(&b.1.id())));
    Ok(all.into_iter().map(|(_, found)| found).collect())
}

/// Returns the time span to search, given the event that places the question in time.
fn search_window(relation: &Cue, cue: TimeSpan, bound: Option<TimeSpan>, reach: Duration) -> Option<TimeSpan> {
    let window = match relation.order {
        Order::During => TimeSpan { start: cue.start.saturating_sub(reach), end: cue.end.saturating_add(reach) },
        Order::After => TimeSpan { start: cue.end.saturating_sub(MAX_OVERLAP), end: cue.end.saturating_add(reach) },
        Order::Before => {
            TimeSpan { start: cue.start.saturating_sub(reach), end: cue.start.saturating_add(MAX_OVERLAP) }
        }
    };
    match bound {
        Some(bound) => intersection(window, bound),
        None => Some(window),
    }
}

fn is_in_order(order: Order, span: TimeSpan, cue: TimeSpan) -> bool {
    match order {
        Order::During => true,
        Order::After => span.start > cue.start && span.start.saturating_add(MAX_OVERLAP) >= cue.end,
        Order::Before => span.end < cue.end && span.end <= cue.start.saturating_add(MAX_OVERLAP),
    }
}

/// Returns the closeness in time to the cue, from 1 at the cue to 0 far away.
fn time_proximity(order: Order, span: TimeSpan, cue: TimeSpan) -> f32 {
    let gap = match order {
        Order::During => span.start.since(cue.end).max(cue.start.since(span.end)),
        Order::After => span.start.since(cue.end),
        Order::Before => cue.start.since(span.end),
    };
    // Within the margin, what coincides most is nearest.
    if order == Order::During && gap <= CUE_MARGIN {
        return intersection_over_union(span, cue).sqrt();
    }
    1.0 / (1.0 + gap.as_secs_f32() / 10.0)
}
