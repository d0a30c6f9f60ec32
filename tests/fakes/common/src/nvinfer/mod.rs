//! TensorRT's objects, as far as an application builds an engine from ONNX and runs it.
//!
//! Switches (`crate::switch`): `version=NUMBER`; `runtime=null|bogus`; `epoch=TEXT`, which a plan must share to be taken;
//! `plan=bad`, which no runtime takes; `build=fail|oom|crash|hang|wait`; `enqueue=fail`; `numbers=wrong`. Every build adds a line
//! to the file `builds` beside the library.

mod building;
mod running;

pub use building::{builder, parser};
pub use running::runtime;

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::io::Write;
use std::sync::OnceLock;

use crate::abi::{Implementation, Plain, dispose, dispose_plain, make, make_plain, state_of};
use crate::onnx::{Border, I64, Model, U8};
use crate::plan::{self, Shapes};
use crate::{folder_of, switch};

type This<T> = *mut Implementation<T>;

/// Where an application looks for the methods, by major version. These numbers are written down a second time, apart from the
/// program's own: a test that passes has compared them.
struct Slots {
    runtime: [usize; 1],
    engine: [usize; 6],
    context: [usize; 4],
    builder: [usize; 5],
    config: [usize; 8],
    /// Since 10.
    monitor: Option<usize>,
    network: [usize; 2],
    parser: [usize; 3],
}

fn slots(major: i32) -> Slots {
    match major {
        8 => Slots {
            runtime: [2],
            engine: [45, 46, 38, 35, 34, 11],
            context: [29, 30, 32, 44],
            builder: [9, 11, 12, 7, 17],
            config: [47, 15, 44, 45, 46, 29, 22, 24],
            monitor: None,
            network: [19, 20],
            parser: [6, 7, 10],
        },
        10 => Slots {
            runtime: [3],
            engine: [30, 31, 23, 20, 19, 5],
            context: [21, 22, 24, 37],
            builder: [7, 8, 9, 5, 14],
            config: [43, 11, 40, 41, 42, 25, 18, 20],
            monitor: Some(56),
            network: [14, 15],
            parser: [5, 6, 9],
        },
        _ => Slots {
            runtime: [3],
            engine: [26, 27, 19, 16, 15, 5],
            context: [20, 21, 23, 36],
            builder: [5, 6, 7, 3, 11],
            config: [32, 9, 29, 30, 31, 23, 16, 18],
            monitor: Some(45),
            network: [14, 15],
            parser: [3, 4, 7],
        },
    }
}

/// Which library this is.
struct Library {
    major: i32,
    version: i32,
    home: usize,
}

static LIBRARY: OnceLock<Library> = OnceLock::new();

fn library() -> &'static Library {
    LIBRARY.get().expect("an entry point came first")
}

/// Called by every entry point of a stand-in.
pub fn begin(major: i32, version: i32, home: usize) {
    LIBRARY.get_or_init(|| Library { major, version, home });
}

fn switched(name: &str) -> Option<String> {
    switch(library().home, name)
}

fn is(name: &str, value: &str) -> bool {
    switched(name).as_deref() == Some(value)
}

/// Makes an address of a function.
macro_rules! at {
    ($function:expr) => {
        $function as *const () as usize
    };
}
use at;

/// The exported functions of a stand-in.
#[macro_export]
macro_rules! nvinfer {
    (major: $major:literal, version: $version:literal) => {
        #[unsafe(no_mangle)]
        extern "C" fn getInferLibVersion() -> i32 {
            begin();
            $crate::nvinfer::version()
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn createInferRuntime_INTERNAL(
            logger: *mut std::ffi::c_void,
            version: i32,
        ) -> *mut std::ffi::c_void {
            begin();
            unsafe { $crate::nvinfer::runtime(logger, version) }
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn createInferBuilder_INTERNAL(
            logger: *mut std::ffi::c_void,
            version: i32,
        ) -> *mut std::ffi::c_void {
            begin();
            unsafe { $crate::nvinfer::builder(logger, version) }
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn createNvOnnxParser_INTERNAL(
            network: *mut std::ffi::c_void,
            logger: *mut std::ffi::c_void,
            version: i32,
        ) -> *mut std::ffi::c_void {
            begin();
            unsafe { $crate::nvinfer::parser(network, logger, version) }
        }

        /// Objects that were made and not deleted.
        #[unsafe(no_mangle)]
        extern "C" fn fakeObjectsAlive() -> isize {
            $crate::abi::ALIVE.load(std::sync::atomic::Ordering::SeqCst)
        }

        fn begin() {
            $crate::nvinfer::begin($major, $version, getInferLibVersion as *const () as usize);
        }
    };
}

pub fn version() -> i32 {
    switched("version").and_then(|text| text.parse().ok()).unwrap_or(library().version)
}

/// Says something to the application's logger, at the layout of this version.
unsafe fn say(logger: *mut c_void, severity: c_int, text: &str) {
    let text = CString::new(text).unwrap_or_default();
    let table = *logger.cast::<*const usize>();
    let slot = if library().major >= 11 { 4 } else { 0 };
    let log: unsafe extern "C" fn(*mut c_void, c_int, *const c_char) = std::mem::transmute(*table.add(slot));
    log(logger, severity, text.as_ptr());
}

/// What an interface says of itself, since 11.
#[repr(C)]
struct InterfaceInfo {
    kind: *const c_char,
    major: c_int,
    minor: c_int,
}

/// Whether the logger is one, as far as it can be seen.
unsafe fn accepts(logger: *mut c_void, version: i32) -> bool {
    if logger.is_null() || version != self::version() {
        return false;
    }
    if library().major < 11 {
        return true;
    }
    is_interface(logger, c"ILogger")
}

/// Whether an object of the application's says that it is this interface, version 1.0, in C++.
unsafe fn is_interface(object: *mut c_void, kind: &CStr) -> bool {
    let table = *object.cast::<*const usize>();
    let language: unsafe extern "C" fn(*mut c_void) -> c_int = std::mem::transmute(*table);
    let info: unsafe extern "C" fn(*mut c_void) -> InterfaceInfo = std::mem::transmute(*table.add(1));
    let info = info(object);
    language(object) == 0 && CStr::from_ptr(info.kind) == kind && info.major == 1 && info.minor == 0
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Dims<T> {
    rank: i32,
    sizes: [T; 8],
}

impl Dims<i32> {
    fn new(shape: &[i64]) -> Self {
        let mut sizes = [0; 8];
        shape.iter().zip(&mut sizes).for_each(|(from, to)| *to = *from as i32);
        Self { rank: shape.len() as i32, sizes }
    }
}

impl Dims<i64> {
    fn new(shape: &[i64]) -> Self {
        let mut sizes = [0; 8];
        shape.iter().zip(&mut sizes).for_each(|(from, to)| *to = *from);
        Self { rank: shape.len() as i32, sizes }
    }
}

unsafe fn shape_at(dims: *const c_void) -> Vec<i64> {
    if library().major == 8 {
        let dims = *dims.cast::<Dims<i32>>();
        dims.sizes[..dims.rank as usize].iter().map(|size| i64::from(*size)).collect()
    } else {
        let dims = *dims.cast::<Dims<i64>>();
        dims.sizes[..dims.rank as usize].to_vec()
    }
}

/// What a class is at the border, in TensorRT's numbering. TensorRT 8 has no 64-bit integers.
fn element(border: &Border) -> (c_int, usize) {
    match border.element {
        I64 if library().major == 8 => (3, 4),
        I64 => (8, 8),
        U8 => (5, 1),
        _ => (0, 4),
    }
}
