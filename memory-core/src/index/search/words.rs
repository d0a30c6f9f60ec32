//! The words' share: BM25 of documents, by themselves and with their neighbours as context, one segment after the other.
//!
//! In the context a term counts three times as often where it stands, twice at the neighbours and once at theirs; that is
//! BM25 over a text in which the neighbours' words were repeated so.
//!
//! A segment's frequencies of the question's terms are laid out by position, neighbours side by side, and scored strip by strip:
//! a window is then a sum of shifted arrays, and sixteen documents cost as much as one. What a strip can reach at most follows from the
//! terms within its reach; one that cannot reach what is needed is left out (Mallia, Suel and Tonellotto, "block-max pruning", SIGIR 2024).
//! That is exact.

use std::sync::Arc;

use super::kernels::{self, Norms, Scores};
use crate::index::compressed::State;
use crate::index::entries::{Lines, MARGIN, STRIP, SegmentLinks, padded, reach};
use crate::index::fusion::{self, Fusion, TERM_WINDOW};
use crate::index::postings::{SEGMENT, SegmentPostings};

/// A word of the question: symbols of which any stands for all, and what it is worth.
#[derive(Debug, Clone)]
pub(super) struct Group {
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

/// A document of the segment with its scores, each as a share of the most that the question's words can give.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scored {
    pub place: u16,
    pub own: f32,
    pub context: f32,
    /// The words' share of the fused score.
    pub words: f32,
}

/// A document that is scored whatever its words, and what else it scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Wanted {
    pub ordinal: u32,
    /// What meaning adds.
    pub meaning: f32,
}

/// Working memory for a segment, used again for the next.
pub(super) struct Workspace {
    /// By group: how often each document of the segment at hand holds it, with margins; empty if none does.
    frequencies: Vec<Vec<u8>>,
    /// Arrays that are not in use, all zero.
    spare: Vec<Vec<u8>>,
    norms: Norms,
    scores: Scores,
    fused: [f32; STRIP],
    counts: [u16; STRIP],
}

impl Workspace {
    pub fn new() -> Self {
        let zero = [0.0; STRIP];
        Self {
            frequencies: Vec::new(),
            spare: Vec::new(),
            norms: Norms { own: zero, context: zero },
            scores: Scores { own: zero, context: zero },
            fused: zero,
            counts: [0; STRIP],
        }
    }
}

/// One segment as it is scored.
pub(super) struct Segment<'a> {
    pub postings: &'a SegmentPostings<'a>,
    pub links: SegmentLinks<'a>,
    /// Its first document.
    pub first: u32,
    pub state: &'a State,
    pub means: Means,
}

