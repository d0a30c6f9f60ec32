//! Answers from procedures: to typed requests (`serve`), and to plain questions about paths, next steps, missing steps
//! and habits.
//!
//! ```text
//! question ─▶ parse (rules) ─▶ find the procedure by its goal, or by what the person does just now
//!          ─▶ query (logic layer) ─▶ what memory says about the things it needs (world) ─▶ answer with evidence
//! ```
//!
//! If no procedure has the goal of a question, the search in events answers it.

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

use self::compose::ComposedAnswer;
use self::course::{ProcedureCourse, SoughtWords};
use self::forms::StepQuestion;
use self::known::KnownProcedures;
use self::parse::{Daytime, ParsedProcedureQuestion, ProcedureQuestion, parse_procedure_question};
use super::Reader;
use crate::language::english::tag::Tag;
use crate::logic::query::{
    Behaviour, ConstraintError, Constraints, Goals, Match, Path, Phrase, StepWords, behaviours, missing,
    next_steps_besides, paths_from, stand_ins, things,
};
use crate::logic::{Embedding, Procedure, Run, StepId};
use crate::{EventId, Intent, ReadError, Timestamp};

/// Maximum number of paths that are searched for one question.
const MAX_PATHS: usize = 20;
/// Time for which a session of the named person counts as the current one.
const MAX_SESSION_AGE: std::time::Duration = std::time::Duration::from_hours(12);
/// Minimum score of a goal in other words.
const MIN_GOAL_SCORE: f64 = 0.5;
/// Difference below which two goals have equal scores.
const GOAL_SCORE_TOLERANCE: f64 = 0.05;
/// Minimum probability of a missing step that is named.
const MIN_MISSING_PROBABILITY: f64 = 0.5;

/// An answer from procedures.
pub(super) struct ProcedureAnswer {
    pub answer: String,
    /// Items of the answer, for comparison with options. Empty if the answer is no list.
    pub list: Vec<String>,
    /// Certainty that the goal or step is the one in question.
    pub goal: f32,
    /// Share of the sessions that agree.
    pub agreement: f32,
    /// Confidence from the number of sessions: each one halves the doubt.
    pub support: f32,
    /// All words of the procedure.
    pub words: Vec<(String, Tag)>,
    pub intent: Intent,
    /// Supporting events, best first.
    pub events: Vec<EventId>,
    /// The matched part of the procedure, in a few words.
    pub trace: String,
}

