//! How well an event suits a question by what it is, beside the words it holds: its sense, its kind, and how firmly it was
//! perceived.

use super::question::terms_of;
use super::retrieve::Found;
use crate::index::{term_of, words};
use crate::{Event, Kind, Modality, Value};

/// How much of its score an event of another sense keeps that holds none of the question's content.
const OTHER_SENSE: f32 = 0.7;
/// The same of one that is heard, where speech is asked for and it is a sound, or the other way round.
const OTHER_KIND: f32 = 0.7;
/// The same of one that tells that somebody spoke, and not what.
const WORDLESS: f32 = 0.5;
/// Seconds beyond which a longer look makes a sighting no firmer.
const LONG_ENOUGH: f32 = 10.0;

/// What a question asks to be told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Wanted {
    pub sense: Option<Modality>,
    /// Of what was heard, the words (`true`) or the sounds (`false`), where the question tells.
    pub speech: Option<bool>,
}

impl Wanted {
    /// What `text`, a question without the event that places it, asks for.
    pub fn of(text: &str, sense: Option<Modality>) -> Self {
        let (mut spoken, mut sounded) = (false, false);
        for word in words(text) {
            spoken |= matches!(
                word.as_str(),
                "mention"
                    | "mentioned"
                    | "narrator"
                    | "said"
                    | "say"
                    | "saying"
                    | "says"
                    | "sentence"
                    | "sentences"
                    | "speech"
                    | "spoke"
                    | "spoken"
                    | "talk"
                    | "talked"
                    | "tell"
                    | "told"
                    | "word"
                    | "words"
            );
            sounded |= matches!(
                word.as_str(),
                "call" | "music" | "noise" | "noises" | "ring" | "rang" | "sound" | "sounds" | "song"
            );
        }
        let speech = match (spoken, sounded) {
            (true, false) => Some(true),
            (false, true) => Some(false),
            _ => None,
        };
        Self { sense, speech }
    }

    /// The share of its score that an event keeps which holds `coverage` of the question's content.
    pub fn share(self, event: &Event, coverage: f32) -> f32 {
        let least = self.least(event);
        least + (1.0 - least) * coverage.clamp(0.0, 1.0)
    }

    /// Whether an event is just of the sense and kind that is asked for.
    pub fn wants(self, event: &Event) -> bool {
        self.least(event) >= 1.0
    }

    fn least(self, event: &Event) -> f32 {
        let Some(sense) = self.sense else { return 1.0 };
        if event.modality != sense {
            OTHER_SENSE
        } else if event.kind == Kind::Sound && tells_only_that_somebody_spoke(event) {
            WORDLESS
        } else if matches!((self.speech, event.kind), (Some(true), Kind::Sound) | (Some(false), Kind::Text)) {
            OTHER_KIND
        } else {
            1.0
        }
    }
}

fn tells_only_that_somebody_spoke(event: &Event) -> bool {
    terms_of(&event.text).contains(&term_of("speak"))
}

/// How firmly something was perceived: by its confidence, squared so that doubtful detections count little, for how long,
/// and how many of it there were.
/// Words that were told are as firm as any others.
pub(super) fn support(event: &Event) -> f32 {
    if event.kind == Kind::Text {
        return 1.0;
    }
    firmness(event, LONG_ENOUGH) * most_counted(event)
}

/// The same of one class of thing in the event.
pub(super) fn support_of(event: &Event, class: &str) -> f32 {
    firmness(event, f32::MAX) * counted(event, class).unwrap_or(1.0)
}

fn firmness(event: &Event, longest: f32) -> f32 {
    let seconds = event.span.end.since(event.span.start).as_secs_f32().clamp(1.0, longest);
    event.confidence.clamp(0.0, 1.0).powi(2) * seconds
}

fn counts(event: &Event) -> impl Iterator<Item = (&str, f32)> {
    let counts = match event.attributes.get("counts") {
        Some(Value::Map(counts)) => Some(counts),
        _ => None,
    };
    counts.into_iter().flatten().filter_map(|(class, count)| match count {
        #[expect(clippy::cast_precision_loss, reason = "a handful of things in view")]
        Value::Integer(count) => Some((class.as_str(), (*count).clamp(1, 100) as f32)),
        _ => None,
    })
}

fn most_counted(event: &Event) -> f32 {
    counts(event).map(|(_, count)| count).fold(1.0, f32::max)
}

fn counted(event: &Event, class: &str) -> Option<f32> {
    counts(event).find(|(held, _)| *held == class).map(|(_, count)| count)
}

/// Best first; equal scores in order of time of commit.
pub(super) fn rank(found: &mut [Found]) {
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.event.id.cmp(&b.event.id)));
}
