use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use memory_core::ports::TextEmbedder;
use memory_core::{AbsentRole, Modality};
use parking_lot::{Condvar, Mutex};
use serde::{Deserialize, Serialize};

use super::{
    Backend, CtcTextReader, DbTextDetector, EncoderError, FaceDetector, FastestDet, ImageClassifier, ImageEmbedder,
    ImageEncoder, JointEncoder, ObjectDetector, OnnxRuntime, SceneClassifier, SentenceEncoder, SileroVad,
    SoundClassifier, SpeakerEncoder, SpectralVoice, SpeechRecogniser, TextDetector, TextReader, VoiceActivity,
    VoiceEmbedder, Yamnet, YuNet, speech, trials,
};
use crate::models::{Availability, InstalledModel, InstalledModels, ModelEntry, Role};

/// What runs an encoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
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

/// How encoders are loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncoderOptions {
    /// What runs them, unless `roles` says otherwise. One that is named and not there is an error of the role.
    pub accelerator: Accelerator,
    /// Exceptions by role.
    pub roles: BTreeMap<Role, Accelerator>,
    /// Threads that one run may use, 1 or 2.
    pub threads: usize,
}

impl Default for EncoderOptions {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, |cores| cores.get().min(2));
        Self { accelerator: Accelerator::default(), roles: BTreeMap::new(), threads }
    }
}

/// Whether a role can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RoleState {
    /// It is being loaded.
    Loading,
    /// It works.
    Ready,
    /// No model is installed for it.
    Absent,
    /// A model is installed and cannot be used.
    Failed,
}

/// What became of a role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RoleStatus {
    /// Whether it can be used.
    pub state: RoleState,
    /// The model that fills it or would.
    pub model: Option<String>,
    /// What runs it, for instance `onnxruntime-cpu 1.31.1`.
    pub backend: Option<String>,
    /// Why it cannot be used.
    pub reason: Option<String>,
}

impl RoleStatus {
    fn new(state: RoleState, model: Option<&str>, reason: Option<String>) -> Self {
        Self { state, model: model.map(str::to_owned), backend: None, reason }
    }
}

/// The encoders of this machine, by role. Cheap to clone; clones share them.
#[derive(Clone)]
pub struct Encoders {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    slots: Mutex<Slots>,
    settled: Condvar,
}

#[derive(Default)]
struct Slots {
    status: BTreeMap<Role, RoleStatus>,
    filled: Filled,
}

/// The encoders that are ready, by role.
#[derive(Clone, Default)]
#[allow(missing_docs, reason = "the roles are documented where they are listed")]
pub struct Filled {
    pub text_embedding: Option<Arc<dyn TextEmbedder>>,
    pub objects: Option<Arc<dyn ObjectDetector>>,
    pub voice_activity: Option<Arc<dyn VoiceActivity>>,
    pub sound_events: Option<Arc<dyn SoundClassifier>>,
    pub faces: Option<Arc<dyn FaceDetector>>,
    pub scene_classes: Option<Arc<dyn SceneClassifier>>,
    pub image_embedding: Option<Arc<dyn ImageEmbedder>>,
    /// Takes faces turned upright, 112 by 112.
    pub face_embedding: Option<Arc<dyn ImageEmbedder>>,
    pub voice_embedding: Option<Arc<dyn VoiceEmbedder>>,
    pub speech_recognition: Option<Arc<dyn SpeechRecogniser>>,
    pub joint: Option<Arc<JointEncoder>>,
    pub text_detection: Option<Arc<dyn TextDetector>>,
    pub text_recognition: Option<Arc<dyn TextReader>>,
}

impl Filled {
    fn has(&self, role: Role) -> bool {
        match role {
            Role::TextEmbedding => self.text_embedding.is_some(),
            Role::Objects => self.objects.is_some(),
            Role::VoiceActivity => self.voice_activity.is_some(),
            Role::SoundEvents => self.sound_events.is_some(),
            Role::Faces => self.faces.is_some(),
            Role::SceneClasses => self.scene_classes.is_some(),
            Role::ImageEmbedding => self.image_embedding.is_some(),
            Role::FaceEmbedding => self.face_embedding.is_some(),
            Role::VoiceEmbedding => self.voice_embedding.is_some(),
            Role::JointImageText => self.joint.is_some(),
            Role::TextDetection => self.text_detection.is_some(),
            Role::TextRecognition => self.text_recognition.is_some(),
            Role::SpeechRecognition => self.speech_recognition.is_some(),
            Role::Captions => false,
        }
    }
}

impl Slots {
    fn loading(&self) -> bool {
        self.status.values().any(|status| status.state == RoleState::Loading)
    }
}

/// Puts a loaded encoder into its slot.
type Install = Box<dyn FnOnce(&mut Filled) + Send>;

