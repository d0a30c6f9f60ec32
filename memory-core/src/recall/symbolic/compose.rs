//! Composes answers in words: the asked content, how often it was observed, and what contradicts it.

use super::course::{ProcedureCourse, as_command};
use super::parse::{Daytime, ProcedureQuestion};
use super::world::ToldClaim;
use super::{ProcedureQuery, Subject};
use crate::EventId;
use crate::language::english::letters::capitalised;
use crate::language::english::tag::Tag;
use crate::logic::query::{Behaviour, Missing, Needed, NextStep, Path, StandIns};
use crate::logic::{Procedure, StepId};

/// An answer with its supporting events, best first.
pub(super) struct ComposedAnswer {
    pub answer: String,
    /// Items of the answer, for comparison with options.
    pub list: Vec<String>,
    /// Certainty that the goal or step is the one in question.
    pub goal: f64,
    /// Share of the sessions that agree.
    pub agreement: f64,
    /// Number of sessions that were consulted.
    pub sessions: usize,
    /// All words of the procedure.
    pub words: Vec<(String, Tag)>,
    pub events: Vec<EventId>,
    pub trace: String,
}

/// Maximum number of habits in an answer.
const MAX_HABITS: usize = 5;
/// Maximum number of sessions that are shown as evidence of each habit.
const MAX_EVIDENCE_SESSIONS: usize = 3;

/// Answers with a path that satisfies the conditions.
pub(super) fn describe_ways(
    question: &ProcedureQuery<'_>,
    subject: &Subject<'_>,
    found: &[Path],
    told: &[ToldClaim],
) -> ComposedAnswer {
    let procedure = subject.procedure;
    let best = &found[0];
    let count = procedure.runs().len();
    let support = match best.seen {
        0 => "put together from several sessions".to_owned(),
        seen if seen as usize == count => session_count(count),
        seen => format!("{seen} of {}", session_count(count)),
    };
    let needed_not: Vec<&ToldClaim> =
        told.iter().filter(|told| !found.iter().any(|path| needs_thing(procedure, &path.steps, &told.thing))).collect();
    let because =
        needed_not.first().map(|told| format!(" {} is not needed: “{}”", capitalised(&told.thing), quoted_text(told)));
    // The goal is named where it was asked for in other words.
    let goal =
        if subject.score > 0.99 { String::new() } else { format!("{}: ", capitalised(&goal_text(question, subject))) };
    let way = steps_text(procedure, &best.steps);
    let way = if goal.is_empty() { capitalised(&way) } else { way };
    let answer = format!("{goal}{way} ({support}).{}", because.unwrap_or_default());
    let mut events = step_events(procedure, &best.steps);
    events.extend(needed_not.iter().map(|told| told.event.id));
    let mut told = compose(subject, answer, &best.steps, events, counted(found.len(), "known way"));
    told.agreement = f64::from(best.seen) / count.max(1) as f64;
    told
}

