//! Sound as the encoders take it: 16 kHz, mono, 32-bit floats.

use gstreamer as gst;

pub(crate) fn sound_caps() -> gst::Caps {
    gst::Caps::builder("audio/x-raw")
        .field("format", "F32LE")
        .field("layout", "interleaved")
        .field("rate", 16_000_i32)
        .field("channels", 1_i32)
        .build()
}

/// Copies the samples out; `false` if the buffer cannot be read.
pub(crate) fn read_samples(sample: &gst::SampleRef, samples: &mut Vec<f32>) -> bool {
    let Some(map) = sample.buffer().and_then(|buffer| buffer.map_readable().ok()) else { return false };
    samples.clear();
    samples.extend(map.chunks_exact(4).map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])));
    true
}
