//! The stance of an event on a state of a thing: it holds, it is over, or unknown.

use super::likeness::{best_phrase_similarity, phrase_similarity};
use super::question::Question;
use super::reading::{ParsedEvent, arguments, can_be_place, is_anaphor, is_person};
use crate::language::english::closed::PLACE_PREPOSITIONS;
use crate::language::english::lexicon::{self, Category, PartOfSpeech};
use crate::language::english::states::{PAIN_VERBS, StateScale, WELLNESS_WORDS, is_ailment, same_state, state_of_word};
use crate::language::english::syntax::{Adjunct, Clause, NounPhrase};
use crate::language::english::tag::{Tag, Word};
use crate::language::english::time::ToldTime;

/// Minimum similarity of two phrases for one thing.
pub(super) const MIN_THING_SIMILARITY: f32 = 0.55;

/// Returns the stance of an event on a state of "it".
pub(super) fn stance_on_it(predicate: &str, reading: &ParsedEvent) -> Option<bool> {
    let told = reading.told_clauses();
    let of_it: Vec<&Clause> = told.filter(|clause| clause.subject.as_ref().is_some_and(is_anaphor)).collect();
    of_it.into_iter().rev().find_map(|clause| {
        let meant = reading.resolve(clause.subject.as_ref()?)?;
        clause_stance(predicate, &meant, clause, reading)
    })
}

/// Returns whether an event is about a thing, a person, or something that belongs to them: "Ivo's fever".
pub(super) fn concerns(thing: &NounPhrase, reading: &ParsedEvent) -> bool {
    let mut owners = reading.clauses().flat_map(arguments).filter_map(|noun| noun.owner.as_deref());
    best_phrase_similarity(thing, reading) >= MIN_THING_SIMILARITY
        || owners.any(|owner| phrase_similarity(thing, owner, reading) >= MIN_THING_SIMILARITY)
}

/// Returns whether a clause asks about the use of a thing: "can one use it?".
pub(super) fn asks_about_use(clause: &Clause) -> bool {
    clause.verb.as_ref().is_some_and(|verb| verb.lemma == "use" && verb.modal.is_some())
}

/// Returns whether a clause acts on no other thing: "does it run?", "is he running a temperature?", and not "did she
/// run a shop?".
pub(super) fn is_intransitive(clause: &Clause) -> bool {
    clause.objects.iter().all(|object| state_of_word(&object.head).is_some() || is_ailment(&object.head))
}

