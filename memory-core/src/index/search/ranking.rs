//! Combines the scores by words, meaning and names.
//!
//! Every document is estimated: its words up to rounding, its meaning by the bits in which the signatures differ. This is plain
//! arithmetic over arrays, and takes about as long as reading the signatures. Documents that may be among the best are then
//! scored exactly.

use super::best::{Best, ScoredDocument};
use super::bounds::WordBounds;
use super::filter::Mask;
use super::kernels;
use super::meaning::Meaning;
use super::names::Bonus;
use super::nearness::Nearness;
use super::words::{Frequencies, ScoredSegment, WordGroup};
use super::{Snapshot, documents_around};
use crate::index::entries::{Lines, RUN, RUNS, STRIP};
use crate::index::fusion::{self, K1};
use crate::index::postings::SEGMENT;
use crate::index::{Hit, SearchQuery};

/// Maximum number of documents that wait to be scored exactly. They are scored best first, so that most of them need no
/// scoring.
const MAX_PENDING: usize = 512;
/// Number of documents for which signatures are prefetched.
const PREFETCH_AHEAD: usize = 4;
/// Number of strips whose documents are found before any is estimated. Meanwhile the lengths of those documents are prefetched.
const STRIPS_AT_ONCE: usize = 8;
/// Number of candidates whose names are looked up together.
const CANDIDATES_AT_ONCE: usize = 32;
/// Maximum rounding error of an estimate.
const ROUNDING_ERROR: f32 = 1e-4;
/// Maximum difference of an estimated cosine in context below the exact one: about twice the error of the differing bits.
const MAX_MEANING_ERROR: f32 = 0.07;
/// Upper bound of an estimated cosine in context.
const MAX_MEANING_SCORE: f32 = 2.4;

impl Snapshot {
    /// Computes the weight of each group: its inverse document frequency as a share of all.
    fn weigh(&self, groups: &mut [WordGroup], segments: &[ScoredSegment<'_>], loaded: &mut Frequencies) {
        let visible = self.visible_count();
        let (mut own, mut context) = (f32::MIN_POSITIVE, f32::MIN_POSITIVE);
        for group in groups.iter_mut() {
            let around = match segments {
                [only] if self.is_small() => only.around(group, loaded),
                _ => documents_around(group.documents, visible),
            };
            group.own = fusion::idf(group.documents, visible);
            group.context = fusion::idf(around, visible);
            own += group.own * (K1 + 1.0);
            context += group.context * (K1 + 1.0);
        }
        for group in groups {
            group.own /= own;
            group.context /= context;
        }
    }

    pub(super) fn ranked(&self, query: &SearchQuery, mut groups: Vec<WordGroup>, mask: Option<&Mask>) -> Vec<Hit> {
        let state = &self.state;
        let means = self.means();
        let postings: Vec<_> = state.postings.segments().collect();
        let segments: Vec<ScoredSegment<'_>> = (0_u32..)
            .zip(&postings)
            .map(|(at, postings)| ScoredSegment {
                postings,
                links: state.links.segment(at as usize),
                kept: &self.last_lines,
                first: at * SEGMENT,
                state,
                means,
                fusion: &self.options.fusion,
            })
            .collect();
        let mut loaded = Frequencies::default();
        self.weigh(&mut groups, &segments, &mut loaded);

        let meaning = query.embedding.as_deref().and_then(|embedding| Meaning::from_embedding(embedding, state));
        let bonus = Bonus::from_query(query, self, &groups);
        let error = match &meaning {
            _ if query.exhaustive => f32::INFINITY,
            Some(_) if self.is_small() => f32::INFINITY,
            Some(_) => self.options.fusion.dense.abs() * MAX_MEANING_ERROR,
            None => 0.0,
        };
        let mut ranking = Ranking {
            snapshot: self,
            groups: &groups,
            bounds: WordBounds::new(&groups, means, &self.options.fusion),
            meaning: meaning.as_ref(),
            bonus,
            mask,
            slack: ROUNDING_ERROR + error,
            loaded,
            nearness: Nearness::default(),
            reaching: vec![ReachingStrip::NONE; STRIPS_AT_ONCE],
            best: Best::new(query.limit),
            candidates: Vec::with_capacity(CANDIDATES_AT_ONCE),
            pending: Vec::with_capacity(MAX_PENDING),
        };
        for segment in &segments {
            if mask.is_none_or(|mask| mask.any_in(segment.first, segment.first.saturating_add(SEGMENT))) {
                ranking.rank(segment);
            }
        }
        ranking.best.finish().into_iter().map(|one| self.hit(meaning.as_ref(), one)).collect()
    }

    fn hit(&self, meaning: Option<&Meaning<'_>>, one: ScoredDocument) -> Hit {
        let entry = self.state.entries.get(one.ordinal);
        let of_context = meaning.and_then(|meaning| meaning.context_cosine(one.ordinal));
        Hit {
            id: entry.id,
            episode: entry.episode,
            score: one.score,
            lexical: one.own,
            context: one.context,
            cosine: meaning.and_then(|meaning| meaning.cosine(one.ordinal)),
            of_cosine: of_context.map_or(0.0, |(_, own)| self.options.fusion.dense * own),
        }
    }
}

/// A document that may be among the best if it has the names that its words allow.
struct Candidate {
    /// Its position in the segment at hand.
    position: usize,
    ordinal: u32,
    estimate: f32,
    /// Bonus of names that the estimate assumes, and the one that it has.
    assumed: f32,
    named: f32,
}

/// A document that may be among the best.
struct PendingDocument {
    /// Its position in the segment at hand.
    position: usize,
    estimate: f32,
    /// Bonus of names.
    named: f32,
}

/// A strip of which some documents may be among the best.
#[derive(Clone)]
struct ReachingStrip {
    strip: usize,
    estimates: [f32; STRIP],
    /// The runs in which they stand, and how many these are.
    runs: [usize; RUNS],
    count: usize,
}

impl ReachingStrip {
    const NONE: Self = Self { strip: 0, estimates: [0.0; STRIP], runs: [0; RUNS], count: 0 };
}

/// A search under way.
struct Ranking<'a> {
    snapshot: &'a Snapshot,
    groups: &'a [WordGroup],
    bounds: WordBounds<'a>,
    meaning: Option<&'a Meaning<'a>>,
    bonus: Bonus<'a>,
    mask: Option<&'a Mask>,
    /// How much an estimate may be too low.
    slack: f32,
    loaded: Frequencies,
    nearness: Nearness,
    reaching: Vec<ReachingStrip>,
    best: Best,
    candidates: Vec<Candidate>,
    pending: Vec<PendingDocument>,
}

