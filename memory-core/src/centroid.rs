//! The moving average with which a centroid follows what it absorbs (NS-Mem Eq. 1), with its drift bounded.
//!
//! A pure moving average forgets where it began: after 50 observations 0.5 % of the origin is left, and a run of off-topic
//! observations carries it away for good. So a centroid is `normalise(0.7 · drift + 0.3 · anchor)`. The anchor is the vector
//! it was founded on, and only the drift follows Eq. 1.
//!
//! What points away from the anchor (cosine below 0) is not absorbed. Then the drift, a sum of vectors on the anchor's side,
//! stays on that side, and the centroid's cosine to the anchor is [`MIN_ANCHOR_COSINE`] at least, whatever comes in whatever order.

/// β of Eq. 1: the share of the drift that an observation leaves in place.
pub(crate) const DRIFT_DECAY: f32 = 0.9;
/// The weight of the drift in a centroid; the anchor has the rest.
const DRIFT_WEIGHT: f32 = 0.7;
/// Lower bound of the cosine of a centroid to its anchor: 0.3 / √(0.7² + 0.3²).
#[cfg(test)]
pub(crate) const MIN_ANCHOR_COSINE: f32 = 0.393_919_3;

/// One observation: the drift and the centroid after it, unit vectors. `keep` stands for β. `None`, and nothing changes, for a
/// vector of another space and one that points away from the anchor.
pub(crate) fn absorb(drift: &[f32], anchor: &[f32], observed: &[f32], keep: f32) -> Option<(Vec<f32>, Vec<f32>)> {
    if drift.len() != observed.len() || anchor.len() != observed.len() || dot(anchor, observed) < 0.0 {
        return None;
    }
    let drift = blend(drift, observed, keep)?;
    let centroid = blend(&drift, anchor, DRIFT_WEIGHT)?;
    Some((drift, centroid))
}

/// The same where only the centroid and its anchor are kept: the two determine the drift.
pub(crate) fn follow(centroid: &mut Vec<f32>, anchor: &[f32], observed: &[f32]) {
    if centroid.len() == anchor.len()
        && let Some((_, next)) = absorb(&drift_of(centroid, anchor), anchor, observed, DRIFT_DECAY)
    {
        *centroid = next;
    }
}

/// The drift of a centroid: the unit vector d with n · c = 0.7 d + 0.3 a for the one length n that fits.
fn drift_of(centroid: &[f32], anchor: &[f32]) -> Vec<f32> {
    let share = 1.0 - DRIFT_WEIGHT;
    let along = share * dot(centroid, anchor);
    let length = along + (along * along + DRIFT_WEIGHT * DRIFT_WEIGHT - share * share).max(0.0).sqrt();
    let mut drift: Vec<f32> = centroid.iter().zip(anchor).map(|(c, a)| length * c - share * a).collect();
    normalise(&mut drift);
    drift
}

/// `normalise(keep · a + (1 − keep) · b)`; `None` for opposite vectors.
fn blend(a: &[f32], b: &[f32], keep: f32) -> Option<Vec<f32>> {
    let mut mixed: Vec<f32> = a.iter().zip(b).map(|(x, y)| keep * x + (1.0 - keep) * y).collect();
    normalise(&mut mixed);
    dot(&mixed, &mixed).is_normal().then_some(mixed)
}

pub(crate) fn normalise(vector: &mut [f32]) {
    let norm = dot(vector, vector).sqrt();
    if norm > 0.0 {
        vector.iter_mut().for_each(|component| *component /= norm);
    }
}

pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn unit() -> impl Strategy<Value = Vec<f32>> {
        prop::collection::vec(-1.0_f32..1.0, 6).prop_filter_map("a direction", |mut vector| {
            (dot(&vector, &vector) > 1e-3).then(|| {
                normalise(&mut vector);
                vector
            })
        })
    }

    proptest! {
        #[test]
        fn a_centroid_stays_a_unit_vector_near_its_anchor_whatever_it_absorbs(
            anchor in unit(),
            observed in prop::collection::vec(unit(), 1..60),
            keep in 0.0_f32..1.0,
        ) {
            let (mut drift, mut kept) = (anchor.clone(), anchor.clone());
            let mut followed = anchor.clone();
            for vector in &observed {
                if let Some((next, centroid)) = absorb(&drift, &anchor, vector, keep) {
                    (drift, kept) = (next, centroid);
                }
                follow(&mut followed, &anchor, vector);
                for centroid in [&kept, &followed] {
                    prop_assert!((dot(centroid, centroid) - 1.0).abs() < 1e-4);
                    prop_assert!(dot(centroid, &anchor) >= MIN_ANCHOR_COSINE - 1e-3);
                }
            }
        }

        #[test]
        fn keeping_the_drift_or_the_centroid_alone_is_the_same(anchor in unit(), observed in prop::collection::vec(unit(), 1..60)) {
            let (mut drift, mut kept, mut followed) = (anchor.clone(), anchor.clone(), anchor.clone());
            for vector in &observed {
                if let Some((next, centroid)) = absorb(&drift, &anchor, vector, DRIFT_DECAY) {
                    (drift, kept) = (next, centroid);
                }
                follow(&mut followed, &anchor, vector);
            }
            prop_assert!(dot(&kept, &followed) > 0.9999, "{kept:?} {followed:?}");
        }
    }

    #[test]
    fn a_centroid_goes_where_it_is_led_as_far_as_it_may() {
        let (anchor, other) = ([1.0, 0.0], [0.0, 1.0]);
        let mut centroid = anchor.to_vec();
        for _ in 0..200 {
            follow(&mut centroid, &anchor, &other);
        }
        assert!((dot(&centroid, &anchor) - MIN_ANCHOR_COSINE).abs() < 1e-3, "{centroid:?}");
        let before = centroid.clone();
        follow(&mut centroid, &anchor, &[-0.1, 0.99]);
        follow(&mut centroid, &anchor, &[1.0, 0.0, 0.0]);
        assert_eq!(centroid, before, "what points away, and what is of another space, changes nothing");
    }
}
