//! Part-of-speech tagging by rules: closed classes first, then the lexicon and the context.

mod closed_class;
mod open_class;
mod second_look;

use std::ops::Range;

use super::closed::{
    BE_FORMS, CONJUNCTIONS, DETERMINERS, DO_FORMS, HAVE_FORMS, MODALS, POSSESSIVE_DETERMINERS, PREPOSITIONS, PRONOUNS,
    QUESTION_WORDS, is_one_of, number_word,
};
use super::lexicon::{self, PartOfSpeech};
use super::token::{Token, TokenKind, tokenise};

/// A part of speech.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tag {
    Determiner,
    /// "my", "her".
    Owner,
    /// "'s" after an owner.
    Possessive,
    Pronoun,
    Noun,
    Name,
    Adjective,
    Verb,
    /// A form of "be", "have" or "do".
    Auxiliary,
    Modal,
    Adverb,
    Preposition,
    /// "to" before a verb.
    To,
    Conjunction,
    Wh,
    Number,
    Not,
    Mark,
    /// A word of a time phrase that was parsed before.
    Time,
}

/// A token with its tag and lemma.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    pub text: String,
    pub lemma: String,
    pub tag: Tag,
    /// Byte range in the text.
    pub range: Range<usize>,
    pub capital: bool,
}

impl Word {
    pub fn has_text(&self, text: &str) -> bool {
        self.text == text
    }

    /// Returns whether the word can be part of a noun phrase.
    pub fn is_nominal(&self) -> bool {
        matches!(self.tag, Tag::Noun | Tag::Name | Tag::Adjective | Tag::Number)
    }

    pub fn is_gerund(&self) -> bool {
        self.text.len() > 4 && self.text.ends_with("ing")
    }

    /// Returns whether a verb form can be a past or a participle.
    pub fn is_past_form(&self) -> bool {
        self.text != self.lemma && !self.text.ends_with('s') && !self.is_gerund()
            || is_one_of(&self.text, UNMARKED_PASTS)
    }
}

/// Verbs whose past equals their base form.
pub(super) const UNMARKED_PASTS: &[&str] = &[
    "put", "set", "cut", "shut", "hit", "let", "read", "hurt", "cost", "spread", "split", "burst", "bet", "quit",
    "shed", "cast",
];

/// Verbs before "to" and an infinitive.
const VERBS_WITH_INFINITIVE: &[&str] = &[
    "manage", "try", "want", "plan", "hope", "promise", "offer", "refuse", "forget", "remember", "decide", "agree",
    "fail", "love", "like", "prefer", "intend", "continue", "need", "have", "able", "ought", "suppose", "use",
];

/// Share of its uses, in 255ths, from which a word after a name in an auxiliary question is its verb.
const MIN_VERB_SHARE: u8 = 60;

/// Frequencies of the open classes of a word in the lexicon.
#[derive(Debug, Clone, Copy, Default)]
struct OpenClassShares {
    noun: u8,
    verb: u8,
    adjective: u8,
    adverb: u8,
}

impl OpenClassShares {
    fn look_up(word: &str) -> Self {
        let parts = lexicon::parts_of_speech(word);
        Self {
            noun: parts.share(PartOfSpeech::Noun),
            verb: parts.share(PartOfSpeech::Verb),
            adjective: parts.share(PartOfSpeech::Adjective),
            adverb: parts.share(PartOfSpeech::Adverb),
        }
    }

    fn is_unknown(self) -> bool {
        self.noun == 0 && self.verb == 0 && self.adjective == 0 && self.adverb == 0
    }
}

/// Tags the words of a text. Words inside `times` become [`Tag::Time`]. `names` are known names if capitalised.
pub(crate) fn tag_words(text: &str, times: &[Range<usize>], names: &[String]) -> Vec<Word> {
    let tokens = tokenise(text);
    // Capitals carry no information in a text in all capitals.
    let shouted = !text.chars().any(char::is_lowercase);
    let shares: Vec<OpenClassShares> = tokens
        .iter()
        .map(|token| {
            if token.kind == TokenKind::Word {
                OpenClassShares::look_up(&token.text)
            } else {
                OpenClassShares::default()
            }
        })
        .collect();
    let mut tagger = Tagger {
        tokens: &tokens,
        shares: &shares,
        names,
        times,
        found: Vec::with_capacity(tokens.len()),
        shouted,
        has_verb: false,
    };
    for (at, token) in tokens.iter().enumerate() {
        let tag = if is_within(token, times) { Tag::Time } else { tagger.tag_at(at) };
        tagger.accept(at, tag);
    }
    let mut found = tagger.found;
    second_look::correct_tags(&mut found, &shares);
    found
}

fn is_within(token: &Token, times: &[Range<usize>]) -> bool {
    times.iter().any(|time| time.start <= token.range.start && token.range.end <= time.end)
}

struct Tagger<'a> {
    tokens: &'a [Token],
    shares: &'a [OpenClassShares],
    names: &'a [String],
    times: &'a [Range<usize>],
    found: Vec<Word>,
    shouted: bool,
    /// Whether the current clause already has a verb.
    has_verb: bool,
}

