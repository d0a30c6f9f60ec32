//! The numbers of pieces. Numbers below 256 are bytes; words are numbered from there in order of their first appearance.

use std::sync::Arc;

use super::pieces::MAX_PIECE;

/// The numbers below this are bytes.
pub(super) const BYTES: u32 = 256;

/// Numbers at most: 18 bits. What comes when all are taken is spelt in bytes.
pub const MAX_TOKENS: u32 = 1 << 18;

/// Words on a page. All of them together have fewer than 2^16 bytes.
const PAGE: usize = 256;

/// Words that follow each other.
#[derive(Debug, Clone, Default)]
struct Page {
    bytes: Vec<u8>,
    ends: Vec<u16>,
}

impl Page {
    fn word(&self, index: usize) -> Option<&[u8]> {
        let end = usize::from(*self.ends.get(index)?);
        let start = index.checked_sub(1).map_or(0, |before| usize::from(self.ends[before]));
        Some(&self.bytes[start..end])
    }
}

/// The words of a state: full pages never change, and the last one is copied when a reader holds it.
#[derive(Debug, Clone, Default)]
pub(super) struct VocabularyWords {
    full: Arc<Vec<Arc<Page>>>,
    last: Arc<Page>,
}

impl VocabularyWords {
    pub fn len(&self) -> usize {
        self.full.len() * PAGE + self.last.ends.len()
    }

    /// Word `index`, if there is one.
    pub fn get(&self, index: usize) -> Option<&[u8]> {
        self.full.get(index / PAGE).unwrap_or(&self.last).word(index % PAGE).filter(|_| index / PAGE <= self.full.len())
    }

    /// Appends what a token stands for: nothing if it is none of this state.
    pub fn spell(&self, token: u32, out: &mut Vec<u8>) {
        match u8::try_from(token) {
            Ok(byte) => out.push(byte),
            Err(_) => out.extend_from_slice(self.get((token - BYTES) as usize).unwrap_or_default()),
        }
    }

    fn push(&mut self, word: &[u8]) {
        let last = Arc::make_mut(&mut self.last);
        last.bytes.extend_from_slice(word);
        last.ends.push(u16::try_from(last.bytes.len()).expect("a page has at most 8 KiB"));
        if last.ends.len() == PAGE {
            last.bytes.shrink_to_fit();
            Arc::make_mut(&mut self.full).push(std::mem::take(&mut self.last));
        }
    }

    pub fn bytes(&self) -> usize {
        let page = |page: &Arc<Page>| page.bytes.capacity() + page.ends.capacity() * size_of::<u16>();
        self.full.iter().map(page).sum::<usize>() + page(&self.last)
    }
}

/// The words with a table to find them by; only the writer has one.
#[derive(Debug, Default)]
pub(super) struct ContentVocabulary {
    words: VocabularyWords,
    /// Open addressing by the hash of the word; 0 is a free place, since tokens of words are at least 256.
    table: Vec<u32>,
}

impl ContentVocabulary {
    pub fn words(&self) -> &VocabularyWords {
        &self.words
    }

    /// Tokens are below this.
    pub fn sigma(&self) -> u32 {
        BYTES + u32::try_from(self.words.len()).expect("at most 2^18 words")
    }

    /// The token of a piece, a new one if it is new; `None` if it must be spelt. One byte is its own token.
    pub fn token_of(&mut self, piece: &str) -> Option<u32> {
        let piece = piece.as_bytes();
        if piece.len() < 2 || piece.len() > MAX_PIECE {
            return None;
        }
        if self.words.len() * 2 >= self.table.len() {
            self.enlarge();
        }
        let place = self.place(piece);
        match self.table[place] {
            0 if self.sigma() == MAX_TOKENS => None,
            0 => {
                let token = self.sigma();
                self.words.push(piece);
                self.table[place] = token;
                Some(token)
            }
            token => Some(token),
        }
    }

    /// Returns the slot of a word in the table, or the slot where it belongs.
    fn place(&self, word: &[u8]) -> usize {
        let mask = self.table.len() - 1;
        let mut place = hash(word) & mask;
        while self.table[place] != 0 && self.words.get((self.table[place] - BYTES) as usize) != Some(word) {
            place = (place + 1) & mask;
        }
        place
    }

    fn enlarge(&mut self) {
        self.table = vec![0; (self.table.len() * 2).max(1024)];
        for index in 0..self.words.len() {
            let place = self.place(self.words.get(index).expect("all below the length are there"));
            self.table[place] = BYTES + u32::try_from(index).expect("at most 2^18 words");
        }
    }

    pub fn table_bytes(&self) -> usize {
        self.table.capacity() * size_of::<u32>()
    }
}

/// A fast mix of eight bytes at a time; where a word lies in the table is not stored anywhere.
#[expect(clippy::cast_possible_truncation, reason = "any bits of a hash do")]
fn hash(word: &[u8]) -> usize {
    let mut hash = word.len() as u64;
    for part in word.chunks(8) {
        let mut bytes = [0; 8];
        bytes[..part.len()].copy_from_slice(part);
        hash = (hash.rotate_left(5) ^ u64::from_le_bytes(bytes)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    (hash ^ hash >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_keeps_its_token_and_a_full_vocabulary_spells() {
        let mut vocabulary = ContentVocabulary::default();
        let word = |number: u32| format!(" w{number}");
        for number in 0..MAX_TOKENS - BYTES {
            assert_eq!(vocabulary.token_of(&word(number)), Some(BYTES + number));
        }
        assert_eq!(vocabulary.token_of("one more"), None);
        assert_eq!(vocabulary.sigma(), MAX_TOKENS);
        for number in (0..MAX_TOKENS - BYTES).step_by(97) {
            assert_eq!(vocabulary.token_of(&word(number)), Some(BYTES + number));
            assert_eq!(vocabulary.words().get(number as usize), Some(word(number).as_bytes()));
        }
        assert_eq!(vocabulary.words().get((MAX_TOKENS - BYTES) as usize), None);
    }

    #[test]
    fn a_state_does_not_see_later_words() {
        let mut vocabulary = ContentVocabulary::default();
        vocabulary.token_of("first");
        let state = vocabulary.words().clone();
        for number in 0..1_000 {
            vocabulary.token_of(&format!("later {number}"));
        }
        assert_eq!((state.len(), state.get(0), state.get(1)), (1, Some(b"first".as_slice()), None));
        assert_eq!(state.get(PAGE), None);
        assert_eq!(vocabulary.words().len(), 1_001);
    }
}
