//! Power loss at every sync, a disk that runs full at every write, and a disk that breaks.

use std::io;
use std::sync::Arc;

use fuzzing::Xorshift;
use memory_core::store::Storage;
use memory_core::store::fault::{FaultStorage, PowerCut, Survival};
use memory_core::store::{Image, MemoryStorage};
use memory_core::{EpisodeFilter, ForgetRequest, ManualClock, Memory, Observation, ObserveError, SaveIndex, Told};

use crate::embeddings::LetterCounts;
use crate::support::{at, keyed, open_on, segment, told, told_at, with_session};

/// Everything that a user can see of a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Visible {
    events: Vec<memory_core::Event>,
    episodes: Vec<memory_core::EpisodeSummary>,
    entities: Vec<memory_core::Entity>,
    recording: Option<String>,
    pending: u64,
    observations: u64,
}

pub fn visible(memory: &Memory) -> Visible {
    Visible {
        events: memory.events(None, usize::MAX).unwrap(),
        episodes: memory.episodes(&EpisodeFilter { limit: Some(1000), ..EpisodeFilter::default() }).unwrap().episodes,
        entities: memory.entities(1000).unwrap(),
        recording: memory.setting("recording").unwrap(),
        pending: memory.stats().pending_embeddings,
        observations: memory.stats().observations,
    }
}

impl Visible {
    /// The same on another machine: whether recording is paused is not the memory's.
    pub fn with_recording(self, recording: Option<&str>) -> Self {
        Self { recording: recording.map(str::to_owned), ..self }
    }
}

fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at(at(0)))
}

pub fn open(storage: impl Storage + 'static) -> Memory {
    let memory = open_on(Arc::new(storage), &clock());
    memory.set_text_embedder(Some(LetterCounts::new("letters-1")));
    memory
}

/// One of everything that writes.
pub type WriteOperation = Box<dyn Fn(&Memory)>;

pub fn script() -> Vec<WriteOperation> {
    let save_index =
        || -> WriteOperation { Box::new(|memory| assert!(memory.save_index(SaveIndex::Now).unwrap().is_some())) };
    let observe = |batch: Vec<Observation>| -> WriteOperation {
        Box::new(move |memory| drop(memory.observe(batch.clone()).unwrap()))
    };
    let tell = |told: Vec<Told>| observe(told.into_iter().map(Observation::Told).collect());
    let about = |name: &str, told: Told| Told { entity: Some(name.into()), ..told };
    vec![
        tell(vec![told("hello")]),
        tell(vec![keyed("a", "the mug is red", 1), about("Anna", keyed("b", "sings", 2))]),
        observe(vec![Observation::Perceived(segment(0, 8, &["a cup", "a table"]))]),
        tell((0..200).map(|n| about("Ben", keyed(&format!("c{n}"), &"long ".repeat(40), 20 + n))).collect()),
        Box::new(|memory| {
            memory.embed_pending(50).unwrap();
        }),
        save_index(),
        tell(vec![keyed("a", "the mug is blue", 1)]),
        Box::new(|memory| memory.set_setting("recording", "paused").unwrap()),
        tell(vec![told_at("later", 500), with_session(told_at("pour", 500), "tea")]),
        observe(vec![Observation::Perceived(segment(496, 504, &[]))]),
        Box::new(|memory| {
            memory.forget(&ForgetRequest::Entity("Anna".into())).unwrap();
        }),
        Box::new(|memory| {
            memory.embed_pending(500).unwrap();
        }),
        save_index(),
        observe(vec![Observation::Perceived(segment(504, 512, &["a hat"]))]),
        tell((0..300).map(|n| keyed(&format!("d{n}"), &"words ".repeat(30), 5000 + 100 * n)).collect()),
        Box::new(|memory| {
            memory.forget(&ForgetRequest::Episodes(vec![memory_core::EpisodeId(4)])).unwrap();
        }),
        tell(vec![told("the end")]),
    ]
}

/// Draws what becomes of a write in a power cut.
fn survival(random: &mut Xorshift) -> Survival {
    match random.draw() % 5 {
        0 | 1 => Survival::Lost,
        2 => Survival::Torn,
        _ => Survival::Kept,
    }
}

pub fn images(cut: &PowerCut<'_>) -> Vec<(String, Image)> {
    let mut images = vec![
        ("nothing unsynced survives".to_owned(), cut.image(|_| Survival::Lost)),
        ("everything survives".to_owned(), cut.image(|_| Survival::Kept)),
    ];
    for seed in 1..=3 {
        let mut random = Xorshift(seed * 0x9E37_79B9 + cut.operations as u64);
        images.push((format!("subset {seed} survives"), cut.image(|_| survival(&mut random))));
    }
    images
}

#[test]
fn power_loss_at_any_sync_loses_nothing_that_was_acknowledged_and_halves_no_batch() {
    let storage = FaultStorage::new();
    let memory = open(storage.clone());
    // What was visible after how many operations on the disk.
    let mut acknowledged = vec![(0, visible(&memory))];
    for step in script() {
        step(&memory);
        acknowledged.push((storage.operations(), visible(&memory)));
    }
    drop(memory);

    let mut cuts = 0;
    storage.for_each_power_cut(|cut| {
        cuts += 1;
        let last = acknowledged.iter().rposition(|(operations, _)| *operations <= cut.operations).unwrap();
        let allowed = &acknowledged[last..acknowledged.len().min(last + 2)];
        for (what, image) in images(cut) {
            let memory = open(MemoryStorage::from_image(image));
            let found = visible(&memory);
            assert!(
                allowed.iter().any(|(_, state)| *state == found),
                "after {} operations, where {what}: {found:#?}\nis neither of {allowed:#?}",
                cut.operations
            );
            assert_eq!(memory.check().unwrap().problems, Vec::<String>::new(), "{} operations, {what}", cut.operations);
            // And it goes on.
            memory.observe(vec![Observation::Told(told("after the crash"))]).unwrap();
            assert_eq!(memory.check().unwrap().problems, Vec::<String>::new());
        }
    });
    assert!(cuts > script().len(), "{cuts} syncs: every step commits");
}

