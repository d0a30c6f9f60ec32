//! Expressions of space: the place that a sentence names, and what a question asks about places.

use super::lexicon::{self, PartOfSpeech};
use super::question::ParsedQuestion;
use super::syntax::{Clause, NounKind, NounPhrase, parse};

/// Classes of places that one can be in.
const PLACE_CLASSES: [&str; 6] = ["room", "area", "building", "structure", "location", "passage"];
/// Maximum length of a place name, in bytes.
const MAX_PLACE_NAME_BYTES: usize = 48;

/// Verbs for seeing or meeting something.
pub(crate) const PERCEPTION_VERBS: [&str; 11] =
    ["see", "pass", "meet", "notice", "hear", "encounter", "observe", "spot", "find", "watch", "detect"];

/// What a question asks about space.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SpatialQuestion {
    /// What is, or happened, at a place or a thing. `inside` is false for "near".
    Around { noun: NounPhrase, inside: bool },
    /// What was on a trip to a place, and from one. `either` is true if either place may have been the start.
    OnTheWay { from: Option<NounPhrase>, to: Option<NounPhrase>, either: bool },
    /// The distance between two things.
    Apart(NounPhrase, NounPhrase),
}

/// Parses a question about space.
pub(crate) fn spatial_question(asked: &ParsedQuestion) -> Option<SpatialQuestion> {
    let words: Vec<&str> = asked.words.iter().map(|word| word.text.as_str()).collect();
    let has = |phrase: &[&str]| words.windows(phrase.len()).any(|window| window == phrase);
    let clause = &asked.clause;
    if has(&["how", "far"]) || words.contains(&"distance") {
        return distance_question(asked);
    }
    let adjunct = |wanted: &[&str]| {
        clause.adjuncts.iter().find(|adjunct| wanted.contains(&adjunct.preposition.as_str())).map(|it| it.noun.clone())
    };
    let whole = |noun: Option<NounPhrase>| {
        let noun = noun.filter(|noun| noun.head != "way" && !noun.is_pronoun() && noun.kind != NounKind::Number);
        noun.map(|noun| NounPhrase { also: Vec::new(), ..noun })
    };
    let travels = clause.adjuncts.iter().any(|adjunct| {
        matches!(adjunct.preposition.as_str(), "on" | "during")
            && matches!(adjunct.noun.head.as_str(), "trip" | "journey" | "route" | "drive" | "ride")
    });
    let on_the_way = travels && asks_robot_perception(clause)
        || has(&["en", "route"])
        || ["on", "along"]
            .iter()
            .any(|first| ["the", "your", "its", "my"].iter().any(|article| has(&[first, article, "way"])));
    let (from, to) = (whole(adjunct(&["from"])), whole(adjunct(&["to", "into"])));
    if on_the_way || from.is_some() && to.is_some() && asks_robot_perception(clause) {
        return Some(SpatialQuestion::OnTheWay { from, to, either: false });
    }
    if let Some((from, to)) = robot_route(asked).filter(|_| asks_robot_perception(clause)) {
        return Some(SpatialQuestion::OnTheWay { from: Some(from), to: Some(to), either: false });
    }
    if let Some(both) = adjunct(&["between"]).filter(|_| asks_robot_perception(clause))
        && let [other] = both.also.as_slice()
    {
        let to = whole(Some(other.clone()));
        if let (Some(from), Some(to)) = (whole(Some(both)), to) {
            return Some(SpatialQuestion::OnTheWay { from: Some(from), to: Some(to), either: true });
        }
    }
    for adjunct in &clause.adjuncts {
        if adjunct.noun.is_pronoun() || adjunct.noun.kind == NounKind::Number {
            continue;
        }
        let before = asked.words.iter().rfind(|word| word.range.end <= adjunct.range.start);
        let joined =
            adjunct.preposition == "to" && before.is_some_and(|word| matches!(word.text.as_str(), "close" | "nearest"));
        let inside = match adjunct.preposition.as_str() {
            "in" | "inside" | "at" | "into" | "to" if !joined => true,
            "near" | "by" | "beside" | "around" | "next to" | "close" | "nearby" => false,
            _ if joined => false,
            _ => continue,
        };
        return Some(SpatialQuestion::Around { noun: adjunct.noun.clone(), inside });
    }
    None
}

/// Returns whether the question asks what the robot saw or met.
pub(crate) fn asks_robot_perception(clause: &Clause) -> bool {
    let itself = clause.subject.as_ref().is_some_and(|who| matches!(who.head.as_str(), "you" | "robot"));
    itself && clause.verb.as_ref().is_some_and(|verb| PERCEPTION_VERBS.contains(&verb.lemma.as_str()) && !verb.negated)
}

