//! States and their opposites, for what was told and for what is asked. What procedures take for lacking or restored is still a
//! list of its own (`recall/symbolic/claim.rs`).

use super::lexicon::{self, PartOfSpeech};

/// A scale on which something is one or the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
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

/// For each scale the words of its one end and of the other, by their base forms.
const STATES: &[(Scale, &[&str], &[&str])] = &[
    (
        Scale::Working,
        &[
            "work", "working", "function", "operate", "repair", "repaired", "fix", "fixed", "mend", "mended", "patch",
            "patched", "ok", "okay", "fine", "intact", "usable", "fit", "new",
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
        ],
    ),
    (Scale::Open, &["open", "opened", "ajar"], &["close", "closed", "shut"]),
    (Scale::Locked, &["lock", "locked", "bolt", "bolted"], &["unlock", "unlocked", "unbolt"]),
    (Scale::On, &["on", "running", "lit"], &["off", "out"]),
    (
        Scale::Clean,
        &["clean", "cleaned", "wash", "washed", "tidy", "wipe"],
        &["dirty", "filthy", "messy", "stained", "untidy"],
    ),
    (Scale::Full, &["full", "fill", "filled"], &["empty", "emptied"]),
    (
        Scale::Well,
        &["well", "healthy", "recover", "recovered", "better"],
        &["ill", "sick", "fever", "feverish", "unwell", "temperature", "sore"],
    ),
    (
        Scale::There,
        &["here", "there", "present", "available", "back", "arrive", "arrived", "delivered"],
        &["go", "gone", "away", "missing", "lost", "absent", "unavailable"],
    ),
    (Scale::Awake, &["awake", "wake", "woken"], &["asleep", "sleep", "sleeping"]),
    (Scale::Charged, &["charged", "charge"], &["flat", "discharged"]),
    (Scale::Wet, &["wet", "damp", "soaked"], &["dry", "dried"]),
    (Scale::Hot, &["hot", "warm", "heated"], &["cold", "cool", "frozen"]),
    (
        Scale::Allowed,
        &["allow", "allowed", "permit", "permitted"],
        &["forbid", "forbidden", "prohibit", "prohibited", "ban", "banned"],
    ),
];

/// What a part of the body does that is ill.
pub(crate) const PAINING: &[&str] = &["hurt", "ache", "itch", "swell", "burn"];
/// How a part of the body is that is well again.
pub(crate) const FINE: &[&str] = &["right", "alright", "fine", "ok", "okay", "better", "good"];

/// Whether who has it is ill: "a headache", "the flu".
pub(crate) fn is_ailment(word: &str) -> bool {
    let is_a = |class: &&str| lexicon::is_a_as(word, class, PartOfSpeech::Noun).is_some();
    word.len() > 4 && word.ends_with("ache") || ["pain", "illness"].iter().any(is_a)
}

/// The scale that a word names a state of, and whether it is the first end.
pub(crate) fn state(word: &str) -> Option<(Scale, bool)> {
    STATES.iter().find_map(|(scale, first, second)| {
        if first.contains(&word) {
            Some((*scale, true))
        } else if second.contains(&word) {
            Some((*scale, false))
        } else {
            None
        }
    })
}

/// Whether two words name the same state (`Some(true)`), opposite ones (`Some(false)`), or cannot be compared.
pub(crate) fn same(a: &str, b: &str) -> Option<bool> {
    if a == b {
        return Some(true);
    }
    match (state(a), state(b)) {
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
        assert_eq!(same("repaired", "broken"), Some(false));
        assert_eq!(same("shut", "closed"), Some(true));
        assert_eq!(same("wet", "locked"), None);
    }
}
