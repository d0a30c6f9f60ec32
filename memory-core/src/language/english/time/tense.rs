//! Determines the tense of a sentence or a question by a small grammar.

use super::Tense;
use super::calendar::{TimeUnit, month_number, weekday_named};
use super::numbers::{leading_ordinal, parse_number};
use super::tokens::{TimeToken, tokenise};
use crate::language::english::lexicon::{self, PartOfSpeech};
use crate::language::english::tag::UNMARKED_PASTS;

/// Returns the tense of a sentence or a question: that of the first verb that shows one.
///
/// "will", "is going to", "due", "does … leave" and "is on Tuesday" refer to the future; "did", "was", "has moved" and
/// "went" refer to the past. What is booked or moved to a time is in the future, although the booking is in the past.
pub(crate) fn tense_of(text: &str) -> Tense {
    read_tense(&tokenise(text)).unwrap_or(Tense::Present)
}

/// Returns the tense of some words; `None` if no verb shows one.
pub(super) fn read_tense(tokens: &[TimeToken]) -> Option<Tense> {
    let words: Vec<&str> = tokens.iter().map(|token| token.text.as_str()).collect();
    if is_arranged(&words) {
        return Some(Tense::Future);
    }
    let timed = names_planned_time(tokens);
    let mut told = None;
    for place in 0..words.len() {
        let clause = TenseCursor { words: &words, tokens, place, timed };
        match clause.verb() {
            Some(VerbTense::Told(tense)) => return Some(tense),
            Some(VerbTense::Plan) => told = Some(Tense::Future),
            Some(VerbTense::Present) => told = told.or(Some(Tense::Present)),
            None => {}
        }
    }
    told
}

/// Returns whether "'s" after a word is "is": "it's", "what's".
fn is_short_subject(word: &str) -> bool {
    const SUBJECTS: &[&str] =
        &["it", "that", "this", "he", "she", "there", "here", "what", "who", "where", "when", "how", "which", "today"];
    SUBJECTS.contains(&word)
}

/// What a verb form says about the tense.
enum VerbTense {
    /// A certain tense.
    Told(Tense),
    /// A present form of a plan. A later verb may be more specific.
    Plan,
    /// A present form.
    Present,
}

/// A position in a sentence.
struct TenseCursor<'a> {
    words: &'a [&'a str],
    tokens: &'a [TimeToken],
    place: usize,
    /// Whether the sentence contains a time of a possible plan.
    timed: bool,
}

