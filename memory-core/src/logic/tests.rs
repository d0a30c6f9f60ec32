//! The procedure memory as a fold: sessions, bad input, forgetting, and its stored form.

use std::collections::BTreeSet;
use std::time::Duration;

use proptest::prelude::*;

use super::{Action, LogicOptions, Procedures, RowKey};
use crate::{EventId, TimeSpan, Timestamp};

pub(super) fn at(seconds: u64) -> Timestamp {
    Timestamp::from_micros(seconds as i64 * 1_000_000)
}

/// An action of 10 seconds.
pub(super) fn action(event: u64, session: Option<&str>, goal: Option<&str>, seconds: u64, text: &str) -> Action {
    let mut action = Action::new(EventId(event), text, TimeSpan::new(at(seconds), at(seconds + 10)));
    action.source = "robot".to_owned();
    (action.session, action.goal) = (session.map(str::to_owned), goal.map(str::to_owned));
    action
}

/// Feeds sessions of steps, a quarter of an hour apart; a goal of `""` is none.
pub(super) fn learn(sessions: &[(&str, &str, &[&str])]) -> Procedures {
    let mut procedures = Procedures::new(LogicOptions::default());
    let mut event = 0;
    for (number, (session, goal, steps)) in sessions.iter().enumerate() {
        for (place, text) in steps.iter().enumerate() {
            event += 1;
            let goal = (!goal.is_empty()).then_some(*goal);
            let seconds = number as u64 * 900 + place as u64 * 15;
            procedures.observe(&action(event, Some(session), goal, seconds, text), &|_| None);
        }
    }
    procedures
}

/// Every row with its bytes: equal for equal memories.
pub(super) fn bytes(procedures: &Procedures) -> Vec<(RowKey, Vec<u8>)> {
    procedures.rows().into_iter().filter_map(|key| Some((key, procedures.row(key)?))).collect()
}

#[test]
fn told_goals_make_procedures_at_once_and_the_last_session_counts_before_it_ends() {
    let procedures = learn(&[("s1", "Make tea", &["boil", "pour"]), ("s2", "make tea.", &["boil", "add milk"])]);
    let tea = procedures.by_goal("MAKE TEA").unwrap();
    assert_eq!((tea.goal(), tea.sessions(), procedures.iter().count()), ("Make tea", 2, 1));
    assert!(tea.is_named() && tea.is_established());
}

#[test]
fn sessions_without_a_goal_find_each_other_and_are_named_by_their_steps() {
    let tea: &[&str] = &["boil water", "add tea", "pour"];
    let walk: &[&str] = &["take leash", "open gate", "walk dog"];
    let procedures = learn(&[("a", "", tea), ("b", "", walk), ("c", "", tea), ("d", "", walk), ("e", "", &["sneeze"])]);
    let goals: Vec<_> = procedures.iter().map(|procedure| (procedure.goal(), procedure.sessions())).collect();
    assert_eq!(goals, [("boil water, add tea, pour", 2), ("take leash, open gate, walk dog", 2)]);
    assert_eq!(procedures.candidates().count(), 1);
    assert!(procedures.iter().all(|procedure| !procedure.is_named() && procedure.score().unwrap() > 0.25));
}

#[test]
fn a_pick_up_and_a_put_down_are_no_procedure() {
    let pair: &[&str] = &["pick up the cup", "put down the cup"];
    let procedures = learn(&[("a", "", pair), ("b", "", pair), ("c", "", pair), ("d", "", pair)]);
    assert_eq!((procedures.iter().count(), procedures.candidates().count()), (0, 1));
}

#[test]
fn stretches_without_a_session_are_cut_at_pauses_and_by_person() {
    let mut procedures = Procedures::new(LogicOptions::default());
    let mut event = 0;
    for (start, person) in [(0, "Anna"), (20, "Ben"), (2_000, "Anna")] {
        for (place, text) in ["boil", "pour"].into_iter().enumerate() {
            event += 1;
            let mut action = action(event, None, None, start + 40 * place as u64, text);
            action.person = Some(person.to_owned());
            procedures.observe(&action, &|_| None);
        }
    }
    assert_eq!(procedures.sessions(), 3);
    let sizes: Vec<_> = procedures.iter().flat_map(|procedure| procedure.runs().map(|run| run.steps().len())).collect();
    assert_eq!(sizes, [2, 2, 2]);
}

