//! The queries against worked examples and, for paths, against every path of a small graph.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::logic::{Action, Dag, NodeId, Procedure, ProcedureId, StepId};
use crate::random::congruential;
use crate::{EventId, TimeSpan, Timestamp};

/// An action of a told session; `tools`: what it is done with.
fn action(event: u64, text: &str, tools: &[&str], person: &str) -> Action {
    let at = Timestamp::from_micros(event as i64 * 1_000_000);
    let mut action = Action::new(EventId(event), text, TimeSpan::new(at, at));
    action.tools = tools.iter().map(|tool| (*tool).to_owned()).collect();
    action.person = Some(person.to_owned());
    action
}

/// A procedure of sessions, each a person and steps with a tool ("" for none).
fn procedure(id: u64, goal: &str, sessions: &[(&str, &[(&str, &str)])]) -> Procedure {
    let mut procedure = Procedure::new(ProcedureId(id), goal, true);
    let mut event = id * 1_000;
    for (number, (person, steps)) in sessions.iter().enumerate() {
        let actions: Vec<Action> = steps
            .iter()
            .map(|(text, tool)| {
                event += 1;
                action(event, text, if tool.is_empty() { &[] } else { std::slice::from_ref(tool) }, person)
            })
            .collect();
        assert!(procedure.add_session(&format!("p{id}-{number}"), &actions));
    }
    procedure
}

fn tea() -> Procedure {
    let kettle: &[(&str, &str)] =
        &[("boil water", "kettle"), ("put tea into the cup", "spoon"), ("pour", ""), ("stir", "spoon")];
    let early: &[(&str, &str)] = &[("put tea into the cup", "spoon"), ("boil water", "kettle"), ("pour", "")];
    let microwave: &[(&str, &str)] = &[("heat water", "microwave"), ("put tea into the cup", "hand"), ("pour", "")];
    procedure(1, "make tea", &[("Anna", kettle), ("Anna", kettle), ("Ben", early), ("Anna Lee", microwave)])
}

fn salad() -> Procedure {
    let usual: &[(&str, &str)] = &[("chop the fruits", "knife"), ("mix the fruits", "bowl"), ("serve", "spoon")];
    let pot: &[(&str, &str)] = &[("chop the fruits", "knife"), ("mix the fruits", "pot"), ("serve", "spoon")];
    procedure(2, "make fruit salad", &[("Jack", usual), ("Jack", usual), ("Mia", pot)])
}

fn words_of(procedure: &Procedure, steps: &[StepId]) -> Vec<String> {
    steps.iter().map(|step| procedure.step(*step).unwrap().text.clone()).collect()
}

fn without(texts: &[&str]) -> Constraints {
    Constraints { without: texts.iter().map(|text| Phrase::any(*text)).collect(), ..Constraints::default() }
}

fn ways(procedure: &Procedure, constraints: &Constraints) -> Vec<Vec<String>> {
    let found = paths(procedure, constraints, 20).unwrap();
    assert!(found.complete);
    found.paths.iter().map(|path| words_of(procedure, &path.steps)).collect()
}

#[test]
fn the_way_that_most_took_comes_first_with_how_many_took_it() {
    let tea = tea();
    let found = paths(&tea, &Constraints::default(), 20).unwrap();
    assert_eq!(words_of(&tea, &found.paths[0].steps), ["boil water", "put tea into the cup", "pour", "stir"]);
    assert_eq!(found.paths[0].seen, 2);
    assert!(found.paths.windows(2).all(|pair| pair[0].probability >= pair[1].probability));
    let total: f64 = found.paths.iter().map(|path| path.probability).sum();
    assert!(total <= 1.0 + 1e-9, "{total}");
}

#[test]
fn without_a_tool_no_step_of_the_way_needs_it() {
    let tea = tea();
    for kettle in ["kettle", "the Kettle", "kettles"] {
        let found = ways(&tea, &without(&[kettle]));
        assert_eq!(found[0], ["heat water", "put tea into the cup", "pour"], "{kettle}");
        assert!(found.iter().flatten().all(|step| step != "boil water"), "{found:?}");
    }
    let neither = paths(&tea, &without(&["kettle", "microwave"]), 20).unwrap();
    assert!(neither.guessed, "nobody made tea with cold water: {neither:?}");
    assert_eq!(ways(&tea, &without(&["samovar"])), ways(&tea, &Constraints::default()), "nothing needs a samovar");
}

