use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Why TensorRT does not serve, by stage. Texts say what to do; what the library itself said stands in `message`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(tag = "stage", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum TensorRtError {
    /// No library could be loaded.
    #[error(
        "TensorRT is not there ({message}): install libnvinfer and libnvonnxparser, or name it in models.tensorrt.library"
    )]
    LibMissing {
        /// The loader's message for each name that was tried.
        message: String,
    },
    /// No NVIDIA driver, or no device of it. TensorRT is not touched then: without a driver it crashes.
    #[error("there is no NVIDIA GPU to use ({message}): check the driver, and that this user may open /dev/nvidia*")]
    DriverMissing {
        /// The message of the loader or the driver.
        message: String,
    },
    /// A library whose interface is not known. Calling it would be undefined.
    #[error("{library} is {found}: 8.5, 8.6, 10 and 11 can be used{hint}")]
    UnsupportedMajor {
        /// Which library.
        library: String,
        /// What it is.
        found: String,
        /// What else can be done.
        hint: String,
    },
    /// The library does not take an engine that it has just built. One from the cache is built anew without an error.
    #[error(
        "TensorRT does not take the engine that it has just built ({message}): install a TensorRT that supports this GPU, or set models.backend to \"cpu\""
    )]
    PlanRejected {
        /// The message of the library.
        message: String,
    },
    /// The parser does not understand the graph.
    #[error("TensorRT cannot read the graph ({message}): set the role to \"cpu\" in [models.backends]")]
    ParseFailed {
        /// The message of the parser.
        message: String,
    },
    /// The builder gave no engine.
    #[error("TensorRT built no engine ({message})")]
    BuildFailed {
        /// The message.
        message: String,
    },
    /// Memory did not suffice to build or to run.
    #[error(
        "memory did not suffice ({message}): lower models.tensorrt.workspace_mib, or build while nothing else runs"
    )]
    OutOfMemory {
        /// The message of the library, or how the builder ended.
        message: String,
    },
    /// A tensor or its shape is not what the engine takes.
    #[error("the engine does not take this: {message}")]
    ShapeMismatch {
        /// Which tensor, and what is wrong with it.
        message: String,
    },
    /// A run failed.
    #[error("the run failed on the GPU: {message}")]
    ExecFailed {
        /// The failed operation.
        message: String,
    },
    /// The small network of the self-check came out wrong: this library is not used.
    #[error(
        "the self-check failed ({message}): this TensorRT is not used; set models.backend to \"cpu\" and report the version"
    )]
    SelfCheck {
        /// The output.
        message: String,
    },
    /// The options do not go together.
    #[error("{message}")]
    Unsupported {
        /// What is not supported, and what is.
        message: String,
    },
    /// The cache of engines cannot be used.
    #[error("{}: {message}", path.display())]
    Cache {
        /// Which file or directory.
        path: PathBuf,
        /// Why.
        message: String,
    },
}

impl TensorRtError {
    /// Whether there is nothing to accelerate with, rather than something that does not work.
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::LibMissing { .. } | Self::DriverMissing { .. })
    }

    /// The stage's name, as in reports.
    pub fn stage(&self) -> &'static str {
        match self {
            Self::LibMissing { .. } => "lib-missing",
            Self::DriverMissing { .. } => "driver-missing",
            Self::UnsupportedMajor { .. } => "unsupported-major",
            Self::PlanRejected { .. } => "plan-rejected",
            Self::ParseFailed { .. } => "parse-failed",
            Self::BuildFailed { .. } => "build-failed",
            Self::OutOfMemory { .. } => "out-of-memory",
            Self::ShapeMismatch { .. } => "shape-mismatch",
            Self::ExecFailed { .. } => "exec-failed",
            Self::SelfCheck { .. } => "self-check",
            Self::Unsupported { .. } => "unsupported",
            Self::Cache { .. } => "cache",
        }
    }
}
