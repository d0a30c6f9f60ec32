//! Finds faces and writing in a picture at full resolution. This is costly, so it runs only if the question asks for
//! them.

use std::time::Duration;

use memory_core::reasoning::{Look, SightingKind};

use super::fail;
use super::tiles::{TILES, outside, tile};
use crate::encoders::{ALIGNED_SIDE, Face, Filled, Picture, ReadText, WrittenLine, aligned, cut_out, overlap};
use crate::models::Role;
use crate::perception::again::Again;

/// Overlap above which two boxes show the same thing.
const MIN_OVERLAP: f32 = 0.5;
/// Longer side up to which the encoders see a picture in full, in pixels. Tiles of it would show nothing more.
const MAX_WHOLE_SIDE: u32 = 640;

/// Finds what is asked for in one picture, as a whole and in tiles.
pub(super) fn look(
    at: Duration,
    picture: &Picture<'_>,
    filled: &Filled,
    asked: &[SightingKind],
    again: &mut Again,
    look: &mut Look,
) {
    if asked.contains(&SightingKind::Face) && filled.faces.is_some() {
        let faces = faces(picture, filled, look);
        again.faces(at, picture, faces);
    }
    if asked.contains(&SightingKind::Writing) {
        for read in writing(picture, filled, look) {
            again.writing(at, read);
        }
    }
}

/// A tile: its bounds in the picture, its width and height, and its pixels.
type Tile = ([f32; 4], (u32, u32), Vec<u8>);

/// Returns the tiles of a picture; none if the encoders see it in full.
fn parts(picture: &Picture<'_>) -> Vec<Tile> {
    if picture.width.max(picture.height) <= MAX_WHOLE_SIDE {
        return Vec::new();
    }
    let part = |bounds: [f32; 4]| tile(picture, bounds).map(|(size, rgb)| (bounds, size, rgb));
    TILES.into_iter().filter_map(part).collect()
}

fn faces(picture: &Picture<'_>, filled: &Filled, look: &mut Look) -> Vec<(Face, Option<Vec<f32>>)> {
    let Some(detector) = &filled.faces else { return Vec::new() };
    let mut found: Vec<Face> = Vec::new();
    match detector.encode(picture) {
        Ok(faces) => found.extend(faces),
        Err(error) => fail(look, Role::Faces, &error.to_string()),
    }
    for (bounds, (width, height), rgb) in parts(picture) {
        match detector.encode(&Picture { width, height, rgb: &rgb }) {
            Ok(faces) => found.extend(faces.into_iter().map(|face| face_of_tile(face, bounds, picture))),
            Err(error) => fail(look, Role::Faces, &error.to_string()),
        }
    }
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    let mut kept: Vec<Face> = Vec::new();
    for face in found {
        if kept.iter().all(|other| overlap(&other.bounds, &face.bounds) <= MIN_OVERLAP) {
            kept.push(face);
        }
    }
    let vector = |face: &Face, look: &mut Look| {
        let encoder = filled.face_embedding.as_ref()?;
        let rgb = aligned(picture, face)?;
        let encoded = encoder.encode(&Picture { width: ALIGNED_SIDE, height: ALIGNED_SIDE, rgb: &rgb });
        encoded.map_err(|error| fail(look, Role::FaceEmbedding, &error.to_string())).ok()
    };
    kept.into_iter().map(|face| (face, vector(&face, look))).collect()
}

/// Converts a face in a tile to a face in the whole picture. Landmarks are in pixels.
fn face_of_tile(face: Face, bounds: [f32; 4], whole: &Picture<'_>) -> Face {
    let shift = [bounds[0] * whole.width as f32, bounds[1] * whole.height as f32].map(f32::round);
    let landmarks = face.landmarks.map(|[x, y]| [x + shift[0], y + shift[1]]);
    Face { bounds: outside(face.bounds, bounds), landmarks, ..face }
}

fn writing(picture: &Picture<'_>, filled: &Filled, look: &mut Look) -> Vec<ReadText> {
    let (Some(detector), Some(reader)) = (&filled.text_detection, &filled.text_recognition) else { return Vec::new() };
    let mut lines: Vec<WrittenLine> = Vec::new();
    match detector.encode(picture) {
        Ok(found) => lines.extend(found),
        Err(error) => fail(look, Role::TextDetection, &error.to_string()),
    }
    for (bounds, (width, height), rgb) in parts(picture) {
        match detector.encode(&Picture { width, height, rgb: &rgb }) {
            // A tile cuts off what lies on its border. A neighbouring tile or the whole picture has it in full.
            Ok(found) => lines.extend(
                found
                    .into_iter()
                    .filter(|line| !is_cut(&line.bounds, &bounds))
                    .map(|line| WrittenLine { bounds: outside(line.bounds, bounds), ..line }),
            ),
            Err(error) => fail(look, Role::TextDetection, &error.to_string()),
        }
    }
    lines.sort_by(|a, b| b.score.total_cmp(&a.score));
    let mut kept: Vec<WrittenLine> = Vec::new();
    for line in lines {
        if kept.iter().all(|other| overlap(&other.bounds, &line.bounds) <= MIN_OVERLAP) {
            kept.push(line);
        }
    }
    let mut texts = Vec::new();
    for line in kept {
        let Some((width, height, rgb)) = cut_out(picture, line.bounds) else { continue };
        match reader.encode(&Picture { width, height, rgb: &rgb }) {
            Ok(read) => texts.push(read),
            Err(error) => fail(look, Role::TextRecognition, &error.to_string()),
        }
    }
    texts
}

/// Returns whether a box in a tile touches an edge of the tile that is not an edge of the picture.
fn is_cut(found: &[f32; 4], tile: &[f32; 4]) -> bool {
    const EDGE_MARGIN: f32 = 0.01;
    (found[0] < EDGE_MARGIN && tile[0] > 0.0)
        || (found[1] < EDGE_MARGIN && tile[1] > 0.0)
        || (found[2] > 1.0 - EDGE_MARGIN && tile[2] < 1.0)
        || (found[3] > 1.0 - EDGE_MARGIN && tile[3] < 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_face_in_a_tile_has_its_place_and_its_landmarks_in_the_picture() {
        let rgb = vec![0; 1000 * 500 * 3];
        let whole = Picture { width: 1000, height: 500, rgb: &rgb };
        let face = Face { score: 0.9, bounds: [0.0, 0.0, 0.5, 0.5], landmarks: [[10.0, 20.0]; 5] };
        let found = face_of_tile(face, [0.29, 0.4, 0.71, 1.0], &whole);
        assert_eq!(found.landmarks[0], [300.0, 220.0]);
        assert!((found.bounds[0] - 0.29).abs() < 1e-6 && (found.bounds[3] - 0.7).abs() < 1e-6, "{:?}", found.bounds);
    }

    #[test]
    fn a_line_on_an_inner_border_of_a_tile_is_cut() {
        let tile = [0.0, 0.0, 0.42, 0.6];
        assert!(is_cut(&[0.5, 0.2, 1.0, 0.3], &tile) && is_cut(&[0.1, 0.9, 0.2, 1.0], &tile));
        assert!(!is_cut(&[0.0, 0.0, 0.5, 0.3], &tile), "the edge of the picture cuts nothing");
    }
}
