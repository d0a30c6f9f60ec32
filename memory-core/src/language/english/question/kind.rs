//! Determines the kind of answer of a question.

use std::ops::Range;

use super::{AnswerKind, ParsedQuestion, is_request_verb};
use crate::language::english::closed::{BE_FORMS, HAVE_FORMS, MODALS, PREPOSITIONS, is_one_of};
use crate::language::english::lexicon::{self, PartOfSpeech};
use crate::language::english::syntax::{Asking, Clause, NounKind, NounPhrase};
use crate::language::english::tag::Tag;

/// Words for the length of a report.
const REPORT_LENGTHS: &[&str] = &["short", "brief", "quick", "concise", "whole", "full", "complete"];

/// Returns the range of a requested report, by its length ("tell me the whole story", "a quick rundown of the week,
/// please") or its name ("an overview").
fn asked_report(asked: &ParsedQuestion) -> Option<Range<usize>> {
    let nouns = asked.clause.objects.iter().chain(&asked.clause.subject).flat_map(NounPhrase::coordinated);
    let is_a = |noun: &NounPhrase, class| lexicon::is_a_as(&noun.head, class, PartOfSpeech::Noun).is_some();
    let has_extent =
        |noun: &NounPhrase| noun.modifiers.iter().any(|modifier| REPORT_LENGTHS.contains(&modifier.as_str()));
    let mut nouns = nouns;
    let wanted = nouns.find(|noun| {
        is_a(noun, "summary") || is_a(noun, "overview") || has_extent(noun) && is_a(noun, "communication")
    })?;
    let end = wanted.of.as_ref().map_or(wanted.range.end, |of| of.range.start);
    Some(wanted.range.start..end)
}

/// Returns whether the asking clause ascribes a quality: "what is new about it?", not "what is that new thing?".
fn ascribes_quality(asked: &ParsedQuestion, word: &str) -> bool {
    asked.clause.complements.iter().any(|(complement, _)| complement == word)
}

/// Returns whether the object of the verb is asked for: "which room did you clean?", not "which room does he live in?".
fn asks_object(asked: &ParsedQuestion) -> bool {
    let clause = &asked.clause;
    let asking = clause.asking.as_ref().is_some_and(|asking| asking.preposition.is_none() && asking.noun.is_some());
    let verb = clause.verb.as_ref().is_some_and(|verb| {
        let moves = matches!(verb.lemma.as_str(), "go" | "come" | "walk" | "run" | "drive" | "fly" | "move" | "travel");
        !verb.auxiliary_only && !verb.passive && !moves
    });
    let left = clause.complements.iter().any(|(word, _)| is_one_of(word, PREPOSITIONS));
    asking && verb && clause.subject.is_some() && clause.objects.is_empty() && !left
}

/// Returns whether the requested subject acts on a thing: an age that brought something is no number of years.
fn subject_acts(asked: &ParsedQuestion) -> bool {
    let clause = &asked.clause;
    let does = clause.verb.as_ref().is_some_and(|verb| !verb.auxiliary_only && !verb.passive);
    asked.subject_is_asked && does && !clause.objects.is_empty()
}

fn is_alphabetic(text: &str) -> bool {
    text.starts_with(char::is_alphanumeric)
}

/// Returns whether a clause asks for what was cleaned.
fn asks_cleaned_object(clause: &Clause) -> bool {
    let verb = clause.verb.as_ref().filter(|verb| !verb.auxiliary_only && !verb.passive && clause.objects.is_empty());
    verb.is_some_and(|verb| lexicon::is_a_as(&verb.lemma, "clean", PartOfSpeech::Verb).is_some())
        && clause.adjuncts.is_empty()
}

/// Returns whether the question asks what went on, and not for a walk "that she went on".
fn asks_what_went_on(words: &[&str]) -> bool {
    words.windows(3).any(|window| matches!(window, ["what" | "all" | "else", "went", "on"]))
}

