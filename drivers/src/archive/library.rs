//! The index of the archive: finds and deletes chunks, and keeps their budget.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use memory_core::{StreamSpan, TimeSpan, Timestamp};
use parking_lot::Mutex;

use super::name::{ChunkName, Recording};

/// How much the archive may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArchiveLimits {
    /// Bytes of all chunks together; the oldest go first.
    pub budget_bytes: u64,
    /// Bytes that stay free on the disk whatever the budget says: they are the memory's.
    pub keep_free_bytes: u64,
    /// Length of a chunk.
    pub chunk: Duration,
}

/// Counts of the archive's content.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ArchiveStatus {
    /// Chunks.
    pub chunks: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Begin of the oldest.
    pub oldest: Option<Timestamp>,
    /// Why nothing is recorded at present.
    pub error: Option<String>,
}

/// A moment in the archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// The chunk that has it.
    pub path: PathBuf,
    /// The source's folder.
    pub source: String,
    /// The chunk's name.
    pub name: ChunkName,
    /// Begin in the chunk.
    pub offset: Duration,
    /// End of the chunk, in stream time.
    pub end: Duration,
}

/// Chunks by wall-clock begin, then source: the order in which they are deleted.
type Key = (Timestamp, String, ChunkName);

#[derive(Debug, Clone, Copy)]
struct Chunk {
    end: Duration,
    bytes: u64,
}

/// The archive. Shared by the recorders and its readers.
#[derive(Debug)]
pub struct Archive {
    directory: PathBuf,
    limits: ArchiveLimits,
    chunks: Mutex<BTreeMap<Key, Chunk>>,
    error: Mutex<Option<String>>,
}

fn wall_begin(name: ChunkName) -> Timestamp {
    name.session.saturating_add(name.begin)
}

impl Archive {
    /// Opens the archive in `directory`, which need not be there yet, and reads which chunks there are. Files with other
    /// names are left alone.
    ///
    /// # Errors
    /// If the directory is there and cannot be read.
    pub fn open(directory: &Path, limits: ArchiveLimits) -> std::io::Result<Self> {
        let mut found: BTreeMap<(String, ChunkName), (u64, Option<Timestamp>)> = BTreeMap::new();
        for source in entries(directory)? {
            let Ok(folder) = source.file_name().into_string() else { continue };
            if !source.file_type()?.is_dir() {
                continue;
            }
            for chunk in entries(&source.path())? {
                let name = chunk.file_name().to_str().and_then(ChunkName::parse);
                // An empty one is being begun, or was left by a kill.
                if let (Some(name), Ok(about)) = (name, chunk.metadata())
                    && about.len() > 0
                {
                    let written = about.modified().ok().and_then(since_1970);
                    found.insert((folder.clone(), name), (about.len(), written));
                }
            }
        }
        let mut chunks = BTreeMap::new();
        let names: Vec<(String, ChunkName)> = found.keys().cloned().collect();
        for (place, ((source, name), (bytes, written))) in found.into_iter().enumerate() {
            let next = names.get(place + 1).filter(|(other, next)| *other == source && next.session == name.session);
            // Its end is where the next one begins; of the last one, when it was last written, if that can be true.
            let written = written.map(|at| at.since(name.session)).filter(|end| {
                let most = name.begin + 2 * limits.chunk;
                *end > name.begin && *end < most
            });
            let last = written.unwrap_or(name.begin + limits.chunk);
            let end = next.map_or(last, |(_, next)| next.begin.min(name.begin + 3 * limits.chunk));
            chunks.insert((wall_begin(name), source, name), Chunk { end, bytes });
        }
        Ok(Self { directory: directory.to_owned(), limits, chunks: Mutex::new(chunks), error: Mutex::new(None) })
    }

    /// Removes what a kill left behind: chunks without a byte, and parts of copies. Only for the one program that records,
    /// before it does.
    ///
    /// # Errors
    /// If the directory cannot be read; what cannot be removed is logged.
    pub fn tidy(&self) -> std::io::Result<usize> {
        let mut removed = 0;
        for source in entries(&self.directory)? {
            if !source.file_type()?.is_dir() {
                continue;
            }
            for file in entries(&source.path())? {
                let path = file.path();
                let chunk = |name: &str| ChunkName::parse(name).is_some();
                let name = file.file_name().into_string().unwrap_or_default();
                let empty = chunk(&name) && file.metadata().is_ok_and(|about| about.len() == 0);
                let part = name.strip_suffix(".part").is_some_and(|name| chunk(&[name, ".mkv"].concat()));
                if empty || part {
                    match remove(&path) {
                        Ok(()) => removed += 1,
                        Err(error) => {
                            tracing::warn!(path = %path.display(), %error, "an incomplete file of a killed run cannot be deleted")
                        }
                    }
                }
            }
        }
        Ok(removed)
    }

    /// How much it may take.
    pub fn limits(&self) -> ArchiveLimits {
        self.limits
    }

