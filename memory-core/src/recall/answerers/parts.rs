//! Extracts the parts of an event that can answer a question: persons, owners, things, colours.

use std::ops::Range;

use crate::Kind;
use crate::language::english::address::is_address;
use crate::language::english::closed::{ADDRESS_OPENERS, SPEECH_VERBS, is_one_of};
use crate::language::english::correction::is_taken_back;
use crate::language::english::letters::capitalised;
use crate::language::english::lexicon::{self, Category, PartOfSpeech};
use crate::language::english::question::AnswerKind;
use crate::language::english::syntax::{Adjunct, Clause, NounKind, NounPhrase};
use crate::language::english::tag::{Tag, Word};
use crate::recall::answerers::quote::asks_for_name_or_number;
use crate::recall::answerers::rank::asked_share;
use crate::recall::answerers::roles::{
    apposition, asks_identity, person_in_role, professions, role_beside_name, roles_between, stated_role,
};
use crate::recall::clause_selection::relevant_clauses;
use crate::recall::content::{verb_similarity, word_similarity};
use crate::recall::likeness::{best_phrase_similarity, is_colour, phrase_similarity};
use crate::recall::pool::RetrievedEvent;
use crate::recall::question::{Question, asks_profession};
use crate::recall::reading::{ParsedEvent, arguments, can_be_place, is_person, name_phrase};

/// Minimum similarity of a name to the person in question.
pub(in crate::recall) const MIN_PERSON_SIMILARITY: f32 = 0.7;
/// Minimum similarity of two verbs for one deed.
const MIN_DEED_SIMILARITY: f32 = 0.9;
/// Minimum similarity of a phrase of an event to one that a question offers.
const MIN_OFFERED_SIMILARITY: f32 = 0.9;
/// Parts of a day with their hours.
const PARTS_OF_DAY: &[(&str, Range<i8>)] = &[("morning", 4..12), ("afternoon", 12..18), ("evening", 17..24)];
/// Maximum number of items of a list.
pub(in crate::recall) const MAX_LIST_ITEMS: usize = 8;

/// Returns the parts of an event that can answer the question.
pub(in crate::recall) fn answer_parts(question: &Question<'_>, found: &RetrievedEvent) -> Vec<String> {
    match question.ask() {
        AnswerKind::Person => acting_persons(question, &found.reading),
        AnswerKind::Owner => owners(question, &found.reading),
        AnswerKind::Thing if asks_profession(&question.asked) => professions(question, &found.reading),
        AnswerKind::Description | AnswerKind::Thing if asks_which_of_offered(question) => {
            let part_of_day = offered_part_of_day(question, found);
            part_of_day.map_or_else(|| offered_part(question, &found.reading), |part| vec![part])
        }
        AnswerKind::Thing => things_of_class(question, &found.reading),
        AnswerKind::Description => roles_between(question, &found.reading),
        _ => Vec::new(),
    }
}

/// Returns whether a question without a question word offers what may be the answer: "was it the lamp or the fuse?".
fn asks_which_of_offered(question: &Question<'_>) -> bool {
    let clause = &question.asked.clause;
    let offered = &question.asked.alternatives;
    // "Is the window open or shut?" does not offer the window.
    let subject = clause.subject.as_ref().filter(|_| clause.verb.is_some());
    let about_subject = subject.is_some_and(|subject| offered.iter().any(|range| range.contains(&subject.range.start)));
    // "Had she lent it to a friend, or was it in the car?" offers two clauses. "Left" at the begin may look like a verb.
    let acts = |word: &Word| matches!(word.tag, Tag::Verb | Tag::Auxiliary | Tag::Modal);
    let all = offered.first().zip(offered.last()).map_or(0..0, |(first, last)| first.start..last.end);
    let has_clause = clause.verb.is_some() && question.asked.words_in(&all).skip(1).any(acts);
    let plain = clause.asking.is_none() && question.asked.class.is_none();
    plain && offered.len() > 1 && !about_subject && !has_clause
}

