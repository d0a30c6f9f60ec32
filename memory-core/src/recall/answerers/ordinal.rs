//! Answers with the first or the last of a kind: "who spoke last?", "what was the first animal that you saw?".

use std::cmp::Reverse;

use super::parts::answer_parts;
use super::quote::quotation;
use crate::language::english::closed::SPEECH_VERBS;
use crate::language::english::letters::capitalised;
use crate::language::english::lexicon::{self, Category, PartOfSpeech};
use crate::language::english::question::{AnswerKind, Occurrence};
use crate::language::english::syntax::{NounKind, NounPhrase};
use crate::language::english::tag::{Tag, Word};
use crate::recall::candidate::{Candidate, CandidateValue, Layer};
use crate::recall::content::ContentItem;
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::question::Question;
use crate::recall::reading::{ParsedEvent, is_person};
use crate::{Kind, Modality, ReadError};

/// Numbers of events that are looked through in turn.
const SEARCHED_EVENTS: [usize; 2] = [32, 600];
/// Kinds of events that tell what was seen.
const SEEN_KINDS: &[Kind] = &[Kind::Caption, Kind::Object, Kind::Entity, Kind::Action, Kind::State];
/// Nouns for whatever was said, heard or seen.
const GENERAL_NOUNS: &[&str] = &["thing", "word", "sentence", "statement"];
/// Adjectives that only say that there are several: "various boats".
pub(super) const SAYS_SEVERAL: &[&str] = &["different", "distinct", "separate", "several", "various"];

/// The kind of which the first or the last is asked for.
enum OrderedKind {
    /// Speech, of one speaker if there is a name.
    Speech(Option<String>),
    /// Sounds that are no speech.
    Sound,
    /// Things of a class that were heard.
    Heard(String),
    /// Things of a class that were seen or heard.
    Noticed(String),
    /// Things of a class that were seen; anything without one.
    Seen(Option<String>),
    /// Whatever was done, said or seen.
    Happened,
}

/// Answers with the first or the last of a kind, if the question says nothing else of it.
pub(in crate::recall) fn answer(pool: &EventPool<'_>) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let latest = match question.asked.occurrence {
        Some(Occurrence::First) => false,
        Some(Occurrence::Last) => true,
        _ => return Ok(None),
    };
    if question.asked.cue.is_some() || question.asked.alternatives.len() > 1 || question.asked.habitual {
        return Ok(None);
    }
    let Some(kind) = ordered_kind(pool) else { return Ok(None) };
    for limit in SEARCHED_EVENTS {
        let mut events = kind.events(pool, latest, limit)?;
        // At one moment a sentence says more than the names of what was detected.
        let detected = |found: &RetrievedEvent| found.reading.event.kind == Kind::Object;
        match latest {
            true => events.sort_by_key(|one| (Reverse(one.span().start), detected(one), Reverse(one.id()))),
            false => events.sort_by_key(|one| (one.span().start, detected(one), one.id())),
        }
        let Some(found) = events.into_iter().find(|found| kind.has(&found.reading)) else { continue };
        let Some(text) = kind.answer_in(question, &found) else { return Ok(None) };
        return Ok(Some(Candidate::computed(
            Layer::Episodes,
            capitalised(&text),
            CandidateValue::Text(text),
            vec![found],
            question.content.known_share(),
            format!("the {} of its kind", if latest { "last" } else { "first" }),
        )));
    }
    Ok(None)
}

