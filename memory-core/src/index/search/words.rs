//! The words' share: BM25 of documents, by themselves and with their neighbours as context, one segment after the other.
//!
//! In the context a term counts three times as often where it stands, twice at the neighbours and once at theirs; that is
//! BM25 over a text in which the neighbours' words were repeated so.
//!
//! Terms are taken by the most that they can add. As soon as the rest together cannot lift a document over what is needed,
//! no further documents are looked for: the rest is only counted where a term was found before (MaxScore, Turtle and Flood
//! 1995), with bounds from the packed blocks of each segment. Both are exact.

use crate::index::compressed::State;
use crate::index::entries::SegmentLinks;
use crate::index::fusion::{self, Fusion, TERM_WINDOW};
use crate::index::postings::{Posting, SEGMENT, SegmentPostings};

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
}

impl Scored {
    /// The words' share of the fused score.
    pub fn words(self, fusion: &Fusion) -> f32 {
        fusion.own * self.own + fusion.context * self.context
    }
}

/// Working memory for a segment, used again for the next.
pub(super) struct Workspace {
    own: Vec<f32>,
    context: Vec<f32>,
    /// Weighted frequencies of the term at hand.
    counts: Vec<u16>,
    touched: Vec<u16>,
    seen: Vec<bool>,
    postings: Vec<Posting>,
}

