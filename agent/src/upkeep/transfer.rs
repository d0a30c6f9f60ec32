//! Export to a directory that people and other programs can read, and import of one.
//!
//! ```text
//! DIR/memory.jsonl     one JSON object a line: the export itself, then everything told and every segment
//! DIR/media/…          the recordings that segments lead to
//! DIR/SHA256SUMS       the digests of all of them, as `sha256sum --check` reads them
//! ```

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use jiff::tz::TimeZone;
use memory_core::{EventId, Exported, MaintenanceError, Memory, Observation, ObserveOutcome, Timestamp};

use super::lines::{ExportLine, ToldLine, VERSION};
use super::recordings::{MediaIn, MediaOut};
use super::sums::{self, SUMS, Summing};
use super::{Reserve, UpkeepError, files, io_error};
use crate::media::Recordings;

/// Name of the file with the lines.
pub const LINES: &str = "memory.jsonl";
/// Name of the directory with the recordings.
pub const MEDIA: &str = "media";
/// Number of observations of one commit.
const BATCH_OBSERVATIONS: usize = 256;
/// Maximum length of a line, in bytes.
pub const MAX_LINE: u64 = 16 << 20;

/// Result of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Exporting {
    /// Told observations.
    pub told: u64,
    /// Segments.
    pub segments: u64,
    /// Recordings.
    pub media: u64,
    /// Segments whose recording is not there any more, or where this memory does not look.
    pub media_missing: u64,
}

/// Result of an import.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Importing {
    /// Observations and segments that are new.
    pub accepted: u64,
    /// Observations that were there already.
    pub duplicates: u64,
    /// Refused observations, and the first reasons with their lines.
    pub rejected: u64,
    /// Why, for the first ones.
    pub reasons: Vec<String>,
    /// Recordings.
    pub media: u64,
    /// Segments whose recording is not in the export, leads out of it, or finds no room.
    pub media_missing: u64,
}

/// Maximum number of reasons that are reported one by one.
const MAX_REASONS: usize = 20;

/// Writes everything that is remembered to `directory`, which must not be there: whole or not at all.
///
/// # Errors
/// If the memory or the disk fails.
pub fn export(
    memory: &Memory,
    directory: &Path,
    now: Timestamp,
    recordings: Option<&Recordings>,
    reserve: Reserve,
) -> Result<Exporting, UpkeepError> {
    let new = files::beginning(directory, false)?;
    reserve.check(&new.path, 0)?;
    files::make_private(&new.path)?;
    let path = new.path.join(LINES);
    let file = files::create_private(&path).map_err(io_error(&path))?;
    let mut out = BufWriter::with_capacity(1 << 18, Summing::new(reserve.guard(file, &path)));
    let mut done = Exporting::default();
    let mut media = MediaOut::new(new.path.join(MEDIA), recordings, reserve);
    let mut write = |line: &ExportLine| -> std::io::Result<()> {
        serde_json::to_writer(&mut out, line)?;
        out.write_all(b"\n")
    };
    let begin =
        ExportLine::Export { version: VERSION, instance: memory.instance().to_owned(), at: now.format(&TimeZone::UTC) };
    write(&begin).map_err(io_error(&path))?;
    memory.export(&mut |exported: Exported| {
        let mut line = ExportLine::from_exported(exported);
        match &mut line {
            ExportLine::Segment(segment) => {
                done.segments += 1;
                media.copy(segment).map_err(MaintenanceError::Write)?;
                done.media_missing += u64::from(segment.media_missing);
            }
            _ => done.told += 1,
        }
        write(&line).map_err(MaintenanceError::Write)
    })?;
    let (file, digest) = out.into_inner().map_err(|error| io_error(&path)(error.into_error()))?.finish();
    file.into_inner().sync_all().map_err(io_error(&path))?;
    (done.media, media.sums) = (media.copied, media.sums + &sums::line(&digest, LINES));
    let path = new.path.join(SUMS);
    files::create_private(&path)
        .and_then(|mut file| file.write_all(media.sums.as_bytes()).and_then(|()| file.sync_all()))
        .map_err(io_error(&path))?;
    new.finish(directory)?;
    Ok(done)
}

