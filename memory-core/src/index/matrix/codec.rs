//! The matrix in a file: one section for its shape, one for every height of digits from the top.
//!
//! ```text
//! WMHD  u16 version │ u32 σ │ u64 length │ u64 per height, lowest first: zeros of node 0 that are not stored
//! WMDG  the digits of the height's nodes in growing order of their prefix, each in whole words of 32 digits
//! ```
//!
//! How long a node is follows from the digits above it, counts are found anew while reading, and where blocks lie in memory
//! is not told at all. So a file is as long as its digits, equal sequences that grew alike have equal bytes, and there is
//! nothing in it to contradict itself but lengths, unused digits and symbols beyond σ, which are checked.

use std::io::{self, Read, Write};

use super::digits::{self, WORD_DIGITS, first_digits};
use super::tree::{Allocated, Height, Tree};
use super::{MAX_LEN, MAX_SIGMA, MatrixView, WaveletMatrix};
use crate::index::section::{Fields, SectionError, read_section, write_section};

const VERSION: u16 = 1;
const SHAPE: &str = "WMHD";
const DIGITS: &str = "WMDG";

impl MatrixView {
    /// Writes this state.
    ///
    /// # Errors
    /// What the writer says.
    pub fn encode(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut shape = Vec::new();
        shape.extend_from_slice(&VERSION.to_le_bytes());
        shape.extend_from_slice(&self.sigma.to_le_bytes());
        shape.extend_from_slice(&(self.len as u64).to_le_bytes());
        for height in &self.tree.heights {
            shape.extend_from_slice(&(height.prefix as u64).to_le_bytes());
        }
        write_section(out, SHAPE, &shape)?;

        let mut lengths = vec![self.len];
        for height in (0..self.tree.heights.len()).rev() {
            let mut digits = Vec::with_capacity(self.len / 4);
            for (node, length) in lengths.iter().enumerate() {
                let mut rest = length - self.tree.heights[height].prefix_of(node);
                for index in 0..rest.div_ceil(WORD_DIGITS) {
                    // The writer may have gone on in the last word.
                    let word = first_digits(self.tree.word(height, node, index), rest.min(WORD_DIGITS));
                    digits.extend_from_slice(&word.to_le_bytes());
                    rest = rest.saturating_sub(WORD_DIGITS);
                }
            }
            write_section(out, DIGITS, &digits)?;
            lengths = below(&self.tree, height, &lengths, self.sigma);
        }
        Ok(())
    }
}

impl WaveletMatrix {
    /// Reads what [`MatrixView::encode`] wrote. Never panics, whatever the bytes.
    ///
    /// # Errors
    /// [`SectionError`] if the bytes are damaged, end early or contradict themselves.
    pub fn decode(input: &mut dyn Read) -> Result<Self, SectionError> {
        let shape = read_section(input, SHAPE, 256)?;
        let mut fields = Fields::new(SHAPE, &shape);
        let wrong = |reason: String| SectionError::content(SHAPE, reason);
        let version = fields.u16()?;
        if version != VERSION {
            return Err(SectionError::Version { tag: SHAPE, found: version, known: VERSION });
        }
        let (sigma, len) = (fields.u32()?, fields.length()?);
        if sigma == 0 || sigma > MAX_SIGMA || len > MAX_LEN {
            return Err(wrong(format!("{len} symbols below {sigma} are not possible")));
        }
        let mut tree = Tree::default();
        for _ in 0..digits::heights(sigma) {
            tree.heights.push(Height::above(fields.length()?));
        }
        fields.finish()?;
        // A height was added when the heights below it were there, so the zeros grow from below.
        if tree.heights[0].prefix != 0 || !tree.heights.is_sorted_by_key(|height| height.prefix) {
            return Err(wrong("the heights were added in an impossible order".into()));
        }
        tree.reach(sigma);

        let mut allocated = Allocated::default();
        let mut lengths = vec![len];
        for height in (0..tree.heights.len()).rev() {
            read_digits(input, &mut tree, &mut allocated, height, &lengths)?;
            if let Some(symbol) = beyond(&tree, height, &lengths, sigma) {
                return Err(SectionError::content(DIGITS, format!("symbols from {symbol} on are beyond σ = {sigma}")));
            }
            lengths = below(&tree, height, &lengths, sigma);
        }
        Ok(Self { state: MatrixView { tree, len, sigma }, allocated })
    }
}

/// How long the nodes of the height below are, those beyond the alphabet left out; at height 0, the counts of the symbols.
fn below(tree: &Tree, height: usize, lengths: &[usize], sigma: u32) -> Vec<usize> {
    let nodes = ((sigma - 1) >> (2 * height)) as usize + 1;
    let mut below: Vec<usize> = Vec::with_capacity(nodes);
    for (node, length) in lengths.iter().enumerate() {
        below.extend(tree.ranks(height, node, *length));
    }
    below.truncate(nodes);
    below
}

/// The first symbol of a node below that must be empty because the alphabet ends before it, and is not.
fn beyond(tree: &Tree, height: usize, lengths: &[usize], sigma: u32) -> Option<u64> {
    let node = lengths.len() - 1;
    let ranks = tree.ranks(height, node, lengths[node]);
    ranks.into_iter().enumerate().find_map(|(digit, count)| {
        let smallest = (node as u64 * 4 + digit as u64) << (2 * height);
        (count > 0 && smallest >= u64::from(sigma)).then_some(smallest)
    })
}

/// Reads the digits of one height, whose nodes are as long as `lengths` says.
fn read_digits(
    input: &mut dyn Read,
    tree: &mut Tree,
    allocated: &mut Allocated,
    height: usize,
    lengths: &[usize],
) -> Result<(), SectionError> {
    let wrong = |reason: String| SectionError::content(DIGITS, reason);
    let mut stored = Vec::with_capacity(lengths.len());
    for (node, length) in lengths.iter().enumerate() {
        let zeros = tree.heights[height].prefix_of(node);
        let length = length.checked_sub(zeros);
        stored.push(length.ok_or_else(|| wrong(format!("node 0 has fewer than its {zeros} first zeros")))?);
    }
    let words: usize = stored.iter().map(|length| length.div_ceil(WORD_DIGITS)).sum();
    let payload = read_section(input, DIGITS, words as u64 * 8)?;
    if payload.len() != words * 8 {
        return Err(wrong(format!("{} bytes instead of {}", payload.len(), words * 8)));
    }
    let mut rest = payload.as_slice();
    for (node, length) in stored.into_iter().enumerate() {
        for index in 0..length.div_ceil(WORD_DIGITS) {
            let (word, after) = rest.split_first_chunk().expect("the words were counted");
            let word = u64::from_le_bytes(*word);
            if first_digits(word, (length - index * WORD_DIGITS).min(WORD_DIGITS)) != word {
                return Err(wrong(format!("node {node} of height {height} goes on behind its end")));
            }
            tree.set_word(allocated, height, node, index, word);
            rest = after;
        }
    }
    Ok(())
}
