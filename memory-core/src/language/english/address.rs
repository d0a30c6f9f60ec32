//! How a text names somebody: it speaks of them, or only to them.

use std::ops::Range;

use super::closed::{ADDRESS_OPENERS, is_one_of};
use super::token::{Token, TokenKind, tokenise};

/// Words for the speaker, alone or with others.
const FIRST_PERSON: &[&str] = &["i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "ourselves"];
/// Words for the one who is spoken to, and for others.
const OTHER_PERSONS: &[&str] = &[
    "you",
    "your",
    "yours",
    "yourself",
    "he",
    "him",
    "his",
    "himself",
    "she",
    "her",
    "hers",
    "herself",
    "they",
    "them",
    "their",
    "theirs",
    "themselves",
];

/// Returns whether speakers tell of themselves only, where somebody of this name is in question. The text neither
/// speaks of that person nor of anybody that a pronoun stands for: "Thanks, Ivo! I sold mine.", but not "I sold Ivo's."
/// or "I sold yours.".
pub(crate) fn tells_of_speaker_only(text: &str, name: &str) -> bool {
    let tokens = tokenise(text);
    let holds = |words: &[&str]| tokens.iter().any(|token| is_one_of(&token.text, words));
    holds(FIRST_PERSON) && !holds(OTHER_PERSONS) && !mentions(&tokens, &tokenise(name))
}

/// Returns whether a text names somebody otherwise than to address them.
fn mentions(tokens: &[Token], name: &[Token]) -> bool {
    let is_name = |start: &usize| {
        let own = tokens.get(*start..start + name.len());
        own.is_some_and(|own| own.iter().zip(name).all(|(token, part)| token.text == part.text))
    };
    !name.is_empty() && (0..tokens.len()).filter(is_name).any(|start| !stands_alone(tokens, start..start + name.len()))
}

/// Returns whether the name in a range of a text stands by itself, at most after a greeting: "Hey Ivo!", "No, Ivo, it is
/// open." A name in a list of names may do so as well.
pub(crate) fn is_address(text: &str, name: &Range<usize>) -> bool {
    let tokens = tokenise(text);
    let start = tokens.iter().take_while(|token| token.range.end <= name.start).count();
    let end = tokens.iter().take_while(|token| token.range.start < name.end).count();
    start < end && stands_alone(&tokens, start..end)
}

/// Returns whether only words that open an address and marks are around some tokens. A comma after the first words of a
/// sentence may begin an apposition, "Ivo, my brother, opened it", unless the speaker goes on to speak of themselves.
fn stands_alone(tokens: &[Token], name: Range<usize>) -> bool {
    let is_mark = |at: usize| tokens.get(at).filter(|token| token.kind == TokenKind::Mark);
    let before = tokens[..name.start].iter().rev().take_while(|token| token.kind != TokenKind::Mark);
    let begins = name.start.checked_sub(1).is_none_or(|at| is_mark(at).is_some_and(|mark| mark.text != ","));
    let speaks_on = tokens.get(name.end + 1).is_some_and(|token| is_one_of(&token.text, &["i", "we"]));
    let ends =
        name.end == tokens.len() || is_mark(name.end).is_some_and(|mark| mark.text != "," || !begins || speaks_on);
    ends && before.into_iter().all(|token| is_one_of(&token.text, ADDRESS_OPENERS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_greeting_does_not_speak_of_its_addressee() {
        for text in [
            "Thanks, Ivo! I sold mine.",
            "Hey Ivo! We moved to the coast.",
            "I never learned to knit, Ivo.",
            "I sold mine.",
        ] {
            assert!(tells_of_speaker_only(text, "Ivo"), "{text}");
        }
        for text in ["I sold Ivo's.", "I drove Ivo to the station.", "Ivo and I moved.", "I sold it to Ivo, of course."]
        {
            assert!(!tells_of_speaker_only(text, "Ivo"), "{text}");
        }
    }

    #[test]
    fn an_address_stands_by_itself() {
        let addresses = |text: &str| is_address(text, &(text.find("Ivo").unwrap()..text.find("Ivo").unwrap() + 3));
        for text in
            ["Here it is, Ivo!", "Ivo, I am late.", "No, Ivo, it is open.", "Good morning Ivo. The door is open."]
        {
            assert!(addresses(text), "{text}");
        }
        for text in [
            "I saw Ivo.",
            "Ivo opens the door.",
            "Ivo, my brother, opens it.",
            "For Ivo, always.",
            "Ivo's door is open.",
        ] {
            assert!(!addresses(text), "{text}");
        }
    }

    #[test]
    fn pronouns_may_stand_for_the_person_in_question() {
        for text in ["I sold yours.", "I drove him to the station.", "The station is closed.", "You told me so, Ivo."] {
            assert!(!tells_of_speaker_only(text, "Ivo"), "{text}");
        }
    }

    #[test]
    fn a_name_of_several_words_is_compared_whole() {
        assert!(tells_of_speaker_only("Hello Ivo Kral, I sold mine.", "Ivo Kral"));
        assert!(!tells_of_speaker_only("I sold it to Ivo Kral.", "Ivo Kral"));
    }
}
