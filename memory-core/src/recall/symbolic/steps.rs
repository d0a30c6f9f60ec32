//! Answers about the steps of what is done usually: the first and the last one, what comes before and after a step, what it is
//! done with, how many there are, how long it takes, who does it and when.

use std::collections::BTreeMap;

use super::compose::{Composed, capitalised, listed, sessions};
use super::course::{Act, Course, Sought};
use super::forms::{StepQuestion, statements};
use super::parse::Understood;
use crate::index::Search;
use crate::language::english::syntax::parse;
use crate::language::english::time::length;
use crate::logic::{Procedure, Run};
use crate::recall::Reader;
use crate::recall::question::ROBOT_ENTITY;
use crate::{EventId, Timestamp};

/// Least score of a goal or a step that is meant.
const MEANT: f64 = 0.5;
/// Least score of a step that a statement means: what was done is told in few words.
const STATED: f64 = 0.6;
/// Scores that lie so near are equally good; more sessions then decide.
const NEAR: f64 = 0.05;
/// Acts that a statement means beside the best one.
const AS_GOOD: f64 = 0.2;

/// What a question is about, found.
struct Target<'a> {
    course: Course<'a>,
    score: f64,
    /// The acts that are meant; none if the goal is.
    acts: Vec<usize>,
    /// How far the step that is meant stands behind the goal as what is meant.
    is_goal: bool,
}

/// Answers a question about steps, if a procedure is about it.
pub(super) fn answer(
    question: StepQuestion,
    asked: &Understood,
    procedures: &[&Procedure],
    reader: &dyn Reader,
    now: Timestamp,
) -> Option<Composed> {
    let search = reader.search();
    let target = match &asked.about {
        Some(about) => about_goal_or_step(question, about, asked, procedures, search)?,
        None => after_statements(asked, procedures, search)?,
    };
    match question {
        StepQuestion::First => placed(&target, |acts| acts.first().copied().map(Some), "First"),
        StepQuestion::Last => placed(&target, |acts| acts.last().copied().map(Some), "Last"),
        StepQuestion::Before if target.is_goal => placed(&target, |acts| acts.first().copied().map(Some), "First"),
        StepQuestion::Before => {
            let before = |acts: &[usize]| {
                let at = acts.iter().position(|act| target.acts.contains(act))?;
                Some(at.checked_sub(1).map(|at| acts[at]))
            };
            placed(&target, before, "Before that")
        }
        // After all of a goal there is nothing that belongs to it.
        StepQuestion::After if target.is_goal => None,
        StepQuestion::After => {
            let after = |acts: &[usize]| {
                let at = acts.iter().rposition(|act| target.acts.contains(act))?;
                Some(acts.get(at + 1).copied())
            };
            placed(&target, after, "Next")
        }
        StepQuestion::Tool => tool(&target),
        StepQuestion::Count => count(&target),
        StepQuestion::Length => lasting(&target, now),
        StepQuestion::Who => who(&target),
        StepQuestion::When => when(&target, reader),
    }
}

/// The procedure, and the acts in it, that some words are about.
fn about_goal_or_step<'a>(
    question: StepQuestion,
    about: &str,
    asked: &Understood,
    procedures: &[&'a Procedure],
    search: &dyn Search,
) -> Option<Target<'a>> {
    let sought = Sought::of(about, search)?;
    let context: Vec<Sought> = asked.context.iter().filter_map(|text| Sought::of(text, search)).collect();
    let mut found: Vec<Target<'a>> = Vec::new();
    for procedure in procedures {
        let course = Course::of(procedure);
        let goal = sought.goal(&course);
        let acts = sought.acts(&course);
        let best = acts.iter().copied().fold(0.0, f64::max);
        // What was said before the question may name the goal.
        let topic = context.iter().map(|context| context.goal(&course)).fold(0.0, f64::max);
        let of_step = match question {
            StepQuestion::First | StepQuestion::Last | StepQuestion::Count => false,
            StepQuestion::Tool | StepQuestion::After => true,
            StepQuestion::Before | StepQuestion::Length | StepQuestion::Who | StepQuestion::When => best > goal + NEAR,
        };
        let score = if of_step { best } else { goal };
        if score < MEANT {
            continue;
        }
        let meant = |act: &usize| of_step && acts[*act] >= best - NEAR;
        found.push(Target {
            acts: (0..acts.len()).filter(meant).collect(),
            score: (score + 0.1 * topic).min(1.0),
            course,
            is_goal: !of_step,
        });
    }
    best_of(found)
}

