//! Answers a question that asks two things by a question about each: "Nadia; in the shed" to "who took the ladder in, and
//! where did they leave it?" (decomposition as in self-ask: Press et al. 2022, section 3), and a question which of several
//! something holds for by a question for yes or no about each. Each runs through the whole chain.

use super::deliberation::{Deliberation, Proposal};
use super::{Reader, deliberate_one, rank_score};
use crate::language::english::letters::capitalised;
use crate::language::english::question::{CompoundQuestion, OfferedThing, asked_of_each, parse_question};
use crate::{Answer, Elapsed, Evidence, Query, QueryError, Route};

/// Minimum confidence in whether something holds for one of the things that a question offers.
const MIN_VERDICT_CONFIDENCE: f32 = 0.5;

/// Answers a question that asks two things, or for which of several something holds. `None` if it asks neither, or if
/// something of it has no answer: the question is then answered as a whole.
pub(super) fn answer(query: &Query, reader: &dyn Reader, proposals: bool) -> Result<Option<Deliberation>, QueryError> {
    if !query.options.is_empty() || query.ablation.without_details {
        return Ok(None);
    }
    let asked = parse_question(&query.question, &[]);
    let started = reader.clock().monotonic();
    let spent = || reader.clock().monotonic().saturating_sub(started);
    let ask = |question: String, proposals: bool| {
        let budget = query.budget.map(|budget| budget.saturating_sub(spent()));
        deliberate_one(&Query { question, budget, ..query.clone() }, reader, proposals)
    };
    let decided = match asked_of_each(&query.question, &asked) {
        Some(offered) => {
            let answers = offered.iter().map(|one| ask(one.question.clone(), false));
            one_that_it_holds_for(&offered, answers.collect::<Result<_, _>>()?)
        }
        None => match CompoundQuestion::split(&query.question, &asked) {
            Some(compound) => both_answered(&compound, ask)?,
            None => None,
        },
    };
    let Some(mut whole) = decided else { return Ok(None) };
    let mut answer = whole.answer.clone();
    answer.elapsed.total = spent();
    if proposals {
        // A language model chooses from what answers the whole question, or reads it.
        whole = ask(query.question.clone(), true)?;
        let Answer { answer: text, route, confidence, evidence, .. } = answer.clone();
        let text = text.unwrap_or_default();
        whole.proposals.insert(0, Proposal { text, choice: None, route, confidence, evidence });
    }
    Ok(Some(Deliberation { answer, question: query.question.clone(), ..whole }))
}

/// The answers of two questions. `None` if one of them has no answer.
fn both_answered(
    compound: &CompoundQuestion,
    ask: impl Fn(String, bool) -> Result<Deliberation, QueryError>,
) -> Result<Option<Deliberation>, QueryError> {
    let first = ask(compound.first.clone(), false)?;
    let Some(question) = compound.second(first.answer.answer.as_deref()) else { return Ok(None) };
    let second = ask(question, false)?.answer;
    if first.answer.answer.is_none() || second.answer.is_none() {
        return Ok(None);
    }
    let both = joined(first.answer.clone(), second, first.limit);
    Ok(Some(Deliberation { answer: both, ..first }))
}

/// The one thing of those offered for which something holds, or for which alone it is not denied.
fn one_that_it_holds_for(offered: &[OfferedThing], mut answers: Vec<Deliberation>) -> Option<Deliberation> {
    let verdict = |of: &Deliberation| {
        let said = of.answer.answer.as_deref().filter(|_| of.answer.confidence >= MIN_VERDICT_CONFIDENCE)?;
        let first = said.split([':', ',', '.', ' ']).next()?;
        matches!(first, "Yes" | "No").then_some(first == "Yes")
    };
    let verdicts: Vec<Option<bool>> = answers.iter().map(verdict).collect();
    let only = |wanted: fn(Option<bool>) -> bool| {
        let mut held = verdicts.iter().enumerate().filter(|(_, verdict)| wanted(**verdict)).map(|(at, _)| at);
        held.next().filter(|_| held.next().is_none())
    };
    let holds = only(|verdict| verdict == Some(true));
    let chosen = holds
        .or_else(|| only(|verdict| verdict != Some(false)).filter(|_| verdicts.iter().all(|it| *it != Some(true))))?;
    let decided = verdicts.iter().zip(&answers).filter(|(verdict, _)| verdict.is_some());
    let confidence = decided.map(|(_, of)| of.answer.confidence).fold(1.0, f32::min);
    let shown = holds.unwrap_or_else(|| verdicts.iter().position(Option::is_some).unwrap_or(chosen));
    let trace = answers.iter_mut().flat_map(|of| std::mem::take(&mut of.answer.trace)).collect();
    let told = answers.swap_remove(shown);
    let reason = match holds {
        Some(_) => format!("of those offered, only this: {}", told.answer.reason),
        None => format!("of those offered, all others are denied: {}", told.answer.reason),
    };
    let answer = Answer { answer: Some(capitalised(&offered[chosen].name)), confidence, reason, trace, ..told.answer };
    Some(Deliberation { answer, ..told })
}

/// The answers of two questions as one. It is right if both are.
fn joined(first: Answer, second: Answer, limit: usize) -> Answer {
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
            total: first.elapsed.total + second.elapsed.total,
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
