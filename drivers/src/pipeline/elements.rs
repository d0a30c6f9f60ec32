//! The GStreamer elements of sources, and the packages that contain them.

use gstreamer as gst;
use gstreamer::prelude::*;

use super::error::CaptureError;

/// Element, Debian package, what it is for. Elements of the base package come with the library itself.
const ELEMENTS: &[(&str, &str, &str)] = &[
    ("filesrc", "libgstreamer1.0-0", "files"),
    ("queue", "libgstreamer1.0-0", "every source"),
    ("appsink", "gstreamer1.0-plugins-base", "every source"),
    ("decodebin", "gstreamer1.0-plugins-base", "files and network cameras"),
    ("uridecodebin", "gstreamer1.0-plugins-base", "network cameras"),
    ("videoconvert", "gstreamer1.0-plugins-base", "pictures"),
    ("videoscale", "gstreamer1.0-plugins-base", "pictures"),
    ("audioconvert", "gstreamer1.0-plugins-base", "sound"),
    ("audioresample", "gstreamer1.0-plugins-base", "sound"),
    ("subparse", "gstreamer1.0-plugins-base", "subtitle streams"),
    ("videotestsrc", "gstreamer1.0-plugins-base", "kind `test`"),
    ("audiotestsrc", "gstreamer1.0-plugins-base", "kind `test`"),
    ("alsasrc", "gstreamer1.0-alsa", "kind `alsa`"),
    ("pulsesrc", "gstreamer1.0-pulseaudio", "kind `pulse`"),
    ("qtdemux", "gstreamer1.0-plugins-good", "mp4 files"),
    ("matroskademux", "gstreamer1.0-plugins-good", "mkv and webm files"),
    ("videoflip", "gstreamer1.0-plugins-good", "videos of phones, which are turned"),
    ("rtspsrc", "gstreamer1.0-plugins-good", "kind `rtsp`"),
    ("v4l2src", "gstreamer1.0-plugins-good", "kind `v4l2`"),
    ("jpegdec", "gstreamer1.0-plugins-good", "USB cameras that send JPEG"),
    ("shmsrc", "gstreamer1.0-plugins-bad", "kind `shm`"),
    ("h264parse", "gstreamer1.0-plugins-bad", "H.264"),
    ("avdec_h264", "gstreamer1.0-libav", "H.264"),
    ("avdec_aac", "gstreamer1.0-libav", "AAC sound"),
    ("matroskamux", "gstreamer1.0-plugins-good", "recordings"),
    ("jpegenc", "gstreamer1.0-plugins-good", "pictures out of recordings"),
    ("opusenc", "gstreamer1.0-plugins-base", "recordings of sound"),
    ("x264enc", "gstreamer1.0-plugins-ugly", "recordings of raw pictures, and clips"),
    ("nvarguscamerasrc", "nvidia-l4t-gstreamer", "kind `argus`"),
    ("nvvidconv", "nvidia-l4t-gstreamer", "kind `argus`, and H.264 in hardware"),
    ("nvv4l2decoder", "nvidia-l4t-gstreamer", "H.264 in hardware"),
];

/// Whether an element that a source can need is installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ElementReport {
    /// Factory name.
    pub element: &'static str,
    /// The Debian package that has it.
    pub package: &'static str,
    /// Purpose of the element.
    pub needed_for: &'static str,
    /// Whether it is there.
    pub present: bool,
}

/// Every element that a source can need, in a fixed order.
///
/// # Errors
/// If GStreamer does not start.
pub fn plugins_report() -> Result<Vec<ElementReport>, CaptureError> {
    init()?;
    Ok(ELEMENTS
        .iter()
        .map(|&(element, package, needed_for)| ElementReport {
            element,
            package,
            needed_for,
            present: gst::ElementFactory::find(element).is_some(),
        })
        .collect())
}

/// The Debian package that has an element.
pub(crate) fn package_of(element: &str) -> Option<&'static str> {
    ELEMENTS.iter().find(|(name, ..)| *name == element).map(|(_, package, _)| *package)
}

/// Starts GStreamer, once.
pub(crate) fn init() -> Result<(), CaptureError> {
    gst::init().map_err(|error| CaptureError::Init(error.to_string()))
}

/// A new element.
pub(crate) fn make(factory: &str) -> Result<gst::Element, CaptureError> {
    gst::ElementFactory::make(factory).build().map_err(|_| CaptureError::MissingElement { element: factory.to_owned() })
}

/// Sets a property, given as `gst-launch-1.0` would read it, if this version of the element has it; says whether.
///
/// Properties come and go between GStreamer 1.16 and today, and setting one that is not there aborts the program.
pub(crate) fn set_if_present(element: &gst::Element, property: &str, value: &str) -> bool {
    let Some(spec) = element.find_property(property) else { return false };
    if !spec.flags().contains(gst::glib::ParamFlags::WRITABLE) {
        return false;
    }
    match gst::glib::Value::deserialize(value, spec.value_type()) {
        Ok(value) => {
            element.set_property_from_value(property, &value);
            true
        }
        Err(error) => {
            tracing::debug!(element = %element.name(), property, value, %error, "property not set");
            false
        }
    }
}

/// Adds the elements to the bin and links one to the next.
pub(crate) fn chain(bin: &gst::Bin, elements: &[&gst::Element]) -> Result<(), gst::glib::BoolError> {
    bin.add_many(elements.iter().copied())?;
    gst::Element::link_many(elements.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_property_that_is_not_there_or_a_value_that_does_not_fit_is_passed_over() {
        init().unwrap();
        let element = make("appsink").unwrap();
        assert!(set_if_present(&element, "max-buffers", "7"));
        assert_eq!(element.property::<u32>("max-buffers"), 7);
        assert!(!set_if_present(&element, "max-buffers", "many"));
        assert!(!set_if_present(&element, "not-invented-yet", "1"));
        let test = make("videotestsrc").unwrap();
        assert!(set_if_present(&test, "pattern", "ball"));
    }

    #[test]
    fn a_missing_element_is_named_with_advice() {
        init().unwrap();
        let message = make("noelement").unwrap_err().to_string();
        assert!(message.contains("noelement"), "{message}");
    }
}
