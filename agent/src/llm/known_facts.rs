//! What was read out of events, by event: learning that is repeated, after something was forgotten for instance, then finds the
//! same and asks nobody. What was read out of an event that was forgotten goes with it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use memory_core::Event;
use memory_core::ports::Statement;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::upkeep::create_private;

/// Maximum number of events that are kept. Beyond it, the oldest are dropped and would be asked about again.
const MAX_EVENTS: usize = 20_000;
/// Maximum size of the file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 256 << 20;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Row {
    event: u64,
    /// Sum of what the event says: another memory may have another event of that number.
    sum: String,
    /// Subject, attribute, value, whether it holds.
    facts: Vec<(String, String, String, bool)>,
}

/// The rows of a file.
pub struct KnownFacts {
    path: Option<PathBuf>,
    rows: Mutex<BTreeMap<u64, Row>>,
}

impl KnownFacts {
    /// Opens the facts of the data directory; without one they are kept as long as the program runs.
    pub fn open(data: Option<&Path>) -> Self {
        let path = data.map(|data| data.join("llm-facts.jsonl"));
        let (rows, whole) = path.as_deref().map_or_else(|| (BTreeMap::new(), true), read);
        let known = Self { path, rows: Mutex::new(rows) };
        if !whole {
            // What is left of a line belongs to an event that may be forgotten, and the next line would be added to it.
            known.rewrite(&known.rows.lock());
        }
        known
    }

    /// Returns what was read from an event, if it was.
    pub fn get(&self, event: &Event) -> Option<Vec<Statement>> {
        let rows = self.rows.lock();
        let row = rows.get(&event.id.0).filter(|row| row.sum == sum(event))?;
        let facts = row.facts.iter().cloned();
        Some(facts.map(|(subject, attribute, value, holds)| Statement { subject, attribute, value, holds }).collect())
    }

    /// Keeps what was read out of an event.
    pub fn keep(&self, event: &Event, statements: &[Statement]) {
        let facts =
            statements.iter().map(|one| (one.subject.clone(), one.attribute.clone(), one.value.clone(), one.holds));
        let row = Row { event: event.id.0, sum: sum(event), facts: facts.collect() };
        let line = serde_json::to_string(&row).unwrap_or_default();
        let mut rows = self.rows.lock();
        rows.insert(row.event, row);
        if rows.len() > MAX_EVENTS {
            rows.pop_first();
        }
        self.note(|path| {
            let mut file = match File::options().append(true).open(path) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => create_private(path)?,
                other => other?,
            };
            writeln!(file, "{line}")
        });
    }

    /// Keeps only what is from visible events.
    pub fn retain(&self, is_visible: impl Fn(u64) -> bool) {
        let mut rows = self.rows.lock();
        let before = rows.len();
        rows.retain(|event, _| is_visible(*event));
        if rows.len() == before {
            return;
        }
        self.rewrite(&rows);
    }

    /// Replaces the file. Power loss leaves the old one or the new one; what was forgotten does not come back.
    fn rewrite(&self, rows: &BTreeMap<u64, Row>) {
        let text: String =
            rows.values().filter_map(|row| serde_json::to_string(row).ok()).map(|line| format!("{line}\n")).collect();
        self.note(|path| {
            let part = path.with_extension("part");
            drop(fs::remove_file(&part));
            let mut file = create_private(&part)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&part, path)?;
            File::open(path.parent().unwrap_or(path))?.sync_all()
        });
    }

    fn note(&self, write: impl FnOnce(&Path) -> std::io::Result<()>) {
        if let Some(path) = &self.path
            && let Err(error) = write(path)
        {
            tracing::warn!(file = %path.display(), %error, "what was read out of events cannot be kept");
        }
    }
}

/// The rows of a file, and whether every line is one. An event whose line a kill cut short is asked again.
fn read(path: &Path) -> (BTreeMap<u64, Row>, bool) {
    let Ok(file) = File::open(path) else { return (BTreeMap::new(), true) };
    let (mut rows, mut whole) = (BTreeMap::new(), true);
    for line in BufReader::new(file.take(MAX_FILE_BYTES)).split(b'\n') {
        match line.ok().and_then(|line| serde_json::from_slice::<Row>(&line).ok()) {
            Some(row) => drop(rows.insert(row.event, row)),
            None => whole = false,
        }
    }
    (rows, whole)
}

/// Removes what was read out of events that are not visible any more from the file of the data directory.
pub fn forget_known_facts(data: &Path, is_visible: impl Fn(u64) -> bool) {
    KnownFacts::open(Some(data)).retain(is_visible);
}

fn sum(event: &Event) -> String {
    let mut digest = Sha256::new();
    digest.update(event.entity.as_deref().unwrap_or_default());
    digest.update([0]);
    digest.update(&event.text);
    digest.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::super::facts::tests::event;
    use super::*;

    #[test]
    fn what_was_read_is_known_after_a_restart_until_its_event_is_forgotten() {
        let directory = tempfile::tempdir().unwrap();
        let statement = |value: &str| {
            let (subject, attribute) = ("gate".to_owned(), "state".to_owned());
            vec![Statement { subject, attribute, value: value.to_owned(), holds: true }]
        };
        let (first, second) = (event(1, None, "The gate is open."), event(2, Some("Tom"), "The gate is shut."));
        let known = KnownFacts::open(Some(directory.path()));
        known.keep(&first, &statement("open"));
        known.keep(&second, &statement("shut"));
        let known = KnownFacts::open(Some(directory.path()));
        assert_eq!(known.get(&first), Some(statement("open")));
        assert_eq!(known.get(&event(1, None, "The gate is blue.")), None);
        known.retain(|event| event != 1);
        assert_eq!((known.get(&first), known.get(&second)), (None, Some(statement("shut"))));
        let kept = fs::read_to_string(directory.path().join("llm-facts.jsonl")).unwrap();
        assert!(!kept.contains("open") && kept.contains("shut"), "{kept}");
    }
    #[test]
    fn what_a_kill_left_of_a_line_is_removed_and_harms_no_other_line() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("llm-facts.jsonl");
        let (first, second) = (event(1, None, "The gate is open."), event(2, None, "The lamp is on."));
        KnownFacts::open(Some(directory.path())).keep(&first, &[]);
        let whole = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("{whole}{{\"event\":7,\"facts\":[[\"Anna\",\"sta")).unwrap();
        let known = KnownFacts::open(Some(directory.path()));
        assert_eq!(fs::read_to_string(&path).unwrap(), whole);
        known.keep(&second, &[]);
        let known = KnownFacts::open(Some(directory.path()));
        assert_eq!((known.get(&first), known.get(&second)), (Some(vec![]), Some(vec![])));

        forget_known_facts(directory.path(), |event| event == 2);
        let known = KnownFacts::open(Some(directory.path()));
        assert_eq!((known.get(&first), known.get(&second)), (None, Some(vec![])));
    }
}
