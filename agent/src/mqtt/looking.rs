//! `…/event/reasoning`: how far looking again has come. Like every event it says nothing of what was asked or found.

use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::ask::rounded;
use crate::service::LookingNews;

/// The payload.
pub fn news(news: &LookingNews, zone: &TimeZone) -> Value {
    json!({
        "request_id": news.request,
        "step": news.step.iteration,
        "steps": news.steps,
        "state": if news.step.outcome.is_some() { "looked" } else { "looking" },
        "tool": news.step.tool,
        "start": news.step.span.start.format(zone),
        "end": news.step.span.end.format(zone),
        "confidence": rounded(news.step.confidence),
    })
}

#[cfg(test)]
mod tests {
    use memory_core::reasoning::{StepNews, Tool};
    use memory_core::{TimeSpan, Timestamp};

    use super::*;

    #[test]
    fn a_step_is_told_without_what_was_asked_or_found() {
        let at = |seconds: i64| Timestamp::from_micros(seconds * 1_000_000);
        let step = StepNews {
            iteration: 2,
            tool: Tool::SceneSnapper,
            span: TimeSpan::new(at(10), at(20)),
            outcome: Some("a secret".to_owned()),
            confidence: 0.25,
        };
        let body = news(&LookingNews { request: Some("q-1".to_owned()), steps: 10, step }, &TimeZone::UTC);
        assert_eq!((&body["request_id"], &body["step"], &body["state"]), (&json!("q-1"), &json!(2), &json!("looked")));
        assert_eq!((&body["tool"], &body["steps"]), (&json!("scene_snapper"), &json!(10)));
        assert!(!body.to_string().contains("secret"), "{body}");
    }
}
