//! Corrections of earlier statements: "I was wrong about that", "thirty, not forty", "it is called off".

use std::ops::Range;

use super::lexicon::{self, Category, PartOfSpeech};
use super::syntax::Sentence;
use super::tag::{Tag, Word};

/// Maximum number of denied words after "not", "instead of" and "rather than".
const MAX_DENIED_WORDS: usize = 3;

/// How a text corrects an earlier statement.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Correction {
    /// Range of the sentence in which the speaker admits a mistake or contradicts.
    pub admits: Option<Range<usize>>,
    /// Whether something is cancelled.
    pub called_off: bool,
    /// Whether something is rescheduled or relocated.
    pub moved: bool,
    /// What is denied.
    pub denied: Vec<Denial>,
}

/// A denied statement. Its subject is in the same sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Denial {
    /// Lemmas of the denied words.
    pub words: Vec<String>,
    /// Whether the speaker denies it about themselves: "I am not …".
    pub of_speaker: bool,
    /// Range of the sentence in the text.
    pub sentence: Range<usize>,
}

/// Every correction contains one of these words, or a word that starts like one of `CORRECTION_ROOTS`.
const CORRECTION_WORDS: &[&str] = &[
    "not",
    "never",
    "longer",
    "anymore",
    "more",
    "wrong",
    "no",
    "correction",
    "untrue",
    "false",
    "off",
    "instead",
    "rather",
    "now",
    "forward",
    "back",
];
const CORRECTION_ROOTS: &[&str] =
    &["mist", "misread", "mishear", "confus", "mix", "cancel", "postpon", "delay", "reschedul", "rearrang"];

/// Returns whether a text contains a word of a correction. Most texts do not, and need no parse.
pub(crate) fn may_correct(text: &str) -> bool {
    let mark = |word: &str| {
        let word = word.to_lowercase();
        CORRECTION_WORDS.contains(&word.as_str())
            || CORRECTION_ROOTS.iter().any(|root| word.starts_with(root))
            || word.ends_with("n't")
            || word.ends_with("n’t")
    };
    text.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’').any(mark)
}

impl Correction {
    /// Finds the correction in a parsed text. Returns `None` if there is none.
    pub fn find(words: &[Word], sentences: &[Sentence]) -> Option<Self> {
        let mut found = Self::default();
        for sentence in sentences.iter().filter(|sentence| !sentence.asks) {
            let words: Vec<&Word> = words.iter().filter(|word| is_within(&word.range, &sentence.range)).collect();
            if contradicts(sentence, &words) || admits_mistake(sentence, &words) {
                let named = sentence.clauses.iter().flat_map(|clause| &clause.adjuncts);
                let about = named.into_iter().find(|adjunct| adjunct.preposition == "about");
                let all = 0..sentences.last().map_or(0, |last| last.range.end);
                found.admits = Some(about.map_or(all, |about| about.range.clone()));
            }
            found.called_off |= is_cancellation(&words) || denies_existence(&words);
            found.moved |= is_rescheduling(&words);
            found.denied.extend(contrasted_denials(sentence, &words));
            for denied in negated_clauses(sentence, &words) {
                if !found.denied.iter().any(|known| known.words == denied.words) {
                    found.denied.push(denied);
                }
            }
        }
        (found != Self::default()).then_some(found)
    }
}

/// Begins of a sentence in which speakers correct themselves.
const SELF_CORRECTION_BEGINS: &[&str] = &[
    "no,",
    "no wait",
    "wait,",
    "oh wait",
    "oh, wait",
    "sorry,",
    "i mean",
    "or rather",
    "hang on",
    "make that",
    "correction",
];

/// Returns whether a text begins as a correction of what its speaker said right before: "No, hang on, at noon."
pub(crate) fn begins_self_correction(text: &str) -> bool {
    let text = text.trim_start().to_lowercase();
    SELF_CORRECTION_BEGINS.iter().any(|begin| text.starts_with(begin))
}

