//! The memory behind its queues, without a broker.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use agent::service::{AskFailure, EpisodeChange, MemoryService, ObserveFailure, ServiceOptions, ServiceThreads};
use agent::watchdog::{BACKGROUND_STUCK_AFTER, Watchdog};
use engram_tests::eventually;
use memory_core::ports::{AnswerExtractor, AnswerForm, Extraction, Passage, PerceptionSink, PortError, TextEmbedder};
use memory_core::store::fault::FaultStorage;
use memory_core::store::{MemoryStorage, Storage};
use memory_core::{
    Boundary, Clock, ForgetRequest, ManualClock, Memory, MemoryOptions, Observation, ObserveOutcome, Perceived, Query,
    SaveIndex, StreamSpan, SystemClock, Timestamp, Told,
};

const WAIT: Duration = Duration::from_secs(20);

fn start(storage: Arc<dyn Storage>, options: ServiceOptions) -> (MemoryService, ServiceThreads) {
    start_at(storage, options, Arc::new(SystemClock::new()))
}

fn start_at(
    storage: Arc<dyn Storage>,
    options: ServiceOptions,
    clock: Arc<dyn Clock>,
) -> (MemoryService, ServiceThreads) {
    let memory_options = MemoryOptions {
        zone: jiff::tz::TimeZone::UTC,
        max_bytes: None,
        cache_bytes: 8 << 20,
        index: Default::default(),
    };
    let memory = Memory::open_in(storage, memory_options, Arc::clone(&clock)).expect("the storage is sound");
    MemoryService::start(memory, options, clock).expect("the system has threads")
}

fn empty(options: ServiceOptions) -> (MemoryService, ServiceThreads) {
    start(Arc::new(MemoryStorage::new()), options)
}

fn told(n: usize) -> Observation {
    Observation::Told(Told {
        id: Some(format!("o-{n}")),
        text: format!("thing number {n}"),
        source: "test".to_owned(),
        at: Some(Timestamp::from_micros(1_795_000_000_000_000)),
        ..Told::default()
    })
}

/// A reader that counts how often it is asked, and finds nothing.
#[derive(Default)]
struct CountingReader(std::sync::atomic::AtomicUsize);

impl AnswerExtractor for CountingReader {
    fn extract(&self, _question: &str, passages: &[Passage<'_>]) -> Result<Vec<Extraction>, PortError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        let nothing = Extraction {
            relevance: -20.0,
            relevance_alone: -20.0,
            span: 0..0,
            span_probability: 0.0,
            other_spans: Vec::new(),
            forms: [0.0; AnswerForm::ALL.len()],
        };
        Ok(vec![nothing; passages.len()])
    }
}

fn query(text: &str, budget: Duration) -> Query {
    Query { question: text.to_owned(), budget: Some(budget), ..Query::default() }
}

/// Holds the one recall thread until it is released.
struct Blocked {
    release: std::sync::mpsc::SyncSender<()>,
    held: tokio::task::JoinHandle<Result<(), AskFailure>>,
}

async fn block(service: &MemoryService) -> Blocked {
    let (release, released) = std::sync::mpsc::sync_channel::<()>(1);
    let (begun, has_begun) = tokio::sync::oneshot::channel();
    let service = service.clone();
    let held = tokio::spawn(async move {
        service
            .read(WAIT, move |_| {
                begun.send(()).ok();
                released.recv().ok();
                Ok(())
            })
            .await
    });
    has_begun.await.expect("the pool begins");
    Blocked { release, held }
}

fn one_thread() -> ServiceOptions {
    ServiceOptions { recall_threads: 1, recall_queue: 1, ..ServiceOptions::default() }
}