impl Encoders {
    /// Begins to load every role on a thread of its own and returns at once. A role that cannot be loaded is told by
    /// [`status`](Self::status) and keeps no other from being loaded.
    ///
    /// # Errors
    /// If no thread can be made.
    pub fn load(models: InstalledModels, options: EncoderOptions) -> std::io::Result<Self> {
        let encoders = Self { shared: Arc::default() };
        {
            let mut slots = encoders.shared.slots.lock();
            for role in Role::ALL {
                let status = match models.catalogue().model(role).map(|entry| (entry.name.as_str(), runs(entry))) {
                    Some((model, Ok(()))) => RoleStatus::new(RoleState::Loading, Some(model), None),
                    // Nobody is told to pull a model that nothing here can run.
                    Some((_, Err(reason))) => RoleStatus::new(RoleState::Absent, None, Some(reason)),
                    None => RoleStatus::new(RoleState::Absent, None, Some("no model fills this role".to_owned())),
                };
                slots.status.insert(role, status);
            }
        }
        let loading = Loading(Arc::clone(&encoders.shared));
        std::thread::Builder::new()
            .name("load-encoders".to_owned())
            .spawn(move || load_all(&models, &options, &loading))?;
        Ok(encoders)
    }

    /// Encoders that are there already, for tests and other front ends; the other roles are absent.
    pub fn ready(filled: Filled) -> Self {
        let status = Role::ALL
            .into_iter()
            .map(|role| {
                let there = filled.has(role);
                let reason = (!there).then(|| "no model fills this role".to_owned());
                let state = if there { RoleState::Ready } else { RoleState::Absent };
                (role, RoleStatus::new(state, None, reason))
            })
            .collect();
        Self { shared: Arc::new(Shared { slots: Mutex::new(Slots { status, filled }), settled: Condvar::new() }) }
    }

    /// Blocks until every role is ready, absent or failed. A file played as fast as it goes must wait, or its begin would
    /// be perceived with fewer encoders than its end.
    pub fn wait_ready(&self) {
        let mut slots = self.shared.slots.lock();
        while slots.loading() {
            self.shared.settled.wait(&mut slots);
        }
    }

    /// Every role, those without a model too.
    pub fn status(&self) -> BTreeMap<Role, RoleStatus> {
        self.shared.slots.lock().status.clone()
    }

    /// φ, if it is ready.
    pub fn text_embedder(&self) -> Option<Arc<dyn TextEmbedder>> {
        self.shared.slots.lock().filled.text_embedding.clone()
    }

    /// The texts' side of the space that pictures and texts share, if it is ready.
    pub fn picture_texts(&self) -> Option<Arc<dyn TextEmbedder>> {
        self.shared.slots.lock().filled.joint.as_ref().map(|joint| joint.text())
    }

    /// Every encoder that is ready.
    pub fn filled(&self) -> Filled {
        self.shared.slots.lock().filled.clone()
    }

    /// The roles that cannot be used now, for the memory's answers.
    pub fn absent_roles(&self) -> Vec<AbsentRole> {
        let slots = self.shared.slots.lock();
        let absent = slots.status.iter().filter(|(_, status)| status.state != RoleState::Ready);
        absent
            .map(|(role, status)| AbsentRole {
                role: role.name().to_owned(),
                reason: reason(status),
                modality: role.modality(),
            })
            .collect()
    }

    /// The roles that cannot be used now and would serve one of these senses, as `role: reason`.
    pub fn degraded(&self, senses: &[Modality]) -> Vec<String> {
        let serves = |role: &AbsentRole| role.modality.is_some_and(|modality| senses.contains(&modality));
        let absent = self.absent_roles();
        absent.iter().filter(|role| serves(role)).map(|role| format!("{}: {}", role.role, role.reason)).collect()
    }
}

fn reason(status: &RoleStatus) -> String {
    match (&status.reason, status.state) {
        (Some(reason), _) => reason.clone(),
        (None, RoleState::Loading) => "is being loaded".to_owned(),
        (None, _) => "is not there".to_owned(),
    }
}

