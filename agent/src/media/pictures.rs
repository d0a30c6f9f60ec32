//! Single pictures out of recordings.

use std::path::PathBuf;
use std::time::Duration;

use drivers::archive::{ClipError, Still, still};
use memory_core::{Episode, Event, StreamSpan, TimeSpan, Timestamp};
use tokio::sync::Semaphore;

use super::MediaLinks;

/// Maximum number of pictures decoded at once. Each takes a core and the memory of a decoder.
const MAX_DECODING: usize = 1;
/// Maximum number of pictures that wait to be decoded.
const MAX_WAITING: usize = 8;
/// How far into an episode its picture is taken: the first pictures of a camera are often dark.
const INTO_EPISODE: Duration = Duration::from_secs(1);

/// Moment that a picture shows.
#[derive(Debug, Clone, PartialEq)]
pub struct PictureMoment {
    media: Option<(String, Duration)>,
    at: Timestamp,
}

impl PictureMoment {
    /// The middle of an event.
    pub fn of_event(event: &Event) -> Self {
        Self::new(event.media.as_deref(), event.stream, event.span, Duration::MAX)
    }

    /// The begin of an episode.
    pub fn of_episode(episode: &Episode) -> Self {
        Self::new(episode.media.as_deref(), episode.stream, episode.span, INTO_EPISODE)
    }

    fn new(media: Option<&str>, stream: Option<StreamSpan>, span: TimeSpan, most: Duration) -> Self {
        let length =
            stream.map_or_else(|| span.end.since(span.start), |stream| stream.end.saturating_sub(stream.start));
        let into = (length / 2).min(most);
        let media = media.zip(stream).map(|(media, stream)| (media.to_owned(), stream.start + into));
        Self { media, at: span.start.saturating_add(into) }
    }

    /// Returns the time of the picture.
    pub fn at(&self) -> Timestamp {
        self.at
    }
}

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PictureError {
    /// Nothing recorded the moment, or the recording is gone.
    #[error("no recording shows this moment, or it was deleted by now")]
    Nothing,
    /// Too many pictures are wanted at once.
    #[error("{MAX_WAITING} pictures wait already")]
    Busy,
    /// The recording cannot be read.
    #[error("the recording cannot be read: {0}")]
    Unreadable(String),
}

/// Takes pictures out of the recordings of an installation.
#[derive(Debug)]
pub struct Pictures {
    links: MediaLinks,
    turns: Semaphore,
    places: Semaphore,
}

impl Pictures {
    /// Creates pictures of these recordings.
    pub fn new(links: MediaLinks) -> Self {
        Self { links, turns: Semaphore::new(MAX_DECODING), places: Semaphore::new(MAX_DECODING + MAX_WAITING) }
    }

    /// The picture of a moment, at most `max_width` pixels across.
    ///
    /// # Errors
    /// See [`PictureError`].
    pub async fn picture(&self, moment: &PictureMoment, max_width: u32) -> Result<Still, PictureError> {
        let _place = self.places.try_acquire().map_err(|_| PictureError::Busy)?;
        let (path, at) = self.file(moment).ok_or(PictureError::Nothing)?;
        let _turn = self.turns.acquire().await.map_err(|_| PictureError::Busy)?;
        let made = tokio::task::spawn_blocking(move || still(&path, at, max_width)).await;
        match made.map_err(|panic| PictureError::Unreadable(panic.to_string()))? {
            Ok(still) => Ok(still),
            Err(ClipError::Nothing) => Err(PictureError::Nothing),
            Err(error) => Err(PictureError::Unreadable(error.to_string())),
        }
    }

    /// The recording of the event itself, else whatever a camera recorded at that time.
    fn file(&self, moment: &PictureMoment) -> Option<(PathBuf, Duration)> {
        let own = moment.media.as_ref().and_then(|(media, at)| self.links.file(media, *at));
        own.or_else(|| {
            let instant = TimeSpan::new(moment.at, moment.at.saturating_add(Duration::from_millis(1)));
            let archive = &self.links.recordings()?.archive;
            archive.covering(None, instant).into_iter().next().map(|chunk| (chunk.path, chunk.offset))
        })
    }
}
