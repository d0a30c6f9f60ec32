//! Looking again, off the recall pool: one question at a time, cancelled with its asker, and remembered.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use memory_core::reasoning::{Controller, Reasoned, ReasoningOptions, StepNews, Tools, Watch, is_worth_looking};
use memory_core::{Answer, Evidence, Observation, Query, Route};
use parking_lot::Mutex;
use tokio::sync::{Semaphore, broadcast};

use super::MemoryService;

/// Maximum number of questions that wait for a look. Beyond it, the answer of the memory itself is given.
const MAX_WAITING: usize = 4;
/// Number of announcements that a listener may lag behind.
pub(super) const MAX_NEWS: usize = 64;
/// Maximum number of questions remembered as looked for, and how long they are.
const MAX_LOOKED: usize = 256;
const LOOKED_RETENTION: Duration = Duration::from_secs(3600);
/// How long a question waits for the embeddings of what was found for it.
const EMBEDDING_WAIT: Duration = Duration::from_millis(400);
/// Time of a question's deadline that is reserved for returning the answer.
const REPLY_MARGIN: Duration = Duration::from_millis(150);
/// Minimum time left for a look to begin.
const MIN_LOOK_TIME: Duration = Duration::from_millis(300);

/// A step of some question's loop.
#[derive(Debug, Clone, PartialEq)]
pub struct LookingNews {
    /// The asker's id of the question.
    pub request: Option<String>,
    /// Maximum number of steps.
    pub steps: usize,
    /// The step.
    pub step: StepNews,
}

/// The loop with its tools.
pub struct Looker {
    tools: Arc<dyn Tools>,
    options: ReasoningOptions,
    /// `None` where the policy chooses.
    controller: Option<Arc<dyn Controller>>,
    write_back: bool,
    turn: Semaphore,
    waiting: Semaphore,
    stopping: AtomicBool,
    looked: Mutex<VecDeque<(String, Duration)>>,
}

impl Looker {
    /// A loop that is not used yet.
    pub fn new(tools: Arc<dyn Tools>, options: ReasoningOptions, write_back: bool) -> Self {
        Self {
            tools,
            options,
            controller: None,
            write_back,
            turn: Semaphore::new(1),
            waiting: Semaphore::new(MAX_WAITING),
            stopping: AtomicBool::new(false),
            looked: Mutex::default(),
        }
    }

    /// Sets another controller than the policy.
    #[must_use]
    pub fn with_controller(self, controller: Option<Arc<dyn Controller>>) -> Self {
        Self { controller, ..self }
    }

    /// Ends the loop that is under way, and begins no other.
    pub(super) fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    fn has_looked(&self, query: &Query, now: Duration) -> bool {
        let key = key(query);
        let mut looked = self.looked.lock();
        looked.retain(|(_, at)| now.saturating_sub(*at) < LOOKED_RETENTION);
        looked.iter().any(|(known, _)| *known == key)
    }

    fn note_looked(&self, query: &Query, now: Duration) {
        let mut looked = self.looked.lock();
        looked.push_back((key(query), now));
        if looked.len() > MAX_LOOKED {
            looked.pop_front();
        }
    }
}

/// Returns a key that is equal for equal questions.
fn key(query: &Query) -> String {
    format!("{:?} {:?} {:?} {:?}", query.question.trim().to_lowercase(), query.options, query.since, query.until)
}

/// Ends the loop when its asker is gone.
struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

struct Watching {
    looker: Arc<Looker>,
    news: broadcast::Sender<LookingNews>,
    cancelled: Arc<AtomicBool>,
    request: Option<String>,
}

impl Watch for Watching {
    fn step(&self, step: &StepNews) {
        let news = LookingNews { request: self.request.clone(), steps: self.looker.options.steps, step: step.clone() };
        // Nobody listening is no failure.
        drop(self.news.send(news));
    }

    fn cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed) || self.looker.stopping.load(Ordering::Relaxed)
    }
}

/// Puts evidence into the order that looking gave it. What was found has other ids once it is remembered.
fn in_order_of(order: &[Evidence], evidence: &mut [Evidence]) {
    let scores: Vec<f32> = evidence.iter().map(|item| item.score).collect();
    let same = |a: &Evidence, b: &Evidence| (&a.media, a.stream, &a.text) == (&b.media, b.stream, &b.text);
    evidence.sort_by_key(|item| order.iter().position(|one| same(one, item)).unwrap_or(usize::MAX));
    for (item, score) in evidence.iter_mut().zip(scores) {
        item.score = score;
    }
}

