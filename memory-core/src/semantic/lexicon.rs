//! Everyday words that the rules know: colours, states, and what verbs do to their objects.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::index::stem;

/// Effect of a verb on its object or its subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    /// The object is then where the sentence says.
    Put,
    /// The object is then with the subject, or where the sentence says.
    Take,
    /// The subject is then where the sentence says.
    Go,
    /// The subject is where the sentence says.
    Stay,
    /// Relation of the subject to the object; several at a time.
    Relation,
    /// Relation of the subject to the object; one at a time.
    State,
    /// Something is done to the object.
    Deed,
}

const ACTS: &[(Act, &[&str])] = &[
    (
        Act::Put,
        &[
            "put", "place", "leave", "move", "store", "hide", "park", "drop", "set", "hang", "lay", "stash", "keep",
            "load", "stick", "throw", "forget",
        ],
    ),
    (Act::Take, &["take", "pick", "grab", "fetch", "borrow", "bring", "carry", "steal"]),
    (Act::Go, &["go", "walk", "drive", "run", "come", "arrive", "enter", "return", "head", "travel"]),
    (Act::Stay, &["stand", "lie", "sit", "rest", "remain", "stay", "wait"]),
    (Act::Relation, &["like", "love", "hate", "prefer", "own", "have", "know", "play", "speak"]),
    (Act::State, &["live", "work"]),
    (
        Act::Deed,
        &[
            "wash", "clean", "water", "feed", "open", "close", "shut", "turn", "switch", "lock", "unlock", "make",
            "cook", "bake", "eat", "drink", "buy", "sell", "repair", "fix", "break", "charge", "empty", "fill", "cut",
            "call", "visit", "meet", "paint", "write", "read", "find", "lose", "give", "use", "vacuum", "mop", "iron",
            "fold", "deliver", "order", "pay", "send", "install", "ring", "knock", "press", "push", "pull", "light",
            "check", "change", "replace", "clear", "sweep", "dust", "wipe", "peel", "mix", "stir", "boil", "heat",
            "serve", "walk", "brush", "dry", "plug", "unplug", "start", "stop", "finish", "build", "assemble", "wake",
        ],
    ),
];

static BY_STEM: LazyLock<BTreeMap<String, Act>> = LazyLock::new(|| {
    let mut verbs = BTreeMap::new();
    for (act, words) in ACTS {
        for word in *words {
            verbs.entry(stem(word)).or_insert(*act);
        }
    }
    verbs
});

/// Returns the effect of a verb, by its stem.
pub(crate) fn act(stem: &str) -> Option<Act> {
    BY_STEM.get(stem).copied()
}

const COLOURS: &[&str] = &[
    "red",
    "blue",
    "green",
    "yellow",
    "white",
    "black",
    "grey",
    "gray",
    "brown",
    "orange",
    "purple",
    "pink",
    "violet",
    "silver",
    "gold",
    "golden",
    "beige",
    "turquoise",
    "cyan",
    "magenta",
];

pub(crate) fn is_colour(word: &str) -> bool {
    COLOURS.contains(&word)
}

/// Shades that stand before a colour.
pub(crate) const SHADES: &[&str] = &["dark", "light", "bright", "pale", "deep"];

/// States that exclude each other.
const STATES: &[(&str, &[&str])] = &[
    ("open", &["open", "closed", "shut", "ajar"]),
    ("locked", &["locked", "unlocked"]),
    ("power", &["on", "off"]),
    ("clean", &["clean", "dirty"]),
    ("full", &["full", "empty", "half-full"]),
    ("working", &["broken", "working", "fixed", "repaired", "faulty", "defective"]),
    ("charge", &["charged", "charging", "flat", "discharged"]),
    ("ready", &["ready", "finished", "unfinished"]),
    ("mood", &["happy", "sad", "angry", "tired", "bored", "sick", "ill", "well", "asleep", "awake", "hungry"]),
    ("presence", &["missing", "lost", "gone", "available", "unavailable"]),
    ("temperature", &["hot", "cold", "warm", "cool", "frozen"]),
    ("moisture", &["wet", "dry"]),
];

/// The group of a state, whose members exclude each other.
pub(crate) fn state_group(word: &str) -> Option<&'static str> {
    STATES.iter().find(|(_, states)| states.contains(&word)).map(|(group, _)| *group)
}

/// The state in which a deed leaves its object, by the verb's base form and its particle.
pub(crate) fn effect(verb: &str, particle: Option<&str>) -> Option<&'static str> {
    Some(match (verb, particle) {
        ("open", _) => "open",
        ("close" | "shut", _) => "closed",
        ("lock", _) => "locked",
        ("unlock", _) => "unlocked",
        ("turn" | "switch", Some("on")) => "on",
        ("turn" | "switch", Some("off")) => "off",
        ("wash" | "clean" | "wipe", _) => "clean",
        ("empti" | "empty", _) => "empty",
        ("fill", _) => "full",
        ("break", _) => "broken",
        ("repair" | "fix", _) => "working",
        ("charg" | "charge", _) => "charged",
        _ => return None,
    })
}