impl Ranking<'_> {
    /// Returns the score that a document needs by its words, its meaning and its entity, if at most `more` is to come.
    fn needed(&self, more: f32) -> f32 {
        self.best.threshold() - more - self.slack
    }

    fn rank(&mut self, segment: &ScoredSegment<'_>) {
        let fusion = &self.snapshot.options.fusion;
        let dense = if self.meaning.is_some() { fusion.dense } else { 0.0 };
        let words: f32 = self.groups.iter().map(|group| segment.bound(group)).sum();
        if words + dense.abs() * MAX_MEANING_SCORE < self.needed(self.bonus.most()) {
            return;
        }
        let lines = segment.load(self.groups, &mut self.loaded);
        if let Some(meaning) = self.meaning {
            self.nearness.load(meaning, segment, &lines, self.mask);
        }
        let strips = lines.count().div_ceil(STRIP);
        let mut reaching = std::mem::take(&mut self.reaching);
        let mut next = 0;
        while next < strips {
            // Without a threshold every document is found, so the first ones are scored as soon as possible.
            let at_once = if self.best.threshold() == f32::NEG_INFINITY { 1 } else { STRIPS_AT_ONCE };
            let mut count = 0;
            for strip in next..strips.min(next + at_once) {
                count += usize::from(self.reaches(segment, &lines, strip, &mut reaching[count]));
            }
            for strip in &mut reaching[..count] {
                self.estimate(segment, &lines, strip);
            }
            next += at_once;
        }
        self.reaching = reaching;
        self.consider(segment, &lines);
        self.settle(segment, &lines);
    }

    /// Whether a document of a strip may be among the best. Fills in which, without their words.
    fn reaches(&self, segment: &ScoredSegment<'_>, lines: &Lines, strip: usize, reaching: &mut ReachingStrip) -> bool {
        let dense = self.snapshot.options.fusion.dense;
        let mut most = self.loaded.bound_of_strip(strip, &self.bounds);
        if self.meaning.is_some() {
            most += dense.abs() * self.nearness.most(strip);
        }
        if most < self.needed(self.bonus.most()) {
            return false;
        }
        let ReachingStrip { estimates, runs, .. } = reaching;
        match self.meaning {
            Some(_) => self.nearness.estimate(strip, lines.linked(strip), dense, estimates),
            None => estimates.fill(0.0),
        }
        let words = (&self.bounds, self.bonus.of_names());
        let needed = self.needed(self.bonus.most_elsewhere()) - ROUNDING_ERROR;
        let count = segment.reaching_runs(lines, strip, words, &self.loaded, (estimates, needed), runs);
        runs[..count].iter().for_each(|run| lines.ask_for_lengths(strip, *run));
        (reaching.strip, reaching.count) = (strip, count);
        count > 0
    }

    /// Estimates the documents of a strip that may be among the best.
    fn estimate(&mut self, segment: &ScoredSegment<'_>, lines: &Lines, reaching: &mut ReachingStrip) {
        let ReachingStrip { strip, estimates, runs, count } = reaching;
        segment.add_words(lines, *strip, self.groups, &self.loaded, &runs[..*count], estimates);
        let (of_names, entity) = self.bonus.of_names();
        self.loaded.add_where_held(*strip, of_names, entity, estimates);
        let mut reaches = [0; STRIP];
        kernels::reaching(estimates, self.needed(self.bonus.most_elsewhere()), &mut reaches);
        let here = (lines.count() - *strip * STRIP).min(STRIP);
        for (run, _) in (0..).zip(reaches.as_chunks::<RUN>().0).filter(|(_, run)| **run != [0; RUN]) {
            for at in (run * RUN..here).take(RUN).filter(|at| reaches[*at] != 0) {
                let position = *strip * STRIP + at;
                let ordinal = segment.first + u32::from(lines.place(position));
                if self.mask.is_none_or(|mask| mask.contains(ordinal)) {
                    self.candidates.push(Candidate {
                        position,
                        ordinal,
                        estimate: estimates[at],
                        assumed: 0.0,
                        named: 0.0,
                    });
                }
            }
        }
        if self.candidates.len() >= CANDIDATES_AT_ONCE {
            self.consider(segment, lines);
        }
    }

    /// Looks which of the candidates may be among the best, now with the names that they have.
    fn consider(&mut self, segment: &ScoredSegment<'_>, lines: &Lines) {
        let mut candidates = std::mem::take(&mut self.candidates);
        let (of_names, entity) = self.bonus.of_names();
        // Nothing else is done here, so that the memory looks for several at the same time.
        for one in &mut candidates {
            let holds_name = self.loaded.holds(one.position, of_names);
            one.assumed = if holds_name { entity } else { 0.0 };
            one.named = self.bonus.of_document(one.ordinal, holds_name);
        }
        let elsewhere = self.bonus.most_elsewhere();
        for Candidate { position, estimate, assumed, named, .. } in candidates.drain(..) {
            // What is needed may have grown since.
            if estimate < self.needed(elsewhere) {
                continue;
            }
            let estimate = estimate - assumed + named;
            if estimate >= self.needed(0.0) {
                self.pending.push(PendingDocument { position, estimate, named });
                if self.pending.len() == MAX_PENDING {
                    self.settle(segment, lines);
                }
            }
        }
        self.candidates = candidates;
    }

    /// Scores the documents that wait, of the segment at hand.
    fn settle(&mut self, segment: &ScoredSegment<'_>, lines: &Lines) {
        let fusion = &self.snapshot.options.fusion;
        let needed = self.needed(0.0);
        self.pending.retain(|one| one.estimate >= needed);
        self.pending.sort_unstable_by(|a, b| b.estimate.total_cmp(&a.estimate).then(a.position.cmp(&b.position)));
        let ordinal_of = |position| segment.first + u32::from(lines.place(position));
        for (at, PendingDocument { position, estimate, named }) in self.pending.iter().enumerate() {
            if self.meaning.is_some()
                && let Some(next) = self.pending.get(at + PREFETCH_AHEAD)
            {
                self.snapshot.state.signatures.ask_for(ordinal_of(next.position));
            }
            if estimate + self.slack < self.best.threshold() {
                break;
            }
            let ordinal = ordinal_of(*position);
            let scored = segment.score(lines, *position, self.groups, &self.loaded);
            let cosine = self.meaning.and_then(|meaning| meaning.context_cosine_at(lines, *position, ordinal));
            if scored.context > 0.0 || cosine.is_some() {
                let score = scored.words + cosine.map_or(0.0, |(cosine, _)| fusion.dense * cosine) + named;
                self.best.offer(ScoredDocument { ordinal, score, own: scored.own, context: scored.context });
            }
        }
        self.pending.clear();
    }
}