#[tokio::test]
async fn batches_that_wait_share_a_transaction_and_each_hears_of_its_own() {
    let (service, threads) =
        empty(ServiceOptions { commit_linger: Duration::from_millis(50), ..ServiceOptions::default() });
    let mut replies = Vec::new();
    for batch in 0..40 {
        let items = (0..batch % 4).map(|n| told(batch * 10 + n)).collect();
        replies.push((batch % 4, service.enqueue_observe(items).await));
    }
    for (size, reply) in replies {
        let committed = reply.await.unwrap().unwrap();
        assert_eq!(committed.outcomes.len(), size);
        assert!(committed.outcomes.iter().all(|outcome| matches!(outcome, ObserveOutcome::Accepted { .. })));
    }
    assert_eq!(service.memory().stats().observations, 60);
    assert!(service.counters().commits < 10, "{:?}", service.counters());
    threads.drain(WAIT);
}

#[tokio::test]
async fn forgetting_keeps_its_place_among_the_observations() {
    let (service, threads) = empty(ServiceOptions::default());
    let about = |n: usize| {
        let Observation::Told(told) = told(n) else { unreachable!() };
        vec![Observation::Told(Told { entity: Some("Anna".to_owned()), ..told })]
    };
    let before = service.enqueue_observe(about(1)).await;
    let forgotten = service.enqueue_forget(ForgetRequest::Entity("Anna".to_owned())).await;
    let after = service.enqueue_observe(about(2)).await;
    assert!(before.await.unwrap().is_ok());
    assert_eq!(forgotten.await.unwrap().unwrap().events, 1);
    assert!(after.await.unwrap().is_ok());
    assert_eq!(service.memory().stats().events, 1);
    threads.drain(WAIT);
}

#[tokio::test]
async fn when_the_store_is_full_all_that_waited_fails_and_later_it_goes_on() {
    let storage = FaultStorage::new();
    let (service, threads) = start(Arc::new(storage.clone()), ServiceOptions::default());
    service.observe(vec![told(0)]).await.unwrap();
    storage.set_capacity(Some(0));
    let mut replies = Vec::new();
    for n in 1..20 {
        replies.push(service.enqueue_observe(vec![told(n)]).await);
    }
    for reply in replies {
        assert!(matches!(reply.await.unwrap(), Err(ObserveFailure::StorageFull(_))));
    }
    assert!(service.counters().write_error.is_some());
    storage.set_capacity(None);
    service.observe(vec![told(1)]).await.unwrap();
    assert_eq!(service.counters().write_error, None);
    assert_eq!(service.memory().stats().observations, 2);
    threads.drain(WAIT);
}

#[tokio::test]
async fn more_questions_than_the_queue_holds_are_busy() {
    let (service, threads) = empty(one_thread());
    let blocked = block(&service).await;
    let waiting = tokio::spawn({
        let service = service.clone();
        async move { service.ask(query("first in the queue?", WAIT)).await }
    });
    while service.queues()["recall"].depth == 0 {
        tokio::task::yield_now().await;
    }
    assert!(matches!(service.ask(query("no room?", WAIT)).await, Err(AskFailure::Busy)));
    blocked.release.send(()).unwrap();
    blocked.held.await.unwrap().unwrap();
    assert!(waiting.await.unwrap().is_ok());
    assert_eq!(service.queues()["recall"].dropped, 1);
    threads.drain(WAIT);
}

#[tokio::test]
async fn where_many_questions_wait_the_first_ones_are_answered_without_the_reader_and_say_so() {
    let (service, threads) = empty(ServiceOptions { recall_threads: 1, ..ServiceOptions::default() });
    service.observe(vec![told(1)]).await.unwrap();
    let reader = Arc::new(CountingReader::default());
    service.memory().set_answer_extractor(Some(reader.clone()));
    let blocked = block(&service).await;
    let asked: Vec<_> = (0..8)
        .map(|_| {
            let service = service.clone();
            tokio::spawn(async move { service.ask(query("where is thing number 1?", WAIT)).await })
        })
        .collect();
    while service.queues()["recall"].depth < 8 {
        tokio::task::yield_now().await;
    }
    blocked.release.send(()).unwrap();
    blocked.held.await.unwrap().unwrap();
    let mut unread = 0;
    for answer in asked {
        let answer = answer.await.unwrap().unwrap();
        unread += usize::from(answer.degraded.iter().any(|what| what.starts_with("answer extraction: left out")));
    }
    // Behind the fifth one, fewer than four wait.
    assert_eq!((unread, reader.0.load(Ordering::Relaxed)), (4, 4));
    threads.drain(WAIT);
}

