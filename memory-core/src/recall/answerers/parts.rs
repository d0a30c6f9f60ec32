//! The parts of an event that can fill what a question leaves open: persons, owners, things, colours.

use crate::Kind;
use crate::language::english::lexicon::{self, Category, PartOfSpeech};
use crate::language::english::question::Ask;
use crate::language::english::syntax::{Clause, NounKind, NounPhrase};
use crate::recall::answerers::places::capitalised;
use crate::recall::content::word_likeness;
use crate::recall::likeness::{is_colour, likeness};
use crate::recall::pool::Found;
use crate::recall::question::Question;
use crate::recall::reading::{Reading, arguments, is_person};
use crate::recall::telling::telling;

/// From here a name is that of the one who is asked about.
pub(super) const SPEAKER: f32 = 0.7;
/// Most items of a list.
pub(super) const LISTED: usize = 8;

/// The parts of an event that can fill what the question leaves open.
pub(in crate::recall) fn parts(question: &Question<'_>, found: &Found) -> Vec<String> {
    match question.ask() {
        Ask::Person => persons(question, &found.reading),
        Ask::Owner => owners(question, &found.reading),
        Ask::Thing => things(question, &found.reading),
        _ => Vec::new(),
    }
}

/// Persons who act in the event, those that the question names left out.
fn persons(question: &Question<'_>, reading: &Reading) -> Vec<String> {
    let related = |asked: &NounPhrase| asked.owner.clone().or_else(|| asked.of.clone());
    let named = |noun: &NounPhrase| {
        let whose: Vec<NounPhrase> = question.named.iter().filter_map(related).map(|noun| *noun).collect();
        question.named.iter().chain(&whose).any(|asked| likeness(asked, noun, reading) >= 0.7)
    };
    let mut found: Vec<String> = Vec::new();
    let mut add = |name: String| {
        if !name.is_empty() && !found.iter().any(|known| known.eq_ignore_ascii_case(&name)) {
            found.push(name);
        }
    };
    let subject_asked = question.asked.subject_is_asked;
    if let Some(name) = asks_who_one_is(question) {
        reading.clauses().flat_map(arguments).filter_map(|noun| role(name, noun, reading)).for_each(&mut add);
        reading.clauses().filter_map(|clause| equated(name, clause, reading)).for_each(&mut add);
        return found;
    }
    if let Some(asked) = question.asked.clause.subject.as_ref().filter(|subject| is_person(subject))
        && let Some(name) = reading.clauses().flat_map(arguments).find_map(|noun| in_role(asked, noun, reading))
    {
        return vec![name];
    }
    if question.asked.negated_verb() {
        // "Who did not have any …?": who does without it, or of whom that is denied.
        for clause in reading.clauses().filter(|clause| lacks(question, clause, reading)) {
            for noun in clause.subject.iter().filter(|noun| reading.resolve(noun).as_ref().is_some_and(is_person)) {
                let speaker = || reading.event.entity.clone().unwrap_or_default();
                add(if noun.is_pronoun() { speaker() } else { reading.phrase_text(noun) });
            }
        }
        return found;
    }
    // Who does what is asked is told by the clause that tells of it; only where it names nobody do the others count.
    let telling = telling(question, reading);
    for clause in telling.into_iter().chain(reading.clauses()) {
        let acting = clause.subject.iter().flat_map(NounPhrase::all);
        let others =
            clause.objects.iter().flat_map(NounPhrase::all).chain(clause.adjuncts.iter().map(|adjunct| &adjunct.noun));
        let chosen: Vec<&NounPhrase> = if subject_asked { acting.collect() } else { others.collect() };
        for noun in chosen {
            if let Some(meant) = reading.resolve(noun).filter(|meant| is_person(meant) && !named(meant)) {
                add(name_of(noun, &meant, reading));
            }
        }
    }
    let entity = reading
        .event
        .entity
        .as_deref()
        .filter(|_| !matches!(reading.event.kind, Kind::Object | Kind::State | Kind::Sound));
    if let Some(entity) = entity {
        let phrase = crate::recall::reading::name_phrase(entity);
        if !named(&phrase) && found.is_empty() {
            found.push(entity.to_owned());
        }
    }
    found.truncate(if question.asked.class.as_ref().is_some_and(|class| class.plural) { LISTED } else { 1 });
    found
}