/// Returns the state or deed that a clause asks about: "locked", "work". "In the hallway" is none.
pub(super) fn asked_predicate(clause: &Clause, question: &Question<'_>) -> Option<String> {
    // "Is there a new cup?" does not ask whether it is there, and "is it there?" does.
    let behind = |at: usize| clause.subject.as_ref().is_none_or(|subject| subject.range.start < at);
    let complements = clause.complements.iter().filter(|(word, range)| word != "there" || behind(range.start));
    let complement = complements.map(|(word, _)| word.as_str()).find(|word| state_of_word(word).is_some());
    let verb = clause.verb.as_ref();
    // "Is he going there?" asks for no state.
    let main = verb.filter(|verb| !verb.auxiliary_only).map(|verb| verb.lemma.as_str()).filter(|verb| *verb != "go");
    let participle = question
        .asked
        .words
        .iter()
        .filter(|word| word.range.start >= clause.range.start && word.range.end <= clause.range.end)
        // "Is the new cup here?" does not ask whether something is new.
        // "Did she go sailing?" does not ask whether she is gone.
        .filter(|word| !modifies_noun(clause, word) && !word.has_text("there"))
        .filter(|word| {
            word.lemma != "go" || word.has_text("gone") || clause.adjuncts.iter().any(|it| it.preposition == "to")
        });
    let mut participle = participle
        .filter(|word| matches!(word.tag, Tag::Verb | Tag::Adjective | Tag::Noun))
        .map(|word| word.text.as_str());
    let object = clause.objects.iter().map(|object| object.head.as_str()).find(|head| state_of_word(head).is_some());
    // "Has he still got a headache?" asks whether he is ill.
    let object = object.or_else(|| clause.objects.iter().any(|object| is_ailment(&object.head)).then_some("ill"));
    // "Is she still with us?"
    let among_us = || {
        let us = |adjunct: &Adjunct| adjunct.preposition == "with" && matches!(adjunct.noun.head.as_str(), "us" | "we");
        verb.is_some_and(|verb| verb.lemma == "be" && verb.auxiliary_only) && clause.adjuncts.iter().any(us)
    };
    if among_us() {
        return Some("there".to_owned());
    }
    // "Is it all right?"
    let right = || clause.complements.iter().any(|(word, _)| word == "right" || word == "alright");
    // Who is out is away, and what is out does not burn.
    let who = clause.subject.as_ref().is_some_and(is_person);
    let complement = complement.map(|word| if word == "out" && who { "away" } else { word });
    complement
        .or(object)
        .or_else(|| right().then_some("ok"))
        .map(str::to_owned)
        .or_else(|| main.filter(|verb| state_of_word(verb).is_some()).map(str::to_owned))
        .or_else(|| participle.find(|word| state_of_word(word).is_some()).map(str::to_owned))
        .or_else(|| {
            // "Can I use it?" asks whether it works.
            let uses = main.is_some_and(|verb| matches!(verb, "use" | "ring" | "function" | "light" | "start"));
            uses.then(|| "work".to_owned())
        })
        .or_else(|| {
            let on = clause.complements.iter().any(|(word, _)| word == "on")
                || verb.is_some_and(|verb| verb.particle.as_deref() == Some("on"));
            on.then(|| "work".to_owned())
        })
}

/// Returns whether a word stands inside a noun phrase, before its head.
pub(super) fn modifies_noun(clause: &Clause, word: &Word) -> bool {
    let nouns = clause.subject.iter().chain(&clause.objects).flat_map(NounPhrase::coordinated);
    nouns
        .chain(clause.adjuncts.iter().map(|adjunct| &adjunct.noun))
        .any(|noun| noun.range.start <= word.range.start && word.range.end < noun.range.end && word.lemma != noun.head)
}

/// Verbs for operating or repairing a thing.
const OPERATING_VERBS: &[&str] = &["do", "use", "fix", "repair", "mend", "replace", "start", "run", "operate"];

/// Returns whether a clause states that its subject is over.
pub(super) fn states_end(clause: &Clause) -> bool {
    let is_end = |word: &str| matches!(word, "gone" | "over" | "past" | "away");
    // "It is over since Monday": the preposition is what is said of it.
    let being = clause.verb.as_ref().is_some_and(|verb| verb.auxiliary_only);
    let mut prepositions = clause.adjuncts.iter().filter_map(|adjunct| adjunct.preposition.split(' ').next());
    clause.complements.iter().any(|(word, _)| is_end(word)) || being && prepositions.any(is_end)
}

/// Returns whether an event states the opposite of a state that the question presupposes: "they close it", for "when
/// was it opened?".
pub(super) fn contradicts_premise(question: &Question<'_>, reading: &ParsedEvent) -> bool {
    let main = &question.asked.main;
    let mut states = question.asked.words.iter().filter(|word| {
        main.start <= word.range.start
            && word.range.end <= main.end
            && matches!(word.tag, Tag::Verb | Tag::Adjective | Tag::Noun)
            && state_of_word(&word.lemma).is_some()
    });
    let Some(word) = states.next() else { return false };
    let thing = question.asked.clause.subject.as_ref().filter(|subject| !subject.is_pronoun());
    let Some(thing) = thing.or(question.named.first()) else { return false };
    if question.asked.has_negated_verb() {
        return false;
    }
    let told = reading.told_clauses();
    let held: Vec<bool> = told
        .filter(|clause| clause.verb.is_some() && clause.subject.is_some())
        .filter(|clause| !is_about_other_place(&question.asked.clause, clause, reading))
        .filter_map(|clause| clause_stance(&word.lemma, thing, clause, reading))
        .collect();
    !held.is_empty() && held.iter().all(|held| !held)
}

