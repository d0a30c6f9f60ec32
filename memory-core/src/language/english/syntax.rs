//! Words to phrases and clauses: who does what to what, where and with what.

use std::ops::Range;

use super::closed::{INDEFINITE, PARTICLES, is_one_of, number_word};
use super::tag::{Tag, Word, words};

/// How many phrases may stand inside one another; a text of "a of a of a …" must not use up the stack.
const DEEPEST_PHRASE: usize = 6;

/// A noun phrase: a head with what belongs to it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NounPhrase {
    /// Where it stands in the text, in bytes, what hangs on it by "of" included.
    pub range: Range<usize>,
    /// Base form of the head noun.
    pub head: String,
    /// Base forms of adjectives, nouns and names before the head, in order.
    pub modifiers: Vec<String>,
    pub determiner: Option<String>,
    pub owner: Option<Box<NounPhrase>>,
    pub number: Option<f64>,
    pub kind: NounKind,
    pub plural: bool,
    /// "of" what: "a jar of jam".
    pub of: Option<Box<NounPhrase>>,
    /// What is coordinated with it ("a knife and a fork") or stands beside it ("Mr Tamm the plumber").
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
    /// Base forms of all its words, its owner and what hangs on it, without pronouns.
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

    /// The phrase and what is coordinated with it.
    pub fn all(&self) -> impl Iterator<Item = &NounPhrase> {
        std::iter::once(self).chain(&self.also)
    }
}

/// A verb with its auxiliaries.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct VerbGroup {
    pub range: Range<usize>,
    /// Base form of the main verb; of an auxiliary alone, "be", "have" or "do".
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
    /// Whether there is no main verb yet.
    pub auxiliary_only: bool,
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

/// A sentence.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Sentence {
    pub range: Range<usize>,
    pub clauses: Vec<Clause>,
    /// Whether it ends in a question mark.
    pub asks: bool,
}

/// The words of a text and its sentences; words inside `times` are passed over.
pub(crate) fn parse(text: &str, times: &[Range<usize>]) -> (Vec<Word>, Vec<Sentence>) {
    let words = words(text, times);
    let mut sentences = Vec::new();
    let mut from = 0;
    for at in 0..=words.len() {
        let ends = at == words.len()
            || words[at].tag == Tag::Mark && matches!(words[at].text.as_str(), "." | "!" | "?" | ";" | "…");
        if ends {
            if at > from {
                let asks = words.get(at).is_some_and(|word| word.is("?"));
                sentences.push(sentence(&words[from..at], asks));
            }
            from = at + 1;
        }
    }
    (words, sentences)
}

#[derive(Debug, Clone)]
enum Phrase {
    Noun(NounPhrase),
    Verb(VerbGroup),
    Adjunct(Adjunct),
    Complement(String, Range<usize>),
    Asking(Asking),
    Link(String),
    Comma,
}

fn sentence(words: &[Word], asks: bool) -> Sentence {
    let range = words[0].range.start..words[words.len() - 1].range.end;
    let phrases = Chunker { words, at: 0 }.phrases();
    Sentence { range, clauses: clauses(phrases), asks }
}

struct Chunker<'a> {
    words: &'a [Word],
    at: usize,
}

