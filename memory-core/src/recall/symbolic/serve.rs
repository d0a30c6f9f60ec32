//! Answers typed requests: queries of the logic layer, with evidence in the format of clients.

use super::known::{KnownProcedures, sender_id};
use super::state::{other_names, step_facts};
use super::world;
use crate::ReadError;
use crate::logic::query::{
    self, Constraints, Goals, Part, Path, Paths, Phrase, StepWords, behaviours, missing, next_steps, paths_from,
    stand_ins, things,
};
use crate::logic::requests::{
    Alternatives, EdgeDetail, LikelyStep, OtherThing, PictureFormat, ProcedureDetail, ProcedureError, ProcedureReply,
    ProcedureRequest, ProcedureSummary, Remark, SessionEvidence, StepDetail, Way, Ways, WhichProcedure,
};
use crate::logic::{Dag, NodeId, Procedure, Run, StepId, draw};
use crate::recall::Reader;

/// Maximum length of a goal, a step or a name, in bytes.
const MAX_TEXT_BYTES: usize = 1024;
/// Maximum number of items in a list of constraints.
const MAX_CONSTRAINTS: usize = 64;
/// Maximum number of steps that are given as done.
const MAX_DONE_STEPS: usize = 1024;
/// Maximum number of results of a request.
const MAX_RESULTS: usize = 1000;
/// Maximum number of sessions that are returned for one procedure, the latest ones. `sessions` counts them all.
const MAX_SESSIONS: usize = 2000;

/// Answers a request from one consistent view.
///
/// # Errors
/// See [`ProcedureError`].
pub fn serve(request: &ProcedureRequest, reader: &dyn Reader) -> Result<ProcedureReply, ProcedureError> {
    let known = KnownProcedures::new(reader);
    match request {
        ProcedureRequest::List { goal_like, max } => {
            let mut found = query::list(known.listed(), goal_like.as_deref().map(check_text_length).transpose()?);
            found.sort_by_key(|procedure| !procedure.is_established());
            Ok(ProcedureReply::List(found.into_iter().take(result_limit(*max)).map(ProcedureSummary::of).collect()))
        }
        ProcedureRequest::Get(which) => Ok(ProcedureReply::Procedure(detail(known.find_procedure(which)?, reader)?)),
        ProcedureRequest::Paths { of, constraints, done, max } => {
            check_constraints(constraints)?;
            let procedure = known.find_procedure(of)?;
            let done = matching_steps(procedure, done)?;
            let found =
                paths_from(procedure, &constraints_with_aliases(constraints, reader), &done, result_limit(*max));
            Ok(ProcedureReply::Paths(as_ways(procedure, found.map_err(invalid_constraint)?)))
        }
        ProcedureRequest::Next { of, done, k } => {
            check_done(done)?;
            let procedure = known.find_procedure(of)?;
            let next = next_steps(procedure, done, result_limit(*k)).into_iter();
            let text = |step: Option<StepId>| step.map_or("GOAL".to_owned(), |step| text_of(procedure, step));
            let next = next.map(|one| LikelyStep { step: text(one.step), probability: one.probability });
            Ok(ProcedureReply::Next(next.collect()))
        }
        ProcedureRequest::Missing { of, done } => {
            check_done(done)?;
            let procedure = known.find_procedure(of)?;
            let found = missing(procedure, done);
            let needed = things(procedure, found.iter().map(|missing| missing.step));
            let steps = found
                .into_iter()
                .map(|missing| LikelyStep { step: text_of(procedure, missing.step), probability: missing.probability });
            Ok(ProcedureReply::Missing {
                steps: steps.collect(),
                things: needed.into_iter().map(|thing| (thing.part, thing.name)).collect(),
            })
        }
        ProcedureRequest::Alternatives { of, blocked, done, max } => {
            check_texts("blocked", blocked, MAX_CONSTRAINTS)?;
            let procedure = known.find_procedure(of)?;
            let done = matching_steps(procedure, done)?;
            Ok(ProcedureReply::Alternatives(alternatives(procedure, blocked, &done, result_limit(*max), reader)?))
        }
        ProcedureRequest::Behaviours { person } => {
            let mut found = behaviours(known.listed(), check_text_length(person)?);
            found.sort_by_key(|behaviour| !behaviour.procedure.is_established());
            let summaries = found.into_iter().take(MAX_RESULTS).map(|behaviour| {
                let evidence = session_evidence(&behaviour.runs, reader)?;
                let own = behaviour.runs.len();
                Ok(ProcedureSummary { sessions: own, evidence, ..ProcedureSummary::of(behaviour.procedure) })
            });
            Ok(ProcedureReply::Behaviours(summaries.collect::<Result<_, ProcedureError>>()?))
        }
        ProcedureRequest::Show { of, format, max_steps } => {
            let diagram = draw::Diagram::of(known.find_procedure(of)?, result_limit(*max_steps));
            let picture = match format {
                PictureFormat::Svg => diagram.to_svg(),
                PictureFormat::Dot => diagram.to_dot(),
            };
            Ok(ProcedureReply::Picture { format: *format, picture })
        }
    }
}

