//! Conversations, their questions, and φ from a file.

use std::collections::HashMap;
use std::path::Path;

use memory_core::index::Document;
use memory_core::{EpisodeId, EventId, Kind, Modality, TimeSpan, Timestamp};
use serde_json::Value;

use crate::Failure;

/// A file of vectors as `embed` of `drivers` writes it: dimensions, then per text its length in bytes, the text and the vector (u32 and
/// f32, little-endian).
pub struct Vectors(HashMap<String, Vec<f32>>);

impl Vectors {
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let bytes = std::fs::read(path)?;
        let mut rest = bytes.as_slice();
        let mut take = |count: usize| {
            let (head, tail) = rest.split_at_checked(count).ok_or("the file of vectors ends early")?;
            rest = tail;
            Ok::<&[u8], Failure>(head)
        };
        let dimensions = u32::from_le_bytes(take(4)?.try_into()?) as usize;
        let mut vectors = HashMap::new();
        while let Ok(length) = take(4) {
            let length = u32::from_le_bytes(length.try_into()?) as usize;
            let text = String::from_utf8(take(length)?.to_vec())?;
            let vector = take(dimensions * 4)?.as_chunks::<4>().0.iter().map(|it| f32::from_le_bytes(*it)).collect();
            vectors.insert(text, vector);
        }
        Ok(Self(vectors))
    }

    pub fn get(&self, text: &str) -> Option<&Vec<f32>> {
        self.0.get(text)
    }
}

/// What was said, by whom, and where φ finds it.
pub struct Said {
    pub id: String,
    pub document: Document,
    pub passage: String,
}

pub struct Asked {
    pub question: String,
    pub evidence: Vec<String>,
}

pub struct Conversation {
    pub said: Vec<Said>,
    pub asked: Vec<Asked>,
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn said(place: usize, line: &str) -> Result<Said, Failure> {
    let line: Value = serde_json::from_str(line)?;
    let (spoken, entity) = (text(&line["text"]), text(&line["entity"]));
    let attributes = line["attributes"].as_object().into_iter().flatten();
    let attributes: Vec<String> = attributes.filter_map(|(_, value)| value.as_str().map(str::to_owned)).collect();
    // As the index's own `passage`: who, what, and in brackets what is no identifier.
    let mut passage = format!("{entity}: {spoken}");
    let identifier = |it: &&String| !it.contains(char::is_whitespace) && it.contains(|c: char| c.is_ascii_digit());
    attributes.iter().filter(|it| !identifier(it)).for_each(|it| passage.push_str(&format!(" [{it}]")));
    let all = std::iter::once(&spoken).chain(&attributes).map(String::as_str).collect::<Vec<_>>().join("\n");
    Ok(Said {
        id: text(&line["id"]),
        passage,
        document: Document {
            id: EventId(place as u64 + 1),
            episode: EpisodeId(1),
            kind: Kind::Text,
            modality: Modality::Audio,
            span: TimeSpan::new(Timestamp::parse(&text(&line["at"]))?, Timestamp::parse(&text(&line["until"]))?),
            stream: None,
            source: text(&line["source"]),
            entity: Some(entity),
            text: all,
        },
    })
}

/// Every conversation of a folder, in order of names.
pub fn conversations(folder: &Path) -> Result<Vec<Conversation>, Failure> {
    let mut folders: Vec<_> = std::fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    folders.sort_by_key(std::fs::DirEntry::path);
    let read = |folder: &Path| {
        let lines = std::fs::read_to_string(folder.join("observations.jsonl"))?;
        let questions: Value = serde_json::from_str(&std::fs::read_to_string(folder.join("questions.json"))?)?;
        let asked = questions["questions"].as_array().into_iter().flatten().map(|one| Asked {
            question: text(&one["question"]),
            evidence: one["evidence"].as_array().into_iter().flatten().map(text).collect(),
        });
        Ok(Conversation {
            said: lines.lines().enumerate().map(|(place, line)| said(place, line)).collect::<Result<_, Failure>>()?,
            asked: asked.collect(),
        })
    };
    folders.iter().map(|folder| read(&folder.path())).collect()
}
