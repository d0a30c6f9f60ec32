//! Intent and modality of a question: from its grammar first, else from the meaning of its words.

use crate::language::english::lexicon::{self, Category, PartOfSpeech};
use crate::language::english::question::{AnswerKind, ParsedQuestion};
use crate::language::english::syntax::{NounKind, NounPhrase};
use crate::language::english::tag::Tag;
use crate::recall::reading::is_person;
use crate::{Intent, Modality, QuestionModality};

/// Words for seeing and appearance.
const VISUAL_WORDS: &[&str] = &[
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
/// Words for sounds other than speech.
const SOUND_WORDS: &[&str] =
    &["hear", "sound", "noise", "audible", "listen", "music", "song", "tune", "loud", "ear", "melody"];
/// Words for speech.
const SPEECH_WORDS: &[&str] = &[
    "say", "tell", "mention", "speak", "talk", "word", "sentence", "voice", "speech", "announce", "call", "ask",
    "quote", "dictate",
];

/// Classes of things that carry writing.
const WRITTEN_MEDIA: &[&str] =
    &["sign", "label", "writing", "letter", "document", "display", "board", "poster", "book", "package"];

/// Returns the modality of the answer, and whether it is speech.
pub(super) fn answer_modality(asked: &ParsedQuestion) -> (Option<Modality>, Option<bool>) {
    let (mut seen, mut heard, mut spoken) = (false, false, false);
    // "There was a noise. What kind?" asks of the sentence before.
    let main = if asked.is_bare() { 0..asked.main.end } else { asked.main.clone() };
    for word in asked.words.iter().filter(|word| word.range.start >= main.start && word.range.end <= main.end) {
        if matches!(word.tag, Tag::Name | Tag::Number | Tag::Time) {
            continue;
        }
        let lemma = word.lemma.as_str();
        seen |= VISUAL_WORDS.contains(&lemma) && !(lemma == "look" && asked.ask == AnswerKind::Truth);
        heard |= SOUND_WORDS.contains(&lemma);
        // "Tell me" and "what is it called" ask for no speech.
        let polite = matches!(lemma, "tell" | "ask" | "say") && asked.words.iter().any(|word| word.has_text("me"));
        spoken |= SPEECH_WORDS.contains(&lemma) && !polite && lemma != "call";
    }
    // The robot knows its route from what it saw.
    let clause = &asked.clause;
    let moves = clause.verb.as_ref().is_some_and(|verb| {
        !verb.auxiliary_only && lexicon::category(&verb.lemma, PartOfSpeech::Verb) == Some(Category::MotionVerb)
    });
    seen |= moves && !heard && !spoken && clause.subject.as_ref().is_some_and(|subject| subject.head == "you");
    seen |= stands_before_robot(asked);
    // "Read aloud" is heard; what a sign says is seen.
    let follows = |texts: &[&str]| {
        asked.words.windows(2).any(|pair| pair[0].lemma == "read" && texts.contains(&pair[1].text.as_str()))
    };
    if follows(&["aloud", "out"]) {
        (seen, spoken) = (false, true);
    } else if asks_what_is_written(asked) {
        (seen, spoken) = (true, false);
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

/// Returns whether a question asks for what is before the robot: "who was facing you?".
fn stands_before_robot(asked: &ParsedQuestion) -> bool {
    let words: Vec<&str> = asked.words.iter().map(|word| word.text.as_str()).collect();
    let faces = words.windows(2).any(|pair| matches!(pair, ["facing" | "faced" | "faces", "you"]));
    faces || words.windows(3).any(|three| matches!(three, ["front", "of", "you"]))
}

/// Returns whether the question asks for something written: "which word was on the sign?"
pub(super) fn asks_for_writing(asked: &ParsedQuestion) -> bool {
    let word = |class: &NounPhrase| class.head == "word" || WRITTEN_MEDIA.contains(&class.head.as_str());
    asks_what_is_written(asked) || asked.class.as_ref().is_some_and(word)
}

/// Returns whether a written thing states the answer: "what did the label say?"
fn asks_what_is_written(asked: &ParsedQuestion) -> bool {
    let clauses = asked.sentences.iter().flat_map(|sentence| &sentence.clauses);
    let mut saying = clauses.chain([&asked.clause]).filter(|clause| {
        clause.verb.as_ref().is_some_and(|verb| verb.lemma == "say" && !verb.passive)
            && clause.range.start >= asked.main.start
            && clause.range.end <= asked.main.end
    });
    saying.any(|clause| {
        let subject = clause.subject.as_ref().map(|subject| resolve_it(asked, subject));
        subject.is_some_and(|subject| {
            subject.kind == NounKind::Common
                && !is_person(subject)
                && (subject.head == "word" || carries_writing(&subject.head))
        })
    })
}

fn carries_writing(noun: &str) -> bool {
    WRITTEN_MEDIA.iter().any(|class| lexicon::is_a_as(noun, class, PartOfSpeech::Noun).is_some())
}

/// Returns what "it" refers to in a question: the subject of the sentence before.
fn resolve_it<'a>(asked: &'a ParsedQuestion, noun: &'a NounPhrase) -> &'a NounPhrase {
    let before = asked.sentences.iter().rev().filter(|sentence| sentence.range.end <= asked.main.start);
    let mut before = before.flat_map(|sentence| &sentence.clauses).filter_map(|clause| clause.subject.as_ref());
    if noun.head == "it" { before.find(|subject| !subject.is_pronoun()).unwrap_or(noun) } else { noun }
}

/// Returns the modality of the question.
pub(super) fn question_modality(asked: &ParsedQuestion, sense: Option<Modality>) -> QuestionModality {
    match (asked.ask, sense) {
        (AnswerKind::Summary, _) => QuestionModality::Gist,
        (_, Some(Modality::Visual)) => QuestionModality::Visual,
        (_, Some(Modality::Audio)) => QuestionModality::Audio,
        (_, None) => QuestionModality::Audiovisual,
    }
}

/// Returns the intent of a question (the four classes of NS-Mem).
pub(super) fn question_intent(asked: &ParsedQuestion) -> Intent {
    let words: Vec<&str> = asked.words.iter().map(|word| word.text.as_str()).collect();
    let has = |phrase: &[&str]| words.windows(phrase.len()).any(|window| window == phrase);
    let way = matches!(asked.ask, AnswerKind::Way | AnswerKind::Next)
        || has(&["which", "steps"])
        || has(&["what", "steps"])
        || has(&["the", "steps"]);
    let can =
        asked.ask == AnswerKind::Truth && words.first().is_some_and(|word| matches!(*word, "can" | "could" | "may"));
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
