//! The clip analyser: shows a vision model numbered pictures of an interval, and the question.

use std::time::{Duration, Instant};

use memory_core::StreamSpan;
use memory_core::reasoning::{Look, LookError, LookOrder, Sighting, SightingKind};

use super::grid::{GRID_PICTURES, Grids};
use super::{Looking, SMALL_EDGE, moments, refused};
use crate::archive::{FrameOptions, RecordingPart, jpeg, pictures};
use crate::encoders::{NumberedPictures, Picture};

impl Looking {
    /// Shows the interval of an order to the vision model.
    pub(super) fn analyse(
        &self,
        order: &LookOrder<'_>,
        stretches: &[RecordingPart],
        look: &mut Look,
    ) -> Result<(), LookError> {
        let Some(viewer) = &self.viewer else { return Ok(()) };
        let deadline = Instant::now() + order.budget;
        let options = FrameOptions {
            short_edge: Some(SMALL_EDGE),
            ceiling_bytes: order.ceiling_bytes,
            deadline,
            cancelled: &|| (order.cancelled)(),
        };
        // Half of the ceiling is for the grids, half for what is decoded. There is room for one grid at least.
        let cell = (SMALL_EDGE * SMALL_EDGE * 16 / 9 * 3) as usize;
        let count = order.pictures.min((order.ceiling_bytes / 2 / cell).max(GRID_PICTURES));
        let (mut grids, mut times): (Grids, Vec<Duration>) = (Grids::default(), Vec::new());
        let decoded = pictures(stretches, &moments(order.stream, count), options, |at, picture| {
            grids.push(picture);
            times.push(at);
        })
        .map_err(refused)?;
        look.pictures = decoded.count;
        look.bytes = look.bytes.max(decoded.bytes + grids.bytes());
        if (order.cancelled)() {
            return Err(LookError::Cancelled);
        }
        let as_jpeg = |(width, height, rgb): &(u32, u32, Vec<u8>)| {
            jpeg(&Picture { width: *width, height: *height, rgb }, *width).map_err(refused)
        };
        let grids: Vec<Vec<u8>> = grids.finished().iter().map(as_jpeg).collect::<Result<_, _>>()?;
        let shown = NumberedPictures { grids, count: times.len() };
        let left = deadline.saturating_duration_since(Instant::now());
        let viewed = match viewer.view(order.question, &shown, left) {
            Ok(viewed) => viewed,
            Err(reason) => {
                look.degraded.push(reason);
                return Ok(());
            }
        };
        let seen: Vec<usize> =
            viewed.numbers.iter().filter_map(|number| number.checked_sub(1)).filter(|at| *at < times.len()).collect();
        let (Some(first), Some(last)) = (seen.iter().min(), seen.iter().max()) else { return Ok(()) };
        if viewed.text.is_empty() {
            return Ok(());
        }
        // A picture stands for the time up to the midpoints between it and its neighbours.
        let half = (order.stream.end.saturating_sub(order.stream.start)) / (2 * count.max(1)) as u32;
        let stream = StreamSpan {
            start: times[*first].saturating_sub(half).max(order.stream.start),
            end: (times[*last] + half).min(order.stream.end),
        };
        look.sightings.push(Sighting {
            kind: SightingKind::Description,
            label: viewed.text.clone(),
            text: viewed.text,
            score: viewed.confidence.clamp(0.0, 1.0),
            share: seen.len() as f32 / times.len() as f32,
            count: 1,
            colours: Vec::new(),
            stream,
            vector: None,
        });
        Ok(())
    }
}
