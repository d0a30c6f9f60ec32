//! When somebody speaks.

mod speech;

use ndarray::{ArrayView1, ArrayView2, ArrayView3, ArrayViewD};
use parking_lot::Mutex;

pub use speech::{SpeechDetector, SpeechInterval, SpeechThresholds};

use super::{Backend, Encoder, EncoderError, Graph, TensorView};
use crate::models::InstalledModel;

/// Samples a second.
pub(crate) const RATE: u32 = 16_000;
/// New samples of a window.
pub(crate) const WINDOW: usize = 512;
/// Samples of the window before that come first.
pub(crate) const CONTEXT: usize = 64;
const STATE: usize = 2 * 128;

/// State of the model from the windows before; all zero at the begin of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct VoiceState(Box<[f32; STATE]>);

impl Default for VoiceState {
    fn default() -> Self {
        Self(Box::new([0.0; STATE]))
    }
}

/// 32 ms of sound with what the model needs to place it.
#[derive(Debug, Clone)]
pub struct VoiceWindow {
    /// 64 samples of the window before and 512 new ones, 16 kHz, -1 to 1.
    pub samples: [f32; CONTEXT + WINDOW],
    /// State that the window before left.
    pub state: VoiceState,
}

/// Output of the model for a window.
#[derive(Debug, Clone, PartialEq)]
pub struct VoiceStep {
    /// That somebody speaks in it, 0 to 1.
    pub probability: f32,
    /// State for the next window.
    pub state: VoiceState,
}

/// Says of one window after the other whether somebody speaks.
pub trait VoiceActivity: Encoder<VoiceWindow, VoiceStep> {
    /// Returns the thresholds at which speech begins and ends, calibrated for this model.
    fn thresholds(&self) -> SpeechThresholds;
}

/// Silero VAD for 16 kHz.
pub struct SileroVad {
    graph: Mutex<Box<dyn Graph>>,
    model: String,
    thresholds: SpeechThresholds,
}

impl SileroVad {
    /// Loads the graph.
    ///
    /// # Errors
    /// If it cannot be loaded, or the entry lacks a threshold.
    pub fn load(installed: &InstalledModel, backend: &dyn Backend, threads: usize) -> Result<Self, EncoderError> {
        let thresholds = SpeechThresholds::from_entry(&installed.entry).map_err(EncoderError::Entry)?;
        let graph = Mutex::new(backend.load(installed, threads)?);
        Ok(Self { graph, model: installed.entry.name.clone(), thresholds })
    }
}

impl Encoder<VoiceWindow, VoiceStep> for SileroVad {
    fn model(&self) -> &str {
        &self.model
    }

    fn encode(&self, window: &VoiceWindow) -> Result<VoiceStep, EncoderError> {
        let misread = |message: &str| EncoderError::output(&self.model, message);
        let shape = "the lengths are constants of this module";
        let samples = ArrayView2::from_shape((1, CONTEXT + WINDOW), &window.samples).expect(shape);
        let state = ArrayView3::from_shape((2, 1, STATE / 2), &window.state.0[..]).expect(shape);
        let rate = [i64::from(RATE)];
        let rate: ArrayViewD<'_, i64> = ArrayView1::from(&rate).into_shape_with_order(()).expect(shape).into_dyn();
        let inputs = [TensorView::F32(samples.into_dyn()), TensorView::F32(state.into_dyn()), TensorView::I64(rate)];
        let mut outputs = self.graph.lock().run(&inputs)?.into_iter().filter_map(super::Tensor::into_f32);
        let probability = outputs.next().and_then(|output| output.first().copied());
        let probability = probability.ok_or_else(|| misread("no probability"))?;
        let state = outputs.next().ok_or_else(|| misread("no state"))?;
        let state: Vec<f32> = state.iter().copied().collect();
        let state = <Box<[f32; STATE]>>::try_from(state).map_err(|_| misread("the state has another size"))?;
        Ok(VoiceStep { probability, state: VoiceState(state) })
    }
}

impl VoiceActivity for SileroVad {
    fn thresholds(&self) -> SpeechThresholds {
        self.thresholds
    }
}
