//! What the loop in `reasoning` needs from a question: the visible and audible things that it names.

use super::Reader;
use super::content::word_similarity;
use super::intent::asks_for_writing;
use super::missing::asks_for_person;
use super::question::Question;
use crate::language::english::lexicon::label_is_a;
use crate::language::english::lexicon::sound_is_a;
use crate::language::english::question::AnswerKind;
use crate::language::english::syntax::parse;
use crate::language::english::tag::Tag;
use crate::{Intent, Modality, Query, TimeSpan};

/// Prior probability that speech contains the answer to a question that does not ask for speech.
const SPEECH_ANSWER_PRIOR: f32 = 0.2;

/// A word of the question or of an option.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WantedTerm {
    pub lemma: String,
    /// Its share of the weight of the question or the option.
    pub weight: f32,
    /// Index of the option that contains it.
    pub option: Option<usize>,
    /// Whether it is a kind of thing that a picture may show, and not a name.
    pub is_thing: bool,
}

/// The perceivable things that a question asks for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Wanted {
    pub terms: Vec<WantedTerm>,
    /// Whether the question asks for sounds.
    pub heard: bool,
    /// Probability that speech contains the answer. 1 if the question asks for speech.
    pub said: f32,
    /// Whether the question asks for something written.
    pub written: bool,
    /// Whether the question asks for a person.
    pub person: bool,
    /// Whether the question asks where something was, or for a room.
    pub place: bool,
    /// Whether looking can answer the question at all. No recording shows how something is done in general.
    pub can_be_perceived: bool,
    /// Intersection of the bounds of the time words and of the request.
    pub bound: Option<TimeSpan>,
}

/// Extracts what a question asks to perceive.
pub(crate) fn wanted(query: &Query, reader: &dyn Reader, hard: Option<TimeSpan>) -> Wanted {
    let now = query.now.unwrap_or_else(|| reader.clock().now());
    let question = Question::parse(query, now.to_jiff().to_zoned(reader.zone().clone()), reader.search(), hard);
    let mut terms: Vec<WantedTerm> = Vec::new();
    let noun = |tag: Tag| matches!(tag, Tag::Noun | Tag::Name);
    let own: Vec<_> = question.content.items.iter().filter(|item| noun(item.tag)).collect();
    let total = own.iter().map(|item| item.known_weight).sum::<f32>().max(f32::EPSILON);
    terms.extend(own.iter().map(|item| WantedTerm {
        lemma: item.lemma.clone(),
        weight: item.known_weight / total,
        option: None,
        is_thing: item.tag == Tag::Noun && !is_place(&item.lemma),
    }));
    // The class describes the answer: any animal answers "which animal".
    if let Some(class) = question.asked.class.as_ref()
        && !terms.iter().any(|term| term.lemma == class.head)
    {
        let is_thing = !is_place(&class.head);
        terms.push(WantedTerm { lemma: class.head.clone(), weight: 0.5, option: None, is_thing });
    }
    for (number, option) in query.options.iter().enumerate() {
        let (words, _) = parse(option, &[]);
        let nouns: Vec<_> = words.iter().filter(|word| noun(word.tag)).collect();
        for word in &nouns {
            #[expect(clippy::cast_precision_loss, reason = "words of an option")]
            let weight = 1.0 / nouns.len() as f32;
            terms.push(WantedTerm { lemma: word.lemma.clone(), weight, option: Some(number), is_thing: true });
        }
    }
    let can_be_perceived = question.intent == Intent::Factual
        && !question.asked.habitual
        && !matches!(
            question.ask(),
            AnswerKind::Way | AnswerKind::Next | AnswerKind::Summary | AnswerKind::Reason | AnswerKind::Owner
        );
    let heard = question.sense == Some(Modality::Audio) || question.speech == Some(false);
    let said = match (question.speech, question.sense) {
        (Some(true), _) => 1.0,
        (None, None | Some(Modality::Audio)) => SPEECH_ANSWER_PRIOR,
        _ => 0.0,
    };
    let asks_for_room = question.asked.class.as_ref().is_some_and(|class| is_place(&class.head));
    Wanted {
        terms,
        heard,
        said,
        written: asks_for_writing(&question.asked),
        person: asks_for_person(&question),
        place: question.ask() == AnswerKind::Place || asks_for_room,
        can_be_perceived,
        bound: question.bound(),
    }
}

/// Returns whether a word means any place.
fn is_place(lemma: &str) -> bool {
    matches!(lemma, "place" | "room" | "location" | "spot" | "area")
}

/// Returns whether a heard or read text contains a word.
pub(crate) fn has_word(text: &str, lemma: &str) -> bool {
    let (words, _) = parse(text, &[]);
    words.iter().any(|word| word.lemma == lemma)
}

/// Returns whether an event reports that somebody speaks, without the words.
pub(crate) fn reports_speech(text: &str) -> bool {
    has_word(text, "speak")
}

/// Similarity of an encoder's label to a word, from 0 to 1.
pub(crate) fn label_similarity(label: &str, sense: Modality, lemma: &str) -> f32 {
    let kind_of = match sense {
        Modality::Visual => label_is_a(label, lemma),
        Modality::Audio => sound_is_a(label, lemma),
    };
    if kind_of.is_some() {
        return 1.0;
    }
    let phrases = label.split([',', '(', ')', ';']).map(str::trim).filter(|phrase| !phrase.is_empty());
    phrases
        .map(|phrase| {
            let head = phrase.rsplit([' ', '_']).next().unwrap_or(phrase).to_lowercase();
            word_similarity(&head, lemma)
        })
        .fold(0.0, f32::max)
}
