//! The lexical table in memory, and how it is read.
//!
//! The file `wordnet.bin` is made by `memory-core/scripts/make-lexicon`. All numbers are little-endian; "varint" is LEB128.
//!
//! ```text
//! "ENGRMLEX", version u32, length of the payload u32, CRC-32 of the payload u32, then the payload:
//! lemmas       varint count; each: bytes shared with the one before (u8), bytes that follow (u8), those bytes. Sorted.
//! senses       for each lemma: varint count; each: varint (next synset number - synset number; 0 = the next), varint tag count
//! synsets      varint count; each: lexicographer file (6 bits) and min(parents, 3) (2 bits), information content (u8, 255 = 1.0),
//!              varint count if there are 3 parents or more, each parent as varint
//! opposites    varint count; each: varint first sense - first sense before, varint second sense - first sense
//! derivations  as the opposites
//! irregular    varint count; each: form as a lemma is, part of speech (u8), varint lemma. Sorted.
//! ```

use std::sync::LazyLock;

use super::category::Category;
use super::part_of_speech::PartOfSpeech;

const MAGIC: &[u8; 8] = b"ENGRMLEX";
const VERSION: u32 = 1;
const HEADER: usize = 20;
const EMBEDDED: &[u8] = include_bytes!("wordnet.bin");

/// Why the bytes are no table of this version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TableError {
    #[error("the lexical table does not begin with its mark; make it anew with memory-core/scripts/make-lexicon")]
    NoTable,
    #[error(
        "the lexical table has version {found}, this program reads {VERSION}; make it anew with memory-core/scripts/make-lexicon"
    )]
    OtherVersion { found: u32 },
    #[error("the lexical table has {found} bytes of {wanted}; make it anew with memory-core/scripts/make-lexicon")]
    OtherLength { found: usize, wanted: usize },
    #[error("the checksum of the lexical table is wrong; make it anew with memory-core/scripts/make-lexicon")]
    Checksum,
    #[error(
        "the lexical table is inconsistent at byte {at} of its payload; make it anew with memory-core/scripts/make-lexicon"
    )]
    Inconsistent { at: usize },
}

/// A meaning of a lemma.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sense {
    pub(super) synset: u32,
    /// How often WordNet's concordance has this lemma with this meaning.
    pub(super) count: u16,
}

/// Texts one after the other, sorted.
#[derive(Debug, Default)]
struct Texts {
    bytes: String,
    ends: Vec<u32>,
}

/// Lists of numbers one after the other: list `i` is `items[starts[i]..starts[i + 1]]`.
#[derive(Debug, Default)]
struct Lists {
    starts: Vec<u32>,
    items: Vec<u32>,
}

#[derive(Debug, Default)]
pub(super) struct Table {
    lemmas: Texts,
    sense_starts: Vec<u32>,
    senses: Vec<Sense>,
    files: Vec<u8>,
    information: Vec<u8>,
    parents: Lists,
    /// Senses of each synset, the most frequent first.
    members: Lists,
    opposites: Lists,
    derivations: Lists,
    forms: Texts,
    form_lemmas: Vec<(PartOfSpeech, u32)>,
}

/// The table of this program. A test holds that the embedded bytes are one; if they were not, every word would be unknown.
pub(super) fn table() -> &'static Table {
    static TABLE: LazyLock<Table> = LazyLock::new(|| {
        Table::decode(EMBEDDED).unwrap_or_else(|error| {
            tracing::error!(%error, "no English words are known");
            Table::default()
        })
    });
    &TABLE
}

/// Compares without regard to ASCII case; an underscore is a space.
fn compare(entry: &str, word: &str) -> std::cmp::Ordering {
    let lowered = word.bytes().map(|byte| if byte == b'_' { b' ' } else { byte.to_ascii_lowercase() });
    entry.bytes().cmp(lowered)
}

impl Texts {
    fn get(&self, number: usize) -> &str {
        let start = if number == 0 { 0 } else { self.ends[number - 1] as usize };
        &self.bytes[start..self.ends[number] as usize]
    }

    /// The first number whose text is not below `word`.
    fn position(&self, word: &str) -> usize {
        let (mut low, mut high) = (0, self.ends.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if compare(self.get(middle), word).is_lt() { low = middle + 1 } else { high = middle }
        }
        low
    }

    fn equals(&self, number: usize, word: &str) -> bool {
        number < self.ends.len() && compare(self.get(number), word).is_eq()
    }
}

impl Lists {
    fn get(&self, number: usize) -> &[u32] {
        match (self.starts.get(number), self.starts.get(number + 1)) {
            (Some(&start), Some(&end)) => &self.items[start as usize..end as usize],
            _ => &[],
        }
    }

