//! Answers whether a fault was repaired: "does it still drip?", after somebody put a new washer into it.

use crate::language::english::closed::is_one_of;
use crate::language::english::states::{StateScale, state_of_word};
use crate::language::english::syntax::{Clause, NounKind, NounPhrase};
use crate::recall::content::word_similarity;
use crate::recall::likeness::best_phrase_similarity;
use crate::recall::pool::{EventPool, RetrievedEvent, merge};
use crate::recall::question::Question;
use crate::recall::reading::{ParsedEvent, arguments, is_person};
use crate::recall::stance::stance;
use crate::{Kind, ReadError};

/// Minimum similarity of an event to the thing, or of two words for one fault.
const MIN_SIMILARITY: f32 = 0.7;
/// Maximum number of events of a thing that are read.
const MAX_THING_EVENTS: usize = 100;
/// Verbs for a repair.
const REPAIR_VERBS: &[&str] = &[
    "repair", "fix", "mend", "replace", "change", "swap", "clean", "tighten", "oil", "solder", "bleed", "adjust",
    "reset", "patch", "seal", "glue",
];
/// Verbs for installing a new part.
const INSTALLING_VERBS: &[&str] = &["put", "fit", "screw", "install", "insert", "mount", "attach", "set"];

/// The status of a thing since its fault.
pub(super) struct RepairStatus {
    /// Whether the thing works again.
    pub well: bool,
    /// What was done or observed since, then the fault.
    pub evidence: Vec<RetrievedEvent>,
}

/// Returns the repair status of the fault that a question names. `None` if it names no fault, or if the fault was
/// reported again since.
pub(super) fn repair_status(
    pool: &EventPool<'_>,
    thing: &NounPhrase,
    stated: Option<&(NounPhrase, String)>,
    pooled: &[RetrievedEvent],
) -> Result<Option<RepairStatus>, ReadError> {
    let question = pool.question;
    let Some(trouble) = AskedFault::from_question(question, thing, stated) else { return Ok(None) };
    let listed = merge(
        pool.events_about(thing, question.bound(), true, MAX_THING_EVENTS, &question.content)?,
        pool.events_mentioning(thing, question.bound(), true, MAX_THING_EVENTS, &question.content)?,
    );
    let mut all = merge(listed, pooled.to_vec());
    all.sort_by_key(|found| (found.span().start, found.id()));
    let wrong = all.iter().rposition(|found| trouble.is_reported_by(question, thing, &found.reading));
    let Some(wrong) = wrong else { return Ok(None) };
    let parts = things_named(&all[wrong].reading);
    let put_right = |found: &&RetrievedEvent| {
        let reading = &found.reading;
        let of_it = best_phrase_similarity(thing, reading) >= MIN_SIMILARITY;
        let of_part = || parts.iter().any(|part| best_phrase_similarity(part, reading) >= MIN_SIMILARITY);
        let seen = matches!(reading.event.kind, Kind::Action | Kind::Caption);
        seen && (of_it || of_part()) && reading.clauses().any(is_repair)
            || of_it
                && reading.event.kind != Kind::Action
                && stance("work", thing, &question.asked.clause, reading) == Some(true)
    };
    let Some(done) = all[wrong + 1..].iter().rev().find(put_right) else { return Ok(None) };
    Ok(Some(RepairStatus { well: trouble.asks_well, evidence: vec![done.clone(), all[wrong].clone()] }))
}

/// The fault that a question names, or whose repair it asks for.
struct AskedFault {
    /// The words of the fault. Empty for "all right again".
    words: Vec<String>,
    asks_well: bool,
}

impl AskedFault {
    fn from_question(
        question: &Question<'_>,
        thing: &NounPhrase,
        stated: Option<&(NounPhrase, String)>,
    ) -> Option<Self> {
        let clause = &question.asked.clause;
        if is_person(thing) || thing.is_pronoun() {
            return None;
        }
        let has = |word: &str| question.asked.words.iter().any(|one| one.text == word);
        let works = stated
            .and_then(|(_, predicate)| state_of_word(predicate))
            .filter(|(scale, _)| *scale == StateScale::Working);
        if let Some((_, true)) = works
            && (has("again") || has("now") || has("yet"))
        {
            return Some(Self { words: Vec::new(), asks_well: true });
        }
        if !has("still") {
            return None;
        }
        let verb = clause.verb.as_ref().filter(|verb| !verb.passive && verb.modal.is_none())?;
        let words: Vec<String> = match (verb.auxiliary_only, works) {
            (_, Some((_, false))) => stated.map(|(_, predicate)| predicate.clone()).into_iter().collect(),
            (true, _) => return None,
            // "Does it still make a noise?"
            _ if is_one_of(&verb.lemma, &["make", "have", "do", "show"]) => {
                clause.objects.iter().map(|noun| noun.head.clone()).collect()
            }
            _ if clause.objects.is_empty() => vec![verb.lemma.clone()],
            _ => return None,
        };
        // "Does it still work?" asks for no trouble.
        let good = words.iter().any(|word| state_of_word(word).is_some_and(|(_, good)| good));
        (!words.is_empty() && !good).then_some(Self { words, asks_well: false })
    }

    fn is_reported_by(&self, question: &Question<'_>, thing: &NounPhrase, reading: &ParsedEvent) -> bool {
        let told =
            |word: &String| reading.lemmas.iter().any(|(lemma, _)| word_similarity(word, lemma) >= MIN_SIMILARITY);
        let fails = || stance("work", thing, &question.asked.clause, reading) == Some(false);
        let denied = || {
            let mut alike = reading.clauses().filter_map(|clause| clause.verb.as_ref());
            alike.any(|verb| {
                verb.negated && self.words.iter().any(|word| word_similarity(word, &verb.lemma) >= MIN_SIMILARITY)
            })
        };
        best_phrase_similarity(thing, reading) >= MIN_SIMILARITY
            && !reading.only_asks()
            && if self.words.is_empty() { fails() } else { self.words.iter().any(told) && !denied() }
    }
}

/// Returns the things, and no persons, that an event names.
fn things_named(reading: &ParsedEvent) -> Vec<NounPhrase> {
    let is_thing = |noun: &&NounPhrase| noun.kind == NounKind::Common && !noun.is_pronoun() && !is_person(noun);
    reading.clauses().flat_map(arguments).filter(is_thing).cloned().collect()
}

/// Returns whether a clause reports a repair: "cleans the filter", "screws a new washer into the joint".
pub(super) fn is_repair(clause: &Clause) -> bool {
    let Some(verb) = clause.verb.as_ref().filter(|verb| !verb.negated && verb.modal.is_none() && !verb.future) else {
        return false;
    };
    let fresh = |noun: &NounPhrase| noun.modifiers.iter().any(|word| word == "new" || word == "spare");
    is_one_of(&verb.lemma, REPAIR_VERBS) || is_one_of(&verb.lemma, INSTALLING_VERBS) && clause.objects.iter().any(fresh)
}
