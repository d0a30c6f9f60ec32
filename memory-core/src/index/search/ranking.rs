//! Words, meaning and names put together.

use super::best::{Best, Candidate};
use super::filter::Mask;
use super::meaning::{Meaning, Near};
use super::names::Bonus;
use super::words::{Group, Scored, Segment, Visitor, Wanted, Workspace};
use super::{Snapshot, documents_around};
use crate::index::fusion::{self, K1};
use crate::index::postings::SEGMENT;
use crate::index::{Hit, SearchQuery};

/// Documents found by their words that wait for the rest of their score. Weighed together, the best by words first, most of them
/// need no weighing.
const PENDING: usize = 2_048;
/// Added to every bound, so that rounding never decides.
const HAIR: f32 = 1e-4;

impl Snapshot {
    /// What each group is worth: its inverse document frequency as a share of all.
    fn weigh(&self, groups: &mut [Group], segments: &[Segment<'_>], space: &mut Workspace) {
        let visible = self.visible_count();
        let (mut own, mut context) = (f32::MIN_POSITIVE, f32::MIN_POSITIVE);
        for group in groups.iter_mut() {
            let around = match segments {
                [only] if self.is_small() => only.around(group, space),
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

    pub(super) fn ranked(&self, query: &SearchQuery, mut groups: Vec<Group>, mask: Option<&Mask>) -> Vec<Hit> {
        let state = &self.state;
        let (fusion, means) = (&self.options.fusion, self.means());
        let postings: Vec<_> = state.postings.segments().collect();
        let segments: Vec<Segment<'_>> = (0_u32..)
            .zip(&postings)
            .map(|(at, postings)| Segment {
                postings,
                links: state.links.segment(at as usize),
                first: at * SEGMENT,
                state,
                means,
            })
            .collect();
        let mut space = Workspace::new();
        self.weigh(&mut groups, &segments, &mut space);

        let meaning = query.embedding.as_deref().and_then(|embedding| Meaning::of(embedding, state));
        let near = meaning.as_ref().map_or_else(Near::default, |meaning| meaning.near(mask, query.exhaustive));
        let wanted: Vec<Wanted> = near
            .documents
            .iter()
            .map(|(ordinal, cosine)| Wanted { ordinal: *ordinal, meaning: fusion.dense * cosine })
            .collect();
        let bonus = Bonus::of(query, self);
        let most_named = bonus.most();
        let mut ranking = Ranking {
            snapshot: self,
            meaning: meaning.as_ref(),
            bonus,
            mask,
            most_named,
            most_meaning: fusion.dense.max(0.0) * near.beyond,
            best: Best::new(query.limit),
            pending: Vec::with_capacity(PENDING),
        };
        for segment in &segments {
            if mask.is_some_and(|mask| !mask.any_in(segment.first, segment.first.saturating_add(SEGMENT))) {
                continue;
            }
            let begin = wanted.partition_point(|one| one.ordinal < segment.first);
            let of_segment = wanted[begin..].partition_point(|one| one.ordinal / SEGMENT == segment.first / SEGMENT);
            segment.score(&groups, &wanted[begin..begin + of_segment], fusion, &mut space, &mut ranking);
        }
        ranking.settle();
        ranking.best.finish().into_iter().map(|one| self.hit(meaning.as_ref(), one)).collect()
    }

    fn hit(&self, meaning: Option<&Meaning<'_>>, one: Candidate) -> Hit {
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

/// A search under way.
struct Ranking<'a> {
    snapshot: &'a Snapshot,
    meaning: Option<&'a Meaning<'a>>,
    bonus: Bonus<'a>,
    mask: Option<&'a Mask>,
    /// The most that names can add.
    most_named: f32,
    /// The most that meaning can add to a document that is not wanted for it.
    most_meaning: f32,
    best: Best,
    pending: Vec<(u32, Scored)>,
}

impl Ranking<'_> {
    fn offer(&mut self, ordinal: u32, scored: Scored, meaning: f32, named: f32) {
        let score = scored.words + meaning + named;
        self.best.offer(Candidate { ordinal, score, own: scored.own, context: scored.context });
    }

    /// Weighs the documents that wait.
    fn settle(&mut self) {
        let mut pending = std::mem::take(&mut self.pending);
        let needed = self.needed();
        pending.retain(|(_, scored)| scored.words >= needed);
        pending.sort_unstable_by(|(a, one), (b, other)| other.words.total_cmp(&one.words).then(a.cmp(b)));
        for (ordinal, scored) in pending.drain(..) {
            if scored.words < self.needed() {
                break;
            }
            // Names cost less to look up than meaning, and tell most of what a document lacks.
            let named = self.bonus.of_document(ordinal);
            if scored.words + named + self.most_meaning + HAIR < self.best.threshold() {
                continue;
            }
            let dense = self.snapshot.options.fusion.dense;
            // So do the first bits beside all of them.
            let hopeless = |meaning: &&Meaning<'_>| {
                let most = dense.max(0.0) * meaning.most_in_context(ordinal);
                self.most_meaning > 0.0 && scored.words + named + most + HAIR < self.best.threshold()
            };
            if self.meaning.as_ref().is_some_and(hopeless) {
                continue;
            }
            let cosine = self.meaning.and_then(|meaning| meaning.context_cosine(ordinal));
            self.offer(ordinal, scored, cosine.map_or(0.0, |(cosine, _)| dense * cosine), named);
        }
        self.pending = pending;
    }
}

impl Visitor for Ranking<'_> {
    fn needed(&self) -> f32 {
        self.best.threshold() - self.most_named - self.most_meaning - HAIR
    }

    fn visit(&mut self, segment: &Segment<'_>, scored: Scored) {
        let ordinal = segment.first + u32::from(scored.place);
        if self.mask.is_none_or(|mask| mask.contains(ordinal)) {
            self.pending.push((ordinal, scored));
            if self.pending.len() == PENDING {
                self.settle();
            }
        }
    }

    fn needed_of_wanted(&self) -> f32 {
        self.best.threshold() - self.most_named - HAIR
    }

    fn visit_wanted(&mut self, _: &Segment<'_>, scored: Scored, wanted: Wanted) {
        let named = self.bonus.of_document(wanted.ordinal);
        self.offer(wanted.ordinal, scored, wanted.meaning, named);
    }
}
