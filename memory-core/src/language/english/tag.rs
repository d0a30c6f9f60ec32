//! Word classes by rules: closed classes first, then what the lexicon knows and what stands before and after.

use std::ops::Range;

use super::closed::{
    ADVERBS, BE, CONJUNCTIONS, DETERMINERS, DO, HAVE, MODALS, OWNERS, PREPOSITIONS, PRONOUNS, WH, is_one_of,
    number_word,
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
const UNMARKED_PASTS: &[&str] = &[
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
    tagger.found
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

    fn closed(&self, at: usize) -> Option<Tag> {
        let text = self.text(at);
        let next_nominal = self.can_be_nominal(at + 1) || self.text(at + 1).parse::<f64>().is_ok();
        Some(match text {
            "not" | "never" => Tag::Not,
            // "They no longer sing": the verb is denied.
            "no" if self.text(at + 1) == "longer" => Tag::Not,
            "'s" => self.possessive(at),
            "to" => {
                let verb = self.share(at + 1).verb;
                let next = self.text(at + 1);
                let base = lexicon::lemma(next, PartOfSpeech::Verb).is_some_and(|lemma| lemma == next);
                let auxiliary = is_one_of(next, BE) || is_one_of(next, HAVE) || is_one_of(next, DO);
                let wants = self.found.last().is_some_and(|last| is_one_of(&last.lemma, BEFORE_INFINITIVE));
                let after_noun = self.share(at + 1).noun > verb && !auxiliary && !wants;
                if auxiliary || base && verb > 0 && (!after_noun || self.begins_object(at + 2)) {
                    Tag::To
                } else {
                    Tag::Preposition
                }
            }
            // "You had better rest": nobody is better.
            "better"
                if self.found.last().is_some_and(|last| matches!(last.text.as_str(), "had" | "would"))
                    && self.share(at + 1).verb > 0 =>
            {
                Tag::Modal
            }
            "her" if !next_nominal => Tag::Pronoun,
            "that" | "this" | "these" | "those" | "all" | "both" | "each" | "some" | "any" | "many" | "few"
            | "much" | "most" | "more" | "other" | "such" | "half" | "either" | "neither" | "several"
                if !next_nominal
                    && !is_one_of(self.text(at + 1), DETERMINERS)
                    && !is_one_of(self.text(at + 1), OWNERS) =>
            {
                if text == "that"
                    && self.found.last().is_some_and(|last| matches!(last.tag, Tag::Verb | Tag::Noun | Tag::Name))
                {
                    Tag::Conjunction
                } else if text == "more" || text == "most" || text == "such" {
                    Tag::Adverb
                } else {
                    Tag::Pronoun
                }
            }
            _ if is_one_of(text, OWNERS) && text != "whose" => Tag::Owner,
            _ if is_one_of(text, WH) => Tag::Wh,
            // "I have something to do."
            "do" if self.found.last().is_some_and(|last| last.tag == Tag::To) => Tag::Verb,
            // "What did she do?": the second one is the verb itself, but not in "what did she have to bring?".
            "do" | "done" | "doing" | "have"
                if self.inverted()
                    && !(text == "have" && self.text(at + 1) == "to")
                    && self
                        .found
                        .last()
                        .is_some_and(|last| matches!(last.tag, Tag::Noun | Tag::Name | Tag::Pronoun | Tag::Adverb)) =>
            {
                Tag::Verb
            }
            _ if is_one_of(text, BE) || is_one_of(text, HAVE) || is_one_of(text, DO) => Tag::Auxiliary,
            _ if is_one_of(text, MODALS) => {
                // "The can is empty."
                let noun = self
                    .before()
                    .is_some_and(|word| matches!(word.tag, Tag::Determiner | Tag::Owner | Tag::Adjective | Tag::Noun))
                    && text == "can"
                    && self.share(at).noun > 0
                    && !self.found.last().is_some_and(|last| last.tag == Tag::Noun);
                if noun { Tag::Noun } else { Tag::Modal }
            }
            "that" if self.found.last().is_some_and(|last| last.tag == Tag::Verb) && !self.can_be_nominal(at + 1) => {
                Tag::Conjunction
            }
            "one" | "ones"
                if self.found.last().is_some_and(|last| {
                    matches!(last.tag, Tag::Determiner | Tag::Adjective | Tag::Owner | Tag::Wh)
                }) =>
            {
                Tag::Noun
            }
            "one" => Tag::Number,
            _ if is_one_of(text, DETERMINERS) => Tag::Determiner,
            "first" | "last" | "next" | "well" | "home" | "back"
                if self
                    .found
                    .last()
                    .is_some_and(|last| matches!(last.tag, Tag::Determiner | Tag::Owner | Tag::Possessive)) =>
            {
                if self.can_be_nominal(at + 1) { Tag::Adjective } else { Tag::Noun }
            }
            // "She takes it out of the box", and "we have run out of milk".
            "out"
                if self.text(at + 1) == "of"
                    && self.begins_noun(at + 2)
                    && self.found.last().is_some_and(|last| last.is_nominal() || last.tag == Tag::Pronoun) =>
            {
                Tag::Preposition
            }
            // "It was put on Thursday."
            "on" | "in" if self.is_timed(at + 1) => Tag::Preposition,
            "down" | "up" | "off" | "out" | "in" | "on" | "back" | "away" | "over" | "behind"
                if !self.begins_noun(at + 1) =>
            {
                Tag::Adverb
            }
            "because" | "although" | "though" | "while" | "whilst" | "if" | "unless" | "whether" | "once"
                if self.has_clause_after(at) =>
            {
                Tag::Conjunction
            }
            // "She is looking after the dog."
            "after" if self.found.last().is_some_and(|last| matches!(last.lemma.as_str(), "look" | "ask" | "run")) => {
                Tag::Preposition
            }
            "before" | "after" | "since" | "until" | "till" | "as" if self.has_clause_after(at) => Tag::Conjunction,
            _ if is_one_of(text, CONJUNCTIONS) => Tag::Conjunction,
            _ if is_one_of(text, PREPOSITIONS) && text != "next" => {
                let like = text == "like"
                    && self.found.last().is_some_and(|last| {
                        matches!(last.tag, Tag::Pronoun | Tag::Noun | Tag::Name | Tag::To | Tag::Modal | Tag::Auxiliary)
                    })
                    && !self.has_verb_now();
                if like { Tag::Verb } else { Tag::Preposition }
            }
            _ if is_one_of(text, PRONOUNS) && !matches!(text, "there" | "here" | "none") => Tag::Pronoun,
            _ if is_one_of(text, ADVERBS) => Tag::Adverb,
            _ => return None,
        })
    }

    /// Whether a time phrase that was read before stands here.
    fn is_timed(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| is_within(token, self.times))
    }

    /// Whether an apostrophe makes the word before it the owner of what follows.
    fn owns(&self, at: usize) -> bool {
        let attached = self.tokens[at].attached && self.tokens.get(at + 1).is_some_and(|next| !next.attached);
        let last = self.found.last().filter(|last| attached && last.text.ends_with('s'));
        last.is_some_and(|last| matches!(last.tag, Tag::Noun | Tag::Name)) && self.can_be_nominal(at + 1)
    }

    fn has_verb_now(&self) -> bool {
        self.has_verb
            && !self.found.last().is_some_and(|last| matches!(last.tag, Tag::To | Tag::Modal))
            && !self
                .found
                .iter()
                .rev()
                .take_while(|word| word.tag != Tag::Mark)
                .all(|word| !matches!(word.tag, Tag::Verb))
    }

    /// Whether a subordinate clause, and not a noun alone, follows: a verb before the next mark.
    fn has_clause_after(&self, at: usize) -> bool {
        let mut seen_noun = false;
        for next in at + 1..self.tokens.len().min(at + 12) {
            let token = &self.tokens[next];
            if token.kind == TokenKind::Mark {
                return false;
            }
            let text = token.text.as_str();
            if is_one_of(text, BE) || is_one_of(text, HAVE) || is_one_of(text, DO) || is_one_of(text, MODALS) {
                return seen_noun || next == at + 1;
            }
            let share = self.share(next);
            if next == at + 1 && text.ends_with("ing") && share.verb > 0 {
                return true;
            }
            let finite = share.verb > 0 && lexicon::lemma(text, PartOfSpeech::Verb).is_some_and(|lemma| lemma != text);
            let pronoun = matches!(self.text(next - 1), "i" | "you" | "we" | "they" | "he" | "she" | "it");
            if seen_noun
                && share.verb > 0
                && (pronoun || finite && !text.ends_with("ing") && share.verb >= share.adjective)
            {
                return true;
            }
            if is_one_of(text, CONJUNCTIONS) {
                return false;
            }
            seen_noun |= self.can_be_nominal(next) || is_one_of(text, PRONOUNS);
        }
        false
    }

    /// Whether a noun phrase begins at `at`.
    fn begins_noun(&self, at: usize) -> bool {
        let text = self.text(at);
        is_one_of(text, DETERMINERS)
            || is_one_of(text, OWNERS)
            || is_one_of(text, PRONOUNS)
            || matches!(text, "which" | "what" | "whose")
            || self.tokens.get(at).is_some_and(|token| token.kind == TokenKind::Number)
            || self.can_be_nominal(at) && !is_one_of(text, ADVERBS)
    }

    fn begins_object(&self, at: usize) -> bool {
        let text = self.text(at);
        is_one_of(text, DETERMINERS)
            || is_one_of(text, OWNERS)
            || is_one_of(text, PRONOUNS)
            || is_one_of(text, PREPOSITIONS)
    }

    /// "'s" after a noun: of an owner, or "is".
    fn possessive(&self, at: usize) -> Tag {
        let Some(last) = self.found.last() else { return Tag::Auxiliary };
        if !matches!(last.tag, Tag::Noun | Tag::Name | Tag::Number) && last.text != "one" {
            return Tag::Auxiliary;
        }
        let next = self.text(at + 1);
        let participle = {
            let lemma = lexicon::lemma(next, PartOfSpeech::Verb);
            lemma.is_some_and(|lemma| lemma != next) && self.share(at + 1).verb > self.share(at + 1).noun
        };
        let nominal = self.can_be_nominal(at + 1) && !is_one_of(next, ADVERBS);
        if nominal && (!participle || self.can_be_nominal(at + 2))
            || self.tokens.get(at + 1).is_none_or(|it| it.kind == TokenKind::Mark)
        {
            Tag::Possessive
        } else {
            Tag::Auxiliary
        }
    }

    fn open(&self, at: usize) -> Tag {
        let token = &self.tokens[at];
        let share = self.share(at);
        // An evening is no deed, whatever evens.
        if matches!(token.text.as_str(), "evening" | "morning") {
            return Tag::Noun;
        }
        let gerund = token.text.len() > 4 && token.text.ends_with("ing");
        let base = lexicon::lemma(&token.text, PartOfSpeech::Verb);
        let inflected = base.as_ref().is_some_and(|base| *base != token.text);
        let third = inflected && token.text.ends_with('s');
        let past = inflected && !third && !gerund;
        // "The dryer has stopped": what dries is meant, and not what is more dry.
        let agent = share.noun > 0 && token.text.ends_with("er");
        let nominal = |tagger: &Self| {
            if agent {
                Tag::Noun
            } else if share.adjective > 0
                && (share.adjective >= share.noun || share.noun == 0)
                && tagger.can_be_nominal(at + 1)
            {
                Tag::Adjective
            } else if share.noun > 0 {
                if share.adjective > share.noun { Tag::Adjective } else { Tag::Noun }
            } else if share.adjective > 0 || (past || gerund) && tagger.can_be_nominal(at + 1) {
                Tag::Adjective
            } else if share.is_unknown() {
                Tag::Noun
            } else if share.verb > 0 {
                Tag::Verb
            } else {
                Tag::Adverb
            }
        };
        if share.is_unknown() {
            return match token.text.as_str() {
                text if text.ends_with("ly") && text.len() > 4 => Tag::Adverb,
                text if text.ends_with("ing") && text.len() > 5 => Tag::Verb,
                text if text.ends_with("ed") && text.len() > 4 && !self.has_verb => Tag::Verb,
                _ => Tag::Noun,
            };
        }
        if gerund && self.is_subject(at) {
            return Tag::Noun;
        }
        let Some(before) = self.before() else { return self.at_begin(at, share, inflected) };
        // "When was it lower?": no verb follows a form of "be" in its base form.
        let is_like = matches!(token.text.as_str(), "lower" | "better" | "further") && self.asks_with_be();
        match before.tag {
            Tag::Noun | Tag::Name | Tag::Pronoun if is_like => Tag::Adjective,
            // "To take care of the cat."
            Tag::Verb if before.lemma == "take" && share.noun > 0 && self.text(at + 1) == "of" => Tag::Noun,
            Tag::To | Tag::Modal if share.verb > 0 => Tag::Verb,
            Tag::Determiner | Tag::Owner | Tag::Possessive | Tag::Number | Tag::Adjective => nominal(self),
            Tag::Preposition if gerund && share.verb > 0 && (share.noun == 0 || self.begins_object(at + 1)) => {
                Tag::Verb
            }
            Tag::Preposition => nominal(self),
            // "Which tools did": a noun, where an auxiliary or a verb follows.
            Tag::Wh
                if matches!(before.text.as_str(), "what" | "which" | "whose")
                    && share.noun > 0
                    && (!(third || past) || self.is_auxiliary(at + 1) || third && share.noun >= share.verb) =>
            {
                if self.is_auxiliary(at + 1) { Tag::Noun } else { nominal(self) }
            }
            Tag::Wh if share.verb > 0 && (third || past || share.verb > share.noun.max(share.adjective)) => Tag::Verb,
            Tag::Auxiliary if share.verb > 0 && (past || gerund && share.adjective <= share.verb) => Tag::Verb,
            Tag::Auxiliary if is_one_of(&before.text, DO) && share.verb > 0 => Tag::Verb,
            Tag::Auxiliary => self.by_share(share),
            Tag::Pronoun | Tag::Noun | Tag::Name => self.after_noun(at, before, share, (third, past, gerund)),
            Tag::Mark | Tag::Conjunction => {
                // "What did the nails and hinges cost?": of a subject that is not yet whole.
                let subject = before.tag == Tag::Conjunction && third && share.noun > 0 && self.inverted();
                if share.verb > 0 && (third || past) && share.verb >= share.adjective && !subject {
                    Tag::Verb
                } else if subject {
                    Tag::Noun
                } else {
                    self.at_begin(at, share, inflected)
                }
            }
            _ => self.by_share(share),
        }
    }

    /// Whether a gerund is what something is said or asked of: "smoking is forbidden", "is smoking allowed?".
    fn is_subject(&self, at: usize) -> bool {
        let next = self.text(at + 1);
        let is_past = |base: &str| base != next && !next.ends_with('s') && !next.ends_with("ing");
        match self.found.as_slice() {
            [] => self.is_auxiliary(at + 1),
            [first] => first.lemma == "be" && lexicon::lemma(next, PartOfSpeech::Verb).is_some_and(is_past),
            _ => false,
        }
    }

    fn by_share(&self, share: Shares) -> Tag {
        let most = share.noun.max(share.verb).max(share.adjective).max(share.adverb);
        if share.adjective == most {
            Tag::Adjective
        } else if share.noun == most {
            Tag::Noun
        } else if share.adverb == most {
            Tag::Adverb
        } else {
            Tag::Verb
        }
    }

    /// At the begin of a sentence or clause: a command ("Add oil"), or a noun.
    fn at_begin(&self, at: usize, share: Shares, inflected: bool) -> Tag {
        let next = self.text(at + 1);
        let object = is_one_of(next, DETERMINERS) || is_one_of(next, OWNERS) || is_one_of(next, PRONOUNS);
        let next_share = self.share(at + 1);
        if share.verb > 0 && !inflected && (object || share.verb >= share.noun && next_share.verb <= next_share.noun) {
            return Tag::Verb;
        }
        if share.verb > 0 && inflected && share.noun == 0 && share.adjective == 0 {
            return Tag::Verb;
        }
        self.by_share(Shares { verb: if inflected { share.verb } else { share.verb / 2 }, ..share })
    }

    fn after_noun(&self, at: usize, before: &Word, share: Shares, (third, past, gerund): (bool, bool, bool)) -> Tag {
        let pronoun = before.tag == Tag::Pronoun;
        let next_nominal = self.can_be_nominal(at + 1) && !is_one_of(self.text(at + 1), ADVERBS);
        let plural_subject = pronoun
            || before.text != before.lemma && before.tag == Tag::Noun
            || self.found.iter().rev().take(4).any(|word| word.is("and"));
        let direct = self.found.last().is_some_and(|last| last.range == before.range);
        // "How many fishing boats did you see?"
        let asked = self.found.first().is_some_and(|word| word.tag == Tag::Wh) && self.is_auxiliary(at + 1);
        // "How much were the nose drops?": after a form of "be" stands no such form of a verb.
        if third && share.noun > 0 && before.tag == Tag::Noun && (asked || self.asks_with_be()) {
            return Tag::Noun;
        }
        if share.verb > 0 && !self.has_verb {
            if third
                && !(before.tag == Tag::Noun
                    && u16::from(share.noun) > 2 * u16::from(share.verb)
                    && next_nominal
                    && !pronoun)
            {
                return Tag::Verb;
            }
            if past && share.verb >= share.adjective.min(share.verb) {
                return Tag::Verb;
            }
            // "Jonas put the box": a past that looks like its base form, with an object behind it.
            let unmarked = is_one_of(self.text(at), UNMARKED_PASTS);
            let acts = before.tag == Tag::Name || pronoun;
            if unmarked && (acts && self.begins_object(at + 1) || is_one_of(self.text(at + 1), DETERMINERS)) {
                return Tag::Verb;
            }
            if !gerund
                && plural_subject
                && !third
                && (pronoun || share.verb >= share.noun || self.begins_object(at + 1))
            {
                return Tag::Verb;
            }
        }
        // After an auxiliary that stands before its subject: "Did Ben leave", "is Ben leaving", "is the door locked".
        // "Where is the key of the tool shed?": a thing is named, and nothing is shed.
        let thing = || lexicon::category(self.text(at), PartOfSpeech::Noun) == Some(lexicon::Category::Artifact);
        let compound =
            direct && before.tag == Tag::Noun && !past && !gerund && !third && self.asks_with_be() && thing();
        // "Why did Mia water Ben's plants?": what follows is what it is done to.
        let acts_on = before.tag == Tag::Name
            && self.tokens[at].kind == TokenKind::Word
            && !self.tokens[at].capital
            && !gerund
            && (self.is_name(at + 1) || self.begins_object(at + 1) && !is_one_of(self.text(at + 1), PREPOSITIONS));
        // "Does Mia drink milk?", and not "did the Lind dog bark?".
        let bare = !self
            .found
            .iter()
            .rev()
            .skip_while(|word| word.tag == Tag::Name)
            .take(1)
            .any(|word| matches!(word.tag, Tag::Determiner | Tag::Owner | Tag::Adjective));
        let drinks = before.tag == Tag::Name && direct && bare && !gerund && !third && share.verb >= OFTEN_A_VERB;
        if share.verb > 0 && (acts_on || drinks) && self.inverted_do() && self.inverted() {
            return Tag::Verb;
        }
        if share.verb > 0
            && self.inverted()
            && !compound
            && (gerund
                || past
                || share.verb > share.noun
                || pronoun
                || !next_nominal && self.inverted_do() && !self.verb_behind(at))
            && !(third && self.is_auxiliary(at + 1))
        {
            return Tag::Verb;
        }
        if gerund && share.verb > 0 && !direct {
            return Tag::Verb;
        }
        if share.noun > 0 && !pronoun && share.noun >= share.adverb {
            return if share.adjective > share.noun { Tag::Adjective } else { Tag::Noun };
        }
        if share.verb > 0 && (past || gerund || third) && share.adjective <= share.verb {
            return Tag::Verb;
        }
        self.by_share(share)
    }

    fn is_auxiliary(&self, at: usize) -> bool {
        let text = self.text(at);
        is_one_of(text, BE) || is_one_of(text, HAVE) || is_one_of(text, DO) || is_one_of(text, MODALS)
    }

    /// Whether the clause began with an auxiliary or a modal and its subject, without a main verb so far.
    fn inverted(&self) -> bool {
        for word in self.found.iter().rev() {
            match word.tag {
                Tag::Auxiliary | Tag::Modal => return true,
                // "Did the nails and screws rust?"
                Tag::Conjunction if word.is("and") || word.is("or") => {}
                Tag::Mark | Tag::Verb | Tag::Conjunction => return false,
                _ => {}
            }
        }
        false
    }

    /// Whether a base form stands behind adverbs, which is then the verb: "does the washing machine still leak?".
    fn verb_behind(&self, at: usize) -> bool {
        let next = (at + 1..self.tokens.len()).find(|next| !is_one_of(self.text(*next), ADVERBS));
        next.is_some_and(|next| {
            let base =
                lexicon::lemma(self.text(next), PartOfSpeech::Verb).is_some_and(|lemma| lemma == self.text(next));
            self.tokens[next].kind == TokenKind::Word && !self.is_closed(next) && base && self.share(next).verb > 0
        })
    }

    fn asks_with_be(&self) -> bool {
        let auxiliary = self.found.iter().rev().find(|word| matches!(word.tag, Tag::Auxiliary | Tag::Modal));
        self.inverted() && auxiliary.is_some_and(|word| word.lemma == "be")
    }

    fn inverted_do(&self) -> bool {
        let auxiliary = self.found.iter().rev().find(|word| matches!(word.tag, Tag::Auxiliary | Tag::Modal));
        auxiliary.is_some_and(|word| is_one_of(&word.text, DO) || word.tag == Tag::Modal) && !self.starts_clause()
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
