//! Recordings: their addresses, the server that plays them, and their deletion by forgetting.

mod links;
mod pictures;
mod places;
mod server;

use std::sync::Arc;
use std::time::Duration;

use drivers::archive::{Archive, ArchiveLimits};
use memory_core::Memory;

pub use links::{MediaLinks, RecordingLink};
pub use pictures::{PictureError, PictureMoment, Pictures};
pub use places::Places;
pub use server::{MediaServer, token};
pub(crate) use server::{allowed, read_token};

use crate::config::{Config, Directories};
use crate::exit::{Exit, Failure};

/// The recordings of an installation. Cheap to clone; clones share them.
#[derive(Debug, Clone)]
pub struct Recordings {
    /// Recordings of live sources.
    pub archive: Arc<Archive>,
    /// Directories of other recordings.
    pub places: Arc<Places>,
}

impl Recordings {
    /// Opens those that the configuration means.
    ///
    /// # Errors
    /// [`Exit::Store`] if the archive's directory cannot be read.
    pub fn open(config: &Config) -> Result<Self, Failure> {
        Ok(Self { archive: archive(config)?, places: Arc::new(Places::from_config(config)) })
    }
}

/// Opens the archive that the configuration means. What was recorded is found also where recording is off by now.
///
/// # Errors
/// [`Exit::Store`] if its directory cannot be read.
pub fn archive(config: &Config) -> Result<Arc<Archive>, Failure> {
    let directory = Directories::from_config(config).media;
    let recording = &config.recording;
    let limits = ArchiveLimits {
        budget_bytes: recording.budget_mib << 20,
        keep_free_bytes: recording.keep_free_mib << 20,
        chunk: Duration::from_secs_f64(recording.chunk_s),
    };
    Archive::open(&directory, limits).map(Arc::new).map_err(|error| {
        Failure::new(Exit::Store, format!("the recordings in {} cannot be read: {error}", directory.display()))
    })
}

/// Deletes the recordings of what was forgotten, and notes that they are gone. What cannot be deleted now is tried again
/// after the next request, and at the next start. Returns how many are left.
///
/// A file that came with an import is deleted whole. A file that was played where it lay is the user's and stays.
pub fn delete_forgotten(memory: &Memory, recordings: &Recordings) -> usize {
    let doomed = match memory.recordings_to_remove() {
        Ok(doomed) => doomed,
        Err(error) => {
            tracing::error!(%error, "cannot read which recordings must be deleted");
            return 1;
        }
    };
    let wanted = doomed.len();
    let mut gone = Vec::with_capacity(wanted);
    for (number, recording) in doomed {
        let archived = recordings.archive.forget(recording.source.as_deref(), recording.span).map(drop);
        match archived.and_then(|()| delete_imported(recording.media.as_deref(), &recordings.places)) {
            Ok(()) => gone.push(number),
            Err(error) => tracing::error!(%error, "a recording of a forgotten event cannot be deleted"),
        }
    }
    if !gone.is_empty()
        && let Err(error) = memory.recordings_removed(&gone)
    {
        tracing::warn!(%error, "cannot record that recordings were deleted; they are searched again");
    }
    wanted - gone.len()
}

fn delete_imported(media: Option<&str>, places: &Places) -> std::io::Result<()> {
    let file = media.and_then(|media| places.imported_file_of(media));
    match file.map_or(Ok(()), std::fs::remove_file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
