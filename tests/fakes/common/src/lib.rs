//! What the stand-ins for NVIDIA's libraries share: switches, a reader of small ONNX files, and TensorRT's objects at the
//! C++ ABI of each major version.
//!
//! Tests put a library into a folder of its own, under the name that programs look for, and write what is to go wrong into
//! the file `switches` beside it, one `name=value` a line; `ENGRAM_FAKE_SWITCHES` (separated by commas) goes before the file.

#![allow(unsafe_op_in_unsafe_fn)] // Called through virtual tables: every function here is the unsafe of its caller.
#![allow(clippy::needless_borrow)] // References to what raw pointers lead to are made where they can be seen.

pub mod abi;
pub mod nvinfer;
pub mod onnx;
mod plan;

use std::path::{Path, PathBuf};

/// Where cargo puts a stand-in that the running test depends on.
///
/// # Panics
/// If it is not there.
pub fn built(name: &str) -> PathBuf {
    let program = std::env::current_exe().expect("a running test has a path");
    let path = program.with_file_name(format!("lib{name}.so"));
    assert!(path.exists(), "{} is not there: cargo builds it as a dependency of the test", path.display());
    path
}

/// The folder of the library whose mapping has this address.
pub fn folder_of(address: usize) -> Option<PathBuf> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let hex = |text: &str| usize::from_str_radix(text, 16).ok();
    let path = maps.lines().find_map(|line| {
        let (range, rest) = line.split_once(' ')?;
        let (begin, end) = range.split_once('-')?;
        let path = rest.find('/').map(|at| PathBuf::from(&rest[at..]))?;
        (hex(begin)? <= address && address < hex(end)?).then_some(path)
    })?;
    path.parent().map(PathBuf::from)
}

/// How a switch of the library at this address stands.
pub fn switch(address: usize, name: &str) -> Option<String> {
    let environment = std::env::var("ENGRAM_FAKE_SWITCHES").unwrap_or_default();
    let file = folder_of(address).and_then(|folder| std::fs::read_to_string(folder.join("switches")).ok());
    let lines = environment.split(',').chain(file.as_deref().unwrap_or_default().lines());
    let mut values = lines.filter_map(|line| line.split_once('=')).filter(|(key, _)| key.trim() == name);
    values.next().map(|(_, value)| value.trim().to_owned())
}

/// Objects that the stand-in at this path has made in this process and nobody has deleted.
pub fn objects_alive(library: &Path) -> isize {
    // SAFETY: a stand-in, whose function of this name takes nothing.
    unsafe {
        let library = libloading::Library::new(library).expect("it was opened before");
        let alive = library.get::<unsafe extern "C" fn() -> isize>(b"fakeObjectsAlive\0").expect("a stand-in");
        alive()
    }
}
