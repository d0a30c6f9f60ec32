//! What goes over the wire: the part of OpenAI's `/chat/completions` that every server speaks.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A request.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChatRequest {
    pub model: String,
    pub messages: Vec<ChatMessage>,
    pub temperature: f32,
    pub seed: u64,
    pub max_tokens: u32,
    pub stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_format: Option<Value>,
}

/// One message of a request.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChatMessage {
    pub role: &'static str,
    /// A text, or a list of parts where there are pictures.
    pub content: Value,
}

impl ChatMessage {
    /// The rules.
    pub fn system(text: impl Into<String>) -> Self {
        Self { role: "system", content: Value::String(text.into()) }
    }

    /// The data, with pictures as data URLs.
    pub fn user(text: String, pictures: &[String]) -> Self {
        if pictures.is_empty() {
            return Self { role: "user", content: Value::String(text) };
        }
        let mut parts = vec![json!({"type": "text", "text": text})];
        parts.extend(pictures.iter().map(|url| json!({"type": "image_url", "image_url": {"url": url}})));
        Self { role: "user", content: Value::Array(parts) }
    }
}

/// The `response_format` that asks for JSON of a schema.
pub fn schema_format(name: &str, schema: &Value) -> Value {
    json!({"type": "json_schema", "json_schema": {"name": name, "strict": true, "schema": schema}})
}

/// The part of a reply that is read. Servers add fields of their own, which are ignored.
#[derive(Debug, Deserialize)]
pub struct ChatReply {
    #[serde(default)]
    pub choices: Vec<ReplyChoice>,
    #[serde(default)]
    pub usage: Option<ReplyUsage>,
}

/// One choice of a reply.
#[derive(Debug, Deserialize)]
pub struct ReplyChoice {
    #[serde(default)]
    pub message: Option<ReplyMessage>,
    #[serde(default)]
    pub finish_reason: Option<String>,
}

/// Text of the model.
#[derive(Debug, Deserialize)]
pub struct ReplyMessage {
    #[serde(default)]
    pub content: Option<String>,
    #[serde(default)]
    pub refusal: Option<String>,
}

/// Token counts of the server.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct ReplyUsage {
    #[serde(default)]
    pub total_tokens: Option<u64>,
}

/// The JSON in what a model said: models that think aloud, or fence their JSON, still mean the object.
pub fn json_within(content: &str) -> &str {
    let mut text = content.trim();
    if let Some(rest) = text.strip_prefix("<think>") {
        text = rest.split_once("</think>").map_or("", |(_, said)| said).trim();
    }
    if let Some(fenced) = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```")) {
        text = fenced.strip_prefix("json").unwrap_or(fenced).trim();
    }
    text
}

/// A bound on the tokens of a text, without the model's own tokenizer: a token has three bytes of English at least.
pub fn estimated_tokens(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_reads_as_servers_expect_it() {
        let schema = json!({"type": "object"});
        let request = ChatRequest {
            model: "tiny".into(),
            messages: vec![ChatMessage::system("Rules."), ChatMessage::user("Data.".into(), &["data:x".into()])],
            temperature: 0.0,
            seed: 1,
            max_tokens: 64,
            stream: false,
            response_format: Some(schema_format("choice", &schema)),
        };
        let parts = json!([
            {"type": "text", "text": "Data."}, {"type": "image_url", "image_url": {"url": "data:x"}}
        ]);
        assert_eq!(
            serde_json::to_value(request).unwrap(),
            json!({
                "model": "tiny", "temperature": 0.0, "seed": 1, "max_tokens": 64, "stream": false,
                "messages": [{"role": "system", "content": "Rules."}, {"role": "user", "content": parts}],
                "response_format": {
                    "type": "json_schema", "json_schema": {"name": "choice", "strict": true, "schema": {"type": "object"}}
                },
            })
        );
    }

    #[test]
    fn the_object_is_found_behind_thoughts_and_within_a_fence() {
        for text in ["{\"a\":1}", " {\"a\":1}\n", "```json\n{\"a\":1}\n```", "<think>{}</think>\n{\"a\":1}"] {
            assert_eq!(json_within(text), "{\"a\":1}", "{text}");
        }
        assert_eq!(json_within("<think>never ends {\"a\":1}"), "");
    }
}