    /// `pairs` of (list, item), in any order; a list keeps the order of its items.
    fn grouped(lists: usize, pairs: &[(u32, u32)]) -> Self {
        let mut starts = vec![0_u32; lists + 1];
        for (list, _) in pairs {
            starts[*list as usize + 1] += 1;
        }
        for list in 0..lists {
            starts[list + 1] += starts[list];
        }
        let mut next = starts.clone();
        let mut items = vec![0; pairs.len()];
        for (list, item) in pairs {
            let at = &mut next[*list as usize];
            items[*at as usize] = *item;
            *at += 1;
        }
        Self { starts, items }
    }
}

impl Table {
    /// The number of a lemma, if the table has exactly this word (without regard to case).
    pub(super) fn find(&self, word: &str) -> Option<u32> {
        let number = self.lemmas.position(word);
        self.lemmas.equals(number, word).then_some(number as u32)
    }

    pub(super) fn lemma(&self, lemma: u32) -> &str {
        self.lemmas.get(lemma as usize)
    }

    /// Irregular forms that are written as `word`: the part of speech and the lemma.
    pub(super) fn irregular<'a>(&'a self, word: &'a str) -> impl Iterator<Item = (PartOfSpeech, u32)> + 'a {
        (self.forms.position(word)..)
            .take_while(|number| self.forms.equals(*number, word))
            .map(|number| self.form_lemmas[number])
    }

    /// Numbers of the senses of a lemma: nouns, verbs, adjectives, adverbs, and within those the most frequent first.
    pub(super) fn senses_of(&self, lemma: u32) -> std::ops::Range<u32> {
        self.sense_starts[lemma as usize]..self.sense_starts[lemma as usize + 1]
    }

    pub(super) fn sense(&self, number: u32) -> Sense {
        self.senses[number as usize]
    }

    pub(super) fn lemma_of(&self, sense: u32) -> u32 {
        (self.sense_starts.partition_point(|start| *start <= sense) - 1) as u32
    }

    pub(super) fn senses_as(&self, lemma: u32, part: PartOfSpeech) -> impl Iterator<Item = u32> {
        self.senses_of(lemma).filter(move |sense| self.part(self.sense(*sense).synset) == part)
    }

    pub(super) fn category(&self, synset: u32) -> Category {
        Category::of_file(self.files[synset as usize])
    }

    pub(super) fn part(&self, synset: u32) -> PartOfSpeech {
        PartOfSpeech::of_file(self.files[synset as usize])
    }

    /// Intrinsic information content in 0..=1: 1 where nothing is below, 0 for the class of everything.
    pub(super) fn information(&self, synset: u32) -> f32 {
        f32::from(self.information[synset as usize]) / 255.0
    }

    pub(super) fn parents(&self, synset: u32) -> &[u32] {
        self.parents.get(synset as usize)
    }

    /// Senses with this meaning.
    pub(super) fn members(&self, synset: u32) -> &[u32] {
        self.members.get(synset as usize)
    }

    pub(super) fn opposites(&self, sense: u32) -> &[u32] {
        self.opposites.get(sense as usize)
    }

    pub(super) fn derivations(&self, sense: u32) -> &[u32] {
        self.derivations.get(sense as usize)
    }

    #[cfg(test)]
    pub(super) fn lemmas(&self) -> impl Iterator<Item = &str> {
        (0..self.lemmas.ends.len()).map(|number| self.lemmas.get(number))
    }

    #[cfg(test)]
    pub(super) fn bytes_in_memory(&self) -> usize {
        let lists = [&self.parents, &self.members, &self.opposites, &self.derivations];
        lists.iter().map(|lists| (lists.starts.capacity() + lists.items.capacity()) * 4).sum::<usize>()
            + [&self.lemmas, &self.forms].iter().map(|t| t.bytes.capacity() + t.ends.capacity() * 4).sum::<usize>()
            + self.sense_starts.capacity() * 4
            + self.senses.capacity() * size_of::<Sense>()
            + self.files.capacity()
            + self.information.capacity()
            + self.form_lemmas.capacity() * size_of::<(PartOfSpeech, u32)>()
    }

    /// Reads a table; every number in it is checked here, so that no look-up can fail later.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, TableError> {
        let header = bytes.first_chunk::<HEADER>().ok_or(TableError::NoTable)?;
        let word = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        if &header[..8] != MAGIC {
            return Err(TableError::NoTable);
        }
        if word(8) != VERSION {
            return Err(TableError::OtherVersion { found: word(8) });
        }
        let (payload, wanted) = (&bytes[HEADER..], word(12) as usize);
        if payload.len() != wanted {
            return Err(TableError::OtherLength { found: payload.len(), wanted });
        }
        if crc32fast::hash(payload) != word(16) {
            return Err(TableError::Checksum);
        }
        Reader { bytes: payload, at: 0 }.table()
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn inconsistent(&self) -> TableError {
        TableError::Inconsistent { at: self.at }
    }

