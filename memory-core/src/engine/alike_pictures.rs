//! What looks like the picture of an event: feature search (HippoMM 4.3.2) with a picture as the question.
//!
//! First the vectors v of scenes are compared, then the single pictures E inside the nearest of them, so that a scene is found of which
//! only a part looks like it.

use std::collections::HashSet;

use super::vectors;
use super::view::View;
use crate::episodic::consolidation::PlaceSpace;
use crate::index::SearchQuery;
use crate::recall::{LookInside, cosine, most_similar_look};
use crate::store::failure::if_sound;
use crate::word_search::{AlikeTo, Example, WordSearchError};
use crate::{EventId, Kind, ReadError, Sensed, TimeSpan};

/// Maximum number of scenes that are compared, the latest ones.
const MAX_SCENES: usize = 4_000;
/// Maximum number of scenes whose single pictures are compared, the nearest ones.
const MAX_SEARCHED_INSIDE: usize = 64;

/// A scene, the space of its picture, and the picture.
type ScenePicture<'v> = (EventId, &'v PlaceSpace, Vec<i16>);

/// A scene that looks like the example.
pub(super) struct AlikeScene {
    pub id: EventId,
    pub cosine: f32,
    /// The part of it that does, if not all of it.
    pub part: Option<LookInside>,
}

impl View {
    /// The scenes that look like the picture of an event, the most alike first, of equals the latest. Only of `admitted`, if that is
    /// said.
    pub(super) fn alike_pictures(
        &self,
        event: EventId,
        alike_to: &AlikeTo,
        admitted: Option<&HashSet<EventId>>,
    ) -> Result<Vec<AlikeScene>, WordSearchError> {
        let Some((own, space, picture)) = self.picture_of(event)? else {
            return Err(WordSearchError::NoPicture(Example::Picture(event)));
        };
        let least = alike_to.cosine.unwrap_or(space.gamma);
        let wanted: Vec<f32> = picture.into_iter().map(f32::from).collect();
        let kinds = vec![Kind::Caption];
        let scenes = SearchQuery { kinds, latest: true, limit: MAX_SCENES, ..SearchQuery::default() };
        let scenes = self.published.search.search(&scenes).into_iter().map(|hit| hit.id);
        let others = scenes.filter(|id| *id != own && admitted.is_none_or(|admitted| admitted.contains(id)));
        let found = vectors::find_sensed(&self.tables.spaces, Sensed::Picture, &space.space);
        let Some((number, dimensions)) = found.map_err(ReadError::from)? else { return Ok(Vec::new()) };
        let mut alike = Vec::new();
        for id in others {
            let vector = self.sensed_vector(id, number, dimensions).map_err(ReadError::from)?;
            let Some(cosine) = vector.and_then(|vector| cosine(&wanted, &vector)) else { continue };
            alike.push(AlikeScene { id, cosine, part: None });
        }
        let nearest = |a: &AlikeScene, b: &AlikeScene| b.cosine.total_cmp(&a.cosine).then(b.id.cmp(&a.id));
        alike.sort_unstable_by(nearest);
        for scene in alike.iter_mut().take(MAX_SEARCHED_INSIDE) {
            let looks = self.looks_inside(scene.id, &space.space, &wanted).map_err(ReadError::from)?;
            let best = most_similar_look(looks);
            // A scene that is alike as a whole is shown as a whole.
            if let Some(best) = best.filter(|best| scene.cosine < least && best.cosine > scene.cosine) {
                (scene.cosine, scene.part) = (best.cosine, Some(best));
            }
        }
        alike.retain(|scene| scene.cosine >= least);
        alike.sort_unstable_by(nearest);
        Ok(alike)
    }

    /// The scene that an event is, or that it is part of, with its picture.
    fn picture_of(&self, event: EventId) -> Result<Option<ScenePicture<'_>>, WordSearchError> {
        let unknown = || WordSearchError::UnknownExample(Example::Picture(event));
        let event = self.find_event(event).map_err(ReadError::from)?.ok_or_else(unknown)?;
        let members = if_sound(self.tables.members_of(event.episode.0)).map_err(ReadError::from)?.unwrap_or_default();
        let candidates = std::iter::once(event.id).chain(members.into_iter().map(EventId));
        for space in self.published.place_spaces.iter() {
            let found = vectors::find_sensed(&self.tables.spaces, Sensed::Picture, &space.space);
            let Some((number, dimensions)) = found.map_err(ReadError::from)? else { continue };
            for id in candidates.clone() {
                let vector = self.sensed_vector(id, number, dimensions).map_err(ReadError::from)?;
                let shown = |span: TimeSpan| id == event.id || span.overlaps(event.span);
                if let Some(vector) = vector
                    && self.find_event(id).map_err(ReadError::from)?.is_some_and(|scene| shown(scene.span))
                {
                    return Ok(Some((id, space, vector)));
                }
            }
        }
        Ok(None)
    }
}
