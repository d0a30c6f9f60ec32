//! The 100 nearest of many signatures by Hamming distance, beside a plain read of as many bytes: how much of the memory's
//! bandwidth the scan uses.
//!
//! 100,000 signatures of 512 bits are 6.4 MB and lie in a large cache; a million are 64 MB and do not.
//! `cargo bench -p memory-core --bench hamming`

#![allow(missing_docs, reason = "criterion's macros")]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use fuzzing::SplitMix;
use memory_core::index::signature::{SignatureOptions, SignatureTable};

const NEAREST: usize = 100;

fn signature(random: &mut SplitMix) -> Vec<u64> {
    (0..SignatureOptions::default().words()).map(|_| random.draw()).collect()
}

/// All words into one, in as many registers as the processor has use for.
fn read(words: &[u64]) -> u64 {
    let lanes = words.as_chunks::<32>().0.iter().fold([0_u64; 32], |mut sum, words| {
        sum.iter_mut().zip(words).for_each(|(sum, word)| *sum ^= word);
        sum
    });
    lanes.iter().fold(0, |all, lane| all ^ lane)
}

fn scans(c: &mut Criterion) {
    let mut group = c.benchmark_group("hamming");
    for documents in [100_000_u32, 1_000_000] {
        let mut random = SplitMix(42);
        let mut table = SignatureTable::new(SignatureOptions::default().words());
        (0..documents).for_each(|ordinal| table.set(ordinal, &signature(&mut random)));
        let query = signature(&mut random);
        let bytes = table.bytes();
        assert_eq!(table.nearest(&query, NEAREST, usize::MAX).len(), NEAREST);
        let plain: Vec<u64> = (0..bytes / 8).map(|_| random.draw()).collect();
        group.throughput(Throughput::Bytes(bytes as u64)).sample_size(30);
        group.bench_function(BenchmarkId::new("100 nearest", documents), |b| {
            b.iter(|| table.nearest(black_box(&query), NEAREST, usize::MAX));
        });
        group.bench_function(BenchmarkId::new("plain read", documents), |b| b.iter(|| read(black_box(&plain))));
    }
    group.finish();
}

criterion_group!(benches, scans);
criterion_main!(benches);
