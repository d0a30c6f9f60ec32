//! ONNX Runtime, loaded from a path at run time.

mod library;
mod provider;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ort::environment::Environment;
use ort::logging::LogLevel;
use ort::session::{Session, SessionInputValue};
use ort::value::{TensorElementType, TensorRef, ValueType};
use parking_lot::Mutex;

pub use library::LibraryError;
#[cfg(feature = "tensorrt")]
pub(super) use library::check_header;
pub use provider::Provider;

use super::{Backend, BackendError, Graph, GraphTensors, Tensor, TensorView};
use crate::models::{ElementType, InstalledModel, ModelEntry, RuntimeLibrary, ShapeRange, TensorSpec};

/// ONNX graphs on the processor, or on what one of the library's providers drives.
#[derive(Debug, Clone)]
pub struct OnnxRuntime {
    environment: Environment,
    path: PathBuf,
    name: String,
    provider: Option<Provider>,
}

/// The library allows one environment per process and none after it was dropped, so the first one is kept for good.
static OPENED: Mutex<Option<OnnxRuntime>> = Mutex::new(None);

impl OnnxRuntime {
    /// Opens the library, after checking that it is ONNX Runtime, for this processor and new enough. Opening the same one
    /// again gives the same.
    ///
    /// # Errors
    /// See [`LibraryError`].
    pub fn open(library: &RuntimeLibrary) -> Result<Self, LibraryError> {
        let unreadable = |source| LibraryError::Unreadable { path: library.path.clone(), source };
        // Absolute, because `ort` would look for a relative one beside the program first.
        let path = std::path::absolute(&library.path).map_err(unreadable)?;
        let mut opened = OPENED.lock();
        if let Some(runtime) = opened.as_ref() {
            if runtime.path != path {
                return Err(LibraryError::AnotherIsLoaded { path, loaded: runtime.path.clone() });
            }
            return Ok(runtime.clone());
        }
        let version = library::check(&path, &library.minimum)?;
        let start = |message: String| LibraryError::Start { path: path.clone(), message };
        let environment = ort::init_from(&path)
            .map_err(|error| start(error.to_string()))?
            .with_name("engram")
            .with_telemetry(false)
            .with_logger(Arc::new(|level, category, _id, _location, message| log(level, category, message)))
            .build()
            .map_err(|error| start(error.to_string()))?;
        environment.set_log_level(LogLevel::Warning);
        let runtime =
            Self { environment, name: format!("onnxruntime-cpu {version}"), path: path.clone(), provider: None };
        *opened = Some(runtime.clone());
        Ok(runtime)
    }

    /// The same library with one of its accelerators; `None` if it was built without.
    pub fn with_provider(&self, provider: Provider) -> Option<Self> {
        let name = self.name.replacen("-cpu", &format!("-{}", provider.name()), 1);
        provider.is_built_in().then(|| Self { name, provider: Some(provider), ..self.clone() })
    }
}

/// Logs the messages of the library for debugging; the failure itself is returned by the call.
fn log(level: LogLevel, category: &str, message: &str) {
    match level {
        LogLevel::Fatal | LogLevel::Error | LogLevel::Warning => tracing::debug!(category, "onnxruntime: {message}"),
        LogLevel::Info | LogLevel::Verbose => tracing::trace!(category, "onnxruntime: {message}"),
    }
}

impl Backend for OnnxRuntime {
    fn name(&self) -> &str {
        &self.name
    }

    fn load(&self, model: &InstalledModel, threads: usize) -> Result<Box<dyn Graph>, BackendError> {
        let entry = &model.entry;
        let graph = entry.graph().and_then(|file| model.files.get(&file.part)).ok_or_else(|| BackendError::Load {
            model: entry.name.clone(),
            message: "the entry names no graph".to_owned(),
        })?;
        let session = self.session(graph, threads, &entry.shapes).map_err(|message| BackendError::Load {
            model: entry.name.clone(),
            message: format!("{}: {message}", graph.display()),
        })?;
        let (inputs, outputs) = check_contract(entry, &session)
            .map_err(|message| BackendError::Contract { model: entry.name.clone(), message })?;
        Ok(Box::new(OnnxGraph { session, model: entry.name.clone(), inputs, outputs }))
    }

    fn describe(&self, graph: &Path) -> Result<GraphTensors, BackendError> {
        let failed = |message: String| BackendError::Load { model: graph.display().to_string(), message };
        let session = self.session(graph, 1, &[]).map_err(failed)?;
        let specs = |outlets: &[ort::value::Outlet]| outlets.iter().filter_map(spec).collect();
        Ok(GraphTensors { inputs: specs(session.inputs()), outputs: specs(session.outputs()) })
    }
}

/// Converts the library's description of a tensor; `None` if its elements are of an unsupported type.
fn spec(outlet: &ort::value::Outlet) -> Option<TensorSpec> {
    let ValueType::Tensor { ty, shape, .. } = outlet.dtype() else { return None };
    let element = match ty {
        TensorElementType::Float32 => ElementType::F32,
        TensorElementType::Int64 => ElementType::I64,
        TensorElementType::Uint8 => ElementType::U8,
        _ => return None,
    };
    Some(TensorSpec { name: outlet.name().to_owned(), element, shape: shape.iter().copied().collect() })
}

