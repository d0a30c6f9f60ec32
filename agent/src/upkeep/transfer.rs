//! Export to a directory that people and other programs can read, and import of one.
//!
//! ```text
//! DIR/memory.jsonl     one JSON object a line: the export itself, then everything told and every segment
//! DIR/media/…          the recordings that segments lead to
//! ```

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use memory_core::{EventId, Exported, MaintenanceError, Memory, Observation, Outcome, Timestamp};

use super::lines::{Line, ToldLine, VERSION};
use super::{UpkeepError, files, io_error};

/// Name of the file with the lines.
const LINES: &str = "memory.jsonl";
/// Name of the directory with the recordings.
const MEDIA: &str = "media";
/// Observations of one commit.
const BATCH: usize = 256;
/// Longest line that is read, bytes.
const MAX_LINE: u64 = 16 << 20;

/// What was exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Exporting {
    /// Told observations.
    pub told: u64,
    /// Segments.
    pub segments: u64,
    /// Recordings.
    pub media: u64,
    /// Recordings that are not there any more.
    pub media_missing: u64,
}

/// What was imported.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Importing {
    /// Observations and segments that are new.
    pub accepted: u64,
    /// Those that were there already.
    pub duplicates: u64,
    /// Those that were refused, the first reasons with their lines.
    pub rejected: u64,
    /// Why, for the first ones.
    pub reasons: Vec<String>,
    /// Recordings.
    pub media: u64,
}

/// Reasons that are told one by one.
const MAX_REASONS: usize = 20;

/// Writes everything that is remembered to `directory`, which must not be there: whole or not at all.
///
/// # Errors
/// If the memory or the disk fails.
pub fn export(memory: &Memory, directory: &Path, now: Timestamp) -> Result<Exporting, UpkeepError> {
    let new = files::beginning(directory, false)?;
    files::make_private(&new.path)?;
    let path = new.path.join(LINES);
    let file = File::create(&path).map_err(io_error(&path))?;
    let mut out = BufWriter::with_capacity(1 << 18, file);
    let mut done = Exporting::default();
    let mut media = MediaOut { directory: new.path.join(MEDIA), known: BTreeMap::new() };
    let mut write = |line: &Line| -> std::io::Result<()> {
        serde_json::to_writer(&mut out, line)?;
        out.write_all(b"\n")
    };
    let begin =
        Line::Export { version: VERSION, instance: memory.instance().to_owned(), at: now.format(&TimeZone::UTC) };
    write(&begin).map_err(io_error(&path))?;
    memory.export(&mut |exported: Exported| {
        let mut line = Line::of(exported);
        match &mut line {
            Line::Segment(segment) => {
                done.segments += 1;
                if let Some(uri) = segment.media.take() {
                    segment.media = media.copy(&uri, &mut done).map_err(MaintenanceError::Write)?;
                }
            }
            _ => done.told += 1,
        }
        write(&line).map_err(MaintenanceError::Write)
    })?;
    out.flush().and_then(|()| out.get_ref().sync_all()).map_err(io_error(&path))?;
    new.finish(directory)?;
    Ok(done)
}

/// Copies recordings next to the lines.
struct MediaOut {
    directory: PathBuf,
    /// Path → name within the export; none if it is gone.
    known: BTreeMap<PathBuf, Option<String>>,
}

impl MediaOut {
    /// What a segment leads to in the export: the same place of the copied file, or the address if it is no file.
    fn copy(&mut self, uri: &str, done: &mut Exporting) -> std::io::Result<Option<String>> {
        let Some((path, place)) = file_of(uri) else { return Ok(Some(uri.to_owned())) };
        let name = match self.known.get(&path) {
            Some(name) => name.clone(),
            None => {
                let name = self.copy_file(&path)?;
                if name.is_some() {
                    done.media += 1;
                } else {
                    done.media_missing += 1;
                }
                self.known.insert(path, name.clone());
                name
            }
        };
        Ok(name.map(|name| [MEDIA, "/", &name, &place].concat()))
    }

    fn copy_file(&self, path: &Path) -> std::io::Result<Option<String>> {
        let Some(name) = path.file_name().and_then(|name| name.to_str()).filter(|_| path.is_file()) else {
            return Ok(None);
        };
        std::fs::create_dir_all(&self.directory)?;
        // Files of different directories may have one name.
        let name = format!("{:05}-{name}", self.known.len());
        std::fs::copy(path, self.directory.join(&name))?;
        Ok(Some(name))
    }
}

