//! Answers in words. They say what was asked, how often it was seen, and what stands against it.

use super::parse::Daytime;
use super::world::Told;
use super::{Question, Subject};
use crate::EventId;
use crate::logic::query::{Behaviour, Missing, Needed, NextStep, Path, StandIns};
use crate::logic::{Procedure, StepId};

/// An answer with the events behind it, best first.
pub(super) struct Composed {
    pub answer: String,
    pub confidence: f64,
    pub events: Vec<EventId>,
    pub trace: String,
}

/// Habits that one answer names.
const MOST_HABITS: usize = 5;
/// Sessions that are shown as evidence of each.
const SHOWN_SESSIONS: usize = 3;

/// A way that fulfils the conditions.
pub(super) fn ways(question: &Question<'_>, subject: &Subject<'_>, found: &[Path], told: &[Told]) -> Composed {
    let procedure = subject.procedure;
    let best = &found[0];
    let count = procedure.runs().len();
    let support = match best.seen {
        0 => "put together from several sessions".to_owned(),
        seen if seen as usize == count => sessions(count),
        seen => format!("{seen} of {}", sessions(count)),
    };
    let others = match found.len() - 1 {
        0 => String::new(),
        1 => " There is another way.".to_owned(),
        more => format!(" There are {more} other ways."),
    };
    let needed_not: Vec<&Told> =
        told.iter().filter(|told| !found.iter().any(|path| uses(procedure, &path.steps, &told.thing))).collect();
    let because =
        needed_not.first().map(|told| format!(" {} is not needed: “{}”", capitalised(&told.thing), quote(told)));
    let answer = format!(
        "{}: {} ({support}).{others}{}",
        capitalised(&goal_of(question, subject)),
        steps(procedure, &best.steps),
        because.unwrap_or_default(),
    );
    let mut events = behind(procedure, &best.steps);
    events.extend(needed_not.iter().map(|told| told.event.id));
    let seen = f64::from(best.seen).max(0.5);
    Composed { answer, confidence: subject.score * assurance(seen), events, trace: format!("{} ways", found.len()) }
}

/// What to do where a thing that is needed is not to be had.
pub(super) fn blocked(
    question: &Question<'_>,
    subject: &Subject<'_>,
    found: &StandIns,
    usual: &[Path],
    things: &[String],
    told: &[Told],
    offers: &[Told],
) -> Option<Composed> {
    let procedure = subject.procedure;
    let usual = usual.first()?;
    let stop = usual.steps.iter().find(|step| found.blocked.contains(step))?;
    let thing = things.iter().find(|thing| uses(procedure, &[*stop], thing))?;
    let own = [thing.clone()];
    let because = told.iter().find(|told| told.is_of(&own));
    let offer = offers.iter().find(|offer| offer.is_of(&own));
    let swap = found.swaps.iter().find(|swap| swap.step == *stop);
    let way = found.ways.paths.first().filter(|_| !found.ways.guessed);
    let step = text(procedure, *stop);
    let why = because.map_or_else(|| format!("there is no {thing}"), |told| format!("“{}”", quote(told)));
    let mut events: Vec<EventId> = because.iter().chain(&offer).map(|told| told.event.id).collect();
    let before: Vec<StepId> = usual.steps.iter().copied().take_while(|step| step != stop).collect();
    let first = if before.is_empty() { String::new() } else { format!("{}, then ", steps(procedure, &before)) };
    let rest: Vec<StepId> = usual.steps.iter().copied().skip_while(|step| step != stop).collect();
    let mut parts = Vec::new();
    if let Some(offer) = offer {
        parts.push(format!("get another {thing} first (“{}”), then {}", quote(offer), steps(procedure, &rest)));
    }
    if let Some(way) = way {
        events.extend(behind(procedure, &way.steps));
        parts.push(format!("do without it: {}", steps(procedure, &way.steps)));
    }
    if let Some(swap) = swap {
        parts.push(format!("use the {} instead, as in {}", swap.with, sessions(swap.seen as usize)));
    }
    let seen = usual.seen.max(1);
    let answer = if parts.is_empty() {
        format!(
            "{}: {first}{step} comes next, but {why}, and nothing is known that stands in for the {thing}.",
            capitalised(&goal_of(question, subject))
        )
    } else {
        format!(
            "{}: {first}{step}, which needs the {thing}, but {why}. So {}.",
            capitalised(&goal_of(question, subject)),
            parts.join("; or ")
        )
    };
    events.extend(behind(procedure, &usual.steps));
    let certain = if parts.is_empty() { 0.6 } else { 1.0 };
    Some(Composed {
        answer,
        confidence: certain * subject.score * assurance(f64::from(seen)),
        events,
        trace: format!("{step} is blocked by {thing}"),
    })
}

