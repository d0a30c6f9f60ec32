//! TensorRT without its headers: objects are C++ objects, methods are slots of their virtual tables.
//!
//! Every call here is undefined behaviour if the table of slots is not that of the library. Three things prevent that. A plain
//! C function tells the version first. Only versions with known tables are called. And a self-check in a separate process
//! must have passed for that exact library before the daemon calls it (`encoders::tensorrt`).

mod builder;
mod execution;
mod logger;
mod monitor;
mod slots;
mod version;

use std::ffi::{c_char, c_int, c_void};
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::Arc;

use libloading::os::unix::{self, RTLD_LOCAL, RTLD_NOW};

pub use builder::Precision;
pub(in crate::encoders) use builder::{BuildRequest, BuildStep};
pub(in crate::encoders) use execution::{Execution, IoElement, IoTensor};
use slots::{DELETE, Slots, TENSORRT_8, TENSORRT_10, TENSORRT_11};
pub(in crate::encoders) use version::{Kind, Version};

use super::cuda::CudaError;
use super::loader_message;
use crate::encoders::tensorrt::TensorRtError;

/// A pointer to a C++ object. Also what a failed call may give instead of null: without a driver, TensorRT 10 returns small
/// numbers, so nothing in the first page is taken for an object.
type Object = NonNull<c_void>;

const FIRST_PAGE: usize = 4096;

fn object(pointer: *mut c_void) -> Option<Object> {
    NonNull::new(pointer).filter(|object| object.as_ptr() as usize >= FIRST_PAGE)
}

/// The method in a slot of an object's virtual table.
///
/// # Safety
/// The object is alive, its class has that slot, and `F` is the type of the method in it.
unsafe fn method<F: Copy>(object: Object, slot: usize) -> F {
    const { assert!(size_of::<F>() == size_of::<*const c_void>(), "methods are pointers") };
    // SAFETY: a C++ object with methods begins with the pointer to its table, which has the slot (the caller's promise).
    let entry = unsafe { *(*object.as_ptr().cast::<*const *const c_void>()).add(slot) };
    // SAFETY: a pointer to a function of type `F` (the caller's promise), of the same size.
    unsafe { std::mem::transmute_copy(&entry) }
}

/// The implementation behind one of the objects that an application gets: their second word.
///
/// # Safety
/// The object is alive and of an interface with an implementation (all but the parser and its errors).
unsafe fn implementation(object: Object) -> Object {
    // SAFETY: the layout of those classes in every known version (the caller's promise); it is set as long as they live.
    unsafe { NonNull::new_unchecked(*object.as_ptr().cast::<*mut c_void>().add(1)) }
}

/// An object that is deleted when it is not needed any more.
struct Owned {
    object: Object,
    delete: usize,
}

impl Owned {
    /// Takes what a call gave; `None` if it gave none.
    fn new(pointer: *mut c_void) -> Option<Self> {
        object(pointer).map(|object| Self { object, delete: DELETE })
    }

    /// # Safety
    /// The object is one with an implementation.
    unsafe fn implementation(&self) -> Object {
        // SAFETY: alive until this is dropped; the rest is the caller's promise.
        unsafe { implementation(self.object) }
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: the slot has the destructor that also frees the object (Itanium's D0), and it is called once.
        unsafe { method::<unsafe extern "C" fn(Object)>(self.object, self.delete)(self.object) }
    }
}

/// As TensorRT 8 passes shapes.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Dims32 {
    rank: i32,
    sizes: [i32; 8],
}

/// As TensorRT 10 and 11 pass shapes.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Dims64 {
    rank: i32,
    sizes: [i64; 8],
}

impl Dims32 {
    fn new(shape: &[i64]) -> Option<Self> {
        let mut dims = Self { rank: i32::try_from(shape.len()).ok()?, ..Self::default() };
        for (to, from) in dims.sizes.get_mut(..shape.len())?.iter_mut().zip(shape) {
            *to = i32::try_from(*from).ok()?;
        }
        Some(dims)
    }

    fn shape(&self) -> Option<Vec<i64>> {
        let rank = usize::try_from(self.rank).ok()?;
        Some(self.sizes.get(..rank)?.iter().map(|size| i64::from(*size)).collect())
    }
}

impl Dims64 {
    fn new(shape: &[i64]) -> Option<Self> {
        let mut dims = Self { rank: i32::try_from(shape.len()).ok()?, ..Self::default() };
        dims.sizes.get_mut(..shape.len())?.copy_from_slice(shape);
        Some(dims)
    }

    fn shape(&self) -> Option<Vec<i64>> {
        let rank = usize::try_from(self.rank).ok()?;
        Some(self.sizes.get(..rank)?.to_vec())
    }
}

/// A shape that a method gives for a tensor's name; `None` if there is none.
///
/// # Safety
/// As [`method`]; the method takes a name and gives a shape.
unsafe fn shape_of(slots: &Slots, of: Object, slot: usize, name: *const c_char) -> Option<Vec<i64>> {
    if slots.major == 8 {
        // SAFETY: the caller's promise; TensorRT 8 has 32-bit shapes.
        unsafe { method::<unsafe extern "C" fn(Object, *const c_char) -> Dims32>(of, slot)(of, name) }.shape()
    } else {
        // SAFETY: the caller's promise.
        unsafe { method::<unsafe extern "C" fn(Object, *const c_char) -> Dims64>(of, slot)(of, name) }.shape()
    }
}

