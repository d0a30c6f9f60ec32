//! Detects whether a question is in English.

use super::closed::{
    ADVERBS, BE_FORMS, CONJUNCTIONS, DETERMINERS, DO_FORMS, HAVE_FORMS, MODALS, POSSESSIVE_DETERMINERS, PREPOSITIONS,
    PRONOUNS, QUESTION_WORDS, SUBORDINATORS, is_one_of, number_word,
};
use super::lexicon::{self, PartOfSpeech};
use super::token::{TokenKind, tokenise};

/// The lists of the closed classes.
const CLOSED_CLASSES: &[&[&str]] = &[
    ADVERBS,
    BE_FORMS,
    CONJUNCTIONS,
    DETERMINERS,
    DO_FORMS,
    HAVE_FORMS,
    MODALS,
    POSSESSIVE_DETERMINERS,
    PREPOSITIONS,
    PRONOUNS,
    SUBORDINATORS,
    QUESTION_WORDS,
];

/// Minimum number of words for a decision. Fewer words count as English, unless they have letters that English lacks.
const MIN_WORDS: usize = 3;

/// Returns whether a text looks English: its words are known to the lexicon, or enough of them belong to the closed
/// classes.
///
/// Words with a capital letter may be names, which no lexicon knows; they are left out.
pub(crate) fn looks_english(text: &str) -> bool {
    let (mut words, mut closed, mut unknown, mut foreign_letters) = (0, 0, 0, false);
    for (at, token) in tokenise(text).iter().filter(|token| token.kind == TokenKind::Word).enumerate() {
        if token.capital && at > 0 {
            continue;
        }
        words += 1;
        let word = token.text.as_str();
        if word.starts_with('\'')
            || word == "not"
            || number_word(word).is_some()
            || CLOSED_CLASSES.iter().any(|list| is_one_of(word, list))
        {
            closed += 1;
        } else if is_unknown(word) {
            unknown += 1;
            foreign_letters |= !word.is_ascii();
        }
    }
    let enough = words >= MIN_WORDS || foreign_letters;
    !enough || unknown * 2 < words || closed * 3 > words
}

fn is_unknown(word: &str) -> bool {
    let parts = lexicon::parts_of_speech(word);
    let classes = [PartOfSpeech::Noun, PartOfSpeech::Verb, PartOfSpeech::Adjective, PartOfSpeech::Adverb];
    // "Well-known": the parts of a compound are looked for, too.
    classes.into_iter().all(|part| parts.share(part) == 0)
        && !(word.contains('-') && word.split('-').all(|part| part.is_empty() || !is_unknown(part)))
        && !word.chars().any(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn english_is_told_from_other_languages() {
        let wrong: Vec<&str> = [
            "Where is the ladder?",
            "Who has the spanner that Zbigniew lent to Katarzyna?",
            "Did Zbigniew call Katarzyna?",
            "keys?",
            "Zigbee",
            "pallet 9",
            "What did Mrs Dąbrowska say about the Fitbit?",
            "When was the well-known painter here?",
        ]
        .into_iter()
        .filter(|text| !looks_english(text))
        .chain(
            [
                "Wo ist der blaue Becher?",
                "Wer hat gestern die Pflanzen gegossen?",
                "Gdzie jest drabina i kto ją przyniósł?",
                "Где лежат ключи?",
                "鍵はどこですか",
                "¿Dónde están las llaves?",
                "Missä avaimet ovat?",
            ]
            .into_iter()
            .filter(|text| looks_english(text)),
        )
        .collect();
        assert_eq!(wrong, Vec::<&str>::new());
    }
}
