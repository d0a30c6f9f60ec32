//! The last question of each conversation, so that the next one may go on from it: "and the cat?".

use std::collections::HashMap;
use std::time::Duration;

use memory_core::Turn;
use parking_lot::Mutex;

/// Maximum number of conversations. Beyond it, the one that was silent longest is forgotten.
const MAX_CONVERSATIONS: usize = 256;
/// Time after which a question begins anew.
const MAX_SILENCE: Duration = Duration::from_secs(300);

/// The last question and answer of every conversation, by the id that the askers chose. Nothing of it is stored on disk.
#[derive(Debug, Default)]
pub struct Conversations {
    turns: Mutex<HashMap<String, (Duration, Turn)>>,
}

impl Conversations {
    /// Returns a question as it would be asked by itself. `None` if it is complete, or if nothing was asked before. `now` is
    /// monotonic.
    pub fn completed(&self, id: &str, question: &str, now: Duration) -> Option<String> {
        let turns = self.turns.lock();
        let (at, turn) = turns.get(id)?;
        (now.saturating_sub(*at) <= MAX_SILENCE).then(|| turn.completed(question)).flatten()
    }

    /// Notes the last question of a conversation.
    pub fn note(&self, id: String, turn: Turn, now: Duration) {
        let mut turns = self.turns.lock();
        turns.retain(|_, (at, _)| now.saturating_sub(*at) <= MAX_SILENCE);
        if turns.len() >= MAX_CONVERSATIONS && !turns.contains_key(&id) {
            let silent = turns.iter().min_by_key(|(_, (at, _))| *at).map(|(id, _)| id.clone());
            silent.and_then(|silent| turns.remove(&silent));
        }
        turns.insert(id, (now, turn));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn() -> Turn {
        Turn { question: "Where is the ladder?".into(), answer: Some("In the shed".into()) }
    }

    #[test]
    fn a_question_goes_on_from_the_last_one_of_its_conversation_for_five_minutes() {
        let conversations = Conversations::default();
        conversations.note("a".into(), turn(), Duration::from_secs(10));
        let completed =
            |id: &str, second: u64| conversations.completed(id, "And the rake?", Duration::from_secs(second));
        assert_eq!(completed("a", 20).as_deref(), Some("Where is the rake?"));
        assert_eq!(completed("b", 20), None);
        assert_eq!(completed("a", 311), None);
    }

    #[test]
    fn the_conversation_that_was_silent_longest_makes_room() {
        let conversations = Conversations::default();
        for number in 0..=MAX_CONVERSATIONS {
            conversations.note(number.to_string(), turn(), Duration::from_millis(number as u64));
        }
        let completed = |id: &str| conversations.completed(id, "And the rake?", Duration::from_secs(1));
        assert_eq!(completed("0"), None);
        assert!(completed("1").is_some());
        assert_eq!(conversations.turns.lock().len(), MAX_CONVERSATIONS);
    }
}