/// The procedure in which what was said to be done are steps.
fn after_statements<'a>(asked: &Understood, procedures: &[&'a Procedure], search: &dyn Search) -> Option<Target<'a>> {
    let words = |text: &String| -> Vec<String> { text.split(' ').map(str::to_owned).collect() };
    let said: Vec<Sought> = asked
        .context
        .iter()
        .flat_map(|clause| statements(&words(clause)))
        .chain(asked.done.iter().cloned())
        .filter_map(|text| Sought::of(&text, search))
        .collect();
    let goal = asked.goal.as_deref().and_then(|goal| Sought::of(goal, search));
    let mut found: Vec<Target<'a>> = Vec::new();
    for procedure in procedures {
        let course = Course::of(procedure);
        let named = goal.as_ref().map(|goal| goal.goal(&course));
        if named.is_some_and(|named| named < MEANT) {
            continue;
        }
        let mut acts: Vec<usize> = Vec::new();
        let mut score: f64 = 0.0;
        let mut topic: f64 = 0.0;
        for statement in &said {
            let scores = statement.acts(&course);
            let best = scores.iter().copied().fold(0.0, f64::max);
            let whole = statement.goal(&course);
            topic = topic.max(whole);
            // "Making tea: …" names the goal and no step of it.
            if best < STATED || whole >= best {
                continue;
            }
            score = score.max(best);
            acts.extend((0..scores.len()).filter(|act| scores[*act] >= (best - AS_GOOD).max(STATED)));
        }
        if !acts.is_empty() {
            found.push(Target {
                course,
                score: (0.9 * score + 0.1 * topic.max(named.unwrap_or(0.0))).min(1.0),
                acts,
                is_goal: false,
            });
        }
    }
    best_of(found)
}

/// The best one; of those that are nearly as good, the one with most sessions.
fn best_of(mut found: Vec<Target<'_>>) -> Option<Target<'_>> {
    let best = found.iter().map(|target| target.score).fold(0.0, f64::max);
    found.retain(|target| target.score >= best - NEAR);
    found.sort_by_key(|target| (std::cmp::Reverse(target.course.runs.len()), target.course.procedure.id()));
    found.into_iter().next()
}

/// The act that most sessions have at a place; `None` of a place: the begin or the end.
fn placed(target: &Target<'_>, place: impl Fn(&[usize]) -> Option<Option<usize>>, title: &str) -> Option<Composed> {
    let course = &target.course;
    let mut votes: BTreeMap<Option<usize>, usize> = BTreeMap::new();
    let mut latest: BTreeMap<Option<usize>, Timestamp> = BTreeMap::new();
    for (run, acts) in &course.runs {
        let Some(act) = place(acts) else { continue };
        *votes.entry(act).or_default() += 1;
        let end = latest.entry(act).or_insert(run.span().end);
        *end = (*end).max(run.span().end);
    }
    let total: usize = votes.values().sum();
    let (act, count) =
        votes.into_iter().max_by_key(|(act, count)| (*count, latest.get(act).copied(), std::cmp::Reverse(*act)))?;
    let agreement = share(count, total);
    let (answer, list, mut events) = match act {
        Some(act) => {
            let text = course.acts.get(act)?.text.clone();
            (format!("{title}: {text}."), vec![text], course.events_of(act))
        }
        None if title == "Next" => {
            ("Nothing more: that is the last step.".to_owned(), Vec::new(), named_events(target))
        }
        None => ("Nothing: that is the first step.".to_owned(), Vec::new(), named_events(target)),
    };
    // The step that answers first, then the sessions behind it.
    let of_run = |run: &Run| run.events().collect::<Vec<_>>();
    let whole = course
        .newest()
        .into_iter()
        .filter(|(_, acts)| act.is_none_or(|act| acts.contains(&act)))
        .flat_map(|(run, _)| of_run(run));
    events.extend(whole);
    Some(composed(target, answer, list, events, agreement, total))
}

fn named_events(target: &Target<'_>) -> Vec<EventId> {
    target.acts.iter().flat_map(|act| target.course.events_of(*act)).collect()
}

#[expect(clippy::cast_precision_loss, reason = "numbers of sessions")]
fn share(count: usize, total: usize) -> f64 {
    count as f64 / total.max(1) as f64
}

fn composed(
    target: &Target<'_>,
    answer: String,
    list: Vec<String>,
    events: Vec<EventId>,
    agreement: f64,
    count: usize,
) -> Composed {
    Composed {
        answer,
        list,
        goal: target.score,
        agreement,
        sessions: count,
        words: target.course.words(),
        trace: format!("{} by {} of {}", target.course.procedure.goal(), count, sessions(target.course.runs.len())),
        events,
    }
}

/// What the acts that are meant are done with: a tool that was told, or what their words say.
fn tool(target: &Target<'_>) -> Option<Composed> {
    let course = &target.course;
    let mut votes: BTreeMap<String, u32> = BTreeMap::new();
    let mut behind: Vec<usize> = Vec::new();
    for place in &target.acts {
        let act = course.acts.get(*place)?;
        let steps = act.steps.iter().filter_map(|step| course.procedure.step(*step));
        let mut any = false;
        for step in steps {
            for (tool, count) in &step.attributes.tools {
                *votes.entry(tool.clone()).or_default() += count;
                any = true;
            }
            if step.attributes.tools.is_empty()
                && let Some(thing) = with(act)
            {
                *votes.entry(thing).or_default() += step.count;
                any = true;
            }
        }
        if any {
            behind.push(*place);
        }
    }
    let total: u32 = votes.values().sum();
    let (tool, count) = votes.into_iter().max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(&a.0)))?;
    let article = if tool
        .split(' ')
        .next()
        .is_some_and(|first| matches!(first, "the" | "a" | "an" | "my" | "our" | "some") || first.ends_with("'s"))
    {
        ""
    } else {
        "the "
    };
    let events: Vec<EventId> = behind.iter().flat_map(|act| course.events_of(*act)).collect();
    let agreement = f64::from(count) / f64::from(total.max(1));
    let answer = format!("With {article}{tool}.");
    Some(composed(target, answer, vec![tool], events, agreement, usize::try_from(total).unwrap_or(usize::MAX)))
}

