//! A question that asks two things, split in two: "who took it in, and where is it?", "when and where is the meeting?",
//! "who broke the jug, and when?".

use super::antecedent::is_living;
use super::{AnswerKind, ParsedQuestion, parse_question};
use crate::language::english::gender::{Gender, pronoun_gender};
use crate::language::english::letters::lowercase_first;
use crate::language::english::summary::uncapitalised;
use crate::language::english::syntax::NounPhrase;
use crate::language::english::tag::{Tag, Word};

/// Maximum number of words of an answer that a pronoun of the second question is replaced by.
const MAX_ANSWER_WORDS: usize = 4;
/// Maximum number of words of a phrase that asks: "how many brown eggs".
const MAX_ASKING_WORDS: usize = 5;

/// Two questions that were asked as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CompoundQuestion {
    pub first: String,
    second: Second,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Second {
    /// A question with a clause of its own. Its pronouns may stand for what the first one names or asks for.
    Whole(String),
    /// A question word that asks about the clause of the first question: "and when?"
    About { word: String, rest: ClauseOfFirst },
}

/// What a question word is put before: the clause of the first question without its own question word.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ClauseOfFirst {
    /// "did Ada leave": it is complete.
    Complete(String),
    /// The answer of the first question is missing between these: "did" and "break the jug".
    WithoutAnswer(String, String),
}

impl CompoundQuestion {
    /// Splits a question that asks two things. `None` if it asks one.
    pub fn split(text: &str, asked: &ParsedQuestion) -> Option<Self> {
        let words = &asked.words;
        if let Some(both) = two_question_words(text, words) {
            return Some(both);
        }
        let and = (2..words.len()).find(|at| words[*at].has_text("and") && asks_again(&words[at + 1..]))?;
        let begin = words.iter().position(|word| !matches!(word.text.as_str(), "and" | "so" | "well" | ","))?;
        if begin >= and || !(is_question_word(&words[begin]) || is_auxiliary(&words[begin])) {
            return None;
        }
        let second = &words[and + 1..];
        let acts = |word: &Word| matches!(word.tag, Tag::Verb | Tag::Auxiliary | Tag::Modal);
        let mut first = text.get(..words[and].range.start)?.trim_end().to_owned();
        // "Which animal and which plant did you see?": the deed of the second is that of both.
        if !words[begin..and].iter().any(acts) {
            let deed = second.iter().find(|word| acts(word))?;
            first = format!("{first} {}", text.get(deed.range.start..)?);
        }
        let first = with_question_mark(&first);
        let Some(word) = bare_question(second) else {
            let whole = with_question_mark(text.get(second[0].range.start..)?);
            return Some(Self { first, second: Second::Whole(whole) });
        };
        let rest = clause_of_first(&first, &words[begin..and])?;
        Some(Self { first, second: Second::About { word, rest } })
    }

    /// Takes a question as the second one after another, which is complete. `None` if the second one lacks more than it can
    /// take from the first.
    pub fn following(before: &str, question: &str) -> Option<Self> {
        let first = with_question_mark(before);
        let words = parse_question(question, &[]).words;
        let Some(word) = bare_question(&words) else {
            return Some(Self { first, second: Second::Whole(with_question_mark(question)) });
        };
        let asked = parse_question(&first, &[]);
        // "How much was the lamp?": without the amount nothing is left to ask about.
        let measured = matches!(asked.ask, AnswerKind::Amount | AnswerKind::Count | AnswerKind::Length);
        if measured && asked.clause.verb.as_ref().is_none_or(|verb| verb.auxiliary_only) {
            return None;
        }
        let begin = asked.words.iter().position(|word| is_question_word(word) || is_auxiliary(word))?;
        let rest = clause_of_first(&first, &asked.words[begin..])?;
        Some(Self { first, second: Second::About { word, rest } })
    }

