//! An index that was read from its file is the one that would be built from the store, whatever happened in between.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;

use super::handle::Engine;
use crate::engine::test_bench::{Letters, options};
use crate::index::{Hit, Search, SearchQuery, TermStatistics};
use crate::ports::TextEmbedder;
use crate::store::fault::{FaultStorage, Survival};
use crate::store::generation::Generation;
use crate::store::memory_storage::{Image, MemoryStorage};
use crate::store::storage::Storage;
use crate::{
    Boundary, EventId, ForgetRequest, Kind, ManualClock, Modality, Observation, Perceived, PerceivedEvent, SaveIndex,
    Stats, StreamSpan, TimeSpan, Timestamp, Told,
};

fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at(at(0)))
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros((1_795_161_600 + seconds) * 1_000_000)
}

fn open(storage: impl Storage + 'static) -> Engine {
    Engine::open(Arc::new(storage), options(), clock()).unwrap()
}

fn with_space(storage: impl Storage + 'static, space: Option<&'static str>) -> Engine {
    let store = open(storage);
    store.set_text_embedder(space.map(|space| Arc::new(Letters(space)) as Arc<dyn TextEmbedder>));
    store
}

fn told(source: &str, id: Option<u8>, seconds: i64, text: &str, entity: Option<&str>) -> Observation {
    Observation::Told(Told {
        id: id.map(|id| id.to_string()),
        at: Some(at(seconds)),
        kind: Kind::Text,
        text: text.into(),
        source: source.into(),
        entity: entity.map(str::to_owned),
        ..Told::default()
    })
}

fn segment(start: i64, length: i64, texts: &[&str]) -> Observation {
    let stream = |seconds: i64| Duration::from_secs(seconds.unsigned_abs());
    let (from, to) = (at(start), at(start + length));
    let span = StreamSpan { start: stream(start), end: stream(start + length) };
    let event = |text: &&str| PerceivedEvent {
        kind: Kind::Object,
        modality: Modality::Visual,
        text: (*text).into(),
        start: from,
        end: to,
        stream: span,
        entity: None,
        attributes: Default::default(),
        confidence: 0.8,
        pose: None,
        embeddings: Vec::new(),
    };
    Observation::Perceived(Perceived {
        source: "camera".into(),
        session: "s".into(),
        start: from,
        end: to,
        stream: span,
        boundary: Boundary::Visual,
        events: texts.iter().map(event).collect(),
        media: None,
        degraded: Vec::new(),
    })
}

/// What can be seen of an index but scores and what context alone finds: both depend on hidden documents that it still
/// holds.
#[derive(Debug, PartialEq)]
struct Seen {
    /// Event, episode and text, in order of time.
    events: Vec<(EventId, u64, Option<String>)>,
    len: usize,
    embedded: Vec<EventId>,
    terms: Vec<TermStatistics>,
    phrases: Vec<Vec<EventId>>,
    stats: Stats,
}

const TEXTS: [&str; 6] = [
    "the red mug is on the kitchen table",
    "anna waters the garden",
    "a robot, a robot!",
    "the garden table is red",
    "ben broke the mug in the garden",
    "wölfe heulen nachts",
];
const NAMES: [&str; 3] = ["Anna", "Ben", "the Blue Cart"];

fn queries() -> Vec<SearchQuery> {
    let ask = |text: &str, embedding: Option<f32>| SearchQuery {
        text: text.into(),
        embedding: embedding.map(|first| (0..26).map(|at| if at == 0 { first } else { 0.19 }).collect()),
        limit: 10_000,
        exhaustive: true,
        ..SearchQuery::default()
    };
    vec![
        ask("red mug", None),
        ask("who waters the garden table", Some(0.2)),
        ask("", Some(0.9)),
        SearchQuery { entity: Some("ben".into()), ..ask("robot mug", None) },
        SearchQuery { source: Some("camera".into()), ..ask("table", None) },
    ]
}

fn hits(search: &dyn Search) -> Vec<Vec<Hit>> {
    queries().iter().map(|query| search.search(query)).collect()
}

