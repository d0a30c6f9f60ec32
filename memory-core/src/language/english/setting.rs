//! The setting of a described scene: "a kitchen" of "A kitchen with white tiles", "the lab" of "In the lab a man writes".

use super::lexicon::{self, Category, PartOfSpeech};
use super::syntax::{Adjunct, Clause, NounKind, NounPhrase, Sentence};

/// Classes of places that a scene takes place in.
const SETTING_CLASSES: &[&str] = &[
    "room",
    "building",
    "passage",
    "road",
    "stairway",
    "platform",
    "yard",
    "workplace",
    "facility",
    "establishment",
    "area",
    "tract",
    "body_of_water",
    "geological_formation",
];
/// Classes of things that are no setting, though another sense of their name is: a box, a bench, a bed.
const THING_CLASSES: &[&str] = &["container", "furniture", "device", "support"];
/// Prepositions of the place that something happens in.
const SETTING_PREPOSITIONS: &[&str] = &["in", "inside", "at", "on", "along", "through", "down", "up", "across", "into"];
/// Nouns for the picture itself, or for a part of what it shows.
const VIEW_NOUNS: &[&str] =
    &["view", "picture", "image", "shot", "scene", "interior", "inside", "look", "glimpse", "camera"];

/// Share of the uses of a noun, in 255ths, from which it names a living being.
const MIN_LIVING_SHARE: u32 = 160;

/// Where a scene takes place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Setting {
    pub noun: NounPhrase,
    /// Whether the text introduces it: "a kitchen", and not "the kitchen".
    pub introduced: bool,
    /// Whether it need be no place: "the ward" is one only if it was shown as one before, "the wheel" is none.
    pub uncertain: bool,
}

/// Returns the setting that a description of a scene begins with. `None` if it only tells what happens there.
pub(crate) fn setting_of(sentences: &[Sentence]) -> Option<Setting> {
    let clause = sentences.first()?.clauses.first()?;
    let found = match &clause.verb {
        Some(verb) if !is_title(clause) => {
            let subject = clause.subject.as_ref();
            let places = clause.adjuncts.iter().filter(|adjunct| is_setting_preposition(&adjunct.preposition));
            let is_fronted =
                |start: usize| start < verb.range.start && subject.is_none_or(|subject| start < subject.range.start);
            let is_front = |adjunct: &&Adjunct| is_fronted(adjunct.range.start) && may_be_place(&adjunct.noun);
            let fronted = places.clone().find(is_front).map(|adjunct| &adjunct.noun);
            let first = first_noun(clause).filter(|first| first.range.start < verb.range.start);
            let of_view = first.filter(|first| is_view(first)).and_then(|first| first.of.as_deref());
            let of_camera = first.is_some_and(is_view);
            let introduced = |noun: &&NounPhrase| {
                of_camera && is_place(noun) || is_introduced(noun) && (is_place(noun) || may_be_place(noun))
            };
            fronted
                .or(of_view)
                .or(first.filter(|first| is_place(first)))
                .or_else(|| places.map(|adjunct| &adjunct.noun).find(introduced))
                .or(subject.filter(|subject| subject.determiner.as_deref() == Some("the") && !is_living(subject)))
        }
        _ => setting_of_title(clause),
    }?;
    let uncertain = if is_title(clause) { is_thing(found) } else { !may_be_place(found) };
    Some(Setting { noun: found.clone(), introduced: is_introduced(found), uncertain })
}

/// Returns whether a description has no verb. "A yard with a cart left beside the gate" only looks like a sentence: what
/// is seen now is told in the present.
fn is_title(clause: &Clause) -> bool {
    clause.verb.as_ref().is_none_or(|verb| verb.past && !verb.passive)
}

/// Returns the setting of a description without a verb: "A workshop with a bench", "The view from a car on a road".
fn setting_of_title(clause: &Clause) -> Option<&NounPhrase> {
    let first = first_noun(clause)?;
    let inside = || {
        let mut adjuncts = clause.adjuncts.iter().filter(|adjunct| is_setting_preposition(&adjunct.preposition));
        adjuncts.find(|adjunct| is_place(&adjunct.noun)).map(|adjunct| &adjunct.noun)
    };
    if is_view(first) {
        return first.of.as_deref().or_else(inside);
    }
    if is_place(first) {
        return Some(first);
    }
    // "A man in a kitchen" is set in the kitchen, and "a robot arm over a table" shows the arm.
    inside().or_else(|| (first.kind == NounKind::Common && !is_living(first)).then_some(first))
}

