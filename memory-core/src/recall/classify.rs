//! What kind of answer a question wants, and which senses it is about: lexical rules.

use crate::index::words;
use crate::{Intent, Modality, QuestionModality};

/// What the answer should look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A time.
    When,
    /// How often something happened.
    Count,
    /// Yes or no.
    YesNo,
    /// Whatever the evidence says.
    Statement,
}

const VISUAL: &[&str] = &[
    "appear",
    "appearance",
    "appeared",
    "camera",
    "color",
    "colored",
    "colour",
    "coloured",
    "dressed",
    "image",
    "look",
    "looked",
    "looking",
    "looks",
    "picture",
    "saw",
    "scene",
    "see",
    "seeing",
    "seen",
    "shape",
    "show",
    "showed",
    "shown",
    "view",
    "visible",
    "visual",
    "watch",
    "watched",
    "wear",
    "wearing",
    "wore",
];

const AUDIO: &[&str] = &[
    "audible",
    "audio",
    "bark",
    "barked",
    "barking",
    "hear",
    "heard",
    "hearing",
    "listen",
    "listened",
    "loud",
    "mention",
    "mentioned",
    "music",
    "narrator",
    "noise",
    "noises",
    "noisy",
    "rang",
    "ring",
    "roar",
    "roared",
    "said",
    "sang",
    "say",
    "saying",
    "says",
    "sentence",
    "sing",
    "song",
    "sound",
    "sounded",
    "sounds",
    "speak",
    "speaking",
    "speech",
    "spoke",
    "spoken",
    "talk",
    "talked",
    "talking",
    "tell",
    "told",
    "voice",
    "voices",
    "word",
    "words",
];

const GIST: &[&[&str]] = &[
    &["summarise"],
    &["summarize"],
    &["summary"],
    &["overall"],
    &["overview"],
    &["in", "general"],
    &["main", "topic"],
    &["most", "of", "the"],
    &["have", "in", "common"],
    &["had", "in", "common"],
    &["come", "across"],
    &["came", "across"],
    &["during", "the", "session"],
    &["during", "the", "recording"],
    &["in", "total"],
    &["what", "happened", "today"],
    &["what", "happened", "yesterday"],
    &["what", "happened", "this"],
    &["what", "happened", "last"],
];

const PROCEDURAL: &[&[&str]] = &[
    &["how", "do", "i"],
    &["how", "do", "you"],
    &["how", "do", "we"],
    &["how", "do", "people"],
    &["how", "does", "one"],
    &["how", "can", "i"],
    &["how", "can", "you"],
    &["how", "can", "we"],
    &["how", "can", "one"],
    &["how", "could", "i"],
    &["how", "should", "i"],
    &["how", "should", "we"],
    &["how", "would", "i"],
    &["how", "would", "you"],
    &["how", "to"],
    &["the", "steps"],
    &["which", "steps"],
    &["what", "steps"],
    &["next", "step"],
    &["what", "comes", "next"],
    &["what", "do", "i", "do", "next"],
    &["what", "should", "i", "do"],
    &["instructions"],
    &["procedure"],
    &["recipe", "for"],
];

const CONSTRAINT: &[&[&str]] = &[
    &["without"],
    &["instead", "of"],
    &["except"],
    &["avoiding"],
    &["only", "with"],
    &["if", "there", "is", "no"],
    &["if", "i", "have", "no"],
    &["not", "using"],
    &["rather", "than"],
];

const CHARACTER: &[&[&str]] = &[
    &["usually"],
    &["typically"],
    &["generally"],
    &["habit"],
    &["habits"],
    &["routine"],
    &["tend", "to"],
    &["tends", "to"],
    &["always"],
    &["prefer"],
    &["prefers"],
    &["like", "to"],
    &["likes", "to"],
    &["what", "kind", "of", "person"],
    &["personality"],
    &["every", "day"],
    &["every", "morning"],
    &["every", "evening"],
];

fn holds(words: &[String], phrases: &[&[&str]]) -> bool {
    phrases.iter().any(|phrase| words.windows(phrase.len()).any(|window| window == *phrase))
}

/// What kind of answer is wanted.
pub(super) fn intent(question: &str) -> Intent {
    let words: Vec<String> = words(question).collect();
    let procedural = holds(&words, PROCEDURAL);
    let asks_for_a_way = procedural || words.first().is_some_and(|word| word == "how" || word == "can");
    if asks_for_a_way && holds(&words, CONSTRAINT) {
        Intent::Constraint
    } else if procedural {
        Intent::Procedural
    } else if holds(&words, CHARACTER) {
        Intent::Character
    } else {
        Intent::Factual
    }
}

