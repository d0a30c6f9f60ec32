//! One line for an episode in a list.

use crate::Event;

/// Maximum number of characters in a summary.
const MAX_CHARS: usize = 160;

/// Number of events that a summary is made from.
pub(crate) const SUMMARY_EVENTS: usize = 8;

/// One line made from the first events of an episode: who said or did what.
pub(crate) fn summarize(events: &[Event]) -> String {
    let mut line = String::new();
    for event in events.iter().take(SUMMARY_EVENTS) {
        if !line.is_empty() {
            line.push_str("; ");
        }
        if let Some(entity) = &event.entity
            && !event.text.contains(entity.as_str())
        {
            line.push_str(entity);
            line.push_str(": ");
        }
        line.push_str(event.text.trim());
        if line.chars().count() > MAX_CHARS {
            break;
        }
    }
    let mut line = line.replace(char::is_control, " ");
    if let Some((cut, _)) = line.char_indices().nth(MAX_CHARS) {
        line.truncate(cut);
        line.push('…');
    }
    line
}
