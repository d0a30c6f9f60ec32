//! An engine behind the encoders' tensors.

use ndarray::{ArrayD, ArrayViewD, IxDyn};

use super::TensorRtError;
use crate::encoders::ffi::nvinfer::{Execution, IoElement, IoTensor};
use crate::encoders::{BackendError, Graph, Tensor, TensorView};
use crate::models::{ElementType, ModelEntry, TensorSpec};

/// A loaded engine of a model.
pub(super) struct EngineGraph {
    execution: Execution,
    model: String,
    /// Place among the engine's tensors, in the order of the catalogue.
    inputs: Vec<usize>,
    outputs: Vec<(usize, ElementType)>,
}

impl EngineGraph {
    /// Checks the engine against what the catalogue promises.
    pub(super) fn new(execution: Execution, entry: &ModelEntry) -> Result<Self, BackendError> {
        let contract = |message: String| BackendError::Contract { model: entry.name.clone(), message };
        let tensors = execution.tensors();
        let inputs = entry
            .inputs
            .iter()
            .enumerate()
            .map(|(place, spec)| find(tensors, true, place, spec))
            .collect::<Result<Vec<_>, String>>()
            .map_err(contract)?;
        let outputs = entry
            .outputs
            .iter()
            .enumerate()
            .map(|(place, spec)| Ok((find(tensors, false, place, spec)?, spec.element)))
            .collect::<Result<Vec<_>, String>>()
            .map_err(contract)?;
        if let Some(other) = (0..tensors.len()).find(|at| tensors[*at].input && !inputs.contains(at)) {
            return Err(contract(format!("the engine also wants `{}`", tensors[other].name())));
        }
        Ok(Self { execution, model: entry.name.clone(), inputs, outputs })
    }

    fn failed(&self, message: impl ToString) -> BackendError {
        BackendError::Run { model: self.model.clone(), message: message.to_string() }
    }
}

/// The engine's tensor for one of the catalogue's. One without a name is the one at its place.
fn find(tensors: &[IoTensor], input: bool, place: usize, spec: &TensorSpec) -> Result<usize, String> {
    let side = if input { "input" } else { "output" };
    let mut of_side = (0..tensors.len()).filter(|at| tensors[*at].input == input);
    let found =
        if spec.name.is_empty() { of_side.nth(place) } else { of_side.find(|at| tensors[*at].name() == spec.name) };
    let found = found.ok_or_else(|| {
        let names: Vec<&str> = tensors.iter().filter(|tensor| tensor.input == input).map(IoTensor::name).collect();
        format!("the engine has no {side} `{}`, but {}", spec.name, names.join(", "))
    })?;
    let tensor = &tensors[found];
    let fits = matches!(
        (spec.element, tensor.element),
        (ElementType::F32, IoElement::F32)
            | (ElementType::U8, IoElement::U8)
            // TensorRT 8 has no 64-bit integers and makes 32-bit ones of them.
            | (ElementType::I64, IoElement::I64 | IoElement::I32)
    );
    if !fits {
        return Err(format!("{side} `{}` is {:?}, expected {:?}", tensor.name(), tensor.element, spec.element));
    }
    let agrees = tensor.shape.len() == spec.shape.len()
        && tensor.shape.iter().zip(&spec.shape).all(|(found, wanted)| found == wanted || found.min(wanted) < &0);
    if !agrees {
        return Err(format!("{side} `{}` has shape {:?}, expected {:?}", tensor.name(), tensor.shape, spec.shape));
    }
    Ok(found)
}

