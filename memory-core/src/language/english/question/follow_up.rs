//! Completes a question that goes on from the one before it: "and the cat?", "why?", "when is she leaving?".

use jiff::Zoned;
use jiff::tz::TimeZone;

use super::antecedent::is_living;
use super::compound::CompoundQuestion;
use super::{ParsedQuestion, parse_question};
use crate::language::english::closed::is_one_of;
use crate::language::english::syntax::NounPhrase;
use crate::language::english::tag::{Tag, Word};
use crate::language::english::time::{Tense, time_phrases};

/// Words that go on from what was said.
const OPENERS: &[&str] = &["and", "but", "so", "also", "ok", "okay", "well", "then"];
/// Maximum number of words of a question that only names something else.
const MAX_TOPIC_WORDS: usize = 6;

/// Returns a question as it would be asked by itself. `None` if it is complete, or if it is not known what is missing.
/// `before` is the question before it, complete, and `answer` what was answered.
pub(crate) fn completed(question: &str, before: &str, answer: Option<&str>) -> Option<String> {
    let (begun, opened) = without_openers(question.trim());
    if let Some(topic) = other_topic(begun, opened) {
        return about_other_topic(before, topic);
    }
    if is_impersonal(&parse_question(begun, &[])) {
        return None;
    }
    // "The man with the cap, probably Ivo": "he" is Ivo.
    let answer = answer.map(|answer| answer.rsplit_once(", probably ").map_or(answer, |(_, name)| name));
    let complete = CompoundQuestion::following(before, begun)?.second(answer)?;
    let plain = |text: &str| text.trim_end_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    (plain(&complete) != plain(begun)).then_some(complete)
}

/// Returns whether "it" stands for nothing: "what time is it?", "is it raining?", "was it cold?".
fn is_impersonal(asked: &ParsedQuestion) -> bool {
    const WEATHER: &[&str] = &["cold", "cool", "dark", "early", "foggy", "hot", "late", "light", "warm", "windy"];
    let clause = &asked.clause;
    let it = clause.subject.as_ref().is_some_and(|subject| subject.head == "it");
    let class = asked.class.as_ref().is_some_and(|class| matches!(class.head.as_str(), "time" | "day" | "date"));
    let weather = clause.verb.as_ref().is_some_and(|verb| matches!(verb.lemma.as_str(), "rain" | "snow" | "thunder"));
    it && (class || weather || clause.complements.iter().any(|(word, _)| is_one_of(word, WEATHER)))
}

/// Returns a question without the words that only go on, and whether it had any.
fn without_openers(question: &str) -> (&str, bool) {
    let mut rest = question;
    loop {
        let word = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        if word.is_empty() || !is_one_of(&word.to_lowercase(), OPENERS) {
            return (rest, rest.len() < question.len());
        }
        rest = rest[word.len()..].trim_start_matches([' ', ',']);
    }
}

/// Returns what a question names instead of asking: "and the cat?", "what about Sunday?".
fn other_topic(begun: &str, opened: bool) -> Option<&str> {
    let bare = begun.trim_end_matches(['?', '.', '!', ' ']);
    let lower = bare.to_lowercase();
    let about = ["what about ", "how about ", "what of "].iter().find(|about| lower.starts_with(**about));
    let topic = bare.get(about.map_or(0, |about| about.len())..)?;
    let words = parse_question(topic, &[]).words;
    let asks = |word: &Word| matches!(word.tag, Tag::Verb | Tag::Auxiliary | Tag::Modal | Tag::Wh);
    let names = !topic.is_empty() && words.len() <= MAX_TOPIC_WORDS && !words.iter().any(asks);
    (names && (opened || about.is_some())).then_some(topic)
}

