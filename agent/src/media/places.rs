//! Decides which files may be opened as recordings of this memory.
//!
//! Events name the files of their recordings. An imported export or a restored backup may contain such names from somebody
//! else. So a file is opened, copied or shown only if it lies in a directory of this installation, or was played on this
//! machine.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use drivers::capture::SourceKind;
use parking_lot::Mutex;

use crate::config::{Config, Directories, source_spec};

/// File in the data directory that lists the played files, one path a line.
const LIST_FILE: &str = "played";
/// Maximum number of bytes read from that file.
const MAX_LIST: u64 = 4 << 20;

/// The directories and files that recordings may be in.
#[derive(Debug)]
pub struct Places {
    /// Directory of imported recordings.
    imported: PathBuf,
    /// Directories whose files all belong to the memory.
    directories: Vec<PathBuf>,
    list: PathBuf,
    /// Files of sources and of `engram replay`, with links resolved.
    played: Mutex<BTreeSet<PathBuf>>,
}

impl Places {
    /// Returns the places of an installation.
    pub fn from_config(config: &Config) -> Self {
        let directories = Directories::from_config(config);
        let list = directories.data.join(LIST_FILE);
        let mut played = listed(&list);
        for (name, source) in &config.sources {
            if let Ok(SourceKind::File(file)) = source_spec(name, source).map(|spec| spec.kind) {
                played.extend(file.path.canonicalize());
            }
        }
        Self {
            imported: directories.imported.clone(),
            directories: vec![directories.media, directories.imported],
            list,
            played: Mutex::new(played),
        }
    }

    /// Returns the directory of imported recordings.
    pub fn imported(&self) -> &Path {
        &self.imported
    }

    /// Records that a file was played, so that it may be shown as evidence.
    ///
    /// # Errors
    /// If the list cannot be written.
    pub fn note_played(&self, file: &Path) -> std::io::Result<()> {
        let file = file.canonicalize()?;
        let line = file.to_str().filter(|text| !text.contains('\n')).map(|text| [text, "\n"].concat());
        let mut played = self.played.lock();
        if let Some(line) = line.filter(|_| !played.contains(&file)) {
            if let Some(directory) = self.list.parent() {
                std::fs::create_dir_all(directory)?;
            }
            let mut options = File::options();
            options.append(true).create(true);
            #[cfg(unix)]
            {
                use std::os::unix::fs::OpenOptionsExt;
                options.mode(0o600);
            }
            options.open(&self.list)?.write_all(line.as_bytes())?;
        }
        played.insert(file);
        Ok(())
    }

    /// Returns the file of a `file:` address and its fragment (`#t=…`), if the file exists in a known place.
    pub fn file_of(&self, uri: &str) -> Option<(PathBuf, String)> {
        self.resolved(uri, |path| self.file(path))
    }

    /// Returns the file only if it was imported; such a file belongs to this memory alone.
    pub fn imported_file_of(&self, uri: &str) -> Option<PathBuf> {
        let path = self.resolved(uri, |path| self.file(path))?.0;
        path.starts_with(self.imported.canonicalize().ok()?).then_some(path)
    }

    fn resolved(&self, uri: &str, known: impl Fn(&Path) -> Option<PathBuf>) -> Option<(PathBuf, String)> {
        let path = uri.strip_prefix("file://")?;
        // A name may have a `#` of its own.
        let whole = known(Path::new(path)).map(|found| (found, String::new()));
        whole.or_else(|| {
            let (path, place) = path.split_once('#')?;
            Some((known(Path::new(path))?, format!("#{place}")))
        })
    }

    /// Returns the file that `path` points to, if it exists in a known place.
    fn file(&self, path: &Path) -> Option<PathBuf> {
        // Links are resolved first, because their target decides.
        let path = path.canonicalize().ok().filter(|path| path.is_file())?;
        let inside = |directory: &PathBuf| directory.canonicalize().is_ok_and(|directory| path.starts_with(directory));
        (self.directories.iter().any(inside) || self.played.lock().contains(&path)).then_some(path)
    }
}

fn listed(list: &Path) -> BTreeSet<PathBuf> {
    let Ok(file) = File::open(list) else { return BTreeSet::new() };
    BufReader::new(file.take(MAX_LIST)).lines().map_while(Result::ok).map(PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_this_installation_and_those_that_were_played_are_known() {
        let folder = tempfile::tempdir().unwrap();
        let config = Config { data_dir: Some(folder.path().join("data")), ..Config::default() };
        let places = Places::from_config(&config);
        let at = |name: &str| folder.path().join(name);
        for name in ["data/media/eye", "data/imported", "data/backups"] {
            std::fs::create_dir_all(at(name)).unwrap();
        }
        for name in ["data/media/eye/1-0.mkv", "data/imported/a.mkv", "data/backups/b", "secret", "film#1.mkv"] {
            std::fs::write(at(name), "x").unwrap();
        }
        std::os::unix::fs::symlink(at("secret"), at("data/imported/link.mkv")).unwrap();
        let uri = |name: &str| format!("file://{}", at(name).display());
        assert!(places.file_of(&uri("data/media/eye/1-0.mkv")).is_some());
        assert_eq!(places.imported_file_of(&uri("data/media/eye/1-0.mkv")), None);
        assert_eq!(places.file_of(&uri("data/imported/a.mkv#t=5")).unwrap().1, "#t=5");
        assert!(places.imported_file_of(&uri("data/imported/a.mkv#t=5")).is_some());
        for name in ["secret", "film#1.mkv", "data/backups/b", "data/imported/link.mkv", "data/imported/../../secret"] {
            assert_eq!(places.file_of(&uri(name)), None, "{name}");
            assert_eq!(places.imported_file_of(&uri(name)), None, "{name}");
        }
        places.note_played(&at("film#1.mkv")).unwrap();
        places.note_played(&at("film#1.mkv")).unwrap();
        for places in [places, Places::from_config(&config)] {
            assert!(places.file_of(&uri("film#1.mkv")).is_some());
            assert_eq!(places.imported_file_of(&uri("film#1.mkv")), None);
        }
        assert_eq!(std::fs::read_to_string(at("data/played")).unwrap().lines().count(), 1);
    }
}
