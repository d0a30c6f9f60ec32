//! Words to phrases: nouns, verbs, prepositions and what asks.

use std::ops::Range;

use super::{Adjunct, Asking, NounKind, NounPhrase, VerbGroup};
use crate::language::english::closed::{PARTICLES, combine_numbers, is_one_of, number_word};
use crate::language::english::lexicon::{self, Category, PartOfSpeech};
use crate::language::english::tag::{Tag, Word};

/// Maximum nesting of phrases: a text of "a of a of a …" must not overflow the stack.
const DEEPEST_PHRASE: usize = 6;

#[derive(Debug, Clone)]
pub(super) enum SyntaxPhrase {
    Noun(NounPhrase),
    Verb(VerbGroup),
    Adjunct(Adjunct),
    Complement(String, Range<usize>),
    Asking(Asking),
    Link(String),
    Comma,
}

/// The phrases of a sentence, in order.
pub(super) fn phrases(words: &[Word]) -> Vec<SyntaxPhrase> {
    Chunker { words, at: 0 }.phrases()
}

struct Chunker<'a> {
    words: &'a [Word],
    at: usize,
}

impl Chunker<'_> {
    fn tag(&self, at: usize) -> Option<Tag> {
        self.words.get(at).map(|word| word.tag)
    }

    fn phrases(mut self) -> Vec<SyntaxPhrase> {
        let mut found = Vec::new();
        while let Some(word) = self.words.get(self.at) {
            match word.tag {
                Tag::Time => self.at += 1,
                Tag::Mark => {
                    if matches!(word.text.as_str(), "," | ":" | "(" | ")" | "-" | "–" | "—" | "\"" | "“" | "”")
                    {
                        found.push(SyntaxPhrase::Comma);
                    }
                    self.at += 1;
                }
                Tag::Conjunction => {
                    found.push(SyntaxPhrase::Link(word.text.clone()));
                    self.at += 1;
                }
                Tag::Wh => found.push(SyntaxPhrase::Asking(self.asking(None))),
                Tag::Preposition => self.preposition(&mut found),
                Tag::Auxiliary | Tag::Modal | Tag::Verb | Tag::To | Tag::Not => {
                    found.push(SyntaxPhrase::Verb(self.verb()))
                }
                Tag::Adverb => {
                    found.push(SyntaxPhrase::Complement(word.lemma.clone(), word.range.clone()));
                    self.at += 1;
                }
                _ if self.is_any_more() => {
                    let range = word.range.start..self.words[self.at + 1].range.end;
                    found.push(SyntaxPhrase::Complement("anymore".into(), range));
                    self.at += 2;
                }
                _ => match self.noun() {
                    Some(noun) => found.push(SyntaxPhrase::Noun(noun)),
                    None => {
                        let word = &self.words[self.at];
                        found.push(SyntaxPhrase::Complement(word.lemma.clone(), word.range.clone()));
                        self.at += 1;
                    }
                },
            }
        }
        found
    }

    /// "It does not ring any more": no thing, as "any more bread" is.
    fn is_any_more(&self) -> bool {
        let word = |at: usize| self.words.get(at).map_or("", |word| word.text.as_str());
        let goes_on = matches!(self.tag(self.at + 2), Some(Tag::Noun | Tag::Name | Tag::Adjective | Tag::Number));
        matches!((word(self.at), word(self.at + 1)), ("any" | "no", "more")) && !goes_on && word(self.at + 2) != "of"
    }

    fn preposition(&mut self, found: &mut Vec<SyntaxPhrase>) {
        let start = self.at;
        let mut text = self.words[start].text.clone();
        let mut next = start + 1;
        // "on top of", "in front of", "out of", "up to", "next to".
        let word = |at: usize| self.words.get(at).map_or("", |word| word.text.as_str());
        let known = match (text.as_str(), word(next), word(next + 1)) {
            ("on", "top", "of") | ("in", "front", "of") => Some(3),
            ("in", "between", _) | ("next", "to", _) | ("because", "of", _) => Some(2),
            _ => None,
        };
        if let Some(count) = known {
            text = self.words[start..start + count].iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
            next = start + count;
        } else {
            while self.tag(next) == Some(Tag::Preposition) {
                text = format!("{text} {}", word(next));
                next += 1;
            }
        }
        self.at = next;
        if self.tag(next) == Some(Tag::Wh) {
            found.push(SyntaxPhrase::Asking(self.asking(Some(text))));
            return;
        }
        if let Some(noun) = self.noun() {
            let range = self.words[start].range.start..noun.range.end;
            found.push(SyntaxPhrase::Adjunct(Adjunct { preposition: text, noun, range }));
        } else {
            found.push(SyntaxPhrase::Complement(text, self.words[start].range.clone()));
        }
    }

    fn asking(&mut self, preposition: Option<String>) -> Asking {
        let word = &self.words[self.at];
        let start = word.range.start;
        let mut end = word.range.end;
        let text = word.text.clone();
        self.at += 1;
        let mut degree = None;
        let mut noun = None;
        match text.as_str() {
            "how" => {
                let next = self.words.get(self.at).filter(|next| {
                    matches!(next.tag, Tag::Adjective | Tag::Adverb | Tag::Determiner | Tag::Pronoun | Tag::Noun) && {
                        matches!(next.text.as_str(), "many" | "much" | "often" | "long" | "far")
                            || matches!(next.tag, Tag::Adjective | Tag::Adverb)
                    }
                });
                if let Some(next) = next {
                    degree = Some(next.text.clone());
                    end = next.range.end;
                    self.at += 1;
                    if matches!(degree.as_deref(), Some("many" | "much")) {
                        noun = self.noun();
                    }
                }
            }
            "which" | "whose" | "whatever" | "whichever" => noun = self.noun(),
            "what" if !matches!(self.tag(self.at), Some(Tag::Determiner | Tag::Pronoun | Tag::Owner)) => {
                noun = self.noun()
            }
            _ => {}
        }
        if let Some(noun) = &noun {
            end = noun.range.end;
        }
        Asking { word: text, degree, noun, preposition, range: start..end }
    }

    fn verb(&mut self) -> VerbGroup {
        let start = self.at;
        let mut group = VerbGroup { auxiliary_only: true, ..VerbGroup::default() };
        let mut last_auxiliary: Option<&str> = None;
        let mut bare = true;
        // "'s" may be "is" or "has".
        let contracted = matches!(self.words[start].text.as_str(), "'s" | "’s");
        while let Some(word) = self.words.get(self.at) {
            match word.tag {
                Tag::Not => group.negated = true,
                Tag::To => {
                    group.infinitive = true;
                    // "We have to go": it is a duty; "we had to go" tells what happened.
                    if last_auxiliary.take() == Some("have") && !group.past {
                        group.modal.get_or_insert_with(|| "must".into());
                    }
                }
                Tag::Modal => {
                    bare = false;
                    group.future |= matches!(word.text.as_str(), "will" | "shall");
                    let negated = word.text == "cannot";
                    group.negated |= negated;
                    group.modal = Some(if negated { "can".to_owned() } else { word.text.clone() });
                }
                Tag::Auxiliary => {
                    bare &= group.infinitive;
                    group.past |= matches!(word.text.as_str(), "was" | "were" | "had" | "did");
                    group.perfect |= last_auxiliary == Some("have");
                    group.lemma = word.lemma.clone();
                    last_auxiliary = Some(word.lemma.as_str());
                }
                Tag::Adverb if matches!(self.tag(self.at + 1), Some(Tag::Verb | Tag::Auxiliary)) && self.at > start => {
                }
                // "It got moved" is passive.
                Tag::Verb
                    if word.lemma == "get"
                        && self
                            .words
                            .get(self.at + 1)
                            .is_some_and(|next| next.tag == Tag::Verb && next.is_past_form()) =>
                {
                    group.past |= word.is_past_form();
                    last_auxiliary = Some("be");
                    bare = false;
                }
                Tag::Verb => {
                    group.auxiliary_only = false;
                    group.lemma = word.lemma.clone();
                    match last_auxiliary {
                        Some("be") if word.is_gerund() => group.progressive = true,
                        // "She's got a cold", "he's sent the parcel": "has".
                        Some("be") if contracted && (word.lemma == "get" || self.starts_object(self.at + 1)) => {
                            group.perfect = true;
                        }
                        Some("be") => group.passive = true,
                        Some("have") => group.perfect = true,
                        Some(_) => {}
                        None if word.is_gerund() => group.progressive = true,
                        None if word.is_past_form() && !group.infinitive && group.modal.is_none() => group.past = true,
                        None => group.infinitive |= bare && word.text == word.lemma,
                    }
                    self.at += 1;
                    self.particle(&mut group);
                    break;
                }
                _ => break,
            }
            self.at += 1;
        }
        group.range = self.words[start].range.start..self.words[self.at.max(start + 1) - 1].range.end;
        group
    }

    /// Returns whether a phrase that may be an object begins at a word.
    fn starts_object(&self, at: usize) -> bool {
        matches!(self.tag(at), Some(Tag::Determiner | Tag::Owner | Tag::Pronoun | Tag::Number | Tag::Name))
    }

    fn particle(&mut self, group: &mut VerbGroup) {
        let Some(next) = self.words.get(self.at) else { return };
        // "She picked up the bag", and "she ran up the stairs".
        let turns = matches!(group.lemma.as_str(), "turn" | "switch") && matches!(next.text.as_str(), "on" | "off");
        let before_object = next.tag == Tag::Preposition
            && (turns
                || matches!(next.text.as_str(), "up" | "off" | "out" | "down")
                    && lexicon::category(&group.lemma, PartOfSpeech::Verb)
                        .is_some_and(|is| is != Category::MotionVerb));
        if next.tag == Tag::Adverb && is_one_of(&next.text, PARTICLES) || before_object {
            group.particle = Some(next.text.clone());
            self.at += 1;
        }
    }

    /// The noun phrase that begins here.
    fn noun(&mut self) -> Option<NounPhrase> {
        self.noun_within(DEEPEST_PHRASE)
    }

    /// The noun phrase that begins here, with at most `depth` phrases inside one another.
    fn noun_within(&mut self, depth: usize) -> Option<NounPhrase> {
        let mut noun = self.simple_noun()?;
        let mut owners = 0;
        // "Ben's old cup": what was read is the owner of what follows.
        while owners < depth && self.tag(self.at) == Some(Tag::Possessive) {
            self.at += 1;
            owners += 1;
            let start = noun.range.start;
            match self.simple_noun() {
                Some(mut owned) => {
                    owned.owner = Some(Box::new(noun));
                    owned.range.start = start;
                    noun = owned;
                }
                None => break,
            }
        }
        if depth > 0 && self.words.get(self.at).is_some_and(|word| word.tag == Tag::Preposition && word.has_text("of"))
        {
            let back = self.at;
            self.at += 1;
            match self.noun_within(depth - 1) {
                Some(of) => {
                    noun.range.end = of.range.end;
                    noun.of = Some(Box::new(of));
                }
                None => self.at = back,
            }
        }
        Some(noun)
    }

    /// Returns whether a number behind a noun counts what follows it: "in the barn two girls search".
    fn counts_others(&self, at: usize) -> bool {
        let number = &self.words[at];
        let mut others = self.words[at + 1..].iter().take_while(|word| word.is_nominal());
        number.tag == Tag::Number
            && self.words[at - 1].tag == Tag::Noun
            && number.text.chars().all(char::is_alphabetic)
            && others.find(|word| word.tag == Tag::Noun).is_some_and(|first| first.text != first.lemma)
    }

    fn simple_noun(&mut self) -> Option<NounPhrase> {
        let start = self.at;
        let mut at = self.at;
        let mut determiner = None;
        let mut owner = None;
        while let Some(word) = self.words.get(at) {
            match word.tag {
                Tag::Determiner => determiner = Some(word.text.clone()),
                Tag::Owner => owner = Some(Box::new(pronoun(word))),
                _ => break,
            }
            at += 1;
        }
        let first = at;
        while self.words.get(at).is_some_and(Word::is_nominal) && !(at > first && self.counts_others(at)) {
            at += 1;
        }
        if at == first {
            let word = self.words.get(at)?;
            if word.tag == Tag::Pronoun && first == start {
                self.at = at + 1;
                return Some(pronoun(word));
            }
            // "both", "all three", "some": a determiner alone stands for what was named.
            if first > start
                && self.words[start].tag == Tag::Determiner
                && !matches!(self.words[start].text.as_str(), "the" | "a" | "an")
            {
                let word = &self.words[start];
                self.at = first;
                return Some(NounPhrase { range: word.range.start..self.words[first - 1].range.end, ..pronoun(word) });
            }
            return None;
        }
        // What ends in an adjective is no noun phrase unless a determiner stands before it ("the red one" has its
        // noun).
        let head = (first..at).rev().find(|place| matches!(self.words[*place].tag, Tag::Noun | Tag::Name));
        let head = match head {
            Some(head) => head,
            None if self.words[first..at].iter().any(|word| word.tag == Tag::Number) => {
                (first..at).rev().find(|place| self.words[*place].tag == Tag::Number).unwrap_or(first)
            }
            None if first > start => at - 1,
            None => return None,
        };
        self.at = head + 1;
        let word = &self.words[head];
        // A number behind its noun is a name's part: "plate 2", "bay three".
        let mut end = word.range.end;
        let mut modifiers: Vec<String> = Vec::new();
        let mut number = None;
        for part in &self.words[first..head] {
            match part.tag {
                Tag::Number => {
                    let next = value(&part.text);
                    number = number.zip(next).map(|(first, next)| combine_numbers(first, next)).or(next);
                }
                _ => modifiers.push(part.lemma.clone()),
            }
        }
        if word.tag != Tag::Number
            && let Some(next) = self.words.get(self.at)
            && next.tag == Tag::Number
            && (next.text.chars().all(|c| c.is_ascii_digit())
                || determiner.is_none() && word.tag == Tag::Noun && word.text == word.lemma)
            && !self.words.get(self.at + 1).is_some_and(Word::is_nominal)
        {
            modifiers.push(next.text.clone());
            end = next.range.end;
            self.at += 1;
        }
        Some(NounPhrase {
            range: self.words[start].range.start..end,
            head: word.lemma.clone(),
            modifiers,
            determiner,
            owner,
            number: number.or_else(|| (word.tag == Tag::Number).then(|| value(&word.text)).flatten()),
            kind: match word.tag {
                Tag::Name => NounKind::Name,
                Tag::Number => NounKind::Number,
                _ => NounKind::Common,
            },
            plural: word.tag == Tag::Noun && word.text != word.lemma,
            of: None,
            also: Vec::new(),
        })
    }
}

fn value(text: &str) -> Option<f64> {
    text.replace(',', "").parse().ok().or_else(|| number_word(text))
}

fn pronoun(word: &Word) -> NounPhrase {
    NounPhrase {
        range: word.range.clone(),
        head: word.text.clone(),
        modifiers: Vec::new(),
        determiner: None,
        owner: None,
        number: None,
        kind: NounKind::Pronoun,
        plural: matches!(word.text.as_str(), "we" | "they" | "us" | "them" | "these" | "those" | "both" | "all"),
        of: None,
        also: Vec::new(),
    }
}
