//! Maintenance and fusion over thousands of executions (NS-Mem 4.2.2, 4.2.3, Theorems 1 and 2).

use std::sync::Mutex;

use super::tests::{action, at, bytes, learn};
use super::{Action, Alignment, Dag, Embedding, LogicOptions, Procedure, ProcedureId, Procedures, StepId};
use crate::ports::{PortError, ProcedureJudge};
use crate::random::{Xorshift, fraction};
use crate::{EventId, TimeSpan};

/// A space of meanings: words share a direction if they are of one `topic`, and lie near each other within it.
fn phi(text: &str) -> Option<Vec<f32>> {
    let topic = match text {
        _ if text.contains("tea") || text.contains("water") || text.contains("kettle") => 0,
        _ if text.contains("bike") => 1,
        _ => 2,
    };
    let mut vector = vec![0.0; 8];
    vector[topic] = 1.0;
    vector[3 + text.len() % 5] = 0.3;
    Some(vector)
}

#[test]
fn ten_thousand_executions_bring_the_true_probabilities_and_leave_the_index_at_the_goal() {
    let mut procedures = Procedures::new(LogicOptions::default());
    let mut random = Xorshift(0x00C0_FFEE);
    let mut uniform = || fraction(random.draw());
    let mut event = 0;
    for session in 0..10_000_u64 {
        let mut steps = vec!["boil water"];
        if uniform() < 0.7 {
            steps.push("add tea");
        } else {
            steps.push("fill kettle with tea");
        }
        if uniform() < 0.25 {
            steps.push("sweeten tea");
        }
        // One session in ten is disturbed by what has nothing to do with tea.
        if uniform() < 0.1 {
            steps.push("repair bike");
        }
        let name = format!("s{session}");
        for (place, text) in steps.into_iter().enumerate() {
            event += 1;
            let seconds = session * 900 + place as u64 * 15;
            procedures.observe(&action(event, Some(&name), Some("make tea"), seconds, text), &phi);
        }
    }
    let tea = procedures.by_goal("make tea").unwrap();
    assert_eq!(tea.sessions(), 10_000);
    let node = |texts: &[&str]| {
        let run: Vec<StepId> = texts.iter().map(|text| tea.find_step(text).unwrap()).collect();
        tea.dag().path(&run).and_then(|path| path.last().copied()).unwrap()
    };
    let probability = |from: &[&str], to: &[&str]| tea.dag().probability(node(from), node(to));
    // Theorem 1: the posterior mean comes to the truth as 1/√n; 0.02 is more than four standard deviations.
    assert!((probability(&["boil water"], &["boil water", "add tea"]) - 0.7).abs() < 0.02);
    let sweetened = probability(&["boil water", "add tea"], &["boil water", "add tea", "sweeten tea"]);
    assert!((sweetened - 0.25).abs() < 0.02, "{sweetened}");
    let start = tea.dag().absorption(|node| tea.success(node))[&Dag::START];
    assert!((start.expected_steps - 2.35).abs() < 0.05, "{}", start.expected_steps);

    // The anchor bounds the drift, and the gate keeps the bike out of it.
    let index = tea.index().step.as_ref().unwrap();
    assert!(index.vector().cosine(index.anchor()).unwrap() > 0.9);
    let off = Embedding::from_vector(&phi("repair bike").unwrap()).unwrap();
    assert!(index.vector().cosine(&off).unwrap() < 0.2);
    let goal = Embedding::from_vector(&phi("make tea").unwrap()).unwrap();
    assert!(tea.index().similarity(&goal).unwrap() > 0.8);
}

/// Free text of one person: the words are not a program's vocabulary.
fn spoken(event: u64, session: &str, goal: &str, text: &str) -> Action {
    let mut action = action(event, Some(session), Some(goal), event * 15, text);
    action.named = false;
    action
}

/// Paraphrases lie at a cosine of 0.9, everything else at 0.
fn paraphrases(text: &str) -> Option<Vec<f32>> {
    Some(match text {
        "cut the apple" => vec![1.0, 0.0, 0.0, 0.0, 0.0],
        "slice the apple" => vec![0.9, 0.435_89, 0.0, 0.0, 0.0],
        "open the lid" => vec![0.0, 0.0, 1.0, 0.0, 0.0],
        "close the lid" => vec![0.0, 0.0, 0.95, 0.312_25, 0.0],
        _ => vec![0.0, 0.0, 0.0, 0.0, 1.0],
    })
}

