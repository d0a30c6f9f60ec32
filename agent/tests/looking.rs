//! Looking again, off the recall pool, behind the service.

#![allow(clippy::unwrap_used)] // Tests fail by panicking.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agent::config::{EndpointConfig, LlmConfig, Purpose};
use agent::llm::{Background, LanguageModels, ModelController};
use agent::service::{Looker, MemoryService, ServiceOptions, ServiceThreads};
use engram_tests::{LanguageModel, Play, eventually};
use jiff::tz::TimeZone;
use memory_core::ports::PerceptionSink;
use memory_core::reasoning::{
    Controller, Effort, Look, LookError, LookOrder, Reach, ReasoningOptions, Sighting, SightingKind, Tool, Tools,
};
use memory_core::store::MemoryStorage;
use memory_core::{
    Boundary, Clock, Kind, Memory, MemoryOptions, Modality, Perceived, PerceivedEvent, Query, Route, StreamSpan,
    SystemClock, Timestamp,
};
use tokio::runtime::Handle;

const WAIT: Duration = Duration::from_secs(20);

/// Sees a bicycle everywhere, after as long as it is told to take.
#[derive(Default)]
struct Bicycles {
    looks: AtomicUsize,
    slow: bool,
}

impl Tools for Bicycles {
    fn reach(&self, tool: Tool) -> Reach {
        let sees = matches!(tool, Tool::IntervalLocaliser | Tool::SceneSnapper);
        let seen = sees.then(|| (Modality::Visual, "bicycle".to_owned()));
        Reach { labels: seen.into_iter().collect(), ..Reach::default() }
    }

    fn look(&self, order: &LookOrder<'_>) -> Result<Look, LookError> {
        self.looks.fetch_add(1, Ordering::SeqCst);
        if self.slow {
            while !(order.cancelled)() {
                std::thread::park_timeout(Duration::from_millis(5));
            }
            return Err(LookError::Cancelled);
        }
        let bicycle = Sighting {
            kind: SightingKind::Object,
            label: "bicycle".to_owned(),
            text: "A blue bicycle is in view.".to_owned(),
            score: 0.95,
            share: 0.9,
            count: 1,
            colours: vec!["blue".to_owned()],
            stream: order.stream,
            vector: None,
        };
        Ok(Look { sightings: vec![bicycle], pictures: order.pictures, ..Look::default() })
    }
}

fn start(tools: &Arc<Bicycles>, write_back: bool) -> (MemoryService, ServiceThreads) {
    start_with(tools, write_back, None)
}

fn start_with(
    tools: &Arc<Bicycles>,
    write_back: bool,
    controller: Option<Arc<dyn Controller>>,
) -> (MemoryService, ServiceThreads) {
    let options = MemoryOptions {
        zone: jiff::tz::TimeZone::UTC,
        max_bytes: None,
        cache_bytes: 8 << 20,
        index: Default::default(),
    };
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let memory = Memory::open_in(Arc::new(MemoryStorage::new()), options, Arc::clone(&clock)).expect("an empty memory");
    let (service, threads) = MemoryService::start(memory, ServiceOptions::default(), clock).expect("threads");
    let looker = Looker::new(Arc::clone(tools) as _, ReasoningOptions::default(), write_back);
    service.set_looker(looker.with_controller(controller));
    (service, threads)
}

/// One segment of a yard, as a camera's thread hands it on.
async fn yard(service: &MemoryService) {
    let start = Timestamp::from_micros(1_795_000_000_000_000);
    let (end, stream) = (
        start.saturating_add(Duration::from_secs(8)),
        StreamSpan { start: Duration::ZERO, end: Duration::from_secs(8) },
    );
    let event = PerceivedEvent {
        kind: Kind::Caption,
        modality: Modality::Visual,
        text: "The scene looks like a yard.".to_owned(),
        start,
        end,
        stream,
        entity: None,
        attributes: Default::default(),
        confidence: 0.8,
        embeddings: Vec::new(),
        pose: None,
    };
    let segment = Perceived {
        source: "camera".to_owned(),
        session: "s".to_owned(),
        start,
        end,
        stream,
        boundary: Boundary::Visual,
        events: vec![event],
        media: Some("file:///yard.mkv".to_owned()),
        degraded: Vec::new(),
    };
    let sink = service.clone();
    tokio::task::spawn_blocking(move || sink.perceived(segment)).await.expect("no panic").expect("it is stored");
}

fn looked(tools: &Bicycles, times: usize) {
    let reached = || (tools.looks.load(Ordering::SeqCst) == times).then_some(());
    eventually("a look", WAIT, reached).unwrap();
}

