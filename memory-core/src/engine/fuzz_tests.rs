//! Targets of fuzzing: what the store reads from its disk. Checksums are made to fit, so that what is behind them is reached.

use std::io::{Read as _, Write as _};
use std::sync::Arc;

use fuzzing::{Random, fuzz};
use redb::{ReadableTable, TableDefinition};

use super::backup::{BACKUP, verify};
use super::gists::{GIST, GistRow};
use super::handle::Engine;
use super::learned::record;
use super::poses::{POSE, PoseRow};
use super::told_places::{PLACE_ROW, PlaceRow};
use crate::engine::test_bench;
use crate::learning::{Learnt, LearntPart};
use crate::store::container::{ContainerReader, ContainerWriter};
use crate::store::envelope::{self, RecordType};
use crate::store::generation;
use crate::store::generation::Generation;
use crate::store::memory_storage::{Image, MemoryStorage};
use crate::store::records::{
    BEHIND, Behind, CHANGE, Change, EPISODE, EVENT, EpisodeRow, EventRow, FORGOTTEN_SPANS, ForgottenSpans, HEAD, Head,
    HeadOfFormat1, PURGE, Purge, SPACE, Space, TEXT, VECTOR, decode_attributes,
};
use crate::store::tables::{EPISODES, EVENTS, LEARNT};
use crate::{
    ForgetRequest, Kind, ManualClock, Memory, MemoryOptions, Observation, Perceived, Query, SaveIndex, TimeSpan,
    Timestamp, Told,
};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros((1_795_161_600 + seconds) * 1_000_000)
}

fn options() -> MemoryOptions {
    MemoryOptions { cache_bytes: 1 << 20, ..test_bench::options() }
}

fn open(storage: &MemoryStorage) -> Result<Memory, crate::OpenError> {
    Memory::open_in(Arc::new(storage.clone()), options(), Arc::new(ManualClock::at(at(9_000))))
}

