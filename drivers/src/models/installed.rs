use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::store::{Pinned, read_lock};
use super::{Catalogue, CatalogueError, ModelEntry, Part, Role};

/// Directory of the models when Engram runs as a service.
const SYSTEM_DIRECTORY: &str = "/var/lib/engram/models";

/// The models of this machine: a catalogue and the directories that are searched for its files.
#[derive(Debug, Clone)]
pub struct InstalledModels {
    catalogue: Catalogue,
    directories: Vec<PathBuf>,
    own_library: Option<PathBuf>,
}

/// A model whose files are all there and are the pinned ones.
#[derive(Debug, Clone, PartialEq)]
pub struct InstalledModel {
    /// Its entry in the catalogue.
    pub entry: ModelEntry,
    /// Its files.
    pub files: BTreeMap<Part, PathBuf>,
}

impl InstalledModel {
    /// Returns the second network of the model as a model of its own, whose network is `Part::Graph`.
    ///
    /// # Errors
    /// If the entry lacks its file or tensors; the text says what to add.
    pub fn second_network(&self) -> Result<Self, String> {
        let lacks = |what: &str| format!("{}: the catalogue lacks {what}", self.entry.name);
        let mut second = self.clone();
        let graph = second.files.remove(&Part::TextGraph).ok_or_else(|| lacks("a file with part = \"text-graph\""))?;
        second.files.insert(Part::Graph, graph);
        (second.entry.inputs, second.entry.outputs) =
            (std::mem::take(&mut second.entry.text_inputs), std::mem::take(&mut second.entry.text_outputs));
        if second.entry.inputs.is_empty() || second.entry.outputs.is_empty() {
            return Err(lacks("`text_inputs` or `text_outputs`"));
        }
        Ok(second)
    }

    /// The names of the graph's classes: the entry's own, or those of its file of labels with blanks for underscores.
    ///
    /// # Errors
    /// If there are none; the text says what to add.
    pub fn labels(&self) -> Result<Vec<Arc<str>>, String> {
        if !self.entry.labels.is_empty() {
            return Ok(self.entry.labels.iter().map(|label| Arc::from(label.as_str())).collect());
        }
        let lacks = || format!("{}: the catalogue lacks `labels` or a file with part = \"labels\"", self.entry.name);
        let path = self.files.get(&Part::Labels).ok_or_else(lacks)?;
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        // What follows a comma are other names for the same.
        let name = |line: &str| line.split(',').next().unwrap_or_default().trim().replace('_', " ");
        Ok(text.lines().map(|line| Arc::from(name(line))).collect())
    }
}

/// The library that runs ONNX graphs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuntimeLibrary {
    /// Path of the file.
    pub path: PathBuf,
    /// The oldest version that may be found in it.
    pub minimum: String,
}

/// Result of the search for a model or a library.
#[derive(Debug, Clone, PartialEq)]
pub enum Availability<T> {
    /// There, and the pinned one.
    Found(T),
    /// Not installed.
    Absent(String),
    /// There, but not what it should be.
    Damaged(String),
}

impl<T> Availability<T> {
    /// The same of what is made of it.
    pub fn map<U>(self, make: impl FnOnce(T) -> U) -> Availability<U> {
        match self {
            Self::Found(found) => Availability::Found(make(found)),
            Self::Absent(reason) => Availability::Absent(reason),
            Self::Damaged(reason) => Availability::Damaged(reason),
        }
    }
}

impl InstalledModels {
    /// Looks for the catalogue's files in `configured` if given, else in the directory that `ENGRAM_MODELS_DIR` names, else
    /// in `/var/lib/engram/models` and the user's data directory, in this order. `own_library` takes the place of the
    /// pinned ONNX Runtime.
    pub fn new(catalogue: Catalogue, configured: Option<&Path>, own_library: Option<PathBuf>) -> Self {
        Self::with_environment(catalogue, configured, own_library, |name| {
            std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
        })
    }

    fn with_environment(
        catalogue: Catalogue,
        configured: Option<&Path>,
        own_library: Option<PathBuf>,
        variable: impl Fn(&str) -> Option<PathBuf>,
    ) -> Self {
        let directories = if let Some(directory) = configured {
            vec![directory.to_path_buf()]
        } else if let Some(directory) = variable("ENGRAM_MODELS_DIR") {
            vec![directory]
        } else {
            let data =
                variable("XDG_DATA_HOME").or_else(|| variable("HOME").map(|home| home.join(".local").join("share")));
            let user = data.map(|data| data.join("engram").join("models"));
            std::iter::once(PathBuf::from(SYSTEM_DIRECTORY)).chain(user).collect()
        };
        Self { catalogue, directories, own_library }
    }

