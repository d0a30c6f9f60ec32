//! The dynamic wavelet matrix beside the static ones of other crates.
//!
//! `cargo run --release -p peers-matrix -- [symbols, default 10,000,000]`
//!
//! σ = 32,768. Symbols are drawn evenly (nothing is near anything) and by Zipf's law (as words are). Positions, symbols and
//! ordinals of the queries are drawn beforehand and are the same for all. Each figure is the least of nine rounds of 50,000
//! queries, in nanoseconds a query, so that other work on the machine disturbs it little; the rounds of all candidates
//! alternate.

use std::hint::black_box;
use std::time::Instant;

use memory_core::index::matrix::{MatrixView, WaveletMatrix};
use qwt::mem_dbg::{MemSize, SizeFlags};
use qwt::{AccessUnsigned, QWT256, QWT512, RankUnsigned, SelectUnsigned, WT};
use sucds::Serializable;
use sucds::bit_vectors::Rank9Sel;
use sucds::int_vectors::CompactVector;

const BITS: u16 = 15;
const SIGMA: u32 = 1 << BITS;
const QUERIES: usize = 50_000;
const ROUNDS: usize = 9;

/// Marsaglia's xorshift: the same numbers everywhere.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// A symbol whose rank follows Zipf's law.
    fn zipf(&mut self) -> u32 {
        let uniform = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        f64::from(SIGMA).powf(uniform) as u32 - 1
    }
}

struct Queries {
    positions: Vec<usize>,
    ranks: Vec<(u32, usize)>,
    selects: Vec<(u32, usize)>,
}

impl Queries {
    fn draw(symbols: &[u32], view: &MatrixView) -> Self {
        let mut draw = Draw(7);
        let positions: Vec<usize> = (0..QUERIES).map(|_| draw.below(symbols.len())).collect();
        // Symbols as frequent in the queries as in the sequence.
        let asked: Vec<u32> = positions.iter().map(|position| symbols[*position]).collect();
        let ranks = asked.iter().map(|symbol| (*symbol, draw.below(symbols.len()))).collect();
        let count = |symbol| view.count(symbol).expect("a symbol of the alphabet");
        let selects = asked.iter().map(|symbol| (*symbol, draw.below(count(*symbol)))).collect();
        Self { positions, ranks, selects }
    }
}

/// What is measured, as functions that add up all answers.
struct Candidate<'a> {
    name: &'static str,
    kind: &'static str,
    bytes: usize,
    operations: [Box<dyn Fn(&Queries) -> usize + 'a>; 3],
    best: [f64; 3],
    answers: [usize; 3],
}

impl<'a> Candidate<'a> {
    fn new(
        name: &'static str,
        kind: &'static str,
        bytes: usize,
        access: impl Fn(usize) -> usize + 'a,
        rank: impl Fn(u32, usize) -> usize + 'a,
        select: impl Fn(u32, usize) -> usize + 'a,
    ) -> Self {
        let add = |sum: usize, answer: usize| sum.wrapping_add(answer);
        Self {
            name,
            kind,
            bytes,
            operations: [
                Box::new(move |queries| queries.positions.iter().map(|at| access(*at)).fold(0, add)),
                Box::new(move |queries| queries.ranks.iter().map(|(symbol, at)| rank(*symbol, *at)).fold(0, add)),
                Box::new(move |queries| queries.selects.iter().map(|(symbol, k)| select(*symbol, *k)).fold(0, add)),
            ],
            best: [f64::MAX; 3],
            answers: [0; 3],
        }
    }
}

fn main() {
    let count = std::env::args().nth(1).map_or(10_000_000, |argument| argument.parse().expect("a number of symbols"));
    println!("{count} symbols, σ = {SIGMA}; nanoseconds a query, bits a symbol (⌈log₂σ⌉ = {BITS})\n");
    println!("| | | access | rank | select | bits |");
    println!("|---|---|---|---|---|---|");
    let mut draw = Draw(88_172_645_463_325_252);
    let even: Vec<u32> = (0..count).map(|_| draw.below(SIGMA as usize) as u32).collect();
    compare("even", &even);
    drop(even);
    let zipf: Vec<u32> = (0..count).map(|_| draw.zipf()).collect();
    compare("Zipf", &zipf);
}

