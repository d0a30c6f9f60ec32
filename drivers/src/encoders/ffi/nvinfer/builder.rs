//! Builds an engine from an ONNX graph.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::mem::ManuallyDrop;
use std::path::Path;

use libloading::os::unix::{self, RTLD_LOCAL, RTLD_NOW};
use serde::{Deserialize, Serialize};

use super::monitor::Monitor;
use super::slots::{
    ERROR_DESCRIPTION, MEMORY_DATA, MEMORY_SIZE, PARSE, SERIALISE_TIMING, SET_DIMENSIONS, Slots, TENSOR_DIMENSIONS,
    TENSOR_NAME,
};
use super::{Dims32, Dims64, Kind, Library, Object, Owned, loader_message, logger, method, object};
use crate::encoders::tensorrt::TensorRtError;
use crate::models::ShapeRange;

/// Every release of the parser since TensorRT 7 is made for this number.
const PARSER_VERSION: c_int = 100;
const WORKSPACE: c_int = 0;
const FLAG_FP16: c_int = 0;
const FLAG_INT8: c_int = 1;
const FLAG_GPU_FALLBACK: c_int = 3;
const DEVICE_DLA: c_int = 1;
/// Up to TensorRT 8 a network is asked for whose batch is part of its shapes; since 10 there is no other.
const EXPLICIT_BATCH: c_uint = 1;

/// Number format of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// 32 bits: the same answers as on the processor, to rounding.
    #[default]
    Fp32,
    /// 16 bits where the library finds it faster.
    Fp16,
    /// 8 bits where the graph carries its own scales (Q/DQ), else as `Fp16`.
    Int8,
}

