//! States and their opposites, in statements and in questions. The states that make a thing unusable for a procedure
//! are a separate list (`recall/symbolic/claim.rs`).

use super::lexicon::{self, PartOfSpeech};

/// A scale with two opposite ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StateScale {
    Working,
    Open,
    Locked,
    On,
    Clean,
    Full,
    Well,
    There,
    Awake,
    Charged,
    Wet,
    Hot,
    Allowed,
}

/// The lemmas of the two ends of each scale.
const STATE_WORDS: &[(StateScale, &[&str], &[&str])] = &[
    (
        StateScale::Working,
        &[
            "work", "working", "function", "operate", "repair", "repaired", "fix", "fixed", "mend", "mended", "patch",
            "patched", "ok", "okay", "fine", "intact", "usable", "fit", "new", "right", "alright",
        ],
        &[
            "broken",
            "break",
            "faulty",
            "defective",
            "dead",
            "clog",
            "clogged",
            "block",
            "blocked",
            "stick",
            "stuck",
            "jam",
            "jammed",
            "leak",
            "drip",
            "fail",
            "crack",
            "cracked",
            "damage",
            "damaged",
            "puncture",
            "punctured",
            "burn",
            "burnt",
            "unusable",
            "snap",
            "snapped",
            "tear",
            "torn",
            "rip",
            "ripped",
            "shatter",
            "shattered",
            "bend",
            "bent",
            "seize",
            "seized",
            "wrong",
        ],
    ),
    (StateScale::Open, &["open", "opened", "ajar"], &["close", "closed", "shut"]),
    (StateScale::Locked, &["lock", "locked", "bolt", "bolted"], &["unlock", "unlocked", "unbolt"]),
    (StateScale::On, &["on", "running", "lit"], &["off", "out"]),
    (
        StateScale::Clean,
        &["clean", "cleaned", "wash", "washed", "tidy", "wipe"],
        &["dirty", "filthy", "messy", "stained", "untidy"],
    ),
    (StateScale::Full, &["full", "fill", "filled"], &["empty", "emptied"]),
    (
        StateScale::Well,
        &["well", "healthy", "recover", "recovered", "better"],
        &["ill", "sick", "fever", "feverish", "unwell", "temperature", "sore"],
    ),
    (
        StateScale::There,
        &["here", "there", "present", "available", "back", "arrive", "arrived", "delivered"],
        &["go", "gone", "away", "missing", "lost", "absent", "unavailable"],
    ),
    (StateScale::Awake, &["awake", "wake", "woken"], &["asleep", "sleep", "sleeping"]),
    (StateScale::Charged, &["charged", "charge"], &["flat", "discharged"]),
    (StateScale::Wet, &["wet", "damp", "soaked"], &["dry", "dried"]),
    (StateScale::Hot, &["hot", "warm", "heated"], &["cold", "cool", "frozen"]),
    (
        StateScale::Allowed,
        &["allow", "allowed", "permit", "permitted"],
        &["forbid", "forbidden", "prohibit", "prohibited", "ban", "banned"],
    ),
];

/// Verbs of coming to a place, and of going from it: who comes on Saturday does not leave then.
pub(crate) const COMING_VERBS: &[&str] = &["arrive", "come", "return"];
pub(crate) const LEAVING_VERBS: &[&str] = &["depart", "leave"];

/// Nouns for a condition: "what shape is it in?", "any news of it?"
pub(crate) const CONDITION_NOUNS: &[&str] = &["state", "condition", "shape", "status", "news"];
/// Verbs of an aching part of the body.
pub(crate) const PAIN_VERBS: &[&str] = &["hurt", "ache", "itch", "swell", "burn"];
/// Words for a part of the body that is well again.
pub(crate) const WELLNESS_WORDS: &[&str] = &["right", "alright", "fine", "ok", "okay", "better", "good"];

/// Returns whether a noun names an illness: "a headache", "the flu".
pub(crate) fn is_ailment(word: &str) -> bool {
    let is_a = |class: &&str| lexicon::is_a_as(word, class, PartOfSpeech::Noun).is_some();
    word.len() > 4 && word.ends_with("ache") || ["pain", "illness"].iter().any(is_a)
}

/// Returns the scale of a state, and whether the word names its first end.
pub(crate) fn state_of_word(word: &str) -> Option<(StateScale, bool)> {
    STATE_WORDS.iter().find_map(|(scale, first, second)| {
        if first.contains(&word) {
            Some((*scale, true))
        } else if second.contains(&word) {
            Some((*scale, false))
        } else {
            None
        }
    })
}

/// Returns whether two words name the same state (`Some(true)`), opposite states (`Some(false)`), or states that cannot
/// be compared.
pub(crate) fn same_state(a: &str, b: &str) -> Option<bool> {
    if a == b {
        return Some(true);
    }
    match (state_of_word(a), state_of_word(b)) {
        (Some((one, end)), Some((other, other_end))) if one == other => Some(end == other_end),
        _ if lexicon::are_opposites(a, b) => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opposites_lie_on_one_scale() {
        assert_eq!(same_state("repaired", "broken"), Some(false));
        assert_eq!(same_state("shut", "closed"), Some(true));
        assert_eq!(same_state("wet", "locked"), None);
    }
}
