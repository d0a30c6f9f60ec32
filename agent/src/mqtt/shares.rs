//! Shares of the queue of questions: nobody who asks without end makes the memory busy for everybody.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

/// Counts the questions in progress by where their answers go. It holds no more topics than there are questions in
/// progress.
#[derive(Debug)]
pub struct Shares {
    /// Questions of one asker that may be in progress.
    limit: usize,
    held: Mutex<HashMap<String, usize>>,
}

impl Shares {
    pub fn new(limit: usize) -> Self {
        Self { limit, held: Mutex::default() }
    }

    /// Takes a place for a question whose answer goes to `topic`, unless as many are in progress as may be.
    pub fn take(self: &Arc<Self>, topic: &str) -> Option<Share> {
        let mut held = self.held.lock();
        let count = held.get(topic).copied().unwrap_or(0);
        if count >= self.limit {
            return None;
        }
        held.insert(topic.to_owned(), count + 1);
        Some(Share { shares: Arc::clone(self), topic: topic.to_owned() })
    }
}

/// A place that is free again when it is dropped.
#[derive(Debug)]
pub struct Share {
    shares: Arc<Shares>,
    topic: String,
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut held = self.shares.held.lock();
        match held.get_mut(&self.topic) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(held.remove(&self.topic)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_asker_takes_no_more_than_a_share_and_leaves_the_others_theirs() {
        let shares = Arc::new(Shares::new(2));
        let first = shares.take("a").unwrap();
        let _second = shares.take("a").unwrap();
        assert!(shares.take("a").is_none());
        assert!(shares.take("b").is_some());
        drop(first);
        let again = shares.take("a").unwrap();
        assert!(shares.take("a").is_none());
        drop(again);
        assert_eq!(shares.held.lock().len(), 1, "b has nothing in progress");
    }
}
