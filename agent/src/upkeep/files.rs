//! Names that others choose, and files that are whole or not there.

use std::fs::{DirBuilder, File};
use std::io;
use std::path::{Path, PathBuf};

use super::{UpkeepError, io_error};

/// Longest name of a backup or an export.
const MAX_NAME: usize = 128;

/// What is wrong with a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// It could lead out of its directory.
    #[error("`{0}` is no plain name: letters, digits, `-`, `_` and `.`, not at the begin; at most {MAX_NAME}")]
    NotPlain(String),
    /// There is such a file.
    #[error("{} is there already; choose another name", .0.display())]
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

/// A file or directory that is not whole yet; removed unless it is finished.
pub struct Beginning {
    pub path: PathBuf,
    finished: bool,
}

/// Where to write what will be `path`.
pub fn beginning(path: &Path, replace: bool) -> Result<Beginning, UpkeepError> {
    if !replace && path.symlink_metadata().is_ok() {
        return Err(FileError::Exists(path.to_path_buf()).into());
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
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
