//! One damaged record costs itself: what is sent with it is taken in, what is asked is answered, and it can be forgotten.

use std::sync::Arc;

use redb::{ReadableTable, TableDefinition};

use super::handle::Engine;
use crate::engine::test_bench::options;
use crate::store::memory_storage::MemoryStorage;
use crate::store::tables::{EPISODES, EVENTS};
use crate::{EventId, ForgetRequest, ManualClock, Observation, ObserveOutcome, Query, TimeSpan, Timestamp, Told};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros((1_795_161_600 + seconds) * 1_000_000)
}

fn open(storage: &MemoryStorage) -> Engine {
    Engine::open(Arc::new(storage.clone()), options(), Arc::new(ManualClock::at(at(0)))).unwrap()
}

fn told(id: &str, text: &str, seconds: i64) -> Observation {
    Observation::Told(Told {
        id: Some(id.into()),
        at: Some(at(seconds)),
        text: text.into(),
        source: "asr".into(),
        ..Told::default()
    })
}

/// Flips a bit of a record.
fn damage(store: &Engine, table: TableDefinition<'static, u64, &'static [u8]>, id: u64) {
    let transaction = store.database.write().unwrap();
    {
        let mut table = transaction.open_table(table).unwrap();
        let mut bytes = table.get(id).unwrap().unwrap().value().to_vec();
        *bytes.last_mut().unwrap() ^= 1;
        table.insert(id, bytes.as_slice()).unwrap();
    }
    transaction.commit().unwrap();
}

/// Two episodes of two events each, an hour apart.
fn two_episodes() -> (MemoryStorage, Engine) {
    let storage = MemoryStorage::new();
    let store = open(&storage);
    for (id, text, seconds) in
        [("a", "the blue mug", 0), ("b", "the red mug", 20), ("c", "a hammer", 3_600), ("d", "a saw", 3_620)]
    {
        store.observe(vec![told(id, text, seconds)]).unwrap();
    }
    (storage, store)
}

#[test]
fn what_a_damaged_episode_makes_impossible_is_refused_and_the_rest_of_the_batch_is_taken_in() {
    let (storage, store) = two_episodes();
    damage(&store, EPISODES, 1);
    let batch = || vec![told("x", "before", 9_000), told("a", "the green mug", 0), told("y", "behind", 9_010)];
    let outcomes = store.observe(batch()).unwrap();
    assert!(matches!(
        &outcomes[..],
        [ObserveOutcome::Accepted { .. }, ObserveOutcome::Rejected { message }, ObserveOutcome::Accepted { .. }]
            if message.contains("damaged") && message.contains("engram check")
    ));
    drop(store);
    let store = open(&storage);
    let outcomes = store.observe(batch()).unwrap();
    assert!(matches!(
        &outcomes[..],
        [ObserveOutcome::Duplicate { .. }, ObserveOutcome::Rejected { .. }, ObserveOutcome::Duplicate { .. }]
    ));
    assert!(matches!(
        &store.observe(vec![told("z", "a third one", 30)]).unwrap()[..],
        [ObserveOutcome::Accepted { .. }]
    ));
}

#[test]
fn questions_are_answered_from_what_is_sound() {
    let (_storage, store) = two_episodes();
    damage(&store, EVENTS, 1);
    damage(&store, EPISODES, 2);
    let ask = |question: &str| {
        let query = Query { question: question.into(), now: Some(at(7_200)), ..Query::default() };
        store.reading(|view| crate::recall::answer(&query, view)).unwrap()
    };
    let texts = |question: &str| ask(question).evidence.into_iter().map(|one| one.text).collect::<Vec<_>>();
    assert!(texts("the mug").iter().all(|text| !text.contains("blue")));
    assert!(texts("the mug").iter().any(|text| text.contains("red mug")));
    assert!(texts("the hammer").iter().any(|text| text.contains("hammer")));
}

#[test]
fn a_damaged_episode_is_forgotten_with_everything_in_it() {
    let (storage, store) = two_episodes();
    damage(&store, EPISODES, 1);
    let reply = store.forget(&ForgetRequest::Episodes(vec![crate::EpisodeId(1)])).unwrap();
    assert_eq!((reply.episodes, reply.events), (1, 2));
    assert_eq!(store.check().unwrap().problems, Vec::<String>::new());
    store.compact().unwrap();
    assert!(!storage.image().contains(b"red mug"));
}

#[test]
fn a_damaged_event_is_forgotten_by_span_and_by_episode() {
    for request in
        [ForgetRequest::Span(TimeSpan::new(at(0), at(60))), ForgetRequest::Episodes(vec![crate::EpisodeId(1)])]
    {
        let (storage, store) = two_episodes();
        damage(&store, EVENTS, 2);
        let reply = store.forget(&request).unwrap();
        assert_eq!((reply.episodes, reply.events), (1, 2), "{request:?}");
        assert_eq!(store.check().unwrap().problems, Vec::<String>::new());
        assert!(matches!(&store.observe(vec![told("b", "again", 20)]).unwrap()[..], [ObserveOutcome::Rejected { .. }]));
        store.compact().unwrap();
        assert!(!storage.image().contains(b"red mug"));
    }
}

#[test]
fn a_name_is_forgotten_from_a_damaged_episode_and_the_rest_of_it_is_put_together_anew() {
    let store = open(&MemoryStorage::new());
    for (id, text, seconds) in [("a", "the blue mug", 0), ("b", "the red mug", 20), ("e", "Anna was here", 40)] {
        store.observe(vec![told(id, text, seconds)]).unwrap();
    }
    damage(&store, EPISODES, 1);
    let reply = store.forget(&ForgetRequest::Entity("anna".into())).unwrap();
    assert_eq!((reply.episodes, reply.events), (0, 1));
    assert_eq!(store.check().unwrap().problems, Vec::<String>::new());
    let view = store.view().unwrap();
    let (episode, events) = view.whole_episode(crate::EpisodeId(1)).unwrap().unwrap();
    assert_eq!(episode.events, [EventId(1), EventId(2)]);
    assert_eq!((episode.span, events.len()), (TimeSpan::new(at(0), at(20)), 2));
}
