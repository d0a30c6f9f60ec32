//! What a demuxer finds in a container.

use gstreamer as gst;
use gstreamer::prelude::*;

/// Whether packets of this kind are sound or pictures.
pub(crate) fn is_audio_or_video(media: &str) -> bool {
    ["video/", "audio/", "image/"].iter().any(|prefix| media.starts_with(prefix))
}

/// Whether a pad that `decodebin` asks about comes straight from a demuxer, and what it carries.
pub(crate) fn demuxed(values: &[gst::glib::Value]) -> Option<String> {
    let pad = values.get(1)?.get::<gst::Pad>().ok()?;
    let caps = values.get(2)?.get::<gst::Caps>().ok()?;
    let inner = pad.downcast_ref::<gst::GhostPad>().and_then(|ghost| ghost.target()).unwrap_or(pad);
    let class = inner.parent_element()?.factory()?.metadata("klass")?.to_owned();
    if !class.contains("Demux") {
        return None;
    }
    caps.structure(0).map(|structure| structure.name().to_string())
}
