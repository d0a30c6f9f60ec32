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
mod tests {
    use super::*;

    const LIMITS: ArchiveLimits =
        ArchiveLimits { budget_bytes: 250, keep_free_bytes: 0, chunk: Duration::from_secs(10) };

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_micros(1_000_000_000_000).saturating_add(Duration::from_secs(seconds))
    }

    fn record(archive: &Archive, source: &str, session: u64, begin: u64, bytes: usize) -> ChunkName {
        let name = ChunkName { session: at(session), begin: Duration::from_secs(begin) };
        let path = archive.begin_chunk(source, name).unwrap();
        std::fs::write(path, vec![7; bytes]).unwrap();
        assert!(archive.reached(source, name, Duration::from_secs(begin + 10)));
        archive.end_chunk(source, name);
        name
    }

    fn recording(source: &str, session: u64) -> Recording {
        Recording { source: source.into(), session: at(session) }
    }

    fn stream(start: u64, end: u64) -> StreamSpan {
        StreamSpan { start: Duration::from_secs(start), end: Duration::from_secs(end) }
    }

    #[test]
    fn a_moment_is_found_in_its_chunk_also_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let archive = Archive::open(folder.path(), LIMITS).unwrap();
        record(&archive, "eye", 0, 0, 100);
        let second = record(&archive, "eye", 0, 10, 100);
        for archive in [archive, Archive::open(folder.path(), LIMITS).unwrap()] {
            let found = archive.locate(&recording("eye", 0), stream(13, 15)).unwrap();
            assert_eq!((found.name, found.offset), (second, Duration::from_secs(3)));
            assert!(found.path.is_file());
            assert_eq!(archive.locate(&recording("eye", 0), stream(40, 50)), None);
            assert_eq!(archive.locate(&recording("ear", 0), stream(13, 15)), None);
            assert_eq!(archive.locate(&recording("eye", 5), stream(13, 15)), None);
        }
    }

    #[test]
    fn a_chunk_from_elsewhere_is_taken_where_there_is_room_and_takes_nothings_place() {
        let folder = tempfile::tempdir().unwrap();
        let archive = Archive::open(&folder.path().join("media"), LIMITS).unwrap();
        record(&archive, "eye", 0, 0, 100);
        let file = |bytes: usize| {
            let path = folder.path().join("chunk");
            std::fs::write(&path, vec![9; bytes]).unwrap();
            std::fs::File::open(path).unwrap()
        };
        let name = |begin: u64| ChunkName { session: at(500), begin: Duration::from_secs(begin) };
        assert!(archive.adopt("eye", name(0), &mut file(100)).unwrap());
        assert!(archive.adopt("eye", name(0), &mut file(7)).unwrap(), "it is there already");
        assert!(!archive.adopt("eye", name(10), &mut file(51)).unwrap(), "there is no room for it");
        for source in ["", "..", "../out", "/etc", ".hidden"] {
            assert!(!archive.adopt(source, name(20), &mut file(1)).unwrap(), "{source}");
        }
        assert_eq!(archive.status().chunks, 2);
        let found = archive.showing(&recording("eye", 500), stream(3, 5));
        assert_eq!(found.iter().map(|found| found.name).collect::<Vec<_>>(), [name(0)]);
        assert_eq!(std::fs::read(&found[0].path).unwrap().len(), 100);
    }

    #[test]
    fn the_oldest_chunk_goes_first_and_the_budget_holds() {
        let folder = tempfile::tempdir().unwrap();
        let archive = Archive::open(folder.path(), LIMITS).unwrap();
        for begin in [0, 10, 20, 30, 40] {
            record(&archive, "eye", 0, begin, 100);
        }
        // Room is made before a chunk: the last one may stand above the budget.
        assert_eq!(archive.status().chunks, 3);
        assert!(archive.locate(&recording("eye", 0), stream(5, 6)).is_none());
        assert!(archive.locate(&recording("eye", 0), stream(45, 46)).is_some());
        assert_eq!(std::fs::read_dir(folder.path().join("eye")).unwrap().count(), 3);
    }

    #[test]
    fn without_room_for_the_memory_nothing_is_recorded_and_the_reason_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let archive = Archive::open(folder.path(), ArchiveLimits { keep_free_bytes: u64::MAX, ..LIMITS }).unwrap();
        let name = ChunkName { session: at(0), begin: Duration::ZERO };
        let reason = archive.begin_chunk("eye", name).unwrap_err();
        assert!(reason.contains("recording.keep_free_mib"), "{reason}");
        assert_eq!(archive.status().error, Some(reason));
    }

    #[test]
    fn what_is_forgotten_is_deleted_with_every_chunk_that_shows_it() {
        let folder = tempfile::tempdir().unwrap();
        let archive = Archive::open(folder.path(), ArchiveLimits { budget_bytes: 10_000, ..LIMITS }).unwrap();
        for begin in [0, 10, 20, 30] {
            record(&archive, "eye", 0, begin, 100);
            record(&archive, "ear", 0, begin, 100);
        }
        assert_eq!(archive.forget(Some("eye"), TimeSpan::new(at(12), at(21))).unwrap(), 2);
        assert_eq!(archive.status().chunks, 6);
        assert!(archive.locate(&recording("eye", 0), stream(12, 13)).is_none());
        assert!(archive.locate(&recording("ear", 0), stream(12, 13)).is_some());
        assert_eq!(std::fs::read_dir(folder.path().join("eye")).unwrap().count(), 2);
        assert_eq!(archive.forget(None, TimeSpan::new(at(0), at(100))).unwrap(), 6);
    }

    #[test]
    fn what_is_recorded_is_for_its_owner_alone_and_what_a_kill_left_goes() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let archive = Archive::open(folder.path(), LIMITS).unwrap();
        let name = record(&archive, "eye", 0, 0, 10);
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&folder.path().join("eye")), 0o700);
        assert_eq!(mode(&archive.file("eye", &name.to_string()).unwrap()), 0o600);

        let eye = folder.path().join("eye");
        let begun = ChunkName { session: at(0), begin: Duration::from_secs(10) };
        archive.begin_chunk("eye", begun).unwrap();
        for name in ["5-0.part", "notes", "empty.txt"] {
            std::fs::write(eye.join(name), []).unwrap();
        }
        let archive = Archive::open(folder.path(), LIMITS).unwrap();
        assert_eq!(archive.status().chunks, 1, "an empty chunk shows nothing");
        assert_eq!(archive.tidy().unwrap(), 2);
        let mut left: Vec<_> = std::fs::read_dir(eye).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, [name.to_string().as_str(), "empty.txt", "notes"]);
    }

    #[test]
    fn a_chunk_that_cannot_be_deleted_is_still_counted_and_nothing_goes_in_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let archive = Archive::open(folder.path(), LIMITS).unwrap();
        for begin in [0, 10, 20] {
            record(&archive, "eye", 0, begin, 100);
        }
        // A directory cannot be removed as a file, not even by root.
        let oldest = folder.path().join("eye").join(ChunkName { session: at(0), begin: Duration::ZERO }.to_string());
        std::fs::remove_file(&oldest).unwrap();
        std::fs::create_dir(&oldest).unwrap();
        let next = ChunkName { session: at(0), begin: Duration::from_secs(30) };
        assert!(archive.begin_chunk("eye", next).is_err());
        assert_eq!(archive.status().chunks, 3);
        assert!(archive.forget(Some("eye"), TimeSpan::new(at(0), at(5))).is_err());
    }

    #[test]
    fn a_chunk_that_is_forgotten_while_it_is_written_does_not_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let archive = Archive::open(folder.path(), LIMITS).unwrap();
        let name = ChunkName { session: at(0), begin: Duration::ZERO };
        let path = archive.begin_chunk("eye", name).unwrap();
        archive.forget(None, TimeSpan::new(at(0), at(5))).unwrap();
        std::fs::write(&path, [7; 10]).unwrap();
        assert!(!archive.reached("eye", name, Duration::from_secs(6)));
        archive.end_chunk("eye", name);
        assert!(!path.exists());
        assert_eq!(archive.status(), ArchiveStatus::default());
    }

    #[test]
    fn only_chunks_of_the_archive_have_a_file() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("secret.mkv"), b"x").unwrap();
        let archive = Archive::open(folder.path(), LIMITS).unwrap();
        let name = record(&archive, "eye", 0, 0, 10);
        assert!(archive.file("eye", &name.to_string()).is_some());
        for (source, name) in [("eye", "../secret.mkv"), ("..", "secret.mkv"), ("eye", "0-0.mkv"), ("", "/etc/passwd")]
        {
            assert_eq!(archive.file(source, name), None);
        }
    }
}
