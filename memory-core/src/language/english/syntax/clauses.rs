//! Builds clauses from phrases.

use std::ops::Range;

use super::phrases::SyntaxPhrase;
use super::{Adjunct, Clause, NounKind, NounPhrase, VerbGroup};
use crate::language::english::closed::{INDEFINITE_PRONOUNS, PARTICLES, PLACE_PREPOSITIONS, is_one_of};
use crate::language::english::gender::gender;
use crate::language::english::lexicon::{self, Category, PartOfSpeech};

/// Returns whether a verb follows whose subject a noun here would be.
fn is_followed_by_verb(noun: &NounPhrase, rest: &[SyntaxPhrase]) -> bool {
    // "Ben sings and we clap": the base form is finite.
    let plain = matches!(noun.head.as_str(), "i" | "we" | "they");
    // "…, and the girl with the red hair carries it": what describes a person may stand between.
    let described = matches!(rest.first(), Some(SyntaxPhrase::Adjunct(adjunct))
        if is_one_of(&adjunct.preposition, &["with", "in"]) && gender(&noun.head).is_some());
    for phrase in &rest[usize::from(described)..] {
        match phrase {
            SyntaxPhrase::Verb(verb) if described => return !verb.infinitive && !verb.progressive,
            SyntaxPhrase::Verb(verb) => return !verb.infinitive || verb.modal.is_some() || plain,
            SyntaxPhrase::Complement(..) => {}
            _ => return false,
        }
    }
    false
}

/// Returns the clause that places a second thing with the verb of the clause before: the place follows the thing, and
/// nothing follows the place. Without an object, the subject was placed; otherwise the object. Both things are definite,
/// or neither is: in "she went to Vik, a village in the north" the village is no second thing.
fn continued_placement(clause: &Clause, noun: &NounPhrase, rest: &[SyntaxPhrase]) -> Option<Clause> {
    let is_placed = |adjunct: &Adjunct| is_one_of(&adjunct.preposition, PLACE_PREPOSITIONS);
    let verb = clause.verb.as_ref().filter(|_| clause.adjuncts.last().is_some_and(is_placed))?;
    let subject = clause.subject.clone()?;
    let (SyntaxPhrase::Adjunct(place), behind) = rest.split_first()? else { return None };
    let ends = matches!(behind.first(), None | Some(SyntaxPhrase::Comma | SyntaxPhrase::Link(_)));
    let is_like = is_thing(noun) && definiteness(noun) == definiteness(clause.objects.last().unwrap_or(&subject));
    if !is_like || !is_placed(place) || !ends {
        return None;
    }
    let range = noun.range.clone();
    let next = Clause { verb: Some(verb.clone()), range, ..Clause::default() };
    Some(match clause.objects.is_empty() {
        true => Clause { subject: Some(noun.clone()), ..next },
        false => Clause { subject: Some(subject), inherited: true, objects: vec![noun.clone()], ..next },
    })
}

/// Returns whether a noun phrase names a thing by itself, and not as "the one behind the door" does.
fn is_thing(noun: &NounPhrase) -> bool {
    noun.kind != NounKind::Pronoun && noun.head != "one" && (noun.determiner.is_some() || noun.owner.is_some())
}

/// Returns whether a noun phrase is about a certain thing. `None` if it is a pronoun.
fn definiteness(noun: &NounPhrase) -> Option<bool> {
    let indefinite = noun.owner.is_none() && matches!(noun.determiner.as_deref(), Some("a" | "an" | "some"));
    (noun.kind != NounKind::Pronoun).then_some(!indefinite)
}

/// Builds clauses from phrases.
pub(super) fn build_clauses(phrases: Vec<SyntaxPhrase>) -> Vec<Clause> {
    let mut clauses = ClauseBuilder::default();
    for (place, phrase) in phrases.iter().enumerate() {
        clauses.add(phrase, &phrases[place + 1..]);
    }
    clauses.end()
}

/// Clauses, and the one that is being built.
#[derive(Default)]
struct ClauseBuilder {
    done: Vec<Clause>,
    current: Clause,
    /// The conjunction or relative word before the next phrase.
    link: Option<String>,
    /// Whether a comma stands before the next phrase.
    comma: bool,
}

