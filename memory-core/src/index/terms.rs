//! The term stream: the terms of every document, one after the other, in a wavelet matrix.
//!
//! Rank counts how often a term occurs, select finds where, and access reads a document's terms back. They serve phrases, the
//! statistics of hidden documents, and the rebuilding of the postings, which are derived from the stream.

use std::ops::Range;

use super::matrix::{MatrixError, MatrixView, WaveletMatrix};

/// The terms of all documents, seen by the writer.
#[derive(Debug)]
pub(super) struct TermStream {
    matrix: WaveletMatrix,
}

impl TermStream {
    pub fn new() -> Self {
        Self { matrix: WaveletMatrix::new(1).expect("one symbol is within every bound") }
    }

    /// A stream that was read back.
    pub fn from_matrix(matrix: WaveletMatrix) -> Self {
        Self { matrix }
    }

    /// Appends a document's symbols, which lie below `symbols`.
    ///
    /// # Errors
    /// [`MatrixError::Full`] beyond 2^32 terms; nothing is appended then.
    pub fn append(&mut self, document: &[u32], symbols: u32) -> Result<(), MatrixError> {
        self.matrix.grow(symbols)?;
        self.matrix.extend_from_slice(document)
    }

    /// How many terms.
    pub fn len(&self) -> usize {
        self.matrix.len()
    }

    pub fn snapshot(&self) -> Terms {
        Terms { matrix: self.matrix.snapshot() }
    }
}

/// A state of the stream.
#[derive(Debug, Clone)]
pub(super) struct Terms {
    matrix: MatrixView,
}

impl Terms {
    pub fn len(&self) -> usize {
        self.matrix.len()
    }

    pub fn matrix(&self) -> &MatrixView {
        &self.matrix
    }

    /// The symbols of a span that lies within the stream; none if it does not.
    pub fn symbols(&self, span: Range<u64>) -> Vec<u32> {
        let mut symbols = Vec::new();
        if let (Ok(start), Ok(end)) = (usize::try_from(span.start), usize::try_from(span.end)) {
            // A span beyond the end leaves nothing in `symbols`.
            let _within = self.matrix.copy_range(start..end, &mut symbols);
        }
        symbols
    }
}
