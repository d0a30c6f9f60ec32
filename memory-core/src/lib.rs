//! The memory of Engram.
//!
//! Streams become [`Segment`]s, segments and told observations become [`Event`]s grouped in [`Episode`]s, and questions
//! become [`Answer`]s with their evidence. This crate knows no tokio, no GStreamer, no network and no model runtime: what
//! it needs from outside it names as traits in [`ports`], so the whole memory is tested without a camera, a model or a
//! broker.
//!
//! The rooms, in the order in which an observation passes them: `segment` → `store` → `episodic` → `index` → `recall`.

#![warn(missing_docs)]

mod clock;
mod error;
mod event;
pub mod index;
mod memory;
mod observation;
pub mod ports;
mod query;
pub mod recall;
pub mod segment;
pub mod store;
mod time;
mod value;

/// Episodic memory: how events are grouped in episodes.
pub mod episodic;

pub use clock::{Clock, ManualClock, SystemClock};
pub use error::{ForgetError, ObserveError, OpenError, ReadError};
pub use event::{Entity, Episode, EpisodeId, EpisodeSummary, Event, EventId, Kind, Modality, Origin};
pub use memory::{
    CheckReport, EpisodeFilter, ForgetReply, ForgetRequest, Memory, MemoryOptions, Outcome, Page, PendingWork, Stats,
};
pub use observation::{Boundary, Observation, Perceived, PerceivedEvent, Told};
pub use query::{AbsentRole, Answer, Elapsed, Evidence, Intent, Query, QueryError, QuestionModality, Route, TraceStep};
pub use time::{StreamSpan, TimeSpan, Timestamp, TimestampError};
pub use value::{Attributes, Value};
