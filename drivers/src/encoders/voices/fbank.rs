//! Kaldi's filter bank, which speaker encoders were trained with.

use realfft::RealFftPlanner;

/// Samples of a frame of 25 ms, and from one to the next.
const FRAME: usize = 400;
const HOP: usize = 160;
const FFT: usize = 512;
/// Bands of a row.
pub(super) const BANDS: usize = 80;
const RATE: f64 = 16_000.0;
/// The edges of the lowest and the highest band, in Hz.
const LOWEST: f64 = 20.0;
const HIGHEST: f64 = 8000.0;
const PREEMPHASIS: f32 = 0.97;

/// Rows of 80 log energies every 10 ms, each band less its mean over the stretch; empty if there is not one frame.
///
/// `compute-fbank-feats` with its defaults but for the dither: no constant part, pre-emphasis of 0.97, Povey's window
/// (Hann to the power of 0.85), power spectrum, triangles on the mel scale.
pub(super) fn filter_bank(samples: &[f32]) -> Vec<f32> {
    let transform = RealFftPlanner::new().plan_fft_forward(FFT);
    let (mut frame, mut spectrum) = (transform.make_input_vec(), transform.make_output_vec());
    let turn = std::f64::consts::TAU / (FRAME - 1) as f64;
    let window: Vec<f32> = (0..FRAME).map(|at| (0.5 - 0.5 * (turn * at as f64).cos()).powf(0.85) as f32).collect();
    let bands = bands();
    let mut rows = Vec::new();
    for block in samples.windows(FRAME).step_by(HOP) {
        let finite = |at: usize| if block[at].is_finite() { block[at] } else { 0.0 };
        let mean = (0..FRAME).map(finite).sum::<f32>() / FRAME as f32;
        frame.fill(0.0);
        for at in 0..FRAME {
            let before = finite(at.saturating_sub(1)) - mean;
            frame[at] = (finite(at) - mean - PREEMPHASIS * before) * window[at];
        }
        transform.process(&mut frame, &mut spectrum).expect("the buffers are those that the plan asked for");
        for (first, weights) in &bands {
            let lines = &spectrum[*first..];
            let energy: f32 = weights.iter().zip(lines).map(|(weight, line)| weight * line.norm_sqr()).sum();
            rows.push(energy.max(f32::EPSILON).ln());
        }
    }
    let count = (rows.len() / BANDS).max(1) as f32;
    for band in 0..BANDS {
        let mean = rows.iter().skip(band).step_by(BANDS).sum::<f32>() / count;
        rows.iter_mut().skip(band).step_by(BANDS).for_each(|value| *value -= mean);
    }
    rows
}

fn mel(hertz: f64) -> f64 {
    1127.0 * (hertz / 700.0).ln_1p()
}

/// Returns the first spectral line of each band, and the weights from there on.
fn bands() -> Vec<(usize, Vec<f32>)> {
    let step = (mel(HIGHEST) - mel(LOWEST)) / (BANDS + 1) as f64;
    let line = |at: usize| mel(at as f64 * RATE / FFT as f64);
    (0..BANDS)
        .map(|band| {
            let from = mel(LOWEST) + step * band as f64;
            let weight = |at: usize| ((line(at) - from) / step).min((from + 2.0 * step - line(at)) / step).max(0.0);
            let lines: Vec<usize> = (0..FFT / 2).filter(|at| weight(*at) > 0.0).collect();
            (lines.first().copied().unwrap_or(0), lines.iter().map(|at| weight(*at) as f32).collect())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_rows_as_whole_frames_and_every_band_is_without_its_mean() {
        assert!(filter_bank(&[0.1; FRAME - 1]).is_empty());
        let samples: Vec<f32> = (0..16_000).map(|at| ((at * at % 997) as f32 / 997.0) - 0.5).collect();
        let rows = filter_bank(&samples);
        assert_eq!(rows.len() / BANDS, (16_000 - FRAME) / HOP + 1);
        for band in 0..BANDS {
            let sum: f32 = rows.iter().skip(band).step_by(BANDS).sum();
            assert!(sum.abs() < 0.05, "band {band}: {sum}");
        }
    }

    #[test]
    fn a_tone_that_begins_is_seen_in_its_own_band_most() {
        let tone = |at: usize| (at as f32 * 1000.0 / 16_000.0 * std::f32::consts::TAU).sin();
        let samples: Vec<f32> = (0..32_000).map(|at| if at < 16_000 { 0.0 } else { tone(at) }).collect();
        let rows = filter_bank(&samples);
        let last = &rows[rows.len() - BANDS..];
        let loudest = (0..BANDS).max_by(|a, b| last[*a].total_cmp(&last[*b])).unwrap();
        let centre = mel(LOWEST) + (mel(HIGHEST) - mel(LOWEST)) * (loudest + 1) as f64 / (BANDS + 1) as f64;
        assert!((centre - mel(1000.0)).abs() < 3.0 * (mel(HIGHEST) - mel(LOWEST)) / (BANDS + 1) as f64, "{loudest}");
    }
}
