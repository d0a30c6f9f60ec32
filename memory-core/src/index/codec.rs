//! The whole index in a file: a sequence of checksummed [sections](super::section), a cache of what the store holds.
//!
//! ```text
//! IXHD  u16 version │ u8 language │ u16 signature bits │ u64 signature seed │ u32 dimensions (0: no space) │ u32 documents
//!       │ f64 sum of lengths │ f64 the same in context
//! IXVO  u64 per symbol: its term
//! IXNM  u32 sources │ u64 each │ u32 entities │ u64 name, u64 first word (0: none) each
//! IXEN  per 1,024 documents: the columns of their entries
//! IXLK  per document: u16 how far back its earlier neighbour is, u16 length
//! IXHI  u32 per hidden document │ per symbol that one of them holds: u32 symbol, u32 documents
//! IXSG  one per full segment: its packed postings
//! IXTL  one: the postings of the documents after those
//! IXSI  per 1,024 documents with signatures: u32 block, presence, the words
//! WM..  the term stream, as the wavelet matrix writes it
//! CT..  the content, as it writes itself
//! ```
//!
//! Later neighbours follow from earlier ones. A reader checks every number; what does not fit is an error, and the
//! index is rebuilt from the store.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::sync::Arc;

use super::analysis::{Language, TermId};
use super::compressed::{CompressedIndex, IndexOptions, IndexState, Lengths};
use super::content::ContentStore;
use super::entries::{BLOCK, EntityNames, Entry, EntryTable, HiddenSet, Links, NONE, PackedEntries, SourceNames};
use super::matrix::WaveletMatrix;
use super::packing::take;
use super::postings::{Chunk, PackedPostings, Postings, SEGMENT};
use super::search::Snapshot;
use super::section::{Fields, SectionError, read_section, section_start, write_section};
use super::signature::{Planes, SignatureOptions, SignatureTable};
use super::terms::TermStream;
use super::vocabulary::Vocabulary;

const VERSION: u16 = 3;
const HEAD: &str = "IXHD";
const VOCABULARY: &str = "IXVO";
const NAMES: &str = "IXNM";
const ENTRIES: &str = "IXEN";
const LINKS: &str = "IXLK";
const HIDDEN: &str = "IXHI";
const SEGMENTS: &str = "IXSG";
const TAIL: &str = "IXTL";
const SIGNATURES: &str = "IXSI";
/// First sections of the term stream and of the content.
const TERMS: &str = "WMHD";
const CONTENT: &str = "CTHD";

/// Longest payload of a section of `count` things of up to `each` bytes.
fn max_bytes(count: usize, each: u64) -> u64 {
    count as u64 * each + 64
}