impl Tagger<'_> {
    fn accept(&mut self, at: usize, tag: Tag) {
        let token = &self.tokens[at];
        match tag {
            Tag::Verb | Tag::Auxiliary | Tag::Modal => self.has_verb = true,
            Tag::Mark | Tag::Conjunction | Tag::Wh => self.has_verb = false,
            _ => {}
        }
        self.found.push(Word {
            lemma: lemma(&token.text, tag),
            text: token.text.clone(),
            tag,
            range: token.range.clone(),
            capital: token.capital && !self.shouted,
        });
    }

    fn text(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| token.text.as_str())
    }

    fn share(&self, at: usize) -> OpenClassShares {
        self.shares.get(at).copied().unwrap_or_default()
    }

    fn previous_word(&self) -> Option<&Word> {
        self.found.iter().rev().find(|word| !matches!(word.tag, Tag::Adverb | Tag::Not | Tag::Time))
    }

    fn is_at_clause_start(&self) -> bool {
        self.found.last().is_none_or(|last| matches!(last.tag, Tag::Mark | Tag::Conjunction))
    }

    /// Returns whether the word at `at` can continue a noun phrase.
    fn can_be_nominal(&self, at: usize) -> bool {
        let Some(token) = self.tokens.get(at) else { return false };
        if token.kind != TokenKind::Word || self.is_closed(at) {
            return false;
        }
        let share = self.share(at);
        share.noun > 0 || share.adjective > 0 || share.is_unknown() || self.is_name(at)
    }

    fn is_closed(&self, at: usize) -> bool {
        let text = self.text(at);
        [
            DETERMINERS,
            POSSESSIVE_DETERMINERS,
            PRONOUNS,
            PREPOSITIONS,
            CONJUNCTIONS,
            MODALS,
            BE_FORMS,
            HAVE_FORMS,
            DO_FORMS,
            QUESTION_WORDS,
        ]
        .iter()
        .any(|list| is_one_of(text, list))
            || matches!(text, "not" | "'s" | "because" | "although" | "while" | "if" | "unless" | "whether" | "that")
    }

    fn is_name(&self, at: usize) -> bool {
        let Some(token) = self.tokens.get(at) else { return false };
        if !token.capital || self.shouted || token.kind != TokenKind::Word || token.text == "i" {
            return false;
        }
        if self.names.contains(&token.text) {
            return true;
        }
        let first = at == 0 || self.tokens[at - 1].kind == TokenKind::Mark && self.tokens[at - 1].text != ",";
        // A sentence begins with a capital anyway: a rare word before a verb or an owner's mark is a name all the same.
        let rare = || lexicon::frequency(&token.text) <= 2 && self.share(at).verb == 0;
        let acts = || {
            let next = self.text(at + 1);
            next == "'s"
                || next == "and"
                || self.is_auxiliary(at + 1)
                || self.share(at + 1).verb > 0
                    && lexicon::lemma(next, PartOfSpeech::Verb).is_some_and(|lemma| lemma != next)
        };
        !first || self.share(at).is_unknown() || rare() && acts()
    }

    fn tag_at(&self, at: usize) -> Tag {
        let token = &self.tokens[at];
        match token.kind {
            TokenKind::Number => return Tag::Number,
            // "The twins' rabbit": of several.
            TokenKind::Mark if matches!(token.text.as_str(), "'" | "\u{2019}") && self.is_possessive_apostrophe(at) => {
                return Tag::Possessive;
            }
            TokenKind::Mark => return Tag::Mark,
            TokenKind::Word => {}
        }
        if let Some(tag) = self.closed_class_tag(at) {
            return tag;
        }
        if self.is_name(at) {
            return Tag::Name;
        }
        if number_word(&token.text).is_some() {
            return Tag::Number;
        }
        self.open_class_tag(at)
    }
}

/// Returns the lemma of a word with a tag.
pub(crate) fn lemma(text: &str, tag: Tag) -> String {
    let known = |part| lexicon::lemma(text, part).map(str::to_owned);
    match tag {
        Tag::Noun => known(PartOfSpeech::Noun).unwrap_or_else(|| guess_singular(text)),
        Tag::Verb => known(PartOfSpeech::Verb).unwrap_or_else(|| text.to_owned()),
        Tag::Adjective => {
            known(PartOfSpeech::Adjective).or_else(|| known(PartOfSpeech::Verb)).unwrap_or_else(|| text.to_owned())
        }
        Tag::Auxiliary if is_one_of(text, BE_FORMS) || text == "'s" => "be".into(),
        Tag::Auxiliary if is_one_of(text, HAVE_FORMS) => "have".into(),
        Tag::Auxiliary => "do".into(),
        _ => text.to_owned(),
    }
}

/// Returns the singular of a noun that is not in the lexicon.
fn guess_singular(text: &str) -> String {
    match text {
        _ if text.len() < 4 || text.ends_with("ss") || text.ends_with("us") || text.ends_with("is") => text.to_owned(),
        _ if text.ends_with("ies") && text.len() > 4 => format!("{}y", &text[..text.len() - 3]),
        _ => text.strip_suffix('s').unwrap_or(text).to_owned(),
    }
}