/// A memory with rows in every table, and a saved index.
fn furnished() -> MemoryStorage {
    let storage = MemoryStorage::new();
    let memory = open(&storage).unwrap();
    let told = |id: &str, kind: Kind, text: &str, entity: Option<&str>, seconds: i64| {
        let attributes = decode_attributes(Some(r#"{"session": "s-1", "place": "the shed"}"#)).unwrap();
        Observation::Told(Told {
            id: Some(id.into()),
            at: Some(at(seconds)),
            kind,
            text: text.into(),
            source: "tasks".into(),
            entity: entity.map(str::to_owned),
            attributes,
            ..Told::default()
        })
    };
    memory
        .observe(vec![
            told("a", Kind::Text, "The rake is in the shed.", Some("Olga"), 0),
            told("b", Kind::State, "The gate is shut.", Some("gate"), 10),
            told("c", Kind::Action, "takes the rake", None, 20),
            told("d", Kind::Action, "opens the gate", None, 30),
            told("e", Kind::Text, "My name is Olga.", Some("Olga"), 4_000),
            Observation::Perceived(Perceived {
                source: "camera".into(),
                session: "s".into(),
                start: at(100),
                end: at(108),
                stream: crate::StreamSpan { start: std::time::Duration::ZERO, end: std::time::Duration::from_secs(8) },
                boundary: crate::Boundary::Visual,
                events: Vec::new(),
                media: Some("file:///media/0.mkv".into()),
                degraded: vec!["speech: not installed".into()],
            }),
        ])
        .unwrap();
    while memory.learn_pending(64).unwrap().has_lessons() {}
    memory.set_setting("recording", "on").unwrap();
    memory.save_index(SaveIndex::Now).unwrap();
    memory.observe(vec![told("b", Kind::State, "The gate is open.", Some("gate"), 10)]).unwrap();
    memory.forget(&ForgetRequest::Span(TimeSpan::new(at(3_999), at(4_001)))).unwrap();
    assert_eq!(memory.check().unwrap().problems, Vec::<String>::new());
    storage
}

fn store(storage: &MemoryStorage) -> Engine {
    Engine::open(Arc::new(storage.clone()), options(), Arc::new(ManualClock::at(at(9_000)))).unwrap()
}

fn payload(sealed: &[u8]) -> Vec<u8> {
    sealed[11..].to_vec()
}

fn payloads_of(store: &Engine, table: TableDefinition<'static, u64, &'static [u8]>) -> Vec<Vec<u8>> {
    let transaction = store.database.write().unwrap();
    let table = transaction.open_table(table).unwrap();
    table.iter().unwrap().map(|row| payload(row.unwrap().1.value())).collect()
}

fn learnt_rows(store: &Engine) -> Vec<(u8, Vec<u8>, Vec<u8>)> {
    let transaction = store.database.write().unwrap();
    let table = transaction.open_table(LEARNT).unwrap();
    let rows = table.iter().unwrap().map(|row| {
        let (key, value) = row.unwrap();
        (key.value().0, key.value().1.to_vec(), payload(value.value()))
    });
    rows.collect()
}

#[test]
fn stored_rows_of_every_type() {
    let store = store(&furnished());
    let (events, episodes, learnt) = (payloads_of(&store, EVENTS), payloads_of(&store, EPISODES), learnt_rows(&store));
    assert!(events.len() > 4 && episodes.len() > 2 && !learnt.is_empty());
    let encode = |value: &dyn Fn() -> Vec<u8>| value();
    let small = [
        encode(&|| postcard::to_stdvec(&Head::default()).unwrap()),
        encode(&|| postcard::to_stdvec(&Change::Events { hidden: vec![(1, 2)], moved: vec![(3, 4)] }).unwrap()),
        encode(&|| postcard::to_stdvec(&ForgottenSpans(vec![(1, 2), (3, 4)])).unwrap()),
        encode(&|| postcard::to_stdvec(&GistRow { end: 7, lines: Vec::new() }).unwrap()),
        encode(&|| postcard::to_stdvec(&Space { name: "letters".into(), dimensions: 64 }).unwrap()),
    ];
    let rows = learnt.iter().map(|(_, _, payload)| payload);
    let valid: Vec<&[u8]> = events.iter().chain(&episodes).chain(&small).chain(rows).map(Vec::as_slice).collect();
    let keys: Vec<&[u8]> = learnt.iter().map(|(_, key, _)| key.as_slice()).collect();
    let records: [RecordType; 13] =
        [EVENT, EPISODE, HEAD, SPACE, VECTOR, TEXT, PURGE, CHANGE, FORGOTTEN_SPANS, BEHIND, GIST, POSE, PLACE_ROW];
    fuzz("stored rows", 40_000, |random| {
        let bytes = random.mutated(&valid);
        let record = records[random.below(records.len())];
        assert_eq!(envelope::open_bytes(record, b"key", &envelope::seal_bytes(record, b"key", &bytes)), Ok(&*bytes));
        drop(envelope::open_bytes(record, b"key", &bytes));
        if let Ok(EventRow::Live(body)) = envelope::decode(&bytes) {
            drop(body.into_event(1, None));
        }
        if let Ok(EpisodeRow::Live(body)) = envelope::decode(&bytes) {
            drop(body.to_episode(1, Vec::new()));
        }
        drop((envelope::decode::<Head>(&bytes), envelope::decode::<HeadOfFormat1>(&bytes)));
        drop((envelope::decode::<Purge>(&bytes), envelope::decode::<Space>(&bytes)));
        drop((envelope::decode::<Change>(&bytes), envelope::decode::<ForgottenSpans>(&bytes)));
        drop((envelope::decode::<Behind>(&bytes), envelope::decode::<GistRow>(&bytes)));
        drop((envelope::decode::<PlaceRow>(&bytes), envelope::decode::<String>(&bytes)));
        if let Ok(row) = envelope::decode::<PoseRow>(&bytes) {
            drop(row.into_pose());
        }
        drop(std::str::from_utf8(&bytes).map(|json| decode_attributes(Some(json))));
        let mut restored = Learnt::default();
        let part = LearntPart::ALL[random.below(LearntPart::ALL.len())];
        let key = random.mutated(&keys);
        if restored.restore(part, &key, &bytes).is_ok() {
            drop(restored.finish_restoring());
        }
        drop(generation::decode(&bytes));
    });
}

/// Opens a memory as it is found, reads all of it, asks it, and goes on.
fn live_on(storage: &MemoryStorage) {
    let Ok(memory) = open(storage) else { return };
    drop(memory.check());
    drop(memory.events(None, 100));
    drop(memory.episodes(&Default::default()));
    drop(memory.entities(10));
    drop(memory.ask(&Query { question: "Where is the rake?".into(), ..Query::default() }));
    drop(memory.observe(vec![Observation::Told(Told {
        at: Some(at(15)),
        text: "The hoe leans there too.".into(),
        source: "tasks".into(),
        ..Told::default()
    })]));
    drop(memory.learn_pending(64));
    drop(memory.forget(&ForgetRequest::Span(TimeSpan::new(at(-5), at(25)))));
}

#[test]
fn a_memory_with_changed_rows_behind_checksums_that_fit() {
    let image = furnished().image();
    let whole = store(&MemoryStorage::from_image(image.clone()));
    let (events, episodes, learnt) = (payloads_of(&whole, EVENTS), payloads_of(&whole, EPISODES), learnt_rows(&whole));
    drop(whole);
    fuzz("memory with changed rows", 60, |random| {
        let storage = MemoryStorage::from_image(image.clone());
        let store = store(&storage);
        let transaction = store.database.write().unwrap();
        for _ in 0..=random.below(3) {
            match random.below(3) {
                0 => {
                    let id = random.below(events.len()) + 1;
                    let sealed = envelope::seal_bytes(EVENT, &(id as u64).to_le_bytes(), &changed(random, &events));
                    transaction.open_table(EVENTS).unwrap().insert(id as u64, sealed.as_slice()).unwrap();
                }
                1 => {
                    let id = random.below(episodes.len()) + 1;
                    let sealed = envelope::seal_bytes(EPISODE, &(id as u64).to_le_bytes(), &changed(random, &episodes));
                    transaction.open_table(EPISODES).unwrap().insert(id as u64, sealed.as_slice()).unwrap();
                }
                _ => {
                    let (part, key, payload) = &learnt[random.below(learnt.len())];
                    let bytes = random.mutated(&[payload]);
                    let sealed = envelope::seal_bytes(record(LearntPart::from_number(*part).unwrap()), key, &bytes);
                    transaction.open_table(LEARNT).unwrap().insert((*part, key.as_slice()), sealed.as_slice()).unwrap();
                }
            }
        }
        transaction.commit().unwrap();
        drop(store);
        live_on(&storage);
    });
}

fn changed(random: &mut Random, payloads: &[Vec<u8>]) -> Vec<u8> {
    random.mutated(&payloads.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

#[test]
fn a_snapshot_beside_the_store() {
    let image = furnished().image();
    let (name, whole) = image.files.iter().find(|(name, _)| Generation::of_index_file(name).is_some()).unwrap();
    fuzz("snapshot", 100, |random| {
        let mut bytes = random.mutated(&[whole]);
        reseal(&mut bytes);
        let mut files = image.files.clone();
        files.insert(name.clone(), bytes);
        live_on(&MemoryStorage::from_image(Image { files }));
    });
}

/// Makes the checksums of all sections fit again.
fn reseal(bytes: &mut [u8]) {
    let mut at = 0;
    while at + 12 <= bytes.len() {
        let length = u64::from_le_bytes(bytes[at + 4..at + 12].try_into().unwrap());
        let Some(end) = usize::try_from(length).ok().and_then(|length| (at + 12).checked_add(length)) else { return };
        if end.checked_add(4).is_none_or(|behind| behind > bytes.len()) {
            return;
        }
        let sum = crc32fast::hash(&bytes[at..end]);
        bytes[end..end + 4].copy_from_slice(&sum.to_le_bytes());
        at = end + 4;
    }
}

#[test]
fn a_backup() {
    let memory = open(&furnished()).unwrap();
    let mut whole = Vec::new();
    memory.backup(&mut whole).unwrap();
    drop(memory);
    let mut input = whole.as_slice();
    let (header, mut reader) = ContainerReader::begin(BACKUP, &mut input).unwrap();
    let mut content = Vec::new();
    reader.read_to_end(&mut content).unwrap();
    fuzz("backup", 100, |random| {
        let mut bytes = Vec::new();
        if random.below(4) == 0 {
            bytes = random.mutated(&[&whole]);
        } else {
            let head = if random.below(3) == 0 { random.mutated(&[&header]) } else { header.clone() };
            let mut writer = ContainerWriter::begin(BACKUP, &head, &mut bytes).unwrap();
            writer.write_all(&random.mutated(&[&content])).unwrap();
            writer.finish().unwrap();
        }
        drop(verify(&mut bytes.as_slice()));
        let storage = MemoryStorage::new();
        let memory = open(&storage).unwrap();
        drop(memory.restore(&mut bytes.as_slice(), true));
        drop(memory);
        live_on(&storage);
    });
}