impl Chunker<'_> {
    fn tag(&self, at: usize) -> Option<Tag> {
        self.words.get(at).map(|word| word.tag)
    }

    fn phrases(mut self) -> Vec<Phrase> {
        let mut found = Vec::new();
        while let Some(word) = self.words.get(self.at) {
            match word.tag {
                Tag::Time => self.at += 1,
                Tag::Mark => {
                    if matches!(word.text.as_str(), "," | ":" | "(" | ")" | "-" | "–" | "—" | "\"" | "“" | "”")
                    {
                        found.push(Phrase::Comma);
                    }
                    self.at += 1;
                }
                Tag::Conjunction => {
                    found.push(Phrase::Link(word.text.clone()));
                    self.at += 1;
                }
                Tag::Wh => found.push(Phrase::Asking(self.asking(None))),
                Tag::Preposition => self.preposition(&mut found),
                Tag::Auxiliary | Tag::Modal | Tag::Verb | Tag::To | Tag::Not => found.push(Phrase::Verb(self.verb())),
                Tag::Adverb => {
                    found.push(Phrase::Complement(word.lemma.clone(), word.range.clone()));
                    self.at += 1;
                }
                _ => match self.noun() {
                    Some(noun) => found.push(Phrase::Noun(noun)),
                    None => {
                        let word = &self.words[self.at];
                        found.push(Phrase::Complement(word.lemma.clone(), word.range.clone()));
                        self.at += 1;
                    }
                },
            }
        }
        found
    }

    fn preposition(&mut self, found: &mut Vec<Phrase>) {
        let start = self.at;
        let mut text = self.words[start].text.clone();
        let mut next = start + 1;
        // "on top of", "in front of", "out of", "up to", "next to".
        let word = |at: usize| self.words.get(at).map_or("", |word| word.text.as_str());
        let known = match (text.as_str(), word(next), word(next + 1)) {
            ("on", "top", "of") | ("in", "front", "of") | ("in", "between", _) => Some(3),
            _ => None,
        };
        if let Some(count) = known {
            let count = if word(next) == "between" { 2 } else { count };
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
            found.push(Phrase::Asking(self.asking(Some(text))));
            return;
        }
        if let Some(noun) = self.noun() {
            let range = self.words[start].range.start..noun.range.end;
            found.push(Phrase::Adjunct(Adjunct { preposition: text, noun, range }));
        } else {
            found.push(Phrase::Complement(text, self.words[start].range.clone()));
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
        while let Some(word) = self.words.get(self.at) {
            match word.tag {
                Tag::Not => group.negated = true,
                Tag::To => group.infinitive = true,
                Tag::Modal => {
                    bare = false;
                    group.future |= matches!(word.text.as_str(), "will" | "shall");
                    group.modal = Some(word.text.clone());
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
                Tag::Verb => {
                    group.auxiliary_only = false;
                    group.lemma = word.lemma.clone();
                    match last_auxiliary {
                        Some("be") if word.is_gerund() => group.progressive = true,
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

    fn particle(&mut self, group: &mut VerbGroup) {
        if let Some(next) = self.words.get(self.at)
            && next.tag == Tag::Adverb
            && is_one_of(&next.text, PARTICLES)
        {
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
        if depth > 0 && self.words.get(self.at).is_some_and(|word| word.tag == Tag::Preposition && word.is("of")) {
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
        while self.words.get(at).is_some_and(Word::is_nominal) {
            at += 1;
        }
        if at == first {
            let word = self.words.get(at)?;
            if word.tag == Tag::Pronoun && first == start {
                self.at = at + 1;
                return Some(pronoun(word));
            }
            // "both", "all three", "some": a determiner alone stands for what was named.
            if first > start && self.words[start].tag == Tag::Determiner {
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
        // A number behind its noun is a name's part: "plate 2", "pallet nine".
        let mut end = word.range.end;
        let mut modifiers: Vec<String> = Vec::new();
        let mut number = None;
        for part in &self.words[first..head] {
            match part.tag {
                Tag::Number => number = value(&part.text),
                _ => modifiers.push(part.lemma.clone()),
            }
        }
        if word.tag != Tag::Number
            && let Some(next) = self.words.get(self.at)
            && next.tag == Tag::Number
            && next.text.chars().all(|c| c.is_ascii_digit())
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

/// Whether a verb follows that a noun standing here would be the subject of.
fn verb_follows(rest: &[Phrase]) -> bool {
    for phrase in rest {
        match phrase {
            Phrase::Verb(verb) => return !verb.infinitive || verb.modal.is_some(),
            Phrase::Complement(..) => {}
            _ => return false,
        }
    }
    false
}

/// Puts phrases together to clauses.
fn clauses(phrases: Vec<Phrase>) -> Vec<Clause> {
    let mut done: Vec<Clause> = Vec::new();
    let mut current = Clause::default();
    let mut link: Option<String> = None;
    let mut comma = false;
    for (place, phrase) in phrases.iter().enumerate() {
        let rest = &phrases[place + 1..];
        let range = phrase_range(phrase);
        match phrase {
            Phrase::Comma => {
                comma = true;
                continue;
            }
            Phrase::Link(word) => {
                link = Some(word.clone());
                continue;
            }
            Phrase::Asking(asking) => {
                if !is_empty(&current) {
                    done.push(std::mem::take(&mut current));
                }
                current.link = link.take();
                current.asking = Some(asking.clone());
            }
            Phrase::Noun(noun) => {
                let waits = current.verb.as_ref().is_some_and(|verb| verb.auxiliary_only) && current.subject.is_none();
                let subordinate = link.as_deref().is_some_and(|word| !matches!(word, "and" | "or" | "but" | "nor"));
                if (current.verb.is_some() && !waits && verb_follows(rest)) || subordinate && !is_empty(&current) {
                    done.push(std::mem::take(&mut current));
                    current.link = link.take();
                    current.subject = Some(noun.clone());
                } else if (link.is_some() || comma) && coordinate(&mut current, noun) {
                    link = None;
                } else if waits {
                    current.subject = Some(noun.clone());
                    current.inverted = true;
                } else if current.subject.is_none() && current.verb.is_none() {
                    current.link = current.link.take().or(link.take());
                    current.subject = Some(noun.clone());
                } else if current.verb.is_none() {
                    if let Some(subject) = &mut current.subject {
                        subject.also.push(noun.clone());
                    }
                } else {
                    current.objects.push(noun.clone());
                }
            }
            Phrase::Adjunct(adjunct) => {
                let subordinate = link.as_deref().is_some_and(|word| !matches!(word, "and" | "or" | "but" | "nor"));
                if subordinate && current.verb.is_some() && rest.iter().any(|phrase| matches!(phrase, Phrase::Verb(_)))
                {
                    done.push(std::mem::take(&mut current));
                    current.link = link.take();
                }
                current.adjuncts.push(adjunct.clone());
            }
            Phrase::Complement(word, range) => current.complements.push((word.clone(), range.clone())),
            Phrase::Verb(verb) => {
                match &mut current.verb {
                    None => current.verb = Some(verb.clone()),
                    Some(own) if own.auxiliary_only && !verb.auxiliary_only && !verb_breaks(own, verb) => {
                        merge(own, verb)
                    }
                    Some(own) if own.auxiliary_only && verb.auxiliary_only && current.inverted => merge(own, verb),
                    Some(_) => {
                        let subject =
                            current.subject.clone().or_else(|| done.last().and_then(|last| last.subject.clone()));
                        let asked = current.asking.is_some();
                        done.push(std::mem::take(&mut current));
                        current.link = link.take().or_else(|| verb.infinitive.then(|| "to".into()));
                        current.subject = subject.filter(|_| !asked);
                        current.inherited = true;
                        current.verb = Some(verb.clone());
                    }
                }
                if current.subject.is_none() && current.asking.is_none() && current.link.is_none() && link.is_some() {
                    current.link = link.take();
                    current.subject = done.last().and_then(|last| last.subject.clone());
                    current.inherited = true;
                }
            }
        }
        if let Some(range) = range {
            if current.range.is_empty() {
                current.range = range;
            } else {
                current.range = current.range.start.min(range.start)..current.range.end.max(range.end);
            }
        }
        comma = false;
    }
    if !is_empty(&current) {
        done.push(current);
    }
    done
}

/// Whether a verb cannot belong to the auxiliary before it: "is to come" can, "has, standing" can not.
fn verb_breaks(own: &VerbGroup, verb: &VerbGroup) -> bool {
    own.lemma == "do" && verb.progressive
}

fn merge(own: &mut VerbGroup, verb: &VerbGroup) {
    let auxiliary = own.lemma.clone();
    own.auxiliary_only = verb.auxiliary_only;
    own.negated |= verb.negated;
    own.particle = verb.particle.clone();
    own.perfect |= auxiliary == "have" || verb.perfect;
    own.progressive |= verb.progressive;
    own.passive |= verb.passive || auxiliary == "be" && !verb.progressive && verb.past;
    if verb.infinitive && auxiliary == "have" {
        own.modal.get_or_insert_with(|| "must".into());
        own.perfect = false;
    }
    own.lemma.clone_from(&verb.lemma);
}

fn is_empty(clause: &Clause) -> bool {
    clause.subject.is_none()
        && clause.verb.is_none()
        && clause.objects.is_empty()
        && clause.adjuncts.is_empty()
        && clause.complements.is_empty()
        && clause.asking.is_none()
}

/// Adds a noun to the list that it goes on, if it goes on one.
fn coordinate(clause: &mut Clause, noun: &NounPhrase) -> bool {
    if is_one_of(&noun.head, INDEFINITE) && noun.kind == NounKind::Pronoun {
        return false;
    }
    let last = clause.objects.last_mut();
    let adjunct = clause.adjuncts.last_mut().map(|adjunct| &mut adjunct.noun);
    let target = match (last, adjunct) {
        (Some(object), Some(adjunct)) => Some(if object.range.start > adjunct.range.start { object } else { adjunct }),
        (Some(object), None) => Some(object),
        (None, Some(adjunct)) if clause.verb.is_some() || clause.subject.is_none() => Some(adjunct),
        _ if clause.verb.is_none() => clause.subject.as_mut(),
        _ => None,
    };
    match target {
        Some(target) => {
            target.also.push(noun.clone());
            true
        }
        None => false,
    }
}

fn phrase_range(phrase: &Phrase) -> Option<Range<usize>> {
    match phrase {
        Phrase::Noun(noun) => Some(noun.range.clone()),
        Phrase::Verb(verb) => Some(verb.range.clone()),
        Phrase::Adjunct(adjunct) => Some(adjunct.range.clone()),
        Phrase::Complement(_, range) => Some(range.clone()),
        Phrase::Asking(asking) => Some(asking.range.clone()),
        Phrase::Link(_) | Phrase::Comma => None,
    }
}
