use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Profile, Role, Source};

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
    /// Profiles that it belongs to. A model of none is pulled only where it is asked for by its role.
    #[serde(default = "Profile::of_entries", alias = "default", deserialize_with = "Profile::read_list")]
    pub profiles: Vec<Profile>,
    /// Whether nobody has run it with this version of Engram: its tensors are as its authors describe them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unverified: bool,
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
    /// How a picture is brought to the size of the input; without it, as the encoder of the role does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fit: Option<Fit>,
    /// How a text network's vectors of tokens become one; without it, the network does so itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pooling: Option<Pooling>,
    /// Required inputs of the graph.
    pub inputs: Vec<TensorSpec>,
    /// Required outputs of the graph.
    pub outputs: Vec<TensorSpec>,
    /// Required inputs of the second network, of a model that has one (`Part::TextGraph`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub text_inputs: Vec<TensorSpec>,
    /// Required outputs of the second network.
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
    /// How many boxes of each class the pictures have that a detector was trained on, in the order of the labels; empty where that
    /// is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub boxes: Vec<u32>,
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
    /// Lower-case hexadecimal; empty where it is not known. Such a file is not loaded before somebody accepted its digest, which
    /// `engram models pull` shows and writes into `models.lock`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sha256: String,
    /// Size; 0 where it is not known.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bytes: u64,
    /// Sources of the file.
    pub sources: Vec<Source>,
}

/// How a picture is brought to a model's size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fit {
    /// Width and height each on their own.
    Stretch,
    /// Both sides by one factor; filled up to the right and below.
    Pad,
    /// Both sides by one factor until the shorter one fits; what is too much of the longer one is cut off on both ends.
    Crop,
}

/// How the vectors of a text's tokens become one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// The vector of the first token, which stands for the whole text.
    Cls,
    /// The mean over the tokens.
    Mean,
}

/// Part of a model that a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// The network.
    Graph,
    /// The second network of a model: for texts beside one for pictures, which writes the words of a sound, or which compares
    /// the texts that the first one read.
    TextGraph,
    /// Texts to token ids, as `tokenizer.json`.
    Tokenizer,
    /// Class names, one a line, in the order of the graph's classes.
    Labels,
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

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl ModelFile {
    /// Whether its bytes are known. One that is not pinned is not loaded.
    pub const fn is_pinned(&self) -> bool {
        !self.sha256.is_empty()
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

    /// Whether one profile has both; two of no profile are as alike.
    pub(super) fn shares_profile(&self, other: &Self) -> bool {
        self.profiles == other.profiles || self.profiles.iter().any(|profile| other.profiles.contains(profile))
    }

    pub(super) fn repeated_part(&self) -> Option<Part> {
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
