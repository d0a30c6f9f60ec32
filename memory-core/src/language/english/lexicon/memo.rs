//! A cache of look-ups. The table never changes, so results stay valid.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

/// Results by key, for one thread. A full cache is cleared.
pub(crate) struct Memo<K, V> {
    known: HashMap<K, V>,
    most: usize,
}

impl<K: Hash + Eq, V: Clone> Memo<K, V> {
    pub fn new(most: usize) -> Self {
        Self { known: HashMap::new(), most }
    }

    /// Returns the result for a key, computed by `make` if it is missing.
    pub fn get_or_insert_with<Q>(&mut self, key: &Q, make: impl FnOnce() -> V) -> V
    where
        K: Borrow<Q> + for<'a> From<&'a Q>,
        Q: Hash + Eq + ?Sized,
    {
        if let Some(value) = self.known.get(key) {
            return value.clone();
        }
        let value = make();
        if self.known.len() >= self.most {
            self.known.clear();
        }
        self.known.insert(K::from(key), value.clone());
        value
    }
}
