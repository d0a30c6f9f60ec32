//! What is left after corrections and forgetting is what a fold over the visible events gives, and what was hidden is
//! shown by nobody meanwhile.

use std::sync::Arc;

use proptest::prelude::*;

use super::handle::Engine;
use crate::engine::test_bench::{Letters, options};
use crate::learning::LearntRow;
use crate::ports::TextEmbedder;
use crate::store::memory_storage::MemoryStorage;
use crate::{EpisodeId, ForgetRequest, Kind, ManualClock, Observation, ObserveOutcome, Timestamp, Told, Value};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros((1_795_161_600 + seconds) * 1_000_000)
}

fn open(storage: &MemoryStorage, phi: bool) -> Engine {
    let store = Engine::open(Arc::new(storage.clone()), options(), Arc::new(ManualClock::at(at(0)))).unwrap();
    store.set_text_embedder(phi.then(|| Arc::new(Letters("letters")) as Arc<dyn TextEmbedder>));
    store
}

/// An action; the same `id` corrects it.
fn action(id: u64, text: &str, seconds: i64, session: Option<&str>, goal: Option<&str>) -> Told {
    let mut told = Told {
        id: Some(format!("a{id}")),
        at: Some(at(seconds)),
        kind: Kind::Action,
        text: text.into(),
        source: "robot".into(),
        entity: Some("Anna".into()),
        ..Told::default()
    };
    let attributes = [("session", session), ("task", goal)];
    for (name, value) in attributes.into_iter().filter_map(|(name, value)| Some((name, value?))) {
        told.attributes.insert(name.into(), Value::Text(value.into()));
    }
    told
}

fn tell(store: &Engine, told: Told) -> ObserveOutcome {
    store.observe(vec![Observation::Told(told)]).unwrap().remove(0)
}

fn learn(store: &Engine) {
    while store.learn_pending(5).unwrap().has_lessons() {}
}

/// Every row of what was learnt, sorted.
fn rows(store: &Engine) -> Vec<LearntRow> {
    let mut rows: Vec<LearntRow> = store.writer().learnt.all_rows().collect();
    rows.sort_by(|a, b| (a.part, &a.key).cmp(&(b.part, &b.key)));
    rows
}

/// Every text that somebody who asks for procedures can get to see.
fn shown(store: &Engine) -> String {
    let view = store.view().unwrap();
    let procedures = view.learnt().procedures();
    let all = procedures.iter().chain(procedures.candidates());
    all.map(|procedure| format!("{procedure:?}")).collect()
}

fn assert_sound(store: &Engine) {
    assert_eq!(store.check().unwrap().problems, Vec::<String>::new());
}

/// Three sessions of tea and two of toast.
fn kitchen(store: &Engine) {
    let mut id = 0;
    for (session, goal, steps) in [
        ("mon", "make tea", ["boil water", "add tea", "pour"]),
        ("tue", "make tea", ["boil water", "add leaves", "pour"]),
        ("wed", "make toast", ["slice bread", "toast it", "butter it"]),
        ("thu", "make tea", ["boil water", "add tea", "pour"]),
        ("fri", "make toast", ["slice bread", "toast it", "eat it"]),
    ] {
        for step in steps {
            id += 1;
            tell(store, action(id, step, id as i64 * 60, Some(session), Some(goal)));
        }
    }
    learn(store);
}

/// The fifth action of the kitchen, told again.
fn correction() -> Told {
    action(5, "add sugar", 300, Some("tue"), Some("make tea"))
}

#[test]
fn a_correction_conceals_what_it_touches_at_once_and_is_folded_behind_the_commit() {
    let store = open(&MemoryStorage::new(), false);
    kitchen(&store);
    assert!(shown(&store).contains("add leaves"));
    tell(&store, correction());
    assert!(store.stats().relearning, "the fold is not the transaction's");
    let now = shown(&store);
    assert!(!now.contains("add leaves") && !now.contains("make tea"), "{now}");
    assert!(now.contains("make toast"), "what has nothing of it is shown: {now}");
    let view = store.view().unwrap();
    assert!(crate::recall::Reader::absent_roles(&view).iter().any(|role| role.role == "learning"));
    assert_sound(&store);

    learn(&store);
    let now = shown(&store);
    assert!(now.contains("make tea") && now.contains("add sugar") && !now.contains("add leaves"), "{now}");
    let view = store.view().unwrap();
    assert!(crate::recall::Reader::absent_roles(&view).is_empty());
    assert_sound(&store);
    let folded = rows(&store);
    store.relearn().unwrap();
    learn(&store);
    assert_eq!(folded, rows(&store));
}

