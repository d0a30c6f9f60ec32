//! The closed word classes of English. No word here names a thing, a person or a place.

/// Determiners that start a noun phrase.
pub(crate) const DETERMINERS: &[&str] = &[
    "the", "a", "an", "this", "that", "these", "those", "some", "any", "no", "each", "every", "both", "all", "another",
    "either", "neither", "several", "many", "few", "much", "most", "more", "other", "such", "half",
];

/// Possessive determiners.
pub(crate) const POSSESSIVE_DETERMINERS: &[&str] = &["my", "your", "his", "her", "its", "our", "their", "whose"];

/// Pronouns that stand for a noun phrase.
pub(crate) const PRONOUNS: &[&str] = &[
    "i",
    "you",
    "he",
    "she",
    "it",
    "we",
    "they",
    "me",
    "him",
    "her",
    "us",
    "them",
    "mine",
    "yours",
    "hers",
    "ours",
    "theirs",
    "somebody",
    "someone",
    "anybody",
    "anyone",
    "everybody",
    "everyone",
    "nobody",
    "none",
    "something",
    "anything",
    "everything",
    "nothing",
    "one",
    "ones",
    "myself",
    "yourself",
    "himself",
    "herself",
    "itself",
    "ourselves",
    "themselves",
    "there",
    "here",
    "this",
    "that",
    "these",
    "those",
    "each",
    "both",
    "all",
];

/// Indefinite pronouns.
pub(crate) const INDEFINITE_PRONOUNS: &[&str] = &[
    "somebody",
    "someone",
    "anybody",
    "anyone",
    "everybody",
    "everyone",
    "nobody",
    "something",
    "anything",
    "everything",
    "nothing",
    "none",
    "people",
    "person",
];

pub(crate) const PREPOSITIONS: &[&str] = &[
    "in",
    "on",
    "at",
    "to",
    "from",
    "into",
    "onto",
    "under",
    "underneath",
    "beneath",
    "below",
    "above",
    "over",
    "behind",
    "beside",
    "besides",
    "between",
    "among",
    "near",
    "by",
    "with",
    "without",
    "of",
    "off",
    "out",
    "through",
    "across",
    "along",
    "around",
    "round",
    "against",
    "for",
    "about",
    "before",
    "after",
    "since",
    "until",
    "till",
    "during",
    "within",
    "inside",
    "outside",
    "up",
    "down",
    "past",
    "towards",
    "toward",
    "than",
    "like",
    "as",
    "per",
    "via",
    "beyond",
    "next",
    "despite",
    "except",
    "amid",
    "upon",
];

/// Prepositions before the place where something is or arrives.
pub(crate) const PLACE_PREPOSITIONS: &[&str] = &[
    "in",
    "on",
    "at",
    "to",
    "into",
    "onto",
    "under",
    "underneath",
    "beneath",
    "below",
    "above",
    "over",
    "behind",
    "beside",
    "between",
    "among",
    "near",
    "by",
    "against",
    "inside",
    "outside",
    "next to",
    "on top of",
    "in front of",
    "up to",
    "down to",
    "back to",
    "back in",
    "back on",
    "round",
    "around",
    "along",
    "across",
    "through",
    "upon",
    "towards",
    "toward",
    "amid",
    "within",
    "beyond",
    "opposite",
    "in between",
    "up",
    "down",
];

/// Prepositions before the place that something leaves.
pub(crate) const SOURCE_PREPOSITIONS: &[&str] =
    &["from", "off", "out of", "out", "away from", "down from", "back from"];

pub(crate) const CONJUNCTIONS: &[&str] = &["and", "or", "but", "nor", "so", "yet"];

/// Words before the name of somebody who is spoken to.
pub(crate) const ADDRESS_OPENERS: &[&str] = &[
    "hey",
    "hi",
    "hello",
    "welcome",
    "good",
    "morning",
    "afternoon",
    "evening",
    "night",
    "dear",
    "thank",
    "thanks",
    "you",
    "cheers",
    "congratulations",
    "congrats",
    "sorry",
    "please",
    "bye",
    "goodbye",
    "oh",
    "ah",
    "wow",
    "well",
    "yes",
    "yeah",
    "no",
    "okay",
    "ok",
    "right",
    "sure",
    "so",
    "and",
    "but",
];

/// Words that start a subordinate clause.
pub(crate) const SUBORDINATORS: &[&str] = &[
    "because", "although", "though", "while", "whilst", "if", "unless", "when", "whenever", "where", "wherever",
    "until", "till", "since", "before", "after", "once", "as", "that", "whether", "so",
];

pub(crate) const MODALS: &[&str] =
    &["can", "could", "will", "would", "shall", "should", "may", "might", "must", "ought", "cannot"];

pub(crate) const BE_FORMS: &[&str] = &["be", "am", "is", "are", "was", "were", "been", "being"];
pub(crate) const HAVE_FORMS: &[&str] = &["have", "has", "had", "having"];
pub(crate) const DO_FORMS: &[&str] = &["do", "does", "did", "done", "doing"];