#[tokio::test]
async fn listings_that_take_long_leave_a_thread_to_the_questions_and_too_many_are_busy() {
    let (service, threads) = empty(ServiceOptions { recall_threads: 2, ..ServiceOptions::default() });
    let (release, released) = std::sync::mpsc::sync_channel::<()>(1);
    let (begun, has_begun) = tokio::sync::oneshot::channel();
    let list = |work: Box<dyn FnOnce() + Send>| {
        let service = service.clone();
        let work = move |_: &Memory, _| {
            work();
            Ok(())
        };
        tokio::spawn(async move { service.list(WAIT, work).await })
    };
    let mut listings = vec![list(Box::new(move || {
        begun.send(()).ok();
        released.recv().ok();
    }))];
    has_begun.await.expect("the listing begins");
    listings.extend((1..20).map(|_| list(Box::new(|| {}))));
    // Sixteen have a place, and the others hear at once that there is none.
    while listings.iter().filter(|listing| listing.is_finished()).count() < 4 {
        tokio::task::yield_now().await;
    }
    assert!(service.ask(query("is there a thread for me?", WAIT)).await.is_ok());
    release.send(()).unwrap();
    let mut busy = 0;
    for listing in listings {
        match listing.await.unwrap() {
            Err(AskFailure::Busy) => busy += 1,
            other => other.unwrap(),
        }
    }
    assert_eq!(busy, 4);
    threads.drain(WAIT);
}

#[tokio::test]
async fn the_wait_in_the_queue_counts_towards_the_deadline() {
    let (service, threads) = empty(one_thread());
    let blocked = block(&service).await;
    let budget = Duration::from_millis(50);
    let outcome = service.ask(query("in time?", budget)).await;
    assert!(matches!(outcome, Err(AskFailure::Deadline(told)) if told == budget), "{outcome:?}");
    let ran = Arc::new(AtomicBool::new(false));
    let late = service.read(budget, {
        let ran = Arc::clone(&ran);
        move |_| {
            ran.store(true, Ordering::SeqCst);
            Ok(())
        }
    });
    // The queue holds one, and the question that gave up still lies there.
    assert!(matches!(late.await, Err(AskFailure::Busy)));
    blocked.release.send(()).unwrap();
    blocked.held.await.unwrap().unwrap();
    eventually("the queue is empty", WAIT, || (service.queues()["recall"].depth == 0).then_some(())).unwrap();
    assert!(service.ask(query("and now?", WAIT)).await.is_ok());
    assert!(!ran.load(Ordering::SeqCst));
    threads.drain(WAIT);
}

#[tokio::test]
async fn a_question_that_trips_over_a_bug_takes_nobody_with_it() {
    let (service, threads) = empty(one_thread());
    let outcome = service.read::<()>(WAIT, |_| panic!("a bug")).await;
    assert!(matches!(outcome, Err(AskFailure::Internal(message)) if message == "a bug"));
    assert!(service.ask(query("still there?", WAIT)).await.is_ok());
    threads.drain(WAIT);
}

#[tokio::test]
async fn a_segment_is_durable_when_the_sense_hears_of_it() {
    let (service, threads) = empty(ServiceOptions::default());
    let mut events = service.episode_events();
    let at = |seconds: i64| Timestamp::from_micros(1_795_000_000_000_000 + seconds * 1_000_000);
    let segment = Perceived {
        source: "camera".to_owned(),
        session: "s-1".to_owned(),
        start: at(0),
        end: at(6),
        stream: StreamSpan { start: Duration::ZERO, end: Duration::from_secs(6) },
        boundary: Boundary::Visual,
        events: Vec::new(),
        media: None,
        degraded: Vec::new(),
    };
    let sink = service.clone();
    tokio::task::spawn_blocking(move || sink.perceived(segment)).await.unwrap().unwrap();
    assert_eq!(service.memory().stats().observations, 1);
    let new = events.recv().await.unwrap();
    let end = events.recv().await.unwrap();
    assert_eq!((new.change, end.change), (EpisodeChange::New, EpisodeChange::End));
    assert_eq!(new.id, end.id);
    threads.drain(WAIT);
}