fn thorough(budget: Duration) -> Query {
    Query {
        question: "What colour was the bicycle in the yard?".to_owned(),
        budget: Some(budget),
        effort: Effort::Thorough,
        tag: Some("q-1".to_owned()),
        ..Query::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_second_asking_is_answered_from_memory_and_says_the_same() {
    let tools = Arc::new(Bicycles::default());
    let (service, threads) = start(&tools, true);
    yard(&service).await;
    let mut news = service.looking_events();
    let first = service.ask(thorough(WAIT)).await.unwrap();
    assert_eq!(first.route, Route::Agentic, "{first:?}");
    assert!(first.evidence.iter().any(|item| item.text.contains("bicycle")), "{first:?}");
    let looks = tools.looks.load(Ordering::SeqCst);
    assert!(looks >= 1);
    let step = news.try_recv().unwrap();
    assert_eq!((step.request.as_deref(), step.step.iteration), (Some("q-1"), 1));
    let second = service.ask(thorough(WAIT)).await.unwrap();
    assert_eq!(tools.looks.load(Ordering::SeqCst), looks, "nothing is looked at twice");
    assert_eq!((second.answer, second.choice), (first.answer, first.choice));
    let ids = |answer: &[memory_core::Evidence]| answer.iter().map(|item| item.event).collect::<Vec<_>>();
    assert_eq!(ids(&second.evidence), ids(&first.evidence), "and cites the same");
    threads.drain(WAIT);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_write_back_the_store_stays_as_it_was() {
    let tools = Arc::new(Bicycles::default());
    let (service, threads) = start(&tools, false);
    yard(&service).await;
    let before = (service.memory().stats().seq, service.memory().stats().events);
    let answer = service.ask(thorough(WAIT)).await.unwrap();
    assert_eq!(answer.route, Route::Agentic);
    assert_eq!((service.memory().stats().seq, service.memory().stats().events), before);
    threads.drain(WAIT);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fast_question_looks_at_nothing_and_others_are_answered_meanwhile() {
    let tools = Arc::new(Bicycles { slow: true, ..Bicycles::default() });
    let (service, threads) = start(&tools, true);
    yard(&service).await;
    let asker = service.clone();
    let slow = tokio::spawn(async move { asker.ask(thorough(WAIT)).await });
    looked(&tools, 1);
    let fast = Query { effort: Effort::Fast, ..thorough(Duration::from_secs(3)) };
    assert_ne!(service.ask(fast).await.unwrap().route, Route::Agentic);
    let waits = service.ask(thorough(Duration::from_secs(1))).await.unwrap();
    assert!(waits.degraded.iter().any(|line| line.starts_with("looking again: no turn")), "{:?}", waits.degraded);
    // Whoever asked is gone: the loop ends, and the next one has its turn.
    slow.abort();
    let again = service.clone();
    let next = tokio::spawn(async move { again.ask(thorough(WAIT)).await });
    looked(&tools, 2);
    next.abort();
    threads.drain(WAIT);
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_ends_the_loop() {
    let tools = Arc::new(Bicycles { slow: true, ..Bicycles::default() });
    let (service, threads) = start(&tools, true);
    yard(&service).await;
    let asker = service.clone();
    let asked = tokio::spawn(async move { asker.ask(thorough(Duration::from_secs(60))).await });
    looked(&tools, 1);
    tokio::task::spawn_blocking(move || threads.drain(WAIT)).await.unwrap();
    let outcome = tokio::time::timeout(WAIT, asked).await.expect("it ends with the service").unwrap();
    assert!(outcome.is_ok(), "the memory's own answer is there: {outcome:?}");
}

/// A controller with a model behind `url`.
fn by_model(model: &LanguageModel) -> Arc<dyn Controller> {
    let chat = EndpointConfig {
        url: Some(model.url()),
        model: Some("stand-in".to_owned()),
        timeout_s: 1.0,
        ..EndpointConfig::default()
    };
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let config = LlmConfig { chat, ..LlmConfig::default() };
    let models = LanguageModels::new(&config, None, &clock, &TimeZone::UTC);
    let endpoint = models.serving(Purpose::Controller).unwrap();
    Arc::new(ModelController::new(Background::new(endpoint, Handle::current()), TimeZone::UTC))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_chooses_the_looks_and_where_it_fails_the_policy_goes_on_and_the_answer_says_so() {
    let ask = async |controller: Option<Arc<dyn Controller>>| {
        let tools = Arc::new(Bicycles::default());
        let (service, threads) = start_with(&tools, false, controller);
        yard(&service).await;
        let answer = service.ask(thorough(WAIT)).await.unwrap();
        threads.drain(WAIT);
        (answer, tools.looks.load(Ordering::SeqCst))
    };
    let (policy, looks) = ask(None).await;
    assert!(looks >= 1 && policy.answer.is_some(), "{policy:?}");

    let model = LanguageModel::always(Play::Say(r#"{"look": "l1", "aim": "the yard"}"#.to_owned())).unwrap();
    let (chosen, _) = ask(Some(by_model(&model))).await;
    assert_eq!((&chosen.answer, chosen.route), (&policy.answer, Route::Agentic));
    assert_eq!(chosen.degraded, policy.degraded);
    let requests = model.requests();
    assert!(requests.iter().all(|request| request.purpose() == "controller") && !requests.is_empty());

    for play in [Play::Say("Look at the door.".to_owned()), Play::Status(500, None), Play::Cut, Play::Endless] {
        let model = LanguageModel::always(play.clone()).unwrap();
        let (answer, taken) = ask(Some(by_model(&model))).await;
        assert_eq!((answer.answer, answer.choice, taken), (policy.answer.clone(), policy.choice, looks), "{play:?}");
        let named: Vec<_> = answer.degraded.iter().filter(|line| line.starts_with("controller: llm.chat: ")).collect();
        assert!(named.len() == 1 && named[0].ends_with("; the policy chose the looks"), "{play:?}: {named:?}");
    }
}
