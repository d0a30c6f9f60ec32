//! Detects a missing signal: black, dark and disturbed pictures, and sound without a signal.
//!
//! Somebody may ask later when the light went out, and a robot must know when it was blind or deaf. No model is needed:
//! brightness and level are measured on the segmenter's input.

mod light;
mod picture;
mod sound;

use std::time::Duration;

use memory_core::{Kind, Modality};

pub(super) use picture::PictureSignal;
pub(super) use sound::SoundSignal;

/// Minimum length of a part of a condition inside a segment. The neighbouring segment reports a shorter one.
const MIN_PART: Duration = Duration::from_millis(400);

/// Condition of a picture or of sound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Condition {
    /// A picture without light or content.
    Black,
    /// A picture of a place in which the light is out.
    Dark,
    /// Pictures that have nothing to do with each other, pixel by pixel.
    Noise,
    /// Sound without even the noise of a quiet room.
    Silent,
}

impl Condition {
    /// The value of the attribute `signal`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Black => "black",
            Self::Dark => "dark",
            Self::Noise => "noise",
            Self::Silent => "silent",
        }
    }

    /// In words that somebody would ask with. A black picture may be a covered lens as well as a lost signal.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Black => "The picture is black: the camera sees nothing, no light or no signal.",
            Self::Dark => "It is dark: the light is almost out.",
            Self::Noise => "The picture is disturbed: there is noise in the video signal.",
            Self::Silent => "There is no sound at all: the signal is silent.",
        }
    }

    pub(super) fn kind(self) -> (Kind, Modality) {
        match self {
            Self::Black | Self::Dark | Self::Noise => (Kind::State, Modality::Visual),
            Self::Silent => (Kind::Sound, Modality::Audio),
        }
    }

    /// How long it must last to be told.
    fn shortest(self) -> Duration {
        Duration::from_millis(match self {
            Self::Black => 400,
            Self::Noise => 200,
            Self::Dark => 1000,
            // Noise gates and synthetic voices leave shorter gaps between words.
            Self::Silent => 1500,
        })
    }
}

/// A condition and the part of a segment for which it held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ConditionSpan {
    pub(super) condition: Condition,
    pub(super) start: Duration,
    pub(super) end: Duration,
}

impl ConditionSpan {
    /// Returns the part between `start` and `end`, if that is worth reporting.
    fn within(self, start: Duration, end: Duration) -> Option<Self> {
        let part = Self { start: self.start.max(start), end: self.end.min(end), ..self };
        (part.end.saturating_sub(part.start) >= MIN_PART.min(self.end.saturating_sub(self.start))).then_some(part)
    }
}
