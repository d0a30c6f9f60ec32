//! Taking back what an event mentioned, against never having known it.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{Facts, MentionContext, conclusions};
use crate::{Attributes, EpisodeId, Event, EventId, Kind, Modality, Origin, TimeSpan, Timestamp};

/// More nouns than a source keeps, and pronouns for them.
const TEXTS: [&str; 16] = [
    "Clara is in the garden.",
    "Anna is in the kitchen.",
    "Peter went to the hall.",
    "She went to the office.",
    "He is in the cellar.",
    "It is on the table.",
    "It is broken.",
    "The mug is on the shelf.",
    "The lamp is on.",
    "The drill is in the shed. It is broken.",
    "The radio is off.",
    "The bowl is in the sink.",
    "The key is on the hook.",
    "The phone is in the car.",
    "The knife is in the drawer.",
    "The book is in the bag.",
];

fn told(id: usize, (text, minute, source): (usize, i64, usize)) -> Event {
    let at = Timestamp::from_micros((1_795_161_600 + minute * 60) * 1_000_000);
    Event {
        id: EventId(id as u64 + 1),
        episode: EpisodeId(1),
        origin: Origin::Told,
        sender_id: None,
        kind: Kind::Text,
        modality: Modality::Audio,
        text: TEXTS[text].into(),
        span: TimeSpan::new(at, at),
        stream: None,
        source: format!("sender {source}"),
        entity: None,
        attributes: Attributes::new(),
        confidence: 1.0,
        media: None,
        received: at,
        pose: None,
    }
}

fn learnt<'e>(events: impl Iterator<Item = &'e Event>) -> (Facts, MentionContext) {
    let (mut facts, mut context) = (Facts::default(), MentionContext::default());
    for event in events {
        conclusions(event, None, &mut context).into_iter().for_each(|conclusion| facts.add(conclusion));
    }
    (facts, context)
}

/// What is left when one event is taken back, and whether that is said to be exact.
fn without(events: &[Event], hidden: &Event) -> (Facts, MentionContext, bool) {
    let (mut facts, mut context) = learnt(events.iter());
    let first = BTreeMap::from([(Some(hidden.source.clone()), hidden.id)]);
    let exact = context.withdraw(&[hidden.id], &first);
    let exact = facts.withdraw(&[hidden.id]) && exact;
    (facts, context, exact)
}

/// Where it is said to be exact, what is left is what was learnt without it. Returns whether it was.
fn assert_never_known_where_exact(events: &[Event], hidden: &Event) -> bool {
    let (facts, context, exact) = without(events, hidden);
    if exact {
        assert_eq!((facts, context), learnt(events.iter().filter(|event| event.id != hidden.id)));
    }
    exact
}

#[test]
fn a_mention_that_hid_a_nearer_one_from_a_pronoun_is_not_taken_back_exactly() {
    // Told last, and an hour before the others; then of Clara again.
    let events: Vec<Event> = [(0, 60, 0), (0, 0, 0), (3, 61, 0), (0, 62, 0)]
        .into_iter()
        .enumerate()
        .map(|(id, one)| told(id, one))
        .collect();
    assert!(!without(&events, &events[1]).2);
}

#[test]
fn a_mention_that_no_pronoun_could_have_met_is_taken_back_exactly() {
    let events: Vec<Event> = [(7, 0, 0), (8, 1, 0), (6, 2, 0), (7, 3, 0), (5, 4, 0)]
        .into_iter()
        .enumerate()
        .map(|(id, one)| told(id, one))
        .collect();
    assert!(assert_never_known_where_exact(&events, &events[0]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn what_is_taken_back_exactly_was_never_known(
        events in prop::collection::vec((0..TEXTS.len(), prop_oneof![0..4_i64, 0..40_i64], 0..2_usize), 1..24),
        hidden in any::<prop::sample::Index>(),
    ) {
        let events: Vec<Event> = events.into_iter().enumerate().map(|(id, one)| told(id, one)).collect();
        assert_never_known_where_exact(&events, hidden.get(&events));
    }

    /// More senders than are kept.
    #[test]
    fn a_sender_who_displaced_another_is_not_taken_back_exactly_where_that_shows(
        events in prop::collection::vec((0..TEXTS.len(), 0..4_i64, 0..40_usize), 30..120),
        hidden in any::<prop::sample::Index>(),
    ) {
        let events: Vec<Event> = events.into_iter().enumerate().map(|(id, one)| told(id, one)).collect();
        assert_never_known_where_exact(&events, hidden.get(&events));
    }
}