/// The thing after "with" or "using" in an act's words.
fn with(act: &Act) -> Option<String> {
    let (_, sentences) = parse(&act.text, &[]);
    let mut adjuncts = sentences.iter().flat_map(|sentence| &sentence.clauses).flat_map(|clause| &clause.adjuncts);
    let found = adjuncts.find(|adjunct| matches!(adjunct.preposition.as_str(), "with" | "using"))?;
    act.text.get(found.noun.range.clone()).map(str::to_owned)
}

/// How many steps the usual session has.
fn count(target: &Target<'_>) -> Option<Composed> {
    let course = &target.course;
    let mut votes: BTreeMap<&[usize], usize> = BTreeMap::new();
    for (_, acts) in &course.runs {
        *votes.entry(acts.as_slice()).or_default() += 1;
    }
    let (acts, _) = votes.into_iter().max_by_key(|(acts, count)| (*count, std::cmp::Reverse(acts.len())))?;
    let same = course.runs.iter().filter(|(_, other)| other.len() == acts.len()).count();
    let texts: Vec<String> = acts.iter().filter_map(|act| Some(course.acts.get(*act)?.text.clone())).collect();
    let plural = if texts.len() == 1 { "step" } else { "steps" };
    let answer = format!("{} {plural}: {}.", capitalised(&number(texts.len())), texts.join(", "));
    let events = course.newest().into_iter().flat_map(|(run, _)| run.events()).collect();
    let mut told =
        composed(target, answer, vec![number(texts.len())], events, share(same, course.runs.len()), course.runs.len());
    #[expect(clippy::cast_precision_loss, reason = "a number of steps")]
    let amount = texts.len() as f64;
    told.words.push((amount.to_string(), crate::language::english::tag::Tag::Number));
    Some(told)
}

fn number(count: usize) -> String {
    const NUMBERS: [&str; 11] = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    NUMBERS.get(count).map_or_else(|| count.to_string(), |word| (*word).to_owned())
}

