//! Measures the cost of learning on a generated household: many facts, many procedures, and procedures of 200 steps.

use std::time::Duration;

use super::quality::timed;
use super::{Cost, Graph, HouseholdPlan, LearningTimes, MeasureEnvironment};
use crate::learning::Learnt;
use crate::lesson::Lesson;
use crate::logic::query::{Constraints, missing, next_steps, paths, stand_ins};
use crate::logic::{Action, Phi, Procedure, ProcedureId, Procedures};
use crate::random::congruential;
use crate::{Attributes, EpisodeId, Event, EventId, Kind, Origin, TimeSpan, Timestamp, Value};

/// Steps of a long procedure.
pub(super) const LONG_STEPS: usize = 200;
/// Sessions that show it.
const LONG_SESSIONS: u64 = 60;
/// Steps of a procedure of the household.
const STEPS: u64 = 12;
/// Sessions that are timed after the household is there.
const TIMED_SESSIONS: u64 = 500;
/// Events that go through all of learning one by one.
const TIMED_LESSONS: u64 = 500;
/// Rounds of each symbolic query.
const ROUNDS: usize = 40;

const PLACES: [&str; 8] = ["kitchen", "hall", "cellar", "garden", "attic", "garage", "office", "bathroom"];
const THINGS: [&str; 6] = ["mug", "box", "book", "cable", "tool", "bottle"];

pub(super) fn measure(plan: HouseholdPlan, around: &MeasureEnvironment<'_>) -> Cost {
    let before = (around.resident)();
    let mut household = Household { plan, learnt: Learnt::default(), event: 0 };
    for number in 0..plan.facts {
        household.state(number, around.phi);
    }
    for session in 0..plan.procedures * plan.sessions {
        household.do_session(session, around.phi);
    }
    let after = (around.resident)();
    let resident = before.zip(after).map(|(before, after)| after.saturating_sub(before));
    let lesson = household.one_by_one(around);
    let mut procedures = household.learnt.procedures().clone();
    let event = household.event;
    drop(household);
    let action = actions(&mut procedures, plan, event, around);
    Cost { plan, resident, action, lesson, graphs: vec![in_order(around), of_alternatives(around)] }
}

struct Household {
    plan: HouseholdPlan,
    learnt: Learnt,
    event: u64,
}

impl Household {
    fn learn(&mut self, kind: Kind, at: u64, text: String, attributes: Attributes, phi: &Phi<'_>) {
        self.event += 1;
        self.learnt.learn(&lesson(self.event, kind, at, text, attributes), phi);
    }

    /// A thing of its own at one of a few places.
    fn state(&mut self, number: u64, phi: &Phi<'_>) {
        let place = PLACES[index(number / 7, PLACES.len())];
        let text = format!("The {} {} is in the {place}.", word(number), THINGS[index(number, THINGS.len())]);
        self.learn(Kind::Text, number, text, Attributes::new(), phi);
    }

    fn do_session(&mut self, session: u64, phi: &Phi<'_>) {
        let begin = self.plan.facts + session * 900;
        let plan = self.plan;
        for step in (0..STEPS).filter(|step| is_done(session, *step, plan)) {
            let (text, attributes) = session_step(session, step, plan);
            self.learn(Kind::Action, begin + step * 15, text, attributes, phi);
        }
    }

    /// One event at a time, each on a clone of everything and with the rows to be written, as the learning job does it
    /// while little happens.
    fn one_by_one(&mut self, around: &MeasureEnvironment<'_>) -> LearningTimes {
        self.learnt.take_rows();
        let mut took = Vec::new();
        for number in 0..TIMED_LESSONS {
            self.event += 1;
            let session = self.plan.procedures * self.plan.sessions + number / STEPS;
            let at = self.plan.facts + session * 900 + number % STEPS * 15;
            let (text, attributes) = session_step(session, number % STEPS, self.plan);
            let lesson = lesson(self.event, Kind::Action, at, text, attributes);
            let (next, time) = timed(around.clock, || {
                let mut next = self.learnt.clone();
                next.learn(&lesson, around.phi);
                std::hint::black_box(next.take_rows());
                next
            });
            self.learnt = next;
            took.push(time);
        }
        LearningTimes::from_durations(took)
    }
}

fn lesson(number: u64, kind: Kind, at: u64, text: String, attributes: Attributes) -> Lesson {
    let at = moment(at);
    let event = Event {
        id: EventId(number),
        episode: EpisodeId(number),
        origin: Origin::Told,
        sender_id: None,
        kind,
        modality: kind.modality(),
        text,
        span: TimeSpan::new(at, at),
        stream: None,
        source: "bench".to_owned(),
        entity: Some("Anna".to_owned()),
        attributes,
        confidence: 1.0,
        media: None,
        received: at,
        pose: None,
    };
    Lesson { event, vectors: Vec::new(), statements: Vec::new() }
}

fn moment(seconds: u64) -> Timestamp {
    Timestamp::from_micros(1_795_000_000_000_000).saturating_add(Duration::from_secs(seconds))
}

fn index(number: u64, of: usize) -> usize {
    usize::try_from(number % of as u64).expect("less than a length")
}

/// A session leaves a step out now and then.
fn is_done(session: u64, step: u64, plan: HouseholdPlan) -> bool {
    !(session / plan.procedures.max(1) + step).is_multiple_of(9)
}

