//! `engram clip`: seconds of a recording as a file of their own.

use std::sync::Arc;
use std::time::Duration;

use drivers::archive::{ClipError, ClipPart, clip};
use jiff::tz::TimeZone;
use memory_core::{Clock, EpisodeFilter, EpisodeId, SystemClock, TimeSpan, Timestamp};
use serde_json::{Value as Json, json};

use super::{inspect, place};
use crate::cli::{ClipArgs, GlobalArgs};
use crate::config::Loaded;
use crate::exit::{Exit, Failure, OrExit};
use crate::media::Recordings;
use crate::output::Output;
use crate::{opening, when};

/// Writes the clip and says what is in it.
///
/// # Errors
/// See the exit codes; [`Exit::Nothing`] if no recording has any of it.
pub fn run(args: &ClipArgs, global: &GlobalArgs, output: Output) -> Result<Exit, Failure> {
    let (loaded, _) = super::prepare(global, true)?;
    let config = &loaded.config;
    let zone = opening::zone(config)?;
    let clock = Arc::new(SystemClock::new());
    let now = clock.now();
    if args.out.exists() && !args.force {
        let message = format!("{} is there already; name another file, or give --force", args.out.display());
        return Err(Failure::new(Exit::Usage, message));
    }
    if place::is_named(&loaded) {
        let message = "recordings do not travel over MQTT, so a clip is cut where they are: run it on the robot without \
                       --robot, --mqtt-host and --mqtt-port, name its memory with --data-dir, or open the `media` of \
                       evidence, if [recording.server] serves it";
        return Err(Failure::new(Exit::Usage, message));
    }
    let recordings = Recordings::open(config)?;
    let wanted = wanted(args, &loaded, clock, now, &zone)?;
    let parts = wanted.parts(&recordings, args.source.as_deref())?;
    let length = clip(&parts, &args.out).map_err(|error| {
        let exit = match &error {
            ClipError::Nothing => Exit::Nothing,
            ClipError::Container(_) => Exit::Usage,
            _ => Exit::Source,
        };
        Failure { exit, error: error.into() }
    })?;
    if output.json {
        output.json(&json!({
            "clip": args.out, "seconds": length.as_secs_f64(),
            "recordings": parts.iter().map(|part| &part.path).collect::<Vec<_>>(),
        }));
    } else {
        output.text(format!("{}: {:.1} s", args.out.display(), length.as_secs_f64()));
    }
    Ok(Exit::Ok)
}

/// Span of the clip.
struct WantedClip {
    span: TimeSpan,
    /// Episodes with the recordings that are files of their own.
    episodes: Vec<Episode>,
    /// The episode's own source, if one was named.
    source: Option<String>,
}

struct Episode {
    start: Timestamp,
    stream_start: Duration,
    media: String,
}

fn wanted(
    args: &ClipArgs,
    loaded: &Loaded,
    clock: Arc<SystemClock>,
    now: Timestamp,
    zone: &TimeZone,
) -> Result<WantedClip, Failure> {
    if let Some(id) = &args.episode {
        let id: EpisodeId =
            id.parse().map_err(|_| Failure::new(Exit::Usage, format!("`{id}` is no episode; an example is ep-42")))?;
        let found = inspect::one_episode(loaded, clock, id, zone)?;
        let nothing = || Failure::new(Exit::Nothing, format!("there is no episode {id}, or it was forgotten"));
        let episode = found.ok_or_else(nothing)?;
        let at = |field: &str| episode[field].as_str().and_then(|text| Timestamp::parse(text).ok());
        let (Some(start), Some(end)) = (at("start"), at("end")) else { return Err(nothing()) };
        return Ok(WantedClip {
            span: TimeSpan::new(start, end),
            episodes: read(&episode).into_iter().collect(),
            source: episode["source"].as_str().map(str::to_owned),
        });
    }
    let point = |text: &Option<String>| -> Result<Timestamp, Failure> {
        let text = text.as_deref().unwrap_or_default();
        when::parse(text, now, zone).map_err(|message| Failure::new(Exit::Usage, message))
    };
    let (since, until) = (point(&args.since)?, point(&args.until)?);
    if since >= until {
        return Err(Failure::new(Exit::Usage, "`--since` is not before `--until`"));
    }
    let span = TimeSpan::new(since, until);
    let filter = EpisodeFilter { span: Some(span), limit: Some(200), ..EpisodeFilter::default() };
    let found = inspect::list_episodes(loaded, clock, &filter, zone)?;
    let episodes = found["episodes"].as_array().into_iter().flatten();
    let of_source = |episode: &&Json| args.source.as_deref().is_none_or(|source| episode["source"] == source);
    Ok(WantedClip { span, episodes: episodes.filter(of_source).filter_map(read).collect(), source: None })
}

/// An episode that a file shows.
fn read(episode: &Json) -> Option<Episode> {
    let media = episode["media"].as_str().filter(|media| media.starts_with("file://"))?.to_owned();
    let stream = episode["stream_start_s"].as_f64()?;
    Some(Episode {
        start: Timestamp::parse(episode["start"].as_str()?).ok()?,
        stream_start: Duration::try_from_secs_f64(stream).ok()?,
        media,
    })
}

impl WantedClip {
    /// Takes the recording from the archive if it has one, else from the files that are their own recording.
    fn parts(&self, recordings: &Recordings, source: Option<&str>) -> Result<Vec<ClipPart>, Failure> {
        let source = source.or(self.source.as_deref());
        let chunks = recordings.archive.covering(source, self.span);
        let mut sources: Vec<&str> = chunks.iter().map(|chunk| chunk.source.as_str()).collect();
        sources.dedup();
        sources.sort_unstable();
        sources.dedup();
        if sources.len() > 1 {
            let message = format!("several sources recorded it: choose one with --source ({})", sources.join(", "));
            return Err(Failure::new(Exit::Usage, message));
        }
        if !chunks.is_empty() {
            return Ok(chunks
                .into_iter()
                .map(|chunk| {
                    let end = self.span.end.since(chunk.name.session).min(chunk.end);
                    ClipPart { path: chunk.path, from: chunk.offset, to: end.saturating_sub(chunk.name.begin) }
                })
                .collect());
        }
        let mut parts: Vec<ClipPart> = Vec::new();
        let mut elsewhere = None;
        for episode in &self.episodes {
            // The answer may be a stranger's: only what this installation knows as a recording is opened.
            let Some((path, _)) = recordings.places.file_of(&episode.media) else {
                elsewhere = Some(&episode.media);
                continue;
            };
            // Wall-clock time of the file's begin.
            let begin = episode.start.saturating_sub(episode.stream_start);
            let part = ClipPart { path, from: self.span.start.since(begin), to: self.span.end.since(begin) };
            // The episodes of one file are one stretch of it.
            if !parts.iter().any(|known| known.path == part.path && known.from.abs_diff(part.from) < TIME_TOLERANCE) {
                parts.push(part);
            }
        }
        match parts.as_slice() {
            [] if elsewhere.is_some() => {
                let media = elsewhere.map_or("", String::as_str);
                let message = format!("{media} is gone, or it is no recording of this installation (see --data-dir)");
                Err(Failure::new(Exit::Nothing, message))
            }
            [] => Err(ClipError::Nothing).or_exit(Exit::Nothing),
            [_] => Ok(parts),
            _ => Err(Failure::new(Exit::Usage, "several files show it: choose one with --source, or name an episode")),
        }
    }
}

/// Tolerance of times: those in answers are rounded to the millisecond.
const TIME_TOLERANCE: Duration = Duration::from_millis(5);
