//! Retrieves scenes by their appearance: the question in the space that pictures and texts share (CLIP and similar
//! models).
//!
//! Implements the feature search of HippoMM (4.3.2): first over the vectors v of all scenes, then over the pictures E
//! inside the k nearest. No scene needs a description in words.

use std::collections::HashSet;
use std::sync::Arc;

use super::pool::{EventPool, RetrievedEvent};
use super::reading::ParsedEvent;
use super::trace::trace_step;
use super::{LookInside, most_similar_look};
use crate::index::SearchQuery;
use crate::{Event, EventId, Kind, Modality, ReadError, Sensed, TimeSpan, TraceStep};

/// Number of standard deviations that a scene must lie above the mean. Cosines of pictures and texts lie in a narrow
/// band that differs for every model and every question. Deviations are comparable.
const MIN_DEVIATIONS: f32 = 2.0;
/// Minimum number of scenes for which deviations are meaningful.
const MIN_SCENES: usize = 8;
/// Maximum number of scenes that are compared, the latest ones.
const MAX_COMPARED_SCENES: usize = 4_000;
/// Number of scenes whose single pictures are compared (k of HippoMM 4.3.2).
const MAX_SCENES_SEARCHED_INSIDE: usize = 5;
/// Margin by which a part of a scene must be more similar than the whole scene: the error of a cosine that is estimated
/// from signatures.
const COSINE_ESTIMATE_ERROR: f32 = 0.04;
/// Maximum number of scenes that become candidates.
const MAX_SCENE_CANDIDATES: usize = 3;

impl EventPool<'_> {
    /// Adds the scenes of `span` that look most like what the question asks for. Scenes above three deviations come
    /// before the results of the text search, other scenes come after the best of those.
    pub(super) fn add_scenes_by_appearance(
        &self,
        text: &str,
        span: Option<TimeSpan>,
        found: &mut Vec<RetrievedEvent>,
        trace: &mut Vec<TraceStep>,
    ) -> Result<(), ReadError> {
        let Some(texts) = self.reader.picture_texts().filter(|_| self.question.sense != Some(Modality::Audio)) else {
            return Ok(());
        };
        let query = SearchQuery {
            span,
            kinds: vec![Kind::Caption],
            latest: true,
            limit: MAX_COMPARED_SCENES,
            ..SearchQuery::default()
        };
        let ids: Vec<EventId> = self.reader.search().search(&query).into_iter().map(|hit| hit.id).collect();
        let vectors = self.reader.sensed_vectors(&ids, Sensed::Picture, texts.space());
        let seen: Vec<(EventId, Vec<i16>)> =
            ids.into_iter().zip(vectors).filter_map(|(id, vector)| Some((id, vector?))).collect();
        if seen.len() < MIN_SCENES {
            return Ok(());
        }
        let question = match texts.embed(&[text]) {
            Ok(vectors) => vectors.into_iter().next().unwrap_or_default(),
            Err(error) => {
                trace.push(trace_step("sight", error.to_string()));
                return Ok(());
            }
        };
        let cosines: Vec<f32> =
            seen.iter().map(|(_, vector)| super::nearest::cosine(&question, vector).unwrap_or(0.0)).collect();
        let spread = CosineDistribution::from_cosines(&cosines);
        let (mut out, mut inside) = (Vec::new(), 0);
        for place in indices_by_cosine(&cosines) {
            let looks = self.reader.looks(seen[place].0, texts.space(), &question);
            let best = most_similar_look(looks).filter(|look| look.cosine > cosines[place] + COSINE_ESTIMATE_ERROR);
            inside += usize::from(best.is_some());
            let deviations = spread.deviations(best.map_or(cosines[place], |look| look.cosine));
            if deviations >= MIN_DEVIATIONS {
                out.push((place, deviations, best));
            }
        }
        out.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        out.truncate(MAX_SCENE_CANDIDATES);
        let scenes = format!("{} of {} scenes look like it", out.len(), seen.len());
        trace.push(trace_step("sight", format!("{scenes}; {inside} do so in a part of them only")));
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
                        // Appearance is the only evidence for it.
                        Some(LookInside { span, stream, .. }) => {
                            let part = Event { span, stream: Some(stream), ..event };
                            Arc::new(ParsedEvent::parse(part, self.reader.zone()))
                        }
                        None => self.reading(event),
                    };
                    let mut coverage = self.question.content.coverage(&reading);
                    // Appearance counts as much as words.
                    coverage.of_content = coverage.of_content.max((0.3 + 0.1 * deviations).min(0.8));
                    found.push(RetrievedEvent { reading, score, relevance: 0.0, cosine: None, coverage, placed: 0.0 });
                }
            }
        }
        if !known.is_empty() {
            found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id().cmp(&b.id())));
        }
        Ok(())
    }
}

/// Returns the indices of the greatest values, greatest first.
fn indices_by_cosine(cosines: &[f32]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..cosines.len()).collect();
    places.sort_by(|a, b| cosines[*b].total_cmp(&cosines[*a]).then(a.cmp(b)));
    places.truncate(MAX_SCENES_SEARCHED_INSIDE);
    places
}

/// Mean and standard deviation of the cosines of all scenes.
struct CosineDistribution {
    mean: f32,
    deviation: f32,
}

impl CosineDistribution {
    fn from_cosines(cosines: &[f32]) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "thousands of scenes")]
        let count = cosines.len().max(1) as f32;
        let mean = cosines.iter().sum::<f32>() / count;
        let variance = cosines.iter().map(|cosine| (cosine - mean).powi(2)).sum::<f32>() / count;
        Self { mean, deviation: variance.sqrt() }
    }

    /// Returns the number of standard deviations above the mean.
    fn deviations(&self, cosine: f32) -> f32 {
        (cosine - self.mean) / self.deviation.max(f32::EPSILON)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing_out(cosines: &[f32]) -> Vec<usize> {
        let spread = CosineDistribution::from_cosines(cosines);
        indices_by_cosine(cosines)
            .into_iter()
            .filter(|place| spread.deviations(cosines[*place]) >= MIN_DEVIATIONS)
            .collect()
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
