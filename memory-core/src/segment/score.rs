//! Scores boundaries against known cuts.

use std::time::Duration;

/// Precision and recall of boundaries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundaryScore {
    /// Predicted boundaries that meet a known one.
    pub hits: usize,
    /// How many were predicted.
    pub predicted: usize,
    /// How many are known.
    pub known: usize,
}

impl BoundaryScore {
    /// The share of predicted boundaries that are right; 1 if none was predicted.
    pub fn precision(&self) -> f64 {
        ratio(self.hits, self.predicted)
    }

    /// The share of known boundaries that were found; 1 if none is known.
    pub fn recall(&self) -> f64 {
        ratio(self.hits, self.known)
    }

    /// Harmonic mean of precision and recall.
    pub fn f1(&self) -> f64 {
        if self.predicted + self.known == 0 {
            return 1.0;
        }
        2.0 * self.hits as f64 / (self.predicted + self.known) as f64
    }
}

fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

/// Matches predicted boundaries to known ones, each at most once, at most `tolerance` apart.
///
/// The matching is the largest possible one. Neither list need be sorted.
pub fn boundary_f1(predicted: &[Duration], known: &[Duration], tolerance: Duration) -> BoundaryScore {
    let sorted = |times: &[Duration]| {
        let mut times = times.to_vec();
        times.sort_unstable();
        times
    };
    let (ours, theirs) = (sorted(predicted), sorted(known));
    // On a line, pairing the earliest that can be paired is a largest matching.
    let (mut i, mut j, mut hits) = (0, 0, 0);
    while i < ours.len() && j < theirs.len() {
        if ours[i].abs_diff(theirs[j]) <= tolerance {
            (i, j, hits) = (i + 1, j + 1, hits + 1);
        } else if ours[i] < theirs[j] {
            i += 1;
        } else {
            j += 1;
        }
    }
    BoundaryScore { hits, predicted: ours.len(), known: theirs.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(times: &[f64]) -> Vec<Duration> {
        times.iter().map(|&t| Duration::from_secs_f64(t)).collect()
    }

    #[test]
    fn a_known_cut_is_met_at_most_once() {
        let score = boundary_f1(&seconds(&[9.8, 10.1]), &seconds(&[10.0]), Duration::from_millis(500));
        assert_eq!(score, BoundaryScore { hits: 1, predicted: 2, known: 1 });
        assert!((score.precision() - 0.5).abs() < 1e-9 && (score.recall() - 1.0).abs() < 1e-9);
        assert!((score.f1() - 2.0 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn the_tolerance_is_inclusive_and_order_does_not_matter() {
        let score = boundary_f1(&seconds(&[30.0, 10.5]), &seconds(&[10.0, 31.0]), Duration::from_millis(500));
        assert_eq!(score.hits, 1);
    }

    #[test]
    fn nothing_to_find_and_nothing_found_is_perfect() {
        assert!((boundary_f1(&[], &[], Duration::ZERO).f1() - 1.0).abs() < 1e-9);
        assert!(boundary_f1(&[], &seconds(&[1.0]), Duration::ZERO).f1() < 1e-9);
    }
}
