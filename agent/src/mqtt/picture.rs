//! `cmd/picture`: what a camera saw, as an image in the reply.

use std::time::Duration;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use memory_core::EventPage;
use serde_json::{Value, json};

use super::ask::refusal;
use super::context::Context;
use super::episodes::{self, Get};
use super::fields::Fields;
use super::reply::{Code, Refusal};
use crate::media::{PictureError, PictureMoment};

/// Default and maximum width of a picture, in pixels.
const DEFAULT_WIDTH: u64 = 640;
const MAX_WIDTH: u64 = 1280;
/// Maximum time for a picture, waiting included.
const PICTURE_TIMEOUT: Duration = Duration::from_secs(7);

/// Answers it.
pub async fn run(context: &Context, fields: Fields<'_>) -> Result<Value, Refusal> {
    let width = fields.count("max_width")?.unwrap_or(DEFAULT_WIDTH).clamp(16, MAX_WIDTH);
    let (name, id, moment) = match episodes::read_get(fields)? {
        Get::Event(id) => {
            let event = context.service.event(id).await.map_err(|failure| refusal(&failure))?;
            let event = event.ok_or_else(|| gone("event", &id.to_string()))?;
            ("event", id.to_string(), PictureMoment::of_event(&event))
        }
        Get::Episode(id, _) => {
            let one = EventPage { after: None, limit: 1, bytes: 0 };
            let page = context.service.episode(id, one).await.map_err(|failure| refusal(&failure))?;
            let page = page.ok_or_else(|| gone("episode", &id.to_string()))?;
            ("episode", id.to_string(), PictureMoment::of_episode(&page.episode))
        }
    };
    let width = u32::try_from(width).unwrap_or(u32::MAX);
    let taken = tokio::time::timeout(PICTURE_TIMEOUT, context.pictures.picture(&moment, width)).await;
    let still = match taken {
        Ok(Ok(still)) => still,
        Ok(Err(error @ PictureError::Nothing)) => return Err(Refusal::bad(format!("{id}: {error}"))),
        Ok(Err(error @ PictureError::Busy)) => {
            return Err(Refusal::new(Code::Busy, format!("{error}; try again in a moment")));
        }
        Ok(Err(error)) => return Err(Refusal::new(Code::Internal, format!("{id}: {error}"))),
        Err(_elapsed) => {
            let message = format!("{id}: no picture within {} s; try again in a moment", PICTURE_TIMEOUT.as_secs());
            return Err(Refusal::new(Code::Deadline, message));
        }
    };
    let mut picture = json!({
        "at": moment.at().format(&context.zone), "media_type": "image/jpeg",
        "width": still.width, "height": still.height, "data": BASE64_STANDARD.encode(&still.jpeg),
    });
    picture[name] = id.into();
    Ok(json!({ "picture": picture }))
}

fn gone(what: &str, id: &str) -> Refusal {
    Refusal::bad(format!("there is no {what} {id}, or it was forgotten"))
}
