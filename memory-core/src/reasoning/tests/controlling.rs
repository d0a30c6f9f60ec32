//! The loop with somebody else than the policy choosing the looks.

use super::*;

/// Decides from a script, and notes what it was shown.
struct Script {
    decisions: Mutex<Vec<Result<Decision, String>>>,
    shown: Mutex<Vec<(Vec<PossibleLook>, Vec<PastLook>)>>,
}

impl Script {
    fn new(mut decisions: Vec<Result<Decision, String>>) -> Self {
        decisions.reverse();
        Self { decisions: Mutex::new(decisions), shown: Mutex::default() }
    }
}

impl Controller for Script {
    fn choose(&self, situation: &Situation<'_>) -> Result<Decision, String> {
        self.shown.lock().unwrap().push((situation.looks.to_vec(), situation.past.to_vec()));
        self.decisions.lock().unwrap().pop().unwrap_or_else(|| Err("llm.chat: no reply in time".to_owned()))
    }
}

fn look(place: usize) -> Result<Decision, String> {
    Ok(Decision::Look { place, aim: "because".to_owned() })
}

const QUESTION: &str = "Which animal was in the garden?";

fn controlled(tools: &Truth, script: &Script) -> Reasoned {
    let home = morning();
    let query = Query { question: QUESTION.into(), trace: true, top_k: 10, ..Query::default() };
    let watch = Patience { most: usize::MAX, begun: AtomicUsize::new(0) };
    reason(&query, &One(&home), &home.clock, tools, &ReasoningOptions::default(), Some(script), &watch).unwrap()
}

fn calls(tools: Truth) -> Vec<(Tool, StreamSpan)> {
    tools.calls.into_inner().unwrap().into_iter().map(|(tool, stream, _)| (tool, stream)).collect()
}

#[test]
fn a_controller_chooses_among_the_looks_that_are_worth_it_and_is_told_what_they_found() {
    let (script, tools) = (Script::new(vec![look(1), Ok(Decision::Stop)]), dog_in_the_garden());
    let reasoned = controlled(&tools, &script);
    assert_eq!((reasoned.stopped, reasoned.steps), (Stopped::Enough, 1));
    assert!(reasoned.answer.degraded.is_empty(), "{:?}", reasoned.answer.degraded);
    assert!(reasoned.answer.trace.iter().any(|step| step.step == "aim" && step.detail.ends_with(": because")));
    let shown = script.shown.into_inner().unwrap();
    let (first, none) = &shown[0];
    assert!(none.is_empty() && (2..=12).contains(&first.len()), "{first:?}");
    assert!(first.is_sorted_by(|a, b| a.gain >= b.gain), "most expected gain first: {first:?}");
    let (again, past) = &shown[1];
    assert_eq!((past.len(), past[0].tool, past[0].aim.as_str()), (1, first[1].tool, "because"));
    assert!(past[0].outcome.contains("pictures"), "{past:?}");
    let same = |look: &PossibleLook| (look.tool, look.span) == (first[1].tool, first[1].span);
    assert!(!again.iter().any(same), "no look is offered twice");
    assert_eq!(calls(tools).len(), 1);
}

#[test]
fn a_controller_that_fails_is_named_once_and_the_policy_goes_on_as_if_it_had_chosen() {
    let alone = dog_in_the_garden();
    let by_policy = ask(QUESTION, &alone);
    let wanted = calls(alone);
    for failing in [
        Err("llm.chat: no reply in time".to_owned()),
        look(99),
        // Nothing was looked at, so nothing can have been enough.
        Ok(Decision::Stop),
    ] {
        let (script, tools) = (Script::new(vec![failing.clone()]), dog_in_the_garden());
        let reasoned = controlled(&tools, &script);
        assert_eq!(calls(tools), wanted, "{failing:?}");
        assert_eq!(reasoned.answer.answer, by_policy.answer.answer, "{failing:?}");
        let named = reasoned.answer.degraded.iter().filter(|line| line.starts_with("controller: "));
        assert_eq!(named.count(), 1, "{:?}", reasoned.answer.degraded);
        assert_eq!(script.shown.into_inner().unwrap().len(), 1, "it is not asked again");
    }
}

#[test]
fn a_controller_that_fails_later_leaves_the_rest_to_the_policy() {
    let (script, tools) = (Script::new(vec![look(0)]), Truth::default());
    let reasoned = controlled(&tools, &script);
    let steps = script.shown.into_inner().unwrap().len();
    assert_eq!(steps, 2, "the first reply was used, the second was none");
    assert!(reasoned.steps > 1, "the policy went on");
    assert_eq!(reasoned.answer.degraded, ["controller: llm.chat: no reply in time; the policy chose the looks"]);
}

#[test]
fn what_is_taken_away_is_not_used() {
    let run = |ablation: LoopAblation| {
        let tools = Truth::default();
        let options = ReasoningOptions { ablation, ..ReasoningOptions::default() };
        let reasoned = ask_with(&morning(), "Where was the cat?", &[], &tools, &options);
        (calls(tools), reasoned)
    };
    let (whole, _) = run(LoopAblation::default());
    assert!(whole.iter().any(|(tool, _)| *tool == Tool::SceneSnapper), "{whole:?}");
    let without = LoopAblation { without_tools: vec![Tool::SceneSnapper], ..LoopAblation::default() };
    let (coarse, _) = run(without);
    assert!(!coarse.is_empty() && coarse.iter().all(|(tool, _)| *tool != Tool::SceneSnapper), "{coarse:?}");
    let (forgetful, _) = run(LoopAblation { without_results: true, ..LoopAblation::default() });
    assert_eq!(forgetful[0], forgetful[1], "it does not know that it has looked: {forgetful:?}");
    let (_, level) = run(LoopAblation { without_focus: true, ..LoopAblation::default() });
    let aims: Vec<_> = level.answer.trace.iter().filter(|step| step.step == "aim").map(|step| &step.detail).collect();
    let probability =
        |aim: &str| aim.split("probability ").nth(1).and_then(|rest| rest.split(',').next()?.parse().ok());
    let all: Vec<f32> = aims.iter().filter_map(|aim| probability(aim)).collect();
    assert!(all.len() > 1 && all.iter().all(|one| *one == all[0]), "every interval is as likely: {aims:?}");
}
