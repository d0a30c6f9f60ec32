//! What kind of question it is and which senses it is about: grammar first, the meaning of its words where grammar is
//! silent.

use crate::language::english::question::{Ask, Asked};
use crate::language::english::tag::Tag;
use crate::{Intent, Modality, QuestionModality};

/// Words for seeing and looks.
const SEEING: &[&str] = &[
    "see",
    "watch",
    "view",
    "look",
    "visible",
    "picture",
    "colour",
    "color",
    "wear",
    "dress",
    "sight",
    "image",
    "appearance",
    "shape",
    "camera",
    "show",
    "read",
    "eye",
    "scene",
];
/// Words for hearing that are not speech.
const HEARING: &[&str] =
    &["hear", "sound", "noise", "audible", "listen", "music", "song", "tune", "loud", "ear", "melody"];
/// Words for speech.
const SPEAKING: &[&str] = &[
    "say", "tell", "mention", "speak", "talk", "word", "sentence", "voice", "speech", "announce", "call", "ask",
    "quote", "dictate",
];

/// The sense that what is asked for belongs to, and whether it is speech.
pub(super) fn senses(asked: &Asked) -> (Option<Modality>, Option<bool>) {
    let (mut seen, mut heard, mut spoken) = (false, false, false);
    for word in
        asked.words.iter().filter(|word| word.range.start >= asked.main.start && word.range.end <= asked.main.end)
    {
        if matches!(word.tag, Tag::Name | Tag::Number | Tag::Time) {
            continue;
        }
        let lemma = word.lemma.as_str();
        seen |= SEEING.contains(&lemma) && !(lemma == "look" && asked.ask == Ask::Truth);
        heard |= HEARING.contains(&lemma);
        // "Tell me" and "what is it called" ask for no speech.
        let polite = matches!(lemma, "tell" | "ask" | "say") && asked.words.iter().any(|word| word.is("me"));
        spoken |= SPEAKING.contains(&lemma) && !polite && lemma != "call";
    }
    let sense = match (seen, heard || spoken) {
        (true, false) => Some(Modality::Visual),
        (false, true) => Some(Modality::Audio),
        _ => None,
    };
    let speech = match (spoken, heard) {
        (true, false) => Some(true),
        (false, true) => Some(false),
        _ => None,
    };
    (sense, speech)
}

/// Which senses the question is about.
pub(super) fn modality(asked: &Asked, sense: Option<Modality>) -> QuestionModality {
    match (asked.ask, sense) {
        (Ask::Summary, _) => QuestionModality::Gist,
        (_, Some(Modality::Visual)) => QuestionModality::Visual,
        (_, Some(Modality::Audio)) => QuestionModality::Audio,
        (_, None) => QuestionModality::Audiovisual,
    }
}

/// What kind of answer is wanted (NS-Mem's four classes).
pub(super) fn intent(asked: &Asked) -> Intent {
    let words: Vec<&str> = asked.words.iter().map(|word| word.text.as_str()).collect();
    let has = |phrase: &[&str]| words.windows(phrase.len()).any(|window| window == phrase);
    let way = matches!(asked.ask, Ask::Way | Ask::Next)
        || has(&["which", "steps"])
        || has(&["what", "steps"])
        || has(&["the", "steps"]);
    let can = asked.ask == Ask::Truth && words.first().is_some_and(|word| matches!(*word, "can" | "could" | "may"));
    let constraint = words.iter().any(|word| matches!(*word, "without" | "avoiding" | "except"))
        || has(&["instead", "of"])
        || has(&["rather", "than"])
        || has(&["only", "with"])
        || has(&["if", "there", "is", "no"]);
    if (way || can) && constraint {
        Intent::Constraint
    } else if way {
        Intent::Procedural
    } else if asked.habitual {
        Intent::Character
    } else {
        Intent::Factual
    }
}
