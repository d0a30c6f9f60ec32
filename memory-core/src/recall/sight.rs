//! Scenes found by what they look like: the question in the space that pictures and texts share (CLIP and its like).
//!
//! HippoMM's feature search (4.3.2): first over the vectors v of all scenes, then over the pictures E inside the k nearest. Nobody
//! need ever have put into words what was seen.

use std::collections::HashSet;
use std::sync::Arc;

use super::gather::step;
use super::pool::{Found, Pool};
use super::reading::Reading;
use super::{LookInside, most_alike};
use crate::index::SearchQuery;
use crate::{Event, EventId, Kind, Modality, ReadError, Sensed, TimeSpan, TraceStep};

/// How many standard deviations a scene must stand out from the others. Cosines of pictures and texts lie in a narrow
/// band that is another one for every model and every question; standing out means the same for all.
const STANDS_OUT: f32 = 2.0;
/// Among fewer scenes nothing stands out.
const FEWEST: usize = 8;
/// Scenes that are compared, the latest ones.
const SCENES: usize = 4_000;
/// Scenes whose single pictures are compared (k of HippoMM 4.3.2).
const SEARCHED_INSIDE: usize = 5;
/// By how much a part of a scene must be more like than the whole of it: as much as its cosine, which signatures tell, may err.
const ESTIMATE_ERROR: f32 = 0.04;
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
        let spread = Spread::of(&cosines);
        let (mut out, mut inside) = (Vec::new(), 0);
        for place in nearest(&cosines) {
            let looks = self.reader.looks(seen[place].0, texts.space(), &question);
            let best = most_alike(looks).filter(|look| look.cosine > cosines[place] + ESTIMATE_ERROR);
            inside += usize::from(best.is_some());
            let deviations = spread.deviations(best.map_or(cosines[place], |look| look.cosine));
            if deviations >= STANDS_OUT {
                out.push((place, deviations, best));
            }
        }
        out.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        out.truncate(BEST);
        let scenes = format!("{} of {} scenes look like it", out.len(), seen.len());
        trace.push(step("sight", format!("{scenes}; {inside} do so in a part of them only")));
        let top = found.first().map_or(1.0, |best| best.score);
        let mut known: HashSet<EventId> = HashSet::new();
        for (place, deviations, look) in out {
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
                    let reading = match look {
                        // Nothing but that look speaks for it.
                        Some(LookInside { span, stream, .. }) => {
                            let part = Event { span, stream: Some(stream), ..event };
                            Arc::new(Reading::of(part, self.reader.zone()))
                        }
                        None => self.reading(event),
                    };
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

/// The places of the greatest values, greatest first.
fn nearest(cosines: &[f32]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..cosines.len()).collect();
    places.sort_by(|a, b| cosines[*b].total_cmp(&cosines[*a]).then(a.cmp(b)));
    places.truncate(SEARCHED_INSIDE);
    places
}

/// Where the cosines of all scenes lie.
struct Spread {
    mean: f32,
    deviation: f32,
}

impl Spread {
    fn of(cosines: &[f32]) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "thousands of scenes")]
        let count = cosines.len().max(1) as f32;
        let mean = cosines.iter().sum::<f32>() / count;
        let variance = cosines.iter().map(|cosine| (cosine - mean).powi(2)).sum::<f32>() / count;
        Self { mean, deviation: variance.sqrt() }
    }

    /// By how many standard deviations a value lies above the mean.
    fn deviations(&self, cosine: f32) -> f32 {
        (cosine - self.mean) / self.deviation.max(f32::EPSILON)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing_out(cosines: &[f32]) -> Vec<usize> {
        let spread = Spread::of(cosines);
        nearest(cosines).into_iter().filter(|place| spread.deviations(cosines[*place]) >= STANDS_OUT).collect()
    }

    #[test]
    fn what_stands_out_is_found_wherever_the_cosines_lie() {
        let mut cosines = vec![0.21_f32, 0.2, 0.19, 0.2, 0.21, 0.2, 0.19, 0.2, 0.2, 0.21];
        cosines.push(0.29);
        assert_eq!(standing_out(&cosines), [10]);
        let higher: Vec<f32> = cosines.iter().map(|cosine| cosine + 0.5).collect();
        assert_eq!(standing_out(&higher).len(), 1);
        assert!(standing_out(&[0.2; 12]).is_empty(), "all alike");
    }
}
