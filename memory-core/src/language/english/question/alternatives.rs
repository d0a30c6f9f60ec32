//! The alternatives and the quotations of a question.

use std::ops::Range;

use super::{Occurrence, ParsedQuestion};
use crate::language::english::lexicon::{self, PartOfSpeech};
use crate::language::english::tag::{Tag, Word};

/// Returns whether a question asks for one of its options: "which of these", "which of the following", "which one".
pub(super) fn asks_among_options(asked: &ParsedQuestion) -> bool {
    let text = |at: usize| asked.words.get(at).map_or("", |word| word.text.as_str());
    (0..asked.words.len()).any(|at| {
        matches!((text(at), text(at + 1)), ("of", "these" | "those" | "them"))
            || matches!((text(at), text(at + 1), text(at + 2)), ("of", "the", "following"))
    })
}

/// Returns the alternatives that "or" joins at the end of a question, or that a list names before a colon.
pub(super) fn find_alternatives(asked: &ParsedQuestion) -> Vec<Range<usize>> {
    let words = &asked.words;
    let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    let Some(or) = (0..words.len()).rev().find(|at| text(*at) == "or" && words[*at].range.start >= asked.main.start)
    else {
        // "Of the knife and the fork, which was first?"
        let of = (0..words.len()).find(|at| {
            text(*at) == "of" && (*at == 0 || words[at - 1].tag == Tag::Mark || words[at - 1].tag == Tag::Time)
        });
        if let Some(of) = of
            && let Some(comma) = (of..words.len())
                .find(|at| text(*at) == "," && words.get(at + 1).is_some_and(|word| word.tag == Tag::Wh))
            && let Some(and) = (of..comma).find(|at| text(*at) == "and")
        {
            return vec![
                words[of + 1].range.start..words[and - 1].range.end,
                words[and + 1].range.start..words[comma - 1].range.end,
            ];
        }
        // "The knife and the fork were both washed. Which was first?"
        let which = asked.clause.asking.as_ref().is_some_and(|asking| asking.word == "which");
        if which && let Some(before) = asked.sentences.iter().rev().find(|one| one.range.end <= asked.main.start) {
            let inside =
                |at: &usize| words[*at].range.start >= before.range.start && words[*at].range.end <= before.range.end;
            let start = (0..words.len()).find(inside);
            let verb = (0..words.len()).filter(inside).find(|at| matches!(words[*at].tag, Tag::Verb | Tag::Auxiliary));
            if let (Some(start), Some(verb)) = (start, verb) {
                return split_list(words, start, verb);
            }
        }
        // "The apple, the cat and the robot: which of them …"
        if let Some(colon) = (0..words.len()).find(|at| text(*at) == ":")
            && words.get(colon + 1).is_some_and(|word| word.tag == Tag::Wh)
            && words[..colon].iter().any(|word| word.has_text(","))
        {
            return split_list(words, 0, colon);
        }
        return Vec::new();
    };
    let ends = |at: &usize| *at > or && (matches!(text(*at), "?" | "." | ":" | ",") || words[*at].tag == Tag::Time);
    let end = (or..words.len()).find(ends).unwrap_or(words.len());
    let end = if text(end.wrapping_sub(1)) == "between" { end - 1 } else { end };
    // The list begins after the mark, the verb or the preposition before it.
    let mut start = or;
    while start > 0 {
        let word = &words[start - 1];
        let item = matches!(
            word.tag,
            Tag::Noun
                | Tag::Name
                | Tag::Adjective
                | Tag::Determiner
                | Tag::Owner
                | Tag::Possessive
                | Tag::Number
                | Tag::Time
                | Tag::Preposition
                | Tag::Pronoun
        );
        // A comma goes on a list inside the clause that asks; after a phrase that leads it in, it ends that phrase.
        let asked_before = |end: usize| {
            words[..end].iter().any(|word| matches!(word.tag, Tag::Verb | Tag::Auxiliary | Tag::Modal | Tag::Wh))
        };
        let goes_on =
            item || word.has_text(",") && start >= 2 && words[start - 2].is_nominal() && asked_before(start - 1);
        let verb_item = matches!(word.tag, Tag::Verb | Tag::Auxiliary)
            && (start..or).all(|at| !words[at].has_text(","))
            && asked.words[..start - 1].iter().any(|word| word.has_text(":"));
        // "Plum or apricot, the jam?": the first word can be a noun.
        let first = start == 1 && lexicon::parts_of_speech(&word.text).can_be(PartOfSpeech::Noun);
        if !goes_on && !verb_item && !first {
            break;
        }
        start -= 1;
    }
    // "Was it Jonas or Leena?": a pronoun before the first item is the subject.
    let subject = |start: usize| {
        words[start].tag == Tag::Pronoun
            && words
                .get(start + 1)
                .is_some_and(|next| next.is_nominal() || matches!(next.tag, Tag::Determiner | Tag::Owner))
    };
    while start < or && subject(start) {
        start += 1;
    }
    // "Was it Jonas or Leena who sang?": what the one did is no part of a name.
    let relative =
        (or + 1..end.min(words.len())).find(|at| matches!(words[*at].text.as_str(), "who" | "that" | "which"));
    let end = relative.unwrap_or(end);
    // "Was the cup moved first or the plate?": the first one is the subject.
    let is_noun = |range: Range<usize>| words[range].iter().any(|word| matches!(word.tag, Tag::Noun | Tag::Name));
    if let Some(subject) =
        asked.clause.subject.as_ref().filter(|subject| asked.clause.inverted && !subject.is_pronoun())
        && subject.range.end < words[or].range.start
        && !is_noun(start..or)
        && is_noun(or + 1..end.min(words.len()))
    {
        return vec![subject.range.clone(), words[or + 1].range.start..words[end.min(words.len()) - 1].range.end];
    }
    // "Who is older, Vera or Ilse?": how they are compared is none of them.
    let compares = |word: &Word| {
        matches!(word.text.as_str(), "first" | "last" | "sooner" | "later" | "earlier" | "next" | "more" | "less")
            || word.tag == Tag::Adjective && word.text.ends_with("er") && word.text != word.lemma
    };
    let comma = (start..or).find(|at| words[*at].has_text(",")).unwrap_or(start);
    let scale = &words[start..comma];
    let alone = scale.last().is_some_and(|last| compares(last) || matches!(last.text.as_str(), "one" | "ones"));
    let counts = scale.first().is_some_and(|first| matches!(first.text.as_str(), "more" | "less" | "fewer"));
    if counts || alone && scale.iter().any(compares) {
        start = comma + 1;
    }
    // "Who moved the bench into the hall, Vera or Ilse?": behind the comma that ends the clause.
    let asking = (0..start).rev().find(|at| words[*at].tag == Tag::Wh);
    let told = asking.is_some_and(|asking| {
        words[asking..start].iter().any(|word| matches!(word.tag, Tag::Verb | Tag::Auxiliary | Tag::Modal))
    });
    let apart = start > 0 && words[start - 1].tag == Tag::Mark;
    let comma = (start..or).find(|at| words[*at].has_text(",")).filter(|comma| told && !apart && *comma + 1 < or);
    let start = comma.map_or(start, |comma| comma + 1);
    // A preposition at the begin belongs to the question: "on Monday or Tuesday" keeps it, "between" does not.
    split_list(words, start, end)
}

