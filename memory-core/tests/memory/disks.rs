//! A disk that became read-only, and one on which a sync takes long.

use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use memory_core::store::fault::FaultStorage;
use memory_core::store::{Blob, MemoryStorage, Storage};
use memory_core::{Observation, ObserveError, Query};
use redb::StorageBackend;

use crate::crash::{open, visible};
use crate::support::{keyed, told};

#[test]
fn a_file_system_that_became_read_only_refuses_still_answers_and_goes_on_when_it_is_writable() {
    let storage = FaultStorage::new();
    let memory = open(storage.clone());
    memory.observe(vec![Observation::Told(keyed("a", "The rake is in the shed.", 0))]).unwrap();
    let before = visible(&memory);
    storage.fail_after(0, io::ErrorKind::ReadOnlyFilesystem);
    for _ in 0..3 {
        let error = memory.observe(vec![Observation::Told(told("x"))]).unwrap_err();
        assert!(matches!(error, ObserveError::Store(_)), "{error}");
        assert_eq!(visible(&memory), before);
        let query = Query { question: "Where is the rake?".into(), ..Query::default() };
        assert!(!memory.ask(&query).unwrap().evidence.is_empty());
    }
    storage.heal();
    memory.observe(vec![Observation::Told(told("x"))]).unwrap();
    assert_eq!(memory.events(None, 9).unwrap().len(), 2);
    assert_eq!(memory.check().unwrap().problems, Vec::<String>::new());
}

#[test]
fn a_disk_error_at_any_operation_of_a_restore_keeps_the_present_memory_or_the_restored_one() {
    let other = open(MemoryStorage::new());
    other.observe(vec![Observation::Told(keyed("r", "from the backup", 5))]).unwrap();
    let mut file = Vec::new();
    other.backup(&mut file).unwrap();
    for error in [io::ErrorKind::Other, io::ErrorKind::ReadOnlyFilesystem] {
        for operations in 0..60 {
            let storage = FaultStorage::new();
            let memory = open(storage.clone());
            memory.observe(vec![Observation::Told(keyed("a", "present", 0))]).unwrap();
            storage.fail_after(operations, error);
            let restored = memory.restore(&mut file.as_slice(), true).is_ok();
            storage.heal();
            let texts: Vec<_> = memory.events(None, 9).unwrap().into_iter().map(|event| event.text).collect();
            assert!(
                texts == ["from the backup"] || texts == ["present"] && !restored,
                "{error} {operations}: {texts:?}"
            );
            memory.observe(vec![Observation::Told(told("x"))]).unwrap();
            assert_eq!(memory.check().unwrap().problems, Vec::<String>::new(), "{error} after {operations} operations");
        }
    }
}

/// A disk whose syncs wait for the test while it is slow.
struct SlowStorage {
    disk: MemoryStorage,
    gate: Arc<Gate>,
}

#[derive(Debug)]
struct Gate {
    slow: AtomicBool,
    begun: SyncSender<()>,
    end: parking_lot::Mutex<Receiver<()>>,
}

#[derive(Debug)]
struct SlowFile(Box<dyn StorageBackend>, Arc<Gate>);

impl StorageBackend for SlowFile {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }
    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read(offset, out)
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }
    fn sync_data(&self) -> io::Result<()> {
        if self.1.slow.swap(false, Ordering::SeqCst) {
            self.1.begun.send(()).map_err(io::Error::other)?;
            self.1.end.lock().recv().map_err(io::Error::other)?;
        }
        self.0.sync_data()
    }
    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write(offset, data)
    }
    fn close(&self) -> io::Result<()> {
        self.0.close()
    }
}

impl Storage for SlowStorage {
    fn path(&self) -> PathBuf {
        self.disk.path()
    }
    fn lock(&self) -> io::Result<Box<dyn Send + Sync>> {
        self.disk.lock()
    }
    fn names(&self) -> io::Result<Vec<String>> {
        self.disk.names()
    }
    fn open(&self, name: &str, create: bool) -> io::Result<Box<dyn StorageBackend>> {
        Ok(Box::new(SlowFile(self.disk.open(name, create)?, Arc::clone(&self.gate))))
    }
    fn reader(&self, name: &str) -> io::Result<Box<dyn Read + Send>> {
        self.disk.reader(name)
    }
    fn create(&self, name: &str) -> io::Result<Box<dyn Blob>> {
        self.disk.create(name)
    }
    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.disk.rename(from, to)
    }
    fn remove(&self, name: &str) -> io::Result<()> {
        self.disk.remove(name)
    }
    fn sync(&self) -> io::Result<()> {
        self.disk.sync()
    }
    fn disk_bytes(&self, name: &str) -> io::Result<u64> {
        self.disk.disk_bytes(name)
    }
}

#[test]
fn while_a_commit_waits_for_a_slow_disk_questions_and_listings_are_answered() {
    let (begun, begins) = sync_channel(1);
    let (release, end) = sync_channel(1);
    let gate = Arc::new(Gate { slow: AtomicBool::new(false), begun, end: parking_lot::Mutex::new(end) });
    let memory = open(SlowStorage { disk: MemoryStorage::new(), gate: Arc::clone(&gate) });
    memory.observe(vec![Observation::Told(keyed("a", "The rake is in the shed.", 0))]).unwrap();
    let before = visible(&memory);
    std::thread::scope(|scope| {
        gate.slow.store(true, Ordering::SeqCst);
        let commit = scope.spawn(|| memory.observe(vec![Observation::Told(keyed("b", "The hoe is there too.", 1))]));
        begins.recv_timeout(Duration::from_secs(60)).unwrap();
        // In a thread of its own, so that one that waits for the commit fails the test instead of hanging it.
        let (answered, answers) = sync_channel(1);
        let memory = &memory;
        scope.spawn(move || {
            let query = Query { question: "Where is the rake?".into(), ..Query::default() };
            answered.send((memory.ask(&query).unwrap(), visible(memory))).ok();
        });
        let answered = answers.recv_timeout(Duration::from_secs(60));
        let acknowledged_early = commit.is_finished();
        release.send(()).unwrap();
        commit.join().unwrap().unwrap();
        let (answer, seen) = answered.expect("readers do not wait for a commit");
        assert!(!answer.evidence.is_empty());
        assert_eq!(seen, before, "what is not durable is not shown");
        assert!(!acknowledged_early);
    });
    assert_eq!(memory.events(None, 9).unwrap().len(), 2);
}