pub(crate) const QUESTION_WORDS: &[&str] =
    &["who", "whom", "whose", "what", "which", "where", "when", "why", "how", "whoever", "whatever", "whichever"];

/// Adverbs that express neither manner nor place.
pub(crate) const ADVERBS: &[&str] = &[
    "now",
    "then",
    "again",
    "still",
    "already",
    "just",
    "also",
    "too",
    "very",
    "really",
    "quite",
    "rather",
    "almost",
    "nearly",
    "always",
    "never",
    "ever",
    "often",
    "sometimes",
    "usually",
    "normally",
    "typically",
    "generally",
    "recently",
    "lately",
    "soon",
    "later",
    "earlier",
    "afterwards",
    "once",
    "twice",
    "only",
    "even",
    "back",
    "away",
    "together",
    "else",
    "yet",
    "instead",
    "maybe",
    "perhaps",
    "probably",
    "apparently",
    "actually",
    "finally",
    "currently",
    "exactly",
    "well",
    "anymore",
    "please",
    "there",
    "here",
    "not",
    "n't",
    "home",
    "upstairs",
    "downstairs",
    "outdoors",
    "indoors",
    "abroad",
    "longer",
    "further",
    "forward",
    "forwards",
    "backwards",
    "apart",
    "aside",
    "ago",
    "first",
    "last",
    "next",
    "alone",
];

/// Particles that belong to the verb before them.
pub(crate) const PARTICLES: &[&str] = &[
    "up", "down", "on", "off", "out", "in", "over", "away", "back", "along", "around", "round", "through", "apart",
    "aside", "behind",
];

/// Words for something harmful to a person.
pub(crate) const HARM_WORDS: &[&str] = &[
    "poison",
    "poisonous",
    "allergic",
    "allergy",
    "intolerant",
    "intolerance",
    "rash",
    "hives",
    "harmful",
    "deadly",
    "sick",
    "ill",
];

/// Units of money with another common meaning.
pub(crate) const AMBIGUOUS_MONEY_UNITS: &[&str] = &["pound", "crown", "mark", "quid", "buck", "penny", "pence"];

/// Nouns for whatever has to be done: "what jobs did she get done?"
pub(crate) const WORK_NOUNS: &[&str] = &["chore", "job", "task", "work"];

/// Verbs of speech.
pub(crate) const SPEECH_VERBS: &[&str] =
    &["say", "tell", "mention", "explain", "answer", "reply", "announce", "promise", "claim", "suggest", "report"];

/// Returns whether a list contains a word.
pub(crate) fn is_one_of(word: &str, list: &[&str]) -> bool {
    list.contains(&word)
}

/// Zero to nineteen.
pub(crate) const NUMBER_WORDS_TO_NINETEEN: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];

/// Twenty to ninety.
pub(crate) const NUMBER_WORDS_OF_TENS: [&str; 8] =
    ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];

/// Parses a cardinal number in words up to ninety-nine, or a few words for a count.
pub(crate) fn number_word(word: &str) -> Option<f64> {
    let unit = |word: &str| NUMBER_WORDS_TO_NINETEEN.iter().position(|one| *one == word);
    let ten = |word: &str| NUMBER_WORDS_OF_TENS.iter().position(|one| *one == word).map(|place| 20 + 10 * place);
    let whole = match word.split_once('-') {
        Some((tens, units)) => ten(tens)? + unit(units).filter(|units| (1..10).contains(units))?,
        None => match word {
            "none" | "nil" | "nought" => 0,
            "once" | "single" => 1,
            "twice" | "couple" | "pair" | "double" => 2,
            "thrice" | "triple" => 3,
            "dozen" => 12,
            "hundred" => 100,
            "thousand" => 1_000,
            _ => unit(word).or_else(|| ten(word))?,
        },
    };
    u32::try_from(whole).ok().map(f64::from)
}

/// Combines two consecutive numbers: "two hundred" is 200, "a hundred twenty" is 120.
pub(crate) fn combine_numbers(first: f64, second: f64) -> f64 {
    match second {
        100.0 | 1_000.0 if first < second => first * second,
        _ if first >= 100.0 && second < first => first + second,
        _ => second,
    }
}

/// Nouns for the topic of a talk or a text.
pub(crate) const TOPIC_NOUNS: &[&str] = &["topic", "subject", "theme"];

/// Verbs that ask for a summary.
pub(crate) const SUMMARY_VERBS: &[&str] = &["sum", "summarise", "summarize", "recap"];

/// Words that ask for a change.
pub(crate) const CHANGE_WORDS: &[&str] = &["change", "changed", "different", "difference", "new", "become"];
/// Words that ask who was absent.
pub(crate) const ABSENCE_WORDS: &[&str] = &["miss", "missing", "absent"];
/// Nouns for a profession.
pub(crate) const PROFESSION_NOUNS: &[&str] = &["profession", "trade", "occupation", "job", "living", "work"];
/// Times that recur: "every morning".
pub(crate) const RECURRING_TIMES: &[&str] = &["day", "morning", "noon", "afternoon", "evening", "night", "week"];
