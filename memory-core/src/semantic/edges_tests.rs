use super::tests::{Mind, said};
use super::{EdgeRole, FactKind, Facts, Noun};
use crate::EventId;

fn involving(facts: &Facts, entity: &str) -> Vec<(EdgeRole, String, String, u32)> {
    let found = facts.involving(&[Noun::named(entity).unwrap()], &|| true).unwrap();
    found.into_iter().map(|(role, fact)| (role, fact.subject, fact.value, fact.weight)).collect()
}

fn edge(role: EdgeRole, subject: &str, value: &str, weight: u32) -> (EdgeRole, String, String, u32) {
    (role, subject.to_owned(), value.to_owned(), weight)
}

#[test]
fn facts_are_found_by_all_that_they_involve_the_heaviest_first() {
    let mind = Mind::from_events(&[
        said(1, 0, "Anna", "The blue mug is in the kitchen."),
        said(2, 10, "Ben", "The radio is on the kitchen table."),
        said(3, 20, "Ben", "The drill is in the kitchen."),
        said(4, 30, "Anna", "The drill is in the kitchen."),
        said(5, 40, "Anna", "The kitchen is clean."),
        said(6, 50, "Anna", "Ben washed the mug."),
        said(7, 60, "Anna", "The ladder is in the cellar."),
    ]);
    assert_eq!(
        involving(&mind.facts, "the kitchen"),
        [
            edge(EdgeRole::Value, "drill", "in the kitchen", 2),
            edge(EdgeRole::Subject, "kitchen", "clean", 1),
            edge(EdgeRole::Value, "blue mug", "in the kitchen", 1),
        ],
        "a table is no kitchen"
    );
    assert_eq!(involving(&mind.facts, "Ben"), [edge(EdgeRole::Actor, "mug", "Ben", 1)]);
    assert_eq!(involving(&mind.facts, "garden"), []);
    assert_eq!(mind.facts.involving(&[Noun::named("kitchen").unwrap()], &|| false), None, "no time");
}

#[test]
fn a_claim_reinforces_edges_one_that_denies_weakens_them_and_a_forgotten_one_takes_its_share_away() {
    let told = [
        said(1, 0, "Anna", "The mug is in the kitchen."),
        said(2, 10, "Ben", "The mug is in the kitchen."),
        said(3, 20, "Mia", "The mug is in the kitchen."),
    ];
    let mut mind = Mind::from_events(&told);
    let mug = |weight| vec![edge(EdgeRole::Value, "mug", "in the kitchen", weight)];
    assert_eq!(involving(&mind.facts, "kitchen"), mug(3));
    mind.learn(&said(4, 30, "Ben", "The mug is not in the kitchen."));
    assert_eq!(involving(&mind.facts, "kitchen"), mug(2));
    for (forgotten, left) in [(4, mug(3)), (1, mug(2)), (3, mug(1)), (2, vec![])] {
        mind.facts.withdraw(&[EventId(forgotten)]);
        assert_eq!(involving(&mind.facts, "kitchen"), left, "without {forgotten}");
    }
    assert_eq!(mind.facts.edges(), 0, "nothing is left of what nobody says");
}

#[test]
fn a_topic_that_makes_room_keeps_the_edges_of_the_claims_that_it_keeps() {
    let rooms = ["kitchen", "cellar"];
    let mut mind = Mind::default();
    for number in 0..400_u64 {
        let room = rooms[usize::from(number >= 100)];
        mind.learn(&said(number + 1, number as i64, "Anna", &format!("The mug is in the {room}.")));
    }
    assert_eq!(involving(&mind.facts, "kitchen"), []);
    assert_eq!(involving(&mind.facts, "cellar"), [edge(EdgeRole::Value, "mug", "in the cellar", 256)]);
    assert_eq!(mind.facts.edges(), 1);
}

#[test]
fn edges_are_the_same_after_a_restart_at_once_and_once_they_are_gathered() {
    let told: Vec<_> = (0..40)
        .map(|number| {
            let place = ["hall", "garage", "attic"][number % 3];
            said(number as u64 + 1, number as i64, "Ines", &format!("The box {number} is in the {place}."))
        })
        .collect();
    let mut mind = Mind::from_events(&told);
    let mut restored = Facts::default();
    for (key, topic) in mind.facts.all() {
        restored.restore(key.clone(), topic.clone());
    }
    let expected = involving(&mind.facts, "garage");
    assert!(expected.len() > 1 && !restored.is_referred());
    assert_eq!(involving(&restored, "garage"), expected);
    restored.refer_all();
    assert_eq!(involving(&restored, "garage"), expected);
    assert_eq!(restored.edges(), mind.facts.edges());
    for facts in [&mut restored, &mut mind.facts] {
        facts.withdraw(&[EventId(2), EventId(5)]);
    }
    assert_eq!(involving(&restored, "garage"), involving(&mind.facts, "garage"));
    assert!(mind.facts.sorted().all(|(key, _)| key.attribute.kind() == FactKind::Place));
}
