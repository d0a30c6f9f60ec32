//! Answers questions about the steps of a procedure: first, last, before, after, tool, count, duration, actor and time
//! of day.

use std::collections::BTreeMap;

use super::compose::{ComposedAnswer, listed, session_count};
use super::course::{ImpersonalStep, ProcedureCourse, SoughtWords};
use super::forms::{StepQuestion, split_statements};
use super::parse::ParsedProcedureQuestion;
use crate::index::Search;
use crate::language::english::letters::capitalised;
use crate::language::english::syntax::parse;
use crate::language::english::time::say_length;
use crate::logic::{Procedure, Run};
use crate::recall::Reader;
use crate::recall::question::ROBOT_ENTITY;
use crate::{EventId, Timestamp};

/// Minimum score of a goal or a step.
const MIN_TARGET_SCORE: f64 = 0.5;
/// Minimum score of a step that a statement describes. Statements use few words.
const MIN_STATED_STEP_SCORE: f64 = 0.6;
/// Difference below which two scores are equal. The number of sessions then decides.
const TARGET_SCORE_TOLERANCE: f64 = 0.05;
/// Score difference to the best step within which a statement describes other steps too.
const STATED_STEP_TOLERANCE: f64 = 0.2;

/// The subject of a question about steps.
struct StepTarget<'a> {
    course: ProcedureCourse<'a>,
    score: f64,
    /// The steps in question. Empty if the goal is.
    acts: Vec<usize>,
    /// Whether the goal is the subject, and not a step.
    is_goal: bool,
}

/// Answers a question about steps, if some procedure matches.
pub(super) fn answer(
    question: StepQuestion,
    asked: &ParsedProcedureQuestion,
    procedures: &[&Procedure],
    reader: &dyn Reader,
    now: Timestamp,
) -> Option<ComposedAnswer> {
    let search = reader.search();
    let target = match &asked.about {
        Some(about) => find_goal_or_step(question, about, asked, procedures, search)?,
        None => find_stated_steps(asked, procedures, search)?,
    };
    match question {
        StepQuestion::First => answer_step_at(&target, |acts| acts.first().copied().map(Some), "First"),
        StepQuestion::Last => answer_step_at(&target, |acts| acts.last().copied().map(Some), "Last"),
        StepQuestion::Before if target.is_goal => {
            answer_step_at(&target, |acts| acts.first().copied().map(Some), "First")
        }
        StepQuestion::Before => {
            let before = |acts: &[usize]| {
                let at = acts.iter().position(|act| target.acts.contains(act))?;
                Some(at.checked_sub(1).map(|at| acts[at]))
            };
            answer_step_at(&target, before, "Before that")
        }
        // No step follows a whole goal.
        StepQuestion::After if target.is_goal => None,
        StepQuestion::After => {
            let after = |acts: &[usize]| {
                let at = acts.iter().rposition(|act| target.acts.contains(act))?;
                Some(acts.get(at + 1).copied())
            };
            answer_step_at(&target, after, "Next")
        }
        StepQuestion::Tool => answer_tool(&target),
        StepQuestion::Count => answer_step_count(&target),
        StepQuestion::Length => answer_duration(&target, now),
        StepQuestion::Who => answer_actor(&target),
        StepQuestion::When => answer_time_of_day(&target, reader),
    }
}

/// Returns the procedure, and its steps, that some words describe.
fn find_goal_or_step<'a>(
    question: StepQuestion,
    about: &str,
    asked: &ParsedProcedureQuestion,
    procedures: &[&'a Procedure],
    search: &dyn Search,
) -> Option<StepTarget<'a>> {
    let sought = SoughtWords::from_text(about, search)?;
    let context: Vec<SoughtWords> =
        asked.context.iter().filter_map(|text| SoughtWords::from_text(text, search)).collect();
    let mut found: Vec<StepTarget<'a>> = Vec::new();
    for procedure in procedures {
        let course = ProcedureCourse::from_procedure(procedure);
        let goal = sought.goal_score(&course);
        let acts = sought.step_scores(&course);
        let best = acts.iter().copied().fold(0.0, f64::max);
        // A statement before the question may name the goal.
        let topic = context.iter().map(|context| context.goal_score(&course)).fold(0.0, f64::max);
        let of_step = match question {
            StepQuestion::First | StepQuestion::Last | StepQuestion::Count => false,
            StepQuestion::Tool | StepQuestion::After => true,
            StepQuestion::Before | StepQuestion::Length | StepQuestion::Who | StepQuestion::When => {
                best > goal + TARGET_SCORE_TOLERANCE
            }
        };
        let score = if of_step { best } else { goal };
        if score < MIN_TARGET_SCORE {
            continue;
        }
        let meant = |act: &usize| of_step && acts[*act] >= best - TARGET_SCORE_TOLERANCE;
        found.push(StepTarget {
            acts: (0..acts.len()).filter(meant).collect(),
            score: (score + 0.1 * topic).min(1.0),
            course,
            is_goal: !of_step,
        });
    }
    best_target(found)
}

