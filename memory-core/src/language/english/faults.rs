//! Words for what is wrong with a picture or a sound.

use super::lexicon::{self, PartOfSpeech};
use super::tag::{Tag, Word};

/// Classes of what is not as it should be.
const FAULTS: &[&str] =
    &["trouble", "fault", "failure", "defect", "disturbance", "interruption", "difficulty", "malfunction"];
/// Verbs of a device that does not do what it should.
const FAILS: &[&str] = &["fail", "malfunction", "break", "drop", "freeze", "disturb", "interrupt"];
/// What shows a picture, and what carries a sound.
const PICTURE: &[&str] = &["picture", "image", "video", "camera", "lens", "sight", "vision", "view", "eye"];
const SOUND: &[&str] = &["sound", "audio", "microphone", "mic", "hearing", "ear"];
const EITHER: &[&str] = &["signal", "recording", "stream", "feed", "transmission", "sensor"];
/// What is said to be at fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Faulty {
    Picture,
    Sound,
    /// Both, or what carries them.
    Either,
}

/// Whether some words speak of a fault of a picture or a sound, and of which.
pub(crate) fn of_signal<'a>(words: impl Iterator<Item = &'a Word>) -> Option<Faulty> {
    let (mut fault, mut picture, mut sound, mut either) = (false, false, false, false);
    for word in words {
        let lemma = word.lemma.as_str();
        fault |= match word.tag {
            Tag::Noun => FAULTS.iter().any(|class| lexicon::is_a_as(lemma, class, PartOfSpeech::Noun).is_some()),
            Tag::Verb => FAILS.contains(&lemma),
            _ => false,
        } || lemma == "wrong";
        picture |= PICTURE.contains(&lemma);
        sound |= SOUND.contains(&lemma);
        either |= EITHER.contains(&lemma);
    }
    match (picture, sound) {
        _ if !fault => None,
        (true, false) => Some(Faulty::Picture),
        (false, true) => Some(Faulty::Sound),
        (true, true) => Some(Faulty::Either),
        (false, false) => either.then_some(Faulty::Either),
    }
}