impl OnnxRuntime {
    fn session(&self, graph: &Path, threads: usize, shapes: &[ShapeRange]) -> Result<Session, String> {
        let text = |error: ort::Error<ort::session::builder::SessionBuilder>| error.to_string();
        let providers = self.provider.as_ref().map(|provider| provider.dispatch(shapes)).unwrap_or_default();
        Session::builder(&self.environment)
            .map_err(|error| error.to_string())?
            .with_log_level(LogLevel::Warning)
            .map_err(text)?
            .with_intra_threads(threads.max(1))
            .map_err(text)?
            // A robot has better uses for a core than waiting busily for the next frame.
            .with_intra_op_spinning(false)
            .map_err(text)?
            // Shapes of text batches vary: a memory plan per shape would be kept for each.
            .with_memory_pattern(false)
            .map_err(text)?
            .with_execution_providers(providers)
            .map_err(text)?
            .commit_from_file(graph)
            .map_err(|error| error.to_string())
    }
}

struct OnnxGraph {
    session: Session,
    model: String,
    inputs: Vec<TensorSpec>,
    outputs: Vec<TensorSpec>,
}

impl Graph for OnnxGraph {
    fn run(&mut self, inputs: &[TensorView<'_>]) -> Result<Vec<Tensor>, BackendError> {
        let failed = |message: String| BackendError::Run { model: self.model.clone(), message };
        if inputs.len() != self.inputs.len() {
            return Err(failed(format!("{} inputs instead of {}", inputs.len(), self.inputs.len())));
        }
        let mut named: Vec<(Cow<'_, str>, SessionInputValue<'_>)> = Vec::with_capacity(inputs.len());
        for (spec, input) in self.inputs.iter().zip(inputs) {
            let value: SessionInputValue<'_> = match input {
                TensorView::F32(array) => TensorRef::from_array_view(array.view()).map(Into::into),
                TensorView::I64(array) => TensorRef::from_array_view(array.view()).map(Into::into),
                TensorView::U8(array) => TensorRef::from_array_view(array.view()).map(Into::into),
            }
            .map_err(|error| failed(error.to_string()))?;
            named.push((Cow::Borrowed(spec.name.as_str()), value));
        }
        let outputs = self
            .session
            .run(named)
            .map_err(|error| BackendError::Run { model: self.model.clone(), message: error.to_string() })?;
        self.outputs
            .iter()
            .map(|spec| {
                let failed = |message: String| BackendError::Run { model: self.model.clone(), message };
                let value = outputs.get(&spec.name).ok_or_else(|| failed(format!("no output `{}`", spec.name)))?;
                match spec.element {
                    ElementType::F32 => value.try_extract_array::<f32>().map(|array| Tensor::F32(array.to_owned())),
                    ElementType::I64 => value.try_extract_array::<i64>().map(|array| Tensor::I64(array.to_owned())),
                    ElementType::U8 => value.try_extract_array::<u8>().map(|array| Tensor::U8(array.to_owned())),
                }
                .map_err(|error| failed(error.to_string()))
            })
            .collect()
    }
}

/// The graph has the tensors that the catalogue names, with their types and every dimension that both fix. A tensor
/// without a name in the catalogue is the one at its place. Returns the tensors as the graph names them.
fn check_contract(entry: &ModelEntry, session: &Session) -> Result<(Vec<TensorSpec>, Vec<TensorSpec>), String> {
    let side = |side: &str, specs: &[TensorSpec], outlets: &[ort::value::Outlet]| {
        specs
            .iter()
            .enumerate()
            .map(|(place, spec)| check_tensor(side, place, spec, outlets))
            .collect::<Result<Vec<_>, String>>()
    };
    Ok((side("input", &entry.inputs, session.inputs())?, side("output", &entry.outputs, session.outputs())?))
}

fn check_tensor(
    side: &str,
    place: usize,
    spec: &TensorSpec,
    outlets: &[ort::value::Outlet],
) -> Result<TensorSpec, String> {
    let found = if spec.name.is_empty() {
        outlets.get(place)
    } else {
        outlets.iter().find(|outlet| outlet.name() == spec.name)
    };
    let Some(outlet) = found else {
        let names: Vec<_> = outlets.iter().map(ort::value::Outlet::name).collect();
        return Err(format!("it has no {side} `{}`, but {}", spec.name, names.join(", ")));
    };
    let expected = match spec.element {
        ElementType::F32 => TensorElementType::Float32,
        ElementType::I64 => TensorElementType::Int64,
        ElementType::U8 => TensorElementType::Uint8,
    };
    match outlet.dtype() {
        ValueType::Tensor { ty, shape, .. } if *ty == expected => {
            let agrees = shape.len() == spec.shape.len()
                && shape.iter().zip(&spec.shape).all(|(found, wanted)| found == wanted || found.min(wanted) < &0);
            if !agrees {
                return Err(format!("{side} `{}` has shape {shape:?}, expected {:?}", outlet.name(), spec.shape));
            }
            Ok(TensorSpec { name: outlet.name().to_owned(), ..spec.clone() })
        }
        other => Err(format!("{side} `{}` is {other:?}, expected {:?}", outlet.name(), spec.element)),
    }
}
