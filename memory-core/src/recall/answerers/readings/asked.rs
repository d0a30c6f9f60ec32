//! What a question asks of a series of readings: which extreme, which of two times, which way it goes, or one value.

use super::super::compared::{ComparedTime, compared_times};
use crate::TimeSpan;
use crate::language::english::closed::{RECURRING_TIMES, number_word};
use crate::language::english::lexicon::scales::{Degree, Grade, Scale, degree_of, scale_named};
use crate::language::english::lexicon::{self, PartOfSpeech};
use crate::language::english::question::AnswerKind;
use crate::language::english::syntax::NounKind;
use crate::language::english::tag::{Tag, Word};
use crate::language::english::time::{Tense, TimeRelation, part_of_day_seconds};
use crate::recall::question::Question;
use crate::recall::reading::is_person;

/// Nouns for any reading.
const READING_NOUNS: &[&str] = &["reading", "value", "level", "figure", "measurement"];
/// Other nouns that say nothing about which reading is meant.
const GENERAL_NOUNS: &[&str] = &[
    "number",
    "amount",
    "point",
    "time",
    "start",
    "beginning",
    "end",
    "worst",
    "best",
    "peak",
    "maximum",
    "minimum",
    "moment",
    "robot",
];
/// Instruments that measure on any scale.
const INSTRUMENTS: &[&str] = &["gauge", "meter", "display", "sensor", "dial", "indicator"];
/// Titles before a name.
const TITLES: &[&str] = &["mr", "mrs", "ms", "miss", "dr"];
/// Verbs that say nothing about what was measured.
const GENERAL_VERBS: &[&str] = &[
    "be", "have", "do", "get", "become", "grow", "turn", "go", "come", "read", "say", "show", "stand", "reach", "rise",
    "fall", "climb", "drop", "sink", "increase", "decrease", "decline", "measure", "change", "run", "hit", "fill",
];
/// Verbs of what an instrument tells.
const READING_VERBS: &[&str] = &["read", "say", "show", "stand", "measure", "display", "indicate", "register"];
const RISING: &[&str] = &["rise", "climb", "increase", "grow"];
const FALLING: &[&str] = &["fall", "drop", "sink", "decrease", "decline", "shrink"];

/// What is asked of the readings.
pub(super) enum Form {
    /// The day or the moment of the extreme reading.
    ExtremeTime { day: bool },
    /// The extreme reading.
    ExtremeValue,
    /// At which of two times it was more, or whether it was.
    Compare { first: ComparedTime, second: ComparedTime, than: bool },
    /// Which way the readings go. `either` if both directions are named. `then` is the time to compare with.
    Trend { either: bool, word: String, opposite: Option<String>, then: Option<TimeSpan> },
    /// The reading at the time that the question names.
    Then,
    /// The latest reading: "how is your battery?".
    Now,
}