impl TenseCursor<'_> {
    fn word(&self, offset: usize) -> &str {
        self.words.get(self.place + offset).copied().unwrap_or("")
    }

    fn verb(&self) -> Option<VerbTense> {
        let (past, future) = (Some(VerbTense::Told(Tense::Past)), Some(VerbTense::Told(Tense::Future)));
        let last = self.place.checked_sub(1).map_or("", |before| self.words[before]);
        let plan_if = |planned: bool| Some(if planned { VerbTense::Plan } else { VerbTense::Present });
        match (self.word(0), self.word(1), self.word(2)) {
            ("will" | "ll" | "won" | "shall" | "gonna" | "tomorrow" | "upcoming", ..) => future,
            ("going", "to", what) if !matches!(last, "was" | "were") && !matches!(what, "the" | "a" | "my") => future,
            ("about", "to", _) | ("due", ..) | ("remind" | "remember", ..) | ("don", "t", "forget") => future,
            ("next", what, _) if is_period(what) => future,
            ("day", "after", "tomorrow") => future,
            ("used", "to", _) => past,
            ("did" | "didn" | "was" | "wasn" | "were" | "weren" | "had" | "hadn" | "yesterday" | "ago", ..) => past,
            ("last", what, _) if is_period(what) => past,
            ("has" | "have", "to", _) | ("must" | "should", ..) => Some(VerbTense::Plan),
            // "He cannot make it on Wednesday."
            ("can" | "cannot", ..) => plan_if(self.timed),
            // "How much have you got left?" asks what there is.
            ("has" | "have" | "ve" | "hasn" | "haven", ..) if self.has_got() => plan_if(self.timed),
            ("got", ..) if self.is_possession() => None,
            ("has" | "have" | "ve" | "hasn" | "haven", ..) if self.has_participle() => past,
            ("s", "been" | "gone" | "just", _) => past,
            ("has" | "have" | "need" | "needs", ..) => plan_if(self.timed),
            ("does" | "do" | "don" | "doesn", ..) => plan_if(self.is_scheduled()),
            ("when" | "time" | "day", "is" | "are", what) if what != "it" => Some(VerbTense::Plan),
            // "Tove's Tuesday" is no day to come.
            ("s", day, _) if weekday_named(day).is_some() && !is_short_subject(last) => None,
            ("is" | "isn" | "are" | "aren" | "s" | "re" | "am" | "m", ..) => plan_if(self.is_planned()),
            ("in", ..) if is_distance(&self.words[self.place..]) => Some(VerbTense::Plan),
            (what, ..) if is_plan_in_third_person(what) => plan_if(self.timed),
            (what, ..) if is_past_form(what) && !self.is_passive() => past,
            ("i" | "we" | "you" | "they", what, _) if is_base_form(what) => plan_if(self.timed),
            _ => None,
        }
    }

    /// Returns whether the verb asks for a schedule: "does the train leave", "when do I have to", "do I have anything
    /// on Monday".
    fn is_scheduled(&self) -> bool {
        let asks_when = self.words[..self.place].iter().any(|word| matches!(*word, "when" | "time" | "day" | "until"));
        let near = self.words.iter().skip(self.place + 1).take(6);
        near.clone().any(|word| is_departure(word) || (asks_when || self.timed) && is_schedule_verb(word))
            || near
                .zip(self.words.iter().skip(self.place + 2))
                .any(|(first, second)| *first == "have" && *second == "to")
    }

    /// Returns whether a form of "be" is followed by a time: "is on Tuesday", "is at ten", "is the concert on Friday".
    fn is_planned(&self) -> bool {
        let until = (self.place + 9).min(self.tokens.len());
        names_planned_time(self.tokens.get(self.place + 1..until).unwrap_or_default())
    }

    /// Returns whether a past form is a participle after a form of "be" ("is planned", "are you supposed") or modifies
    /// a noun.
    fn is_passive(&self) -> bool {
        let near = &self.words[self.place.saturating_sub(4)..self.place];
        let mut behind = near.iter().rev();
        if matches!(near.last(), Some(&("the" | "a" | "an" | "my" | "your" | "our" | "to"))) {
            return true;
        }
        behind.by_ref().take_while(|word| !matches!(**word, "who" | "that" | "which" | "what" | "and" | "but")).any(
            |word| {
                matches!(
                    *word,
                    "is" | "isn" | "are" | "aren" | "be" | "being" | "am" | "s" | "re" | "m" | "get" | "gets" | "got"
                )
            },
        )
    }

    /// Returns whether "got" follows "has" or "have" within a few words, and they tell of a possession.
    fn has_got(&self) -> bool {
        let near = (self.place + 1..self.words.len()).take(4);
        near.filter(|place| self.words[*place] == "got").any(|place| self.owns_at(place))
    }

    /// Returns whether "got" tells of a possession.
    fn is_possession(&self) -> bool {
        let before = &self.words[self.place.saturating_sub(4)..self.place];
        before.iter().any(|word| matches!(*word, "has" | "have" | "ve" | "s" | "hasn" | "haven"))
            && self.owns_at(self.place)
    }

    /// Returns whether no word behind "got" says that somebody became something or arrived somewhere: "has got lost",
    /// "have you got back?".
    fn owns_at(&self, got: usize) -> bool {
        const ARRIVED: &[&str] =
            &["back", "home", "here", "there", "up", "off", "out", "away", "in", "on", "into", "to"];
        let word = |offset: usize| self.words.get(got + offset).copied().unwrap_or_default();
        let part = |offset: usize| lexicon::parts_of_speech(word(offset)).first();
        let adjective = part(1) == Some(PartOfSpeech::Adjective) && part(2) != Some(PartOfSpeech::Noun);
        let became = adjective && word(1) != "left" || is_participle(word(1));
        // "Got lost", and not "got left" or "got planned".
        let lost = is_past_form(word(1)) && !word(1).ends_with("ed") && word(1) != "left";
        !(ARRIVED.contains(&word(1)) || became || lost)
    }

    /// Returns whether a participle follows "has" or "have" within a few words.
    fn has_participle(&self) -> bool {
        self.words.iter().skip(self.place + 1).take(5).any(|word| is_past_form(word) || is_participle(word))
    }
}

