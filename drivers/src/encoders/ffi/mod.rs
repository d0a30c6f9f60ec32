//! Everything that is called through a pointer: libraries that are opened at run time. The one place of `unsafe`.
//!
//! What leaves this module is safe to use as its types allow: objects keep alive what they hang on, pointers do not get out,
//! and buffers are as long as they say. Nothing here decides anything; that is for the modules that use it.

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