/// A word of the question that a reading must match.
pub(super) struct AskedWord {
    pub lemma: String,
    pub kind: AskedWordKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AskedWordKind {
    Noun,
    Name,
    /// An adjective before a noun.
    Modifier,
    /// The number in a name: "tank 3".
    Number,
    Instrument,
    Verb,
}

/// A question about readings.
pub(super) struct AskedReading {
    pub form: Form,
    pub scale: Option<&'static Scale>,
    /// Whether more of it is asked for.
    pub more: bool,
    pub words: Vec<AskedWord>,
    /// Whether the readings of the robot itself are asked for.
    pub own: bool,
    /// The noun that must name what was measured: the battery in "what was the battery at?".
    pub head: Option<String>,
    /// Whether any value of the thing is meant: "what did the boiler read?".
    pub any_value: bool,
    /// The part of the day that is asked for, in seconds since midnight.
    pub part_of_day: Option<(i32, i32)>,
}

impl AskedReading {
    /// Returns what a question asks of readings, if it does.
    pub fn of(question: &Question<'_>) -> Option<Self> {
        let main = &question.asked.main;
        let words: Vec<&Word> = question
            .asked
            .words
            .iter()
            .filter(|word| main.start <= word.range.start && word.range.end <= main.end && word.tag != Tag::Mark)
            .collect();
        let degrees = degrees(&words);
        let time_noun = asked_time_noun(&words);
        let (form, degree) = form(question, &words, &degrees, time_noun)?;
        let mut asked: Vec<AskedWord> = Vec::new();
        let mut scale = degree.and_then(|degree| degree.scale);
        for (at, word) in words.iter().enumerate() {
            if degrees.iter().any(|(place, ..)| *place == at) || is_in_time_phrase(question, word) {
                continue;
            }
            let before = at.checked_sub(1).and_then(|at| words.get(at));
            let after_noun = before.is_some_and(|before| matches!(before.tag, Tag::Noun | Tag::Name));
            let lemma = word.lemma.as_str();
            let kind = match word.tag {
                Tag::Noun | Tag::Name if is_general(lemma) || is_general_gerund(word) => continue,
                Tag::Noun | Tag::Name if changes(question, word).is_some() => continue,
                Tag::Noun | Tag::Name if TITLES.contains(&word.text.as_str()) => continue,
                Tag::Noun | Tag::Name if INSTRUMENTS.contains(&lemma) => AskedWordKind::Instrument,
                Tag::Name if word.capital => AskedWordKind::Name,
                Tag::Noun | Tag::Name => AskedWordKind::Noun,
                Tag::Number if after_noun => AskedWordKind::Number,
                Tag::Adjective if words.get(at + 1).is_some_and(|next| matches!(next.tag, Tag::Noun | Tag::Name)) => {
                    AskedWordKind::Modifier
                }
                Tag::Verb if !GENERAL_VERBS.contains(&lemma) => AskedWordKind::Verb,
                _ => continue,
            };
            let named =
                if kind == AskedWordKind::Number { None } else { scale_named(lemma).or(scale_named(&word.text)) };
            if let Some(named) = named.filter(|_| scale.is_none_or(|scale| Some(scale) == named)) {
                scale = Some(named);
                continue;
            }
            let lemma = match kind {
                AskedWordKind::Number => number_word(&word.text).map_or(word.text.clone(), |number| number.to_string()),
                _ => lemma.to_owned(),
            };
            if !asked.iter().any(|known| known.lemma == lemma) {
                asked.push(AskedWord { lemma, kind });
            }
        }
        let own = words.iter().any(|word| matches!(word.text.as_str(), "you" | "your" | "yourself"))
            && question.named.iter().any(|noun| noun.head == crate::recall::question::ROBOT_ENTITY);
        if scale.is_none() && asked.is_empty() {
            return None;
        }
        let (head, any_value) = match (&form, degree) {
            (Form::Then | Form::Now, None) => subject_of_reading(question, scale)?,
            _ => (None, false),
        };
        let part_of_day = time_noun.and_then(part_of_day_seconds);
        Some(Self {
            form,
            scale,
            more: degree.is_none_or(|degree| degree.more),
            words: asked,
            own,
            head,
            any_value,
            part_of_day,
        })
    }
}

/// Returns whether a word says that a value has risen (`true`) or fallen: a participle behind "has" or "is".
fn changes(question: &Question<'_>, word: &Word) -> Option<bool> {
    const ENDINGS: &[&str] = &["ing", "ed", "en", "own", "unk"];
    let clause = &question.asked.clause;
    let participle = ENDINGS.iter().any(|ending| word.text.ends_with(ending));
    let lemma = lexicon::lemma(&word.text, PartOfSpeech::Verb).filter(|_| participle && clause.inverted)?;
    if RISING.contains(&lemma) { Some(true) } else { FALLING.contains(&lemma).then_some(false) }
}

/// Returns whether a word is a verb that says nothing about what was measured, taken for a noun: "tank 1 getting".
fn is_general_gerund(word: &Word) -> bool {
    word.is_gerund()
        && lexicon::lemma(&word.text, PartOfSpeech::Verb).is_some_and(|lemma| GENERAL_VERBS.contains(&lemma))
}

fn is_general(noun: &str) -> bool {
    READING_NOUNS.contains(&noun) || GENERAL_NOUNS.contains(&noun) || is_time_noun(noun)
}

/// Returns whether a noun names a stretch of time.
fn is_time_noun(noun: &str) -> bool {
    RECURRING_TIMES.contains(&noun)
        || matches!(noun, "time" | "date" | "moment" | "weekend")
        || lexicon::is_a_as(noun, "time_unit", PartOfSpeech::Noun).is_some()
}

fn is_in_time_phrase(question: &Question<'_>, word: &Word) -> bool {
    word.tag == Tag::Time
        || question
            .phrases
            .iter()
            .any(|phrase| phrase.range.start <= word.range.start && word.range.end <= phrase.range.end)
}

/// Returns the noun that must name what was measured, and whether any value of the subject is meant, or nothing if the
/// question does not ask for a value: "what was wrong with the battery?".
fn subject_of_reading(question: &Question<'_>, scale: Option<&Scale>) -> Option<(Option<String>, bool)> {
    let clause = &question.asked.clause;
    let (verb, subject) = (clause.verb.as_ref()?, clause.subject.as_ref()?);
    let head = subject.head.as_str();
    let instrument = INSTRUMENTS.contains(&head) || scale_named(head).is_some() || READING_NOUNS.contains(&head);
    if verb.lemma == "be" && verb.auxiliary_only {
        return Some((Some(head.to_owned()).filter(|_| !instrument), false));
    }
    if scale.is_some_and(|scale| scale.is_named_by(&verb.lemma)) {
        return Some((None, false));
    }
    let reads = READING_VERBS.contains(&verb.lemma.as_str()) && subject.kind == NounKind::Common && !is_person(subject);
    reads.then_some((None, !instrument))
}

/// Returns the words of degree with their places. "More humid" is one of them, in two words.
fn degrees(words: &[&Word]) -> Vec<(usize, Degree)> {
    let mut found: Vec<(usize, Degree)> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let Some(degree) = degree_of(&word.text) else { continue };
        let before = at.checked_sub(1).and_then(|at| words.get(at)).map_or("", |word| word.text.as_str());
        let graded = found.last().copied().filter(|(place, _)| {
            place + 1 == at
                && degree.grade == Grade::Positive
                && matches!(before, "more" | "most" | "less" | "least")
                && degree.scale.is_some()
        });
        match graded {
            Some((_, grading)) => {
                let more = grading.more == degree.more;
                found.pop();
                found.push((at - 1, Degree { more, grade: grading.grade, scale: degree.scale }));
                found.push((at, Degree { more, grade: grading.grade, scale: degree.scale }));
            }
            // "How deep": elsewhere, a positive describes a thing.
            None if degree.grade == Grade::Positive && before != "how" => {}
            None => found.push((at, degree)),
        }
    }
    found
}

