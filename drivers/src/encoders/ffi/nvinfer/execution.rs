//! A loaded engine: its tensors, its buffers, and runs of it.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::Arc;

use super::slots::Slots;
use super::{Dims32, Dims64, Library, Object, Owned, logger, method, shape_of};
use crate::encoders::ffi::cuda::{Buffer, Device, Stream};
use crate::encoders::tensorrt::TensorRtError;

/// Bytes of one tensor at most: more is a mistake in a shape.
const LARGEST: usize = 1 << 31;
const INPUT: c_int = 1;
const OUTPUT: c_int = 2;

/// Element types at the border of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::encoders) enum IoElement {
    F32,
    I32,
    U8,
    I64,
    /// One that encoders have no use for.
    Other(i32),
}

impl IoElement {
    fn decode(code: c_int) -> Self {
        match code {
            0 => Self::F32,
            3 => Self::I32,
            5 => Self::U8,
            8 => Self::I64,
            other => Self::Other(other),
        }
    }

    /// `None` for a type that encoders have no use for.
    pub(in crate::encoders) fn bytes(self) -> Option<usize> {
        match self {
            Self::F32 | Self::I32 => Some(4),
            Self::U8 => Some(1),
            Self::I64 => Some(8),
            Self::Other(_) => None,
        }
    }
}

/// A tensor at the border of an engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::encoders) struct IoTensor {
    name: CString,
    pub input: bool,
    pub element: IoElement,
    /// -1 where it is open.
    pub shape: Vec<i64>,
}

impl IoTensor {
    pub(in crate::encoders) fn name(&self) -> &str {
        self.name.to_str().unwrap_or_default()
    }
}

/// Writes the elements of the input at a place.
type Fill<'a> = dyn FnMut(usize, &mut [u8]) -> Result<(), TensorRtError> + 'a;
/// Gets place, shape and elements of an output.
type Take<'a> = dyn FnMut(usize, &[i64], &[u8]) -> Result<(), TensorRtError> + 'a;

/// An engine with one context to run it, on a stream of its own.
pub(in crate::encoders) struct Execution {
    /// One per tensor; made when its size is known, and made anew for larger ones. In front of the context, so that they are
    /// waited for before it goes.
    buffers: Vec<Option<Buffer>>,
    tensors: Vec<IoTensor>,
    context: Owned,
    // Below the context: fields are dropped from the top, and objects go before what they hang on.
    _engine: Owned,
    _runtime: Owned,
    stream: Arc<Stream>,
    device: Arc<Device>,
    library: Arc<Library>,
}

// SAFETY: TensorRT's objects may be used from any thread, one at a time, with the device's context set, which every call does.
unsafe impl Send for Execution {}

impl Execution {
    /// Takes a plan that this very version built on this device.
    ///
    /// # Errors
    /// [`TensorRtError::PlanRejected`] if the library does not take it, which is ordinary after an upgrade.
    pub(in crate::encoders) fn load(
        library: &Arc<Library>,
        device: &Arc<Device>,
        plan: &[u8],
    ) -> Result<Self, TensorRtError> {
        device.activate()?;
        let slots = library.slots;
        let rejected = || TensorRtError::PlanRejected { message: logger::take_said() };
        let runtime = library.create(b"createInferRuntime_INTERNAL\0")?;
        logger::forget_said();
        // SAFETY: the slots are those of the library's version; the plan is read during the call only.
        let engine = unsafe {
            let runtime = runtime.implementation();
            if slots.major == 8 {
                type Deserialize = unsafe extern "C" fn(Object, *const u8, usize, *mut c_void) -> *mut c_void;
                let deserialize = method::<Deserialize>(runtime, slots.deserialize);
                deserialize(runtime, plan.as_ptr(), plan.len(), std::ptr::null_mut())
            } else {
                type Deserialize = unsafe extern "C" fn(Object, *const u8, usize) -> *mut c_void;
                method::<Deserialize>(runtime, slots.deserialize)(runtime, plan.as_ptr(), plan.len())
            }
        };
        let engine = Owned::new(engine).ok_or_else(rejected)?;
        // SAFETY: an engine has an implementation.
        let tensors = unsafe { tensors(slots, engine.implementation()) }.ok_or_else(rejected)?;
        // SAFETY: as above; the strategy is to allocate what the context needs, which is 0.
        let context = unsafe {
            let engine = engine.implementation();
            if slots.major == 8 {
                method::<unsafe extern "C" fn(Object) -> *mut c_void>(engine, slots.create_context)(engine)
            } else {
                method::<unsafe extern "C" fn(Object, c_int) -> *mut c_void>(engine, slots.create_context)(engine, 0)
            }
        };
        let context = Owned::new(context).ok_or_else(|| TensorRtError::OutOfMemory { message: logger::take_said() })?;
        let stream = Stream::new(device)?;
        Ok(Self {
            buffers: tensors.iter().map(|_| None).collect(),
            tensors,
            context,
            _engine: engine,
            _runtime: runtime,
            stream,
            device: Arc::clone(device),
            library: Arc::clone(library),
        })
    }

