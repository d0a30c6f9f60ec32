//! Sequential pattern mining (NS-Mem 4.2.1, step 2): PrefixSpan (Pei et al., 2001) with closed and maximal output.
//!
//! A pattern is a subsequence, and its support the number of sequences that contain it; both are exact. Closed patterns
//! (no longer pattern has the same support) are found by BIDE's two-way extension test with back-scan pruning (Wang and
//! Han, 2004), which never lists the others: the raw set grows exponentially with the length of what sequences share.

use std::collections::BTreeSet;

mod closed;
#[cfg(test)]
mod tests;

/// A frequent subsequence.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pattern {
    /// The items in order.
    pub items: Vec<u32>,
    /// How many sequences contain it.
    pub support: u32,
}

/// Which frequent patterns are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Output {
    /// Every one.
    All,
    /// Only patterns that no longer pattern with the same support contains.
    #[default]
    Closed,
    /// Only patterns that no longer frequent pattern contains.
    Maximal,
}

/// The limits of mining.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mining {
    /// The fewest sequences that make a pattern frequent.
    pub min_support: u32,
    /// Shorter patterns are not given.
    pub min_length: usize,
    /// Maximum length of a pattern.
    pub max_length: usize,
    /// How many items of the sequence may lie between two of the pattern; `None`: any number.
    pub max_gap: Option<usize>,
    /// Which patterns are given.
    pub output: Output,
    /// After this many prefixes the search stops and says so: sequences that share hundreds of items have more patterns
    /// than anybody can read.
    pub max_prefixes: usize,
}

impl Default for Mining {
    fn default() -> Self {
        Self {
            min_support: 2,
            min_length: 1,
            max_length: 64,
            max_gap: None,
            output: Output::Closed,
            max_prefixes: 100_000,
        }
    }
}

/// Result of the search.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Patterns {
    /// Sorted by items.
    pub patterns: Vec<Pattern>,
    /// Whether the search came to its end; otherwise what is given is right and something may be missing.
    pub complete: bool,
}

/// Ends of a prefix in a sequence: the leftmost end, or with a gap limit every end.
type Projection = Vec<(u32, u32)>;

impl Mining {
    /// Mines sequences of item numbers.
    pub fn mine(&self, sequences: &[Vec<u32>]) -> Patterns {
        let items = sequences.iter().flatten().max().map_or(0, |item| *item as usize + 1);
        let mut search = PatternSearch {
            options: self,
            sequences,
            // Closedness within a gap limit is no matter of extensions at any place; those patterns are filtered.
            closed: (self.output != Output::All && self.max_gap.is_none()).then(|| closed::Extensions::new(items)),
            seen: vec![(u32::MAX, 0); items],
            prefix: Vec::new(),
            found: Vec::new(),
            prefixes: 0,
        };
        let whole: Projection = (0..sequences.len() as u32).map(|sequence| (sequence, 0)).collect();
        let complete = self.min_support > 0 && search.grow(&whole);
        let mut patterns = search.found;
        match self.output {
            Output::All => {}
            Output::Closed if self.max_gap.is_none() => {}
            Output::Closed => keep_outermost(&mut patterns, |inner, outer| inner.support == outer.support),
            Output::Maximal => keep_outermost(&mut patterns, |_, _| true),
        }
        patterns.retain(|pattern| pattern.items.len() >= self.min_length);
        patterns.sort_unstable();
        Patterns { patterns, complete }
    }
}

struct PatternSearch<'a> {
    options: &'a Mining,
    sequences: &'a [Vec<u32>],
    closed: Option<closed::Extensions>,
    /// Per item: the last sequence it was counted in, and in how many.
    seen: Vec<(u32, u32)>,
    prefix: Vec<u32>,
    found: Vec<Pattern>,
    prefixes: usize,
}

