//! ONNX Runtime's own accelerators, if the installed library was built with them.

use std::path::PathBuf;

use ort::ep::{CUDA, ExecutionProvider, ExecutionProviderDispatch, TensorRT};

use crate::models::ShapeRange;

/// An execution provider and its options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Provider {
    /// An NVIDIA GPU.
    Cuda {
        /// Which GPU.
        device: i32,
    },
    /// An NVIDIA GPU or DLA through TensorRT, with CUDA for what TensorRT does not take.
    TensorRt {
        /// Which GPU.
        device: i32,
        /// 16 bits where it is faster.
        fp16: bool,
        /// 8 bits where the graph carries its scales.
        int8: bool,
        /// Core of the DLA.
        dla: Option<u32>,
        /// Scratch memory, bytes.
        workspace: usize,
        /// Directory of its engines and of what its builder measured.
        cache: PathBuf,
    },
}

impl Provider {
    /// Returns the part of the backend's name.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Cuda { .. } => "cuda",
            Self::TensorRt { .. } => "tensorrt",
        }
    }

    /// Whether the library was built with it. Whether it works shows when a model is loaded.
    pub(super) fn is_built_in(&self) -> bool {
        let available = match self {
            Self::Cuda { .. } => CUDA::is_available(),
            Self::TensorRt { .. } => TensorRT::is_available(),
        };
        available.unwrap_or(false)
    }

    /// What a session is told. One that cannot be used is an error: otherwise the library goes on with the CPU and says
    /// nothing.
    pub(super) fn dispatch(&self, shapes: &[ShapeRange]) -> Vec<ExecutionProviderDispatch> {
        match self {
            Self::Cuda { device } => vec![CUDA::default().with_device_id(*device).build().error_on_failure()],
            Self::TensorRt { device, fp16, int8, dla, workspace, cache } => {
                let directory = cache.to_string_lossy();
                let mut provider = TensorRT::default()
                    .with_device_id(*device)
                    .with_max_workspace_size(*workspace)
                    .with_fp16(*fp16)
                    .with_int8(*int8)
                    .with_engine_cache(true)
                    .with_engine_cache_path(&directory)
                    .with_timing_cache(true)
                    .with_timing_cache_path(&directory);
                if let Some(core) = dla {
                    provider = provider.with_dla(true).with_dla_core(*core);
                }
                if !shapes.is_empty() {
                    provider = provider
                        .with_profile_min_shapes(shapes_text(shapes, |range| &range.min))
                        .with_profile_opt_shapes(shapes_text(shapes, |range| &range.opt))
                        .with_profile_max_shapes(shapes_text(shapes, |range| &range.max));
                }
                let rest = CUDA::default().with_device_id(*device).build().error_on_failure();
                vec![provider.build().error_on_failure(), rest]
            }
        }
    }
}

/// `input_ids:1x1,attention_mask:1x1`, as the provider reads shapes.
fn shapes_text(shapes: &[ShapeRange], which: impl Fn(&ShapeRange) -> &Vec<i64>) -> String {
    let one = |range: &ShapeRange| {
        let sizes: Vec<String> = which(range).iter().map(i64::to_string).collect();
        format!("{}:{}", range.name, sizes.join("x"))
    };
    shapes.iter().map(one).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_written_as_the_provider_reads_them() {
        let range = |name: &str, max: &[i64]| ShapeRange {
            name: name.to_owned(),
            min: vec![1; max.len()],
            opt: max.to_vec(),
            max: max.to_vec(),
        };
        let shapes = [range("input_ids", &[32, 256]), range("pixels", &[1, 3, 224, 224])];
        assert_eq!(shapes_text(&shapes, |range| &range.max), "input_ids:32x256,pixels:1x3x224x224");
    }
}
