//! Whether what was wrong with a thing is put right: "does it still drip?", after somebody put a new washer into it.

use crate::language::english::closed::is_one_of;
use crate::language::english::states::{Scale, state};
use crate::language::english::syntax::{Clause, NounKind, NounPhrase};
use crate::recall::content::word_similarity;
use crate::recall::likeness::best_phrase_similarity;
use crate::recall::pool::{EventPool, RetrievedEvent, merge};
use crate::recall::question::Question;
use crate::recall::reading::{ParsedEvent, arguments, is_person};
use crate::recall::stance::stance;
use crate::{Kind, ReadError};

/// From here an event speaks of the thing, or two words of the same trouble.
const SAME: f32 = 0.7;
/// Events of a thing that are gone through.
const LISTED: usize = 100;
/// What is done to a thing so that it does again what it should.
const MENDING: &[&str] = &[
    "repair", "fix", "mend", "replace", "change", "swap", "clean", "tighten", "oil", "solder", "bleed", "adjust",
    "reset", "patch", "seal", "glue",
];
/// What is done with a part that is new.
const FITTING: &[&str] = &["put", "fit", "screw", "install", "insert", "mount", "attach", "set"];

/// How a thing is since something was wrong with it.
pub(super) struct Mended {
    /// Whether the answer to the question is that all is well.
    pub well: bool,
    /// What was done or seen since, then what was wrong.
    pub evidence: Vec<RetrievedEvent>,
}

/// What was done about the trouble that a question names; none where the question names none, or where it was told again since.
pub(super) fn since(
    pool: &EventPool<'_>,
    thing: &NounPhrase,
    stated: Option<&(NounPhrase, String)>,
    pooled: &[RetrievedEvent],
) -> Result<Option<Mended>, ReadError> {
    let question = pool.question;
    let Some(trouble) = Trouble::of(question, thing, stated) else { return Ok(None) };
    let listed = merge(
        pool.events_about(thing, question.bound(), true, LISTED, &question.content)?,
        pool.events_mentioning(thing, question.bound(), true, LISTED, &question.content)?,
    );
    let mut all = merge(listed, pooled.to_vec());
    all.sort_by_key(|found| (found.span().start, found.id()));
    let wrong = all.iter().rposition(|found| trouble.is_told_by(question, thing, &found.reading));
    let Some(wrong) = wrong else { return Ok(None) };
    let parts = things_of(&all[wrong].reading);
    let put_right = |found: &&RetrievedEvent| {
        let reading = &found.reading;
        let of_it = best_phrase_similarity(thing, reading) >= SAME;
        let of_part = || parts.iter().any(|part| best_phrase_similarity(part, reading) >= SAME);
        let seen = matches!(reading.event.kind, Kind::Action | Kind::Caption);
        seen && (of_it || of_part()) && reading.clauses().any(is_mending)
            || of_it
                && reading.event.kind != Kind::Action
                && stance("work", thing, &question.asked.clause, reading) == Some(true)
    };
    let Some(done) = all[wrong + 1..].iter().rev().find(put_right) else { return Ok(None) };
    Ok(Some(Mended { well: trouble.asks_well, evidence: vec![done.clone(), all[wrong].clone()] }))
}

/// What a question says is wrong with a thing, or asks to be right again.
struct Trouble {
    /// The words of the trouble; empty where only "all right again" is asked.
    words: Vec<String>,
    asks_well: bool,
}

impl Trouble {
    fn of(question: &Question<'_>, thing: &NounPhrase, stated: Option<&(NounPhrase, String)>) -> Option<Self> {
        let clause = &question.asked.clause;
        if is_person(thing) || thing.is_pronoun() {
            return None;
        }
        let has = |word: &str| question.asked.words.iter().any(|one| one.text == word);
        let works = stated.and_then(|(_, predicate)| state(predicate)).filter(|(scale, _)| *scale == Scale::Working);
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
        let good = words.iter().any(|word| state(word).is_some_and(|(_, good)| good));
        (!words.is_empty() && !good).then_some(Self { words, asks_well: false })
    }

    fn is_told_by(&self, question: &Question<'_>, thing: &NounPhrase, reading: &ParsedEvent) -> bool {
        let told = |word: &String| reading.lemmas.iter().any(|(lemma, _)| word_similarity(word, lemma) >= SAME);
        let fails = || stance("work", thing, &question.asked.clause, reading) == Some(false);
        let denied = || {
            let mut alike = reading.clauses().filter_map(|clause| clause.verb.as_ref());
            alike.any(|verb| verb.negated && self.words.iter().any(|word| word_similarity(word, &verb.lemma) >= SAME))
        };
        best_phrase_similarity(thing, reading) >= SAME
            && !reading.only_asks()
            && if self.words.is_empty() { fails() } else { self.words.iter().any(told) && !denied() }
    }
}

/// The things, and no persons, that an event names.
fn things_of(reading: &ParsedEvent) -> Vec<NounPhrase> {
    let is_thing = |noun: &&NounPhrase| noun.kind == NounKind::Common && !noun.is_pronoun() && !is_person(noun);
    reading.clauses().flat_map(arguments).filter(is_thing).cloned().collect()
}

/// Whether somebody puts something right: "cleans the filter", "screws a new washer into the joint".
fn is_mending(clause: &Clause) -> bool {
    let Some(verb) = clause.verb.as_ref().filter(|verb| !verb.negated && verb.modal.is_none() && !verb.future) else {
        return false;
    };
    let fresh = |noun: &NounPhrase| noun.modifiers.iter().any(|word| word == "new" || word == "spare");
    is_one_of(&verb.lemma, MENDING) || is_one_of(&verb.lemma, FITTING) && clause.objects.iter().any(fresh)
}
