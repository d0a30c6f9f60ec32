//! The models directory and its downloads.
//!
//! A file appears under its name only when it is complete and has the pinned sha256. Until then it is a partial file beside
//! it, which a later pull continues. Only one pull at a time may use the directory.

mod fetch;
mod lock;
mod mirror;
mod unpinned;

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

pub use lock::{LOCK_FILE, read_lock, write_lock};
pub use unpinned::Arrived;

use super::installed::{digest_of, verify};
use super::{LibraryBuild, ModelFile, OriginalSource, Source};
use fetch::Fetcher;
use mirror::Mirror;

/// Bytes that are left free besides what is downloaded. The memory is often on the same disk.
const RESERVE_BYTES: u64 = 64 << 20;

/// A file that the store is to hold.
#[derive(Debug, Clone, Copy)]
pub struct Pinned<'a> {
    /// Name in the models directory.
    pub file: &'a str,
    /// Lower-case hexadecimal; empty where it is not known.
    pub sha256: &'a str,
    /// Size.
    pub bytes: u64,
    /// Where it can be had, in order.
    pub sources: &'a [Source],
}

impl<'a> From<&'a ModelFile> for Pinned<'a> {
    fn from(file: &'a ModelFile) -> Self {
        Self { file: &file.file, sha256: &file.sha256, bytes: file.bytes, sources: &file.sources }
    }
}

impl<'a> From<&'a LibraryBuild> for Pinned<'a> {
    fn from(library: &'a LibraryBuild) -> Self {
        Self { file: &library.file, sha256: &library.sha256, bytes: library.bytes, sources: &library.sources }
    }
}

impl Pinned<'_> {
    /// Whether the file is at `path`; an error if it is neither the pinned one nor another build that a source names.
    pub(super) fn verify(&self, path: &Path) -> Result<bool, String> {
        if self.sha256.is_empty() {
            let unknown = "its sha256 is not known: engram models pull with its role shows it and asks for it";
            return if path.exists() { Err(unknown.to_owned()) } else { Ok(false) };
        }
        let found = path.metadata().map(|data| data.len()).ok();
        // By size first: only one of the builds is hashed.
        let other = self.sources.iter().filter_map(Source::other_build).find(|(_, bytes)| Some(*bytes) == found);
        match other {
            Some((sha256, bytes)) if found != Some(self.bytes) => verify(path, bytes, sha256),
            _ => verify(path, self.bytes, self.sha256),
        }
    }
}

