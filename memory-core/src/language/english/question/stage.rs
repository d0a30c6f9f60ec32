//! Which of several states that followed each other a question asks about: the first or the last.

use super::ParsedQuestion;
use crate::language::english::tag::Word;

/// Which of several states is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    First,
    Last,
}

/// Phrases for the first state.
const FIRST: &[&[&str]] = &[
    &["at", "first"],
    &["originally"],
    &["initially"],
    &["original"],
    &["former"],
    &["previous"],
    &["at", "the", "start"],
    &["at", "the", "very", "start"],
    &["at", "the", "beginning"],
    &["at", "the", "outset"],
    &["in", "the", "beginning"],
    &["to", "begin", "with"],
    &["to", "start", "with"],
];
/// Nouns for what is settled anew: "the first plan", "the first date".
const SETTLED: &[&str] = &["plan", "idea", "time", "price", "number", "date", "day", "place"];
/// Phrases for the last state.
const LAST: &[&[&str]] = &[
    &["now"],
    &["nowadays"],
    &["currently"],
    &["these", "days"],
    &["at", "the", "moment"],
    &["at", "present"],
    &["any", "longer"],
    &["in", "the", "end"],
    &["finally"],
    &["eventually"],
    &["at", "last"],
    &["after", "all"],
    &["really"],
    &["actually"],
    &["end", "up"],
    &["ended", "up"],
];

/// Returns which of several states a question names: "where was it at first?", "what did it cost in the end?".
pub(crate) fn asked_stage(asked: &ParsedQuestion) -> Option<Stage> {
    let words = &asked.words;
    let says = |phrase: &[&str]| {
        words.windows(phrase.len()).any(|window| window.iter().zip(phrase).all(|(word, own)| word.has_text(own)))
    };
    let settles = |two: &[Word]| two[0].has_text("first") && SETTLED.contains(&two[1].lemma.as_str());
    if FIRST.iter().any(|phrase| says(phrase)) || words.windows(2).any(settles) {
        return Some(Stage::First);
    }
    LAST.iter().any(|phrase| says(phrase)).then_some(Stage::Last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::english::question::parse_question;

    #[test]
    fn a_question_names_the_first_or_the_last_of_several_states() {
        for (text, stage) in [
            ("Where was the vase at first?", Some(Stage::First)),
            ("What was the first price?", Some(Stage::First)),
            ("What is used to cut it?", None),
            ("Where does the vase stand these days?", Some(Stage::Last)),
            ("Who paid for it in the end?", Some(Stage::Last)),
            ("Who was the first to leave?", None),
            ("Where is the vase?", None),
        ] {
            assert_eq!(asked_stage(&parse_question(text, &[])), stage, "{text}");
        }
    }
}