    /// As [`new`](Self::new), with what was added to the directories in the place of the catalogue's models; roles among
    /// `firm` keep theirs, unless what was added is one of the catalogue's own alternatives.
    ///
    /// # Errors
    /// If a `models.lock` is there and cannot be read.
    pub fn with_added(
        catalogue: Catalogue,
        configured: Option<&Path>,
        own_library: Option<PathBuf>,
        firm: &[Role],
    ) -> Result<Self, CatalogueError> {
        let mut models = Self::new(catalogue, configured, own_library);
        // The first directory wins, as it does for files.
        for directory in models.directories.clone().iter().rev() {
            let mut added = read_lock(directory)?;
            models.catalogue.adopt_digests(&added);
            let choice = |model: &ModelEntry| {
                let same = |other: &ModelEntry| other.role == model.role && other.name == model.name;
                models.catalogue.alternatives.iter().any(same)
            };
            added.retain(|model| !firm.contains(&model.role) || choice(model));
            models.catalogue.replace(added);
        }
        Ok(models)
    }

    /// The directory that a pull fills: the one that was named, else the machine's where it can be written, else the
    /// user's.
    pub fn writable_directory(&self) -> Option<&Path> {
        let writable = |path: &&PathBuf| {
            let access = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
            rustix::fs::access(path.as_path(), access).is_ok()
        };
        let machine = self.directories.iter().find(writable).filter(|_| self.directories.len() > 1);
        machine.or(self.directories.last()).map(PathBuf::as_path)
    }

    /// Only the roles that `keep` says.
    pub fn retain(&mut self, keep: impl Fn(Role) -> bool) {
        self.catalogue.models.retain(|model| keep(model.role));
        self.catalogue.alternatives.retain(|model| keep(model.role));
    }

    /// The catalogue.
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// The directories that are searched, first one first.
    pub fn directories(&self) -> &[PathBuf] {
        &self.directories
    }

    /// The model of a role. Reads every byte of its files to check them: call it from a thread that may take its time.
    pub fn model(&self, role: Role) -> Availability<InstalledModel> {
        let Some(entry) = self.catalogue.model(role) else {
            return Availability::Absent("no model fills this role".to_owned());
        };
        let mut files = BTreeMap::new();
        for file in &entry.files {
            match self.file(&Pinned::from(file)) {
                Availability::Found(path) => files.insert(file.part, path),
                Availability::Absent(reason) => return Availability::Absent(reason),
                Availability::Damaged(reason) => return Availability::Damaged(reason),
            };
        }
        Availability::Found(InstalledModel { entry: entry.clone(), files })
    }

    /// The ONNX Runtime library: the user's own, whose version is checked when it is opened, or the pinned one.
    pub fn runtime_library(&self) -> Availability<RuntimeLibrary> {
        let Some(runtime) = &self.catalogue.onnxruntime else {
            return Availability::Absent("the catalogue has no [onnxruntime]".to_owned());
        };
        let minimum = runtime.minimum.clone();
        if let Some(path) = self.own_library.clone() {
            return Availability::Found(RuntimeLibrary { path, minimum });
        }
        let arch = std::env::consts::ARCH;
        let Some(library) = runtime.library.iter().find(|library| library.arch == arch) else {
            return Availability::Absent(format!("no ONNX Runtime library is pinned for {arch}"));
        };
        match self.file(&Pinned::from(library)) {
            Availability::Found(path) => Availability::Found(RuntimeLibrary { path, minimum }),
            Availability::Absent(reason) => Availability::Absent(format!("ONNX Runtime: {reason}")),
            Availability::Damaged(reason) => Availability::Damaged(format!("ONNX Runtime: {reason}")),
        }
    }

    fn file(&self, wanted: &Pinned<'_>) -> Availability<PathBuf> {
        let name = wanted.file;
        let mut damaged = None;
        for directory in &self.directories {
            let path = directory.join(name);
            match wanted.verify(&path) {
                Ok(true) => return Availability::Found(path),
                Ok(false) => {}
                // A sound copy in a later directory is as good.
                Err(reason) => damaged = damaged.or(Some(format!("{}: {reason}", path.display()))),
            }
        }
        let searched: Vec<_> = self.directories.iter().map(|directory| directory.display().to_string()).collect();
        damaged.map_or_else(
            || Availability::Absent(format!("{name} is not installed in {}", searched.join(" or "))),
            |reason| Availability::Damaged(format!("{reason}; remove it and fetch it again")),
        )
    }
}

/// Whether the file is there; an error if it is not the pinned one.
pub(super) fn verify(path: &Path, bytes: u64, sha256: &str) -> Result<bool, String> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error.to_string()),
    };
    let found = file.metadata().map_err(|error| error.to_string())?.len();
    if found != bytes {
        return Err(format!("{found} bytes instead of {bytes}"));
    }
    let found = digest_of(&file).map_err(|error| error.to_string())?;
    if found == sha256 { Ok(true) } else { Err("its sha256 is not the pinned one".to_owned()) }
}

/// sha256 of a file, lower-case hexadecimal, and its size: what pins it.
///
/// # Errors
/// If it cannot be read.
pub fn file_digest(path: &Path) -> std::io::Result<(String, u64)> {
    let file = File::open(path)?;
    Ok((digest_of(&file)?, file.metadata()?.len()))
}