/// Returns the kind of which the first or last is asked for. `None` if the question says more than the kind.
fn ordered_kind(pool: &EventPool<'_>) -> Option<OrderedKind> {
    let question = pool.question;
    let asked = &question.asked;
    let is_order = |word: &str| matches!(word, "first" | "last" | "latest" | "earliest");
    let open =
        matches!(question.ask(), AnswerKind::Thing | AnswerKind::Person | AnswerKind::Description | AnswerKind::Action);
    let class = asked.class.as_ref().filter(|class| {
        class.of.is_none() && class.modifiers.iter().all(|word| is_order(word) || SAYS_SEVERAL.contains(&word.as_str()))
    });
    if !open || asked.negated || asked.class.is_some() && class.is_none() {
        return None;
    }
    let class = class.map(|class| class.head.as_str()).filter(|class| !GENERAL_NOUNS.contains(class));
    let inside =
        asked.words.iter().filter(|word| asked.main.start <= word.range.start && word.range.end <= asked.main.end);
    let verbs: Vec<&str> =
        inside.clone().filter(|word| word.tag == Tag::Verb).map(|word| word.lemma.as_str()).collect();
    let is_speech = |verb: &&str| is_speech_verb(verb);
    let is_perception = |verb: &&str| is_perception_verb(verb);
    let names: Vec<&Word> = inside.clone().filter(|word| word.tag == Tag::Name).collect();
    let happened = verbs == ["happen"] && class.is_none() && asked.clause.adjuncts.is_empty();
    // "There were two boats. Which came first?"
    let came = verbs == ["come"] && class.is_some() && asked.clause.adjuncts.is_empty();
    // "Several boats went by. Which came first?": the sentence before only says that there were some.
    let before = asked.words.iter().filter(|word| word.range.end <= asked.main.start && word.tag == Tag::Verb);
    let introduces = |verb: &str| {
        let category = lexicon::category(verb, PartOfSpeech::Verb);
        is_perception(&verb) || category == Some(Category::MotionVerb)
    };
    let introduced: Vec<&str> = before.map(|word| word.lemma.as_str()).filter(|verb| introduces(verb)).collect();
    let is_known = |item: &ContentItem| {
        let of_class = class.is_some_and(|class| item.lemma == class);
        let of_name = names.iter().any(|name| name.lemma == item.lemma);
        of_class
            || of_name
            || item.light
            || GENERAL_NOUNS.contains(&item.lemma.as_str())
            || SAYS_SEVERAL.contains(&item.lemma.as_str())
            || happened && item.lemma == "happen"
            || came && item.lemma == "come"
            || class.is_some() && introduced.contains(&item.lemma.as_str())
            || class.is_some() && item.tag == Tag::Number
            || item.tag == Tag::Verb && (is_speech(&item.lemma.as_str()) || is_perception(&item.lemma.as_str()))
    };
    if !question.content.items.iter().all(is_known) {
        return None;
    }
    if happened {
        return Some(OrderedKind::Happened);
    }
    if verbs.iter().any(is_speech) {
        return asked_speech(pool, &names).filter(|_| class.is_none_or(|class| class == "person"));
    }
    if !names.is_empty() {
        return None;
    }
    let is_sound = |class: &str| class == "sound" || class == "noise";
    if class.is_some_and(is_sound) || class.is_none() && verbs.contains(&"hear") {
        return Some(OrderedKind::Sound);
    }
    // "Who was the last person you had beside you?"
    let any_person = || asked.clause.subject.as_ref().is_some_and(|subject| subject.head == "person");
    match (class, question.ask()) {
        (Some(class), _) if question.sense == Some(Modality::Audio) => Some(OrderedKind::Heard(class.to_owned())),
        (Some(class), _) if question.sense.is_none() => Some(OrderedKind::Noticed(class.to_owned())),
        (Some(class), _) => Some(OrderedKind::Seen(Some(class.to_owned()))),
        (None, AnswerKind::Person) if verbs.iter().any(is_perception) || any_person() => {
            Some(OrderedKind::Seen(Some("person".into())))
        }
        (None, AnswerKind::Thing | AnswerKind::Description) if verbs.contains(&"see") => Some(OrderedKind::Seen(None)),
        _ => None,
    }
}

/// Returns whether a verb says that something was said.
pub(super) fn is_speech_verb(verb: &str) -> bool {
    SPEECH_VERBS.contains(&verb) || lexicon::category(verb, PartOfSpeech::Verb) == Some(Category::CommunicationVerb)
}

/// Returns whether a verb says only that something was perceived, or was there.
pub(super) fn is_perception_verb(verb: &str) -> bool {
    lexicon::category(verb, PartOfSpeech::Verb) == Some(Category::PerceptionVerb)
        || matches!(verb, "meet" | "have" | "encounter")
}

/// Returns the speech that is asked for. `None` if nobody here knows who the speaker is: "what did he say last?".
fn asked_speech(pool: &EventPool<'_>, names: &[&Word]) -> Option<OrderedKind> {
    let question = pool.question;
    let is_pronoun =
        |subject: &NounPhrase| matches!(subject.head.as_str(), "he" | "she" | "they" | "i" | "we" | "you" | "it");
    match names {
        [] if question.asked.clause.subject.as_ref().is_some_and(is_pronoun) => None,
        [] => Some(OrderedKind::Speech(None)),
        [name] => {
            let rest = question.part(&(name.range.start..question.text.len()));
            Some(OrderedKind::Speech(Some(pool.entity_name_at(rest, name.range.len())?)))
        }
        _ => None,
    }
}

