//! The score by words: BM25 of each document, alone and with its temporal neighbours as context, one segment after the other.
//!
//! In the context a term counts three times in the document itself, twice in its neighbours and once in theirs. That is BM25
//! over a text in which the words are repeated accordingly.
//!
//! A segment's frequencies of the question's terms are stored by position, neighbours side by side, and scored strip by strip.
//! A window is then a sum of shifted arrays, and sixteen documents cost as much as one. The terms within reach of a strip bound its
//! highest possible score; a strip that cannot reach the threshold is skipped (Mallia, Suel and Tonellotto, "block-max pruning", SIGIR 2024).
//! That is exact.

use std::sync::{Arc, OnceLock};

use super::bounds::{UNIT, WordBounds, in_units};
use super::kernels::{self, ScoredTerm};
use crate::index::compressed::IndexState;
use crate::index::entries::{Lines, MARGIN, REACH, RUN, RUNS, STRIP, SegmentLinks, padded, reach};
use crate::index::fusion::{self, Fusion, K1};
use crate::index::postings::{SEGMENT, SegmentPostings};

/// A word of the question: symbols of which any stands for all, and what it is worth.
#[derive(Debug, Clone)]
pub(super) struct WordGroup {
    pub symbols: Vec<u32>,
    /// How many visible documents hold it.
    pub documents: u32,
    /// Shares of the most that the question's words can give, per unit of saturation: by themselves and in context.
    pub own: f32,
    pub context: f32,
}

/// Mean lengths of documents, by themselves and in context.
#[derive(Debug, Clone, Copy)]
pub(super) struct Means {
    pub own: f32,
    pub context: f32,
}

/// Scores of a document, each as a share of the most that the question's words can give.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scored {
    pub own: f32,
    pub context: f32,
    /// The words' share of the fused score.
    pub words: f32,
}

/// How often each document of the segment at hand holds the question's words, by position; used again for the next segment.
#[derive(Default)]
pub(super) struct Frequencies {
    /// Upper bounds by group, with margins; empty if no document holds it.
    by_group: Vec<Vec<u8>>,
    /// Arrays that are not in use, all zero.
    spare: Vec<Vec<u8>>,
    /// Largest frequencies within reach of each strip, by group.
    most: Vec<u8>,
}

impl Frequencies {
    /// Whether the document at a position holds one of some groups, by their numbers.
    pub fn holds(&self, position: usize, some: &[usize]) -> bool {
        some.iter().any(|group| self.by_group[*group].get(MARGIN + position).is_some_and(|frequency| *frequency > 0))
    }

    /// Adds a weight to the documents of a strip that hold one of some groups.
    pub fn add_where_held(&self, strip: usize, some: &[usize], weight: f32, estimates: &mut [f32; STRIP]) {
        let mut held = [0; STRIP];
        for frequencies in some.iter().map(|group| &self.by_group[*group]).filter(|held| !held.is_empty()) {
            held.iter_mut().zip(&reach(frequencies, strip)[MARGIN..]).for_each(|(held, frequency)| *held |= frequency);
        }
        if held != [0; STRIP] {
            kernels::add_where(&held, weight, estimates);
        }
    }

    /// Looks how often the documents within reach of each strip hold each group at most.
    fn look_at(&mut self, strips: usize) {
        self.most.clear();
        self.most.resize(strips * self.by_group.len(), 0);
        for (group, frequencies) in self.by_group.iter().enumerate().filter(|(_, held)| !held.is_empty()) {
            for (strip, most) in self.most.chunks_exact_mut(self.by_group.len()).enumerate() {
                most[group] = kernels::most_frequent(reach(frequencies, strip));
            }
        }
    }

    /// The most that the words of a document of a strip can give.
    pub fn bound_of_strip(&self, strip: usize, bounds: &WordBounds<'_>) -> f32 {
        self.within(strip).map(|(group, _, most)| bounds.of(group, most).most).sum()
    }

    /// The groups that documents within reach of a strip hold, by their numbers, with the largest of their frequencies.
    fn within(&self, strip: usize) -> impl Iterator<Item = (usize, &[u8; REACH], u8)> {
        let most = &self.most[strip * self.by_group.len()..];
        let held = self.by_group.iter().zip(most).enumerate().filter(|(_, (_, most))| **most > 0);
        held.map(move |(group, (frequencies, most))| (group, reach(frequencies, strip), *most))
    }
}

/// One segment as it is scored.
pub(super) struct ScoredSegment<'a> {
    pub postings: &'a SegmentPostings<'a>,
    pub links: SegmentLinks<'a>,
    /// Cache for the lines of a segment that is not full.
    pub kept: &'a OnceLock<Arc<Lines>>,
    /// Its first document.
    pub first: u32,
    pub state: &'a IndexState,
    pub means: Means,
    pub fusion: &'a Fusion,
}