/// Answers that a required thing is unavailable.
pub(super) fn describe_blocked(
    question: &ProcedureQuery<'_>,
    subject: &Subject<'_>,
    found: &StandIns,
    usual: &[Path],
    things: &[String],
    told: &[ToldClaim],
    offers: &[ToldClaim],
) -> Option<ComposedAnswer> {
    let procedure = subject.procedure;
    let usual = usual.first()?;
    let stop = usual.steps.iter().find(|step| found.blocked.contains(step))?;
    let thing = things.iter().find(|thing| needs_thing(procedure, &[*stop], thing))?;
    let own = [thing.clone()];
    let because = told.iter().find(|told| told.is_about(&own));
    let offer = offers.iter().find(|offer| offer.is_about(&own));
    let swap = found.swaps.iter().find(|swap| swap.step == *stop);
    let way = found.ways.paths.first().filter(|_| !found.ways.guessed);
    let step = step_text(procedure, *stop);
    let why = because.map_or_else(|| format!("there is no {thing}"), |told| format!("“{}”", quoted_text(told)));
    let mut events: Vec<EventId> = because.iter().chain(&offer).map(|told| told.event.id).collect();
    let before: Vec<StepId> = usual.steps.iter().copied().take_while(|step| step != stop).collect();
    let first = if before.is_empty() { String::new() } else { format!("{}, then ", steps_text(procedure, &before)) };
    let rest: Vec<StepId> = usual.steps.iter().copied().skip_while(|step| step != stop).collect();
    let mut parts = Vec::new();
    if let Some(offer) = offer {
        parts.push(format!(
            "get another {thing} first (“{}”), then {}",
            quoted_text(offer),
            steps_text(procedure, &rest)
        ));
    }
    if let Some(way) = way {
        events.extend(step_events(procedure, &way.steps));
        parts.push(format!("do without it: {}", steps_text(procedure, &way.steps)));
    }
    if let Some(swap) = swap {
        parts.push(format!("use the {} instead, as in {}", swap.with, session_count(swap.seen as usize)));
    }
    let answer = if parts.is_empty() && matches!(question.understood.asked, ProcedureQuestion::Ways) {
        // A general question about how it is done also gets that answer.
        format!(
            "{}: {first}{}. But {why}, and nothing is known that stands in for the {thing}.",
            capitalised(&goal_text(question, subject)),
            steps_text(procedure, &rest)
        )
    } else if parts.is_empty() {
        format!(
            "{}: {first}{step} comes next, but {why}, and nothing is known that stands in for the {thing}.",
            capitalised(&goal_text(question, subject))
        )
    } else {
        format!(
            "{}: {first}{step}, which needs the {thing}, but {why}. So {}.",
            capitalised(&goal_text(question, subject)),
            parts.join("; or ")
        )
    };
    events.extend(step_events(procedure, &usual.steps));
    let mut told = compose(subject, answer, &rest, events, format!("{step} is blocked by {thing}"));
    told.agreement = f64::from(usual.seen) / procedure.runs().len().max(1) as f64;
    Some(told)
}

/// Answers that no path satisfies the conditions.
pub(super) fn describe_no_way(question: &ProcedureQuery<'_>, subject: &Subject<'_>, usual: &[Path]) -> ComposedAnswer {
    let procedure = subject.procedure;
    let asked = question.understood;
    let usual: Vec<StepId> = usual.first().map(|path| path.steps.clone()).unwrap_or_default();
    let blocking = asked.without.iter().find_map(|thing| {
        let step = usual.iter().find(|step| needs_thing(procedure, &[**step], thing))?;
        Some(format!(": “{}” needs the {thing}", step_text(procedure, *step)))
    });
    let answer = format!(
        "No way is known to {} like that{}. What is known: {}.",
        goal_text(question, subject),
        blocking.unwrap_or_default(),
        steps_text(procedure, &usual)
    );
    compose(subject, answer, &[], step_events(procedure, &usual), "no known way is like that".to_owned())
}

/// Answers with the next step.
pub(super) fn describe_next_steps(subject: &Subject<'_>, next: &[NextStep]) -> ComposedAnswer {
    let procedure = subject.procedure;
    let first = next[0];
    let percent = |step: &NextStep| format!("{:.0} %", 100.0 * step.probability);
    let mut events: Vec<EventId> = subject.session.into_iter().flat_map(|run| run.events().rev()).collect();
    let said =
        |other: Option<StepId>| other.map_or_else(|| "nothing more".to_owned(), |step| step_text(procedure, step));
    let other = next.get(1).filter(|other| other.probability >= 0.2);
    let other = other.map(|other| format!(", or {} ({})", said(other.step), percent(other))).unwrap_or_default();
    let answer = match first.step {
        None => "Nothing more: it is done.".to_owned(),
        Some(step) => {
            events.splice(0..0, latest_step_events(procedure, step));
            format!("Next: {}{other}.", step_text(procedure, step))
        }
    };
    if events.is_empty() {
        events = step_events(procedure, &subject.done);
    }
    let list: Vec<StepId> = first.step.into_iter().collect();
    let mut told = compose(subject, answer, &list, events, counted(next.len(), "step that came next"));
    told.agreement = first.probability;
    told
}