/// Returns whether a word is the base form of a verb and not also its past: "I leave on Friday", but not "I put it
/// there on Friday".
fn is_base_form(word: &str) -> bool {
    lexicon::lemma(word, PartOfSpeech::Verb) == Some(word) && !UNMARKED_PASTS.contains(&word)
}

/// Returns whether a clause announces a change: "the lesson has been moved", "I've got the job". A report of the past
/// does not: "he moved it on Monday".
pub(super) fn announces_change(tokens: &[TimeToken]) -> bool {
    let words: Vec<&str> = tokens.iter().map(|token| token.text.as_str()).collect();
    let perfect = words.iter().enumerate().any(|(place, word)| match *word {
        "has" | "have" | "ve" => TenseCursor { words: &words, tokens, place, timed: false }.has_participle(),
        "s" => matches!(words.get(place + 1), Some(&("been" | "got"))),
        _ => false,
    });
    // "The dentist rang: not Friday, Monday at four."
    let reports = words.iter().any(|word| matches!(*word, "rang" | "phoned" | "called" | "wrote" | "texted"));
    (perfect || reports) && !words.iter().any(|word| matches!(*word, "yesterday" | "ago" | "last"))
}

/// Returns whether some words contain a time of a possible plan: "on Tuesday", "at ten", "in two days", "tonight".
pub(super) fn names_planned_time(tokens: &[TimeToken]) -> bool {
    let word = |place: usize| tokens.get(place).map_or("", |token| token.text.as_str());
    (0..tokens.len()).any(|place| {
        let (first, second) = (word(place), word(place + 1));
        match first {
            "tonight" | "tomorrow" => true,
            "at" => is_hour(second),
            "this" | "next" => is_period(second),
            "on" | "until" | "till" | "by" if second == "the" => {
                leading_ordinal(tokens.get(place + 2..).unwrap_or_default()).is_some()
            }
            "on" | "for" | "until" | "till" | "by" | "from" => {
                is_day(second) || is_hour(second) && second.contains(':')
            }
            // "Friday at nine", "is Tuesday".
            _ => weekday_named(first).is_some() && !matches!(first, "sat" | "sun" | "wed" | "mon"),
        }
    })
}

/// Returns whether a past action concerns a future time: "was moved to Thursday", "I booked a table for Friday".
fn is_arranged(words: &[&str]) -> bool {
    let to = |word: &str| match word {
        "moved" | "shifted" | "planned" | "arranged" | "promised" | "booked" | "reserved" | "invited" => Some(false),
        "scheduled" | "rescheduled" | "postponed" | "delayed" | "expected" | "appointment" => Some(true),
        _ => None,
    };
    let forward = |place: usize| {
        let pair = (words[place], words.get(place + 1).copied().unwrap_or_default());
        let put = pair.0 == "put"
            && matches!(pair.1, "on" | "down")
            && words[..place].iter().any(|word| matches!(*word, "been" | "was" | "is"));
        matches!(pair, ("brought" | "put" | "pushed", "forward" | "back" | "off"))
            .then_some(false)
            .or(put.then_some(true))
    };
    let arranged =
        words.iter().enumerate().find_map(|(place, word)| Some((place, to(word).or_else(|| forward(place))?)));
    let Some((place, also_on)) = arranged else { return false };
    if words.iter().any(|word| matches!(*word, "did" | "yesterday" | "ago")) {
        return false;
    }
    let is_ordinal =
        |word: &str| word.ends_with("th") || matches!(word, "first" | "second" | "third" | "twenty" | "thirty");
    (place..words.len()).any(|at| {
        let word = |offset: usize| words.get(at + offset).copied().unwrap_or_default();
        // "Moved on Monday" is in the past, "expected on Monday" is in the future.
        let led = matches!(word(0), "to" | "for" | "until" | "till") || also_on && word(0) == "on";
        let day = is_day(word(1)) || word(1) == "the" && is_ordinal(word(2));
        led && (day || matches!(word(1), "next" | "tomorrow" | "tonight"))
    })
}

