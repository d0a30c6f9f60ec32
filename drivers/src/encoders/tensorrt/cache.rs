//! Engines on disk.
//!
//! One file per engine, little-endian: magic `ENGRPLAN`, u32 version, u32 length of the key, u64 length of the plan, sha256 of
//! key and plan, the key as JSON, the plan. A file is written beside its place, synced and renamed, so that a reader sees a
//! whole one or none; what does not match its header or the key that is looked for is no engine. Whoever builds one holds its
//! lock, so that two programs that start at once build it once. Nothing else is kept: a lost file costs a build.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sha2::{Digest, Sha256};

use super::TensorRtError;

const MAGIC: &[u8; 8] = b"ENGRPLAN";
const VERSION: u32 = 1;
const HEADER: usize = 8 + 4 + 4 + 8 + 32;
/// Maximum size of a file that is read. No engine of an encoder comes near it.
const MAX_FILE_BYTES: u64 = 8 << 30;
const ENGINE: &str = "engine";

/// A directory of engines.
#[derive(Debug, Clone)]
pub(super) struct EngineCache {
    directory: PathBuf,
    max_bytes: u64,
}

/// Held while an engine is looked for or built.
pub(super) struct Locked {
    _file: File,
}

impl EngineCache {
    pub(super) fn new(directory: PathBuf, max_bytes: u64) -> Self {
        Self { directory, max_bytes }
    }

    fn error(path: &Path, message: impl ToString) -> TensorRtError {
        TensorRtError::Cache { path: path.to_path_buf(), message: message.to_string() }
    }

    /// Returns the path of the file with that name.
    pub(super) fn path(&self, name: &str, extension: &str) -> PathBuf {
        self.directory.join(format!("{name}.{extension}"))
    }

    /// Waits for another process that builds this engine.
    pub(super) fn lock(&self, name: &str) -> Result<Locked, TensorRtError> {
        fs::create_dir_all(&self.directory).map_err(|error| Self::error(&self.directory, error))?;
        let path = self.path(name, "lock");
        let file = File::options().create(true).append(true).open(&path).map_err(|error| Self::error(&path, error))?;
        file.lock().map_err(|error| Self::error(&path, error))?;
        Ok(Locked { _file: file })
    }

    /// The plan of that key. What is damaged is removed and told to the log: it is built again.
    pub(super) fn plan(&self, name: &str, key: &str) -> Option<Vec<u8>> {
        let path = self.path(name, ENGINE);
        match read(&path, key) {
            Ok(plan) => {
                if let Some(file) = plan.as_ref().and_then(|_| File::options().append(true).open(&path).ok()) {
                    // For the ceiling: this one was used now. On a read-only disk nothing is ever removed either.
                    drop(file.set_modified(SystemTime::now()));
                }
                plan
            }
            Err(reason) => {
                tracing::warn!(engine = %path.display(), reason, "a cached engine is damaged and is built again");
                self.remove(name);
                None
            }
        }
    }

    /// Whether there is an engine of that key, without reading it whole.
    pub(super) fn has(&self, name: &str, key: &str) -> bool {
        let path = self.path(name, ENGINE);
        let head = || -> std::io::Result<bool> {
            let mut head = vec![0; HEADER + key.len()];
            File::open(&path)?.read_exact(&mut head)?;
            Ok(head.starts_with(MAGIC) && head.ends_with(key.as_bytes()))
        };
        head().unwrap_or(false)
    }

    /// Takes an engine out.
    pub(super) fn remove(&self, name: &str) {
        let path = self.path(name, ENGINE);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                tracing::warn!(engine = %path.display(), %error, "a cached engine cannot be removed");
            }
            _ => {}
        }
    }

    /// Keeps a plan, and the directory below its ceiling.
    pub(super) fn keep(&self, name: &str, key: &str, plan: &[u8]) -> Result<(), TensorRtError> {
        let path = self.path(name, ENGINE);
        let mut header = Vec::with_capacity(HEADER);
        header.extend_from_slice(MAGIC);
        header.extend_from_slice(&VERSION.to_le_bytes());
        header.extend_from_slice(&u32::try_from(key.len()).unwrap_or(u32::MAX).to_le_bytes());
        header.extend_from_slice(&(plan.len() as u64).to_le_bytes());
        header.extend_from_slice(&checksum(key.as_bytes(), plan));
        self.write(&path, &[&header, key.as_bytes(), plan])?;
        self.trim(&path);
        Ok(())
    }

    /// Writes a file at once: a reader sees the old one or the new one.
    pub(super) fn write(&self, path: &Path, parts: &[&[u8]]) -> Result<(), TensorRtError> {
        let part = path.with_extension(format!("part-{}", std::process::id()));
        let written = (|| {
            fs::create_dir_all(&self.directory)?;
            let mut file = File::create(&part)?;
            for bytes in parts {
                file.write_all(bytes)?;
            }
            file.sync_all()?;
            fs::rename(&part, path)?;
            File::open(&self.directory)?.sync_all()
        })();
        written.map_err(|error: std::io::Error| {
            drop(fs::remove_file(&part));
            Self::error(path, error)
        })
    }

    /// Removes what was not used for longest until the rest fits; `kept` stays, or it would be built for ever.
    fn trim(&self, kept: &Path) {
        let Ok(entries) = fs::read_dir(&self.directory) else { return };
        let mut engines: Vec<(SystemTime, u64, PathBuf)> = entries
            .flatten()
            .filter(|entry| entry.path().extension().is_some_and(|extension| extension == ENGINE))
            .filter_map(|entry| {
                let metadata = entry.metadata().ok()?;
                Some((metadata.modified().ok()?, metadata.len(), entry.path()))
            })
            .collect();
        engines.sort();
        let mut total: u64 = engines.iter().map(|(_, bytes, _)| bytes).sum();
        for (_, bytes, path) in engines {
            if total <= self.max_bytes {
                break;
            }
            if path != kept && fs::remove_file(&path).is_ok() {
                tracing::info!(engine = %path.display(), "an engine was deleted to make room for another");
                total -= bytes;
            }
        }
    }
}

