//! Answers from procedures: to typed requests (`serve`), and to plain questions for ways, next steps, what is missing
//! and what somebody usually does.
//!
//! ```text
//! question ─▶ parse (rules) ─▶ find the procedure by its goal, or by what the person does just now
//!          ─▶ query (logic layer) ─▶ what memory says about the things it needs (world) ─▶ answer with evidence
//! ```
//!
//! A question whose goal fits no procedure is left to the search in events.

mod claim;
mod compose;
mod course;
mod forms;
mod grammar;
mod known;
mod parse;
mod serve;
mod state;
mod steps;
mod world;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod wordings;

pub use serve::serve;

use jiff::civil::Weekday;

use self::compose::Composed;
use self::course::{Course, Sought};
use self::forms::StepQuestion;
use self::known::Known;
use self::parse::{Daytime, ProcedureQuestion, Understood, understand};
use super::Reader;
use crate::language::english::tag::Tag;
use crate::logic::query::{
    Behaviour, ConstraintError, Constraints, Goals, Match, Path, Phrase, StepWords, behaviours, missing,
    next_steps_besides, paths_from, stand_ins, things,
};
use crate::logic::{Embedding, Procedure, Run, StepId};
use crate::{EventId, Intent, ReadError, Timestamp};

/// Ways that are looked at for one question.
const WAYS: usize = 20;
/// A session of somebody who is asked about together with a goal counts as the one under way for so long.
const UNDER_WAY: std::time::Duration = std::time::Duration::from_hours(12);
/// Least score of a goal in other words.
const MEANT: f64 = 0.5;
/// Goals whose scores lie so near are equally good.
const NEAR: f64 = 0.05;
/// Probability above which what is missing is named.
const LIKELY: f64 = 0.5;

/// An answer from procedures.
pub(super) struct Said {
    pub answer: String,
    /// What it says item by item, for comparing it with options; empty if it is no list.
    pub list: Vec<String>,
    /// How surely the goal or step is the one that was meant.
    pub goal: f32,
    /// The share of the sessions that agree.
    pub agreement: f32,
    /// How much the number of sessions says: every one takes away half of the doubt.
    pub support: f32,
    /// All words that the procedure speaks of.
    pub words: Vec<(String, Tag)>,
    pub intent: Intent,
    /// The events behind it, best first.
    pub events: Vec<EventId>,
    /// What of the procedure answers, in a few words.
    pub trace: String,
}

/// A plain question to procedures, with what is needed to answer it.
struct Question<'a> {
    understood: &'a Understood,
    known: &'a Known<'a>,
    reader: &'a dyn Reader,
    embedding: Option<Embedding>,
    now: Timestamp,
}

/// Answers a plain question, if it is one for procedures and some procedure fits.
///
/// # Errors
/// If the store could not be read.
pub(super) fn answer(
    question: &str,
    reader: &dyn Reader,
    embedding: Option<&[f32]>,
    now: Timestamp,
    limit: usize,
) -> Result<Option<Said>, ReadError> {
    let known = Known::of(reader);
    if known.is_empty() {
        return Ok(None);
    }
    let Some(understood) = understand(question) else { return Ok(None) };
    let embedding = embedding.and_then(Embedding::from_vector);
    let question = Question { understood: &understood, known: &known, reader, embedding, now };
    let procedures: Vec<&Procedure> = known.procedures().collect();
    let stated = understood.person.is_none() && !(understood.done.is_empty() && understood.context.is_empty());
    let composed = match understood.asked {
        ProcedureQuestion::Habits(daytime) => question.habits(daytime),
        ProcedureQuestion::Step(asked) => steps::answer(asked, &understood, &procedures, reader, now),
        // What was said to be done says where in what one is.
        ProcedureQuestion::Next if understood.goal.is_none() && stated => {
            steps::answer(StepQuestion::After, &understood, &procedures, reader, now)
        }
        _ => match question.subject() {
            Some(subject) => question.of(&subject)?,
            None => None,
        },
    };
    let Some(composed) = composed else { return Ok(None) };
    let mut events: Vec<EventId> = Vec::new();
    for id in composed.events {
        if !events.contains(&id) && events.len() < limit {
            events.push(id);
        }
    }
    Ok((!events.is_empty()).then(|| Said {
        answer: composed.answer,
        list: composed.list,
        goal: composed.goal as f32,
        agreement: composed.agreement.clamp(0.0, 1.0) as f32,
        support: 1.0 - 0.5_f32.powi(i32::try_from(composed.sessions.min(20)).unwrap_or(20)),
        words: composed.words,
        intent: match understood.asked {
            ProcedureQuestion::Habits(_) => Intent::Character,
            ProcedureQuestion::Ways if understood.is_constrained() => Intent::Constraint,
            _ => Intent::Procedural,
        },
        events,
        trace: composed.trace,
    }))
}

