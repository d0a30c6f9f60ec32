//! The tools of the loop of [`memory_core::reasoning`]. They decode an interval of a recording and run the encoders on
//! it.
//!
//! | tool | pictures | encoders |
//! |---|---|---|
//! | interval localiser | 30 to 150, short edge 256 | objects, scene classes; if asked: places, unlabelled words |
//! | scene snapper | few, full resolution, whole and in tiles | the same; if asked: faces and writing |
//! | clip explorer | the sound | sound events |
//! | transcriber | the sound | voice activity, speech recognition |
//! | clip analyser | 6 to 18, short edge 256, numbered, in 3 x 2 grids | a vision model, if an endpoint is configured |
//!
//! One picture is in memory at a time. The tools pause between pictures, as the machine's heat and live perception
//! require.

mod analyser;
mod closely;
mod grid;
mod likeness;
mod places;
mod speech;
mod tiles;

use std::sync::Arc;
use std::time::{Duration, Instant};

use memory_core::reasoning::{Look, LookError, LookOrder, Reach, SightingKind, Tool, Tools};
use memory_core::{Modality, StreamSpan};

use crate::archive::{ClipError, FrameOptions, RecordingPart, pictures, sound};
use crate::encoders::{BANDS, ClipViewer, Detection, Encoders, Filled, HOP, LogMel, PATCH, PATCH_HOP, Picture, RATE};
use crate::models::{Availability, InstalledModels, Role};
use crate::perception::Pace;
use crate::perception::again::{Again, merged};
use likeness::Likeness;
use places::Stays;
use tiles::{TILES, tile};

/// Short edge of the localiser's pictures, in pixels.
const SMALL_EDGE: u32 = 256;

/// Finds the files of recordings.
pub trait Recordings: Send + Sync {
    /// Returns the parts of files that show an interval of a recording, in order of time. There are none if the
    /// recording is gone or never belonged to this memory.
    fn stretches(&self, media: &str, stream: StreamSpan) -> Vec<RecordingPart>;
}

/// Labels that the encoders can give.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Labels {
    /// Labels of the object detector.
    pub objects: Vec<String>,
    /// Labels of the scene classifier.
    pub scenes: Vec<String>,
}

impl Labels {
    /// Reads the labels of the models that are installed.
    pub fn from_models(models: &InstalledModels) -> Self {
        let of = |role: Role| -> Vec<String> {
            let labels = match models.model(role) {
                Availability::Found(model) => model.labels().unwrap_or_default(),
                Availability::Absent(_) | Availability::Damaged(_) => Vec::new(),
            };
            labels.iter().map(|label| label.to_string()).collect()
        };
        Self { objects: of(Role::Objects), scenes: of(Role::SceneClasses) }
    }
}

/// Looks at recordings with the encoders of this machine.
pub struct Looking {
    encoders: Encoders,
    labels: Labels,
    recordings: Arc<dyn Recordings>,
    pace: Pace,
    viewer: Option<Arc<dyn ClipViewer>>,
}

impl Looking {
    /// Creates tools that follow `pace`.
    pub fn new(encoders: Encoders, labels: Labels, recordings: Arc<dyn Recordings>, pace: Pace) -> Self {
        Self { encoders, labels, recordings, pace, viewer: None }
    }

    /// Adds a vision model for the clip analyser.
    #[must_use]
    pub fn with_viewer(self, viewer: Option<Arc<dyn ClipViewer>>) -> Self {
        Self { viewer, ..self }
    }

    fn see(
        &self,
        order: &LookOrder<'_>,
        stretches: &[RecordingPart],
        filled: &Filled,
        look: &mut Look,
        again: &mut Again,
    ) -> Result<(), LookError> {
        let short_edge = match order.tool {
            Tool::IntervalLocaliser => Some(SMALL_EDGE),
            _ => None,
        };
        let deadline = Instant::now() + order.budget;
        let options = FrameOptions {
            short_edge,
            ceiling_bytes: order.ceiling_bytes,
            deadline,
            cancelled: &|| (order.cancelled)(),
        };
        let in_tiles = order.tool == Tool::SceneSnapper;
        let mut stays = Stays::new(order.places, filled);
        let mut likeness = Likeness::new(order.things, filled, look);
        let decoded = pictures(stretches, &moments(order.stream, order.pictures), options, |at, picture| {
            let begin = Instant::now();
            again.picture(at);
            perceive(at, picture, filled, in_tiles, again, look);
            stays.push(at, picture, look);
            likeness.push(at, picture, in_tiles, look);
            if in_tiles {
                closely::look(at, picture, filled, order.asked, again, look);
            }
            self.rest(begin.elapsed(), deadline);
        });
        match decoded {
            Ok(decoded) => {
                look.pictures = decoded.count;
                look.bytes = look.bytes.max(decoded.bytes);
                look.sightings.extend(stays.sightings());
                look.sightings.extend(likeness.sightings());
                Ok(())
            }
            Err(error) => Err(refused(error)),
        }
    }

