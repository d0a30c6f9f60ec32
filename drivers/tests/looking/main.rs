//! Looking at recordings again, through real GStreamer pipelines and recordings made on the spot.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // Tests fail by panicking and say what they skip.

mod archived;
mod frames;
mod likeness;
#[path = "../media/mod.rs"]
mod media;
mod objects;
mod places;
mod signs;
mod speech;
mod vision_model;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use drivers::archive::{FrameOptions, RecordingPart, pictures};
use drivers::encoders::{Detection, Encoder, EncoderError, Encoders, Filled, ObjectDetector, Picture};
use drivers::looking::{Labels, Looking, Recordings};
use drivers::perception::Pace;
use media::{AUDIO, DEADLINE, VIDEO};
use memory_core::StreamSpan;
use memory_core::reasoning::{LookOrder, Tool};
use parking_lot::Mutex;

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn options() -> FrameOptions<'static> {
    FrameOptions {
        short_edge: None,
        ceiling_bytes: 64 << 20,
        deadline: Instant::now() + DEADLINE,
        cancelled: &|| false,
    }
}

/// A recording of which each second is lighter than the one before, with a key picture every `keys` pictures.
fn lighter(folder: &Path, name: &str, seconds: u64, keys: u32) -> PathBuf {
    let path = folder.join(name);
    let muxer = media::muxer(name);
    let encode = VIDEO.replace("key-int-max=25", &format!("key-int-max={keys}"));
    let parts: String = (0..seconds)
        .map(|second| {
            let grey = 16 + 14 * (second % 16);
            let colour = 0xff00_0000_u32 | (grey as u32) << 16 | (grey as u32) << 8 | grey as u32;
            format!(
                "videotestsrc pattern=solid-color foreground-color={colour} num-buffers=25 ! \
                 video/x-raw,format=I420,width=320,height=180,framerate=25/1 ! c. "
            )
        })
        .collect();
    media::make(&format!(
        "concat name=c ! queue ! {encode} ! {muxer} name=mux ! filesink location={} {parts} \
         audiotestsrc samplesperbuffer=1600 num-buffers={} ! {AUDIO} ! queue ! mux.",
        path.display(),
        10 * seconds
    ));
    path
}

fn whole(path: &Path, from: Duration, to: Duration) -> Vec<RecordingPart> {
    vec![RecordingPart { path: path.to_owned(), begin: Duration::ZERO, from, to }]
}

/// The second that a picture of [`lighter`] shows.
fn second_of(picture: &Picture<'_>) -> u64 {
    let middle = picture.rgb[picture.rgb.len() / 2];
    (u64::from(middle).saturating_sub(16) + 7) / 14
}

fn seen(stretches: &[RecordingPart], times: &[Duration]) -> Vec<(u64, Duration)> {
    let mut seen = Vec::new();
    pictures(stretches, times, options(), |at, picture| seen.push((second_of(picture), at))).unwrap();
    seen
}

/// Sees a lamp where it is light, and counts what it was shown.
struct Lamps(Mutex<Vec<(u32, u32)>>);

impl ObjectDetector for Lamps {}

impl Encoder<Picture<'_>, Vec<Detection>> for Lamps {
    fn model(&self) -> &str {
        "lamps"
    }

    fn encode(&self, picture: &Picture<'_>) -> Result<Vec<Detection>, EncoderError> {
        self.0.lock().push((picture.width, picture.height));
        let light = second_of(picture) >= 6;
        let lamp = Detection { label: Arc::from("lamp"), score: 0.8, bounds: [0.4, 0.4, 0.6, 0.6] };
        Ok(light.then_some(lamp).into_iter().collect())
    }
}

struct OneFile(Option<PathBuf>);

impl Recordings for OneFile {
    fn stretches(&self, _: &str, stream: StreamSpan) -> Vec<RecordingPart> {
        self.0.iter().flat_map(|path| whole(path, stream.start, stream.end)).collect()
    }
}

fn looking(path: Option<PathBuf>) -> (Looking, Arc<Lamps>) {
    let lamps = Arc::new(Lamps(Mutex::default()));
    let filled = Filled { objects: Some(Arc::clone(&lamps) as _), ..Filled::default() };
    let labels = Labels { objects: vec!["lamp".to_owned()], scenes: vec!["kitchen".to_owned()] };
    (Looking::new(Encoders::ready(filled), labels, Arc::new(OneFile(path)), Pace::default()), lamps)
}

fn order(tool: Tool, cancelled: &(dyn Fn() -> bool + Sync)) -> LookOrder<'_> {
    LookOrder {
        tool,
        question: "Where is the lamp?",
        media: "file:///a.mkv",
        stream: StreamSpan { start: ms(4000), end: ms(9000) },
        pictures: 10,
        asked: &[],
        things: &[],
        places: &[],
        ceiling_bytes: 64 << 20,
        budget: DEADLINE,
        cancelled,
    }
}
