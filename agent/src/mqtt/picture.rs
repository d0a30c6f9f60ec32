//! `cmd/picture`: what a camera saw, as an image in the reply.

use std::time::Duration;

use memory_core::EventPage;
use serde_json::{Value, json};

use super::ask::refusal;
use super::commands::{self, Get};
use super::context::Context;
use super::fields::Fields;
use super::reply::{Code, Refusal};
use crate::media::{Moment, PictureError};

/// Pixels across where a request names no number, and at most.
const USUAL_WIDTH: u64 = 640;
const MAX_WIDTH: u64 = 1280;
/// How long a picture may take, waiting included.
const PATIENCE: Duration = Duration::from_secs(7);

/// Answers it.
pub async fn run(context: &Context, fields: Fields<'_>) -> Result<Value, Refusal> {
    let width = fields.count("max_width")?.unwrap_or(USUAL_WIDTH).clamp(16, MAX_WIDTH);
    let (name, id, moment) = match commands::read_get(fields)? {
        Get::Event(id) => {
            let event = context.service.event(id).await.map_err(|failure| refusal(&failure))?;
            let event = event.ok_or_else(|| gone("event", &id.to_string()))?;
            ("event", id.to_string(), Moment::of_event(&event))
        }
        Get::Episode(id, _) => {
            let one = EventPage { after: None, limit: 1, bytes: 0 };
            let page = context.service.episode(id, one).await.map_err(|failure| refusal(&failure))?;
            let page = page.ok_or_else(|| gone("episode", &id.to_string()))?;
            ("episode", id.to_string(), Moment::of_episode(&page.episode))
        }
    };
    let width = u32::try_from(width).unwrap_or(u32::MAX);
    let taken = tokio::time::timeout(PATIENCE, context.pictures.picture(&moment, width)).await;
    let still = match taken {
        Ok(Ok(still)) => still,
        Ok(Err(error @ PictureError::Nothing)) => return Err(Refusal::bad(format!("{id}: {error}"))),
        Ok(Err(error @ PictureError::Busy)) => {
            return Err(Refusal::new(Code::Busy, format!("{error}; try again in a moment")));
        }
        Ok(Err(error)) => return Err(Refusal::new(Code::Internal, format!("{id}: {error}"))),
        Err(_elapsed) => {
            let message = format!("{id}: no picture within {} s; try again in a moment", PATIENCE.as_secs());
            return Err(Refusal::new(Code::Deadline, message));
        }
    };
    let mut picture = json!({
        "at": moment.at().format(&context.zone), "media_type": "image/jpeg",
        "width": still.width, "height": still.height, "data": base64(&still.jpeg),
    });
    picture[name] = id.into();
    Ok(json!({ "picture": picture }))
}

fn gone(what: &str, id: &str) -> Refusal {
    Refusal::bad(format!("there is no {what} {id}, or it was forgotten"))
}

/// RFC 4648, with padding.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * place) & 63) as usize];
            text.push(if place <= group.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_standard() {
        // RFC 4648, 10.
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xff, 0xfe, 0xfd]), "//79");
    }
}
