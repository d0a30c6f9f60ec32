//! A picture as a JPEG file.

use gstreamer as gst;
use gstreamer::prelude::*;
use gstreamer_app as gst_app;

use super::clip::ClipError;
use super::still::{STILL_TIMEOUT, branch};
use crate::encoders::Picture;
use crate::pipeline::Running;
use crate::pipeline::{chain, init};

/// The JPEG file of a picture, at most `max_width` pixels across.
///
/// # Errors
/// See [`ClipError`].
pub fn jpeg(picture: &Picture<'_>, max_width: u32) -> Result<Vec<u8>, ClipError> {
    init()?;
    let pipeline = Running(gst::Pipeline::new());
    let side = |pixels: u32| i32::try_from(pixels).unwrap_or(i32::MAX);
    let caps = gst::Caps::builder("video/x-raw")
        .field("format", "RGB")
        .field("width", side(picture.width))
        .field("height", side(picture.height))
        .field("framerate", gst::Fraction::new(0, 1))
        .field("pixel-aspect-ratio", gst::Fraction::new(1, 1))
        .build();
    let source = gst_app::AppSrc::builder().caps(&caps).format(gst::Format::Time).build();
    let mut elements: Vec<gst::Element> = vec![source.clone().upcast()];
    elements.extend(branch(max_width.min(picture.width))?);
    let sink: gst_app::AppSink =
        elements.last().cloned().and_then(|sink| sink.downcast().ok()).expect("the branch ends in an appsink");
    chain(pipeline.0.upcast_ref(), &elements.iter().collect::<Vec<_>>()).map_err(|_| ClipError::Nothing)?;
    let mut buffer = gst::Buffer::from_mut_slice(padded(picture));
    if let Some(buffer) = buffer.get_mut() {
        buffer.set_pts(gst::ClockTime::ZERO);
    }
    let started = pipeline.0.set_state(gst::State::Playing).is_ok();
    if !started || source.push_buffer(buffer).is_err() || source.end_of_stream().is_err() {
        return Err(ClipError::Nothing);
    }
    let sample = sink.try_pull_sample(STILL_TIMEOUT).ok_or(ClipError::Nothing)?;
    let map = sample.buffer().and_then(|buffer| buffer.map_readable().ok()).ok_or(ClipError::Nothing)?;
    Ok(map.to_vec())
}

/// Rows begin at multiples of four bytes.
fn padded(picture: &Picture<'_>) -> Vec<u8> {
    let row = picture.width as usize * 3;
    let stride = row.next_multiple_of(4);
    let mut bytes = Vec::with_capacity(stride * picture.height as usize);
    for line in picture.rgb.chunks_exact(row.max(1)) {
        bytes.extend_from_slice(line);
        bytes.resize(bytes.len() + stride - row, 0);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_of_any_width_becomes_a_jpeg_file() {
        for (width, height) in [(64, 48), (33, 21)] {
            let rgb = vec![90; width as usize * height as usize * 3];
            let file = jpeg(&Picture { width, height, rgb: &rgb }, 640).unwrap();
            assert!(file.starts_with(&[0xff, 0xd8]) && file.ends_with(&[0xff, 0xd9]), "{width} by {height}");
        }
    }
}
