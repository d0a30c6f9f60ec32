//! Answers to typed requests: the queries of the logic layer with their evidence as clients read it.

use super::known::{Known, sender};
use super::state::{facts_of, other_names};
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

/// Most bytes of a goal, a step or a name.
const LONGEST_TEXT: usize = 1024;
/// Most items of a list of constraints.
const MOST_CONSTRAINTS: usize = 64;
/// Most steps that were done.
const MOST_DONE: usize = 1024;
/// Most of anything that is asked for.
const MOST: usize = 1000;
/// Sessions that are told of one procedure, the latest ones; `sessions` counts them all.
const MOST_SESSIONS: usize = 2000;

/// Answers a request from one consistent state.
///
/// # Errors
/// See [`ProcedureError`].
pub fn serve(request: &ProcedureRequest, reader: &dyn Reader) -> Result<ProcedureReply, ProcedureError> {
    let known = Known::of(reader);
    match request {
        ProcedureRequest::List { goal_like, max } => {
            let mut found = query::list(known.listed(), goal_like.as_deref().map(short).transpose()?);
            found.sort_by_key(|procedure| !procedure.is_established());
            Ok(ProcedureReply::List(found.into_iter().take(amount(*max)).map(ProcedureSummary::of).collect()))
        }
        ProcedureRequest::Get(which) => Ok(ProcedureReply::Procedure(detail(known.find(which)?, reader)?)),
        ProcedureRequest::Paths { of, constraints, done, max } => {
            check_constraints(constraints)?;
            let procedure = known.find(of)?;
            let done = steps_of(procedure, done)?;
            let found = paths_from(procedure, &identified_all(constraints, reader), &done, amount(*max));
            Ok(ProcedureReply::Paths(ways(procedure, found.map_err(invalid)?)))
        }
        ProcedureRequest::Next { of, done, k } => {
            check_done(done)?;
            let procedure = known.find(of)?;
            let next = next_steps(procedure, done, amount(*k)).into_iter();
            let text = |step: Option<StepId>| step.map_or("GOAL".to_owned(), |step| text_of(procedure, step));
            let next = next.map(|one| LikelyStep { step: text(one.step), probability: one.probability });
            Ok(ProcedureReply::Next(next.collect()))
        }
        ProcedureRequest::Missing { of, done } => {
            check_done(done)?;
            let procedure = known.find(of)?;
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
            check_texts("blocked", blocked, MOST_CONSTRAINTS)?;
            let procedure = known.find(of)?;
            let done = steps_of(procedure, done)?;
            Ok(ProcedureReply::Alternatives(alternatives(procedure, blocked, &done, amount(*max), reader)?))
        }
        ProcedureRequest::Behaviours { person } => {
            let mut found = behaviours(known.listed(), short(person)?);
            found.sort_by_key(|behaviour| !behaviour.procedure.is_established());
            let summaries = found.into_iter().take(MOST).map(|behaviour| {
                let evidence = sessions(&behaviour.runs, reader)?;
                let own = behaviour.runs.len();
                Ok(ProcedureSummary { sessions: own, evidence, ..ProcedureSummary::of(behaviour.procedure) })
            });
            Ok(ProcedureReply::Behaviours(summaries.collect::<Result<_, ProcedureError>>()?))
        }
        ProcedureRequest::Show { of, format, max_steps } => {
            let diagram = draw::Diagram::of(known.find(of)?, amount(*max_steps));
            let picture = match format {
                PictureFormat::Svg => diagram.to_svg(),
                PictureFormat::Dot => diagram.to_dot(),
            };
            Ok(ProcedureReply::Picture { format: *format, picture })
        }
    }
}