/// A plain question to procedures, with what is needed to answer it.
struct ProcedureQuery<'a> {
    understood: &'a ParsedProcedureQuestion,
    known: &'a KnownProcedures<'a>,
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
) -> Result<Option<ProcedureAnswer>, ReadError> {
    let known = KnownProcedures::new(reader);
    if known.is_empty() {
        return Ok(None);
    }
    let Some(understood) = parse_procedure_question(question) else { return Ok(None) };
    let embedding = embedding.and_then(Embedding::from_vector);
    let question = ProcedureQuery { understood: &understood, known: &known, reader, embedding, now };
    let procedures: Vec<&Procedure> = known.established().collect();
    let stated = understood.person.is_none() && !(understood.done.is_empty() && understood.context.is_empty());
    let composed = match understood.asked {
        ProcedureQuestion::Habits(daytime) => question.answer_habits(daytime),
        ProcedureQuestion::Step(asked) => steps::answer(asked, &understood, &procedures, reader, now),
        // The steps reported as done determine the procedure and the position in it.
        ProcedureQuestion::Next if understood.goal.is_none() && stated => {
            steps::answer(StepQuestion::After, &understood, &procedures, reader, now)
        }
        _ => match question.subject() {
            Some(subject) => question.answer_about(&subject)?,
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
    Ok((!events.is_empty()).then(|| ProcedureAnswer {
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
    /// Certainty that this procedure is meant.
    score: f64,
    /// Steps that are already done.
    done: Vec<StepId>,
    /// The current session that shows this.
    session: Option<&'a Run>,
    /// Whether words of the goal that look like a condition belong to the goal.
    whole: bool,
}

impl ParsedProcedureQuestion {
    fn is_constrained(&self) -> bool {
        !(self.without.is_empty() && self.with.is_empty() && self.before.is_empty() && self.lacking.is_empty())
            || self.max_steps.is_some()
    }
}

impl<'a> ProcedureQuery<'a> {
    /// Returns the procedure of the goal. Without a goal, returns the one that the person (or anybody) was last
    /// observed doing.
    fn subject(&self) -> Option<Subject<'a>> {
        let asked = self.understood;
        let Some(goal) = &asked.goal else { return self.current_activity() };
        let goals = Goals::of(self.known.established());
        let whole =
            asked.whole_goal.as_deref().and_then(|whole| goals.find(whole, None)).filter(|found| found.score > 0.99);
        let is_whole = whole.is_some() && asked.whole_goal != asked.goal;
        let found = whole.or_else(|| goals.find(goal, None)).or_else(|| self.match_goal_by_lexicon(goal));
        // φ of the goal alone says more than φ of the whole question.
        let found =
            found.or_else(|| goals.find(goal, self.known.embedding(goal).as_ref().or(self.embedding.as_ref())))?;
        let mut done = self.steps_told_done(found.procedure);
        let mut session = None;
        if done.is_empty() && matches!(asked.asked, ProcedureQuestion::Next | ProcedureQuestion::Missing) {
            session = self.latest_session(std::iter::once(found.procedure)).map(|(_, run)| run);
            session = session.filter(|run| self.now.since(run.span().end) <= MAX_SESSION_AGE);
            done = session.map(|run| run.steps().to_vec()).unwrap_or_default();
        }
        Some(Subject { procedure: found.procedure, score: found.score, done, session, whole: is_whole })
    }

    /// Returns the procedure with a synonymous goal, by the lexicon: "take the dog out" for "walk the dog". Of goals
    /// with nearly equal scores, returns the one with most sessions.
    fn match_goal_by_lexicon(&self, goal: &str) -> Option<Match<'a>> {
        let sought = SoughtWords::from_text(goal, self.reader.search())?;
        let scored = self
            .known
            .established()
            .map(|procedure| (procedure, sought.goal_score(&ProcedureCourse::from_procedure(procedure))));
        let mut found: Vec<Match<'a>> = scored.map(|(procedure, score)| Match { procedure, score }).collect();
        let best = found.iter().map(|found| found.score).fold(0.0, f64::max);
        found.retain(|found| found.score >= MIN_GOAL_SCORE && found.score >= best - GOAL_SCORE_TOLERANCE);
        found.into_iter().max_by_key(|found| (found.procedure.runs().len(), std::cmp::Reverse(found.procedure.id())))
    }

    /// Returns the steps that the question itself reports as done.
    fn steps_told_done(&self, procedure: &Procedure) -> Vec<StepId> {
        let words = StepWords::of(procedure);
        let meant = |text: &String| words.meant_by(text).or_else(|| self.match_step_by_lexicon(procedure, text));
        self.understood.done.iter().filter_map(meant).collect()
    }

    /// Returns the step that a text describes, by the lexicon.
    fn match_step_by_lexicon(&self, procedure: &Procedure, text: &str) -> Option<StepId> {
        let course = ProcedureCourse::from_procedure(procedure);
        let scores = SoughtWords::from_text(text, self.reader.search())?.step_scores(&course);
        let (best, score) =
            scores.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))?;
        course.acts.get(best).filter(|_| score >= MIN_GOAL_SCORE).and_then(|act| act.steps.first().copied())
    }

    /// Returns the current activity of a person.
    fn current_activity(&self) -> Option<Subject<'a>> {
        if !matches!(self.understood.asked, ProcedureQuestion::Next | ProcedureQuestion::Missing) {
            return None;
        }
        let (owner, session) = self.latest_session(self.known.all())?;
        let texts: Vec<&str> =
            session.steps().iter().filter_map(|step| Some(owner.step(*step)?.text.as_str())).collect();
        // A session that is too short to belong to a procedure yet belongs to the one that has most of its steps.
        let candidates = self.known.established().map(|procedure| {
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
            best.done.extend(self.steps_told_done(best.procedure));
            best
        })
    }

    /// Returns the session that ended last, of the named person if there is one.
    fn latest_session(&self, procedures: impl Iterator<Item = &'a Procedure>) -> Option<(&'a Procedure, &'a Run)> {
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

    /// Answers the question about one procedure.
    fn answer_about(&self, subject: &Subject<'a>) -> Result<Option<ComposedAnswer>, ReadError> {
        match self.understood.asked {
            ProcedureQuestion::Ways => self.answer_ways(subject),
            ProcedureQuestion::Next => self.answer_next(subject),
            ProcedureQuestion::Missing | ProcedureQuestion::Things => Ok(self.answer_missing(subject)),
            ProcedureQuestion::Habits(_) | ProcedureQuestion::Step(_) => Ok(None),
        }
    }

    fn answer_ways(&self, subject: &Subject<'a>) -> Result<Option<ComposedAnswer>, ReadError> {
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
        // A used-up thing may be available elsewhere. A thing in a "without" condition is never offered.
        let world = world::read_reports(subject.procedure, self.reader)?;
        let told: Vec<world::ToldClaim> =
            world.lacking.iter().filter(|told| !asked.lacking.contains(&told.thing)).cloned().collect();
        let mut possible = constraints.clone();
        possible.without.extend(told.iter().map(|told| Phrase::needed(told.thing.clone())));
        let paths = |constraints: &Constraints| {
            let mut found = paths_from(subject.procedure, constraints, &subject.done, MAX_PATHS)?;
            found.paths.retain(|path| !self.has_just_begun(subject.procedure, path));
            Ok::<_, ConstraintError>(found)
        };
        // Other layers answer if the conditions cannot be searched for.
        let Ok(found) = paths(&possible) else { return Ok(None) };
        if !found.paths.is_empty() && !found.guessed {
            return Ok(Some(compose::describe_ways(self, subject, &found.paths, &told)));
        }
        let blocked: Vec<String> =
            asked.lacking.iter().cloned().chain(told.iter().map(|told| told.thing.clone())).collect();
        if asked.without.is_empty() && asked.with.is_empty() && !blocked.is_empty() {
            let needed = told.iter().map(|told| Phrase::needed(told.thing.clone()));
            let phrases: Vec<Phrase> = phrases(&asked.lacking).into_iter().chain(needed).collect();
            let Ok(mut found) = stand_ins(subject.procedure, &phrases, &subject.done, MAX_PATHS) else {
                return Ok(None);
            };
            found.ways.paths.retain(|path| !self.has_just_begun(subject.procedure, path));
            let Ok(usual) = paths(&Constraints { without: Vec::new(), ..constraints }) else { return Ok(None) };
            return Ok(compose::describe_blocked(
                self,
                subject,
                &found,
                &usual.paths,
                &blocked,
                &world.lacking,
                &world.offers,
            ));
        }
        let Ok(usual) = paths(&Constraints::default()) else { return Ok(None) };
        Ok(Some(compose::describe_no_way(self, subject, &usual.paths)))
    }

    /// Returns whether all sessions of a path are at their start: recent, and less than half as long as another one.
    fn has_just_begun(&self, procedure: &Procedure, path: &Path) -> bool {
        let begun = procedure.runs().filter(|run| {
            run.steps() == path.steps
                && self.now.since(run.span().end) <= MAX_SESSION_AGE
                && procedure
                    .runs()
                    .any(|other| other.steps().len() >= 2 * path.steps.len() && other.steps().starts_with(&path.steps))
        });
        path.seen > 0 && begun.count() == path.seen as usize
    }

    fn answer_next(&self, subject: &Subject<'a>) -> Result<Option<ComposedAnswer>, ReadError> {
        let procedure = subject.procedure;
        let next = next_steps_besides(procedure, &subject.done, subject.session, MAX_PATHS);
        let Some(first) = next.first() else { return Ok(None) };
        let world = world::read_reports(procedure, self.reader)?;
        let mut blocked = self.understood.lacking.clone();
        blocked.extend(world.lacking.iter().map(|told| told.thing.clone()));
        if let (Some(step), false) = (first.step, blocked.is_empty()) {
            let told = world.lacking.iter().map(|told| Phrase::needed(told.thing.clone()));
            let phrases: Vec<Phrase> = self.understood.lacking.iter().cloned().map(Phrase::any).chain(told).collect();
            let Ok(found) = stand_ins(procedure, &phrases, &subject.done, MAX_PATHS) else { return Ok(None) };
            if found.blocked.contains(&step) {
                let way = [Path { steps: vec![step], probability: first.probability, seen: 0 }];
                return Ok(compose::describe_blocked(
                    self,
                    subject,
                    &found,
                    &way,
                    &blocked,
                    &world.lacking,
                    &world.offers,
                ));
            }
        }
        Ok(Some(compose::describe_next_steps(subject, &next)))
    }

    fn answer_missing(&self, subject: &Subject<'a>) -> Option<ComposedAnswer> {
        let procedure = subject.procedure;
        let done: Vec<String> =
            subject.done.iter().filter_map(|step| Some(procedure.step(*step)?.text.clone())).collect();
        let found: Vec<_> = missing(procedure, &done)
            .into_iter()
            .filter(|missing| missing.probability >= MIN_MISSING_PROBABILITY)
            .collect();
        let needed = things(procedure, found.iter().map(|missing| missing.step));
        Some(compose::describe_missing(self, subject, &found, &needed))
    }

    fn answer_habits(&self, daytime: Option<Daytime>) -> Option<ComposedAnswer> {
        let person = self.understood.person.as_deref()?;
        let mut found: Vec<Behaviour<'_>> = behaviours(self.known.established(), person);
        for behaviour in &mut found {
            behaviour.runs.retain(|run| daytime.is_none_or(|daytime| self.began_at(run, daytime)));
        }
        found.retain(|behaviour| !behaviour.runs.is_empty());
        found.sort_by_key(|behaviour| std::cmp::Reverse(behaviour.runs.len()));
        (!found.is_empty()).then(|| compose::describe_habits(person, daytime, &found))
    }

    /// Returns whether a session began at a time of day, in the time zone of the robot.
    fn began_at(&self, run: &Run, daytime: Daytime) -> bool {
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
