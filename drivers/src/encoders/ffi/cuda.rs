//! CUDA's driver API, as far as encoders need it: one device, one stream, buffers that both sides see.
//!
//! The driver (`libcuda.so.1`) belongs to the machine and not to Engram. It is opened by name, and a symbol that it lacks is
//! an error and no panic. Every call sets the device's primary context on its thread first: that is the context that TensorRT
//! uses, and callers may come from any thread.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Arc;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use parking_lot::Mutex;

use super::loader_message;

type Status = c_int;
type CudaContext = *mut c_void;
type RawStream = *mut c_void;
type DevicePointer = u64;

const SUCCESS: Status = 0;
const COMPUTE_CAPABILITY_MAJOR: c_int = 75;
const COMPUTE_CAPABILITY_MINOR: c_int = 76;
const INTEGRATED: c_int = 18;
const NON_BLOCKING: c_uint = 1;
const MAPPED: c_uint = 2;

/// Names under which the driver is looked for.
const NAMES: [&str; 2] = ["libcuda.so.1", "libcuda.so"];

/// Why the driver or the device does not serve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::encoders) enum CudaError {
    /// There is no driver; what the loader says.
    Missing(String),
    /// The driver sees no device, or not the one that is wanted.
    NoDevice(String),
    /// Memory of the device or of the machine is used up.
    OutOfMemory(String),
    /// A call failed.
    Failed(String),
}

impl std::fmt::Display for CudaError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Self::Missing(text) | Self::NoDevice(text) | Self::OutOfMemory(text) | Self::Failed(text)) = self;
        f.write_str(text)
    }
}

/// Properties of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::encoders) struct DeviceFacts {
    /// Name given by the driver.
    pub name: String,
    /// Compute capability, for instance 8.7.
    pub capability: (i32, i32),
    /// The newest CUDA that the driver serves: 12060 is 12.6.
    pub driver: i32,
    /// Whether it shares the machine's memory, as on a Jetson.
    pub integrated: bool,
}

/// Declares the functions that are taken from the driver, and the loading of all of them.
macro_rules! functions {
    ($($field:ident = $symbol:literal: fn($($argument:ty),*);)*) => {
        struct Functions { $($field: unsafe extern "C" fn($($argument),*) -> Status,)* }

        impl Functions {
            fn load(library: &Library) -> Result<Self, CudaError> {
                $(
                    // SAFETY: a symbol of this name has this type in every driver since CUDA 10.2: the driver's interface is
                    // fixed, and what changes its arguments gets a new name (`_v2`).
                    let $field = *unsafe {
                        library.get::<unsafe extern "C" fn($($argument),*) -> Status>(concat!($symbol, "\0").as_bytes())
                    }
                    .map_err(|_| CudaError::Missing(concat!("the driver has no ", $symbol).to_owned()))?;
                )*
                Ok(Self { $($field,)* })
            }
        }
    };
}

functions! {
    init = "cuInit": fn(c_uint);
    driver_version = "cuDriverGetVersion": fn(*mut c_int);
    device_count = "cuDeviceGetCount": fn(*mut c_int);
    device = "cuDeviceGet": fn(*mut c_int, c_int);
    device_name = "cuDeviceGetName": fn(*mut c_char, c_int, c_int);
    device_attribute = "cuDeviceGetAttribute": fn(*mut c_int, c_int, c_int);
    retain_context = "cuDevicePrimaryCtxRetain": fn(*mut CudaContext, c_int);
    set_context = "cuCtxSetCurrent": fn(CudaContext);
    create_stream = "cuStreamCreate": fn(*mut RawStream, c_uint);
    destroy_stream = "cuStreamDestroy_v2": fn(RawStream);
    synchronise = "cuStreamSynchronize": fn(RawStream);
    allocate = "cuMemAlloc_v2": fn(*mut DevicePointer, usize);
    free = "cuMemFree_v2": fn(DevicePointer);
    allocate_host = "cuMemHostAlloc": fn(*mut *mut c_void, usize, c_uint);
    free_host = "cuMemFreeHost": fn(*mut c_void);
    host_device_pointer = "cuMemHostGetDevicePointer_v2": fn(*mut DevicePointer, *mut c_void, c_uint);
    upload = "cuMemcpyHtoDAsync_v2": fn(DevicePointer, *const c_void, usize, RawStream);
    download = "cuMemcpyDtoHAsync_v2": fn(*mut c_void, DevicePointer, usize, RawStream);
    error_name = "cuGetErrorName": fn(Status, *mut *const c_char);
}

