//! Measures both plans of a search for words against each other: by rank and select, and by postings.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::workload::SeededDraw;
use super::{IndexWorkload, SearchTimes, times};
use crate::Clock;
use crate::index::{Language, Search, words};
use crate::word_search::{WordPart, WordPattern, WordPlan, WordQuery};

/// Events of a reply.
const LIMIT: usize = 10;
/// A rare word is in at most one of so many entries, a frequent one in at least one of so many.
const VERY_RARE: u64 = 10_000;
const RARE: u64 = 1_000;
const FREQUENT: u64 = 50;

/// Makes the patterns of a query of one sort from the words of an entry.
type Make<'a> = &'a dyn Fn(&EntryWord) -> Option<Vec<WordPattern>>;

/// Times of the queries of one sort.
#[derive(Debug, Clone, PartialEq)]
pub struct Together {
    /// The sort.
    pub sort: &'static str,
    /// How many queries.
    pub queries: usize,
    /// Median of the entries that hold the rarest word.
    pub rarest: u32,
    /// Median of the events that match.
    pub matches: usize,
    /// Times by rank and select.
    pub rank: SearchTimes,
    /// Times by postings.
    pub postings: SearchTimes,
    /// Times by the plan that is chosen.
    pub chosen: SearchTimes,
    /// Number of queries for which that plan is the first.
    pub by_rank: usize,
    /// Cost of the chosen plans together, as a multiple of the faster ones.
    pub regret: f64,
}

impl Together {
    /// Formats the row for people.
    pub fn line(&self) -> String {
        let ms = |duration: Duration| duration.as_secs_f64() * 1e3;
        format!(
            "  {:<29}rank p50 {:.3} ms, postings p50 {:.3} ms, chosen p50 {:.3} ms, p99 {:.3} ms; rank for {} of {}, {:.2} × the faster; the rarest word in {}, {} matches",
            self.sort,
            ms(self.rank.p50),
            ms(self.postings.p50),
            ms(self.chosen.p50),
            ms(self.chosen.p99),
            self.by_rank,
            self.queries,
            self.regret,
            self.rarest,
            self.matches
        )
    }
}

/// Measures queries of every sort whose words stand together in some entry.
pub fn together(
    search: &dyn Search,
    workload: &IndexWorkload,
    entries: u64,
    count: usize,
    clock: &dyn Clock,
) -> Vec<Together> {
    let sorts: [(&'static str, Make<'_>); 6] = [
        ("words, one very rare", &|held| held.with_rarest(0..=held.very_rare)),
        ("words, one rare", &|held| held.with_rarest(held.very_rare + 1..=held.rare)),
        ("words, one less common", &|held| {
            let middle = held.by_count.iter().find(|word| word.1 > held.rare && word.1 < held.frequent)?;
            let most = held.by_count.last().filter(|most| most.1 >= held.frequent)?;
            Some([middle, most].map(one_word).into())
        }),
        ("words, all frequent", &|held| {
            let two = held.by_count.get(held.by_count.len().checked_sub(2)?..)?;
            (two[0].1 >= held.frequent).then(|| two.iter().map(one_word).collect())
        }),
        ("phrases of two words", &|held| {
            held.in_order.first_chunk::<2>().map(|[a, b]| vec![WordPattern::Phrase(format!("{a} {b}"))])
        }),
        ("near/5", &|held| {
            let [a, _, _, b] = held.in_order.first_chunk::<4>()?;
            Some(vec![WordPattern::Near(a.clone(), b.clone(), 5)])
        }),
    ];
    let mut draw = SeededDraw(0x70_6e_7e);
    sorts
        .iter()
        .filter_map(|(sort, make)| {
            let entry = |draw: &mut SeededDraw| draw.below(usize::try_from(entries).unwrap_or(usize::MAX)) as u64;
            let drawn = (0..count * 200).filter_map(|_| {
                let patterns = make(&EntryWord::draw(search, workload, entry(&mut draw), entries)?)?;
                let part = |pattern| WordPart { pattern, excluded: false };
                Some(WordQuery {
                    parts: patterns.into_iter().map(part).collect(),
                    limit: LIMIT,
                    ..WordQuery::default()
                })
            });
            let queries: Vec<WordQuery> = drawn.take(count).collect();
            (!queries.is_empty()).then(|| measured(sort, &queries, search, clock))
        })
        .collect()
}

/// The words of an entry that the index keeps, each once, with how many entries hold it.
struct EntryWord {
    in_order: Vec<String>,
    by_count: Vec<(String, u64)>,
    very_rare: u64,
    rare: u64,
    frequent: u64,
}

impl EntryWord {
    fn draw(search: &dyn Search, workload: &IndexWorkload, number: u64, entries: u64) -> Option<Self> {
        let text = workload.entry(number).text;
        let in_order = words(&text).filter(|word| Language::English.term_of(word).is_some()).collect();
        let mut by_count: Vec<(String, u64)> =
            search.terms(&text).into_iter().map(|term| (term.word, term.documents.into())).collect();
        by_count.sort_by_key(|(_, documents)| *documents);
        let (very_rare, rare, frequent) = (entries / VERY_RARE, entries / RARE, entries / FREQUENT);
        (!by_count.is_empty()).then_some(Self { in_order, by_count, very_rare, rare, frequent })
    }

    /// The rarest word, if so many entries hold it, with the two most frequent ones.
    fn with_rarest(&self, held: RangeInclusive<u64>) -> Option<Vec<WordPattern>> {
        let (rarest, others) = self.by_count.split_first()?;
        let frequent = others.get(others.len().checked_sub(2)?..)?;
        held.contains(&rarest.1).then(|| [rarest].into_iter().chain(frequent).map(one_word).collect())
    }
}

fn one_word((word, _): &(String, u64)) -> WordPattern {
    WordPattern::Phrase(word.clone())
}

fn measured(sort: &'static str, queries: &[WordQuery], search: &dyn Search, clock: &dyn Clock) -> Together {
    let found = |query: &WordQuery, plan| search.find(query, plan).map_or(0, |found| found.total);
    let by = |plan| times(clock, queries, |query| found(query, plan));
    let (rank, postings, chosen) = (by(Some(WordPlan::Rank)), by(Some(WordPlan::Postings)), by(None));
    let (mut by_rank, mut taken, mut faster) = (0, Duration::ZERO, Duration::ZERO);
    let (mut matches, mut rarest) = (Vec::with_capacity(queries.len()), Vec::with_capacity(queries.len()));
    for query in queries {
        // The better of two runs each: what the plans cost, not what else the machine does.
        let time = |plan| {
            let run = || {
                let begin = clock.monotonic();
                std::hint::black_box(found(query, Some(plan)));
                clock.monotonic().saturating_sub(begin)
            };
            run().min(run())
        };
        let (rank, postings) = (time(WordPlan::Rank), time(WordPlan::Postings));
        let Ok(found) = search.find(query, None) else { continue };
        matches.push(found.total);
        rarest.extend(found.words.iter().map(|word| word.events).min());
        by_rank += usize::from(found.plan == WordPlan::Rank);
        taken += if found.plan == WordPlan::Rank { rank } else { postings };
        faster += rank.min(postings);
    }
    matches.sort_unstable();
    rarest.sort_unstable();
    let matches = matches.get(matches.len() / 2).copied().unwrap_or(0);
    let rarest = rarest.get(rarest.len() / 2).copied().unwrap_or(0);
    let regret = taken.as_secs_f64() / faster.as_secs_f64().max(1e-9);
    Together { sort, queries: queries.len(), rarest, matches, rank, postings, chosen, by_rank, regret }
}
