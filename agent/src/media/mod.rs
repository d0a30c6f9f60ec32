//! Recordings: where evidence can be looked at, what serves it, and how forgetting reaches it.

mod links;
mod server;

use std::sync::Arc;
use std::time::Duration;

use drivers::archive::{Archive, ArchiveLimits};
use memory_core::Memory;

pub use links::{Link, MediaLinks};
pub use server::{MediaServer, token};

use crate::config::{Config, Directories};
use crate::exit::{Exit, Failure};

/// Opens the archive that the configuration means. What was recorded is found also where recording is off by now.
///
/// # Errors
/// [`Exit::Store`] if its directory cannot be read.
pub fn archive(config: &Config) -> Result<Arc<Archive>, Failure> {
    let directory = Directories::of(config).media;
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
/// after the next request, and at the next start.
pub fn delete_forgotten(memory: &Memory, archive: &Archive) {
    let doomed = match memory.recordings_to_remove() {
        Ok(doomed) => doomed,
        Err(error) => return tracing::error!(%error, "which recordings must go cannot be read"),
    };
    let mut gone = Vec::with_capacity(doomed.len());
    for (number, recording) in doomed {
        match archive.forget(recording.source.as_deref(), recording.span) {
            Ok(_) => gone.push(number),
            Err(error) => tracing::error!(%error, "a recording of what was forgotten cannot be deleted"),
        }
    }
    if !gone.is_empty()
        && let Err(error) = memory.recordings_removed(&gone)
    {
        tracing::warn!(%error, "that recordings are gone could not be noted; they are looked for again");
    }
}
