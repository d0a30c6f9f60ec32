//! Looking again with a vision model: which pictures of an interval show what a question asks, and what they show.

use std::time::Duration;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use drivers::encoders::{ClipViewer, NumberedPictures, ViewedClip};
use serde::Deserialize;
use serde_json::json;

use super::background::Background;
use super::endpoint::Task;
use super::prompt::{marked, plain};
use crate::config::Purpose;

const RULES: &str = include_str!("prompts/look.txt");
/// Maximum number of tokens of a reply.
const REPLY_TOKENS: u32 = 250;
/// Maximum length of a sentence, in characters.
const MAX_SENTENCE_CHARS: usize = 400;

/// Looks at pictures with a model behind an endpoint.
pub struct VisionViewer {
    background: Background,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ViewReply {
    pictures: Vec<usize>,
    seen: String,
    confidence: f32,
}

impl VisionViewer {
    /// A viewer that asks this endpoint.
    pub fn new(background: Background) -> Self {
        Self { background }
    }
}

/// A reply that names only pictures that were shown.
fn checked(said: &str, count: usize) -> Result<ViewedClip, &'static str> {
    let reply: ViewReply = serde_json::from_str(said).map_err(|_| "it was not the JSON object of the schema")?;
    if reply.pictures.iter().any(|number| !(1..=count).contains(number)) {
        return Err("it names a picture that was not shown");
    }
    if !(0.0..=1.0).contains(&reply.confidence) {
        return Err("the confidence was not between 0 and 1");
    }
    let text = plain(&reply.seen);
    if text.chars().count() > MAX_SENTENCE_CHARS {
        return Err("the sentence was too long");
    }
    if reply.pictures.is_empty() != text.is_empty() {
        return Err("it needs both pictures and a sentence, or neither");
    }
    Ok(ViewedClip { numbers: reply.pictures, text, confidence: reply.confidence })
}

impl ClipViewer for VisionViewer {
    fn view(&self, question: &str, pictures: &NumberedPictures, within: Duration) -> Result<ViewedClip, String> {
        let data_url = |grid: &Vec<u8>| format!("data:image/jpeg;base64,{}", BASE64_STANDARD.encode(grid));
        let task = Task {
            purpose: Purpose::Looking,
            rules: RULES,
            data: marked(&json!({"question": plain(question), "pictures": pictures.count})),
            pictures: pictures.grids.iter().map(data_url).collect(),
            schema: json!({
                "type": "object",
                "properties": {
                    "pictures": {"type": "array", "items": {"type": "integer"}},
                    "seen": {"type": "string"},
                    "confidence": {"type": "number"},
                },
                "required": ["pictures", "seen", "confidence"],
                "additionalProperties": false,
            }),
            reply_tokens: REPLY_TOKENS,
        };
        self.background.ask_now(&task, within, |said| checked(said, pictures.count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_names_pictures_that_were_shown_and_says_what_they_show() {
        let good = r#"{"pictures": [2, 3], "seen": "A red cup\nstands on the table.", "confidence": 0.8}"#;
        let viewed = checked(good, 6).unwrap();
        assert_eq!((viewed.numbers, viewed.text.as_str()), (vec![2, 3], "A red cup stands on the table."));
        assert!(checked(r#"{"pictures": [], "seen": "", "confidence": 0}"#, 6).unwrap().numbers.is_empty());
        for (bad, count) in [
            (r#"{"pictures": [7], "seen": "A cup.", "confidence": 0.8}"#, 6),
            (r#"{"pictures": [0], "seen": "A cup.", "confidence": 0.8}"#, 6),
            (r#"{"pictures": [-1], "seen": "A cup.", "confidence": 0.8}"#, 6),
            (r#"{"pictures": [1], "seen": "", "confidence": 0.8}"#, 6),
            (r#"{"pictures": [], "seen": "A cup.", "confidence": 0.8}"#, 6),
            (r#"{"pictures": [1], "seen": "A cup.", "confidence": 8}"#, 6),
            (r#"{"pictures": [1], "seen": "A cup."}"#, 6),
            (r#"{"pictures": [1], "seen": "A cup.", "confidence": 1, "tool": "delete"}"#, 6),
            ("A red cup.", 6),
        ] {
            assert!(checked(bad, count).is_err(), "{bad}");
        }
        let long = format!(r#"{{"pictures": [1], "seen": "{}", "confidence": 1}}"#, "x".repeat(500));
        assert!(checked(&long, 6).is_err());
    }
}
