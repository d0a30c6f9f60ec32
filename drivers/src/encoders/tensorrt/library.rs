//! Finds the libraries, and decides whether they may be called.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{TensorRtError, TensorRtOptions};
use crate::encoders::ffi::cuda::Device;
use crate::encoders::ffi::nvinfer::{Kind, Library};
use crate::encoders::onnxruntime::check_header;

/// Major versions in search order: that of JetPack 6 and 7, that of JetPack 5, and the next one.
const MAJORS: [u32; 3] = [10, 8, 11];
const RTX: &str = "libtensorrt_rtx.so.1";

/// The driver and its device, asked before anything of TensorRT is touched, and then the library.
pub(super) fn open(options: &TensorRtOptions) -> Result<(Arc<Device>, Arc<Library>), TensorRtError> {
    let device = Device::open(options.driver.as_deref(), options.device)?;
    Ok((device, find(options.library.as_deref(), options.allow_rtx)?))
}

/// The library that was named, or the first that can be used. Only its version is asked.
pub(super) fn find(named: Option<&Path>, allow_rtx: bool) -> Result<Arc<Library>, TensorRtError> {
    if let Some(path) = named {
        // The loader is killed by a file that is cut short.
        if path.components().count() > 1 {
            check_header(path).map_err(|error| TensorRtError::LibMissing { message: error.to_string() })?;
        }
        return Library::open(path, allow_rtx);
    }
    let rtx = allow_rtx.then(|| PathBuf::from(RTX));
    let names = MAJORS.iter().map(|major| PathBuf::from(format!("libnvinfer.so.{major}"))).chain(rtx);
    let mut failure = None;
    for name in names {
        match Library::open(&name, allow_rtx) {
            Ok(library) => return Ok(library),
            // A library that is there and cannot be used says more than one that is not there.
            Err(error @ TensorRtError::LibMissing { .. }) => failure = failure.or(Some(error)),
            Err(error) => failure = Some(error),
        }
    }
    Err(failure.unwrap_or_else(|| TensorRtError::LibMissing { message: "no name to look for".to_owned() }))
}

/// Returns where the parser of a library may be, best first.
pub(super) fn parsers(library: &Library, named: Option<&Path>) -> Vec<PathBuf> {
    if let Some(path) = named {
        return vec![path.to_path_buf()];
    }
    let version = library.version();
    let name = match version.kind {
        Kind::TensorRt => format!("libnvonnxparser.so.{}", version.major),
        Kind::Rtx => format!("libtensorrt_onnxparser_rtx.so.{}", version.major),
    };
    let beside = library.file().parent().map(|directory| directory.join(&name)).filter(|path| path.exists());
    beside.into_iter().chain([PathBuf::from(name)]).collect()
}
