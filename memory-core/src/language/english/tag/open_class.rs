//! Tags words of the open classes (nouns, verbs, adjectives and adverbs) by their frequencies in the lexicon and by
//! context.

use super::{MIN_VERB_SHARE, OpenClassShares, Tag, Tagger, UNMARKED_PASTS, Word};
use crate::language::english::closed::{
    ADVERBS, BE_FORMS, DETERMINERS, DO_FORMS, HAVE_FORMS, MODALS, POSSESSIVE_DETERMINERS, PREPOSITIONS, PRONOUNS,
    is_one_of,
};
use crate::language::english::lexicon::{self, PartOfSpeech};
use crate::language::english::token::TokenKind;

/// How much more often a word is a noun than a verb from which it is one before a preposition.
const MIN_NOUN_TO_VERB_RATIO: u16 = 25;

impl Tagger<'_> {
    pub(super) fn open_class_tag(&self, at: usize) -> Tag {
        let token = &self.tokens[at];
        let share = self.share(at);
        // "Evening" is a noun, although "even" is a verb.
        if matches!(token.text.as_str(), "evening" | "morning") {
            return Tag::Noun;
        }
        // "Why didn't it get cut?"
        if token.text == "get" {
            return Tag::Verb;
        }
        let gerund = token.text.len() > 4 && token.text.ends_with("ing");
        let base = lexicon::lemma(&token.text, PartOfSpeech::Verb);
        let inflected = base.as_ref().is_some_and(|base| *base != token.text);
        let third = inflected && token.text.ends_with('s');
        let past = inflected && !third && !gerund;
        // "The dryer has stopped": what dries is meant, and not what is more dry.
        let agent = share.noun > 0 && token.text.ends_with("er");
        let nominal = |tagger: &Self| {
            if agent || share.noun > 0 && tagger.is_followed_by_deed(at) {
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
                // "The glueing clamp": what it is for.
                text if text.ends_with("ing") && text.len() > 5 => {
                    let describes = self.previous_word().is_some_and(|before| {
                        matches!(before.tag, Tag::Determiner | Tag::Owner | Tag::Possessive | Tag::Adjective)
                    });
                    if describes && self.can_be_nominal(at + 1) { Tag::Adjective } else { Tag::Verb }
                }
                // "A white-haired woman."
                text if text.ends_with("ed") && text.contains('-') && self.can_be_nominal(at + 1) => Tag::Adjective,
                text if text.ends_with("ed") && text.len() > 4 && !self.has_verb => Tag::Verb,
                // "How does Ivo descale the kettle?": nothing else stands between a subject and an object.
                _ if self.is_between_subject_and_object(at) => Tag::Verb,
                _ => Tag::Noun,
            };
        }
        if gerund && self.is_gerund_subject(at) {
            return Tag::Noun;
        }
        let Some(before) = self.previous_word() else { return self.tag_at_start(at, share, inflected) };
        // "When was it lower?": no verb follows a form of "be" in its base form.
        let is_like = matches!(token.text.as_str(), "lower" | "better" | "further") && self.is_be_question();
        match before.tag {
            Tag::Noun | Tag::Name | Tag::Pronoun if is_like => Tag::Adjective,
            // "To take care of the cat."
            Tag::Verb if before.lemma == "take" && share.noun > 0 && self.text(at + 1) == "of" => Tag::Noun,
            Tag::To | Tag::Modal if share.verb > 0 => Tag::Verb,
            Tag::Determiner | Tag::Owner | Tag::Possessive | Tag::Number | Tag::Adjective => nominal(self),
            Tag::Preposition if gerund && share.verb > 0 && (share.noun == 0 || self.starts_object(at + 1)) => {
                Tag::Verb
            }
            Tag::Preposition => nominal(self),
            // "Which tools did": a noun, where an auxiliary or a verb follows.
            Tag::Wh
                if matches!(before.text.as_str(), "what" | "which" | "whose")
                    && share.noun > 0
                    && (!(third || past)
                        || self.is_auxiliary(at + 1)
                        || self.text(at + 1) == "of"
                        || third && share.noun >= share.verb) =>
            {
                if self.is_auxiliary(at + 1) || self.text(at + 1) == "of" { Tag::Noun } else { nominal(self) }
            }
            Tag::Wh if share.verb > 0 && (third || past || share.verb > share.noun.max(share.adjective)) => Tag::Verb,
            Tag::Auxiliary if share.verb > 0 && (past || gerund && share.adjective <= share.verb) => Tag::Verb,
            Tag::Auxiliary if is_one_of(&before.text, DO_FORMS) && share.verb > 0 => Tag::Verb,
            Tag::Auxiliary => self.most_frequent_tag(share),
            Tag::Pronoun | Tag::Noun | Tag::Name => self.tag_after_noun(at, before, share, (third, past, gerund)),
            Tag::Mark | Tag::Conjunction => {
                // "What did the nails and hinges cost?": of a subject that is not yet whole.
                let subject =
                    before.tag == Tag::Conjunction && third && share.noun > 0 && self.has_inverted_auxiliary();
                let listed = third && share.noun > 0 && self.lists_objects(at);
                if share.verb > 0 && (third || past) && share.verb >= share.adjective && !subject && !listed {
                    Tag::Verb
                } else if subject || listed {
                    Tag::Noun
                } else {
                    self.tag_at_start(at, share, inflected)
                }
            }
            _ => self.most_frequent_tag(share),
        }
    }

    /// Returns whether a word goes on with the objects of a verb in its base form: "we need milk, eggs and oats". Whoever
    /// needs would egg, and not eggs.
    fn lists_objects(&self, at: usize) -> bool {
        let sentence = self.found.iter().rev().take_while(|word| !is_one_of(&word.text, &[".", "!", "?", ";"]));
        let verb = sentence.skip(1).find(|word| matches!(word.tag, Tag::Verb | Tag::Auxiliary | Tag::Modal));
        let base = |verb: &Word| verb.text == verb.lemma && !is_one_of(&verb.text, UNMARKED_PASTS);
        let after_noun = self.found.iter().rev().nth(1).is_some_and(|word| word.tag == Tag::Noun);
        let ends = is_one_of(self.text(at + 1), &["", ",", ".", "!", "and", "or", "for", "from"]);
        after_noun && ends && verb.is_some_and(|verb| verb.tag == Tag::Verb && base(verb))
    }

    /// Returns whether a subject stands before a word and the determiner of an object behind it.
    fn is_between_subject_and_object(&self, at: usize) -> bool {
        let next = self.text(at + 1);
        let object = is_one_of(next, DETERMINERS) || is_one_of(next, POSSESSIVE_DETERMINERS);
        let subject =
            self.previous_word().is_some_and(|before| matches!(before.tag, Tag::Noun | Tag::Name | Tag::Pronoun));
        object && subject && self.has_inverted_auxiliary()
    }

    /// Returns whether a gerund is a subject: "smoking is forbidden", "is smoking allowed?".
    pub(super) fn is_gerund_subject(&self, at: usize) -> bool {
        let next = self.text(at + 1);
        let is_past = |base: &str| base != next && !next.ends_with('s') && !next.ends_with("ing");
        match self.found.as_slice() {
            [] => self.is_auxiliary(at + 1),
            [first] => first.lemma == "be" && lexicon::lemma(next, PartOfSpeech::Verb).is_some_and(is_past),
            _ => false,
        }
    }

    pub(super) fn most_frequent_tag(&self, share: OpenClassShares) -> Tag {
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

    /// Returns the tag at the start of a sentence or clause: a command ("Add oil"), or a noun.
    pub(super) fn tag_at_start(&self, at: usize, share: OpenClassShares, inflected: bool) -> Tag {
        let next = self.text(at + 1);
        let object =
            is_one_of(next, DETERMINERS) || is_one_of(next, POSSESSIVE_DETERMINERS) || is_one_of(next, PRONOUNS);
        let next_share = self.share(at + 1);
        if share.verb > 0 && !inflected && (object || share.verb >= share.noun && next_share.verb <= next_share.noun) {
            return Tag::Verb;
        }
        if share.verb > 0 && inflected && share.noun == 0 && share.adjective == 0 {
            return Tag::Verb;
        }
        self.most_frequent_tag(OpenClassShares { verb: if inflected { share.verb } else { share.verb / 2 }, ..share })
    }

    pub(super) fn tag_after_noun(
        &self,
        at: usize,
        before: &Word,
        share: OpenClassShares,
        (third, past, gerund): (bool, bool, bool),
    ) -> Tag {
        let pronoun = before.tag == Tag::Pronoun;
        let next_nominal = self.can_be_nominal(at + 1) && !is_one_of(self.text(at + 1), ADVERBS);
        let plural_subject = pronoun
            || before.text != before.lemma && before.tag == Tag::Noun
            || self.found.iter().rev().take(4).any(|word| word.has_text("and"));
        let direct = self.found.last().is_some_and(|last| last.range == before.range);
        // "How many fishing boats did you see?"
        let asked = self.found.first().is_some_and(|word| word.tag == Tag::Wh) && self.is_auxiliary(at + 1);
        // "How much were the nose drops?": after a form of "be" stands no such form of a verb.
        if third && share.noun > 0 && before.tag == Tag::Noun && (asked || self.is_be_question()) {
            return Tag::Noun;
        }
        // "The field glasses are on the shelf", "the field glasses on the shelf": a verb has no verb behind it, and what is
        // almost always a noun is one.
        let compounds = direct && before.tag == Tag::Noun && third && share.noun > 0;
        let person = lexicon::category(&before.lemma, PartOfSpeech::Noun) == Some(lexicon::Category::Person);
        let rare_verb = !person && u16::from(share.noun) >= MIN_NOUN_TO_VERB_RATIO * u16::from(share.verb);
        if compounds
            && (is_one_of(self.text(at + 1), BE_FORMS) || rare_verb && is_one_of(self.text(at + 1), PREPOSITIONS))
        {
            return Tag::Noun;
        }
        // "The hair dryer, the tin opener": at the end of a phrase, what dries.
        if direct
            && before.tag == Tag::Noun
            && share.noun > 0
            && self.text(at).ends_with("er")
            && self.tokens.get(at + 1).is_none_or(|next| next.kind == TokenKind::Mark)
        {
            return Tag::Noun;
        }
        // "A steel pocket watch": a pocket that watched would be one that watches.
        let base = !(third || past || gerund) && share.noun > 0 && !is_one_of(self.text(at), UNMARKED_PASTS);
        if base && direct && self.ends_singular_phrase() && !self.has_inverted_auxiliary() {
            return Tag::Noun;
        }
        if share.verb > 0 && !self.has_verb {
            if third
                && !(before.tag == Tag::Noun
                    && u16::from(share.noun) > 2 * u16::from(share.verb)
                    && next_nominal
                    // "The messenger hands Amara a letter."
                    && !self.is_name(at + 1)
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
            if unmarked && (acts && self.starts_object(at + 1) || is_one_of(self.text(at + 1), DETERMINERS)) {
                return Tag::Verb;
            }
            if !gerund
                && plural_subject
                && !third
                && (pronoun || share.verb >= share.noun || self.starts_object(at + 1))
            {
                return Tag::Verb;
            }
        }
        // After an auxiliary that stands before its subject: "Did Ben leave", "is Ben leaving", "is the door locked".
        // "Where is the key of the tool shed?": a thing is named, and nothing is shed.
        let thing = || lexicon::category(self.text(at), PartOfSpeech::Noun) == Some(lexicon::Category::Artifact);
        let base = share.noun > 0 && !is_one_of(self.text(at), UNMARKED_PASTS) && share.adjective == 0;
        let compound = direct
            && before.tag == Tag::Noun
            && !past
            && !gerund
            && !third
            && self.is_be_question()
            && (thing() || base);
        // "Why did the water pump stop?": what stops is a pump.
        let verb_next = || self.is_followed_by_base_form(at) && self.share(at + 1).verb > self.share(at + 1).noun;
        let agent = direct && before.tag == Tag::Noun && !third && !gerund && share.noun > 0 && self.has_inverted_do();
        let compound = compound || agent && verb_next();
        // "Why did Mia water Ben's plants?": what follows is what it is done to.
        let acts_on = before.tag == Tag::Name
            && self.tokens[at].kind == TokenKind::Word
            && !self.tokens[at].capital
            && !gerund
            && (self.is_name(at + 1) || self.starts_object(at + 1) && !is_one_of(self.text(at + 1), PREPOSITIONS));
        // "Does Mia drink milk?", and not "did the Lind dog bark?".
        let bare = !self
            .found
            .iter()
            .rev()
            .skip_while(|word| word.tag == Tag::Name)
            .take(1)
            .any(|word| matches!(word.tag, Tag::Determiner | Tag::Owner | Tag::Adjective));
        let drinks = before.tag == Tag::Name && direct && bare && !gerund && !third && share.verb >= MIN_VERB_SHARE;
        if share.verb > 0 && (acts_on || drinks) && self.has_inverted_do() && self.has_inverted_auxiliary() {
            return Tag::Verb;
        }
        if share.verb > 0
            && self.has_inverted_auxiliary()
            && !compound
            && (gerund
                || past
                || share.verb > share.noun
                || pronoun
                || !next_nominal && self.has_inverted_do() && !self.is_followed_by_base_form(at))
            && !(third && self.is_auxiliary(at + 1))
        {
            return Tag::Verb;
        }
        if gerund && share.verb > 0 && !direct {
            return Tag::Verb;
        }
        if share.noun > 0 && !pronoun && share.noun >= share.adverb {
            // "What caused the power cut?"
            let cut = direct && is_one_of(self.text(at), UNMARKED_PASTS);
            // "When was the tin opener last used?": what opens was used, and nothing is more open.
            let opener = direct && self.text(at).ends_with("er") && self.is_followed_by_participle(at);
            return if share.adjective > share.noun && !cut && !opener { Tag::Adjective } else { Tag::Noun };
        }
        if share.verb > 0 && (past || gerund || third) && share.adjective <= share.verb {
            return Tag::Verb;
        }
        self.most_frequent_tag(share)
    }

    /// Returns whether the last word is a noun in the singular whose phrase begins with "a" or another word for one thing.
    fn ends_singular_phrase(&self) -> bool {
        const SINGULAR: &[&str] = &["a", "an", "another", "each", "every", "this", "that"];
        let singular = self.found.last().is_some_and(|last| last.tag == Tag::Noun && last.text == last.lemma);
        let mut before = self.found.iter().rev().skip_while(|word| matches!(word.tag, Tag::Noun | Tag::Adjective));
        // "A boy and a girl play."
        let told = self.found.iter().any(|word| matches!(word.tag, Tag::Verb | Tag::Auxiliary));
        let joint = |word: &Word| !told && word.has_text("and");
        singular
            && before.next().is_some_and(|word| is_one_of(&word.text, SINGULAR))
            && !before.next().is_some_and(joint)
    }

    pub(super) fn is_auxiliary(&self, at: usize) -> bool {
        let text = self.text(at);
        is_one_of(text, BE_FORMS) || is_one_of(text, HAVE_FORMS) || is_one_of(text, DO_FORMS) || is_one_of(text, MODALS)
    }

    /// Returns whether the clause started with an auxiliary or a modal and its subject, without a main verb so far.
    pub(super) fn has_inverted_auxiliary(&self) -> bool {
        for word in self.found.iter().rev() {
            match word.tag {
                Tag::Auxiliary | Tag::Modal => return true,
                // "Did the nails and screws rust?"
                Tag::Conjunction if word.has_text("and") || word.has_text("or") => {}
                Tag::Mark | Tag::Verb | Tag::Conjunction => return false,
                _ => {}
            }
        }
        false
    }

    /// Returns whether a base form follows after adverbs, and is the verb: "does the washing machine still leak?".
    pub(super) fn is_followed_by_base_form(&self, at: usize) -> bool {
        let next = (at + 1..self.tokens.len()).find(|next| !is_one_of(self.text(*next), ADVERBS));
        next.is_some_and(|next| {
            let base =
                lexicon::lemma(self.text(next), PartOfSpeech::Verb).is_some_and(|lemma| lemma == self.text(next));
            self.tokens[next].kind == TokenKind::Word && !self.is_closed(next) && base && self.share(next).verb > 0
        })
    }

    /// Returns whether a past participle follows after adverbs: "was the tin opener last used?".
    fn is_followed_by_participle(&self, at: usize) -> bool {
        let skipped = |text: &str| is_one_of(text, ADVERBS) || matches!(text, "first" | "last" | "next");
        (at + 1..self.tokens.len()).find(|next| !skipped(self.text(*next))).is_some_and(|next| {
            let text = self.text(next);
            let past = lexicon::lemma(text, PartOfSpeech::Verb).is_some_and(|lemma| lemma != text);
            past && !text.ends_with('s') && !text.ends_with("ing") && !self.is_closed(next)
        })
    }

    /// Returns whether a past and the pronoun of its object follow: "my mum baked us a cake". What stands before them is
    /// who did it.
    fn is_followed_by_deed(&self, at: usize) -> bool {
        let text = self.text(at + 1);
        let past = lexicon::lemma(text, PartOfSpeech::Verb).is_some_and(|lemma| lemma != text);
        let past = past && !text.ends_with('s') && !text.ends_with("ing") && !self.is_closed(at + 1);
        past && !self.has_verb && is_one_of(self.text(at + 2), &["us", "me", "him", "them", "you", "it"])
    }

    pub(super) fn is_be_question(&self) -> bool {
        let auxiliary = self.found.iter().rev().find(|word| matches!(word.tag, Tag::Auxiliary | Tag::Modal));
        self.has_inverted_auxiliary() && auxiliary.is_some_and(|word| word.lemma == "be")
    }

    pub(super) fn has_inverted_do(&self) -> bool {
        let auxiliary = self.found.iter().rev().find(|word| matches!(word.tag, Tag::Auxiliary | Tag::Modal));
        auxiliary.is_some_and(|word| is_one_of(&word.text, DO_FORMS) || word.tag == Tag::Modal)
            && !self.is_at_clause_start()
    }
}