/// Returns the noun phrase that a clause begins with.
fn first_noun(clause: &Clause) -> Option<&NounPhrase> {
    let adjuncts = clause.adjuncts.iter().map(|adjunct| &adjunct.noun);
    clause.subject.iter().chain(&clause.objects).chain(adjuncts).min_by_key(|noun| noun.range.start)
}

/// Returns whether a noun names a place that a scene can be set in, in its most common sense.
fn is_place(noun: &NounPhrase) -> bool {
    noun.kind == NounKind::Common
        && !is_worn(noun)
        && SETTING_CLASSES.iter().any(|class| noun.head == *class || lexicon::is_kind_of(&noun.head, class))
}

/// Returns whether a noun may name a place that a scene can be set in, in a less common sense.
fn may_be_place(noun: &NounPhrase) -> bool {
    let can_be = |class: &&str| lexicon::is_a_as(&noun.head, class, PartOfSpeech::Noun).is_some();
    noun.kind == NounKind::Common && !is_thing(noun) && SETTING_CLASSES.iter().any(can_be)
}

/// Returns whether a noun names something that stands in a place.
fn is_thing(noun: &NounPhrase) -> bool {
    THING_CLASSES.iter().any(|class| lexicon::is_kind_of(&noun.head, class)) || is_worn(noun)
}

/// Returns whether a noun may name clothes: an gown, which may also be a part of an airfield.
fn is_worn(noun: &NounPhrase) -> bool {
    lexicon::is_a_as(&noun.head, "clothing", PartOfSpeech::Noun).is_some()
}

/// Returns whether a noun mostly names a person or an animal. A ward may be either.
fn is_living(noun: &NounPhrase) -> bool {
    let categories = lexicon::categories(&noun.head, PartOfSpeech::Noun).into_iter();
    let living = categories.filter(|(category, _)| matches!(category, Category::Person | Category::Animal));
    noun.head == "person" || living.map(|(_, share)| u32::from(share)).sum::<u32>() > MIN_LIVING_SHARE
}

fn is_view(noun: &NounPhrase) -> bool {
    VIEW_NOUNS.contains(&noun.head.as_str())
}

fn is_introduced(noun: &NounPhrase) -> bool {
    matches!(noun.determiner.as_deref(), Some("a" | "an" | "another")) || noun.plural && noun.determiner.is_none()
}

fn is_setting_preposition(preposition: &str) -> bool {
    SETTING_PREPOSITIONS.contains(&preposition)
}

#[cfg(test)]
mod tests {
    use super::super::syntax::parse;
    use super::*;

    fn setting(text: &str) -> Option<String> {
        let (_, sentences) = parse(text, &[]);
        setting_of(&sentences).filter(|setting| !setting.uncertain).map(|setting| setting.noun.head)
    }

    #[test]
    fn a_description_without_a_verb_names_its_setting_first() {
        for (text, wanted) in [
            ("A narrow smithy with a wood oven.", "smithy"),
            ("The inside of a large barn with hay.", "barn"),
            ("The view from a cart on a winding road.", "road"),
            ("A tall nurse in a bright corridor.", "corridor"),
            ("A ward with three beds.", "ward"),
            ("A vineyard with a cart parked beside the wall", "vineyard"),
            ("The interior of a smithy, with tools laid out on a bench", "smithy"),
        ] {
            assert_eq!(setting(text).as_deref(), Some(wanted), "{text}");
        }
    }

    #[test]
    fn a_place_in_front_or_one_that_is_new_is_the_setting() {
        for (text, wanted) in [
            ("In the smithy two women shape nails.", "smithy"),
            ("In the barn three girls in long coats search for eggs.", "barn"),
            ("The camera goes down a steep tunnel.", "tunnel"),
            ("A plumber kneels in a garage.", "garage"),
            ("Two men are sitting by a well in a village square", "square"),
            ("The garage lies in the dark.", "garage"),
        ] {
            assert_eq!(setting(text).as_deref(), Some(wanted), "{text}");
        }
    }

    #[test]
    fn what_somebody_does_in_a_scene_is_no_setting() {
        for text in [
            "A tall person in a red shirt, whose face is hidden.",
            "A leather sofa with two rugs.",
            "The nurse puts the cups in a box.",
            "A boy watches from the path.",
            "A cook in a white gown hands a bowl to a boy.",
            "She sits down on the bench.",
            "The smith slides the loaves into the oven.",
        ] {
            assert_eq!(setting(text), None, "{text}");
        }
    }
}