/// Returns whether what stands behind a part of a text puts it right: ", no, six", ", sorry, I mean Friday".
pub(crate) fn is_put_right_at_once(behind: &str) -> bool {
    let Some(behind) = behind.trim_start().strip_prefix([',', '-', '–']) else { return false };
    let behind = behind.trim_start().to_lowercase();
    // "Sorry, she's ill" puts nothing right; "no," may.
    let begins = ["no, ", "no wait", "sorry, i mean", "sorry, no", "i mean ", "or rather ", "make that "];
    begins.iter().any(|begin| behind.starts_with(begin))
}

/// Returns where the last self-correction of a spoken text begins: "on Friday. No, on Monday."
pub(crate) fn self_correction(text: &str, sentences: &[Sentence]) -> Option<usize> {
    let begins = |range: &Range<usize>| begins_self_correction(text.get(range.clone()).unwrap_or_default());
    let starts = sentences.iter().map(|sentence| sentence.range.clone()).filter(begins);
    starts.map(|range| range.start).filter(|start| *start > 0).max()
}

/// Returns whether a text names something else for a part of itself: "soup instead of the roast".
pub(crate) fn is_replaced(text: &str, sentences: &[Sentence], part: &Range<usize>) -> bool {
    let before = words_before(text, sentences, part);
    let mut behind = before.iter().rev().skip_while(|word| stands_before_noun(word));
    let pair = (behind.next().map(String::as_str), behind.next().map(String::as_str));
    matches!(pair, (Some("of"), Some("instead")) | (Some("than"), Some("rather")))
}

/// Returns the words of the sentence before a part of it.
fn words_before(text: &str, sentences: &[Sentence], part: &Range<usize>) -> Vec<String> {
    let own = sentences.iter().find(|sentence| is_within(part, &sentence.range));
    let before = own.and_then(|own| text.get(own.range.start..part.start)).unwrap_or_default().to_lowercase();
    let words = before.split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '’')));
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn stands_before_noun(word: &str) -> bool {
    matches!(
        word,
        "a" | "an" | "the" | "my" | "his" | "her" | "our" | "their" | "at" | "in" | "on" | "for" | "to" | "by"
    )
}

/// Returns whether a text takes a part of itself back: it denies it, or the speaker corrects themselves in the next
/// sentence.
pub(crate) fn is_taken_back(text: &str, sentences: &[Sentence], part: Range<usize>) -> bool {
    let Some(own) = sentences.iter().position(|sentence| is_within(&part, &sentence.range)) else { return false };
    let denies = |word: &String| {
        matches!(
            word.as_str(),
            "not" | "isn't" | "isn’t" | "wasn't" | "wasn’t" | "aren't" | "aren’t" | "weren't" | "weren’t"
        )
    };
    let before = words_before(text, sentences, &part);
    let denied = before.iter().rev().find(|word| !stands_before_noun(word)).is_some_and(denies)
        || is_replaced(text, sentences, &part);
    // "On Friday. No, on Monday."
    let corrected = self_correction(text, sentences)
        .is_some_and(|from| sentences.get(own + 1).is_some_and(|next| next.range.start == from));
    denied || corrected || is_put_right_at_once(text.get(part.end..).unwrap_or_default())
}

