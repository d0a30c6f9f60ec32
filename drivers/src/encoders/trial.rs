//! Tests whether an encoder gives plausible output, and measures its time (`engram models test` and `bench`).
//!
//! A trial needs only the encoder; pictures and sounds are generated. It checks what any model of the role must satisfy, such
//! as that two sentences of one meaning are closer than two of different meanings.

use std::sync::Arc;
use std::time::Duration;

use memory_core::ports::{AnswerExtractor, Passage, TextEmbedder};

use super::sounds::{BANDS, PATCH};
use super::{
    ALIGNED_SIDE, Encoder, Filled, JointEncoder, ObjectDetector, Picture, SceneClassifier, SoundClassifier,
    VectorEncoder, VoiceState, VoiceWindow,
};
use crate::models::Role;

/// Pixels of the pictures that are made up: what a camera source is scaled to.
const WIDTH: u32 = 640;
const HEIGHT: u32 = 360;
const PICTURE: &str = "a picture of 640x360";
const QUESTION: &str = "Where did Robin leave the blue mug this morning?";

/// Two texts of which the second answers [`QUESTION`].
const PASSAGES: [Passage<'static>; 2] = [
    Passage { text: "The rain stopped at noon.", before: "", age: Duration::from_secs(60) },
    Passage { text: "Robin put the blue mug on the shelf.", before: "", age: Duration::from_secs(60) },
];

/// One way to use one encoder.
pub struct Trial {
    /// The role.
    pub role: Role,
    /// Input of one run, in words.
    pub input: &'static str,
    once: Box<dyn Fn() -> Result<(), String> + Send>,
    check: Box<dyn Fn() -> Result<String, String> + Send>,
}

impl Trial {
    /// Runs the encoder as often as it takes to judge it and says what came out.
    ///
    /// # Errors
    /// If it fails or what came out makes no sense; the text says what.
    pub fn run(&self) -> Result<String, String> {
        (self.check)()
    }

    /// Runs the encoder once, to measure its time.
    ///
    /// # Errors
    /// If it fails.
    pub fn once(&self) -> Result<(), String> {
        (self.once)()
    }

    fn new(
        role: Role,
        input: &'static str,
        once: impl Fn() -> Result<(), String> + Send + 'static,
        check: impl Fn() -> Result<String, String> + Send + 'static,
    ) -> Self {
        Self { role, input, once: Box::new(once), check: Box::new(check) }
    }
}

/// A picture of a slanted, coloured pattern.
fn pattern(shift: u32) -> Vec<u8> {
    (0..WIDTH * HEIGHT)
        .flat_map(|at| {
            let (x, y) = (at % WIDTH, at / WIDTH);
            [(x + shift) / 3, (y * 2 + x / 4) / 3, (x / 2 + y + shift) / 5].map(|value| (value % 256) as u8)
        })
        .collect()
}

/// A picture of nothing.
fn grey() -> Vec<u8> {
    vec![128; (WIDTH * HEIGHT * 3) as usize]
}

fn silent_window() -> VoiceWindow {
    VoiceWindow { samples: [0.0; 576], state: VoiceState::default() }
}

fn picture(rgb: &[u8]) -> Picture<'_> {
    Picture { width: WIDTH, height: HEIGHT, rgb }
}