#[test]
fn a_steps_own_words_name_that_step_alone() {
    let screws = procedure(
        3,
        "assemble",
        &[("A", &[("put the screw", ""), ("put the screw into the wall", "")]), ("A", &[("put the screw", "")])],
    );
    assert_eq!(ways(&screws, &without(&["put the screw into the wall"])), [["put the screw"]]);
    assert_eq!(ways(&screws, &without(&["screw"])), Vec::<Vec<String>>::new());
}

#[test]
fn a_part_narrows_what_a_phrase_names() {
    let tea = tea();
    let tool = |text: &str, part| Constraints { with: vec![Phrase::of_part(text, part)], ..Constraints::default() };
    assert!(!ways(&tea, &tool("microwave", Part::Tool)).is_empty());
    assert!(ways(&tea, &tool("microwave", Part::Object)).is_empty());
    assert!(!ways(&tea, &tool("ben", Part::Person)).is_empty());
}

#[test]
fn with_order_and_length_are_conditions_on_the_whole_way() {
    let tea = tea();
    let stirred = Constraints { with: vec!["stir".into()], max_steps: Some(4), ..Constraints::default() };
    assert!(ways(&tea, &stirred).iter().all(|way| way.contains(&"stir".to_owned()) && way.len() <= 4));
    let cup_first = Constraints { before: vec![("tea".into(), "kettle".into())], ..Constraints::default() };
    assert_eq!(ways(&tea, &cup_first)[0], ["put tea into the cup", "boil water", "pour"]);
    let short = Constraints { max_steps: Some(1), ..Constraints::default() };
    assert_eq!(ways(&tea, &short), Vec::<Vec<String>>::new());
}

#[test]
fn a_habit_that_repeats_a_step_is_a_way_only_where_there_is_no_other() {
    let bread = procedure(4, "bake bread", &[("A", &[("knead", ""), ("rest", ""), ("knead", ""), ("bake", "")])]);
    assert_eq!(ways(&bread, &Constraints::default()), [["knead", "rest", "knead", "bake"]]);
    let both = procedure(
        4,
        "bake bread",
        &[("A", &[("knead", ""), ("rest", ""), ("knead", ""), ("bake", "")]), ("A", &[("knead", ""), ("bake", "")])],
    );
    assert_eq!(ways(&both, &Constraints::default()), [["knead", "bake"]]);
}

#[test]
fn too_many_conditions_are_refused_with_what_to_do() {
    let many = Constraints { with: vec!["x".into(); 13], ..Constraints::default() };
    let error = paths(&tea(), &many, 5).unwrap_err();
    assert!(error.to_string().contains("ask with fewer"), "{error}");
}

#[test]
fn what_comes_next_follows_those_who_had_come_as_far() {
    let tea = tea();
    let next = |done: &[&str]| {
        let done: Vec<String> = done.iter().map(|step| (*step).to_owned()).collect();
        let found = next_steps(&tea, &done, 5);
        let total: f64 = next_steps(&tea, &done, usize::MAX).iter().map(|step| step.probability).sum();
        assert!((total - 1.0).abs() < 1e-9, "{total}");
        found[0].step.map_or("GOAL".to_owned(), |step| tea.step(step).unwrap().text.clone())
    };
    assert_eq!(next(&[]), "boil water");
    assert_eq!(next(&["boil water"]), "put tea into the cup");
    assert_eq!(next(&["put tea into the cup"]), "boil water");
    assert_eq!(next(&["boiling the water", "put tea in a cup"]), "pour", "in other words");
    assert_eq!(next(&["boil water", "put tea into the cup", "pour", "stir"]), "GOAL");
    assert_eq!(next(&["sing a song"]), "boil water", "what nobody knows changes nothing");
}

#[test]
fn what_is_missing_comes_in_the_order_in_which_it_is_done() {
    let salad = salad();
    let found = missing(&salad, &["chop the fruits".to_owned()]);
    let steps: Vec<StepId> = found.iter().map(|missing| missing.step).collect();
    assert_eq!(words_of(&salad, &steps), ["mix the fruits", "serve"]);
    assert!(found.iter().all(|missing| missing.probability > 0.9), "{found:?}");
    let names: Vec<String> = things(&salad, steps).into_iter().map(|thing| thing.name).collect();
    assert_eq!(names, ["bowl", "pot", "spoon"]);
    assert!(missing(&salad, &["chop".into(), "mix the fruits".into(), "serve".into()]).is_empty());
}