    /// Inputs and outputs, in the engine's order.
    pub(in crate::encoders) fn tensors(&self) -> &[IoTensor] {
        &self.tensors
    }

    /// Runs it once. `shapes`: those of the inputs, by their place among all tensors.
    pub(in crate::encoders) fn run(
        &mut self,
        shapes: &[(usize, Vec<i64>)],
        fill: &mut Fill<'_>,
        take: &mut Take<'_>,
    ) -> Result<(), TensorRtError> {
        self.device.activate()?;
        logger::forget_said();
        for (place, shape) in shapes {
            self.set_shape(*place, shape)?;
            let bytes = self.make_room(*place, shape)?;
            let Some(buffer) = self.buffers[*place].as_mut() else { continue };
            fill(*place, &mut buffer.host_mut()?[..bytes])?;
            buffer.upload(bytes)?;
            self.set_address(*place)?;
        }
        let mut results = Vec::new();
        for place in 0..self.tensors.len() {
            if self.tensors[place].input {
                continue;
            }
            let shape = self.output_shape(place)?;
            let bytes = self.make_room(place, &shape)?;
            self.set_address(place)?;
            results.push((place, shape, bytes));
        }
        // SAFETY: a context has an implementation; every tensor has an address whose buffer lives as long as the context.
        let enqueued = unsafe {
            let context = self.context.implementation();
            let enqueue = method::<unsafe extern "C" fn(Object, *mut c_void) -> u8>(context, self.slots().enqueue);
            enqueue(context, self.stream.raw())
        };
        if enqueued == 0 {
            let message = logger::take_said();
            return Err(TensorRtError::ExecFailed { message: format!("enqueueV3: {message}") });
        }
        for (place, _, bytes) in &results {
            if let Some(buffer) = self.buffers[*place].as_mut() {
                buffer.download(*bytes)?;
            }
        }
        self.stream.synchronise()?;
        for (place, shape, bytes) in &results {
            if let Some(buffer) = self.buffers[*place].as_mut() {
                take(*place, shape, &buffer.host()?[..*bytes])?;
            }
        }
        Ok(())
    }

