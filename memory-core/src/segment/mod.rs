//! Temporal pattern separation (HippoMM 4.2.1 and B.1): where one segment ends and the next begins.
//!
//! [`Segmenter`] is fed with small grey pictures and with sound, says how often it wants to see a picture, and hands
//! out [`Segment`]s that tile the time line. It reads no clock and holds no media: the same input gives the same
//! segments, on whatever machine and at whatever speed.
//!
//! Candidates for a boundary come from two detectors that know nothing of each other: a cut between two pictures
//! (structural similarity, [`ssim`]) and a fall into silence ([`level_db`]). Each detector has its own watermark, and
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
