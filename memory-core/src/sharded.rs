//! A map whose clones share unchanged shards.
//!
//! Readers hold a clone while the writer continues. A change copies one shard of a thousand, not the whole map.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Shards of a map.
const SHARDS: usize = 1024;

/// Says which shard a key belongs to; equal for all keys that are read as one range.
pub(crate) trait Spread: Ord + Clone {
    /// A number that is the same on every machine.
    fn spread(&self) -> u64;
}

/// FNV-1a.
pub(crate) fn spread_bytes(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

impl Spread for String {
    fn spread(&self) -> u64 {
        spread_bytes(self.as_bytes())
    }
}

impl Spread for u64 {
    fn spread(&self) -> u64 {
        *self
    }
}

/// A sorted map in shards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sharded<K: Ord, V> {
    shards: Vec<Arc<BTreeMap<K, V>>>,
}

impl<K: Spread, V: Clone> Default for Sharded<K, V> {
    fn default() -> Self {
        Self { shards: (0..SHARDS).map(|_| Arc::default()).collect() }
    }
}

impl<K: Spread, V: Clone> Sharded<K, V> {
    pub fn get(&self, key: &K) -> Option<&V> {
        self.shard(key.spread()).get(key)
    }

    /// The shard of every key that spreads to `spread`.
    pub fn shard(&self, spread: u64) -> &BTreeMap<K, V> {
        &self.shards[index(spread)]
    }

    pub fn shard_mut(&mut self, spread: u64) -> &mut BTreeMap<K, V> {
        Arc::make_mut(&mut self.shards[index(spread)])
    }

    pub fn insert(&mut self, key: K, value: V) {
        self.shard_mut(key.spread()).insert(key, value);
    }

    pub fn remove(&mut self, key: &K) -> Option<V> {
        // A shard that does not have it is not copied.
        self.get(key)?;
        self.shard_mut(key.spread()).remove(key)
    }

    pub fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.len()).sum()
    }

    /// The shards, each sorted.
    pub fn shards(&self) -> impl Iterator<Item = &BTreeMap<K, V>> {
        self.shards.iter().map(|shard| &**shard)
    }

    /// The shards of the keys that spread to these numbers, each once.
    pub fn shards_of(&self, spreads: impl Iterator<Item = u64>) -> impl Iterator<Item = &BTreeMap<K, V>> {
        let places: BTreeSet<usize> = spreads.map(index).collect();
        places.into_iter().map(|place| &*self.shards[place])
    }

    /// Everything, shard by shard: the order is always the same, and not that of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.shards.iter().flat_map(|shard| shard.iter())
    }
}

fn index(spread: u64) -> usize {
    usize::try_from(spread % SHARDS as u64).expect("less than the number of shards")
}
