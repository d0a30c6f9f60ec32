//! Scales pictures that a Jetson's decoder leaves in the memory of its image processor (NVMM), so that only the small picture
//! is copied to ordinary memory.

use gstreamer as gst;
use gstreamer::prelude::*;

use crate::pipeline::CaptureError;
use crate::pipeline::fitted;
use crate::pipeline::make;

/// Returns the caps of pictures of `caps` in plain memory, at most `max_width` wide; `None` if they are in plain memory
/// already.
///
/// The pixels keep their aspect ratio; the consumer of the picture makes them square.
pub(super) fn plain(caps: &gst::CapsRef, max_width: u32) -> Option<gst::Caps> {
    if !caps.features(0)?.contains("memory:NVMM") {
        return None;
    }
    let picture = caps.structure(0)?;
    let plain = gst::Caps::builder("video/x-raw").field("format", "I420");
    let side = |name: &str| picture.get::<i32>(name).ok().and_then(|side| u32::try_from(side).ok());
    let (Some(width), Some(height)) = (side("width"), side("height")) else { return Some(plain.build()) };
    let (width, height) = fitted(width, height, gst::Fraction::new(1, 1), max_width);
    let side = |side: u32| i32::try_from(side).unwrap_or(i32::MAX);
    Some(plain.field("width", side(width)).field("height", side(height)).build())
}

/// The elements that bring what comes out of `pad` to plain memory; none where it is there already.
///
/// # Errors
/// If the image processor's element is missing.
pub(super) fn to_plain(pad: &gst::Pad, max_width: u32) -> Result<Vec<gst::Element>, CaptureError> {
    let caps = pad.current_caps().unwrap_or_else(|| pad.query_caps(None));
    let Some(caps) = plain(&caps, max_width) else { return Ok(Vec::new()) };
    let (scale, filter) = (make("nvvidconv")?, make("capsfilter")?);
    filter.set_property("caps", caps);
    // A camera that changes its size keeps its proportions.
    if let Some(entrance) = scale.static_pad("sink") {
        let weak = filter.downgrade();
        entrance.add_probe(gst::PadProbeType::EVENT_DOWNSTREAM, move |_, info| {
            if let Some(gst::PadProbeData::Event(event)) = &info.data
                && let gst::EventView::Caps(event) = event.view()
                && let (Some(filter), Some(caps)) = (weak.upgrade(), plain(event.caps(), max_width))
            {
                filter.set_property("caps", caps);
            }
            gst::PadProbeReturn::Ok
        });
    }
    Ok(vec![scale, filter])
}

#[cfg(test)]
mod tests {
    use gstreamer_app as gst_app;

    use super::*;
    use crate::capture::pipelines::video_sink;
    use crate::pipeline::attach;
    use crate::pipeline::init;

    const BOARD: &str = "video/x-raw(memory:NVMM),format=NV12,width=1280,height=720,framerate=25/1";
    const PLAIN: &str = "video/x-raw,format=NV12,width=1280,height=720,framerate=25/1";

    #[test]
    fn only_what_lies_in_the_boards_memory_is_scaled_there() {
        init().unwrap();
        let plain_of = |caps: &str| plain(&caps.parse::<gst::Caps>().unwrap(), 640).map(|caps| caps.to_string());
        let board = "video/x-raw(memory:NVMM), format=NV12, width=1920, height=1080, framerate=30/1";
        let small = "video/x-raw, format=(string)I420, width=(int)640, height=(int)360";
        assert_eq!(plain_of(board).as_deref(), Some(small));
        assert_eq!(plain_of("video/x-raw, format=NV12, width=1920, height=1080"), None);
        let unknown = "video/x-raw, format=(string)I420";
        assert_eq!(plain_of("video/x-raw(memory:NVMM)").as_deref(), Some(unknown));
        let portrait = "video/x-raw(memory:NVMM), width=480, height=640";
        assert!(plain_of(portrait).unwrap().contains("width=(int)480, height=(int)640"), "never up");
    }

    /// Stands for NVIDIA's element where there is none: takes pictures of the board's memory only.
    mod image_processor {
        use gstreamer as gst;
        use gstreamer::glib;
        use gstreamer::prelude::*;
        use gstreamer::subclass::prelude::*;
        use gstreamer_app as gst_app;

