//! Captions: the vision model describes a picture of each segment.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use drivers::encoders::Captioner;
use serde::Deserialize;
use serde_json::json;

use super::background::Background;
use super::endpoint::Task;
use super::prompt::plain;
use crate::config::Purpose;

const RULES: &str = include_str!("prompts/caption.txt");
/// Maximum number of tokens of a reply.
const REPLY_TOKENS: u32 = 160;
/// Maximum length of a caption, in characters.
const MAX_CAPTION_CHARS: usize = 400;

/// Describes pictures with a model behind an endpoint.
pub struct VisionCaptioner {
    background: Background,
    backend: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaptionReply {
    caption: String,
}

impl VisionCaptioner {
    /// A captioner that asks this endpoint.
    pub fn new(background: Background) -> Self {
        let backend = format!("{} at {}", background.endpoint().name(), background.endpoint().host());
        Self { background, backend }
    }
}

impl Captioner for VisionCaptioner {
    fn model(&self) -> &str {
        self.background.endpoint().model()
    }

    fn backend(&self) -> &str {
        &self.backend
    }

    fn caption(&self, jpeg: &[u8]) -> Result<String, String> {
        let task = Task {
            purpose: Purpose::Captions,
            rules: RULES,
            data: "Describe this picture. Reply with the JSON object.".to_owned(),
            pictures: vec![format!("data:image/jpeg;base64,{}", BASE64_STANDARD.encode(jpeg))],
            schema: json!({
                "type": "object",
                "properties": {"caption": {"type": "string"}},
                "required": ["caption"],
                "additionalProperties": false,
            }),
            reply_tokens: REPLY_TOKENS,
        };
        let check = |said: &str| {
            let reply: CaptionReply =
                serde_json::from_str(said).map_err(|_| "it was not the JSON object of the schema")?;
            if reply.caption.chars().count() > MAX_CAPTION_CHARS {
                return Err("the caption was too long");
            }
            Ok(plain(&reply.caption))
        };
        self.background.ask(&task, check).map_err(|error| format!("{}: {error}", self.background.endpoint().name()))
    }
}