/// Returns the one of the offered parts of a day in which an event was: "in the morning or the afternoon?".
fn offered_part_of_day(question: &Question<'_>, found: &RetrievedEvent) -> Option<String> {
    let hours = |range: &Range<usize>| {
        let words = question.part(range).to_lowercase();
        PARTS_OF_DAY.iter().find(|(name, _)| words.ends_with(name)).map(|(_, hours)| hours.clone())
    };
    let offered = &question.asked.alternatives;
    if offered.len() < 2 || !offered.iter().all(|range| hours(range).is_some()) {
        return None;
    }
    let hour = found.span().start.to_jiff().to_zoned(question.now.time_zone().clone()).hour();
    let part = offered.iter().find(|range| hours(range).is_some_and(|hours| hours.contains(&hour)))?;
    let name = question.part(part).trim();
    Some(if name.starts_with("the ") { format!("in {name}") } else { name.to_owned() })
}

/// Returns the one of the alternatives of a question that an event names: "cat or dog?".
fn offered_part(question: &Question<'_>, reading: &ParsedEvent) -> Vec<String> {
    let offered = question.asked.alternatives.iter();
    let told = reading.event.text.to_lowercase();
    let names = |range: &&Range<usize>| {
        let part = question.part(range).to_lowercase();
        let kind =
            || reading.lemmas.iter().any(|(lemma, _)| lexicon::is_a_as(lemma, &part, PartOfSpeech::Noun).is_some());
        let whole = told.match_indices(&part).any(|(at, _)| {
            !told[..at].ends_with(char::is_alphanumeric) && !told[at + part.len()..].starts_with(char::is_alphanumeric)
        });
        // "The rear wheel" is the back wheel.
        let inside = |noun: &&NounPhrase| question.part(&noun.range).eq_ignore_ascii_case(&part);
        let alike = || {
            let mut phrases = question.named.iter().filter(inside);
            phrases.any(|noun| best_phrase_similarity(noun, reading) >= MIN_OFFERED_SIMILARITY)
        };
        whole || !part.contains(' ') && kind() || alike()
    };
    let named: Vec<String> = offered.filter(names).map(|range| question.part(range).to_owned()).collect();
    if named.len() == 1 { named } else { Vec::new() }
}

