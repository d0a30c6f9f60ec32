//! Roles of persons, and relations between them, as stated by an apposition or a clause.

use crate::language::english::closed::is_one_of;
use crate::language::english::lexicon::{self, Category, PartOfSpeech};
use crate::language::english::syntax::{Clause, NounKind, NounPhrase};
use crate::recall::answerers::parts::MIN_PERSON_SIMILARITY;
use crate::recall::content::word_similarity;
use crate::recall::likeness::phrase_similarity;
use crate::recall::question::Question;
use crate::recall::reading::{ParsedEvent, arguments, is_person};

/// Returns the name next to a role, or the role next to a name: "the vet, Mrs Lind, comes" is one person.
pub(in crate::recall) fn apposition<'n>(noun: &'n NounPhrase, reading: &ParsedEvent) -> Option<&'n NounPhrase> {
    let beside = noun.also.first().filter(|also| (noun.kind == NounKind::Name) != (also.kind == NounKind::Name))?;
    let between = reading.event.text.get(noun.range.end..beside.range.start).unwrap_or_default();
    let role = if noun.kind == NounKind::Common { noun } else { beside };
    (matches!(between.trim(), "" | ",") && role.kind == NounKind::Common && is_person(role)).then_some(beside)
}

/// Returns the told professions of the named person: "our vet, Mrs Lind", "Mrs Lind is a vet".
pub(super) fn professions(question: &Question<'_>, reading: &ParsedEvent) -> Vec<String> {
    let clause = &question.asked.clause;
    let whose = clause.subject.as_ref().and_then(|subject| match subject.kind {
        NounKind::Name => Some(subject),
        _ => subject.owner.as_deref().or(subject.of.as_deref()),
    });
    let Some(name) = whose else { return Vec::new() };
    let meant = |noun: &NounPhrase| {
        noun.kind == NounKind::Name && phrase_similarity(name, noun, reading) >= MIN_PERSON_SIMILARITY
    };
    let beside = reading.clauses().flat_map(arguments).find_map(|noun| {
        let other = apposition(noun, reading)?;
        let role = if meant(noun) { other } else { noun };
        (meant(noun) || meant(other)).then(|| role.head.clone())
    });
    let before = || {
        let named = reading.clauses().flat_map(arguments).filter(|noun| meant(noun));
        named.flat_map(|noun| &noun.modifiers).find(|word| is_role(word)).cloned()
    };
    let equated = || reading.clauses().find_map(|clause| stated_role(name, clause, reading));
    beside.or_else(before).or_else(equated).into_iter().collect()
}

fn is_role(word: &str) -> bool {
    lexicon::category(word, PartOfSpeech::Noun) == Some(Category::Person)
        && !is_one_of(word, &["mr", "mrs", "ms", "miss", "dr"])
}

/// Returns the name in "who is Lena?".
pub(in crate::recall) fn asks_identity<'a>(question: &'a Question<'_>) -> Option<&'a NounPhrase> {
    let clause = &question.asked.clause;
    let is = clause.verb.as_ref().is_some_and(|verb| verb.lemma == "be" && verb.auxiliary_only);
    clause.subject.as_ref().filter(|subject| is && subject.kind == NounKind::Name && clause.objects.is_empty())
}

/// Returns the role of a person next to the name: "my daughter Lena".
pub(super) fn role_beside_name(name: &NounPhrase, noun: &NounPhrase, reading: &ParsedEvent) -> Option<String> {
    let owner = noun.owner.as_deref().filter(|_| noun.kind == NounKind::Name && noun.head == name.head)?;
    let role =
        noun.modifiers.iter().find(|word| lexicon::category(word, PartOfSpeech::Noun) == Some(Category::Person))?;
    let owner = if owner.is_pronoun() { reading.event.entity.clone()? } else { reading.phrase_text(owner) };
    Some(format!("{owner}'s {role}"))
}

/// Answers "how is she related to him?" by how one of them calls the other.
pub(super) fn roles_between(question: &Question<'_>, reading: &ParsedEvent) -> Vec<String> {
    let clause = &question.asked.clause;
    let asks = clause.verb.as_ref().is_some_and(|verb| verb.lemma == "relate")
        || clause.complements.iter().any(|(word, _)| word == "related" || word == "relate");
    let names = clause.subject.iter().chain(clause.adjuncts.iter().map(|adjunct| &adjunct.noun)).filter(|_| asks);
    let names: Vec<&NounPhrase> = names.filter(|noun| noun.kind == NounKind::Name).collect();
    let nouns = || reading.clauses().flat_map(arguments).flat_map(NounPhrase::coordinated);
    names.iter().find_map(|name| nouns().find_map(|noun| role_beside_name(name, noun, reading))).into_iter().collect()
}

/// Returns the role that a clause states: "their trainer is Mrs Aalto", "Mrs Aalto is a trainer".
pub(super) fn stated_role(name: &NounPhrase, clause: &Clause, reading: &ParsedEvent) -> Option<String> {
    let verb = clause.verb.as_ref().filter(|verb| !verb.negated)?;
    let called = verb.passive && matches!(verb.lemma.as_str(), "call" | "name");
    let is = called || verb.lemma == "be" && verb.auxiliary_only;
    let (subject, object) = (clause.subject.as_ref()?, clause.objects.first().filter(|_| is)?);
    let is = |noun: &NounPhrase| {
        noun.kind == NounKind::Name && phrase_similarity(name, noun, reading) >= MIN_PERSON_SIMILARITY
    };
    // "Ida is here. She is my aunt."
    let meant = |noun: &NounPhrase| match noun.head.as_str() {
        "i" | "he" | "she" => reading.resolve(noun).is_some_and(|noun| is(&noun)),
        _ => is(noun),
    };
    let role = match (meant(subject), meant(object)) {
        (true, false) => object,
        (false, true) => subject,
        _ => return None,
    };
    (role.kind == NounKind::Common && (called || is_person(role))).then(|| {
        let owner =
            role.owner.as_deref().filter(|owner| owner.is_pronoun() && matches!(owner.head.as_str(), "my" | "i"));
        match (owner, &reading.event.entity) {
            (Some(_), Some(speaker)) => format!("{speaker}'s {}", role.head),
            _ => reading.phrase_text(role),
        }
    })
}

/// Returns the name of a person in a role: "my daughter Lena", said by Ivo, for "Ivo's daughter".
pub(super) fn person_in_role(asked: &NounPhrase, noun: &NounPhrase, reading: &ParsedEvent) -> Option<String> {
    let whose = asked.owner.as_deref().or(asked.of.as_deref())?;
    let owner = noun.owner.as_deref().filter(|_| noun.kind == NounKind::Name)?;
    let is_role = noun.modifiers.iter().any(|word| word_similarity(word, &asked.head) >= 0.8);
    let owner = reading.resolve(owner)?;
    (is_role && phrase_similarity(whose, &owner, reading) >= MIN_PERSON_SIMILARITY)
        .then(|| reading.phrase_text(noun).split_whitespace().next_back().unwrap_or_default().to_owned())
}
