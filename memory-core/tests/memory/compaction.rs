//! Compaction: what was forgotten is nowhere, what is remembered is as it was, whatever happens meanwhile.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use memory_core::store::fault::FaultStorage;
use memory_core::store::{DirStorage, Image, MemoryStorage};
use memory_core::{
    EpisodeFilter, ForgetRequest, MaintenanceError, Memory, Observation, ObserveOutcome, Query, SaveIndex, TimeSpan,
    Told,
};

use crate::crash::{images, open, script, visible};
use crate::embeddings::LetterCounts;
use crate::support::{Bench, accepted, at, keyed, rejected, segment, told_at, with_session};

const SECRET: &str = "the xylophone is under the floorboards";

fn about(name: &str, told: Told) -> Told {
    Told { entity: Some(name.into()), ..told }
}

/// A memory with one of everything, some of it forgotten.
fn lived_in(bench: &Bench) {
    bench.memory.set_text_embedder(Some(LetterCounts::new("letters-1")));
    accepted(bench.tell(about("Zebulon", with_session(keyed("quagga-1", SECRET, 0), "wombat"))));
    let mut place = keyed("k", "the mug is red", 100);
    place.attributes.insert("place".into(), memory_core::Value::Text("kitchen".into()));
    accepted(bench.tell(place));
    let corrected = bench.tell(keyed("k", "the mug is blue", 100));
    assert!(matches!(corrected, ObserveOutcome::Corrected { .. }), "{corrected:?}");
    accepted(bench.tell(keyed("quagga-2", "first the xylophone is here", 50)));
    assert!(matches!(bench.tell(keyed("quagga-2", SECRET, 50)), ObserveOutcome::Corrected { .. }));
    accepted(bench.perceive(segment(200, 208, &["a cup"])));
    accepted(bench.perceive(segment(300, 308, &["a xylophone"])));
    for n in 0..50 {
        accepted(bench.tell(about("Anna", keyed(&format!("n{n}"), &format!("note {n}"), 1000 + 100 * n))));
    }
    bench.memory.embed_pending(500).unwrap();
    bench.memory.set_setting("recording", "paused").unwrap();
}

fn forget_the_secret(memory: &Memory) {
    let words = |span: (i64, i64)| ForgetRequest::Span(TimeSpan::new(at(span.0), at(span.1)));
    memory.forget(&ForgetRequest::Entity("zebulon".into())).unwrap();
    memory.forget(&words((50, 50))).unwrap();
    memory.forget(&words((300, 308))).unwrap();
}

/// Words that only what was forgotten has, whatever their case.
const GONE: [&str; 5] = ["xylophone", "floorboards", "ebulon", "quagga", "wombat"];

#[track_caller]
fn assert_gone(image: &Image) {
    for word in GONE {
        assert!(!image.contains(word.as_bytes()), "`{word}` is still on the disk");
    }
}

#[test]
fn what_was_forgotten_is_nowhere_after_compaction() {
    let mut bench = Bench::new();
    lived_in(&bench);
    for word in GONE {
        assert!(bench.storage.image().contains(word.as_bytes()), "`{word}` was stored");
    }
    bench.memory.save_index(SaveIndex::Now).unwrap().unwrap();
    forget_the_secret(&bench.memory);
    let before = visible(&bench.memory);
    let reply = bench.memory.compact().unwrap();
    assert!(reply.rows > 100 && reply.bytes_after > 0, "{reply:?}");
    assert_gone(&bench.storage.image());
    assert_eq!(visible(&bench.memory), before);
    bench.assert_clean();
    let stats = bench.memory.stats();
    assert_eq!(stats.hidden, 1, "only the version that was corrected and is not forgotten");

    let ask = |question: &str| {
        let query = Query { question: question.into(), ..Query::default() };
        bench.memory.ask(&query).unwrap()
    };
    let answer = ask("Where is the xylophone?");
    assert!(answer.evidence.iter().all(|item| !item.text.contains("xylophone")), "{answer:?}");
    assert!(ask("What colour is the mug?").evidence[0].text.contains("blue"));
    bench.kill();
    assert_eq!(bench.memory.stats(), memory_core::Stats { duplicates: 0, pending_embeddings: stats.events, ..stats });
    bench.assert_clean();
}

