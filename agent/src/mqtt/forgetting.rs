//! Decides which connection answers a request to forget.
//!
//! The request arrives on both. `…-in` handles it in its order among the observations, which is right while the memory accepts
//! them. When the memory is full and refuses them, the request would wait behind them, although forgetting makes room. So
//! `…-ask` handles it if `…-in` has not begun in time. `…-in` repeats it when its turn comes, to cover the observations
//! before it, and does not answer again.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use memory_core::ForgetReply;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::client::Message;
use super::context::Context;
use super::forget;
use super::reply::{Code, Refusal};

/// Maximum time for `…-in` to begin.
pub const BEGIN_TIMEOUT: Duration = Duration::from_secs(1);

/// How long a request is remembered. The same request after that is a new one.
const RETENTION: Duration = Duration::from_secs(60);

/// Maximum number of remembered requests.
const MAX_REMEMBERED: usize = 1024;

/// Maximum number of requests that wait for `…-in` to begin them; more are left to it.
const MAX_WAITING: usize = 64;

/// A connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    In,
    Ask,
}

/// The reply to `forget`. Nobody is told that something is gone while a recording shows it.
pub fn body(context: &Context, reply: &ForgetReply) -> Value {
    let mut body = forget::forgotten(reply);
    let recorded = context.media.recordings().is_some();
    let left = if recorded { context.service.memory().recordings_to_remove().map_or(1, |left| left.len()) } else { 0 };
    if left > 0 {
        let message = format!(
            "it is hidden everywhere, but {left} recordings that show it could not be deleted; they are tried again with \
             the next `forget` and at the next start"
        );
        body["state"] = "failed".into();
        body["recordings_left"] = left.into();
        body["error"] = json!(Refusal::new(Code::Internal, message));
    }
    body
}

/// Requests of the last minute with who has begun them first.
#[derive(Debug)]
pub struct Forgetting {
    begun: Mutex<VecDeque<(Duration, u64, Side)>>,
    /// Requests of which `…-ask` waits whether `…-in` begins them.
    waiting: Arc<Semaphore>,
}

impl Default for Forgetting {
    fn default() -> Self {
        Self { begun: Mutex::default(), waiting: Arc::new(Semaphore::new(MAX_WAITING)) }
    }
}

/// Returns the key that identifies a request.
pub fn key(message: &Message) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&message.payload, &message.response_topic, &message.correlation).hash(&mut hasher);
    hasher.finish()
}

impl Forgetting {
    /// A place to wait in, if there is one.
    pub fn wait(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.waiting).try_acquire_owned().ok()
    }

    /// Whether `side` is the one to answer. It is if it came first.
    pub fn begin(&self, key: u64, side: Side, now: Duration) -> bool {
        let mut begun = self.begun.lock();
        while begun.len() >= MAX_REMEMBERED
            || begun.front().is_some_and(|(at, _, _)| now.saturating_sub(*at) > RETENTION)
        {
            begun.pop_front();
        }
        match begun.iter().find(|(_, known, _)| *known == key) {
            Some((_, _, first)) => *first == side,
            None => {
                begun.push_back((now, key, side));
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_begins_first_answers_and_a_minute_later_it_is_another_request() {
        let forgetting = Forgetting::default();
        let at = Duration::from_secs;
        assert!(forgetting.begin(1, Side::In, at(0)));
        assert!(!forgetting.begin(1, Side::Ask, at(1)));
        assert!(forgetting.begin(1, Side::In, at(2)), "a redelivery");
        assert!(forgetting.begin(2, Side::Ask, at(2)));
        assert!(!forgetting.begin(2, Side::In, at(30)));
        assert!(forgetting.begin(2, Side::In, at(63)));
    }
}
