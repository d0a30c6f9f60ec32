//! A limit of questions in progress per asker, so that one who asks without end does not make the memory busy for all.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

/// Counts the questions in progress by the topic of their answers. The map has an entry only for topics with a question in
/// progress, so it is as bounded as those are.
#[derive(Debug)]
pub struct Shares {
    /// Maximum number of questions in progress per topic.
    limit: usize,
    held: Mutex<HashMap<String, usize>>,
}

impl Shares {
    pub fn new(limit: usize) -> Self {
        Self { limit, held: Mutex::default() }
    }

    /// Reserves a place for a question whose answer goes to `topic`. `None` if the limit is reached.
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

/// A reserved place. Dropping it frees the place.
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
