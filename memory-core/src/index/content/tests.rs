use proptest::prelude::*;

use super::*;
use crate::index::section::SectionError;

fn store_of(texts: &[impl AsRef<str>]) -> ContentStore {
    let mut store = ContentStore::new();
    for (entry, text) in texts.iter().enumerate() {
        assert_eq!(store.append(text.as_ref()), Ok(entry));
    }
    store
}

fn assert_holds(view: &ContentView, texts: &[impl AsRef<str>]) {
    assert_eq!(view.len(), texts.len());
    let mut start = 0;
    for (entry, text) in texts.iter().enumerate() {
        let span = view.span(entry).unwrap();
        assert_eq!(span.start, start);
        assert_eq!(view.text(entry).unwrap(), text.as_ref());
        start = span.end;
    }
    assert_eq!(start, view.tokens().len());
    let all: String = texts.iter().map(AsRef::as_ref).collect();
    assert_eq!(view.bytes_of(0..start).unwrap(), all.as_bytes());
}

fn any_text() -> impl Strategy<Value = String> {
    let words =
        prop::sample::select(vec!["the", " mug", " is", " red", ".", "\n", " 12", " naïve", "東京", "🙂", "  "]);
    prop_oneof![
        Just(String::new()),
        any::<String>(),
        prop::collection::vec(words, 0..40).prop_map(|words| words.concat()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_text_comes_back_exactly_and_states_stay(
        before in prop::collection::vec(any_text(), 0..20), after in prop::collection::vec(any_text(), 0..20)
    ) {
        let mut store = store_of(&before);
        let state = store.snapshot();
        for text in &after {
            store.append(text).unwrap();
        }
        assert_holds(&state, &before);
        assert_holds(&store.snapshot(), &[before, after].concat());
    }

    #[test]
    fn content_is_read_back_from_its_file_and_goes_on(
        texts in prop::collection::vec(any_text(), 0..20), more in any_text()
    ) {
        let mut file = Vec::new();
        store_of(&texts).snapshot().encode(&mut file).unwrap();
        let mut read = ContentStore::decode(&mut file.as_slice()).unwrap();
        assert_holds(&read.snapshot(), &texts);
        read.append(&more).unwrap();
        assert_holds(&read.snapshot(), &[texts, vec![more]].concat());
    }

    #[test]
    fn hostile_bytes_are_refused_or_read_but_never_panic(
        words in 0..4_u32, entries in 0..6_u64,
        word_bytes in prop::collection::vec(prop_oneof![0..6_u8, any::<u8>()], 0..24),
        counts in prop::collection::vec(prop_oneof![0..4_u8, any::<u8>()], 0..12),
        symbols in prop::collection::vec(0..262_u32, 0..12),
    ) {
        // The checksums fit: only what they guard is arbitrary.
        let mut file = Vec::new();
        let mut shape = 1_u16.to_le_bytes().to_vec();
        shape.extend(words.to_le_bytes());
        shape.extend(entries.to_le_bytes());
        let mut tokens = WaveletMatrix::new(262).unwrap();
        tokens.extend_from_slice(&symbols).unwrap();
        for (tag, payload) in [("CTHD", shape), ("CTWD", word_bytes), ("CTEN", counts)] {
            crate::index::section::write_section(&mut file, tag, &payload).unwrap();
        }
        tokens.view().encode(&mut file).unwrap();
        if let Ok(read) = ContentStore::decode(&mut file.as_slice()) {
            let view = read.snapshot();
            for entry in 0..view.len() {
                drop(view.text(entry));
            }
        }
    }
}

#[test]
fn an_entry_of_a_million_tokens_and_entries_of_none_are_kept() {
    let mut store = ContentStore::new();
    store.append("").unwrap();
    let long: String = (0..1_000_000).map(|number| [" red", " mug", "."][number % 3]).collect();
    store.append(&long).unwrap();
    store.append("").unwrap();
    store.append("the end").unwrap();
    let view = store.snapshot();
    assert_eq!(view.span(1).unwrap(), 0..1_000_000);
    assert_eq!(view.text(1).unwrap(), long);
    assert_eq!((view.span(0).unwrap(), view.span(2).unwrap()), (0..0, 1_000_000..1_000_000));
    assert_eq!((view.text(0).unwrap(), view.text(3).unwrap()), (String::new(), "the end".to_owned()));
    assert_eq!(view.bytes_of(999_999..1_000_002).unwrap(), b" redthe end");
}

#[test]
fn what_is_not_there_is_told() {
    let view = store_of(&["one entry"]).snapshot();
    assert_eq!(view.text(1), Err(ContentError::NoSuchEntry { entry: 1, entries: 1 }));
    assert_eq!(view.span(usize::MAX), Err(ContentError::NoSuchEntry { entry: usize::MAX, entries: 1 }));
    let beyond = MatrixError::SpanOutOfRange { start: 1, end: 3, len: 2 };
    assert_eq!(view.bytes_of(1..3), Err(ContentError::Tokens(beyond)));
    let empty = ContentStore::new().snapshot();
    assert!(empty.is_empty());
    assert_eq!(empty.text(0), Err(ContentError::NoSuchEntry { entry: 0, entries: 0 }));
    assert_eq!(empty.bytes_of(0..0), Ok(Vec::new()));
}

#[test]
fn readers_on_other_threads_see_their_state_while_the_writer_appends() {
    let texts: Vec<String> = (0..3_000).map(|n| format!("Entry {n}: word{} was seen again.", n * 7 % 911)).collect();
    let mut store = ContentStore::new();
    std::thread::scope(|scope| {
        for (entry, text) in texts.iter().enumerate() {
            store.append(text).unwrap();
            if entry % 500 == 77 {
                let (view, texts) = (store.snapshot(), &texts);
                scope.spawn(move || assert_holds(&view, &texts[..=entry]));
            }
        }
    });
}

const GOLDEN: [&str; 4] = ["The mug is on the table.", "", "Anna’s naïve 🙂 said: 東京 12345", "the mug is red"];

fn fixture(version: u16) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/content-{version}.sections"))
}

#[test]
fn content_of_format_1_is_read_and_written_as_it_was() {
    let file = std::fs::read(fixture(1)).unwrap();
    let read = ContentStore::decode(&mut file.as_slice()).unwrap();
    assert_holds(&read.snapshot(), &GOLDEN);
    for store in [read, store_of(&GOLDEN)] {
        let mut written = Vec::new();
        store.snapshot().encode(&mut written).unwrap();
        assert!(written == file, "a change of the bytes needs a new version");
    }
}

/// Run once, when a format is new: `cargo test -p memory-core --lib -- --ignored write_the_content_fixture`.
#[test]
#[ignore = "writes the fixture of the newest format"]
fn write_the_content_fixture() {
    let mut file = Vec::new();
    store_of(&GOLDEN).snapshot().encode(&mut file).unwrap();
    std::fs::write(fixture(1), file).unwrap();
}

#[test]
fn damage_is_told_wherever_it_is() {
    let mut file = Vec::new();
    store_of(&GOLDEN).snapshot().encode(&mut file).unwrap();
    for at in 0..file.len() {
        let mut damaged = file.clone();
        damaged[at] ^= 0x04;
        assert!(ContentStore::decode(&mut damaged.as_slice()).is_err(), "byte {at}");
        assert!(ContentStore::decode(&mut &file[..at]).is_err(), "{at} bytes");
    }
    let mut newer = Vec::new();
    crate::index::section::write_section(&mut newer, "CTHD", &[2, 0, 0, 0, 0, 0]).unwrap();
    assert!(matches!(ContentStore::decode(&mut newer.as_slice()), Err(SectionError::Version { found: 2, .. })));
}