/// Which sense a part of a question asks for, if it names one only.
pub(super) fn sense(text: &str) -> Option<Modality> {
    match senses(text) {
        (true, false) => Some(Modality::Visual),
        (false, true) => Some(Modality::Audio),
        _ => None,
    }
}

fn senses(text: &str) -> (bool, bool) {
    let (mut visual, mut audio) = (false, false);
    for word in words(text) {
        visual |= VISUAL.contains(&word.as_str());
        audio |= AUDIO.contains(&word.as_str());
    }
    (visual, audio)
}

/// Which senses the question is about. One that names none is about whatever was noticed.
pub(super) fn modality(question: &str) -> QuestionModality {
    let all: Vec<String> = words(question).collect();
    if holds(&all, GIST) {
        return QuestionModality::Gist;
    }
    match senses(question) {
        (true, false) => QuestionModality::Visual,
        (false, true) => QuestionModality::Audio,
        _ => QuestionModality::Audiovisual,
    }
}

/// Whether a question asks for what was there for the longest time.
pub(super) fn longest(question: &str) -> bool {
    let words: Vec<String> = words(question).collect();
    let whole = ["session", "time", "day", "morning", "afternoon", "evening", "recording", "video", "film"];
    let most_of = words.windows(3).any(|three| {
        three[0] == "most" && three[1] == "of" && (three[2] == "the" || whole.contains(&three[2].as_str()))
    });
    let names_whole = words.iter().any(|word| whole.contains(&word.as_str()));
    (most_of && names_whole) || holds(&words, &[&["for", "the", "longest"], &["the", "longest", "time"]])
}

/// Whether a question is about a place as such, and not about something that happened there.
pub(super) fn of_place(question: &str) -> bool {
    let place = ["place", "places", "room", "rooms", "location", "locations", "visit", "visited", "visits", "spot"];
    words(question).any(|word| place.contains(&word.as_str()))
}

/// What the answer should look like.
pub(super) fn form(question: &str) -> Form {
    let words: Vec<String> = words(question).collect();
    let starts = |phrase: &[&str]| words.len() >= phrase.len() && words.iter().zip(phrase).all(|(a, b)| a == b);
    let asks = |phrases: &[&[&str]]| holds(&words, phrases);
    if starts(&["when"]) || asks(&[&["what", "time"], &["what", "date"], &["which", "day", "did"], &["since", "when"]])
    {
        return Form::When;
    }
    let counts_times = words.windows(2).any(|pair| pair[0] == "many" && pair[1].starts_with("time"))
        || asks(&[&["many", "separate", "times"], &["how", "often", "did"], &["how", "often", "was"]]);
    if counts_times {
        return Form::Count;
    }
    let auxiliary = words.first().is_some_and(|word| {
        matches!(
            word.as_str(),
            "did" | "does" | "do" | "is" | "are" | "was" | "were" | "has" | "have" | "had" | "will" | "would" | "could"
        )
    });
    if auxiliary { Form::YesNo } else { Form::Statement }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intents() {
        for (question, expected) in [
            ("How do I make tea?", Intent::Procedural),
            ("What are the steps to change a tyre?", Intent::Procedural),
            ("What comes next after washing the bowl?", Intent::Procedural),
            ("How do I make a salad without the oven?", Intent::Constraint),
            ("How can I open it if there is no key?", Intent::Constraint),
            ("What does Anna usually drink in the morning?", Intent::Character),
            ("Does he prefer tea?", Intent::Character),
            ("How did Jolene feel?", Intent::Factual),
            ("Who left without an umbrella?", Intent::Factual),
            ("What was on the table?", Intent::Factual),
        ] {
            assert_eq!(intent(question), expected, "{question}");
        }
    }

    #[test]
    fn modalities() {
        for (question, expected) in [
            ("What colour was the car?", QuestionModality::Visual),
            ("What was said about the pencils?", QuestionModality::Audio),
            ("Which weather sound was heard near the end?", QuestionModality::Audio),
            ("What was visible while someone said that it rains?", QuestionModality::Audiovisual),
            ("Which place took up most of the session?", QuestionModality::Gist),
            ("Summarise the morning.", QuestionModality::Gist),
            ("What happened this morning?", QuestionModality::Gist),
            ("Where are my keys?", QuestionModality::Audiovisual),
        ] {
            assert_eq!(modality(question), expected, "{question}");
        }
    }

    #[test]
    fn forms() {
        for (question, expected) in [
            ("When did the bell ring?", Form::When),
            ("What time was it when he left?", Form::When),
            ("How many times was the door opened?", Form::Count),
            ("How many separate times was he seen?", Form::Count),
            ("Did Anna leave?", Form::YesNo),
            ("How many people came?", Form::Statement),
            ("Who came?", Form::Statement),
        ] {
            assert_eq!(form(question), expected, "{question}");
        }
    }
}
