use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use memory_core::ports::{AnswerExtractor, TextEmbedder};
use memory_core::{AbsentRole, Modality};
use parking_lot::{Condvar, Mutex};
use serde::Serialize;

use super::loading::{Loading, load_all, runs};
#[cfg(feature = "tensorrt")]
use super::tensorrt::TensorRtOptions;
use super::{
    Accelerator, Captioner, FaceDetector, ImageEmbedder, JointEncoder, ObjectDetector, Road, SceneClassifier,
    SoundClassifier, SpeechRecogniser, TextDetector, TextReader, VoiceActivity, VoiceEmbedder,
};
use crate::models::{InstalledModels, Role};

/// How encoders are loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncoderOptions {
    /// Accelerator of all roles, unless `roles` says otherwise. One that is named but missing is an error of the role.
    pub accelerator: Accelerator,
    /// Exceptions by role.
    pub roles: BTreeMap<Role, Accelerator>,
    /// Threads that one run may use, 1 or 2.
    pub threads: usize,
    /// How TensorRT is reached.
    pub road: Road,
    /// Whether a role waits for its engine instead of being served by the processor until it is built.
    pub wait_for_engines: bool,
    /// Options of TensorRT; without them, it is not looked for.
    #[cfg(feature = "tensorrt")]
    pub tensorrt: Option<TensorRtOptions>,
}

impl Default for EncoderOptions {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, |cores| cores.get().min(2));
        Self {
            accelerator: Accelerator::default(),
            roles: BTreeMap::new(),
            threads,
            road: Road::default(),
            wait_for_engines: false,
            #[cfg(feature = "tensorrt")]
            tensorrt: None,
        }
    }
}

/// Whether a role can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RoleState {
    /// The model is being loaded.
    Loading,
    /// The model works.
    Ready,
    /// No model is installed for it.
    Absent,
    /// A model is installed and cannot be used.
    Failed,
}

/// State of a role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RoleStatus {
    /// Whether it can be used.
    pub state: RoleState,
    /// The model that fills it or would.
    pub model: Option<String>,
    /// Backend, for instance `onnxruntime-cpu 1.31.1`.
    pub backend: Option<String>,
    /// Why it cannot be used; of a role that can, why it does not run on what was wanted, or not yet.
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
    shared: Arc<EncoderSlots>,
}

#[derive(Default)]
pub(super) struct EncoderSlots {
    pub(super) slots: Mutex<RoleSlots>,
    pub(super) settled: Condvar,
}

#[derive(Default)]
pub(super) struct RoleSlots {
    pub(super) status: BTreeMap<Role, RoleStatus>,
    pub(super) filled: Filled,
}

/// The encoders that are ready, by role.
#[derive(Clone, Default)]
#[allow(missing_docs, reason = "the roles are documented where they are listed")]
pub struct Filled {
    pub text_embedding: Option<Arc<dyn TextEmbedder>>,
    pub answer_extraction: Option<Arc<dyn AnswerExtractor>>,
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
    pub captions: Option<Arc<dyn Captioner>>,
}

impl Filled {
    fn has(&self, role: Role) -> bool {
        match role {
            Role::TextEmbedding => self.text_embedding.is_some(),
            Role::AnswerExtraction => self.answer_extraction.is_some(),
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
            Role::Captions => self.captions.is_some(),
        }
    }
}

impl RoleSlots {
    fn loading(&self) -> bool {
        self.status.values().any(|status| status.state == RoleState::Loading)
    }
}

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
            .spawn(move || load_all(&models, &options, loading))?;
        Ok(encoders)
    }

    /// Fills the role of captions, which no model of the catalogue does.
    pub fn set_captioner(&self, captioner: Arc<dyn Captioner>) {
        let mut slots = self.shared.slots.lock();
        let mut status = RoleStatus::new(RoleState::Ready, Some(captioner.model()), None);
        status.backend = Some(captioner.backend().to_owned());
        slots.status.insert(Role::Captions, status);
        slots.filled.captions = Some(captioner);
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
        Self {
            shared: Arc::new(EncoderSlots { slots: Mutex::new(RoleSlots { status, filled }), settled: Condvar::new() }),
        }
    }

    /// Blocks until every role is ready, absent or failed. A file played as fast as it goes must wait, or its begin would
    /// be perceived with fewer encoders than its end.
    pub fn wait_ready(&self) {
        let mut slots = self.shared.slots.lock();
        while slots.loading() {
            self.shared.settled.wait(&mut slots);
        }
    }

    /// Blocks until the roles are as `wanted`; `false` if `patience` ends first.
    pub fn wait_for(&self, patience: Duration, wanted: impl Fn(&BTreeMap<Role, RoleStatus>) -> bool) -> bool {
        let end = Instant::now() + patience;
        let mut slots = self.shared.slots.lock();
        while !wanted(&slots.status) {
            if self.shared.settled.wait_until(&mut slots, end).timed_out() {
                return wanted(&slots.status);
            }
        }
        true
    }

    /// Blocks for at most `time` until no role is being loaded; says whether none is.
    pub fn wait_ready_within(&self, time: Duration) -> bool {
        let mut slots = self.shared.slots.lock();
        if slots.loading() {
            self.shared.settled.wait_for(&mut slots, time);
        }
        !slots.loading()
    }

    /// Every role, those without a model too.
    pub fn status(&self) -> BTreeMap<Role, RoleStatus> {
        self.shared.slots.lock().status.clone()
    }

    /// φ, if it is ready.
    pub fn text_embedder(&self) -> Option<Arc<dyn TextEmbedder>> {
        self.shared.slots.lock().filled.text_embedding.clone()
    }

    /// The reader that extracts answers, if it is ready.
    pub fn answer_extractor(&self) -> Option<Arc<dyn AnswerExtractor>> {
        self.shared.slots.lock().filled.answer_extraction.clone()
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

    /// The roles that cannot be used now and would serve one of these senses, as `role: reason`. Every segment says it, so what to do
    /// about a role that has no model is left to [`absent_roles`](Self::absent_roles).
    pub fn degraded(&self, senses: &[Modality]) -> Vec<String> {
        let slots = self.shared.slots.lock();
        let serves = |role: &Role| role.modality().is_some_and(|modality| senses.contains(&modality));
        let missing = slots.status.iter().filter(|(role, status)| status.state != RoleState::Ready && serves(role));
        let told = |(role, status): (&Role, &RoleStatus)| match status.state {
            RoleState::Absent => format!("{}: no model", role.name()),
            _ => format!("{}: {}", role.name(), reason(status)),
        };
        missing.map(told).collect()
    }
}

fn reason(status: &RoleStatus) -> String {
    match (&status.reason, status.state) {
        (Some(reason), _) => reason.clone(),
        (None, RoleState::Loading) => "is being loaded".to_owned(),
        (None, _) => "is not there".to_owned(),
    }
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
}
