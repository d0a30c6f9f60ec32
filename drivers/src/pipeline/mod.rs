//! What every GStreamer pipeline here is made of, be it for capture or for the archive: elements, errors, pictures and samples.

mod elements;
mod error;
mod holes;
mod picture;
mod running;
mod samples;
mod streams;

pub use elements::{ElementReport, plugins_report};
pub(crate) use elements::{chain, init, make, set_if_present};
pub use error::{CaptureError, Seconds};
pub(crate) use holes::{Holes, MIN_GAP};
pub(crate) use picture::{PictureConverter, fitted};
pub(crate) use running::{Running, attach, media_of, shut_down};
pub(crate) use samples::{read_samples, sound_caps};
pub(crate) use streams::{demuxed, is_audio_or_video};
