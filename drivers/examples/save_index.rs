//! Makes a memory with embeddings, and saves the index of one, so that two processors can be compared (`cross/test`).
//!
//! `save_index make DIR` tells a new memory in `DIR` many things, with vectors that depend on the texts alone.
//! `save_index save DIR` builds its index from what is stored there and saves it beside the store.

use std::path::Path;
use std::sync::Arc;

use memory_core::ports::{PortError, TextEmbedder};
use memory_core::store::DirStorage;
use memory_core::{Kind, Memory, MemoryOptions, Observation, SaveIndex, SystemClock, Timestamp, Told};

/// More than fit into one embedding batch and one block of anything in the index.
const EVENTS: u64 = 3_000;
const DIMENSIONS: usize = 384;
const TEXTS: [&str; 5] = [
    "A courier hands over a parcel.",
    "The battery is low and the charger is in the hall.",
    "It rained all night, so the garden path is wet.",
    "Anna put her keys in the blue bowl by the door.",
    "ünïcödé – „Anführung“, 日本語",
];

/// Directions that depend on the text alone. What is stored of them is made once, by one machine.
struct Made;

impl TextEmbedder for Made {
    fn space(&self) -> &str {
        "made for a comparison"
    }

    fn dimensions(&self) -> usize {
        DIMENSIONS
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, PortError> {
        Ok(texts.iter().map(|text| direction(text)).collect())
    }
}

fn direction(text: &str) -> Vec<f32> {
    let mut state = text.bytes().fold(7_u64, |state, byte| state.wrapping_mul(31).wrapping_add(u64::from(byte)));
    let raw: Vec<f32> = (0..DIMENSIONS)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % 2_001) as f32 - 1_000.0
        })
        .collect();
    let length = raw.iter().map(|component| component * component).sum::<f32>().sqrt();
    raw.into_iter().map(|component| component / length).collect()
}

fn told(number: u64) -> Observation {
    let at = 1_763_600_000_000_000 + i64::try_from(number).expect("a small number") * 7_000_000;
    let text = TEXTS[(number % TEXTS.len() as u64) as usize];
    Observation::Told(Told {
        id: Some(format!("o{number}")),
        kind: Kind::Text,
        text: format!("{text} Shelf {}, box {}.", number % 41, number / 5),
        at: Some(Timestamp::from_micros(at)),
        until: None,
        source: "test".to_owned(),
        entity: number.is_multiple_of(3).then(|| format!("Person {}", number % 7)),
        attributes: Default::default(),
        confidence: None,
        redelivered: false,
        ..Told::default()
    })
}

fn open(directory: &Path) -> Result<Memory, Box<dyn std::error::Error>> {
    let options = MemoryOptions {
        zone: jiff::tz::TimeZone::UTC,
        max_bytes: None,
        cache_bytes: 1 << 22,
        index: Default::default(),
    };
    let memory = Memory::open_in(Arc::new(DirStorage::new(directory)), options, Arc::new(SystemClock::new()))?;
    memory.set_text_embedder(Some(Arc::new(Made)));
    Ok(memory)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let (Some(what), Some(directory)) = (words.next(), words.next()) else {
        return Err("say `make` or `save`, and which directory".into());
    };
    let memory = open(Path::new(&directory))?;
    match what.as_str() {
        "make" => {
            memory.observe((0..EVENTS).map(told).collect())?;
            while memory.embed_pending(256)?.embeddings > 0 {}
        }
        "save" => {
            memory.save_index(SaveIndex::Now)?.ok_or("the index was not saved")?;
        }
        other => return Err(format!("`make` or `save`, not {other}").into()),
    }
    Ok(())
}
