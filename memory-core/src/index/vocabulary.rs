//! Maps terms to their symbols in the streams: numbers from 0 in order of first appearance.
//!
//! The single writer fills free slots of one table, and nobody changes a filled slot. Readers look up without a lock and ignore
//! symbols that are newer than their state. When the table is half full, the writer continues in a table twice as large, and
//! earlier states keep the old one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::analysis::TermId;

/// Maximum number of terms with a symbol of their own: ten times what a household says in years. Later terms share buckets, so
/// that no flood of new words grows the index for good.
const MAX_TERMS: u32 = 1 << 20;
/// Capacity of the first table.
const MIN_CAPACITY: usize = 1 << 10;

/// Key of a free slot.
const FREE: u64 = 0;

#[derive(Debug)]
struct SymbolTable {
    keys: Box<[AtomicU64]>,
    symbols: Box<[AtomicU32]>,
}

impl SymbolTable {
    fn new(places: usize) -> Self {
        Self {
            keys: (0..places).map(|_| AtomicU64::new(FREE)).collect(),
            symbols: (0..places).map(|_| AtomicU32::new(0)).collect(),
        }
    }

    /// The place of a key, or the free one where it belongs. There always is one.
    fn place(&self, key: u64) -> (usize, bool) {
        let mask = self.keys.len() - 1;
        #[expect(clippy::cast_possible_truncation, reason = "keys are hashes: any bits of them do")]
        let mut place = (key ^ (key >> 32)) as usize & mask;
        loop {
            match self.keys[place].load(Ordering::Acquire) {
                FREE => return (place, false),
                held if held == key => return (place, true),
                _ => place = (place + 1) & mask,
            }
        }
    }

    fn fill(&self, place: usize, key: u64, symbol: u32) {
        // In this order: a reader that sees the key sees the symbol.
        self.symbols[place].store(symbol, Ordering::Relaxed);
        self.keys[place].store(key, Ordering::Release);
    }
}

/// The symbols of all terms; clones are states. Only the writer's own may be added to.
#[derive(Debug, Clone)]
pub(super) struct Vocabulary {
    table: Arc<SymbolTable>,
    len: u32,
    /// Symbols that are buckets.
    buckets: u32,
}

impl Default for Vocabulary {
    fn default() -> Self {
        Self { table: Arc::new(SymbolTable::new(MIN_CAPACITY)), len: 0, buckets: 0 }
    }
}

impl Vocabulary {
    /// Symbols are below this.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// The symbol of a term that this state knows, or that of its bucket.
    pub fn get(&self, term: TermId) -> Option<u32> {
        self.own(term).or_else(|| self.own(term.bucket()))
    }

    fn own(&self, term: TermId) -> Option<u32> {
        let (place, found) = self.table.place(key_of(term));
        let symbol = self.table.symbols[place].load(Ordering::Relaxed);
        (found && symbol < self.len).then_some(symbol)
    }

    /// Whether a term has a symbol, its own or that of its bucket, once there is room for no more.
    pub fn has(&self, term: TermId) -> bool {
        self.own(term).is_some()
    }

    /// The symbol of a term, a new one if it has none yet and there is room.
    pub fn add(&mut self, term: TermId) -> u32 {
        let key = key_of(term);
        let (mut place, found) = self.table.place(key);
        if found {
            return self.table.symbols[place].load(Ordering::Relaxed);
        }
        if !term.is_bucket() && self.len - self.buckets >= MAX_TERMS {
            return self.add(term.bucket());
        }
        if (self.len as usize + 1) * 2 > self.table.keys.len() {
            self.grow();
            place = self.table.place(key).0;
        }
        let symbol = self.len;
        self.table.fill(place, key, symbol);
        self.len += 1;
        self.buckets += u32::from(term.is_bucket());
        symbol
    }

    fn grow(&mut self) {
        let larger = SymbolTable::new(self.table.keys.len() * 2);
        for (key, symbol) in self.table.keys.iter().zip(&self.table.symbols) {
            let key = key.load(Ordering::Relaxed);
            if key != FREE {
                larger.fill(larger.place(key).0, key, symbol.load(Ordering::Relaxed));
            }
        }
        self.table = Arc::new(larger);
    }

    /// The terms in order of their symbols.
    pub fn terms(&self) -> Vec<TermId> {
        let mut terms = vec![TermId(FREE); self.len as usize];
        for (key, symbol) in self.table.keys.iter().zip(&self.table.symbols) {
            let key = key.load(Ordering::Acquire);
            let symbol = symbol.load(Ordering::Relaxed);
            if key != FREE
                && let Some(term) = terms.get_mut(symbol as usize)
            {
                *term = TermId(key);
            }
        }
        terms
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        self.table.keys.len() * (size_of::<u64>() + size_of::<u32>())
    }
}

/// The key of a term. One term in 2^64 shares that of another.
fn key_of(term: TermId) -> u64 {
    term.0.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn term(number: u64) -> TermId {
        TermId(number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    #[test]
    fn terms_get_symbols_in_order_of_appearance_and_keep_them() {
        let mut vocabulary = Vocabulary::default();
        for number in 0..20_000 {
            assert_eq!(vocabulary.add(term(number)), u32::try_from(number).unwrap());
        }
        for number in (0..20_000).rev() {
            assert_eq!(vocabulary.add(term(number)), u32::try_from(number).unwrap());
        }
        assert_eq!(vocabulary.len(), 20_000);
        let terms = vocabulary.terms();
        assert!((0..20_000).all(|number| number == 0 || terms[number] == term(number as u64)));
    }

    #[test]
    fn a_flood_of_words_shares_buckets_and_every_word_is_found() {
        let mut vocabulary = Vocabulary::default();
        let many = u64::from(MAX_TERMS) + 300_000;
        for number in 0..many {
            let symbol = vocabulary.add(term(number));
            assert_eq!(vocabulary.get(term(number)), Some(symbol));
        }
        assert!(vocabulary.len() <= MAX_TERMS + TermId::BUCKETS, "{}", vocabulary.len());
        assert!(vocabulary.bytes() <= 48 << 20, "{}", vocabulary.bytes());
        assert_eq!(vocabulary.get(term(7)), Some(7), "words of before keep their own");
        let mut read = Vocabulary::default();
        for (symbol, term) in vocabulary.terms().into_iter().enumerate().skip(1) {
            if symbol == 1 {
                read.add(TermId(0));
            }
            assert_eq!(read.add(term) as usize, symbol);
        }
    }

    #[test]
    fn a_state_knows_no_term_that_came_later() {
        let mut vocabulary = Vocabulary::default();
        vocabulary.add(term(1));
        let state = vocabulary.clone();
        vocabulary.add(term(2));
        assert_eq!((state.get(term(1)), state.get(term(2))), (Some(0), None));
        assert_eq!(vocabulary.get(term(2)), Some(1));
        assert_eq!(vocabulary.get(term(3)), None);
    }
}
