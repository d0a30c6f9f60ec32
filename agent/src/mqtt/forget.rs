//! `cmd/forget` and `cmd/forget_preview`: request and reply.

use jiff::tz::TimeZone;
use memory_core::{EpisodeId, ForgetPreview, ForgetReply, ForgetRequest, TimeSpan};
use serde_json::{Value, json};

use super::episodes::{episode_id, event_body};
use super::fields::{Fields, TimeBase};
use super::reply::Refusal;
use super::topics::check_name;
use crate::media::MediaLinks;

/// `cmd/forget`
pub fn read_forget(fields: Fields<'_>, moment: &TimeBase) -> Result<ForgetRequest, Refusal> {
    let episodes = fields.value("episodes").map(episode_ids).transpose()?;
    let entity = fields.text("entity")?;
    let (since, until) = (fields.point("since", moment)?, fields.point("until", moment)?);
    let ways = "name exactly one of `episodes`, `entity`, or `since` with `until`";
    match (episodes, entity, since, until) {
        (Some(episodes), None, None, None) => {
            if episodes.is_empty() {
                return Err(Refusal::bad("`episodes` is empty"));
            }
            Ok(ForgetRequest::Episodes(episodes))
        }
        (None, Some(entity), None, None) => {
            check_name(entity).map_err(|error| Refusal::bad(format!("`entity` {error}")))?;
            Ok(ForgetRequest::Entity(entity.to_owned()))
        }
        (None, None, Some(since), Some(until)) if since <= until => {
            Ok(ForgetRequest::Span(TimeSpan::new(since, until)))
        }
        (None, None, Some(_), Some(_)) => Err(Refusal::bad("`since` is later than `until`")),
        // Half a span would forget everything before or after: nobody should do that by leaving out a field.
        (None, None, Some(_), None) => Err(Refusal::bad("`until` is missing beside `since`")),
        (None, None, None, Some(_)) => Err(Refusal::bad("`since` is missing beside `until`")),
        (None, None, None, None) => Err(Refusal::bad(ways)),
        _ => Err(Refusal::bad(format!("too many: {ways}"))),
    }
}

fn episode_ids(value: &Value) -> Result<Vec<EpisodeId>, Refusal> {
    let list = value.as_array().map_or_else(|| std::slice::from_ref(value), Vec::as_slice);
    list.iter().map(|item| episode_id("episodes", item)).collect()
}

/// The answer to `forget`.
pub fn forgotten(reply: &ForgetReply) -> Value {
    let mut body = json!({"state": "succeeded", "episodes": reply.episodes, "events": reply.events});
    if reply.doubtful > 0 {
        body["doubtful"] = reply.doubtful.into();
        body["in_doubt"] = reply.in_doubt.iter().map(ToString::to_string).collect();
    }
    body
}

/// The answer to `forget_preview`.
pub fn preview(preview: &ForgetPreview, zone: &TimeZone, media: &MediaLinks) -> Value {
    let mut body = forgotten(&preview.reply);
    body["shown"] = preview.events.iter().map(|event| event_body(event, zone, media)).collect();
    body
}

#[cfg(test)]
mod tests {
    use memory_core::{EventId, Timestamp};

    use super::super::reply::Code;
    use super::*;

    fn forget(body: Value) -> Result<ForgetRequest, Refusal> {
        let Value::Object(map) = body else { panic!("not an object") };
        let now = Timestamp::parse("2026-11-22T12:00:00Z").unwrap();
        read_forget(Fields(&map), &TimeBase { now, zone: TimeZone::UTC })
    }

    #[test]
    fn forgetting_takes_exactly_one_way() {
        assert_eq!(
            forget(json!({"episodes": ["ep-1", 2]})),
            Ok(ForgetRequest::Episodes(vec![EpisodeId(1), EpisodeId(2)]))
        );
        assert_eq!(forget(json!({"entity": "Anna"})), Ok(ForgetRequest::Entity("Anna".to_owned())));
        let hours =
            |from: &str, to: &str| TimeSpan::new(Timestamp::parse(from).unwrap(), Timestamp::parse(to).unwrap());
        assert_eq!(
            forget(json!({"since": "2h", "until": "1h ago"})),
            Ok(ForgetRequest::Span(hours("2026-11-22T10:00:00Z", "2026-11-22T11:00:00Z")))
        );
        assert!(matches!(
            forget(json!({"since": "2026-01-01T00:00:00Z", "until": "2026-01-02T00:00:00Z"})),
            Ok(ForgetRequest::Span(_))
        ));
        for body in [
            json!({}),
            json!({"episodes": []}),
            json!({"episodes": ["gist-1"]}),
            json!({"entity": "Anna", "episodes": ["ep-1"]}),
            json!({"since": "2026-01-01T00:00:00Z"}),
            json!({"until": "2026-01-01T00:00:00Z"}),
            json!({"since": "soon", "until": "2026-01-01T00:00:00Z"}),
            json!({"since": "2026-01-02T00:00:00Z", "until": "2026-01-01T00:00:00Z"}),
        ] {
            assert_eq!(forget(body.clone()).unwrap_err().code, Code::BadRequest, "{body}");
        }
    }

    #[test]
    fn what_is_left_in_doubt_is_in_the_answer_and_nothing_else_is_new() {
        let clear = ForgetReply { episodes: 1, events: 2, ..ForgetReply::default() };
        assert_eq!(forgotten(&clear), json!({"state": "succeeded", "episodes": 1, "events": 2}));
        let doubtful = ForgetReply { doubtful: 200, in_doubt: vec![EventId(7)], ..clear };
        assert_eq!(forgotten(&doubtful)["in_doubt"], json!(["ev-7"]));
    }
}
