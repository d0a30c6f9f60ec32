//! Tasks asked from the threads that do them, most of which nobody waits for.

use std::sync::Arc;
use std::time::Duration;

use memory_core::ports::PortError;
use tokio::runtime::Handle;

use super::LlmError;
use super::endpoint::{Endpoint, Task, Urgency};

/// Maximum number of times that a task is started, after it made way for a question.
const MAX_ATTEMPTS: usize = 5;

/// An endpoint for a thread that blocks.
#[derive(Clone)]
pub struct Background {
    endpoint: Arc<Endpoint>,
    handle: Handle,
}

impl Background {
    /// Asks `endpoint` on the runtime of `handle`.
    pub fn new(endpoint: Arc<Endpoint>, handle: Handle) -> Self {
        Self { endpoint, handle }
    }

    /// The endpoint.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Asks and blocks; call from no thread of the runtime. A task makes way for questions, and is begun again after them.
    ///
    /// # Errors
    /// Says why there is nothing usable.
    pub fn ask<T>(&self, task: &Task, check: impl Fn(&str) -> Result<T, &'static str>) -> Result<T, LlmError> {
        self.handle.block_on(async {
            for _ in 0..MAX_ATTEMPTS {
                self.endpoint.quiet().await;
                match self.endpoint.ask(task, Duration::MAX, Urgency::Background, &check).await {
                    Err(LlmError::Yielded) => {}
                    other => return other,
                }
            }
            Err(LlmError::Yielded)
        })
    }

    /// Asks once for a question that waits, at most for `within`, and blocks; call from no thread of the runtime.
    ///
    /// # Errors
    /// Says in words which endpoint has nothing usable, and why.
    pub fn ask_now<T>(
        &self,
        task: &Task,
        within: Duration,
        check: impl Fn(&str) -> Result<T, &'static str>,
    ) -> Result<T, String> {
        let asked = self.endpoint.ask(task, within, Urgency::Question, check);
        self.handle.block_on(asked).map_err(|error| format!("{}: {error}", self.endpoint.name()))
    }

    /// The error as the memory's ports tell it.
    pub fn port_error(&self, error: &LlmError) -> PortError {
        PortError { role: "language model", message: format!("{}: {error}", self.endpoint.name()) }
    }
}
