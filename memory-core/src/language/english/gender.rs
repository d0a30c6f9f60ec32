//! Which of "she" and "he" fits a person, as far as the words for them tell.

use super::closed::is_one_of;

/// Nouns and titles for women and girls.
const FEMALE: &[&str] = &[
    "aunt",
    "auntie",
    "aunty",
    "bride",
    "daughter",
    "female",
    "girl",
    "girlfriend",
    "grandma",
    "grandmother",
    "granny",
    "hostess",
    "housewife",
    "lady",
    "lass",
    "madam",
    "miss",
    "mom",
    "mother",
    "mrs",
    "ms",
    "mum",
    "mummy",
    "nan",
    "nana",
    "niece",
    "queen",
    "sister",
    "widow",
    "wife",
    "woman",
];
/// Nouns and titles for men and boys.
const MALE: &[&str] = &[
    "boy",
    "boyfriend",
    "bridegroom",
    "brother",
    "chap",
    "dad",
    "daddy",
    "father",
    "gentleman",
    "granddad",
    "grandfather",
    "grandpa",
    "guy",
    "husband",
    "king",
    "lad",
    "male",
    "man",
    "mr",
    "nephew",
    "sir",
    "son",
    "uncle",
    "widower",
];
/// Relatives, whose first part does not count: "granddaughter", "stepson".
const RELATIVE_PREFIXES: &[&str] = &["grand", "step", "great-grand", "god"];

/// A grammatical gender of English, as pronouns show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gender {
    Female,
    Male,
}

/// Returns the gender that a pronoun shows.
pub(crate) fn pronoun_gender(word: &str) -> Option<Gender> {
    match word.to_lowercase().as_str() {
        "she" | "her" | "hers" | "herself" => Some(Gender::Female),
        "he" | "him" | "his" | "himself" => Some(Gender::Male),
        _ => None,
    }
}

/// Returns the gender of who is called by a noun or a title. `None` where both are possible, as of any name.
pub(crate) fn gender(word: &str) -> Option<Gender> {
    let word = word.trim_end_matches('.').to_lowercase();
    let bare = RELATIVE_PREFIXES.iter().find_map(|prefix| word.strip_prefix(prefix));
    let is = |words: &[&str]| is_one_of(&word, words) || bare.is_some_and(|bare| is_one_of(bare, words));
    match (is(FEMALE), is(MALE)) {
        (true, _) => Some(Gender::Female),
        (_, true) => Some(Gender::Male),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_relatives_and_titles_tell_the_gender_and_names_do_not() {
        for (word, expected) in [
            ("granddaughter", Some(Gender::Female)),
            ("stepson", Some(Gender::Male)),
            ("Mrs.", Some(Gender::Female)),
            ("neighbour", None),
            ("Robin", None),
        ] {
            assert_eq!(gender(word), expected, "{word}");
        }
        assert_eq!(pronoun_gender("Him"), Some(Gender::Male));
        assert_eq!(pronoun_gender("miss"), None, "it is a verb, too");
    }
}
