//! A question that compares two things, split into one question per thing: "how old is Mira?" and "how old is Leon?" for
//! "who is older, Mira or Leon?" (self-ask: Press et al. 2022, section 3).

use std::ops::Range;

use super::{AnswerKind, ParsedQuestion};
use crate::language::english::lexicon::{self, PartOfSpeech};
use crate::language::english::tag::{Tag, Word};
use crate::language::english::time::Tense;

/// Maximum number of things that are measured.
const MAX_MEASURED: usize = 4;
/// Adjectives whose scale is asked about by their opposite: "how old?" for "younger".
const LOW_POLES: &[(&str, &str)] = &[
    ("young", "old"),
    ("short", "long"),
    ("small", "big"),
    ("light", "heavy"),
    ("cold", "warm"),
    ("cool", "warm"),
    ("slow", "fast"),
    ("low", "high"),
    ("shallow", "deep"),
    ("near", "far"),
    ("close", "far"),
    ("narrow", "wide"),
    ("empty", "full"),
];

/// What is measured of each thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    /// When it is.
    Moment,
    /// How much, how many or how long.
    Number,
}

/// One thing that is compared, with the question that measures it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MeasuredThing {
    pub name: String,
    pub question: String,
}

/// A comparison of measured things.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Measuring {
    pub things: Vec<MeasuredThing>,
    pub measure: Measure,
    /// Whether the one with the greatest value is asked for.
    pub most: bool,
    /// Whether the question asks if the first thing exceeds the second: "is she older than her brother?"
    pub verdict: bool,
}

/// How a comparative is asked about: "how old".
struct Comparative {
    measure: Measure,
    most: bool,
    /// Begin of the question: "how old", "when".
    opening: String,
    /// Indices of the words that say it.
    words: Range<usize>,
}

/// Splits a question that compares. `text` is the question as it was parsed.
pub(crate) fn measuring_questions(asked: &ParsedQuestion, text: &str, tense: Tense) -> Option<Measuring> {
    let words = &asked.words;
    let than = words.iter().position(|word| word.has_text("than"));
    let (ranges, verdict) = match than {
        Some(than) if asked.ask == AnswerKind::Truth && asked.alternatives.is_empty() => {
            let subject =
                asked.clause.subject.as_ref().filter(|subject| subject.range.end <= words[than].range.start)?;
            let end = words[than + 1..].iter().position(|word| matches!(word.tag, Tag::Mark | Tag::Time));
            let end = end.map_or(words.len(), |end| than + 1 + end);
            let other = words.get(than + 1..end).filter(|other| !other.is_empty())?;
            (vec![subject.range.clone(), other[0].range.start..other[other.len() - 1].range.end], true)
        }
        Some(_) => return None,
        None => (asked.alternatives.clone(), false),
    };
    if !(2..=MAX_MEASURED).contains(&ranges.len()) {
        return None;
    }
    let named = |word: &Word| ranges.iter().any(|range| range.start <= word.range.start && word.range.end <= range.end);
    let is_joint = |word: &Word| matches!(word.text.as_str(), "or" | "and" | "," | "?" | "than" | ":");
    let rest: Vec<&Word> =
        asked.words_in(&asked.main).filter(|word| !(named(word) || is_joint(word) || word.tag == Tag::Mark)).collect();
    let scale = find_comparative(&rest, tense)?;
    let left: Vec<&Word> =
        rest.iter().enumerate().filter(|(at, _)| !scale.words.contains(at)).map(|(_, word)| *word).collect();
    // "Which cost more?" asks for no cost.
    let class = asked.class.as_ref().filter(|class| asked.clause.asking.is_some() && class.head != "cost");
    // "The older one" is the one that is older.
    let left: Vec<&Word> = left
        .into_iter()
        .filter(|word| !(matches!(word.text.as_str(), "one" | "ones") || word.has_text("the") && is_alone(word, &rest)))
        .collect();
    let start = left
        .iter()
        .position(|word| word.tag != Tag::Wh && class.is_none_or(|class| word.range.start >= class.range.end))?;
    let frame = Frame::of(asked, &left[start..], scale.measure, verdict)?;
    let things = ranges.iter().map(|range| {
        let name = text.get(range.clone())?.trim();
        let whole = completed(name, class.map(|class| class.head.as_str()));
        Some(MeasuredThing { name: name.to_owned(), question: frame.question(&scale.opening, &whole) })
    });
    Some(Measuring { things: things.collect::<Option<_>>()?, measure: scale.measure, most: scale.most, verdict })
}