/// The file of a `file:` address, and the place in it (`#t=…`).
fn file_of(uri: &str) -> Option<(PathBuf, String)> {
    let path = uri.strip_prefix("file://")?;
    let (path, place) = path.split_once('#').map_or((path, String::new()), |(path, place)| (path, format!("#{place}")));
    Some((PathBuf::from(path), place))
}

/// Tells the memory what is in an export; what it knows already is not told twice. Recordings are copied to `media`.
///
/// # Errors
/// If a line cannot be understood, or the memory or the disk fails; what was told before stays.
pub fn import(memory: &Memory, directory: &Path, media: &Path) -> Result<Importing, UpkeepError> {
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
        let line: Line = serde_json::from_slice(&text).map_err(|error| wrong(number, error.to_string()))?;
        let observation = match (line, &source) {
            (Line::Export { version: VERSION, instance, .. }, None) => {
                source = Some(instance);
                continue;
            }
            (Line::Export { version, .. }, None) => {
                return Err(wrong(number, format!("version {version} is not known, only {VERSION}")));
            }
            (_, None) => return Err(wrong(number, "the file does not begin like an export of engram".to_owned())),
            (Line::Export { .. }, Some(_)) => {
                return Err(wrong(number, "a second export begins; import one at a time".to_owned()));
            }
            (Line::Told(line), Some(instance)) => match known(memory, instance, &line)? {
                Some(Known::There) => {
                    done.duplicates += 1;
                    continue;
                }
                Some(Known::Forgotten) => {
                    done.reject(number, "it was forgotten in this memory and stays forgotten");
                    continue;
                }
                None => Observation::Told(line.into_told(instance).map_err(|message| wrong(number, message))?),
            },
            (Line::Segment(mut line), Some(_)) => {
                line.media = match line.media.take() {
                    Some(uri) => media_in(directory, media, &uri, &mut done)?,
                    None => None,
                };
                Observation::Perceived(line.into_segment().map_err(|message| wrong(number, message))?)
            }
        };
        batch.push((number, observation));
        if batch.len() == BATCH {
            tell(memory, &mut batch, &mut done)?;
        }
    }
    tell(memory, &mut batch, &mut done)?;
    Ok(done)
}

enum Known {
    There,
    Forgotten,
}

/// What this memory knows of something that was told to it without an id.
fn known(memory: &Memory, instance: &str, line: &ToldLine) -> Result<Option<Known>, UpkeepError> {
    let Some(event) = line.event().filter(|_| !line.has_id() && instance == memory.instance()) else { return Ok(None) };
    if event.0 == 0 || event.0 > memory.stats().last_event {
        return Ok(None);
    }
    let there = memory.events(Some(EventId(event.0 - 1)), 1)?.into_iter().find(|found| found.id == event);
    Ok(match there {
        Some(found) if found.text == line.text() => Some(Known::There),
        // Another memory was restored in its place since.
        Some(_) => None,
        None => Some(Known::Forgotten),
    })
}

fn tell(memory: &Memory, batch: &mut Vec<(usize, Observation)>, done: &mut Importing) -> Result<(), UpkeepError> {
    let (lines, observations): (Vec<usize>, Vec<Observation>) = batch.drain(..).unzip();
    if observations.is_empty() {
        return Ok(());
    }
    for (line, outcome) in lines.into_iter().zip(memory.observe(observations)?) {
        match outcome {
            Outcome::Accepted { .. } | Outcome::Corrected { .. } => done.accepted += 1,
            Outcome::Duplicate { .. } => done.duplicates += 1,
            Outcome::Rejected { message } => done.reject(line, &message),
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

/// Copies a recording of an export to where recordings are kept, and says what leads to it there.
fn media_in(directory: &Path, media: &Path, uri: &str, done: &mut Importing) -> Result<Option<String>, UpkeepError> {
    let Some(rest) = uri.strip_prefix(MEDIA).and_then(|rest| rest.strip_prefix('/')) else {
        return Ok(Some(uri.to_owned()));
    };
    let (name, place) = rest.split_once('#').map_or((rest, String::new()), |(name, place)| (name, format!("#{place}")));
    // A line must not lead out of the export.
    let from = files::confined(&directory.join(MEDIA), name)?;
    if !from.is_file() {
        return Ok(None);
    }
    files::make_private(media)?;
    let to = media.join(name);
    let same = |a: &Path, b: &Path| a.metadata().map(|a| a.len()).ok() == b.metadata().map(|b| b.len()).ok();
    if !to.is_file() || !same(&from, &to) {
        std::fs::copy(&from, &to).map_err(io_error(&to))?;
        done.media += 1;
    }
    Ok(Some(format!("file://{}{place}", to.display())))
}