/// Answers with the remaining steps and the things that they need.
pub(super) fn describe_missing(
    question: &ProcedureQuery<'_>,
    subject: &Subject<'_>,
    found: &[Missing],
    needed: &[Needed],
) -> ComposedAnswer {
    let procedure = subject.procedure;
    let goal = capitalised(&goal_text(question, subject));
    let left: Vec<StepId> = found.iter().map(|missing| missing.step).collect();
    let names: Vec<String> = needed.iter().map(|thing| thing.name.clone()).collect();
    let things = if names.is_empty() { String::new() } else { format!(" Needed: {}.", listed(&names)) };
    let only_things = matches!(question.understood.asked, super::ProcedureQuestion::Things) && !names.is_empty();
    let answer = match (left.is_empty(), only_things) {
        (true, _) => format!("{goal}: nothing is missing, everything was done."),
        (false, true) => format!("{goal}: {}.", listed(&names)),
        (false, false) => {
            let still = if subject.done.is_empty() { "" } else { "still " };
            format!("{goal}: {still}{}.{things}", steps_text(procedure, &left))
        }
    };
    let mut events = step_events(procedure, if left.is_empty() { &subject.done } else { &left });
    events.extend(subject.session.into_iter().flat_map(|run| run.events()));
    let mut told = compose(subject, answer, &left, events, counted(left.len(), "step that is missing"));
    let sum: f64 = found.iter().map(|missing| missing.probability).sum();
    told.agreement = if found.is_empty() { 1.0 } else { sum / found.len() as f64 };
    if only_things {
        told.list = names;
    } else {
        told.list.extend(names);
    }
    told
}

/// Returns a count in words: "One known way", "3 known ways".
fn counted(count: usize, what: &str) -> String {
    let (noun, rest) = what.split_once(" that ").unwrap_or((what, ""));
    let rest = if rest.is_empty() { String::new() } else { format!(" that {rest}") };
    if count == 1 { format!("one {noun}{rest}") } else { format!("{count} {noun}s{}", rest.replace(" is ", " are ")) }
}

/// Composes an answer about a procedure, with the steps that it names.
fn compose(
    subject: &Subject<'_>,
    answer: String,
    named: &[StepId],
    events: Vec<EventId>,
    trace: String,
) -> ComposedAnswer {
    let procedure = subject.procedure;
    ComposedAnswer {
        answer,
        list: named.iter().map(|step| step_text(procedure, *step)).collect(),
        goal: subject.score,
        agreement: 1.0,
        sessions: procedure.runs().len(),
        words: ProcedureCourse::from_procedure(procedure).words(),
        events,
        trace,
    }
}

