//! Measures size and speed of the index (`engram bench index`).
//!
//! One thread measures everything, and compares it in the same run with an exact scan of the vectors, a plain read of the
//! signatures' bytes, and an exhaustive search.

mod ball;
mod picture;
mod together;
mod workload;

use std::collections::HashSet;
use std::hint::black_box;
use std::time::Duration;

pub use ball::Ball;
pub use picture::picture;
pub use together::{Together, together};
pub use workload::{ENTRY_TOKENS, IndexWorkload, SourceText};

use super::{CompressedIndex, Index, IndexBytes, IndexOptions, Search, SearchQuery};
use crate::{Clock, EventId};

/// Documents of a batch, each followed by a snapshot, as a commit is.
const BATCH: u64 = 64;
/// How many are asked for.
const LIMIT: usize = 50;
/// Nearest signatures that are looked for.
const NEAREST: usize = 100;
/// Questions that are compared with a search of everything.
const COMPARED: usize = 40;

/// What to measure.
#[derive(Debug, Clone, Copy)]
pub struct IndexPlan {
    /// How many entries.
    pub entries: u64,
    /// How many questions.
    pub queries: usize,
    /// Whether the vectors are kept beside the index and scanned, as a peer: 1,536 bytes an entry.
    pub scan: bool,
}

/// Times of one kind of operation.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SearchTimes {
    /// Half of them took no longer.
    pub p50: Duration,
    /// All but one in a hundred took no longer.
    pub p99: Duration,
}

/// Results of a measurement.
#[derive(Debug, Clone, Default)]
pub struct IndexFigures {
    /// Entries.
    pub entries: u64,
    /// Tokens a second, text to findable, without φ.
    pub appended_per_s: f64,
    /// Longest batch.
    pub longest_batch: Duration,
    /// Vectors signed a second.
    pub signed_per_s: f64,
    /// Bytes that the index takes in memory.
    pub bytes: IndexBytes,
    /// Questions by words and meaning.
    pub hybrid: SearchTimes,
    /// The same questions by words alone.
    pub words: SearchTimes,
    /// Share of the 50 best of an exhaustive search with the same signals that are found.
    pub found: f64,
    /// The exhaustive search.
    pub exhaustive: SearchTimes,
    /// Searches for words that stand together, by both plans.
    pub together: Vec<Together>,
    /// A scan of all vectors, if it was asked for.
    pub scan: Option<SearchTimes>,
    /// The 100 nearest signatures.
    pub hamming: SearchTimes,
    /// Reading as many bytes.
    pub read: SearchTimes,
    /// Hamming balls beside the vectors themselves, if these are kept.
    pub balls: Vec<Ball>,
    /// Writing the index into memory, and reading it back.
    pub saved: Duration,
    /// Reading it back.
    pub loaded: Duration,
    /// Bytes of the file.
    pub file_bytes: usize,
}

