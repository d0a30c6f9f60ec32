//! The conclusion from the candidates: the answer of an open question, or the chosen option.

use super::candidate::{Candidate, Layer, Signals};
use super::decision::{AnswerDecision, decide};
use super::extraction::{ReadEvents, ReadSupport};
use super::options::OptionVectors;
use super::pool::{EventPool, RetrievedEvent};
use super::question::Question;
use super::retrieval::RetrievedEvents;
use super::trace::trace_step;
use super::{calibration, options, pool, reconciling, trace};
use crate::{Intent, QueryError, Route, TraceStep};

/// The answer or the chosen option, with its confidence and evidence.
pub(super) struct RecallConclusion {
    pub answer: Option<String>,
    pub choice: Option<usize>,
    pub confidence: f32,
    pub route: Route,
    pub reason: String,
    pub evidence: Vec<RetrievedEvent>,
    /// Whether the answer was computed from several events, in the order of `evidence`.
    pub computed: bool,
    /// The probability of every option that it is right; empty without options.
    pub by_option: Vec<f32>,
}

pub(super) fn route_of(layer: Layer) -> Route {
    match layer {
        Layer::Episodes => Route::Detailed,
        Layer::Facts | Layer::Procedures => Route::Symbolic,
        Layer::Gists => Route::Gist,
        Layer::CrossModal => Route::CrossModal,
        Layer::Read | Layer::Options => Route::Detailed,
    }
}

pub(super) fn conclude_open_question(
    question: &Question<'_>,
    candidates: Vec<Candidate>,
    gathered: &RetrievedEvents,
    intent: Intent,
    read: Option<&ReadEvents>,
    trace: &mut Vec<TraceStep>,
) -> RecallConclusion {
    // The best candidate explains best why there is no answer. If only a time was asked for, all events are equally
    // near.
    let of_a_time = gathered.placed && gathered.cue.is_none();
    let nearest = candidates.first().filter(|_| !of_a_time).map(|best| best.evidence.clone()).unwrap_or_default();
    match decide(question, candidates, intent, read, trace) {
        AnswerDecision::Answered(best) => {
            // The evidence of a procedure is the sessions that it was mined from. Other search results say nothing
            // about it.
            let evidence = match best.layer {
                Layer::Procedures => best.evidence,
                _ => pool::merge(best.evidence, gathered.found.clone()),
            };
            RecallConclusion {
                answer: Some(best.text),
                choice: None,
                confidence: best.confidence,
                route: route_of(best.layer),
                reason: best.reason,
                evidence,
                computed: best.computed,
                by_option: Vec::new(),
            }
        }
        AnswerDecision::None { confidence, reason } => RecallConclusion {
            answer: None,
            choice: None,
            confidence,
            route: Route::None,
            reason,
            evidence: pool::merge(nearest, gathered.found.clone()),
            computed: false,
            by_option: Vec::new(),
        },
    }
}

pub(super) fn conclude_options(
    pool: &EventPool<'_>,
    gathered: &RetrievedEvents,
    candidates: Vec<Candidate>,
    vectors: &[OptionVectors],
    read: Option<&ReadEvents>,
    steps: &mut Vec<TraceStep>,
) -> Result<RecallConclusion, QueryError> {
    let question = pool.question;
    let heard: &[Candidate] = if question.query.ablation.without_reconciling { &[] } else { &candidates };
    let weighed = options::weigh_options(pool, &gathered.found, heard, vectors, read)?;
    steps.push(trace_step("options", format!("by {}: {:?}", weighed.by, weighed.support)));
    if question.query.trace {
        steps.extend(weighed.speaks.iter().map(|speaks| trace_step("hypothesis", format!("{speaks:?}"))));
    }
    let layer = candidates.first().map_or(Layer::Episodes, |best| best.layer);
    let Some((option, support, lead)) = weighed.best() else {
        let reason = "nothing in memory speaks for any of the options".to_owned();
        return Ok(RecallConclusion {
            answer: None,
            choice: None,
            confidence: 0.0,
            route: Route::None,
            reason,
            evidence: gathered.found.clone(),
            computed: false,
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
            fits: spoken.map_or(1.0, |speaks| speaks.typed_best),
            thing: best.map_or(0.0, |found| found.coverage.of_content) * gathered.cue_coverage.clamp(0.0, 1.0),
            known: question.content.known_share(),
        }
    };
    let mut evidence =
        pool::merge(weighed.evidence.clone(), candidates.first().map(|best| best.evidence.clone()).unwrap_or_default());
    evidence = pool::merge(evidence, gathered.found.clone());
    // `read` is whether any event answers, and `extracted` how far the reader's words agree with the option.
    let read_support = |option: usize| {
        let extracted = weighed.speaks.get(option).map_or(0.0, |speaks| speaks.read);
        read.map(|read| ReadSupport { read: read.answerable(), extracted, ..ReadSupport::default() })
    };
    let confidence_in = |option: usize, support: f32, lead: f32| {
        let signals = signals_of(option, support, lead);
        calibration::option_confidence(&signals, read_support(option))
    };
    let by_option = weighed.support.iter().enumerate().map(|(other, support)| {
        let lead = if other == option { lead } else { 0.0 };
        confidence_in(other, *support, lead)
    });
    let by_option = by_option.collect();
    let confidence = confidence_in(option, support, lead);
    steps.push(trace::choice_step(&signals_of(option, support, lead), read_support(option), option));
    let text = question.query.options[option].clone();
    let agreeing = heard.iter().find(|candidate| reconciling::supports_option(question, candidate, &text));
    let mut reason = format!("the options were compared by {}", weighed.by);
    if let Some(candidate) = agreeing {
        steps
            .push(trace_step("agreement", format!("{:?} and {:?} ({})", text, candidate.text, candidate.layer.name())));
        reason = format!("{reason}; {} says the same", reconciling::layer_description(candidate.layer));
    }
    if evidence.is_empty() || confidence < calibration::least_confidence_in_option(read.is_some()) {
        let reason = format!("too little speaks for any of the options ({confidence:.2})");
        return Ok(RecallConclusion {
            answer: None,
            choice: None,
            confidence,
            route: Route::None,
            reason,
            evidence,
            computed: false,
            by_option,
        });
    }
    Ok(RecallConclusion {
        answer: Some(text),
        choice: Some(option),
        confidence,
        route: route_of(layer),
        reason,
        evidence,
        computed: false,
        by_option,
    })
}
