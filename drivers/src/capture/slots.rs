//! The queue between a live pipeline and its worker: preallocated slots, of which the oldest is evicted.

use std::time::Duration;

use heapless::{Deque, Vec};
use parking_lot::Mutex;

/// `N` slots of media. One producer fills them, one consumer empties them, in order.
///
/// A producer never waits: with all slots taken it reuses the oldest one that the consumer has not begun. As the
/// consumer holds at most one slot and the producer one, three are enough for that to be always possible.
pub(super) struct SlotQueue<S, const N: usize> {
    slots: [Mutex<S>; N],
    order: Mutex<Order<N>>,
}

/// Description of a filled slot, readable without opening it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    slot: usize,
    /// Stream time of its begin.
    pub(super) stream: Duration,
    /// Monotonic time at which it came.
    pub(super) arrived: Duration,
    /// End of the stream before a gap.
    pub(super) hole: Option<Duration>,
}

struct Order<const N: usize> {
    free: Vec<usize, N>,
    ready: Deque<Entry, N>,
}

impl<S: Default, const N: usize> SlotQueue<S, N> {
    const ENOUGH: () = assert!(N >= 3, "one slot for the producer, one for the consumer, one to evict");

    pub(super) fn new() -> Self {
        let () = Self::ENOUGH;
        Self {
            slots: std::array::from_fn(|_| Mutex::new(S::default())),
            order: Mutex::new(Order { free: (0..N).collect(), ready: Deque::new() }),
        }
    }

    /// Fills a slot by `fill`; says whether another one was evicted for it.
    pub(super) fn push(
        &self,
        stream: Duration,
        arrived: Duration,
        hole: Option<Duration>,
        fill: impl FnOnce(&mut S),
    ) -> bool {
        let mut entry = Entry { slot: 0, stream, arrived, hole };
        let evicted = {
            let mut order = self.order.lock();
            let free = order.free.pop();
            entry.slot = free.unwrap_or_else(|| {
                let oldest = order.ready.pop_front().expect("with no slot free, at least one is ready");
                // The hole is before whatever comes next now.
                let next = order.ready.front_mut().unwrap_or(&mut entry);
                next.hole = oldest.hole.or(next.hole);
                oldest.slot
            });
            free.is_none()
        };
        fill(&mut self.slots[entry.slot].lock());
        self.order.lock().ready.push_back(entry).expect("the deque holds as many entries as there are slots");
        evicted
    }

    /// The oldest entry.
    pub(super) fn head(&self) -> Option<Entry> {
        self.order.lock().ready.front().copied()
    }

    /// Opens the oldest entry and frees its slot after `read`.
    pub(super) fn pop<R>(&self, read: impl FnOnce(Entry, &S) -> R) -> Option<R> {
        let entry = self.order.lock().ready.pop_front()?;
        let result = read(entry, &self.slots[entry.slot].lock());
        self.order.lock().free.push(entry.slot).expect("a slot is free at most once");
        Some(result)
    }

    /// How many entries wait.
    #[cfg(test)]
    fn len(&self) -> usize {
        self.order.lock().ready.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn entries_come_out_in_order_and_slots_are_used_again() {
        let queue = SlotQueue::<u64, 3>::new();
        for round in 0..10 {
            assert!(!queue.push(at(2 * round), at(0), None, |slot| *slot = 2 * round));
            assert!(!queue.push(at(2 * round + 1), at(0), None, |slot| *slot = 2 * round + 1));
            for expected in [2 * round, 2 * round + 1] {
                assert_eq!(queue.pop(|entry, slot| (entry.stream, *slot)), Some((at(expected), expected)));
            }
        }
        assert_eq!(queue.pop(|_, _| ()), None);
    }

    #[test]
    fn the_oldest_gives_way_and_the_newest_stays() {
        let queue = SlotQueue::<u64, 4>::new();
        let evictions = (0..10).filter(|&n| queue.push(at(n), at(n), None, |slot| *slot = n)).count();
        assert_eq!(evictions, 6);
        assert_eq!(queue.len(), 4);
        assert_eq!(queue.head().map(|entry| entry.stream), Some(at(6)));
        let rest: std::vec::Vec<u64> = std::iter::from_fn(|| queue.pop(|_, slot| *slot)).collect();
        assert_eq!(rest, [6, 7, 8, 9]);
    }

    #[test]
    fn a_hole_stays_known_when_what_came_after_it_gives_way() {
        let queue = SlotQueue::<u64, 3>::new();
        queue.push(at(0), at(0), None, |_| ());
        queue.push(at(9), at(9), Some(at(1)), |_| ());
        for n in 10..14 {
            queue.push(at(n), at(n), None, |_| ());
        }
        assert_eq!(queue.head().map(|entry| (entry.stream, entry.hole)), Some((at(11), Some(at(1)))));
    }

    #[test]
    fn the_slot_that_is_being_read_is_never_overwritten() {
        let queue = SlotQueue::<u64, 3>::new();
        queue.push(at(0), at(0), None, |slot| *slot = 100);
        let seen = queue.pop(|_, slot| {
            for n in 1..=20 {
                queue.push(at(n), at(n), None, |slot| *slot = n);
            }
            *slot
        });
        assert_eq!(seen, Some(100));
        assert_eq!(queue.pop(|_, slot| *slot), Some(19));
    }
}
