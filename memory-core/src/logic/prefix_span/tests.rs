//! Mining against a naive enumeration of every subsequence.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::{Mining, Output, Pattern, contains};

/// Every frequent subsequence, by listing them all. `gap`: how many items may lie between two.
fn naive(sequences: &[Vec<u32>], min_support: u32, gap: Option<usize>) -> Vec<Pattern> {
    let mut support: BTreeMap<Vec<u32>, u32> = BTreeMap::new();
    for sequence in sequences {
        let mut own: BTreeSet<Vec<u32>> = BTreeSet::new();
        for chosen in 1_u32..1 << sequence.len() {
            let places: Vec<usize> = (0..sequence.len()).filter(|at| chosen >> at & 1 == 1).collect();
            if gap.is_none_or(|gap| places.windows(2).all(|pair| pair[1] - pair[0] - 1 <= gap)) {
                own.insert(places.iter().map(|at| sequence[*at]).collect());
            }
        }
        for pattern in own {
            *support.entry(pattern).or_default() += 1;
        }
    }
    let frequent = support.into_iter().filter(|(_, support)| *support >= min_support);
    frequent.map(|(items, support)| Pattern { items, support }).collect()
}

fn outermost(all: &[Pattern], pairs: impl Fn(&Pattern, &Pattern) -> bool) -> Vec<Pattern> {
    let hidden = |inner: &Pattern| {
        all.iter().any(|outer| {
            outer.items.len() > inner.items.len() && contains(&outer.items, &inner.items) && pairs(inner, outer)
        })
    };
    all.iter().filter(|pattern| !hidden(pattern)).cloned().collect()
}

fn mine(sequences: &[Vec<u32>], min_support: u32, max_gap: Option<usize>, output: Output) -> Vec<Pattern> {
    let found = Mining { min_support, max_gap, output, ..Mining::default() }.mine(sequences);
    assert!(found.complete);
    found.patterns
}

proptest! {
    #[test]
    fn all_closed_and_maximal_patterns_are_those_of_the_naive_enumeration(
        sequences in prop::collection::vec(prop::collection::vec(0_u32..4, 0..9), 1..8),
        min_support in 1_u32..4,
        gap in prop::option::of(0_usize..3),
    ) {
        let all = naive(&sequences, min_support, gap);
        prop_assert_eq!(mine(&sequences, min_support, gap, Output::All), all.clone());
        let closed = outermost(&all, |inner, outer| inner.support == outer.support);
        prop_assert_eq!(mine(&sequences, min_support, gap, Output::Closed), closed);
        prop_assert_eq!(mine(&sequences, min_support, gap, Output::Maximal), outermost(&all, |_, _| true));
    }
}

#[test]
fn lengths_are_limited_and_order_is_kept() {
    let sequences = [vec![0, 1, 2], vec![0, 1, 2], vec![1, 0]];
    let mining = Mining { min_length: 2, max_length: 2, output: Output::All, ..Mining::default() };
    let found: Vec<_> = mining.mine(&sequences).patterns.into_iter().map(|pattern| pattern.items).collect();
    assert_eq!(found, [vec![0, 1], vec![0, 2], vec![1, 2]]);
}

#[test]
fn sequences_that_share_hundreds_of_items_have_one_closed_pattern_and_a_bounded_search() {
    let long: Vec<u32> = (0..200).collect();
    let mining = Mining { max_length: usize::MAX, ..Mining::default() };
    let found = mining.mine(&[long.clone(), long.clone()]);
    assert_eq!(found.patterns, [Pattern { items: long.clone(), support: 2 }]);
    let raw = Mining { output: Output::All, max_prefixes: 1_000, ..Mining::default() }.mine(&[long.clone(), long]);
    assert!(!raw.complete && raw.patterns.len() <= 1_000);
}

#[test]
fn nothing_is_mined_from_nothing() {
    assert!(Mining::default().mine(&[]).patterns.is_empty());
    assert!(Mining::default().mine(&[vec![], vec![]]).patterns.is_empty());
}
