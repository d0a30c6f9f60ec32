use std::collections::BTreeMap;

use proptest::prelude::*;
use vers_vecs::{BitVec, WaveletMatrix as StaticMatrix};

use super::*;
use crate::index::section::SectionError;
use crate::random::congruential;

fn matrix_of(symbols: &[u32], sigma: u32) -> WaveletMatrix {
    let mut matrix = WaveletMatrix::new(sigma).unwrap();
    matrix.extend_from_slice(symbols).unwrap();
    matrix
}

/// The levels of a static wavelet matrix, built from scratch by its definition: sort stably by the bit of each level.
fn static_levels(symbols: &[u32], levels: u32) -> Vec<Vec<bool>> {
    let mut sequence = symbols.to_vec();
    (0..levels)
        .rev()
        .map(|bit| {
            let level = sequence.iter().map(|symbol| symbol >> bit & 1 == 1).collect();
            sequence.sort_by_key(|symbol| symbol >> bit & 1);
            level
        })
        .collect()
}

fn assert_levels(view: &MatrixView, symbols: &[u32]) {
    let levels: Vec<_> = (0..view.levels()).map(|level| view.level(level)).collect();
    assert_eq!(levels, static_levels(symbols, view.levels()));
}

/// Compares every answer with the long way.
fn assert_like(view: &MatrixView, symbols: &[u32]) {
    assert_eq!(view.len(), symbols.len());
    let mut seen: BTreeMap<u32, usize> = BTreeMap::new();
    for (position, symbol) in symbols.iter().enumerate() {
        let before = seen.entry(*symbol).or_default();
        assert_eq!(view.access(position), Ok(*symbol));
        assert_eq!(view.rank(*symbol, position), Ok(*before));
        assert_eq!(view.select(*symbol, *before), Ok(Some(position)));
        *before += 1;
    }
    for (symbol, count) in &seen {
        assert_eq!(view.count(*symbol), Ok(*count));
        assert_eq!(view.select(*symbol, *count), Ok(None));
    }
    let mut copied = vec![77];
    view.copy_range(0..symbols.len(), &mut copied).unwrap();
    assert_eq!(copied[1..], *symbols);
}

fn assert_range(view: &MatrixView, symbols: &[u32], range: std::ops::Range<usize>) {
    let part = &symbols[range.clone()];
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    for symbol in part {
        *counts.entry(*symbol).or_default() += 1;
    }
    for (symbol, count) in &counts {
        assert_eq!(view.rank_range(*symbol, range.clone()), Ok(*count));
    }
    let mut copied = Vec::new();
    view.copy_range(range, &mut copied).unwrap();
    assert_eq!(copied, part);
}

/// An alphabet and symbols of it, some frequent, some rare.
fn sequences(longest: usize) -> impl Strategy<Value = (u32, Vec<u32>)> {
    prop_oneof![1..20_u32, 200..3000_u32, Just(MAX_SIGMA)].prop_flat_map(move |sigma| {
        let symbol = prop_oneof![0..sigma, 0..sigma.min(3), Just(sigma - 1)];
        let runs = prop::collection::vec((symbol, 1..30_usize), 0..longest / 15);
        let sequence = runs.prop_map(|runs| runs.into_iter().flat_map(|(s, n)| vec![s; n]).collect::<Vec<_>>());
        (Just(sigma.min(1 << 16)), sequence.prop_map(move |all| all.into_iter().map(|s| s % (1 << 16)).collect()))
    })
}

