//! What kind of question it is and which senses it is about: grammar first, the meaning of its words where grammar is
//! silent.

use crate::language::english::lexicon::{self, Category, PartOfSpeech};
use crate::language::english::question::{Ask, Asked};
use crate::language::english::syntax::{NounKind, NounPhrase};
use crate::language::english::tag::Tag;
use crate::recall::reading::is_person;
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

/// Classes of what has writing on it.
const WRITTEN: &[&str] =
    &["sign", "label", "writing", "letter", "document", "display", "board", "poster", "book", "package"];

/// The sense that what is asked for belongs to, and whether it is speech.
pub(super) fn senses(asked: &Asked) -> (Option<Modality>, Option<bool>) {
    let (mut seen, mut heard, mut spoken) = (false, false, false);
    // "There was a noise. What kind?" asks of the sentence before.
    let main = if asked.is_bare() { 0..asked.main.end } else { asked.main.clone() };
    for word in asked.words.iter().filter(|word| word.range.start >= main.start && word.range.end <= main.end) {
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
    // Where the robot went is known from what it saw.
    let clause = &asked.clause;
    let moves = clause.verb.as_ref().is_some_and(|verb| {
        !verb.auxiliary_only && lexicon::category(&verb.lemma, PartOfSpeech::Verb) == Some(Category::MotionVerb)
    });
    seen |= moves && !heard && !spoken && clause.subject.as_ref().is_some_and(|subject| subject.head == "you");
    // What is read aloud is heard; what a sign says is read.
    let follows = |texts: &[&str]| {
        asked.words.windows(2).any(|pair| pair[0].lemma == "read" && texts.contains(&pair[1].text.as_str()))
    };
    if follows(&["aloud", "out"]) {
        (seen, spoken) = (false, true);
    } else if writes(asked) {
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

/// Whether it asks for something that is written: "which word was on the sign?"
pub(super) fn asks_for_writing(asked: &Asked) -> bool {
    let word = |class: &NounPhrase| class.head == "word" || WRITTEN.contains(&class.head.as_str());
    writes(asked) || asked.class.as_ref().is_some_and(word)
}

/// Whether something that is written says what is asked for: "what did the label say?"
fn writes(asked: &Asked) -> bool {
    let clauses = asked.sentences.iter().flat_map(|sentence| &sentence.clauses);
    let mut saying = clauses.chain([&asked.clause]).filter(|clause| {
        clause.verb.as_ref().is_some_and(|verb| verb.lemma == "say" && !verb.passive)
            && clause.range.start >= asked.main.start
            && clause.range.end <= asked.main.end
    });
    saying.any(|clause| {
        let subject = clause.subject.as_ref().map(|subject| meant(asked, subject));
        subject.is_some_and(|subject| {
            subject.kind == NounKind::Common
                && !is_person(subject)
                && (subject.head == "word" || written(&subject.head))
        })
    })
}

fn written(noun: &str) -> bool {
    WRITTEN.iter().any(|class| lexicon::is_a_as(noun, class, PartOfSpeech::Noun).is_some())
}

/// What "it" is that a question says something of: what the sentence before is about.
fn meant<'a>(asked: &'a Asked, noun: &'a NounPhrase) -> &'a NounPhrase {
    let before = asked.sentences.iter().rev().filter(|sentence| sentence.range.end <= asked.main.start);
    let mut before = before.flat_map(|sentence| &sentence.clauses).filter_map(|clause| clause.subject.as_ref());
    if noun.head == "it" { before.find(|subject| !subject.is_pronoun()).unwrap_or(noun) } else { noun }
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