/// What a person is called whom a phrase means.
fn name_of(noun: &NounPhrase, meant: &NounPhrase, reading: &Reading) -> String {
    match noun.head.as_str() {
        _ if !noun.is_pronoun() => reading.phrase_text(noun),
        "nobody" | "somebody" | "someone" | "everybody" | "everyone" => capitalised(&noun.head),
        // What a pronoun means without words of its own is who speaks.
        _ if meant.range.is_empty() || meant.is_pronoun() => reading.event.entity.clone().unwrap_or_default(),
        _ => reading.phrase_text(meant),
    }
}

/// "Who is Lena?": the name.
fn asks_who_one_is<'a>(question: &'a Question<'_>) -> Option<&'a NounPhrase> {
    let clause = &question.asked.clause;
    let is = clause.verb.as_ref().is_some_and(|verb| verb.lemma == "be" && verb.auxiliary_only);
    clause.subject.as_ref().filter(|subject| is && subject.kind == NounKind::Name && clause.objects.is_empty())
}

/// What somebody is to whom, as a phrase says it beside the name: "my daughter Lena".
fn role(name: &NounPhrase, noun: &NounPhrase, reading: &Reading) -> Option<String> {
    let owner = noun.owner.as_deref().filter(|_| noun.kind == NounKind::Name && noun.head == name.head)?;
    let role =
        noun.modifiers.iter().find(|word| lexicon::category(word, PartOfSpeech::Noun) == Some(Category::Person))?;
    let owner = if owner.is_pronoun() { reading.event.entity.clone()? } else { reading.phrase_text(owner) };
    Some(format!("{owner}'s {role}"))
}

/// What a clause says that somebody is: "their trainer is Mrs Aalto", "Mrs Aalto is a trainer".
fn equated(name: &NounPhrase, clause: &Clause, reading: &Reading) -> Option<String> {
    let verb = clause.verb.as_ref().filter(|verb| !verb.negated)?;
    let called = verb.passive && matches!(verb.lemma.as_str(), "call" | "name");
    let is = called || verb.lemma == "be" && verb.auxiliary_only;
    let (subject, object) = (clause.subject.as_ref()?, clause.objects.first().filter(|_| is)?);
    let meant = |noun: &NounPhrase| noun.kind == NounKind::Name && likeness(name, noun, reading) >= SPEAKER;
    let role = match (meant(subject), meant(object)) {
        (true, false) => object,
        (false, true) => subject,
        _ => return None,
    };
    (role.kind == NounKind::Common && (called || is_person(role))).then(|| reading.phrase_text(role))
}

/// The name of who is something to somebody: "my daughter Lena" for "Ivo's daughter", where Ivo says it.
fn in_role(asked: &NounPhrase, noun: &NounPhrase, reading: &Reading) -> Option<String> {
    let whose = asked.owner.as_deref().or(asked.of.as_deref())?;
    let owner = noun.owner.as_deref().filter(|_| noun.kind == NounKind::Name)?;
    let is_role = noun.modifiers.iter().any(|word| word_likeness(word, &asked.head) >= 0.8);
    let owner = reading.resolve(owner)?;
    (is_role && likeness(whose, &owner, reading) >= SPEAKER)
        .then(|| reading.phrase_text(noun).split_whitespace().next_back().unwrap_or_default().to_owned())
}

/// Whether a clause says that somebody is without what the question names.
fn lacks(question: &Question<'_>, clause: &Clause, reading: &Reading) -> bool {
    let meant = |noun: &NounPhrase| question.named.iter().any(|named| likeness(named, noun, reading) >= 0.7);
    let without = clause.adjuncts.iter().any(|adjunct| adjunct.preposition == "without" && meant(&adjunct.noun));
    let denied = clause.verb.as_ref().is_some_and(|verb| verb.negated)
        && clause.objects.iter().flat_map(NounPhrase::all).any(meant);
    without || denied
}

