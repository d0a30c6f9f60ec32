//! A copy-on-write value: clones share it until one of them changes it.

use std::ops::Deref;
use std::sync::Arc;

/// Cheap to clone; changing it copies it if another clone is there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Shared<T>(Arc<T>);

impl<T: Clone> Shared<T> {
    pub fn new(value: T) -> Self {
        Self(Arc::new(value))
    }

    /// Whether both are clones of one value that neither has changed.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The value, to be changed.
    pub fn change(&mut self) -> &mut T {
        Arc::make_mut(&mut self.0)
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}
