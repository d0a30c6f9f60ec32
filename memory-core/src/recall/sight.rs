//! Scenes found by what they look like: the question in the space that pictures and texts share (CLIP and its like).
//!
//! HippoMM's feature search over v_k. Nobody need ever have put into words what was seen.

use std::collections::HashSet;

use super::gather::step;
use super::pool::{Found, Pool};
use crate::index::SearchQuery;
use crate::{EventId, Kind, Modality, ReadError, Sensed, TimeSpan, TraceStep};

/// How many standard deviations a scene must stand out from the others. Cosines of pictures and texts lie in a narrow
/// band that is another one for every model and every question; standing out means the same for all.
const STANDS_OUT: f32 = 2.0;
/// Among fewer scenes nothing stands out.
const FEWEST: usize = 8;
/// Scenes that are compared, the latest ones.
const SCENES: usize = 4_000;
/// Scenes that become candidates.
const BEST: usize = 3;

impl Pool<'_> {
    /// Adds the scenes of `span` that look most like what is asked for. What stands out by three deviations comes
    /// before what was found by words, what stands out by less behind the best of that.
    pub(super) fn by_sight(
        &self,
        text: &str,
        span: Option<TimeSpan>,
        found: &mut Vec<Found>,
        trace: &mut Vec<TraceStep>,
    ) -> Result<(), ReadError> {
        let Some(texts) = self.reader.picture_texts().filter(|_| self.question.sense != Some(Modality::Audio)) else {
            return Ok(());
        };
        let query =
            SearchQuery { span, kinds: vec![Kind::Caption], latest: true, limit: SCENES, ..SearchQuery::default() };
        let ids: Vec<EventId> = self.reader.search().search(&query).into_iter().map(|hit| hit.id).collect();
        let vectors = self.reader.sensed_vectors(&ids, Sensed::Picture, texts.space());
        let seen: Vec<(EventId, Vec<i16>)> =
            ids.into_iter().zip(vectors).filter_map(|(id, vector)| Some((id, vector?))).collect();
        if seen.len() < FEWEST {
            return Ok(());
        }
        let question = match texts.embed(&[text]) {
            Ok(vectors) => vectors.into_iter().next().unwrap_or_default(),
            Err(error) => {
                trace.push(step("sight", error.to_string()));
                return Ok(());
            }
        };
        let cosines: Vec<f32> =
            seen.iter().map(|(_, vector)| super::nearest::cosine(&question, vector).unwrap_or(0.0)).collect();
        let out = standing_out(&cosines);
        trace.push(step("sight", format!("{} of {} scenes look like it", out.len(), seen.len())));
        let top = found.first().map_or(1.0, |best| best.score);
        let mut known: HashSet<EventId> = HashSet::new();
        for (place, deviations) in out {
            let id = seen[place].0;
            let score = top * (0.4 + 0.2 * deviations).min(1.2);
            known.insert(id);
            match found.iter_mut().find(|one| one.id() == id) {
                Some(one) => {
                    one.score = one.score.max(score);
                    one.coverage.of_content = one.coverage.of_content.max((0.3 + 0.1 * deviations).min(0.8));
                }
                None => {
                    let Some(event) = self.reader.event(id)? else { continue };
                    let reading = self.reading(event);
                    let mut coverage = self.question.content.coverage(&reading);
                    // What it looks like speaks for it as words would.
                    coverage.of_content = coverage.of_content.max((0.3 + 0.1 * deviations).min(0.8));
                    found.push(Found { reading, score, relevance: 0.0, cosine: None, coverage, placed: 0.0 });
                }
            }
        }
        if !known.is_empty() {
            found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id().cmp(&b.id())));
        }
        Ok(())
    }
}

/// The few values that stand out, greatest first, each with by how many deviations.
fn standing_out(cosines: &[f32]) -> Vec<(usize, f32)> {
    #[expect(clippy::cast_precision_loss, reason = "thousands of scenes")]
    let count = cosines.len().max(1) as f32;
    let mean = cosines.iter().sum::<f32>() / count;
    let deviation = (cosines.iter().map(|cosine| (cosine - mean).powi(2)).sum::<f32>() / count).sqrt();
    let mut out: Vec<(usize, f32)> = cosines
        .iter()
        .enumerate()
        .map(|(place, cosine)| (place, (cosine - mean) / deviation.max(f32::EPSILON)))
        .filter(|(_, deviations)| *deviations >= STANDS_OUT)
        .collect();
    out.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    out.truncate(BEST);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_out_is_found_wherever_the_cosines_lie() {
        let mut cosines = vec![0.21_f32, 0.2, 0.19, 0.2, 0.21, 0.2, 0.19, 0.2, 0.2, 0.21];
        cosines.push(0.29);
        assert_eq!(standing_out(&cosines).iter().map(|(place, _)| *place).collect::<Vec<_>>(), [10]);
        let higher: Vec<f32> = cosines.iter().map(|cosine| cosine + 0.5).collect();
        assert_eq!(standing_out(&higher).len(), 1);
        assert!(standing_out(&[0.2; 12]).is_empty(), "all alike");
    }
}