/// Asks the question before about something else: a time instead of its time, a person or an animal instead of one, or
/// another thing or place.
fn about_other_topic(before: &str, topic: &str) -> Option<String> {
    let first = time_ranges(before);
    let named = parse_question(topic, &[]);
    let end = before.trim_end_matches(['?', '.', '!', ' ']).len();
    let replaced = |range: std::ops::Range<usize>| {
        let mut text = before.to_owned();
        text.replace_range(range, topic);
        text
    };
    if let Some(time) = time_ranges(topic).into_iter().next().filter(|time| !topic[..time.start].trim().contains(' ')) {
        // "On Monday" instead of "Sunday" in "on Sunday".
        return Some(match first.into_iter().next() {
            Some(range) if before[..range.start].ends_with(&topic[..time.start]) => {
                replaced(range.start - time.start..range.end)
            }
            Some(range) => replaced(range),
            None => format!("{} {topic}?", &before[..end]),
        });
    }
    let asked = parse_question(before, &first);
    if named.words.first().is_some_and(|word| word.tag == Tag::Preposition) {
        let place = asked.clause.adjuncts.first().map(|adjunct| adjunct.range.clone());
        return Some(place.map_or_else(|| format!("{} {topic}?", &before[..end]), replaced));
    }
    let living = main_noun(&named).is_some_and(is_living);
    let clause = &asked.clause;
    let beside = clause.adjuncts.iter().map(|adjunct| &adjunct.noun);
    let nouns: Vec<&NounPhrase> =
        clause.subject.iter().chain(&clause.objects).chain(beside).filter(|noun| !noun.is_pronoun()).collect();
    let like = nouns.iter().find(|noun| is_living(noun) == living).or_else(|| nouns.first())?;
    Some(replaced(like.range.clone()))
}

fn main_noun(named: &ParsedQuestion) -> Option<&NounPhrase> {
    let clauses = || named.sentences.iter().flat_map(|sentence| &sentence.clauses);
    clauses().flat_map(|clause| clause.subject.iter().chain(&clause.objects)).next()
}

/// Returns where the times of a question stand.
fn time_ranges(text: &str) -> Vec<std::ops::Range<usize>> {
    // Only the places count, and they are the same at any time.
    let now = Zoned::new(jiff::Timestamp::UNIX_EPOCH, TimeZone::UTC);
    time_phrases(text, &now, None, Tense::Past).into_iter().map(|phrase| phrase.range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_on_from_the_question_before_is_completed() {
        for (before, answer, question, expected) in [
            ("What is Nadia doing?", None, "And the cat?", "What is the cat doing?"),
            ("Where is the ladder?", Some("In the shed"), "What about the rake?", "Where is the rake?"),
            ("Who was here yesterday?", Some("Nadia"), "And on Monday?", "Who was here on Monday?"),
            ("Who came?", Some("Nadia"), "And yesterday?", "Who came yesterday?"),
            ("What is in the cellar?", None, "And in the loft?", "What is in the loft?"),
            ("Who broke the jug?", Some("Ivo"), "When?", "when did Ivo break the jug?"),
            ("Where did Nadia go?", Some("To Vik"), "Why?", "why did Nadia go?"),
            (
                "Who took the ladder?",
                Some("Ivo"),
                "When is he bringing it back?",
                "When is Ivo bringing the ladder back?",
            ),
            ("Why is Nadia at home?", None, "So when can she go out again?", "when can Nadia go out again?"),
            ("Who took the saw?", Some("The man with the cap, probably Ivo"), "Where is he?", "Where is Ivo?"),
            ("Why can't Nadia sing?", None, "Who sings her song?", "Who sings Nadia's song?"),
            ("Who found the tickets?", Some("Ivo"), "Where are they?", "Where are the tickets?"),
            ("Who helped the smith?", Some("Nadia"), "Did she pay him?", "Did Nadia pay the smith?"),
            ("What did Ivo order?", Some("A lamp"), "How much did it cost?", "How much did the lamp cost?"),
        ] {
            let found = completed(question, before, answer);
            assert_eq!(found.map(|text| text.to_lowercase()), Some(expected.to_lowercase()), "{before} {question}");
        }
    }

    #[test]
    fn a_question_that_is_complete_stays_as_it_is() {
        for question in [
            "Where is the rake?",
            "What time is it?",
            "Is it raining?",
            "Was it cold?",
            "So who broke the jug?",
            "Who lives next door?",
        ] {
            assert_eq!(completed(question, "Where is the ladder?", Some("In the shed")), None, "{question}");
        }
        assert_eq!(completed("Why?", "How much was the lamp?", Some("Nine euros")), None);
    }
}