fn session_step(session: u64, step: u64, plan: HouseholdPlan) -> (String, Attributes) {
    let task = session % plan.procedures.max(1);
    let mut attributes = Attributes::new();
    for (name, value) in [
        ("session", format!("session {session}")),
        ("task", format!("task {task}")),
        ("tool", format!("tool {}", step % 5)),
    ] {
        attributes.insert(name.to_owned(), Value::Text(value));
    }
    (format!("do thing {} of task {task}", step * 7 % STEPS), attributes)
}

/// A word of its own for a number.
fn word(number: u64) -> String {
    let syllables = ["ba", "do", "ki", "lu", "me", "no", "pa", "ri", "su", "ta"];
    number.to_string().bytes().map(|digit| syllables[usize::from(digit - b'0')]).collect()
}

/// One more action, half of them without a goal.
fn actions(
    procedures: &mut Procedures,
    plan: HouseholdPlan,
    mut event: u64,
    around: &MeasureEnvironment<'_>,
) -> LearningTimes {
    let first = plan.procedures * plan.sessions + TIMED_LESSONS;
    let mut took = Vec::new();
    for session in first..first + TIMED_SESSIONS {
        for step in 0..STEPS {
            event += 1;
            let at = moment(plan.facts + session * 900 + step * 15);
            let task = session % plan.procedures.max(1);
            let text = format!("do thing {} of task {task}", step * 7 % STEPS);
            let mut action = Action::new(EventId(event), text, TimeSpan::new(at, at));
            action.session = Some(format!("session {session}"));
            action.goal = session.is_multiple_of(2).then(|| format!("task {task}"));
            took.push(timed(around.clock, || procedures.observe(&action, around.phi)).1);
        }
    }
    LearningTimes::from_durations(took)
}

/// Two hundred steps in a row; each session leaves some out and does some neighbours the other way round.
fn in_order(around: &MeasureEnvironment<'_>) -> Graph {
    let sessions = (0..LONG_SESSIONS).map(|session| {
        let mut steps: Vec<u64> = (0..LONG_STEPS as u64).filter(|step| (step * 7 + session) % 11 != 0).collect();
        for at in (0..steps.len() - 1).step_by(5).filter(|at| (*at as u64 / 5 + session).is_multiple_of(7)) {
            steps.swap(at, at + 1);
        }
        steps
    });
    asked("in a row", sessions, around)
}

/// Forty steps in a row, each done in one of five ways.
fn of_alternatives(around: &MeasureEnvironment<'_>) -> Graph {
    let mut random = 1_u64;
    let sessions = (0..5 * LONG_SESSIONS).map(|_| {
        let mut choose = |layer: u64| layer * 5 + congruential(&mut random) % 5;
        (0..LONG_STEPS as u64 / 5).map(&mut choose).collect()
    });
    asked("five ways each", sessions.collect::<Vec<_>>(), around)
}

/// Symbolic queries to the procedure of those sessions.
fn asked(name: &'static str, sessions: impl IntoIterator<Item = Vec<u64>>, around: &MeasureEnvironment<'_>) -> Graph {
    let mut procedure = Procedure::new(ProcedureId(1), name, true);
    let mut event = 0;
    for (number, steps) in sessions.into_iter().enumerate() {
        let actions: Vec<Action> = steps
            .iter()
            .map(|step| {
                event += 1;
                let mut action = Action::new(
                    EventId(event),
                    format!("turn the wheel {}", word(*step)),
                    TimeSpan::new(moment(event), moment(event)),
                );
                action.tools = vec![format!("wrench {}", step % 9)];
                action
            })
            .collect();
        procedure.add_session(&format!("session {number}"), &actions);
    }
    let wheel = |step: u64| format!("turn the wheel {}", word(step));
    let without = Constraints { without: vec![wheel(57).as_str().into()], ..Constraints::default() };
    let many = Constraints {
        without: vec![wheel(57).as_str().into(), wheel(111).as_str().into()],
        with: vec![wheel(23).as_str().into()],
        before: vec![(wheel(33).as_str().into(), wheel(152).as_str().into())],
        max_steps: Some(190),
    };
    let done: Vec<String> = procedure
        .runs()
        .next()
        .map(|run| run.steps().iter().take(run.steps().len() / 2).filter_map(|step| procedure.step(*step)))
        .into_iter()
        .flatten()
        .map(|step| step.text.clone())
        .collect();
    let blocked = ["wrench 3".into()];
    let time = |work: &dyn Fn() -> usize| {
        LearningTimes::from_durations(
            (0..ROUNDS).map(|_| timed(around.clock, || std::hint::black_box(work())).1).collect(),
        )
    };
    let count = |constraints: &Constraints| paths(&procedure, constraints, 20).map_or(0, |found| found.paths.len());
    let queries = vec![
        ("ways", time(&|| count(&Constraints::default()))),
        ("ways without a step", time(&|| count(&without))),
        ("ways under five conditions", time(&|| count(&many))),
        ("next step", time(&|| next_steps(&procedure, &done, 5).len())),
        ("missing", time(&|| missing(&procedure, &done).len())),
        ("alternatives", time(&|| stand_ins(&procedure, &blocked, &[], 20).map_or(0, |found| found.ways.paths.len()))),
    ];
    let steps = procedure.steps().iter().filter(|step| step.count > 0).count();
    Graph { name, steps, nodes: procedure.dag().len() - 2, queries }
}
