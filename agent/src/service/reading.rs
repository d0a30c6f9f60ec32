//! Questions and lists: what runs on the recall pool.

use std::sync::Arc;
use std::time::Duration;

use memory_core::reasoning::Effort;
use memory_core::{
    Answer, EpisodeFilter, EpisodeId, EpisodeListPage, EpisodePage, Event, EventId, EventPage, ForgetError,
    ForgetPreview, ForgetRequest, Memory, ProcedureError, ProcedureReply, ProcedureRequest, Query, ReadError,
};

use super::{AskFailure, MemoryService};

/// How many questions wait where the next one is answered without the reader. Reading takes about ten times as long as the
/// rest of an answer, and with it those behind would be too late: also those of others than the one who asks without end.
const CROWD: u64 = 4;
/// What an answer says that was not read for that reason.
const UNREAD: &str = "answer extraction: left out, because other questions were waiting";

impl MemoryService {
    /// Says what a request would forget.
    ///
    /// # Errors
    /// See [`AskFailure`].
    pub async fn preview_forget(&self, budget: Duration, request: ForgetRequest) -> Result<ForgetPreview, AskFailure> {
        self.read(budget, move |memory| {
            memory.preview_forget(&request).map_err(|error| match error {
                ForgetError::Invalid(message) => AskFailure::Invalid(message),
                ForgetError::Read(error) => AskFailure::Read(error),
                other => AskFailure::Internal(other.to_string()),
            })
        })
        .await
    }

    /// Answers a question. `query.budget` (or the default) counts from here, the wait in the queue included.
    ///
    /// # Errors
    /// See [`AskFailure`].
    pub async fn ask(&self, query: Query) -> Result<Answer, AskFailure> {
        let budget = query.budget.unwrap_or(self.shared.default_budget);
        let until = self.shared.clock.monotonic() + budget;
        let robot = query.robot.clone().or_else(|| self.shared.robot_path.at(self.shared.clock.now()));
        let query = Query { robot, ..query };
        let answer = self.remembered(query.clone(), budget).await?;
        Ok(self.looked_again(&query, answer, until).await)
    }

    /// The answer of the memory alone.
    pub(super) async fn remembered(&self, query: Query, budget: Duration) -> Result<Answer, AskFailure> {
        let shared = Arc::clone(&self.shared);
        let deadline = shared.clock.monotonic() + budget;
        let _question = self.shared.questions.begin();
        // The query with the time that is left, and whether it is answered without reading for the sake of others.
        let begun = move |mut query: Query, memory: &Memory| {
            let left = deadline.saturating_sub(shared.clock.monotonic());
            query.budget = Some(left);
            let crowded = shared.pool.gauge().depth >= CROWD && memory.has_answer_extractor();
            let unread = crowded && query.effort != Effort::Fast;
            if unread {
                query.effort = Effort::Fast;
            }
            if left.is_zero() { Err(AskFailure::Deadline(budget)) } else { Ok((query, unread)) }
        };
        let said = |unread: bool, answer: &mut Answer| answer.degraded.extend(unread.then(|| UNREAD.to_owned()));
        let failed = move |error| match error {
            memory_core::QueryError::Invalid(message) => AskFailure::Invalid(message),
            memory_core::QueryError::Deadline(_) => AskFailure::Deadline(budget),
            memory_core::QueryError::Read(error) => AskFailure::Read(error),
            other => AskFailure::Internal(other.to_string()),
        };
        let Some(judge) = self.shared.answer_judge.get() else {
            let asked = move |memory: &Memory| {
                let (query, unread) = begun(query, memory)?;
                let mut answer = memory.ask(&query).map_err(failed)?;
                said(unread, &mut answer);
                Ok(answer)
            };
            return self.read(budget, asked).await;
        };
        let asked = query.clone();
        let deliberated = move |memory: &Memory| {
            let (query, unread) = begun(asked, memory)?;
            let mut deliberation = memory.deliberate(&query).map_err(failed)?;
            said(unread, &mut deliberation.answer);
            Ok(deliberation)
        };
        let deliberation = self.read(budget, deliberated).await?;
        Ok(judge.decide(deliberation, &query, deadline.saturating_sub(self.shared.clock.monotonic())).await)
    }