/// What a strip of documents is asked.
pub(super) trait Visitor {
    /// What a document needs by its words to be visited.
    fn needed(&self) -> f32;
    /// Takes a document that has it, and has a word.
    fn visit(&mut self, segment: &Segment<'_>, scored: Scored);
    /// What a wanted document needs by its words and its meaning.
    fn needed_of_wanted(&self) -> f32;
    /// Takes a wanted document that has it.
    fn visit_wanted(&mut self, segment: &Segment<'_>, scored: Scored, wanted: Wanted);
}

impl Segment<'_> {
    /// Scores every document that can reach what `visitor` needs. `wanted` are documents of this segment.
    pub fn score(
        &self,
        groups: &[Group],
        wanted: &[Wanted],
        fusion: &Fusion,
        space: &mut Workspace,
        visitor: &mut impl Visitor,
    ) {
        let bound = 1e-4 + groups.iter().map(|group| self.bound(group, fusion)).sum::<f32>();
        let most_wanted = wanted.iter().map(|one| one.meaning).fold(f32::NEG_INFINITY, f32::max);
        if bound < visitor.needed() && bound + most_wanted < visitor.needed_of_wanted() {
            return;
        }
        let lines = self.load(groups, space);
        let mut wanted: Vec<(usize, Wanted)> = wanted
            .iter()
            .map(|one| (lines.position(u16::try_from(one.ordinal % SEGMENT).expect("below 65,536")), *one))
            .collect();
        wanted.sort_unstable_by_key(|(position, _)| *position);
        let mut strips: Vec<(usize, &[(usize, Wanted)])> = Vec::with_capacity(lines.count().div_ceil(STRIP));
        let mut rest = wanted.as_slice();
        for strip in 0..lines.count().div_ceil(STRIP) {
            let here;
            (here, rest) = rest.split_at(rest.partition_point(|(position, _)| *position < (strip + 1) * STRIP));
            strips.push((strip, here));
        }
        // Those with the most promising first: what they reach, the others need.
        for promising in [true, false] {
            for (strip, here) in strips.iter().filter(|(_, here)| here.is_empty() != promising) {
                self.score_strip(&lines, *strip, groups, here, fusion, space, visitor);
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the body of a loop")]
    fn score_strip(
        &self,
        lines: &Lines,
        strip: usize,
        groups: &[Group],
        wanted: &[(usize, Wanted)],
        fusion: &Fusion,
        space: &mut Workspace,
        visitor: &mut impl Visitor,
    ) {
        let mut bound = 0.0;
        let mut within = 0_u64;
        for (at, (group, frequencies)) in groups.iter().zip(&space.frequencies).enumerate() {
            if !frequencies.is_empty() {
                let most = kernels::most_frequent(reach(frequencies, strip));
                if most > 0 {
                    within |= 1 << at.min(63);
                    bound += group.bound(most.into(), 0, self.means, fusion);
                }
            }
        }
        // A hair above, so that rounding never decides.
        let bound = bound + 1e-4;
        let most_wanted = wanted.iter().map(|(_, one)| one.meaning).fold(f32::NEG_INFINITY, f32::max);
        let by_words = within != 0 && bound >= visitor.needed();
        if !by_words && (wanted.is_empty() || bound + most_wanted < visitor.needed_of_wanted()) {
            return;
        }
        let linked = lines.linked(strip);
        let Means { own, context } = self.means;
        kernels::norms(lines.lengths(strip), linked, own, context, &mut space.norms);
        (space.scores.own, space.scores.context) = ([0.0; STRIP], [0.0; STRIP]);
        for (at, (group, frequencies)) in groups.iter().zip(&space.frequencies).enumerate() {
            if within >> at.min(63) & 1 == 1 && !frequencies.is_empty() {
                let frequencies = reach(frequencies, strip);
                kernels::in_context(frequencies, linked, &mut space.counts);
                kernels::add(frequencies, &space.counts, &space.norms, (group.own, group.context), &mut space.scores);
            }
        }
        kernels::fuse(&space.scores, fusion.own, fusion.context, &mut space.fused);
        let scored = |at: usize| Scored {
            place: lines.place(strip * STRIP + at),
            own: space.scores.own[at],
            context: space.scores.context[at],
            words: space.fused[at],
        };
        for (position, one) in wanted {
            let scored = scored(position % STRIP);
            if scored.words + one.meaning >= visitor.needed_of_wanted() {
                visitor.visit_wanted(self, scored, *one);
            }
        }
        if !by_words {
            return;
        }
        let mut wanted = wanted.iter().map(|(position, _)| position % STRIP).peekable();
        let last = (lines.count() - strip * STRIP).min(STRIP);
        for first in (0..last).step_by(16) {
            let needed = visitor.needed();
            let end = last.min(first + 16);
            if !space.fused[first..end].iter().any(|words| *words >= needed) {
                continue;
            }
            for at in first..end {
                while wanted.next_if(|wanted| *wanted < at).is_some() {}
                let words = space.scores.context[at] > 0.0;
                if words && space.fused[at] >= needed && wanted.peek() != Some(&at) {
                    visitor.visit(self, scored(at));
                }
            }
        }
    }

    /// The most that a group can add to the score of a document of the segment.
    fn bound(&self, group: &Group, fusion: &Fusion) -> f32 {
        let bounds = group.symbols.iter().filter_map(|symbol| self.postings.bound(*symbol));
        let (most, shortest) = bounds.fold((0_u16, u8::MAX), |(most, shortest), bound| {
            (most.saturating_add(bound.most_frequent.into()), shortest.min(bound.shortest))
        });
        if most == 0 { 0.0 } else { group.bound(most, shortest, self.means, fusion) }
    }

    /// How many documents have a document with a term of the group in their window.
    pub fn around(&self, group: &Group, space: &mut Workspace) -> u32 {
        let lines = self.load(std::slice::from_ref(group), space);
        let Some(frequencies) = space.frequencies.first().filter(|frequencies| !frequencies.is_empty()) else {
            return 0;
        };
        let mut around = 0;
        for strip in 0..lines.count().div_ceil(STRIP) {
            kernels::in_context(reach(frequencies, strip), lines.linked(strip), &mut space.counts);
            around += space.counts.iter().map(|count| u32::from(*count > 0)).sum::<u32>();
        }
        around
    }

    /// Lays out the visible postings of every group.
    fn load(&self, groups: &[Group], space: &mut Workspace) -> Arc<Lines> {
        let lines = self.links.lines();
        for mut used in space.frequencies.drain(..) {
            if !used.is_empty() {
                used.fill(0);
                space.spare.push(used);
            }
        }
        let hides = self.state.hidden.any_in(self.first..self.first + SEGMENT);
        for group in groups {
            let mut frequencies = space.spare.pop().unwrap_or_default();
            frequencies.resize(padded(lines.count()), 0);
            let mut any = false;
            for symbol in &group.symbols {
                self.postings.for_each(*symbol, &mut |posting| {
                    if !hides || !self.state.hidden.contains(self.first + u32::from(posting.place)) {
                        let frequency = &mut frequencies[MARGIN + lines.position(posting.place)];
                        *frequency = frequency.saturating_add(posting.frequency);
                        any = true;
                    }
                });
            }
            if any {
                space.frequencies.push(frequencies);
            } else {
                space.spare.push(frequencies);
                space.frequencies.push(Vec::new());
            }
        }
        lines
    }
}

impl Group {
    /// The most that the group can add to a document's share of the fused score, within reach of frequencies up to `most`, where
    /// the documents that hold it have at least `shortest` terms.
    fn bound(&self, most: u16, shortest: u8, means: Means, fusion: &Fusion) -> f32 {
        let around: f32 = TERM_WINDOW[0] + 2.0 * (TERM_WINDOW[1] + TERM_WINDOW[2]);
        let own = fusion::saturation(f32::from(most), f32::from(shortest), means.own);
        let context = fusion::saturation(around * f32::from(most), 0.0, means.context);
        fusion.own.max(0.0) * self.own * own + fusion.context.max(0.0) * self.context * context
    }
}
