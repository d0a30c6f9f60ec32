//! Recognises which known place the pictures show.
//!
//! Successive pictures with a cosine of at least γ form one stay. A stay is compared by its mean, as a segment is in
//! the live pass.

use std::sync::Arc;
use std::time::Duration;

use memory_core::reasoning::{KnownPlace, Look, Sighting, SightingKind};

use super::fail;
use crate::encoders::{Filled, ImageEmbedder, Picture};
use crate::models::Role;
use crate::perception::again::span_around;

/// Successive pictures of one place.
struct Stay {
    /// Sum of their unit vectors.
    sum: Vec<f32>,
    first: Duration,
    last: Duration,
    count: usize,
}

/// The stays of an interval, in order of time.
pub(super) struct Stays<'a> {
    encoder: Option<Arc<dyn ImageEmbedder>>,
    /// Known places in the encoder's space.
    places: Vec<&'a KnownPlace>,
    stays: Vec<Stay>,
    pictures: Vec<Duration>,
}

impl<'a> Stays<'a> {
    /// Creates an empty list. No picture is encoded if no place in the encoder's space is known.
    pub fn new(places: &'a [KnownPlace], filled: &Filled) -> Self {
        let encoder = filled.image_embedding.clone();
        let own = |place: &&KnownPlace| encoder.as_ref().is_some_and(|encoder| encoder.space() == place.space);
        let places: Vec<&KnownPlace> = places.iter().filter(own).collect();
        Self { encoder: encoder.filter(|_| !places.is_empty()), places, stays: Vec::new(), pictures: Vec::new() }
    }

    /// Adds the next picture.
    pub fn push(&mut self, at: Duration, picture: &Picture<'_>, look: &mut Look) {
        let Some(encoder) = &self.encoder else { return };
        match encoder.encode(picture) {
            Ok(vector) => self.add(at, vector),
            Err(error) => fail(look, Role::ImageEmbedding, &error.to_string()),
        }
    }

    fn add(&mut self, at: Duration, vector: Vec<f32>) {
        self.pictures.push(at);
        let gamma = self.places.first().map_or(1.0, |place| place.gamma);
        match self.stays.last_mut().filter(|stay| cosine(&stay.sum, &vector) >= gamma) {
            Some(stay) => {
                stay.sum.iter_mut().zip(&vector).for_each(|(sum, number)| *sum += number);
                (stay.last, stay.count) = (at, stay.count + 1);
            }
            None => self.stays.push(Stay { sum: vector, first: at, last: at, count: 1 }),
        }
    }

    /// Returns the known place that each stay shows, if any. Successive stays at one place form one sighting.
    pub fn sightings(self) -> Vec<Sighting> {
        let mut found: Vec<(&str, f32, Stay)> = Vec::new();
        let mut before: Option<&str> = None;
        for stay in self.stays {
            let best = self.places.iter().filter_map(|place| Some((place, most_alike(place, &stay.sum)?)));
            // Stable: the first of several equals is taken.
            let best = best.reduce(|best, other| if other.1 > best.1 { other } else { best });
            let Some((place, cosine)) = best else {
                before = None;
                continue;
            };
            match found.last_mut().filter(|(name, ..)| before == Some(*name) && *name == place.name) {
                Some((_, most, known)) => {
                    *most = most.max(cosine);
                    (known.last, known.count) = (stay.last, known.count + stay.count);
                }
                None => found.push((&place.name, cosine, stay)),
            }
            before = Some(&place.name);
        }
        let sighting = |(name, cosine, stay): (&str, f32, Stay)| {
            let stream = span_around(stay.first, stay.last, &self.pictures);
            Sighting {
                kind: SightingKind::Place,
                label: name.to_owned(),
                text: name.to_owned(),
                score: cosine.clamp(0.0, 1.0),
                share: stay.count as f32 / self.pictures.len().max(1) as f32,
                count: 1,
                colours: Vec::new(),
                stream,
                vector: None,
            }
        };
        found.into_iter().map(sighting).collect()
    }
}

/// Returns the cosine of a stay and the nearest view of a place; `None` below γ.
fn most_alike(place: &KnownPlace, stay: &[f32]) -> Option<f32> {
    place.views.iter().map(|view| cosine(view, stay)).fold(None, |most, next| {
        if next >= place.gamma && most.is_none_or(|most| next > most) { Some(next) } else { most }
    })
}

/// Returns the cosine of two vectors; 0 if their dimensions differ or one of them is zero.
fn cosine(a: &[f32], b: &[f32]) -> f32 {
    if a.len() != b.len() {
        return 0.0;
    }
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt().max(f32::EPSILON)
}
