//! TensorRT's objects, as far as an application builds an engine from ONNX and runs it.
//!
//! Switches (`crate::switch`): `version=NUMBER`; `runtime=null|bogus`; `epoch=TEXT`, which a plan must share to be taken;
//! `plan=bad`, which no runtime takes; `build=fail|oom|crash|hang|wait`; `enqueue=fail`; `numbers=wrong`. Every build adds a line
//! to the file `builds` beside the library.

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
            network: [19, 20],
            parser: [6, 7, 10],
        },
        10 => Slots {
            runtime: [3],
            engine: [30, 31, 23, 20, 19, 5],
            context: [21, 22, 24, 37],
            builder: [7, 8, 9, 5, 14],
            config: [43, 11, 40, 41, 42, 25, 18, 20],
            network: [14, 15],
            parser: [5, 6, 9],
        },
        _ => Slots {
            runtime: [3],
            engine: [26, 27, 19, 16, 15, 5],
            context: [20, 21, 23, 36],
            builder: [5, 6, 7, 3, 11],
            config: [32, 9, 29, 30, 31, 23, 16, 18],
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
    let table = *logger.cast::<*const usize>();
    let language: unsafe extern "C" fn(*mut c_void) -> c_int = std::mem::transmute(*table);
    let info: unsafe extern "C" fn(*mut c_void) -> InterfaceInfo = std::mem::transmute(*table.add(1));
    let info = info(logger);
    language(logger) == 0 && CStr::from_ptr(info.kind) == c"ILogger" && info.major == 1 && info.minor == 0
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

// ---- runtime

struct Runtime {
    logger: *mut c_void,
}

/// # Safety
/// As TensorRT's own.
pub unsafe fn runtime(logger: *mut c_void, version: i32) -> *mut c_void {
    match switched("runtime").as_deref() {
        Some("null") => return std::ptr::null_mut(),
        Some("bogus") => return 0x228 as *mut c_void,
        _ => {}
    }
    if !accepts(logger, version) {
        return std::ptr::null_mut();
    }
    let [deserialize] = slots(library().major).runtime;
    let method = if library().major == 8 { at!(deserialize_8) } else { at!(deserialize_10) };
    make(Runtime { logger }, &[(deserialize, method)])
}

unsafe extern "C" fn deserialize_8(
    this: This<Runtime>,
    plan: *const u8,
    size: usize,
    factory: *mut c_void,
) -> *mut c_void {
    if !factory.is_null() {
        say((*this).state.logger, 1, "a plugin factory was given");
        return std::ptr::null_mut();
    }
    deserialize_10(this, plan, size)
}

unsafe extern "C" fn deserialize_10(this: This<Runtime>, plan: *const u8, size: usize) -> *mut c_void {
    let logger = (*this).state.logger;
    let read = plan::read(std::slice::from_raw_parts(plan, size));
    let taken = read
        .filter(|(version, epoch, ..)| *version == self::version() && *epoch == switched("epoch").unwrap_or_default());
    let Some((_, _, shapes, onnx)) = taken else {
        say(logger, 1, "magicTag does not match; the plan was made by something else");
        return std::ptr::null_mut();
    };
    let Some(model) = Model::read(&onnx) else { return std::ptr::null_mut() };
    let names = |borders: &[Border]| {
        borders.iter().map(|one| CString::new(one.name.as_str()).unwrap_or_default()).collect::<Vec<_>>()
    };
    let names = [names(&model.inputs), names(&model.outputs)].concat();
    let [count, name, mode, kind, shape, context] = slots(library().major).engine;
    make(
        Engine { model, shapes, names, logger },
        &[
            (count, at!(tensor_count)),
            (name, at!(tensor_name)),
            (mode, at!(tensor_mode)),
            (kind, at!(tensor_type)),
            (shape, if library().major == 8 { at!(engine_shape_8) } else { at!(engine_shape_10) }),
            (context, at!(create_context)),
        ],
    )
}

// ---- engine

struct Engine {
    model: Model,
    shapes: Shapes,
    /// Inputs, then outputs.
    names: Vec<CString>,
    logger: *mut c_void,
}

impl Engine {
    unsafe fn border(&self, name: *const c_char) -> Option<(&Border, bool)> {
        let name = CStr::from_ptr(name).to_str().ok()?;
        let input = self.model.inputs.iter().find(|border| border.name == name).map(|border| (border, true));
        input.or_else(|| self.model.outputs.iter().find(|border| border.name == name).map(|border| (border, false)))
    }
}

unsafe extern "C" fn tensor_count(this: This<Engine>) -> c_int {
    (&(*this).state.names).len() as c_int
}

unsafe extern "C" fn tensor_name(this: This<Engine>, at: c_int) -> *const c_char {
    (&(*this).state.names).get(at as usize).map_or(std::ptr::null(), |name| name.as_ptr())
}

unsafe extern "C" fn tensor_mode(this: This<Engine>, name: *const c_char) -> c_int {
    (*this).state.border(name).map_or(0, |(_, input)| if input { 1 } else { 2 })
}

unsafe extern "C" fn tensor_type(this: This<Engine>, name: *const c_char) -> c_int {
    (*this).state.border(name).map_or(-1, |(border, _)| element(border).0)
}

unsafe fn engine_shape(this: This<Engine>, name: *const c_char) -> Vec<i64> {
    (*this).state.border(name).map(|(border, _)| border.shape.clone()).unwrap_or_default()
}

unsafe extern "C" fn engine_shape_8(this: This<Engine>, name: *const c_char) -> Dims<i32> {
    Dims::<i32>::new(&engine_shape(this, name))
}

unsafe extern "C" fn engine_shape_10(this: This<Engine>, name: *const c_char) -> Dims<i64> {
    Dims::<i64>::new(&engine_shape(this, name))
}

unsafe extern "C" fn create_context(this: This<Engine>) -> *mut c_void {
    let [set_shape, shape, address, enqueue_at] = slots(library().major).context;
    make(
        Context { engine: &raw const (*this).state, shapes: BTreeMap::new(), addresses: BTreeMap::new() },
        &[
            (set_shape, at!(set_input_shape)),
            (shape, if library().major == 8 { at!(context_shape_8) } else { at!(context_shape_10) }),
            (address, at!(set_address)),
            (enqueue_at, at!(enqueue)),
        ],
    )
}

// ---- context

struct Context {
    engine: *const Engine,
    shapes: BTreeMap<String, Vec<i64>>,
    addresses: BTreeMap<String, usize>,
}

impl Context {
    unsafe fn shape(&self, name: *const c_char) -> Vec<i64> {
        let engine = &*self.engine;
        let Some((border, input)) = engine.border(name) else { return vec![-1] };
        if !border.shape.contains(&-1) {
            return border.shape.clone();
        }
        let source = if input { Some(border.name.as_str()) } else { engine.model.source(&border.name) };
        source.and_then(|name| self.shapes.get(name)).cloned().unwrap_or_else(|| border.shape.clone())
    }
}

unsafe extern "C" fn set_input_shape(this: This<Context>, name: *const c_char, dims: *const c_void) -> u8 {
    let state = &mut (*this).state;
    let engine = &*state.engine;
    let shape = shape_at(dims);
    let Some((border, true)) = engine.border(name) else { return 0 };
    let within = |at: usize, size: i64| match engine.shapes.get(&border.name) {
        Some([min, _, max]) if border.shape[at] < 0 => (min[at]..=max[at]).contains(&size),
        _ => border.shape[at] == size,
    };
    let fits = shape.len() == border.shape.len() && shape.iter().enumerate().all(|(at, size)| within(at, *size));
    if !fits {
        say(engine.logger, 1, &format!("setInputShape: {} cannot be {shape:?}", border.name));
        return 0;
    }
    state.shapes.insert(border.name.clone(), shape);
    1
}

unsafe extern "C" fn context_shape_8(this: This<Context>, name: *const c_char) -> Dims<i32> {
    Dims::<i32>::new(&(*this).state.shape(name))
}

unsafe extern "C" fn context_shape_10(this: This<Context>, name: *const c_char) -> Dims<i64> {
    Dims::<i64>::new(&(*this).state.shape(name))
}

unsafe extern "C" fn set_address(this: This<Context>, name: *const c_char, address: usize) -> u8 {
    let state = &mut (*this).state;
    let Some((border, _)) = (*state.engine).border(name) else { return 0 };
    state.addresses.insert(border.name.clone(), address);
    u8::from(address != 0)
}

unsafe extern "C" fn enqueue(this: This<Context>, stream: *mut c_void) -> u8 {
    let state = &(*this).state;
    let engine = &*state.engine;
    if is("enqueue", "fail") || stream.is_null() {
        say(engine.logger, 1, "Cuda Runtime (an illegal memory access was encountered)");
        return 0;
    }
    let mut inputs = BTreeMap::new();
    for border in &engine.model.inputs {
        let (Some(shape), Some(address)) = (state.shapes.get(&border.name), state.addresses.get(&border.name)) else {
            return 0;
        };
        let count = shape.iter().product::<i64>() as usize;
        let elements: Vec<f64> = match element(border).0 {
            0 => (0..count).map(|at| f64::from(*(*address as *const f32).add(at))).collect(),
            3 => (0..count).map(|at| f64::from(*(*address as *const i32).add(at))).collect(),
            8 => (0..count).map(|at| *(*address as *const i64).add(at) as f64).collect(),
            _ => (0..count).map(|at| f64::from(*(*address as *const u8).add(at))).collect(),
        };
        inputs.insert(border.name.clone(), (shape.clone(), elements));
    }
    let Some(results) = engine.model.calculate(&inputs) else { return 0 };
    let error = if is("numbers", "wrong") { 1.0 } else { 0.0 };
    for (border, elements) in engine.model.outputs.iter().zip(results) {
        let Some(address) = state.addresses.get(&border.name) else { return 0 };
        for (at, value) in elements.iter().map(|value| value + error).enumerate() {
            match element(border).0 {
                0 => *(*address as *mut f32).add(at) = value as f32,
                3 => *(*address as *mut i32).add(at) = value as i32,
                8 => *(*address as *mut i64).add(at) = value as i64,
                _ => *(*address as *mut u8).add(at) = value as u8,
            }
        }
    }
    1
}

// ---- builder

struct Builder {
    logger: *mut c_void,
    profiles: Vec<*mut c_void>,
}

impl Drop for Builder {
    fn drop(&mut self) {
        // Profiles belong to their builder.
        self.profiles.drain(..).for_each(|profile| unsafe { dispose::<Profile>(profile) });
    }
}

struct Config {
    logger: *mut c_void,
    profile: Option<*mut c_void>,
    timing: Option<*mut c_void>,
    workspace: usize,
}

struct Network {
    onnx: Vec<u8>,
    model: Model,
    tensors: Vec<*mut c_void>,
}

impl Drop for Network {
    fn drop(&mut self) {
        self.tensors.drain(..).for_each(|tensor| unsafe { dispose::<Input>(tensor) });
    }
}

#[derive(Default)]
struct Profile {
    shapes: BTreeMap<String, [Vec<i64>; 3]>,
}

struct Memory(Vec<u8>);

struct Timing(Vec<u8>);

struct Input {
    name: CString,
    shape: Vec<i64>,
}

/// # Safety
/// As TensorRT's own.
pub unsafe fn builder(logger: *mut c_void, version: i32) -> *mut c_void {
    if !accepts(logger, version) {
        return std::ptr::null_mut();
    }
    let [config, network, profile, dla, build_at] = slots(library().major).builder;
    make(
        Builder { logger, profiles: Vec::new() },
        &[
            (config, at!(create_config)),
            (network, at!(create_network)),
            (profile, at!(create_profile)),
            (dla, at!(dla_cores)),
            (build_at, at!(build)),
        ],
    )
}

unsafe extern "C" fn create_config(this: This<Builder>) -> *mut c_void {
    let [pool, flag, create, set, get, add, core, device] = slots(library().major).config;
    make(
        Config { logger: (*this).state.logger, profile: None, timing: None, workspace: 0 },
        &[
            (pool, at!(set_pool)),
            (flag, at!(set_flag)),
            (create, at!(create_timing)),
            (set, at!(set_timing)),
            (get, at!(get_timing)),
            (add, at!(add_profile)),
            (core, at!(set_number)),
            (device, at!(set_number)),
        ],
    )
}

unsafe extern "C" fn create_network(this: This<Builder>, flags: c_uint) -> *mut c_void {
    // TensorRT 8 parses ONNX into networks with an explicit batch only.
    if library().major == 8 && flags != 1 || library().major != 8 && flags != 0 {
        say((*this).state.logger, 1, "the network's flags do not serve");
        return std::ptr::null_mut();
    }
    let [count, input] = slots(library().major).network;
    make(
        Network { onnx: Vec::new(), model: Model::default(), tensors: Vec::new() },
        &[(count, at!(input_count)), (input, at!(network_input))],
    )
}

unsafe extern "C" fn input_count(this: This<Network>) -> c_int {
    (&(*this).state.tensors).len() as c_int
}

unsafe extern "C" fn network_input(this: This<Network>, at: c_int) -> *mut c_void {
    (&(*this).state.tensors).get(at as usize).copied().unwrap_or(std::ptr::null_mut())
}

unsafe extern "C" fn input_name(this: This<Input>) -> *const c_char {
    (&(*this).state.name).as_ptr()
}

unsafe extern "C" fn input_shape_8(this: This<Input>) -> Dims<i32> {
    Dims::<i32>::new(&(*this).state.shape)
}

unsafe extern "C" fn input_shape_10(this: This<Input>) -> Dims<i64> {
    Dims::<i64>::new(&(*this).state.shape)
}

unsafe extern "C" fn create_profile(this: This<Builder>) -> *mut c_void {
    let method = if library().major == 8 { at!(set_dimensions_8) } else { at!(set_dimensions_10) };
    let profile = make(Profile::default(), &[(2, method)]);
    (*this).state.profiles.push(profile);
    profile
}

unsafe fn set_dimensions(this: This<Profile>, name: *const c_char, select: c_int, shape: Vec<i64>) -> u8 {
    let name = CStr::from_ptr(name).to_string_lossy().into_owned();
    (*this).state.shapes.entry(name).or_default()[select as usize] = shape;
    1
}

unsafe extern "C" fn set_dimensions_8(this: This<Profile>, name: *const c_char, select: c_int, dims: Dims<i32>) -> u8 {
    set_dimensions(this, name, select, shape_at((&raw const dims).cast()))
}

unsafe extern "C" fn set_dimensions_10(
    this: This<Profile>,
    name: *const c_char,
    select: c_int,
    dims: *const Dims<i64>,
) -> u8 {
    set_dimensions(this, name, select, shape_at(dims.cast()))
}

unsafe extern "C" fn dla_cores(_: This<Builder>) -> c_int {
    switched("dla").and_then(|text| text.parse().ok()).unwrap_or(0)
}

unsafe extern "C" fn set_pool(this: This<Config>, pool: c_int, bytes: usize) {
    if pool == 0 {
        (*this).state.workspace = bytes;
    }
}

unsafe extern "C" fn set_flag(this: This<Config>, flag: c_int) {
    if library().major >= 11 && flag < 2 {
        say((*this).state.logger, 1, "this version has no such flag");
        std::process::abort();
    }
}

unsafe extern "C" fn set_number(_: This<Config>, _: c_int) {}

unsafe extern "C" fn create_timing(_: This<Config>, bytes: *const u8, size: usize) -> *mut c_void {
    make(Timing(std::slice::from_raw_parts(bytes, size).to_vec()), &[(2, at!(serialise_timing))])
}

unsafe extern "C" fn set_timing(this: This<Config>, cache: *mut c_void, _: u8) -> u8 {
    let known = &state_of::<Timing>(cache).0;
    if !known.is_empty() && !known.starts_with(b"FAKETIMING") {
        return 0;
    }
    (*this).state.timing = Some(cache);
    1
}

unsafe extern "C" fn get_timing(this: This<Config>) -> *mut c_void {
    (*this).state.timing.unwrap_or(std::ptr::null_mut())
}

unsafe extern "C" fn serialise_timing(this: This<Timing>) -> *mut c_void {
    memory((&(*this).state.0).clone())
}

unsafe extern "C" fn add_profile(this: This<Config>, profile: *mut c_void) -> c_int {
    (*this).state.profile = Some(profile);
    0
}

fn memory(bytes: Vec<u8>) -> *mut c_void {
    make(Memory(bytes), &[(2, at!(memory_data)), (3, at!(memory_size))])
}

unsafe extern "C" fn memory_data(this: This<Memory>) -> *const u8 {
    (&(*this).state.0).as_ptr()
}

unsafe extern "C" fn memory_size(this: This<Memory>) -> usize {
    (&(*this).state.0).len()
}

unsafe extern "C" fn build(this: This<Builder>, network: *mut c_void, config: *mut c_void) -> *mut c_void {
    let logger = (*this).state.logger;
    let (network, config) = (state_of::<Network>(network), state_of::<Config>(config));
    if let Some(folder) = folder_of(library().home)
        && let Ok(mut file) = std::fs::File::options().create(true).append(true).open(folder.join("builds"))
    {
        // Whoever counts builds reads the lines: timing cache, workspace.
        let known = config.timing.map_or(0, |cache| state_of::<Timing>(cache).0.len());
        writeln!(file, "timing={known} workspace={}", config.workspace).expect("the folder can be written");
    }
    match switched("build").as_deref() {
        Some("fail") => {
            say(logger, 1, "Could not find any implementation for node conv_1");
            return std::ptr::null_mut();
        }
        Some("oom") => {
            say(logger, 1, "[defaultAllocator.cpp::allocate] Error Code 1: Cuda Runtime (out of memory)");
            return std::ptr::null_mut();
        }
        Some("crash") => {
            eprintln!("terminate called after throwing an instance of 'std::bad_variant_access'");
            std::process::abort();
        }
        Some("hang") => loop {
            std::thread::park();
        },
        // Until somebody writes into the pipe `go` beside the library.
        Some("wait") => {
            let go = folder_of(library().home).map(|folder| std::fs::read(folder.join("go")));
            assert!(go.is_some_and(|go| go.is_ok()), "a pipe `go` is there");
        }
        _ => {}
    }
    let mut shapes = Shapes::new();
    if let Some(profile) = config.profile {
        shapes.clone_from(&state_of::<Profile>(profile).shapes);
    }
    let open = network.model.inputs.iter().filter(|input| input.shape.contains(&-1));
    if let Some(lacking) = open.into_iter().find(|input| !shapes.contains_key(&input.name)) {
        say(logger, 1, &format!("{}: a network with open dimensions needs a profile", lacking.name));
        return std::ptr::null_mut();
    }
    if let Some(cache) = config.timing {
        let cache = &mut state_of::<Timing>(cache).0;
        if cache.is_empty() {
            cache.extend_from_slice(b"FAKETIMING");
        }
        cache.extend((network.model.nodes.len() as u32).to_le_bytes());
    }
    let epoch = if is("plan", "bad") { "spoilt".to_owned() } else { switched("epoch").unwrap_or_default() };
    memory(plan::write(version(), &epoch, &shapes, &network.onnx))
}

// ---- parser

struct Parser {
    network: *mut c_void,
    errors: Vec<*mut c_void>,
}

impl Drop for Parser {
    fn drop(&mut self) {
        self.errors.drain(..).for_each(|error| unsafe { dispose_plain::<ParseError>(error) });
    }
}

struct ParseError(CString);

/// # Safety
/// As TensorRT's own.
pub unsafe fn parser(network: *mut c_void, logger: *mut c_void, version: i32) -> *mut c_void {
    if network.is_null() || logger.is_null() || version != 100 {
        return std::ptr::null_mut();
    }
    let [count, get, delete] = slots(library().major).parser;
    let methods = [(0, at!(parse)), (count, at!(error_count)), (get, at!(error_at))];
    make_plain(Parser { network, errors: Vec::new() }, &methods, Some(delete))
}

unsafe extern "C" fn parse(this: *mut Plain<Parser>, bytes: *const u8, size: usize, _path: *const c_char) -> u8 {
    let state = &mut (*this).state;
    let onnx = std::slice::from_raw_parts(bytes, size).to_vec();
    let problem = match Model::read(&onnx) {
        None => Some("Failed to parse the ONNX model".to_owned()),
        Some(model) => match model.unknown().first() {
            Some(kind) => Some(format!("No importer registered for op: {kind}")),
            None => {
                let network = state_of::<Network>(state.network);
                let shape = if library().major == 8 { at!(input_shape_8) } else { at!(input_shape_10) };
                network.tensors = model
                    .inputs
                    .iter()
                    .map(|input| {
                        let name = CString::new(input.name.as_str()).unwrap_or_default();
                        make(Input { name, shape: input.shape.clone() }, &[(3, at!(input_name)), (5, shape)])
                    })
                    .collect();
                (network.onnx, network.model) = (onnx, model);
                None
            }
        },
    };
    let Some(problem) = problem else { return 1 };
    let text = CString::new(problem).unwrap_or_default();
    state.errors.push(make_plain(ParseError(text), &[(1, at!(error_text))], None));
    0
}

unsafe extern "C" fn error_count(this: *mut Plain<Parser>) -> c_int {
    (&(*this).state.errors).len() as c_int
}

unsafe extern "C" fn error_at(this: *mut Plain<Parser>, at: c_int) -> *mut c_void {
    (&(*this).state.errors).get(at as usize).copied().unwrap_or(std::ptr::null_mut())
}

unsafe extern "C" fn error_text(this: *mut Plain<ParseError>) -> *const c_char {
    (&(*this).state.0).as_ptr()
}