impl<'a> Known<'a> {
    /// The procedure that is meant.
    fn find(&self, which: &WhichProcedure) -> Result<&'a Procedure, ProcedureError> {
        if let Some(id) = which.id {
            let unknown =
                || ProcedureError::Unknown(format!("there is no procedure {id}; `list` names those there are"));
            return self.by_id(id).ok_or_else(unknown);
        }
        let Some(goal) = which.goal.as_deref() else {
            return Err(ProcedureError::Invalid("name the procedure by `goal` or by `id`".into()));
        };
        if let Some(found) = self.by_goal(short(goal)?) {
            return Ok(found);
        }
        let goals = Goals::of(self.procedures());
        let found = goals.find(goal, None).or_else(|| goals.find(goal, self.embedding(goal).as_ref()));
        found.map(|found| found.procedure).ok_or_else(|| {
            let near = query::list(self.procedures(), Some(goal));
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

fn invalid(error: query::ConstraintError) -> ProcedureError {
    ProcedureError::Invalid(error.to_string())
}

fn amount(asked: usize) -> usize {
    asked.min(MOST)
}

fn short(text: &str) -> Result<&str, ProcedureError> {
    if text.trim().is_empty() {
        return Err(ProcedureError::Invalid("the name of a goal, step, thing or person is empty".into()));
    }
    if text.len() > LONGEST_TEXT {
        return Err(ProcedureError::Invalid(format!("a text of {} bytes, and {LONGEST_TEXT} are allowed", text.len())));
    }
    Ok(text)
}

fn check_texts(field: &str, texts: &[String], most: usize) -> Result<(), ProcedureError> {
    if texts.len() > most {
        return Err(ProcedureError::Invalid(format!("`{field}` has {} items, and {most} are allowed", texts.len())));
    }
    texts.iter().try_for_each(|text| short(text).map(drop))
}

fn check_done(done: &[String]) -> Result<(), ProcedureError> {
    check_texts("done", done, MOST_DONE)
}

fn check_constraints(constraints: &Constraints) -> Result<(), ProcedureError> {
    let pairs = constraints.before.iter().flat_map(|(first, second)| [first, second]);
    let count = constraints.without.len() + constraints.with.len() + 2 * constraints.before.len();
    if count > MOST_CONSTRAINTS {
        return Err(ProcedureError::Invalid(format!("{count} conditions, and {MOST_CONSTRAINTS} are allowed")));
    }
    let mut all = constraints.without.iter().chain(&constraints.with).chain(pairs);
    all.try_for_each(|phrase| short(&phrase.text).map(drop))
}

/// The steps that texts mean; what no step is like is passed over.
fn steps_of(procedure: &Procedure, done: &[String]) -> Result<Vec<StepId>, ProcedureError> {
    check_done(done)?;
    let words = StepWords::of(procedure);
    Ok(done.iter().filter_map(|text| words.meant_by(text)).collect())
}

pub(super) fn text_of(procedure: &Procedure, step: StepId) -> String {
    procedure.step(step).map(|step| step.text.clone()).unwrap_or_default()
}

fn ways(procedure: &Procedure, found: Paths) -> Ways {
    let way = |path: Path| Way {
        steps: path.steps.into_iter().map(|step| text_of(procedure, step)).collect(),
        probability: path.probability,
        seen: path.seen,
    };
    Ways { ways: found.paths.into_iter().map(way).collect(), complete: found.complete, guessed: found.guessed }
}

/// A phrase of a thing under all its names: `{"tool": "couch"}` means the sofa, too.
fn identified(phrase: &Phrase, reader: &dyn Reader) -> Phrase {
    if phrase.part == Some(Part::Step) {
        return phrase.clone();
    }
    let also = other_names(&phrase.text, reader.learnt()).into_iter().map(|noun| noun.shown).collect();
    Phrase { also, ..phrase.clone() }
}

fn identified_all(constraints: &Constraints, reader: &dyn Reader) -> Constraints {
    let all = |phrases: &[Phrase]| phrases.iter().map(|phrase| identified(phrase, reader)).collect();
    let pairs = constraints.before.iter();
    Constraints {
        without: all(&constraints.without),
        with: all(&constraints.with),
        before: pairs.map(|(first, second)| (identified(first, reader), identified(second, reader))).collect(),
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
    let told = world::about(procedure, reader)?;
    let phrases: Vec<Phrase> = if blocked.is_empty() {
        told.lacking.iter().map(|claim| Phrase::needed(claim.thing.clone())).collect()
    } else {
        blocked.iter().map(|thing| identified(&Phrase::any(thing.clone()), reader)).collect()
    };
    let found = stand_ins(procedure, &phrases, done, max).map_err(invalid)?;
    let things: Vec<String> = phrases.into_iter().map(|phrase| phrase.text).collect();
    let remark = |claim: world::Told| Remark {
        thing: claim.thing,
        text: claim.event.text.clone(),
        observation: sender(&claim.event),
    };
    Ok(Alternatives {
        blocked: found.blocked.iter().map(|step| text_of(procedure, *step)).collect(),
        ways: ways(procedure, found.ways),
        others: found
            .swaps
            .into_iter()
            .map(|swap| OtherThing { step: text_of(procedure, swap.step), with: swap.with, seen: swap.seen })
            .collect(),
        because: told.lacking.iter().filter(|claim| claim.is_of(&things)).cloned().map(remark).collect(),
        offers: told.offers.iter().filter(|claim| claim.is_of(&things)).cloned().map(remark).collect(),
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
            attributes: step.map(|step| names(&step.attributes)).unwrap_or_default(),
            duration: step.and_then(crate::logic::Step::duration),
            success: procedure.success(*node),
            facts: step.map(|step| facts_of(step, reader)).transpose()?.unwrap_or_default(),
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
        summary: ProcedureSummary { evidence: sessions(&runs, reader)?, ..ProcedureSummary::of(procedure) },
        steps: steps.collect::<Result<_, _>>()?,
        edges: edges.collect(),
    })
}

fn names(attributes: &crate::logic::StepAttributes) -> Vec<(Part, Vec<(String, u32)>)> {
    let parts = [
        (Part::Object, &attributes.objects),
        (Part::Tool, &attributes.tools),
        (Part::Place, &attributes.places),
        (Part::Person, &attributes.persons),
    ];
    let named = parts.into_iter().filter(|(_, names)| !names.is_empty());
    named.map(|(part, names)| (part, names.iter().map(|(name, count)| (name.clone(), *count)).collect())).collect()
}

/// One item per session. What was hidden meanwhile is left out.
fn sessions(runs: &[&Run], reader: &dyn Reader) -> Result<Vec<SessionEvidence>, ProcedureError> {
    let latest = &runs[runs.len().saturating_sub(MOST_SESSIONS)..];
    let mut evidence = Vec::with_capacity(latest.len());
    for run in latest {
        let mut observations = Vec::with_capacity(run.steps().len());
        for event in run.events() {
            observations.extend(reader.event(event)?.as_ref().map(sender));
        }
        if !observations.is_empty() {
            evidence.push(SessionEvidence { session: run.session().to_owned(), observations, span: run.span() });
        }
    }
    Ok(evidence)
}
