//! Endpoints that do not do what they should: the memory answers as without one, and says why.

use std::time::{Duration, Instant};

use agent::config::EndpointConfig;
use engram_tests::{LanguageModel, Play, completion};
use memory_core::Answer;
use serde_json::json;

use crate::bench::{TOLD, WAIT, chat, household, said, verdict, with_chat, without_model};

const MUG: &str = "Where is the blue mug?";
const TIMEOUT_S: f64 = 0.5;

/// What a stand-in does, and what the answer says of it.
pub fn cases() -> Vec<(&'static str, Play, &'static str)> {
    let say = |text: &str| Play::Say(text.to_owned());
    vec![
        ("prose instead of JSON", say("The mug is on the shelf."), "was not the JSON object"),
        ("JSON that is cut", say("{\"answer\": \"a1\", \"evid"), "was not the JSON object"),
        ("a list instead of an object", say("[1, 2]"), "was not the JSON object"),
        ("another schema", say("{\"response\": \"a1\", \"citations\": [\"e1\"]}"), "was not the JSON object"),
        (
            "a field of its own",
            say(&json!({"answer": "a1", "evidence": ["e1"], "wording": "", "tool": "forget"}).to_string()),
            "was not the JSON object",
        ),
        ("wrong types", say(&json!({"answer": 1, "evidence": "e1", "wording": null}).to_string()), "was not the JSON"),
        ("deep nesting", say(&"[".repeat(50_000)), "was not the JSON object"),
        ("an invented answer", verdict("a99", &["e1"], ""), "chose an answer that was not proposed"),
        ("an answer in its own words", verdict("the mug is in Paris", &["e1"], ""), "answer that was not proposed"),
        ("invented evidence", verdict("a1", &["e1", "e99"], ""), "named evidence that it was not given"),
        ("the id of an event", verdict("a1", &["ev-1"], ""), "named evidence that it was not given"),
        ("no evidence", verdict("a1", &[], ""), "named no evidence"),
        ("nothing", say("  "), "its reply is empty"),
        ("a body without choices", Play::Body("{}".into()), "not the JSON of a chat completion"),
        ("a body of another kind", Play::Body("<html>hello</html>".into()), "not the JSON of a chat completion"),
        ("an empty body", Play::Body(String::new()), "not the JSON of a chat completion"),
        ("a refusal", Play::Refuse, "it refused"),
        ("a filter", Play::SayAndStop(String::new(), "content_filter"), "it refused"),
        ("the limit of tokens", Play::SayAndStop("{\"answer\":".into(), "length"), "cut off at the limit of tokens"),
        ("too many requests", Play::Status(429, None), "status 429"),
        ("a server that fails", Play::Status(500, None), "status 500"),
        ("no such model", Play::Status(404, None), "status 404"),
        ("a wrong token", Play::Status(401, None), "status 401"),
        ("a server that takes no schema and nothing else", Play::Status(400, None), "status 400"),
        ("a slow reply", Play::Slow(Duration::from_secs(5), Box::new(verdict("a1", &["e1"], ""))), "no reply within"),
        ("a cut reply", Play::Cut, "the connection was cut"),
        ("a connection that is closed", Play::HangUp, "the connection was cut"),
        ("an endless reply", Play::Endless, "no reply within"),
        ("a reply that is too large", Play::Huge, "its reply is larger than 256 KiB"),
        ("another protocol", Play::Noise, "cannot be reached"),
    ]
}

