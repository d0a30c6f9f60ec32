//! Bounds of what a question's words can give to a document.

use super::words::{Means, WordGroup};
use crate::index::fusion::{self, Fusion, TERM_WINDOW};

/// Unit of the upper bound of a word score, so that the bound fits a byte.
pub(super) const UNIT: f32 = 1.0 / 96.0;
/// Frequencies whose bounds are computed once per question: nearly all that there are.
const TABLED: usize = 8;

/// The most that a group of words can add to a document's share of the fused score.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct WordBound {
    pub most: f32,
    /// The same in units, by itself and in context.
    pub own: u8,
    pub context: u8,
}

/// The bounds of a question's groups, within reach of a frequency.
pub(super) struct WordBounds<'a> {
    groups: &'a [WordGroup],
    means: Means,
    fusion: &'a Fusion,
    /// By group and frequency.
    tabled: Vec<[WordBound; TABLED]>,
}

impl<'a> WordBounds<'a> {
    pub fn new(groups: &'a [WordGroup], means: Means, fusion: &'a Fusion) -> Self {
        let mut bounds = Self { groups, means, fusion, tabled: Vec::with_capacity(groups.len()) };
        for group in groups {
            let mut tabled = [WordBound::default(); TABLED];
            tabled.iter_mut().zip(0..).for_each(|(bound, frequency)| *bound = bounds.compute(group, frequency));
            bounds.tabled.push(tabled);
        }
        bounds
    }

    /// Returns the bound of a group within reach of frequencies up to `most`.
    pub fn of(&self, group: usize, most: u8) -> WordBound {
        let tabled = self.tabled[group].get(usize::from(most));
        tabled.copied().unwrap_or_else(|| self.compute(&self.groups[group], most))
    }

    fn compute(&self, group: &WordGroup, most: u8) -> WordBound {
        let (own, context) = group.bounds(most.into(), 0, self.means, self.fusion);
        WordBound { most: own + context, own: in_units(own), context: in_units(context) }
    }
}

impl WordGroup {
    /// The most that the group can add to a document's share of the fused score, within reach of frequencies up to `most`, where
    /// the documents that hold it have at least `shortest` terms.
    pub fn bound(&self, most: u16, shortest: u8, means: Means, fusion: &Fusion) -> f32 {
        let (own, context) = self.bounds(most, shortest, means, fusion);
        own + context
    }

    /// The same, by itself and in context.
    fn bounds(&self, most: u16, shortest: u8, means: Means, fusion: &Fusion) -> (f32, f32) {
        let around: f32 = TERM_WINDOW[0] + 2.0 * (TERM_WINDOW[1] + TERM_WINDOW[2]);
        let own = fusion::saturation(f32::from(most), f32::from(shortest), means.own);
        let context = fusion::saturation(around * f32::from(most), 0.0, means.context);
        (fusion.own.max(0.0) * self.own * own, fusion.context.max(0.0) * self.context * context)
    }
}

/// At least so much. More than fits counts as what fits, which is more than any score.
pub(super) fn in_units(most: f32) -> u8 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "what does not fit becomes what fits")]
    let units = (most / UNIT) as u8;
    units.saturating_add(u8::from(most > 0.0))
}