impl Workspace {
    /// For segments of up to `places` documents.
    pub fn new(places: usize) -> Self {
        Self {
            own: vec![0.0; places],
            context: vec![0.0; places],
            counts: vec![0; places],
            touched: Vec::new(),
            seen: vec![false; places],
            postings: Vec::new(),
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

impl Segment<'_> {
    /// The documents of the segment that can reach `needed` by their words (all that hold a word if that is no more than
    /// zero) and those in `wanted`, which are sorted, with their scores.
    pub fn score(
        &self,
        groups: &[Group],
        wanted: &[u16],
        needed: f32,
        fusion: &Fusion,
        space: &mut Workspace,
    ) -> Vec<Scored> {
        let mut bounded: Vec<(&Group, f32)> =
            groups.iter().filter_map(|group| Some((group, self.bound(group, fusion)?))).collect();
        bounded.sort_by(|a, b| b.1.total_cmp(&a.1));
        // What the groups from a place on can add together.
        let mut rest: Vec<f32> = vec![0.0; bounded.len() + 1];
        for (at, (_, bound)) in bounded.iter().enumerate().rev() {
            rest[at] = rest[at + 1] + bound;
        }
        let leading = (0..bounded.len()).find(|at| rest[*at] < needed).unwrap_or(bounded.len());

        let mut found: Vec<u16> = wanted.to_vec();
        wanted.iter().for_each(|place| space.seen[usize::from(*place)] = true);
        for (group, _) in &bounded[..leading] {
            self.add_everywhere(group, space, &mut found);
        }
        // A hair below, so that rounding never decides.
        let needed = needed - 1e-4;
        for (at, (group, _)) in bounded.iter().enumerate().skip(leading) {
            let hopeful = |place: u16, space: &Workspace| {
                let at_place = usize::from(place);
                fusion.own * space.own[at_place] + fusion.context * space.context[at_place] + rest[at] >= needed
                    || wanted.binary_search(&place).is_ok()
            };
            found.retain(|place| {
                let stays = hopeful(*place, space);
                if !stays {
                    space.clear(*place);
                }
                stays
            });
            self.add_where_found(group, space, &found);
        }
        let mut scored = Vec::with_capacity(found.len());
        for place in found {
            let at = usize::from(place);
            let one = Scored { place, own: space.own[at], context: space.context[at] };
            space.clear(place);
            if one.words(fusion) >= needed || wanted.binary_search(&place).is_ok() {
                scored.push(one);
            }
        }
        scored
    }

    /// How many documents have a document with a term of the group in their window.
    pub fn around(&self, group: &Group, space: &mut Workspace) -> u32 {
        self.read(group, space);
        self.spread(space);
        let around = u32::try_from(space.touched.len()).expect("a segment has 65,536 places");
        for place in std::mem::take(&mut space.touched) {
            space.counts[usize::from(place)] = 0;
        }
        around
    }

    /// The most that a group can add to a document's share of the fused score; `None` if no document holds it.
    fn bound(&self, group: &Group, fusion: &Fusion) -> Option<f32> {
        let bounds = group.symbols.iter().filter_map(|symbol| self.postings.bound(*symbol));
        let (frequency, shortest) = bounds.fold((0_u32, u8::MAX), |(frequency, shortest), bound| {
            (frequency + u32::from(bound.most_frequent), shortest.min(bound.shortest))
        });
        if frequency == 0 {
            return None;
        }
        #[expect(clippy::cast_precision_loss, reason = "a few hundred")]
        let frequency = frequency as f32;
        let own = fusion::saturation(frequency, f32::from(shortest), self.means.own);
        let around: f32 = TERM_WINDOW[0] + 2.0 * (TERM_WINDOW[1] + TERM_WINDOW[2]);
        let context = fusion::saturation(around * frequency, 0.0, self.means.context);
        Some(fusion.own * group.own * own + fusion.context * group.context * context)
    }

    /// Reads the visible postings of a group.
    fn read(&self, group: &Group, space: &mut Workspace) {
        let postings = &mut space.postings;
        postings.clear();
        for symbol in &group.symbols {
            self.postings.for_each(*symbol, &mut |posting| postings.push(posting));
        }
        if group.symbols.len() > 1 {
            postings.sort_unstable_by_key(|posting| posting.place);
            postings.dedup_by(|next, kept| {
                let same = next.place == kept.place;
                if same {
                    kept.frequency = kept.frequency.saturating_add(next.frequency);
                }
                same
            });
        }
        if self.state.hidden.any_in(self.first..self.first + SEGMENT) {
            postings.retain(|posting| !self.state.hidden.contains(self.first + u32::from(posting.place)));
        }
    }

    /// Spreads the postings that were read over the windows of their documents, into `counts` and `touched`.
    fn spread(&self, space: &mut Workspace) {
        let (counts, touched) = (&mut space.counts, &mut space.touched);
        touched.clear();
        let mut add = |place: u16, amount: u16| {
            let count = &mut counts[usize::from(place)];
            if *count == 0 {
                touched.push(place);
            }
            *count += amount;
        };
        for posting in &space.postings {
            let frequency = u16::from(posting.frequency);
            add(posting.place, WINDOW[0] * frequency);
            self.links.for_each_neighbour(posting.place, &mut |neighbour, distance| {
                add(neighbour, WINDOW[distance] * frequency);
            });
        }
    }

    fn add_everywhere(&self, group: &Group, space: &mut Workspace, found: &mut Vec<u16>) {
        self.read(group, space);
        for posting in &space.postings {
            let length = f32::from(self.links.length(posting.place));
            space.own[usize::from(posting.place)] +=
                group.own * fusion::saturation(f32::from(posting.frequency), length, self.means.own);
        }
        self.spread(space);
        for place in &space.touched {
            let at = usize::from(*place);
            let frequency = f32::from(std::mem::take(&mut space.counts[at]));
            space.context[at] +=
                group.context * fusion::saturation(frequency, self.context_length(*place), self.means.context);
            if !std::mem::replace(&mut space.seen[at], true) {
                found.push(*place);
            }
        }
    }

    fn add_where_found(&self, group: &Group, space: &mut Workspace, found: &[u16]) {
        self.read(group, space);
        for posting in &space.postings {
            space.counts[usize::from(posting.place)] = posting.frequency.into();
        }
        for place in found {
            let at = usize::from(*place);
            let own = space.counts[at];
            let mut frequency = WINDOW[0] * own;
            self.links.for_each_neighbour(*place, &mut |neighbour, distance| {
                frequency += WINDOW[distance] * space.counts[usize::from(neighbour)];
            });
            if own > 0 {
                let length = f32::from(self.links.length(*place));
                space.own[at] += group.own * fusion::saturation(f32::from(own), length, self.means.own);
            }
            if frequency > 0 {
                let length = self.context_length(*place);
                space.context[at] +=
                    group.context * fusion::saturation(f32::from(frequency), length, self.means.context);
            }
        }
        for posting in &space.postings {
            space.counts[usize::from(posting.place)] = 0;
        }
    }

    /// How long a document is with its neighbours, weighted.
    fn context_length(&self, place: u16) -> f32 {
        let mut length = u32::from(WINDOW[0]) * u32::from(self.links.length(place));
        self.links.for_each_neighbour(place, &mut |neighbour, distance| {
            length += u32::from(WINDOW[distance]) * u32::from(self.links.length(neighbour));
        });
        #[expect(clippy::cast_precision_loss, reason = "lengths are capped, and the loss is below the model's own")]
        let length = length as f32;
        length
    }
}

impl Workspace {
    fn clear(&mut self, place: u16) {
        let at = usize::from(place);
        (self.own[at], self.context[at], self.seen[at]) = (0.0, 0.0, false);
    }
}

/// [`TERM_WINDOW`] in whole numbers.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "3, 2 and 1")]
const WINDOW: [u16; 3] = [TERM_WINDOW[0] as u16, TERM_WINDOW[1] as u16, TERM_WINDOW[2] as u16];