/// Answers what a person usually does.
pub(super) fn describe_habits(person: &str, daytime: Option<Daytime>, found: &[Behaviour<'_>]) -> ComposedAnswer {
    let name = found[0].runs.iter().flat_map(|run| run.persons());
    let called = person.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let name = name
        .filter_map(|number| found[0].procedure.name(number))
        .find(|name| called.iter().all(|word| name.to_lowercase().contains(word.as_str())))
        .map_or_else(|| capitalised(person), str::to_owned);
    let habits: Vec<String> = found
        .iter()
        .take(MAX_HABITS)
        .map(|behaviour| format!("{} ({})", behaviour.procedure.goal(), times_text(behaviour.runs.len())))
        .collect();
    let clock = match daytime {
        Some(Daytime::Clock(minute)) => format!(" at about {:02}:{:02}", minute / 60, minute % 60),
        _ => String::new(),
    };
    let when = match daytime {
        None => "",
        Some(Daytime::Clock(_)) => clock.as_str(),
        Some(Daytime::Morning) => " in the morning",
        Some(Daytime::Noon) => " at noon",
        Some(Daytime::Afternoon) => " in the afternoon",
        Some(Daytime::Evening) => " in the evening",
        Some(Daytime::Night) => " at night",
        Some(Daytime::Weekday(day)) => [
            " on Mondays",
            " on Tuesdays",
            " on Wednesdays",
            " on Thursdays",
            " on Fridays",
            " on Saturdays",
            " on Sundays",
        ][usize::try_from(day).unwrap_or(0).min(6)],
        Some(Daytime::Weekend) => " at weekends",
    };
    let total: usize = found.iter().map(|behaviour| behaviour.runs.len()).sum();
    let latest = |behaviour: &Behaviour<'_>| -> Vec<EventId> {
        behaviour.runs.iter().rev().take(MAX_EVIDENCE_SESSIONS).flat_map(|run| run.events()).collect()
    };
    let goals: Vec<String> =
        found.iter().take(MAX_HABITS).map(|behaviour| behaviour.procedure.goal().to_owned()).collect();
    let mut words: Vec<(String, Tag)> =
        found.iter().flat_map(|behaviour| ProcedureCourse::from_procedure(behaviour.procedure).words()).collect();
    words.extend(called.into_iter().map(|word| (word, Tag::Name)));
    ComposedAnswer {
        answer: format!("{name} usually does this{when}: {}.", listed(&habits)),
        list: goals,
        goal: 1.0,
        agreement: found[0].runs.len() as f64 / total.max(1) as f64,
        sessions: total,
        words,
        events: found.iter().take(MAX_HABITS).flat_map(latest).collect(),
        trace: format!("{} procedures", found.len()),
    }
}

/// Returns the goal as the answer names it. A procedure without a told goal is named by its steps.
fn goal_text(question: &ProcedureQuery<'_>, subject: &Subject<'_>) -> String {
    match &question.understood.goal {
        Some(goal) if !subject.procedure.is_named() => goal.clone(),
        _ => subject.procedure.goal().to_owned(),
    }
}

/// Returns the latest event of each step, in the order of the steps.
fn step_events(procedure: &Procedure, steps: &[StepId]) -> Vec<EventId> {
    // A session that did all of it is the best evidence.
    let whole: Vec<EventId> =
        procedure.runs().rev().filter(|run| run.steps() == steps).flat_map(|run| run.events()).collect();
    if !whole.is_empty() {
        return whole;
    }
    let latest = |step: &StepId| {
        procedure.runs().rev().find_map(|run| {
            let at = run.steps().iter().position(|other| other == step)?;
            run.events().nth(at)
        })
    };
    steps.iter().filter_map(latest).collect()
}

/// Returns the events of a step, the newest session first.
fn latest_step_events(procedure: &Procedure, step: StepId) -> Vec<EventId> {
    let course = ProcedureCourse::from_procedure(procedure);
    let act = course.acts.iter().position(|act| act.steps.contains(&step));
    act.map(|act| course.events_of(act)).unwrap_or_default()
}

/// Returns whether a step needs a thing.
fn needs_thing(procedure: &Procedure, steps: &[StepId], thing: &str) -> bool {
    let words = crate::logic::query::StepWords::of(procedure);
    let named = words.named_by(&crate::logic::query::Phrase::any(thing));
    steps.iter().any(|step| named.get(step.0 as usize) == Some(&true))
}

fn step_text(procedure: &Procedure, step: StepId) -> String {
    procedure.step(step).map(as_command).unwrap_or_default()
}

fn steps_text(procedure: &Procedure, steps: &[StepId]) -> String {
    steps.iter().map(|step| step_text(procedure, *step)).collect::<Vec<_>>().join(", then ")
}

pub(super) fn session_count(count: usize) -> String {
    if count == 1 { "1 session".to_owned() } else { format!("{count} sessions") }
}

fn times_text(count: usize) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        count => format!("{count} times"),
    }
}

pub(super) fn listed(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

fn quoted_text(told: &ToldClaim) -> &str {
    told.event.text.trim().trim_end_matches('.')
}