/// Returns the persons who act in the event, except those that the question names.
fn acting_persons(question: &Question<'_>, reading: &ParsedEvent) -> Vec<String> {
    let related = |asked: &NounPhrase| asked.owner.clone().or_else(|| asked.of.clone());
    // "Was it Mia or Ben who …?": one of the two is the answer.
    let alternatives = &question.asked.alternatives;
    let offered =
        |noun: &NounPhrase| alternatives.len() > 1 && alternatives.iter().any(|range| range.start == noun.range.start);
    let named = |noun: &NounPhrase| {
        let whose: Vec<NounPhrase> = question.named.iter().filter_map(related).map(|noun| *noun).collect();
        question
            .named
            .iter()
            .filter(|asked| !offered(asked))
            .chain(&whose)
            .any(|asked| phrase_similarity(asked, noun, reading) >= 0.7)
    };
    let mut found: Vec<String> = Vec::new();
    let mut add = |name: String| {
        let name = reading.in_third_person(&name);
        if !name.is_empty() && !found.iter().any(|known| known.eq_ignore_ascii_case(&name)) {
            found.push(name);
        }
    };
    let subject_asked = question.asked.subject_is_asked;
    // A person who only requests a deed has not done it.
    if subject_asked && !asks_about_speech(question) && asked_share(question, reading) >= 1.0 {
        return found;
    }
    if let Some(name) = asks_identity(question) {
        reading
            .clauses()
            .flat_map(arguments)
            .filter_map(|noun| role_beside_name(name, noun, reading))
            .for_each(&mut add);
        reading.clauses().filter_map(|clause| stated_role(name, clause, reading)).for_each(&mut add);
        let told = if found.is_empty() { professions(question, reading) } else { Vec::new() };
        found.extend(told);
        return found;
    }
    if let Some(asked) = question.asked.clause.subject.as_ref().filter(|subject| is_person(subject))
        && let Some(name) = reading.clauses().flat_map(arguments).find_map(|noun| person_in_role(asked, noun, reading))
    {
        return vec![name];
    }
    if question.asked.has_negated_verb() {
        // "Who did not have any …?": who does without it, or of whom that is denied.
        for clause in reading.clauses().filter(|clause| denies_possession(question, clause, reading)) {
            for noun in clause.subject.iter().filter(|noun| reading.resolve(noun).as_ref().is_some_and(is_person)) {
                let speaker = || reading.event.entity.clone().unwrap_or_default();
                add(if noun.is_pronoun() { speaker() } else { reading.phrase_text(noun) });
            }
        }
        return found;
    }
    // "Who is the scarf for?"
    if let Some(preposition) = left_preposition(question) {
        let nouns = reading.clauses().flat_map(|clause| &clause.adjuncts).filter(|it| it.preposition == preposition);
        for noun in nouns.flat_map(|adjunct| adjunct.noun.coordinated()) {
            if let Some(meant) = reading.resolve(noun).filter(|meant| is_person(meant) && !named(meant)) {
                add(person_name(noun, &meant, reading));
            }
        }
        return found;
    }
    // The relevant clause names the actor. Other clauses count only if it names nobody.
    let telling = relevant_clauses(question, reading);
    // "The inspector comes on Monday. Sweep the yard before that.": whoever is told to does it.
    let is_order = |clause: &&Clause| {
        let verb = clause.verb.as_ref().filter(|verb| verb.infinitive && !verb.past && verb.modal.is_none());
        clause.subject.is_none() && verb.is_some_and(|verb| !verb.auxiliary_only && !verb.passive)
    };
    if subject_asked && reading.event.kind == Kind::Text && telling.len() == 1 && telling.iter().all(is_order) {
        return found;
    }
    // Any person in the picture was in front of the robot.
    let of_robot = question.asked.clause.subject.as_ref().is_some_and(|subject| subject.head == "you");
    let seen = of_robot && matches!(reading.event.kind, Kind::Caption | Kind::Object | Kind::Action);
    // "Ben is working then, so I'll take her": the clause with the deed, where none that covers more of the question has it.
    let asked_verb = question.asked.clause.verb.as_ref().filter(|verb| subject_asked && !verb.auxiliary_only);
    let is_deed = |clause: &&Clause| {
        let told = clause.verb.as_ref().filter(|told| !told.negated);
        asked_verb.zip(told).is_some_and(|(asked, told)| verb_similarity(asked, told) >= MIN_DEED_SIMILARITY)
    };
    let by_pronoun = |clause: &&Clause| clause.objects.iter().any(NounPhrase::is_pronoun);
    let elsewhere = !telling.iter().any(is_deed);
    let deeds: Vec<&Clause> =
        reading.clauses().filter(|clause| elsewhere && is_deed(clause) && by_pronoun(clause)).collect();
    // "I'm not doing it, Ben is": who does not act.
    let denied = |clause: &&Clause| subject_asked && clause.verb.as_ref().is_some_and(|verb| verb.negated);
    let affirmed = reading.clauses().any(|clause| !denied(&clause) && clause.subject.is_some());
    let all = deeds.into_iter().chain(telling).chain(reading.clauses());
    for clause in all.filter(|clause| !affirmed || !denied(clause)) {
        let acting = clause.subject.iter().flat_map(NounPhrase::coordinated);
        let others = clause
            .objects
            .iter()
            .flat_map(NounPhrase::coordinated)
            .chain(clause.adjuncts.iter().map(|adjunct| &adjunct.noun));
        let chosen: Vec<&NounPhrase> = match (subject_asked, seen) {
            (true, _) => acting.collect(),
            (false, true) => acting.chain(others).collect(),
            (false, false) => others.collect(),
        };
        let chosen =
            chosen.into_iter().filter(|noun| apposition(noun, reading).is_none() && !is_addressed(noun, reading));
        for noun in chosen {
            if let Some(meant) = reading.resolve(noun).filter(|meant| is_person(meant) && !named(meant)) {
                add(person_name(noun, &meant, reading));
            }
        }
    }
    let entity = reading
        .event
        .entity
        .as_deref()
        .filter(|_| !matches!(reading.event.kind, Kind::Object | Kind::State | Kind::Sound))
        // The speaker of a text about things is no actor.
        .filter(|_| reading.event.kind != Kind::Text || asks_about_speech(question) || !is_only_about_things(reading));
    if let Some(entity) = entity {
        let phrase = name_phrase(entity);
        if !named(&phrase) && found.is_empty() {
            found.push(entity.to_owned());
        }
    }
    if alternatives.len() > 1 {
        let all: Vec<&NounPhrase> = question.named.iter().filter(|noun| offered(noun)).collect();
        found.retain(|name| {
            all.is_empty() || all.iter().any(|noun| phrase_similarity(noun, &name_phrase(name), reading) >= 0.7)
        });
    }
    let plural = question.asked.class.as_ref().is_some_and(|class| class.plural);
    let single = question.asked.class.is_some() || question.asked.occurrence.is_some() || alternatives.len() > 1;
    let most = if plural {
        MAX_LIST_ITEMS
    } else if single {
        1
    } else {
        // Who does something together is named together.
        number_together(&found, reading)
    };
    found.truncate(most);
    found
}

