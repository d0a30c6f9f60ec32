//! Stands between a program and the disk (`LD_PRELOAD`): what it does to the files below `ENGRAM_FAULT_DIR` fails or takes long, as
//! the file `ENGRAM_FAULT_FILE` says at that moment:
//!
//! ```text
//! eio         every write, sync, change of length and change of names fails with EIO
//! eio-reads   reads as well
//! erofs       as eio with EROFS, and no file can be opened to be written
//! slow 2500   every sync takes 2,500 ms longer
//! ```
//!
//! Anything else, and no such file, lets everything pass. Only what a program calls by way of the C library is seen.

#![allow(unsafe_op_in_unsafe_fn)] // Every function here is the unsafe of its caller.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

const EIO: c_int = 5;
const EROFS: c_int = 30;
/// Flags of `open` with which a file is written or made: `O_WRONLY`, `O_RDWR`, `O_CREAT`, `O_TRUNC`.
const WRITES: c_int = 0o1103;

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn __errno_location() -> *mut c_int;
}

/// The next library that has a function of this name: the C library.
const NEXT: *mut c_void = -1_isize as *mut c_void;

struct Fault {
    error: Option<c_int>,
    reads: bool,
    slow: Duration,
}

fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from)
}

fn directory() -> Option<&'static Path> {
    static DIRECTORY: OnceLock<Option<PathBuf>> = OnceLock::new();
    DIRECTORY.get_or_init(|| variable("ENGRAM_FAULT_DIR")).as_deref()
}

fn fault() -> Option<Fault> {
    static FILE: OnceLock<Option<PathBuf>> = OnceLock::new();
    let text = std::fs::read_to_string(FILE.get_or_init(|| variable("ENGRAM_FAULT_FILE")).as_deref()?).ok()?;
    let fails = |error, reads| Some(Fault { error: Some(error), reads, slow: Duration::ZERO });
    match text.trim().split_once(' ').unwrap_or((text.trim(), "")) {
        ("eio", _) => fails(EIO, false),
        ("eio-reads", _) => fails(EIO, true),
        ("erofs", _) => fails(EROFS, false),
        ("slow", ms) => Some(Fault { error: None, reads: false, slow: Duration::from_millis(ms.parse().unwrap_or(0)) }),
        _ => None,
    }
}

fn is_below(path: &Path) -> bool {
    directory().is_some_and(|directory| path.starts_with(directory))
}

/// The fault that an open file meets.
fn fault_of(file: c_int) -> Option<Fault> {
    let fault = fault()?;
    let path = std::fs::read_link(format!("/proc/self/fd/{file}")).ok()?;
    is_below(&path).then_some(fault)
}

/// The error of a change to a file by its name.
unsafe fn error_of(path: *const c_char) -> Option<c_int> {
    let error = fault()?.error?;
    is_below(Path::new(std::ffi::OsStr::from_bytes(CStr::from_ptr(path).to_bytes()))).then_some(error)
}

unsafe fn fail(error: c_int) {
    *__errno_location() = error;
}

// It is the disk that takes so long.
#[allow(clippy::disallowed_methods)]
fn take(time: Duration) {
    std::thread::sleep(time);
}

/// The C library's own function.
macro_rules! real {
    ($name:ident: $type:ty) => {{
        static REAL: OnceLock<usize> = OnceLock::new();
        let name = concat!(stringify!($name), "\0");
        let address = *REAL.get_or_init(|| dlsym(NEXT, name.as_ptr().cast()) as usize);
        std::mem::transmute::<usize, $type>(address)
    }};
}

macro_rules! fails_by_file {
    ($($name:ident($file:ident $(, $argument:ident: $type:ty)*) -> $result:ty;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($file: c_int $(, $argument: $type)*) -> $result {
            if let Some(error) = fault_of($file).and_then(|fault| fault.error) {
                fail(error);
                return -1;
            }
            real!($name: unsafe extern "C" fn(c_int $(, $type)*) -> $result)($file $(, $argument)*)
        }
    )*};
}

fails_by_file! {
    write(file, data: *const c_void, length: usize) -> isize;
    writev(file, data: *const c_void, count: c_int) -> isize;
    pwrite64(file, data: *const c_void, length: usize, offset: i64) -> isize;
    ftruncate64(file, length: i64) -> c_int;
}

macro_rules! syncs {
    ($($name:ident;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(file: c_int) -> c_int {
            if let Some(fault) = fault_of(file) {
                if let Some(error) = fault.error {
                    fail(error);
                    return -1;
                }
                take(fault.slow);
            }
            real!($name: unsafe extern "C" fn(c_int) -> c_int)(file)
        }
    )*};
}

syncs! {
    fsync;
    fdatasync;
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pread64(file: c_int, data: *mut c_void, length: usize, offset: i64) -> isize {
    if let Some(error) = fault_of(file).filter(|fault| fault.reads).and_then(|fault| fault.error) {
        fail(error);
        return -1;
    }
    real!(pread64: unsafe extern "C" fn(c_int, *mut c_void, usize, i64) -> isize)(file, data, length, offset)
}

/// The mode is there only if a file may be made; whoever passes none has something in that register all the same.
#[unsafe(no_mangle)]
unsafe extern "C" fn open64(path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    // Files are read here as well, to find out what the fault is.
    if flags & WRITES != 0
        && let Some(EROFS) = error_of(path)
    {
        fail(EROFS);
        return -1;
    }
    real!(open64: unsafe extern "C" fn(*const c_char, c_int, c_uint) -> c_int)(path, flags, mode)
}

macro_rules! fails_by_name {
    ($($name:ident(path $(, $argument:ident: $type:ty)*);)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(path: *const c_char $(, $argument: $type)*) -> c_int {
            if let Some(error) = error_of(path) {
                fail(error);
                return -1;
            }
            real!($name: unsafe extern "C" fn(*const c_char $(, $type)*) -> c_int)(path $(, $argument)*)
        }
    )*};
}

fails_by_name! {
    rename(path, to: *const c_char);
    unlink(path);
    mkdir(path, mode: c_uint);
}