impl ScoredSegment<'_> {
    /// Finds the runs of a strip of which a document may reach `needed` by its words, where `named` groups add that much.
    /// `estimates`: what else it has. Returns
    /// how many they are. A strip holds most of the question's words somewhere, but hardly ever around one document.
    pub fn reaching_runs(
        &self,
        lines: &Lines,
        strip: usize,
        (bounds, named): (&WordBounds<'_>, (&[usize], f32)),
        loaded: &Frequencies,
        (estimates, needed): (&[f32; STRIP], f32),
        runs: &mut [usize; RUNS],
    ) -> usize {
        let mut most = [0; STRIP];
        for (group, frequencies, frequency) in loaded.within(strip) {
            let bound = bounds.of(group, frequency);
            kernels::add_most(frequencies, lines.linked(strip), (bound.own, bound.context), &mut most);
        }
        for frequencies in named.0.iter().map(|group| &loaded.by_group[*group]).filter(|held| !held.is_empty()) {
            kernels::add_most(reach(frequencies, strip), lines.linked(strip), (in_units(named.1), 0), &mut most);
        }
        let mut reaching = [0; STRIP];
        kernels::may_reach(estimates, &most, UNIT, needed, &mut reaching);
        let mut count = 0;
        for (run, _) in (0..).zip(reaching.as_chunks::<RUN>().0).filter(|(_, run)| **run != [0; RUN]) {
            runs[count] = run;
            count += 1;
        }
        count
    }

    /// Adds what words give to the documents of some runs of a strip, but for rounding.
    pub fn add_words(
        &self,
        lines: &Lines,
        strip: usize,
        groups: &[WordGroup],
        loaded: &Frequencies,
        runs: &[usize],
        estimates: &mut [f32; STRIP],
    ) {
        let (linked, lengths) = (lines.linked(strip), lines.lengths(strip));
        let most = K1 + 1.0;
        let mut terms = loaded.within(strip).map(|(group, frequencies, _)| {
            let group = &groups[group];
            let (own, context) = (self.fusion.own * group.own * most, self.fusion.context * group.context * most);
            ScoredTerm { frequencies, own, context }
        });
        while let Some(one) = terms.next() {
            let pair = [one, terms.next().unwrap_or(ScoredTerm::NONE)];
            kernels::add_words(pair, linked, lengths, self.means, runs, estimates);
        }
    }

    /// Returns the word score of the document at a position.
    pub fn score(&self, lines: &Lines, position: usize, groups: &[WordGroup], loaded: &Frequencies) -> Scored {
        let (strip, at) = (position / STRIP, MARGIN + position % STRIP);
        let linked = lines.linked(strip);
        let lengths = &lines.lengths(strip)[position % STRIP / RUN];
        let (length, around) = (f32::from(lengths.own[position % RUN]), f32::from(lengths.around[position % RUN]));
        let (mut own, mut context) = (0.0, 0.0);
        for (group, frequencies) in groups.iter().zip(&loaded.by_group).filter(|(_, held)| !held.is_empty()) {
            let frequencies = reach(frequencies, strip);
            let count = kernels::window(at, linked, |at| f32::from(frequencies[at]));
            own += group.own * fusion::saturation(f32::from(frequencies[at]), length, self.means.own);
            context += group.context * fusion::saturation(count, around, self.means.context);
        }
        Scored { own, context, words: self.fusion.own * own + self.fusion.context * context }
    }

    /// The most that a group can add to the score of a document of the segment.
    pub fn bound(&self, group: &WordGroup) -> f32 {
        let bounds = group.symbols.iter().filter_map(|symbol| self.postings.bound(*symbol));
        let (most, shortest) = bounds.fold((0_u16, u8::MAX), |(most, shortest), bound| {
            (most.saturating_add(bound.most_frequent.into()), shortest.min(bound.shortest))
        });
        if most == 0 { 0.0 } else { group.bound(most, shortest, self.means, self.fusion) }
    }

    /// How many documents have a document with a term of the group in their window.
    pub fn around(&self, group: &WordGroup, loaded: &mut Frequencies) -> u32 {
        let lines = self.load(std::slice::from_ref(group), loaded);
        let Some(frequencies) = loaded.by_group.first().filter(|frequencies| !frequencies.is_empty()) else {
            return 0;
        };
        let (mut around, mut counts) = (0, [0; STRIP]);
        for strip in 0..lines.count().div_ceil(STRIP) {
            kernels::in_context(reach(frequencies, strip), lines.linked(strip), &mut counts);
            around += counts.iter().map(|count| u32::from(*count > 0)).sum::<u32>();
        }
        around
    }

    fn hides(&self, place: u16) -> bool {
        self.state.hidden.contains(self.first + u32::from(place))
    }

    /// Lays out the visible postings of every group.
    pub fn load(&self, groups: &[WordGroup], loaded: &mut Frequencies) -> Arc<Lines> {
        let lines = self.links.lines(self.kept);
        for mut used in loaded.by_group.drain(..) {
            if !used.is_empty() {
                used.fill(0);
                loaded.spare.push(used);
            }
        }
        let hides = self.state.hidden.any_in(self.first..self.first + SEGMENT);
        for group in groups {
            let mut frequencies = loaded.spare.pop().unwrap_or_default();
            frequencies.resize(padded(lines.count()), 0);
            let mut any = false;
            let mut count = |position: usize, held: u8| {
                let frequency = &mut frequencies[MARGIN + position];
                *frequency = frequency.saturating_add(held);
                any = true;
            };
            for symbol in &group.symbols {
                self.postings.for_each_run(*symbol, &mut |places, held| {
                    let postings = places.iter().zip(held);
                    if hides {
                        let visible = postings.filter(|(place, _)| !self.hides(**place));
                        visible.for_each(|(place, held)| count(lines.position(*place), *held));
                    } else if lines.is_in_order() {
                        // What most segments are is worth a loop of its own.
                        postings.for_each(|(place, held)| count(usize::from(*place), *held));
                    } else {
                        postings.for_each(|(place, held)| count(lines.position(*place), *held));
                    }
                });
            }
            if any {
                loaded.by_group.push(frequencies);
            } else {
                loaded.spare.push(frequencies);
                loaded.by_group.push(Vec::new());
            }
        }
        loaded.look_at(lines.count().div_ceil(STRIP));
        lines
    }
}
