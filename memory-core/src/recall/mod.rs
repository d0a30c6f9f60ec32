//! From a question to an answer with evidence: one chain.
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
mod content;
mod corrections;
mod decision;
mod deliberation;
mod denial;
mod evidence;
mod fusion;
mod gather;
mod intent;
mod likeness;
pub(crate) mod looking;
mod missing;
mod near;
mod nearest;
mod options;
mod pool;
mod quantities;
mod question;
mod reader;
mod reading;
mod reconciling;
pub(crate) mod robot_stays;
mod sight;
mod stance;
mod symbolic;
mod telling;
mod visits;

use std::sync::Arc;
use std::time::Duration;

pub use crate::ablation::Ablation;
pub use deliberation::{Deliberation, Proposal, VerdictError};
pub(crate) use nearest::cosine;
pub(crate) use reader::most_alike;
pub use reader::{LookInside, Reader};
pub use symbolic::serve;

use self::answerers::poses;
use self::candidate::{Candidate, Layer, Signals};
use self::decision::{Decision, decide};
use self::gather::{Gathered, gather, step};
use self::options::OptionVectors;
use self::pool::{Found, Pool};
use self::question::Question;
use crate::language::english::question::Ask;
use crate::limits::{MAX_EVIDENCE, MAX_OPTION_BYTES, MAX_OPTIONS, MAX_QUESTION_BYTES};
use crate::{Answer, Clock, Elapsed, Evidence, Intent, Query, QueryError, Route, TimeSpan, Timestamp, TraceStep};

/// Events in which words of the question are looked for that no memory holds.
const MET: usize = 64;

/// Answers a question from one consistent state.
///
/// Without an answer (`route` is then `none`) the evidence still names the nearest memories, with their scores; an
/// answer never comes without evidence.
///
/// # Errors
/// If the question is none, if its budget ran out, or if the store could not be read.
pub fn answer(query: &Query, reader: &dyn Reader) -> Result<Answer, QueryError> {
    deliberate(query, reader, false).map(|deliberation| deliberation.answer)
}