impl OrderedKind {
    /// Returns the first or the last events that may be of the kind.
    fn events(&self, pool: &EventPool<'_>, latest: bool, limit: usize) -> Result<Vec<RetrievedEvent>, ReadError> {
        let kinds = match self {
            Self::Speech(_) => vec![Kind::Text],
            Self::Sound | Self::Heard(_) => vec![Kind::Sound],
            Self::Noticed(_) => [SEEN_KINDS, &[Kind::Sound]].concat(),
            Self::Seen(_) => SEEN_KINDS.to_vec(),
            Self::Happened => vec![Kind::Action, Kind::Caption, Kind::Text],
        };
        let span = pool.question.bound();
        match self {
            Self::Speech(Some(speaker)) => {
                pool.texts_of_speaker(speaker.clone(), span, latest, limit, &pool.question.content)
            }
            _ => pool.events_in_time_order(span, None, kinds, latest, limit, &pool.question.content),
        }
    }

    /// Returns whether an event is of the kind.
    fn has(&self, reading: &ParsedEvent) -> bool {
        let event = &reading.event;
        match self {
            Self::Speech(_) | Self::Happened => true,
            // Silence and noise that nobody noticed are no event.
            Self::Sound => !event.attributes.contains_key("signal"),
            Self::Seen(None) => event.kind == Kind::Caption,
            Self::Heard(class) | Self::Noticed(class) | Self::Seen(Some(class)) => member(class, reading).is_some(),
        }
    }

    /// Returns the answer that an event of the kind gives.
    fn answer_in(&self, question: &Question<'_>, found: &RetrievedEvent) -> Option<String> {
        match self {
            Self::Speech(_) if question.ask() == AnswerKind::Person => found.reading.event.entity.clone(),
            Self::Heard(class) | Self::Noticed(class) | Self::Seen(Some(class)) => {
                let described = found.reading.event.kind != Kind::Object;
                let part = answer_parts(question, found).into_iter().next().filter(|_| described);
                part.or_else(|| member(class, &found.reading))
            }
            _ => Some(quotation(found, question)),
        }
    }
}

/// Returns the words for a thing of a class in an event. Of a detected thing that is all that was noticed of it: "dog:
/// black, on the stairs".
fn member(class: &str, reading: &ParsedEvent) -> Option<String> {
    let is_one = |noun: &&NounPhrase| {
        let common = noun.kind == NounKind::Common && is_of_class(&noun.head, class);
        common || class == "person" && noun.kind == NounKind::Name && is_person(noun)
    };
    let mut nouns = reading.clauses().flat_map(|clause| clause.nouns()).filter(is_one);
    // The label of a sound may read as one name of a thing: "horse neighs".
    if reading.event.kind == Kind::Sound {
        let mut lemmas = reading.lemmas.iter().filter(|(_, tag)| *tag == Tag::Noun).map(|(lemma, _)| lemma);
        let label = || lemmas.find(|lemma| is_of_class(lemma, class)).map(|_| reading.event.text.clone());
        return nouns.next().map(|noun| reading.phrase_text(noun)).or_else(label);
    }
    if reading.event.kind != Kind::Object {
        return nouns.next().map(|noun| reading.phrase_text(noun));
    }
    // Only its name says what it is: "letter: from a lawyer" is no person.
    let text = &reading.event.text;
    let mut items = nouns.filter_map(|noun| {
        let start = text.get(..noun.range.start)?.rfind(';').map_or(0, |mark| mark + 1);
        let item = text[start..].split(';').next()?;
        (!text[start..noun.range.start].contains(':')).then(|| item.trim().trim_end_matches('.').to_owned())
    });
    items.next()
}

/// Returns whether a noun names a class or one of its kinds.
fn is_of_class(noun: &str, class: &str) -> bool {
    noun == class || lexicon::is_a_as(noun, class, PartOfSpeech::Noun).is_some() && lexicon::is_kind_of(noun, class)
}