#[test]
fn a_kill_between_the_mark_and_the_fold_leaves_the_mark_and_the_fold_is_done() {
    let mut storage = MemoryStorage::new();
    let mut store = open(&storage, false);
    kitchen(&store);
    tell(&store, correction());
    for slices in 0..6 {
        for _ in 0..slices {
            store.learn_pending(3).unwrap();
        }
        drop(store);
        storage = MemoryStorage::from_image(storage.image());
        store = open(&storage, false);
        assert!(!shown(&store).contains("add leaves"), "after {slices} slices");
        assert_sound(&store);
    }
    learn(&store);
    assert!(!store.stats().relearning);
    let folded = rows(&store);
    drop(store);
    let store = open(&storage, false);
    assert_eq!(folded, rows(&store), "the table holds what memory held");
    store.relearn().unwrap();
    learn(&store);
    assert_eq!(folded, rows(&store));
}

#[test]
fn rows_that_were_being_replaced_when_the_program_died_are_not_used() {
    let storage = MemoryStorage::new();
    let store = open(&storage, false);
    kitchen(&store);
    let learnt = rows(&store);
    // As after the first piece of a long fold.
    let replacing = LearntRow::new(crate::learning::LearntPart::Withdrawn, &crate::learning::REPLACING, Some(&()));
    let gone = learnt.iter().rev().find(|row| row.part == crate::learning::LearntPart::Procedure).unwrap();
    let gone = LearntRow { payload: None, ..gone.clone() };
    store.write_learnt(&mut store.writer(), &[replacing, gone], true).unwrap();
    drop(store);
    let store = open(&storage, false);
    assert_eq!(shown(&store), "");
    assert!(store.stats().relearning);
    learn(&store);
    assert_eq!(rows(&store), learnt);
    drop(store);
    let store = open(&storage, false);
    assert!(!store.stats().relearning);
    assert_eq!(rows(&store), learnt);
    assert_sound(&store);
}

#[test]
fn corrections_without_end_keep_no_fold_from_its_end() {
    let store = open(&MemoryStorage::new(), false);
    kitchen(&store);
    store.relearn().unwrap();
    let mut ends = 0;
    for round in 0..400 {
        let text = format!("add sugar {round}");
        tell(&store, action(5, &text, 300, Some("tue"), Some("make tea")));
        store.learn_pending(4).unwrap();
        ends += u32::from(!store.writer().learnt.is_stale());
    }
    assert!(ends > 0, "everything was learnt anew at least once");
    learn(&store);
    let folded = rows(&store);
    store.relearn().unwrap();
    learn(&store);
    assert_eq!(folded, rows(&store));
}

#[test]
fn no_copy_holds_what_was_forgotten_before_it_was_made() {
    let storage = MemoryStorage::new();
    let store = open(&storage, false);
    kitchen(&store);
    tell(&store, action(99, "hide the diamonds", 9_000, Some("sat"), Some("make tea")));
    learn(&store);
    let ObserveOutcome::Accepted { episode, .. } =
        tell(&store, action(100, "lock the safe", 40_000, Some("x"), Some("y")))
    else {
        panic!("it was not accepted")
    };
    learn(&store);
    let view = store.view().unwrap();
    let diamonds = view.list_events(None, 100).unwrap().into_iter().find(|event| event.text.contains("diamonds"));
    store.forget(&ForgetRequest::Episodes(vec![diamonds.unwrap().episode, episode])).unwrap();
    let mut backup = Vec::new();
    store.backup(&mut backup).unwrap();
    assert!(!store.writer().learnt.has_withdrawn());
    store.compact().unwrap();
    assert!(!storage.image().contains(b"diamonds"));
    assert!(!backup.windows(8).any(|bytes| bytes == b"diamonds"));
}

