//! Clips made by GStreamer and espeak-ng, each once for a build folder.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::{fixtures_dir, run_to_end};

const MAKING: Duration = Duration::from_secs(120);

/// One subtitle: from, until (seconds), text.
pub type Line<'a> = (f64, f64, &'a str);

/// What the talking clip says, and when.
pub const TALK: [Line<'static>; 3] = [
    (1.0, 3.5, "Please bring the blue mug to the kitchen table."),
    (8.0, 11.0, "The parcel for Anna is in the hallway."),
    (15.0, 18.0, "The plants by the window were watered this morning."),
];

/// Three drawn scenes of 7 s with a tone and the subtitles of [`TALK`], as Matroska.
///
/// # Errors
/// If GStreamer is absent or fails.
pub fn talk() -> Result<PathBuf> {
    let subtitles = made("talk.srt", |path| Ok(std::fs::write(path, srt(&TALK))?))?;
    launch(
        "talk.mkv",
        &format!(
            "matroskamux name=m ! filesink location=OUT \
             concat name=c ! queue ! vp8enc deadline=1 cpu-used=8 ! m. \
             videotestsrc num-buffers=105 pattern=smpte ! {PICTURE} ! c. \
             videotestsrc num-buffers=105 pattern=checkers-8 ! {PICTURE} ! c. \
             videotestsrc num-buffers=105 pattern=gradient ! {PICTURE} ! c. \
             audiotestsrc num-buffers=210 samplesperbuffer=1600 wave=ticks ! {SOUND} ! opusenc ! m. \
             filesrc location={} ! subparse ! text/x-raw,format=utf8 ! queue ! m.",
            subtitles.display()
        ),
    )
}

/// Twelve seconds of picture without sound, as MP4.
///
/// # Errors
/// If GStreamer is absent or fails.
pub fn video_only() -> Result<PathBuf> {
    launch(
        "video-only.mp4",
        &format!("videotestsrc num-buffers=180 pattern=ball ! {PICTURE} ! {H264} ! mp4mux ! filesink location=OUT"),
    )
}

/// Twelve seconds of sound without a picture, as MP4.
///
/// # Errors
/// If GStreamer is absent or fails.
pub fn audio_only() -> Result<PathBuf> {
    launch(
        "audio-only.mp4",
        &format!(
            "audiotestsrc num-buffers=120 samplesperbuffer=1600 wave=ticks ! {SOUND} ! avenc_aac ! aacparse ! mp4mux ! \
             filesink location=OUT"
        ),
    )
}

/// Scenes of one colour each, `seconds` long, without sound, as Matroska; colours are `0xRRGGBB`.
///
/// # Errors
/// If GStreamer is absent or fails.
pub fn colours(name: &str, colours: &[u32], seconds: u32) -> Result<PathBuf> {
    let frames = 15 * seconds;
    let scene = |colour: &u32| {
        format!(
            " videotestsrc num-buffers={frames} pattern=solid-color foreground-color={} ! {PICTURE} ! c.",
            0xff00_0000 | colour
        )
    };
    let scenes: String = colours.iter().map(scene).collect();
    launch(
        &format!("{name}.mkv"),
        &format!(
            "matroskamux name=m ! filesink location=OUT concat name=c ! queue ! vp8enc deadline=1 cpu-used=8 ! m.{scenes}"
        ),
    )
}

/// An MP4 that was cut off in the middle: its index, which a recorder writes last, is missing.
///
/// # Errors
/// If GStreamer is absent or fails.
pub fn truncated() -> Result<PathBuf> {
    let whole = video_only()?;
    made("truncated.mp4", |path| {
        let bytes = std::fs::read(&whole)?;
        Ok(std::fs::write(path, &bytes[..bytes.len() * 6 / 10])?)
    })
}

/// A text that calls itself a video.
///
/// # Errors
/// If it cannot be written.
pub fn not_media() -> Result<PathBuf> {
    made("shopping-list.mp4", |path| Ok(std::fs::write(path, "milk\nbread\nbatteries for the robot\n".repeat(200))?))
}

const PICTURE: &str = "video/x-raw,width=640,height=360,framerate=15/1 ! videoconvert ! video/x-raw,format=I420";
const SOUND: &str = "audio/x-raw,rate=16000,channels=1 ! audioconvert ! audioresample";
const H264: &str = "x264enc speed-preset=ultrafast tune=zerolatency key-int-max=30 ! h264parse";

/// The text of a SubRip file.
pub fn srt(lines: &[Line<'_>]) -> String {
    let stamp = |seconds: f64| {
        let millis = Duration::from_secs_f64(seconds).as_millis();
        let (hours, minutes) = (millis / 3_600_000, millis / 60_000 % 60);
        format!("{hours:02}:{minutes:02}:{:02},{:03}", millis / 1000 % 60, millis % 1000)
    };
    let block = |(index, (from, until, text)): (usize, &Line<'_>)| {
        format!("{}\n{} --> {}\n{text}\n\n", index + 1, stamp(*from), stamp(*until))
    };
    lines.iter().enumerate().map(block).collect()
}

/// Runs a pipeline whose sink is `OUT`.
fn launch(name: &str, pipeline: &str) -> Result<PathBuf> {
    made(name, |path| {
        let words: Vec<String> =
            pipeline.split_whitespace().map(|word| word.replace("OUT", &path.display().to_string())).collect();
        let ended = run_to_end(Command::new("gst-launch-1.0").arg("-q").args(&words), MAKING)
            .context("install the package gstreamer1.0-tools")?;
        ensure!(ended.code == Some(0), "gst-launch-1.0 could not make {name}: {}", ended.stderr);
        Ok(())
    })
}

/// Makes a file unless it is there. Tests run side by side: each makes its own and the last rename wins.
fn made(name: &str, make: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
    let path = fixtures_dir()?.join(name);
    if !path.is_file() {
        let draft = path.with_file_name(format!("{}-{name}", std::process::id()));
        make(&draft).with_context(|| format!("cannot make the clip {name}"))?;
        std::fs::rename(&draft, &path).with_context(|| format!("cannot name {}", path.display()))?;
    }
    Ok(path)
}
