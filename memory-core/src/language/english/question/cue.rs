//! The cue of a question: the clause or statement that places it in time, and the addressee.

use std::ops::Range;

use super::{Cue, Order, is_request_verb};
use crate::language::english::closed::is_one_of;
use crate::language::english::lexicon::{self, PartOfSpeech};
use crate::language::english::syntax::Sentence;
use crate::language::english::tag::{Tag, Word};

/// Removes the clause or phrase that places the question in time by another event, and returns it.
pub(super) fn take_cue(words: &[Word], sentence: &Sentence) -> Option<Cue> {
    let inside: Vec<usize> = (0..words.len())
        .filter(|at| words[*at].range.start >= sentence.range.start && words[*at].range.end <= sentence.range.end)
        .collect();
    let first = *inside.first()?;
    let last = *inside.last()?;
    let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    for at in inside.iter().copied() {
        let (order, length) = match (text(at), text(at + 1), text(at + 2)) {
            ("while" | "whilst" | "during" | "amid", ..) => (Order::During, 1),
            // "By when must it …" asks for the time.
            ("when", ..) if words.get(at + 1).is_some_and(|word| matches!(word.tag, Tag::Auxiliary | Tag::Modal)) => {
                continue;
            }
            ("when", ..) => (Order::During, 1),
            ("as", ..) if words[at].tag == Tag::Conjunction && text(at + 1) != "if" => (Order::During, 1),
            ("at" | "by", "the", "time") | ("at", "the", "moment") => (Order::During, 3),
            ("the", "moment" | "instant", _) if words.get(at + 2).is_some_and(|word| word.tag != Tag::Mark) => {
                (Order::During, 2)
            }
            // "The first time it rained, who …?", and not "when was the first time …?".
            ("the", "first" | "second" | "third" | "last", "time") if is_independent_phrase(words, at, first) => {
                (Order::During, 3)
            }
            ("with", ..) if states_accompaniment(&words[at..=last]) => (Order::During, 1),
            // "One step after the other."
            ("after", "the", "other") | ("after", "another", _) => continue,
            // "Who looks after the plant?"
            ("after", ..) if at > first && matches!(words[at - 1].lemma.as_str(), "look" | "ask" | "run") => continue,
            ("after" | "following", ..) => (Order::After, 1),
            ("once", ..) if words[at].tag == Tag::Conjunction => (Order::After, 1),
            // "What are we waiting for before it can start?" asks for a condition, and not for what was earlier.
            ("before", ..) if asks_what_lacks(&words[first..at]) => continue,
            ("before", ..) => (Order::Before, 1),
            // "What followed the speech?", and not "who followed the dog?".
            ("followed" | "preceded", ..) if follows_in_time(&words[inside[0]..at]) => {
                (if text(at) == "followed" { Order::After } else { Order::Before }, 1)
            }
            ("ahead", "of", _) | ("prior", "to", _) => (Order::Before, 2),
            _ => continue,
        };
        let from = at + length;
        // "before noon" is a time, "the day before", "before?" and "when?" place nothing.
        let next = words.get(from).filter(|_| from <= last)?;
        if matches!(next.tag, Tag::Time | Tag::Mark)
            || matches!(next.text.as_str(), "that" | "all" | "now") && from == last
        {
            continue;
        }
        // "during the summer" is a time, too: nothing happened that is called so.
        if text(at) == "during" && is_time_name(&words[from..=last]) {
            continue;
        }
        let leading = inside.iter().take_while(|place| **place < at).all(|place| {
            matches!(words[*place].tag, Tag::Conjunction | Tag::Mark | Tag::Adverb | Tag::Time)
                || matches!(
                    words[*place].text.as_str(),
                    "right" | "just" | "between" | "from" | "on" | "at" | "to" | "in"
                )
        });
        let comma = (from..=last).filter(|place| words[*place].has_text(","));
        let end = if leading || at == first {
            // The cue ends at the comma before the words that ask.
            let asks = |place: usize| {
                let next = text(place + 1);
                words
                    .get(place + 1)
                    .is_some_and(|word| matches!(word.tag, Tag::Wh | Tag::Auxiliary | Tag::Modal | Tag::Preposition))
                    || is_request_verb(next)
            };
            let Some(comma) = comma.clone().find(|place| asks(*place)).or_else(|| comma.clone().next()) else {
                continue;
            };
            comma
        } else {
            // A word that asks after a comma ends it, too.
            comma.clone().find(|place| words.get(place + 1).is_some_and(|word| word.tag == Tag::Wh)).unwrap_or(last + 1)
        };
        if text(at) == "when" && at == first && end > last {
            continue;
        }
        if end <= from {
            continue;
        }
        let before = at.checked_sub(1).map_or("", text);
        let direct = matches!(
            before,
            "right" | "directly" | "immediately" | "just" | "shortly" | "straight" | "soon" | "next" | "step" | "stop"
        ) || inside.iter().any(|place| matches!(text(*place), "next" | "directly" | "immediately"));
        // "When she had left": what had happened was over.
        let order = if text(at) == "when" && is_past_perfect(&words[from..end]) { Order::After } else { order };
        return Some(Cue { order, direct, range: words[at].range.start..words[end - 1].range.end });
    }
    None
}

