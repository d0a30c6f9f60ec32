//! Answers a question with evidence.
//!
//! ```text
//! question ─▶ parse (`question`) ─▶ events (`gather`) ─▶ answerers ─▶ candidates ─▶ calibration ─▶ fusion ─▶ decision
//! ```
//!
//! The question is parsed once. Every layer that may know the answer proposes candidates; they meet in fusion on one
//! scale. Options are hypotheses that the same evidence supports or contradicts. No language model is inside.

mod answerers;
mod calibration;
mod candidate;
mod clause_selection;
mod compound;
mod conclusion;
mod content;
mod corrections;
mod decision;
mod decomposition;
mod deliberation;
mod denial;
mod evidence;
mod extraction;
mod fusion;
mod identification;
mod intent;
mod itinerary;
mod likeness;
pub(crate) mod looking;
mod missing;
mod near;
mod nearest;
mod options;
mod other_people;
mod pool;
mod quantities;
mod question;
mod reader;
mod reading;
mod reconciling;
mod retrieval;
pub(crate) mod robot_stays;
mod role_names;
mod scene_search;
mod stance;
mod stopwatch;
mod symbolic;
mod trace;
mod visit_bounds;
mod visits;

use std::sync::Arc;
use std::time::Duration;

use self::conclusion::{conclude_open_question, conclude_options, route_of};
use self::stopwatch::Stopwatch;
pub use crate::ablation::Ablation;
pub use deliberation::{Deliberation, Proposal, VerdictError};
pub(crate) use nearest::cosine;
pub(crate) use reader::most_similar_look;
pub use reader::{LookInside, Reader};
pub use symbolic::serve;

use self::answerers::poses;
use self::candidate::{Candidate, Layer};
use self::extraction::ReadEvents;
use self::options::OptionVectors;
use self::other_people::PeopleAskedAbout;
use self::pool::{EventPool, RetrievedEvent};
use self::question::Question;
use self::retrieval::{RetrievedEvents, retrieve};
use self::trace::trace_step;
use crate::index::{Holding, Search};
use crate::language::english::question::AnswerKind;
use crate::limits::{MAX_EVIDENCE, MAX_OPTION_BYTES, MAX_OPTIONS, MAX_QUESTION_BYTES};
use crate::{Answer, Elapsed, Evidence, Intent, Query, QueryError, TimeSpan, Timestamp, TraceStep};

/// Maximum number of retrieved events that are searched for question words which the index does not hold.
const MAX_EVENTS_FOR_UNKNOWN_WORDS: usize = 64;

/// Difference between the clock of who asks and the clocks of the sources within which an event is not in the future.
const MAX_CLOCK_DIFFERENCE: Duration = Duration::from_secs(60);

/// Answers a question from one consistent view of the memory.
///
/// Without an answer (`route` is then `none`) the evidence still names the nearest memories, with their scores; an
/// answer never comes without evidence.
///
/// # Errors
/// If the question is none, if its budget ran out, or if the store could not be read.
pub fn answer(query: &Query, reader: &dyn Reader) -> Result<Answer, QueryError> {
    deliberate(query, reader, false).map(|deliberation| deliberation.answer)
}

/// Answers a question as [`answer`] does. With `proposals`, also returns the candidates and passages that the answer
/// was chosen from.
///
/// # Errors
/// As [`answer`].
pub fn deliberate(query: &Query, reader: &dyn Reader, proposals: bool) -> Result<Deliberation, QueryError> {
    let Some(circle) = &query.near else { return deliberate_from(query, reader, proposals) };
    circle.check().map_err(|error| QueryError::Invalid(error.to_string()))?;
    let only = reader.positions().map_or_else(Vec::new, |positions| positions.near(circle));
    deliberate_from(query, &near::NearReader::new(reader, only.into()), proposals)
}

fn deliberate_from(query: &Query, reader: &dyn Reader, proposals: bool) -> Result<Deliberation, QueryError> {
    validate(query)?;
    match compound::answer(query, reader, proposals)? {
        Some(both) => Ok(both),
        None => deliberate_one(query, reader, proposals),
    }
}

