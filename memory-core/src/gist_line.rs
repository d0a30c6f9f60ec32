//! A line of a gist: one thing that happened in a stretch of time, told once however often it happened.

use serde::{Deserialize, Serialize};

use crate::{EventId, TimeSpan};

/// Subject of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Topic {
    /// A description of what was going on.
    Scene,
    /// An action of somebody.
    Action,
    /// The goal of actions, which stands for all of them.
    Task,
    /// Words of somebody.
    Speech,
    /// How something was.
    State,
    /// A person or thing that was recognised.
    Entity,
    /// A sound.
    Sound,
    /// A thing in view.
    Object,
    /// A place that the robot visited.
    Place,
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Subject of the line.
    pub topic: Topic,
    /// Text, cut to a readable length; of objects, sounds and entities the name.
    pub text: String,
    /// Who spoke or acted, or what the line is about.
    pub entity: Option<String>,
    /// How often it happened; of what comes into view or is heard, how often it came.
    pub times: u32,
    /// How long it lasted in sum, microseconds.
    pub lasted: u64,
    /// Span from the first begin to the last end.
    pub span: TimeSpan,
    /// The highest confidence of its events, 0 to 1.
    pub confidence: f32,
    /// The first of the events that say so.
    pub sources: Vec<EventId>,
}