impl Snapshot {
    /// Writes this state.
    pub(super) fn encode(&self, out: &mut dyn Write) -> io::Result<()> {
        let state = &self.state;
        let (signature, len) = (self.options.signature, state.entries.len());
        let mut head = Vec::new();
        head.extend_from_slice(&VERSION.to_le_bytes());
        head.push(language_number(self.options.language));
        head.extend_from_slice(&u16::try_from(signature.bits()).expect("at most 1,024").to_le_bytes());
        head.extend_from_slice(&signature.seed.to_le_bytes());
        let dimensions = state.planes.as_ref().map_or(0, |planes| planes.dimensions());
        head.extend_from_slice(&u32::try_from(dimensions).unwrap_or(0).to_le_bytes());
        head.extend_from_slice(&len.to_le_bytes());
        head.extend_from_slice(&state.lengths.own.to_le_bytes());
        head.extend_from_slice(&state.lengths.context.to_le_bytes());
        write_section(out, HEAD, &head)?;

        let terms: Vec<u8> = state.vocabulary.terms().iter().flat_map(|term| term.0.to_le_bytes()).collect();
        write_section(out, VOCABULARY, &terms)?;
        write_section(out, NAMES, &names_bytes(&state.sources, &state.entities))?;

        let mut entries = Vec::new();
        for first in (0..len).step_by(BLOCK) {
            let block: Vec<Entry> =
                (first..len.min(first + BLOCK as u32)).map(|ordinal| state.entries.get(ordinal)).collect();
            PackedEntries::pack(&block).encode(&mut entries);
        }
        write_section(out, ENTRIES, &entries)?;
        let mut links = Vec::with_capacity(len as usize * 4);
        for ordinal in 0..len {
            let apart = match state.links.previous(ordinal) {
                NONE => 0,
                previous => u16::try_from(ordinal - previous).expect("neighbours lie in one segment"),
            };
            links.extend_from_slice(&apart.to_le_bytes());
            links.extend_from_slice(&state.links.length(ordinal).to_le_bytes());
        }
        write_section(out, LINKS, &links)?;
        let hidden = state.hidden.ordinals();
        let mut bytes = u32::try_from(hidden.len()).expect("fewer than documents").to_le_bytes().to_vec();
        hidden.iter().for_each(|ordinal| bytes.extend_from_slice(&ordinal.to_le_bytes()));
        for (symbol, documents) in &*state.hidden_holding {
            bytes.extend_from_slice(&symbol.to_le_bytes());
            bytes.extend_from_slice(&documents.to_le_bytes());
        }
        write_section(out, HIDDEN, &bytes)?;

        for packed in state.postings.full() {
            let mut bytes = Vec::new();
            packed.encode(&mut bytes);
            write_section(out, SEGMENTS, &bytes)?;
        }
        let mut bytes = Vec::new();
        state.postings.merged_tail().encode(&mut bytes);
        write_section(out, TAIL, &bytes)?;
        let mut bytes = Vec::new();
        state.signatures.encode(&mut bytes);
        write_section(out, SIGNATURES, &bytes)?;
        self.terms.matrix().encode(out)?;
        self.content.encode(out)
    }
}

impl CompressedIndex {
    /// Reads what [`Search::write_snapshot`](super::Search::write_snapshot) wrote. Never panics, whatever the bytes.
    ///
    /// # Errors
    /// [`SectionError`] if the bytes are damaged, end early, contradict themselves, or were made with other options than
    /// `options` (its weights aside, which are not part of an index).
    pub fn read_snapshot(options: IndexOptions, input: &mut dyn Read) -> Result<Self, SectionError> {
        let state = read_state(options, input)?;
        let terms = WaveletMatrix::decode(input)?;
        Self::assemble(options, state, terms, ContentStore::decode(input)?)
    }

    /// The same from bytes at hand, to their end; its three parts are decoded at the same time.
    ///
    /// # Errors
    /// As [`read_snapshot`](Self::read_snapshot), and if something follows the index.
    pub fn read_snapshot_bytes(options: IndexOptions, bytes: &[u8]) -> Result<Self, SectionError> {
        let terms_at = section_start(bytes, 0, TERMS);
        let content_at = terms_at.and_then(|at| section_start(bytes, at, CONTENT));
        let (Some(terms_at), Some(content_at)) = (terms_at, content_at) else {
            // One after the other, so that the error says which section is missing.
            return Self::read_snapshot(options, &mut &*bytes);
        };
        let (state, rest) = bytes.split_at(terms_at);
        let (terms, content) = rest.split_at(content_at - terms_at);
        std::thread::scope(|scope| {
            let terms = scope.spawn(move || whole(terms, |input| WaveletMatrix::decode(input)));
            let content = scope.spawn(move || whole(content, |input| ContentStore::decode(input)));
            let state = whole(state, |input| read_state(options, input));
            Self::assemble(options, state?, joined(terms)?, joined(content)?)
        })
    }

    /// Puts the parts together, if they are of one index.
    fn assemble(
        options: IndexOptions,
        state: IndexState,
        terms: WaveletMatrix,
        content: ContentStore,
    ) -> Result<Self, SectionError> {
        let len = state.entries.len();
        let ends = len == 0 || state.entries.get(len - 1).terms_at <= terms.len() as u64;
        if terms.view().sigma() > state.vocabulary.len().max(1) || !ends {
            return Err(wrong(HEAD, "the term stream is of another index"));
        }
        if content.len() > len as usize {
            return Err(wrong(HEAD, "the content is of another index"));
        }
        if len > 0 && options.texts == content.is_empty() {
            return Err(wrong(HEAD, "texts are kept by one and not by the other"));
        }
        Ok(Self::from_state(options, state, TermStream::from_matrix(terms), content))
    }
}