/// No way fulfils the conditions.
pub(super) fn no_way(question: &Question<'_>, subject: &Subject<'_>, usual: &[Path]) -> Composed {
    let procedure = subject.procedure;
    let asked = question.understood;
    let usual: Vec<StepId> = usual.first().map(|path| path.steps.clone()).unwrap_or_default();
    let blocking = asked.without.iter().find_map(|thing| {
        let step = usual.iter().find(|step| uses(procedure, &[**step], thing))?;
        Some(format!(": “{}” needs the {thing}", text(procedure, *step)))
    });
    let answer = format!(
        "No way is known to {} like that{}. What is known: {}.",
        goal_of(question, subject),
        blocking.unwrap_or_default(),
        steps(procedure, &usual)
    );
    let count = procedure.runs().len() as f64;
    Composed {
        answer,
        confidence: 0.8 * subject.score * assurance(count),
        events: behind(procedure, &usual),
        trace: "no way".to_owned(),
    }
}

/// What comes next.
pub(super) fn next(question: &Question<'_>, subject: &Subject<'_>, next: &[NextStep]) -> Composed {
    let procedure = subject.procedure;
    let first = next[0];
    let done = subject.done.last().map(|step| format!(" after “{}”", text(procedure, *step))).unwrap_or_default();
    let percent = |step: &NextStep| format!("{:.0} %", 100.0 * step.probability);
    let goal = capitalised(&goal_of(question, subject));
    let mut events: Vec<EventId> = subject.session.into_iter().flat_map(|run| run.events().rev()).collect();
    let answer = match first.step {
        None => format!("{goal}: nothing more, it is done{done} ({}).", percent(&first)),
        Some(step) => {
            let other = next.get(1).filter(|other| other.probability >= 0.2);
            let other = other.map(|other| match other.step {
                Some(step) => format!(", or {} ({})", text(procedure, step), percent(other)),
                None => format!(", or nothing more ({})", percent(other)),
            });
            events.splice(0..0, behind(procedure, &[step]));
            format!("{goal}: {}{done} ({}){}.", text(procedure, step), percent(&first), other.unwrap_or_default())
        }
    };
    let count = procedure.runs().len() as f64;
    let confidence = subject.score * assurance(count) * (0.4 + 0.6 * first.probability);
    if events.is_empty() {
        events = behind(procedure, &subject.done);
    }
    Composed { answer, confidence, events, trace: format!("{} next steps", next.len()) }
}

/// What is still to be done, and with what.
pub(super) fn missing(
    question: &Question<'_>,
    subject: &Subject<'_>,
    found: &[Missing],
    needed: &[Needed],
) -> Composed {
    let procedure = subject.procedure;
    let goal = capitalised(&goal_of(question, subject));
    let left: Vec<StepId> = found.iter().map(|missing| missing.step).collect();
    let names: Vec<String> = needed.iter().map(|thing| thing.name.clone()).collect();
    let things = if names.is_empty() { String::new() } else { format!(" Needed: {}.", listed(&names)) };
    let only_things = matches!(question.understood.asked, super::Asked::Things) && !names.is_empty();
    let answer = match (left.is_empty(), only_things) {
        (true, _) => format!("{goal}: nothing is missing, everything was done."),
        (false, true) => format!("{goal}: {}.", listed(&names)),
        (false, false) => {
            let still = if subject.done.is_empty() { "" } else { "still " };
            format!("{goal}: {still}{}.{things}", steps(procedure, &left))
        }
    };
    let mut events = behind(procedure, if left.is_empty() { &subject.done } else { &left });
    events.extend(subject.session.into_iter().flat_map(|run| run.events()));
    let count = procedure.runs().len() as f64;
    Composed {
        answer,
        confidence: 0.9 * subject.score * assurance(count),
        events,
        trace: format!("{} steps are missing", left.len()),
    }
}