fn is_day(word: &str) -> bool {
    weekday_named(word).is_some() || month_number(word).is_some() && word != "may" && word != "march"
}

fn is_period(word: &str) -> bool {
    is_day(word)
        || matches!(
            word,
            "week"
                | "weekend"
                | "month"
                | "year"
                | "night"
                | "evening"
                | "summer"
                | "winter"
                | "spring"
                | "autumn"
                | "fall"
        )
}

/// Returns whether some words are a distance in time: "in two days".
fn is_distance(rest: &[&str]) -> bool {
    match rest {
        [_, "a", "few" | "couple", unit, ..] | [_, "half", "an", unit, ..] => TimeUnit::from_word(unit).is_some(),
        [_, count, unit, ..] => {
            (parse_number(count).is_some() || matches!(*count, "a" | "an")) && TimeUnit::from_word(unit).is_some()
        }
        _ => false,
    }
}

fn is_hour(word: &str) -> bool {
    word.contains(':')
        || matches!(word, "noon" | "midnight" | "half" | "quarter")
        || parse_number(word).is_some_and(|hour| (1..=24).contains(&hour))
}

/// Verbs whose present tense expresses a plan.
fn is_departure(word: &str) -> bool {
    matches!(
        word,
        "start"
            | "begin"
            | "leave"
            | "arrive"
            | "depart"
            | "land"
            | "expire"
            | "starts"
            | "begins"
            | "leaves"
            | "arrives"
            | "departs"
            | "lands"
            | "expires"
    )
}

/// Verbs whose present tense expresses a plan if they have a time.
fn is_schedule_verb(word: &str) -> bool {
    matches!(
        word,
        "open"
            | "close"
            | "end"
            | "finish"
            | "come"
            | "return"
            | "meet"
            | "take"
            | "get"
            | "go"
            | "have"
            | "need"
            | "expect"
            | "pick"
            | "fly"
            | "play"
            | "visit"
    )
}

fn is_plan_in_third_person(word: &str) -> bool {
    let stem = word.strip_suffix("es").filter(|stem| is_schedule_verb(stem));
    let stem = stem.or_else(|| word.strip_suffix('s').filter(|stem| is_schedule_verb(stem)));
    is_departure(word) || stem.is_some() || matches!(word, "flies")
}

fn is_participle(word: &str) -> bool {
    matches!(
        word,
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
            | "driven"
            | "drunk"
            | "flown"
            | "grown"
            | "known"
            | "run"
            | "shown"
            | "stolen"
            | "thrown"
            | "worn"
    )
}

/// Returns whether a word is a regular past form, or an irregular one with no other meaning.
fn is_past_form(word: &str) -> bool {
    const IRREGULAR_PASTS: [&str; 49] = [
        "ate", "became", "began", "blew", "bought", "broke", "brought", "built", "came", "caught", "chose", "drank",
        "drew", "drove", "fed", "fell", "felt", "flew", "forgot", "found", "gave", "got", "grew", "heard", "held",
        "kept", "knew", "left", "lost", "made", "met", "paid", "ran", "rang", "said", "sang", "sat", "saw", "sent",
        "slept", "spoke", "stood", "swam", "taught", "thought", "told", "took", "went", "wrote",
    ];
    let regular = word.len() > 4
        && word.ends_with("ed")
        && !word.ends_with("eed")
        && !matches!(
            word,
            "hundred" | "naked" | "sacred" | "united" | "kindred" | "embed" | "shred" | "biped" | "moped"
        );
    regular || IRREGULAR_PASTS.binary_search(&word).is_ok()
}
