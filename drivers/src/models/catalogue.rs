use std::path::{Path, PathBuf};

use memory_core::PlaceSpace;
use serde::{Deserialize, Serialize};

use super::{ModelEntry, ModelFile, Profile, Role, Source};

const EMBEDDED: &str = include_str!("../../../config/models.toml");
const VERSION: u32 = 1;

/// Why a catalogue cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogueError {
    /// The file cannot be read.
    #[error("{path}: {source}")]
    Read {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The text is not a catalogue.
    #[error("{path}: {message}")]
    Parse {
        /// Which file.
        path: PathBuf,
        /// Position and problem.
        message: String,
    },
}

/// The models of a profile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalogue {
    version: u32,
    /// The library that runs ONNX graphs; only the catalogue that is compiled in must have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub onnxruntime: Option<OnnxRuntimeEntry>,
    /// The models that fill the roles: one per role at most.
    #[serde(default, rename = "model")]
    pub models: Vec<ModelEntry>,
    /// Models of other profiles for roles that have one already. `engram models pull --profile` puts them in its place.
    #[serde(skip)]
    pub alternatives: Vec<ModelEntry>,
}

/// The pinned ONNX Runtime.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OnnxRuntimeEntry {
    /// Version of the pinned libraries.
    pub version: String,
    /// Oldest version that is accepted from a library of the user's own.
    pub minimum: String,
    /// Its licence.
    pub licence: String,
    /// One per processor.
    pub library: Vec<LibraryBuild>,
}

/// One build of the library.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LibraryBuild {
    /// Processor, as in `std::env::consts::ARCH`.
    pub arch: String,
    /// Name in the models directory.
    pub file: String,
    /// Lower-case hexadecimal.
    pub sha256: String,
    /// Size.
    pub bytes: u64,
    /// Sources of the file.
    pub sources: Vec<Source>,
}

impl Catalogue {
    /// A catalogue of nothing but these models.
    pub(super) fn from_entries(models: Vec<ModelEntry>) -> Self {
        Self { version: VERSION, onnxruntime: None, models, alternatives: Vec::new() }
    }

    /// The models of a profile, in the order of the roles.
    pub fn of_profile(&self, profile: Profile) -> Vec<&ModelEntry> {
        let within = |model: &&ModelEntry| model.profiles.contains(&profile);
        let mut models: Vec<&ModelEntry> = self.models.iter().filter(within).collect();
        for other in self.alternatives.iter().filter(within) {
            if models.iter().all(|model| model.role != other.role) {
                models.push(other);
            }
        }
        models.sort_by_key(|model| model.role);
        models
    }

    /// Whether a model fills its role now, and not as an alternative.
    pub fn fills(&self, model: &ModelEntry) -> bool {
        self.model(model.role) == Some(model)
    }

    /// Takes over the digests that were accepted for files whose digest this catalogue does not know.
    pub(super) fn adopt_digests(&mut self, accepted: &[ModelEntry]) {
        for model in &mut self.models {
            let Some(known) = accepted.iter().find(|known| known.role == model.role && known.name == model.name) else {
                continue;
            };
            for file in model.files.iter_mut().filter(|file| !file.is_pinned()) {
                if let Some(pinned) = known.files.iter().find(|pinned| pinned.file == file.file) {
                    (file.sha256, file.bytes) = (pinned.sha256.clone(), pinned.bytes);
                }
            }
        }
    }

    /// Puts models in the place of those of the same roles.
    pub fn replace(&mut self, models: Vec<ModelEntry>) {
        self.models.retain(|model| !models.iter().any(|other| other.role == model.role));
        self.models.extend(models);
        self.models.sort_by_key(|model| model.role);
    }

