//! Who tells of the deeds that a caption shows, by the words that both share.

use std::collections::BTreeMap;

use crate::language::english::syntax::{Clause, NounKind, NounPhrase};
use crate::recall::reading::{ParsedEvent, arguments, is_person, name_phrase};

/// Share of a word in what a speaker says neither of themselves nor of anybody else.
const OTHER_CLAUSE_SHARE: f32 = 0.4;
/// The same where the speaker also speaks of themselves: "the handrail's missing, I'll do that tomorrow".
const BESIDE_OWN_CLAUSE_SHARE: f32 = 0.6;
/// The same of what has no verb.
const VERBLESS_SHARE: f32 = 0.7;

/// A word of a caption, or a synonym of one.
pub(super) struct ShownWord {
    pub of: String,
    pub weight: f32,
}

/// What a caption shows, by the words that tell of it.
pub(super) type ShownWords = BTreeMap<String, ShownWord>;

/// Votes for persons by the head of their name in lower case, with the name as it is written.
pub(super) type Votes = BTreeMap<String, (String, f32)>;

/// Returns who tells of what a caption shows, by how much of it they tell. `meaning` is the vote for who says the same in
/// other words: for whoever does most of what is told.
pub(super) fn tellers(text: &ParsedEvent, shown: &ShownWords, meaning: f32) -> Votes {
    let mut told: BTreeMap<String, ToldBy<'_>> = BTreeMap::new();
    let mut before: Option<&Clause> = None;
    for clause in text.clauses() {
        let before = before.replace(clause);
        if is_denied(clause) {
            continue;
        }
        let Some((name, share)) = actor(clause, before, text) else { continue };
        let by = told.entry(key_of(&name)).or_insert_with(|| ToldBy { name, share, words: BTreeMap::new() });
        by.share = by.share.max(share);
        let verb = clause.verb.iter().map(|verb| verb.lemma.as_str());
        for word in arguments(clause).flat_map(NounPhrase::lemmas).chain(verb).filter_map(|word| shown.get(word)) {
            let known = by.words.entry(&word.of).or_insert(0.0);
            *known = known.max(word.weight * share);
        }
    }
    let vote = |by: &ToldBy<'_>| by.words.values().sum::<f32>() + meaning * by.share;
    let votes = told.into_iter().map(|(key, by)| (key, (vote(&by), by.name)));
    votes.filter(|(_, (vote, _))| *vote > 0.0).map(|(key, (vote, name))| (key, (name, vote))).collect()
}

/// What one person does in a text.
struct ToldBy<'a> {
    name: String,
    /// The greatest share of a clause.
    share: f32,
    /// The words of the caption that are told, with their weights.
    words: BTreeMap<&'a str, f32>,
}

/// Returns who does what a clause says, with the share of a vote: the speaker, or who is named. What nobody does is said of
/// the speaker's surroundings.
fn actor(clause: &Clause, before: Option<&Clause>, text: &ParsedEvent) -> Option<(String, f32)> {
    let speaker = text.event.entity.clone()?;
    let is_name = |noun: &NounPhrase| noun.kind == NounKind::Name && is_person(noun);
    // "I've asked Ivo to lend us his saw": Ivo lends it.
    let lends =
        clause.verb.as_ref().is_some_and(|verb| verb.infinitive) && (clause.subject.is_none() || clause.inherited);
    let asked = before.filter(|_| lends).and_then(|before| before.objects.last()).filter(|asked| is_name(asked));
    if let Some(asked) = asked {
        return Some((text.phrase_text(asked), 1.0));
    }
    let Some(subject) = &clause.subject else {
        // "I'll start on the stairs, seven steps": what has no verb goes on with what was said.
        let share = match &clause.verb {
            None => VERBLESS_SHARE,
            Some(verb) if verb.infinitive => OTHER_CLAUSE_SHARE,
            Some(_) => 1.0,
        };
        return Some((speaker, share));
    };
    if speaks(subject) {
        return Some((speaker, 1.0));
    }
    if subject.head == "you" {
        return None;
    }
    match text.resolve(subject) {
        Some(person) if is_name(&person) => Some((text.phrase_text(&person), 1.0)),
        Some(person) if is_person(&person) => None,
        _ => {
            let own = text.clauses().any(|other| other.subject.as_ref().is_some_and(speaks));
            Some((speaker, if own { BESIDE_OWN_CLAUSE_SHARE } else { OTHER_CLAUSE_SHARE }))
        }
    }
}

/// Returns whether a subject includes who speaks.
pub(super) fn speaks(subject: &NounPhrase) -> bool {
    subject.coordinated().any(|own| matches!(own.head.as_str(), "i" | "we" | "me"))
}

/// Returns whether a clause denies what it says: "I didn't sweep", "there's still no staircase".
pub(super) fn is_denied(clause: &Clause) -> bool {
    let no = |noun: &NounPhrase| noun.determiner.as_deref() == Some("no");
    clause.verb.as_ref().is_some_and(|verb| verb.negated) || arguments(clause).any(no)
}

/// The head of a name in lower case.
pub(super) fn key_of(name: &str) -> String {
    name_phrase(name).head
}
