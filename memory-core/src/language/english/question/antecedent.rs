//! The thing that a pronoun of the asking clause stands for: "my glasses, where are they?", "He needs his glasses. Where
//! are they?".

use std::ops::Range;

use super::ParsedQuestion;
use crate::language::english::lexicon::{self, Category, PartOfSpeech};
use crate::language::english::syntax::{Clause, NounKind, NounPhrase};
use crate::language::english::tag::Tag;

/// Puts the thing that is named before the asking clause in the place of its pronoun, and returns the range of the thing.
pub(super) fn resolve_pronoun(asked: &mut ParsedQuestion) -> Option<Range<usize>> {
    let clause = &asked.clause;
    let is_pronoun = |noun: &NounPhrase| {
        matches!(noun.head.as_str(), "it" | "that" | "they" | "them" | "those" | "he" | "him" | "she")
            && noun.modifiers.is_empty()
            && noun.of.is_none()
    };
    let subject = clause.subject.as_ref().filter(|subject| is_pronoun(subject));
    let pronoun = subject.or_else(|| clause.objects.first().filter(|object| is_pronoun(object)))?;
    // "That is the cup": what is said of a pronoun says what it is.
    if subject.is_some() && (clause.asking.is_none() || !clause.objects.is_empty()) {
        return None;
    }
    let found = antecedent(asked, &pronoun.head)?;
    let range = found.range.clone();
    let clause = &mut asked.clause;
    match clause.subject.as_mut().filter(|subject| is_pronoun(subject)) {
        Some(subject) => *subject = found,
        None => clause.objects[0] = found,
    }
    Some(range)
}

/// Returns what a pronoun stands for: the main thing before the asking clause, in the nearest sentence that has one.
fn antecedent(asked: &ParsedQuestion, pronoun: &str) -> Option<NounPhrase> {
    let from = asked.clause.range.start;
    let called = asked.addressee.as_ref();
    // Some words for a pair have no plural form of their own: "his specs".
    let plural_form = |noun: &NounPhrase| {
        let mut words = asked.words.iter().rev().skip_while(|word| word.range.end > noun.range.end);
        words.next().is_some_and(|word| word.text.ends_with('s') && word.tag == Tag::Noun)
    };
    let fits = |noun: &&NounPhrase| {
        let person = is_living(noun);
        let several = noun.plural || !noun.also.is_empty();
        noun.range.end <= from
            && !noun.is_pronoun()
            && called.is_none_or(|called| !called.contains(&noun.range.start))
            && match pronoun {
                "he" | "him" | "she" => person && !several,
                "it" | "that" => !person && !several,
                _ => several || plural_form(noun),
            }
    };
    asked.sentences.iter().rev().find_map(|sentence| {
        let clauses = || sentence.clauses.iter().filter(|clause| clause.range.start < from);
        let cue = asked.cue.as_ref().map(|cue| &cue.range);
        let outside = |noun: &&NounPhrase| cue.is_none_or(|cue| !cue.contains(&noun.range.start));
        let main = clauses().flat_map(|clause| clause.subject.iter().chain(&clause.objects));
        let beside = clauses().flat_map(|clause| clause.adjuncts.iter().map(|adjunct| &adjunct.noun));
        let main = main.map(without_maker).collect::<Vec<_>>();
        let mut found = main.iter().chain(beside).filter(fits).find(outside)?.clone();
        found.owner = found.owner.map(|owner| named_owner(*owner, clauses()));
        Some(found)
    })
}

/// Reads "the shelf Ilse built" as Ilse's shelf, where what she built is named by a phrase with her name at its end.
fn without_maker(noun: &NounPhrase) -> NounPhrase {
    let mut modifiers = noun.modifiers.clone();
    let thing = modifiers.pop().filter(|thing| {
        noun.kind == NounKind::Name
            && noun.determiner.as_deref() == Some("the")
            && lexicon::category(thing, PartOfSpeech::Noun) == Some(Category::Artifact)
    });
    let Some(head) = thing else { return noun.clone() };
    let maker = NounPhrase { modifiers: Vec::new(), determiner: None, ..noun.clone() };
    NounPhrase { head, modifiers, kind: NounKind::Common, owner: Some(Box::new(maker)), ..noun.clone() }
}

/// Returns whose a thing is: "his", in a sentence about Leo, is Leo's.
fn named_owner<'c>(owner: NounPhrase, clauses: impl Iterator<Item = &'c Clause>) -> Box<NounPhrase> {
    let theirs = matches!(owner.head.as_str(), "his" | "her" | "he" | "she");
    let mut subjects = clauses.filter_map(|clause| clause.subject.as_ref());
    let who = subjects.find(|subject| theirs && !subject.is_pronoun() && is_living(subject));
    Box::new(who.cloned().unwrap_or(owner))
}

pub(super) fn is_living(noun: &NounPhrase) -> bool {
    noun.kind == NounKind::Name
        || matches!(
            lexicon::category(&noun.head, PartOfSpeech::Noun),
            Some(Category::Person | Category::Animal | Category::Group)
        )
}

#[cfg(test)]
mod tests {
    use crate::language::english::question::parse_question;

    #[test]
    fn a_pronoun_stands_for_what_is_named_before() {
        for (text, thing) in [
            ("That metal bucket, where is it standing?", "metal bucket"),
            ("And the blue folder, where has that got to?", "blue folder"),
            ("Leo can't read without his glasses. Where are they?", "his glasses"),
            ("Leo is looking for his keys again. Where did you see them last?", "his keys"),
            ("Is the ladder still in the yard? Where is it now?", "ladder"),
            ("The shelf Ilse built, where would I find it now?", "The shelf Ilse"),
            ("Leo is hunting for his specs again. Where did you see them last?", "his specs"),
            ("There's a wet towel in the stand. Whose is that?", "wet towel"),
        ] {
            let found = parse_question(text, &[]).antecedent.unwrap_or_else(|| panic!("{text}"));
            assert!(text[found.clone()].ends_with(thing), "{text}: {}", &text[found]);
        }
        for text in ["Where is it?", "Leo sings. Where is it?", "Is that the ladder?", "What is that on the table?"] {
            assert_eq!(parse_question(text, &[]).antecedent, None, "{text}");
        }
    }
}