/// sha256 of a file, lower-case hexadecimal.
pub(super) fn digest_of(mut file: &File) -> std::io::Result<String> {
    let mut digest = Sha256::new();
    let mut block = vec![0; 1 << 18];
    loop {
        match file.read(&mut block) {
            Ok(0) => break,
            Ok(read) => digest.update(&block[..read]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::super::{MirrorSource, Source};
    use super::*;

    const HELLO: &str = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

    fn catalogue(bytes: u64) -> Catalogue {
        let mut catalogue = Catalogue::load(None).unwrap();
        catalogue.models.retain(|model| model.role == Role::Objects);
        let file = &mut catalogue.models[0].files[0];
        (file.bytes, file.sha256) = (bytes, HELLO.to_owned());
        catalogue
    }

    fn installed(content: &str, bytes: u64) -> (tempfile::TempDir, Availability<InstalledModel>) {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("FastestDet.onnx"), content).unwrap();
        let models = InstalledModels::new(catalogue(bytes), Some(directory.path()), None);
        let found = models.model(Role::Objects);
        (directory, found)
    }

    #[test]
    fn a_model_whose_files_match_is_found() {
        let (directory, found) = installed("hello", 5);
        let Availability::Found(model) = found else { panic!("{found:?}") };
        assert_eq!(model.files[&Part::Graph], directory.path().join("FastestDet.onnx"));
    }

    #[test]
    fn a_changed_byte_makes_a_model_damaged_and_the_file_is_named() {
        let (_directory, found) = installed("hellu", 5);
        let Availability::Damaged(reason) = found else { panic!("{found:?}") };
        assert!(reason.contains("FastestDet.onnx") && reason.contains("sha256"), "{reason}");
    }

    #[test]
    fn another_build_that_the_catalogue_names_is_as_welcome_and_only_with_its_own_bytes() {
        let directory = tempfile::tempdir().unwrap();
        let mut catalogue = catalogue(9);
        let file = &mut catalogue.models[0].files[0];
        file.sha256 = "00".repeat(32);
        let (sha256, bytes) = (Some(HELLO.to_owned()), Some(5));
        file.sources.push(Source::Mirror(MirrorSource { mirror: "by hand".to_owned(), sha256, bytes }));
        let models = InstalledModels::new(catalogue, Some(directory.path()), None);
        std::fs::write(directory.path().join("FastestDet.onnx"), "hello").unwrap();
        assert!(matches!(models.model(Role::Objects), Availability::Found(_)));
        std::fs::write(directory.path().join("FastestDet.onnx"), "hellu").unwrap();
        let found = models.model(Role::Objects);
        assert!(matches!(&found, Availability::Damaged(reason) if reason.contains("sha256")), "{found:?}");
    }

    #[test]
    fn a_truncated_file_is_damaged() {
        let (_directory, found) = installed("hell", 5);
        let Availability::Damaged(reason) = found else { panic!("{found:?}") };
        assert!(reason.contains("4 bytes instead of 5"), "{reason}");
    }

    #[test]
    fn a_file_that_is_not_there_and_a_role_without_a_model_are_absent() {
        let directory = tempfile::tempdir().unwrap();
        let models = InstalledModels::new(catalogue(5), Some(directory.path()), None);
        let Availability::Absent(reason) = models.model(Role::Objects) else { panic!("found") };
        assert!(reason.contains("FastestDet.onnx is not installed"), "{reason}");
        let Availability::Absent(reason) = models.model(Role::Captions) else { panic!("found") };
        assert_eq!(reason, "no model fills this role");
    }

    #[test]
    fn a_sound_copy_in_a_later_directory_serves_where_the_first_one_is_damaged() {
        let (damaged, sound) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(damaged.path().join("FastestDet.onnx"), "hellu").unwrap();
        std::fs::write(sound.path().join("FastestDet.onnx"), "hello").unwrap();
        let directories = vec![damaged.path().to_path_buf(), sound.path().to_path_buf()];
        let models = InstalledModels { catalogue: catalogue(5), directories, own_library: None };
        assert!(matches!(models.model(Role::Objects), Availability::Found(_)));
    }

    #[test]
    fn the_config_wins_over_the_environment_and_the_environment_over_the_defaults() {
        let search = |configured: Option<&str>, variables: &[(&str, &str)]| {
            let variable =
                |name: &str| variables.iter().find(|(other, _)| *other == name).map(|(_, value)| PathBuf::from(value));
            InstalledModels::with_environment(catalogue(5), configured.map(Path::new), None, variable).directories
        };
        let user = [("HOME", "/home/robin"), ("ENGRAM_MODELS_DIR", "/m")];
        assert_eq!(search(Some("/c"), &user), [PathBuf::from("/c")]);
        assert_eq!(search(None, &user), [PathBuf::from("/m")]);
        let defaults = ["/var/lib/engram/models", "/home/robin/.local/share/engram/models"].map(PathBuf::from);
        assert_eq!(search(None, &user[..1]), defaults);
        assert_eq!(search(None, &[("XDG_DATA_HOME", "/x")])[1], PathBuf::from("/x/engram/models"));
    }
}
