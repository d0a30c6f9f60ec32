//! From a question to an answer with evidence.
//!
//! A question is understood by rules (`classify`, `language::english::time`, `relation`), its events are found by words,
//! meaning and time (`retrieve`), and the answer is put together from their own words (`compose`, `options`) with a
//! confidence (`confidence`). Questions for a way, a next step or a habit go to the procedures first (`symbolic`). No language model is
//! inside.

mod classify;
mod compose;
mod confidence;
mod facts;
mod fitness;
mod lexicon;
mod nearest;
mod options;
mod places;
mod question;
mod reader;
mod relation;
mod retrieve;
mod sight;
mod symbolic;

#[cfg(test)]
mod tests;

use std::time::Duration;

pub use reader::Reader;
pub use symbolic::serve;

use self::options::Choice;
use self::question::Question;
use self::retrieve::{Embeddings, Found, Retrieval, Retriever, step};
use crate::{
    Answer, Clock, Elapsed, Evidence, Modality, Query, QueryError, QuestionModality, Route, TimeSpan, Timestamp,
    TraceStep,
};

/// Longest question, in bytes.
const LONGEST_QUESTION: usize = 8 * 1024;
/// Longest option, in bytes.
const LONGEST_OPTION: usize = 1024;
/// Most options.
const MOST_OPTIONS: usize = 32;
/// Most items of evidence.
const MOST_EVIDENCE: usize = 1_000;
/// Items of evidence where the question does not say.
const USUAL_EVIDENCE: usize = 5;

/// Answers a question from one consistent state.
///
/// Without an answer (`route` is then `none`) the evidence still names the nearest memories, with their scores; an answer
/// never comes without evidence.
///
/// # Errors
/// If the question is none, if its budget ran out, or if the store could not be read.
pub fn answer(query: &Query, reader: &dyn Reader) -> Result<Answer, QueryError> {
    let stopwatch = Stopwatch::start(reader.clock(), query.budget);
    validate(query)?;
    let hard = hard_bounds(query)?;
    let now = query.now.unwrap_or_else(|| reader.clock().now());
    let question = Question::understand(&query.question, now, reader.zone(), reader.search(), hard);
    let mut degraded = degraded(&question, reader);
    let (embeddings, cosines_of_options) = embed(&question, &query.options, reader, &mut degraded);
    let classified = stopwatch.check()?;

    let limit = if query.top_k == 0 { USUAL_EVIDENCE } else { query.top_k.min(MOST_EVIDENCE) };
    // Procedures know no time bounds and no options.
    if query.options.is_empty()
        && hard.is_none()
        && let Some(said) = symbolic::answer(&query.question, reader, embeddings.question.as_deref(), now, limit)?
    {
        let retrieve = stopwatch.check()?.saturating_sub(classified);
        return Ok(from_procedures(said, &question, degraded, (classified, retrieve), query.trace));
    }
    let retriever = Retriever { reader, question: &question, embeddings: &embeddings, hard, limit };
    let mut retrieval = retriever.retrieve()?;
    let retrieved = stopwatch.check()?;

    let open = confidence::open(&question, &retrieval);
    let choice = (!query.options.is_empty()).then(|| {
        let cosines = option_cosines(&cosines_of_options, hard, reader);
        options::choose(&question, &query.options, &retrieval, reader, &cosines)
    });
    let zoned = now.to_jiff().to_zoned(reader.zone().clone());
    let from_facts = match choice {
        None => facts::answer(&question, reader, hard, &zoned, &mut retrieval, &mut degraded)?,
        Some(_) => None,
    };
    let said = match from_facts {
        Some(facts::Said { answer, confidence }) => {
            Said { answer: Some(answer), choice: None, confidence, route: Route::Symbolic }
        }
        None => conclude(&question, &retrieval, choice.as_ref(), open, &query.options, &zoned),
    };
    let mut trace = std::mem::take(&mut retrieval.trace);
    if query.trace {
        trace.insert(
            0,
            step("question", format!("{:?}, {:?}, {:?}", question.intent, question.modality, question.form)),
        );
        trace.push(step(
            "confidence",
            format!("{:?} {} {open}", confidence::Signals::of(&question, &retrieval), retrieval.way.name()),
        ));
        trace.extend(choice.as_ref().map(|choice| step("options", format!("{choice:?}"))));
    }
    retrieval.found.truncate(limit);
    let total = stopwatch.check()?;
    Ok(Answer {
        answer: said.answer,
        choice: said.choice,
        confidence: said.confidence,
        route: said.route,
        intent: question.intent,
        modality: question.modality,
        evidence: retrieval.found.into_iter().map(evidence).collect(),
        degraded,
        elapsed: Elapsed {
            classify: classified,
            retrieve: retrieved.saturating_sub(classified),
            reason: total.saturating_sub(retrieved),
            total,
        },
        trace: if query.trace { trace } else { Vec::<TraceStep>::new() },
    })
}

fn from_procedures(
    said: symbolic::Said,
    question: &Question,
    degraded: Vec<String>,
    (classify, retrieve): (Duration, Duration),
    trace: bool,
) -> Answer {
    Answer {
        answer: Some(said.answer),
        choice: None,
        confidence: said.confidence,
        route: Route::Symbolic,
        intent: said.intent,
        modality: question.modality,
        evidence: said.evidence,
        degraded,
        elapsed: Elapsed { classify, retrieve, reason: Duration::ZERO, total: classify + retrieve },
        trace: if trace { vec![step("procedures", said.trace)] } else { Vec::new() },
    }
}

struct Said {
    answer: Option<String>,
    choice: Option<usize>,
    confidence: f32,
    route: Route,
}

