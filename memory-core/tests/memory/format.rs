//! A store that an earlier version wrote is read by this one.
//!
//! A fixture is a store's file as its 4 KiB pages that are not all zero: number of the page (u32), length without the zeros
//! at its end (u16), bytes; all little-endian, after the length of the file (u64).

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use memory_core::store::fault::FaultStorage;
use memory_core::store::{FILE_NAME, MemoryStorage};
use memory_core::word_search::{AlikeTo, Example, WordQuery};
use memory_core::{
    ConsolidationOptions, EpisodeFilter, EpisodeId, ForgetRequest, Kind, ManualClock, Memory, MomentVector,
    Observation, ObserveOutcome, Pose, PoseOf, Sensed, SensedEmbedding, StreamSpan, TimeSpan, Told, Value,
};

use crate::crash::images;
use crate::embeddings::LetterCounts;
use crate::support::{at, keyed, open_on, segment, told_at, with_session};

const PAGE: usize = 4096;

fn fixture(version: u32) -> PathBuf {
    file(&format!("format-{version}"))
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/{name}.pages"))
}

fn pack(image: &[u8]) -> Vec<u8> {
    let mut packed = (image.len() as u64).to_le_bytes().to_vec();
    for (number, page) in image.chunks(PAGE).enumerate() {
        let length = page.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        if length > 0 {
            packed.extend_from_slice(&u32::try_from(number).unwrap().to_le_bytes());
            packed.extend_from_slice(&u16::try_from(length).unwrap().to_le_bytes());
            packed.extend_from_slice(&page[..length]);
        }
    }
    packed
}

fn unpack(packed: &[u8]) -> Vec<u8> {
    let (length, mut rest) = packed.split_at(8);
    let mut image = vec![0; usize::try_from(u64::from_le_bytes(length.try_into().unwrap())).unwrap()];
    while let Some((header, after)) = rest.split_at_checked(6) {
        let start = u32::from_le_bytes(header[..4].try_into().unwrap()) as usize * PAGE;
        let (bytes, after) = after.split_at(u16::from_le_bytes(header[4..].try_into().unwrap()).into());
        image[start..start + bytes.len()].copy_from_slice(bytes);
        rest = after;
    }
    image
}

/// Writes one of everything.
fn write(memory: &Memory) {
    memory.set_text_embedder(Some(LetterCounts::new("letters-1")));
    let tell = |told: Told| memory.observe(vec![Observation::Told(told)]).unwrap().remove(0);
    let mut anna = Told { entity: Some("Anna".into()), until: Some(at(4)), ..keyed("a", "bring the blue mug", 2) };
    anna.attributes.insert("place".into(), Value::Text("Kitchen".into()));
    anna.attributes.insert("volume".into(), Value::Number(0.25));
    tell(anna);
    tell(Told { source: "tasks".into(), ..told_at("drives off", 3) });
    memory.observe(vec![Observation::Perceived(segment(0, 8, &["a mug", "a table"]))]).unwrap();
    tell(keyed("b", "the door is open", 500));
    tell(keyed("b", "the door is closed", 500));
    tell(with_session(told_at("pour water", 500), "tea-1"));
    tell(keyed("c", "a secret", 9000));
    memory.forget(&ForgetRequest::Span(TimeSpan::new(at(8999), at(9001)))).unwrap();
    memory.observe(vec![Observation::Perceived(segment(600, 608, &[]))]).unwrap();
    memory.set_setting("recording", "paused").unwrap();
    memory.embed_pending(3).unwrap();
}

