//! The reply topic of a request, and the error codes.

use bytes::Bytes;
use serde_json::{Value, json};

use super::client::Message;
use super::fields::Fields;
use super::topics::{ReplyPolicy, Topics};
pub use crate::json::refusal::{Code, Refusal};

/// Destination of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyAddress {
    pub topic: String,
    pub correlation: Option<Bytes>,
}

/// The parts of a request that say where its answer goes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Route {
    /// The id as the sender wrote it: a text or a number.
    pub request_id: Option<Value>,
    /// `None` where the sender named no way.
    pub address: Option<ReplyAddress>,
    /// Set where the way the sender named is not allowed; `address` is then the default one, if there is one.
    pub refused: Option<Refusal>,
}

/// Decides where the answer to a request goes.
pub struct Router<'a> {
    pub topics: &'a Topics,
    pub policy: &'a ReplyPolicy,
}

impl Router<'_> {
    /// `fields` is what could be read of the payload.
    pub fn route(&self, message: &Message, fields: Option<Fields<'_>>) -> Route {
        let mut route = Route::default();
        let mut default_topic = None;
        if let Some(id) = fields.and_then(|fields| fields.value("request_id")) {
            let text = match id {
                Value::String(text) => Some(text.clone()),
                Value::Number(number) => Some(number.to_string()),
                _ => None,
            };
            match text {
                Some(text) => {
                    default_topic = self.topics.answer(&text).ok();
                    route.request_id = Some(id.clone());
                }
                None => route.refused = Some(super::fields::wrong("request_id", "a text or a number", id)),
            }
        }
        let named = match (&message.response_topic, fields.map(|fields| fields.text("reply_to"))) {
            (Some(topic), _) => Some(topic.clone()),
            (None, Some(Ok(topic))) => topic.map(str::to_owned),
            (None, Some(Err(refusal))) => {
                route.refused = Some(refusal);
                None
            }
            (None, None) => None,
        };
        let topic = match named.map(|topic| self.policy.check(&topic).map(|()| topic)) {
            Some(Ok(topic)) => Some(topic),
            Some(Err(error)) => {
                route.refused = Some(Refusal::new(Code::Forbidden, error.to_string()));
                default_topic
            }
            None => default_topic,
        };
        route.address = topic.map(|topic| ReplyAddress { topic, correlation: message.correlation.clone() });
        route
    }

    /// Reads the destination of the reply from a payload that is too large to be read as a whole.
    pub fn route_unread(&self, message: &Message) -> Route {
        #[derive(serde::Deserialize)]
        struct Envelope {
            request_id: Option<Value>,
            reply_to: Option<Value>,
        }
        let fields = serde_json::from_slice::<Envelope>(&message.payload).ok().map(|envelope| {
            let mut fields = serde_json::Map::new();
            fields.extend(envelope.request_id.map(|id| ("request_id".to_owned(), id)));
            fields.extend(envelope.reply_to.map(|topic| ("reply_to".to_owned(), topic)));
            fields
        });
        self.route(message, fields.as_ref().map(Fields))
    }
}

impl Route {
    /// Adds the request's id to a body.
    pub fn seal(&self, mut body: Value) -> Value {
        if let (Some(id), Some(body)) = (&self.request_id, body.as_object_mut()) {
            body.insert("request_id".to_owned(), id.clone());
        }
        body
    }

    /// The body of an error.
    pub fn error(&self, refusal: &Refusal) -> Value {
        self.seal(json!({ "error": refusal }))
    }
}

/// A payload as the contract reads it.
#[derive(Debug, PartialEq)]
pub enum Payload {
    /// Not JSON, or a JSON text.
    Text(String),
    /// A JSON object or list.
    Json(Value),
}