impl IndexFigures {
    /// Formats the results for people.
    pub fn table(&self) -> String {
        #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
        let each = |bytes: usize| bytes as f64 / self.entries.max(1) as f64;
        let ms = |duration: Duration| duration.as_secs_f64() * 1e3;
        let both = |times: SearchTimes| format!("p50 {:.2} ms, p99 {:.2} ms", ms(times.p50), ms(times.p99));
        let bytes = &self.bytes;
        let ratio = |a: Duration, b: Duration| a.as_secs_f64() / b.as_secs_f64().max(1e-9);
        let mut lines = vec![
            format!("{} entries of {ENTRY_TOKENS} tokens", self.entries),
            format!(
                "  append, text to findable     {:.0} tokens/s; longest batch of {BATCH} {:.1} ms",
                self.appended_per_s,
                ms(self.longest_batch)
            ),
            format!("  sign                         {:.0} vectors/s", self.signed_per_s),
            format!(
                "  bytes an entry               {:.1}: content {:.1}, terms {:.1}, postings {:.1}, signatures {:.1}, metadata {:.1}, vocabulary {:.1}",
                each(bytes.total()),
                each(bytes.content),
                each(bytes.terms),
                each(bytes.postings),
                each(bytes.signatures),
                each(bytes.metadata),
                each(bytes.vocabulary)
            ),
            format!(
                "  query, words and meaning     {}; finds {:.4} of an exhaustive search's 50",
                both(self.hybrid),
                self.found
            ),
            format!("  query, words                 {}", both(self.words)),
            format!("  exhaustive search            {}", both(self.exhaustive)),
        ];
        if let Some(scan) = self.scan {
            let faster = ratio(scan.p50, self.hybrid.p50);
            lines.push(format!("  exact scan of the vectors    {}: {faster:.1} times the query", both(scan)));
        }
        lines.extend(self.together.iter().map(Together::line));
        lines.push(format!(
            "  {NEAREST} nearest signatures       {}; a plain read {}: {:.0} % of its bandwidth",
            both(self.hamming),
            both(self.read),
            100.0 * ratio(self.read.p50, self.hamming.p50)
        ));
        lines.extend(self.balls.iter().map(Ball::line));
        lines.push(format!(
            "  snapshot                     {:.1} MB, written in {:.0} ms, read in {:.0} ms",
            megabytes(self.file_bytes),
            ms(self.saved),
            ms(self.loaded)
        ));
        lines.join("\n")
    }
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
fn megabytes(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

/// Measures an index of recombined entries. `note` is told what is being done.
pub fn measure(
    workload: &IndexWorkload,
    plan: IndexPlan,
    clock: &dyn Clock,
    note: &mut dyn FnMut(&str),
) -> IndexFigures {
    let options = IndexOptions::default();
    let mut figures = IndexFigures { entries: plan.entries, ..IndexFigures::default() };
    note("appending");
    let mut index = appended(workload, plan.entries, options, clock, &mut figures);
    note("signing");
    let vectors = signed(&mut index, workload, plan, clock, &mut figures);
    figures.bytes = index.bytes();
    let search = index.snapshot();
    let queries = workload.queries(plan.queries, LIMIT);
    let by_words: Vec<SearchQuery> =
        queries.iter().map(|query| SearchQuery { embedding: None, ..query.clone() }).collect();
    note("asking");
    figures.hybrid = times(clock, &queries, |query| search.search(query).len());
    figures.words = times(clock, &by_words, |query| search.search(query).len());
    note("words together");
    figures.together = together(&*search, workload, plan.entries, plan.queries, clock);
    note("comparing with an exhaustive search");
    (figures.found, figures.exhaustive) = compared(&*search, &queries, clock);
    note("signatures");
    (figures.hamming, figures.read) = hamming(&index, &queries, clock);
    if !vectors.is_empty() {
        note("scanning vectors");
        figures.scan = Some(times(clock, &queries[..queries.len().min(20)], |query| {
            scan(&vectors, query.embedding.as_deref().unwrap_or_default()).len()
        }));
        figures.balls = ball::balls(&index, &vectors, &queries);
    }
    note("saving and loading");
    let mut file = Vec::new();
    let begin = clock.monotonic();
    let saved = search.write_snapshot(&mut file);
    figures.saved = clock.monotonic().saturating_sub(begin);
    if saved.is_ok() {
        let begin = clock.monotonic();
        black_box(CompressedIndex::read_snapshot(options, &mut file.as_slice()).is_ok());
        figures.loaded = clock.monotonic().saturating_sub(begin);
        figures.file_bytes = file.len();
    }
    figures
}

fn appended(
    workload: &IndexWorkload,
    entries: u64,
    options: IndexOptions,
    clock: &dyn Clock,
    figures: &mut IndexFigures,
) -> CompressedIndex {
    let mut index = CompressedIndex::new(options);
    let mut spent = Duration::ZERO;
    for first in (0..entries).step_by(64) {
        let batch: Vec<_> = (first..entries.min(first + BATCH)).map(|number| workload.entry(number)).collect();
        let begin = clock.monotonic();
        index.append(&batch);
        black_box(index.snapshot());
        let took = clock.monotonic().saturating_sub(begin);
        figures.longest_batch = figures.longest_batch.max(took);
        spent += took;
    }
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
    let tokens = (entries * ENTRY_TOKENS as u64) as f64;
    figures.appended_per_s = tokens / spent.as_secs_f64().max(1e-9);
    index
}

/// Signs every entry; returns the vectors themselves if they are to be scanned.
fn signed(
    index: &mut CompressedIndex,
    workload: &IndexWorkload,
    plan: IndexPlan,
    clock: &dyn Clock,
    figures: &mut IndexFigures,
) -> Vec<f32> {
    let mut vectors = Vec::new();
    if workload.dimensions() == 0 {
        return vectors;
    }
    index.use_space(workload.dimensions());
    let mut spent = Duration::ZERO;
    let mut count = 0_u32;
    for first in (0..plan.entries).step_by(1024) {
        let numbers = first..plan.entries.min(first + 1024);
        let batch: Vec<(EventId, Vec<i16>)> =
            numbers.clone().filter_map(|number| Some((EventId(number + 1), workload.stored_vector(number)?))).collect();
        if plan.scan {
            numbers.filter_map(|number| workload.vector(number)).for_each(|vector| vectors.extend(vector));
        }
        let begin = clock.monotonic();
        index.embed(&batch);
        spent += clock.monotonic().saturating_sub(begin);
        count += u32::try_from(batch.len()).unwrap_or(0);
    }
    figures.signed_per_s = f64::from(count) / spent.as_secs_f64().max(1e-9);
    vectors
}

/// How many of the best of an exhaustive search are found.
fn compared(search: &dyn Search, queries: &[SearchQuery], clock: &dyn Clock) -> (f64, SearchTimes) {
    let some = &queries[..queries.len().min(COMPARED)];
    let (mut held, mut all) = (0_u32, 0_u32);
    let exhaustive = times(clock, some, |query| {
        let best = search.search(&SearchQuery { exhaustive: true, ..query.clone() });
        let found: HashSet<EventId> = search.search(query).iter().map(|hit| hit.id).collect();
        all += u32::try_from(best.len()).unwrap_or(0);
        held += u32::try_from(best.iter().filter(|hit| found.contains(&hit.id)).count()).unwrap_or(0);
        best.len()
    });
    (f64::from(held) / f64::from(all.max(1)), exhaustive)
}

fn hamming(index: &CompressedIndex, queries: &[SearchQuery], clock: &dyn Clock) -> (SearchTimes, SearchTimes) {
    let Some(planes) = &index.state.planes else { return Default::default() };
    let sign = |query: &SearchQuery| planes.signature(&super::signature::quantise(query.embedding.as_deref()?)?);
    let signatures: Vec<_> = queries.iter().filter_map(sign).collect();
    let table = &index.state.signatures;
    let hamming = times(clock, &signatures, |signature| table.nearest(signature, NEAREST, usize::MAX).len());
    let bytes: Vec<u64> = vec![1; table.bytes() / 8];
    let read = times(clock, &signatures, |_| {
        let lanes = bytes.as_chunks::<32>().0.iter().fold([0_u64; 32], |mut sum, words| {
            sum.iter_mut().zip(words).for_each(|(sum, word)| *sum ^= word);
            sum
        });
        usize::from(lanes.iter().fold(0, |all, lane| all ^ lane) == 7)
    });
    (hamming, read)
}

/// The nearest vectors, all of them compared.
fn scan(vectors: &[f32], query: &[f32]) -> Vec<(f32, usize)> {
    let mut best: Vec<(f32, usize)> = Vec::new();
    let mut least = f32::NEG_INFINITY;
    for (place, vector) in vectors.chunks_exact(query.len().max(1)).enumerate() {
        let lanes =
            vector.as_chunks::<16>().0.iter().zip(query.as_chunks::<16>().0).fold([0.0_f32; 16], |mut sum, (a, b)| {
                sum.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (a, b))| *sum += a * b);
                sum
            });
        let product: f32 = lanes.iter().sum();
        if product > least {
            best.push((product, place));
            if best.len() >= 2 * LIMIT {
                best.select_nth_unstable_by(LIMIT - 1, |a, b| b.0.total_cmp(&a.0));
                best.truncate(LIMIT);
                least = best[LIMIT - 1].0;
            }
        }
    }
    best
}

