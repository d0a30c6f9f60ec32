//! Builds clauses from phrases.

use std::ops::Range;

use super::phrases::SyntaxPhrase;
use super::{Adjunct, Clause, NounKind, NounPhrase, VerbGroup};
use crate::language::english::closed::{INDEFINITE_PRONOUNS, PARTICLES, PLACE_PREPOSITIONS, is_one_of};

/// Returns whether a verb follows whose subject a noun here would be.
fn is_followed_by_verb(noun: &NounPhrase, rest: &[SyntaxPhrase]) -> bool {
    // "Ben sings and we clap": the base form is finite.
    let plain = matches!(noun.head.as_str(), "i" | "we" | "they");
    for phrase in rest {
        match phrase {
            SyntaxPhrase::Verb(verb) => return !verb.infinitive || verb.modal.is_some() || plain,
            SyntaxPhrase::Complement(..) => {}
            _ => return false,
        }
    }
    false
}

/// Returns the clause that places a second thing with the verb of the clause before: the place follows the thing, and
/// nothing follows the place. Without an object, the subject was placed; otherwise the object.
fn continued_placement(clause: &Clause, noun: &NounPhrase, rest: &[SyntaxPhrase]) -> Option<Clause> {
    let is_placed = |adjunct: &Adjunct| is_one_of(&adjunct.preposition, PLACE_PREPOSITIONS);
    let verb = clause.verb.as_ref().filter(|_| clause.adjuncts.last().is_some_and(is_placed))?;
    let is_thing =
        noun.kind != NounKind::Pronoun && noun.head != "one" && (noun.determiner.is_some() || noun.owner.is_some());
    let (SyntaxPhrase::Adjunct(place), behind) = rest.split_first()? else { return None };
    let ends = matches!(behind.first(), None | Some(SyntaxPhrase::Comma | SyntaxPhrase::Link(_)));
    if !is_thing || !is_placed(place) || !ends {
        return None;
    }
    let subject = clause.subject.clone()?;
    let range = noun.range.clone();
    let next = Clause { verb: Some(verb.clone()), range, ..Clause::default() };
    Some(match clause.objects.is_empty() {
        true => Clause { subject: Some(noun.clone()), ..next },
        false => Clause { subject: Some(subject), inherited: true, objects: vec![noun.clone()], ..next },
    })
}