/// Returns whether an article has no noun behind it but "one".
fn is_alone(article: &Word, words: &[&Word]) -> bool {
    let mut behind = words.iter().skip_while(|word| word.range.start <= article.range.start);
    behind.find(|word| word.tag != Tag::Adjective).is_none_or(|next| matches!(next.text.as_str(), "one" | "ones"))
}

/// Completes an elliptical name by the class that is asked for: "the boy's" of bicycles, "the red one".
fn completed(name: &str, class: Option<&str>) -> String {
    let Some(class) = class else { return name.to_owned() };
    if name.ends_with("'s") || name.ends_with("’s") {
        return format!("{name} {class}");
    }
    name.strip_suffix(" one").map_or_else(|| name.to_owned(), |own| format!("{own} {class}"))
}

/// Finds what is compared.
fn find_comparative(rest: &[&Word], tense: Tense) -> Option<Comparative> {
    let noun_after = |at: usize| rest.get(at + 1).filter(|word| word.tag == Tag::Noun);
    rest.iter().enumerate().find_map(|(at, word)| {
        let scale = |measure, most, opening: String, words| Some(Comparative { measure, most, opening, words });
        let previous = at.checked_sub(1).map_or(word, |before| &rest[before]);
        match word.text.as_str() {
            "first" | "sooner" | "earlier" | "next" if tense != Tense::Past || word.text != "next" => {
                scale(Measure::Moment, false, "When".into(), at..at + 1)
            }
            "last" | "later" => scale(Measure::Moment, true, "When".into(), at..at + 1),
            "cheaper" | "dearer" | "pricier" => {
                scale(Measure::Number, word.text != "cheaper", "How much".into(), at..at + 1)
            }
            "more" | "less" | "fewer" => {
                let most = word.text == "more";
                match rest.get(at + 1) {
                    Some(next) if next.has_text("expensive") => {
                        scale(Measure::Number, most, "How much".into(), at..at + 2)
                    }
                    // "More often" is counted, and not told as a number.
                    Some(next) if matches!(next.text.as_str(), "often" | "times") => None,
                    Some(next) if matches!(next.tag, Tag::Adjective | Tag::Adverb) && noun_after(at + 1).is_none() => {
                        scale(Measure::Number, most, format!("How {}", next.text), at..at + 2)
                    }
                    Some(next) if next.tag == Tag::Noun => {
                        let many = if next.lemma == next.text { "much" } else { "many" };
                        scale(Measure::Number, most, format!("How {many} {}", next.text), at..at + 2)
                    }
                    _ if previous.tag == Tag::Verb || previous.has_text("cost") => {
                        scale(Measure::Number, most, "How much".into(), at..at + 1)
                    }
                    _ => None,
                }
            }
            other => {
                let positive = positive_of(other)?;
                let low = LOW_POLES.iter().find(|(low, _)| *low == positive);
                let asked = low.map_or(positive.as_str(), |(_, high)| high);
                scale(Measure::Number, low.is_none(), format!("How {asked}"), at..at + 1)
            }
        }
    })
}

/// Returns the adjective or adverb of a comparative in "-er": "hard" of "harder".
fn positive_of(word: &str) -> Option<String> {
    word.strip_suffix("er")?;
    let parts = [PartOfSpeech::Adjective, PartOfSpeech::Adverb];
    let lemma = parts.iter().find_map(|part| lexicon::lemma(word, *part).filter(|lemma| *lemma != word))?;
    Some(lemma.to_owned())
}

/// The words around the thing in a question about it.
struct Frame {
    /// "is", "did she pay for".
    before: String,
    /// "pumped up", "on Thursday".
    behind: String,
    /// Whether the question asks for the price of a thing that is cheaper.
    costs: bool,
}