/// Returns the stance of an event on a state of a thing: it holds, it does not, or unknown.
pub(super) fn stance(predicate: &str, thing: &NounPhrase, asked: &Clause, reading: &ParsedEvent) -> Option<bool> {
    let mut found: Option<bool> = None;
    for sentence in reading.sentences.iter().filter(|sentence| !sentence.asks) {
        for clause in sentence.clauses.iter().filter(|clause| !is_about_other_place(asked, clause, reading)) {
            if let Some(holds) = clause_stance(predicate, thing, clause, reading) {
                found = Some(holds);
            }
        }
    }
    found
}

/// Returns whether a clause is about another place than the question: "allowed in the yard" says nothing about the
/// hall.
pub(super) fn is_about_other_place(asked: &Clause, told: &Clause, reading: &ParsedEvent) -> bool {
    let places = |clause: &Clause| -> Vec<NounPhrase> {
        let placing =
            clause.adjuncts.iter().filter(|adjunct| PLACE_PREPOSITIONS.contains(&adjunct.preposition.as_str()));
        placing.map(|adjunct| adjunct.noun.clone()).filter(|noun| can_be_place(noun) && !is_person(noun)).collect()
    };
    let (asked, told) = (places(asked), places(told));
    let alike = |asked: &NounPhrase| told.iter().any(|told| phrase_similarity(asked, told, reading) >= 0.5);
    !asked.is_empty() && !told.is_empty() && !asked.iter().any(alike)
}

/// Returns whether a clause says that the previous one is over: "it has stopped working".
pub(super) fn ends_previous_state(clause: &Clause, reading: &ParsedEvent) -> bool {
    let before = reading.clauses().filter(|other| other.range.end <= clause.range.start);
    let stops = |other: &Clause| {
        let verb = other.verb.as_ref().filter(|verb| !verb.negated && other.objects.is_empty());
        verb.is_some_and(|verb| matches!(verb.lemma.as_str(), "stop" | "cease" | "quit"))
    };
    let goes_on = clause.inherited && clause.verb.as_ref().is_some_and(|verb| verb.progressive);
    goes_on && before.last().is_some_and(|other| other.range.end + 1 >= clause.range.start && stops(other))
}