    fn slots(&self) -> &'static Slots {
        self.library.slots
    }

    fn set_shape(&self, place: usize, shape: &[i64]) -> Result<(), TensorRtError> {
        let tensor = &self.tensors[place];
        let mismatch = || TensorRtError::ShapeMismatch {
            message: format!(
                "`{}` is {:?} and was given as {shape:?}; {}",
                tensor.name(),
                tensor.shape,
                logger::take_said()
            ),
        };
        type SetShape = unsafe extern "C" fn(Object, *const c_char, *const c_void) -> u8;
        let (dims32, dims64) = (Dims32::new(shape), Dims64::new(shape));
        let dims: *const c_void = if self.slots().major == 8 {
            std::ptr::from_ref(dims32.as_ref().ok_or_else(mismatch)?).cast()
        } else {
            std::ptr::from_ref(dims64.as_ref().ok_or_else(mismatch)?).cast()
        };
        // SAFETY: a context has an implementation; name and shape are read during the call, the shape in the version's form.
        let set = unsafe {
            let context = self.context.implementation();
            let set = method::<SetShape>(context, self.slots().set_input_shape);
            set(context, tensor.name.as_ptr(), dims)
        };
        if set == 0 { Err(mismatch()) } else { Ok(()) }
    }

    /// The shape of an output, given those of the inputs.
    fn output_shape(&self, place: usize) -> Result<Vec<i64>, TensorRtError> {
        let tensor = &self.tensors[place];
        // SAFETY: a context has an implementation, and the method gives a shape for a name.
        let shape = unsafe {
            shape_of(self.slots(), self.context.implementation(), self.slots().context_shape, tensor.name.as_ptr())
        };
        shape.filter(|shape| shape.iter().all(|size| *size >= 0)).ok_or_else(|| TensorRtError::ShapeMismatch {
            message: format!("the size of the output `{}` depends on what is in the inputs", tensor.name()),
        })
    }

    /// Sees to it that a tensor has a buffer for a shape; returns its bytes.
    fn make_room(&mut self, place: usize, shape: &[i64]) -> Result<usize, TensorRtError> {
        let tensor = &self.tensors[place];
        let bytes = tensor.element.bytes().and_then(|element| {
            let sizes = shape.iter().map(|size| usize::try_from(*size).ok());
            sizes.into_iter().try_fold(element, |product, size| product.checked_mul(size?))
        });
        let bytes = bytes.filter(|bytes| *bytes <= LARGEST).ok_or_else(|| TensorRtError::ShapeMismatch {
            message: format!("`{}` of {:?} cannot be {shape:?}", tensor.name(), tensor.element),
        })?;
        if self.buffers[place].as_ref().is_none_or(|buffer| buffer.len() < bytes) {
            self.buffers[place] = Some(Buffer::new(&self.stream, bytes)?);
        }
        Ok(bytes)
    }

    fn set_address(&mut self, place: usize) -> Result<(), TensorRtError> {
        type SetAddress = unsafe extern "C" fn(Object, *const c_char, *mut c_void) -> u8;
        let Some(buffer) = self.buffers[place].as_mut() else { return Ok(()) };
        let name = &self.tensors[place].name;
        // SAFETY: a context has an implementation; the address is that of a buffer which holds the tensor's shape and outlives
        // the run, and which nobody reads or writes until the stream was waited for.
        let set = unsafe {
            let context = self.context.implementation();
            let set = method::<SetAddress>(context, self.library.slots.set_address);
            set(context, name.as_ptr(), buffer.lend())
        };
        if set == 0 {
            let message = format!("`{}` takes no address: {}", name.to_string_lossy(), logger::take_said());
            return Err(TensorRtError::ExecFailed { message });
        }
        Ok(())
    }
}

/// Returns the inputs and outputs of an engine; `None` if a name is not available.
///
/// # Safety
/// `engine` is the implementation of an engine of the slots' version.
unsafe fn tensors(slots: &Slots, engine: Object) -> Option<Vec<IoTensor>> {
    type Name = unsafe extern "C" fn(Object, c_int) -> *const c_char;
    type ByName = unsafe extern "C" fn(Object, *const c_char) -> c_int;
    // SAFETY: the caller's promise, here and below.
    let count = unsafe { method::<unsafe extern "C" fn(Object) -> c_int>(engine, slots.tensor_count)(engine) };
    let mut found = Vec::new();
    for at in 0..count {
        // SAFETY: gives a terminated name that lives as long as the engine, or null.
        let name = unsafe { method::<Name>(engine, slots.tensor_name)(engine, at) };
        super::object(name.cast_mut().cast())?;
        // SAFETY: as above.
        let name = unsafe { CStr::from_ptr(name) }.to_owned();
        // SAFETY: both take a name and give a number of an enumeration.
        let (mode, code) = unsafe {
            (
                method::<ByName>(engine, slots.tensor_mode)(engine, name.as_ptr()),
                method::<ByName>(engine, slots.tensor_type)(engine, name.as_ptr()),
            )
        };
        // SAFETY: gives a shape for a name.
        let shape = unsafe { shape_of(slots, engine, slots.tensor_shape, name.as_ptr()) }?;
        if mode == INPUT || mode == OUTPUT {
            found.push(IoTensor { name, input: mode == INPUT, element: IoElement::decode(code), shape });
        }
    }
    Some(found)
}
