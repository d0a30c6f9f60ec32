//! Encoders: what turns text, pictures and sound into what the memory keeps.
//!
//! An [`Encoder`] fills a [`Role`](crate::models::Role): it prepares its input, runs a [`Graph`] and reads what came out. A
//! graph runs on a [`Backend`]; [`OnnxRuntime`] is the one there is. [`Encoders`] loads every role of the catalogue on a
//! thread of its own, each independently of the others, and says what became of it.
//!
//! Encoders are shared by all sources and block: call them from worker threads. Each runs one graph at a time and waits
//! for no queue, so what they hold is bounded by one batch.

mod backend;
mod encoder;
mod objects;
mod onnxruntime;
mod roles;
mod text_embedding;
mod voice_activity;

pub use backend::{Backend, BackendError, Graph, Tensor, TensorView};
pub use encoder::{Encoder, EncoderError};
pub use objects::{Detection, FastestDet, ObjectDetector, Picture};
pub use onnxruntime::{LibraryError, OnnxRuntime};
pub use roles::{Accelerator, EncoderOptions, Encoders, RoleState, RoleStatus};
pub use text_embedding::SentenceEncoder;
pub use voice_activity::{
    SileroVad, SpeechDetector, SpeechInterval, SpeechThresholds, VoiceActivity, VoiceState, VoiceStep, VoiceWindow,
};
