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

use super::kernels::{self, COUNTED, MostGiven, Norms, PART, PARTS, ScoredTerm, part_of};
use crate::index::compressed::IndexState;
use crate::index::entries::{Lines, MARGIN, REACH, STRIP, SegmentLinks, padded, reach};
use crate::index::fusion::{self, Fusion, K1, TERM_WINDOW};
use crate::index::postings::{SEGMENT, SegmentPostings};
use crate::index::signature::Ahead;

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
    /// Largest frequency within reach of the current strip, by group.
    most: Vec<u8>,
}

/// Units in the most that all words can give together, so that the bound of a word score fits a byte. Bounds are rounded up,
/// one unit a word and signal at most.
const UNITS: f32 = 200.0;

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

    /// Looks how often the documents within reach of a strip hold each group at most.
    pub fn look_at(&mut self, strip: usize) {
        let most = |frequencies: &Vec<u8>| match frequencies.is_empty() {
            true => 0,
            false => kernels::most_frequent(reach(frequencies, strip)),
        };
        self.most.clear();
        self.most.extend(self.by_group.iter().map(most));
    }

    /// The groups that documents within reach of the strip at hand hold, by number, with the largest of their frequencies.
    fn within(&self, strip: usize) -> impl Iterator<Item = (usize, &[u8; REACH], u8)> {
        let held = self.by_group.iter().zip(&self.most).enumerate().filter(|(_, (_, most))| **most > 0);
        held.map(move |(number, (frequencies, most))| (number, reach(frequencies, strip), *most))
    }
}

/// The most that a group can give to a document, where none within reach holds it more often than so many times.
#[derive(Clone, Copy)]
struct GroupBound {
    /// By itself and in context, as a share of the fused score.
    all: f32,
    /// The same in units, in context by how often the group counts there.
    given: MostGiven,
}

/// Frequencies up to which bounds are told apart; the last class is for all larger ones.
const FREQUENCIES: [u16; 3] = [1, 2, 3];

/// The most that the question's words can give to documents of a segment.
pub(super) struct SegmentBounds {
    /// By group, by [`FREQUENCIES`].
    by_group: Vec<[GroupBound; FREQUENCIES.len() + 1]>,
    /// What naming the entity gives.
    named: MostGiven,
    /// What a unit of [`MostGiven`] is worth.
    unit: f32,
}