fn owners(question: &Question<'_>, reading: &Reading) -> Vec<String> {
    let class = question.asked.class.as_ref().or(question.named.first());
    let Some(class) = class else { return Vec::new() };
    let owner = reading.clauses().flat_map(arguments).find_map(|noun| {
        let owner = noun.owner.as_ref().filter(|_| likeness(class, noun, reading) >= 0.6)?;
        Some(if owner.is_pronoun() { reading.event.entity.clone()? } else { reading.phrase_text(owner) })
    });
    owner.into_iter().collect()
}

/// Things of the class that the question names; colours of the thing that it names.
fn things(question: &Question<'_>, reading: &Reading) -> Vec<String> {
    let Some(class) = &question.asked.class else { return Vec::new() };
    let head = class.head.as_str();
    if matches!(head, "colour" | "color") {
        return colours(question, reading);
    }
    let mut found: Vec<String> = Vec::new();
    for noun in reading.clauses().flat_map(arguments) {
        for noun in std::iter::once(noun).chain(noun.of.as_deref()) {
            let is = noun.kind != NounKind::Pronoun
                && kind_of(noun, head).is_some_and(|steps| steps > 0 || noun.modifiers.len() > class.modifiers.len());
            let asked = question.named.iter().any(|known| known.head == noun.head);
            if is && !asked {
                // "Which tools": what a tool is named with is one, too, whether the lexicon knows it or not.
                let beside = noun.also.iter().filter(|_| class.plural);
                for noun in std::iter::once(noun).chain(beside) {
                    let text = reading.phrase_text(noun);
                    if !found.contains(&text) {
                        found.push(text);
                    }
                }
            }
        }
    }
    // What an event is about is a thing of the class, where it does what the question says.
    if found.is_empty()
        && let Some(entity) = &reading.event.entity
        && matches!(reading.event.kind, Kind::Action | Kind::Object | Kind::State)
        && let Some(verb) = question.asked.clause.verb.as_ref().filter(|verb| !verb.auxiliary_only)
        && reading
            .clauses()
            .filter_map(|clause| clause.verb.as_ref())
            .any(|told| word_likeness(&verb.lemma, &told.lemma) >= 0.8)
        && !is_person(&crate::recall::reading::name_phrase(entity))
    {
        found.push(entity.clone());
    }
    found
}

/// How many steps a noun phrase is below a class: by its last two words, else by its head.
pub(in crate::recall) fn kind_of(noun: &NounPhrase, class: &str) -> Option<u8> {
    let two = noun.modifiers.last().map(|last| format!("{last} {}", noun.head));
    two.and_then(|two| lexicon::is_a(&two, class)).or_else(|| lexicon::is_a(&noun.head, class))
}

fn colours(question: &Question<'_>, reading: &Reading) -> Vec<String> {
    let thing = question.asked.clause.subject.as_ref().or(question.named.first());
    let mut found: Vec<String> = Vec::new();
    for clause in reading.clauses() {
        for noun in arguments(clause) {
            let about = thing.is_none_or(|thing| {
                let head = NounPhrase { modifiers: Vec::new(), owner: None, of: None, ..thing.clone() };
                likeness(&head, noun, reading) >= 0.6
            });
            if about {
                let before = reading.event.text.get(..noun.range.start).unwrap_or_default().trim_end();
                // "Red and blue blocks".
                let also = before.strip_suffix("and").map(str::trim_end).and_then(|text| text.split(' ').next_back());
                found.extend(also.filter(|word| is_colour(word)).map(str::to_owned));
                found.extend(noun.modifiers.iter().filter(|word| is_colour(word)).cloned());
            }
        }
        let subject = clause
            .subject
            .as_ref()
            .is_some_and(|subject| thing.is_none_or(|thing| word_likeness(&thing.head, &subject.head) >= 0.6));
        if subject {
            found.extend(clause.complements.iter().map(|(word, _)| word.clone()).filter(|word| is_colour(word)));
        }
    }
    found.dedup();
    found
}
