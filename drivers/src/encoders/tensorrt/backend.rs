use std::path::Path;
use std::sync::Arc;

use super::cache::EngineCache;
use super::child::{self, BuildStage};
use super::graph::EngineGraph;
use super::key::{EngineKey, Platform};
use super::work::{Request, Task};
use super::{TensorRtError, TensorRtOptions, library};
use crate::encoders::ffi::cuda::Device;
use crate::encoders::ffi::nvinfer::{Execution, Library};
use crate::encoders::{Backend, BackendError, Graph, GraphTensors};
use crate::models::{InstalledModel, ModelEntry, ShapeRange, file_digest};

/// TensorRT on one GPU of this machine, which has shown that it can be trusted.
pub struct TensorRt {
    device: Arc<Device>,
    library: Arc<Library>,
    platform: Platform,
    options: TensorRtOptions,
    cache: EngineCache,
    name: String,
}

/// One engine: whose, and for what.
struct WantedEngine<'a> {
    graph: &'a Path,
    shapes: &'a [ShapeRange],
    key: String,
    file: String,
}

impl TensorRt {
    /// Looks for the driver, a device and the library. The first time that a library meets a device, or either has changed, a
    /// child process builds a tiny network with it, runs it and compares: until that has passed, nothing of the library is
    /// called in this process but the function that tells its version.
    ///
    /// # Errors
    /// By stage; see [`TensorRtError`].
    pub fn open(options: TensorRtOptions) -> Result<Self, TensorRtError> {
        let (device, library) = library::open(&options)?;
        let platform = Platform::from_device(&library, device.facts());
        let cache = EngineCache::new(options.cache.clone(), options.cache_mib << 20);
        let name =
            format!("{} on {}", library.version().to_string().replace("TensorRT", "tensorrt"), device.facts().name);
        let backend = Self { device, library, platform, options, cache, name };
        backend.check_self()?;
        Ok(backend)
    }

    /// The library's name for people: version and file.
    pub fn describe_library(&self) -> String {
        format!("{} ({})", self.library.version(), self.library.file().display())
    }

    /// Returns a description of the platform, for people.
    pub fn describe_device(&self) -> String {
        let facts = self.device.facts();
        let (major, minor) = facts.capability;
        let shared = if facts.integrated { ", memory shared with the processor" } else { "" };
        let driver = format!("{}.{}", facts.driver / 1000, facts.driver % 1000 / 10);
        format!("{} (compute capability {major}.{minor}, driver for CUDA {driver}{shared})", facts.name)
    }

    fn check_self(&self) -> Result<(), TensorRtError> {
        let name = format!("self-check-{}", &self.platform.digest()[..16]);
        let passed = self.cache.path(&name, "passed");
        if passed.exists() {
            return Ok(());
        }
        let _locked = self.cache.lock(&name)?;
        if passed.exists() {
            return Ok(());
        }
        tracing::info!(library = self.describe_library(), "TensorRT's self-check runs");
        self.child(Task::SelfCheck, &mut |_| {}).map_err(|error| match error {
            // Whatever kept the tiny network from running says that nothing larger will.
            TensorRtError::BuildFailed { message } | TensorRtError::ExecFailed { message } => {
                TensorRtError::SelfCheck { message }
            }
            other => other,
        })?;
        self.cache
            .write(&passed, &[self.describe_library().as_bytes(), b"\n", self.describe_device().as_bytes(), b"\n"])
    }

    fn child(&self, task: Task, progress: &mut dyn FnMut(&BuildStage)) -> Result<(), TensorRtError> {
        let options = &self.options;
        let request = Request {
            // What was opened here, whatever the loader would find there.
            library: self.library.file().to_path_buf(),
            parser: options.parser.clone(),
            driver: options.driver.clone(),
            allow_rtx: options.allow_rtx,
            device: options.device,
            task,
        };
        child::run(&options.builder, &request, options.patience, progress)
    }

    fn wanted<'a>(&self, graph: &'a Path, shapes: &'a [ShapeRange]) -> Result<WantedEngine<'a>, TensorRtError> {
        let (digest, _) = file_digest(graph)
            .map_err(|error| TensorRtError::Cache { path: graph.to_path_buf(), message: error.to_string() })?;
        let key = EngineKey::new(&self.platform, digest, &self.options, shapes);
        Ok(WantedEngine { graph, shapes, file: key.file_name(graph), key: key.text() })
    }