fn joined<T>(thread: std::thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Reads one part, which must take all of its bytes.
fn whole<T>(bytes: &[u8], read: impl FnOnce(&mut dyn Read) -> Result<T, SectionError>) -> Result<T, SectionError> {
    let mut rest = bytes;
    let part = read(&mut rest)?;
    if rest.is_empty() { Ok(part) } else { Err(wrong(HEAD, "something follows a part of the index")) }
}

/// Everything but the term stream and the content.
fn read_state(options: IndexOptions, input: &mut dyn Read) -> Result<IndexState, SectionError> {
    let (mut state, len, dimensions) = read_head(options, input)?;
    let bytes = read_section(input, VOCABULARY, max_bytes(1 << 24, 8))?;
    state.vocabulary = vocabulary_of(&bytes).ok_or_else(|| wrong(VOCABULARY, "no list of terms"))?;
    let bytes = read_section(input, NAMES, max_bytes(len as usize, 32))?;
    (state.sources, state.entities) = names_of(&bytes)?;
    let bytes = read_section(input, ENTRIES, max_bytes(len as usize, 128))?;
    let names = (state.sources.all().len(), state.entities.all().len());
    state.entries = entries_of(&bytes, len, names).ok_or_else(|| wrong(ENTRIES, "entries that cannot be"))?;
    let bytes = read_section(input, LINKS, max_bytes(len as usize, 4))?;
    state.links = links_of(&bytes, len).ok_or_else(|| wrong(LINKS, "links that cannot be"))?;
    let bytes = read_section(input, HIDDEN, max_bytes(len as usize + (1 << 24), 8))?;
    (state.hidden, state.hidden_holding) =
        hidden_of(&bytes, len, state.vocabulary.len()).ok_or_else(|| wrong(HIDDEN, "documents that are not there"))?;
    let mut full = Vec::new();
    for _ in 0..len / SEGMENT {
        let bytes = read_section(input, SEGMENTS, 1 << 31)?;
        let mut rest = bytes.as_slice();
        let packed = PackedPostings::decode(&mut rest, state.vocabulary.len()).filter(|_| rest.is_empty());
        full.push(Arc::new(packed.ok_or_else(|| wrong(SEGMENTS, "postings that cannot be"))?));
    }
    let bytes = read_section(input, TAIL, 1 << 33)?;
    let tail = Chunk::decode(&bytes, len % SEGMENT, state.vocabulary.len());
    state.postings = Postings::new(full, tail.ok_or_else(|| wrong(TAIL, "postings that cannot be"))?);
    let words = options.signature.words();
    let bytes = read_section(input, SIGNATURES, max_bytes(len as usize + BLOCK, words as u64 * 8 + 1))?;
    if dimensions > 0 {
        state.planes = Some(Arc::new(Planes::new(options.signature, dimensions)));
    }
    let words = if dimensions > 0 { words } else { 0 };
    state.signatures =
        SignatureTable::decode(&bytes, words, len).ok_or_else(|| wrong(SIGNATURES, "signatures that cannot be"))?;
    Ok(state)
}

fn wrong(tag: &'static str, reason: &str) -> SectionError {
    SectionError::content(tag, reason)
}

fn language_number(language: Language) -> u8 {
    let at = Language::ALL.iter().position(|one| *one == language).expect("all are listed");
    u8::try_from(at).expect("a few languages")
}

fn read_head(options: IndexOptions, input: &mut dyn Read) -> Result<(IndexState, u32, usize), SectionError> {
    let bytes = read_section(input, HEAD, 256)?;
    let mut fields = Fields::new(HEAD, &bytes);
    let version = fields.u16()?;
    if version != VERSION {
        return Err(SectionError::Version { tag: HEAD, found: version, known: VERSION });
    }
    let language = fields.bytes(1)?[0];
    let made = (fields.u16()?, fields.u64()?);
    let signature: SignatureOptions = options.signature;
    if language != language_number(options.language)
        || made != (u16::try_from(signature.bits()).unwrap_or(0), signature.seed)
    {
        return Err(wrong(HEAD, "made with another language or other signatures"));
    }
    let (dimensions, len) = (fields.u32()?, fields.u32()?);
    let (own, context) = (f64::from_bits(fields.u64()?), f64::from_bits(fields.u64()?));
    fields.finish()?;
    if dimensions > 1 << 16 || len == u32::MAX || !own.is_finite() || !context.is_finite() {
        return Err(wrong(HEAD, "numbers that cannot be"));
    }
    let state = IndexState { lengths: Lengths { own, context }, ..IndexState::default() };
    Ok((state, len, dimensions as usize))
}

fn vocabulary_of(bytes: &[u8]) -> Option<Vocabulary> {
    let (words, rest) = bytes.as_chunks();
    let mut vocabulary = Vocabulary::default();
    for (word, symbol) in words.iter().zip(0..) {
        if vocabulary.add(TermId(u64::from_le_bytes(*word))) != symbol {
            return None;
        }
    }
    rest.is_empty().then_some(vocabulary)
}

fn names_bytes(sources: &SourceNames, entities: &EntityNames) -> Vec<u8> {
    let mut bytes = Vec::new();
    let count = |count: usize| u32::try_from(count).expect("fewer names than documents").to_le_bytes();
    bytes.extend_from_slice(&count(sources.all().len()));
    sources.all().iter().for_each(|source| bytes.extend_from_slice(&source.to_le_bytes()));
    bytes.extend_from_slice(&count(entities.all().len()));
    for (name, first) in entities.all() {
        bytes.extend_from_slice(&name.to_le_bytes());
        bytes.extend_from_slice(&first.unwrap_or(0).to_le_bytes());
    }
    bytes
}

fn names_of(bytes: &[u8]) -> Result<(SourceNames, EntityNames), SectionError> {
    let mut fields = Fields::new(NAMES, bytes);
    let (mut sources, mut entities) = (Vec::new(), Vec::new());
    for _ in 0..fields.u32()? {
        sources.push(fields.u64()?);
    }
    for _ in 0..fields.u32()? {
        let (name, first) = (fields.u64()?, fields.u64()?);
        entities.push((name, (first != 0).then_some(first)));
    }
    fields.finish()?;
    Ok((SourceNames::new(sources), EntityNames::new(entities)))
}

fn entries_of(bytes: &[u8], len: u32, names: (usize, usize)) -> Option<EntryTable> {
    let mut rest = bytes;
    let mut table = EntryTable::default();
    let mut last = None;
    for first in (0..len as usize).step_by(BLOCK) {
        let count = (len as usize - first).min(BLOCK);
        let block = PackedEntries::decode(&mut rest, count)?;
        last = block.follows(count, last, names)?;
        if count == BLOCK {
            table.push_packed(block);
        } else {
            block.entries(count).for_each(|entry| table.push(entry));
        }
    }
    rest.is_empty().then_some(table)
}

fn links_of(bytes: &[u8], len: u32) -> Option<Links> {
    let (numbers, rest) = bytes.as_chunks::<4>();
    if numbers.len() != len as usize || !rest.is_empty() {
        return None;
    }
    let mut links = Links::default();
    for ([a, b, c, d], ordinal) in numbers.iter().zip(0_u32..) {
        let (apart, length) = (u16::from_le_bytes([*a, *b]), u16::from_le_bytes([*c, *d]));
        if u32::from(apart) > ordinal % SEGMENT {
            return None;
        }
        links.push(if apart == 0 { NONE } else { ordinal - u32::from(apart) }, length);
    }
    Some(links)
}

fn hidden_of(bytes: &[u8], len: u32, symbols: u32) -> Option<(HiddenSet, Arc<BTreeMap<u32, u32>>)> {
    let mut rest = bytes;
    let mut next = || Some(u32::from_le_bytes(*take(&mut rest)?));
    let mut hidden = HiddenSet::default();
    for _ in 0..next()? {
        let ordinal = next()?;
        if ordinal >= len {
            return None;
        }
        hidden.insert(ordinal);
    }
    let mut holding = BTreeMap::new();
    while let Some(symbol) = next() {
        let documents = next()?;
        if symbol >= symbols || documents > hidden.count() {
            return None;
        }
        holding.insert(symbol, documents);
    }
    Some((hidden, Arc::new(holding)))
}

#[cfg(test)]
mod tests;
