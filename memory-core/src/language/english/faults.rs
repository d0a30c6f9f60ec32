//! Words for faults of a picture or a sound.

use super::lexicon::{self, PartOfSpeech};
use super::tag::{Tag, Word};

/// Classes of nouns for faults.
const FAULT_CLASSES: &[&str] =
    &["trouble", "fault", "failure", "defect", "disturbance", "interruption", "difficulty", "malfunction"];
/// Verbs for the failure of a device.
const FAILURE_VERBS: &[&str] = &["fail", "malfunction", "break", "drop", "freeze", "disturb", "interrupt"];
/// Words for what shows a picture.
const PICTURE_WORDS: &[&str] = &["picture", "image", "video", "camera", "lens", "sight", "vision", "view", "eye"];
/// Words for what carries a sound.
const SOUND_WORDS: &[&str] = &["sound", "audio", "microphone", "mic", "hearing", "ear"];
/// Words for what carries either.
const SIGNAL_WORDS: &[&str] = &["signal", "recording", "stream", "feed", "transmission", "sensor"];
/// The faulty part of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FaultySignal {
    Picture,
    Sound,
    /// Both, or their carrier.
    Either,
}

/// Returns the part of the recording whose fault some words describe, if any.
pub(crate) fn faulty_signal<'a>(words: impl Iterator<Item = &'a Word>) -> Option<FaultySignal> {
    let (mut fault, mut picture, mut sound, mut either) = (false, false, false, false);
    for word in words {
        let lemma = word.lemma.as_str();
        fault |= match word.tag {
            Tag::Noun => FAULT_CLASSES.iter().any(|class| lexicon::is_a_as(lemma, class, PartOfSpeech::Noun).is_some()),
            Tag::Verb => FAILURE_VERBS.contains(&lemma),
            _ => false,
        } || lemma == "wrong";
        picture |= PICTURE_WORDS.contains(&lemma);
        sound |= SOUND_WORDS.contains(&lemma);
        either |= SIGNAL_WORDS.contains(&lemma);
    }
    match (picture, sound) {
        _ if !fault => None,
        (true, false) => Some(FaultySignal::Picture),
        (false, true) => Some(FaultySignal::Sound),
        (true, true) => Some(FaultySignal::Either),
        (false, false) => either.then_some(FaultySignal::Either),
    }
}