/// Input of a build.
pub(in crate::encoders) struct BuildRequest<'a> {
    pub onnx: &'a [u8],
    /// Path of the graph: weights may lie beside it.
    pub path: &'a Path,
    /// Library of the parser.
    pub parser: &'a [std::path::PathBuf],
    pub profiles: &'a [ShapeRange],
    pub workspace_bytes: usize,
    pub precision: Precision,
    /// Which core of the DLA, with the GPU for what it cannot do.
    pub dla: Option<i32>,
    /// Timings of an earlier build, or nothing.
    pub timing: &'a [u8],
}

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::encoders) enum BuildStep {
    /// Something else begins.
    Stage(&'static str),
    /// So much of what the library is at is done. It may begin anew with another phase of it.
    Percent(u8),
}

/// Result of the build.
pub(in crate::encoders) struct Built {
    pub plan: Vec<u8>,
    /// Timings for the next build; empty if the library gave none.
    pub timing: Vec<u8>,
}

impl Library {
    /// Builds an engine. Takes minutes on a small board, and may crash in the library: call it in a process of its own, with
    /// the device's context set. `tell` is called from the library's threads as well.
    pub(in crate::encoders) fn build(
        &self,
        request: &BuildRequest<'_>,
        tell: &(dyn Fn(BuildStep) + Sync),
    ) -> Result<Built, TensorRtError> {
        let slots = self.slots;
        if request.precision != Precision::Fp32 && slots.major >= 11 {
            let message = format!("{} takes the precision from the graph: convert it, and set fp32", self.version);
            return Err(TensorRtError::Unsupported { message });
        }
        let failed = |what: &str| build_error(what, logger::take_said());
        // Never unloaded, as TensorRT itself is not.
        let parser_library = ManuallyDrop::new(open_parser(request.parser)?);
        // Dropped in the opposite order of their making, each before what it hangs on.
        let builder = self.create(b"createInferBuilder_INTERNAL\0")?;
        // SAFETY: slots of the library's version, on objects that are alive; the methods' types are those of the version.
        let (builder_impl, network, config) = unsafe {
            let builder_impl = builder.implementation();
            let flags = if slots.major == 8 { EXPLICIT_BATCH } else { 0 };
            type CreateNetwork = unsafe extern "C" fn(Object, c_uint) -> *mut c_void;
            type Create = unsafe extern "C" fn(Object) -> *mut c_void;
            let network = method::<CreateNetwork>(builder_impl, slots.create_network)(builder_impl, flags);
            let config = method::<Create>(builder_impl, slots.create_config)(builder_impl);
            (builder_impl, Owned::new(network), Owned::new(config))
        };
        let network = network.ok_or_else(|| failed("no network"))?;
        let mut timing = None;
        let percent = |percent| tell(BuildStep::Percent(percent));
        let monitor = Monitor::new(&percent);
        let config = config.ok_or_else(|| failed("no configuration"))?;

        tell(BuildStep::Stage("parsing"));
        let parser = self.parser(&parser_library, &network)?;
        parse(slots, &parser, request)?;
        self.configure(builder_impl, &config, request)?;
        add_profile(slots, builder_impl, &network, &config, request.profiles)?;
        set_timing_cache(slots, &config, request.timing, &mut timing);

        tell(BuildStep::Stage("building"));
        logger::forget_said();
        type Build = unsafe extern "C" fn(Object, Object, Object) -> *mut c_void;
        self.set_monitor(&config, monitor.address());
        // SAFETY: as above.
        let plan = unsafe { method::<Build>(builder_impl, slots.build)(builder_impl, network.object, config.object) };
        self.set_monitor(&config, std::ptr::null_mut());
        let plan = Owned::new(plan).ok_or_else(|| failed("the builder gave nothing"))?;
        // SAFETY: what `build` gives is memory of the library's.
        let plan = unsafe { copied(&plan) };
        let timing = if timing.is_some() { timing_cache(slots, &config) } else { Vec::new() };
        Ok(Built { plan, timing })
    }

    fn parser(&self, library: &unix::Library, network: &Owned) -> Result<Owned, TensorRtError> {
        type Create = unsafe extern "C" fn(*mut c_void, *mut c_void, c_int) -> *mut c_void;
        // SAFETY: the function takes a network, a logger and the version of the parser's own interface.
        let create = unsafe { library.get::<Create>(b"createNvOnnxParser_INTERNAL\0") }
            .map_err(|error| TensorRtError::LibMissing { message: loader_message(&error) })?;
        // SAFETY: the network is alive, and outlives the parser; the logger has the layout of the version.
        let parser = unsafe { create(network.object.as_ptr(), logger::logger(self.slots.logger), PARSER_VERSION) };
        let object = object(parser)
            .ok_or_else(|| TensorRtError::ParseFailed { message: format!("no parser: {}", logger::take_said()) })?;
        Ok(Owned { object, delete: self.slots.delete_parser })
    }

    /// Tells a configuration whom the library tells how far it is; null for nobody. The object must live until then. RTX has the
    /// tables of 11 as far as they are used otherwise, but nobody has seen this slot of it.
    fn set_monitor(&self, config: &Owned, monitor: *mut c_void) {
        type Set = unsafe extern "C" fn(Object, *mut c_void);
        let slot = self.slots.set_progress_monitor.filter(|_| self.version.kind == Kind::TensorRt);
        let Some(slot) = slot else { return };
        // SAFETY: a slot of the library's version on the implementation of a configuration; the object has the interface's
        // table, and the caller keeps it.
        unsafe {
            let config = config.implementation();
            method::<Set>(config, slot)(config, monitor);
        }
    }

    fn configure(&self, builder: Object, config: &Owned, request: &BuildRequest<'_>) -> Result<(), TensorRtError> {
        let slots = self.slots;
        type SetFlag = unsafe extern "C" fn(Object, c_int);
        type SetPool = unsafe extern "C" fn(Object, c_int, usize);
        // SAFETY: slots of the library's version on the implementation of a configuration.
        unsafe {
            let config = config.implementation();
            let flag = |flag| method::<SetFlag>(config, slots.set_flag)(config, flag);
            method::<SetPool>(config, slots.set_pool_limit)(config, WORKSPACE, request.workspace_bytes);
            if request.precision != Precision::Fp32 {
                flag(FLAG_FP16);
            }
            if request.precision == Precision::Int8 {
                flag(FLAG_INT8);
            }
            if let Some(core) = request.dla {
                let cores = method::<unsafe extern "C" fn(Object) -> c_int>(builder, slots.dla_cores)(builder);
                if core < 0 || core >= cores {
                    let message = format!("models.tensorrt.dla is {core} and this device has {cores} DLA cores");
                    return Err(TensorRtError::Unsupported { message });
                }
                flag(FLAG_GPU_FALLBACK);
                method::<SetFlag>(config, slots.set_device_type)(config, DEVICE_DLA);
                method::<SetFlag>(config, slots.set_dla_core)(config, core);
            }
        }
        Ok(())
    }
}

/// The parser's library: the first that loads.
fn open_parser(names: &[std::path::PathBuf]) -> Result<unix::Library, TensorRtError> {
    let mut said = Vec::new();
    for name in names {
        // SAFETY: the library's initialisers run; it lies beside the TensorRT in use, is the machine's own, or was named.
        match unsafe { unix::Library::open(Some(name), RTLD_NOW | RTLD_LOCAL) } {
            Ok(library) => return Ok(library),
            Err(error) => said.push(loader_message(&error)),
        }
    }
    Err(TensorRtError::LibMissing { message: said.join("; ") })
}

fn parse(slots: &Slots, parser: &Owned, request: &BuildRequest<'_>) -> Result<(), TensorRtError> {
    type Parse = unsafe extern "C" fn(Object, *const u8, usize, *const c_char) -> u8;
    type ErrorAt = unsafe extern "C" fn(Object, c_int) -> *mut c_void;
    let path = CString::new(request.path.as_os_str().as_encoded_bytes()).unwrap_or_default();
    let parser = parser.object;
    // SAFETY: the parser's methods lie on the object itself; graph and path are read during the call.
    let parsed =
        unsafe { method::<Parse>(parser, PARSE)(parser, request.onnx.as_ptr(), request.onnx.len(), path.as_ptr()) };
    if parsed != 0 {
        return Ok(());
    }
    let mut problems = Vec::new();
    // SAFETY: as above; errors live as long as the parser, and their texts as long as they.
    unsafe {
        let count = method::<unsafe extern "C" fn(Object) -> c_int>(parser, slots.parse_errors)(parser);
        for at in 0..count.min(8) {
            let Some(error) = object(method::<ErrorAt>(parser, slots.parse_error)(parser, at)) else { continue };
            let text = method::<unsafe extern "C" fn(Object) -> *const c_char>(error, ERROR_DESCRIPTION)(error);
            if object(text.cast_mut().cast()).is_some() {
                problems.push(logger::one_line(CStr::from_ptr(text)));
            }
        }
    }
    if problems.is_empty() {
        problems.push(logger::take_said());
    }
    Err(TensorRtError::ParseFailed { message: problems.join("; ") })
}

/// Gives every input with an open dimension the shapes that the engine is built for.
fn add_profile(
    slots: &Slots,
    builder: Object,
    network: &Owned,
    config: &Owned,
    profiles: &[ShapeRange],
) -> Result<(), TensorRtError> {
    type Add = unsafe extern "C" fn(Object, Object) -> c_int;
    // SAFETY: slots of the library's version on objects that are alive; a profile belongs to the builder.
    unsafe {
        let open = open_inputs(slots, network)?;
        if open.is_empty() {
            return Ok(());
        }
        let profile = method::<unsafe extern "C" fn(Object) -> *mut c_void>(builder, slots.create_profile)(builder);
        let profile = object(profile).ok_or_else(|| build_error("no profile", logger::take_said()))?;
        for (place, name, shape) in open {
            let named = |wanted: &&ShapeRange| wanted.name.as_bytes() == name.to_bytes();
            let chosen = profiles
                .iter()
                .find(named)
                .or_else(|| profiles.get(place).filter(|profile| profile.name.is_empty()))
                .ok_or_else(|| TensorRtError::ShapeMismatch {
                    message: format!(
                        "the input {name:?} is {shape:?}: `shapes` of the catalogue's entry must say how large it gets"
                    ),
                })?;
            for (select, shape) in [(0, &chosen.min), (1, &chosen.opt), (2, &chosen.max)] {
                if !set_dimensions(slots, profile, &name, select, shape) {
                    let message = format!("the input {name:?} cannot be {shape:?}: {}", logger::take_said());
                    return Err(TensorRtError::ShapeMismatch { message });
                }
            }
        }
        let config = config.implementation();
        if method::<Add>(config, slots.add_profile)(config, profile) < 0 {
            return Err(build_error("the profile is not taken", logger::take_said()));
        }
    }
    Ok(())
}

/// Inputs of the network with an open dimension: place, name, shape.
///
/// # Safety
/// A network of the slots' version.
unsafe fn open_inputs(slots: &Slots, network: &Owned) -> Result<Vec<(usize, CString, Vec<i64>)>, TensorRtError> {
    let unclear = || TensorRtError::ParseFailed { message: "the graph has an input without name or shape".to_owned() };
    let mut open = Vec::new();
    // SAFETY: the caller's promise; tensors belong to the network and have implementations of their own.
    unsafe {
        let network = network.implementation();
        let count = method::<unsafe extern "C" fn(Object) -> c_int>(network, slots.input_count)(network);
        for at in 0..count {
            let input = method::<unsafe extern "C" fn(Object, c_int) -> *mut c_void>(network, slots.input)(network, at);
            let input = super::implementation(object(input).ok_or_else(unclear)?);
            let name = method::<unsafe extern "C" fn(Object) -> *const c_char>(input, TENSOR_NAME)(input);
            object(name.cast_mut().cast()).ok_or_else(unclear)?;
            let name = CStr::from_ptr(name).to_owned();
            let shape = if slots.major == 8 {
                method::<unsafe extern "C" fn(Object) -> Dims32>(input, TENSOR_DIMENSIONS)(input).shape()
            } else {
                method::<unsafe extern "C" fn(Object) -> Dims64>(input, TENSOR_DIMENSIONS)(input).shape()
            };
            let shape = shape.ok_or_else(unclear)?;
            if shape.contains(&-1) {
                open.push((at as usize, name, shape));
            }
        }
    }
    Ok(open)
}

/// # Safety
/// A profile of the slots' version. It has no implementation behind it of another layout than other objects.
unsafe fn set_dimensions(slots: &Slots, profile: Object, name: &CStr, select: c_int, shape: &[i64]) -> bool {
    // SAFETY: the caller's promise. TensorRT 8 takes the shape by value, the others by reference.
    unsafe {
        let profile = super::implementation(profile);
        if slots.major == 8 {
            type Set = unsafe extern "C" fn(Object, *const c_char, c_int, Dims32) -> u8;
            Dims32::new(shape)
                .is_some_and(|dims| method::<Set>(profile, SET_DIMENSIONS)(profile, name.as_ptr(), select, dims) != 0)
        } else {
            type Set = unsafe extern "C" fn(Object, *const c_char, c_int, *const Dims64) -> u8;
            Dims64::new(shape).is_some_and(|dims| {
                method::<Set>(profile, SET_DIMENSIONS)(profile, name.as_ptr(), select, &raw const dims) != 0
            })
        }
    }
}

/// Gives the builder what an earlier build measured. What it does not take is left out; it is only time. The configuration
/// keeps the cache by reference: `kept` must outlive it.
fn set_timing_cache(slots: &Slots, config: &Owned, bytes: &[u8], kept: &mut Option<Owned>) {
    type Create = unsafe extern "C" fn(Object, *const u8, usize) -> *mut c_void;
    type Set = unsafe extern "C" fn(Object, Object, u8) -> u8;
    // SAFETY: slots of the library's version, on a configuration that is alive; the bytes are copied during the call.
    unsafe {
        let config = config.implementation();
        for bytes in [bytes, &[]] {
            let made = method::<Create>(config, slots.create_timing_cache)(config, bytes.as_ptr(), bytes.len());
            let Some(cache) = Owned::new(made) else { continue };
            if method::<Set>(config, slots.set_timing_cache)(config, cache.object, 0) != 0 {
                *kept = Some(cache);
                return;
            }
        }
    }
}

fn timing_cache(slots: &Slots, config: &Owned) -> Vec<u8> {
    // SAFETY: slots of the library's version; the cache belongs to the configuration, and what it is written to belongs to us.
    unsafe {
        let config = config.implementation();
        let cache = method::<unsafe extern "C" fn(Object) -> *mut c_void>(config, slots.timing_cache)(config);
        let Some(cache) = object(cache) else { return Vec::new() };
        let cache = super::implementation(cache);
        let memory = method::<unsafe extern "C" fn(Object) -> *mut c_void>(cache, SERIALISE_TIMING)(cache);
        Owned::new(memory).map(|memory| copied(&memory)).unwrap_or_default()
    }
}

/// The bytes of memory of the library's.
///
/// # Safety
/// An `IHostMemory`.
unsafe fn copied(memory: &Owned) -> Vec<u8> {
    // SAFETY: the caller's promise; the bytes live as long as the object and are not changed.
    unsafe {
        let memory = memory.implementation();
        let data = method::<unsafe extern "C" fn(Object) -> *const u8>(memory, MEMORY_DATA)(memory);
        let size = method::<unsafe extern "C" fn(Object) -> usize>(memory, MEMORY_SIZE)(memory);
        if data.is_null() { Vec::new() } else { std::slice::from_raw_parts(data, size).to_vec() }
    }
}

/// The library has no codes, only words.
fn build_error(what: &str, said: String) -> TensorRtError {
    const MEMORY: [&str; 4] = ["out of memory", "outofmemory", "could not be allocated", "insufficient memory"];
    let lower = said.to_lowercase();
    let message = if said.is_empty() { what.to_owned() } else { said };
    if MEMORY.iter().any(|words| lower.contains(words)) {
        TensorRtError::OutOfMemory { message }
    } else {
        TensorRtError::BuildFailed { message }
    }
}
