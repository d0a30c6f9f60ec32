//! What the memory has seen, one vector a place: a stay at a place that was seen before has that place's vector, which follows it.
//!
//! HippoMM compares a segment with all that are kept. Here the kept ones are found through signatures: a place within the Hamming
//! ball of γ (HIPPOCAMPUS, Appendix F) is compared exactly.

use std::collections::BTreeMap;

use redb::ReadableTable;

use crate::Origin;
use crate::Sensed;
use crate::centroid::{dot, follow, normalise};
use crate::engine::draft::Draft;
use crate::engine::shared::{self, Founding, SharedVector, Stored};
use crate::engine::vectors::{open_space, quantize, sensed_of};
use crate::episodic::consolidation::{PlaceSpace, gamma};
use crate::index::signature::{BALL_MARGIN, Planes, SignatureOptions, SignatureTable, radius};
use crate::store::failure::{Result, if_sound};
use crate::store::tables;

/// Maximum number of places compared exactly.
const MAX_EXACT_PLACES: usize = 8;

/// The places of the spaces in which places can be told apart. What the table says decides; this finds it.
#[derive(Default)]
pub(super) struct PlacesBySpace {
    spaces: BTreeMap<u32, SpacePlaces>,
}

struct SpacePlaces {
    planes: Planes,
    signatures: SignatureTable,
    /// The keys of the shared vectors, in the order of the signatures.
    keys: Vec<u64>,
    dimensions: u32,
    gamma: f32,
}

impl SpacePlaces {
    fn new(dimensions: u32, gamma: f32) -> Self {
        let options = SignatureOptions::default();
        let planes = Planes::new(options, usize::try_from(dimensions).unwrap_or(usize::MAX));
        Self { planes, signatures: SignatureTable::new(options.words()), keys: Vec::new(), dimensions, gamma }
    }

    fn set(&mut self, key: u64, vector: &[i16]) {
        let Some(signature) = self.planes.signature(vector) else { return };
        let place = self.keys.iter().position(|known| *known == key).unwrap_or_else(|| {
            self.keys.push(key);
            self.keys.len() - 1
        });
        if let Ok(ordinal) = u32::try_from(place) {
            self.signatures.set(ordinal, &signature);
        }
    }

    /// The keys of the places that may be as like as γ, the likeliest first.
    fn near(&self, vector: &[i16]) -> Vec<u64> {
        let Some(signature) = self.planes.signature(vector) else { return Vec::new() };
        let ball = radius(self.gamma, BALL_MARGIN, self.planes.options().bits());
        let nearest = self.signatures.nearest(&signature, MAX_EXACT_PLACES, ball);
        nearest.into_iter().filter_map(|(ordinal, _)| self.keys.get(ordinal as usize).copied()).collect()
    }
}

impl Draft<'_> {
    /// Gives the pictures of an episode the vectors of the places that they show; a place that was never seen is a new one.
    pub(super) fn place_pictures(
        &mut self,
        episode: u64,
        known: &[PlaceSpace],
        places: &mut PlacesBySpace,
        refined: bool,
    ) -> Result<()> {
        self.open_places(known, places)?;
        for member in tables::members_of(&*self.tables.members, episode)? {
            if if_sound(self.live_event(member))?.is_none_or(|body| body.origin != Origin::Perceived) {
                continue;
            }
            for (space, known) in &mut places.spaces {
                let Some(sealed) = self.tables.vectors.get((*space, member))?.map(|row| row.value().to_vec()) else {
                    continue;
                };
                let own = if_sound(shared::stored(*space, member, known.dimensions, &sealed))?;
                let Some(Stored::Own(vector)) = own else { continue };
                let (key, place) = match self.place_of(*space, known, &vector, refined)? {
                    Some(found) => found,
                    None => {
                        let founding = Some(Founding { event: member, vector: vector.clone() });
                        (shared::next_key(&*self.tables.vectors, *space)?, SharedVector { count: 0, vector, founding })
                    }
                };
                known.set(key, &place.vector);
                self.head.stale_bytes += sealed.len() as u64;
                self.dirty = true;
                shared::share(&mut self.tables.vectors, *space, member, key, place)?;
            }
        }
        Ok(())
    }

    /// The place that a picture shows, as it is with this picture.
    fn place_of(
        &self,
        space: u32,
        known: &SpacePlaces,
        vector: &[i16],
        refined: bool,
    ) -> Result<Option<(u64, SharedVector)>> {
        let picture = unit(vector);
        let mut best: Option<(f32, u64, SharedVector)> = None;
        for key in known.near(vector) {
            let found = if_sound(shared::find(&*self.tables.vectors, space, key, known.dimensions))?.flatten();
            let Some(place) = found else { continue };
            let Some(founding) = &place.founding else { continue };
            let cosine = dot(&unit(&place.vector), &picture);
            // Also as like as γ to the first picture, so that a place does not wander off.
            let alike = cosine >= known.gamma && dot(&unit(&founding.vector), &picture) >= known.gamma;
            if alike && best.as_ref().is_none_or(|(most, _, _)| cosine > *most) {
                best = Some((cosine, key, place));
            }
        }
        Ok(best.map(|(_, key, place)| {
            let mut moved = unit(&place.vector);
            if refined && let Some(founding) = &place.founding {
                follow(&mut moved, &unit(&founding.vector), &picture);
            }
            (key, SharedVector { vector: quantize(&moved), ..place })
        }))
    }

    /// Reads the places of spaces that are not known yet.
    fn open_places(&self, spaces: &[PlaceSpace], places: &mut PlacesBySpace) -> Result<()> {
        for number in self.spaces() {
            if places.spaces.contains_key(number) {
                continue;
            }
            let Some(space) = self.tables.spaces.get(*number)? else { continue };
            let Some(space) = if_sound(open_space(*number, space.value()))? else { continue };
            let name = space.name.split_once(':').map_or("", |(_, name)| name);
            let Some(gamma) = gamma(spaces, name).filter(|_| sensed_of(&space) == Some(Sensed::Picture)) else {
                continue;
            };
            let mut known = SpacePlaces::new(space.dimensions, gamma);
            for entry in self.tables.vectors.range((*number, shared::FIRST)..=(*number, u64::MAX))? {
                let (key, value) = entry?;
                let key = key.value().1;
                if let Some(place) = if_sound(SharedVector::open(*number, key, space.dimensions, value.value()))? {
                    known.set(key, &place.vector);
                }
            }
            places.spaces.insert(*number, known);
        }
        Ok(())
    }
}

fn unit(vector: &[i16]) -> Vec<f32> {
    let mut vector: Vec<f32> = vector.iter().map(|component| f32::from(*component)).collect();
    normalise(&mut vector);
    vector
}