/// What a person usually does.
pub(super) fn habits(person: &str, daytime: Option<Daytime>, found: &[Behaviour<'_>]) -> Composed {
    let name = found[0].runs.iter().flat_map(|run| run.persons());
    let called = person.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let name = name
        .filter_map(|number| found[0].procedure.name(number))
        .find(|name| called.iter().all(|word| name.to_lowercase().contains(word.as_str())))
        .map_or_else(|| capitalised(person), str::to_owned);
    let habits: Vec<String> = found
        .iter()
        .take(MOST_HABITS)
        .map(|behaviour| format!("{} ({})", behaviour.procedure.goal(), times(behaviour.runs.len())))
        .collect();
    let when = match daytime {
        None => "",
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
        behaviour.runs.iter().rev().take(SHOWN_SESSIONS).flat_map(|run| run.events()).collect()
    };
    Composed {
        answer: format!("{name} usually does this{when}: {}.", listed(&habits)),
        confidence: 0.95 * assurance(total as f64),
        events: found.iter().take(MOST_HABITS).flat_map(latest).collect(),
        trace: format!("{} procedures", found.len()),
    }
}

/// The goal as the answer names it: a procedure without a told goal is known by its steps.
fn goal_of(question: &Question<'_>, subject: &Subject<'_>) -> String {
    match &question.understood.goal {
        Some(goal) if !subject.procedure.is_named() => goal.clone(),
        _ => subject.procedure.goal().to_owned(),
    }
}

/// The latest event behind each step, in the order of the steps.
fn behind(procedure: &Procedure, steps: &[StepId]) -> Vec<EventId> {
    // A session that did all of it is the best evidence.
    let whole = procedure.runs().rev().find(|run| run.steps() == steps);
    if let Some(run) = whole {
        return run.events().collect();
    }
    let latest = |step: &StepId| {
        procedure.runs().rev().find_map(|run| {
            let at = run.steps().iter().position(|other| other == step)?;
            run.events().nth(at)
        })
    };
    steps.iter().filter_map(latest).collect()
}

/// Whether a step needs a thing.
fn uses(procedure: &Procedure, steps: &[StepId], thing: &str) -> bool {
    let words = crate::logic::query::StepWords::of(procedure);
    let named = words.named_by(&crate::logic::query::Phrase::any(thing));
    steps.iter().any(|step| named.get(step.0 as usize) == Some(&true))
}

fn text(procedure: &Procedure, step: StepId) -> String {
    procedure.step(step).map(|step| step.text.trim_end_matches('.').to_owned()).unwrap_or_default()
}

fn steps(procedure: &Procedure, steps: &[StepId]) -> String {
    steps.iter().map(|step| text(procedure, *step)).collect::<Vec<_>>().join(", then ")
}

/// How sure a number of sessions makes: every one takes away half of the doubt.
fn assurance(sessions: f64) -> f64 {
    0.97 * (1.0 - 0.5_f64.powf(sessions.min(10.0)))
}

fn sessions(count: usize) -> String {
    if count == 1 { "1 session".to_owned() } else { format!("{count} sessions") }
}

fn times(count: usize) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        count => format!("{count} times"),
    }
}

fn listed(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

fn quote(told: &Told) -> &str {
    told.event.text.trim().trim_end_matches('.')
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}