#[test]
fn two_tasks_in_turns_are_two_sessions_once_their_goals_are_told() {
    let mut procedures = Procedures::new(LogicOptions::default());
    let turns = [("make tea", "boil"), ("make toast", "slice"), ("make tea", "pour"), ("make toast", "butter")];
    for (number, (goal, text)) in turns.into_iter().enumerate() {
        procedures
            .observe(&action(number as u64 + 1, Some("morning"), Some(goal), number as u64 * 15, text), &|_| None);
    }
    for (goal, steps) in [("make tea", ["boil", "pour"]), ("make toast", ["slice", "butter"])] {
        let procedure = procedures.by_goal(goal).unwrap();
        let run = procedure.runs().next().unwrap();
        let texts: Vec<_> = run.steps().iter().map(|step| procedure.step(*step).unwrap().key()).collect();
        assert_eq!((procedure.sessions(), texts), (1, steps.to_vec()));
    }
}

#[test]
fn a_goal_told_late_takes_the_whole_session_along() {
    let mut procedures = Procedures::new(LogicOptions::default());
    procedures.observe(&action(1, Some("s"), None, 0, "boil"), &|_| None);
    procedures.observe(&action(2, Some("s"), Some("make tea"), 15, "pour"), &|_| None);
    assert_eq!(procedures.by_goal("make tea").unwrap().runs().next().unwrap().steps().len(), 2);
    assert_eq!((procedures.sessions(), procedures.candidates().count()), (1, 0));
}

#[test]
fn the_same_session_told_twice_counts_once() {
    let mut procedures = Procedures::new(LogicOptions::default());
    for event in [0, 10] {
        for (place, text) in ["boil", "pour"].into_iter().enumerate() {
            let place = place as u64;
            procedures.observe(&action(event + place + 1, Some("s"), Some("make tea"), place * 15, text), &|_| None);
        }
    }
    let tea = procedures.by_goal("make tea").unwrap();
    assert_eq!((tea.sessions(), tea.steps()[0].count, tea.runs().next().unwrap().steps().len()), (1, 1, 2));
    // The second telling stands in when the first one is forgotten.
    assert!(procedures.withdraw(&BTreeSet::from([EventId(1), EventId(2)]), &|_| None));
    let events: Vec<_> = procedures.by_goal("make tea").unwrap().runs().next().unwrap().events().collect();
    assert_eq!(events, [EventId(11), EventId(12)]);
}

#[test]
fn a_session_of_one_action_and_actions_without_words_do_no_harm() {
    let procedures = learn(&[("a", "wave", &["wave"]), ("b", "", &["sneeze"]), ("c", "wave", &["", "  ", "..."])]);
    let wave = procedures.by_goal("wave").unwrap();
    assert_eq!((wave.sessions(), wave.dag().len(), procedures.sessions()), (1, 3, 2));
}

#[test]
fn a_session_of_ten_thousand_actions_is_divided_and_stays_a_path() {
    let mut procedures = Procedures::new(LogicOptions::default());
    for number in 0..10_000_u64 {
        let text = if number % 2 == 0 { "left foot" } else { "right foot" };
        procedures.observe(&action(number + 1, Some("march"), Some("walk"), number, text), &|_| None);
    }
    let walk = procedures.by_goal("walk").unwrap();
    assert_eq!(walk.sessions(), 10_000_usize.div_ceil(512));
    assert!(walk.dag().len() <= 514, "a cyclic habit is drawn once: {} nodes", walk.dag().len());
    assert!(walk.runs().all(|run| walk.dag().path(run.steps()).is_some()));
    assert_eq!(walk.runs().nth(1).unwrap().session(), "march (2)");
}

