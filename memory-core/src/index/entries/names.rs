//! Sources and entities by number.

use std::collections::HashMap;
use std::sync::Arc;

/// Things met, numbered from 0 in order of appearance; clones are states.
#[derive(Debug, Clone, Default)]
pub(in crate::index) struct Names<T> {
    numbered: Arc<Vec<T>>,
}

/// Hashes of the sources' names.
pub(in crate::index) type SourceNames = Names<u64>;
/// Hash of an entity's name, and of its first word if it has several.
pub(in crate::index) type EntityNames = Names<(u64, Option<u64>)>;

impl<T: Copy + Eq + std::hash::Hash> Names<T> {
    /// Names in the order of their numbers.
    pub fn new(numbered: Vec<T>) -> Self {
        Self { numbered: Arc::new(numbered) }
    }

    /// All of them in the order of their numbers.
    pub fn all(&self) -> &[T] {
        &self.numbered
    }

    /// Returns the map from which the writer looks numbers up.
    pub fn numbers(&self) -> HashMap<T, u32> {
        self.numbered.iter().copied().zip(0..).collect()
    }

    /// The number of a name; `known` is the writer's.
    pub fn number(&mut self, known: &mut HashMap<T, u32>, name: T) -> u32 {
        *known.entry(name).or_insert_with(|| {
            let number = u32::try_from(self.numbered.len()).expect("fewer names than documents");
            Arc::make_mut(&mut self.numbered).push(name);
            number
        })
    }

    /// Bytes that they take.
    pub fn bytes(&self) -> usize {
        self.numbered.len() * size_of::<T>()
    }
}
