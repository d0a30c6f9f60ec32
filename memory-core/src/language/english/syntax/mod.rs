//! Parses words into phrases and clauses: who does what to what, where and with what.

mod clauses;
mod phrases;

use std::ops::Range;

use self::clauses::build_clauses;
use self::phrases::phrases;
use super::lexicon::{self, PartOfSpeech};
use super::tag::{Tag, Word, tag_words};

/// A noun phrase: a head with its modifiers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NounPhrase {
    /// Byte range in the text, including a phrase attached by "of".
    pub range: Range<usize>,
    /// Lemma of the head noun.
    pub head: String,
    /// Lemmas of adjectives, nouns and names before the head, in order.
    pub modifiers: Vec<String>,
    pub determiner: Option<String>,
    pub owner: Option<Box<NounPhrase>>,
    pub number: Option<f64>,
    pub kind: NounKind,
    pub plural: bool,
    /// "of" what: "a jar of jam".
    pub of: Option<Box<NounPhrase>>,
    /// Coordinated phrases ("a knife and a fork") and appositions ("Mr Tamm the plumber").
    pub also: Vec<NounPhrase>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NounKind {
    Common,
    Name,
    Pronoun,
    Number,
}

impl NounPhrase {
    /// Returns the phrase without what tells its thing from others of the kind.
    pub fn head_alone(&self) -> Self {
        Self { modifiers: Vec::new(), owner: None, of: None, ..self.clone() }
    }

    /// Returns whether the phrase tells its thing from others of the kind.
    pub fn is_specific(&self) -> bool {
        !self.modifiers.is_empty() || self.owner.is_some() || self.of.is_some()
    }

    /// Returns a common noun that is in no text.
    pub fn common_noun(head: &str) -> Self {
        Self {
            range: 0..0,
            head: head.to_owned(),
            modifiers: Vec::new(),
            determiner: None,
            owner: None,
            number: None,
            kind: NounKind::Common,
            plural: false,
            of: None,
            also: Vec::new(),
        }
    }

    /// Returns the lemmas of all its words, its owner and its "of" phrase, without pronouns.
    pub fn lemmas(&self) -> Vec<&str> {
        let mut found = Vec::new();
        self.collect(&mut found);
        found
    }

    fn collect<'a>(&'a self, found: &mut Vec<&'a str>) {
        if let Some(owner) = &self.owner {
            owner.collect(found);
        }
        found.extend(self.modifiers.iter().map(String::as_str));
        if self.kind != NounKind::Pronoun {
            found.push(&self.head);
        }
        if let Some(of) = &self.of {
            of.collect(found);
        }
    }

    pub fn is_pronoun(&self) -> bool {
        self.kind == NounKind::Pronoun
    }

    /// Returns the phrase and those coordinated with it.
    pub fn coordinated(&self) -> impl Iterator<Item = &NounPhrase> {
        std::iter::once(self).chain(&self.also)
    }
}

/// A verb with its auxiliaries.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct VerbGroup {
    pub range: Range<usize>,
    /// Lemma of the main verb; of an auxiliary alone, "be", "have" or "do".
    pub lemma: String,
    pub particle: Option<String>,
    pub negated: bool,
    pub past: bool,
    pub future: bool,
    pub modal: Option<String>,
    pub perfect: bool,
    pub progressive: bool,
    pub passive: bool,
    /// No auxiliary, no subject: a command or a title.
    pub infinitive: bool,
    /// Whether it has no main verb yet.
    pub auxiliary_only: bool,
}

impl VerbGroup {
    /// A verb with its particle, where together they mean something of their own: "turn off".
    pub fn phrasal(&self) -> Option<String> {
        let phrase = format!("{} {}", self.lemma, self.particle.as_deref()?);
        lexicon::parts_of_speech(&phrase).can_be(PartOfSpeech::Verb).then_some(phrase)
    }
}

/// A preposition and what follows it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Adjunct {
    pub preposition: String,
    pub noun: NounPhrase,
    /// With the preposition.
    pub range: Range<usize>,
}