impl PatternSearch<'_> {
    /// Every frequent extension of the prefix whose ends are `ends`; `false` if the search was cut off.
    fn grow(&mut self, ends: &Projection) -> bool {
        let frequent = self.frequent(ends);
        for item in frequent {
            self.prefixes += 1;
            if self.prefixes > self.options.max_prefixes {
                return false;
            }
            let projected = self.project(ends, item);
            let support = count_sequences(&projected);
            self.prefix.push(item);
            let (mut give, mut prune) = (true, false);
            if let Some(closed) = &mut self.closed {
                let sequences: Vec<&[u32]> =
                    projected.iter().map(|(sequence, _)| self.sequences[*sequence as usize].as_slice()).collect();
                prune = closed.prunes(&self.prefix, &sequences);
                give = !prune && closed.is_closed(&self.prefix, &sequences, &projected);
            }
            if give {
                self.found.push(Pattern { items: self.prefix.clone(), support });
            }
            let done = prune || self.prefix.len() >= self.options.max_length || self.grow(&projected);
            self.prefix.pop();
            if !done {
                return false;
            }
        }
        true
    }

    /// The items that follow the ends in enough sequences, sorted.
    fn frequent(&mut self, ends: &Projection) -> Vec<u32> {
        let mut met = Vec::new();
        for (sequence, end) in ends {
            for item in reach(self.options, self.sequences, !self.prefix.is_empty(), *sequence, *end) {
                let seen = &mut self.seen[*item as usize];
                if seen.1 == 0 {
                    met.push(*item);
                }
                if seen.0 != *sequence || seen.1 == 0 {
                    *seen = (*sequence, seen.1 + 1);
                }
            }
        }
        met.sort_unstable();
        let mut frequent = Vec::new();
        for item in met {
            if self.seen[item as usize].1 >= self.options.min_support {
                frequent.push(item);
            }
            self.seen[item as usize] = (u32::MAX, 0);
        }
        frequent
    }

    fn project(&self, ends: &Projection, item: u32) -> Projection {
        let mut projected = Projection::new();
        for (sequence, end) in ends {
            let reach = reach(self.options, self.sequences, !self.prefix.is_empty(), *sequence, *end);
            let next = reach.iter().enumerate().filter(|(_, met)| **met == item);
            let next = next.map(|(at, _)| (*sequence, end + at as u32 + 1));
            match self.options.max_gap {
                None => projected.extend(next.take(1)),
                Some(_) => projected.extend(next),
            }
        }
        if self.options.max_gap.is_some() {
            projected.sort_unstable();
            projected.dedup();
        }
        projected
    }
}

/// Returns the items that may follow an end; the gap counts once there is a prefix.
fn reach<'a>(options: &Mining, sequences: &'a [Vec<u32>], begun: bool, sequence: u32, end: u32) -> &'a [u32] {
    let rest = &sequences[sequence as usize][end as usize..];
    match options.max_gap {
        Some(gap) if begun => &rest[..rest.len().min(gap.saturating_add(1))],
        _ => rest,
    }
}

fn count_sequences(projection: &Projection) -> u32 {
    projection.chunk_by(|a, b| a.0 == b.0).count() as u32
}

/// Whether `inner` is a subsequence of `outer`.
pub(super) fn contains(outer: &[u32], inner: &[u32]) -> bool {
    let mut rest = outer.iter();
    inner.iter().all(|item| rest.any(|other| other == item))
}

/// Removes every pattern that lies in a longer one with which it `pairs`.
fn keep_outermost(patterns: &mut Vec<Pattern>, pairs: impl Fn(&Pattern, &Pattern) -> bool) {
    let outer: BTreeSet<(std::cmp::Reverse<usize>, usize)> =
        patterns.iter().enumerate().map(|(at, pattern)| (std::cmp::Reverse(pattern.items.len()), at)).collect();
    let mut keep = vec![true; patterns.len()];
    let mut kept: Vec<usize> = Vec::new();
    for (_, at) in outer {
        let pattern = &patterns[at];
        let lies_in = |outer: &usize| {
            let outer = &patterns[*outer];
            outer.items.len() > pattern.items.len() && pairs(pattern, outer) && contains(&outer.items, &pattern.items)
        };
        keep[at] = !kept.iter().any(lies_in);
        if keep[at] {
            kept.push(at);
        }
    }
    let mut keep = keep.into_iter();
    patterns.retain(|_| keep.next().unwrap_or(true));
}