    /// Episodes, newest first, a page at a time.
    ///
    /// # Errors
    /// See [`AskFailure`].
    pub async fn episodes(&self, filter: EpisodeFilter) -> Result<EpisodeListPage, AskFailure> {
        let list =
            move |memory: &Memory, left| memory.episodes(&EpisodeFilter { budget: Some(left), ..filter.clone() });
        self.list(self.shared.default_budget, list).await
    }

    /// Runs a listing on the recall pool, one at a time, so that questions always find a thread. `work` is told how long it
    /// may take.
    ///
    /// # Errors
    /// `Busy` if enough of them wait, and as [`read`](Self::read).
    pub async fn list<T: Send + 'static>(
        &self,
        budget: Duration,
        work: impl FnOnce(&Memory, Duration) -> Result<T, ReadError> + Send + 'static,
    ) -> Result<T, AskFailure> {
        let clock = Arc::clone(&self.shared.clock);
        let deadline = clock.monotonic() + budget;
        let Ok(_place) = self.shared.listings_waiting.try_acquire() else { return Err(AskFailure::Busy) };
        let turn = tokio::time::timeout(budget, self.shared.listings.acquire()).await;
        let Ok(Ok(_turn)) = turn else { return Err(AskFailure::Deadline(budget)) };
        let left = deadline.saturating_sub(clock.monotonic());
        self.read(left, move |memory| {
            let left = deadline.saturating_sub(clock.monotonic());
            work(memory, left).map_err(|error| match error {
                late if late.is_timeout() => AskFailure::Deadline(budget),
                other => AskFailure::Read(other),
            })
        })
        .await
    }

    /// One episode with a page of its visible events.
    ///
    /// # Errors
    /// See [`AskFailure`].
    pub async fn episode(&self, id: EpisodeId, page: EventPage) -> Result<Option<EpisodePage>, AskFailure> {
        let read = move |memory: &Memory| memory.episode_page(id, page).map_err(AskFailure::Read);
        self.read(self.shared.default_budget, read).await
    }

    /// One visible event.
    ///
    /// # Errors
    /// See [`AskFailure`].
    pub async fn event(&self, id: EventId) -> Result<Option<Event>, AskFailure> {
        self.read(self.shared.default_budget, move |memory| memory.event(id).map_err(AskFailure::Read)).await
    }

    /// Answers a symbolic query about procedures.
    ///
    /// # Errors
    /// See [`AskFailure`].
    pub async fn procedure(&self, request: ProcedureRequest) -> Result<ProcedureReply, AskFailure> {
        let _question = self.shared.questions.begin();
        self.read(self.shared.default_budget, move |memory| {
            memory.procedure(&request).map_err(|error| match error {
                ProcedureError::Read(error) => AskFailure::Read(error),
                other => AskFailure::Invalid(other.to_string()),
            })
        })
        .await
    }

    /// Runs any reading on the recall pool.
    ///
    /// # Errors
    /// `Busy`, `Deadline`, `Closed`, or what `work` fails with.
    pub async fn read<T: Send + 'static>(
        &self,
        budget: Duration,
        work: impl FnOnce(&Memory) -> Result<T, AskFailure> + Send + 'static,
    ) -> Result<T, AskFailure> {
        let answer = self.shared.pool.submit(self.shared.clock.monotonic() + budget, budget, work)?;
        // The pool keeps the deadline; this holds even where the memory overruns its own.
        match tokio::time::timeout(budget, answer).await {
            Ok(answer) => answer.unwrap_or(Err(AskFailure::Closed)),
            Err(_elapsed) => {
                self.shared.pool.count_overrun();
                Err(AskFailure::Deadline(budget))
            }
        }
    }
}
