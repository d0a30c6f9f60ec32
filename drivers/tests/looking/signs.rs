//! Faces and writing.

use std::sync::Arc;

use drivers::encoders::{Encoder, EncoderError, Encoders, Face, Filled, Picture, ReadText, WrittenLine};
use drivers::looking::{Labels, Looking};
use drivers::perception::Pace;
use memory_core::reasoning::{LookOrder, SightingKind, Tool, Tools};

use super::{OneFile, lighter, order};

/// A face in the upper half of every picture, a line of writing in its middle, and what it says.
struct FakeSigns;

impl Encoder<Picture<'_>, Vec<Face>> for FakeSigns {
    fn model(&self) -> &str {
        "faces"
    }

    fn encode(&self, _: &Picture<'_>) -> Result<Vec<Face>, EncoderError> {
        Ok(vec![Face { score: 0.9, bounds: [0.4, 0.1, 0.5, 0.3], landmarks: [[10.0, 10.0]; 5] }])
    }
}

impl Encoder<Picture<'_>, Vec<WrittenLine>> for FakeSigns {
    fn model(&self) -> &str {
        "lines"
    }

    fn encode(&self, _: &Picture<'_>) -> Result<Vec<WrittenLine>, EncoderError> {
        Ok(vec![WrittenLine { score: 0.9, bounds: [0.2, 0.4, 0.8, 0.6] }])
    }
}

impl Encoder<Picture<'_>, ReadText> for FakeSigns {
    fn model(&self) -> &str {
        "reader"
    }

    fn encode(&self, _: &Picture<'_>) -> Result<ReadText, EncoderError> {
        Ok(ReadText { text: "Wet  Paint".to_owned(), confidence: 0.8 })
    }
}

#[test]
fn faces_and_writing_are_looked_for_where_the_question_asks_for_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = lighter(folder.path(), "a.mkv", 10, 25);
    let sign = Arc::new(FakeSigns);
    let filled = Filled {
        faces: Some(Arc::clone(&sign) as _),
        text_detection: Some(Arc::clone(&sign) as _),
        text_recognition: Some(sign),
        ..Filled::default()
    };
    let labels = Labels::default();
    let looking = Looking::new(Encoders::ready(filled), labels, Arc::new(OneFile(Some(path))), Pace::default());
    let reach = looking.reach(Tool::SceneSnapper);
    assert!(reach.faces && reach.writing && !looking.reach(Tool::IntervalLocaliser).writing);
    let unasked = looking.look(&LookOrder { pictures: 3, ..order(Tool::SceneSnapper, &|| false) }).unwrap();
    assert!(unasked.sightings.is_empty(), "{unasked:?}");
    let asked = [SightingKind::Face, SightingKind::Writing];
    let order = LookOrder { pictures: 3, asked: &asked, ..order(Tool::SceneSnapper, &|| false) };
    let look = looking.look(&order).unwrap();
    let seen: Vec<_> = look.sightings.iter().map(|seen| (seen.kind, seen.label.as_str(), seen.text.as_str())).collect();
    assert!(seen.contains(&(SightingKind::Writing, "Wet Paint", "The writing \"Wet Paint\" is in view.")), "{seen:?}");
    let faces: Vec<_> = look.sightings.iter().filter(|seen| seen.kind == SightingKind::Face).collect();
    assert!(faces.len() == 1 && faces[0].text.contains("face"), "followed over the pictures: {seen:?}");
}
