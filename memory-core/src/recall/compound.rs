//! Answers a question that asks two things by a question about each: "Nadia; in the shed" to "who took the ladder in, and
//! where did they leave it?" (decomposition as in self-ask: Press et al. 2022, section 3). Each runs through the whole chain.

use std::time::Duration;

use super::deliberation::{Deliberation, Proposal};
use super::{Reader, deliberate_one, rank_score};
use crate::language::english::question::CompoundQuestion;
use crate::{Answer, Elapsed, Evidence, Query, QueryError, Route};

/// Answers a question that asks two things. `None` if it asks one, or if one of them has no answer: the question is then
/// answered as a whole.
pub(super) fn answer(query: &Query, reader: &dyn Reader, proposals: bool) -> Result<Option<Deliberation>, QueryError> {
    if !query.options.is_empty() || query.ablation.without_details {
        return Ok(None);
    }
    let Some(compound) = CompoundQuestion::split(&query.question) else { return Ok(None) };
    let started = reader.clock().monotonic();
    let spent = || reader.clock().monotonic().saturating_sub(started);
    let ask = |question: String, proposals: bool| {
        let budget = query.budget.map(|budget| budget.saturating_sub(spent()));
        deliberate_one(&Query { question, budget, ..query.clone() }, reader, proposals)
    };
    let mut whole = ask(compound.first.clone(), false)?;
    let Some(question) = compound.second(whole.answer.answer.as_deref()) else { return Ok(None) };
    let second = ask(question, false)?.answer;
    if whole.answer.answer.is_none() || second.answer.is_none() {
        return Ok(None);
    }
    let first = whole.answer.clone();
    if proposals {
        // A language model chooses from what answers the whole question, or reads it.
        whole = ask(query.question.clone(), true)?;
    }
    let both = joined(first, second, whole.limit, spent());
    if proposals && let Some(text) = &both.answer {
        whole.proposals.insert(
            0,
            Proposal {
                text: text.clone(),
                choice: None,
                route: both.route,
                confidence: both.confidence,
                evidence: both.evidence.clone(),
            },
        );
    }
    Ok(Some(Deliberation { answer: both, question: query.question.clone(), ..whole }))
}

/// The answers of two questions as one. It is right if both are.
fn joined(first: Answer, second: Answer, limit: usize, total: Duration) -> Answer {
    let text = [&first, &second].into_iter().flat_map(|answer| answer.answer.clone()).collect::<Vec<_>>().join("; ");
    let same = first.route == second.route;
    let mut degraded = first.degraded;
    degraded.extend(second.degraded.into_iter().filter(|reason| !degraded.contains(reason)).collect::<Vec<_>>());
    let mut trace = first.trace;
    trace.extend(second.trace);
    Answer {
        answer: Some(text),
        pose: first.pose.or(second.pose),
        choice: None,
        confidence: first.confidence.min(second.confidence),
        route: if same { first.route } else { Route::Detailed },
        reason: format!("two questions: {}; {}", first.reason, second.reason),
        intent: first.intent,
        modality: first.modality,
        evidence: interleaved(first.evidence, second.evidence, limit),
        degraded,
        elapsed: Elapsed {
            classify: first.elapsed.classify + second.elapsed.classify,
            retrieve: first.elapsed.retrieve + second.elapsed.retrieve,
            reason: first.elapsed.reason + second.elapsed.reason,
            total,
        },
        trace,
    }
}

/// The evidence of both, in turn.
fn interleaved(first: Vec<Evidence>, second: Vec<Evidence>, limit: usize) -> Vec<Evidence> {
    let longest = first.len().max(second.len());
    let (mut first, mut second) = (first.into_iter(), second.into_iter());
    let mut both: Vec<Evidence> = Vec::new();
    for item in (0..longest).flat_map(|_| [first.next(), second.next()]).flatten() {
        if both.len() < limit && both.iter().all(|known| known.event != item.event) {
            both.push(Evidence { score: rank_score(both.len()), ..item });
        }
    }
    both
}