/// Answers a question as [`answer`] does, and also returns what it was chosen from, if `proposals` says so.
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
    let stopwatch = Stopwatch::start(reader.clock(), query.budget);
    validate(query)?;
    let hard = hard_bounds(query)?;
    let now = query.now.unwrap_or_else(|| reader.clock().now());
    let zoned = now.to_jiff().to_zoned(reader.zone().clone());
    let question = Question::of(query, zoned, reader.search(), hard);
    let mut question = question;
    for name in gather::aliases(reader, &question)? {
        question.content.add_alias(&name, &question.named, reader.search());
        question.named.push(reading::name_phrase(&name));
    }
    let question = question;
    let mut degraded = Vec::new();
    let embeddings = embed(&question, reader, &mut degraded);
    let classified = stopwatch.check()?;
    let limit = query.top_k.clamp(1, MAX_EVIDENCE);
    let mut trace = vec![step(
        "question",
        format!(
            "{:?}, {:?}, {:?}, {:?}, class {:?}",
            question.ask(),
            question.intent,
            question.modality,
            question.tense,
            question.asked.class.as_ref().map(|class| &class.head)
        ),
    )];
    if query.trace {
        let items: Vec<String> = question
            .content
            .items
            .iter()
            .map(|item| format!("{} {:.1}/{}", item.lemma, item.weight, item.documents))
            .collect();
        trace.push(step("content", items.join(", ")));
        let clause = &question.asked.clause;
        let heads = |nouns: &[crate::language::english::syntax::NounPhrase]| {
            nouns.iter().map(|noun| question.part(&noun.range).to_owned()).collect::<Vec<_>>().join(" | ")
        };
        trace.push(step(
            "clause",
            format!(
                "subject {:?}, verb {:?}, objects {}, named {}, alternatives {:?}, occurrence {:?}, bound {:?}",
                clause.subject.as_ref().map(|subject| question.part(&subject.range)),
                clause.verb.as_ref().map(|verb| (&verb.lemma, &verb.particle, verb.auxiliary_only)),
                heads(&clause.objects),
                heads(&question.named),
                question.asked.alternatives.iter().map(|range| question.part(range)).collect::<Vec<_>>(),
                question.asked.occurrence,
                question.bound().map(|span| (span.start.to_string(), span.end.to_string())),
            ),
        ));
        if let Some(cue) = &question.asked.cue {
            trace.push(step("cue words", format!("{:?} {}", cue.order, question.part(&cue.range))));
        }
    }
    let mut pool = Pool::new(reader, &question, embeddings.question);
    let mut gathered = match query.ablation.without_details {
        true => Gathered { found: Vec::new(), cue: None, placed: false, cue_coverage: 1.0 },
        false => gather(&pool, embeddings.cue.as_ref(), &mut trace)?,
    };
    pool.taken_back = corrections::taken_back(&pool, &gathered.found)?;
    for pair in &pool.taken_back {
        let (earlier, later) = (&pair.earlier.reading.event, &pair.later.reading.event);
        trace.push(step("taken back", format!("{}: {} by {}: {}", earlier.id, earlier.text, later.id, later.text)));
    }
    gathered.found = corrections::replaced(gathered.found, &pool.taken_back);
    let pool = pool;
    question.content.meet(gathered.found.iter().take(MET).map(|found| &*found.reading));
    stopwatch.check()?;
    let mut intent = question.intent;
    let mut candidates = answerers::propose(&pool, &gathered, &mut degraded, &mut intent, limit)?;
    if query.ablation.without_details {
        let told = candidates.iter().flat_map(|candidate| candidate.evidence.clone()).collect();
        gathered.found = pool::merged(told, Vec::new());
    }
    for candidate in &mut candidates {
        if candidate.layer != Layer::Procedures {
            candidate.signals.coverage *= gathered.cue_coverage.clamp(0.0, 1.0);
        }
        candidate.confidence = calibration::probability(candidate.layer, &candidate.signals);
        if query.trace {
            trace.push(step(
                candidate.layer.name(),
                format!(
                    "{:.2} {:?} {} ({})",
                    candidate.confidence, candidate.signals, candidate.text, candidate.reason
                ),
            ));
        }
    }
    let candidates = fusion::fuse(candidates, intent);
    let retrieved = stopwatch.check()?;
    let (mut proposed, mut passages, wanted) = (Vec::new(), Vec::new(), proposals);
    if wanted && query.options.is_empty() {
        proposed = deliberation::of_candidates(&candidates, &gathered, &question);
        passages = deliberation::passages(&pool, &gathered)?;
    }
    let first_layer = candidates.first().map(|best| best.layer);
    let conclusion = if query.options.is_empty() {
        open(&question, candidates, &gathered, intent, &mut trace)
    } else {
        choose(&pool, &gathered, candidates, &embeddings.options, &mut trace)?
    };
    // What the other candidates make of it counts where a model chooses the same.
    for proposal in proposed.iter_mut().filter(|one| Some(&one.text) == conclusion.answer.as_ref()) {
        proposal.confidence = conclusion.confidence;
    }
    if wanted && !query.options.is_empty() {
        let (options, chosen) = (&query.options, &conclusion.by_option);
        proposed = deliberation::of_options(options, chosen, &conclusion.evidence, first_layer);
    }
    let total = stopwatch.check()?;
    let pose = match (question.ask(), conclusion.evidence.first(), &conclusion.answer) {
        (Ask::Place, Some(first), Some(text)) => poses::destination(&pool, first, text),
        _ => None,
    };
    // An option is borne out by what was compared with it.
    let evidence = match query.options.is_empty() {
        true => evidence::ordered(&question, conclusion.evidence, &gathered, &pool.taken_back, conclusion.route, limit),
        false => conclusion.evidence,
    };
    let mut evidence = corrections::shown(evidence, &pool.taken_back);
    evidence.truncate(limit);
    degraded.splice(0..0, missing::missing(&question, &evidence, conclusion.answer.is_some(), reader));
    let answer = Answer {
        answer: conclusion.answer,
        pose,
        choice: conclusion.choice,
        confidence: conclusion.confidence,
        route: conclusion.route,
        reason: conclusion.reason,
        intent,
        modality: question.modality,
        evidence: evidence.into_iter().enumerate().map(|(rank, found)| cited(found, rank)).collect(),
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

struct Conclusion {
    answer: Option<String>,
    choice: Option<usize>,
    confidence: f32,
    route: Route,
    reason: String,
    evidence: Vec<Found>,
    /// The probability of every option that it is right; empty without options.
    by_option: Vec<f32>,
}

fn route(layer: Layer) -> Route {
    match layer {
        Layer::Episodes => Route::Detailed,
        Layer::Facts | Layer::Procedures => Route::Symbolic,
        Layer::Gists => Route::Gist,
        Layer::CrossModal => Route::CrossModal,
        Layer::Options => Route::Detailed,
    }
}

fn open(
    question: &Question<'_>,
    candidates: Vec<Candidate>,
    gathered: &Gathered,
    intent: Intent,
    trace: &mut Vec<TraceStep>,
) -> Conclusion {
    // What comes nearest to an answer is the best evidence of why there is none; of a time alone, all of it is as near.
    let of_a_time = gathered.placed && gathered.cue.is_none();
    let nearest = candidates.first().filter(|_| !of_a_time).map(|best| best.evidence.clone()).unwrap_or_default();
    match decide(question, candidates, intent, trace) {
        Decision::Answered(best) => {
            // A procedure is vouched for by the sessions it was mined from; what the search found besides
            // says nothing about it.
            let evidence = match best.layer {
                Layer::Procedures => best.evidence,
                _ => pool::merged(best.evidence, gathered.found.clone()),
            };
            Conclusion {
                answer: Some(best.text),
                choice: None,
                confidence: best.confidence,
                route: route(best.layer),
                reason: best.reason,
                evidence,
                by_option: Vec::new(),
            }
        }
        Decision::None { confidence, reason } => Conclusion {
            answer: None,
            choice: None,
            confidence,
            route: Route::None,
            reason,
            evidence: pool::merged(nearest, gathered.found.clone()),
            by_option: Vec::new(),
        },
    }
}

fn choose(
    pool: &Pool<'_>,
    gathered: &Gathered,
    candidates: Vec<Candidate>,
    vectors: &[OptionVectors],
    trace: &mut Vec<TraceStep>,
) -> Result<Conclusion, QueryError> {
    let question = pool.question;
    let heard: &[Candidate] = if question.query.ablation.without_reconciling { &[] } else { &candidates };
    let weighed = options::weigh(pool, &gathered.found, heard, vectors)?;
    trace.push(step("options", format!("by {}: {:?}", weighed.by, weighed.support)));
    if question.query.trace {
        trace.extend(weighed.speaks.iter().map(|speaks| step("hypothesis", format!("{speaks:?}"))));
    }
    let layer = candidates.first().map_or(Layer::Episodes, |best| best.layer);
    let Some((option, support, lead)) = weighed.best() else {
        let reason = "nothing in memory speaks for any of the options".to_owned();
        return Ok(Conclusion {
            answer: None,
            choice: None,
            confidence: 0.0,
            route: Route::None,
            reason,
            evidence: gathered.found.clone(),
            by_option: Vec::new(),
        });
    };
    let best = gathered.found.first();
    let signals_of = |option: usize, support: f32, lead: f32| {
        let spoken = weighed.speaks.get(option);
        Signals {
            coverage: spoken.map_or(support, |speaks| speaks.scene.max(speaks.answered)).clamp(0.0, 1.0),
            cosine: spoken.map_or(0.0, |speaks| speaks.joint_suited),
            margin: lead.clamp(0.0, 1.0),
            fits: if spoken.is_none() { 1.0 } else { 0.0 },
            thing: best.map_or(0.0, |found| found.coverage.of_content) * gathered.cue_coverage.clamp(0.0, 1.0),
            known: question.content.known(),
        }
    };
    let signals = signals_of(option, support, lead);
    let by_option = weighed.support.iter().enumerate().map(|(other, support)| {
        let lead = if other == option { lead } else { 0.0 };
        calibration::probability(Layer::Options, &signals_of(other, *support, lead))
    });
    let by_option = by_option.collect();
    let confidence = calibration::probability(Layer::Options, &signals);
    trace.push(step("choice", format!("{signals:?} option {option}")));
    let text = question.query.options[option].clone();
    let agreeing = heard.iter().find(|candidate| reconciling::bears_out(question, candidate, &text));
    let mut reason = format!("the options were compared by {}", weighed.by);
    if let Some(candidate) = agreeing {
        trace.push(step("agreement", format!("{:?} and {:?} ({})", text, candidate.text, candidate.layer.name())));
        reason = format!("{reason}; {} says the same", reconciling::source(candidate.layer));
    }
    let mut evidence =
        pool::merged(weighed.evidence, candidates.into_iter().next().map(|best| best.evidence).unwrap_or_default());
    evidence = pool::merged(evidence, gathered.found.clone());
    if evidence.is_empty() || confidence < calibration::CHOSEN {
        let reason = format!("too little speaks for any of the options ({confidence:.2})");
        return Ok(Conclusion {
            answer: None,
            choice: None,
            confidence,
            route: Route::None,
            reason,
            evidence,
            by_option,
        });
    }
    Ok(Conclusion {
        answer: Some(text),
        choice: Some(option),
        confidence,
        route: route(layer),
        reason,
        evidence,
        by_option,
    })
}

fn cited(found: Found, rank: usize) -> Evidence {
    let event = Arc::unwrap_or_clone(found.reading).event;
    Evidence {
        episode: event.episode,
        span: event.span,
        stream: event.stream,
        modality: event.modality,
        score: score(rank),
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

/// How well an item of evidence supports the answer, by its rank.
fn score(rank: usize) -> f32 {
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

/// φ of everything that is compared, in one batch.
#[derive(Debug, Default)]
struct Embeddings {
    question: Option<Vec<f32>>,
    cue: Option<Vec<f32>>,
    options: Vec<OptionVectors>,
}

fn embed(question: &Question<'_>, reader: &dyn Reader, degraded: &mut Vec<String>) -> Embeddings {
    let nothing = Embeddings::default();
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
            Embeddings { question: own.next(), cue: own.next(), options }
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

#[cfg(test)]
pub(crate) mod tests;
