//! Decoders meet arbitrary bytes, and damage of every kind is told and never believed.

use proptest::prelude::*;

use super::poses::{POSE, PoseRow};
use super::told_places::{PLACE_ROW, PlaceRow};
use crate::store::envelope::{self, MAX_PAYLOAD};
use crate::store::records::{
    CHANGE, Change, EPISODE, EVENT, EpisodeRow, EventBody, EventRow, HEAD, Head, HeadOfFormat1, PURGE, Purge, SPACE,
    Space, TEXT, VECTOR, decode_attributes,
};
use crate::{Kind, Modality, Origin};

fn body() -> EventBody {
    EventBody {
        episode: 7,
        origin: Origin::Told,
        kind: Kind::Action,
        modality: Modality::Visual,
        timed: true,
        start: -5,
        end: 1 << 40,
        stream: Some((1, 2)),
        received: 1_795_161_600_000_000,
        confidence: 0.5,
        source: "tasks".into(),
        sender_id: Some("t-1".into()),
        entity: None,
        text: "picks up the mug".into(),
        attributes: Some(r#"{"n":[1,0.5,null]}"#.into()),
        supersedes: Some(3),
    }
}

fn decode_everything(payload: &[u8]) {
    if let Ok(EventRow::Live(body)) = envelope::decode(payload) {
        drop(body.into_event(1, None));
    }
    drop(envelope::decode::<EpisodeRow>(payload));
    drop(envelope::decode::<Head>(payload));
    drop(envelope::decode::<HeadOfFormat1>(payload));
    drop(envelope::decode::<Purge>(payload));
    drop(envelope::decode::<Space>(payload));
    drop(envelope::decode::<Change>(payload));
    drop(envelope::decode::<PoseRow>(payload));
    drop(envelope::decode::<PlaceRow>(payload));
    drop(envelope::decode::<String>(payload));
}

proptest! {
    #[test]
    fn arbitrary_bytes_are_refused_or_read_but_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..512)) {
        for record in [EVENT, EPISODE, HEAD, SPACE, VECTOR, TEXT, PURGE, CHANGE, POSE, PLACE_ROW] {
            prop_assert!(envelope::open_bytes(record, b"key", &bytes).is_err());
            // With an envelope that fits, only the payload is arbitrary.
            let sealed = envelope::seal_bytes(record, b"key", &bytes);
            prop_assert_eq!(envelope::open_bytes(record, b"key", &sealed).unwrap(), bytes.as_slice());
        }
        decode_everything(&bytes);
    }

    #[test]
    fn a_payload_that_is_nearly_right_never_panics(at in 0..200_usize, byte in any::<u8>(), cut in 0..200_usize) {
        let mut payload = postcard::to_stdvec(&EventRow::Live(body())).unwrap();
        let length = payload.len();
        payload[at % length] = byte;
        decode_everything(&payload);
        payload.truncate(cut % length);
        decode_everything(&payload);
    }

    #[test]
    fn every_flipped_bit_is_found(at in any::<prop::sample::Index>(), bit in 0..8_u8) {
        let mut sealed = envelope::seal(EVENT, b"key", &EventRow::Live(body()));
        let at = at.index(sealed.len());
        sealed[at] ^= 1 << bit;
        prop_assert!(envelope::open::<EventRow>(EVENT, b"key", &sealed).is_err());
    }

    #[test]
    fn arbitrary_attributes_never_panic(json in ".{0,200}") {
        drop(decode_attributes(Some(&json)));
    }
}