    /// The second question, given the answer of the first one. `None` if it needs that answer and there is none.
    pub fn second(&self, answer: Option<&str>) -> Option<String> {
        let answer = answer.filter(|answer| answer.split_whitespace().count() <= MAX_ANSWER_WORDS);
        Some(match &self.second {
            Second::Whole(text) => self.without_pronouns(text, answer),
            Second::About { word, rest: ClauseOfFirst::Complete(clause) } => format!("{word} {clause}"),
            Second::About { word, rest: ClauseOfFirst::WithoutAnswer(auxiliary, rest) } => {
                format!("{word} {auxiliary} {} {rest}", answer?)
            }
        })
    }

    /// Replaces the pronouns of the second question by what they stand for.
    fn without_pronouns(&self, text: &str, answer: Option<&str>) -> String {
        let first = parse_question(&self.first, &[]);
        let second = parse_question(text, &[]);
        if let Some(whole) = who_did_it(&first, &self.first, &second) {
            return whole;
        }
        let mut resolved = text.to_owned();
        let pronouns = || second.words.iter().filter(|word| matches!(word.tag, Tag::Pronoun | Tag::Owner));
        let persons = self.persons(&first, answer, pronouns());
        let person =
            |word: &Word| persons.iter().find(|(of, _)| Some(*of) == pronoun_gender(&word.text)).map(|(_, who)| who);
        let several = || named(&first, &self.first, |noun| noun.plural || !noun.also.is_empty());
        for word in pronouns().collect::<Vec<_>>().into_iter().rev() {
            let stands_for = match word.text.as_str() {
                "his" | "her" if word.tag == Tag::Owner => person(word).map(|who| format!("{who}'s")),
                "he" | "him" | "she" | "her" if word.tag == Tag::Pronoun => person(word).cloned(),
                "it" | "them" if matches!(first.ask, AnswerKind::Thing) => answer.map(with_article),
                "it" => named(&first, &self.first, |noun| !is_living(noun) && !noun.plural),
                "they" if first.ask == AnswerKind::Person => several().or_else(|| answer.map(str::to_owned)),
                "they" | "them" => several(),
                _ => None,
            };
            // "What time is it?" and "is it raining?" speak of nothing.
            if let Some(stands_for) = stands_for {
                resolved.replace_range(word.range.clone(), &stands_for);
            }
        }
        resolved
    }

    /// Returns whom "she" and "he" stand for: who was answered, then who is named, each once.
    fn persons<'w>(
        &self,
        first: &ParsedQuestion,
        answer: Option<&str>,
        pronouns: impl Iterator<Item = &'w Word>,
    ) -> Vec<(Gender, String)> {
        let mut persons: Vec<(Gender, String)> = Vec::new();
        for of in pronouns.filter_map(|word| pronoun_gender(&word.text)) {
            let free = |who: &String| persons.iter().all(|(_, known)| known != who);
            let answered = answer.filter(|_| first.ask == AnswerKind::Person).map(str::to_owned).filter(free);
            let named = || {
                let is_free =
                    |noun: &NounPhrase| self.first.get(noun.range.clone()).is_some_and(|who| free(&who.to_owned()));
                named(first, &self.first, |noun| is_living(noun) && is_free(noun))
            };
            let who = answered.or_else(named).filter(|_| persons.iter().all(|(known, _)| *known != of));
            persons.extend(who.map(|who| (of, who)));
        }
        persons
    }
}

/// Returns "who mended the pump?" for "who did it?" after "is the pump mended?".
fn who_did_it(first: &ParsedQuestion, text: &str, second: &ParsedQuestion) -> Option<String> {
    let is_it = |noun: &NounPhrase| matches!(noun.head.as_str(), "it" | "that");
    let does = second.clause.verb.as_ref().is_some_and(|verb| verb.lemma == "do");
    let asks = second.ask == AnswerKind::Person && does && second.clause.objects.iter().all(is_it);
    let verb = first.clause.verb.as_ref().filter(|verb| asks && verb.passive)?;
    let done = first.words.iter().find(|word| word.tag == Tag::Verb && word.lemma == verb.lemma)?;
    let thing = first.clause.subject.as_ref().filter(|thing| !thing.is_pronoun())?;
    Some(format!("Who {} {}?", done.text, text.get(thing.range.clone())?))
}

