//! Reading, settings, identity of the store.

use std::sync::Arc;

use memory_core::store::{DirStorage, FILE_NAME, MemoryStorage, Storage};
use memory_core::{EventId, ManualClock, Memory, OpenError, Told};

use crate::support::{Bench, accepted, at, open_on, options, told, told_at};

#[test]
fn entities_come_with_their_counts_most_frequent_first() {
    let bench = Bench::new();
    for (entity, second) in [("Anna", 5), ("anna", 1), ("Ben", 2), ("ANNA", 9)] {
        accepted(bench.tell(Told { entity: Some(entity.into()), ..told_at("x", second) }));
    }
    let entities = bench.memory.entities(10).unwrap();
    assert_eq!(entities.len(), 2);
    assert_eq!((entities[0].name.as_str(), entities[0].events), ("Anna", 3));
    assert_eq!((entities[0].span.start, entities[0].span.end), (at(1), at(9)));
    assert_eq!(bench.memory.entities(1).unwrap().len(), 1);
    assert_eq!(bench.memory.stats().entities, 2);
}

#[test]
fn events_are_read_on_from_where_one_stopped() {
    let bench = Bench::new();
    for text in ["a", "b", "c"] {
        accepted(bench.tell(told(text)));
    }
    let first = bench.memory.events(None, 2).unwrap();
    assert_eq!(first.len(), 2);
    let rest = bench.memory.events(Some(first[1].id), 9).unwrap();
    assert_eq!(rest.iter().map(|event| event.text.as_str()).collect::<Vec<_>>(), ["c"]);
    assert_eq!(bench.memory.events(Some(EventId(u64::MAX)), 9).unwrap(), []);
}

#[test]
fn the_instance_is_random_and_stays() {
    let mut bench = Bench::new();
    let instance = bench.memory.instance().to_owned();
    assert_eq!(instance.len(), 16);
    bench.reopen();
    assert_eq!(bench.memory.instance(), instance);
    assert_ne!(Bench::new().memory.instance(), instance);
}

#[test]
fn settings_survive() {
    let mut bench = Bench::new();
    assert_eq!(bench.memory.setting("recording").unwrap(), None);
    bench.memory.set_setting("recording", "paused").unwrap();
    bench.kill();
    assert_eq!(bench.memory.setting("recording").unwrap().as_deref(), Some("paused"));
    bench.assert_clean();
}

#[test]
fn a_directory_is_made_for_its_owner_only_and_used_by_one_at_a_time() {
    use std::os::unix::fs::PermissionsExt;
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("state").join("memory");
    let storage = Arc::new(DirStorage::new(&dir));
    let clock = Arc::new(ManualClock::at(at(0)));
    let memory = open_on(Arc::<DirStorage>::clone(&storage), &clock);
    memory.observe(vec![memory_core::Observation::Told(told("hello"))]).unwrap();
    assert_eq!(std::fs::metadata(&dir).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(std::fs::metadata(dir.join(FILE_NAME)).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(memory.stats().disk_bytes > 0);

    let second = Memory::open_in(Arc::<DirStorage>::clone(&storage), options(), Arc::<ManualClock>::clone(&clock));
    assert!(matches!(second.err(), Some(OpenError::InUse { path }) if path == storage.path()));
    drop(memory);
    assert_eq!(open_on(storage, &clock).stats().events, 1);
}

#[test]
fn a_file_that_is_no_store_is_refused_and_left_alone() {
    let parent = tempfile::tempdir().unwrap();
    let text = "this is a shopping list, and it is long enough to be mistaken for something else".repeat(100);
    std::fs::write(parent.path().join(FILE_NAME), &text).unwrap();
    let clock = Arc::new(ManualClock::at(at(0)));
    let opened = Memory::open_in(Arc::new(DirStorage::new(parent.path())), options(), clock);
    assert!(matches!(opened.err(), Some(OpenError::Damaged { .. })));
    assert_eq!(std::fs::read_to_string(parent.path().join(FILE_NAME)).unwrap(), text);
}

#[test]
fn a_directory_that_cannot_be_made_says_which() {
    let parent = tempfile::tempdir().unwrap();
    std::fs::write(parent.path().join("file"), "").unwrap();
    let storage = DirStorage::new(parent.path().join("file").join("memory"));
    let opened = Memory::open_in(Arc::new(storage), options(), Arc::new(ManualClock::at(at(0))));
    let error = opened.err().unwrap();
    assert!(matches!(error, OpenError::Io { .. }) && error.to_string().contains("memory"), "{error}");
}

#[test]
fn a_ceiling_refuses_and_says_so() {
    let storage = MemoryStorage::new();
    let clock = Arc::new(ManualClock::at(at(0)));
    let limited = memory_core::MemoryOptions { max_bytes: Some(1000), ..options() };
    let memory = Memory::open_in(Arc::new(storage), limited, clock).unwrap();
    let error = memory.observe(vec![memory_core::Observation::Told(told("hello"))]).unwrap_err();
    assert!(matches!(&error, memory_core::ObserveError::StorageFull(message) if message.contains("1000")), "{error}");
    assert_eq!(memory.stats().events, 0);
}
