//! A state of the matrix, and the three primitives (HIPPOCAMPUS, Algorithms 1 to 3).

use std::ops::Range;

use super::MatrixError;
use super::digits::{digit, node};
use super::tree::Tree;

/// Levels of digits at most: an alphabet of 2^24 has 12.
const MAX_HEIGHTS: usize = 12;

/// A state of a [`WaveletMatrix`](super::WaveletMatrix): immutable, cheap to clone, unaffected by what is appended later.
#[derive(Debug, Clone, Default)]
pub struct MatrixView {
    pub(super) tree: Tree,
    pub(super) len: usize,
    pub(super) sigma: u32,
}

impl MatrixView {
    /// How many symbols.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Symbols are below this.
    pub fn sigma(&self) -> u32 {
        self.sigma
    }

    /// Bytes that the matrix takes, shared with the writer and all other states.
    pub fn bytes(&self) -> usize {
        self.tree.bytes()
    }

    /// The symbol at `position`. O(log σ).
    ///
    /// # Errors
    /// [`MatrixError::PositionOutOfRange`] at the end and behind it.
    pub fn access(&self, position: usize) -> Result<u32, MatrixError> {
        if position >= self.len {
            return Err(MatrixError::PositionOutOfRange { position, len: self.len });
        }
        Ok(self.symbol_below(self.tree.heights.len(), 0, position))
    }

    /// The symbol whose digits from `height` on are `prefix`, at `place` among those.
    pub(super) fn symbol_below(&self, height: usize, prefix: u32, mut place: usize) -> u32 {
        let mut symbol = prefix;
        for height in (0..height).rev() {
            let (digit, before) = self.tree.digit_and_rank(height, symbol as usize, place);
            symbol = symbol << 2 | digit as u32;
            place = before;
        }
        symbol
    }

    /// How often `symbol` occurs before `position`. O(log σ).
    ///
    /// # Errors
    /// [`MatrixError::SymbolBeyondSigma`], and [`MatrixError::PositionOutOfRange`] behind the end (at the end it is the count
    /// of all).
    pub fn rank(&self, symbol: u32, position: usize) -> Result<usize, MatrixError> {
        self.known(symbol)?;
        if position > self.len {
            return Err(MatrixError::PositionOutOfRange { position, len: self.len });
        }
        let mut place = position;
        for height in (0..self.tree.heights.len()).rev() {
            if place == 0 {
                break;
            }
            place = self.tree.rank(height, node(symbol, height), place, digit(symbol, height));
        }
        Ok(place)
    }

    /// How often `symbol` occurs in `range`. O(log σ).
    ///
    /// # Errors
    /// [`MatrixError::SymbolBeyondSigma`] and [`MatrixError::SpanOutOfRange`].
    pub fn rank_range(&self, symbol: u32, range: Range<usize>) -> Result<usize, MatrixError> {
        self.within(&range)?;
        Ok(self.rank(symbol, range.end)? - self.rank(symbol, range.start)?)
    }

    /// How often `symbol` occurs.
    ///
    /// # Errors
    /// [`MatrixError::SymbolBeyondSigma`].
    pub fn count(&self, symbol: u32) -> Result<usize, MatrixError> {
        self.rank(symbol, self.len)
    }

    /// Where the `k`-th `symbol` (from 0) is, if there are so many. O(log σ log n) at worst, O(log σ) where occurrences are
    /// spread evenly.
    ///
    /// # Errors
    /// [`MatrixError::SymbolBeyondSigma`].
    pub fn select(&self, symbol: u32, k: usize) -> Result<Option<usize>, MatrixError> {
        Ok(self.occurrences(symbol)?.get(k))
    }

    /// Prepares to select many occurrences of `symbol`: each then costs half of a [`Self::select`].
    ///
    /// # Errors
    /// [`MatrixError::SymbolBeyondSigma`].
    pub fn occurrences(&self, symbol: u32) -> Result<Occurrences<'_>, MatrixError> {
        self.known(symbol)?;
        // Down to learn how long every node on the way is in this state.
        let heights = self.tree.heights.len();
        let mut lengths = [0; MAX_HEIGHTS + 1];
        lengths[heights] = self.len;
        for height in (0..heights).rev() {
            if lengths[height + 1] == 0 {
                break;
            }
            lengths[height] = self.tree.rank(height, node(symbol, height), lengths[height + 1], digit(symbol, height));
        }
        Ok(Occurrences { view: self, symbol, lengths })
    }

    /// Refuses a symbol beyond the alphabet.
    pub(super) fn known(&self, symbol: u32) -> Result<(), MatrixError> {
        if symbol < self.sigma { Ok(()) } else { Err(MatrixError::SymbolBeyondSigma { symbol, sigma: self.sigma }) }
    }

    /// Refuses a span that is not within the sequence.
    pub(super) fn within(&self, range: &Range<usize>) -> Result<(), MatrixError> {
        if range.start <= range.end && range.end <= self.len {
            return Ok(());
        }
        Err(MatrixError::SpanOutOfRange { start: range.start, end: range.end, len: self.len })
    }
}

/// Positions of a symbol.
#[derive(Debug, Clone, Copy)]
pub struct Occurrences<'a> {
    view: &'a MatrixView,
    symbol: u32,
    /// How long the node of every height is in this state, from the symbol's own count to the whole sequence.
    lengths: [usize; MAX_HEIGHTS + 1],
}

impl Occurrences<'_> {
    /// The place of the `k`-th occurrence (from 0), if there are so many.
    pub fn get(&self, k: usize) -> Option<usize> {
        let (tree, symbol) = (&self.view.tree, self.symbol);
        // Up to find the place.
        let place = |place, height| {
            let (len, count) = (self.lengths[height + 1], self.lengths[height]);
            tree.select(height, node(symbol, height), digit(symbol, height), place, len, count)
        };
        (k < self.lengths[0]).then(|| (0..tree.heights.len()).fold(k, place))
    }
}
