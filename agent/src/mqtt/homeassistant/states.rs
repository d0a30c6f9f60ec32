//! The states that no topic of the contract has: the last event, the last person, and the place where the robot is.

use std::time::Duration;

use jiff::tz::TimeZone;
use memory_core::{EpisodeFilter, Event, Kind, Memory, ReadError, Timestamp};
use serde_json::{Value, json};

use super::super::context::Context;
use crate::service::AskFailure;

/// Maximum length of a state in Home Assistant, in characters.
const MAX_STATE_CHARS: usize = 255;
/// Maximum length of a text beside a state, in characters. Home Assistant's recorder drops attributes of more than 16 KiB
/// together.
const MAX_ATTRIBUTE_CHARS: usize = 2000;
/// Maximum time to read the states.
const READ_BUDGET: Duration = Duration::from_secs(2);
/// Number of the latest events of the newest episode that are searched for a speaker.
const MAX_SPEAKER_EVENTS: usize = 32;

/// Time without a pose after which the position counts as unknown.
const POSE_TIMEOUT: Duration = Duration::from_secs(60);

/// The name of the place where the robot is now. While recording is paused it is not told.
pub fn place(context: &Context) -> Option<String> {
    let (at, pose) = context.service.robot_path().newest().filter(|_| !context.recording.paused())?;
    let now = context.clock.now();
    // A clock that was set back says nothing of how old it is.
    let fresh = at <= now.saturating_add(POSE_TIMEOUT) && now.since(at.min(now)) <= POSE_TIMEOUT;
    fresh.then(|| context.service.memory().place_at(&pose)).flatten()
}

/// Reads the states.
///
/// # Errors
/// If the memory is busy or cannot be read.
pub async fn read(context: &Context) -> Result<Value, AskFailure> {
    let zone = context.zone.clone();
    let here = place(context);
    let mut states = context.service.list(READ_BUDGET, move |memory, left| states(memory, left, &zone)).await?;
    states["place"] = here.map_or(Value::Null, |name| json!({ "state": cut(&name, MAX_STATE_CHARS) }));
    Ok(states)
}

fn states(memory: &Memory, left: Duration, zone: &TimeZone) -> Result<Value, ReadError> {
    let filter = EpisodeFilter { limit: Some(1), budget: Some(left), ..EpisodeFilter::default() };
    let newest = memory.episodes(&filter)?.episodes.into_iter().next();
    let ids = newest.map(|found| found.episode.events).unwrap_or_default();
    let mut last = None;
    let mut speaker = None;
    for id in ids.iter().rev().take(MAX_SPEAKER_EVENTS) {
        let Some(event) = memory.event(*id)? else { continue };
        if speaker.is_none() && event.kind == Kind::Text {
            speaker = event.entity.clone().map(|name| (event.span.end, name));
        }
        last.get_or_insert(event);
        if speaker.is_some() {
            break;
        }
    }
    let recognised = memory.persons()?.into_iter().max_by_key(|person| person.span.end);
    let recognised = recognised.map(|person| {
        let name = person.name.unwrap_or_else(|| person.id.to_string());
        (person.span.end, name)
    });
    let person = recognised.into_iter().chain(speaker).max_by_key(|(at, _)| *at);
    Ok(json!({
        "last_event": last.as_ref().map(|event| event_state(event, zone)),
        "last_person": person.as_ref().map(|(at, name)| person_state(*at, name, zone)),
    }))
}

fn event_state(event: &Event, zone: &TimeZone) -> Value {
    let words = if event.text.trim().is_empty() { event.entity.as_deref().unwrap_or("-") } else { event.text.as_str() };
    json!({
        "state": cut(words, MAX_STATE_CHARS),
        "text": cut(&event.text, MAX_ATTRIBUTE_CHARS),
        "event": event.id.to_string(),
        "episode": event.episode.to_string(),
        "kind": event.kind.name(),
        "source": event.source,
        "entity": event.entity,
        "place": event.attributes.get("place").and_then(memory_core::Value::as_text),
        "start": event.span.start.format(zone),
        "end": event.span.end.format(zone),
    })
}

fn person_state(at: Timestamp, name: &str, zone: &TimeZone) -> Value {
    json!({ "state": cut(name, MAX_STATE_CHARS), "at": at.format(zone) })
}

/// At most `most` characters; what was cut ends with an ellipsis.
fn cut(text: &str, most: usize) -> String {
    let text = text.trim();
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(most - 1).collect();
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use memory_core::store::MemoryStorage;
    use memory_core::{ForgetRequest, ManualClock, MemoryOptions, Observation, Told};

    use super::*;

    fn memory() -> Memory {
        let options =
            MemoryOptions { zone: TimeZone::UTC, max_bytes: None, cache_bytes: 1 << 20, index: Default::default() };
        let clock = Arc::new(ManualClock::at(Timestamp::parse("2026-11-20T12:00:00Z").unwrap()));
        Memory::open_in(Arc::new(MemoryStorage::new()), options, clock).unwrap()
    }

    fn tell(memory: &Memory, minute: u32, text: &str, entity: Option<&str>) {
        let at = Timestamp::parse(&format!("2026-11-20T08:{minute:02}:00Z")).unwrap();
        let entity = entity.map(str::to_owned);
        let told = Told { text: text.to_owned(), entity, at: Some(at), ..Told::default() };
        memory.observe(vec![Observation::Told(told)]).unwrap();
    }

    fn states_now(memory: &Memory) -> Value {
        states(memory, READ_BUDGET, &TimeZone::UTC).unwrap()
    }

    #[test]
    fn an_empty_memory_has_no_states() {
        assert_eq!(states_now(&memory()), json!({"last_event": null, "last_person": null}));
    }

    #[test]
    fn what_was_said_last_is_shown_and_what_is_forgotten_is_not() {
        let memory = memory();
        tell(&memory, 0, "I am off to the garden.", Some("Anna"));
        tell(&memory, 1, "The lamp is on.", None);
        let found = states_now(&memory);
        assert_eq!(found["last_event"]["state"], "The lamp is on.");
        assert_eq!(found["last_person"], json!({"state": "Anna", "at": "2026-11-20T08:00:00+00:00"}));
        memory.forget(&ForgetRequest::Entity("Anna".to_owned())).unwrap();
        assert_eq!(states_now(&memory)["last_person"], Value::Null);
    }

    #[test]
    fn a_state_is_cut_at_255_characters_whatever_they_are() {
        for text in ["x".repeat(255), "ü".repeat(255)] {
            assert_eq!(cut(&text, MAX_STATE_CHARS), text);
        }
        let cut = cut(&"ü".repeat(4000), MAX_STATE_CHARS);
        assert_eq!(cut.chars().count(), 255);
        assert!(cut.ends_with("ü…"));
    }
}