/// The procedure that a question is about.
struct Subject<'a> {
    procedure: &'a Procedure,
    /// How surely it is meant.
    score: f64,
    /// What was done already.
    done: Vec<StepId>,
    /// The session under way that says so.
    session: Option<&'a Run>,
    /// Whether words of the goal that look like a condition belong to it.
    whole: bool,
}

impl Understood {
    fn is_constrained(&self) -> bool {
        !(self.without.is_empty() && self.with.is_empty() && self.before.is_empty() && self.lacking.is_empty())
            || self.max_steps.is_some()
    }
}

impl<'a> Question<'a> {
    /// The procedure of the goal; without a goal, the one that the person (or anybody) was last seen doing.
    fn subject(&self) -> Option<Subject<'a>> {
        let asked = self.understood;
        let Some(goal) = &asked.goal else { return self.under_way() };
        let goals = Goals::of(self.known.procedures());
        let whole =
            asked.whole_goal.as_deref().and_then(|whole| goals.find(whole, None)).filter(|found| found.score > 0.99);
        let is_whole = whole.is_some() && asked.whole_goal != asked.goal;
        let found = whole.or_else(|| goals.find(goal, None)).or_else(|| self.in_other_words(goal));
        // φ of the goal alone says more than φ of the whole question.
        let found =
            found.or_else(|| goals.find(goal, self.known.embedding(goal).as_ref().or(self.embedding.as_ref())))?;
        let mut done = self.told(found.procedure);
        let mut session = None;
        if done.is_empty() && matches!(asked.asked, ProcedureQuestion::Next | ProcedureQuestion::Missing) {
            session = self.latest(std::iter::once(found.procedure)).map(|(_, run)| run);
            session = session.filter(|run| self.now.since(run.span().end) <= UNDER_WAY);
            done = session.map(|run| run.steps().to_vec()).unwrap_or_default();
        }
        Some(Subject { procedure: found.procedure, score: found.score, done, session, whole: is_whole })
    }

    /// The procedure whose goal means the same in other words, by the lexicon: "take the dog out" for "walk the dog". Of goals
    /// that lie near each other, the one with most sessions.
    fn in_other_words(&self, goal: &str) -> Option<Match<'a>> {
        let sought = Sought::of(goal, self.reader.search())?;
        let scored = self.known.procedures().map(|procedure| (procedure, sought.goal(&Course::of(procedure))));
        let mut found: Vec<Match<'a>> = scored.map(|(procedure, score)| Match { procedure, score }).collect();
        let best = found.iter().map(|found| found.score).fold(0.0, f64::max);
        found.retain(|found| found.score >= MEANT && found.score >= best - NEAR);
        found.into_iter().max_by_key(|found| (found.procedure.runs().len(), std::cmp::Reverse(found.procedure.id())))
    }

    /// Steps that the question itself says are done.
    fn told(&self, procedure: &Procedure) -> Vec<StepId> {
        let words = StepWords::of(procedure);
        let meant = |text: &String| words.meant_by(text).or_else(|| self.in_other_words_of_step(procedure, text));
        self.understood.done.iter().filter_map(meant).collect()
    }

    /// The step that a text means by the lexicon.
    fn in_other_words_of_step(&self, procedure: &Procedure, text: &str) -> Option<StepId> {
        let course = Course::of(procedure);
        let scores = Sought::of(text, self.reader.search())?.acts(&course);
        let (best, score) =
            scores.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))?;
        course.acts.get(best).filter(|_| score >= MEANT).and_then(|act| act.steps.first().copied())
    }

    /// What somebody is in the middle of.
    fn under_way(&self) -> Option<Subject<'a>> {
        if !matches!(self.understood.asked, ProcedureQuestion::Next | ProcedureQuestion::Missing) {
            return None;
        }
        let (owner, session) = self.latest(self.known.all())?;
        let texts: Vec<&str> =
            session.steps().iter().filter_map(|step| Some(owner.step(*step)?.text.as_str())).collect();
        // A session that is too short to belong to a procedure yet belongs to the one that has most of its steps.
        let candidates = self.known.procedures().map(|procedure| {
            let words = StepWords::of(procedure);
            let done: Vec<StepId> = texts.iter().filter_map(|text| words.meant_by(text)).collect();
            let share = done.len() as f64 / texts.len().max(1) as f64;
            let own = procedure.id() == owner.id();
            Subject {
                procedure,
                score: if own { 1.0 } else { 0.9 * share },
                done,
                session: Some(session),
                whole: false,
            }
        });
        let mut best: Option<Subject<'a>> = None;
        for subject in candidates.filter(|subject| subject.score >= 0.5) {
            if best.as_ref().is_none_or(|best| subject.score > best.score) {
                best = Some(subject);
            }
        }
        best.map(|mut best| {
            best.done.extend(self.told(best.procedure));
            best
        })
    }

    /// The session that ended last, of the person if the question names one.
    fn latest(&self, procedures: impl Iterator<Item = &'a Procedure>) -> Option<(&'a Procedure, &'a Run)> {
        let all: Vec<&Procedure> = procedures.collect();
        let runs: Vec<(&Procedure, &Run)> = match &self.understood.person {
            Some(person) => behaviours(all, person)
                .into_iter()
                .flat_map(|found| found.runs.into_iter().map(move |run| (found.procedure, run)))
                .collect(),
            None => all.into_iter().flat_map(|procedure| procedure.runs().map(move |run| (procedure, run))).collect(),
        };
        let past = runs.into_iter().filter(|(_, run)| run.span().start <= self.now);
        past.max_by_key(|(procedure, run)| (run.span().end, run.events().max(), procedure.id()))
    }

    /// The answer about one procedure.
    fn of(&self, subject: &Subject<'a>) -> Result<Option<Composed>, ReadError> {
        match self.understood.asked {
            ProcedureQuestion::Ways => self.ways(subject),
            ProcedureQuestion::Next => self.next(subject),
            ProcedureQuestion::Missing | ProcedureQuestion::Things => Ok(self.missing(subject)),
            ProcedureQuestion::Habits(_) | ProcedureQuestion::Step(_) => Ok(None),
        }
    }

    fn ways(&self, subject: &Subject<'a>) -> Result<Option<Composed>, ReadError> {
        let asked = self.understood;
        let phrases = |texts: &[String]| texts.iter().cloned().map(Phrase::any).collect::<Vec<_>>();
        let mut constraints = Constraints { max_steps: asked.max_steps, ..Constraints::default() };
        if !subject.whole {
            let pairs = asked.before.iter();
            constraints.before = pairs.map(|(a, b)| (Phrase::any(a.clone()), Phrase::any(b.clone()))).collect();
            constraints.with = phrases(&asked.with);
            constraints.without = phrases(&asked.without);
        }
        constraints.without.extend(phrases(&asked.lacking));
        // What is used up may be had elsewhere; what one will do without is not to be had at all.
        let world = world::about(subject.procedure, self.reader)?;
        let told: Vec<world::Told> =
            world.lacking.iter().filter(|told| !asked.lacking.contains(&told.thing)).cloned().collect();
        let mut possible = constraints.clone();
        possible.without.extend(told.iter().map(|told| Phrase::needed(told.thing.clone())));
        let paths = |constraints: &Constraints| {
            let mut found = paths_from(subject.procedure, constraints, &subject.done, WAYS)?;
            found.paths.retain(|path| !self.has_just_begun(subject.procedure, path));
            Ok::<_, ConstraintError>(found)
        };
        // Conditions that cannot be searched for leave the question to others.
        let Ok(found) = paths(&possible) else { return Ok(None) };
        if !found.paths.is_empty() && !found.guessed {
            return Ok(Some(compose::ways(self, subject, &found.paths, &told)));
        }
        let blocked: Vec<String> =
            asked.lacking.iter().cloned().chain(told.iter().map(|told| told.thing.clone())).collect();
        if asked.without.is_empty() && asked.with.is_empty() && !blocked.is_empty() {
            let needed = told.iter().map(|told| Phrase::needed(told.thing.clone()));
            let phrases: Vec<Phrase> = phrases(&asked.lacking).into_iter().chain(needed).collect();
            let Ok(mut found) = stand_ins(subject.procedure, &phrases, &subject.done, WAYS) else { return Ok(None) };
            found.ways.paths.retain(|path| !self.has_just_begun(subject.procedure, path));
            let Ok(usual) = paths(&Constraints { without: Vec::new(), ..constraints }) else { return Ok(None) };
            return Ok(compose::blocked(self, subject, &found, &usual.paths, &blocked, &world.lacking, &world.offers));
        }
        let Ok(usual) = paths(&Constraints::default()) else { return Ok(None) };
        Ok(Some(compose::no_way(self, subject, &usual.paths)))
    }

    /// Whether all who took a way are only at its begin: lately, and not half as far as somebody else.
    fn has_just_begun(&self, procedure: &Procedure, path: &Path) -> bool {
        let begun = procedure.runs().filter(|run| {
            run.steps() == path.steps
                && self.now.since(run.span().end) <= UNDER_WAY
                && procedure
                    .runs()
                    .any(|other| other.steps().len() >= 2 * path.steps.len() && other.steps().starts_with(&path.steps))
        });
        path.seen > 0 && begun.count() == path.seen as usize
    }

    fn next(&self, subject: &Subject<'a>) -> Result<Option<Composed>, ReadError> {
        let procedure = subject.procedure;
        let next = next_steps_besides(procedure, &subject.done, subject.session, WAYS);
        let Some(first) = next.first() else { return Ok(None) };
        let world = world::about(procedure, self.reader)?;
        let mut blocked = self.understood.lacking.clone();
        blocked.extend(world.lacking.iter().map(|told| told.thing.clone()));
        if let (Some(step), false) = (first.step, blocked.is_empty()) {
            let told = world.lacking.iter().map(|told| Phrase::needed(told.thing.clone()));
            let phrases: Vec<Phrase> = self.understood.lacking.iter().cloned().map(Phrase::any).chain(told).collect();
            let Ok(found) = stand_ins(procedure, &phrases, &subject.done, WAYS) else { return Ok(None) };
            if found.blocked.contains(&step) {
                let way = [Path { steps: vec![step], probability: first.probability, seen: 0 }];
                return Ok(compose::blocked(self, subject, &found, &way, &blocked, &world.lacking, &world.offers));
            }
        }
        Ok(Some(compose::next(subject, &next)))
    }

    fn missing(&self, subject: &Subject<'a>) -> Option<Composed> {
        let procedure = subject.procedure;
        let done: Vec<String> =
            subject.done.iter().filter_map(|step| Some(procedure.step(*step)?.text.clone())).collect();
        let found: Vec<_> =
            missing(procedure, &done).into_iter().filter(|missing| missing.probability >= LIKELY).collect();
        let needed = things(procedure, found.iter().map(|missing| missing.step));
        Some(compose::missing(self, subject, &found, &needed))
    }

    fn habits(&self, daytime: Option<Daytime>) -> Option<Composed> {
        let person = self.understood.person.as_deref()?;
        let mut found: Vec<Behaviour<'_>> = behaviours(self.known.procedures(), person);
        for behaviour in &mut found {
            behaviour.runs.retain(|run| daytime.is_none_or(|daytime| self.is_at(run, daytime)));
        }
        found.retain(|behaviour| !behaviour.runs.is_empty());
        found.sort_by_key(|behaviour| std::cmp::Reverse(behaviour.runs.len()));
        (!found.is_empty()).then(|| compose::habits(person, daytime, &found))
    }

    /// Whether a session began at that time of day, where the robot is.
    fn is_at(&self, run: &Run, daytime: Daytime) -> bool {
        let begin = run.span().start.to_jiff().to_zoned(self.reader.zone().clone());
        let hour = begin.hour();
        match daytime {
            Daytime::Morning => (4..12).contains(&hour),
            Daytime::Noon => (11..14).contains(&hour),
            Daytime::Afternoon => (12..18).contains(&hour),
            Daytime::Evening => (17..23).contains(&hour),
            Daytime::Night => !(5..21).contains(&hour),
            Daytime::Weekday(day) => begin.weekday().to_monday_zero_offset() == day,
            // Around that time, or under way at it.
            Daytime::Clock(minute) => {
                let minutes = i32::from(begin.hour()) * 60 + i32::from(begin.minute());
                let lasted = i32::try_from(run.span().end.since(run.span().start).as_secs() / 60).unwrap_or(i32::MAX);
                (minutes - 45..=minutes.saturating_add(lasted).saturating_add(15)).contains(&minute)
            }
            Daytime::Weekend => matches!(begin.weekday(), Weekday::Saturday | Weekday::Sunday),
        }
    }
}