impl Graph for EngineGraph {
    fn run(&mut self, inputs: &[TensorView<'_>]) -> Result<Vec<Tensor>, BackendError> {
        if inputs.len() != self.inputs.len() {
            return Err(self.failed(format!("{} inputs instead of {}", inputs.len(), self.inputs.len())));
        }
        let shapes: Vec<(usize, Vec<i64>)> = self
            .inputs
            .iter()
            .zip(inputs)
            .map(|(place, view)| (*place, shape(view).iter().map(|size| *size as i64).collect()))
            .collect();
        let elements: Vec<IoElement> = self.execution.tensors().iter().map(|tensor| tensor.element).collect();
        let view = |place: usize| self.inputs.iter().position(|other| *other == place).map(|at| &inputs[at]);
        let wanted = |place: usize| self.outputs.iter().find(|(other, _)| *other == place).map(|(_, element)| *element);
        let mut found: Vec<(usize, Tensor)> = Vec::with_capacity(self.outputs.len());
        let outcome = self.execution.run(
            &shapes,
            &mut |place, bytes| view(place).map_or(Ok(()), |view| write(view, elements[place], bytes)),
            &mut |place, shape, bytes| {
                // What the catalogue does not name is not brought further.
                if let Some(element) = wanted(place) {
                    found.push((place, read(element, elements[place], shape, bytes)?));
                }
                Ok(())
            },
        );
        outcome.map_err(|error| BackendError::TensorRt { model: self.model.clone(), source: error })?;
        self.outputs
            .iter()
            .map(|(place, _)| {
                let at = found.iter().position(|(other, _)| other == place);
                at.map(|at| found.swap_remove(at).1).ok_or_else(|| self.failed("an output is missing"))
            })
            .collect()
    }
}

fn shape<'a>(view: &'a TensorView<'_>) -> &'a [usize] {
    match view {
        TensorView::F32(array) => array.shape(),
        TensorView::I64(array) => array.shape(),
        TensorView::U8(array) => array.shape(),
    }
}

fn write(view: &TensorView<'_>, element: IoElement, bytes: &mut [u8]) -> Result<(), TensorRtError> {
    let mismatch = |message: &str| TensorRtError::ShapeMismatch { message: message.to_owned() };
    match (view, element) {
        (TensorView::F32(array), IoElement::F32) => {
            copy(array, bytes.as_chunks_mut::<4>().0, |value| Ok(value.to_ne_bytes()))
        }
        (TensorView::I64(array), IoElement::I64) => {
            copy(array, bytes.as_chunks_mut::<8>().0, |value| Ok(value.to_ne_bytes()))
        }
        (TensorView::I64(array), IoElement::I32) => copy(array, bytes.as_chunks_mut::<4>().0, |value| {
            let value = i32::try_from(value).map_err(|_| mismatch("a number is too large for 32 bits"))?;
            Ok(value.to_ne_bytes())
        }),
        (TensorView::U8(array), IoElement::U8) => copy(array, bytes.as_chunks_mut::<1>().0, |value| Ok([value])),
        _ => Err(mismatch("the elements of an input are of another type than the engine's")),
    }
}

fn copy<T: Copy, const N: usize>(
    array: &ArrayViewD<'_, T>,
    to: &mut [[u8; N]],
    bytes: impl Fn(T) -> Result<[u8; N], TensorRtError>,
) -> Result<(), TensorRtError> {
    if to.len() != array.len() {
        return Err(TensorRtError::ShapeMismatch { message: "an input's buffer has another size".to_owned() });
    }
    for (to, value) in to.iter_mut().zip(array) {
        *to = bytes(*value)?;
    }
    Ok(())
}

fn read(wanted: ElementType, element: IoElement, shape: &[i64], bytes: &[u8]) -> Result<Tensor, TensorRtError> {
    let shape: Vec<usize> = shape.iter().map(|size| usize::try_from(*size).unwrap_or(0)).collect();
    let tensor = match (wanted, element) {
        (ElementType::F32, IoElement::F32) => {
            array(&shape, bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_ne_bytes(*bytes))).map(Tensor::F32)
        }
        (ElementType::I64, IoElement::I64) => {
            array(&shape, bytes.as_chunks::<8>().0.iter().map(|bytes| i64::from_ne_bytes(*bytes))).map(Tensor::I64)
        }
        (ElementType::I64, IoElement::I32) => {
            let values = bytes.as_chunks::<4>().0.iter().map(|bytes| i64::from(i32::from_ne_bytes(*bytes)));
            array(&shape, values).map(Tensor::I64)
        }
        (ElementType::U8, IoElement::U8) => array(&shape, bytes.iter().copied()).map(Tensor::U8),
        _ => None,
    };
    tensor
        .ok_or_else(|| TensorRtError::ShapeMismatch { message: format!("an output of shape {shape:?} cannot be read") })
}

fn array<T>(shape: &[usize], values: impl Iterator<Item = T>) -> Option<ArrayD<T>> {
    ArrayD::from_shape_vec(IxDyn(shape), values.collect()).ok()
}