/// Builds clauses from phrases.
pub(super) fn build_clauses(phrases: Vec<SyntaxPhrase>) -> Vec<Clause> {
    let mut done: Vec<Clause> = Vec::new();
    let mut current = Clause::default();
    let mut link: Option<String> = None;
    let mut comma = false;
    for (place, phrase) in phrases.iter().enumerate() {
        let rest = &phrases[place + 1..];
        let range = phrase_range(phrase);
        match phrase {
            SyntaxPhrase::Comma => {
                comma = true;
                continue;
            }
            SyntaxPhrase::Link(word) => {
                link = Some(word.clone());
                continue;
            }
            SyntaxPhrase::Asking(asking) => {
                if !is_empty(&current) {
                    done.push(std::mem::take(&mut current));
                }
                current.link = link.take();
                current.asking = Some(asking.clone());
            }
            SyntaxPhrase::Noun(noun) => {
                let waits = current.verb.as_ref().is_some_and(|verb| verb.auxiliary_only) && current.subject.is_none();
                let subordinate = link.as_deref().is_some_and(|word| !matches!(word, "and" | "or" | "but" | "nor"));
                // "What did the nails and hinges cost?": a subject that is not yet whole.
                let unfinished = current.inverted
                    && current.objects.is_empty()
                    && current.adjuncts.is_empty()
                    && current.complements.is_empty()
                    && current.verb.as_ref().is_some_and(|verb| verb.auxiliary_only)
                    && matches!(link.as_deref(), Some("and" | "or"));
                if let Some(subject) = current.subject.as_mut().filter(|_| unfinished) {
                    subject.also.push(noun.clone());
                    link = None;
                    current.range.end = noun.range.end;
                    continue;
                }
                // "Ben takes the first bus, Mia the second": the verb is the same.
                let gapped = (comma || link.is_some())
                    && noun.kind == NounKind::Name
                    && current.subject.as_ref().is_some_and(|subject| subject.kind == NounKind::Name)
                    && !current.objects.is_empty()
                    && matches!(rest.first(), Some(SyntaxPhrase::Noun(object))
                        if object.determiner.is_some() || object.kind == NounKind::Number);
                // "The rake is in the shed, the hose under the stairs": the verb is the same.
                if let Some(next) =
                    (comma || link.is_some()).then(|| continued_placement(&current, noun, rest)).flatten()
                {
                    done.push(std::mem::replace(&mut current, next));
                    current.link = link.take();
                    comma = false;
                    continue;
                }
                // "38.5, the fever is back": the number says something by itself.
                let apart = comma
                    && current.verb.is_none()
                    && noun.kind != NounKind::Number
                    && current.subject.as_ref().is_some_and(|subject| subject.kind == NounKind::Number)
                    && is_followed_by_verb(noun, rest);
                if apart {
                    done.push(std::mem::take(&mut current));
                }
                if let Some(verb) = current.verb.clone().filter(|_| gapped && !is_followed_by_verb(noun, rest)) {
                    done.push(std::mem::take(&mut current));
                    current.link = link.take();
                    current.subject = Some(noun.clone());
                    current.verb = Some(verb);
                } else if (current.verb.is_some() && !waits && is_followed_by_verb(noun, rest))
                    || subordinate && !is_empty(&current)
                {
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
                    // "The bulb I could not replace": what is done to something may come first.
                    let acts = matches!(noun.head.as_str(), "i" | "we" | "he" | "she" | "they");
                    if noun.kind == NounKind::Pronoun && acts && current.subject.is_some() {
                        current.objects.extend(current.subject.replace(noun.clone()));
                    } else if let Some(subject) = &mut current.subject {
                        subject.also.push(noun.clone());
                    }
                } else {
                    current.objects.push(noun.clone());
                }
            }
            SyntaxPhrase::Adjunct(adjunct) => {
                let subordinate = link.as_deref().is_some_and(|word| !matches!(word, "and" | "or" | "but" | "nor"));
                // "…, but in the yard it is fine": what stands before a subject belongs to it.
                let before_subject = (link.is_some() || comma)
                    && matches!(rest.first(), Some(SyntaxPhrase::Noun(noun)) if is_followed_by_verb(noun, &rest[1..]));
                let subordinate = subordinate && rest.iter().any(|phrase| matches!(phrase, SyntaxPhrase::Verb(_)));
                if (subordinate || before_subject) && current.verb.is_some() {
                    done.push(std::mem::take(&mut current));
                    current.link = link.take();
                }
                current.adjuncts.push(adjunct.clone());
            }
            SyntaxPhrase::Complement(word, range) => current.complements.push((word.clone(), range.clone())),
            SyntaxPhrase::Verb(verb) => {
                // "Nora, open the door": whom the speaker calls does nothing.
                let called = comma
                    && link.is_none()
                    && is_command(verb)
                    && current.verb.is_none()
                    && current.asking.is_none()
                    && current.adjuncts.is_empty()
                    && current
                        .subject
                        .as_ref()
                        .is_some_and(|noun| noun.determiner.is_none() && noun.owner.is_none() && noun.also.is_empty());
                if called {
                    current = Clause::default();
                }
                match &mut current.verb {
                    None => current.verb = Some(verb.clone()),
                    Some(own) if own.auxiliary_only && !verb.auxiliary_only && !starts_new_verb(own, verb) => {
                        merge_verbs(own, verb)
                    }
                    Some(own) if own.auxiliary_only && verb.auxiliary_only && current.inverted => {
                        merge_verbs(own, verb)
                    }
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
    done.iter_mut().for_each(take_particle);
    done
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
    if verb.infinitive && auxiliary == "have" {
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

/// Adds a noun to the coordination that it continues, if any.
fn coordinate(clause: &mut Clause, noun: &NounPhrase) -> bool {
    if is_one_of(&noun.head, INDEFINITE_PRONOUNS) && noun.kind == NounKind::Pronoun {
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