/// An opened TensorRT of a known version. Never unloaded: threads and objects of its own may outlive every use of it.
pub(in crate::encoders) struct Library {
    nvinfer: ManuallyDrop<unix::Library>,
    version: Version,
    slots: &'static Slots,
    /// Path at which the loader found it.
    file: PathBuf,
}

impl Library {
    /// Loads the library of this name or path and asks for its version. Nothing else of it is called.
    pub(in crate::encoders) fn open(name: &Path, allow_rtx: bool) -> Result<Arc<Self>, TensorRtError> {
        let missing = |message: String| TensorRtError::LibMissing { message };
        // SAFETY: the library's initialisers run; it is the machine's own TensorRT, or what the user named.
        let nvinfer = unsafe { unix::Library::open(Some(name), RTLD_NOW | RTLD_LOCAL) }
            .map_err(|error| missing(loader_message(&error)))?;
        let nvinfer = ManuallyDrop::new(nvinfer);
        // SAFETY: the function of this name takes nothing and gives an int in every version since 5.
        let get = unsafe { nvinfer.get::<unsafe extern "C" fn() -> c_int>(b"getInferLibVersion\0") };
        let get = *get.map_err(|_| missing(format!("{}: it has no getInferLibVersion", name.display())))?;
        // SAFETY: as above.
        let number = unsafe { get() };
        // SAFETY: the same, since 10.0.
        let build = unsafe { nvinfer.get::<unsafe extern "C" fn() -> c_int>(b"getInferLibBuildVersion\0") }
            .ok()
            // SAFETY: as above.
            .map(|get| unsafe { get() });
        let version = Version::decode(number, build);
        let file = file_of(get as usize).unwrap_or_else(|| name.to_path_buf());
        let slots = match (version.kind, version.major, version.minor) {
            (Kind::TensorRt, 8, 5 | 6) => &TENSORRT_8,
            (Kind::TensorRt, 10, _) => &TENSORRT_10,
            (Kind::TensorRt, 11, _) => &TENSORRT_11,
            // TensorRT-RTX 1.x has the interface of TensorRT 11.
            (Kind::Rtx, 1, _) if allow_rtx => &TENSORRT_11,
            (kind, ..) => {
                let hint =
                    if kind == Kind::Rtx { "; models.tensorrt.allow_rtx takes TensorRT-RTX 1 as well" } else { "" };
                return Err(TensorRtError::UnsupportedMajor {
                    library: file.display().to_string(),
                    found: version.to_string(),
                    hint: hint.to_owned(),
                });
            }
        };
        Ok(Arc::new(Self { nvinfer, version, slots, file }))
    }

    pub(in crate::encoders) fn version(&self) -> Version {
        self.version
    }

    /// The file that the loader took.
    pub(in crate::encoders) fn file(&self) -> &Path {
        &self.file
    }

    /// Calls `createInfer…_INTERNAL(logger, version)`.
    fn create(&self, symbol: &[u8]) -> Result<Owned, TensorRtError> {
        // SAFETY: both functions of this kind take a logger and the version that the application was made for.
        let create = unsafe { self.nvinfer.get::<unsafe extern "C" fn(*mut c_void, c_int) -> *mut c_void>(symbol) }
            .map_err(|error| TensorRtError::LibMissing { message: loader_message(&error) })?;
        logger::forget_said();
        // SAFETY: the logger has the layout of this version and lives as long as the process. The version is the library's
        // own, which is what an application that was made with its headers hands over.
        Owned::new(unsafe { create(logger::logger(self.slots.logger), self.version.number) }).ok_or_else(|| {
            TensorRtError::ExecFailed { message: format!("TensorRT does not start: {}", logger::take_said()) }
        })
    }
}

/// The file whose mapping has this address.
fn file_of(address: usize) -> Option<PathBuf> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let hex = |text: &str| usize::from_str_radix(text, 16).ok();
    maps.lines().find_map(|line| {
        let (range, rest) = line.split_once(' ')?;
        let (begin, end) = range.split_once('-')?;
        let path = rest.find('/').map(|at| PathBuf::from(&rest[at..]))?;
        (hex(begin)? <= address && address < hex(end)?).then_some(path)
    })
}

impl From<CudaError> for TensorRtError {
    fn from(error: CudaError) -> Self {
        match error {
            CudaError::Missing(message) | CudaError::NoDevice(message) => Self::DriverMissing { message },
            CudaError::OutOfMemory(message) => Self::OutOfMemory { message },
            CudaError::Failed(message) => Self::ExecFailed { message },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_stays_loaded_when_nobody_uses_it_any_more_and_when_it_is_of_another_version() {
        let folder = tempfile::tempdir().unwrap();
        for version in ["8", "10"] {
            let path = folder.path().join(format!("libnvinfer.so.{version}"));
            std::fs::copy(fakes::built(&format!("fake_nvinfer_{version}")), &path).unwrap();
            drop(Library::open(&path, false));
            let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
            assert!(maps.contains(path.to_str().unwrap()), "{version}");
        }
    }
}