/// The driver and one of its devices.
pub(in crate::encoders) struct Device {
    functions: Functions,
    facts: DeviceFacts,
    number: c_int,
    /// Retained at the first call that needs it and never released: TensorRT's own objects hang on it too.
    context: Mutex<Option<usize>>,
}

impl Device {
    /// Opens the driver (at `path`, else by its names), starts it and looks at device `number`. Allocates nothing there.
    pub(in crate::encoders) fn open(path: Option<&Path>, number: i32) -> Result<Arc<Self>, CudaError> {
        let library = load(path)?;
        let functions = Functions::load(&library)?;
        // Never unloaded: the driver keeps threads and exit handlers.
        std::mem::forget(library);
        let check = |call: &str, status: Status| describe(&functions, call, status);
        // SAFETY: takes no pointer; it may be called any number of times.
        check("cuInit", unsafe { (functions.init)(0) }).map_err(|error| CudaError::NoDevice(error.to_string()))?;
        let (mut driver, mut count, mut device) = (0, 0, 0);
        // SAFETY: each writes one int to a place that lives longer than the call.
        unsafe {
            check("cuDriverGetVersion", (functions.driver_version)(&raw mut driver))?;
            check("cuDeviceGetCount", (functions.device_count)(&raw mut count))?;
        }
        if number < 0 || number >= count {
            return Err(CudaError::NoDevice(format!("device {number} of {count} was asked for")));
        }
        let mut name = [0; 256];
        let (mut major, mut minor, mut integrated) = (0, 0, 0);
        // SAFETY: as above; the name is written into a buffer whose length is given, with its end.
        unsafe {
            check("cuDeviceGet", (functions.device)(&raw mut device, number))?;
            check("cuDeviceGetName", (functions.device_name)(name.as_mut_ptr(), name.len() as c_int - 1, device))?;
            for (attribute, value) in [
                (COMPUTE_CAPABILITY_MAJOR, &raw mut major),
                (COMPUTE_CAPABILITY_MINOR, &raw mut minor),
                (INTEGRATED, &raw mut integrated),
            ] {
                check("cuDeviceGetAttribute", (functions.device_attribute)(value, attribute, device))?;
            }
        }
        // SAFETY: the buffer began as zeros and its last byte was not offered, so it has an end.
        let name = unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned();
        let facts = DeviceFacts { name, capability: (major, minor), driver, integrated: integrated != 0 };
        Ok(Arc::new(Self { functions, facts, number: device, context: Mutex::new(None) }))
    }

    pub(in crate::encoders) fn facts(&self) -> &DeviceFacts {
        &self.facts
    }

    /// Makes the device's primary context that of this thread.
    pub(in crate::encoders) fn activate(&self) -> Result<(), CudaError> {
        let mut held = self.context.lock();
        let context = match *held {
            Some(context) => context as CudaContext,
            None => {
                let mut context: CudaContext = std::ptr::null_mut();
                // SAFETY: writes one pointer; the device is one that the driver named.
                self.check("cuDevicePrimaryCtxRetain", unsafe {
                    (self.functions.retain_context)(&raw mut context, self.number)
                })?;
                *held = Some(context as usize);
                context
            }
        };
        // SAFETY: the context was retained and is never released.
        self.check("cuCtxSetCurrent", unsafe { (self.functions.set_context)(context) })
    }

    fn check(&self, call: &str, status: Status) -> Result<(), CudaError> {
        describe(&self.functions, call, status)
    }
}

