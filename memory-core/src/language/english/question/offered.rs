//! A question which of several something holds for, taken as a question for yes or no about each: "which has come, the sofa
//! or the lamp?".

use super::ParsedQuestion;
use crate::language::english::letters::capitalised;
use crate::language::english::tag::Tag;

/// Maximum number of things that are asked about one by one.
const MAX_ALTERNATIVES: usize = 4;
/// Maximum number of words from the question word to the auxiliary: "which of the two has".
const MAX_ASKING_WORDS: usize = 5;

/// One of the things that a question offers, and the question for yes or no about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OfferedThing {
    pub name: String,
    pub question: String,
}

/// Returns a question about each thing that a question offers. `None` if it offers none, or compares or orders them.
pub(crate) fn asked_of_each(text: &str, asked: &ParsedQuestion) -> Option<Vec<OfferedThing>> {
    let offered = &asked.alternatives;
    if !(2..=MAX_ALTERNATIVES).contains(&offered.len()) || asked.scale.is_some() || asked.occurrence.is_some() {
        return None;
    }
    if asked.cue.is_some() || !asked.subject_is_asked {
        return None;
    }
    let words = &asked.words;
    let begin = words.iter().position(|word| matches!(word.text.as_str(), "who" | "which" | "what"))?;
    let is_auxiliary = |at: &usize| matches!(words[*at].tag, Tag::Auxiliary | Tag::Modal);
    let auxiliary = (begin + 1..words.len().min(begin + MAX_ASKING_WORDS)).find(is_auxiliary)?;
    if words[begin..auxiliary].iter().any(|word| word.tag == Tag::Verb)
        || !words[auxiliary].text.starts_with(char::is_alphabetic)
    {
        return None;
    }
    let start = offered.iter().map(|range| range.start).min()?;
    // "Hasn't" is two words.
    let behind = text.get(words[auxiliary].range.start..start)?;
    let (auxiliary, rest) = behind.split_once(' ')?;
    let rest = rest.trim().trim_end_matches([',', ':', '-', '–', ' ']);
    if rest.is_empty() || rest.ends_with(" or") {
        return None;
    }
    let auxiliary = capitalised(auxiliary);
    let of_one = |name: &str| OfferedThing { name: name.to_owned(), question: format!("{auxiliary} {name} {rest}?") };
    Some(offered.iter().filter_map(|range| text.get(range.clone())).map(|name| of_one(name.trim())).collect())
}