impl ClauseBuilder {
    /// Adds a phrase. `rest` are the phrases behind it.
    fn add(&mut self, phrase: &SyntaxPhrase, rest: &[SyntaxPhrase]) {
        match phrase {
            SyntaxPhrase::Comma => {
                self.comma = true;
                return;
            }
            SyntaxPhrase::Link(word) => {
                self.link = Some(word.clone());
                return;
            }
            SyntaxPhrase::Asking(asking) => {
                if !is_empty(&self.current) {
                    self.end_clause();
                }
                self.current.link = self.link.take();
                self.current.asking = Some(asking.clone());
            }
            SyntaxPhrase::Noun(noun) => {
                if self.completes_subject(noun) || self.continues_placement(noun, rest) {
                    return;
                }
                self.add_noun(noun, rest);
            }
            SyntaxPhrase::Adjunct(adjunct) => self.add_adjunct(adjunct, rest),
            SyntaxPhrase::Complement(word, range) => self.current.complements.push((word.clone(), range.clone())),
            SyntaxPhrase::Verb(verb) => self.add_verb(verb),
        }
        if let Some(range) = phrase_range(phrase) {
            let own = &self.current.range;
            self.current.range =
                if own.is_empty() { range } else { own.start.min(range.start)..own.end.max(range.end) };
        }
        self.comma = false;
    }

    fn end(mut self) -> Vec<Clause> {
        if !is_empty(&self.current) {
            self.end_clause();
        }
        self.done.iter_mut().for_each(take_particle);
        self.done
    }

    fn end_clause(&mut self) {
        self.done.push(std::mem::take(&mut self.current));
    }

    /// "What did the nails and hinges cost?": adds a noun to a subject that is not yet whole. Returns whether it did.
    fn completes_subject(&mut self, noun: &NounPhrase) -> bool {
        let current = &mut self.current;
        let unfinished = current.inverted
            && current.objects.is_empty()
            && current.adjuncts.is_empty()
            && current.complements.is_empty()
            && current.verb.as_ref().is_some_and(|verb| verb.auxiliary_only)
            && matches!(self.link.as_deref(), Some("and" | "or"));
        let Some(subject) = current.subject.as_mut().filter(|_| unfinished) else { return false };
        subject.also.push(noun.clone());
        current.range.end = noun.range.end;
        self.link = None;
        true
    }

    /// "The rake is in the shed, the hose under the stairs": begins a clause with the verb of the one before. Returns
    /// whether it did.
    fn continues_placement(&mut self, noun: &NounPhrase, rest: &[SyntaxPhrase]) -> bool {
        let joined = self.comma || self.link.is_some();
        let Some(next) = joined.then(|| continued_placement(&self.current, noun, rest)).flatten() else {
            return false;
        };
        self.done.push(std::mem::replace(&mut self.current, next));
        self.current.link = self.link.take();
        self.comma = false;
        true
    }