#[test]
fn paraphrases_are_one_step_until_sessions_do_both() {
    let mut procedures = Procedures::new(LogicOptions::default());
    let mut event = 0;
    let mut tell = |procedures: &mut Procedures, session: &str, texts: &[&str]| {
        for text in texts {
            event += 1;
            procedures.observe(&spoken(event, session, "make salad", text), &paraphrases);
        }
    };
    tell(&mut procedures, "a", &["cut the apple", "open the lid"]);
    tell(&mut procedures, "b", &["slice the apple", "close the lid"]);
    let salad = procedures.by_goal("make salad").unwrap();
    assert_eq!(salad.find_step("slice the apple"), salad.find_step("cut the apple"));
    assert_ne!(salad.find_step("open the lid"), salad.find_step("close the lid"), "the undoing is no paraphrase");
    assert_eq!(salad.steps()[0].count, 2);

    for session in ["c", "d"] {
        tell(&mut procedures, session, &["cut the apple", "open the lid", "slice the apple"]);
    }
    let salad = procedures.by_goal("make salad").unwrap();
    let (cut, slice) = (salad.find_step("cut the apple").unwrap(), salad.find_step("slice the apple").unwrap());
    assert_ne!(cut, slice, "two sessions did both");
    assert_eq!((salad.step(cut).unwrap().count, salad.step(slice).unwrap().count), (3, 3));
    assert!(salad.runs().all(|run| salad.dag().path(run.steps()).is_some()));
    let read = Procedures::from_rows(LogicOptions::default(), bytes(&procedures)).unwrap();
    assert_eq!(bytes(&read), bytes(&procedures));
}

#[test]
fn one_programs_names_are_a_vocabulary_and_never_one_step() {
    let mut procedures = Procedures::new(LogicOptions::default());
    for (event, session, text) in [(1, "a", "cut the apple"), (2, "b", "slice the apple")] {
        procedures.observe(&action(event, Some(session), Some("make salad"), event * 900, text), &paraphrases);
    }
    let salad = procedures.by_goal("make salad").unwrap();
    assert_ne!(salad.find_step("slice the apple"), salad.find_step("cut the apple"));
}

fn procedure(id: u64, named: bool, sessions: &[&[&str]]) -> Procedure {
    let mut procedure = Procedure::new(ProcedureId(id), format!("goal {id}"), named);
    let mut event = id;
    for (number, texts) in sessions.iter().enumerate() {
        let mut actions = Vec::new();
        for text in *texts {
            event += 1;
            actions.push(Action::new(EventId(event), *text, TimeSpan::new(at(event), at(event))));
        }
        assert!(procedure.add_session(&format!("{id}-{number}"), &actions));
    }
    procedure
}

fn memory(procedures: Vec<Procedure>) -> Procedures {
    let mut memory = Procedures::new(LogicOptions::default());
    for procedure in procedures {
        for step in procedure.steps() {
            memory.lexicon.add(step.key(), procedure.id(), step.sessions);
        }
        memory.lexicon.sessions += procedure.sessions() as u32;
        memory.procedures.insert(procedure.id(), crate::shared::Shared::new(procedure));
    }
    memory
}

#[test]
fn fusing_adds_counts_and_success_and_keeps_variants_in_another_order() {
    let one = procedure(100, true, &[&["boil", "add tea", "pour"], &["boil", "add tea", "pour"]]);
    let other = procedure(200, false, &[&["add tea", "boil", "pour"], &["boil", "add tea", "pour", "stir"]]);
    let before = (one.steps()[0].success, other.steps()[1].success);
    let mut memory = memory(vec![one, other]);
    let alignment = memory.fuse(ProcedureId(100), ProcedureId(200), &|_| None).unwrap();
    assert_eq!((alignment.pairs.len(), alignment.overlap), (3, 1.0));
    assert!(memory.get(ProcedureId(200)).is_none());
    let fused = memory.get(ProcedureId(100)).unwrap();
    let boil = fused.step(fused.find_step("boil").unwrap()).unwrap();
    assert_eq!((fused.sessions(), boil.count, boil.success), (4, 4, before.0.pooled(before.1)));
    let run = |texts: &[&str]| texts.iter().map(|text| fused.find_step(text).unwrap()).collect::<Vec<_>>();
    for variant in
        [&["boil", "add tea", "pour"][..], &["add tea", "boil", "pour"], &["boil", "add tea", "pour", "stir"]]
    {
        assert!(fused.dag().path(&run(variant)).is_some(), "{variant:?} remains a way");
    }
    assert!(fused.dag().path(&run(&["pour", "boil"])).is_none(), "nobody poured first");
    assert_eq!(fused.dag().node(Dag::START).unwrap().visits, 4);
}

#[test]
fn what_does_not_align_or_has_a_told_goal_is_not_fused() {
    let tea = procedure(100, true, &[&["boil", "add tea", "pour"]]);
    let bike = procedure(200, false, &[&["lift bike", "turn wheel", "oil chain", "pour"]]);
    let coffee = procedure(300, true, &[&["boil", "add tea", "pour"]]);
    assert!(!Alignment::between(&tea, &bike, 0.8).is_good());
    let mut memory = memory(vec![tea, bike, coffee]);
    let error = memory.fuse(ProcedureId(100), ProcedureId(200), &|_| None).unwrap_err();
    assert!(error.to_string().contains("0.33 of the steps of p-200"), "{error}");
    assert!(memory.fuse(ProcedureId(100), ProcedureId(300), &|_| None).is_err());
    assert!(memory.fuse(ProcedureId(100), ProcedureId(100), &|_| None).is_err());
    assert_eq!(memory.iter().count() + memory.candidates().count(), 3, "a refusal changes nothing");
}

