//! Tags words of the closed classes, and the contexts in which they belong to another class.

use super::{Tag, Tagger, VERBS_WITH_INFINITIVE, is_within};
use crate::language::english::closed::{
    ADVERBS, BE_FORMS, CONJUNCTIONS, DETERMINERS, DO_FORMS, HAVE_FORMS, MODALS, POSSESSIVE_DETERMINERS, PREPOSITIONS,
    PRONOUNS, QUESTION_WORDS, is_one_of,
};
use crate::language::english::lexicon::{self, PartOfSpeech};
use crate::language::english::token::TokenKind;

impl Tagger<'_> {
    pub(super) fn closed_class_tag(&self, at: usize) -> Option<Tag> {
        let text = self.text(at);
        let next_nominal = self.can_be_nominal(at + 1) || self.text(at + 1).parse::<f64>().is_ok();
        Some(match text {
            "not" | "never" => Tag::Not,
            // "They no longer sing": the verb is denied.
            "no" if self.text(at + 1) == "longer" => Tag::Not,
            // "Can one use it?"
            "one" if self.found.last().is_some_and(|last| last.tag == Tag::Modal) && self.share(at + 1).verb > 0 => {
                Tag::Pronoun
            }
            "'s" => self.possessive_tag(at),
            "to" => {
                let verb = self.share(at + 1).verb;
                let next = self.text(at + 1);
                let base = lexicon::lemma(next, PartOfSpeech::Verb).is_some_and(|lemma| lemma == next);
                let auxiliary = is_one_of(next, BE_FORMS) || is_one_of(next, HAVE_FORMS) || is_one_of(next, DO_FORMS);
                let wants = self.found.last().is_some_and(|last| is_one_of(&last.lemma, VERBS_WITH_INFINITIVE));
                let after_noun = self.share(at + 1).noun > verb && !auxiliary && !wants;
                if auxiliary || base && verb > 0 && (!after_noun || self.starts_object(at + 2)) {
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
                    && !is_one_of(self.text(at + 1), POSSESSIVE_DETERMINERS) =>
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
            _ if is_one_of(text, POSSESSIVE_DETERMINERS) && text != "whose" => Tag::Owner,
            _ if is_one_of(text, QUESTION_WORDS) => Tag::Wh,
            // "I have something to do."
            "do" if self.found.last().is_some_and(|last| last.tag == Tag::To) => Tag::Verb,
            // "What did she do?": the second one is the verb itself, but not in "what did she have to bring?".
            "do" | "done" | "doing" | "have"
                if self.has_inverted_auxiliary()
                    && !(text == "have" && self.text(at + 1) == "to")
                    && self
                        .found
                        .last()
                        .is_some_and(|last| matches!(last.tag, Tag::Noun | Tag::Name | Tag::Pronoun | Tag::Adverb)) =>
            {
                Tag::Verb
            }
            _ if is_one_of(text, BE_FORMS) || is_one_of(text, HAVE_FORMS) || is_one_of(text, DO_FORMS) => {
                Tag::Auxiliary
            }
            _ if is_one_of(text, MODALS) => {
                // "The can is empty."
                let noun = self
                    .previous_word()
                    .is_some_and(|word| matches!(word.tag, Tag::Determiner | Tag::Owner | Tag::Adjective | Tag::Noun))
                    && text == "can"
                    && self.share(at).noun > 0
                    && !self.found.last().is_some_and(|last| last.tag == Tag::Noun);
                // "Where did the watering can stand?"
                let of_gerund = self.found.last().is_some_and(super::Word::is_gerund)
                    && self
                        .found
                        .iter()
                        .rev()
                        .nth(1)
                        .is_some_and(|word| matches!(word.tag, Tag::Determiner | Tag::Owner | Tag::Adjective));
                let noun = noun || text == "can" && of_gerund;
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
            // "The coins are under the till", and "where did your round start?".
            _ if (is_one_of(text, PREPOSITIONS) || is_one_of(text, CONJUNCTIONS))
                && self
                    .found
                    .last()
                    .is_some_and(|last| last.tag == Tag::Owner || matches!(last.text.as_str(), "a" | "an" | "the"))
                && self.share(at).noun > 0
                && (!self.can_be_nominal(at + 1) || self.has_inverted_auxiliary() && self.ends_clause(at + 2)) =>
            {
                Tag::Noun
            }
            // "She takes it out of the box", and "we have run out of milk".
            "out"
                if self.text(at + 1) == "of"
                    && self.starts_noun_phrase(at + 2)
                    && self.found.last().is_some_and(|last| last.is_nominal() || last.tag == Tag::Pronoun) =>
            {
                Tag::Preposition
            }
            // "It was put on Thursday."
            "on" | "in" if self.starts_time_phrase(at + 1) => Tag::Preposition,
            "down" | "up" | "off" | "out" | "in" | "on" | "back" | "away" | "over" | "behind"
                if !self.starts_noun_phrase(at + 1) =>
            {
                Tag::Adverb
            }
            // "I have never once been late."
            "once" if self.found.last().is_some_and(|last| last.tag == Tag::Not || last.has_text("never")) => {
                Tag::Adverb
            }
            // "It was moved because of the mice."
            "because" if self.text(at + 1) == "of" => Tag::Preposition,
            "because" | "although" | "though" | "while" | "whilst" | "if" | "unless" | "whether" | "once"
                if self.precedes_clause(at) =>
            {
                Tag::Conjunction
            }
            // "She is looking after the dog."
            "after" if self.found.last().is_some_and(|last| matches!(last.lemma.as_str(), "look" | "ask" | "run")) => {
                Tag::Preposition
            }
            "before" | "after" | "since" | "until" | "till" | "as" if self.precedes_clause(at) => Tag::Conjunction,
            _ if is_one_of(text, CONJUNCTIONS) => Tag::Conjunction,
            // "Next to the sledge", and not "the next boat" or "who is next to go".
            "next" if self.text(at + 1) == "to" && (self.starts_object(at + 2) || self.is_name(at + 2)) => {
                Tag::Preposition
            }
            _ if is_one_of(text, PREPOSITIONS) && text != "next" => {
                let like = text == "like"
                    && self.found.last().is_some_and(|last| {
                        matches!(last.tag, Tag::Pronoun | Tag::Noun | Tag::Name | Tag::To | Tag::Modal | Tag::Auxiliary)
                    })
                    && !self.has_verb_now();
                // "I do not like it."
                let like = like || text == "like" && self.follows_denied_verb();
                if like { Tag::Verb } else { Tag::Preposition }
            }
            _ if is_one_of(text, PRONOUNS) && !matches!(text, "there" | "here" | "none") => Tag::Pronoun,
            // "The upstairs window."
            "upstairs" | "downstairs" | "outside" | "inside"
                if self.found.last().is_some_and(|last| matches!(last.tag, Tag::Determiner | Tag::Owner))
                    && self.can_be_nominal(at + 1) =>
            {
                Tag::Adjective
            }
            _ if is_one_of(text, ADVERBS) => Tag::Adverb,
            _ => return None,
        })
    }

    /// Returns whether "do not", "never" or the like is directly before the word.
    fn follows_denied_verb(&self) -> bool {
        let mut before = self.found.iter().rev().skip_while(|word| word.tag == Tag::Adverb);
        let denied = before.next().is_some_and(|word| word.tag == Tag::Not);
        denied
            && before.next().is_some_and(|word| {
                is_one_of(&word.text, DO_FORMS) || matches!(word.tag, Tag::Modal | Tag::Pronoun | Tag::Name)
            })
    }

    /// Returns whether nothing of the clause is left at `at`.
    fn ends_clause(&self, at: usize) -> bool {
        self.tokens.get(at).is_none_or(|token| token.kind == TokenKind::Mark) || self.text(at) == "and"
    }

    /// Returns whether a time phrase that was parsed before starts here.
    pub(super) fn starts_time_phrase(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| is_within(token, self.times))
    }

    /// Returns whether an apostrophe makes the word before it a possessive.
    pub(super) fn is_possessive_apostrophe(&self, at: usize) -> bool {
        let attached = self.tokens[at].attached && self.tokens.get(at + 1).is_some_and(|next| !next.attached);
        let last = self.found.last().filter(|last| attached && last.text.ends_with('s'));
        last.is_some_and(|last| matches!(last.tag, Tag::Noun | Tag::Name)) && self.can_be_nominal(at + 1)
    }

    pub(super) fn has_verb_now(&self) -> bool {
        self.has_verb
            && !self.found.last().is_some_and(|last| matches!(last.tag, Tag::To | Tag::Modal))
            && !self
                .found
                .iter()
                .rev()
                .take_while(|word| word.tag != Tag::Mark)
                .all(|word| !matches!(word.tag, Tag::Verb))
    }

    /// Returns whether a subordinate clause, and not only a noun, follows: a verb before the next punctuation mark.
    pub(super) fn precedes_clause(&self, at: usize) -> bool {
        let mut seen_noun = false;
        for next in at + 1..self.tokens.len().min(at + 12) {
            let token = &self.tokens[next];
            if token.kind == TokenKind::Mark {
                return false;
            }
            let text = token.text.as_str();
            if is_one_of(text, BE_FORMS)
                || is_one_of(text, HAVE_FORMS)
                || is_one_of(text, DO_FORMS)
                || is_one_of(text, MODALS)
            {
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
            // "As the cook and the waiter were quarrelling".
            let goes_on = seen_noun
                && text == "and"
                && is_one_of(self.text(next + 1), &["the", "a", "an", "his", "her", "my", "our", "their"]);
            if is_one_of(text, CONJUNCTIONS) && !goes_on {
                return false;
            }
            seen_noun |= self.can_be_nominal(next) || is_one_of(text, PRONOUNS);
        }
        false
    }

    /// Returns whether a noun phrase starts at `at`.
    pub(super) fn starts_noun_phrase(&self, at: usize) -> bool {
        let text = self.text(at);
        is_one_of(text, DETERMINERS)
            || is_one_of(text, POSSESSIVE_DETERMINERS)
            || is_one_of(text, PRONOUNS)
            || matches!(text, "which" | "what" | "whose")
            || self.tokens.get(at).is_some_and(|token| token.kind == TokenKind::Number)
            || self.can_be_nominal(at) && !is_one_of(text, ADVERBS)
    }

    pub(super) fn starts_object(&self, at: usize) -> bool {
        let text = self.text(at);
        is_one_of(text, DETERMINERS)
            || is_one_of(text, POSSESSIVE_DETERMINERS)
            || is_one_of(text, PRONOUNS)
            || is_one_of(text, PREPOSITIONS)
    }

    /// Returns the tag of "'s" after a noun: possessive, or "is".
    pub(super) fn possessive_tag(&self, at: usize) -> Tag {
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
}
