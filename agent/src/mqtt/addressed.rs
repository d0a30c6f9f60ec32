//! Reads the payload of any request, and finds where its answer goes.

use serde_json::Value;

use super::client::Message;
use super::fields::Fields;
use super::reply::{Code, Payload, Refusal, Route, Router, read_payload};

/// A request and where its answer goes.
#[derive(Debug)]
pub struct AddressedRequest<T> {
    pub route: Route,
    pub body: Result<T, Refusal>,
}

/// Reads a payload of at most `ceiling` bytes and finds its way back, whatever is wrong with it.
pub fn read_request<T>(
    message: &Message,
    router: &Router<'_>,
    ceiling: usize,
    body: impl FnOnce(&Payload) -> Result<T, Refusal>,
) -> AddressedRequest<T> {
    let size = message.payload.len();
    if size > ceiling {
        let refusal = Refusal::new(Code::TooLarge, format!("the payload has {size} bytes, and {ceiling} is the most"));
        return AddressedRequest { route: router.route_unread(message), body: Err(refusal) };
    }
    match read_payload(&message.payload) {
        Err(refusal) => AddressedRequest { route: router.route(message, None), body: Err(refusal) },
        Ok(payload) => {
            let fields = if let Payload::Json(Value::Object(map)) = &payload { Some(Fields(map)) } else { None };
            AddressedRequest { route: router.route(message, fields), body: body(&payload) }
        }
    }
}

impl<T> AddressedRequest<T> {
    /// A request whose way back is not allowed is not served.
    pub fn only_if_answerable(mut self) -> Self {
        if let Some(refused) = self.route.refused.take() {
            self.body = Err(refused);
        }
        self
    }
}