fn seen(store: &Engine) -> Seen {
    let search = store.writer().index.snapshot();
    let mut embedded = Vec::new();
    search.for_each_visible(&mut |event, has| embedded.extend(has.then_some(event)));
    let all = search.search(&SearchQuery { limit: usize::MAX, ..SearchQuery::default() });
    Seen {
        events: all.iter().map(|hit| (hit.id, hit.episode.0, search.text(hit.id))).collect(),
        len: search.len(),
        embedded,
        terms: search.terms(&TEXTS.join(" ")),
        phrases: ["red mug", "garden table", "a robot"]
            .iter()
            .map(|phrase| crate::index::holding_phrase(&*search, phrase, 999))
            .collect(),
        stats: Stats { disk_bytes: 0, duplicates: 0, ..store.stats() },
    }
}

/// Without its index, so that it is built anew.
fn without_index(image: &Image) -> Image {
    let mut image = image.clone();
    image.files.retain(|name, _| Generation::of_index_file(name).is_none());
    image
}

#[derive(Debug, Clone)]
enum SaveOperation {
    Tell { id: Option<u8>, seconds: i64, text: usize, entity: Option<usize> },
    Perceive { start: i64, length: i64, texts: usize },
    ForgetEntity(usize),
    ForgetSpan(i64, i64),
    Embed(usize),
    Space(usize),
    Save,
    Compact,
    Kill,
}

const SPACES: [&str; 2] = ["letters-1", "letters-2"];

