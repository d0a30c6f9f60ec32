use std::path::PathBuf;
use std::time::Duration;

use super::Precision;

/// How TensorRT is found, asked and cached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorRtOptions {
    /// libnvinfer. Without it, `libnvinfer.so` of major 10, 8 and 11, as the loader finds them.
    pub library: Option<PathBuf>,
    /// libnvonnxparser. Without it, the one beside libnvinfer, else as the loader finds it.
    pub parser: Option<PathBuf>,
    /// The driver. Without it, `libcuda.so.1`.
    pub driver: Option<PathBuf>,
    /// Whether TensorRT for RTX may stand in for TensorRT.
    pub allow_rtx: bool,
    /// Which GPU, as the driver counts.
    pub device: i32,
    /// Number format of engines.
    pub precision: Precision,
    /// Core of the DLA that engines are built for, with the GPU for what it cannot do.
    pub dla: Option<i32>,
    /// Memory that the builder and an engine may use for scratch, MiB.
    pub workspace_mib: u64,
    /// Directory of the engines.
    pub cache: PathBuf,
    /// Ceiling of that directory, MiB; what was not used for longest goes first.
    pub cache_mib: u64,
    /// How long a build may take.
    pub patience: Duration,
    /// Program that builds engines.
    pub builder: BuilderCommand,
}

/// A program that calls [`work`](super::work()) with its standard input and output.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BuilderCommand {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
}

impl TensorRtOptions {
    /// The defaults, with engines in `cache`.
    pub fn new(cache: PathBuf, builder: BuilderCommand) -> Self {
        Self {
            library: None,
            parser: None,
            driver: None,
            allow_rtx: false,
            device: 0,
            precision: Precision::default(),
            dla: None,
            workspace_mib: 512,
            cache,
            cache_mib: 4096,
            patience: Duration::from_secs(3600),
            builder,
        }
    }
}