/// Returns the kind of answer.
pub(super) fn answer_kind(asked: &mut ParsedQuestion) -> AnswerKind {
    let texts: Vec<String> = asked.words.iter().map(|word| word.text.clone()).collect();
    let words: Vec<&str> = texts.iter().map(String::as_str).collect();
    let has = |phrase: &[&str]| words.windows(phrase.len()).any(|window| window == phrase);
    let any = |list: &[&str]| words.iter().any(|word| list.contains(word));
    asked.report = asked_report(asked);
    if any(&["summarise", "summarize", "summary", "recap", "overview"])
        || has(&["sum", "up"])
        || has(&["in", "short"])
        || has(&["in", "brief"])
        || any(&["briefly"]) && any(&["tell", "say", "describe", "how"])
        || asked.report.is_some()
        || has(&["did", "i", "miss"])
        || has(&["have", "i", "missed"])
        || (has(&["going", "on"]) || asks_what_went_on(&words)) && asked.clause.asking.is_some() && asked.cue.is_none()
        || has(&["up", "to"]) && has(&["been"]) && asked.clause.asking.is_some()
    {
        return AnswerKind::Summary;
    }
    if has(&["what", "happened"])
        && asked.cue.is_none()
        && asked.clause.objects.is_empty()
        && asked.clause.adjuncts.is_empty()
    {
        return AnswerKind::Summary;
    }
    if asked.subject_is_asked && asked.clause.verb.as_ref().is_some_and(|verb| verb.lemma == "change") {
        return AnswerKind::Change;
    }
    let changes =
        any(&["changed", "different", "changes"]) && !has(&["how", "many", "different"]) && !any(&["values", "by"])
            || (has(&["'s", "new"]) || has(&["is", "new"]) || has(&["are", "new"])) && ascribes_quality(asked, "new")
            || has(&["become", "of"])
            || has(&["became", "of"]);
    if changes
        && asked.clause.asking.as_ref().map_or(asked.clause.inverted || has(&["and", "how"]), |asking| {
            matches!(asking.word.as_str(), "what" | "how")
        })
    {
        return AnswerKind::Change;
    }
    let Some(asking) = asked.clause.asking.clone() else {
        let first = asked.words.iter().find(|word| word.range.start >= asked.main.start && word.tag != Tag::Mark);
        if let Some(first) = first
            && is_request_verb(&first.text)
        {
            // "List the towns", "describe the pet": the object is what is asked for.
            asked.class = asked.clause.objects.iter().find(|object| !object.is_pronoun()).cloned();
            let object = asked.class.as_ref().map_or("", |class| class.head.as_str());
            return match object {
                "colour" | "color" | "name" | "number" => AnswerKind::Thing,
                "step" => AnswerKind::Way,
                _ if first.has_text("describe") => AnswerKind::Description,
                _ => AnswerKind::Thing,
            };
        }
        if asked.clause.inverted
            || first.is_some_and(|word| {
                is_one_of(&word.text, BE_FORMS)
                    || is_one_of(&word.text, HAVE_FORMS)
                    || is_one_of(&word.text, MODALS)
                    || word.lemma == "do"
            })
        {
            return if asked.alternatives.len() > 1 { AnswerKind::Thing } else { AnswerKind::Truth };
        }
        return AnswerKind::Description;
    };
    // "What does he do for a living?" asks what he is.
    if asking.word == "what" && has(&["for", "a", "living"]) {
        return AnswerKind::Thing;
    }
    let noun = asking.noun.as_ref().map(|noun| noun.head.as_str()).unwrap_or_default();
    let verb = asked.clause.verb.as_ref().map(|verb| verb.lemma.clone()).unwrap_or_default();
    let verb = verb.as_str();
    match asking.word.as_str() {
        "who" | "whom" if verb == "belong" => AnswerKind::Owner,
        "who" | "whom" | "whoever" => AnswerKind::Person,
        // "Whose turn is it to cook?" asks who cooks.
        "whose" if matches!(noun, "job" | "turn" | "task" | "chore" | "duty") && has(&["it", "to"]) => {
            asked.subject_is_asked = true;
            asked.habitual = true;
            asked.report = asked.class.take().map(|class| class.range);
            AnswerKind::Person
        }
        "whose" => AnswerKind::Owner,
        // "Where have you swept?" asks for the rooms that were.
        "where" if asks_cleaned_object(&asked.clause) => {
            asked.class = Some(NounPhrase { plural: true, ..NounPhrase::common_noun("room") });
            AnswerKind::Thing
        }
        "where" | "whereabouts" => AnswerKind::Place,
        "when" => AnswerKind::Time,
        "why" => AnswerKind::Reason,
        "how" => match asking.degree.as_deref() {
            Some("often") => AnswerKind::Times,
            Some("many") if matches!(noun, "time" | "occasion" | "visit" | "move") => AnswerKind::Times,
            Some("many") => AnswerKind::Count,
            Some("much") => AnswerKind::Amount,
            Some("long") => AnswerKind::Length,
            Some(
                "old" | "heavy" | "full" | "hot" | "warm" | "cold" | "far" | "high" | "tall" | "deep" | "wide" | "big"
                | "large" | "fast",
            ) => AnswerKind::Amount,
            _ => {
                let subject = asked.clause.subject.as_ref().map(|subject| subject.head.as_str()).unwrap_or_default();
                let auxiliary = asked.clause.verb.as_ref().is_some_and(|verb| !verb.past && !verb.auxiliary_only);
                let anybody =
                    matches!(subject, "i" | "you" | "we" | "one" | "people" | "somebody" | "someone" | "anybody");
                if auxiliary && anybody || words.first() == Some(&"how") && words.get(1) == Some(&"to") {
                    AnswerKind::Way
                } else {
                    AnswerKind::Description
                }
            }
        },
        _ => {
            // "What did it cost?", "what did he pay for it?", "what did it come to?" ask how much.
            let comes_to = || verb == "come" && words.iter().rev().find(|word| is_alphabetic(word)) == Some(&"to");
            if asking.word == "what"
                && noun.is_empty()
                && asked.clause.objects.is_empty()
                && asked.clause.subject.is_some()
                && (matches!(verb, "cost" | "charge" | "weigh" | "pay" | "quote") || comes_to())
            {
                return AnswerKind::Amount;
            }
            let class = class_noun(asked, &asking, noun);
            match class.as_str() {
                "quantity" | "amount" | "weight" | "size" | "temperature" | "price" | "cost" | "length" | "height"
                | "age" | "percentage" | "level" | "volume"
                    if !subject_acts(asked) =>
                {
                    AnswerKind::Amount
                }
                "time" | "date" | "day" | "hour" | "year" | "month" | "weekday" | "evening" | "morning"
                | "afternoon" | "night" | "o'clock" | "moment" => AnswerKind::Time,
                "place" | "room" | "location" | "spot" | "where" if asks_object(asked) => AnswerKind::Thing,
                "place" | "room" | "location" | "spot" | "where" if !noun.is_empty() || verb == "be" => {
                    AnswerKind::Place
                }
                "person" | "people" | "man" | "woman" | "child" | "family" | "visitor" => AnswerKind::Person,
                "step" if has(&["come", "next"]) || any(&["next"]) => AnswerKind::Next,
                _ if noun.is_empty() && has(&["what", "now"]) => AnswerKind::Next,
                _ if noun.is_empty()
                    && (has(&["comes", "next"])
                        || has(&["come", "next"])
                        || has(&["next", "step"])
                        || has(&["do", "next"])) =>
                {
                    AnswerKind::Next
                }
                _ if noun.is_empty()
                    && asked.clause.objects.is_empty()
                    && (verb == "do" || verb == "get" && any(&["done"])) =>
                {
                    AnswerKind::Action
                }
                _ if has(&["what", "time"]) || has(&["what", "day"]) || has(&["what", "date"]) => AnswerKind::Time,
                _ if noun.is_empty() && class.is_empty() && verb == "happen" => AnswerKind::Action,
                _ => AnswerKind::Thing,
            }
        }
    }
}