pub(super) fn clause_stance(
    predicate: &str,
    thing: &NounPhrase,
    clause: &Clause,
    reading: &ParsedEvent,
) -> Option<bool> {
    let verb = clause.verb.as_ref();
    let is_it =
        |noun: &NounPhrase| reading.resolve(noun).is_some_and(|noun| phrase_similarity(thing, &noun, reading) >= 0.5);
    // "The fever is gone": a state may itself be what is told of.
    let ails = |noun: &NounPhrase| {
        is_ailment(&noun.head)
            && state_of_word(predicate).is_some_and(|(scale, _)| scale == StateScale::Well)
            && noun.owner.as_deref().is_none_or(is_it)
    };
    let of_state = clause
        .subject
        .as_ref()
        .is_some_and(|subject| same_state(predicate, &subject.head) == Some(true) || ails(subject));
    // "My throat is sore": who has it is ill.
    let of_body = |noun: &NounPhrase| {
        let part = lexicon::category(&noun.head, PartOfSpeech::Noun) == Some(Category::Body);
        part && noun.owner.as_deref().is_some_and(is_it)
    };
    let of_thing = clause.subject.iter().chain(&clause.objects).any(is_it)
        || clause.subject.as_ref().is_some_and(of_body)
        || clause.adjuncts.iter().any(|adjunct| is_it(&adjunct.noun))
        || clause.subject.is_none();
    if !of_thing && !of_state {
        return None;
    }
    // "My ear hurts", "my ear is all right again".
    if let Some((StateScale::Well, well)) = state_of_word(predicate)
        && clause.subject.as_ref().is_some_and(of_body)
        && let Some(verb) = verb.filter(|verb| verb.modal.is_none() && !verb.future)
    {
        let pains = PAIN_VERBS.contains(&verb.lemma.as_str());
        let is_fine = |word: &str| WELLNESS_WORDS.contains(&word);
        let right = || reading.text(&clause.range).to_lowercase().contains("all right");
        let fine = !pains && (clause.complements.iter().any(|(word, _)| is_fine(word)) || right());
        if pains || fine {
            return Some((fine != verb.negated) == well);
        }
    }
    if let Some(verb) = verb.filter(|verb| verb.modal.is_some() || verb.future) {
        // "I can't fix it": what nobody can deal with does not work.
        let useless = matches!(verb.modal.as_deref(), Some("can" | "could"))
            && verb.negated
            && OPERATING_VERBS.contains(&verb.lemma.as_str());
        return state_of_word(predicate)
            .filter(|(scale, _)| useless && *scale == StateScale::Working)
            .map(|(_, end)| !end);
    }
    // A person who drives off is no longer here.
    if let Some((StateScale::There, here)) = state_of_word(predicate)
        && is_person(thing)
        && clause.subject.as_ref().is_some_and(|subject| subject.coordinated().any(is_it))
        && subject_leaves(clause)
    {
        return (!refers_to_future(clause, reading)).then_some(!here);
    }
    // A cancelled event is not on.
    let takes_place = || {
        let category = lexicon::category(&thing.head, PartOfSpeech::Noun);
        matches!(
            category,
            Some(Category::Act | Category::Event | Category::Time | Category::Communication | Category::Group)
        )
    };
    if let (Some((StateScale::On, on)), Some(verb)) = (state_of_word(predicate), verb)
        && takes_place()
    {
        let off = verb.lemma == "cancel" || verb.lemma == "call" && verb.particle.as_deref() == Some("off");
        return off.then_some(on == verb.negated);
    }
    let gone = of_state && (states_end(clause) || clause.verb.as_ref().is_some_and(|verb| verb.lemma == "go"));
    let nobody = clause.subject.as_ref().is_some_and(is_nobody);
    let ended = gone || nobody || ends_previous_state(clause, reading);
    let negated = verb.is_some_and(|verb| verb.negated) != ended;
    let mut words: Vec<&str> = clause.complements.iter().map(|(word, _)| word.as_str()).collect();
    if let Some(verb) = verb {
        // "They are still missing" is no missing of somebody.
        words.push(match verb.lemma.as_str() {
            "miss" if verb.progressive => "missing",
            "light" if verb.passive => "lit",
            lemma => lemma,
        });
        words.extend(verb.particle.as_deref());
    }
    for noun in clause.objects.iter().chain(clause.subject.iter()) {
        // The arrival of a new one says nothing about the state of the old one.
        words.extend(noun.modifiers.iter().map(String::as_str).filter(|word| *word != "new"));
        words.push(&noun.head);
    }
    words.extend(clause.adjuncts.iter().map(|adjunct| adjunct.noun.head.as_str()));
    // "In service again", "out of order".
    words.extend(clause.adjuncts.iter().filter_map(|adjunct| {
        let use_of = matches!(adjunct.noun.head.as_str(), "service" | "order" | "operation" | "use" | "action");
        let out = reading.text(&clause.range).contains("out of ");
        (use_of && adjunct.noun.modifiers.is_empty()).then_some(if out { "broken" } else { "work" })
    }));
    for word in words {
        let word = if is_ailment(word) && state_of_word(word).is_none() { "ill" } else { word };
        if let Some(alike) = same_state(predicate, word) {
            return Some(alike != negated);
        }
        // A thing that is lit or runs works. A thing that is off may work too.
        if let (Some((StateScale::Working, works)), Some((StateScale::On, true))) =
            (state_of_word(predicate), state_of_word(word))
        {
            return Some(works != negated);
        }
        // A thing that stays off does not work.
        let stays = verb.is_some_and(|verb| matches!(verb.lemma.as_str(), "stay" | "remain"));
        if let (Some((StateScale::Working, works)), Some((StateScale::On, false)), true) =
            (state_of_word(predicate), state_of_word(word), stays)
        {
            return Some(works == negated);
        }
        // A flat tyre or torch does not work.
        if let (Some((StateScale::Working, works)), Some((StateScale::Charged, false))) =
            (state_of_word(predicate), state_of_word(word))
        {
            return Some(works == negated);
        }
    }
    // "It does not ring", "it runs again": what a thing does tells whether it works.
    let (scale, end) = state_of_word(predicate)?;
    if scale != StateScale::Working {
        return None;
    }
    let subject = clause.subject.as_ref().and_then(|subject| reading.resolve(subject))?;
    let about = phrase_similarity(thing, &subject, reading) >= MIN_THING_SIMILARITY;
    let acts =
        verb.is_some_and(|verb| !verb.auxiliary_only && !verb.past && clause.objects.is_empty() && !verb.passive);
    (about && acts).then_some(end != negated)
}

