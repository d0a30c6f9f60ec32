//! The content in a file: its shape, the words, the lengths of the entries, and the token stream.
//!
//! ```text
//! CTHD  u16 version │ u32 words │ u64 entries
//! CTWD  every word in order of its number: u8 length, bytes
//! CTEN  every entry's count of tokens: seven bits a byte, lowest first, the high bit set while more follow
//! …     the sections of the wavelet matrix
//! ```

use std::io::{self, Read, Write};

use super::pieces::MAX_PIECE;
use super::vocabulary::{BYTES, ContentVocabulary, MAX_TOKENS};
use super::{BitVector, ContentStore, ContentView, MAX_LEN, WaveletMatrix};
use crate::index::section::{Fields, SectionError, read_section, write_section};

const VERSION: u16 = 1;
const SHAPE: &str = "CTHD";
const WORDS: &str = "CTWD";
const ENTRIES: &str = "CTEN";

/// Bytes of the longest count of tokens.
const LONGEST_COUNT: u64 = 5;

impl ContentView {
    /// Writes this state.
    ///
    /// # Errors
    /// What the writer says.
    pub fn encode(&self, out: &mut dyn Write) -> io::Result<()> {
        let words = u32::try_from(self.words.len()).expect("at most 2^18 words");
        let mut shape = VERSION.to_le_bytes().to_vec();
        shape.extend_from_slice(&words.to_le_bytes());
        shape.extend_from_slice(&(self.len() as u64).to_le_bytes());
        write_section(out, SHAPE, &shape)?;

        let mut payload = Vec::with_capacity(self.words.bytes());
        for word in (0..self.words.len()).filter_map(|index| self.words.get(index)) {
            payload.push(u8::try_from(word.len()).expect("a word has at most 32 bytes"));
            payload.extend_from_slice(word);
        }
        write_section(out, WORDS, &payload)?;

        payload.clear();
        let mut start = 0;
        for entry in 0..self.len() {
            let end = self.ends.select1(entry).expect("every entry has an end") - entry;
            let mut count = end - start;
            while count >= 0x80 {
                payload.push(count as u8 & 0x7f | 0x80);
                count >>= 7;
            }
            payload.push(count as u8);
            start = end;
        }
        write_section(out, ENTRIES, &payload)?;
        self.tokens.encode(out)
    }
}

impl ContentStore {
    /// Reads what [`ContentView::encode`] wrote. Never panics, whatever the bytes.
    ///
    /// # Errors
    /// [`SectionError`] if the bytes are damaged, end early or contradict themselves.
    pub fn decode(input: &mut dyn Read) -> Result<Self, SectionError> {
        let shape = read_section(input, SHAPE, 64)?;
        let mut fields = Fields::new(SHAPE, &shape);
        let version = fields.u16()?;
        if version != VERSION {
            return Err(SectionError::Version { tag: SHAPE, found: version, known: VERSION });
        }
        let (words, entries) = (fields.u32()?, fields.u64()?);
        fields.finish()?;
        if words > MAX_TOKENS - BYTES {
            return Err(SectionError::content(SHAPE, format!("{words} words are not possible")));
        }
        let vocabulary = read_words(input, words)?;
        let (ends, count) = read_entries(input, entries)?;
        let tokens = WaveletMatrix::decode(input)?;
        if tokens.len() != count {
            let reason = format!("entries of {count} tokens, but {} are there", tokens.len());
            return Err(SectionError::content(ENTRIES, reason));
        }
        if tokens.view().sigma() > vocabulary.sigma() {
            return Err(SectionError::content(WORDS, "tokens beyond the words"));
        }
        Ok(Self { vocabulary, tokens, ends, entry: Vec::new() })
    }
}

fn read_words(input: &mut dyn Read, words: u32) -> Result<ContentVocabulary, SectionError> {
    let payload = read_section(input, WORDS, u64::from(words) * (1 + MAX_PIECE as u64))?;
    let mut fields = Fields::new(WORDS, &payload);
    let mut vocabulary = ContentVocabulary::default();
    for token in BYTES..BYTES + words {
        let length = fields.bytes(1)?[0];
        let word = std::str::from_utf8(fields.bytes(length.into())?).ok();
        // A word that is there already would get the number of the other.
        if word.and_then(|word| vocabulary.token_of(word)) != Some(token) {
            return Err(SectionError::content(WORDS, format!("word {token} is no piece of text, or is there twice")));
        }
    }
    fields.finish()?;
    Ok(vocabulary)
}

fn read_entries(input: &mut dyn Read, entries: u64) -> Result<(BitVector, usize), SectionError> {
    let wrong = |reason: &str| SectionError::content(ENTRIES, reason);
    let payload = read_section(input, ENTRIES, entries.saturating_mul(LONGEST_COUNT))?;
    let mut fields = Fields::new(ENTRIES, &payload);
    let (mut ends, mut total) = (BitVector::new(), 0);
    for _ in 0..entries {
        let (mut count, mut shift) = (0_usize, 0);
        loop {
            let byte = fields.bytes(1)?[0];
            count |= usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
            shift += 7;
            if shift > 28 {
                return Err(wrong("an entry's count of tokens does not end"));
            }
        }
        total += count;
        if total > MAX_LEN {
            return Err(wrong("more tokens than a stream can have"));
        }
        ends.extend(std::iter::repeat_n(false, count));
        ends.push(true);
    }
    fields.finish()?;
    Ok((ends, total))
}