fn steps() -> impl Strategy<Value = Vec<SaveOperation>> {
    let tell = (prop::option::of(0..4_u8), 0..400_i64, 0..TEXTS.len(), prop::option::of(0..NAMES.len()))
        .prop_map(|(id, seconds, text, entity)| SaveOperation::Tell { id, seconds: seconds / 9 * 9, text, entity });
    let perceive = (0..40_i64, 5..12_i64, 0..3_usize).prop_map(|(start, length, texts)| SaveOperation::Perceive {
        start: start * 10,
        length,
        texts,
    });
    let step = prop_oneof![
        12 => tell,
        3 => perceive,
        1 => (0..NAMES.len()).prop_map(SaveOperation::ForgetEntity),
        1 => (0..400_i64, 0..20_i64).prop_map(|(start, length)| SaveOperation::ForgetSpan(start, start + length)),
        3 => (1..9_usize).prop_map(SaveOperation::Embed),
        1 => (0..SPACES.len()).prop_map(SaveOperation::Space),
        3 => Just(SaveOperation::Save),
        1 => Just(SaveOperation::Compact),
        1 => Just(SaveOperation::Kill),
    ];
    prop::collection::vec(step, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn an_index_that_was_saved_and_caught_up_is_the_one_that_is_built_anew(steps in steps()) {
        let mut storage = MemoryStorage::new();
        let mut space = SPACES[0];
        let mut store = with_space(storage.clone(), Some(space));
        // Whether nothing was hidden or moved since everything was in one index: then also scores are the same.
        let mut exact = true;
        let mut saved = false;
        for step in &steps {
            match step {
                SaveOperation::Tell { id, seconds, text, entity } => {
                    let entity = entity.map(|entity| NAMES[entity]);
                    let before = store.stats().hidden;
                    store.observe(vec![told("asr", *id, *seconds, TEXTS[*text], entity)]).unwrap();
                    exact &= store.stats().hidden == before;
                }
                SaveOperation::Perceive { start, length, texts } => {
                    store.observe(vec![segment(*start, *length, &TEXTS[..*texts])]).unwrap();
                    // It may have taken in what was told.
                    exact = false;
                }
                SaveOperation::ForgetEntity(name) => {
                    store.forget(&ForgetRequest::Entity(NAMES[*name].into())).unwrap();
                    exact = false;
                }
                SaveOperation::ForgetSpan(start, end) => {
                    store.forget(&ForgetRequest::Span(TimeSpan::new(at(*start), at(*end)))).unwrap();
                    exact = false;
                }
                SaveOperation::Embed(limit) => prop_assert!(store.embed_pending(*limit).unwrap().embeddings <= store.stats().events),
                SaveOperation::Space(one) => {
                    space = SPACES[*one];
                    store.set_text_embedder(Some(Arc::new(Letters(space))));
                }
                SaveOperation::Save => {
                    let written = store.save_index(SaveIndex::Now).unwrap();
                    prop_assert!(written.is_some_and(|written| written.bytes > 0));
                    saved = true;
                }
                SaveOperation::Compact => {
                    store.compact().unwrap();
                    saved = false;
                }
                SaveOperation::Kill => {
                    storage = MemoryStorage::from_image(storage.image());
                    store = with_space(storage.clone(), Some(space));
                    prop_assert_eq!(store.writer().saved.is_some(), saved);
                }
            }
        }
        let running = seen(&store);
        let image = storage.image();
        let read = with_space(MemoryStorage::from_image(image.clone()), Some(space));
        let built = with_space(MemoryStorage::from_image(without_index(&image)), Some(space));
        prop_assert_eq!(read.writer().saved.is_some(), saved);
        prop_assert!(built.writer().saved.is_none());
        prop_assert_eq!(&seen(&read), &running);
        prop_assert_eq!(&seen(&built), &running);
        if exact {
            let running = hits(&*store.writer().index.snapshot());
            prop_assert_eq!(&hits(&*read.writer().index.snapshot()), &running);
            prop_assert_eq!(&hits(&*built.writer().index.snapshot()), &running);
        }
        // Both go on alike.
        for store in [&read, &built] {
            store.observe(vec![told("asr", Some(1), 0, "a lamp", Some("Anna")), told("asr", None, 500, "the end", None)]).unwrap();
            store.forget(&ForgetRequest::Entity("anna".into())).unwrap();
            while store.embed_pending(64).unwrap().embeddings > 0 {}
        }
        prop_assert_eq!(seen(&read), seen(&built));
        prop_assert_eq!(read.check().unwrap().problems, Vec::<String>::new());
    }
}

/// Everything that changes an index, with savings in between.
fn script(mut step: impl FnMut(&dyn Fn(&Engine))) {
    let save = |store: &Engine| assert!(store.save_index(SaveIndex::Now).unwrap().is_some());
    let observe = |store: &Engine, one| drop(store.observe(vec![one]).unwrap());
    let embed = |store: &Engine, limit| assert!(store.embed_pending(limit).unwrap().lessons > 0);
    step(&|store| {
        let many = (0..40).map(|n| told("asr", None, 40 * n, TEXTS[usize::try_from(n % 6).unwrap()], Some(NAMES[0])));
        store.observe(many.collect()).unwrap();
    });
    step(&save);
    step(&|store| observe(store, told("asr", Some(1), 3, "the red lamp", Some("Ben"))));
    step(&|store| embed(store, 20));
    step(&|store| observe(store, told("asr", Some(1), 3, "the red mug", Some("Ben"))));
    step(&|store| observe(store, segment(80, 10, &["a cup"])));
    step(&save);
    step(&|store| drop(store.forget(&ForgetRequest::Span(TimeSpan::new(at(80), at(300)))).unwrap()));
    step(&|store| embed(store, 999));
    step(&save);
    step(&|store| drop(store.forget(&ForgetRequest::Entity("Ben".into())).unwrap()));
    step(&|store| assert!(store.compact().unwrap().rows > 0));
    step(&|store| observe(store, told("asr", None, 4000, TEXTS[4], None)));
    step(&save);
    step(&|store| observe(store, told("asr", None, 5000, TEXTS[3], Some("Anna"))));
}

#[test]
fn power_loss_at_any_sync_leaves_an_index_that_agrees_with_the_store() {
    let storage = FaultStorage::new();
    let store = with_space(storage.clone(), Some(SPACES[0]));
    script(|step| step(&store));
    drop(store);

    let (mut cuts, mut read) = (0, 0);
    storage.for_each_power_cut(|cut| {
        cuts += 1;
        for fate in [Survival::Lost, Survival::Torn, Survival::Kept] {
            // Alternately the first, so that names and bytes have different fates.
            for turn in 0..3 {
                let image = cut.image(|index| if index % 3 == turn { fate } else { Survival::Kept });
                let found = with_space(MemoryStorage::from_image(image.clone()), Some(SPACES[0]));
                let built = with_space(MemoryStorage::from_image(without_index(&image)), Some(SPACES[0]));
                read += usize::from(found.writer().saved.is_some());
                assert_eq!(seen(&found), seen(&built), "after {} operations, {fate:?}", cut.operations);
                assert_eq!(found.check().unwrap().problems, Vec::<String>::new());
                found.save_index(SaveIndex::Now).unwrap().unwrap();
            }
        }
    });
    assert!(cuts > 20 && read > 9 * cuts / 3, "{read} were read after {cuts} cuts");
}

#[test]
fn a_disk_that_fails_while_the_index_is_saved_costs_nothing_but_the_file() {
    let base = FaultStorage::new();
    let store = with_space(base.clone(), Some(SPACES[0]));
    store.observe((0..40).map(|n| told("asr", None, 40 * n, TEXTS[0], Some(NAMES[0]))).collect()).unwrap();
    store.save_index(SaveIndex::Now).unwrap().unwrap();
    store.observe(vec![told("asr", None, 9000, TEXTS[1], None)]).unwrap();
    drop(store);
    let image = base.image();
    let mut refused = 0;
    for operations in 0.. {
        let storage = FaultStorage::from_image(image.clone());
        let store = with_space(storage.clone(), Some(SPACES[0]));
        let before = seen(&store);
        storage.fail_after(operations, std::io::ErrorKind::StorageFull);
        let result = store.save_index(SaveIndex::Now);
        let failed = storage.failed();
        storage.heal();
        assert_eq!(seen(&store), before, "after {operations} operations");
        store.observe(vec![told("asr", None, 9500, TEXTS[2], None)]).unwrap();
        let after = seen(&store);
        drop(store);
        let again = with_space(MemoryStorage::from_image(storage.image()), Some(SPACES[0]));
        assert_eq!(seen(&again), after, "after {operations} operations");
        assert!(again.writer().saved.is_some(), "the old file or the new one, after {operations} operations");
        if !failed {
            result.unwrap().unwrap();
            break;
        }
        refused += 1;
    }
    assert!(refused > 5, "{refused} refused");
}

/// A store with a saved index and something after it.
fn saved_image() -> Image {
    let storage = MemoryStorage::new();
    let store = with_space(storage.clone(), Some(SPACES[0]));
    let many = (0..30).map(|n| told("asr", None, 40 * n, TEXTS[usize::try_from(n % 6).unwrap()], Some(NAMES[1])));
    store.observe(many.collect()).unwrap();
    store.embed_pending(20).unwrap();
    store.save_index(SaveIndex::Now).unwrap().unwrap();
    store.observe(vec![told("asr", None, 9000, TEXTS[1], None)]).unwrap();
    drop(store);
    storage.image()
}

fn index_of(image: &Image) -> &Vec<u8> {
    &image.files["index-0.snapshot"]
}

#[test]
fn an_index_of_another_store_or_of_another_course_of_this_one_is_built_anew() {
    let (image, other) = (saved_image(), saved_image());
    let opened = |image: Image| with_space(MemoryStorage::from_image(image), Some(SPACES[0]));
    assert!(opened(image.clone()).writer().saved.is_some());
    let foreign = Image {
        files: [
            ("memory.redb".to_owned(), image.files["memory.redb"].clone()),
            ("index-0.snapshot".to_owned(), index_of(&other).clone()),
        ]
        .into(),
    };
    let store = opened(foreign);
    assert!(store.writer().saved.is_none());
    assert_eq!(seen(&store), seen(&opened(image.clone())));

    // A copy that went its own way, under an index that was saved later.
    let went_on = MemoryStorage::from_image(image.clone());
    let store = with_space(went_on.clone(), Some(SPACES[0]));
    store.observe(vec![told("asr", None, 9500, "another course", None)]).unwrap();
    store.save_index(SaveIndex::Now).unwrap().unwrap();
    drop(store);
    let rolled_back = MemoryStorage::from_image(without_index(&image));
    let store = with_space(rolled_back.clone(), Some(SPACES[0]));
    store.observe(vec![told("asr", None, 9600, "this course", None)]).unwrap();
    store.save_index(SaveIndex::Now).unwrap().unwrap();
    let expected = seen(&store);
    drop(store);
    let mut mixed = rolled_back.image();
    mixed.files.insert("index-0.snapshot".into(), index_of(&went_on.image()).clone());
    let store = opened(mixed);
    assert!(store.writer().saved.is_none());
    assert_eq!(seen(&store), expected);
}

#[test]
fn rows_that_no_index_needs_any_more_are_removed() {
    let storage = MemoryStorage::new();
    let store = with_space(storage.clone(), None);
    for round in 0..5 {
        for n in 0..20_u8 {
            let text = format!("round {round}");
            store.observe(vec![told("asr", Some(n), i64::from(n) * 100, &text, None)]).unwrap();
        }
        store.save_index(SaveIndex::Now).unwrap().unwrap();
        let rows = super::changes::since(&store.database.read().unwrap(), store.writer().saved.unwrap()).unwrap();
        assert_eq!(rows.len(), 1, "its own row");
    }
    let transaction = store.database.read().unwrap();
    let kept =
        redb::ReadableTableMetadata::len(&transaction.open_table(crate::store::tables::CHANGES).unwrap()).unwrap();
    assert!(kept <= 22, "{kept} rows are kept: what came between the last two savings");
}

#[test]
fn words_that_were_forgotten_are_in_no_saved_index_after_a_compaction() {
    let storage = MemoryStorage::new();
    let store = with_space(storage.clone(), Some(SPACES[0]));
    store.observe(vec![told("asr", None, 0, "the xylophone is under the floorboards", Some("Zebulon"))]).unwrap();
    let many = (0..2000).map(|n| told("asr", None, 100 + 40 * n, TEXTS[usize::try_from(n % 6).unwrap()], None));
    store.observe(many.collect()).unwrap();
    store.save_index(SaveIndex::Now).unwrap().unwrap();
    let saved = index_of(&storage.image()).clone();
    let holds = |bytes: &[u8], word: &[u8]| bytes.windows(word.len()).any(|window| window == word);
    assert!(holds(&saved, b"xylophone") && holds(&saved, b"zebulon"), "the test can see it");
    store.forget(&ForgetRequest::Entity("Zebulon".into())).unwrap();
    store.save_index(SaveIndex::Now).unwrap().unwrap();
    store.compact().unwrap();
    let image = storage.image();
    for word in [b"xylophone".as_slice(), b"floorboards", b"ebulon"] {
        assert!(!image.contains(word), "{}", String::from_utf8_lossy(word));
    }
    let indexes: Vec<_> = image.files.keys().filter(|name| name.contains("index")).collect();
    assert_eq!(indexes, ["index-1.snapshot"], "the new generation's was saved, the old one's removed");
    assert!(with_space(MemoryStorage::from_image(image), Some(SPACES[0])).writer().saved.is_some());
}

#[test]
fn vectors_are_not_read_again_where_the_index_has_their_signatures() {
    let storage = MemoryStorage::new();
    let store = with_space(storage.clone(), Some(SPACES[0]));
    store.observe((0..50).map(|n| told("asr", None, 40 * n, TEXTS[0], None)).collect()).unwrap();
    store.embed_pending(40).unwrap();
    store.save_index(SaveIndex::Now).unwrap().unwrap();
    store.embed_pending(4).unwrap();
    drop(store);
    let store = with_space(storage.clone(), Some(SPACES[0]));
    assert_eq!(store.writer().index.unsaved(), 4, "only those that came after it");
    assert_eq!(store.stats().pending_embeddings, 6);
    // Another space has none of them.
    store.set_text_embedder(Some(Arc::new(Letters(SPACES[1]))));
    assert_eq!((store.stats().pending_embeddings, store.writer().index.snapshot().embedded()), (50, 0));
    store.set_text_embedder(Some(Arc::new(Letters(SPACES[0]))));
    assert_eq!((store.stats().pending_embeddings, store.writer().index.snapshot().embedded()), (6, 44));
}

#[test]
fn it_is_saved_when_enough_of_it_is_new() {
    let storage = MemoryStorage::new();
    let clock = clock();
    let store = Engine::open(Arc::new(storage), options(), Arc::<ManualClock>::clone(&clock)).unwrap();
    let tell = |count: i64| {
        let from = i64::try_from(store.stats().events).unwrap();
        store.observe((from..from + count).map(|n| told("asr", None, 40 * n, TEXTS[0], None)).collect()).unwrap();
    };
    tell(1000);
    assert_eq!(store.save_index(SaveIndex::IfDue).unwrap(), None, "too small to be worth a file");
    tell(600);
    assert!(store.save_index(SaveIndex::IfDue).unwrap().is_some());
    tell(200);
    assert_eq!(store.save_index(SaveIndex::IfDue).unwrap(), None, "it was just saved");
    clock.advance(Duration::from_secs(301));
    assert!(store.save_index(SaveIndex::IfDue).unwrap().is_some());
    tell(40);
    clock.advance(Duration::from_secs(301));
    assert_eq!(store.save_index(SaveIndex::IfDue).unwrap(), None, "too little is new");
    assert!(store.save_index(SaveIndex::AtEnd).unwrap().is_some(), "the next opening is the faster");
    assert_eq!(store.save_index(SaveIndex::AtEnd).unwrap(), None, "nothing is new");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_file_that_is_cut_off_or_damaged_is_built_anew(at in any::<prop::sample::Index>(), bit in 0..8_u8) {
        let image = saved_image();
        let expected = seen(&with_space(MemoryStorage::from_image(without_index(&image)), Some(SPACES[0])));
        let length = index_of(&image).len();
        let at = at.index(length);
        for cut in [true, false] {
            let mut damaged = image.clone();
            let bytes = damaged.files.get_mut("index-0.snapshot").unwrap();
            if cut { bytes.truncate(at) } else { bytes[at] ^= 1 << bit }
            let store = with_space(MemoryStorage::from_image(damaged), Some(SPACES[0]));
            prop_assert!(store.writer().saved.is_none());
            prop_assert_eq!(&seen(&store), &expected);
        }
    }
}

#[test]
fn it_is_saved_while_others_tell_forget_embed_and_compact() {
    use std::sync::atomic::{AtomicBool, Ordering};

    let storage = MemoryStorage::new();
    let store = with_space(storage.clone(), Some(SPACES[0]));
    store.observe((0..300).map(|n| told("asr", None, 40 * n, TEXTS[0], Some(NAMES[0]))).collect()).unwrap();
    let done = AtomicBool::new(false);
    let until_done = |work: &dyn Fn(i64)| {
        let mut round = 0;
        while !done.load(Ordering::SeqCst) || round == 0 {
            work(round);
            round += 1;
        }
    };
    std::thread::scope(|scope| {
        let (store, until_done) = (&store, &until_done);
        scope.spawn(move || {
            until_done(&|round| {
                let seconds = 20_000 + 10 * round;
                let text = TEXTS[usize::try_from(round % 6).unwrap()];
                let told = [
                    told("asr", Some(1), 19_000, &format!("{text} {round}"), Some(NAMES[1])),
                    told("tasks", None, seconds, text, Some(NAMES[2])),
                ];
                store.observe(told.into()).unwrap();
                if round % 7 == 0 {
                    store.observe(vec![segment(seconds - 30, 9, &["a cup"])]).unwrap();
                    store.forget(&ForgetRequest::Span(TimeSpan::new(at(seconds - 20), at(seconds - 10)))).unwrap();
                }
                store.embed_pending(3).unwrap();
            })
        });
        // `None` where a compaction was faster.
        scope.spawn(move || until_done(&|_| assert!(store.save_index(SaveIndex::Now).is_ok())));
        for _ in 0..4 {
            assert!(store.compact().unwrap().rows > 300);
        }
        done.store(true, Ordering::SeqCst);
    });
    store.save_index(SaveIndex::Now).unwrap().unwrap();
    store.observe(vec![told("asr", None, 90_000, TEXTS[4], None)]).unwrap();

    let image = storage.image();
    let names: Vec<_> = image.files.keys().filter(|name| !name.ends_with(".redb")).collect();
    assert_eq!(names, ["index-4.snapshot", "manifest"]);
    let read = with_space(MemoryStorage::from_image(image.clone()), Some(SPACES[0]));
    let built = with_space(MemoryStorage::from_image(without_index(&image)), Some(SPACES[0]));
    assert!(read.writer().saved.is_some());
    assert_eq!(seen(&read), seen(&built));
    assert_eq!(seen(&read), seen(&store));
    assert_eq!(read.check().unwrap().problems, Vec::<String>::new());
}