/// Returns the start and the end of a movement of the robot: "while going from the hall to the kitchen", "when you
/// drove from the hall to the kitchen".
pub(crate) fn robot_route(asked: &ParsedQuestion) -> Option<(NounPhrase, NounPhrase)> {
    asked.sentences.iter().flat_map(|sentence| &sentence.clauses).find_map(|clause| {
        let moves = clause.verb.as_ref().is_some_and(|verb| {
            matches!(verb.lemma.as_str(), "go" | "drive" | "move" | "travel" | "come" | "get" | "ride") && !verb.negated
        });
        let own = clause.subject.as_ref().is_none_or(|who| matches!(who.head.as_str(), "you" | "robot"));
        let noun = |wanted: &[&str]| {
            let adjunct = clause.adjuncts.iter().find(|adjunct| wanted.contains(&adjunct.preposition.as_str()))?;
            (!adjunct.noun.is_pronoun() && adjunct.noun.kind != NounKind::Number).then(|| adjunct.noun.clone())
        };
        (moves && own).then(|| Some((noun(&["from"])?, noun(&["to", "into"])?))).flatten()
    })
}

/// Parses "how far apart are A and B?", "how far is A from B?" or "what is the distance between A and B?".
fn distance_question(asked: &ParsedQuestion) -> Option<SpatialQuestion> {
    let mut things: Vec<NounPhrase> = Vec::new();
    for clause in asked.sentences.iter().flat_map(|sentence| &sentence.clauses) {
        let nouns = clause.subject.iter().chain(&clause.objects).chain(clause.adjuncts.iter().map(|it| &it.noun));
        for noun in nouns.flat_map(|noun| noun.coordinated().chain(noun.of.as_deref())) {
            let counts = !noun.is_pronoun()
                && noun.kind != NounKind::Number
                && !matches!(noun.head.as_str(), "distance" | "far" | "apart" | "metre" | "meter");
            if counts && !things.iter().any(|known| known.range.start == noun.range.start) {
                things.push(NounPhrase { also: Vec::new(), ..noun.clone() });
            }
        }
    }
    things.sort_by_key(|noun| noun.range.start);
    let mut things = things.into_iter();
    Some(SpatialQuestion::Apart(things.next()?, things.next()?))
}

/// Returns the place that a sentence names as the current one: "this is the kitchen", "we are in the hall now", "this
/// room is called the library".
pub(crate) fn named_place(text: &str) -> Option<String> {
    if text.len() > 120 || text.contains('?') {
        return None;
    }
    let lower = text.to_ascii_lowercase();
    // Most texts need no parse.
    if !["this", "that", "here", "now"].iter().any(|word| lower.contains(word)) {
        return None;
    }
    let (words, sentences) = parse(text, &[]);
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    for sentence in sentences.iter().filter(|sentence| !sentence.asks) {
        for clause in &sentence.clauses {
            let being = clause.verb.as_ref().is_some_and(|verb| {
                matches!(verb.lemma.as_str(), "be" | "call" | "name")
                    && !verb.negated
                    && !verb.past
                    && verb.modal.is_none()
            });
            let Some(subject) = clause.subject.as_ref().filter(|_| being) else { continue };
            let called = clause.verb.as_ref().is_some_and(|verb| verb.lemma != "be");
            let here = matches!(subject.head.as_str(), "this" | "here" | "that")
                || matches!(subject.determiner.as_deref(), Some("this"))
                    && matches!(subject.head.as_str(), "room" | "place" | "area" | "spot" | "location");
            let us = matches!(subject.head.as_str(), "we" | "you" | "i") && texts.contains(&"now");
            let noun = match (here, us) {
                (true, _) => {
                    clause.objects.first().or_else(|| sentence.clauses.iter().find_map(|it| it.objects.first()))
                }
                (_, true) => clause
                    .adjuncts
                    .iter()
                    .find(|adjunct| matches!(adjunct.preposition.as_str(), "in" | "at"))
                    .map(|adjunct| &adjunct.noun),
                _ => None,
            };
            if let Some(name) =
                noun.filter(|noun| called && here || can_be_entered(noun)).and_then(|noun| place_name(text, noun))
            {
                return Some(name);
            }
        }
    }
    None
}

