//! A bounded queue between async tasks and threads, with a gauge and a counter of what it refused.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use tokio::sync::Notify;

/// Why an item came back.
#[derive(Debug, PartialEq, Eq)]
pub enum PushError<T> {
    /// The ceiling is reached.
    Full(T),
    /// The receiver is gone.
    Closed(T),
}

/// Producers are async tasks or threads, consumers are threads. After `close`, producers are refused and consumers get
/// what is left.
pub struct BoundedQueue<T> {
    capacity: usize,
    state: Mutex<QueueState<T>>,
    filled: Condvar,
    space: Condvar,
    async_space: Notify,
}

struct QueueState<T> {
    items: VecDeque<T>,
    closed: bool,
    refused: u64,
}

impl<T> BoundedQueue<T> {
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity,
            state: Mutex::new(QueueState { items: VecDeque::with_capacity(capacity), closed: false, refused: 0 }),
            filled: Condvar::new(),
            space: Condvar::new(),
            async_space: Notify::new(),
        }
    }

    /// Adds the item unless the ceiling is reached; a refusal for that reason is counted.
    pub fn try_push(&self, item: T) -> Result<(), PushError<T>> {
        let mut state = self.state.lock();
        let outcome = self.offer(&mut state, item);
        if matches!(outcome, Err(PushError::Full(_))) {
            state.refused += 1;
        }
        outcome
    }

    /// Waits for space. The item comes back if the queue is closed.
    pub async fn push(&self, mut item: T) -> Result<(), T> {
        loop {
            let space = self.async_space.notified();
            let offered = self.offer(&mut self.state.lock(), item);
            match offered {
                Ok(()) => return Ok(()),
                Err(PushError::Closed(back)) => return Err(back),
                Err(PushError::Full(back)) => item = back,
            }
            space.await;
        }
    }

    /// Waits for space, blocking the thread. The item comes back if the queue is closed.
    pub fn push_blocking(&self, mut item: T) -> Result<(), T> {
        let mut state = self.state.lock();
        loop {
            match self.offer(&mut state, item) {
                Ok(()) => return Ok(()),
                Err(PushError::Closed(back)) => return Err(back),
                Err(PushError::Full(back)) => item = back,
            }
            self.space.wait(&mut state);
        }
    }

    fn offer(&self, state: &mut QueueState<T>, item: T) -> Result<(), PushError<T>> {
        if state.closed {
            return Err(PushError::Closed(item));
        }
        if state.items.len() >= self.capacity {
            return Err(PushError::Full(item));
        }
        state.items.push_back(item);
        self.filled.notify_one();
        Ok(())
    }

    /// Takes the oldest item. `None` when closed and empty, or when `patience` ran out; ask `is_done` which.
    pub fn pop(&self, patience: Option<Duration>) -> Option<T> {
        let deadline = patience.map(|patience| Instant::now() + patience);
        let mut state = self.state.lock();
        loop {
            if let Some(item) = state.items.pop_front() {
                drop(state);
                self.space.notify_one();
                self.async_space.notify_one();
                return Some(item);
            }
            if state.closed {
                return None;
            }
            match deadline {
                None => self.filled.wait(&mut state),
                Some(deadline) => {
                    if self.filled.wait_until(&mut state, deadline).timed_out() && state.items.is_empty() {
                        return None;
                    }
                }
            }
        }
    }

    /// Refuses new items. Waiting producers get theirs back, consumers drain what is left.
    pub fn close(&self) {
        self.state.lock().closed = true;
        self.filled.notify_all();
        self.space.notify_all();
        // Reaches every producer that saw the queue open: each makes its `Notified` before it looks.
        self.async_space.notify_waiters();
    }

    /// Closed and empty.
    pub fn is_done(&self) -> bool {
        let state = self.state.lock();
        state.closed && state.items.is_empty()
    }

    /// Depth, ceiling and refusals.
    pub fn gauge(&self) -> crate::health::QueueHealth {
        let state = self.state.lock();
        crate::health::QueueHealth {
            depth: state.items.len() as u64,
            capacity: self.capacity as u64,
            dropped: state.refused,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_full_queue_gives_the_item_back_and_counts_it() {
        let queue = BoundedQueue::new(1);
        queue.try_push(1).unwrap();
        assert_eq!(queue.try_push(2), Err(PushError::Full(2)));
        assert_eq!(queue.gauge(), crate::health::QueueHealth { depth: 1, capacity: 1, dropped: 1 });
    }

    #[test]
    fn a_closed_queue_hands_out_what_is_left_and_then_nothing() {
        let queue = BoundedQueue::new(2);
        queue.try_push(1).unwrap();
        queue.close();
        assert_eq!(queue.try_push(2), Err(PushError::Closed(2)));
        assert_eq!(queue.pop(None), Some(1));
        assert_eq!(queue.pop(None), None);
        assert!(queue.is_done());
    }

    #[tokio::test]
    async fn an_async_producer_waits_for_space_and_loses_nothing() {
        let queue = Arc::new(BoundedQueue::new(2));
        let consumer = std::thread::spawn({
            let queue = Arc::clone(&queue);
            move || std::iter::from_fn(|| queue.pop(None)).collect::<Vec<u32>>()
        });
        for item in 0..1000 {
            queue.push(item).await.unwrap();
        }
        queue.close();
        assert_eq!(consumer.join().unwrap(), (0..1000).collect::<Vec<u32>>());
    }

    #[tokio::test]
    async fn closing_frees_every_waiting_producer() {
        let queue = Arc::new(BoundedQueue::new(1));
        queue.try_push(0).unwrap();
        let waiting: Vec<_> = (0..4)
            .map(|item| {
                let queue = Arc::clone(&queue);
                tokio::spawn(async move { queue.push(item).await })
            })
            .collect();
        tokio::task::yield_now().await;
        queue.close();
        for producer in waiting {
            assert!(producer.await.unwrap().is_err());
        }
    }
}
