use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::Pinned;
use crate::models::installed::verify;

/// Maximum depth of the folders below the mirror that are searched.
const MAX_DEPTH: usize = 8;

/// A folder that holds pinned files under any names.
pub(super) struct Mirror {
    path: PathBuf,
    /// By size: only candidates are hashed.
    files: BTreeMap<u64, Vec<PathBuf>>,
}

impl Mirror {
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut files = BTreeMap::new();
        collect(path, MAX_DEPTH, &mut files)?;
        files.values_mut().for_each(|same: &mut Vec<PathBuf>| same.sort());
        Ok(Self { path: path.to_path_buf(), files })
    }

    /// The file of this sha256 and size.
    pub fn holds(&self, sha256: &str, bytes: u64) -> Option<&Path> {
        let mut candidates = self.files.get(&bytes).into_iter().flatten();
        candidates.find(|path| verify(path, bytes, sha256) == Ok(true)).map(PathBuf::as_path)
    }

    /// A file of this name, whatever its bytes.
    pub fn named(&self, file: &str) -> Option<PathBuf> {
        self.files.values().flatten().find(|path| path.file_name().is_some_and(|name| name == file)).cloned()
    }

    /// The file with the wanted bytes, or what there is instead.
    pub fn find(&self, wanted: &Pinned<'_>) -> Result<PathBuf, String> {
        if let Some(found) = self.holds(wanted.sha256, wanted.bytes) {
            return Ok(found.to_path_buf());
        }
        let namesake = self.named(wanted.file).filter(|path| wanted.verify(path) != Ok(true));
        Err(match namesake {
            Some(path) => format!("{} of the mirror has other bytes than the pinned ones", path.display()),
            None => format!("the mirror {} does not hold it", self.path.display()),
        })
    }
}

fn collect(directory: &Path, depth: usize, files: &mut BTreeMap<u64, Vec<PathBuf>>) -> io::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        // Links are followed: mirrors are often made of them.
        let Ok(data) = std::fs::metadata(entry.path()) else { continue };
        if data.is_file() {
            files.entry(data.len()).or_default().push(entry.path());
        } else if data.is_dir() && depth > 0 {
            collect(&entry.path(), depth - 1, files)?;
        }
    }
    Ok(())
}