#[test]
fn a_day_of_ten_thousand_different_actions_is_bounded_by_the_graph() {
    let mut procedures = Procedures::new(LogicOptions::default());
    for number in 0..10_000_u64 {
        let text = format!("action {number}");
        procedures.observe(&action(number + 1, Some("day"), Some("live"), number, &text), &|_| None);
    }
    let day = procedures.by_goal("live").unwrap();
    assert!(day.dag().len() <= super::Dag::MAX_NODES);
    assert_eq!(day.runs().map(|run| run.steps().len()).sum::<usize>(), 10_000, "all of it is evidence");
}

#[test]
fn rows_that_changed_make_the_same_memory_and_damaged_ones_are_refused() {
    let mut procedures = learn(&[("a", "make tea", &["boil", "pour"]), ("b", "", &["sneeze"])]);
    let mut stored: std::collections::BTreeMap<_, _> =
        procedures.changed().into_iter().filter_map(|key| Some((key, procedures.row(key)?))).collect();
    procedures.observe(&action(9, Some("c"), Some("make tea"), 9_000, "boil"), &|_| None);
    for key in procedures.changed() {
        match procedures.row(key) {
            Some(row) => stored.insert(key, row),
            None => stored.remove(&key),
        };
    }
    assert_eq!(stored.clone().into_iter().collect::<Vec<_>>(), bytes(&procedures));
    let read = Procedures::from_rows(LogicOptions::default(), stored.clone()).unwrap();
    assert_eq!(bytes(&read), bytes(&procedures));

    for (key, row) in &stored {
        assert_eq!(RowKey::from_bytes(&key.to_bytes()).unwrap(), *key);
        for damage in 0..row.len() {
            let mut damaged = stored.clone();
            damaged.get_mut(key).unwrap()[damage] ^= 0x2a;
            // An error or a memory that still holds together; never a panic.
            if let Ok(mut read) = Procedures::from_rows(LogicOptions::default(), damaged) {
                read.observe(&action(99, Some("c"), Some("make tea"), 9_010, "pour"), &|_| None);
            }
        }
        let mut lost = stored.clone();
        lost.remove(key);
        drop(Procedures::from_rows(LogicOptions::default(), lost));
    }
    assert!(RowKey::from_bytes(&[0; 3]).is_err() && RowKey::from_bytes(&[9; 17]).is_err());
}