fn checksum(key: &[u8], plan: &[u8]) -> [u8; 32] {
    let mut digest = Sha256::new();
    digest.update(key);
    digest.update(plan);
    digest.finalize().into()
}

/// `None` if there is no such file.
fn read(path: &Path, key: &str) -> Result<Option<Vec<u8>>, String> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let bytes = file.metadata().map_err(|error| error.to_string())?.len();
    if bytes > MAX_FILE_BYTES {
        return Err(format!("{bytes} bytes are no engine"));
    }
    let mut content = Vec::with_capacity(bytes as usize);
    file.read_to_end(&mut content).map_err(|error| error.to_string())?;
    let header = content.get(..HEADER).ok_or("it is cut short")?;
    if &header[..8] != MAGIC {
        return Err("it is no engine of ours".to_owned());
    }
    let number = |at: usize, width: usize| header[at..at + width].iter().rev().fold(0, |n, b| n << 8 | u64::from(*b));
    if number(8, 4) != u64::from(VERSION) {
        return Err(format!("version {} is not known", number(8, 4)));
    }
    let (key_bytes, plan_bytes) = (number(12, 4), number(16, 8));
    if (HEADER as u64).checked_add(key_bytes).and_then(|sum| sum.checked_add(plan_bytes)) != Some(bytes) {
        return Err(format!("{bytes} bytes, and its header says otherwise"));
    }
    let (found, plan) = content[HEADER..].split_at(key_bytes as usize);
    if found != key.as_bytes() {
        return Err("it was built for something else".to_owned());
    }
    if checksum(found, plan) != header[24..HEADER] {
        return Err("its checksum is wrong".to_owned());
    }
    content.drain(..HEADER + key_bytes as usize);
    Ok(Some(content))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(max_bytes: u64) -> (tempfile::TempDir, EngineCache) {
        let directory = tempfile::tempdir().unwrap();
        let cache = EngineCache::new(directory.path().join("engines"), max_bytes);
        (directory, cache)
    }

    #[test]
    fn what_was_kept_is_found_by_its_key_only() {
        let (_directory, cache) = cache(1 << 20);
        assert!(cache.plan("m", "key").is_none() && !cache.has("m", "key"));
        cache.keep("m", "key", b"plan").unwrap();
        assert!(cache.has("m", "key") && !cache.has("m", "yek") && !cache.has("m", "a longer key than this"));
        assert_eq!(cache.plan("m", "key").as_deref(), Some(&b"plan"[..]));
        assert!(cache.plan("m", "another").is_none(), "built for something else");
    }

    #[test]
    fn every_damaged_byte_and_every_cut_is_noticed_and_the_file_is_gone() {
        let (_directory, cache) = cache(1 << 20);
        cache.keep("m", "key", b"plan of some length").unwrap();
        let path = cache.path("m", ENGINE);
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x40;
            fs::write(&path, &damaged).unwrap();
            assert!(cache.plan("m", "key").is_none(), "byte {at}");
            assert!(!path.exists(), "byte {at}");
            fs::write(&path, &whole[..at]).unwrap();
            assert!(cache.plan("m", "key").is_none(), "cut at {at}");
        }
        fs::write(&path, &whole).unwrap();
        assert!(cache.plan("m", "key").is_some());
    }

    #[test]
    fn the_ceiling_takes_what_was_not_used_for_longest_and_never_what_was_just_built() {
        let (_directory, cache) = cache(700);
        let aged = |name: &str, hours: u64| {
            let file = File::options().append(true).open(cache.path(name, ENGINE)).unwrap();
            file.set_modified(SystemTime::now() - std::time::Duration::from_secs(hours * 3600)).unwrap();
        };
        cache.keep("old", "k", &[0; 200]).unwrap();
        cache.keep("older", "k", &[0; 200]).unwrap();
        aged("old", 1);
        aged("older", 2);
        cache.keep("new", "k", &[0; 200]).unwrap();
        assert!(cache.has("old", "k") && !cache.has("older", "k") && cache.has("new", "k"));
        cache.keep("huge", "k", &[0; 2000]).unwrap();
        assert!(cache.has("huge", "k"), "larger than the ceiling, and still needed");
    }
}