    fn listen(
        &self,
        order: &LookOrder<'_>,
        stretches: &[RecordingPart],
        filled: &Filled,
        look: &mut Look,
        again: &mut Again,
    ) -> Result<(), LookError> {
        let Some(model) = &filled.sound_events else { return Ok(()) };
        let deadline = Instant::now() + order.budget;
        let options = FrameOptions {
            short_edge: None,
            ceiling_bytes: order.ceiling_bytes,
            deadline,
            cancelled: &|| (order.cancelled)(),
        };
        let mut mel = LogMel::default();
        let mut rows: Vec<f32> = Vec::new();
        let (mut begin, mut behind, mut expected): (Option<Duration>, u64, Option<Duration>) = (None, 0, None);
        let mut failure = None;
        let decoded = sound(stretches, options, |at, samples| {
            let started = Instant::now();
            // Sound that does not follow the previous block starts a new series of rows.
            if expected.is_none_or(|expected| expected.abs_diff(at) > Duration::from_millis(40)) {
                mel.restart();
                rows.clear();
                (begin, behind) = (Some(at), 0);
            }
            expected = Some(at + Duration::from_secs_f64(samples.len() as f64 / f64::from(RATE)));
            mel.push(samples, |row| rows.extend(row));
            while rows.len() >= PATCH * BANDS {
                let start = begin.unwrap_or(at) + Duration::from_millis(behind * (HOP as u64 * 1000 / u64::from(RATE)));
                match model.encode(&rows[..PATCH * BANDS]) {
                    Ok(scores) => again.sound(start + Duration::from_millis(480), model.labels(), &scores.classes),
                    Err(error) => failure = Some(error.to_string()),
                }
                rows.drain(..PATCH_HOP * BANDS);
                behind += PATCH_HOP as u64;
            }
            self.rest(started.elapsed(), deadline);
        });
        look.degraded.extend(failure.map(|failure| format!("{}: {failure}", Role::SoundEvents)));
        match decoded {
            Ok(decoded) => {
                look.bytes = look.bytes.max(decoded.bytes);
                Ok(())
            }
            // A recording without sound is not gone, because its pictures are still there.
            Err(ClipError::Nothing) => Ok(()),
            Err(error) => Err(refused(error)),
        }
    }

    /// Pauses, to leave the processor to other work.
    #[expect(
        clippy::disallowed_methods,
        reason = "nothing is awaited: the rest is what it is for, and the deadline bounds it"
    )]
    fn rest(&self, took: Duration, deadline: Instant) {
        let rest = self.pace.rest(took).min(deadline.saturating_duration_since(Instant::now()));
        if !rest.is_zero() {
            std::thread::sleep(rest);
        }
    }
}

/// Returns moments spread evenly over an interval.
fn moments(stream: StreamSpan, count: usize) -> Vec<Duration> {
    let length = stream.end.saturating_sub(stream.start);
    let count = u32::try_from(count).unwrap_or(u32::MAX).max(1);
    (0..count).map(|number| stream.start + length * (2 * number + 1) / (2 * count)).collect()
}

/// Runs the picture encoders on one picture.
fn perceive(at: Duration, picture: &Picture<'_>, filled: &Filled, in_tiles: bool, again: &mut Again, look: &mut Look) {
    let mut failed = |role: Role, error: String| fail(look, role, &error);
    if let Some(objects) = &filled.objects {
        let mut all = Vec::new();
        match objects.encode(picture) {
            Ok(found) => all.extend(found),
            Err(error) => failed(Role::Objects, error.to_string()),
        }
        if in_tiles {
            for bounds in TILES {
                let Some((part, rgb)) = tile(picture, bounds) else { continue };
                match objects.encode(&Picture { width: part.0, height: part.1, rgb: &rgb }) {
                    Ok(found) => all.extend(
                        found
                            .into_iter()
                            .map(|found| Detection { bounds: tiles::outside(found.bounds, bounds), ..found }),
                    ),
                    Err(error) => failed(Role::Objects, error.to_string()),
                }
            }
            all = merged(all);
        }
        again.objects(at, picture, &all);
    }
    if let Some(scenes) = &filled.scene_classes {
        match scenes.encode(picture) {
            Ok(classes) => again.scene(at, &classes),
            Err(error) => failed(Role::SceneClasses, error.to_string()),
        }
        if in_tiles {
            for bounds in TILES {
                let Some((part, rgb)) = tile(picture, bounds) else { continue };
                if let Ok(classes) = scenes.encode(&Picture { width: part.0, height: part.1, rgb: &rgb }) {
                    again.scene(at, &classes);
                }
            }
        }
    }
}

