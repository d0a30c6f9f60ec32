//! The paper's own signatures: one per token, by random indexing (HIPPOCAMPUS, 3.3), with its retrieval by keywords.
//!
//! Every term has a sparse random base vector of `dimensions`, `nonzeros` of them ±1. The vector of a token is the sum over
//! the terms around it; its signature are the signs of the `bits` components of the greatest magnitude. Signatures are kept
//! as symbols of a second wavelet matrix, position by position beside the terms. A keyword becomes a signature in the same
//! way, without surroundings; the signatures within `radius` of it are looked up, their occurrences found by select, and the
//! documents counted.
//!
//! Measured on the development conversations this finds little (docs/benchmarks.md), for two reasons: the components of
//! the greatest magnitude are others for every token, so bit k of two signatures means different things, and a keyword has
//! no surroundings. It is here to be compared with, off by default.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::analysis::TermId;
use super::matrix::{MAX_SIGMA, MatrixView, WaveletMatrix};
use crate::random::split_mix;

/// Distinct signatures of a full chunk.
const CHUNK: usize = 4_096;

/// How token signatures are made and compared. The defaults are the paper's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenSignatureOptions {
    /// D: length of a base vector.
    pub dimensions: u32,
    /// t: how many of its components are not zero, half of them +1.
    pub nonzeros: u32,
    /// Terms on each side that a token's vector sums up.
    pub window: usize,
    /// d: bits of a signature, at most 64.
    pub bits: usize,
    /// r: in how many bits a signature may differ from a keyword's.
    pub radius: u32,
}

impl Default for TokenSignatureOptions {
    fn default() -> Self {
        Self { dimensions: 1_024, nonzeros: 16, window: 2, bits: 32, radius: 1 }
    }
}

impl TokenSignatureOptions {
    /// The components of a term's base vector that are not zero, as they are drawn; two may fall together.
    fn base(&self, term: TermId) -> impl Iterator<Item = (u32, i32)> {
        let (mut state, dimensions) = (term.0, u64::from(self.dimensions.max(1)));
        (0..self.nonzeros).map(move |at| {
            let place = u32::try_from(split_mix(&mut state) % dimensions).expect("below the dimensions");
            (place, if at % 2 == 0 { 1 } else { -1 })
        })
    }

    /// The signature of the sum of some terms' base vectors.
    fn signature(&self, terms: &[TermId]) -> u64 {
        let mut sum: BTreeMap<u32, i32> = BTreeMap::new();
        for (place, sign) in terms.iter().flat_map(|term| self.base(*term)) {
            *sum.entry(place).or_default() += sign;
        }
        let mut components: Vec<(u32, i32)> = sum.into_iter().filter(|(_, component)| *component != 0).collect();
        components.sort_by_key(|(place, component)| (std::cmp::Reverse(component.unsigned_abs()), *place));
        // Where there are fewer than `bits`, the others are zero and so are their bits.
        let positive =
            components.iter().take(self.bits.min(64)).enumerate().filter(|(_, (_, component))| *component > 0);
        positive.fold(0, |bits, (at, _)| bits | 1 << at)
    }

    /// The signature of every term of a document, in order.
    fn of_document(&self, terms: &[TermId]) -> Vec<u64> {
        let around = |at: usize| &terms[at.saturating_sub(self.window)..terms.len().min(at + self.window + 1)];
        (0..terms.len()).map(|at| self.signature(around(at))).collect()
    }
}

/// The token signatures of all documents, seen by the writer.
#[derive(Debug)]
pub(super) struct TokenSignatures {
    options: TokenSignatureOptions,
    matrix: WaveletMatrix,
    symbols: HashMap<u64, u32>,
    distinct: Vec<Arc<Vec<u64>>>,
}

impl TokenSignatures {
    pub fn new(options: TokenSignatureOptions) -> Self {
        let matrix = WaveletMatrix::new(1).expect("one symbol is within every bound");
        Self { options, matrix, symbols: HashMap::new(), distinct: Vec::new() }
    }