    /// Whether the engine of a model is there, so that loading it takes no time.
    ///
    /// # Errors
    /// If the model's graph cannot be read.
    pub fn is_built(&self, model: &InstalledModel) -> Result<bool, BackendError> {
        let wanted = self.wanted(graph(model)?, &model.entry.shapes).map_err(|error| failed(&model.entry, error))?;
        Ok(self.cache.has(&wanted.file, &wanted.key))
    }

    /// Loads the engine of a model; builds it first if it is not there, damaged, or not taken by the library any more.
    /// `fresh`: builds it in any case. `progress` is called at least every second while it builds.
    ///
    /// # Errors
    /// If it can be neither loaded nor built, or is not what the catalogue describes.
    pub fn load_engine(
        &self,
        model: &InstalledModel,
        fresh: bool,
        progress: &mut dyn FnMut(&BuildStage),
    ) -> Result<Box<dyn Graph>, BackendError> {
        let path = graph(model)?;
        let execution = self
            .wanted(path, &model.entry.shapes)
            .and_then(|wanted| self.execution(&wanted, fresh, progress))
            .map_err(|error| failed(&model.entry, error))?;
        Ok(Box::new(EngineGraph::new(execution, &model.entry)?))
    }

    fn execution(
        &self,
        wanted: &WantedEngine<'_>,
        fresh: bool,
        progress: &mut dyn FnMut(&BuildStage),
    ) -> Result<Execution, TensorRtError> {
        let _locked = self.cache.lock(&wanted.file)?;
        let kept = if fresh { None } else { self.cache.plan(&wanted.file, &wanted.key) };
        if let Some(plan) = kept {
            match Execution::load(&self.library, &self.device, &plan) {
                Err(TensorRtError::PlanRejected { message }) => {
                    tracing::warn!(graph = %wanted.graph.display(), message, "TensorRT rejects a cached engine; it is built again");
                    self.cache.remove(&wanted.file);
                }
                settled => return settled,
            }
        }
        let plan = self.build(wanted, progress)?;
        // Once: what was just built and is not taken would not be taken the next time either.
        let execution = Execution::load(&self.library, &self.device, &plan)?;
        self.cache.keep(&wanted.file, &wanted.key, &plan)?;
        Ok(execution)
    }

    fn build(
        &self,
        wanted: &WantedEngine<'_>,
        progress: &mut dyn FnMut(&BuildStage),
    ) -> Result<Vec<u8>, TensorRtError> {
        let raw = self.cache.path(&wanted.file, "plan");
        let timing = self.cache.path(&format!("timing-{}", &self.platform.digest()[..16]), "cache");
        let task = Task::Build {
            graph: wanted.graph.to_path_buf(),
            profiles: wanted.shapes.to_vec(),
            precision: self.options.precision,
            dla: self.options.dla,
            workspace_mib: self.options.workspace_mib,
            timing,
            plan: raw.clone(),
        };
        tracing::info!(graph = %wanted.graph.display(), "TensorRT builds an engine; on a small board this takes minutes");
        let built = self.child(task, progress);
        let plan = built.and_then(|()| {
            std::fs::read(&raw).map_err(|error| TensorRtError::Cache { path: raw.clone(), message: error.to_string() })
        });
        // Whatever became of it: only whole engines stay.
        drop(std::fs::remove_file(&raw));
        plan
    }
}

fn graph(model: &InstalledModel) -> Result<&Path, BackendError> {
    let file = model.entry.graph().and_then(|file| model.files.get(&file.part));
    file.map(std::path::PathBuf::as_path).ok_or_else(|| BackendError::Load {
        model: model.entry.name.clone(),
        message: "the entry names no graph".to_owned(),
    })
}

fn failed(entry: &ModelEntry, source: TensorRtError) -> BackendError {
    BackendError::TensorRt { model: entry.name.clone(), source }
}

impl Backend for TensorRt {
    fn name(&self) -> &str {
        &self.name
    }

    fn load(&self, model: &InstalledModel, _threads: usize) -> Result<Box<dyn Graph>, BackendError> {
        self.load_engine(model, false, &mut |_| {})
    }

    fn describe(&self, graph: &Path) -> Result<GraphTensors, BackendError> {
        Err(BackendError::Load {
            model: graph.display().to_string(),
            message: "TensorRT knows a graph only once it has built it: ONNX Runtime describes graphs".to_owned(),
        })
    }
}