/// Tells the memory what is in an export; what it knows already is not told twice. Its recordings are copied to those of this
/// installation, and what leads anywhere else is left out.
///
/// # Errors
/// If a line cannot be understood, or the memory or the disk fails; what was told before stays.
pub fn import(memory: &Memory, directory: &Path, recordings: &Recordings) -> Result<Importing, UpkeepError> {
    let mut media = MediaIn::new(directory.join(MEDIA), recordings);
    let path = directory.join(LINES);
    let mut reader = BufReader::new(File::open(&path).map_err(io_error(&path))?);
    let wrong = |line: usize, message: String| UpkeepError::Line { path: path.clone(), line, message };
    let mut done = Importing::default();
    let mut source = None;
    let mut batch = Vec::new();
    let mut text = Vec::new();
    for number in 1.. {
        text.clear();
        let read = std::io::Read::take(&mut reader, MAX_LINE).read_until(b'\n', &mut text).map_err(io_error(&path))?;
        if read == 0 {
            break;
        }
        if text.trim_ascii().is_empty() {
            continue;
        }
        let line: ExportLine = serde_json::from_slice(&text).map_err(|error| wrong(number, error.to_string()))?;
        let observation = match (line, &source) {
            (ExportLine::Export { version: VERSION, instance, .. }, None) => {
                source = Some(instance);
                continue;
            }
            (ExportLine::Export { version, .. }, None) => {
                return Err(wrong(number, format!("version {version} is not known, only {VERSION}")));
            }
            (_, None) => return Err(wrong(number, "the file does not begin like an export of engram".to_owned())),
            (ExportLine::Export { .. }, Some(_)) => {
                return Err(wrong(number, "a second export begins; import one at a time".to_owned()));
            }
            (ExportLine::Told(line), Some(instance)) => match known(memory, instance, &line)? {
                Some(KnownEvent::There) => {
                    done.duplicates += 1;
                    continue;
                }
                Some(KnownEvent::Forgotten) => {
                    done.reject(number, "it was forgotten in this memory and stays forgotten");
                    continue;
                }
                None => Observation::Told(line.into_told(instance).map_err(|message| wrong(number, message))?),
            },
            (ExportLine::Segment(mut line), Some(_)) => {
                done.media_missing += u64::from(!media.copy(&mut line)?);
                Observation::Perceived(line.into_segment().map_err(|message| wrong(number, message))?)
            }
        };
        batch.push((number, observation));
        if batch.len() == BATCH_OBSERVATIONS {
            tell(memory, &mut batch, &mut done)?;
        }
    }
    tell(memory, &mut batch, &mut done)?;
    done.media = media.copied;
    Ok(done)
}

enum KnownEvent {
    There,
    Forgotten,
}

/// Finds what this memory knows of something that was told to it without an id.
fn known(memory: &Memory, instance: &str, line: &ToldLine) -> Result<Option<KnownEvent>, UpkeepError> {
    let Some(event) = line.event().filter(|_| !line.has_id() && instance == memory.instance()) else { return Ok(None) };
    if event.0 == 0 || event.0 > memory.stats().last_event {
        return Ok(None);
    }
    let there = memory.events(Some(EventId(event.0 - 1)), 1)?.into_iter().find(|found| found.id == event);
    Ok(match there {
        Some(found) if found.text == line.text() => Some(KnownEvent::There),
        // Another memory was restored in its place since.
        Some(_) => None,
        None => Some(KnownEvent::Forgotten),
    })
}

fn tell(memory: &Memory, batch: &mut Vec<(usize, Observation)>, done: &mut Importing) -> Result<(), UpkeepError> {
    let (lines, observations): (Vec<usize>, Vec<Observation>) = batch.drain(..).unzip();
    if observations.is_empty() {
        return Ok(());
    }
    for (line, outcome) in lines.into_iter().zip(memory.observe(observations)?) {
        match outcome {
            ObserveOutcome::Accepted { .. } | ObserveOutcome::Corrected { .. } => done.accepted += 1,
            ObserveOutcome::Duplicate { .. } => done.duplicates += 1,
            ObserveOutcome::Rejected { message } => done.reject(line, &message),
        }
    }
    Ok(())
}

impl Importing {
    fn reject(&mut self, line: usize, message: &str) {
        self.rejected += 1;
        if self.reasons.len() < MAX_REASONS {
            self.reasons.push(format!("line {line}: {message}"));
        }
    }
}