/// Splits "when and where is the meeting?".
fn two_question_words(text: &str, words: &[Word]) -> Option<CompoundQuestion> {
    let [one, and, other, rest @ ..] = words else { return None };
    let begins = is_question_word(one) && and.has_text("and") && is_question_word(other);
    let clause = text.get(rest.first().filter(|next| begins && is_auxiliary(next))?.range.start..)?;
    let question = |word: &Word| with_question_mark(&format!("{} {clause}", word.text));
    Some(CompoundQuestion { first: question(one), second: Second::Whole(question(other)) })
}

/// Returns whether words behind "and" ask a question of their own, and no more for the one before.
fn asks_again(words: &[Word]) -> bool {
    let Some(first) = words.first() else { return false };
    if is_auxiliary(first) {
        // "What is white and is on the table?" has no new subject.
        return words.get(1).is_some_and(begins_subject);
    }
    // "To whom".
    let at = usize::from(first.tag == Tag::Preposition);
    let Some(word) = words.get(at).filter(|word| is_question_word(word)) else { return false };
    if bare_question(words).is_some() {
        return true;
    }
    let behind = words[at + 1..].iter().take(MAX_ASKING_WORDS);
    let auxiliary = behind.clone().position(is_auxiliary);
    let between = behind.clone().take(auxiliary.unwrap_or(usize::MAX));
    let only_asks =
        |word: &Word| !matches!(word.tag, Tag::Name | Tag::Owner | Tag::Preposition | Tag::Conjunction | Tag::Mark);
    match auxiliary {
        Some(place) => {
            let may_have_noun = matches!(word.text.as_str(), "how" | "which" | "what" | "whose");
            (place == 0 || may_have_noun) && between.clone().all(only_asks)
        }
        // "And who opened it?"
        None => {
            let next = words.get(at + 1);
            matches!(word.text.as_str(), "who" | "what") && next.is_some_and(|next| next.tag == Tag::Verb)
        }
    }
}

/// Returns the question word of words that are nothing but it: "when?", "with whom?".
fn bare_question(words: &[Word]) -> Option<String> {
    let words: Vec<&str> = words.iter().filter(|word| word.tag != Tag::Mark).map(|word| word.text.as_str()).collect();
    match words.as_slice() {
        ["when" | "where" | "why" | "how"] | [_, "whom" | "who" | "what"] => Some(words.join(" ")),
        _ => None,
    }
}

/// Returns the clause of the first question, which the second one asks about. `words` are those of the first.
fn clause_of_first(first: &str, words: &[Word]) -> Option<ClauseOfFirst> {
    let end = first.len();
    let from = |word: &Word| first.get(word.range.start..end).map(str::to_owned);
    let begin = words.first()?;
    if is_auxiliary(begin) {
        return Some(ClauseOfFirst::Complete(lowercase_first(&from(begin)?)));
    }
    let auxiliary = words.iter().position(is_auxiliary);
    let next = words.get(1)?;
    match auxiliary {
        Some(place) if words.get(place + 1).is_some_and(begins_subject) => {
            // "How many jars did she promise?": "did she promise jars".
            let asked = words[1..place].iter().filter(|word| word.tag == Tag::Noun);
            let asked: Vec<&str> = asked.map(|word| word.text.as_str()).collect();
            let clause = from(&words[place])?;
            let clause = clause.trim_end_matches('?').trim_end();
            Some(ClauseOfFirst::Complete([&[clause], asked.as_slice()].concat().join(" ") + "?"))
        }
        Some(1) => Some(ClauseOfFirst::WithoutAnswer(next.text.clone(), from(words.get(2)?)?)),
        None if next.tag == Tag::Verb => {
            let auxiliary = if next.text == next.lemma || next.text.ends_with('s') { "does" } else { "did" };
            let rest = words.get(2).map_or_else(|| Some("?".to_owned()), from)?;
            Some(ClauseOfFirst::WithoutAnswer(auxiliary.to_owned(), format!("{} {rest}", next.lemma)))
        }
        _ => None,
    }
}

