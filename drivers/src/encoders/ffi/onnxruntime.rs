//! The first calls into an ONNX Runtime library, before `ort` uses it.

use std::ffi::{CStr, c_char, c_void};
use std::path::Path;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use super::loader_message;
use crate::encoders::LibraryError;

/// `struct OrtApiBase` of onnxruntime_c_api.h; its layout is the library's promise for all versions.
#[repr(C)]
struct ApiBase {
    get_api: unsafe extern "C" fn(version: u32) -> *const c_void,
    get_version_string: unsafe extern "C" fn() -> *const c_char,
}

/// Description that a library gives of itself.
pub(in crate::encoders) struct Told {
    /// `None` if it tells none, or none that can be read.
    pub version: Option<String>,
    /// Whether it has the C API that was asked for.
    pub has_api: bool,
}

/// Loads the library, which its header must have shown to be one for this processor, and asks. It stays loaded.
pub(in crate::encoders) fn ask(path: &Path, api: u32) -> Result<Told, LibraryError> {
    let named = || path.to_path_buf();
    // SAFETY: loading runs the library's initialisers, which is the trust the user gave by naming it or the catalogue by
    // pinning its sha256; its header says that it is a shared library for this processor.
    let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }
        .map_err(|error| LibraryError::Refused { path: named(), message: loader_message(&error) })?;
    // SAFETY: the symbol of this name has this type in every ONNX Runtime since 1.0; in no other library is it expected.
    let get_api_base = unsafe { library.get::<unsafe extern "C" fn() -> *const ApiBase>(b"OrtGetApiBase\0") }
        .map_err(|_| LibraryError::OtherLibrary { path: named() })?;
    // SAFETY: the function takes nothing and returns a pointer to a constant of the library, or null.
    let base = unsafe { get_api_base().as_ref() }.ok_or_else(|| LibraryError::NoVersion { path: named() })?;
    // SAFETY: `base` is the library's own table, both of whose entries are set.
    let version = unsafe { (base.get_version_string)() };
    let version = if version.is_null() {
        None
    } else {
        // SAFETY: not null, and the library promises a terminated string that lives as long as it does.
        unsafe { CStr::from_ptr(version) }.to_str().ok().map(str::to_owned)
    };
    // SAFETY: as above; a version that the library does not have gives null.
    let has_api = !unsafe { (base.get_api)(api) }.is_null();
    // Never unloaded: its threads and thread-local destructors outlive any use of it.
    std::mem::forget(library);
    Ok(Told { version, has_api })
}