#[test]
fn a_broken_bowl_is_stood_in_for_by_the_pot_that_somebody_used() {
    let salad = salad();
    let chopped = [salad.find_step("chop the fruits").unwrap()];
    let found = stand_ins(&salad, &["bowl".into()], &chopped, 5).unwrap();
    assert_eq!(words_of(&salad, &found.blocked), ["mix the fruits"]);
    assert_eq!(found.ways.paths, [], "every way mixes");
    assert_eq!((found.swaps[0].with.as_str(), found.swaps[0].seen), ("pot", 1));
    let nothing = stand_ins(&salad, &["oven".into()], &chopped, 5).unwrap();
    assert!(nothing.blocked.is_empty() && nothing.ways.paths.len() == 1);
    assert_eq!(words_of(&salad, &nothing.ways.paths[0].steps), ["mix the fruits", "serve"], "the way on");
}

#[test]
fn a_person_is_found_by_any_name_and_procedures_by_how_often() {
    let (tea, salad) = (tea(), salad());
    let of = |person: &str| -> Vec<(u64, usize)> {
        behaviours([&salad, &tea], person).iter().map(|found| (found.procedure.id().0, found.runs.len())).collect()
    };
    assert_eq!(of("anna"), [(1, 3)]);
    assert_eq!(of("Anna Lee"), [(1, 1)]);
    assert_eq!(of("Jack"), [(2, 2)]);
    assert_eq!(of("nobody"), []);
    assert_eq!(of(""), []);
}

#[test]
fn a_goal_is_found_by_its_words_and_not_by_those_of_another() {
    let (tea, salad) = (tea(), salad());
    let coffee = procedure(5, "make coffee", &[("Ben", &[("grind the beans", "mill")])]);
    let goals = Goals::of([&tea, &salad, &coffee]);
    let find = |goal: &str| goals.find(goal, None).map(|found| found.procedure.id().0);
    for (goal, wanted) in [
        ("make tea", Some(1)),
        ("Make Tea!", Some(1)),
        ("a cup of tea", Some(1)),
        ("fruit salad", Some(2)),
        ("salad", Some(2)),
        ("coffee", Some(5)),
        ("make pancakes", None),
        ("", None),
        ("repair the bicycle", None),
    ] {
        assert_eq!(find(goal), wanted, "{goal}");
    }
    assert_eq!(goals.find("make tea", None).unwrap().score, 1.0);
    let listed: Vec<u64> = list([&tea, &salad, &coffee], Some("make tea")).iter().map(|one| one.id().0).collect();
    assert_eq!(listed, [1, 2, 5]);
    assert_eq!(list([&coffee, &tea], None)[0].id().0, 1, "the most frequent first");
}

/// Every path START → GOAL with its steps, by brute force.
fn all_paths(dag: &Dag, at: NodeId, so_far: &mut Vec<StepId>, found: &mut Vec<(Vec<StepId>, f64)>, probability: f64) {
    for (edge, share) in dag.transitions(at) {
        let node = dag.node(edge.to).unwrap();
        match node.step {
            None => found.push((so_far.clone(), probability * share)),
            Some(step) => {
                let times = so_far.iter().filter(|other| **other == step).count();
                if usize::from(node.occurrence) == times + 1 {
                    so_far.push(step);
                    all_paths(dag, edge.to, so_far, found, probability * share);
                    so_far.pop();
                }
            }
        }
    }
}

fn sessions() -> impl Strategy<Value = Vec<Vec<usize>>> {
    prop::collection::vec(prop::collection::vec(0_usize..5, 1..6), 1..8)
}

const NAMES: [&str; 5] = ["wash", "peel", "cut", "cook", "eat"];

fn of_numbers(sessions: &[Vec<usize>]) -> Procedure {
    let steps: Vec<Vec<(&str, &str)>> =
        sessions.iter().map(|steps| steps.iter().map(|step| (NAMES[*step], "")).collect()).collect();
    let sessions: Vec<(&str, &[(&str, &str)])> = steps.iter().map(|steps| ("A", steps.as_slice())).collect();
    procedure(9, "eat", &sessions)
}

