//! Consolidated or not, a memory says the same of every moment, and forgets the same.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use redb::ReadableTable;

use crate::engine::handle::Engine;
use crate::engine::shared;
use crate::engine::test_bench::{Letters, options};
use crate::engine::vectors::quantize;
use crate::episodic::consolidation::PlaceSpace;
use crate::recall::Reader;
use crate::store::memory_storage::MemoryStorage;
use crate::store::tables::VECTORS;
use crate::{
    Boundary, ConsolidationOptions, EpisodeFilter, EpisodeId, EventId, ForgetRequest, Kind, ManualClock, Modality,
    Observation, ObserveOutcome, Origin, Perceived, PerceivedEvent, Pose, PoseOf, Sensed, SensedEmbedding, StreamSpan,
    TimeSpan, Timestamp, Told,
};

/// A whole hour of the wall clock.
const FIRST: i64 = 1_795_132_800;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros((FIRST + seconds) * 1_000_000)
}

/// The space of the pictures.
const PICTURES: &str = "pictures";

fn open(storage: &MemoryStorage, enabled: bool) -> Engine {
    let clock = Arc::new(ManualClock::at(at(5 * 3_600)));
    let store = Engine::open(Arc::new(storage.clone()), options(), clock).unwrap();
    store.set_consolidation(ConsolidationOptions { enabled, after: Duration::ZERO, ..ConsolidationOptions::default() });
    store.set_place_spaces(vec![PlaceSpace { space: PICTURES.into(), gamma: 0.82 }]);
    store
}

/// A picture of a place: places are orthogonal.
fn picture(place: u8) -> SensedEmbedding {
    let mut vector = vec![0.01_f32; 16];
    vector[usize::from(place)] = 1.0;
    SensedEmbedding { sensed: Sensed::Picture, space: PICTURES.into(), vector, sequence: Vec::new() }
}

fn event(kind: Kind, text: &str, from: i64, until: i64) -> PerceivedEvent {
    let stream = |seconds: i64| Duration::from_secs(u64::try_from(seconds).unwrap());
    PerceivedEvent {
        kind,
        modality: Modality::Visual,
        text: text.into(),
        start: at(from),
        end: at(until),
        stream: StreamSpan { start: stream(from), end: stream(until) },
        entity: None,
        attributes: Default::default(),
        confidence: 0.8,
        embeddings: Vec::new(),
        pose: None,
    }
}

/// Ten seconds at a place with things in view.
fn segment(number: i64, place: u8, things: &[&str]) -> Perceived {
    let (from, until) = (number * 10, number * 10 + 10);
    let mut scene = event(Kind::Caption, &format!("Room {place}."), from, until);
    scene.embeddings.push(picture(place));
    let mut events = vec![scene];
    events.extend(things.iter().map(|thing| event(Kind::Object, thing, from, until)));
    let stream = events[0].stream;
    Perceived {
        source: "eye".into(),
        session: "one".into(),
        start: at(from),
        end: at(until),
        stream,
        boundary: Boundary::Length,
        events,
        media: Some("archive:eye/one".into()),
        degraded: Vec::new(),
    }
}

fn perceive(store: &Engine, segment: Perceived) -> ObserveOutcome {
    store.observe(vec![Observation::Perceived(segment)]).unwrap().remove(0)
}

fn consolidate(store: &Engine) {
    // What waits for nothing but its end is done by the second call.
    while store.consolidate_pending(2).unwrap() > 0 {}
}

fn still(store: &Engine, segments: i64) {
    for number in 0..segments {
        perceive(store, segment(number, 1, &["A cup is in view.", "A chair is in view."]));
    }
}

fn sound(store: &Engine) {
    assert_eq!(store.check().unwrap().problems, Vec::<String>::new());
}