/// The question word of a clause and the noun that it asks for ("which tools").
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Asking {
    pub word: String,
    /// "how many", "how long": the word after "how".
    pub degree: Option<String>,
    pub noun: Option<NounPhrase>,
    /// The preposition before it: "with what".
    pub preposition: Option<String>,
    pub range: Range<usize>,
}

/// A clause.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Clause {
    pub range: Range<usize>,
    /// The conjunction or relative word that begins it.
    pub link: Option<String>,
    pub subject: Option<NounPhrase>,
    /// Whether the subject was taken over from the clause before.
    pub inherited: bool,
    pub verb: Option<VerbGroup>,
    pub objects: Vec<NounPhrase>,
    pub adjuncts: Vec<Adjunct>,
    /// Adjectives and adverbs that stand by themselves, by their base forms, with where they stand.
    pub complements: Vec<(String, Range<usize>)>,
    pub asking: Option<Asking>,
    /// Whether an auxiliary stands before the subject.
    pub inverted: bool,
}

impl Clause {
    /// Returns whether "back" stands with the verb: "brings it back", "is it back?".
    pub fn has_back(&self) -> bool {
        self.verb.as_ref().is_some_and(|verb| verb.particle.as_deref() == Some("back"))
            || self.complements.iter().any(|(word, _)| word == "back")
    }

    /// Returns whether something turns up: "has shown up again", "reappeared". `text` is what was parsed.
    pub fn turns_up(&self, text: &str) -> bool {
        let verb = self.verb.as_ref().filter(|verb| !verb.negated && verb.modal.is_none() && !verb.future);
        verb.is_some_and(|verb| match verb.lemma.as_str() {
            // In "turned up a day early" the particle seems to belong to the day.
            "turn" | "show" | "pop" => {
                let behind = text.get(verb.range.end..).unwrap_or_default().trim_start();
                verb.particle.as_deref() == Some("up")
                    || behind.split(|c: char| !c.is_alphabetic()).next() == Some("up")
            }
            "reappear" | "resurface" => true,
            _ => false,
        })
    }

    /// Returns all noun phrases, with those inside of others: owners, and what something is of.
    pub fn nouns(&self) -> impl Iterator<Item = &NounPhrase> {
        let adjuncts = self.adjuncts.iter().map(|adjunct| &adjunct.noun);
        let all = self.subject.iter().chain(&self.objects).chain(adjuncts).flat_map(NounPhrase::coordinated);
        all.flat_map(|noun| std::iter::once(noun).chain(noun.owner.as_deref()).chain(noun.of.as_deref()))
    }
}

/// A sentence.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Sentence {
    pub range: Range<usize>,
    pub clauses: Vec<Clause>,
    /// Whether it ends in a question mark.
    pub asks: bool,
}

/// Parses a text into its words and sentences. Skips words inside `times`.
pub(crate) fn parse(text: &str, times: &[Range<usize>]) -> (Vec<Word>, Vec<Sentence>) {
    parse_with(text, times, &[])
}

/// As [`parse`], with known names in lower case: "Rose" is no flower if a person has that name.
pub(crate) fn parse_with(text: &str, times: &[Range<usize>], names: &[String]) -> (Vec<Word>, Vec<Sentence>) {
    let words = tag_words(text, times, names);
    let mut sentences = Vec::new();
    let mut from = 0;
    for at in 0..=words.len() {
        let ends = at == words.len()
            || words[at].tag == Tag::Mark && matches!(words[at].text.as_str(), "." | "!" | "?" | ";" | "…");
        if ends {
            if at > from {
                let asks = words.get(at).is_some_and(|word| word.has_text("?"));
                sentences.push(sentence(&words[from..at], asks));
            }
            from = at + 1;
        }
    }
    (words, sentences)
}

fn sentence(words: &[Word], asks: bool) -> Sentence {
    let range = words[0].range.start..words[words.len() - 1].range.end;
    let phrases = phrases(words);
    Sentence { range, clauses: build_clauses(phrases), asks }
}
