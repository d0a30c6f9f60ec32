//! Loads every role, each on its best backend.

use std::sync::Arc;

use super::acceleration::{Accelerators, ModelBackend};
use super::roles::{EncoderSlots, Filled, RoleState, RoleStatus};
#[cfg(feature = "tensorrt")]
use super::tensorrt::TensorRt;
#[cfg(feature = "tensorrt")]
use super::warming::{Awaited, Warming};
use super::{
    Backend, CrossEncoder, CtcTextReader, DbTextDetector, EncoderError, EncoderOptions, ImageClassifier, ImageEncoder,
    JointEncoder, OnnxRuntime, OnnxWhisper, SentenceEncoder, SileroVad, SpeakerEncoder, SpectralVoice, Yamnet, YuNet,
    load_detector, speech, trials,
};
use crate::models::{Availability, InstalledModel, InstalledModels, ModelEntry, Role};

/// Puts a loaded encoder into its slot.
type Install = Box<dyn FnOnce(&mut Filled) + Send>;

/// The loading thread's hold on the slots. What is still loading when it ends, however it ends, has failed: nobody waits
/// for a thread that is gone.
pub(super) struct Loading(pub(super) Arc<EncoderSlots>);

impl Drop for Loading {
    fn drop(&mut self) {
        let mut slots = self.0.slots.lock();
        for status in slots.status.values_mut().filter(|status| status.state == RoleState::Loading) {
            status.state = RoleState::Failed;
            status.reason = Some("loading broke off".to_owned());
        }
        drop(slots);
        self.0.settled.notify_all();
    }
}

impl Loading {
    fn settle(&self, role: Role, outcome: Result<Loaded, (RoleState, String)>) {
        let mut slots = self.0.slots.lock();
        let model = slots.status.get(&role).and_then(|status| status.model.clone());
        let mut status = RoleStatus { state: RoleState::Ready, model, backend: None, reason: None };
        match outcome {
            Ok(loaded) => {
                tracing::info!(%role, model = status.model, backend = loaded.backend, "encoder ready");
                if let Some(note) = &loaded.note {
                    tracing::warn!(%role, note, "not on the wanted backend, or not yet");
                }
                (status.backend, status.reason) = (Some(loaded.backend), loaded.note);
                (loaded.install)(&mut slots.filled);
            }
            Err((state, reason)) => {
                tracing::warn!(%role, model = status.model, reason, "encoder not available");
                (status.state, status.reason) = (state, Some(reason));
            }
        }
        slots.status.insert(role, status);
        drop(slots);
        self.0.settled.notify_all();
    }

    /// Changes the state of a role that was settled before.
    #[cfg(feature = "tensorrt")]
    fn amend(&self, role: Role, change: impl FnOnce(&mut RoleStatus)) {
        if let Some(status) = self.0.slots.lock().status.get_mut(&role) {
            change(status);
        }
        self.0.settled.notify_all();
    }
}

/// An encoder that can be used.
struct Loaded {
    install: Install,
    backend: String,
    note: Option<String>,
}

impl Loaded {
    fn on(backend: &str, install: Install) -> Self {
        Self { install, backend: backend.to_owned(), note: None }
    }
}

/// A role that the processor serves until TensorRT has built its engines.
#[cfg(feature = "tensorrt")]
struct Successor {
    role: Role,
    native: Arc<TensorRt>,
    graphs: Vec<Awaited>,
    /// Whether the processor goes on where no engine can be had.
    processor: bool,
}

#[cfg(not(feature = "tensorrt"))]
type Successor = std::convert::Infallible;

pub(super) fn load_all(models: &InstalledModels, options: &EncoderOptions, loading: Loading) {
    let runtime = match models.runtime_library() {
        Availability::Found(library) => {
            OnnxRuntime::open(&library).map_err(|error| (RoleState::Failed, error.to_string()))
        }
        Availability::Absent(reason) => Err((RoleState::Absent, reason)),
        Availability::Damaged(reason) => Err((RoleState::Failed, reason)),
    };
    let accelerators = Accelerators::new(options, runtime.as_ref().ok());
    let mut successors = Vec::new();
    // The small ones first: they are what a camera that is running already waits for.
    let mut roles: Vec<Role> = Role::ALL.into_iter().filter(|role| *role != Role::TextEmbedding).collect();
    roles.push(Role::TextEmbedding);
    for role in roles {
        if models.catalogue().model(role).is_none_or(|entry| runs(entry).is_err()) {
            continue;
        }
        let failed = |message: String| (RoleState::Failed, message);
        let outcome = match models.model(role) {
            Availability::Absent(reason) => Err((RoleState::Absent, reason)),
            Availability::Damaged(reason) => Err((RoleState::Failed, reason)),
            Availability::Found(installed) if installed.entry.runtime == BUILTIN => {
                built_in(&installed).map(|install| Loaded::on("built in", install)).map_err(failed)
            }
            Availability::Found(installed) if installed.entry.runtime == speech::WHISPER => {
                recogniser(&installed, options)
                    .map(|install| Loaded::on("whisper.cpp", install))
                    .map_err(|error| failed(error.to_string()))
            }
            Availability::Found(installed) => {
                load_best(role, &installed, &accelerators, &runtime, options, &mut successors)
            }
        };
        loading.settle(role, outcome);
    }
    #[cfg(feature = "tensorrt")]
    for successor in successors {
        succeed(&successor, &loading);
    }
    drop(loading);
}

