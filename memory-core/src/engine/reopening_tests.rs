//! Reads while the database is reopened, again and again, because the disk refuses writes.

use std::cell::Cell;
use std::io;
use std::sync::Arc;

use super::handle::Engine;
use crate::engine::test_bench;
use crate::store::fault::FaultStorage;
use crate::{ManualClock, MemoryOptions, Observation, ReadError, Timestamp, Told};

fn told(text: &str) -> Vec<Observation> {
    vec![Observation::Told(Told { text: text.into(), source: "asr".into(), ..Told::default() })]
}

fn open(storage: &FaultStorage) -> Engine {
    let options = MemoryOptions {
        // Every page is read from the disk, so that a reader notices.
        cache_bytes: 1,
        ..test_bench::options()
    };
    let clock = Arc::new(ManualClock::at(Timestamp::from_micros(1_795_161_600_000_000)));
    Engine::open(Arc::new(storage.clone()), options, clock).unwrap()
}

#[test]
fn a_read_is_repeated_as_often_as_the_database_is_reopened_under_it() {
    let storage = FaultStorage::new();
    let store = open(&storage);
    store.observe(told("before")).unwrap();
    storage.fail_after(0, io::ErrorKind::StorageFull);
    let reads = Cell::new(0);
    let events = store.reading(|view| {
        reads.set(reads.get() + 1);
        // A job or a sender tries to write while this reader is at work.
        if reads.get() <= 5 {
            store.observe(told("refused")).unwrap_err();
        }
        view.list_events(None, 9).map_err(ReadError::from)
    });
    assert_eq!(events.unwrap().len(), 1, "after {} reads", reads.get());
    assert_eq!(reads.get(), 6, "the reads were interrupted: without that, nothing was tested");

    // A read that fails by itself is not repeated.
    reads.set(0);
    let failed = store.reading(|_| {
        reads.set(reads.get() + 1);
        Err::<(), _>(ReadError::Store("damaged".into()))
    });
    assert!(failed.is_err());
    assert_eq!(reads.get(), 1);
}

#[test]
fn a_read_between_a_failed_write_and_what_its_writer_does_about_it_succeeds() {
    let storage = FaultStorage::new();
    let store = open(&storage);
    store.observe(told("before")).unwrap();
    let transaction = store.database.write().unwrap();
    transaction.open_table(crate::store::tables::META).unwrap().insert("a key", b"a value".as_slice()).unwrap();
    storage.fail_after(0, io::ErrorKind::StorageFull);
    transaction.commit().unwrap_err();
    let read = || store.reading(|view| view.list_events(None, 9).map_err(ReadError::from));
    for _ in 0..2 {
        assert_eq!(read().unwrap().len(), 1);
    }
    assert_eq!(store.database.openings(), 1, "opened again once: a full disk can be read");
}

#[test]
fn a_disk_that_could_not_be_read_for_a_while_is_read_again_without_a_write() {
    let storage = FaultStorage::new();
    let store = open(&storage);
    store.observe(told("before")).unwrap();
    let read = || store.reading(|view| view.list_events(None, 9).map_err(ReadError::from));
    assert_eq!(read().unwrap().len(), 1);
    storage.set_unreadable(true);
    for _ in 0..3 {
        assert!(matches!(read(), Err(ReadError::Store(_))));
    }
    storage.set_unreadable(false);
    assert_eq!(read().unwrap().len(), 1);
    store.observe(told("after")).unwrap();
    assert_eq!(read().unwrap().len(), 2);
}
