//! Answers what somebody must not eat, drink or take: what was told to harm them.

use crate::language::english::closed::{HARM_WORDS, INDEFINITE_PRONOUNS, is_one_of};
use crate::language::english::letters::capitalised;
use crate::language::english::lexicon::{self, Category, PartOfSpeech};
use crate::language::english::question::AnswerKind;
use crate::language::english::syntax::{Clause, NounKind, NounPhrase};
use crate::recall::answerers::quote::quotation;
use crate::recall::candidate::{Candidate, CandidateValue, Layer};
use crate::recall::likeness::phrase_similarity;
use crate::recall::pool::{EventPool, RetrievedEvent, merge};
use crate::recall::question::Question;
use crate::recall::reading::{ParsedEvent, is_person, name_phrase};
use crate::{Kind, ReadError};

/// Maximum number of texts by and about a person that are read, the latest first.
const MAX_PERSON_TEXTS: usize = 200;
/// Similarity below which a phrase names another person.
const MIN_PERSON_SIMILARITY: f32 = 0.7;
/// Similarity below which a phrase names another thing.
const MIN_THING_SIMILARITY: f32 = 0.6;

/// Verbs for tolerating food.
const TOLERANCE_VERBS: &[&str] = &["tolerate", "stand", "digest", "stomach", "bear", "eat", "drink"];

/// Answers "what must Ida not eat?" or "may Ida have nuts?".
pub(in crate::recall) fn answer(pool: &EventPool<'_>) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let Some((person, thing)) = asked_person_and_food(question) else { return Ok(None) };
    let mut texts = merge(
        pool.events_about(person, question.hard, true, MAX_PERSON_TEXTS, &question.content)?,
        pool.events_mentioning(person, question.hard, true, MAX_PERSON_TEXTS, &question.content)?,
    );
    texts.retain(|found| found.reading.event.kind == Kind::Text && !found.reading.only_asks());
    texts.sort_by_key(|found| std::cmp::Reverse((found.span().start, found.id())));
    let mut told: Vec<(String, RetrievedEvent)> = Vec::new();
    for found in texts {
        for harm in found.reading.clauses().filter_map(|clause| harmful_thing(clause, person, &found.reading)) {
            match thing {
                Some(thing)
                    if phrase_similarity(thing, harm, &found.reading).max(phrase_similarity(
                        harm,
                        thing,
                        &found.reading,
                    )) < MIN_THING_SIMILARITY => {}
                _ => told.push((phrase_in_lower_case(harm, &found.reading), found.clone())),
            }
        }
    }
    if told.is_empty() {
        return Ok(None);
    }
    told.dedup_by(|a, b| a.0.eq_ignore_ascii_case(&b.0));
    let (text, value) = match thing {
        Some(_) => (format!("No: {}", quotation(&told[0].1, question)), CandidateValue::Truth(false)),
        None => {
            let names: Vec<String> = told.iter().map(|(name, _)| name.clone()).collect();
            (capitalised(&super::quote::join_list(&names)), CandidateValue::List(names))
        }
    };
    let evidence = told.into_iter().map(|(_, found)| found).collect();
    let known = question.content.known_share().max(MIN_PERSON_SIMILARITY);
    let reason = "what was told to harm them";
    Ok(Some(Candidate::computed(Layer::Episodes, text, value, evidence, known, reason.into())))
}

/// Returns the person of the question, and the food if it names one.
fn asked_person_and_food<'q>(question: &'q Question<'_>) -> Option<(&'q NounPhrase, Option<&'q NounPhrase>)> {
    let clause = &question.asked.clause;
    let verb = clause.verb.as_ref().filter(|verb| !verb.auxiliary_only && !verb.past && !verb.future)?;
    let takes = lexicon::category(&verb.lemma, PartOfSpeech::Verb) == Some(Category::ConsumptionVerb)
        || TOLERANCE_VERBS.contains(&verb.lemma.as_str())
        || matches!(verb.lemma.as_str(), "have" | "take");
    let person =
        clause.subject.as_ref().filter(|subject| takes && subject.kind == NounKind::Name && is_person(subject))?;
    // A general habit ("does not eat"), and not the present ("is not eating").
    let may = matches!(verb.modal.as_deref(), Some("can" | "may" | "could" | "must" | "should"))
        || verb.modal.is_none() && !verb.progressive && !verb.perfect && !question.has_time_bound();
    match question.ask() {
        AnswerKind::Thing | AnswerKind::Action if verb.negated && may => Some((person, None)),
        AnswerKind::Truth if may && !verb.negated => Some((person, Some(clause.objects.first()?))),
        _ => None,
    }
}

/// Returns what a clause reports as harmful to a person: "nuts are poison for her", "she is allergic to nuts", "she
/// gets a rash from nuts".
fn harmful_thing<'r>(clause: &'r Clause, person: &NounPhrase, reading: &'r ParsedEvent) -> Option<&'r NounPhrase> {
    let verb = clause.verb.as_ref().filter(|verb| !verb.past)?;
    let is_harm = |word: &str| HARM_WORDS.contains(&word);
    let of_speaker = reading
        .event
        .entity
        .as_deref()
        .is_some_and(|entity| phrase_similarity(person, &name_phrase(entity), reading) >= MIN_PERSON_SIMILARITY);
    let is_them = |noun: &NounPhrase| {
        noun.coordinated().any(|noun| phrase_similarity(person, noun, reading) >= MIN_PERSON_SIMILARITY)
            || of_speaker && matches!(noun.head.as_str(), "i" | "me")
            || noun.is_pronoun()
                && reading
                    .resolve(noun)
                    .is_some_and(|noun| phrase_similarity(person, &noun, reading) >= MIN_PERSON_SIMILARITY)
    };
    let subject = clause.subject.as_ref()?;
    let said = clause.complements.iter().any(|(word, _)| is_harm(word)) || is_harm(&verb.lemma);
    let noun = clause.objects.iter().any(|object| is_harm(&object.head));
    let adjunct = |prepositions: &[&str]| {
        let mut all =
            clause.adjuncts.iter().filter(move |adjunct| prepositions.contains(&adjunct.preposition.as_str()));
        all.next().map(|adjunct| &adjunct.noun)
    };
    // "Milk does not agree with her", "she cannot stand milk".
    if verb.negated {
        let agrees = verb.lemma == "agree" && adjunct(&["with"]).is_some_and(is_them);
        let stands = is_them(subject) && TOLERANCE_VERBS.contains(&verb.lemma.as_str());
        // "She cannot have anything with milk."
        let object = clause.objects.first().filter(|_| stands);
        let whole = object
            .filter(|object| is_one_of(&object.head, INDEFINITE_PRONOUNS))
            .and_then(|_| adjunct(&["with", "of", "in"]));
        let named = object.filter(|object| !object.is_pronoun() && !is_one_of(&object.head, INDEFINITE_PRONOUNS));
        return agrees.then_some(subject).or(whole).or(named);
    }
    if is_them(subject) && (said || noun) {
        return adjunct(&["to", "from", "of", "against"]);
    }
    let for_them = adjunct(&["for", "to"]).is_some_and(is_them) || clause.objects.iter().any(is_them);
    let bad = clause.complements.iter().any(|(word, _)| word == "bad");
    (for_them && (said || noun || bad) && !subject.is_pronoun()).then_some(subject)
}

/// Returns a phrase in its own words, in lower case unless it is a name.
pub(super) fn phrase_in_lower_case(noun: &NounPhrase, reading: &ParsedEvent) -> String {
    let text = reading.phrase_text(noun);
    if noun.kind == NounKind::Name { text } else { text.to_lowercase() }
}