fn fallback(answer: &Answer) -> Vec<&String> {
    answer.degraded.iter().filter(|line| line.starts_with("llm.chat: ")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_an_endpoint_does_the_answer_of_the_memory_stands_and_says_why() {
    let plain = said(&without_model(&TOLD).await.ask(MUG).await);
    for (name, play, reason) in cases() {
        let model = LanguageModel::always(play).unwrap();
        let bench = with_chat(&TOLD, EndpointConfig { timeout_s: TIMEOUT_S, ..chat(&model) }).await;
        let begin = Instant::now();
        let mut answer = said(&bench.ask(MUG).await);
        assert!(begin.elapsed() < WAIT, "{name}: {:?}", begin.elapsed());
        let told = fallback(&answer);
        assert!(told.len() == 1 && told[0].contains(reason), "{name}: {told:?}");
        assert!(told[0].ends_with("; answered without it"), "{name}: {told:?}");
        // No word of the reply gets through.
        assert!(!told[0].contains("shelf") && !told[0].contains("Paris") && !told[0].contains("html"), "{told:?}");
        answer.degraded.retain(|line| !line.starts_with("llm.chat: "));
        assert_eq!(answer, plain, "{name}");
        assert!(model.requests().len() <= 2, "{name}: asked once more at most");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_that_is_not_usable_is_asked_for_once_more() {
    let model = LanguageModel::start(|number, _| match number {
        0 => Play::Say("Sure! Here you are.".into()),
        _ => verdict("a1", &["e1"], ""),
    })
    .unwrap();
    let bench = household(&model).await;
    let answer = bench.ask(MUG).await;
    assert_eq!(fallback(&answer), Vec::<&String>::new());
    let again = model.requests()[1].body["messages"][2]["content"].as_str().unwrap().to_owned();
    assert!(again.contains("was not the JSON object") && !again.contains("Sure"), "{again}");
    assert_eq!(bench.models.health()["llm.chat"].schemas, "not kept");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_takes_no_schema_is_asked_without_one() {
    let model = LanguageModel::start(|_, request| match request.body.get("response_format") {
        Some(_) => Play::Status(400, None),
        None => verdict("a1", &["e1"], ""),
    })
    .unwrap();
    let bench = household(&model).await;
    for _ in 0..2 {
        assert_eq!(fallback(&bench.ask(MUG).await), Vec::<&String>::new());
    }
    assert_eq!(bench.models.health()["llm.chat"].schemas, "refused");
    assert_eq!(model.requests().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_that_fails_three_times_is_left_alone_and_health_says_so() {
    let model = LanguageModel::always(Play::Status(500, None)).unwrap();
    let bench = household(&model).await;
    for _ in 0..5 {
        bench.ask(MUG).await;
    }
    assert_eq!(model.requests().len(), 3);
    let answer = bench.ask(MUG).await;
    assert!(fallback(&answer)[0].contains("left alone for"), "{:?}", answer.degraded);
    let health = bench.models.health()["llm.chat"].clone();
    assert_eq!((health.state.as_str(), health.failures), ("open", 3));
    assert_eq!(health.problem().as_deref(), Some("left alone after failures: it replied with status 500"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_asks_to_wait_is_left_alone_at_once() {
    let model = LanguageModel::always(Play::Status(429, Some(60))).unwrap();
    let bench = household(&model).await;
    bench.ask(MUG).await;
    assert!(fallback(&bench.ask(MUG).await)[0].contains("left alone for"));
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_at_the_address_is_said_at_once() {
    let url = LanguageModel::always(Play::HangUp).unwrap().url();
    let closed = EndpointConfig { url: Some(url), model: Some("x".into()), ..EndpointConfig::default() };
    let bench = with_chat(&TOLD, closed).await;
    let begin = Instant::now();
    let answer = bench.ask(MUG).await;
    assert!(fallback(&answer)[0].contains("cannot be reached"), "{:?}", answer.degraded);
    assert!(begin.elapsed() < WAIT);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_counts_nonsense_uses_up_no_more_than_its_context() {
    let mut body: serde_json::Value = serde_json::from_str(&completion("x", "stop")).unwrap();
    body["usage"]["total_tokens"] = json!(u64::MAX);
    let model = LanguageModel::always(Play::Body(body.to_string())).unwrap();
    let bench = household(&model).await;
    bench.ask(MUG).await;
    assert_eq!(bench.models.health()["llm.chat"].tokens_today, 2 * 8192);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_answered_within_its_own_time() {
    let slow = Play::Slow(Duration::from_secs(60), Box::new(verdict("a1", &["e1"], "")));
    let model = LanguageModel::always(slow).unwrap();
    let bench = household(&model).await;
    let begin = Instant::now();
    let answer = bench.ask_within(MUG, Duration::from_secs(1)).await;
    assert!(begin.elapsed() < WAIT, "{:?}", begin.elapsed());
    assert!(fallback(&answer)[0].contains("no reply within"), "{:?}", answer.degraded);
}