/// Answers a question that asks one thing.
fn deliberate_one(query: &Query, reader: &dyn Reader, proposals: bool) -> Result<Deliberation, QueryError> {
    let stopwatch = Stopwatch::start(reader.clock(), query.budget);
    let now = query.now.unwrap_or_else(|| reader.clock().now());
    let hard = within_what_was_known(query, hard_bounds(query)?, reader.search());
    let zoned = now.to_jiff().to_zoned(reader.zone().clone());
    let question = parse(query, reader, zoned, hard)?;
    let mut degraded = Vec::new();
    let embeddings = embed_question(&question, reader, &mut degraded);
    let classified = stopwatch.elapsed_within_budget()?;
    let limit = query.top_k.clamp(1, MAX_EVIDENCE);
    let mut trace = trace::question_steps(&question);
    let identified = identification::identify(reader, &question)?;
    trace.extend(trace::identification_steps(&identified));
    let mut pool = EventPool::new(reader, &question, embeddings.question, identified);
    if let Some(bounded) = visit_bounds::question_of_visit(&pool)? {
        let mut of_visit = deliberate_one(&bounded, reader, proposals)?;
        // What the visit does not tell may be told elsewhere.
        if of_visit.answer.answer.is_some() || of_visit.answer.choice.is_some() {
            if query.trace {
                of_visit.answer.trace.insert(0, trace::visit_step(&bounded));
            }
            of_visit.answer.elapsed.total = stopwatch.elapsed_within_budget()?;
            return Ok(Deliberation { question: query.question.clone(), ..of_visit });
        }
    }
    let mut gathered = gather(&mut pool, embeddings.cue.as_ref(), &mut trace)?;
    let pool = pool;
    stopwatch.elapsed_within_budget()?;
    let Weighed { mut candidates, read, intent } = weigh(&pool, &mut gathered, &mut degraded, &mut trace)?;
    if let Some(measured) = decomposition::answer(&pool, &candidates, &stopwatch)? {
        let mut measured = [measured];
        calibrate(&question, &mut measured, &gathered, read.as_ref(), &mut trace);
        candidates.extend(measured);
    }
    let candidates = fusion::fuse(candidates, question.ask(), intent);
    let retrieved = stopwatch.elapsed_within_budget()?;
    let (mut proposed, mut passages, wanted) = (Vec::new(), Vec::new(), proposals);
    if wanted && query.options.is_empty() {
        proposed = deliberation::proposals_from_candidates(&candidates, &gathered, &question);
        passages = deliberation::passages(&pool, &gathered)?;
    }
    let first_layer = candidates.first().map(|best| best.layer);
    let mut conclusion = if query.options.is_empty() {
        conclude_open_question(&question, candidates, &gathered, intent, read.as_ref(), &mut trace)
    } else {
        conclude_options(&pool, &gathered, candidates, &embeddings.options, read.as_ref(), &mut trace)?
    };
    // The proposal that equals the answer gets the confidence that the other candidates gave it.
    for proposal in proposed.iter_mut().filter(|one| Some(&one.text) == conclusion.answer.as_ref()) {
        proposal.confidence = conclusion.confidence;
    }
    if wanted && !query.options.is_empty() {
        let (options, chosen) = (&query.options, &conclusion.by_option);
        proposed = deliberation::proposals_from_options(options, chosen, &conclusion.evidence, first_layer);
    }
    let total = stopwatch.elapsed_within_budget()?;
    let pose = match (question.ask(), conclusion.evidence.first(), &conclusion.answer) {
        (AnswerKind::Place, Some(first), Some(text)) => poses::destination(&pool, first, text),
        _ => None,
    };
    // The evidence of an option is what it was compared with.
    let found = std::mem::take(&mut conclusion.evidence);
    let evidence = match query.options.is_empty() {
        true => {
            evidence::order_evidence(&question, &conclusion, found, &gathered, &pool.taken_back, read.as_ref(), limit)
        }
        false => found,
    };
    let mut evidence = corrections::order_corrections_first(evidence, &pool.taken_back);
    evidence.truncate(limit);
    identification::show_as_seen(&pool, &mut conclusion, &mut evidence)?;
    proposed.iter_mut().for_each(|proposal| proposal.text = pool.identified.as_seen(&proposal.text));
    let read_by_model = proposed.iter_mut().flat_map(|proposal| &mut proposal.evidence).chain(&mut passages);
    read_by_model.for_each(|item| pool.identified.annotate(item));
    degraded.splice(0..0, missing::degraded_reasons(&question, &evidence, conclusion.answer.is_some(), reader));
    let answer = Answer {
        answer: conclusion.answer,
        pose,
        choice: conclusion.choice,
        confidence: conclusion.confidence,
        route: conclusion.route,
        reason: conclusion.reason,
        intent,
        modality: question.modality,
        evidence: evidence.into_iter().enumerate().map(|(rank, found)| evidence_item(found, rank)).collect(),
        degraded,
        elapsed: Elapsed {
            classify: classified,
            retrieve: retrieved.saturating_sub(classified),
            reason: total.saturating_sub(retrieved),
            total,
        },
        trace: if query.trace { trace } else { Vec::<TraceStep>::new() },
    };
    let asked = query.question.clone();
    Ok(Deliberation { answer, proposals: proposed, passages, question: asked, limit, now: question.now.clone() })
}

