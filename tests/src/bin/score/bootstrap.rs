//! Bootstrap intervals of a mean (Efron 1979, percentile method).

use engram_tests::SeededRandom;
use serde::Serialize;

const RESAMPLES: usize = 4000;

/// A mean with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// How many values.
    pub n: usize,
    /// Their mean.
    pub mean: f64,
    /// 2.5th percentile of the resampled means.
    pub low: f64,
    /// 97.5th percentile.
    pub high: f64,
}

/// The mean of `values` with its interval; `None` without values. The same values give the same interval.
pub fn interval(values: &[f64]) -> Option<Interval> {
    let n = values.len();
    if n == 0 {
        return None;
    }
    let mut random = SeededRandom::seeded(2026);
    let bound = u64::try_from(n).ok()?;
    let mean_of = |sum: f64| sum / n as f64;
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| mean_of((0..n).map(|_| values[usize::try_from(random.below(bound)).unwrap_or(0)]).sum()))
        .collect();
    means.sort_by(f64::total_cmp);
    let at = |share: f64| means[((RESAMPLES - 1) as f64 * share).round() as usize];
    Some(Interval { n, mean: mean_of(values.iter().sum()), low: at(0.025), high: at(0.975) })
}

impl std::fmt::Display for Interval {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:5.1} [{:5.1}, {:5.1}]", self.mean * 100.0, self.low * 100.0, self.high * 100.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_forty_coin_flips_is_as_wide_as_the_binomial_says() {
        let values: Vec<f64> = (0..40).map(|index| f64::from(index % 2)).collect();
        let found = interval(&values).unwrap();
        // Standard error sqrt(0.25 / 40) = 0.079; 1.96 of them to either side.
        assert!((found.mean - 0.5).abs() < 1e-12);
        assert!((found.low - 0.345).abs() < 0.03 && (found.high - 0.655).abs() < 0.03, "{found:?}");
    }

    #[test]
    fn equal_values_have_no_spread_and_no_values_no_interval() {
        assert_eq!(interval(&[1.0; 6]), Some(Interval { n: 6, mean: 1.0, low: 1.0, high: 1.0 }));
        assert_eq!(interval(&[]), None);
    }
}
