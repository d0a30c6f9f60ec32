//! The dynamic wavelet matrix: a growing sequence of symbols with access, rank and select in O(log σ), and append in
//! O(log σ) amortised, findable at once.
//!
//! The wavelet matrix (Claude, Navarro and Ordóñez, Information Systems 2015) writes bit k of every symbol in level k, the
//! symbols sorted stably by their bits above. The bits of one level that share those upper bits are a block, and a symbol
//! appended to the sequence is appended to one block of every level, at its end. So a level is kept here as a set of
//! append-only vectors, one per prefix, and nothing is ever moved or rebuilt ("Dynamic Wavelet Matrix", HIPPOCAMPUS,
//! section 3). Two things differ from the paper's picture and change no logical bit ([`MatrixView::level`]):
//!
//! - Two levels are stored together, as digits of two bits: half the steps for every query.
//! - A query walks through the vectors of its own prefix, so that it counts from the start of a block and not from the
//!   start of the level: one rank a step instead of two, and no offsets that change with every append.
//!
//! [`WaveletMatrix`] is the writer. [`WaveletMatrix::snapshot`] gives readers a [`MatrixView`]: a state that never changes,
//! shares all storage with the writer and costs a few pointers. The layout of the storage is told in `tree.rs`.

mod codec;
mod digits;
mod error;
mod levels;
mod place;
mod ranges;
mod tree;
mod view;

pub use error::MatrixError;
pub use view::{MatrixView, Occurrences};

use tree::{Allocated, Height};

/// Symbols in an alphabet at most: nodes are kept in tables by prefix.
pub const MAX_SIGMA: u32 = 1 << 24;

/// Symbols in a sequence at most.
pub const MAX_LEN: usize = place::MAX_PLACES;

/// A dynamic wavelet matrix, seen by its writer.
#[derive(Debug)]
pub struct WaveletMatrix {
    state: MatrixView,
    allocated: Allocated,
}

impl WaveletMatrix {
    /// An empty sequence of symbols below `sigma`; 0 counts as 1.
    ///
    /// # Errors
    /// [`MatrixError::SigmaTooLarge`] beyond [`MAX_SIGMA`].
    pub fn new(sigma: u32) -> Result<Self, MatrixError> {
        let mut matrix = Self { state: MatrixView::default(), allocated: Allocated::default() };
        matrix.grow(sigma.max(1))?;
        Ok(matrix)
    }

    /// Lets symbols below `sigma` be appended from now on. Levels are added on top, where all symbols so far are zeros that
    /// take no space. An alphabet never shrinks.
    ///
    /// # Errors
    /// [`MatrixError::SigmaTooLarge`] beyond [`MAX_SIGMA`].
    pub fn grow(&mut self, sigma: u32) -> Result<(), MatrixError> {
        if sigma > MAX_SIGMA {
            return Err(MatrixError::SigmaTooLarge { sigma });
        }
        let state = &mut self.state;
        if sigma <= state.sigma {
            return Ok(());
        }
        while state.tree.heights.len() < digits::heights(sigma) {
            state.tree.heights.push(Height::above(state.len));
        }
        state.tree.reach(sigma);
        state.sigma = sigma;
        Ok(())
    }

    /// Appends a symbol; it is there for every later query and snapshot.
    ///
    /// # Errors
    /// [`MatrixError::SymbolBeyondSigma`] for a symbol that [`Self::grow`] has not allowed, [`MatrixError::Full`] beyond
    /// [`MAX_LEN`] symbols; nothing is changed then.
    pub fn append(&mut self, symbol: u32) -> Result<(), MatrixError> {
        let state = &mut self.state;
        state.known(symbol)?;
        if state.len >= MAX_LEN {
            return Err(MatrixError::Full);
        }
        let mut place = state.len;
        for height in (0..state.tree.heights.len()).rev() {
            place = state.tree.push(&mut self.allocated, height, symbol, place);
        }
        state.len += 1;
        Ok(())
    }

    /// Appends symbols in order, or none of them.
    ///
    /// # Errors
    /// As [`Self::append`].
    pub fn extend_from_slice(&mut self, symbols: &[u32]) -> Result<(), MatrixError> {
        for symbol in symbols {
            self.state.known(*symbol)?;
        }
        if symbols.len() > MAX_LEN - self.state.len {
            return Err(MatrixError::Full);
        }
        symbols.iter().try_for_each(|symbol| self.append(*symbol))
    }

    /// The state now, for the writer's own questions.
    pub fn view(&self) -> &MatrixView {
        &self.state
    }

    /// The state now, for readers: it never changes, shares its storage, and costs a few pointers.
    pub fn snapshot(&self) -> MatrixView {
        self.state.clone()
    }

    /// How many symbols.
    pub fn len(&self) -> usize {
        self.state.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.state.len == 0
    }
}

#[cfg(test)]
mod tests;