    fn add_noun(&mut self, noun: &NounPhrase, rest: &[SyntaxPhrase]) {
        // "38.5, the fever is back": the number says something by itself.
        let apart = self.comma
            && self.current.verb.is_none()
            && noun.kind != NounKind::Number
            && self.current.subject.as_ref().is_some_and(|subject| subject.kind == NounKind::Number)
            && is_followed_by_verb(noun, rest);
        // "Ben takes the first bus, Mia the second": the verb is the same.
        let gapped = (self.comma || self.link.is_some())
            && noun.kind == NounKind::Name
            && self.current.subject.as_ref().is_some_and(|subject| subject.kind == NounKind::Name)
            && !self.current.objects.is_empty()
            && matches!(rest.first(), Some(SyntaxPhrase::Noun(object))
                if object.determiner.is_some() || object.kind == NounKind::Number)
            && !is_followed_by_verb(noun, rest);
        if apart {
            self.end_clause();
        }
        // "We're late, could you hurry?": the subject of the question is its own.
        let asks_anew =
            self.current.inherited && noun.is_pronoun() && matches!(rest.first(), Some(SyntaxPhrase::Verb(_)));
        let waits = self.current.verb.as_ref().is_some_and(|verb| verb.auxiliary_only)
            && (self.current.subject.is_none() || asks_anew);
        let subordinate = self.link.as_deref().is_some_and(|word| !matches!(word, "and" | "or" | "but" | "nor"));
        if let Some(verb) = self.current.verb.clone().filter(|_| gapped) {
            self.end_clause();
            self.current.link = self.link.take();
            self.current.subject = Some(noun.clone());
            self.current.verb = Some(verb);
        } else if (self.current.verb.is_some() && !waits && is_followed_by_verb(noun, rest))
            || subordinate && !is_empty(&self.current)
        {
            self.end_clause();
            self.current.link = self.link.take();
            self.current.subject = Some(noun.clone());
        } else if self.comma && self.link.is_none() && self.current.verb.is_none() && means_speaker(noun) {
            // "Oh no, I dropped it", "Anna, we need help": what stands before is called out.
            self.current.subject = Some(noun.clone());
        } else if (self.link.is_some() || self.comma) && coordinate(&mut self.current, noun) {
            self.link = None;
        } else if waits {
            self.current.subject = Some(noun.clone());
            self.current.inherited = false;
            self.current.inverted = true;
        } else if self.current.subject.is_none() && self.current.verb.is_none() {
            self.current.link = self.current.link.take().or(self.link.take());
            self.current.subject = Some(noun.clone());
        } else if self.current.verb.is_none() {
            // "The bulb I could not replace": what is done to something may come first.
            let acts = matches!(noun.head.as_str(), "i" | "we" | "he" | "she" | "they");
            if noun.kind == NounKind::Pronoun && acts && self.current.subject.is_some() {
                self.current.objects.extend(self.current.subject.replace(noun.clone()));
            } else if let Some(subject) = &mut self.current.subject {
                subject.also.push(noun.clone());
            }
        } else {
            self.current.objects.push(noun.clone());
        }
    }

    fn add_adjunct(&mut self, adjunct: &Adjunct, rest: &[SyntaxPhrase]) {
        let subordinate = self.link.as_deref().is_some_and(|word| !matches!(word, "and" | "or" | "but" | "nor"));
        // "…, but in the yard it is fine": what stands before a subject belongs to it.
        let before_subject = (self.link.is_some() || self.comma)
            && matches!(rest.first(), Some(SyntaxPhrase::Noun(noun)) if is_followed_by_verb(noun, &rest[1..]));
        let subordinate = subordinate && rest.iter().any(|phrase| matches!(phrase, SyntaxPhrase::Verb(_)));
        if (subordinate || before_subject) && self.current.verb.is_some() {
            self.end_clause();
            self.current.link = self.link.take();
        }
        self.current.adjuncts.push(adjunct.clone());
    }

    fn add_verb(&mut self, verb: &VerbGroup) {
        if self.is_called(verb) {
            self.current = Clause::default();
        }
        let inverted = self.current.inverted;
        // "It has a flat wheel, don't use it": what has an object is complete.
        let complete = self.comma && !self.current.objects.is_empty() && !inverted;
        match &mut self.current.verb {
            None => self.current.verb = Some(verb.clone()),
            Some(own) if own.auxiliary_only && !verb.auxiliary_only && !complete && !starts_new_verb(own, verb) => {
                merge_verbs(own, verb)
            }
            Some(own) if own.auxiliary_only && verb.auxiliary_only && inverted => merge_verbs(own, verb),
            Some(_) => {
                let subject = self.current.subject.clone();
                let subject = subject.or_else(|| self.done.last().and_then(|last| last.subject.clone()));
                let asked = self.current.asking.is_some();
                self.end_clause();
                self.current.link = self.link.take().or_else(|| verb.infinitive.then(|| "to".into()));
                self.current.subject = subject.filter(|_| !asked);
                self.current.inherited = true;
                self.current.verb = Some(verb.clone());
            }
        }
        let current = &mut self.current;
        if current.subject.is_none() && current.asking.is_none() && current.link.is_none() && self.link.is_some() {
            current.link = self.link.take();
            current.subject = self.done.last().and_then(|last| last.subject.clone());
            current.inherited = true;
        }
    }

