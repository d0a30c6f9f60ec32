use std::path::Path;

use ndarray::{ArrayD, ArrayViewD};

use crate::models::{ElementType, InstalledModel, TensorSpec};

/// Runs graphs on one kind of hardware.
pub trait Backend: Send + Sync {
    /// Returns the name with the version, as in `health`: `onnxruntime-cpu 1.31.1`.
    fn name(&self) -> &str;

    /// Loads a model's graph and checks it against the tensors that the catalogue promises.
    ///
    /// # Errors
    /// If the graph cannot be loaded or has other tensors.
    fn load(&self, model: &InstalledModel, threads: usize) -> Result<Box<dyn Graph>, BackendError>;

    /// The tensors at the border of a graph, those left out whose elements cannot cross it.
    ///
    /// # Errors
    /// If the graph cannot be loaded.
    fn describe(&self, graph: &Path) -> Result<GraphTensors, BackendError>;
}

/// Inputs and outputs of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphTensors {
    /// Inputs in the graph's own order.
    pub inputs: Vec<TensorSpec>,
    /// Outputs in the graph's own order.
    pub outputs: Vec<TensorSpec>,
}

/// A loaded model.
pub trait Graph: Send {
    /// Runs it once. Inputs and outputs stand in the order of the catalogue's entry.
    ///
    /// # Errors
    /// If the run fails; nothing of it is kept.
    fn run(&mut self, inputs: &[TensorView<'_>]) -> Result<Vec<Tensor>, BackendError>;
}

/// A tensor handed to a graph.
#[derive(Debug, Clone)]
pub enum TensorView<'a> {
    /// 32-bit floating point, contiguous.
    F32(ArrayViewD<'a, f32>),
    /// 64-bit integers, contiguous.
    I64(ArrayViewD<'a, i64>),
    /// Bytes, contiguous.
    U8(ArrayViewD<'a, u8>),
}

/// A tensor that came out of a graph.
#[derive(Debug, Clone, PartialEq)]
pub enum Tensor {
    /// 32-bit floating point.
    F32(ArrayD<f32>),
    /// 64-bit integers.
    I64(ArrayD<i64>),
    /// Bytes.
    U8(ArrayD<u8>),
}

impl Tensor {
    /// Its numbers, if they are floating point.
    pub fn into_f32(self) -> Option<ArrayD<f32>> {
        if let Self::F32(array) = self { Some(array) } else { None }
    }

    /// Its numbers, if they are bytes.
    pub fn into_u8(self) -> Option<ArrayD<u8>> {
        if let Self::U8(array) = self { Some(array) } else { None }
    }

    /// The type of its elements.
    pub fn element(&self) -> ElementType {
        match self {
            Self::F32(_) => ElementType::F32,
            Self::I64(_) => ElementType::I64,
            Self::U8(_) => ElementType::U8,
        }
    }
}

/// Why a graph could not be loaded or run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackendError {
    /// The runtime does not take the file.
    #[error("{model} cannot be loaded: {message}")]
    Load {
        /// Which model.
        model: String,
        /// The message of the runtime.
        message: String,
    },
    /// The graph is not what the catalogue says.
    #[error("{model} is not what the catalogue describes: {message}")]
    Contract {
        /// Which model.
        model: String,
        /// The difference.
        message: String,
    },
    /// A run failed.
    #[error("{model} failed: {message}")]
    Run {
        /// Which model.
        model: String,
        /// The message of the runtime.
        message: String,
    },
    /// TensorRT does not serve.
    #[cfg(feature = "tensorrt")]
    #[error("{model}: {source}")]
    TensorRt {
        /// Which model.
        model: String,
        /// At which stage, and what to do.
        source: super::tensorrt::TensorRtError,
    },
}