    /// Returns counts of the content.
    pub fn status(&self) -> ArchiveStatus {
        let chunks = self.chunks.lock();
        ArchiveStatus {
            chunks: chunks.len(),
            bytes: chunks.values().map(|chunk| chunk.bytes).sum(),
            oldest: chunks.keys().next().map(|(begin, ..)| *begin),
            error: self.error.lock().clone(),
        }
    }

    /// The chunk that has the begin of `stream`, or, if that is gone, the first that has any of it.
    pub fn locate(&self, recording: &Recording, stream: StreamSpan) -> Option<Located> {
        let chunks = self.chunks.lock();
        let own = chunks.iter().filter(|((_, source, name), chunk)| {
            *source == recording.source
                && name.session == recording.session
                && chunk.end > stream.start
                && (name.begin < stream.end || name.begin <= stream.start)
        });
        let ((_, source, name), chunk) = own.min_by_key(|((_, _, name), _)| name.begin)?;
        Some(self.located(source, *name, *chunk, stream.start.saturating_sub(name.begin)))
    }

    /// Every chunk that has any of `stream`, in order of time. The offset is where `stream` begins in it.
    pub fn showing(&self, recording: &Recording, stream: StreamSpan) -> Vec<Located> {
        let chunks = self.chunks.lock();
        let own = chunks.iter().filter(|((_, source, name), chunk)| {
            *source == recording.source
                && name.session == recording.session
                && chunk.end > stream.start
                && (name.begin < stream.end || name.begin <= stream.start)
        });
        own.map(|((_, source, name), chunk)| {
            self.located(source, *name, *chunk, stream.start.saturating_sub(name.begin))
        })
        .collect()
    }

    /// Takes a chunk that was recorded elsewhere, unless it is there already. Nothing is deleted to make room for it. Says
    /// whether it is there afterwards.
    ///
    /// # Errors
    /// If it cannot be read or written.
    pub fn adopt(&self, source: &str, name: ChunkName, from: &mut std::fs::File) -> std::io::Result<bool> {
        if source.is_empty() || source.starts_with('.') || source.contains(['/', '\0']) {
            return Ok(false);
        }
        let key = (wall_begin(name), source.to_owned(), name);
        if self.chunks.lock().contains_key(&key) {
            return Ok(true);
        }
        let bytes = from.metadata()?.len();
        let free = free_bytes(&self.directory).unwrap_or(u64::MAX);
        let room = self.status().bytes.saturating_add(bytes) <= self.limits.budget_bytes
            && free.saturating_sub(bytes) >= self.limits.keep_free_bytes;
        if bytes == 0 || !room {
            return Ok(false);
        }
        let path = self.path(source, name);
        make_folder(&self.directory.join(source))?;
        let part = path.with_extension("part");
        remove(&part)?;
        let copied = create_private(&part).and_then(|mut to| {
            std::io::copy(from, &mut to)?;
            to.sync_all()
        });
        copied.and_then(|()| std::fs::rename(&part, &path)).inspect_err(|_| drop(remove(&part)))?;
        // The name must outlive a power cut as well as the bytes: an import says that it is here.
        std::fs::File::open(self.directory.join(source))?.sync_all()?;
        self.chunks.lock().insert(key, Chunk { end: name.begin + self.limits.chunk, bytes });
        Ok(true)
    }

    /// Every chunk of `source` that has any of `span`, in order of time. The offset is where `span` begins in it.
    pub fn covering(&self, source: Option<&str>, span: TimeSpan) -> Vec<Located> {
        let chunks = self.chunks.lock();
        let touching = chunks.iter().filter(|((begin, own, name), chunk)| {
            source.is_none_or(|source| source == own)
                && *begin < span.end
                && name.session.saturating_add(chunk.end) > span.start
        });
        let located = touching
            .map(|((begin, source, name), chunk)| self.located(source, *name, *chunk, span.start.since(*begin)));
        located.collect()
    }

    /// The file of a chunk, by name; `None` if the archive has none. No path is ever made from what somebody asks for.
    pub fn file(&self, source: &str, name: &str) -> Option<PathBuf> {
        let name = ChunkName::parse(name)?;
        let known = self.chunks.lock().contains_key(&(wall_begin(name), source.to_owned(), name));
        known.then(|| self.path(source, name))
    }

    /// Deletes every chunk that shows any of `span`; says how many. Chunks go whole: that is why they are short.
    ///
    /// # Errors
    /// If one could not be deleted; the others are.
    pub fn forget(&self, source: Option<&str>, span: TimeSpan) -> std::io::Result<usize> {
        let mut chunks = self.chunks.lock();
        let doomed: Vec<Key> = chunks
            .iter()
            .filter(|((begin, own, name), chunk)| {
                source.is_none_or(|source| source == own)
                    && *begin <= span.end
                    && name.session.saturating_add(chunk.end) >= span.start
            })
            .map(|(key, _)| key.clone())
            .collect();
        let mut failed = None;
        for key in &doomed {
            match remove(&self.path(&key.1, key.2)) {
                Ok(()) => drop(chunks.remove(key)),
                Err(error) => failed = Some(error),
            }
        }
        failed.map_or(Ok(doomed.len()), Err)
    }