        #[derive(Default)]
        pub struct Inside;

        #[glib::object_subclass]
        impl ObjectSubclass for Inside {
            const NAME: &'static str = "EngramFakeImageProcessor";
            type Type = FakeImageProcessor;
            type ParentType = gst::Bin;
        }

        impl ObjectImpl for Inside {
            fn constructed(&self) {
                self.parent_constructed();
                let make = |name: &str| gst::ElementFactory::make(name).build().unwrap();
                let caps = |text: &str| text.parse::<gst::Caps>().unwrap();
                let taken = gst_app::AppSink::builder()
                    .caps(&caps("video/x-raw(memory:NVMM)"))
                    .sync(false)
                    .async_(false)
                    .build();
                let given = gst_app::AppSrc::builder().caps(&caps(super::PLAIN)).format(gst::Format::Time).build();
                let (convert, scale) = (make("videoconvert"), make("videoscale"));
                let next = given.clone();
                let hand_on = move |sink: &gst_app::AppSink| {
                    let sample = sink.pull_sample().map_err(|_| gst::FlowError::Eos)?;
                    next.push_buffer(sample.buffer_owned().ok_or(gst::FlowError::Error)?)
                };
                taken.set_callbacks(gst_app::AppSinkCallbacks::builder().new_sample(hand_on).build());
                let bin = self.obj();
                bin.add_many([taken.upcast_ref(), given.upcast_ref(), &convert, &scale]).unwrap();
                gst::Element::link_many([given.upcast_ref(), &convert, &scale]).unwrap();
                for (element, name) in [(taken.upcast_ref(), "sink"), (&scale, "src")] {
                    let pad: gst::Pad = gst::Element::static_pad(element, name).unwrap();
                    bin.add_pad(&gst::GhostPad::builder_with_target(&pad).unwrap().name(name).build()).unwrap();
                }
            }
        }
        impl GstObjectImpl for Inside {}
        impl ElementImpl for Inside {}
        impl BinImpl for Inside {}

        glib::wrapper! {
            pub struct FakeImageProcessor(ObjectSubclass<Inside>) @extends gst::Bin, gst::Element, gst::Object,
                @implements gst::ChildProxy;
        }
    }

    #[test]
    fn what_a_hardware_decoder_brings_arrives_small_and_in_plain_memory() {
        init().unwrap();
        if gst::ElementFactory::find("nvvidconv").is_none() {
            let fake = image_processor::FakeImageProcessor::static_type();
            gst::Element::register(None, "nvvidconv", gst::Rank::NONE, fake).unwrap();
        } else {
            println!("SKIPPED: this is a Jetson");
            return;
        }
        let pipeline = gst::Pipeline::new();
        let caps: gst::Caps = BOARD.parse().unwrap();
        let decoder = gst_app::AppSrc::builder().caps(&caps).format(gst::Format::Time).build();
        pipeline.add(&decoder).unwrap();
        let pad = decoder.static_pad("src").unwrap();
        // As decodebin shows its pads: with their caps.
        pad.set_active(true).unwrap();
        pad.push_event(gst::event::StreamStart::new("decoder"));
        pad.push_event(gst::event::Caps::new(&caps));
        let mut branch = to_plain(&pad, 640).unwrap();
        assert_eq!(branch.len(), 2);
        let sink = video_sink();
        branch.push(sink.clone().upcast());
        attach(pipeline.upcast_ref(), &pad, &branch).unwrap();
        pipeline.set_state(gst::State::Playing).unwrap();
        let mut picture = gst::Buffer::with_size(1280 * 720 * 3 / 2).unwrap();
        picture.get_mut().unwrap().set_pts(gst::ClockTime::ZERO);
        decoder.push_buffer(picture).unwrap();
        let sample = sink.try_pull_sample(gst::ClockTime::from_seconds(20)).expect("a picture");
        pipeline.set_state(gst::State::Null).unwrap();
        let caps = sample.caps().unwrap();
        assert!(!caps.features(0).unwrap().contains("memory:NVMM"));
        let picture = caps.structure(0).unwrap();
        assert_eq!((picture.get("width"), picture.get("height")), (Ok(640), Ok(360)));
    }
}
