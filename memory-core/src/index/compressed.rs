//! The write side.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::analysis::{Analyzer, Language, name_hash, words};
use super::content::ContentStore;
use super::entries::{EntityNames, Entry, EntryTable, HiddenSet, Links, NONE, SourceNames};
use super::fusion::{Fusion, TERM_WINDOW};
use super::postings::{Chunk, Postings, SEGMENT};
use super::search::Snapshot;
use super::signature::{Planes, SignatureOptions, SignatureTable};
use super::terms::{TermStream, Terms};
use super::token_signatures::{TokenSignatureOptions, TokenSignatures};
use super::vocabulary::Vocabulary;
use super::{Document, Index, Search};
use crate::{EpisodeId, EventId};

/// Maximum time between two events of one source that are context of each other.
const MAX_NEIGHBOUR_GAP: std::time::Duration = std::time::Duration::from_secs(60);

/// Maximum number of new terms that one document can add. The others share buckets.
const MAX_NEW_TERMS: usize = 4_096;

/// How an index is made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IndexOptions {
    /// Weights of the signals.
    pub fusion: Fusion,
    /// How embeddings become signatures.
    pub signature: SignatureOptions,
    /// Language of the stemmer.
    pub language: Language,
    /// Keep the texts, as tokens in a wavelet matrix. Without them snippets come from the store, and an id or a long number is found
    /// by its term alone, which it may share with others.
    pub texts: bool,
    /// Search by the paper's token signatures alone, instead of by words, meaning and context.
    pub token_signatures: Option<TokenSignatureOptions>,
}

impl Default for IndexOptions {
    fn default() -> Self {
        Self {
            fusion: Fusion::default(),
            signature: SignatureOptions::default(),
            language: Language::default(),
            texts: true,
            token_signatures: None,
        }
    }
}

/// The compressed index.
///
/// Everything a snapshot holds is immutable or filled once, so a snapshot is a few pointers, readers take no lock, and
/// appending waits for no reader. What a document leaves behind:
///
/// - its text as tokens in a wavelet matrix, from which it comes back exactly;
/// - its terms in another, and in postings derived from it;
/// - its metadata in packed columns, and its links with the neighbours in time;
/// - a signature of its embedding.
pub struct CompressedIndex {
    pub(super) options: IndexOptions,
    analyzer: Analyzer,
    pub(super) state: IndexState,
    pub(super) terms: TermStream,
    pub(super) content: ContentStore,
    token_signatures: Option<TokenSignatures>,
    known_sources: HashMap<u64, u32>,
    known_entities: HashMap<(u64, Option<u64>), u32>,
    /// The last document of every source in the newest segment.
    last_of_source: HashMap<u32, u32>,
}

/// State that a snapshot shares with the writer, without the term stream.
#[derive(Clone, Default)]
pub(super) struct IndexState {
    pub vocabulary: Vocabulary,
    pub postings: Postings,
    pub entries: EntryTable,
    pub links: Links,
    pub sources: SourceNames,
    pub entities: EntityNames,
    pub hidden: HiddenSet,
    /// How many hidden documents hold a symbol.
    pub hidden_holding: Arc<BTreeMap<u32, u32>>,
    pub lengths: Lengths,
    /// The hyperplanes of the space in use.
    pub planes: Option<Arc<Planes>>,
    pub signatures: SignatureTable,
}

impl IndexState {
    /// Returns the position of a document's terms in the stream.
    pub fn terms_of(&self, ordinal: u32, terms: &Terms) -> Range<u64> {
        let end = ordinal + 1;
        let end = if end < self.entries.len() { self.entries.terms_at(end) } else { terms.len() as u64 };
        self.entries.terms_at(ordinal)..end
    }
}

/// Sums of lengths, for BM25's mean.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Lengths {
    /// Terms of all documents.
    pub own: f64,
    /// The same, weighted, of all documents with their neighbours.
    pub context: f64,
}

/// Bytes that the parts of an index take in memory. Shared by the writer and all snapshots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IndexBytes {
    /// The texts, and the writer's table of their words.
    pub content: usize,
    /// The term stream.
    pub terms: usize,
    /// Postings.
    pub postings: usize,
    /// Signatures.
    pub signatures: usize,
    /// Metadata, links and names.
    pub metadata: usize,
    /// The table of symbols.
    pub vocabulary: usize,
}

impl IndexBytes {
    /// All of it.
    pub fn total(&self) -> usize {
        self.content + self.terms + self.postings + self.signatures + self.metadata + self.vocabulary
    }
}

