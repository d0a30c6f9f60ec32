//! A set of event ids, one bit each: ids are dense.

use bitvec::vec::BitVec;

#[derive(Debug, Clone, Default)]
pub(crate) struct EventSet {
    bits: BitVec<u64>,
    len: u64,
}

impl EventSet {
    pub(crate) fn insert(&mut self, id: u64) {
        let index = index(id);
        if index >= self.bits.len() {
            // Grown in steps, so that appending is cheap.
            self.bits.resize((index + 1).next_multiple_of(4096), false);
        }
        if !self.bits.replace(index, true) {
            self.len += 1;
        }
    }

    pub(crate) fn remove(&mut self, id: u64) {
        let index = index(id);
        if index < self.bits.len() && self.bits.replace(index, false) {
            self.len -= 1;
        }
    }

    pub(crate) fn contains(&self, id: u64) -> bool {
        self.bits.get(index(id)).is_some_and(|bit| *bit)
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// How many ids are higher than `id`.
    pub(crate) fn count_after(&self, id: u64) -> u64 {
        self.bits.get(index(id).saturating_add(1)..).map_or(0, |bits| bits.count_ones() as u64)
    }

    /// The highest `limit` ids, ascending.
    pub(crate) fn newest(&self, limit: usize) -> Vec<u64> {
        let mut newest: Vec<u64> = self.bits.iter_ones().rev().take(limit).map(|index| index as u64).collect();
        newest.reverse();
        newest
    }
}

fn index(id: u64) -> usize {
    usize::try_from(id).expect("event ids count events, which fit into memory")
}
