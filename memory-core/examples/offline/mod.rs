//! A memory in process for the offline benchmarks: events in a vector, the index, and φ looked up in a file.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use memory_core::index::signature::quantise;
use memory_core::index::{CompressedIndex, Document, Index, IndexOptions, Search, passage};
use memory_core::ports::{AnswerExtractor, PortError, TextEmbedder};
use memory_core::recall::Reader;
use memory_core::{AbsentRole, Clock, Episode, EpisodeId, Event, EventId, ReadError, SystemClock};

/// Where the benchmarks lie: `ENGRAM_SHARED`, else `../shared` beside the repository.
pub fn shared() -> PathBuf {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    std::env::var_os("ENGRAM_SHARED").map_or(beside, PathBuf::from)
}

/// φ from a file: dimensions, then per text its length in bytes, the text and the vector (u32 and f32, little-endian).
pub struct VectorFile {
    dimensions: usize,
    vectors: HashMap<String, Vec<f32>>,
    missing: Mutex<BTreeSet<String>>,
}

impl VectorFile {
    /// Reads it.
    ///
    /// # Errors
    /// If it cannot be read or ends early.
    pub fn read(path: &Path) -> Result<Self, Box<dyn std::error::Error>> {
        let bytes = std::fs::read(path)?;
        let mut rest = bytes.as_slice();
        let mut take = |count: usize| -> Result<&[u8], String> {
            let (head, tail) = rest.split_at_checked(count).ok_or("the file of vectors ends early")?;
            rest = tail;
            Ok(head)
        };
        let number = |bytes: &[u8]| -> Result<usize, Box<dyn std::error::Error>> {
            Ok(usize::try_from(u32::from_le_bytes(bytes.try_into()?))?)
        };
        let dimensions = number(take(4)?)?;
        let mut vectors = HashMap::new();
        while let Ok(length) = take(4) {
            let length = number(length)?;
            let text = String::from_utf8(take(length)?.to_vec())?;
            let components = take(dimensions * 4)?.chunks_exact(4);
            let vector = components.map(|bytes| Ok(f32::from_le_bytes(bytes.try_into()?)));
            vectors.insert(text, vector.collect::<Result<Vec<f32>, std::array::TryFromSliceError>>()?);
        }
        Ok(Self { dimensions, vectors, missing: Mutex::default() })
    }

    /// Writes the texts that were asked for in vain, one JSON string a line: `embed` of `drivers` makes their vectors.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write_missing(&self, path: &Path) -> Result<(), Box<dyn std::error::Error>> {
        let missing = self.missing.lock().map_err(|_| "another thread panicked")?;
        let lines: Vec<String> = missing.iter().map(serde_json::to_string).collect::<Result<_, _>>()?;
        Ok(std::fs::write(path, lines.join("\n"))?)
    }

    fn look_up(&self, text: &str) -> Option<&Vec<f32>> {
        let found = self.vectors.get(text);
        if found.is_none()
            && let Ok(mut missing) = self.missing.lock()
        {
            missing.insert(text.to_owned());
        }
        found
    }
}

impl TextEmbedder for VectorFile {
    fn space(&self) -> &str {
        "file"
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// A text that the file lacks gets the zero vector, which is compared with nothing.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, PortError> {
        let vector = |text: &&str| self.look_up(text).cloned().unwrap_or_else(|| vec![0.0; self.dimensions]);
        Ok(texts.iter().map(vector).collect())
    }
}

/// A memory of fixed events.
pub struct Offline {
    events: Vec<Event>,
    search: Arc<dyn Search>,
    embedder: Option<Arc<VectorFile>>,
    /// Whether the first candidates are weighed by their vectors, as the store does, or by signatures alone.
    pub exact: bool,
    /// The reader that extracts answers.
    pub extractor: Option<Arc<dyn AnswerExtractor>>,
    clock: SystemClock,
    zone: jiff::tz::TimeZone,
}

impl Offline {
    /// Indexes events, whose ids are their places.
    pub fn new(events: Vec<Event>, embedder: Option<Arc<VectorFile>>, options: IndexOptions) -> Self {
        let mut index = CompressedIndex::new(options);
        for batch in events.chunks(64) {
            index.append(&batch.iter().map(Document::of).collect::<Vec<_>>());
        }
        if let Some(embedder) = &embedder {
            index.use_space(embedder.dimensions);
            let vectors =
                events.iter().filter_map(|event| Some((event.id, quantise(embedder.look_up(&passage(event))?)?)));
            index.embed(&vectors.collect::<Vec<_>>());
        }
        let search = index.snapshot();
        let (clock, zone) = (SystemClock::new(), jiff::tz::TimeZone::UTC);
        Self { events, search, embedder, exact: true, extractor: None, clock, zone }
    }

    /// How many events have a vector.
    pub fn embedded(&self) -> usize {
        self.search.embedded()
    }
}

impl Reader for Offline {
    fn search(&self) -> &dyn Search {
        &*self.search
    }

    fn event(&self, id: EventId) -> Result<Option<Event>, ReadError> {
        Ok(usize::try_from(id.0).ok().and_then(|place| self.events.get(place)).cloned())
    }

    fn episode(&self, _: EpisodeId) -> Result<Option<Episode>, ReadError> {
        Ok(None)
    }

    fn embedder(&self) -> Option<&dyn TextEmbedder> {
        self.embedder.as_deref().map(|embedder| embedder as &dyn TextEmbedder)
    }

    fn extractor(&self) -> Option<&dyn AnswerExtractor> {
        self.extractor.as_deref()
    }

    fn vector(&self, id: EventId) -> Option<Vec<i16>> {
        let embedder = self.embedder.as_ref().filter(|_| self.exact)?;
        quantise(embedder.look_up(&passage(&self.event(id).ok()??))?)
    }

    fn absent_roles(&self) -> &[AbsentRole] {
        &[]
    }

    fn pending_embeddings(&self) -> u64 {
        0
    }

    fn zone(&self) -> &jiff::tz::TimeZone {
        &self.zone
    }

    fn clock(&self) -> &dyn Clock {
        &self.clock
    }
}