/// What is remembered of each moment: text → spans, joined where they touch.
fn coverage(store: &Engine) -> BTreeMap<String, Vec<(i64, i64)>> {
    let events = store.view().unwrap().list_events(None, usize::MAX).unwrap();
    let mut spans: BTreeMap<String, Vec<(i64, i64)>> = BTreeMap::new();
    for event in events {
        spans.entry(event.text).or_default().push((event.span.start.as_micros(), event.span.end.as_micros()));
    }
    for spans in spans.values_mut() {
        spans.sort_unstable();
        let mut joined: Vec<(i64, i64)> = Vec::new();
        for (start, end) in spans.drain(..) {
            match joined.last_mut().filter(|last| start <= last.1) {
                Some(last) => last.1 = last.1.max(end),
                None => joined.push((start, end)),
            }
        }
        *spans = joined;
    }
    spans
}

fn episodes(store: &Engine) -> Vec<(i64, i64)> {
    let page = store.view().unwrap().list_episodes(&EpisodeFilter { limit: Some(1000), ..EpisodeFilter::default() });
    let seconds = |at: Timestamp| at.as_micros() / 1_000_000 - FIRST;
    let mut spans: Vec<(i64, i64)> = page
        .unwrap()
        .episodes
        .into_iter()
        .map(|one| (seconds(one.episode.span.start), seconds(one.episode.span.end)))
        .collect();
    spans.sort_unstable();
    spans
}

#[test]
fn a_still_hour_becomes_one_episode_and_says_the_same_of_every_moment() {
    let store = open(&MemoryStorage::new(), true);
    still(&store, 100);
    let before = coverage(&store);
    consolidate(&store);
    assert_eq!(episodes(&store), [(0, 1000)]);
    assert_eq!(coverage(&store), before);
    assert_eq!(store.stats().events, 3);
    sound(&store);
    let stats = store.stats();
    assert!(!stats.relearning && stats.observations == 100, "{stats:?}");
    // Whoever was told of an episode or an event still finds it.
    let view = store.view().unwrap();
    assert_eq!(view.find_episode(EpisodeId(57)).unwrap().unwrap().id, EpisodeId(1));
    assert_eq!(view.find_event(EventId(2)).unwrap().unwrap().text, "A cup is in view.");
    store.compact().unwrap();
    assert_eq!((coverage(&store), store.stats().hidden), (before, 0));
    sound(&store);
}

#[test]
fn a_stay_ends_where_the_place_changes_and_at_the_hour() {
    let store = open(&MemoryStorage::new(), true);
    for number in 355..365 {
        perceive(&store, segment(number, 1, &["A cup is in view."]));
    }
    for number in 365..370 {
        perceive(&store, segment(number, 2, &["A cup is in view."]));
    }
    let before = coverage(&store);
    consolidate(&store);
    assert_eq!(episodes(&store), [(3_550, 3_600), (3_600, 3_650), (3_650, 3_700)]);
    assert_eq!(coverage(&store), before);
    sound(&store);
}

#[test]
fn speech_persons_and_what_was_told_meanwhile_stay_events_of_their_own() {
    let store = open(&MemoryStorage::new(), true);
    for number in 0..4 {
        let mut segment = segment(number, 1, &["A cup is in view."]);
        let (from, until) = (number * 10, number * 10 + 10);
        segment.events.push(event(Kind::Text, "Hello.", from, until));
        let mut face = event(Kind::Entity, "A face is in view.", from, until);
        face.embeddings.push(SensedEmbedding {
            sensed: Sensed::Face,
            space: "f".into(),
            vector: vec![1.0, 0.0],
            sequence: Vec::new(),
        });
        segment.events.push(face);
        perceive(&store, segment);
    }
    let told = Told { text: "Tea is ready".into(), source: "robot".into(), at: Some(at(25)), ..Told::default() };
    store.observe(vec![Observation::Told(told)]).unwrap();
    consolidate(&store);
    let texts = |wanted: &str| {
        let events = store.view().unwrap().list_events(None, usize::MAX).unwrap();
        events.into_iter().filter(|event| event.text == wanted).collect::<Vec<_>>()
    };
    assert_eq!((texts("Hello.").len(), texts("A face is in view.").len()), (4, 4));
    let tea = texts("Tea is ready");
    assert_eq!((tea.len(), tea[0].origin, tea[0].episode), (1, Origin::Told, EpisodeId(1)));
    assert_eq!(episodes(&store), [(0, 40)]);
    sound(&store);
}