fn is_within(inner: &Range<usize>, outer: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// Returns whether a sentence contradicts: "No, look, the …", "Correction: the …". "No, I didn't" and "No, not yet"
/// answer a question instead.
fn contradicts(sentence: &Sentence, words: &[&Word]) -> bool {
    let begins = match words {
        [first, second, ..] => (first.has_text("no") || first.has_text("correction")) && second.tag == Tag::Mark,
        _ => false,
    };
    let states = sentence.clauses.iter().any(|clause| {
        let of_thing =
            clause.subject.as_ref().is_some_and(|subject| !matches!(subject.head.as_str(), "i" | "we" | "you"));
        of_thing && clause.verb.as_ref().is_some_and(|verb| !verb.negated)
    });
    // A speaker who says no and denies something answers a question.
    let answers = sentence.clauses.iter().find_map(|clause| clause.verb.as_ref()).is_some_and(|verb| verb.negated);
    begins && states && !answers
}

/// Returns whether a sentence admits a mistake: "I was wrong about …", "I mixed that up", "that was a mistake", "that
/// is not true".
fn admits_mistake(sentence: &Sentence, words: &[&Word]) -> bool {
    sentence.clauses.iter().any(|clause| {
        let subject = clause.subject.as_ref().map(|subject| subject.head.as_str());
        // "We all make mistakes": several are none in particular.
        let own = words.iter().filter(|word| is_within(&word.range, &clause.range) && !word.has_text("mistakes"));
        let own: Vec<&&Word> = own.collect();
        let has = |list: &[&str]| {
            own.iter().any(|word| list.contains(&word.text.as_str()) || list.contains(&word.lemma.as_str()))
        };
        let speaker = matches!(subject, Some("i" | "we"));
        // "It is not right that …" is an opinion.
        let said = matches!(subject, Some("that" | "this"));
        let denies = clause.verb.as_ref().is_some_and(|verb| verb.negated);
        speaker
            && (has(&["wrong", "mistaken", "mistake", "mistook", "misread", "misheard", "confuse"])
                || has(&["mix"]) && has(&["up"]))
            || said && (has(&["wrong", "mistake", "untrue", "false"]) || denies && has(&["true", "right", "correct"]))
    })
}

/// Returns whether something is cancelled: "the meeting is cancelled", "they have called it off", "choir is off on Monday".
fn is_cancellation(words: &[&Word]) -> bool {
    let cancels = words.iter().any(|word| word.tag == Tag::Verb && word.lemma == "cancel");
    let called = words.iter().any(|word| word.lemma == "call") && words.iter().any(|word| word.has_text("off"));
    // A lamp is off, too, and somebody is off to their sister's, or off sick.
    let person = |word: &Word| match word.tag {
        Tag::Pronoun | Tag::Name => !word.has_text("it"),
        Tag::Noun => lexicon::category(&word.lemma, PartOfSpeech::Noun) == Some(Category::Person),
        _ => false,
    };
    let of_person = |at: usize| {
        at.checked_sub(1).is_some_and(|before| person(words[before]))
            || words.get(at + 2).is_some_and(|next| matches!(next.text.as_str(), "sick" | "ill" | "work" | "duty"))
    };
    let is_off = || {
        let mut pairs = words.windows(2).enumerate();
        pairs.any(|(at, two)| two[0].lemma == "be" && two[1].has_text("off") && !of_person(at))
    };
    let takes_time =
        || words.iter().any(|word| word.tag == Tag::Time || word.tag == Tag::Noun && takes_place(&word.lemma));
    cancels || called || is_off() && takes_time()
}

/// Returns whether a noun names something that happens.
fn takes_place(noun: &str) -> bool {
    let category = lexicon::category(noun, PartOfSpeech::Noun);
    matches!(category, Some(Category::Act | Category::Event | Category::Time | Category::Communication))
}

/// Returns whether a sentence without a verb says that there is none: "No rehearsal tonight, I am afraid".
fn denies_existence(words: &[&Word]) -> bool {
    let [first, second, ..] = words else { return false };
    let phrase = || words.iter().skip(1).take_while(|word| word.tag != Tag::Mark && word.tag != Tag::Time);
    let verbless = phrase().all(|word| !matches!(word.tag, Tag::Verb | Tag::Auxiliary | Tag::Modal));
    let head = phrase().filter(|word| matches!(word.tag, Tag::Noun | Tag::Name)).last();
    first.has_text("no") && second.tag != Tag::Mark && verbless && head.is_some_and(|head| takes_place(&head.lemma))
}

/// Returns whether something is rescheduled: "it starts an hour later now", "he is now down for Friday", "at noon
/// instead".
fn is_rescheduling(words: &[&Word]) -> bool {
    let has = |text: &str| words.iter().any(|word| word.has_text(text));
    let verb = |list: &[&str]| words.iter().any(|word| word.tag == Tag::Verb && list.contains(&word.lemma.as_str()));
    has("instead")
        || verb(&["postpone", "reschedule", "rearrange", "delay"])
        || verb(&["move", "put", "push", "shift", "bring"])
            && (has("back") || has("forward") || has("to") && has("now"))
        || verb(&["put"]) && has("off")
        || has("now") && (has("later") || has("earlier") || verb(&["start", "begin", "be"]))
}

/// Returns what follows "not", "instead of" and "rather than".
fn contrasted_denials(sentence: &Sentence, words: &[&Word]) -> Vec<Denial> {
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let behind = match word.text.as_str() {
            // Behind a verb it denies the verb, which its clause knows: "who can't have it", "I'm not into it".
            "not"
                if !at
                    .checked_sub(1)
                    .and_then(|before| words.get(before))
                    .is_some_and(|before| matches!(before.tag, Tag::Verb | Tag::Auxiliary | Tag::Modal)) =>
            {
                at + 1
            }
            "rather" if words.get(at + 1).is_some_and(|next| next.has_text("than")) => at + 2,
            "instead" if words.get(at + 1).is_some_and(|next| next.has_text("of")) => at + 2,
            _ => continue,
        };
        let denied: Vec<String> = words[behind.min(words.len())..]
            .iter()
            .take_while(|word| {
                word.tag != Tag::Mark && word.tag != Tag::Verb && !word.has_text("only") && !word.has_text("just")
            })
            .filter(|word| is_deniable(word))
            .take(MAX_DENIED_WORDS)
            .map(|word| word.lemma.clone())
            .collect();
        if !denied.is_empty() {
            found.push(Denial { words: denied, of_speaker: false, sentence: sentence.range.clone() });
        }
    }
    found
}