fn assert_written(memory: &Memory, hidden: u64) {
    assert_eq!(memory.check().unwrap().problems, Vec::<String>::new());
    let texts: Vec<String> = memory.events(None, 99).unwrap().into_iter().map(|event| event.text).collect();
    let expected = ["bring the blue mug", "drives off", "a mug", "a table", "the door is closed", "pour water"];
    assert_eq!(texts, expected);

    let (seen, events) = memory.episode(EpisodeId(1)).unwrap().unwrap();
    assert_eq!((seen.source.as_str(), seen.session.as_deref()), ("camera", Some("s1")));
    assert_eq!(seen.span, TimeSpan::new(at(0), at(8)));
    assert_eq!(seen.media.as_deref(), Some("file:///media/0.mkv"));
    assert_eq!(seen.degraded, ["asr: model not installed"]);
    assert_eq!(events.len(), 4);
    assert_eq!(events[0].entity.as_deref(), Some("Anna"));
    assert_eq!(events[0].attributes["volume"], Value::Number(0.25));
    assert_eq!(events[0].stream.unwrap().end.as_secs(), 4);
    assert_eq!(memory.episode(EpisodeId(2)).unwrap().unwrap().0.id, EpisodeId(1), "merged");

    let at_place = EpisodeFilter { place: Some("kitchen".into()), ..EpisodeFilter::default() };
    assert_eq!(memory.episodes(&at_place).unwrap().episodes.len(), 1);
    assert_eq!(memory.setting("recording").unwrap().as_deref(), Some("paused"));
    let stats = memory.stats();
    assert_eq!((stats.observations, stats.events, stats.episodes, stats.hidden), (8, 6, 4, hidden));
    memory.set_text_embedder(Some(LetterCounts::new("letters-1")));
    assert_eq!(memory.stats().pending_embeddings, 3, "vectors are read");

    let again = |told: Told| memory.observe(vec![Observation::Told(told)]).unwrap().remove(0);
    assert!(matches!(again(keyed("b", "the door is closed", 500)), ObserveOutcome::Duplicate { .. }));
    assert!(matches!(again(keyed("c", "a secret", 9000)), ObserveOutcome::Rejected { .. }));
    let repeated = memory.observe(vec![Observation::Perceived(segment(600, 608, &[]))]).unwrap().remove(0);
    assert!(matches!(repeated, ObserveOutcome::Duplicate { .. }));
}

fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at(at(0)))
}

#[test]
fn this_version_reads_what_it_writes() {
    let storage = MemoryStorage::new();
    write(&open_on(Arc::new(storage.clone()), &clock()));
    let image = storage.image().files.remove(FILE_NAME).unwrap();
    assert_eq!(unpack(&pack(&image)), image);
    assert_written(&open_on(Arc::new(MemoryStorage::from_image(image)), &clock()), 2);
}

#[test]
fn a_store_of_every_format_is_read_also_after_compaction() {
    for format in 1..=5 {
        let image = unpack(&std::fs::read(fixture(format)).unwrap());
        assert_written(&open_on(Arc::new(MemoryStorage::from_image(image.clone())), &clock()), 2);

        let storage = MemoryStorage::from_image(image);
        let memory = open_on(Arc::new(storage.clone()), &clock());
        memory.compact().unwrap();
        assert_written(&memory, 1);
        assert!(!storage.image().contains(b"a secret"), "format {format}");
        drop(memory);
        assert_written(&open_on(Arc::new(storage), &clock()), 1);
    }
}

#[test]
fn power_loss_at_any_sync_of_an_upgrade_leaves_the_older_store_or_the_newer_one() {
    for format in 1..=4 {
        let storage = FaultStorage::from_image(unpack(&std::fs::read(fixture(format)).unwrap()));
        drop(open_on(Arc::new(storage.clone()), &clock()));
        let mut cuts = 0;
        storage.for_each_power_cut(|cut| {
            cuts += 1;
            for (_, image) in images(cut) {
                assert_written(&open_on(Arc::new(MemoryStorage::from_image(image)), &clock()), 2);
            }
        });
        assert!(cuts > 2, "{cuts} syncs from format {format}: nothing was upgraded");
    }
}

/// Writes what format 4 brought: a stay, vectors that events share, and poses.
fn write_stays(memory: &Memory) {
    memory.set_text_embedder(Some(LetterCounts::new("letters-1")));
    memory.set_consolidation(ConsolidationOptions {
        enabled: true,
        after: Duration::ZERO,
        ..ConsolidationOptions::default()
    });
    for (start, text) in [(-500, "a mug"), (-490, "a mug"), (-400, "a mug")] {
        let mut segment = segment(start, start + 10, &[text]);
        segment.media = Some("archive:camera/s1".into());
        let picture = SensedEmbedding {
            sensed: Sensed::Picture,
            space: "mobilenet-v1/avgpool/l2".into(),
            vector: vec![3.0, 4.0],
            sequence: Vec::new(),
        };
        let (x, y, z, yaw) = (1.0, 2.0, 0.0, 0.5);
        let pose = Pose { frame: "map".into(), x, y, z, yaw, covariance: None, of: PoseOf::Robot };
        for event in &mut segment.events {
            event.embeddings.push(picture.clone());
            event.pose = Some(pose.clone());
        }
        // The stream began before.
        let stream = |at: i64| Duration::from_secs((at + 1_000).unsigned_abs());
        segment.stream = StreamSpan { start: stream(start), end: stream(start + 10) };
        memory.observe(vec![Observation::Perceived(segment)]).unwrap();
    }
    while memory.consolidate_pending(9).unwrap() > 0 {}
    assert_eq!(memory.embed_pending(9).unwrap().embeddings, 0);
}