impl<'a> KnownProcedures<'a> {
    /// Returns the requested procedure.
    fn find_procedure(&self, which: &WhichProcedure) -> Result<&'a Procedure, ProcedureError> {
        if let Some(id) = which.id {
            let unknown =
                || ProcedureError::Unknown(format!("there is no procedure {id}; `list` names those there are"));
            return self.by_id(id).ok_or_else(unknown);
        }
        let Some(goal) = which.goal.as_deref() else {
            return Err(ProcedureError::Invalid("name the procedure by `goal` or by `id`".into()));
        };
        if let Some(found) = self.by_goal(check_text_length(goal)?) {
            return Ok(found);
        }
        let goals = Goals::of(self.established());
        let found = goals.find(goal, None).or_else(|| goals.find(goal, self.embedding(goal).as_ref()));
        found.map(|found| found.procedure).ok_or_else(|| {
            let near = query::list(self.established(), Some(goal));
            let near: Vec<&str> = near.iter().take(3).map(|procedure| procedure.goal()).collect();
            let goal: String = goal.chars().take(80).collect();
            ProcedureError::Unknown(if near.is_empty() {
                format!("no procedure is known for `{goal}`; `list` names those there are")
            } else {
                format!("no procedure is known for `{goal}`; the nearest are: {}", near.join(", "))
            })
        })
    }
}

fn invalid_constraint(error: query::ConstraintError) -> ProcedureError {
    ProcedureError::Invalid(error.to_string())
}

fn result_limit(asked: usize) -> usize {
    asked.min(MAX_RESULTS)
}

fn check_text_length(text: &str) -> Result<&str, ProcedureError> {
    if text.trim().is_empty() {
        return Err(ProcedureError::Invalid("the name of a goal, step, thing or person is empty".into()));
    }
    if text.len() > MAX_TEXT_BYTES {
        return Err(ProcedureError::Invalid(format!(
            "a text of {} bytes, and {MAX_TEXT_BYTES} are allowed",
            text.len()
        )));
    }
    Ok(text)
}

fn check_texts(field: &str, texts: &[String], most: usize) -> Result<(), ProcedureError> {
    if texts.len() > most {
        return Err(ProcedureError::Invalid(format!("`{field}` has {} items, and {most} are allowed", texts.len())));
    }
    texts.iter().try_for_each(|text| check_text_length(text).map(drop))
}

fn check_done(done: &[String]) -> Result<(), ProcedureError> {
    check_texts("done", done, MAX_DONE_STEPS)
}

fn check_constraints(constraints: &Constraints) -> Result<(), ProcedureError> {
    let pairs = constraints.before.iter().flat_map(|(first, second)| [first, second]);
    let count = constraints.without.len() + constraints.with.len() + 2 * constraints.before.len();
    if count > MAX_CONSTRAINTS {
        return Err(ProcedureError::Invalid(format!("{count} conditions, and {MAX_CONSTRAINTS} are allowed")));
    }
    let mut all = constraints.without.iter().chain(&constraints.with).chain(pairs);
    all.try_for_each(|phrase| check_text_length(&phrase.text).map(drop))
}

/// Returns the steps that texts describe. Skips texts that match no step.
fn matching_steps(procedure: &Procedure, done: &[String]) -> Result<Vec<StepId>, ProcedureError> {
    check_done(done)?;
    let words = StepWords::of(procedure);
    Ok(done.iter().filter_map(|text| words.meant_by(text)).collect())
}

pub(super) fn text_of(procedure: &Procedure, step: StepId) -> String {
    procedure.step(step).map(|step| step.text.clone()).unwrap_or_default()
}

fn as_ways(procedure: &Procedure, found: Paths) -> Ways {
    let way = |path: Path| Way {
        steps: path.steps.into_iter().map(|step| text_of(procedure, step)).collect(),
        probability: path.probability,
        seen: path.seen,
    };
    Ways { ways: found.paths.into_iter().map(way).collect(), complete: found.complete, guessed: found.guessed }
}

/// Expands a phrase by the other names of its thing: `{"tool": "couch"}` also matches the sofa.
fn with_aliases(phrase: &Phrase, reader: &dyn Reader) -> Phrase {
    if phrase.part == Some(Part::Step) {
        return phrase.clone();
    }
    let also = other_names(&phrase.text, reader.learnt()).into_iter().map(|noun| noun.shown).collect();
    Phrase { also, ..phrase.clone() }
}

