use proptest::prelude::*;

use super::*;

/// What a bit vector must answer, computed the long way.
fn assert_like(view: &BitView, bits: &[bool]) {
    let mut ones = 0;
    for position in bits.iter().enumerate().filter_map(|(position, bit)| bit.then_some(position)) {
        assert_eq!(view.select1(ones), Some(position));
        ones += 1;
    }
    assert_eq!((view.ones(), view.select1(ones), view.select1(usize::MAX)), (ones, None, None));
}

/// Runs of equal bits and noise, as long as several chunks.
fn any_bits() -> impl Strategy<Value = Vec<bool>> {
    let run = prop_oneof![
        (any::<bool>(), 1..9000_usize).prop_map(|(bit, count)| vec![bit; count]),
        prop::collection::vec(any::<bool>(), 1..200),
    ];
    prop::collection::vec(run, 0..8).prop_map(|runs| runs.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_vector_answers_as_a_list_of_bits_does(bits in any_bits()) {
        let mut vector = BitVector::new();
        vector.extend(bits.iter().copied());
        assert_like(vector.view(), &bits);
    }

    #[test]
    fn a_snapshot_keeps_its_state_while_the_writer_appends(before in any_bits(), after in any_bits()) {
        let mut vector = BitVector::new();
        vector.extend(before.iter().copied());
        let snapshot = vector.snapshot();
        vector.extend(after.iter().copied());
        assert_like(&snapshot, &before);
        assert_like(vector.view(), &[before, after].concat());
    }

    #[test]
    fn select_in_a_word_finds_every_one(word: u64) {
        let ones: Vec<u32> = (0..64).filter(|bit| word >> bit & 1 == 1).collect();
        for (k, bit) in (0..).zip(&ones) {
            prop_assert_eq!(select_in_word(word, k), *bit);
        }
    }
}

#[test]
fn select_in_a_full_word_is_the_identity() {
    for bit in 0..64 {
        assert_eq!(select_in_word(u64::MAX, bit), bit);
        assert_eq!(select_in_word(1 << bit, 0), bit);
    }
}

#[test]
fn readers_on_other_threads_see_their_state_while_the_writer_appends() {
    let mut vector = BitVector::new();
    std::thread::scope(|scope| {
        for round in 1..40_usize {
            for position in (round - 1) * 997..round * 997 {
                vector.push(position % 3 == 0);
            }
            let view = vector.snapshot();
            scope.spawn(move || {
                assert_eq!(view.ones(), (round * 997).div_ceil(3));
                for k in 0..view.ones() {
                    assert_eq!(view.select1(k), Some(3 * k));
                }
            });
        }
    });
}
