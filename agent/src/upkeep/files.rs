//! Names that others choose, and files that are whole or not there.

use std::fs::{DirBuilder, File};
use std::io;
use std::path::{Path, PathBuf};

use super::{UpkeepError, io_error};

/// Maximum length of the name of a backup or an export.
const MAX_NAME: usize = 128;

/// What is wrong with a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The name could lead out of its directory.
    #[error(
        "`{0}` is not a plain name: use letters, digits, `-`, `_`, and `.` except at the beginning; at most {MAX_NAME}"
    )]
    NotPlain(String),
    /// There is such a file.
    #[error("{} exists already; choose another name", .0.display())]
    Exists(PathBuf),
}

/// The path of a name in a directory, which it cannot lead out of.
///
/// # Errors
/// If the name is more than a name.
pub fn confined(directory: &Path, name: &str) -> Result<PathBuf, FileError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.len() > MAX_NAME || name.starts_with('.') || !name.chars().all(plain) {
        return Err(FileError::NotPlain(name.chars().take(MAX_NAME).collect()));
    }
    Ok(directory.join(name))
}

/// The path of a file in a directory by a name with any characters, which it cannot lead out of.
///
/// # Errors
/// If the name is more than a name.
pub fn inside(directory: &Path, name: &str) -> Result<PathBuf, FileError> {
    let plain = !name.is_empty() && name != "." && name != ".." && !name.contains(['/', '\0']);
    if plain { Ok(directory.join(name)) } else { Err(FileError::NotPlain(name.chars().take(MAX_NAME).collect())) }
}

/// Makes a directory that only its owner may read.
pub fn make_private(directory: &Path) -> Result<(), UpkeepError> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(directory).map_err(io_error(directory))
}

/// Makes a file that only its owner may read, and which must not be there.
pub fn create_private(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path)
}

/// Gives a file or directory to the owner of another one, where this user is not he and may do so.
pub fn give_to_owner_of(path: &Path, other: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let (own, owner) = (path.symlink_metadata()?, other.metadata()?);
        if own.uid() != owner.uid() {
            std::os::unix::fs::lchown(path, Some(owner.uid()), Some(owner.gid()))?;
        }
    }
    Ok(())
}

/// Opens a file to read it, unless its name is that of a link, a pipe or a device.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        // Opening a pipe would wait for its writer.
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        options.custom_flags(i32::try_from(flags.bits()).map_err(io::Error::other)?);
    }
    let file = options.open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"))
    }
}

/// Bytes of a disk that backups and exports leave free.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reserve {
    /// How many.
    pub bytes: u64,
}

/// Number of bytes written between two checks of the free space.
const CHECK_BYTES: u64 = 4 << 20;

impl Reserve {
    /// Whether `more` bytes beside `path` leave enough free.
    ///
    /// # Errors
    /// [`UpkeepError::NoRoom`] if not.
    pub fn check(self, path: &Path, more: u64) -> Result<(), UpkeepError> {
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // A file system that does not say is not kept from.
        let Ok(about) = rustix::fs::statvfs(directory) else { return Ok(()) };
        let free = about.f_bavail.saturating_mul(about.f_frsize);
        if free.saturating_sub(more) >= self.bytes {
            return Ok(());
        }
        let (free, reserve) = (crate::output::bytes(free), crate::output::bytes(self.bytes));
        Err(UpkeepError::NoRoom { path: path.to_path_buf(), free, reserve })
    }

    /// Looks now and then at what is free while `path` is written.
    pub fn guard<W: io::Write>(self, inner: W, path: &Path) -> Guarded<W> {
        Guarded { inner, reserve: self, path: path.to_path_buf(), written: 0, looked: 0, full: None }
    }
}

/// A file that is written while there is room.
pub struct Guarded<W> {
    inner: W,
    reserve: Reserve,
    path: PathBuf,
    written: u64,
    looked: u64,
    full: Option<UpkeepError>,
}

impl<W> Guarded<W> {
    /// Returns the file being written.
    pub fn get_ref(&self) -> &W {
        &self.inner
    }

    /// Returns the file being written.
    pub fn into_inner(self) -> W {
        self.inner
    }

    /// Whether there was room for everything.
    ///
    /// # Errors
    /// [`UpkeepError::NoRoom`] if not.
    pub fn checked(&mut self) -> Result<(), UpkeepError> {
        self.full.take().map_or(Ok(()), Err)
    }
}

impl<W: io::Write> io::Write for Guarded<W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        if self.written >= self.looked {
            self.looked = self.written + CHECK_BYTES;
            if let Err(full) = self.reserve.check(&self.path, CHECK_BYTES) {
                self.full = Some(full);
                return Err(io::Error::new(io::ErrorKind::StorageFull, "the rest of the disk is kept for the memory"));
            }
        }
        let written = self.inner.write(data)?;
        self.written += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Prefix of names that the program chooses itself.
pub const OWN_PREFIX: &str = "engram-";

/// Age from which an unfinished file counts as abandoned. A writer touches its file all the time.
const ABANDONED_AFTER: std::time::Duration = std::time::Duration::from_secs(24 * 3600);

