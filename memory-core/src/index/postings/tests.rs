use proptest::prelude::*;

use super::*;

fn postings_of(postings: &Postings, segment: usize, symbol: u32) -> Vec<(u16, u8)> {
    let mut found = Vec::new();
    let of = postings.segments().nth(segment).unwrap();
    of.for_each_run(symbol, &mut |places, frequencies| {
        assert_eq!(places.len(), frequencies.len());
        found.extend(places.iter().copied().zip(frequencies.iter().copied()));
    });
    found
}

fn length(place: u16) -> u8 {
    u8::try_from(place % 200).unwrap()
}

proptest! {
    #[test]
    fn chunks_however_merged_and_packed_equal_one_chunk_of_everything(
        batches in prop::collection::vec(prop::collection::vec(prop::collection::vec(0_u32..20, 0..8), 1..6), 1..30),
        stride in 1_u16..60,
    ) {
        let mut postings = Postings::default();
        let mut everything = Vec::new();
        let mut place = 0;
        for batch in &batches {
            let mut occurrences = Vec::new();
            for document in batch {
                occurrences.extend(document.iter().map(|symbol| (*symbol, place)));
                place += stride;
            }
            everything.extend_from_slice(&occurrences);
            postings.push(Chunk::build(u32::try_from(batch.len()).unwrap(), occurrences));
        }
        let len = postings.tail_len();
        let lengths: Vec<u32> = postings.tail.iter().map(|chunk| chunk.len()).collect();
        prop_assert!(lengths.windows(2).all(|pair| pair[0] >= 2 * pair[1]), "{:?}", lengths);

        let whole = Chunk::build(len, everything);
        prop_assert_eq!(&postings.merged_tail(), &whole);
        let packed = PackedPostings::pack(&whole, &length);
        let mut bytes = Vec::new();
        packed.encode(&mut bytes);
        let decoded = PackedPostings::decode(&mut bytes.as_slice(), 20);
        prop_assert_eq!(decoded.as_ref(), Some(&packed));
        prop_assert!(PackedPostings::decode(&mut bytes.as_slice(), 0).is_none() || whole.symbols().is_empty());
        let full = Postings::new(vec![Arc::new(packed)], Chunk::default());
        for symbol in 0..20 {
            let expected = postings_of(&postings, 0, symbol);
            prop_assert_eq!(&postings_of(&full, 0, symbol), &expected);
            prop_assert_eq!(postings.count(symbol) as usize, expected.len());
            prop_assert_eq!(full.count(symbol) as usize, expected.len());
            if let Some(bound) = full.segments().next().and_then(|segment| segment.bound(symbol)) {
                for (place, frequency) in expected {
                    prop_assert!(frequency <= bound.most_frequent && length(place) >= bound.shortest);
                }
            }
        }
    }

    #[test]
    fn long_lists_of_any_gaps_and_frequencies_are_read_as_they_were_packed(
        steps in prop::collection::vec((prop_oneof![9 => 0_u16..8, 1 => 0_u16..900], prop_oneof![9 => Just(1_u16), 1 => 1_u16..400]), 1..600),
    ) {
        let mut occurrences = Vec::new();
        let mut expected = Vec::new();
        let mut place = 0_u16;
        for (step, frequency) in steps {
            let Some(next) = place.checked_add(step + 1) else { break };
            place = next;
            occurrences.extend((0..frequency).map(|_| (7, place)));
            expected.push((place, u8::try_from(frequency).unwrap_or(u8::MAX)));
        }
        let full = Postings::new(vec![Arc::new(PackedPostings::pack(&Chunk::build(SEGMENT, occurrences), &length))], Chunk::default());
        prop_assert_eq!(postings_of(&full, 0, 7), expected);
    }

    #[test]
    fn bytes_that_are_no_postings_are_refused_without_a_panic(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let occurrences = (0..2_000_u16).map(|place| (u32::from(place % 7), place * 3)).collect();
        let mut bytes = Vec::new();
        PackedPostings::pack(&Chunk::build(SEGMENT, occurrences), &length).encode(&mut bytes);
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        for bytes in [&bytes[..], &bytes[..cut.index(bytes.len())]] {
            if let Some(packed) = PackedPostings::decode(&mut &*bytes, 7) {
                (0..7).for_each(|symbol| packed.for_each_run(symbol, &mut |_, _| ()));
            }
        }
    }
}

#[test]
fn a_term_in_every_document_of_a_segment_takes_no_bits_of_its_own() {
    let occurrences = (0..=u16::MAX).map(|place| (1, place)).collect();
    let packed = PackedPostings::pack(&Chunk::build(SEGMENT, occurrences), &length);
    assert_eq!(packed.bound(1), Some(ListBound { count: SEGMENT, most_frequent: 1, shortest: 0 }));
    assert!(packed.bytes() < 512 * 8, "only the headers: {}", packed.bytes());
}

#[test]
fn a_tail_that_fills_a_segment_is_packed_and_the_next_one_begins() {
    let mut postings = Postings::default();
    for first in (0..SEGMENT).step_by(1 << 13) {
        let first = u16::try_from(first).unwrap();
        postings.push(Chunk::build(1 << 13, vec![(3, first), (4, first + 1)]));
    }
    let state = postings.clone();
    postings.seal(&length);
    postings.push(Chunk::build(1, vec![(3, 0)]));
    assert_eq!((postings.full().len(), postings.tail_len(), postings.count(3), postings.count(4)), (1, 1, 9, 8));
    assert_eq!((state.full().len(), state.count(3)), (0, 8));
}
