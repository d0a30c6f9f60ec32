//! The senses of Engram: GStreamer capture, media archive, encoders, and the worker that turns a source into closed segments.

#![warn(missing_docs)]

pub mod archive;
pub mod capture;
pub mod encoders;
pub mod looking;
pub mod models;
pub mod perception;
mod pipeline;