/// Returns how many of the names, from the first one on, one phrase joins: "Ada, Ben and Ida".
fn number_together(names: &[String], reading: &ParsedEvent) -> usize {
    let all = reading.clauses().flat_map(|clause| clause.subject.iter().chain(&clause.objects));
    let together = all.map(|noun| {
        let joined: Vec<String> =
            noun.coordinated().map(|one| reading.in_third_person(&reading.phrase_text(one))).collect();
        names.iter().take_while(|name| joined.iter().any(|one| one == *name)).count()
    });
    together.max().unwrap_or(1).max(1)
}

/// Returns the preposition that a question leaves without a noun, if it asks for whom or from whom something is.
fn left_preposition<'q>(question: &'q Question<'_>) -> Option<&'q str> {
    let clause = &question.asked.clause;
    let is = clause.verb.as_ref().is_some_and(|verb| verb.lemma == "be" && verb.auxiliary_only);
    let subject = clause.subject.as_ref().is_some_and(|subject| !is_person(subject));
    let left = clause.complements.iter().map(|(word, _)| word.as_str());
    let before = clause.asking.as_ref().and_then(|asking| asking.preposition.as_deref());
    left.chain(before).find(|word| is && subject && is_one_of(word, &["for", "from"]))
}

/// Returns whether a text addresses somebody by name, who then does not act: "here it is, Mia!". In a list of names nobody
/// is addressed.
fn is_addressed(noun: &NounPhrase, reading: &ParsedEvent) -> bool {
    let is_listed = |other: &NounPhrase| {
        let name = other.kind == NounKind::Name && !is_one_of(&other.head, ADDRESS_OPENERS);
        name && other.also.iter().any(|also| also.range == noun.range)
    };
    reading.event.kind == Kind::Text
        && noun.kind == NounKind::Name
        && noun.also.is_empty()
        && is_address(&reading.event.text, &noun.range)
        && !reading.clauses().flat_map(arguments).any(is_listed)
}

/// Returns whether the question is about somebody's speech. A person says or asks something whatever it is about.
fn asks_about_speech(question: &Question<'_>) -> bool {
    let verb = question.asked.clause.verb.as_ref().map_or("", |verb| verb.lemma.as_str());
    SPEECH_VERBS.contains(&verb) || matches!(verb, "ask" | "inquire" | "wonder")
}

/// Returns whether a text is about things only, and not about its speaker.
fn is_only_about_things(reading: &ParsedEvent) -> bool {
    let subjects: Vec<&NounPhrase> = reading.clauses().filter_map(|clause| clause.subject.as_ref()).collect();
    let of_speaker = |subject: &&NounPhrase| matches!(subject.head.as_str(), "i" | "we");
    let thing = |subject: &&NounPhrase| !subject.is_pronoun() && !is_person(subject);
    !subjects.iter().any(of_speaker) && subjects.iter().any(thing)
}

