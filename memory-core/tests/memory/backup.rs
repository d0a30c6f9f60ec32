//! Backup and restoring.

use memory_core::store::fault::FaultStorage;
use memory_core::store::{Image, MemoryStorage};
use memory_core::{ForgetRequest, MaintenanceError, Memory, Observation};

use crate::crash::{images, open, script, visible};
use crate::embeddings::LetterCounts;
use crate::support::{Bench, accepted, keyed, told};

fn scripted() -> (Memory, Vec<u8>) {
    let memory = open(MemoryStorage::new());
    for step in script() {
        step(&memory);
    }
    memory.observe(vec![Observation::Told(keyed("gone", "a xylophone", 1))]).unwrap();
    let last = memory.stats().events;
    assert!(last > 100);
    memory
        .forget(&ForgetRequest::Span(memory_core::TimeSpan::new(crate::support::at(1), crate::support::at(1))))
        .unwrap();
    let mut file = Vec::new();
    let reply = memory.backup(&mut file).unwrap();
    assert_eq!(reply.events, memory.stats().events);
    (memory, file)
}

fn tell(memory: &Memory, id: &str) {
    memory.observe(vec![Observation::Told(keyed(id, "a line", 7_000))]).unwrap();
}

#[test]
fn a_restored_memory_is_the_one_that_was_backed_up_without_what_was_forgotten() {
    let (memory, file) = scripted();
    assert!(!file.windows(9).any(|window| window == b"xylophone"));
    let storage = MemoryStorage::new();
    let restored = open(storage.clone());
    let reply = restored.restore(&mut file.as_slice(), false).unwrap();
    assert_eq!((reply.events, reply.seq), (memory.stats().events, memory.stats().seq));
    assert_eq!(visible(&restored), visible(&memory).with_recording(None));
    assert_eq!(restored.check().unwrap().problems, Vec::<String>::new());
    tell(&restored, "next");
    let told = visible(&restored);
    let id = memory.instance().to_owned();
    drop(restored);
    let reopened = open(storage);
    assert_eq!(visible(&reopened), told);
    assert_eq!(reopened.instance(), id, "on another machine it is the same memory");
}

#[test]
fn restoring_replaces_what_is_there_and_keeps_its_id() {
    let (memory, file) = scripted();
    let storage = MemoryStorage::new();
    let other = open(storage.clone());
    tell(&other, "what was there before");
    let id = other.instance().to_owned();
    other.restore(&mut file.as_slice(), true).unwrap();
    assert_eq!(visible(&other), visible(&memory).with_recording(None));
    drop(other);
    let other = open(storage.clone());
    assert_eq!(other.instance(), id);
    assert_eq!(visible(&other), visible(&memory).with_recording(None));
    assert!(!storage.image().contains(b"what was there before"));
    let generations = storage.image().files.into_keys().filter(|name| name.ends_with(".redb")).count();
    assert_eq!(generations, 1);
}

#[test]
fn a_file_that_is_no_whole_backup_is_refused_and_the_memory_stays() {
    let (_, file) = scripted();
    let storage = MemoryStorage::new();
    let memory = open(storage.clone());
    tell(&memory, "present");
    let before = visible(&memory);
    let refuse = |bytes: &[u8], says: &str| {
        let error = memory.restore(&mut &*bytes, true).unwrap_err();
        assert!(matches!(error, MaintenanceError::Unusable(_)), "{error}");
        assert!(error.to_string().contains(says) && error.to_string().contains("nothing was changed"), "{error}");
        assert_eq!(visible(&memory), before);
        assert_eq!(storage.image().files.len(), 1, "nothing is left of it: {:?}", storage.image().files.keys());
    };
    refuse(b"", "no backup of engram");
    refuse(b"a shopping list, long enough to be one", "no backup of engram");
    for cut in (0..file.len()).step_by(file.len() / 23 + 1).skip(1) {
        refuse(&file[..cut], "cut off");
    }
    for at in (40..file.len()).step_by(file.len() / 23 + 1) {
        let mut flipped = file.clone();
        flipped[at] ^= 4;
        refuse(&flipped, "damaged");
    }
    let mut newer = file.clone();
    newer[8] += 1;
    refuse(&newer, "");
    memory.restore(&mut file.as_slice(), true).unwrap();
}

#[test]
fn power_loss_at_any_sync_of_a_restoring_leaves_the_old_memory_or_the_new_one() {
    let (restored, file) = scripted();
    let mut initial = Image::default();
    {
        let storage = MemoryStorage::new();
        let memory = open(storage.clone());
        tell(&memory, "present");
        drop(memory);
        initial.clone_from(&storage.image());
    }
    let storage = FaultStorage::from_image(initial);
    let memory = open(storage.clone());
    let (before, after) = (visible(&memory), visible(&restored).with_recording(None));
    memory.restore(&mut file.as_slice(), true).unwrap();
    let done = storage.operations();
    drop(memory);
    storage.for_each_power_cut(|cut| {
        for (what, image) in images(cut) {
            let memory = open(MemoryStorage::from_image(image));
            let found = visible(&memory);
            let context = format!("after {} of {done} operations, where {what}", cut.operations);
            assert!(found == after || found == before && cut.operations < done, "{context}");
            assert_eq!(memory.check().unwrap().problems, Vec::<String>::new(), "{context}");
        }
    });
}

#[test]
fn a_disk_that_fails_while_restoring_keeps_the_present_memory() {
    let (_, file) = scripted();
    for operations in (0..400).step_by(7) {
        let storage = FaultStorage::new();
        let memory = open(storage.clone());
        tell(&memory, "present");
        let before = visible(&memory);
        storage.fail_after(operations, std::io::ErrorKind::StorageFull);
        let result = memory.restore(&mut file.as_slice(), true);
        storage.heal();
        if result.is_err() && visible(&memory) == before {
            tell(&memory, "next");
        }
        assert_eq!(memory.check().unwrap().problems, Vec::<String>::new(), "after {operations} operations");
    }
}

#[test]
fn embeddings_are_in_a_backup() {
    let (memory, file) = scripted();
    let restored = open(MemoryStorage::new());
    restored.restore(&mut file.as_slice(), true).unwrap();
    restored.set_text_embedder(Some(LetterCounts::new("letters-1")));
    assert_eq!(restored.stats().pending_embeddings, memory.stats().pending_embeddings);
}

#[test]
fn whether_recording_is_paused_is_the_machines_and_stays_as_it_is() {
    for (here, there) in [(None, Some("paused")), (Some("paused"), Some("on")), (Some("on"), None)] {
        let (source, target) = (Bench::new(), Bench::new());
        for (bench, setting) in [(&source, there), (&target, here)] {
            accepted(bench.tell(told("hello")));
            if let Some(setting) = setting {
                bench.memory.set_setting("recording", setting).unwrap();
            }
        }
        let mut file = Vec::new();
        source.memory.backup(&mut file).unwrap();
        target.memory.restore(&mut file.as_slice(), false).unwrap();
        assert_eq!(target.memory.setting("recording").unwrap().as_deref(), here);
        target.assert_clean();
    }
}