fn fail(look: &mut Look, role: Role, error: &str) {
    let line = format!("{role}: {error}");
    if !look.degraded.contains(&line) {
        look.degraded.push(line);
    }
}

fn refused(error: ClipError) -> LookError {
    match error {
        ClipError::Nothing => LookError::Gone,
        other => LookError::Failed(other.to_string()),
    }
}

impl Tools for Looking {
    fn reach(&self, tool: Tool) -> Reach {
        let filled = self.encoders.filled();
        let mut reach = Reach::default();
        let mut see = || {
            for (names, there) in [
                (&self.labels.objects, filled.objects.is_some()),
                (&self.labels.scenes, filled.scene_classes.is_some()),
            ] {
                reach.labels.extend(names.iter().filter(|_| there).map(|name| (Modality::Visual, name.clone())));
            }
            let only_scene = |name: &&String| !self.labels.objects.contains(name);
            reach.scenes = self.labels.scenes.iter().filter(only_scene).cloned().collect();
            reach.likeness = filled.joint.as_ref().is_some_and(|encoder| encoder.tells());
            reach.places = filled.image_embedding.as_ref().map(|encoder| encoder.space().to_owned());
        };
        let missing = |kind: SightingKind, roles: &[Role]| {
            let absent = self.encoders.absent_roles();
            let named = |role: &Role| absent.iter().find(|absent| absent.role == role.name());
            let lines =
                roles.iter().filter_map(named).map(|absent| (kind, format!("{}: {}", absent.role, absent.reason)));
            lines.collect::<Vec<_>>()
        };
        match tool {
            Tool::IntervalLocaliser => see(),
            Tool::SceneSnapper => {
                see();
                reach.writing = filled.text_detection.is_some() && filled.text_recognition.is_some();
                reach.faces = filled.faces.is_some();
                reach.missing = missing(SightingKind::Writing, &[Role::TextDetection, Role::TextRecognition]);
                reach.missing.extend(missing(SightingKind::Face, &[Role::Faces, Role::FaceEmbedding]));
            }
            Tool::ClipExplorer => {
                let names = filled.sound_events.iter().flat_map(|model| model.labels());
                reach.labels.extend(names.map(|name| (Modality::Audio, name.to_string())));
            }
            Tool::ClipAnalyser => reach.question = self.viewer.is_some(),
            Tool::Transcriber => {
                reach.speech = filled.speech_recognition.is_some();
                reach.missing = missing(SightingKind::Speech, &[Role::SpeechRecognition]);
            }
        }
        reach
    }

    fn look(&self, order: &LookOrder<'_>) -> Result<Look, LookError> {
        let stretches = self.recordings.stretches(order.media, order.stream);
        if stretches.is_empty() {
            return Err(LookError::Gone);
        }
        let there: Duration = stretches.iter().map(|stretch| stretch.to.saturating_sub(stretch.from)).sum();
        let length = order.stream.end.saturating_sub(order.stream.start);
        let mut look = Look { missing: length.saturating_sub(there), ..Look::default() };
        let filled = self.encoders.filled();
        let mut again = Again::default();
        match order.tool {
            Tool::ClipExplorer => self.listen(order, &stretches, &filled, &mut look, &mut again)?,
            Tool::IntervalLocaliser | Tool::SceneSnapper => {
                self.see(order, &stretches, &filled, &mut look, &mut again)?;
            }
            Tool::Transcriber => self.transcribe(order, &filled, &mut look)?,
            Tool::ClipAnalyser => self.analyse(order, &stretches, &mut look)?,
        }
        if (order.cancelled)() {
            return Err(LookError::Cancelled);
        }
        let face_space = filled.face_embedding.as_ref().map(|encoder| encoder.space());
        look.sightings.extend(again.sightings(face_space));
        Ok(look)
    }
}