/// Returns the old and the new name of a renamed place: "The workshop is called the lab now.", "From now on we call the
/// hall the foyer."
pub(crate) fn renamed_place(text: &str) -> Option<(String, String)> {
    if text.len() > 120 || text.contains('?') {
        return None;
    }
    let lower = text.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if !has(&["call", "rename"]) || !has(&["now", "rename", "from today"]) {
        return None;
    }
    let (_, sentences) = parse(text, &[]);
    for clause in sentences.iter().filter(|sentence| !sentence.asks).flat_map(|sentence| &sentence.clauses) {
        let verb = clause
            .verb
            .as_ref()
            .filter(|verb| matches!(verb.lemma.as_str(), "call" | "rename") && !verb.negated && verb.modal.is_none());
        let Some(verb) = verb else { continue };
        let mut nouns: Vec<&NounPhrase> = Vec::new();
        if verb.passive {
            nouns.extend(&clause.subject);
        }
        nouns.extend(&clause.objects);
        nouns.extend(
            clause.adjuncts.iter().filter(|it| matches!(it.preposition.as_str(), "to" | "into")).map(|it| &it.noun),
        );
        // "call the hall the foyer" may come as one noun and what stands beside it.
        let nouns: Vec<&NounPhrase> = nouns.into_iter().flat_map(NounPhrase::coordinated).collect();
        let [old, new, ..] = nouns.as_slice() else { continue };
        if can_be_entered(old)
            && let (Some(old), Some(new)) = (place_name(text, old), place_name(text, new))
        {
            return Some((old, new));
        }
    }
    None
}

/// Returns the name of a place that one can be in: "garage" of "in the garage".
pub(crate) fn spoken_place(place: &str) -> Option<String> {
    let (first, noun) = place.split_once(' ')?;
    if !matches!(first, "in" | "inside" | "at" | "into" | "to") {
        return None;
    }
    let sentence = format!("It is in {noun}.");
    let (_, sentences) = parse(&sentence, &[]);
    let clause = sentences.iter().flat_map(|sentence| &sentence.clauses).next()?;
    let noun = clause.adjuncts.iter().map(|adjunct| &adjunct.noun).find(|noun| can_be_entered(noun))?;
    place_name(&sentence, noun)
}

/// Returns whether one can be in it: a room, a hall, an office; not a mug.
fn can_be_entered(noun: &NounPhrase) -> bool {
    let place = |class: &str| lexicon::is_a_as(&noun.head, class, PartOfSpeech::Noun).is_some();
    // WordNet has every piece of furniture among the artifacts, and doors among the structures: both are places to stand at.
    !noun.is_pronoun()
        && noun.number.is_none()
        && noun.determiner.as_deref() != Some("a")
        && PLACE_CLASSES.iter().any(|class| place(class))
}

/// Returns the name in a noun phrase, without its article.
pub(crate) fn place_name(text: &str, noun: &NounPhrase) -> Option<String> {
    let words = text.get(noun.range.clone())?.trim();
    let bare = ["the ", "my ", "our ", "your ", "a ", "an "]
        .iter()
        .find_map(|article| {
            words
                .get(..article.len())
                .filter(|head| head.eq_ignore_ascii_case(article))
                .map(|_| &words[article.len()..])
        })
        .unwrap_or(words);
    let bare = bare.trim_matches(|c: char| !c.is_alphanumeric());
    (!bare.is_empty() && bare.len() <= MAX_PLACE_NAME_BYTES).then(|| bare.to_owned())
}

/// Returns a place with its preposition: "in the kitchen", "in Lab 3", "at the door", "on the deck".
pub(crate) fn at_place(name: &str) -> String {
    let (own, _) = name.split_once(" of ").unwrap_or((name, ""));
    let head = own.rsplit(' ').next().unwrap_or(own).to_lowercase();
    let named = name.chars().next().is_some_and(char::is_uppercase);
    let article = if named { "" } else { "the " };
    let first = name.split(' ').next().unwrap_or(name).to_lowercase();
    if matches!(first.as_str(), "in" | "on" | "at" | "under" | "behind" | "by" | "near") {
        return name.to_owned();
    }
    let is_any =
        |classes: &[&str]| classes.iter().any(|class| lexicon::is_a_as(&head, class, PartOfSpeech::Noun).is_some());
    let preposition = match () {
        () if is_any(&["door", "furniture", "window", "stairway"]) => "at",
        () if is_any(&["road", "deck", "platform", "beach", "roof", "lawn", "meadow"]) => "on",
        () => "in",
    };
    format!("{preposition} {article}{name}")
}