fn text(error: impl ToString) -> String {
    error.to_string()
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn unit(vector: &[f32], dimensions: usize) -> Result<(), String> {
    let norm = cosine(vector, vector).sqrt();
    if vector.len() == dimensions && (norm - 1.0).abs() < 1e-3 {
        Ok(())
    } else {
        Err(format!("a vector of {} numbers and length {norm}, expected {dimensions} and 1", vector.len()))
    }
}

/// A vector that is the same for the same input and another for another.
fn two_vectors(same: [Vec<f32>; 2], other: &[f32], dimensions: usize) -> Result<String, String> {
    let [first, again] = same;
    unit(&first, dimensions)?;
    unit(other, dimensions)?;
    let (repeated, apart) = (cosine(&first, &again), cosine(&first, other));
    if repeated < 0.999 {
        return Err(format!("the same input twice lies {repeated:.3} apart"));
    }
    if apart > 0.999 {
        return Err("everything lies at one place".to_owned());
    }
    Ok(format!("{dimensions} numbers, two inputs {apart:.2} alike"))
}

/// The trials of every encoder that is ready, in the order of the roles.
pub fn trials(filled: &Filled) -> Vec<Trial> {
    let mut trials = Vec::new();
    if let Some(model) = filled.text_embedding.clone() {
        let other = Arc::clone(&model);
        let once = move || model.embed(&[QUESTION]).map(drop).map_err(text);
        trials.push(Trial::new(Role::TextEmbedding, "one question", once, move || check_texts(&*other)));
    }
    if let Some(model) = filled.answer_extraction.clone() {
        let other = Arc::clone(&model);
        let once = move || model.extract(QUESTION, &PASSAGES).map(drop).map_err(text);
        trials.push(Trial::new(Role::AnswerExtraction, "one question, two texts", once, move || check_reader(&*other)));
    }
    if let Some(model) = filled.objects.clone() {
        let (other, rgb) = (Arc::clone(&model), pattern(0));
        let once = move || model.encode(&picture(&rgb)).map(drop).map_err(text);
        trials.push(Trial::new(Role::Objects, PICTURE, once, move || check_objects(&*other)));
    }
    if let Some(model) = filled.voice_activity.clone() {
        let other = Arc::clone(&model);
        let once = move || model.encode(&silent_window()).map(drop).map_err(text);
        trials.push(Trial::new(Role::VoiceActivity, "32 ms of sound", once, move || {
            match other.encode(&silent_window()).map_err(text)?.probability {
                silence if (0.0..0.5).contains(&silence) => Ok(format!("speech in silence {silence:.2}")),
                heard => Err(format!("hears speech in silence: {heard}")),
            }
        }));
    }
    if let Some(model) = filled.sound_events.clone() {
        let (other, patch) = (Arc::clone(&model), vec![0.001_f32.ln(); PATCH * BANDS]);
        let once = move || model.encode(&patch).map(drop).map_err(text);
        trials.push(Trial::new(Role::SoundEvents, "0.96 s of spectra", once, move || check_sounds(&*other)));
    }
    if let Some(model) = filled.faces.clone() {
        let (other, rgb) = (Arc::clone(&model), pattern(0));
        let once = move || model.encode(&picture(&rgb)).map(drop).map_err(text);
        trials.push(Trial::new(Role::Faces, PICTURE, once, move || {
            let found = other.encode(&picture(&grey())).map_err(text)?;
            nothing(found.len(), "face")
        }));
    }
    if let Some(model) = filled.scene_classes.clone() {
        let (other, rgb) = (Arc::clone(&model), pattern(0));
        let once = move || model.encode(&picture(&rgb)).map(drop).map_err(text);
        trials.push(Trial::new(Role::SceneClasses, PICTURE, once, move || check_scene(&*other)));
    }
    if let Some(model) = filled.image_embedding.clone() {
        let (other, rgb) = (Arc::clone(&model), pattern(0));
        let once = move || model.encode(&picture(&rgb)).map(drop).map_err(text);
        trials.push(Trial::new(Role::ImageEmbedding, PICTURE, once, move || {
            let embed = |rgb: &[u8]| other.encode(&picture(rgb)).map_err(text);
            two_vectors([embed(&pattern(0))?, embed(&pattern(0))?], &embed(&grey())?, other.dimensions())
        }));
    }
    if let Some(model) = filled.face_embedding.clone() {
        let (other, rgb) = (Arc::clone(&model), face(0));
        let once = move || model.encode(&aligned_face(&rgb)).map(drop).map_err(text);
        trials.push(Trial::new(Role::FaceEmbedding, "a face of 112x112", once, move || {
            let embed = |rgb: &[u8]| other.encode(&aligned_face(rgb)).map_err(text);
            two_vectors([embed(&face(0))?, embed(&face(0))?], &embed(&face(90))?, other.dimensions())
        }));
    }
    if let Some(model) = filled.voice_embedding.clone() {
        let (other, samples) = (Arc::clone(&model), voice(2));
        let once = move || model.encode(&samples).map(drop).map_err(text);
        trials.push(Trial::new(Role::VoiceEmbedding, "2 s of sound", once, move || {
            let embed = |pitch: usize| other.encode(&voice(pitch)).map_err(text);
            two_vectors([embed(2)?, embed(2)?], &embed(7)?, other.dimensions())
        }));
    }
    if let Some(model) = filled.speech_recognition.clone() {
        let (other, samples) = (Arc::clone(&model), voice(2));
        let once = move || model.encode(&samples).map(drop).map_err(text);
        trials.push(Trial::new(Role::SpeechRecognition, "2 s of sound", once, move || {
            let words = other.encode(&vec![0.0; 32_000]).map_err(text)?;
            match words.as_slice() {
                [] => Ok("no words in silence".to_owned()),
                [first, ..] => Err(format!("hears {} words in silence, the first is `{}`", words.len(), first.text)),
            }
        }));
    }
    if let Some(model) = filled.joint.clone() {
        let (other, rgb) = (Arc::clone(&model), pattern(0));
        let once = move || model.encode(&picture(&rgb)).map(drop).map_err(text);
        trials.push(Trial::new(Role::JointImageText, PICTURE, once, move || check_joint(&other)));
    }
    if let Some(model) = filled.text_detection.clone() {
        let (other, rgb) = (Arc::clone(&model), pattern(0));
        let once = move || model.encode(&picture(&rgb)).map(drop).map_err(text);
        trials.push(Trial::new(Role::TextDetection, PICTURE, once, move || {
            let black = vec![0; (WIDTH * HEIGHT * 3) as usize];
            let found = other.encode(&picture(&black)).map_err(text)?.len();
            if found == 0 {
                Ok("no writing in a black picture".to_owned())
            } else {
                Err(format!("sees {found} lines in a black picture"))
            }
        }));
    }
    if let Some(model) = filled.text_recognition.clone() {
        let (other, rgb) = (Arc::clone(&model), face(0));
        let once = move || model.encode(&aligned_face(&rgb)).map(drop).map_err(text);
        trials.push(Trial::new(Role::TextRecognition, "one line of writing", once, move || {
            let read = other.encode(&aligned_face(&vec![0; face(0).len()])).map_err(text)?;
            if (0.0..=1.0).contains(&read.confidence) {
                Ok(format!("reads `{}` where nothing is", read.text))
            } else {
                Err(format!("a confidence of {}", read.confidence))
            }
        }));
    }
    trials
}

/// Texts in batches of 2, 4 and 8, to measure their time. Only texts come in batches.
pub fn batches(filled: &Filled) -> Vec<Trial> {
    let Some(model) = &filled.text_embedding else { return Vec::new() };
    let batch = |count: usize, input: &'static str| {
        let (model, other) = (Arc::clone(model), Arc::clone(model));
        let texts = vec![QUESTION; count];
        let once = move || model.embed(&texts).map(drop).map_err(text);
        Trial::new(Role::TextEmbedding, input, once, move || check_texts(&*other))
    };
    vec![batch(2, "two questions"), batch(4, "four questions"), batch(8, "eight questions")]
}