#[tokio::test]
async fn what_was_queued_is_committed_before_the_threads_end() {
    let storage = MemoryStorage::new();
    let (service, threads) = start(Arc::new(storage.clone()), ServiceOptions::default());
    let mut replies = Vec::new();
    for n in 0..100 {
        replies.push(service.enqueue_observe(vec![told(n)]).await);
    }
    threads.drain(WAIT);
    for reply in replies {
        assert!(reply.await.unwrap().is_ok());
    }
    assert_eq!(service.observe(vec![told(1000)]).await, Err(ObserveFailure::Closed));
    assert!(matches!(service.ask(query("too late?", WAIT)).await, Err(AskFailure::Closed)));
    drop(service);
    let (service, threads) = start(Arc::new(storage), ServiceOptions::default());
    assert_eq!(service.memory().stats().observations, 100);
    threads.drain(WAIT);
}

struct Lengths;

impl TextEmbedder for Lengths {
    fn space(&self) -> &str {
        "lengths"
    }

    fn dimensions(&self) -> usize {
        2
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, PortError> {
        Ok(texts.iter().map(|text| if text.len() % 2 == 0 { vec![1.0, 0.0] } else { vec![0.0, 1.0] }).collect())
    }
}

struct Broken;

impl TextEmbedder for Broken {
    fn space(&self) -> &str {
        "broken"
    }

    fn dimensions(&self) -> usize {
        2
    }

    fn embed(&self, _: &[&str]) -> Result<Vec<Vec<f32>>, PortError> {
        Err(PortError { role: "text embedding", message: "out of memory".to_owned() })
    }
}

#[tokio::test]
async fn what_is_committed_is_embedded_behind_it() {
    let (service, threads) = empty(ServiceOptions::default());
    service.observe((0..300).map(told).collect()).await.unwrap();
    assert_eq!(service.memory().stats().pending_embeddings, 300);
    service.set_text_embedder(Some(Arc::new(Lengths)));
    let pending = || service.memory().stats().pending_embeddings;
    eventually("nothing is pending", WAIT, || (pending() == 0).then_some(())).unwrap();
    service.observe(vec![told(300)]).await.unwrap();
    eventually("nothing is pending", WAIT, || (pending() == 0).then_some(())).unwrap();
    threads.drain(WAIT);
}

#[tokio::test]
async fn a_model_that_fails_is_shown_and_the_next_one_goes_on() {
    let (service, threads) = empty(ServiceOptions::default());
    service.observe(vec![told(1)]).await.unwrap();
    service.set_text_embedder(Some(Arc::new(Broken)));
    let error = eventually("the failure is shown", WAIT, || service.counters().embedding.error).unwrap();
    assert!(error.contains("out of memory"), "{error}");
    service.set_text_embedder(Some(Arc::new(Lengths)));
    eventually("nothing is pending", WAIT, || (service.memory().stats().pending_embeddings == 0).then_some(()))
        .unwrap();
    eventually("the failure is over", WAIT, || service.counters().embedding.error.is_none().then_some(())).unwrap();
    threads.drain(WAIT);
}

/// What one call of the embedder does.
type During = Box<dyn Fn() + Send + Sync>;

struct Doing(During);

impl TextEmbedder for Doing {
    fn space(&self) -> &str {
        "doing"
    }