/// The loading thread's hold on the slots. What is still loading when it ends, however it ends, has failed: nobody waits
/// for a thread that is gone.
struct Loading(Arc<Shared>);

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
    fn settle(&self, role: Role, outcome: Result<(Install, &str), (RoleState, String)>) {
        let mut slots = self.0.slots.lock();
        let model = slots.status.get(&role).and_then(|status| status.model.clone());
        let mut status = RoleStatus { state: RoleState::Ready, model, backend: None, reason: None };
        match outcome {
            Ok((install, backend)) => {
                tracing::info!(%role, model = status.model, backend, "encoder ready");
                status.backend = Some(backend.to_owned());
                install(&mut slots.filled);
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
}

fn load_all(models: &InstalledModels, options: &EncoderOptions, loading: &Loading) {
    let backend = match models.runtime_library() {
        Availability::Found(library) => {
            OnnxRuntime::open(&library).map_err(|error| (RoleState::Failed, error.to_string()))
        }
        Availability::Absent(reason) => Err((RoleState::Absent, reason)),
        Availability::Damaged(reason) => Err((RoleState::Failed, reason)),
    };
    // The small ones first: they are what a camera that is running already waits for.
    let mut roles: Vec<Role> = Role::ALL.into_iter().filter(|role| *role != Role::TextEmbedding).collect();
    roles.push(Role::TextEmbedding);
    for role in roles {
        if models.catalogue().model(role).is_none_or(|entry| runs(entry).is_err()) {
            continue;
        }
        let accelerator = options.roles.get(&role).copied().unwrap_or(options.accelerator);
        let outcome = match models.model(role) {
            Availability::Absent(reason) => Err((RoleState::Absent, reason)),
            Availability::Damaged(reason) => Err((RoleState::Failed, reason)),
            Availability::Found(installed) if installed.entry.runtime == BUILTIN => built_in(&installed)
                .map(|install| (install, "built in"))
                .map_err(|message| (RoleState::Failed, message)),
            Availability::Found(installed) if installed.entry.runtime == speech::WHISPER => {
                recogniser(&installed, options)
                    .map(|install| (install, "whisper.cpp"))
                    .map_err(|error| (RoleState::Failed, error.to_string()))
            }
            Availability::Found(installed) => match &backend {
                Err(reason) => Err(reason.clone()),
                Ok(backend) => check_accelerator(accelerator)
                    .and_then(|()| load_role(role, &installed, backend, options).map_err(|error| error.to_string()))
                    .map(|install| (install, backend.name()))
                    .map_err(|message| (RoleState::Failed, message)),
            },
        };
        loading.settle(role, outcome);
    }
}

/// Something that was asked for and is not there is an error, not a slow success.
fn check_accelerator(accelerator: Accelerator) -> Result<(), String> {
    match accelerator {
        Accelerator::Auto | Accelerator::Cpu => Ok(()),
        Accelerator::Cuda | Accelerator::TensorRt => Err(format!(
            "the backend `{accelerator}` was asked for and this version of Engram runs encoders on the CPU only: set it to \
             `auto` or `cpu`"
        )),
    }
}

/// What `runtime` says of what is part of the program.
const BUILTIN: &str = "builtin";

/// Whether this program can run a model at all.
fn runs(entry: &ModelEntry) -> Result<(), String> {
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
        Role::Objects => {
            let encoder = Arc::new(FastestDet::load(installed, backend, one)?);
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
        other @ (Role::SpeechRecognition | Role::Captions) => {
            let message = format!("this version of Engram has no encoder for the role `{other}`");
            return Err(EncoderError::Entry(message));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::Catalogue;

    fn nothing_installed(options: EncoderOptions) -> (tempfile::TempDir, Encoders) {
        let directory = tempfile::tempdir().unwrap();
        let models = InstalledModels::new(Catalogue::load(None).unwrap(), Some(directory.path()), None);
        let encoders = Encoders::load(models, options).unwrap();
        encoders.wait_ready();
        (directory, encoders)
    }

    #[test]
    fn without_models_every_role_but_what_is_built_in_is_absent_and_says_why() {
        let (_directory, encoders) = nothing_installed(EncoderOptions::default());
        let status = encoders.status();
        assert_eq!(status.len(), Role::ALL.len());
        for (role, status) in status {
            if role == Role::VoiceEmbedding {
                assert_eq!(status.state, RoleState::Ready, "it is built in");
                continue;
            }
            assert_eq!(status.state, RoleState::Absent, "{role}");
            assert!(status.reason.is_some(), "{role}");
        }
        assert!(encoders.text_embedder().is_none());
        assert_eq!(encoders.absent_roles().len(), Role::ALL.len() - 1);
    }

    #[test]
    fn what_is_degraded_depends_on_the_senses_that_were_there() {
        let (_directory, encoders) = nothing_installed(EncoderOptions::default());
        let heard = encoders.degraded(&[Modality::Audio]);
        assert!(heard.iter().any(|line| line.starts_with("voice activity: ")), "{heard:?}");
        assert!(heard.iter().all(|line| !line.starts_with("objects: ")), "{heard:?}");
        assert!(encoders.degraded(&[]).is_empty());
    }

    #[test]
    fn a_loader_that_dies_leaves_nobody_waiting() {
        let encoders = Encoders { shared: Arc::default() };
        let status = RoleStatus::new(RoleState::Loading, Some("m"), None);
        encoders.shared.slots.lock().status.insert(Role::Objects, status);
        let loading = Loading(Arc::clone(&encoders.shared));
        let loader = std::thread::spawn(move || {
            let _held = loading;
            panic!("a bug in the loader");
        });
        assert!(loader.join().is_err());
        encoders.wait_ready();
        assert_eq!(encoders.status()[&Role::Objects].state, RoleState::Failed);
    }

    #[test]
    fn an_accelerator_that_was_asked_for_and_is_not_there_is_an_error() {
        for accelerator in [Accelerator::Cuda, Accelerator::TensorRt] {
            let error = check_accelerator(accelerator).unwrap_err();
            assert!(error.contains(&accelerator.to_string()), "{error}");
        }
        assert!(check_accelerator(Accelerator::Auto).is_ok());
    }
}