impl MemoryService {
    /// Looks again if `answer` is worth it; otherwise, and wherever looking fails, `answer` stays. `until` is the monotonic time at
    /// which the question must be answered.
    pub(super) async fn looked_again(&self, query: &Query, answer: Answer, until: Duration) -> Answer {
        let Some(looker) = self.looker() else { return answer };
        let now = self.clock().monotonic();
        if !is_worth_looking(&answer, query.effort, looker.options.trigger) || looker.has_looked(query, now) {
            return answer;
        }
        let degraded = |mut answer: Answer, why: &str| {
            answer.degraded.push(format!("looking again: {why}"));
            answer
        };
        let left = || until.saturating_sub(self.clock().monotonic()).saturating_sub(REPLY_MARGIN);
        if left() < MIN_LOOK_TIME {
            return degraded(answer, "no time left");
        }
        let Ok(_place) = looker.waiting.try_acquire() else {
            return degraded(answer, "too many questions wait for it");
        };
        let Ok(Ok(_turn)) = tokio::time::timeout(left(), looker.turn.acquire()).await else {
            return degraded(answer, "no turn in time");
        };
        let cancelled = Arc::new(AtomicBool::new(false));
        let _cancel = CancelOnDrop(Arc::clone(&cancelled));
        let watching = Watching {
            looker: Arc::clone(&looker),
            news: self.shared.looking_events.clone(),
            cancelled,
            request: query.tag.clone(),
        };
        let (memory, query_now) = (self.memory().clone(), Query { budget: Some(left()), ..query.clone() });
        let work = tokio::task::spawn_blocking(move || {
            let looker = &watching.looker;
            memory.reason(&query_now, looker.tools.as_ref(), &looker.options, looker.controller.as_deref(), &watching)
        });
        match work.await {
            Ok(Ok(reasoned)) => {
                // Only what is remembered need not be looked for again.
                if looker.write_back {
                    looker.note_looked(query, self.clock().monotonic());
                }
                self.kept(&looker, query, reasoned, until).await
            }
            Ok(Err(error)) => degraded(answer, &error.to_string()),
            Err(panic) => {
                tracing::error!(%panic, "looking again failed unexpectedly");
                degraded(answer, "failed unexpectedly")
            }
        }
    }

    /// Remembers what was found, where that is wanted.
    async fn kept(&self, looker: &Looker, query: &Query, reasoned: Reasoned, until: Duration) -> Answer {
        let findings = reasoned.findings();
        let Reasoned { mut answer, steps, stopped, .. } = reasoned;
        tracing::debug!(steps, stopped = stopped.name(), found = findings.len(), "looked again");
        if !looker.write_back || findings.is_empty() {
            return answer;
        }
        let batch = findings.into_iter().map(Observation::Looked).collect();
        if let Err(error) = self.observe(batch).await {
            answer.degraded.push(format!("looking again: what was found is not remembered: {error}"));
            return answer;
        }
        self.wait_embedded(until).await;
        // From now on memory has it, so memory answers: now as it will when it is asked again.
        let left = until.saturating_sub(self.clock().monotonic());
        match self.remembered(Query { trace: false, ..query.clone() }, left).await {
            Ok(again) => {
                let looked = answer.route == Route::Agentic && again.answer.is_some();
                let mut again = again;
                if answer.answer.is_none() && again.answer.is_none() {
                    in_order_of(&answer.evidence, &mut again.evidence);
                }
                let mut degraded = again.degraded;
                for line in answer.degraded {
                    if !degraded.contains(&line) {
                        degraded.push(line);
                    }
                }
                Answer {
                    route: if looked { Route::Agentic } else { again.route },
                    trace: answer.trace,
                    elapsed: answer.elapsed,
                    degraded,
                    ..again
                }
            }
            Err(error) => {
                tracing::debug!(%error, "the memory could not be asked after looking again");
                answer
            }
        }
    }

    /// Waits until what was written back is found by its meaning, too, for a moment at most.
    async fn wait_embedded(&self, until: Duration) {
        let end = (self.clock().monotonic() + EMBEDDING_WAIT).min(until.saturating_sub(REPLY_MARGIN));
        while self.memory().stats().pending_embeddings > 0 && self.clock().monotonic() < end {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Steps of looking again, from now on.
    pub fn looking_events(&self) -> broadcast::Receiver<LookingNews> {
        self.shared.looking_events.subscribe()
    }
}