/// Times one call for each of `things`, after a few that do not count.
fn times<T>(clock: &dyn Clock, things: &[T], mut call: impl FnMut(&T) -> usize) -> SearchTimes {
    things.iter().take(2).for_each(|thing| {
        black_box(call(thing));
    });
    let mut took: Vec<Duration> = things
        .iter()
        .map(|thing| {
            let begin = clock.monotonic();
            black_box(call(black_box(thing)));
            clock.monotonic().saturating_sub(begin)
        })
        .collect();
    took.sort_unstable();
    let at = |share: usize| took.get((took.len() * share / 100).min(took.len().saturating_sub(1))).copied();
    SearchTimes { p50: at(50).unwrap_or_default(), p99: at(99).unwrap_or_default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SystemClock;

    fn told(text: &str, entity: Option<&str>, angle: f32) -> SourceText {
        let vector = (0..64).map(|at: u8| (angle * f32::from(at)).sin() / 5.66).collect();
        SourceText { text: text.into(), entity: entity.map(str::to_owned), vector: Some(vector) }
    }

    fn workload() -> IndexWorkload {
        let texts =
            ["Anna waters the tomatoes in the garden", "the robot drives to the kitchen", "a red mug, by the sink"];
        let told_texts = texts.iter().zip(1_u8..).map(|(text, at)| told(text, Some("Anna"), f32::from(at))).collect();
        let asked = ["Where is the red mug?", "What does Anna water in the garden?", "Who drives to the kitchen sink?"];
        IndexWorkload::new(told_texts, asked.iter().map(|text| told(text, None, 1.0)).collect()).unwrap()
    }

    #[test]
    fn entries_are_the_same_every_time_and_have_the_tokens_that_are_told() {
        let workload = workload();
        for number in [0, 1, 77] {
            let entry = workload.entry(number);
            assert_eq!(entry, workload.entry(number));
            assert!(super::super::content::pieces(&entry.text).count() <= ENTRY_TOKENS);
            assert_eq!(workload.vector(number), workload.vector(number));
        }
        assert_ne!(workload.entry(1).text, workload.entry(2).text);
    }

    #[test]
    fn a_small_index_is_measured_and_finds_all_that_an_exhaustive_search_finds() {
        let plan = IndexPlan { entries: 700, queries: 5, scan: true };
        let figures = measure(&workload(), plan, &SystemClock::new(), &mut |_| ());
        assert_eq!((figures.entries, figures.found), (700, 1.0));
        assert!(figures.scan.is_some() && figures.bytes.total() > 0 && figures.file_bytes > 0);
        assert!(figures.appended_per_s > 0.0 && figures.signed_per_s > 0.0);
        let sorts: Vec<&str> = figures.together.iter().map(|together| together.sort).collect();
        assert!(sorts.contains(&"words, all frequent") && sorts.contains(&"phrases of two words"), "{sorts:?}");
        assert!(figures.together.iter().all(|together| together.matches > 0 && together.regret >= 1.0));
        assert!(figures.table().contains("near/5"));
        assert_eq!(figures.balls.len(), 9);
        for balls in figures.balls.chunks(3) {
            // A wider ball holds more, and a ball of a smaller cosine holds all that one of a larger cosine holds.
            assert!(balls.is_sorted_by_key(|ball| ball.inside) && balls.is_sorted_by_key(|ball| ball.recall));
        }
        assert!(figures.balls.iter().any(|ball| ball.near > 0.0 && ball.recall > 0.9), "{:?}", figures.balls);
    }

    #[test]
    fn nothing_to_recombine_is_no_workload() {
        assert!(IndexWorkload::new(vec![], vec![told("where?", None, 1.0)]).is_none());
        assert!(IndexWorkload::new(vec![told("a mug", None, 1.0)], vec![told("the", None, 1.0)]).is_none());
    }
}