/// How long it usually takes: the middle of all sessions.
fn lasting(target: &Target<'_>, now: Timestamp) -> Option<Composed> {
    let course = &target.course;
    let mut found: Vec<(std::time::Duration, EventId)> = Vec::new();
    for (run, acts) in course.newest().into_iter().filter(|(run, _)| run.span().end <= now) {
        let (span, event) = if target.is_goal {
            (run.span().end.since(run.span().start), run.events().next())
        } else {
            let Some(at) = acts.iter().position(|act| target.acts.contains(act)) else { continue };
            let step = run.steps().get(at).and_then(|step| course.procedure.step(*step));
            (step.and_then(crate::logic::Step::duration).unwrap_or_default(), run.events().nth(at))
        };
        if let Some(event) = event.filter(|_| !span.is_zero()) {
            found.push((span, event));
        }
    }
    let mut lengths: Vec<std::time::Duration> = found.iter().map(|(length, _)| *length).collect();
    lengths.sort_unstable();
    let middle = *lengths.get(lengths.len() / 2)?;
    let near = lengths.iter().filter(|length| length.abs_diff(middle) <= middle / 4).count();
    let said = length(middle);
    let answer = format!("About {said} ({}).", sessions(lengths.len()));
    let events = found.into_iter().map(|(_, event)| event).collect();
    Some(composed(target, answer, vec![said], events, share(near, lengths.len()), lengths.len()))
}

/// Who does it, the one who does it most first.
fn who(target: &Target<'_>) -> Option<Composed> {
    let course = &target.course;
    let mut votes: BTreeMap<String, Vec<EventId>> = BTreeMap::new();
    let mut total = 0;
    for (run, acts) in course.newest() {
        let at = if target.is_goal { Some(0) } else { acts.iter().position(|act| target.acts.contains(act)) };
        let Some(event) = at.and_then(|at| run.events().nth(at)) else { continue };
        total += 1;
        for person in run.persons() {
            let Some(name) = course.procedure.name(person) else { continue };
            votes.entry(name.to_owned()).or_default().push(event);
        }
    }
    let mut people: Vec<(String, Vec<EventId>)> = votes.into_iter().collect();
    people.sort_by_key(|(_, events)| std::cmp::Reverse(events.len()));
    let most = people.first()?.1.len();
    people.retain(|(_, events)| events.len() == most);
    let names: Vec<String> = people
        .iter()
        .map(|(name, _)| if name.eq_ignore_ascii_case(ROBOT_ENTITY) { "I do".to_owned() } else { called(name) })
        .collect();
    let support = if most == total { sessions(total) } else { format!("{most} of {}", sessions(total)) };
    let answer = format!("{} ({support}).", listed(&names));
    let events = people.into_iter().flat_map(|(_, events)| events).collect();
    Some(composed(target, answer, names, events, share(most, total), total))
}

/// A name as it is written: normalised names are in small letters.
fn called(name: &str) -> String {
    name.split(' ').map(capitalised).collect::<Vec<_>>().join(" ")
}

/// At what time of day it is done.
fn when(target: &Target<'_>, reader: &dyn Reader) -> Option<Composed> {
    let course = &target.course;
    let mut found: Vec<(i32, EventId)> = Vec::new();
    for (run, acts) in course.newest() {
        let at = if target.is_goal { Some(0) } else { acts.iter().position(|act| target.acts.contains(act)) };
        let Some(event) = at.and_then(|at| run.events().nth(at)) else { continue };
        let Ok(Some(told)) = reader.event(event) else { continue };
        let local = told.span.start.to_jiff().to_zoned(reader.zone().clone());
        found.push((i32::from(local.hour()) * 60 + i32::from(local.minute()), event));
    }
    let mut minutes: Vec<i32> = found.iter().map(|(minute, _)| *minute).collect();
    minutes.sort_unstable();
    let middle = *minutes.get(minutes.len() / 2)?;
    let near = minutes.iter().filter(|minute| (**minute - middle).abs() <= 60).count();
    let clock = |minute: i32| format!("{:02}:{:02}", minute / 60, minute % 60);
    let part = match middle / 60 {
        0..5 | 22.. => "at night",
        5..12 => "in the morning",
        12..18 => "in the afternoon",
        _ => "in the evening",
    };
    let answer = format!("At about {} {part} ({}).", clock(middle), sessions(minutes.len()));
    let events = found.into_iter().map(|(_, event)| event).collect();
    Some(composed(
        target,
        answer,
        vec![format!("{} {part}", clock(middle))],
        events,
        share(near, minutes.len()),
        minutes.len(),
    ))
}
