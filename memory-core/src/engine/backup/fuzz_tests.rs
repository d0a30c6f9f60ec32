//! Backups and stored rows that are mutated: refused, or a store that can be used.

use std::sync::Arc;

use fuzzing::fuzz;

use super::*;
use crate::engine::test_bench;
use crate::store::envelope::RecordType;
use crate::store::memory_storage::MemoryStorage;
use crate::store::records::{EPISODE, EpisodeRow, decode_attributes};
use crate::{
    EpisodeFilter, EventId, FactFilter, ForgetRequest, GistFilter, Kind, Level, ManualClock, Memory, MemoryOptions,
    Modality, Observation, Perceived, PerceivedEvent, Pose, PoseOf, Query, Sensed, SensedEmbedding, StreamSpan,
    TimeSpan, Timestamp, Told,
};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros((1_795_161_600 + seconds) * 1_000_000)
}

fn open() -> Memory {
    let options = MemoryOptions { cache_bytes: 1 << 20, ..test_bench::options() };
    let clock = Arc::new(ManualClock::at(at(90_000)));
    Memory::open_in(Arc::new(MemoryStorage::new()), options, clock).unwrap()
}

fn told(id: &str, kind: Kind, text: &str, seconds: i64) -> Observation {
    Observation::Told(Told {
        id: Some(id.into()),
        kind,
        at: Some(at(seconds)),
        until: (kind == Kind::Action).then(|| at(seconds + 5)),
        text: text.into(),
        source: "asr".into(),
        entity: Some("Zelda".into()),
        attributes: decode_attributes(Some(r#"{"session": "s", "n": [1, 0.5, null]}"#)).unwrap(),
        pose: Some(Pose { frame: "map".into(), x: 1.0, y: -2.0, ..pose() }),
        ..Told::default()
    })
}

fn pose() -> Pose {
    Pose { frame: "map".into(), x: 0.0, y: 0.0, z: 0.0, yaw: 0.0, covariance: None, of: PoseOf::Robot }
}

fn segment(start: i64) -> Observation {
    let stream = StreamSpan { start: std::time::Duration::ZERO, end: std::time::Duration::from_secs(8) };
    let embedding = SensedEmbedding {
        sensed: Sensed::Face,
        space: "faces".into(),
        vector: vec![3.0, -4.0, 0.5],
        sequence: Vec::new(),
    };
    Observation::Perceived(Perceived {
        source: "camera".into(),
        session: "s1".into(),
        start: at(start),
        end: at(start + 8),
        stream,
        boundary: crate::Boundary::Visual,
        events: vec![PerceivedEvent {
            kind: Kind::Object,
            modality: Modality::Visual,
            text: "somebody".into(),
            start: at(start),
            end: at(start + 8),
            stream,
            entity: None,
            attributes: Default::default(),
            confidence: 0.5,
            pose: None,
            embeddings: vec![embedding],
        }],
        media: Some("file:///film.mkv".into()),
        degraded: vec!["asr".into()],
    })
}

/// A backup with rows in every table.
fn backup() -> Vec<u8> {
    let memory = open();
    for round in 0..3 {
        let from = round * 2_000;
        let actions = ["fills the kettle", "boils the water", "pours the cup"];
        for (step, action) in actions.into_iter().enumerate() {
            let seconds = from + 60 * i64::try_from(step).unwrap();
            memory.observe(vec![told(&format!("{round}-{step}"), Kind::Action, action, seconds)]).unwrap();
        }
        memory.observe(vec![segment(from + 300), segment(from + 308)]).unwrap();
    }
    memory.observe(vec![told("0-0", Kind::Action, "rinses the kettle", 0)]).unwrap();
    memory.observe(vec![told("x", Kind::State, "The kettle is empty.", 70_000)]).unwrap();
    memory.forget(&ForgetRequest::Span(TimeSpan::new(at(300), at(304)))).unwrap();
    memory.set_setting("recording", "paused").unwrap();
    memory.relearn().unwrap();
    while memory.learn_pending(100).unwrap().has_lessons() {}
    while memory.gists_pending(100).unwrap() > 0 {}
    let mut file = Vec::new();
    memory.backup(&mut file).unwrap();
    file
}

#[derive(Clone)]
struct StoredRow {
    table: String,
    key: Vec<u8>,
    value: Vec<u8>,
}

fn rows_of(file: &[u8]) -> (Vec<u8>, Vec<StoredRow>) {
    let mut input = file;
    let (header, mut reader) = begin_reading(&mut input).unwrap();
    let (mut rows, mut table) = (Vec::new(), String::new());
    loop {
        match reader.next().unwrap() {
            BackupRecord::Table(name) => table = name,
            BackupRecord::Row(key, value) => rows.push(StoredRow { table: table.clone(), key, value }),
            BackupRecord::End(_) => break,
        }
    }
    (postcard::to_stdvec(&header).unwrap(), rows)
}

fn written(header: &[u8], rows: &[StoredRow]) -> Vec<u8> {
    let mut file = Vec::new();
    let container = ContainerWriter::begin(BACKUP, header, &mut file).unwrap();
    let mut writer = RowWriter { container, hash: Sha256::new(), rows: 0, buffer: Vec::new() };
    let mut table = "";
    for row in rows {
        if row.table != table {
            table = &row.table;
            writer.begin(table).unwrap();
        }
        writer.put(&row.key, &row.value).unwrap();
    }
    writer.finish().unwrap();
    file
}

/// The type of the record and the part of the key that its checksum covers; `None` for values without an envelope.
fn envelope_of(row: &StoredRow) -> Option<(RecordType, Vec<u8>)> {
    let (&tag, &version) = (row.value.get(1)?, row.value.get(2)?);
    let record = RecordType { table: "any", tag, version };
    let keys = (0..=row.key.len()).map(|from| &row.key[from..]);
    keys.map(<[u8]>::to_vec).find(|key| envelope::open_bytes(record, key, &row.value).is_ok()).map(|key| (record, key))
}

/// Everything that is done with a store.
fn use_store(memory: &Memory) {
    let ids: Vec<EventId> =
        memory.events(None, 50).map(|events| events.iter().map(|event| event.id).collect()).unwrap_or_default();
    drop(memory.episodes(&EpisodeFilter { limit: Some(50), ..EpisodeFilter::default() }));
    drop((memory.entities(50), memory.places(), memory.persons(), memory.recordings_to_remove()));
    drop((
        memory.facts(&FactFilter::default()),
        memory.gists(&GistFilter { level: Level::Hour, span: None, limit: Some(50), budget: None }),
    ));
    for question in
        ["Where is the kettle?", "Who was there on 20 November 2026?", "What happens after the water boils?"]
    {
        drop(memory.ask(&Query { question: question.into(), ..Query::default() }));
    }
    drop(memory.observe(vec![
        told("0-0", Kind::Action, "scrubs the kettle", 0),
        told("y", Kind::Text, "hello", 9_000),
        segment(20_000),
    ]));
    drop((memory.learn_pending(50), memory.gists_pending(50), memory.consolidate_pending(50)));
    drop(memory.forget(&ForgetRequest::Span(TimeSpan::new(at(2_000), at(2_100)))));
    drop(memory.forget(&ForgetRequest::Entity("Zelda".into())));
    drop((memory.compact(), memory.check(), memory.backup(&mut Vec::new())));
    drop(ids.first().map(|id| memory.event(*id)));
}

/// Found by fuzzing: hiding an event subtracted from a count of 0.
#[test]
fn fuzz_found_an_episode_that_counts_fewer_events_than_it_has() {
    let (header, mut rows) = rows_of(&backup());
    for row in rows.iter_mut().filter(|row| row.table == EPISODE.table) {
        let key = row.key.clone();
        let Ok(EpisodeRow::Live(mut body)) = envelope::open(EPISODE, &key, &row.value) else { continue };
        body.events = 0;
        row.value = envelope::seal(EPISODE, &key, &EpisodeRow::Live(body));
    }
    let memory = open();
    memory.restore(&mut written(&header, &rows).as_slice(), true).unwrap();
    assert!(memory.forget(&ForgetRequest::Entity("Zelda".into())).unwrap().events > 0);
}

/// Mutates the payload of one row, behind checksums that fit, and uses the restored store.
#[test]
fn rows_behind_fitting_checksums() {
    let (header, rows) = rows_of(&backup());
    let tags: std::collections::BTreeSet<u8> = rows.iter().filter_map(|row| Some(envelope_of(row)?.0.tag)).collect();
    assert!(tags.len() >= 11, "only records {tags:?} are in the backup: too few are tested");
    let payload = |row: &StoredRow| row.value[if envelope_of(row).is_some() { 11 } else { 0 }..].to_vec();
    let payloads: Vec<_> = rows.iter().map(payload).collect();
    fuzz("rows of a restored backup", 40, |random| {
        let mut rows = rows.clone();
        for _ in 0..=random.below(3) {
            let number = random.below(rows.len());
            let value = random.mutated(&[&payloads[number]]);
            rows[number].value = match envelope_of(&rows[number]) {
                Some((record, key)) => envelope::seal_bytes(record, &key, &value),
                None => value,
            };
        }
        let memory = open();
        if memory.restore(&mut written(&header, &rows).as_slice(), true).is_ok() {
            use_store(&memory);
        }
    });
}
