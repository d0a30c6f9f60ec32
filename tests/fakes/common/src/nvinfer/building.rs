//! An engine built from a network, and the parser that fills the network from ONNX.

use super::*;

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
    monitor: usize,
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
    let Slots { config: [pool, flag, create, set, get, add, core, device], monitor, .. } = slots(library().major);
    let monitor = monitor.map(|slot| (slot, at!(set_monitor)));
    let methods = [
        (pool, at!(set_pool)),
        (flag, at!(set_flag)),
        (create, at!(create_timing)),
        (set, at!(set_timing)),
        (get, at!(get_timing)),
        (add, at!(add_profile)),
        (core, at!(set_number)),
        (device, at!(set_number)),
    ];
    make(
        Config { logger: (*this).state.logger, profile: None, timing: None, workspace: 0, monitor: 0 },
        &methods.into_iter().chain(monitor).collect::<Vec<_>>(),
    )
}

unsafe extern "C" fn set_monitor(this: This<Config>, monitor: usize) {
    (*this).state.monitor = monitor;
}

/// Tells the application's monitor of four steps, of which the second has a part of two; the third is told by another thread.
/// `false` if the application wants no engine.
unsafe fn show_progress(monitor: usize) -> bool {
    type Start = unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char, c_int);
    type Complete = unsafe extern "C" fn(*mut c_void, *const c_char, c_int) -> bool;
    type Finish = unsafe extern "C" fn(*mut c_void, *const c_char);
    let object = monitor as *mut c_void;
    if !is_interface(object, c"IProgressMonitor") {
        return false;
    }
    let table = *object.cast::<*const usize>();
    let start: Start = std::mem::transmute(*table.add(4));
    let complete: Complete = std::mem::transmute(*table.add(5));
    let finish: Finish = std::mem::transmute(*table.add(6));
    let (whole, part) = (c"Building Engine", c"Timing Tactics");
    start(object, whole.as_ptr(), std::ptr::null(), 4);
    let mut go_on = complete(object, whole.as_ptr(), 0);
    start(object, part.as_ptr(), whole.as_ptr(), 2);
    go_on &= complete(object, part.as_ptr(), 0) && complete(object, part.as_ptr(), 1);
    finish(object, part.as_ptr());
    go_on &= complete(object, whole.as_ptr(), 1);
    let elsewhere = std::thread::spawn(move || complete(monitor as *mut c_void, whole.as_ptr(), 2)).join();
    go_on &= elsewhere.is_ok_and(|go_on| go_on) && complete(object, whole.as_ptr(), 3);
    finish(object, whole.as_ptr());
    go_on
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
    if config.monitor != 0 && !show_progress(config.monitor) {
        say(logger, 1, "the build was given up");
        return std::ptr::null_mut();
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