/// Reads a payload. What begins like a JSON object or list must be one.
///
/// # Errors
/// Says what is wrong with it and where.
pub fn read_payload(bytes: &[u8]) -> Result<Payload, Refusal> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        Refusal::bad(format!("the payload is not UTF-8: byte {} does not belong there", error.valid_up_to()))
    })?;
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Err(Refusal::bad("the payload is empty"));
    }
    let like_json = trimmed.starts_with(['{', '[']);
    match serde_json::from_str::<Value>(trimmed) {
        Ok(Value::String(text)) => Ok(Payload::Text(text)),
        Ok(value) if like_json => Ok(Payload::Json(value)),
        Err(error) if like_json => Err(Refusal::bad(format!("the payload is not JSON: {error}"))),
        Ok(_) | Err(_) => Ok(Payload::Text(trimmed.to_owned())),
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A message as the broker delivers it.
    pub fn message(payload: impl Into<Bytes>) -> Message {
        Message { topic: "engram/kitchen/ask".to_owned(), payload: payload.into(), ..Message::default() }
    }

    fn route(message: &Message, body: &Value) -> Route {
        let topics = Topics::new("engram", "kitchen").unwrap();
        let policy = ReplyPolicy::new("engram", None);
        Router { topics: &topics, policy: &policy }.route(message, body.as_object().map(Fields))
    }

    fn topic(route: &Route) -> Option<&str> {
        route.address.as_ref().map(|address| address.topic.as_str())
    }

    #[test]
    fn the_response_topic_wins_and_the_correlation_comes_back() {
        let mut message = message("");
        message.response_topic = Some("reply/phone".to_owned());
        message.correlation = Some(Bytes::from_static(&[0, 255]));
        let route = route(&message, &json!({"reply_to": "reply/other", "request_id": "q-1"}));
        assert_eq!(topic(&route), Some("reply/phone"));
        assert_eq!(route.address.unwrap().correlation, Some(Bytes::from_static(&[0, 255])));
    }

    #[test]
    fn without_a_response_topic_the_payload_says_where() {
        assert_eq!(topic(&route(&message(""), &json!({"reply_to": "reply/a", "request_id": 7}))), Some("reply/a"));
        assert_eq!(topic(&route(&message(""), &json!({"request_id": 7}))), Some("engram/kitchen/answer/7"));
        assert_eq!(topic(&route(&message(""), &json!({"question": "x"}))), None);
    }

    #[test]
    fn a_forbidden_way_is_told_on_the_default_one() {
        let route = route(&message(""), &json!({"reply_to": "home/lights", "request_id": "q-1"}));
        assert_eq!(topic(&route), Some("engram/kitchen/answer/q-1"));
        assert_eq!(route.refused.unwrap().code, Code::Forbidden);
    }

    #[test]
    fn an_id_that_is_no_topic_level_gives_no_default_way() {
        assert_eq!(topic(&route(&message(""), &json!({"request_id": "../cmd/#"}))), None);
    }

    #[test]
    fn an_envelope_too_large_to_read_still_says_where_the_error_goes() {
        let payload = json!({"question": "x".repeat(1 << 20), "request_id": "q-9"}).to_string();
        let topics = Topics::new("engram", "kitchen").unwrap();
        let policy = ReplyPolicy::new("engram", None);
        let route = Router { topics: &topics, policy: &policy }.route_unread(&message(payload));
        assert_eq!(topic(&route), Some("engram/kitchen/answer/q-9"));
    }

    #[test]
    fn a_payload_is_text_unless_it_begins_like_json() {
        assert_eq!(read_payload(b" where is the mug? "), Ok(Payload::Text("where is the mug?".to_owned())));
        assert_eq!(read_payload(b"\"where?\""), Ok(Payload::Text("where?".to_owned())));
        assert_eq!(read_payload(b"42"), Ok(Payload::Text("42".to_owned())));
        assert_eq!(read_payload(b"{\"a\":1}"), Ok(Payload::Json(json!({"a": 1}))));
    }

    #[test]
    fn payloads_that_can_not_be_read_say_why() {
        for (payload, word) in [
            (&b""[..], "empty"),
            (b"  \n", "empty"),
            (b"\xff\xfe", "UTF-8"),
            (b"{\"question\": ", "JSON"),
            ("[".repeat(10_000).as_bytes(), "JSON"),
            (["{\"a\":".repeat(10_000), "1".to_owned(), "}".repeat(10_000)].concat().as_bytes(), "recursion"),
        ] {
            let refusal = read_payload(payload).unwrap_err();
            assert_eq!(refusal.code, Code::BadRequest);
            assert!(refusal.message.contains(word), "{}", refusal.message);
        }
    }
}