    /// Makes room for a new chunk and gives the file it goes to.
    ///
    /// # Errors
    /// Why there is no room, or no folder.
    pub(super) fn begin_chunk(&self, source: &str, name: ChunkName) -> Result<PathBuf, String> {
        let begun = self.make_room().and_then(|()| {
            let folder = self.directory.join(source);
            make_folder(&folder).map_err(|error| format!("{} cannot be made: {error}", folder.display()))?;
            let path = folder.join(name.to_string());
            // The muxer keeps the mode of a file that is there: what a camera saw is for nobody else, whatever the umask.
            remove(&path)
                .and_then(|()| create_private(&path))
                .map_err(|error| format!("{} cannot be made: {error}", path.display()))?;
            Ok(path)
        });
        (*self.error.lock()).clone_from(&begun.as_ref().err().cloned());
        if begun.is_ok() {
            let chunk = Chunk { end: name.begin, bytes: 0 };
            self.chunks.lock().insert((wall_begin(name), source.to_owned(), name), chunk);
        }
        begun
    }

    /// Says how far a chunk has come. Says whether it is still wanted: it may have been forgotten while it was written.
    pub(super) fn reached(&self, source: &str, name: ChunkName, end: Duration) -> bool {
        let mut chunks = self.chunks.lock();
        let Some(chunk) = chunks.get_mut(&(wall_begin(name), source.to_owned(), name)) else { return false };
        chunk.end = chunk.end.max(end);
        true
    }

    /// A chunk is complete, or broke off.
    pub(super) fn end_chunk(&self, source: &str, name: ChunkName) {
        let path = self.path(source, name);
        let mut chunks = self.chunks.lock();
        let key = (wall_begin(name), source.to_owned(), name);
        let bytes = std::fs::metadata(&path).map_or(0, |about| about.len());
        let empty = match chunks.get_mut(&key) {
            // Forgotten while it was written.
            None => true,
            Some(chunk) => {
                chunk.bytes = bytes;
                bytes == 0
            }
        };
        if empty {
            chunks.remove(&key);
            drop(chunks);
            if let Err(error) = remove(&path) {
                tracing::warn!(path = %path.display(), %error, "a chunk cannot be deleted");
            }
        }
    }

    /// The disk is full, whatever the numbers said: the oldest chunk goes.
    pub(super) fn disk_full(&self, reason: &str) {
        *self.error.lock() = Some(reason.to_owned());
        self.drop_oldest();
    }

    fn make_room(&self) -> Result<(), String> {
        loop {
            let free = free_bytes(&self.directory);
            let over_budget = self.status().bytes > self.limits.budget_bytes;
            let full = free.is_some_and(|free| free < self.limits.keep_free_bytes);
            if !over_budget && !full {
                return Ok(());
            }
            if !self.drop_oldest() {
                return Err(format!(
                    "recording stops: {} MiB are free beside {}, and {} stay free for the memory (recording.keep_free_mib)",
                    free.unwrap_or(0) >> 20,
                    self.directory.display(),
                    self.limits.keep_free_bytes >> 20
                ));
            }
        }
    }

    /// Deletes the oldest chunk that is complete; says whether there was one.
    fn drop_oldest(&self) -> bool {
        let mut chunks = self.chunks.lock();
        let complete = chunks.iter().find(|(_, chunk)| chunk.bytes > 0).map(|(key, _)| key.clone());
        let Some(key) = complete else { return false };
        let path = self.path(&key.1, key.2);
        if let Err(error) = remove(&path) {
            // It still takes its room, and the next attempt may succeed. No chunk after it is deleted in its place.
            tracing::warn!(path = %path.display(), %error, "a chunk cannot be deleted");
            return false;
        }
        chunks.remove(&key);
        true
    }

    fn path(&self, source: &str, name: ChunkName) -> PathBuf {
        self.directory.join(source).join(name.to_string())
    }

    fn located(&self, source: &str, name: ChunkName, chunk: Chunk, offset: Duration) -> Located {
        Located { path: self.path(source, name), source: source.to_owned(), name, offset, end: chunk.end }
    }
}

fn entries(directory: &Path) -> std::io::Result<Vec<std::fs::DirEntry>> {
    match std::fs::read_dir(directory) {
        Ok(entries) => entries.collect(),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Makes a folder that only its owner may read.
fn make_folder(path: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(path)
}

/// Makes a file that only its owner may read.
fn create_private(path: &Path) -> std::io::Result<std::fs::File> {
    let mut options = std::fs::File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path)
}

fn remove(path: &Path) -> std::io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn since_1970(time: std::time::SystemTime) -> Option<Timestamp> {
    let micros = time.duration_since(std::time::UNIX_EPOCH).ok()?.as_micros();
    i64::try_from(micros).ok().map(Timestamp::from_micros)
}

/// Free bytes on the disk of `path`, or of what it will be made in.
fn free_bytes(path: &Path) -> Option<u64> {
    let there = path.ancestors().find(|ancestor| ancestor.exists())?;
    let about = rustix::fs::statvfs(there).ok()?;
    Some(about.f_bavail.saturating_mul(about.f_frsize))
}

#[cfg(test)]
mod tests;