/// Why a file is not there after a pull.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PullError {
    /// The directory cannot be used.
    #[error("{}: {source}; name a directory that can be written with --dir or models.dir", path.display())]
    Directory {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another pull fills the same directory.
    #[error("{} is being filled by another `engram models`: wait for it", path.display())]
    Busy {
        /// Which.
        path: PathBuf,
    },
    /// Not enough room.
    #[error(
        "{file} needs {needed} bytes and {} has {free} free beyond the reserve: make room, or name another directory",
        path.display()
    )]
    Full {
        /// Which file.
        file: String,
        /// What it takes.
        needed: u64,
        /// What there is.
        free: u64,
        /// Where.
        path: PathBuf,
    },
    /// No source had the pinned bytes.
    #[error("{file} cannot be had: {}", reasons.join("; "))]
    Unavailable {
        /// Which file.
        file: String,
        /// What each source said.
        reasons: Vec<String>,
    },
    /// A folder that was named as mirror is none.
    #[error("the mirror {}: {source}", path.display())]
    Mirror {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// A models directory that is being filled.
pub struct ModelStore {
    directory: PathBuf,
    mirror: Option<Mirror>,
    fetcher: Fetcher,
    free: fn(&Path) -> io::Result<u64>,
    /// Held as long as the store: a lock that ends with the process, however it ends.
    _lock: File,
}

impl ModelStore {
    /// Makes `directory` if it is not there and locks it against other pulls. Files of `mirror`, a folder that may hold
    /// them under any name, are preferred to their sources.
    ///
    /// # Errors
    /// If the directory cannot be written, is being filled, or the mirror cannot be read.
    pub fn open(directory: &Path, mirror: Option<&Path>) -> Result<Self, PullError> {
        let unusable = |source| PullError::Directory { path: directory.to_path_buf(), source };
        std::fs::create_dir_all(directory).map_err(unusable)?;
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(directory.join(".pull"))
            .map_err(unusable)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(PullError::Busy { path: directory.to_path_buf() }),
            Err(TryLockError::Error(source)) => return Err(unusable(source)),
        }
        let mirror = mirror
            .map(|path| Mirror::open(path).map_err(|source| PullError::Mirror { path: path.to_path_buf(), source }))
            .transpose()?;
        Ok(Self {
            directory: directory.to_path_buf(),
            mirror,
            fetcher: Fetcher::default(),
            free: free_space,
            _lock: lock,
        })
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Puts a file in its place and says where it came from; `None` if it was there. `progress` hears how many bytes have
    /// arrived.
    ///
    /// # Errors
    /// See [`PullError`]; what arrived stays for the next attempt unless it is wrong.
    pub fn pull(&mut self, wanted: &Pinned<'_>, progress: &mut dyn FnMut(u64)) -> Result<Option<String>, PullError> {
        let path = self.directory.join(wanted.file);
        if wanted.verify(&path) == Ok(true) {
            return Ok(None);
        }
        let part = self.partial(wanted.file, wanted.sha256);
        let arrived = part.metadata().map_or(0, |data| data.len());
        let free = (self.free)(&self.directory)
            .map_err(|source| PullError::Directory { path: self.directory.clone(), source })?
            .saturating_sub(RESERVE_BYTES);
        let original = |source: &Source| if let Source::Original(original) = source { original.bytes } else { 0 };
        let beside = wanted.sources.iter().map(original).max().unwrap_or(0);
        let needed = wanted.bytes.saturating_sub(arrived) + beside;
        if needed > free {
            return Err(PullError::Full { file: wanted.file.to_owned(), needed, free, path: self.directory.clone() });
        }
        let mut reasons = Vec::new();
        if let Some(mirror) = &self.mirror {
            match mirror.find(wanted) {
                Ok(found) => match self.take(&found, &part, &path, wanted.sha256) {
                    Ok(()) => return Ok(Some("mirror".to_owned())),
                    Err(reason) => reasons.push(format!("{}: {reason}", found.display())),
                },
                Err(reason) => reasons.push(reason),
            }
        }
        for source in wanted.sources {
            match self.pull_from(source, wanted, &part, &path, progress) {
                Ok(origin) => return Ok(Some(origin)),
                Err(reason) => reasons.push(format!("{}: {reason}", source.name())),
            }
        }
        if reasons.is_empty() {
            reasons.push("the catalogue names no source".to_owned());
        }
        Err(PullError::Unavailable { file: wanted.file.to_owned(), reasons })
    }

    /// Where what arrives lies until it is whole.
    fn partial(&self, file: &str, sha256: &str) -> PathBuf {
        self.directory.join(format!(".{file}.{}.part", &sha256[..sha256.len().min(8)]))
    }

    /// Brings the file from one source and says where it was.
    fn pull_from(
        &mut self,
        source: &Source,
        wanted: &Pinned<'_>,
        part: &Path,
        path: &Path,
        progress: &mut dyn FnMut(u64),
    ) -> Result<String, String> {
        if let Some((sha256, bytes)) = source.other_build() {
            let found = self.mirror.as_ref().and_then(|mirror| mirror.holds(sha256, bytes)).map(Path::to_path_buf);
            let found = found.ok_or("another build, which only a folder that is named with --mirror can hold")?;
            self.take(&found, part, path, sha256)?;
            return Ok("mirror, another build".to_owned());
        }
        if let Source::Original(original) = source {
            let (name, kept) = self.original(original, wanted.file, progress)?;
            self.fetcher.convert(original, &kept, part)?;
            self.settle(part, path, wanted.sha256)?;
            if kept.parent() == Some(&self.directory) {
                std::fs::remove_file(&kept).map_err(|error| format!("{}: {error}", kept.display()))?;
            }
            return Ok(name);
        }
        let begun = part.exists();
        self.fetcher.fetch(source, part, wanted.bytes, progress)?;
        let settled = self.settle(part, path, wanted.sha256);
        if settled.is_err() && begun && matches!(source, Source::Address(_)) {
            // What lay there may have been wrong, and not what came.
            self.fetcher.fetch(source, part, wanted.bytes, progress)?;
            self.settle(part, path, wanted.sha256)?;
        } else {
            settled?;
        }
        Ok(source.name())
    }

    /// The verified original: in the mirror, left by an attempt before, or fetched now; with where it came from.
    fn original(
        &self,
        original: &OriginalSource,
        file: &str,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(String, PathBuf), String> {
        let made = format!("converted by {}", original.script);
        if let Some(found) = self.mirror.as_ref().and_then(|mirror| mirror.holds(&original.sha256, original.bytes)) {
            return Ok((format!("mirror, {made}"), found.to_path_buf()));
        }
        let part = self.partial(&format!("{file}.original"), &original.sha256);
        let begun = part.exists();
        for again in [begun, false] {
            fetch::download(&original.original, &part, original.bytes, progress)?;
            match verify(&part, original.bytes, &original.sha256) {
                Ok(true) => break,
                outcome => {
                    let reason = outcome.err().unwrap_or_else(|| "nothing arrived".to_owned());
                    std::fs::remove_file(&part).map_err(|error| error.to_string())?;
                    if !again {
                        return Err(format!("gave other bytes than the pinned original's: {reason}"));
                    }
                }
            }
        }
        Ok((format!("{}, {made}", fetch::host(&original.original)), part))
    }

    /// Copies a file of the mirror to its place.
    fn take(&self, found: &Path, part: &Path, path: &Path, sha256: &str) -> Result<(), String> {
        std::fs::copy(found, part).map_err(|error| error.to_string())?;
        self.settle(part, path, sha256)
    }

    /// Checks what arrived and gives it its name.
    fn settle(&self, part: &Path, path: &Path, sha256: &str) -> Result<(), String> {
        let text = |error: io::Error| error.to_string();
        let file = File::open(part).map_err(text)?;
        let found = digest_of(&file).map_err(text)?;
        if found != sha256 {
            // Going on with it would never make it right.
            std::fs::remove_file(part).map_err(text)?;
            return Err(format!("gave other bytes than the pinned ones (sha256 {found}, expected {sha256})"));
        }
        file.sync_all().map_err(text)?;
        std::fs::rename(part, path).map_err(text)?;
        // The name must outlive a power cut as well as the bytes.
        File::open(&self.directory).and_then(|directory| directory.sync_all()).map_err(text)
    }
}

fn free_space(directory: &Path) -> io::Result<u64> {
    let status = rustix::fs::statvfs(directory)?;
    Ok(status.f_bavail.saturating_mul(status.f_frsize))
}

impl Source {
    /// Who offers it, in a word or two.
    pub fn name(&self) -> String {
        match self {
            Self::Package(package) => {
                let made = package.script.as_ref().map(|script| format!(", converted by {script}")).unwrap_or_default();
                format!("PyPI {} {}{made}", package.pip, package.version)
            }
            Self::Address(address) => fetch::host(&address.url).to_owned(),
            Self::Original(original) => {
                format!("{}, converted by {}", fetch::host(&original.original), original.script)
            }
            Self::Debian(debian) => format!("Debian {}", debian.apt),
            Self::Mirror(mirror) => format!("a mirror ({})", mirror.mirror),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{AddressSource, MirrorSource};
    use super::*;

    const HELLO: &str = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

    fn hello(sources: &[Source]) -> Pinned<'_> {
        Pinned { file: "hello.onnx", sha256: HELLO, bytes: 5, sources }
    }

    fn only_mirror() -> Vec<Source> {
        vec![Source::Mirror(MirrorSource { mirror: "made of nothing".to_owned(), sha256: None, bytes: None })]
    }

    fn quiet() -> impl FnMut(u64) {
        |_| {}
    }

    #[test]
    fn a_file_comes_from_the_mirror_by_its_bytes_whatever_its_name_there() {
        let (models, mirror) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::create_dir(mirror.path().join("deep")).unwrap();
        std::fs::write(mirror.path().join("deep/other.bin"), "hello").unwrap();
        std::fs::write(mirror.path().join("same-length"), "hellu").unwrap();
        let mut store = ModelStore::open(models.path(), Some(mirror.path())).unwrap();
        let sources = only_mirror();
        assert_eq!(store.pull(&hello(&sources), &mut quiet()).unwrap().as_deref(), Some("mirror"));
        assert_eq!(std::fs::read(models.path().join("hello.onnx")).unwrap(), b"hello");
        assert_eq!(store.pull(&hello(&sources), &mut quiet()).unwrap(), None, "it is there");
    }

    #[test]
    fn a_mirror_with_other_bytes_under_the_right_name_is_told_so_and_nothing_stays() {
        let (models, mirror) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(mirror.path().join("hello.onnx"), "hellu").unwrap();
        let mut store = ModelStore::open(models.path(), Some(mirror.path())).unwrap();
        let error = store.pull(&hello(&only_mirror()), &mut quiet()).unwrap_err().to_string();
        assert!(error.contains("hello.onnx") && error.contains("other bytes than the pinned ones"), "{error}");
        assert!(!models.path().join("hello.onnx").exists());
    }

    #[test]
    fn an_address_that_gives_other_bytes_is_refused_and_a_partial_file_is_gone_on_with() {
        let (models, served) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let url = |name: &str| {
            vec![Source::Address(AddressSource { url: format!("file://{}", served.path().join(name).display()) })]
        };
        std::fs::write(served.path().join("wrong"), "hellu").unwrap();
        std::fs::write(served.path().join("right"), "hello").unwrap();
        let mut store = ModelStore::open(models.path(), None).unwrap();
        let error = store.pull(&hello(&url("wrong")), &mut quiet()).unwrap_err().to_string();
        if error.contains("curl is not installed") {
            return;
        }
        assert!(error.contains("other bytes"), "{error}");
        std::fs::write(models.path().join(".hello.onnx.2cf24dba.part"), "hel").unwrap();
        let mut seen = 0;
        assert!(store.pull(&hello(&url("right")), &mut |bytes| seen = bytes).unwrap().is_some());
        assert_eq!(std::fs::read(models.path().join("hello.onnx")).unwrap(), b"hello");
        assert_eq!(seen, 5);
        let left: Vec<_> = std::fs::read_dir(models.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(left.iter().all(|name| !name.to_string_lossy().ends_with(".part")), "{left:?}");
    }

    #[test]
    fn a_full_disk_is_said_before_anything_is_written() {
        let models = tempfile::tempdir().unwrap();
        let mut store = ModelStore::open(models.path(), None).unwrap();
        store.free = |_| Ok(RESERVE_BYTES + 4);
        let error = store.pull(&hello(&only_mirror()), &mut quiet()).unwrap_err();
        assert!(matches!(error, PullError::Full { needed: 5, free: 4, .. }), "{error}");
        assert!(error.to_string().contains("make room"));
    }

    #[test]
    fn two_pulls_into_one_directory_do_not_meet() {
        let models = tempfile::tempdir().unwrap();
        let _first = ModelStore::open(models.path(), None).unwrap();
        assert!(matches!(ModelStore::open(models.path(), None), Err(PullError::Busy { .. })));
    }

    #[test]
    fn a_mirror_and_a_directory_that_cannot_be_used_are_named() {
        let models = tempfile::tempdir().unwrap();
        let nowhere = models.path().join("nowhere");
        let error = ModelStore::open(models.path(), Some(&nowhere)).err().unwrap().to_string();
        assert!(error.contains("nowhere"), "{error}");
        std::fs::write(models.path().join("file"), "").unwrap();
        let error = ModelStore::open(&models.path().join("file/models"), None).err().unwrap().to_string();
        assert!(error.contains("--dir"), "{error}");
    }
}
