//! Gists: the model chooses the lines of a summary. It writes none.

use memory_core::ports::{GistSelector, PortError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::background::Background;
use super::endpoint::Task;
use super::prompt::{marked, plain};
use super::{LlmError, endpoint::Endpoint};
use crate::config::Purpose;

const RULES: &str = include_str!("prompts/gist.txt");
/// Maximum number of tokens of a reply: a list of numbers.
const REPLY_TOKENS: u32 = 800;

/// Chooses lines with a model.
pub struct LineChooser {
    background: Background,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GistReply {
    lines: Vec<usize>,
}

impl LineChooser {
    /// A chooser that asks this endpoint.
    pub fn new(background: Background) -> Self {
        Self { background }
    }
}

/// Returns the lines that fit into the context, from the begin.
fn data(lines: &[String], words: usize, endpoint: &Endpoint, schema: &Value) -> Option<String> {
    let room = endpoint.room(RULES, schema, REPLY_TOKENS);
    let numbered = lines.iter().enumerate().map(|(place, line)| json!({"number": place + 1, "text": plain(line)}));
    let data = marked(&json!({"words": words, "lines": numbered.collect::<Vec<_>>()}));
    (data.len() <= room).then_some(data)
}

impl GistSelector for LineChooser {
    fn select(&self, lines: &[String], words: usize) -> Result<Vec<usize>, PortError> {
        let schema = json!({
            "type": "object",
            "properties": {"lines": {"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": lines.len()}}},
            "required": ["lines"],
            "additionalProperties": false,
        });
        let data = data(lines, words, self.background.endpoint(), &schema)
            .ok_or_else(|| self.background.port_error(&LlmError::TooLong(self.background.endpoint().context())))?;
        let task = Task {
            purpose: Purpose::Gists,
            rules: RULES,
            data,
            pictures: Vec::new(),
            schema,
            reply_tokens: REPLY_TOKENS,
        };
        let check = |said: &str| {
            let reply: GistReply =
                serde_json::from_str(said).map_err(|_| "it was not the JSON object of the schema")?;
            if reply.lines.is_empty() {
                return Err("it chose no line");
            }
            let place = |number: usize| number.checked_sub(1).filter(|place| *place < lines.len());
            let places =
                reply.lines.into_iter().map(|number| place(number).ok_or("it chose a line that was not given"));
            places.collect()
        };
        self.background.ask(&task, check).map_err(|error| self.background.port_error(&error))
    }
}