/// Returns whether words ask, of now, what has not been done or come yet.
fn asks_what_lacks(before: &[Word]) -> bool {
    let lacks = |word: &Word| matches!(word.lemma.as_str(), "wait" | "need") || word.has_text("still");
    let past = |word: &Word| matches!(word.text.as_str(), "did" | "was" | "were" | "had");
    before.iter().any(lacks) && !before.iter().any(past)
}

/// Returns whether the words before "followed" ask for a thing that came next, and no other verb stands there.
fn follows_in_time(before: &[Word]) -> bool {
    let asks = |word: &Word| matches!(word.text.as_str(), "what" | "which");
    before.iter().any(asks) && !before.iter().any(|word| matches!(word.tag, Tag::Verb | Tag::Auxiliary | Tag::Modal))
}

/// Returns whether a clause tells what had happened before: "she had just left".
fn is_past_perfect(clause: &[Word]) -> bool {
    clause.iter().enumerate().any(|(at, word)| {
        let mut behind = clause[at + 1..].iter().skip_while(|next| matches!(next.tag, Tag::Adverb | Tag::Not));
        matches!(word.text.as_str(), "had" | "'d")
            && word.tag == Tag::Auxiliary
            && behind.next().is_some_and(|next| next.tag == Tag::Verb || next.has_text("been"))
    })
}

/// Returns whether words after "with" describe a simultaneous event: "with bells in the background", "with the radio
/// playing".
fn states_accompaniment(words: &[Word]) -> bool {
    let phrase: Vec<&Word> = words.iter().take_while(|word| word.tag != Tag::Mark).collect();
    // Behind a noun the tagger may take the gerund for a noun, so its form decides.
    let goes_on = phrase.windows(2).skip(1).any(|pair| {
        matches!(pair[0].tag, Tag::Noun | Tag::Name)
            && is_one_of(&pair[1].text, &["playing", "sounding", "running", "ringing", "going"])
    });
    let texts: Vec<&str> = phrase.iter().map(|word| word.text.as_str()).collect();
    goes_on || texts.ends_with(&["in", "the", "background"])
}

/// Returns whether a phrase is not part of the question: nothing before it takes it as subject or object.
fn is_independent_phrase(words: &[Word], at: usize, first: usize) -> bool {
    let before = at.checked_sub(1).filter(|_| at > first).and_then(|before| words.get(before));
    before.is_none_or(|before| match before.tag {
        Tag::Mark | Tag::Noun | Tag::Name | Tag::Adverb | Tag::Pronoun => true,
        Tag::Verb => !matches!(before.lemma.as_str(), "remember" | "recall" | "know" | "tell" | "name" | "describe"),
        _ => false,
    })
}