/// Parses a question, and adds the names of the persons whom it calls by their roles.
fn parse<'q>(
    query: &'q Query,
    reader: &dyn Reader,
    now: jiff::Zoned,
    hard: Option<TimeSpan>,
) -> Result<Question<'q>, QueryError> {
    let mut question = Question::parse(query, now, reader.search(), hard);
    for (role, name) in role_names::role_names(reader, &question)? {
        question.content.add_alias(&name, &question.named, reader.search());
        question.add_owner_name(&role, &name);
        question.named.push(reading::name_phrase(&name));
        question.role_names.push((role, name));
    }
    Ok(question)
}

/// Retrieves the events that a question may be about, with the corrections of what was told.
fn gather(
    pool: &mut EventPool<'_>,
    cue: Option<&Vec<f32>>,
    trace: &mut Vec<TraceStep>,
) -> Result<RetrievedEvents, QueryError> {
    let question = pool.question;
    let mut gathered = match question.query.ablation.without_details {
        true => RetrievedEvents { found: Vec::new(), cue: None, placed: false, cue_coverage: 1.0 },
        false => retrieve(pool, cue, trace)?,
    };
    pool.taken_back = corrections::corrected_statements(pool, &gathered.found)?;
    trace.extend(pool.taken_back.iter().map(trace::correction_step));
    gathered.found = corrections::with_corrections(gathered.found, &pool.taken_back);
    question.content.note_found(gathered.found.iter().take(MAX_EVENTS_FOR_UNKNOWN_WORDS).map(|found| &*found.reading));
    Ok(gathered)
}

/// The candidates of a question with their confidences, and the events that were read.
struct Weighed {
    candidates: Vec<Candidate>,
    read: Option<ReadEvents>,
    intent: Intent,
}

/// Proposes candidates, reads the events, and gives every candidate its confidence.
fn weigh(
    pool: &EventPool<'_>,
    gathered: &mut RetrievedEvents,
    degraded: &mut Vec<String>,
    trace: &mut Vec<TraceStep>,
) -> Result<Weighed, QueryError> {
    let (question, query) = (pool.question, pool.question.query);
    let mut intent = question.intent;
    let limit = query.top_k.clamp(1, MAX_EVIDENCE);
    let mut candidates = answerers::propose(pool, gathered, degraded, &mut intent, limit)?;
    if query.ablation.without_details {
        let told = candidates.iter().flat_map(|candidate| candidate.evidence.clone()).collect();
        gathered.found = pool::merge(told, Vec::new());
    }
    let people = PeopleAskedAbout::of(pool);
    candidates.retain(|candidate| !people.are_not_in_evidence_of(candidate));
    let read = extraction::read_events(pool, gathered, &candidates, &people, degraded)?;
    // Options are weighed with what a reader answers only where it reads sentences.
    let read = read.filter(|read| query.options.is_empty() || read.has_prose());
    if let Some(read) = &read {
        candidates.extend(read.propose(question, &candidates));
        if query.trace {
            trace.extend(read.describe().map(|detail| trace_step("passage", detail)));
        }
    }
    calibrate(question, &mut candidates, gathered, read.as_ref(), trace);
    Ok(Weighed { candidates, read, intent })
}

/// Gives every candidate its confidence.
fn calibrate(
    question: &Question<'_>,
    candidates: &mut [Candidate],
    gathered: &RetrievedEvents,
    read: Option<&ReadEvents>,
    trace: &mut Vec<TraceStep>,
) {
    for candidate in candidates {
        if candidate.layer != Layer::Procedures {
            candidate.signals.coverage *= gathered.cue_coverage.clamp(0.0, 1.0);
        }
        let support = read.map(|read| read.support(question, candidate));
        candidate.confidence = match support {
            Some(support) => calibration::confidence_with_reader(question, candidate, support),
            None => calibration::candidate_confidence(candidate.layer, &candidate.signals),
        };
        if question.query.trace {
            trace.push(trace::candidate_step(candidate, support.unwrap_or_default()));
        }
    }
}

fn evidence_item(found: RetrievedEvent, rank: usize) -> Evidence {
    let event = Arc::unwrap_or_clone(found.reading).event;
    Evidence {
        episode: event.episode,
        span: event.span,
        stream: event.stream,
        modality: event.modality,
        score: rank_score(rank),
        media: event.media,
        event: event.id,
        kind: event.kind,
        observations: vec![event.sender_id.unwrap_or_else(|| event.id.to_string())],
        text: match &event.entity {
            Some(entity) if !event.text.contains(entity.as_str()) => format!("{entity}: {}", event.text),
            _ => event.text,
        },
        entity: event.entity,
        attributes: event.attributes,
        pose: event.pose,
    }
}

