//! Recently hidden events, for a slice of learning that runs at the same time.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::learning::Withdrawal;

/// Maximum number of withdrawals that are kept.
const MAX_WITHDRAWALS: usize = 256;
/// Maximum number of their events.
const MAX_WITHDRAWN_EVENTS: usize = 65_536;

/// The last withdrawals, numbered. A state that was learnt beside them is brought in step, not thrown away: otherwise
/// corrections that come often enough would keep learning from ever getting on.
#[derive(Default)]
pub(crate) struct Withdrawals {
    /// The epoch in which the first one came.
    first: u64,
    entries: VecDeque<Arc<Withdrawal>>,
    events: usize,
}

impl Withdrawals {
    /// Grows with every withdrawal.
    pub fn epoch(&self) -> u64 {
        self.first + self.entries.len() as u64
    }

    pub fn push(&mut self, withdrawal: Withdrawal) {
        self.events += withdrawal.events.len();
        self.entries.push_back(Arc::new(withdrawal));
        while self.entries.len() > MAX_WITHDRAWALS || self.events > MAX_WITHDRAWN_EVENTS {
            let Some(oldest) = self.entries.pop_front() else { return };
            self.events -= oldest.events.len();
            self.first += 1;
        }
    }

    /// Records that the learnt state changed in another way: anything learnt beside it is useless.
    pub fn restart(&mut self) {
        *self = Self { first: self.epoch() + 1, ..Self::default() };
    }

    /// Returns the withdrawals after `epoch`; `None` if not all of them are known.
    pub fn since(&self, epoch: u64) -> Option<impl Iterator<Item = &Arc<Withdrawal>> + use<'_>> {
        let from = usize::try_from(epoch.checked_sub(self.first)?).ok()?;
        Some(self.entries.iter().skip(from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EventId;

    fn hidden(event: u64) -> Withdrawal {
        Withdrawal { events: vec![EventId(event)], ..Withdrawal::default() }
    }

    fn since(withdrawals: &Withdrawals, epoch: u64) -> Option<Vec<u64>> {
        Some(withdrawals.since(epoch)?.map(|one| one.events[0].0).collect())
    }

    #[test]
    fn whoever_learnt_beside_withdrawals_hears_of_all_of_them_or_none() {
        let mut withdrawals = Withdrawals::default();
        let begin = withdrawals.epoch();
        withdrawals.push(hidden(1));
        let middle = withdrawals.epoch();
        withdrawals.push(hidden(2));
        assert_eq!(since(&withdrawals, begin), Some(vec![1, 2]));
        assert_eq!(since(&withdrawals, middle), Some(vec![2]));
        assert_eq!(since(&withdrawals, withdrawals.epoch()), Some(vec![]));
        for event in 0..MAX_WITHDRAWALS as u64 {
            withdrawals.push(hidden(event));
        }
        assert_eq!(since(&withdrawals, middle), None, "the second one is not kept any more");
        let end = withdrawals.epoch();
        withdrawals.restart();
        assert_eq!(since(&withdrawals, end), None);
        assert_eq!(since(&withdrawals, withdrawals.epoch()), Some(vec![]));
    }
}