#[test]
fn a_disk_that_runs_full_at_any_write_takes_a_batch_whole_or_not_at_all_and_goes_on_once_there_is_space() {
    let storage = FaultStorage::new();
    let memory = open(storage.clone());
    memory.observe(vec![Observation::Told(keyed("a", "before", 0))]).unwrap();
    drop(memory);
    let image = storage.image();
    let batch: Vec<_> =
        (0..40).map(|n| Observation::Told(keyed(&format!("b{n}"), &format!("{n} words ").repeat(80), n))).collect();

    let (mut refused, mut unsure) = (0, 0);
    for writes in 0.. {
        let storage = FaultStorage::from_image(image.clone());
        let memory = open(storage.clone());
        let before = visible(&memory);
        storage.fail_after(writes, io::ErrorKind::StorageFull);
        let result = memory.observe(batch.clone());
        if !storage.failed() {
            result.unwrap();
            break;
        }
        storage.heal();
        let error = result.expect_err("every write is part of the commit");
        assert!(matches!(error, ObserveError::StorageFull(_)), "after {writes} writes: {error}");
        if visible(&memory) == before {
            refused += 1;
        } else {
            // Only the last sync was missing: nobody can know whether the commit is durable, so it is not acknowledged.
            unsure += 1;
            assert_eq!(memory.stats().events, 41, "after {writes} writes");
        }
        memory.observe(batch.clone()).unwrap();
        assert_eq!(memory.stats().events, 41, "after {writes} writes");
        assert_eq!(memory.check().unwrap().problems, Vec::<String>::new(), "after {writes} writes");
    }
    assert!(refused > 20 && unsure <= 1, "{refused} refused, {unsure} unsure");
}

#[test]
fn a_full_disk_still_answers_and_says_what_to_do() {
    let storage = FaultStorage::new();
    let memory = open(storage.clone());
    memory.observe(vec![Observation::Told(keyed("a", "before", 0))]).unwrap();
    storage.set_capacity(Some(storage.taken() + 64 * 1024));
    let batch = |n: i64| {
        (0..64).map(|m| Observation::Told(keyed(&format!("{n}-{m}"), &"words ".repeat(50), n))).collect::<Vec<_>>()
    };
    let mut accepted = 0;
    let error = loop {
        match memory.observe(batch(accepted)) {
            Ok(_) => accepted += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, ObserveError::StorageFull(_)) && error.to_string().contains("free disk space"), "{error}");
    for _ in 0..3 {
        let events = u64::try_from(1 + accepted * 64).unwrap();
        assert_eq!(memory.stats().events, events);
        assert_eq!(memory.events(None, usize::MAX).unwrap().len() as u64, events);
        memory.observe(batch(accepted)).unwrap_err();
    }
    storage.set_capacity(None);
    memory.observe(batch(accepted)).unwrap();
    assert_eq!(memory.check().unwrap().problems, Vec::<String>::new());
}

#[test]
fn a_disk_on_which_nothing_can_be_written_still_answers() {
    let storage = FaultStorage::new();
    let memory = open(storage.clone());
    memory.observe(vec![Observation::Told(keyed("a", "before", 0))]).unwrap();
    storage.fail_after(0, io::ErrorKind::StorageFull);
    for _ in 0..3 {
        let error = memory.observe(vec![Observation::Told(told("x"))]).unwrap_err();
        assert!(matches!(error, ObserveError::StorageFull(_)), "{error}");
        assert_eq!(memory.events(None, 9).unwrap().len(), 1);
        assert_eq!(memory.episodes(&EpisodeFilter::default()).unwrap().episodes.len(), 1);
    }
    storage.heal();
    memory.observe(vec![Observation::Told(told("x"))]).unwrap();
    assert_eq!(memory.events(None, 9).unwrap().len(), 2);
}

#[test]
fn an_io_error_in_a_commit_is_told_and_the_next_batch_succeeds() {
    let storage = FaultStorage::new();
    let memory = open(storage.clone());
    memory.observe(vec![Observation::Told(keyed("a", "before", 0))]).unwrap();
    for operations in 0..12 {
        storage.fail_after(operations, io::ErrorKind::Other);
        let result = memory.observe(vec![Observation::Told(keyed(&format!("b{operations}"), "x", 0))]);
        if let Err(error) = &result {
            assert!(matches!(error, ObserveError::Store(_)), "{error}");
        }
        storage.heal();
        memory.observe(vec![Observation::Told(keyed(&format!("c{operations}"), "y", 0))]).unwrap();
        assert_eq!(memory.check().unwrap().problems, Vec::<String>::new());
        let events = memory.events(None, usize::MAX).unwrap();
        assert!(events.iter().any(|event| event.sender_id == Some(format!("c{operations}"))));
    }
}
