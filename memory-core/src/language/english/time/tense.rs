//! The tense of a sentence or a question, by a small grammar.

use super::Tense;
use super::calendar::{Unit, month, weekday};
use super::tokens::{Token, tokens};

/// Returns the tense of a sentence or a question: of the first verb that tells one.
///
/// "will", "is going to", "due", "does … leave" and "is on Tuesday" look ahead; "did", "was", "has moved" and "went" look
/// back. What is booked or moved to a time lies ahead, although it was booked before.
pub(crate) fn tense_of(text: &str) -> Tense {
    let tokens = tokens(text);
    let words: Vec<&str> = tokens.iter().map(|token| token.text.as_str()).collect();
    if is_arranged(&words) {
        return Tense::Future;
    }
    let mut present = Tense::Present;
    for place in 0..words.len() {
        let rest = &words[place..];
        match verb(rest, &words[..place], &tokens[place..]) {
            Some(Tense::Present) => present = Tense::Future,
            Some(tense) => return tense,
            None => {}
        }
    }
    present
}

/// What a word with its neighbours tells. `Present` stands for a present form that plans ("starts at six"): a verb behind
/// it may still tell more.
fn verb(rest: &[&str], before: &[&str], tokens: &[Token]) -> Option<Tense> {
    let word = |place: usize| rest.get(place).copied().unwrap_or("");
    let last = before.last().copied().unwrap_or("");
    match (word(0), word(1), word(2)) {
        ("will" | "ll" | "won" | "shall" | "gonna" | "tomorrow" | "upcoming", ..) => Some(Tense::Future),
        ("going", "to", _) if !matches!(last, "was" | "were") => Some(Tense::Future),
        ("about", "to", _) | ("due", ..) | ("remind" | "remember", ..) => Some(Tense::Future),
        ("don", "t", "forget") => Some(Tense::Future),
        ("next", what, _) if is_period(what) => Some(Tense::Future),
        ("the", "day" | "week", "after") if word(3) == "tomorrow" => Some(Tense::Future),
        ("was" | "were", "going", "to") | ("used", "to", _) => Some(Tense::Past),
        ("did" | "didn" | "was" | "wasn" | "were" | "weren" | "had" | "hadn" | "yesterday" | "ago", ..) => {
            Some(Tense::Past)
        }
        ("last", what, _) if is_period(what) => Some(Tense::Past),
        ("has" | "have", "to", _) | ("must" | "should" | "need" | "needs", ..) => Some(Tense::Present),
        ("has" | "have" | "ve" | "hasn" | "haven", ..) if has_participle(rest) => Some(Tense::Past),
        ("does" | "do" | "don" | "doesn", ..) => {
            let planned = |word: &&str| is_schedule_verb(word);
            rest.iter().skip(1).take(6).any(planned).then_some(Tense::Present)
        }
        ("when" | "time" | "day", "is" | "are", what) if what != "it" => Some(Tense::Present),
        ("is" | "are" | "s" | "re" | "am" | "m", ..) => is_planned(rest, tokens).then_some(Tense::Present),
        ("in", ..) if is_distance(rest) => Some(Tense::Present),
        (what, ..) if is_third_person_plan(what) => Some(Tense::Present),
        (what, ..) if is_past_form(what) && !is_form_of_be(last) => Some(Tense::Past),
        _ => None,
    }
}

/// "was moved to Thursday", "I booked a table for Friday": what was done is over, what it is for lies ahead.
fn is_arranged(words: &[&str]) -> bool {
    let arranged = words.iter().position(|word| {
        matches!(
            *word,
            "booked"
                | "reserved"
                | "scheduled"
                | "rescheduled"
                | "planned"
                | "arranged"
                | "invited"
                | "promised"
                | "postponed"
                | "moved"
                | "shifted"
                | "delayed"
                | "expected"
                | "appointment"
        )
    });
    let Some(place) = arranged else { return false };
    if words.iter().any(|word| matches!(*word, "did" | "yesterday" | "ago")) {
        return false;
    }
    words[place..].windows(2).any(|pair| {
        matches!(pair[0], "to" | "for" | "until" | "till" | "on")
            && (is_day(pair[1]) || matches!(pair[1], "next" | "tomorrow" | "tonight"))
            // What was moved on Monday lies behind.
            && (pair[0] != "on" || !matches!(words[place], "moved" | "shifted" | "planned" | "arranged" | "promised" | "booked"))
    })
}

