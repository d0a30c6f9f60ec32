use std::time::Duration;

use proptest::prelude::*;

use super::super::{Document, Index, Search, SearchQuery, holding_phrase};
use super::*;
use crate::{EpisodeId, EventId, Kind, Modality, StreamSpan, TimeSpan, Timestamp};

const TEXTS: [&str; 5] =
    ["the red mug is on the table", "Anna waters the garden", "", "a robot, a robot!", "the garden table is red"];

fn document(id: u64) -> Document {
    let at = Timestamp::from_micros(i64::try_from(id).unwrap() * 20_000_000);
    let stream = Duration::from_secs(id);
    Document {
        id: EventId(id),
        episode: EpisodeId(id / 3),
        kind: Kind::ALL[id as usize % 7],
        modality: if id.is_multiple_of(2) { Modality::Audio } else { Modality::Visual },
        span: TimeSpan::new(at, at.saturating_add(Duration::from_secs(id % 5))),
        stream: (id % 4 == 1).then_some(StreamSpan { start: stream, end: stream }),
        source: ["asr", "camera"][id as usize % 2].into(),
        entity: [None, Some("Anna Lee"), Some("Ben")][id as usize % 3].map(str::to_owned),
        text: TEXTS[id as usize % TEXTS.len()].into(),
    }
}

fn index(documents: u64) -> CompressedIndex {
    index_with(IndexOptions::default(), documents)
}

fn index_with(options: IndexOptions, documents: u64) -> CompressedIndex {
    let mut index = CompressedIndex::new(options);
    for first in (1..=documents).step_by(512) {
        index.append(&(first..=documents.min(first + 511)).map(document).collect::<Vec<_>>());
    }
    index.use_space(4);
    let vector = |id: u64| vec![i16::try_from(id % 900).unwrap() + 1, 500, -300, 20];
    index.embed(&(1..=documents).filter(|id| id % 5 > 0).map(|id| (EventId(id), vector(id))).collect::<Vec<_>>());
    index.hide(&[EventId(2), EventId(documents)]);
    index
}

fn bytes_of(index: &CompressedIndex) -> Vec<u8> {
    let mut bytes = Vec::new();
    index.snapshot().write_snapshot(&mut bytes).unwrap();
    bytes
}

fn read(bytes: &[u8]) -> Result<CompressedIndex, SectionError> {
    let one_by_one = CompressedIndex::read_snapshot(IndexOptions::default(), &mut &*bytes);
    let at_once = CompressedIndex::read_snapshot_bytes(IndexOptions::default(), bytes);
    assert!(one_by_one.is_ok() || at_once.is_err(), "what is read at once can be read one by one");
    at_once
}

fn answers(search: &dyn Search) -> Vec<Vec<super::super::Hit>> {
    let ask = |text: &str, embedding: Option<Vec<f32>>| SearchQuery {
        text: text.into(),
        embedding,
        limit: 20,
        ..SearchQuery::default()
    };
    let queries = [
        ask("a red table for Anna", None),
        ask("who waters the garden", Some(vec![0.3, 0.9, -0.2, 0.0])),
        ask("", Some(vec![1.0, 0.0, 0.0, 0.0])),
        SearchQuery { entity: Some("ben".into()), source: Some("asr".into()), ..ask("robot", None) },
        SearchQuery { latest: true, ..ask("", None) },
    ];
    queries.iter().map(|query| search.search(query)).collect()
}

#[test]
fn an_index_that_was_read_back_answers_and_goes_on_like_the_one_that_was_written() {
    for documents in [0, 1, 700, 3_000] {
        let mut written = index(documents);
        let bytes = bytes_of(&written);
        let mut back = read(&bytes).unwrap();
        assert_eq!(bytes_of(&back), bytes, "the same bytes again");
        for index in [&mut written, &mut back] {
            index.append(&[document(documents + 1), document(documents + 2)]);
            index.embed(&[(EventId(documents + 1), vec![9, 8, 7, 6])]);
            index.hide(&[EventId(5)]);
        }
        let (written, back) = (written.snapshot(), back.snapshot());
        assert_eq!(answers(&*back), answers(&*written));
        assert_eq!((back.len(), back.embedded()), (written.len(), written.embedded()));
        assert_eq!(back.terms("red garden mug"), written.terms("red garden mug"));
        assert_eq!(back.session(None), written.session(None));
        assert!((0..documents + 3).all(|id| back.text(EventId(id)) == written.text(EventId(id))));
        assert_eq!(holding_phrase(&*back, "red mug", 9), holding_phrase(&*written, "red mug", 9));
    }
}

#[test]
fn a_full_segment_is_read_back() {
    let written = index(u64::from(SEGMENT) + 50);
    let back = read(&bytes_of(&written)).unwrap();
    assert_eq!(back.state.postings.full().len(), 1);
    assert_eq!(answers(&*back.snapshot()), answers(&*written.snapshot()));
}

