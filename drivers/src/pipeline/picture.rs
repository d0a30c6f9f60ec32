//! Converts a decoder's picture to packed RGB of bounded size.

use gstreamer as gst;
use gstreamer_video as gst_video;

/// Converts and scales pictures on the thread that asks, so that only pictures that are wanted cost anything.
#[derive(Default)]
pub(crate) struct PictureConverter {
    max_width: u32,
    open: Option<OpenConverter>,
    packed: Vec<u8>,
}

struct OpenConverter {
    caps: gst::Caps,
    input: gst_video::VideoInfo,
    output: gst_video::VideoInfo,
    converter: gst_video::VideoConverter,
    buffer: gst::Buffer,
}

impl PictureConverter {
    pub(crate) fn new(max_width: u32) -> Self {
        Self { max_width, ..Self::default() }
    }

    /// Width, height and packed RGB of the picture in `sample`; `None` if it is damaged or of a format nobody knows.
    pub(crate) fn convert(&mut self, sample: &gst::SampleRef) -> Option<(u32, u32, &[u8])> {
        let (caps, buffer) = (sample.caps()?, sample.buffer()?);
        if self.open.as_ref().is_none_or(|open| open.caps.as_ref() != caps) {
            self.open = OpenConverter::new(caps, self.max_width);
        }
        let OpenConverter { input, output, converter, buffer: target, .. } = self.open.as_mut()?;
        {
            let source = gst_video::VideoFrameRef::from_buffer_ref_readable(buffer, input).ok()?;
            let mut target = gst_video::VideoFrameRef::from_buffer_ref_writable(target.get_mut()?, output).ok()?;
            converter.frame_ref(&source, &mut target);
        }
        let map = target.map_readable().ok()?;
        pack(&map, output.width(), output.height(), usize::try_from(output.stride()[0]).ok()?, &mut self.packed)?;
        Some((output.width(), output.height(), &self.packed))
    }
}

impl OpenConverter {
    fn new(caps: &gst::CapsRef, max_width: u32) -> Option<Self> {
        let input = gst_video::VideoInfo::from_caps(caps).ok()?;
        let (width, height) = fitted(input.width(), input.height(), input.par(), max_width);
        let output = gst_video::VideoInfo::builder(gst_video::VideoFormat::Rgb, width, height)
            .fps(input.fps())
            .interlace_mode(input.interlace_mode())
            .build()
            .ok()?;
        let mut config = gst_video::VideoConverterConfig::new();
        config.set_resampler_method(gst_video::VideoResamplerMethod::Linear);
        let converter = gst_video::VideoConverter::new(&input, &output, Some(config)).ok()?;
        let buffer = gst::Buffer::with_size(output.size()).ok()?;
        Some(Self { caps: caps.to_owned(), input, output, converter, buffer })
    }
}

/// The size at which a picture is looked at: square pixels, at most `max_width` wide, even numbers.
pub(crate) fn fitted(width: u32, height: u32, par: gst::Fraction, max_width: u32) -> (u32, u32) {
    let par = if par.numer() > 0 && par.denom() > 0 { f64::from(par.numer()) / f64::from(par.denom()) } else { 1.0 };
    let display = f64::from(width) * par;
    let scale = (f64::from(max_width) / display).min(1.0);
    let even = |length: f64| ((length / 2.0).round() as u32 * 2).max(2);
    (even(display * scale), even(f64::from(height) * scale))
}

/// Copies rows without the padding between them; `None` if `bytes` is too short.
pub(crate) fn pack(bytes: &[u8], width: u32, height: u32, stride: usize, packed: &mut Vec<u8>) -> Option<()> {
    let row = width as usize * 3;
    packed.clear();
    for y in 0..height as usize {
        packed.extend_from_slice(bytes.get(y * stride..y * stride + row)?);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_scaled_down_with_their_aspect_and_never_up() {
        let square = gst::Fraction::new(1, 1);
        assert_eq!(fitted(1920, 1080, square, 640), (640, 360));
        assert_eq!(fitted(320, 240, square, 640), (320, 240));
        assert_eq!(fitted(1080, 1920, square, 640), (640, 1138));
        // PAL: 720x576 shown as 4:3.
        assert_eq!(fitted(720, 576, gst::Fraction::new(16, 15), 640), (640, 480));
        assert_eq!(fitted(1, 1, square, 640), (2, 2));
    }

    #[test]
    fn padding_between_rows_is_left_out() {
        let mut packed = Vec::new();
        assert_eq!(pack(&[1, 2, 3, 0, 4, 5, 6, 0], 1, 2, 4, &mut packed), Some(()));
        assert_eq!(packed, [1, 2, 3, 4, 5, 6]);
        assert_eq!(pack(&[1, 2, 3], 1, 2, 4, &mut packed), None);
    }
}
