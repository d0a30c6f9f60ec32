//! The table `changes`: what changed since the index was saved.
//!
//! A row is written in the transaction of its change. So a saved index and the rows after its own give the current index. Rows
//! hold numbers and hashes, and no content.

use std::collections::BTreeMap;

use redb::{ReadTransaction, ReadableTable};

use super::draft::Changes;
use crate::sharded::spread_bytes;
use crate::store::failure::{Failure, Result};
use crate::store::noted::Noted;
use crate::store::records::{CHANGE, Change};
use crate::store::tables::{self, CHANGES};
use crate::words::fold_name;

/// Maximum number of events in one row; keeps the row far below the longest payload.
const MAX_ROW_EVENTS: usize = 16_384;

type ChangeTable<'t> = Noted<'t, u64, &'static [u8]>;

/// Appends a row and says its number; the first one is 1.
pub(crate) fn push(table: &mut ChangeTable<'_>, change: &Change) -> Result<u64> {
    let number = table.last()?.map_or(1, |(key, _)| key.value() + 1);
    table.insert(number, tables::seal_numbered(CHANGE, number, change).as_slice())?;
    Ok(number)
}

/// Notes what a transaction does to events that a saved index may hold.
pub(crate) fn note(table: &mut ChangeTable<'_>, changes: &Changes) -> Result<()> {
    let hidden: Vec<(u64, u64)> =
        changes.hidden.iter().map(|event| event.0).zip(changes.hidden_entities.iter().copied()).collect();
    let moved: Vec<(u64, u64)> = changes.moved.iter().map(|(event, episode)| (event.0, episode.0)).collect();
    for moved in moved.chunks(MAX_ROW_EVENTS) {
        push(table, &Change::Events { hidden: Vec::new(), moved: moved.to_vec() })?;
    }
    for hidden in hidden.chunks(MAX_ROW_EVENTS) {
        push(table, &Change::Events { hidden: hidden.to_vec(), moved: Vec::new() })?;
    }
    Ok(())
}

/// Removes the rows before `first`, which no saved index needs any more.
pub(crate) fn prune(table: &mut ChangeTable<'_>, first: u64) -> Result<()> {
    table.remove_range(0..first)?;
    Ok(())
}

/// The row `number` and those after it, in order.
pub(crate) fn since(transaction: &ReadTransaction, number: u64) -> Result<Vec<Change>> {
    let table = match transaction.open_table(CHANGES) {
        Ok(table) => table,
        Err(redb::TableError::TableDoesNotExist(_)) => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let mut changes = Vec::new();
    for (entry, expected) in table.range(number..)?.zip(number..) {
        let (key, value) = entry?;
        if key.value() != expected {
            return Err(Failure::damaged(CHANGE.table, expected, "missing"));
        }
        changes.push(tables::open_numbered(CHANGE, expected, value.value())?);
    }
    Ok(changes)
}

/// Returns the code of an entity's name in a row; 0 for none.
pub(crate) fn entity_hash(entity: Option<&str>) -> u64 {
    entity.map_or(0, |name| hash_of(&fold_name(name)))
}

/// Takes one event of the entity with this hash from the counts.
pub(crate) fn count_out(entities: &mut BTreeMap<String, u64>, hash: u64, names: &BTreeMap<u64, String>) {
    if let Some(name) = names.get(&hash)
        && let Some(count) = entities.get_mut(name)
    {
        *count = count.saturating_sub(1);
        if *count == 0 {
            entities.remove(name);
        }
    }
}

/// Hash of a folded name.
pub(crate) fn hash_of(folded: &str) -> u64 {
    spread_bytes(folded.as_bytes()).max(1)
}