#[test]
fn an_index_made_with_other_options_is_refused() {
    let bytes = bytes_of(&index(10));
    let other = IndexOptions { language: Language::German, ..IndexOptions::default() };
    let error = CompressedIndex::read_snapshot(other, &mut bytes.as_slice()).err().unwrap();
    assert!(error.to_string().contains("another language"), "{error}");
    let other = IndexOptions { signature: SignatureOptions::new(256, 1).unwrap(), ..IndexOptions::default() };
    assert!(CompressedIndex::read_snapshot(other, &mut bytes.as_slice()).is_err());
}

#[test]
fn what_follows_an_index_is_an_error() {
    let mut bytes = bytes_of(&index(12));
    bytes.push(0);
    assert!(read(&bytes).is_err());
}

fn fixture() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/index-3.sections")
}

/// One of everything but a full segment; short signatures, so that the file is small, of which every word has its place.
fn index_of_fixture() -> CompressedIndex {
    let signature = SignatureOptions::new(320, 7).unwrap();
    index_with(IndexOptions { signature, ..IndexOptions::default() }, 1_100)
}

/// A test that fails here says that a new version of the format is needed.
#[test]
fn an_index_of_version_3_is_read_and_written_again_byte_for_byte() {
    let stored = std::fs::read(fixture()).unwrap();
    let back = CompressedIndex::read_snapshot_bytes(index_of_fixture().options, &stored).unwrap();
    assert!(bytes_of(&back) == stored, "the bytes are other ones");
    assert_eq!(answers(&*back.snapshot()), answers(&*index_of_fixture().snapshot()));
    assert_eq!(back.snapshot().text(EventId(1_099)).as_deref(), Some(TEXTS[1_099 % 5]));
}

/// Run once, when a version is new: `cargo test -p memory-core --lib -- --ignored write_the_index_fixture`.
#[test]
#[ignore = "writes the fixture of the newest version"]
fn write_the_index_fixture() {
    std::fs::write(fixture(), bytes_of(&index_of_fixture())).unwrap();
}

#[test]
fn an_index_of_another_version_is_refused_with_the_one_that_is_read() {
    let mut bytes = bytes_of(&index(12));
    bytes[12] -= 1;
    reseal(&mut bytes);
    let refused = read(&bytes).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(refused.contains("format 2 is not known, only 3"), "{refused}");
}

#[test]
fn every_cut_is_an_error() {
    let bytes = bytes_of(&index(12));
    for len in (0..bytes.len()).step_by(7) {
        assert!(read(&bytes[..len]).is_err(), "{len}");
    }
}

/// Makes the checksums of all sections fit again, so that what is behind them is tested.
fn reseal(bytes: &mut [u8]) {
    let mut at = 0;
    while at + 12 <= bytes.len() {
        let length = u64::from_le_bytes(bytes[at + 4..at + 12].try_into().unwrap());
        let Some(end) = usize::try_from(length).ok().and_then(|length| (at + 12).checked_add(length)) else { return };
        if end + 4 > bytes.len() {
            return;
        }
        let sum = crc32fast::hash(&bytes[at..end]);
        bytes[end..end + 4].copy_from_slice(&sum.to_le_bytes());
        at = end + 4;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_flipped_bit_or_a_cut_is_an_error(at in any::<prop::sample::Index>(), bit in 0..8_u8) {
        let bytes = bytes_of(&index(60));
        let at = at.index(bytes.len());
        prop_assert!(read(&bytes[..at]).is_err());
        let mut flipped = bytes;
        flipped[at] ^= 1 << bit;
        prop_assert!(read(&flipped).is_err());
    }

    #[test]
    fn arbitrary_bytes_are_an_error(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(read(&bytes).is_err());
    }

    #[test]
    fn damage_behind_fitting_checksums_is_an_error_or_an_index_that_answers(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = bytes_of(&index(60));
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        reseal(&mut bytes);
        if let Ok(mut index) = read(&bytes) {
            answers(&*index.snapshot());
            if index.state.entries.len() > 0 && index.state.entries.get(index.state.entries.len() - 1).id < EventId(u64::MAX) {
                index.append(&[Document { id: EventId(u64::MAX), ..document(61) }]);
            }
            index.hide(&[EventId(1)]);
            answers(&*index.snapshot());
        }
    }
}

/// A target of fuzzing.
#[test]
fn fuzz_index_file() {
    let valid = [bytes_of(&index(12)), bytes_of(&index(60))];
    let valid = [valid[0].as_slice(), valid[1].as_slice()];
    fuzzing::fuzz("index file", 300, |random| {
        let mut bytes = random.mutated(&valid);
        reseal(&mut bytes);
        if let Ok(index) = read(&bytes) {
            answers(&*index.snapshot());
        }
    });
}