    /// Appends a document's terms, each at the same position as in the term stream. `false` if there is no more room; then
    /// nothing is appended.
    pub fn append(&mut self, terms: &[TermId]) -> bool {
        let signatures = self.options.of_document(terms);
        let symbols: Vec<u32> = signatures.into_iter().map(|signature| self.symbol(signature)).collect();
        let grown = u32::try_from(self.symbols.len()).is_ok_and(|sigma| self.matrix.grow(sigma).is_ok());
        grown && self.matrix.extend_from_slice(&symbols).is_ok()
    }

    fn symbol(&mut self, signature: u64) -> u32 {
        let next = u32::try_from(self.symbols.len()).unwrap_or(MAX_SIGMA);
        *self.symbols.entry(signature).or_insert_with(|| {
            if self.distinct.last().is_none_or(|chunk| chunk.len() == CHUNK) {
                self.distinct.push(Arc::default());
            }
            Arc::make_mut(self.distinct.last_mut().expect("one was pushed")).push(signature);
            next
        })
    }

    pub fn snapshot(&self) -> TokenSignatureView {
        TokenSignatureView { options: self.options, matrix: self.matrix.snapshot(), distinct: self.distinct.clone() }
    }
}

/// A state of the token signatures.
#[derive(Debug, Clone)]
pub(super) struct TokenSignatureView {
    options: TokenSignatureOptions,
    matrix: MatrixView,
    distinct: Vec<Arc<Vec<u64>>>,
}

impl TokenSignatureView {
    /// Calls `visit` with every position whose signature lies in the Hamming ball of a keyword's.
    pub fn for_each_position(&self, keyword: TermId, visit: &mut impl FnMut(usize)) {
        let wanted = self.options.signature(&[keyword]);
        for (signature, symbol) in self.distinct.iter().flat_map(|chunk| chunk.iter()).zip(0..) {
            if (signature ^ wanted).count_ones() > self.options.radius {
                continue;
            }
            for occurrence in 0..self.matrix.count(symbol).unwrap_or(0) {
                if let Ok(Some(position)) = self.matrix.select(symbol, occurrence) {
                    visit(position);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::term_of;
    use super::*;

    fn terms(text: &str) -> Vec<TermId> {
        text.split(' ').map(term_of).collect()
    }

    fn positions(view: &TokenSignatureView, word: &str) -> Vec<usize> {
        let mut found = Vec::new();
        view.for_each_position(term_of(word), &mut |position| found.push(position));
        found.sort_unstable();
        found
    }

    #[test]
    fn a_term_without_surroundings_is_found_by_itself_and_among_others_it_is_not() {
        let mut signatures = TokenSignatures::new(TokenSignatureOptions::default());
        assert!(signatures.append(&terms("telescope")));
        let before = signatures.snapshot();
        assert!(signatures.append(&terms("garden telescope kitchen mug")));
        assert!(signatures.append(&terms("garden")));
        let after = signatures.snapshot();
        assert_eq!((positions(&before, "telescope"), positions(&after, "telescope")), (vec![0], vec![0]));
        assert_eq!(positions(&after, "garden"), [5]);
    }

    #[test]
    fn a_wider_ball_finds_every_token() {
        let options = TokenSignatureOptions { radius: 32, ..TokenSignatureOptions::default() };
        let mut signatures = TokenSignatures::new(options);
        signatures.append(&terms("garden telescope kitchen mug"));
        assert_eq!(positions(&signatures.snapshot(), "anything"), [0, 1, 2, 3]);
    }

    #[test]
    fn a_signature_is_the_same_everywhere() {
        let signature = |text: &str| TokenSignatureOptions::default().signature(&terms(text));
        assert_eq!(signature("garden mug"), signature("mug garden"), "a sum has no order");
        assert_ne!(signature("garden"), signature("mug"));
        assert_eq!(signature("garden").count_ones(), 8, "half of the components are positive");
    }
}
