//! Files whose digest the catalogue does not know: they arrive beside their place and get their name once somebody accepted
//! their bytes.

use std::path::PathBuf;

use super::{ModelStore, Pinned, PullError, RESERVE_BYTES};
use crate::models::{Source, file_digest};

/// Maximum size of a file whose size is not known, in bytes: four times that of the largest in the catalogue.
const MAX_UNKNOWN_BYTES: u64 = 2 << 30;

/// A file that arrived and that nobody accepted yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrived {
    /// Lower-case hexadecimal.
    pub sha256: String,
    /// Size.
    pub bytes: u64,
    /// Who offered it.
    pub origin: String,
}

impl ModelStore {
    /// Brings a file that is not pinned, but not to its place: it waits beside it for [`accept`](Self::accept), also over an
    /// end of the program. `progress` hears how many bytes have arrived.
    ///
    /// # Errors
    /// [`PullError::Unavailable`] if no source has a file of the name, or all that came was larger than there is room for.
    pub fn bring(&mut self, wanted: &Pinned<'_>, progress: &mut dyn FnMut(u64)) -> Result<Arrived, PullError> {
        let part = self.unaccepted(wanted.file);
        let said = |origin: String| -> Result<Arrived, String> {
            let (sha256, bytes) = file_digest(&part).map_err(|error| error.to_string())?;
            if bytes == 0 { Err("nothing arrived".to_owned()) } else { Ok(Arrived { sha256, bytes, origin }) }
        };
        let mut reasons = Vec::new();
        let placed = self.directory.join(wanted.file);
        let namesake = self.mirror.as_ref().and_then(|mirror| mirror.named(wanted.file)).map(|path| ("mirror", path));
        let near = [Some(("the models directory", placed)).filter(|(_, path)| path.is_file()), namesake];
        for (origin, path) in near.into_iter().flatten() {
            match std::fs::copy(&path, &part).map_err(|error| error.to_string()).and_then(|_| said(origin.to_owned())) {
                Ok(arrived) => return Ok(arrived),
                Err(reason) => reasons.push(format!("{}: {reason}", path.display())),
            }
        }
        let free = (self.free)(&self.directory)
            .map_err(|source| PullError::Directory { path: self.directory.clone(), source })?
            .saturating_sub(RESERVE_BYTES);
        for source in wanted.sources.iter().filter(|source| !matches!(source, Source::Original(_))) {
            let fetched = self.fetcher.fetch(source, &part, free.min(MAX_UNKNOWN_BYTES), progress);
            match fetched.and_then(|()| said(source.name())) {
                Ok(arrived) => return Ok(arrived),
                Err(reason) => reasons.push(format!("{}: {reason}", source.name())),
            }
        }
        if reasons.is_empty() {
            reasons.push("the catalogue names no source".to_owned());
        }
        Err(PullError::Unavailable { file: wanted.file.to_owned(), reasons })
    }

    /// Gives a file that arrived its name. Its bytes are read again: what was accepted is what gets the name.
    ///
    /// # Errors
    /// [`PullError::Unavailable`] if other bytes lie there by now, or the file cannot be moved.
    pub fn accept(&mut self, wanted: &Pinned<'_>, arrived: &Arrived) -> Result<(), PullError> {
        let (part, path) = (self.unaccepted(wanted.file), self.directory.join(wanted.file));
        self.settle(&part, &path, &arrived.sha256)
            .map_err(|reason| PullError::Unavailable { file: wanted.file.to_owned(), reasons: vec![reason] })
    }

    /// Where a file waits that nobody accepted.
    fn unaccepted(&self, file: &str) -> PathBuf {
        self.partial(file, "unaccepted")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELLO: &str = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    const WANTED: Pinned<'static> = Pinned { file: "hello.onnx", sha256: "", bytes: 0, sources: &[] };

    #[test]
    fn a_file_without_a_digest_tells_its_own_and_has_no_name_before_it_is_accepted() {
        let (models, mirror) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(mirror.path().join("hello.onnx"), "hello").unwrap();
        let mut store = ModelStore::open(models.path(), Some(mirror.path())).unwrap();
        let arrived = store.bring(&WANTED, &mut |_| {}).unwrap();
        assert_eq!((arrived.sha256.as_str(), arrived.bytes), (HELLO, 5));
        assert!(!models.path().join("hello.onnx").exists());
        store.accept(&WANTED, &arrived).unwrap();
        assert_eq!(std::fs::read(models.path().join("hello.onnx")).unwrap(), b"hello");
    }

    #[test]
    fn what_was_changed_after_it_was_accepted_gets_no_name() {
        let (models, mirror) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(mirror.path().join("hello.onnx"), "hello").unwrap();
        let mut store = ModelStore::open(models.path(), Some(mirror.path())).unwrap();
        let arrived = store.bring(&WANTED, &mut |_| {}).unwrap();
        std::fs::write(store.unaccepted("hello.onnx"), "hellu").unwrap();
        assert!(store.accept(&WANTED, &arrived).unwrap_err().to_string().contains("other bytes"));
        assert!(!models.path().join("hello.onnx").exists());
    }

    #[test]
    fn a_file_that_nobody_offers_is_told() {
        let models = tempfile::tempdir().unwrap();
        let mut store = ModelStore::open(models.path(), None).unwrap();
        let error = store.bring(&WANTED, &mut |_| {}).unwrap_err().to_string();
        assert!(error.contains("hello.onnx") && error.contains("no source"), "{error}");
    }
}