#[test]
fn attributes_nested_without_end_do_not_exhaust_the_stack() {
    let json = format!(r#"{{"a":{}"#, "[".repeat(400_000));
    assert!(decode_attributes(Some(&json)).is_err());
}

#[test]
fn a_value_under_the_wrong_key_of_the_wrong_type_or_version_is_refused() {
    let sealed = envelope::seal(EVENT, b"key", &EventRow::Live(body()));
    assert_eq!(envelope::open::<EventRow>(EVENT, b"key", &sealed), Ok(EventRow::Live(body())));
    let error = |result: Result<EventRow, String>| result.unwrap_err();
    assert!(error(envelope::open(EVENT, b"kez", &sealed)).contains("checksum"));
    assert!(error(envelope::open(EPISODE, b"key", &sealed)).contains("record type"));
    let newer = crate::store::envelope::RecordType { version: 2, ..EVENT };
    assert!(error(envelope::open(EVENT, b"key", &envelope::seal(newer, b"key", &body()))).contains("version 2"));
    let long = vec![0; MAX_PAYLOAD];
    assert!(envelope::open_bytes(TEXT, b"", &envelope::seal_bytes(TEXT, b"", &long)).is_ok());
}

/// The bytes of format 1. A test that fails here says that a new version of the record is needed.
#[test]
fn the_bytes_of_a_record_stay_as_they_are() {
    let sealed = envelope::seal(EVENT, &9_u64.to_le_bytes(), &EventRow::Live(body()));
    let hex: String = sealed.iter().map(|byte| format!("{byte:02x}")).collect();
    let expected = "e601014f000000dabb174b000700050001098080808080400101028080dc9794acb0060000003f057461736b730103742d310010\
                    7069636b7320757020746865206d756701127b226e223a5b312c302e352c6e756c6c5d7d0103";
    assert_eq!(hex, expected);
    let head = Head {
        seq: 1,
        last_event: 2,
        last_episode: 3,
        observations: 4,
        events: 5,
        episodes: 6,
        hidden: 7,
        longest_segment: 300,
        stale_bytes: 8,
        forgotten_since: Some(-1),
    };
    let hex: String = postcard::to_stdvec(&head).unwrap().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, "01020304050607ac02080101");
    assert!(postcard::from_bytes::<HeadOfFormat1>(&[1, 2, 3, 4, 5, 6, 7, 0xac, 2]).is_ok());
    let purge = Purge { source: Some("camera".into()), start: -1, end: 2, media: None };
    let hex: String = postcard::to_stdvec(&purge).unwrap().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, "010663616d657261010400");
    let pose = PoseRow {
        frame: "map".into(),
        x: 1.0,
        y: -2.0,
        z: 0.5,
        yaw: 0.0,
        covariance: Some([0.25, 0.0, 0.0, 0.0, 0.0, 1.0]),
        of: crate::PoseOf::Robot,
        told: true,
        place: None,
    };
    let hex: String = postcard::to_stdvec(&pose).unwrap().iter().map(|byte| format!("{byte:02x}")).collect();
    let zeros = "0".repeat(64);
    assert_eq!(
        hex,
        format!(
            "036d6170000000000000f03f00000000000000c0000000000000e03f000000000000000001000000000000d03f{zeros}000000000000f03f010100"
        )
    );
}

mod check {
    use std::sync::Arc;

    use redb::TableDefinition;

    use crate::store::tables::{self, EPISODES, EVENTS, IDENTITY, MEMBERS, META, VECTORS};
    use crate::store::{FILE_NAME, MemoryStorage, Storage};
    use crate::{ForgetRequest, ManualClock, Memory, MemoryOptions, Observation, ObserveOutcome, OpenError, Told};

    fn options() -> MemoryOptions {
        MemoryOptions { cache_bytes: 1 << 20, ..crate::engine::test_bench::options() }
    }

    fn open(storage: &MemoryStorage) -> Result<Memory, OpenError> {
        Memory::open_in(Arc::new(storage.clone()), options(), Arc::new(ManualClock::default()))
    }

    fn store() -> MemoryStorage {
        let storage = MemoryStorage::new();
        let memory = open(&storage).unwrap();
        let batch = ["the first words", "the second words", "the third words"].map(|text| {
            Observation::Told(Told {
                id: Some(text.into()),
                at: Some(crate::Timestamp::from_micros(5)),
                text: text.into(),
                source: "asr".into(),
                entity: Some("Anna".into()),
                ..Told::default()
            })
        });
        memory.observe(batch.into()).unwrap();
        assert_eq!(memory.check().unwrap().problems, Vec::<String>::new());
        drop(memory);
        storage
    }

    fn damage(storage: &MemoryStorage, damage: impl FnOnce(&redb::WriteTransaction)) {
        let database = redb::Builder::new().create_with_backend(Raw(storage.open(FILE_NAME, true).unwrap())).unwrap();
        let transaction = database.begin_write().unwrap();
        damage(&transaction);
        transaction.commit().unwrap();
    }

    #[derive(Debug)]
    struct Raw(Box<dyn redb::StorageBackend>);

    impl redb::StorageBackend for Raw {
        fn len(&self) -> std::io::Result<u64> {
            self.0.len()
        }
        fn read(&self, offset: u64, out: &mut [u8]) -> std::io::Result<()> {
            self.0.read(offset, out)
        }
        fn set_len(&self, len: u64) -> std::io::Result<()> {
            self.0.set_len(len)
        }
        fn sync_data(&self) -> std::io::Result<()> {
            self.0.sync_data()
        }
        fn write(&self, offset: u64, data: &[u8]) -> std::io::Result<()> {
            self.0.write(offset, data)
        }
        fn close(&self) -> std::io::Result<()> {
            self.0.close()
        }
    }

    #[track_caller]
    fn assert_problem(storage: &MemoryStorage, says: &[&str]) {
        let problems = open(storage).unwrap().check().unwrap().problems;
        let found = problems.iter().any(|problem| says.iter().all(|words| problem.contains(words)));
        assert!(found, "no problem says {says:?}: {problems:#?}");
    }

    #[test]
    fn a_flipped_bit_in_a_text_is_found_and_costs_only_its_record() {
        let storage = store();
        let mut disk = storage.image();
        let image = disk.files.get_mut(FILE_NAME).unwrap();
        let text = b"the second words";
        let mut flipped = 0;
        for at in 0..image.len() - text.len() {
            if image[at..].starts_with(text) {
                image[at] ^= 1;
                flipped += 1;
            }
        }
        assert!(flipped > 0);
        let storage = MemoryStorage::from_image(disk);
        assert_problem(&storage, &["record 2 of events", "checksum"]);
        let memory = open(&storage).unwrap();
        assert_eq!(memory.stats().damaged, 1);
        assert_eq!(memory.events(None, 9).unwrap().len(), 2);
        assert_eq!(memory.episode(crate::EpisodeId(1)).unwrap().unwrap().1.len(), 2);
        assert_eq!(memory.entities(9).unwrap()[0].name, "Anna");
    }