fn assert_stays(memory: &Memory) {
    assert_eq!(memory.check().unwrap().problems, Vec::<String>::new());
    let events = memory.events(None, 99).unwrap();
    let spans: Vec<TimeSpan> = events.iter().map(|event| event.span).collect();
    assert_eq!(spans, [TimeSpan::new(at(-400), at(-390)), TimeSpan::new(at(-500), at(-480))]);
    assert!(events.iter().all(|event| event.pose.as_ref().is_some_and(|pose| pose.x == 1.0 && pose.frame == "map")));
    assert_eq!(memory.episode(EpisodeId(2)).unwrap().unwrap().0.id, EpisodeId(1), "part of the stay");
    memory.set_text_embedder(Some(LetterCounts::new("letters-1")));
    assert_eq!(memory.stats().pending_embeddings, 0, "shared vectors are read");
}

#[test]
fn stays_shared_vectors_and_poses_of_format_4_are_read_also_after_compaction() {
    let image = unpack(&std::fs::read(file("stays-4")).unwrap());
    let memory = open_on(Arc::new(MemoryStorage::from_image(image)), &clock());
    assert_stays(&memory);
    memory.compact().unwrap();
    assert_stays(&memory);
}

#[test]
fn stays_are_read_as_this_version_writes_them() {
    let storage = MemoryStorage::new();
    write_stays(&open_on(Arc::new(storage.clone()), &clock()));
    assert_stays(&open_on(Arc::new(storage), &clock()));
}

/// Writes what format 5 brought: segments that show more than one look, as they are and in a stay.
fn write_looks(memory: &Memory) {
    memory.set_consolidation(ConsolidationOptions {
        enabled: true,
        after: Duration::ZERO,
        ..ConsolidationOptions::default()
    });
    for start in [-500, -490, -200, -100] {
        let mut segment = segment(start, start + 10, &["a bench"]);
        segment.events[0].kind = Kind::Caption;
        segment.media = Some("archive:camera/s1".into());
        // The stream began before.
        let stream = |at: i64| Duration::from_secs((at + 1_000).unsigned_abs());
        segment.stream = StreamSpan { start: stream(start), end: stream(start + 10) };
        segment.events[0].stream = segment.stream;
        let moment =
            |after: u64, vector| MomentVector { at: segment.stream.start + Duration::from_secs(after), vector };
        let sequence = vec![moment(1, vec![3.0, 4.0]), moment(5, vec![4.0, -3.0])];
        let (space, vector) = ("mobilenet-v1/avgpool/l2".into(), vec![7.0, 1.0]);
        segment.events[0].embeddings = vec![match start {
            -100 => SensedEmbedding { sensed: Sensed::Picture, space, vector: vec![3.0, 4.0], sequence: Vec::new() },
            _ => SensedEmbedding { sensed: Sensed::Picture, space, vector, sequence },
        }];
        memory.observe(vec![Observation::Perceived(segment)]).unwrap();
    }
    while memory.consolidate_pending(9).unwrap() > 0 {}
}

fn assert_looks(memory: &Memory) {
    let report = memory.check().unwrap();
    assert_eq!(report.problems, Vec::<String>::new());
    let events = memory.events(None, 99).unwrap();
    let last = events.iter().max_by_key(|event| event.span.start).unwrap();
    let similar_to = Some(AlikeTo { example: Example::Picture(last.id), cosine: Some(0.9) });
    let page = memory.search_words(&WordQuery { similar_to, limit: 9, ..WordQuery::default() }).unwrap();
    let mut begins: Vec<u64> = page.found.iter().map(|found| found.event.stream.unwrap().start.as_secs()).collect();
    begins.sort_unstable();
    assert_eq!(begins, [501, 801], "the first look of the stay and that of the other segment");
}

#[test]
fn looks_of_format_5_are_read_also_after_compaction() {
    let image = unpack(&std::fs::read(file("looks-5")).unwrap());
    let memory = open_on(Arc::new(MemoryStorage::from_image(image)), &clock());
    assert_looks(&memory);
    memory.compact().unwrap();
    assert_looks(&memory);
}

/// Run once, when a format is new: `cargo test -p memory-core --test memory -- --ignored write_the_fixture`.
#[test]
#[ignore = "writes the fixture of the newest format"]
fn write_the_fixture() {
    let storage = MemoryStorage::new();
    write(&open_on(Arc::new(storage.clone()), &clock()));
    std::fs::write(fixture(5), pack(&storage.image().files[FILE_NAME])).unwrap();
    let storage = MemoryStorage::new();
    let memory = open_on(Arc::new(storage.clone()), &clock());
    write_looks(&memory);
    assert_looks(&memory);
    drop(memory);
    std::fs::write(file("looks-5"), pack(&storage.image().files[FILE_NAME])).unwrap();
}
