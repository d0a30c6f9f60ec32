//! What a remark says about a thing: that it is not to be had, that it is again, or where one is to be had.

use super::grammar::{captures, clauses, text};

/// A claim about a thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Claim {
    /// It is broken, missing or used up.
    Lacking(String),
    /// It can be used again.
    Restored(String),
    /// Somebody or some place has one.
    Offer(String),
}

/// States in which a thing is of no use.
const USELESS: &str = "(broken|defective|cracked|shattered|smashed|damaged|dirty|missing|lost|gone|empty|unavailable|occupied|\
                       finished|stolen|dead|torn|blocked|closed|faulty|ruined|spoiled|rotten|out)";
/// States in which it is of use again.
const USEFUL: &str =
    "(repaired|fixed|back|found|available|working|clean|cleaned|replaced|refilled|mended|full|ready|usable|fine|ok)";
const BEING: &str = "(is|are|was|were|got|became|'s|looks|seems)";
const ADVERB: &str = "[now|still|completely|all|quite|currently|unfortunately|already|totally]";
const WE: &str = "(i|we|he|she|they|you)";

/// The claims of a text, clause by clause.
pub(super) fn claims(said: &str) -> Vec<Claim> {
    clauses(said)
        .iter()
        .flat_map(|clause| clause.split(|word| word == "but" || word == "so"))
        .filter_map(claim)
        .collect()
}

/// The claim of one clause.
pub(super) fn claim(clause: &[String]) -> Option<Claim> {
    let from = clause.iter().take_while(|word| LINKS.contains(&word.as_str())).count();
    let clause = &clause[from..];
    let found = |patterns: &[String], at: usize| {
        patterns.iter().find_map(|pattern| captures(pattern, clause)).and_then(|found| thing(found[at]))
    };
    let lacking = [
        format!("there {BEING} no [more] * [left]"),
        format!("there {BEING} not [a|an|any] * [left]"),
        format!("{WE} (have|has|had|got) no [more] * [left]"),
        format!("{WE} (do|does|did) not have [a|an|any|the] * [left]"),
        format!("{WE} [have|has] (ran|run|are|am|is) out of *"),
        format!("{WE} (can|could) not (find|use) [a|an|any|the] *"),
        format!("{WE} [have|has] (broke|lost|dropped|broken) [a|an|the] *"),
        "no [more] * [left]".to_owned(),
        "out of *".to_owned(),
    ];
    if let Some(thing) = found(&lacking, 0) {
        return Some(Claim::Lacking(thing));
    }
    let not_there = [
        format!("* {BEING} {ADVERB} not (available|there|here|working|clean|usable) [anymore|now|today|yet]"),
        "* (do|does|did) not work [anymore|now|today|any] [more]".to_owned(),
        "* [has|have] (broke|stopped) [working|down]".to_owned(),
    ];
    if let Some(thing) = found(&not_there, 0) {
        return Some(Claim::Lacking(thing));
    }
    let restored = [
        format!("* {BEING} {ADVERB} {USEFUL} [again|now|today]"),
        format!("* (has|have) been {USEFUL} [again|now]"),
        "* (works|work) [again|now]".to_owned(),
        format!("{WE} [have|has] (repaired|fixed|found|cleaned|refilled|bought|mended) [a|an|the|new|another|some] *"),
    ];
    if let Some(thing) = found(&restored, 0) {
        return Some(Claim::Restored(thing));
    }
    let useless = [
        format!("* {BEING} {ADVERB} {USELESS} [again|now|today|too]"),
        format!("* (has|have) been {USELESS}"),
        format!("* {BEING} {ADVERB} (used|taken) [up]"),
        format!("* {BEING} {ADVERB} (in|out) (use|of) [order]"),
    ];
    if let Some(thing) = found(&useless, 0) {
        return Some(Claim::Lacking(thing));
    }
    let offers = [
        "* (sells|sell|offers|stocks|lends|rents|keeps) [a|an|some|new|fresh|cheap|many] *",
        "* (has|have) [a|an|some|new|fresh|cheap|many|spare|another] *",
        "* (can|could|may) (borrow|buy|get|find|have) [a|an|some|new|another|the] *",
    ];
    if let Some(found) = offers.iter().find_map(|pattern| captures(pattern, clause)) {
        return thing(found[1]).map(Claim::Offer);
    }
    let there = ["there (is|are) [a|an|some|another|still|also] *", "(another|spare) * (is|are) *"];
    there.iter().find_map(|pattern| captures(pattern, clause)).and_then(|found| thing(found[0])).map(Claim::Offer)
}

/// Words that join a clause to another and say nothing of their own.
const LINKS: [&str; 14] =
    ["and", "but", "if", "when", "because", "since", "as", "now", "that", "so", "oh", "well", "sorry", "while"];

/// Words in front of a thing's name.
const ARTICLES: [&str; 18] = [
    "the", "a", "an", "my", "our", "your", "his", "her", "their", "some", "any", "this", "that", "one", "new", "fresh",
    "spare", "another",
];

/// Words that begin where, when or whose it is.
const PLACES: [&str; 17] = [
    "at",
    "in",
    "on",
    "from",
    "of",
    "by",
    "near",
    "under",
    "behind",
    "next",
    "here",
    "there",
    "downstairs",
    "upstairs",
    "left",
    "today",
    "with",
];

/// The name of a thing without its article and its place.
pub(super) fn thing(words: &[String]) -> Option<String> {
    let from = words.iter().take_while(|word| ARTICLES.contains(&word.as_str())).count();
    let rest = &words[from..];
    let name: &[String] = &rest[..rest.iter().take_while(|word| !PLACES.contains(&word.as_str())).count()];
    (!name.is_empty() && name.len() <= 5).then(|| text(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_say_what_is_lacking_what_is_back_and_where_to_get_it() {
        use Claim::{Lacking, Offer, Restored};
        for (said, expected) in [
            ("The bowl at home is broken.", Lacking("bowl".into())),
            ("the bowl's broken", Lacking("bowl".into())),
            ("Our oven doesn't work.", Lacking("oven".into())),
            ("There is no milk left", Lacking("milk".into())),
            ("We have no more eggs", Lacking("eggs".into())),
            ("I can't find the big spoon", Lacking("big spoon".into())),
            ("We ran out of tea bags.", Lacking("tea bags".into())),
            ("the kettle is not working", Lacking("kettle".into())),
            ("The bread is all gone", Lacking("bread".into())),
            ("The bowl has been repaired.", Restored("bowl".into())),
            ("The kettle works again", Restored("kettle".into())),
            ("I bought a new bowl", Restored("bowl".into())),
            ("A store downstairs sells bowls, just one minute away.", Offer("bowls".into())),
            ("the neighbour has a spare bowl", Offer("bowl".into())),
            ("There is a bowl in the cupboard", Offer("bowl".into())),
            ("You can borrow a bowl from Mia", Offer("bowl".into())),
        ] {
            assert_eq!(claims(said).first(), Some(&expected), "{said}");
        }
        for said in ["Good morning!", "I like bowls.", "What is in the bowl?", "Jack chops the fruits.", ""] {
            assert_eq!(claims(said), [], "{said}");
        }
    }
}