#[test]
fn who_walks_along_walls_that_look_alike_stays_nowhere() {
    let store = open(&MemoryStorage::new(), true);
    for number in 0..9 {
        // Three segments at the door, then a metre a segment.
        let x = f64::from(u32::try_from(number).unwrap().saturating_sub(2));
        let mut segment = segment(number, 1, &["A wall is in view."]);
        for event in &mut segment.events {
            event.pose =
                Some(Pose { frame: "map".into(), x, y: 0.0, z: 0.0, yaw: 0.0, covariance: None, of: PoseOf::Robot });
        }
        perceive(&store, segment);
    }
    consolidate(&store);
    assert_eq!(episodes(&store)[0], (0, 30));
    assert_eq!(episodes(&store).len(), 7);
    let view = store.view().unwrap();
    let first = view.find_event(EventId(1)).unwrap().unwrap();
    assert_eq!(first.pose.unwrap().x, 0.0, "a stay is where it began");
    sound(&store);
}

#[test]
fn what_was_just_seen_is_left_as_it_was_seen() {
    let store = open(&MemoryStorage::new(), true);
    store.set_consolidation(ConsolidationOptions {
        enabled: true,
        after: Duration::from_secs(60),
        ..ConsolidationOptions::default()
    });
    for number in 1_785..1_800 {
        perceive(&store, segment(number, 1, &[]));
    }
    consolidate(&store);
    assert_eq!(store.stats().episodes, 15, "the stay may go on");
    store.set_consolidation(ConsolidationOptions {
        enabled: true,
        after: Duration::ZERO,
        ..ConsolidationOptions::default()
    });
    consolidate(&store);
    assert_eq!(store.stats().episodes, 1);
}

#[test]
fn a_minute_of_a_stay_is_forgotten_and_no_more() {
    let storage = MemoryStorage::new();
    let store = open(&storage, true);
    still(&store, 60);
    consolidate(&store);
    let reply = store.forget(&ForgetRequest::Span(TimeSpan::new(at(203), at(215)))).unwrap();
    assert_eq!((reply.episodes, reply.events), (1, 3));
    let purged: Vec<_> = reply.recordings.iter().filter(|one| one.source.is_some()).map(|one| one.span).collect();
    assert_eq!(purged, [TimeSpan::new(at(200), at(220))]);
    assert_eq!(episodes(&store), [(0, 200), (220, 600)]);
    let cup = &coverage(&store)["A cup is in view."];
    let seconds: Vec<(i64, i64)> =
        cup.iter().map(|(from, to)| (from / 1_000_000 - FIRST, to / 1_000_000 - FIRST)).collect();
    assert_eq!(seconds, [(0, 200), (220, 600)]);
    sound(&store);
    // Neither what was forgotten nor what is there comes again with a repetition.
    for number in [3, 20, 21, 40] {
        let outcome = perceive(&store, segment(number, 1, &["A cup is in view.", "A chair is in view."]));
        assert!(matches!(outcome, ObserveOutcome::Duplicate { .. }), "{number}: {outcome:?}");
    }
    drop(store);
    let store = open(&storage, true);
    assert_eq!(episodes(&store), [(0, 200), (220, 600)]);
}