    /// "Nora, open the door": whom the speaker calls does nothing.
    fn is_called(&self, verb: &VerbGroup) -> bool {
        let is_bare = |noun: &NounPhrase| noun.determiner.is_none() && noun.owner.is_none() && noun.also.is_empty();
        self.comma
            && self.link.is_none()
            && is_command(verb)
            && self.current.verb.is_none()
            && self.current.asking.is_none()
            && self.current.adjuncts.is_empty()
            && self.current.subject.as_ref().is_some_and(is_bare)
    }
}

/// Attaches a particle to its verb, wherever it stands: "she switched the lamp off".
fn take_particle(clause: &mut Clause) {
    let Some(verb) = clause.verb.as_mut().filter(|verb| !verb.auxiliary_only && verb.particle.is_none()) else {
        return;
    };
    for (word, _) in clause.complements.iter().filter(|(word, _)| is_one_of(word, PARTICLES)) {
        verb.particle = Some(word.clone());
        if verb.phrasal().is_some() {
            return;
        }
        verb.particle = None;
    }
}

/// Returns whether a verb is in the imperative: in its base form, alone.
fn is_command(verb: &VerbGroup) -> bool {
    verb.infinitive && !verb.auxiliary_only && verb.modal.is_none() && !verb.past && !verb.progressive
}

/// Returns whether a verb cannot belong to the auxiliary before it: "is to come" can, "has, standing" cannot.
fn starts_new_verb(own: &VerbGroup, verb: &VerbGroup) -> bool {
    own.lemma == "do" && verb.progressive
}

fn merge_verbs(own: &mut VerbGroup, verb: &VerbGroup) {
    let auxiliary = own.lemma.clone();
    own.auxiliary_only = verb.auxiliary_only;
    own.negated |= verb.negated;
    own.particle = verb.particle.clone();
    own.perfect |= auxiliary == "have" || verb.perfect;
    own.progressive |= verb.progressive;
    own.passive |= verb.passive || auxiliary == "be" && !verb.progressive && verb.past;
    // "Has she come?" has no "to", as "have you to go?" has.
    let participle = verb.range.len() == verb.lemma.len();
    if verb.infinitive && auxiliary == "have" && !participle {
        own.modal.get_or_insert_with(|| "must".into());
        own.perfect = false;
    }
    own.modal = own.modal.take().or_else(|| verb.modal.clone());
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

/// Returns whether a noun means no living thing.
fn is_kind_of_thing(head: &str) -> bool {
    let category = lexicon::category(head, PartOfSpeech::Noun);
    gender(head).is_none() && !matches!(category, None | Some(Category::Person | Category::Animal))
}

/// Adds a noun to the coordination that it continues, if any.
fn coordinate(clause: &mut Clause, noun: &NounPhrase) -> bool {
    if is_one_of(&noun.head, INDEFINITE_PRONOUNS) && noun.kind == NounKind::Pronoun {
        return false;
    }
    // "A man with a beard and a straw hat waits": what describes a person goes on, unless it is another one.
    let person = clause.subject.as_ref().is_some_and(|subject| gender(&subject.head).is_some());
    let describes = clause.verb.is_none() && person && is_kind_of_thing(&noun.head);
    let worn = |adjunct: &&mut Adjunct| is_one_of(&adjunct.preposition, &["with", "in"]);
    if let Some(adjunct) = clause.adjuncts.last_mut().filter(|_| describes).filter(worn) {
        adjunct.noun.also.push(noun.clone());
        return true;
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

fn phrase_range(phrase: &SyntaxPhrase) -> Option<Range<usize>> {
    match phrase {
        SyntaxPhrase::Noun(noun) => Some(noun.range.clone()),
        SyntaxPhrase::Verb(verb) => Some(verb.range.clone()),
        SyntaxPhrase::Adjunct(adjunct) => Some(adjunct.range.clone()),
        SyntaxPhrase::Complement(_, range) => Some(range.clone()),
        SyntaxPhrase::Asking(asking) => Some(asking.range.clone()),
        SyntaxPhrase::Link(_) | SyntaxPhrase::Comma => None,
    }
}

/// Returns whether a pronoun means who speaks, alone or with others.
fn means_speaker(noun: &NounPhrase) -> bool {
    noun.kind == NounKind::Pronoun && matches!(noun.head.as_str(), "i" | "we")
}
