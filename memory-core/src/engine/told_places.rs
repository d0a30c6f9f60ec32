//! What is told of places without a position: their new names, and names that somebody says where no pose is known. Rows
//! `place <event>` of the table `meta`.

use redb::{ReadTransaction, ReadableTable};
use serde::{Deserialize, Serialize};

use super::draft::Draft;
use crate::index::Rename;
use crate::language::english::space::{named_place, renamed_place};
use crate::store::envelope::{self, RecordType};
use crate::store::event_set::EventSet;
use crate::store::failure::{Failure, Result};
use crate::store::records::{EventBody, decode_attributes};
use crate::store::tables::{self, META, ReadTables};
use crate::{EventId, Kind, TimeSpan, Timestamp, Value};

pub(crate) const PLACE_ROW: RecordType = RecordType { table: "meta", tag: 14, version: 1 };
/// Attribute with the old name of a place; `place` has the new one.
pub(super) const RENAMES: &str = "renames";
/// Prefix of the keys; the number of the event follows.
const KEY_PREFIX: &str = "place ";
/// Upper bound of all keys with the prefix.
const KEY_END: &str = "place~";

/// A row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PlaceRow {
    event: u64,
    /// Begin and end.
    at: (i64, i64),
    /// The name before; `None` where a place is named and none renamed.
    old: Option<String>,
    name: String,
}

/// What an event tells about a place.
pub(super) struct ToldPlace {
    at: (i64, i64),
    old: Option<String>,
    name: String,
}

impl ToldPlace {
    /// By the attributes of an event, or by its words: "The workshop is called the lab now." With a pose, what is named draws the
    /// map instead.
    pub(super) fn from_event(body: &EventBody, posed: bool) -> Option<Self> {
        let attributes = decode_attributes(body.attributes.as_deref()).ok()?;
        let text = |name: &str| {
            let text = attributes.get(name).and_then(Value::as_text).map(str::trim)?;
            (!text.is_empty()).then(|| text.to_owned())
        };
        let told = |old: Option<String>, name: String| Self { at: (body.start, body.end), old, name };
        if let Some(old) = text(RENAMES) {
            return Some(told(Some(old), text("place")?));
        }
        if body.kind != Kind::Text {
            return None;
        }
        if let Some((old, name)) = renamed_place(&body.text) {
            return Some(told(Some(old), name));
        }
        // The attribute is found in its own table.
        let named = || named_place(&body.text).filter(|_| !attributes.contains_key("place"));
        (!posed).then(named).flatten().map(|name| told(None, name))
    }
}

fn key(event: u64) -> String {
    format!("{KEY_PREFIX}{event:020}")
}

impl Draft<'_> {
    /// Keeps what a new event tells of a place.
    pub(super) fn put_place(&mut self, event: u64, told: Option<ToldPlace>) -> Result<()> {
        let Some(ToldPlace { at, old, name }) = told else { return Ok(()) };
        let (key, row) = (key(event), PlaceRow { event, at, old, name });
        self.tables.meta.insert(key.as_str(), envelope::seal(PLACE_ROW, key.as_bytes(), &row).as_slice())?;
        self.changes.renamed.extend(row.into_rename());
        Ok(())
    }

    /// Takes back what an event tells of a place and says how long its row was.
    pub(super) fn remove_place(&mut self, event: u64) -> Result<usize> {
        let key = key(event);
        if self.tables.meta.get(key.as_str())?.is_none() {
            return Ok(0);
        }
        self.changes.unrenamed.push(EventId(event));
        Ok(self.tables.meta.remove(key.as_str())?.map_or(0, |row| row.value().len()))
    }
}

impl PlaceRow {
    fn into_rename(self) -> Option<Rename> {
        let Self { event, at, old, name } = self;
        Some(Rename { event: EventId(event), at: Timestamp::from_micros(at.0), old: old?, new: name })
    }
}

/// Calls `visit` with every row, in order of events.
fn for_each(
    meta: &impl ReadableTable<&'static str, &'static [u8]>,
    visit: &mut dyn FnMut(Result<PlaceRow>),
) -> Result<()> {
    for entry in meta.range(KEY_PREFIX..KEY_END)? {
        let (key, value) = entry?;
        let key = key.value();
        visit(
            envelope::open(PLACE_ROW, key.as_bytes(), value.value())
                .map_err(|detail| Failure::damaged(PLACE_ROW.table, key, detail)),
        );
    }
    Ok(())
}

impl ReadTables {
    /// Names that somebody says where no pose is known, with their times.
    pub(super) fn spoken_names(&self) -> Result<Vec<(String, TimeSpan)>> {
        let mut rows = Vec::new();
        for_each(&self.meta, &mut |row| {
            // `check` names what is damaged.
            rows.extend(row.ok().filter(|row| row.old.is_none()));
        })?;
        let mut found = Vec::new();
        for PlaceRow { event, at: (start, end), name, .. } in rows {
            // An older version that hides an event leaves the row behind.
            if self.live_event(event)?.is_some() {
                found.push((name, TimeSpan::new(Timestamp::from_micros(start), Timestamp::from_micros(end))));
            }
        }
        Ok(found)
    }
}

/// The renames that visible events say.
pub(super) fn renames(transaction: &ReadTransaction, live: &EventSet) -> Result<Vec<Rename>> {
    let mut found = Vec::new();
    for_each(&transaction.open_table(META)?, &mut |row| match row {
        Ok(row) if live.contains(row.event) => found.extend(row.into_rename()),
        Ok(_) => {}
        Err(failure) => {
            tracing::error!(
                problem = tables::describe(failure),
                "a name of a place is damaged and left out; run `engram check`"
            );
        }
    })?;
    Ok(found)
}

/// Verifies every row and says what is wrong.
pub(super) fn check(
    transaction: &ReadTransaction,
    is_visible: &dyn Fn(u64) -> bool,
    problem: &mut dyn FnMut(String),
) -> Result<()> {
    for_each(&transaction.open_table(META)?, &mut |row| match row {
        Ok(row) if !is_visible(row.event) => {
            problem(format!("the place that event {} tells: it is not visible", row.event))
        }
        Ok(_) => {}
        Err(failure) => problem(tables::describe(failure)),
    })?;
    Ok(())
}
