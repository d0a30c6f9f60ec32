//! Log-mel spectra, as Whisper was trained with them.

use std::sync::Arc;

use realfft::{RealFftPlanner, RealToComplex};

/// Samples a second.
pub(super) const RATE: usize = 16_000;
/// Samples of a window, which is as long as its transform.
const WINDOW: usize = 400;
/// Samples from one frame to the next.
const HOP: usize = 160;
/// Bands of a frame.
pub(super) const BANDS: usize = 80;
/// Frames of a spectrum: 30 s.
pub(super) const FRAMES: usize = 3000;
/// Smallest energy that differs from none.
const MIN_ENERGY: f32 = 1e-10;
/// Number of powers of ten below the loudest band that are kept.
const DYNAMIC_RANGE: f32 = 8.0;

/// Slaney's mel scale: linear up to 1000 Hz with 200/3 Hz a mel, logarithmic above with 27 mels for a factor of 6.4.
const LINEAR: f64 = 200.0 / 3.0;
const KNEE: f64 = 1000.0;

/// Turns up to 30 s of sound into the spectrum that Whisper's encoder takes: a periodic Hann window of 400 samples every
/// 10 ms, energies of 80 bands on Slaney's mel scale, their decimal logarithms down to 8 below the largest, scaled.
///
/// As in OpenAI's `audio.py`; the windows stand around their times, and sound that is shorter is followed by silence.
pub(super) struct Spectrum {
    transform: Arc<dyn RealToComplex<f32>>,
    window: Vec<f32>,
    /// First spectral line of each band, and the weights from there on.
    bands: Vec<(usize, Vec<f32>)>,
}

impl Default for Spectrum {
    fn default() -> Self {
        let turn = std::f64::consts::TAU / WINDOW as f64;
        Self {
            transform: RealFftPlanner::new().plan_fft_forward(WINDOW),
            window: (0..WINDOW).map(|at| (0.5 - 0.5 * (turn * at as f64).cos()) as f32).collect(),
            bands: bands(),
        }
    }
}

impl Spectrum {
    /// [`BANDS`] rows of [`FRAMES`] numbers, one after the other. Samples behind the 30th second are left out.
    pub fn compute(&self, samples: &[f32]) -> Vec<f32> {
        let length = FRAMES * HOP;
        let samples = &samples[..samples.len().min(length)];
        let sample = |at: usize| samples.get(at).copied().filter(|sample| sample.is_finite()).unwrap_or(0.0);
        let mut frame = self.transform.make_input_vec();
        let mut lines = self.transform.make_output_vec();
        let mut scratch = self.transform.make_scratch_vec();
        let mut logs = vec![MIN_ENERGY.log10(); BANDS * FRAMES];
        for at in 0..FRAMES {
            // The sound is continued by its mirror image on both sides.
            let begin = (at * HOP) as isize - (WINDOW / 2) as isize;
            if begin >= samples.len() as isize {
                break;
            }
            for (offset, (to, weight)) in frame.iter_mut().zip(&self.window).enumerate() {
                let place = (begin + offset as isize).unsigned_abs();
                let place = if place < length { place } else { 2 * (length - 1) - place };
                *to = sample(place) * weight;
            }
            self.transform
                .process_with_scratch(&mut frame, &mut lines, &mut scratch)
                .expect("the buffers are those that the plan asked for");
            for (band, (first, weights)) in self.bands.iter().enumerate() {
                let energy: f32 = weights.iter().zip(&lines[*first..]).map(|(w, line)| w * line.norm_sqr()).sum();
                logs[band * FRAMES + at] = energy.max(MIN_ENERGY).log10();
            }
        }
        let least = logs.iter().copied().fold(f32::MIN, f32::max) - DYNAMIC_RANGE;
        logs.iter_mut().for_each(|log| *log = (log.max(least) + 4.0) / 4.0);
        logs
    }
}

fn hertz(mel: f64) -> f64 {
    let knee = KNEE / LINEAR;
    if mel < knee { mel * LINEAR } else { KNEE * ((mel - knee) * 6.4_f64.ln() / 27.0).exp() }
}

fn mel(hertz: f64) -> f64 {
    if hertz < KNEE { hertz / LINEAR } else { KNEE / LINEAR + (hertz / KNEE).ln() * 27.0 / 6.4_f64.ln() }
}

/// Triangles of the same area, with equal distances on the mel scale from 0 Hz to half the sample rate.
fn bands() -> Vec<(usize, Vec<f32>)> {
    let highest = mel(RATE as f64 / 2.0);
    let edge = |at: usize| hertz(highest * at as f64 / (BANDS + 1) as f64);
    let line = |at: usize| at as f64 * RATE as f64 / WINDOW as f64;
    (0..BANDS)
        .map(|band| {
            let (from, top, to) = (edge(band), edge(band + 1), edge(band + 2));
            let weight = |at: usize| ((line(at) - from) / (top - from)).min((to - line(at)) / (to - top)).max(0.0);
            let lines: Vec<usize> = (0..=WINDOW / 2).filter(|at| weight(*at) > 0.0).collect();
            let first = lines.first().copied().unwrap_or(0);
            (first, lines.iter().map(|at| (weight(*at) * 2.0 / (to - from)) as f32).collect())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What numpy makes of the same sound (drivers/scripts/whisper_to_onnx.py reference): band, frame and value of a few.
    const REFERENCE: &str = include_str!("reference.json");

    /// Two tones, one of which becomes higher, and a little noise, without a library's random numbers.
    fn sound() -> Vec<f32> {
        let mut state = 1_u32;
        (0..2 * RATE)
            .map(|at| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let time = at as f64 / RATE as f64;
                let tones = 0.3 * (std::f64::consts::TAU * 440.0 * time).sin()
                    + 0.2 * (std::f64::consts::TAU * (1000.0 + 500.0 * time) * time).sin();
                (tones + (f64::from(state >> 16) / 65_536.0 - 0.5) * 0.01) as f32
            })
            .collect()
    }

    #[test]
    fn a_spectrum_is_that_of_the_reference() {
        let spectrum = Spectrum::default().compute(&sound());
        let reference: Vec<(usize, usize, f32)> = serde_json::from_str(REFERENCE).unwrap();
        assert!(reference.len() > 1000);
        for (band, frame, value) in reference {
            let here = spectrum[band * FRAMES + frame];
            assert!((here - value).abs() < 1e-3, "band {band}, frame {frame}: {here} instead of {value}");
        }
    }

    #[test]
    fn silence_and_no_sound_at_all_are_the_floor_in_every_band() {
        let spectrum = Spectrum::default();
        let floor = (MIN_ENERGY.log10() + 4.0) / 4.0;
        for samples in [vec![], vec![0.0; RATE], vec![f32::NAN; RATE]] {
            let silent = spectrum.compute(&samples);
            assert_eq!(silent.len(), BANDS * FRAMES);
            assert!(silent.iter().all(|value| (value - floor).abs() < 1e-6));
        }
    }

    #[test]
    fn what_is_longer_than_half_a_minute_ends_there() {
        let spectrum = Spectrum::default();
        let long: Vec<f32> = sound().iter().copied().cycle().take(31 * RATE).collect();
        assert_eq!(spectrum.compute(&long), spectrum.compute(&long[..30 * RATE]));
    }
}