#[test]
fn neither_what_ends_in_the_future_nor_hundreds_of_forgotten_episodes_hold_it_up() {
    let store = open(&MemoryStorage::new(), true);
    let told = |seconds: i64, until: i64| {
        let source = format!("robot{seconds}");
        Told { text: "Tea".into(), source, at: Some(at(seconds)), until: Some(at(until)), ..Told::default() }
    };
    store.observe(vec![Observation::Told(told(-1, 400 * 86_400))]).unwrap();
    let many = (0..400).map(|number| Observation::Told(told(-9_000 + number * 20, -9_000 + number * 20))).collect();
    store.observe(many).unwrap();
    store.forget(&ForgetRequest::Span(TimeSpan::new(at(-9_999), at(-1_000)))).unwrap();
    still(&store, 20);
    consolidate(&store);
    assert_eq!(store.stats().episodes, 2, "the stay, and what ends in a year");
}

#[test]
fn a_restart_goes_on_where_consolidation_was() {
    let storage = MemoryStorage::new();
    let mut store = open(&storage, true);
    still(&store, 40);
    store.consolidate_pending(0).unwrap();
    for _ in 0..4 {
        drop(store);
        store = open(&storage, true);
        store.consolidate_pending(1).unwrap();
        sound(&store);
    }
    consolidate(&store);
    assert_eq!(episodes(&store), [(0, 400)]);
    assert_eq!(store.stats().events, 3);
}

/// Rows of vectors: those of events that are their own, those that are shared, and shared ones.
fn rows(store: &Engine) -> (usize, usize, usize) {
    let transaction = store.database.read().unwrap();
    let table = transaction.open_table(VECTORS).unwrap();
    let mut rows = (0, 0, 0);
    for entry in table.iter().unwrap() {
        let (key, value) = entry.unwrap();
        let (space, event) = key.value();
        if event >= shared::FIRST {
            rows.2 += 1;
        } else if shared::leads_to(space, event, value.value()).is_some() {
            rows.1 += 1;
        } else {
            rows.0 += 1;
        }
    }
    rows
}

/// Ten places, three times, one segment each.
fn patrol(store: &Engine) {
    for number in 0..30 {
        let place = u8::try_from(number % 10).unwrap();
        perceive(store, segment(number, place, &["A door is in view."]));
    }
}

#[test]
fn who_comes_back_to_a_place_remembers_its_picture_once() {
    let storage = MemoryStorage::new();
    let store = open(&storage, true);
    patrol(&store);
    let before = coverage(&store);
    consolidate(&store);
    assert_eq!((episodes(&store).len(), coverage(&store)), (30, before), "visits stay visits");
    assert_eq!(rows(&store), (0, 30, 10));
    sound(&store);
    // What was learnt of places is found again after a restart.
    drop(store);
    let store = open(&storage, true);
    for number in 30..40 {
        perceive(&store, segment(number, u8::try_from(number % 10).unwrap(), &[]));
    }
    consolidate(&store);
    assert_eq!(rows(&store), (0, 40, 10));
    // Two visits are forgotten, then every visit to one place.
    store.forget(&ForgetRequest::Span(TimeSpan::new(at(1), at(12)))).unwrap();
    assert_eq!(rows(&store), (0, 38, 10));
    for number in [15_i64, 25, 35, 5] {
        store.forget(&ForgetRequest::Span(TimeSpan::new(at(number * 10 + 2), at(number * 10 + 3)))).unwrap();
    }
    assert_eq!(rows(&store), (0, 34, 9));
    sound(&store);
    store.compact().unwrap();
    assert_eq!(rows(&store), (0, 34, 9));
    sound(&store);
}

/// Three visits to one place, which looks a little different each time.
fn visits(store: &Engine) -> [Vec<i16>; 3] {
    [(0, 2), (10, 3), (20, 4)].map(|(number, detail): (i64, usize)| {
        perceive(store, segment(number + 5, 9, &[]));
        let mut visit = segment(number, 1, &[]);
        let picture = &mut visit.events[0].embeddings[0].vector;
        picture[detail] = 0.2;
        let norm = picture.iter().map(|component| component * component).sum::<f32>().sqrt();
        let stored = quantize(&picture.iter().map(|component| component / norm).collect::<Vec<f32>>());
        perceive(store, visit);
        stored
    })
}

