//! Word classes by rules: closed classes first, then what the lexicon knows and what stands before and after.

mod closed_class;
mod open_class;
mod second_look;

use std::ops::Range;

use super::closed::{
    BE, CONJUNCTIONS, DETERMINERS, DO, HAVE, MODALS, OWNERS, PREPOSITIONS, PRONOUNS, WH, is_one_of, number_word,
};
use super::lexicon::{self, PartOfSpeech};
use super::token::{Token, TokenKind, tokens};

/// A word class.
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
    /// A word of a time phrase that was read before.
    Time,
}

/// A token with its class and base form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    pub text: String,
    pub lemma: String,
    pub tag: Tag,
    /// Where it stands in the text, in bytes.
    pub range: Range<usize>,
    pub capital: bool,
}

impl Word {
    pub fn is(&self, text: &str) -> bool {
        self.text == text
    }

    /// Whether it can stand inside a noun phrase.
    pub fn is_nominal(&self) -> bool {
        matches!(self.tag, Tag::Noun | Tag::Name | Tag::Adjective | Tag::Number)
    }

    pub fn is_gerund(&self) -> bool {
        self.text.len() > 4 && self.text.ends_with("ing")
    }

    /// Whether a verb's form can be a past or a participle.
    pub fn is_past_form(&self) -> bool {
        self.text != self.lemma && !self.text.ends_with('s') && !self.is_gerund()
            || is_one_of(&self.text, UNMARKED_PASTS)
    }
}

/// Verbs whose past looks like their base form.
pub(super) const UNMARKED_PASTS: &[&str] = &[
    "put", "set", "cut", "shut", "hit", "let", "read", "hurt", "cost", "spread", "split", "burst", "bet", "quit",
    "shed", "cast",
];

/// Verbs before "to" and a base form, whatever else the base form may be.
const BEFORE_INFINITIVE: &[&str] = &[
    "manage", "try", "want", "plan", "hope", "promise", "offer", "refuse", "forget", "remember", "decide", "agree",
    "fail", "love", "like", "prefer", "intend", "continue", "need", "have", "able", "ought", "suppose", "use",
];

/// From this share of its uses, in 255ths, a word behind a name that an auxiliary asks about is its verb.
const OFTEN_A_VERB: u8 = 60;

/// How often a word is of which open class, as the lexicon knows it.
#[derive(Debug, Clone, Copy, Default)]
struct Shares {
    noun: u8,
    verb: u8,
    adjective: u8,
    adverb: u8,
}

impl Shares {
    fn of(word: &str) -> Self {
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

/// The words of a text with their classes. Words inside `times` are of class [`Tag::Time`]; `names` are known to be names where a
/// capital begins them.
pub(crate) fn words(text: &str, times: &[Range<usize>], names: &[String]) -> Vec<Word> {
    let tokens = tokens(text);
    // Capitals say nothing where everything is written in them.
    let shouted = !text.chars().any(char::is_lowercase);
    let shares: Vec<Shares> = tokens
        .iter()
        .map(|token| if token.kind == TokenKind::Word { Shares::of(&token.text) } else { Shares::default() })
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
        let tag = if is_within(token, times) { Tag::Time } else { tagger.tag(at) };
        tagger.accept(at, tag);
    }
    let mut found = tagger.found;
    second_look::second_look(&mut found, &shares);
    found
}

fn is_within(token: &Token, times: &[Range<usize>]) -> bool {
    times.iter().any(|time| time.start <= token.range.start && token.range.end <= time.end)
}

struct Tagger<'a> {
    tokens: &'a [Token],
    shares: &'a [Shares],
    names: &'a [String],
    times: &'a [Range<usize>],
    found: Vec<Word>,
    shouted: bool,
    /// Whether the clause under way has a verb already.
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

    fn share(&self, at: usize) -> Shares {
        self.shares.get(at).copied().unwrap_or_default()
    }

    fn before(&self) -> Option<&Word> {
        self.found.iter().rev().find(|word| !matches!(word.tag, Tag::Adverb | Tag::Not | Tag::Time))
    }

    fn starts_clause(&self) -> bool {
        self.found.last().is_none_or(|last| matches!(last.tag, Tag::Mark | Tag::Conjunction))
    }

    /// Whether what stands at `at` can go on a noun phrase.
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
        [DETERMINERS, OWNERS, PRONOUNS, PREPOSITIONS, CONJUNCTIONS, MODALS, BE, HAVE, DO, WH]
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

    fn tag(&self, at: usize) -> Tag {
        let token = &self.tokens[at];
        match token.kind {
            TokenKind::Number => return Tag::Number,
            // "The twins' rabbit": of several.
            TokenKind::Mark if matches!(token.text.as_str(), "'" | "\u{2019}") && self.owns(at) => {
                return Tag::Possessive;
            }
            TokenKind::Mark => return Tag::Mark,
            TokenKind::Word => {}
        }
        if let Some(tag) = self.closed(at) {
            return tag;
        }
        if self.is_name(at) {
            return Tag::Name;
        }
        if number_word(&token.text).is_some() {
            return Tag::Number;
        }
        self.open(at)
    }
}

/// The base form of a word of a class.
pub(crate) fn lemma(text: &str, tag: Tag) -> String {
    let known = |part| lexicon::lemma(text, part).map(str::to_owned);
    match tag {
        Tag::Noun => known(PartOfSpeech::Noun).unwrap_or_else(|| singular(text)),
        Tag::Verb => known(PartOfSpeech::Verb).unwrap_or_else(|| text.to_owned()),
        Tag::Adjective => {
            known(PartOfSpeech::Adjective).or_else(|| known(PartOfSpeech::Verb)).unwrap_or_else(|| text.to_owned())
        }
        Tag::Auxiliary if is_one_of(text, BE) || text == "'s" => "be".into(),
        Tag::Auxiliary if is_one_of(text, HAVE) => "have".into(),
        Tag::Auxiliary => "do".into(),
        _ => text.to_owned(),
    }
}

/// The singular of a noun that the lexicon does not know.
fn singular(text: &str) -> String {
    match text {
        _ if text.len() < 4 || text.ends_with("ss") || text.ends_with("us") || text.ends_with("is") => text.to_owned(),
        _ if text.ends_with("ies") && text.len() > 4 => format!("{}y", &text[..text.len() - 3]),
        _ => text.strip_suffix('s').unwrap_or(text).to_owned(),
    }
}