/// Loads a model on the best that there is for it.
fn load_best(
    role: Role,
    installed: &InstalledModel,
    accelerators: &Accelerators<'_>,
    runtime: &Result<OnnxRuntime, (RoleState, String)>,
    options: &EncoderOptions,
    successors: &mut Vec<Successor>,
) -> Result<Loaded, (RoleState, String)> {
    let failed = |message: String| (RoleState::Failed, message);
    let chosen = accelerators.backends_for(role, &installed.entry).map_err(failed)?;
    let mut problems: Vec<String> = chosen.note.into_iter().collect();
    for way in chosen.backends {
        let outcome = match &way {
            ModelBackend::OnnxRuntime(provider) => {
                load_role(role, installed, provider, options).map(|install| Loaded::on(provider.name(), install))
            }
            #[cfg(feature = "tensorrt")]
            ModelBackend::Native(native) => match runtime {
                Ok(processor) if !options.wait_for_engines && !native.is_built(installed).unwrap_or(true) => {
                    let warming = Warming::new(processor);
                    load_role(role, installed, &warming, options).map(|install| {
                        let graphs = warming.into_awaited();
                        successors.push(Successor {
                            role,
                            native: Arc::clone(native),
                            graphs,
                            processor: chosen.processor,
                        });
                        let note = Some(format!("the processor serves until {} has built its engine", native.name()));
                        Loaded { note, ..Loaded::on(processor.name(), install) }
                    })
                }
                _ => load_role(role, installed, &**native, options).map(|install| Loaded::on(native.name(), install)),
            },
        };
        match outcome {
            Ok(loaded) => return Ok(loaded),
            Err(error) => problems.push(error.to_string()),
        }
    }
    #[cfg(not(feature = "tensorrt"))]
    let _: &mut Vec<Successor> = successors;
    if !chosen.processor {
        return Err(failed(problems.join("; ")));
    }
    let runtime = runtime.as_ref().map_err(Clone::clone)?;
    let install = load_role(role, installed, runtime, options).map_err(|error| failed(error.to_string()))?;
    let note = (!problems.is_empty()).then(|| problems.join("; "));
    Ok(Loaded { note, ..Loaded::on(runtime.name(), install) })
}

/// Builds the engines of a role and lets them take over.
#[cfg(feature = "tensorrt")]
fn succeed(successor: &Successor, loading: &Loading) {
    let Successor { role, native, graphs, processor } = successor;
    for graph in graphs {
        let mut told = String::new();
        let built = native.load_engine(&graph.model, false, &mut |progress| {
            let stage = progress.to_string();
            if stage != told {
                told = stage;
                let note = format!("the processor serves while {} builds its engine ({told})", native.name());
                loading.amend(*role, |status| status.reason = Some(note));
            }
        });
        match built {
            Ok(engine) => graph.succeed(engine),
            Err(error) => {
                let reason = error.to_string();
                tracing::error!(%role, reason, "no engine could be built");
                if !processor {
                    graphs.iter().for_each(|graph| graph.fail(&reason));
                }
                loading.amend(*role, |status| {
                    if !processor {
                        status.state = RoleState::Failed;
                    }
                    let told = if *processor { format!("the processor serves: {reason}") } else { reason };
                    status.reason = Some(told);
                });
                return;
            }
        }
    }
    tracing::info!(%role, backend = native.name(), "the engine takes over");
    loading.amend(*role, |status| (status.backend, status.reason) = (Some(native.name().to_owned()), None));
}

/// Value of `runtime` for encoders that are part of the program.
const BUILTIN: &str = "builtin";

/// Whether this program can run a model at all.
///
/// # Errors
/// The text says what it takes.
pub fn runs(entry: &ModelEntry) -> Result<(), String> {
    if entry.runtime == speech::WHISPER { speech::available() } else { Ok(()) }
}

fn recogniser(installed: &InstalledModel, options: &EncoderOptions) -> Result<Install, EncoderError> {
    if installed.entry.role != Role::SpeechRecognition {
        return Err(EncoderError::Entry(format!("whisper.cpp fills no role `{}`", installed.entry.role)));
    }
    let encoder = speech::load(installed, options.threads)?;
    Ok(Box::new(move |filled| filled.speech_recognition = Some(encoder)))
}