impl CompressedIndex {
    /// An empty index.
    pub fn new(options: IndexOptions) -> Self {
        Self::from_state(options, IndexState::default(), TermStream::new(), ContentStore::new())
    }

    /// An index that goes on from a state.
    pub(super) fn from_state(
        options: IndexOptions,
        state: IndexState,
        terms: TermStream,
        content: ContentStore,
    ) -> Self {
        let mut last_of_source = HashMap::new();
        let len = state.entries.len();
        for ordinal in len - len % SEGMENT..len {
            last_of_source.insert(state.entries.get(ordinal).source, ordinal);
        }
        let token_signatures = options.token_signatures.map(|options| {
            let (known, stream) = (state.vocabulary.terms(), terms.snapshot());
            let mut signatures = TokenSignatures::new(options);
            for ordinal in 0..len {
                let symbols = stream.symbols(state.terms_of(ordinal, &stream));
                signatures.append(&symbols.iter().map(|symbol| known[*symbol as usize]).collect::<Vec<_>>());
            }
            signatures
        });
        Self {
            options,
            analyzer: Analyzer::for_language(options.language).sharing_codes(),
            known_sources: state.sources.numbers(),
            known_entities: state.entities.numbers(),
            last_of_source,
            state,
            terms,
            content,
            token_signatures,
        }
    }

    /// Returns the number of bytes that the index takes in memory.
    pub fn bytes(&self) -> IndexBytes {
        let state = &self.state;
        IndexBytes {
            content: self.content.snapshot().bytes() + self.content.writer_bytes(),
            terms: self.terms.snapshot().matrix().bytes(),
            postings: state.postings.bytes(),
            signatures: state.signatures.bytes(),
            metadata: state.entries.bytes()
                + state.links.bytes()
                + state.sources.bytes()
                + state.entities.bytes()
                + state.hidden.bytes()
                + state.hidden_holding.len() * 8,
            vocabulary: state.vocabulary.bytes(),
        }
    }

    /// The state of now.
    pub(super) fn current(&self) -> Snapshot {
        Snapshot {
            options: self.options,
            state: self.state.clone(),
            terms: self.terms.snapshot(),
            content: self.content.snapshot(),
            token_signatures: self.token_signatures.as_ref().map(TokenSignatures::snapshot),
            last_lines: OnceLock::new(),
        }
    }

    /// Appends documents that lie in one segment.
    fn append_within(&mut self, documents: &[Document]) {
        let mut occurrences = Vec::with_capacity(documents.len() * 16);
        for document in documents {
            self.append_one(document, &mut occurrences);
        }
        let len = u32::try_from(documents.len()).expect("a segment has 65,536 documents");
        self.state.postings.push(Chunk::build(len, occurrences));
        if self.state.postings.tail_len() == SEGMENT {
            let links = self.state.links.segment((self.state.links.len() / SEGMENT) as usize - 1);
            self.state.postings.seal(&|place| u8::try_from(links.length(place)).unwrap_or(u8::MAX));
            self.last_of_source.clear();
        }
    }

    fn append_one(&mut self, document: &Document, occurrences: &mut Vec<(u32, u16)>) {
        let state = &mut self.state;
        debug_assert!(
            state.entries.len() == 0 || state.entries.get(state.entries.len() - 1).id < document.id,
            "documents are appended in growing order of ids"
        );
        let ordinal = state.entries.len();
        let mut terms = Vec::new();
        let mut push = |term| terms.push(term);
        if let Some(entity) = &document.entity {
            self.analyzer.for_each_term(entity, &mut push);
        }
        self.analyzer.for_each_term(&document.text, &mut push);
        let mut new = 0;
        let symbols: Vec<u32> = terms
            .iter()
            .map(|term| {
                let is_new = !state.vocabulary.has(*term);
                new += usize::from(is_new);
                // A text of nothing but new words is no text.
                state.vocabulary.add(if is_new && new > MAX_NEW_TERMS { term.bucket() } else { *term })
            })
            .collect();
        let place = u16::try_from(ordinal % SEGMENT).expect("below 65,536");
        occurrences.extend(symbols.iter().map(|symbol| (*symbol, place)));
        let terms_at = self.terms.len() as u64;
        if self.terms.append(&symbols, state.vocabulary.len()).is_err() {
            // Beyond 2^32 terms the newest documents are found by their postings alone.
            tracing::warn!(id = document.id.0, "the term stream is full: no phrase of this event is found");
        } else if let Some(signatures) = &mut self.token_signatures
            && !signatures.append(&terms)
        {
            tracing::warn!(id = document.id.0, "too many token signatures: this event is not found by them");
        }
        // Entries of the content are ordinals: once it is full, it stays as it is.
        if self.options.texts && self.content.len() == ordinal as usize && self.content.append(&document.text).is_err()
        {
            tracing::warn!(id = document.id.0, "the content is full: the texts of later events are in the store alone");
        }
        let entity = document.entity.as_deref().and_then(entity_name);
        let source = state.sources.number(&mut self.known_sources, name_hash([document.source.as_str()]));
        let entity = entity.map(|name| state.entities.number(&mut self.known_entities, name));
        state.entries.push(Entry {
            id: document.id,
            episode: document.episode,
            kind: document.kind,
            modality: document.modality,
            span: document.span,
            session_start: document.stream.map(|stream| document.span.start.saturating_sub(stream.start)),
            source,
            entity,
            terms_at,
        });
        let last = self.last_of_source.insert(source, ordinal).filter(|last| is_near(&state.entries, *last, document));
        let previous = last.unwrap_or(NONE);
        let length = u16::try_from(symbols.len()).unwrap_or(u16::MAX);
        state.lengths.count(length, previous, &state.links);
        state.links.push(previous, length);
    }
}

