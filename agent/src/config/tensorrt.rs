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

/// Precision of the engines.
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

/// `[models.tensorrt]`: how TensorRT is found and what it builds. Used only with an NVIDIA GPU.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TensorRtConfig {
    /// How engram reaches TensorRT.
    pub road: TensorRtRoad,
    /// libnvinfer. Default: libnvinfer.so.10, .so.8 or .so.11, as the system's loader finds them.
    pub library: Option<PathBuf>,
    /// libnvonnxparser. Default: the one beside libnvinfer.
    pub parser: Option<PathBuf>,
    /// NVIDIA's driver. Default: libcuda.so.1.
    pub driver: Option<PathBuf>,
    /// Whether TensorRT for RTX may replace TensorRT.
    pub allow_rtx: bool,
    /// Number of the GPU, as the driver counts.
    #[schemars(range(min = 0, max = 63))]
    pub device: i32,
    /// Precision of the engines. Embeddings of another precision differ a little from those of the processor.
    pub precision: EnginePrecision,
    /// DLA core to build for. The GPU runs what the DLA cannot.
    #[schemars(range(min = 0, max = 7))]
    pub dla: Option<i32>,
    /// Scratch memory of the builder and of an engine, MiB.
    #[schemars(range(min = 16, max = 65_536))]
    pub workspace_mib: u64,
    /// Directory of the built engines. Default: `engines` in the data directory.
    pub cache: Option<PathBuf>,
    /// Maximum size of all engines, MiB; the least recently used is deleted first.
    #[schemars(range(min = 64, max = 1_048_576))]
    pub cache_mib: u64,
    /// Maximum time to build one engine, minutes.
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
