//! Finds things for which no encoder has a label. Pictures are compared with words, if a model places both in one
//! space.

use std::sync::Arc;
use std::time::Duration;

use memory_core::reasoning::{AskedThing, Look, Sighting, SightingKind};

use super::fail;
use super::tiles::{TILES, tile};
use crate::encoders::{Encoder, Filled, JointEncoder, Picture};
use crate::models::Role;
use crate::perception::again::span_around;

/// Probability from which a picture shows a thing. The threshold of the space is where both outcomes are equally
/// likely.
const MIN_PROBABILITY: f32 = 0.5;

/// A thing that is asked for, and the pictures that show it.
struct Compared<'a> {
    asked: &'a AskedThing,
    vector: Vec<f32>,
    /// Highest probability among the pictures.
    score: f32,
    times: Vec<Duration>,
}

/// Comparison of the pictures of an interval with the things that are asked for.
pub(super) struct Likeness<'a> {
    encoder: Option<Arc<JointEncoder>>,
    things: Vec<Compared<'a>>,
    pictures: Vec<Duration>,
}

impl<'a> Likeness<'a> {
    /// Embeds the things. Nothing is compared if there are none, or if no model gives a probability.
    pub fn new(things: &'a [AskedThing], filled: &Filled, look: &mut Look) -> Self {
        let none = Self { encoder: None, things: Vec::new(), pictures: Vec::new() };
        let encoder = filled.joint.as_ref().filter(|encoder| encoder.tells() && !things.is_empty());
        let Some(encoder) = encoder else { return none };
        let texts: Vec<String> = things.iter().map(|thing| format!("a photo of {}", thing.phrase)).collect();
        let borrowed: Vec<&str> = texts.iter().map(String::as_str).collect();
        match encoder.text().embed(&borrowed) {
            Ok(vectors) => {
                let compared = |(asked, vector)| Compared { asked, vector, score: 0.0, times: Vec::new() };
                let things = things.iter().zip(vectors).map(compared).collect();
                Self { encoder: Some(Arc::clone(encoder)), things, ..none }
            }
            Err(error) => {
                fail(look, Role::JointImageText, &error.to_string());
                none
            }
        }
    }

    /// Adds the next picture, with its tiles if `in_tiles`.
    pub fn push(&mut self, at: Duration, picture: &Picture<'_>, in_tiles: bool, look: &mut Look) {
        let Some(encoder) = self.encoder.clone() else { return };
        self.pictures.push(at);
        let tiles = TILES.into_iter().filter(|_| in_tiles).filter_map(|bounds| tile(picture, bounds));
        let tiles: Vec<((u32, u32), Vec<u8>)> = tiles.collect();
        let parts = tiles.iter().map(|((width, height), rgb)| Picture { width: *width, height: *height, rgb });
        let whole = Picture { width: picture.width, height: picture.height, rgb: picture.rgb };
        for part in std::iter::once(whole).chain(parts) {
            match encoder.encode(&part) {
                Ok(vector) => self.compare(at, &vector, &encoder),
                Err(error) => fail(look, Role::JointImageText, &error.to_string()),
            }
        }
    }

    fn compare(&mut self, at: Duration, picture: &[f32], encoder: &JointEncoder) {
        for thing in &mut self.things {
            // Both are unit vectors.
            let cosine = thing.vector.iter().zip(picture).map(|(a, b)| a * b).sum();
            let probability = encoder.probability(cosine).unwrap_or(0.0);
            if probability >= MIN_PROBABILITY {
                thing.score = thing.score.max(probability);
                if thing.times.last() != Some(&at) {
                    thing.times.push(at);
                }
            }
        }
    }

    /// Returns the things that the pictures show, in the order in which they were asked for.
    pub fn sightings(self) -> Vec<Sighting> {
        let Self { things, pictures, .. } = self;
        let sighting = |thing: Compared<'_>| {
            let (first, last) = (*thing.times.first()?, *thing.times.last()?);
            Some(Sighting {
                kind: SightingKind::Likeness,
                label: thing.asked.phrase.clone(),
                text: thing.asked.sentence.clone(),
                score: thing.score,
                share: thing.times.len() as f32 / pictures.len().max(1) as f32,
                count: 1,
                colours: Vec::new(),
                stream: span_around(first, last, &pictures),
                vector: None,
            })
        };
        things.into_iter().filter_map(sighting).collect()
    }
}