    fn dimensions(&self) -> usize {
        2
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, PortError> {
        (self.0)();
        Lengths.embed(texts)
    }
}

/// A service whose jobs and compaction are watched by a clock that stands still.
fn watched() -> (Arc<ManualClock>, Arc<Watchdog>, MemoryService, ServiceThreads) {
    let clock = Arc::new(ManualClock::at(Timestamp::from_micros(1_795_000_000_000_000)));
    let (service, threads) =
        start_at(Arc::new(MemoryStorage::new()), ServiceOptions::default(), Arc::<ManualClock>::clone(&clock));
    (Arc::clone(&clock), Watchdog::new(clock), service, threads)
}

fn stalled(watchdog: &Watchdog) -> Vec<String> {
    watchdog.stalled().into_iter().map(|stalled| stalled.name).collect()
}

#[tokio::test]
async fn jobs_that_are_slow_are_not_taken_for_stuck() {
    let (clock, watchdog, service, threads) = watched();
    let silence = service.clone();
    let _jobs = watchdog.watch_behind("jobs", Arc::new(move || Some(silence.jobs_silence())));
    service.observe((0..100).map(told).collect()).await.unwrap();
    let looks = Arc::new(parking_lot::Mutex::new(Vec::new()));
    let during = {
        let (clock, watchdog, looks) = (Arc::clone(&clock), Arc::clone(&watchdog), Arc::clone(&looks));
        // As slow as a model may be: almost all of the patience for every batch.
        move || {
            clock.advance(BACKGROUND_STUCK_AFTER);
            looks.lock().push(stalled(&watchdog));
        }
    };
    service.set_text_embedder(Some(Arc::new(Doing(Box::new(during)))));
    let pending = || service.memory().stats().pending_embeddings;
    eventually("nothing is pending", WAIT, || (pending() == 0).then_some(())).unwrap();
    let looks = looks.lock().clone();
    assert!(looks.len() >= 4, "many times the patience: {}", looks.len());
    assert!(looks.iter().all(Vec::is_empty), "{looks:?}");
    threads.drain(WAIT);
}

#[tokio::test]
async fn jobs_that_hang_are_named_until_they_go_on() {
    let (clock, watchdog, service, threads) = watched();
    let silence = service.clone();
    let _jobs = watchdog.watch_behind("jobs", Arc::new(move || Some(silence.jobs_silence())));
    let (begins, begun) = std::sync::mpsc::sync_channel(64);
    let (release, released) = std::sync::mpsc::sync_channel::<()>(0);
    let released = parking_lot::Mutex::new(released);
    // Held once; whoever comes later finds the channel closed.
    let during = move || {
        begins.try_send(()).unwrap_or_default();
        released.lock().recv().unwrap_or_default();
    };
    service.set_text_embedder(Some(Arc::new(Doing(Box::new(during)))));
    service.observe(vec![told(1)]).await.unwrap();
    begun.recv_timeout(WAIT).unwrap();
    clock.advance(BACKGROUND_STUCK_AFTER);
    assert_eq!(stalled(&watchdog), Vec::<String>::new());
    clock.advance(Duration::from_secs(1));
    assert_eq!(stalled(&watchdog), ["jobs"]);
    // What else goes on does not hide it.
    service.memory().save_index(SaveIndex::Now).unwrap().unwrap();
    assert_eq!(stalled(&watchdog), ["jobs"]);
    drop(release);
    eventually("they go on", WAIT, || stalled(&watchdog).is_empty().then_some(())).unwrap();
    threads.drain(WAIT);
}

#[tokio::test]
async fn compaction_ticks_with_its_steps_and_with_nothing_else() {
    let (clock, watchdog, service, threads) = watched();
    service.observe((0..10).map(told).collect()).await.unwrap();
    let silence = service.clone();
    let _compaction = watchdog.watch_behind("compaction", Arc::new(move || Some(silence.compaction_silence())));
    let beyond = BACKGROUND_STUCK_AFTER + Duration::from_secs(1);
    clock.advance(beyond);
    service.memory().learn_pending(10).unwrap();
    assert_eq!(stalled(&watchdog), ["compaction"]);
    service.memory().compact().unwrap();
    assert_eq!(stalled(&watchdog), Vec::<String>::new());
    clock.advance(beyond);
    assert_eq!(stalled(&watchdog), ["compaction"]);
    service.memory().save_index(SaveIndex::Now).unwrap().unwrap();
    assert_eq!(stalled(&watchdog), Vec::<String>::new());
    threads.drain(WAIT);
}