fn conclude(
    question: &Question,
    retrieval: &Retrieval,
    choice: Option<&Choice>,
    open: f32,
    options: &[String],
    now: &jiff::Zoned,
) -> Said {
    let nothing = |confidence: f32| Said { answer: None, choice: None, confidence, route: Route::None };
    if retrieval.found.is_empty() {
        return nothing(0.0);
    }
    let route = retrieval.route(question);
    match choice {
        None if open < confidence::ANSWERED => nothing(open),
        None => match compose::compose(question, retrieval, now) {
            Some(answer) => Said { answer: Some(answer), choice: None, confidence: open, route },
            None => nothing(open),
        },
        Some(choice) => match choice.option {
            None => nothing(0.0),
            Some(option) => Said {
                answer: Some(options[option].clone()),
                choice: Some(option),
                confidence: confidence::choice(choice, question),
                route,
            },
        },
    }
}

fn evidence(found: Found) -> Evidence {
    let Found { event, score, .. } = found;
    Evidence {
        episode: event.episode,
        span: event.span,
        stream: event.stream,
        modality: event.modality,
        score: score.max(0.0) / (1.0 + score.max(0.0)),
        media: event.media,
        observations: vec![event.sender_id.unwrap_or_else(|| event.id.to_string())],
        text: match event.entity {
            Some(entity) if !event.text.contains(entity.as_str()) => format!("{entity}: {}", event.text),
            _ => event.text,
        },
    }
}

fn validate(query: &Query) -> Result<(), QueryError> {
    let invalid = |message: String| Err(QueryError::Invalid(message));
    if !query.question.contains(char::is_alphanumeric) {
        return invalid("the question is empty: ask in plain words, such as \"Where are my keys?\"".into());
    }
    if query.question.len() > LONGEST_QUESTION {
        return invalid(format!(
            "the question is {} bytes long, and {LONGEST_QUESTION} are allowed: ask for one thing in a few sentences",
            query.question.len()
        ));
    }
    if query.options.len() > MOST_OPTIONS {
        return invalid(format!("{} options, and {MOST_OPTIONS} are allowed", query.options.len()));
    }
    if let Some(place) =
        query.options.iter().position(|option| option.trim().is_empty() || option.len() > LONGEST_OPTION)
    {
        return invalid(format!("option {place} is empty or longer than {LONGEST_OPTION} bytes"));
    }
    Ok(())
}

fn hard_bounds(query: &Query) -> Result<Option<TimeSpan>, QueryError> {
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

/// What is not available to this answer: the absent roles of the senses it is about, and what has no embedding yet.
fn degraded(question: &Question, reader: &dyn Reader) -> Vec<String> {
    let concerns = |modality: Option<Modality>| match (modality, question.modality) {
        (None, _) | (_, QuestionModality::Audiovisual | QuestionModality::Gist) => true,
        (Some(modality), QuestionModality::Visual) => modality == Modality::Visual,
        (Some(modality), QuestionModality::Audio) => modality == Modality::Audio,
    };
    let mut degraded: Vec<String> = reader
        .absent_roles()
        .iter()
        .filter(|role| concerns(role.modality))
        .map(|role| format!("{}: {}", role.role, role.reason))
        .collect();
    let pending = reader.pending_embeddings();
    if pending > 0 {
        degraded.push(format!("text embedding: pending for {pending} events"));
    }
    degraded
}

/// φ of everything that is compared, in one batch: the question, its cue and the question with each option.
fn embed(
    question: &Question,
    options: &[String],
    reader: &dyn Reader,
    degraded: &mut Vec<String>,
) -> (Embeddings, Vec<Vec<f32>>) {
    let nothing = (Embeddings::default(), Vec::new());
    let Some(embedder) = reader.embedder() else { return nothing };
    if reader.search().embedded() == 0 {
        return nothing;
    }
    let mut texts: Vec<String> = vec![question.text.clone()];
    texts.extend(question.relation.as_ref().map(|relation| relation.cue.clone()));
    let own = texts.len();
    texts.extend(options.iter().map(|option| format!("{} {option}", question.text)));
    let borrowed: Vec<&str> = texts.iter().map(String::as_str).collect();
    match embedder.embed(&borrowed) {
        Ok(mut vectors) if vectors.len() == texts.len() => {
            let options = vectors.split_off(own);
            let mut own = vectors.into_iter();
            (Embeddings { question: own.next(), cue: own.next() }, options)
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

/// How near in meaning the best memory is to the question with each option.
fn option_cosines(vectors: &[Vec<f32>], hard: Option<TimeSpan>, reader: &dyn Reader) -> Vec<Option<f32>> {
    let nearest = |vector: &Vec<f32>| {
        let query = crate::index::SearchQuery {
            embedding: Some(vector.clone()),
            span: hard,
            limit: 5,
            ..crate::index::SearchQuery::default()
        };
        let hits = nearest::search(reader, query);
        hits.iter().filter_map(|hit| hit.cosine).reduce(f32::max)
    };
    vectors.iter().map(nearest).collect()
}

/// Measures a question's stages and ends it when its budget is spent.
struct Stopwatch<'a> {
    clock: &'a dyn Clock,
    started: Duration,
    budget: Option<Duration>,
}

impl<'a> Stopwatch<'a> {
    fn start(clock: &'a dyn Clock, budget: Option<Duration>) -> Self {
        Self { clock, started: clock.monotonic(), budget }
    }

    /// Time since the start.
    fn check(&self) -> Result<Duration, QueryError> {
        let elapsed = self.clock.monotonic().saturating_sub(self.started);
        match self.budget {
            Some(budget) if elapsed > budget => Err(QueryError::Deadline(budget)),
            _ => Ok(elapsed),
        }
    }
}