/// Returns whether a time phrase stands in a clause, or directly after it.
pub(super) fn contains_time(clause: &Clause, time: &ToldTime) -> bool {
    clause.range.start <= time.range.start && time.range.start <= clause.range.end + 1
}

/// Returns whether a clause names a time after its telling: "I move out on Sunday".
pub(super) fn refers_to_future(clause: &Clause, reading: &ParsedEvent) -> bool {
    let inside = |time: &&ToldTime| contains_time(clause, time);
    reading.times.iter().filter(inside).any(|time| time.span.start > reading.event.span.end)
}

pub(super) fn is_nobody(noun: &NounPhrase) -> bool {
    matches!(noun.head.as_str(), "nobody" | "none" | "nothing") || noun.determiner.as_deref() == Some("no")
}

/// Returns whether the subject of a clause leaves: "drives off", "wheels his bicycle out of the yard", "leaves for the
/// harbour".
pub(super) fn subject_leaves(clause: &Clause) -> bool {
    let Some(verb) = clause.verb.as_ref().filter(|verb| !verb.negated && !verb.auxiliary_only) else { return false };
    let vehicle = |noun: &NounPhrase| lexicon::is_a_as(&noun.head, "vehicle", PartOfSpeech::Noun).is_some();
    // Who leaves the house is away, and who leaves the key is not.
    let building = |noun: &NounPhrase| {
        let is_a = |class| lexicon::is_a_as(&noun.head, class, PartOfSpeech::Noun).is_some();
        verb.lemma == "leave" && (is_a("structure") || is_a("area"))
    };
    let carries = !clause.objects.iter().all(|noun| vehicle(noun) || building(noun));
    let moves = matches!(verb.lemma.as_str(), "leave" | "depart" | "set" | "go")
        || lexicon::category(&verb.lemma, PartOfSpeech::Verb) == Some(Category::MotionVerb);
    let away = verb
        .particle
        .as_deref()
        .into_iter()
        .chain(clause_words(clause))
        .any(|word| matches!(word, "off" | "away" | "out"));
    // "We have run out of milk."
    let away = away && verb.lemma != "run";
    // "She arrives, out of breath."
    let comes = matches!(verb.lemma.as_str(), "arrive" | "come" | "return" | "enter");
    let out = clause
        .adjuncts
        .iter()
        .any(|adjunct| matches!(adjunct.preposition.as_str(), "out of" | "away from") && can_be_place(&adjunct.noun));
    moves && !comes && !carries && (away || out || matches!(verb.lemma.as_str(), "leave" | "depart"))
}

pub(super) fn clause_words(clause: &Clause) -> impl Iterator<Item = &str> {
    clause.complements.iter().map(|(word, _)| word.as_str())
}
