//! What is heard besides speech.

mod detector;
mod mel;

use std::sync::Arc;
use std::time::Duration;

use ndarray::ArrayView3;
use parking_lot::Mutex;

pub use detector::{SoundDetector, SoundInterval};
pub(crate) use mel::{BANDS, HOP, LogMel, RATE};

use super::vector::{Space, probabilities};
use super::{Backend, Encoder, EncoderError, Graph, TensorView};
use crate::models::InstalledModel;

/// Rows of a patch: 0.96 s.
pub(crate) const PATCH: usize = 96;
/// Rows from one patch to the next: each is half in the one before.
pub(crate) const PATCH_HOP: usize = 48;

/// Output of a model for 0.96 s of sound.
#[derive(Debug, Clone, PartialEq)]
pub struct SoundScores {
    /// One score per class, 0 to 1, each on its own.
    pub classes: Vec<f32>,
    /// Embedding of the sound, unit L2 norm; `None` for silence without direction.
    pub embedding: Option<Vec<f32>>,
}

/// Thresholds at which a class counts as heard.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SoundThresholds {
    /// One that never reaches this score is not told.
    pub tell: f32,
    /// A sound begins at or above this score.
    pub begin: f32,
    /// Score down to which a sound continues.
    pub keep: f32,
    /// Shorter gaps do not end it.
    pub gap: Duration,
}

/// Names sounds: a patch is 96 rows of 64 log-mel energies.
pub trait SoundClassifier: Encoder<[f32], SoundScores> {
    /// Class names in the order of the scores.
    fn labels(&self) -> &[Arc<str>];

    /// Returns the thresholds at which a class counts as heard, calibrated for this model.
    fn thresholds(&self) -> SoundThresholds;

    /// Name of the space of the embeddings.
    fn space(&self) -> &str;
}

/// YAMNet behind its spectra (Plakal & Ellis 2019): 521 classes of AudioSet and 1,024 pooled features.
pub struct Yamnet {
    graph: Mutex<Box<dyn Graph>>,
    model: String,
    labels: Vec<Arc<str>>,
    thresholds: SoundThresholds,
    space: Space,
}

impl Yamnet {
    /// Loads the graph and the names of its classes. The entry's outputs are the scores, then the features.
    ///
    /// # Errors
    /// If a file cannot be loaded, or the entry's shapes, labels and parameters do not fit each other.
    pub fn load(installed: &InstalledModel, backend: &dyn Backend, threads: usize) -> Result<Self, EncoderError> {
        let entry = &installed.entry;
        let refuse = |message: String| EncoderError::Entry(format!("{}: {message}", entry.name));
        let labels = installed.labels().map_err(EncoderError::Entry)?;
        let [input] = entry.inputs.as_slice() else { return Err(refuse("expected one input".to_owned())) };
        let [scores, _features] = entry.outputs.as_slice() else {
            return Err(refuse("expected two outputs: scores and features".to_owned()));
        };
        if input.shape != [1, PATCH as i64, BANDS as i64] {
            return Err(refuse(format!("expected an input [1, {PATCH}, {BANDS}], not {:?}", input.shape)));
        }
        if scores.shape != [1, labels.len() as i64] {
            return Err(refuse(format!("{} labels for scores of shape {:?}", labels.len(), scores.shape)));
        }
        let parameter = |name: &str| entry.parameter(name).map_err(EncoderError::Entry);
        Ok(Self {
            graph: Mutex::new(backend.load(installed, threads)?),
            model: entry.name.clone(),
            labels,
            thresholds: SoundThresholds {
                tell: parameter("tell")?,
                begin: parameter("begin")?,
                keep: parameter("keep")?,
                gap: Duration::from_secs_f32(parameter("gap_ms")?.clamp(0.0, 60_000.0) / 1000.0),
            },
            space: Space::from_entry(entry)?,
        })
    }
}

impl Encoder<[f32], SoundScores> for Yamnet {
    fn model(&self) -> &str {
        &self.model
    }

    fn encode(&self, patch: &[f32]) -> Result<SoundScores, EncoderError> {
        let view = ArrayView3::from_shape((1, PATCH, BANDS), patch)
            .map_err(|error| EncoderError::input(&self.model, error))?;
        let outputs = self.graph.lock().run(&[TensorView::F32(view.into_dyn())])?;
        let mut outputs = outputs.into_iter();
        let classes: Vec<f32> = probabilities(&self.model, outputs.next())?.into_iter().collect();
        if classes.len() != self.labels.len() {
            let message = format!("{} classes, not {}", classes.len(), self.labels.len());
            return Err(EncoderError::output(&self.model, message));
        }
        // The features are not negative: of digital silence there may be none at all.
        let embedding = self.space.read(&self.model, outputs.next()).ok();
        Ok(SoundScores { classes, embedding })
    }
}

impl SoundClassifier for Yamnet {
    fn labels(&self) -> &[Arc<str>] {
        &self.labels
    }

    fn thresholds(&self) -> SoundThresholds {
        self.thresholds
    }

    fn space(&self) -> &str {
        &self.space.name
    }
}
