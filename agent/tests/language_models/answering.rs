//! What a model that works well does to an answer.

use std::sync::Arc;
use std::time::Duration;

use agent::config::{EndpointConfig, LlmConfig};
use engram_tests::{LanguageModel, ModelRequest, Play};
use memory_core::{Query, Route, SystemClock};

use crate::bench::{
    TOLD, WAIT, chat, choosing, household, query, said, verdict, with_chat, with_config, without_model,
};

const MUG: &str = "Where is the blue mug?";

#[tokio::test(flavor = "multi_thread")]
async fn the_model_chooses_among_what_memory_proposes_and_its_evidence_comes_first() {
    let model = LanguageModel::start(choosing("dishwasher")).unwrap();
    let bench = household(&model).await;
    let plain = without_model(&TOLD).await.ask(MUG).await;
    assert!(plain.answer.clone().unwrap().contains("shelf"), "{plain:?}");
    let answer = bench.ask(MUG).await;
    assert!(answer.answer.clone().unwrap().contains("dishwasher"), "{answer:?}");
    assert_eq!(answer.evidence[0].observations, ["m1"]);
    assert!(answer.reason.starts_with("the language model chose this answer among"), "{}", answer.reason);
    assert_eq!(answer.degraded, plain.degraded);
    let [request] = model.requests().try_into().unwrap();
    assert_eq!(request.path, "/v1/chat/completions");
    assert_eq!(request.body["temperature"], 0.0);
    assert_eq!(request.body["stream"], false);
    assert_eq!(request.body["model"], "stand-in");
    assert_eq!(request.purpose(), "answers");
    assert_eq!(request.data()["question"], MUG);
    let data = request.data();
    let times: Vec<&str> = data["evidence"].as_array().unwrap().iter().filter_map(|item| item["at"].as_str()).collect();
    assert!(times.len() > 1 && times.is_sorted(), "in order of time: {times:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wording_that_says_the_same_is_taken_and_one_that_does_not_is_not() {
    let wordings = ["The blue mug is on the shelf", "The blue mug was stolen"];
    let model = LanguageModel::start(move |number, request| {
        let first = &request.data()["answers"][0];
        let said = wordings[number].replace("on the shelf", first["text"].as_str().unwrap().trim_end_matches('.'));
        verdict("a1", &["e1"], &said)
    })
    .unwrap();
    let bench = household(&model).await;
    let plain = without_model(&TOLD).await.ask(MUG).await.answer.unwrap();
    let worded = bench.ask(MUG).await;
    assert_eq!(worded.answer, Some(format!("The blue mug is {}", plain.trim_end_matches('.'))));
    assert!(worded.reason.starts_with("the language model agrees: "), "{}", worded.reason);
    assert_eq!(bench.ask(MUG).await.answer, Some(plain));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_model_may_find_the_answer_in_none_of_them() {
    let model = LanguageModel::always(verdict("none", &[], "")).unwrap();
    let answer = household(&model).await.ask(MUG).await;
    assert_eq!((answer.answer, answer.route), (None, Route::None));
    assert!(answer.reason.starts_with("the language model found the answer in none of"), "{}", answer.reason);
    assert!(!answer.evidence.is_empty());
}

/// A question whose answer is told in other words, so that memory proposes whole sentences at best.
const SHOPPING: &str = "Which ingredients do we need for the bread?";

/// Reads `answer` in the first item of evidence that holds `words`.
fn reading(words: &'static str, answer: &'static str) -> impl Fn(usize, &ModelRequest) -> Play + Send + Sync {
    move |_, request| {
        let data = request.data();
        let items = data["evidence"].as_array().cloned().unwrap_or_default();
        let item = items.iter().find(|item| item["text"].as_str().is_some_and(|text| text.contains(words)));
        verdict("read", &[item.and_then(|item| item["id"].as_str()).unwrap_or("e1")], answer)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_model_reads_an_answer_in_the_words_of_the_evidence_which_comes_first() {
    let model = LanguageModel::start(reading("yeast", "Flour and yeast")).unwrap();
    let answer = household(&model).await.ask(SHOPPING).await;
    assert_eq!((answer.answer.as_deref(), answer.route), (Some("Flour and yeast"), Route::Detailed), "{answer:?}");
    assert_eq!(answer.reason, "the language model read it in the evidence");
    assert_eq!(answer.evidence[0].observations, ["m6"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_the_named_evidence_does_not_hold_is_asked_for_once_more_and_then_left_out() {
    for invented in ["Flour, yeast and sugar", "We need it", ""] {
        let model = LanguageModel::start(reading("yeast", invented)).unwrap();
        let bench = household(&model).await;
        let answer = bench.ask(SHOPPING).await;
        let plain = without_model(&TOLD).await.ask(SHOPPING).await;
        assert_eq!(answer.answer, plain.answer, "{invented}");
        assert!(answer.degraded.iter().any(|line| line.starts_with("llm.chat: ")), "{:?}", answer.degraded);
        assert_eq!(model.requests().len(), 2, "once more");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_option_is_chosen_and_never_read() {
    let model = LanguageModel::start(reading("shelf", "on the shelf")).unwrap();
    let bench = household(&model).await;
    let options = ["on the shelf", "in the dishwasher"].map(str::to_owned).to_vec();
    let answer = bench.service.ask(Query { options, ..query(MUG, WAIT) }).await.unwrap();
    assert!(answer.degraded.iter().any(|line| line.starts_with("llm.chat: ")), "{:?}", answer.degraded);
    let schema = model.requests()[0].body["response_format"].to_string();
    assert!(schema.contains("\"a1\"") && !schema.contains("\"read\""), "{schema}");
}

#[tokio::test(flavor = "multi_thread")]
async fn options_are_chosen_by_their_place() {
    let model = LanguageModel::always(verdict("a2", &["e1"], "")).unwrap();
    let bench = household(&model).await;
    let options = ["on the shelf", "in the dishwasher", "on the roof"].map(str::to_owned).to_vec();
    let answer = bench.service.ask(Query { options, ..query(MUG, WAIT) }).await.unwrap();
    assert_eq!((answer.choice, answer.answer.as_deref()), (Some(1), Some("in the dishwasher")));
    assert_eq!(model.requests()[0].data()["answers"].as_array().map(Vec::len), Some(3));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_an_endpoint_nothing_changes_and_an_empty_memory_asks_nobody() {
    let plain = without_model(&TOLD).await;
    let model = LanguageModel::always(verdict("a1", &["e1"], "")).unwrap();
    let off = with_chat(&TOLD, EndpointConfig { purposes: Some(Vec::new()), ..chat(&model) }).await;
    for question in [MUG, "Who locked the shed?", "When does the plumber come?", "What happened this morning?"] {
        assert_eq!(said(&plain.ask(question).await), said(&off.ask(question).await), "{question}");
    }
    let empty = with_chat(&[], chat(&model)).await;
    assert_eq!(empty.ask(MUG).await.answer, None);
    assert_eq!(model.requests().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recorded_run_is_replayed_without_the_endpoint() {
    let directory = tempfile::tempdir().unwrap();
    let transcript = directory.path().join("run.jsonl");
    let model = LanguageModel::start(choosing("dishwasher")).unwrap();
    let config = LlmConfig { record: Some(transcript.clone()), chat: chat(&model), ..LlmConfig::default() };
    let bench = with_config(&TOLD, &config, None, Arc::new(SystemClock::new())).await;
    let recorded = bench.ask(MUG).await;
    let url = model.url();
    drop((bench, model));

    let chat = EndpointConfig { url: Some(url), model: Some("stand-in".into()), ..EndpointConfig::default() };
    let config = LlmConfig { replay: Some(transcript), chat, ..LlmConfig::default() };
    let bench = with_config(&TOLD, &config, None, Arc::new(SystemClock::new())).await;
    assert_eq!(said(&bench.ask(MUG).await), said(&recorded));
    let other = bench.ask("Who locked the shed?").await;
    assert!(other.degraded.iter().any(|line| line.contains("the transcript has no reply")), "{:?}", other.degraded);
    let health = &bench.models.health()["llm.chat"];
    assert_eq!((health.host.as_str(), health.leaves_the_machine), ("transcript", false));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_token_is_sent_and_nowhere_shown() {
    let model = LanguageModel::start(choosing("shelf")).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("token");
    std::fs::write(&file, "sk-very-secret\n").unwrap();
    let transcript = directory.path().join("run.jsonl");
    let chat = EndpointConfig { token_file: Some(file), ..chat(&model) };
    let config = LlmConfig { chat, record: Some(transcript.clone()), ..LlmConfig::default() };
    let bench = with_config(&TOLD, &config, Some(directory.path()), Arc::new(SystemClock::new())).await;
    bench.ask(MUG).await;
    assert_eq!(model.requests()[0].authorization.as_deref(), Some("Bearer sk-very-secret"));
    let shown = serde_json::to_string(&bench.models.health()).unwrap();
    let kept = std::fs::read_to_string(transcript).unwrap();
    assert!(!shown.contains("sk-very-secret") && !kept.contains("sk-very-secret"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_month_has_its_ceiling_which_outlives_a_restart() {
    let model = LanguageModel::start(choosing("shelf")).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let chat = EndpointConfig { monthly_tokens: Some(1_700), ..chat(&model) };
    let config = LlmConfig { chat, ..LlmConfig::default() };
    let start = || with_config(&TOLD, &config, Some(directory.path()), Arc::new(SystemClock::new()));
    let bench = start().await;
    let mut asked = 0;
    while !bench.ask(MUG).await.degraded.iter().any(|line| line.contains("monthly ceiling of 1700 tokens")) {
        asked += 1;
        assert!(asked < 40, "the ceiling holds");
    }
    let health = bench.models.health()["llm.chat"].clone();
    assert_eq!((health.tokens_month, health.tokens_today), (asked * 100, asked * 100));
    assert!(health.tokens_month <= 1_700 && asked >= 2, "{health:?}");
    drop(bench);
    let bench = start().await;
    let answer = bench.ask(MUG).await;
    assert!(answer.degraded.iter().any(|line| line.contains("monthly ceiling")), "{:?}", answer.degraded);
    assert_eq!(model.requests().len() as u64, asked);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_request_is_in_flight_at_a_time_and_the_others_wait_for_their_turn() {
    let slow = Play::Slow(Duration::from_millis(50), Box::new(verdict("a1", &["e1"], "")));
    let model = LanguageModel::always(slow).unwrap();
    let bench = household(&model).await;
    let asking = (0..6).map(|_| {
        let service = bench.service.clone();
        tokio::spawn(async move { service.ask(query(MUG, 3 * WAIT)).await.unwrap() })
    });
    let asking: Vec<_> = asking.collect();
    for task in asking {
        let answer = task.await.unwrap();
        assert!(answer.degraded.iter().all(|line| !line.starts_with("llm.chat")), "{:?}", answer.degraded);
    }
    assert_eq!((model.requests().len(), model.most_at_once()), (6, 1));
}