/// Joins several things to one phrase: "a mug, a lamp and a chair".
pub(crate) fn join_list(things: &[String]) -> String {
    match things {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::english::question::parse_question;

    #[test]
    fn a_sentence_names_the_place_where_it_is_said() {
        for (text, name) in [
            ("This is the kitchen.", Some("kitchen")),
            ("this is the living room", Some("living room")),
            ("We are in the hall now.", Some("hall")),
            ("This room is called the library.", Some("library")),
            ("This is my office.", Some("office")),
            ("This is a mug.", None),
            ("This is the best.", None),
            ("This is the mug.", None),
            ("Is this the kitchen?", None),
            ("The mug is in the kitchen.", None),
            ("This was the kitchen.", None),
            ("This is not the kitchen.", None),
            ("We were in the kitchen yesterday.", None),
        ] {
            assert_eq!(named_place(text).as_deref(), name, "{text}");
        }
    }

    #[test]
    fn what_is_said_to_be_in_a_room_tells_of_the_room() {
        for (text, name) in [
            ("in the garage", Some("garage")),
            ("at the front office", Some("front office")),
            ("in the dishwasher", None),
            ("on the shelf", None),
            ("garage", None),
        ] {
            assert_eq!(spoken_place(text).as_deref(), name, "{text}");
        }
    }

    #[test]
    fn a_sentence_renames_a_place() {
        let renamed = |text: &str| renamed_place(text).map(|(old, new)| format!("{old} > {new}")).unwrap_or_default();
        for (text, expected) in [
            ("The workshop is called the lab now.", "workshop > lab"),
            ("The workshop is now called Lab 3.", "workshop > Lab 3"),
            ("From now on we call the hall the foyer.", "hall > foyer"),
            ("We renamed the workshop to the lab.", "workshop > lab"),
            ("The living room was renamed the library.", "living room > library"),
            ("The workshop is called the lab.", ""),
            ("Is the workshop called the lab now?", ""),
            ("The workshop is not called the lab now.", ""),
            ("The dog is called Wuffi now.", ""),
            ("Anna called the workshop now and then.", ""),
            ("This room is called the library.", ""),
        ] {
            assert_eq!(renamed(text), expected, "{text}");
        }
    }

    #[test]
    fn questions_about_space_are_known() {
        let heads = |text: &str| match spatial_question(&parse_question(text, &[])) {
            Some(SpatialQuestion::Around { noun, inside }) => {
                format!("{} {}", if inside { "in" } else { "near" }, noun.head)
            }
            Some(SpatialQuestion::OnTheWay { from, to, either }) => format!(
                "{} {} {}",
                if either { "between" } else { "way" },
                from.map_or(String::new(), |it| it.head),
                to.map_or(String::new(), |it| it.head)
            ),
            Some(SpatialQuestion::Apart(one, two)) => format!("{} - {}", one.head, two.head),
            None => String::new(),
        };
        for (text, expected) in [
            ("What is in the kitchen?", "in kitchen"),
            ("What is near the door?", "near door"),
            ("What is next to the sofa?", "near sofa"),
            ("What did you see near the door?", "near door"),
            ("How often were you at the door?", "in door"),
            ("What did you see on the way?", "way  "),
            ("What did you see on the way to the kitchen?", "way  kitchen"),
            ("What did you see on the way from the hall to the kitchen?", "way hall kitchen"),
            ("What did you pass on your way from the hall?", "way hall "),
            ("What did you see from the hall to the kitchen?", "way hall kitchen"),
            ("Whom did the robot meet between the hall and the kitchen?", "between hall kitchen"),
            ("What did you see between the hall and the front door?", "between hall door"),
            ("What did you see while going from the hall to the kitchen?", "way hall kitchen"),
            ("What did you notice when you drove from the hall to the kitchen?", "way hall kitchen"),
            ("What did you see on your last trip to the kitchen?", "way  kitchen"),
            ("What did you see en route to the kitchen?", "way  kitchen"),
            ("What did you see between 8 and 9?", ""),
            ("What happened on the trip to the coast?", "in coast"),
            ("What did Anna carry from the hall to the kitchen?", "in kitchen"),
            ("How far apart are the mug and the lamp?", "mug - lamp"),
            ("How far is the mug from the lamp?", "mug - lamp"),
            ("What is the distance between the mug and the lamp?", "mug - lamp"),
            ("Who is Anna?", ""),
        ] {
            assert_eq!(heads(text), expected, "{text}");
        }
    }

    #[test]
    fn places_and_lists_read_well() {
        assert_eq!(at_place("kitchen"), "in the kitchen");
        assert_eq!(at_place("Lab 3"), "in Lab 3");
        assert_eq!(at_place("front door"), "at the front door");
        assert_eq!(at_place("gravel road"), "on the gravel road");
        assert_eq!(at_place("hall of the fortress"), "in the hall of the fortress");
        assert_eq!(join_list(&["a".into(), "b".into(), "c".into()]), "a, b and c");
    }
}
