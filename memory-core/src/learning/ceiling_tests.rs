//! No learned row exceeds the size limit of the store, whatever is told.

use super::Learnt;
use crate::engine::MAX_LEARNT_ROW;
use crate::episodic::anchors::NamingRequest;
use crate::lesson::Lesson;
use crate::{Attributes, EpisodeId, Event, EventId, Kind, Origin, TimeSpan, Timestamp, Value};

/// As long as the door lets texts be.
const LONGEST: usize = 60_000;

fn lesson(number: u64, kind: Kind, text: String, entity: &str, attributes: &[(&str, Value)]) -> Lesson {
    let at = Timestamp::from_micros(number as i64 * 1_000_000);
    let event = Event {
        id: EventId(number),
        episode: EpisodeId(number),
        origin: Origin::Told,
        sender_id: None,
        kind,
        modality: kind.modality(),
        text,
        span: TimeSpan::new(at, at),
        stream: None,
        source: format!("source {} {}", number % 40, "x".repeat(1_000)),
        entity: Some(entity.to_owned()),
        attributes: attributes.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect::<Attributes>(),
        confidence: 1.0,
        media: None,
        received: at,
        pose: None,
    };
    Lesson { event, vectors: Vec::new(), statements: Vec::new() }
}

fn check(learnt: &Learnt) {
    let mut restored = Learnt::default();
    let rows: Vec<_> = learnt.all_rows().collect();
    for row in &rows {
        let payload = row.payload.as_deref().unwrap_or_default();
        assert!(payload.len() <= MAX_LEARNT_ROW, "a row of {:?} has {} bytes", row.part, payload.len());
        restored.restore(row.part, &row.key, payload).unwrap();
    }
    restored.finish_restoring().unwrap();
    assert!(rows.into_iter().eq(restored.all_rows()), "rows give back what they were made of");
}

#[test]
fn actions_with_endless_texts_and_names_fit_their_rows() {
    let mut learnt = Learnt::default();
    for number in 1..=1_500_u64 {
        let long = |what: &str| Value::Text(format!("{what} {number} {}", "y".repeat(3_000)));
        let many = |what: &str| {
            Value::List((0..40).map(|one| Value::Text(format!("{what} {number} {one} {}", "z".repeat(300)))).collect())
        };
        let session = Value::Text(format!("{}{}", "s".repeat(1_000), number / 3));
        let attributes = [
            ("session", session),
            ("task", if number % 3 == 0 { long("task") } else { Value::Text("tidy up".to_owned()) }),
            ("objects", many("thing")),
            ("tools", many("tool")),
            ("place", long("place")),
        ];
        let text = format!("take {} {}", number % 700, "w".repeat(if number % 50 == 0 { LONGEST } else { 600 }));
        learnt.learn(&lesson(number, Kind::Action, text, &format!("person {number}"), &attributes), &|_| None);
    }
    assert!(learnt.procedures().by_goal("tidy up").is_some_and(|found| found.sessions() > 400));
    check(&learnt);
}

#[test]
fn one_thing_spelt_in_endless_ways_fits_its_row() {
    let mut learnt = Learnt::default();
    for number in 1..=3_000_u64 {
        let spelt: String = "boil the water in the kettle"
            .chars()
            .enumerate()
            .map(|(at, c)| if number >> (at % 12) & 1 == 1 { c.to_ascii_uppercase() } else { c })
            .collect();
        let attributes =
            [("session", Value::Text(format!("s{}", number / 4))), ("task", Value::Text("tea".to_owned()))];
        learnt
            .learn(&lesson(number, Kind::Action, format!("{spelt}{}", "!".repeat(400)), "Anna", &attributes), &|_| {
                None
            });
    }
    assert_eq!(learnt.procedures().by_goal("tea").map(|found| found.steps().len()), Some(1));
    check(&learnt);
}

#[test]
fn facts_with_endless_subjects_attributes_and_values_fit_their_rows() {
    let mut learnt = Learnt::default();
    for number in 1..=400_u64 {
        let long = |what: &str| format!("{what}{number}{}", "v".repeat(LONGEST / 2));
        let name = long("colour");
        let attributes = [
            (name.as_str(), Value::Text(long("value"))),
            ("mood", Value::Text(long("mood"))),
            ("place", Value::Text(long("in the "))),
        ];
        let entity = "e".repeat(1_000);
        let text = format!("The {} is in the {}.", "q".repeat(LONGEST / 2), long("cellar"));
        learnt.learn(&lesson(number, Kind::State, text, &entity, &attributes), &|_| None);
    }
    assert!(learnt.facts().len() > 2);
    check(&learnt);
}

#[test]
fn endless_further_names_are_refused_before_their_row_is_full() {
    let mut learnt = Learnt::default();
    let refused = (0..10_000).find_map(|number| {
        let name =
            NamingRequest::Name { entity: format!("{number}{}", "m".repeat(200)), name: format!("Anna {number}") };
        learnt.name(&name, &[]).err()
    });
    assert!(refused.is_some_and(|message| message.contains("forget some")));
    check(&learnt);
}