/// Returns the words of the first phrase of a question that a pronoun may stand for.
fn named(asked: &ParsedQuestion, text: &str, fits: impl Fn(&NounPhrase) -> bool) -> Option<String> {
    let clause = &asked.clause;
    let beside = clause.adjuncts.iter().map(|adjunct| &adjunct.noun);
    let mut phrases = clause.objects.iter().chain(&clause.subject).chain(beside);
    let found = phrases.find(|noun| !noun.is_pronoun() && fits(noun))?;
    text.get(found.range.clone()).map(str::to_owned)
}

fn is_question_word(word: &Word) -> bool {
    matches!(word.text.as_str(), "who" | "whom" | "whose" | "what" | "which" | "where" | "when" | "why" | "how")
}

fn is_auxiliary(word: &Word) -> bool {
    matches!(word.tag, Tag::Auxiliary | Tag::Modal)
}

fn begins_subject(word: &Word) -> bool {
    matches!(word.tag, Tag::Determiner | Tag::Owner | Tag::Pronoun | Tag::Name | Tag::Noun)
}

fn with_question_mark(text: &str) -> String {
    let bare = text.trim_end_matches(|c: char| !c.is_alphanumeric());
    format!("{bare}?")
}

fn with_article(answer: &str) -> String {
    let plain = answer.split_once(' ').filter(|(first, _)| matches!(*first, "a" | "an" | "A" | "An"));
    plain.map_or_else(|| uncapitalised(answer), |(_, rest)| format!("the {rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn questions(text: &str, answer: Option<&str>) -> [String; 2] {
        let compound = CompoundQuestion::split(text, &parse_question(text, &[])).unwrap_or_else(|| panic!("{text}"));
        [compound.first.clone(), compound.second(answer).unwrap_or_else(|| panic!("{text}"))]
    }

    #[test]
    fn a_question_that_asks_two_things_is_split() {
        for (text, answer, first, second) in [
            (
                "Who took the ladder in, and where did they leave it?",
                Some("Nadia"),
                "Who took the ladder in?",
                "where did Nadia leave the ladder?",
            ),
            (
                "What did Ivo order and how much did it cost?",
                Some("a lamp"),
                "What did Ivo order?",
                "how much did the lamp cost?",
            ),
            ("When and where is the rehearsal?", None, "when is the rehearsal?", "where is the rehearsal?"),
            ("Who broke the jug, and when?", Some("Ivo"), "Who broke the jug?", "when did Ivo break the jug?"),
            (
                "How many lamps did Nadia promise, and to whom?",
                None,
                "How many lamps did Nadia promise?",
                "to whom did Nadia promise lamps?",
            ),
            ("Where did Nadia go and why?", None, "Where did Nadia go?", "why did Nadia go?"),
            ("Which bird and which tree did you see?", None, "Which bird did you see?", "which tree did you see?"),
            ("Has the pump been mended, and who did it?", None, "Has the pump been mended?", "Who mended the pump?"),
            ("Has Nadia left, and when?", None, "Has Nadia left?", "when has Nadia left?"),
            ("Where are the tickets and how many are there?", None, "Where are the tickets?", "how many are there?"),
        ] {
            let found = questions(text, answer);
            assert_eq!(found, [first, second], "{text}");
        }
    }

    #[test]
    fn a_question_that_asks_one_thing_is_not_split() {
        for text in [
            "Who painted the fence and the gate?",
            "Where did Nadia and Ivo go?",
            "Did she say who came and when they left?",
            "What is round and is in the shed?",
            "Who came in and sat down?",
            "What happened between nine and when the bell rang?",
        ] {
            assert_eq!(CompoundQuestion::split(text, &parse_question(text, &[])), None, "{text}");
        }
    }
}
