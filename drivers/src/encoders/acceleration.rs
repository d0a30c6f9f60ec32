//! Chooses the backend of a role: the processor, or an accelerator.
//!
//! `auto` uses TensorRT: ONNX Runtime's own provider if the installed library has it, otherwise TensorRT directly. If
//! neither works, it uses the processor. A library that is installed but does not work is reported. A backend that is
//! named is used, or its role fails.

use std::cell::OnceCell;
use std::fmt;
#[cfg(feature = "tensorrt")]
use std::sync::Arc;

#[cfg(feature = "tensorrt")]
use super::tensorrt::{Precision, TensorRt};
use super::{EncoderOptions, OnnxRuntime, Provider};
use crate::models::{ModelEntry, Role};

/// Backend of an encoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Accelerator {
    /// The best there is; said in `health`.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// An NVIDIA GPU through ONNX Runtime's CUDA provider.
    Cuda,
    /// An NVIDIA GPU or DLA through TensorRT.
    TensorRt,
}

impl fmt::Display for Accelerator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Cpu => "cpu",
            Self::Cuda => "cuda",
            Self::TensorRt => "tensorrt",
        })
    }
}

/// How TensorRT is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Road {
    /// Through ONNX Runtime if the installed library can, else natively.
    #[default]
    Auto,
    /// Through ONNX Runtime only.
    OnnxRuntime,
    /// Natively only.
    Native,
}

/// A backend that can run a model.
pub(super) enum ModelBackend {
    /// A session of ONNX Runtime.
    OnnxRuntime(OnnxRuntime),
    /// An engine of our own.
    #[cfg(feature = "tensorrt")]
    Native(Arc<TensorRt>),
}

/// The backends to try for a role, best first.
pub(super) struct BackendChoices {
    pub backends: Vec<ModelBackend>,
    /// Whether the processor serves where nothing of it works.
    pub processor: bool,
    /// Why something better is not among them.
    pub note: Option<String>,
}

/// Knows what the machine has. TensorRT is looked for once, when a role may want it.
pub(super) struct Accelerators<'a> {
    options: &'a EncoderOptions,
    runtime: Option<&'a OnnxRuntime>,
    #[cfg(feature = "tensorrt")]
    native: OnceCell<Result<Arc<TensorRt>, super::tensorrt::TensorRtError>>,
    #[cfg(not(feature = "tensorrt"))]
    native: OnceCell<()>,
}

impl<'a> Accelerators<'a> {
    pub(super) fn new(options: &'a EncoderOptions, runtime: Option<&'a OnnxRuntime>) -> Self {
        Self { options, runtime, native: OnceCell::new() }
    }

    /// Returns the backends for a role.
    ///
    /// # Errors
    /// If what was named for it cannot be had; the text says what to do.
    pub(super) fn backends_for(&self, role: Role, entry: &ModelEntry) -> Result<BackendChoices, String> {
        let of_role = self.options.roles.get(&role).copied();
        let wanted = of_role.unwrap_or(self.options.accelerator);
        let processor = |note| BackendChoices { backends: Vec::new(), processor: true, note };
        match wanted {
            Accelerator::Cpu => Ok(processor(None)),
            Accelerator::Cuda => {
                let provider = Provider::Cuda { device: self.device() };
                let cuda = self.runtime.and_then(|runtime| runtime.with_provider(provider)).ok_or_else(|| {
                    refuse(wanted, "the installed ONNX Runtime has no CUDA: name one that has in models.onnxruntime")
                })?;
                Ok(BackendChoices { backends: vec![ModelBackend::OnnxRuntime(cuda)], processor: false, note: None })
            }
            Accelerator::Auto | Accelerator::TensorRt if !entry.tensorrt => {
                let why = format!("the catalogue says that TensorRT cannot build {}", entry.name);
                match (wanted, of_role) {
                    (Accelerator::TensorRt, Some(_)) => Err(refuse(wanted, &why)),
                    (Accelerator::TensorRt, None) => Ok(processor(Some(why))),
                    _ => Ok(processor(None)),
                }
            }
            Accelerator::Auto | Accelerator::TensorRt => {
                let named = wanted == Accelerator::TensorRt;
                let mut backends: Vec<ModelBackend> =
                    self.through_runtime().map(ModelBackend::OnnxRuntime).into_iter().collect();
                let missing = self.natively(&mut backends, named);
                if named && backends.is_empty() {
                    let why = missing.unwrap_or_else(|| "the installed ONNX Runtime has no TensorRT".to_owned());
                    return Err(refuse(wanted, &why));
                }
                let note = missing.filter(|_| backends.is_empty()).map(|why| format!("TensorRT is not used: {why}"));
                Ok(BackendChoices { backends, processor: !named, note })
            }
        }
    }
}

