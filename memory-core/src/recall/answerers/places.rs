//! Where something is, was, or was before: the latest place that an event tells of it.

use crate::language::english::question::{Occurrence, Order};
use crate::language::english::syntax::NounPhrase;
use crate::language::english::tag::Tag;
use crate::language::english::time::Tense;
use crate::recall::candidate::{Candidate, Layer, Signals, Value};
use crate::recall::content::word_likeness;
use crate::recall::likeness::likeness;
use crate::recall::pool::{Found, Pool, merged};
use crate::recall::question::Question;
use crate::recall::reading::{Place, Placement, is_person};
use crate::recall::telling::telling;
use crate::{ReadError, Timestamp};

/// What is left of a place that another clause tells than the one that tells what is asked.
const BESIDE: f32 = 0.8;
/// Below this another thing is meant.
const SAME_THING: f32 = 0.5;
/// A bound up to this length is one moment.
const MOMENT: std::time::Duration = std::time::Duration::from_secs(3 * 3_600);
/// Events of the thing that are gone through.
const EVENTS: usize = 200;

/// A place of the thing.
struct Stay {
    at: Timestamp,
    place: Place,
    found: Found,
    likeness: f32,
}

/// The place of the thing that a question asks for.
pub(in crate::recall) fn answer(
    pool: &Pool<'_>,
    pooled: &[Found],
    cue: Option<&Found>,
) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let Some(thing) = theme(question) else { return Ok(None) };
    let listed = pool.about(&thing, None, true, EVENTS, &question.content)?;
    let mentioned = pool.mentions(&thing, None, true, EVENTS, &question.content)?;
    let all = merged(merged(pooled.to_vec(), listed), mentioned);
    let most = all.iter().map(|found| found.coverage.of_content).fold(0.0, f32::max).max(0.1);
    let verb = question.asked.clause.verb.as_ref().filter(|verb| !verb.auxiliary_only).map(|verb| verb.lemma.clone());
    let mere = asks_merely(question, &thing);
    let mut stays: Vec<Stay> = Vec::new();
    for found in all {
        // What somebody asks, or supposes, places nothing.
        if found.reading.only_asks() {
            continue;
        }
        let mut of_event: Vec<Stay> = Vec::new();
        // Whoever asks merely where a thing is takes any clause.
        let telling: Vec<usize> = match mere {
            true => Vec::new(),
            false => telling(question, &found.reading).into_iter().map(|clause| clause.range.start).collect(),
        };
        for place in found.reading.places() {
            let mut value = likeness(&thing, &place.thing, &found.reading);
            if value < SAME_THING {
                continue;
            }
            if names_itself(&thing, &place) {
                continue;
            }
            // "Where does he sleep?" asks for another place than "where is he?".
            if let Some(verb) = verb.as_deref().filter(|verb| !is_being(verb)) {
                let told = found
                    .reading
                    .clauses()
                    .filter_map(|clause| clause.verb.as_ref())
                    .map(|told| word_likeness(verb, &told.lemma));
                value *= 0.7 + 0.3 * told.fold(0.0, f32::max);
            }
            // What else the question says of it counts where it asks for more than where the thing is: "where did you get stuck?"
            if !mere {
                value *= 0.6 + 0.4 * (found.coverage.of_content / most).min(1.0);
                if !telling.contains(&place.at) && place.at != usize::MAX {
                    value *= BESIDE;
                }
            }
            of_event.push(Stay { at: found.span().start, place, found: found.clone(), likeness: value });
        }
        stays.extend(of_event);
    }
    let best = stays.iter().map(|stay| stay.likeness).fold(0.0, f32::max);
    stays.retain(|stay| stay.likeness >= best - 0.12);
    stays.sort_by_key(|stay| (stay.at, stay.found.id(), stay.place.at));
    let chosen = choose(question, &stays, mere, cue);
    let Some(chosen) = chosen else { return Ok(None) };
    let coverage = chosen.found.coverage.of_content;
    let signals = Signals {
        coverage,
        cosine: chosen.found.cosine.unwrap_or(0.0),
        margin: 1.0,
        fits: 1.0,
        thing: chosen.likeness,
        known: question.content.known(),
    };
    let mut evidence = vec![chosen.found.clone()];
    evidence.extend(pooled.iter().filter(|found| found.id() != chosen.found.id()).cloned());
    Ok(Some(Candidate {
        layer: Layer::Episodes,
        text: capitalised(&chosen.place.text),
        value: Value::Text(chosen.place.text.clone()),
        evidence,
        signals,
        confidence: 0.0,
        reason: if stays.len() == 1 {
            "the only place told of it".into()
        } else {
            format!("the latest of {} places told of it", stays.len())
        },
    }))
}