/// Returns the name of the person that a phrase refers to.
fn person_name(noun: &NounPhrase, meant: &NounPhrase, reading: &ParsedEvent) -> String {
    match noun.head.as_str() {
        _ if !noun.is_pronoun() => reading.phrase_text(noun),
        "nobody" | "somebody" | "someone" | "everybody" | "everyone" => capitalised(&noun.head),
        _ if reading.antecedent.as_ref().is_some_and(|other| meant.range.is_empty() && other.head == meant.head) => {
            capitalised(&meant.head)
        }
        // A referent without words in the text is the speaker.
        _ if meant.range.is_empty() || meant.is_pronoun() => reading.event.entity.clone().unwrap_or_default(),
        _ => reading.phrase_text(meant),
    }
}

/// Returns whether a clause says that somebody is without what the question names.
fn denies_possession(question: &Question<'_>, clause: &Clause, reading: &ParsedEvent) -> bool {
    let meant = |noun: &NounPhrase| question.named.iter().any(|named| phrase_similarity(named, noun, reading) >= 0.7);
    let without = clause.adjuncts.iter().any(|adjunct| adjunct.preposition == "without" && meant(&adjunct.noun));
    let denied = clause.verb.as_ref().is_some_and(|verb| verb.negated)
        && clause.objects.iter().flat_map(NounPhrase::coordinated).any(meant);
    without || denied
}

fn owners(question: &Question<'_>, reading: &ParsedEvent) -> Vec<String> {
    let class = question.asked.class.as_ref().or(question.named.first());
    let Some(class) = class else { return Vec::new() };
    let owner = reading.clauses().flat_map(arguments).find_map(|noun| {
        let owner = noun.owner.as_ref().filter(|_| phrase_similarity(class, noun, reading) >= 0.6)?;
        if !owner.is_pronoun() {
            return Some(reading.phrase_text(owner));
        }
        // "Ivo comes with his dog": Ivo's.
        let meant = reading.resolve(owner).filter(|meant| is_one_of(&owner.head, &["his", "her"]) && is_person(meant));
        // "I'll water your plant" does not say whose it is.
        let speaker = || reading.event.entity.clone().filter(|_| !is_one_of(&owner.head, &["your", "you"]));
        meant.map_or_else(speaker, |meant| Some(reading.phrase_text(&meant)))
    });
    owner.or_else(|| stated_owner(class, reading)).into_iter().collect()
}

/// Returns to whom a thing is said to belong: "the cat belongs to the neighbours".
fn stated_owner(class: &NounPhrase, reading: &ParsedEvent) -> Option<String> {
    let is_it = |noun: &NounPhrase| phrase_similarity(class, noun, reading) >= 0.6;
    let belongs = |clause: &&Clause| {
        let verb = clause.verb.as_ref().is_some_and(|verb| verb.lemma == "belong" && !verb.negated);
        // "The cat is called Minka, she belongs to the neighbours."
        let named = |subject: &NounPhrase| subject.is_pronoun() && reading.clauses().flat_map(arguments).any(is_it);
        verb && clause.subject.as_ref().is_some_and(|subject| is_it(subject) || named(subject))
    };
    let clause = reading.clauses().find(belongs)?;
    let to = clause.adjuncts.iter().find(|adjunct| adjunct.preposition == "to")?;
    match to.noun.is_pronoun() {
        true => reading.event.entity.clone().filter(|_| matches!(to.noun.head.as_str(), "i" | "me" | "we" | "us")),
        false => Some(reading.phrase_text(&to.noun)),
    }
}

/// Returns the role whose name is asked for: "what is Ada's mother called?", "the name of the twins' mother".
fn asked_role<'a>(question: &'a Question<'_>) -> Option<&'a NounPhrase> {
    let subject = question.asked.clause.subject.as_ref().filter(|_| asks_for_name_or_number(question))?;
    let of = subject
        .of
        .as_deref()
        .filter(|_| subject.head == "name")
        .or(subject.owner.as_deref().filter(|_| subject.head == "name"));
    let role = of.unwrap_or(subject);
    let whose = role.owner.as_deref().or(role.of.as_deref());
    (whose.is_some() && role.kind == NounKind::Common && is_person(role)).then_some(role)
}

