//! The wavelet matrix as it grows: append, access, rank, select, and reading a span of 20 symbols, at 10⁴ to 10⁷ symbols of an
//! alphabet of 32,768 by Zipf's law.
//!
//! `cargo bench -p memory-core --bench matrix`. Beside other crates: `tests/peers`.

#![allow(missing_docs, reason = "criterion's macros")]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "drawn numbers"
)]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use fuzzing::Xorshift;
use memory_core::index::matrix::{MatrixView, WaveletMatrix};

const SIGMA: u32 = 32_768;
const QUERIES: usize = 1_024;
const SPAN: usize = 20;

/// A symbol whose rank follows Zipf's law.
fn symbol(random: &mut Xorshift) -> u32 {
    f64::from(SIGMA).powf(random.fraction()) as u32 - 1
}

fn grown(matrix: &mut WaveletMatrix, random: &mut Xorshift, len: usize) {
    while matrix.len() < len {
        matrix.append(symbol(random)).expect("a symbol of the alphabet");
    }
}

/// 10,000 symbols more, each 20 followed by a snapshot as after an entry.
fn append(criterion: &mut Criterion) {
    const MORE: usize = 10_000;
    let mut group = criterion.benchmark_group("append");
    group.sample_size(20).throughput(Throughput::Elements(MORE as u64));
    let (mut matrix, mut random) = (WaveletMatrix::new(SIGMA).expect("a possible alphabet"), Xorshift(42));
    for len in [10_000, 100_000, 1_000_000, 10_000_000] {
        grown(&mut matrix, &mut random, len);
        group.bench_function(BenchmarkId::new("entries of 20, each published", len), |bencher| {
            bencher.iter(|| {
                for _ in 0..MORE / SPAN {
                    for _ in 0..SPAN {
                        matrix.append(symbol(&mut random)).expect("a symbol of the alphabet");
                    }
                    black_box(matrix.snapshot());
                }
            });
        });
    }
}

fn queries(criterion: &mut Criterion) {
    let (mut matrix, mut random) = (WaveletMatrix::new(SIGMA).expect("a possible alphabet"), Xorshift(42));
    for len in [10_000, 100_000, 1_000_000, 10_000_000] {
        grown(&mut matrix, &mut random, len);
        let view = matrix.snapshot();
        let positions: Vec<usize> = (0..QUERIES).map(|_| random.below(len - SPAN)).collect();
        let symbols: Vec<u32> = positions.iter().map(|at| view.access(*at).expect("there")).collect();
        let ordinals: Vec<usize> =
            symbols.iter().map(|symbol| random.below(view.count(*symbol).expect("known"))).collect();
        let mut group = criterion.benchmark_group("query");
        let mut bench = |name: &str, query: &dyn Fn(&MatrixView, usize) -> usize| {
            let mut next = 0;
            group.bench_function(BenchmarkId::new(name, len), |bencher| {
                bencher.iter(|| {
                    next = (next + 1) % QUERIES;
                    black_box(query(&view, next))
                });
            });
        };
        bench("access", &|view, one| view.access(positions[one]).expect("there") as usize);
        bench("rank", &|view, one| view.rank(symbols[one], positions[QUERIES - 1 - one]).expect("there"));
        bench("select", &|view, one| view.select(symbols[one], ordinals[one]).expect("known").expect("there"));
        bench("span of 20", &|view, one| {
            let mut symbols = Vec::with_capacity(SPAN);
            view.copy_range(positions[one]..positions[one] + SPAN, &mut symbols).expect("within");
            symbols.len()
        });
    }
}

criterion_group!(benches, append, queries);
criterion_main!(benches);