/// What a question for a place is about: what is put somewhere, else who or what is there.
pub(in crate::recall) fn theme(question: &Question<'_>) -> Option<NounPhrase> {
    let clause = &question.asked.clause;
    let object = clause.objects.iter().find(|object| !object.is_pronoun());
    let subject = clause.subject.as_ref();
    // "Where had the robot been?" "Where are you?": the robot itself.
    let itself = subject
        .filter(|subject| matches!(subject.head.as_str(), "you" | "your"))
        .map(|_| crate::recall::reading::name_phrase("robot"));
    let pronoun = subject.is_none_or(NounPhrase::is_pronoun);
    // "She had left it at work. Where was it after all?": what the words before name.
    let thing = subject
        .filter(|subject| matches!(subject.head.as_str(), "it" | "they" | "that" | "those"))
        .and_then(|_| question.named.iter().find(|noun| !is_person(noun)).cloned());
    object
        .cloned()
        .or_else(|| subject.filter(|_| !pronoun).cloned())
        .or(itself)
        .or(thing)
        .or_else(|| question.named.first().cloned())
}

/// Whether a question says nothing of the thing but what it is: "where did you get stuck?" says more.
fn asks_merely(question: &Question<'_>, thing: &NounPhrase) -> bool {
    let clause = &question.asked.clause;
    let placed: Vec<&str> = clause.adjuncts.iter().flat_map(|adjunct| adjunct.noun.lemmas()).collect();
    let own = thing.lemmas();
    let main = &question.asked.main;
    question
        .asked
        .words
        .iter()
        .filter(|word| main.start <= word.range.start && word.range.end <= main.end)
        .filter(|word| matches!(word.tag, Tag::Noun | Tag::Verb | Tag::Adjective))
        .map(|word| word.lemma.as_str())
        .all(|word| own.contains(&word) || placed.contains(&word) || is_being(word))
}

/// Verbs that ask for a place and for nothing else.
fn is_being(verb: &str) -> bool {
    matches!(
        verb,
        "be" | "put"
            | "go"
            | "get"
            | "end"
            | "find"
            | "keep"
            | "leave"
            | "lie"
            | "stand"
            | "stay"
            | "hide"
            | "place"
            | "see"
            | "have"
            | "do"
            | "spend"
            | "locate"
            | "store"
            | "move"
            | "bring"
            | "take"
            | "wait"
            | "sit"
            | "remain"
            | "come"
            | "land"
            | "turn"
            | "lay"
            | "set"
            | "carry"
            | "last"
    )
}

/// "The mug is in the mug": a phrase that names the thing itself is no place of it.
fn names_itself(thing: &NounPhrase, place: &Place) -> bool {
    let text = place.text.to_lowercase();
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.last().is_some_and(|last| word_likeness(&thing.head, last) >= 0.95)
}

fn choose<'a>(question: &Question<'_>, stays: &'a [Stay], mere: bool, cue: Option<&Found>) -> Option<&'a Stay> {
    let arrivals: Vec<&Stay> = stays.iter().filter(|stay| stay.place.placement == Placement::At).collect();
    if question.asked.habitual {
        return most_common(&arrivals);
    }
    if let (Some(cue), Some((relation, _))) = (cue, question.relation()) {
        let span = cue.span();
        return match relation.order {
            Order::During => arrivals.iter().rev().find(|stay| stay.at <= span.end).copied(),
            Order::Before => {
                let here =
                    stays.iter().find(|stay| stay.found.id() == cue.id() && stay.place.placement == Placement::From);
                here.or_else(|| {
                    arrivals.iter().rev().find(|stay| stay.at < span.start && stay.found.id() != cue.id()).copied()
                })
            }
            Order::After => arrivals.iter().find(|stay| stay.at >= span.start).copied(),
        };
    }
    let bound = if question.is_bounded() { question.bound() } else { question.hard };
    if let Some(bound) = bound {
        // "Ten minutes ago" is a moment, however precisely people tell it.
        let length = bound.end.since(bound.start);
        let at = if length <= MOMENT { bound.start.saturating_add(length / 2) } else { bound.end };
        let until = arrivals
            .iter()
            .rev()
            .find(|stay| stay.at <= at)
            .copied()
            .or_else(|| arrivals.iter().rev().find(|stay| stay.at <= bound.end).copied());
        return match question.asked.occurrence {
            Some(Occurrence::First) => arrivals.iter().find(|stay| stay.at >= bound.start).copied().or(until),
            _ => until.or_else(|| {
                stays.iter().find(|stay| stay.at >= bound.start && stay.place.placement == Placement::From)
            }),
        };
    }
    match question.asked.occurrence {
        Some(Occurrence::First) => arrivals.first().copied(),
        Some(Occurrence::Previous) => {
            let last = arrivals.last()?;
            arrivals.iter().rev().find(|stay| !same_place(stay, last)).copied()
        }
        // A thing is where it was put last; a deed is done where it is told most clearly.
        _ if mere || question.tense != Tense::Past => arrivals.last().copied(),
        _ => arrivals.iter().copied().max_by(|a, b| a.found.score.total_cmp(&b.found.score).then(a.at.cmp(&b.at))),
    }
}

fn same_place(a: &Stay, b: &Stay) -> bool {
    let plain = |text: &str| {
        let words = text.to_lowercase();
        words
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !crate::index::is_stop_word(word))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    plain(&a.place.text) == plain(&b.place.text)
}

fn most_common<'a>(stays: &[&'a Stay]) -> Option<&'a Stay> {
    let count = |stay: &&&Stay| stays.iter().filter(|other| same_place(stay, other)).count();
    stays.iter().max_by_key(|stay| (count(stay), stay.at)).copied()
}

pub(in crate::recall) fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}
