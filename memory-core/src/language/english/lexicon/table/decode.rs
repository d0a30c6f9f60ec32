//! Decodes the table from its file.
//!
//! The file `wordnet.bin` is made by `memory-core/scripts/make-lexicon`. All numbers are little-endian; "varint" is
//! LEB128.
//!
//! ```text
//! "ENGRMLEX", version u32, length of the payload u32, CRC-32 of the payload u32, then the payload:
//! lemmas       varint count; each: number of bytes shared with the previous lemma (u8), number of further bytes (u8),
//!              those bytes. Sorted.
//! senses       for each lemma: varint count; each: varint (next synset number - synset number; 0 = the next),
//!              varint tag count
//! synsets      varint count; each: lexicographer file (6 bits) and min(parents, 3) (2 bits), information content
//!              (u8, 255 = 1.0), varint count if there are 3 parents or more, each parent as varint
//! opposites    varint count; each: varint first sense - previous first sense,
//!              varint second sense - previous second sense
//! derivations  as the opposites
//! irregular    varint count; each: form as a lemma is, part of speech (u8), varint lemma. Sorted.
//! ```

use super::{Lists, Sense, Table, Texts};
use crate::language::english::lexicon::category::Category;
use crate::language::english::lexicon::part_of_speech::PartOfSpeech;

const MAGIC: &[u8; 8] = b"ENGRMLEX";
const VERSION: u32 = 1;
const HEADER: usize = 20;

/// Reason why the bytes are not a table of this version.
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

impl Table {
    /// Decodes a table. Every number in it is checked here, so that no look-up can fail later.
    pub(in crate::language::english::lexicon) fn decode(bytes: &[u8]) -> Result<Self, TableError> {
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
        TableReader { bytes: payload, at: 0 }.table()
    }
}

struct TableReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl TableReader<'_> {
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

    /// Reads a count of items of at least one byte each.
    fn count(&mut self) -> Result<usize, TableError> {
        let count = self.varint()? as usize;
        if count > self.bytes.len() { Err(self.inconsistent()) } else { Ok(count) }
    }

    fn below(&self, value: u32, limit: usize) -> Result<u32, TableError> {
        if (value as usize) < limit { Ok(value) } else { Err(self.inconsistent()) }
    }

    /// Reads a text, which is stored as its difference from the previous text.
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
            // A varint has 28 bits, and the number of a sense is below the length of the file, so no sum overflows.
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
        table.lemmas.ends.reserve_exact(lemmas);
        table.lemmas.bytes.reserve(lemmas * 10);
        for _ in 0..lemmas {
            self.text(&mut table.lemmas)?;
        }
        let mut next = 0;
        table.sense_starts.reserve_exact(lemmas + 1);
        table.senses.reserve(lemmas * 2);
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
        let mut pairs = Vec::with_capacity(synsets * 2);
        table.files.reserve_exact(synsets);
        table.information.reserve_exact(synsets);
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
        let members: Vec<_> = (0_u32..).zip(&table.senses).map(|(number, sense)| (sense.synset, number)).collect();
        table.members = Lists::grouped(synsets, &members);
        for list in table.members.starts.windows(2) {
            let members = &mut table.members.items[list[0] as usize..list[1] as usize];
            members.sort_by_key(|sense| std::cmp::Reverse(table.senses[*sense as usize].count));
        }
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