fn compare(distribution: &str, symbols: &[u32]) {
    let mut engram = WaveletMatrix::new(SIGMA).expect("a possible alphabet");
    engram.extend_from_slice(symbols).expect("symbols of the alphabet");
    let engram = engram.snapshot();

    let mut compact = CompactVector::new(BITS.into()).expect("a possible width");
    compact.extend(symbols.iter().map(|symbol| u64::from(*symbol))).expect("symbols of that width");
    let sucds =
        sucds::char_sequences::WaveletMatrix::new(compact, |bits| Rank9Sel::new(bits).select1_hints().select0_hints())
            .expect("a sequence");

    let wide: Vec<u64> = symbols.iter().map(|symbol| u64::from(*symbol)).collect();
    let packed = vers_vecs::BitVec::pack_sequence_u64(&wide, BITS.into());
    drop(wide);
    let vers = vers_vecs::WaveletMatrix::from_bit_vec(&packed, BITS);
    drop(packed);

    let binary = WT::<u32>::from(symbols.to_vec());
    let quad_256 = QWT256::<u32>::from(symbols.to_vec());
    let quad_512 = QWT512::<u32>::from(symbols.to_vec());

    let queries = Queries::draw(symbols, &engram);
    let mut candidates = [
        Candidate::new(
            "**Engram**, dynamic",
            "binary levels in pairs",
            engram.bytes(),
            |at| engram.access(at).expect("there") as usize,
            |symbol, at| engram.rank(symbol, at).expect("there"),
            |symbol, k| engram.select(symbol, k).expect("known").expect("there"),
        ),
        Candidate::new(
            "sucds `WaveletMatrix<Rank9Sel>`",
            "binary",
            sucds.size_in_bytes(),
            |at| sucds.access(at).expect("there") as usize,
            |symbol, at| sucds.rank(at, symbol.into()).expect("there"),
            |symbol, k| sucds.select(k, symbol.into()).expect("there"),
        ),
        Candidate::new(
            "vers-vecs `WaveletMatrix`",
            "binary",
            vers.heap_size(),
            |at| vers.get_u64(at).expect("there") as usize,
            |symbol, at| vers.rank_u64(at, symbol.into()).expect("there"),
            |symbol, k| vers.select_u64(k, symbol.into()).expect("there"),
        ),
        Candidate::new(
            "qwt `WT`",
            "binary",
            binary.mem_size(SizeFlags::default()),
            |at| binary.get(at).expect("there") as usize,
            |symbol, at| binary.rank(symbol, at).expect("there"),
            |symbol, k| binary.select(symbol, k).expect("there"),
        ),
        Candidate::new(
            "qwt `QWT256`",
            "quaternary",
            quad_256.mem_size(SizeFlags::default()),
            |at| quad_256.get(at).expect("there") as usize,
            |symbol, at| quad_256.rank(symbol, at).expect("there"),
            |symbol, k| quad_256.select(symbol, k).expect("there"),
        ),
        Candidate::new(
            "qwt `QWT512`",
            "quaternary",
            quad_512.mem_size(SizeFlags::default()),
            |at| quad_512.get(at).expect("there") as usize,
            |symbol, at| quad_512.rank(symbol, at).expect("there"),
            |symbol, k| quad_512.select(symbol, k).expect("there"),
        ),
    ];
    for _ in 0..ROUNDS {
        for candidate in &mut candidates {
            for (operation, run) in candidate.operations.iter().enumerate() {
                let start = Instant::now();
                candidate.answers[operation] = black_box(run(&queries));
                let nanoseconds = start.elapsed().as_nanos() as f64 / QUERIES as f64;
                candidate.best[operation] = candidate.best[operation].min(nanoseconds);
            }
        }
    }
    for candidate in &candidates {
        assert_eq!(candidate.answers, candidates[0].answers, "{} answers as Engram does", candidate.name);
        let [access, rank, select] = candidate.best;
        let bits = candidate.bytes as f64 * 8.0 / symbols.len() as f64;
        let Candidate { name, kind, .. } = candidate;
        println!("| {distribution}: {name} | {kind} | {access:.0} | {rank:.0} | {select:.0} | {bits:.1} |");
    }
    let fastest = |operation: usize| {
        let binary = candidates.iter().filter(|candidate| candidate.kind == "binary");
        binary.map(|candidate| candidate.best[operation]).fold(f64::MAX, f64::min)
    };
    let [access, rank, select] = std::array::from_fn(|operation| candidates[0].best[operation] / fastest(operation));
    println!("| {distribution}: Engram over the fastest binary | | {access:.2} | {rank:.2} | {select:.2} | |");
}