impl SegmentBounds {
    fn of(&self, group: usize, most: u8) -> &GroupBound {
        &self.by_group[group][usize::from(most.max(1) - 1).min(FREQUENCIES.len())]
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
    /// The most that each group can give to the documents of the segment, where its name gives that much to as many as `names`
    /// groups.
    pub fn bounds(&self, lines: &Lines, groups: &[WordGroup], (names, named): (&[usize], f32)) -> SegmentBounds {
        let shortest = lines.shortest();
        let most = |group: &WordGroup| self.most_frequent(group).max(FREQUENCIES.len() as u16 + 1);
        let all: f32 = groups.iter().map(|group| group.bound(most(group), shortest, self.means, self.fusion)).sum();
        #[expect(clippy::cast_precision_loss, reason = "a question has few names")]
        let of_names = names.len() as f32 * named.max(0.0);
        let unit = (all + of_names).max(f32::MIN_POSITIVE) / UNITS;
        let bound = |group: &WordGroup, most: u16| GroupBound {
            all: group.bound(most, shortest, self.means, self.fusion),
            given: group.most_given(most, shortest, self.means, self.fusion, unit),
        };
        let by_group = groups.iter().map(|group| {
            let [one, two, three] = FREQUENCIES.map(|frequency| bound(group, frequency));
            [one, two, three, bound(group, most(group))]
        });
        let named = MostGiven { own: in_units(named, unit), context: Default::default() };
        SegmentBounds { by_group: by_group.collect(), named, unit }
    }

    /// How often a document of the segment holds a group at most.
    fn most_frequent(&self, group: &WordGroup) -> u16 {
        let bounds = group.symbols.iter().filter_map(|symbol| self.postings.bound(*symbol));
        bounds.fold(0, |most: u16, bound| most.saturating_add(bound.most_frequent.into()))
    }

    /// The most that the words of a document of a strip can give.
    pub fn bound_of_strip(&self, bounds: &SegmentBounds, strip: usize, loaded: &Frequencies) -> f32 {
        loaded.within(strip).map(|(group, _, most)| bounds.of(group, most).all).sum()
    }

    /// In which parts of a strip a document may reach `needed` by its words, where those of `named` groups add to that. `estimates`: what
    /// else it has. A strip holds most of the question's words somewhere, but hardly ever around one document. Meanwhile
    /// signatures are asked for.
    pub fn may_reach(
        &self,
        lines: &Lines,
        strip: usize,
        (bounds, named): (&SegmentBounds, &[usize]),
        loaded: &Frequencies,
        (estimates, needed): (&[f32; STRIP], f32),
        ahead: &mut Ahead<'_>,
    ) -> [bool; PARTS] {
        if needed == f32::NEG_INFINITY {
            return [true; PARTS];
        }
        let mut most = [0; STRIP];
        for (group, frequencies, frequency) in loaded.within(strip) {
            ahead.ask();
            kernels::add_most(frequencies, lines.linked(strip), bounds.of(group, frequency).given, &mut most);
        }
        for frequencies in named.iter().map(|group| &loaded.by_group[*group]).filter(|held| !held.is_empty()) {
            kernels::add_most(reach(frequencies, strip), lines.linked(strip), bounds.named, &mut most);
        }
        let parts = estimates.as_chunks().0.iter().zip(most.as_chunks().0);
        let mut may = [false; PARTS];
        for (may, (estimates, most)) in may.iter_mut().zip(parts) {
            *may = kernels::any_may_reach(estimates, most, bounds.unit, needed);
        }
        may
    }

    /// Adds what words give to each document of some parts of a strip, but for rounding. Meanwhile signatures are asked for.
    pub fn add_words(
        &self,
        lines: &Lines,
        (strip, parts): (usize, [bool; PARTS]),
        groups: &[WordGroup],
        loaded: &Frequencies,
        estimates: &mut [f32; STRIP],
        ahead: &mut Ahead<'_>,
    ) {
        let (linked, lengths) = (lines.linked(strip), lines.lengths(strip));
        let around = lines.around(strip).as_chunks().0;
        let mut norms = Norms::default();
        let most = K1 + 1.0;
        let estimates = estimates.as_chunks_mut().0;
        for part in (0..PARTS).filter(|part| parts[*part]) {
            let means = (self.means.own, self.means.context);
            kernels::norms(part_of(lengths, part), &around[part], means, &mut norms);
            let mut terms = loaded.within(strip).map(|(group, frequencies, _)| {
                let group = &groups[group];
                let mut counts = [0; PART];
                let frequencies = part_of(frequencies, part);
                kernels::in_context(frequencies, part_of(linked, part), &mut counts);
                let (own, context) = (self.fusion.own * group.own * most, self.fusion.context * group.context * most);
                ScoredTerm { frequencies, counts, own, context }
            });
            while let Some(one) = terms.next() {
                ahead.ask();
                match terms.next() {
                    Some(other) => kernels::add_words(&one, &other, &norms, &mut estimates[part]),
                    None => kernels::add_word(&one, &norms, &mut estimates[part]),
                }
            }
        }
    }

    /// Returns the word score of the document at a position.
    pub fn score(&self, lines: &Lines, position: usize, groups: &[WordGroup], loaded: &Frequencies) -> Scored {
        let (strip, at) = (position / STRIP, MARGIN + position % STRIP);
        let linked = lines.linked(strip);
        let length = f32::from(lines.lengths(strip)[at]);
        let around = f32::from(lines.around(strip)[at - MARGIN]);
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
        if most == 0 { 0.0 } else { group.bound(most, (shortest.into(), 0), self.means, self.fusion) }
    }

    /// How many documents have a document with a term of the group in their window.
    pub fn around(&self, group: &WordGroup, loaded: &mut Frequencies) -> u32 {
        let lines = self.load(std::slice::from_ref(group), loaded);
        let Some(frequencies) = loaded.by_group.first().filter(|frequencies| !frequencies.is_empty()) else {
            return 0;
        };
        let (mut around, mut counts) = (0, [0; PART]);
        for strip in 0..lines.count().div_ceil(STRIP) {
            for part in 0..PARTS {
                let (frequencies, linked) = (reach(frequencies, strip), lines.linked(strip));
                kernels::in_context(part_of(frequencies, part), part_of(linked, part), &mut counts);
                around += counts.iter().map(|count| u32::from(*count > 0)).sum::<u32>();
            }
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
        lines
    }
}

impl WordGroup {
    /// The most that the group can add to a document's share of the fused score, within reach of frequencies up to `most`, where
    /// the documents that hold it have at least so many terms, by themselves and in context.
    fn bound(&self, most: u16, shortest: (u16, u16), means: Means, fusion: &Fusion) -> f32 {
        let counted = f32::from(most) * TERM_WINDOW_SUM;
        self.own_bound(most, shortest, means, fusion) + self.context_bound(counted, shortest, means, fusion)
    }

    fn own_bound(&self, most: u16, shortest: (u16, u16), means: Means, fusion: &Fusion) -> f32 {
        let own = fusion::saturation(f32::from(most), f32::from(shortest.0), means.own);
        fusion.own.max(0.0) * self.own * own
    }

    /// The most that it can add in the context of a document, where it counts so often.
    fn context_bound(&self, counted: f32, shortest: (u16, u16), means: Means, fusion: &Fusion) -> f32 {
        let context = fusion::saturation(counted, f32::from(shortest.1), means.context);
        fusion.context.max(0.0) * self.context * context
    }

    /// The same as [`bound`](Self::bound), by itself and in context by how often the group counts there.
    fn most_given(&self, most: u16, shortest: (u16, u16), means: Means, fusion: &Fusion, unit: f32) -> MostGiven {
        let all = f32::from(most) * TERM_WINDOW_SUM;
        let mut context = [in_units(self.context_bound(all, shortest, means, fusion), unit); COUNTED.len() + 1];
        for (context, counted) in context.iter_mut().zip(COUNTED) {
            *context = in_units(self.context_bound(f32::from(counted).min(all), shortest, means, fusion), unit);
        }
        MostGiven { own: in_units(self.own_bound(most, shortest, means, fusion), unit), context }
    }
}

/// How often a term counts in a context at most, for each time that a document holds it.
const TERM_WINDOW_SUM: f32 = TERM_WINDOW[0] + 2.0 * (TERM_WINDOW[1] + TERM_WINDOW[2]);

/// At least so much. More than fits counts as what fits, which is more than all words can give.
fn in_units(most: f32, unit: f32) -> u8 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "what does not fit becomes what fits")]
    let units = (most / unit) as u8;
    units.saturating_add(u8::from(most > 0.0))
}