/// Removes the oldest backups and exports of a directory that this program named itself, beyond the newest `keep`, and those
/// that a kill or a power cut kept from becoming whole.
pub fn retain(directory: &Path, keep: usize) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    let mut own: Vec<(std::time::SystemTime, PathBuf)> = Vec::new();
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let Ok(modified) = entry.metadata().and_then(|metadata| metadata.modified()) else { continue };
        let is_upkeep =
            |name: &str| name.starts_with(OWN_PREFIX) && (name.ends_with(".backup") || name.ends_with("-export"));
        if is_upkeep(&name) {
            own.push((modified, entry.path()));
        } else if name.strip_suffix(UNFINISHED_SUFFIX).is_some_and(is_upkeep)
            && modified.elapsed().is_ok_and(|age| age > ABANDONED_AFTER)
        {
            tracing::info!(path = %entry.path().display(), "what is left of a backup or export that was cut off is removed");
            remove(&entry.path());
        }
    }
    own.sort();
    let surplus = own.len().saturating_sub(keep);
    for (_, path) in own.drain(..surplus) {
        tracing::info!(path = %path.display(), keep, "an old backup or export is removed (backup.keep)");
        remove(&path);
    }
}

/// Suffix of the name of a file or directory that is not complete yet.
const UNFINISHED_SUFFIX: &str = ".new";

/// A file or directory that is not whole yet; removed unless it is finished.
pub struct Beginning {
    pub path: PathBuf,
    finished: bool,
}

/// Returns the temporary path for `path`.
pub fn beginning(path: &Path, replace: bool) -> Result<Beginning, UpkeepError> {
    if !replace && path.symlink_metadata().is_ok() {
        return Err(FileError::Exists(path.to_path_buf()).into());
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(UNFINISHED_SUFFIX);
    let beginning = Beginning { path: path.with_file_name(name), finished: false };
    // What another run left when it was cut off.
    remove(&beginning.path);
    Ok(beginning)
}

impl Beginning {
    /// Gives it its name, durably.
    pub fn finish(mut self, path: &Path) -> Result<(), UpkeepError> {
        std::fs::rename(&self.path, path).map_err(io_error(path))?;
        self.finished = true;
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        File::open(directory).and_then(|directory| directory.sync_all()).map_err(io_error(directory))
    }
}

impl Drop for Beginning {
    fn drop(&mut self) {
        if !self.finished {
            remove(&self.path);
        }
    }
}

fn remove(path: &Path) {
    let removed = match path.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => std::fs::remove_dir_all(path),
        Ok(_) => std::fs::remove_file(path),
        Err(_) => return,
    };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!(path = %path.display(), %error, "an unfinished file could not be removed");
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_in_its_directory() {
        let directory = Path::new("/backups");
        assert_eq!(confined(directory, "kitchen-2026.11_20"), Ok(PathBuf::from("/backups/kitchen-2026.11_20")));
        for name in ["", ".", "..", "../x", "/etc/passwd", "a/b", "a\\b", ".hidden", "a\0b", "ü", &"x".repeat(129)] {
            assert!(confined(directory, name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn of_what_the_program_named_itself_the_newest_stay_and_of_the_rest_everything() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        for (age, name) in (0..).zip(["engram-4.backup", "engram-3-export", "engram-2.backup", "engram-1.backup"]) {
            if name.ends_with("-export") {
                std::fs::create_dir(at(name)).unwrap();
            } else {
                std::fs::write(at(name), "x").unwrap();
            }
            let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1000 - age);
            File::open(at(name)).unwrap().set_modified(time).unwrap();
        }
        for name in ["monday.backup", "engram-notes"] {
            std::fs::write(at(name), "x").unwrap();
        }
        retain(directory.path(), 2);
        let mut left: Vec<_> =
            std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["engram-3-export", "engram-4.backup", "engram-notes", "monday.backup"]);
    }

    #[test]
    fn of_backups_that_were_cut_off_nothing_stays_for_ever() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let long_ago = std::time::SystemTime::now() - 2 * ABANDONED_AFTER;
        for name in ["engram-1.backup.new", "engram-2.backup.new", "monday.backup.new"] {
            std::fs::write(at(name), "half").unwrap();
        }
        std::fs::create_dir(at("engram-3-export.new")).unwrap();
        std::fs::write(at("engram-3-export.new").join("memory.jsonl"), "half").unwrap();
        // The second is being written.
        for name in ["engram-1.backup.new", "monday.backup.new", "engram-3-export.new"] {
            File::open(at(name)).unwrap().set_modified(long_ago).unwrap();
        }
        retain(directory.path(), 2);
        let mut left: Vec<_> =
            std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["engram-2.backup.new", "monday.backup.new"]);
    }

    #[test]
    fn what_is_kept_for_the_memory_is_not_written_to() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.backup");
        let all = Reserve { bytes: u64::MAX };
        assert!(matches!(all.check(&path, 0), Err(UpkeepError::NoRoom { .. })));
        assert!(Reserve::default().check(&path, 0).is_ok());
        let mut out = all.guard(Vec::new(), &path);
        assert_eq!(io::Write::write(&mut out, b"x").unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert!(matches!(out.checked(), Err(UpkeepError::NoRoom { .. })));
        assert!(out.get_ref().is_empty());
    }

    #[test]
    fn what_is_not_finished_is_removed_and_what_is_there_is_not_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.backup");
        let begun = beginning(&path, false).unwrap();
        std::fs::write(&begun.path, "half").unwrap();
        drop(begun);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
        let begun = beginning(&path, false).unwrap();
        std::fs::write(&begun.path, "whole").unwrap();
        begun.finish(&path).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "whole");
        assert!(matches!(beginning(&path, false), Err(UpkeepError::Name(FileError::Exists(_)))));
        beginning(&path, true).unwrap();
    }
}
