//! Log-mel spectra, as YAMNet was trained with them.

use std::collections::VecDeque;
use std::sync::Arc;

use realfft::num_complex::Complex;
use realfft::{RealFftPlanner, RealToComplex};

/// Sample rate of the spectra, in Hz.
pub(crate) const RATE: u32 = 16_000;
/// Samples of a frame, and from one frame to the next.
pub(crate) const FRAME: usize = 400;
pub(crate) const HOP: usize = 160;
/// Samples of a transform; a frame is padded with zeros.
const FFT: usize = 512;
/// Bands of a frame.
pub(crate) const BANDS: usize = 64;
/// Edges of the lowest and the highest band, in Hz.
const MIN_HZ: f64 = 125.0;
const MAX_HZ: f64 = 7500.0;
/// Offset before the logarithm, so that silence has one.
const LOG_OFFSET: f32 = 0.001;

/// Turns samples of 16 kHz into one row of [`BANDS`] log energies every 10 ms, as they come in.
///
/// A periodic Hann window of 400 samples, the magnitudes of a transform of 512, triangles on the HTK mel scale
/// (1127 ln(1 + f / 700)) and ln(x + 0.001): the front end of AudioSet's models (Hershey et al. 2017).
pub(crate) struct LogMel {
    transform: Arc<dyn RealToComplex<f32>>,
    window: Vec<f32>,
    /// First spectral line of each band, and the weights from there on.
    bands: Vec<(usize, Vec<f32>)>,
    pending: VecDeque<f32>,
    frame: Vec<f32>,
    spectrum: Vec<Complex<f32>>,
    scratch: Vec<Complex<f32>>,
}

impl Default for LogMel {
    fn default() -> Self {
        let transform = RealFftPlanner::new().plan_fft_forward(FFT);
        let turn = std::f64::consts::TAU / FRAME as f64;
        let (frame, spectrum, scratch) =
            (transform.make_input_vec(), transform.make_output_vec(), transform.make_scratch_vec());
        Self {
            window: (0..FRAME).map(|at| (0.5 - 0.5 * (turn * at as f64).cos()) as f32).collect(),
            bands: bands(),
            pending: VecDeque::with_capacity(2 * FRAME),
            transform,
            frame,
            spectrum,
            scratch,
        }
    }
}

impl LogMel {
    /// Takes samples and hands on every row that they complete.
    pub fn push(&mut self, samples: &[f32], mut row: impl FnMut(&[f32; BANDS])) {
        for block in samples.chunks(HOP) {
            self.pending.extend(block.iter().map(|sample| if sample.is_finite() { *sample } else { 0.0 }));
            while self.pending.len() >= FRAME {
                row(&self.row());
                self.pending.drain(..HOP);
            }
        }
    }

    /// Forgets what does not fill a frame: the stream broke off.
    pub fn restart(&mut self) {
        self.pending.clear();
    }

    fn row(&mut self) -> [f32; BANDS] {
        self.frame.fill(0.0);
        for ((to, sample), weight) in self.frame.iter_mut().zip(&self.pending).zip(&self.window) {
            *to = sample * weight;
        }
        self.transform
            .process_with_scratch(&mut self.frame, &mut self.spectrum, &mut self.scratch)
            .expect("the buffers are those that the plan asked for");
        let spectrum = &self.spectrum;
        std::array::from_fn(|band| {
            let (first, weights) = &self.bands[band];
            let energy: f32 = weights.iter().zip(&spectrum[*first..]).map(|(weight, line)| weight * line.norm()).sum();
            (energy + LOG_OFFSET).ln()
        })
    }
}

fn mel(hertz: f64) -> f64 {
    1127.0 * (hertz / 700.0).ln_1p()
}

fn bands() -> Vec<(usize, Vec<f32>)> {
    let (low, high) = (mel(MIN_HZ), mel(MAX_HZ));
    let edge = |at: usize| low + (high - low) * at as f64 / (BANDS + 1) as f64;
    let line = |at: usize| mel(at as f64 * f64::from(RATE) / FFT as f64);
    (0..BANDS)
        .map(|band| {
            let (from, top, to) = (edge(band), edge(band + 1), edge(band + 2));
            let weight = |at: usize| ((line(at) - from) / (top - from)).min((to - line(at)) / (to - top)).max(0.0);
            // The constant part of a signal is in no band.
            let lines: Vec<usize> = (1..=FFT / 2).filter(|at| weight(*at) > 0.0).collect();
            let first = lines.first().copied().unwrap_or(0);
            (first, lines.iter().map(|at| weight(*at) as f32).collect())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(samples: &[f32], block: usize) -> Vec<[f32; BANDS]> {
        let mut mel = LogMel::default();
        let mut rows = Vec::new();
        samples.chunks(block).for_each(|block| mel.push(block, |row| rows.push(*row)));
        rows
    }

    #[test]
    fn silence_is_the_logarithm_of_the_offset_in_every_band() {
        let rows = rows(&[0.0; 720], 720);
        assert_eq!(rows.len(), 3);
        assert!(rows.iter().flatten().all(|value| (value - 0.001_f32.ln()).abs() < 1e-6));
    }

    #[test]
    fn a_tone_is_loudest_in_its_band_and_blocks_of_any_size_give_the_same() {
        let tone: Vec<f32> = (0..4000).map(|at| (at as f32 * 1000.0 / 16000.0 * std::f32::consts::TAU).sin()).collect();
        let whole = rows(&tone, 4000);
        assert_eq!(whole, rows(&tone, 7));
        let loudest = (0..BANDS).max_by(|a, b| whole[5][*a].total_cmp(&whole[5][*b])).unwrap();
        let centre = mel(MIN_HZ) + (mel(MAX_HZ) - mel(MIN_HZ)) * (loudest + 1) as f64 / 65.0;
        assert!((centre - mel(1000.0)).abs() < (mel(MAX_HZ) - mel(MIN_HZ)) / 65.0);
    }

    #[test]
    fn numbers_that_are_none_are_silence() {
        let rows = rows(&[f32::NAN, f32::INFINITY, 0.0].repeat(200), 600);
        assert!(rows.iter().flatten().all(|value| value.is_finite()));
    }
}
