//! Answers who is related to whom, from forms of address: a person who answers Oda with "…, Mother" is her child.

use crate::language::english::lexicon::{self, PartOfSpeech};
use crate::language::english::question::AnswerKind;
use crate::language::english::syntax::NounPhrase;
use crate::recall::candidate::{Candidate, CandidateValue, Layer};
use crate::recall::likeness::phrase_similarity;
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::reading::{ParsedEvent, name_phrase};
use crate::{Kind, ReadError, TimeSpan};

/// Maximum number of texts of a person that are read.
const MAX_PERSON_TEXTS: usize = 200;
/// Time within which an answer follows.
const REPLY_WINDOW: std::time::Duration = std::time::Duration::from_secs(600);
/// Similarity below which a phrase names another person.
const MIN_PERSON_SIMILARITY: f32 = 0.7;

/// Answers "who is Oda's son?".
pub(in crate::recall) fn answer(pool: &EventPool<'_>) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let subject = question.asked.clause.subject.as_ref().or(question.asked.clause.objects.first());
    let Some(asked) = subject.filter(|_| question.ask() == AnswerKind::Person) else { return Ok(None) };
    find_relative(pool, asked)
}

/// Answers "is Bo Oda's son?" by who is.
pub(in crate::recall) fn verify_relation(pool: &EventPool<'_>) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let clause = &question.asked.clause;
    let be = clause.verb.as_ref().is_some_and(|verb| verb.lemma == "be" && verb.auxiliary_only);
    let (Some(person), Some(asked)) = (clause.subject.as_ref().filter(|_| be), clause.objects.first()) else {
        return Ok(None);
    };
    let Some(mut found) = find_relative(pool, asked)? else { return Ok(None) };
    let Some(event) = found.evidence.first() else { return Ok(None) };
    let yes = phrase_similarity(person, &name_phrase(&found.text), &event.reading) >= MIN_PERSON_SIMILARITY;
    found.text = format!("{}: {}", if yes != question.asked.has_negated_verb() { "Yes" } else { "No" }, found.text);
    found.value = CandidateValue::Truth(yes);
    Ok(Some(found))
}

/// Returns the person that a noun phrase describes: "Oda's son".
fn find_relative(pool: &EventPool<'_>, asked: &NounPhrase) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let older = generations(&asked.head);
    let whose = asked.owner.as_deref().or(asked.of.as_deref()).filter(|whose| !whose.is_pronoun());
    let (Some(older), Some(whose)) = (older, whose) else { return Ok(None) };
    let own = |reading: &ParsedEvent| {
        let speaker = reading.event.entity.as_deref().filter(|_| reading.event.kind == Kind::Text);
        speaker.is_some_and(|speaker| phrase_similarity(whose, &name_phrase(speaker), reading) >= MIN_PERSON_SIMILARITY)
    };
    let mut texts = pool.events_about(whose, question.hard, true, MAX_PERSON_TEXTS, &question.content)?;
    texts.retain(|found| own(&found.reading));
    for said in &texts {
        let span = said.span();
        // Younger relatives use the form of address for older ones.
        let window = match older > 0 {
            true => TimeSpan { start: span.start.saturating_sub(REPLY_WINDOW), end: span.start },
            false => TimeSpan { start: span.end, end: span.end.saturating_add(REPLY_WINDOW) },
        };
        let mut beside =
            pool.events_in_time_order(Some(window), None, vec![Kind::Text], older > 0, 4, &question.content)?;
        beside.sort_by_key(|found| (found.span().start, found.id()));
        let other = |found: &&RetrievedEvent| {
            found.id() != said.id() && !own(&found.reading) && found.reading.event.entity.is_some()
        };
        let next = match older > 0 {
            true => beside.iter().rfind(other),
            false => beside.iter().find(other),
        };
        let Some(next) = next else { continue };
        let calls = if older > 0 { said } else { next };
        let Some((word, generations)) = form_of_address(&calls.reading) else { continue };
        // The forms must agree in gender: a grandfather is nobody's grandmother.
        let same = older < 0 || is_same_role(&word, &asked.head) || is_same_role(&asked.head, &word);
        if generations != older.abs() || !same {
            continue;
        }
        let Some(name) = next.reading.event.entity.clone() else { continue };
        let evidence = vec![calls.clone(), if older > 0 { next.clone() } else { said.clone() }];
        return Ok(Some(Candidate::computed(
            Layer::Episodes,
            name.clone(),
            CandidateValue::Text(name),
            evidence,
            question.content.known_share().max(0.6),
            "by how they call one another".into(),
        )));
    }
    Ok(None)
}

/// Returns the form of address for an older relative at the start or the end of a text, separated by a comma, and the
/// number of generations.
fn form_of_address(reading: &ParsedEvent) -> Option<(String, i8)> {
    let text = reading.event.text.trim_end_matches(|c: char| !c.is_alphanumeric());
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let last = text.rsplit_once(',').map(|(_, word)| bare(word)).filter(|word| !word.contains(' '));
    let first = text.split_once(',').map(|(word, _)| bare(word)).filter(|word| !word.contains(' '));
    let words = [last, first].into_iter().flatten();
    words.filter_map(|word| generations(&word).map(|older| (word, older))).find(|(_, older)| *older > 0)
}

/// Returns whether two words name one role: "grandpa", "grandfather".
fn is_same_role(called: &str, asked: &str) -> bool {
    let grand = || called.strip_prefix("grand").zip(asked.strip_prefix("grand"));
    lexicon::is_a_as(called, asked, PartOfSpeech::Noun).is_some()
        || grand().is_some_and(|(called, asked)| lexicon::is_a_as(called, asked, PartOfSpeech::Noun).is_some())
}

/// Returns by how many generations a relative is older: "mother", "granny", "son".
fn generations(word: &str) -> Option<i8> {
    const GENERATIONS_BY_CLASS: &[(&str, i8)] = &[("grandparent", 2), ("parent", 1), ("grandchild", -2), ("child", -1)];
    let is_a = |class: &str| lexicon::is_a_as(word, class, PartOfSpeech::Noun).is_some();
    let grand = || word.strip_prefix("grand").and_then(generations).map(|older| older + older.signum());
    GENERATIONS_BY_CLASS.iter().find(|(class, _)| is_a(class)).map(|(_, older)| *older).or_else(grand)
}