/// Symbols as a memory has them: a new one is the next number, frequent ones are frequent.
fn growing(count: usize, seed: u64) -> Vec<u32> {
    let (mut state, mut known) = (seed, 1_u32);
    (0..count)
        .map(|_| {
            let draw = congruential(&mut state) as u32;
            if draw.is_multiple_of(16) {
                known += 1;
                return known - 1;
            }
            (draw / 16 % known).min(draw / 1024 % known).min(draw / 65_536 % known)
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn answers_are_those_of_a_list((sigma, symbols) in sequences(3000), a: usize, b: usize) {
        let matrix = matrix_of(&symbols, sigma);
        assert_like(matrix.view(), &symbols);
        let (a, b) = (a % (symbols.len() + 1), b % (symbols.len() + 1));
        assert_range(matrix.view(), &symbols, a.min(b)..a.max(b));
    }

    #[test]
    fn after_every_append_each_level_has_the_bits_of_a_static_matrix(
        symbols in prop::collection::vec(0..600_u32, 0..150),
        sigma in 1..20_u32,
    ) {
        let mut matrix = WaveletMatrix::new(sigma).unwrap();
        for (position, symbol) in symbols.iter().enumerate() {
            matrix.grow(symbol + 1).unwrap();
            matrix.append(*symbol).unwrap();
            assert_levels(matrix.view(), &symbols[..=position]);
        }
    }

    #[test]
    fn a_state_stays_while_symbols_and_alphabet_grow(
        (sigma, before) in sequences(1500),
        after in prop::collection::vec(0..100_000_u32, 0..1500),
    ) {
        let mut matrix = matrix_of(&before, sigma);
        let state = matrix.snapshot();
        matrix.grow(100_000).unwrap();
        matrix.extend_from_slice(&after).unwrap();
        assert_like(&state, &before);
        prop_assert_eq!(state.sigma(), sigma);
        assert_levels(&state, &before);
        assert_like(matrix.view(), &[before, after].concat());
    }

    #[test]
    fn a_matrix_is_read_back_from_its_file((sigma, symbols) in sequences(2000), more in sequences(500)) {
        let matrix = matrix_of(&symbols, sigma);
        let mut file = Vec::new();
        matrix.view().encode(&mut file).unwrap();
        let mut read = WaveletMatrix::decode(&mut file.as_slice()).unwrap();
        assert_like(read.view(), &symbols);
        let mut again = Vec::new();
        read.view().encode(&mut again).unwrap();
        prop_assert!(file == again);
        read.grow(more.0).unwrap();
        read.extend_from_slice(&more.1).unwrap();
        assert_like(read.view(), &[symbols, more.1].concat());
    }

    #[test]
    fn hostile_bytes_are_refused_or_read_but_never_panic(
        sections in prop::collection::vec(
            prop::collection::vec(prop_oneof![Just(0_u8), Just(1), Just(255), any::<u8>()], 0..64), 1..4),
        shape in (1..3_u16, prop_oneof![0..70_u32, any::<u32>()], 0..200_u64, prop::collection::vec(0..40_u64, 0..5)),
    ) {
        // The checksums fit: only what they guard is arbitrary.
        let mut file = Vec::new();
        let mut header = shape.0.to_le_bytes().to_vec();
        header.extend(shape.1.min(1 << 20).to_le_bytes());
        header.extend(shape.2.to_le_bytes());
        header.extend(shape.3.iter().flat_map(|zeros| zeros.to_le_bytes()));
        crate::index::section::write_section(&mut file, "WMHD", &header).unwrap();
        for section in &sections {
            crate::index::section::write_section(&mut file, "WMDG", section).unwrap();
        }
        if let Ok(matrix) = WaveletMatrix::decode(&mut file.as_slice()) {
            let view = matrix.view();
            let symbols: Vec<u32> = (0..view.len()).map(|position| view.access(position).unwrap()).collect();
            assert_like(view, &symbols);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn digits_at_will_are_a_sequence_or_an_error(
        sigma in 1..80_u32, words in prop::collection::vec(any::<u64>(), 1..12), len in 0..40_u64
    ) {
        // Sections of exactly the right length, found by reading the error, so that the digits themselves are reached.
        let heights = digits::heights(sigma);
        let mut header = 1_u16.to_le_bytes().to_vec();
        header.extend(sigma.to_le_bytes());
        header.extend(len.to_le_bytes());
        header.extend(vec![0; 8 * heights]);
        let mut payloads: Vec<Vec<u8>> = Vec::new();
        let mut draw = words.iter().cycle();
        loop {
            let mut file = Vec::new();
            crate::index::section::write_section(&mut file, "WMHD", &header).unwrap();
            for payload in &payloads {
                crate::index::section::write_section(&mut file, "WMDG", payload).unwrap();
            }
            match WaveletMatrix::decode(&mut file.as_slice()) {
                Err(SectionError::Io { .. }) => payloads.push(Vec::new()),
                Err(SectionError::Content { reason, .. }) if reason.contains(" bytes instead of ") => {
                    let bytes: usize = reason.rsplit(' ').next().unwrap().parse().unwrap();
                    let mask = digits::first_digits(u64::MAX, (len as usize).min(32));
                    let payload = payloads.last_mut().unwrap();
                    while payload.len() < bytes {
                        payload.extend((draw.next().unwrap() & mask).to_le_bytes());
                    }
                }
                Err(_) => break,
                Ok(matrix) => {
                    prop_assert_eq!(matrix.len(), len as usize);
                    prop_assert!((0..matrix.len()).all(|place| matrix.view().access(place).unwrap() < sigma));
                    break;
                }
            }
        }
    }
}

#[test]
fn a_long_growing_sequence_agrees_with_an_independent_static_matrix() {
    let symbols = growing(120_000, 5);
    let mut matrix = WaveletMatrix::new(1).unwrap();
    for symbol in &symbols {
        matrix.grow(symbol + 1).unwrap();
        matrix.append(*symbol).unwrap();
    }
    let view = matrix.snapshot();
    let wide: Vec<u64> = symbols.iter().map(|symbol| u64::from(*symbol)).collect();
    let bits = BitVec::pack_sequence_u64(&wide, view.levels() as usize);
    let reference = StaticMatrix::from_bit_vec(&bits, view.levels() as u16);
    for position in (0..symbols.len()).step_by(7) {
        let symbol = u64::from(symbols[position]);
        assert_eq!(view.access(position).ok().map(u64::from), reference.get_u64(position));
        let rank = reference.rank_u64(position, symbol).unwrap();
        assert_eq!(view.rank(symbols[position], position), Ok(rank));
        assert_eq!(view.select(symbols[position], rank).unwrap(), reference.select_u64(rank, symbol));
        let other = symbols[symbols.len() - 1 - position];
        assert_eq!(view.rank(other, position).ok(), reference.rank_u64(position, u64::from(other)));
    }
    assert_range(&view, &symbols, 1_000..100_000);
    assert_levels(&view, &symbols);
}

#[test]
fn counts_stay_exact_beyond_superblocks() {
    // More than 2^21 threes in one node of several superblocks, below a node that begins with zeros.
    let mut matrix = WaveletMatrix::new(4).unwrap();
    let symbol_at = |position: usize| -> u32 {
        if position < 1_200_000 { [3, 3, 1, 3, 2, 3, 3, 0][position % 8] } else { [4, 3, 3, 3][position % 4] }
    };
    for position in 0..3_300_000 {
        let symbol = symbol_at(position);
        matrix.grow(symbol + 1).unwrap();
        matrix.append(symbol).unwrap();
    }
    let mut file = Vec::new();
    matrix.view().encode(&mut file).unwrap();
    let read = WaveletMatrix::decode(&mut file.as_slice()).unwrap();
    for view in [matrix.view(), read.view()] {
        let mut counts = [0; 5];
        for position in 0..view.len() {
            let symbol = symbol_at(position);
            if position % 4_801 == 0 {
                assert_eq!(view.access(position), Ok(symbol));
                for (symbol, count) in (0..).zip(counts) {
                    assert_eq!(view.rank(symbol, position), Ok(count), "rank of {symbol} at {position}");
                }
                assert_eq!(view.select(symbol, counts[symbol as usize]), Ok(Some(position)));
            }
            counts[symbol as usize] += 1;
        }
    }
}

#[test]
fn what_cannot_be_answered_is_told() {
    let mut matrix = matrix_of(&[1, 2, 1], 3);
    assert_eq!(matrix.append(3), Err(MatrixError::SymbolBeyondSigma { symbol: 3, sigma: 3 }));
    assert_eq!(matrix.extend_from_slice(&[0, 9]), Err(MatrixError::SymbolBeyondSigma { symbol: 9, sigma: 3 }));
    assert_eq!(matrix.grow(u32::MAX), Err(MatrixError::SigmaTooLarge { sigma: u32::MAX }));
    assert!(WaveletMatrix::new(MAX_SIGMA + 1).is_err());
    let view = matrix.snapshot();
    assert_eq!(view.len(), 3, "a refused request changes nothing");
    assert_eq!(view.access(3), Err(MatrixError::PositionOutOfRange { position: 3, len: 3 }));
    assert_eq!(view.rank(1, 4), Err(MatrixError::PositionOutOfRange { position: 4, len: 3 }));
    assert_eq!(view.rank(5, 0), Err(MatrixError::SymbolBeyondSigma { symbol: 5, sigma: 3 }));
    assert_eq!(view.select(1, 2), Ok(None));
    assert_eq!(view.select(0, 0), Ok(None));
    let backwards = std::ops::Range { start: 2, end: 1 };
    assert_eq!(view.rank_range(1, backwards), Err(MatrixError::SpanOutOfRange { start: 2, end: 1, len: 3 }));
    let mut nothing = Vec::new();
    let beyond = Err(MatrixError::SpanOutOfRange { start: 0, end: 4, len: 3 });
    assert_eq!((view.copy_range(0..4, &mut nothing), nothing.len()), (beyond, 0));
}

#[test]
fn an_empty_matrix_answers() {
    let matrix = WaveletMatrix::new(0).unwrap();
    let view = matrix.view();
    assert!(view.is_empty());
    assert_eq!((view.sigma(), view.levels(), view.len()), (1, 0, 0));
    assert_eq!(view.access(0), Err(MatrixError::PositionOutOfRange { position: 0, len: 0 }));
    assert_eq!((view.rank(0, 0), view.select(0, 0)), (Ok(0), Ok(None)));
    let mut file = Vec::new();
    view.encode(&mut file).unwrap();
    assert!(WaveletMatrix::decode(&mut file.as_slice()).unwrap().is_empty());
}

#[test]
fn readers_on_other_threads_see_their_state_while_the_writer_appends() {
    let symbols = growing(30_000, 9);
    let mut matrix = WaveletMatrix::new(1).unwrap();
    std::thread::scope(|scope| {
        for (position, symbol) in symbols.iter().enumerate() {
            matrix.grow(symbol + 1).unwrap();
            matrix.append(*symbol).unwrap();
            if position % 3_000 == 1_234 {
                let (view, symbols) = (matrix.snapshot(), &symbols);
                scope.spawn(move || assert_like(&view, &symbols[..=position]));
            }
        }
    });
    fn send_and_sync<T: Send + Sync>() {}
    send_and_sync::<MatrixView>();
}

fn golden() -> WaveletMatrix {
    let mut matrix = WaveletMatrix::new(3).unwrap();
    matrix.extend_from_slice(&[0, 1, 2, 1, 1]).unwrap();
    for symbol in growing(700, 1) {
        matrix.grow(symbol + 1).unwrap();
        matrix.append(symbol).unwrap();
    }
    matrix
}

fn fixture(version: u16) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/matrix-{version}.sections"))
}

#[test]
fn a_matrix_of_format_1_is_read_and_written_as_it_was() {
    let file = std::fs::read(fixture(1)).unwrap();
    let read = WaveletMatrix::decode(&mut file.as_slice()).unwrap();
    let symbols: Vec<u32> = [0, 1, 2, 1, 1].into_iter().chain(growing(700, 1)).collect();
    assert_like(read.view(), &symbols);
    for matrix in [read, golden()] {
        let mut written = Vec::new();
        matrix.view().encode(&mut written).unwrap();
        assert!(written == file, "a change of the bytes needs a new version");
    }
}

/// Run once, when a format is new: `cargo test -p memory-core --lib -- --ignored write_the_matrix_fixture`.
#[test]
#[ignore = "writes the fixture of the newest format"]
fn write_the_matrix_fixture() {
    let mut file = Vec::new();
    golden().view().encode(&mut file).unwrap();
    std::fs::write(fixture(1), file).unwrap();
}

#[test]
fn damage_is_told_wherever_it_is() {
    let mut file = Vec::new();
    golden().view().encode(&mut file).unwrap();
    for at in 0..file.len() {
        let mut damaged = file.clone();
        damaged[at] ^= 0x10;
        assert!(WaveletMatrix::decode(&mut damaged.as_slice()).is_err(), "byte {at}");
    }
    for length in 0..file.len() {
        assert!(WaveletMatrix::decode(&mut &file[..length]).is_err(), "{length} bytes");
    }
    let newer = {
        let mut header = 2_u16.to_le_bytes().to_vec();
        header.extend([0; 30]);
        let mut file = Vec::new();
        crate::index::section::write_section(&mut file, "WMHD", &header).unwrap();
        file
    };
    assert!(matches!(WaveletMatrix::decode(&mut newer.as_slice()), Err(SectionError::Version { found: 2, .. })));
}