/// Whether any row of vectors holds these components.
fn is_kept(store: &Engine, vector: &[i16]) -> bool {
    let wanted: Vec<u8> = vector.iter().flat_map(|component| component.to_le_bytes()).collect();
    let transaction = store.database.read().unwrap();
    let table = transaction.open_table(VECTORS).unwrap();
    let mut values = table.iter().unwrap().map(|entry| entry.unwrap().1.value().to_vec());
    values.any(|value| value.windows(wanted.len()).any(|window| window == wanted))
}

/// What the visits to the place look like, as far as that is known.
fn looks(store: &Engine) -> Vec<Option<Vec<i16>>> {
    let view = store.view().unwrap();
    let events = view.list_events(None, usize::MAX).unwrap();
    let mut of_place: Vec<_> = events.into_iter().filter(|event| event.text == "Room 1.").collect();
    of_place.sort_by_key(|event| event.span.start);
    let ids: Vec<EventId> = of_place.iter().map(|event| event.id).collect();
    view.sensed_vectors(&ids, Sensed::Picture, PICTURES)
}

#[test]
fn nothing_of_a_forgotten_picture_stays_in_what_its_place_looks_like() {
    let store = open(&MemoryStorage::new(), true);
    let [first, second, third] = visits(&store);
    consolidate(&store);
    let refined = looks(&store)[0].clone().unwrap();
    assert_eq!(looks(&store), vec![Some(refined.clone()); 3]);
    assert!(refined != first && is_kept(&store, &first) && !is_kept(&store, &second) && !is_kept(&store, &third));
    // The second visit: the place is again as it was founded.
    store.forget(&ForgetRequest::Span(TimeSpan::new(at(101), at(109)))).unwrap();
    assert_eq!(looks(&store), vec![Some(first.clone()); 2]);
    sound(&store);
    // The first visit, on which the place was founded.
    store.forget(&ForgetRequest::Span(TimeSpan::new(at(1), at(9)))).unwrap();
    assert_eq!(looks(&store), [None]);
    assert!(!is_kept(&store, &first) && !is_kept(&store, &refined));
    sound(&store);
    // The place can be founded again.
    perceive(&store, segment(40, 1, &[]));
    consolidate(&store);
    assert!(looks(&store)[0].is_none() && looks(&store)[1].is_some());
    sound(&store);
}

#[test]
fn a_stay_of_which_a_part_is_forgotten_keeps_no_picture_that_was_made_of_that_part() {
    let store = open(&MemoryStorage::new(), true);
    let mut all = Vec::new();
    for number in 0..6 {
        let mut segment = segment(number, 1, &[]);
        segment.events[0].embeddings[0].vector[2] = 0.1 * f32::from(u8::try_from(number).unwrap());
        perceive(&store, segment);
    }
    all.extend(looks(&store));
    consolidate(&store);
    let whole = looks(&store);
    assert_eq!(whole.len(), 1);
    store.forget(&ForgetRequest::Span(TimeSpan::new(at(22), at(25)))).unwrap();
    assert_eq!(looks(&store), [None, None], "before and after");
    assert!(all.into_iter().chain(whole).flatten().all(|picture| !is_kept(&store, &picture)));
    sound(&store);
}

#[test]
fn the_same_words_have_one_vector_and_find_each_of_their_events() {
    let storage = MemoryStorage::new();
    let store = open(&storage, false);
    patrol(&store);
    store.set_text_embedder(Some(Arc::new(Letters("letters"))));
    while store.embed_pending(7).unwrap().embeddings > 0 {}
    // Pictures are events' own here: nothing is consolidated. Eleven texts, of which one comes thirty times.
    assert_eq!(rows(&store), (30, 60, 11));
    sound(&store);
    let vector = |id: u64| store.view().unwrap().vector(EventId(id)).unwrap();
    assert_eq!(vector(2), vector(4));
    store.forget(&ForgetRequest::Entity("door".into())).unwrap();
    assert_eq!(rows(&store), (30, 30, 10));
    sound(&store);
    drop(store);
    let store = open(&storage, false);
    store.set_text_embedder(Some(Arc::new(Letters("letters"))));
    assert_eq!(store.stats().pending_embeddings, 0, "all of them are found again");
    assert_eq!(store.view().unwrap().vector(EventId(1)), store.view().unwrap().vector(EventId(21)));
}