fn check_reader(model: &dyn AnswerExtractor) -> Result<String, String> {
    let read = model.extract(QUESTION, &PASSAGES).map_err(text)?;
    let [other, right] = read.as_slice() else { return Err(format!("{} extractions of two texts", read.len())) };
    if right.relevance <= other.relevance {
        return Err(format!("the wrong text answers: {:.1} against {:.1}", other.relevance, right.relevance));
    }
    let words = PASSAGES[1].text.get(right.span.clone()).ok_or("the answer ends within a character")?;
    Ok(format!("finds `{words}`"))
}

fn check_joint(model: &JointEncoder) -> Result<String, String> {
    let filled = |colour: [u8; 3]| colour.repeat((WIDTH * HEIGHT) as usize);
    let seen = |rgb: &[u8]| model.encode(&picture(rgb)).map_err(text);
    let (red, blue) = (seen(&filled([220, 20, 20]))?, seen(&filled([20, 20, 220]))?);
    unit(&red, model.dimensions())?;
    let words = model.text().embed(&["red", "blue"]).map_err(text)?;
    let [red_word, blue_word] = words.as_slice() else { return Err(format!("{} vectors", words.len())) };
    unit(red_word, model.dimensions())?;
    // Either picture must lie nearer to its own word than the other picture does.
    let margin = cosine(&red, red_word) + cosine(&blue, blue_word) - cosine(&red, blue_word) - cosine(&blue, red_word);
    if margin <= 0.0 {
        return Err(format!("the words red and blue fit a red and a blue picture the wrong way round ({margin:.3})"));
    }
    Ok(format!("{} numbers; words fit pictures by {margin:.2}", model.dimensions()))
}

/// Returns a made-up face: a pattern of its size.
fn face(shift: u32) -> Vec<u8> {
    let pixels = (0..ALIGNED_SIDE * ALIGNED_SIDE).map(|at| (at % ALIGNED_SIDE + shift, at / ALIGNED_SIDE));
    pixels.flat_map(|(x, y)| [x * y / 40, x + y, x * 2 + shift].map(|value| (value % 256) as u8)).collect()
}

