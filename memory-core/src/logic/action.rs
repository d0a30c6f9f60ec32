//! What somebody did, as the logic layer takes it in.

use serde::{Deserialize, Serialize};

use crate::{EventId, TimeSpan};

/// How an action ended, where anybody said so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum ActionOutcome {
    /// Nothing says that it failed.
    #[default]
    Done,
    /// The action was tried and failed.
    Failed,
}

impl ActionOutcome {
    /// Whether the action succeeded.
    pub fn is_done(self) -> bool {
        self == Self::Done
    }
}

/// One action of one session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Action {
    /// The event that it came from: the evidence.
    pub event: EventId,
    /// The action in words.
    pub text: String,
    /// When.
    pub span: TimeSpan,
    /// The program or camera that said so.
    pub source: String,
    /// The actor.
    pub person: Option<String>,
    /// The told `session`, if there was one.
    pub session: Option<String>,
    /// The told goal (`task`), if there was one.
    pub goal: Option<String>,
    /// Things it was done to.
    pub objects: Vec<String>,
    /// Things it was done with.
    pub tools: Vec<String>,
    /// Where.
    pub places: Vec<String>,
    /// How it ended.
    pub outcome: ActionOutcome,
    /// Told as an action, in a program's own vocabulary, rather than read out of free text.
    pub named: bool,
}

impl Action {
    /// An action of which no more is known than what was done and when.
    pub fn new(event: EventId, text: impl Into<String>, span: TimeSpan) -> Self {
        Self {
            event,
            text: text.into(),
            span,
            source: String::new(),
            person: None,
            session: None,
            goal: None,
            objects: Vec::new(),
            tools: Vec::new(),
            places: Vec::new(),
            outcome: ActionOutcome::Done,
            named: true,
        }
    }
}

/// The form under which texts of actions and goals are compared: lower case, single spaces, no punctuation at the ends.
pub fn normalise(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.extend(word.chars().flat_map(char::to_lowercase));
    }
    let edges = |c: char| c.is_ascii_punctuation() && !matches!(c, '(' | ')' | '%' | '°' | '+' | '-');
    out.trim_matches(|c: char| edges(c) || c.is_whitespace()).to_owned()
}

#[cfg(test)]
mod tests {
    use super::normalise;

    #[test]
    fn case_spaces_and_final_punctuation_do_not_tell_texts_apart() {
        assert_eq!(normalise("  Cut  the\tApple. "), "cut the apple");
        assert_eq!(normalise("ÄPFEL schneiden!"), "äpfel schneiden");
        assert_eq!(normalise(" ... "), "");
        assert_eq!(normalise("heat to 90 %"), "heat to 90 %");
    }
}
