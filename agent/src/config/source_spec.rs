//! From `uri = "rtsp://…"` to what capture opens.

use std::path::PathBuf;
use std::time::Duration;

use drivers::capture::{CameraFormat, FileSource, SourceKind, SourceSpec, Speed, Subtitles};
use memory_core::Timestamp;

use super::SourceConfig;

/// The prefixes that a source can have.
const KINDS: [&str; 11] =
    ["file:", "v4l2:", "argus:", "rtsp://", "rtsps://", "alsa:", "pulse:", "shm:", "test", "pipeline:", "pulse"];

/// What capture is told about the source `name`.
///
/// # Errors
/// If the uri or the start time cannot be read; the message says what to write instead.
pub fn source_spec(name: &str, source: &SourceConfig) -> Result<SourceSpec, String> {
    let mut spec = SourceSpec::new(name, kind(source)?);
    spec.video = source.video;
    spec.audio = source.audio;
    spec.max_width = source.max_width;
    spec.watchdog = Duration::from_secs_f64(source.watchdog_s);
    Ok(spec)
}

fn kind(source: &SourceConfig) -> Result<SourceKind, String> {
    let uri = source.uri.trim();
    let format = CameraFormat { width: source.width, height: source.height, fps: source.fps };
    if uri.starts_with("rtsp://") || uri.starts_with("rtsps://") {
        return Ok(SourceKind::Rtsp { url: uri.to_owned(), latency: Duration::from_millis(source.latency_ms) });
    }
    let (kind, rest) = uri.split_once(':').unwrap_or((uri, ""));
    let needed = |example: &str| {
        if rest.is_empty() {
            Err(format!("`{uri}` names nothing after `{kind}:`; an example is `{example}`"))
        } else {
            Ok(())
        }
    };
    Ok(match kind {
        "test" => SourceKind::Test,
        "file" => {
            needed("file:/data/kitchen.mkv")?;
            SourceKind::File(file(rest.strip_prefix("//").unwrap_or(rest), source)?)
        }
        "v4l2" => {
            let device = if rest.is_empty() { "/dev/video0" } else { rest };
            SourceKind::V4l2 { device: PathBuf::from(device), format }
        }
        "argus" => {
            let sensor = if rest.is_empty() { "0" } else { rest };
            let sensor = sensor.parse().map_err(|_| format!("`{uri}`: the sensor is a number, as in `argus:0`"))?;
            SourceKind::Argus { sensor, format }
        }
        "alsa" => SourceKind::Alsa { device: if rest.is_empty() { "default".to_owned() } else { rest.to_owned() } },
        "pulse" => {
            SourceKind::Pulse { device: (!rest.is_empty()).then(|| rest.to_owned()), server: source.server.clone() }
        }
        "shm" => {
            needed("shm:/run/camera.sock")?;
            // On the command line the caps follow the socket; in the configuration they have a key.
            let (socket, inline) = match rest.find(",video/").or_else(|| rest.find(",audio/")) {
                Some(comma) => (&rest[..comma], Some(rest[comma + 1..].to_owned())),
                None => (rest, None),
            };
            let caps = inline.or_else(|| source.caps.clone()).ok_or_else(|| {
                format!(
                    "`{uri}` needs to know what is sent there: set `caps`, or append it, as in \
                     `shm:{rest},video/x-raw,format=I420,width=640,height=480,framerate=30/1`"
                )
            })?;
            SourceKind::Shm { socket: PathBuf::from(socket), caps }
        }
        "pipeline" => {
            needed("pipeline:videotestsrc ! identity name=video")?;
            SourceKind::Pipeline { description: rest.to_owned() }
        }
        _ if std::path::Path::new(uri).is_file() => SourceKind::File(file(uri, source)?),
        _ => {
            let near = super::closest(kind, KINDS.iter().map(|known| known.trim_end_matches([':', '/'])));
            let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            // What follows may hold a password.
            let shown = if rest.is_empty() { kind.to_owned() } else { format!("{kind}:…") };
            return Err(format!(
                "`{shown}` is no source: it begins with file:, v4l2:, argus:, rtsp://, alsa:, pulse, shm:, test or pipeline:{hint}"
            ));
        }
    })
}

fn file(path: &str, source: &SourceConfig) -> Result<FileSource, String> {
    let start_at = source.start_at.as_deref().map(Timestamp::parse).transpose().map_err(|error| error.to_string())?;
    Ok(FileSource {
        path: PathBuf::from(path),
        speed: match source.speed {
            super::Speed::Real => Speed::Real,
            super::Speed::Max => Speed::Max,
        },
        subtitles: Subtitles::from(source.subtitles.as_str()),
        start_at,
        repeat: source.repeat,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind_of(uri: &str) -> Result<SourceKind, String> {
        kind(&SourceConfig { uri: uri.to_owned(), ..SourceConfig::default() })
    }

    #[test]
    fn every_kind_of_source_is_read() {
        for (uri, name) in [
            ("test", "test"),
            ("file:/a/b.mkv", "file"),
            ("file:///a/b.mkv", "file"),
            ("v4l2:/dev/video1", "v4l2"),
            ("v4l2", "v4l2"),
            ("argus:1", "argus"),
            ("rtsp://u:p@h/s", "rtsp"),
            ("alsa:hw:1,0", "alsa"),
            ("pulse", "pulse"),
            ("pulse:mic", "pulse"),
            ("shm:/run/cam,video/x-raw,format=I420", "shm"),
            ("pipeline:videotestsrc ! identity name=video", "pipeline"),
        ] {
            assert_eq!(kind_of(uri).map(|kind| kind.name()), Ok(name), "{uri}");
        }
        assert!(matches!(kind_of("alsa:hw:1,0"), Ok(SourceKind::Alsa { device }) if device == "hw:1,0"));
        assert!(
            matches!(kind_of("file:///a/b.mkv"), Ok(SourceKind::File(file)) if file.path == std::path::Path::new("/a/b.mkv"))
        );
        assert!(matches!(
            kind_of("shm:/run/cam,video/x-raw,format=I420"),
            Ok(SourceKind::Shm { caps, .. }) if caps == "video/x-raw,format=I420"
        ));
    }

    #[test]
    fn what_is_no_source_is_told_what_it_may_have_meant() {
        assert!(kind_of("v4l:/dev/video0").unwrap_err().contains("did you mean `v4l2`"));
        assert!(kind_of("argus:left").unwrap_err().contains("argus:0"));
        assert!(kind_of("file:").unwrap_err().contains("file:/data/kitchen.mkv"));
        assert!(kind_of("shm:/run/cam").unwrap_err().contains("caps"));
        assert!(kind_of("").is_err());
    }

    #[test]
    fn a_mistyped_address_is_refused_without_its_password() {
        for uri in
            ["rtps://anna:s3cret@camera/1", "RTSP://anna:s3cret@camera", "anna:s3cret@camera", "htp:anna:s3cret@b"]
        {
            let message = kind_of(uri).unwrap_err();
            assert!(!message.contains("s3cret") && message.contains("is no source"), "{message}");
        }
        assert!(kind_of("rtps://anna:s3cret@camera/1").unwrap_err().contains("did you mean `rtsp`"));
    }
}