/// Returns the procedure that contains the steps which were said to be done.
fn find_stated_steps<'a>(
    asked: &ParsedProcedureQuestion,
    procedures: &[&'a Procedure],
    search: &dyn Search,
) -> Option<StepTarget<'a>> {
    let words = |text: &String| -> Vec<String> { text.split(' ').map(str::to_owned).collect() };
    let said: Vec<SoughtWords> = asked
        .context
        .iter()
        .flat_map(|clause| split_statements(&words(clause)))
        .chain(asked.done.iter().cloned())
        .filter_map(|text| SoughtWords::from_text(&text, search))
        .collect();
    let goal = asked.goal.as_deref().and_then(|goal| SoughtWords::from_text(goal, search));
    let mut found: Vec<StepTarget<'a>> = Vec::new();
    for procedure in procedures {
        let course = ProcedureCourse::from_procedure(procedure);
        let named = goal.as_ref().map(|goal| goal.goal_score(&course));
        if named.is_some_and(|named| named < MIN_TARGET_SCORE) {
            continue;
        }
        let mut acts: Vec<usize> = Vec::new();
        let mut score: f64 = 0.0;
        let mut topic: f64 = 0.0;
        for statement in &said {
            let scores = statement.step_scores(&course);
            let best = scores.iter().copied().fold(0.0, f64::max);
            let whole = statement.goal_score(&course);
            topic = topic.max(whole);
            // "Making tea: …" names the goal and no step of it.
            if best < MIN_STATED_STEP_SCORE || whole >= best {
                continue;
            }
            score = score.max(best);
            acts.extend(
                (0..scores.len())
                    .filter(|act| scores[*act] >= (best - STATED_STEP_TOLERANCE).max(MIN_STATED_STEP_SCORE)),
            );
        }
        if !acts.is_empty() {
            found.push(StepTarget {
                course,
                score: (0.9 * score + 0.1 * topic.max(named.unwrap_or(0.0))).min(1.0),
                acts,
                is_goal: false,
            });
        }
    }
    best_target(found)
}

