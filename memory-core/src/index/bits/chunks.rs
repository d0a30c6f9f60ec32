//! Storage that grows without moving.

use std::sync::Arc;

/// A growing table in chunks of `N` places, shared between a writer and the readers that cloned it.
///
/// A clone reaches the chunks that were there when it was made. The places themselves are atomics or made of atomics: by
/// convention only the writer's own table is stored to, and a reader looks at no place that was not filled when it cloned.
#[derive(Debug)]
pub(in crate::index) struct Chunks<T, const N: usize> {
    chunks: Arc<[Arc<[T; N]>]>,
}

impl<T, const N: usize> Clone for Chunks<T, N> {
    fn clone(&self) -> Self {
        Self { chunks: Arc::clone(&self.chunks) }
    }
}

impl<T, const N: usize> Default for Chunks<T, N> {
    fn default() -> Self {
        Self { chunks: Arc::new([]) }
    }
}

impl<T: Default, const N: usize> Chunks<T, N> {
    /// The place at `index`, which must be below [`Self::capacity`].
    #[inline]
    pub fn get(&self, index: usize) -> &T {
        &self.chunks[index / N][index % N]
    }

    /// How many places there are.
    pub fn capacity(&self) -> usize {
        self.chunks.len() * N
    }

    /// Adds chunks of default places until `index` is one of them.
    pub fn reach(&mut self, index: usize) {
        let missing = (index / N + 1).saturating_sub(self.chunks.len());
        if missing == 0 {
            return;
        }
        let chunk = || {
            let chunk: Arc<[T]> = (0..N).map(|_| T::default()).collect();
            let Ok(chunk) = chunk.try_into() else { unreachable!("N places were collected") };
            chunk
        };
        // The table itself is copied, one pointer a chunk: what is rare may cost that, and reading saves a step.
        self.chunks = self.chunks.iter().cloned().chain(std::iter::repeat_with(chunk).take(missing)).collect();
    }

    /// Bytes of the places.
    pub fn bytes(&self) -> usize {
        self.capacity() * size_of::<T>()
    }
}