/// Returns the noun of time that is asked for: "on which of the three mornings".
fn asked_time_noun<'w>(words: &[&'w Word]) -> Option<&'w str> {
    let asking = words.iter().position(|word| matches!(word.text.as_str(), "which" | "what"))?;
    let phrase = words[asking + 1..].iter().take_while(|word| !matches!(word.tag, Tag::Verb | Tag::Auxiliary));
    phrase.map(|word| word.lemma.as_str()).find(|noun| is_time_noun(noun))
}

/// Returns what is asked, with the word of degree that says so.
fn form(
    question: &Question<'_>,
    words: &[&Word],
    degrees: &[(usize, Degree)],
    time_noun: Option<&str>,
) -> Option<(Form, Option<Degree>)> {
    let of_grade = |grade: Grade| degrees.iter().find(|(_, degree)| degree.grade == grade);
    let has = |text: &str| words.iter().any(|word| word.has_text(text));
    let verb = question.asked.clause.verb.as_ref();
    let lemma = verb.map_or("", |verb| verb.lemma.as_str());
    let day = !matches!(time_noun, None | Some("time" | "hour" | "moment" | "minute"));
    let asks_time = time_noun.is_some() || words.iter().any(|word| word.has_text("when") && word.tag == Tag::Wh);
    let open = matches!(question.ask(), AnswerKind::Amount | AnswerKind::Thing | AnswerKind::Description);
    let about_other = has("which") && time_noun.is_none() || has("who") || has("whose") || has("where") || has("why");
    if about_other {
        return None;
    }
    if let Some((place, degree)) = of_grade(Grade::Superlative) {
        // "What did she like most?" asks for no value, "what is the most she drank?" does.
        let text = |at: Option<usize>| at.and_then(|at| words.get(at)).map_or("", |word| word.text.as_str());
        let most = matches!(words[*place].text.as_str(), "most" | "least") && degree.scale.is_none();
        let amount = text(place.checked_sub(1)) == "the" && matches!(text(place.checked_sub(2)), "is" | "was" | "'s");
        if most && !amount && !asks_time {
            return None;
        }
        return match asks_time {
            true => Some((Form::ExtremeTime { day }, Some(*degree))),
            false if open && (has("what") || has("how")) => Some((Form::ExtremeValue, Some(*degree))),
            false => None,
        };
    }
    if let Some((place, degree)) = of_grade(Grade::Comparative) {
        if let Some((first, second, than)) = compared_times(question) {
            return Some((Form::Compare { first, second, than }, Some(*degree)));
        }
        let opposite = degrees.iter().find(|(_, other)| other.grade == Grade::Comparative && other.more != degree.more);
        let then = time_after_than(question);
        let from_start = words
            .windows(2)
            .any(|pair| matches!(pair[1].text.as_str(), "start" | "beginning") && pair[0].has_text("the"));
        let goes_on = verb.is_some_and(|verb| verb.perfect || verb.progressive)
            || words.iter().any(|word| is_general_gerund(word))
            || matches!(lemma, "become" | "get" | "grow")
            || question.tense == Tense::Present && (then.is_some() || from_start || opposite.is_some());
        let joined = opposite.is_some() && has("or");
        if !goes_on || asks_time || !(question.ask() == AnswerKind::Truth || joined) {
            return None;
        }
        let word = words[*place].text.clone();
        let opposite = opposite.filter(|_| joined).map(|(place, _)| words[*place].text.clone());
        return Some((Form::Trend { either: joined, word, opposite, then }, Some(*degree)));
    }
    let positive = of_grade(Grade::Positive);
    if let Some((_, degree)) = positive.filter(|_| question.asked.cue.is_none()) {
        let reaches = matches!(lemma, "get" | "rise" | "fall" | "drop" | "climb" | "sink" | "go" | "reach");
        let at_extreme = words
            .windows(2)
            .any(|pair| matches!(pair[0].text.as_str(), "its" | "their" | "the") && is_extreme(pair[1]));
        return match reaches || at_extreme {
            true => Some((Form::ExtremeValue, Some(*degree))),
            false => then_form(question, words, Some(*degree)),
        };
    }
    if question.ask() == AnswerKind::Truth {
        let goes = lemma == "go" && verb.is_some_and(|verb| verb.perfect || verb.progressive);
        let direction = if goes { Some(has("up")).filter(|up| *up || has("down")) } else { None };
        let direction = direction.or_else(|| words.iter().find_map(|word| changes(question, word)));
        if let Some(more) = direction {
            let degree = Degree { more, grade: Grade::Comparative, scale: None };
            let trend = Form::Trend { either: false, word: String::new(), opposite: None, then: None };
            return Some((trend, Some(degree)));
        }
    }
    if open && has("what") {
        return then_form(question, words, None);
    }
    if asks_how_it_is(question) {
        return Some((Form::Now, None));
    }
    positive.and_then(|(_, degree)| then_form(question, words, Some(*degree)))
}