/// Returns the noun that names the class of the answer, and stores it in `asked.class`.
fn class_noun(asked: &mut ParsedQuestion, asking: &Asking, noun: &str) -> String {
    // "What kind of animal", "which sort of tool".
    if matches!(noun, "kind" | "sort" | "type" | "part" | "piece" | "item" | "form" | "means" | "name")
        && let Some(of) = asking.noun.as_ref().and_then(|noun| noun.of.as_deref())
        && noun != "name"
    {
        asked.class = Some(of.clone());
        return of.head.clone();
    }
    // "What size boots does she need?" asks for the size.
    if let Some(of) = asking.noun.as_ref()
        && let Some(measure) = of.modifiers.first().filter(|word| matches!(word.as_str(), "size" | "colour" | "color"))
    {
        asked.class = Some(NounPhrase { head: measure.clone(), modifiers: Vec::new(), plural: false, ..of.clone() });
        return measure.clone();
    }
    if !noun.is_empty() {
        return noun.to_owned();
    }
    // "What is the ingredient with …", "what was the name of …": the subject of "be" is the class.
    // "What was the exact weight of the salt used …": a noun of measure.
    if let Some(subject) = asked.clause.subject.as_ref().filter(|subject| subject.of.is_some() && asking.word == "what")
        && matches!(
            subject.head.as_str(),
            "quantity"
                | "amount"
                | "weight"
                | "size"
                | "price"
                | "cost"
                | "length"
                | "height"
                | "age"
                | "volume"
                | "temperature"
        )
    {
        let head = subject.head.clone();
        asked.class = Some(subject.clone());
        return head;
    }
    let copula = asked.clause.verb.as_ref().is_some_and(|verb| verb.lemma == "be" && verb.auxiliary_only);
    if copula && let Some(subject) = &asked.clause.subject {
        let head = subject.head.clone();
        // "What is that new thing?", "what is Ivo?": neither names a class.
        let general = matches!(subject.head.as_str(), "thing" | "matter" | "problem" | "trouble" | "fault")
            || subject.kind == NounKind::Name;
        if !subject.is_pronoun() && !general && asked.clause.complements.is_empty() {
            asked.class = Some(subject.clone());
            return head;
        }
    }
    String::new()
}
