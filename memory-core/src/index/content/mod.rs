//! The content: every text, exactly as it was, as a stream of tokens in a wavelet matrix.
//!
//! A text is cut into words and what separates them ([`pieces`]); each distinct piece has a number in a vocabulary that grows
//! with what is told, and pieces that the vocabulary does not take are spelt as bytes, whose numbers are 0 to 255. So every
//! text comes back byte by byte, in any language, and frequent words cost two bytes.
//!
//! An entry is a span of tokens; entries are numbered from 0 in order of append, and the number leads to what else is known
//! of an entry. The ends of the spans are ones in a bit vector with a zero for every token: about a bit a token, and select
//! finds a span at once. Any entry or range of tokens is read without touching others.
//!
//! [`ContentStore`] is the writer; [`ContentStore::snapshot`] gives readers a [`ContentView`] that never changes. Nothing is
//! ever removed from a store: compaction builds a new index of what stays, with a vocabulary that has no word of the rest.

mod codec;
mod pieces;
mod vocabulary;

use std::ops::Range;

use super::bits::{BitVector, BitView};
use super::matrix::{MAX_LEN, MatrixError, MatrixView, WaveletMatrix};
use vocabulary::{BYTES, ContentVocabulary, VocabularyWords};

pub use pieces::{MAX_PIECE, Pieces, pieces};
pub use vocabulary::MAX_TOKENS;

/// Why the content cannot answer or take something. Nothing is changed then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ContentError {
    /// There is no such entry.
    #[error("entry {entry} is not among the {entries} that are there")]
    NoSuchEntry {
        /// The entry.
        entry: usize,
        /// How many entries there are.
        entries: usize,
    },
    /// The tokens of an entry are no text: the file they came from was made by something else.
    #[error("the tokens of entry {entry} are no UTF-8: rebuild the index from the store")]
    NotText {
        /// The entry.
        entry: usize,
    },
    /// The token stream refuses: a span beyond its end, or no room for more.
    #[error(transparent)]
    Tokens(#[from] MatrixError),
}

/// The texts of all entries, seen by their writer.
#[derive(Debug)]
pub struct ContentStore {
    vocabulary: ContentVocabulary,
    tokens: WaveletMatrix,
    ends: BitVector,
    /// Tokens of the entry in hand; kept for its allocation.
    entry: Vec<u32>,
}

/// A state of a [`ContentStore`]: immutable, cheap to clone, unaffected by what is appended later.
#[derive(Debug, Clone)]
pub struct ContentView {
    words: VocabularyWords,
    tokens: MatrixView,
    ends: BitView,
}

impl ContentStore {
    /// A store without entries.
    pub fn new() -> Self {
        let tokens = WaveletMatrix::new(BYTES).expect("the numbers of bytes are a small alphabet");
        Self { vocabulary: ContentVocabulary::default(), tokens, ends: BitVector::new(), entry: Vec::new() }
    }

    /// Appends an entry, which may be empty, and returns its number.
    ///
    /// # Errors
    /// [`MatrixError::Full`] if the text may have more tokens than there is room for.
    pub fn append(&mut self, text: &str) -> Result<usize, ContentError> {
        // A token has at least one byte.
        if text.len() > MAX_LEN - self.tokens.len() {
            return Err(MatrixError::Full.into());
        }
        self.entry.clear();
        for piece in pieces(text) {
            match self.vocabulary.token_of(piece) {
                Some(token) => self.entry.push(token),
                None => self.entry.extend(piece.bytes().map(u32::from)),
            }
        }
        self.tokens.grow(self.vocabulary.sigma())?;
        self.tokens.extend_from_slice(&self.entry)?;
        for _ in &self.entry {
            self.ends.push(false);
        }
        self.ends.push(true);
        Ok(self.len() - 1)
    }

    /// The state now, for readers: it never changes, shares its storage, and costs a few pointers.
    pub fn snapshot(&self) -> ContentView {
        ContentView {
            words: self.vocabulary.words().clone(),
            tokens: self.tokens.snapshot(),
            ends: self.ends.snapshot(),
        }
    }

    /// How many entries.
    pub fn len(&self) -> usize {
        self.ends.view().ones()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes that the writer keeps besides what [`ContentView::bytes`] tells.
    pub fn writer_bytes(&self) -> usize {
        self.vocabulary.table_bytes() + self.entry.capacity() * size_of::<u32>()
    }
}

impl Default for ContentStore {
    fn default() -> Self {
        Self::new()
    }
}

impl ContentView {
    /// How many entries.
    pub fn len(&self) -> usize {
        self.ends.ones()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The stream of all entries' tokens, for rank and select.
    pub fn tokens(&self) -> &MatrixView {
        &self.tokens
    }

    /// The span of an entry in the stream of tokens.
    ///
    /// # Errors
    /// [`ContentError::NoSuchEntry`].
    pub fn span(&self, entry: usize) -> Result<Range<usize>, ContentError> {
        let no_such_entry = ContentError::NoSuchEntry { entry, entries: self.len() };
        let end = self.ends.select1(entry).ok_or(no_such_entry)? - entry;
        let before = entry.checked_sub(1).and_then(|before| self.ends.select1(before));
        Ok(before.map_or(0, |one| one + 1 - entry)..end)
    }

    /// The text of an entry, exactly as it was appended.
    ///
    /// # Errors
    /// [`ContentError::NoSuchEntry`], and [`ContentError::NotText`] if the state came from a file that is no content.
    pub fn text(&self, entry: usize) -> Result<String, ContentError> {
        let bytes = self.bytes_of(self.span(entry)?)?;
        String::from_utf8(bytes).map_err(|_| ContentError::NotText { entry })
    }

    /// The bytes of a range of tokens. It may begin or end within a letter that is spelt.
    ///
    /// # Errors
    /// [`MatrixError::SpanOutOfRange`].
    pub fn bytes_of(&self, range: Range<usize>) -> Result<Vec<u8>, ContentError> {
        let mut tokens = Vec::new();
        self.tokens.copy_range(range, &mut tokens)?;
        let mut bytes = Vec::with_capacity(tokens.len() * 5);
        for token in tokens {
            self.words.spell(token, &mut bytes);
        }
        Ok(bytes)
    }

    /// Bytes that the content takes, shared with the writer and all other states.
    pub fn bytes(&self) -> usize {
        self.words.bytes() + self.tokens.bytes() + self.ends.bytes()
    }
}

#[cfg(test)]
mod tests;