#[test]
fn a_judge_decides_what_the_evidence_would_and_the_evidence_where_it_fails() {
    struct Judge(Mutex<Vec<String>>, Result<f32, ()>);
    impl ProcedureJudge for Judge {
        fn judge(&self, steps: &[&str], context: &[String]) -> Result<f32, PortError> {
            assert!(!context.is_empty());
            self.0.lock().unwrap().push(steps.join(", "));
            self.1.map_err(|()| PortError { role: "judge", message: "away".to_owned() })
        }
    }
    for (answer, established) in [(Ok(0.9), 1), (Ok(0.1), 0), (Err(()), 1)] {
        let judge = Judge(Mutex::new(Vec::new()), answer);
        let mut procedures = Procedures::new(LogicOptions::default()).with_judge(Box::new(judge));
        let mut event = 0;
        for session in ["a", "b", "c"] {
            for text in ["boil", "add tea", "pour"] {
                event += 1;
                procedures.observe(&action(event, Some(session), None, event * 300, text), &|_| None);
            }
        }
        assert_eq!(procedures.iter().count(), established, "{answer:?}");
    }
}

#[test]
fn a_told_goal_whose_steps_are_of_something_else_stays_a_candidate_until_they_are_not() {
    let mut procedures = Procedures::new(LogicOptions::default());
    let mut event = 0;
    let mut tell = |procedures: &mut Procedures, session: &str, texts: &[&str]| {
        for text in texts {
            event += 1;
            let action = action(event, Some(session), Some("make tea"), event * 60, text);
            procedures.observe(&action, &phi);
        }
    };
    tell(&mut procedures, "a", &["lift the bike", "oil the bike", "pump up the bike"]);
    let tea = procedures.by_goal("make tea").unwrap();
    assert!(tea.is_named() && !tea.is_established() && tea.score().is_some(), "{:?}", tea.score());
    assert_eq!((procedures.iter().count(), procedures.candidates().count()), (0, 1));
    let read = Procedures::from_rows(LogicOptions::default(), bytes(&procedures)).unwrap();
    assert_eq!(read.iter().count(), 0, "as it was kept");
    for session in ["b", "c", "d"] {
        tell(&mut procedures, session, &["boil the water", "add the tea", "pour the tea"]);
    }
    assert!(procedures.by_goal("make tea").unwrap().is_established());
    // Nothing speaks against a goal whose meaning nobody knows.
    let unknown = learn(&[("a", "make tea", &["lift the bike", "oil the bike", "pump up the bike"])]);
    assert_eq!(unknown.iter().count(), 1);
}

/// A round whose stations have little to do with its name, and with each other.
fn stations(text: &str) -> Option<Vec<f32>> {
    let mut vector = vec![0.0; 8];
    match text.strip_prefix("station ").and_then(|number| number.parse::<usize>().ok()) {
        Some(number) => (vector[0], vector[1], vector[2 + number]) = (0.2, 0.4, 1.0),
        None => vector[0] = 1.0,
    }
    Some(vector)
}

#[test]
fn a_told_goal_far_from_its_steps_is_believed_if_they_are_always_done_in_one_order() {
    let told = |turned: bool| {
        let mut procedures = Procedures::new(LogicOptions::default());
        for session in 0..10_u64 {
            for place in 0..5_u64 {
                let number = if turned && session % 2 == 1 { 4 - place } else { place };
                let event = session * 5 + place + 1;
                let text = format!("station {number}");
                let name = format!("s{session}");
                let action = action(event, Some(&name), Some("the night round"), session * 900 + place * 15, &text);
                procedures.observe(&action, &stations);
            }
        }
        procedures.by_goal("the night round").unwrap().is_established()
    };
    assert!(told(false));
    assert!(!told(true), "neither near to the goal nor in any order");
}

#[test]
fn a_session_in_other_words_joins_by_meaning_above_the_gate_only() {
    let mut procedures = Procedures::new(LogicOptions::default());
    let mut event = 0;
    for (session, goal, texts) in [
        ("a", Some("make tea"), ["boil water", "add tea"]),
        ("b", None, ["heat kettle", "steep the tea"]),
        ("c", None, ["lift the bike", "oil the bike"]),
    ] {
        for text in texts {
            event += 1;
            let mut action = action(event, Some(session), goal, event * 60, text);
            action.named = false;
            procedures.observe(&action, &phi);
        }
    }
    assert_eq!(procedures.by_goal("make tea").unwrap().sessions(), 2);
    assert_eq!(procedures.candidates().map(Procedure::sessions).collect::<Vec<_>>(), [1]);
}
