//! `[models.tensorrt]`. The comments here are the descriptions in `engram config schema`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How TensorRT is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TensorRtRoad {
    /// Through ONNX Runtime if the installed library can, else natively.
    #[default]
    Auto,
    /// Through ONNX Runtime only.
    OnnxRuntime,
    /// Natively only: libnvinfer is opened by engram itself.
    Native,
}

/// What engines calculate with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EnginePrecision {
    /// 32 bits.
    #[default]
    Fp32,
    /// 16 bits where it is faster.
    Fp16,
    /// 8 bits where the graph carries its own scales, else 16.
    Int8,
}

/// `[models.tensorrt]`: how TensorRT is found and what it builds. It matters where an NVIDIA GPU is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TensorRtConfig {
    /// How it is reached.
    pub road: TensorRtRoad,
    /// libnvinfer. Without it, libnvinfer.so.10, .so.8 or .so.11, as the system's loader finds them.
    pub library: Option<PathBuf>,
    /// libnvonnxparser. Without it, the one beside libnvinfer.
    pub parser: Option<PathBuf>,
    /// NVIDIA's driver. Without it, libcuda.so.1.
    pub driver: Option<PathBuf>,
    /// Whether TensorRT for RTX may stand in for TensorRT.
    pub allow_rtx: bool,
    /// Which GPU, as the driver counts.
    #[schemars(range(min = 0, max = 63))]
    pub device: i32,
    /// What engines calculate with. Embeddings of another precision differ a little from those of the processor.
    pub precision: EnginePrecision,
    /// Core of the DLA to build for, with the GPU for what it cannot do.
    #[schemars(range(min = 0, max = 7))]
    pub dla: Option<i32>,
    /// Scratch memory of the builder and of an engine, MiB.
    #[schemars(range(min = 16, max = 65_536))]
    pub workspace_mib: u64,
    /// Where engines are kept. Without it, `engines` in the data directory.
    pub cache: Option<PathBuf>,
    /// Ceiling of all engines, MiB; what was not used for longest goes first.
    #[schemars(range(min = 64, max = 1_048_576))]
    pub cache_mib: u64,
    /// How long one engine may take to be built, minutes.
    #[schemars(range(min = 1, max = 1440))]
    pub patience_min: u64,
}

impl Default for TensorRtConfig {
    fn default() -> Self {
        Self {
            road: TensorRtRoad::Auto,
            library: None,
            parser: None,
            driver: None,
            allow_rtx: false,
            device: 0,
            precision: EnginePrecision::Fp32,
            dla: None,
            workspace_mib: 512,
            cache: None,
            cache_mib: 4096,
            patience_min: 60,
        }
    }
}