    fn byte(&mut self) -> Result<u8, TableError> {
        let byte = *self.bytes.get(self.at).ok_or(self.inconsistent())?;
        self.at += 1;
        Ok(byte)
    }

    fn varint(&mut self) -> Result<u32, TableError> {
        let mut value = 0_u32;
        for shift in [0, 7, 14, 21] {
            let byte = self.byte()?;
            value |= u32::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(self.inconsistent())
    }

    /// A count of things of at least one byte each.
    fn count(&mut self) -> Result<usize, TableError> {
        let count = self.varint()? as usize;
        if count > self.bytes.len() { Err(self.inconsistent()) } else { Ok(count) }
    }

    fn below(&self, value: u32, limit: usize) -> Result<u32, TableError> {
        if (value as usize) < limit { Ok(value) } else { Err(self.inconsistent()) }
    }

    /// Appends a text that is given by what it adds to the one before.
    fn text(&mut self, texts: &mut Texts) -> Result<(), TableError> {
        let (shared, added) = (usize::from(self.byte()?), usize::from(self.byte()?));
        let start = texts.ends.len().checked_sub(1).map_or(0, |last| texts.bytes.len() - texts.get(last).len());
        if start + shared > texts.bytes.len() {
            return Err(self.inconsistent());
        }
        let end = self.at + added;
        let rest = self.bytes.get(self.at..end).and_then(|bytes| str::from_utf8(bytes).ok());
        let rest = rest.filter(|rest| rest.is_ascii()).ok_or(self.inconsistent())?;
        self.at = end;
        texts.bytes.extend_from_within(start..start + shared);
        texts.bytes.push_str(rest);
        texts.ends.push(texts.bytes.len() as u32);
        Ok(())
    }

    fn pairs(&mut self, senses: usize) -> Result<Lists, TableError> {
        let count = self.count()?;
        let mut pairs = Vec::with_capacity(count * 2);
        let mut first = 0_u32;
        for _ in 0..count {
            // A varint has 28 bits, and a sense's number is below the length of the file: no sum overflows.
            let step = self.varint()?;
            first = self.below(first + step, senses)?;
            let step = self.varint()?;
            let second = self.below(first + step, senses)?;
            pairs.extend([(first, second), (second, first)]);
        }
        Ok(Lists::grouped(senses, &pairs))
    }

    fn table(mut self) -> Result<Table, TableError> {
        let mut table = Table::default();
        let lemmas = self.count()?;
        for _ in 0..lemmas {
            self.text(&mut table.lemmas)?;
        }
        let mut next = 0;
        table.sense_starts.push(0);
        for _ in 0..lemmas {
            for _ in 0..self.count()? {
                let back = self.varint()?;
                next += u32::from(back == 0);
                let last = if back == 0 { 1 } else { back };
                let synset = next.checked_sub(last).ok_or(self.inconsistent())?;
                let count = u16::try_from(self.varint()?).map_err(|_| self.inconsistent())?;
                table.senses.push(Sense { synset, count });
            }
            table.sense_starts.push(table.senses.len() as u32);
        }
        let synsets = self.count()?;
        self.below(next, synsets + 1)?;
        let mut pairs = Vec::with_capacity(synsets);
        for synset in 0..synsets as u32 {
            let packed = self.byte()?;
            let file = packed & 0x3F;
            if file >= Category::COUNT {
                return Err(self.inconsistent());
            }
            table.files.push(file);
            table.information.push(self.byte()?);
            let parents = if packed >> 6 == 3 { self.count()? } else { usize::from(packed >> 6) };
            for _ in 0..parents {
                let parent = self.varint()?;
                pairs.push((synset, self.below(parent, synsets)?));
            }
        }
        table.parents = Lists::grouped(synsets, &pairs);
        let mut members: Vec<_> = (0_u32..).zip(&table.senses).collect();
        members.sort_by_key(|(_, sense)| std::cmp::Reverse(sense.count));
        let members: Vec<_> = members.into_iter().map(|(number, sense)| (sense.synset, number)).collect();
        table.members = Lists::grouped(synsets, &members);
        table.opposites = self.pairs(table.senses.len())?;
        table.derivations = self.pairs(table.senses.len())?;
        for _ in 0..self.count()? {
            self.text(&mut table.forms)?;
            let part = PartOfSpeech::from_number(self.byte()?).ok_or(self.inconsistent())?;
            let lemma = self.varint()?;
            table.form_lemmas.push((part, self.below(lemma, lemmas)?));
        }
        if self.at != self.bytes.len() {
            return Err(self.inconsistent());
        }
        Ok(table)
    }
}
