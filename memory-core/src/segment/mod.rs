//! Temporal pattern separation (HippoMM 4.2.1 and B.1): decides where one segment ends and the next begins.
//!
//! [`Segmenter`] takes small grey pictures and sound, says how often it needs a picture, and returns [`Segment`]s that tile the
//! time line. It reads no clock and stores no media: the same input gives the same segments, on any machine and at any speed.
//!
//! Candidates for a boundary come from two independent detectors: a cut between two pictures (structural similarity,
//! [`ssim`]) and the beginning of silence ([`level_db`]). Each detector has its own watermark, and
//! boundaries are chosen only up to the smaller one, so that the result does not depend on how the two streams
//! interleave. What is chosen is the heaviest set of candidates that keeps every segment between the shortest and the
//! longest length; see [`Segmenter::poll`].

mod config;
mod cut;
mod luma;
mod plan;
mod score;
mod segmenter;
mod silence;
mod ssim;

pub use config::SegmenterConfig;
pub use luma::Luma;
pub use score::{BoundaryScore, boundary_f1};
pub use segmenter::{FrameNovelty, Segment, Segmenter};
pub use silence::level_db;
pub use ssim::{Plane, SsimError, SsimWindow, ssim};
