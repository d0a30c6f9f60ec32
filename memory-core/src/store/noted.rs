//! A table that records written keys, for a compaction that copies while the writer continues.

use std::borrow::Borrow;
use std::ops::{Deref, RangeBounds};

use redb::{AccessGuard, Key, Table, TableDefinition, TableHandle, Value};

use super::database::ChangedKeys;

/// A table open for writing. Reading goes to the table itself.
pub(crate) struct Noted<'t, K: Key + 'static, V: Value + 'static> {
    definition: TableDefinition<'static, K, V>,
    table: Table<'t, K, V>,
    changed: Option<&'t ChangedKeys>,
}

impl<'t, K: Key + 'static, V: Value + 'static> Noted<'t, K, V> {
    pub(crate) fn new(
        definition: TableDefinition<'static, K, V>,
        table: Table<'t, K, V>,
        changed: Option<&'t ChangedKeys>,
    ) -> Self {
        Self { definition, table, changed }
    }

    fn note(&self, key: &K::SelfType<'_>) {
        if let Some(changed) = self.changed {
            changed.note(self.definition.name(), K::as_bytes(key).as_ref());
        }
    }

    /// Puts a row in, and gives back the one that was in its place.
    pub(crate) fn insert<'k, 'v>(
        &mut self,
        key: impl Borrow<K::SelfType<'k>>,
        value: impl Borrow<V::SelfType<'v>>,
    ) -> redb::Result<Option<AccessGuard<'_, V>>> {
        self.note(key.borrow());
        self.table.insert(key, value)
    }

    /// Takes a row out.
    pub(crate) fn remove<'k>(&mut self, key: impl Borrow<K::SelfType<'k>>) -> redb::Result<Option<AccessGuard<'_, V>>> {
        self.note(key.borrow());
        self.table.remove(key)
    }

    /// Takes every row of a range out.
    pub(crate) fn remove_range<'k, B: Borrow<K::SelfType<'k>> + 'k>(
        &mut self,
        range: impl RangeBounds<B> + Clone + 'k,
    ) -> redb::Result<()> {
        let changed = self.changed;
        let name = self.definition.name();
        self.table.retain_in(range, |key, _| {
            if let Some(changed) = changed {
                changed.note(name, K::as_bytes(&key).as_ref());
            }
            false
        })
    }
}

impl<'t, K: Key + 'static, V: Value + 'static> Deref for Noted<'t, K, V> {
    type Target = Table<'t, K, V>;

    fn deref(&self) -> &Table<'t, K, V> {
        &self.table
    }
}