impl Frame {
    fn of(asked: &ParsedQuestion, left: &[&Word], measure: Measure, verdict: bool) -> Option<Self> {
        let joined = |words: &[&Word]| words.iter().map(|word| written(word)).collect::<Vec<_>>().join(" ");
        let first = left.first()?;
        let is_auxiliary = matches!(first.tag, Tag::Auxiliary | Tag::Modal);
        let rest = &left[1..];
        let (before, behind) = if !verdict && asked.clause.inverted && is_auxiliary && !asked.subject_is_asked {
            // "Which did she pay more for?"
            (joined(left), String::new())
        } else if is_auxiliary {
            (written(first), joined(rest))
        } else {
            let verb = if first.tag == Tag::Verb || first.has_text("cost") { first } else { return None };
            let happens = matches!(verb.lemma.as_str(), "come" | "happen" | "be");
            match measure {
                Measure::Moment if happens => ("is".to_owned(), joined(rest)),
                _ => {
                    // Who asks of two of which one does it says "takes" or "took", and "cost" was.
                    let auxiliary = if verb.text.ends_with('s') { "does" } else { "did" };
                    let mut behind = vec![verb.lemma.clone()];
                    behind.extend(rest.iter().map(|word| written(word)));
                    (auxiliary.to_owned(), behind.join(" "))
                }
            }
        };
        let behind = behind.trim().to_owned();
        let be = matches!(before.as_str(), "is" | "are" | "was" | "were");
        Some(Self { costs: be && behind.is_empty(), before, behind })
    }

    fn question(&self, opening: &str, thing: &str) -> String {
        if self.costs && opening == "How much" {
            let auxiliary = if self.before.starts_with("wa") || self.before == "were" { "did" } else { "does" };
            return format!("How much {auxiliary} {thing} cost?");
        }
        let behind = if self.behind.is_empty() { String::new() } else { format!(" {}", self.behind) };
        format!("{opening} {} {thing}{behind}?", self.before)
    }
}

/// Returns a word as it is written by itself: "will" for "'ll".
fn written(word: &Word) -> String {
    match word.text.as_str() {
        "'ll" | "’ll" => "will".into(),
        "'s" | "’s" if word.tag == Tag::Auxiliary => "is".into(),
        "'d" | "’d" => "would".into(),
        text if word.capital && word.tag == Tag::Name => {
            let mut letters = text.chars();
            letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
        }
        text => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::english::question::parse_question;
    use crate::language::english::time::tense_of;

    fn questions(text: &str) -> (Vec<String>, bool) {
        let asked = parse_question(text, &[]);
        let found = measuring_questions(&asked, text, tense_of(text)).unwrap_or_else(|| panic!("{text}: {asked:#?}"));
        (found.things.into_iter().map(|thing| thing.question).collect(), found.most)
    }

    #[test]
    fn each_of_two_things_is_measured_by_a_question_of_its_own() {
        for (text, one, other, most) in [
            ("Who is older, Vera or Ilse?", "How old is Vera?", "How old is Ilse?", true),
            ("Who is younger, Vera or Ilse?", "How old is Vera?", "How old is Ilse?", false),
            ("Which comes first, the concert or the exam?", "When is the concert?", "When is the exam?", false),
            (
                "What was cheaper, the lamp or the clock?",
                "How much did the lamp cost?",
                "How much did the clock cost?",
                false,
            ),
            (
                "Which cost more, the lamp or the clock?",
                "How much did the lamp cost?",
                "How much did the clock cost?",
                true,
            ),
            (
                "Did the lamp cost more than the clock?",
                "How much did the lamp cost?",
                "How much did the clock cost?",
                true,
            ),
            ("Who's the older one, Vera or Ilse?", "How old is Vera?", "How old is Ilse?", true),
            ("Who swam more, Vera or Ilse?", "How much did Vera swim?", "How much did Ilse swim?", true),
            ("Is Vera taller than Ilse?", "How tall is Vera?", "How tall is Ilse?", true),
            (
                "Which rope was pulled tighter, the boy's or the girl's?",
                "How tight was the boy's rope pulled?",
                "How tight was the girl's rope pulled?",
                true,
            ),
            ("Who slept longer, Vera or Ilse?", "How long did Vera sleep?", "How long did Ilse sleep?", true),
            (
                "Who picked more plums, Vera or Ilse?",
                "How many plums did Vera pick?",
                "How many plums did Ilse pick?",
                true,
            ),
        ] {
            assert_eq!(questions(text), (vec![one.to_owned(), other.to_owned()], most), "{text}");
        }
    }

    #[test]
    fn a_question_that_compares_nothing_is_not_split() {
        for text in [
            "Is it Vera or Ilse?",
            "Who called, Vera or Ilse?",
            "Where is the lamp?",
            "Who sings more often, Vera or Ilse?",
        ] {
            let asked = parse_question(text, &[]);
            assert_eq!(measuring_questions(&asked, text, Tense::Past), None, "{text}");
        }
    }
}
