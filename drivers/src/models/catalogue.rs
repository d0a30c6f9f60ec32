use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use memory_core::PlaceSpace;
use serde::{Deserialize, Serialize};

use super::Role;

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
    /// One entry per role at most.
    #[serde(default, rename = "model")]
    pub models: Vec<ModelEntry>,
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

/// One model with everything that is needed to use it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelEntry {
    /// Role of the model.
    pub role: Role,
    /// Name for people.
    pub name: String,
    /// Licence of the weights.
    pub licence: String,
    /// What runs it: `onnx`, `whisper` for ggml models of whisper.cpp, or `builtin` for what is part of the program and
    /// needs no file.
    pub runtime: String,
    /// Whether it belongs to the default profile, or is pulled only where it is asked for by its role.
    #[serde(default = "yes")]
    pub default: bool,
    /// Whether TensorRT can build it; quantised graphs cannot.
    #[serde(default)]
    pub tensorrt: bool,
    /// Name of its vector space, if it makes vectors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub space: Option<String>,
    /// Length of its vectors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dimensions: Option<usize>,
    /// Preprocessing in words; the encoder of the role implements it.
    pub preprocessing: String,
    /// Required inputs of the graph.
    pub inputs: Vec<TensorSpec>,
    /// Required outputs of the graph.
    pub outputs: Vec<TensorSpec>,
    /// Required inputs of the text network, of a model that has one beside that for pictures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub text_inputs: Vec<TensorSpec>,
    /// Required outputs of the text network.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub text_outputs: Vec<TensorSpec>,
    /// How large the inputs get whose shape the graph leaves open, for backends that must know it before they run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shapes: Vec<ShapeRange>,
    /// Thresholds and limits, by name.
    #[serde(default)]
    pub parameters: BTreeMap<String, f32>,
    /// Class names, in the order of the graph's classes; a file with part = "labels" serves as well.
    #[serde(default)]
    pub labels: Vec<String>,
    /// Names for sums over several classes: what a model is unsure of in detail it may be sure of in general.
    #[serde(default)]
    pub groups: BTreeMap<String, Vec<GroupMember>>,
    /// The graph and what belongs to it.
    #[serde(rename = "file")]
    pub files: Vec<ModelFile>,
}

/// One file of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelFile {
    /// Part of the model.
    pub part: Part,
    /// Name in the models directory.
    pub file: String,
    /// Lower-case hexadecimal.
    pub sha256: String,
    /// Size.
    pub bytes: u64,
    /// Sources of the file.
    pub sources: Vec<Source>,
}

/// Part of a model that a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// The network.
    Graph,
    /// The second network of a model that has one for pictures or sound and one for texts.
    TextGraph,
    /// Texts to token ids, as `tokenizer.json`.
    Tokenizer,
    /// Class names, one a line, in the order of the graph's classes.
    Labels,
}

/// Source of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Source {
    /// A wheel of a Python package.
    Package(PackageSource),
    /// An address pinned by commit.
    Address(AddressSource),
    /// A public original that a script of the repository makes the file from.
    Original(OriginalSource),
    /// A file of a Debian package.
    Debian(DebianSource),
    /// Only a folder that is named as mirror may hold it.
    Mirror(MirrorSource),
}

/// A file inside a wheel, or one that a script of the repository makes from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PackageSource {
    /// Name of the package.
    pub pip: String,
    /// Its version.
    pub version: String,
    /// The wheel's platform tag, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// sha256 of the wheel.
    pub wheel: String,
    /// Path of the file inside the wheel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// Name of the script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<String>,
    /// Which graph the script is to write, where it can write several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<String>,
}

/// An address pinned by commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddressSource {
    /// The address.
    pub url: String,
}

/// An original at an address pinned by commit, and the script that makes the file from it: the same bytes on every machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OriginalSource {
    /// The address of the original.
    pub original: String,
    /// sha256 of the original.
    pub sha256: String,
    /// Size of the original.
    pub bytes: u64,
    /// Name of the script.
    pub script: String,
    /// A tensor of the original that becomes one more output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub features: Option<String>,
}

/// One class of a group, or a range of classes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum GroupMember {
    /// A class by its number.
    Class(usize),
    /// Range of classes, both ends included.
    Range([usize; 2]),
}

/// A file of a Debian package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DebianSource {
    /// Name of the package, with `=VERSION` where it is pinned.
    pub apt: String,
    /// Path of the file inside it.
    pub member: String,
}

/// A file that only a mirror can hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorSource {
    /// Origin, and how it was made.
    pub mirror: String,
    /// Digest of this file, if it is another build than the one that the entry pins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Its size, then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