    #[test]
    fn a_damaged_record_holds_up_neither_ingest_nor_forgetting() {
        let storage = store();
        damage(&storage, |transaction| {
            let mut events = transaction.open_table(EVENTS).unwrap();
            events.insert(2, b"noise".as_slice()).unwrap();
        });
        let memory = open(&storage).unwrap();
        let told = |id: &str, text: &str| {
            let at = Some(crate::Timestamp::from_micros(5));
            let entity = Some("Anna".to_owned());
            Observation::Told(Told {
                id: Some(id.into()),
                at,
                text: text.into(),
                source: "asr".into(),
                entity,
                ..Told::default()
            })
        };
        let outcomes = memory.observe(vec![told("the second words", "the second words"), told("new", "new")]).unwrap();
        assert!(
            matches!(&outcomes[0], ObserveOutcome::Rejected { message } if message.contains("damaged")),
            "{outcomes:?}"
        );
        assert!(matches!(outcomes[1], ObserveOutcome::Accepted { .. }), "{outcomes:?}");
        let instant = crate::Timestamp::from_micros(5);
        let reply = memory.forget(&ForgetRequest::Span(crate::TimeSpan::new(instant, instant))).unwrap();
        assert_eq!(reply.events, 4, "the damaged one too");
    }

    #[test]
    fn a_missing_or_additional_row_of_any_table_is_found() {
        type Damage = fn(&redb::WriteTransaction);
        let cases: [(Damage, &[&str]); 7] = [
            (|t| drop(t.open_table(MEMBERS).unwrap().remove((1, 2)).unwrap()), &["(1, 2) of members", "missing"]),
            (
                |t| drop(t.open_table(MEMBERS).unwrap().insert((1, 9), ()).unwrap()),
                &["members: 4 records instead of 3"],
            ),
            (|t| drop(t.open_table(EVENTS).unwrap().remove(2).unwrap()), &["head of meta", "3 visible"]),
            (|t| drop(t.open_table(EPISODES).unwrap().remove(1).unwrap()), &["its episode 1 is not visible"]),
            (|t| drop(t.open_table(IDENTITY).unwrap().pop_first().unwrap()), &["leads to None in identity"]),
            (
                |t| drop(t.open_table(tables::FACETS).unwrap().remove((tables::ENTITY, "anna", 3)).unwrap()),
                &["\"anna\", 3) of facets"],
            ),
            (
                |t| drop(t.open_table(VECTORS).unwrap().insert((4, 1), [1_u8].as_slice()).unwrap()),
                &["(4, 1) of vectors", "no such space"],
            ),
        ];
        for (case, says) in cases {
            let storage = store();
            damage(&storage, case);
            assert_problem(&storage, says);
        }
    }

    #[test]
    fn a_newer_format_is_refused_and_not_touched() {
        let storage = store();
        damage(&storage, |transaction| {
            let mut format = b"ENGR".to_vec();
            format.extend_from_slice(&7_u32.to_le_bytes());
            transaction.open_table(META).unwrap().insert("format", format.as_slice()).unwrap();
        });
        let error = open(&storage).err().unwrap();
        assert!(matches!(error, OpenError::TooNew { found: 7, supported: 5, .. }), "{error}");
        assert!(error.to_string().contains("install the newer engram"));
    }

    #[test]
    fn a_redb_file_of_another_program_is_refused() {
        let storage = MemoryStorage::new();
        damage(&storage, |transaction| {
            let table: TableDefinition<'_, &str, u64> = TableDefinition::new("shopping");
            transaction.open_table(table).unwrap().insert("eggs", 6).unwrap();
        });
        let error = open(&storage).err().unwrap();
        assert!(matches!(&error, OpenError::Damaged { detail, .. } if detail.contains("another program")), "{error}");
    }

    #[test]
    fn pages_overwritten_with_noise_are_told_and_do_not_panic() {
        let image = store().image().files.remove(FILE_NAME).unwrap();
        let pages = image.len() / 4096;
        for page in 0..pages {
            let mut image = image.clone();
            for (index, byte) in image[page * 4096..(page + 1) * 4096].iter_mut().enumerate() {
                *byte = (index * 31 + page).to_le_bytes()[0];
            }
            match open(&MemoryStorage::from_image(image)) {
                Err(OpenError::Damaged { .. }) => {}
                Err(other) => panic!("page {page}: {other}"),
                // The damage is named, or it hit a page that holds nothing now.
                Ok(memory) => {
                    if memory.check().is_ok_and(|report| report.problems.is_empty()) {
                        assert_eq!(memory.events(None, 9).unwrap().len(), 3, "page {page}");
                    }
                }
            }
        }
    }
}