/// Returns what clauses deny about the present or the future: "it isn't in the hall", "we are not leaving on Sunday". A
/// deed that was not done, or not yet, corrects no statement.
fn negated_clauses(sentence: &Sentence, words: &[&Word]) -> Vec<Denial> {
    let has = |text: &str| words.iter().any(|word| word.has_text(text));
    let no_more = has("anymore") || has("any") && has("more") || has("no") && has("longer");
    let mut found = Vec::new();
    for clause in &sentence.clauses {
        let Some(verb) = clause.verb.as_ref().filter(|verb| verb.negated || no_more) else { continue };
        let being = verb.auxiliary_only && verb.lemma == "be" || verb.progressive && !verb.past || no_more;
        if !being || verb.perfect || verb.infinitive || verb.modal.is_some() || has("yet") {
            continue;
        }
        let behind: Vec<&&Word> = words
            .iter()
            // A time may stand at the end of a clause and outside of it.
            .filter(|word| {
                let time = word.tag == Tag::Time && is_within(&word.range, &sentence.range);
                word.range.start >= verb.range.end && (time || is_within(&word.range, &clause.range))
            })
            // What stands behind a comma or "but" holds, or is said beside.
            .take_while(|word| word.tag != Tag::Mark && !word.has_text("but"))
            .filter(|word| word.is_nominal() || word.tag == Tag::Time)
            .collect();
        // "It is not hot": what something is like is a state.
        let Some(first) = behind.iter().position(|word| is_deniable(word)) else { continue };
        let described =
            |range: &Range<usize>| verb.range.end <= range.start && range.end + 1 < behind[first].range.start;
        if clause.complements.iter().any(|(_, range)| described(range)) {
            continue;
        }
        let words: Vec<String> = behind
            .iter()
            .filter(|word| is_deniable(word))
            .take(MAX_DENIED_WORDS)
            .map(|word| word.lemma.clone())
            .collect();
        let subject = clause.subject.as_ref().map(|subject| subject.head.as_str());
        let of_speaker = matches!(subject, Some("i" | "we"));
        found.push(Denial { words, of_speaker, sentence: sentence.range.clone() });
    }
    found
}