fn refuse(wanted: Accelerator, why: &str) -> String {
    format!("the backend `{wanted}` was asked for and cannot be used: {why}; or set it to `auto` or `cpu`")
}

#[cfg(feature = "tensorrt")]
impl Accelerators<'_> {
    fn device(&self) -> i32 {
        self.options.tensorrt.as_ref().map_or(0, |options| options.device)
    }

    fn through_runtime(&self) -> Option<OnnxRuntime> {
        let options = self.options.tensorrt.as_ref().filter(|_| self.options.road != Road::Native)?;
        let cache = options.cache.join("onnxruntime");
        let provider = Provider::TensorRt {
            device: options.device,
            fp16: options.precision != Precision::Fp32,
            int8: options.precision == Precision::Int8,
            dla: options.dla.and_then(|core| u32::try_from(core).ok()),
            workspace: usize::try_from(options.workspace_mib << 20).unwrap_or(usize::MAX),
            cache: cache.clone(),
        };
        let runtime = self.runtime?.with_provider(provider)?;
        if let Err(error) = std::fs::create_dir_all(&cache) {
            tracing::warn!(directory = %cache.display(), %error, "engines cannot be cached; they are built at every start");
        }
        Some(runtime)
    }

    /// Adds the native road, or says why not; on a machine that has nothing of it there is nothing to say unless it was
    /// `named`.
    fn natively(&self, backends: &mut Vec<ModelBackend>, named: bool) -> Option<String> {
        let options = self.options.tensorrt.as_ref().filter(|_| self.options.road != Road::OnnxRuntime)?;
        match self.native.get_or_init(|| TensorRt::open(options.clone()).map(Arc::new)) {
            Ok(native) => {
                backends.push(ModelBackend::Native(Arc::clone(native)));
                None
            }
            Err(error) if error.is_absent() && !named => None,
            Err(error) => Some(error.to_string()),
        }
    }
}

#[cfg(not(feature = "tensorrt"))]
impl Accelerators<'_> {
    fn device(&self) -> i32 {
        0
    }

    fn through_runtime(&self) -> Option<OnnxRuntime> {
        None
    }

    fn natively(&self, _: &mut Vec<ModelBackend>, named: bool) -> Option<String> {
        self.native.get_or_init(|| ());
        named.then(|| "this program was built without the feature `tensorrt`".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::Catalogue;

    fn backends_for(options: &EncoderOptions, role: Role) -> Result<BackendChoices, String> {
        let catalogue = Catalogue::load(None).unwrap();
        Accelerators::new(options, None).backends_for(role, catalogue.model(role).unwrap())
    }

    #[test]
    fn an_accelerator_that_was_asked_for_and_is_not_there_is_an_error() {
        for accelerator in [Accelerator::Cuda, Accelerator::TensorRt] {
            let options = EncoderOptions { accelerator, ..EncoderOptions::default() };
            let error = backends_for(&options, Role::Objects).err().unwrap();
            assert!(error.contains(&format!("`{accelerator}`")) && error.contains("`cpu`"), "{error}");
        }
    }

    #[test]
    fn auto_on_a_machine_without_anything_is_the_processor_without_a_word() {
        let backends = backends_for(&EncoderOptions::default(), Role::Objects).unwrap();
        assert!(backends.backends.is_empty() && backends.processor);
    }

    #[test]
    fn a_model_that_tensorrt_cannot_build_runs_on_the_processor_unless_it_was_named_for_the_role() {
        let mut options = EncoderOptions { accelerator: Accelerator::TensorRt, ..EncoderOptions::default() };
        let chosen = backends_for(&options, Role::SceneClasses).unwrap();
        assert!(chosen.backends.is_empty() && chosen.processor);
        assert!(chosen.note.unwrap().contains("MobileNetV2"));
        options.roles.insert(Role::SceneClasses, Accelerator::TensorRt);
        assert!(backends_for(&options, Role::SceneClasses).err().unwrap().contains("MobileNetV2"));
        options.roles.insert(Role::SceneClasses, Accelerator::Cpu);
        assert!(backends_for(&options, Role::SceneClasses).unwrap().note.is_none());
    }
}