/// Returns whether a question asks who is something of somebody, and an event says so by name.
pub(super) fn names_role_holder(question: &Question<'_>, reading: &ParsedEvent) -> bool {
    let subject = || question.asked.clause.subject.as_ref().filter(|_| question.ask() == AnswerKind::Person);
    let Some(role) = asked_role(question).or_else(subject) else { return false };
    let mut nouns = reading.clauses().flat_map(arguments).flat_map(NounPhrase::coordinated);
    nouns.any(|noun| person_in_role(role, noun, reading).is_some())
}

/// Returns the things of the class that the question names, or the colours of the named thing.
fn things_of_class(question: &Question<'_>, reading: &ParsedEvent) -> Vec<String> {
    // "What is her daughter called?": who is somebody's daughter, by name.
    if let Some(role) = asked_role(question) {
        let nouns = || reading.clauses().flat_map(arguments).flat_map(NounPhrase::coordinated);
        return nouns().find_map(|noun| person_in_role(role, noun, reading)).into_iter().collect();
    }
    let Some(class) = &question.asked.class else { return Vec::new() };
    let head = class.head.as_str();
    if matches!(head, "colour" | "color") {
        return colours(question, reading);
    }
    // "Which noise came from the yard?": what was heard is one as a whole.
    if reading.event.kind == Kind::Sound && matches!(head, "noise" | "sound") {
        return vec![reading.event.text.trim_end_matches('.').to_owned()];
    }
    let mut found: Vec<String> = Vec::new();
    // "The cat Mokka": what stands before a name says what it is.
    let named = |noun: &&NounPhrase| {
        noun.kind == NounKind::Name
            && question.named.iter().any(|asked| phrase_similarity(asked, noun, reading) >= MIN_PERSON_SIMILARITY)
    };
    for noun in reading.clauses().flat_map(arguments).filter(named) {
        let before = noun
            .modifiers
            .iter()
            .filter(|word| lexicon::is_a_as(word, head, PartOfSpeech::Noun).is_some_and(|steps| steps > 0));
        found.extend(before.cloned());
    }
    // Skip the objects of other actors.
    let actor = question.asked.clause.subject.as_ref().filter(|subject| subject.kind == NounKind::Name);
    let of_another = |clause: &&Clause| {
        let told = clause.subject.as_ref().and_then(|subject| reading.resolve(subject)).filter(is_person);
        actor.is_some_and(|actor| {
            told.is_some_and(|told| {
                told.coordinated().all(|told| phrase_similarity(actor, told, reading) < MIN_PERSON_SIMILARITY)
            })
        })
    };
    // "In walnut instead of oak"
    let denied = |noun: &&NounPhrase| {
        !question.asked.negated && is_taken_back(&reading.event.text, &reading.sentences, noun.range.clone())
    };
    let nouns = reading.clauses().filter(|clause| !of_another(clause)).flat_map(arguments);
    for noun in nouns.filter(|noun| !denied(noun)) {
        for noun in std::iter::once(noun).chain(noun.of.as_deref()) {
            let is = noun.kind != NounKind::Pronoun
                && steps_below_class(noun, head)
                    .is_some_and(|steps| steps > 0 || noun.modifiers.len() > class.modifiers.len());
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
    // "The code is 4711", for "what is the code?".
    let is = question.asked.clause.verb.as_ref().is_some_and(|verb| verb.lemma == "be" && verb.auxiliary_only);
    if found.is_empty() && is && !class.plural {
        let told = reading.clauses().filter(|clause| {
            let same = clause
                .subject
                .as_ref()
                .is_some_and(|subject| phrase_similarity(class, subject, reading) >= MIN_PERSON_SIMILARITY);
            same && clause.verb.as_ref().is_some_and(|verb| verb.lemma == "be" && verb.auxiliary_only && !verb.negated)
        });
        found.extend(told.filter_map(|clause| clause.objects.first()).map(|noun| reading.phrase_text(noun)));
    }
    // "With a saw, and smooths it with a file": what is used in the same way is a tool as well, whatever the lexicon knows of it.
    if class.plural && !found.is_empty() {
        let adjuncts: Vec<&Adjunct> = reading.clauses().flat_map(|clause| &clause.adjuncts).collect();
        let of_class = |adjunct: &&&Adjunct| found.contains(&reading.phrase_text(&adjunct.noun));
        let role = adjuncts.iter().find(of_class).map(|adjunct| adjunct.preposition.clone());
        let same = adjuncts.iter().filter(|adjunct| role.as_ref() == Some(&adjunct.preposition));
        let used = same
            .filter(|adjunct| lexicon::category(&adjunct.noun.head, PartOfSpeech::Noun) == Some(Category::Artifact));
        for adjunct in used {
            let text = reading.phrase_text(&adjunct.noun);
            if !found.contains(&text) {
                found.push(text);
            }
        }
    }
    // "Which rooms did you clean?": what is cleaned is one, if it can be one at all.
    if found.is_empty()
        && matches!(head, "room" | "place" | "location" | "spot" | "area")
        && let Some(verb) = question.asked.clause.verb.as_ref().filter(|verb| !verb.auxiliary_only)
    {
        let told = reading.clauses().filter(|clause| {
            clause.verb.as_ref().is_some_and(|told| !told.negated && verb_similarity(verb, told) >= 0.8)
        });
        let objects = told.flat_map(|clause| &clause.objects).filter(|noun| can_be_place(noun) && !is_person(noun));
        found.extend(objects.map(|noun| reading.phrase_text(noun)));
    }
    // The entity of an event is a thing of the class if it matches the verb of the question.
    if found.is_empty()
        && let Some(entity) = &reading.event.entity
        && matches!(reading.event.kind, Kind::Action | Kind::Object | Kind::State)
        && let Some(verb) = question.asked.clause.verb.as_ref().filter(|verb| !verb.auxiliary_only)
        && reading.clauses().filter_map(|clause| clause.verb.as_ref()).any(|told| verb_similarity(verb, told) >= 0.8)
        && !is_person(&name_phrase(entity))
    {
        found.push(entity.clone());
    }
    found
}

/// Returns how many steps a noun phrase is below a class, by its last two words, else by its head.
pub(in crate::recall) fn steps_below_class(noun: &NounPhrase, class: &str) -> Option<u8> {
    let two = noun.modifiers.last().map(|last| format!("{last} {}", noun.head));
    let is_a = |word: &str| lexicon::is_a_as(word, class, PartOfSpeech::Noun);
    two.and_then(|two| is_a(&two)).or_else(|| is_a(&noun.head))
}

/// Returns whether a question asks for a colour, and an event names several. Whose a thing of a person is must be told.
pub(super) fn is_one_of_colours(question: &Question<'_>, reading: &ParsedEvent) -> bool {
    let asked = question.asked.class.as_ref().is_some_and(|class| matches!(class.head.as_str(), "colour" | "color"));
    let owner = question.named.first().and_then(|thing| thing.owner.as_deref());
    let told = owner.is_none_or(|owner| {
        owner.kind != NounKind::Name || best_phrase_similarity(owner, reading) >= MIN_PERSON_SIMILARITY
    });
    asked && told && reading.lemmas.iter().filter(|(lemma, _)| is_colour(lemma)).count() > 1
}

fn colours(question: &Question<'_>, reading: &ParsedEvent) -> Vec<String> {
    let thing = question.asked.clause.subject.as_ref().or(question.named.first());
    let mut found: Vec<String> = Vec::new();
    for clause in reading.clauses() {
        // "A pair of yellow gloves" are gloves.
        for noun in arguments(clause).flat_map(|noun| std::iter::once(noun).chain(noun.of.as_deref())) {
            let about = thing.is_none_or(|thing| {
                let head = NounPhrase { modifiers: Vec::new(), owner: None, of: None, ..thing.clone() };
                phrase_similarity(&head, noun, reading) >= 0.6
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
            .is_some_and(|subject| thing.is_none_or(|thing| word_similarity(&thing.head, &subject.head) >= 0.6));
        if subject {
            found.extend(clause.complements.iter().map(|(word, _)| word.clone()).filter(|word| is_colour(word)));
        }
    }
    found.dedup();
    found
}
