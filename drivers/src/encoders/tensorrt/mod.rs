//! TensorRT without ONNX Runtime: engines built on this device from the models' ONNX graphs, cached, and run.
//!
//! ```text
//! preflight: driver and device ─▶ libnvinfer, its version ─▶ self-check ─▶ engine from the cache, or built ─▶ runs
//!                                                            └──── in a child process ────┘
//! ```
//!
//! The driver is asked first, because TensorRT crashes without one. Which library is loaded, and whether it may be called at
//! all, is `library`'s; the calls are `encoders::ffi`'s. What may crash or take minutes (self-check, builder) happens in a
//! child process ([`work`]), whose outcome is a file: a plan in the cache, or the note that a library passed.

mod backend;
mod cache;
mod child;
mod error;
mod graph;
mod key;
mod library;
mod options;
mod probe_net;
mod work;

pub use backend::TensorRt;
pub use child::BuildStage;
pub use error::TensorRtError;
pub use options::{BuilderCommand, TensorRtOptions};
pub use work::work;

pub use super::ffi::nvinfer::Precision;