fn is_day(word: &str) -> bool {
    weekday(word).is_some() || month(word).is_some() && word != "may" && word != "march"
}

fn is_period(word: &str) -> bool {
    is_day(word)
        || matches!(
            word,
            "week" | "weekend" | "month" | "year" | "night" | "summer" | "winter" | "spring" | "autumn" | "fall"
        )
}

/// "in two days".
fn is_distance(rest: &[&str]) -> bool {
    let [_, count, unit, ..] = rest else { return false };
    let counted = super::number(count).is_some() || matches!(*count, "a" | "an" | "few" | "half");
    counted && Unit::of(unit).is_some()
        || matches!(rest, [_, "a", "few" | "couple", unit, ..] if Unit::of(unit).is_some())
        || matches!(rest, [_, "half", "an", "hour", ..])
}

/// "is on Tuesday", "is at ten", "is the concert on Friday": a form of "be" with a time and no other verb in between.
fn is_planned(rest: &[&str], tokens: &[Token]) -> bool {
    let near = &rest[..rest.len().min(9)];
    near.windows(2).enumerate().skip(1).any(|(place, pair)| {
        let led = matches!(pair[0], "on" | "at" | "for" | "until" | "till" | "by" | "from" | "this");
        let time = is_day(pair[1])
            || pair[0] == "on"
                && pair[1] == "the"
                && super::numbers::ordinal(tokens.get(place + 2..).unwrap_or_default()).is_some()
            || pair[0] == "at" && is_hour(pair[1])
            || pair[1] == "tonight";
        led && time || pair[1] == "tonight"
    }) || near.get(1).is_some_and(|word| is_day(word))
}

fn is_hour(word: &str) -> bool {
    word.contains(':')
        || matches!(word, "noon" | "midnight" | "half" | "quarter")
        || super::number(word).is_some_and(|hour| (1..=24).contains(&hour))
}

fn is_form_of_be(word: &str) -> bool {
    matches!(
        word,
        "is" | "are" | "be" | "being" | "am" | "s" | "re" | "m" | "get" | "gets" | "not" | "the" | "a" | "an"
    )
}

/// Whether a participle follows "has" or "have" within a few words.
fn has_participle(rest: &[&str]) -> bool {
    rest.iter().skip(1).take(5).any(|word| {
        is_past_form(word)
            || matches!(
                *word,
                "been"
                    | "gone"
                    | "seen"
                    | "done"
                    | "given"
                    | "taken"
                    | "eaten"
                    | "broken"
                    | "written"
                    | "spoken"
                    | "fallen"
                    | "become"
                    | "come"
                    | "put"
                    | "left"
            )
    })
}

/// Verbs whose present tense tells a plan.
fn is_schedule_verb(word: &str) -> bool {
    matches!(
        word,
        "start"
            | "begin"
            | "leave"
            | "arrive"
            | "depart"
            | "open"
            | "close"
            | "end"
            | "finish"
            | "come"
            | "return"
            | "land"
            | "meet"
            | "take"
            | "get"
            | "go"
            | "have"
            | "need"
            | "expect"
            | "pick"
            | "expire"
    )
}

fn is_third_person_plan(word: &str) -> bool {
    matches!(
        word,
        "starts"
            | "begins"
            | "leaves"
            | "arrives"
            | "departs"
            | "opens"
            | "closes"
            | "ends"
            | "finishes"
            | "comes"
            | "returns"
            | "lands"
            | "expires"
            | "gets"
            | "takes"
            | "has"
    )
}

/// Regular past forms, and the irregular ones that are nothing else.
fn is_past_form(word: &str) -> bool {
    const IRREGULAR: [&str; 48] = [
        "ate", "became", "began", "blew", "bought", "broke", "brought", "built", "came", "caught", "chose", "drank",
        "drew", "drove", "fed", "fell", "felt", "flew", "forgot", "found", "gave", "got", "grew", "heard", "held",
        "kept", "knew", "left", "lost", "made", "met", "paid", "ran", "rang", "said", "sang", "sat", "saw", "sent",
        "slept", "spoke", "stood", "swam", "thought", "told", "took", "went", "wrote",
    ];
    let regular = word.len() > 4
        && word.ends_with("ed")
        && !word.ends_with("eed")
        && !matches!(
            word,
            "hundred" | "naked" | "sacred" | "united" | "kindred" | "embed" | "shred" | "biped" | "moped"
        );
    regular || IRREGULAR.binary_search(&word).is_ok()
}