fn constraints_with_aliases(constraints: &Constraints, reader: &dyn Reader) -> Constraints {
    let all = |phrases: &[Phrase]| phrases.iter().map(|phrase| with_aliases(phrase, reader)).collect();
    let pairs = constraints.before.iter();
    Constraints {
        without: all(&constraints.without),
        with: all(&constraints.with),
        before: pairs.map(|(first, second)| (with_aliases(first, reader), with_aliases(second, reader))).collect(),
        max_steps: constraints.max_steps,
    }
}

fn alternatives(
    procedure: &Procedure,
    blocked: &[String],
    done: &[StepId],
    max: usize,
    reader: &dyn Reader,
) -> Result<Alternatives, ProcedureError> {
    let told = world::read_reports(procedure, reader)?;
    let phrases: Vec<Phrase> = if blocked.is_empty() {
        told.lacking.iter().map(|claim| Phrase::needed(claim.thing.clone())).collect()
    } else {
        blocked.iter().map(|thing| with_aliases(&Phrase::any(thing.clone()), reader)).collect()
    };
    let found = stand_ins(procedure, &phrases, done, max).map_err(invalid_constraint)?;
    let things: Vec<String> = phrases.into_iter().map(|phrase| phrase.text).collect();
    let remark = |claim: world::ToldClaim| Remark {
        thing: claim.thing,
        text: claim.event.text.clone(),
        observation: sender_id(&claim.event),
    };
    Ok(Alternatives {
        blocked: found.blocked.iter().map(|step| text_of(procedure, *step)).collect(),
        ways: as_ways(procedure, found.ways),
        others: found
            .swaps
            .into_iter()
            .map(|swap| OtherThing { step: text_of(procedure, swap.step), with: swap.with, seen: swap.seen })
            .collect(),
        because: told.lacking.iter().filter(|claim| claim.is_about(&things)).cloned().map(remark).collect(),
        offers: told.offers.iter().filter(|claim| claim.is_about(&things)).cloned().map(remark).collect(),
    })
}

fn detail(procedure: &Procedure, reader: &dyn Reader) -> Result<ProcedureDetail, ProcedureError> {
    let dag = procedure.dag();
    let id = |node: NodeId| match node {
        Dag::START => "start".to_owned(),
        Dag::GOAL => "goal".to_owned(),
        NodeId(number) => format!("s{}", number - 1),
    };
    let nodes = dag.nodes();
    let steps = nodes.iter().map(|(node, place)| {
        let step = place.step.and_then(|step| procedure.step(step));
        Ok::<_, ReadError>(StepDetail {
            id: id(*node),
            text: match step {
                Some(step) => step.text.clone(),
                None if *node == Dag::START => "START".to_owned(),
                None => "GOAL".to_owned(),
            },
            occurrence: place.occurrence,
            count: place.visits,
            attributes: step.map(|step| attribute_names(&step.attributes)).unwrap_or_default(),
            duration: step.and_then(crate::logic::Step::duration),
            success: procedure.success(*node),
            facts: step.map(|step| step_facts(step, reader)).transpose()?.unwrap_or_default(),
        })
    });
    let edges = nodes.iter().flat_map(|(from, _)| {
        dag.transitions(*from).map(|(edge, probability)| EdgeDetail {
            from: id(*from),
            to: id(edge.to),
            count: edge.count,
            probability,
        })
    });
    let runs: Vec<&Run> = procedure.runs().collect();
    Ok(ProcedureDetail {
        summary: ProcedureSummary { evidence: session_evidence(&runs, reader)?, ..ProcedureSummary::of(procedure) },
        steps: steps.collect::<Result<_, _>>()?,
        edges: edges.collect(),
    })
}

fn attribute_names(attributes: &crate::logic::StepAttributes) -> Vec<(Part, Vec<(String, u32)>)> {
    let parts = [
        (Part::Object, &attributes.objects),
        (Part::Tool, &attributes.tools),
        (Part::Place, &attributes.places),
        (Part::Person, &attributes.persons),
    ];
    let named = parts.into_iter().filter(|(_, names)| !names.is_empty());
    named.map(|(part, names)| (part, names.iter().map(|(name, count)| (name.clone(), *count)).collect())).collect()
}

/// Returns one evidence item per session. Skips sessions that were hidden meanwhile.
fn session_evidence(runs: &[&Run], reader: &dyn Reader) -> Result<Vec<SessionEvidence>, ProcedureError> {
    let latest = &runs[runs.len().saturating_sub(MAX_SESSIONS)..];
    let mut evidence = Vec::with_capacity(latest.len());
    for run in latest {
        let mut observations = Vec::with_capacity(run.steps().len());
        for event in run.events() {
            observations.extend(reader.event(event)?.as_ref().map(sender_id));
        }
        if !observations.is_empty() {
            evidence.push(SessionEvidence { session: run.session().to_owned(), observations, span: run.span() });
        }
    }
    Ok(evidence)
}
