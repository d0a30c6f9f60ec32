//! An engine taken from a plan, and its runs.

use super::*;

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
        FakeContext { engine: &raw const (*this).state, shapes: BTreeMap::new(), addresses: BTreeMap::new() },
        &[
            (set_shape, at!(set_input_shape)),
            (shape, if library().major == 8 { at!(context_shape_8) } else { at!(context_shape_10) }),
            (address, at!(set_address)),
            (enqueue_at, at!(enqueue)),
        ],
    )
}

// ---- context

struct FakeContext {
    engine: *const Engine,
    shapes: BTreeMap<String, Vec<i64>>,
    addresses: BTreeMap<String, usize>,
}

impl FakeContext {
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

unsafe extern "C" fn set_input_shape(this: This<FakeContext>, name: *const c_char, dims: *const c_void) -> u8 {
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

unsafe extern "C" fn context_shape_8(this: This<FakeContext>, name: *const c_char) -> Dims<i32> {
    Dims::<i32>::new(&(*this).state.shape(name))
}

unsafe extern "C" fn context_shape_10(this: This<FakeContext>, name: *const c_char) -> Dims<i64> {
    Dims::<i64>::new(&(*this).state.shape(name))
}

unsafe extern "C" fn set_address(this: This<FakeContext>, name: *const c_char, address: usize) -> u8 {
    let state = &mut (*this).state;
    let Some((border, _)) = (*state.engine).border(name) else { return 0 };
    state.addresses.insert(border.name.clone(), address);
    u8::from(address != 0)
}

unsafe extern "C" fn enqueue(this: This<FakeContext>, stream: *mut c_void) -> u8 {
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
