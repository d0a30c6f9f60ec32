//! What the loop of `reasoning` wants to know of a question: what it names that can be seen or heard.

use super::Reader;
use super::content::word_likeness;
use super::intent::asks_for_writing;
use super::missing::asks_for_person;
use super::question::Question;
use crate::language::english::lexicon::label_is_a;
use crate::language::english::lexicon::sound_is_a;
use crate::language::english::question::Ask;
use crate::language::english::syntax::parse;
use crate::language::english::tag::Tag;
use crate::{Intent, Modality, Query, TimeSpan};

/// How likely somebody says what a question asks for that does not ask for speech.
const MAY_BE_SAID: f32 = 0.2;

/// A word of the question or of an option.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Term {
    pub lemma: String,
    /// Its share of the question's, or the option's, weight.
    pub weight: f32,
    /// The option that it stands in.
    pub option: Option<usize>,
    /// Whether it is a kind of thing that a picture may show, and no name.
    pub is_thing: bool,
}

/// What a question asks of the senses.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Wanted {
    pub terms: Vec<Term>,
    /// Whether it asks for sounds.
    pub heard: bool,
    /// How likely what was said tells the answer: 1 where the question asks for it.
    pub said: f32,
    /// Whether it asks for something that is written.
    pub written: bool,
    /// Whether it asks for a person.
    pub person: bool,
    /// Whether it asks where something was, or for a room.
    pub place: bool,
    /// Whether looking can answer it at all: how something is done, nothing perceived tells.
    pub can_be_perceived: bool,
    /// The bounds of its time words and of the request.
    pub bound: Option<TimeSpan>,
}

/// Reads what a question wants to perceive.
pub(crate) fn wanted(query: &Query, reader: &dyn Reader, hard: Option<TimeSpan>) -> Wanted {
    let now = query.now.unwrap_or_else(|| reader.clock().now());
    let question = Question::of(query, now.to_jiff().to_zoned(reader.zone().clone()), reader.search(), hard);
    let mut terms: Vec<Term> = Vec::new();
    let noun = |tag: Tag| matches!(tag, Tag::Noun | Tag::Name);
    let own: Vec<_> = question.content.items.iter().filter(|item| noun(item.tag)).collect();
    let total = own.iter().map(|item| item.own).sum::<f32>().max(f32::EPSILON);
    terms.extend(own.iter().map(|item| Term {
        lemma: item.lemma.clone(),
        weight: item.own / total,
        option: None,
        is_thing: item.tag == Tag::Noun && !is_place(&item.lemma),
    }));
    // Its class is the answer's: "which animal" is answered by any animal that is seen.
    if let Some(class) = question.asked.class.as_ref()
        && !terms.iter().any(|term| term.lemma == class.head)
    {
        let is_thing = !is_place(&class.head);
        terms.push(Term { lemma: class.head.clone(), weight: 0.5, option: None, is_thing });
    }
    for (number, option) in query.options.iter().enumerate() {
        let (words, _) = parse(option, &[]);
        let nouns: Vec<_> = words.iter().filter(|word| noun(word.tag)).collect();
        for word in &nouns {
            #[expect(clippy::cast_precision_loss, reason = "words of an option")]
            let weight = 1.0 / nouns.len() as f32;
            terms.push(Term { lemma: word.lemma.clone(), weight, option: Some(number), is_thing: true });
        }
    }
    let can_be_perceived = question.intent == Intent::Factual
        && !question.asked.habitual
        && !matches!(question.ask(), Ask::Way | Ask::Next | Ask::Summary | Ask::Reason | Ask::Owner);
    let heard = question.sense == Some(Modality::Audio) || question.speech == Some(false);
    let said = match (question.speech, question.sense) {
        (Some(true), _) => 1.0,
        (None, None | Some(Modality::Audio)) => MAY_BE_SAID,
        _ => 0.0,
    };
    let asks_for_room = question.asked.class.as_ref().is_some_and(|class| is_place(&class.head));
    Wanted {
        terms,
        heard,
        said,
        written: asks_for_writing(&question.asked),
        person: asks_for_person(&question),
        place: question.ask() == Ask::Place || asks_for_room,
        can_be_perceived,
        bound: question.bound(),
    }
}

/// Whether a word means a place, whichever it is.
fn is_place(lemma: &str) -> bool {
    matches!(lemma, "place" | "room" | "location" | "spot" | "area")
}

/// Whether a text that was heard or read has a word.
pub(crate) fn has_word(text: &str, lemma: &str) -> bool {
    let (words, _) = parse(text, &[]);
    words.iter().any(|word| word.lemma == lemma)
}

/// Whether an event tells that somebody speaks, without the words.
pub(crate) fn tells_of_speech(text: &str) -> bool {
    has_word(text, "speak")
}

/// How surely a thing with this label of an encoder is what a word means, 0 to 1.
pub(crate) fn means(label: &str, sense: Modality, lemma: &str) -> f32 {
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
            word_likeness(&head, lemma)
        })
        .fold(0.0, f32::max)
}
