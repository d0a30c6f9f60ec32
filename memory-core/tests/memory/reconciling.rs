//! What is answered where several layers of the memory know something: HippoMM's adaptive reasoning.

use memory_core::{Ablation, Answer, Kind, Query, Route, Told};

use crate::support::{Bench, accepted, at, told_at};

fn said(by: &str, text: &str, seconds: i64) -> Told {
    Told { entity: Some(by.into()), ..told_at(text, seconds) }
}

fn learnt(told: Vec<Told>) -> Bench {
    let bench = Bench::new();
    for one in told {
        accepted(bench.tell(one));
    }
    while bench.memory.learn_pending(64).unwrap().has_lessons() {}
    bench.clock.set_wall(at(3_600));
    bench
}

fn asked(bench: &Bench, question: &str) -> Answer {
    bench.memory.ask(&Query { question: question.into(), trace: true, ..Query::default() }).unwrap()
}

/// The confidences of the candidates, as the trace says them.
fn confidences(answer: &Answer) -> Vec<f32> {
    let layers = ["episodes", "facts", "procedures", "gists", "cross_modal"];
    let steps = answer.trace.iter().filter(|step| layers.contains(&step.step.as_str()));
    steps.filter_map(|step| step.detail.split(' ').next()?.parse().ok()).collect()
}

#[track_caller]
fn assert_step(answer: &Answer, step: &str, detail: &str) {
    let found = answer.trace.iter().any(|one| one.step == step && one.detail.contains(detail));
    assert!(found, "no step {step} with {detail:?}: {:#?}", answer.trace);
}

#[test]
fn layers_that_agree_make_the_answer_surer_and_the_one_that_says_more_is_told() {
    let feeding = Told { kind: Kind::Action, ..said("Ilse", "Ilse waters the fern.", 60) };
    let bench = learnt(vec![said("Ilse", "I put the lantern in the tool chest.", 0), feeding]);
    let place = asked(&bench, "Where is the lantern?");
    assert_eq!(place.answer.as_deref(), Some("In the tool chest"));
    let own = confidences(&place);
    assert!(own.len() > 1 && own.iter().all(|own| place.confidence > *own), "{own:?} {}", place.confidence);
    assert!(place.confidence < 1.0);
    assert!(place.reason.ends_with("says the same"), "{}", place.reason);
    assert_step(&place, "agreement", "In the tool chest");

    let person = asked(&bench, "Who watered the fern last?");
    let text = person.answer.as_deref().unwrap_or_default();
    assert!(text.starts_with("Ilse, at"), "one layer says the time, too: {text:?}");
    assert_step(&person, "agreement", "\"Ilse\"");
}

#[test]
fn of_layers_that_disagree_the_better_supported_is_told_and_is_less_sure() {
    let bench = learnt(vec![said("Ilse", "The gate is closed.", 0), said("Bram", "The gate stands open.", 0)]);
    let answer = asked(&bench, "Is the gate open?");
    assert_eq!(answer.answer.as_deref(), Some("Yes: Bram: The gate stands open."));
    let own = confidences(&answer);
    let most = own.iter().copied().fold(0.0, f32::max);
    assert!(answer.confidence > 0.5 && answer.confidence < most, "{own:?} {}", answer.confidence);
    assert!(answer.reason.contains("says otherwise"), "{}", answer.reason);
    assert_step(&answer, "disagreement", "the gate is closed");
}

#[test]
fn what_was_told_since_is_no_disagreement() {
    let bench = learnt(vec![said("Ilse", "The boiler is broken.", 0), said("Bram", "The boiler works again.", 600)]);
    let answer = asked(&bench, "Is the boiler broken?");
    assert!(answer.answer.as_deref().is_some_and(|text| text.starts_with("No")), "{answer:?}");
    let own = confidences(&answer);
    assert!(own.len() > 1 && own.iter().any(|own| (own - answer.confidence).abs() < 0.01), "{own:?}");
    assert!(answer.reason.contains("no longer so"), "{}", answer.reason);
    assert_step(&answer, "disagreement", "was told after");
}

#[test]
fn a_memory_that_contradicts_itself_says_so_and_shows_both() {
    let bench = learnt(vec![said("Ilse", "The gate is closed.", 0), said("Bram", "Nobody closed the gate.", 0)]);
    let answer = asked(&bench, "Is the gate shut?");
    assert_eq!((answer.answer.as_deref(), answer.route), (None, Route::None), "{}", answer.reason);
    assert!(answer.reason.contains("contradicts itself"), "{}", answer.reason);
    assert!(answer.confidence < 0.5, "neither is likelier than not: {}", answer.confidence);
    let shown: Vec<&str> = answer.evidence.iter().map(|one| one.text.as_str()).collect();
    assert!(shown.iter().any(|text| text.contains("is closed")), "{shown:?}");
    assert!(shown.iter().any(|text| text.contains("Nobody closed")), "{shown:?}");
    assert_step(&answer, "contradiction", "Nobody closed the gate");
}

#[test]
fn where_too_little_is_known_the_trace_says_that_it_is_too_little() {
    let bench = learnt(vec![said("Ilse", "The gate is closed.", 0)]);
    let answer = asked(&bench, "Where is the spaceship?");
    assert_eq!((answer.answer.as_deref(), answer.route), (None, Route::None));
    assert_step(&answer, "insufficiency", &answer.reason);
}

#[test]
fn an_option_that_a_layer_bears_out_is_said_to_be() {
    let bench = learnt(vec![said("Ilse", "I put the lantern in the tool chest.", 0)]);
    let options = vec!["in the barn".into(), "in the tool chest".into()];
    let query = Query { question: "Where is the lantern?".into(), options, trace: true, ..Query::default() };
    let answer = bench.memory.ask(&query).unwrap();
    assert_eq!(answer.choice, Some(1));
    assert!(answer.reason.ends_with("says the same"), "{}", answer.reason);
    assert_step(&answer, "agreement", "tool chest");
}

#[test]
fn a_measurement_can_leave_a_part_of_recall_out() {
    let bench = learnt(vec![
        said("Ilse", "I put the lantern in the tool chest.", 0),
        said("Bram", "The soup is ready.", 900),
        Told { kind: Kind::Action, ..said("Bram", "Bram sweeps the floor.", 1_200) },
    ]);
    while bench.memory.gists_pending(64).unwrap() > 0 {}
    let ask = |question: &str, ablation: Ablation| {
        bench.memory.ask(&Query { question: question.into(), ablation, ..Query::default() }).unwrap()
    };
    let whole = Ablation::default();
    let day = "What happened today?";
    assert_eq!(ask(day, whole).route, Route::Gist);
    let detailed = ask(day, Ablation { without_gists: true, ..whole });
    assert_ne!(detailed.route, Route::Gist);
    assert!(!detailed.evidence.is_empty());
    let soup = "What did Bram say?";
    assert_eq!(ask(soup, whole).route, Route::Detailed);
    assert_ne!(ask(soup, Ablation { without_details: true, ..whole }).route, Route::Detailed);
    let place = "Where is the lantern?";
    let alone = ask(place, Ablation { without_reconciling: true, ..whole });
    assert_eq!(alone.answer, ask(place, whole).answer);
    assert!(alone.confidence < ask(place, whole).confidence);
}
