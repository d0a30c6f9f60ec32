//! From text to terms: words, stop words, irregular forms, Snowball stems.

pub(crate) use crate::words::words;
use std::collections::HashMap;

use rust_stemmers::{Algorithm, Stemmer};

use super::irregular::base;

/// A stem, as the 64-bit FNV-1a hash of its bytes. At a million distinct stems two of them share a hash with a probability
/// under 1e-7; in exchange there is no dictionary to lock, to grow or to share between writer and readers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TermId(pub u64);

impl TermId {
    /// Terms that many words share.
    pub(super) const BUCKETS: u32 = 1 << 16;
    /// Prefix of their numbers.
    const BUCKET: u64 = 0xb0c4_e700_b0c4;

    /// The shared term of those that have none of their own. One in 2^48 terms looks like one, and is.
    pub(super) fn bucket(self) -> Self {
        if self.is_bucket() {
            return self;
        }
        let mixed = self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        Self((Self::BUCKET << 16) | (mixed % u64::from(Self::BUCKETS)))
    }

    pub(super) fn is_bucket(self) -> bool {
        self.0 >> 16 == Self::BUCKET
    }
}

/// Whose stems words are taken back to, by Snowball's algorithms. Stop words and irregular forms are known of English only: in
/// other languages frequent words are weighed down, not left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the languages' names")]
pub enum Language {
    Arabic,
    Danish,
    Dutch,
    #[default]
    English,
    Finnish,
    French,
    German,
    Greek,
    Hungarian,
    Italian,
    Norwegian,
    Portuguese,
    Romanian,
    Russian,
    Spanish,
    Swedish,
    Tamil,
    Turkish,
}

impl Language {
    /// Every language.
    pub const ALL: [Self; 18] = [
        Self::Arabic,
        Self::Danish,
        Self::Dutch,
        Self::English,
        Self::Finnish,
        Self::French,
        Self::German,
        Self::Greek,
        Self::Hungarian,
        Self::Italian,
        Self::Norwegian,
        Self::Portuguese,
        Self::Romanian,
        Self::Russian,
        Self::Spanish,
        Self::Swedish,
        Self::Tamil,
        Self::Turkish,
    ];

    /// Its English name in lower case.
    pub fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }

    /// The language of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.name() == name)
    }

    fn stemmer(self) -> Stemmer {
        Stemmer::create(match self {
            Self::Arabic => Algorithm::Arabic,
            Self::Danish => Algorithm::Danish,
            Self::Dutch => Algorithm::Dutch,
            Self::English => Algorithm::English,
            Self::Finnish => Algorithm::Finnish,
            Self::French => Algorithm::French,
            Self::German => Algorithm::German,
            Self::Greek => Algorithm::Greek,
            Self::Hungarian => Algorithm::Hungarian,
            Self::Italian => Algorithm::Italian,
            Self::Norwegian => Algorithm::Norwegian,
            Self::Portuguese => Algorithm::Portuguese,
            Self::Romanian => Algorithm::Romanian,
            Self::Russian => Algorithm::Russian,
            Self::Spanish => Algorithm::Spanish,
            Self::Swedish => Algorithm::Swedish,
            Self::Tamil => Algorithm::Tamil,
            Self::Turkish => Algorithm::Turkish,
        })
    }

    /// The term of a lower-case word; none if it is a stop word.
    pub(super) fn term_of(self, word: &str) -> Option<TermId> {
        term(&self.stemmer(), self, word)
    }
}

fn term(stemmer: &Stemmer, language: Language, word: &str) -> Option<TermId> {
    match language {
        Language::English if is_stop_word(word) => None,
        Language::English => Some(hash(stemmer.stem(base(word)).as_bytes())),
        _ => Some(hash(stemmer.stem(word).as_bytes())),
    }
}

/// Whether a word is an id, a checksum or a long number: there is no end of them, and hardly one comes again. An index keeps
/// them in buckets.
fn is_code(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    digits > MAX_NUMBER_DIGITS || digits >= 2 && word.len() >= MIN_CODE_BYTES
}

/// Maximum number of digits of a number that is treated as a word: a year, a price.
const MAX_NUMBER_DIGITS: usize = 4;
/// Minimum number of bytes of a code of letters and digits: not `h264` or `room12`.
const MIN_CODE_BYTES: usize = 8;

/// Words that are not searched for.
const STOP_WORDS: &[&str] = &[
    "a", "about", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "being", "but", "by",
    "can", "cannot", "could", "d", "did", "didn", "do", "does", "doesn", "doing", "don", "done", "for", "from", "had",
    "has", "have", "having", "he", "her", "hers", "him", "his", "how", "i", "if", "in", "into", "is", "isn", "it",
    "its", "just", "ll", "m", "me", "might", "mine", "must", "my", "of", "on", "or", "our", "ours", "re", "s", "shall",
    "she", "should", "so", "some", "such", "t", "than", "that", "the", "their", "theirs", "them", "then", "there",
    "these", "they", "this", "those", "to", "too", "us", "ve", "very", "was", "wasn", "we", "were", "weren", "what",
    "when", "where", "whether", "which", "while", "who", "whom", "whose", "why", "will", "with", "won", "would",
    "wouldn", "you", "your", "yours",
];

