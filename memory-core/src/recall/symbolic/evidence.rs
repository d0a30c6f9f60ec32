//! Reads the events of an answer.

use crate::recall::Reader;
use crate::{Event, EventId, Evidence, ReadError};

use super::known::sender;

/// Reads the events, best first, at most `limit`; what was hidden meanwhile is left out.
pub(super) fn read(ids: &[EventId], reader: &dyn Reader, limit: usize) -> Result<Vec<Evidence>, ReadError> {
    let mut found: Vec<Evidence> = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for id in ids.iter().filter(|id| seen.insert(**id)) {
        if found.len() == limit {
            break;
        }
        if let Some(event) = reader.event(*id)? {
            // What comes first supports the answer most; the scores only keep that order.
            let score = 1.0 / (1.0 + 0.1 * found.len() as f32);
            found.push(evidence(event, score));
        }
    }
    Ok(found)
}

fn evidence(event: Event, score: f32) -> Evidence {
    Evidence {
        episode: event.episode,
        span: event.span,
        stream: event.stream,
        modality: event.modality,
        score,
        observations: vec![sender(&event)],
        media: event.media,
        text: match event.entity {
            Some(entity) if !event.text.contains(entity.as_str()) => format!("{entity}: {}", event.text),
            _ => event.text,
        },
    }
}
