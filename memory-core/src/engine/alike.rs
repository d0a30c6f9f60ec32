//! What is like an event or an episode.
//!
//! The example's own stored vectors are the query, so no model is asked. For each of them the Hamming ball of the least cosine
//! (HIPPOCAMPUS, Appendix F) says which events may be as alike, and of the nearest in it the stored vectors say how alike they are.

use std::collections::{HashMap, HashSet};

use super::view::View;
use crate::recall::{Reader, cosine};
use crate::word_search::{AlikeTo, DEFAULT_LIKENESS, Example, WordSearchError};
use crate::{EventId, ReadError};

/// Maximum number of events compared exactly, the nearest by signature. Reading so many vectors takes some milliseconds.
const MAX_EXACT: usize = 1_000;
/// Maximum number of vectors of an episode that are compared, spread evenly over it.
const MAX_EPISODE_VECTORS: usize = 16;
/// Largest error of a cosine due to rounding its vectors to 16 bits.
const ROUNDING_ERROR: f32 = 1e-4;

/// The vectors to compare with, and the ids of the example itself, which are not results.
struct LikenessQuery {
    vectors: Vec<Vec<i16>>,
    own: HashSet<EventId>,
}

/// An event or an episode that is alike.
struct Alike {
    /// The event that is most alike, and how much.
    best: (EventId, f32),
    /// Largest cosine for each vector of the example.
    cosines: Vec<f32>,
}

impl View {
    /// What is like the example, the most alike first, of equals the latest: events, and for an episode the most alike event of each
    /// other episode, with the mean of the largest cosines over the example's events. Only of `admitted`, if that is said.
    pub(super) fn alike(
        &self,
        alike_to: &AlikeTo,
        admitted: Option<&HashSet<EventId>>,
    ) -> Result<Vec<(EventId, f32)>, WordSearchError> {
        let query = self.vectors_of(alike_to.example)?;
        let least = alike_to.cosine.unwrap_or(DEFAULT_LIKENESS);
        let by_episode = matches!(alike_to.example, Example::Episode(_));
        let mut vectors: HashMap<EventId, Option<Vec<i16>>> = HashMap::new();
        let mut alike: HashMap<u64, Alike> = HashMap::new();
        for (number, own) in query.vectors.iter().enumerate() {
            let wanted: Vec<f32> = own.iter().map(|component| f32::from(*component)).collect();
            let ball = self.published.search.in_ball(own, least);
            let others = ball.into_iter().filter(|hit| {
                !query.own.contains(&hit.id) && admitted.is_none_or(|admitted| admitted.contains(&hit.id))
            });
            for hit in others.take(MAX_EXACT / query.vectors.len()) {
                let vector = vectors.entry(hit.id).or_insert_with(|| self.vector(hit.id));
                let Some(cosine) = vector.as_ref().and_then(|vector| cosine(&wanted, vector)) else { continue };
                if cosine + ROUNDING_ERROR < least {
                    continue;
                }
                let key = if by_episode { hit.episode.0 } else { hit.id.0 };
                let nothing = || Alike { best: (hit.id, cosine), cosines: vec![0.0; query.vectors.len()] };
                let found = alike.entry(key).or_insert_with(nothing);
                found.cosines[number] = found.cosines[number].max(cosine);
                if (cosine, hit.id) > (found.best.1, found.best.0) {
                    found.best = (hit.id, cosine);
                }
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "at most 16 vectors")]
        let mean = |cosines: &[f32]| cosines.iter().sum::<f32>() / cosines.len() as f32;
        let mut alike: Vec<(EventId, f32)> =
            alike.into_values().map(|alike| (alike.best.0, mean(&alike.cosines).min(1.0))).collect();
        alike.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
        Ok(alike)
    }

    fn vectors_of(&self, example: Example) -> Result<LikenessQuery, WordSearchError> {
        let unknown = || WordSearchError::UnknownExample(example);
        let events = match example {
            Example::Event(id) | Example::Picture(id) => {
                let event = self.find_event(id).map_err(ReadError::from)?.ok_or_else(unknown)?;
                vec![event.id]
            }
            Example::Episode(id) => {
                let episode = self.find_episode(id).map_err(ReadError::from)?.ok_or_else(unknown)?;
                episode.events
            }
        };
        let compared = events.len().min(MAX_EPISODE_VECTORS);
        let mut vectors: Vec<Vec<i16>> =
            (0..compared).filter_map(|at| self.vector(events[at * events.len() / compared])).collect();
        // Events of the same words count once.
        vectors.sort_unstable();
        vectors.dedup();
        if vectors.is_empty() {
            let installed = self.published.embedder.is_some();
            return Err(WordSearchError::NoEmbedding { example, installed });
        }
        Ok(LikenessQuery { vectors, own: events.into_iter().collect() })
    }
}
