//! `models.lock`: models that the user added or chose, pinned like those of the catalogue.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::models::{Catalogue, CatalogueError, ModelEntry};

/// Name of the file in the models directory.
pub const LOCK_FILE: &str = "models.lock";

const HEAD: &str = "# Written by `engram models add` and `pull`: models that this machine's owner chose, each file pinned by its sha256.\n\
    # An entry here stands in for the catalogue's model of the same role. `engram models remove ROLE` takes it out.\n\n";

/// The models that were added to a directory; none where nothing was.
///
/// # Errors
/// If the file is there and cannot be read.
pub fn read_lock(directory: &Path) -> Result<Vec<ModelEntry>, CatalogueError> {
    let path = directory.join(LOCK_FILE);
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Catalogue::parse(&text, &path)?.models),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(source) => Err(CatalogueError::Read { path, source }),
    }
}

/// Replaces the file at once: a reader sees the old one or the new one.
///
/// # Errors
/// If it cannot be written.
pub fn write_lock(directory: &Path, models: &[ModelEntry]) -> Result<PathBuf, std::io::Error> {
    let path = directory.join(LOCK_FILE);
    let catalogue = Catalogue::from_entries(models.to_vec());
    let text = toml::to_string(&catalogue).map_err(std::io::Error::other)?;
    let part = directory.join(format!(".{LOCK_FILE}.part"));
    let mut file = std::fs::File::create(&part)?;
    file.write_all(HEAD.as_bytes())?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&part, &path)?;
    std::fs::File::open(directory)?.sync_all()?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_is_read_back_as_it_was_written() {
        let directory = tempfile::tempdir().unwrap();
        assert!(read_lock(directory.path()).unwrap().is_empty());
        // Every kind of source, of file, of parameter and of group is in the catalogue.
        let models = Catalogue::load(None).unwrap().models;
        write_lock(directory.path(), &models).unwrap();
        assert_eq!(read_lock(directory.path()).unwrap(), models);
    }

    #[test]
    fn a_damaged_lock_is_an_error_that_names_it() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join(LOCK_FILE), "version = 1\n[[model]]\nrole = \"nose\"").unwrap();
        assert!(read_lock(directory.path()).unwrap_err().to_string().contains(LOCK_FILE));
    }
}