#[derive(Debug, Clone)]
enum StreamOperation {
    /// Place, things in view, as bits.
    See(u8, u8),
    Skip,
    Tell(u8),
    ForgetSpan(u16, u8),
    ForgetThing(u8),
    Work(u8),
    Compact,
    Reopen,
}

const THINGS: [&str; 3] = ["A cup is in view.", "A chair is in view.", "Music is heard."];

fn steps() -> impl Strategy<Value = Vec<StreamOperation>> {
    let step = prop_oneof![
        12 => (0..2_u8, 0..8_u8).prop_map(|(place, things)| StreamOperation::See(place, things)),
        1 => Just(StreamOperation::Skip),
        1 => (0..200_u8).prop_map(StreamOperation::Tell),
        2 => (0..400_u16, 0..40_u8).prop_map(|(from, length)| StreamOperation::ForgetSpan(from, length)),
        1 => (0..3_u8).prop_map(StreamOperation::ForgetThing),
        4 => (0..3_u8).prop_map(StreamOperation::Work),
        1 => Just(StreamOperation::Compact),
        1 => Just(StreamOperation::Reopen),
    ];
    prop::collection::vec(step, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn consolidated_or_not_a_memory_says_the_same_and_forgets_the_same(steps in steps()) {
        let storages = [MemoryStorage::new(), MemoryStorage::new()];
        let mut stores = [open(&storages[0], true), open(&storages[1], false)];
        stores.iter().for_each(|store| store.set_text_embedder(Some(Arc::new(Letters("letters")))));
        let mut next = 0;
        for step in steps {
            for (number, store) in stores.iter_mut().enumerate() {
                match step {
                    StreamOperation::See(place, things) => {
                        let seen: Vec<&str> =
                            (0..3).filter(|bit| things & (1 << bit) != 0).map(|bit| THINGS[bit]).collect();
                        perceive(store, segment(next, place, &seen));
                    }
                    StreamOperation::Skip => {}
                    StreamOperation::Tell(seconds) => {
                        let told = Told {
                            text: "Tea is ready".into(),
                            source: "robot".into(),
                            at: Some(at(i64::from(seconds))),
                            ..Told::default()
                        };
                        store.observe(vec![Observation::Told(told)]).unwrap();
                    }
                    StreamOperation::ForgetSpan(from, length) => {
                        let span = TimeSpan::new(at(i64::from(from)), at(i64::from(from) + i64::from(length)));
                        store.forget(&ForgetRequest::Span(span)).unwrap();
                    }
                    StreamOperation::ForgetThing(thing) => {
                        let name = ["cup", "chair", "music"][usize::from(thing)];
                        store.forget(&ForgetRequest::Entity(name.into())).unwrap();
                    }
                    StreamOperation::Work(limit) => {
                        store.consolidate_pending(usize::from(limit)).unwrap();
                        store.embed_pending(usize::from(limit) * 3).unwrap();
                    }
                    StreamOperation::Compact => drop(store.compact().unwrap()),
                    StreamOperation::Reopen => {
                        *store = open(&MemoryStorage::new(), false);
                        *store = open(&storages[number], number == 0);
                        store.set_text_embedder(Some(Arc::new(Letters("letters"))));
                    }
                }
                sound(store);
            }
            next += i64::from(matches!(step, StreamOperation::See(..) | StreamOperation::Skip));
            prop_assert_eq!(coverage(&stores[0]), coverage(&stores[1]));
        }
        consolidate(&stores[0]);
        sound(&stores[0]);
        prop_assert_eq!(coverage(&stores[0]), coverage(&stores[1]));
    }
}