/// Returns the items of a list joined by commas, "and" and "or".
fn split_list(words: &[Word], start: usize, end: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = start;
    for at in start..=end.min(words.len()) {
        let cut = at == end.min(words.len()) || matches!(words[at].text.as_str(), "," | "or" | "and");
        if cut {
            if at > from {
                found.push(words[from].range.start..words[at - 1].range.end);
            }
            from = at + 1;
        }
    }
    if found.len() < 2 { Vec::new() } else { found }
}

/// Returns the two things of "did she peel the one before the other or the other before the one?", and which of them is
/// asked for.
pub(super) fn mutual_order(words: &[Word]) -> Option<([Range<usize>; 2], Occurrence)> {
    let or = words.iter().position(|word| word.has_text("or"))?;
    let order = |at: &usize| matches!(words[*at].text.as_str(), "before" | "after");
    let first = (0..or).rev().find(order)?;
    let second = (or..words.len()).find(order)?;
    let (other, again) = (&words[first + 1..or], &words[or + 1..second]);
    let same = |a: &[Word], b: &[Word]| a.iter().map(|word| &word.text).eq(b.iter().map(|word| &word.text));
    if other.is_empty() || !same(other, again) || words[first].text != words[second].text {
        return None;
    }
    // The one stands right before the first "before", and behind the second.
    let longest = first.min(words.len() - second - 1);
    let width = (1..=longest).rev().find(|width| same(&words[first - width..first], &words[second + 1..][..*width]))?;
    let range = |words: &[Word]| Some(words.first()?.range.start..words.last()?.range.end);
    let asked = if words[first].has_text("before") { Occurrence::First } else { Occurrence::Last };
    Some(([range(&words[first - width..first])?, range(other)?], asked))
}

pub(super) fn quotations(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut open: Option<usize> = None;
    for (at, mark) in text.char_indices().filter(|(_, c)| matches!(c, '"' | '“' | '”')) {
        match open.take() {
            Some(start) if at > start => found.push(start..at),
            _ => open = Some(at + mark.len_utf8()),
        }
    }
    found
}