/// Returns whether a question asks how a thing is now: "how is your battery?".
fn asks_how_it_is(question: &Question<'_>) -> bool {
    let clause = &question.asked.clause;
    let how = clause.asking.as_ref().is_some_and(|asking| asking.word == "how" && asking.degree.is_none());
    let is = clause.verb.as_ref().is_some_and(|verb| verb.lemma == "be" && verb.auxiliary_only && !verb.past);
    let thing = clause.subject.as_ref().is_some_and(|subject| subject.kind == NounKind::Common && !is_person(subject));
    how && is && thing && question.asked.cue.is_none() && !question.has_time_bound()
}

/// Returns the form of a question for the reading at a time that an event or a time phrase names.
fn then_form(question: &Question<'_>, words: &[&Word], degree: Option<Degree>) -> Option<(Form, Option<Degree>)> {
    let counts = words
        .windows(2)
        .any(|pair| pair[0].has_text("how") && matches!(pair[1].text.as_str(), "much" | "many" | "long" | "old"));
    let placed = question.asked.cue.is_some() || question.has_time_bound() && question.tense == Tense::Past;
    (placed && !counts).then_some((Form::Then, degree))
}

fn is_extreme(word: &Word) -> bool {
    matches!(word.text.as_str(), "worst" | "best" | "most" | "peak" | "maximum" | "minimum")
}

/// Returns the time that the present is compared with: "than yesterday".
fn time_after_than(question: &Question<'_>) -> Option<TimeSpan> {
    let than = question.asked.words.iter().find(|word| word.has_text("than"))?;
    let mut behind = question.phrases.iter().filter(|phrase| phrase.range.start >= than.range.end);
    behind.find(|phrase| phrase.relation == TimeRelation::At).map(|phrase| phrase.named)
}