fn aligned_face(rgb: &[u8]) -> Picture<'_> {
    Picture { width: ALIGNED_SIDE, height: ALIGNED_SIDE, rgb }
}

/// Two seconds of a buzz.
fn voice(pitch: usize) -> Vec<f32> {
    (0..32_000_usize).map(|at| ((at * pitch % 160) as f32 / 160.0 - 0.5) * ((at / 800 % 3) as f32 / 3.0)).collect()
}

fn check_texts(model: &dyn TextEmbedder) -> Result<String, String> {
    let texts = ["A dog is barking in the garden.", "The dog barks outside.", "Shares fell on Monday."];
    let vectors = model.embed(&texts).map_err(text)?;
    let [dog, barks, shares] = vectors.as_slice() else { return Err(format!("{} vectors", vectors.len())) };
    unit(dog, model.dimensions())?;
    let (near, far) = (cosine(dog, barks), cosine(dog, shares));
    if near <= far {
        return Err(format!("two sentences about a dog are {near:.2} alike, one about shares {far:.2}"));
    }
    Ok(format!("{} numbers, same meaning {near:.2}, other meaning {far:.2}", model.dimensions()))
}

fn check_objects(model: &dyn ObjectDetector) -> Result<String, String> {
    let found = model.encode(&picture(&pattern(0))).map_err(text)?;
    let sane = |edges: &[f32; 4]| edges[0] <= edges[2] && edges[1] <= edges[3];
    if found.iter().any(|one| !(0.0..=1.0).contains(&one.score) || !sane(&one.bounds)) {
        return Err("a score or a box that cannot be".to_owned());
    }
    nothing(model.encode(&picture(&grey())).map_err(text)?.len(), "thing")
}

fn check_sounds(model: &dyn SoundClassifier) -> Result<String, String> {
    let silence = model.encode(&[0.001_f32.ln(); PATCH * BANDS]).map_err(text)?;
    let busy: Vec<f32> = (0..PATCH * BANDS).map(|at| (at * 37 % 101) as f32 / 25.0 - 3.0).collect();
    let noise = model.encode(&busy).map_err(text)?;
    if silence.classes.iter().chain(&noise.classes).any(|score| !(0.0..=1.0).contains(score)) {
        return Err("a score that is not from 0 to 1".to_owned());
    }
    if silence.classes == noise.classes {
        return Err("noise sounds to it like silence".to_owned());
    }
    let best = (0..silence.classes.len()).max_by(|a, b| silence.classes[*a].total_cmp(&silence.classes[*b]));
    let name = best.and_then(|best| model.labels().get(best)).map_or("nothing", |label| &**label);
    Ok(format!("{} classes; silence sounds like {name}", model.labels().len()))
}

fn check_scene(model: &dyn SceneClassifier) -> Result<String, String> {
    let scene = model.encode(&picture(&pattern(0))).map_err(text)?;
    let sum: f32 = scene.classes.iter().map(|(_, score)| score).sum();
    if scene.classes.iter().any(|(_, score)| !(0.0..=1.0).contains(score)) || sum > 1.2 {
        return Err(format!("probabilities that add up to {sum}"));
    }
    let best = scene.classes.first().map_or("nothing for sure", |(name, _)| &**name);
    Ok(format!("a pattern looks like {best}"))
}

fn nothing(found: usize, what: &str) -> Result<String, String> {
    if found == 0 {
        Ok(format!("no {what} in a grey picture"))
    } else {
        Err(format!("sees {found} of a {what} in a grey picture"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoders::{Detection, EncoderError};

    /// Sees something everywhere.
    struct Dreamer;

    impl Encoder<Picture<'_>, Vec<Detection>> for Dreamer {
        fn model(&self) -> &str {
            "dreamer"
        }

        fn encode(&self, _: &Picture<'_>) -> Result<Vec<Detection>, EncoderError> {
            Ok(vec![Detection { label: Arc::from("cat"), score: 0.9, bounds: [0.0, 0.0, 1.0, 1.0] }])
        }
    }

    impl ObjectDetector for Dreamer {}

    #[test]
    fn a_detector_that_sees_things_where_nothing_is_fails_its_trial() {
        let filled = Filled { objects: Some(Arc::new(Dreamer)), ..Filled::default() };
        let trials = trials(&filled);
        assert_eq!(trials.len(), 1, "what is absent has no trial");
        assert!(trials[0].run().unwrap_err().contains("in a grey picture"));
    }
}
