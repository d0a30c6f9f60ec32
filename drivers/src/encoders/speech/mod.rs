//! What is said.

mod onnx;
#[cfg(feature = "whisper")]
mod whisper;

use std::sync::Arc;
use std::time::Duration;

pub use onnx::OnnxWhisper;
#[cfg(feature = "whisper")]
pub use whisper::Whisper;

use super::{Encoder, EncoderError};
use crate::models::InstalledModel;

/// Value of `runtime` for models that whisper.cpp runs.
pub(super) const WHISPER: &str = "whisper";

/// A word, and when it was said.
#[derive(Debug, Clone, PartialEq)]
pub struct SpokenWord {
    /// The word as it is written, with its punctuation.
    pub text: String,
    /// Begin, counted from the first sample.
    pub start: Duration,
    /// End, counted from the first sample.
    pub end: Duration,
    /// 0 to 1.
    pub confidence: f32,
}

/// Writes down a stretch of speech, 16 kHz in -1 to 1, No words where it hears none. A model may refuse what is
/// longer than half a minute.
pub trait SpeechRecogniser: Encoder<[f32], Vec<SpokenWord>> {}

/// Whether this program can run models of the runtime `whisper`, and if not, what to do.
///
/// # Errors
/// If it was built without.
pub(super) fn available() -> Result<(), String> {
    if cfg!(feature = "whisper") {
        return Ok(());
    }
    Err("this engram was built without whisper.cpp: build it with `--features whisper`, or take the catalogue's model \
         again (engram models remove \"speech recognition\")"
        .to_owned())
}

/// Loads a model of whisper.cpp.
///
/// # Errors
/// If this program was built without it, or the model cannot be used.
pub(super) fn load(installed: &InstalledModel, threads: usize) -> Result<Arc<dyn SpeechRecogniser>, EncoderError> {
    available().map_err(EncoderError::Entry)?;
    #[cfg(feature = "whisper")]
    return Ok(Arc::new(Whisper::load(installed, threads)?));
    #[cfg(not(feature = "whisper"))]
    Err(EncoderError::Entry(format!("{}: no runtime for {threads} threads", installed.entry.name)))
}

/// Words of remarks that are written in capitals: where brackets are not allowed, a model leaves them out.
const REMARKS: [&str; 16] = [
    "APPLAUSE",
    "AUDIO",
    "BEEP",
    "BLANK",
    "CHEERING",
    "INAUDIBLE",
    "LAUGHTER",
    "LAUGHS",
    "MUSIC",
    "NOISE",
    "PLAYING",
    "SILENCE",
    "SINGING",
    "SIREN",
    "SOUND",
    "SCREAMING",
];

/// Takes out what a model remarks and nobody says, such as `[BLANK_AUDIO]`, `(upbeat music)` or nothing but `MUSIC`.
fn without_remarks(words: &mut Vec<SpokenWord>) {
    let mut inside = false;
    words.retain(|word| {
        let begins = word.text.starts_with(['[', '(', '♪']);
        let ends = word.text.trim_end_matches(['.', ',', '!', '?']).ends_with([']', ')', '♪']);
        let remark = inside || begins;
        inside = remark && !ends;
        !remark
    });
    let plain = |word: &SpokenWord| REMARKS.contains(&word.text.trim_matches(|sign: char| !sign.is_alphanumeric()));
    if words.iter().all(plain) {
        words.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_of_the_model_are_not_what_was_said() {
        let said = |text: &str| {
            let word = |text: &str| SpokenWord {
                text: text.to_owned(),
                start: Duration::ZERO,
                end: Duration::ZERO,
                confidence: 1.0,
            };
            let mut words: Vec<SpokenWord> = text.split(' ').map(word).collect();
            without_remarks(&mut words);
            words.iter().map(|word| word.text.clone()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(said("[BLANK_AUDIO]"), "");
        assert_eq!(said("(upbeat music) Good morning. (door closes)"), "Good morning.");
        assert_eq!(said("Good morning."), "Good morning.");
        assert_eq!(said("MUSIC PLAYING."), "");
        assert_eq!(said("NASA plays MUSIC."), "NASA plays MUSIC.");
        assert_eq!(said("Music."), "Music.");
    }
}
