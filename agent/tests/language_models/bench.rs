//! A household's memory whose questions a model decides.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use agent::config::{EndpointConfig, LlmConfig, Purpose};
use agent::llm::{AnswerJudge, LanguageModels};
use agent::service::{MemoryService, ServiceOptions, ServiceThreads};
use engram_tests::{LanguageModel, ModelRequest, Play};
use jiff::tz::TimeZone;
use memory_core::store::MemoryStorage;
use memory_core::{
    Answer, Clock, Memory, MemoryOptions, Observation, ObserveOutcome, Query, SystemClock, Timestamp, Told,
};
use serde_json::{Value, json};

/// Long enough for a loaded machine.
pub const WAIT: Duration = Duration::from_secs(20);

/// What the household tells: minutes, who, what.
pub const TOLD: [(i64, &str, &str); 6] = [
    (0, "Anna", "I put the blue mug in the dishwasher."),
    (60, "Tom", "The blue mug is on the shelf."),
    (90, "Anna", "The ladder stands behind the greenhouse."),
    (120, "Tom", "I locked the shed and hung the key beside the door."),
    (150, "Anna", "The plumber comes on Friday at nine."),
    (180, "Tom", "We need flour and yeast for the bread."),
];

/// The memory, its threads, and the endpoints.
pub struct Bench {
    pub service: MemoryService,
    pub models: LanguageModels,
    threads: Option<ServiceThreads>,
}

impl Drop for Bench {
    fn drop(&mut self) {
        if let Some(threads) = self.threads.take() {
            threads.drain(WAIT);
        }
    }
}

pub fn chat(model: &LanguageModel) -> EndpointConfig {
    EndpointConfig {
        url: Some(model.url()),
        model: Some("stand-in".to_owned()),
        timeout_s: 10.0,
        purposes: Some(vec![Purpose::Answers]),
        ..EndpointConfig::default()
    }
}

/// A memory of `told` without a model.
pub async fn without_model(told: &[(i64, &str, &str)]) -> Bench {
    with_config(told, &LlmConfig::default(), None, Arc::new(SystemClock::new())).await
}

/// The household's memory, decided by `model`.
pub async fn household(model: &LanguageModel) -> Bench {
    with_chat(&TOLD, chat(model)).await
}

pub async fn with_chat(told: &[(i64, &str, &str)], chat: EndpointConfig) -> Bench {
    let config = LlmConfig { chat, ..LlmConfig::default() };
    with_config(told, &config, None, Arc::new(SystemClock::new())).await
}

pub async fn with_config(
    told: &[(i64, &str, &str)],
    config: &LlmConfig,
    data: Option<&Path>,
    clock: Arc<dyn Clock>,
) -> Bench {
    let options =
        MemoryOptions { zone: TimeZone::UTC, max_bytes: None, cache_bytes: 8 << 20, index: Default::default() };
    let memory = Memory::open_in(Arc::new(MemoryStorage::new()), options, Arc::clone(&clock)).unwrap();
    let (service, threads) = MemoryService::start(memory, ServiceOptions::default(), Arc::clone(&clock)).unwrap();
    let models = LanguageModels::new(config, data, &clock, &TimeZone::UTC);
    assert_eq!(models.unusable, []);
    if let Some(endpoint) = models.serving(Purpose::Answers) {
        service.set_answer_judge(AnswerJudge::new(endpoint, clock, TimeZone::UTC));
    }
    let bench = Bench { service, models, threads: Some(threads) };
    bench.tell(told).await;
    bench
}

impl Bench {
    pub async fn tell(&self, told: &[(i64, &str, &str)]) {
        let begin = Timestamp::parse("2026-11-20T08:00:00Z").unwrap().as_micros();
        let items = told.iter().enumerate().map(|(number, (minute, who, text))| {
            Observation::Told(Told {
                id: Some(format!("m{}", number + 1)),
                text: (*text).to_owned(),
                entity: Some((*who).to_owned()),
                source: "test".to_owned(),
                at: Some(Timestamp::from_micros(begin + minute * 60_000_000)),
                ..Told::default()
            })
        });
        let committed = self.service.observe(items.collect()).await.unwrap();
        assert!(committed.outcomes.iter().all(|outcome| matches!(outcome, ObserveOutcome::Accepted { .. })));
        self.learnt().await;
    }

    /// Waits until everything is learnt: before that, answers name what is pending.
    pub async fn learnt(&self) {
        let begin = std::time::Instant::now();
        while self.service.memory().stats().pending_lessons > 0 {
            assert!(begin.elapsed() < WAIT, "learning does not end");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    pub async fn ask(&self, question: &str) -> Answer {
        self.ask_within(question, WAIT).await
    }

    pub async fn ask_within(&self, question: &str, budget: Duration) -> Answer {
        self.service.ask(query(question, budget)).await.unwrap()
    }
}

pub fn query(question: &str, budget: Duration) -> Query {
    let now = Some(Timestamp::parse("2026-11-20T20:00:00Z").unwrap());
    Query { question: question.to_owned(), budget: Some(budget), now, ..Query::default() }
}

/// What an answer says, without the times that it took.
pub fn said(answer: &Answer) -> Answer {
    Answer { elapsed: Default::default(), ..answer.clone() }
}

/// A verdict.
pub fn verdict(answer: &str, evidence: &[&str], wording: &str) -> Play {
    Play::Say(json!({"answer": answer, "evidence": evidence, "wording": wording}).to_string())
}

/// Chooses the first proposed answer whose text holds `words`, with its evidence.
pub fn choosing(words: &'static str) -> impl Fn(usize, &ModelRequest) -> Play + Send + Sync {
    move |_, request| {
        let data = request.data();
        let answers = data["answers"].as_array().cloned().unwrap_or_default();
        let holds = |answer: &&Value| answer["text"].as_str().is_some_and(|text| text.contains(words));
        match answers.iter().find(holds) {
            Some(answer) => {
                Play::Say(json!({"answer": answer["id"], "evidence": answer["evidence"], "wording": ""}).to_string())
            }
            None => verdict("none", &[], ""),
        }
    }
}