#[test]
fn what_was_forgotten_stays_forgotten_after_compaction() {
    let mut bench = Bench::new();
    lived_in(&bench);
    forget_the_secret(&bench.memory);
    for _ in 0..2 {
        bench.memory.compact().unwrap();
        assert!(rejected(bench.tell(keyed("quagga-1", SECRET, 0))).contains("forgotten"));
        assert!(rejected(bench.tell(keyed("quagga-2", "first the xylophone is here", 50))).contains("forgotten"));
        assert!(matches!(bench.perceive(segment(300, 308, &["a xylophone"])), ObserveOutcome::Duplicate { .. }));
        assert!(matches!(bench.tell(keyed("k", "the mug is blue", 100)), ObserveOutcome::Duplicate { .. }));
        let late = Told { redelivered: true, ..keyed("k", "the mug is red", 100) };
        let mut late = late;
        late.attributes.insert("place".into(), memory_core::Value::Text("kitchen".into()));
        assert!(matches!(bench.tell(late), ObserveOutcome::Duplicate { .. }), "an old version undoes no correction");
        bench.assert_clean();
        bench.kill();
    }
    let (next, opened, events) = accepted(bench.tell(told_at("what comes next", 9000)));
    assert!(opened);
    assert!(bench.memory.episode(next).unwrap().is_some());
    assert!(events[0].0 > 50, "numbers are never used twice");
}

#[test]
fn recordings_of_what_was_forgotten_are_named_until_they_are_removed() {
    let mut bench = Bench::new();
    lived_in(&bench);
    let reply = bench.memory.forget(&ForgetRequest::Span(TimeSpan::new(at(300), at(301)))).unwrap();
    assert_eq!(reply.recordings[0].media.as_deref(), Some("file:///media/300.mkv"));
    assert_eq!(reply.recordings[0].span, TimeSpan::new(at(300), at(308)));
    assert_eq!(reply.recordings[1].source, None, "and whatever else was recorded in the span");
    bench.memory.compact().unwrap();
    bench.kill();
    let still: Vec<_> = bench.memory.recordings_to_remove().unwrap();
    assert_eq!(still.iter().map(|(_, recording)| recording.clone()).collect::<Vec<_>>(), reply.recordings);
    bench.memory.recordings_removed(&[still[0].0]).unwrap();
    bench.kill();
    assert_eq!(bench.memory.recordings_to_remove().unwrap(), still[1..]);
}

#[test]
fn bytes_come_back_to_the_disk_and_a_ceiling_can_be_got_below_by_forgetting() {
    let directory = tempfile::tempdir().unwrap();
    let clock = Arc::new(memory_core::ManualClock::at(at(0)));
    let options = memory_core::MemoryOptions { max_bytes: Some(24 << 20), ..crate::support::options() };
    let memory = Memory::open_in(Arc::new(DirStorage::new(directory.path())), options, clock).unwrap();
    let batch = |from: i64| -> Vec<Observation> {
        let told = |n| about("Anna", keyed(&format!("m{n}"), &format!("{n} words ").repeat(100), n));
        (from..from + 256).map(|n| Observation::Told(told(n))).collect()
    };
    let mut from = 0;
    while memory.observe(batch(from)).is_ok() {
        from += 256;
        assert!(from < 80_000, "the ceiling is there");
    }
    assert!(memory.observe(batch(from)).unwrap_err().to_string().contains("ceiling"));
    let full = memory.stats().disk_bytes;
    memory.forget(&ForgetRequest::Span(TimeSpan::new(at(0), at(from * 9 / 10)))).unwrap();
    let reply = memory.compact().unwrap();
    assert_eq!(memory.stats().disk_bytes, reply.bytes_after);
    assert!(reply.bytes_after < full / 3, "{reply:?}");
    memory.observe(batch(from)).unwrap();
    let files: Vec<_> = std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(files.iter().filter(|name| name.to_string_lossy().ends_with(".redb")).count(), 1, "{files:?}");
    assert_eq!(memory.check().unwrap().problems, Vec::<String>::new());
}

