//! All calls through pointers into libraries that are opened at run time. This is the only module with `unsafe`.
//!
//! Its public types are safe: objects keep their dependencies alive, pointers do not leave the module, and buffers have the
//! length that they claim. It makes no decisions; the modules that use it do.

#![allow(unsafe_code)]

#[cfg(feature = "tensorrt")]
pub(super) mod cuda;
#[cfg(feature = "tensorrt")]
pub(super) mod nvinfer;
pub(super) mod onnxruntime;

/// The loader's own words; `libloading` wraps them.
fn loader_message(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}
