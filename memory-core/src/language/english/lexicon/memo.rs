//! What was looked up before: the table never changes, so neither does what it says of a word.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

/// Results by key, for one thread. When it is full it is emptied: what is asked for again comes back.
pub(crate) struct Memo<K, V> {
    known: HashMap<K, V>,
    most: usize,
}

impl<K: Hash + Eq, V: Clone> Memo<K, V> {
    pub fn new(most: usize) -> Self {
        Self { known: HashMap::new(), most }
    }

    /// The result for a key; `make` gives one that is not known.
    pub fn get<Q>(&mut self, key: &Q, make: impl FnOnce() -> V) -> V
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
