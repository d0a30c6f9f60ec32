//! Chooses which candidates become boundaries.

use std::time::Duration;

use crate::Boundary;

/// A possible boundary.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CutCandidate {
    /// Lower bound: the last picture before a cut.
    pub(super) earliest: Duration,
    /// Most likely time.
    pub(super) time: Duration,
    /// Upper bound, inclusive: the first picture after a cut.
    pub(super) latest: Duration,
    /// The stream time at which it became known, never before `latest`.
    pub(super) ready: Duration,
    /// How strong it is; positive.
    pub(super) weight: f64,
    /// Kind of the boundary.
    pub(super) boundary: Boundary,
}

/// The first boundary, and its candidate, of the heaviest choice of `candidates` that leaves at least `min` between
/// `start`, the boundaries and each other. Candidates must be sorted by time.
///
/// A cut lies somewhere between two pictures; it is placed in the middle unless the shortest length asks for a later
/// place between the same two.
pub(super) fn first_boundary(
    start: Duration,
    min: Duration,
    candidates: impl Iterator<Item = CutCandidate>,
) -> Option<(Duration, CutCandidate)> {
    struct CutPath {
        weight: f64,
        /// Placed time of the last boundary.
        at: Duration,
        first: (Duration, CutCandidate),
    }
    // Quadratic, in the few candidates that a few seconds can hold.
    let mut paths: Vec<CutPath> = Vec::new();
    for candidate in candidates {
        let place = |after: Duration| {
            let at = candidate.time.max(after + min);
            (at <= candidate.latest).then_some(at)
        };
        let mut best: Option<CutPath> =
            place(start).map(|at| CutPath { weight: candidate.weight, at, first: (at, candidate) });
        for path in &paths {
            let Some(at) = place(path.at) else { continue };
            let weight = path.weight + candidate.weight;
            if best.as_ref().is_none_or(|best| weight > best.weight) {
                best = Some(CutPath { weight, at, first: path.first });
            }
        }
        paths.extend(best);
    }
    let mut heaviest: Option<&CutPath> = None;
    for path in &paths {
        if heaviest.is_none_or(|best| path.weight > best.weight) {
            heaviest = Some(path);
        }
    }
    heaviest.map(|path| path.first)
}

/// Where to split `start..end` so that every piece is `min..=max` long: at the most salient moment that allows it, or
/// evenly where nothing stands out. Empty if it is not longer than `max`.
///
/// `salient` answers with the best moment of a closed range and what it is. `max` must be at least twice `min`.
pub(super) fn splits(
    start: Duration,
    end: Duration,
    min: Duration,
    max: Duration,
    salient: impl Fn(Duration, Duration) -> Option<(Duration, Boundary)>,
) -> Vec<(Duration, Boundary)> {
    let mut places = Vec::new();
    let mut from = start;
    while end - from > max {
        let pieces = u32::try_from((end - from).as_nanos().div_ceil(max.as_nanos())).unwrap_or(u32::MAX).max(2);
        let rest = pieces - 1;
        let low = (from + min).max(end.saturating_sub(max.saturating_mul(rest)));
        let high = (from + max).min(end.saturating_sub(min.saturating_mul(rest)));
        let even = (from + (end - from) / pieces).clamp(low, high);
        let (at, boundary) = salient(low, high).unwrap_or((even, Boundary::Length));
        from = at.clamp(low, high);
        places.push((from, boundary));
    }
    places
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cut(at: f64, weight: f64) -> CutCandidate {
        let at = Duration::from_secs_f64(at);
        CutCandidate { earliest: at, time: at, latest: at, ready: at, weight, boundary: Boundary::Visual }
    }

    const MIN: Duration = Duration::from_secs(5);
    const MAX: Duration = Duration::from_secs(10);

    fn first(candidates: &[CutCandidate]) -> Option<f64> {
        first_boundary(Duration::ZERO, MIN, candidates.iter().copied()).map(|(at, _)| at.as_secs_f64())
    }

    #[test]
    fn a_candidate_too_close_to_the_start_is_merged_away() {
        assert_eq!(first(&[cut(3.0, 1.0)]), None);
        assert_eq!(first(&[cut(3.0, 1.0), cut(8.0, 0.4)]), Some(8.0));
    }

    #[test]
    fn of_two_that_exclude_each_other_the_stronger_wins() {
        assert_eq!(first(&[cut(6.0, 0.4), cut(8.0, 0.9)]), Some(8.0));
        assert_eq!(first(&[cut(6.0, 0.9), cut(8.0, 0.4)]), Some(6.0));
    }

    #[test]
    fn two_compatible_ones_outweigh_a_strong_one_between_them() {
        assert_eq!(first(&[cut(6.0, 0.6), cut(9.0, 0.9), cut(12.0, 0.6)]), Some(6.0));
    }

    #[test]
    fn a_cut_between_two_pictures_moves_within_its_bounds_to_keep_the_shortest_length() {
        let candidate = CutCandidate { latest: Duration::from_secs_f64(5.2), ..cut(4.8, 1.0) };
        assert_eq!(first(&[candidate]), Some(5.0));
    }

    proptest! {
        #[test]
        fn the_first_boundary_is_that_of_an_exhaustive_search(
            times in proptest::collection::btree_set(1_u32..300, 0..10),
            weights in proptest::collection::vec(1_u32..20, 10),
        ) {
            let candidates: Vec<CutCandidate> = times.iter().zip(&weights)
                .map(|(&t, &w)| cut(f64::from(t) / 10.0, f64::from(w))).collect();
            let mut best = (0.0, None);
            for choice in 0_u32..1 << candidates.len() {
                let (mut last, mut weight, mut start, mut fits) = (Duration::ZERO, 0.0, None, true);
                for (i, candidate) in candidates.iter().enumerate() {
                    if choice >> i & 1 == 1 {
                        fits &= candidate.time >= last + MIN;
                        last = candidate.time;
                        weight += candidate.weight;
                        start = start.or(Some(candidate.time));
                    }
                }
                if fits && weight > best.0 {
                    best = (weight, start);
                }
            }
            let found = first_boundary(Duration::ZERO, MIN, candidates.iter().copied());
            prop_assert_eq!(found.is_some(), best.1.is_some());
            // Several choices may weigh the same: the one found must start a heaviest one.
            if let Some((at, _)) = found {
                let rest = candidates.iter().copied().filter(|c| c.time >= at + MIN);
                let mut weight = candidates.iter().find(|c| c.time == at).map_or(0.0, |c| c.weight);
                let mut from = at;
                let rest: Vec<CutCandidate> = rest.collect();
                while let Some((next, candidate)) = first_boundary(from, MIN, rest.iter().copied().filter(|c| c.time >= from + MIN)) {
                    weight += candidate.weight;
                    from = next;
                }
                prop_assert!((weight - best.0).abs() < 1e-9, "{weight} != {}", best.0);
            }
        }

        #[test]
        fn pieces_keep_the_bounds_wherever_the_salient_moments_are(length in 5_000_u64..200_000, salt in any::<u64>()) {
            let end = Duration::from_millis(length);
            let wild = |low: Duration, _high: Duration| {
                (salt % 3 > 0).then(|| (low + Duration::from_millis((salt ^ low.as_millis() as u64) % 7_000), Boundary::Silence))
            };
            let mut from = Duration::ZERO;
            for at in splits(Duration::ZERO, end, MIN, MAX, wild).into_iter().map(|(at, _)| at).chain([end]) {
                prop_assert!(at - from >= MIN && at - from <= MAX, "{:?}..{:?}", from, at);
                from = at;
            }
        }
    }
}