fn load(path: Option<&Path>) -> Result<Library, CudaError> {
    let named: Vec<&Path> = path.map_or_else(|| NAMES.iter().map(Path::new).collect(), |path| vec![path]);
    let mut said = String::new();
    for name in named {
        // SAFETY: the driver's initialisers run; it is the machine's own, or what the user named.
        match unsafe { Library::open(Some(name), RTLD_NOW | RTLD_LOCAL) } {
            Ok(library) => return Ok(library),
            Err(error) if said.is_empty() => said = loader_message(&error),
            Err(_) => {}
        }
    }
    Err(CudaError::Missing(said))
}

fn describe(functions: &Functions, call: &str, status: Status) -> Result<(), CudaError> {
    const OUT_OF_MEMORY: Status = 2;
    const NO_DEVICE: Status = 100;
    if status == SUCCESS {
        return Ok(());
    }
    let mut name: *const c_char = std::ptr::null();
    // SAFETY: writes one pointer to a constant of the driver, or leaves it null for a number that it does not know.
    let known = unsafe { (functions.error_name)(status, &raw mut name) } == SUCCESS && !name.is_null();
    let name = if known {
        // SAFETY: a terminated constant of the driver, which is never unloaded.
        unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
    } else {
        "unknown".to_owned()
    };
    let text = format!("{call}: {name} ({status})");
    Err(match status {
        OUT_OF_MEMORY => CudaError::OutOfMemory(text),
        NO_DEVICE => CudaError::NoDevice(text),
        _ => CudaError::Failed(text),
    })
}

/// Work in order on the device.
pub(in crate::encoders) struct Stream {
    device: Arc<Device>,
    raw: RawStream,
}

// SAFETY: the driver's API may be called from any thread with any stream; the context is set before every call.
unsafe impl Send for Stream {}
// SAFETY: as above; nothing of the stream is changed through a shared reference but by the driver, which locks.
unsafe impl Sync for Stream {}

impl Stream {
    pub(in crate::encoders) fn new(device: &Arc<Device>) -> Result<Arc<Self>, CudaError> {
        device.activate()?;
        let mut raw: RawStream = std::ptr::null_mut();
        // SAFETY: writes one pointer.
        device.check("cuStreamCreate", unsafe { (device.functions.create_stream)(&raw mut raw, NON_BLOCKING) })?;
        Ok(Arc::new(Self { device: Arc::clone(device), raw }))
    }

    /// Waits for everything that was given to it.
    pub(in crate::encoders) fn synchronise(&self) -> Result<(), CudaError> {
        self.device.activate()?;
        // SAFETY: the stream lives as long as this object.
        self.device.check("cuStreamSynchronize", unsafe { (self.device.functions.synchronise)(self.raw) })
    }

    pub(super) fn raw(&self) -> *mut c_void {
        self.raw
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.device.activate().is_ok() {
            // SAFETY: created by `new` and destroyed once. What fails cannot be mended here.
            let _ = unsafe { (self.device.functions.destroy_stream)(self.raw) };
        }
    }
}

/// Bytes that the processor and the device both see: a pinned buffer with a twin on the device, or, where the device shares
/// the machine's memory, one that is mapped and needs no copy.
pub(in crate::encoders) struct Buffer {
    stream: Arc<Stream>,
    host: NonNull<u8>,
    device: DevicePointer,
    bytes: usize,
    mapped: bool,
    /// Whether the device may still be at it.
    in_flight: bool,
}

// SAFETY: the memory belongs to this object alone, and the driver's calls may come from any thread.
unsafe impl Send for Buffer {}