impl Source {
    /// sha256 and size of another build of the file that is as welcome as the pinned one.
    pub fn other_build(&self) -> Option<(&str, u64)> {
        match self {
            Self::Mirror(MirrorSource { sha256: Some(sha256), bytes: Some(bytes), .. }) => Some((sha256, *bytes)),
            _ => None,
        }
    }
}

/// The shapes that one input may have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShapeRange {
    /// Name of the input in the graph; empty for the one at this place.
    pub name: String,
    /// The smallest.
    pub min: Vec<i64>,
    /// The one to be fast with.
    pub opt: Vec<i64>,
    /// The largest.
    pub max: Vec<i64>,
}

/// Name, element type and shape of a tensor at the border of a graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TensorSpec {
    /// Name in the graph; empty for the one at this place.
    pub name: String,
    /// Its elements.
    #[serde(rename = "type")]
    pub element: ElementType,
    /// -1 where the graph leaves a dimension open.
    pub shape: Vec<i64>,
}

/// Element types that cross the border.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ElementType {
    /// 32-bit floating point.
    F32,
    /// 64-bit integers.
    I64,
    /// Bytes, of quantised graphs.
    U8,
}

const fn yes() -> bool {
    true
}

impl Catalogue {
    /// A catalogue of nothing but these models.
    pub(super) fn from_entries(models: Vec<ModelEntry>) -> Self {
        Self { version: VERSION, onnxruntime: None, models }
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
        if own.onnxruntime.is_some() {
            catalogue.onnxruntime = own.onnxruntime;
        }
        Ok(catalogue)
    }

    pub(super) fn parse(text: &str, path: &Path) -> Result<Self, CatalogueError> {
        let refuse = |message: String| CatalogueError::Parse { path: path.to_path_buf(), message };
        let catalogue: Self = toml::from_str(text).map_err(|error| refuse(error.to_string()))?;
        if catalogue.version != VERSION {
            return Err(refuse(format!("version {} is not known, expected {VERSION}", catalogue.version)));
        }
        for (at, model) in catalogue.models.iter().enumerate() {
            if catalogue.models[..at].iter().any(|other| other.role == model.role) {
                return Err(refuse(format!("two models for the role `{}`: keep one", model.role)));
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
            let plain = |name: &str| Path::new(name).components().count() == 1 && !name.starts_with('.');
            if let Some(file) = model.files.iter().find(|file| !plain(&file.file)) {
                return Err(refuse(format!("{}: `{}` is not a plain file name", model.name, file.file)));
            }
        }
        Ok(catalogue)
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

impl ModelEntry {
    /// The file that holds the network.
    pub fn graph(&self) -> Option<&ModelFile> {
        self.files.iter().find(|file| file.part == Part::Graph)
    }

    /// The entry for a model of whisper.cpp, which knows its own tensors, tokens and spectra.
    #[must_use]
    pub fn of_ggml(self) -> Self {
        Self {
            runtime: "whisper".to_owned(),
            preprocessing: "16 kHz mono in -1 to 1, a stretch of speech at a time; whisper.cpp makes the spectra"
                .to_owned(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            text_inputs: Vec::new(),
            text_outputs: Vec::new(),
            shapes: Vec::new(),
            files: Vec::new(),
            ..self
        }
    }

    fn repeated_part(&self) -> Option<Part> {
        let mut parts: Vec<Part> = self.files.iter().map(|file| file.part).collect();
        parts.sort_unstable();
        parts.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
    }

    /// The named parameter, or why the entry cannot be used.
    ///
    /// # Errors
    /// If it is not there or not finite; the text says what to add.
    pub fn parameter(&self, name: &str) -> Result<f32, String> {
        match self.parameters.get(name) {
            Some(value) if value.is_finite() => Ok(*value),
            Some(value) => Err(format!("{}: parameter `{name}` is {value}", self.name)),
            None => Err(format!("{}: the catalogue lacks `parameters.{name}`", self.name)),
        }
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
            Role::Objects,
            Role::VoiceActivity,
            Role::SoundEvents,
            Role::Faces,
            Role::SceneClasses,
            Role::ImageEmbedding,
            Role::SpeechRecognition,
        ];
        let default =
            |role: &Role| catalogue.model(*role).is_some_and(|model| model.default && model.graph().is_some());
        let roles: Vec<_> = roles.into_iter().filter(default).collect();
        assert_eq!(roles, filled);
        assert_eq!(catalogue.model(Role::Objects).unwrap().labels.len(), 80);
        let hex = |text: &str| text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        for model in &catalogue.models {
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
        assert!(error.contains("two models for the role `objects`"), "{error}");
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