/// A stretch of what a household tells, with and without sessions and goals, in and out of order.
fn household() -> impl Strategy<Value = Vec<Action>> {
    let one = (0_u64..6, 0_u64..4, prop::option::of(0_u64..3), 0_u64..40, 0_u64..7, any::<bool>());
    prop::collection::vec(one, 1..60).prop_map(|all| {
        let mut actions = Vec::new();
        for (number, (kind, session, goal, jitter, text, named)) in all.into_iter().enumerate() {
            let session = (kind > 0).then(|| format!("s{session}-{}", number / 12));
            let goal = goal.map(|goal| format!("goal {goal}"));
            let seconds = number as u64 * 30 + jitter;
            let text = format!("do {}", text + 3 * (number as u64 / 12 % 3));
            let mut action = action(number as u64 + 1, session.as_deref(), goal.as_deref(), seconds, &text);
            action.named = named;
            action.objects = vec![format!("thing {kind}")];
            action.person = (kind % 2 == 0).then(|| "Anna".to_owned());
            actions.push(action);
        }
        actions
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_rebuild_and_a_reading_give_the_memory_that_learning_gave(
        actions in household(),
        gone in prop::collection::btree_set(1_u64..60, 0..12),
        stop in 0_usize..60,
    ) {
        let phi = |text: &str| Some(text.bytes().map(|byte| f32::from(byte) - 100.0).take(4).collect::<Vec<f32>>());
        let learn = |actions: &[Action]| {
            let mut procedures = Procedures::new(LogicOptions::default());
            actions.iter().for_each(|action| {
                procedures.observe(action, &phi);
            });
            procedures
        };
        // Stored half way and read again, it goes on as if nothing had happened.
        let (before, after) = actions.split_at(stop.min(actions.len()));
        let mut resumed = Procedures::from_rows(LogicOptions::default(), bytes(&learn(before))).unwrap();
        for action in after {
            resumed.observe(action, &phi);
        }
        let mut whole = learn(&actions);
        prop_assert_eq!(bytes(&resumed), bytes(&whole));

        let gone: BTreeSet<EventId> = gone.into_iter().map(EventId).collect();
        let rest: Vec<_> = actions.iter().filter(|action| !gone.contains(&action.event)).cloned().collect();
        whole.withdraw(&gone, &phi);
        prop_assert_eq!(bytes(&whole), bytes(&learn(&rest)));
        for procedure in whole.iter().chain(whole.candidates()) {
            for run in procedure.runs() {
                prop_assert!(procedure.dag().path(run.steps()).is_some());
            }
            let counted: u32 = procedure.steps().iter().map(|step| step.count).sum();
            prop_assert_eq!(counted as usize, procedure.runs().map(|run| run.steps().len()).sum::<usize>());
        }
    }
}

#[test]
fn pauses_end_told_sessions_too_and_their_names_may_come_again() {
    let mut procedures = Procedures::new(LogicOptions::default());
    let day = Duration::from_hours(24).as_secs();
    for number in 0..3 {
        procedures.observe(&action(number + 1, Some("s"), Some("wave"), number * day, "wave"), &|_| None);
    }
    assert_eq!(procedures.by_goal("wave").unwrap().sessions(), 3);
}

#[test]
fn contradictory_orders_stay_a_small_acyclic_graph() {
    let mut procedures = Procedures::new(LogicOptions::default());
    let mut event = 0;
    for session in 0..720_u64 {
        // The session's number picks one of the orders of six steps.
        let (mut left, mut code) = ((0..6).collect::<Vec<u64>>(), session);
        let name = format!("s{session}");
        while !left.is_empty() {
            let step = left.remove(usize::try_from(code).unwrap() % left.len());
            code /= left.len() as u64 + 1;
            event += 1;
            procedures
                .observe(&action(event, Some(&name), Some("muddle"), event * 15, &format!("step {step}")), &|_| None);
        }
    }
    let muddle = procedures.by_goal("muddle").unwrap();
    assert_eq!(muddle.variants().len(), 720);
    assert!(muddle.runs().all(|run| muddle.dag().path(run.steps()).is_some()));
    assert!(muddle.dag().len() <= 2 + 6 * 20, "{} nodes", muddle.dag().len());
}

/// One of everything that a row can hold.
fn golden() -> Procedures {
    let mut procedures = learn(&[
        ("a", "make tea", &["boil", "add tea", "pour"]),
        ("b", "make tea", &["add tea", "boil", "pour"]),
        ("c", "", &["sneeze", "wipe nose"]),
    ]);
    let mut last = action(99, None, None, 9_000, "wave");
    (last.person, last.tools, last.named) = (Some("Anna".to_owned()), vec!["hand".to_owned()], false);
    last.outcome = super::ActionOutcome::Failed;
    procedures.observe(&last, &|_| Some(vec![0.6, 0.8]));
    procedures
}

fn fixture() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/procedures-1.rows")
}

/// The fixture holds a row a line: key and bytes in hexadecimal.
#[test]
fn rows_of_format_1_are_read_and_written_as_they_were() {
    let raw = |hex: &str| -> Vec<u8> {
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
    };
    let text = std::fs::read_to_string(fixture()).unwrap();
    let rows: Vec<_> = text
        .lines()
        .map(|line| line.split_once(' ').unwrap())
        .map(|(key, row)| (RowKey::from_bytes(&raw(key)).unwrap(), raw(row)))
        .collect();
    assert_eq!(bytes(&golden()), rows, "a change of the bytes needs a new version");
    assert_eq!(bytes(&Procedures::from_rows(LogicOptions::default(), rows.clone()).unwrap()), rows);
}

/// Run once, when a format is new: `cargo test -p memory-core --lib -- --ignored write_the_procedures_fixture`.
#[test]
#[ignore = "writes the fixture of the newest format"]
fn write_the_procedures_fixture() {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let line = |(key, row): &(RowKey, Vec<u8>)| format!("{} {}\n", hex(&key.to_bytes()), hex(row));
    std::fs::write(fixture(), bytes(&golden()).iter().map(line).collect::<String>()).unwrap();
}