#[test]
fn questions_and_observations_go_on_meanwhile_and_nothing_of_them_is_lost() {
    let bench = Bench::new();
    lived_in(&bench);
    bench
        .memory
        .observe((0..20_000).map(|n| Observation::Told(keyed(&format!("b{n}"), "filling", n))).collect())
        .unwrap();
    let done = AtomicBool::new(false);
    let (mut told, mut asked) = (0, 0);
    std::thread::scope(|scope| {
        let (memory, done) = (&bench.memory, &done);
        let teller = scope.spawn(move || {
            let mut told = 0;
            while !done.load(Ordering::SeqCst) || told == 0 {
                let text = format!("meanwhile {told}");
                let batch = vec![
                    Observation::Told(keyed(&format!("t{told}"), &text, 50_000 + told)),
                    Observation::Told(keyed("changing", &text, 40_000)),
                    Observation::Told(about("Vera", keyed(&format!("v{told}"), &text, 60_000 + told))),
                ];
                memory.observe(batch).unwrap();
                if told % 8 == 0 {
                    memory.forget(&ForgetRequest::Entity("Vera".into())).unwrap();
                }
                told += 1;
            }
            told
        });
        let asker = scope.spawn(move || {
            let mut asked = 0;
            while !done.load(Ordering::SeqCst) || asked == 0 {
                let query = Query { question: "What colour is the mug?".into(), ..Query::default() };
                let answer = memory.ask(&query).unwrap();
                assert!(answer.evidence[0].text.contains("blue"));
                asked += 1;
            }
            asked
        });
        for _ in 0..3 {
            memory.compact().unwrap();
        }
        done.store(true, Ordering::SeqCst);
        told = teller.join().unwrap();
        asked = asker.join().unwrap();
    });
    assert!(told > 0 && asked > 0);
    bench.assert_clean();
    let texts = bench.texts();
    for n in 0..told {
        let text = format!("meanwhile {n}");
        assert!(texts.contains(&text), "{text} of {told}");
    }
    let before = visible(&bench.memory);
    let mut bench = bench;
    bench.kill();
    bench.memory.set_text_embedder(Some(LetterCounts::new("letters-1")));
    assert_eq!(visible(&bench.memory), before);
    let found = Query { question: format!("What about meanwhile {}?", told - 1), ..Query::default() };
    assert!(!bench.memory.ask(&found).unwrap().evidence.is_empty());
}

/// A disk on which the script has run.
fn scripted() -> Image {
    let storage = MemoryStorage::new();
    let memory = open(storage.clone());
    for step in script() {
        step(&memory);
    }
    drop(memory);
    storage.image()
}

