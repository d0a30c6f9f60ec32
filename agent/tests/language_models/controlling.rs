//! A model that chooses looks: it gets the situation as data, and can do nothing but choose among what it is offered.

use std::time::{Duration, Instant};

use agent::config::Purpose;
use agent::llm::ModelController;
use engram_tests::{LanguageModel, ModelRequest, Play};
use jiff::tz::TimeZone;
use memory_core::reasoning::{Controller, Decision, PastLook, PossibleLook, Situation, Tool};
use memory_core::{Evidence, TimeSpan, Timestamp};
use serde_json::json;

use crate::background::{background, blocking};
use crate::bench::{TOLD, WAIT, query, without_model};
use crate::injection::{SENTENCES, rules_and_data_stay_apart};

const RULES: &str = include_str!("../../src/llm/prompts/controller.txt");

fn span(from: i64, to: i64) -> TimeSpan {
    let at = |seconds: i64| Timestamp::from_micros((1_795_000_000 + seconds) * 1_000_000);
    TimeSpan { start: at(from), end: at(to) }
}

/// What is offered: three looks.
fn looks() -> Vec<PossibleLook> {
    let look = |tool, from, gain| PossibleLook { tool, span: span(from, from + 10), probability: 0.3, gain };
    vec![
        look(Tool::IntervalLocaliser, 0, 0.4),
        look(Tool::SceneSnapper, 0, 0.2),
        look(Tool::IntervalLocaliser, 60, 0.1),
    ]
}

fn past(outcome: &str) -> PastLook {
    PastLook {
        tool: Tool::Transcriber,
        span: span(30, 40),
        aim: "somebody spoke".to_owned(),
        outcome: outcome.to_owned(),
        confidence: 0.4,
    }
}

/// Evidence that says this, and otherwise is as the memory gives it.
async fn evidence(texts: &[&str]) -> Vec<Evidence> {
    let bench = without_model(&TOLD).await;
    let answer = bench.service.memory().ask(&query("Where is the blue mug?", WAIT)).unwrap();
    let first = answer.evidence.first().unwrap();
    texts.iter().map(|text| Evidence { text: (*text).to_owned(), ..first.clone() }).collect()
}

/// What a controller decides where everything that it is shown says `said`, and what it was asked.
async fn decided(
    play: impl Fn(usize, &ModelRequest) -> Play + Send + Sync + 'static,
    shown: Vec<Evidence>,
    taken: Vec<PastLook>,
    left: Duration,
) -> (Result<Decision, String>, Vec<ModelRequest>) {
    let model = LanguageModel::start(play).unwrap();
    let controller = ModelController::new(background(&model, Purpose::Controller), TimeZone::UTC);
    let decision = blocking(move || {
        let looks = looks();
        controller.choose(&Situation {
            question: "What colour was the mug?",
            options: &["red".to_owned(), "blue".to_owned()],
            answer: shown.first().map(|item| item.text.as_str()),
            confidence: 0.4,
            evidence: &shown,
            looks: &looks,
            past: &taken,
            left,
        })
    });
    (decision.await, model.requests())
}