/// Returns whether a phrase only names a time: "the summer", "that season?".
fn is_time_name(phrase: &[Word]) -> bool {
    let mut rest = phrase.iter().skip_while(|word| word.tag == Tag::Determiner);
    let Some(noun) = rest.next().filter(|word| word.tag == Tag::Noun) else { return false };
    let ends = rest.next().is_none_or(|word| matches!(word.tag, Tag::Mark | Tag::Preposition));
    let is_a = |class| lexicon::is_a_as(&noun.lemma, class, PartOfSpeech::Noun).is_some();
    ends && (is_a("time_period") || is_a("clock_time"))
}

/// Returns the statement before the question that places it in time: "People clapped. What did you see just then?"
pub(super) fn preceding_statement(words: &[Word], sentences: &[Sentence], place: usize) -> Option<Cue> {
    let sentence = sentences.get(place)?;
    let inside: Vec<&Word> = words
        .iter()
        .filter(|word| word.range.start >= sentence.range.start && word.range.end <= sentence.range.end)
        .collect();
    let has = |phrase: &[&str]| {
        inside.windows(phrase.len()).any(|window| window.iter().zip(phrase).all(|(word, text)| word.has_text(text)))
    };
    let then = has(&["then"]) && !has(&["and", "then"])
        || has(&["that", "moment"])
        || has(&["that", "time"])
        || has(&["meanwhile"])
        || has(&["that", "point"]);
    // "What was going on?" asks for nothing but the time of the statement.
    let then = then || has(&["going", "on"]) || has(&["went", "on"]) || has(&["happening"]);
    let next = has(&["next"]) || has(&["afterwards"]) || has(&["after", "that"]);
    // Before the asking clause of the same sentence, behind a colon or a comma.
    let asks = inside.iter().position(|word| word.tag == Tag::Wh)?;
    let same =
        inside[..asks].iter().rposition(|word| matches!(word.text.as_str(), ":" | "," | "-")).filter(|mark| *mark >= 3);
    let range = match (same, place.checked_sub(1).and_then(|before| sentences.get(before))) {
        (Some(mark), _) if inside[..mark].iter().any(|word| matches!(word.tag, Tag::Verb | Tag::Auxiliary)) => {
            inside[0].range.start..inside[mark - 1].range.end
        }
        (_, Some(before)) if !before.asks => before.range.clone(),
        _ => return None,
    };
    // "I was away on Monday. What went on here?" asks about Monday.
    let before = words.iter().filter(|word| range.start <= word.range.start && word.range.end <= range.end);
    if tells_absence(before) {
        return None;
    }
    let order = if next {
        Order::After
    } else if then {
        Order::During
    } else {
        return None;
    };
    Some(Cue { order, direct: true, range })
}

/// Returns whether a statement says that the asker was not there.
fn tells_absence<'w>(statement: impl Iterator<Item = &'w Word>) -> bool {
    let words: Vec<&str> = statement.map(|word| word.text.as_str()).collect();
    let asker = words.first().is_some_and(|first| matches!(*first, "i" | "we"));
    asker && words.iter().any(|word| is_one_of(word, &["away", "absent", "abroad", "asleep", "gone", "out"]))
}

/// Returns the range of the name that a question starts or ends with, including its comma.
pub(super) fn addressee(words: &[Word], main: &Range<usize>) -> Option<Range<usize>> {
    let inside: Vec<&Word> =
        words.iter().filter(|word| main.start <= word.range.start && word.range.end <= main.end).collect();
    let spoken = match inside.split_last() {
        Some((last, rest)) if last.has_text("?") || last.has_text(".") => rest,
        _ => &inside,
    };
    // A list of names ends in a name, too: "Anna, Ben or Clara?".
    if spoken.iter().filter(|word| word.has_text(",")).count() != 1 || spoken.iter().any(|word| word.has_text("or")) {
        return None;
    }
    let is_name = |word: &Word| word.capital && matches!(word.tag, Tag::Name | Tag::Noun);
    match spoken {
        [.., comma, name] if comma.has_text(",") && is_name(name) => Some(comma.range.start..name.range.end),
        // Every sentence begins with a capital.
        [name, comma, ..] if comma.has_text(",") && name.tag == Tag::Name => Some(name.range.start..comma.range.end),
        _ => None,
    }
}