proptest! {
    #[test]
    fn paths_are_exactly_those_of_brute_force_that_fulfil_the_conditions(
        sessions in sessions(),
        banned in prop::option::of(0_usize..5),
        wanted in prop::option::of(0_usize..5),
        pair in prop::option::of((0_usize..5, 0_usize..5)),
        max_steps in prop::option::of(1_usize..6),
    ) {
        let procedure = of_numbers(&sessions);
        let constraints = Constraints {
            without: banned.iter().map(|step| NAMES[*step].into()).collect(),
            with: wanted.iter().map(|step| NAMES[*step].into()).collect(),
            before: pair.iter().filter(|(a, b)| a != b).map(|(a, b)| (NAMES[*a].into(), NAMES[*b].into())).collect(),
            max_steps,
        };
        let mut every = Vec::new();
        all_paths(procedure.dag(), Dag::START, &mut Vec::new(), &mut every, 1.0);
        let number = |step: StepId| NAMES.iter().position(|name| *name == procedure.step(step).unwrap().text).unwrap();
        let fulfils = |steps: &[StepId]| {
            let numbers: Vec<usize> = steps.iter().map(|step| number(*step)).collect();
            let ordered = pair.filter(|(a, b)| a != b).is_none_or(|(a, b)| {
                let first = |wanted: usize| numbers.iter().position(|step| *step == wanted);
                matches!((first(a), first(b)), (Some(a), Some(b)) if a < b)
            });
            banned.is_none_or(|step| !numbers.contains(&step))
                && wanted.is_none_or(|step| numbers.contains(&step))
                && max_steps.is_none_or(|most| numbers.len() <= most)
                && ordered
        };
        let once = |steps: &[StepId]| steps.iter().collect::<BTreeSet<_>>().len() == steps.len();
        let in_a_row = |steps: &[StepId]| -> Vec<Vec<Option<StepId>>> {
            let whole: Vec<_> = [None].into_iter().chain(steps.iter().copied().map(Some)).chain([None]).collect();
            whole.windows(3).map(<[_]>::to_vec).collect()
        };
        let known: BTreeSet<_> = procedure.runs().flat_map(|run| in_a_row(run.steps())).collect();
        let habitual = |steps: &[StepId]| in_a_row(steps).iter().all(|three| known.contains(three));
        let mut expected: BTreeMap<Vec<StepId>, f64> = BTreeMap::new();
        let mut guessed = false;
        for rule in 0..3 {
            let passes = |steps: &[StepId]| match rule {
                0 => once(steps) && habitual(steps),
                1 => once(steps),
                _ => true,
            };
            expected = every.iter().filter(|(steps, _)| fulfils(steps) && passes(steps)).cloned().collect();
            guessed = rule > 0 && expected.keys().any(|steps| !procedure.runs().any(|run| run.steps() == steps));
            if !expected.is_empty() {
                break;
            }
        }
        let found = paths(&procedure, &constraints, usize::MAX).unwrap();
        prop_assert!(found.complete);
        prop_assert_eq!(found.guessed, guessed);
        prop_assert!(found.paths.windows(2).all(|two| two[0].probability >= two[1].probability));
        let runs: Vec<_> = procedure.runs().collect();
        for path in &found.paths {
            let chain = expected.get(&path.steps);
            prop_assert!(chain.is_some(), "{:?} is no path that fulfils the conditions", path.steps);
            let seen = runs.iter().filter(|run| run.steps() == path.steps).count();
            prop_assert_eq!(path.seen as usize, seen);
            let wanted = 0.5 * seen as f64 / runs.len() as f64 + 0.5 * chain.copied().unwrap_or(0.0);
            prop_assert!((path.probability - wanted).abs() < 1e-9);
        }
        prop_assert_eq!(found.paths.len(), expected.len(), "every path is found, and once");
    }

    #[test]
    fn the_same_question_has_the_same_answer(sessions in sessions(), done in prop::collection::vec(0_usize..5, 0..4)) {
        let (one, two) = (of_numbers(&sessions), of_numbers(&sessions));
        let done: Vec<String> = done.iter().map(|step| NAMES[*step].to_owned()).collect();
        prop_assert_eq!(next_steps(&one, &done, 9), next_steps(&two, &done, 9));
        prop_assert_eq!(missing(&one, &done), missing(&two, &done));
        prop_assert_eq!(paths(&one, &Constraints::default(), 9), paths(&two, &Constraints::default(), 9));
    }
}

/// Thirty layers of six steps in any order: more ways than can be counted.
#[test]
fn a_graph_of_more_paths_than_can_be_counted_is_answered_from_its_best() {
    let mut procedure = Procedure::new(ProcedureId(1), "everything", true);
    let (mut event, mut random) = (0, 1_u64);
    for session in 0..300 {
        let actions: Vec<Action> = (0..30)
            .map(|layer| {
                event += 1;
                action(event, &format!("step {layer} of way {}", congruential(&mut random) % 6), &[], "A")
            })
            .collect();
        assert!(procedure.add_session(&format!("s{session}"), &actions));
    }
    let constraints = Constraints {
        with: vec!["step 7 of way 3".into()],
        without: vec!["step 20 of way 2".into()],
        max_steps: Some(30),
        ..Constraints::default()
    };
    let found = paths(&procedure, &constraints, 50).unwrap();
    assert_eq!(found.paths.len(), 50);
    assert!(found.paths.iter().all(|path| path.steps.len() == 30 && path.probability > 0.0));
}