/// Whether `word` (lower case) says nothing about what is looked for.
pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(&word)
}

/// The English Snowball stem of a lower-case word, irregular forms taken back to their base.
pub fn stem(word: &str) -> String {
    Stemmer::create(Algorithm::English).stem(base(word)).into_owned()
}

/// The term of a lower-case word.
pub fn term_of(word: &str) -> TermId {
    hash(Stemmer::create(Algorithm::English).stem(base(word)).as_bytes())
}

fn hash(bytes: &[u8]) -> TermId {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in bytes {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    TermId(hash)
}

/// The hash of a name, equal for names that differ in case, punctuation or spaces only.
pub(super) fn name_hash<'a>(name: impl IntoIterator<Item = &'a str>) -> u64 {
    let mut joined = String::from("name");
    for word in name {
        joined.push(' ');
        joined.push_str(word);
    }
    hash(joined.as_bytes()).0
}

/// Turns documents into terms. Remembers the words it has met, since stemming costs more than looking up.
pub struct Analyzer {
    language: Language,
    stemmer: Stemmer,
    known: HashMap<String, Option<TermId>>,
    /// Whether codes are taken for their buckets.
    shares_codes: bool,
}

impl Analyzer {
    /// Maximum number of cached words. Beyond it, the cache is emptied.
    const MAX_KNOWN_WORDS: usize = 1 << 16;

    /// An analyzer of English that has met no word.
    pub fn new() -> Self {
        Self::for_language(Language::default())
    }

    /// An analyzer of a language that has met no word.
    pub fn for_language(language: Language) -> Self {
        Self { language, stemmer: language.stemmer(), known: HashMap::new(), shares_codes: false }
    }

    /// One that takes ids, checksums and long numbers for their buckets.
    pub(super) fn sharing_codes(self) -> Self {
        Self { shares_codes: true, ..self }
    }

    /// Calls `visit` with every term of `text` that is no stop word, in order.
    pub fn for_each_term(&mut self, text: &str, visit: &mut impl FnMut(TermId)) {
        for word in words(text) {
            if let Some(known) = self.known.get(&word) {
                if let Some(term) = known {
                    visit(*term);
                }
                continue;
            }
            let term = match term(&self.stemmer, self.language, &word) {
                Some(term) if self.shares_codes && is_code(&word) => Some(term.bucket()),
                term => term,
            };
            if let Some(term) = term {
                visit(term);
            }
            if self.known.len() >= Self::MAX_KNOWN_WORDS {
                self.known.clear();
            }
            self.known.insert(word, term);
        }
    }
}

impl Default for Analyzer {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> Vec<TermId> {
        let mut found = Vec::new();
        Analyzer::new().for_each_term(text, &mut |term| found.push(term));
        found
    }

    #[test]
    fn forms_of_a_word_share_a_term_and_stop_words_have_none() {
        assert_eq!(terms("painted"), terms("The paintings"));
        assert_eq!(terms("what was it to the"), []);
    }

    #[test]
    fn a_word_met_before_gives_the_same_term() {
        let twice = terms("running running");
        assert_eq!(twice[0], twice[1]);
        assert_eq!(twice[0], term_of("running"));
    }

    #[test]
    fn every_language_has_stems_of_its_own_and_a_name() {
        assert_eq!(Language::named("german").unwrap().term_of("katzen"), Language::German.term_of("katze"));
        assert_ne!(Language::German.term_of("laufen"), Language::English.term_of("laufen"));
        assert_eq!(Language::named("klingon"), None);
        assert!(Language::ALL.iter().all(|language| Language::named(&language.name()) == Some(*language)));
    }

    #[test]
    fn ids_checksums_and_long_numbers_cost_no_word_each() {
        let mut analyzer = Analyzer::new().sharing_codes();
        let mut found = std::collections::BTreeSet::new();
        for number in 0..200_000_u64 {
            let text = format!("{:x} {number:08} ev{number}x77", number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            analyzer.for_each_term(&text, &mut |term| {
                found.insert(term);
            });
        }
        assert!(found.len() < TermId::BUCKETS as usize + 1_000, "{}", found.len());
        let mut shared = |text: &str| {
            let mut found = Vec::new();
            analyzer.for_each_term(text, &mut |term| found.push(term));
            found
        };
        assert_eq!(shared("20260117445"), [terms("20260117445")[0].bucket()], "a question finds the bucket");
        assert_ne!(shared("20260117445"), shared("20260117446"));
        for word in ["2026", "h264", "room12", "3rd"] {
            assert_eq!(shared(word), terms(word), "{word}");
        }
    }

    #[test]
    fn names_compare_by_their_words() {
        assert_eq!(name_hash(["anna", "lee"]), name_hash("anna lee".split(' ')));
        assert_ne!(name_hash(["anna"]), name_hash(["annalee"]));
    }
}