#[test]
fn a_head_that_noted_no_unsettled_pronouns_is_read_and_a_correction_has_all_learnt_anew() {
    let fact = |id: u64, text: usize| Told { kind: Kind::Text, ..action(id, FACTS[text], id as i64, None, None) };
    let storage = MemoryStorage::new();
    let store = open(&storage, false);
    (1..4).for_each(|id| drop(tell(&store, fact(id, 2))));
    learn(&store);
    let head = store.writer().learnt.head_1();
    let sealed = crate::store::envelope::seal_bytes(super::learned::HEAD_1, &[], &head);
    let transaction = store.database.write().unwrap();
    transaction
        .open_table(crate::store::tables::LEARNT)
        .unwrap()
        .insert((0, [].as_slice()), sealed.as_slice())
        .unwrap();
    transaction.commit().unwrap();
    drop(store);

    let store = open(&storage, false);
    assert_sound(&store);
    assert!(!store.stats().relearning, "nothing is wrong with it");
    // The first of three equal mentions: whether a pronoun between them was read is not known.
    tell(&store, fact(1, 0));
    assert!(store.stats().relearning);
    learn(&store);
    assert_sound(&store);
    let folded = rows(&store);
    store.relearn().unwrap();
    learn(&store);
    assert_eq!(folded, rows(&store));
}

#[derive(Debug, Clone)]
enum RefoldOperation {
    Tell { id: u64, text: usize, session: Option<usize>, goal: Option<usize> },
    Fact { id: u64, text: usize },
    ForgetNth(usize),
    Learn(usize),
    Kill,
    Compact,
}

const TEXTS: [&str; 7] = ["boil water", "add tea", "pour", "slice bread", "butter it", "wash up", "dry up"];
const FACTS: [&str; 4] =
    ["The mug is in the kitchen.", "The mug is on the table.", "Clara is in the garden.", "She went to the hall."];

fn steps() -> impl Strategy<Value = Vec<RefoldOperation>> {
    let tell = (0..40_u64, 0..TEXTS.len(), prop::option::of(0..4_usize), prop::option::of(0..3_usize))
        .prop_map(|(id, text, session, goal)| RefoldOperation::Tell { id, text, session, goal });
    let step = prop_oneof![
        12 => tell,
        2 => (0..10_u64, 0..FACTS.len()).prop_map(|(id, text)| RefoldOperation::Fact { id, text }),
        1 => (0..40_usize).prop_map(RefoldOperation::ForgetNth),
        4 => (1..30_usize).prop_map(RefoldOperation::Learn),
        1 => Just(RefoldOperation::Kill),
        1 => Just(RefoldOperation::Compact),
    ];
    prop::collection::vec(step, 1..90)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn what_is_left_is_what_learning_anew_gives(steps in steps(), phi in any::<bool>()) {
        let mut storage = MemoryStorage::new();
        let mut store = open(&storage, phi);
        for step in steps {
            match step {
                RefoldOperation::Tell { id, text, session, goal } => {
                    let (session, goal) = (session.map(|s| format!("s{s}")), goal.map(|g| format!("goal {g}")));
                    drop(tell(&store, action(id, TEXTS[text], id as i64 * 45, session.as_deref(), goal.as_deref())));
                }
                RefoldOperation::Fact { id, text } => {
                    let told = action(100 + id, FACTS[text], id as i64 * 45, None, None);
                    drop(tell(&store, Told { kind: Kind::Text, ..told }));
                }
                RefoldOperation::ForgetNth(number) => {
                    let events = store.view().unwrap().list_events(None, 1_000).unwrap();
                    if let Some(event) = events.get(number % events.len().max(1)) {
                        let episode: EpisodeId = event.episode;
                        store.forget(&ForgetRequest::Episodes(vec![episode])).unwrap();
                    }
                }
                RefoldOperation::Learn(limit) => drop(store.learn_pending(limit).unwrap()),
                RefoldOperation::Kill => {
                    drop(store);
                    storage = MemoryStorage::from_image(storage.image());
                    store = open(&storage, phi);
                }
                RefoldOperation::Compact => drop(store.compact().unwrap()),
            }
            let view = store.view().unwrap();
            let visible: Vec<String> =
                view.list_events(None, 1_000).unwrap().into_iter().map(|event| event.text).collect();
            let procedures = view.learnt().procedures();
            for procedure in procedures.iter().chain(procedures.candidates()) {
                for step in procedure.steps().iter().filter(|step| step.count > 0) {
                    prop_assert!(visible.contains(&step.text), "{} is shown and not visible", step.text);
                }
            }
        }
        learn(&store);
        let folded = rows(&store);
        drop(store);
        store = open(&storage, phi);
        prop_assert_eq!(&folded, &rows(&store), "the table holds what memory held");
        store.relearn().unwrap();
        learn(&store);
        prop_assert_eq!(&folded, &rows(&store), "as learnt from nothing");
        prop_assert_eq!(store.check().unwrap().problems, Vec::<String>::new());
    }
}
