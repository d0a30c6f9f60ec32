//! The memory of Engram.
//!
//! Streams become [`Segment`](segment::Segment)s. Segments and told observations become [`Event`]s, which are grouped in
//! [`Episode`]s. Questions get [`Answer`]s with their evidence. This crate depends on no tokio, no GStreamer, no network and
//! no model runtime. What it needs from outside are the traits in [`ports`], so the whole memory is tested without a camera,
//! a model or a broker.
//!
//! # Example
//!
//! ```
//! use memory_core::{Memory, Observation, Query, Told};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = std::env::temp_dir().join(format!("engram-doc-front-{}", std::process::id()));
//! let memory = Memory::open(&folder)?;
//! memory.observe(vec![
//!     Observation::Told(Told::new("diary", "Anna: I put the blue mug on the shelf.")),
//!     Observation::Told(Told::new("diary", "Ben waters the plants on the balcony.")),
//! ])?;
//! let answer = memory.ask(&Query::new("Where is the blue mug?"))?;
//! assert_eq!(answer.answer.as_deref(), Some("On the shelf"));
//! assert!(answer.evidence[0].text.contains("on the shelf"));
//! # drop(memory);
//! # drop(std::fs::remove_dir_all(folder));
//! # Ok(())
//! # }
//! ```
//!
//! `examples/diary.rs` is a whole program. [`Memory::builder`] opens a memory with options; [`ports`] names what can be
//! added from outside, such as a text embedding model.
//!
//! # Modules
//!
//! A module uses only modules of the lines below its own:
//!
//! ```text
//! memory                          the façade
//! engine      reasoning           one writer, many readers, the work behind the commit; looking again at recordings
//! recall                          from a question to an answer
//! learning                        persons, facts and procedures from stored events, in the background
//! episodic                        episodes, gists, persons, visits
//! semantic    logic               facts; procedures
//! segment  language  index  store boundaries of a stream; English; search; files, tables and records
//! event, observation, query, …    data
//! ```
//!
//! `docs/glossary.md` explains the words.

#![warn(missing_docs)]

mod ablation;
mod anchor_id;
mod centroid;
mod clock;
mod engine;
mod error;
mod event;
mod gist_line;
pub mod index;
mod language;
pub mod learning;
mod lesson;
pub mod limits;
pub mod logic;
mod memory;
mod memory_options;
mod observation;
pub mod ports;
mod pose;
mod query;
mod random;
pub mod reasoning;
pub mod recall;
mod requests;
pub mod segment;
pub mod semantic;
mod sharded;
mod shared;
pub mod store;
mod time;
mod value;
pub mod word_search;
mod words;

/// Episodic memory: how events are grouped in episodes.
pub mod episodic;

pub use ablation::Ablation;
pub use anchor_id::AnchorId;
pub use clock::{Clock, ManualClock, SystemClock};
pub use episodic::anchors::{EntityChange, EntityNews, NamingRequest, Person};
pub use episodic::consolidation::{ConsolidationOptions, PlaceSpace};
pub use episodic::gist::{Gist, GistNews, Level, Line, Topic};
pub use episodic::{VISIT_SOURCE, VisitTracker};
pub use error::{ForgetError, MaintenanceError, NamingError, ObserveError, OpenError, ReadError};
pub use event::{
    Entity, Episode, EpisodeId, EpisodeSummary, Event, EventId, Kind, Modality, Origin, Place, PlaceKnownBy,
};
pub use logic::requests::{
    Alternatives, EdgeDetail, LikelyStep, OtherThing, PictureFormat, ProcedureChange, ProcedureDetail, ProcedureError,
    ProcedureNews, ProcedureReply, ProcedureRequest, ProcedureSummary, Remark, SessionEvidence, StepDetail, StepFact,
    Way, Ways, WhichProcedure,
};
pub use memory::{Memory, MemoryBuilder};
pub use memory_options::MemoryOptions;
pub use observation::{
    Boundary, Looked, MomentVector, Observation, Perceived, PerceivedEvent, Sensed, SensedEmbedding, Told,
};
pub use pose::{Covariance, MAX_COORDINATE, MAX_FRAME_BYTES, Near, Pose, PoseError, PoseOf, RawPose};
pub use query::{
    AbsentRole, Answer, Elapsed, Evidence, Intent, Query, QueryError, QuestionModality, Route, TraceStep, Turn,
};
pub use requests::{
    BackupReply, CheckReport, CompactReply, EpisodeFilter, EpisodeListPage, EpisodePage, EventPage, Exported,
    FactFilter, ForgetPreview, ForgetReply, ForgetRequest, ForgottenRecording, GistFilter, IndexSaved, ObserveOutcome,
    PendingWork, SaveIndex, Stats,
};
pub use semantic::{Fact, FactKind};
pub use time::{StreamSpan, TimeSpan, Timestamp, TimestampError};
pub use value::{Attributes, Value};
