//! Whose voice it is.

mod fbank;
mod spectral;

use std::time::Duration;

use ndarray::ArrayView3;
use parking_lot::Mutex;

pub use spectral::SpectralVoice;

use super::vector::Space;
use super::{Backend, Encoder, EncoderError, Graph, TensorView, VectorEncoder};
use crate::models::{InstalledModel, ModelEntry};
use fbank::{BANDS, filter_bank};

/// Thresholds at which voices can be told apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VoiceThresholds {
    /// Shorter speech says too little of a voice.
    pub shortest: Duration,
    /// Two stretches less alike than this are two speakers: cosine.
    pub same: f32,
}

impl VoiceThresholds {
    fn from_entry(entry: &ModelEntry) -> Result<Self, EncoderError> {
        let parameter = |name: &str| entry.parameter(name).map_err(EncoderError::Entry);
        let shortest = Duration::from_secs_f32(parameter("shortest_ms")?.clamp(0.0, 60_000.0) / 1000.0);
        Ok(Self { shortest, same: parameter("same")? })
    }
}

/// Places stretches of speech, 16 kHz in -1 to 1, in a space where one speaker's lie together.
pub trait VoiceEmbedder: VectorEncoder<[f32]> {
    /// Calibrated for this model.
    fn thresholds(&self) -> VoiceThresholds;
}

/// A speaker encoder over Kaldi's filter bank, such as ERes2Net (Chen et al. 2023): rows of 80 log energies, each band
/// without its mean, `[1, T, 80]` in and one vector out.
pub struct SpeakerEncoder {
    graph: Mutex<Box<dyn Graph>>,
    model: String,
    space: Space,
    thresholds: VoiceThresholds,
}

impl SpeakerEncoder {
    /// Loads the graph.
    ///
    /// # Errors
    /// If it cannot be loaded, or the entry lacks a space, its dimensions or the thresholds.
    pub fn load(installed: &InstalledModel, backend: &dyn Backend, threads: usize) -> Result<Self, EncoderError> {
        let entry = &installed.entry;
        let fits =
            matches!(entry.inputs.as_slice(), [input] if input.shape.len() == 3 && input.shape[2] == BANDS as i64);
        if !fits {
            return Err(EncoderError::Entry(format!("{}: expected one input [1, T, {BANDS}]", entry.name)));
        }
        Ok(Self {
            graph: Mutex::new(backend.load(installed, threads)?),
            model: entry.name.clone(),
            space: Space::from_entry(entry)?,
            thresholds: VoiceThresholds::from_entry(entry)?,
        })
    }
}

impl Encoder<[f32], Vec<f32>> for SpeakerEncoder {
    fn model(&self) -> &str {
        &self.model
    }

    fn encode(&self, samples: &[f32]) -> Result<Vec<f32>, EncoderError> {
        let rows = filter_bank(samples);
        if rows.is_empty() {
            return Err(EncoderError::input(&self.model, "less sound than one frame"));
        }
        let view = ArrayView3::from_shape((1, rows.len() / BANDS, BANDS), &rows)
            .map_err(|error| EncoderError::input(&self.model, error))?;
        let output = self.graph.lock().run(&[TensorView::F32(view.into_dyn())])?.into_iter().next();
        self.space.read(&self.model, output)
    }
}

impl VectorEncoder<[f32]> for SpeakerEncoder {
    fn space(&self) -> &str {
        &self.space.name
    }

    fn dimensions(&self) -> usize {
        self.space.dimensions
    }
}

impl VoiceEmbedder for SpeakerEncoder {
    fn thresholds(&self) -> VoiceThresholds {
        self.thresholds
    }
}