fn built_in(installed: &InstalledModel) -> Result<Install, String> {
    match installed.entry.role {
        Role::VoiceEmbedding => {
            let encoder = Arc::new(SpectralVoice::new(&installed.entry).map_err(|error| error.to_string())?);
            Ok(Box::new(move |filled| filled.voice_embedding = Some(encoder)))
        }
        other => Err(format!("nothing is built in for the role `{other}`")),
    }
}

/// Loads one model and runs its trials: whether it would serve, and what it says. `backend` runs the graphs of the runtime
/// `onnx`; others need none.
///
/// # Errors
/// If it cannot be loaded, or what it gives makes no sense.
pub fn try_model(installed: &InstalledModel, backend: Option<&dyn Backend>) -> Result<Vec<String>, String> {
    let options = EncoderOptions::default();
    let install = match (installed.entry.runtime.as_str(), backend) {
        (speech::WHISPER, _) => recogniser(installed, &options),
        (_, Some(backend)) => load_role(installed.entry.role, installed, backend, &options),
        (runtime, None) => Err(EncoderError::Entry(format!("nothing here runs models of the runtime `{runtime}`"))),
    };
    let install = install.map_err(|error| error.to_string())?;
    let mut filled = Filled::default();
    install(&mut filled);
    trials(&filled).iter().map(super::Trial::run).collect()
}

fn load_role(
    role: Role,
    installed: &InstalledModel,
    backend: &dyn Backend,
    options: &EncoderOptions,
) -> Result<Install, EncoderError> {
    // Only texts come in batches. A window of 32 ms is over before a second thread has woken up, and a picture a second
    // is no reason to take a second core from the robot.
    let one = 1;
    Ok(match role {
        Role::TextEmbedding => {
            let encoder = Arc::new(SentenceEncoder::load(installed, backend, options.threads)?);
            Box::new(move |filled| filled.text_embedding = Some(encoder))
        }
        Role::AnswerExtraction => {
            let encoder = Arc::new(CrossEncoder::load(installed, backend, options.threads)?);
            Box::new(move |filled| filled.answer_extraction = Some(encoder))
        }
        Role::Objects => {
            let encoder = load_detector(installed, backend, one)?;
            Box::new(move |filled| filled.objects = Some(encoder))
        }
        Role::VoiceActivity => {
            let encoder = Arc::new(SileroVad::load(installed, backend, one)?);
            Box::new(move |filled| filled.voice_activity = Some(encoder))
        }
        Role::SoundEvents => {
            let encoder = Arc::new(Yamnet::load(installed, backend, one)?);
            Box::new(move |filled| filled.sound_events = Some(encoder))
        }
        Role::Faces => {
            let encoder = Arc::new(YuNet::load(installed, backend, one)?);
            Box::new(move |filled| filled.faces = Some(encoder))
        }
        Role::SceneClasses => {
            let encoder = Arc::new(ImageClassifier::load(installed, backend, one)?);
            Box::new(move |filled| filled.scene_classes = Some(encoder))
        }
        Role::ImageEmbedding => {
            let encoder = Arc::new(ImageEncoder::load(installed, backend, one)?);
            Box::new(move |filled| filled.image_embedding = Some(encoder))
        }
        Role::FaceEmbedding => {
            let encoder = Arc::new(ImageEncoder::load(installed, backend, one)?);
            Box::new(move |filled| filled.face_embedding = Some(encoder))
        }
        Role::VoiceEmbedding => {
            let encoder = Arc::new(SpeakerEncoder::load(installed, backend, one)?);
            Box::new(move |filled| filled.voice_embedding = Some(encoder))
        }
        Role::JointImageText => {
            let encoder = Arc::new(JointEncoder::load(installed, backend, options.threads)?);
            Box::new(move |filled| filled.joint = Some(encoder))
        }
        Role::TextDetection => {
            let encoder = Arc::new(DbTextDetector::load(installed, backend, one)?);
            Box::new(move |filled| filled.text_detection = Some(encoder))
        }
        Role::TextRecognition => {
            let encoder = Arc::new(CtcTextReader::load(installed, backend, one)?);
            Box::new(move |filled| filled.text_recognition = Some(encoder))
        }
        Role::SpeechRecognition => {
            let encoder = Arc::new(OnnxWhisper::load(installed, backend, one)?);
            Box::new(move |filled| filled.speech_recognition = Some(encoder))
        }
        other @ Role::Captions => {
            let message = format!("this version of Engram has no encoder for the role `{other}`");
            return Err(EncoderError::Entry(message));
        }
    })
}
