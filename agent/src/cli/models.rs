//! `engram models`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::values::key_value;

/// `engram models`.
#[derive(Debug, Clone, Subcommand)]
pub enum ModelsCommand {
    /// List every role with its model.
    List,
    /// Download missing models into the models directory; each file is checked by its sha256.
    Pull(PullArgs),
    /// Use a model of your own for a role; it is tested, copied and pinned in models.lock.
    Add(AddArgs),
    /// Remove an added model; the role goes back to the model of the catalogue.
    Remove {
        /// The role, such as `objects`.
        role: String,
    },
    /// Verify every installed file; exit code 4 if one is damaged.
    Verify,
    /// Test whether the output of each installed model is plausible; exit code 8 if one's is not.
    Test,
    /// Build TensorRT's engines ahead of time; on a small board this takes minutes each.
    #[cfg(feature = "tensorrt")]
    Build(BuildArgs),
    /// Measure every encoder on every available backend and print one table.
    Bench {
        /// Number of runs of each encoder.
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000))]
        rounds: u32,
    },
}

/// `engram models build`.
#[cfg(feature = "tensorrt")]
#[derive(Debug, Clone, Args)]
pub struct BuildArgs {
    /// Only these roles, such as `objects`. Default: every model that TensorRT can build.
    #[arg(value_name = "ROLE")]
    pub roles: Vec<String>,
    /// Also rebuild engines that exist already.
    #[arg(long)]
    pub fresh: bool,
}

/// `engram models pull`.
#[derive(Debug, Clone, Args)]
pub struct PullArgs {
    /// Only these roles, such as `"face embedding"`. Default: the default profile.
    #[arg(value_name = "ROLE")]
    pub roles: Vec<String>,
    /// The profile: `default`, or `good` for larger models, which then fill their roles. With roles, only these of it.
    #[arg(long, value_name = "NAME", value_parser = ["default", "good"])]
    pub profile: Option<String>,
    /// Accept this file although the catalogue does not know its sha256; repeat it for each file.
    #[arg(long, value_name = "SHA256")]
    pub accept: Vec<String>,
    /// A folder that holds the files under any names; they are found by their sha256.
    #[arg(long, value_name = "DIR", env = "ENGRAM_MODEL_MIRROR")]
    pub mirror: Option<PathBuf>,
    /// Accept the licences of the models without being asked.
    #[arg(long, visible_alias = "accept-license")]
    pub accept_licence: bool,
    /// The directory to fill. Default: the models directory of the configuration.
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Fail if anything is missing at the end; exit code 6.
    #[arg(long)]
    pub strict: bool,
}

/// `engram models add`.
#[derive(Debug, Clone, Args)]
pub struct AddArgs {
    /// The role, such as `objects`.
    pub role: String,
    /// The model: an ONNX file.
    pub graph: PathBuf,
    /// Name of the model. Default: the name of the file.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Licence of the model.
    #[arg(long, value_name = "TEXT")]
    pub licence: Option<String>,
    /// Class names, one a line.
    #[arg(long, value_name = "FILE")]
    pub labels: Option<PathBuf>,
    /// The tokenizer: a `tokenizer.json`.
    #[arg(long, value_name = "FILE")]
    pub tokenizer: Option<PathBuf>,
    /// The text half of a model for pictures and texts: an ONNX file.
    #[arg(long, value_name = "FILE")]
    pub text_graph: Option<PathBuf>,
    /// A file with a [[model]] entry as in config/models.toml, if the catalogue's entry for the role does not fit.
    #[arg(long, value_name = "FILE")]
    pub entry: Option<PathBuf>,
    /// Name of the vector space. Default: the name of the model and a part of its sha256.
    #[arg(long, value_name = "NAME")]
    pub space: Option<String>,
    /// Length of the vectors, if the model leaves it open.
    #[arg(long, value_name = "N")]
    pub dimensions: Option<usize>,
    /// A threshold, such as `score=0.5`; repeat it for each threshold.
    #[arg(long = "parameter", value_name = "KEY=NUMBER", value_parser = key_value)]
    pub parameters: Vec<(String, String)>,
    /// The directory to copy it to. Default: the models directory of the configuration.
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}