#[test]
fn power_loss_at_any_sync_of_a_compaction_leaves_one_whole_generation() {
    let storage = FaultStorage::from_image(scripted());
    let memory = open(storage.clone());
    let before = visible(&memory);
    memory.compact().unwrap();
    let compacted = storage.operations();
    memory.observe(vec![Observation::Told(keyed("next", "after the compaction", 0))]).unwrap();
    let observed = storage.operations();
    let after = visible(&memory);
    memory.compact().unwrap();
    drop(memory);
    assert_ne!(before, after);

    let mut cuts = 0;
    storage.for_each_power_cut(|cut| {
        cuts += 1;
        let allowed: &[_] = match cut.operations {
            operations if operations < compacted => &[&before],
            operations if operations < observed => &[&before, &after],
            _ => &[&after],
        };
        for (what, image) in images(cut) {
            let disk = MemoryStorage::from_image(image);
            let memory = open(disk.clone());
            let context = format!("after {} operations, where {what}", cut.operations);
            assert!(allowed.contains(&&visible(&memory)), "{context}");
            assert_eq!(memory.check().unwrap().problems, Vec::<String>::new(), "{context}");
            let stores = disk.image().files.keys().filter(|name| name.ends_with(".redb")).count();
            assert_eq!(stores, 1, "{context}: {:?}", disk.image().files.keys());
            memory.observe(vec![Observation::Told(keyed("go", "on", 0))]).unwrap();
            memory.compact().unwrap();
            assert_eq!(memory.check().unwrap().problems, Vec::<String>::new(), "{context}");
        }
    });
    assert!(cuts > 10, "{cuts} syncs");
}

#[test]
fn a_disk_that_fails_at_any_operation_of_a_compaction_leaves_the_memory_as_it_was() {
    let image = scripted();
    for error in [io::ErrorKind::StorageFull, io::ErrorKind::Other] {
        let mut refused = 0;
        for operations in 0.. {
            let storage = FaultStorage::from_image(image.clone());
            let memory = open(storage.clone());
            let before = visible(&memory);
            storage.fail_after(operations, error);
            let result = memory.compact();
            let failed = storage.failed();
            storage.heal();
            let context = format!("{error:?} after {operations} operations");
            assert_eq!(visible(&memory), before, "{context}");
            memory.observe(vec![Observation::Told(keyed("next", "one", 0))]).unwrap();
            assert_eq!(memory.check().unwrap().problems, Vec::<String>::new(), "{context}");
            let after = visible(&memory);
            drop(memory);
            let memory = open(storage.clone());
            assert_eq!(visible(&memory), after, "{context}");
            let files = storage.image().files;
            assert_eq!(files.keys().filter(|name| name.ends_with(".redb")).count(), 1, "{context}: {:?}", files.keys());
            memory.compact().unwrap();
            if !failed {
                result.unwrap();
                break;
            }
            refused += u32::from(result.is_err());
        }
        assert!(refused > 20, "{refused} refused with {error:?}");
    }
}

#[test]
fn a_full_disk_is_told_and_the_space_is_given_back() {
    let storage = FaultStorage::from_image(scripted());
    let memory = open(storage.clone());
    let (before, taken) = (visible(&memory), storage.taken());
    storage.set_capacity(Some(taken + 100 * 1024));
    let error = memory.compact().unwrap_err();
    assert!(matches!(error, MaintenanceError::Full(_)), "{error}");
    assert!(error.to_string().contains("space"), "{error}");
    assert_eq!(storage.taken(), taken, "the unfinished copy is gone");
    assert_eq!(visible(&memory), before);
    memory.observe(vec![Observation::Told(keyed("next", "one", 0))]).unwrap();
    storage.set_capacity(None);
    memory.compact().unwrap();
    assert_eq!(memory.check().unwrap().problems, Vec::<String>::new());
}

#[test]
fn an_empty_memory_is_compacted_too() {
    let mut bench = Bench::new();
    bench.memory.compact().unwrap();
    bench.assert_clean();
    accepted(bench.tell(keyed("a", "hello", 0)));
    bench.memory.forget(&ForgetRequest::Span(TimeSpan::new(at(0), at(0)))).unwrap();
    bench.memory.compact().unwrap();
    bench.kill();
    bench.assert_clean();
    assert!(bench.memory.episodes(&EpisodeFilter::default()).unwrap().episodes.is_empty());
    let (episode, _, events) = accepted(bench.tell(keyed("b", "hello", 0)));
    assert_eq!((episode.0, events[0].0), (2, 2), "numbers are never used twice");
}