/// Returns how well the evidence at a rank supports the answer.
fn rank_score(rank: usize) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "a rank")]
    let rank = rank as f32;
    1.0 / (1.0 + 0.1 * rank)
}

fn validate(query: &Query) -> Result<(), QueryError> {
    let invalid = |message: String| Err(QueryError::Invalid(message));
    if !query.question.contains(char::is_alphanumeric) {
        return invalid("the question is empty: ask in plain words, such as \"Where are my keys?\"".into());
    }
    if query.question.len() > MAX_QUESTION_BYTES {
        return invalid(format!(
            "the question is {} bytes long, and {MAX_QUESTION_BYTES} are allowed: ask for one thing in a few sentences",
            query.question.len()
        ));
    }
    if query.options.len() > MAX_OPTIONS {
        return invalid(format!("{} options, and {MAX_OPTIONS} are allowed", query.options.len()));
    }
    if let Some(place) =
        query.options.iter().position(|option| option.trim().is_empty() || option.len() > MAX_OPTION_BYTES)
    {
        return invalid(format!("option {place} is empty or longer than {MAX_OPTION_BYTES} bytes"));
    }
    Ok(())
}

pub(crate) fn hard_bounds(query: &Query) -> Result<Option<TimeSpan>, QueryError> {
    if query.since.is_none() && query.until.is_none() {
        return Ok(None);
    }
    let start = query.since.unwrap_or(Timestamp::from_micros(i64::MIN));
    let end = query.until.unwrap_or(Timestamp::from_micros(i64::MAX));
    if start > end {
        return Err(QueryError::Invalid(format!("`since` ({start}) is later than `until` ({end}): swap them")));
    }
    Ok(Some(TimeSpan { start, end }))
}

/// Ends the bounds of a request where it is asked, if that is earlier than the memory reaches.
fn within_what_was_known(query: &Query, hard: Option<TimeSpan>, search: &dyn Search) -> Option<TimeSpan> {
    let Some(now) = query.now.map(|now| now.saturating_add(MAX_CLOCK_DIFFERENCE)) else { return hard };
    let later = TimeSpan { start: now, end: Timestamp::from_micros(i64::MAX) };
    let after = search.holding(&Holding { span: Some(later), limit: 1, latest: true, ..Holding::default() });
    if after.is_empty() {
        return hard;
    }
    let start = hard.map_or(Timestamp::from_micros(i64::MIN), |hard| hard.start);
    let end = hard.map_or(now, |hard| hard.end.min(now));
    // Bounds that lie wholly in the future are left as they are: nothing of them was known.
    if start > end { hard } else { Some(TimeSpan { start, end }) }
}

/// φ of all texts that are compared, computed in one batch.
#[derive(Debug, Default)]
struct QuestionEmbeddings {
    question: Option<Vec<f32>>,
    cue: Option<Vec<f32>>,
    options: Vec<OptionVectors>,
}

fn embed_question(question: &Question<'_>, reader: &dyn Reader, degraded: &mut Vec<String>) -> QuestionEmbeddings {
    let nothing = QuestionEmbeddings::default();
    let Some(embedder) = reader.embedder() else { return nothing };
    if reader.search().embedded() == 0 {
        return nothing;
    }
    let mut texts: Vec<String> = vec![question.text.to_owned()];
    texts.extend(question.asked.cue.as_ref().map(|cue| question.part(&cue.range).to_owned()));
    let own = texts.len();
    let options = &question.query.options;
    texts.extend(options.iter().map(|option| format!("{} {option}", question.text)));
    texts.extend(options.iter().cloned());
    let borrowed: Vec<&str> = texts.iter().map(String::as_str).collect();
    match embedder.embed(&borrowed) {
        Ok(mut vectors) if vectors.len() == texts.len() => {
            let alone = vectors.split_off(own + options.len());
            let joint = vectors.split_off(own);
            let options = joint.into_iter().zip(alone).map(|(joint, alone)| OptionVectors { joint, alone }).collect();
            let mut own = vectors.into_iter();
            QuestionEmbeddings { question: own.next(), cue: own.next(), options }
        }
        Ok(vectors) => {
            degraded.push(format!("text embedding: {} vectors for {} texts", vectors.len(), texts.len()));
            nothing
        }
        Err(error) => {
            degraded.push(format!("text embedding: {}", error.message));
            nothing
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