impl Buffer {
    /// A buffer of zeros for use on `stream`.
    pub(in crate::encoders) fn new(stream: &Arc<Stream>, bytes: usize) -> Result<Self, CudaError> {
        let owner = &stream.device;
        owner.activate()?;
        let bytes = bytes.max(1);
        let mapped = owner.facts.integrated;
        let mut host: *mut c_void = std::ptr::null_mut();
        // SAFETY: writes one pointer to memory of that many bytes.
        owner.check("cuMemHostAlloc", unsafe {
            (owner.functions.allocate_host)(&raw mut host, bytes, if mapped { MAPPED } else { 0 })
        })?;
        let host = NonNull::new(host.cast::<u8>())
            .ok_or_else(|| CudaError::Failed("cuMemHostAlloc gave no memory".to_owned()))?;
        // SAFETY: freshly allocated, of that many bytes; zeros, so that it can be seen as a slice of bytes from now on.
        unsafe { host.write_bytes(0, bytes) };
        let mut device: DevicePointer = 0;
        let twin = if mapped {
            // SAFETY: the memory was allocated as mapped; writes one pointer.
            owner.check("cuMemHostGetDevicePointer", unsafe {
                (owner.functions.host_device_pointer)(&raw mut device, host.as_ptr().cast(), 0)
            })
        } else {
            // SAFETY: writes one pointer.
            owner.check("cuMemAlloc", unsafe { (owner.functions.allocate)(&raw mut device, bytes) })
        };
        if let Err(error) = twin {
            // SAFETY: allocated above and used by nobody yet.
            let _ = unsafe { (owner.functions.free_host)(host.as_ptr().cast()) };
            return Err(error);
        }
        Ok(Self { stream: Arc::clone(stream), host, device, bytes, mapped, in_flight: false })
    }

    pub(in crate::encoders) fn len(&self) -> usize {
        self.bytes
    }

    /// The processor's side, to be filled. Waits for the device if it may still read or write there.
    pub(in crate::encoders) fn host_mut(&mut self) -> Result<&mut [u8], CudaError> {
        self.settle()?;
        // SAFETY: that many bytes that are initialised, belong to this object and are not in use by the device.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.host.as_ptr(), self.bytes) })
    }

    /// The processor's side, to be read. Waits for the device.
    pub(in crate::encoders) fn host(&mut self) -> Result<&[u8], CudaError> {
        self.host_mut().map(|bytes| &*bytes)
    }

    fn settle(&mut self) -> Result<(), CudaError> {
        if self.in_flight {
            self.stream.synchronise()?;
            self.in_flight = false;
        }
        Ok(())
    }

    /// Brings the first bytes to the device, behind what its stream has to do.
    pub(in crate::encoders) fn upload(&mut self, bytes: usize) -> Result<(), CudaError> {
        let bytes = bytes.min(self.bytes);
        self.in_flight = true;
        if self.mapped {
            return Ok(());
        }
        let owner = &self.stream.device;
        owner.activate()?;
        // SAFETY: both sides have that many bytes; the host's stay untouched until the stream was waited for (`in_flight`).
        owner.check("cuMemcpyHtoDAsync", unsafe {
            (owner.functions.upload)(self.device, self.host.as_ptr().cast(), bytes, self.stream.raw)
        })
    }

    /// Brings the first bytes back, behind what its stream has to do.
    pub(in crate::encoders) fn download(&mut self, bytes: usize) -> Result<(), CudaError> {
        let bytes = bytes.min(self.bytes);
        self.in_flight = true;
        if self.mapped {
            return Ok(());
        }
        let owner = &self.stream.device;
        owner.activate()?;
        // SAFETY: as in `upload`, the other way round.
        owner.check("cuMemcpyDtoHAsync", unsafe {
            (owner.functions.download)(self.host.as_ptr().cast(), self.device, bytes, self.stream.raw)
        })
    }

    /// The device works on it from now on: the processor's side is waited for.
    pub(super) fn lend(&mut self) -> *mut c_void {
        self.in_flight = true;
        self.device as *mut c_void
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // Freed under the device, memory would be somebody else's while it is still written: rather lost than that.
        if self.settle().is_err() || self.stream.device.activate().is_err() {
            return;
        }
        let functions = &self.stream.device.functions;
        // SAFETY: allocated by `new`, freed once, and nothing is under way.
        unsafe {
            if !self.mapped {
                let _ = (functions.free)(self.device);
            }
            let _ = (functions.free_host)(self.host.as_ptr().cast());
        }
    }
}