/// Returns whether the denial of a word corrects a statement: a thing, a name, a number or a time. A quality is a
/// state.
fn is_deniable(word: &Word) -> bool {
    matches!(word.tag, Tag::Noun | Tag::Name | Tag::Number | Tag::Time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::english::syntax::parse;

    fn of(text: &str) -> Option<Correction> {
        let (words, sentences) = parse(text, &[]);
        let found = Correction::find(&words, &sentences);
        assert!(found.is_none() || may_correct(text), "{text} takes back something without any of the words for it");
        found
    }

    #[test]
    fn a_mistake_is_admitted_in_many_words() {
        for text in [
            "I was wrong about the ladder.",
            "We mixed that up: it is the left one.",
            "No, the tram leaves at nine.",
            "That is not true, the pump is fine.",
            "I misread the label.",
        ] {
            assert!(of(text).is_some_and(|found| found.admits.is_some()), "{text}: {:?}", of(text));
        }
        for text in [
            "Something is wrong with the pump.",
            "There are no cups left.",
            "I like the wrong side of town?",
            "No, not yet.",
            "No, I didn't.",
            "It is not right that he waits.",
            "We all make mistakes, and he is forgiven.",
            "No, we haven't had the time to bring the bikes to the shop yet.",
        ] {
            assert!(of(text).is_none_or(|found| found.admits.is_none()), "{text}: {:?}", of(text));
        }
    }

    #[test]
    fn a_part_that_the_text_denies_or_corrects_is_taken_back() {
        let back = |text: &str, part: &str| {
            let (_, sentences) = parse(text, &[]);
            let start = text.find(part).unwrap_or_else(|| panic!("{part}"));
            is_taken_back(text, &sentences, start..start + part.len())
        };
        for (text, kept, taken) in [
            ("It isn't the 26th, it's the 28th.", "28th", "26th"),
            ("The regatta is on Thursday, not on Friday.", "Thursday", "Friday"),
            ("Take the stairs instead of the tram.", "stairs", "tram"),
            ("The left oar. No, the right one.", "right one", "left oar"),
            ("Bring the oar, no, the rudder.", "rudder", "oar"),
        ] {
            assert!(back(text, taken) && !back(text, kept), "{text}");
        }
        assert!(!back("The saw isn't sharp, the drill is.", "drill"));
        assert!(!back("Not only the saw is sharp.", "saw"));
        // An apology for something else.
        assert!(!back("He comes on Friday, sorry, she is ill.", "Friday"));
    }

    #[test]
    fn what_is_denied_is_named() {
        let denied = |text: &str| -> Vec<Vec<String>> {
            of(text).into_iter().flat_map(|found| found.denied).map(|denial| denial.words).collect()
        };
        assert_eq!(denied("The screws are 6 mm, not 8."), [vec!["8".to_owned()]]);
        assert_eq!(denied("The drill was never in the attic."), [vec!["attic".to_owned()]]);
        assert_eq!(denied("The drill wasn't in the attic."), [vec!["attic".to_owned()]]);
        assert_eq!(denied("No, the drill is not in the attic any longer, of course."), [vec!["attic".to_owned()]]);
        assert_eq!(denied("Take the stairs instead of the tram."), [vec!["tram".to_owned()]]);
        for text in [
            "The drill is in the attic.",
            "Not only the drill, the saw is there.",
            "I haven't seen the drill yet.",
            "The drill isn't cheap.",
            "I didn't buy the drill.",
            "I haven't done any carving yet, but I'm game for a new hobby.",
            "The rye rolls are for guests who can't have wheat.",
            "Moving wasn't easy, but the neighbours were a help.",
            "I'm not really into sailing, but I like the harbour.",
        ] {
            assert!(of(text).is_none(), "{text}: {:?}", of(text));
        }
    }

    #[test]
    fn what_is_called_off_or_moved_is_told_apart() {
        assert!(of("No regatta today, everybody: the lake is frozen.").is_some_and(|found| found.called_off));
        assert!(of("No milk left.").is_none_or(|found| !found.called_off));
        assert!(of("They have called the regatta off.").is_some_and(|found| found.called_off));
        assert!(of("They are cancelling the regatta.").is_some_and(|found| found.called_off));
        assert!(of("They are postponing the regatta.").is_some_and(|found| found.moved));
        assert!(of("The regatta is cancelled.").is_some_and(|found| found.called_off));
        assert!(of("The regatta is off.").is_some_and(|found| found.called_off));
        assert!(of("The lamp is off.").is_none_or(|found| !found.called_off));
        assert!(of("They have put off the regatta until May.").is_some_and(|found| found.moved));
        assert!(of("The regatta starts at nine instead.").is_some_and(|found| found.moved && !found.called_off));
        assert!(of("The regatta starts an hour later now.").is_some_and(|found| found.moved));
        assert!(of("They have another day for us, as the cook is off sick on Monday.").is_none_or(|it| !it.called_off));
        assert!(of("The cook is off on Monday.").is_none_or(|found| !found.called_off));
        assert!(of("The regatta starts at nine.").is_none());
    }
}