fn is_near(entries: &EntryTable, earlier: u32, later: &Document) -> bool {
    let (earlier, later) = (entries.span(earlier), later.span);
    later.start.since(earlier.end).max(earlier.start.since(later.end)) <= MAX_NEIGHBOUR_GAP
}

/// Hash of an entity's name, and of its first word if it has several; none if there is no word in it.
fn entity_name(name: &str) -> Option<(u64, Option<u64>)> {
    let words: Vec<String> = words(name).collect();
    let first = (words.len() > 1).then(|| name_hash([words[0].as_str()]));
    (!words.is_empty()).then(|| (name_hash(words.iter().map(String::as_str)), first))
}

impl Lengths {
    /// Counts a document that comes after `previous` and is not linked yet.
    fn count(&mut self, length: u16, previous: u32, links: &Links) {
        let own = f64::from(length);
        self.own += own;
        self.context += f64::from(TERM_WINDOW[0]) * own;
        let mut neighbour = previous;
        for weight in &TERM_WINDOW[1..] {
            if neighbour == NONE {
                break;
            }
            self.context += f64::from(*weight) * (own + f64::from(links.length(neighbour)));
            neighbour = links.previous(neighbour);
        }
    }
}

impl Index for CompressedIndex {
    fn append(&mut self, documents: &[Document]) {
        let mut rest = documents;
        while !rest.is_empty() {
            let room = SEGMENT - self.state.entries.len() % SEGMENT;
            let (now, later) = rest.split_at(rest.len().min(room as usize));
            self.append_within(now);
            rest = later;
        }
    }

    fn use_space(&mut self, dimensions: usize) {
        self.state.planes = Some(Arc::new(Planes::new(self.options.signature, dimensions)));
        self.state.signatures = SignatureTable::new(self.options.signature.words());
    }

    fn embed(&mut self, vectors: &[(EventId, Vec<i16>)]) {
        let Some(planes) = &self.state.planes else { return };
        for (id, vector) in vectors {
            if let Some(ordinal) = self.state.entries.find(*id)
                && let Some(signature) = planes.signature(vector)
            {
                self.state.signatures.set(ordinal, &signature);
            }
        }
    }

    fn hide(&mut self, ids: &[EventId]) {
        let terms = self.terms.snapshot();
        let state = &mut self.state;
        for id in ids {
            let Some(ordinal) = state.entries.find(*id) else { continue };
            if state.hidden.insert(ordinal) {
                let held: BTreeSet<u32> = terms.symbols(state.terms_of(ordinal, &terms)).into_iter().collect();
                let counts = Arc::make_mut(&mut state.hidden_holding);
                held.into_iter().for_each(|symbol| *counts.entry(symbol).or_default() += 1);
            }
        }
    }

    fn regroup(&mut self, moves: &[(EventId, EpisodeId)]) {
        for (id, episode) in moves {
            if let Some(ordinal) = self.state.entries.find(*id) {
                self.state.entries.regroup(ordinal, *episode);
            }
        }
    }

    fn snapshot(&self) -> Arc<dyn Search> {
        Arc::new(self.current())
    }
}
