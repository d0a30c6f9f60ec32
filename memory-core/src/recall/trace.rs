//! The steps of an answer's trace, which a question asks for with `trace`.

use super::candidate::{Candidate, Signals};
use super::corrections::CorrectedStatement;
use super::extraction::ReadSupport;
use super::identification::IdentifiedCaptions;
use super::question::Question;
use crate::language::english::syntax::NounPhrase;
use crate::{Query, Timestamp, TraceStep};

pub(super) fn trace_step(step: &str, detail: String) -> TraceStep {
    TraceStep { step: step.into(), detail }
}

/// Says how the question was understood.
pub(super) fn question_steps(question: &Question<'_>) -> Vec<TraceStep> {
    let asked = &question.asked;
    let class = asked.class.as_ref().map(|class| &class.head);
    let kinds = format!("{:?}, {:?}, {:?}, {:?}", question.ask(), question.intent, question.modality, question.tense);
    let mut steps = vec![trace_step("question", format!("{kinds}, class {class:?}"))];
    if !question.query.trace {
        return steps;
    }
    let items = question.content.items.iter();
    let items = items.map(|item| format!("{} {:.1}/{}", item.lemma, item.weight, item.documents));
    steps.push(trace_step("content", items.collect::<Vec<_>>().join(", ")));
    let clause = &asked.clause;
    let texts = |nouns: &[NounPhrase]| {
        nouns.iter().map(|noun| question.part(&noun.range).to_owned()).collect::<Vec<_>>().join(" | ")
    };
    steps.push(trace_step(
        "clause",
        format!(
            "subject {:?}, verb {:?}, objects {}, named {}, alternatives {:?}, occurrence {:?}, bound {:?}",
            clause.subject.as_ref().map(|subject| question.part(&subject.range)),
            clause.verb.as_ref().map(|verb| (&verb.lemma, &verb.particle, verb.auxiliary_only)),
            texts(&clause.objects),
            texts(&question.named),
            asked.alternatives.iter().map(|range| question.part(range)).collect::<Vec<_>>(),
            asked.occurrence,
            question.bound().map(|span| (span.start.to_string(), span.end.to_string())),
        ),
    ));
    if let Some(cue) = &asked.cue {
        steps.push(trace_step("cue words", format!("{:?} {}", cue.order, question.part(&cue.range))));
    }
    steps
}

/// Says whom captions describe, and who was considered.
pub(super) fn identification_steps(identified: &IdentifiedCaptions) -> Vec<TraceStep> {
    let considered = identified.looked_for().map(|(described, ranked)| {
        let ranked: Vec<String> = ranked.iter().map(|(name, votes)| format!("{name} {votes:.2}")).collect();
        trace_step("described", format!("{described}: {}", ranked.join(", ")))
    });
    let named = identified.iter().map(|(id, caption)| trace_step("identified", format!("{id}: {}", caption.named)));
    considered.chain(named).collect()
}

/// Says which statement a later one takes back.
pub(super) fn correction_step(pair: &CorrectedStatement) -> TraceStep {
    let (earlier, later) = (&pair.earlier.reading.event, &pair.later.reading.event);
    trace_step("taken back", format!("{}: {} by {}: {}", earlier.id, earlier.text, later.id, later.text))
}

/// Says which visit a question is about, and what is asked of it.
pub(super) fn visit_step(bounded: &Query) -> TraceStep {
    let time = |at: Option<Timestamp>| at.map_or_else(|| "-".to_owned(), |at| at.to_string());
    let (since, until) = (time(bounded.since), time(bounded.until));
    trace_step("visit", format!("from {since} to {until}: {}", bounded.question))
}

/// Says with which confidence a candidate was proposed, and why. `tests/calibrate` reads these lines.
pub(super) fn candidate_step(candidate: &Candidate, support: ReadSupport) -> TraceStep {
    let signals = format!("{:?}", candidate.signals);
    let ReadSupport { prose, read, read_odds, extracted, undisputed, answerable } = support;
    let detail = format!(
        "{:.2} {}, read: {read:.4}, read_odds: {read_odds:.4}, extracted: {extracted:.4}, undisputed: \
         {undisputed:.4}, answerable: {answerable:.6}, prose: {}, computed: {} }} {} ({})",
        candidate.confidence,
        signals.trim_end_matches(" }"),
        u8::from(prose),
        u8::from(candidate.computed),
        candidate.text,
        candidate.reason
    );
    trace_step(candidate.layer.name(), detail)
}

/// Says which option was chosen, and by which signals. `tests/calibrate` reads these lines.
pub(super) fn choice_step(signals: &Signals, support: Option<ReadSupport>, option: usize) -> TraceStep {
    let ReadSupport { read, extracted, .. } = support.unwrap_or_default();
    let signals = format!("{signals:?}");
    let signals = signals.trim_end_matches(" }");
    trace_step("choice", format!("{signals}, read: {read:.4}, extracted: {extracted:.4} }} option {option}"))
}