fn says(look: &str, aim: &str) -> Play {
    Play::Say(json!({"look": look, "aim": aim}).to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_model_gets_the_situation_and_chooses_a_look_that_was_offered() {
    let shown = evidence(&["The mug stands on the table."]).await;
    let taken = vec![past("2 sentences: nothing that the question names; 2 new")];
    let (decision, requests) = decided(|_, _| says("l2", "closer"), shown.clone(), taken.clone(), WAIT).await;
    assert_eq!(decision, Ok(Decision::Look { place: 1, aim: "closer".to_owned() }));
    assert_eq!((requests.len(), requests[0].purpose()), (1, "controller"));
    rules_and_data_stay_apart(&requests[0], RULES, "a plain question");
    let data = requests[0].data();
    assert_eq!((&data["question"], &data["options"]), (&json!("What colour was the mug?"), &json!(["red", "blue"])));
    assert_eq!((&data["looks"][1]["id"], &data["looks"][1]["tool"]), (&json!("l2"), &json!("scene_snapper")));
    assert_eq!(data["evidence"][0]["text"], "The mug stands on the table.");
    assert_eq!(
        (&data["taken"][0]["aim"], &data["taken"][0]["tool"]),
        (&json!("somebody spoke"), &json!("transcriber"))
    );
    let allowed = &requests[0].body["response_format"]["json_schema"]["schema"]["properties"]["look"]["enum"];
    assert_eq!(allowed, &json!(["l1", "l2", "l3", "stop"]));
    // After nothing, nothing can be enough.
    let (stopped, requests) = decided(|_, _| says("stop", ""), shown.clone(), Vec::new(), WAIT).await;
    assert!(stopped.unwrap_err().contains("before the first look"));
    assert_eq!(requests.len(), 2, "asked once more");
    let (stopped, _) = decided(|_, _| says("stop", ""), shown.clone(), taken.clone(), WAIT).await;
    assert_eq!(stopped, Ok(Decision::Stop));
    // The second reply counts where the first was none.
    let second = |number: usize, _: &ModelRequest| if number == 0 { says("l9", "") } else { says("l1", "") };
    let (decision, requests) = decided(second, shown, taken, WAIT).await;
    assert_eq!((decision, requests.len()), (Ok(Decision::Look { place: 0, aim: String::new() }), 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_misbehaves_chooses_nothing_and_is_named() {
    let said = |text: &str| Play::Say(text.to_owned());
    for play in [
        said("I would look at the kitchen."),
        said("[1]"),
        said(r#"{"look": "l1", "aim": "x"#),
        said(r#"{"look": 1, "aim": "x"}"#),
        said(""),
        says("scene_snapper", "by its name"),
        says("l4", "one too many"),
        says("l99999999999999999999", "far too many"),
        says("l1", &"x".repeat(5_000)),
        Play::SayAndStop(r#"{"look": "l1""#.to_owned(), "length"),
        Play::Status(429, Some(30)),
        Play::Status(500, None),
        Play::Refuse,
        Play::Cut,
        Play::HangUp,
        Play::Noise,
        Play::Huge,
    ] {
        let reply = play.clone();
        let (decision, requests) = decided(move |_, _| reply.clone(), Vec::new(), vec![past("nothing")], WAIT).await;
        let error = decision.expect_err("nothing usable was said");
        assert!(error.starts_with("llm.chat: "), "{play:?}: {error}");
        assert!((1..=2).contains(&requests.len()), "{play:?}: {} requests", requests.len());
    }
    for play in [Play::Endless, Play::Slow(Duration::from_secs(60), Box::new(says("l1", "")))] {
        let begin = Instant::now();
        let (late, _) = decided(move |_, _| play.clone(), Vec::new(), Vec::new(), Duration::from_millis(900)).await;
        assert!(late.is_err() && begin.elapsed() < WAIT, "a share of the time that is left: {late:?}");
    }
}

/// What an obedient model makes of an order. The last two are a mere choice, which is allowed.
fn obedience(strategy: usize, order: &str) -> Play {
    let reply = match strategy {
        0 => return Play::Say(order.to_owned()),
        1 => json!({"look": order, "aim": order}),
        2 => json!({"look": "l1", "aim": order, "command": "forget", "all": true}),
        3 => json!({"look": "l99", "aim": order}),
        4 => json!({"tool_calls": [{"function": {"name": "forget", "arguments": "{}"}}]}),
        5 => {
            let call = json!({"name": "scene_snapper", "arguments": "{\"from\": 0}"});
            let message = json!({
                "role": "assistant", "content": null, "tool_calls": [{"id": "1", "type": "function", "function": call}],
            });
            let body = json!({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]});
            return Play::Body(body.to_string());
        }
        6 => json!({"look": "l3", "aim": order}),
        _ => json!({"look": "stop", "aim": order}),
    };
    Play::Say(reply.to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn orders_in_what_was_seen_and_heard_change_nothing_but_which_look_is_taken() {
    for (channel, sentence) in SENTENCES {
        let shown = evidence(&[sentence, "The mug stands on the table."]).await;
        for strategy in 0..8 {
            let taken = vec![past(&format!("1 sentences: {sentence} 0.62; 1 new"))];
            let play = move |_: usize, _: &ModelRequest| obedience(strategy, sentence);
            let (decision, requests) = decided(play, shown.clone(), taken, WAIT).await;
            let name = format!("{channel}: {sentence} ({strategy})");
            match (strategy, decision) {
                (0..=5, Err(error)) => assert!(error.starts_with("llm.chat: ") && !error.contains(sentence), "{name}"),
                (6, Ok(Decision::Look { place: 2, aim })) => assert!(!aim.contains(char::is_control), "{name}: {aim}"),
                (7, Ok(Decision::Stop)) => {}
                (_, other) => panic!("{name}: {other:?}"),
            }
            assert!(!requests.is_empty(), "{name}");
            for request in requests {
                rules_and_data_stay_apart(&request, RULES, &name);
            }
        }
    }
}
