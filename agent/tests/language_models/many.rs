//! Many questions against an endpoint that misbehaves in every way: none hangs, none crashes, every fallback is named.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agent::config::{EndpointConfig, LlmConfig, Purpose};
use agent::llm::{AnswerJudge, LanguageModels};
use engram_tests::{LanguageModel, Play, SeededRandom};
use jiff::tz::TimeZone;
use memory_core::{Clock, SystemClock};

use crate::bench::{TOLD, chat, household, query, said, verdict, without_model};
use crate::misbehaving::cases;

const QUESTIONS: [&str; 6] = [
    "Where is the blue mug?",
    "Who locked the shed?",
    "When does the plumber come?",
    "What happened this morning?",
    "What do we need for the bread?",
    "Where does the ladder stand?",
];
/// A question's own time.
const BUDGET: Duration = Duration::from_secs(3);
/// The endpoint's, so that slow replies do not make a long test.
const TIMEOUT_S: f64 = 0.5;
/// What the way through the memory may add on a busy machine.
const GRACE: Duration = Duration::from_secs(20);

/// Asks `count` questions, each of a new endpoint, so that no circuit breaker keeps the stand-in from misbehaving.
async fn ask(count: usize) {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let bench = without_model(&TOLD).await;
    let mut random = SeededRandom::seeded(20_261_123);
    let mut plays = cases();
    plays.push(("a good reply", verdict("a1", &["e1"], ""), ""));
    let mut longest = Duration::ZERO;
    let mut told: BTreeMap<String, usize> = BTreeMap::new();
    for number in 0..count {
        let (name, play, _) = plays[random.below(plays.len() as u64) as usize].clone();
        let model = LanguageModel::always(play.clone()).unwrap();
        let chat = EndpointConfig { timeout_s: TIMEOUT_S, ..chat(&model) };
        let models = LanguageModels::new(&LlmConfig { chat, ..LlmConfig::default() }, None, &clock, &TimeZone::UTC);
        let judge = AnswerJudge::new(models.serving(Purpose::Answers).unwrap(), Arc::clone(&clock), TimeZone::UTC);
        let asked = query(QUESTIONS[number % QUESTIONS.len()], BUDGET);
        let plain = bench.service.memory().deliberate(&asked).unwrap();
        let begin = Instant::now();
        let mut answer = judge.decide(plain.clone(), &asked, BUDGET).await;
        longest = longest.max(begin.elapsed());
        assert!(begin.elapsed() < BUDGET + GRACE, "{name} took {:?}", begin.elapsed());
        let lines: Vec<String> = answer.degraded.extract_if(.., |line| line.starts_with("llm.chat: ")).collect();
        match play {
            Play::Say(_) if name == "a good reply" => assert_eq!(lines, Vec::<String>::new(), "{name}"),
            _ => {
                assert_eq!(lines.len(), 1, "{name}: the fallback is named");
                assert_eq!(said(&answer), said(&plain.answer), "{name}");
                *told.entry(lines[0].clone()).or_default() += 1;
            }
        }
    }
    let named: usize = told.values().sum();
    println!("{count} questions, {named} fallbacks, all named, {} reasons; the longest took {longest:?}", told.len());
    for (line, times) in told {
        println!("{times:5} {line}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_against_a_misbehaving_endpoint_are_all_answered_and_every_fallback_is_named() {
    ask(120).await;
}

/// `cargo nextest run -p agent --test language_models --run-ignored only --no-capture -E 'test(a_thousand)'`
#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes"]
async fn a_thousand_questions_against_a_misbehaving_endpoint_are_all_answered() {
    ask(1_000).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_that_misbehaves_for_long_costs_questions_no_time() {
    let plays: Vec<Play> = cases().into_iter().map(|(_, play, _)| play).collect();
    let model = LanguageModel::start(move |number, _| plays[number % plays.len()].clone()).unwrap();
    let bench = household(&model).await;
    let begin = Instant::now();
    for number in 0..150 {
        let answer = bench.ask(QUESTIONS[number % QUESTIONS.len()]).await;
        assert!(answer.degraded.iter().any(|line| line.starts_with("llm.chat: ")), "{:?}", answer.degraded);
    }
    assert!(model.requests().len() <= 6, "{} requests", model.requests().len());
    assert!(begin.elapsed() < Duration::from_secs(60), "{:?}", begin.elapsed());
}