    /// The roles that a catalogue of the user's own fills.
    ///
    /// # Errors
    /// If the file cannot be read or is not a catalogue.
    pub fn roles_of(path: &Path) -> Result<Vec<Role>, CatalogueError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| CatalogueError::Read { path: path.to_path_buf(), source })?;
        Ok(Self::parse(&text, path)?.models.iter().map(|model| model.role).collect())
    }

    /// One model from a file of its own, as `engram models add --entry` takes it.
    ///
    /// # Errors
    /// If the file cannot be read or holds anything but one model.
    pub fn single(path: &Path) -> Result<ModelEntry, CatalogueError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| CatalogueError::Read { path: path.to_path_buf(), source })?;
        let mut models = Self::parse(&text, path)?.models;
        match (models.pop(), models.is_empty()) {
            (Some(model), true) => Ok(model),
            _ => Err(CatalogueError::Parse { path: path.to_path_buf(), message: "expected one [[model]]".to_owned() }),
        }
    }

    /// The catalogue of the default profile, with the entries of `own` in place of those of the same roles.
    ///
    /// # Errors
    /// If `own` cannot be read or is not a catalogue.
    pub fn load(own: Option<&Path>) -> Result<Self, CatalogueError> {
        let mut catalogue = Self::parse(EMBEDDED, Path::new("config/models.toml"))?;
        let Some(path) = own else { return Ok(catalogue) };
        let text = std::fs::read_to_string(path)
            .map_err(|source| CatalogueError::Read { path: path.to_path_buf(), source })?;
        let own = Self::parse(&text, path)?;
        catalogue.replace(own.models);
        let taken = |model: &ModelEntry| {
            let same = |other: &ModelEntry| other.role == model.role && other.shares_profile(model);
            own.alternatives.iter().any(same)
        };
        catalogue.alternatives.retain(|model| !taken(model));
        catalogue.alternatives.extend(own.alternatives);
        if own.onnxruntime.is_some() {
            catalogue.onnxruntime = own.onnxruntime;
        }
        Ok(catalogue)
    }

    pub(super) fn parse(text: &str, path: &Path) -> Result<Self, CatalogueError> {
        let refuse = |message: String| CatalogueError::Parse { path: path.to_path_buf(), message };
        let mut catalogue: Self = toml::from_str(text).map_err(|error| refuse(error.to_string()))?;
        if catalogue.version != VERSION {
            return Err(refuse(format!("version {} is not known, expected {VERSION}", catalogue.version)));
        }
        for (at, model) in catalogue.models.iter().enumerate() {
            if catalogue.models[..at].iter().any(|other| other.role == model.role && other.shares_profile(model)) {
                let message = format!("two models for the role `{}` in one profile: keep one", model.role);
                return Err(refuse(message));
            }
            match (model.runtime.as_str(), model.graph()) {
                ("onnx" | "whisper", Some(_)) => {}
                // Part of the program: nothing is loaded.
                ("builtin", _) => {}
                ("onnx" | "whisper", None) => {
                    return Err(refuse(format!("{}: no file with part = \"graph\"", model.name)));
                }
                (runtime, _) => {
                    let known = "expected `onnx`, `whisper` or `builtin`";
                    return Err(refuse(format!("{}: runtime `{runtime}` is not known, {known}", model.name)));
                }
            }
            if let Some(part) = model.repeated_part() {
                return Err(refuse(format!("{}: two files with part = {part:?}", model.name)));
            }
            let halves = |source: &Source| matches!(source, Source::Mirror(mirror) if mirror.sha256.is_some() != mirror.bytes.is_some());
            if let Some(file) = model.files.iter().find(|file| file.sources.iter().any(halves)) {
                let wanted = "a `mirror` of another build needs both `sha256` and `bytes`";
                return Err(refuse(format!("{}: {}: {wanted}", model.name, file.file)));
            }
            let sized = |file: &&ModelFile| file.sha256.is_empty() != (file.bytes == 0);
            if let Some(file) = model.files.iter().find(sized) {
                let wanted = "`sha256` and `bytes` are both known or both left out";
                return Err(refuse(format!("{}: {}: {wanted}", model.name, file.file)));
            }
            let plain = |name: &str| Path::new(name).components().count() == 1 && !name.starts_with('.');
            if let Some(file) = model.files.iter().find(|file| !plain(&file.file)) {
                return Err(refuse(format!("{}: `{}` is not a plain file name", model.name, file.file)));
            }
        }
        catalogue.set_alternatives_apart();
        Ok(catalogue)
    }

    /// Leaves one model per role: that of the default profile, else the first one.
    fn set_alternatives_apart(&mut self) {
        let all = std::mem::take(&mut self.models);
        let chosen = |role: Role| {
            let of_role = || all.iter().enumerate().filter(|(_, model)| model.role == role);
            let default = of_role().find(|(_, model)| model.profiles.contains(&Profile::Default));
            default.or_else(|| of_role().next()).map(|(at, _)| at)
        };
        let places: Vec<bool> = all.iter().enumerate().map(|(at, model)| chosen(model.role) == Some(at)).collect();
        for (model, first) in all.into_iter().zip(places) {
            if first { self.models.push(model) } else { self.alternatives.push(model) }
        }
    }

    /// The model of a role.
    pub fn model(&self, role: Role) -> Option<&ModelEntry> {
        self.models.iter().find(|model| model.role == role)
    }

    /// The spaces of pictures in which places can be told apart, with γ: the parameter `same_place` of their models' entries.
    pub fn place_spaces(&self) -> Vec<PlaceSpace> {
        let of = |model: &ModelEntry| {
            Some(PlaceSpace { space: model.space.clone()?, gamma: model.parameter("same_place").ok()? })
        };
        self.models.iter().filter_map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(text: &str) -> Result<Catalogue, CatalogueError> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        Catalogue::load(Some(file.path()))
    }

    const DETECTOR: &str = r#"
        version = 1
        [[model]]
        role = "objects"
        name = "mine"
        licence = "MIT"
        runtime = "onnx"
        preprocessing = "as FastestDet"
        inputs = [{ name = "x", type = "f32", shape = [1, 3, 352, 352] }]
        outputs = [{ name = "y", type = "f32", shape = [1, 85, 22, 22] }]
        labels = ["cone"]
        [[model.file]]
        part = "graph"
        file = "mine.onnx"
        sha256 = "00"
        bytes = 1
        sources = []
    "#;

    #[test]
    fn the_default_profile_fills_its_roles_and_pins_every_file() {
        let catalogue = Catalogue::load(None).unwrap();
        let roles: Vec<_> = catalogue.models.iter().map(|model| model.role).collect();
        let filled = [
            Role::TextEmbedding,
            Role::AnswerExtraction,
            Role::Objects,
            Role::VoiceActivity,
            Role::SoundEvents,
            Role::Faces,
            Role::SceneClasses,
            Role::ImageEmbedding,
            Role::SpeechRecognition,
        ];
        let default = |role: &Role| {
            catalogue
                .model(*role)
                .is_some_and(|model| model.profiles.contains(&Profile::Default) && model.graph().is_some())
        };
        let roles: Vec<_> = roles.into_iter().filter(default).collect();
        assert_eq!(roles, filled);
        assert_eq!(catalogue.model(Role::Objects).unwrap().labels.len(), 80);
        let hex = |text: &str| text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        for model in catalogue.models.iter().chain(&catalogue.alternatives) {
            for file in &model.files {
                assert!(hex(&file.sha256), "{}", file.file);
                assert!(file.bytes > 0 && !file.sources.is_empty(), "{}", file.file);
                // A stranger has no mirror.
                let open = |source: &Source| !matches!(source, Source::Mirror(_));
                assert!(file.sources.iter().any(open), "{} is nowhere to be had", file.file);
                for source in &file.sources {
                    let pins = match source {
                        Source::Original(original) => Some((original.sha256.as_str(), original.bytes)),
                        other => other.other_build(),
                    };
                    assert!(pins.is_none_or(|(sha256, bytes)| hex(sha256) && bytes > 0), "{}", file.file);
                }
            }
        }
        let runtime = catalogue.onnxruntime.unwrap();
        assert!(runtime.library.iter().all(|library| hex(&library.sha256)));
        assert!(["x86_64", "aarch64"].iter().all(|arch| runtime.library.iter().any(|library| library.arch == *arch)));
    }

    #[test]
    fn a_role_has_one_model_and_those_of_other_profiles_beside_it() {
        let catalogue = Catalogue::load(None).unwrap();
        let name = |role: Role, profile: Profile| {
            let models = catalogue.of_profile(profile);
            models.iter().find(|model| model.role == role).map(|model| model.name.clone())
        };
        assert_eq!(catalogue.model(Role::Objects).unwrap().name, "FastestDet");
        assert_eq!(name(Role::Objects, Profile::Default).as_deref(), Some("FastestDet"));
        assert_eq!(name(Role::Objects, Profile::Good).as_deref(), Some("YOLOX-Nano"));
        assert_eq!(name(Role::JointImageText, Profile::Default), None);
        assert!(name(Role::JointImageText, Profile::Good).is_some());
        assert!(catalogue.model(Role::JointImageText).is_some(), "its files are used wherever they are");
        let good = catalogue.of_profile(Profile::Good);
        let roles: Vec<Role> = Role::ALL.into_iter().filter(|role| *role != Role::Captions).collect();
        assert_eq!(good.iter().map(|model| model.role).collect::<Vec<_>>(), roles);
        assert!(
            catalogue.fills(catalogue.model(Role::Objects).unwrap()) && !catalogue.fills(&catalogue.alternatives[0])
        );
    }

    #[test]
    fn catalogues_of_earlier_versions_say_default_instead_of_profiles() {
        let profiles = |line: &str| {
            let text = DETECTOR.replace("runtime = \"onnx\"", &format!("runtime = \"onnx\"\n{line}"));
            own(&text).unwrap().model(Role::Objects).unwrap().profiles.clone()
        };
        assert_eq!(profiles(""), [Profile::Default]);
        assert_eq!(profiles("default = true"), [Profile::Default]);
        assert!(profiles("default = false").is_empty());
        assert_eq!(profiles("profiles = [\"good\"]"), [Profile::Good]);
        assert!(own(&DETECTOR.replace("labels =", "profiles = [\"best\"]\nlabels =")).is_err());
    }

    #[test]
    fn a_digest_without_a_size_is_refused_and_neither_of_them_is_a_file_to_accept() {
        let error = own(&DETECTOR.replace("bytes = 1", "")).unwrap_err().to_string();
        assert!(error.contains("mine.onnx") && error.contains("left out"), "{error}");
        let catalogue = own(&DETECTOR.replace("bytes = 1", "").replace("sha256 = \"00\"", "")).unwrap();
        assert!(!catalogue.model(Role::Objects).unwrap().files[0].is_pinned());
    }

    #[test]
    fn an_own_entry_replaces_the_model_of_its_role_and_no_other() {
        let catalogue = own(DETECTOR).unwrap();
        assert_eq!(catalogue.model(Role::Objects).unwrap().name, "mine");
        assert_eq!(catalogue.model(Role::TextEmbedding).unwrap().name, "all-MiniLM-L6-v2");
        assert!(catalogue.onnxruntime.is_some());
    }

    #[test]
    fn a_misspelt_key_is_named() {
        let error = own(&DETECTOR.replace("licence", "license")).unwrap_err().to_string();
        assert!(error.contains("license"), "{error}");
    }

    #[test]
    fn a_file_name_that_leaves_the_models_directory_is_refused() {
        let error = own(&DETECTOR.replace("mine.onnx", "../../etc/mine.onnx")).unwrap_err().to_string();
        assert!(error.contains("not a plain file name"), "{error}");
    }

    #[test]
    fn another_build_without_its_size_is_refused() {
        let source = r#"sources = [{ mirror = "mine", sha256 = "00" }]"#;
        let error = own(&DETECTOR.replace("sources = []", source)).unwrap_err().to_string();
        assert!(error.contains("mine.onnx") && error.contains("`bytes`"), "{error}");
    }

    #[test]
    fn two_models_for_one_role_are_refused() {
        let second = DETECTOR.replace("version = 1", "");
        let error = own(&format!("{DETECTOR}{second}")).unwrap_err().to_string();
        assert!(error.contains("two models for the role `objects` in one profile"), "{error}");
        let other = second.replace("labels", "profiles = [\"good\"]\nlabels");
        let catalogue = own(&format!("{DETECTOR}{other}")).unwrap();
        let detectors: Vec<_> = catalogue.alternatives.iter().filter(|model| model.role == Role::Objects).collect();
        assert_eq!(detectors.iter().map(|model| &*model.name).collect::<Vec<_>>(), ["mine"], "one's own goes before");
    }

    #[test]
    fn a_catalogue_of_a_later_version_is_refused() {
        let error = own("version = 2").unwrap_err().to_string();
        assert!(error.contains("version 2"), "{error}");
    }

    #[test]
    fn fuzz_catalogue() {
        let valid = [DETECTOR.as_bytes(), b"version = 2"];
        fuzzing::fuzz("catalogue", 4_000, |random| {
            let text = random.mutated(&valid);
            if let Err(error) = own(&String::from_utf8_lossy(&text)) {
                assert!(!error.to_string().is_empty());
            }
        });
    }
}