/// Returns the best target. Of targets with nearly equal scores, returns the one with most sessions.
fn best_target(mut found: Vec<StepTarget<'_>>) -> Option<StepTarget<'_>> {
    let best = found.iter().map(|target| target.score).fold(0.0, f64::max);
    found.retain(|target| target.score >= best - TARGET_SCORE_TOLERANCE);
    found.sort_by_key(|target| (std::cmp::Reverse(target.course.runs.len()), target.course.procedure.id()));
    found.into_iter().next()
}

/// Answers with the step that most sessions have at a position. `None` as a position is the start or the end.
fn answer_step_at(
    target: &StepTarget<'_>,
    place: impl Fn(&[usize]) -> Option<Option<usize>>,
    title: &str,
) -> Option<ComposedAnswer> {
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
    let agreement = fraction(count, total);
    let (answer, list, mut events) = match act {
        Some(act) => {
            let text = course.acts.get(act)?.text.clone();
            (format!("{title}: {text}."), vec![text], course.events_of(act))
        }
        None if title == "Next" => {
            ("Nothing more: that is the last step.".to_owned(), Vec::new(), target_events(target))
        }
        None => ("Nothing: that is the first step.".to_owned(), Vec::new(), target_events(target)),
    };
    // The step that answers first, then the sessions behind it.
    let of_run = |run: &Run| run.events().collect::<Vec<_>>();
    let whole = course
        .newest_runs()
        .into_iter()
        .filter(|(_, acts)| act.is_none_or(|act| acts.contains(&act)))
        .flat_map(|(run, _)| of_run(run));
    events.extend(whole);
    Some(compose(target, answer, list, events, agreement, total))
}

fn target_events(target: &StepTarget<'_>) -> Vec<EventId> {
    target.acts.iter().flat_map(|act| target.course.events_of(*act)).collect()
}

#[expect(clippy::cast_precision_loss, reason = "numbers of sessions")]
fn fraction(count: usize, total: usize) -> f64 {
    count as f64 / total.max(1) as f64
}

fn compose(
    target: &StepTarget<'_>,
    answer: String,
    list: Vec<String>,
    events: Vec<EventId>,
    agreement: f64,
    count: usize,
) -> ComposedAnswer {
    ComposedAnswer {
        answer,
        list,
        goal: target.score,
        agreement,
        sessions: count,
        words: target.course.words(),
        trace: format!(
            "{} by {} of {}",
            target.course.procedure.goal(),
            count,
            session_count(target.course.runs.len())
        ),
        events,
    }
}

/// Answers what a step is done with: a told tool, or one from the text of the step.
fn answer_tool(target: &StepTarget<'_>) -> Option<ComposedAnswer> {
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
                && let Some(thing) = tool_phrase(act)
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
    Some(compose(target, answer, vec![tool], events, agreement, usize::try_from(total).unwrap_or(usize::MAX)))
}

/// Returns the thing after "with" or "using" in the text of a step.
fn tool_phrase(act: &ImpersonalStep) -> Option<String> {
    let (_, sentences) = parse(&act.text, &[]);
    let mut adjuncts = sentences.iter().flat_map(|sentence| &sentence.clauses).flat_map(|clause| &clause.adjuncts);
    let found = adjuncts.find(|adjunct| matches!(adjunct.preposition.as_str(), "with" | "using"))?;
    act.text.get(found.noun.range.clone()).map(str::to_owned)
}

/// Answers how many steps the usual session has.
fn answer_step_count(target: &StepTarget<'_>) -> Option<ComposedAnswer> {
    let course = &target.course;
    let mut votes: BTreeMap<&[usize], usize> = BTreeMap::new();
    for (_, acts) in &course.runs {
        *votes.entry(acts.as_slice()).or_default() += 1;
    }
    let (acts, _) = votes.into_iter().max_by_key(|(acts, count)| (*count, std::cmp::Reverse(acts.len())))?;
    let same = course.runs.iter().filter(|(_, other)| other.len() == acts.len()).count();
    let texts: Vec<String> = acts.iter().filter_map(|act| Some(course.acts.get(*act)?.text.clone())).collect();
    let plural = if texts.len() == 1 { "step" } else { "steps" };
    let answer = format!("{} {plural}: {}.", capitalised(&number_in_words(texts.len())), texts.join(", "));
    let events = course.newest_runs().into_iter().flat_map(|(run, _)| run.events()).collect();
    let mut told = compose(
        target,
        answer,
        vec![number_in_words(texts.len())],
        events,
        fraction(same, course.runs.len()),
        course.runs.len(),
    );
    #[expect(clippy::cast_precision_loss, reason = "a number of steps")]
    let amount = texts.len() as f64;
    told.words.push((amount.to_string(), crate::language::english::tag::Tag::Number));
    Some(told)
}

fn number_in_words(count: usize) -> String {
    const NUMBERS: [&str; 11] = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    NUMBERS.get(count).map_or_else(|| count.to_string(), |word| (*word).to_owned())
}

/// Answers how long the procedure or step usually takes: the median of all sessions.
fn answer_duration(target: &StepTarget<'_>, now: Timestamp) -> Option<ComposedAnswer> {
    let course = &target.course;
    let mut found: Vec<(std::time::Duration, EventId)> = Vec::new();
    for (run, acts) in course.newest_runs().into_iter().filter(|(run, _)| run.span().end <= now) {
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
    let said = say_length(middle);
    let answer = format!("About {said} ({}).", session_count(lengths.len()));
    let events = found.into_iter().map(|(_, event)| event).collect();
    Some(compose(target, answer, vec![said], events, fraction(near, lengths.len()), lengths.len()))
}

/// Answers who does it, the most frequent actor first.
fn answer_actor(target: &StepTarget<'_>) -> Option<ComposedAnswer> {
    let course = &target.course;
    let mut votes: BTreeMap<String, Vec<EventId>> = BTreeMap::new();
    let mut total = 0;
    for (run, acts) in course.newest_runs() {
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
        .map(|(name, _)| if name.eq_ignore_ascii_case(ROBOT_ENTITY) { "I do".to_owned() } else { display_name(name) })
        .collect();
    let support = if most == total { session_count(total) } else { format!("{most} of {}", session_count(total)) };
    let answer = format!("{} ({support}).", listed(&names));
    let events = people.into_iter().flat_map(|(_, events)| events).collect();
    Some(compose(target, answer, names, events, fraction(most, total), total))
}

/// Capitalises a name. Normalised names are in lower case.
fn display_name(name: &str) -> String {
    name.split(' ').map(capitalised).collect::<Vec<_>>().join(" ")
}

/// Answers at what time of day it is done.
fn answer_time_of_day(target: &StepTarget<'_>, reader: &dyn Reader) -> Option<ComposedAnswer> {
    let course = &target.course;
    let mut found: Vec<(i32, EventId)> = Vec::new();
    for (run, acts) in course.newest_runs() {
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
    let answer = format!("At about {} {part} ({}).", clock(middle), session_count(minutes.len()));
    let events = found.into_iter().map(|(_, event)| event).collect();
    Some(compose(
        target,
        answer,
        vec![format!("{} {part}", clock(middle))],
        events,
        fraction(near, minutes.len()),
        minutes.len(),
    ))
}
